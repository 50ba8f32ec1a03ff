#include "agent/step/package_undo.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/step/cache.h"
#include "agent/step/report.h"

#include <string.h>
#include <unistd.h>

#define LIST_MAX CACHE_RPM_MAX

/* One line of a list: "name:arch version", " rest" behind it when only the configuration is there.
 */
struct entry {
	struct str name, version; /* name with its arch */
	bool rest;
};

static bool next_entry(struct str *list, struct entry *out)
{
	struct str line;

	while (str_line(list, &line)) {
		if (!str_next(&line, ' ', &out->name) || !str_next(&line, ' ', &out->version))
			continue;
		out->rest = str_is(line, "rest");
		return true;
	}
	return false;
}

/* The line of a package in a list; name with or without its arch. */
static bool find_entry(struct str list, struct str name, struct entry *out)
{
	size_t at = 0, hit;

	while ((hit = str_find_str(str_from(list, at), name)) != STR_NONE) {
		const size_t start = at + hit;
		struct str here = str_from(list, start);

		at = start + 1;
		if ((start > 0 && list.p[start - 1] != '\n') || here.n <= name.n ||
			(here.p[name.n] != ':' && here.p[name.n] != ' '))
			continue;
		return next_entry(&here, out);
	}
	return false;
}

/* Lines of a that are not, as they are, in b: "name version" each, version "-" when b lacks it. */
static void add_changes(struct str before, struct str after, struct buf *out)
{
	struct entry old, new;
	struct str rest = after;

	while (next_entry(&rest, &new))
		if (!find_entry(before, new.name, &old) || !str_eq(old.version, new.version) ||
			old.rest != new.rest)
			buf_addf(out, STR_FMT " " STR_FMT "\n", STR_ARG(new.name),
				STR_ARG(new.rest ? STR_LIT("-") : new.version));
	rest = before;
	while (next_entry(&rest, &old))
		if (!find_entry(after, old.name, &new))
			buf_addf(out, STR_FMT " -\n", STR_ARG(old.name));
}

int package_undo_watch(struct step_env *env, const struct packager *p, struct transaction *t,
	struct step_report *rep, struct err *err)
{
	struct buf *changed = cache_packages_changed(env);
	AUTO_BUF was, is;
	int rc, listed;

	buf_init(&was, LIST_MAX);
	buf_init(&is, LIST_MAX);
	buf_clear(changed);
	rc = p->list(env, &was, err);
	if (rc < 0)
		return rc;
	rc = transaction_run(env, p, t, rep, err);
	listed = p->list(env, &is, NULL);
	if (listed == 0)
		add_changes(buf_str(&was), buf_str(&is), changed);
	return rc;
}

/* --- before --- */

static int keep_list(const struct step_env *env, struct str list, json_t *into, struct err *err)
{
	char hex[HASH_HEX];
	struct stat st;
	json_t *o = json_object();

	hash_hex(list, hex);
	json_put_str(o, "sha256", hex);
	json_object_set_new(into, "list", o);
	if (env->keep < 0 || fs_stat(env->keep, hex, false, &st, NULL) == 0)
		return 0;
	return fs_replace(env->keep, hex, list, 0600, geteuid(), getegid(), err);
}

static int put_holds(const struct step_env *env, const struct packager *p, const json_t *names,
	json_t *into, struct err *err)
{
	json_t *held = json_object();
	struct holds ours = VEC_INIT;
	const json_t *name;
	size_t i;
	int rc = holds_load(env, &ours, err);

	json_array_foreach(names, i, name)
	{
		struct dpkg_spec spec;
		struct package_state s;

		if (rc < 0 || !json_is_string(name) ||
			!p->parse(str_of(json_string_value(name)), &spec) ||
			p->find(env, &spec, &s, NULL) < 0)
			continue;
		json_object_setn_new(held, spec.name.p, spec.name.n,
			json_string(!s.held                       ? "no"
				    : holds_has(&ours, spec.name) ? "ours"
								  : "theirs"));
	}
	json_object_set_new(into, "holds", held);
	holds_done(&ours);
	return rc;
}

static void put_changed(const struct step_env *env, json_t *into)
{
	struct str rest = buf_str(cache_packages_changed(env)), line, name;
	json_t *changed = json_object();

	while (str_line(&rest, &line))
		if (str_next(&line, ' ', &name))
			json_object_setn_new(changed, name.p, name.n, json_stringn(line.p, line.n));
	json_object_set_new(into, "changed", changed);
}

int package_before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	const struct packager *p = packager_find(env, err);
	json_t *into;
	AUTO_BUF list;
	int rc;

	buf_init(&list, LIST_MAX);
	if (!p)
		return -E_UNSUPPORTED;
	rc = p->list(env, &list, err);
	if (rc < 0)
		return rc;
	into = json_object();
	rc = keep_list(env, buf_str(&list), into, err);
	if (rc == 0)
		rc = put_holds(env, p, json_get(args, "names"), into, err);
	if (rc == 0 && env->keep < 0)
		put_changed(env, into);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

/* --- undo --- */

struct back {
	struct step_env *env;
	const struct packager *p;
	struct transaction t;
	struct str was, is; /* the lists */
	struct step_report *rep;
};

static int read_list(
	const struct step_env *env, const json_t *before, struct buf *out, struct err *err)
{
	const char *hash = json_get_str(json_get(before, "list"), "sha256", NULL);

	if (hash && env->keep >= 0 && fs_read(env->keep, hash, out, NULL) == 0)
		return 0;
	err_set(err, E_NOTFOUND, "the earlier list of packages is not on the node any more");
	return err_hint(err, "see /var/log/apt/history.log or 'dnf history' for what was changed");
}

/* What brings one package back, if it is not as it was. changed: as the transaction left it. */
static int add_back(struct back *b, struct str name, const char *left, struct err *err)
{
	struct package_item item = {.hold = HOLD_AS_IS};
	struct entry was, is;
	const bool had = find_entry(b->was, name, &was) && !was.rest;
	const bool known = find_entry(b->is, name, &is);
	const bool has = known && !is.rest;
	const char *text;

	if (had ? has && str_eq(was.version, is.version)
		: !has && (!known || find_entry(b->was, name, &was)))
		return 0;
	if (left && has && strcmp(left, "-") != 0 && !str_is(is.version, left)) {
		err_set(err, E_CONFLICT, "'" STR_FMT "' was changed to " STR_FMT " since",
			STR_ARG(name), STR_ARG(is.version));
		return err_hint(err, "somebody else takes care of it: it is left as it is");
	}
	text = had ? arena_printf(b->t.arena, STR_FMT "=" STR_FMT, STR_ARG(was.name),
			     STR_ARG(was.version))
		   : arena_text(b->t.arena, known ? is.name : name);
	if (!b->p->parse(str_of(text), &item.spec))
		return err_set(err, E_INTERNAL, "'%.80s' is not the name of a package", text);
	item.text = text;
	item.wish = had ? PACKAGE_PRESENT : PACKAGE_ABSENT;
	item.purge = !had;
	*vec_push(&b->t.items) = item;
	report_differs(b->rep, "packages brought back");
	report_addf(b->rep, "%s %s\n", had ? "install" : "remove", text);
	return 0;
}

/* Whether something was left half-way. */
static int is_broken(const struct back *b, bool *yes, struct err *err)
{
	struct names broken = VEC_INIT;
	const int rc = b->p->broken(b->env, b->t.arena, &broken, err);

	*yes = broken.n > 0;
	vec_done(&broken);
	return rc;
}

/* Everything that is another than in the earlier list. */
static int add_difference(struct back *b, struct err *err)
{
	struct str rest = b->is;
	struct entry e, old;
	int rc = 0;

	while (rc == 0 && next_entry(&rest, &e))
		rc = add_back(b, e.name, NULL, err);
	rest = b->was;
	while (rc == 0 && next_entry(&rest, &old))
		if (!find_entry(b->is, old.name, &e))
			rc = add_back(b, old.name, NULL, err);
	return rc;
}

static int add_all(struct back *b, const json_t *args, const json_t *after, struct err *err)
{
	bool broken;
	const json_t *names = json_get(args, "names"), *name;
	json_t *changed = json_get(after, "changed");
	struct dpkg_spec spec;
	const char *key;
	json_t *left;
	size_t i;
	int rc = 0;

	json_object_foreach(changed, key, left)
	{
		if (rc == 0)
			rc = add_back(b, str_of(key), json_string_value(left), err);
	}
	if (rc < 0 || json_object_size(changed) > 0)
		return rc;
	/* An interrupted run could not tell what it changed: what was named is taken back; but what
	   a failed change left half-way goes only as a whole. */
	rc = is_broken(b, &broken, err);
	if (rc < 0 || broken)
		return rc < 0 ? rc : add_difference(b, err);
	json_array_foreach(names, i, name) if (rc == 0 && json_is_string(name) &&
					       b->p->parse(str_of(json_string_value(name)), &spec))
		rc = add_back(b, spec.name, NULL, err);
	return rc;
}

static bool hold_differs(const struct back *b, struct str name, const char *was, bool *held)
{
	const struct dpkg_spec spec = {.name = name};
	struct package_state s;

	if (b->p->find(b->env, &spec, &s, NULL) < 0)
		return false;
	*held = strcmp(was, "no") != 0;
	return s.installed && s.held != *held;
}

/* Holds are as they were, and known as whose they were. */
static int restore_holds(struct back *b, const json_t *before, struct err *err)
{
	struct names on = VEC_INIT, off = VEC_INIT;
	json_t *holds = json_get(before, "holds");
	struct holds ours = VEC_INIT;
	const char *name;
	json_t *was;
	int rc;

	step_cache_forget(b->env->cache);
	rc = holds_load(b->env, &ours, err);
	json_object_foreach(holds, name, was)
	{
		const char *text = json_string_value(was);
		bool held = false;

		if (!text)
			continue;
		if (hold_differs(b, str_of(name), text, &held))
			*(held ? vec_push(&on) : vec_push(&off)) = name;
		if (strcmp(text, "ours") == 0)
			holds_set(&ours, str_of(name), false);
	}
	if (on.n + off.n > 0)
		report_differs(b->rep, "holds brought back");
	/* noted ahead of the hold, forgotten behind it */
	if (rc == 0 && on.n > 0)
		rc = holds_save(b->env, &ours, err);
	if (rc == 0 && on.n > 0)
		rc = b->p->set_holds(b->env, &on, true, err);
	if (rc == 0 && off.n > 0)
		rc = b->p->set_holds(b->env, &off, false, err);
	json_object_foreach(holds, name, was)
	{
		if (json_is_string(was) && strcmp(json_string_value(was), "ours") != 0)
			holds_drop(&ours, str_of(name));
	}
	if (rc == 0)
		rc = holds_save(b->env, &ours, err);
	vec_done(&on);
	vec_done(&off);
	holds_done(&ours);
	return rc;
}

int package_undo(struct step_env *env, const json_t *args, const json_t *before,
	const json_t *after, struct step_report *rep, struct err *err)
{
	struct back b = {.env = env, .p = packager_find(env, err), .rep = rep};
	AUTO_BUF was, is;
	int rc;

	buf_init(&was, LIST_MAX);
	buf_init(&is, LIST_MAX);
	if (!b.p)
		return -E_UNSUPPORTED;
	rc = read_list(env, before, &was, err);
	if (rc == 0)
		rc = b.p->list(env, &is, err);
	if (rc < 0)
		return rc;
	b.was = buf_str(&was);
	b.is = buf_str(&is);
	transaction_init(&b.t);
	b.t.downgrade = true;
	b.t.mends = true;
	b.t.wait = json_get_int(args, "wait", 120);
	b.t.override_holds = json_get_bool(args, "override_holds", false);
	rc = add_all(&b, args, after, err);
	if (rc == 0 && b.t.items.n > 0)
		rc = transaction_run(env, b.p, &b.t, rep, err);
	if (rc == 0)
		rc = restore_holds(&b, before, err);
	transaction_done(&b.t);
	return rc;
}
