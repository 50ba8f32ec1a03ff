/* kernel_module and kernel_arg; their tools are scripts of the throw-away root. */
#include "agent/step/grub_args.h"
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

#include <sys/mount.h>

static const char MODPROBE[] =
	"#!/bin/sh\n"
	"echo \"modprobe $*\" >>/log\n"
	"[ ! -e /fails ] || { echo 'FATAL: Module not found' >&2; exit 1; }\n"
	"if [ $1 = -r ]; then\n"
	"  while read -r l; do case $l in \"$3 \"*) ;; *) echo \"$l\";; esac; done "
	"</proc/modules >/new\n"
	"  while read -r l; do echo \"$l\"; done </new >/proc/modules\n"
	"else echo \"$2 16384 0 - Live 0x0\" >>/proc/modules; fi\n";

static const char *const IGNORED[] = {"log", "new", NULL};

static void init(struct tree *t)
{
	tree_init(t);
	tree_ignore = IGNORED;
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_script(t, "usr/sbin/modprobe", MODPROBE);
	programs_script(
		t, "usr/sbin/update-initramfs", "#!/bin/sh\necho \"initramfs $*\" >>/log\n");
	tree_write(t, "proc/modules",
		"nvidia 56 5 nvidia_uvm,nvidia_modeset, Live 0x0\nnouveau 1 0 - Live 0x0\n"
		"dm_mod 1 3 - Live 0x0\n");
	tree_write(t, "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	tree_write(t, "lib/modules/6.1.0-18-amd64/modules.builtin",
		"kernel/fs/ext4/ext4.ko\nkernel/drivers/net/virtio-net.ko\n");
	tree_mkdir(t, "boot");
	tree_write(t, "log", "");
	tree_write(t, "new", "");
}

TEST(module_is_loaded_now_and_at_boot)
{
	struct tree t;

	init(&t);
	tree_converge(
		&t, "kernel_module", "{\"name\": \"nvme-tcp\", \"options\": \"wq_unbound=Y x=1\"}");
	assert_string_equal(tree_read(&t, "etc/modprobe.d/stoika-nvme_tcp.conf"),
		"options nvme_tcp wq_unbound=Y x=1\n");
	assert_string_equal(tree_read(&t, "etc/modules-load.d/stoika-nvme_tcp.conf"), "nvme_tcp\n");
	/* built in: there is nothing to load */
	assert_int_equal(
		tree_check(&t, "kernel_module", "{\"name\": \"virtio_net\", \"boot\": false}"),
		STEP_SAME);
	tree_converge(&t, "kernel_module", "{\"name\": \"nvme_tcp\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "etc/modprobe.d/stoika-nvme_tcp.conf"));
	tree_done(&t);
}

TEST(module_options_that_are_not_live_are_told)
{
	static const char ARGS[] =
		"{\"name\": \"nouveau\", \"boot\": false, \"options\": \"modeset=0 flag=1\"}";
	struct tree t;

	init(&t);
	tree_write(&t, "sys/module/nouveau/parameters/modeset", "-1\n");
	tree_write(&t, "sys/module/nouveau/parameters/flag", "Y\n");
	assert_int_equal(tree_check(&t, "kernel_module", ARGS), STEP_DIFFERS);
	assert_int_equal(tree_apply(&t, "kernel_module", ARGS), 0);
	assert_int_equal(tree_check(&t, "kernel_module", ARGS), STEP_SAME);
	assert_true(t.rep.tell);
	assert_non_null(strstr(t.rep.why, "modeset=0"));
	tree_write(&t, "sys/module/nouveau/parameters/modeset", "0\n");
	assert_int_equal(tree_check(&t, "kernel_module", ARGS), STEP_SAME);
	assert_false(t.rep.tell);
	tree_done(&t);
}

TEST(module_in_use_is_never_unloaded)
{
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_apply(&t, "kernel_module", "{\"name\": \"nvidia\", \"state\": \"absent\"}"),
		-E_BUSY);
	assert_non_null(strstr(t.err.msg, "nvidia_uvm, nvidia_modeset"));
	assert_int_equal(
		tree_apply(&t, "kernel_module", "{\"name\": \"dm-mod\", \"state\": \"absent\"}"),
		-E_BUSY);
	assert_non_null(strstr(t.err.msg, "3 open devices"));
	assert_string_equal(tree_read(&t, "log"), "");
	/* a blacklist waits for the reboot, and says so */
	assert_int_equal(tree_apply(&t, "kernel_module",
				 "{\"name\": \"nvidia\", \"state\": \"blacklisted\"}"),
		0);
	assert_string_equal(tree_read(&t, "log"), "");
	assert_int_equal(tree_check(&t, "kernel_module",
				 "{\"name\": \"nvidia\", \"state\": \"blacklisted\"}"),
		STEP_SAME);
	assert_true(t.rep.tell);
	assert_non_null(strstr(t.rep.why, "reboot"));
	tree_done(&t);
}

TEST(module_blacklist_with_initramfs)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "kernel_module",
		"{\"name\": \"nouveau\", \"state\": \"blacklisted\", \"initramfs\": true}");
	assert_string_equal(tree_read(&t, "etc/modprobe.d/stoika-nouveau.conf"),
		"blacklist nouveau\ninstall nouveau /bin/false\n");
	assert_string_equal(tree_read(&t, "log"), "modprobe -r -- nouveau\ninitramfs -u\n");
	tree_done(&t);
}

/* Killed after the file was written and before the initramfs was made. */
TEST(module_with_an_initramfs_that_is_older)
{
	static const char ARGS[] =
		"{\"name\": \"nouveau\", \"state\": \"blacklisted\", \"initramfs\": true}";
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	char path[512];
	struct tree t;

	init(&t);
	programs_script(&t, "usr/sbin/update-initramfs",
		"#!/bin/sh\necho \"initramfs $*\" >>/log\necho new >/boot/initrd.img-6.1.0\n");
	tree_write(&t, "boot/initrd.img-6.1.0", "old");
	tree_converge(&t, "kernel_module", ARGS);
	tree_path(&t, "boot/initrd.img-6.1.0", path);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_int_equal(tree_check(&t, "kernel_module", ARGS), STEP_DIFFERS);
	assert_non_null(strstr(t.rep.why, "initramfs is older"));
	tree_converge(&t, "kernel_module", ARGS);
	assert_string_equal(tree_read(&t, "boot/initrd.img-6.1.0"), "new\n");
	tree_done(&t);
}

TEST(module_with_a_full_boot)
{
	char path[512];
	struct tree t;
	int rc;

	init(&t);
	tree_path(&t, "boot", path);
	if (mount("none", path, "tmpfs", 0, "size=1m") < 0)
		skip();
	rc = tree_apply(&t, "kernel_module",
		"{\"name\": \"nouveau\", \"state\": \"blacklisted\", \"initramfs\": true}");
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_non_null(strstr(t.err.msg, "/boot"));
	assert_non_null(strstr(t.err.hint, "autoremove"));
	assert_null(strstr(tree_read(&t, "log"), "initramfs"));
	tree_done(&t);
}

TEST(module_that_does_not_exist)
{
	struct tree t;

	init(&t);
	tree_write(&t, "fails", "");
	assert_true(tree_apply(&t, "kernel_module", "{\"name\": \"nope\"}") < 0);
	assert_non_null(strstr(t.err.msg, "not found"));
	assert_non_null(strstr(t.err.hint, "package"));
	assert_false(tree_has(&t, "etc/modules-load.d/stoika-nope.conf"));
	tree_done(&t);
}

TEST(module_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "kernel_module", "{\"name\": \"nvme_tcp\", \"options\": \"a=1\"}");
	tree_undoes(&t, "kernel_module", "{\"name\": \"dm_mod\", \"boot\": true}");
	tree_write(&t, "etc/modprobe.d/stoika-nvidia.conf", "options nvidia old=1\n");
	tree_undoes(&t, "kernel_module",
		"{\"name\": \"nvidia\", \"options\": \"new=1\", \"boot\": false}");
	tree_undoes(&t, "kernel_module", "{\"name\": \"nvidia\", \"state\": \"blacklisted\"}");
	tree_done(&t);
}

TEST(module_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{\"name\": \"\"}", "{\"name\": \"a b\"}",
		"{\"name\": \"a.ko\"}", "{\"name\": \"../a\"}",
		"{\"name\": \"a\", \"options\": \"a=1\\nb=2\"}",
		"{\"name\": \"a\", \"options\": \"\"}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		tree_refused(&t, "kernel_module", BAD[i], E_SCHEMA);
		assert_true(t.err.hint[0]);
	}
	tree_refused(&t, "kernel_module",
		"{\"name\": \"a\", \"state\": \"absent\", \"options\": \"a=1\"}", E_CONFLICT);
	tree_refused(
		&t, "kernel_module", "{\"name\": \"ext4\", \"state\": \"absent\"}", E_UNSUPPORTED);
	assert_non_null(strstr(t.err.msg, "built into"));
	tree_done(&t);
}

/* A text, what is done to it, and what comes out. */
static const struct {
	const char *text, *key, *value, *set, *add;
} GRUB[] = {
	{"V=\"quiet\"\n", "iommu", "pt", "V=\"quiet\"\n", "V=\"quiet iommu=pt\"\n"},
	{"V=\"iommu=off quiet\"\n", "iommu", "pt", "V=\"iommu=pt quiet\"\n", NULL},
	{"V=\"quiet iommu=off\" # x\nW=\"iommu=off\"\n", "iommu", NULL,
		"V=\"quiet\" # x\nW=\"iommu=off\"\n", NULL},
	{"V='a  b'", "c", "", "V='a  b'", "V='a  b c'"},
	{"V=\"\"\n", "c", "1", "V=\"\"\n", "V=\"c=1\"\n"},
	{"# V=\"c=0\"\n", "c", "1", "# V=\"c=0\"\n", "# V=\"c=0\"\nV=\"$V c=1\"\n"},
	{"V=\"c c=2 d\"\nV=\"$V c=3\"\n", "c", "1", "V=\"c=1 d\"\nV=\"$V c=1\"\n", NULL},
	{"V+=\" c=2\"\n", "c", NULL, "V+=\"\"\n", NULL},
	{"VX=\"c=2\"\n", "c", NULL, "VX=\"c=2\"\n", NULL},
	{"V=\"a\\\"c=2\\\" b\"\n", "c", NULL, "V=\"a\\\"c=2\\\" b\"\n", NULL},
	{"V=\"unclosed c=1\n", "c", NULL, "V=\"unclosed c=1\n", NULL},
	{"", "c", "", "", "V=\"$V c\"\n"},
};

TEST(grub_args_of_a_shell_file)
{
	for (size_t i = 0; i < sizeof GRUB / sizeof *GRUB; i++) {
		struct buf out;

		buf_init(&out, 4096);
		grub_args_set(str_of(GRUB[i].text), "V", GRUB[i].key, GRUB[i].value, &out);
		if (strcmp(buf_text(&out), GRUB[i].set) != 0)
			fail_msg("row %zu set: %s", i, buf_text(&out));
		buf_clear(&out);
		if (GRUB[i].add)
			grub_args_add(str_of(GRUB[i].text), "V", GRUB[i].key, GRUB[i].value, &out);
		if (GRUB[i].add && strcmp(buf_text(&out), GRUB[i].add) != 0)
			fail_msg("row %zu add: %s", i, buf_text(&out));
		buf_done(&out);
	}
}

static const char UPDATE_GRUB[] =
	"#!/bin/sh\n"
	"echo update-grub >>/log\n"
	"[ ! -e /fails ] || { echo 'cannot find a device for /' >&2; exit 1; }\n"
	". /etc/default/grub\n"
	"for f in /etc/default/grub.d/*.cfg; do [ ! -e $f ] || . $f; done\n"
	"printf '\\tlinux\\t/boot/vmlinuz root=/ %s %s\\n' \"$GRUB_CMDLINE_LINUX\" "
	"\"$GRUB_CMDLINE_LINUX_DEFAULT\" >/boot/grub/grub.cfg\n";

static const char DEFAULTS[] =
	"GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=off\"\nGRUB_CMDLINE_LINUX=\"\"\n";

static void init_grub(struct tree *t)
{
	init(t);
	programs_script(t, "usr/sbin/update-grub", UPDATE_GRUB);
	tree_write(t, "etc/default/grub", DEFAULTS);
	tree_mkdir(t, "etc/default/grub.d");
	tree_write(t, "boot/grub/grub.cfg", "\tlinux\t/boot/vmlinuz root=/  quiet iommu=off\n");
	tree_write(t, "proc/cmdline", "root=/ quiet iommu=off\n");
}

TEST(arg_is_changed_where_it_stands_and_added_beside)
{
	static const char ARGS[] =
		"{\"args\": {\"iommu\": \"pt\", \"hugepagesz\": \"1G\", \"nosmt\": \"\"}}";
	struct tree t;

	init_grub(&t);
	tree_converge(&t, "kernel_arg", ARGS);
	assert_string_equal(tree_read(&t, "etc/default/grub"),
		"GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=pt\"\n"
		"GRUB_CMDLINE_LINUX=\"\"\n");
	assert_string_equal(tree_read(&t, "etc/default/grub.d/90-stoika.cfg"),
		"GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT hugepagesz=1G "
		"nosmt\"\n");
	assert_string_equal(tree_read(&t, "boot/grub/grub.cfg"),
		"\tlinux\t/boot/vmlinuz root=/  quiet iommu=pt hugepagesz=1G nosmt\n");
	assert_true(t.rep.tell); /* the running kernel has not */
	assert_non_null(strstr(t.rep.why, "reboot"));
	tree_write(&t, "proc/cmdline", "root=/ quiet iommu=pt hugepagesz=1G nosmt\n");
	assert_int_equal(tree_check(&t, "kernel_arg", ARGS), STEP_SAME);
	assert_false(t.rep.tell);
	/* entries that somebody made of other defaults */
	tree_write(&t, "boot/grub/grub.cfg", "\tlinux\t/boot/vmlinuz quiet\n");
	tree_converge(&t, "kernel_arg", ARGS);
	tree_converge(&t, "kernel_arg",
		"{\"args\": {\"iommu\": \"\", \"nosmt\": \"\"}, \"state\": \"absent\"}");
	assert_string_equal(tree_read(&t, "etc/default/grub.d/90-stoika.cfg"),
		"GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT hugepagesz=1G\"\n");
	tree_done(&t);
}

TEST(arg_without_dropins_and_with_initramfs)
{
	struct tree t;

	init_grub(&t);
	assert_int_equal(fs_remove(t.env.root, "etc/default/grub.d", true, NULL), 0);
	tree_converge(&t, "kernel_arg",
		"{\"args\": {\"nosmt\": \"\"}, \"variable\": \"GRUB_CMDLINE_LINUX\", "
		"\"initramfs\": true}");
	assert_non_null(
		strstr(tree_read(&t, "etc/default/grub"), "GRUB_CMDLINE_LINUX=\"nosmt\"\n"));
	assert_string_equal(tree_read(&t, "log"), "update-grub\ninitramfs -u\n");
	tree_done(&t);
}

TEST(arg_by_grubby)
{
	static const char ENTRY[] = "boot/loader/entries/a.conf";
	struct tree t;

	init_grub(&t);
	programs_script(&t, "usr/sbin/grubby",
		"#!/bin/sh\necho \"grubby $*\" >>/log\n"
		"echo \"options root=/ ${2#--args=}\" >/boot/loader/entries/a.conf\n");
	tree_write(&t, ENTRY, "title x\noptions root=/ quiet\n");
	tree_undoes(&t, "kernel_arg", "{\"args\": {\"a\": \"1\", \"b\": \"\"}}");
	assert_non_null(strstr(tree_read(&t, "log"), "grubby --update-kernel=ALL --args=a=1 b\n"));
	assert_string_equal(tree_read(&t, ENTRY), "title x\noptions root=/ quiet\n");
	tree_done(&t);
}

/* Killed before the entries were made: grub.cfg tells nothing but its time. */
TEST(arg_with_entries_that_are_older)
{
	static const char ARGS[] = "{\"args\": {\"x\": \"\"}}";
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	char path[512];
	struct tree t;

	init_grub(&t);
	tree_converge(&t, "kernel_arg", ARGS);
	tree_write(&t, "boot/grub/grub.cfg", "# empty\n");
	tree_path(&t, "boot/grub/grub.cfg", path);
	assert_int_equal(tree_check(&t, "kernel_arg", ARGS), STEP_SAME);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	tree_converge(&t, "kernel_arg", ARGS);
	assert_non_null(strstr(tree_read(&t, "boot/grub/grub.cfg"), "quiet"));
	tree_done(&t);
}

TEST(arg_is_undone)
{
	struct tree t;

	init_grub(&t);
	tree_undoes(&t, "kernel_arg", "{\"args\": {\"iommu\": \"pt\", \"nosmt\": \"\"}}");
	tree_undoes(&t, "kernel_arg", "{\"args\": {\"iommu\": \"\"}, \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(arg_that_fails_leaves_the_defaults)
{
	struct tree t;

	init_grub(&t);
	tree_write(&t, "fails", "");
	assert_true(
		tree_apply(&t, "kernel_arg", "{\"args\": {\"iommu\": \"pt\", \"x\": \"\"}}") < 0);
	assert_non_null(strstr(t.err.msg, "cannot find a device"));
	assert_non_null(strstr(t.err.msg, "as before"));
	assert_string_equal(tree_read(&t, "etc/default/grub"), DEFAULTS);
	assert_false(tree_has(&t, "etc/default/grub.d/90-stoika.cfg"));
	tree_done(&t);
}

TEST(arg_with_a_full_boot)
{
	char path[512];
	struct tree t;
	int rc;

	init_grub(&t);
	tree_path(&t, "boot", path);
	if (mount("none", path, "tmpfs", 0, "size=1m") < 0)
		skip();
	rc = tree_apply(&t, "kernel_arg", "{\"args\": {\"x\": \"\"}}");
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_string_equal(tree_read(&t, "etc/default/grub"), DEFAULTS);
	tree_done(&t);
}

TEST(arg_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{}", "{\"args\": {}}", "{\"args\": {\"a b\": \"\"}}",
		"{\"args\": {\"a\": \"b c\"}}", "{\"args\": {\"a\": \"\\\"\"}}",
		"{\"args\": {\"a\": \"$(x)\"}}", "{\"args\": {\"\": \"x\"}}"};
	struct tree t;

	init_grub(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		tree_refused(&t, "kernel_arg", BAD[i], E_SCHEMA);
		assert_true(t.err.hint[0]);
	}
	assert_int_equal(fs_remove(t.env.root, "etc/default/grub", false, NULL), 0);
	tree_refused(&t, "kernel_arg", "{\"args\": {\"a\": \"\"}}", E_UNSUPPORTED);
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "kernel_arg", "{\"args\": {\"a\": \"\"}}"), STEP_UNKNOWN);
	tree_done(&t);
}

T_MAIN
