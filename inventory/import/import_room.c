/* import_room - where things stand and what feeds them: locations to outlets. */
#include "inventory/import/import_priv.h"

#include <string.h>

#define AT(type, member) offsetof(struct type, member)
#define WATTS_MAX        1e9
#define HEIGHT_MAX       100

static const char *const ZONE_KINDS[] = {"air", "rdhx", "liquid", NULL};

static const struct field ZONE[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(cooling_zone, name), .required = true},
	{.key = "kind", .kind = FIELD_WORD, .offset = AT(cooling_zone, kind), .words = ZONE_KINDS},
	{.key = "capacity_w",
		.kind = FIELD_NUM,
		.offset = AT(cooling_zone, capacity_w),
		.max = WATTS_MAX,
		.unit = "W"},
};
static const struct field PANEL[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(panel, name), .required = true},
	{.key = "location",
		.kind = FIELD_REF,
		.offset = AT(panel, location),
		.noun = NOUN_LOCATION},
};
static const struct field RACK[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(rack, name), .required = true},
	{.key = "location", .kind = FIELD_REF, .offset = AT(rack, location), .noun = NOUN_LOCATION},
	{.key = "cooling_zone",
		.kind = FIELD_REF,
		.offset = AT(rack, cooling_zone),
		.noun = NOUN_ZONE},
	{.key = "height_u",
		.kind = FIELD_UINT,
		.offset = AT(rack, height_u),
		.min = 1,
		.max = HEIGHT_MAX,
		.unit = "U"},
	{.key = "depth_mm",
		.kind = FIELD_NUM,
		.offset = AT(rack, depth_mm),
		.max = 10000,
		.unit = "mm"},
	{.key = "max_weight_kg",
		.kind = FIELD_NUM,
		.offset = AT(rack, max_weight_kg),
		.max = 100000,
		.unit = "kg"},
};
/* Ranges of volts and amps are the model's to judge, so that they are said once. */
static const struct field FEED[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(feed, name), .required = true},
	{.key = "panel", .kind = FIELD_REF, .offset = AT(feed, panel), .noun = NOUN_PANEL},
	{.key = "rack", .kind = FIELD_REF, .offset = AT(feed, rack), .noun = NOUN_RACK},
	{.key = "volts",
		.kind = FIELD_NUM,
		.offset = AT(feed, volts),
		.min = -1e6,
		.max = 1e6,
		.unit = "V"},
	{.key = "phases",
		.kind = FIELD_UINT,
		.offset = AT(feed, phases),
		.max = 1000,
		.required = true},
	{.key = "amps",
		.kind = FIELD_NUM,
		.offset = AT(feed, amps),
		.min = -1e6,
		.max = 1e6,
		.unit = "A"},
	{.key = "max_utilization",
		.kind = FIELD_NUM,
		.offset = AT(feed, max_utilization),
		.min = -1e6,
		.max = 1e6},
};
static const struct field PDU[] = {
	{.key = "name", .kind = FIELD_LABEL, .offset = AT(pdu, name), .required = true},
	{.key = "rack", .kind = FIELD_REF, .offset = AT(pdu, rack), .noun = NOUN_RACK},
	{.key = "feed",
		.kind = FIELD_REF,
		.offset = AT(pdu, feed),
		.noun = NOUN_FEED,
		.required = true},
	{.key = "amps",
		.kind = FIELD_NUM,
		.offset = AT(pdu, amps),
		.min = -1e6,
		.max = 1e6,
		.unit = "A"},
};
/* One run of outlets; names is read apart. */
static const struct field OUTLETS[] = {
	{.key = "type", .kind = FIELD_NAME, .offset = AT(outlet, type)},
	{.key = "bank", .kind = FIELD_UINT, .offset = AT(outlet, bank), .max = 1000},
	{.key = "phase", .kind = FIELD_UINT, .offset = AT(outlet, phase), .max = 3},
};

static void read_locations(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "locations");

	for (unsigned i = 0; list && i < list->n; i++) {
		const struct yaml_node *node = list->item[i];
		struct location row = {.line = node->line};

		if (!import_name_ok(im, node, "a location"))
			continue;
		row.name = import_text(im, node);
		import_enter(im, NOUN_LOCATION, 0, row.name, im->m->locations.n, node);
		*vec_push(&im->m->locations) = row;
	}
}

static void read_zones(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "cooling_zones");

	for (unsigned i = 0; list && i < list->n; i++) {
		struct cooling_zone row = {.kind = "air",
			.capacity_w = MODEL_UNSET,
			.dew_point_c = MODEL_UNSET,
			.line = list->item[i]->line};

		if (!import_row(im, list->item[i], NOUN_ZONE, FIELDS(ZONE), NULL, &row) ||
			!row.name)
			continue;
		import_enter(im, NOUN_ZONE, 0, row.name, im->m->zones.n, list->item[i]);
		*vec_push(&im->m->zones) = row;
	}
}

static void read_panels(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "panels");

	for (unsigned i = 0; list && i < list->n; i++) {
		struct panel row = {.location = MODEL_NONE, .line = list->item[i]->line};

		if (!import_row(im, list->item[i], NOUN_PANEL, FIELDS(PANEL), NULL, &row) ||
			!row.name)
			continue;
		import_enter(im, NOUN_PANEL, 0, row.name, im->m->panels.n, list->item[i]);
		*vec_push(&im->m->panels) = row;
	}
}

static void read_racks(struct importer *im, const struct yaml_node *root)
{
	static const char *const extra[] = {"feeds", "pdus", NULL};
	const struct yaml_node *list = import_list(im, root, "racks");

	for (unsigned i = 0; list && i < list->n; i++) {
		struct rack row = {.location = MODEL_NONE,
			.cooling_zone = MODEL_NONE,
			.height_u = 42,
			.depth_mm = MODEL_UNSET,
			.max_weight_kg = MODEL_UNSET,
			.cooling.dew_point_c = MODEL_UNSET,
			.line = list->item[i]->line};

		if (!import_row(im, list->item[i], NOUN_RACK, FIELDS(RACK), extra, &row) ||
			!row.name)
			continue;
		import_enter(im, NOUN_RACK, 0, row.name, im->m->racks.n, list->item[i]);
		*vec_push(&im->m->racks) = row;
	}
}

void import_rooms(struct importer *im, const struct yaml_node *root)
{
	read_locations(im, root);
	read_zones(im, root);
	read_panels(im, root);
	read_racks(im, root);
}

static void read_feed(struct importer *im, const struct yaml_node *node, size_t rack)
{
	struct feed row = {.panel = MODEL_NONE,
		.rack = rack,
		.volts = MODEL_UNSET,
		.amps = MODEL_UNSET,
		.max_utilization = MODEL_UNSET,
		.line = node->line};

	if (!import_row(im, node, NOUN_FEED, FIELDS(FEED), NULL, &row) || !row.name)
		return;
	import_enter(im, NOUN_FEED, 0, row.name, im->m->feeds.n, node);
	*vec_push(&im->m->feeds) = row;
}

/* A feed of the list above, claimed by a rack: "feeds: [A1, B1]". */
static void claim_feed(struct importer *im, const struct yaml_node *node, size_t rack)
{
	const size_t row = import_find(im, node, NOUN_FEED, 0, node->text);
	struct feed *feed = row == MODEL_NONE ? NULL : &im->m->feeds.at[row];

	if (!feed)
		return;
	if (feed->rack != MODEL_NONE && feed->rack != rack)
		import_fault_at(im, node, E_CONFLICT, "a feed of several racks has no 'rack'",
			"feed '%s' is in rack '%s' already", feed->name,
			im->m->racks.at[feed->rack].name);
	else
		feed->rack = rack;
}

static void read_outlet_run(struct importer *im, const struct yaml_node *at,
	const struct outlet *like, const struct yaml_node *range)
{
	struct model_names names = VEC_INIT;

	if (import_range(im, range, &names)) {
		vec_each(&names, const char *, name) {
			struct outlet row = *like;

			if (!import_room_left(im, im->m->outlets.n, at))
				break;
			row.name = *name;
			import_enter(im, NOUN_OUTLET, row.pdu, row.name, im->m->outlets.n, at);
			*vec_push(&im->m->outlets) = row;
		}
	}
	vec_done(&names);
}

/* Either {C19: "[1-6]", C13: "[7-12]"} or a list of {names, type, bank, phase}. */
static void read_outlets(struct importer *im, const struct yaml_node *map, size_t pdu)
{
	static const char *const extra[] = {"names", NULL};
	const struct yaml_node *value = yaml_get(map, "outlets");

	if (!value)
		return;
	if (value->kind == YAML_SCALAR) {
		import_fault(im, map, "outlets", E_SCHEMA, "such as {C19: \"[1-6]\"}",
			"'outlets' must be a map of types or a list");
		return;
	}
	for (unsigned i = 0; i < value->n; i++) {
		const struct yaml_node *item = value->item[i];
		struct outlet row = {.pdu = pdu, .line = item->line};

		if (value->kind == YAML_MAP) {
			if (!import_name_ok(im, value->key[i], "the type of an outlet"))
				continue;
			row.type = import_text(im, value->key[i]);
			read_outlet_run(im, item, &row, item);
		} else if (import_row(im, item, NOUN_OUTLET, FIELDS(OUTLETS), extra, &row)) {
			if (yaml_get(item, "names"))
				read_outlet_run(im, item, &row, yaml_get(item, "names"));
			else
				import_fault(im, item, "names", E_SCHEMA, "such as \"[1-6]\"",
					"the outlets have no 'names'");
		}
	}
}

static void read_pdu(struct importer *im, const struct yaml_node *node, size_t rack)
{
	static const char *const extra[] = {"outlets", NULL};
	struct pdu row = {
		.rack = rack, .feed = MODEL_NONE, .amps = MODEL_UNSET, .line = node->line};
	const size_t i = im->m->pdus.n;

	if (!import_row(im, node, NOUN_PDU, FIELDS(PDU), extra, &row) || !row.name)
		return;
	import_enter(im, NOUN_PDU, 0, row.name, i, node);
	*vec_push(&im->m->pdus) = row;
	read_outlets(im, node, i);
}

static void read_rack_feeds(struct importer *im, const struct yaml_node *rack, size_t row)
{
	const struct yaml_node *list = import_list(im, rack, "feeds");

	for (unsigned i = 0; list && i < list->n; i++) {
		if (list->item[i]->kind == YAML_SCALAR)
			claim_feed(im, list->item[i], row);
		else
			read_feed(im, list->item[i], row);
	}
}

void import_power(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *feeds = import_list(im, root, "feeds");
	const struct yaml_node *pdus = import_list(im, root, "pdus");
	const struct places *racks = &im->places[NOUN_RACK];

	for (unsigned i = 0; feeds && i < feeds->n; i++)
		read_feed(im, feeds->item[i], MODEL_NONE);
	for (size_t i = 0; i < racks->n; i++)
		read_rack_feeds(im, racks->at[i], i);
	for (unsigned i = 0; pdus && i < pdus->n; i++)
		read_pdu(im, pdus->item[i], MODEL_NONE);
	for (size_t i = 0; i < racks->n; i++) {
		const struct yaml_node *list = import_list(im, racks->at[i], "pdus");

		for (unsigned k = 0; list && k < list->n; k++)
			read_pdu(im, list->item[k], i);
	}
}
