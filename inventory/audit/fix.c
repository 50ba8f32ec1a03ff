/* fix - kinds by rising cost; each makes candidates until one helps. */
#include "inventory/audit/fix.h"

#include "agent/base/err.h"
#include "inventory/audit/change.h"
#include "inventory/audit/fix_priv.h"
#include "inventory/audit/formula.h"
#include "inventory/audit/space.h"

#include <math.h>
#include <string.h>

#define CAP_LEAST   0.2 /* of the default, when the GPU's lowest limit is not stated */
#define IMPRACTICAL 0.6 /* of the default; a lower cap is said to be no help */

static const char *const KINDS[FIX_N] = {"prove_cap", "move_cord", "sequence", "move_unit", "cap",
	"move_rack", "add_feed", "larger_feed", "door", "remove"};

const char *fix_kind_name(enum fix_kind k)
{
	return k < FIX_N ? KINDS[k] : "?";
}

/* --- better or not --- */

struct fix_score fix_judge(const struct audit *a, size_t rack)
{
	struct fix_score s = {.rack = AUDIT_PASS};

	vec_each(&a->racks, const struct audit_rack, r) {
		if (r->rack == rack)
			s.rack = r->verdict;
		else
			s.others += r->verdict > AUDIT_WARN ? (unsigned)r->verdict : 0;
	}
	vec_each(&a->findings, const struct finding, f) {
		if (f->rack == rack)
			s.at_worst += f->verdict == s.rack;
		else if (f->rack == MODEL_NONE)
			s.site += f->verdict == AUDIT_FAIL;
	}
	return s;
}

static bool is_better(const struct fix_score *now, const struct fix_score *before)
{
	if (now->others > before->others || now->site > before->site)
		return false;
	return now->rack < before->rack || (now->rack == before->rack && now->rack == AUDIT_FAIL &&
						   now->at_worst < before->at_worst);
}

int fix_audit(const struct fixer *k, const struct model *m, struct audit *out)
{
	const struct audit_opts o = {.policy = k->o->policy, .basis = k->o->basis};

	return audit_run(m, &o, out, NULL);
}

bool fix_helps(struct fixer *k, const struct change *c, struct fix_score *now)
{
	struct model *m = part_copy(k->part.m);
	struct audit a;
	bool better = false;

	change_make(m, c);
	if (fix_audit(k, m, &a) == 0) {
		*now = fix_judge(&a, k->part.rack);
		better = is_better(now, &k->before);
		audit_done(&a);
	}
	model_free(m);
	return better;
}

/* The whole, judged by the racks that the change may touch; panels, UPSs and zones always are. */
static int judge_whole(
	const struct fixer *k, const struct model *m, size_t to_rack, struct fix_score *out)
{
	struct vec(size_t) racks = VEC_INIT;
	struct audit_opts o = {.policy = k->o->policy, .basis = k->o->basis};
	struct audit a;
	int rc;

	for (size_t i = 0; i < k->part.m->racks.n; i++)
		*vec_push(&racks) = k->part.racks[i];
	if (to_rack != MODEL_NONE)
		*vec_push(&racks) = to_rack;
	o.racks = racks.at;
	o.n_racks = racks.n;
	rc = audit_run(m, &o, &a, NULL);
	if (rc == 0) {
		*out = fix_judge(&a, k->rack);
		audit_done(&a);
	}
	vec_done(&racks);
	return rc;
}

/* Whether it holds where panels, UPSs and zones carry all of the site. */
static bool holds(struct fixer *k, const struct change *whole)
{
	struct model *m;
	struct fix_score now;
	bool better;

	if (!k->judged || k->judged_to != whole->to_rack) {
		if (judge_whole(k, k->audit->model, whole->to_rack, &k->whole) < 0)
			return false;
		k->judged = true;
		k->judged_to = whole->to_rack;
	}
	m = part_copy(k->audit->model);
	change_make(m, whole);
	better = judge_whole(k, m, whole->to_rack, &now) == 0 && is_better(&now, &k->whole);
	model_free(m);
	return better;
}

/* What costs this much must mend the rack; a step on the way is not enough. */
static bool must_mend(enum fix_kind kind)
{
	return kind == FIX_ADD_FEED || kind == FIX_LARGER_FEED || kind == FIX_MOVE_RACK;
}

bool fix_offer(
	struct fixer *k, const struct change *c, const struct fix_score *now, struct audit_fix f)
{
	struct change whole = c->kind == FIX_MOVE_RACK ? *c : change_map(&k->part, c);

	if ((must_mend(c->kind) && now->rack >= k->before.rack) || (!k->alone && !holds(k, &whole)))
		return false;
	f.kind = c->kind;
	f.rack = k->rack;
	f.before = k->before.rack;
	f.after = now->rack;
	*vec_push(k->out) = f;
	return true;
}

struct audit_fix fix_about(const struct fixer *k, const char *text)
{
	return (struct audit_fix){.what = {NOUN_RACK, k->rack},
		.to = {NOUN_N, 0},
		.watts = MODEL_UNSET,
		.text = text};
}

struct change fix_change(const struct fixer *k, enum fix_kind kind)
{
	return (struct change){
		.kind = kind, .rack = k->part.rack, .device = MODEL_NONE, .to_rack = MODEL_NONE};
}

static bool has_finding(const struct fixer *k, enum audit_rule rule, enum audit_verdict at_least)
{
	vec_each(&k->now.findings, const struct finding, f)
		if (f->rule == rule && f->rack == k->part.rack && f->verdict >= at_least)
			return true;
	return false;
}

/* --- the simple kinds --- */

static void try_simple(struct fixer *k, enum fix_kind kind, double figure, const char *text)
{
	struct change c = fix_change(k, kind);
	struct audit_fix f = fix_about(k, text);
	struct fix_score now;

	c.watts = figure;
	f.watts = figure;
	if (fix_helps(k, &c, &now))
		fix_offer(k, &c, &now, f);
}

static void try_proof(struct fixer *k)
{
	if (has_finding(k, RULE_CAP_PROOF, AUDIT_WARN))
		try_simple(k, FIX_PROVE_CAP, MODEL_UNSET,
			"enforce the GPU caps at boot and read them back");
}

static void try_sequence(struct fixer *k)
{
	if (has_finding(k, RULE_INRUSH, AUDIT_WARN))
		try_simple(k, FIX_SEQUENCE, 100, "switch the outlets on one by one, 100 ms apart");
}

static void try_larger(struct fixer *k)
{
	const size_t had = k->out->n;
	double least = 0, next;

	vec_each(&k->part.m->pdus, const struct pdu, p) {
		if (p->rack != k->part.rack || p->feed == MODEL_NONE)
			continue;
		if (least == 0 || k->part.m->feeds.at[p->feed].amps < least)
			least = k->part.m->feeds.at[p->feed].amps;
	}
	for (next = change_next_size(least); least > 0 && next > 0 && k->out->n == had;
		next = change_next_size(next))
		try_simple(k, FIX_LARGER_FEED, next,
			arena_printf(k->arena, "feeds of %g A instead of %g A, and PDUs for them",
				next, least));
}

static void try_feed(struct fixer *k)
{
	const char *feed = NULL;

	vec_each(&k->part.m->pdus, const struct pdu, p)
		if (p->rack == k->part.rack && p->feed != MODEL_NONE && !feed)
			feed = k->part.m->feeds.at[p->feed].name;
	if (feed)
		try_simple(k, FIX_ADD_FEED, MODEL_UNSET,
			arena_printf(k->arena,
				"one more feed like '%s' with a PDU, and the PSUs spread evenly",
				feed));
}

static void try_door(struct fixer *k)
{
	vec_each(&k->now.findings, const struct finding, f) {
		double watts;

		if (f->rule != RULE_COOLING_KW || f->rack != k->part.rack ||
			f->verdict != AUDIT_FAIL)
			continue;
		watts = ceil((f->value - f->limit) / 500) * 500;
		try_simple(k, FIX_DOOR, watts,
			arena_printf(k->arena, "a rear-door heat exchanger that takes %.1f kW",
				watts / 1000));
		return;
	}
}

/* --- GPU caps --- */

static bool cap_helps(struct fixer *k, double watts, struct fix_score *now)
{
	struct change c = fix_change(k, FIX_CAP);

	c.watts = watts;
	return fix_helps(k, &c, now) && now->rack < AUDIT_FAIL;
}

static void offer_cap(struct fixer *k, double watts, double from, const struct fix_score *now)
{
	struct change c = fix_change(k, FIX_CAP);
	struct audit_fix f = fix_about(k,
		arena_printf(k->arena,
			"cap each GPU at %.0f W, enforced before workloads and read back%s", watts,
			watts < from * IMPRACTICAL
				? arena_printf(k->arena, "; impractical: %.0f %% of its power",
					  100 * watts / from)
				: ""));

	f.watts = c.watts = watts;
	fix_offer(k, &c, now, f);
}

static void try_cap(struct fixer *k)
{
	const struct model *m = k->part.m;
	double from = 0, least = 0;
	struct fix_score now;

	if (k->before.rack != AUDIT_FAIL)
		return;
	for (size_t d = 0; d < m->devices.n; d++) {
		const struct device_type *t = graph_type(m, d);

		if (m->devices.at[d].rack != k->part.rack || t->gpus == 0 ||
			!model_stated(t->gpu_w))
			continue;
		from = fmax(from, t->gpu_w);
		least = fmax(
			least, model_stated(t->gpu_min_w) ? t->gpu_min_w : t->gpu_w * CAP_LEAST);
	}
	if (from <= least || !cap_helps(k, ceil(least), &now))
		return;
	least = ceil(least);
	from = ceil(from);
	for (double high = from; high - least > 1;) {
		const double middle = floor((least + high) / 2);

		if (cap_helps(k, middle, &now))
			least = middle;
		else
			high = middle;
	}
	if (cap_helps(k, least, &now))
		offer_cap(k, least, from, &now);
}

/* --- units --- */

static void try_unit(struct fixer *k)
{
	vec_each(&k->now.findings, const struct finding, f) {
		struct change c = fix_change(k, FIX_MOVE_UNIT);
		struct audit_fix fix;
		struct fix_score now;
		struct space space;

		if (f->rule != RULE_UNITS || f->rack != k->part.rack ||
			f->subject.noun != NOUN_DEVICE)
			continue;
		c.device = f->subject.row;
		space_make(&k->now.graph, k->part.rack, true, &space);
		c.unit = space_find(&space, graph_type(k->part.m, c.device), FACE_FRONT, NULL);
		if (!c.unit || !fix_helps(k, &c, &now))
			continue;
		fix = fix_about(k, arena_printf(k->arena, "move '%s' to unit %u",
					   k->part.m->devices.at[c.device].name, c.unit));
		fix.what = (struct audit_subject){NOUN_DEVICE, k->part.devices[c.device]};
		fix.unit = c.unit;
		if (fix_offer(k, &c, &now, fix))
			return;
	}
}

int fix_find(struct arena *a, const struct audit *audit, const struct audit_opts *o, size_t rack,
	struct audit_fixes *out, struct err *err)
{
	static void (*const kinds[])(struct fixer *) = {try_proof, fix_try_cords, try_sequence,
		try_unit, try_cap, fix_try_racks, try_feed, try_larger, try_door, fix_try_removal};
	struct fixer k = {.arena = a, .audit = audit, .o = o, .rack = rack, .out = out};
	struct arena *scratch = arena_new();
	int rc;

	part_make(scratch, &audit->graph, rack, &k.part);
	rc = fix_audit(&k, k.part.m, &k.now);
	if (rc < 0) {
		err_set(err, E_INTERNAL, "rack '%s' cannot be audited alone",
			audit->model->racks.at[rack].name);
	} else {
		k.before = fix_judge(&k.now, k.part.rack);
		k.alone = audit->model->panels.n == 0 && audit->model->upses.n == 0 &&
			  audit->model->zones.n == 0;
		for (size_t i = 0; k.before.rack != AUDIT_PASS && i < sizeof kinds / sizeof *kinds;
			i++)
			kinds[i](&k);
		audit_done(&k.now);
	}
	model_free(k.part.m);
	arena_free(scratch);
	return rc;
}
