#include "inventory/import/opendcim.h"

#include "inventory/import/csv.h"
#include "inventory/import/record.h"
#include "inventory/model/index.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum od_table {
	OD_CENTERS,
	OD_CABINETS,
	OD_PANELS,
	OD_PDUS,
	OD_PDU_TEMPLATES,
	OD_DEVICES,
	OD_TEMPLATES,
	OD_MAKERS,
	OD_POWER_PORTS,
	OD_CONNECTIONS,
	OD_PORTS,
	OD_CONFIG,
	OD_N
};
static const struct {
	const char *stem, *noun, *key; /* key: the id column */
} TABLES[OD_N] = {
	{"fac-datacenter", "fac_DataCenter", "DataCenterID"},
	{"fac-cabinet", "fac_Cabinet", "CabinetID"},
	{"fac-powerpanel", "fac_PowerPanel", "PanelID"},
	{"fac-powerdistribution", "fac_PowerDistribution", "PDUID"},
	{"fac-cdutemplate", "fac_CDUTemplate", "TemplateID"},
	{"fac-device", "fac_Device", "DeviceID"},
	{"fac-devicetemplate", "fac_DeviceTemplate", "TemplateID"},
	{"fac-manufacturer", "fac_Manufacturer", "ManufacturerID"},
	{"fac-powerports", "fac_PowerPorts", NULL},
	{"fac-powerconnection", "fac_PowerConnection", NULL},
	{"fac-ports", "fac_Ports", NULL},
	{"fac-config", "fac_Config", "Parameter"},
};

/* The rows of a table by the row of another that they name in a column, in order. */
struct chain {
	size_t *first, *next;
};

struct opendcim {
	struct sources *s;
	struct yaml_node *root;
	struct records rows[OD_N];
	struct model_index *index; /* by id */
	struct model_index *types; /* key of a type -> its name's row in names */
	struct model_names names;
	const char *const *node_roles;
	double kg;           /* of the installation's unit of weight; MODEL_UNSET: not known */
	double *child_watts; /* beside the devices: what their blades draw */
	bool *corded;
	struct chain *of_pdu,
		*of_device; /* rows of the tables of cords: power ports, connections */
};

static const enum od_table CORDS[2] = {OD_POWER_PORTS, OD_CONNECTIONS};

/* --- look-ups --- */

static size_t find(const struct opendcim *o, enum od_table t, const char *id)
{
	return id ? model_index_find(o->index, (enum model_noun)t, 0, id) : MODEL_NONE;
}

static const struct yaml_node *find_row(const struct opendcim *o, enum od_table t, const char *id)
{
	const size_t i = find(o, t, id);

	return i == MODEL_NONE ? NULL : o->rows[t].at[i];
}

/* Zero, -1 and nothing all mean that there is none. */
static const char *reference(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	const char *id = record_text(o->s, row, key);

	return id && strcmp(id, "0") != 0 && id[0] != '-' && strcmp(id, "NULL") != 0 ? id : NULL;
}

static double figure(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	const char *text = record_text(o->s, row, key);
	const double v =
		text && strcmp(text, "NULL") != 0 ? record_num(o->s, row, key) : MODEL_UNSET;

	return v > 0 ? v : MODEL_UNSET;
}

static struct yaml_node *new_row(
	struct opendcim *o, const char *section, const struct yaml_node *at)
{
	struct yaml_node *map = tree_map(o->s, at);

	tree_add(o->s, tree_list_of(o->s, o->root, section), map);
	return map;
}

static bool is_flag(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	return record_true(o->s, row, key, false);
}

static struct chain chain_rows(
	struct opendcim *o, enum od_table t, const char *column, enum od_table owner)
{
	struct chain c;

	c.first = arena_alloc(o->s->arena, (o->rows[owner].n + 1) * sizeof(size_t));
	c.next = arena_alloc(o->s->arena, (o->rows[t].n + 1) * sizeof(size_t));
	for (size_t i = 0; i < o->rows[owner].n; i++)
		c.first[i] = MODEL_NONE;
	for (size_t i = o->rows[t].n; i-- > 0;) {
		const size_t to = find(o, owner, reference(o, o->rows[t].at[i], column));

		c.next[i] = MODEL_NONE;
		if (to == MODEL_NONE)
			continue;
		c.next[i] = c.first[to];
		c.first[to] = i;
	}
	return c;
}

/* --- tables --- */

static void take_file(struct opendcim *o, const struct source_file *f)
{
	struct yaml_node *rows;
	int t = 0;

	if (!csv_read(o->s, f, 0, &rows, NULL))
		return;
	while (t < OD_N && strcmp(TABLES[t].stem, f->stem) != 0 &&
		strcmp(TABLES[t].stem + 4, f->stem) != 0)
		t++;
	for (unsigned i = 0; i < rows->n; i++) {
		const char *id = t < OD_N && TABLES[t].key
					 ? record_text(o->s, rows->item[i], TABLES[t].key)
					 : NULL;

		if (t == OD_N) {
			loss_add(o->s->losses, LOSS_DROPPED, f->stem, "", "this table is not read");
			continue;
		}
		if (id)
			model_index_put(o->index, (enum model_noun)t, 0, id, o->rows[t].n);
		*vec_push(&o->rows[t]) = rows->item[i];
	}
}

static void read_units(struct opendcim *o, const struct yaml_node *opts)
{
	const struct yaml_node *stated = yaml_get(opts, "units");
	const struct yaml_node *row = find_row(o, OD_CONFIG, "mUnits");
	const char *word = record_word(o->s, row, "Value");

	if (stated && stated->kind == YAML_SCALAR)
		word = stated->text.p;
	o->kg = MODEL_UNSET;
	if (word && strcmp(word, "english") == 0)
		o->kg = 0.45359237;
	else if (word && strcmp(word, "metric") == 0)
		o->kg = 1;
	else if (word)
		source_fault(o->s, stated ? stated : row, E_SCHEMA, "english (lb) or metric (kg)",
			"'%.40s' are no units", word);
}

static void read_roles(struct opendcim *o, const struct yaml_node *opts)
{
	const struct yaml_node *roles = yaml_get(opts, "node_roles");
	const char **list;

	if (!roles || roles->kind != YAML_LIST)
		return;
	list = arena_alloc(o->s->arena, (roles->n + 1) * sizeof *list);
	for (unsigned i = 0; i < roles->n; i++)
		list[i] = roles->item[i]->kind == YAML_SCALAR ? roles->item[i]->text.p : "";
	o->node_roles = list;
}

static void put_kg(struct opendcim *o, struct yaml_node *out, const char *key,
	const struct yaml_node *row, const char *column)
{
	const double v = figure(o, row, column);

	if (isnan(v))
		return;
	if (isnan(o->kg))
		loss_add(o->s->losses, LOSS_DROPPED, "weights", column,
			"pounds or kilograms? add fac_Config, or 'units: metric' by --map");
	else
		tree_put_num(o->s, out, key, record_get(row, column), v * o->kg);
}

/* --- rooms --- */

static void write_site(struct opendcim *o, const char *site)
{
	const struct records *centers = &o->rows[OD_CENTERS];

	if (!site && centers->n == 1)
		site = record_text(o->s, centers->at[0], "Name");
	if (!site)
		source_fault(o->s, NULL, E_CONFLICT,
			"say --site NAME; data centers become locations",
			"the tables have %zu data centers, and a site needs a name", centers->n);
	tree_put_text(o->s, o->root, "site", centers->n ? centers->at[0] : NULL,
		site ? source_name(o->s, "fac_DataCenter", site) : "unnamed");
	for (size_t i = 0; i < centers->n; i++) {
		const char *name = record_text(o->s, centers->at[i], "Name");

		if (name)
			tree_add(o->s, tree_list_of(o->s, o->root, "locations"),
				tree_text(o->s, record_get(centers->at[i], "Name"),
					str_of(source_name(o->s, "fac_DataCenter", name))));
	}
}

static const char *rack_name(struct opendcim *o, const char *cabinet)
{
	const char *name = record_text(o->s, find_row(o, OD_CABINETS, cabinet), "Location");

	return name ? source_label(o->s, NULL, name) : NULL;
}

static void write_cabinets(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_CABINETS].n; i++) {
		const struct yaml_node *row = o->rows[OD_CABINETS].at[i];
		const struct yaml_node *center =
			find_row(o, OD_CENTERS, reference(o, row, "DataCenterID"));
		const char *name = record_text(o->s, row, "Location");
		struct yaml_node *out = new_row(o, "racks", row);

		tree_put_text(o->s, out, "name", record_get(row, "Location"),
			name ? source_label(o->s, "fac_Cabinet", name) : NULL);
		if (center && record_text(o->s, center, "Name"))
			tree_put_text(o->s, out, "location", record_get(row, "DataCenterID"),
				source_name(o->s, NULL, record_text(o->s, center, "Name")));
		tree_put_num(o->s, out, "height_u", record_get(row, "CabinetHeight"),
			figure(o, row, "CabinetHeight"));
		put_kg(o, out, "max_weight_kg", row, "MaxWeight");
	}
}

/* --- power --- */

static const char *panel_name(struct opendcim *o, const char *id)
{
	const char *name = record_text(o->s, find_row(o, OD_PANELS, id), "PanelLabel");

	return name ? source_label(o->s, NULL, name) : NULL;
}

static void write_panels(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_PANELS].n; i++) {
		const struct yaml_node *row = o->rows[OD_PANELS].at[i];
		const char *name = record_text(o->s, row, "PanelLabel");
		const char *parent = reference(o, row, "ParentPanelID");
		struct yaml_node *out = new_row(o, "panels", row), *up;

		tree_put_text(o->s, out, "name", record_get(row, "PanelLabel"),
			name ? source_label(o->s, "fac_PowerPanel", name) : NULL);
		tree_put_num(o->s, out, "volts", record_get(row, "PanelVoltage"),
			figure(o, row, "PanelVoltage"));
		tree_put_text(o->s, out, "phases", row, "3");
		tree_put_num(o->s, out, "amps", record_get(row, "MainBreakerSize"),
			figure(o, row, "MainBreakerSize"));
		if (!parent)
			continue;
		up = tree_map(o->s, record_get(row, "ParentPanelID"));
		tree_put_text(o->s, up, "panel", record_get(row, "ParentPanelID"),
			panel_name(o, parent) ? panel_name(o, parent) : parent);
		tree_put(o->s, out, "upstream", up);
	}
}

/* Volts to neutral of a system, by its nominal pair. */
static double to_neutral(double between_lines)
{
	static const double pairs[][2] = {
		{208, 120}, {380, 220}, {400, 230}, {415, 240}, {480, 277}, {600, 347}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (between_lines >= pairs[i][0] && between_lines <= pairs[i][0])
			return pairs[i][1];
	return floor(between_lines / 1.7320508 + 0.5);
}

static const char *pdu_label(struct opendcim *o, size_t i)
{
	const struct yaml_node *row = o->rows[OD_PDUS].at[i];
	const char *label = record_text(o->s, row, "Label"), *id = record_text(o->s, row, "PDUID");

	if (!label)
		label = record_text(o->s, find_row(o, OD_DEVICES, id), "Label");
	return source_label(
		o->s, NULL, label ? label : arena_printf(o->s->arena, "PDU %s", id ? id : "?"));
}

static const char *pdu_rack(struct opendcim *o, const struct yaml_node *row)
{
	const struct yaml_node *device = find_row(o, OD_DEVICES, record_text(o->s, row, "PDUID"));
	const char *cabinet = reference(o, row, "CabinetID");

	if (!cabinet && device)
		cabinet = reference(o, device, "Cabinet");
	return cabinet ? rack_name(o, cabinet) : NULL;
}

/* One pole hangs between a line and neutral, two between two lines, three on all. */
static void put_circuit(
	struct opendcim *o, struct yaml_node *out, const struct yaml_node *row, const char *name)
{
	const struct yaml_node *panel = find_row(o, OD_PANELS, reference(o, row, "PanelID"));
	const double volts = figure(o, panel, "PanelVoltage"),
		     poles = figure(o, row, "BreakerSize");
	const struct yaml_node *at = record_get(row, "BreakerSize");

	at = at ? at : row;
	if (isnan(poles) || poles > 3) {
		source_fault(o->s, at, E_SCHEMA, "it holds the number of poles: 1, 2 or 3",
			"the PDU '%.60s' has a BreakerSize of %.40s", name,
			record_text(o->s, row, "BreakerSize")
				? record_text(o->s, row, "BreakerSize")
				: "nothing");
		return;
	}
	tree_put_text(o->s, out, "phases", at, poles > 2 ? "3" : "1");
	tree_put_num(o->s, out, "volts", at, poles < 2 ? to_neutral(volts) : volts);
	if (poles > 2 && ((volts >= 100 && volts <= 130) || (volts >= 220 && volts <= 250)))
		source_fault(o->s, record_get(panel, "PanelVoltage"), E_CONFLICT,
			"openDCIM's PanelVoltage is between lines: 400 or 208, not 230 or 120",
			"the panel of '%.60s' has %g V and a breaker of three poles", name, volts);
}

static double outlets_of(struct opendcim *o, size_t pdu)
{
	const struct yaml_node *row = o->rows[OD_PDUS].at[pdu];
	const struct yaml_node *device = find_row(o, OD_DEVICES, record_text(o->s, row, "PDUID"));
	const double of_template = figure(
		o, find_row(o, OD_PDU_TEMPLATES, reference(o, row, "TemplateID")), "NumOutlets");
	const double of_device = device ? figure(o, device, "PowerSupplyCount") : MODEL_UNSET;

	return isnan(of_device) ? of_template : of_device;
}

/* Outlets 1 to the template's count, and those that cords name beyond it. */
static void put_outlets(struct opendcim *o, struct yaml_node *out, size_t pdu)
{
	const struct yaml_node *row = o->rows[OD_PDUS].at[pdu];
	struct yaml_node *list = tree_list(o->s, row), *range = tree_map(o->s, row);
	const double n = outlets_of(o, pdu);
	struct model_index *seen = model_index_new();

	if (n >= 1 && n <= MODEL_RANGE_MAX) {
		tree_put_text(o->s, range, "names", row, arena_printf(o->s->arena, "[1-%.0f]", n));
		tree_add(o->s, list, range);
	}
	for (int k = 0; k < 2; k++)
		for (size_t i = o->of_pdu[k].first[pdu]; i != MODEL_NONE;
			i = o->of_pdu[k].next[i]) {
			const struct yaml_node *cord = o->rows[CORDS[k]].at[i];
			const char *at =
				record_text(o->s, cord, k ? "PDUPosition" : "ConnectedPort");
			uint64_t number;

			if (!at || model_index_put(seen, NOUN_N, 0, at, 0) != MODEL_NONE ||
				(str_to_u64(str_of(at), &number) && number >= 1 &&
					(double)number <= n))
				continue;
			range = tree_map(o->s, cord);
			tree_put_text(o->s, range, "names", cord, source_name(o->s, "outlets", at));
			tree_add(o->s, list, range);
		}
	model_index_free(seen);
	if (list && list->n)
		tree_put(o->s, out, "outlets", list);
}

/* openDCIM has no feeds: each PDU is a circuit of its panel. */
static void write_pdu(struct opendcim *o, size_t i)
{
	const struct yaml_node *row = o->rows[OD_PDUS].at[i];
	const char *name = pdu_label(o, i), *rack = pdu_rack(o, row);
	const char *panel = reference(o, row, "PanelID");
	struct yaml_node *feed = new_row(o, "feeds", row), *pdu = new_row(o, "pdus", row);

	tree_put_text(o->s, feed, "name", row, name);
	if (panel)
		tree_put_text(o->s, feed, "panel", record_get(row, "PanelID"),
			panel_name(o, panel) ? panel_name(o, panel) : panel);
	tree_put_text(o->s, feed, "rack", row, rack);
	put_circuit(o, feed, row, name);
	tree_put_num(o->s, feed, "amps", record_get(row, "InputAmperage"),
		figure(o, row, "InputAmperage"));
	tree_put_text(o->s, pdu, "name", row, name);
	tree_put_text(o->s, pdu, "rack", row, rack);
	tree_put_text(o->s, pdu, "feed", row, name);
	put_outlets(o, pdu, i);
	if (reference(o, row, "PanelID2") || is_flag(o, row, "FailSafe"))
		loss_add(o->s->losses, LOSS_DROPPED, "fac_PowerDistribution", "FailSafe, PanelID2",
			"the second source of a transfer switch");
}

/* --- devices --- */

static bool is_pdu(struct opendcim *o, const char *device)
{
	const char *type = record_word(o->s, find_row(o, OD_DEVICES, device), "DeviceType");

	return find(o, OD_PDUS, device) != MODEL_NONE && (!type || strcmp(type, "cdu") == 0);
}

struct shape {
	const char *model, *maker;
	const struct yaml_node *template;
	double height, watts;
	unsigned psus;
	bool half_depth, child;
};

static struct shape shape_of(struct opendcim *o, size_t i)
{
	const struct yaml_node *row = o->rows[OD_DEVICES].at[i];
	const struct yaml_node *template =
		find_row(o, OD_TEMPLATES, reference(o, row, "TemplateID"));
	const double psus = figure(o, row, "PowerSupplyCount");
	struct shape sh = {.template = template,
		.height = figure(o, row, "Height"),
		.watts = figure(o, row, "NominalWatts"),
		.half_depth = is_flag(o, row, "HalfDepth"),
		.child = reference(o, row, "ParentDevice") != NULL};

	sh.model = record_text(o->s, template, "Model");
	sh.maker = record_text(
		o->s, find_row(o, OD_MAKERS, reference(o, template, "ManufacturerID")), "Name");
	if (isnan(sh.watts))
		sh.watts = figure(o, template, "Wattage");
	if (isnan(sh.height) && !record_get(row, "Height"))
		sh.height = figure(o, template, "Height");
	sh.psus = isnan(psus) ? 0 : (unsigned)psus;
	if (sh.child && !o->corded[i]) {
		sh.watts = 0;
		sh.psus = 0;
		sh.height = 0;
	} else if (o->child_watts[i] > 0) {
		sh.watts = (isnan(sh.watts) ? 0 : sh.watts) + o->child_watts[i];
	}
	return sh;
}

static void write_type(struct opendcim *o, const char *name, const struct shape *sh, size_t i)
{
	const struct yaml_node *row = sh->template ? sh->template : o->rows[OD_DEVICES].at[i];
	struct yaml_node *out = new_row(o, "device_types", row), *watts;

	tree_put_text(o->s, out, "name", row, name);
	tree_put_text(o->s, out, "maker", row, sh->maker);
	tree_put_num(o->s, out, "height_u", row, isnan(sh->height) ? 0 : sh->height);
	if (sh->half_depth)
		tree_put_text(o->s, out, "full_depth", row, "false");
	put_kg(o, out, "weight_kg", sh->template, "Weight");
	if (!isnan(sh->watts)) {
		watts = tree_map(o->s, row);
		tree_put_num(o->s, watts, "max", row, sh->watts);
		tree_put(o->s, out, "watts", watts);
		tree_put_text(o->s, out, "watts_source", row,
			sh->child ? "counted in its chassis" : "openDCIM NominalWatts");
	}
	if (sh->psus)
		tree_put_num(o->s, out, "psus", row, sh->psus);
}

/* The name of the type of a device, written when it is new. */
static const char *type_name(struct opendcim *o, size_t i)
{
	const struct shape sh = shape_of(o, i);
	const char *base = sh.model ? sh.model : "no template";
	const char *key = arena_printf(o->s->arena, "%s|%s|%g|%g|%u|%d|%d", base,
		sh.maker ? sh.maker : "", sh.height, sh.watts, sh.psus, sh.half_depth, sh.child);
	const size_t known = model_index_find(o->types, NOUN_TYPE, 0, key);
	const char *name;

	if (known != MODEL_NONE)
		return o->names.at[known];
	name = source_label(o->s, NULL, base);
	if (model_index_put(o->types, NOUN_TYPE, 1, name, 0) != MODEL_NONE) {
		name = source_label(o->s, NULL,
			arena_printf(o->s->arena, "%s %gU %upsu %.10gW%s%s", base,
				isnan(sh.height) ? 0 : sh.height, sh.psus,
				isnan(sh.watts) ? 0 : sh.watts, sh.half_depth ? " half" : "",
				sh.child ? " blade" : ""));
		loss_add(o->s->losses, LOSS_CHANGED, "fac_DeviceTemplate", "Model",
			"devices of one template differ; there is a '%.60s' now", name);
	}
	model_index_put(o->types, NOUN_TYPE, 0, key, o->names.n);
	*vec_push(&o->names) = name;
	write_type(o, name, &sh, i);
	return name;
}

static bool counts_from_top(struct opendcim *o, const struct yaml_node *cabinet)
{
	const struct yaml_node *rows[] = {cabinet,
		find_row(o, OD_CENTERS, reference(o, cabinet, "DataCenterID")),
		find_row(o, OD_CONFIG, "U1Position")};

	for (size_t i = 0; i < 3; i++) {
		const char *word = record_word(o->s, rows[i], i < 2 ? "U1Position" : "Value");

		if (word && (strcmp(word, "top") == 0 || strcmp(word, "bottom") == 0))
			return strcmp(word, "top") == 0;
	}
	return false;
}

static void put_place(struct opendcim *o, struct yaml_node *out, size_t i)
{
	const struct yaml_node *row = o->rows[OD_DEVICES].at[i];
	const struct shape sh = shape_of(o, i);
	const char *cabinet = reference(o, row, "Cabinet");
	const struct yaml_node *rack = find_row(o, OD_CABINETS, cabinet);
	const double units = figure(o, rack, "CabinetHeight");
	double at = figure(o, row, "Position");

	if (!cabinet) {
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "Cabinet",
			"what is in the storage room is 'offline' here");
		return;
	}
	tree_put_text(o->s, out, "rack", record_get(row, "Cabinet"),
		rack_name(o, cabinet) ? rack_name(o, cabinet) : cabinet);
	if (sh.child || isnan(at) || !(sh.height > 0))
		return;
	if (counts_from_top(o, rack)) {
		at = (isnan(units) ? 42 : units) - at - sh.height + 2;
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "Position",
			"units count from the bottom here");
	}
	tree_put_num(o->s, out, "position", record_get(row, "Position"), at);
	if (is_flag(o, row, "BackSide"))
		tree_put_text(o->s, out, "face", record_get(row, "BackSide"), "rear");
}

static void put_status(struct opendcim *o, struct yaml_node *out, const struct yaml_node *row)
{
	static const char *const running[] = {"production", "test", "development", NULL};
	const char *status = record_word(o->s, row, "Status");
	const char *ours = NULL;

	if (is_flag(o, row, "Reservation") || (status && strcmp(status, "reserved") == 0))
		ours = "planned";
	else if (!reference(o, row, "Cabinet") || (status && model_word(running, status) < 0))
		ours = "offline";
	tree_put_text(o->s, out, "status", row, ours);
}

static void put_role(struct opendcim *o, struct yaml_node *out, const struct yaml_node *row)
{
	const char *type = record_word(o->s, row, "DeviceType");
	const char *role = type ? source_name(o->s, NULL, type) : NULL;
	const char *ip = record_text(o->s, row, "PrimaryIP");
	struct yaml_node *node;

	tree_put_text(o->s, out, "role", record_get(row, "DeviceType"), role);
	if (!ip)
		return;
	if (!role || !o->node_roles || model_word(o->node_roles, role) < 0) {
		loss_add(o->s->losses, LOSS_DROPPED, "fac_Device", "PrimaryIP",
			"name the roles that run an agent by 'node_roles' in the file of --map");
		return;
	}
	node = tree_map(o->s, row);
	tree_put_text(o->s, node, "address", record_get(row, "PrimaryIP"), ip);
	tree_put(o->s, out, "node", node);
}

/* A cord of either table, NULL when the row is none of this device. */
static const char *cord_of(
	struct opendcim *o, const struct yaml_node *row, bool old, const char **psu)
{
	const char *pdu = reference(o, row, old ? "PDUID" : "ConnectedDeviceID");
	const char *at = record_text(o->s, row, old ? "PDUPosition" : "ConnectedPort");
	const size_t i = find(o, OD_PDUS, pdu);

	*psu = record_text(o->s, row, old ? "DeviceConnNumber" : "PortNumber");
	if (!pdu || !at || !*psu)
		return NULL;
	return arena_printf(o->s->arena, "%s/%s", i == MODEL_NONE ? pdu : pdu_label(o, i),
		source_name(o->s, NULL, at));
}

static void write_cords(struct opendcim *o, struct yaml_node *out, size_t device)
{
	struct yaml_node *cords = tree_map(o->s, out);

	for (int k = 0; k < 2; k++) {
		const struct chain *c = &o->of_device[k];

		for (size_t i = c->first[device]; i != MODEL_NONE; i = c->next[i]) {
			const struct yaml_node *row = o->rows[CORDS[k]].at[i];
			const char *psu, *to = cord_of(o, row, k == 1, &psu);

			if (to)
				tree_put_text(o->s, cords, arena_printf(o->s->arena, "psu%s", psu),
					row, to);
		}
	}
	if (cords && cords->n)
		tree_put(o->s, out, "cords", cords);
}

static const char *port_name(struct opendcim *o, const struct yaml_node *row, bool tell)
{
	const char *label = record_text(o->s, row, "Label");
	const char *number = record_text(o->s, row, "PortNumber");

	if (!label)
		return arena_printf(o->s->arena, "port%s", number ? number : "");
	return source_name(o->s, tell ? "fac_Ports" : NULL, label);
}

static const char *device_name(struct opendcim *o, size_t i, bool tell)
{
	const char *label = record_text(o->s, o->rows[OD_DEVICES].at[i], "Label");

	return label ? source_name(o->s, tell ? "fac_Device" : NULL, label) : NULL;
}

static void write_ports(
	struct opendcim *o, struct yaml_node *out, const struct chain *c, size_t device)
{
	struct yaml_node *list = tree_list(o->s, out);

	for (size_t i = c->first[device]; i != MODEL_NONE; i = c->next[i]) {
		const struct yaml_node *row = o->rows[OD_PORTS].at[i];
		struct yaml_node *port = tree_map(o->s, row);
		const char *number = record_text(o->s, row, "PortNumber");

		tree_put_text(o->s, port, "name", row, port_name(o, row, true));
		tree_add(o->s, list, port);
		if (number)
			model_index_put(o->index, (enum model_noun)OD_PORTS, device + 1, number, i);
	}
	if (list && list->n)
		tree_put(o->s, out, "ports", list);
}

static void write_device(struct opendcim *o, size_t i, struct yaml_node **out)
{
	const struct yaml_node *row = o->rows[OD_DEVICES].at[i];

	*out = NULL;
	if (is_pdu(o, record_text(o->s, row, "DeviceID")))
		return;
	*out = new_row(o, "devices", row);
	tree_put_text(o->s, *out, "name", record_get(row, "Label"), device_name(o, i, true));
	tree_put_text(o->s, *out, "type", row, type_name(o, i));
	put_role(o, *out, row);
	put_place(o, *out, i);
	put_status(o, *out, row);
	tree_put_text(o->s, *out, "serial", record_get(row, "SerialNo"),
		record_text(o->s, row, "SerialNo"));
}

/* Rows whose device is nowhere: a table cut short. */
static void judge_devices(struct opendcim *o, enum od_table t)
{
	for (size_t i = 0; i < o->rows[t].n; i++) {
		const char *id = record_text(o->s, o->rows[t].at[i], "DeviceID");

		if (find(o, OD_DEVICES, id) == MODEL_NONE && find(o, OD_PDUS, id) == MODEL_NONE)
			source_fault(o->s, o->rows[t].at[i], E_NOTFOUND, "add fac_Device whole",
				"there is no device %.40s", id ? id : "");
	}
}

/* Blades draw through their chassis: their watts are its. */
static void add_children(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_DEVICES].n; i++) {
		const struct yaml_node *row = o->rows[OD_DEVICES].at[i];
		const size_t parent = find(o, OD_DEVICES, reference(o, row, "ParentDevice"));
		const double watts = figure(o, row, "NominalWatts");

		if (parent == MODEL_NONE || o->corded[i])
			continue;
		o->child_watts[parent] += isnan(watts) ? 0 : watts;
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "ParentDevice",
			"the watts of blades are their chassis' here");
	}
}

static void enter_cords(struct opendcim *o)
{
	const size_t n = o->rows[OD_DEVICES].n;

	o->of_pdu = arena_alloc(o->s->arena, 2 * sizeof *o->of_pdu);
	o->of_device = arena_alloc(o->s->arena, 2 * sizeof *o->of_device);
	o->of_pdu[0] = chain_rows(o, OD_POWER_PORTS, "ConnectedDeviceID", OD_PDUS);
	o->of_pdu[1] = chain_rows(o, OD_CONNECTIONS, "PDUID", OD_PDUS);
	o->of_device[0] = chain_rows(o, OD_POWER_PORTS, "DeviceID", OD_DEVICES);
	o->of_device[1] = chain_rows(o, OD_CONNECTIONS, "DeviceID", OD_DEVICES);
	o->child_watts = arena_alloc(o->s->arena, (n + 1) * sizeof *o->child_watts);
	o->corded = arena_alloc(o->s->arena, (n + 1) * sizeof *o->corded);
	for (size_t i = 0; i < n; i++)
		o->corded[i] = o->of_device[1].first[i] != MODEL_NONE;
	for (size_t i = 0; i < o->rows[OD_POWER_PORTS].n; i++) {
		const struct yaml_node *row = o->rows[OD_POWER_PORTS].at[i];
		const size_t d = find(o, OD_DEVICES, record_text(o->s, row, "DeviceID"));

		if (d != MODEL_NONE && reference(o, row, "ConnectedDeviceID"))
			o->corded[d] = true;
	}
}

static void write_devices(struct opendcim *o)
{
	const struct chain ports = chain_rows(o, OD_PORTS, "DeviceID", OD_DEVICES);

	judge_devices(o, OD_POWER_PORTS);
	judge_devices(o, OD_CONNECTIONS);
	judge_devices(o, OD_PORTS);
	add_children(o);
	for (size_t i = 0; i < o->rows[OD_DEVICES].n; i++) {
		struct yaml_node *out;

		write_device(o, i, &out);
		if (!out)
			continue;
		write_ports(o, out, &ports, i);
		write_cords(o, out, i);
	}
}

/* Each cable stands twice, once at each end. */
static void write_cable(struct opendcim *o, size_t i)
{
	const struct yaml_node *row = o->rows[OD_PORTS].at[i];
	const char *peer = reference(o, row, "ConnectedDeviceID");
	const char *at = reference(o, row, "ConnectedPort");
	const size_t a = find(o, OD_DEVICES, record_text(o->s, row, "DeviceID"));
	const size_t b = find(o, OD_DEVICES, peer);
	struct yaml_node *out;
	size_t k;

	if (a == MODEL_NONE || b == MODEL_NONE || !at)
		return;
	k = model_index_find(o->index, (enum model_noun)OD_PORTS, b + 1, at);
	if (k == MODEL_NONE)
		source_fault(o->s, row, E_NOTFOUND, "add fac_Ports whole",
			"the port is joined to port %.20s of device %.20s, which is not there", at,
			peer);
	if (k == MODEL_NONE || k <= i)
		return;
	out = new_row(o, "cables", row);
	tree_put_text(o->s, out, "a", row,
		arena_printf(
			o->s->arena, "%s/%s", device_name(o, a, false), port_name(o, row, false)));
	tree_put_text(o->s, out, "b", row,
		arena_printf(o->s->arena, "%s/%s", device_name(o, b, false),
			port_name(o, o->rows[OD_PORTS].at[k], false)));
}

static void tell_losses(struct opendcim *o)
{
	static const char *const carried[OD_N][24] = {
		[OD_CENTERS] = {"DataCenterID", "Name", "U1Position"},
		[OD_CABINETS] = {"CabinetID", "DataCenterID", "Location", "CabinetHeight",
			"MaxWeight", "U1Position", "LocationSortable"},
		[OD_PANELS] = {"PanelID", "PanelLabel", "MainBreakerSize", "PanelVoltage",
			"ParentPanelID"},
		[OD_PDUS] = {"PDUID", "Label", "CabinetID", "TemplateID", "PanelID", "BreakerSize",
			"InputAmperage", "FailSafe", "PanelID2"},
		[OD_PDU_TEMPLATES] = {"TemplateID", "NumOutlets"},
		[OD_DEVICES] = {"DeviceID", "Label", "SerialNo", "PrimaryIP", "Cabinet", "Position",
			"Height", "TemplateID", "NominalWatts", "PowerSupplyCount", "DeviceType",
			"ParentDevice", "HalfDepth", "BackSide", "Reservation", "Status"},
		[OD_TEMPLATES] = {"TemplateID", "ManufacturerID", "Model", "Height", "Weight",
			"Wattage", "PSCount"},
		[OD_MAKERS] = {"ManufacturerID", "Name"},
		[OD_POWER_PORTS] = {"DeviceID", "PortNumber", "ConnectedDeviceID", "ConnectedPort"},
		[OD_CONNECTIONS] = {"PDUID", "PDUPosition", "DeviceID", "DeviceConnNumber"},
		[OD_PORTS] = {"DeviceID", "PortNumber", "Label", "ConnectedDeviceID",
			"ConnectedPort"},
	};

	for (int t = 0; t < OD_CONFIG; t++)
		records_losses(o->s, &o->rows[t], TABLES[t].noun, carried[t], NULL);
}

struct yaml_node *opendcim_read(struct sources *s, const struct yaml_node *opts, const char *site)
{
	struct opendcim o = {.s = s, .index = model_index_new(), .types = model_index_new()};

	o.root = tree_new(s, YAML_MAP, s->files.n ? s->files.at[0].first : 0, 1);
	for (size_t i = 0; i < s->files.n; i++)
		take_file(&o, &s->files.at[i]);
	read_units(&o, opts);
	read_roles(&o, opts);
	if (o.rows[OD_CABINETS].n == 0 && s->errors->total == 0)
		source_fault(s, NULL, E_NOTFOUND,
			"files are told by their names: fac_Cabinet.csv, fac_Device.csv ...",
			"nothing here is openDCIM's table of cabinets");
	if (s->errors->total == 0) {
		write_site(&o, site);
		write_cabinets(&o);
		write_panels(&o);
		enter_cords(&o);
		for (size_t i = 0; i < o.rows[OD_PDUS].n; i++)
			write_pdu(&o, i);
		write_devices(&o);
		for (size_t i = 0; i < o.rows[OD_PORTS].n; i++)
			write_cable(&o, i);
		tell_losses(&o);
	}
	for (int t = 0; t < OD_N; t++)
		vec_done(&o.rows[t]);
	vec_done(&o.names);
	model_index_free(o.types);
	model_index_free(o.index);
	return o.root;
}
