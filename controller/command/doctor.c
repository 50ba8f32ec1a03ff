/* doctor - the detectors of known failures over nodes, and what would stop their roles' recipes. */
#include "agent/base/clock.h"
#include "agent/recipe/recipe.h"
#include "controller/command/lang.h"
#include "controller/command/session.h"
#include "controller/command/symptom.h"
#include "controller/command/table.h"
#include "controller/fleet/fleet.h"
#include "controller/secret/secret.h"
#include "controller/serve/look.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETECTOR_PREFIX "doctor-"
#define DETECTORS_MAX   64
#define PLACES_MAX      32
#define TEXT_MAX        (64u << 20)

struct doctor {
	const struct invocation *inv;
	struct store *store;
	struct keys keys;
	struct node_refs nodes;
	struct symptoms found;
	enum text_lang lang;
	unsigned parallel;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_listed(const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Every recipe that is called so is one, so that a site adds its own beside ours. */
static unsigned list_detectors(const struct invocation *inv, const char *names[DETECTORS_MAX])
{
	const char *places[PLACES_MAX];
	const unsigned n_places = pack_places(inv->arena, places, PLACES_MAX);
	unsigned n = 0;

	for (unsigned i = 0; i < n_places; i++) {
		const struct dirent *e;
		DIR *d = opendir(places[i]);

		while (d && (e = readdir(d)) && n < DETECTORS_MAX)
			if (str_starts(str_of(e->d_name), DETECTOR_PREFIX) &&
				!is_listed(names, n, e->d_name))
				names[n++] = arena_strdup(inv->arena, e->d_name);
		if (d)
			closedir(d);
	}
	if (n > 0)
		qsort(names, n, sizeof *names, by_name);
	return n;
}

static void on_event(void *ctx, const struct node_row *node, const json_t *record)
{
	struct doctor *d = ctx;

	symptom_record(&d->found, d->inv->arena, node, record);
}

static bool is_told(const struct symptoms *f, const struct node_row *node)
{
	vec_each(f, const struct symptom, it)
		for (size_t i = 0; i < it->nodes.n; i++)
			if (it->nodes.at[i] == node)
				return true;
	return false;
}

/* Of a node that failed without a finding only its result tells why. */
static void on_done(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct doctor *d = ctx;
	const bool answered = r->plan_hash && *r->plan_hash;
	const bool bad = r->state == RESULT_FAILED || r->state == RESULT_DENIED ||
			 r->state == RESULT_TIMEOUT || r->state == RESULT_INTERRUPTED;

	if ((r->state == RESULT_UNKNOWN && !answered) || (bad && !is_told(&d->found, node)))
		symptom_unanswered(&d->found, d->inv->arena, node, r->reason, r->hint);
}

static void drop_recipes(struct pack_recipe *recipes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		recipe_done(recipes[i].recipe);
}

static int ask(struct doctor *d, const struct node_refs *nodes, const char *const *names,
	unsigned n_names, enum order_mode mode, struct err *err)
{
	struct fleet_opts o = {.mode = mode,
		.nodes_text = d->inv->args[0],
		.by = session_user(d->inv),
		.parallel = d->parallel,
		.kex = option_get(d->inv, "kex"),
		.ctx = d,
		.event = on_event,
		.done = on_done};
	struct fleet_outcome out = {0};
	struct pack_recipe *recipes = NULL;
	struct secrets *secrets = NULL;
	unsigned n = 0;
	int rc = pack_resolve(d->inv->arena, names, n_names, &recipes, &n, err);

	if (rc == 0)
		rc = session_secrets(d->store, recipes, n, &secrets, err);
	o.recipes = recipes;
	o.n_recipes = n;
	o.secrets = secrets;
	if (rc == 0)
		rc = fleet_run(d->store, &d->keys, nodes, &o, &out, err);
	secrets_close(secrets);
	drop_recipes(recipes, n);
	return rc;
}

static int ask_detectors(struct doctor *d, struct err *err)
{
	const char *names[DETECTORS_MAX];
	const unsigned n = list_detectors(d->inv, names);

	if (n == 0) {
		err_set(err, E_NOTFOUND, "there is no recipe " DETECTOR_PREFIX "...");
		return err_hint(err, "they are shipped; STOIKA_RECIPES names more folders");
	}
	return ask(d, &d->nodes, names, n, ORDER_CHECK, err);
}

/* Whatever a plan of a role's recipes stops at would stop an apply too. */
static int ask_roles(struct doctor *d, struct err *err)
{
	struct role_groups groups = VEC_INIT;
	struct node_refs bare = VEC_INIT;
	int rc = role_groups_make(d->inv->arena, &d->nodes, NULL, &groups, &bare, err);

	if (rc == -E_NOTFOUND)
		rc = 0; /* no role lists a recipe */
	else if (rc == 0)
		vec_each(&groups, struct role_group, g) {
			rc = rc < 0 ? rc : ask(d, &g->nodes, g->names, g->n, ORDER_PLAN, err);
		}
	role_groups_done(&groups);
	vec_done(&bare);
	return rc;
}

static void print(const struct doctor *d)
{
	AUTO_JSON doc = json_object();
	AUTO_BUF text;
	char all[16], failures[16], warnings[16];

	buf_init(&text, TEXT_MAX);
	if (d->inv->json) {
		json_put_int(doc, "nodes", (int64_t)d->nodes.n);
		json_object_set_new(doc, "findings", symptom_json(&d->found));
		session_print_json(doc);
		return;
	}
	snprintf(all, sizeof all, "%zu", d->nodes.n);
	snprintf(failures, sizeof failures, "%u", symptom_count(&d->found, false));
	snprintf(warnings, sizeof warnings, "%u", symptom_count(&d->found, true));
	symptom_text(&d->found, d->lang, &text);
	TEXT_FILL(&text, d->lang, TEXT_DOCTOR_SUM, all, failures, warnings);
	buf_add_char(&text, '\n');
	session_print_lines(&text);
}

static int read_options(struct doctor *d, struct err *err)
{
	const char *text = option_get(d->inv, "parallel");
	struct report_opts o = {0};
	uint64_t n = 0;
	int rc = lang_opts(d->inv, &o, err);

	d->lang = o.lang;
	if (rc == 0 && text && (!str_to_u64(str_of(text), &n) || n == 0 || n > 4096))
		return err_set(
			err, E_SYNTAX, "--parallel is a number from 1 to 4096, not '%s'", text);
	d->parallel = (unsigned)n;
	return rc;
}

static int examine(struct doctor *d, struct node_rows *rows, struct err *err)
{
	int rc = read_options(d, err);

	if (rc == 0)
		rc = session_open(d->inv, STORE_WRITE, &d->store, err);
	if (rc == 0)
		rc = session_nodes(d->inv, d->store, d->inv->args[0], rows, &d->nodes, err);
	if (rc == 0)
		rc = keys_load(store_path(d->store), &d->keys, err);
	if (rc == 0)
		rc = ask_detectors(d, err);
	if (rc == 0 && !option_get(d->inv, "catalogue"))
		rc = ask_roles(d, err);
	return rc;
}

static int run_doctor(struct invocation *inv)
{
	struct doctor d = {.inv = inv};
	struct node_rows rows = VEC_INIT;
	struct err err;
	int code = examine(&d, &rows, &err);

	if (code == 0) {
		symptom_sort(&d.found);
		print(&d);
		code = symptom_count(&d.found, false) > 0 ? EXIT_SOME : EXIT_OK;
	} else {
		code = command_fail(inv, &err);
	}
	symptom_done(&d.found);
	vec_done(&d.nodes);
	vec_done(&rows);
	keys_done(&d.keys);
	store_close(d.store);
	return code;
}

static const struct option OPTIONS[] = {
	{"catalogue", 'c', NULL, "the known failures only, not what would stop the roles' recipes",
		false},
	{"parallel", 'p', "N", "at most N nodes at once; else adapted up to 512", false},
	{"kex", 0, "LIST", "SSH key exchange methods to offer", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_DOCTOR = {
	.name = "doctor",
	.args = "NODES",
	.min_args = 1,
	.max_args = 1,
	.summary = "look for known failures: what was found, why, and what to do",
	.about =
		"The detectors are the recipes doctor-*: checks with the number of a failure of the\n"
		"catalogue, its level, what was found and the right handling. Then the recipes of the\n"
		"nodes' roles are planned, and what they would stop at is told as well. Nothing is\n"
		"changed; programs that are asked only read and are ended after 10 seconds. What\n"
		"several nodes have is told once. Exit status 1 when there are failures; warnings\n"
		"alone are 0.\n",
	.options = OPTIONS,
	.run = run_doctor,
};
