/* mount_options - how: each wanted option is looked for by its name among those of the mount. */
#include "agent/step/mount_options.h"

#include <stdlib.h>
#include <string.h>

/* Of the mount, or of the whole file system; the contrary is what a mount without it shows. */
static const struct flag {
	const char *name, *shown; /* shown NULL: it is there when its contrary is not */
	const char *contrary;
} FLAGS[] = {
	{"ro", "ro", NULL},
	{"rw", NULL, "ro"},
	{"nosuid", "nosuid", NULL},
	{"suid", NULL, "nosuid"},
	{"nodev", "nodev", NULL},
	{"dev", NULL, "nodev"},
	{"noexec", "noexec", NULL},
	{"exec", NULL, "noexec"},
	{"noatime", "noatime", NULL},
	{"relatime", "relatime", NULL},
	{"nodiratime", "nodiratime", NULL},
	{"nosymfollow", "nosymfollow", NULL},
};

static const char *const VALUES[] = {"size", "mode", "uid", "gid", "nr_inodes"};

static bool find(const char *options, struct str name, struct str *value)
{
	struct str rest = str_of(options), one;

	while (str_next(&rest, ',', &one)) {
		const size_t equal = str_find(one, '=');

		if (!str_eq(str_first(one, equal), name))
			continue;
		*value = equal == STR_NONE ? (struct str){"", 0} : str_from(one, equal + 1);
		return true;
	}
	return false;
}

bool mount_options_have(const char *options, const char *name)
{
	struct str value;

	return find(options, str_of(name), &value);
}

static bool has_flag(const struct mount_entry *now, const char *name)
{
	return mount_options_have(now->options, name) ||
	       (strcmp(name, "ro") == 0 && mount_options_have(now->super, name));
}

/* "1G" and "1048576k" are one size; "0755" and "755" one mode. */
static bool read_value(struct str name, struct str text, uint64_t *out)
{
	unsigned shift = 0;
	char z[32];
	char *end;

	if (text.n == 0 || text.n >= sizeof z)
		return false;
	memcpy(z, text.p, text.n);
	z[text.n] = '\0';
	if (str_is(name, "mode")) {
		*out = strtoull(z, &end, 8);
		return !*end;
	}
	if (strchr("kKmMgG", z[text.n - 1])) {
		const char unit = z[text.n - 1];

		shift = unit == 'k' || unit == 'K' ? 10 : unit == 'm' || unit == 'M' ? 20 : 30;
		text.n--;
	}
	if (!str_to_u64(text, out) || *out >> (63 - shift))
		return false;
	*out <<= shift;
	return true;
}

static bool value_differs(struct str name, struct str wanted, const struct mount_entry *now)
{
	uint64_t a, b;
	struct str shown;

	for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
		if (!str_is(name, VALUES[i]))
			continue;
		return find(now->super, name, &shown) && read_value(name, wanted, &a) &&
		       read_value(name, shown, &b) && a != b;
	}
	return false;
}

static bool flag_differs(struct str name, const struct mount_entry *now)
{
	for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
		if (!str_is(name, FLAGS[i].name))
			continue;
		return FLAGS[i].shown ? !has_flag(now, FLAGS[i].shown)
				      : has_flag(now, FLAGS[i].contrary);
	}
	return false;
}

bool mount_options_differ(const char *wanted, const struct mount_entry *now, struct buf *what)
{
	struct str rest = str_of(wanted), one;

	while (str_next(&rest, ',', &one)) {
		const size_t equal = str_find(one, '=');

		if (equal == STR_NONE ? !flag_differs(one, now)
				      : !value_differs(str_first(one, equal),
						str_from(one, equal + 1), now))
			continue;
		buf_add_str(what, one);
		return true;
	}
	return false;
}

void mount_options_for_mount(const char *wanted, struct buf *out)
{
	static const char *const NAMES[] = {"noauto", "auto", "nofail", "user", "users", "nouser",
		"owner", "group", "_netdev", NULL};
	struct str rest = str_of(wanted), one;

	while (str_next(&rest, ',', &one)) {
		bool skip = one.n == 0 || str_starts(one, "x-") || str_starts(one, "comment=");

		for (unsigned i = 0; NAMES[i]; i++)
			skip = skip || str_is(one, NAMES[i]);
		if (skip)
			continue;
		if (out->n > 0)
			buf_add_char(out, ',');
		buf_add_str(out, one);
	}
	if (out->n == 0)
		buf_add_text(out, "defaults");
}
