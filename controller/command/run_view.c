#include "controller/command/run_view.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/lang.h"
#include "controller/command/session.h"
#include "inventory/report/number.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VIEW_TEXT_MAX (64u << 20)
#define STATE_WIDTH   12 /* with the blank behind it */
#define STATE_WIDE    14 /* where words are longer */
#define VERB_WIDTH    10

struct node_view {
	const struct node_row *node;
	struct node_result result;
	json_t *events; /* array of records */
	bool done;
};

struct run_view {
	enum order_mode mode;
	enum text_lang lang;
	const char *verb, *option;
	bool json, terminal, status_shown;
	unsigned n_nodes, n_done, n_bad, width;
	int64_t started, drawn;
	struct arena *arena;
	struct vec(struct node_view) nodes;
	struct vec(size_t) slots; /* by node id: index into nodes plus one, 0 for none */
};

/* In a plan unknown steps are an answer; a node that gave none has no hash. */
static bool is_bad(const struct run_view *v, const struct node_result *r)
{
	if (r->state == RESULT_UNKNOWN)
		return v->mode != ORDER_PLAN || !r->plan_hash || !*r->plan_hash;
	return r->state == RESULT_FAILED || r->state == RESULT_DENIED ||
	       r->state == RESULT_TIMEOUT || r->state == RESULT_INTERRUPTED;
}

struct run_view *run_view_new(enum order_mode mode, const struct node_refs *nodes, bool json)
{
	struct run_view *v = xcalloc(1, sizeof *v);

	v->mode = mode;
	v->verb = "apply";
	v->option = "--plan";
	v->json = json;
	v->terminal = !json && isatty(STDERR_FILENO);
	v->n_nodes = (unsigned)nodes->n;
	for (size_t i = 0; i < nodes->n; i++)
		if (strlen(nodes->at[i]->name) > v->width)
			v->width = (unsigned)strlen(nodes->at[i]->name);
	v->started = clock_mono();
	v->arena = arena_new();
	return v;
}

void run_view_verb(struct run_view *v, const char *verb, const char *option)
{
	v->verb = verb;
	v->option = option;
}

void run_view_lang(struct run_view *v, enum text_lang lang)
{
	v->lang = lang;
}

void run_view_free(struct run_view *v)
{
	if (!v)
		return;
	vec_each(&v->nodes, struct node_view, it)
		json_decref(it->events);
	vec_done(&v->nodes);
	vec_done(&v->slots);
	arena_free(v->arena);
	free(v);
}

static struct node_view *view_of(struct run_view *v, const struct node_row *node)
{
	vec_each(&v->nodes, struct node_view, it)
		if (it->node->id == node->id)
			return it;

	struct node_view *fresh = vec_push(&v->nodes);

	fresh->node = node;
	fresh->events = json_array();
	return fresh;
}

static void clear_status(struct run_view *v)
{
	if (v->status_shown)
		fputs("\r\033[K", stderr);
	v->status_shown = false;
}

static void add_span(struct buf *out, enum text_lang lang, int64_t span)
{
	char text[24];

	clock_format_span(span, text);
	if (lang == LANG_RU)
		number_add_arithmetic(out, lang, text);
	else
		buf_add_text(out, text);
}

/* "3 nodes", "3 узла"; on: what follows "on". */
static void add_nodes(struct buf *out, enum text_lang lang, size_t n, bool on)
{
	if (lang == LANG_RU)
		text_add_count(out, lang, on ? COUNT_ON_NODES : COUNT_NODES, n);
	else
		buf_addf(out, "%zu node%s", n, n == 1 ? "" : "s");
}

/* "3 changed", "изменено 3" */
static void add_counted(struct buf *out, enum text_lang lang, unsigned n, const char *word)
{
	if (lang == LANG_RU)
		buf_addf(out, "%s\u00a0%u", text_state(lang, word), n);
	else
		buf_addf(out, "%u %s", n, word);
}

static void draw_status(struct run_view *v)
{
	char done[16], all[16], bad[16];
	AUTO_BUF text = {0}, span = {0};

	if (!v->terminal || clock_mono() - v->drawn < 100 * CLOCK_MS)
		return;
	v->drawn = clock_mono();
	buf_init(&text, 512);
	buf_init(&span, 64);
	add_span(&span, v->lang, v->drawn - v->started);
	snprintf(done, sizeof done, "%u", v->n_done);
	snprintf(all, sizeof all, "%u", v->n_nodes);
	snprintf(bad, sizeof bad, "%u", v->n_bad);
	TEXT_FILL(&text, v->lang, TEXT_GO_DONE_OF, done, all, bad, buf_text(&span));
	fprintf(stderr, "\r\033[K%s", buf_text(&text));
	fflush(stderr);
	v->status_shown = true;
}

void run_view_event(void *ctx, const struct node_row *node, const json_t *record)
{
	struct run_view *v = ctx;
	const char *ev = json_get_str(record, "ev", "");

	draw_status(v);
	if (v->mode == ORDER_APPLY && !v->json)
		return; /* they are in the store, and would be kept here for nothing */
	if (strcmp(ev, "intent") == 0 || strcmp(ev, "notify") == 0 || strcmp(ev, "start") == 0 ||
		strcmp(ev, "end") == 0)
		return;
	json_array_append_new(view_of(v, node)->events, json_deep_copy(record));
}

void run_view_counts(
	struct buf *out, const struct result_counts *c, enum order_mode mode, enum text_lang lang)
{
	const char *sep = "";

	for (int r = 0; r < RESULT_N; r++) {
		const char *word = result_name((enum step_result)r);

		if (c->n[r] == 0)
			continue;
		if (r == RESULT_CHANGED && mode == ORDER_PLAN)
			word = text_get(lang, TEXT_GO_WOULD_CHANGE);
		buf_add_text(out, sep);
		add_counted(out, lang, c->n[r], word);
		sep = ", ";
	}
	if (!*sep && mode != ORDER_FACTS)
		buf_add_text(out, text_get(lang, TEXT_GO_NO_STEPS));
}

const char *run_view_state(enum step_result r, enum order_mode mode)
{
	if (mode == ORDER_PLAN && r == RESULT_CHANGED)
		return "differs";
	if (mode == ORDER_PLAN && r == RESULT_UNKNOWN)
		return "unknown in part";
	return result_name(r);
}

static void below(const struct run_view *v, enum text_key key, const char *text, struct buf *out)
{
	AUTO_BUF safe = {0};

	buf_init(&safe, VIEW_TEXT_MAX);
	buf_add_printable(&safe, str_of(text));
	buf_addf(out, "%*s  ", (int)v->width, "");
	if (key == TEXT_N)
		buf_add_str(out, buf_str(&safe));
	else
		text_add(out, v->lang, key, buf_text(&safe));
	buf_add_char(out, '\n');
}

/* "gpu01  changed  3 changed, 9 ok  1.2 s", and cause and hint below it. */
static void node_lines(const struct run_view *v, const struct node_view *n, struct buf *out)
{
	const char *state = text_state(v->lang, run_view_state(n->result.state, v->mode));

	buf_addf(out, "%-*s  ", (int)v->width, n->node->name);
	lang_add_label(out, state, v->lang == LANG_RU ? STATE_WIDE : STATE_WIDTH);
	run_view_counts(out, &n->result.counts, v->mode, v->lang);
	buf_add_text(out, "  (");
	add_span(out, v->lang, n->result.took);
	buf_add_text(out, ")\n");
	if (is_bad(v, &n->result) && *n->result.reason)
		below(v, TEXT_N, n->result.reason, out);
	if (is_bad(v, &n->result) && *n->result.hint)
		below(v, TEXT_GO_HINT, n->result.hint, out);
}

/* A reader that is gone does not stop a run. */
static void print_buf(const struct buf *b)
{
	fwrite(buf_text(b), 1, b->n, stdout);
	fflush(stdout);
}

static void print_lines(const struct buf *b)
{
	AUTO_BUF safe = {0};

	buf_init(&safe, VIEW_TEXT_MAX);
	session_add_lines(&safe, buf_str(b));
	print_buf(&safe);
}

void run_view_done(void *ctx, const struct node_row *node, const struct node_result *result)
{
	struct run_view *v = ctx;
	struct node_view *n = view_of(v, node);
	AUTO_BUF text = {0};

	n->result = *result;
	n->result.plan_hash = arena_strdup(v->arena, result->plan_hash ? result->plan_hash : "");
	n->result.reason = arena_strdup(v->arena, result->reason ? result->reason : "");
	n->result.hint = arena_strdup(v->arena, result->hint ? result->hint : "");
	n->done = true;
	v->n_done++;
	v->n_bad += is_bad(v, result) ? 1 : 0;
	if (v->json)
		return;
	if (v->mode == ORDER_PLAN && !is_bad(v, result)) {
		draw_status(v);
		return; /* shown by answer at the end */
	}
	buf_init(&text, VIEW_TEXT_MAX);
	node_lines(v, n, &text);
	clear_status(v);
	print_lines(&text);
	draw_status(v);
}

/* The lines of a diff, indented so that they stand under their step. */
static void add_indented(struct buf *out, const char *text)
{
	struct str rest = str_of(text), line;

	while (str_line(&rest, &line)) {
		buf_add_text(out, "        ");
		session_add_lines(out, line);
		buf_add_char(out, '\n');
	}
}

static void step_line(struct buf *out, const json_t *record, const char *verb)
{
	const char *kind = json_get_str(record, "kind", "");
	const char *name = json_get_str(record, "name", json_get_str(record, "handler", ""));
	const char *why = json_get_str(record, "why", "");

	buf_add_text(out, "  ");
	lang_add_label(out, verb, VERB_WIDTH);
	buf_add_text(out, json_get_str(record, "recipe", ""));
	if (json_get(record, "step"))
		buf_addf(out, " %lld", (long long)json_get_int(record, "step", 0));
	if (*kind && strncmp(name, kind, strlen(kind)) != 0)
		buf_addf(out, " %s", kind);
	if (*name)
		buf_addf(out, " %s", name);
	if (*why) {
		buf_add_text(out, ": ");
		buf_add_printable(out, str_of(why));
	}
	buf_add_char(out, '\n');
}

void run_view_record(
	struct buf *out, const json_t *record, enum order_mode mode, enum text_lang lang)
{
	const char *ev = json_get_str(record, "ev", "");
	const enum step_result r = result_parse(json_get_str(record, "state", "unknown"));
	const char *verb = text_state(lang, result_name(r));

	if (strcmp(ev, "since") == 0) {
		step_line(out, record, text_get(lang, TEXT_GO_SINCE));
		return;
	}
	if (strcmp(ev, "rebooting") == 0) {
		step_line(out, record, text_get(lang, TEXT_GO_RESTARTS));
		return;
	}
	if (strcmp(ev, "defective") == 0) {
		step_line(out, record, text_get(lang, TEXT_GO_REPEATS));
		return;
	}
	if (strcmp(ev, "step") != 0 && strcmp(ev, "handler") != 0 && strcmp(ev, "check") != 0 &&
		strcmp(ev, "recipe") != 0 && strcmp(ev, "undo") != 0)
		return;
	if (mode == ORDER_PLAN && r == RESULT_CHANGED)
		verb = text_get(lang, TEXT_GO_WOULD);
	step_line(out, record, verb);
	add_indented(out, json_get_str(record, "diff", ""));
}

static const char *answer_of(const struct node_view *n)
{
	return n->result.plan_hash;
}

static void print_group(const struct run_view *v, const struct node_view *first, size_t from)
{
	struct node_refs refs = VEC_INIT;
	AUTO_BUF text = {0};
	size_t i;
	json_t *record;

	for (size_t k = from; k < v->nodes.n; k++) {
		const struct node_view *n = &v->nodes.at[k];

		if (!is_bad(v, &n->result) && strcmp(answer_of(n), answer_of(first)) == 0)
			*vec_push(&refs) = n->node;
	}
	buf_init(&text, VIEW_TEXT_MAX);
	range_fold(&refs, &text);
	buf_add_text(&text, " (");
	add_nodes(&text, v->lang, refs.n, false);
	buf_add_text(&text, "): ");
	run_view_counts(&text, &first->result.counts, v->mode, v->lang);
	buf_add_char(&text, '\n');
	json_array_foreach(first->events, i, record)
		run_view_record(&text, record, v->mode, v->lang);
	print_lines(&text);
	vec_done(&refs);
}

static bool answered_before(const struct run_view *v, size_t at)
{
	for (size_t k = 0; k < at; k++)
		if (!is_bad(v, &v->nodes.at[k].result) &&
			strcmp(answer_of(&v->nodes.at[k]), answer_of(&v->nodes.at[at])) == 0)
			return true;
	return false;
}

static void print_groups(const struct run_view *v)
{
	for (size_t i = 0; i < v->nodes.n; i++)
		if (!is_bad(v, &v->nodes.at[i].result) && !answered_before(v, i))
			print_group(v, &v->nodes.at[i], i);
}

/* What comes after a run, as a command to be typed. */
static void add_next(const struct run_view *v, const struct fleet_outcome *out, const char *recipes,
	const char *nodes, const char *settings, struct buf *text)
{
	AUTO_BUF command = {0};

	buf_init(&command, VIEW_TEXT_MAX);
	if (v->mode == ORDER_PLAN && !v->n_bad &&
		out->nodes.n[RESULT_CHANGED] + out->nodes.n[RESULT_UNKNOWN] > 0) {
		buf_addf(&command, "stoika %s %s '%s'%s %s %.12s", v->verb, recipes, nodes,
			settings, v->option, out->plan_hash);
		text_add(text, v->lang, TEXT_GO_JUST_THIS, buf_text(&command));
		buf_add_char(text, '\n');
	} else if (v->mode != ORDER_PLAN && v->mode != ORDER_FACTS) {
		buf_addf(&command, "stoika run show %s", out->id);
		text_add(text, v->lang, TEXT_GO_RECORD, buf_text(&command));
		buf_add_char(text, '\n');
	}
}

static void print_summary(const struct run_view *v, const struct fleet_outcome *out,
	const char *recipes, const char *nodes, const char *settings)
{
	const char *sep = "";
	AUTO_BUF text = {0}, what = {0}, on = {0}, states = {0}, span = {0};

	buf_init(&text, VIEW_TEXT_MAX);
	buf_init(&what, VIEW_TEXT_MAX);
	buf_init(&on, 64);
	buf_init(&states, 4096);
	buf_init(&span, 64);
	if (v->mode != ORDER_FACTS) /* an install, which says so itself */
		buf_addf(&what, "%s ",
			text_state(v->lang,
				v->mode == ORDER_PLAN ? "plan" : order_mode_name(v->mode)));
	buf_add_text(&what, recipes);
	add_nodes(&on, v->lang, v->n_nodes, true);
	for (int r = 0; r < RESULT_N; r++) {
		if (out->nodes.n[r] == 0)
			continue;
		buf_add_text(&states, sep);
		add_counted(&states, v->lang, out->nodes.n[r],
			run_view_state((enum step_result)r, v->mode));
		sep = ", ";
	}
	add_span(&span, v->lang, out->took);
	buf_add_char(&text, '\n');
	TEXT_FILL(&text, v->lang, TEXT_GO_SUM, buf_text(&what), buf_text(&on), buf_text(&states),
		buf_text(&span));
	buf_add_char(&text, '\n');
	add_next(v, out, recipes, nodes, settings, &text);
	print_buf(&text);
}

static json_t *node_json(const struct node_view *n)
{
	json_t *obj = json_object();

	json_put_str(obj, "node", n->node->name);
	json_put_str(obj, "state", result_name(n->result.state));
	json_object_set_new(obj, "counts", result_counts_json(&n->result.counts));
	json_put_str(obj, "plan_hash", n->result.plan_hash);
	json_put_str(obj, "reason", n->result.reason);
	json_put_str(obj, "hint", n->result.hint);
	json_put_int(obj, "took_ms", n->result.took / CLOCK_MS);
	json_object_set(obj, "events", n->events);
	return obj;
}

static json_t *groups_json(const struct run_view *v)
{
	json_t *groups = json_array();

	for (size_t i = 0; i < v->nodes.n; i++) {
		struct node_refs refs = VEC_INIT;
		AUTO_BUF names = {0};
		json_t *g;

		if (is_bad(v, &v->nodes.at[i].result) || answered_before(v, i))
			continue;
		for (size_t k = i; k < v->nodes.n; k++)
			if (!is_bad(v, &v->nodes.at[k].result) &&
				strcmp(answer_of(&v->nodes.at[k]), answer_of(&v->nodes.at[i])) == 0)
				*vec_push(&refs) = v->nodes.at[k].node;
		buf_init(&names, VIEW_TEXT_MAX);
		range_fold(&refs, &names);
		g = json_object();
		json_put_str(g, "nodes", buf_text(&names));
		json_put_str(g, "plan_hash", answer_of(&v->nodes.at[i]));
		json_array_append_new(groups, g);
		vec_done(&refs);
	}
	return groups;
}

static void print_json(const struct run_view *v, const struct fleet_outcome *out)
{
	AUTO_JSON doc = json_object();
	json_t *nodes = json_array();
	AUTO_BUF text = {0};

	json_put_str(doc, "run", out->id);
	json_put_str(doc, "mode", order_mode_name(v->mode));
	json_put_str(doc, "plan_hash", out->plan_hash);
	json_put_int(doc, "took_ms", out->took / CLOCK_MS);
	json_object_set_new(doc, "counts", result_counts_json(&out->nodes));
	vec_each(&v->nodes, struct node_view, n)
		json_array_append_new(nodes, node_json(n));
	json_object_set_new(doc, "nodes", nodes);
	json_object_set_new(doc, "groups", groups_json(v));
	buf_init(&text, VIEW_TEXT_MAX);
	json_write_pretty(doc, &text);
	buf_add_char(&text, '\n');
	print_buf(&text);
}

int run_view_finish(struct run_view *v, const struct fleet_outcome *out, const char *recipes,
	const char *nodes, const char *settings)
{
	clear_status(v);
	if (v->json) {
		print_json(v, out);
	} else {
		if (v->mode == ORDER_PLAN)
			print_groups(v);
		print_summary(v, out, recipes, nodes, settings);
	}
	if (v->n_nodes > 0 && out->unreachable == v->n_nodes)
		return 4;
	return v->n_bad > 0 ? 1 : 0;
}
