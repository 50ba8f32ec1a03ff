#include "controller/rollout/site.h"

#include "agent/base/err.h"
#include "agent/base/json.h"
#include "inventory/audit/graph.h"
#include "inventory/model/index.h"

#include <string.h>

#define VARS_MAX    (256u << 10)
#define DOMAINS_MAX 256 /* of a node */

struct domains vec(struct rollout_domain);

struct site {
	struct arena *arena;
	const struct model *m;
	struct graph graph;
	size_t *cable_first, *cables; /* ends of cables by device: cables[cable_first[d]] .. */
};

static void add(struct domains *d, const char *kind, const char *value)
{
	if (!value || !*value || d->n >= DOMAINS_MAX)
		return;
	vec_each(d, struct rollout_domain, have) {
		if (strcmp(have->kind, kind) == 0 && strcmp(have->value, value) == 0)
			return;
	}
	*vec_push(d) = (struct rollout_domain){kind, value};
}

/* --- cables --- */

static size_t device_of(const struct model *m, size_t port)
{
	return port < m->ports.n ? m->ports.at[port].device : MODEL_NONE;
}

/* Counting sort of the cables' ends by device: two passes. */
static void index_cables(struct site *s)
{
	const struct model *m = s->m;
	size_t *fill;

	s->cable_first = arena_alloc(s->arena, (m->devices.n + 2) * sizeof *s->cable_first);
	s->cables = arena_alloc(s->arena, (2 * m->cables.n + 1) * sizeof *s->cables);
	fill = arena_alloc(s->arena, (m->devices.n + 1) * sizeof *fill);
	for (size_t i = 0; i < 2 * m->cables.n; i++) {
		const struct cable *c = &m->cables.at[i / 2];
		const size_t d = device_of(m, i % 2 ? c->b : c->a);

		if (d != MODEL_NONE)
			s->cable_first[d + 1]++;
	}
	for (size_t d = 0; d < m->devices.n; d++)
		s->cable_first[d + 1] += s->cable_first[d];
	for (size_t i = 0; i < 2 * m->cables.n; i++) {
		const struct cable *c = &m->cables.at[i / 2];
		const size_t d = device_of(m, i % 2 ? c->b : c->a);

		if (d != MODEL_NONE)
			s->cables[s->cable_first[d] + fill[d]++] = i;
	}
}

static bool is_switch(const struct device *d)
{
	return d->role && (strstr(d->role, "switch") || strcmp(d->role, "leaf") == 0);
}

/* Not management: its switch may rest without a job noticing. */
static bool carries_jobs(const struct port *p)
{
	return p->kind == PORT_INFINIBAND ||
	       (p->kind == PORT_ETHERNET && !(p->type && strcmp(p->type, "rj45") == 0));
}

static void add_leaves(const struct site *s, size_t device, struct domains *out)
{
	for (size_t k = s->cable_first[device]; k < s->cable_first[device + 1]; k++) {
		const size_t end = s->cables[k];
		const struct cable *c = &s->m->cables.at[end / 2];
		const size_t other = device_of(s->m, end % 2 ? c->a : c->b);

		if (other != MODEL_NONE && carries_jobs(&s->m->ports.at[end % 2 ? c->b : c->a]) &&
			is_switch(&s->m->devices.at[other]))
			add(out, "leaf", s->m->devices.at[other].name);
	}
}

static void add_feeds(const struct site *s, size_t device, struct domains *out)
{
	const struct graph *g = &s->graph;

	for (uint32_t k = g->device_first[device]; k < g->device_first[device + 1]; k++) {
		const uint32_t feed = graph_feed(g, g->device_cords[k]);

		if (feed != GRAPH_NONE)
			add(out, "feed", s->m->feeds.at[g->at[feed].row].name);
	}
}

/* --- a node --- */

static const char *as_word(struct arena *a, const json_t *v)
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		return arena_printf(a, "%lld", (long long)json_integer_value(v));
	return json_is_true(v) ? "true" : json_is_false(v) ? "false" : NULL;
}

static int add_vars(
	struct arena *a, const struct node_row *node, struct domains *out, struct err *err)
{
	const char *text = node->vars && *node->vars ? node->vars : "{}", *key;
	AUTO_JSON vars = NULL;
	json_t *value;
	const int rc = json_parse(str_of(text), VARS_MAX, node->name, &vars, err);

	json_object_foreach(vars, key, value)
		add(out, arena_strdup(a, key), arena_strdup(a, as_word(a, value)));
	return rc;
}

static int describe(struct site *s, const struct node_row *node, size_t device,
	struct rollout_node *out, struct err *err)
{
	struct domains d = VEC_INIT;
	struct rollout_domain *kept;
	int rc;

	add(&d, "rack", node->rack);
	add(&d, "type", node->device_type);
	add(&d, "role", node->role);
	add(&d, "os", node->os);
	add(&d, "site", node->site);
	if (device != MODEL_NONE) {
		add_feeds(s, device, &d);
		add_leaves(s, device, &d);
	}
	rc = add_vars(s->arena, node, &d, err);
	kept = arena_alloc(s->arena, (d.n + 1) * sizeof *kept);
	if (d.n > 0)
		memcpy(kept, d.at, d.n * sizeof *kept);
	*out = (struct rollout_node){
		.name = node->name, .domains = kept, .n_domains = (unsigned)d.n};
	vec_done(&d);
	return rc;
}

static int open_model(struct site *s, struct err *err)
{
	struct policy policy;
	int rc = policy_make(s->m, NULL, &policy, err);

	if (rc == 0)
		rc = graph_make(s->arena, s->m, &policy, &s->graph, err);
	if (rc == 0)
		index_cables(s);
	return rc;
}

static void index_devices(const struct model *m, struct model_index *ix)
{
	for (size_t i = 0; m && i < m->devices.n; i++)
		model_index_put(ix, NOUN_DEVICE, 0, m->devices.at[i].name, i);
}

int rollout_site(struct arena *a, const struct model *m, const struct node_refs *nodes,
	struct rollout_node **out, size_t **devices, struct err *err)
{
	struct site s = {.arena = a, .m = m};
	struct model_index *ix = model_index_new();
	int rc = m ? open_model(&s, err) : 0;

	index_devices(m, ix);
	*out = arena_alloc(a, (nodes->n + 1) * sizeof **out);
	*devices = arena_alloc(a, (nodes->n + 1) * sizeof **devices);
	for (size_t i = 0; i < nodes->n && rc == 0; i++) {
		(*devices)[i] = model_index_find(ix, NOUN_DEVICE, 0, nodes->at[i]->name);
		rc = describe(&s, nodes->at[i], (*devices)[i], &(*out)[i], err);
	}
	model_index_free(ix);
	return rc;
}
