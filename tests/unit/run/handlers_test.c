/* Handlers: once, in their order, and never lost: not by a failure, not by a kill. */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#include <sys/wait.h>

static const char TWO[] = "recipe: demo\nsteps:\n"
			  "  - file: {path: /a, content: a}\n    notify: [second, first]\n"
			  "  - file: {path: /b, content: b}\n    notify: second\n"
			  "handlers:\n"
			  "  - name: first\n    command: {shell: note first}\n"
			  "  - name: second\n    command: {shell: note second}\n"
			  "  - name: third\n    command: {shell: note third}\n";

TEST(handlers_run_once_in_their_order)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", TWO);
	stage_run(&s, ORDER_PLAN, "demo");
	assert_string_equal(stage_event_str(&s, "handler", 0, "handler"), "first");
	assert_string_equal(stage_event_str(&s, "handler", 1, "handler"), "second");
	assert_null(stage_event(&s, "handler", 2));
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "log"), "first\nsecond\n");
	assert_int_equal(s.out.counts.n[RESULT_CHANGED], 4);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_string_equal(stage_read(&s, "log"), "first\nsecond\n");
	stage_done(&s);
}

TEST(handlers_due_survive_a_failed_step)
{
	struct stage s;
	struct journal_left left;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: restart\n"
		"  - command: {shell: fail}\n    when: not exists('/well')\n"
		"handlers:\n  - name: restart\n    command: {shell: note restart}\n");
	stage_recipe(&s, "other", "recipe: other\nsteps:\n  - file: {path: /o, content: o}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_FAILED, "; handler 'restart' is still due");

	/* Another recipe's run carries it on, whether it changes something or not. */
	for (int i = 0; i < 2; i++) {
		stage_run(&s, ORDER_APPLY, "other");
		stage_ends(&s, i == 0 ? RESULT_CHANGED : RESULT_OK,
			"handler 'restart' of recipe 'demo' is still due");
		assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
		assert_int_equal(left.n_handlers, 1);
		assert_string_equal(left.run, "run-2");
	}
	stage_write(&s, "well", "");
	stage_run(&s, ORDER_PLAN, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	stage_says(stage_event_str(&s, "handler", 0, "why"), "left by run 'run-2'");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.before_change, 1);
	assert_string_equal(stage_read(&s, "log"), "restart\n");
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_null(left.run);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_string_equal(stage_read(&s, "log"), "restart\n");
	stage_done(&s);
}

TEST(handlers_that_fail_stay_due)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: [bad, good]\n"
		"handlers:\n  - name: bad\n    command: {shell: fail}\n"
		"  - name: good\n    command: {shell: note good}\n");
	for (int i = 0; i < 2; i++) {
		stage_run(&s, ORDER_APPLY, "demo");
		stage_ends(&s, RESULT_FAILED, "handler 'bad': it said no");
		stage_says(s.out.reason, "handler 'bad', 'good' are still due");
		assert_string_equal(stage_event_str(&s, "handler", 0, "state"), "failed");
	}
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	stage_done(&s);
}

TEST(handlers_that_the_recipe_lost_are_dropped)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: old\n"
		"  - command: {shell: fail}\n"
		"handlers:\n  - name: old\n    command: {shell: note old}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_string_equal(stage_event_str(&s, "handler", 0, "state"), "skipped");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_null(stage_event(&s, "handler", 0));
	stage_done(&s);
}

/* Runs the recipe in a child that is killed by its second step. */
static void run_and_be_killed(struct stage *s)
{
	const pid_t pid = fork();
	int status;

	s->runs++;
	if (pid == 0) {
		s->runs--;
		stage_try(s, ORDER_APPLY, "demo");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	snprintf(s->run, sizeof s->run, "run-%u", s->runs);
}

TEST(handlers_due_survive_a_kill)
{
	struct stage s;
	struct journal_left left;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: restart\n"
		"  - command: {shell: kill}\n    name: the deadly one\n"
		"    when: not exists('/well')\n"
		"handlers:\n  - name: restart\n    command: {shell: note restart}\n");
	run_and_be_killed(&s);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_string_equal(left.run, "run-1");
	assert_string_equal(left.recipe, "demo");
	assert_string_equal(left.step, "the deadly one");
	assert_false(left.ended);
	assert_int_equal(left.n_handlers, 1);

	run_and_be_killed(&s);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_string_equal(left.run, "run-2");
	assert_int_equal(left.n_handlers, 1);

	stage_write(&s, "well", "");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "log"), "restart\n");
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_null(left.run);
	stage_done(&s);
}

TEST(handlers_killed_while_they_run_run_again)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: [deadly, good]\n"
		"handlers:\n  - name: deadly\n    command: {shell: kill}\n"
		"    when: not exists('/well')\n"
		"  - name: good\n    command: {shell: note good}\n");
	run_and_be_killed(&s);
	stage_write(&s, "well", "");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_event_str(&s, "handler", 0, "state"), "ok");
	assert_string_equal(stage_read(&s, "log"), "good\n");
	stage_done(&s);
}

TEST(handlers_an_interrupted_run_is_forgotten_after_a_good_one)
{
	struct stage s;
	struct journal_left left;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - command: {shell: kill}\n"
		"    when: not exists('/well')\n");
	run_and_be_killed(&s);
	stage_write(&s, "well", "");
	stage_run(&s, ORDER_PLAN, "demo");
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_string_equal(left.run, "run-1");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_null(left.run);
	stage_done(&s);
}

TEST(handlers_each_acts_for_all_items)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n    notify: both\n"
		"handlers:\n  - name: both\n    command: {shell: \"note {{ item }}\"}\n"
		"    each: \"['x', 'y']\"\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "log"), "x\ny\n");
	assert_null(stage_event(&s, "handler", 1));
	stage_done(&s);
}

T_MAIN
