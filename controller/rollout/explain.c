#include "controller/rollout/explain.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"

#include <string.h>

#define WORDS_MAX 300

struct player {
	struct arena *arena;
	struct rollout *r;
	size_t n;
	int64_t takes, wall, now;
	int64_t *due; /* by node: it is back, or watched no more; 0: neither */
	struct explanation *out;
};

static const char *words_of(struct player *p, size_t node, enum rollout_limit *limit)
{
	AUTO_BUF words;

	buf_init(&words, WORDS_MAX);
	*limit = rollout_held(p->r, node, &words);
	return arena_strdup(p->arena, buf_text(&words));
}

/* What those wait for who did not go; words only of the first of each limit. */
static void look_at_waiting(struct player *p, struct explain_turn *t)
{
	for (size_t i = 0; i < p->n; i++) {
		const enum rollout_place place = rollout_place_of(p->r, i);
		enum rollout_limit limit;
		struct explain_held *h;

		if (place != NODE_WAITING && place != NODE_AWAY)
			continue;
		t->waiting++;
		h = &t->by_limit[rollout_held(p->r, i, NULL)];
		if (h->n++ > 0)
			continue;
		h->first = i;
		h->why = words_of(p, i, &limit);
		/* a later stage is no news; the limit inside this one is */
		if (!t->why || (t->held == LIMIT_STAGE && limit != LIMIT_STAGE)) {
			t->why = h->why;
			t->held = limit;
		}
	}
}

static void note_turn(struct player *p, const size_t *who, size_t n)
{
	struct explain_turn *t = vec_push(&p->out->turns);

	*t = (struct explain_turn){.at = p->now, .first = p->out->who.n, .n = n};
	for (size_t i = 0; i < n; i++) {
		const unsigned stage = rollout_stage_of(p->r, who[i]);

		*vec_push(&p->out->who) = who[i];
		p->due[who[i]] = p->now + p->takes;
		if (stage > t->stage)
			t->stage = stage;
	}
	look_at_waiting(p, t);
}

/* The end of the next node that is out, of a soak, or the opening of the window. */
static int64_t next_time(const struct player *p)
{
	const int64_t wall = p->wall + p->now / CLOCK_SEC;
	int64_t at = rollout_next(p->r);
	int64_t opens;

	for (size_t i = 0; i < p->n; i++)
		if (p->due[i] > 0 && p->due[i] < at)
			at = p->due[i];
	opens = rollout_window(p->r, wall);
	if (opens > wall && p->now + (opens - wall) * CLOCK_SEC < at)
		at = p->now + (opens - wall) * CLOCK_SEC;
	return at;
}

static void come_back(struct player *p)
{
	const int64_t watched = rollout_policy_of(p->r)->soak_node;

	for (size_t i = 0; i < p->n; i++) {
		if (p->due[i] == 0 || p->due[i] > p->now)
			continue;
		p->due[i] = 0;
		if (rollout_place_of(p->r, i) == NODE_OUT)
			p->out->took = p->now;
		if (rollout_place_of(p->r, i) == NODE_OUT && watched > 0) {
			rollout_return(p->r, i);
			p->due[i] = p->now + watched;
			continue;
		}
		rollout_settle(p->r, i, NODE_DONE, NULL, p->now);
	}
}

static void look_at_stuck(struct player *p)
{
	for (size_t i = 0; i < p->n; i++) {
		enum rollout_limit limit;

		if (rollout_place_of(p->r, i) == NODE_DONE)
			continue;
		p->out->never++;
		if (!p->out->never_why)
			p->out->never_why = words_of(p, i, &limit);
	}
}

void explain_make(struct arena *a, struct rollout *r, size_t n, int64_t takes, int64_t wall,
	struct explanation *out)
{
	struct player p = {.arena = a, .r = r, .n = n, .takes = takes, .wall = wall, .out = out};
	const size_t *who;

	*out = (struct explanation){0};
	p.due = arena_alloc(a, (n + 1) * sizeof *p.due);
	while (!rollout_is_finished(r)) {
		const size_t gone = rollout_admit(r, p.now, wall + p.now / CLOCK_SEC, 0, &who);

		if (gone > 0)
			note_turn(&p, who, gone);

		const int64_t at = next_time(&p);

		if (at == INT64_MAX)
			break;
		p.now = at;
		come_back(&p);
	}
	look_at_stuck(&p);
}

void explain_done(struct explanation *e)
{
	vec_done(&e->turns);
	vec_done(&e->who);
}
