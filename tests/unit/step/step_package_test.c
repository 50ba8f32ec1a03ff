/* package - holds of ours and of the administrator, undo, and wrong use, over apt's stand-in. */
#include "agent/step/holds.h"
#include "tests/unit/step/apt_stand_in.h"

#include <sys/wait.h>

#define PACKAGE(name, want, version)                                                             \
	"Package: " name "\nStatus: " want " ok installed\nArchitecture: all\nVersion: " version \
	"\n\n"

static const char HELD[] = PACKAGE("nvidia-driver-580-open", "hold", "580.1")
	PACKAGE("libnvidia-compute-580", "hold", "580.1")
		PACKAGE("linux-image-generic", "hold", "6.8.0-60");

static const char OURS[] = "# comment\nnvidia-driver-580-open\nlibnvidia-compute-580\n";

/* The line of the package in the status file says so. */
static bool is_held(struct tree *t, const char *name)
{
	char mark[128];
	const char *at;

	snprintf(mark, sizeof mark, "Package: %s\nStatus: ", name);
	at = strstr(tree_read(t, "var/lib/dpkg/status"), mark);
	return at && strncmp(at + strlen(mark), "hold ", 5) == 0;
}

static void init(struct tree *t, const char *status, const char *ours)
{
	stand_in_init(t, status);
	tree_mkdir(t, "keep");
	t->env.keep = fs_open(t->env.root, "keep", O_RDONLY | O_DIRECTORY, 0, false, NULL);
	if (ours)
		tree_write(t, "var/lib/stoika-agent/holds", ours);
}

static void done(struct tree *t)
{
	close(t->env.keep);
	tree_done(t);
}

static json_t *before(struct tree *t, const char *args, int keep)
{
	json_t *a = tree_args(args), *out = NULL;
	const int was = t->env.keep;

	step_cache_forget(t->env.cache);
	t->env.keep = keep < 0 ? -1 : was;
	if (step_find("package")->before(&t->env, a, &out, &t->err) < 0)
		fail_msg("before: %s", t->err.msg);
	t->env.keep = was;
	json_decref(a);
	return out;
}

static int undo(struct tree *t, const char *args, const json_t *was, const json_t *left)
{
	json_t *a = tree_args(args);
	int rc;

	step_cache_forget(t->env.cache);
	step_report_clear(&t->rep);
	rc = step_find("package")->undo(&t->env, a, was, left, &t->rep, &t->err);
	json_decref(a);
	return rc;
}

TEST(package_holds_what_it_installs)
{
	static const char ARGS[] = "{\"names\": [\"a=1\", \"b\"], \"hold\": true}";
	struct tree t;

	init(&t, "", NULL);
	tree_converge(&t, "package", ARGS);
	assert_true(is_held(&t, "a"));
	assert_true(is_held(&t, "b"));
	assert_non_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "administrator"));
	assert_non_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "\na\nb\n"));
	/* ours: lifted for another version and put back */
	tree_converge(&t, "package", "{\"names\": [\"a=3\"]}");
	assert_true(is_held(&t, "a"));
	assert_non_null(strstr(tree_read(&t, "log"), "apt-mark unhold -- a\napt-get -q"));
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "lifted"));
	/* and released when that is said */
	tree_converge(&t, "package", "{\"names\": [\"a\", \"b\"], \"hold\": false}");
	assert_false(is_held(&t, "b"));
	assert_false(tree_has(&t, "var/lib/stoika-agent/holds"));
	done(&t);
}

/* C07: a driver of another branch, with the kernel's hold that is not ours. */
TEST(package_moves_its_own_holds_to_the_new_names)
{
	static const char ARGS[] =
		"{\"names\": [\"nvidia-driver-595\", \"libnvidia-compute\"], \"hold\": true, "
		"\"allow_remove\": [\"*nvidia*-580*\"]}";
	struct tree t;

	init(&t, HELD, OURS);
	tree_write(&t, "say-plan",
		"Remv nvidia-driver-580-open [580.1]\nRemv libnvidia-compute-580 [580.1]\n"
		"Inst nvidia-driver-595 (595.1 x [all])\nInst libnvidia-compute (595.1 x [all])\n");
	assert_int_equal(tree_apply(&t, "package", ARGS), 0);
	assert_non_null(strstr(tree_read(&t, "log"),
		"apt-mark unhold -- nvidia-driver-580-open libnvidia-compute-580\napt-get -q"));
	assert_null(
		strstr(strstr(tree_read(&t, "log"), "apt-get -q"), "--allow-change-held-packages"));
	assert_true(is_held(&t, "nvidia-driver-595"));
	assert_true(is_held(&t, "linux-image-generic"));
	assert_non_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "libnvidia-compute\n"));
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "linux-image"));
	done(&t);
}

TEST(package_leaves_the_administrator_s_holds)
{
	struct tree t;

	init(&t, HELD, OURS);
	tree_refused(&t, "package", "{\"names\": [\"linux-image-generic=6.8.0-62\"]}", E_DENIED);
	assert_true(t.rep.denied);
	assert_string_equal(t.err.msg, "held by administrator: linux-image-generic");
	/* as a consequence of something else */
	tree_write(&t, "say-plan",
		"Inst curl (2 x [all])\nInst linux-image-generic [6.8.0-60] (6.8.0-62 x [all])\n");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_DENIED);
	assert_true(t.rep.denied);
	assert_string_equal(t.err.msg, "held by administrator: linux-image-generic");
	assert_null(strstr(tree_read(&t, "log"), "apt-mark"));
	/* not ours: 'hold: false' does not release it */
	assert_int_equal(tree_check(&t, "package",
				 "{\"names\": [\"linux-image-generic\"], \"hold\": false}"),
		STEP_SAME);
	assert_int_equal(tree_apply(&t, "package",
				 "{\"names\": [\"linux-image-generic\"], \"hold\": false}"),
		0);
	assert_true(is_held(&t, "linux-image-generic"));
	stand_in_remove(&t, "say-plan");
	tree_converge(&t, "package",
		"{\"names\": [\"linux-image-generic=6.8.0-62\"], \"override_holds\": true}");
	assert_true(is_held(&t, "linux-image-generic"));
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "linux-image"));
	done(&t);
}

TEST(package_puts_holds_back_after_a_failure_and_after_a_crash)
{
	static const char ARGS[] = "{\"names\": [\"libnvidia-compute-580=581\"]}";
	struct tree t;

	init(&t, HELD, OURS);
	tree_write(&t, "say-broken", "");
	assert_int_equal(tree_apply(&t, "package", ARGS), -E_REMOTE);
	assert_true(is_held(&t, "libnvidia-compute-580"));
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "lifted"));
	/* as a killed run leaves it */
	tree_write(&t, "var/lib/dpkg/status", PACKAGE("a", "install", "1"));
	tree_write(&t, "var/lib/stoika-agent/holds", "a lifted\n");
	tree_converge(&t, "package", "{\"names\": [\"a\"]}");
	assert_true(is_held(&t, "a"));
	done(&t);
}

TEST(package_removes_with_its_hold_and_purges)
{
	struct tree t;

	init(&t, HELD, OURS);
	tree_converge(&t, "package",
		"{\"names\": [\"libnvidia-compute-580\"], \"state\": \"absent\", \"purge\": true}");
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "libnvidia"));
	tree_write(&t, "var/lib/dpkg/status",
		"Package: x\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n\n");
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"x\"], \"state\": \"absent\"}"),
		STEP_SAME);
	assert_int_equal(tree_check(&t, "package",
				 "{\"names\": [\"x\"], \"state\": \"absent\", \"purge\": true}"),
		STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff), "purge the configuration of x\n");
	assert_int_equal(tree_apply(&t, "package",
				 "{\"names\": [\"x\"], \"state\": \"absent\", \"purge\": true}"),
		0);
	assert_non_null(strstr(tree_read(&t, "log"), "dpkg --purge -- x\n"));
	done(&t);
}

TEST(package_undo_brings_all_back)
{
	static const char ARGS[] =
		"{\"names\": [\"b=2\", \"new\"], \"hold\": true, \"state\": \"present\"}";
	struct tree t;
	json_t *was, *left;

	init(&t, PACKAGE("a", "install", "1") PACKAGE("b", "hold", "1"), "b\n");
	was = before(&t, ARGS, 1);
	tree_converge(&t, "package", ARGS);
	left = before(&t, ARGS, -1);
	assert_int_equal(json_object_size(json_object_get(left, "changed")), 2);
	/* somebody else's package stays */
	tree_write(&t, "var/lib/dpkg/status",
		PACKAGE("a", "install", "1") PACKAGE("b", "hold", "2") PACKAGE("new", "hold", "2")
			PACKAGE("else", "install", "7"));
	assert_int_equal(undo(&t, ARGS, was, left), 0);
	assert_string_equal(tree_read(&t, "var/lib/dpkg/status"),
		PACKAGE("a", "install", "1") PACKAGE("else", "install", "7")
			PACKAGE("b", "hold", "1"));
	assert_non_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "\nb\n"));
	assert_null(strstr(tree_read(&t, "var/lib/stoika-agent/holds"), "new"));
	/* twice is once */
	stand_in_remove(&t, "log");
	assert_int_equal(undo(&t, ARGS, was, left), 0);
	assert_false(tree_has(&t, "log"));
	json_decref(was);
	json_decref(left);
	done(&t);
}

/* An apt-get that a killed agent left behind has a second to live. */
static pid_t hold_lock_for_a_second(struct tree *t)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[512];
	int ready[2];
	pid_t pid;

	tree_write(t, "var/lib/dpkg/lock-frontend", "");
	tree_path(t, "var/lib/dpkg/lock-frontend", path);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		const int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fcntl(fd, F_SETLK, &lock) == 0 && write(ready[1], "x", 1) == 1)
			sleep(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], path, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

TEST(package_holds_wait_for_the_lock_too)
{
	static const char ARGS[] = "{\"names\": [\"a\"], \"hold\": true}";
	struct tree t;
	json_t *was, *left;
	pid_t pid;

	init(&t, PACKAGE("a", "install", "1"), NULL);
	was = before(&t, ARGS, 1);
	tree_converge(&t, "package", ARGS);
	left = before(&t, ARGS, -1);
	assert_true(is_held(&t, "a"));
	pid = hold_lock_for_a_second(&t);
	assert_int_equal(undo(&t, ARGS, was, left), 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), pid);
	assert_false(is_held(&t, "a"));
	json_decref(was);
	json_decref(left);
	done(&t);
}

TEST(package_undo_mends_what_a_failed_change_left_half_way)
{
	static const char ARGS[] = "{\"names\": [\"b=2\"]}";
	struct tree t;
	json_t *was;

	init(&t, PACKAGE("a", "install", "1") PACKAGE("b", "install", "1"), NULL);
	was = before(&t, ARGS, 1);
	/* a came along with b, whose script failed */
	tree_write(&t, "var/lib/dpkg/status",
		PACKAGE("a", "install", "2") "Package: b\nStatus: install ok half-configured\n"
					     "Architecture: all\nVersion: 2\n\n");
	assert_int_equal(undo(&t, ARGS, was, NULL), 0);
	assert_string_equal(tree_read(&t, "var/lib/dpkg/status"),
		PACKAGE("a", "install", "1") PACKAGE("b", "install", "1"));
	/* what somebody else broke is none of ours */
	tree_write(&t, "var/lib/dpkg/status",
		PACKAGE("a", "install", "1") PACKAGE(
			"b", "install", "2") "Package: c\nStatus: install ok half-configured\n"
					     "Architecture: all\nVersion: 2\n\n");
	json_t *left = tree_args("{\"changed\": {\"b\": \"2\"}}");

	assert_int_equal(undo(&t, ARGS, was, left), -E_STATE);
	assert_non_null(strstr(t.err.msg, "package database broken: c (half-configured)"));
	json_decref(was);
	json_decref(left);
	done(&t);
}

TEST(package_undo_leaves_what_somebody_changed_since)
{
	static const char ARGS[] = "{\"names\": [\"a=2\"]}";
	struct tree t;
	json_t *was, *left;

	init(&t, PACKAGE("a", "install", "1"), NULL);
	was = before(&t, ARGS, 1);
	tree_converge(&t, "package", ARGS);
	left = before(&t, ARGS, -1);
	tree_write(&t, "var/lib/dpkg/status", PACKAGE("a", "install", "3"));
	assert_int_equal(undo(&t, ARGS, was, left), -E_CONFLICT);
	assert_string_equal(t.err.msg, "'a' was changed to 3 since");
	json_decref(was);
	json_decref(left);
	done(&t);
}

static const struct {
	const char *args;
	enum ec code;
	const char *msg, *hint;
} WRONG[] = {
	{"{\"names\": [\"Curl\"]}", E_SCHEMA, "'Curl' is not the name of a package",
		"expected 'name', 'name:arch' or 'name=version'"},
	{"{\"names\": [\"a=1\"], \"state\": \"latest\"}", E_SCHEMA,
		"'a=1' has a version, but state is not 'present'", "leave '=1' out"},
	{"{\"names\": [\"a=1\"], \"state\": \"absent\"}", E_SCHEMA,
		"'a=1' has a version, but state is not 'present'", "leave '=1' out"},
	{"{\"names\": [\"a\"], \"state\": \"absent\", \"hold\": true}", E_CONFLICT,
		"a package cannot be both absent and held", "take 'hold' out, or keep the package"},
};

TEST(package_tells_wrong_use)
{
	struct tree t;

	init(&t, "", NULL);
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		tree_refused(&t, "package", WRONG[i].args, WRONG[i].code);
		assert_string_equal(t.err.msg, WRONG[i].msg);
		assert_string_equal(t.err.hint, WRONG[i].hint);
	}
	done(&t);
}

T_MAIN
