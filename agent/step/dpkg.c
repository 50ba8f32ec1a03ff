#include "agent/step/dpkg.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_LEN_MAX 128

static bool is_plain(struct str s, const char *more)
{
	if (s.n == 0 || s.n > NAME_LEN_MAX || !isalnum((unsigned char)s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !strchr(more, s.p[i]))
			return false;
	return memchr(s.p, '\0', s.n) == NULL;
}

bool dpkg_spec_parse(struct str text, struct dpkg_spec *out)
{
	const size_t equal = str_find(text, '=');
	struct str name = str_first(text, equal);
	size_t colon;

	memset(out, 0, sizeof *out);
	if (equal != STR_NONE) {
		out->version = str_from(text, equal + 1);
		if (!is_plain(out->version, ".+-~:"))
			return false;
	}
	colon = str_find(name, ':');
	if (colon != STR_NONE) {
		out->arch = str_from(name, colon + 1);
		if (!is_plain(out->arch, "-"))
			return false;
	}
	out->name = str_first(name, colon);
	for (size_t i = 0; i < out->name.n; i++)
		if (isupper((unsigned char)out->name.p[i]))
			return false;
	/* apt would take a '-' at the end as a wish to remove */
	return is_plain(out->name, "+.-") && out->name.p[out->name.n - 1] != '-';
}

/* The value if line is "KEY: value". */
static bool field(struct str line, const char *key, struct str *value)
{
	if (!str_starts(line, key))
		return false;
	*value = str_trim(str_from(line, strlen(key)));
	return true;
}

static void parse_status(struct str words, struct dpkg_record *out)
{
	if (!str_next(&words, ' ', &out->want) || !str_next(&words, ' ', &out->error))
		return;
	out->state = str_trim(words);
}

/* Reads one record from its start; the rest of it after the last needed field is not looked at. */
static void parse_record(struct str text, struct dpkg_record *out)
{
	struct str line, status = {NULL, 0};

	memset(out, 0, sizeof *out);
	while (str_next(&text, '\n', &line) && line.n > 0) {
		if (line.p[0] == ' ')
			continue;
		if (field(line, "Package:", &out->name) || field(line, "Version:", &out->version) ||
			field(line, "Architecture:", &out->arch))
			continue;
		if (field(line, "Status:", &status))
			parse_status(status, out);
		else if (out->version.n > 0 && out->arch.n > 0 && status.n > 0)
			return;
	}
}

/* The record that begins at or after *from with "Package: NAME"; *from moves behind that line. */
static bool next_named(struct str status, struct str name, size_t *from, struct dpkg_record *out)
{
	char needle[NAME_LEN_MAX + 16];
	const int n = snprintf(needle, sizeof needle, "\nPackage: " STR_FMT "\n", STR_ARG(name));
	const struct str what = {needle, (size_t)n};
	size_t at;

	if (*from == 0 && str_starts(status, needle + 1)) {
		*from = what.n - 1;
		parse_record(status, out);
		return true;
	}
	/* One back, since a record's first line is found by the newline before it. */
	at = str_find_str(str_from(status, *from), what);
	if (at == STR_NONE)
		return false;
	parse_record(str_from(status, *from + at + 1), out);
	*from += at + what.n - 1;
	return true;
}

static bool arch_fits(struct str status, struct str arch, const struct dpkg_record *r)
{
	struct dpkg_record dpkg;
	size_t from = 0;

	if (arch.n > 0)
		return str_eq(arch, r->arch);
	if (str_is(r->arch, "all") || r->arch.n == 0)
		return true;
	/* dpkg itself is always of the native architecture. */
	if (!next_named(status, STR_LIT("dpkg"), &from, &dpkg))
		return true;
	return str_eq(dpkg.arch, r->arch);
}

bool dpkg_find(struct str status, struct str name, struct str arch, struct dpkg_record *out)
{
	struct dpkg_record r;
	size_t from = 0;

	if (name.n == 0 || name.n > NAME_LEN_MAX)
		return false;
	while (next_named(status, name, &from, &r)) {
		if (arch_fits(status, arch, &r)) {
			*out = r;
			return true;
		}
	}
	return false;
}

bool dpkg_is_installed(const struct dpkg_record *r)
{
	return str_is(r->state, "installed") && !str_is(r->error, "reinstreq");
}

bool dpkg_is_broken(const struct dpkg_record *r)
{
	return str_is(r->error, "reinstreq") || str_is(r->state, "half-installed") ||
	       str_is(r->state, "half-configured") || str_is(r->state, "unpacked") ||
	       str_starts(r->state, "triggers-");
}

bool dpkg_find_broken(struct str status, struct dpkg_record *out)
{
	struct str line, rest = status, value;
	struct str record = status;
	struct dpkg_record r;

	while (rest.n > 0) {
		const struct str here = rest;

		if (!str_next(&rest, '\n', &line))
			break;
		if (str_starts(line, "Package:"))
			record = here;
		if (!field(line, "Status:", &value))
			continue;
		memset(&r, 0, sizeof r);
		parse_status(value, &r);
		if (dpkg_is_broken(&r)) {
			parse_record(record, out);
			return true;
		}
	}
	return false;
}
