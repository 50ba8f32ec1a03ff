/*
 * drive_sim_test - whole rollouts by the real drive in virtual time, with faults by seed.
 *
 * The world here is scripted: what it was told to keep is kept at a commit and not before; actions
 * of nodes go on while no controller lives; the controller is killed at commits, between a commit
 * and what follows from it, and between turns, and goes on from the kept rows alone. People drain
 * nodes and give them back, pause, abort and forgive. What must hold is asked at each move, each
 * begin and each turn. STOIKA_SEEDS changes the number of seeds (1,000 at first), STOIKA_SEED plays
 * one alone.
 */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/drive.h"
#include "tests/unit/rollout/sim.h"
#include "tests/unit/t.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- what must hold --- */

/* Not there for anybody's work, by what was handed over and who has it. */
static bool is_gone(const struct sim *w, size_t i)
{
	const enum node_state s = w->nodes[i].handed.state;

	if (s == STATE_QUARANTINED || s == STATE_UNREACHABLE)
		return true;
	if (s == STATE_ELIGIBLE || s == STATE_SOAK || node_is_terminal(s))
		return w->nodes[i].fence == SIM_FOREIGN;
	return true;
}

static bool is_in(const struct sim *w, size_t i, const char *kind, const char *value)
{
	const struct rollout_node *node = &w->site[i];

	for (unsigned k = 0; k < node->n_domains; k++)
		if (strcmp(node->domains[k].kind, kind) == 0 &&
			strcmp(node->domains[k].value, value) == 0)
			return true;
	return false;
}

static void must_fit(const struct sim *w, size_t node, const char *kind, struct amount most)
{
	for (unsigned k = 0; k < w->site[node].n_domains; k++) {
		const struct rollout_domain *d = &w->site[node].domains[k];
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
			fail_msg("seed %u: %s %s: %u of %u gone as %s goes", w->seed, kind,
				d->value, gone, all, w->site[node].name);
	}
}

static bool is_out(const struct sim *w, size_t i)
{
	const enum node_state s = w->nodes[i].handed.state;

	return s != STATE_ELIGIBLE && s != STATE_SOAK && !node_is_terminal(s);
}

/* Whoever is out may take its worst step at any moment. */
static void must_be_carried(const struct sim *w, size_t node)
{
	unsigned sum = 0;

	for (size_t i = 0; i < w->n; i++)
		if (sim_circuit(i) == sim_circuit(node) && is_out(w, i))
			sum += sim_weight(i);
	if (sum > SIM_CIRCUIT)
		fail_msg("seed %u: circuit %zu carries %u as %s goes", w->seed, sim_circuit(node),
			sum, w->site[node].name);
}

/* Asked as a node goes out, once it is counted. */
static void must_be_allowed(const struct sim *w, size_t node)
{
	size_t gone = 0;

	for (size_t i = 0; i < w->n && w->thorough; i++)
		gone += is_gone(w, i);
	if (gone > amount_of(w->policy.max_unavailable, (unsigned)w->n))
		fail_msg("seed %u: %zu are unavailable as %s goes", w->seed, gone,
			w->site[node].name);
	for (unsigned b = 0; b < w->policy.n_budgets && w->thorough; b++)
		must_fit(w, node, w->policy.budgets[b].domain, w->policy.budgets[b].most);
	if (w->thorough)
		must_be_carried(w, node);
	if (w->policy.pair && w->thorough)
		must_fit(w, node, w->policy.pair, (struct amount){1, false});
}

/* A unit goes as one: whoever has one of its values went with it. */
static void must_be_whole(const struct sim *w)
{
	for (size_t i = 0; i < w->n && w->policy.unit; i++) {
		for (size_t k = 0; k < i; k++) {
			const char *value = sim_value(w, i, w->policy.unit);

			if (value && is_in(w, k, w->policy.unit, value) &&
				(w->nodes[i].touched == 0) != (w->nodes[k].touched == 0))
				fail_msg("seed %u: %s without %s", w->seed, w->site[i].name,
					w->site[k].name);
		}
	}
}

static void must_be_new(struct sim *w, const struct drive_move *m)
{
	struct sim_node *n = &w->nodes[m->node];

	if (m->from == STATE_ELIGIBLE && m->on == EVENT_OK) {
		if (n->touched++ > 0)
			fail_msg("seed %u: %s is touched twice", w->seed, w->site[m->node].name);
		if (n->fence == SIM_FOREIGN)
			fail_msg("seed %u: %s goes though it is away", w->seed,
				w->site[m->node].name);
		if (w->asked != DRIVE_GO)
			fail_msg("seed %u: %s goes though nobody may", w->seed,
				w->site[m->node].name);
	}
	if (m->from == STATE_STAGED && (m->on == EVENT_OK || m->on == EVENT_SKIP) &&
		(w->asked == DRIVE_PAUSE || (w->asked == DRIVE_GO && rollout_broken(w->r)) ||
			rollout_window(w->r, w->now / SIM_SEC) > w->now / SIM_SEC))
		fail_msg("seed %u: %s passes the gate though it is closed", w->seed,
			w->site[m->node].name);
	if (node_is_terminal(m->to) && n->settled++ > 0)
		fail_msg("seed %u: %s ends twice", w->seed, w->site[m->node].name);
}

/* --- the world of the drive --- */

static int on_move(void *ctx, const struct drive_move *m, struct err *err)
{
	struct sim *w = ctx;
	struct sim_node *n = &w->nodes[m->node];

	(void)err;
	assert_int_equal(n->handed.state, m->from);
	assert_true(m->word.why && *m->word.why);
	if (m->from != m->to) {
		if (node_next(m->from, m->on) != m->to)
			fail_msg("seed %u: %s to %s by %s", w->seed, NODE_STATES[m->from],
				NODE_STATES[m->to], NODE_EVENTS[m->on]);
		assert_int_equal(m->tries, 0);
	} else if (m->to != STATE_ELIGIBLE) {
		assert_int_equal(m->tries, n->handed.tries + 1);
		assert_true(m->tries <= w->policy.retry);
	}
	sim_hand_over(w, m);
	if (m->from != m->to)
		must_be_new(w, m);
	if ((m->from == STATE_ELIGIBLE && m->on == EVENT_OK) ||
		(m->to == STATE_ROLLBACK && m->from == STATE_SOAK &&
			w->policy.on_failure == ON_FAILURE_ROLLBACK))
		must_be_allowed(w, m->node);
	w->moves++;
	return 0;
}

static int on_commit(void *ctx, struct err *err)
{
	struct sim *w = ctx;
	const uint64_t luck = w->kills ? sim_draw(w, 60) : 2;

	w->commits++;
	if (luck == 0) { /* killed before it */
		sim_forget(w);
		w->dead = w->refused = true;
		return err_set(err, E_CANCELLED, "killed");
	}
	sim_keep(w);
	if (luck == 1) { /* after it, before anything is begun */
		w->dead = w->refused = true;
		return err_set(err, E_CANCELLED, "killed");
	}
	return 0;
}

static void on_enter(void *ctx, size_t node, enum node_state state, unsigned tries, bool again)
{
	struct sim *w = ctx;
	struct sim_node *n = &w->nodes[node];

	if (w->refused)
		fail_msg("seed %u: %s begins %s after a commit that failed", w->seed,
			w->site[node].name, NODE_STATES[state]);
	if (w->dead)
		return;
	w->begins++;
	if (w->kills && sim_draw(w, 400) == 0) {
		w->dead = true;
		return;
	}
	if (n->kept.state != state || n->kept.tries != tries)
		fail_msg("seed %u: %s begins %s that is not kept", w->seed, w->site[node].name,
			NODE_STATES[state]);
	if (n->begun[state] > tries && !again)
		fail_msg("seed %u: %s begins %s a second time", w->seed, w->site[node].name,
			NODE_STATES[state]);
	if (n->begun[state] < tries + 1)
		n->begun[state] = tries + 1;
	sim_enter(w, node, state, tries, again);
}

static void on_leave(void *ctx, size_t node, enum node_state state)
{
	struct sim *w = ctx;

	if (!w->dead)
		sim_leave(w, node, state);
}

static bool on_is_away(void *ctx, size_t node, char why[static 200])
{
	const struct sim *w = ctx;

	if (w->nodes[node].fence != SIM_FOREIGN)
		return false;
	snprintf(why, 200, "drained by another");
	return true;
}

static const struct drive_world WORLD = {NULL, on_move, on_commit, on_enter, on_leave, on_is_away};

/* --- a controller's life --- */

static bool start(struct sim *w)
{
	const struct rollout_power power = sim_power();
	struct drive_world world = WORLD;
	struct err err;

	world.ctx = w;
	w->dead = w->refused = false;
	if (rollout_new(&w->policy, w->site, w->n, &power, &w->r, &err) < 0) {
		assert_int_equal(err.code, E_CONFLICT); /* a unit that no budget has room for */
		w->r = NULL;
		return false;
	}
	w->drive = drive_new(&w->policy, w->r, w->n, &world);
	drive_resume(w->drive, sim_draw(w, 2) ? w->stage : 0, w->forgiven);
	for (size_t i = 0; i < w->n; i++) {
		const struct sim_row *row = &w->nodes[i].kept;
		const struct drive_word word = {row->why, NULL, row->signature};

		if (row->state != STATE_ELIGIBLE)
			drive_place(w->drive, i, row->state, row->tries, row->since, &word);
	}
	if (w->asked != DRIVE_GO)
		drive_ask(w->drive, w->asked, "a person");
	return true;
}

static void stop(struct sim *w)
{
	drive_free(w->drive);
	rollout_free(w->r);
	w->drive = NULL;
	w->r = NULL;
	sim_forget(w);
}

/* Killed: the nodes go on, and somebody starts another controller sooner or later. */
static void restart(struct sim *w)
{
	stop(w);
	w->crashes++;
	w->now += SIM_SEC * (int64_t)sim_draw(w, sim_draw(w, 4) ? 60 : 7200);
	assert_true(start(w));
}

/* --- people --- */

static void meddle(struct sim *w)
{
	struct sim_node *n = &w->nodes[sim_draw(w, w->n)];

	if (sim_draw(w, 8) == 0)
		sim_drain(w, n);
	if (w->asked == DRIVE_GO && sim_draw(w, 300) == 0)
		w->asked = DRIVE_PAUSE;
	else if (w->asked == DRIVE_PAUSE && sim_draw(w, 10) == 0)
		w->asked = DRIVE_GO;
	else if (sim_draw(w, 4000) == 0)
		w->asked = DRIVE_ABORT;
	else
		return;
	drive_ask(w->drive, w->asked, "a person");
}

/* Somebody looks, sooner or later. */
static void look_at_pause(struct sim *w)
{
	if (!drive_paused(w->drive))
		return;
	if (w->asked == DRIVE_PAUSE) {
		w->asked = DRIVE_GO;
	} else {
		w->forgiven = w->now;
		drive_forgive(w->drive);
		assert_null(rollout_broken(w->r));
	}
	if (sim_draw(w, 30) == 0)
		w->asked = DRIVE_ABORT;
	drive_ask(w->drive, w->asked, "a person");
}

/* --- the course of things --- */

static void must_move_on(struct sim *w)
{
	const int64_t next = drive_next(w->drive), event = sim_next(w);

	if (next <= w->now)
		fail_msg("seed %u: a turn leaves something to be done at once", w->seed);
	if (next == INT64_MAX && event == INT64_MAX && !drive_is_over(w->drive) &&
		!drive_paused(w->drive))
		fail_msg("seed %u: nothing will ever happen", w->seed);
}

/* Between now and the next time there is nothing to do: drive_next is exact. */
static void must_sleep(struct sim *w, int64_t next)
{
	const size_t moves = w->moves, begins = w->begins;
	struct err err = {0};

	if (next == INT64_MAX || sim_draw(w, 10) != 0)
		return;
	w->now += (int64_t)sim_draw(w, (uint64_t)(next - w->now));
	assert_int_equal(drive_turn(w->drive, w->now, w->now, &err), 0);
	if (w->moves != moves || w->begins != begins)
		fail_msg("seed %u: a turn before its time does something", w->seed);
	if (drive_next(w->drive) < next && drive_next(w->drive) <= w->now)
		fail_msg("seed %u: the next time comes too soon", w->seed);
}

/* False: it is over. */
static bool one_turn(struct sim *w)
{
	struct err err = {0};
	const int rc = drive_turn(w->drive, w->now, w->now, &err);
	int64_t next;

	w->turns++;
	if (w->dead) {
		restart(w);
		return true;
	}
	if (rc < 0)
		fail_msg("seed %u: %s", w->seed, err.msg);
	w->stage = drive_stage(w->drive);
	must_be_whole(w);
	must_move_on(w);
	if (drive_is_over(w->drive) && !drive_paused(w->drive))
		return false;
	next = drive_next(w->drive) < sim_next(w) ? drive_next(w->drive) : sim_next(w);
	if (next == INT64_MAX || sim_draw(w, 50) == 0)
		look_at_pause(w);
	if (drive_next(w->drive) >= next && next > w->now && w->people)
		must_sleep(w, next);
	if (next == INT64_MAX)
		w->now += SIM_SEC;
	else if (next > w->now) /* nodes went on while nobody looked */
		w->now = next;
	sim_happen(w);
	if (w->people)
		meddle(w);
	if (w->kills && sim_draw(w, 500) == 0)
		restart(w);
	return true;
}

static void must_be_fenced(const struct sim *w, size_t i, bool right)
{
	static const char *const WORDS[] = {"open", "ours", "foreign"};

	if (!right)
		fail_msg("seed %u: %s ends in %s, and its fence is %s", w->seed, w->site[i].name,
			NODE_STATES[w->nodes[i].kept.state], WORDS[w->nodes[i].fence]);
}

/* Of a unit nobody is at work with the new set while another is with the old one. */
static void must_match(const struct sim *w, size_t i)
{
	const enum node_state s = w->nodes[i].kept.state;
	const size_t *who;
	const size_t n = rollout_unit(w->r, i, &who);

	if (s != STATE_DONE || w->nodes[i].begun[STATE_QUIESCED] == 0)
		return;
	for (size_t k = 0; k < n; k++) {
		const enum node_state other = w->nodes[who[k]].kept.state;

		if (other == STATE_REJECTED || other == STATE_RELEASED || other == STATE_ABORTED ||
			other == STATE_UNDONE)
			fail_msg("seed %u: %s is done, %s of its unit %s", w->seed, w->site[i].name,
				w->site[who[k]].name, NODE_STATES[other]);
	}
}

static void must_have_ended(const struct sim *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct sim_node *n = &w->nodes[i];
		const enum node_state s = n->kept.state;

		if (s == STATE_ELIGIBLE) {
			assert_true(w->asked != DRIVE_ABORT);
			assert_true(n->kept.why && *n->kept.why); /* why it was left out */
			continue;
		}
		if (!node_is_terminal(s))
			fail_msg(
				"seed %u: %s ends in %s", w->seed, w->site[i].name, NODE_STATES[s]);
		assert_int_equal(n->settled, 1);
		must_match(w, i);
		assert_int_equal(rollout_place_of(w->r, i) == NODE_FAILED,
			s == STATE_QUARANTINED || s == STATE_UNREACHABLE);
		if (s == STATE_DONE || s == STATE_UNDONE || s == STATE_RELEASED ||
			s == STATE_ABORTED || s == STATE_REJECTED)
			must_be_fenced(w, i, n->fence != SIM_OURS);
		else if (!n->freed)
			must_be_fenced(w, i, n->fence != SIM_OPEN);
	}
}

static bool play(struct sim *w)
{
	if (!start(w))
		return false;
	for (unsigned i = 0; one_turn(w); i++)
		if (i > 200000)
			fail_msg("seed %u: it does not end", w->seed);
	must_have_ended(w);
	return true;
}

TEST(invariants_hold_for_every_seed)
{
	const char *text = getenv("STOIKA_SEEDS"), *one = getenv("STOIKA_SEED");
	const unsigned seeds = text ? (unsigned)strtoul(text, NULL, 10) : 1000;
	const unsigned first = one ? (unsigned)strtoul(one, NULL, 10) : 1;
	const clock_t started = clock();
	size_t crashes = 0, turns = 0, moves = 0, ends[STATE_N] = {0};
	unsigned refused = 0;

	for (unsigned seed = first; seed < first + (one ? 1 : seeds); seed++) {
		struct sim w;

		sim_new(&w, seed, 12 + seed % 40);
		w.thorough = w.people = w.kills = true;
		refused += !play(&w);
		crashes += w.crashes;
		turns += w.turns;
		moves += w.moves;
		for (size_t i = 0; i < w.n; i++)
			ends[w.nodes[i].kept.state]++;
		stop(&w);
		sim_done(&w);
	}
	print_message("%zu turns, %zu moves, %zu crashes, %u refused, %.2f s of CPU\n", turns,
		moves, crashes, refused, (double)(clock() - started) / CLOCKS_PER_SEC);
	for (unsigned s = 0; s < STATE_N; s++)
		if (ends[s] > 0)
			print_message("  %zu %s\n", ends[s], NODE_STATES[s]);
	for (unsigned s = 0; s < STATE_N && seeds >= 1000 && !one; s++)
		if (node_is_terminal((enum node_state)s) && ends[s] == 0)
			fail_msg("no node ever ends in %s", NODE_STATES[s]);
	assert_true(one || refused < seeds / 10);
}

/* A few racks have so many away that the rest of them may not go. */
static void must_be_nearly_all(const struct sim *w)
{
	const size_t done = rollout_count(w->r, NODE_DONE);
	const size_t away = rollout_count(w->r, NODE_AWAY);
	const size_t waiting = rollout_count(w->r, NODE_WAITING);

	assert_int_equal(done + away + waiting, w->n);
	assert_true(away > 0 && away < w->n / 15);
	assert_true(waiting < w->n / 500);
}

TEST(ten_thousand_nodes)
{
	const clock_t started = clock();
	struct sim w;

	sim_new(&w, 7, 10000);
	rollout_policy_preset(&w.policy);
	w.policy.failures = (struct amount){100, true};
	w.policy.same_failure = 0;
	w.policy.budgets[0].most.n = 4;
	w.faults = false;
	w.step = 5 * SIM_SEC;
	assert_true(play(&w));
	print_message("10,000 nodes: %.2f s of CPU, %zu turns, %zu commits, %zu moves\n",
		(double)(clock() - started) / CLOCKS_PER_SEC, w.turns, w.commits, w.moves);
	must_be_nearly_all(&w);
	stop(&w);
	sim_done(&w);
}

/* Nothing is to be changed anywhere: what is done again after an upgrade. */
TEST(ten_thousand_nodes_unchanged)
{
	const clock_t started = clock();
	struct sim w;

	sim_new(&w, 8, 10000);
	rollout_policy_preset(&w.policy);
	w.policy.budgets[0].most.n = 4;
	w.faults = false;
	w.unchanged = true;
	w.step = SIM_SEC;
	assert_true(play(&w));
	print_message("10,000 unchanged: %.2f s of CPU, %zu turns, %zu commits\n",
		(double)(clock() - started) / CLOCKS_PER_SEC, w.turns, w.commits);
	must_be_nearly_all(&w);
	stop(&w);
	sim_done(&w);
}

T_MAIN
