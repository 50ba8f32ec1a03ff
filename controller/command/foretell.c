#include "controller/command/foretell.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/json.h"
#include "controller/command/session.h"
#include "controller/rollout/explain.h"
#include "controller/rollout/ground.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX    (16u << 20)
#define LIMITS_MOST (ROLLOUT_BUDGETS_MAX + 2)

struct foretelling {
	const struct foretell *ask;
	const struct node_refs *refs;
	const struct rollout_node *nodes;
	struct explanation told;
};

/* --- shown --- */

static void fold(const struct foretelling *f, const struct explain_turn *t, struct buf *out)
{
	struct node_refs refs = VEC_INIT;

	for (size_t i = 0; i < t->n; i++)
		*vec_push(&refs) = f->refs->at[f->told.who.at[t->first + i]];
	range_fold(&refs, out);
	vec_done(&refs);
}

static void add_span(struct buf *out, int64_t ns)
{
	const int64_t minutes = ns / CLOCK_SEC / 60;

	buf_addf(out, "%lld:%02lld", (long long)(minutes / 60), (long long)(minutes % 60));
}

/* Which limit holds how many, with the figures of the first; a later stage only if nothing else
 * does. */
static void add_held(const struct foretelling *f, const struct explain_turn *t, struct buf *out)
{
	for (int i = 0; i < LIMIT_N; i++) {
		const struct explain_held *h = &t->by_limit[i];

		if (h->n == 0 || (i == LIMIT_STAGE && t->held != LIMIT_STAGE))
			continue;
		buf_addf(out, "%25s%zu wait, %s: %s", "", h->n, ROLLOUT_LIMITS[i], h->why);
		if (i == LIMIT_POWER || i == LIMIT_BUDGET || i == LIMIT_PAIR)
			buf_addf(out, " (%s)", f->nodes[h->first].name);
		buf_add_char(out, '\n');
	}
}

static void add_turn(const struct foretelling *f, const struct explain_turn *t, struct buf *out)
{
	AUTO_BUF at, who, stage;

	buf_init(&at, 32);
	buf_init(&stage, 32);
	buf_init(&who, TEXT_MAX);
	add_span(&at, t->at);
	fold(f, t, &who);
	if (t->stage == 0)
		buf_add_text(&stage, "canaries");
	else
		buf_addf(&stage, "wave %u", t->stage);
	buf_addf(
		out, "%8s  %-8s %3zu  %s\n", buf_text(&at), buf_text(&stage), t->n, buf_text(&who));
	add_held(f, t, out);
}

static void add_end(const struct foretelling *f, struct buf *out)
{
	buf_add_char(out, '\n');
	if (f->told.never > 0)
		buf_addf(out, "%zu nodes would never go: %s\n", f->told.never, f->told.never_why);
	buf_add_text(out, "all who can are back after ");
	add_span(out, f->told.took);
	buf_addf(out, " h, if each takes %lld min and none fails\n",
		(long long)(f->ask->takes / CLOCK_SEC / 60));
}

/* The domains that the policy's limits speak of. */
static unsigned name_limits(const struct rollout_policy *p, const char *out[LIMITS_MOST])
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_budgets; i++)
		out[n++] = p->budgets[i].domain;
	if (p->unit)
		out[n++] = p->unit;
	if (p->pair)
		out[n++] = p->pair;
	return n;
}

static bool is_in_any(const struct foretelling *f, const char *domain)
{
	for (size_t i = 0; i < f->refs->n; i++)
		for (unsigned k = 0; k < f->nodes[i].n_domains; k++)
			if (strcmp(f->nodes[i].domains[k].kind, domain) == 0)
				return true;
	return false;
}

/* A limit of a domain that no node is in holds nobody back: a slip of the pen, or of the
 * inventory. */
static void add_idle(const struct foretelling *f, struct buf *out)
{
	const char *names[LIMITS_MOST];
	const unsigned n = name_limits(f->ask->policy, names);

	for (unsigned i = 0; i < n; i++)
		if (!is_in_any(f, names[i]))
			buf_addf(out,
				"no node has a '%s': what the policy says of it limits nobody\n",
				names[i]);
}

static json_t *idle_json(const struct foretelling *f)
{
	const char *names[LIMITS_MOST];
	const unsigned n = name_limits(f->ask->policy, names);
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		if (!is_in_any(f, names[i]))
			json_array_append_new(list, json_string(names[i]));
	return list;
}

static void print_text(const struct foretelling *f)
{
	AUTO_BUF out;

	buf_init(&out, TEXT_MAX);
	buf_addf(&out, "policy '%s', %zu nodes\n", f->ask->policy->name, f->refs->n);
	add_idle(f, &out);
	buf_add_char(&out, '\n');
	buf_add_text(&out, "   after  stage      n  who goes\n");
	vec_each(&f->told.turns, struct explain_turn, t)
		add_turn(f, t, &out);
	add_end(f, &out);
	session_print_lines(&out);
}

static json_t *held_json(const struct foretelling *f, const struct explain_held *h)
{
	json_t *o = json_object();

	json_put_int(o, "nodes", (int64_t)h->n);
	json_put_str(o, "first", f->nodes[h->first].name);
	json_put_str(o, "why", h->why);
	return o;
}

static json_t *turn_json(const struct foretelling *f, const struct explain_turn *t)
{
	json_t *o = json_object(), *who = json_array(), *held = json_object();

	json_put_int(o, "after_s", t->at / CLOCK_SEC);
	json_put_int(o, "stage", t->stage);
	for (size_t i = 0; i < t->n; i++)
		json_array_append_new(
			who, json_string(f->nodes[f->told.who.at[t->first + i]].name));
	json_object_set_new(o, "nodes", who);
	json_put_int(o, "waiting", (int64_t)t->waiting);
	if (t->why)
		json_put_str(o, "why", t->why);
	for (int i = 0; i < LIMIT_N; i++)
		if (t->by_limit[i].n > 0)
			json_object_set_new(held, ROLLOUT_LIMITS[i], held_json(f, &t->by_limit[i]));
	json_object_set_new(o, "held_by", held);
	return o;
}

static void print_json(const struct foretelling *f)
{
	AUTO_JSON o = json_object();
	json_t *turns = json_array();

	json_put_str(o, "policy", f->ask->policy->name);
	json_put_int(o, "nodes", (int64_t)f->refs->n);
	vec_each(&f->told.turns, struct explain_turn, t)
		json_array_append_new(turns, turn_json(f, t));
	json_object_set_new(o, "limits_nobody", idle_json(f));
	json_object_set_new(o, "turns", turns);
	json_put_int(o, "took_s", f->told.took / CLOCK_SEC);
	json_put_int(o, "never", (int64_t)f->told.never);
	json_put_str(o, "never_why", f->told.never_why);
	session_print_json(o);
}

int foretell(
	const struct invocation *inv, struct store *s, const struct foretell *ask, struct err *err)
{
	struct foretelling f = {.ask = ask, .refs = ask->nodes};
	struct ground ground;
	int code = ground_make(
		inv->arena, s, ask->site, ask->basis, ask->nodes, ask->policy, &ground, err);

	if (code == 0) {
		f.nodes = ground.nodes;
		explain_make(inv->arena, ground.plan, ask->nodes->n, ask->takes,
			clock_wall() / CLOCK_SEC, &f.told);
		if (inv->json)
			print_json(&f);
		else
			print_text(&f);
		code = f.told.never > 0 ? EXIT_SOME : EXIT_OK;
	}
	explain_done(&f.told);
	ground_done(&ground);
	return code;
}
