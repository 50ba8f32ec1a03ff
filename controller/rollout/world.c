#include "controller/rollout/world.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/run_lock.h"
#include "controller/rollout/world_priv.h"
#include "inventory/store/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAR_EVERY   (CLOCK_SEC / 2)
#define WRITE_EVERY  (2 * CLOCK_SEC)
#define SILENCE_MOST (60 * CLOCK_SEC) /* of a scheduler, before anything is begun */
#define RUNS_SEEN    1000
#define MANY         100 /* nodes at work, from which on turns are taken together */
#define TURN_MANY    (20 * CLOCK_MS)

/* --- what it is about --- */

/* The order and the nodes of a rollout that is in the store. */
static int load_order(struct world *w, struct err *err)
{
	struct rollout_row row;
	struct rollout_node_rows of = VEC_INIT;
	int rc = store_rollout_get(w->store, w->arena, w->run, &row, err);

	if (rc == 0)
		rc = frozen_load(w->store, w->arena, w->run, row.order, &w->own, err);
	w->order = &w->own;
	if (rc == 0)
		rc = store_rollout_nodes(w->store, w->arena, w->run, &of, err);
	if (rc == 0)
		rc = store_nodes(w->store, w->arena, &w->rows, err);
	for (size_t i = 0; rc == 0 && i < w->rows.n; i++) {
		const struct rollout_node_row key = {.node = w->rows.at[i].id};

		if (of.n > 0 && bsearch(&key, of.at, of.n, sizeof key, world_compare_rows))
			*vec_push(&w->refs) = &w->rows.at[i];
	}
	if (rc == 0 && w->refs.n != of.n) {
		err_set(err, E_STATE, "%zu of the rollout's nodes are no longer in the inventory",
			of.n - w->refs.n);
		rc = err_hint(err,
			"put them back into the site's file until the rollout has ended: "
			"stoika run show %s",
			w->run);
	}
	vec_done(&of);
	return rc;
}

static int take_order(struct world *w, struct err *err)
{
	AUTO_BUF order = {0};
	int rc;

	w->order = w->opts->order;
	for (size_t i = 0; i < w->opts->nodes->n; i++)
		*vec_push(&w->refs) = w->opts->nodes->at[i];
	rc = run_make_id(w->out->id, err);
	if (rc == 0)
		rc = frozen_keep(w->store, w->arena, w->out->id, w->order, &order, err);
	w->order_text = arena_strdup(w->arena, buf_text(&order));
	return rc;
}

static int find_order(struct world *w, struct err *err)
{
	int rc;

	if (w->opts->run)
		snprintf(w->out->id, sizeof w->out->id, "%s", w->opts->run);
	w->run = w->out->id;
	rc = w->opts->run ? load_order(w, err) : take_order(w, err);
	w->n = w->refs.n;
	w->out->n = w->n;
	return rc;
}

/* --- its parts --- */

static int make_fence(struct world *w, struct err *err)
{
	const struct rollout_fence *f = &w->order->policy.fence;
	const struct fence_opts o = {.kind = f->by,
		.mark = w->run,
		.command = f->command,
		.prefix = f->prefix,
		.kubeconfig = f->kubeconfig,
		.look_every = w->opts->look_every};
	const char **names = arena_alloc(w->arena, (w->n + 1) * sizeof *names);
	struct fence_opts *kept = arena_alloc(w->arena, sizeof *kept);

	if (f->by == FENCE_NONE)
		return 0;
	for (size_t i = 0; i < w->n; i++)
		names[i] = w->refs.at[i]->name;
	*kept = o;
	return fence_new(kept, names, w->n, &w->fence, err);
}

static int make_crew(struct world *w, struct err *err)
{
	const struct rollout_opts *o = w->opts;
	struct crew_opts *c = arena_alloc(w->arena, sizeof *c);
	const struct secrets *secrets = NULL;
	const int rc = o->secrets ? o->secrets(o->ctx, w->order->recipes, w->order->n_recipes,
					    &secrets, err)
				  : 0;

	*c = (struct crew_opts){.name = w->run,
		.recipes = w->order->recipes,
		.n_recipes = w->order->n_recipes,
		.params = w->order->params,
		.secrets = secrets,
		.nodes_text = o->nodes_text ? o->nodes_text : "",
		.by = o->by,
		.connect_timeout = o->connect_timeout,
		.patience = o->patience,
		.reboot_asked = w->order->policy.reboot_by_fence,
		.kex = o->kex,
		.transport = o->transport,
		.ctx = w,
		.event = world_crew_event,
		.done = world_crew_done,
		.evidence = world_crew_evidence};
	return rc < 0 ? rc : crew_open(w->store, w->keys, &w->refs, c, &w->crew, err);
}

static void make_drive(struct world *w)
{
	static const struct drive_world ops = {.move = world_move,
		.commit = world_commit,
		.enter = world_enter,
		.leave = world_leave};
	struct drive_world *own = arena_alloc(w->arena, sizeof *own);

	*own = ops;
	own->ctx = w;
	own->is_away = w->fence ? world_is_away : NULL;
	w->drive = drive_new(&w->order->policy, w->ground.plan, w->n, own);
}

static int judge_run(struct world *w, struct err *err)
{
	struct run_row r;
	int rc = store_run_find(w->store, w->arena, w->run, &r, err);

	if (rc < 0 || strcmp(r.state, "running") == 0 || strcmp(r.state, "interrupted") == 0)
		return rc;
	err_set(err, E_STATE, "rollout %s has come to its end: %s", w->run, r.state);
	return err_hint(err,
		"'stoika run show %s' tells who is not done; 'stoika apply ... --rollout POLICY' "
		"begins another with them",
		w->run);
}

/* The crew's lock is the rollout's: what is read of rows behind it stays so. */
static int set_out(struct world *w, struct err *err)
{
	int rc = ground_make(w->arena, w->store, w->order->site, BASIS_MEASURED, &w->refs,
		&w->order->policy, &w->ground, err);

	w->at = xcalloc(w->n + 1, sizeof *w->at);
	if (rc == 0)
		rc = make_fence(w, err);
	if (rc == 0)
		rc = make_crew(w, err);
	if (rc < 0)
		return rc;
	make_drive(w);
	if (!w->opts->run)
		return world_add(w, err);
	rc = judge_run(w, err);
	if (rc == 0)
		rc = crew_begin_write(w->crew, err);
	if (rc == 0)
		rc = store_run_reopen(w->store, w->run, err);
	if (rc == 0)
		rc = store_audit_add(w->store, w->opts->by, "resume", "", w->run, err);
	if (rc == 0)
		rc = crew_commit(w->crew, err);
	if (rc == 0)
		rc = world_restore(w, err);
	return rc < 0 ? rc : world_hear(w, err);
}

/* --- the loop --- */

/* Whether the scheduler was heard once; one that stays silent is no ground to begin on. */
static bool is_heard(struct world *w)
{
	const char *silent;

	if (w->heard || !w->fence || w->n == 0)
		return true;
	if (fence_look(w->fence, 0)->state != FENCE_UNASKED) {
		w->heard = true;
		return true;
	}
	silent = fence_silent(w->fence);
	if (w->now - w->began > SILENCE_MOST) {
		err_set(&w->broken, E_TIMEOUT, "the scheduler does not answer: %s",
			silent ? silent : "no word of it");
		err_hint(&w->broken, "stoika run resume %s, once it does", w->run);
	}
	return false;
}

static void look_at_busy(struct world *w)
{
	size_t kept = 0;

	for (size_t k = 0; k < w->busy.n; k++) {
		const size_t i = w->busy.at[k];

		world_pump(w, i);
		world_look(w, i);
		w->at[i].listed = w->at[i].at_work || w->at[i].calling ||
				  !node_is_terminal(w->at[i].row_state);
		if (w->at[i].listed)
			w->busy.at[kept++] = i;
	}
	w->busy.n = kept;
}

static void look_at_cycle(struct world *w)
{
	AUTO_BUF text = {0};

	if (!program_poll(&w->cycle, w->now))
		return;
	buf_init(&text, 1u << 20);
	buf_addf(&text, "ended with status %d\n", w->cycle.status);
	buf_add_str(&text, buf_str(&w->cycle.out));
	buf_add_str(&text, buf_str(&w->cycle.err));
	world_keep_evidence(w, w->cycled, CYCLE_FILE, buf_str(&text));
}

static int hear_and_write(struct world *w, struct err *err)
{
	int rc = 0;

	if (w->now - w->looked < HEAR_EVERY)
		return 0;
	w->looked = w->now;
	rc = world_hear(w, err);
	if (rc == 0 && w->now - w->written >= WRITE_EVERY) {
		w->written = w->now;
		rc = world_write_waits(w, err);
	}
	if (rc == 0)
		rc = world_put_row(w, err);
	if (w->opts->turn)
		w->opts->turn(w->opts->ctx, w->drive);
	return rc;
}

/* All is over when also what is done for those at rest is. */
static bool is_over(struct world *w)
{
	if (!drive_is_over(w->drive))
		return false;
	for (size_t k = 0; k < w->busy.n; k++)
		if (w->at[w->busy.at[k]].at_work &&
			node_is_terminal(w->at[w->busy.at[k]].row_state))
			return false;
	return true;
}

static bool on_tick(void *ctx)
{
	struct world *w = ctx;
	struct err err = {0};

	w->now = clock_mono();
	w->wall = clock_wall();
	if (w->fence)
		fence_tick(w->fence, w->now);
	if (!is_heard(w) || w->broken.code)
		return w->broken.code == 0;
	if (w->busy.n > MANY && w->now - w->turned < TURN_MANY)
		return true; /* many answers, one turn */
	w->turned = w->now;
	look_at_cycle(w);
	look_at_busy(w);
	if (w->broken.code == 0 &&
		(drive_turn(w->drive, w->now, w->wall, &err) < 0 || hear_and_write(w, &err) < 0))
		w->broken = err;
	if (w->broken.code)
		return false;
	w->ended = is_over(w);
	return !w->ended;
}

static int run_loop(struct world *w, struct err *err)
{
	int rc;

	w->began = clock_mono();
	if (w->opts->began)
		w->opts->began(w->opts->ctx, w->run);
	rc = crew_run(w->crew, on_tick, w, &w->stopped, err);
	if (rc == 0 && w->broken.code) {
		*err = w->broken;
		rc = -(int)err->code;
	}
	return rc;
}

/* --- the end --- */

static void sum_up(struct world *w)
{
	struct rollout_outcome *o = w->out;
	const char *paused = w->aborted ? NULL : drive_paused(w->drive);
	size_t rest = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct world_node *n = &w->at[i];

		o->states[n->row_state]++;
		o->unreached += n->row_state == STATE_REJECTED && !n->met;
		rest += node_is_terminal(n->row_state);
	}
	if (rest == w->n)
		paused = NULL; /* there is nobody left to go on with */
	o->stopped = w->stopped && !w->ended;
	o->aborted = w->aborted;
	snprintf(o->paused, sizeof o->paused, "%s", paused ? paused : "");
	w->ended = w->ended && !paused; /* it may be gone on with */
}

static void free_node(struct world_node *n)
{
	world_answer_clear(&n->answer);
	free(n->memory);
	free(n->reason);
	free(n->hint);
	free(n->signature);
	free(n->waits);
}

static void world_free(struct world *w)
{
	struct err err;

	program_done(&w->cycle);
	if (w->crew)
		(void)crew_close(w->crew, &err);
	drive_free(w->drive);
	fence_free(w->fence);
	ground_done(&w->ground);
	for (size_t i = 0; w->at && i < w->n; i++)
		free_node(&w->at[i]);
	free(w->at);
	frozen_done(&w->own);
	vec_done(&w->busy);
	vec_done(&w->moved);
	vec_done(&w->refs);
	vec_done(&w->rows);
	arena_free(w->arena);
}

int rollout_drive(struct store *s, const struct keys *k, const struct rollout_opts *o,
	struct rollout_outcome *out, struct err *err)
{
	struct world w = {.store = s, .keys = k, .opts = o, .out = out, .arena = arena_new()};
	struct err late;
	int rc;

	*out = (struct rollout_outcome){0};
	program_init(&w.cycle);
	w.now = clock_mono();
	w.wall = clock_wall();
	out->took = w.now;
	rc = find_order(&w, err);
	if (rc == 0)
		rc = set_out(&w, err);
	if (rc < 0 && !o->run)
		frozen_forget(s, w.arena, out->id);
	if (rc == 0) {
		rc = run_loop(&w, err);
		sum_up(&w);
		if (world_end(&w, rc == 0 ? err : &late) < 0 && rc == 0)
			rc = -(int)err->code;
	}
	world_free(&w);
	out->took = clock_mono() - out->took;
	return rc;
}

static bool is_driven(struct store *s, struct arena *a, const char *run)
{
	int fd = -1;
	const bool driven = run_lock_take(s, a, run, &fd, NULL) < 0;

	run_lock_drop(s, a, run, fd);
	return driven;
}

int rollout_is_under_way(
	struct store *s, struct arena *a, const char *run, bool *out, struct err *err)
{
	struct rollout_counts counts = VEC_INIT;
	const int rc = store_rollout_counts(s, a, run, &counts, err);

	*out = false;
	vec_each(&counts, const struct rollout_count, c)
		for (unsigned state = STATE_CORDONED; state < STATE_N; state++)
			*out = *out || (!node_is_terminal((enum node_state)state) &&
					       strcmp(c->state, NODE_STATES[state]) == 0);
	vec_done(&counts);
	return rc;
}

/* What a person has paused stays so until a person says otherwise. */
static int may_go_on(struct store *s, struct arena *a, const char *run, bool *out, struct err *err)
{
	struct rollout_row row;
	int rc = store_rollout_get(s, a, run, &row, err);

	*out = rc == 0 && !row.paused;
	if (rc == 0 && row.paused && !str_starts(str_of(row.reason), ROLLOUT_PAUSED_BY))
		rc = rollout_is_under_way(s, a, run, out, err);
	*out = *out && !is_driven(s, a, run);
	return rc;
}

int rollout_unfinished(
	struct store *s, struct arena *a, const char ***runs, size_t *n, struct err *err)
{
	struct run_rows rows = VEC_INIT;
	int rc = store_runs_bare(s, a, RUNS_SEEN, &rows, err);

	*n = 0;
	*runs = arena_alloc(a, (rows.n + 1) * sizeof **runs);
	vec_each(&rows, const struct run_row, r) {
		bool may = false;

		if (rc < 0 || strcmp(r->mode, "rollout") != 0 ||
			(strcmp(r->state, "running") != 0 && strcmp(r->state, "interrupted") != 0))
			continue;
		rc = may_go_on(s, a, r->id, &may, err);
		if (rc == 0 && may)
			(*runs)[(*n)++] = r->id;
	}
	vec_done(&rows);
	return rc;
}
