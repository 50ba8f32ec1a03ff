/*
 * timer - a job of systemd's: NAME.timer and NAME.service, made from a few words.
 *
 * What the calendar means is for systemd-analyze to say, before anything is
 * written; without it only the signs are judged.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"
#include "agent/step/unit_file.h"

#include <stdio.h>
#include <string.h>

#define FOLDER     "/etc/systemd/system"
#define TEXT_MAX   (64u << 10)
#define ARGS_MAX   256
#define NAME_SIGNS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct wish {
	const char *name, *calendar, *delay, *on_boot, *user, *about;
	const json_t *run;
	const char *shell;
	bool absent, persistent;
	char timer[PATH_MAX], service[PATH_MAX];
	json_t *state; /* arguments for the kind service */
};

static int judge_name(const char *name, struct err *err)
{
	if (*name && strlen(name) <= 64 && !name[strspn(name, NAME_SIGNS)] && *name != '-')
		return 0;
	err_set(err, E_SCHEMA, "'%.60s' is not the name of a timer", name);
	return err_hint(err, "letters, digits, '_' and '-'; '.timer' is added");
}

/* "5min", "1h 30min", "90": numbers and units of systemd.time(7). */
static bool is_span(const char *text)
{
	static const char *const UNITS[] = {"us", "ms", "s", "sec", "second", "seconds", "m", "min",
		"minute", "minutes", "h", "hr", "hour", "hours", "d", "day", "days", "w", "week",
		"weeks", "", NULL};
	struct str rest = str_trim(str_of(text));

	if (rest.n == 0)
		return false;
	while (rest.n > 0) {
		size_t digits = 0, letters = 0;
		bool known = false;

		while (digits < rest.n && rest.p[digits] >= '0' && rest.p[digits] <= '9')
			digits++;
		if (digits == 0)
			return false;
		rest = str_trim(str_from(rest, digits));
		while (letters < rest.n && rest.p[letters] >= 'a' && rest.p[letters] <= 'z')
			letters++;
		for (unsigned i = 0; UNITS[i]; i++)
			known = known || str_is(str_first(rest, letters), UNITS[i]);
		if (!known)
			return false;
		rest = str_trim(str_from(rest, letters));
	}
	return true;
}

static int judge_span(const char *key, const char *text, struct err *err)
{
	if (!text || is_span(text))
		return 0;
	err_set(err, E_SCHEMA, "'%.60s' is not a span of time for '%s'", text, key);
	return err_hint(err, "such as 5min, 1h or 30s");
}

static int judge_times(const struct wish *w, struct err *err)
{
	int rc = judge_span("randomized_delay", w->delay, err);

	if (rc == 0)
		rc = judge_span("on_boot", w->on_boot, err);
	if (rc < 0)
		return rc;
	if (!w->calendar && !w->on_boot) {
		err_set(err, E_SCHEMA, "a timer needs 'on_calendar' or 'on_boot'");
		return err_hint(err, "such as on_calendar: daily");
	}
	if (w->calendar &&
		(!*w->calendar || w->calendar[strspn(w->calendar,
					  "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*,:./~+_- ")])) {
		err_set(err, E_SCHEMA, "'%.60s' is not a calendar event", w->calendar);
		return err_hint(err, "such as daily, or Mon *-*-* 03:00; see systemd.time(7)");
	}
	return 0;
}

static int judge_command(const struct wish *w, struct err *err)
{
	if (w->run && w->shell)
		return err_set(err, E_CONFLICT, "'run' and 'shell' are both given");
	if (!w->shell && (json_array_size(w->run) == 0 || json_array_size(w->run) > ARGS_MAX)) {
		err_set(err, E_SCHEMA, "a timer needs 'run' or 'shell'");
		return err_hint(err, "such as run: [/usr/local/sbin/scrub, --quiet]");
	}
	if (w->about && strpbrk(w->about, "\n\\"))
		return err_set(err, E_SCHEMA, "'about' must be one line without '\\'");
	return 0;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	int rc;

	*w = (struct wish){.name = json_get_str(args, "name", ""),
		.calendar = json_get_str(args, "on_calendar", NULL),
		.delay = json_get_str(args, "randomized_delay", NULL),
		.on_boot = json_get_str(args, "on_boot", NULL),
		.user = json_get_str(args, "user", NULL),
		.about = json_get_str(args, "about", NULL),
		.run = json_get(args, "run"),
		.shell = json_get_str(args, "shell", NULL),
		.absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0,
		.persistent = json_get_bool(args, "persistent", true)};
	rc = judge_name(w->name, err);
	if (rc == 0 && !w->absent)
		rc = judge_command(w, err);
	if (rc == 0 && !w->absent)
		rc = judge_times(w, err);
	if (rc < 0)
		return rc;
	snprintf(w->timer, sizeof w->timer, FOLDER "/%s.timer", w->name);
	snprintf(w->service, sizeof w->service, FOLDER "/%s.service", w->name);
	w->state = json_object();
	json_object_set_new(w->state, "name", json_sprintf("%s.timer", w->name));
	json_put_str(w->state, "state", w->absent ? "stopped" : "running");
	json_put_bool(w->state, "enabled", !w->absent);
	return 0;
}

static void add_command(const struct wish *w, struct buf *out)
{
	const json_t *one;
	size_t i;

	buf_add_text(out, "ExecStart=");
	if (w->shell) {
		buf_add_text(out, "/bin/sh -eu -c ");
		unit_file_quote(str_of(w->shell), out);
	}
	json_array_foreach(w->run, i, one)
	{
		if (i > 0)
			buf_add_char(out, ' ');
		unit_file_quote(str_of(json_is_string(one) ? json_string_value(one) : ""), out);
	}
	buf_add_char(out, '\n');
}

static void make_service(const struct wish *w, struct buf *out)
{
	buf_addf(out,
		"# kept by stoika: changes made here are lost\n[Unit]\nDescription=%s\n\n"
		"[Service]\nType=oneshot\n",
		w->about ? w->about : w->name);
	if (w->user)
		buf_addf(out, "User=%s\n", w->user);
	add_command(w, out);
}

static void make_timer(const struct wish *w, struct buf *out)
{
	buf_addf(out,
		"# kept by stoika: changes made here are lost\n[Unit]\nDescription=%s\n\n"
		"[Timer]\n",
		w->about ? w->about : w->name);
	if (w->calendar)
		buf_addf(out, "OnCalendar=%s\nPersistent=%s\n", w->calendar,
			w->persistent ? "true" : "false");
	if (w->on_boot)
		buf_addf(out, "OnBootSec=%s\n", w->on_boot);
	if (w->delay)
		buf_addf(out, "RandomizedDelaySec=%s\n", w->delay);
	buf_add_text(out, "\n[Install]\nWantedBy=timers.target\n");
}

struct pair {
	struct edit timer, service;
};

static void pair_done(struct pair *p)
{
	edit_done(&p->timer);
	edit_done(&p->service);
}

static int plan(const struct step_env *env, const struct wish *w, struct pair *p, struct err *err)
{
	AUTO_BUF timer = {0}, service = {0};
	int rc = edit_open(env, w->timer, &p->timer, err);

	if (rc == 0)
		rc = edit_open(env, w->service, &p->service, err);
	if (rc < 0)
		return rc;
	if (w->absent) {
		edit_remove(&p->timer);
		edit_remove(&p->service);
		return 0;
	}
	buf_init(&timer, TEXT_MAX);
	buf_init(&service, TEXT_MAX);
	make_timer(w, &timer);
	make_service(w, &service);
	edit_set(&p->timer, buf_str(&timer));
	edit_set(&p->service, buf_str(&service));
	return buf_ok(&timer) && buf_ok(&service)
		       ? 0
		       : err_set(err, E_LIMIT, "the timer is longer than %u bytes", TEXT_MAX);
}

static int want_systemd(const struct step_env *env, struct step_report *rep, struct err *err)
{
	if (systemd_is_here(env))
		return 0;
	rep->denied = true;
	err_set(err, E_UNSUPPORTED, "systemd does not run on this node, which a timer needs");
	return err_hint(err, "use 'cron', or guard the step with 'when: facts.os.systemd'");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct pair p = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	if (!w.absent)
		rc = want_systemd(env, rep, err);
	if (rc == 0)
		rc = plan(env, &w, &p, err);
	if (rc == 0) {
		edit_show(&p.timer, rep);
		edit_show(&p.service, rep);
		if (p.timer.exists)
			rc = STEP_SERVICE.check(env, w.state, rep, err);
	}
	pair_done(&p);
	json_decref(w.state);
	return rc;
}

static int judge_by_systemd(
	const struct step_env *env, const struct wish *w, const struct pair *p, struct err *err)
{
	char unit[SERVICE_NAME_MAX];
	int rc = 0;

	if (w->calendar)
		rc = unit_file_judge(env, "calendar", w->calendar, "on_calendar", err);
	snprintf(unit, sizeof unit, "%s.service", w->name);
	if (rc == 0)
		rc = unit_file_verify(env, unit, NULL, buf_str(&p->service.now), err);
	return rc;
}

/* Loaded anew when its text changed: else the old calendar would go on. */
static int put(struct step_env *env, const struct wish *w, const struct pair *p,
	struct step_report *rep, struct err *err)
{
	const bool again = edit_differs(&p->timer) && p->timer.exists;
	int rc = judge_by_systemd(env, w, p, err);

	if (rc == 0)
		rc = edit_save(env, &p->service, err);
	if (rc == 0)
		rc = edit_save(env, &p->timer, err);
	if (rc == 0 && (edit_differs(&p->timer) || edit_differs(&p->service)))
		rc = systemd_reload(env, err);
	if (rc == 0 && again)
		json_put_str(w->state, "state", "restarted");
	return rc < 0 ? rc : STEP_SERVICE.apply(env, w->state, rep, err);
}

static int take_away(struct step_env *env, const struct wish *w, const struct pair *p,
	struct step_report *rep, struct err *err)
{
	int rc = 0;

	if (p->timer.exists && systemd_is_here(env))
		rc = STEP_SERVICE.apply(env, w->state, rep, err);
	if (rc == 0)
		rc = edit_save(env, &p->timer, err);
	if (rc == 0)
		rc = edit_save(env, &p->service, err);
	return rc < 0 ? rc : systemd_reload(env, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct pair p = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	if (!w.absent)
		rc = want_systemd(env, rep, err);
	if (rc == 0)
		rc = plan(env, &w, &p, err);
	if (rc == 0)
		rc = w.absent ? take_away(env, &w, &p, rep, err) : put(env, &w, &p, rep, err);
	pair_done(&p);
	json_decref(w.state);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object(), *service = NULL;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = edit_keep(env, w.timer, into, err);
	if (rc == 0)
		rc = edit_keep(env, w.service, into, err);
	if (rc == 0 && systemd_is_here(env))
		rc = STEP_SERVICE.before(env, w.state, &service, err);
	if (service)
		json_object_set_new(into, "service", service);
	json_decref(w.state);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const json_t *was = json_get(before, "service");
	struct wish w;
	int rc = read_args(args, &w, err);
	const bool known = was && json_get_bool(was, "known", false);

	if (rc < 0)
		return rc;
	if (was && !known)
		rc = STEP_SERVICE.undo(env, w.state, was, NULL, rep, err);
	if (rc == 0)
		rc = edit_restore(env, w.timer, past, rep, err);
	if (rc == 0)
		rc = edit_restore(env, w.service, past, rep, err);
	if (rc == 0)
		rc = systemd_reload(env, err);
	if (rc == 0 && known)
		rc = STEP_SERVICE.undo(env, w.state, was, NULL, rep, err);
	json_decref(w.state);
	return rc;
}

const struct step_ops STEP_TIMER = {
	.kind = "timer", .check = check, .apply = apply, .before = before, .undo = undo};
