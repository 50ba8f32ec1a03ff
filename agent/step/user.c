/*
 * user - accounts of /etc/passwd, changed by useradd, usermod and userdel.
 *
 * A password is never set. Further groups are added, none is taken away, and
 * the home directory of a removed user stays.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "agent/step/cache.h"
#include "agent/step/ident.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX 64

struct wish {
	const char *name, *group, *home, *shell, *about; /* NULL: not given */
	const json_t *groups, *uid;
	bool absent, create_home, system;
};

/* What is there, and what of the wish is not: the same for check and apply. */
struct finding {
	bool exists, uid, group, home, shell, about, make_home;
	struct ident_user user;
	gid_t gid;                 /* of wish.group */
	struct buf missing;        /* of wish.groups, comma-separated */
	const char *unknown_group; /* the first group that does not exist */
	bool namesake;             /* there is a group of the user's name already */
};

static bool is_field(const char *s)
{
	return !s || !s[strcspn(s, ":\n\r")];
}

static int read_wish(const json_t *args, struct wish *w, struct err *err)
{
	memset(w, 0, sizeof *w);
	w->name = json_get_str(args, "name", "");
	w->group = json_get_str(args, "group", NULL);
	w->home = json_get_str(args, "home", NULL);
	w->shell = json_get_str(args, "shell", NULL);
	w->about = json_get_str(args, "about", NULL);
	w->groups = json_get(args, "groups");
	w->uid = json_get(args, "uid");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	w->create_home = json_get_bool(args, "create_home", false);
	w->system = json_get_bool(args, "system", false);
	if (!str_is_name(str_of(w->name)) || !is_field(w->name))
		return err_set(err, E_SCHEMA, "'%.60s' is not the name of a user", w->name);
	if (!is_field(w->group) || !is_field(w->home) || !is_field(w->shell) ||
		!is_field(w->about)) {
		err_set(err, E_SCHEMA, "a field of user '%s' holds a ':' or a newline", w->name);
		return err_hint(err, "the fields of /etc/passwd are separated by ':'");
	}
	if (w->uid && (json_integer_value(w->uid) < 0 || json_integer_value(w->uid) >= UINT32_MAX))
		return err_set(err, E_SCHEMA, "uid %lld of user '%s' is out of range",
			(long long)json_integer_value(w->uid), w->name);
	if (json_array_size(w->groups) > GROUPS_MAX)
		return err_set(err, E_LIMIT, "user '%s' is given more than %d groups", w->name,
			GROUPS_MAX);
	return 0;
}

static void find_missing_groups(const struct wish *w, struct str groups, struct finding *f)
{
	const json_t *one;
	size_t i;

	json_array_foreach(w->groups, i, one)
	{
		const char *name = json_is_string(one) ? json_string_value(one) : "";
		struct ident_group g;

		if (!ident_group_find(groups, name, &g)) {
			if (!f->unknown_group)
				f->unknown_group = name;
			continue;
		}
		if (ident_is_member(&g, w->name) || (f->exists && g.gid == f->user.gid))
			continue;
		if (f->missing.n > 0)
			buf_add_char(&f->missing, ',');
		buf_add_text(&f->missing, name);
	}
}

static void find_primary_group(const struct wish *w, struct str groups, struct finding *f)
{
	struct ident_group g;
	uint64_t number;

	if (!w->group)
		return;
	if (ident_group_find(groups, w->group, &g)) {
		f->gid = g.gid;
	} else if (str_to_u64(str_of(w->group), &number) && number < UINT32_MAX) {
		f->gid = (gid_t)number;
	} else {
		f->unknown_group = w->group;
		return;
	}
	f->group = !f->exists || f->user.gid != f->gid;
}

static int find_home(
	const struct step_env *env, const struct wish *w, struct finding *f, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int rc;

	f->make_home = w->create_home;
	if (!w->create_home || (!w->home && !f->exists))
		return 0;
	if (w->home)
		snprintf(path, sizeof path, "%s", w->home);
	else
		snprintf(path, sizeof path, STR_FMT, STR_ARG(f->user.home));
	rc = fs_stat(env->root, path, true, &st, err);
	f->make_home = rc == -E_NOTFOUND;
	return f->make_home ? 0 : rc;
}

static bool is_other(const char *want, struct str have)
{
	return want && !str_is(have, want);
}

static int look(
	const struct step_env *env, const struct wish *w, struct finding *f, struct err *err)
{
	struct str passwd = {"", 0}, groups = {"", 0};
	int rc;

	memset(f, 0, sizeof *f);
	buf_init(&f->missing, 8192);
	rc = cache_get(env, CACHE_PASSWD, &passwd, err);
	if (rc < 0)
		return rc;
	rc = cache_get(env, CACHE_GROUP, &groups, err);
	if (rc < 0)
		return rc;
	f->exists = ident_user_find(passwd, w->name, &f->user);
	if (w->absent)
		return 0;
	find_primary_group(w, groups, f);
	find_missing_groups(w, groups, f);
	f->namesake = ident_group_find(groups, w->name, &(struct ident_group){0});
	rc = find_home(env, w, f, err);
	if (rc < 0 || !f->exists)
		return rc;
	f->uid = w->uid && json_integer_value(w->uid) != (json_int_t)f->user.uid;
	f->home = is_other(w->home, f->user.home);
	f->shell = is_other(w->shell, f->user.shell);
	f->about = is_other(w->about, f->user.about);
	return 0;
}

static void show(struct step_report *rep, const char *what, struct str old, const char *new)
{
	report_differs(rep, "another %s", what);
	report_addf(rep, "%s " STR_FMT " -> %s\n", what, STR_ARG(old), new);
}

static void compare(const struct wish *w, const struct finding *f, struct step_report *rep)
{
	if (f->uid) {
		report_differs(rep, "another uid");
		report_addf(rep, "uid %u -> %lld\n", f->user.uid,
			(long long)json_integer_value(w->uid));
	}
	if (f->group) {
		report_differs(rep, "another primary group");
		report_addf(rep, "group %u -> %u (%s)\n", f->user.gid, f->gid, w->group);
	}
	if (f->home)
		show(rep, "home", f->user.home, w->home);
	if (f->shell)
		show(rep, "shell", f->user.shell, w->shell);
	if (f->about)
		show(rep, "about", f->user.about, w->about);
	if (f->missing.n > 0) {
		report_differs(rep, "is not in all its groups");
		report_addf(rep, "add to %s\n", buf_text(&f->missing));
	}
	if (f->make_home) {
		report_differs(rep, "has no home directory");
		report_addf(rep, "make the home directory\n");
	}
}

static int judge_group(struct step_env *env, const struct wish *w, const struct finding *f,
	struct step_report *rep, struct err *err)
{
	if (!f->unknown_group)
		return 0;
	if (env->dry) {
		report_unknown(rep, "group '%s' does not exist yet", f->unknown_group);
		return 0;
	}
	err_set(err, E_NOTFOUND, "group '%s' of user '%s' does not exist on this node",
		f->unknown_group, w->name);
	return err_hint(err, "add a 'group' step for '%s' before this one", f->unknown_group);
}

static int check_finding(struct step_env *env, const struct wish *w, const struct finding *f,
	struct step_report *rep, struct err *err)
{
	if (w->absent) {
		if (f->exists) {
			report_differs(rep, "is there");
			report_addf(rep, "remove user %s\n", w->name);
		}
		return 0;
	}
	if (!f->exists) {
		report_differs(rep, "does not exist");
		report_addf(rep, "add user %s\n", w->name);
	} else {
		compare(w, f, rep);
	}
	return judge_group(env, w, f, rep, err);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct finding f = {0};
	struct wish w;
	int rc;

	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = look(env, &w, &f, err);
	if (rc == 0)
		rc = check_finding(env, &w, &f, rep, err);
	buf_done(&f.missing);
	return rc;
}

/* The arguments of one program; numbers and lists are kept as long as they are. */
struct argv vec(const char *);

static void add(struct argv *argv, const char *option, const char *value)
{
	*vec_push(argv) = option;
	if (value)
		*vec_push(argv) = value;
}

static int run(const struct step_env *env, struct argv *argv, const char *name, struct err *err)
{
	int rc;

	add(argv, "--", name);
	*vec_push(argv) = NULL;
	rc = tool_must(env, argv->at, err);
	vec_done(argv);
	return rc;
}

static int create(
	const struct step_env *env, const struct wish *w, const struct finding *f, struct err *err)
{
	struct argv argv = VEC_INIT;
	char uid[16];

	*vec_push(&argv) = "useradd";
	if (w->uid) {
		snprintf(uid, sizeof uid, "%lld", (long long)json_integer_value(w->uid));
		add(&argv, "-u", uid);
	}
	/* useradd makes a group of the user's name, and gives up when there is one. */
	if (w->group || f->namesake)
		add(&argv, "-g", w->group ? w->group : w->name);
	if (f->missing.n > 0)
		add(&argv, "-G", buf_text(&f->missing));
	if (w->home)
		add(&argv, "-d", w->home);
	if (w->shell)
		add(&argv, "-s", w->shell);
	if (w->about)
		add(&argv, "-c", w->about);
	if (w->system)
		add(&argv, "-r", NULL);
	/* Decided here, not by CREATE_HOME of login.defs; a home that is there is left alone. */
	add(&argv, f->make_home ? "-m" : "-M", NULL);
	if (f->make_home) /* closed from the first moment, whatever login.defs says */
		add(&argv, "-K", "HOME_MODE=0700");
	return run(env, &argv, w->name, err);
}

static int modify(
	const struct step_env *env, const struct wish *w, const struct finding *f, struct err *err)
{
	struct argv argv = VEC_INIT;
	char uid[16];

	*vec_push(&argv) = "usermod";
	if (f->uid) {
		snprintf(uid, sizeof uid, "%lld", (long long)json_integer_value(w->uid));
		add(&argv, "-u", uid);
	}
	if (f->group)
		add(&argv, "-g", w->group);
	if (f->missing.n > 0) {
		add(&argv, "-a", NULL);
		add(&argv, "-G", buf_text(&f->missing));
	}
	if (f->home)
		add(&argv, "-d", w->home);
	if (f->shell)
		add(&argv, "-s", w->shell);
	if (f->about)
		add(&argv, "-c", w->about);
	if (argv.n == 1) {
		vec_done(&argv);
		return 0;
	}
	return run(env, &argv, w->name, err);
}

/* usermod makes no home, so it is made here: empty, the user's, 0700. */
static int make_home(const struct step_env *env, const struct wish *w, struct err *err)
{
	struct ident_user u;
	char home[PATH_MAX];
	struct str passwd;
	int rc;

	rc = cache_get(env, CACHE_PASSWD, &passwd, err);
	if (rc < 0)
		return rc;
	if (!ident_user_find(passwd, w->name, &u))
		return err_set(err, E_STATE, "user '%s' is gone again", w->name);
	snprintf(home, sizeof home, STR_FMT, STR_ARG(u.home));
	rc = fs_mkdirs(env->root, home, 0755, err);
	if (rc < 0)
		return rc;
	AUTO_FD fd = fs_open(env->root, home, O_RDONLY | O_DIRECTORY, 0, false, err);
	if (fd < 0)
		return fd;
	if (fchmod(fd, 0700) < 0 || fchown(fd, u.uid, u.gid) < 0)
		return err_sys(err, errno, "cannot give '%s' to user '%s'", home, w->name);
	return 0;
}

static int remove_user(const struct step_env *env, const char *name, struct err *err)
{
	struct argv argv = VEC_INIT;

	*vec_push(&argv) = "userdel";
	return run(env, &argv, name, err);
}

static int change(struct step_env *env, const struct wish *w, const struct finding *f,
	struct step_report *rep, struct err *err)
{
	int rc;

	if (w->absent) {
		rc = f->exists ? remove_user(env, w->name, err) : 0;
		step_cache_forget(env->cache);
		return rc;
	}
	rc = judge_group(env, w, f, rep, err);
	if (rc < 0)
		return rc;
	rc = f->exists ? modify(env, w, f, err) : create(env, w, f, err);
	step_cache_forget(env->cache);
	if (rc == 0 && f->exists && f->make_home)
		rc = make_home(env, w, err);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct finding f = {0};
	struct wish w;
	int rc;

	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = look(env, &w, &f, err);
	if (rc == 0)
		rc = change(env, &w, &f, rep, err);
	buf_done(&f.missing);
	return rc;
}

/* --- undo --- */

/* The further groups a user is in, in the order of /etc/group. */
static json_t *groups_of(struct str groups, const char *user)
{
	json_t *list = json_array();
	struct str line;

	while (str_next(&groups, '\n', &line)) {
		struct ident_group g;
		char name[64];

		snprintf(name, sizeof name, STR_FMT, STR_ARG(str_first(line, str_find(line, ':'))));
		if (ident_group_find(line, name, &g) && ident_is_member(&g, user))
			json_array_append_new(list, json_string(name));
	}
	return list;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct str passwd = {"", 0}, groups = {"", 0};
	struct ident_user u;
	struct wish w;
	int rc = read_wish(args, &w, err);

	if (rc == 0)
		rc = cache_get(env, CACHE_PASSWD, &passwd, err);
	if (rc == 0)
		rc = cache_get(env, CACHE_GROUP, &groups, err);
	if (rc < 0)
		return rc;
	*out = json_object();
	if (!ident_user_find(passwd, w.name, &u)) {
		json_put_bool(*out, "exists", false);
		return 0;
	}
	json_put_bool(*out, "exists", true);
	json_put_int(*out, "uid", u.uid);
	json_put_int(*out, "gid", u.gid);
	json_put_text(*out, "home", u.home);
	json_put_text(*out, "shell", u.shell);
	json_put_text(*out, "about", u.about);
	json_object_set_new(*out, "groups", groups_of(groups, w.name));
	return 0;
}

static void join(const json_t *names, struct buf *out)
{
	const json_t *one;
	size_t i;

	json_array_foreach(names, i, one)
	{
		if (i > 0)
			buf_add_char(out, ',');
		buf_add_text(out, json_string_value(one));
	}
}

/* All fields at once: what was not changed is set to what it is. */
static int set_back(
	const struct step_env *env, const char *name, const json_t *was, struct err *err)
{
	struct argv argv = VEC_INIT;
	char uid[24], gid[24];
	AUTO_BUF groups;

	buf_init(&groups, 8192);
	join(json_get(was, "groups"), &groups);
	snprintf(uid, sizeof uid, "%lld", (long long)json_get_int(was, "uid", 0));
	snprintf(gid, sizeof gid, "%lld", (long long)json_get_int(was, "gid", 0));
	*vec_push(&argv) = "usermod";
	add(&argv, "-u", uid);
	add(&argv, "-g", gid);
	add(&argv, "-G", buf_text(&groups));
	add(&argv, "-d", json_get_str(was, "home", ""));
	add(&argv, "-s", json_get_str(was, "shell", ""));
	add(&argv, "-c", json_get_str(was, "about", ""));
	return run(env, &argv, name, err);
}

static int go_back(const struct step_env *env, const char *name, const json_t *was,
	const json_t *now, struct err *err)
{
	if (!json_get_bool(was, "exists", false))
		return remove_user(env, name, err);
	if (json_get_bool(now, "exists", false))
		return set_back(env, name, was, err);
	err_set(err, E_UNSUPPORTED, "user '%s' was removed and is not made again", name);
	return err_hint(err, "add the user yourself: the password and the mailbox are not kept");
}

static int undo(struct step_env *env, const json_t *args, const json_t *was, const json_t *left,
	struct step_report *rep, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	AUTO_JSON now = NULL;
	int rc = before(env, args, &now, err);

	if (rc < 0 || json_equal(now, was))
		return rc;
	if (left && !json_equal(now, left)) {
		err_set(err, E_CONFLICT, "user '%s' was changed by somebody else since", name);
		return err_hint(err, "look at the account with getent and id, and set it yourself");
	}
	report_differs(rep, "brought back");
	rc = go_back(env, name, was, now, err);
	step_cache_forget(env->cache);
	return rc;
}

const struct step_ops STEP_USER = {
	.kind = "user", .check = check, .apply = apply, .before = before, .undo = undo};
