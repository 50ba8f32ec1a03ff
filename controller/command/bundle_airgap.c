#include "controller/command/bundle_airgap.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/airgap/airgap.h"
#include "controller/airgap/listing.h"
#include "controller/command/session.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack_file.h"
#include "controller/serve/look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_MAX  256
#define SOURCES_MAX (1u << 20)
#define VARS_MAX    ((size_t)4 << 20)
#define RECIPES_IN  "recipes.bundle"

struct gathering {
	struct airgap_group groups[GROUPS_MAX];
	unsigned n;
	const char *names[SESSION_NAMES_MAX]; /* of all recipes, each once */
	unsigned n_names;
	json_t *params;
};

static void gathering_done(struct gathering *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		for (unsigned k = 0; k < g->groups[i].n; k++)
			recipe_done(g->groups[i].recipes[k].recipe);
		json_decref(g->groups[i].vars);
	}
	json_drop(&g->params);
}

static int note_name(struct gathering *g, const char *name, struct err *err)
{
	for (unsigned i = 0; i < g->n_names; i++)
		if (strcmp(g->names[i], name) == 0)
			return 0;
	if (g->n_names == SESSION_NAMES_MAX)
		return err_set(
			err, E_LIMIT, "more than %d recipes in one bundle", SESSION_NAMES_MAX);
	g->names[g->n_names++] = name;
	return 0;
}

/* vars is stolen; NULL: none. */
static int add_group(const struct invocation *inv, struct gathering *g, const char *title,
	const char *const *names, unsigned n, json_t *vars, struct err *err)
{
	struct pack_recipe *recipes = NULL;
	unsigned n_recipes = 0;
	int rc = 0;

	if (g->n == GROUPS_MAX) {
		json_decref(vars);
		return err_set(err, E_LIMIT, "more than %d groups of nodes", GROUPS_MAX);
	}
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = note_name(g, names[i], err);
	if (rc == 0)
		rc = pack_resolve(inv->arena, names, n, &recipes, &n_recipes, err);
	g->groups[g->n++] = (struct airgap_group){.name = title,
		.recipes = recipes,
		.n = n_recipes,
		.vars = vars,
		.params = g->params};
	return rc;
}

static const char *title_of(const struct invocation *inv, const struct node_row *node)
{
	return *node->role ? arena_printf(inv->arena, "role '%s'", node->role)
			   : arena_printf(inv->arena, "node '%s'", node->name);
}

/* Nodes with the same recipes and variables are one group, and stand for each other. */
static int gather_roles(
	const struct invocation *inv, struct store *s, struct gathering *g, struct err *err)
{
	struct node_rows rows = {0};
	struct node_refs nodes = {0}, bare = {0};
	struct role_groups all = {0};
	int rc = session_nodes(inv, s, inv->args[0], &rows, &nodes, err);

	if (rc == 0)
		rc = role_groups_make(inv->arena, &nodes, NULL, &all, &bare, err);
	vec_each(&all, const struct role_group, one) {
		const char *last = NULL;

		for (size_t i = 0; rc == 0 && i < one->nodes.n; i++) {
			const struct node_row *node = one->nodes.at[i];
			json_t *vars = NULL;

			if (node->vars == last)
				continue;
			last = node->vars;
			rc = json_parse(str_of(node->vars), VARS_MAX, "vars", &vars, err);
			if (rc == 0)
				rc = add_group(
					inv, g, title_of(inv, node), one->names, one->n, vars, err);
		}
	}
	role_groups_done(&all);
	vec_done(&bare);
	vec_done(&nodes);
	vec_done(&rows);
	return rc;
}

static int gather_named(const struct invocation *inv, struct gathering *g, struct err *err)
{
	const char *names[SESSION_NAMES_MAX];
	unsigned n = 0;
	int rc = session_split_names(inv, inv->args[0], names, &n, err);

	if (rc == 0)
		rc = add_group(inv, g, "recipes", names, n, json_object(), err);
	for (unsigned i = 0; rc == 0 && i < option_count(inv, "set"); i++)
		rc = pack_set(g->params, g->groups[0].recipes, g->groups[0].n,
			option_at(inv, "set", i), err);
	return rc;
}

static int write_recipes(const struct invocation *inv, struct store *s, const struct keys *keys,
	const struct gathering *g, const char *dir, struct err *err)
{
	struct pack_recipe *recipes = NULL;
	struct pack p = {0};
	unsigned n = 0;
	int rc = pack_resolve(inv->arena, g->names, g->n_names, &recipes, &n, err);

	if (rc == 0)
		rc = pack_make(s, keys, recipes, n, &p, err);
	if (rc == 0)
		rc = pack_file_write(&p, arena_printf(inv->arena, "%s/" RECIPES_IN, dir), err);
	pack_done(&p);
	for (unsigned i = 0; i < n; i++)
		recipe_done(recipes[i].recipe);
	return rc;
}

static int read_sources(const struct invocation *inv, const char **out, struct err *err)
{
	const char *path = option_get(inv, "sources");
	AUTO_FD top = open(path && path[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUF text = {0};

	buf_init(&text, SOURCES_MAX);
	*out = NULL;
	if (!path)
		return 0;
	if (fs_read(top, path, &text, err) < 0)
		return err_wrap(err, "--sources");
	if (str_find_str(buf_str(&text), STR_LIT("URIs:")) == STR_NONE) {
		err_set(err, E_SCHEMA, "--sources '%s' has no line 'URIs:'", path);
		return err_hint(
			err, "the form is that of sources.list.d/NAME.sources, with Signed-By");
	}
	*out = arena_text(inv->arena, buf_str(&text));
	return 0;
}

static int whole_path(
	const struct invocation *inv, const char *path, const char **out, struct err *err)
{
	char full[PATH_MAX];

	*out = NULL;
	if (!path)
		return 0;
	if (!realpath(path, full))
		return err_sys(err, errno, "cannot find '%s'", path);
	*out = arena_strdup(inv->arena, full);
	return 0;
}

static int make_folder(const struct invocation *inv, const char **out, struct err *err)
{
	const char *path = option_get(inv, "output");

	if (!path) {
		err_set(err, E_SYNTAX, "'stoika bundle make --for' needs --output FOLDER");
		return err_hint(err, "-o %s", option_get(inv, "for"));
	}
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", path);
	return whole_path(inv, path, out, err);
}

static void print_report(const struct invocation *inv, const char *dir, json_t *report)
{
	AUTO_BUF text = {0};
	json_t *one;
	size_t i;

	if (inv->json) {
		json_put_str(report, "folder", dir);
		session_print_json(report);
		return;
	}
	buf_init(&text, 1u << 20);
	buf_addf(&text, "%s: %lld packages, signed by %s\n", dir,
		(long long)json_get_int(report, "packages", 0),
		json_get_str(report, "fingerprint", ""));
	json_array_foreach(json_get(report, "open"), i, one)
		buf_addf(&text, "open: %s\n", json_string_value(one));
	buf_addf(&text, "there: stoika bundle verify %s --key KEY (see 'stoika key show')\n", dir);
	session_print_lines(&text);
}

static int make(const struct invocation *inv, struct store *s, const struct keys *keys,
	struct gathering *g, json_t **report, const char **dir, struct err *err)
{
	struct airgap job = {.system = option_get(inv, "for"),
		.gnupg = keys_path(inv->arena, store_path(s), "gnupg"),
		.bundle = inv->args[0],
		.groups = g->groups};
	int rc =
		option_get(inv, "roles") ? gather_roles(inv, s, g, err) : gather_named(inv, g, err);

	job.n_groups = g->n;
	if (rc == 0)
		rc = read_sources(inv, &job.sources, err);
	if (rc == 0)
		rc = whole_path(inv, option_get(inv, "installed"), &job.status, err);
	if (rc == 0)
		rc = make_folder(inv, dir, err);
	job.dir = *dir;
	if (rc == 0)
		rc = write_recipes(inv, s, keys, g, *dir, err);
	return rc < 0 ? rc : airgap_make(&job, keys->sign, report, err);
}

int bundle_airgap_make(struct invocation *inv)
{
	struct gathering g = {.params = json_object()};
	AUTO_JSON report = NULL;
	struct store *s = NULL;
	struct keys keys = {0};
	const char *dir = NULL;
	struct err err;
	int rc = session_open(inv, STORE_WRITE, &s, &err);

	if (rc == 0)
		rc = keys_load(store_path(s), &keys, &err);
	if (rc == 0)
		rc = make(inv, s, &keys, &g, &report, &dir, &err);
	if (rc == 0)
		print_report(inv, dir, report);
	gathering_done(&g);
	keys_done(&keys);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* --- verify --- */

/* The recipes that it carries, unpacked to tmp; what their own check finds comes to bad. */
static int unpack(const struct invocation *inv, const char *dir, const char *tmp,
	const struct sign_key *key, json_t *bad, struct err *err)
{
	AUTO_FD to = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bundle_verdict v = {0};
	struct pack_file b = {0};
	int rc = pack_file_read(
		inv->arena, arena_printf(inv->arena, "%s/" RECIPES_IN, dir), &b, err);

	if (rc == 0) {
		pack_file_verify(&b, key, clock_wall() / CLOCK_SEC, 0, &v);
		for (int c = 0; c < BUNDLE_CHECKS; c++)
			if (!v.check[c].ok)
				json_array_append_new(bad,
					json_string(arena_printf(inv->arena, RECIPES_IN ": %s: %s",
						bundle_check_name((enum bundle_check)c),
						v.check[c].why)));
		rc = v.ok ? pack_file_unpack(&b, to, err)
			  : err_set(err, E_VERIFY, "its recipes are refused");
	}
	pack_file_done(&b);
	return rc;
}

static int read_groups(const struct invocation *inv, const json_t *doc, const char *tmp,
	struct gathering *g, struct err *err)
{
	json_t *group, *name;
	size_t i, k;
	int rc = 0;

	json_array_foreach(json_get(doc, "groups"), i, group)
	{
		const char *names[SESSION_NAMES_MAX];
		unsigned n = 0;

		json_array_foreach(json_get(group, "recipes"), k, name) if (n < SESSION_NAMES_MAX)
			names[n++] =
				arena_printf(inv->arena, "%s/%s", tmp, json_string_value(name));
		g->n_names = 0;
		if (rc == 0)
			rc = add_group(inv, g, json_get_str(group, "name", ""), names, n,
				json_incref(json_get(group, "vars")), err);
		if (rc == 0)
			g->groups[g->n - 1].params = json_get(group, "params");
	}
	return rc;
}

static int print_verdict(const struct invocation *inv, const json_t *doc, const json_t *bad)
{
	const bool ok = json_array_size(bad) == 0;
	AUTO_JSON out = json_object();
	AUTO_BUF text = {0};
	json_t *one;
	size_t i;

	if (inv->json) {
		json_put_str(out, "name", json_get_str(doc, "name", ""));
		json_put_bool(out, "ok", ok);
		json_object_set_new(out, "bad", json_deep_copy(bad));
		session_print_json(out);
		return ok ? EXIT_OK : EXIT_REFUSED;
	}
	buf_init(&text, 4u << 20);
	json_array_foreach(bad, i, one) buf_addf(&text, "%s\n", json_string_value(one));
	buf_addf(&text, "%s for %s: %s, %zu files\n", json_get_str(doc, "name", ""),
		json_get_str(doc, "for", ""), ok ? "whole" : "NOT WHOLE",
		json_object_size(json_get(doc, "files")));
	session_print_lines(&text);
	return ok ? EXIT_OK : EXIT_REFUSED;
}

static int verify(struct invocation *inv, const struct sign_key *key, const char *tmp, json_t **doc,
	json_t **bad, struct err *err)
{
	struct gathering g = {.params = json_object()};
	AUTO_JSON own = json_array();
	struct airgap job = {.groups = g.groups};
	AUTO_FD top = -1;
	int rc = whole_path(inv, inv->args[0], &job.dir, err);

	if (rc == 0)
		rc = whole_path(inv, option_get(inv, "installed"), &job.status, err);
	if (rc == 0)
		top = open(job.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rc == 0)
		rc = listing_read(top, key, doc, err);
	if (rc == 0)
		rc = unpack(inv, job.dir, tmp, key, own, err);
	if (rc == 0)
		rc = read_groups(inv, *doc, tmp, &g, err);
	job.system = json_get_str(*doc, "for", "");
	job.n_groups = g.n;
	if (rc == 0)
		rc = airgap_verify(&job, *doc, bad, err);
	gathering_done(&g);
	return rc;
}

int bundle_airgap_verify(struct invocation *inv, const struct sign_key *key)
{
	AUTO_FD top = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char tmp[] = "/tmp/stoika-bundle.XXXXXX";
	AUTO_JSON doc = NULL;
	AUTO_JSON bad = NULL;
	struct err err;
	int rc;

	if (!mkdtemp(tmp)) {
		err_sys(&err, errno, "cannot make a folder in /tmp");
		return command_fail(inv, &err);
	}
	rc = verify(inv, key, tmp, &doc, &bad, &err);
	(void)fs_remove(top, tmp + strlen("/tmp/"), true, NULL);
	return rc < 0 ? command_fail(inv, &err) : print_verdict(inv, doc, bad);
}
