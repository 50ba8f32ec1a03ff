#include "controller/command/drift_view.h"

#include "agent/base/clock.h"
#include "controller/command/lang.h"

#include <stdio.h>
#include <string.h>

#define STATE_WIDTH 13
#define SINCE_WIDTH 10

/* "3 min", "2 h", "5 d": whole units, the largest that fits. */
static void add_age(struct buf *out, enum text_lang lang, int64_t then, int64_t now)
{
	const int64_t s = now > then ? now - then : 0;
	char n[24];

	snprintf(n, sizeof n, "%lld",
		(long long)(s < 3600     ? s / 60
			    : s < 172800 ? s / 3600
					 : s / 86400));
	if (s < 60)
		buf_add_text(out, text_get(lang, TEXT_LOOK_NOW));
	else
		text_add(out, lang,
			s < 3600     ? TEXT_LOOK_MINUTES
			: s < 172800 ? TEXT_LOOK_HOURS
				     : TEXT_LOOK_DAYS,
			n);
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

static void add_finding(
	const struct drift_finding *f, int64_t now, enum text_lang lang, struct buf *out)
{
	AUTO_BUF age = {0};

	buf_init(&age, 64);
	buf_addf(out, "%s: ", f->recipe);
	if (f->step)
		buf_add_text(out, f->name);
	else
		text_add(out, lang, TEXT_LOOK_CHECK, f->name);
	buf_addf(out, " %s%s%s", text_state(lang, f->state), *f->why ? ": " : "", f->why);
	add_age(&age, lang, f->since, now);
	if (now - f->since >= 60)
		text_add(out, lang, TEXT_LOOK_FOR, buf_text(&age));
	buf_add_char(out, '\n');
}

static void add_state(
	const struct drift_report *r, int64_t now, enum text_lang lang, struct buf *out)
{
	AUTO_BUF age = {0};

	buf_init(&age, 64);
	add_age(&age, lang, r->since, now);
	lang_add_label(out, text_state(lang, drift_state_name(r->state)), STATE_WIDTH);
	lang_add_label(out, buf_text(&age), SINCE_WIDTH);
}

static void add_report(const struct drift_report *r, size_t width, int64_t now,
	const struct drift_style *style, struct buf *out)
{
	const int indent = (int)width + 2 + STATE_WIDTH + SINCE_WIDTH;
	char more[16];

	buf_addf(out, "%-*s  ", (int)width, r->node_name);
	add_state(r, now, style->lang, out);
	if (r->n == 0)
		buf_addf(out, "%s\n", *r->reason ? r->reason : r->recipes);
	for (unsigned i = 0; i < r->n; i++) {
		buf_addf(out, "%*s", i > 0 ? indent : 0, "");
		add_finding(&r->findings[i], now, style->lang, out);
		if (style->diffs)
			add_diff(r->findings[i].diff, width + 2, out);
	}
	if (r->n > 0 && *r->reason)
		buf_addf(out, "%*s%s\n", indent, "", r->reason);
	snprintf(more, sizeof more, "%u", r->n_found - r->n);
	if (r->n_found > r->n) {
		buf_addf(out, "%*s", indent, "");
		text_add(out, style->lang, TEXT_LOOK_MORE, more);
		buf_add_char(out, '\n');
	}
	if (*r->hint) {
		buf_addf(out, "%*s", indent, "");
		text_add(out, style->lang, TEXT_GO_HINT, r->hint);
		buf_add_char(out, '\n');
	}
}

void drift_view_table(const struct drift_reports *reports, int64_t now,
	const struct drift_style *style, struct buf *out)
{
	const size_t width = name_width(reports);

	lang_add_label(out, text_get(style->lang, TEXT_NODE), (unsigned)width + 2);
	lang_add_label(out, text_get(style->lang, TEXT_STATE), STATE_WIDTH);
	lang_add_label(out, text_get(style->lang, TEXT_LOOK_SINCE), SINCE_WIDTH);
	buf_addf(out, "%s\n", text_get(style->lang, TEXT_LOOK_WHAT));
	vec_each(reports, const struct drift_report, r)
		add_report(r, width, now, style, out);
}

void drift_view_sum(const struct drift_reports *reports, enum text_lang lang, struct buf *out)
{
	unsigned n[DRIFT_N] = {0};
	const char *between = ": ";

	vec_each(reports, const struct drift_report, r)
		n[r->state]++;
	if (lang == LANG_RU)
		text_add_count(out, lang, COUNT_NODES, reports->n);
	else
		buf_addf(out, "%zu node%s", reports->n, reports->n == 1 ? "" : "s");
	for (unsigned i = 0; i < DRIFT_N; i++) {
		const char *word = text_state(lang, drift_state_name((enum drift_state)i));

		if (n[i] == 0)
			continue;
		if (lang == LANG_RU)
			buf_addf(out, "%s%s\u00a0%u", between, word, n[i]);
		else
			buf_addf(out, "%s%u %s", between, n[i], word);
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

static void print(const struct invocation *inv, const struct drift_reports *reports,
	enum text_lang lang, struct buf *out)
{
	const struct drift_style style = {.lang = lang};
	AUTO_JSON list = json_array();

	if (inv->json) {
		vec_each(reports, const struct drift_report, r)
			json_array_append_new(list, drift_view_json(r));
		json_write_pretty(list, out);
		buf_add_char(out, '\n');
	} else if (reports->n == 0) {
		buf_addf(out, "%s\n", text_get(lang, TEXT_LOOK_NEVER));
	} else {
		drift_view_table(reports, clock_wall() / CLOCK_SEC, &style, out);
		drift_view_sum(reports, lang, out);
	}
}

int drift_view_list(const struct invocation *inv, struct store *s, enum text_lang lang,
	struct buf *out, struct err *err)
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
		print(inv, &reports, lang, out);
	vec_done(&reports);
	vec_done(&refs);
	vec_done(&rows);
	return rc;
}
