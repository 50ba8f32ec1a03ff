/* transaction - simulate, judge, lift our holds, change, put them back. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/packager.h"
#include "agent/step/report.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#define MARK_MAX  (1u << 20)
#define NAMED_MAX 240 /* bytes of names in a message */

const struct packager *packager_find(const struct step_env *env, struct err *err)
{
	static const struct packager *const ALL[] = {&PACKAGER_APT, &PACKAGER_DNF};

	for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
		if (ALL[i]->is_here(env))
			return ALL[i];
	err_set(err, E_UNSUPPORTED,
		"this node has neither a dpkg nor an rpm database that 'package' steps can use");
	err_hint(err, "guard the recipe with \"when: facts.os.packages in ['apt', 'dnf']\"");
	return NULL;
}

int packager_need_space(
	const struct step_env *env, const char *path, uint64_t need, struct err *err)
{
	uint64_t bytes, inodes;
	struct stat st;
	int rc;

	rc = fs_free_space(env->root, fs_stat(env->root, path, true, &st, NULL) == 0 ? path : "/",
		&bytes, &inodes, err);
	if (rc < 0)
		return rc;
	if (bytes >= need && inodes > 0)
		return 0;
	err_set(err, E_NOSPACE,
		"only %" PRIu64 " MiB and %" PRIu64 " inodes are free under '%s', %" PRIu64
		" MiB are needed",
		bytes >> 20, inodes, path, need >> 20);
	if (strcmp(path, "/boot") == 0)
		return err_hint(err,
			"remove kernels that are not used, see 'dpkg -l linux-image*' or 'rpm -q kernel'");
	return err_hint(err, "nothing was changed; free some space there, "
			     "such as by 'apt-get clean' or 'dnf clean packages'");
}

void transaction_init(struct transaction *t)
{
	memset(t, 0, sizeof *t);
	t->arena = arena_new();
}

void transaction_done(struct transaction *t)
{
	vec_done(&t->items);
	vec_done(&t->allow_remove);
	arena_free(t->arena);
	t->arena = NULL;
}

struct str package_base_name(const char *name)
{
	const struct str s = str_of(name);

	return str_first(s, str_find(s, ':'));
}

bool names_match(const struct names *patterns, const char *name)
{
	vec_each(patterns, const char *, p)
		if (fnmatch(*p, name, 0) == 0)
			return true;
	return false;
}

static void list_names(const struct names *names, struct buf *out)
{
	size_t shown = 0;

	vec_each(names, const char *, n) {
		if (out->n + strlen(*n) > NAMED_MAX - 20) {
			buf_addf(out, " and %zu more", names->n - shown);
			return;
		}
		buf_addf(out, "%s%s", shown++ ? ", " : "", *n);
	}
}

/* --- the mark of our own transaction --- */

static int mark(const struct step_env *env, const struct plan *plan, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, MARK_MAX);
	vec_each(plan, struct planned, p)
		buf_addf(&text, "%s\n", p->name);
	rc = fs_mkdirs(env->root, "/var/lib/stoika-agent", 0755, err);
	return rc < 0 ? rc : fs_replace(env->root, PACKAGES_MARK, buf_str(&text), 0644, 0, 0, err);
}

static int read_mark(const struct step_env *env, struct arena *a, struct names *out)
{
	struct str rest, line;
	AUTO_BUF text;
	int rc;

	buf_init(&text, MARK_MAX);
	rc = fs_read(env->root, PACKAGES_MARK, &text, NULL);
	if (rc < 0)
		return rc;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		*vec_push(out) = arena_text(a, line);
	return 0;
}

/* "name:arch (state)" against "name" or "name:arch". */
static bool is_marked(const struct names *marked, const char *broken)
{
	const struct str base = package_base_name(broken);
	const struct str name = str_first(base, str_find(base, ' '));

	vec_each(marked, const char *, m)
		if (str_eq(package_base_name(*m), name))
			return true;
	return false;
}

static int database_broken(const struct step_env *env, const struct packager *p,
	const struct names *broken, struct step_report *rep, struct err *err)
{
	AUTO_BUF text;

	buf_init(&text, NAMED_MAX);
	list_names(broken, &text);
	report_addf(rep, "package database broken:\n");
	vec_each(broken, const char *, b)
		report_addf(rep, "  %s\n", *b);
	p->tell(env, broken, rep);
	err_set(err, E_STATE, "package database broken: %s", buf_text(&text));
	return err_hint(err,
		"look at the cause first (dpkg --audit); a step 'package: {repair: true}' then "
		"finishes what was left half-way");
}

int transaction_check_sound(const struct step_env *env, const struct packager *p, bool *ours,
	struct step_report *rep, struct err *err)
{
	struct names broken = VEC_INIT, marked = VEC_INIT;
	struct arena *a = arena_new();
	int rc = p->broken(env, a, &broken, err);

	*ours = rc == 0 && broken.n > 0 && read_mark(env, a, &marked) == 0;
	vec_each(&broken, const char *, b)
		*ours = *ours && is_marked(&marked, *b);
	if (rc == 0 && broken.n > 0 && !*ours)
		rc = database_broken(env, p, &broken, rep, err);
	vec_done(&broken);
	vec_done(&marked);
	arena_free(a);
	return rc;
}

/* A mark that stands for nothing any more goes, lest it excuses what others break later. */
static int clear_mark(const struct step_env *env, const struct packager *p, struct err *err)
{
	struct names broken = VEC_INIT;
	struct arena *a = arena_new();
	int rc = p->broken(env, a, &broken, err);

	if (rc == 0 && broken.n == 0)
		rc = fs_remove(env->root, PACKAGES_MARK, false, err);
	vec_done(&broken);
	arena_free(a);
	return rc;
}

/* --- judging what the simulation says --- */

static const struct package_item *find_item(const struct transaction *t, const char *name)
{
	vec_each(&t->items, struct package_item, i) {
		const struct str base = package_base_name(name);
		const struct str full = str_of(name);

		if (!str_eq(i->spec.name, base))
			continue;
		if (i->spec.arch.n == 0 || full.n == base.n ||
			str_eq(i->spec.arch, str_from(full, base.n + 1)))
			return i;
	}
	return NULL;
}

static bool may_remove(const struct transaction *t, const char *name)
{
	const struct package_item *i = find_item(t, name);

	return (i && i->wish == PACKAGE_ABSENT) || names_match(&t->allow_remove, name);
}

static int judge_removals(const struct transaction *t, const struct plan *plan, struct err *err)
{
	struct names more = VEC_INIT;
	AUTO_BUF text;
	int rc = 0;

	buf_init(&text, NAMED_MAX);
	vec_each(plan, struct planned, p)
		if (!p->to && !may_remove(t, p->name))
			*vec_push(&more) = p->name;
	if (more.n > 0) {
		list_names(&more, &text);
		err_set(err, E_CONFLICT, "this would also remove %s", buf_text(&text));
		rc = err_hint(err, "nothing was changed; if they may go, name them in "
				   "'allow_remove'");
	}
	vec_done(&more);
	return rc;
}

static int judge_versions(const struct packager *p, const struct transaction *t,
	const struct plan *plan, struct err *err)
{
	if (t->downgrade)
		return 0;
	vec_each(plan, struct planned, one) {
		if (!one->from || !one->to || p->compare(str_of(one->to), str_of(one->from)) >= 0)
			continue;
		err_set(err, E_CONFLICT, "this would take '%s' from %s back to %s", one->name,
			one->from, one->to);
		return err_hint(err, "nothing was changed; say 'downgrade: true' if that is meant");
	}
	return 0;
}

static int is_held(
	const struct step_env *env, const struct packager *p, const char *name, struct err *err)
{
	const struct str base = package_base_name(name), full = str_of(name);
	struct dpkg_spec spec = {.name = base};
	struct package_state s = {0};
	int rc;

	if (full.n > base.n)
		spec.arch = str_from(full, base.n + 1);
	rc = p->find(env, &spec, &s, err);
	return rc < 0 ? rc : s.held;
}

static int held_by_others(const struct names *held, struct err *err)
{
	AUTO_BUF text;

	buf_init(&text, NAMED_MAX);
	list_names(held, &text);
	err_set(err, E_DENIED, "held by administrator: %s", buf_text(&text));
	return err_hint(err, "nothing was changed; release the hold on the node, or say "
			     "'override_holds: true' in the step");
}

/* Which holds have to be lifted; the administrator's only when that was said. */
static int judge_holds(const struct step_env *env, const struct packager *p,
	const struct transaction *t, const struct plan *plan, const struct holds *ours,
	struct names *lift, struct err *err)
{
	struct names theirs = VEC_INIT;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < plan->n; i++) {
		const char *name = plan->at[i].name;

		if (!plan->at[i].from)
			continue;
		rc = is_held(env, p, name, err);
		if (rc <= 0)
			continue;
		if (holds_has(ours, str_of(name)) || holds_has(ours, package_base_name(name)) ||
			t->override_holds)
			*vec_push(lift) = name;
		else
			*vec_push(&theirs) = name;
	}
	if (rc >= 0)
		rc = theirs.n > 0 ? held_by_others(&theirs, err) : 0;
	vec_done(&theirs);
	return rc;
}

/* --- what was left half-way --- */

/* Everything half-way is about to get another version: a failed change is taken back. */
static bool mends_all(const struct transaction *t, const struct names *broken)
{
	vec_each(broken, const char *, b) {
		const struct str name = str_first(str_of(*b), str_find(str_of(*b), ' '));

		if (!find_item(t, arena_text(t->arena, name)))
			return false;
	}
	return broken->n > 0;
}

static int can_mend(const struct step_env *env, const struct packager *p,
	const struct transaction *t, bool *yes, struct err *err)
{
	struct names broken = VEC_INIT;
	int rc;

	*yes = false;
	if (!t->mends)
		return 0;
	rc = p->broken(env, t->arena, &broken, err);
	*yes = rc == 0 && mends_all(t, &broken);
	vec_done(&broken);
	return rc;
}

/* Finishes what a transaction of ours left half-way; what others left is refused. */
static int recover(const struct step_env *env, const struct packager *p,
	const struct transaction *t, struct step_report *rep, struct err *err)
{
	struct names marked = VEC_INIT;
	bool ours = false, mended;
	int rc = can_mend(env, p, t, &mended, err);

	if (rc < 0 || mended)
		return rc;
	rc = transaction_check_sound(env, p, &ours, rep, err);
	if (rc == 0 && ours) {
		read_mark(env, t->arena, &marked);
		rc = p->repair(env, &marked, false, err);
		step_cache_forget(env->cache);
	}
	vec_done(&marked);
	return rc < 0 ? rc : clear_mark(env, p, err);
}

/* --- holds around the change --- */

static int lift(const struct step_env *env, const struct packager *p, struct holds *ours,
	const struct names *names, struct err *err)
{
	int rc;

	if (names->n == 0)
		return 0;
	/* Noted first: a hold that is lost by a crash is put back by the next run. */
	vec_each(names, const char *, n)
		holds_set(ours, str_of(*n), true);
	rc = holds_save(env, ours, err);
	if (rc == 0)
		rc = p->set_holds(env, names, false, err);
	step_cache_forget(env->cache);
	return rc;
}

static bool was_ours(const struct names *before, const char *name)
{
	vec_each(before, const char *, n)
		if (strcmp(*n, name) == 0)
			return true;
	return false;
}

/* What was lifted is held again if it is still there; before: our holds as they were. */
static int put_back(const struct step_env *env, const struct packager *p, struct transaction *t,
	struct holds *ours, const struct names *before, struct err *err)
{
	struct names again = VEC_INIT, gone = VEC_INIT;
	int rc = 0;

	vec_each(ours, struct hold, h) {
		struct package_state s = {0};
		struct dpkg_spec spec = {.name = package_base_name(h->name)};
		const char *name = arena_strdup(t->arena, h->name);

		if (!h->lifted && was_ours(before, name))
			continue;
		if (rc == 0)
			rc = p->find(env, &spec, &s, err);
		*(s.installed ? vec_push(&again) : vec_push(&gone)) = name;
	}
	if (rc == 0 && again.n > 0)
		rc = p->set_holds(env, &again, true, err);
	if (rc == 0) {
		vec_each(&gone, const char *, n)
			holds_drop(ours, str_of(*n));
		vec_each(&again, const char *, n) {
			if (was_ours(before, *n))
				holds_set(ours, str_of(*n), false);
			else
				holds_drop(ours, str_of(*n));
		}
		rc = holds_save(env, ours, err);
	}
	vec_done(&again);
	vec_done(&gone);
	return rc;
}

/* The holds that the items themselves ask for. */
static int set_wanted(const struct step_env *env, const struct packager *p,
	const struct transaction *t, struct holds *ours, struct err *err)
{
	struct names on = VEC_INIT, off = VEC_INIT;
	int rc = 0;

	vec_each(&t->items, struct package_item, i) {
		const char *name = arena_text(t->arena, i->spec.name);
		struct package_state s = {0};

		if (i->hold == HOLD_AS_IS)
			continue;
		rc = rc < 0 ? rc : p->find(env, &i->spec, &s, err);
		if (i->hold == HOLD_ON && s.installed && !s.held)
			*vec_push(&on) = name;
		if (i->hold == HOLD_OFF && (t->override_holds || holds_has(ours, i->spec.name)))
			*vec_push(&off) = name;
	}
	/* Noted ahead of the hold and forgotten behind it: what a crash leaves held is known as
	 * ours. */
	vec_each(&on, const char *, n)
		holds_set(ours, str_of(*n), false);
	if (rc == 0 && on.n > 0)
		rc = holds_save(env, ours, err);
	if (rc == 0 && on.n > 0)
		rc = p->set_holds(env, &on, true, err);
	if (rc == 0 && off.n > 0)
		rc = p->set_holds(env, &off, false, err);
	vec_each(&off, const char *, n)
		holds_drop(ours, str_of(*n));
	if (rc == 0)
		rc = holds_save(env, ours, err);
	vec_done(&on);
	vec_done(&off);
	return rc;
}

/* --- the whole --- */

static bool changes_packages(const struct transaction *t)
{
	vec_each(&t->items, struct package_item, i)
		if (i->wish != PACKAGE_AS_IS)
			return true;
	return false;
}

static int judge(const struct step_env *env, const struct packager *p, struct transaction *t,
	const struct plan *plan, const struct holds *ours, struct names *to_lift, struct err *err)
{
	int rc = judge_holds(env, p, t, plan, ours, to_lift, err);

	if (rc == 0)
		rc = judge_removals(t, plan, err);
	if (rc == 0)
		rc = judge_versions(p, t, plan, err);
	return rc < 0 ? rc : p->space(env, plan, err);
}

/* After these the packages may be half-way, and the next run shall finish them by itself. */
static bool keeps_mark(int rc)
{
	return rc == -E_TIMEOUT || rc == -E_NOSPACE || rc == -E_CANCELLED || rc == -E_IO;
}

static int commit(const struct step_env *env, const struct packager *p, struct transaction *t,
	const struct plan *plan, struct err *err)
{
	int rc = mark(env, plan, err);

	if (rc == 0)
		rc = p->commit(env, t, err);
	step_cache_forget(env->cache);
	if (!keeps_mark(rc))
		fs_remove(env->root, PACKAGES_MARK, false, NULL);
	return rc;
}

static int change(const struct step_env *env, const struct packager *p, struct transaction *t,
	struct holds *ours, struct err *err)
{
	struct names to_lift = VEC_INIT;
	struct plan plan = VEC_INIT;
	int rc = p->simulate(env, t, &plan, err);

	if (rc == 0)
		rc = judge(env, p, t, &plan, ours, &to_lift, err);
	if (rc == 0)
		rc = lift(env, p, ours, &to_lift, err);
	if (rc == 0)
		rc = commit(env, p, t, &plan, err);
	vec_done(&to_lift);
	vec_done(&plan);
	return rc;
}

static int fetch(const struct step_env *env, const struct packager *p, struct transaction *t,
	const struct holds *ours, unsigned *n, bool *stale, struct err *err)
{
	struct names held = VEC_INIT;
	struct plan plan = VEC_INIT;
	int rc = p->simulate(env, t, &plan, err);

	if (rc == 0)
		rc = judge(env, p, t, &plan, ours, &held, err);
	if (rc == 0)
		rc = p->fetch(env, t, stale, err);
	*n = 0;
	vec_each(&plan, struct planned, one)
		*n += one->to != NULL;
	vec_done(&held);
	vec_done(&plan);
	return rc;
}

int transaction_stage(const struct step_env *env, const struct packager *p, struct transaction *t,
	unsigned *n, struct step_report *rep, struct err *err)
{
	struct holds ours = VEC_INIT;
	bool half_way, stale = false;
	int rc = p->ready(env, t->wait, err);

	*n = 0;
	if (rc == 0)
		rc = transaction_check_sound(env, p, &half_way, rep, err);
	if (rc == 0)
		rc = holds_load(env, &ours, err);
	if (rc == 0 && changes_packages(t))
		rc = fetch(env, p, t, &ours, n, &stale, err);
	if (rc < 0 && stale) {
		rc = p->refresh(env, err);
		if (rc == 0)
			rc = fetch(env, p, t, &ours, n, &stale, err);
	}
	if (rc == -E_DENIED)
		rep->denied = true;
	holds_done(&ours);
	return rc;
}

int transaction_run(const struct step_env *env, const struct packager *p, struct transaction *t,
	struct step_report *rep, struct err *err)
{
	struct names before = VEC_INIT;
	struct holds ours = VEC_INIT;
	struct err late;
	int rc, back;

	rc = p->ready(env, t->wait, err);
	if (rc == 0)
		rc = recover(env, p, t, rep, err);
	if (rc == 0)
		rc = holds_load(env, &ours, err);
	vec_each(&ours, struct hold, h)
		*vec_push(&before) = arena_strdup(t->arena, h->name);
	if (rc == 0) {
		if (changes_packages(t))
			rc = change(env, p, t, &ours, err);
		back = put_back(env, p, t, &ours, &before, rc == 0 ? err : &late);
		if (rc == 0)
			rc = back;
	}
	if (rc == 0)
		rc = set_wanted(env, p, t, &ours, err);
	if (rc == -E_DENIED)
		rep->denied = true;
	step_cache_forget(env->cache);
	vec_done(&before);
	holds_done(&ours);
	return rc;
}
