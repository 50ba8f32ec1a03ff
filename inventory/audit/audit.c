/* audit - builds the graph, plays every loss once, lets each rule look at each rack. */
#include "inventory/audit/audit.h"

#include "agent/base/err.h"
#include "inventory/audit/audit_priv.h"
#include "inventory/audit/reach.h"
#include "inventory/audit/space.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- which losses --- */

static bool worth_losing(const struct graph *g, uint32_t e)
{
	return g->at[e].n > 0;
}

/* Feeds first: of losses that come to the same, the first one is told. */
static void list_losses(struct audit *out, const struct audit_opts *o)
{
	static const enum level order[] = {
		LEVEL_FEED, LEVEL_PDU, LEVEL_BANK, LEVEL_PANEL, LEVEL_UPS};
	const bool *wanted = o->n_racks ? reach_elements(out->arena, &out->graph, &out->policy,
						  o->basis, o->racks, o->n_racks)
					: NULL;

	*vec_push(&out->losses) = (struct audit_subject){NOUN_N, 0};
	if (o->n_lose) {
		*vec_push(&out->losses) = o->lose[0];
		return;
	}
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		for (uint32_t e = out->graph.base[order[i]]; e < out->graph.base[order[i] + 1]; e++)
			if (worth_losing(&out->graph, e) && (!wanted || wanted[e]))
				*vec_push(&out->losses) = sim_subject(&out->graph, e);
}

/* What is lost stays with the audit: reports name all of it. */
static void keep_lost(struct audit *out, const struct audit_opts *o)
{
	struct audit_subject *lost = arena_alloc(out->arena, (o->n_lose + 1) * sizeof *lost);

	for (size_t i = 0; i < o->n_lose; i++)
		lost[i] = o->lose[i];
	out->lost = lost;
	out->n_lost = o->n_lose;
}

static void play_losses(struct sim *s, const struct audit *out, const struct audit_opts *o)
{
	sim_play(s, NULL, 0, 0);
	if (o->n_lose) {
		sim_play(s, o->lose, o->n_lose, 1);
		return;
	}
	for (size_t i = 1; i < out->losses.n; i++)
		sim_play(s, &out->losses.at[i], 1, (uint32_t)i);
}

/* --- what rules call --- */

enum audit_verdict audit_judge(double value, double limit, double near_limit)
{
	if (value > limit * (1 + 1e-9))
		return AUDIT_FAIL;
	return near_limit > 0 && value > near_limit * limit ? AUDIT_WARN : AUDIT_PASS;
}

enum audit_verdict audit_both(enum audit_verdict plain, enum audit_verdict capped)
{
	return plain == AUDIT_FAIL && capped != AUDIT_FAIL ? AUDIT_CONDITIONAL : capped;
}

void audit_offer(struct audit_run *r, size_t at, enum audit_verdict verdict, double near)
{
	*vec_push(&r->offers) = (struct candidate){(uint32_t)at, verdict, near};
}

void audit_add(struct audit_run *r, enum audit_rule rule, enum audit_verdict verdict,
	const struct finding *f)
{
	struct finding *own = vec_push(&r->out->findings);

	*own = *f;
	own->rule = rule;
	own->verdict = verdict;
	own->rack = r->rack;
}

static int by_weight(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (x->near != y->near)
		return x->near > y->near ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void audit_list(struct audit_run *r, enum audit_rule rule, audit_say_fn say)
{
	size_t bad = 0, shown;

	vec_sort(&r->offers, by_weight);
	while (bad < r->offers.n && r->offers.at[bad].verdict != AUDIT_PASS)
		bad++;
	shown = bad > AUDIT_LIST_MAX ? AUDIT_LIST_MAX : bad > 0 ? bad : r->offers.n > 0;
	for (size_t i = 0; i < shown; i++) {
		const struct candidate *c = &r->offers.at[i];
		struct finding f = {.rule = rule,
			.loss = {NOUN_N, 0},
			.value = MODEL_UNSET,
			.limit = MODEL_UNSET,
			.unit = "A"};

		if (c->at < r->g->base[LEVEL_N])
			f.subject = sim_subject(r->g, c->at);
		say(r, c, &f);
		if (i + 1 == shown && bad > shown)
			f.more = (unsigned)(bad - shown);
		audit_add(r, rule, c->verdict, &f);
	}
	r->offers.n = 0;
}

const char *audit_text(struct audit_run *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return arena_strdup(r->out->arena, text);
}

const struct element_load *audit_load(
	const struct audit_run *r, enum audit_pass pass, uint32_t element, bool failover)
{
	const struct element_load *normal = &r->sim[pass]->normal[element];
	const struct element_load *worst = &r->sim[pass]->by_line[element];

	return failover && worst->amps > normal->amps ? worst : normal;
}

double audit_limit(const struct audit *a, uint32_t element, bool failover)
{
	return limit_get(&a->graph, &a->policy, element, failover);
}

const char *audit_limit_text(struct audit_run *r, uint32_t element, bool failover)
{
	return limit_text(r->out->arena, r->g, r->p, element, failover);
}

struct audit_subject audit_loss(const struct audit_run *r, uint32_t loss)
{
	return r->out->losses.at[loss];
}

/* --- racks --- */

static void take_figures(struct audit_run *r, struct audit_rack *f)
{
	struct space space;
	bool assumed = false;

	*f = (struct audit_rack){.rack = r->rack,
		.binding = MODEL_NONE,
		.first = r->out->findings.n,
		.floor_kpa = MODEL_UNSET,
		.devices = audit_devices(r)};
	for (uint32_t i = 0; i < f->devices; i++) {
		const uint32_t device = audit_device(r, i);
		const double heat = audit_heat(r, device, r->pass);
		const double share = audit_type(r, device)->liquid_share;

		f->watts += r->d[device].watts[r->pass];
		f->heat_w += heat;
		f->liquid_w += model_stated(share) ? share * heat : 0;
		f->cfm += audit_cfm(r, device, &assumed);
	}
	f->room_w = f->heat_w - f->liquid_w;
	space_make(r->g, r->rack, false, &space);
	space_count(&space, &f->units_used, &f->units_free, &f->units_gap);
}

static void find_above(struct audit_run *r)
{
	r->above.n = 0;
	r->stamp++;
	for (uint32_t i = 0; i < audit_devices(r); i++) {
		const uint32_t d = audit_device(r, i);

		for (uint32_t k = r->g->device_first[d]; k < r->g->device_first[d + 1]; k++) {
			uint32_t e = graph_outlet(r->g, r->g->device_cords[k]);

			for (; e != GRAPH_NONE && r->g->at[e].level <= LEVEL_FEED &&
				r->mark[e] != r->stamp;
				e = r->g->at[e].parent) {
				r->mark[e] = r->stamp;
				*vec_push(&r->above) = e;
			}
		}
	}
}

/* How near to its limit, whichever side of it is bad. */
static double nearness(const struct finding *f)
{
	if (isnan(f->value) || isnan(f->limit) || f->limit <= 0 || f->value <= 0)
		return 0;
	if (f->rule == RULE_PSU_DOWN || f->rule == RULE_PSU_DEGRADED ||
		f->rule == RULE_SINGLE_CORD || f->rule == RULE_DEW_POINT ||
		f->rule == RULE_RIDE_THROUGH || f->rule == RULE_CORDS || f->rule == RULE_STACKING ||
		f->rule == RULE_IMBALANCE)
		return f->verdict == AUDIT_PASS ? 0 : f->limit / f->value;
	return f->value / f->limit;
}

/* The worst verdict of findings first .. and the one among them that decides. */
static enum audit_verdict sum_up(const struct audit *a, size_t first, size_t *binding)
{
	enum audit_verdict worst = AUDIT_PASS;
	double near = -1;

	*binding = MODEL_NONE;
	for (size_t i = first; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.at[i];

		if (f->verdict < worst || (f->verdict == worst && nearness(f) <= near))
			continue;
		worst = f->verdict;
		near = nearness(f);
		*binding = i;
	}
	return worst;
}

static void count_down(struct audit_run *r)
{
	const struct sim_result *sim = r->sim[r->pass];

	r->out->devices += audit_devices(r);
	for (uint32_t i = 0; r->out->n_lost && i < audit_devices(r); i++) {
		const uint32_t d = audit_device(r, i);

		r->out->down += sim->below[d].state == PSU_DOWN || sim->above[d].state == PSU_DOWN;
	}
}

static void judge_rack(struct audit_run *r, size_t rack)
{
	struct audit_rack figures;

	r->rack = rack;
	r->figures = &figures;
	take_figures(r, &figures);
	find_above(r);
	rule_known(r);
	rule_feed(r);
	rule_pdu(r);
	rule_psu(r);
	rule_inrush(r);
	rule_heat(r);
	rule_liquid(r);
	rule_envelope(r);
	rule_space(r);
	rule_weight(r);
	figures.n = r->out->findings.n - figures.first;
	figures.verdict = sum_up(r->out, figures.first, &figures.binding);
	count_down(r);
	*vec_push(&r->out->racks) = figures;
}

static void judge_all(struct audit_run *r)
{
	struct audit *out = r->out;
	size_t binding;

	if (r->o->n_racks)
		for (size_t i = 0; i < r->o->n_racks; i++)
			judge_rack(r, r->o->racks[i]);
	else
		for (size_t i = 0; i < r->m->racks.n; i++)
			judge_rack(r, i);
	r->rack = MODEL_NONE;
	out->site_first = out->findings.n;
	if (!r->o->racks_only) {
		rule_upstream(r);
		rule_zone(r);
	}
	out->site_n = out->findings.n - out->site_first;
	out->verdict = sum_up(out, out->site_first, &binding);
	vec_each(&out->racks, const struct audit_rack, rack) {
		out->count[rack->verdict]++;
		if (rack->verdict > out->verdict)
			out->verdict = rack->verdict;
	}
}

static int check_opts(const struct model *m, const struct audit_opts *o, struct err *err)
{
	for (size_t i = 0; i < o->n_racks; i++)
		if (o->racks[i] >= m->racks.n)
			return err_set(err, E_NOTFOUND, "there is no rack number %zu", o->racks[i]);
	if (o->n_lose > AUDIT_LOSE_MAX)
		return err_set(err, E_LIMIT, "at most %d things are lost at once", AUDIT_LOSE_MAX);
	return 0;
}

static void run(struct audit *out, const struct audit_opts *o)
{
	struct audit_run r = {
		.out = out, .o = o, .m = out->model, .p = &out->policy, .g = &out->graph};
	struct sim *sims[PASS_N] = {NULL};
	bool capped;

	r.d = out->demands = demand_make(out->arena, r.g, out->basis, &capped);
	r.pass = capped ? PASS_CAPPED : PASS_PLAIN;
	list_losses(out, o);
	keep_lost(out, o);
	for (unsigned pass = 0; pass <= r.pass; pass++) {
		sims[pass] = sim_new(out->arena, r.g, r.p, r.d, pass);
		play_losses(sims[pass], out, o);
		r.sim[pass] = sim_results(sims[pass]);
	}
	if (!capped)
		r.sim[PASS_CAPPED] = r.sim[PASS_PLAIN];
	out->loads = *r.sim[r.pass];
	r.mark = arena_alloc(out->arena, (r.g->base[LEVEL_N] + 1) * sizeof *r.mark);
	judge_all(&r);
	for (unsigned pass = 0; pass < PASS_N; pass++)
		sim_free(sims[pass]);
	vec_done(&r.above);
	vec_done(&r.offers);
}

int audit_run(const struct model *m, const struct audit_opts *o, struct audit *out, struct err *err)
{
	struct audit a = {.model = m, .basis = o->basis};
	int rc = check_opts(m, o, err);

	if (rc < 0)
		return rc;
	a.arena = arena_new();
	rc = policy_make(m, o->policy, &a.policy, err);
	if (rc == 0)
		rc = graph_make(a.arena, m, &a.policy, &a.graph, err);
	if (rc == 0)
		run(&a, o);
	if (rc < 0)
		audit_done(&a);
	else
		*out = a;
	return rc;
}

void audit_done(struct audit *a)
{
	if (!a)
		return;
	vec_done(&a->findings);
	vec_done(&a->racks);
	vec_done(&a->losses);
	if (a->arena)
		arena_free(a->arena);
	a->arena = NULL;
}
