/* group - groups of /etc/group, changed by groupadd, groupmod and groupdel. */
#include "agent/base/err.h"
#include "agent/step/cache.h"
#include "agent/step/ident.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

struct wish {
	const char *name;
	const json_t *gid; /* NULL: any */
	bool absent, system;
};

static int read_wish(const json_t *args, struct wish *w, struct err *err)
{
	w->name = json_get_str(args, "name", "");
	w->gid = json_get(args, "gid");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	w->system = json_get_bool(args, "system", false);
	if (!str_is_name(str_of(w->name)))
		return err_set(err, E_SCHEMA, "'%.60s' is not the name of a group", w->name);
	if (w->gid && (json_integer_value(w->gid) < 0 || json_integer_value(w->gid) >= UINT32_MAX))
		return err_set(err, E_SCHEMA, "gid %lld of group '%s' is out of range",
			(long long)json_integer_value(w->gid), w->name);
	return 0;
}

static int look(const struct step_env *env, const struct wish *w, struct ident_group *g,
	bool *exists, struct err *err)
{
	struct str text;
	int rc;

	rc = cache_get(env, CACHE_GROUP, &text, err);
	if (rc == 0)
		*exists = ident_group_find(text, w->name, g);
	return rc;
}

static bool is_other_gid(const struct wish *w, const struct ident_group *g)
{
	return w->gid && json_integer_value(w->gid) != (json_int_t)g->gid;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct ident_group g;
	struct wish w;
	bool exists;
	int rc;

	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = look(env, &w, &g, &exists, err);
	if (rc < 0)
		return rc;
	if (exists && w.absent) {
		report_differs(rep, "is there");
		report_addf(rep, "remove group %s\n", w.name);
	} else if (!exists && !w.absent) {
		report_differs(rep, "does not exist");
		report_addf(rep, "add group %s\n", w.name);
	} else if (exists && is_other_gid(&w, &g)) {
		report_differs(rep, "another gid");
		report_addf(rep, "gid %u -> %lld\n", g.gid, (long long)json_integer_value(w.gid));
	}
	return 0;
}

static int create(const struct step_env *env, const struct wish *w, struct err *err)
{
	const char *argv[8];
	char gid[16];
	size_t n = 0;

	argv[n++] = "groupadd";
	if (w->gid) {
		snprintf(gid, sizeof gid, "%lld", (long long)json_integer_value(w->gid));
		argv[n++] = "-g";
		argv[n++] = gid;
	}
	if (w->system)
		argv[n++] = "-r";
	argv[n++] = "--";
	argv[n++] = w->name;
	argv[n] = NULL;
	return tool_must(env, argv, err);
}

static int modify(const struct step_env *env, const struct wish *w, struct err *err)
{
	char gid[16];
	const char *const argv[] = {"groupmod", "-g", gid, "--", w->name, NULL};

	snprintf(gid, sizeof gid, "%lld", (long long)json_integer_value(w->gid));
	return tool_must(env, argv, err);
}

static int delete (const struct step_env *env, const struct wish *w, struct err *err)
{
	const char *const argv[] = {"groupdel", "--", w->name, NULL};

	return tool_must(env, argv, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct ident_group g;
	struct wish w;
	bool exists;
	int rc;

	(void)rep;
	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = look(env, &w, &g, &exists, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		rc = exists ? delete (env, &w, err) : 0;
	else if (!exists)
		rc = create(env, &w, err);
	else if (is_other_gid(&w, &g))
		rc = modify(env, &w, err);
	step_cache_forget(env->cache);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct ident_group g;
	struct wish w;
	bool exists = false;
	int rc = read_wish(args, &w, err);

	if (rc == 0)
		rc = look(env, &w, &g, &exists, err);
	if (rc < 0)
		return rc;
	*out = json_object();
	json_put_bool(*out, "exists", exists);
	if (exists) {
		json_put_int(*out, "gid", g.gid);
		json_put_text(*out, "members", g.members);
	}
	return 0;
}

static int set_members(
	const struct step_env *env, const char *name, const char *members, struct err *err)
{
	const char *const argv[] = {"gpasswd", "-M", members, name, NULL};

	return *members ? tool_must(env, argv, err) : 0;
}

/* The group as before says, by the same three programs. */
static int go_back(
	struct step_env *env, struct wish *w, const json_t *was, const json_t *now, struct err *err)
{
	int rc;

	w->gid = json_get(was, "gid");
	if (!json_get_bool(was, "exists", false))
		return delete (env, w, err);
	if (json_get_bool(now, "exists", false))
		return modify(env, w, err);
	rc = create(env, w, err);
	return rc < 0 ? rc : set_members(env, w->name, json_get_str(was, "members", ""), err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *was, const json_t *left,
	struct step_report *rep, struct err *err)
{
	AUTO_JSON now = NULL;
	struct wish w;
	int rc = before(env, args, &now, err);

	if (rc < 0 || json_equal(now, was))
		return rc;
	if (left && !json_equal(now, left)) {
		err_set(err, E_CONFLICT, "group '%s' was changed by somebody else since",
			json_get_str(args, "name", ""));
		return err_hint(err, "look at it with getent and set it yourself");
	}
	report_differs(rep, "brought back");
	rc = read_wish(args, &w, err);
	if (rc == 0)
		rc = go_back(env, &w, was, now, err);
	step_cache_forget(env->cache);
	return rc;
}

const struct step_ops STEP_GROUP = {
	.kind = "group", .check = check, .apply = apply, .before = before, .undo = undo};
