/* slurm_test - what scontrol prints, read; and the loop of wants and looks with real processes. */
#include "controller/fence/fence_priv.h"
#include "tests/unit/fence/play.h"

#include <string.h>

#define LINE(state, rest) "NodeName=n1 OS=Linux 6.1 #1 SMP  State=" state " Weight=1" rest "\n"
#define SIGN              " [root@2026-11-30T22:22:21]"

static const char OPEN_NODES[] = "n1|IDLE|||\nn2|IDLE|||\nn3|IDLE|||\n";

TEST(states_are_read_with_all_their_flags)
{
	static const struct {
		const char *text;
		enum fence_state state;
		bool ours, foreign, rebooting, rebooted;
		const char *reason, *by;
	} all[] = {
		{LINE("IDLE", ""), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("MIXED", ""), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("ALLOCATED+CLOUD+PLANNED", ""), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("IDLE+MAINTENANCE+RESERVED", ""), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("IDLE+SOMETHING_OF_2030", ""), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("IDLE+DRAIN", " Reason=disk sda dying [anna@2026-11-30T22:22:21]"),
			FENCE_CLOSED, 0, 1, 0, 0, "disk sda dying", "anna@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN", " Reason=stoika:R1 driver" SIGN), FENCE_CLOSED, 1, 0, 0, 0,
			"stoika:R1 driver", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN", " Reason=stoika:R1" SIGN), FENCE_CLOSED, 1, 0, 0, 0,
			"stoika:R1", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN", " Reason=stoika:R12 driver" SIGN), FENCE_CLOSED, 0, 1, 0, 0,
			"stoika:R12 driver", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN", " Reason=see stoika:R1" SIGN), FENCE_CLOSED, 0, 1, 0, 0,
			"see stoika:R1", "root@2026-11-30T22:22:21"},
		{LINE("ALLOCATED+DRAIN", " Reason=stoika:R1 x" SIGN), FENCE_CLOSING, 1, 0, 0, 0,
			"stoika:R1 x", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+COMPLETING+DRAIN", " Reason=stoika:R1 x" SIGN), FENCE_CLOSING, 1, 0, 0,
			0, "stoika:R1 x", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN+REBOOT_REQUESTED NextState=DOWN",
			 " Reason=stoika:R1:reboot x" SIGN),
			FENCE_CLOSED, 1, 0, 1, 0, "stoika:R1:reboot x", "root@2026-11-30T22:22:21"},
		{LINE("DOWN+DRAIN+REBOOT_ISSUED",
			 " Reason=stoika:R1:reboot x : reboot issued" SIGN),
			FENCE_DOWN, 1, 0, 1, 0, "stoika:R1:reboot x : reboot issued",
			"root@2026-11-30T22:22:21"},
		{LINE("DOWN", " Reason=stoika:R1:reboot : reboot issued : reboot complete" SIGN),
			FENCE_DOWN, 1, 0, 0, 1,
			"stoika:R1:reboot : reboot issued : reboot complete",
			"root@2026-11-30T22:22:21"},
		{LINE("DOWN*", " Reason=Not responding [slurm@2026-11-30T22:22:21]"), FENCE_DOWN, 0,
			1, 0, 0, "Not responding", "slurm@2026-11-30T22:22:21"},
		{LINE("DOWN+NOT_RESPONDING", ""), FENCE_DOWN, 0, 1, 0, 0, "DOWN+NOT_RESPONDING",
			""},
		{LINE("IDLE+NOT_RESPONDING", ""), FENCE_DOWN, 0, 1, 0, 0, "IDLE+NOT_RESPONDING",
			""},
		{LINE("IDLE+CLOUD+POWERED_DOWN", ""), FENCE_DOWN, 0, 1, 0, 0,
			"IDLE+CLOUD+POWERED_DOWN", ""},
		{LINE("UNKNOWN", ""), FENCE_DOWN, 0, 1, 0, 0, "UNKNOWN", ""},
		{LINE("DREAMING+DRAIN", ""), FENCE_DOWN, 0, 1, 0, 0,
			"a state that is not known here: DREAMING+DRAIN", ""},
		{LINE("IDLE+DRAIN",
			 " Reason=a [b] State=IDLE, \"it's\" \xe2\x89\xa5 5 \xe2\x82\xac" SIGN
			 " Comment=Reason=x"),
			FENCE_CLOSED, 0, 1, 0, 0,
			"a [b] State=IDLE, \"it's\" \xe2\x89\xa5 5 \xe2\x82\xac",
			"root@2026-11-30T22:22:21"},
		{LINE("IDLE", " Comment=a Reason=stoika:R1 b"), FENCE_OPEN, 0, 0, 0, 0, "", ""},
		{LINE("IDLE+DRAIN", " Reason=bell \a and \xff" SIGN), FENCE_CLOSED, 0, 1, 0, 0,
			"bell ? and ?", "root@2026-11-30T22:22:21"},
		{LINE("IDLE+DRAIN", " Reason=no signature"), FENCE_CLOSED, 0, 1, 0, 0,
			"no signature", ""},
	};
	play_clean();
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct fence *f = play_new(FENCE_SLURM, "R1");
		struct err err = {0};
		if (fence_read_slurm(f, str_of(all[i].text), 7, &err))
			fail_msg("%s: %s", all[i].text, err.msg);
		const struct fence_view *v = fence_look(f, 0);
		if (v->state != all[i].state || v->ours != all[i].ours ||
			fence_is_foreign(v) != all[i].foreign || v->rebooting != all[i].rebooting ||
			v->rebooted != all[i].rebooted || v->at != 7)
			fail_msg("%s: state %s, ours %d, foreign %d, rebooting %d, rebooted %d",
				all[i].text, FENCE_STATE_NAMES[v->state], v->ours,
				fence_is_foreign(v), v->rebooting, v->rebooted);
		assert_string_equal(v->reason, all[i].reason);
		assert_string_equal(v->by, all[i].by);
		fence_free(f);
	}
}

TEST(what_cannot_be_read_changes_nothing)
{
	static const char *const all[][2] = {
		{"", "it ends in the middle of a line"},
		{"NodeName=n1 State=IDLE+DR", "it ends in the middle of a line"},
		{"No nodes in the system\n", "it names no node"},
		{LINE("IDLE+DRAIN", "") "NodeName=n2 Arch=x86_64 OS=Li\n",
			"line 2 has no NodeName or no State"},
		{"NodeName= State=IDLE\n", "line 1 has no NodeName or no State"},
	};
	play_clean();
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct err err = {0};
		assert_int_not_equal(fence_read_slurm(f, str_of(all[i][0]), 1, &err), 0);
		assert_string_equal(err.msg, all[i][1]);
		assert_int_equal(fence_look(f, 0)->state, FENCE_UNASKED);
	}
	fence_free(f);
}

TEST(closes_many_at_once_waits_for_jobs_and_opens)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	play_write("jobs", "12|RUNNING|n2|(null)|anna|\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, "driver \"595\": it's \xe2\x89\xa5 594");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	PLAY_UNTIL(f, fence_look(f, 1)->jobs == 1);
	assert_int_equal(fence_look(f, 1)->state, FENCE_CLOSING);
	assert_int_equal(play_calls("update"), 1);
	assert_int_equal(play_calls("update nodename=n1,n2,n3 state=drain reason=stoika:R1 driver "
				    "'595': it's \xe2\x89\xa5 594"),
		1);
	play_write("jobs", "");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 1)));
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_OPEN, "");
	PLAY_UNTIL(
		f, fence_look(f, 0)->state == FENCE_OPEN && fence_look(f, 2)->state == FENCE_OPEN);
	assert_int_equal(play_calls("state=resume"), 1);
	assert_string_equal(fence_look(f, 0)->trouble, "");
	fence_free(f);
}

/* A job that came before the new slurmd would be requeued. */
TEST(a_restarted_node_is_opened_once_its_daemon_was_heard_anew)
{
	play_clean();
	play_write("nodes", "n1|IDLE||||2026-11-30T10:00:00\nn2|IDLE||||2026-11-30T10:00:00\n"
			    "n3|IDLE||||None\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, "driver");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_is_closed(fence_look(f, 2)));
	json_t *memory = fence_memory(f, 1);
	assert_string_equal(json_get_str(memory, "daemon", ""), "2026-11-30T10:00:00");
	fence_restarts(f, 0, NULL);
	fence_restarts(f, 1, memory);
	fence_restarts(f, 2, NULL); /* never heard at all: nothing to wait for */
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_look(f, 2)->state == FENCE_OPEN && *fence_look(f, 0)->trouble);
	assert_non_null(strstr(fence_look(f, 0)->trouble, "has not heard of 'n1'"));
	assert_int_equal(fence_look(f, 0)->state, FENCE_CLOSED);
	play_write("nodes",
		"n1|IDLE|DRAIN|stoika:R1 driver|root|2026-11-30T10:09:00\n"
		"n2|IDLE|DRAIN|stoika:R1 driver|root|2026-11-30T10:09:01\nn3|IDLE||||None\n");
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	PLAY_UNTIL(f, fence_look(f, 1)->state == FENCE_OPEN);
	assert_string_equal(fence_look(f, 0)->trouble, "");
	json_decref(memory);
	fence_free(f);
}

TEST(other_words_are_told_too_and_once)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "driver 595");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	fence_want(f, 0, WANT_CLOSED, "driver 595: quarantined");
	PLAY_UNTIL(f, strstr(fence_look(f, 0)->reason, "quarantined"));
	fence_free(f);
	f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "driver 595: quarantined");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	play_for(f, 300 * CLOCK_MS);
	assert_int_equal(play_calls("update"), 2);
	fence_free(f);
}

TEST(what_others_hold_is_never_touched)
{
	play_clean();
	play_write("nodes", "n1|IDLE|DRAIN|disk dying|anna\nn2|DOWN||Not responding|slurm\n"
			    "n3|IDLE|DRAIN|stoika:R0 other rollout|root\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_look(f, 2)->trouble[0]);
	assert_string_equal(fence_look(f, 0)->trouble,
		"somebody else holds it: disk dying (anna@2026-11-30T22:22:21)");
	json_t *memory = fence_memory(f, 0);
	assert_string_equal(json_get_str(memory, "reason", ""), "disk dying");
	assert_string_equal(json_get_str(memory, "who", ""), "anna@2026-11-30T22:22:21");
	assert_string_equal(json_get_str(memory, "state", ""), "closed");
	assert_string_equal(json_get_str(memory, "said", ""), "IDLE+DRAIN");
	json_decref(memory);
	for (size_t i = 0; i < 3; i++) {
		assert_true(fence_is_foreign(fence_look(f, i)));
		fence_want(f, i, WANT_OPEN, "");
	}
	play_for(f, 300 * CLOCK_MS);
	assert_int_equal(play_calls("update"), 0);
	assert_true(play_file_has("nodes", "n1|IDLE|DRAIN|disk dying|anna"));
	fence_free(f);
}

TEST(who_takes_over_our_drain_keeps_it)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	play_write("nodes", "n1|IDLE|DRAIN|mine now|bob\nn2|IDLE|||\nn3|IDLE|||\n");
	fence_want(f, 0, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_is_foreign(fence_look(f, 0)) || play_calls("resume"));
	play_for(f, 200 * CLOCK_MS);
	/* one look that is at most two seconds old may be acted upon */
	if (!play_calls("resume"))
		assert_true(play_file_has("nodes", "mine now|bob"));
	fence_free(f);
}

TEST(who_opens_it_meanwhile_is_told_and_it_is_closed_again)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	play_write("nodes", OPEN_NODES);
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	assert_string_equal(fence_look(f, 0)->trouble,
		"somebody opened it while it was closed by us; it is closed again");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	assert_string_equal(fence_look(f, 0)->trouble, "");
	fence_free(f);
}

TEST(whoever_comes_next_goes_on_and_closes_nothing_twice)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_REBOOT, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooting);
	fence_free(f);
	f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_REBOOT, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooting);
	assert_false(fence_is_closed(fence_look(f, 0)));
	play_write("nodes", "n1|DOWN||stoika:R1:reboot x : reboot issued : reboot complete|root\n"
			    "n2|IDLE|||\nn3|IDLE|||\n");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooted);
	assert_true(fence_is_closed(fence_look(f, 0)));
	play_for(f, 200 * CLOCK_MS);
	assert_int_equal(play_calls("reboot ASAP nextstate=DOWN reason=stoika:R1:reboot x n1"), 1);
	fence_want(f, 0, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	assert_int_equal(play_calls("state=resume"), 1);
	fence_free(f);
}

TEST(closed_anew_it_can_be_restarted_once_more)
{
	play_clean();
	play_write("nodes", "n1|DOWN||stoika:R1:reboot x : reboot issued : reboot complete|root\n"
			    "n2|IDLE|||\nn3|IDLE|||\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_REBOOT, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooted);
	fence_want(f, 0, WANT_CLOSED, "back");
	PLAY_UNTIL(f, !fence_look(f, 0)->rebooted);
	assert_true(fence_is_closed(fence_look(f, 0)));
	fence_want(f, 0, WANT_REBOOT, "back");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooting);
	assert_int_equal(play_calls("reason=stoika:R1:reboot back n1"), 1);
	fence_free(f);
}

/* It was back within the second in which Slurm asked for it, or its clock is behind. */
TEST(a_restart_that_slurm_does_not_notice_is_over_once_the_new_daemon_was_heard)
{
	static const char ISSUED[] = "n1|DOWN+DRAIN+REBOOT_ISSUED||stoika:R1:reboot x : reboot "
				     "issued|root|%s\nn2|IDLE|||\nn3|IDLE|||\n";
	char nodes[200];

	play_clean();
	play_write("nodes", "n1|IDLE||||2026-12-01T02:00:00\nn2|IDLE|||\nn3|IDLE|||\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_REBOOT, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->rebooting);
	fence_want(f, 0, WANT_OPEN, "");
	play_for(f, 300 * CLOCK_MS);
	assert_int_equal(play_calls("state=resume"), 0);
	snprintf(nodes, sizeof nodes, ISSUED, "2026-12-01T02:00:09");
	play_write("nodes", nodes);
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	assert_int_equal(play_calls("state=resume"), 1);
	fence_free(f);
}

/* Recorded from Slurm 22.05: names and paths changed. */
TEST(a_real_answer_is_read)
{
	static const struct {
		enum fence_state state;
		bool ours;
		const char *reason;
	} all[] = {
		{FENCE_CLOSED, false, "disk \"sda\" dying [ticket 7], \xe2\x89\xa5 3 errors"},
		{FENCE_DOWN, false, "stoika:R2 other run"},
		{FENCE_CLOSED, true, "stoika:R1 driver 595"},
		{FENCE_CLOSING, true, "stoika:R1 driver 595"},
	};
	static const char *const names[] = {"n1", "n2", "n3", "n4"};
	const struct fence_opts o = {.kind = FENCE_SLURM, .mark = "R1"};
	struct fence *f = NULL;
	struct err err = {0};
	AUTO_BUF text;
	buf_init(&text, 1u << 20);
	play_data("slurm-22.05.txt", &text);
	assert_int_equal(fence_new(&o, names, 4, &f, &err), 0);
	if (fence_read_slurm(f, buf_str(&text), 1, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fence_look(f, i)->state, all[i].state);
		assert_int_equal(fence_look(f, i)->ours, all[i].ours);
		assert_string_equal(fence_look(f, i)->reason, all[i].reason);
	}
	buf_clear(&text);
	play_data("config-22.05.txt", &text);
	assert_int_equal(FENCE_SLURM_OPS.read(f, ACT_ABOUT, buf_str(&text), 1, &err), 0);
	assert_true(fence_can_reboot(f));
	buf_clear(&text);
	play_data("squeue-22.05.txt", &text);
	f->batch[f->n_batch++] = 3;
	assert_int_equal(FENCE_SLURM_OPS.read(f, ACT_JOBS, buf_str(&text), 1, &err), 0);
	assert_int_equal(fence_look(f, 3)->jobs, 1);
	fence_free(f);
}

TEST(nodes_cannot_be_restarted_without_a_program_for_it)
{
	play_clean();
	play_write("rebooter", "(null)\n");
	play_write("nodes", OPEN_NODES);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_REBOOT, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_look(f, 0)->trouble[0]);
	assert_false(fence_can_reboot(f));
	assert_string_equal(fence_look(f, 0)->trouble, "Slurm cannot restart nodes here");
	assert_int_equal(play_calls("reboot ASAP"), 0);
	fence_free(f);
}

TEST(jobs_are_moved_but_for_those_in_a_reservation)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	play_write("jobs",
		"12|RUNNING|n1|(null)|anna|\n13|RUNNING|n1|review|bob|\n14|RUNNING|n2||eve|stuck\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	fence_want(f, 1, WANT_CLOSED, "y");
	PLAY_UNTIL(f, fence_look(f, 0)->jobs == 2);
	play_for(f, 200 * CLOCK_MS);
	assert_int_equal(play_calls("requeue"), 0);
	fence_move_jobs(f, 0, FENCE_REQUEUE);
	fence_move_jobs(f, 1, FENCE_CANCEL);
	PLAY_UNTIL(f, fence_look(f, 0)->jobs == 1 && fence_look(f, 1)->trouble[0]);
	PLAY_UNTIL(f, fence_look(f, 0)->trouble[0]);
	assert_string_equal(
		fence_look(f, 0)->trouble, "its jobs in a reservation are left alone: 1");
	assert_int_equal(play_calls("scontrol requeue 12\n"), 1);
	assert_int_equal(play_calls("scancel 14\n"), 1);
	assert_string_equal(fence_look(f, 1)->trouble,
		"'scancel' failed with status 1: Requested operation is presently disabled for job "
		"14");
	assert_true(play_file_has("jobs", "13|RUNNING|n1|review|bob|"));
	fence_free(f);
}

TEST(one_unknown_name_does_not_keep_the_others_open)
{
	play_clean();
	play_write("nodes", "n1|IDLE|||\nn2|IDLE|||\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_is_closed(fence_look(f, 1)));
	assert_int_equal(fence_look(f, 2)->state, FENCE_ABSENT);
	assert_string_equal(fence_look(f, 2)->trouble, "Slurm knows no node 'n3'");
	fence_free(f);
}

/* Unfenced for a name's sake it would lose its jobs: what may be meant is told. */
TEST(names_that_differ_are_told)
{
	play_clean();
	play_write("nodes", "n1.example.org|IDLE|||\nn2|IDLE|||\n");
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->trouble[0]);
	assert_int_equal(fence_look(f, 0)->state, FENCE_ABSENT);
	assert_string_equal(fence_look(f, 0)->reason, "it has a node 'n1.example.org'");
	assert_string_equal(fence_look(f, 0)->trouble,
		"Slurm knows no node 'n1', but it has a node 'n1.example.org'");
	fence_free(f);
}

TEST(two_controllers_do_not_both_believe_it_is_theirs)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	struct fence *a = play_new(FENCE_SLURM, "RA"), *b = play_new(FENCE_SLURM, "RB");
	fence_want(a, 0, WANT_CLOSED, "x");
	fence_want(b, 0, WANT_CLOSED, "y");
	for (int64_t until = clock_mono() + CLOCK_SEC; clock_mono() < until;) {
		fence_tick(a, clock_mono());
		fence_tick(b, clock_mono());
		clock_sleep(5 * CLOCK_MS);
	}
	assert_int_equal(fence_is_closed(fence_look(a, 0)) + fence_is_closed(fence_look(b, 0)), 1);
	assert_int_equal(
		fence_is_foreign(fence_look(a, 0)) + fence_is_foreign(fence_look(b, 0)), 1);
	fence_free(a);
	fence_free(b);
}

T_MAIN
