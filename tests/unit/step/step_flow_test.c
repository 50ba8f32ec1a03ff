/* wait, assert, note and reboot. */
#include "agent/base/clock.h"
#include "agent/step/reboot.h"
#include "tests/unit/step/programs.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* The first step of a recipe, for arguments that are expressions. */
static void load(struct tree *t, const char *step)
{
	struct recipe *r;
	char text[512];

	snprintf(text, sizeof text, "recipe: demo\nabout: a test\nsteps:\n  - %s\n", step);
	if (recipe_parse(t->arena, "demo", str_of(text), NULL, &r, &t->err) < 0)
		fail_msg("%s", t->err.msg);
	t->env.step = &r->steps[0];
}

TEST(note_tells_and_changes_nothing)
{
	struct tree t;

	tree_init(&t);
	assert_int_equal(tree_check(&t, "note", "{\"message\": \"look \\u001b here\"}"), STEP_SAME);
	assert_true(t.rep.tell);
	assert_string_equal(t.rep.why, "look \\x1b here");
	assert_int_equal(tree_apply(&t, "note", "{\"message\": \"x\"}"), 0);
	assert_false(t.rep.tell);
	tree_done(&t);
}

TEST(assert_in_its_three_values)
{
	struct tree t;

	tree_init(&t);
	load(&t, "assert: {that: exists('/etc/passwd')}");
	assert_int_equal(tree_check(&t, "assert", "{}"), STEP_SAME);
	load(&t, "assert: {that: exists('/etc/nope')}");
	tree_refused(
		&t, "assert", "{\"message\": \"no such file\", \"hint\": \"make it\"}", E_STATE);
	assert_string_equal(t.err.msg, "no such file");
	assert_string_equal(t.err.hint, "make it");
	tree_refused(&t, "assert", "{}", E_STATE);
	assert_true(t.err.hint[0]);
	assert_int_equal(tree_apply(&t, "assert", "{}"), -E_STATE);
	t.scope.probe = NULL; /* as where the node cannot be asked */
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "assert", "{}"), STEP_UNKNOWN);
	t.env.step = NULL;
	tree_refused(&t, "assert", "{}", E_SCHEMA);
	tree_done(&t);
}

TEST(reboot_by_its_reasons)
{
	static const char MARKED[] = "{\"markers\": [\"/run/reboot-required\"]}";
	struct tree t;

	tree_init(&t);
	assert_int_equal(tree_check(&t, "reboot", MARKED), STEP_SAME);
	tree_write(&t, "run/reboot-required", "");
	assert_int_equal(tree_check(&t, "reboot", MARKED), STEP_DIFFERS);
	assert_non_null(strstr(t.rep.why, "/run/reboot-required"));
	assert_false(t.rep.always);
	assert_int_equal(tree_apply(&t, "reboot", MARKED), 0);
	assert_true(t.rep.reboot);
	/* /run is empty after the boot, and if it is not, that is said */
	t.env.rebooted = true;
	assert_int_equal(tree_check(&t, "reboot", MARKED), STEP_DIFFERS);
	assert_int_equal(fs_remove(t.env.root, "run/reboot-required", false, NULL), 0);
	assert_int_equal(tree_check(&t, "reboot", MARKED), STEP_SAME);
	tree_done(&t);
}

TEST(reboot_without_a_reason_once_a_run)
{
	struct tree t;

	tree_init(&t);
	assert_int_equal(tree_check(&t, "reboot", "{}"), STEP_DIFFERS);
	assert_true(t.rep.always);
	t.env.rebooted = true;
	assert_int_equal(tree_check(&t, "reboot", "{}"), STEP_SAME);
	tree_done(&t);
}

TEST(reboot_by_an_expression)
{
	struct tree t;

	tree_init(&t);
	load(&t, "reboot: {only_if: exists('/run/now')}");
	assert_int_equal(tree_check(&t, "reboot", "{}"), STEP_SAME);
	tree_write(&t, "run/now", "");
	assert_int_equal(tree_check(&t, "reboot", "{}"), STEP_DIFFERS);
	t.scope.probe = NULL;
	assert_int_equal(tree_check(&t, "reboot", "{}"), STEP_UNKNOWN);
	tree_done(&t);
}

/* The running kernel, what lies in /boot, and which of them waits. */
static const struct {
	const char *running, *boot[3], *waits;
} KERNELS[] = {
	{"6.1.0-18-amd64", {"6.1.0-18-amd64"}, NULL},
	{"6.1.0-9-amd64", {"6.1.0-9-amd64", "6.1.0-18-amd64"}, "6.1.0-18-amd64"},
	{"6.1.0-18-amd64", {"6.1.0-9-amd64"}, NULL},
	{"6.1.0-18-amd64", {"6.1.0-20-cloud-amd64"}, NULL},
	{"6.1.0-18-cloud-amd64", {"6.1.0-20-cloud-amd64", "6.1.0-22-amd64"},
		"6.1.0-20-cloud-amd64"},
	{"5.14.0-362.8.1.el9_3.x86_64", {"5.14.0-362.8.1.el9_3.x86_64"}, NULL},
	{"6.1.0-18-amd64", {NULL}, NULL},
};

TEST(reboot_for_a_newer_kernel)
{
	for (size_t i = 0; i < sizeof KERNELS / sizeof *KERNELS; i++) {
		char path[128];
		struct tree t;
		int found;

		tree_init(&t);
		tree_write(&t, "proc/sys/kernel/osrelease", KERNELS[i].running);
		for (unsigned k = 0; k < 3 && KERNELS[i].boot[k]; k++) {
			snprintf(path, sizeof path, "boot/vmlinuz-%s", KERNELS[i].boot[k]);
			tree_write(&t, path, "");
		}
		found = tree_check(&t, "reboot", "{\"kernel\": true}");
		if (found != (KERNELS[i].waits ? STEP_DIFFERS : STEP_SAME))
			fail_msg("row %zu: %d %s %s", i, found, t.rep.why, t.err.msg);
		if (KERNELS[i].waits)
			assert_non_null(strstr(t.rep.why, KERNELS[i].waits));
		tree_done(&t);
	}
}

TEST(reboot_starts_what_the_node_has)
{
	struct tree t;

	tree_init(&t);
	programs_add(&t, "/bin/dash", "/bin/sh");
	programs_script(&t, "usr/sbin/shutdown", "#!/bin/sh\necho \"shutdown $*\" >/log\n");
	programs_script(&t, "usr/bin/systemctl", "#!/bin/sh\necho \"systemctl $*\" >/log\n");
	assert_int_equal(reboot_start(&t.env, &t.err), 0);
	assert_string_equal(tree_read(&t, "log"), "shutdown -r now\n");
	tree_mkdir(&t, "run/systemd/system");
	assert_int_equal(reboot_start(&t.env, &t.err), 0);
	assert_string_equal(tree_read(&t, "log"), "systemctl --no-block reboot\n");
	programs_script(&t, "usr/bin/systemctl", "#!/bin/sh\necho 'access denied'; exit 1\n");
	assert_true(reboot_start(&t.env, &t.err) < 0);
	assert_non_null(strstr(t.err.msg, "access denied"));
	tree_done(&t);
}

TEST(reboot_refuses_bad_arguments)
{
	struct tree t;

	tree_init(&t);
	tree_refused(&t, "reboot", "{\"markers\": [\"run/x\"]}", E_SCHEMA);
	assert_true(t.err.hint[0]);
	tree_refused(&t, "reboot", "{\"timeout\": 0}", E_SCHEMA);
	tree_done(&t);
}

/* A port of this machine that is listened on, or only taken. */
static int take_port(bool open, unsigned *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	if (open)
		assert_int_equal(listen(fd, 8), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

TEST(wait_for_a_port)
{
	char args[128];
	unsigned port;
	struct tree t;
	int fd;

	tree_init(&t);
	fd = take_port(true, &port);
	snprintf(args, sizeof args, "{\"port\": %u}", port);
	assert_int_equal(tree_check(&t, "wait", args), STEP_SAME);
	snprintf(args, sizeof args, "{\"port\": %u, \"state\": \"absent\", \"timeout\": 1}", port);
	assert_int_equal(tree_check(&t, "wait", args), STEP_DIFFERS);
	assert_true(t.rep.always);
	close(fd);
	assert_int_equal(tree_check(&t, "wait", args), STEP_SAME);
	fd = take_port(false, &port);
	snprintf(args, sizeof args, "{\"port\": %u, \"timeout\": 1}", port);
	assert_int_equal(tree_check(&t, "wait", args), STEP_DIFFERS);
	assert_non_null(strstr(t.rep.why, "refused"));
	assert_int_equal(tree_apply(&t, "wait", args), -E_TIMEOUT);
	assert_non_null(strstr(t.err.msg, "last seen port"));
	assert_non_null(strstr(t.err.msg, "refused"));
	assert_non_null(strstr(t.err.hint, "timeout"));
	close(fd);
	tree_done(&t);
}

TEST(wait_for_a_file_that_comes_later)
{
	static const char ARGS[] =
		"{\"file\": \"/run/ready\", \"contains\": \"yes\", \"timeout\": 10}";
	struct tree t;
	pid_t pid;

	tree_init(&t);
	tree_mkdir(&t, "run");
	assert_int_equal(tree_check(&t, "wait", ARGS), STEP_DIFFERS);
	pid = fork();
	if (pid == 0) {
		clock_sleep(300 * CLOCK_MS);
		tree_write(&t, "run/ready", "no\n");
		clock_sleep(CLOCK_SEC);
		tree_write(&t, "run/ready", "yes\n");
		_exit(0);
	}
	assert_int_equal(tree_apply(&t, "wait", ARGS), 0);
	assert_int_equal(tree_check(&t, "wait", ARGS), STEP_SAME);
	tree_done(&t);
}

TEST(wait_for_some_time_on_end)
{
	static const char ARGS[] = "{\"file\": \"/etc/passwd\", \"for\": 1, \"timeout\": 5}";
	struct tree t;
	int64_t start;

	tree_init(&t);
	start = clock_mono();
	assert_int_equal(tree_check(&t, "wait", ARGS), STEP_SAME);
	assert_true(clock_mono() - start >= CLOCK_SEC);
	t.env.dry = true; /* a plan does not wait */
	start = clock_mono();
	assert_int_equal(tree_check(&t, "wait", ARGS), STEP_SAME);
	assert_true(clock_mono() - start < CLOCK_SEC / 2);
	tree_done(&t);
}

TEST(wait_for_a_unit)
{
	struct tree t;

	tree_init(&t);
	tree_refused(&t, "wait", "{\"unit\": \"app\"}", E_UNSUPPORTED);
	tree_mkdir(&t, "run/systemd/system");
	assert_int_equal(tree_check(&t, "wait", "{\"unit\": \"app\"}"), STEP_DIFFERS);
	assert_non_null(strstr(t.rep.why, "not installed"));
	tree_write(&t, "usr/lib/systemd/system/app.service", "[Service]\n");
	tree_write(&t, "sys/fs/cgroup/system.slice/app.service/cgroup.events", "populated 1\n");
	tree_mkdir(&t, "run/systemd/units");
	tree_link(&t, "0123", "run/systemd/units/invocation:app.service");
	assert_int_equal(tree_check(&t, "wait", "{\"unit\": \"app\"}"), STEP_SAME);
	tree_done(&t);
}

TEST(wait_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{}", "{\"port\": 0}", "{\"port\": 65536}",
		"{\"port\": 1, \"timeout\": 0}", "{\"port\": 1, \"poll\": 0}",
		"{\"port\": 1, \"for\": -1}", "{\"http\": \"https://x\"}", "{\"unit\": \"\"}",
		"{\"port\": 1, \"host\": \"gpu01\"}"};
	struct tree t;

	tree_init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
		tree_refused(&t, "wait", BAD[i], E_SCHEMA);
	tree_refused(&t, "wait", "{\"port\": 1, \"file\": \"/x\"}", E_CONFLICT);
	tree_refused(&t, "wait", "{\"port\": 1, \"for\": 9, \"timeout\": 5}", E_CONFLICT);
	tree_done(&t);
}

T_MAIN
