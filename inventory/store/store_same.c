/*
 * store_same - which of the large tables are already as the file has them.
 *
 * Outlets, banks, devices, ports and cords are nearly all of a site, and most imports
 * change something else. They are left alone when each row is the same in the same
 * place, and what it refers to keeps its id: ids follow names, which then have not moved.
 */
#include "inventory/model/field.h"
#include "inventory/store/store_priv.h"

#include <string.h>

static const char *const SQL[NOUN_N] = {
	[NOUN_OUTLET] = "SELECT t.id FROM pdus o CROSS JOIN outlets t ON t.pdu_id = o.id"
			" WHERE o.site_id = :site ORDER BY t.ord",
	[NOUN_BANK] = "SELECT t.id FROM pdus o CROSS JOIN banks t ON t.pdu_id = o.id"
		      " WHERE o.site_id = :site ORDER BY t.ord",
	[NOUN_DEVICE] = "SELECT id FROM devices WHERE site_id = :site ORDER BY ord",
	[NOUN_PORT] = "SELECT t.id FROM devices o CROSS JOIN ports t ON t.device_id = o.id"
		      " WHERE o.site_id = :site ORDER BY t.ord",
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* What is not stated may be zero here and NaN there. */
static bool same_num(const struct model_field *f, const void *a, const void *b)
{
	const bool stated = model_row_states(f, a);
	const double x = model_get_num(f, a), y = model_get_num(f, b);

	return stated == model_row_states(f, b) && (!stated || (x <= y && x >= y));
}

/* The kinds that these tables have; another kind is taken to differ. */
static bool same_field(const struct model_field *f, const void *a, const void *b)
{
	switch (f->kind) {
	case FIELD_NUM:
		return same_num(f, a, b);
	case FIELD_UINT:
	case FIELD_ENUM:
	case FIELD_BOOL:
		return model_get_uint(f, a) == model_get_uint(f, b);
	case FIELD_HALF:
		return model_get_uint(f, a) == model_get_uint(f, b) &&
		       model_get_half(f, a) == model_get_half(f, b);
	case FIELD_CHAR:
		return ((const char *)a)[f->offset] == ((const char *)b)[f->offset];
	case FIELD_REF:
		return model_get_ref(f, a) == model_get_ref(f, b);
	case FIELD_TEXT:
	case FIELD_NAME:
	case FIELD_LABEL:
	case FIELD_WORD:
		return same_text(model_get_text(f, a), model_get_text(f, b));
	default:
		return false;
	}
}

/* names: only those, and so the rows' ids. */
static bool same_rows(
	const struct model *a, const struct model *b, enum model_noun noun, bool names)
{
	const struct model_fields fields = model_fields_of(noun);

	if (model_rows(a, noun) != model_rows(b, noun))
		return false;
	for (size_t i = 0; i < model_rows(a, noun); i++)
		for (size_t k = 0; k < fields.n; k++)
			if ((!names || strcmp(fields.at[k].key, "name") == 0) &&
				!same_field(&fields.at[k], model_row(a, noun, i),
					model_row(b, noun, i)))
				return false;
	return true;
}

static bool same_owners(const struct model *a, const struct model *b)
{
	for (size_t i = 0; i < a->outlets.n; i++)
		if (a->outlets.at[i].pdu != b->outlets.at[i].pdu)
			return false;
	return true;
}

static bool same_bank_owners(const struct model *a, const struct model *b)
{
	for (size_t i = 0; i < a->banks.n; i++)
		if (a->banks.at[i].pdu != b->banks.at[i].pdu)
			return false;
	return true;
}

static bool same_ports(const struct model *a, const struct model *b)
{
	if (a->ports.n != b->ports.n)
		return false;
	for (size_t i = 0; i < a->ports.n; i++) {
		const struct port *x = &a->ports.at[i], *y = &b->ports.at[i];

		if (x->device != y->device || x->kind != y->kind || !same_text(x->name, y->name) ||
			!same_text(x->type, y->type) || !same_text(x->mac, y->mac))
			return false;
	}
	return true;
}

static bool same_cords(const struct model *a, const struct model *b)
{
	if (a->cords.n != b->cords.n)
		return false;
	for (size_t i = 0; i < a->cords.n; i++)
		if (a->cords.at[i].port != b->cords.at[i].port ||
			a->cords.at[i].outlet != b->cords.at[i].outlet)
			return false;
	return true;
}

static void compare(struct put *p, const struct model *old)
{
	const struct model *m = p->m;
	const bool pdus = same_rows(old, m, NOUN_PDU, true);
	const bool racks = same_rows(old, m, NOUN_RACK, true);
	const bool types = same_rows(old, m, NOUN_TYPE, true);
	const bool devices = same_rows(old, m, NOUN_DEVICE, true);

	p->same[NOUN_OUTLET] = pdus && same_rows(old, m, NOUN_OUTLET, false) && same_owners(old, m);
	p->same[NOUN_BANK] =
		pdus && same_rows(old, m, NOUN_BANK, false) && same_bank_owners(old, m);
	p->same[NOUN_DEVICE] = racks && types && same_rows(old, m, NOUN_DEVICE, false);
	p->same[NOUN_PORT] = devices && same_ports(old, m);
	p->same[NOUN_CORD] = p->same[NOUN_PORT] && p->same[NOUN_OUTLET] && same_cords(old, m);
}

/* False when there are not as many as the file has. */
static bool take_ids(struct put *p, enum model_noun noun)
{
	AUTO_QUERY q = query_start(p->s, PART_SAME, SQL, noun);
	const size_t rows = model_rows(p->m, noun);
	size_t n = 0;
	int rc;

	query_int(&q, ":site", p->site);
	while ((rc = query_next(&q, NULL)) > 0)
		if (n++ < rows)
			p->ids[noun][n - 1] = query_get_int(&q, 0);
	return rc == 0 && n == rows;
}

void put_find_same(struct put *p)
{
	struct model *old = NULL;

	if (p->fresh || store_load_model(p->s, p->m->site, &old, NULL) < 0)
		return;
	compare(p, old);
	model_free(old);
	for (unsigned noun = 0; noun < NOUN_N; noun++)
		if (p->same[noun] && SQL[noun] && !take_ids(p, (enum model_noun)noun))
			p->same[noun] = p->same[NOUN_CORD] = false;
}
