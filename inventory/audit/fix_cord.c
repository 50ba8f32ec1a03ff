/* fix_cord - other outlets: of another line or bank on the same PDU, or on another feed. */
#include "inventory/audit/fix_priv.h"

#include <string.h>

#define TRIES_MAX 120 /* changes tried for a rack */

struct cords {
	struct fixer *k;
	unsigned tries;
	bool found;
};

static const struct element *outlet_of(const struct fixer *k, size_t outlet)
{
	return &k->now.graph.at[graph_element(&k->now.graph, LEVEL_OUTLET, outlet)];
}

static bool is_free(const struct fixer *k, const struct change *c, size_t outlet)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->outlets[i] == outlet)
			return false;
	return k->now.graph.outlet_cord[outlet] == GRAPH_NONE && outlet_of(k, outlet)->n == 0;
}

static bool same_plug(const struct model *m, size_t a, size_t b)
{
	const char *x = m->outlets.at[a].type, *y = m->outlets.at[b].type;

	return !x || !y || strcmp(x, y) == 0;
}

/* The free outlet of a PDU on that phase (0: any) and not of that bank (0: any), emptiest first. */
static size_t find_outlet(
	const struct fixer *k, const struct change *c, size_t pdu, uint8_t phase, size_t like)
{
	const struct model *m = k->part.m;
	size_t best = MODEL_NONE;
	double least = 0;

	for (size_t o = 0; o < m->outlets.n; o++) {
		const struct element *e = outlet_of(k, o);
		double amps;

		if (m->outlets.at[o].pdu != pdu || !is_free(k, c, o) || !same_plug(m, like, o) ||
			(phase && e->up != phase) ||
			(!phase && e->parent == outlet_of(k, like)->parent))
			continue;
		amps = e->parent == GRAPH_NONE ? 0 : k->now.loads.normal[e->parent].amps;
		if (best == MODEL_NONE || amps < least) {
			best = o;
			least = amps;
		}
	}
	return best;
}

static bool try_change(struct cords *t, struct change *c, struct audit_subject what,
	struct audit_subject to, const char *text)
{
	struct audit_fix f = fix_about(t->k, text);
	struct fix_score now;

	f.what = what;
	f.to = to;
	if (t->tries++ < TRIES_MAX && fix_helps(t->k, c, &now))
		t->found = fix_offer(t->k, c, &now, f);
	return t->found;
}

/* All cords of a device to outlets of another line, each on its own PDU. */
static void try_line(struct cords *t, uint32_t device, uint8_t phase)
{
	static const char *const names[] = {
		"-", "L1", "L2", "L3", "L1L2", "L2L3", "L3L1", "L1L2L3"};
	struct fixer *k = t->k;
	const struct graph *g = &k->now.graph;
	struct change c = fix_change(k, FIX_MOVE_CORD);

	c.device = device;
	for (uint32_t i = g->device_first[device];
		i < g->device_first[device + 1] && c.n < CHANGE_CORDS_MAX; i++) {
		const struct cord *cord = &k->part.m->cords.at[g->device_cords[i]];
		const size_t to = find_outlet(
			k, &c, k->part.m->outlets.at[cord->outlet].pdu, phase, cord->outlet);

		if (to == MODEL_NONE)
			return;
		c.ports[c.n] = cord->port;
		c.outlets[c.n++] = to;
	}
	try_change(t, &c, (struct audit_subject){NOUN_DEVICE, k->part.devices[device]},
		(struct audit_subject){NOUN_N, 0},
		arena_printf(k->arena, "move the %u cords of '%s' to outlets of %s", c.n,
			k->part.m->devices.at[device].name, names[phase]));
}

/* One cord to the best outlet of a PDU, in another bank. */
static void try_outlet(struct cords *t, uint32_t cord_row, size_t pdu)
{
	struct fixer *k = t->k;
	const struct model *m = k->part.m;
	const struct cord *cord = &m->cords.at[cord_row];
	struct change c = fix_change(k, FIX_MOVE_CORD);
	const size_t to = find_outlet(k, &c, pdu, 0, cord->outlet);

	if (to == MODEL_NONE)
		return;
	c.device = m->ports.at[cord->port].device;
	c.n = 1;
	c.ports[0] = cord->port;
	c.outlets[0] = to;
	try_change(t, &c, (struct audit_subject){NOUN_PORT, k->part.ports[cord->port]},
		(struct audit_subject){NOUN_OUTLET, k->part.outlets[to]},
		arena_printf(k->arena, "move the cord of '%s/%s' to outlet '%s/%s'",
			m->devices.at[c.device].name, m->ports.at[cord->port].name,
			m->pdus.at[pdu].name, m->outlets.at[to].name));
}

static void try_element(struct cords *t, uint32_t e)
{
	const struct graph *g = &t->k->now.graph;
	const struct element *el = &g->at[e];

	for (uint32_t i = 0; i < el->n && !t->found && t->tries < TRIES_MAX; i++) {
		const uint32_t cord = g->below[el->first + i], device = g->cord_device[cord];

		if (t->k->part.m->devices.at[device].rack != t->k->part.rack)
			continue;
		for (uint8_t phase = PHASE_L1; phase <= PHASE_L3L1 && !t->found; phase++)
			if (el->level >= LEVEL_PDU && el->phases == 3 &&
				phase != g->at[graph_outlet(g, cord)].up)
				try_line(t, device, phase);
		if (!t->found)
			try_outlet(t, cord,
				t->k->part.m->outlets.at[t->k->part.m->cords.at[cord].outlet].pdu);
	}
}

/* A device that goes down or short with one side: its cords to other PDUs of the rack. */
static void try_device(struct cords *t, uint32_t device)
{
	const struct graph *g = &t->k->now.graph;
	const struct model *m = t->k->part.m;

	for (uint32_t i = g->device_first[device]; i < g->device_first[device + 1]; i++) {
		const uint32_t cord = g->device_cords[i];
		const size_t own = m->outlets.at[m->cords.at[cord].outlet].pdu;

		for (size_t pdu = 0; pdu < m->pdus.n && !t->found && t->tries < TRIES_MAX; pdu++)
			if (pdu != own && m->pdus.at[pdu].rack == t->k->part.rack)
				try_outlet(t, cord, pdu);
	}
}

static bool by_cords(enum audit_rule rule)
{
	return (rule >= RULE_FEED_NORMAL && rule <= RULE_OUTLET) || rule == RULE_INRUSH;
}

void fix_try_cords(struct fixer *k)
{
	struct cords t = {.k = k};

	vec_each(&k->now.findings, const struct finding, f) {
		const uint32_t e = sim_element(&k->now.graph, f->subject);

		if (f->rack != k->part.rack || f->verdict < k->before.rack || t.found)
			continue;
		if (by_cords(f->rule) && e != GRAPH_NONE)
			try_element(&t, e);
		else if (f->subject.noun == NOUN_DEVICE &&
			 (f->rule == RULE_PSU_DOWN || f->rule == RULE_PSU_DEGRADED))
			try_device(&t, (uint32_t)f->subject.row);
	}
}
