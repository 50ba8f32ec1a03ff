#include "agent/step/ident.h"

/* Splits a line at ':' into at most max fields; the last keeps the rest. Returns how many. */
static unsigned fields(struct str line, struct str *out, unsigned max)
{
	unsigned n = 0;

	while (n + 1 < max) {
		const size_t at = str_find(line, ':');

		if (at == STR_NONE)
			break;
		out[n++] = str_first(line, at);
		line = str_from(line, at + 1);
	}
	out[n++] = line;
	return n;
}

static bool id_of(struct str s, uint32_t *id)
{
	uint64_t v;

	if (!str_to_u64(s, &v) || v >= UINT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

static bool parse_user(struct str line, struct ident_user *out)
{
	struct str f[7];

	if (fields(line, f, 7) != 7 || !id_of(f[2], &out->uid) || !id_of(f[3], &out->gid))
		return false;
	out->name = f[0];
	out->about = f[4];
	out->home = f[5];
	out->shell = f[6];
	return true;
}

static bool parse_group(struct str line, struct ident_group *out)
{
	struct str f[4];

	if (fields(line, f, 4) != 4 || !id_of(f[2], &out->gid))
		return false;
	out->name = f[0];
	out->members = f[3];
	return true;
}

/* Cheap look before a line is taken apart. */
static bool is_of(struct str line, const char *name)
{
	const struct str key = str_of(name);

	return line.n > key.n && line.p[key.n] == ':' && str_eq(str_first(line, key.n), key);
}

bool ident_user_find(struct str passwd, const char *name, struct ident_user *out)
{
	struct str line;

	while (str_line(&passwd, &line))
		if (is_of(line, name) && parse_user(line, out))
			return true;
	return false;
}

bool ident_user_by_id(struct str passwd, uid_t uid, struct ident_user *out)
{
	struct ident_user u;
	struct str line;

	while (str_line(&passwd, &line)) {
		if (parse_user(line, &u) && u.uid == uid) {
			*out = u;
			return true;
		}
	}
	return false;
}

bool ident_group_find(struct str group, const char *name, struct ident_group *out)
{
	struct str line;

	while (str_line(&group, &line))
		if (is_of(line, name) && parse_group(line, out))
			return true;
	return false;
}

bool ident_group_by_id(struct str group, gid_t gid, struct ident_group *out)
{
	struct ident_group g;
	struct str line;

	while (str_line(&group, &line)) {
		if (parse_group(line, &g) && g.gid == gid) {
			*out = g;
			return true;
		}
	}
	return false;
}

bool ident_is_member(const struct ident_group *g, const char *user)
{
	struct str rest = g->members, one;

	while (str_next(&rest, ',', &one))
		if (str_is(str_trim(one), user))
			return true;
	return false;
}
