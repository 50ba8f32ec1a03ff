/*
 * apt - the transaction, against an apt-get and a dpkg that are scripts in the root.
 *
 * They write their arguments to /log and answer as /say-* tell them; apt-get
 * install writes the packages it was given into the status file.
 */
#include "tests/unit/step/programs.h"

static const char APT_GET[] =
	"#!/bin/sh\n"
	"echo \"apt-get $*\" >>/log\n"
	"case \"$*\" in\n"
	"*' update'*) : >/var/lib/apt/lists/x_Packages; [ ! -e /say-no-net ] || "
	"{ echo 'E: Failed to fetch http://mirror/x  Could not resolve mirror'; exit 100; }; exit 0;;\n"
	"'-s '*) echo 'Inst bash [1] (2 stable [amd64])'; echo 'Conf bash (2)'; exit 0;;\n"
	"esac\n"
	"[ ! -e /say-unknown ] || { read n </say-unknown; if [ \"$n\" != 0 ]; then\n"
	"  echo 0 >/say-unknown; echo 'E: Unable to locate package curl'; exit 100; fi; }\n"
	"[ ! -e /say-broken ] || { echo 'Reading package lists...'; "
	"echo 'dpkg: error processing package curl (--configure):'; "
	"echo 'E: Sub-process /usr/bin/dpkg returned an error code (1)'; exit 100; }\n"
	"[ ! -e /say-lie ] || exit 0\n"
	"while [ \"$1\" != -- ]; do shift; done; shift\n"
	"for p; do n=${p%%=*}; v=${p#*=}; [ \"$v\" != \"$p\" ] || v=2\n"
	"  case $p in *-) : >/var/lib/dpkg/status;; *)\n"
	"  printf 'Package: %s\\nStatus: install ok installed\\nArchitecture: all\\n"
	"Version: %s\\n\\n' \"$n\" \"$v\" >>/var/lib/dpkg/status;; esac; done\n";

static const char DPKG[] =
	"#!/bin/sh\n"
	"echo \"dpkg $*\" >>/log\n"
	"[ ! -e /say-stuck ] || { echo 'dkms: build failed for kernel 6.8'; exit 1; }\n"
	": >/var/lib/dpkg/status\n";

static const char BASH[] =
	"Package: bash\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n";
static const char HALF[] =
	"Package: nv\nStatus: install ok half-configured\nArchitecture: all\nVersion: 1\n\n";

static void init(struct tree *t, const char *status)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_script(t, "usr/bin/apt-get", APT_GET);
	programs_script(t, "usr/bin/dpkg", DPKG);
	tree_write(t, "var/lib/dpkg/status", status);
	tree_write(t, "var/lib/apt/lists/a_Packages", "");
	tree_mkdir(t, "dev");
}

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

	init(&t, BASH);
	assert_int_equal(
		apply_two(&t, "{\"names\": [\"curl\", \"bash\"]}", "{\"names\": [\"jq=1.6\"]}"), 0);
	assert_string_equal(tree_read(&t, "log"),
		"apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 -o "
		"Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o "
		"Dpkg::Use-Pty=0 -o APT::Cmd::Pattern-Only=true --allow-downgrades install -- curl jq=1.6\n");
	assert_int_equal(
		tree_check(&t, "package", "{\"names\": [\"curl\", \"jq=1.6\"]}"), STEP_SAME);
	tree_done(&t);
}

TEST(apt_is_not_started_when_nothing_differs)
{
	struct tree t;

	init(&t, BASH);
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"bash\"]}"), 0);
	assert_int_equal(
		tree_apply(&t, "package", "{\"names\": [\"curl\"], \"state\": \"absent\"}"), 0);
	assert_false(tree_has(&t, "log"));
	tree_done(&t);
}

TEST(apt_removes_in_the_same_transaction)
{
	struct tree t;

	init(&t, BASH);
	tree_converge(&t, "package", "{\"names\": [\"bash\"], \"state\": \"absent\"}");
	assert_non_null(strstr(tree_read(&t, "log"), "install -- bash-\n"));
	tree_done(&t);
}

TEST(apt_refuses_two_wishes_for_one_package)
{
	struct tree t;

	init(&t, HALF);
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
	char path[512];
	struct tree t;

	init(&t, BASH);
	tree_path(&t, "var/lib/apt/lists/a_Packages", path);
	assert_int_equal(unlink(path), 0);
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_true(strncmp(tree_read(&t, "log"), "apt-get -q -o DPkg::Lock::Timeout=120 update\n",
			    40) == 0);
	tree_done(&t);
}

TEST(apt_fetches_lists_once_for_an_unknown_package)
{
	struct tree t;

	init(&t, BASH);
	tree_write(&t, "say-unknown", "1\n");
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_non_null(strstr(tree_read(&t, "log"), " update\napt-get -q -y"));
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

	init(&t, BASH);
	tree_write(&t, "say-broken", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_REMOTE);
	assert_non_null(strstr(t.err.msg, "error processing package curl"));
	assert_non_null(strstr(t.err.msg, "returned an error code"));
	assert_null(strstr(t.err.msg, "Reading package lists"));
	tree_done(&t);
}

TEST(apt_exit_status_is_not_believed)
{
	struct tree t;

	init(&t, BASH);
	tree_write(&t, "say-lie", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), 0);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"curl\"]}"), STEP_DIFFERS);
	tree_done(&t);
}

TEST(apt_repairs_dpkg_first)
{
	struct tree t;

	init(&t, HALF);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"nv\"]}"), STEP_DIFFERS);
	tree_converge(&t, "package", "{\"names\": [\"curl\"]}");
	assert_true(strncmp(tree_read(&t, "log"), "dpkg --configure -a", 19) == 0);
	tree_done(&t);
}

TEST(apt_tells_which_package_breaks_dpkg)
{
	struct tree t;

	init(&t, HALF);
	tree_write(&t, "say-stuck", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_STATE);
	assert_non_null(strstr(t.err.msg, "dpkg is broken on this node: nv"));
	assert_non_null(strstr(t.err.msg, "build failed for kernel 6.8"));
	assert_non_null(strstr(t.err.hint, "dpkg --audit"));
	assert_null(strstr(tree_read(&t, "log"), "apt-get"));
	tree_done(&t);
}

TEST(apt_sees_an_interrupted_dpkg)
{
	struct tree t;

	init(&t, BASH);
	tree_write(&t, "var/lib/dpkg/updates/0001", "");
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), 0);
	assert_true(strncmp(tree_read(&t, "log"), "dpkg --configure -a", 19) == 0);
	tree_done(&t);
}

TEST(apt_knows_the_latest)
{
	static const char ARGS[] = "{\"names\": [\"bash\"], \"state\": \"latest\"}";
	struct tree t;

	init(&t, BASH);
	assert_int_equal(tree_check(&t, "package", ARGS), STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff), "upgrade bash [1] (2 stable [amd64])\n");
	tree_done(&t);
}

T_MAIN
