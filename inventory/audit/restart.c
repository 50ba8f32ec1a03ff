/* restart - sorted by need, then filled into batches one after the other. */
#include "inventory/audit/restart.h"

#include "inventory/audit/formula.h"
#include "inventory/audit/limit.h"

#include <math.h>
#include <string.h>

struct starter {
	size_t device;
	unsigned rank;
	const char *name;
};

struct restarter {
	const struct audit *a;
	double *steady, *inrush; /* A by element: of what runs, of the batch */
	uint32_t *mark;          /* by element: the batch that inrush is of */
	unsigned batch;
};

static unsigned rank_of(const struct device *d)
{
	static const char *const order[] = {"switch", "management", "storage"};

	for (unsigned i = 0; d->role && i < sizeof order / sizeof *order; i++)
		if (strcmp(d->role, order[i]) == 0)
			return i;
	return d->role && strcmp(d->role, "gpu") == 0 ? 4 : 3;
}

static int by_need(const void *a, const void *b)
{
	const struct starter *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return model_compare_names(x->name, y->name);
}

/* What a breaker's magnetic trip surely holds; NaN for what has none. */
static double holds(const struct restarter *r, uint32_t e)
{
	const struct element *el = &r->a->graph.at[e];
	char curve = 'C';

	if (el->level != LEVEL_BANK && el->level != LEVEL_FEED)
		return NAN;
	if (el->level == LEVEL_BANK && r->a->model->banks.at[el->row].curve)
		curve = r->a->model->banks.at[el->row].curve;
	return formula_magnetic(curve, limit_rating(&r->a->graph, &r->a->policy, e));
}

static double batch_inrush(const struct restarter *r, uint32_t e)
{
	return r->mark[e] == r->batch ? r->inrush[e] : 0;
}

/*
 * Walks what is above the device's cords. take false: whether all would hold;
 * else adds the device to the batch.
 */
static bool walk(struct restarter *r, size_t device, bool take)
{
	const struct graph *g = &r->a->graph;
	const double ratio = graph_type(g->m, device)->inrush;
	bool ok = true;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++) {
		const uint32_t cord = g->device_cords[k];
		const double amps = r->a->loads.normal[graph_outlet(g, cord)].amps;
		const double surge = formula_inrush(1, amps, ratio);

		for (uint32_t e = graph_outlet(g, cord); e != GRAPH_NONE; e = g->at[e].parent) {
			if (take) {
				r->inrush[e] = batch_inrush(r, e) + surge;
				r->mark[e] = r->batch;
				r->steady[e] += amps;
			} else {
				ok = ok &&
				     !(r->steady[e] + batch_inrush(r, e) + surge >= holds(r, e));
			}
		}
	}
	return ok;
}

static void list_starters(const struct audit *a, struct starter *out, size_t *n)
{
	const struct graph *g = &a->graph;

	*n = 0;
	vec_each(&a->racks, const struct audit_rack, rack) {
		for (uint32_t i = g->rack_first[rack->rack]; i < g->rack_first[rack->rack + 1];
			i++) {
			const size_t d = g->rack_devices[i];

			if (a->demands[d].cords == 0 || !(a->demands[d].watts[PASS_CAPPED] > 0))
				continue;
			out[(*n)++] = (struct starter){
				d, rank_of(&a->model->devices.at[d]), a->model->devices.at[d].name};
		}
	}
	if (*n > 1)
		qsort(out, *n, sizeof *out, by_need);
}

void restart_make(const struct audit *a, struct restart_plan *out)
{
	struct arena *arena = arena_new();
	const size_t elements = a->graph.base[LEVEL_N] + 1;
	struct restarter r = {.a = a, .batch = 0};
	struct starter *list = arena_alloc(arena, (a->model->devices.n + 1) * sizeof *list);
	unsigned rank = UINT32_MAX;
	size_t n;

	*out = (struct restart_plan){.batches = 0};
	r.steady = arena_alloc(arena, elements * sizeof *r.steady);
	r.inrush = arena_alloc(arena, elements * sizeof *r.inrush);
	r.mark = arena_alloc(arena, elements * sizeof *r.mark);
	list_starters(a, list, &n);
	for (size_t i = 0; i < n; i++) {
		bool fits = list[i].rank == rank && walk(&r, list[i].device, false);

		if (!fits) {
			r.batch++;
			rank = list[i].rank;
			fits = walk(&r, list[i].device, false);
		}
		walk(&r, list[i].device, true);
		*vec_push(&out->steps) = (struct restart_step){list[i].device, r.batch, !fits};
	}
	out->batches = r.batch;
	arena_free(arena);
}

void restart_done(struct restart_plan *p)
{
	vec_done(&p->steps);
}
