/*
 * wait - until a port, an address, a file or a unit is as it must be, for some time on end.
 *
 * Check looks once. With 'for' it looks on for that long, but not in a plan. So
 * a wait whose condition holds already is no change.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/http.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MAX (24 * 3600)
#define SEEN_MAX    160

struct wish {
	const char *what; /* the parameter that is given */
	const char *text; /* its text, unless it is a port */
	const char *host, *contains;
	int64_t port, status;
	bool absent;
	int64_t stable, timeout, poll; /* ns */
};

/* What a look found: does it hold, and what was seen, for people. */
struct sight {
	bool holds;
	char seen[SEEN_MAX];
};

__attribute__((format(printf, 3, 4))) static int saw(
	struct sight *s, bool holds, const char *fmt, ...)
{
	va_list ap;

	s->holds = holds;
	va_start(ap, fmt);
	vsnprintf(s->seen, sizeof s->seen, fmt, ap);
	va_end(ap);
	return 0;
}

static int look_at_port(const struct wish *w, struct sight *s, struct err *err)
{
	const int sys = http_connect(w->host, (unsigned)w->port, CLOCK_SEC);

	if (sys == EINVAL) {
		err_set(err, E_SCHEMA, "'%.80s' is not an address", w->host);
		return err_hint(err, "a numeric one, such as 10.0.0.5");
	}
	return saw(s, (sys == 0) != w->absent, "port %lld of %.60s: %s", (long long)w->port,
		w->host, sys ? strerror(sys) : "open");
}

static int look_at_http(const struct wish *w, struct sight *s, struct err *err)
{
	unsigned status = 0;
	AUTO_BUF body = {0};
	int rc;

	buf_init(&body, HTTP_BODY_MAX);
	rc = http_get(w->text, &status, &body, err);
	if (rc < 0)
		return rc;
	if (status == 0)
		return saw(s, w->absent, "%.100s does not answer", w->text);
	if (status != (unsigned)w->status)
		return saw(s, w->absent, "%.100s answers %u", w->text, status);
	if (str_find_str(buf_str(&body), str_of(w->contains)) == STR_NONE)
		return saw(s, w->absent, "%.100s answers without '%.40s'", w->text, w->contains);
	return saw(s, !w->absent, "%.100s answers %u", w->text, status);
}

static int look_at_file(
	const struct step_env *env, const struct wish *w, struct sight *s, struct err *err)
{
	AUTO_BUF text = {0};
	struct stat st;
	int rc = fs_stat(env->root, w->text, true, &st, err);

	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	if (rc < 0)
		return saw(s, w->absent, "'%.120s' does not exist", w->text);
	if (!*w->contains || w->absent)
		return saw(s, !w->absent, "'%.120s' is there", w->text);
	buf_init(&text, 16u << 20);
	rc = fs_read(env->root, w->text, &text, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? saw(s, false, "'%.120s' is gone again", w->text) : rc;
	return saw(s, str_find_str(buf_str(&text), str_of(w->contains)) != STR_NONE,
		"'%.90s' is there, %zu bytes", w->text, text.n);
}

static int look_at_unit(
	const struct step_env *env, const struct wish *w, struct sight *s, struct err *err)
{
	static const struct service_ops *const ALL[] = {&SERVICE_SYSTEMD, &SERVICE_SYSV};
	struct service_wish ask = {
		.running = w->absent ? SERVICE_NO : SERVICE_YES, .enabled = SERVICE_ANY};
	struct service_state st = {0};

	snprintf(ask.name, sizeof ask.name, "%s", w->text);
	for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
		if (!ALL[i]->is_here(env, ask.name))
			continue;

		const int rc = ALL[i]->look(env, &ask, &st, err);

		if (rc < 0)
			return rc;
		if (!st.known)
			return saw(s, w->absent, "unit %.80s is not installed", w->text);
		return saw(s, st.running != w->absent, "unit %.80s is %.60s", w->text, st.detail);
	}
	err_set(err, E_UNSUPPORTED, "nothing on this node manages unit '%s'", w->text);
	return err_hint(err, "guard the step with 'when: facts.os.systemd'");
}

static int look(const struct step_env *env, const struct wish *w, struct sight *s, struct err *err)
{
	if (strcmp(w->what, "port") == 0)
		return look_at_port(w, s, err);
	if (strcmp(w->what, "http") == 0)
		return look_at_http(w, s, err);
	if (strcmp(w->what, "file") == 0)
		return look_at_file(env, w, s, err);
	return look_at_unit(env, w, s, err);
}

static int judge_seconds(const char *name, int64_t n, int64_t min, struct err *err)
{
	if (n >= min && n <= TIMEOUT_MAX)
		return 0;
	return err_set(err, E_SCHEMA, "'%s' is %lld, expected %lld to %d seconds", name,
		(long long)n, (long long)min, TIMEOUT_MAX);
}

static int read_times(const json_t *args, struct wish *w, struct err *err)
{
	const int64_t stable = json_get_int(args, "for", 0);
	const int64_t timeout = json_get_int(args, "timeout", 60);
	const int64_t poll = json_get_int(args, "poll", 1);
	int rc = judge_seconds("for", stable, 0, err);

	if (rc == 0)
		rc = judge_seconds("timeout", timeout, 1, err);
	if (rc == 0)
		rc = judge_seconds("poll", poll, 1, err);
	if (rc == 0 && stable > timeout) {
		err_set(err, E_CONFLICT, "'for' is %lld s and 'timeout' only %lld s",
			(long long)stable, (long long)timeout);
		rc = err_hint(err, "give it more time than it must hold");
	}
	w->stable = stable * CLOCK_SEC;
	w->timeout = timeout * CLOCK_SEC;
	w->poll = poll * CLOCK_SEC;
	return rc;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	static const char *const WHAT[] = {"port", "http", "file", "unit"};

	*w = (struct wish){.host = json_get_str(args, "host", "127.0.0.1"),
		.contains = json_get_str(args, "contains", ""),
		.port = json_get_int(args, "port", 0),
		.status = json_get_int(args, "status", 200),
		.absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0};
	for (size_t i = 0; i < sizeof WHAT / sizeof WHAT[0]; i++) {
		if (!json_get(args, WHAT[i]))
			continue;
		if (w->what)
			return err_set(
				err, E_CONFLICT, "'%s' and '%s' are both given", w->what, WHAT[i]);
		w->what = WHAT[i];
		w->text = json_get_str(args, WHAT[i], "");
	}
	if (!w->what)
		return err_set(err, E_SCHEMA, "a wait needs 'port', 'http', 'file' or 'unit'");
	if (strcmp(w->what, "port") == 0 && (w->port < 1 || w->port > 65535))
		return err_set(
			err, E_SCHEMA, "'port' is %lld, expected 1 to 65535", (long long)w->port);
	if (strcmp(w->what, "unit") == 0 &&
		(!*w->text || strlen(w->text) >= SERVICE_NAME_MAX - sizeof ".service"))
		return err_set(err, E_SCHEMA, "'%.60s' is not the name of a unit", w->text);
	return read_times(args, w, err);
}

/* Until it has held for w->stable on end, or a deadline; s tells what was seen last. */
static int watch(const struct step_env *env, const struct wish *w, int64_t deadline,
	bool first_miss_ends, struct sight *s, struct err *err)
{
	int64_t since = 0;

	for (;;) {
		const int64_t now = clock_mono();
		const int rc = look(env, w, s, err);

		if (rc < 0)
			return rc;
		if (!s->holds && first_miss_ends)
			return 0;
		since = !s->holds ? 0 : since ? since : now;
		if (since && clock_mono() - since >= w->stable)
			return 0;
		if (clock_mono() + w->poll > deadline) {
			s->holds = false;
			return 0;
		}
		clock_sleep(w->poll);
	}
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct sight s = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	if (env->dry || w.stable == 0)
		rc = look(env, &w, &s, err);
	else
		rc = watch(env, &w, clock_mono() + w.stable + 2 * w.poll, true, &s, err);
	if (rc < 0 || s.holds)
		return rc;
	/* apply waits until it holds, and is its own proof */
	rep->always = true;
	report_differs(rep, "%s", s.seen);
	report_addf(rep, "wait: %s\n", s.seen);
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct sight s = {0};
	char span[24];
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = watch(env, &w, clock_mono() + w.timeout, false, &s, err);
	if (rc < 0 || s.holds)
		return rc;
	clock_format_span(w.timeout, span);
	err_set(err, E_TIMEOUT, "waited %s for '%s': last seen %s", span, w.what, s.seen);
	return err_hint(err, "look at it on the node, or give it more time with 'timeout'");
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	(void)env, (void)args, (void)before, (void)after, (void)rep, (void)err;
	return 0;
}

const struct step_ops STEP_WAIT = {.kind = "wait", .check = check, .apply = apply, .undo = undo};
