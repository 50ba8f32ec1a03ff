/*
 * catalog - how: all files are parsed, then all sources are read, then all entries, so
 * that any file may name any source. Duplicates are found linearly while there are few
 * entries; CATALOG_ENTRIES_MAX keeps that within a second.
 */
#include "inventory/catalog/catalog.h"

#include "agent/base/mem.h"
#include "inventory/catalog/catalog_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct yaml_caps CAPS = {8u << 20, 8, 400000, 64u << 10};

struct paths vec(const char *);

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --- where it lies --- */

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What lies beside the program, else in the source tree. */
static int own_path(struct arena *a, const char **out, struct err *err)
{
	const char *places[2] = {NULL, NULL};
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		places[0] = arena_printf(a, "%s/../share/stoika/catalog", self);
	}
#ifdef STOIKA_SOURCE_CATALOG
	places[1] = STOIKA_SOURCE_CATALOG;
#endif
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!places[i] || !is_dir(places[i]))
			continue;
		*out = places[i];
		return 0;
	}
	(void)err_set(err, E_NOTFOUND, "the hardware catalogue is not beside the program");
	return err_hint(err, "set STOIKA_CATALOG to its folder");
}

static int list_files(struct arena *a, const char *dir, struct paths *out, struct err *err)
{
	DIR *d = opendir(dir);
	const size_t before = out->n;
	const struct dirent *e;

	if (!d)
		return err_sys(err, errno, "cannot open '%s'", dir);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && str_ends(str_of(e->d_name), ".yaml"))
			*vec_push(out) = arena_printf(a, "%s/%s", dir, e->d_name);
	closedir(d);
	vec_sort(out, compare_paths);
	return out->n > before ? 0 : err_set(err, E_NOTFOUND, "'%s' has no *.yaml", dir);
}

/* --- loading --- */

static int compare_sources(const void *a, const void *b)
{
	return strcmp(
		(*(struct catalog_source *const *)a)->id, (*(struct catalog_source *const *)b)->id);
}

static int compare_entries(const void *a, const void *b)
{
	const struct catalog_entry *x = *(struct catalog_entry *const *)a;
	const struct catalog_entry *y = *(struct catalog_entry *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return model_compare_names(x->id, y->id);
}

/* Files first, then lines. */
static int compare_faults(const void *a, const void *b)
{
	const struct err *x = a, *y = b;
	const int order = strcmp(x->file, y->file);

	if (order != 0)
		return order;
	return x->line < y->line ? -1 : x->line > y->line;
}

static struct catalog_loader loader_new(const char *path)
{
	struct catalog *c = xcalloc(1, sizeof *c);

	c->arena = arena_new();
	c->path = arena_strdup(c->arena, path);
	return (struct catalog_loader){.c = c};
}

/* Hands the catalogue out, or its faults. */
static int finish(struct catalog_loader *l, struct catalog **out, struct catalog_faults *faults,
	struct err *err)
{
	int rc = 0;

	vec_sort(&l->c->sources, compare_sources);
	vec_sort(&l->c->entries, compare_entries);
	vec_sort(&l->faults, compare_faults);
	if (l->faults.n) {
		if (err)
			*err = l->faults.at[0];
		rc = -(int)l->faults.at[0].code;
		catalog_free(l->c);
	} else {
		*out = l->c;
	}
	if (faults) {
		vec_done(faults);
		*faults = l->faults;
	} else {
		vec_done(&l->faults);
	}
	return rc;
}

static void keep_fault(struct catalog_loader *l, const struct err *err)
{
	l->total++;
	if (l->faults.n < CATALOG_FAULTS_MAX)
		*vec_push(&l->faults) = *err;
}

static void read_docs(struct catalog_loader *l, struct yaml_doc *const *docs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		l->doc = docs[i];
		if (l->doc)
			catalog_read_sources(l);
	}
	for (size_t i = 0; i < n; i++) {
		l->doc = docs[i];
		if (l->doc)
			catalog_read_entries(l);
	}
}

/* The files of one part of a path; an empty part is our own catalogue. */
static int add_part(struct arena *a, struct str part, struct paths *out, struct err *err)
{
	const char *path = arena_text(a, part);
	int rc = 0;

	if (part.n == 0)
		rc = own_path(a, &path, err);
	if (rc < 0)
		return rc;
	if (is_dir(path))
		return list_files(a, path, out, err);
	*vec_push(out) = path;
	return 0;
}

static int find_files(struct arena *a, struct str path, struct paths *out, struct err *err)
{
	struct str part;
	int rc = 0;

	if (path.n == 0 || path.p[path.n - 1] == ':')
		rc = add_part(
			a, str_of(""), out, err); /* str_next does not give the last, empty one */
	while (rc == 0 && str_next(&path, ':', &part))
		rc = add_part(a, part, out, err);
	if (rc == 0 && out->n > CATALOG_FILES_MAX)
		rc = err_set(err, E_LIMIT, "%zu catalogue files, at most %d are read", out->n,
			CATALOG_FILES_MAX);
	return rc;
}

int catalog_load(
	const char *path, struct catalog **out, struct catalog_faults *faults, struct err *err)
{
	struct arena *a = arena_new();
	struct catalog_loader l = {0};
	struct paths files = VEC_INIT;
	struct vec(struct yaml_doc *) docs = VEC_INIT;
	int rc;

	if (!path)
		path = getenv("STOIKA_CATALOG");
	rc = find_files(a, str_of(path), &files, err);
	if (rc == 0) {
		l = loader_new(path && *path ? path : "catalogue");
		for (size_t i = 0; i < files.n; i++) {
			struct err fault;

			*vec_push(&docs) = NULL;
			if (yaml_load(l.c->arena, files.at[i], &CAPS, &docs.at[i], &fault) < 0)
				keep_fault(&l, &fault);
		}
		read_docs(&l, docs.at, docs.n);
		rc = finish(&l, out, faults, err);
	}
	vec_done(&docs);
	vec_done(&files);
	arena_free(a);
	return rc;
}

int catalog_load_text(const char *name, struct str text, struct catalog **out,
	struct catalog_faults *faults, struct err *err)
{
	struct catalog_loader l = loader_new(name);
	struct yaml_doc *doc = NULL;
	struct err fault;

	if (yaml_parse(l.c->arena, name, text, &CAPS, &doc, &fault) < 0)
		keep_fault(&l, &fault);
	read_docs(&l, &doc, 1);
	return finish(&l, out, faults, err);
}

void catalog_free(struct catalog *c)
{
	if (!c)
		return;
	vec_done(&c->sources);
	vec_done(&c->entries);
	arena_free(c->arena);
	free(c);
}

/* --- look-up --- */

const struct catalog_entry *catalog_find(
	const struct catalog *c, enum catalog_kind kind, const char *id)
{
	for (size_t i = 0; i < c->entries.n; i++) {
		const struct catalog_entry *e = c->entries.at[i];

		if ((kind == CATALOG_KINDS || e->kind == kind) && strcmp(e->id, id) == 0)
			return e;
	}
	return NULL;
}

int catalog_want(const struct catalog *c, enum catalog_kind kind, const char *id,
	const struct catalog_entry **out, struct err *err)
{
	struct paths names = VEC_INIT;
	const char *near;
	int rc;

	*out = catalog_find(c, kind, id);
	if (*out)
		return 0;
	for (size_t i = 0; i < c->entries.n; i++)
		if (kind == CATALOG_KINDS || c->entries.at[i]->kind == kind)
			*vec_push(&names) = c->entries.at[i]->id;
	*vec_push(&names) = NULL;
	near = err_nearest(id, names.at);
	rc = err_set(err, E_NOTFOUND, "the catalogue has no %s '%.64s'",
		kind == CATALOG_KINDS ? "entry" : CATALOG_KIND_NAMES[kind], id);
	if (near)
		(void)err_hint(err, "did you mean '%s'?", near);
	else
		(void)err_hint(err, "stoika catalog list");
	vec_done(&names);
	return rc;
}

const struct catalog_field *catalog_field(const struct catalog_entry *e, const char *key)
{
	for (unsigned i = 0; i < e->n_fields; i++)
		if (strcmp(e->fields[i].key->name, key) == 0)
			return &e->fields[i];
	return NULL;
}

double catalog_num(const struct catalog_entry *e, const char *key)
{
	const struct catalog_field *f = catalog_field(e, key);

	return f ? f->num : MODEL_UNSET;
}

unsigned catalog_count(const struct catalog_entry *e, const char *key)
{
	const double v = catalog_num(e, key);

	return v > 0 && v < 1e9 ? (unsigned)v : 0;
}

const char *catalog_text(const struct catalog_entry *e, const char *key)
{
	const struct catalog_field *f = catalog_field(e, key);

	return f ? f->text : NULL;
}
