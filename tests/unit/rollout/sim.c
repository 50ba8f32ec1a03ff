/* sim - how: one heap of ends, one record of orders a node, a fence word a node. */
#include "tests/unit/rollout/sim.h"

#include <stdio.h>
#include <string.h>

#define DOMAINS_MAX 8

uint64_t sim_draw(struct sim *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random % below;
}

/* --- power --- */

size_t sim_circuit(size_t node)
{
	return node / 10;
}

unsigned sim_weight(size_t node)
{
	return 1 + (unsigned)(node % 3);
}

static bool fits(void *ctx, const size_t *out, size_t n_out, const size_t *unit, size_t n_unit,
	char why_not[static 200])
{
	(void)ctx;
	for (size_t k = 0; k < n_unit; k++) {
		const size_t circuit = sim_circuit(unit[k]);
		unsigned sum = 0;

		for (size_t i = 0; i < n_out + n_unit; i++) {
			const size_t node = i < n_out ? out[i] : unit[i - n_out];

			sum += sim_circuit(node) == circuit ? sim_weight(node) : 0;
		}
		if (sum > SIM_CIRCUIT) {
			snprintf(why_not, 200, "circuit %zu: %u kW of %d", circuit, sum,
				SIM_CIRCUIT);
			return false;
		}
	}
	return true;
}

struct rollout_power sim_power(void)
{
	return (struct rollout_power){NULL, fits};
}

/* --- making it --- */

static void make_node(struct sim *w, size_t i)
{
	struct rollout_domain *d = arena_alloc(w->arena, DOMAINS_MAX * sizeof *d);
	unsigned n = 0;

	d[n++] = (struct rollout_domain){"rack", arena_printf(w->arena, "R%zu", i / 8)};
	d[n++] = (struct rollout_domain){"feed", arena_printf(w->arena, "A%zu", i / 16)};
	d[n++] = (struct rollout_domain){"feed", arena_printf(w->arena, "B%zu", i / 24)};
	d[n++] = (struct rollout_domain){"type", i % 7 ? "h100" : "cpu"};
	if (i % 12 < 4)
		d[n++] = (struct rollout_domain){"nvl", arena_printf(w->arena, "d%zu", i / 4)};
	if (i % 12 == 5 || i % 12 == 10)
		d[n++] = (struct rollout_domain){"mirror", arena_printf(w->arena, "m%zu", i / 12)};
	w->site[i] = (struct rollout_node){
		.name = arena_printf(w->arena, "n%zu", i), .domains = d, .n_domains = n};
	if (sim_draw(w, 20) == 0)
		w->nodes[i].fence = SIM_FOREIGN;
}

static void make_policy(struct sim *w)
{
	struct rollout_policy *p = &w->policy;

	rollout_policy_preset(p);
	p->class_by[0] = "type";
	p->n_class_by = 1;
	p->canaries = (unsigned)sim_draw(w, 3);
	p->max_unavailable =
		(struct amount){(w->n < 24 ? 34 : 17) + (unsigned)sim_draw(w, 60), true};
	p->budgets[0] = (struct rollout_budget){"rack", {4 + (unsigned)sim_draw(w, 4), false}};
	p->budgets[1] = (struct rollout_budget){"feed", {50, true}};
	p->n_budgets = 2;
	p->unit = sim_draw(w, 2) ? "nvl" : NULL;
	p->pair = sim_draw(w, 2) ? "mirror" : NULL;
	p->soak_wave = (int64_t)sim_draw(w, 100) * SIM_SEC;
	p->soak_canary = (int64_t)sim_draw(w, 1000) * SIM_SEC;
	p->soak_node = (int64_t)(sim_draw(w, 2) * sim_draw(w, 1200)) * SIM_SEC;
	p->order = (enum rollout_order)sim_draw(w, ROLLOUT_ORDER_N);
	p->seed = w->seed;
	p->failures = (struct amount){10, true};
	p->same_failure = sim_draw(w, 2) ? 3 : 0;
	p->retry = (unsigned)sim_draw(w, 3);
	p->on_failure = sim_draw(w, 2) ? ON_FAILURE_ROLLBACK
				       : (enum rollout_failure)sim_draw(w, ON_FAILURE_N);
	p->fence.deadline = (int64_t)(600 + sim_draw(w, 7200)) * SIM_SEC;
	if (sim_draw(w, 4) == 0) {
		p->window_days = 0x7F;
		p->window_from = 60;
		p->window_to = 60 + 60 * (unsigned)(1 + sim_draw(w, 5));
	}
}

void sim_new(struct sim *w, unsigned seed, size_t n)
{
	memset(w, 0, sizeof *w);
	w->seed = seed;
	w->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	w->arena = arena_new();
	w->n = n;
	w->now = 1000 * SIM_SEC;
	w->forgiven = INT64_MIN;
	w->step = 1;
	w->faults = true;
	w->site = arena_alloc(w->arena, n * sizeof *w->site);
	w->nodes = arena_alloc(w->arena, n * sizeof *w->nodes);
	make_policy(w);
	for (size_t i = 0; i < n; i++)
		make_node(w, i);
}

void sim_done(struct sim *w)
{
	vec_done(&w->events);
	vec_done(&w->changed);
	arena_free(w->arena);
}

const char *sim_value(const struct sim *w, size_t node, const char *kind)
{
	for (unsigned k = 0; k < w->site[node].n_domains; k++)
		if (strcmp(w->site[node].domains[k].kind, kind) == 0)
			return w->site[node].domains[k].value;
	return NULL;
}

/* --- the store --- */

static const char *keep_text(struct sim *w, const char *now, const char *before)
{
	if (now && before && strcmp(now, before) == 0)
		return before;
	return arena_strdup(w->arena, now);
}

void sim_hand_over(struct sim *w, const struct drive_move *m)
{
	struct sim_node *n = &w->nodes[m->node];

	n->handed = (struct sim_row){m->to, m->tries,
		m->from == m->to && m->to == STATE_ELIGIBLE ? n->handed.since : w->now,
		keep_text(w, m->word.why, n->handed.why),
		keep_text(w, m->word.signature, n->handed.signature)};
	if (!n->changed)
		*vec_push(&w->changed) = m->node;
	n->changed = true;
}

void sim_keep(struct sim *w)
{
	for (size_t k = 0; k < w->changed.n; k++) {
		struct sim_node *n = &w->nodes[w->changed.at[k]];

		n->kept = n->handed;
		n->kept_touched = n->touched;
		n->kept_settled = n->settled;
		n->changed = false;
	}
	w->changed.n = 0;
}

/* The process dies: what was not committed never was; nobody hears the nodes. */
void sim_forget(struct sim *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct sim_node *n = &w->nodes[i];

		n->handed = n->kept;
		n->touched = n->kept_touched;
		n->settled = n->kept_settled;
		n->changed = n->heard = false;
	}
	w->changed.n = 0;
}

/* --- the heap of ends --- */

static void swap(struct sim *w, size_t a, size_t b)
{
	const struct sim_event e = w->events.at[a];

	w->events.at[a] = w->events.at[b];
	w->events.at[b] = e;
}

static void push_event(struct sim *w, struct sim_event e)
{
	size_t i;

	if (e.at == INT64_MAX)
		return;
	*vec_push(&w->events) = e;
	for (i = w->events.n - 1; i > 0 && w->events.at[i].at < w->events.at[(i - 1) / 2].at;
		i = (i - 1) / 2)
		swap(w, i, (i - 1) / 2);
}

static struct sim_event pop_event(struct sim *w)
{
	const struct sim_event first = w->events.at[0];
	size_t i = 0, child;

	w->events.at[0] = w->events.at[--w->events.n];
	while ((child = 2 * i + 1) < w->events.n) {
		if (child + 1 < w->events.n && w->events.at[child + 1].at < w->events.at[child].at)
			child++;
		if (w->events.at[i].at <= w->events.at[child].at)
			break;
		swap(w, i, child);
		i = child;
	}
	return first;
}

int64_t sim_next(const struct sim *w)
{
	return w->events.n > 0 ? w->events.at[0].at : INT64_MAX;
}

/* --- the nodes --- */

static bool has_edge(enum node_state state, enum node_event on)
{
	return node_next(state, on) != STATE_N;
}

/* A scheduler knows whose mark is on a node: what others hold is never touched. */
static void close_fence(struct sim_node *n)
{
	if (n->fence == SIM_OPEN)
		n->fence = SIM_OURS;
}

static void open_fence(struct sim_node *n)
{
	if (n->fence == SIM_OURS)
		n->fence = SIM_OPEN;
}

static void draw_outcome(struct sim *w, struct sim_action *a)
{
	const uint64_t luck = w->faults ? sim_draw(w, 1000) : 999;

	a->on = EVENT_OK;
	a->ends = w->now + SIM_SEC * (int64_t)(1 + sim_draw(w, 240));
	a->ends += w->step - a->ends % w->step;
	if (luck < 8 && has_edge(a->state, EVENT_FAILED))
		a->on = EVENT_FAILED;
	else if (luck < 11)
		a->ends = INT64_MAX;
	else if (luck < 14) /* long after its time */
		a->ends += 20000 * SIM_SEC;
	else if (luck < 16 && has_edge(a->state, EVENT_TIMEOUT))
		a->on = EVENT_TIMEOUT;
	a->twice = luck % 7 == 0;
	if (a->state == STATE_PREFLIGHT && a->on == EVENT_OK &&
		(w->unchanged || sim_draw(w, 10) == 0))
		a->on = EVENT_SKIP;
	if (a->state == STATE_STAGED && a->on == EVENT_OK && w->nodes[0].fence == SIM_FOREIGN)
		a->on = EVENT_SKIP; /* no scheduler: of the whole seed */
	if (a->state == STATE_INSTALLED && (a->on == EVENT_OK || a->ends == INT64_MAX)) {
		a->on = sim_draw(w, 3) ? EVENT_OK : EVENT_SKIP;
		a->ends = w->now;
	}
}

static void tell(struct sim *w, size_t node, const struct sim_action *a)
{
	static const char *const SIGNATURES[] = {"make error", "xid 79", "apt lock", "fm"};
	const bool failed = a->on == EVENT_FAILED;
	const struct drive_word word = {
		failed ? "it broke" : NULL, NULL, failed ? SIGNATURES[sim_draw(w, 4)] : NULL};

	for (unsigned i = 0; i < (a->twice ? 2 : 1); i++)
		if (!drive_tell(w->drive, node, a->state, a->on, &word))
			__builtin_trap(); /* a bug of this world */
}

/* What the action does to the scheduler as it ends. */
static void finish(struct sim_node *n, struct sim_action *a)
{
	a->over = true;
	if (a->state == STATE_CORDONED && a->on == EVENT_OK) {
		close_fence(n);
		if (n->fence == SIM_FOREIGN)
			a->on = EVENT_FAILED;
	}
	if ((a->state == STATE_RETURNED || a->state == STATE_ROLLBACK) && a->on == EVENT_OK)
		open_fence(n);
	else if (a->state == STATE_ROLLBACK)
		close_fence(n);
}

static void enter_rest(struct sim_node *n, enum node_state state)
{
	if (state == STATE_QUARANTINED || state == STATE_UNREACHABLE)
		close_fence(n);
	else
		open_fence(n);
}

void sim_enter(struct sim *w, size_t node, enum node_state state, unsigned tries, bool again)
{
	struct sim_node *n = &w->nodes[node];
	struct sim_action *a = &n->action;
	const bool known = again && a->given && a->state == state && a->tries == tries;

	if (node_is_terminal(state)) {
		a->given = false; /* a fence is a level: the latest wish holds */
		enter_rest(n, state);
		return;
	}
	n->heard = true;
	if (known && a->over) {
		tell(w, node, a);
		return;
	}
	if (!known) {
		*a = (struct sim_action){.state = state, .tries = tries, .given = true};
		draw_outcome(w, a);
		if (a->ends <= w->now) {
			finish(n, a);
			tell(w, node, a);
			return;
		}
		push_event(w, (struct sim_event){a->ends, node, state, tries});
	}
}

void sim_leave(struct sim *w, size_t node, enum node_state state)
{
	/* what is wanted of a scheduler is taken back; others that were given up may say something
	 * all the same, too late */
	struct sim_node *n = &w->nodes[node];
	const bool fence =
		state == STATE_CORDONED || state == STATE_RETURNED || state == STATE_ROLLBACK;

	if (n->action.state == state && (fence || sim_draw(w, 2)))
		n->action.given = false;
}

void sim_drain(struct sim *w, struct sim_node *n)
{
	if (n->fence != SIM_FOREIGN && sim_draw(w, 12) != 0)
		return;
	n->freed = n->fence == SIM_FOREIGN;
	n->fence = n->freed ? SIM_OPEN : SIM_FOREIGN;
}

void sim_happen(struct sim *w)
{
	while (w->events.n > 0 && w->events.at[0].at <= w->now) {
		const struct sim_event e = pop_event(w);
		struct sim_node *n = &w->nodes[e.node];
		struct sim_action *a = &n->action;

		if (!a->given || a->over || a->state != e.state || a->tries != e.tries)
			continue;
		finish(n, a);
		if (n->heard)
			tell(w, e.node, a);
	}
}
