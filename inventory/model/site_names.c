#include "inventory/model/site_names.h"

#include "agent/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum level {
	LEVEL_NONE, /* no switch, or one that leads nowhere */
	LEVEL_LEAF,
	LEVEL_SPINE,
	LEVEL_CORE
};
static const char *const LEVELS[] = {"", "leaf", "spine", "core"};

/* A switch and what hangs on it: two devices, one row for each direction. */
struct link {
	size_t from, to;
	bool infiniband;
};
struct links vec(struct link);

struct site {
	const struct model *m;
	size_t *node_of; /* by device, MODEL_NONE */
	enum level *level;
	bool *infiniband;
	struct links links; /* sorted, each once */
};

static bool is_switch(const struct device *d)
{
	return d->role && (strstr(d->role, "switch") || strcmp(d->role, "leaf") == 0 ||
				  strcmp(d->role, "spine") == 0 || strcmp(d->role, "core") == 0);
}

static bool carries_jobs(const struct port *p)
{
	return p->kind == PORT_INFINIBAND ||
	       (p->kind == PORT_ETHERNET && !(p->type && strcmp(p->type, "rj45") == 0));
}

static int by_ends(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void add_links(struct site *s)
{
	const struct model *m = s->m;
	size_t kept = 0;

	vec_each(&m->cables, const struct cable, c) {
		const struct port *a = c->a < m->ports.n ? &m->ports.at[c->a] : NULL;
		const struct port *b = c->b < m->ports.n ? &m->ports.at[c->b] : NULL;

		if (!a || !b || !carries_jobs(a) || !carries_jobs(b) || a->device == b->device ||
			a->device >= m->devices.n || b->device >= m->devices.n)
			continue;
		*vec_push(&s->links) =
			(struct link){a->device, b->device, a->kind == PORT_INFINIBAND};
		*vec_push(&s->links) =
			(struct link){b->device, a->device, a->kind == PORT_INFINIBAND};
	}
	vec_sort(&s->links, by_ends);
	for (size_t i = 0; i < s->links.n; i++)
		if (i == 0 || by_ends(&s->links.at[i], &s->links.at[kept - 1]) != 0)
			s->links.at[kept++] = s->links.at[i];
	s->links.n = kept;
}

/* From the nodes up: who has a node is a leaf, who has a leaf a spine, who has a spine a core. */
static void find_levels(struct site *s)
{
	vec_each(&s->links, const struct link, l) {
		if (!is_switch(&s->m->devices.at[l->from]))
			continue;
		s->infiniband[l->from] = s->infiniband[l->from] || l->infiniband;
		if (s->node_of[l->to] != MODEL_NONE)
			s->level[l->from] = LEVEL_LEAF;
	}
	for (enum level up = LEVEL_SPINE; up <= LEVEL_CORE; up++) {
		vec_each(&s->links, const struct link, l) {
			if (is_switch(&s->m->devices.at[l->from]) &&
				s->level[l->from] == LEVEL_NONE && s->level[l->to] == up - 1)
				s->level[l->from] = up;
		}
	}
}

/* --- as JSON --- */

static const char *text(const char *z)
{
	return z ? z : "";
}

/* Names of what hangs on the device: nodes, or switches that count. */
static json_t *list_links(const struct site *s, size_t device, bool switches)
{
	const struct link key = {device, 0, false};
	json_t *list = json_array();
	size_t low = 0, high = s->links.n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (by_ends(&s->links.at[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < s->links.n && s->links.at[low].from == device; low++) {
		const size_t to = s->links.at[low].to;

		if (switches ? s->level[to] != LEVEL_NONE : s->node_of[to] != MODEL_NONE)
			json_array_append_new(
				list, json_string(switches ? s->m->devices.at[to].name
							   : s->m->nodes.at[s->node_of[to]].name));
	}
	return list;
}

/* One leaf for each node, so that they make a tree also where each rail has its own: the first by
 * name, of InfiniBand before Ethernet.
 */
static const char *first_leaf(const struct site *s, size_t device)
{
	size_t best = MODEL_NONE;

	vec_each(&s->links, const struct link, l) {
		const size_t to = l->to;
		const bool of_ib = s->infiniband[to];

		if (l->from != device || s->level[to] != LEVEL_LEAF)
			continue;
		if (best == MODEL_NONE || of_ib > s->infiniband[best] ||
			(of_ib == s->infiniband[best] &&
				strcmp(s->m->devices.at[to].name, s->m->devices.at[best].name) < 0))
			best = to;
	}
	return best == MODEL_NONE ? "" : s->m->devices.at[best].name;
}

static json_t *node_json(const struct site *s, const struct node *n)
{
	static const char *const STATUS[] = {"planned", "staged", "active", "offline"};
	const struct model *m = s->m;
	const struct device *d = n->device < m->devices.n ? &m->devices.at[n->device] : NULL;
	const struct rack *r = d && d->rack < m->racks.n ? &m->racks.at[d->rack] : NULL;
	const struct device_type *t = d && d->type < m->types.n ? &m->types.at[d->type] : NULL;
	const bool placed = r && r->location < m->locations.n;
	json_t *out = json_object();

	json_put_str(out, "name", n->name);
	json_put_str(out, "address", text(n->address));
	json_put_str(out, "role", n->role ? n->role : d ? text(d->role) : "");
	json_put_str(out, "rack", r ? r->name : "");
	json_put_str(out, "location", placed ? m->locations.at[r->location].name : "");
	json_put_str(out, "type", t ? t->name : "");
	json_put_str(out, "status", d ? STATUS[d->status] : "active");
	json_put_int(out, "gpus", t ? t->gpus : 0);
	json_put_str(out, "gpu", t ? text(t->gpu) : "");
	json_put_str(out, "leaf", d ? first_leaf(s, n->device) : "");
	json_object_set_new(out, "leaves", d ? list_links(s, n->device, true) : json_array());
	return out;
}

static json_t *switch_json(const struct site *s, size_t device)
{
	json_t *out = json_object();

	json_put_str(out, "name", s->m->devices.at[device].name);
	json_put_str(out, "kind", s->infiniband[device] ? "infiniband" : "ethernet");
	json_put_str(out, "level", LEVELS[s->level[device]]);
	json_object_set_new(out, "nodes", list_links(s, device, false));
	json_object_set_new(out, "switches", list_links(s, device, true));
	return out;
}

static json_t *rack_json(const struct model *m, const struct rack *r)
{
	json_t *out = json_object();

	json_put_str(out, "name", r->name);
	json_put_str(out, "location",
		r->location < m->locations.n ? m->locations.at[r->location].name : "");
	return out;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(json_get_str(*(json_t *const *)a, "name", ""),
		json_get_str(*(json_t *const *)b, "name", ""));
}

/* The list in the order of names; takes the reference. */
static json_t *sorted(json_t *list)
{
	const size_t n = json_array_size(list);
	json_t **at = xcalloc(n + 1, sizeof *at), *out = json_array();

	for (size_t i = 0; i < n; i++)
		at[i] = json_array_get(list, i);
	qsort(at, n, sizeof *at, by_name);
	for (size_t i = 0; i < n; i++)
		json_array_append(out, at[i]);
	free(at);
	json_decref(list);
	return out;
}

static json_t *site_json(const struct site *s)
{
	json_t *out = json_object(), *nodes = json_array(), *racks = json_array(),
	       *switches = json_array();

	vec_each(&s->m->nodes, const struct node, n)
		json_array_append_new(nodes, node_json(s, n));
	vec_each(&s->m->racks, const struct rack, r)
		json_array_append_new(racks, rack_json(s->m, r));
	for (size_t d = 0; d < s->m->devices.n; d++)
		if (s->level[d] != LEVEL_NONE)
			json_array_append_new(switches, switch_json(s, d));
	json_put_str(out, "name", text(s->m->site));
	json_object_set_new(out, "nodes", sorted(nodes));
	json_object_set_new(out, "racks", sorted(racks));
	json_object_set_new(out, "switches", sorted(switches));
	return out;
}

json_t *site_names(const struct model *m)
{
	struct site s = {.m = m,
		.node_of = xcalloc(m->devices.n + 1, sizeof *s.node_of),
		.level = xcalloc(m->devices.n + 1, sizeof *s.level),
		.infiniband = xcalloc(m->devices.n + 1, sizeof *s.infiniband)};
	json_t *out;

	for (size_t d = 0; d < m->devices.n; d++)
		s.node_of[d] = MODEL_NONE;
	for (size_t i = 0; i < m->nodes.n; i++)
		if (m->nodes.at[i].device < m->devices.n)
			s.node_of[m->nodes.at[i].device] = i;
	add_links(&s);
	find_levels(&s);
	out = site_json(&s);
	vec_done(&s.links);
	free(s.node_of);
	free(s.level);
	free(s.infiniband);
	return out;
}
