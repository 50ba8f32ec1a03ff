/* stage_order - an order to fetch ahead: decided like a plan, nothing changed, nothing journalled.
 */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#include <dirent.h>

static unsigned files_in(int dir, const char *name)
{
	const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

TEST(stage_fetches_a_transaction_and_changes_nothing)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n"
		"  - package: {names: [one]}\n"
		"  - file: {path: /etc/motd, content: hello}\n"
		"  - package: {names: [two]}\n"
		"    notify: again\n"
		"  - package: {names: [three]}\n"
		"    when: facts.os.id == 'plan9'\n"
		"handlers:\n  - {name: again, command: {shell: note again}}\n"
		"check:\n  - {name: never, expect: \"exists('/never')\"}\n");
	stage_run(&s, ORDER_STAGE, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_string_equal(stage_read(&s, "staged"), "2 steps\n");
	assert_string_equal(stage_read(&s, "packages"), "(absent)");
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	assert_false(stage_has(s.root, "etc/motd"));
	assert_string_equal(stage_event_str(&s, "stage", 0, "state"), "ok");
	assert_string_equal(stage_event_str(&s, "stage", 0, "why"), "2 packages fetched");
	assert_int_equal(json_get_int(stage_event(&s, "stage", 0), "step", 0), 1);
	assert_null(stage_event(&s, "stage", 1));
	assert_null(stage_event(&s, "handler", 0));
	assert_null(stage_event(&s, "check", 0));
	assert_int_equal(s.out.counts.n[RESULT_OK], 3);
	assert_int_equal(s.out.counts.n[RESULT_SKIPPED], 1);
	/* it may take long, so the session is left; but there is nothing to go on with */
	assert_int_equal(s.before_change, 1);
	assert_int_equal(files_in(s.state, "runs"), 0);
	assert_int_equal(files_in(s.state, "before"), 0);
	stage_done(&s);
}

TEST(stage_of_what_is_there_starts_nothing)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "packages", "one\n");
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - package: {names: [one]}\n");
	stage_run(&s, ORDER_STAGE, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_false(stage_has(s.root, "staged"));
	assert_int_equal(s.before_change, 0);
	stage_done(&s);
}

TEST(stage_that_is_refused_says_what_an_apply_would)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - package: {names: [bad]}\n  - package: {names: [two]}\n");
	stage_run(&s, ORDER_STAGE, "demo");
	stage_ends(&s, RESULT_DENIED, "step 1 (package bad): held by administrator: bad");
	assert_string_equal(stage_event_str(&s, "stage", 0, "state"), "denied");
	assert_false(stage_has(s.root, "staged"));
	assert_int_equal(files_in(s.state, "runs"), 0);
	/* nothing of it is in the way of an apply */
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - package: {names: [two]}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	stage_done(&s);
}

TEST(stage_behind_a_source_that_is_not_there_yet_is_unknown)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /etc/source, content: x}\n"
		"  - package: {names: [far]}\n");
	stage_run(&s, ORDER_STAGE, "demo");
	stage_ends(&s, RESULT_UNKNOWN, "");
	stage_says(stage_event_str(&s, "stage", 0, "why"),
		"depends on step 1 (file): there is no package 'far'");
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - package: {names: [far]}\n");
	stage_run(&s, ORDER_STAGE, "demo");
	stage_ends(&s, RESULT_FAILED, "there is no package 'far'");
	stage_done(&s);
}

TEST(stage_goes_on_elsewhere_when_told)
{
	struct stage s;

	stage_init(&s);
	s.elsewhere = 1;
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - package: {names: [one]}\n");
	assert_int_equal(stage_try(&s, ORDER_STAGE, "demo"), 1);
	assert_false(stage_has(s.root, "staged"));
	stage_done(&s);
}

T_MAIN
