/* sysctl - drop-in and live values in a tree that stands for /proc/sys. */
#include "tests/unit/step/tree.h"

#include <sys/mount.h>

static void init(struct tree *t)
{
	tree_init(t);
	tree_mkdir(t, "etc/sysctl.d");
	tree_write(t, "proc/sys/net/core/somaxconn", "128\n");
	tree_write(t, "proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	tree_write(t, "proc/sys/net/ipv4/conf/eth0.10/rp_filter", "1\n");
}

TEST(sysctl_sets_file_and_live_value)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/sysctl.d/90-stoika.conf\", \"values\": "
		"{\"net.core.somaxconn\": \"4096\", \"net.ipv4.tcp_rmem\": \"4096 131072 6291456\"}}";
	struct tree t;

	init(&t);
	assert_int_equal(tree_check(&t, "sysctl", ARGS), STEP_DIFFERS);
	assert_true(tree_said(&t, "live net.core.somaxconn 128 -> 4096\n"));
	assert_false(tree_said(&t, "live net.ipv4.tcp_rmem"));
	tree_converge(&t, "sysctl", ARGS);
	assert_string_equal(tree_read(&t, "etc/sysctl.d/90-stoika.conf"),
		"net.core.somaxconn = 4096\nnet.ipv4.tcp_rmem = 4096 131072 6291456\n");
	/* The stand-in is a file: it keeps what was behind the shorter value. */
	assert_true(strncmp(tree_read(&t, "proc/sys/net/core/somaxconn"), "4096", 4) == 0);
	tree_done(&t);
}

TEST(sysctl_keeps_lines_of_others)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/sysctl.d/x.conf\", \"live\": false, \"values\": "
		"{\"net.core.somaxconn\": \"4096\"}}";
	struct tree t;

	init(&t);
	tree_write(&t, "etc/sysctl.d/x.conf",
		"# ours\nnet/core/somaxconn=1\nvm.swappiness = 1\n-net.core.somaxconn = 2\n"
		"#net.core.somaxconn = 3\n");
	tree_converge(&t, "sysctl", ARGS);
	assert_string_equal(tree_read(&t, "etc/sysctl.d/x.conf"),
		"# ours\nnet.core.somaxconn = 4096\nvm.swappiness = 1\n#net.core.somaxconn = 3\n");
	assert_string_equal(tree_read(&t, "proc/sys/net/core/somaxconn"), "128\n");
	tree_done(&t);
}

TEST(sysctl_names_with_dots_inside)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "sysctl",
		"{\"path\": \"/etc/sysctl.d/x.conf\", \"values\": "
		"{\"net/ipv4/conf/eth0.10/rp_filter\": \"2\"}}");
	assert_string_equal(tree_read(&t, "proc/sys/net/ipv4/conf/eth0.10/rp_filter"), "2\n");
	tree_done(&t);
}

TEST(sysctl_of_a_parameter_that_is_not_there)
{
	static const char ARGS[] = "{\"path\": \"/etc/sysctl.d/x.conf\", \"values\": "
				   "{\"net.bridge.nf\": \"1\"}}";
	struct tree t;

	init(&t);
	assert_int_equal(tree_apply(&t, "sysctl", ARGS), -E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "live: false"));
	assert_false(tree_has(&t, "etc/sysctl.d/x.conf"));
	tree_write(&t, "etc/sysctl.d/x.conf", "net.bridge.nf = 1\n");
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "sysctl", ARGS), STEP_UNKNOWN);
	tree_done(&t);
}

TEST(sysctl_of_a_read_only_kernel)
{
	static const char ARGS[] = "{\"path\": \"/etc/sysctl.d/x.conf\", \"values\": "
				   "{\"net.core.somaxconn\": \"4096\"}}";
	char path[512];
	struct tree t;

	init(&t);
	tree_path(&t, "proc", path);
	if (mount(path, path, NULL, MS_BIND, NULL) < 0 ||
		mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		skip();
	const int rc = tree_apply(&t, "sysctl", ARGS);

	umount2(path, MNT_DETACH);
	assert_true(rc < 0);
	assert_non_null(strstr(t.err.hint, "live: false"));
	tree_converge(&t, "sysctl",
		"{\"path\": \"/etc/sysctl.d/x.conf\", \"live\": false, \"values\": "
		"{\"net.core.somaxconn\": \"4096\"}}");
	tree_done(&t);
}

static const char *const BAD[] = {"\"../../etc/passwd\": \"1\"", "\"\": \"1\"", "\"a..b\": \"1\"",
	"\"/etc/x\": \"1\"", "\"a b\": \"1\"", "\"a=b\": \"1\"",
	"\"net.core.somaxconn\": \"1\\n2\"", "\"net.core.somaxconn\": \"\""};

TEST(sysctl_refuses_bad_arguments)
{
	char args[256];
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
		snprintf(args, sizeof args,
			"{\"path\": \"/etc/sysctl.d/x.conf\", \"values\": {%s}}", BAD[i]);
		tree_refused(&t, "sysctl", args, E_SCHEMA);
	}
	tree_done(&t);
}

T_MAIN
