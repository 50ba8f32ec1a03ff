/* fit - tries on parts, confirms on the whole. */
#include "inventory/audit/fit.h"

#include "agent/base/err.h"
#include "inventory/audit/part.h"
#include "inventory/audit/place.h"
#include "inventory/audit/space.h"

#define RACK_MAX 100 /* devices placed in one rack */

struct fitter {
	const struct model *m;
	const struct audit_opts *o;
	struct fit *out;
	const struct graph *g; /* of the whole */
	struct err *err;
};

static int audit_copy(const struct fitter *k, const struct model *m, struct audit *out)
{
	const struct audit_opts o = {.policy = k->o->policy, .basis = k->o->basis};

	return audit_run(m, &o, out, k->err);
}

static enum audit_verdict verdict_of(const struct audit *a, size_t rack)
{
	vec_each(&a->racks, const struct audit_rack, r)
		if (r->rack == rack)
			return r->verdict;
	return AUDIT_PASS;
}

/* The finding that a failing part fails by: the rack's own, else the first that fails. */
static const struct finding *reason_of(const struct audit *a, size_t rack)
{
	vec_each(&a->racks, const struct audit_rack, r)
		if (r->rack == rack && r->verdict == AUDIT_FAIL)
			return &a->findings.at[r->binding];
	vec_each(&a->findings, const struct finding, f)
		if (f->verdict == AUDIT_FAIL)
			return f;
	return NULL;
}

static void note_limit(const struct fitter *k, const struct audit *a, const struct finding *f,
	struct fit_rack *out)
{
	struct arena *arena = k->out->arena;

	out->limit = f->rule;
	out->value = f->value;
	out->bound = f->limit;
	out->unit = arena_strdup(arena, f->unit);
	out->text = arena_printf(arena, "%s%s%s: %s", audit_name(arena, a->model, f->subject),
		f->loss.noun == NOUN_N ? "" : " after the loss of ",
		f->loss.noun == NOUN_N ? "" : audit_name(arena, a->model, f->loss), f->text);
}

/* --- room by moving one box inside the rack --- */

struct move {
	size_t device;
	unsigned from, to, then, far;
};

/* The lowest place for a device that lets the type in; down counts as shorter than up. */
static void try_moves(const struct graph *g, uint32_t device, const struct space *now,
	const struct device_type *type, struct move *best)
{
	const struct device *d = &g->m->devices.at[device];
	const struct device_type *own = graph_type(g->m, device);
	struct space without = *now;
	struct device moved = *d;

	space_put(&without, d, own, false);
	for (unsigned u = now->first_u; u < now->first_u + now->n / 2; u++) {
		const unsigned far =
			u > d->position ? SPACE_MAX + u - d->position : d->position - u;
		struct space with = without;
		unsigned then;

		if (far == 0 || far >= best->far || !space_fits(&without, own, d->face, u))
			continue;
		moved.position = u;
		space_put(&with, &moved, own, true);
		then = space_find(&with, type, FACE_FRONT, NULL);
		if (!then)
			continue;
		*best = (struct move){device, d->position, u, then, far};
		return;
	}
}

static void find_move(
	const struct graph *g, size_t rack, const struct device_type *type, struct fit_rack *out)
{
	struct move best = {.device = MODEL_NONE, .far = 2 * SPACE_MAX};
	struct space now;

	space_make(g, rack, true, &now);
	for (uint32_t i = g->rack_first[rack]; i < g->rack_first[rack + 1]; i++)
		if (g->m->devices.at[g->rack_devices[i]].position)
			try_moves(g, g->rack_devices[i], &now, type, &best);
	out->move = best.device;
	out->move_from = best.from;
	out->move_to = best.to;
	out->then_at = best.then;
}

/* --- one rack --- */

static void keep_place(struct fitter *k, const struct part *part, const struct place *p)
{
	size_t *outlets = arena_alloc(k->out->arena, (p->n + 1) * sizeof *outlets);

	for (unsigned i = 0; i < p->n; i++)
		outlets[i] = part->outlets[p->outlets[i]];
	*vec_push(&k->out->places) = (struct fit_place){.rack = part->racks[part->rack],
		.unit = p->unit,
		.n_outlets = p->n,
		.outlets = outlets};
}

/* Places one more and audits. True when it may stay; *a is the audit of the part as it is. */
static bool place_more(struct fitter *k, struct part *part, struct audit *a, struct fit_rack *r,
	struct place *placed)
{
	const struct audit *before = a;
	struct place_fault fault;
	struct audit next;
	const struct finding *reason;

	if (!place_device(part->m, before, part->rack, k->out->type, placed, &fault)) {
		r->limit = fault.rule;
		r->value = fault.value;
		r->bound = fault.limit;
		r->unit = fault.rule == RULE_CONTIGUOUS_U ? "U" : "";
		r->text = arena_strdup(k->out->arena, fault.text);
		return false;
	}
	if (audit_copy(k, part->m, &next) < 0)
		return false;
	reason = reason_of(&next, part->rack);
	if (reason) {
		note_limit(k, &next, reason, r);
		audit_done(&next);
		return false;
	}
	audit_done(a);
	*a = next;
	r->after = verdict_of(a, part->rack);
	return true;
}

static int fit_rack(struct fitter *k, size_t rack, unsigned wanted, struct fit_rack *r)
{
	struct arena *scratch = arena_new();
	struct part part;
	struct audit a = {0};
	int rc;

	*r = (struct fit_rack){
		.rack = rack, .limit = RULE_N, .unit = "", .text = "", .move = MODEL_NONE};
	part_make(scratch, k->g, rack, &part);
	rc = audit_copy(k, part.m, &a);
	if (rc == 0) {
		const struct finding *reason = reason_of(&a, part.rack);
		struct place placed;

		r->after = verdict_of(&a, part.rack);
		if (reason)
			note_limit(k, &a, reason, r);
		while (!reason && r->n < wanted && place_more(k, &part, &a, r, &placed)) {
			r->n++;
			keep_place(k, &part, &placed);
		}
		if (r->limit == RULE_CONTIGUOUS_U && r->n == 0)
			find_move(k->g, rack, &k->m->types.at[k->out->type], r);
	}
	audit_done(&a);
	model_free(part.m);
	arena_free(scratch);
	return rc;
}

/* --- the whole site --- */

static void put_places(struct model *m, const struct fit *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct fit_place *p = &f->places.at[i];
		const size_t device = m->devices.n;

		*vec_push(&m->devices) = (struct device){.name = part_name(m, "new", i + 1),
			.type = f->type,
			.rack = p->rack,
			.position = p->unit,
			.watts_measured = MODEL_UNSET,
			.watts_cap = MODEL_UNSET};
		for (unsigned c = 0; c < p->n_outlets; c++) {
			*vec_push(&m->ports) = (struct port){.name = part_name(m, "psu", c + 1),
				.device = device,
				.kind = PORT_POWER};
			*vec_push(&m->cords) = (struct cord){m->ports.n - 1, p->outlets[c], 0};
		}
	}
}

static unsigned failures(const struct audit *a)
{
	unsigned n = 0;

	for (size_t i = 0; i < a->site_n; i++)
		n += a->findings.at[a->site_first + i].verdict == AUDIT_FAIL;
	vec_each(&a->findings, const struct finding, f)
		n += f->rack != MODEL_NONE && f->rule == RULE_CASCADE && f->verdict == AUDIT_FAIL;
	return n;
}

/* Whether the site carries the first n places: nothing of its own fails that did not before. */
static int carries(struct fitter *k, size_t n, unsigned before, bool *yes)
{
	struct model *m = part_copy(k->m);
	struct audit a;
	int rc;

	put_places(m, k->out, n);
	rc = audit_copy(k, m, &a);
	if (rc == 0) {
		*yes = failures(&a) <= before;
		for (size_t i = 0; !*yes && i < a.site_n; i++) {
			const struct finding *f = &a.findings.at[a.site_first + i];

			if (f->verdict != AUDIT_FAIL)
				continue;
			k->out->site_limit = f->rule;
			k->out->site_text = arena_printf(k->out->arena, "%s: %s",
				audit_name(k->out->arena, m, f->subject), f->text);
			break;
		}
		audit_done(&a);
	}
	model_free(m);
	return rc;
}

static void give_back(struct fit *f, size_t keep)
{
	f->given_back = (unsigned)(f->places.n - keep);
	for (size_t i = keep; i < f->places.n; i++)
		vec_each(&f->racks, struct fit_rack, r)
			if (r->rack == f->places.at[i].rack)
				r->n--;
	f->places.n = keep;
}

/* The most places that the site carries, by halving. */
static int confirm(struct fitter *k, unsigned before)
{
	size_t good = 0, bad = k->out->places.n + 1;
	bool yes = true;
	int rc = carries(k, k->out->places.n, before, &yes);

	if (rc < 0 || yes)
		return rc;
	bad = k->out->places.n;
	while (rc == 0 && bad - good > 1) {
		const size_t middle = good + (bad - good) / 2;

		rc = carries(k, middle, before, &yes);
		if (yes)
			good = middle;
		else
			bad = middle;
	}
	if (rc == 0)
		give_back(k->out, good);
	return rc;
}

static int fit_all(struct fitter *k, const struct audit *whole, unsigned count)
{
	const size_t n = k->o->n_racks ? k->o->n_racks : k->m->racks.n;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const unsigned left = count ? count - (unsigned)k->out->places.n : RACK_MAX;
		struct fit_rack r;

		rc = fit_rack(k, k->o->n_racks ? k->o->racks[i] : i,
			left < RACK_MAX ? left : RACK_MAX, &r);
		if (rc == 0)
			*vec_push(&k->out->racks) = r;
		if (count && k->out->places.n >= count)
			break;
	}
	if (rc == 0 && k->out->places.n)
		rc = confirm(k, failures(whole));
	k->out->total = (unsigned)k->out->places.n;
	return rc;
}

int fit_find(const struct model *m, const struct audit_opts *o, size_t type, unsigned count,
	struct fit *out, struct err *err)
{
	const struct audit_opts all = {.policy = o->policy, .basis = o->basis};
	struct fit f = {.model = m, .type = type, .asked = count, .site_limit = RULE_N};
	struct fitter k = {.m = m, .o = o, .out = &f, .err = err};
	struct audit whole;
	int rc;

	if (type >= m->types.n)
		return err_set(err, E_NOTFOUND, "there is no device type number %zu", type);
	rc = audit_run(m, &all, &whole, err);
	if (rc < 0)
		return rc;
	f.arena = arena_new();
	k.g = &whole.graph;
	rc = fit_all(&k, &whole, count);
	audit_done(&whole);
	if (rc < 0)
		fit_done(&f);
	else
		*out = f;
	return rc;
}

void fit_done(struct fit *f)
{
	if (!f)
		return;
	vec_done(&f->racks);
	vec_done(&f->places);
	if (f->arena)
		arena_free(f->arena);
	f->arena = NULL;
}
