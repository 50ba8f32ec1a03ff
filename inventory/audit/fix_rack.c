/* fix_rack - a box leaves: to another rack that takes it, or just out. */
#include "inventory/audit/fix_priv.h"
#include "inventory/audit/place.h"

#define RACKS_MAX 12 /* other racks that are tried */

/* The last device of each type in the rack, most numerous type first. */
struct leaver {
	size_t device, type;
	unsigned n; /* of its type in the rack */
};
struct leavers vec(struct leaver);

static int by_number(const void *a, const void *b)
{
	const struct leaver *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

static void list_leavers(const struct fixer *k, struct leavers *out)
{
	const struct model *m = k->part.m;

	for (size_t d = 0; d < m->devices.n; d++) {
		struct leaver *l = NULL;

		if (m->devices.at[d].rack != k->part.rack || m->devices.at[d].type == MODEL_NONE)
			continue;
		vec_each(out, struct leaver, seen)
			if (seen->type == m->devices.at[d].type)
				l = seen;
		if (!l) {
			l = vec_push(out);
			l->type = m->devices.at[d].type;
		}
		l->device = d;
		l->n++;
	}
	vec_sort(out, by_number);
}

/* Whether the rack of the whole takes one more of the type; fills units and outlets of the whole.
 */
static bool takes(const struct fixer *k, size_t rack, size_t type, struct change *c)
{
	struct arena *scratch = arena_new();
	struct part part;
	struct audit before, after;
	struct place_fault fault;
	struct place placed;
	bool ok = false;

	part_make(scratch, &k->audit->graph, rack, &part);
	if (fix_audit(k, part.m, &before) == 0) {
		const struct fix_score was = fix_judge(&before, part.rack);

		if (was.rack != AUDIT_FAIL &&
			place_device(part.m, &before, part.rack, type, &placed, &fault) &&
			fix_audit(k, part.m, &after) == 0) {
			const struct fix_score is = fix_judge(&after, part.rack);

			ok = (is.rack <= AUDIT_WARN || is.rack <= was.rack) &&
			     is.others <= was.others;
			c->unit = placed.unit;
			c->n = placed.n;
			for (unsigned i = 0; i < placed.n; i++)
				c->outlets[i] = part.outlets[placed.outlets[i]];
			audit_done(&after);
		}
		audit_done(&before);
	}
	model_free(part.m);
	arena_free(scratch);
	return ok;
}

static bool offer_move(struct fixer *k, const struct leaver *l, size_t rack,
	const struct fix_score *now, struct change *c)
{
	const struct model *whole = k->audit->model;
	struct audit_fix f;

	c->device = k->part.devices[l->device];
	c->rack = k->rack;
	c->to_rack = rack;
	f = fix_about(
		k, arena_printf(k->arena, "move '%s' to rack '%s', unit %u",
			   whole->devices.at[c->device].name, whole->racks.at[rack].name, c->unit));
	f.what = (struct audit_subject){NOUN_DEVICE, c->device};
	f.to = (struct audit_subject){NOUN_RACK, rack};
	f.unit = c->unit;
	return fix_offer(k, c, now, f);
}

static bool try_leaver(struct fixer *k, const struct leaver *l)
{
	struct change out = fix_change(k, FIX_REMOVE);
	struct fix_score now;
	unsigned tried = 0;

	out.device = l->device;
	out.unit = 1;
	if (!fix_helps(k, &out, &now))
		return false;
	for (size_t rack = 0; rack < k->audit->model->racks.n && tried < RACKS_MAX; rack++) {
		struct change c = fix_change(k, FIX_MOVE_RACK);

		if (rack == k->rack)
			continue;
		tried++;
		if (takes(k, rack, l->type, &c) && offer_move(k, l, rack, &now, &c))
			return true;
	}
	return false;
}

void fix_try_racks(struct fixer *k)
{
	struct leavers list = VEC_INIT;
	bool found = false;

	list_leavers(k, &list);
	for (size_t i = 0; i < list.n && !found; i++)
		found = try_leaver(k, &list.at[i]);
	vec_done(&list);
}

static bool removal_helps(struct fixer *k, const struct leaver *l, unsigned n)
{
	struct change c = fix_change(k, FIX_REMOVE);
	struct fix_score now;
	struct audit_fix f;

	c.device = l->device;
	c.unit = n;
	if (!fix_helps(k, &c, &now) || now.rack >= k->before.rack)
		return false;
	f = fix_about(k, arena_printf(k->arena, "take %u of the %u '%s' out of the rack", n, l->n,
				 k->part.m->types.at[l->type].name));
	f.what = (struct audit_subject){NOUN_DEVICE, k->part.devices[l->device]};
	f.unit = n;
	return fix_offer(k, &c, &now, f);
}

void fix_try_removal(struct fixer *k)
{
	struct leavers list = VEC_INIT;
	bool found = false;

	list_leavers(k, &list);
	for (size_t i = 0; i < list.n && !found; i++)
		for (unsigned n = 1; n < list.at[i].n && !found; n++)
			found = removal_helps(k, &list.at[i], n);
	vec_done(&list);
}
