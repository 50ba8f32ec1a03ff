/* step_storage_test - file systems, arrays, volumes and NVMe connections, and what is never wiped.
 */
#include "agent/step/lvm_report.h"
#include "agent/step/mdstat.h"
#include "agent/step/signatures.h"
#include "tests/unit/step/disks.h"
#include "tests/unit/step/undo.h"

#define EXT4 \
	"{\"signatures\": [{\"device\":\"a\", \"offset\":\"0x438\", \"type\":\"ext4\", \"uuid\":\"u1\", \"label\":\"data\"}]}"
#define MEMBER "{\"signatures\": [{\"type\":\"linux_raid_member\", \"label\":\"any:r0\"}]}"

static void said(struct tree *t, const char *part)
{
	if (!strstr(t->err.msg, part) && !strstr(t->err.hint, part) && !tree_said(t, part))
		fail_msg("expected '%s' in: %s / %s / %s", part, t->err.msg, t->err.hint,
			buf_text(&t->rep.diff));
}

TEST(filesystem_on_a_loop_device)
{
	char name[32], args[256], more[300], device[64], where[512];
	struct tree t;

	tree_init(&t);
	if (access("/usr/sbin/mkfs.ext4", X_OK) < 0 || !disks_loop(&t, name)) {
		tree_done(&t);
		skip();
	}
	programs_add(&t, "/usr/sbin/mkfs.ext4", "usr/sbin/mkfs.ext4");
	programs_add(&t, "/usr/sbin/wipefs", "usr/sbin/wipefs");
	disks_bind(&t, "/sys");
	disks_bind(&t, "/proc");
	snprintf(args, sizeof args, "{\"device\": \"/dev/%s\", \"label\": \"one\"", name);
	snprintf(more, sizeof more, "%s}", args);
	tree_converge(&t, "filesystem", more);
	/* another label is another file system: it is not made without being told to */
	snprintf(more, sizeof more, "{\"device\": \"/dev/%s\", \"label\": \"two\"}", name);
	tree_refused(&t, "filesystem", more, E_DENIED);
	assert_true(t.rep.denied);
	said(&t, "ext4 label 'one'");
	said(&t, "wipe_plan");
	snprintf(more, sizeof more,
		"{\"device\": \"/dev/%s\", \"label\": \"two\", \"wipe\": true, \"wipe_plan\": \"0123\"}",
		name);
	tree_refused(&t, "filesystem", more, E_CONFLICT);
	/* and never while it is mounted */
	snprintf(device, sizeof device, "/dev/%s", name);
	tree_mkdir(&t, "mnt");
	tree_path(&t, "mnt", where);
	snprintf(more, sizeof more, "{\"device\": \"/dev/%s\", \"label\": \"two\", \"wipe\": true}",
		name);
	if (mount(device, where, "ext4", 0, NULL) == 0) {
		tree_refused(&t, "filesystem", more, E_BUSY);
		said(&t, "is mounted on");
		assert_int_equal(tree_apply(&t, "filesystem", more), -E_BUSY);
		assert_int_equal(umount(where), 0);
	}
	tree_converge(&t, "filesystem", more);
	disks_unbind(&t, "/proc");
	disks_unbind(&t, "/sys");
	disks_unloop(name);
	tree_done(&t);
}

TEST(filesystem_refuses_wrong_devices)
{
	struct tree t;

	tree_init(&t);
	disks_tools(&t);
	disks_fake(&t, "sda", 0, "S1\n");
	disks_fake(&t, "sdb", 1, "S2\n");
	disks_fake(&t, "sdc", 2, "S2\n");
	tree_write(&t, "sigs/sda", EXT4);
	tree_refused(&t, "filesystem", "{\"device\": \"/dev/sda\"}", E_DENIED);
	said(&t, "may be another disk after the next boot");
	said(&t, "/dev/disk/by-id/fake-sda");
	tree_refused(&t, "filesystem", "{\"device\": \"/dev/disk/by-id/fake-sdb\"}", E_CONFLICT);
	said(&t, "have the serial 'S2'");
	tree_refused(&t, "filesystem", "{\"device\": \"/dev/disk/by-id/none\"}", E_NOTFOUND);
	tree_refused(&t, "filesystem", "{\"device\": \"/etc/passwd\"}", E_SCHEMA);
	tree_refused(&t, "filesystem",
		"{\"device\": \"/dev/disk/by-id/fake-sda\", \"label\": \"much-too-long-a-label\"}",
		E_LIMIT);
	tree_refused(&t, "filesystem",
		"{\"device\": \"/dev/disk/by-id/fake-sda\", \"uuid\": \"no\"}", E_SCHEMA);
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "filesystem", "{\"device\": \"/dev/md/x\"}"), STEP_UNKNOWN);
	tree_done(&t);
}

static void prepare_raid(struct tree *t)
{
	tree_init(t);
	disks_tools(t);
	disks_fake(t, "sda", 0, "S1\n");
	disks_fake(t, "sdb", 1, "S2\n");
	disks_fake(t, "sdc", 2, "S3\n");
	tree_write(t, "proc/mdstat", "Personalities : [raid1]\nunused devices: <none>\n");
	tree_mkdir(t, "etc/mdadm");
	programs_add(t, "/bin/ln", "bin/ln");
	programs_add(t, "/bin/mknod", "bin/mknod");
	programs_add(t, "/bin/mkdir", "bin/mkdir");
	/* what mdadm does, as the step sees it */
	programs_script(t, "usr/sbin/mdadm",
		"#!/bin/sh\n"
		"case $1 in\n"
		"--create | --assemble)\n"
		"	echo \"$*\" >>/log\n"
		"	printf 'Personalities : [raid1]\\nmd127 : active raid1 sdb[1] sda[0]\\n"
		"      64 blocks super 1.2 [2/2] [UU]\\n\\nunused devices: <none>\\n' >/proc/mdstat\n"
		"	mkdir -p /dev/md /sys/class/block/md127 && mknod /dev/md127 b 259 1048100 && ln -s ../md127 /dev/md/r0\n"
		"	ln -s ../../class/block/md127 /sys/dev/block/259:1048100 ;;\n"
		"--detail) echo 'ARRAY /dev/md/r0 metadata=1.2 UUID=1:2:3:4' ;;\n"
		"esac\n");
}

#define R0 \
	"{\"name\": \"r0\", \"level\": \"1\", \"devices\": [\"/dev/disk/by-id/fake-sda\", \"/dev/disk/by-id/fake-sdb\"]"

TEST(raid_is_made_assembled_and_told)
{
	struct tree t;

	prepare_raid(&t);
	tree_converge(&t, "raid", R0 "}");
	assert_string_equal(tree_read(&t, "log"),
		"--create /dev/md/r0 --run --quiet --homehost=any --level=1 --raid-devices=2 "
		"--metadata=1.2 /dev/sda /dev/sdb\n");
	assert_string_equal(tree_read(&t, "etc/mdadm/mdadm.conf"),
		"ARRAY /dev/md/r0 metadata=1.2 UUID=1:2:3:4\n");
	/* what is there and is another is left alone */
	tree_refused(&t, "raid",
		"{\"name\": \"r0\", \"level\": \"0\", \"devices\": [\"/dev/disk/by-id/fake-sda\", "
		"\"/dev/disk/by-id/fake-sdb\"]}",
		E_CONFLICT);
	said(&t, "level 'raid1', expected raid0");
	tree_refused(&t, "raid",
		"{\"name\": \"r0\", \"level\": \"1\", \"devices\": [\"/dev/disk/by-id/fake-sda\", "
		"\"/dev/disk/by-id/fake-sdc\"]}",
		E_CONFLICT);
	tree_refused(&t, "raid",
		"{\"name\": \"r1\", \"level\": \"1\", \"devices\": [\"/dev/disk/by-id/fake-sda\", "
		"\"/dev/disk/by-id/fake-sdc\"]}",
		E_BUSY);
	said(&t, "is part of the array 'md127'");
	tree_done(&t);
}

TEST(raid_takes_its_members_up_again)
{
	struct tree t;

	prepare_raid(&t);
	tree_write(&t, "sigs/sda", MEMBER);
	tree_write(&t, "sigs/sdb", MEMBER);
	tree_converge(&t, "raid", R0 "}");
	assert_string_equal(tree_read(&t, "log"), "--assemble /dev/md/r0 /dev/sda /dev/sdb\n");
	assert_string_equal(tree_read(&t, "sigs/sda"), MEMBER);
	tree_done(&t);
}

TEST(raid_wipes_only_what_it_may)
{
	struct tree t;

	prepare_raid(&t);
	tree_write(&t, "sigs/sdb", EXT4);
	tree_refused(&t, "raid", R0 "}", E_DENIED);
	said(&t, "fake-sdb (sdb, 4.0 TB, FAKE 4TB, serial S2)");
	said(&t, "ext4 label 'data' uuid u1");
	tree_mkdir(&t, "sys/class/block/sdb/holders/dm-0");
	tree_refused(&t, "raid", R0 ", \"wipe\": true}", E_BUSY);
	said(&t, "used by dm-0");
	assert_int_equal(fs_remove(t.env.root, "sys/class/block/sdb/holders", true, NULL), 0);
	/* partitions count, and one that is mounted holds the whole disk */
	tree_write(&t, "sys/class/block/sdb/sdb1/partition", "1\n");
	tree_write(&t, "sys/class/block/sdb1/size", "1000\n");
	disks_node(&t, "dev/sdb1", makedev(FAKE_MAJOR, FAKE_MINOR + 50));
	tree_link(&t, "../../class/block/sdb1", "sys/dev/block/259:1048050");
	tree_write(&t, "proc/self/mountinfo",
		"36 35 259:1048050 / /srv/my\\040data rw - ext4 /dev/sdb1 rw\n");
	tree_refused(&t, "raid", R0 ", \"wipe\": true}", E_BUSY);
	said(&t, "'sdb1' is mounted on");
	tree_write(&t, "proc/self/mountinfo", "");
	tree_write(&t, "proc/swaps", "Filename Type Size\n/dev/sdb1 partition 1\n");
	tree_refused(&t, "raid", R0 ", \"wipe\": true}", E_BUSY);
	said(&t, "used as swap");
	tree_write(&t, "proc/swaps", "");
	tree_converge(&t, "raid", R0 ", \"wipe\": true}");
	assert_string_equal(tree_read(&t, "sigs/sdb"), "");
	tree_done(&t);
}

TEST(raid_refuses_wrong_arguments)
{
	struct tree t;

	prepare_raid(&t);
	tree_refused(&t, "raid",
		"{\"name\": \"r0\", \"level\": \"5\", \"devices\": [\"/dev/disk/by-id/fake-sda\", "
		"\"/dev/disk/by-id/fake-sdb\"]}",
		E_SCHEMA);
	said(&t, "level 5 needs 3 devices, 2 are given");
	tree_refused(&t, "raid",
		"{\"name\": \"r0\", \"devices\": [\"/dev/disk/by-id/fake-sda\", \"/dev/disk/by-id/fake-sda\"]}",
		E_CONFLICT);
	said(&t, "are one device");
	tree_refused(&t, "raid", "{\"name\": \"a/b\", \"devices\": []}", E_SCHEMA);
	tree_refused(&t, "raid", R0 ", \"chunk\": 100}", E_SCHEMA);
	tree_done(&t);
}

#define VG \
	"{\"vg\":[{\"vg_name\":\"data\",\"vg_size\":\"8000000000\",\"vg_free\":\"0\",\"vg_extent_size\":\"4194304\"}],\"pv\":[{\"pv_name\":\"/dev/sda\"}],\"lv\":[{\"lv_name\":\"models\",\"lv_size\":\"1073741824\"}]}"

static void prepare_lvm(struct tree *t)
{
	tree_init(t);
	disks_tools(t);
	disks_fake(t, "sda", 0, "S1\n");
	disks_fake(t, "sdb", 1, "S2\n");
	tree_write(t, "report", "{\"report\":[]}");
	tree_write(t, "made", "{\"report\":[" VG "]}");
	programs_script(t, "usr/sbin/lvm", "#!/bin/sh\ncat /report\n");
	programs_script(t, "usr/sbin/vgcreate", "#!/bin/sh\necho \"vgcreate $*\" >>/log\n");
	programs_script(t, "usr/sbin/vgextend", "#!/bin/sh\necho \"vgextend $*\" >>/log\n");
	programs_script(t, "usr/sbin/lvextend", "#!/bin/sh\necho \"lvextend $*\" >>/log\n");
	programs_script(t, "usr/sbin/lvcreate",
		"#!/bin/sh\necho \"lvcreate $*\" >>/log\ncat /made >/report\n");
}

TEST(lvm_makes_a_group_and_a_volume)
{
	struct tree t;

	prepare_lvm(&t);
	tree_converge(&t, "lvm",
		"{\"vg\": \"data\", \"devices\": [\"/dev/disk/by-id/fake-sda\"], \"lv\": \"models\", "
		"\"size\": \"1G\"}");
	assert_string_equal(tree_read(&t, "log"),
		"vgcreate --yes data /dev/sda\n"
		"lvcreate --yes --wipesignatures y --name models --size 1073741824b data\n");
	tree_done(&t);
}

TEST(lvm_grows_and_never_shrinks)
{
	struct tree t;

	prepare_lvm(&t);
	tree_write(&t, "report", "{\"report\":[" VG "]}");
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"lv\": \"models\", \"size\": \"512M\"}",
		E_CONFLICT);
	said(&t, "it is never made smaller");
	assert_int_equal(
		tree_check(&t, "lvm",
			"{\"vg\": \"data\", \"lv\": \"models\", \"extents\": \"100%FREE\"}"),
		STEP_SAME);
	assert_int_equal(
		tree_apply(&t, "lvm", "{\"vg\": \"data\", \"lv\": \"models\", \"size\": \"2G\"}"),
		0);
	assert_string_equal(tree_read(&t, "log"), "lvextend --size 2147483648b data/models\n");
	assert_int_equal(fs_remove(t.env.root, "log", false, NULL), 0);
	/* a further device that holds something is not taken */
	tree_write(&t, "sigs/sdb", EXT4);
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"devices\": [\"/dev/disk/by-id/fake-sdb\"]}",
		E_DENIED);
	assert_int_equal(tree_apply(&t, "lvm",
				 "{\"vg\": \"data\", \"devices\": [\"/dev/disk/by-id/fake-sda\", "
				 "\"/dev/disk/by-id/fake-sdb\"], \"wipe\": true}"),
		0);
	assert_string_equal(tree_read(&t, "log"), "vgextend --yes data /dev/sdb\n");
	tree_done(&t);
}

TEST(lvm_asks_nothing_when_the_mapper_shows_it)
{
	struct tree t;

	prepare_lvm(&t);
	programs_script(&t, "usr/sbin/lvm", "#!/bin/sh\nexit 5\n");
	tree_mkdir(&t, "dev/my-data");
	tree_write(&t, "sys/class/block/dm-0/dm/name", "my--data-models\n");
	tree_write(&t, "sys/class/block/dm-0/size", "2097152\n");
	disks_node(&t, "dev/dm-0", makedev(FAKE_MAJOR, FAKE_MINOR + 60));
	tree_link(&t, "../dm-0", "dev/my-data/models");
	tree_link(&t, "../../class/block/dm-0", "sys/dev/block/259:1048060");
	assert_int_equal(tree_check(&t, "lvm",
				 "{\"vg\": \"my-data\", \"lv\": \"models\", \"size\": \"1G\"}"),
		STEP_SAME);
	assert_int_equal(tree_check(&t, "lvm",
				 "{\"vg\": \"my-data\", \"lv\": \"models\", \"size\": \"2G\"}"),
		-E_REMOTE);
	tree_done(&t);
}

TEST(lvm_refuses_wrong_arguments)
{
	struct tree t;

	prepare_lvm(&t);
	tree_refused(&t, "lvm", "{\"vg\": \"data\"}", E_NOTFOUND);
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"lv\": \"x\"}", E_SCHEMA);
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"lv\": \"x\", \"size\": \"100\"}", E_SCHEMA);
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"lv\": \"x\", \"extents\": \"120%FREE\"}",
		E_SCHEMA);
	tree_refused(&t, "lvm", "{\"vg\": \"data\", \"size\": \"1G\"}", E_SCHEMA);
	tree_write(&t, "report", "not json");
	tree_refused(&t, "lvm", "{\"vg\": \"data\"}", E_SYNTAX);
	tree_done(&t);
}

#define NVME "{\"traddr\": \"10.0.0.1\", \"nqn\": \"nqn.2014-08.org:x\""

TEST(nvme_connects_and_is_taken_back)
{
	static const char *const IGNORE[] = {"sys", NULL};
	struct tree t;

	tree_init(&t);
	tree_ignore = IGNORE;
	programs_add(&t, "/bin/sh", "bin/sh");
	programs_add(&t, "/bin/mkdir", "bin/mkdir");
	programs_add(&t, "/bin/rm", "bin/rm");
	tree_mkdir(&t, "usr/sbin");
	tree_mkdir(&t, "sys/class/nvme");
	programs_script(&t, "usr/sbin/nvme",
		"#!/bin/sh\ncd /sys/class/nvme\n"
		"case $1 in\n"
		"connect) mkdir nvme3 && cd nvme3 && echo live >state && echo tcp >transport &&\n"
		"	echo \"traddr=$5,trsvcid=$7,src_addr=10.0.0.2\" >address && echo \"$9\" >subsysnqn ;;\n"
		"disconnect) rm -r \"$3\" ;;\n"
		"esac\n");
	tree_undoes(&t, "nvme_connect", NVME "}");
	tree_converge(&t, "nvme_connect", NVME "}");
	assert_string_equal(tree_read(&t, "etc/nvme/discovery.conf"),
		"--transport=tcp --traddr=10.0.0.1 --trsvcid=4420\n");
	tree_undoes(&t, "nvme_connect", NVME ", \"state\": \"absent\"}");
	tree_write(&t, "sys/class/nvme/nvme3/state", "connecting\n");
	assert_int_equal(tree_check(&t, "nvme_connect", NVME "}"), STEP_DIFFERS);
	assert_int_equal(tree_apply(&t, "nvme_connect", NVME "}"), -E_STATE);
	said(&t, "is connecting, expected it to be live");
	tree_refused(&t, "nvme_connect", "{\"traddr\": \"10.0.0.1\", \"nqn\": \"x\"}", E_SCHEMA);
	tree_refused(&t, "nvme_connect", "{\"traddr\": \"-x\", \"nqn\": \"nqn.x\"}", E_SCHEMA);
	tree_refused(&t, "nvme_connect", "{\"traddr\": \"a b\", \"nqn\": \"nqn.x\"}", E_SCHEMA);
	tree_ignore = NULL;
	tree_done(&t);
}

TEST(mdstat_is_read)
{
	struct str text =
		STR_LIT("Personalities : [raid1] [raid6]\n"
			"md127 : active (auto-read-only) raid6 sdd[3](S) sdc[2](F) sda[0]\n"
			"      64 blocks super 1.0 level 6, 512k chunk [3/3] [UUU]\n"
			"      [==>..]  resync = 12.6%\n"
			"md0 : inactive sdx[0](S)\n"
			"      64 blocks\n"
			"mdbroken\nmd5 : what\nunused devices: <none>\n");
	struct mdstat m;

	assert_true(mdstat_next(&text, &m));
	assert_string_equal(m.name, "md127");
	assert_string_equal(m.level, "raid6");
	assert_string_equal(m.metadata, "1.0");
	assert_int_equal(m.n_members, 3);
	assert_string_equal(m.members[1], "sdc");
	assert_true(mdstat_next(&text, &m));
	assert_false(m.active);
	assert_string_equal(m.metadata, "0.90");
	assert_false(mdstat_next(&text, &m));
}

TEST(signatures_are_read)
{
	struct signature s;
	unsigned n;
	struct err err = {0};
	AUTO_BUF out;

	buf_init(&out, 4096);
	assert_int_equal(signatures_read(STR_LIT(EXT4), "  ", &out, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(buf_text(&out), "  ext4 label 'data' uuid u1\n");
	assert_int_equal(signatures_read(STR_LIT(" \n"), "", &out, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(signatures_read(STR_LIT("{}"), "", &out, &n, &err), -E_SCHEMA);
	assert_int_equal(
		signatures_read(STR_LIT("{\"signatures\": [{}]}"), "", &out, &n, &err), -E_SCHEMA);
	assert_int_equal(signatures_read(STR_LIT("x"), "", &out, &n, &err), -E_SYNTAX);
	assert_true(signatures_find(STR_LIT(MEMBER), "linux_raid_member", &s));
	assert_string_equal(s.label, "any:r0");
	assert_false(signatures_find(STR_LIT(EXT4), "linux_raid_member", &s));
	assert_false(signature_of(STR_LIT("short"), &s));
}

TEST(sizes_of_volumes)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t bytes;
	} cases[] = {
		{"1k", true, 1024},
		{"512M", true, 512u << 20},
		{"1.5G", true, 3u << 29},
		{"2T", true, UINT64_C(2) << 40},
		{"100", false, 0},
		{"G", false, 0},
		{"-1G", false, 0},
		{"0G", false, 0},
		{"1e30P", false, 0},
		{"", false, 0},
		{"nanG", false, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t v = 0;

		assert_int_equal(lvm_size_read(cases[i].text, &v), cases[i].good);
		assert_int_equal(v, cases[i].bytes);
	}
}

T_MAIN
