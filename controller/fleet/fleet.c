/*
 * fleet - the life of a run: leases, the loop, the end.
 *
 * SIGINT and SIGTERM end the loop in order: what was not begun is not begun,
 * links are closed, results so far are kept and the run is marked interrupted.
 * No cancel is sent: an agent that is at work goes on to the end of its run by
 * itself, and the same command again follows it there first.
 */
#include "controller/fleet/fleet.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARALLEL_DEFAULT 512
#define SWEEP_EVERY      CLOCK_SEC
#define PLAN_PREFIX_MIN  8
#define RUNS_LOOKED_AT   1000

static volatile sig_atomic_t stop_signal;

static void note_signal(int number)
{
	stop_signal = number;
}

struct handlers {
	struct sigaction sigint, sigterm, sigpipe;
};

static void take_signals(struct handlers *old)
{
	struct sigaction stop = {.sa_handler = note_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	stop_signal = 0;
	sigemptyset(&stop.sa_mask);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &stop, &old->sigint);
	sigaction(SIGTERM, &stop, &old->sigterm);
	sigaction(SIGPIPE, &ignore, &old->sigpipe);
}

static void give_signals_back(const struct handlers *old)
{
	sigaction(SIGINT, &old->sigint, NULL);
	sigaction(SIGTERM, &old->sigterm, NULL);
	sigaction(SIGPIPE, &old->sigpipe, NULL);
}

/* --- before --- */

/* Why a node cannot be begun with at all; 0 when it can. */
static int judge_node(const struct node_row *n, struct err *err)
{
	if (!n->address || !*n->address) {
		err_set(err, E_SCHEMA, "'%s' has no address", n->name);
		return err_hint(err, "give it one in the site file, then: stoika import FILE");
	}
	if (!n->host_key || !*n->host_key) {
		err_set(err, E_HOSTKEY, "no host key of '%s' is pinned", n->name);
		return err_hint(err, "stoika agent install %s --known-hosts FILE", n->name);
	}
	return 0;
}

static void join_recipes(const struct fleet_opts *o, struct buf *out)
{
	for (unsigned i = 0; i < o->n_recipes; i++)
		if (o->recipes[i].asked)
			buf_addf(out, "%s%s", out->n ? "," : "", o->recipes[i].name);
}

static int add_run(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	AUTO_BUF recipes = {0};
	int rc;

	buf_init(&recipes, 64u << 10);
	join_recipes(o, &recipes);

	const struct run_row row = {
		.id = f->out->id,
		.mode = order_mode_name(o->mode),
		.recipes = buf_text(&recipes),
		.nodes = o->nodes_text ? o->nodes_text : "",
		.by = o->by,
		.state = "running",
		.plan_hash = "",
		.bundle = f->pack.digest,
		.started = clock_wall(),
		.n_nodes = f->n,
	};

	rc = store_run_add(f->store, &row, err);
	if (rc == 0 && o->mode == ORDER_APPLY)
		rc = store_audit_add(f->store, o->by, "apply", o->nodes_text ? o->nodes_text : "",
			f->out->id, err);
	return rc;
}

/* A result for each node that cannot begin; the others wait for their links. */
static int begin_tasks(struct fleet *f, struct err *err)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct task *t = &f->tasks[i];
		struct err why = {0};
		int rc = judge_node(t->node, &why);

		if (rc == 0)
			rc = record_take_lease(f, t->node, &why);
		if (rc == 0)
			continue;
		if (why.code != E_BUSY && why.code != E_HOSTKEY && why.code != E_SCHEMA) {
			*err = why;
			return rc;
		}
		task_finish(t, why.code == E_SCHEMA ? RESULT_FAILED : RESULT_DENIED, &why);
	}
	return 0;
}

/* The run, its leases and its first results, in one transaction. */
static int open_run(struct fleet *f, const struct node_refs *nodes, struct err *err)
{
	int rc;

	f->n = f->unfinished = (unsigned)nodes->n;
	f->tasks = xcalloc(f->n + 1, sizeof *f->tasks);
	for (unsigned i = 0; i < f->n; i++)
		f->tasks[i] =
			(struct task){.fleet = f, .node = nodes->at[i], .began = clock_mono()};
	if (!record_begin(f)) {
		*err = f->broken;
		return -(int)err->code;
	}
	rc = add_run(f, err);
	if (rc == 0)
		rc = begin_tasks(f, err);
	if (rc < 0) {
		f->broken = *err;
		record_commit(f); /* rolls back */
		return rc;
	}
	record_commit(f);
	if (f->broken.code)
		*err = f->broken;
	return -(int)f->broken.code;
}

static int make_links(struct fleet *f, struct err *err)
{
	const struct link_set_opts o = {
		.key = f->keys->ssh,
		.kex = f->opts->kex,
		.connect_timeout = f->opts->connect_timeout,
		.max_open = f->opts->parallel ? f->opts->parallel : PARALLEL_DEFAULT,
	};

	return link_set_new(&o, &f->links, err);
}

/* --- the loop --- */

static bool on_tick(void *ctx)
{
	struct fleet *f = ctx;
	const int64_t now = clock_mono();

	record_renew_leases(f, now);
	record_commit(f);
	if (stop_signal)
		f->stopping = true;
	if (f->stopping || f->broken.code)
		return false;
	if (f->retrying == 0 && now - f->swept < SWEEP_EVERY)
		return true;
	f->swept = now;
	for (unsigned i = 0; i < f->n; i++)
		task_tick(&f->tasks[i], now);
	return true;
}

/* Links that wait to be tried again do not keep the set busy. */
static int run_loop(struct fleet *f, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < f->n; i++)
		if (f->tasks[i].state == TASK_WAITING)
			task_start(&f->tasks[i]);
	f->renewed = clock_mono();
	while (rc == 0 && f->unfinished > 0) {
		rc = link_set_run(f->links, on_tick, f, err);
		if (!on_tick(f))
			break;
		if (f->unfinished > 0)
			clock_sleep(50 * CLOCK_MS);
	}
	for (unsigned i = 0; i < f->n; i++)
		task_stop(&f->tasks[i]);
	return rc;
}

/* --- after --- */

/* One hash for what all nodes answered; two plans alike have it in common. */
static void sum_plans(struct fleet *f)
{
	struct hash *h = hash_new();

	for (unsigned i = 0; i < f->n; i++) {
		const struct task *t = &f->tasks[i];
		const char *answer = t->plan_hash[0] ? t->plan_hash : result_name(t->result);

		hash_update(h, t->node->name, strlen(t->node->name) + 1);
		hash_update(h, answer, strlen(answer) + 1);
	}
	hash_final(h, f->out->plan_hash);
}

static const char *run_state(const struct fleet *f)
{
	const struct result_counts *c = &f->out->nodes;

	if (f->stopping)
		return "interrupted";
	return c->n[RESULT_OK] + c->n[RESULT_CHANGED] + c->n[RESULT_SKIPPED] == f->n ? "done"
										     : "failed";
}

static int close_run(struct fleet *f, struct err *err)
{
	sum_plans(f);
	if (record_begin(f)) {
		(void)store_lease_drop_run(f->store, f->out->id, &f->broken);
		if (!f->broken.code)
			(void)store_run_end(
				f->store, f->out->id, run_state(f), f->out->plan_hash, &f->broken);
		record_commit(f);
	}
	if (!f->broken.code)
		return 0;
	*err = f->broken;
	return err_wrap(err, "run '%s' cannot be recorded", f->out->id);
}

static void cleanup(struct fleet *f)
{
	link_set_free(f->links);
	for (unsigned i = 0; f->tasks && i < f->n; i++)
		task_done(&f->tasks[i]);
	free(f->tasks);
	order_cleanup(f);
	run_lock_drop(f->store, f->arena, f->out->id, f->lock);
	arena_free(f->arena);
}

static int name_run(struct fleet *f, struct err *err)
{
	int rc = 0;

	if (f->opts->id)
		snprintf(f->out->id, sizeof f->out->id, "%s", f->opts->id);
	else
		rc = run_make_id(f->out->id, err);
	return rc < 0 ? rc : run_lock_take(f->store, f->arena, f->out->id, &f->lock, err);
}

static int run_once(struct fleet *f, const struct node_refs *nodes, struct err *err)
{
	int rc = name_run(f, err);

	if (rc == 0)
		rc = order_prepare(f, err);
	if (rc == 0)
		rc = make_links(f, err);
	if (rc == 0)
		rc = open_run(f, nodes, err);
	if (rc < 0)
		return rc;
	rc = run_loop(f, err);
	return rc < 0 ? rc : close_run(f, err);
}

static int run(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct fleet_outcome *out, struct err *err)
{
	struct fleet f = {.store = s, .keys = k, .opts = o, .out = out, .lock = -1};
	const int64_t began = clock_mono();
	struct handlers old;
	int rc;

	*out = (struct fleet_outcome){0};
	f.arena = arena_new();
	f.owner = store_owner(f.arena);
	take_signals(&old);
	rc = run_once(&f, nodes, err);
	give_signals_back(&old);
	cleanup(&f);
	out->took = clock_mono() - began;
	return rc;
}

/* Asks for the plan again and compares it with what was shown. */
static int check_plan(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct err *err)
{
	struct fleet_opts ask = *o;
	struct fleet_outcome now;
	const size_t n = strlen(o->plan_hash);
	int rc;

	if (n < PLAN_PREFIX_MIN || n >= HASH_HEX)
		return err_set(err, E_SYNTAX, "'%s' is no hash of a plan: expected %d to 64 digits",
			o->plan_hash, PLAN_PREFIX_MIN);
	ask.mode = ORDER_PLAN;
	ask.id = NULL;
	ask.event = NULL;
	ask.done = NULL;
	rc = run(s, k, nodes, &ask, &now, err);
	if (rc < 0)
		return rc;
	if (stop_signal)
		return err_set(err, E_CANCELLED, "stopped before anything was applied");
	if (strncmp(now.plan_hash, o->plan_hash, n) == 0)
		return 0;
	err_set(err, E_STATE, "the nodes would change otherwise now: plan %.12s, not %.12s",
		now.plan_hash, o->plan_hash);
	return err_hint(err, "nothing was changed; see what it is now: stoika run show %s", now.id);
}

int fleet_run(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct fleet_outcome *out, struct err *err)
{
	unsigned abandoned;
	int rc = fleet_recover(s, &abandoned, err);

	if (rc == 0 && o->plan_hash)
		rc = check_plan(s, k, nodes, o, err);
	return rc < 0 ? rc : run(s, k, nodes, o, out, err);
}

/*
 * Marks the runs that nobody holds the lock of. The lock is surer than the owner of a lease: a
 * killed process that its parent has not collected yet still has its number.
 */
static int end_abandoned(struct store *s, struct arena *a, unsigned *n, struct err *err)
{
	struct run_rows rows = VEC_INIT;
	int rc = store_runs(s, a, RUNS_LOOKED_AT, &rows, err);

	*n = 0;
	vec_each(&rows, struct run_row, r) {
		int fd = -1;

		if (rc < 0 || strcmp(r->state, "running") != 0 ||
			run_lock_take(s, a, r->id, &fd, NULL) < 0)
			continue;
		rc = store_run_end(s, r->id, "interrupted", NULL, err);
		if (rc == 0)
			rc = store_lease_drop_run(s, r->id, err);
		run_lock_drop(s, a, r->id, fd);
		(*n)++;
	}
	vec_done(&rows);
	return rc;
}

int fleet_recover(struct store *s, unsigned *n, struct err *err)
{
	struct arena *a = arena_new();
	unsigned leases;
	int rc = store_begin(s, err);

	*n = 0;
	if (rc == 0) {
		rc = store_lease_reap(s, &leases, err);
		if (rc == 0)
			rc = end_abandoned(s, a, n, err);
		if (rc == 0)
			rc = store_commit(s, err);
		else
			store_rollback(s);
	}
	arena_free(a);
	return rc;
}
