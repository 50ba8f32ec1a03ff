/*
 * fleet - the life of a run: leases, the loop, the end.
 *
 * SIGINT, SIGTERM, SIGHUP end the loop in order: what was not begun is not begun,
 * links are closed, results so far are kept and the run is marked interrupted.
 * No cancel is sent: an agent that is at work goes on to the end of its run by
 * itself, and the same command again follows it there first.
 */
#include "controller/fleet/fleet.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARALLEL_DEFAULT 512
#define STAY_MAX         16384 /* links that are kept open */
#define RUNS_LOOKED_AT   1000

/* --- before --- */

/* Only what changes nodes, or may meet something that does, needs the node for itself. */
static bool wants_leases(const struct fleet *f)
{
	return !f->stay || fleet_acts(f);
}

/* A result for each node that cannot begin; the others wait for their links. */
static int begin_tasks(struct fleet *f, struct err *err)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct task *t = &f->tasks[i];
		struct err why = {0};
		const int rc = task_judge(t, wants_leases(f) ? f->out->id : NULL, &why);

		if (rc == 0)
			continue;
		if (f->hub->broken.code || why.code == E_IO || why.code == E_NOSPACE) {
			*err = why;
			return rc;
		}
		task_refuse(t, &why);
	}
	return 0;
}

/* The run, its leases and its first results, in one transaction. */
static int open_run(struct fleet *f, struct err *err)
{
	int rc;

	f->unfinished = f->n;
	f->hub->retrying = 0;
	for (unsigned i = 0; i < f->n; i++)
		task_reset(&f->tasks[i], f, f->hub->nodes->at[i]);
	if (!record_begin(f->hub)) {
		*err = f->hub->broken;
		return -(int)err->code;
	}
	rc = fleet_open_row(f, err);
	if (rc == 0)
		rc = begin_tasks(f, err);
	if (rc == 0 && f->opts->plan_hash)
		rc = plan_expect(f, f->hub->recipes, err);
	if (rc < 0) {
		f->hub->broken = *err;
		record_commit(f->hub); /* rolls back */
		return rc;
	}
	record_commit(f->hub);
	if (f->hub->broken.code)
		*err = f->hub->broken;
	return -(int)f->hub->broken.code;
}

static unsigned links_wanted(const struct fleet *f)
{
	if (f->opts->parallel)
		return f->opts->parallel;
	return f->stay ? STAY_MAX : PARALLEL_DEFAULT;
}

/* --- the loop --- */

static void renew_leases(struct fleet *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->tasks[i].state != TASK_DONE)
			record_renew_lease(f->hub, f->tasks[i].node, f->out->id);
}

static bool on_tick(void *ctx)
{
	struct fleet *f = ctx;
	struct hub *h = f->hub;
	const int64_t now = clock_mono();

	if (wants_leases(f) && record_renewal_due(h, now))
		renew_leases(f);
	record_commit(h);
	if (signals_came())
		h->stopping = true;
	if (h->stopping || h->broken.code)
		return false;
	hub_sweep(h, f->tasks, f->n, now);
	return true;
}

static void begin_task(struct task *t)
{
	struct err err = {0};

	if (t->state == TASK_WAITING)
		task_start(t);
	if (t->state != TASK_IDLE)
		return;
	t->state = TASK_ORDERED;
	t->heard = clock_mono();
	if (order_again(t, &err) < 0)
		link_abort(t->link, &err);
}

/* Links that wait to be tried again do not keep the set busy. */
static int run_loop(struct fleet *f, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < f->n; i++)
		begin_task(&f->tasks[i]);
	f->hub->renewed = clock_mono();
	while (rc == 0 && f->unfinished > 0) {
		rc = link_set_run(f->hub->links, on_tick, f, err);
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

static bool is_good(enum step_result r)
{
	return r == RESULT_OK || r == RESULT_CHANGED || r == RESULT_SKIPPED;
}

/* Of a run that was gone on with, the other nodes count too. */
static bool all_good(struct fleet *f)
{
	const struct result_counts *c = &f->out->nodes;
	struct node_results rows = VEC_INIT;
	bool good = c->n[RESULT_OK] + c->n[RESULT_CHANGED] + c->n[RESULT_SKIPPED] == f->n;

	if (good && f->reopened) {
		good = store_results(f->hub->store, f->hub->arena, f->out->id, &rows, NULL) == 0;
		vec_each(&rows, struct node_result, r)
			good = good && is_good(r->state);
		vec_done(&rows);
	}
	return good;
}

static int close_run(struct fleet *f, struct err *err)
{
	sum_plans(f);
	if (record_begin(f->hub)) {
		const char *state = f->hub->stopping ? "interrupted"
				    : all_good(f)    ? "done"
						     : "failed";

		if (wants_leases(f))
			(void)store_lease_drop_run(f->hub->store, f->out->id, &f->hub->broken);
		if (!f->hub->broken.code)
			(void)store_run_end(f->hub->store, f->out->id, state,
				f->reopened ? NULL : f->out->plan_hash, &f->hub->broken);
		record_commit(f->hub);
	}
	if (!f->hub->broken.code)
		return 0;
	*err = f->hub->broken;
	return err_wrap(err, "run '%s' cannot be recorded", f->out->id);
}

static int name_run(struct fleet *f, struct err *err)
{
	int rc = 0;

	if (f->opts->id)
		snprintf(f->out->id, sizeof f->out->id, "%s", f->opts->id);
	else
		rc = run_make_id(f->out->id, err);
	return rc < 0 ? rc : run_lock_take(f->hub->store, f->hub->arena, f->out->id, &f->lock, err);
}

int fleet_begin(struct fleet *f, const struct node_refs *nodes, struct err *err)
{
	f->lock = -1;
	f->n = (unsigned)nodes->n;
	f->tasks = xcalloc(f->n + 1, sizeof *f->tasks);
	return hub_open(f->hub, nodes, links_wanted(f), err);
}

int fleet_turn(struct fleet *f, struct err *err)
{
	const int64_t began = clock_mono();
	struct signals old;
	int rc;

	*f->out = (struct fleet_outcome){0};
	f->hub->stopping = f->reopened = false;
	signals_take(&old);
	rc = name_run(f, err);
	if (rc == 0)
		rc = open_run(f, err);
	if (rc == 0)
		rc = run_loop(f, err);
	if (rc == 0)
		rc = close_run(f, err);
	signals_give_back(&old);
	run_lock_drop(f->hub->store, f->hub->arena, f->out->id, f->lock);
	f->lock = -1;
	f->out->took = clock_mono() - began;
	return rc;
}

void fleet_end(struct fleet *f)
{
	hub_close(f->hub);
	for (unsigned i = 0; f->tasks && i < f->n; i++)
		task_done(&f->tasks[i]);
	free(f->tasks);
}

int fleet_run(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct fleet_outcome *out, struct err *err)
{
	struct hub hub = {.store = s, .keys = k, .opts = o};
	struct fleet f = {.hub = &hub, .opts = o, .out = out};
	unsigned abandoned;
	int rc = fleet_recover(s, &abandoned, err);

	*out = (struct fleet_outcome){0};
	if (rc < 0)
		return rc;
	rc = fleet_begin(&f, nodes, err);
	if (rc == 0)
		rc = fleet_turn(&f, err);
	fleet_end(&f);
	return rc;
}

/*
 * Marks the runs that nobody holds the lock of. The lock is surer than the owner of a lease: a
 * killed process that its parent has not collected yet still has its number.
 */
static int end_abandoned(struct store *s, struct arena *a, unsigned *n, struct err *err)
{
	struct run_rows rows = VEC_INIT;
	int rc = store_runs_bare(s, a, RUNS_LOOKED_AT, &rows, err);

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
