/* same_rows - two models alike in every field of every table. */
#pragma once

#include "inventory/model/field.h"

#include <string.h>

static inline bool same_number(double a, double b)
{
	return (!model_stated(a) && !model_stated(b) && isnan(a) == isnan(b)) || (a <= b && a >= b);
}

static inline bool same_words(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool same_curves(struct curve a, struct curve b)
{
	if (a.n != b.n)
		return false;
	for (unsigned i = 0; i < a.n; i++)
		if (!same_number(a.at[i].x, b.at[i].x) || !same_number(a.at[i].y, b.at[i].y))
			return false;
	return true;
}

static inline bool same_field(const struct model_field *f, const void *a, const void *b)
{
	const struct supply x =
		f->kind == FIELD_SUPPLY ? model_get_supply(f, a) : (struct supply){SUPPLY_NONE, 0};
	const struct supply y =
		f->kind == FIELD_SUPPLY ? model_get_supply(f, b) : (struct supply){SUPPLY_NONE, 0};

	switch (f->kind) {
	case FIELD_NUM:
		return same_number(model_get_num(f, a), model_get_num(f, b));
	case FIELD_PAIR:
		return same_number(model_get_num(f, a), model_get_num(f, b)) &&
		       same_number(model_get_second(f, a), model_get_second(f, b));
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
	case FIELD_CURVE:
		return same_curves(model_get_curve(f, a), model_get_curve(f, b));
	case FIELD_SUPPLY:
		return x.kind == y.kind && (x.kind == SUPPLY_NONE || x.row == y.row);
	default:
		return same_words(model_get_text(f, a), model_get_text(f, b));
	}
}

/* NULL, or what differs first. */
static inline const char *differing_field(const struct model *a, const struct model *b)
{
	for (unsigned n = 0; n <= NOUN_N; n++) {
		const enum model_noun noun = (enum model_noun)n;
		const struct model_fields fields = model_fields_of(noun);

		if (model_rows(a, noun) != model_rows(b, noun))
			return arena_printf(a->arena, "%s: %zu and %zu rows", model_noun_name(noun),
				model_rows(a, noun), model_rows(b, noun));
		for (size_t i = 0; i < model_rows(a, noun); i++)
			for (size_t k = 0; k < fields.n; k++)
				if (!same_field(&fields.at[k], model_row(a, noun, i),
					    model_row(b, noun, i)))
					return arena_printf(a->arena, "%s %zu: %s",
						model_noun_name(noun), i, fields.at[k].key);
	}
	if (a->notes.n != b->notes.n)
		return "the number of notes";
	for (size_t i = 0; i < a->notes.n; i++) {
		const struct fact_note *x = &a->notes.at[i], *y = &b->notes.at[i];

		if (x->noun != y->noun || x->row != y->row || strcmp(x->field, y->field) != 0 ||
			x->origin != y->origin || x->confidence != y->confidence ||
			!same_words(x->source, y->source) || !same_words(x->date, y->date))
			return arena_printf(a->arena, "note %zu: %s", i, x->field);
	}
	return NULL;
}

/* NULL, or a field that no row states. */
static inline const char *field_not_stated(const struct model *m)
{
	for (unsigned n = 0; n <= NOUN_N; n++) {
		const struct model_fields fields = model_fields_of((enum model_noun)n);

		for (size_t k = 0; k < fields.n; k++) {
			bool stated = false;

			for (size_t i = 0; !stated && i < model_rows(m, (enum model_noun)n); i++)
				stated = model_row_states(
					&fields.at[k], model_row(m, (enum model_noun)n, i));
			if (!stated)
				return arena_printf(m->arena, "%s: %s",
					model_noun_name((enum model_noun)n), fields.at[k].key);
		}
	}
	return NULL;
}
