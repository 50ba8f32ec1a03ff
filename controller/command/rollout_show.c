/*
 * rollout_show - a rollout as a whole: head, each node or group of nodes, times of the states.
 *
 * Nodes that wait for the same are one line, those that are done too when there are many; whoever
 * is at work or failed is always shown alone.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_past.h"
#include "controller/fleet/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW        64u /* nodes that are shown one by one */
#define LABEL      11u
#define FOLDED_MAX ((size_t)1 << 20)
#define NAMES_CUT  400u /* bytes of a group's names: --json has them all */
#define NAMES_LINE 76u

struct show {
	const struct rollout_past *p;
	enum text_lang lang;
	const struct report_opts *opts;
	bool each;
	struct buf *out;
};

/* --- head --- */

/* Text behind a label, broken before the 80th column. */
static void add_labelled(const struct show *w, enum text_key label, const char *text)
{
	AUTO_BUF lines = {0};

	buf_init(&lines, FOLDED_MAX);
	lang_add_wrapped(&lines, LABEL, text);
	lang_add_label(w->out, text_get(w->lang, label), LABEL);
	buf_add_str(w->out, str_from(buf_str(&lines), LABEL));
}

static void begin_line(const struct show *w, enum text_key label)
{
	lang_add_label(w->out, text_get(w->lang, label), LABEL);
}

static void add_stage_line(const struct show *w)
{
	const struct rollout_past *p = w->p;
	const unsigned stage = rollout_past_stage(p);
	AUTO_BUF at = {0}, last = {0};

	buf_init(&at, 64);
	buf_init(&last, 16);
	begin_line(w, TEXT_RO_STAGE);
	rollout_add_stage(w->out, w->lang, stage);
	buf_addf(&last, "%u", p->last_stage);
	if (stage > 0)
		buf_addf(w->out, " / %s", buf_text(&last));
	if (p->row.opened && !rollout_past_is_over(p)) {
		rollout_add_moment(&at, p->row.opened);
		text_add(w->out, w->lang, TEXT_RO_OPEN_SINCE, buf_text(&at));
	}
	buf_add_char(w->out, '\n');
}

static void add_driver_lines(const struct show *w)
{
	const struct rollout_past *p = w->p;

	if (*p->row.asked && !rollout_past_is_over(p)) {
		begin_line(w, TEXT_RO_ASKED);
		TEXT_FILL(w->out, w->lang, TEXT_RO_ASKED_BY, p->row.asked, p->asked_by);
		buf_add_char(w->out, '\n');
	}
	if (!p->driven && !rollout_past_is_over(p)) {
		buf_addf(w->out, "%*s", (int)LABEL, "");
		text_add(w->out, w->lang, TEXT_RO_NOBODY, p->run.id);
		buf_add_char(w->out, '\n');
	}
}

static void add_times_line(const struct show *w)
{
	const struct run_row *r = &w->p->run;
	AUTO_BUF span = {0};

	buf_init(&span, 64);
	rollout_add_span(&span, w->lang, (r->ended ? r->ended : w->p->now) - r->started);
	begin_line(w, TEXT_RO_STARTED);
	rollout_add_moment(w->out, r->started);
	buf_add_text(w->out, " UTC\n");
	begin_line(w, TEXT_RO_TOOK);
	if (r->ended)
		buf_add_str(w->out, buf_str(&span));
	else
		text_add(w->out, w->lang, TEXT_RO_SO_FAR, buf_text(&span));
	buf_add_char(w->out, '\n');
}

static void add_head(const struct show *w)
{
	const struct rollout_past *p = w->p;
	AUTO_BUF line = {0};

	buf_init(&line, FOLDED_MAX);
	begin_line(w, TEXT_RO_ROLLOUT);
	buf_addf(w->out, "%s\n", p->run.id);
	rollout_add_state(&line, w->lang, p);
	add_labelled(w, TEXT_RO_STATE, buf_text(&line));
	buf_clear(&line);
	add_driver_lines(w);
	begin_line(w, TEXT_RO_POLICY);
	buf_addf(w->out, "%s\n", p->policy_name);
	begin_line(w, TEXT_RO_RECIPES);
	buf_addf(w->out, "%s\n", p->recipes);
	buf_addf(&line, "%s (%zu): ", p->run.nodes, p->nodes.n);
	rollout_add_counts(&line, w->lang, p->counts);
	add_labelled(w, TEXT_RO_NODES, buf_text(&line));
	add_stage_line(w);
	begin_line(w, TEXT_RO_BY);
	buf_addf(w->out, "%s\n", p->run.by);
	add_times_line(w);
}

/* --- nodes --- */

static bool goes_in_groups(const struct show *w, const struct past_node *n)
{
	if (w->each)
		return false;
	return n->state == STATE_ELIGIBLE || n->state == STATE_ABORTED ||
	       (n->state == STATE_DONE && w->p->nodes.n > FEW);
}

static bool is_alike(const struct past_node *a, const struct past_node *b)
{
	return a->state == b->state && a->row->stage == b->row->stage &&
	       (a->state == STATE_DONE || strcmp(a->row->reason, b->row->reason) == 0);
}

/* "12 min 3 s" that no line ends within. */
static void add_unbroken_span(struct buf *out, enum text_lang lang, int64_t ns)
{
	AUTO_BUF span = {0};

	buf_init(&span, 64);
	rollout_add_span(&span, lang, ns);
	for (size_t i = 0; i < span.n; i++)
		if (span.p[i] == ' ')
			buf_add_text(out, "\u00a0");
		else
			buf_add_char(out, span.p[i]);
}

static void add_stays(const struct show *w, const struct past_node *n, unsigned indent)
{
	const char *sep = "";
	AUTO_BUF line = {0};

	buf_init(&line, 4096);
	for (unsigned s = 0; s < STATE_N; s++) {
		if (n->ns[s] == 0 || s == STATE_ELIGIBLE)
			continue;
		buf_addf(&line, "%s%s\u00a0", sep, rollout_state_word(w->lang, (enum node_state)s));
		add_unbroken_span(&line, w->lang, n->ns[s]);
		sep = ", ";
	}
	if (line.n > 0)
		lang_add_wrapped(w->out, indent, buf_text(&line));
}

static void add_reason(const struct show *w, const struct past_node *n, unsigned indent)
{
	AUTO_BUF line = {0};

	buf_init(&line, 8192);
	if (*n->row->reason && n->state != STATE_DONE) {
		if (node_is_terminal(n->state) || rollout_past_is_over(w->p))
			buf_add_text(&line, n->row->reason);
		else
			text_add(&line, w->lang, TEXT_RO_WAITS, n->row->reason);
		lang_add_wrapped(w->out, indent, buf_text(&line));
	}
	buf_clear(&line);
	if (!rollout_past_is_bad(n->state))
		return;
	if (*n->row->hint) {
		text_add(&line, w->lang, TEXT_RO_HINT, n->row->hint);
		lang_add_wrapped(w->out, indent, buf_text(&line));
	}
	buf_clear(&line);
	buf_addf(&line, "stoika run show %s --node %s", w->p->run.id, n->row->name);
	buf_addf(w->out, "%*s", (int)indent, "");
	text_add(w->out, w->lang, TEXT_RO_PAGE_AT, buf_text(&line));
	buf_add_char(w->out, '\n');
}

static void add_node_head(
	const struct show *w, const struct past_node *n, const char *who, unsigned width)
{
	AUTO_BUF at = {0};

	buf_init(&at, 64);
	lang_add_label(w->out, who, width);
	lang_add_label(w->out, rollout_state_word(w->lang, n->state), 14);
	rollout_add_stage(&at, w->lang, n->row->stage);
	lang_add_label(w->out, buf_text(&at), 10);
	buf_clear(&at);
	rollout_add_moment(&at, n->row->since);
	text_add(w->out, w->lang, TEXT_RO_SINCE, buf_text(&at));
	buf_add_char(w->out, '\n');
}

/* A folded range on lines of its own, broken behind commas. */
static void add_names(struct buf *out, struct str names)
{
	struct str rest = str_first(names, NAMES_CUT), part;
	size_t column = 0;

	while (str_next(&rest, ',', &part)) {
		if (column > 0 && column + part.n > NAMES_LINE) {
			buf_add_text(out, "\n    ");
			column = 4;
		}
		buf_addf(out, STR_FMT "%s", STR_ARG(part), rest.n > 0 ? "," : "");
		column += part.n + 1;
	}
	buf_add_text(out, names.n > NAMES_CUT ? "...\n" : "\n");
}

static void add_group(const struct show *w, size_t first, bool *shown, unsigned width)
{
	const struct past_node *n = &w->p->nodes.at[first];
	struct vec(struct node_row) names = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	AUTO_BUF who = {0};

	buf_init(&who, FOLDED_MAX);
	for (size_t i = first; i < w->p->nodes.n; i++) {
		const struct past_node *other = &w->p->nodes.at[i];

		if (shown[i] || !goes_in_groups(w, other) || !is_alike(n, other))
			continue;
		shown[i] = true;
		vec_push(&names)->name = other->row->name;
	}
	vec_each(&names, const struct node_row, it)
		*vec_push(&refs) = it;
	range_fold(&refs, &who);
	if (refs.n > 1)
		buf_addf(&who, " (%zu)", refs.n);
	if (who.n >= width) { /* the number, if any, is a word of the row below */
		const size_t end = str_find(buf_str(&who), ' ');

		add_names(w->out, str_first(buf_str(&who), end));
		buf_drop(&who, end == STR_NONE ? who.n : end + 1);
	}
	add_node_head(w, n, buf_text(&who), width);
	add_reason(w, n, width);
	vec_done(&refs);
	vec_done(&names);
}

static unsigned width_of(const struct rollout_past *p)
{
	size_t width = 12;

	vec_each(&p->nodes, const struct past_node, n)
		width = strlen(n->row->name) > width ? strlen(n->row->name) : width;
	return (unsigned)(width > 24 ? 24 : width) + 2;
}

static void add_nodes(const struct show *w)
{
	const struct rollout_past *p = w->p;
	const unsigned width = width_of(p);
	bool *shown = xcalloc(p->nodes.n + 1, sizeof *shown);

	for (size_t i = 0; i < p->nodes.n; i++) {
		const struct past_node *n = &p->nodes.at[i];

		if (shown[i])
			continue;
		if (goes_in_groups(w, n)) {
			add_group(w, i, shown, width);
			continue;
		}
		add_node_head(w, n, n->row->name, width);
		add_reason(w, n, width);
		add_stays(w, n, width);
	}
	free(shown);
}

/* --- times of the states --- */

enum {
	COL_STATE,
	COL_NODES,
	COL_MEDIAN,
	COL_LONGEST,
	COL_WHO
};
static const struct column TIMES[] = {
	[COL_STATE] = {"state", TEXT_STATE, 0},
	[COL_NODES] = {"nodes", TEXT_NODES, COL_RIGHT},
	[COL_MEDIAN] = {"median", TEXT_RO_MEDIAN, COL_RIGHT},
	[COL_LONGEST] = {"longest", TEXT_RO_LONGEST, COL_RIGHT},
	[COL_WHO] = {"node", TEXT_RO_WHO, COL_TRUNC},
};

static int compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void put_span(const struct show *w, struct table *t, unsigned col, int64_t ns)
{
	AUTO_BUF text = {0};

	buf_init(&text, 64);
	rollout_add_span(&text, w->lang, ns);
	table_text(t, col, buf_text(&text));
}

static void add_state_times(const struct show *w, struct table *t, enum node_state s, int64_t *ns)
{
	const char *who = "";
	int64_t longest = 0;
	size_t n = 0;

	vec_each(&w->p->nodes, const struct past_node, it) {
		if (it->ns[s] == 0)
			continue;
		ns[n++] = it->ns[s];
		if (it->ns[s] > longest) {
			longest = it->ns[s];
			who = it->row->name;
		}
	}
	if (n == 0)
		return;
	qsort(ns, n, sizeof *ns, compare_ns);
	table_row(t);
	table_text(t, COL_STATE, rollout_state_word(w->lang, s));
	table_int(t, COL_NODES, (int64_t)n);
	put_span(w, t, COL_MEDIAN, ns[n / 2]);
	put_span(w, t, COL_LONGEST, longest);
	table_text(t, COL_WHO, who);
}

static void add_times(const struct show *w)
{
	struct table *t = table_new(TIMES, sizeof TIMES / sizeof *TIMES, w->opts);
	int64_t *ns = xcalloc(w->p->nodes.n + 1, sizeof *ns);

	for (unsigned s = STATE_PREFLIGHT; s < STATE_N; s++)
		if (!node_is_terminal((enum node_state)s))
			add_state_times(w, t, (enum node_state)s, ns);
	table_print(t, w->out);
	table_free(t);
	free(ns);
}

void rollout_show_text(
	const struct rollout_past *p, const struct report_opts *o, bool each, struct buf *out)
{
	const struct show w = {.p = p, .lang = o->lang, .opts = o, .each = each, .out = out};
	AUTO_BUF command = {0};

	buf_init(&command, 256);
	add_head(&w);
	buf_add_char(out, '\n');
	add_nodes(&w);
	buf_add_char(out, '\n');
	add_times(&w);
	if (!each && p->nodes.n > FEW) {
		buf_addf(&command, "stoika run show %s --each", p->run.id);
		buf_add_char(out, '\n');
		text_add(out, o->lang, TEXT_RO_EACH, buf_text(&command));
		buf_add_char(out, '\n');
	}
}

/* --- JSON --- */

static void put_moment(json_t *obj, const char *key, int64_t wall)
{
	char at[24];

	clock_format(wall, at);
	json_object_set_new(obj, key, wall ? json_string(at) : json_null());
}

static json_t *node_json(const struct past_node *n)
{
	json_t *o = json_object(), *times = json_object();

	json_put_str(o, "node", n->row->name);
	json_put_str(o, "state", n->row->state);
	put_moment(o, "since", n->row->since);
	json_put_int(o, "stage", n->row->stage);
	json_put_int(o, "tries", n->row->tries);
	json_put_str(o, "reason", n->row->reason);
	json_put_str(o, "hint", n->row->hint);
	json_put_str(o, "signature", n->row->signature);
	for (unsigned s = 0; s < STATE_N; s++)
		if (n->ns[s] > 0)
			json_put_int(times, NODE_STATES[s], n->ns[s] / CLOCK_MS);
	json_object_set_new(o, "times_ms", times);
	return o;
}

static json_t *counts_json(const struct rollout_past *p)
{
	json_t *o = json_object();

	for (unsigned s = 0; s < STATE_N; s++)
		if (p->counts[s] > 0)
			json_put_int(o, NODE_STATES[s], p->counts[s]);
	return o;
}

json_t *rollout_show_json(const struct rollout_past *p)
{
	json_t *o = json_object(), *nodes = json_array();

	json_put_str(o, "run", p->run.id);
	json_put_str(o, "mode", p->run.mode);
	json_put_str(o, "state", p->run.state);
	json_put_bool(o, "paused", p->row.paused && !rollout_past_is_over(p));
	json_put_str(o, "reason", p->row.reason);
	json_put_str(o, "asked", p->row.asked);
	json_put_bool(o, "driven", p->driven);
	json_put_str(o, "policy", p->policy_name);
	json_put_str(o, "recipes", p->recipes);
	json_object_set(o, "params", p->params ? p->params : json_null());
	json_put_str(o, "nodes", p->run.nodes);
	json_put_str(o, "by", p->run.by);
	put_moment(o, "started", p->run.started);
	put_moment(o, "ended", p->run.ended);
	json_put_int(o, "n_nodes", (int64_t)p->nodes.n);
	json_put_int(o, "stage", rollout_past_stage(p));
	json_put_int(o, "stages", p->last_stage);
	put_moment(o, "opened", p->row.opened);
	json_object_set_new(o, "counts", counts_json(p));
	vec_each(&p->nodes, const struct past_node, n)
		json_array_append_new(nodes, node_json(n));
	json_object_set_new(o, "results", nodes);
	return o;
}
