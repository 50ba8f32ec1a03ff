/* os - the distribution by os-release(5), and the kernel. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>
#include <sys/utsname.h>

#define RELEASE_MAX (64u << 10)

/*
 * An id (of ID or ID_LIKE), the family whose tools it uses, and what keeps its packages. Those that
 * differ from their model in ways we cannot test are experimental: a recipe has to name them.
 */
static const struct {
	const char *id, *family, *packages;
	bool experimental;
} SYSTEMS[] = {
	{"debian", "debian", "apt", false},
	{"ubuntu", "debian", "apt", false},
	{"astra", "debian", "apt", true},
	{"linuxmint", "debian", "apt", false},
	{"devuan", "debian", "apt", false},
	{"raspbian", "debian", "apt", false},
	{"rhel", "rhel", "dnf", false},
	{"fedora", "rhel", "dnf", false},
	{"centos", "rhel", "dnf", false},
	{"rocky", "rhel", "dnf", false},
	{"almalinux", "rhel", "dnf", false},
	{"ol", "rhel", "dnf", false},
	{"redos", "rhel", "dnf", true},
	{"amzn", "rhel", "dnf", false},
	{"sles", "suse", "zypper", false},
	{"sled", "suse", "zypper", false},
	{"opensuse-leap", "suse", "zypper", false},
	{"opensuse-tumbleweed", "suse", "zypper", false},
	{"opensuse", "suse", "zypper", false},
	{"suse", "suse", "zypper", false},
	{"altlinux", "alt", "apt-rpm", false},
};

#define SYSTEMS_N (sizeof SYSTEMS / sizeof SYSTEMS[0])

/* Undoes the shell's quoting: quotes around, backslashes inside. */
static void unquote(struct str s, struct buf *out)
{
	const bool quoted = s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0];

	if (quoted)
		s = str_first(str_from(s, 1), s.n - 2);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
		buf_add_char(out, s.p[i]);
	}
}

/* The last assignment counts, as in the shell. */
static bool release_value(struct str text, const char *key, struct buf *out)
{
	const struct str name = str_of(key);
	struct str line;
	bool found = false;

	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (line.n <= name.n || line.p[name.n] != '=' ||
			!str_eq(str_first(line, name.n), name))
			continue;
		buf_clear(out);
		unquote(str_from(line, name.n + 1), out);
		found = out->n > 0;
	}
	return found;
}

static void put_value(json_t *os, const char *name, struct str release, const char *key)
{
	AUTO_BUF value;

	buf_init(&value, RELEASE_MAX);
	if (release_value(release, key, &value))
		json_put_text(os, name, buf_str(&value));
}

static size_t system_of_id(struct str id)
{
	size_t i = 0;

	while (i < SYSTEMS_N && !str_is(id, SYSTEMS[i].id))
		i++;
	return i;
}

/* By the id itself, then by what it says to be like; SYSTEMS_N when it is like nothing known. */
static size_t find_system(const json_t *os, struct str release)
{
	size_t found = system_of_id(str_of(json_get_str(os, "id", "")));
	struct str rest, one;
	AUTO_BUF like;

	buf_init(&like, RELEASE_MAX);
	if (found < SYSTEMS_N || !release_value(release, "ID_LIKE", &like))
		return found;
	rest = buf_str(&like);
	while (found == SYSTEMS_N && str_next(&rest, ' ', &one))
		found = system_of_id(one);
	return found;
}

/* What the root has, and else what its distribution uses. */
static const char *find_packages(int root, size_t system)
{
	const bool rpm =
		source_exists(root, "/var/lib/rpm") || source_exists(root, "/usr/lib/sysimage/rpm");

	if (source_exists(root, "/var/lib/dpkg/status"))
		return "apt";
	if (rpm && source_exists(root, "/usr/bin/zypper"))
		return "zypper";
	if (rpm && source_exists(root, "/usr/bin/apt-get"))
		return "apt-rpm";
	if (rpm && source_exists(root, "/usr/bin/dnf"))
		return "dnf";
	return system < SYSTEMS_N ? SYSTEMS[system].packages : NULL;
}

/* Astra's closed software environment lets only signed programs and modules run. */
static bool is_closed(int root)
{
	struct str rest, line;
	AUTO_BUF text;

	buf_init(&text, RELEASE_MAX);
	if (!source_file(root, "/etc/digsig/digsig_initramfs.conf", &text))
		return false;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (str_is(str_trim(line), "DIGSIG_ELF_MODE=1"))
			return true;
	return false;
}

static void put_system(json_t *os, int root, size_t system)
{
	json_put_str(os, "family", system < SYSTEMS_N ? SYSTEMS[system].family : "unknown");
	json_put_str(os, "packages", find_packages(root, system));
	json_put_bool(os, "experimental", system < SYSTEMS_N && SYSTEMS[system].experimental);
	json_put_bool(os, "closed", is_closed(root));
}

static void put_release(json_t *os, int root, struct str release)
{
	put_value(os, "id", release, "ID");
	put_value(os, "version_id", release, "VERSION_ID");
	put_value(os, "codename", release, "VERSION_CODENAME");
	put_value(os, "name", release, "PRETTY_NAME");
	put_system(os, root, find_system(os, release));
}

static void put_kernel(json_t *os, int root)
{
	struct utsname u;

	source_put_text(os, "kernel", root, "/proc/sys/kernel/osrelease", "");
	source_put_text(os, "arch", root, "/proc/sys/kernel/arch", "");
	/* Kernels before 6.1 have no such file; the architecture is that of this process then. */
	if (!json_get(os, "arch") && uname(&u) == 0)
		json_put_str(os, "arch", u.machine);
	json_put_bool(os, "systemd", source_exists(root, "/run/systemd/system"));
}

int facts_os(const struct facts_env *env, json_t **out, struct err *err)
{
	AUTO_BUF release;
	json_t *os;

	(void)err;
	buf_init(&release, RELEASE_MAX);
	if (!source_file(env->root, "/etc/os-release", &release)) {
		buf_clear(&release);
		(void)source_file(env->root, "/usr/lib/os-release", &release);
	}
	os = json_object();
	put_release(os, env->root, buf_str(&release));
	put_kernel(os, env->root);
	*out = os;
	return 0;
}
