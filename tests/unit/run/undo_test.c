/* what a run changed is remembered, taken back last first, and only when it is still ours. */
#include "agent/run/before.h"
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#define COUNT(s, r) ((s)->out.counts.n[r])

static const char DEMO[] =
	"recipe: demo\n"
	"params: {text: {type: text, default: \"new\\n\"}}\n"
	"steps:\n"
	"  - directory: {path: /etc/demo}\n"
	"  - file: {path: /etc/demo/a, content: \"{{ params.text }}\", mode: \"0640\"}\n"
	"    notify: after\n"
	"  - file: {path: /etc/old, content: \"{{ params.text }}\"}\n"
	"  - link: {path: /etc/demo/b, target: a}\n"
	"handlers:\n"
	"  - {name: after, command: {shell: note handled}}\n";

static unsigned remembered(struct stage *s, const char *recipe)
{
	json_t *doc = NULL;
	unsigned n;

	assert_int_equal(before_load(s->state, recipe, &doc, &s->err), 0);
	n = (unsigned)json_array_size(before_entries(doc));
	json_decref(doc);
	return n;
}

static unsigned blobs(const struct stage *s)
{
	char path[200];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%s/state/before/blobs", s->path);
	dir = opendir(path);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void check_as_before(const struct stage *s)
{
	assert_false(stage_has(s->root, "etc/demo"));
	assert_string_equal(stage_read(s, "etc/old"), "old\n");
}

TEST(undo_takes_all_back)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "etc/old", "old\n");
	stage_recipe(&s, "demo", DEMO);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(remembered(&s, "demo"), 4);
	assert_int_equal(blobs(&s), 1);
	assert_string_equal(stage_read(&s, "log"), "handled\n");

	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 5); /* and the handler */
	assert_string_equal(stage_event_str(&s, "undo", 0, "name"), "link /etc/demo/b");
	assert_string_equal(stage_event_str(&s, "undo", 3, "name"), "directory /etc/demo");
	check_as_before(&s);
	assert_string_equal(stage_read(&s, "log"), "handled\nhandled\n");
	assert_int_equal(remembered(&s, "demo"), 0);
	assert_int_equal(blobs(&s), 0);
	assert_false(stage_has(s.state, "runs/unfinished"));

	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_int_equal(s.before_change, 0);
	stage_done(&s);
}

/* Over many applies the first before and the last after count, and trimming journals loses nothing.
 */
TEST(undo_goes_back_to_the_first_state)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "etc/old", "old\n");
	stage_recipe(&s, "demo", DEMO);
	for (int i = 0; i < 3; i++) {
		char text[32];

		snprintf(text, sizeof text, "text %d\n", i);
		json_put_str(s.params, "text", text);
		stage_run(&s, ORDER_APPLY, "demo");
		stage_ends(&s, RESULT_CHANGED, "");
	}
	/* somebody else changes one, and it is set right again */
	stage_write(&s, "etc/old", "drifted\n");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_int_equal(remembered(&s, "demo"), 4);
	assert_int_equal(blobs(&s), 4); /* what each of the runs found */
	assert_int_equal(journal_trim(s.state, 0, &s.err), 0);
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_as_before(&s);
	stage_done(&s);
}

TEST(undo_leaves_what_others_changed)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "etc/old", "old\n");
	stage_recipe(&s, "demo", DEMO);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_write(&s, "etc/old", "theirs\n");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_FAILED, "undo of file /etc/old");
	assert_true(s.out.hint[0] != '\0');
	assert_string_equal(stage_read(&s, "etc/old"), "theirs\n");
	assert_false(stage_has(s.root, "etc/demo")); /* the rest was not stopped */
	assert_int_equal(remembered(&s, "demo"), 1);

	/* once it is ours again, the rest of the way is gone */
	stage_write(&s, "etc/old", "new\n");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_as_before(&s);
	stage_done(&s);
}

TEST(undo_tells_what_cannot_be_taken_back)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - command: {shell: note x}\n"
		"  - file: {path: /a, content: a}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(COUNT(&s, RESULT_SKIPPED), 1);
	assert_string_equal(stage_event_str(&s, "undo", 1, "state"), "skipped");
	stage_says(stage_event_str(&s, "undo", 1, "why"), "a 'command' cannot be taken back");
	assert_false(stage_has(s.root, "a"));
	assert_int_equal(remembered(&s, "demo"), 0);
	stage_done(&s);
}

TEST(undo_by_the_recipes_own_steps)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
		"undo:\n  - file: {path: /a, state: absent}\n  - command: {shell: note undone}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_event_str(&s, "step", 0, "of"), "undo");
	assert_false(stage_has(s.root, "a"));
	assert_string_equal(stage_read(&s, "log"), "undone\n");
	assert_int_equal(remembered(&s, "demo"), 0);
	stage_done(&s);
}

TEST(undo_of_several_recipes_goes_backwards)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "x", "0");
	stage_recipe(&s, "one", "recipe: one\nsteps:\n  - file: {path: /x, content: '1'}\n");
	stage_recipe(&s, "two", "recipe: two\nsteps:\n  - file: {path: /x, content: '2'}\n");
	stage_run(&s, ORDER_APPLY, "one two");
	stage_run(&s, ORDER_UNDO, "one two");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_event_str(&s, "undo", 0, "recipe"), "two");
	assert_string_equal(stage_read(&s, "x"), "0");
	stage_done(&s);
}

TEST(undo_is_looked_at_first)
{
	struct stage s;
	char hash[65];

	stage_init(&s);
	stage_write(&s, "etc/old", "old\n");
	stage_recipe(&s, "demo", DEMO);
	stage_run(&s, ORDER_APPLY, "demo");
	s.expect = ORDER_PREVIEW;
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/old"), "new\n");
	assert_int_equal(remembered(&s, "demo"), 4);
	assert_int_equal(s.before_change, 0);
	memcpy(hash, s.out.plan_hash, sizeof hash);

	s.expect = "0000000000000000000000000000000000000000000000000000000000000000";
	assert_int_equal(stage_try(&s, ORDER_UNDO, "demo"), -E_STATE);
	stage_says(s.err.msg, "the plan is another one now");
	s.expect = hash;
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_as_before(&s);
	stage_done(&s);
}

/* Killed in the middle of an apply: what had been changed until then is remembered by the next run.
 */
TEST(undo_of_a_run_that_was_killed)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "etc/old", "old\n");
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /etc/old, content: new}\n"
		"  - command: {shell: kill}\n");
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	stage_recipe(&s, "demo", "recipe: demo\nsteps: [{file: {path: /b, content: b}}]\n");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "etc/old"), "old\n");
	stage_done(&s);
}

/* --- restarts --- */

static const char RESTARTS[] = "recipe: demo\n"
			       "steps:\n"
			       "  - file: {path: /a, content: a}\n"
			       "    notify: boot\n"
			       "  - reboot: {timeout: 1}\n"
			       "  - reboot: {markers: [/again]}\n"
			       "  - file: {path: /b, content: b}\n"
			       "handlers:\n"
			       "  - {name: boot, reboot: {}}\n";

/* Applied, with three restarts on the way. */
static void restarted(struct stage *s)
{
	static const char *const boots[] = {"two", "three", "four"};

	stage_init(s);
	stage_recipe(s, "demo", RESTARTS);
	stage_write(s, "again", "");
	stage_run(s, ORDER_APPLY, "demo");
	for (size_t i = 0; i < 3; i++) {
		assert_true(s->out.rebooting);
		s->boot_id = boots[i];
		if (i == 1)
			assert_int_equal(fs_remove(s->root, "again", false, NULL), 0);
		stage_resume(s, ORDER_APPLY, "demo");
	}
	stage_ends(s, RESULT_CHANGED, "");
	assert_int_equal(s->reboots, 3);
	s->reboots = 0;
}

TEST(undo_restarts_once_when_all_else_is_taken_back)
{
	struct stage s;

	restarted(&s);
	stage_run(&s, ORDER_UNDO, "demo");
	assert_true(s.out.rebooting);
	assert_int_equal(s.reboots, 1);
	assert_true(json_get_bool(stage_event(&s, "rebooting", 0), "undo", false));
	assert_string_equal(stage_event_str(&s, "rebooting", 0, "boot_id"), "four");
	assert_int_equal(json_get_int(stage_event(&s, "rebooting", 0), "within", 0), 900);
	assert_false(stage_has(s.root, "a"));
	assert_false(stage_has(s.root, "b"));
	assert_true(stage_has(s.state, "runs/unfinished"));

	s.boot_id = "five";
	stage_resume(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 1);
	assert_string_equal(stage_event_str(&s, "undo", 0, "why"), "the node has restarted");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 5); /* two files, two steps, the handler */
	assert_int_equal(remembered(&s, "demo"), 0);
	assert_false(stage_has(s.state, "runs/unfinished"));
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_OK, "");
	assert_int_equal(s.reboots, 1);
	stage_done(&s);
}

TEST(undo_whose_restart_does_not_come_says_so)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - reboot: {timeout: 1}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	s.boot_id = "two";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_run(&s, ORDER_UNDO, "demo");
	assert_true(s.out.rebooting);
	stage_resume(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_TIMEOUT, "the node has not restarted within 1 s");
	assert_int_equal(remembered(&s, "demo"), 1);
	stage_done(&s);
}

TEST(undo_does_not_restart_what_was_not_restarted)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", RESTARTS);
	s.reboot_asked = true;
	stage_run(&s, ORDER_APPLY, "demo");
	assert_true(s.out.rebooting);
	assert_int_equal(s.reboots, 0);
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 0);
	assert_null(stage_event(&s, "rebooting", 0));
	assert_string_equal(stage_event_str(&s, "undo", 0, "why"), "is as it was before");
	assert_int_equal(remembered(&s, "demo"), 0);
	stage_done(&s);
}

TEST(undo_does_not_restart_when_something_stays)
{
	struct stage s;

	restarted(&s);
	stage_write(&s, "a", "theirs\n");
	stage_run(&s, ORDER_UNDO, "demo");
	assert_false(s.out.rebooting);
	stage_ends(&s, RESULT_FAILED, "undo of file /a");
	assert_int_equal(s.reboots, 0);
	assert_int_equal(remembered(&s, "demo"), 4);

	stage_write(&s, "a", "a");
	stage_run(&s, ORDER_UNDO, "demo");
	assert_true(s.out.rebooting);
	s.boot_id = "five";
	stage_resume(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 1);
	stage_done(&s);
}

TEST(undo_leaves_its_restart_to_who_announced_it)
{
	struct stage s;

	restarted(&s);
	s.reboot_asked = true;
	stage_run(&s, ORDER_UNDO, "demo");
	assert_true(s.out.rebooting);
	assert_int_equal(s.reboots, 0);
	assert_true(json_get_bool(stage_event(&s, "rebooting", 0), "asked", false));
	s.boot_id = "five";
	stage_resume(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(remembered(&s, "demo"), 0);
	stage_done(&s);
}

TEST(undo_of_a_damaged_memory)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_write_at(s.state, "before/demo.json", "{\"format\":1");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_FAILED, "before/demo.json");
	stage_says(s.out.hint, "remove it");
	stage_write_at(s.state, "before/demo.json", "{\"format\":7,\"entries\":[]}");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_FAILED, "format");
	assert_false(stage_has(s.root, "a"));
	stage_done(&s);
}

T_MAIN
