/*
 * width_test - the width of handshakes against servers that slow down under load, in virtual time.
 *
 * A server works on so many handshakes at once, each for its base time; the others wait in a line.
 */
#include "agent/base/clock.h"
#include "controller/ssh/width.h"
#include "tests/unit/t.h"

#define JOBS_MAX 4096

struct job {
	int64_t began, ends;
};

struct sim {
	struct width width;
	unsigned knee;    /* handshakes that the server works on at once */
	int64_t base;     /* ns, of one */
	unsigned backlog; /* beyond so many the server turns away; 0: never */
	int64_t now;
	struct job jobs[JOBS_MAX];
	unsigned n;
	int64_t free_at[JOBS_MAX]; /* when each of its places is free */
	unsigned done, refused, least, most;
	uint32_t noise;
};

static int64_t jitter(struct sim *s)
{
	s->noise = s->noise * 1664525u + 1013904223u;
	return s->base / 10 * (int64_t)(s->noise >> 24) / 256;
}

static unsigned first_place(const struct sim *s)
{
	unsigned best = 0;

	for (unsigned i = 1; i < s->knee; i++)
		if (s->free_at[i] < s->free_at[best])
			best = i;
	return best;
}

static void begin_job(struct sim *s)
{
	const unsigned place = first_place(s);
	const int64_t from = s->free_at[place] > s->now ? s->free_at[place] : s->now;

	s->free_at[place] = from + s->base + jitter(s);
	s->jobs[s->n++] = (struct job){s->now, s->free_at[place]};
}

static void begin_jobs(struct sim *s)
{
	while (s->n < s->width.now && s->n < JOBS_MAX) {
		if (s->backlog && s->n >= s->backlog) {
			s->refused++;
			width_trouble(&s->width, s->now, s->now);
			return;
		}
		begin_job(s);
	}
	width_reach(&s->width);
}

static void end_job(struct sim *s)
{
	unsigned next = 0;

	for (unsigned i = 1; i < s->n; i++)
		if (s->jobs[i].ends < s->jobs[next].ends)
			next = i;
	s->now = s->jobs[next].ends;
	width_success(&s->width, s->jobs[next].began, s->now);
	s->jobs[next] = s->jobs[--s->n];
	s->done++;
}

static void begin_sim(struct sim *s, unsigned cap, unsigned knee, int64_t base)
{
	*s = (struct sim){.knee = knee, .base = base, .noise = 7};
	width_init(&s->width, cap);
}

/* For that long; the widths in between are in least and most, but for those tried for a moment. */
static void play(struct sim *s, int64_t span)
{
	const int64_t until = s->now + span;

	s->done = s->refused = s->most = 0;
	s->least = UINT32_MAX;
	while (s->now < until) {
		const unsigned w = s->width.kept ? s->width.kept : s->width.now;

		begin_jobs(s);
		end_job(s);
		s->least = w < s->least ? w : s->least;
		s->most = w > s->most ? w : s->most;
	}
}

/* Of what the server can do in that time, in percent. */
static unsigned used(const struct sim *s, int64_t span)
{
	const int64_t one = s->base + s->base / 20;

	return (unsigned)((int64_t)s->done * 100 * one / (span * s->knee));
}

static struct sim sim;

static const struct {
	unsigned cap, knee;
	int64_t base;
	unsigned least, most;
} SERVERS[] = {
	{512, 40, 100 * CLOCK_MS, 40, 90},
	{512, 10, 100 * CLOCK_MS, 10, 32},
	{512, 200, 200 * CLOCK_MS, 150, 420},
	{512, 4, 300 * CLOCK_MS, 4, 24},
	{16, 40, 100 * CLOCK_MS, 16, 16},
	/* a quiet network: what takes 3 ms may take 20 */
	{512, 100, 3 * CLOCK_MS, 300, 512},
	{512, 1000, 100 * CLOCK_MS, 512, 512},
};

TEST(settles_near_the_knee)
{
	for (size_t i = 0; i < sizeof SERVERS / sizeof *SERVERS; i++) {
		begin_sim(&sim, SERVERS[i].cap, SERVERS[i].knee, SERVERS[i].base);
		assert_true(sim.width.now <= 16);
		play(&sim, 400 * sim.base);
		play(&sim, 600 * sim.base);
		if (getenv("T_VERBOSE"))
			print_message("knee %u base %lld ms: %u..%u, %u %%\n", SERVERS[i].knee,
				(long long)(SERVERS[i].base / CLOCK_MS), sim.least, sim.most,
				used(&sim, 600 * sim.base));
		assert_in_range(sim.least, SERVERS[i].least, SERVERS[i].most);
		assert_in_range(sim.most, SERVERS[i].least, SERVERS[i].most);
		/* no oscillation */
		assert_true(sim.most <= sim.least + sim.least / 2 + 8);
		if (SERVERS[i].cap >= SERVERS[i].knee)
			assert_true(used(&sim, 600 * sim.base) >= 95);
	}
}

/* A server that is slow for a while, and one that turns away. */
TEST(recovers_after_trouble)
{
	unsigned before;

	begin_sim(&sim, 512, 64, 50 * CLOCK_MS);
	play(&sim, 60 * CLOCK_SEC);
	before = sim.width.now;
	sim.base = 1000 * CLOCK_MS;
	play(&sim, 20 * CLOCK_SEC);
	sim.base = 50 * CLOCK_MS;
	play(&sim, 30 * CLOCK_SEC);
	assert_true(sim.width.now * 10 >= before * 7);
	sim.backlog = 20;
	play(&sim, 10 * CLOCK_SEC);
	assert_true(sim.most <= before && sim.least >= WIDTH_MIN);
	/* turned away now and then is what it takes to know the limit, seldom is what it costs */
	if (getenv("T_VERBOSE"))
		print_message(
			"%u..%u, %u refused of %u\n", sim.least, sim.most, sim.refused, sim.done);
	assert_true(sim.refused * 20 < sim.done);
	assert_true(used(&sim, 10 * CLOCK_SEC) * 64 >= 12 * 100); /* of 20 places */
	sim.backlog = 0;
	play(&sim, 30 * CLOCK_SEC);
	assert_true(sim.width.now * 10 >= before * 7);
}

/* The way there became longer for good: that is not load. */
TEST(gets_used_to_a_longer_way)
{
	begin_sim(&sim, 512, 400, 20 * CLOCK_MS);
	play(&sim, 6 * CLOCK_SEC);
	assert_true(sim.width.now >= 300);
	sim.base = 250 * CLOCK_MS;
	play(&sim, 150 * CLOCK_SEC);
	assert_true(sim.width.now >= 250);
}

/* What is not used is neither proven nor to be grown. */
TEST(an_unused_width_stays)
{
	struct width w;

	width_init(&w, 512);
	for (int i = 0; i < 1000; i++)
		width_success(&w, i * CLOCK_SEC, i * CLOCK_SEC + CLOCK_MS);
	assert_int_equal(w.now, 16);
}

TEST(trouble_has_a_floor_and_counts_once)
{
	struct width w;

	width_init(&w, 512);
	width_trouble(&w, CLOCK_SEC, 2 * CLOCK_SEC);
	width_trouble(&w, CLOCK_SEC, 3 * CLOCK_SEC); /* begun before the first was known */
	assert_int_equal(w.now, 8);
	for (int i = 4; i < 20; i++)
		width_trouble(&w, i * CLOCK_SEC, i * CLOCK_SEC);
	assert_int_equal(w.now, WIDTH_MIN);
	width_init(&w, 2);
	width_trouble(&w, CLOCK_SEC, CLOCK_SEC);
	assert_int_equal(w.now, 2);
}

/* Twice the cap is never worth less, whatever the server: the curve has no cliff. */
TEST(no_cap_is_a_cliff)
{
	static const unsigned knees[] = {4, 40, 400};

	for (size_t k = 0; k < sizeof knees / sizeof *knees; k++) {
		unsigned last = 0;

		for (unsigned cap = 1; cap <= 1024; cap *= 2) {
			begin_sim(&sim, cap, knees[k], 100 * CLOCK_MS);
			play(&sim, 40 * CLOCK_SEC);
			assert_true(sim.done >= last - last / 20);
			last = sim.done > last ? sim.done : last;
		}
	}
}

T_MAIN
