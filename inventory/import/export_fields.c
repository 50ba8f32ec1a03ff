/* export_fields - a row by its noun's table: as one flow map, or as lines. */
#include "inventory/import/export_priv.h"

#include <stdlib.h>
#include <string.h>

/* --- notes --- */

struct noted {
	const struct fact_note *note;
	size_t at; /* in the model */
};

static int compare_noted(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	if (x->note->noun != y->note->noun)
		return x->note->noun < y->note->noun ? -1 : 1;
	if (x->note->row != y->note->row)
		return x->note->row < y->note->row ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct exporter export_begin(const struct model *m, struct buf *out)
{
	struct exporter e = {.m = m, .out = out, .arena = arena_new()};
	struct noted *noted = arena_alloc(e.arena, (m->notes.n + 1) * sizeof *noted);

	for (size_t i = 0; i < m->notes.n; i++)
		noted[i] = (struct noted){&m->notes.at[i], i};
	if (m->notes.n > 1)
		qsort(noted, m->notes.n, sizeof *noted, compare_noted);
	e.notes = noted;
	return e;
}

/* The first note of the row, or of what comes after it. */
static size_t first_note(const struct exporter *e, enum model_noun noun, size_t row)
{
	size_t low = 0, high = e->m->notes.n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct fact_note *n = e->notes[mid].note;

		if (n->noun < noun || (n->noun == noun && n->row < row))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_of(const struct exporter *e, size_t i, enum model_noun noun, size_t row)
{
	return i < e->m->notes.n && e->notes[i].note->noun == noun && e->notes[i].note->row == row;
}

/* {field: {origin: ...}, ...} */
static void write_notes(const struct exporter *e, enum model_noun noun, size_t row)
{
	const size_t first = first_note(e, noun, row);

	buf_add_char(e->out, '{');
	for (size_t i = first; is_of(e, i, noun, row); i++) {
		const struct fact_note *n = e->notes[i].note;
		struct flow f = {e->out, 0};

		buf_addf(e->out, "%s%s: {", i > first ? ", " : "", n->field);
		flow_text(&f, "origin", model_origin_name(n->origin));
		if (n->confidence)
			flow_text(&f, "confidence", MODEL_CONFIDENCES[n->confidence]);
		flow_text(&f, "source", n->source);
		flow_text(&f, "date", n->date);
		buf_add_char(e->out, '}');
	}
	buf_add_char(e->out, '}');
}

static bool has_notes(const struct exporter *e, enum model_noun noun, size_t row)
{
	return is_of(e, first_note(e, noun, row), noun, row);
}

/* --- values --- */

static void write_curve(struct buf *out, struct curve curve)
{
	buf_add_char(out, '[');
	for (unsigned i = 0; i < curve.n; i++) {
		buf_add_text(out, i ? ", [" : "[");
		export_num(out, curve.at[i].x);
		buf_add_text(out, ", ");
		export_num(out, curve.at[i].y);
		buf_add_char(out, ']');
	}
	buf_add_char(out, ']');
}

static const char *row_name(const struct model *m, enum model_noun noun, size_t row)
{
	const char *name;

	memcpy(&name, model_row(m, noun, row), sizeof name);
	return name;
}

static void write_supply(const struct exporter *e, struct supply s)
{
	const struct model *m = e->m;

	buf_addf(e->out, "{%s: ", MODEL_SUPPLIES[s.kind]);
	if (s.kind == SUPPLY_OUTLET) {
		const struct outlet *o = &m->outlets.at[s.row];

		export_text(
			e->out, arena_printf(e->arena, "%s/%s", m->pdus.at[o->pdu].name, o->name));
	} else {
		export_text(e->out, row_name(m, model_supply_noun(s.kind), s.row));
	}
	buf_add_char(e->out, '}');
}

static void write_pair(struct buf *out, const struct model_field *f, const void *row)
{
	buf_add_char(out, '[');
	export_num(out, model_get_num(f, row));
	buf_add_text(out, ", ");
	export_num(out, model_get_second(f, row));
	buf_add_char(out, ']');
}

static void write_value(const struct exporter *e, const struct model_field *f, const void *row)
{
	struct buf *out = e->out;

	switch (f->kind) {
	case FIELD_NUM:
		export_num(out, model_get_num(f, row));
		return;
	case FIELD_UINT:
		buf_addf(out, "%u", model_get_uint(f, row));
		return;
	case FIELD_HALF:
		buf_addf(out, "%u%s", model_get_uint(f, row), model_get_half(f, row) ? ".5" : "");
		return;
	case FIELD_BOOL:
		buf_add_text(out, model_get_uint(f, row) ? "true" : "false");
		return;
	case FIELD_ENUM:
		buf_add_text(out, f->words[model_get_uint(f, row)]);
		return;
	case FIELD_CHAR:
		buf_add_char(out, ((const char *)row)[f->offset]);
		return;
	case FIELD_PAIR:
		write_pair(out, f, row);
		return;
	case FIELD_CURVE:
		write_curve(out, model_get_curve(f, row));
		return;
	case FIELD_SUPPLY:
		write_supply(e, model_get_supply(f, row));
		return;
	case FIELD_VARS:
		export_vars(out, model_get_text(f, row));
		return;
	case FIELD_NAMES:
		export_names(out, model_get_text(f, row));
		return;
	case FIELD_REF:
		export_text(out, row_name(e->m, f->noun, model_get_ref(f, row)));
		return;
	default:
		export_text(out, model_get_text(f, row));
	}
}

/* --- rows --- */

/* The part of a table that lies in one map: fields whose keys begin with the same path. */
struct span {
	const struct model_field *at;
	size_t n, path;
};

/* The fields of at's own map at this depth; 1 for a field that lies in none. */
static size_t group_size(const struct span *s, size_t i)
{
	const char *key = s->at[i].key + s->path, *dot = strchr(key, '.');
	size_t n = 1;

	if (!dot)
		return 1;
	while (i + n < s->n &&
		strncmp(s->at[i + n].key + s->path, key, (size_t)(dot - key) + 1) == 0)
		n++;
	return n;
}

static bool any_stated(const struct model_field *at, size_t n, const void *row)
{
	for (size_t i = 0; i < n; i++)
		if (model_row_states(&at[i], row))
			return true;
	return false;
}

static void flow_span(const struct exporter *e, const struct span *s, const void *row,
	const char *skip, struct flow *f);

/* ", cooling: {air_w: 1}" */
static void flow_group(
	const struct exporter *e, const struct span *s, size_t i, size_t n, const void *row)
{
	const char *key = s->at[i].key + s->path, *dot = strchr(key, '.');
	const size_t head = dot ? (size_t)(dot - key) : strlen(key);
	const struct span inner = {s->at + i, n, s->path + head + 1};
	struct flow f = {e->out, 0};

	buf_addf(e->out, "%.*s: ", (int)head, key);
	if (!dot) {
		write_value(e, &s->at[i], row);
		return;
	}
	buf_add_char(e->out, '{');
	flow_span(e, &inner, row, NULL, &f);
	buf_add_char(e->out, '}');
}

static void flow_span(const struct exporter *e, const struct span *s, const void *row,
	const char *skip, struct flow *f)
{
	for (size_t i = 0, n; i < s->n; i += n) {
		n = group_size(s, i);
		if (!any_stated(s->at + i, n, row) || (skip && strcmp(skip, s->at[i].key) == 0))
			continue;
		buf_add_text(e->out, f->n++ ? ", " : "");
		flow_group(e, s, i, n, row);
	}
}

void flow_fields(const struct exporter *e, enum model_noun noun, size_t row, const char *skip,
	struct flow *f)
{
	const struct model_fields fields = model_fields_of(noun);
	const struct span all = {fields.at, fields.n, 0};

	flow_span(e, &all, model_row(e->m, noun, row), skip, f);
	if (!has_notes(e, noun, row))
		return;
	buf_add_text(e->out, f->n++ ? ", facts: " : "facts: ");
	write_notes(e, noun, row);
}

void export_row(
	const struct exporter *e, enum model_noun noun, size_t row, const char *skip, int indent)
{
	struct flow f = {e->out, 0};

	buf_addf(e->out, "%*s- {", indent, "");
	flow_fields(e, noun, row, skip, &f);
	buf_add_text(e->out, "}\n");
}

void export_rows(const struct exporter *e, const char *key, enum model_noun noun)
{
	const size_t n = model_rows(e->m, noun);

	if (n > 0)
		buf_addf(e->out, "%s:\n", key);
	for (size_t i = 0; i < n; i++)
		export_row(e, noun, i, NULL, 2);
}

/* Lines at indent; the first is headed by "- " two to the left when there is a dash. */
static void write_lines(const struct exporter *e, enum model_noun noun, size_t row,
	const char *skip, int indent, bool dash)
{
	const struct model_fields fields = model_fields_of(noun);
	const struct span all = {fields.at, fields.n, 0};
	const void *data = model_row(e->m, noun, row);

	for (size_t i = 0, n; i < all.n; i += n) {
		n = group_size(&all, i);
		if (!any_stated(all.at + i, n, data) || (skip && strcmp(skip, all.at[i].key) == 0))
			continue;
		if (dash)
			buf_addf(e->out, "%*s- ", indent - 2, "");
		else
			buf_addf(e->out, "%*s", indent, "");
		dash = false;
		flow_group(e, &all, i, n, data);
		buf_add_char(e->out, '\n');
	}
	if (!has_notes(e, noun, row))
		return;
	buf_addf(e->out, "%*sfacts: ", indent, "");
	write_notes(e, noun, row);
	buf_add_char(e->out, '\n');
}

void export_block(
	const struct exporter *e, enum model_noun noun, size_t row, const char *skip, int indent)
{
	write_lines(e, noun, row, skip, indent + 2, true);
}

void export_top(const struct exporter *e)
{
	write_lines(e, NOUN_N, 0, NULL, 0, false);
}
