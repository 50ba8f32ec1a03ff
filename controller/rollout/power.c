#include "controller/rollout/power.h"

#include "agent/base/mem.h"
#include "agent/base/vec.h"
#include "inventory/audit/power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-6 /* of a limit: what rounding may do */

/* What a node in its worst step adds to an element: A, of a UPS W. */
struct push {
	uint32_t element;
	double more;
};

struct rollout_circuits {
	const struct audit *audit;
	struct vec(struct push) pushes;
	uint32_t *first; /* of node i: pushes[first[i]] .. first[i + 1] */
	double *extra;   /* by element: of those who are out */
	bool *counted;   /* by node: is in extra */
	uint32_t *stamp; /* by node: the question it was seen out in */
	uint32_t question;
	size_t n;
};

/* Amperes that a watt becomes in an element: as its own load does. */
static double amps_per_watt(const struct audit *a, uint32_t element)
{
	const struct element_load *load = &a->loads.normal[element];
	const struct element *e = &a->graph.at[element];

	if (e->level == LEVEL_UPS)
		return 1;
	if (load->watts > 0)
		return load->amps / load->watts;
	if (!model_stated(e->volts))
		return 0;
	return 1 / (e->volts * POWER_FACTOR * (e->phases == 3 ? sqrt(3) : 1));
}

static void push_up(struct rollout_circuits *c, uint32_t element, double watts, size_t first)
{
	for (unsigned depth = 0; element != GRAPH_NONE && depth < GRAPH_DEPTH_MAX; depth++) {
		const struct element *e = &c->audit->graph.at[element];
		const double more = watts * amps_per_watt(c->audit, element);
		size_t i = first;

		while (i < c->pushes.n && c->pushes.at[i].element != element)
			i++;
		if (i == c->pushes.n)
			*vec_push(&c->pushes) = (struct push){element, 0};
		c->pushes.at[i].more += more;
		watts *= e->gain > 0 ? e->gain : 1;
		element = e->parent;
	}
}

static void weigh(struct rollout_circuits *c, size_t device)
{
	const struct graph *g = &c->audit->graph;
	const size_t first = c->pushes.n;
	const double max = power_of(c->audit->model, device, BASIS_MAX).watts;
	const double now = power_of(c->audit->model, device, c->audit->basis).watts;
	const uint32_t cords = g->device_first[device + 1] - g->device_first[device];

	if (!(max > now)) /* also when either is not known */
		return;
	for (uint32_t k = 0; k < cords; k++)
		push_up(c, graph_outlet(g, g->device_cords[g->device_first[device] + k]),
			(max - now) / cords, first);
}

struct rollout_circuits *rollout_circuits_new(
	const struct audit *a, const size_t *devices, size_t n)
{
	struct rollout_circuits *c = xcalloc(1, sizeof *c);

	c->audit = a;
	c->n = n;
	c->first = xcalloc(n + 1, sizeof *c->first);
	c->counted = xcalloc(n + 1, sizeof *c->counted);
	c->stamp = xcalloc(n + 1, sizeof *c->stamp);
	c->extra = xcalloc(a->graph.base[LEVEL_N] + 1, sizeof *c->extra);
	for (size_t i = 0; i < n; i++) {
		if (devices[i] != MODEL_NONE)
			weigh(c, devices[i]);
		c->first[i + 1] = (uint32_t)c->pushes.n;
	}
	return c;
}

void rollout_circuits_free(struct rollout_circuits *c)
{
	if (!c)
		return;
	vec_done(&c->pushes);
	free(c->first);
	free(c->counted);
	free(c->stamp);
	free(c->extra);
	free(c);
}

static void count(struct rollout_circuits *c, size_t node, bool in)
{
	for (uint32_t i = c->first[node]; i < c->first[node + 1]; i++)
		c->extra[c->pushes.at[i].element] +=
			in ? c->pushes.at[i].more : -c->pushes.at[i].more;
	c->counted[node] = in;
}

/* Brings what is counted in line with who is out: few differ from one question to the next. */
static void follow(struct rollout_circuits *c, const size_t *out, size_t n_out)
{
	c->question++;
	for (size_t i = 0; i < n_out; i++) {
		c->stamp[out[i]] = c->question;
		if (!c->counted[out[i]])
			count(c, out[i], true);
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->counted[i] && c->stamp[i] != c->question)
			count(c, i, false);
}

static void explain(
	const struct rollout_circuits *c, uint32_t element, double limit, char why_not[static 200])
{
	struct arena *a = arena_new();
	const char *unit = c->audit->graph.at[element].level == LEVEL_UPS ? "W" : "A";
	const double now = c->audit->loads.normal[element].amps;

	snprintf(why_not, 200, "%s: %.1f %s now and %.1f %s more in the worst step, limit %.1f %s",
		audit_name(a, c->audit->model, sim_subject(&c->audit->graph, element)),
		*unit == 'W' ? c->audit->loads.normal[element].watts : now, unit, c->extra[element],
		unit, limit, unit);
	arena_free(a);
}

/* With the unit counted: does one of its elements go over? */
static bool is_over(const struct rollout_circuits *c, size_t node, char why_not[static 200])
{
	for (uint32_t i = c->first[node]; i < c->first[node + 1]; i++) {
		const uint32_t e = c->pushes.at[i].element;
		const struct element_load *load = &c->audit->loads.normal[e];
		const double have =
			c->audit->graph.at[e].level == LEVEL_UPS ? load->watts : load->amps;
		const double limit = audit_limit(c->audit, e, false);

		if (model_stated(limit) && have + c->extra[e] > limit * (1 + SLACK)) {
			explain(c, e, limit, why_not);
			return true;
		}
	}
	return false;
}

static bool fits(void *ctx, const size_t *out, size_t n_out, const size_t *unit, size_t n_unit,
	char why_not[static 200])
{
	struct rollout_circuits *c = ctx;
	bool over = false;

	follow(c, out, n_out);
	for (size_t i = 0; i < n_unit; i++)
		if (!c->counted[unit[i]])
			count(c, unit[i], true);
	for (size_t i = 0; i < n_unit && !over; i++)
		over = is_over(c, unit[i], why_not);
	for (size_t i = 0; i < n_unit; i++)
		if (c->stamp[unit[i]] != c->question)
			count(c, unit[i], false);
	return !over;
}

struct rollout_power rollout_circuits_limit(struct rollout_circuits *c)
{
	return (struct rollout_power){c, fits};
}
