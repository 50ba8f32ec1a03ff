/* hostname, hosts, limits and cron, in throw-away roots. */
#include "tests/unit/step/undo.h"

#include <sys/mount.h>

static void init(struct tree *t)
{
	tree_init(t);
	tree_write(t, "etc/hostname", "old\n");
	tree_write(t, "proc/sys/kernel/hostname", "old\n");
	tree_mkdir(t, "etc/cron.d");
	tree_write(t, "etc/hosts",
		"127.0.0.1\tlocalhost\n# by hand\n10.0.0.1 a\tb # mine\n::1 "
		"localhost ip6-localhost");
}

/* One row: what is wrong, and a word the message must hold. */
struct bad {
	const char *args, *word;
};

static void refuse(struct tree *t, const char *kind, const struct bad *rows, size_t n, enum ec code)
{
	for (size_t i = 0; i < n; i++) {
		tree_refused(t, kind, rows[i].args, code);
		if (!strstr(t->err.msg, rows[i].word))
			fail_msg("%s: '%s' does not say '%s'", rows[i].args, t->err.msg,
				rows[i].word);
		if (!t->err.hint[0])
			fail_msg("%s: no hint", rows[i].args);
	}
}

TEST(hostname_file_and_kernel)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "hostname", "{\"name\": \"gpu01.site\"}");
	assert_string_equal(tree_read(&t, "etc/hostname"), "gpu01.site\n");
	assert_true(strncmp(tree_read(&t, "proc/sys/kernel/hostname"), "gpu01.site", 10) == 0);
	tree_done(&t);
	init(&t);
	tree_converge(&t, "hostname", "{\"name\": \"gpu01\", \"live\": false}");
	assert_string_equal(tree_read(&t, "proc/sys/kernel/hostname"), "old\n");
	tree_done(&t);
}

TEST(hostname_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "hostname", "{\"name\": \"gpu01\", \"live\": false}");
	assert_int_equal(fs_remove(t.env.root, "etc/hostname", false, NULL), 0);
	tree_undoes(&t, "hostname", "{\"name\": \"gpu01\", \"live\": false}");
	tree_done(&t);
}

TEST(hostname_keeps_blanks_of_others_and_refuses_links)
{
	struct tree t;

	init(&t);
	tree_write(&t, "etc/hostname", "  gpu01\n\n");
	assert_int_equal(
		tree_check(&t, "hostname", "{\"name\": \"gpu01\", \"live\": false}"), STEP_SAME);
	assert_int_equal(fs_remove(t.env.root, "etc/hostname", false, NULL), 0);
	tree_link(&t, "/etc/other", "etc/hostname");
	tree_refused(&t, "hostname", "{\"name\": \"gpu01\"}", E_CONFLICT);
	tree_done(&t);
}

static const struct bad BAD_NAMES[] = {
	{"{\"name\": \"\"}", "host name"},
	{"{\"name\": \"gpu_01\"}", "gpu_01"},
	{"{\"name\": \"-gpu\"}", "-gpu"},
	{"{\"name\": \"gpu.\"}", "gpu."},
	{"{\"name\": \"a..b\"}", "a..b"},
	{"{\"name\": \"a b\"}", "a b"},
	{"{\"name\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
		"host name"},
};

TEST(hostname_refuses_what_is_no_name)
{
	struct tree t;

	init(&t);
	refuse(&t, "hostname", BAD_NAMES, sizeof BAD_NAMES / sizeof *BAD_NAMES, E_SCHEMA);
	tree_done(&t);
}

TEST(hosts_adds_and_moves_its_own_line)
{
	static const char ONE[] = "{\"address\": \"10.0.0.5\", \"names\": [\"c\", \"d\"]}";
	struct tree t;

	init(&t);
	tree_converge(&t, "hosts", ONE);
	assert_string_equal(tree_read(&t, "etc/hosts"),
		"127.0.0.1\tlocalhost\n# by hand\n10.0.0.1 a\tb # mine\n::1 localhost "
		"ip6-localhost\n10.0.0.5\tc d\t# stoika\n");
	/* the other family is another entry, a moved name is the same one */
	tree_converge(&t, "hosts", "{\"address\": \"fd00::5\", \"names\": [\"c\"]}");
	tree_converge(&t, "hosts", "{\"address\": \"10.0.0.6\", \"names\": [\"c\"]}");
	assert_string_equal(tree_read(&t, "etc/hosts"),
		"127.0.0.1\tlocalhost\n# by hand\n10.0.0.1 a\tb # mine\n::1 localhost "
		"ip6-localhost\n10.0.0.6\tc\t# stoika\nfd00::5\tc\t# stoika\n");
	tree_converge(&t, "hosts", "{\"names\": [\"c\"], \"state\": \"absent\"}");
	assert_string_equal(tree_read(&t, "etc/hosts"),
		"127.0.0.1\tlocalhost\n# by hand\n10.0.0.1 a\tb # mine\n::1 localhost "
		"ip6-localhost\n");
	tree_done(&t);
}

TEST(hosts_leaves_others_in_peace)
{
	struct tree t;

	init(&t);
	/* said already, in other words */
	assert_int_equal(tree_check(&t, "hosts", "{\"address\": \"10.0.0.1\", \"names\": [\"B\"]}"),
		STEP_SAME);
	assert_int_equal(tree_check(&t, "hosts",
				 "{\"address\": \"0:0::1\", \"names\": [\"ip6-localhost\"]}"),
		STEP_SAME);
	/* said otherwise */
	tree_refused(&t, "hosts", "{\"address\": \"10.0.0.2\", \"names\": [\"a\"]}", E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "line 3"));
	assert_non_null(strstr(t.err.msg, "10.0.0.1"));
	/* not ours to remove */
	assert_int_equal(
		tree_check(&t, "hosts", "{\"names\": [\"a\"], \"state\": \"absent\"}"), STEP_SAME);
	tree_done(&t);
}

/* What Debian's installer writes is no conflict: the first line that has a name counts. */
TEST(hosts_goes_ahead_of_the_own_name)
{
	static const char ARGS[] =
		"{\"address\": \"10.0.0.5\", \"names\": [\"gpu01.example\", \"gpu01\"]}";
	static const char WANTED[] =
		"127.0.0.1 localhost\n10.0.0.5\tgpu01.example gpu01\t# stoika\n"
		"127.0.1.1 gpu01.example gpu01\n::1 localhost\n";
	struct tree t;

	tree_init(&t);
	tree_write(&t, "etc/hosts",
		"127.0.0.1 localhost\n127.0.1.1 gpu01.example gpu01\n::1 localhost\n");
	tree_undoes(&t, "hosts", ARGS);
	tree_converge(&t, "hosts", ARGS);
	assert_string_equal(tree_read(&t, "etc/hosts"), WANTED);
	/* one that stood behind it moves */
	tree_write(&t, "etc/hosts",
		"127.0.0.1 localhost\n127.0.1.1 gpu01.example gpu01\n::1 localhost\n"
		"10.0.0.5\tgpu01.example gpu01\t# stoika\n");
	tree_converge(&t, "hosts", ARGS);
	assert_string_equal(tree_read(&t, "etc/hosts"), WANTED);
	/* of other names it says nothing, and another address is a conflict as ever */
	tree_converge(&t, "hosts", "{\"address\": \"10.0.0.6\", \"names\": [\"gpu02\"]}");
	tree_write(&t, "etc/hosts", "127.0.1.1 gpu01\n10.0.0.9 gpu01\n");
	tree_refused(&t, "hosts", ARGS, E_CONFLICT);
	tree_done(&t);
}

TEST(hosts_is_undone)
{
	static const char ARGS[] = "{\"address\": \"10.0.0.5\", \"names\": [\"c\"]}";
	struct tree t;

	init(&t);
	tree_undoes(&t, "hosts", ARGS);
	tree_write(&t, "etc/hosts", "10.0.0.4\tc # stoika\n1.1.1.1 x\n");
	tree_undoes(&t, "hosts", ARGS);
	tree_undoes(&t, "hosts", "{\"address\": \"10.0.0.4\", \"state\": \"absent\"}");
	assert_int_equal(fs_remove(t.env.root, "etc/hosts", false, NULL), 0);
	tree_undoes(&t, "hosts", ARGS);
	tree_done(&t);
}

static const struct bad BAD_HOSTS[] = {
	{"{\"address\": \"10.0.0\", \"names\": [\"a\"]}", "10.0.0"},
	{"{\"address\": \"10.0.0.1/24\", \"names\": [\"a\"]}", "10.0.0.1/24"},
	{"{\"address\": \"10.0.0.1\"}", "names"},
	{"{\"names\": [\"a\"]}", "address"},
	{"{\"address\": \"10.0.0.1\", \"names\": [\"a b\"]}", "a b"},
	{"{\"address\": \"10.0.0.1\", \"names\": [\"a#\"]}", "a#"},
	{"{\"address\": \"10.0.0.1\", \"names\": [\"\"]}", "''"},
};

TEST(hosts_refuses_bad_arguments)
{
	struct tree t;

	init(&t);
	refuse(&t, "hosts", BAD_HOSTS, sizeof BAD_HOSTS / sizeof *BAD_HOSTS, E_SCHEMA);
	tree_done(&t);
}

TEST(limits_by_domain_type_and_item)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "limits",
		"{\"domain\": \"*\", \"type\": \"soft\", \"item\": \"nofile\", \"value\": "
		"\"1024\"}");
	tree_converge(&t, "limits",
		"{\"domain\": \"*\", \"type\": \"hard\", \"item\": \"nofile\", \"value\": "
		"\"4096\"}");
	tree_converge(&t, "limits",
		"{\"domain\": \"@hpc\", \"item\": \"memlock\", \"value\": \"unlimited\"}");
	assert_string_equal(tree_read(&t, "etc/security/limits.d/90-stoika.conf"),
		"* soft nofile 1024\n* hard nofile 4096\n@hpc - memlock unlimited\n");
	tree_converge(&t, "limits", "{\"domain\": \"*\", \"item\": \"nofile\", \"value\": \"9\"}");
	assert_string_equal(tree_read(&t, "etc/security/limits.d/90-stoika.conf"),
		"* - nofile 9\n@hpc - memlock unlimited\n");
	tree_converge(
		&t, "limits", "{\"domain\": \"*\", \"item\": \"nofile\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(limits_is_undone)
{
	static const char ARGS[] = "{\"path\": \"/etc/security/limits.d/x.conf\", \"domain\": "
				   "\"*\", \"item\": \"core\", \"value\": \"0\"}";
	struct tree t;

	init(&t);
	tree_undoes(&t, "limits", ARGS); /* with the folder that was made */
	tree_write(&t, "etc/security/limits.d/x.conf",
		"# x\n*\tsoft core 5 # why\nroot - core 1\n* hard core 6");
	tree_undoes(&t, "limits", ARGS);
	tree_done(&t);
}

static const struct bad BAD_LIMITS[] = {
	{"{\"domain\": \"\", \"item\": \"core\", \"value\": \"0\"}", "domain"},
	{"{\"domain\": \"a b\", \"item\": \"core\", \"value\": \"0\"}", "a b"},
	{"{\"domain\": \"*\", \"item\": \"nofiles\", \"value\": \"0\"}", "nofiles"},
	{"{\"domain\": \"*\", \"item\": \"core\", \"value\": \"lots\"}", "lots"},
	{"{\"domain\": \"*\", \"item\": \"core\"}", "value"},
	{"{\"domain\": \"*\", \"item\": \"core\", \"value\": \"1k\"}", "1k"},
};

TEST(limits_refuses_bad_arguments)
{
	struct tree t;

	init(&t);
	refuse(&t, "limits", BAD_LIMITS, sizeof BAD_LIMITS / sizeof *BAD_LIMITS, E_SCHEMA);
	assert_int_equal(tree_check(&t, "limits",
				 "{\"domain\": \"*\", \"item\": \"nofiles\", \"value\": \"0\"}"),
		-E_SCHEMA);
	assert_non_null(strstr(t.err.hint, "nofile"));
	tree_done(&t);
}

TEST(limits_in_a_read_only_place)
{
	struct tree t;
	char path[512];

	init(&t);
	tree_path(&t, "etc/security", path);
	tree_mkdir(&t, "etc/security");
	/* a parent that leads out of the root is followed inside it only */
	tree_link(&t, "/etc/elsewhere", "etc/security/limits.d");
	assert_true(tree_apply(&t, "limits",
			    "{\"path\": \"/etc/security/limits.d/x.conf\", \"domain\": \"*\", "
			    "\"item\": \"core\", \"value\": \"0\"}") < 0);
	assert_non_null(strstr(t.err.msg, "limits.d"));
	assert_int_equal(access("/etc/elsewhere", F_OK), -1);
	tree_mkdir(&t, "etc/elsewhere");
	tree_converge(&t, "limits",
		"{\"path\": \"/etc/security/limits.d/x.conf\", \"domain\": \"*\", \"item\": "
		"\"core\", \"value\": \"0\"}");
	assert_true(tree_has(&t, "etc/elsewhere/x.conf"));
	tree_done(&t);
}

TEST(cron_writes_a_job)
{
	static const char ARGS[] =
		"{\"name\": \"scrub\", \"schedule\": \"*/5 3-4,6 1 jan,dec sun\", \"run\": \"date "
		"+%F >/tmp/x\", \"user\": \"alice\", \"env\": {\"MAILTO\": \"\"}}";
	struct tree t;

	init(&t);
	tree_converge(&t, "cron", ARGS);
	assert_string_equal(tree_read(&t, "etc/cron.d/scrub"),
		"# kept by stoika: changes made here are lost\n"
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
		"MAILTO=\"\"\n*/5 3-4,6 1 jan,dec sun alice date +\\%F >/tmp/x\n");
	assert_int_equal(tree_mode(&t, "etc/cron.d/scrub"), 0644);
	tree_undoes(
		&t, "cron", "{\"name\": \"scrub\", \"schedule\": \"@daily\", \"run\": \"true\"}");
	tree_undoes(&t, "cron", "{\"name\": \"scrub\", \"state\": \"absent\"}");
	tree_done(&t);
}

static const char *const SCHEDULES[] = {"* * * * *", "0 0 31 12 7", "59 23 * * mon-fri",
	"0-30/10 * * * *", "1,2,3 4 5 6 0", "@reboot", "*/59 */23 * */12 */7"};

static const char *const NO_SCHEDULES[] = {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *",
	"* * 0 * *", "* * * 13 *", "* * * * 8", "5/2 * * * *", "*/0 * * * *", "5-1 * * * *",
	"1,, * * * *", "1, * * * *", ",1 * * * *", "a * * * *", "* * * foo *", "@dayly", "@",
	"-1 * * * *", "1- * * * *", "* * * * mon-"};

TEST(cron_schedules)
{
	char args[256];
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof SCHEDULES / sizeof *SCHEDULES; i++) {
		snprintf(args, sizeof args,
			"{\"name\": \"x\", \"schedule\": \"%s\", \"run\": \"true\"}", SCHEDULES[i]);
		if (tree_check(&t, "cron", args) != STEP_DIFFERS)
			fail_msg("%s: %s", SCHEDULES[i], t.err.msg);
	}
	for (size_t i = 0; i < sizeof NO_SCHEDULES / sizeof *NO_SCHEDULES; i++) {
		snprintf(args, sizeof args,
			"{\"name\": \"x\", \"schedule\": \"%s\", \"run\": \"true\"}",
			NO_SCHEDULES[i]);
		tree_refused(&t, "cron", args, E_SCHEMA);
		assert_true(t.err.hint[0]);
	}
	tree_done(&t);
}

static const struct bad BAD_CRON[] = {
	{"{\"name\": \"a.b\", \"schedule\": \"@daily\", \"run\": \"x\"}", "a.b"},
	{"{\"name\": \"../x\", \"schedule\": \"@daily\", \"run\": \"x\"}", "../x"},
	{"{\"name\": \"x\", \"schedule\": \"@daily\", \"run\": \"a\\nb\"}", "one line"},
	{"{\"name\": \"x\", \"schedule\": \"@daily\"}", "one line"},
	{"{\"name\": \"x\", \"schedule\": \"@daily\", \"run\": \"x\", \"env\": {\"A B\": \"\"}}",
		"A B"},
	{"{\"name\": \"x\", \"schedule\": \"@daily\", \"run\": \"x\", \"env\": {\"A\": "
	 "\"\\n\"}}",
		"A"},
};

TEST(cron_refuses_bad_arguments)
{
	struct tree t;

	init(&t);
	refuse(&t, "cron", BAD_CRON, sizeof BAD_CRON / sizeof *BAD_CRON, E_SCHEMA);
	tree_done(&t);
}

TEST(cron_that_is_not_installed)
{
	static const char ARGS[] = "{\"name\": \"x\", \"schedule\": \"@daily\", \"run\": \"x\"}";
	struct tree t;

	tree_init(&t);
	tree_refused(&t, "cron", ARGS, E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "timer"));
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "cron", ARGS), STEP_UNKNOWN);
	t.env.dry = false;
	assert_int_equal(
		tree_check(&t, "cron", "{\"name\": \"x\", \"state\": \"absent\"}"), STEP_SAME);
	tree_done(&t);
}

/* On a read-only /etc each says so, names the file, and has changed nothing. */
static const struct {
	const char *kind, *args, *path;
} READ_ONLY[] = {
	{"hosts", "{\"address\": \"10.0.0.5\", \"names\": [\"c\"]}", "etc/hosts"},
	{"hostname", "{\"name\": \"new\", \"live\": false}", "etc/hostname"},
	{"limits", "{\"domain\": \"*\", \"item\": \"core\", \"value\": \"0\"}", "security"},
	{"cron", "{\"name\": \"x\", \"schedule\": \"@daily\", \"run\": \"x\"}", "cron.d"},
	{"unit", "{\"name\": \"x\", \"content\": \"[Service]\\n\"}", "systemd"},
	{"mount",
		"{\"path\": \"/srv/x\", \"source\": \"tmpfs\", \"type\": \"tmpfs\", \"state\": "
		"\"present\"}",
		"fstab"},
	{"kernel_module", "{\"name\": \"x\", \"state\": \"blacklisted\"}", "modprobe.d"},
};

TEST(on_a_read_only_etc)
{
	char path[512];
	struct tree t;

	init(&t);
	tree_write(&t, "etc/fstab", "");
	tree_path(&t, "etc", path);
	if (mount(path, path, NULL, MS_BIND, NULL) < 0 ||
		mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		skip();
	for (size_t i = 0; i < sizeof READ_ONLY / sizeof *READ_ONLY; i++) {
		const int rc = tree_apply(&t, READ_ONLY[i].kind, READ_ONLY[i].args);

		if (rc >= 0 || !strstr(t.err.msg, READ_ONLY[i].path) ||
			!strstr(t.err.msg, "Read-only"))
			fail_msg("%s: %d %s", READ_ONLY[i].kind, rc, t.err.msg);
	}
	umount2(path, MNT_DETACH);
	tree_done(&t);
}

T_MAIN
