/* run_execute: what each step comes to, in a plan and in earnest. */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#define COUNT(s, r) ((s)->out.counts.n[r])

TEST(run_applies_once_and_is_quiet_after)
{
	struct stage s;
	char first[65];

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\n"
		"steps:\n"
		"  - directory: {path: /etc/demo}\n"
		"  - file: {path: /etc/demo/a, content: \"one\\n\"}\n"
		"  - link: {path: /etc/demo/b, target: a}\n");
	stage_run(&s, ORDER_PLAN, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 3);
	assert_int_equal(s.before_change, 0);
	assert_false(stage_has(s.root, "etc/demo"));
	assert_false(stage_has(s.state, "runs"));
	memcpy(first, s.out.plan_hash, sizeof first);

	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.before_change, 1);
	assert_string_equal(stage_read(&s, "etc/demo/b"), "one\n");
	assert_string_equal(s.out.plan_hash, first);
	assert_non_null(stage_event(&s, "intent", 2));
	assert_int_equal(json_get_int(stage_event(&s, "step", 1), "step", 0), 2);
	stage_says(stage_event_str(&s, "step", 1, "diff"), "one");

	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_int_equal(COUNT(&s, RESULT_OK), 3);
	assert_int_equal(s.before_change, 0);
	assert_int_equal(json_array_size(s.events), 1);
	assert_string_not_equal(s.out.plan_hash, first);
	assert_true(s.out.took > 0);
	assert_true(s.out.cpu > 0);
	stage_done(&s);
}

TEST(run_journals_no_bytes_of_a_private_file)
{
	struct stage s;
	AUTO_BUF text;
	char path[128];

	buf_init(&text, 1u << 20);
	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\n"
		"steps:\n"
		"  - file: {path: /key, content: \"hunter2\\n\", mode: \"0600\"}\n"
		"  - file: {path: /open, content: \"swordfish\\n\"}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "key"), "hunter2\n");
	snprintf(path, sizeof path, "runs/%s.journal", s.run);
	assert_int_equal(fs_read(s.state, path, &text, NULL), 0);
	assert_null(strstr(buf_text(&text), "hunter2"));
	stage_says(buf_text(&text), "swordfish");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_false(stage_has(s.root, "key"));
	stage_done(&s);
}

TEST(run_same_changes_same_hash)
{
	struct stage a, b;
	const char *yaml = "recipe: demo\nsteps:\n  - file: {path: /x, content: \"1\\n\"}\n";

	stage_init(&a);
	stage_init(&b);
	stage_recipe(&a, "demo", yaml);
	stage_recipe(&b, "demo", yaml);
	stage_run(&a, ORDER_PLAN, "demo");
	stage_run(&b, ORDER_PLAN, "demo");
	assert_string_equal(a.out.plan_hash, b.out.plan_hash);
	stage_write(&b, "x", "2\n");
	stage_run(&b, ORDER_PLAN, "demo");
	assert_string_not_equal(a.out.plan_hash, b.out.plan_hash);
	stage_done(&a);
	stage_done(&b);
}

TEST(run_when_each_as_and_params)
{
	struct stage s;

	stage_init(&s);
	json_put_str(s.params, "who", "world");
	stage_recipe(&s, "demo",
		"recipe: demo\n"
		"params:\n"
		"  who: {type: text}\n"
		"steps:\n"
		"  - file: {path: /greeting, content: \"hello {{ params.who }}\\n\"}\n"
		"    as: greeting\n"
		"  - file: {path: /never, content: x}\n"
		"    when: facts.os.id == 'redhat'\n"
		"  - file: {path: \"/each-{{ item }}\", content: \"{{ item }}\"}\n"
		"    each: \"['a', 'b', 'c']\"\n"
		"    when: item != 'b'\n"
		"  - file: {path: /after, content: yes}\n"
		"    when: steps.greeting.changed\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "greeting"), "hello world\n");
	assert_string_equal(stage_read(&s, "each-a"), "a");
	assert_string_equal(stage_read(&s, "each-b"), "(absent)");
	assert_string_equal(stage_read(&s, "never"), "(absent)");
	assert_string_equal(stage_read(&s, "after"), "yes");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 4);
	assert_int_equal(COUNT(&s, RESULT_SKIPPED), 2);
	stage_says(stage_event_str(&s, "step", 2, "name"), "/each-c");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_int_equal(COUNT(&s, RESULT_SKIPPED), 3);
	assert_int_equal(COUNT(&s, RESULT_OK), 3);
	stage_done(&s);
}

TEST(run_recipe_not_for_this_node)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nwhen: facts.os.id == 'redhat'\nsteps:\n"
		"  - file: {path: /x, content: x}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_SKIPPED, "");
	stage_says(stage_event_str(&s, "recipe", 0, "why"), "facts.os.id == 'redhat'");
	assert_false(stage_has(s.root, "x"));
	stage_done(&s);
}

TEST(run_first_failure_ends_it)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "one",
		"recipe: one\nsteps:\n"
		"  - file: {path: /a, content: a}\n"
		"  - command: {shell: fail}\n"
		"  - file: {path: /b, content: b}\n");
	stage_recipe(&s, "two", "recipe: two\nsteps:\n  - file: {path: /c, content: c}\n");
	stage_run(&s, ORDER_APPLY, "one two");
	stage_ends(&s, RESULT_FAILED, "recipe 'one', step 2");
	stage_says(s.out.reason, "it said no");
	assert_string_equal(stage_event_str(&s, "step", 1, "state"), "failed");
	assert_string_equal(stage_event_str(&s, "step", 1, "hint"), "say yes");
	assert_string_equal(stage_event_str(&s, "recipe", 0, "recipe"), "two");
	assert_string_equal(stage_event_str(&s, "recipe", 0, "state"), "skipped");
	assert_true(stage_has(s.root, "a"));
	assert_false(stage_has(s.root, "b"));
	assert_false(stage_has(s.root, "c"));
	stage_done(&s);
}

TEST(run_results_by_error)
{
	static const struct {
		const char *shell;
		enum step_result state;
		const char *says;
	} cases[] = {{"deny", RESULT_DENIED, "not allowed"}, {"slow", RESULT_TIMEOUT, "too slow"},
		{"lie", RESULT_FAILED, "still differs after it was applied"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stage s;
		char yaml[200];

		stage_init(&s);
		snprintf(yaml, sizeof yaml, "recipe: demo\nsteps:\n  - command: {shell: %s}\n",
			cases[i].shell);
		stage_recipe(&s, "demo", yaml);
		stage_run(&s, ORDER_APPLY, "demo");
		stage_ends(&s, cases[i].state, cases[i].says);
		stage_done(&s);
	}
}

TEST(run_bad_recipes_change_nothing)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "good", "recipe: good\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_recipe(&s, "typo", "recipe: typo\nsteps:\n  - fil: {path: /a, content: a}\n");
	stage_recipe(&s, "other", "recipe: another\nsteps: []\n");
	stage_recipe(&s, "wants", "recipe: wants\nparams:\n  port: {type: int}\nsteps: []\n");
	stage_run(&s, ORDER_APPLY, "good typo");
	stage_ends(&s, RESULT_FAILED, "typo");
	stage_says(stage_event_str(&s, "recipe", 0, "why"), "typo/recipe.yaml:3");
	assert_string_equal(stage_event_str(&s, "recipe", 1, "recipe"), "good");
	assert_string_equal(stage_event_str(&s, "recipe", 1, "state"), "skipped");
	stage_run(&s, ORDER_APPLY, "good other");
	stage_ends(&s, RESULT_FAILED, "another");
	stage_run(&s, ORDER_APPLY, "good wants");
	stage_ends(&s, RESULT_FAILED, "port");
	stage_run(&s, ORDER_APPLY, "good absent");
	stage_ends(&s, RESULT_FAILED, "absent");
	assert_false(stage_has(s.root, "a"));
	stage_done(&s);
}

TEST(run_packages_become_one_transaction)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "packages", "curl\n");
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - package: {names: [curl]}\n"
		"  - package: {names: [jq]}\n"
		"    as: jq\n"
		"  - file: {path: /between, content: x}\n"
		"  - package: {names: [\"{{ item }}\"]}\n"
		"    each: \"['git', 'curl', 'vim']\"\n"
		"  - package: {names: [late]}\n"
		"    when: steps.jq.changed and exists('/between')\n"
		"  - package: {names: [never]}\n"
		"    when: \"false\"\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "transactions"), "3 steps\n1 steps\n");
	assert_string_equal(stage_read(&s, "packages"), "curl\njq\ngit\nvim\nlate\n");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 5);
	assert_int_equal(COUNT(&s, RESULT_OK), 2);
	assert_int_equal(COUNT(&s, RESULT_SKIPPED), 1);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_string_equal(stage_read(&s, "transactions"), "3 steps\n1 steps\n");
	stage_done(&s);
}

TEST(run_package_failures)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "bad",
		"recipe: bad\nsteps:\n  - package: {names: [jq]}\n"
		"  - package: {names: [bad]}\n  - file: {path: /x, content: x}\n");
	stage_recipe(&s, "ghost",
		"recipe: ghost\nsteps:\n  - package: {names: [jq]}\n"
		"  - package: {names: [ghost]}\n  - file: {path: /x, content: x}\n");
	stage_run(&s, ORDER_APPLY, "bad");
	stage_ends(&s, RESULT_FAILED, "no package 'bad'");
	stage_run(&s, ORDER_APPLY, "ghost");
	stage_ends(&s, RESULT_FAILED, "still differs");
	assert_false(stage_has(s.root, "x"));
	stage_done(&s);
}

TEST(run_plan_knows_what_it_cannot_know)
{
	struct stage s;

	stage_init(&s);
	assert_int_equal(mkdirat(s.root, "proc", 0755), 0);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /etc/flag, content: x}\n"
		"  - file: {path: /a, content: a}\n"
		"    when: exists('/etc/flag')\n"
		"    as: a\n"
		"  - file: {path: /b, content: b}\n"
		"    when: exists('/elsewhere')\n"
		"  - file: {path: /c, content: c}\n"
		"    when: steps.a.changed\n"
		"  - file: {path: /d, content: d}\n"
		"    when: running('sshd') or exists('/etc')\n");
	stage_run(&s, ORDER_PLAN, "demo");
	stage_ends(&s, RESULT_UNKNOWN, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 1);
	assert_int_equal(COUNT(&s, RESULT_UNKNOWN), 3);
	assert_int_equal(COUNT(&s, RESULT_SKIPPED), 1);
	assert_string_equal(stage_event_str(&s, "step", 1, "why"), "depends on step 1 (file)");
	stage_says(stage_event_str(&s, "step", 2, "why"), "depends on step");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 4);
	stage_done(&s);
}

TEST(run_plan_of_a_missing_owner)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "a", "a");
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - command: {shell: note x}\n"
		"  - file: {path: /a, content: a, owner: nobody-here}\n");
	stage_run(&s, ORDER_PLAN, "demo");
	assert_string_equal(stage_event_str(&s, "step", 1, "state"), "unknown");
	stage_says(stage_event_str(&s, "step", 1, "why"), "depends on step 1 (command): ");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_FAILED, "nobody-here");
	stage_done(&s);
}

TEST(run_checks)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - file: {path: /a, content: a}\n"
		"check:\n"
		"  - name: a is there\n    expect: exists('/a')\n"
		"  - name: b is there\n    expect: exists('/b')\n    within: 1\n"
		"  - name: c is there\n    expect: exists('/c')\n");
	stage_run(&s, ORDER_PLAN, "demo");
	assert_null(stage_event(&s, "check", 0));
	stage_run(&s, ORDER_CHECK, "demo");
	assert_string_equal(stage_event_str(&s, "check", 0, "state"), "unknown");
	assert_string_equal(stage_event_str(&s, "check", 1, "name"), "b is there");
	assert_false(stage_has(s.root, "a"));
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(
		&s, RESULT_FAILED, "check 'b is there': 'exists('/b')' is still false after 1 s");
	assert_string_equal(stage_event_str(&s, "check", 1, "name"), "c is there");
	assert_int_equal(COUNT(&s, RESULT_FAILED), 2);
	stage_write(&s, "b", "");
	stage_write(&s, "c", "");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_null(stage_event(&s, "check", 0));
	stage_done(&s);
}

/* A mere look goes on with the next recipe, an apply does not. */
TEST(run_check_looks_at_all_recipes)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "one", "recipe: one\ncheck:\n  - {id: F01, expect: exists('/a')}\n");
	stage_recipe(&s, "two", "recipe: two\ncheck:\n  - {id: F02, expect: exists('/b')}\n");
	stage_run(&s, ORDER_CHECK, "one two");
	stage_ends(&s, RESULT_FAILED, "recipe 'one', check");
	assert_string_equal(stage_event_str(&s, "check", 0, "id"), "F01");
	assert_string_equal(stage_event_str(&s, "check", 1, "id"), "F02");
	assert_int_equal(COUNT(&s, RESULT_FAILED), 2);
	stage_run(&s, ORDER_APPLY, "one two");
	assert_string_equal(stage_event_str(&s, "check", 0, "id"), "F01");
	assert_null(stage_event(&s, "check", 1));
	stage_done(&s);
}

TEST(run_checks_wait_for_facts_too)
{
	struct stage s;
	int status;
	pid_t other;

	stage_init(&s);
	json_decref(s.facts);
	s.facts = NULL; /* none are given: they are gathered */
	stage_recipe(&s, "demo",
		"recipe: demo\ncheck:\n"
		"  - name: the module is loaded\n"
		"    expect: default(facts.nvidia.loaded, '') == '610.57.04'\n    within: 20\n");
	other = fork();
	if (other == 0) {
		usleep(300 * 1000);
		stage_write(&s, "proc/driver/nvidia/version",
			"NVRM version: NVIDIA UNIX x86_64 Kernel Module  610.57.04  Release Build\n");
		_exit(0);
	}
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_int_equal(waitpid(other, &status, 0), other);
	stage_done(&s);
}

TEST(run_cancelled_between_steps)
{
	struct stage s;

	stage_init(&s);
	s.cancel = true;
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_INTERRUPTED, "cancelled");
	stage_says(stage_event_str(&s, "recipe", 0, "why"), "cancelled");
	assert_false(stage_has(s.root, "a"));
	stage_done(&s);
}

TEST(run_goes_on_elsewhere)
{
	struct stage s;

	stage_init(&s);
	s.elsewhere = 1;
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
		"  - package: {names: [jq]}\n");
	assert_int_equal(stage_try(&s, ORDER_APPLY, "demo"), 1);
	assert_false(stage_has(s.root, "a"));
	assert_false(stage_has(s.state, "runs"));
	assert_int_equal(json_array_size(s.events), 0);
	s.elsewhere = -E_IO;
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_FAILED, "cannot leave");
	stage_done(&s);
}

TEST(run_twice_with_one_id)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	s.runs--;
	assert_int_equal(stage_try(&s, ORDER_APPLY, "demo"), -E_EXISTS);
	stage_done(&s);
}

TEST(run_just_what_was_shown)
{
	struct stage s;
	char hash[65];

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
		"  - file: {path: /b, content: b}\n    when: exists('/a')\n");
	stage_run(&s, ORDER_PLAN, "demo");
	memcpy(hash, s.out.plan_hash, sizeof hash);
	stage_write(&s, "a", "theirs");
	s.expect = hash;
	assert_int_equal(stage_try(&s, ORDER_APPLY, "demo"), -E_STATE);
	stage_says(s.err.msg, "the plan is another one now: it changes 2: file /a, file /b");
	assert_true(s.err.hint[0] != '\0');
	assert_int_equal(json_array_size(s.events), 0);
	assert_int_equal(s.before_change, 0);
	assert_string_equal(stage_read(&s, "a"), "theirs");

	assert_int_equal(unlinkat(s.root, "a", 0), 0);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "b"), "b");
	assert_int_equal(stage_try(&s, ORDER_APPLY, "demo"), -E_STATE);
	stage_says(s.err.msg, "there is nothing to change");
	stage_done(&s);
}

/* What an agent that stays keeps: recipes, caches; and what it must not believe any longer. */
TEST(run_again_with_a_memory)
{
	struct stage s;

	stage_init(&s);
	s.memory = run_memory_new();
	stage_recipe(&s, "demo",
		"recipe: demo\nparams: {x: {type: int, default: 1}}\nsteps:\n"
		"  - user: {name: ops, state: absent}\n"
		"  - file: {path: /a, content: \"{{ params.x }} {{ facts.os.id }}\"}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_string_equal(stage_read(&s, "a"), "1 debian");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_OK, "");
	stage_write(&s, "etc/os-release", "ID=ubuntu\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "a"), "1 ubuntu");
	stage_write(&s, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nops:x:7:7::/:/bin/sh\n");
	stage_run(&s, ORDER_PLAN, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	stage_done(&s);
}

TEST(run_tells_without_a_change)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - note: {message: look at this}\n");
	for (int i = 0; i < 2; i++) {
		stage_run(&s, i == 0 ? ORDER_PLAN : ORDER_APPLY, "demo");
		stage_ends(&s, RESULT_OK, "");
		assert_string_equal(stage_event_str(&s, "step", 0, "state"), "ok");
		stage_says(stage_event_str(&s, "step", 0, "why"), "look at this");
	}
	stage_done(&s);
}

static int64_t best_of_five(struct stage *s)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 5; i++) {
		stage_run(s, ORDER_APPLY, "demo");
		stage_ends(s, RESULT_OK, "");
		best = s->out.cpu < best ? s->out.cpu : best;
	}
	return best;
}

TEST(run_a_noop_costs_little)
{
	static const int sizes[] = {44, 200};

	for (int k = 0; k < 2; k++) {
		struct stage s;
		struct buf yaml;
		int64_t fresh, warm;

		stage_init(&s);
		buf_init(&yaml, 1 << 16);
		buf_add_text(&yaml, "recipe: demo\nsteps:\n");
		for (int i = 0; i < sizes[k]; i++)
			buf_addf(&yaml,
				"  - file: {path: /etc/f%d, content: \"line %d\\n\", mode: "
				"\"0644\"}\n",
				i, i);
		stage_recipe(&s, "demo", buf_text(&yaml));
		buf_done(&yaml);
		stage_run(&s, ORDER_APPLY, "demo");
		fresh = best_of_five(&s);
		s.memory = run_memory_new();
		warm = best_of_five(&s);
		print_message("no-op of %d steps: %lld us, %lld us with a memory\n", sizes[k],
			(long long)fresh / 1000, (long long)warm / 1000);
#ifndef __SANITIZE_ADDRESS__
		assert_true(fresh < sizes[k] * 50 * INT64_C(1000));
		assert_true(warm < sizes[k] * 25 * INT64_C(1000));
#endif
		stage_done(&s);
	}
}

T_MAIN
