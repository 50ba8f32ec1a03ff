/* undo_run - one run is taken back, and what the runs before it did stays. */
#include "agent/run/before.h"
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#define COUNT(s, r) ((s)->out.counts.n[r])

static void demo(struct stage *s, const char *content, const char *more)
{
	char yaml[1024];

	snprintf(yaml, sizeof yaml,
		"recipe: demo\nsteps:\n  - file: {path: /etc/a, content: \"%s\"}\n%s", content,
		more);
	stage_recipe(s, "demo", yaml);
}

/* run-1 installs A, run-2 makes B of it. */
static void a_then_b(struct stage *s)
{
	stage_init(s);
	stage_write(s, "etc/a", "first\n");
	demo(s, "A", "  - file: {path: /etc/of-a, content: A}\n");
	stage_run(s, ORDER_APPLY, "demo");
	demo(s, "B",
		"  - file: {path: /etc/of-a, content: A}\n  - file: {path: /etc/of-b, content: B}\n");
	stage_run(s, ORDER_APPLY, "demo");
	assert_string_equal(s->run, "run-2");
	s->undo_of = "run-2";
}

TEST(undo_of_one_run_leaves_the_one_before)
{
	struct stage s;

	a_then_b(&s);
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 2);
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	assert_string_equal(stage_read(&s, "etc/of-a"), "A");
	assert_false(stage_has(s.root, "etc/of-b"));
	assert_string_equal(stage_event_str(&s, "undo", 0, "undo_of"), "run-2");

	/* again: nothing is left of it */
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 0);

	/* and the whole can still be taken back, to the very first state */
	s.undo_of = NULL;
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "first\n");
	assert_false(stage_has(s.root, "etc/of-a"));
	stage_done(&s);
}

TEST(undo_of_the_whole_after_two_runs_is_as_ever)
{
	struct stage s;

	a_then_b(&s);
	s.undo_of = NULL;
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "first\n");
	assert_false(stage_has(s.root, "etc/of-b"));
	stage_done(&s);
}

TEST(undo_of_one_run_takes_its_tries_along)
{
	struct stage s;

	assert_true(before_is_of(STR_LIT("up-apply"), "up-apply"));
	assert_true(before_is_of(STR_LIT("up-apply-2"), "up-apply"));
	assert_true(before_is_of(STR_LIT("up-apply-17"), "up-apply"));
	assert_false(before_is_of(STR_LIT("up-apply-"), "up-apply"));
	assert_false(before_is_of(STR_LIT("up-apply-2b"), "up-apply"));
	assert_false(before_is_of(STR_LIT("up-apply2"), "up-apply"));
	assert_false(before_is_of(STR_LIT("up-appl"), "up-apply"));

	stage_init(&s);
	stage_write(&s, "etc/a", "first\n");
	demo(&s, "A", "");
	stage_run(&s, ORDER_APPLY, "demo"); /* run-1 */
	demo(&s, "B", "");
	stage_run(&s, ORDER_APPLY, "demo"); /* run-2 */
	s.undo_of = "run";                  /* of which both are tries */
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "first\n");
	stage_done(&s);
}

TEST(undo_of_a_run_that_another_has_followed_is_a_conflict)
{
	struct stage s;

	a_then_b(&s);
	demo(&s, "C", "");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_FAILED, "run 'run-3' has changed it again since");
	assert_string_equal(stage_read(&s, "etc/a"), "C");
	assert_false(stage_has(s.root, "etc/of-b")); /* which is of run-2 alone */

	s.undo_of = "run-3";
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "B");
	s.undo_of = "run-2";
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	stage_done(&s);
}

TEST(undo_of_a_run_that_somebody_else_changed_since_is_a_conflict)
{
	struct stage s;

	a_then_b(&s);
	stage_write(&s, "etc/a", "theirs\n");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_FAILED, "undo of file /etc/a");
	assert_string_equal(stage_read(&s, "etc/a"), "theirs\n");
	stage_done(&s);
}

TEST(undo_of_an_unknown_run_touches_nothing)
{
	struct stage s;

	a_then_b(&s);
	s.undo_of = "run-7";
	assert_int_equal(stage_try(&s, ORDER_UNDO, "demo"), -E_NOTFOUND);
	stage_says(s.err.msg, "no journal of run 'run-7'");
	assert_string_equal(stage_read(&s, "etc/a"), "B");
	stage_done(&s);
}

TEST(undo_of_a_run_that_was_killed_in_the_middle)
{
	struct stage s;

	stage_init(&s);
	demo(&s, "A", "");
	stage_run(&s, ORDER_APPLY, "demo");
	demo(&s, "B", "  - command: {shell: kill}\n");
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	s.undo_of = "run-2";
	stage_run(&s, ORDER_UNDO, "demo");
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	stage_done(&s);
}

TEST(undo_of_one_run_restarts_only_when_that_run_had)
{
	static const char BOOT[] = "  - reboot: {}\n    when: not exists('/etc/no-boot')\n";
	struct stage s;

	stage_init(&s);
	demo(&s, "A", BOOT);
	stage_run(&s, ORDER_APPLY, "demo");
	s.boot_id = "two";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_write(&s, "etc/no-boot", "");
	demo(&s, "B", BOOT);
	stage_run(&s, ORDER_APPLY, "demo");
	s.undo_of = "run-2";
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	assert_int_equal(s.reboots, 1);

	assert_int_equal(fs_remove(s.root, "etc/no-boot", false, NULL), 0);
	stage_run(&s, ORDER_APPLY, "demo"); /* run-4 */
	assert_true(s.out.rebooting);
	s.boot_id = "three";
	stage_resume(&s, ORDER_APPLY, "demo");
	s.undo_of = "run-4";
	stage_run(&s, ORDER_UNDO, "demo");
	assert_true(s.out.rebooting);
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	s.boot_id = "four";
	stage_resume(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 3);
	stage_done(&s);
}

/* A recipe's own undo takes all back: it is for the run that made all. */
TEST(undo_of_one_run_by_the_recipes_own_steps)
{
	static const char OWN[] = "undo:\n  - command: {shell: note undone}\n";
	struct stage s;

	stage_init(&s);
	demo(&s, "A", OWN);
	stage_run(&s, ORDER_APPLY, "demo");
	demo(&s, "B", OWN);
	stage_run(&s, ORDER_APPLY, "demo");
	s.undo_of = "run-2";
	stage_run(&s, ORDER_UNDO, "demo");
	assert_string_equal(stage_read(&s, "etc/a"), "A");
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	s.undo_of = "run-1";
	stage_run(&s, ORDER_UNDO, "demo");
	assert_string_equal(stage_read(&s, "log"), "undone\n");
	stage_done(&s);
}

TEST(undo_of_a_run_that_too_many_followed_says_so)
{
	struct stage s;
	char content[16];

	stage_init(&s);
	for (int i = 0; i < 10; i++) {
		snprintf(content, sizeof content, "c%d", i);
		demo(&s, content, "");
		stage_run(&s, ORDER_APPLY, "demo");
	}
	s.undo_of = "run-2";
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_FAILED, "what run 'run-2' changed here is not known any more");
	s.undo_of = "run-10";
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/a"), "c8");
	s.undo_of = NULL;
	stage_run(&s, ORDER_UNDO, "demo");
	assert_false(stage_has(s.root, "etc/a"));
	stage_done(&s);
}

T_MAIN
