#include "controller/serve/schedule.h"

#define RETRY       60
#define RETRY_TIMES 16 /* doublings; more would not fit a period */
#define DAY         86400
#define AHEAD_MAX   60 /* seconds that a look may seem to lie ahead */

/* FNV-1a, 64 bits, folded: stable over machines and versions. */
static int64_t place_of(const char *node, int64_t span)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *node; node++)
		h = (h ^ (unsigned char)*node) * UINT64_C(1099511628211);
	h ^= h >> 32;
	return span > 0 ? (int64_t)(h % (uint64_t)span) : 0;
}

struct schedule schedule_make(const char *every, const char *window, const char *splay)
{
	struct schedule s = {.every = SCHEDULE_EVERY, .splay = SCHEDULE_SPLAY};

	if (every && *every)
		(void)period_parse(every, &s.every);
	if (splay && *splay)
		(void)period_parse(splay, &s.splay);
	if (window && *window)
		(void)window_parse(window, &s.window);
	if (s.splay > s.every)
		s.splay = s.every;
	return s;
}

static int64_t retry_after(unsigned failed, int64_t every)
{
	const unsigned doubled = failed > RETRY_TIMES ? RETRY_TIMES : failed;
	const int64_t wait = (int64_t)RETRY << (doubled - 1);

	return wait < every ? wait : every;
}

/* The node's place in the first period that begins no sooner than half a period after the last. */
static int64_t regular(const struct schedule *s, const char *node, int64_t last)
{
	const int64_t from = last + (s->every + 1) / 2, place = place_of(node, s->every);
	const int64_t into = (from - place) % s->every;

	return into == 0 ? from : from + s->every - into;
}

static int64_t window_length(const struct window *w)
{
	const int64_t n = ((int64_t)w->to - (int64_t)w->from) * 60;

	return n > 0 ? n : n + DAY;
}

static int64_t into_window(const struct schedule *s, const char *node, int64_t due, int64_t offset)
{
	const int64_t wait = window_wait(&s->window, due, offset);
	const int64_t length = window_length(&s->window);

	if (wait == 0)
		return due;
	return due + wait + place_of(node, s->splay < length ? s->splay : length);
}

int64_t next_due(
	const struct schedule *s, const char *node, struct last_look last, const struct moment *m)
{
	const int64_t soon = m->started + place_of(node, s->splay + 1);
	int64_t due = soon;

	if (last.at > m->now + AHEAD_MAX) /* the clock was set back: nothing is known of when */
		due = m->now;
	else if (last.at > 0 && last.failed > 0)
		due = last.at + retry_after(last.failed, s->every);
	else if (last.at > 0)
		due = regular(s, node, last.at);
	if (due < m->started)
		due = soon;
	return into_window(s, node, due < m->now ? m->now : due, m->offset);
}
