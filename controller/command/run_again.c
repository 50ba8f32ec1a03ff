/*
 * run_again - runs that go on: attach follows what nodes do without us, resume sets those going
 * again that stand still.
 */
#include "agent/base/clock.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_run.h"
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/secret/secret.h"
#include "inventory/model/period.h"
#include "inventory/store/order.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES (1u << 20)

struct again {
	const struct invocation *inv;
	enum order_mode mode;
	struct store *store;
	struct keys keys;
	struct run_row run;
	struct node_rows rows;
	struct node_refs nodes;
	struct secrets *secrets;
	int64_t reboot_wait;
	struct run_view *view;
};

/* --- which nodes --- */

static bool is_over(const struct node_results *results, int64_t node)
{
	vec_each(results, const struct node_result, r)
		if (r->node == node)
			return r->state == RESULT_OK || r->state == RESULT_CHANGED ||
			       r->state == RESULT_SKIPPED || r->state == RESULT_FAILED ||
			       r->state == RESULT_DENIED;
	return false;
}

/* Those of the run whose end is not known; all of its nodes when every end is. */
static int choose_nodes(struct again *g, struct err *err)
{
	const struct invocation *inv = g->inv;
	const char *range = inv->n_args > 1 ? inv->args[1] : g->run.nodes;
	struct node_results results = VEC_INIT;
	struct node_refs all = VEC_INIT;
	int rc = session_nodes(inv, g->store, range, &g->rows, &all, err);

	if (rc == 0)
		rc = store_results(g->store, inv->arena, g->run.id, &results, err);
	for (size_t i = 0; rc == 0 && i < all.n; i++)
		if (inv->n_args > 1 || !is_over(&results, all.at[i]->id))
			*vec_push(&g->nodes) = all.at[i];
	if (rc == 0 && g->nodes.n == 0) {
		rc = err_set(
			err, E_STATE, "run %s has come to its end on all of its nodes", g->run.id);
		err_hint(err, "stoika run show %s; or name the nodes that are meant", g->run.id);
	}
	vec_done(&results);
	vec_done(&all);
	return rc;
}

static bool is_rollout(const struct again *g)
{
	return strcmp(g->run.mode, "rollout") == 0;
}

static int judge_run(const struct again *g, struct err *err)
{
	if (is_rollout(g) && g->mode == ORDER_ATTACH) {
		err_set(err, E_STATE, "run %s is a rollout: its driver follows the nodes",
			g->run.id);
		return err_hint(err, "stoika run watch %s; 'run resume' drives it on", g->run.id);
	}
	if (is_rollout(g))
		return 0;
	if (option_get(g->inv, "forgive")) {
		err_set(err, E_STATE, "run %s is no rollout: it has no breaker", g->run.id);
		return err_hint(err, "leave --forgive out");
	}
	if (strcmp(g->run.mode, "apply") == 0 || strcmp(g->run.mode, "undo") == 0)
		return 0;
	err_set(err, E_STATE, "run %s was a '%s', which leaves nothing to go on with", g->run.id,
		g->run.mode);
	return err_hint(err, "give the same command again");
}

/* --- secrets that the run had --- */

static bool had_secrets(json_t *order)
{
	size_t i;
	json_t *set;

	json_array_foreach(json_get(order, "sets"), i, set)
	{
		if (json_array_size(json_get(set, "secrets")) > 0)
			return true;
	}
	return false;
}

static int open_secrets(struct again *g, struct err *err)
{
	static const struct secret_ask ask = {secret_passphrase, NULL};
	AUTO_JSON order = NULL;
	const int rc = store_order_get(g->store, g->run.id, &order, err);

	if (rc == -E_NOTFOUND || (rc == 0 && !had_secrets(order)))
		return 0;
	return rc < 0 ? rc : secrets_open(store_path(g->store), false, &ask, &g->secrets, err);
}

static int load(struct again *g, struct err *err)
{
	const struct invocation *inv = g->inv;
	const char *wait = option_get(inv, "reboot-wait");
	int64_t seconds = 0;
	int rc = session_open(inv, STORE_WRITE, &g->store, err);

	if (rc == 0 && wait && (!period_parse(wait, &seconds) || seconds <= 0)) {
		err_set(err, E_SYNTAX, "--reboot-wait '%s' is no period", wait);
		return err_hint(err, "such as 90s, 15m or 1h");
	}
	g->reboot_wait = seconds * CLOCK_SEC;
	if (rc == 0)
		rc = store_run_find(
			g->store, inv->arena, inv->n_args ? inv->args[0] : "last", &g->run, err);
	if (rc == 0)
		rc = judge_run(g, err);
	if (rc == 0 && !is_rollout(g))
		rc = choose_nodes(g, err);
	if (rc == 0)
		rc = keys_load(store_path(g->store), &g->keys, err);
	if (rc == 0 && g->mode == ORDER_RESUME && !is_rollout(g))
		rc = open_secrets(g, err);
	return rc;
}

static void done(struct again *g)
{
	run_view_free(g->view);
	secrets_close(g->secrets);
	vec_done(&g->nodes);
	vec_done(&g->rows);
	keys_done(&g->keys);
	store_close(g->store);
}

/* --- as it goes --- */

/* What happens is a line at once: whoever attaches wants to see it. */
static void on_event(void *ctx, const struct node_row *node, const json_t *record)
{
	struct again *g = ctx;
	AUTO_BUF text = {0}, line = {0};

	run_view_event(g->view, node, record);
	if (g->inv->json)
		return;
	buf_init(&text, LINE_MAX_BYTES);
	buf_init(&line, LINE_MAX_BYTES);
	run_view_record(&line, record, ORDER_APPLY, LANG_EN);
	if (line.n == 0)
		return;
	buf_addf(&text, "%s%s", node->name, buf_text(&line));
	session_print_lines(&text);
}

static void on_done(void *ctx, const struct node_row *node, const struct node_result *result)
{
	struct again *g = ctx;

	run_view_done(g->view, node, result);
}

static int go_on(struct again *g, struct err *err)
{
	const struct fleet_opts o = {
		.id = g->run.id,
		.mode = g->mode,
		.secrets = g->secrets,
		.nodes_text = g->inv->n_args > 1 ? g->inv->args[1] : g->run.nodes,
		.by = session_user(g->inv),
		.reboot_wait = g->reboot_wait,
		.ctx = g,
		.event = on_event,
		.done = on_done,
	};
	struct fleet_outcome out = {0};

	g->view = run_view_new(g->mode, &g->nodes, g->inv->json);
	if (fleet_run(g->store, &g->keys, &g->nodes, &o, &out, err) < 0)
		return -1;
	return run_view_finish(g->view, &out, g->run.recipes, o.nodes_text, "");
}

/* A rollout's nodes are its driver's to name. */
static int drive_on(const struct again *g, struct err *err)
{
	if (g->inv->n_args > 1) {
		err_set(err, E_SYNTAX, "a rollout goes on with all of its nodes");
		return err_hint(err, "stoika run resume %s", g->run.id);
	}
	return rollout_resume(g->inv, g->store, &g->keys, g->run.id, err);
}

static int run_again(const struct invocation *inv, enum order_mode mode)
{
	struct again g = {.inv = inv, .mode = mode};
	struct err err;
	int code = load(&g, &err);

	if (code == 0)
		code = is_rollout(&g) ? drive_on(&g, &err) : go_on(&g, &err);
	done(&g);
	return code < 0 ? command_fail(inv, &err) : code;
}

static int run_attach(struct invocation *inv)
{
	return run_again(inv, ORDER_ATTACH);
}

static int run_resume(struct invocation *inv)
{
	return run_again(inv, ORDER_RESUME);
}

static const struct option OPTIONS[] = {
	{"reboot-wait", 0, "TIME", "how long a node may take to restart, such as 30m", false},
	{0},
};

const struct command COMMAND_RUN_ATTACH = {
	.name = "run attach",
	.args = "[RUN] [NODES]",
	.max_args = 2,
	.summary = "follow a run that goes on on its nodes without us, to its end",
	.about =
		"For after the controller was stopped or lost its links: each node's journal is read\n"
		"from where the record ends, and what comes is shown as it happens. NODES are those\n"
		"whose end is not known, unless they are named. Changes nothing.\n",
	.options = OPTIONS,
	.run = run_attach,
};

static const struct option RESUME_OPTIONS[] = {
	{"reboot-wait", 0, "TIME", "how long a node may take to restart, such as 30m", false},
	{"forgive", 0, NULL,
		"of a rollout: what broke was looked at, failures so far count no more", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_RUN_RESUME = {
	.name = "run resume",
	.args = "[RUN] [NODES]",
	.max_args = 2,
	.summary = "let a run go on where it stands still: after a power cut, a kill, a reboot",
	.about =
		"Each node goes on from its own journal, with the recipes and parameters the run began\n"
		"with; secrets are sent again. Steps that were finished stay finished; those that differ\n"
		"since then are told as 'since'. A step that was under way is checked anew.\n\n"
		"A rollout is driven on by this process, with the policy, recipes and parameters that\n"
		"it began with, also when it was paused. One that broke off because too many nodes\n"
		"failed needs --forgive: a person has looked. Without it only those who are out already\n"
		"are brought home.\n",
	.options = RESUME_OPTIONS,
	.run = run_resume,
};
