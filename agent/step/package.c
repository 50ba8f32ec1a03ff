/*
 * package - packages of the distribution, through apt or dnf (packager.h).
 *
 * present and absent are read from the package database. latest depends on
 * pins and lists, so it asks for a simulation (0.5 s); everything else starts
 * no program in a check.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/cache.h"
#include "agent/step/kinds.h"
#include "agent/step/package_undo.h"
#include "agent/step/packager.h"
#include "agent/step/report.h"

#include <stdio.h>
#include <string.h>

#define NAMES_MAX    2000
#define WAIT_DEFAULT 120

/* What one step asks for. */
struct wishes {
	enum package_wish state;
	enum package_hold hold;
	bool downgrade, override_holds, purge, repair;
	const json_t *names, *allow_remove;
	int64_t wait;
};

static int read_wishes(const json_t *args, struct wishes *w, struct err *err)
{
	const char *state = json_get_str(args, "state", "present");
	const json_t *hold = json_get(args, "hold");

	w->state = PACKAGE_PRESENT;
	if (strcmp(state, "absent") == 0)
		w->state = PACKAGE_ABSENT;
	else if (strcmp(state, "latest") == 0)
		w->state = PACKAGE_LATEST;
	w->hold = !hold || json_is_null(hold) ? HOLD_AS_IS
					      : (json_is_true(hold) ? HOLD_ON : HOLD_OFF);
	w->downgrade = json_get_bool(args, "downgrade", false);
	w->override_holds = json_get_bool(args, "override_holds", false);
	w->purge = json_get_bool(args, "purge", false);
	w->repair = json_get_bool(args, "repair", false);
	w->names = json_get(args, "names");
	w->allow_remove = json_get(args, "allow_remove");
	w->wait = json_get_int(args, "wait", WAIT_DEFAULT);
	if (json_array_size(w->names) > NAMES_MAX)
		return err_set(err, E_LIMIT, "more than %d packages in one step", NAMES_MAX);
	if (w->state == PACKAGE_ABSENT && w->hold == HOLD_ON) {
		err_set(err, E_CONFLICT, "a package cannot be both absent and held");
		return err_hint(err, "take 'hold' out, or keep the package");
	}
	return 0;
}

static int parse_name(const struct packager *p, const char *text, const struct wishes *w,
	struct dpkg_spec *spec, struct err *err)
{
	if (!text || !p->parse(str_of(text), spec)) {
		err_set(err, E_SCHEMA, "'%.80s' is not the name of a package", text ? text : "");
		return err_hint(err, "expected 'name', 'name:arch' or 'name=version'");
	}
	if (spec->version.n == 0 || w->state == PACKAGE_PRESENT)
		return 0;
	err_set(err, E_SCHEMA, "'%.80s' has a version, but state is not 'present'", text);
	return err_hint(err, "leave '=" STR_FMT "' out", STR_ARG(spec->version));
}

/* --- check --- */

/* One package against its wish. */
struct verdict {
	bool installs, removes;
};

static int deny_held(struct str name, struct step_report *rep, struct err *err)
{
	rep->denied = true;
	err_set(err, E_DENIED, "held by administrator: " STR_FMT, STR_ARG(name));
	return err_hint(err, "release the hold on the node, or say 'override_holds: true' in the "
			     "step");
}

static int deny_older(const struct dpkg_spec *spec, struct str have, struct err *err)
{
	err_set(err, E_CONFLICT,
		"'" STR_FMT "' is installed as " STR_FMT ", " STR_FMT " would be a step back",
		STR_ARG(spec->name), STR_ARG(have), STR_ARG(spec->version));
	return err_hint(err, "say 'downgrade: true' if that is meant");
}

/* A present package: what has to be done, as a line for the diff. */
static struct verdict judge_present(const struct packager *p, const struct dpkg_spec *spec,
	const struct package_state *s, struct buf *line)
{
	const struct str name = spec->name;

	if (s->broken) {
		buf_addf(line, "repair " STR_FMT " (is " STR_FMT ")\n", STR_ARG(name),
			STR_ARG(s->detail));
		return (struct verdict){.installs = true};
	}
	if (!s->installed) {
		buf_addf(line, "install " STR_FMT "%s" STR_FMT "\n", STR_ARG(name),
			spec->version.n ? " " : "", STR_ARG(spec->version));
		return (struct verdict){.installs = true};
	}
	if (spec->version.n == 0 || p->fits(s->version, spec->version))
		return (struct verdict){.installs = false};
	buf_addf(line, "change " STR_FMT " " STR_FMT " -> " STR_FMT "\n", STR_ARG(name),
		STR_ARG(s->version), STR_ARG(spec->version));
	return (struct verdict){.installs = true};
}

static struct verdict judge_absent(
	const struct dpkg_spec *spec, const struct package_state *s, bool purge, struct buf *line)
{
	if (s->broken)
		buf_addf(line, "remove " STR_FMT " (is " STR_FMT ")\n", STR_ARG(spec->name),
			STR_ARG(s->detail));
	else if (s->installed)
		buf_addf(line, "%s " STR_FMT " " STR_FMT "\n", purge ? "purge" : "remove",
			STR_ARG(spec->name), STR_ARG(s->version));
	else if (s->rest && purge)
		buf_addf(line, "purge the configuration of " STR_FMT "\n", STR_ARG(spec->name));
	else
		return (struct verdict){.removes = false};
	return (struct verdict){.removes = true};
}

static bool judge_hold(const struct wishes *w, const struct dpkg_spec *spec,
	const struct package_state *s, bool mine, struct buf *line)
{
	if (w->hold == HOLD_ON && !s->held) {
		buf_addf(line, "hold " STR_FMT "\n", STR_ARG(spec->name));
		return true;
	}
	if (w->hold == HOLD_OFF && s->held && (mine || w->override_holds)) {
		buf_addf(line, "release the hold of " STR_FMT "\n", STR_ARG(spec->name));
		return true;
	}
	return false;
}

/* One step being looked at. */
struct look {
	struct step_env *env;
	const struct packager *p;
	struct wishes w;
	struct holds ours;
	unsigned n, held; /* packages to change, and holds */
	struct buf lines;
	struct step_report *rep;
};

static int judge(struct look *l, const struct dpkg_spec *spec, struct err *err)
{
	const bool mine = holds_has(&l->ours, spec->name);
	struct package_state s;
	struct verdict v;
	int rc = l->p->find(l->env, spec, &s, err);

	if (rc < 0)
		return rc;
	if (l->w.state == PACKAGE_ABSENT)
		v = judge_absent(spec, &s, l->w.purge, &l->lines);
	else
		v = judge_present(l->p, spec, &s, &l->lines);
	if ((v.installs || v.removes) && s.held && !l->w.override_holds && !mine)
		return deny_held(spec->name, l->rep, err);
	if (v.installs && s.installed && spec->version.n > 0 && !l->w.downgrade &&
		l->p->compare(spec->version, s.version) < 0)
		return deny_older(spec, s.version, err);
	l->n += v.installs || v.removes;
	l->held += judge_hold(&l->w, spec, &s, mine, &l->lines);
	return 0;
}

/* Installed packages that would be upgraded, one line each. */
static int check_latest(struct step_env *env, const struct packager *p, const json_t *names,
	struct step_report *rep, struct err *err)
{
	AUTO_BUF lines;
	struct str rest, line;
	int rc;

	buf_init(&lines, REPORT_DIFF_MAX);
	if (!p->has_lists(env)) {
		if (env->dry)
			report_unknown(
				rep, "there are no package lists yet to know the latest from");
		else
			report_differs(rep, "package lists have to be fetched");
		return 0;
	}
	rc = p->latest(env, names, &lines, err);
	if (rc < 0)
		return rc;
	rest = buf_str(&lines);
	while (str_line(&rest, &line)) {
		report_differs(rep, "newer versions are there");
		report_addf(rep, "upgrade " STR_FMT "\n", STR_ARG(line));
	}
	return 0;
}

static void count(struct step_report *rep, enum package_wish wish, unsigned n, unsigned held)
{
	if (n > 0)
		report_differs(rep, "%u package%s to %s", n, n == 1 ? "" : "s",
			wish == PACKAGE_ABSENT ? "remove" : "install");
	else
		report_differs(rep, "the hold of %u package%s differs", held, held == 1 ? "" : "s");
}

static int check_names(struct look *l, struct err *err)
{
	const json_t *name;
	size_t i;

	json_array_foreach(l->w.names, i, name)
	{
		struct dpkg_spec spec;
		int rc = parse_name(l->p, json_string_value(name), &l->w, &spec, err);

		if (rc == 0)
			rc = judge(l, &spec, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The database as a whole: looked at when something is to be changed, or was being changed. */
static int check_database(const struct look *l, struct err *err)
{
	struct step_report quiet;
	struct stat st;
	const bool marked = fs_stat(l->env->root, PACKAGES_MARK, false, &st, NULL) == 0;
	bool ours = false;
	int rc;

	if (l->n == 0 && !l->w.repair && !marked)
		return 0;
	step_report_init(&quiet);
	rc = transaction_check_sound(l->env, l->p, &ours, l->w.repair ? &quiet : l->rep, err);
	if (l->w.repair && rc == -E_STATE) {
		report_differs(l->rep, "the package database has to be repaired");
		report_add(l->rep, buf_str(&quiet.diff));
		rc = 0;
	} else if (rc == 0 && marked) {
		report_differs(l->rep, "an interrupted transaction has to be finished");
		report_addf(l->rep, "see that what '" PACKAGES_MARK "' names is whole\n");
	}
	step_report_done(&quiet);
	return rc;
}

static bool any_lifted(const struct holds *h)
{
	vec_each(h, struct hold, one)
		if (one->lifted)
			return true;
	return false;
}

static int look(struct look *l, struct err *err)
{
	int rc = check_names(l, err);

	if (rc == 0)
		rc = check_database(l, err);
	if (rc < 0)
		return rc;
	if (any_lifted(&l->ours)) {
		report_differs(l->rep, "holds that were lifted have to be put back");
		report_addf(l->rep, "hold again what '" HOLDS_PATH "' names\n");
	}
	if (l->n + l->held > 0) {
		count(l->rep, l->w.state, l->n, l->held);
		report_add(l->rep, buf_str(&l->lines));
		return 0;
	}
	if (l->w.state != PACKAGE_LATEST || l->rep->state != STEP_SAME)
		return 0;
	return check_latest(l->env, l->p, l->w.names, l->rep, err);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct look l = {.env = env, .p = packager_find(env, err), .rep = rep};
	int rc;

	if (!l.p)
		return -E_UNSUPPORTED;
	buf_init(&l.lines, REPORT_DIFF_MAX);
	rc = read_wishes(args, &l.w, err);
	if (rc == 0)
		rc = holds_load(env, &l.ours, err);
	if (rc == 0)
		rc = look(&l, err);
	holds_done(&l.ours);
	buf_done(&l.lines);
	return rc;
}

/* --- apply --- */

/* One package twice, wanted and unwanted: the last word would win. */
static int find_conflict(
	const struct transaction *t, const struct package_item *item, struct err *err)
{
	vec_each(&t->items, struct package_item, i) {
		if (!str_eq(i->spec.name, item->spec.name) ||
			!str_eq(i->spec.arch, item->spec.arch) || i->wish == PACKAGE_AS_IS ||
			item->wish == PACKAGE_AS_IS)
			continue;
		if ((i->wish == PACKAGE_ABSENT) == (item->wish == PACKAGE_ABSENT))
			continue;
		return err_set(err, E_CONFLICT,
			"package '" STR_FMT "' is wanted present by one step and absent by another",
			STR_ARG(item->spec.name));
	}
	return 0;
}

static int add_name(const struct step_env *env, const struct packager *p, struct transaction *t,
	const struct wishes *w, const char *text, struct err *err)
{
	struct package_item item = {.text = text,
		.wish = w->state,
		.hold = w->hold,
		.purge = w->purge && w->state == PACKAGE_ABSENT};
	struct package_state s;
	AUTO_BUF line;
	struct verdict v;
	int rc = parse_name(p, text, w, &item.spec, err);

	buf_init(&line, 1024);
	if (rc == 0)
		rc = p->find(env, &item.spec, &s, err);
	if (rc < 0)
		return rc;
	v = w->state == PACKAGE_ABSENT ? judge_absent(&item.spec, &s, w->purge, &line)
				       : judge_present(p, &item.spec, &s, &line);
	if (w->state != PACKAGE_LATEST && !v.installs && !v.removes)
		item.wish = PACKAGE_AS_IS;
	if (item.wish == PACKAGE_AS_IS && s.held == (item.hold == HOLD_ON))
		item.hold = HOLD_AS_IS;
	if (item.wish == PACKAGE_AS_IS && item.hold == HOLD_AS_IS)
		return 0;
	rc = find_conflict(t, &item, err);
	if (rc < 0)
		return rc;
	*vec_push(&t->items) = item;
	if (t->items.n > NAMES_MAX)
		return err_set(err, E_LIMIT, "more than %d packages to change at once", NAMES_MAX);
	return 0;
}

static int add_step(const struct step_env *env, const struct packager *p, struct transaction *t,
	const json_t *args, bool *repair, struct err *err)
{
	const json_t *name;
	struct wishes w;
	size_t i;
	int rc = read_wishes(args, &w, err);

	if (rc < 0)
		return rc;
	*repair |= w.repair;
	t->downgrade |= w.downgrade;
	t->override_holds |= w.override_holds;
	if (w.wait > t->wait)
		t->wait = w.wait;
	json_array_foreach(w.allow_remove, i, name) if (json_is_string(name)) *
		vec_push(&t->allow_remove) = json_string_value(name);
	json_array_foreach(w.names, i, name)
	{
		rc = add_name(
			env, p, t, &w, json_is_string(name) ? json_string_value(name) : "", err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int repair_first(const struct step_env *env, const struct packager *p, int64_t wait,
	struct step_report *rep, struct err *err)
{
	bool ours;
	int rc = p->ready(env, wait, err);

	if (rc < 0)
		return rc;
	rc = transaction_check_sound(env, p, &ours, rep, err);
	if (rc != -E_STATE && !ours)
		return rc;
	rc = p->repair(env, NULL, true, err);
	step_cache_forget(env->cache);
	return rc;
}

/* Nothing to change, nothing left half-way: then nothing is started. */
static bool is_idle(const struct step_env *env, const struct transaction *t)
{
	struct holds ours = VEC_INIT;
	struct stat st;
	bool idle = t->items.n == 0 && fs_stat(env->root, PACKAGES_MARK, false, &st, NULL) < 0;

	if (idle)
		idle = holds_load(env, &ours, NULL) == 0 && !any_lifted(&ours);
	holds_done(&ours);
	return idle;
}

static int gather(const struct step_env *env, const struct packager *p, struct transaction *t,
	const json_t *const *args, unsigned n, bool *repair, struct err *err)
{
	int rc = 0;

	vec_done(&t->items);
	vec_done(&t->allow_remove);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = add_step(env, p, t, args[i], repair, err);
	return rc;
}

static int apply_all(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	const struct packager *p = packager_find(env, err);
	struct transaction t;
	bool repair = false;
	int rc;

	if (!p)
		return -E_UNSUPPORTED;
	transaction_init(&t);
	rc = gather(env, p, &t, args, n, &repair, err);
	if (rc == 0 && repair) {
		rc = repair_first(env, p, t.wait, rep, err);
		/* which may already have brought what is wanted */
		if (rc == 0)
			rc = gather(env, p, &t, args, n, &repair, err);
	}
	if (rc == 0 && !is_idle(env, &t))
		rc = package_undo_watch(env, p, &t, rep, err);
	transaction_done(&t);
	return rc;
}

static int stage(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	const struct packager *p = packager_find(env, err);
	struct transaction t;
	bool repair = false;
	unsigned here = 0;
	int rc;

	if (!p)
		return -E_UNSUPPORTED;
	transaction_init(&t);
	rc = gather(env, p, &t, args, n, &repair, err);
	if (rc == 0 && repair && t.items.n > 0)
		rc = err_set(err, E_STATE,
			"what a repair will leave cannot be told, so nothing can be fetched ahead");
	if (rc == 0 && t.items.n > 0)
		rc = transaction_stage(env, p, &t, &here, rep, err);
	if (rc == 0)
		snprintf(rep->why, sizeof rep->why, "%u package%s fetched", here,
			here == 1 ? "" : "s");
	transaction_done(&t);
	return rc;
}

const struct step_ops STEP_PACKAGE = {
	.kind = "package",
	.check = check,
	.apply_all = apply_all,
	.stage = stage,
	.before = package_before,
	.undo = package_undo,
};
