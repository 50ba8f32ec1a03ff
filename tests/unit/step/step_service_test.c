/*
 * service - systemd's traces in a root, and a systemctl that is a script there.
 *
 * The script writes its arguments to /log and keeps the unit's state in /state,
 * as the four words LOAD ACTIVE SUB FILE.
 */
#include "tests/unit/step/programs.h"

static const char SYSTEMCTL[] =
	"#!/bin/sh\n"
	"echo \"$*\" >>/log\n"
	"read load active sub file </state\n"
	"case $1 in\n"
	"show) [ ! -e /stale ] || echo NeedDaemonReload=yes; echo \"LoadState=$load\"; "
	"echo \"ActiveState=$active\"; echo \"SubState=$sub\"; echo \"UnitFileState=$file\"; "
	"echo Result=exit-code; exit 0;;\n"
	"daemon-reload) exit 0;;\n"
	"start|restart) [ ! -e /dies ] || { echo \"$load failed failed $file\" >/state; exit 0; }\n"
	"  echo \"$load active running $file\" >/state;;\n"
	"stop) echo \"$load inactive dead $file\" >/state;;\n"
	"reload) ;;\n"
	"enable) : >/etc/systemd/system/multi-user.target.wants/$2;;\n"
	"disable) ;;\n"
	"esac\n";

static const char JOURNALCTL[] = "#!/bin/sh\necho 'bind: Address already in use'\n";

static void init_systemd(struct tree *t, const char *state)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_script(t, "usr/bin/systemctl", SYSTEMCTL);
	programs_script(t, "usr/bin/journalctl", JOURNALCTL);
	tree_mkdir(t, "run/systemd/system");
	tree_mkdir(t, "run/systemd/units");
	tree_mkdir(t, "etc/systemd/system/multi-user.target.wants");
	tree_write(t, "usr/lib/systemd/system/app.service", "[Service]\n");
	tree_write(t, "usr/lib/systemd/system/inst@.service", "[Service]\n");
	tree_write(t, "state", state);
}

static void set_running(struct tree *t, const char *cgroup, const char *events)
{
	char path[256];

	tree_link(t, "0123", "run/systemd/units/invocation:app.service");
	snprintf(path, sizeof path, "%s/system.slice/app.service/cgroup.events", cgroup);
	tree_write(t, path, events);
}

TEST(systemd_no_op_starts_no_program)
{
	struct tree t;

	init_systemd(&t, "loaded active running enabled\n");
	set_running(&t, "sys/fs/cgroup", "populated 1\nfrozen 0\n");
	tree_link(&t, "x", "etc/systemd/system/multi-user.target.wants/app.service");
	assert_int_equal(
		tree_check(&t, "service", "{\"name\": \"app\", \"enabled\": true}"), STEP_SAME);
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"app.service\"}"), STEP_SAME);
	assert_false(tree_has(&t, "log"));
	tree_done(&t);
}

TEST(systemd_no_op_of_a_stopped_service)
{
	struct tree t;

	init_systemd(&t, "loaded inactive dead disabled\n");
	assert_int_equal(tree_check(&t, "service",
				 "{\"name\": \"app\", \"state\": \"stopped\", \"enabled\": false}"),
		STEP_SAME);
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"none\", \"state\": \"stopped\"}"),
		STEP_SAME);
	assert_false(tree_has(&t, "log"));
	tree_done(&t);
}

/* Where the unit's cgroup lies, by what /proc/1/cgroup says. */
static const struct {
	const char *init, *cgroup;
} CGROUPS[] = {
	{"0::/init.scope\n", "sys/fs/cgroup"},
	{"0::/\n", "sys/fs/cgroup"},
	{"0::/machine.slice/gpu01/init.scope\n", "sys/fs/cgroup/machine.slice/gpu01"},
	{"12:pids:/\n1:name=systemd:/init.scope\n0::/init.scope\n", "sys/fs/cgroup/systemd"},
	{"1:name=systemd:/box/init.scope\n", "sys/fs/cgroup/systemd/box"},
	{"0::/init.scope\n", "sys/fs/cgroup/unified"},
};

TEST(systemd_cgroup_is_found)
{
	for (size_t i = 0; i < sizeof CGROUPS / sizeof CGROUPS[0]; i++) {
		struct tree t;

		init_systemd(&t, "loaded active running enabled\n");
		tree_write(&t, "proc/1/cgroup", CGROUPS[i].init);
		set_running(&t, CGROUPS[i].cgroup, "populated 1\n");
		assert_int_equal(tree_check(&t, "service", "{\"name\": \"app\"}"), STEP_SAME);
		if (tree_has(&t, "log"))
			fail_msg("row %zu asked systemctl", i);
		tree_done(&t);
	}
}

TEST(systemd_is_asked_where_the_traces_do_not_agree)
{
	struct tree t;

	/* a oneshot that stays active: it has a link, and no processes */
	init_systemd(&t, "loaded active exited static\n");
	set_running(&t, "sys/fs/cgroup", "populated 0\n");
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"app\"}"), STEP_SAME);
	assert_true(tree_has(&t, "log"));
	tree_done(&t);
}

TEST(systemd_alias_is_followed)
{
	struct tree t;

	init_systemd(&t, "loaded active running enabled\n");
	set_running(&t, "sys/fs/cgroup", "populated 1\n");
	tree_link(&t, "/usr/lib/systemd/system/app.service", "etc/systemd/system/appd.service");
	tree_link(&t, "x", "etc/systemd/system/multi-user.target.wants/app.service");
	assert_int_equal(
		tree_check(&t, "service", "{\"name\": \"appd\", \"enabled\": true}"), STEP_SAME);
	assert_false(tree_has(&t, "log"));
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"appd\", \"state\": \"stopped\"}"),
		STEP_DIFFERS);
	tree_done(&t);
}

TEST(systemd_leftover_processes_are_not_running)
{
	struct tree t;

	init_systemd(&t, "loaded failed failed enabled\n");
	tree_write(&t, "sys/fs/cgroup/system.slice/app.service/cgroup.procs", "77\n");
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"app\"}"), STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff), "app: failed (exit-code) -> running\n");
	tree_done(&t);
}

TEST(systemd_starts_and_enables)
{
	static const char ARGS[] = "{\"name\": \"app\", \"enabled\": true}";
	struct tree t;

	init_systemd(&t, "loaded inactive dead disabled\n");
	assert_int_equal(tree_check(&t, "service", ARGS), STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff),
		"app: inactive (dead) -> running\napp: disabled -> enabled\n");
	tree_converge(&t, "service", ARGS);
	assert_non_null(strstr(tree_read(&t, "log"), "enable app.service\nstart app.service\n"));
	assert_null(strstr(tree_read(&t, "log"), "daemon-reload"));
	tree_done(&t);
}

TEST(systemd_reloads_stale_units_first)
{
	struct tree t;

	init_systemd(&t, "loaded inactive dead disabled\n");
	tree_write(&t, "stale", "");
	assert_int_equal(tree_apply(&t, "service", "{\"name\": \"app\"}"), 0);
	assert_non_null(strstr(tree_read(&t, "log"), "daemon-reload\n"));
	tree_done(&t);
}

TEST(systemd_stops)
{
	struct tree t;

	init_systemd(&t, "loaded active running disabled\n");
	set_running(&t, "sys/fs/cgroup", "populated 1\n");
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"app\", \"state\": \"stopped\"}"),
		STEP_DIFFERS);
	assert_int_equal(
		tree_apply(&t, "service", "{\"name\": \"app\", \"state\": \"stopped\"}"), 0);
	assert_non_null(strstr(tree_read(&t, "state"), "inactive"));
	tree_done(&t);
}

TEST(systemd_restart_is_done_each_time)
{
	struct tree t;

	init_systemd(&t, "loaded active running disabled\n");
	set_running(&t, "sys/fs/cgroup", "populated 1\n");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			tree_check(&t, "service", "{\"name\": \"app\", \"state\": \"restarted\"}"),
			STEP_DIFFERS);
		assert_true(t.rep.always);
		assert_int_equal(
			tree_apply(&t, "service", "{\"name\": \"app\", \"state\": \"restarted\"}"),
			0);
	}
	assert_int_equal(
		tree_apply(&t, "service", "{\"name\": \"app\", \"state\": \"reloaded\"}"), 0);
	assert_non_null(strstr(tree_read(&t, "log"), "restart app.service\n"));
	assert_non_null(strstr(tree_read(&t, "log"), "reload app.service\n"));
	tree_done(&t);
}

TEST(systemd_service_that_dies_tells_its_log)
{
	struct tree t;

	init_systemd(&t, "loaded inactive dead disabled\n");
	tree_write(&t, "dies", "");
	assert_int_equal(tree_apply(&t, "service", "{\"name\": \"app\"}"), -E_STATE);
	assert_non_null(strstr(t.err.msg, "failed (exit-code)"));
	assert_non_null(strstr(t.err.msg, "Address already in use"));
	assert_non_null(strstr(t.err.hint, "journalctl -u app.service"));
	tree_done(&t);
}

TEST(systemd_unit_that_is_not_there)
{
	struct tree t;

	init_systemd(&t, "not-found inactive dead \n");
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "service", "{\"name\": \"none\"}"), STEP_UNKNOWN);
	assert_string_equal(t.rep.why, "unit 'none' is not installed yet");
	t.env.dry = false;
	tree_refused(&t, "service", "{\"name\": \"none\"}", E_NOTFOUND);
	assert_int_equal(tree_apply(&t, "service", "{\"name\": \"none\"}"), -E_NOTFOUND);
	assert_int_equal(
		tree_check(&t, "service", "{\"name\": \"inst@a\", \"state\": \"unchanged\"}"),
		STEP_SAME);
	tree_done(&t);
}

TEST(systemd_masked_and_static_units)
{
	struct tree t;

	init_systemd(&t, "masked inactive dead masked\n");
	assert_int_equal(tree_apply(&t, "service", "{\"name\": \"app\"}"), -E_STATE);
	assert_non_null(strstr(t.err.hint, "unmask"));
	tree_write(&t, "state", "loaded inactive dead static\n");
	assert_int_equal(tree_apply(&t, "service", "{\"name\": \"app\", \"enabled\": true}"),
		-E_UNSUPPORTED);
	tree_done(&t);
}

/* A script whose daemon is a process of the tree's own /proc. */
static const char SCRIPT[] =
	"#!/bin/sh\n"
	"# the daemon\n"
	"DAEMON=/usr/sbin/appd-main\n"
	"PIDFILE=/run/app/main.pid\n"
	"echo \"$1\" >>/log\n"
	"case $1 in start|restart) echo 77 >/run/app/main.pid;; stop) echo >/run/app/main.pid;; esac\n";

static void init_sysv(struct tree *t)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_script(t, "etc/init.d/app", SCRIPT);
	programs_script(t, "usr/sbin/update-rc.d",
		"#!/bin/sh\necho \"rc $*\" >>/log\n: >/etc/rc2.d/S01$1\n");
	tree_mkdir(t, "run/app");
	tree_mkdir(t, "etc/rc2.d");
	tree_write(t, "proc/77/comm", "appd-main\n");
	tree_write(t, "proc/78/comm", "bash\n");
	tree_write(t, "proc/79/comm", "python3\n");
}

TEST(sysv_starts_stops_and_enables)
{
	struct tree t;

	init_sysv(&t);
	tree_converge(&t, "service", "{\"name\": \"app\", \"enabled\": true}");
	assert_string_equal(tree_read(&t, "log"), "rc app defaults\nstart\n");
	assert_int_equal(
		tree_apply(&t, "service", "{\"name\": \"app\", \"state\": \"restarted\"}"), 0);
	tree_converge(&t, "service", "{\"name\": \"app\", \"state\": \"stopped\"}");
	tree_done(&t);
}

static const struct {
	const char *file, *pid, *cmdline;
	int state;
} PIDS[] = {
	{"run/app/main.pid", "77\n", NULL, STEP_SAME},
	{"run/app/main.pid", "78\n", NULL, STEP_DIFFERS}, /* the pid is somebody else's now */
	{"run/app/main.pid", "4242\n", NULL, STEP_DIFFERS},
	{"run/app/main.pid", "rubbish\n", NULL, STEP_DIFFERS},
	{"run/app/main.pid", "", NULL, STEP_DIFFERS},
	{"run/app.pid", "77\n", NULL, STEP_SAME},
	{"run/appd.pid", "77", NULL, STEP_SAME},
	{"var/run/app.pid", " 77\n", NULL, STEP_SAME},
	{"run/app.pid", "79\n", "python3", STEP_DIFFERS},
	{"run/app.pid", "79\n", "/usr/bin/python3", STEP_DIFFERS},
};

TEST(sysv_believes_only_its_own_process)
{
	for (size_t i = 0; i < sizeof PIDS / sizeof PIDS[0]; i++) {
		struct tree t;

		init_sysv(&t);
		tree_write(&t, PIDS[i].file, PIDS[i].pid);
		if (PIDS[i].cmdline)
			tree_write(&t, "proc/79/cmdline", PIDS[i].cmdline);
		if (tree_check(&t, "service", "{\"name\": \"app\"}") != PIDS[i].state)
			fail_msg("row %zu: %s", i, t.err.msg);
		tree_done(&t);
	}
}

TEST(service_without_anything_to_manage_it)
{
	struct tree t;

	tree_init(&t);
	tree_refused(&t, "service", "{\"name\": \"app\"}", E_UNSUPPORTED);
	assert_true(t.rep.denied);
	assert_true(t.err.hint[0]);
	tree_done(&t);
}

static const char *const BAD[] = {"{\"name\": \"\"}", "{\"name\": \"../etc/passwd\"}",
	"{\"name\": \"-x\"}", "{\"name\": \".x\"}", "{\"name\": \"inst@*\"}", "{\"name\": \"ap?\"}",
	"{\"name\": \"a[pb]p\"}", "{\"name\": \"a b\"}", "{\"name\": \"a\\nb\"}"};

TEST(service_refuses_bad_names)
{
	struct tree t;

	tree_init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
		tree_refused(&t, "service", BAD[i], E_SCHEMA);
	tree_done(&t);
}

T_MAIN
