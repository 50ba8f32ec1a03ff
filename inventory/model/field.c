/* field - the tables of field_table.c, and a row of any noun by its bytes. */
#include "inventory/model/field.h"

#include "inventory/model/field_table.h"

#include <string.h>

const char *const MODEL_SUPPLIES[] = {"-", "panel", "ups", "generator", "feed", "outlet", NULL};

/* Where the rows of a noun lie; every vec is {at, n, room}. */
static const struct rows {
	size_t at, n, room, size, line;
} ROWS[NOUN_N] = {
#define OF(noun, list, type)                                                       \
	[noun] = {offsetof(struct model, list.at), offsetof(struct model, list.n), \
		offsetof(struct model, list.room), sizeof(struct type),            \
		offsetof(struct type, line)}
	OF(NOUN_LOCATION, locations, location),
	OF(NOUN_ZONE, zones, cooling_zone),
	OF(NOUN_PANEL, panels, panel),
	OF(NOUN_RACK, racks, rack),
	OF(NOUN_FEED, feeds, feed),
	OF(NOUN_PDU, pdus, pdu),
	OF(NOUN_OUTLET, outlets, outlet),
	OF(NOUN_TYPE, types, device_type),
	OF(NOUN_DEVICE, devices, device),
	OF(NOUN_PORT, ports, port),
	OF(NOUN_CORD, cords, cord),
	OF(NOUN_CABLE, cables, cable),
	OF(NOUN_NODE, nodes, node),
	OF(NOUN_UPS, upses, ups),
	OF(NOUN_GENERATOR, generators, generator),
	OF(NOUN_BANK, banks, bank),
	OF(NOUN_UNIT, units, cooling_unit),
	OF(NOUN_RESERVATION, reservations, reservation),
	OF(NOUN_ROLE, roles, role),
#undef OF
};

struct model_fields model_fields_of(enum model_noun noun)
{
	return field_table(noun);
}

const struct model_field *model_field_find(enum model_noun noun, const char *key)
{
	const struct model_field *at = field_table(noun).at;
	const size_t n = field_table(noun).n;

	for (size_t i = 0; i < n; i++)
		if (strcmp(at[i].key, key) == 0)
			return at + i;
	return NULL;
}

size_t model_row_size(enum model_noun noun)
{
	return noun < NOUN_N ? ROWS[noun].size : sizeof(struct model);
}

size_t model_rows(const struct model *m, enum model_noun noun)
{
	size_t n;

	if (noun >= NOUN_N)
		return 1;
	if (ROWS[noun].size == 0)
		return 0;
	memcpy(&n, (const char *)m + ROWS[noun].n, sizeof n);
	return n;
}

void *model_row_edit(struct model *m, enum model_noun noun, size_t i)
{
	char *at;

	if (noun >= NOUN_N)
		return m;
	memcpy(&at, (char *)m + ROWS[noun].at, sizeof at);
	return at + i * ROWS[noun].size;
}

const void *model_row(const struct model *m, enum model_noun noun, size_t i)
{
	const char *at;

	if (noun >= NOUN_N)
		return m;
	memcpy(&at, (const char *)m + ROWS[noun].at, sizeof at);
	return at + i * ROWS[noun].size;
}

void *model_row_push(struct model *m, enum model_noun noun)
{
	const struct rows *r = &ROWS[noun];
	char *base = (char *)m;
	size_t n, room;
	void *at;

	memcpy(&at, base + r->at, sizeof at);
	memcpy(&n, base + r->n, sizeof n);
	memcpy(&room, base + r->room, sizeof room);
	at = vec_grow(at, &n, &room, r->size);
	memcpy(base + r->at, &at, sizeof at);
	memcpy(base + r->n, &n, sizeof n);
	memcpy(base + r->room, &room, sizeof room);
	at = (char *)at + (n - 1) * r->size;
	model_row_clear(noun, at);
	return at;
}

void model_row_pop(struct model *m, enum model_noun noun)
{
	size_t n = model_rows(m, noun) - 1;

	memcpy((char *)m + ROWS[noun].n, &n, sizeof n);
}

void model_row_place(enum model_noun noun, void *row, unsigned line)
{
	memcpy((char *)row + ROWS[noun].line, &line, sizeof line);
}

static void clear_field(const struct model_field *f, char *row)
{
	const double none = MODEL_UNSET;
	const size_t nowhere = MODEL_NONE;
	const unsigned u = (unsigned)f->fallback;
	const bool b = f->fallback > 0;

	if (f->kind == FIELD_NUM && f->zero)
		memcpy(row + f->offset, &none, sizeof none);
	else if (f->kind == FIELD_REF)
		memcpy(row + f->offset, &nowhere, sizeof nowhere);
	else if ((f->kind == FIELD_UINT || f->kind == FIELD_ENUM) && u)
		memcpy(row + f->offset, &u, sizeof u);
	else if (f->kind == FIELD_HALF && u)
		memcpy(row + f->offset, &u, sizeof u);
	else if (f->kind == FIELD_BOOL)
		memcpy(row + f->offset, &b, sizeof b);
	else if (f->kind == FIELD_WORD)
		memcpy(row + f->offset, &f->fallback_word, sizeof f->fallback_word);
}

void model_row_clear(enum model_noun noun, void *row)
{
	const struct model_fields fields = field_table(noun);

	if (noun < NOUN_N)
		memset(row, 0, ROWS[noun].size);
	for (size_t i = 0; i < fields.n; i++)
		clear_field(&fields.at[i], row);
}

double model_get_num(const struct model_field *f, const void *row)
{
	double v;

	memcpy(&v, (const char *)row + f->offset, sizeof v);
	return v;
}

double model_get_second(const struct model_field *f, const void *row)
{
	double v;

	memcpy(&v, (const char *)row + f->offset2, sizeof v);
	return v;
}

unsigned model_get_uint(const struct model_field *f, const void *row)
{
	unsigned v;

	if (f->kind == FIELD_BOOL) {
		bool b;

		memcpy(&b, (const char *)row + f->offset, sizeof b);
		return b;
	}
	memcpy(&v, (const char *)row + f->offset, sizeof v);
	return v;
}

bool model_get_half(const struct model_field *f, const void *row)
{
	bool b;

	memcpy(&b, (const char *)row + f->offset2, sizeof b);
	return b;
}

const char *model_get_text(const struct model_field *f, const void *row)
{
	const char *text;

	memcpy(&text, (const char *)row + f->offset, sizeof text);
	return text;
}

size_t model_get_ref(const struct model_field *f, const void *row)
{
	size_t v;

	memcpy(&v, (const char *)row + f->offset, sizeof v);
	return v;
}

struct supply model_get_supply(const struct model_field *f, const void *row)
{
	struct supply v;

	memcpy(&v, (const char *)row + f->offset, sizeof v);
	return v;
}

struct curve model_get_curve(const struct model_field *f, const void *row)
{
	struct curve v;

	memcpy(&v, (const char *)row + f->offset, sizeof v);
	return v;
}

static bool states_num(const struct model_field *f, double v)
{
	return f->zero ? !isnan(v) : model_stated(v);
}

bool model_row_states(const struct model_field *f, const void *row)
{
	const char *word;

	switch (f->kind) {
	case FIELD_NUM:
		return states_num(f, model_get_num(f, row));
	case FIELD_PAIR:
		return model_stated(model_get_num(f, row)) ||
		       model_stated(model_get_second(f, row));
	case FIELD_UINT:
	case FIELD_ENUM:
	case FIELD_BOOL:
		return f->always || model_get_uint(f, row) != (unsigned)f->fallback;
	case FIELD_HALF:
		return f->always || model_get_half(f, row) ||
		       model_get_uint(f, row) != (unsigned)f->fallback;
	case FIELD_CHAR:
		return ((const char *)row)[f->offset] != '\0';
	case FIELD_REF:
		return model_get_ref(f, row) != MODEL_NONE;
	case FIELD_CURVE:
		return model_get_curve(f, row).n > 0;
	case FIELD_SUPPLY:
		return model_get_supply(f, row).kind != SUPPLY_NONE;
	case FIELD_TEXT:
	case FIELD_NAME:
	case FIELD_LABEL:
	case FIELD_WORD:
	case FIELD_VARS:
	case FIELD_NAMES:
		break;
	}
	word = model_get_text(f, row);
	return word != NULL;
}

enum model_noun model_supply_noun(enum supply_kind kind)
{
	static const enum model_noun nouns[SUPPLY_N] = {
		NOUN_N, NOUN_PANEL, NOUN_UPS, NOUN_GENERATOR, NOUN_FEED, NOUN_OUTLET};

	return kind < SUPPLY_N ? nouns[kind] : NOUN_N;
}
