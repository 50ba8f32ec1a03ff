/* plan - each group asked twice: as it is outside, and as it will be with the mirror. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/airgap/airgap_priv.h"
#include "controller/airgap/asks.h"
#include "controller/fleet/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *id, *text; /* the codename stands for each @ */
} USUAL[] = {
	{"debian",
		"Types: deb\nURIs: http://deb.debian.org/debian\nSuites: @ @-updates\nComponents: main\n"
		"Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n"
		"Types: deb\nURIs: http://deb.debian.org/debian-security\nSuites: @-security\n"
		"Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"},
	{"ubuntu",
		"Types: deb\nURIs: http://archive.ubuntu.com/ubuntu\nSuites: @ @-updates @-security\n"
		"Components: main universe\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n"},
};

void plan_open(struct plan *p, const char *fmt, ...)
{
	AUTO_BUF text = {0};
	va_list ap;

	buf_init(&text, 4096);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	json_array_append_new(p->open, json_string(buf_text(&text)));
}

const char *origin_name(const struct origin_of *o)
{
	const char *slash = strrchr(o->dir, '/');

	return slash ? slash + 1 : o->dir;
}

static const char *first(const json_t *args, const char *list, const char *preset)
{
	const char *text = json_string_value(json_array_get(json_get(args, list), 0));

	return text ? text : preset;
}

static const char *joined(struct arena *a, const json_t *list)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 16);
	for (size_t i = 0; i < json_array_size(list); i++)
		buf_addf(&text, "%s%s", i ? " " : "", json_string_value(json_array_get(list, i)));
	return arena_text(a, buf_str(&text));
}

/* The signing key of a source as a file here. */
static int key_file(struct arena *a, const struct airgap *g, const json_t *repo, size_t nth,
	const char **path, struct err *err)
{
	const json_t *args = json_get(repo, "args");
	const char *text = json_get_str(args, "key_text", NULL);
	const char *file = json_get_str(args, "key", NULL);
	AUTO_FD dir = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	*path = file ? arena_printf(a, "%s/files/%s", json_get_str(repo, "dir", ""), file)
		     : json_get_str(args, "signed_by", NULL);
	if (!text || dir < 0) {
		if (*path)
			return 0;
		return err_set(
			err, E_SCHEMA, "repo '%s' has no key", json_get_str(args, "name", ""));
	}
	*path = arena_printf(a, "%s/.work/keys/%zu.asc", g->dir, nth);
	rc = fs_mkdirs(dir, ".work/keys", 0755, err);
	return rc < 0 ? rc
		      : fs_replace(dir, arena_printf(a, ".work/keys/%zu.asc", nth), str_of(text),
				0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

static struct origin_of *find_origin(struct plan *p, const char *dir, const char *suite)
{
	vec_each(&p->origins, struct origin_of, o)
		if (strcmp(o->dir, dir) == 0 && strcmp(o->suite, suite) == 0)
			return o;
	return NULL;
}

/* outside and inside are the same step, asked without and with the mirror. */
static int add_repo(struct plan *p, const struct airgap *g, const json_t *outside,
	const json_t *inside, struct err *err)
{
	const json_t *out = json_get(outside, "args"), *in = json_get(inside, "args");
	const char *uri = first(in, "uris", ""), *suite = first(in, "suites", "/");
	const size_t skip = strlen(AIRGAP_MIRROR "/");
	const char *components, *key, *dir;
	int rc;

	if (!str_starts(str_of(uri), AIRGAP_MIRROR "/")) {
		plan_open(p, "recipe '%s' looks for packages at '%s', whatever vars.mirror says",
			json_get_str(inside, "recipe", ""), uri);
		return 0;
	}
	dir = arena_strdup(p->arena, uri + skip);
	if (strstr(dir, "..") || find_origin(p, dir, suite))
		return 0;
	if ((rc = key_file(p->arena, g, outside, p->origins.n, &key, err)) < 0)
		return rc;
	components = joined(p->arena, json_get(out, "components"));
	*vec_push(&p->origins) =
		(struct origin_of){.uri = arena_strdup(p->arena, first(out, "uris", "")),
			.dir = dir,
			.suite = arena_strdup(p->arena, suite),
			.component = arena_strdup(p->arena, first(in, "components", "main")),
			.stanza = arena_printf(p->arena,
				"Types: deb\nURIs: %s\nSuites: %s\n%s%s%sSigned-By: %s\n",
				first(out, "uris", ""), joined(p->arena, json_get(out, "suites")),
				*components ? "Components: " : "", components,
				*components ? "\n" : "", key)};
	return 0;
}

static const json_t *repo_named(const json_t *repos, const json_t *like)
{
	const char *name = json_get_str(json_get(like, "args"), "name", "");
	json_t *one;
	size_t i;

	json_array_foreach(
		repos, i, one) if (strcmp(json_get_str(json_get(one, "args"), "name", ""), name) ==
				   0) return one;
	return NULL;
}

static int add_group(struct plan *p, const struct airgap *g, unsigned i, struct err *err)
{
	const struct airgap_group *group = &g->groups[i];
	AUTO_JSON outside = NULL;
	const json_t *repos;
	json_t *one;
	size_t k;
	int rc = asks_of(
		group->recipes, group->n, group->vars, group->params, p->os, NULL, &outside, err);

	if (rc == 0)
		rc = asks_of(group->recipes, group->n, group->vars, group->params, p->os,
			AIRGAP_MIRROR, &p->asks[i], err);
	if (rc < 0)
		return err_wrap(err, "%s", group->name);
	json_array_foreach(json_get(p->asks[i], "open"), k, one)
		plan_open(p, "recipe '%s', step '%s': %s", json_get_str(one, "recipe", ""),
			json_get_str(one, "step", ""), json_get_str(one, "why", ""));
	repos = json_get(p->asks[i], "repos");
	for (k = 0; rc == 0 && k < json_array_size(repos); k++) {
		const json_t *inside = json_array_get(repos, k);
		const json_t *same = repo_named(json_get(outside, "repos"), inside);

		/* what is there with a mirror alone is the mirror itself */
		if (same)
			rc = add_repo(p, g, same, inside, err);
	}
	return rc;
}

static const char *usual_sources(struct arena *a, const json_t *os)
{
	const char *codename = json_get_str(os, "codename", "");
	AUTO_BUF text = {0};

	buf_init(&text, 8192);
	for (size_t i = 0; i < sizeof USUAL / sizeof *USUAL; i++) {
		if (strcmp(USUAL[i].id, json_get_str(os, "id", "")) != 0)
			continue;
		for (const char *c = USUAL[i].text; *c; c++)
			if (*c == '@')
				buf_add_text(&text, codename);
			else
				buf_add_char(&text, *c);
	}
	return arena_text(a, buf_str(&text));
}

int plan_make(struct arena *a, const struct airgap *g, struct plan *out, struct err *err)
{
	int rc;

	*out = (struct plan){.arena = a, .open = json_array()};
	out->asks = arena_alloc(a, (g->n_groups + 1) * sizeof *out->asks);
	if ((rc = asks_system(g->system, &out->os, err)) < 0)
		return rc;
	*vec_push(&out->origins) = (struct origin_of){
		.dir = arena_printf(a, "apt/%s", json_get_str(out->os, "id", "")),
		.suite = json_get_str(out->os, "codename", ""),
		.component = "main",
		.stanza = g->sources ? g->sources : usual_sources(a, out->os)};
	for (unsigned i = 0; rc == 0 && i < g->n_groups; i++)
		rc = add_group(out, g, i, err);
	return rc;
}

void plan_done(struct plan *p, unsigned n_groups)
{
	for (unsigned i = 0; p->asks && i < n_groups; i++)
		json_drop(&p->asks[i]);
	json_drop(&p->os);
	json_drop(&p->open);
	vec_done(&p->origins);
}
