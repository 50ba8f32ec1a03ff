/* rollout_make - nodes into domains, units, and the stages of canaries and waves. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/rollout_priv.h"
#include "inventory/model/model.h"

#include <stdlib.h>
#include <string.h>

/* --- domains --- */

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_domain(const void *a, const void *b)
{
	const struct domain *x = a, *y = b;
	const int rc = compare_text(x->kind, y->kind);

	return rc ? rc : compare_text(x->value, y->value);
}

/* Whether domains of this kind limit anything: by which budget, or as pairs. */
static bool is_limiting(const struct rollout_policy *p, const char *kind)
{
	for (unsigned i = 0; i < p->n_budgets; i++)
		if (strcmp(p->budgets[i].domain, kind) == 0)
			return true;
	return p->pair && strcmp(p->pair, kind) == 0;
}

static void gather_domains(struct rollout *r, const struct rollout_node *nodes, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < nodes[i].n_domains; k++)
			if (is_limiting(&r->policy, nodes[i].domains[k].kind))
				*vec_push(&r->domains) = (struct domain){nodes[i].domains[k].kind,
					nodes[i].domains[k].value, 0, 0, 0, false, false};
	vec_sort(&r->domains, by_domain);
	for (size_t i = 0; i < r->domains.n; i++)
		if (kept == 0 || by_domain(&r->domains.at[kept - 1], &r->domains.at[i]) != 0)
			r->domains.at[kept++] = r->domains.at[i];
	r->domains.n = kept;
}

static struct domain *find_domain(const struct rollout *r, const struct rollout_domain *d)
{
	const struct domain key = {.kind = d->kind, .value = d->value};

	return r->domains.n == 0 ? NULL
				 : bsearch(&key, r->domains.at, r->domains.n, sizeof *r->domains.at,
					   by_domain);
}

static bool has_number(const struct member *m, uint32_t number)
{
	for (unsigned i = 0; i < m->n_domains; i++)
		if (m->domains[i] == number)
			return true;
	return false;
}

static void join_domains(struct rollout *r, const struct rollout_node *node, struct member *m)
{
	m->domains = arena_alloc(r->arena, (node->n_domains + 1) * sizeof *m->domains);
	for (unsigned k = 0; k < node->n_domains; k++) {
		struct domain *d = find_domain(r, &node->domains[k]);
		const uint32_t number = d ? (uint32_t)(d - r->domains.at) : NO_DOMAIN;

		if (!d || has_number(m, number))
			continue;
		m->domains[m->n_domains++] = number;
		d->all++;
	}
}

static void limit_domains(struct rollout *r)
{
	const struct rollout_policy *p = &r->policy;

	vec_each(&r->domains, struct domain, d) {
		d->pair = p->pair && strcmp(p->pair, d->kind) == 0;
		for (unsigned i = 0; i < p->n_budgets; i++) {
			if (strcmp(p->budgets[i].domain, d->kind) != 0)
				continue;
			d->limited = true;
			d->most = amount_of(p->budgets[i].most, d->all);
		}
	}
}

static const char *domain_value(const struct rollout_node *node, const char *kind)
{
	for (unsigned i = 0; kind && i < node->n_domains; i++)
		if (strcmp(node->domains[i].kind, kind) == 0)
			return node->domains[i].value;
	return NULL;
}

/* --- units --- */

struct seat {
	const char *unit; /* NULL: alone */
	const char *name;
	size_t node;
};

static int by_unit(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int rc = (x->unit != NULL) - (y->unit != NULL);

	if (rc == 0)
		rc = compare_text(x->unit, y->unit);
	return rc ? rc : model_compare_names(x->name, y->name);
}

static const char *class_of(struct rollout *r, const struct rollout_node *node)
{
	const char *words = "";

	for (unsigned i = 0; i < r->policy.n_class_by; i++) {
		const char *value = domain_value(node, r->policy.class_by[i]);

		words = arena_printf(
			r->arena, "%s%s%s", words, i ? " / " : "", value ? value : "-");
	}
	return words;
}

static void make_units(struct rollout *r, const struct rollout_node *nodes, size_t n)
{
	struct vec(struct seat) seats = VEC_INIT;

	for (size_t i = 0; i < n; i++)
		*vec_push(&seats) =
			(struct seat){domain_value(&nodes[i], r->policy.unit), nodes[i].name, i};
	vec_sort(&seats, by_unit);
	for (size_t i = 0; i < n; i++) {
		const struct seat *s = &seats.at[i];

		r->in_units[i] = s->node;
		if (i > 0 && s->unit && compare_text(seats.at[i - 1].unit, s->unit) == 0)
			r->units.at[r->units.n - 1].n++;
		else
			*vec_push(&r->units) = (struct unit){.first = i,
				.n = 1,
				.class_ = class_of(r, &nodes[s->node]),
				.held_domain = NO_DOMAIN};
	}
	vec_done(&seats);
}

/* --- order --- */

static uint64_t scatter(uint64_t x) /* splitmix64 */
{
	x += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

struct placed {
	struct unit unit;
	const char *name, *rack;
};

static int by_name(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return model_compare_names(x->name, y->name);
}

static int by_rack(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	const int rc = model_compare_names(x->rack, y->rack);

	return rc ? rc : by_name(a, b);
}

static int by_key(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->unit.key != y->unit.key)
		return x->unit.key < y->unit.key ? -1 : 1;
	return by_rack(a, b);
}

static int by_stage(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->unit.stage != y->unit.stage)
		return x->unit.stage < y->unit.stage ? -1 : 1;
	return x->unit.key < y->unit.key ? -1 : x->unit.key > y->unit.key;
}

struct placeds vec(struct placed);

/* The first of each rack, then the second of each: neighbours are far apart. */
static void key_by_rack(struct placeds *all)
{
	uint64_t seat = 0;

	vec_sort(all, by_rack);
	for (size_t i = 0; i < all->n; i++) {
		seat = i > 0 && strcmp(all->at[i].rack, all->at[i - 1].rack) == 0 ? seat + 1 : 0;
		all->at[i].unit.key = seat;
	}
}

static void order_units(struct rollout *r, struct placeds *all)
{
	vec_sort(all, by_name);
	if (r->policy.order == ROLLOUT_BY_RACK)
		key_by_rack(all);
	for (size_t i = 0; i < all->n && r->policy.order == ROLLOUT_RANDOM; i++)
		all->at[i].unit.key = scatter(r->policy.seed + i);
	if (r->policy.order != ROLLOUT_BY_NAME)
		vec_sort(all, by_key);
	for (size_t i = 0; i < all->n; i++)
		all->at[i].unit.key = i;
}

/* --- stages --- */

/* How many canaries of the class stand before this one in the order. */
struct class_count {
	const char *class_;
	unsigned n;
};

static bool is_canary(struct rollout *r, struct unit *u, struct class_count *seen, size_t *n_seen)
{
	size_t i = 0;

	while (i < *n_seen && strcmp(seen[i].class_, u->class_) != 0)
		i++;
	if (i == *n_seen)
		seen[(*n_seen)++] = (struct class_count){u->class_, 0};
	return seen[i].n++ < r->policy.canaries;
}

static size_t choose_canaries(struct rollout *r, struct placeds *all)
{
	struct class_count *seen = xcalloc(all->n + 1, sizeof *seen);
	size_t n_seen = 0, nodes = 0;

	for (size_t i = 0; i < all->n && r->policy.canaries > 0; i++) {
		struct unit *u = &all->at[i].unit;

		u->stage = is_canary(r, u, seen, &n_seen) ? 0 : 1;
		nodes += u->stage == 0 ? u->n : 0;
	}
	free(seen);
	return nodes;
}

/* Cumulative: wave i ends when so many of all nodes, canaries among them, have gone. */
static void fill_waves(struct rollout *r, struct placeds *all, size_t gone)
{
	const unsigned n = (unsigned)r->members.n;
	unsigned wave = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct unit *u = &all->at[i].unit;

		if (r->policy.canaries > 0 && u->stage == 0)
			continue;
		while (wave + 1 < r->policy.n_waves && gone >= amount_up(r->policy.waves[wave], n))
			wave++;
		u->stage = wave + 1;
		gone += u->n;
	}
}

static void make_stages(struct rollout *r, const struct rollout_node *nodes)
{
	struct placeds all = VEC_INIT;

	vec_each(&r->units, struct unit, u) {
		const struct rollout_node *first = &nodes[r->in_units[u->first]];
		const char *rack = domain_value(first, "rack");

		*vec_push(&all) = (struct placed){*u, first->name, rack ? rack : ""};
	}
	order_units(r, &all);
	fill_waves(r, &all, choose_canaries(r, &all));
	vec_sort(&all, by_stage);
	for (size_t i = 0; i < all.n; i++)
		r->units.at[i] = all.at[i].unit;
	for (unsigned i = 0; i <= r->policy.n_waves; i++)
		*vec_push(&r->stages) = (struct stage){0};
	vec_done(&all);
}

static void seat_members(struct rollout *r)
{
	for (size_t i = 0; i < r->units.n; i++) {
		const struct unit *u = &r->units.at[i];

		for (size_t k = 0; k < u->n; k++)
			r->members.at[r->in_units[u->first + k]].unit = (uint32_t)i;
		r->stages.at[u->stage].waiting += u->n;
	}
}

/* --- what can never be kept --- */

static const char *first_name(const struct rollout *r, const struct unit *u)
{
	return r->members.at[r->in_units[u->first]].name;
}

static int judge_domain(
	const struct rollout *r, const struct unit *u, const struct domain *d, struct err *err)
{
	unsigned n = 0;

	for (size_t i = 0; i < u->n; i++)
		n += has_number(
			&r->members.at[r->in_units[u->first + i]], (uint32_t)(d - r->domains.at));
	if (d->pair && n > 1) {
		err_set(err, E_CONFLICT,
			"the unit of '%s' holds both nodes of the pair '%s': it could never go",
			first_name(r, u), d->value);
		return err_hint(
			err, "give one of the two another '%s' or '%s'", r->policy.unit, d->kind);
	}
	if (!d->limited || n <= d->most)
		return 0;
	err_set(err, E_CONFLICT,
		"the unit of '%s' has %u nodes in %s '%s', whose budget is %u: it could never go",
		first_name(r, u), n, d->kind, d->value, d->most);
	return err_hint(err, "raise budgets: {%s: %u}", d->kind, n);
}

static int judge_unit(const struct rollout *r, const struct unit *u, struct err *err)
{
	const unsigned most = amount_of(r->policy.max_unavailable, (unsigned)r->members.n);

	if (u->n > most) {
		err_set(err, E_CONFLICT,
			"the unit of '%s' has %zu nodes, and max_unavailable allows %u: it could "
			"never go",
			first_name(r, u), u->n, most);
		return err_hint(err, "raise max_unavailable to %zu", u->n);
	}
	for (size_t i = 0; i < u->n; i++) {
		const struct member *m = &r->members.at[r->in_units[u->first + i]];

		for (unsigned k = 0; k < m->n_domains; k++) {
			const int rc = judge_domain(r, u, &r->domains.at[m->domains[k]], err);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int judge(const struct rollout *r, struct err *err)
{
	for (size_t i = 0; i < r->units.n; i++) {
		const int rc = judge_unit(r, &r->units.at[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int rollout_new(const struct rollout_policy *p, const struct rollout_node *nodes, size_t n,
	const struct rollout_power *power, struct rollout **out, struct err *err)
{
	struct rollout *r = xcalloc(1, sizeof *r);
	int rc;

	r->policy = *p;
	if (power)
		r->power = *power;
	r->arena = arena_new();
	r->in_units = arena_alloc(r->arena, (n + 1) * sizeof *r->in_units);
	gather_domains(r, nodes, n);
	for (size_t i = 0; i < n; i++) {
		struct member *m = vec_push(&r->members);

		m->name = nodes[i].name;
		join_domains(r, &nodes[i], m);
	}
	limit_domains(r);
	make_units(r, nodes, n);
	make_stages(r, nodes);
	seat_members(r);
	r->count[NODE_WAITING] = n;
	for (size_t i = 0; i < n; i++)
		if (nodes[i].away)
			rollout_put(r, i, NODE_AWAY);
	rc = judge(r, err);
	if (rc < 0)
		rollout_free(r);
	else
		*out = r;
	return rc;
}

void rollout_free(struct rollout *r)
{
	if (!r)
		return;
	vec_done(&r->members);
	vec_done(&r->domains);
	vec_done(&r->units);
	vec_done(&r->stages);
	vec_done(&r->signatures);
	vec_done(&r->out);
	vec_done(&r->admitted);
	arena_free(r->arena);
	free(r);
}
