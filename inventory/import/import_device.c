/* import_device - device types with their ports, devices, and the cords of their PSUs. */
#include "inventory/import/import_priv.h"

#include <stdio.h>
#include <string.h>

#define AT(type, member) offsetof(struct type, member)

static const struct model_field PORT[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(port, name), .required = true},
	{.key = "kind", .kind = FIELD_ENUM, .offset = AT(port, kind), .words = MODEL_PORT_KINDS},
	{.key = "type", .kind = FIELD_TEXT, .offset = AT(port, type)},
	{.key = "mac", .kind = FIELD_TEXT, .offset = AT(port, mac)},
};

/* Ports of one kind of a type; names is read apart. */
static const struct model_field TEMPLATE[] = {
	{.key = "type", .kind = FIELD_TEXT, .offset = AT(port_template, connector)},
};

/* --- types --- */

/* Adds to the type's ports; seen holds the names the type has so far. */
static bool add_type_port(struct importer *im, struct model_index *seen, const struct port *like,
	const char *name, const struct yaml_node *place)
{
	struct port *port;

	if (!import_room_left(im, im->type_ports.n, place))
		return false;
	if (model_index_put(seen, NOUN_PORT, 0, name, 0) != MODEL_NONE) {
		import_fault_at(im, place, E_EXISTS, NULL, "the type has port '%s' already", name);
		return false;
	}
	port = vec_push(&im->type_ports);
	*port = *like;
	port->name = name;
	return true;
}

static void read_template(struct importer *im, const struct yaml_node *node, enum port_kind kind,
	size_t type, struct model_index *seen)
{
	static const char *const extra[] = {"names", NULL};
	struct port_template row = {.type = type, .kind = kind, .line = node->line};
	const struct yaml_node *range = node;
	struct model_names names = VEC_INIT;
	bool good = true;

	if (node->kind == YAML_MAP) {
		import_row(im, node, NOUN_PORT, FIELDS(TEMPLATE), extra, &row);
		range = yaml_get(node, "names");
	}
	if (!range) {
		import_fault(im, node, "names", E_SCHEMA, "such as \"eth[0-1]\"",
			"the ports have no 'names'");
		return;
	}
	if (import_range(im, range, &names)) {
		const struct port like = {.device = type, .kind = kind, .type = row.connector};

		row.names = import_text(im, range);
		for (size_t i = 0; good && i < names.n; i++)
			good = add_type_port(im, seen, &like, names.at[i], range);
		*vec_push(&im->m->templates) = row;
	}
	vec_done(&names);
}

/* {kind: range}, {kind: {names: range, type: connector}} or {kind: [these]}. */
static void read_templates(struct importer *im, const struct yaml_node *map, size_t type)
{
	const struct yaml_node *ports = import_map(im, map, "ports");
	struct model_index *seen = model_index_new();

	for (unsigned psu = 1; psu <= im->m->types.at[type].psus; psu++) {
		const struct port like = {.device = type, .kind = PORT_POWER};

		add_type_port(im, seen, &like, arena_printf(im->m->arena, "psu%u", psu), map);
	}
	for (unsigned i = 0; ports && i < ports->n; i++) {
		const struct yaml_node *item = ports->item[i];
		const int kind = import_word(im, ports->key[i], "kind of port", MODEL_PORT_KINDS);

		if (kind < 0)
			continue;
		if (item->kind != YAML_LIST)
			read_template(im, item, (enum port_kind)kind, type, seen);
		for (unsigned k = 0; item->kind == YAML_LIST && k < item->n; k++)
			read_template(im, item->item[k], (enum port_kind)kind, type, seen);
	}
	model_index_free(seen);
}

/* --- the catalogue --- */

static const struct catalog *catalogue(struct importer *im, const struct yaml_node *at)
{
	struct err err;

	if (im->catalog || im->no_catalog)
		return im->catalog;
	if (catalog_load(NULL, &im->catalog, NULL, &err) < 0) {
		im->no_catalog = true;
		im->catalog = NULL;
		import_fault_at(
			im, at, err.code, err.hint, "the catalogue cannot be read: %s", err.msg);
	}
	return im->catalog;
}

/* Whether the file says itself what a figure of the record is, or where it is from. */
static bool overrides(const struct yaml_node *node, const char *field)
{
	const struct yaml_node *facts = yaml_get(node, "facts");
	struct str rest = str_of(field), head;
	const struct yaml_node *value;
	char key[64];

	str_next(&rest, '.', &head);
	snprintf(key, sizeof key, STR_FMT, STR_ARG(head));
	value = yaml_get(node, key);
	if (value && rest.n > 0 && value->kind == YAML_MAP)
		value = import_at(node, field);
	else if (value && rest.n > 0 && strcmp(field, "watts.max") != 0)
		value = NULL; /* 'watts: 100' is the maximum only */
	return value || yaml_get(facts, field);
}

/* Fills the row from the record that 'catalog' names; the file's own fields come after. */
static void read_record(struct importer *im, const struct yaml_node *node, struct device_type *row,
	struct catalog_notes *notes)
{
	const struct yaml_node *value = yaml_get(node, "catalog");
	const struct catalog *c = value ? catalogue(im, value) : NULL;
	struct err err;

	if (!value || !c)
		return;
	if (value->kind != YAML_SCALAR) {
		import_fault(im, node, "catalog", E_SCHEMA, "see 'stoika catalog list'",
			"'catalog' must be the name of an entry");
		return;
	}
	if (catalog_device_type(c, value->text.p, im->m->arena, row, notes, &err) == 0)
		return;
	import_fault(im, node, "catalog", err.code, err.hint, "%s", err.msg);
	model_row_clear(NOUN_TYPE, row);
	row->height_u = 1; /* so that nothing follows from it */
	notes->n = 0;
}

static void keep_notes(struct importer *im, const struct yaml_node *node,
	const struct catalog_notes *notes, size_t row)
{
	vec_each(notes, const struct fact_note, note) {
		struct fact_note *kept;

		if (overrides(node, note->field))
			continue;
		kept = vec_push(&im->m->notes);
		*kept = *note;
		kept->noun = NOUN_TYPE;
		kept->row = row;
		kept->line = node->line;
	}
}

/* Its PSUs are ports already; other power ports contradict them. */
static void check_inlets(struct importer *im, const struct yaml_node *node, size_t type)
{
	const unsigned psus = im->m->types.at[type].psus;
	unsigned inlets = 0;

	for (size_t i = im->type_first.at[type]; i < im->type_ports.n; i++)
		inlets += im->type_ports.at[i].kind == PORT_POWER;
	if (psus > 0 && inlets > psus)
		import_fault(im, node, "psus", E_CONFLICT,
			"PSUs are ports psu1, psu2 ... by themselves: state 'psus' or the power "
			"ports, not both",
			"'%s' has %u PSUs but %u power ports of its own",
			im->m->types.at[type].name, psus, inlets - psus);
}

static bool read_type_row(struct importer *im, const struct yaml_node *node,
	struct device_type *row, struct catalog_notes *notes)
{
	static const char *const extra[] = {"ports", "catalog", "facts", NULL};
	struct model_field own[64];
	struct model_fields fields = model_fields_of(NOUN_TYPE);
	const bool record = yaml_get(node, "catalog") != NULL;

	read_record(im, node, row, notes);
	/* what the file says is declared, unless it says otherwise */
	if (record && yaml_get(node, "watts")) {
		row->watts_origin = ORIGIN_DECLARED;
		row->watts_source = NULL;
	}
	if (!record)
		return import_row(im, node, NOUN_TYPE, fields, extra, row);
	/* the record has the height, and a name when the file gives none */
	for (size_t i = 0; i < fields.n && i < 64; i++) {
		own[i] = fields.at[i];
		own[i].required = false;
	}
	fields.at = own;
	return import_row(im, node, NOUN_TYPE, fields, extra, row);
}

static void read_type(struct importer *im, const struct yaml_node *node)
{
	struct catalog_notes notes = VEC_INIT;
	struct device_type row;
	const size_t i = im->m->types.n;
	const unsigned before = im->errors->total;

	model_row_clear(NOUN_TYPE, &row);
	row.line = node->line;
	if (read_type_row(im, node, &row, &notes) && row.name) {
		row.line = node->line;
		if (import_is_faulty(im, node, "height_u"))
			row.height_u = 1; /* so that nothing follows from it */
		import_enter(im, NOUN_TYPE, 0, row.name, i, node);
		*vec_push(&im->m->types) = row;
		*vec_push(&im->type_first) = im->type_ports.n;
		keep_notes(im, node, &notes, i);
		import_facts(im, node, NOUN_TYPE, i);
		read_templates(im, node, i);
		check_inlets(im, node, i);
		if (im->errors->total > before)
			import_tear(im, node);
	}
	vec_done(&notes);
}

void import_types(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "device_types");

	for (unsigned i = 0; list && i < list->n; i++)
		read_type(im, list->item[i]);
	*vec_push(&im->type_first) = im->type_ports.n;
}

/* --- devices --- */

static bool add_port(
	struct importer *im, const struct port *like, size_t device, const struct yaml_node *place)
{
	struct port row = *like;

	if (!import_room_left(im, im->m->ports.n, place))
		return false;
	row.device = device;
	row.line = place->line;
	import_enter(im, NOUN_PORT, device, row.name, im->m->ports.n, place);
	*vec_push(&im->m->ports) = row;
	return true;
}

/* A port of the type told more about, or one that only this device has. */
static void read_port(struct importer *im, const struct yaml_node *node, size_t device)
{
	struct port row = {.kind = PORT_N};
	struct port *known;
	size_t i;

	if (!import_row(im, node, NOUN_PORT, FIELDS(PORT), NULL, &row) || !row.name)
		return;
	i = model_index_find(im->index, NOUN_PORT, device, row.name);
	if (i == MODEL_NONE) {
		if (row.kind == PORT_N)
			row.kind = PORT_ETHERNET;
		add_port(im, &row, device, node);
		return;
	}
	known = &im->m->ports.at[i];
	if (row.kind != PORT_N)
		known->kind = row.kind;
	if (row.type)
		known->type = row.type;
	if (row.mac)
		known->mac = row.mac;
}

static void read_ports(struct importer *im, const struct yaml_node *node, size_t device)
{
	const struct yaml_node *list = import_list(im, node, "ports");
	const size_t type = im->m->devices.at[device].type;
	bool room = true;

	for (size_t i = type == MODEL_NONE ? 0 : im->type_first.at[type];
		type != MODEL_NONE && room && i < im->type_first.at[type + 1]; i++)
		room = add_port(im, &im->type_ports.at[i], device, node);
	for (unsigned i = 0; list && i < list->n; i++)
		read_port(im, list->item[i], device);
}

/* "psu7" of a device whose type has six says more than "no such port". */
static bool is_psu_too_many(
	struct importer *im, const struct yaml_node *key, const struct device *d)
{
	const unsigned psus = d->type == MODEL_NONE ? 0 : im->m->types.at[d->type].psus;
	uint64_t n;

	if (psus == 0 || import_is_torn(im, NOUN_TYPE, d->type) || !str_starts(key->text, "psu") ||
		!str_to_u64(str_from(key->text, 3), &n) || n <= psus)
		return false;
	import_fault_at(im, key, E_CONFLICT, "correct the cord, or 'psus' of the type",
		"'%s' is a '%s' and has %u PSU%s, no 'psu%llu'", d->name,
		im->m->types.at[d->type].name, psus, psus == 1 ? "" : "s", (unsigned long long)n);
	return true;
}

static void read_cord(struct importer *im, const struct yaml_node *key,
	const struct yaml_node *value, size_t device)
{
	const struct device *d = &im->m->devices.at[device];
	struct str outlet = value->text, pdu;
	struct cord row = {.port = MODEL_NONE, .outlet = MODEL_NONE, .line = value->line};
	size_t pdu_row;

	if (d->type == MODEL_NONE) /* said already; its ports are not known */
		return;
	if (!is_psu_too_many(im, key, d))
		row.port = import_find(im, key, NOUN_PORT, device, key->text);
	if (value->kind != YAML_SCALAR || !str_next(&outlet, '/', &pdu) || outlet.n == 0) {
		import_fault_at(im, value, E_SCHEMA, "such as PDU-A/1",
			"a cord of '%s' must name a PDU and an outlet", d->name);
		return;
	}
	pdu_row = import_find(im, value, NOUN_PDU, 0, pdu);
	if (pdu_row != MODEL_NONE)
		row.outlet = import_find(im, value, NOUN_OUTLET, pdu_row, outlet);
	if (row.port == MODEL_NONE || row.outlet == MODEL_NONE)
		return;
	import_enter(im, NOUN_CORD, 0, NULL, 0, value);
	*vec_push(&im->m->cords) = row;
}

static void read_device(struct importer *im, const struct yaml_node *node)
{
	static const char *const extra[] = {"ports", "cords", "node", NULL};
	const size_t i = im->m->devices.n;
	const struct yaml_node *cords;
	struct device *row;

	if (!import_new_row(im, node, NOUN_DEVICE, 0, extra))
		return;
	row = &im->m->devices.at[i];
	if (row->rack == MODEL_NONE && yaml_get(node, "rack"))
		row->position = 0; /* an unknown rack is said; its units cannot be judged */
	if (model_index_find(im->index, NOUN_DEVICE, 0, row->name) != i)
		return; /* a name that is there twice is one error, not one per port */
	read_ports(im, node, i);
	cords = import_map(im, node, "cords");
	for (unsigned k = 0; cords && k < cords->n; k++)
		read_cord(im, cords->key[k], cords->item[k], i);
}

void import_devices(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "devices");

	for (unsigned i = 0; list && i < list->n; i++)
		read_device(im, list->item[i]);
}
