#include "inventory/import/export_table.h"

#include "inventory/import/export_priv.h"
#include "inventory/model/field.h"

#include <stdio.h>
#include <string.h>

static const struct {
	enum model_noun noun;
	const char *table, *owner; /* owner: heading of the row's owner, NULL when the site is it */
} TABLES[] = {
	{NOUN_LOCATION, "locations", NULL},
	{NOUN_RACK, "racks", NULL},
	{NOUN_TYPE, "device_types", NULL},
	{NOUN_DEVICE, "devices", NULL},
	{NOUN_FEED, "power", NULL},
	{NOUN_PDU, "pdus", NULL},
	{NOUN_BANK, "banks", "pdu"},
	{NOUN_OUTLET, "outlets", "pdu"},
	{NOUN_PANEL, "panels", NULL},
	{NOUN_UPS, "upses", NULL},
	{NOUN_GENERATOR, "generators", NULL},
	{NOUN_ZONE, "cooling_zones", NULL},
	{NOUN_UNIT, "cooling_units", "cooling_zone"},
	{NOUN_RESERVATION, "reservations", NULL},
	{NOUN_ROLE, "roles", NULL},
};

static const char *name_of(const struct model *m, enum model_noun noun, size_t row)
{
	const char *name = NULL;

	if (row != MODEL_NONE && noun < NOUN_N && row < model_rows(m, noun))
		memcpy(&name, model_row(m, noun, row), sizeof name);
	return name;
}

/* The PDU of an outlet or bank, the zone of a unit. */
static const char *owner_of(const struct model *m, enum model_noun noun, size_t row)
{
	if (noun == NOUN_OUTLET)
		return m->pdus.at[m->outlets.at[row].pdu].name;
	if (noun == NOUN_BANK)
		return m->pdus.at[m->banks.at[row].pdu].name;
	return noun == NOUN_UNIT ? m->zones.at[m->units.at[row].zone].name : NULL;
}

static void put_supply(
	const struct model *m, const struct model_field *f, const void *row, struct buf *out)
{
	const struct supply s = model_get_supply(f, row);
	const char *name = name_of(m, model_supply_noun(s.kind), s.row);

	if (s.kind == SUPPLY_OUTLET)
		buf_addf(out, "outlet:%s/", m->pdus.at[m->outlets.at[s.row].pdu].name);
	else
		buf_addf(out, "%s:", MODEL_SUPPLIES[s.kind]);
	buf_add_text(out, name ? name : "");
}

static void put_curve(const struct model_field *f, const void *row, struct buf *out)
{
	const struct curve c = model_get_curve(f, row);

	for (unsigned i = 0; i < c.n; i++) {
		buf_add_text(out, i ? " " : "");
		export_num(out, c.at[i].x);
		buf_add_char(out, ':');
		export_num(out, c.at[i].y);
	}
}

/* What is neither a number nor one text: into a text. */
static void put_other(const struct model *m, const struct table_sink *sink,
	const struct model_field *f, const void *row)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 16);
	if (f->kind == FIELD_SUPPLY)
		put_supply(m, f, row, &text);
	else if (f->kind == FIELD_CURVE)
		put_curve(f, row, &text);
	else if (f->kind == FIELD_CHAR)
		buf_add_char(&text, ((const char *)row)[f->offset]);
	else
		buf_addf(&text, "%g %g", model_get_num(f, row), model_get_second(f, row));
	sink->text(sink->ctx, buf_text(&text));
}

static void put_cell(const struct model *m, const struct table_sink *sink,
	const struct model_field *f, const void *row)
{
	if (!model_row_states(f, row)) {
		sink->text(sink->ctx, NULL);
		return;
	}
	switch (f->kind) {
	case FIELD_NUM:
		sink->num(sink->ctx, model_get_num(f, row));
		break;
	case FIELD_UINT:
		sink->num(sink->ctx, model_get_uint(f, row));
		break;
	case FIELD_HALF:
		sink->num(sink->ctx, model_get_uint(f, row) + (model_get_half(f, row) ? 0.5 : 0));
		break;
	case FIELD_ENUM:
		sink->text(sink->ctx, f->words[model_get_uint(f, row)]);
		break;
	case FIELD_BOOL:
		sink->text(sink->ctx, model_get_uint(f, row) ? "true" : "false");
		break;
	case FIELD_REF:
		sink->text(sink->ctx, name_of(m, f->noun, model_get_ref(f, row)));
		break;
	case FIELD_TEXT:
	case FIELD_NAME:
	case FIELD_LABEL:
	case FIELD_WORD:
	case FIELD_VARS:
	case FIELD_NAMES:
		sink->text(sink->ctx, model_get_text(f, row));
		break;
	case FIELD_CHAR:
	case FIELD_PAIR:
	case FIELD_CURVE:
	case FIELD_SUPPLY:
		put_other(m, sink, f, row);
		break;
	}
}

static bool is_stated(const struct model *m, enum model_noun noun, const struct model_field *f)
{
	for (size_t i = 0; i < model_rows(m, noun); i++)
		if (model_row_states(f, model_row(m, noun, i)))
			return true;
	return false;
}

static void put_table(const struct model *m, const struct table_sink *sink, enum model_noun noun,
	const char *owner)
{
	const struct model_fields fields = model_fields_of(noun);
	bool stated[128] = {false};

	if (owner)
		sink->text(sink->ctx, owner);
	for (size_t k = 0; k < fields.n && k < 128; k++) {
		stated[k] = is_stated(m, noun, &fields.at[k]);
		if (stated[k])
			sink->text(sink->ctx, fields.at[k].key);
	}
	sink->end_row(sink->ctx);
	for (size_t i = 0; i < model_rows(m, noun); i++) {
		if (owner)
			sink->text(sink->ctx, owner_of(m, noun, i));
		for (size_t k = 0; k < fields.n && k < 128; k++)
			if (stated[k])
				put_cell(m, sink, &fields.at[k], model_row(m, noun, i));
		sink->end_row(sink->ctx);
	}
}

/* --- joins and nodes --- */

static void put_row(const struct table_sink *sink, const char *const *cells)
{
	for (; *cells; cells++)
		sink->text(sink->ctx, *cells);
	sink->end_row(sink->ctx);
}

static void put_ports(const struct model *m, const struct table_sink *sink)
{
	static const char *const head[] = {"device", "name", "kind", "type", "mac", NULL};

	sink->begin(sink->ctx, "ports");
	put_row(sink, head);
	for (size_t i = 0; i < m->ports.n; i++) {
		const struct port *p = &m->ports.at[i];

		sink->text(sink->ctx, m->devices.at[p->device].name);
		sink->text(sink->ctx, p->name);
		sink->text(sink->ctx, model_port_kind_name(p->kind));
		sink->text(sink->ctx, p->type);
		sink->text(sink->ctx, p->mac);
		sink->end_row(sink->ctx);
	}
}

static void put_port(const struct model *m, const struct table_sink *sink, size_t port)
{
	sink->text(sink->ctx, m->devices.at[m->ports.at[port].device].name);
	sink->text(sink->ctx, m->ports.at[port].name);
}

static void put_cords(const struct model *m, const struct table_sink *sink)
{
	static const char *const head[] = {"device", "port", "pdu", "outlet", NULL};

	sink->begin(sink->ctx, "cords");
	put_row(sink, head);
	for (size_t i = 0; i < m->cords.n; i++) {
		const struct outlet *o = &m->outlets.at[m->cords.at[i].outlet];

		put_port(m, sink, m->cords.at[i].port);
		sink->text(sink->ctx, m->pdus.at[o->pdu].name);
		sink->text(sink->ctx, o->name);
		sink->end_row(sink->ctx);
	}
}

static void put_cables(const struct model *m, const struct table_sink *sink)
{
	static const char *const head[] = {
		"a_device", "a_port", "b_device", "b_port", "type", "label", "length_m", NULL};

	sink->begin(sink->ctx, "cables");
	put_row(sink, head);
	for (size_t i = 0; i < m->cables.n; i++) {
		const struct cable *c = &m->cables.at[i];

		put_port(m, sink, c->a);
		put_port(m, sink, c->b);
		sink->text(sink->ctx, c->type);
		sink->text(sink->ctx, c->label);
		sink->num(sink->ctx, c->length_m);
		sink->end_row(sink->ctx);
	}
}

static void put_nodes(const struct model *m, const struct table_sink *sink)
{
	static const char *const head[] = {
		"name", "address", "port", "user", "role", "rack", "host_key", "vars", NULL};

	sink->begin(sink->ctx, "nodes");
	put_row(sink, head);
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.at[i];
		const size_t rack =
			n->device == MODEL_NONE ? MODEL_NONE : m->devices.at[n->device].rack;

		sink->text(sink->ctx, n->name);
		sink->text(sink->ctx, n->address);
		sink->num(sink->ctx, n->port);
		sink->text(sink->ctx, n->user);
		sink->text(sink->ctx, n->role);
		sink->text(sink->ctx, name_of(m, NOUN_RACK, rack));
		sink->text(sink->ctx, n->host_key);
		sink->text(sink->ctx, n->vars && strcmp(n->vars, "{}") != 0 ? n->vars : NULL);
		sink->end_row(sink->ctx);
	}
}

void export_tables(const struct model *m, const struct table_sink *sink)
{
	for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
		if (model_rows(m, TABLES[i].noun) == 0)
			continue;
		sink->begin(sink->ctx, TABLES[i].table);
		put_table(m, sink, TABLES[i].noun, TABLES[i].owner);
	}
	if (m->ports.n)
		put_ports(m, sink);
	if (m->cords.n)
		put_cords(m, sink);
	if (m->cables.n)
		put_cables(m, sink);
	if (m->nodes.n)
		put_nodes(m, sink);
}

/* --- CSV --- */

void csv_out_text(struct csv_out *o, const char *text)
{
	if (o->n++)
		buf_add_char(o->out, ',');
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n") && text[0] != ' ' &&
		(!*text || text[strlen(text) - 1] != ' ')) {
		buf_add_text(o->out, text);
		return;
	}
	buf_add_char(o->out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_add_char(o->out, '"');
		buf_add_char(o->out, *text);
	}
	buf_add_char(o->out, '"');
}

void csv_out_num(struct csv_out *o, double v)
{
	if (o->n++)
		buf_add_char(o->out, ',');
	if (!isnan(v))
		export_num(o->out, v);
}

void csv_out_end(struct csv_out *o)
{
	buf_add_char(o->out, '\n');
	o->n = 0;
}

void csv_out_row(struct csv_out *o, const char *const *cells)
{
	for (; *cells; cells++)
		csv_out_text(o, *cells);
	csv_out_end(o);
}

struct buf *export_file_new(struct export_files *files, const char *name)
{
	struct export_file *f = vec_push(files);

	f->name = name;
	buf_init(&f->text, EXPORT_MAX);
	return &f->text;
}

/* --- a folder of CSV --- */

struct csv_folder {
	struct export_files *files;
	struct csv_out out;
};

static void begin(void *ctx, const char *table)
{
	static const char *const names[] = {"locations.csv", "racks.csv", "device_types.csv",
		"devices.csv", "power.csv", "pdus.csv", "banks.csv", "outlets.csv", "panels.csv",
		"upses.csv", "generators.csv", "cooling_zones.csv", "cooling_units.csv",
		"reservations.csv", "ports.csv", "cords.csv", "cables.csv", "nodes.csv", NULL};
	struct csv_folder *f = ctx;
	int i = 0;

	while (names[i + 1] && strncmp(names[i], table, strlen(names[i]) - 4) != 0)
		i++;
	f->out = (struct csv_out){export_file_new(f->files, names[i]), 0};
}

static void text(void *ctx, const char *value)
{
	struct csv_folder *f = ctx;

	csv_out_text(&f->out, value);
}

static void num(void *ctx, double v)
{
	struct csv_folder *f = ctx;

	csv_out_num(&f->out, v);
}

static void end_row(void *ctx)
{
	struct csv_folder *f = ctx;

	csv_out_end(&f->out);
}

void export_csv(const struct model *m, struct export_files *out)
{
	struct csv_folder f = {.files = out};
	const struct table_sink sink = {&f, begin, text, num, end_row};

	export_tables(m, &sink);
}
