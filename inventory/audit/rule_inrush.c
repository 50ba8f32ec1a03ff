/* rule_inrush - power returns: all that hangs on a breaker and is not sequenced starts at once. */
#include "inventory/audit/audit_priv.h"

#include <math.h>

#define CURVE_ASSUMED 'C'

static char curve_of(const struct bank *b)
{
	return b->curve ? b->curve : CURVE_ASSUMED;
}

static bool sequenced(const struct audit_run *r, uint32_t e)
{
	const struct bank *b = &r->m->banks.at[r->g->at[e].row];

	return model_stated(r->m->pdus.at[b->pdu].sequence_ms);
}

static double cord_inrush(const struct audit_run *r, uint32_t cord)
{
	const uint32_t e = graph_outlet(r->g, cord);
	const double amps = r->sim[r->pass]->normal[e].amps;

	return formula_inrush(1, amps, audit_type(r, r->g->cord_device[cord])->inrush);
}

/* The inrush of all cords on a bank at once; of the largest alone when sequenced. */
static double bank_inrush(const struct audit_run *r, uint32_t e)
{
	const struct element *el = &r->g->at[e];
	double all = 0, largest = 0;

	for (uint32_t k = 0; k < el->n; k++) {
		const double amps = cord_inrush(r, r->g->below[el->first + k]);

		all += amps;
		largest = fmax(largest, amps);
	}
	return sequenced(r, e) ? largest : all;
}

static void say_inrush(struct audit_run *r, const struct candidate *c, struct finding *f)
{
	const struct bank *b = &r->m->banks.at[r->g->at[c->at].row];
	const unsigned n = r->g->at[c->at].n;

	f->value = bank_inrush(r, c->at);
	f->limit = formula_magnetic(curve_of(b), b->amps);
	f->assumes = b->curve ? "inrush of 4 times steady current"
			      : "a breaker of curve C, inrush of 4 times steady current";
	f->text = audit_text(r, "%s make %.0f A for 20-50 ms; a %c curve of %g A holds %.0f A%s",
		sequenced(r, c->at) ? "one PSU at a time, and it may"
				    : audit_text(r, "%u PSUs at once", n),
		f->value, curve_of(b), b->amps, f->limit,
		c->verdict == AUDIT_WARN ? ": sequence the outlets or stagger power-on" : "");
}

void rule_inrush(struct audit_run *r)
{
	vec_each(&r->above, uint32_t, e) {
		const struct element *el = &r->g->at[*e];
		const struct bank *b;
		double near;

		if (el->level != LEVEL_BANK || isnan(el->volts))
			continue;
		b = &r->m->banks.at[el->row];
		if (!model_stated(b->amps))
			continue;
		near = bank_inrush(r, *e) / formula_magnetic(curve_of(b), b->amps);
		audit_offer(r, *e, near >= 1 ? AUDIT_WARN : AUDIT_PASS, near);
	}
	audit_list(r, RULE_INRUSH, say_inrush);
}
