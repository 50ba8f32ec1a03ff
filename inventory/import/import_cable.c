/* import_cable - cables between ports, and the nodes that run an agent. */
#include "inventory/import/import_priv.h"

#include <string.h>

#define AT(type, member) offsetof(struct type, member)

static const struct model_field CABLE[] = {
	{.key = "type", .kind = FIELD_TEXT, .offset = AT(cable, type)},
	{.key = "label", .kind = FIELD_TEXT, .offset = AT(cable, label)},
	{.key = "length_m",
		.kind = FIELD_NUM,
		.offset = AT(cable, length_m),
		.max = 100000,
		.unit = "m"},
};

#define NODE_FIELDS                                                                 \
	{.key = "address", .kind = FIELD_TEXT, .offset = AT(node, address)},        \
		{.key = "user", .kind = FIELD_NAME, .offset = AT(node, user)},      \
		{.key = "role", .kind = FIELD_NAME, .offset = AT(node, role)},      \
		{.key = "port",                                                     \
			.kind = FIELD_UINT,                                         \
			.offset = AT(node, port),                                   \
			.min = 1,                                                   \
			.max = 65535},                                              \
		{.key = "vars", .kind = FIELD_VARS, .offset = AT(node, vars)},      \
	{                                                                           \
		.key = "host_key", .kind = FIELD_TEXT, .offset = AT(node, host_key) \
	}
static const struct model_field NODE[] = {NODE_FIELDS};
static const struct model_field NAMED_NODE[] = {NODE_FIELDS,
	{.key = "name", .kind = FIELD_NAME, .offset = AT(node, name), .required = true}};

/* --- cables --- */

/* "gpu01/ib0" under a or b. */
static size_t read_end(struct importer *im, const struct yaml_node *map, const char *key)
{
	const struct yaml_node *value = yaml_get(map, key);
	struct str port, device;
	size_t row;

	if (!value || value->kind != YAML_SCALAR) {
		import_fault(im, map, key, E_SCHEMA, "such as gpu01/eth0",
			"the cable's '%s' must name a device and a port", key);
		return MODEL_NONE;
	}
	port = value->text;
	if (!str_next(&port, '/', &device) || port.n == 0) {
		import_fault(im, map, key, E_SCHEMA, "such as gpu01/eth0",
			"'" STR_FMT "' names no port", STR_ARG(str_first(value->text, 80)));
		return MODEL_NONE;
	}
	row = import_find(im, value, NOUN_DEVICE, 0, device);
	if (row == MODEL_NONE || im->m->devices.at[row].type == MODEL_NONE)
		return MODEL_NONE;
	return import_find(im, value, NOUN_PORT, row, port);
}

void import_cables(struct importer *im, const struct yaml_node *root)
{
	static const char *const extra[] = {"a", "b", NULL};
	const struct yaml_node *list = import_list(im, root, "cables");

	for (unsigned i = 0; list && i < list->n; i++) {
		struct cable row = {.length_m = MODEL_UNSET, .line = list->item[i]->line};

		if (!import_row(im, list->item[i], NOUN_CABLE, FIELDS(CABLE), extra, &row))
			continue;
		row.a = read_end(im, list->item[i], "a");
		row.b = read_end(im, list->item[i], "b");
		if (row.a == MODEL_NONE || row.b == MODEL_NONE)
			continue;
		import_enter(im, NOUN_CABLE, 0, NULL, 0, list->item[i]);
		*vec_push(&im->m->cables) = row;
	}
}

/* --- nodes --- */

static void add_node(struct importer *im, struct node *row, const struct yaml_node *place)
{
	row->vars = row->vars ? row->vars : "{}";
	row->line = place->line;
	if (!row->role && row->device != MODEL_NONE)
		row->role = im->m->devices.at[row->device].role;
	import_enter(im, NOUN_NODE, 0, row->name, im->m->nodes.n, place);
	*vec_push(&im->m->nodes) = *row;
}

/* "node: {address: ...}" inside a device. */
static void read_device_node(struct importer *im, const struct yaml_node *map, size_t device)
{
	const struct yaml_node *node = yaml_get(map, "node");
	struct node row = {.name = im->m->devices.at[device].name, .device = device, .port = 22};

	if (model_index_find(im->index, NOUN_DEVICE, 0, row.name) != device)
		return; /* the second of two devices of one name, said already */
	if (node && import_row(im, node, NOUN_NODE, FIELDS(NODE), NULL, &row))
		add_node(im, &row, node);
}

/* One of the list: on the device of its name, or on none. */
static void read_named_node(struct importer *im, const struct yaml_node *node)
{
	struct node row = {.port = 22, .device = MODEL_NONE};

	if (!import_row(im, node, NOUN_NODE, FIELDS(NAMED_NODE), NULL, &row) || !row.name)
		return;
	row.device = model_index_find(im->index, NOUN_DEVICE, 0, row.name);
	add_node(im, &row, node);
}

void import_nodes(struct importer *im, const struct yaml_node *root)
{
	const struct places *devices = &im->places[NOUN_DEVICE];
	const struct yaml_node *list = import_list(im, root, "nodes");

	for (size_t i = 0; i < devices->n; i++)
		read_device_node(im, devices->at[i], i);
	for (unsigned i = 0; list && i < list->n; i++)
		read_named_node(im, list->item[i]);
}
