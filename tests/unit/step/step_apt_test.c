/* apt - the transaction, against an apt-get and a dpkg that are scripts in the root. */
#include "agent/step/apt_plan.h"
#include "tests/unit/step/apt_stand_in.h"

#include <signal.h>
#include <sys/wait.h>

static const char BASH[] =
	"Package: bash\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n";
static const char HALF[] =
	"Package: nv\nStatus: install ok half-configured\nArchitecture: all\nVersion: 1\n\n";

static int apply_two(struct tree *t, const char *a, const char *b)
{
	json_t *x = tree_args(a), *y = tree_args(b);
	const json_t *sets[] = {x, y};
	int rc;

	step_report_clear(&t->rep);
	step_cache_forget(t->env.cache);
	rc = step_find("package")->apply_all(&t->env, sets, 2, &t->rep, &t->err);
	json_decref(x);
	json_decref(y);
	return rc;
}

TEST(apt_installs_all_steps_in_one_transaction)
{
	struct tree t;

	stand_in_init(&t, BASH);
	assert_int_equal(
		apply_two(&t, "{\"names\": [\"curl\", \"bash\"]}", "{\"names\": [\"jq=1.6\"]}"), 0);
	assert_string_equal(tree_read(&t, "log"),
		"apt-get -s -y --no-install-recommends -o Dpkg::Options::=--force-confdef -o "
		"Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 -o APT::Cmd::Pattern-Only=true "
		"-o DPkg::Lock::Timeout=120 --allow-downgrades --allow-change-held-packages "
		"install -- curl jq=1.6\n"
		"apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-confdef -o "
		"Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 -o APT::Cmd::Pattern-Only=true "
		"-o DPkg::Lock::Timeout=120 install -- curl jq=1.6\n");
	assert_int_equal(
		tree_check(&t, "package", "{\"names\": [\"curl\", \"jq=1.6\"]}"), STEP_SAME);
	assert_false(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	tree_done(&t);
}

static int stage_two(struct tree *t, const char *a, const char *b)
{
	json_t *x = tree_args(a), *y = tree_args(b);
	const json_t *sets[] = {x, y};
	int rc;

	step_report_clear(&t->rep);
	step_cache_forget(t->env.cache);
	rc = step_find("package")->stage(&t->env, sets, 2, &t->rep, &t->err);
	json_decref(x);
	json_decref(y);
	return rc;
}

TEST(apt_fetches_ahead_the_transaction_that_an_apply_would_run)
{
	struct tree t;

	stand_in_init(&t, BASH);
	assert_int_equal(
		stage_two(&t, "{\"names\": [\"curl\", \"bash\"]}", "{\"names\": [\"jq=1.6\"]}"), 0);
	assert_non_null(strstr(tree_read(&t, "log"),
		"\napt-get -q --download-only -y --no-install-recommends -o "
		"Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o "
		"Dpkg::Use-Pty=0 -o APT::Cmd::Pattern-Only=true -o DPkg::Lock::Timeout=120 "
		"--allow-downgrades --allow-change-held-packages install -- curl jq=1.6\n"));
	assert_string_equal(t.rep.why, "2 packages fetched");
	assert_string_equal(tree_read(&t, "var/lib/dpkg/status"), BASH);
	assert_false(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	tree_done(&t);
}

TEST(apt_refuses_ahead_what_an_apply_would_refuse)
{
	static const char HELD[] =
		"Package: bash\nStatus: hold ok installed\nArchitecture: all\nVersion: 1\n\n";
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-plan", "Inst curl (2 stable [all])\nRemv bash [1]\n");
	assert_int_equal(
		stage_two(&t, "{\"names\": [\"curl\"]}", "{\"names\": [\"jq\"]}"), -E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "this would also remove bash"));
	tree_write(&t, "var/lib/dpkg/status", HELD);
	tree_write(&t, "say-plan", "Inst curl (2 stable [all])\nInst bash [1] (2 stable [all])\n");
	assert_int_equal(
		stage_two(&t, "{\"names\": [\"curl\"]}", "{\"names\": [\"jq\"]}"), -E_DENIED);
	assert_true(t.rep.denied);
	assert_null(strstr(tree_read(&t, "log"), "apt-mark"));
	assert_null(strstr(tree_read(&t, "log"), "--download-only"));
	tree_write(&t, "var/lib/dpkg/status", HALF);
	assert_int_equal(
		stage_two(&t, "{\"names\": [\"curl\"]}", "{\"names\": [\"jq\"]}"), -E_STATE);
	tree_done(&t);
}

TEST(apt_fetches_lists_again_when_the_mirror_has_moved_on)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-gone", "1\n");
	assert_int_equal(stage_two(&t, "{\"names\": [\"curl\"]}", "{\"names\": [\"jq\"]}"), 0);
	assert_non_null(strstr(tree_read(&t, "log"), " update\napt-get -s -y"));
	tree_done(&t);
}

TEST(apt_is_not_started_when_nothing_differs)
{
	struct tree t;

	stand_in_init(&t, BASH);
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"bash\"]}"), 0);
	assert_int_equal(
		tree_apply(&t, "package", "{\"names\": [\"curl\"], \"state\": \"absent\"}"), 0);
	assert_false(tree_has(&t, "log"));
	tree_done(&t);
}

TEST(apt_removes_in_the_same_transaction)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_converge(&t, "package", "{\"names\": [\"bash\"], \"state\": \"absent\"}");
	assert_non_null(strstr(tree_read(&t, "log"), "install -- bash-\n"));
	tree_done(&t);
}

TEST(apt_refuses_two_wishes_for_one_package)
{
	struct tree t;

	stand_in_init(&t, "");
	assert_int_equal(apply_two(&t, "{\"names\": [\"curl\"], \"state\": \"latest\"}",
				 "{\"names\": [\"curl\"], \"state\": \"absent\"}"),
		0); /* nothing to remove: not installed */
	tree_write(&t, "var/lib/dpkg/status", BASH);
	assert_int_equal(apply_two(&t, "{\"names\": [\"bash\"], \"state\": \"latest\"}",
				 "{\"names\": [\"bash\"], \"state\": \"absent\"}"),
		-E_CONFLICT);
	tree_done(&t);
}

TEST(apt_fetches_lists_when_there_are_none)
{
	struct tree t;

	stand_in_init(&t, BASH);
	stand_in_remove(&t, "var/lib/apt/lists/a_Packages");
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_true(strncmp(tree_read(&t, "log"), "apt-get -q -o DPkg::Lock::Timeout=120 update\n",
			    40) == 0);
	tree_done(&t);
}

TEST(apt_fetches_lists_once_for_an_unknown_package)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-unknown", "1\n");
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_non_null(strstr(tree_read(&t, "log"), " update\napt-get -s -y"));
	tree_write(&t, "say-no-net", "");
	tree_write(&t, "say-unknown", "1\n");
	tree_write(&t, "var/lib/dpkg/status", BASH);
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_NET);
	assert_non_null(strstr(t.err.msg, "Could not resolve mirror"));
	assert_true(t.err.hint[0]);
	tree_done(&t);
}

TEST(apt_failure_carries_its_errors)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-broken", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_REMOTE);
	assert_non_null(strstr(t.err.msg, "error processing package curl"));
	assert_non_null(strstr(t.err.msg, "returned an error code"));
	assert_null(strstr(t.err.msg, "Reading package lists"));
	assert_false(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	tree_done(&t);
}

TEST(apt_exit_status_is_not_believed)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-lie", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), 0);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"curl\"]}"), STEP_DIFFERS);
	tree_done(&t);
}

TEST(apt_knows_the_latest)
{
	static const char ARGS[] = "{\"names\": [\"bash\"], \"state\": \"latest\"}";
	struct tree t;

	stand_in_init(&t, BASH);
	assert_int_equal(tree_check(&t, "package", ARGS), STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff), "upgrade bash 1 -> 2\n");
	tree_done(&t);
}

/* --- what is refused after the simulation --- */

TEST(apt_refuses_surprise_removals)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(
		&t, "say-plan", "Remv mta [1]\nRemv mta-config [1]\nInst curl (2 stable [all])\n");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_CONFLICT);
	assert_string_equal(t.err.msg, "this would also remove mta, mta-config");
	assert_null(strstr(tree_read(&t, "log"), "apt-get -q"));
	assert_int_equal(
		tree_apply(&t, "package", "{\"names\": [\"curl\"], \"allow_remove\": [\"mta\"]}"),
		-E_CONFLICT);
	assert_string_equal(t.err.msg, "this would also remove mta-config");
	assert_int_equal(
		tree_apply(&t, "package", "{\"names\": [\"curl\"], \"allow_remove\": [\"mta*\"]}"),
		0);
	tree_done(&t);
}

TEST(apt_goes_back_only_when_told)
{
	struct tree t;

	stand_in_init(&t, "Package: bash\nStatus: install ok installed\nArchitecture: all\n"
			  "Version: 1:2-3\n\n");
	tree_refused(&t, "package", "{\"names\": [\"bash=1:2-2\"]}", E_CONFLICT);
	assert_string_equal(t.err.msg, "'bash' is installed as 1:2-3, 1:2-2 would be a step back");
	assert_string_equal(t.err.hint, "say 'downgrade: true' if that is meant");
	tree_write(&t, "say-plan", "Inst bash [1:2-3] (1:2-2 stable [all])\n");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"bash=1:2-2\"]}"), -E_CONFLICT);
	tree_converge(&t, "package", "{\"names\": [\"bash=1:2-2\"], \"downgrade\": true}");
	assert_non_null(strstr(tree_read(&t, "log"), "--allow-downgrades install -- bash=1:2-2\n"));
	tree_done(&t);
}

TEST(apt_names_both_origins_of_an_unsolvable_wish)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-refused",
		"Reading package lists...\n"
		"The following packages have unmet dependencies:\n"
		" linux-modules-nvidia-580-open : Depends: nvidia-kernel-common-580 (< 580.178) but "
		"580.178.04-1ubuntu1 is to be installed\n"
		"E: Unable to correct problems, you have held broken packages.\n");
	tree_write(&t, "say-policy",
		"linux-modules-nvidia-580-open:\n  Installed: (none)\n  Candidate: 6.8.0-60\n"
		"  Version table:\n     6.8.0-60 500\n        500 http://archive/ubuntu "
		"noble/restricted amd64 Packages\n"
		"nvidia-kernel-common-580:\n  Installed: 580.178.04-1ubuntu1\n"
		"  Candidate: 580.178.04-1ubuntu1\n  Version table:\n"
		" *** 580.178.04-1ubuntu1 600\n        600 https://nvidia/cuda  Packages\n"
		"        100 /var/lib/dpkg/status\n");
	assert_int_equal(
		tree_apply(&t, "package", "{\"names\": [\"linux-modules-nvidia-580-open\"]}"),
		-E_CONFLICT);
	assert_string_equal(t.err.msg,
		"these packages cannot be installed together: linux-modules-nvidia-580-open : "
		"Depends: nvidia-kernel-common-580 (< 580.178) but 580.178.04-1ubuntu1 is to be "
		"installed");
	assert_string_equal(t.err.hint,
		"nothing was changed; take all from one origin: linux-modules-nvidia-580-open "
		"6.8.0-60 from http://archive/ubuntu, nvidia-kernel-common-580 580.178.04-1ubuntu1 "
		"from https://nvidia/cuda");
	tree_done(&t);
}

TEST(apt_wants_the_space_of_what_it_would_install)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-show", "Package: curl\nSize: 5\nInstalled-Size: 99999999999\n");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_NOSPACE);
	assert_non_null(strstr(t.err.msg, "free under '/usr'"));
	assert_null(strstr(tree_read(&t, "log"), "apt-get -q"));
	tree_done(&t);
}

/* --- a database that was left half-way --- */

TEST(apt_never_repairs_what_others_left)
{
	struct tree t;

	stand_in_init(&t, HALF);
	tree_write(&t, "var/lib/dkms/nvidia/575.57/build/make.log",
		"DKMS make.log for nvidia-575.57 for kernel 6.8.0-1032-aws (x86_64)\nconftest.h:3: "
		"error: nope\nmake: *** Error 2\n");
	tree_refused(&t, "package", "{\"names\": [\"curl\"]}", E_STATE);
	assert_string_equal(t.err.msg, "package database broken: nv (half-configured)");
	assert_true(tree_said(&t, "for kernel 6.8.0-1032-aws:\n"));
	assert_true(tree_said(&t, "  make: *** Error 2\n"));
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_STATE);
	assert_false(tree_has(&t, "log"));
	/* what is as wished already does not mind */
	tree_write(&t, "var/lib/dpkg/status", HALF);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"x\"], \"state\": \"absent\"}"),
		STEP_SAME);
	tree_done(&t);
}

TEST(apt_repairs_when_told)
{
	struct tree t;

	stand_in_init(&t, HALF);
	assert_int_equal(tree_check(&t, "package", "{\"repair\": true}"), STEP_DIFFERS);
	assert_true(tree_said(&t, "nv (half-configured)"));
	tree_converge(&t, "package", "{\"repair\": true}");
	assert_non_null(strstr(tree_read(&t, "log"), "--configure -a\n"));
	tree_write(&t, "var/lib/dpkg/updates/0001", "");
	assert_int_equal(tree_check(&t, "package", "{\"repair\": true}"), STEP_DIFFERS);
	tree_done(&t);
}

TEST(apt_tells_when_a_repair_fails)
{
	struct tree t;

	stand_in_init(&t, HALF);
	tree_write(&t, "say-stuck", "");
	assert_int_equal(tree_apply(&t, "package", "{\"repair\": true}"), -E_STATE);
	assert_non_null(strstr(t.err.msg, "dpkg is still broken on this node: nv"));
	assert_non_null(strstr(t.err.msg, "build failed for kernel 6.8"));
	assert_non_null(strstr(t.err.hint, "dpkg --audit"));
	tree_done(&t);
}

TEST(apt_finishes_its_own_interrupted_transaction)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "say-full", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_NOSPACE);
	assert_true(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	stand_in_remove(&t, "say-full");
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_non_null(strstr(tree_read(&t, "log"), "--configure curl\n"));
	assert_null(strstr(tree_read(&t, "log"), "-a\n"));
	assert_false(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	tree_done(&t);
}

/* A mark whose packages are whole: the next run clears it away. */
TEST(apt_clears_a_mark_that_is_left)
{
	struct tree t;

	stand_in_init(&t, BASH);
	tree_write(&t, "var/lib/stoika-agent/packages-changing", "bash\n");
	tree_converge(&t, "package", "{\"names\": [\"bash\"]}");
	assert_false(tree_has(&t, "var/lib/stoika-agent/packages-changing"));
	assert_false(tree_has(&t, "log"));
	tree_done(&t);
}

/* --- locks --- */

/* A process that holds the lock until it is killed. */
static pid_t hold_lock(struct tree *t, const char *name)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[512];
	int ready[2];
	pid_t pid;

	tree_write(t, name, "");
	tree_path(t, name, path);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		const int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fcntl(fd, F_SETLK, &lock) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], path, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static const char *const LOCKS[] = {
	"var/lib/dpkg/lock-frontend", "var/lib/apt/lists/lock", "run/unattended-upgrades.lock"};

TEST(apt_names_who_holds_the_lock)
{
	char expected[128];
	struct tree t;

	for (size_t i = 0; i < sizeof LOCKS / sizeof LOCKS[0]; i++) {
		pid_t pid;

		stand_in_init(&t, BASH);
		pid = hold_lock(&t, LOCKS[i]);
		assert_int_equal(
			tree_apply(&t, "package", "{\"names\": [\"curl\"], \"wait\": 1}"), -E_BUSY);
		snprintf(expected, sizeof expected,
			"'step_apt_test' (pid %d) is changing packages on this node and did not end "
			"within 1 s",
			pid);
		assert_string_equal(t.err.msg, expected);
		assert_non_null(strstr(t.err.hint, "'wait'"));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(
			tree_apply(&t, "package", "{\"names\": [\"curl\"], \"wait\": 0}"), 0);
		tree_done(&t);
	}
}

/* --- what apt-get prints --- */

TEST(apt_plan_reads_a_simulation)
{
	struct arena *a = arena_new();
	struct plan plan = VEC_INIT;

	apt_plan_read(a,
		str_of("NOTE: This is only a simulation!\nInst libc6 [2.36-8] (2.36-9 Debian:12 "
		       "[amd64]) []\nConf libc6 (2.36-9)\nRemv mta [1.0]\nPurg old [3]\nInst "
		       "x:i386 (1 a [i386])\nRemv odd\nInst\nInst \n"),
		&plan);
	assert_int_equal(plan.n, 5);
	assert_string_equal(plan.at[0].name, "libc6");
	assert_string_equal(plan.at[0].from, "2.36-8");
	assert_string_equal(plan.at[0].to, "2.36-9");
	assert_null(plan.at[1].to);
	assert_string_equal(plan.at[2].from, "3");
	assert_string_equal(plan.at[3].name, "x:i386");
	assert_null(plan.at[3].from);
	assert_string_equal(plan.at[4].name, "odd");
	assert_null(plan.at[4].to);
	vec_done(&plan);
	arena_free(a);
}

TEST(apt_plan_sums_sizes)
{
	uint64_t fetched, installed;

	apt_plan_sizes(str_of("Package: a\nInstalled-Size: 10\nSize: 1000\n\nPackage: b\nSize: "
			      "24\nInstalled-Size: x\n"),
		&fetched, &installed);
	assert_int_equal(fetched, 1024);
	assert_int_equal(installed, 10240);
}

T_MAIN
