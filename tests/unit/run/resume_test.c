/* a run that was cut off goes on: done stays done, begun is looked at again, secrets are waited
 * for. */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#define COUNT(s, r) ((s)->out.counts.n[r])

static const char DEMO[] =
	"recipe: demo\n"
	"steps:\n"
	"  - file: {path: /a, content: a}\n"
	"    notify: after\n"
	"  - command: {shell: note once}\n"
	"    as: first\n"
	"  - command: {shell: half twice}\n"
	"    when: not exists('/log-is-not-looked-at') and not contains('/log', 'twice')\n"
	"  - file: {path: /z, content: z}\n"
	"    when: steps.first.changed\n"
	"handlers:\n"
	"  - {name: after, command: {shell: note handled}}\n";

TEST(resume_after_a_kill)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "log", "");
	stage_recipe(&s, "demo", DEMO);
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	assert_true(stage_has(s.state, "runs/unfinished"));
	assert_string_equal(stage_read(&s, "log"), "once\ntwice\n");
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "log"), "once\ntwice\ntwice\nhandled\n");
	assert_string_equal(stage_read(&s, "z"), "z");
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 5);
	assert_string_equal(json_get_str(json_array_get(s.events, 0), "ev", ""), "resume");
	assert_null(stage_event(&s, "since", 0));
	assert_false(stage_has(s.state, "runs/unfinished"));
	assert_int_equal(stage_try(&s, ORDER_APPLY, "demo"), 0); /* a new run */
	stage_done(&s);
}

TEST(resume_tells_what_changed_since)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "log", "");
	stage_recipe(&s, "demo", DEMO);
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	stage_write(&s, "a", "drifted");
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_event_str(&s, "since", 0, "name"), "file /a");
	assert_string_equal(stage_read(&s, "a"), "a");
	assert_string_equal(stage_read(&s, "log"), "once\ntwice\ntwice\nhandled\n");
	stage_run(&s, ORDER_UNDO, "demo");
	assert_false(stage_has(s.root, "a"));
	stage_done(&s);
}

/* Numbers go on where the journal ends, also behind half a line. */
TEST(resume_after_a_power_cut)
{
	struct stage s;
	int64_t seq;
	int fd;

	stage_init(&s);
	stage_write(&s, "log", "");
	stage_recipe(&s, "demo", DEMO);
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	fd = openat(s.state, "runs/run-1.journal", O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "{\"ev\":\"end\",\"seq\":9", 19), 19);
	close(fd);
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	seq = json_get_int(json_array_get(s.events, 0), "seq", 0);
	assert_int_equal(seq, 8); /* start notify intent step intent step intent */
	assert_int_equal(json_get_int(json_array_get(s.events, 1), "seq", 0), seq + 1);
	stage_done(&s);
}

/* It was done, only its record is missing: that is found out, not assumed. */
TEST(resume_finds_a_step_done)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
		"  - command: {shell: kill}\n");
	assert_int_equal(stage_fork(&s, ORDER_APPLY, "demo"), -1);
	/* the records of the file and of what follows are lost */
	{
		struct buf text;
		struct str rest, line;
		struct buf kept;

		buf_init(&text, 1 << 16);
		buf_init(&kept, 1 << 16);
		assert_int_equal(fs_read(s.state, "runs/run-1.journal", &text, &s.err), 0);
		rest = buf_str(&text);
		for (int i = 0; i < 2 && str_line(&rest, &line); i++) {
			buf_add_str(&kept, line);
			buf_add_char(&kept, '\n');
		}
		stage_write_at(s.state, "runs/run-1.journal", buf_text(&kept));
		buf_done(&text);
		buf_done(&kept);
	}
	stage_recipe(&s, "demo", "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(
		stage_event_str(&s, "step", 0, "why"), "was done when the run was interrupted");
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_false(stage_has(s.root, "a"));
	stage_done(&s);
}

TEST(resume_of_an_undo)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "x", "0");
	stage_recipe(&s, "one", "recipe: one\nsteps:\n  - file: {path: /x, content: '1'}\n");
	stage_recipe(
		&s, "two", "recipe: two\nsteps: []\nundo:\n  - command: {shell: half undone}\n");
	stage_run(&s, ORDER_APPLY, "one two");
	assert_int_equal(stage_fork(&s, ORDER_UNDO, "one two"), -1);
	stage_resume(&s, ORDER_UNDO, "one two");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "x"), "0");
	assert_string_equal(stage_read(&s, "log"), "undone\nundone\n");
	stage_done(&s);
}

/* --- reboot --- */

static const char REBOOTS[] = "recipe: demo\n"
			      "steps:\n"
			      "  - file: {path: /a, content: a}\n"
			      "    notify: after\n"
			      "  - reboot: {timeout: 1}\n"
			      "  - command: {shell: note behind}\n"
			      "handlers:\n"
			      "  - {name: after, command: {shell: note handled}}\n";

TEST(resume_after_a_reboot)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", REBOOTS);
	stage_run(&s, ORDER_APPLY, "demo");
	assert_true(s.out.rebooting);
	assert_int_equal(s.reboots, 1);
	assert_string_equal(stage_event_str(&s, "rebooting", 0, "boot_id"), "boot");
	assert_null(stage_event(&s, "end", 0));
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	assert_true(stage_has(s.state, "runs/unfinished"));

	s.boot_id = "another";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 1);
	assert_int_equal(COUNT(&s, RESULT_CHANGED), 4);
	assert_string_equal(stage_event_str(&s, "step", 0, "why"), "the node has restarted");
	assert_string_equal(stage_read(&s, "log"), "behind\nhandled\n");
	stage_done(&s);
}

TEST(resume_when_the_reboot_did_not_happen)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", REBOOTS);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_TIMEOUT, "the node has not restarted within 1 s");
	assert_true(s.out.hint[0] != '\0');
	assert_int_equal(s.reboots, 1);
	stage_done(&s);
}

TEST(resume_of_a_reboot_whose_reason_stays)
{
	struct stage s;

	stage_init(&s);
	stage_write(&s, "run/reboot-required", "");
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - reboot: {markers: [/run/reboot-required]}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_true(s.out.rebooting);
	s.boot_id = "another";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_FAILED, "the node has restarted, and still");
	assert_int_equal(s.reboots, 1);
	stage_done(&s);
}

TEST(resume_after_a_reboot_by_a_handler)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo",
		"recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n    notify: [boot, after]\n"
		"handlers:\n  - {name: boot, reboot: {}}\n"
		"  - {name: after, command: {shell: note handled}}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	assert_true(s.out.rebooting);
	s.boot_id = "another";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 1);
	assert_string_equal(stage_read(&s, "log"), "handled\n");
	stage_done(&s);
}

TEST(resume_after_a_reboot_that_was_somebody_elses)
{
	struct stage s;

	stage_init(&s);
	stage_recipe(&s, "demo", REBOOTS);
	s.reboot_asked = true;
	stage_run(&s, ORDER_APPLY, "demo");
	assert_true(s.out.rebooting);
	assert_int_equal(s.reboots, 0);
	assert_true(json_get_bool(stage_event(&s, "rebooting", 0), "asked", false));
	assert_true(stage_has(s.state, "runs/unfinished"));
	assert_string_equal(stage_read(&s, "log"), "(absent)");
	s.boot_id = "another";
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_int_equal(s.reboots, 0);
	assert_string_equal(stage_read(&s, "log"), "behind\nhandled\n");
	stage_done(&s);
}

/* --- secrets --- */

TEST(resume_waits_for_a_secret)
{
	struct stage s;
	json_t *name = json_pack("{s:s}", "$secret", "db-password");

	stage_init(&s);
	json_object_set_new(s.params, "password", name);
	stage_recipe(&s, "demo",
		"recipe: demo\nparams: {password: {type: secret}}\nsteps:\n"
		"  - reboot: {}\n"
		"  - file: {path: /conf, content: \"pass={{ params.password }}\", mode: \"0600\"}\n");
	stage_secret(&s, "db-password", "hunter22");
	stage_run(&s, ORDER_APPLY, "demo");
	if (!s.out.rebooting)
		fail_msg("%s", s.out.reason);

	s.boot_id = "another";
	json_drop(&s.secrets); /* the node by itself knows none */
	stage_resume(&s, ORDER_APPLY, "demo");
	assert_true(s.out.waits);
	stage_ends(&s, RESULT_INTERRUPTED, "needs secret 'db-password'");
	assert_true(stage_has(s.state, "runs/unfinished"));
	assert_false(stage_has(s.root, "conf"));

	stage_secret(&s, "db-password", "hunter22");
	stage_resume(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "conf"), "pass=hunter22");
	stage_done(&s);
}

T_MAIN
