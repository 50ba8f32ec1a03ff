/* import_device - device types with their ports, devices, and the cords of their PSUs. */
#include "inventory/import/import_priv.h"

#include <stdio.h>
#include <string.h>

#define AT(type, member) offsetof(struct type, member)
#define WATTS_MAX        1e9
#define PSUS_MAX         64

static const struct field TYPE[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(device_type, name), .required = true},
	{.key = "maker", .kind = FIELD_TEXT, .offset = AT(device_type, maker)},
	{.key = "height_u",
		.kind = FIELD_UINT,
		.offset = AT(device_type, height_u),
		.max = 100,
		.unit = "U",
		.required = true},
	{.key = "full_depth", .kind = FIELD_BOOL, .offset = AT(device_type, full_depth)},
	{.key = "depth_mm",
		.kind = FIELD_NUM,
		.offset = AT(device_type, depth_mm),
		.max = 10000,
		.unit = "mm"},
	{.key = "weight_kg",
		.kind = FIELD_NUM,
		.offset = AT(device_type, weight_kg),
		.max = 100000,
		.unit = "kg"},
	{.key = "watts_origin",
		.kind = FIELD_UINT,
		.offset = AT(device_type, watts_origin),
		.words = MODEL_ORIGINS},
	{.key = "watts_source", .kind = FIELD_TEXT, .offset = AT(device_type, watts_source)},
	{.key = "psus", .kind = FIELD_UINT, .offset = AT(device_type, psus), .max = PSUS_MAX},
	{.key = "psus_needed",
		.kind = FIELD_UINT,
		.offset = AT(device_type, psus_needed),
		.max = PSUS_MAX},
	{.key = "gpus", .kind = FIELD_UINT, .offset = AT(device_type, gpus), .max = 1024},
	{.key = "gpu", .kind = FIELD_TEXT, .offset = AT(device_type, gpu)},
};

#define WATTS(word, basis)                                                          \
	{                                                                           \
		.key = word, .kind = FIELD_NUM, .offset = (basis) * sizeof(double), \
		.max = WATTS_MAX, .unit = "W"                                       \
	}
static const struct field TYPE_WATTS[] = {
	WATTS("nameplate", BASIS_NAMEPLATE),
	WATTS("max", BASIS_MAX),
	WATTS("capped", BASIS_CAPPED),
	WATTS("measured", BASIS_MEASURED),
};

static const struct field DEVICE[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(device, name), .required = true},
	{.key = "type",
		.kind = FIELD_REF,
		.offset = AT(device, type),
		.noun = NOUN_TYPE,
		.required = true},
	{.key = "role", .kind = FIELD_NAME, .offset = AT(device, role)},
	{.key = "rack", .kind = FIELD_REF, .offset = AT(device, rack), .noun = NOUN_RACK},
	{.key = "position",
		.kind = FIELD_UINT,
		.offset = AT(device, position),
		.min = 1,
		.max = 1000,
		.unit = "U"},
	{.key = "face", .kind = FIELD_UINT, .offset = AT(device, face), .words = MODEL_FACES},
	{.key = "status",
		.kind = FIELD_UINT,
		.offset = AT(device, status),
		.words = MODEL_STATUSES},
	{.key = "serial", .kind = FIELD_TEXT, .offset = AT(device, serial)},
	{.key = "watts_measured",
		.kind = FIELD_NUM,
		.offset = AT(device, watts_measured),
		.max = WATTS_MAX,
		.unit = "W"},
	{.key = "watts_cap",
		.kind = FIELD_NUM,
		.offset = AT(device, watts_cap),
		.max = WATTS_MAX,
		.unit = "W"},
};

static const struct field PORT[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(port, name), .required = true},
	{.key = "kind", .kind = FIELD_UINT, .offset = AT(port, kind), .words = MODEL_PORT_KINDS},
	{.key = "type", .kind = FIELD_TEXT, .offset = AT(port, type)},
	{.key = "mac", .kind = FIELD_TEXT, .offset = AT(port, mac)},
};

/* Ports of one kind of a type; names is read apart. */
static const struct field TEMPLATE[] = {
	{.key = "type", .kind = FIELD_TEXT, .offset = AT(port_template, connector)},
};

/* --- types --- */

/* A number is the maximum; a map says more. */
static void read_watts(struct importer *im, const struct yaml_node *map, struct device_type *t)
{
	static const struct field max = {.key = "watts",
		.kind = FIELD_NUM,
		.offset = BASIS_MAX * sizeof(double),
		.max = WATTS_MAX,
		.unit = "W"};
	const struct yaml_node *value = yaml_get(map, "watts");

	if (value && value->kind == YAML_MAP)
		import_row(im, value, NOUN_TYPE, FIELDS(TYPE_WATTS), NULL, t->watts);
	else if (value)
		import_field(im, &max, map, value, t->watts);
}

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

static void read_type(struct importer *im, const struct yaml_node *node)
{
	static const char *const extra[] = {"watts", "ports", NULL};
	struct device_type row = {.full_depth = true,
		.depth_mm = MODEL_UNSET,
		.weight_kg = MODEL_UNSET,
		.watts = {MODEL_UNSET, MODEL_UNSET, MODEL_UNSET, MODEL_UNSET},
		.watts_origin = ORIGIN_DECLARED,
		.line = node->line};
	const size_t i = im->m->types.n;

	if (!import_row(im, node, NOUN_TYPE, FIELDS(TYPE), extra, &row) || !row.name)
		return;
	read_watts(im, node, &row);
	if (row.psus_needed > row.psus)
		import_fault(im, node, "psus_needed", E_CONFLICT, NULL,
			"'%s' needs %u PSUs but has %u", row.name, row.psus_needed, row.psus);
	import_enter(im, NOUN_TYPE, 0, row.name, i, node);
	*vec_push(&im->m->types) = row;
	*vec_push(&im->type_first) = im->type_ports.n;
	read_templates(im, node, i);
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

	if (psus == 0 || !str_starts(key->text, "psu") || !str_to_u64(str_from(key->text, 3), &n) ||
		n <= psus)
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
	struct device row = {.type = MODEL_NONE,
		.rack = MODEL_NONE,
		.status = STATUS_ACTIVE,
		.watts_measured = MODEL_UNSET,
		.watts_cap = MODEL_UNSET,
		.line = node->line};
	const struct yaml_node *cords;
	const size_t i = im->m->devices.n;

	if (!import_row(im, node, NOUN_DEVICE, FIELDS(DEVICE), extra, &row) || !row.name)
		return;
	if (row.rack == MODEL_NONE && yaml_get(node, "rack"))
		row.position = 0; /* an unknown rack is said; its units cannot be judged */
	import_enter(im, NOUN_DEVICE, 0, row.name, i, node);
	*vec_push(&im->m->devices) = row;
	if (model_index_find(im->index, NOUN_DEVICE, 0, row.name) != i)
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
