/*
 * catalog_import - community device types into a catalogue file, all of them or none.
 *
 * What is suspicious is written too, marked so; the loss report names each key that our
 * records have no place for.
 */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "inventory/catalog/catalog_show.h"
#include "inventory/catalog/devicetype.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX  10000
#define DEPTH_MAX  4
#define TEXT_MAX   (64u << 20)
#define RECORD_MAX (1u << 20)
#define ERRORS_MAX 50

struct imported {
	struct devicetype type;
	struct devicetype_findings found;
};

struct import_run {
	struct invocation *inv;
	struct catalog *known;
	struct vec(const char *) files;
	struct vec(struct imported) types;
	unsigned errors;
	int code;
};

static bool is_yaml(const char *name)
{
	const struct str s = str_of(name);

	return name[0] != '.' && (str_ends(s, ".yaml") || str_ends(s, ".yml"));
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_files(struct import_run *r, const char *path, unsigned depth, struct err *err)
{
	const struct dirent *e;
	struct stat st;
	int rc = 0;
	DIR *d;

	if (stat(path, &st) != 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	if (!S_ISDIR(st.st_mode)) {
		if (r->files.n >= FILES_MAX)
			return err_set(err, E_LIMIT, "more than %d files", FILES_MAX);
		*vec_push(&r->files) = path;
		return 0;
	}
	d = depth < DEPTH_MAX ? opendir(path) : NULL;
	if (!d)
		return depth < DEPTH_MAX ? err_sys(err, errno, "cannot open '%s'", path)
					 : err_set(err, E_LIMIT, "'%s' lies too deep", path);
	while (rc == 0 && (e = readdir(d)) != NULL) {
		const char *below = arena_printf(r->inv->arena, "%s/%s", path, e->d_name);

		if (is_yaml(e->d_name) ||
			(e->d_name[0] != '.' && lstat(below, &st) == 0 && S_ISDIR(st.st_mode)))
			rc = add_files(r, below, depth + 1, err);
	}
	closedir(d);
	return rc;
}

static void fail(struct import_run *r, const struct err *err)
{
	if (r->errors++ < ERRORS_MAX)
		r->code = command_fail(r->inv, err);
}

static void read_files(struct import_run *r)
{
	for (size_t i = 0; i < r->files.n; i++) {
		struct imported *t = vec_push(&r->types);
		struct err err;

		if (devicetype_load(r->inv->arena, r->files.at[i], &t->type, &err) < 0)
			fail(r, &err);
		else
			devicetype_judge(&t->type, r->known, r->inv->arena, &t->found);
	}
}

static void write_records(const struct import_run *r, struct buf *out)
{
	devicetype_write_head(out);
	for (int kind = 0; kind < CATALOG_KINDS; kind++) {
		bool first = true;

		vec_each(&r->types, const struct imported, t) {
			if ((int)devicetype_kind(&t->type) != kind)
				continue;
			if (first)
				buf_addf(out, "%s:\n", CATALOG_SECTIONS[kind]);
			first = false;
			devicetype_write(&t->type, &t->found, out);
		}
	}
}

/* What we write must be a catalogue: figures in range, ids once. */
static int check_record(const struct imported *t, struct err *err)
{
	struct catalog *c = NULL;
	AUTO_BUF text = {0};
	struct err why;

	buf_init(&text, RECORD_MAX);
	devicetype_write_head(&text);
	buf_addf(&text, "%s:\n", CATALOG_SECTIONS[devicetype_kind(&t->type)]);
	devicetype_write(&t->type, &t->found, &text);
	if (!buf_ok(&text))
		return err_at(err, E_LIMIT, t->type.file, t->type.line, 1,
			"its record is longer than %u bytes", RECORD_MAX);
	if (catalog_load_text(t->type.file, buf_str(&text), &c, NULL, &why) < 0)
		return err_at(err, why.code, t->type.file, t->type.line, 1, "no record of ours: %s",
			why.msg);
	catalog_free(c);
	return 0;
}

static const struct imported *find_twin(const struct import_run *r, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcasecmp(r->types.at[i].type.slug, r->types.at[at].type.slug) == 0)
			return &r->types.at[i];
	return NULL;
}

static void check_records(struct import_run *r)
{
	for (size_t i = 0; i < r->types.n; i++) {
		const struct imported *t = &r->types.at[i], *twin = find_twin(r, i);
		struct err err;

		if (check_record(t, &err) < 0)
			fail(r, &err);
		if (!twin)
			continue;
		(void)err_at(&err, E_EXISTS, t->type.file, t->type.line, 1,
			"'%s' is in '%s' already", t->type.slug, twin->type.file);
		fail(r, &err);
	}
}

/* --- the report --- */

static void report_text(const struct import_run *r, struct buf *out)
{
	size_t suspicious = 0, open = 0;

	vec_each(&r->types, const struct imported, t) {
		const bool bad = devicetype_is_suspicious(&t->found);

		vec_each(&t->found, const struct devicetype_finding, f) {
			buf_addf(out, "%s:%u:1: %s: ", t->type.file, f->line,
				f->open ? "open" : "suspicious");
			buf_add_printable(out, str_of(f->text));
			buf_addf(out, " [%s]\n", f->rule);
		}
		suspicious += bad;
		open += !bad && t->found.n > 0;
	}
	vec_each(&r->types, const struct imported, t)
		vec_each(&t->type.losses, const struct devicetype_loss, l) {
			buf_addf(out, "%s:%u:1: not carried: ", t->type.file, l->line);
			buf_add_printable(out, str_of(l->key));
			buf_addf(out, " (%u)\n", l->n);
		}
	buf_addf(out, "%zu device type%s, %zu suspicious, %zu more with open figures\n", r->types.n,
		r->types.n == 1 ? "" : "s", suspicious, open);
}

static json_t *type_json(const struct imported *t)
{
	json_t *o = json_object(), *found = json_array(), *lost = json_array();
	json_t *open = json_array();

	json_put_str(o, "file", t->type.file);
	json_put_str(o, "kind", CATALOG_KIND_NAMES[devicetype_kind(&t->type)]);
	json_put_str(o, "maker", t->type.maker);
	json_put_str(o, "model", t->type.model);
	vec_each(&t->found, const struct devicetype_finding, f) {
		json_t *item = json_object();

		json_put_str(item, "rule", f->rule);
		json_put_int(item, "line", f->line);
		json_put_str(item, "text", f->text);
		json_array_append_new(f->open ? open : found, item);
	}
	vec_each(&t->type.losses, const struct devicetype_loss, l) {
		json_t *item = json_object();

		json_put_str(item, "key", l->key);
		json_put_int(item, "line", l->line);
		json_put_int(item, "count", l->n);
		json_array_append_new(lost, item);
	}
	json_object_set_new(o, "suspicious", found);
	json_object_set_new(o, "open", open);
	json_object_set_new(o, "not_carried", lost);
	return o;
}

/* With -o the report goes to stdout; else the records do, and the report to stderr. */
static void report(const struct import_run *r, const struct buf *records, const char *to)
{
	AUTO_BUF text = {0};
	AUTO_JSON doc = NULL;

	if (r->inv->json) {
		doc = json_array();
		vec_each(&r->types, const struct imported, t)
			json_array_append_new(doc, type_json(t));
		session_print_json(doc);
		return;
	}
	buf_init(&text, TEXT_MAX);
	report_text(r, &text);
	if (to) {
		session_print(&text);
		return;
	}
	session_print(records);
	fputs(buf_text(&text), stderr);
}

/* Absolute paths are not below the folder we are in, which is what fs goes by. */
static int write_file(const char *path, const struct buf *text, struct err *err)
{
	AUTO_FD root = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int rc = session_judge_target(path, err);

	if (rc < 0 || root < 0)
		return rc < 0 ? rc : err_sys(err, errno, "cannot write '%s'", path);
	return fs_replace(root, path, buf_str(text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

static int finish(struct import_run *r)
{
	const char *to = option_get(r->inv, "out");
	AUTO_BUF records = {0};
	struct err err;
	int rc = 0;

	buf_init(&records, TEXT_MAX);
	write_records(r, &records);
	if (!buf_ok(&records))
		rc = err_set(&err, E_LIMIT, "the records are longer than %u bytes", TEXT_MAX);
	if (rc == 0 && to)
		rc = write_file(to, &records, &err);
	if (rc < 0)
		return command_fail(r->inv, &err);
	report(r, &records, to);
	vec_each(&r->types, const struct imported, t)
		if (devicetype_is_suspicious(&t->found))
			return EXIT_SOME;
	return EXIT_OK;
}

static int run_import(struct invocation *inv)
{
	struct import_run r = {.inv = inv, .code = EXIT_OK};
	struct err err;

	if (catalog_load(option_get(inv, "catalog"), &r.known, NULL, &err) < 0 ||
		add_files(&r, inv->args[0], 0, &err) < 0) {
		r.code = command_fail(inv, &err);
	} else {
		vec_sort(&r.files, compare_files);
		read_files(&r);
		if (r.errors == 0)
			check_records(&r);
		if (r.errors == 0)
			r.code = finish(&r);
		else if (!inv->json)
			fprintf(stderr, "%u error%s, nothing was written\n", r.errors,
				r.errors == 1 ? "" : "s");
	}
	vec_each(&r.types, struct imported, t) {
		vec_done(&t->found);
		devicetype_done(&t->type);
	}
	vec_done(&r.types);
	vec_done(&r.files);
	catalog_free(r.known);
	return r.code;
}

static const struct option OPTIONS[] = {
	{"out", 'o', "FILE", "write the records there", false},
	{"catalog", 0, "PATH", "the catalogue that knows better", false},
	{0},
};

const struct command COMMAND_CATALOG_IMPORT = {
	.name = "catalog import",
	.args = "FILE|DIR",
	.min_args = 1,
	.max_args = 1,
	.summary = "community device types (NetBox's devicetype-library) as catalogue records",
	.about =
		"Every key that our records have no place for is named. What cannot be right is\n"
		"marked 'suspicious', in the report and in the record; exit status 1 then. 'open'\n"
		"is what the record does not say, or says so that it can be read in two ways.\n",
	.options = OPTIONS,
	.run = run_import,
};
