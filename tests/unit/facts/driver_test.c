/* driver - facts of the driver's versions, of who holds a GPU, of kernels and their modules, from
 * trees made here. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/facts/facts.h"
#include "agent/facts/module_version.h"
#include "agent/facts/xid.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* This program is an ELF file with the section that modules have. */
static const char MODINFO[] __attribute__((section(".modinfo"), used)) =
	"license=NVIDIA\0srcversion=9.9\0version=570.124.06\0name=nvidia";

struct root {
	char path[256];
	int fd;
};

static void root_init(struct root *r)
{
	static int number;

	snprintf(r->path, sizeof r->path, "%s/root%d", t_dir(), number++);
	assert_int_equal(mkdir(r->path, 0755), 0);
	r->fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(r->fd >= 0);
}

static void make_folder(const struct root *r, const char *name)
{
	struct err err;

	if (fs_mkdirs(r->fd, name, 0755, &err) < 0)
		fail_msg("%s", err.msg);
}

static void put(const struct root *r, const char *name, const char *text)
{
	char parent[256];
	struct err err;

	snprintf(parent, sizeof parent, "%s", name);
	*strrchr(parent, '/') = '\0';
	make_folder(r, parent);
	if (fs_replace(r->fd, name, str_of(text), 0644, geteuid(), getegid(), &err) < 0)
		fail_msg("%s", err.msg);
}

static void put_link(const struct root *r, const char *name, const char *to)
{
	char parent[256];

	snprintf(parent, sizeof parent, "%s", name);
	*strrchr(parent, '/') = '\0';
	make_folder(r, parent);
	assert_int_equal(symlinkat(to, r->fd, name), 0);
}

static void expect(const struct root *r, const char *group, const char *key, const char *want)
{
	const struct facts_env env = {.root = r->fd};
	struct err err;
	json_t *got;
	char *text;

	if (facts_group(&env, group, &got, &err) < 0)
		fail_msg("%s", err.msg);
	text = json_dumps(json_get(got, key) ? json_get(got, key) : json_null(),
		JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	if (!text || strcmp(text, want) != 0)
		fail_msg("%s.%s is\n%s\nexpected\n%s", group, key, text ? text : "absent", want);
	free(text);
	json_decref(got);
}

TEST(driver_of_a_node_without_one)
{
	struct root r;

	root_init(&r);
	expect(&r, "gpu", "driver", "{}");
	expect(&r, "gpu", "holders", "[]");
	expect(&r, "gpu", "count", "0");
	expect(&r, "kernel", "dkms", "[]");
	expect(&r, "kernel", "headers", "{}");
	close(r.fd);
}

TEST(driver_versions_that_differ_are_all_told)
{
	struct root r;

	root_init(&r);
	put(&r, "sys/module/nvidia/version", "535.247.01\n");
	put(&r, "proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
	put(&r, "lib/modules/6.1.0-28-amd64/updates/dkms/nvidia.ko",
		"srcversion=1\nversion=550.1\nlicense=x\n");
	put_link(&r, "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "libnvidia-ml.so.550.163.01");
	expect(&r, "gpu", "driver",
		"{\"loaded\":\"535.247.01\",\"on_disk\":\"550.1\",\"user\":\"550.163.01\"}");
	/* modules.dep has the last word */
	put(&r, "lib/modules/6.1.0-28-amd64/kernel/nvidia-570/nvidia.ko", "version=570.7\n");
	put(&r, "lib/modules/6.1.0-28-amd64/modules.dep",
		"kernel/x/nvidia.ko.d/y.ko:\nkernel/nvidia-570/nvidia-uvm.ko: a\n"
		"kernel/nvidia-570/nvidia.ko: kernel/b.ko\n");
	expect(&r, "gpu", "driver",
		"{\"loaded\":\"535.247.01\",\"on_disk\":\"570.7\",\"user\":\"550.163.01\"}");
	close(r.fd);
}

TEST(driver_loaded_is_read_of_proc_where_sys_has_none)
{
	struct root r;

	root_init(&r);
	put(&r, "proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  610.57.04  Release Build\n");
	put_link(&r, "usr/lib64/libnvidia-ml.so.1", "../lib/nothing.so");
	expect(&r, "gpu", "driver", "{\"loaded\":\"610.57.04\"}");
	close(r.fd);
}

TEST(module_version_of_an_elf_file)
{
	char version[MODULE_VERSION_MAX];
	struct root r;
	struct err err;
	const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	root_init(&r);
	assert_true(sizeof MODINFO > 1);
	make_folder(&r, "lib/modules/6.1/extra");
	assert_int_equal(fs_replace_from(r.fd, "lib/modules/6.1/extra/nvidia.ko", self, 0644,
				 geteuid(), getegid(), &err),
		0);
	close(self);
	assert_int_equal(module_version(r.fd, "6.1", "nvidia", version), MODULE_READ);
	assert_string_equal(version, "570.124.06");
	assert_int_equal(module_version(r.fd, "6.2", "nvidia", version), MODULE_NONE);
	put(&r, "lib/modules/6.3/updates/nvidia.ko.zst", "\x28\xb5\x2f\xfd");
	assert_int_equal(module_version(r.fd, "6.3", "nvidia", version), MODULE_PACKED);
	assert_string_equal(version, "");
	close(r.fd);
}

/* What another process may have open, as /proc shows it. */
TEST(driver_holders_are_named_with_their_unit)
{
	struct root r;

	root_init(&r);
	put(&r, "proc/311/comm", "nvidia-persiste\n");
	put(&r, "proc/311/cgroup", "0::/system.slice/nvidia-persistenced.service\n");
	put_link(&r, "proc/311/fd/0", "/dev/null");
	put_link(&r, "proc/311/fd/3", "/dev/nvidiactl");
	put(&r, "proc/4000/comm", "python3\n");
	put(&r, "proc/4000/cgroup",
		"0::/system.slice/slurmstepd.scope/job_17/step_0/user/task_0\n");
	put_link(&r, "proc/4000/fd/9", "/dev/nvidia-uvm");
	put(&r, "proc/4001/comm", "bash\n");
	put_link(&r, "proc/4001/fd/9", "/home/nvidia0");
	expect(&r, "gpu", "holders",
		"[{\"device\":\"/dev/nvidiactl\",\"pid\":311,\"program\":\"nvidia-persiste\","
		"\"unit\":\"nvidia-persistenced.service\"},"
		"{\"device\":\"/dev/nvidia-uvm\",\"pid\":4000,\"program\":\"python3\","
		"\"unit\":\"slurmstepd.scope\"}]");
	close(r.fd);
}

TEST(driver_and_what_nvml_says_of_it)
{
	json_t *gpus = json_pack("[{s:s,s:s},{s:s,s:s},{s:i,s:s}]", "uuid", "GPU-a", "driver",
		"550.1", "uuid", "GPU-b", "driver", "550.1", "index", 2, "error",
		"cannot be opened");
	struct facts_env env = {.gpus = gpus};
	struct root r;
	json_t *gpu;

	root_init(&r);
	env.root = r.fd;
	assert_int_equal(facts_group(&env, "gpu", &gpu, NULL), 0);
	assert_int_equal(json_get_int(gpu, "count", 0), 3);
	assert_int_equal(json_array_size(json_get(gpu, "uuids")), 2);
	assert_string_equal(json_get_str(json_get(gpu, "driver"), "nvml", ""), "550.1");
	json_decref(gpu);
	json_decref(gpus);
	env.gpus = json_pack("{s:s}", "error", "NVML error 18: Driver/library version mismatch");
	assert_int_equal(facts_group(&env, "gpu", &gpu, NULL), 0);
	assert_non_null(strstr(
		json_get_str(json_get(gpu, "driver"), "nvml_error", ""), "version mismatch"));
	assert_null(json_get(gpu, "count"));
	json_decref(gpu);
	json_decref(env.gpus);
	close(r.fd);
}

TEST(kernel_headers_of_both_kernels)
{
	struct root r;

	root_init(&r);
	put(&r, "proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
	put(&r, "boot/vmlinuz-6.1.0-28-amd64", "");
	put(&r, "boot/vmlinuz-6.1.0-31-amd64", "");
	put(&r, "usr/src/linux-headers-6.1.0-28-amd64/Makefile", "");
	put_link(&r, "lib/modules/6.1.0-28-amd64/build", "/usr/src/linux-headers-6.1.0-28-amd64");
	expect(&r, "kernel", "boot", "\"6.1.0-31-amd64\"");
	expect(&r, "kernel", "headers", "{\"boot\":false,\"running\":true}");
	close(r.fd);
}

TEST(kernel_modules_of_dkms_without_dkms)
{
	struct root r;

	root_init(&r);
	make_folder(&r, "var/lib/dkms/nvidia/535.1/6.1.0-28-amd64/x86_64/module");
	make_folder(&r, "var/lib/dkms/nvidia/535.1/6.1.0-31-amd64/x86_64/module");
	put_link(&r, "var/lib/dkms/nvidia/kernel-6.1.0-28-amd64-x86_64",
		"535.1/6.1.0-28-amd64/x86_64");
	put(&r, "var/lib/dkms/nvidia/550.1/build/make.log", "no\n");
	put_link(&r, "var/lib/dkms/zfs/2.2/source", "/usr/src/zfs-2.2");
	expect(&r, "kernel", "dkms",
		"[{\"kernel\":\"6.1.0-28-amd64\",\"module\":\"nvidia\",\"state\":\"installed\","
		"\"version\":\"535.1\"},"
		"{\"kernel\":\"6.1.0-31-amd64\",\"module\":\"nvidia\",\"state\":\"built\","
		"\"version\":\"535.1\"},"
		"{\"module\":\"nvidia\",\"state\":\"failed\",\"version\":\"550.1\"},"
		"{\"module\":\"zfs\",\"state\":\"added\",\"version\":\"2.2\"}]");
	close(r.fd);
}

static const struct {
	const char *line, *text, *slot;
	int64_t code; /* -2: no Xid at all */
	bool of_switch;
} LINES[] = {
	{"3,1000,5,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=17, name=a;b, GPU has fallen off the bus.",
		"NVRM: Xid (PCI:0000:3b:00): 79, pid=17, name=a;b, GPU has fallen off the bus.",
		"0000:3b:00", 79, false},
	{"NVRM: Xid (PCI:0000:0a:00): 154, GPU recovery action changed",
		"NVRM: Xid (PCI:0000:0a:00): 154, GPU recovery action changed", "0000:0a:00", 154,
		false},
	{"4,1,2,-;nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
		"nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 x",
		"0000:c1:00.0", 12028, true},
	{"NVRM: RmInitAdapter failed! (0x24:0xffff:1220)",
		"NVRM: RmInitAdapter failed! (0x24:0xffff:1220)", "", -1, false},
	{"NVRM: Xid", "NVRM: Xid", "", -1, false},
	{"NVRM: Xid (PCI:0000:3b", "NVRM: Xid (PCI:0000:3b", "", -1, false},
	{"4,1,2,-;usb 1-1: new device", NULL, NULL, -2, false},
	{"", NULL, NULL, -2, false},
};

TEST(xid_lines)
{
	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
		struct xid x;

		if (!xid_parse(str_of(LINES[i].line), &x)) {
			if (LINES[i].code != -2)
				fail_msg("not seen: %s", LINES[i].line);
			continue;
		}
		if (LINES[i].code == -2)
			fail_msg("seen: %s", LINES[i].line);
		assert_true(str_is(x.text, LINES[i].text));
		assert_true(str_is(x.slot, LINES[i].slot));
		assert_int_equal(x.code, LINES[i].code);
		assert_int_equal(x.of_switch, LINES[i].of_switch);
	}
}

TEST(xids_of_this_boot_are_counted_and_the_last_told)
{
	char log[4096] = "";
	struct root r;

	root_init(&r);
	expect(&r, "kernel", "boot", "null");
	for (int i = 0; i < 25; i++)
		snprintf(log + strlen(log), sizeof log - strlen(log),
			"3,%d,5,-;NVRM: Xid (PCI:0000:3b:00): %d, x\n4,%d,6,-;quiet\n", i, i, i);
	put(&r, "dev/kmsg", log);
	expect(&r, "kernel", "xids", "25");
	{
		const struct facts_env env = {.root = r.fd};
		json_t *got;

		assert_int_equal(facts_group(&env, "kernel", &got, NULL), 0);
		assert_int_equal(json_array_size(json_get(got, "xid")), 20);
		assert_int_equal(
			json_get_int(json_array_get(json_get(got, "xid"), 0), "code", 0), 5);
		json_decref(got);
	}
	close(r.fd);
}

TEST(time_of_another_root_has_no_clock)
{
	const struct facts_env here = {.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	struct root r;
	json_t *got;

	root_init(&r);
	put(&r, "run/chrony/chronyd.pid", "12\n");
	expect(&r, "time", "source", "\"chrony\"");
	expect(&r, "time", "synchronized", "null");
	close(r.fd);
	assert_int_equal(facts_group(&here, "time", &got, NULL), 0);
	assert_true(json_is_boolean(json_get(got, "synchronized")));
	assert_true(json_is_number(json_get(got, "offset_ms")) ==
		    json_is_true(json_get(got, "synchronized")));
	json_decref(got);
	close(here.root);
}

T_MAIN
