/*
 * crew_runs - the runs of a crew in the store, from the first call to the end of the crew.
 *
 * Each has a lock of its own, so that fleet_recover ends what a killed controller left. One that is
 * in the store already is opened again: what its nodes said is read back for who is asked again.
 */
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "controller/fleet/crew_priv.h"
#include "inventory/store/order.h"

#include <stdlib.h>
#include <string.h>

static struct crew_run *find(const struct crew *c, enum order_mode mode, unsigned try)
{
	for (size_t i = 0; i < c->runs.n; i++)
		if (c->runs.at[i]->opts.mode == mode && c->runs.at[i]->try == try)
			return c->runs.at[i];
	return NULL;
}

static void name_run(const struct crew *c, enum order_mode mode, unsigned try, char out[static 64])
{
	if (try == 1)
		snprintf(out, 64, "%.44s-%s", c->opts.name, order_mode_name(mode));
	else
		snprintf(out, 64, "%.44s-%s-%u", c->opts.name, order_mode_name(mode), try % 100000);
}

/* Whether the store has it: then with how many nodes. */
static int look_up(struct crew *c, struct crew_run *run, struct err *err)
{
	struct run_row row;
	struct arena *a = arena_new();
	int rc = store_run_find(c->hub.store, a, run->out.id, &row, err);

	if (rc == 0 && strcmp(row.id, run->out.id) == 0) {
		run->fleet.reopened = true;
		run->n_nodes = row.n_nodes;
	} else if (rc == -E_NOTFOUND || rc == -E_CONFLICT) {
		rc = 0; /* a prefix of others at most */
	}
	arena_free(a);
	return rc;
}

static int open_run(struct crew *c, struct crew_run *run, struct err *err)
{
	int rc = run_lock_take(c->hub.store, c->hub.arena, run->out.id, &run->fleet.lock, err);

	if (rc < 0)
		return rc;
	rc = look_up(c, run, err);
	if (rc == 0)
		rc = fleet_open_row(&run->fleet, err);
	if (rc < 0)
		c->hub.broken = *err;
	return rc;
}

static struct crew_run *make_run(struct crew *c, enum order_mode mode, unsigned try)
{
	struct crew_run *run = xcalloc(1, sizeof *run);

	run->opts = c->common;
	run->opts.mode = mode;
	if (mode == ORDER_FACTS || mode == ORDER_EVIDENCE) {
		run->opts.recipes = NULL;
		run->opts.n_recipes = 0;
	}
	run->fleet =
		(struct fleet){.hub = &c->hub, .opts = &run->opts, .out = &run->out, .lock = -1};
	if (mode == ORDER_UNDO)
		run->opts.undo_of = arena_printf(c->hub.arena, "%s-apply", c->opts.name);
	run->try = try;
	run->given = xcalloc(c->n + 1, sizeof *run->given);
	run->counted = true;
	name_run(c, mode, try, run->out.id);
	return run;
}

int crew_run_of(
	struct crew *c, enum order_mode mode, unsigned try, struct crew_run **out, struct err *err)
{
	struct crew_run *run = find(c, mode, try);
	int rc = 0;

	if (!run) {
		run = make_run(c, mode, try);
		*vec_push(&c->runs) = run;
		rc = open_run(c, run, err);
	}
	*out = run;
	return rc;
}

/* --- what was before --- */

struct place {
	int64_t id;
	size_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Where each node stands, by its id; the caller's to free. */
static struct place *sort_places(const struct crew *c)
{
	struct place *all = xcalloc(c->n + 1, sizeof *all);

	for (size_t i = 0; i < c->n; i++)
		all[i] = (struct place){c->hub.nodes->at[i]->id, i};
	qsort(all, c->n, sizeof *all, compare_places);
	return all;
}

static void note_past(struct crew_past *past, const json_t *record)
{
	const int64_t seq = json_get_int(record, "seq", 0);

	if (seq <= past->seen)
		return;
	past->seen = seq;
	past->rebooting = strcmp(json_get_str(record, "ev", ""), "rebooting") == 0;
	past->within = json_get_int(record, "within", 0);
	snprintf(past->boot_id, sizeof past->boot_id, "%.64s", json_get_str(record, "boot_id", ""));
}

static struct crew_past *past_of(const struct crew *c, struct crew_run *run)
{
	if (!run->past)
		run->past = xcalloc(c->n + 1, sizeof *run->past);
	return run->past;
}

static void note_events(const struct crew *c, const struct place *places, struct crew_past *past,
	struct event_rows *e)
{
	vec_each(e, struct event_row, row) {
		const struct place key = {.id = row->node};
		const struct place *p = bsearch(&key, places, c->n, sizeof key, compare_places);

		if (p)
			note_past(&past[p->at], row->record);
		json_decref(row->record);
	}
}

static int read_past(struct crew *c, struct crew_run *run, struct err *err)
{
	struct crew_past *past = past_of(c, run);
	struct place *places = sort_places(c);
	int64_t after = 0;
	size_t got;
	int rc;

	do {
		struct event_rows events = VEC_INIT;
		struct arena *a = arena_new();

		rc = store_events(c->hub.store, a, run->out.id, after, &events, err);
		got = events.n;
		if (got > 0)
			after = events.at[got - 1].id;
		note_events(c, places, past, &events);
		vec_done(&events);
		arena_free(a);
	} while (rc == 0 && got == STORE_EVENTS_MAX);
	free(places);
	return rc;
}

int crew_run_join(struct crew *c, struct crew_run *run, size_t node, bool again, struct err *err)
{
	int rc = 0;

	if (run->given[node] && !again)
		return err_set(err, E_STATE, "'%s' was given the order of run '%s' before",
			c->hub.nodes->at[node]->name, run->out.id);
	if (again && run->fleet.reopened && !run->past)
		rc = read_past(c, run, err);
	if (rc < 0)
		return rc;
	if (!run->given[node] && !(again && run->fleet.reopened)) {
		run->n_nodes++;
		run->counted = false;
	}
	run->given[node] = true;
	run->fleet.unfinished++;
	return 0;
}

void crew_run_remember(struct crew *c, struct crew_run *run, size_t node, const struct task *t)
{
	struct crew_past *past = &past_of(c, run)[node];

	past->seen = t->seen;
	past->rebooting = t->rebooting;
	past->within = 0;
	memcpy(past->boot_id, t->boot_id, sizeof past->boot_id);
}

/* --- the store --- */

void crew_runs_count(struct crew *c)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		struct crew_run *run = c->runs.at[i];

		if (run->counted || !record_begin(&c->hub))
			continue;
		run->counted = true;
		(void)store_run_resize(c->hub.store, run->out.id, run->n_nodes, &c->hub.broken);
	}
}

/* By its results: each node that was called has one by now. */
static int end_run(struct hub *h, const struct crew_run *run, struct err *err)
{
	struct arena *a = arena_new();
	struct run_row row;
	unsigned all = 0, good = 0;
	int rc = store_run_find(h->store, a, run->out.id, &row, err);

	for (unsigned i = 0; rc == 0 && i < RESULT_N; i++) {
		all += row.counts.n[i];
		good += i == RESULT_OK || i == RESULT_CHANGED || i == RESULT_SKIPPED
				? row.counts.n[i]
				: 0;
	}
	if (rc == 0)
		rc = store_run_resize(h->store, run->out.id, all, err);
	if (rc == 0)
		rc = store_run_end(h->store, run->out.id,
			run->interrupted ? "interrupted"
			: good == all    ? "done"
					 : "failed",
			NULL, err);
	arena_free(a);
	return rc;
}

void crew_runs_end(struct crew *c)
{
	for (size_t i = 0; i < c->runs.n && !c->hub.broken.code; i++)
		(void)end_run(&c->hub, c->runs.at[i], &c->hub.broken);
}

void crew_runs_unlock(struct crew *c)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		struct crew_run *run = c->runs.at[i];

		run_lock_drop(c->hub.store, c->hub.arena, run->out.id, run->fleet.lock);
		run->fleet.lock = -1;
	}
}

void crew_runs_free(struct crew *c)
{
	for (size_t i = 0; i < c->runs.n; i++) {
		free(c->runs.at[i]->given);
		free(c->runs.at[i]->past);
		free(c->runs.at[i]);
	}
	vec_done(&c->runs);
}
