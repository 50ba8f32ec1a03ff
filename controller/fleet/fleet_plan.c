/* fleet_plan - what the store says of a plan that is to be applied, and of a run that goes on. */
#include "agent/base/json.h"
#include "controller/fleet/fleet_priv.h"

#include <string.h>

#define RUNS_LOOKED_AT 1000
#define PREFIX_MIN     8

static int no_such_plan(const char *hash, struct err *err)
{
	err_set(err, E_STATE, "no plan with the hash '%s' is kept", hash);
	return err_hint(err, "stoika plan RECIPES NODES prints the hash of what it showed");
}

/* The newest plan whose hash begins so; two different ones are one too many. */
static int find_plan(
	struct fleet *f, const struct run_rows *rows, const struct run_row **out, struct err *err)
{
	const char *hash = f->opts->plan_hash;
	const size_t n = strlen(hash);

	if (n < PREFIX_MIN || n >= HASH_HEX)
		return err_set(err, E_SYNTAX, "'%s' is no hash of a plan: expected %d to 64 digits",
			hash, PREFIX_MIN);
	*out = NULL;
	vec_each(rows, struct run_row, r) {
		if ((strcmp(r->mode, "plan") != 0 && strcmp(r->mode, "undo") != 0) ||
			strncmp(r->plan_hash, hash, n) != 0)
			continue;
		if (!*out)
			*out = r;
		else if (strcmp((*out)->plan_hash, r->plan_hash) != 0)
			return err_set(err, E_CONFLICT,
				"more than one plan begins with '%s': write more digits", hash);
	}
	return *out ? 0 : no_such_plan(hash, err);
}

static const struct node_result *result_of(const struct node_results *all, int64_t node)
{
	vec_each(all, struct node_result, r)
		if (r->node == node)
			return r;
	return NULL;
}

static void deny(struct task *t, const char *plan)
{
	struct err why = {0};

	err_set(&why, E_STATE, "the plan has no answer of '%s'", t->node->name);
	err_hint(&why, "stoika run show %s; plan it again", plan);
	task_finish(t, RESULT_DENIED, &why);
}

int plan_expect(struct fleet *f, const char *recipes, struct err *err)
{
	struct run_rows rows = VEC_INIT;
	struct node_results results = VEC_INIT;
	const struct run_row *plan = NULL;
	int rc = store_runs_bare(f->hub->store, f->hub->arena, RUNS_LOOKED_AT, &rows, err);

	if (rc == 0)
		rc = find_plan(f, &rows, &plan, err);
	if (rc == 0 && strcmp(plan->recipes, recipes) != 0) {
		rc = err_set(err, E_CONFLICT, "plan %.12s is of '%s', not of '%s'", plan->plan_hash,
			plan->recipes, recipes);
		err_hint(err, "stoika run show %s", plan->id);
	}
	if (rc == 0)
		rc = store_results(f->hub->store, f->hub->arena, plan->id, &results, err);
	for (unsigned i = 0; rc == 0 && i < f->n; i++) {
		struct task *t = &f->tasks[i];
		const struct node_result *r = result_of(&results, t->node->id);

		if (t->state == TASK_DONE)
			continue;
		if (r && hash_is_hex(r->plan_hash))
			t->expect = r->plan_hash;
		else
			deny(t, plan->id);
	}
	vec_done(&results);
	vec_done(&rows);
	return rc;
}

static struct task *task_of(struct fleet *f, int64_t node)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->tasks[i].node->id == node)
			return &f->tasks[i];
	return NULL;
}

int plan_seen(struct fleet *f, struct err *err)
{
	int64_t after = 0;
	size_t got;
	int rc;

	do {
		struct event_rows events = VEC_INIT;
		struct arena *a = arena_new();

		rc = store_events(f->hub->store, a, f->out->id, after, &events, err);
		got = events.n;
		vec_each(&events, struct event_row, e) {
			const int64_t seq = json_get_int(e->record, "seq", 0);
			struct task *t = task_of(f, e->node);

			after = e->id;
			if (t && seq > t->seen)
				t->seen = seq;
			json_decref(e->record);
		}
		vec_done(&events);
		arena_free(a);
	} while (rc == 0 && got == STORE_EVENTS_MAX);
	return rc;
}
