/*
 * simulate_test - whole rollouts in virtual time, with faults by seed; what must hold, holds
 * always.
 *
 * After each answer of rollout_admit: nobody is let go twice, nobody who is away;
 * max_unavailable, budgets, pairs and units are counted afresh from the nodes; no
 * one of a later stage goes while an earlier one works, but for nodes that somebody
 * had taken away. At the end each node is in one place of rest. STOIKA_SEEDS changes the number of
 * seeds (1,000 at first).
 */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/explain.h"
#include "tests/unit/t.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEC         INT64_C(1000000000)
#define DOMAINS_MAX 8

struct world {
	uint64_t random;
	struct arena *arena;
	struct rollout_policy policy;
	struct rollout_node *nodes;
	size_t n;
	struct rollout *r;
	int64_t now, *due; /* when a node that is out settles */
	unsigned *times;   /* how often it was let go */
	bool *was_away;    /* once: it may go when its stage is long over */
	size_t out;
};

static uint64_t draw(struct world *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random % below;
}

static void make_node(struct world *w, size_t i)
{
	struct rollout_domain *d = arena_alloc(w->arena, DOMAINS_MAX * sizeof *d);
	const size_t group = i / (1 + w->random % 3);
	unsigned n = 0;

	d[n++] = (struct rollout_domain){"rack", arena_printf(w->arena, "R%zu", i / 8)};
	d[n++] = (struct rollout_domain){"feed", arena_printf(w->arena, "A%zu", i / 16)};
	d[n++] = (struct rollout_domain){"feed", arena_printf(w->arena, "B%zu", i / 24)};
	d[n++] = (struct rollout_domain){"type", i % 7 ? "h100" : "cpu"};
	if (w->policy.unit && group % 3 == 0)
		d[n++] = (struct rollout_domain){"nvl", arena_printf(w->arena, "d%zu", i / 4)};
	if (i % 11 < 2 && i % 4 == 3)
		d[n++] = (struct rollout_domain){"mirror", arena_printf(w->arena, "m%zu", i / 11)};
	w->nodes[i] =
		(struct rollout_node){arena_printf(w->arena, "n%zu", i), d, n, draw(w, 20) == 0};
}

static void make_world(struct world *w, uint64_t seed, size_t n)
{
	struct rollout_policy *p = &w->policy;

	memset(w, 0, sizeof *w);
	w->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	w->arena = arena_new();
	rollout_policy_preset(p);
	p->class_by[0] = "type";
	p->n_class_by = 1;
	p->canaries = (unsigned)draw(w, 3);
	p->max_unavailable = (struct amount){5 + (unsigned)draw(w, 40), true};
	p->budgets[0] = (struct rollout_budget){"rack", {4 + (unsigned)draw(w, 4), false}};
	p->budgets[1] = (struct rollout_budget){"feed", {50, true}};
	p->n_budgets = 2;
	p->unit = draw(w, 2) ? "nvl" : NULL;
	p->pair = draw(w, 2) ? "mirror" : NULL;
	p->soak_wave = (int64_t)draw(w, 100) * SEC;
	p->soak_canary = (int64_t)draw(w, 1000) * SEC;
	p->order = (enum rollout_order)draw(w, ROLLOUT_ORDER_N);
	p->seed = seed;
	p->failures = (struct amount){10, true};
	p->same_failure = draw(w, 2) ? 3 : 0;
	w->n = n;
	w->nodes = arena_alloc(w->arena, n * sizeof *w->nodes);
	w->due = arena_alloc(w->arena, n * sizeof *w->due);
	w->times = arena_alloc(w->arena, n * sizeof *w->times);
	w->was_away = arena_alloc(w->arena, n * sizeof *w->was_away);
	for (size_t i = 0; i < n; i++) {
		make_node(w, i);
		w->was_away[i] = w->nodes[i].away;
	}
}

/* --- what must hold --- */

static bool is_gone(const struct world *w, size_t i)
{
	const enum rollout_place p = rollout_place_of(w->r, i);

	return p == NODE_OUT || p == NODE_FAILED || p == NODE_AWAY;
}

static const char *value_of(const struct world *w, size_t i, const char *kind)
{
	for (unsigned k = 0; k < w->nodes[i].n_domains; k++)
		if (strcmp(w->nodes[i].domains[k].kind, kind) == 0)
			return w->nodes[i].domains[k].value;
	return NULL;
}

static bool is_in(const struct world *w, size_t i, const char *kind, const char *value)
{
	for (unsigned k = 0; k < w->nodes[i].n_domains; k++)
		if (strcmp(w->nodes[i].domains[k].kind, kind) == 0 &&
			strcmp(w->nodes[i].domains[k].value, value) == 0)
			return true;
	return false;
}

/* Counts a domain afresh, for those that an admitted node is in. */
static void must_fit(const struct world *w, size_t node, const char *kind, struct amount most)
{
	for (unsigned k = 0; k < w->nodes[node].n_domains; k++) {
		const struct rollout_domain *d = &w->nodes[node].domains[k];
		unsigned all = 0, gone = 0;

		if (strcmp(d->kind, kind) != 0)
			continue;
		for (size_t i = 0; i < w->n; i++) {
			if (!is_in(w, i, kind, d->value))
				continue;
			all++;
			gone += is_gone(w, i);
		}
		if (gone > amount_of(most, all))
			fail_msg("%s %s: %u of %u gone", kind, d->value, gone, all);
	}
}

static void must_hold_for(const struct world *w, size_t node)
{
	const char *unit = w->policy.unit ? value_of(w, node, w->policy.unit) : NULL;

	for (unsigned b = 0; b < w->policy.n_budgets; b++)
		must_fit(w, node, w->policy.budgets[b].domain, w->policy.budgets[b].most);
	if (w->policy.pair)
		must_fit(w, node, w->policy.pair, (struct amount){1, false});
	for (size_t i = 0; i < w->n && unit; i++)
		if (is_in(w, i, w->policy.unit, unit))
			assert_int_equal(rollout_place_of(w->r, i), NODE_OUT);
	for (size_t i = 0; i < w->n; i++)
		if (rollout_stage_of(w->r, i) < rollout_stage_of(w->r, node) &&
			rollout_place_of(w->r, i) == NODE_OUT && !w->was_away[i])
			fail_msg("%s goes while %s of an earlier stage is out", w->nodes[node].name,
				w->nodes[i].name);
}

static void must_hold(const struct world *w)
{
	size_t gone = 0;

	for (size_t i = 0; i < w->n; i++)
		gone += is_gone(w, i);
	assert_int_equal(gone, rollout_count(w->r, NODE_OUT) + rollout_count(w->r, NODE_FAILED) +
				       rollout_count(w->r, NODE_AWAY));
}

/* --- the course of things --- */

static void let_go(struct world *w, const size_t *who, size_t n, bool thorough)
{
	size_t gone = 0;

	for (size_t i = 0; i < n; i++) {
		if (w->times[who[i]]++ > 0)
			fail_msg("%s was touched twice", w->nodes[who[i]].name);
		w->due[who[i]] = w->now + SEC * (int64_t)(60 + draw(w, 600));
		w->out++;
		if (thorough)
			must_hold_for(w, who[i]);
	}
	gone = rollout_count(w->r, NODE_OUT) + rollout_count(w->r, NODE_FAILED) +
	       rollout_count(w->r, NODE_AWAY);
	if (n > 0 && gone > amount_of(w->policy.max_unavailable, (unsigned)w->n))
		fail_msg("%zu are unavailable", gone);
}

static void settle(struct world *w, size_t i)
{
	static const char *const SIGNATURES[] = {"make error", "xid 79", "no boot", "fm"};
	const uint64_t luck = draw(w, 100);

	w->out--;
	if (luck < 94)
		rollout_settle(w->r, i, NODE_DONE, NULL, w->now);
	else
		rollout_settle(w->r, i, luck < 97 ? NODE_UNDONE : NODE_FAILED,
			SIGNATURES[draw(w, 4)], w->now);
}

/* The next time something happens by itself. */
static int64_t next_time(const struct world *w)
{
	int64_t at = rollout_next(w->r);

	for (size_t i = 0; i < w->n; i++)
		if (rollout_place_of(w->r, i) == NODE_OUT && w->due[i] < at)
			at = w->due[i];
	return at;
}

/* People drain and give back nodes in the middle of it. */
static void meddle(struct world *w)
{
	const size_t i = draw(w, w->n);

	if (draw(w, 10) != 0)
		return;
	w->was_away[i] = true;
	if (rollout_place_of(w->r, i) == NODE_WAITING)
		rollout_take(w->r, i, true);
	else if (rollout_place_of(w->r, i) == NODE_AWAY)
		rollout_take(w->r, i, false);
}

static void play(struct world *w, bool thorough)
{
	const size_t *who;
	int stuck = 0;

	while (!rollout_is_finished(w->r) && stuck < 3) {
		const size_t n = rollout_admit(w->r, w->now, w->now / SEC, 0, &who);
		int64_t at;

		let_go(w, who, n, thorough);
		if (thorough)
			must_hold(w);
		at = next_time(w);
		if (rollout_broken(w->r))
			rollout_reset_breaker(w->r); /* the person says: go on */
		stuck = n == 0 && w->out == 0 && at == INT64_MAX ? stuck + 1 : 0;
		if (at != INT64_MAX)
			w->now = at;
		for (size_t i = 0; i < w->n; i++)
			if (rollout_place_of(w->r, i) == NODE_OUT && w->due[i] <= w->now)
				settle(w, i);
		meddle(w);
	}
	/* whoever still waits is held by a limit that only a person can lift */
	for (size_t i = 0; i < w->n; i++) {
		struct buf words;
		enum rollout_limit limit;

		assert_int_not_equal(rollout_place_of(w->r, i), NODE_OUT);
		if (rollout_place_of(w->r, i) != NODE_WAITING)
			continue;
		buf_init(&words, 300);
		limit = rollout_held(w->r, i, &words);
		if (limit == LIMIT_NONE || limit == LIMIT_SOAK || limit == LIMIT_CONCURRENCY)
			fail_msg("%s waits for nothing: %s", w->nodes[i].name,
				ROLLOUT_LIMITS[limit]);
		buf_done(&words);
	}
}

static void end_world(struct world *w)
{
	rollout_free(w->r);
	arena_free(w->arena);
}

TEST(invariants_hold_for_every_seed)
{
	const char *text = getenv("STOIKA_SEEDS");
	const int seeds = text ? (int)strtol(text, NULL, 10) : 1000;
	int refused = 0;

	for (int seed = 1; seed <= seeds; seed++) {
		struct world w;
		struct err err;

		make_world(&w, (uint64_t)seed, 24 + (size_t)(seed % 60));
		if (rollout_new(&w.policy, w.nodes, w.n, NULL, &w.r, &err) < 0) {
			assert_int_equal(
				err.code, E_CONFLICT); /* a unit that no budget has room for */
			refused++;
			w.r = NULL;
		} else {
			play(&w, true);
		}
		end_world(&w);
	}
	assert_true(refused < seeds / 2);
}

TEST(ten_thousand_nodes)
{
	const clock_t started = clock();
	struct world w;
	struct err err;

	make_world(&w, 7, 10000);
	w.policy.pair = NULL;
	w.policy.unit = NULL;
	assert_int_equal(rollout_new(&w.policy, w.nodes, w.n, NULL, &w.r, &err), 0);
	play(&w, false);
	print_message("10,000 nodes: %.2f s of CPU, %zu done\n",
		(double)(clock() - started) / CLOCKS_PER_SEC, rollout_count(w.r, NODE_DONE));
	assert_true(rollout_count(w.r, NODE_DONE) > 0);
	end_world(&w);
}

TEST(ten_thousand_nodes_foretold)
{
	const clock_t started = clock();
	struct explanation told;
	struct world w;
	struct err err;

	make_world(&w, 7, 10000);
	w.policy.pair = NULL;
	w.policy.unit = NULL;
	assert_int_equal(rollout_new(&w.policy, w.nodes, w.n, NULL, &w.r, &err), 0);
	explain_make(w.arena, w.r, w.n, 1200 * SEC, 0, &told);
	print_message("10,000 nodes foretold: %.2f s of CPU, %zu turns\n",
		(double)(clock() - started) / CLOCKS_PER_SEC, told.turns.n);
	assert_true(told.who.n > 9000);
	explain_done(&told);
	end_world(&w);
}

T_MAIN
