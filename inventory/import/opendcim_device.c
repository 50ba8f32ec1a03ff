/*
 * opendcim_device - devices of openDCIM, their types, ports, cords and cables.
 *
 * A template becomes as many types as its devices differ in height, depth, PSUs and
 * watts. Blades draw through their chassis: it has their watts, they have none.
 */
#include "inventory/import/opendcim_priv.h"

#include <stdio.h>
#include <string.h>

static struct od_chain chain_rows(
	struct opendcim *o, enum od_table t, const char *column, enum od_table owner)
{
	struct od_chain c;

	c.first = arena_alloc(o->s->arena, (o->rows[owner].n + 1) * sizeof(size_t));
	c.next = arena_alloc(o->s->arena, (o->rows[t].n + 1) * sizeof(size_t));
	for (size_t i = 0; i < o->rows[owner].n; i++)
		c.first[i] = MODEL_NONE;
	for (size_t i = o->rows[t].n; i-- > 0;) {
		const size_t to = od_find(o, owner, od_reference(o, o->rows[t].at[i], column));

		c.next[i] = MODEL_NONE;
		if (to == MODEL_NONE)
			continue;
		c.next[i] = c.first[to];
		c.first[to] = i;
	}
	return c;
}

/* --- devices --- */

static bool is_pdu(struct opendcim *o, const char *device)
{
	const char *type = record_word(o->s, od_find_row(o, OD_DEVICES, device), "DeviceType");

	return od_find(o, OD_PDUS, device) != MODEL_NONE && (!type || strcmp(type, "cdu") == 0);
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
		od_find_row(o, OD_TEMPLATES, od_reference(o, row, "TemplateID"));
	const double psus = od_figure(o, row, "PowerSupplyCount");
	struct shape sh = {.template = template,
		.height = od_figure(o, row, "Height"),
		.watts = od_figure(o, row, "NominalWatts"),
		.half_depth = od_is_flag(o, row, "HalfDepth"),
		.child = od_reference(o, row, "ParentDevice") != NULL};

	sh.model = record_text(o->s, template, "Model");
	sh.maker = record_text(o->s,
		od_find_row(o, OD_MAKERS, od_reference(o, template, "ManufacturerID")), "Name");
	if (isnan(sh.watts))
		sh.watts = od_figure(o, template, "Wattage");
	if (isnan(sh.height) && !record_get(row, "Height"))
		sh.height = od_figure(o, template, "Height");
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
	struct yaml_node *out = od_row(o, "device_types", row), *watts;

	tree_put_text(o->s, out, "name", row, name);
	tree_put_text(o->s, out, "maker", row, sh->maker);
	tree_put_num(o->s, out, "height_u", row, isnan(sh->height) ? 0 : sh->height);
	if (sh->half_depth)
		tree_put_text(o->s, out, "full_depth", row, "false");
	od_put_kg(o, out, "weight_kg", sh->template, "Weight");
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
		od_find_row(o, OD_CENTERS, od_reference(o, cabinet, "DataCenterID")),
		od_find_row(o, OD_CONFIG, "U1Position")};

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
	const char *cabinet = od_reference(o, row, "Cabinet");
	const struct yaml_node *rack = od_find_row(o, OD_CABINETS, cabinet);
	const double units = od_figure(o, rack, "CabinetHeight");
	double at = od_figure(o, row, "Position");

	if (!cabinet) {
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "Cabinet",
			"what is in the storage room is 'offline' here");
		return;
	}
	tree_put_text(o->s, out, "rack", record_get(row, "Cabinet"),
		od_rack_name(o, cabinet) ? od_rack_name(o, cabinet) : cabinet);
	if (sh.child || isnan(at) || !(sh.height > 0))
		return;
	if (counts_from_top(o, rack)) {
		at = (isnan(units) ? 42 : units) - at - sh.height + 2;
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "Position",
			"units count from the bottom here");
	}
	tree_put_num(o->s, out, "position", record_get(row, "Position"), at);
	if (od_is_flag(o, row, "BackSide"))
		tree_put_text(o->s, out, "face", record_get(row, "BackSide"), "rear");
}

static void put_status(struct opendcim *o, struct yaml_node *out, const struct yaml_node *row)
{
	static const char *const running[] = {"production", "test", "development", NULL};
	const char *status = record_word(o->s, row, "Status");
	const char *ours = NULL;

	if (od_is_flag(o, row, "Reservation") || (status && strcmp(status, "reserved") == 0))
		ours = "planned";
	else if (!od_reference(o, row, "Cabinet") || (status && model_word(running, status) < 0))
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
	const char *pdu = od_reference(o, row, old ? "PDUID" : "ConnectedDeviceID");
	const char *at = record_text(o->s, row, old ? "PDUPosition" : "ConnectedPort");
	const size_t i = od_find(o, OD_PDUS, pdu);

	*psu = record_text(o->s, row, old ? "DeviceConnNumber" : "PortNumber");
	if (!pdu || !at || !*psu)
		return NULL;
	return arena_printf(o->s->arena, "%s/%s", i == MODEL_NONE ? pdu : od_pdu_label(o, i),
		source_name(o->s, NULL, at));
}

static void write_cords(struct opendcim *o, struct yaml_node *out, size_t device)
{
	struct yaml_node *cords = tree_map(o->s, out);

	for (int k = 0; k < 2; k++) {
		const struct od_chain *c = &o->of_device[k];

		for (size_t i = c->first[device]; i != MODEL_NONE; i = c->next[i]) {
			const struct yaml_node *row = o->rows[OD_CORDS[k]].at[i];
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
	struct opendcim *o, struct yaml_node *out, const struct od_chain *c, size_t device)
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
	*out = od_row(o, "devices", row);
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

		if (od_find(o, OD_DEVICES, id) == MODEL_NONE &&
			od_find(o, OD_PDUS, id) == MODEL_NONE)
			source_fault(o->s, o->rows[t].at[i], E_NOTFOUND, "add fac_Device whole",
				"there is no device %.40s", id ? id : "");
	}
}

/* Blades draw through their chassis: their watts are its. */
static void add_children(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_DEVICES].n; i++) {
		const struct yaml_node *row = o->rows[OD_DEVICES].at[i];
		const size_t parent = od_find(o, OD_DEVICES, od_reference(o, row, "ParentDevice"));
		const double watts = od_figure(o, row, "NominalWatts");

		if (parent == MODEL_NONE || o->corded[i])
			continue;
		o->child_watts[parent] += isnan(watts) ? 0 : watts;
		loss_add(o->s->losses, LOSS_CHANGED, "fac_Device", "ParentDevice",
			"the watts of blades are their chassis' here");
	}
}

void od_enter_cords(struct opendcim *o)
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
		const size_t d = od_find(o, OD_DEVICES, record_text(o->s, row, "DeviceID"));

		if (d != MODEL_NONE && od_reference(o, row, "ConnectedDeviceID"))
			o->corded[d] = true;
	}
}

void od_write_devices(struct opendcim *o)
{
	const struct od_chain ports = chain_rows(o, OD_PORTS, "DeviceID", OD_DEVICES);

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
	const char *peer = od_reference(o, row, "ConnectedDeviceID");
	const char *at = od_reference(o, row, "ConnectedPort");
	const size_t a = od_find(o, OD_DEVICES, record_text(o->s, row, "DeviceID"));
	const size_t b = od_find(o, OD_DEVICES, peer);
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
	out = od_row(o, "cables", row);
	tree_put_text(o->s, out, "a", row,
		arena_printf(
			o->s->arena, "%s/%s", device_name(o, a, false), port_name(o, row, false)));
	tree_put_text(o->s, out, "b", row,
		arena_printf(o->s->arena, "%s/%s", device_name(o, b, false),
			port_name(o, o->rows[OD_PORTS].at[k], false)));
}

void od_write_cables(struct opendcim *o)
{
	for (size_t i = 0; i < o->rows[OD_PORTS].n; i++)
		write_cable(o, i);
}
