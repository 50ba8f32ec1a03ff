/* drive_test - the ways of single nodes, one by one, against a world that does what it is told. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/drive.h"
#include "tests/unit/t.h"

#include <stdlib.h>
#include <string.h>

#define SEC   INT64_C(1000000000)
#define N_MAX 16

/* Words of what happened: "n1:preflight+" entered, "*" again, "n1:preflight-" given up, "|" a
 * commit. */
struct cluster {
	struct arena *arena;
	struct rollout_policy policy;
	struct rollout_node nodes[N_MAX];
	size_t n;
	struct rollout *r;
	struct drive *d;
	struct buf log;
	bool away[N_MAX];
	int fail_commits, moves;
	struct drive_move last;
	char why[300], signature[100];
	int64_t now;
	struct err err;
};

static int on_move(void *ctx, const struct drive_move *m, struct err *err)
{
	struct cluster *c = ctx;

	(void)err;
	c->moves++;
	c->last = *m;
	snprintf(c->why, sizeof c->why, "%s", m->word.why ? m->word.why : "");
	snprintf(c->signature, sizeof c->signature, "%s",
		m->word.signature ? m->word.signature : "");
	if (m->from != m->to)
		assert_int_equal(node_next(m->from, m->on), m->to);
	return 0;
}

static int on_commit(void *ctx, struct err *err)
{
	struct cluster *c = ctx;

	buf_add_text(&c->log, "|");
	return c->fail_commits ? err_set(err, E_NOSPACE, "the disk is full") : 0;
}

static void on_enter(void *ctx, size_t node, enum node_state state, unsigned tries, bool again)
{
	struct cluster *c = ctx;

	buf_addf(&c->log, " %s:%s+%s", c->nodes[node].name, NODE_STATES[state], again ? "*" : "");
	if (tries > 0)
		buf_addf(&c->log, "%u", tries);
}

static void on_leave(void *ctx, size_t node, enum node_state state)
{
	struct cluster *c = ctx;

	buf_addf(&c->log, " %s:%s-", c->nodes[node].name, NODE_STATES[state]);
}

static bool on_is_away(void *ctx, size_t node, char why[static 200])
{
	struct cluster *c = ctx;

	snprintf(why, 200, "drained by root: fan");
	return c->away[node];
}

#define CALM                                                                      \
	"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 100%\nbudgets: {}\n" \
	"failures: {most: 100%, same: 0}\nretry: 0\n"

/* All are in one, if the policy asks. */
static const struct rollout_domain DOMAIN[] = {{"nvl", "d1"}};

static void begin(struct cluster *c, const char *policy, size_t n)
{
	static const char *const NAMES[N_MAX] = {"n1", "n2", "n3", "n4", "n5", "n6"};
	const struct drive_world world = {c, on_move, on_commit, on_enter, on_leave, on_is_away};

	memset(c, 0, sizeof *c);
	c->arena = arena_new();
	c->now = 1000 * SEC;
	buf_init(&c->log, 1 << 20);
	if (rollout_policy_parse(c->arena, "p", str_of(policy), &c->policy, &c->err) < 0)
		fail_msg("%s", c->err.msg);
	c->n = n;
	for (size_t i = 0; i < n; i++)
		c->nodes[i] = (struct rollout_node){NAMES[i], DOMAIN, 1, false};
	assert_int_equal(rollout_new(&c->policy, c->nodes, n, NULL, &c->r, &c->err), 0);
	c->d = drive_new(&c->policy, c->r, n, &world);
}

/* The same policy and nodes, in another process. */
static void crash(struct cluster *c)
{
	const struct drive_world world = {c, on_move, on_commit, on_enter, on_leave, on_is_away};

	drive_free(c->d);
	rollout_free(c->r);
	assert_int_equal(rollout_new(&c->policy, c->nodes, c->n, NULL, &c->r, &c->err), 0);
	c->d = drive_new(&c->policy, c->r, c->n, &world);
}

static void end(struct cluster *c)
{
	drive_free(c->d);
	rollout_free(c->r);
	buf_done(&c->log);
	arena_free(c->arena);
}

static const char *turn(struct cluster *c)
{
	buf_clear(&c->log);
	if (drive_turn(c->d, c->now, c->now, &c->err) < 0)
		fail_msg("%s", c->err.msg);
	return buf_text(&c->log);
}

static void tell(struct cluster *c, size_t node, enum node_event on)
{
	assert_true(drive_tell(c->d, node, drive_state(c->d, node), on,
		&(struct drive_word){on == EVENT_FAILED ? "it broke" : NULL, NULL,
			on == EVENT_FAILED ? "broke" : NULL}));
}

static void go_to(struct cluster *c, size_t node, enum node_state state)
{
	turn(c);
	while (drive_state(c->d, node) != state) {
		tell(c, node, EVENT_OK);
		turn(c);
	}
}

static const char *waits(struct cluster *c, size_t node)
{
	static char text[400];
	AUTO_BUF words;

	buf_init(&words, sizeof text);
	drive_waits(c->d, node, &words);
	snprintf(text, sizeof text, "%s", buf_text(&words));
	return text;
}

TEST(a_node_goes_all_the_way)
{
	static const char *const SAYS[] = {"| n1:staged+", "| n1:cordoned+", "| n1:wait-jobs+",
		"| n1:drained+", "| n1:quiesced+", "| n1:installed+", "| n1:rebooting+",
		"| n1:services+", "| n1:verify+", "| n1:returned+"};
	struct cluster c;

	begin(&c, CALM, 1);
	assert_string_equal(turn(&c), "| n1:preflight+");
	for (size_t i = 0; i < sizeof SAYS / sizeof SAYS[0]; i++) {
		assert_false(drive_is_over(c.d));
		assert_string_equal(turn(&c), "");
		tell(&c, 0, EVENT_OK);
		assert_string_equal(turn(&c), SAYS[i]);
	}
	tell(&c, 0, EVENT_OK); /* nobody is watched: to the end in one commit */
	assert_string_equal(turn(&c), "| n1:done+");
	assert_int_equal(c.moves, 13);
	assert_true(drive_is_over(c.d));
	assert_true(drive_next(c.d) == INT64_MAX);
	end(&c);
}

TEST(what_is_no_way_is_refused)
{
	struct cluster c;

	begin(&c, CALM, 2);
	assert_false(drive_tell(c.d, 0, STATE_ELIGIBLE, EVENT_OK, NULL));
	turn(&c);
	assert_false(drive_tell(c.d, 0, STATE_PREFLIGHT, EVENT_ABORT, NULL));
	assert_false(drive_tell(c.d, 0, STATE_REBOOTING, EVENT_SKIP, NULL));
	assert_false(drive_tell(c.d, 0, STATE_SOAK, EVENT_SKIP, NULL));
	/* of a state that it is not in: late, or early, and passed over */
	assert_true(drive_tell(c.d, 0, STATE_VERIFY, EVENT_OK, NULL));
	assert_string_equal(turn(&c), "");
	assert_int_equal(drive_state(c.d, 0), STATE_PREFLIGHT);
	/* the first word counts */
	tell(&c, 0, EVENT_SKIP);
	tell(&c, 0, EVENT_FAILED);
	turn(&c);
	assert_int_equal(drive_state(c.d, 0), STATE_DONE);
	end(&c);
}

TEST(a_try_more_waits_and_is_kept)
{
	struct cluster c;

	begin(&c, "canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 1\nbudgets: {}\nretry: 1\n",
		1);
	turn(&c);
	tell(&c, 0, EVENT_FAILED);
	assert_string_equal(turn(&c), "|"); /* kept, and not begun yet */
	assert_true(c.last.from == c.last.to && c.last.tries == 1 && c.last.on == EVENT_FAILED);
	assert_string_equal(c.why, "it broke");
	assert_true(drive_next(c.d) == c.now + DRIVE_RETRY_WAIT);
	assert_string_equal(waits(&c, 0), "tries again in 10.0 s (1 of 1): it broke");
	/* nothing is under way, so nothing can be told */
	assert_true(drive_tell(c.d, 0, STATE_PREFLIGHT, EVENT_OK, NULL));
	assert_string_equal(turn(&c), "");
	c.now += DRIVE_RETRY_WAIT;
	assert_string_equal(turn(&c), " n1:preflight+1");
	tell(&c, 0, EVENT_FAILED);
	assert_string_equal(turn(&c), "| n1:rejected+");
	end(&c);
}

TEST(time_runs_out)
{
	struct cluster c;

	begin(&c, CALM "timeouts: {preflight: 5m}\n", 1);
	turn(&c);
	assert_true(drive_next(c.d) == c.now + 300 * SEC);
	drive_note(c.d, 0, STATE_PREFLIGHT, "apt's lock");
	assert_string_equal(waits(&c, 0), "apt's lock, at most 5 min 0 s more");
	c.now += 300 * SEC;
	assert_string_equal(turn(&c), "| n1:preflight- n1:rejected+");
	assert_string_equal(c.signature, "preflight timeout");
	end(&c);
}

TEST(failures_go_the_way_of_the_policy)
{
	static const struct {
		const char *policy, *says;
		enum node_state state;
		bool paused;
	} CASES[] = {
		{CALM "on_failure: rollback\n", "| n1:rollback+", STATE_ROLLBACK, false},
		{CALM "on_failure: quarantine\n", "| n1:quarantined+", STATE_QUARANTINED, false},
		{CALM "on_failure: stop\n", "| n1:quarantined+", STATE_QUARANTINED, true},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct cluster c;

		begin(&c, CASES[i].policy, 1);
		go_to(&c, 0, STATE_VERIFY);
		tell(&c, 0, EVENT_FAILED);
		assert_string_equal(turn(&c), CASES[i].says);
		assert_int_equal(drive_state(c.d, 0), CASES[i].state);
		assert_string_equal(c.signature, "broke");
		assert_int_equal(drive_paused(c.d) != NULL, CASES[i].paused);
		end(&c);
	}
}

TEST(a_failure_is_remembered_to_the_end)
{
	struct cluster c;

	begin(&c, CALM, 1);
	go_to(&c, 0, STATE_VERIFY);
	tell(&c, 0, EVENT_FAILED);
	turn(&c);
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:undone+");
	assert_string_equal(c.why, "the earlier set, proven; before: it broke");
	assert_string_equal(c.signature, "broke");
	end(&c);
}

TEST(one_that_does_not_come_back_stops_all)
{
	struct cluster c;

	begin(&c, CALM "reboot: {within: 10m}\n", 3);
	go_to(&c, 0, STATE_REBOOTING);
	go_to(&c, 1, STATE_STAGED);
	go_to(&c, 2, STATE_DRAINED);
	tell(&c, 0, EVENT_TIMEOUT);
	assert_string_equal(turn(&c), "| n1:unreachable+");
	assert_string_equal(drive_paused(c.d), "n1 did not come back");
	/* nobody passes into what cannot be turned back */
	tell(&c, 1, EVENT_OK);
	tell(&c, 2, EVENT_OK);
	assert_string_equal(turn(&c), "");
	assert_string_equal(waits(&c, 1), "ready; paused: n1 did not come back");
	assert_false(drive_is_over(c.d)); /* n3 is drained */
	drive_forgive(c.d);
	assert_string_equal(turn(&c), "| n2:cordoned+ n3:quiesced+");
	end(&c);
}

TEST(a_second_one_quarantined_alike_stops_all)
{
	struct cluster c;

	begin(&c, CALM "on_failure: quarantine\n", 3);
	go_to(&c, 0, STATE_VERIFY);
	go_to(&c, 1, STATE_VERIFY);
	tell(&c, 0, EVENT_FAILED);
	turn(&c);
	assert_null(drive_paused(c.d));
	tell(&c, 1, EVENT_FAILED);
	turn(&c);
	assert_string_equal(
		drive_paused(c.d), "n2 is not the first one quarantined for this: broke");
	end(&c);
}

TEST(abort_turns_back_who_can)
{
	struct cluster c;

	begin(&c,
		"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 4\nbudgets: {}\nretry: 0\n"
		"failures: {most: 9, same: 0}\n",
		5);
	go_to(&c, 0, STATE_STAGED);
	go_to(&c, 1, STATE_WAIT_JOBS);
	go_to(&c, 2, STATE_QUIESCED);
	assert_string_equal(waits(&c, 4), "max_unavailable: 4 away, 4 allowed");
	drive_ask(c.d, DRIVE_ABORT, "wrong branch");
	assert_string_equal(turn(&c),
		"| n1:staged- n1:aborted+ n2:wait-jobs- n2:released+ n4:preflight- n4:aborted+ "
		"n5:aborted+");
	assert_string_equal(c.why, "wrong branch");
	drive_ask(c.d, DRIVE_GO, NULL); /* for good */
	assert_false(drive_is_over(c.d));
	tell(&c, 2, EVENT_FAILED);
	turn(&c);
	tell(&c, 2, EVENT_OK);
	assert_string_equal(turn(&c), "| n3:undone+");
	assert_true(drive_is_over(c.d));
	end(&c);
}

TEST(pause_lets_nobody_pass_the_gate)
{
	struct cluster c;

	begin(&c, CALM, 2);
	go_to(&c, 1, STATE_DRAINED);
	drive_ask(c.d, DRIVE_PAUSE, "lunch");
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:staged+");
	tell(&c, 0, EVENT_OK);
	tell(&c, 1, EVENT_OK);
	assert_string_equal(turn(&c), "| n2:quiesced+"); /* who is out comes home */
	tell(&c, 1, EVENT_FAILED);
	turn(&c);
	assert_false(drive_is_over(c.d));
	tell(&c, 1, EVENT_OK);
	turn(&c);
	assert_true(drive_is_over(c.d));
	assert_string_equal(drive_paused(c.d), "lunch");
	drive_ask(c.d, DRIVE_GO, NULL);
	assert_false(drive_is_over(c.d));
	assert_string_equal(turn(&c), "| n1:cordoned+");
	end(&c);
}

TEST(who_is_away_is_left_and_told_so)
{
	struct cluster c;

	begin(&c, CALM, 2);
	c.away[1] = true;
	assert_string_equal(turn(&c), "| n1:preflight+");
	assert_string_equal(waits(&c, 1), "drained by root: fan");
	tell(&c, 0, EVENT_SKIP);
	assert_string_equal(turn(&c), "| n1:done+|");
	assert_true(drive_is_over(c.d));
	assert_true(c.last.node == 1 && c.last.to == STATE_ELIGIBLE);
	assert_string_equal(c.why, "drained by root: fan");
	c.away[1] = false; /* it goes whenever it comes back */
	assert_string_equal(turn(&c), "| n2:preflight+");
	assert_false(drive_is_over(c.d));
	end(&c);
}

TEST(a_watch_ends_with_a_second_check)
{
	struct cluster c;

	begin(&c, CALM "soak: {node: 10m}\n", 1);
	go_to(&c, 0, STATE_RETURNED);
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "|");
	assert_string_equal(waits(&c, 0), "watched for 10 min 0 s");
	assert_true(drive_next(c.d) == c.now + 600 * SEC);
	c.now += 600 * SEC;
	assert_string_equal(turn(&c), " n1:soak+");
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:done+");
	end(&c);
}

#define WATCHED                                                                          \
	"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 1\nbudgets: {}\nretry: 0\n" \
	"failures: {most: 9, same: 0}\nsoak: {node: 10m}\n"

/* The first is watched, the second out. */
static void watch_first(struct cluster *c)
{
	go_to(c, 0, STATE_SOAK);
	assert_int_equal(drive_state(c->d, 1), STATE_PREFLIGHT);
	c->now += 600 * SEC;
	drive_tell(c->d, 1, STATE_PREFLIGHT, EVENT_OK, NULL);
	turn(c);
	tell(c, 0, EVENT_FAILED);
	assert_string_equal(turn(c), "");
}

TEST(who_fails_under_watch_waits_for_room)
{
	struct cluster c;

	begin(&c, WATCHED "timeouts: {preflight: 1h}\n", 2);
	watch_first(&c);
	assert_string_equal(
		waits(&c, 0), "must be taken back, but max_unavailable: 1 away, 1 allowed");
	tell(&c, 1, EVENT_FAILED);
	turn(&c);
	turn(&c);
	assert_int_equal(drive_state(c.d, 1), STATE_REJECTED);
	assert_int_equal(drive_state(c.d, 0), STATE_ROLLBACK);
	assert_int_equal(rollout_place_of(c.r, 0), NODE_OUT);
	end(&c);
}

TEST(who_cannot_be_spared_is_quarantined)
{
	struct cluster c;

	begin(&c, WATCHED "timeouts: {preflight: 1h}\n", 2);
	watch_first(&c);
	go_to(&c, 1, STATE_REBOOTING);
	tell(&c, 1, EVENT_TIMEOUT); /* is out for good */
	turn(&c);
	turn(&c);
	assert_int_equal(drive_state(c.d, 0), STATE_QUARANTINED);
	assert_non_null(strstr(c.why, "it broke; must be taken back, but max_unavailable"));
	end(&c);
}

TEST(nothing_is_begun_that_is_not_kept)
{
	struct cluster c;

	begin(&c, CALM, 1);
	c.fail_commits = 1;
	assert_int_equal(drive_turn(c.d, c.now, c.now, &c.err), -E_NOSPACE);
	assert_string_equal(buf_text(&c.log), "|");
	c.fail_commits = 0;
	assert_int_equal(drive_turn(c.d, c.now, c.now, &c.err), -E_STATE);
	end(&c);
}

TEST(after_a_crash_actions_are_asked_after)
{
	struct cluster c;

	begin(&c, CALM, 4);
	crash(&c);
	drive_resume(c.d, 0, INT64_MIN);
	drive_place(c.d, 0, STATE_QUIESCED, 0, c.now - 9000 * SEC, NULL);
	drive_place(c.d, 1, STATE_UNREACHABLE, 0, c.now - 10 * SEC,
		&(struct drive_word){"gone", NULL, "reboot timeout"});
	drive_place(c.d, 2, STATE_PREFLIGHT, 1, c.now, NULL);
	assert_string_equal(
		turn(&c), " n1:quiesced+* n2:unreachable+* n3:preflight+*1"); /* n4 is held */
	assert_string_equal(drive_paused(c.d), "n2 did not come back");
	assert_true(drive_next(c.d) == c.now + DRIVE_AGAIN_WAIT); /* not over at once */
	assert_int_equal(drive_state(c.d, 3), STATE_ELIGIBLE);
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:installed+");
	end(&c);
}

TEST(what_was_forgiven_stays_so)
{
	struct cluster c;

	begin(&c, CALM, 2);
	crash(&c);
	drive_resume(c.d, 0, c.now - 5 * SEC);
	drive_place(c.d, 0, STATE_UNREACHABLE, 0, c.now - 10 * SEC, NULL);
	assert_string_equal(turn(&c), "| n1:unreachable+* n2:preflight+");
	assert_null(drive_paused(c.d));
	end(&c);
}

TEST(a_stage_is_watched_on_after_a_crash)
{
	struct cluster c;

	begin(&c,
		"canary: {count: 0}\nwaves: [1, 100%]\nsoak: 10m\nmax_unavailable: 100%\n"
		"budgets: {}\n",
		2);
	crash(&c);
	drive_place(c.d, 0, STATE_DONE, 0, c.now - 60 * SEC, NULL);
	assert_string_equal(turn(&c), " n1:done+*");
	assert_true(drive_next(c.d) == c.now + 540 * SEC);
	assert_string_equal(waits(&c, 1), "wave 1 is watched");
	c.now += 540 * SEC;
	assert_string_equal(turn(&c), "| n2:preflight+");
	end(&c);
}

TEST(held_for_good_is_told_and_over)
{
	struct cluster c;

	begin(&c,
		"canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 1\nbudgets: {}\nretry: 0\n"
		"failures: {most: 9, same: 0}\non_failure: quarantine\n",
		2);
	go_to(&c, 0, STATE_VERIFY);
	tell(&c, 0, EVENT_FAILED);
	turn(&c);
	assert_true(drive_is_over(c.d));
	assert_string_equal(c.why, "max_unavailable: 1 away, 1 allowed");
	end(&c);
}

TEST(nodes_of_others_are_waited_for_a_while)
{
	struct cluster c;

	begin(&c, "canary: {count: 0}\nwaves: [100%]\nmax_unavailable: 1\nbudgets: {}\n", 2);
	c.away[0] = true;
	assert_string_equal(turn(&c), "");
	assert_false(drive_is_over(c.d));
	assert_true(drive_next(c.d) == c.now + DRIVE_STUCK_WAIT);
	c.now += DRIVE_STUCK_WAIT;
	assert_string_equal(turn(&c), "|");
	assert_true(drive_is_over(c.d));
	assert_int_equal(c.moves, 2); /* both are told */
	end(&c);
}

TEST(the_window_is_woken_for)
{
	struct cluster c;

	begin(&c, CALM "window: {from: \"02:00\", to: \"04:00\"}\n", 1);
	assert_string_equal(turn(&c), ""); /* 1000 s after midnight */
	assert_string_equal(waits(&c, 0), "the window is closed");
	assert_true(drive_next(c.d) == 7200 * SEC);
	c.now = drive_next(c.d);
	assert_string_equal(turn(&c), "| n1:preflight+");
	end(&c);
}

TEST(a_unit_goes_through_its_barriers_together)
{
	struct cluster c;

	begin(&c, CALM "unit: nvl\n", 2);
	assert_string_equal(turn(&c), "| n1:preflight+ n2:preflight+");
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:staged+");
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "");
	assert_string_equal(waits(&c, 0), "waits for n2 of its unit");
	tell(&c, 1, EVENT_OK);
	turn(&c);
	tell(&c, 1, EVENT_OK);
	assert_string_equal(turn(&c), "| n1:cordoned+ n2:cordoned+");
	go_to(&c, 0, STATE_DRAINED);
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "");
	go_to(&c, 1, STATE_WAIT_JOBS);
	tell(&c, 1, EVENT_TIMEOUT); /* so the other keeps what it has as well */
	assert_string_equal(turn(&c), "| n2:released+| n1:released+");
	assert_string_equal(c.why, "n2 of its unit keeps what it had (released)");
	end(&c);
}

TEST(a_unit_is_taken_back_together)
{
	struct cluster c;

	begin(&c, CALM "unit: nvl\n", 2);
	for (int i = 0; i < 6; i++) { /* to quiesced */
		turn(&c);
		tell(&c, 0, EVENT_OK);
		tell(&c, 1, EVENT_OK);
	}
	go_to(&c, 0, STATE_VERIFY);
	tell(&c, 0, EVENT_OK);
	assert_int_equal(drive_state(c.d, 1), STATE_INSTALLED);
	tell(&c, 1, EVENT_FAILED);
	turn(&c);
	assert_int_equal(drive_state(c.d, 0), STATE_ROLLBACK);
	assert_int_equal(drive_state(c.d, 1), STATE_ROLLBACK);
	end(&c);
}

TEST(who_is_late_for_the_window_stands_ready)
{
	struct cluster c;

	begin(&c, CALM "window: {from: \"02:00\", to: \"04:00\"}\n", 1);
	c.now = 7200 * SEC;
	go_to(&c, 0, STATE_STAGED);
	c.now = 4 * 3600 * SEC;
	tell(&c, 0, EVENT_OK);
	assert_string_equal(turn(&c), "");
	assert_string_equal(waits(&c, 0), "ready; the window is closed");
	assert_false(drive_is_over(c.d));
	assert_true(drive_next(c.d) == 26 * 3600 * SEC);
	c.now = drive_next(c.d);
	assert_string_equal(turn(&c), "| n1:cordoned+");
	end(&c);
}

T_MAIN
