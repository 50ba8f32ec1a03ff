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
#include "inventory/store/order.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARALLEL_DEFAULT 512
#define STAY_MAX         16384 /* links that are kept open */
#define SWEEP_EVERY      CLOCK_SEC
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
static int judge_node(const struct fleet *f, const struct node_row *n, struct err *err)
{
	if (f->opts->transport)
		return 0;
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

static bool is_gone_on_with(const struct fleet *f)
{
	return f->opts->mode == ORDER_ATTACH || f->opts->mode == ORDER_RESUME;
}

/* What a run changes, or is to, stands in the audit log. */
static int note_run(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	const char *nodes = o->nodes_text ? o->nodes_text : "";
	int rc = 0;

	if (fleet_acts(f) || o->mode == ORDER_REKEY)
		rc = store_audit_add(
			f->store, o->by, order_mode_name(o->mode), nodes, f->out->id, err);
	if (rc == 0 && fleet_acts(f) && !is_gone_on_with(f)) {
		AUTO_JSON body = params_record(f);

		rc = store_order_put(f->store, f->out->id, body, err);
	}
	return rc;
}

static int add_run(struct fleet *f, const char *recipes, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	const struct run_row row = {
		.id = f->out->id,
		.mode = order_mode_name(o->mode),
		.recipes = recipes,
		.nodes = o->nodes_text ? o->nodes_text : "",
		.by = o->by,
		.state = "running",
		.plan_hash = "",
		.bundle = f->pack.digest,
		.started = clock_wall(),
		.n_nodes = f->n,
	};
	int rc;

	if (is_gone_on_with(f)) {
		f->reopened = true;
		rc = plan_seen(f, err);
		if (rc == 0)
			rc = store_run_reopen(f->store, f->out->id, err);
	} else {
		rc = store_run_add(f->store, &row, err);
	}
	return rc < 0 ? rc : note_run(f, err);
}

/* Only what changes nodes, or may meet something that does, needs the node for itself. */
static bool wants_leases(const struct fleet *f)
{
	return !f->stay || fleet_acts(f);
}

static int judge_task(struct fleet *f, struct task *t, struct err *why)
{
	const int rc = judge_node(f, t->node, why);

	if (rc < 0)
		return rc;
	if (t->set && t->set->err.code) {
		*why = t->set->err;
		return -(int)why->code;
	}
	return wants_leases(f) ? record_take_lease(f, t->node, why) : 0;
}

static enum step_result state_of(const struct task *t, enum ec code)
{
	if (t->set && t->set->err.code)
		return RESULT_FAILED;
	return code == E_BUSY || code == E_HOSTKEY ? RESULT_DENIED : RESULT_FAILED;
}

/* A result for each node that cannot begin; the others wait for their links. */
static int begin_tasks(struct fleet *f, struct err *err)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct task *t = &f->tasks[i];
		struct err why = {0};
		const int rc = judge_task(f, t, &why);

		if (rc == 0)
			continue;
		if (f->broken.code || why.code == E_IO || why.code == E_NOSPACE) {
			*err = why;
			return rc;
		}
		task_finish(t, state_of(t, why.code), &why);
	}
	return 0;
}

/* A fresh task; what a link that stays needs is kept. */
static void reset_task(struct fleet *f, struct task *t, const struct node_row *node)
{
	const struct task old = *t;
	const bool kept = old.state == TASK_IDLE && old.link;

	*t = (struct task){.fleet = f,
		.node = node,
		.set = params_of(f, node),
		.signer = f->keys->sign,
		.began = clock_mono()};
	if (!kept)
		return;
	t->state = TASK_IDLE;
	t->link = old.link;
	t->reader = old.reader;
	t->signer = old.signer;
	t->met = t->modern = true;
	memcpy(t->nonce, old.nonce, sizeof t->nonce);
	memcpy(t->body_hash, old.body_hash, sizeof t->body_hash);
	memcpy(t->boot_id, old.boot_id, sizeof t->boot_id);
	t->last_counts = old.last_counts;
	memcpy(t->last_hash, old.last_hash, sizeof t->last_hash);
}

/* The run, its leases and its first results, in one transaction. */
static int open_run(struct fleet *f, struct err *err)
{
	AUTO_BUF recipes = {0};
	int rc;

	buf_init(&recipes, 64u << 10);
	join_recipes(f->opts, &recipes);
	f->unfinished = f->n;
	f->retrying = 0;
	for (unsigned i = 0; i < f->n; i++)
		reset_task(f, &f->tasks[i], f->nodes->at[i]);
	if (!record_begin(f)) {
		*err = f->broken;
		return -(int)err->code;
	}
	rc = add_run(f, buf_text(&recipes), err);
	if (rc == 0)
		rc = begin_tasks(f, err);
	if (rc == 0 && f->opts->plan_hash)
		rc = plan_expect(f, buf_text(&recipes), err);
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
		.max_open = f->opts->parallel ? f->opts->parallel
			    : f->stay         ? STAY_MAX
					      : PARALLEL_DEFAULT,
		.transport = f->opts->transport,
	};

	return link_set_new(&o, &f->links, err);
}

/* --- the loop --- */

static bool on_tick(void *ctx)
{
	struct fleet *f = ctx;
	const int64_t now = clock_mono();

	if (wants_leases(f))
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
		good = store_results(f->store, f->arena, f->out->id, &rows, NULL) == 0;
		vec_each(&rows, struct node_result, r)
			good = good && is_good(r->state);
		vec_done(&rows);
	}
	return good;
}

static int close_run(struct fleet *f, struct err *err)
{
	sum_plans(f);
	if (record_begin(f)) {
		const char *state = f->stopping ? "interrupted" : all_good(f) ? "done" : "failed";

		if (wants_leases(f))
			(void)store_lease_drop_run(f->store, f->out->id, &f->broken);
		if (!f->broken.code)
			(void)store_run_end(f->store, f->out->id, state,
				f->reopened ? NULL : f->out->plan_hash, &f->broken);
		record_commit(f);
	}
	if (!f->broken.code)
		return 0;
	*err = f->broken;
	return err_wrap(err, "run '%s' cannot be recorded", f->out->id);
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

int fleet_begin(struct fleet *f, const struct node_refs *nodes, struct err *err)
{
	int rc;

	f->lock = -1;
	f->arena = arena_new();
	f->owner = store_owner(f->arena);
	f->nodes = nodes;
	f->n = (unsigned)nodes->n;
	f->tasks = xcalloc(f->n + 1, sizeof *f->tasks);
	rc = order_prepare(f, nodes, err);
	return rc < 0 ? rc : make_links(f, err);
}

int fleet_turn(struct fleet *f, struct err *err)
{
	const int64_t began = clock_mono();
	struct handlers old;
	int rc;

	*f->out = (struct fleet_outcome){0};
	f->stopping = f->reopened = false;
	take_signals(&old);
	rc = name_run(f, err);
	if (rc == 0)
		rc = open_run(f, err);
	if (rc == 0)
		rc = run_loop(f, err);
	if (rc == 0)
		rc = close_run(f, err);
	give_signals_back(&old);
	run_lock_drop(f->store, f->arena, f->out->id, f->lock);
	f->lock = -1;
	f->out->took = clock_mono() - began;
	return rc;
}

void fleet_end(struct fleet *f)
{
	link_set_free(f->links);
	for (unsigned i = 0; f->tasks && i < f->n; i++)
		task_done(&f->tasks[i]);
	free(f->tasks);
	order_cleanup(f);
	arena_free(f->arena);
}

int fleet_run(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct fleet_outcome *out, struct err *err)
{
	struct fleet f = {.store = s, .keys = k, .opts = o, .out = out};
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
