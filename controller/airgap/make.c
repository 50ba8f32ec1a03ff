/* make - what groups ask for is solved, fetched, laid into pools, indexed and signed. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/airgap/airgap_priv.h"
#include "controller/airgap/apt.h"
#include "controller/airgap/listing.h"
#include "controller/airgap/snapshot.h"
#include "controller/fleet/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *all_sources(struct arena *a, const struct plan *p)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 20);
	vec_each(&p->origins, const struct origin_of, o)
		buf_addf(&text, "%s\n", o->stanza);
	return arena_text(a, buf_str(&text));
}

static struct origin_of *origin_for(struct plan *p, const char *uri)
{
	vec_each(&p->origins, struct origin_of, o)
		if (o->uri && str_starts(str_of(uri), o->uri))
			return o;
	return p->origins.at;
}

/* apt writes the epoch as 1%3a, which a server would have to be asked for as 1%253a. */
static const char *pool_name(struct arena *a, const char *file)
{
	const char *epoch = strstr(file, "%3a"), *from = epoch;

	while (from && from > file && from[-1] != '_')
		from--;
	return epoch ? arena_printf(a, "%.*s%s", (int)(from - file), file, epoch + 3) : file;
}

static int hex_digit(char c)
{
	const char *at = c ? strchr("0123456789abcdef", c | 0x20) : NULL;

	return at ? (int)(at - "0123456789abcdef") : -1;
}

/* The path of a file: address. */
static const char *local_path(struct arena *a, const char *uri)
{
	const char *p = uri + strlen("file:");
	AUTO_BUF out = {0};

	buf_init(&out, 1u << 16);
	for (; *p; p++)
		if (*p == '%' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
			buf_add_char(&out, (char)(hex_digit(p[1]) * 16 + hex_digit(p[2])));
			p += 2;
		} else {
			buf_add_char(&out, *p);
		}
	return arena_text(a, buf_str(&out));
}

/* From apt's folder, or from the place that a file: source names. */
static int place(
	struct plan *p, const struct airgap *g, int top, const struct apt_deb *deb, struct err *err)
{
	struct origin_of *o = origin_for(p, deb->uri);
	const char *pool = arena_printf(p->arena, "%s/pool", o->dir);
	const char *to = arena_printf(p->arena, "%s/%s", pool, pool_name(p->arena, deb->file));
	const char *from =
		str_starts(str_of(deb->uri), "file:")
			? local_path(p->arena, deb->uri)
			: arena_printf(p->arena, "%s/.work/archives/%s", g->dir, deb->file);
	AUTO_FD fd = -1;
	struct stat st, had;
	int rc;

	o->used = true;
	fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, E_IO, "apt fetched no '%s'", from);
	if (fs_stat(top, to, false, &had, NULL) == 0 && had.st_size == st.st_size)
		return 0;
	rc = fs_mkdirs(top, pool, 0755, err);
	return rc < 0 ? rc : fs_replace_from(top, to, fd, 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

static int collect(struct plan *p, const struct airgap *g, int top, size_t *n, struct err *err)
{
	const struct apt apt = {.dir = arena_printf(p->arena, "%s/.work", g->dir),
		.sources = all_sources(p->arena, p),
		.status = g->status};
	int rc = fs_mkdirs(top, ".work", 0755, err);

	if (rc == 0)
		rc = apt_begin(p->arena, &apt, err);
	for (unsigned i = 0; rc == 0 && i < g->n_groups; i++) {
		const json_t *names = json_get(p->asks[i], "packages");
		struct apt_debs debs = VEC_INIT;

		rc = apt_solve(p->arena, &apt, names, &debs, err);
		if (rc == 0)
			rc = apt_fetch(p->arena, &apt, names, err);
		for (size_t k = 0; rc == 0 && k < debs.n; k++)
			rc = place(p, g, top, &debs.at[k], err);
		*n += debs.n;
		vec_done(&debs);
		if (rc < 0)
			err_wrap(err, "%s", g->groups[i].name);
	}
	return rc;
}

/* A source that gave nothing has an index too, since nodes will ask for it. */
static int write_origins(
	struct plan *p, const struct airgap *g, int top, struct str key, struct err *err)
{
	int rc = fs_mkdirs(top, "keys", 0755, err);

	vec_each(&p->origins, struct origin_of, o) {
		if (rc == 0)
			rc = fs_mkdirs(top, arena_printf(p->arena, "%s/pool", o->dir), 0755, err);
		if (rc == 0)
			rc = snapshot_write(p->arena, g->gnupg,
				arena_printf(p->arena, "%s/%s", g->dir, o->dir), o->suite,
				o->component, err);
		if (rc == 0)
			rc = fs_replace(top, arena_printf(p->arena, "keys/%s.asc", origin_name(o)),
				key, 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	}
	return rc;
}

/* What is asked for and is not collected here. */
static void tell_rest(struct plan *p, const struct airgap *g, const char *fingerprint)
{
	json_t *one;
	size_t k;

	for (unsigned i = 0; i < g->n_groups; i++) {
		json_array_foreach(json_get(p->asks[i], "files"), k, one)
			plan_open(p, "recipe '%s' downloads '%s', which has to be brought along",
				json_get_str(one, "recipe", ""), json_get_str(one, "url", ""));
		json_array_foreach(json_get(p->asks[i], "images"), k, one)
			plan_open(p, "image '%s' has to be brought along", json_string_value(one));
		json_array_foreach(json_get(p->asks[i], "repos"), k, one)
		{
			const json_t *args = json_get(one, "args");
			const char *wants = json_get_str(args, "fingerprint", "");

			if (*wants && !strstr(wants, fingerprint))
				plan_open(p,
					"recipe '%s' wants the key %s for repo '%s', and the bundle "
					"is signed by %s: give its parameters of the key, too",
					json_get_str(one, "recipe", ""), wants,
					json_get_str(args, "name", ""), fingerprint);
		}
	}
}

static json_t *groups_of(const struct airgap *g)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < g->n_groups; i++) {
		const struct airgap_group *group = &g->groups[i];
		json_t *one = json_object(), *names = json_array();

		for (unsigned k = 0; k < group->n; k++)
			json_array_append_new(names, json_string(group->recipes[k].name));
		json_put_str(one, "name", group->name);
		json_object_set_new(one, "recipes", names);
		json_object_set_new(
			one, "vars", group->vars ? json_deep_copy(group->vars) : json_object());
		json_object_set_new(one, "params",
			group->params ? json_deep_copy(group->params) : json_object());
		json_array_append_new(all, one);
	}
	return all;
}

static int write_manifest(const struct plan *p, const struct airgap *g, int top,
	const char *fingerprint, const struct sign_key *key, struct err *err)
{
	AUTO_JSON doc = json_object();
	json_t *files = NULL;
	const int rc = listing_of(top, &files, err);

	if (rc < 0)
		return rc;
	json_put_int(doc, "schema", 1);
	json_put_str(doc, "name", g->bundle);
	json_put_str(doc, "for", g->system);
	json_put_str(doc, "fingerprint", fingerprint);
	json_object_set(doc, "open", p->open);
	json_object_set_new(doc, "groups", groups_of(g));
	json_object_set_new(doc, "files", files);
	return listing_write(top, doc, key, err);
}

int airgap_make(
	const struct airgap *g, const struct sign_key *key, json_t **report, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD top = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char fingerprint[SNAPSHOT_FINGERPRINT] = "";
	struct plan p = {0};
	struct str armored;
	size_t n = 0;
	int rc = top < 0 ? err_sys(err, errno, "cannot open the folder '%s'", g->dir)
			 : listing_remove(top, err);

	if (rc == 0)
		rc = plan_make(a, g, &p, err);
	if (rc == 0)
		rc = snapshot_key(a, g->gnupg, fingerprint, &armored, err);
	if (rc == 0)
		rc = collect(&p, g, top, &n, err);
	if (rc == 0)
		rc = write_origins(&p, g, top, armored, err);
	if (rc == 0) {
		tell_rest(&p, g, fingerprint);
		rc = write_manifest(&p, g, top, fingerprint, key, err);
	}
	if (rc == 0) {
		*report = json_object();
		json_put_int(*report, "packages", (int64_t)n);
		json_put_str(*report, "fingerprint", fingerprint);
		json_object_set(*report, "open", p.open);
	}
	plan_done(&p, g->n_groups);
	arena_free(a);
	return rc;
}
