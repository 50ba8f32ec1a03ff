#include "agent/step/dpkg.h"

#include "agent/base/mem.h"
#include "agent/base/vec.h"

#include <ctype.h>
#include <string.h>

#define NAME_LEN_MAX 128
#define FIRST_FIELD  "Package: " /* a record begins with it */

struct dpkg {
	struct str text, native; /* native: the architecture, empty when not known */
	uint32_t *slots;         /* open addressing by name; 0: free, else offset + 1 */
	size_t mask;
};

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

static struct str name_at(const struct dpkg *d, uint32_t at)
{
	const struct str s = str_from(d->text, at + strlen(FIRST_FIELD));

	return str_first(s, str_find(s, '\n'));
}

/* FNV-1a */
static size_t hash(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

struct offsets vec(uint32_t);

static void find_records(struct str text, struct offsets *out)
{
	const struct str first = str_of("\n" FIRST_FIELD);
	size_t at = 0, hit;

	if (str_starts(text, FIRST_FIELD))
		*vec_push(out) = 0;
	while ((hit = str_find_str(str_from(text, at), first)) != STR_NONE) {
		at += hit + 1;
		*vec_push(out) = (uint32_t)at;
	}
}

/* The same name can be there for several architectures: all of them are in its chain. */
static void fill_index(struct dpkg *d, const struct offsets *found)
{
	size_t size = 64;

	while (size < 2 * found->n)
		size *= 2;
	d->mask = size - 1;
	d->slots = xcalloc(size, sizeof *d->slots);
	vec_each(found, uint32_t, at) {
		size_t i = hash(name_at(d, *at)) & d->mask;

		while (d->slots[i])
			i = (i + 1) & d->mask;
		d->slots[i] = *at + 1;
	}
}

/* The records of one name, one after the other; *i begins as its hash. */
static bool next_named(const struct dpkg *d, struct str name, size_t *i, struct dpkg_record *out)
{
	for (;;) {
		const uint32_t slot = d->slots[*i & d->mask];

		if (!slot)
			return false;
		(*i)++;
		if (str_eq(name_at(d, slot - 1), name)) {
			parse_record(str_from(d->text, slot - 1), out);
			return true;
		}
	}
}

struct dpkg *dpkg_new(struct str text)
{
	struct dpkg *d = xcalloc(1, sizeof *d);
	const struct str self = STR_LIT("dpkg");
	struct offsets found = VEC_INIT;
	size_t i = hash(self);
	struct dpkg_record r;

	d->text = str_first(text, UINT32_MAX - 1);
	find_records(d->text, &found);
	fill_index(d, &found);
	vec_done(&found);
	/* dpkg itself is always of the native architecture. */
	if (next_named(d, self, &i, &r))
		d->native = r.arch;
	return d;
}

void dpkg_free(struct dpkg *d)
{
	if (!d)
		return;
	free(d->slots);
	free(d);
}

static bool arch_fits(const struct dpkg *d, struct str arch, const struct dpkg_record *r)
{
	if (arch.n > 0)
		return str_eq(arch, r->arch);
	return str_is(r->arch, "all") || r->arch.n == 0 || d->native.n == 0 ||
	       str_eq(d->native, r->arch);
}

bool dpkg_find(const struct dpkg *d, struct str name, struct str arch, struct dpkg_record *out)
{
	struct dpkg_record r;
	size_t i = hash(name);

	while (next_named(d, name, &i, &r)) {
		if (arch_fits(d, arch, &r)) {
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

bool dpkg_next(const struct dpkg *d, size_t *at, struct dpkg_record *out)
{
	const struct str first = str_of("\n" FIRST_FIELD);
	size_t hit;

	if (*at == 0 && str_starts(d->text, FIRST_FIELD)) {
		parse_record(d->text, out);
		*at = 1;
		return true;
	}
	/* *at is one behind the start of the record before: its newline may be the next hit. */
	hit = str_find_str(str_from(d->text, *at), first);
	if (hit == STR_NONE)
		return false;
	parse_record(str_from(d->text, *at + hit + 1), out);
	*at += hit + 2;
	return true;
}

bool dpkg_find_broken(const struct dpkg *d, struct dpkg_record *out)
{
	for (size_t at = 0; dpkg_next(d, &at, out);)
		if (dpkg_is_broken(out))
			return true;
	return false;
}
