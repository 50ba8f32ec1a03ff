/* run - the record of runs: show, and watch while it goes on. */
#include "agent/base/clock.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_page.h"
#include "controller/command/rollout_watch.h"
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (64u << 20)

/* A look for drift changes nothing either, and is told as a plan is. */
static enum order_mode mode_of(const struct run_row *r)
{
	const bool looks = strcmp(r->mode, "plan") == 0 || strcmp(r->mode, "check") == 0;

	return looks ? ORDER_PLAN : ORDER_APPLY;
}

/* A moment is text in UTC, null when it is not yet. */
static void put_moment(json_t *obj, const char *key, int64_t wall)
{
	char text[24];

	if (wall == 0) {
		json_object_set_new(obj, key, json_null());
		return;
	}
	clock_format(wall, text);
	json_put_str(obj, key, text);
}

static json_t *run_json(const struct run_row *r)
{
	json_t *obj = json_object();

	json_put_str(obj, "run", r->id);
	json_put_str(obj, "mode", r->mode);
	json_put_str(obj, "recipes", r->recipes);
	json_put_str(obj, "nodes", r->nodes);
	json_put_str(obj, "by", r->by);
	json_put_str(obj, "state", r->state);
	json_put_str(obj, "plan_hash", r->plan_hash);
	put_moment(obj, "started", r->started);
	put_moment(obj, "ended", r->ended);
	json_put_int(obj, "n_nodes", r->n_nodes);
	json_object_set_new(obj, "counts", result_counts_json(&r->counts));
	return obj;
}

static void head_lines(const struct run_row *r, struct buf *out)
{
	char at[24], span[24] = "running";

	clock_format(r->started, at);
	if (r->ended)
		clock_format_span(r->ended - r->started, span);
	buf_addf(out, "run       %s\nstate     %s\nmode      %s\nrecipes   %s\nnodes     %s (%u)\n",
		r->id, r->state, r->mode, r->recipes, r->nodes, r->n_nodes);
	buf_addf(out, "by        %s\nstarted   %s\ntook      %s\n", r->by, at, span);
	if (*r->plan_hash)
		buf_addf(out, "plan      %s\n", r->plan_hash);
}

static void node_lines(
	const struct node_result *n, enum order_mode mode, int width, struct buf *out)
{
	char span[24];

	clock_format_span(n->took, span);
	buf_addf(out, "%-*s  %-11s ", width, n->node_name, run_view_state(n->state, mode));
	run_view_counts(out, &n->counts, mode, LANG_EN);
	buf_addf(out, "  (%s)\n", span);
	if (*n->reason)
		buf_addf(out, "%*s  %s\n", width, "", n->reason);
	if (*n->hint && (*n->reason || !strstr(n->hint, "stoika run show")))
		buf_addf(out, "%*s  hint: %s\n", width, "", n->hint);
}

static void event_lines(
	const struct event_rows *events, int64_t node, enum order_mode mode, struct buf *out)
{
	vec_each(events, struct event_row, e)
		if (e->node == node)
			run_view_record(out, e->record, mode, LANG_EN);
}

static json_t *result_json(const struct node_result *n, const struct event_rows *events)
{
	json_t *obj = json_object(), *list = json_array();

	json_put_str(obj, "node", n->node_name);
	json_put_str(obj, "state", result_name(n->state));
	json_object_set_new(obj, "counts", result_counts_json(&n->counts));
	json_put_str(obj, "plan_hash", n->plan_hash);
	json_put_str(obj, "reason", n->reason);
	json_put_str(obj, "hint", n->hint);
	json_put_int(obj, "took_ms", n->took / CLOCK_MS);
	json_put_int(obj, "agent_pass_us", n->agent_pass / 1000);
	json_put_int(obj, "agent_process_us", n->agent_process / 1000);
	vec_each(events, struct event_row, e)
		if (e->node == n->node)
			json_array_append(list, e->record);
	json_object_set_new(obj, "events", list);
	return obj;
}

static void print_run_json(const struct run_row *r, const struct node_results *results,
	const struct event_rows *events)
{
	AUTO_JSON doc = run_json(r);
	json_t *nodes = json_array();

	vec_each(results, struct node_result, n)
		json_array_append_new(nodes, result_json(n, events));
	json_object_set_new(doc, "results", nodes);
	session_print_json(doc);
}

static void print_run_text(const struct run_row *r, const struct node_results *results,
	const struct event_rows *events)
{
	const enum order_mode mode = mode_of(r);
	int width = 4;
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	head_lines(r, &text);
	vec_each(results, struct node_result, n)
		if ((int)strlen(n->node_name) > width)
			width = (int)strlen(n->node_name);
	buf_add_char(&text, '\n');
	vec_each(results, struct node_result, n) {
		node_lines(n, mode, width, &text);
		event_lines(events, n->node, mode, &text);
	}
	session_print_lines(&text);
}

static void drop_events(struct event_rows *events)
{
	vec_each(events, struct event_row, e)
		json_decref(e->record);
	vec_done(events);
}

/* All of them, page by page. */
static int load_events(
	struct store *s, struct arena *a, const char *run, struct event_rows *out, struct err *err)
{
	size_t had;
	int rc;

	do {
		had = out->n;
		rc = store_events(s, a, run, had ? out->at[had - 1].id : 0, out, err);
	} while (rc == 0 && out->n == had + STORE_EVENTS_MAX);
	return rc;
}

/* --- rollouts --- */

static void print_rollout(
	const struct invocation *inv, const struct rollout_past *p, const struct report_opts *o)
{
	AUTO_JSON doc = inv->json ? rollout_show_json(p) : NULL;
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	if (doc) {
		session_print_json(doc);
		return;
	}
	rollout_show_text(p, o, option_get(inv, "each") != NULL, &text);
	session_print_lines(&text);
}

static int print_page(const struct invocation *inv, struct store *s, const struct rollout_past *p,
	const struct report_opts *o, struct err *err)
{
	const struct past_node *n = NULL;
	struct rollout_page page = {0};
	AUTO_JSON doc = NULL;
	AUTO_BUF text = {0};
	int rc = rollout_past_find(p, option_get(inv, "node"), &n, err);

	buf_init(&text, TEXT_MAX);
	if (rc == 0)
		rc = rollout_page_load(s, inv->arena, p, n, &page, err);
	if (rc == 0 && inv->json) {
		doc = rollout_page_json(&page, inv->arena);
		session_print_json(doc);
	} else if (rc == 0) {
		rollout_page_text(&page, inv->arena, o->lang, &text);
		session_print_lines(&text);
	}
	rollout_page_done(&page);
	return rc;
}

static int print_param(const struct invocation *inv, const struct rollout_past *p, struct err *err)
{
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, TEXT_MAX);
	rc = rollout_past_param(p, option_get(inv, "param"), &text, err);
	if (rc == 0) {
		buf_add_char(&text, '\n');
		session_print_document(inv, &text);
	}
	return rc;
}

static int show_rollout(
	const struct invocation *inv, struct store *s, const struct run_row *r, struct err *err)
{
	struct rollout_past p = {0};
	struct report_opts o;
	int rc = lang_opts(inv, &o, err);

	if (rc == 0)
		rc = rollout_past_load(s, inv->arena, r, clock_wall(), true, &p, err);
	if (rc == 0 && option_get(inv, "param"))
		rc = print_param(inv, &p, err);
	else if (rc == 0 && option_get(inv, "node"))
		rc = print_page(inv, s, &p, &o, err);
	else if (rc == 0)
		print_rollout(inv, &p, &o);
	rollout_past_done(&p);
	return rc;
}

/* --- show --- */

static bool is_rollout(const struct run_row *r)
{
	return strcmp(r->mode, "rollout") == 0;
}

static int show_run(
	const struct invocation *inv, struct store *s, const struct run_row *r, struct err *err)
{
	struct node_results results = VEC_INIT;
	struct event_rows events = VEC_INIT;
	int rc = 0;

	if (option_get(inv, "node") || option_get(inv, "each") || option_get(inv, "param")) {
		err_set(err, E_STATE,
			"run '%s' is no rollout: --node, --each and --param are of one", r->id);
		return err_hint(err, "stoika run show %s", r->id);
	}
	rc = store_results(s, inv->arena, r->id, &results, err);
	if (rc == 0)
		rc = load_events(s, inv->arena, r->id, &events, err);
	if (rc == 0 && inv->json)
		print_run_json(r, &results, &events);
	else if (rc == 0)
		print_run_text(r, &results, &events);
	drop_events(&events);
	vec_done(&results);
	return rc;
}

static int run_show(struct invocation *inv)
{
	struct store *s = NULL;
	struct run_row r = {0};
	const char *id = inv->n_args ? inv->args[0] : "last";
	struct err err;
	int rc = session_open(inv, STORE_READ, &s, &err);

	if (rc == 0)
		rc = store_run_find(s, inv->arena, id, &r, &err);
	if (rc == 0)
		rc = is_rollout(&r) ? show_rollout(inv, s, &r, &err) : show_run(inv, s, &r, &err);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* Prints what came since *after and moves it on. */
static int print_new_events(struct store *s, struct arena *a, const struct run_row *r,
	int64_t *after, bool json, struct err *err)
{
	struct event_rows events = VEC_INIT;
	AUTO_BUF text = {0};
	int rc = store_events(s, a, r->id, *after, &events, err);

	buf_init(&text, TEXT_MAX);
	vec_each(&events, struct event_row, e) {
		const size_t had = text.n;

		*after = e->id;
		if (json) {
			json_write(e->record, &text);
			buf_add_char(&text, '\n');
			continue;
		}
		buf_addf(&text, "%s", e->node_name);
		run_view_record(&text, e->record, mode_of(r), LANG_EN);
		if (text.n == had + strlen(e->node_name)) {
			text.n = had; /* a record that people need not see */
			text.p[had] = '\0';
		}
	}
	if (json)
		session_print(&text);
	else
		session_print_lines(&text);
	drop_events(&events);
	return rc;
}

/* Until the run has ended. */
static int watch_run(struct store *s, struct run_row *r, bool json, struct err *err)
{
	const char *id = r->id;
	int64_t after = 0;
	int rc = 0;

	while (rc == 0) {
		struct arena *turn = arena_new();

		rc = store_run_find(s, turn, id, r, err);
		if (rc == 0)
			rc = print_new_events(s, turn, r, &after, json, err);

		const bool running = rc == 0 && strcmp(r->state, "running") == 0;

		r->id = id;
		if (rc == 0 && !running && !json)
			printf("run %s: %s\n", id, r->state);
		arena_free(turn);
		if (!running)
			break;
		clock_sleep(300 * CLOCK_MS);
	}
	return rc;
}

static int run_watch(struct invocation *inv)
{
	struct store *s = NULL;
	struct run_row r = {0};
	const char *id = inv->n_args ? inv->args[0] : "last";
	struct report_opts o;
	struct err err;
	int code = -1;

	if (lang_opts(inv, &o, &err) == 0 && session_open(inv, STORE_READ, &s, &err) == 0 &&
		store_run_find(s, inv->arena, id, &r, &err) == 0) {
		if (is_rollout(&r))
			code = rollout_watch(s, &r, &o, &err);
		else if (watch_run(s, &r, inv->json, &err) == 0)
			code = EXIT_OK;
	}
	store_close(s);
	return code < 0 ? command_fail(inv, &err) : code;
}

static const struct option SHOW_OPTIONS[] = {
	{"node", 0, "NODE", "of a rollout: what became of this node, and what to do about it",
		false},
	{"param", 0, "NAME", "of a rollout: the value of RECIPE.NAME that it was given", false},
	{"each", 0, NULL, "of a rollout: every node by itself, however many", false},
	LANG_OPTION,
	{0},
};

static const struct option WATCH_OPTIONS[] = {LANG_OPTION, {0}};

const struct command COMMAND_RUN_SHOW = {
	.name = "run show",
	.args = "[RUN]",
	.max_args = 1,
	.summary = "one run: results per node and every step that changed something",
	.about =
		"RUN is an id, the beginning of one, or 'last'. Of a rollout: where each node stands,\n"
		"since when, how long it was in each state, what it waits for and which limit holds it.\n"
		"--node NODE is the page for whoever has to see to a node that failed: why, how it\n"
		"stands now, what happened when, what was found on it, and numbered commands to look,\n"
		"to mend, to try again and to give it back.\n",
	.options = SHOW_OPTIONS,
	.run = run_show,
};

const struct command COMMAND_RUN_WATCH = {
	.name = "run watch",
	.args = "[RUN]",
	.max_args = 1,
	.summary = "follow a run's events until it ends",
	.about =
		"Works beside the process that drives the run. Of a rollout: on a terminal a line a\n"
		"wave with its progress, what is waited for and which limit holds; in a pipe a line a\n"
		"move. Ends when the rollout ends, or nobody drives it any more; status 1 when nodes\n"
		"failed.\n",
	.options = WATCH_OPTIONS,
	.run = run_watch,
};
