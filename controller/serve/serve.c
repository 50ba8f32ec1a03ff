/* serve - a turn: read who is due, look at them, note it, sleep until the next. */
#include "controller/serve/serve.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/log.h"
#include "controller/serve/drivers.h"
#include "controller/serve/notify.h"
#include "controller/serve/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define IDLE_MAX   30                 /* seconds: an import may bring nodes that are due */
#define LOOK_LIMIT (3600 * CLOCK_SEC) /* a look that takes longer hangs: the watchdog bites */
#define TURN_MAX   4096               /* nodes of one look, so that others come to their turn */

static volatile sig_atomic_t stop_asked, reread_asked;
static volatile int64_t alive_until; /* mono ns; written between looks only */

static void on_stop(int sig)
{
	(void)sig;
	stop_asked = 1;
}

static void on_reread(int sig)
{
	(void)sig;
	reread_asked = 1;
}

/* The watchdog is fed while the work in hand may still take as long as it does. */
static void on_alarm(int sig)
{
	struct timespec now;

	(void)sig;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec * CLOCK_SEC + now.tv_nsec < alive_until)
		notify_send("WATCHDOG=1");
}

static void take_signal(int sig, void (*handler)(int))
{
	const struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(sig, &sa, NULL);
}

static void begin_watchdog(void)
{
	const int64_t every = notify_watchdog();
	const struct timeval t = {every / CLOCK_SEC, (every % CLOCK_SEC) / 1000};
	const struct itimerval timer = {t, t};

	if (every > 0) {
		take_signal(SIGALRM, on_alarm);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
}

/* --- one per database --- */

static int take_lock(struct store *s, struct arena *a, int *fd, struct err *err)
{
	const char *path = arena_printf(a, "%s.serve", store_path(s));
	char pid[24] = "";
	ssize_t n;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return err_sys(err, errno, "cannot open the lock '%s'", path);
	if (flock(*fd, LOCK_EX | LOCK_NB) < 0) {
		n = pread(*fd, pid, sizeof pid - 1, 0);
		close(*fd);
		*fd = -1;
		err_set(err, E_BUSY, "a daemon serves this database already%s%.*s",
			n > 0 ? ": pid " : "", n > 0 ? (int)strcspn(pid, "\n") : 0, pid);
		return err_hint(err, "end that one first, or give this one another --db");
	}
	snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
	if (ftruncate(*fd, 0) < 0 || pwrite(*fd, pid, strlen(pid), 0) < 0)
		return err_sys(err, errno, "cannot write the lock '%s'", path);
	return 0;
}

/* --- turns --- */

static int64_t local_offset(int64_t now)
{
	const time_t t = (time_t)now;
	struct tm local;

	return localtime_r(&t, &local) ? local.tm_gmtoff : 0;
}

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return x->due < y->due ? -1 : x->due > y->due;
}

static int compare_rows(const void *key, const void *item)
{
	const int64_t id = *(const int64_t *)key;
	const struct check_row *row = item;

	return id < row->node ? -1 : id > row->node;
}

static int compare_checks(const void *a, const void *b)
{
	return compare_rows(&((const struct check_row *)a)->node, b);
}

/* Only what is meant to run and can be met: no bare metal, nothing that is being set up. */
static bool is_served(const struct node_row *n)
{
	static const char *const out[] = {
		"discovered", "inspected", "deploying", "rescue", "retired"};

	for (size_t i = 0; i < sizeof out / sizeof *out; i++)
		if (strcmp(n->state, out[i]) == 0)
			return false;
	return *n->role_recipes && *n->agent;
}

int serve_turns(struct store *s, struct arena *a, int64_t started, struct node_rows *rows,
	struct turns *out, struct err *err)
{
	struct check_rows checks = VEC_INIT;
	const int64_t now = clock_wall() / CLOCK_SEC;
	const struct moment m = {now, started, local_offset(now)};
	int rc = store_nodes(s, a, rows, err);

	if (rc == 0)
		rc = store_checks(s, &checks, err);
	vec_sort(&checks, compare_checks);
	for (size_t i = 0; rc == 0 && i < rows->n; i++) {
		const struct node_row *n = &rows->at[i];
		const struct schedule plan =
			schedule_make(n->check_every, n->check_window, n->check_splay);
		const struct check_row *c = checks.n ? bsearch(&n->id, checks.at, checks.n,
							       sizeof *checks.at, compare_rows)
						     : NULL;
		const struct last_look last = {c ? c->last : 0, c ? c->failed : 0};

		if (is_served(n))
			*vec_push(out) = (struct turn){
				n, last.at, next_due(&plan, n->name, last, &m), last.failed};
	}
	vec_sort(out, compare_turns);
	vec_done(&checks);
	return rc;
}

/* --- a look --- */

struct server {
	struct store *store;
	const struct keys *keys;
	const struct serve_opts *opts;
	struct arena *arena; /* of one turn */
	struct turns turns;
	int64_t started;
	unsigned looked, drifted;
	struct drivers drivers;
	struct err broken;
};

static unsigned failed_before(const struct server *v, int64_t node)
{
	vec_each(&v->turns, const struct turn, t)
		if (t->node->id == node)
			return t->failed;
	return 0;
}

static void log_report(const struct drift_report *r)
{
	const enum log_level level = r->state == DRIFT_OK ? LOG_INFO : LOG_WARN;
	char found[16];

	snprintf(found, sizeof found, "%u", r->n_found);
	log_event(level, "look", "node", r->node_name, "state", drift_state_name(r->state), "found",
		found, "first", r->n ? r->findings[0].name : r->reason, "run", r->run, (char *)0);
}

/* The report is stored; when it was is noted beside it. */
static void on_report(void *ctx, const struct drift_report *r)
{
	struct server *v = ctx;
	const bool done = r->state != DRIFT_UNREACHABLE && r->state != DRIFT_FAILED;
	const struct check_row row = {r->node, r->at, done ? 0 : failed_before(v, r->node) + 1};

	v->looked++;
	v->drifted += r->state == DRIFT_DRIFT;
	log_report(r);
	if (v->broken.code || store_begin(v->store, &v->broken) < 0)
		return;
	if (store_check_put(v->store, &row, &v->broken) < 0)
		store_rollback(v->store);
	else
		(void)store_commit(v->store, &v->broken);
}

static int look(struct server *v, const struct node_refs *nodes, struct err *err)
{
	const struct look_opts o = {
		.by = v->opts->by, .parallel = v->opts->parallel, .ctx = v, .done = on_report};
	struct drift_reports reports = VEC_INIT;
	struct looking *looking = NULL;
	int rc;

	v->broken = (struct err){0}; /* what was in the way of an earlier look may be gone */
	alive_until = clock_mono() + LOOK_LIMIT;
	rc = look_open(v->store, v->keys, v->arena, nodes, &o, &looking, err);
	if (rc == 0)
		rc = look_turn(looking, v->arena, &reports, err);
	look_close(looking);
	vec_done(&reports);
	if (rc == 0 && v->broken.code) {
		*err = v->broken;
		rc = -(int)err->code;
	}
	if (rc == -E_CANCELLED) { /* the fleet took our signal */
		stop_asked = 1;
		rc = 0;
	}
	return rc;
}

/* Reads who is due and looks at them; *next is when somebody is due after that. */
static int turn(struct server *v, int64_t *next, struct err *err)
{
	const int64_t now = clock_wall() / CLOCK_SEC;
	struct node_rows rows = VEC_INIT;
	struct node_refs due = VEC_INIT;
	int rc;

	v->arena = arena_new();
	if (v->started > now) /* the clock was set back */
		v->started = now;
	rc = serve_turns(v->store, v->arena, v->started, &rows, &v->turns, err);
	*next = now + IDLE_MAX;
	for (size_t i = 0; rc == 0 && i < v->turns.n; i++) {
		const struct turn *t = &v->turns.at[i];

		if (t->due <= now && due.n < TURN_MAX)
			*vec_push(&due) = t->node;
		else if (t->due < *next)
			*next = t->due;
	}
	if (rc == 0 && due.n > 0) {
		rc = look(v, &due, err);
		*next = now;
	}
	vec_done(&due);
	vec_done(&v->turns);
	vec_done(&rows);
	arena_free(v->arena);
	return rc;
}

static void rest(struct server *v, int64_t until)
{
	const int64_t now = clock_wall() / CLOCK_SEC;
	int64_t left = until - now;

	if (left > IDLE_MAX) /* the wall clock may have been set */
		left = IDLE_MAX;
	alive_until = clock_mono() + (IDLE_MAX + 60) * CLOCK_SEC;
	while (left-- > 0 && !stop_asked && !reread_asked) {
		poll(NULL, 0, 1000);
		drivers_poll(&v->drivers);
	}
}

/* Rollouts that lost their driver, with this machine maybe. */
static int drive_on(struct server *v, struct err *err)
{
	struct arena *a = arena_new();
	const int rc = v->opts->rollouts ? drivers_start(&v->drivers, v->store, a, err) : 0;

	arena_free(a);
	return rc;
}

static int loop(struct server *v, struct err *err)
{
	int64_t next;
	int rc = drive_on(v, err);

	while (rc == 0 && !stop_asked) {
		reread_asked = 0;
		rc = turn(v, &next, err);
		if (rc == -E_BUSY) { /* another command writes for long: later */
			log_warn("wait", "why", err->msg);
			next = clock_wall() / CLOCK_SEC + IDLE_MAX;
			rc = 0;
		}
		if (rc == 0 && !stop_asked)
			rest(v, next);
	}
	drivers_stop(&v->drivers);
	return rc;
}

/* All that are due when the splay is left out: those never looked at, and those overdue. */
static int once(struct server *v, struct err *err)
{
	int64_t next;

	v->started -= PERIOD_MAX;
	return turn(v, &next, err);
}

int serve_run(struct store *s, const struct keys *k, const struct serve_opts *o, struct err *err)
{
	struct server v = {.store = s, .keys = k, .opts = o, .started = clock_wall() / CLOCK_SEC};
	struct arena *a = arena_new();
	int fd = -1, rc = take_lock(s, a, &fd, err);

	stop_asked = reread_asked = 0;
	alive_until = clock_mono() + LOOK_LIMIT;
	if (rc == 0) {
		take_signal(SIGTERM, on_stop);
		take_signal(SIGINT, on_stop);
		take_signal(SIGHUP, on_reread);
		begin_watchdog();
		log_info("serve", "database", store_path(s));
		notify_send("READY=1");
		rc = o->once ? once(&v, err) : loop(&v, err);
		notify_send("STOPPING=1");
		log_info("end", "why", rc < 0 ? err->msg : stop_asked ? "asked to" : "done");
	}
	if (fd >= 0)
		close(fd);
	arena_free(a);
	return rc;
}
