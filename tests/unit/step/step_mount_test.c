/*
 * mount - fstab and mountinfo of a throw-away root; mount and umount are scripts that edit the
 * latter.
 */
#include "agent/base/clock.h"
#include "agent/step/mount_options.h"
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

#include <sys/mount.h>

#define INFO "proc/self/mountinfo"

static const char MOUNT[] =
	"#!/bin/sh\n"
	"echo \"mount $*\" >>/log\n"
	"[ ! -e /hang ] || while :; do sleep 1; done\n"
	"[ ! -e /fails ] || { echo 'mount: wrong fs type' >&2; exit 32; }\n"
	"i=/proc/self/mountinfo\n"
	"o=${4#remount,}; o=${o#bind,}\n"
	"case $o in defaults) o=rw;; r[ow]*) ;; *) o=rw,$o;; esac\n"
	"while read -r l; do case $l in *\" $6 \"*) ;; *) echo \"$l\";; esac; done <$i >/new\n"
	"echo \"36 25 0:40 / $6 $o shared:1 - $2 $5 rw\" >>/new\n"
	"while read -r l; do echo \"$l\"; done </new >$i\n";

static const char UMOUNT[] =
	"#!/bin/sh\n"
	"echo \"umount $*\" >>/log\n"
	"[ ! -e /busy ] || { echo 'umount: target is busy' >&2; exit 32; }\n"
	"i=/proc/self/mountinfo\n"
	"while read -r l; do case $l in *\" $2 \"*) ;; *) echo \"$l\";; esac; done <$i >/new\n"
	"while read -r l; do echo \"$l\"; done </new >$i\n";

static const char FSTAB[] = "# <file system>\t<mount point>\n"
			    "UUID=1234  /  ext4 errors=remount-ro 0 1\n"
			    "nas:/x\t/srv/with\\040blank\tnfs\tro\t0 0\n";

static const char *const IGNORED[] = {"log", "new", NULL};

static void init(struct tree *t)
{
	tree_init(t);
	tree_ignore = IGNORED;
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_add(t, "/bin/sleep", "/bin/sleep");
	programs_script(t, "usr/bin/mount", MOUNT);
	programs_script(t, "usr/bin/umount", UMOUNT);
	tree_write(t, "etc/fstab", FSTAB);
	tree_write(t, "log", "");
	tree_write(t, "new", "");
	tree_mkdir(t, "srv");
	tree_write(t, INFO,
		"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
		"23 22 0:30 / /nfs rw,relatime - nfs4 dead:/x rw,vers=4.2\n");
}

#define DATA                                                                                 \
	"\"path\": \"/srv/data\", \"source\": \"UUID=ab\", \"type\": \"xfs\", \"options\": " \
	"\"noatime,nofail\""

TEST(mount_makes_the_point_and_the_line)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "mount", "{" DATA "}");
	assert_string_equal(strstr(tree_read(&t, "etc/fstab"), "UUID=ab"),
		"UUID=ab\t/srv/data\txfs\tnoatime,nofail\t0 0\n");
	assert_true(strncmp(tree_read(&t, "etc/fstab"), FSTAB, strlen(FSTAB)) == 0);
	assert_string_equal(tree_read(&t, "log"), "mount -t xfs -o noatime UUID=ab /srv/data\n");
	tree_converge(&t, "mount", "{" DATA ", \"state\": \"unmounted\"}");
	assert_non_null(strstr(tree_read(&t, "etc/fstab"), "UUID=ab"));
	tree_converge(&t, "mount", "{\"path\": \"/srv/data\", \"state\": \"absent\"}");
	assert_string_equal(tree_read(&t, "etc/fstab"), FSTAB);
	tree_done(&t);
}

TEST(mount_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "mount", "{" DATA "}");
	assert_false(tree_has(&t, "srv/data"));
	tree_undoes(&t, "mount", "{" DATA ", \"state\": \"present\"}");
	tree_write(&t, "etc/fstab", "a /srv/data\txfs  ro 0 0 # old\n/x /y z w 0 0");
	tree_undoes(&t, "mount", "{" DATA ", \"state\": \"present\"}");
	tree_undoes(&t, "mount", "{\"path\": \"/srv/data\", \"state\": \"absent\"}");
	tree_converge(&t, "mount", "{" DATA "}");
	tree_undoes(&t, "mount", "{\"path\": \"/srv/data\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(mount_with_other_options_is_mounted_anew)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "mount", "{" DATA "}");
	tree_write(&t, "log", "");
	tree_converge(&t, "mount",
		"{\"path\": \"/srv/data/\", \"source\": \"UUID=ab\", \"type\": \"xfs\", "
		"\"options\": \"ro,noatime\"}");
	assert_string_equal(
		tree_read(&t, "log"), "mount -t xfs -o remount,ro,noatime UUID=ab /srv/data\n");
	tree_done(&t);
}

TEST(mount_of_another_file_system_is_a_conflict)
{
	struct tree t;

	init(&t);
	tree_refused(&t, "mount",
		"{\"path\": \"/nfs\", \"source\": \"live:/x\", \"type\": \"nfs\"}", E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "dead:/x"));
	tree_refused(&t, "mount",
		"{\"path\": \"/nfs\", \"source\": \"/dev/sdb\", \"type\": \"xfs\"}", E_CONFLICT);
	tree_done(&t);
}

/* Nothing below a dead server is looked at: here that would fail, for the tree has no such path. */
TEST(mount_never_looks_behind_the_mount_point)
{
	struct tree t;
	char path[512];

	init(&t);
	tree_path(&t, "nfs", path);
	assert_int_equal(mkdir(path, 0), 0);
	tree_write(&t, "etc/fstab", "dead:/x\t/nfs\tnfs\tdefaults\t0 0\n");
	assert_int_equal(
		tree_check(&t, "mount",
			"{\"path\": \"/nfs\", \"source\": \"dead:/x/\", \"type\": \"nfs\"}"),
		STEP_DIFFERS); /* only the line: '/x/' */
	assert_null(strstr(t.rep.why, "mounted"));
	assert_int_equal(
		tree_check(&t, "mount",
			"{\"path\": \"/nfs\", \"source\": \"dead:/x\", \"type\": \"nfs\"}"),
		STEP_SAME);
	assert_int_equal(tree_check(&t, "mount",
				 "{\"path\": \"/nfs/below\", \"source\": \"/dev/sdb\", \"type\": "
				 "\"xfs\"}"),
		STEP_DIFFERS);
	tree_done(&t);
}

TEST(mount_that_hangs_is_stopped)
{
	int64_t start;
	struct tree t;

	init(&t);
	tree_write(&t, "hang", "");
	start = clock_mono();
	assert_int_equal(tree_apply(&t, "mount", "{" DATA ", \"timeout\": 1}"), -E_TIMEOUT);
	assert_true(clock_mono() - start < 8 * CLOCK_SEC);
	assert_non_null(strstr(t.err.msg, "/srv/data"));
	assert_non_null(strstr(t.err.hint, "server"));
	assert_string_equal(tree_read(&t, "etc/fstab"), FSTAB);
	tree_done(&t);
}

TEST(mount_that_fails_leaves_fstab)
{
	struct tree t;

	init(&t);
	tree_write(&t, "fails", "");
	assert_true(tree_apply(&t, "mount", "{" DATA "}") < 0);
	assert_non_null(strstr(t.err.msg, "wrong fs type"));
	assert_non_null(strstr(t.err.hint, "dmesg"));
	assert_string_equal(tree_read(&t, "etc/fstab"), FSTAB);
	tree_done(&t);
	init(&t);
	tree_converge(&t, "mount", "{" DATA "}");
	tree_write(&t, "busy", "");
	assert_true(tree_apply(&t, "mount", "{" DATA ", \"state\": \"unmounted\"}") < 0);
	assert_non_null(strstr(t.err.hint, "fuser"));
	tree_done(&t);
}

TEST(mount_over_files_is_told)
{
	struct tree t;

	init(&t);
	tree_write(&t, "srv/data/old", "");
	assert_int_equal(tree_check(&t, "mount", "{" DATA "}"), STEP_DIFFERS);
	assert_non_null(strstr(t.rep.why, "hide files"));
	tree_done(&t);
}

TEST(mount_devices_by_tag_and_link)
{
	struct tree t;

	init(&t);
	tree_mkdir(&t, "dev/disk/by-uuid");
	tree_link(&t, "../../sdb1", "dev/disk/by-uuid/ab");
	tree_write(&t, INFO,
		"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 8:17 / /srv/data rw,noatime - xfs "
		"/dev/sdb1 rw\n");
	tree_write(&t, "etc/fstab", "UUID=ab\t/srv/data\txfs\tnoatime,nofail\t0 0\n");
	assert_int_equal(tree_check(&t, "mount", "{" DATA "}"), STEP_SAME);
	tree_write(&t, INFO,
		"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 8:17 / /srv/data rw,noatime - xfs "
		"/dev/sdc1 rw\n");
	tree_refused(&t, "mount", "{" DATA "}", E_CONFLICT);
	tree_done(&t);
}

TEST(mount_bind_by_the_part_that_is_shown)
{
	static const char ARGS[] = "{\"path\": \"/mnt/a b\", \"source\": \"/srv/a\", \"type\": "
				   "\"none\", \"options\": \"bind\"}";
	struct tree t;

	init(&t);
	tree_write(&t, INFO,
		"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"30 22 8:2 /vol /srv rw - ext4 /dev/sda2 rw\n"
		"36 22 8:2 /vol/a /mnt/a\\040b rw - ext4 /dev/sda2 rw\n");
	tree_write(&t, "etc/fstab", "/srv/a\t/mnt/a\\040b\tnone\tbind\t0 0\n");
	assert_int_equal(tree_check(&t, "mount", ARGS), STEP_SAME);
	tree_write(&t, INFO,
		"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"36 22 8:1 /srv/b /mnt/a\\040b rw - ext4 /dev/sda1 rw\n");
	tree_refused(&t, "mount", ARGS, E_CONFLICT);
	tree_done(&t);
}

static const struct {
	const char *wanted, *options, *super, *differs;
} OPTIONS[] = {
	{"defaults", "rw,relatime", "rw", NULL},
	{"ro", "ro", "rw", NULL},
	{"ro", "rw", "ro", NULL},
	{"ro", "rw", "rw", "ro"},
	{"rw", "ro", "ro", "rw"},
	{"noatime,nofail,x-systemd.automount,_netdev", "rw,noatime", "rw", NULL},
	{"nosuid,nodev", "rw,nosuid", "rw", "nodev"},
	{"size=1G,mode=0755", "rw", "rw,size=1048576k,mode=755", NULL},
	{"size=2G", "rw", "rw,size=1048576k", "size=2G"},
	{"size=50%", "rw", "rw,size=1048576k", NULL},
	{"nfsvers=4.2,rsize=1", "rw", "rw,vers=4.2,rsize=1048576", NULL},
	{"exec,suid,dev", "rw,noexec", "rw", "exec"},
};

TEST(mount_options_that_can_be_compared)
{
	for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
		struct mount_entry now = {0};
		struct buf what;
		bool differ;

		buf_init(&what, 256);
		snprintf(now.options, sizeof now.options, "%s", OPTIONS[i].options);
		snprintf(now.super, sizeof now.super, "%s", OPTIONS[i].super);
		differ = mount_options_differ(OPTIONS[i].wanted, &now, &what);
		if (differ != (OPTIONS[i].differs != NULL) ||
			(differ && strcmp(buf_text(&what), OPTIONS[i].differs) != 0))
			fail_msg("row %zu: '%s'", i, buf_text(&what));
		buf_done(&what);
	}
}

TEST(mount_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{\"path\": \"/x\"}",
		"{\"path\": \"/x\", \"source\": \"a\"}",
		"{\"path\": \"/x\", \"source\": \"a\", \"type\": \"a b\"}",
		"{\"path\": \"/x\", \"source\": \"a\", \"type\": \"xfs\", \"options\": \"ro, rw\"}",
		"{\"path\": \"/x\", \"source\": \"a\", \"type\": \"xfs\", \"timeout\": 0}",
		"{\"path\": \"//x\", \"source\": \"a\", \"type\": \"xfs\"}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
		tree_refused(&t, "mount", BAD[i], E_SCHEMA);
	tree_refused(&t, "mount", "{\"path\": \"/\", \"state\": \"absent\"}", E_DENIED);
	assert_int_equal(fs_remove(t.env.root, "proc", true, NULL), 0);
	tree_refused(&t, "mount", "{" DATA "}", E_NOTFOUND);
	tree_done(&t);
}

T_MAIN
