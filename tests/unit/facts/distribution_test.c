/* os - distributions by their os-release, whose texts are written here after the real ones. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/facts/facts.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct {
	const char *release; /* os-release */
	const char *has;     /* a file that tells what keeps packages, or NULL */
	const char *id, *version, *family, *packages;
	bool experimental;
} SYSTEMS[] = {
	{"PRETTY_NAME=\"Debian GNU/Linux 11 (bullseye)\"\nVERSION_ID=\"11\"\nID=debian\n", NULL,
		"debian", "11", "debian", "apt", false},
	{"VERSION_CODENAME=bookworm\nID=debian\nVERSION_ID=\"12\"\n", NULL, "debian", "12",
		"debian", "apt", false},
	{"ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\n", NULL, "debian", "13", "debian",
		"apt", false},
	{"NAME=\"Ubuntu\"\nVERSION_ID=\"20.04\"\nID=ubuntu\nID_LIKE=debian\n", NULL, "ubuntu",
		"20.04", "debian", "apt", false},
	{"ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\nUBUNTU_CODENAME=jammy\n", NULL, "ubuntu",
		"22.04", "debian", "apt", false},
	{"VERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n", NULL, "ubuntu", "24.04", "debian",
		"apt", false},
	{"NAME=\"Red Hat Enterprise Linux\"\nVERSION_ID=\"8.10\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\n",
		NULL, "rhel", "8.10", "rhel", "dnf", false},
	{"ID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.6\"\n", NULL, "rhel", "9.6", "rhel",
		"dnf", false},
	{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.10\"\n", NULL, "rocky",
		"8.10", "rhel", "dnf", false},
	{"ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.6\"\n", NULL,
		"almalinux", "9.6", "rhel", "dnf", false},
	{"NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=42\n", NULL, "fedora", "42", "rhel", "dnf",
		false},
	{"NAME=\"SLES\"\nVERSION_ID=\"15.6\"\nID=\"sles\"\nID_LIKE=\"suse\"\n", NULL, "sles",
		"15.6", "suse", "zypper", false},
	{"PRETTY_NAME=\"Astra Linux\"\nID=astra\nID_LIKE=debian\nVERSION_ID=1.8_x86-64\n", NULL,
		"astra", "1.8_x86-64", "debian", "apt", true},
	{"NAME=\"RED OS\"\nID=\"redos\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.0\"\n",
		NULL, "redos", "8.0", "rhel", "dnf", true},
	{"NAME=\"ALT Server\"\nVERSION_ID=\"10.2\"\nID=altlinux\n", NULL, "altlinux", "10.2", "alt",
		"apt-rpm", false},
	/* somebody's own, like one that is known */
	{"ID=sitelinux\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=7\n", NULL, "sitelinux", "7",
		"debian", "apt", false},
	{"ID=sitelinux\nID_LIKE=\"nothing redos\"\n", NULL, "sitelinux", NULL, "rhel", "dnf", true},
	/* what is there counts more than what it calls itself */
	{"ID=rocky\nVERSION_ID=9\n", "var/lib/dpkg/status", "rocky", "9", "rhel", "apt", false},
	{"ID=unheard-of\n", "var/lib/dpkg/status", "unheard-of", NULL, "unknown", "apt", false},
	{"ID=unheard-of\n", NULL, "unheard-of", NULL, "unknown", NULL, false},
	{"", NULL, NULL, NULL, "unknown", NULL, false},
};

static json_t *facts_of(size_t i, const char *path, const char *text)
{
	char folder[256];
	struct facts_env env = {0};
	struct err err;
	json_t *os;

	snprintf(folder, sizeof folder, "%s/%zu", t_dir(), i);
	mkdir(folder, 0755);
	env.root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fs_mkdirs(env.root, "etc", 0755, NULL);
	fs_mkdirs(env.root, "etc/digsig", 0755, NULL);
	fs_mkdirs(env.root, "var/lib/dpkg", 0755, NULL);
	if (path)
		assert_int_equal(
			fs_replace(env.root, path, str_of(text), 0644, geteuid(), getegid(), &err),
			0);
	if (i < sizeof SYSTEMS / sizeof SYSTEMS[0])
		assert_int_equal(fs_replace(env.root, "etc/os-release", str_of(SYSTEMS[i].release),
					 0644, geteuid(), getegid(), &err),
			0);
	assert_int_equal(facts_group(&env, "os", &os, &err), 0);
	close(env.root);
	return os;
}

static void expect(size_t i, const json_t *os, const char *key, const char *want)
{
	const char *got = json_get_str(os, key, NULL);

	if (want ? !got || strcmp(got, want) != 0 : got != NULL)
		fail_msg("system %zu: %s is %s, expected %s", i, key, got ? got : "absent",
			want ? want : "absent");
}

TEST(distributions_are_recognised)
{
	for (size_t i = 0; i < sizeof SYSTEMS / sizeof SYSTEMS[0]; i++) {
		json_t *os = facts_of(i, SYSTEMS[i].has, "");

		expect(i, os, "id", SYSTEMS[i].id);
		expect(i, os, "version_id", SYSTEMS[i].version);
		expect(i, os, "family", SYSTEMS[i].family);
		expect(i, os, "packages", SYSTEMS[i].packages);
		if (json_get_bool(os, "experimental", !SYSTEMS[i].experimental) !=
			SYSTEMS[i].experimental)
			fail_msg("system %zu: experimental", i);
		assert_false(json_get_bool(os, "closed", true));
		json_decref(os);
	}
}

TEST(astra_s_closed_environment_is_a_fact)
{
	json_t *os = facts_of(100, "etc/digsig/digsig_initramfs.conf",
		"# comment\nDIGSIG_ELF_MODE=1\nDIGSIG_XATTR_MODE=0\n");

	assert_true(json_get_bool(os, "closed", false));
	json_decref(os);
	os = facts_of(101, "etc/digsig/digsig_initramfs.conf", "DIGSIG_ELF_MODE=0\n");
	assert_false(json_get_bool(os, "closed", true));
	json_decref(os);
}

T_MAIN
