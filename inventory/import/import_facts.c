/* import_facts - a row by its noun's table, where its figures are from, what it hangs on. */
#include "inventory/import/import_priv.h"

#include <string.h>

static const struct model_field NOTE[] = {
	{.key = "origin",
		.kind = FIELD_ENUM,
		.offset = offsetof(struct fact_note, origin),
		.words = MODEL_ORIGINS},
	{.key = "confidence",
		.kind = FIELD_ENUM,
		.offset = offsetof(struct fact_note, confidence),
		.words = MODEL_CONFIDENCES},
	{.key = "source", .kind = FIELD_TEXT, .offset = offsetof(struct fact_note, source)},
	{.key = "date", .kind = FIELD_TEXT, .offset = offsetof(struct fact_note, date)},
};

static void refuse_fact(
	struct importer *im, const struct yaml_node *key, enum model_noun noun, const char *path)
{
	const struct model_fields fields = model_fields_of(noun);
	const char *names[80];
	const char *near;
	size_t n = 0;

	for (; n < fields.n && n < 79; n++)
		names[n] = fields.at[n].key;
	names[n] = NULL;
	near = err_nearest(path, names);
	import_fault_at(im, key, E_NOTFOUND,
		near ? arena_printf(im->doc->arena, "did you mean '%s'?", near) : NULL,
		"a %s has no figure '%.80s'", model_noun_name(noun), path);
}

void import_facts(
	struct importer *im, const struct yaml_node *node, enum model_noun noun, size_t row)
{
	const struct yaml_node *facts = import_map(im, node, "facts");

	for (unsigned i = 0; facts && i < facts->n; i++) {
		struct fact_note note = {.noun = noun, .row = row, .line = facts->key[i]->line};

		note.field = import_text(im, facts->key[i]);
		if (!model_field_find(noun, note.field)) {
			refuse_fact(im, facts->key[i], noun, note.field);
			continue;
		}
		if (!import_row(im, facts->item[i], NOUN_N, FIELDS(NOTE), NULL, &note))
			continue;
		*vec_push(&im->m->notes) = note;
	}
}

bool import_new_row(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	size_t owner, const char *const *extra)
{
	const size_t i = model_rows(im->m, noun);
	void *row = model_row_push(im->m, noun);
	const char *name = NULL;

	if (import_row(im, node, noun, model_fields_of(noun), extra, row))
		memcpy(&name, row, sizeof name);
	if (noun == NOUN_BANK && node->kind == YAML_MAP) {
		struct bank *bank = row;

		name = bank->name = arena_printf(im->m->arena, "%u", bank->number);
		if (bank->number == 0)
			name = NULL;
	}
	if (!name) {
		model_row_pop(im->m, noun);
		return false;
	}
	model_row_place(noun, row, node->line);
	import_enter(im, noun, owner, name, i, node);
	import_facts(im, node, noun, i);
	return true;
}

/* --- what powers what --- */

/* "PDU-A/3" as a row of outlets. */
static size_t find_outlet(struct importer *im, const struct yaml_node *value)
{
	struct str outlet = value->text, pdu;
	size_t row;

	if (!str_next(&outlet, '/', &pdu) || outlet.n == 0) {
		import_fault_at(im, value, E_SCHEMA, "such as PDU-A/1",
			"an outlet must be named with its PDU");
		return MODEL_NONE;
	}
	row = import_find(im, value, NOUN_PDU, 0, pdu);
	return row == MODEL_NONE ? row : import_find(im, value, NOUN_OUTLET, row, outlet);
}

/* The kinds a field may name, for the hint. */
static const char *kinds_hint(struct importer *im, const struct model_field *f)
{
	const char *text = "";

	for (unsigned k = 1; k < SUPPLY_N; k++)
		if (f->supplies & 1u << k)
			text = arena_printf(im->doc->arena, "%s%s{%s: NAME}", text,
				*text ? " or " : "such as ", MODEL_SUPPLIES[k]);
	return text;
}

static void read_supply(struct importer *im, const struct model_field *f,
	const struct yaml_node *map, const struct yaml_node *value, void *row)
{
	struct supply supply = {SUPPLY_NONE, 0};
	int kind = -1;
	size_t at;

	if (value->kind == YAML_MAP && value->n == 1 && value->item[0]->kind == YAML_SCALAR)
		kind = model_word(MODEL_SUPPLIES, value->key[0]->text.p);
	if (kind <= 0 || !(f->supplies & 1u << kind)) {
		import_fault(im, map, f->key, E_SCHEMA, kinds_hint(im, f),
			"'%s' must name what it hangs on", f->key);
		return;
	}
	supply.kind = (enum supply_kind)kind;
	at = supply.kind == SUPPLY_OUTLET
		     ? find_outlet(im, value->item[0])
		     : import_find(im, value->item[0], model_supply_noun(supply.kind), 0,
			       value->item[0]->text);
	if (at == MODEL_NONE)
		return;
	supply.row = at;
	memcpy((char *)row + f->offset, &supply, sizeof supply);
}

void import_supplies(struct importer *im)
{
	static const enum model_noun nouns[] = {NOUN_UPS, NOUN_PANEL, NOUN_FEED, NOUN_PDU};

	for (size_t n = 0; n < sizeof nouns / sizeof *nouns; n++) {
		const struct model_fields fields = model_fields_of(nouns[n]);
		const struct places *places = &im->places[nouns[n]];

		for (size_t k = 0; k < fields.n; k++) {
			const struct model_field *f = &fields.at[k];

			for (size_t i = 0; f->kind == FIELD_SUPPLY && i < places->n; i++) {
				const struct yaml_node *value = yaml_get(places->at[i], f->key);

				if (value)
					read_supply(im, f, places->at[i], value,
						model_row_edit(im->m, nouns[n], i));
			}
		}
	}
}
