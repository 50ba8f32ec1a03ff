#include "inventory/import/record.h"

#include <stdio.h>
#include <string.h>

const struct yaml_node *record_get(const struct yaml_node *row, const char *key)
{
	const struct yaml_node *v = yaml_get(row, key);

	return v && v->kind == YAML_SCALAR && v->text.n == 0 ? NULL : v;
}

const char *record_id(const struct yaml_node *row)
{
	const struct yaml_node *id = record_get(row, "id");

	return id && id->kind == YAML_SCALAR ? id->text.p : NULL;
}

/* What names an object that NetBox nests; an unnamed device has its id only. */
static const char *name_of(struct sources *s, const struct yaml_node *map)
{
	static const char *const keys[] = {
		"value", "name", "model", "address", "mac_address", "label", NULL};

	for (int i = 0; keys[i]; i++) {
		const struct yaml_node *v = record_get(map, keys[i]);

		if (v && v->kind == YAML_SCALAR)
			return v->text.p;
	}
	return record_id(map) ? arena_printf(s->arena, "unnamed-%s", record_id(map)) : NULL;
}

const char *record_text(struct sources *s, const struct yaml_node *row, const char *key)
{
	const struct yaml_node *v = record_get(row, key);

	if (!v || v->kind == YAML_LIST)
		return NULL;
	return v->kind == YAML_MAP ? name_of(s, v) : v->text.p;
}

const char *record_word(struct sources *s, const struct yaml_node *row, const char *key)
{
	const char *text = record_text(s, row, key);
	char *word = arena_strdup(s->arena, text);

	for (char *p = word; p && *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
		else if (*p == ' ' || *p == '_')
			*p = '-';
	}
	return word;
}

double record_num(struct sources *s, const struct yaml_node *row, const char *key)
{
	const char *text = record_text(s, row, key);
	struct str t = str_trim(str_of(text));
	double v;

	if (!text)
		return MODEL_UNSET;
	if (t.n > 1 && (t.p[t.n - 1] == 'U' || t.p[t.n - 1] == '%'))
		t = str_trim(str_first(t, t.n - 1));
	if (str_to_f64(t, &v))
		return v;
	source_fault(s, record_get(row, key), E_SCHEMA, "a plain number",
		"'%s' must be a number, not '%.80s'", key, text);
	return MODEL_UNSET;
}

bool record_true(struct sources *s, const struct yaml_node *row, const char *key, bool unset)
{
	static const char *const yes[] = {"true", "yes", "1", "t", "y", NULL};
	const char *word = record_word(s, row, key);

	return word ? model_word(yes, word) >= 0 : unset;
}

double record_kg(struct sources *s, const struct yaml_node *row, const char *key, const char *unit)
{
	static const struct {
		const char *word;
		double kg;
	} units[] = {{"kg", 1}, {"g", 0.001}, {"lb", 0.45359237}, {"oz", 0.028349523125},
		{"kilograms", 1}, {"grams", 0.001}, {"pounds", 0.45359237},
		{"ounces", 0.028349523125}};
	const double v = record_num(s, row, key);

	if (isnan(v))
		return v;
	for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].word, unit) == 0)
			return v * units[i].kg;
	source_fault(s, record_get(row, key), E_SCHEMA, "kg, g, lb or oz",
		"the weight '%s' has %s%s%s", key, unit ? "the unknown unit '" : "no unit",
		unit ? unit : "", unit ? "'" : "");
	return MODEL_UNSET;
}

/* --- losses --- */

/* Empty objects and lists, false, and objects of such say nothing. */
static bool says_something(const struct yaml_node *v)
{
	if (v->kind == YAML_SCALAR)
		return v->text.n > 0 && !(v->plain && str_is(v->text, "false"));
	for (unsigned i = 0; i < v->n; i++)
		if (says_something(v->item[i]))
			return true;
	return false;
}

static const char *const HOUSEKEEPING[] = {"id", "url", "display", "display_url", "created",
	"last_updated", "_occupied", "cable", "cable_end", "link_peers", "link_peers_type",
	"link_peer", "link_peer_type", "connected_endpoint", "connected_endpoint_type",
	"connected_endpoint_reachable", "connected_endpoints", "connected_endpoints_type",
	"connected_endpoints_reachable", "slug", NULL};

static bool is_counted(
	const struct yaml_node *key, const char *const *carried, const char *const *ignored)
{
	return model_word(HOUSEKEEPING, key->text.p) < 0 && model_word(carried, key->text.p) < 0 &&
	       (!ignored || model_word(ignored, key->text.p) < 0) && !str_ends(key->text, "_count");
}

void records_losses(struct sources *s, const struct records *rows, const char *noun,
	const char *const *carried, const char *const *ignored)
{
	for (size_t r = 0; r < rows->n; r++) {
		const struct yaml_node *row = rows->at[r];

		for (unsigned i = 0; i < row->n; i++)
			if (is_counted(row->key[i], carried, ignored) &&
				says_something(row->item[i]))
				loss_add(s->losses, LOSS_DROPPED, noun, row->key[i]->text.p, "%s",
					"");
	}
}
