/*
 * rollout_block - the lines that 'run watch' draws: the whole with what is left, a bar a stage with
 * what its nodes wait for, and who failed.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/rollout_watch.h"
#include "controller/fleet/range.h"

#include <stdlib.h>
#include <string.h>

#define BAR        20u
#define BAD_SHOWN  5u
#define LABEL      10
#define FOLDED_MAX ((size_t)1 << 20)

struct block {
	const struct rollout_past *p;
	enum text_lang lang;
	unsigned width, rows, used;
	struct buf *out;
};

/* A line, cut to the width by characters: else the next drawing begins at the wrong place. */
static void add_line(struct block *b, const struct buf *line)
{
	struct str rest = buf_str(line);
	unsigned columns = 0;
	size_t n = 0;

	if (b->used >= b->rows)
		return;
	while (n < rest.n && columns < b->width) {
		const size_t one = str_utf8_length(str_from(rest, n));

		n += one ? one : 1;
		columns++;
	}
	buf_add_printable(b->out, str_first(rest, n));
	buf_add_char(b->out, '\n');
	b->used++;
}

/* --- the whole --- */

/* By the pace at which nodes came to rest so far; 0 while too few have. */
static int64_t left_of(const struct rollout_past *p)
{
	const unsigned rest = rollout_past_at_rest(p);
	const int64_t took = p->now - p->run.started;

	if (rest < 3 || rest >= p->nodes.n || p->row.paused || took <= 0)
		return 0;
	return (int64_t)((double)took / rest * (double)(p->nodes.n - rest));
}

static void add_whole(struct block *b)
{
	const struct rollout_past *p = b->p;
	const int64_t left = left_of(p);
	AUTO_BUF line = {0}, span = {0};
	char rest[16], all[16];

	buf_init(&line, 16384);
	buf_init(&span, 64);
	buf_addf(&line, "%s  ", p->run.id);
	rollout_add_state(&line, b->lang, p);
	add_line(b, &line);
	buf_clear(&line);
	rollout_add_span(&line, b->lang, (p->run.ended ? p->run.ended : p->now) - p->run.started);
	buf_add_text(&line, ", ");
	snprintf(rest, sizeof rest, "%u", rollout_past_at_rest(p));
	snprintf(all, sizeof all, "%zu", p->nodes.n);
	TEXT_FILL(&line, b->lang, TEXT_RO_T_AT_REST, rest, all);
	if (left > 0 && !rollout_past_is_over(p)) {
		rollout_add_span(&span, b->lang, left);
		buf_add_text(&line, ", ");
		text_add(&line, b->lang, TEXT_RO_T_ETA, buf_text(&span));
	}
	if (*p->row.asked && !rollout_past_is_over(p)) {
		buf_add_text(&line, "; ");
		TEXT_FILL(&line, b->lang, TEXT_RO_ASKED_BY, p->row.asked, p->asked_by);
	}
	add_line(b, &line);
}

/* --- a stage --- */

struct stage {
	unsigned number, n, good, bad, out; /* out: at work */
	unsigned counts[STATE_N + 1];
};

static struct stage count_stage(const struct rollout_past *p, unsigned number)
{
	struct stage s = {.number = number};

	vec_each(&p->nodes, const struct past_node, n) {
		if (n->row->stage != number)
			continue;
		s.n++;
		s.counts[n->state]++;
		s.good += n->state == STATE_DONE;
		s.bad += rollout_past_is_bad(n->state);
		s.out += !node_is_terminal(n->state) && n->state != STATE_ELIGIBLE;
	}
	return s;
}

/* '#' done, '!' at rest otherwise, '>' at work, '.' waits; whoever is there has one place at least.
 */
static void add_bar(struct buf *out, const struct stage *s)
{
	const struct {
		unsigned n;
		char sign;
	} parts[] = {{s->good, '#'}, {s->bad, '!'}, {s->out, '>'}};
	unsigned at = 0;

	buf_add_char(out, '[');
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		unsigned places = parts[i].n * BAR / s->n;

		places = parts[i].n > 0 && places == 0 ? 1 : places;
		for (; places > 0 && at < BAR; places--, at++)
			buf_add_char(out, parts[i].sign);
	}
	for (; at < BAR; at++)
		buf_add_char(out, s->n == s->counts[STATE_ABORTED] ? '-' : '.');
	buf_add_text(out, "] ");
}

/* The nodes of the stage that wait for the same as the first that waits, and what for. */
static void add_waiting(struct block *b, const struct stage *s, enum node_state state)
{
	struct vec(struct node_row) names = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	const char *why = NULL;
	AUTO_BUF line = {0}, who = {0};

	buf_init(&line, FOLDED_MAX);
	buf_init(&who, FOLDED_MAX);
	vec_each(&b->p->nodes, const struct past_node, n) {
		if (n->row->stage != s->number || n->state != state || !*n->row->reason)
			continue;
		why = why ? why : n->row->reason;
		if (strcmp(why, n->row->reason) == 0)
			vec_push(&names)->name = n->row->name;
	}
	vec_each(&names, const struct node_row, it)
		*vec_push(&refs) = it;
	if (why) {
		range_fold(&refs, &who);
		buf_addf(&line, "%*s", LABEL + 1, "");
		if (refs.n > 1) /* names are what may be cut */
			rollout_add_count(&line, b->lang, (unsigned)refs.n, state);
		else
			buf_addf(
				&line, "%s %s", buf_text(&who), rollout_state_word(b->lang, state));
		buf_add_text(&line, ", ");
		text_add(&line, b->lang, TEXT_RO_WAITS, why);
		if (refs.n > 1)
			buf_addf(&line, "; %s", buf_text(&who));
		add_line(b, &line);
	}
	vec_done(&refs);
	vec_done(&names);
}

static void add_stage(struct block *b, const struct stage *s, bool first_waiting)
{
	AUTO_BUF line = {0}, label = {0};

	buf_init(&line, 16384);
	buf_init(&label, 64);
	rollout_add_stage(&label, b->lang, s->number);
	buf_add_str(&line, buf_str(&label));
	for (size_t n = 0, i = 0; n < LABEL + 1; n++) /* by characters */
		if (i < label.n) {
			const size_t one = str_utf8_length(str_from(buf_str(&label), i));

			i += one ? one : 1;
		} else {
			buf_add_char(&line, ' ');
		}
	add_bar(&line, s);
	buf_addf(&line, "%u/%u  ", s->good + s->bad, s->n);
	rollout_add_counts(&line, b->lang, s->counts);
	add_line(b, &line);
	for (unsigned state = STATE_PREFLIGHT; state < STATE_N; state++)
		if (s->counts[state] > 0 && !node_is_terminal((enum node_state)state))
			add_waiting(b, s, (enum node_state)state);
	if (first_waiting)
		add_waiting(b, s, STATE_ELIGIBLE);
}

/* --- who failed --- */

static void add_failed(struct block *b)
{
	unsigned shown = 0, all = 0;
	AUTO_BUF line = {0};

	buf_init(&line, 16384);
	vec_each(&b->p->nodes, const struct past_node, n) {
		if (!rollout_past_is_bad(n->state))
			continue;
		if (++all > BAD_SHOWN)
			continue;
		buf_clear(&line);
		buf_addf(&line, "! %s %s: %s", n->row->name, rollout_state_word(b->lang, n->state),
			n->row->reason);
		add_line(b, &line);
		shown++;
	}
	if (all == 0)
		return;
	buf_clear(&line);
	if (all > shown)
		buf_addf(&line, "! + %u; ", all - shown);
	buf_addf(&line, "  stoika run show %s --node NODE", b->p->run.id);
	add_line(b, &line);
}

void rollout_watch_lines(
	const struct rollout_past *p, const struct report_opts *o, unsigned rows, struct buf *out)
{
	struct block b = {.p = p,
		.lang = o->lang,
		.width = o->width ? o->width : 80,
		.rows = rows,
		.out = out};
	bool waiting = false;

	add_whole(&b);
	for (unsigned k = 0; k <= p->last_stage; k++) {
		const struct stage s = count_stage(p, k);

		if (s.n == 0)
			continue;
		add_stage(&b, &s, !waiting && s.counts[STATE_ELIGIBLE] > 0);
		waiting |= s.counts[STATE_ELIGIBLE] > 0;
	}
	add_failed(&b);
}
