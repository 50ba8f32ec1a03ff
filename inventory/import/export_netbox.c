/*
 * export_netbox - CSV that NetBox's bulk import takes, one file per noun in the order to import.
 *
 * PDUs become devices of role 'pdu' with one inlet 'input'; PSUs power ports psu1 ...; a
 * device's watts are shared by its power ports, so that NetBox's sums are right. What
 * NetBox has no column for is told as a loss, found by the tables of fields.
 */
#include "inventory/import/export_priv.h"
#include "inventory/import/export_table.h"
#include "inventory/model/field.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NO_PANEL "no panel" /* netbox_priv.h reads it back */

#define NAME_AT(list, row) ((row) == MODEL_NONE ? NULL : (list).at[row].name)

struct netbox_out {
	const struct model *m;
	struct export_files *files;
	struct losses *losses;
	struct arena *a;
	size_t *cord;           /* of a port, MODEL_NONE */
	const char **pdu_names; /* as devices: none may be a device's */
	bool *first_on_feed;    /* PDUs that are; NetBox takes one cable per feed */
};

static const char *name_or(const char *name, const char *other)
{
	return name && *name ? name : other;
}

/* NetBox's identifier of a name: small letters, digits, - and _. */
static const char *slug(struct arena *a, const char *name)
{
	char *s = arena_strdup(a, name);

	for (char *p = s; *p; p++)
		*p = isalnum((unsigned char)*p) && *p > 0 ? (char)tolower((unsigned char)*p) : '-';
	return s;
}

static struct csv_out open_file(struct netbox_out *o, const char *name, const char *const *head)
{
	struct csv_out out = {export_file_new(o->files, name), 0};

	csv_out_row(&out, head);
	return out;
}

/* NetBox keeps whole numbers only. */
static double whole(struct netbox_out *o, double v, const char *noun, const char *field)
{
	const double rounded = floor(v + 0.5);

	if (!isnan(v) && !(rounded >= v && rounded <= v))
		loss_add(o->losses, LOSS_CHANGED, noun, field,
			"NetBox keeps whole numbers: %g is %g", v, rounded);
	return rounded;
}

/* --- site, locations, racks --- */

static void write_site(struct netbox_out *o)
{
	static const char *const head[] = {"name", "slug", "status", "description", NULL};
	static const char *const places[] = {"site", "name", "slug", "status", NULL};
	struct csv_out out = open_file(o, "sites.csv", head);

	csv_out_text(&out, o->m->site);
	csv_out_text(&out, slug(o->a, o->m->site));
	csv_out_text(&out, "active");
	csv_out_text(&out, o->m->about);
	csv_out_end(&out);
	out = open_file(o, "locations.csv", places);
	for (size_t i = 0; i < o->m->locations.n; i++) {
		const char *name = o->m->locations.at[i].name;

		csv_out_text(&out, o->m->site);
		csv_out_text(&out, name);
		csv_out_text(&out, slug(o->a, name));
		csv_out_text(&out, "active");
		csv_out_end(&out);
	}
}

static void write_racks(struct netbox_out *o)
{
	static const char *const head[] = {"site", "location", "name", "status", "width",
		"u_height", "outer_width", "outer_depth", "outer_unit", "weight", "max_weight",
		"weight_unit", NULL};
	struct csv_out out = open_file(o, "racks.csv", head);

	for (size_t i = 0; i < o->m->racks.n; i++) {
		const struct rack *r = &o->m->racks.at[i];
		const bool wide = model_stated(r->footprint_w_mm);
		const double depth = isnan(r->depth_mm)
					     ? MODEL_UNSET
					     : whole(o, r->depth_mm, "racks", "depth_mm");
		const bool weighs = model_stated(r->own_kg) || model_stated(r->max_weight_kg);

		csv_out_text(&out, o->m->site);
		csv_out_text(&out, NAME_AT(o->m->locations, r->location));
		csv_out_text(&out, r->name);
		csv_out_text(&out, "active");
		csv_out_text(&out, "19");
		csv_out_num(&out, r->height_u);
		csv_out_num(&out,
			wide ? whole(o, r->footprint_w_mm, "racks", "footprint_mm") : MODEL_UNSET);
		csv_out_num(&out, model_stated(depth) ? depth : MODEL_UNSET);
		csv_out_text(&out, wide || model_stated(depth) ? "mm" : NULL);
		csv_out_num(&out, model_stated(r->own_kg) ? r->own_kg : MODEL_UNSET);
		csv_out_num(&out, model_stated(r->max_weight_kg)
					  ? whole(o, r->max_weight_kg, "racks", "max_weight_kg")
					  : MODEL_UNSET);
		csv_out_text(&out, weighs ? "kg" : NULL);
		csv_out_end(&out);
	}
}

/* --- types, roles, devices --- */

static const char *maker_of(const struct device_type *t)
{
	return name_or(t->maker, "generic");
}

static const char *role_of(const struct device *d)
{
	return name_or(d->role, "unassigned");
}

/* Each text once: makers and roles have files of their own. */
static void write_once(struct netbox_out *o, struct csv_out *out, struct model_index *seen,
	const char *name, const char *extra)
{
	if (model_index_put(seen, NOUN_N, 0, name, 0) != MODEL_NONE)
		return;
	csv_out_text(out, name);
	csv_out_text(out, slug(o->a, name));
	if (extra)
		csv_out_text(out, extra);
	csv_out_end(out);
}

static void write_makers(struct netbox_out *o)
{
	static const char *const head[] = {"name", "slug", NULL};
	static const char *const roles[] = {"name", "slug", "color", NULL};
	struct csv_out out = open_file(o, "manufacturers.csv", head);
	struct model_index *seen = model_index_new();

	for (size_t i = 0; i < o->m->types.n; i++)
		write_once(o, &out, seen, maker_of(&o->m->types.at[i]), NULL);
	if (o->m->pdus.n)
		write_once(o, &out, seen, "generic", NULL);
	model_index_free(seen);
	seen = model_index_new();
	out = open_file(o, "device-roles.csv", roles);
	for (size_t i = 0; i < o->m->devices.n; i++)
		write_once(o, &out, seen, role_of(&o->m->devices.at[i]), "9e9e9e");
	if (o->m->pdus.n)
		write_once(o, &out, seen, "pdu", "9e9e9e");
	model_index_free(seen);
}

static const char *airflow_of(struct netbox_out *o, const struct device_type *t)
{
	if (t->airflow == AIRFLOW_SIDE) {
		loss_add(o->losses, LOSS_CHANGED, "device_types", "airflow",
			"'side' is 'left-to-right' in NetBox");
		return "left-to-right";
	}
	return t->airflow == AIRFLOW_UNSTATED ? NULL : MODEL_AIRFLOWS[t->airflow];
}

static void write_types(struct netbox_out *o)
{
	static const char *const head[] = {"manufacturer", "model", "slug", "u_height",
		"is_full_depth", "airflow", "weight", "weight_unit", NULL};
	static const char *const pdu[] = {
		"generic", "PDU", "generic-pdu", "0", "false", "", "", "", NULL};
	struct csv_out out = open_file(o, "device-types.csv", head);

	for (size_t i = 0; i < o->m->types.n; i++) {
		const struct device_type *t = &o->m->types.at[i];
		const bool weighs = model_stated(t->weight_kg);

		csv_out_text(&out, maker_of(t));
		csv_out_text(&out, t->name);
		csv_out_text(&out, slug(o->a, arena_printf(o->a, "%s-%s", maker_of(t), t->name)));
		csv_out_num(&out, t->height_u + (t->half_u ? 0.5 : 0));
		csv_out_text(&out, t->full_depth ? "true" : "false");
		csv_out_text(&out, airflow_of(o, t));
		csv_out_num(&out, weighs ? t->weight_kg : MODEL_UNSET);
		csv_out_text(&out, weighs ? "kg" : NULL);
		csv_out_end(&out);
	}
	if (o->m->pdus.n)
		csv_out_row(&out, pdu);
}

static void write_pdu_device(struct netbox_out *o, struct csv_out *out, size_t i)
{
	const struct pdu *p = &o->m->pdus.at[i];
	const size_t rack = p->rack;
	const char *location =
		rack == MODEL_NONE ? NULL : NAME_AT(o->m->locations, o->m->racks.at[rack].location);

	csv_out_text(out, o->pdu_names[i]);
	csv_out_text(out, "pdu");
	csv_out_text(out, "generic");
	csv_out_text(out, "PDU");
	csv_out_text(out, NULL);
	csv_out_text(out, "active");
	csv_out_text(out, o->m->site);
	csv_out_text(out, location);
	csv_out_text(out, NAME_AT(o->m->racks, rack));
	csv_out_text(out, NULL);
	csv_out_text(out, NULL);
	csv_out_end(out);
}

static void write_device(struct netbox_out *o, struct csv_out *out, const struct device *d)
{
	const struct device_type *t = &o->m->types.at[d->type];
	const struct rack *r = d->rack == MODEL_NONE ? NULL : &o->m->racks.at[d->rack];
	const unsigned shift = r && r->first_u > 1 ? r->first_u - 1 : 0;

	csv_out_text(out, d->name);
	csv_out_text(out, role_of(d));
	csv_out_text(out, maker_of(t));
	csv_out_text(out, t->name);
	csv_out_text(out, d->serial);
	csv_out_text(out, model_status_name(d->status));
	csv_out_text(out, o->m->site);
	csv_out_text(out, r ? NAME_AT(o->m->locations, r->location) : NULL);
	csv_out_text(out, r ? r->name : NULL);
	csv_out_num(out, d->position ? d->position - shift + (d->half_up ? 0.5 : 0) : MODEL_UNSET);
	csv_out_text(out, d->position ? model_face_name(d->face) : NULL);
	csv_out_end(out);
	if (shift && d->position)
		loss_add(o->losses, LOSS_CHANGED, "devices", "position",
			"NetBox's import cannot say that a rack begins at another unit than 1");
}

static void write_devices(struct netbox_out *o)
{
	static const char *const head[] = {"name", "role", "manufacturer", "device_type", "serial",
		"status", "site", "location", "rack", "position", "face", NULL};
	struct csv_out out = open_file(o, "devices.csv", head);

	for (size_t i = 0; i < o->m->pdus.n; i++)
		write_pdu_device(o, &out, i);
	for (size_t i = 0; i < o->m->devices.n; i++)
		write_device(o, &out, &o->m->devices.at[i]);
}

/* --- power --- */

static const char *panel_of(struct netbox_out *o, const struct feed *f)
{
	if (f->panel != MODEL_NONE)
		return o->m->panels.at[f->panel].name;
	loss_add(o->losses, LOSS_CHANGED, "feeds", "panel",
		"NetBox wants one; '" NO_PANEL "' stands for none");
	return NO_PANEL;
}

static void write_panels(struct netbox_out *o)
{
	static const char *const head[] = {"site", "location", "name", NULL};
	struct csv_out out = open_file(o, "power-panels.csv", head);
	bool lacking = false;

	for (size_t i = 0; i < o->m->panels.n; i++) {
		csv_out_text(&out, o->m->site);
		csv_out_text(&out, NAME_AT(o->m->locations, o->m->panels.at[i].location));
		csv_out_text(&out, o->m->panels.at[i].name);
		csv_out_end(&out);
	}
	for (size_t i = 0; i < o->m->feeds.n; i++)
		lacking = lacking || o->m->feeds.at[i].panel == MODEL_NONE;
	if (!lacking)
		return;
	csv_out_text(&out, o->m->site);
	csv_out_text(&out, NULL);
	csv_out_text(&out, NO_PANEL);
	csv_out_end(&out);
}

/* NetBox multiplies three phases by 1.732, which is right for volts between lines only. */
static double volts_of(struct netbox_out *o, const struct feed *f)
{
	if (f->phases != 3 || f->volts_are != VOLTS_LN)
		return whole(o, f->volts, "feeds", "volts");
	loss_add(o->losses, LOSS_CHANGED, "feeds", "volts",
		"NetBox reckons with volts between lines; those to neutral were converted");
	if (f->volts >= 230 && f->volts <= 230)
		return 400;
	return f->volts >= 120 && f->volts <= 120 ? 208 : floor(f->volts * 1.7320508 + 0.5);
}

static void write_feeds(struct netbox_out *o)
{
	static const char *const head[] = {"site", "power_panel", "rack", "name", "status", "type",
		"supply", "phase", "voltage", "amperage", "max_utilization", NULL};
	struct csv_out out = open_file(o, "power-feeds.csv", head);

	for (size_t i = 0; i < o->m->feeds.n; i++) {
		const struct feed *f = &o->m->feeds.at[i];
		const bool stated = model_stated(f->max_utilization);

		if (!stated)
			loss_add(o->losses, LOSS_ASSUMED, "feeds", "max_utilization", "80 %%");
		csv_out_text(&out, o->m->site);
		csv_out_text(&out, panel_of(o, f));
		csv_out_text(&out, NAME_AT(o->m->racks, f->rack));
		csv_out_text(&out, f->name);
		csv_out_text(&out, "active");
		csv_out_text(&out, "primary");
		csv_out_text(&out, "ac");
		csv_out_text(&out, f->phases == 3 ? "three-phase" : "single-phase");
		csv_out_num(&out, volts_of(o, f));
		csv_out_num(&out, whole(o, f->amps, "feeds", "amps"));
		csv_out_num(&out,
			stated ? whole(o, f->max_utilization * 100, "feeds", "max_utilization")
			       : 80);
		csv_out_end(&out);
	}
}

/* The inlet fits the outlet its cord goes to; without one, what its rating says. */
static const char *inlet_type(const struct netbox_out *o, size_t port)
{
	const struct model *m = o->m;
	const struct device *d = &m->devices.at[m->ports.at[port].device];
	const char *outlet = o->cord[port] == MODEL_NONE
				     ? NULL
				     : m->outlets.at[m->cords.at[o->cord[port]].outlet].type;

	if (outlet && strcmp(outlet, "C19") == 0)
		return "iec-60320-c20";
	if (outlet && strcmp(outlet, "C13") == 0)
		return "iec-60320-c14";
	return m->types.at[d->type].inlet_amps >= 16 ? "iec-60320-c20" : NULL;
}

/* Shares of whole watts whose sum is the whole: the first ports have one more. */
static double share(double watts, unsigned psus, unsigned k)
{
	const double each = floor(watts / psus);

	if (isnan(watts) || psus == 0)
		return MODEL_UNSET;
	return each + (k < watts - each * psus ? 1 : 0);
}

static void write_power_ports(struct netbox_out *o)
{
	static const char *const head[] = {
		"device", "name", "type", "maximum_draw", "allocated_draw", NULL};
	struct csv_out out = open_file(o, "power-ports.csv", head);
	unsigned k = 0;

	for (size_t i = 0; i < o->m->pdus.n; i++) {
		csv_out_text(&out, o->pdu_names[i]);
		csv_out_text(&out, "input");
		for (int e = 0; e < 3; e++)
			csv_out_text(&out, NULL);
		csv_out_end(&out);
	}
	for (size_t i = 0; i < o->m->ports.n; i++) {
		const struct port *p = &o->m->ports.at[i];
		const struct device_type *t = &o->m->types.at[o->m->devices.at[p->device].type];

		k = i > 0 && o->m->ports.at[i - 1].device == p->device ? k : 0;
		if (p->kind != PORT_POWER)
			continue;
		csv_out_text(&out, o->m->devices.at[p->device].name);
		csv_out_text(&out, p->name);
		csv_out_text(&out, p->type ? slug(o->a, p->type) : inlet_type(o, i));
		csv_out_num(&out, share(t->watts[BASIS_NAMEPLATE], t->psus, k));
		csv_out_num(&out, share(t->watts[BASIS_MAX], t->psus, k));
		csv_out_end(&out);
		k++;
	}
}

static const char *outlet_type(struct netbox_out *o, const struct outlet *out)
{
	if (!out->type)
		return NULL;
	if (out->type[0] == 'C' && isdigit((unsigned char)out->type[1]))
		return arena_printf(o->a, "iec-60320-c%s", out->type + 1);
	return slug(o->a, out->type);
}

static void write_outlets(struct netbox_out *o)
{
	static const char *const head[] = {
		"device", "name", "type", "power_port", "feed_leg", NULL};
	static const char *const legs[PHASE_N] = {
		[PHASE_L1] = "A", [PHASE_L2] = "B", [PHASE_L3] = "C"};
	struct csv_out out = open_file(o, "power-outlets.csv", head);

	for (size_t i = 0; i < o->m->outlets.n; i++) {
		const struct outlet *it = &o->m->outlets.at[i];

		if (it->phase > PHASE_L3)
			loss_add(o->losses, LOSS_DROPPED, "outlets", "phase",
				"NetBox has no outlets between two lines or of three phases");
		csv_out_text(&out, o->pdu_names[it->pdu]);
		csv_out_text(&out, it->name);
		csv_out_text(&out, outlet_type(o, it));
		csv_out_text(&out, "input");
		csv_out_text(&out, it->phase < PHASE_N ? legs[it->phase] : NULL);
		csv_out_end(&out);
	}
}

/* --- interfaces --- */

/* NetBox's word for a connector; the text itself stays in the description. */
static const char *interface_type(const struct port *p)
{
	static const struct {
		const char *part, *word;
	} types[] = {{"qsfp28", "100gbase-x-qsfp28"}, {"qsfp56", "200gbase-x-qsfp56"},
		{"qsfp112", "400gbase-x-qsfp112"}, {"qsfp-dd", "400gbase-x-qsfpdd"},
		{"osfp", "400gbase-x-osfp"}, {"qsfp+", "40gbase-x-qsfpp"},
		{"sfp28", "25gbase-x-sfp28"}, {"sfp+", "10gbase-x-sfpp"},
		{"10gbase-t", "10gbase-t"}, {"rj45", "1000base-t"}};
	static const char *const bands[][2] = {{"xdr", "infiniband-xdr"}, {"ndr", "infiniband-ndr"},
		{"hdr", "infiniband-hdr"}, {"edr", "infiniband-edr"}, {"fdr", "infiniband-fdr"}};

	for (size_t i = 0; p->kind == PORT_INFINIBAND && i < sizeof bands / sizeof *bands; i++)
		if (p->type && strstr(p->type, bands[i][0]))
			return bands[i][1];
	if (p->kind == PORT_INFINIBAND)
		return "infiniband-ndr";
	for (size_t i = 0; p->type && i < sizeof types / sizeof *types; i++)
		if (strstr(p->type, types[i].part))
			return types[i].word;
	return p->kind == PORT_BMC ? "1000base-t" : "other";
}

static void write_interfaces(struct netbox_out *o)
{
	static const char *const head[] = {
		"device", "name", "label", "type", "mgmt_only", "description", NULL};
	static const char *const macs[] = {
		"mac_address", "device", "interface", "is_primary", NULL};
	struct csv_out out = open_file(o, "interfaces.csv", head);

	for (size_t i = 0; i < o->m->ports.n; i++) {
		const struct port *p = &o->m->ports.at[i];

		if (p->kind == PORT_POWER)
			continue;
		if (p->kind == PORT_INFINIBAND && !p->type)
			loss_add(o->losses, LOSS_ASSUMED, "ports", "type",
				"InfiniBand ports without a type are NDR in NetBox");
		csv_out_text(&out, o->m->devices.at[p->device].name);
		csv_out_text(&out, p->name);
		csv_out_text(&out, p->kind == PORT_BMC ? "BMC" : NULL);
		csv_out_text(&out, interface_type(p));
		csv_out_text(&out, p->kind == PORT_BMC ? "true" : "false");
		csv_out_text(&out, arena_printf(o->a, "connector %s", name_or(p->type, "-")));
		csv_out_end(&out);
	}
	out = open_file(o, "mac-addresses.csv", macs);
	for (size_t i = 0; i < o->m->ports.n; i++) {
		const struct port *p = &o->m->ports.at[i];

		if (!p->mac || p->kind == PORT_POWER)
			continue;
		csv_out_text(&out, p->mac);
		csv_out_text(&out, o->m->devices.at[p->device].name);
		csv_out_text(&out, p->name);
		csv_out_text(&out, "true");
		csv_out_end(&out);
	}
}

/* --- cables --- */

static void cable_end(struct csv_out *out, const char *device, const char *panel, const char *type,
	const char *name)
{
	csv_out_text(out, device);
	csv_out_text(out, panel);
	csv_out_text(out, type);
	csv_out_text(out, name);
}

/* What follows the ends: type, status, label, length, unit, description. */
static void cable_rest(
	struct csv_out *out, const char *type, const struct cable *c, struct arena *a)
{
	const bool measured = c && model_stated(c->length_m);

	csv_out_text(out, type);
	csv_out_text(out, "connected");
	csv_out_text(out, c ? c->label : NULL);
	csv_out_num(out, measured ? c->length_m : MODEL_UNSET);
	csv_out_text(out, measured ? "m" : NULL);
	csv_out_text(out, c && c->type ? arena_printf(a, "type %s", c->type) : NULL);
	csv_out_end(out);
}

static const char *cable_type(const struct cable *c)
{
	static const char *const same[] = {
		"cat5", "cat5e", "cat6", "cat6a", "cat7", "cat8", "smf", "mmf", "aoc", NULL};

	if (!c->type)
		return NULL;
	if (model_word(same, c->type) >= 0)
		return c->type;
	if (strncmp(c->type, "dac", 3) == 0)
		return "dac-passive";
	return strncmp(c->type, "aoc", 3) == 0 ? "aoc" : NULL;
}

static void write_pdu_cable(struct netbox_out *o, struct csv_out *out, size_t i)
{
	const struct pdu *p = &o->m->pdus.at[i];

	if (p->upstream.kind == SUPPLY_OUTLET) {
		const struct outlet *up = &o->m->outlets.at[p->upstream.row];

		cable_end(out, o->pdu_names[up->pdu], NULL, "dcim.poweroutlet", up->name);
	} else if (p->feed != MODEL_NONE) {
		const struct feed *f = &o->m->feeds.at[p->feed];

		cable_end(out, NULL, panel_of(o, f), "dcim.powerfeed", f->name);
	} else {
		return;
	}
	cable_end(out, o->pdu_names[i], NULL, "dcim.powerport", "input");
	cable_rest(out, "power", NULL, o->a);
}

static void write_cables(struct netbox_out *o)
{
	static const char *const head[] = {"side_a_device", "side_a_power_panel", "side_a_type",
		"side_a_name", "side_b_device", "side_b_power_panel", "side_b_type", "side_b_name",
		"type", "status", "label", "length", "length_unit", "description", NULL};
	const struct model *m = o->m;
	struct csv_out out = open_file(o, "cables.csv", head);

	for (size_t i = 0; i < m->pdus.n; i++)
		if (o->first_on_feed[i])
			write_pdu_cable(o, &out, i);
	for (size_t i = 0; i < m->cords.n; i++) {
		const struct port *p = &m->ports.at[m->cords.at[i].port];
		const struct outlet *at = &m->outlets.at[m->cords.at[i].outlet];

		cable_end(&out, m->devices.at[p->device].name, NULL, "dcim.powerport", p->name);
		cable_end(&out, o->pdu_names[at->pdu], NULL, "dcim.poweroutlet", at->name);
		cable_rest(&out, "power", NULL, o->a);
	}
	for (size_t i = 0; i < m->cables.n; i++) {
		const struct cable *c = &m->cables.at[i];
		const struct port *a = &m->ports.at[c->a], *b = &m->ports.at[c->b];

		cable_end(&out, m->devices.at[a->device].name, NULL, "dcim.interface", a->name);
		cable_end(&out, m->devices.at[b->device].name, NULL, "dcim.interface", b->name);
		cable_rest(&out, cable_type(c), c, o->a);
	}
}

/* --- what stays behind --- */

/* Every field that some row states and NetBox has no column for. */
static void tell_losses(struct netbox_out *o)
{
	static const struct {
		enum model_noun noun;
		const char *word, *carried[20];
	} nouns[] = {
		{NOUN_LOCATION, "locations", {"name"}},
		{NOUN_RACK, "racks",
			{"name", "location", "height_u", "depth_mm", "footprint_mm", "own_kg",
				"max_weight_kg"}},
		{NOUN_PANEL, "panels", {"name", "location"}},
		{NOUN_FEED, "feeds",
			{"name", "panel", "rack", "volts", "volts_are", "phases", "amps",
				"max_utilization"}},
		{NOUN_PDU, "pdus", {"name", "rack", "feed", "upstream"}},
		{NOUN_OUTLET, "outlets", {"name", "type", "phase"}},
		{NOUN_TYPE, "device_types",
			{"name", "maker", "height_u", "full_depth", "weight_kg", "airflow", "psus",
				"watts.max", "watts.nameplate"}},
		{NOUN_DEVICE, "devices",
			{"name", "type", "role", "rack", "position", "face", "status", "serial"}},
		{NOUN_ZONE, "cooling_zones", {NULL}},
		{NOUN_UNIT, "cooling_units", {NULL}},
		{NOUN_UPS, "upses", {NULL}},
		{NOUN_GENERATOR, "generators", {NULL}},
		{NOUN_BANK, "banks", {NULL}},
		{NOUN_RESERVATION, "reservations", {NULL}},
		{NOUN_N, "site", {"site", "about"}},
	};

	for (size_t k = 0; k < sizeof nouns / sizeof *nouns; k++) {
		const struct model_fields f = model_fields_of(nouns[k].noun);
		const size_t n = nouns[k].noun == NOUN_N ? 1 : model_rows(o->m, nouns[k].noun);

		for (size_t i = 0; i < n; i++)
			for (size_t at = 0; at < f.n; at++)
				if (model_word(nouns[k].carried, f.at[at].key) < 0 &&
					model_row_states(
						&f.at[at], model_row(o->m, nouns[k].noun, i)))
					loss_add(o->losses, LOSS_DROPPED, nouns[k].word,
						f.at[at].key, "%s", "");
	}
	for (size_t i = 0; i < o->m->nodes.n; i++)
		loss_add(o->losses, LOSS_DROPPED, "nodes", "",
			"NetBox's import of devices has no addresses");
}

static void enter_pdus(struct netbox_out *o)
{
	const struct model *m = o->m;
	struct model_index *index = model_index_new();
	bool *fed = arena_alloc(o->a, m->feeds.n + 1);

	o->pdu_names = arena_alloc(o->a, (m->pdus.n + 1) * sizeof *o->pdu_names);
	o->first_on_feed = arena_alloc(o->a, m->pdus.n + 1);
	for (size_t i = 0; i < m->devices.n; i++)
		model_index_put(index, NOUN_DEVICE, 0, m->devices.at[i].name, i);
	for (size_t i = 0; i < m->pdus.n; i++) {
		const struct pdu *p = &m->pdus.at[i];

		o->pdu_names[i] = p->name;
		if (model_index_find(index, NOUN_DEVICE, 0, p->name) != MODEL_NONE)
			o->pdu_names[i] = arena_printf(o->a, "%s-pdu", p->name);
		o->first_on_feed[i] = p->feed == MODEL_NONE || !fed[p->feed];
		if (p->feed != MODEL_NONE)
			fed[p->feed] = true;
		if (!o->first_on_feed[i])
			loss_add(o->losses, LOSS_DROPPED, "pdus", "feed",
				"NetBox takes one cable per feed; '%s' has none there", p->name);
	}
	model_index_free(index);
}

void export_netbox(const struct model *m, struct export_files *out, struct losses *losses)
{
	struct netbox_out o = {.m = m, .files = out, .losses = losses, .a = arena_new()};

	o.cord = arena_alloc(o.a, (m->ports.n + 1) * sizeof *o.cord);
	for (size_t i = 0; i < m->ports.n; i++)
		o.cord[i] = MODEL_NONE;
	for (size_t i = 0; i < m->cords.n; i++)
		o.cord[m->cords.at[i].port] = i;
	enter_pdus(&o);
	write_site(&o);
	write_racks(&o);
	write_makers(&o);
	write_types(&o);
	write_devices(&o);
	write_panels(&o);
	write_feeds(&o);
	write_power_ports(&o);
	write_outlets(&o);
	write_interfaces(&o);
	write_cables(&o);
	tell_losses(&o);
	arena_free(o.a);
}
