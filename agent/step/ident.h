/*
 * ident - users and groups by reading passwd(5) and group(5) texts; no NSS.
 *
 * So the answer is the one of the root that is changed, and no directory
 * service can hang it.
 */
#pragma once

#include "agent/base/str.h"

#include <sys/types.h>

struct ident_user {
	struct str name, about, home, shell;
	uid_t uid;
	gid_t gid;
};

struct ident_group {
	struct str name, members; /* members: comma-separated */
	gid_t gid;
};

bool ident_user_find(struct str passwd, const char *name, struct ident_user *out);
bool ident_group_find(struct str group, const char *name, struct ident_group *out);
bool ident_group_by_id(struct str group, gid_t gid, struct ident_group *out);
bool ident_user_by_id(struct str passwd, uid_t uid, struct ident_user *out);
bool ident_is_member(const struct ident_group *g, const char *user);
