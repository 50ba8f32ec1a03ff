/*
 * unit and timer - systemctl and systemd-analyze are scripts of the throw-away root.
 *
 * systemctl keeps /on of one unit, app, and the traces that systemd leaves of it; systemd-analyze
 * complains about each line that begins with "Bad".
 */
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

static const char SYSTEMCTL[] =
	"#!/bin/sh\n"
	"echo \"$*\" >>/log\n"
	"for unit; do :; done\n"
	"w=/etc/systemd/system/multi-user.target.wants\n"
	"c=/sys/fs/cgroup/system.slice/app.service/cgroup.events\n"
	"i=/run/systemd/units/invocation:app.service\n"
	"case $1 in\n"
	"show) if [ -e /on ]; then a=active s=running; else a=inactive s=dead; fi\n"
	"  echo LoadState=loaded; echo ActiveState=$a; echo SubState=$s; echo Result=success;;\n"
	"start|restart) [ ! -e /dies ] || exit 1; : >/on; echo populated 1 >$c; ln -sf x $i;;\n"
	"stop) rm -f /on $c $i;;\n"
	"enable) ln -s /x $w/$2;;\n"
	"disable) rm -f $w/$2;;\n"
	"esac\n"
	"exit 0\n";

static const char ANALYZE[] =
	"#!/bin/sh\n"
	"case $1 in\n"
	"verify) n=0; for f in $3 $3.d/*.conf; do [ -e $f ] || continue; while read l; do n=$((n+1)); case $l in "
	"Bad*) echo \"$f:$n: Unknown key '$l', ignoring.\";; esac; done <$f; done\n"
	"  echo 'other.service:1: Unknown key, ignoring.';;\n"
	"calendar) case $3 in nope) echo 'Failed to parse calendar specification'; exit 1;; esac;;\n"
	"esac\n"
	"exit 0\n";

static const char *const IGNORED[] = {"log", NULL};

static void init(struct tree *t)
{
	tree_init(t);
	tree_ignore = IGNORED;
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_add(t, "/bin/rm", "/bin/rm");
	programs_add(t, "/bin/ln", "/bin/ln");
	programs_script(t, "usr/bin/systemctl", SYSTEMCTL);
	programs_script(t, "usr/bin/journalctl", "#!/bin/sh\necho 'bind: in use'\n");
	programs_script(t, "usr/bin/systemd-analyze", ANALYZE);
	tree_mkdir(t, "run/systemd/system");
	tree_mkdir(t, "run/systemd/units");
	tree_mkdir(t, "sys/fs/cgroup/system.slice/app.service");
	tree_mkdir(t, "etc/systemd/system/multi-user.target.wants");
	tree_write(t, "usr/lib/systemd/system/vendor.service", "[Service]\nExecStart=/bin/true\n");
	tree_write(t, "log", "");
}

static void set_running(struct tree *t)
{
	tree_write(t, "on", "");
	tree_write(t, "sys/fs/cgroup/system.slice/app.service/cgroup.events", "populated 1\n");
	tree_link(t, "x", "run/systemd/units/invocation:app.service");
}

#define TEXT "\"content\": \"[Service]\\nExecStart=/bin/true\\n\""

TEST(unit_is_written_loaded_enabled_and_started)
{
	static const char ARGS[] =
		"{\"name\": \"app\", " TEXT ", \"state\": \"running\", \"enabled\": true}";
	struct tree t;

	init(&t);
	tree_converge(&t, "unit", ARGS);
	assert_string_equal(tree_read(&t, "etc/systemd/system/app.service"),
		"[Service]\nExecStart=/bin/true\n");
	assert_non_null(strstr(tree_read(&t, "log"), "daemon-reload\n"));
	assert_non_null(strstr(tree_read(&t, "log"), "start app.service\n"));
	assert_true(tree_has(&t, "on"));
	assert_false(tree_has(&t, "run/stoika-verify"));
	tree_converge(&t, "unit", "{\"name\": \"app\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "etc/systemd/system/app.service"));
	assert_false(tree_has(&t, "on"));
	tree_done(&t);
}

TEST(unit_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "unit", "{\"name\": \"app\", " TEXT "}");
	tree_undoes(&t, "unit",
		"{\"name\": \"app\", " TEXT ", \"state\": \"running\", \"enabled\": true}");
	tree_undoes(&t, "unit", "{\"name\": \"vendor\", \"dropin\": \"10-x\", " TEXT "}");
	tree_undoes(&t, "unit", "{\"name\": \"vendor\", \"state\": \"masked\"}");
	tree_write(&t, "etc/systemd/system/app.service", "[Service]\nExecStart=/bin/old\n");
	set_running(&t);
	tree_undoes(&t, "unit", "{\"name\": \"app\", " TEXT ", \"state\": \"stopped\"}");
	tree_undoes(&t, "unit", "{\"name\": \"app\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(unit_dropin_of_what_is_installed)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "unit",
		"{\"name\": \"vendor\", \"dropin\": \"10-limits\", \"content\": "
		"\"[Service]\\nLimitNOFILE=1\\n\"}");
	assert_string_equal(tree_read(&t, "etc/systemd/system/vendor.service.d/10-limits.conf"),
		"[Service]\nLimitNOFILE=1\n");
	assert_int_equal(
		tree_apply(&t, "unit", "{\"name\": \"none\", \"dropin\": \"x\", " TEXT "}"),
		-E_NOTFOUND);
	tree_converge(&t, "unit",
		"{\"name\": \"vendor\", \"dropin\": \"10-limits\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(unit_that_systemd_does_not_take_changes_nothing)
{
	struct tree t;

	init(&t);
	tree_write(&t, "etc/systemd/system/app.service", "[Service]\n");
	assert_int_equal(tree_apply(&t, "unit",
				 "{\"name\": \"app\", \"content\": \"[Service]\\nBad=1\\n\"}"),
		-E_SCHEMA);
	assert_non_null(strstr(t.err.msg, "app.service:2: Unknown key"));
	assert_non_null(strstr(t.err.hint, "verify: false"));
	assert_string_equal(tree_read(&t, "etc/systemd/system/app.service"), "[Service]\n");
	assert_false(tree_has(&t, "run/stoika-verify"));
	assert_null(strstr(tree_read(&t, "log"), "daemon-reload"));
	assert_int_equal(tree_apply(&t, "unit",
				 "{\"name\": \"vendor\", \"dropin\": \"x\", \"content\": "
				 "\"[Service]\\nBad=1\\n\"}"),
		-E_SCHEMA);
	tree_converge(&t, "unit",
		"{\"name\": \"app\", \"verify\": false, \"content\": \"[Service]\\nBad=1\\n\"}");
	tree_done(&t);
}

TEST(unit_that_starts_and_dies)
{
	struct tree t;

	init(&t);
	tree_write(&t, "dies", "");
	assert_true(tree_apply(&t, "unit",
			    "{\"name\": \"app\", " TEXT ", \"state\": \"running\"}") < 0);
	assert_non_null(strstr(t.err.msg, "bind: in use"));
	assert_non_null(strstr(t.err.hint, "journalctl"));
	tree_done(&t);
}

TEST(unit_masks)
{
	static const char ARGS[] = "{\"name\": \"vendor\", \"state\": \"masked\"}";
	struct tree t;

	init(&t);
	tree_write(&t, "on", "");
	tree_converge(&t, "unit", ARGS);
	assert_false(tree_has(&t, "on"));
	tree_converge(&t, "unit", "{\"name\": \"vendor\", \"state\": \"absent\"}");
	tree_write(&t, "etc/systemd/system/vendor.service", "[Service]\n");
	tree_refused(&t, "unit", ARGS, E_CONFLICT);
	tree_done(&t);
}

TEST(unit_file_without_systemd)
{
	struct tree t;

	tree_init(&t);
	tree_converge(&t, "unit", "{\"name\": \"app\", " TEXT "}");
	assert_true(tree_check(&t, "unit", "{\"name\": \"app\", " TEXT ", \"enabled\": true}") < 0);
	tree_done(&t);
}

TEST(unit_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{\"name\": \"\", " TEXT "}",
		"{\"name\": \"a/b\", " TEXT "}", "{\"name\": \"a*\", " TEXT "}",
		"{\"name\": \"a\"}", "{\"name\": \"a\", \"dropin\": \"../x\", " TEXT "}",
		"{\"name\": \"a\", \"dropin\": \"10-x.conf\", " TEXT "}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
		tree_refused(&t, "unit", BAD[i], E_SCHEMA);
	tree_refused(&t, "unit", "{\"name\": \"a\", \"source\": \"x\", " TEXT "}", E_CONFLICT);
	tree_refused(&t, "unit", "{\"name\": \"a\", \"state\": \"masked\", " TEXT "}", E_CONFLICT);
	tree_refused(&t, "unit", "{\"name\": \"a\", \"state\": \"masked\", \"dropin\": \"b\"}",
		E_CONFLICT);
	tree_done(&t);
}

#define TIMER                                                                         \
	"{\"name\": \"scrub\", \"run\": [\"/bin/scrub\", \"a \\\"b\\\" $HOME %h\"], " \
	"\"on_calendar\": \"daily\", \"randomized_delay\": \"1h 30min\"}"

TEST(timer_makes_two_units)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "timer", TIMER);
	assert_string_equal(tree_read(&t, "etc/systemd/system/scrub.timer"),
		"# kept by stoika: changes made here are lost\n[Unit]\nDescription=scrub\n\n"
		"[Timer]\nOnCalendar=daily\nPersistent=true\nRandomizedDelaySec=1h 30min\n\n"
		"[Install]\nWantedBy=timers.target\n");
	assert_string_equal(tree_read(&t, "etc/systemd/system/scrub.service"),
		"# kept by stoika: changes made here are lost\n[Unit]\nDescription=scrub\n\n"
		"[Service]\nType=oneshot\n"
		"ExecStart=\"/bin/scrub\" \"a \\\"b\\\" $$HOME %%h\"\n");
	assert_true(tree_has(&t, "on"));
	/* a new calendar is taken up at once */
	tree_write(&t, "log", "");
	tree_converge(
		&t, "timer", "{\"name\": \"scrub\", \"shell\": \"true\", \"on_boot\": \"5min\"}");
	assert_non_null(strstr(tree_read(&t, "log"), "restart scrub.timer\n"));
	tree_converge(&t, "timer", "{\"name\": \"scrub\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "etc/systemd/system/scrub.service"));
	tree_done(&t);
}

TEST(timer_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "timer", TIMER);
	tree_converge(&t, "timer", TIMER);
	tree_undoes(&t, "timer", "{\"name\": \"scrub\", \"state\": \"absent\"}");
	tree_undoes(&t, "timer",
		"{\"name\": \"scrub\", \"shell\": \"true\", \"on_calendar\": \"weekly\"}");
	tree_done(&t);
}

TEST(timer_refuses_bad_arguments)
{
	static const char *const BAD[] = {
		"{\"name\": \"a.b\", \"shell\": \"x\", \"on_calendar\": \"daily\"}",
		"{\"name\": \"a\", \"on_calendar\": \"daily\"}",
		"{\"name\": \"a\", \"shell\": \"x\"}",
		"{\"name\": \"a\", \"shell\": \"x\", \"on_calendar\": \"a=b\"}",
		"{\"name\": \"a\", \"shell\": \"x\", \"on_calendar\": \"\"}",
		"{\"name\": \"a\", \"shell\": \"x\", \"on_boot\": \"5 parsecs\"}",
		"{\"name\": \"a\", \"shell\": \"x\", \"on_boot\": \"\"}",
		"{\"name\": \"a\", \"shell\": \"x\", \"on_boot\": \"min\"}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		tree_refused(&t, "timer", BAD[i], E_SCHEMA);
		assert_true(t.err.hint[0]);
	}
	/* only systemd knows that it is none */
	assert_int_equal(tree_apply(&t, "timer",
				 "{\"name\": \"a\", \"shell\": \"x\", \"on_calendar\": \"nope\"}"),
		-E_SCHEMA);
	assert_non_null(strstr(t.err.hint, "systemd-analyze calendar"));
	assert_false(tree_has(&t, "etc/systemd/system/a.timer"));
	tree_done(&t);
	tree_init(&t);
	tree_refused(&t, "timer", TIMER, E_UNSUPPORTED);
	assert_true(t.rep.denied);
	tree_done(&t);
}

T_MAIN
