#include "controller/command/drift_view.h"

#include "agent/base/clock.h"

#include <stdio.h>
#include <string.h>

#define STATE_WIDTH 13
#define SINCE_WIDTH 10

/* "3 min", "2 h", "5 d": whole units, the largest that fits. */
static const char *age_of(int64_t then, int64_t now, char out[static 24])
{
	const int64_t s = now > then ? now - then : 0;

	if (s < 60)
		snprintf(out, 24, "now");
	else if (s < 3600)
		snprintf(out, 24, "%lld min", (long long)(s / 60));
	else if (s < 172800)
		snprintf(out, 24, "%lld h", (long long)(s / 3600));
	else
		snprintf(out, 24, "%lld d", (long long)(s / 86400));
	return out;
}

static size_t name_width(const struct drift_reports *reports)
{
	size_t width = strlen("NODE");

	vec_each(reports, const struct drift_report, r)
		if (strlen(r->node_name) > width)
			width = strlen(r->node_name);
	return width;
}

static void add_diff(const char *diff, size_t indent, struct buf *out)
{
	struct str rest = str_of(diff), line;

	while (str_line(&rest, &line))
		buf_addf(out, "%*s" STR_FMT "\n", (int)indent, "", STR_ARG(line));
}

static void add_finding(const struct drift_finding *f, int64_t now, struct buf *out)
{
	char age[24];

	buf_addf(out, "%s: %s%s %s%s%s", f->recipe, f->step ? "" : "check ", f->name, f->state,
		*f->why ? ": " : "", f->why);
	if (now - f->since >= 60)
		buf_addf(out, ", for %s", age_of(f->since, now, age));
	buf_add_char(out, '\n');
}

static void add_report(
	const struct drift_report *r, size_t width, int64_t now, bool with_diffs, struct buf *out)
{
	const int indent = (int)width + 2 + STATE_WIDTH + SINCE_WIDTH;
	char age[24];

	buf_addf(out, "%-*s  %-*s%-*s", (int)width, r->node_name, STATE_WIDTH,
		drift_state_name(r->state), SINCE_WIDTH, age_of(r->since, now, age));
	if (r->n == 0)
		buf_addf(out, "%s\n", *r->reason ? r->reason : r->recipes);
	for (unsigned i = 0; i < r->n; i++) {
		buf_addf(out, "%*s", i > 0 ? indent : 0, "");
		add_finding(&r->findings[i], now, out);
		if (with_diffs)
			add_diff(r->findings[i].diff, width + 2, out);
	}
	if (r->n > 0 && *r->reason)
		buf_addf(out, "%*s%s\n", indent, "", r->reason);
	if (r->n_found > r->n)
		buf_addf(out, "%*sand %u more\n", indent, "", r->n_found - r->n);
	if (*r->hint)
		buf_addf(out, "%*shint: %s\n", indent, "", r->hint);
}

void drift_view_table(
	const struct drift_reports *reports, int64_t now, bool with_diffs, struct buf *out)
{
	const size_t width = name_width(reports);

	buf_addf(out, "%-*s  %-*s%-*sWHAT\n", (int)width, "NODE", STATE_WIDTH, "STATE", SINCE_WIDTH,
		"SINCE");
	vec_each(reports, const struct drift_report, r)
		add_report(r, width, now, with_diffs, out);
}

void drift_view_sum(const struct drift_reports *reports, struct buf *out)
{
	unsigned n[DRIFT_N] = {0};
	const char *between = ": ";

	vec_each(reports, const struct drift_report, r)
		n[r->state]++;
	buf_addf(out, "%zu node%s", reports->n, reports->n == 1 ? "" : "s");
	for (unsigned i = 0; i < DRIFT_N; i++)
		if (n[i] > 0) {
			buf_addf(out, "%s%u %s", between, n[i],
				drift_state_name((enum drift_state)i));
			between = ", ";
		}
	buf_add_char(out, '\n');
}

/* A moment as all our JSON has it. */
static void put_time(json_t *obj, const char *key, int64_t wall)
{
	char text[24];

	clock_format(wall * CLOCK_SEC, text);
	json_put_str(obj, key, text);
}

static json_t *finding_json(const struct drift_finding *f)
{
	json_t *one = json_object();

	json_put_str(one, "recipe", f->recipe);
	json_put_int(one, "step", f->step);
	json_put_str(one, "name", f->name);
	json_put_str(one, "state", f->state);
	json_put_str(one, "why", f->why);
	json_put_str(one, "diff", f->diff);
	put_time(one, "since", f->since);
	return one;
}

json_t *drift_view_json(const struct drift_report *r)
{
	json_t *obj = json_object(), *findings = json_array();

	json_put_str(obj, "node", r->node_name);
	json_put_str(obj, "state", drift_state_name(r->state));
	put_time(obj, "at", r->at);
	put_time(obj, "since", r->since);
	json_put_str(obj, "recipes", r->recipes);
	json_put_str(obj, "run", r->run);
	json_put_str(obj, "reason", r->reason);
	json_put_str(obj, "hint", r->hint);
	json_put_int(obj, "found", r->n_found);
	for (unsigned i = 0; i < r->n; i++)
		json_array_append_new(findings, finding_json(&r->findings[i]));
	json_object_set_new(obj, "findings", findings);
	return obj;
}

static int compare_names(const void *a, const void *b)
{
	const struct drift_report *x = a, *y = b;

	return model_compare_names(x->node_name, y->node_name);
}

void drift_view_sort(struct drift_reports *reports)
{
	vec_sort(reports, compare_names);
}

/* --- the list --- */

static bool is_among(const struct node_refs *nodes, int64_t id)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->at[i]->id == id)
			return true;
	return false;
}

/* Those of the nodes that a range means. */
static void keep_nodes(struct drift_reports *reports, const struct node_refs *nodes)
{
	size_t n = 0;

	for (size_t i = 0; i < reports->n; i++)
		if (is_among(nodes, reports->at[i].node))
			reports->at[n++] = reports->at[i];
	reports->n = n;
}

static void print(
	const struct invocation *inv, const struct drift_reports *reports, struct buf *out)
{
	AUTO_JSON list = json_array();

	if (inv->json) {
		vec_each(reports, const struct drift_report, r)
			json_array_append_new(list, drift_view_json(r));
		json_write_pretty(list, out);
		buf_add_char(out, '\n');
	} else if (reports->n == 0) {
		buf_add_text(out, "no node was looked at yet: stoika check NODES\n");
	} else {
		drift_view_table(reports, clock_wall() / CLOCK_SEC, false, out);
		drift_view_sum(reports, out);
	}
}

int drift_view_list(const struct invocation *inv, struct store *s, struct buf *out, struct err *err)
{
	struct drift_reports reports = VEC_INIT;
	struct node_rows rows = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	int rc = inv->n_args > 1 ? session_nodes(inv, s, inv->args[1], &rows, &refs, err) : 0;

	if (rc == 0)
		rc = store_drift(s, inv->arena, 0, &reports, err);
	if (rc == 0 && inv->n_args > 1)
		keep_nodes(&reports, &refs);
	drift_view_sort(&reports);
	if (rc == 0)
		print(inv, &reports, out);
	vec_done(&reports);
	vec_done(&refs);
	vec_done(&rows);
	return rc;
}
