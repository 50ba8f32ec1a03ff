/* list - racks with their power and space, nodes, runs; one row each. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/drift_view.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_past.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "inventory/report/report.h"
#include "inventory/store/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (256u << 20)

static int list_racks(const struct invocation *inv, struct store *s, const struct report_opts *o,
	struct buf *out, struct err *err)
{
	struct rack_loads loads = VEC_INIT;
	struct model *m = NULL;
	int rc = store_load_model(s, inv->n_args > 1 ? inv->args[1] : NULL, &m, err);

	if (rc == 0) {
		rack_loads_make(m, BASIS_MAX, &loads);
		report_racks(m, &loads, o, out);
	}
	rack_loads_done(&loads);
	model_free(m);
	return rc;
}

/* The rows that a range means, in the range's own order of names. */
static int list_nodes(const struct invocation *inv, struct store *s, const struct report_opts *o,
	struct buf *out, struct err *err)
{
	struct node_rows rows = VEC_INIT, chosen = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	int rc;

	if (inv->n_args < 2)
		rc = store_nodes(s, inv->arena, &chosen, err);
	else
		rc = session_nodes(inv, s, inv->args[1], &rows, &refs, err);
	for (size_t i = 0; rc == 0 && i < refs.n; i++)
		*vec_push(&chosen) = *refs.at[i];
	if (rc == 0)
		rc = store_mark_missed(s, inv->arena, &chosen, err);
	if (rc == 0)
		report_nodes(&chosen, clock_wall() / CLOCK_SEC, o, out);
	vec_done(&refs);
	vec_done(&rows);
	vec_done(&chosen);
	return rc;
}

/* "paused, 3 of 8 done, 1 quarantined" */
static int stand(const struct invocation *inv, struct store *s, const struct run_row *r,
	const struct report_opts *o, struct run_standing *out, struct err *err)
{
	struct rollout_counts counts = VEC_INIT;
	struct rollout_row row;
	unsigned n[STATE_N + 1] = {0}, all = 0;
	AUTO_BUF text = {0};
	int rc = store_rollout_get(s, inv->arena, r->id, &row, err);

	if (rc == 0)
		rc = store_rollout_counts(s, inv->arena, r->id, &counts, err);
	out->counts = json_object();
	vec_each(&counts, const struct rollout_count, c) {
		n[rollout_state_parse(c->state)] += c->n;
		all += c->n;
		json_put_int(out->counts, c->state, c->n);
	}
	buf_init(&text, 4096);
	rollout_add_standing(&text, o->lang, r, &row, n, all);
	out->text = arena_strdup(inv->arena, buf_text(&text));
	vec_done(&counts);
	return rc;
}

static int list_runs(const struct invocation *inv, struct store *s, const struct report_opts *o,
	struct buf *out, struct err *err)
{
	struct run_rows rows = VEC_INIT;
	struct run_standing *standings = NULL;
	const char *limit = option_get(inv, "limit");
	uint64_t n = 20;
	int rc = 0;

	if (limit && (!str_to_u64(str_of(limit), &n) || n == 0 || n > 1000000))
		rc = err_set(err, E_SYNTAX, "--limit is a number of runs, not '%s'", limit);
	if (rc == 0)
		rc = store_runs(s, inv->arena, (unsigned)n, &rows, err);
	standings = xcalloc(rows.n + 1, sizeof *standings);
	for (size_t i = 0; rc == 0 && i < rows.n; i++)
		if (strcmp(rows.at[i].mode, "rollout") == 0)
			rc = stand(inv, s, &rows.at[i], o, &standings[i], err);
	if (rc == 0)
		report_runs(&rows, standings, clock_wall() / CLOCK_SEC, o, out);
	for (size_t i = 0; i < rows.n; i++)
		json_decref(standings[i].counts);
	free(standings);
	vec_done(&rows);
	return rc;
}

static int list_versions(const struct invocation *inv, struct store *s, const struct report_opts *o,
	struct buf *out, struct err *err)
{
	struct store_versions rows = VEC_INIT;
	const int rc = store_version_list(
		s, inv->arena, inv->n_args > 1 ? inv->args[1] : NULL, &rows, err);

	if (rc == 0)
		report_versions(&rows, o, out);
	vec_done(&rows);
	return rc;
}

static int list_drift(const struct invocation *inv, struct store *s, const struct report_opts *o,
	struct buf *out, struct err *err)
{
	return drift_view_list(inv, s, o->lang, out, err);
}

static const struct noun {
	const char *name;
	int (*list)(const struct invocation *, struct store *, const struct report_opts *,
		struct buf *, struct err *);
} NOUNS[] = {{"racks", list_racks}, {"nodes", list_nodes}, {"runs", list_runs},
	{"versions", list_versions}, {"drift", list_drift}};

static int unknown_noun(const char *word, struct err *err)
{
	static const char *const names[] = {"racks", "nodes", "runs", "versions", "drift", NULL};
	const char *near = err_nearest(word, names);

	err_set(err, E_SYNTAX, "cannot list '%s'", word);
	return err_hint(err, "%s%s%s",
		near ? "did you mean '" : "racks, nodes, runs, versions or drift", near ? near : "",
		near ? "'?" : "");
}

static int run_noun(const struct invocation *inv, const char *word)
{
	const struct noun *noun = NULL;
	struct store *s = NULL;
	struct report_opts o;
	AUTO_BUF text = {0};
	struct err err;
	int rc;

	for (size_t i = 0; i < sizeof NOUNS / sizeof *NOUNS; i++)
		if (strcmp(NOUNS[i].name, word) == 0)
			noun = &NOUNS[i];
	buf_init(&text, TEXT_MAX);
	rc = noun ? lang_opts(inv, &o, &err) : unknown_noun(word, &err);
	if (rc == 0)
		rc = session_open(inv, STORE_READ, &s, &err);
	if (noun && rc == 0)
		rc = noun->list(inv, s, &o, &text, &err);
	if (rc == 0 && inv->json)
		session_print(&text);
	else if (rc == 0)
		session_print_lines(&text);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

static int run_list(struct invocation *inv)
{
	return run_noun(inv, inv->args[0]);
}

static int run_run_list(struct invocation *inv)
{
	return run_noun(inv, "runs");
}

static const struct option LIMIT[] = {
	{"limit", 'n', "N", "at most N runs, newest first; 20 if not given", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_LIST = {
	.name = "list",
	.args = "racks|nodes|runs|versions|drift [SITE|NODES]",
	.min_args = 1,
	.max_args = 2,
	.summary = "power and space per rack; nodes; runs; what the site was; drift",
	.about =
		"racks: what each feed carries when the worst other feed is lost, against 80 % of its\n"
		"breaker; nodes: of a range; runs: newest first; versions: each import that changed a\n"
		"site, for 'audit diff DATE DATE' and 'export --at DATE'; drift: what the latest\n"
		"'stoika check' or the daemon found on each node.\n",
	.options = LIMIT,
	.run = run_list,
};

const struct command COMMAND_RUN_LIST = {
	.name = "run list",
	.args = "",
	.summary = "the latest runs",
	.options = LIMIT,
	.run = run_run_list,
};
