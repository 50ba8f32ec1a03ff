#include "controller/command/rollout_view.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX   (64u << 20)
#define LINE_CUT   120 /* characters of a status line: more would wrap */
#define WORDS_MAX  200
#define REASON_MAX 480

struct view_node {
	struct node_row row; /* its id and name: the rollout's own rows go before the view does */
	enum node_state state;
	char *reason, *hint;
};

struct rollout_view {
	bool json, terminal;
	unsigned lines; /* of the status that stands there */
	int width;
	int64_t began;
	char run[64];
	struct arena *arena;
	struct vec(struct view_node) nodes;
	struct vec(size_t) slots; /* by node id: index plus one */
};

struct rollout_view *rollout_view_new(bool json)
{
	struct rollout_view *v = xcalloc(1, sizeof *v);

	v->json = json;
	v->terminal = !json && isatty(STDERR_FILENO);
	v->began = clock_mono();
	v->arena = arena_new();
	return v;
}

void rollout_view_free(struct rollout_view *v)
{
	if (!v)
		return;
	vec_each(&v->nodes, struct view_node, n) {
		free(n->reason);
		free(n->hint);
	}
	vec_done(&v->nodes);
	vec_done(&v->slots);
	arena_free(v->arena);
	free(v);
}

static void put_slot(struct rollout_view *v, int64_t id, size_t at)
{
	while (v->slots.n <= (size_t)id)
		*vec_push(&v->slots) = 0;
	v->slots.at[id] = at + 1;
}

static struct view_node *node_of(struct rollout_view *v, const struct node_row *row)
{
	const size_t id = (size_t)row->id;

	return id < v->slots.n && v->slots.at[id] > 0 ? &v->nodes.at[v->slots.at[id] - 1] : NULL;
}

static void print_lines(const struct buf *text)
{
	AUTO_BUF safe = {0};

	buf_init(&safe, TEXT_MAX);
	session_add_lines(&safe, buf_str(text));
	/* a reader that is gone does not stop a rollout */
	fwrite(buf_text(&safe), 1, safe.n, stdout);
	fflush(stdout);
}

void rollout_view_began(struct rollout_view *v, const char *run, const struct node_refs *nodes,
	const struct rollout_policy *policy, const struct drive *d)
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	snprintf(v->run, sizeof v->run, "%s", run);
	for (size_t i = 0; i < nodes->n; i++) {
		const int len = (int)strlen(nodes->at[i]->name);

		put_slot(v, nodes->at[i]->id, v->nodes.n);
		*vec_push(&v->nodes) = (struct view_node){
			.row = {.id = nodes->at[i]->id,
				.name = arena_strdup(v->arena, nodes->at[i]->name)},
			.state = drive_state(d, i)};
		v->width = len > v->width ? len : v->width;
	}
	if (v->json)
		return;
	buf_addf(&text, "rollout %s: policy '%s', %zu node%s\n", run, policy->name, nodes->n,
		nodes->n == 1 ? "" : "s");
	print_lines(&text);
}

/* --- the status on a terminal --- */

static void clear_status(struct rollout_view *v)
{
	for (; v->lines > 0; v->lines--)
		fputs("\033[A\r\033[K", stderr);
}

static void fold_state(const struct rollout_view *v, enum node_state s, struct buf *out)
{
	struct node_refs refs = VEC_INIT;

	vec_each(&v->nodes, const struct view_node, n)
		if (n->state == s)
			*vec_push(&refs) = &n->row;
	range_fold(&refs, out);
	vec_done(&refs);
}

static size_t count_state(const struct rollout_view *v, enum node_state s)
{
	size_t n = 0;

	vec_each(&v->nodes, const struct view_node, it)
		n += it->state == s;
	return n;
}

/* What the first of them waits for. */
static void add_wait(
	const struct rollout_view *v, const struct drive *d, enum node_state s, struct buf *line)
{
	AUTO_BUF words = {0};

	buf_init(&words, WORDS_MAX);
	for (size_t i = 0; i < v->nodes.n; i++)
		if (v->nodes.at[i].state == s) {
			drive_waits(d, i, &words);
			break;
		}
	if (words.n > 0)
		buf_addf(line, ": %s", buf_text(&words));
}

/* Cut, so that it stays one line: else the next drawing would begin at the wrong place. */
static void add_line(struct rollout_view *v, const struct buf *line, struct buf *out)
{
	struct str text = buf_str(line);
	size_t n = text.n < LINE_CUT ? text.n : LINE_CUT;

	while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--;
	buf_add_printable(out, str_first(text, n));
	buf_add_char(out, '\n');
	v->lines++;
}

static void add_state(
	struct rollout_view *v, const struct drive *d, enum node_state s, struct buf *out)
{
	AUTO_BUF line = {0}, who = {0};
	const size_t n = count_state(v, s);

	if (n == 0)
		return;
	buf_init(&line, TEXT_MAX);
	buf_init(&who, TEXT_MAX);
	fold_state(v, s, &who);
	buf_addf(&line, "  %-11s %4zu  %.60s", NODE_STATES[s], n, buf_text(&who));
	if (!node_is_terminal(s))
		add_wait(v, d, s, &line);
	add_line(v, &line, out);
}

static void add_sum(struct rollout_view *v, const struct drive *d, struct buf *out)
{
	AUTO_BUF line = {0};
	const char *paused = drive_paused(d);
	size_t rest = 0;
	char span[24];

	buf_init(&line, 1024);
	for (unsigned s = 0; s < STATE_N; s++)
		if (node_is_terminal((enum node_state)s))
			rest += count_state(v, (enum node_state)s);
	clock_format_span(clock_mono() - v->began, span);
	buf_addf(&line, "%zu of %zu at rest, %s %u, %s", rest, v->nodes.n,
		drive_stage(d) ? "wave" : "canaries, stage", drive_stage(d), span);
	if (paused)
		buf_addf(&line, "; paused: %s", paused);
	add_line(v, &line, out);
}

void rollout_view_turn(struct rollout_view *v, const struct drive *d)
{
	AUTO_BUF text = {0};

	if (!v->terminal)
		return;
	clear_status(v);
	buf_init(&text, TEXT_MAX);
	for (unsigned s = 0; s < STATE_N; s++)
		add_state(v, d, (enum node_state)s, &text);
	add_sum(v, d, &text);
	fwrite(buf_text(&text), 1, text.n, stderr);
	fflush(stderr);
}

/* --- a move --- */

static void keep(char **to, const char *text)
{
	free(*to);
	*to = text && *text ? xstrdup(text) : NULL;
}

static bool is_good(enum node_state s)
{
	return s == STATE_DONE || !node_is_terminal(s);
}

static void move_lines(const struct rollout_view *v, const struct view_node *n, struct buf *out)
{
	char at[24];

	clock_format(clock_wall(), at);
	buf_addf(out, "%s  %-*s  %-11s", at, v->width, n->row.name, NODE_STATES[n->state]);
	if (n->reason)
		buf_addf(out, "  %.*s", REASON_MAX, n->reason);
	buf_add_char(out, '\n');
	if (n->hint && !is_good(n->state))
		buf_addf(out, "%22s%*s  hint: %.*s\n", "", v->width, "", REASON_MAX, n->hint);
}

void rollout_view_moved(
	struct rollout_view *v, const struct node_row *node, const struct drive_move *m)
{
	struct view_node *n = node_of(v, node);
	AUTO_BUF text = {0};

	if (!n)
		return;
	n->state = m->to;
	keep(&n->reason, m->word.why);
	keep(&n->hint, m->word.hint);
	if (v->json || (v->terminal && is_good(m->to)))
		return;
	buf_init(&text, TEXT_MAX);
	move_lines(v, n, &text);
	clear_status(v);
	print_lines(&text);
}

/* --- the end --- */

static bool is_alike(const struct view_node *a, const struct view_node *b)
{
	return a->state == b->state &&
	       strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

static bool was_before(const struct rollout_view *v, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(&v->nodes.at[k], &v->nodes.at[i]))
			return true;
	return false;
}

static void group_lines(const struct rollout_view *v, size_t first, struct buf *out)
{
	const struct view_node *n = &v->nodes.at[first];
	struct node_refs refs = VEC_INIT;
	AUTO_BUF who = {0};

	buf_init(&who, TEXT_MAX);
	for (size_t i = first; i < v->nodes.n; i++)
		if (is_alike(&v->nodes.at[i], n))
			*vec_push(&refs) = &v->nodes.at[i].row;
	range_fold(&refs, &who);
	buf_addf(out, "%-11s %5zu  %s\n", NODE_STATES[n->state], refs.n, buf_text(&who));
	if (n->reason && n->state != STATE_DONE)
		buf_addf(out, "%19s%s\n", "", n->reason);
	if (n->hint && n->state != STATE_DONE)
		buf_addf(out, "%19shint: %s\n", "", n->hint);
	vec_done(&refs);
}

/* Those that are done in one line, whatever each was told. */
static void forget_good(struct rollout_view *v)
{
	vec_each(&v->nodes, struct view_node, n)
		if (n->state == STATE_DONE)
			keep(&n->reason, NULL);
}

static void add_end(const struct rollout_view *v, const struct rollout_outcome *o, struct buf *out)
{
	char span[24];

	clock_format_span(o->took, span);
	buf_addf(out, "\n%zu of %zu done in %s%s\n", o->states[STATE_DONE], o->n, span,
		o->aborted ? ", aborted" : "");
	if (*o->paused)
		buf_addf(out, "paused: %s\n", o->paused);
	if (o->stopped)
		buf_add_text(out, "nobody drives it now; nodes at work go on\n");
	if (*o->paused || o->stopped)
		buf_addf(out, "to go on: stoika run resume %s\n", v->run);
	buf_addf(out, "record: stoika run show %s\n", v->run);
}

static void print_text(struct rollout_view *v, const struct rollout_outcome *out)
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	forget_good(v);
	buf_add_text(&text, "\nSTATE       NODES\n");
	for (unsigned s = 0; s < STATE_N; s++)
		for (size_t i = 0; i < v->nodes.n; i++)
			if (v->nodes.at[i].state == (enum node_state)s && !was_before(v, i))
				group_lines(v, i, &text);
	add_end(v, out, &text);
	print_lines(&text);
}

static const char *word_of(const struct rollout_outcome *o)
{
	if (o->stopped)
		return "interrupted";
	if (o->aborted)
		return "cancelled";
	if (*o->paused)
		return "paused";
	return o->states[STATE_DONE] == o->n ? "done" : "failed";
}

static void print_json(const struct rollout_view *v, const struct rollout_outcome *out)
{
	AUTO_JSON doc = json_object();
	json_t *counts = json_object(), *nodes = json_array();

	json_put_str(doc, "run", v->run);
	json_put_str(doc, "state", word_of(out));
	json_put_str(doc, "paused", out->paused);
	json_put_int(doc, "took_ms", out->took / CLOCK_MS);
	for (unsigned s = 0; s < STATE_N; s++)
		if (out->states[s] > 0)
			json_put_int(counts, NODE_STATES[s], (int64_t)out->states[s]);
	vec_each(&v->nodes, const struct view_node, n) {
		json_t *one = json_object();

		json_put_str(one, "node", n->row.name);
		json_put_str(one, "state", NODE_STATES[n->state]);
		json_put_str(one, "reason", n->reason ? n->reason : "");
		json_put_str(one, "hint", n->hint ? n->hint : "");
		json_array_append_new(nodes, one);
	}
	json_object_set_new(doc, "counts", counts);
	json_object_set_new(doc, "nodes", nodes);
	session_print_json(doc);
}

int rollout_view_finish(struct rollout_view *v, const struct rollout_outcome *out)
{
	clear_status(v);
	if (v->json)
		print_json(v, out);
	else
		print_text(v, out);
	if (out->states[STATE_DONE] == out->n)
		return EXIT_OK;
	if (out->n > 0 && out->unreached == out->n)
		return EXIT_UNREACHED;
	return out->states[STATE_REJECTED] == out->n ? EXIT_REFUSED : EXIT_SOME;
}
