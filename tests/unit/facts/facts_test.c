/* facts - groups read from the sample trees beside this file, and once from this machine. */
#include "agent/base/err.h"
#include "agent/facts/facts.h"
#include "tests/unit/t.h"

#include <fcntl.h>

static json_t *gather(const char *tree, const char *group)
{
	char path[512];
	struct err err;
	json_t *out;

	snprintf(path, sizeof path, "%s/trees/%s", TEST_DIR, tree);

	const struct facts_env env = {.root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

	assert_true(env.root >= 0);
	if (facts_group(&env, group, &out, &err) < 0)
		fail_msg("%s of %s: %s", group, tree, err.msg);
	close(env.root);
	return out;
}

/* Compares as sorted JSON text. */
static void expect(const char *tree, const char *group, const char *want)
{
	json_t *got = gather(tree, group);
	char *text = json_dumps(got, JSON_SORT_KEYS | JSON_COMPACT);

	if (strcmp(text, want) != 0)
		fail_msg("%s of %s is\n%s\nexpected\n%s", group, tree, text, want);
	free(text);
	json_decref(got);
}

static const struct {
	const char *tree, *id, *version, *codename, *family, *name, *kernel;
	bool systemd;
} SYSTEMS[] = {
	{"debian12", "debian", "12", "bookworm", "debian", "Debian GNU/Linux 12 (bookworm)",
		"6.1.0-28-amd64", true},
	{"ubuntu2404", "ubuntu", "24.04", "noble", "debian", "Ubuntu 24.04.2 LTS",
		"6.8.0-60-generic", false},
	{"rocky9", "rocky", "9.5", NULL, "rhel", "Rocky Linux 9.5 (Blue Onyx)", NULL, false},
	{"astra", "astra", "1.7_x86-64", "1.7_x86-64", "debian", "Astra Linux", NULL, false},
	{"redos", "redos", "8.0", NULL, "rhel", "RED OS 8.0 MUROM", NULL, false},
	{"odd", "o\"dd", NULL, NULL, "unknown", NULL, NULL, false},
	{"empty", NULL, NULL, NULL, "unknown", NULL, NULL, false},
};

static void expect_text(const json_t *os, const char *key, const char *want)
{
	const char *got = json_get_str(os, key, NULL);

	if (want ? !got || strcmp(got, want) != 0 : got != NULL)
		fail_msg(
			"%s is %s, expected %s", key, got ? got : "absent", want ? want : "absent");
}

TEST(facts_os_of_each_distribution)
{
	for (size_t i = 0; i < sizeof SYSTEMS / sizeof SYSTEMS[0]; i++) {
		json_t *os = gather(SYSTEMS[i].tree, "os");

		expect_text(os, "id", SYSTEMS[i].id);
		expect_text(os, "version_id", SYSTEMS[i].version);
		expect_text(os, "codename", SYSTEMS[i].codename);
		expect_text(os, "family", SYSTEMS[i].family);
		expect_text(os, "name", SYSTEMS[i].name);
		expect_text(os, "kernel", SYSTEMS[i].kernel);
		assert_int_equal(
			json_get_bool(os, "systemd", !SYSTEMS[i].systemd), SYSTEMS[i].systemd);
		assert_non_null(json_get_str(os, "arch", NULL));
		json_decref(os);
	}
}

TEST(facts_os_arch_is_the_tree_s)
{
	json_t *os = gather("ubuntu2404", "os");

	expect_text(os, "arch", "aarch64");
	json_decref(os);
}

TEST(facts_cpu_of_two_sockets)
{
	expect("epyc", "cpu",
		"{\"cores\":8,\"model\":\"AMD EPYC 9354 32-Core Processor\",\"sockets\":2,"
		"\"threads\":16}");
}

TEST(facts_memory_in_bytes)
{
	expect("epyc", "memory", "{\"swap_bytes\":8589930496,\"total_bytes\":540959551488}");
}

TEST(facts_disks_with_hardware)
{
	expect("epyc", "disks",
		"[{\"model\":\"SAMSUNG MZQL23T8HCLS-00A07\",\"name\":\"nvme0n1\","
		"\"rotational\":false,\"serial\":\"S64HNE0T500001\",\"size_bytes\":3840755982336},"
		"{\"model\":\"ST1000NX0423\",\"name\":\"sda\",\"rotational\":true,"
		"\"serial\":\"W470ABCD\",\"size_bytes\":1000204886016},"
		"{\"name\":\"sdb\",\"size_bytes\":0},"
		"{\"name\":\"vda\",\"rotational\":true,\"serial\":\"disk-a\","
		"\"size_bytes\":21474836480}]");
}

TEST(facts_net_without_passing_interfaces)
{
	expect("epyc", "net",
		"[{\"addresses\":[\"fe80::20a:bcff:fe12:3456/64\",\"2001:db8::17/64\"],"
		"\"mac\":\"02:0a:bc:12:34:56\",\"mtu\":9000,\"name\":\"enp1s0f0np0\","
		"\"speed_mbps\":100000,\"state\":\"up\"},"
		"{\"addresses\":[],\"mac\":\"02:0a:bc:12:34:57\",\"mtu\":1500,"
		"\"name\":\"enp1s0f1np1\",\"state\":\"down\"},"
		"{\"addresses\":[],"
		"\"mac\":\"00:00:10:49:fe:80:00:00:00:00:00:00:94:6d:ae:03:00:11:22:33\","
		"\"mtu\":4092,\"name\":\"ib0\",\"state\":\"up\"}]");
}

TEST(facts_pci_names_eight_gpus)
{
	json_t *pci = gather("epyc", "pci"), *device;
	unsigned gpus = 0;
	size_t i;

	assert_int_equal(json_array_size(pci), 10);
	json_array_foreach(pci, i, device) gpus +=
		strcmp(json_get_str(device, "vendor", ""), "10de") == 0 &&
		strcmp(json_get_str(device, "class", ""), "030200") == 0;
	assert_int_equal(gpus, 8);
	expect_text(json_array_get(pci, 0), "slot", "0000:01:00.0");
	expect_text(json_array_get(pci, 0), "device", "1021");
	json_decref(pci);
	expect("empty", "pci", "[]");
}

TEST(facts_boot_and_host)
{
	expect("epyc", "boot",
		"{\"at\":\"2025-11-30T15:33:07Z\",\"id\":\"6f0a2c1e-1111-4222-8333-444455556666\","
		"\"next_kernel\":\"6.8.0-60-generic\"}");
	expect("epyc", "host", "{\"name\":\"gpu01\"}");
	expect("debian12", "host",
		"{\"machine_id\":\"0123456789abcdef0123456789abcdef\",\"name\":\"deb01\"}");
	expect("empty", "boot", "{}");
	expect("empty", "host", "{}");
	expect("empty", "gpus", "[]");
	expect("epyc", "nvidia", "{\"loaded\":\"580.95.05\",\"open\":true}");
	expect("debian12", "nvidia", "{\"loaded\":\"535.261.03\",\"open\":false}");
	expect("empty", "nvidia", "{}");
}

TEST(facts_group_that_does_not_exist)
{
	const struct facts_env env = {.root = AT_FDCWD};
	struct err err;
	json_t *out;

	assert_int_equal(facts_group(&env, "disk", &out, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "disks"));
	assert_int_equal(facts_group(&env, "", &out, &err), -E_NOTFOUND);
}

TEST(facts_all_tells_of_groups_that_fail)
{
	char path[512];
	json_t *all;

	snprintf(path, sizeof path, "%s/trees/empty", TEST_DIR);

	const struct facts_env env = {.root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

	all = facts_all(&env);
	close(env.root);
	for (size_t i = 0; FACT_GROUPS[i]; i++)
		assert_non_null(json_get(all, FACT_GROUPS[i]));
	assert_non_null(json_get_str(json_get(all, "cpu"), "error", NULL));
	assert_non_null(json_get_str(json_get(all, "net"), "error", NULL));
	assert_null(json_get_str(json_get(all, "os"), "error", NULL));
	json_decref(all);
}

TEST(facts_of_this_machine_are_there)
{
	const struct facts_env env = {.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	json_t *all = facts_all(&env);

	close(env.root);
	assert_true(json_get_int(json_get(all, "cpu"), "threads", 0) > 0);
	assert_true(json_get_int(json_get(all, "memory"), "total_bytes", 0) > 0);
	assert_non_null(json_get_str(json_get(all, "boot"), "id", NULL));
	assert_true(json_is_array(json_get(all, "net")));
	json_decref(all);
}

T_MAIN
