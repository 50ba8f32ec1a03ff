/*
 * crew - a hub whose tasks are parked until they are called, each into a run of its mode and try.
 *
 * A node has one task, which belongs to the run it was called for last. Results wait in a list
 * until the loop is outside of links' callbacks, so that done may call for more. A call starts its
 * link only after the open group of writes is committed.
 */
#include "controller/fleet/crew.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/crew_priv.h"
#include "controller/ssh/link.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX     16384 /* links at once: orders under way, most of them silent */
#define ROLLOUT_MAX  44    /* so that NAME-MODE-K is the name of a run */
#define PAUSE        (50 * CLOCK_MS)
#define COMMIT_EVERY (100 * CLOCK_MS)

/* --- what tasks tell --- */

static size_t index_of(const struct crew *c, const struct task *t)
{
	return (size_t)(t - c->tasks);
}

/* The fleet of a crew's task is the first member of its run. */
static struct crew_run *run_of(const struct task *t)
{
	return (struct crew_run *)t->fleet;
}

static struct crew *crew_of(const struct task *t)
{
	return t->fleet->opts->ctx;
}

static void on_event(struct task *t, const json_t *record)
{
	struct crew *c = crew_of(t);

	if (c->opts.event)
		c->opts.event(c->opts.ctx, index_of(c, t), t->fleet->opts->mode, record);
}

static void on_facts(struct task *t, json_t *facts)
{
	struct crew *c = crew_of(t);
	struct crew_node *n = &c->at[index_of(c, t)];

	json_drop(&n->facts);
	n->facts = json_incref(facts);
}

static void on_evidence(struct task *t, const char *name, struct str bytes)
{
	struct crew *c = crew_of(t);

	if (c->opts.evidence)
		c->opts.evidence(c->opts.ctx, index_of(c, t), name, bytes);
}

/* The result and copies of its words. */
static struct crew_end *keep_result(const struct node_result *r)
{
	const size_t reason = strlen(r->reason) + 1, hint = strlen(r->hint) + 1;
	struct crew_end *e = xmalloc(sizeof *e + reason + hint);
	char *words = (char *)(e + 1);

	e->result = *r;
	e->result.reason = memcpy(words, r->reason, reason);
	e->result.hint = memcpy(words + reason, r->hint, hint);
	e->result.plan_hash = e->plan_hash;
	snprintf(e->plan_hash, sizeof e->plan_hash, "%s", r->plan_hash);
	return e;
}

static void on_done(struct task *t, const struct node_result *r)
{
	struct crew *c = crew_of(t);
	const size_t i = index_of(c, t);
	struct crew_node *n = &c->at[i];

	crew_run_remember(c, run_of(t), i, t);
	n->met = n->met || t->met;
	n->state = NODE_ENDED;
	n->end = keep_result(r);
	*vec_push(&c->ended) = i;
	link_set_pause(c->hub.links);
}

static const struct task_hooks HOOKS = {on_event, on_facts, on_evidence, on_done};

/* --- life --- */

static struct fleet_opts common_opts(struct crew *c)
{
	const struct crew_opts *o = &c->opts;

	return (struct fleet_opts){
		.recipes = o->recipes,
		.n_recipes = o->n_recipes,
		.params = o->params,
		.secrets = o->secrets,
		.nodes_text = o->nodes_text,
		.by = o->by,
		.connect_timeout = o->connect_timeout,
		.patience = o->patience,
		.silence = o->silence,
		.kex = o->kex,
		.transport = o->transport,
		.ctx = c,
	};
}

static int take_name(struct crew *c, const char *name, struct err *err)
{
	if (!order_is_run_id(name) || strlen(name) > ROLLOUT_MAX)
		return err_set(err, E_SYNTAX,
			"'%s' cannot name a rollout: expected a-z, 0-9 and -, at most %d of them",
			name, ROLLOUT_MAX);
	return run_lock_take(c->hub.store, c->hub.arena, name, &c->lock, err);
}

static void free_all(struct crew *c)
{
	hub_close(&c->hub);
	for (size_t i = 0; i < c->n; i++) {
		task_done(&c->tasks[i]);
		json_drop(&c->at[i].facts);
		free(c->at[i].end);
	}
	crew_runs_free(c);
	vec_done(&c->ended);
	vec_done(&c->called);
	free(c->tasks);
	free(c->at);
	free(c);
}

int crew_open(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct crew_opts *o, struct crew **out, struct err *err)
{
	struct crew *c = xcalloc(1, sizeof *c);
	unsigned abandoned;
	int rc = fleet_recover(s, &abandoned, err);

	c->opts = *o;
	c->lock = -1;
	c->common = common_opts(c);
	c->n = nodes->n;
	c->tasks = xcalloc(c->n + 1, sizeof *c->tasks);
	c->at = xcalloc(c->n + 1, sizeof *c->at);
	c->hub = (struct hub){.store = s,
		.keys = k,
		.opts = &c->common,
		.lease = o->name,
		.hooks = &HOOKS,
		.reboot_asked = o->reboot_asked};
	for (size_t i = 0; i < c->n; i++)
		c->tasks[i].state = TASK_DONE;
	if (rc == 0)
		rc = hub_open(&c->hub, nodes, OPEN_MAX, err);
	if (rc == 0)
		rc = take_name(c, o->name, err);
	if (rc < 0)
		free_all(c);
	else
		*out = c;
	return rc;
}

static bool is_under_way(const struct crew_node *n)
{
	return n->state == NODE_CALLED || n->state == NODE_BUSY;
}

static int broken(const struct crew *c, struct err *err)
{
	if (c->hub.broken.code)
		*err = c->hub.broken;
	return -(int)c->hub.broken.code;
}

int crew_close(struct crew *c, struct err *err)
{
	struct hub *h = &c->hub;
	int rc;

	for (size_t i = 0; i < c->n; i++) {
		struct task *t = &c->tasks[i];

		if (!is_under_way(&c->at[i]))
			continue;
		run_of(t)->interrupted = true;
		task_stop(t);
	}
	if (record_begin(h)) {
		crew_runs_end(c);
		if (!h->broken.code)
			(void)store_lease_drop_run(h->store, c->opts.name, &h->broken);
		record_commit(h);
	}
	rc = broken(c, err);
	if (rc < 0)
		err_wrap(err, "rollout '%s' cannot be recorded", c->opts.name);
	crew_runs_unlock(c);
	run_lock_drop(h->store, h->arena, c->opts.name, c->lock);
	free_all(c);
	return rc;
}

/* --- orders --- */

static bool is_for_crews(enum order_mode mode)
{
	return mode != ORDER_ATTACH && mode != ORDER_RESUME && mode != ORDER_REKEY;
}

/* What only looks leaves no trace on a node: it is simply asked anew. */
static bool leaves_trace(enum order_mode mode)
{
	return mode == ORDER_APPLY || mode == ORDER_UNDO;
}

/* Where a node stood in a run that an earlier controller had begun. */
static void go_on(struct task *t, const struct crew_past *past)
{
	const enum order_mode mode = t->fleet->opts->mode;

	t->attach = t->given = leaves_trace(mode);
	if (!past)
		return;
	t->seen = past->seen;
	if (!past->rebooting)
		return;
	t->rebooting = true;
	memcpy(t->boot_id, past->boot_id, sizeof t->boot_id);
	message_note_reboot(t, past->within);
}

static int judge_call(
	const struct crew *c, size_t node, enum order_mode mode, unsigned try, struct err *err)
{
	if (!is_for_crews(mode) || try == 0 || node >= c->n)
		return err_set(err, E_INTERNAL, "a crew cannot give the order '%s', try %u",
			order_mode_name(mode), try);
	if (c->at[node].state != NODE_IDLE)
		return err_set(
			err, E_STATE, "'%s' still has its order", c->hub.nodes->at[node]->name);
	return broken(c, err);
}

static void begin(struct crew *c, size_t node, bool again, const struct crew_past *past)
{
	struct task *t = &c->tasks[node];
	struct crew_node *n = &c->at[node];
	struct err why = {0};

	if (again)
		go_on(t, past);
	n->state = NODE_CALLED;
	if (task_judge(t, n->held ? NULL : c->opts.name, &why) < 0) {
		task_refuse(t, &why);
		return;
	}
	n->held = true;
	*vec_push(&c->called) = node;
	link_set_pause(c->hub.links);
}

int crew_call(struct crew *c, size_t node, enum order_mode mode, unsigned try, bool again,
	int64_t reboot_wait, struct err *err)
{
	struct crew_run *run = NULL;
	struct task *t;
	int rc = judge_call(c, node, mode, try, err);

	if (rc == 0 && !record_begin(&c->hub))
		rc = broken(c, err);
	if (rc == 0)
		rc = crew_run_of(c, mode, try, &run, err);
	if (rc == 0)
		rc = crew_run_join(c, run, node, again, err);
	if (rc < 0)
		return rc;
	t = &c->tasks[node];
	task_reset(t, &run->fleet, c->hub.nodes->at[node]);
	t->state = TASK_PARKED;
	/* evidence is asked for of nodes that may be gone for good */
	t->known = c->at[node].met && mode != ORDER_EVIDENCE;
	t->reboot_wait = reboot_wait;
	if (run->opts.n_recipes == 0)
		t->set = NULL; /* no parameters, and no secrets */
	begin(c, node, again, run->past ? &run->past[node] : NULL);
	return 0;
}

void crew_drop(struct crew *c, size_t node)
{
	struct task *t = &c->tasks[node];
	struct err why = {0};

	if (!is_under_way(&c->at[node]))
		return;
	t->dropped = true;
	err_set(&why, E_CANCELLED, "given up");
	if (t->link) {
		link_abort(t->link, &why);
		return;
	}
	if (t->state == TASK_WAITING)
		c->hub.retrying--;
	task_stop(t);
}

int crew_release(struct crew *c, size_t node, struct err *err)
{
	struct crew_node *n = &c->at[node];
	const struct node_row *row = c->hub.nodes->at[node];

	if (is_under_way(n))
		return err_set(err, E_STATE, "'%s' still has its order", row->name);
	if (!n->held)
		return 0;
	if (record_begin(&c->hub)) {
		(void)store_lease_drop(c->hub.store, row->id, c->opts.name, &c->hub.broken);
		n->held = false;
	}
	return broken(c, err);
}

/* --- the loop --- */

static void tell_ended(struct crew *c)
{
	struct crew_list ended = c->ended; /* more may come by what is called for now */

	c->ended = (struct crew_list)VEC_INIT;
	for (size_t i = 0; i < ended.n; i++) {
		const size_t at = ended.at[i];
		struct crew_node *n = &c->at[at];
		struct crew_end *end = n->end;
		json_t *facts = n->facts;

		n->state = NODE_IDLE;
		n->end = NULL;
		n->facts = NULL;
		if (c->opts.done)
			c->opts.done(c->opts.ctx, at, c->tasks[at].fleet->opts->mode, &end->result,
				facts);
		json_decref(facts);
		free(end);
	}
	vec_done(&ended);
}

/* Behind a commit: what led to the call is kept. */
static void start_called(struct crew *c)
{
	if (c->called.n == 0)
		return;
	record_commit(&c->hub);
	for (size_t i = 0; i < c->called.n && !c->hub.broken.code; i++) {
		const size_t at = c->called.at[i];

		if (c->at[at].state != NODE_CALLED)
			continue; /* dropped meanwhile */
		c->at[at].state = NODE_BUSY;
		task_start(&c->tasks[at]);
	}
	c->called.n = 0;
}

static bool leave_links(void *ctx)
{
	struct crew *c = ctx;

	link_set_pause(c->hub.links);
	return true;
}

static void renew_leases(struct crew *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at[i].held)
			record_renew_lease(&c->hub, c->hub.nodes->at[i], c->opts.name);
}

static void keep_house(struct crew *c)
{
	const int64_t now = clock_mono();

	if (record_renewal_due(&c->hub, now))
		renew_leases(c);
	crew_runs_count(c);
	if (now - c->committed >= COMMIT_EVERY) {
		c->committed = now;
		record_commit(&c->hub);
	}
	hub_sweep(&c->hub, c->tasks, (unsigned)c->n, now);
}

static int run_links(struct crew *c, struct err *err)
{
	const bool idle = link_set_count(c->hub.links) == 0;

	if (idle && c->ended.n == 0)
		clock_sleep(PAUSE);
	return idle ? 0 : link_set_run(c->hub.links, leave_links, c, err);
}

int crew_run(struct crew *c, bool (*tick)(void *ctx), void *ctx, bool *stopped, struct err *err)
{
	struct signals old;
	int rc = broken(c, err);

	signals_take(&old);
	while (rc == 0 && !signals_came()) {
		tell_ended(c);
		if (!tick(ctx))
			break;
		start_called(c);
		rc = run_links(c, err);
		keep_house(c);
		if (rc == 0)
			rc = broken(c, err);
	}
	*stopped = signals_came();
	signals_give_back(&old);
	record_commit(&c->hub);
	return rc < 0 ? rc : broken(c, err);
}

int crew_begin_write(struct crew *c, struct err *err)
{
	return record_begin(&c->hub) ? 0 : broken(c, err);
}

int crew_commit(struct crew *c, struct err *err)
{
	record_commit(&c->hub);
	return broken(c, err);
}
