/* apply - plan and apply: recipes over a range of nodes, the same way but for the last step. */
#include "agent/base/clock.h"
#include "agent/base/json.h"
#include "agent/recipe/recipe.h"
#include "controller/command/bundle.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_run.h"
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/secret/secret.h"
#include "controller/serve/look.h"
#include "inventory/model/period.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VARS_SUM_MAX ((size_t)4 << 20)

/* All --set of the command line, for what the recipes declare. */
static int read_params(const struct invocation *inv, const struct pack_recipe *recipes, unsigned n,
	json_t *params, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < option_count(inv, "set"); i++)
		rc = pack_set(params, recipes, n, option_at(inv, "set", i), err);
	return rc;
}

/* What was given and what the node's variables say, judged against what a recipe declares. */
static int judge_node(const struct pack_recipe *recipes, unsigned n, const json_t *params,
	const struct node_row *node, struct err *err)
{
	AUTO_JSON values = NULL;
	int rc = json_parse(str_of(node->vars), VARS_SUM_MAX, "vars", &values, err);

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		AUTO_JSON given = fleet_params_given(
			recipes[i].recipe, values, json_get(params, recipes[i].name));
		AUTO_JSON full = NULL;

		rc = recipe_params(recipes[i].recipe, given, &full, err);
		if (rc < 0)
			err_wrap(err, "recipe '%s' on node '%s'", recipes[i].name, node->name);
	}
	return rc;
}

/* Nodes for which all is the same share the text, so one of them stands for many. */
static int judge_params(const struct pack_recipe *recipes, unsigned n, const json_t *params,
	const struct node_refs *nodes, struct err *err)
{
	const char *last = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nodes->n; i++) {
		if (nodes->at[i]->vars == last)
			continue;
		last = nodes->at[i]->vars;
		rc = judge_node(recipes, n, params, nodes->at[i], err);
	}
	return rc;
}

static int read_parallel(const struct invocation *inv, unsigned *out, struct err *err)
{
	const char *text = option_get(inv, "parallel");
	uint64_t n = 0;

	if (text && (!str_to_u64(str_of(text), &n) || n == 0 || n > 4096))
		return err_set(
			err, E_SYNTAX, "--parallel is a number from 1 to 4096, not '%s'", text);
	*out = (unsigned)n;
	return 0;
}

/* How long a node may take to restart. */
static int read_reboot_wait(const struct invocation *inv, int64_t *out, struct err *err)
{
	const char *text = option_get(inv, "reboot-wait");
	int64_t seconds = 0;

	if (text && (!period_parse(text, &seconds) || seconds <= 0)) {
		err_set(err, E_SYNTAX, "--reboot-wait '%s' is no period", text);
		return err_hint(err, "such as 90s, 15m or 1h");
	}
	*out = seconds * CLOCK_SEC;
	return 0;
}

/* What is packed, asked and where. The store and the keys are the command's, the rest of one run.
 */
struct work {
	struct store *store;
	struct keys keys;
	struct node_rows rows;
	struct node_refs nodes;
	struct pack_recipe *recipes;
	unsigned n_recipes, parallel;
	enum text_lang lang;
	int64_t reboot_wait; /* ns */
	const char *undo_of; /* NULL, or the run that an undo takes back */
	json_t *params;
	struct secrets *secrets;               /* while a run goes on */
	const char *recipes_text, *nodes_text; /* as they would be typed */
};

/* Those of a bundle are the folders that it was unpacked to. */
static void name_folders(
	const struct invocation *inv, const char *dir, const char **names, unsigned n)
{
	for (unsigned i = 0; dir && i < n; i++)
		if (!strchr(names[i], '/'))
			names[i] = arena_printf(inv->arena, "%s/%s", dir, names[i]);
}

/* The recipes first, so that the cheapest refusal comes first. */
static int load_recipes(const struct invocation *inv, struct work *w, const char **names,
	unsigned n, struct err *err)
{
	const char *dir = NULL;
	int rc;

	if (option_get(inv, "bundle")) {
		rc = w->store ? 0 : session_open(inv, STORE_WRITE, &w->store, err);
		if (rc == 0)
			rc = bundle_take_in(inv, w->store, &dir, err);
		if (rc < 0)
			return rc;
		name_folders(inv, dir, names, n);
	}
	w->params = json_object();
	rc = pack_resolve(inv->arena, names, n, &w->recipes, &w->n_recipes, err);
	return rc < 0 ? rc : read_params(inv, w->recipes, w->n_recipes, w->params, err);
}

static int load_nodes(
	const struct invocation *inv, struct work *w, const char *range, struct err *err)
{
	int rc = w->store ? 0 : session_open(inv, STORE_WRITE, &w->store, err);

	w->nodes_text = range;
	if (rc == 0)
		rc = session_nodes(inv, w->store, range, &w->rows, &w->nodes, err);
	if (rc == 0)
		rc = keys_load(store_path(w->store), &w->keys, err);
	return rc;
}

static int read_lang(const struct invocation *inv, enum text_lang *out, struct err *err)
{
	struct report_opts o = {0};
	const int rc = lang_opts(inv, &o, err);

	*out = o.lang;
	return rc;
}

static bool is_undo(const struct invocation *inv)
{
	return inv->command == &COMMAND_UNDO;
}

/* What a rollout changed is what its applies changed. */
static int read_run(const struct invocation *inv, struct work *w, struct err *err)
{
	const char *name = is_undo(inv) ? option_get(inv, "run") : NULL;
	struct run_row run;

	if (!name)
		return 0;
	if (store_run_find(w->store, inv->arena, name, &run, err) < 0)
		return -1;
	if (strcmp(run.mode, "rollout") != 0 && strcmp(run.mode, "apply") != 0) {
		err_set(err, E_SCHEMA, "run '%s' is no apply and no rollout but: %s", run.id,
			run.mode);
		return err_hint(err, "stoika run list shows which run applied what");
	}
	w->undo_of = strcmp(run.mode, "rollout") == 0 ? arena_printf(inv->arena, "%s-apply", run.id)
						      : run.id;
	return 0;
}

static int work_load(const struct invocation *inv, struct work *w, struct err *err)
{
	const char *names[SESSION_NAMES_MAX];
	unsigned n = 0;
	int rc = read_parallel(inv, &w->parallel, err);

	if (rc == 0)
		rc = read_reboot_wait(inv, &w->reboot_wait, err);
	if (rc == 0)
		rc = read_lang(inv, &w->lang, err);
	w->recipes_text = inv->args[0];
	if (rc == 0)
		rc = session_split_names(inv, inv->args[0], names, &n, err);
	if (rc == 0)
		rc = load_recipes(inv, w, names, n, err);
	if (rc == 0)
		rc = load_nodes(inv, w, inv->args[1], err);
	if (rc == 0)
		rc = read_run(inv, w, err);
	return rc < 0 ? rc : judge_params(w->recipes, w->n_recipes, w->params, &w->nodes, err);
}

static void drop_recipes(struct work *w)
{
	for (unsigned i = 0; i < w->n_recipes; i++)
		recipe_done(w->recipes[i].recipe);
	json_decref(w->params);
	w->n_recipes = 0;
	w->params = NULL;
}

static void work_done(struct work *w)
{
	drop_recipes(w);
	vec_done(&w->nodes);
	vec_done(&w->rows);
	keys_done(&w->keys);
	store_close(w->store);
}

/* The --set options, quoted for a shell. */
static void add_settings(const struct invocation *inv, struct buf *out)
{
	for (unsigned i = 0; i < option_count(inv, "set"); i++) {
		buf_add_text(out, " --set '");
		for (const char *p = option_at(inv, "set", i); *p; p++)
			if (*p == '\'')
				buf_add_text(out, "'\\''");
			else
				buf_add_char(out, *p);
		buf_add_char(out, '\'');
	}
}

static void fill_opts(const struct invocation *inv, const struct work *w, enum order_mode mode,
	struct fleet_opts *o)
{
	*o = (struct fleet_opts){
		.mode = mode,
		.recipes = w->recipes,
		.n_recipes = w->n_recipes,
		.params = w->params,
		.secrets = w->secrets,
		.nodes_text = w->nodes_text,
		.by = session_user(inv),
		.parallel = w->parallel,
		.reboot_wait = w->reboot_wait,
		.kex = option_get(inv, "kex"),
		.plan_hash = option_get(inv, is_undo(inv) ? "expect" : "plan"),
		.preview = is_undo(inv) && option_get(inv, "plan"),
		.undo_of = w->undo_of,
		.event = run_view_event,
		.done = run_view_done,
	};
}

/* Nodes that would do something else than was shown are a refusal, not a failure. */
static int code_of(const struct fleet_opts *o, const struct fleet_outcome *out, int code)
{
	return code == EXIT_SOME && o->plan_hash && out->nodes.n[RESULT_DENIED] > 0 ? EXIT_REFUSED
										    : code;
}

static int run_work(
	const struct invocation *inv, struct work *w, enum order_mode mode, struct err *err)
{
	struct fleet_opts o;
	struct fleet_outcome out = {0};
	struct run_view *view;
	AUTO_BUF settings = {0};
	int code = -1;

	buf_init(&settings, 1u << 20);
	add_settings(inv, &settings);
	if (session_secrets(w->store, w->recipes, w->n_recipes, &w->secrets, err) < 0)
		return -1;
	fill_opts(inv, w, mode, &o);
	view = run_view_new(o.preview ? ORDER_PLAN : mode, &w->nodes, inv->json);
	run_view_lang(view, w->lang);
	if (is_undo(inv))
		run_view_verb(view, "undo", "--expect");
	o.ctx = view;
	if (fleet_run(w->store, &w->keys, &w->nodes, &o, &out, err) == 0)
		code = code_of(&o, &out,
			run_view_finish(
				view, &out, w->recipes_text, w->nodes_text, buf_text(&settings)));
	run_view_free(view);
	secrets_close(w->secrets);
	w->secrets = NULL;
	return code;
}

static void ask_undo(const struct work *w)
{
	AUTO_BUF nodes = {0}, text = {0};

	buf_init(&nodes, 64);
	buf_init(&text, 64u << 10);
	if (w->lang == LANG_RU)
		text_add_count(&nodes, w->lang, COUNT_ON_NODES, w->nodes.n);
	else
		buf_addf(&nodes, "%zu node%s", w->nodes.n, w->nodes.n == 1 ? "" : "s");
	TEXT_FILL(&text, w->lang, TEXT_GO_ASK_UNDO, w->recipes_text, buf_text(&nodes));
	fputs(buf_text(&text), stderr);
}

/* English is understood in every language. */
static bool is_yes(enum text_lang lang, const char *line)
{
	const struct str said = str_trim(str_of(line));

	return str_is(said, "yes") || str_is(said, text_get(lang, TEXT_GO_YES));
}

/* Only a person can be asked; a script says --yes. */
static int confirm(const struct invocation *inv, const struct work *w, struct err *err)
{
	char line[16] = "";

	if (!is_undo(inv) || option_get(inv, "plan") || option_get(inv, "yes"))
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		err_set(err, E_STATE, "undo asks before it changes %zu node%s", w->nodes.n,
			w->nodes.n == 1 ? "" : "s");
		return err_hint(err, "say --yes where nobody can be asked; --plan only shows");
	}
	ask_undo(w);
	if (fgets(line, sizeof line, stdin) && is_yes(w->lang, line))
		return 0;
	return err_set(err, E_CANCELLED, "nothing was changed");
}

static int roll_out(const struct invocation *inv, struct work *w, struct err *err)
{
	const struct rollout_begin b = {
		.store = w->store,
		.keys = &w->keys,
		.nodes = &w->nodes,
		.recipes = w->recipes,
		.n_recipes = w->n_recipes,
		.params = w->params,
		.recipes_text = w->recipes_text,
		.nodes_text = w->nodes_text,
	};

	return rollout_begin(inv, &b, err);
}

static int run_named(const struct invocation *inv, enum order_mode mode, struct err *err)
{
	struct work w = {0};
	int code = work_load(inv, &w, err);

	if (code == 0 && mode == ORDER_APPLY && option_get(inv, "rollout"))
		code = roll_out(inv, &w, err);
	else if (code == 0)
		code = confirm(inv, &w, err) < 0 ? -1 : run_work(inv, &w, mode, err);
	work_done(&w);
	return code;
}

/* --- what the roles of the nodes list --- */

/* One run: nodes that get the same recipes. */
static int run_group(const struct invocation *inv, const struct work *all,
	const struct role_group *g, enum order_mode mode, struct err *err)
{
	struct work w = *all;
	AUTO_BUF nodes = {0}, names = {0};
	int code = -1;

	buf_init(&nodes, 1u << 20);
	buf_init(&names, 1u << 16);
	range_fold(&g->nodes, &nodes);
	for (unsigned i = 0; i < g->n; i++)
		buf_addf(&names, "%s%s", i ? "," : "", g->names[i]);
	w.nodes = g->nodes;
	w.nodes_text = buf_ok(&nodes) ? buf_text(&nodes) : all->nodes_text;
	w.recipes_text = buf_text(&names);
	if (load_recipes(inv, &w, g->names, g->n, err) == 0 &&
		judge_params(w.recipes, w.n_recipes, w.params, &w.nodes, err) == 0)
		code = run_work(inv, &w, mode, err);
	drop_recipes(&w);
	return code;
}

static int plan_is_one(
	const struct invocation *inv, const struct role_groups *groups, struct err *err)
{
	if (groups->n == 1 || !option_get(inv, "plan"))
		return 0;
	err_set(err, E_CONFLICT,
		"one --plan cannot stand for %zu runs: these roles list other recipes", groups->n);
	return err_hint(err, "name nodes whose roles list the same");
}

/* A run for each list of recipes, one after the other; a failed one does not keep the others. */
static int run_groups(
	const struct invocation *inv, const struct work *all, enum order_mode mode, struct err *err)
{
	struct role_groups groups = VEC_INIT;
	struct node_refs bare = VEC_INIT;
	int worst = -1;

	if (role_groups_make(inv->arena, &all->nodes, NULL, &groups, &bare, err) == 0 &&
		plan_is_one(inv, &groups, err) == 0)
		worst = EXIT_OK;
	for (size_t i = 0; worst >= 0 && i < groups.n; i++) {
		const int code = run_group(inv, all, &groups.at[i], mode, err);

		worst = code < 0 || code > worst ? code : worst;
	}
	role_groups_done(&groups);
	vec_done(&bare);
	return worst;
}

static int run_roles(const struct invocation *inv, enum order_mode mode, struct err *err)
{
	struct work w = {0};
	int code = -1;

	if (inv->n_args != 1) {
		err_set(err, E_SYNTAX, "--roles takes the recipes from the nodes' roles");
		return err_hint(err, "name the nodes only: --roles NODES");
	}
	if (read_parallel(inv, &w.parallel, err) == 0 &&
		read_reboot_wait(inv, &w.reboot_wait, err) == 0 &&
		read_lang(inv, &w.lang, err) == 0 && load_nodes(inv, &w, inv->args[0], err) == 0)
		code = run_groups(inv, &w, mode, err);
	work_done(&w);
	return code;
}

/* What says how a rollout goes means nothing without one. */
static int judge_rollout(const struct invocation *inv, struct err *err)
{
	static const char *const with[] = {
		"explain", "yes", "max-unavailable", "waves", "on-failure", "fence"};

	if (inv->command != &COMMAND_APPLY)
		return 0;
	if (option_get(inv, "rollout"))
		return option_get(inv, "roles") ? rollout_judge_options(inv, err) : 0;
	for (size_t i = 0; i < sizeof with / sizeof *with; i++)
		if (option_get(inv, with[i])) {
			err_set(err, E_SYNTAX, "--%s goes with --rollout", with[i]);
			return err_hint(err, "--rollout default, or a policy's file");
		}
	return 0;
}

static int run_order(const struct invocation *inv, enum order_mode mode)
{
	struct err err;
	int code = -1;

	if (judge_rollout(inv, &err) < 0) {
		code = -1;
	} else if (option_get(inv, "roles")) {
		code = run_roles(inv, mode, &err);
	} else if (inv->n_args == 2) {
		code = run_named(inv, mode, &err);
	} else {
		err_set(&err, E_SYNTAX, "'%s' needs RECIPE and NODES", inv->command->name);
		err_hint(&err, "RECIPE NODES; or --roles NODES for what their roles list");
	}
	return code < 0 ? command_fail(inv, &err) : code;
}

static int run_plan(struct invocation *inv)
{
	return run_order(inv, ORDER_PLAN);
}

static int run_apply(struct invocation *inv)
{
	return run_order(inv, ORDER_APPLY);
}

static int run_undo(struct invocation *inv)
{
	return run_order(inv, ORDER_UNDO);
}

#define SHARED_OPTIONS                                                                            \
	{"roles", 'r', NULL, "the recipes that the nodes' roles list, in the place of RECIPE",    \
		false},                                                                           \
		{"set", 's', "NAME=VALUE", "a parameter, RECIPE.NAME=VALUE when several have it", \
			true},                                                                    \
		{"bundle", 0, "FILE", "the recipes of a bundle that was carried here", false},    \
		{"key", 'k', "KEY", "with --bundle: the public key of its maker, or a file",      \
			false},                                                                   \
		{"parallel", 'p', "N", "at most N nodes at once; else adapted up to 512", false}, \
		{"kex", 0, "LIST", "SSH key exchange methods to offer", false}, LANG_OPTION

static const struct option PLAN_OPTIONS[] = {SHARED_OPTIONS, {0}};

static const struct option APPLY_OPTIONS[] = {
	SHARED_OPTIONS,
	{"plan", 0, "HASH",
		"do just what 'stoika plan' showed under this hash; a node that differs is refused",
		false},
	{"reboot-wait", 0, "TIME", "how long a node may take to restart, such as 30m", false},
	{"rollout", 0, "POLICY", "node by node over a live cluster, by this file or 'default'",
		false},
	{"explain", 'e', NULL, "with --rollout: only tell who would go when, and why not sooner",
		false},
	{"yes", 'y', NULL, "with --rollout: do not ask", false},
	{"max-unavailable", 0, "N", "with --rollout, over its policy: 2, or 10%", false},
	{"waves", 0, "LIST", "the same: 1,5%,100%", false},
	{"on-failure", 0, "WORD", "the same: rollback, quarantine or stop", false},
	{"fence", 0, "WORD", "the same: none, slurm, kubernetes or command", false},
	{0},
};

static const struct option UNDO_OPTIONS[] = {
	SHARED_OPTIONS,
	{"plan", 0, NULL, "only show what would be taken back", false},
	{"run", 0, "RUN", "only what this apply or rollout changed, not what came before it",
		false},
	{"expect", 0, "HASH", "do just what 'undo --plan' showed under this hash, or stop", false},
	{"yes", 'y', NULL, "do not ask", false},
	{0},
};

const struct command COMMAND_PLAN = {
	.name = "plan",
	.args = "RECIPE[,RECIPE...]|--roles NODES",
	.min_args = 1,
	.max_args = 2,
	.summary = "show what recipes would change, with diffs; changes nothing",
	.about =
		"Each step would change, would not, or is unknown because it hangs on a step before\n"
		"it. Nodes with the same answer are shown once. The hash at the end goes to\n"
		"'stoika apply --plan'. A RECIPE with a '/' is a folder. With --roles the nodes get\n"
		"what their roles list in the site file, one run for each list.\n",
	.options = PLAN_OPTIONS,
	.run = run_plan,
};

const struct command COMMAND_APPLY = {
	.name = "apply",
	.args = "RECIPE[,RECIPE...]|--roles NODES",
	.min_args = 1,
	.max_args = 2,
	.summary = "bring nodes to the state that recipes describe",
	.about =
		"Recipes run in the order given, those they need before them. Every step is checked,\n"
		"applied when it differs, and checked again. A node that fails stops there; the\n"
		"others go on. The same command again picks up where a broken run stopped. With\n"
		"--roles the nodes get what their roles list in the site file, one run for each list.\n"
		"\n"
		"With --rollout the nodes go in canaries and waves: each is planned, kept off its\n"
		"scheduler, waited for until its jobs have ended, changed, restarted if need be,\n"
		"proven and given back; one that fails is taken back or kept for a person. 'stoika\n"
		"help rollout explain' shows a policy. ^C ends the driver and leaves the nodes to\n"
		"what they do; 'stoika run resume' goes on. Status 0: all are done; 1: some are not;\n"
		"3: a check said no everywhere, nothing was changed; 4: nobody could be reached.\n",
	.options = APPLY_OPTIONS,
	.run = run_apply,
};

const struct command COMMAND_UNDO = {
	.name = "undo",
	.args = "RECIPE[,RECIPE...] NODES",
	.min_args = 2,
	.max_args = 2,
	.summary = "take back what recipes changed on nodes, the last change first",
	.about =
		"Each node remembers what was there before a recipe changed it. What somebody else\n"
		"changed since is left alone and told. Steps whose kind cannot be undone say so:\n"
		"'stoika help step KIND'. A recipe with 'undo' steps of its own is taken back by\n"
		"those alone. With --run the nodes go back to what they were ahead of that run, and\n"
		"what earlier ones made of them stays. Asks before it begins.\n",
	.options = UNDO_OPTIONS,
	.run = run_undo,
};
