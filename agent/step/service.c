/*
 * service - running or stopped, enabled or not; restarted and reloaded for handlers.
 *
 * The node's own manager is found by what lies in the root: systemd if it runs
 * there, else the script in /etc/init.d. Without either the step is refused.
 */
#include "agent/base/err.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"

#include <stdio.h>
#include <string.h>

/* What a unit's name is made of: see systemd.unit(5). */
#define NAME_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

static const struct {
	const char *state;
	enum service_answer running;
	const char *verb;
} STATES[] = {
	{"running", SERVICE_YES, NULL},
	{"stopped", SERVICE_NO, NULL},
	{"restarted", SERVICE_YES, "restart"},
	{"reloaded", SERVICE_YES, "reload"},
	{"unchanged", SERVICE_ANY, NULL},
};

static int read_wish(const json_t *args, struct service_wish *w, struct err *err)
{
	const char *state = json_get_str(args, "state", "running");
	const char *name = json_get_str(args, "name", "");
	const json_t *enabled = json_get(args, "enabled");

	memset(w, 0, sizeof *w);
	w->running = SERVICE_ANY;
	for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
		if (strcmp(STATES[i].state, state) != 0)
			continue;
		w->running = STATES[i].running;
		w->verb = STATES[i].verb;
	}
	w->enabled = !enabled ? SERVICE_ANY : json_is_true(enabled) ? SERVICE_YES : SERVICE_NO;
	/* systemctl would take a '*', '?' or '[' for any number of units */
	if (!*name || name[strspn(name, NAME_SIGNS)] || name[0] == '-' || name[0] == '.')
		return err_set(err, E_SCHEMA, "'%.60s' is not the name of a service", name);
	if (strlen(name) >= sizeof w->name - sizeof ".service")
		return err_set(err, E_LIMIT, "the service's name '%.60s...' is too long", name);
	snprintf(w->name, sizeof w->name, "%s", name);
	return 0;
}

static int find_ops(struct step_env *env, const char *name, const struct service_ops **out,
	struct step_report *rep, struct err *err)
{
	static const struct service_ops *const ALL[] = {&SERVICE_SYSTEMD, &SERVICE_SYSV};

	for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
		if (ALL[i]->is_here(env, name)) {
			*out = ALL[i];
			return 0;
		}
	}
	rep->denied = true;
	err_set(err, E_UNSUPPORTED,
		"nothing on this node can manage service '%s': systemd does not run and there is no "
		"'/etc/init.d'",
		name);
	return err_hint(err, "guard the step with 'when: facts.os.systemd'");
}

static const char *word(enum service_answer a, const char *yes, const char *no)
{
	return a == SERVICE_YES ? yes : no;
}

static void compare(
	const struct service_wish *w, const struct service_state *st, struct step_report *rep)
{
	if (w->running != SERVICE_ANY && (w->running == SERVICE_YES) != st->running) {
		report_differs(rep, "is %s", st->running ? "running" : "not running");
		report_addf(rep, "%s: %s -> %s\n", w->name, st->detail,
			word(w->running, "running", "stopped"));
	}
	if (w->enabled != SERVICE_ANY && (w->enabled == SERVICE_YES) != st->enabled) {
		report_differs(rep, "is %s", st->enabled ? "enabled" : "not enabled");
		report_addf(rep, "%s: %s -> %s\n", w->name, st->enabled ? "enabled" : "disabled",
			word(w->enabled, "enabled", "disabled"));
	}
}

static bool wants_something(const struct service_wish *w)
{
	return w->running == SERVICE_YES || w->enabled == SERVICE_YES;
}

static int judge_missing(struct step_env *env, const struct service_wish *w,
	struct step_report *rep, struct err *err)
{
	/* What does not exist neither runs nor starts at boot. */
	if (!wants_something(w))
		return 0;
	if (env->dry) {
		report_unknown(rep, "unit '%s' is not installed yet", w->name);
		return 0;
	}
	err_set(err, E_NOTFOUND, "service '%s' is not installed on this node", w->name);
	return err_hint(err, "add a 'package' or 'file' step that brings it before this one");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const struct service_ops *ops;
	struct service_state st = {0};
	struct service_wish w;
	int rc;

	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = find_ops(env, w.name, &ops, rep, err);
	if (rc < 0)
		return rc;
	rc = ops->look(env, &w, &st, err);
	if (rc < 0)
		return rc;
	if (!st.known)
		return judge_missing(env, &w, rep, err);
	if (w.verb) {
		rep->always = true;
		report_differs(rep, "%s at each time", w.verb);
		report_addf(rep, "%s %s\n", w.verb, w.name);
	}
	compare(&w, &st, rep);
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const struct service_ops *ops;
	struct service_wish w;
	int rc;

	rc = read_wish(args, &w, err);
	if (rc < 0)
		return rc;
	rc = find_ops(env, w.name, &ops, rep, err);
	return rc < 0 ? rc : ops->act(env, &w, err);
}

/* Only of what the step is to change: the rest may be anything by then. */
static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct step_report rep;
	const struct service_ops *ops = NULL;
	struct service_state st = {0};
	struct service_wish w;
	int rc = read_wish(args, &w, err);

	step_report_init(&rep);
	if (rc == 0)
		rc = find_ops(env, w.name, &ops, &rep, err);
	if (rc == 0)
		rc = ops->look(env, &w, &st, err);
	step_report_done(&rep);
	if (rc < 0)
		return rc;
	*out = json_object();
	json_put_bool(*out, "known", st.known);
	if (w.running != SERVICE_ANY)
		json_put_bool(*out, "running", st.running);
	if (w.enabled != SERVICE_ANY)
		json_put_bool(*out, "enabled", st.enabled);
	return 0;
}

static enum service_answer answer(const json_t *was, const char *key)
{
	const json_t *v = json_get(was, key);

	return !v ? SERVICE_ANY : json_is_true(v) ? SERVICE_YES : SERVICE_NO;
}

static int undo(struct step_env *env, const json_t *args, const json_t *was, const json_t *left,
	struct step_report *rep, struct err *err)
{
	const struct service_ops *ops;
	AUTO_JSON now = NULL;
	struct service_wish w;
	int rc = before(env, args, &now, err);

	(void)left; /* a service that was stopped or started since is brought back all the same */
	/* A unit that was not known was brought by another step, whose undo takes it away. */
	if (rc < 0 || json_equal(now, was) || !json_get_bool(now, "known", false))
		return rc;
	rc = read_wish(args, &w, err);
	if (rc == 0)
		rc = find_ops(env, w.name, &ops, rep, err);
	if (rc < 0)
		return rc;
	report_differs(rep, "brought back");
	w.verb = NULL;
	w.running = answer(was, "running");
	w.enabled = answer(was, "enabled");
	return ops->act(env, &w, err);
}

const struct step_ops STEP_SERVICE = {
	.kind = "service", .check = check, .apply = apply, .before = before, .undo = undo};
