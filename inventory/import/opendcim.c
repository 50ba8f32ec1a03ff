#include "inventory/import/opendcim.h"

#include "inventory/import/csv.h"
#include "inventory/import/opendcim_priv.h"

#include <stdio.h>
#include <string.h>

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

const enum od_table OD_CORDS[2] = {OD_POWER_PORTS, OD_CONNECTIONS};

/* --- look-ups --- */

size_t od_find(const struct opendcim *o, enum od_table t, const char *id)
{
	return id ? model_index_find(o->index, (enum model_noun)t, 0, id) : MODEL_NONE;
}

const struct yaml_node *od_find_row(const struct opendcim *o, enum od_table t, const char *id)
{
	const size_t i = od_find(o, t, id);

	return i == MODEL_NONE ? NULL : o->rows[t].at[i];
}

/* Zero, -1 and nothing all mean that there is none. */
const char *od_reference(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	const char *id = record_text(o->s, row, key);

	return id && strcmp(id, "0") != 0 && id[0] != '-' && strcmp(id, "NULL") != 0 ? id : NULL;
}

double od_figure(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	const char *text = record_text(o->s, row, key);
	const double v =
		text && strcmp(text, "NULL") != 0 ? record_num(o->s, row, key) : MODEL_UNSET;

	return v > 0 ? v : MODEL_UNSET;
}

struct yaml_node *od_row(struct opendcim *o, const char *section, const struct yaml_node *at)
{
	struct yaml_node *map = tree_map(o->s, at);

	tree_add(o->s, tree_list_of(o->s, o->root, section), map);
	return map;
}

bool od_is_flag(struct opendcim *o, const struct yaml_node *row, const char *key)
{
	return record_true(o->s, row, key, false);
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
	const struct yaml_node *row = od_find_row(o, OD_CONFIG, "mUnits");
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

void od_put_kg(struct opendcim *o, struct yaml_node *out, const char *key,
	const struct yaml_node *row, const char *column)
{
	const double v = od_figure(o, row, column);

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

const char *od_rack_name(struct opendcim *o, const char *cabinet)
{
	const char *name = record_text(o->s, od_find_row(o, OD_CABINETS, cabinet), "Location");

	return name ? source_label(o->s, NULL, name) : NULL;
}

static void write_cabinets(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_CABINETS].n; i++) {
		const struct yaml_node *row = o->rows[OD_CABINETS].at[i];
		const struct yaml_node *center =
			od_find_row(o, OD_CENTERS, od_reference(o, row, "DataCenterID"));
		const char *name = record_text(o->s, row, "Location");
		struct yaml_node *out = od_row(o, "racks", row);

		tree_put_text(o->s, out, "name", record_get(row, "Location"),
			name ? source_label(o->s, "fac_Cabinet", name) : NULL);
		if (center && record_text(o->s, center, "Name"))
			tree_put_text(o->s, out, "location", record_get(row, "DataCenterID"),
				source_name(o->s, NULL, record_text(o->s, center, "Name")));
		tree_put_num(o->s, out, "height_u", record_get(row, "CabinetHeight"),
			od_figure(o, row, "CabinetHeight"));
		od_put_kg(o, out, "max_weight_kg", row, "MaxWeight");
	}
}

/* --- power --- */

static const char *panel_name(struct opendcim *o, const char *id)
{
	const char *name = record_text(o->s, od_find_row(o, OD_PANELS, id), "PanelLabel");

	return name ? source_label(o->s, NULL, name) : NULL;
}

static void write_panels(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_PANELS].n; i++) {
		const struct yaml_node *row = o->rows[OD_PANELS].at[i];
		const char *name = record_text(o->s, row, "PanelLabel");
		const char *parent = od_reference(o, row, "ParentPanelID");
		struct yaml_node *out = od_row(o, "panels", row), *up;

		tree_put_text(o->s, out, "name", record_get(row, "PanelLabel"),
			name ? source_label(o->s, "fac_PowerPanel", name) : NULL);
		tree_put_num(o->s, out, "volts", record_get(row, "PanelVoltage"),
			od_figure(o, row, "PanelVoltage"));
		tree_put_text(o->s, out, "phases", row, "3");
		tree_put_num(o->s, out, "amps", record_get(row, "MainBreakerSize"),
			od_figure(o, row, "MainBreakerSize"));
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

const char *od_pdu_label(struct opendcim *o, size_t i)
{
	const struct yaml_node *row = o->rows[OD_PDUS].at[i];
	const char *label = record_text(o->s, row, "Label"), *id = record_text(o->s, row, "PDUID");

	if (!label)
		label = record_text(o->s, od_find_row(o, OD_DEVICES, id), "Label");
	return source_label(
		o->s, NULL, label ? label : arena_printf(o->s->arena, "PDU %s", id ? id : "?"));
}

static const char *pdu_rack(struct opendcim *o, const struct yaml_node *row)
{
	const struct yaml_node *device =
		od_find_row(o, OD_DEVICES, record_text(o->s, row, "PDUID"));
	const char *cabinet = od_reference(o, row, "CabinetID");

	if (!cabinet && device)
		cabinet = od_reference(o, device, "Cabinet");
	return cabinet ? od_rack_name(o, cabinet) : NULL;
}

/* One pole hangs between a line and neutral, two between two lines, three on all. */
static void put_circuit(
	struct opendcim *o, struct yaml_node *out, const struct yaml_node *row, const char *name)
{
	const struct yaml_node *panel = od_find_row(o, OD_PANELS, od_reference(o, row, "PanelID"));
	const double volts = od_figure(o, panel, "PanelVoltage"),
		     poles = od_figure(o, row, "BreakerSize");
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
	const struct yaml_node *device =
		od_find_row(o, OD_DEVICES, record_text(o->s, row, "PDUID"));
	const double of_template = od_figure(o,
		od_find_row(o, OD_PDU_TEMPLATES, od_reference(o, row, "TemplateID")), "NumOutlets");
	const double of_device = device ? od_figure(o, device, "PowerSupplyCount") : MODEL_UNSET;

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
			const struct yaml_node *cord = o->rows[OD_CORDS[k]].at[i];
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
	const char *name = od_pdu_label(o, i), *rack = pdu_rack(o, row);
	const char *panel = od_reference(o, row, "PanelID");
	struct yaml_node *feed = od_row(o, "feeds", row), *pdu = od_row(o, "pdus", row);

	tree_put_text(o->s, feed, "name", row, name);
	if (panel)
		tree_put_text(o->s, feed, "panel", record_get(row, "PanelID"),
			panel_name(o, panel) ? panel_name(o, panel) : panel);
	tree_put_text(o->s, feed, "rack", row, rack);
	put_circuit(o, feed, row, name);
	tree_put_num(o->s, feed, "amps", record_get(row, "InputAmperage"),
		od_figure(o, row, "InputAmperage"));
	tree_put_text(o->s, pdu, "name", row, name);
	tree_put_text(o->s, pdu, "rack", row, rack);
	tree_put_text(o->s, pdu, "feed", row, name);
	put_outlets(o, pdu, i);
	if (od_reference(o, row, "PanelID2") || od_is_flag(o, row, "FailSafe"))
		loss_add(o->s->losses, LOSS_DROPPED, "fac_PowerDistribution", "FailSafe, PanelID2",
			"the second source of a transfer switch");
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
		od_enter_cords(&o);
		for (size_t i = 0; i < o.rows[OD_PDUS].n; i++)
			write_pdu(&o, i);
		od_write_devices(&o);
		od_write_cables(&o);
		tell_losses(&o);
	}
	for (int t = 0; t < OD_N; t++)
		vec_done(&o.rows[t]);
	vec_done(&o.names);
	model_index_free(o.types);
	model_index_free(o.index);
	return o.root;
}
