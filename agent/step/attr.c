#include "agent/step/attr.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/cache.h"
#include "agent/step/ident.h"
#include "agent/step/report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int parse_mode(const json_t *args, mode_t *out, struct err *err)
{
	struct str text = str_of(json_get_str(args, "mode", NULL));
	mode_t mode = 0;

	*out = FS_KEEP_MODE;
	if (text.n == 0)
		return 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '7' || text.n > 4)
			return err_set(err, E_SCHEMA,
				"mode '" STR_FMT "' is not four octal digits such as 0644",
				STR_ARG(text));
		mode = mode * 8 + (mode_t)(text.p[i] - '0');
	}
	*out = mode;
	return 0;
}

/* What is missing may come from an earlier step of the same plan, but not in a real run. */
static int missing(struct step_env *env, const char *what, const char *name,
	struct step_report *rep, struct err *err)
{
	if (env->dry) {
		report_unknown(rep, "%s '%s' does not exist yet", what, name);
		return 0;
	}
	err_set(err, E_NOTFOUND, "%s '%s' does not exist on this node", what, name);
	return err_hint(err, "add a '%s' step for '%s' before this one", what, name);
}

static int parse_owner(struct step_env *env, const char *name, uid_t *out, struct step_report *rep,
	struct err *err)
{
	struct ident_user u;
	struct str passwd;
	uint64_t id;
	int rc;

	if (!name)
		return 0;
	if (str_to_u64(str_of(name), &id) && id < UINT32_MAX) {
		*out = (uid_t)id;
		return 0;
	}
	rc = cache_get(env, CACHE_PASSWD, &passwd, err);
	if (rc == -E_NOTFOUND)
		return missing(env, "user", name, rep, err);
	if (rc < 0)
		return rc;
	if (!ident_user_find(passwd, name, &u))
		return missing(env, "user", name, rep, err);
	*out = u.uid;
	return 0;
}

static int parse_group(struct step_env *env, const char *name, gid_t *out, struct step_report *rep,
	struct err *err)
{
	struct ident_group g;
	struct str group;
	uint64_t id;
	int rc;

	if (!name)
		return 0;
	if (str_to_u64(str_of(name), &id) && id < UINT32_MAX) {
		*out = (gid_t)id;
		return 0;
	}
	rc = cache_get(env, CACHE_GROUP, &group, err);
	if (rc == -E_NOTFOUND)
		return missing(env, "group", name, rep, err);
	if (rc < 0)
		return rc;
	if (!ident_group_find(group, name, &g))
		return missing(env, "group", name, rep, err);
	*out = g.gid;
	return 0;
}

int attr_parse(struct step_env *env, const json_t *args, struct attr *out, struct step_report *rep,
	struct err *err)
{
	int rc;

	out->uid = FS_KEEP_ID;
	out->gid = FS_KEEP_ID;
	rc = parse_mode(args, &out->mode, err);
	if (rc < 0)
		return rc;
	rc = parse_owner(env, json_get_str(args, "owner", NULL), &out->uid, rep, err);
	if (rc < 0)
		return rc;
	return parse_group(env, json_get_str(args, "group", NULL), &out->gid, rep, err);
}

/* "name" or, for a number that nobody has, the number. */
static struct str user_name(struct step_env *env, uid_t uid, char number[static 16])
{
	struct ident_user u;
	struct str passwd;

	if (cache_get(env, CACHE_PASSWD, &passwd, NULL) == 0 && ident_user_by_id(passwd, uid, &u))
		return u.name;
	snprintf(number, 16, "%u", uid);
	return str_of(number);
}

static struct str group_name(struct step_env *env, gid_t gid, char number[static 16])
{
	struct ident_group g;
	struct str group;

	if (cache_get(env, CACHE_GROUP, &group, NULL) == 0 && ident_group_by_id(group, gid, &g))
		return g.name;
	snprintf(number, 16, "%u", gid);
	return str_of(number);
}

void attr_compare(struct step_env *env, const struct attr *want, const struct stat *st,
	struct step_report *rep)
{
	const mode_t mode = st->st_mode & 07777;
	char a[16], b[16];

	if (want->mode != FS_KEEP_MODE && want->mode != mode) {
		report_differs(rep, "mode %04o -> %04o", mode, want->mode);
		report_addf(rep, "mode %04o -> %04o\n", mode, want->mode);
	}
	if (want->uid != FS_KEEP_ID && want->uid != st->st_uid) {
		report_differs(rep, "another owner");
		report_addf(rep, "owner " STR_FMT " -> " STR_FMT "\n",
			STR_ARG(user_name(env, st->st_uid, a)),
			STR_ARG(user_name(env, want->uid, b)));
	}
	if (want->gid != FS_KEEP_ID && want->gid != st->st_gid) {
		report_differs(rep, "another group");
		report_addf(rep, "group " STR_FMT " -> " STR_FMT "\n",
			STR_ARG(group_name(env, st->st_gid, a)),
			STR_ARG(group_name(env, want->gid, b)));
	}
}

int attr_apply(
	const struct step_env *env, const char *path, const struct attr *want, struct err *err)
{
	struct stat st;
	mode_t mode;

	if (want->mode == FS_KEEP_MODE && want->uid == FS_KEEP_ID && want->gid == FS_KEEP_ID)
		return 0;
	AUTO_FD fd = fs_open(env->root, path, O_RDONLY | O_NONBLOCK, 0, false, err);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot look at '%s'", path);
	if (fchown(fd, want->uid, want->gid) < 0)
		return err_sys(err, errno, "cannot change the owner of '%s'", path);
	/* A change of owner drops set-uid bits, so the mode is set even when it was right. */
	mode = want->mode == FS_KEEP_MODE ? st.st_mode & 07777 : want->mode;
	if (fchmod(fd, mode) < 0)
		return err_sys(err, errno, "cannot change the mode of '%s'", path);
	return 0;
}
