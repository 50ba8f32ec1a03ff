/*
 * world_test - whole rollouts over simulated nodes and a scripted scheduler: what is kept of them,
 * what nodes were told, what the scheduler was asked.
 */
#include "agent/base/arena.h"
#include "agent/base/err.h"
#include "tests/unit/rollout/controller.h"
#include "tests/unit/rollout/nodes.h"
#include "tests/unit/t.h"

TEST(all_goes_well)
{
	struct site s;

	site_make(&s, t_dir(), "well", 3, NULL);
	nodes_put(s.dir, "n2", "does", "reboots");
	nodes_put(s.dir, "n3", "set", "B\n");
	nodes_put(s.dir, "n1", "jobs", "3\n");
	assert_int_equal(site_drive(&s), 0);
	assert_int_equal(s.out.states[STATE_DONE], 3);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "services verify returned soak done");
	assert_string_equal(
		site_way(&s, "n2"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(site_way(&s, "n3"), "preflight done");
	assert_string_equal(nodes_get(s.dir, "n1", "set"), "B");
	assert_string_equal(nodes_get(s.dir, "n2", "boot"), "1");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_int_equal(nodes_count(s.dir, "n2", "apply"), 1);
	assert_int_equal(nodes_count(s.dir, "n3", "apply"), 0);
	assert_string_equal(site_run_state(&s), "done");
	site_drop(&s);
}

TEST(a_failed_apply_is_taken_back)
{
	struct site s;
	struct rollout_node_row row;

	site_make(&s, t_dir(), "fails", 2, NULL);
	nodes_put(s.dir, "n1", "does", "apply-fails");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"),
		"preflight staged cordoned wait-jobs drained quiesced rollback undone");
	row = site_row(&s, "n1");
	assert_non_null(strstr(row.reason, "it went wrong"));
	assert_string_equal(row.signature, "apply w 1  step failed");
	assert_string_equal(nodes_get(s.dir, "n1", "set"), "A");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_string_equal(site_row(&s, "n2").state, "done");
	assert_string_equal(site_run_state(&s), "failed");
	site_drop(&s);
}

TEST(what_cannot_be_taken_back_is_kept)
{
	struct site s;
	struct evidence_rows files = VEC_INIT;
	struct err err = {0};
	bool log = false, facts = false;

	site_make(&s, t_dir(), "kept", 2, NULL);
	nodes_put(s.dir, "n1", "does", "check-fails undo-fails");
	nodes_put(s.dir, "n2", "does", "check-fails loses-gpu");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "services verify rollback quarantined");
	assert_string_equal(site_way(&s, "n2"), WAY_THERE "services verify rollback quarantined");
	assert_non_null(strstr(site_row(&s, "n2").reason, "GPU 'GPU-1' is gone"));
	assert_non_null(strstr(nodes_get(s.dir, "n1", "fence"), "quarantined"));
	assert_int_equal(
		store_evidence(s.store, s.arena, s.out.id, s.refs.at[0]->id, &files, &err), 0);
	vec_each(&files, const struct evidence_row, f) {
		log = log || strcmp(f->name, "kernel.log") == 0;
		facts = facts || strcmp(f->name, "facts-before.json") == 0;
	}
	assert_true(log && facts);
	vec_done(&files);
	site_drop(&s);
}

TEST(a_node_of_somebody_else_stays_so)
{
	struct site s;

	site_make(&s, t_dir(), "foreign", 2, NULL);
	nodes_put(s.dir, "n1", "fence", "closed somebody disk is broken\n");
	nodes_put(s.dir, "n2", "does", "held");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n1").state, "eligible");
	assert_non_null(strstr(site_row(&s, "n1").reason, "disk is broken"));
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "closed somebody disk is broken");
	assert_string_equal(nodes_get(s.dir, "n1", "log"), "");
	assert_string_equal(
		site_way(&s, "n2"), "preflight staged cordoned wait-jobs drained released");
	assert_non_null(strstr(site_row(&s, "n2").reason, "process 4711 'python3'"));
	assert_string_equal(nodes_get(s.dir, "n2", "fence"), "");
	assert_int_equal(nodes_count(s.dir, "n2", "apply"), 0);
	assert_string_equal(site_run_state(&s), "failed");
	site_drop(&s);
}

TEST(long_words_are_not_cut_in_a_letter)
{
	struct site s;
	AUTO_BUF fence = {0};

	buf_init(&fence, 4096);
	buf_add_text(&fence, "closed somebody a");
	for (int i = 0; i < 200; i++)
		buf_add_text(&fence, "\xE2\x82\xAC");
	buf_add_char(&fence, '\n');
	site_make(&s, t_dir(), "letters", 1, NULL);
	nodes_put(s.dir, "n1", "fence", buf_text(&fence));
	assert_int_equal(site_drive(&s), 0);
	assert_non_null(strstr(site_row(&s, "n1").reason, "\xE2\x82\xAC"));
	assert_true(str_is_utf8(str_of(site_row(&s, "n1").reason)));
	site_drop(&s);
}

static void ask(struct site *s, const char *wish)
{
	struct err err = {0};
	const bool own = store_begin(s->store, &err) == 0; /* the driver's group may be open */

	assert_int_equal(store_rollout_ask(s->store, s->out.id, wish, "ann", &err), 0);
	if (own)
		assert_int_equal(store_commit(s->store, &err), 0);
}

/* A person's wish, while the first waits for a job. */
static void ask_when_waiting(void *ctx, const struct drive *d)
{
	struct site *s = ctx;

	if (!s->wish || drive_state(d, 0) != STATE_WAIT_JOBS)
		return;
	ask(s, s->wish);
	s->wish = NULL;
}

TEST(an_abort_turns_back_who_can)
{
	struct site s;

	site_make(&s, t_dir(), "abort", 2, "max_unavailable: 1");
	nodes_put(s.dir, "n1", "jobs", "100000\n");
	s.opts.ctx = &s;
	s.opts.turn = ask_when_waiting;
	s.wish = "abort";
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), "preflight staged cordoned wait-jobs released");
	assert_string_equal(site_row(&s, "n2").state, "aborted");
	assert_non_null(strstr(site_row(&s, "n2").reason, "aborted by ann"));
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_string_equal(site_run_state(&s), "cancelled");
	assert_true(s.out.aborted);
	site_drop(&s);
}

TEST(a_paused_one_is_gone_on_with)
{
	struct site s;
	char id[64];

	site_make(&s, t_dir(), "pause", 2, "max_unavailable: 1");
	nodes_put(s.dir, "n1", "jobs", "40\n");
	s.opts.ctx = &s;
	s.opts.turn = ask_when_waiting;
	s.wish = "pause";
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n1").state, "done");
	assert_string_equal(site_row(&s, "n2").state, "eligible");
	assert_string_equal(s.out.paused, "paused by ann");
	assert_string_equal(site_run_state(&s), "interrupted");
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n2").state, "done");
	assert_int_equal(nodes_count(s.dir, "n1", "plan"), 1);
	assert_string_equal(site_run_state(&s), "done");
	site_drop(&s);
}

/* Asked for, and the driver died before it heard. */
TEST(an_abort_is_heard_before_anybody_goes)
{
	struct site s;
	char id[64];

	site_make(&s, t_dir(), "unheard", 2, "max_unavailable: 1");
	nodes_put(s.dir, "n1", "jobs", "40\n");
	s.opts.ctx = &s;
	s.opts.turn = ask_when_waiting;
	s.wish = "pause";
	assert_int_equal(site_drive(&s), 0);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	ask(&s, "abort");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n2"), "aborted");
	assert_int_equal(nodes_count(s.dir, "n2", "plan"), 0);
	assert_string_equal(site_run_state(&s), "cancelled");
	site_drop(&s);
}

TEST(what_broke_is_forgiven_by_a_person)
{
	struct site s;
	char id[64];

	site_make(&s, t_dir(), "breaks", 3, "{max_unavailable: 1, failures: {most: 0, same: 1}}");
	nodes_put(s.dir, "n1", "does", "apply-fails");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n1").state, "undone");
	assert_string_equal(site_row(&s, "n2").state, "eligible");
	assert_true(s.out.paused[0]);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n2").state, "eligible");
	s.opts.forgive = true;
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_row(&s, "n2").state, "done");
	assert_string_equal(site_row(&s, "n3").state, "done");
	assert_string_equal(site_run_state(&s), "failed");
	site_drop(&s);
}

TEST(one_that_does_not_come_back_is_kept)
{
	struct site s;

	site_make(&s, t_dir(), "gone", 2, "{max_unavailable: 1, reboot: {within: 1s}}");
	nodes_put(s.dir, "n1", "does", "reboots stays-down");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "rebooting unreachable");
	assert_non_null(strstr(nodes_get(s.dir, "n1", "fence"), "closed"));
	assert_string_equal(site_row(&s, "n2").state, "eligible");
	assert_true(s.out.paused[0]);
	site_drop(&s);
}

TEST(one_that_never_goes_down_is_told_so_and_not_cycled)
{
	struct site s;
	struct err err = {0};

	site_make(&s, t_dir(), "up", 1, NULL);
	assert_int_equal(
		rollout_policy_change(s.arena, "flags",
			str_of(arena_printf(s.arena,
				"reboot: {within: 2s, power_cycle: [/bin/sh, -c, 'echo on >> "
				"%s/$0.cycles']}",
				s.dir)),
			&s.order.policy, &err),
		0);
	nodes_put(s.dir, "n1", "does", "reboots stays-up");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "rebooting unreachable");
	assert_non_null(strstr(site_row(&s, "n1").reason, "has not gone down for its restart"));
	assert_string_equal(nodes_get(s.dir, "n1", "cycles"), "");
	site_drop(&s);
}

TEST(the_power_is_cycled_once)
{
	struct site s;
	struct evidence_rows files = VEC_INIT;
	struct err err = {0};
	bool told = false;

	site_make(&s, t_dir(), "cycled", 2, NULL);
	assert_int_equal(
		rollout_policy_change(s.arena, "flags",
			str_of(arena_printf(s.arena,
				"reboot: {within: 2s, power_cycle: [/bin/sh, -c, 'echo on >> "
				"%s/$0.cycles; rm %s/$0.gone']}",
				s.dir, s.dir)),
			&s.order.policy, &err),
		0);
	nodes_put(s.dir, "n1", "does", "reboots stays-down");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(
		site_way(&s, "n1"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(nodes_get(s.dir, "n1", "cycles"), "on");
	assert_string_equal(nodes_get(s.dir, "n2", "cycles"), "");
	assert_int_equal(
		store_evidence(s.store, s.arena, s.out.id, s.refs.at[0]->id, &files, &err), 0);
	vec_each(&files, const struct evidence_row, f)
		told = told || strcmp(f->name, "power-cycle.txt") == 0;
	assert_true(told);
	vec_done(&files);
	site_drop(&s);
}

TEST(the_scheduler_restarts_who_asks)
{
	struct site s;

	site_make(&s, t_dir(), "by-fence", 2, "reboot: {by: fence, within: 10s}");
	nodes_put(s.dir, "n1", "does", "reboots");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(
		site_way(&s, "n1"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(site_way(&s, "n2"), WAY_THERE "services verify returned soak done");
	assert_string_equal(nodes_get(s.dir, "n1", "boot"), "1");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	site_drop(&s);
}

TEST(who_cannot_be_reached_is_left_alone)
{
	struct site s;

	site_make(&s, t_dir(), "silent", 2, "failures: {most: 0, same: 1}");
	nodes_put(s.dir, "n1", "does", "silent");
	nodes_put(s.dir, "n2", "does", "no-stage");
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), "preflight rejected");
	assert_string_equal(site_way(&s, "n2"), "preflight staged rejected");
	assert_int_equal(s.out.unreached, 1);
	assert_string_equal(s.out.paused, "");
	assert_string_equal(site_run_state(&s), "failed");
	assert_string_equal(nodes_get(s.dir, "n2", "fence"), "");
	site_drop(&s);
}

T_MAIN
