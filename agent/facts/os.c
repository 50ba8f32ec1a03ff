/* os - the distribution by os-release(5), and the kernel. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>
#include <sys/utsname.h>

#define RELEASE_MAX (64u << 10)

/* An id (of ID or ID_LIKE) and the family whose tools it uses. */
static const struct {
	const char *id, *family;
} FAMILIES[] = {
	{"debian", "debian"},
	{"ubuntu", "debian"},
	{"astra", "debian"},
	{"linuxmint", "debian"},
	{"devuan", "debian"},
	{"raspbian", "debian"},
	{"rhel", "rhel"},
	{"fedora", "rhel"},
	{"centos", "rhel"},
	{"rocky", "rhel"},
	{"almalinux", "rhel"},
	{"ol", "rhel"},
	{"redos", "rhel"},
	{"amzn", "rhel"},
};

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

static const char *family_of_id(struct str id)
{
	for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++)
		if (str_is(id, FAMILIES[i].id))
			return FAMILIES[i].family;
	return NULL;
}

/* By the id itself, then by what it says to be like. */
static const char *find_family(const json_t *os, struct str release)
{
	const char *family = family_of_id(str_of(json_get_str(os, "id", "")));
	struct str rest, one;
	AUTO_BUF like;

	buf_init(&like, RELEASE_MAX);
	if (family || !release_value(release, "ID_LIKE", &like))
		return family ? family : "unknown";
	rest = buf_str(&like);
	while (!family && str_next(&rest, ' ', &one))
		family = family_of_id(one);
	return family ? family : "unknown";
}

static void put_release(json_t *os, struct str release)
{
	put_value(os, "id", release, "ID");
	put_value(os, "version_id", release, "VERSION_ID");
	put_value(os, "codename", release, "VERSION_CODENAME");
	put_value(os, "name", release, "PRETTY_NAME");
	json_put_str(os, "family", find_family(os, release));
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
	put_release(os, buf_str(&release));
	put_kernel(os, env->root);
	*out = os;
	return 0;
}
