/*
 * netbox_device - device types as their devices have them, devices with ports and cords, cables.
 *
 * NetBox keeps PSUs and their draws on each device; here they are the type's. So a
 * type becomes as many types as its devices differ (the first keeps the name).
 * A draw per power port may be the device's share or all of it: NetBox does not say.
 */
#include "inventory/import/netbox_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define BY_MAKER 3 /* an owner that no device has: types by "maker|model" */

/* --- types --- */

static const char *maker_of(struct netbox *n, const struct yaml_node *row)
{
	return record_text(n->s, row, "manufacturer");
}

static const char *by_maker(struct netbox *n, const char *maker, const char *model)
{
	return arena_printf(n->s->arena, "%s|%s", maker ? maker : "", model ? model : "");
}

static void index_types(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_TYPES].n; i++) {
		const struct yaml_node *row = n->rows[NB_TYPES].at[i];

		model_index_put(n->index, (enum model_noun)NB_TYPES, BY_MAKER,
			by_maker(n, maker_of(n, row), record_text(n->s, row, "model")), i);
	}
}

static size_t type_of(struct netbox *n, const struct yaml_node *device)
{
	const struct yaml_node *ref = record_get(device, "device_type");
	const char *model = record_text(n->s, device, "device_type");
	const char *maker = maker_of(n, device);
	size_t type = MODEL_NONE;

	if (ref && ref->kind == YAML_MAP) {
		model = record_text(n->s, ref, "model");
		maker = maker_of(n, ref);
		if (record_id(ref))
			type = nb_find_id(n, NB_TYPES, record_id(ref));
	}
	if (type == MODEL_NONE && maker)
		type = model_index_find(
			n->index, (enum model_noun)NB_TYPES, BY_MAKER, by_maker(n, maker, model));
	if (type == MODEL_NONE && model && !maker)
		type = nb_find(n, NB_TYPES, 0, model);
	return type;
}

/* The model, with its maker before it when another maker has a model of that name. */
static const char *type_name(struct netbox *n, size_t type)
{
	const char *model = nb_text(n, NB_TYPES, type, "model");

	if (!model)
		return "";
	if (nb_find(n, NB_TYPES, 0, model) != type)
		model = arena_printf(
			n->s->arena, "%s %s", maker_of(n, n->rows[NB_TYPES].at[type]), model);
	return source_label(n->s, NULL, model);
}

/* --- draws --- */

struct draws {
	unsigned ports, allocated, maximum; /* how many there are, how many state it */
	double sum_allocated, sum_maximum, most_allocated, most_maximum;
};

static void add_draw(double v, unsigned *n, double *sum, double *most)
{
	if (isnan(v))
		return;
	(*n)++;
	*sum += v;
	*most = v > *most ? v : *most;
}

static struct draws draws_of(struct netbox *n, const struct nb_device *d)
{
	struct draws w = {0};

	for (size_t i = d->first[NB_PORTS]; i != MODEL_NONE; i = n->next[NB_PORTS][i]) {
		const struct yaml_node *row = n->rows[NB_PORTS].at[i];

		w.ports++;
		add_draw(record_num(n->s, row, "allocated_draw"), &w.allocated, &w.sum_allocated,
			&w.most_allocated);
		add_draw(record_num(n->s, row, "maximum_draw"), &w.maximum, &w.sum_maximum,
			&w.most_maximum);
	}
	return w;
}

static struct nb_variant variant_of(struct netbox *n, const struct nb_device *d, size_t type)
{
	const struct draws w = draws_of(n, d);
	const bool each = n->draws && strcmp(n->draws, "each") == 0;
	struct nb_variant v = {.type = type,
		.next = MODEL_NONE,
		.psus = w.ports,
		.max = MODEL_UNSET,
		.nameplate = MODEL_UNSET,
		.child = d->child && w.ports == 0};

	if (w.allocated)
		v.max = each ? w.most_allocated : w.sum_allocated;
	if (w.maximum)
		v.nameplate = each ? w.most_maximum : w.sum_maximum;
	v.assumed = !n->draws && (w.allocated > 1 || w.maximum > 1);
	if (v.assumed)
		loss_add(n->s->losses, LOSS_ASSUMED, "power-ports", "draw",
			"the draws of a device's ports were added up; if each port states the whole "
			"device's, say 'draws: each' in the file of --map");
	return v;
}

static bool same_num(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a <= b && a >= b);
}

static const char *variant_name(struct netbox *n, const struct nb_variant *v)
{
	const double watts = isnan(v->max) ? v->nameplate : v->max;
	const char *name = type_name(n, v->type);
	char draw[40] = "";

	if (!isnan(watts))
		snprintf(draw, sizeof draw, " %.10gW", watts);
	loss_add(n->s->losses, LOSS_CHANGED, "device-types", "model",
		"devices of one type differ in power ports or draws; there is a '%.40s %upsu%s' now",
		name, v->psus, draw);
	return source_label(
		n->s, NULL, arena_printf(n->s->arena, "%s %upsu%s", name, v->psus, draw));
}

static void enter_variant(struct netbox *n, struct nb_device *d)
{
	const size_t type = type_of(n, d->row);
	struct nb_variant v;
	size_t *at;

	if (type == MODEL_NONE)
		return;
	v = variant_of(n, d, type);
	for (at = &n->first_variant[type]; *at != MODEL_NONE; at = &n->variants.at[*at].next) {
		const struct nb_variant *o = &n->variants.at[*at];

		if (o->psus == v.psus && o->child == v.child && same_num(o->max, v.max) &&
			same_num(o->nameplate, v.nameplate))
			break;
	}
	if (*at == MODEL_NONE) {
		v.name = at == &n->first_variant[type] ? type_name(n, type) : variant_name(n, &v);
		*at = n->variants.n;
		d->variant = n->variants.n;
		*vec_push(&n->variants) = v; /* at points into the old storage from here on */
		return;
	}
	d->variant = *at;
}

static void put_watts(struct netbox *n, struct yaml_node *out, const struct nb_variant *v)
{
	const struct yaml_node *row = n->rows[NB_TYPES].at[v->type];
	struct yaml_node *watts = tree_map(n->s, row);

	tree_put_num(n->s, watts, "nameplate", row, v->nameplate);
	tree_put_num(n->s, watts, "max", row, v->child ? 0 : v->max);
	if (!watts || watts->n == 0)
		return;
	tree_put(n->s, out, "watts", watts);
	if (v->assumed)
		tree_put_text(n->s, out, "watts_origin", row, "assumed");
	tree_put_text(n->s, out, "watts_source", row,
		v->child ? "counted in its chassis" : "NetBox, draws of the power ports");
}

static void put_airflow(struct netbox *n, struct yaml_node *out, const struct yaml_node *row)
{
	static const char *const side[] = {"left-to-right", "right-to-left", NULL};
	const char *flow = record_word(n->s, row, "airflow");

	if (!flow)
		return;
	if (model_word(side, flow) >= 0)
		flow = "side";
	if (model_word(MODEL_AIRFLOWS, flow) > 0)
		tree_put_text(n->s, out, "airflow", record_get(row, "airflow"), flow);
	else
		loss_add(n->s->losses, LOSS_DROPPED, "device-types", "airflow", "such as '%.40s'",
			flow);
}

static void write_type(struct netbox *n, size_t type, const struct nb_variant *v)
{
	const struct yaml_node *row = n->rows[NB_TYPES].at[type];
	const char *maker = maker_of(n, row);
	struct yaml_node *out = nb_row(n, "device_types", row);

	tree_put_text(
		n->s, out, "name", record_get(row, "model"), v ? v->name : type_name(n, type));
	if (maker && strcmp(maker, "generic") != 0)
		tree_put_text(n->s, out, "maker", record_get(row, "manufacturer"), maker);
	tree_put_num(n->s, out, "height_u", record_get(row, "u_height"),
		record_num(n->s, row, "u_height"));
	if (!record_true(n->s, row, "is_full_depth", true))
		tree_put_text(n->s, out, "full_depth", record_get(row, "is_full_depth"), "false");
	tree_put_num(n->s, out, "weight_kg", record_get(row, "weight"),
		record_kg(n->s, row, "weight", record_word(n->s, row, "weight_unit")));
	put_airflow(n, out, row);
	if (!v)
		return;
	put_watts(n, out, v);
	if (v->psus)
		tree_put_num(n->s, out, "psus", row, v->psus);
}

static void write_types(struct netbox *n)
{
	bool *of_pdu = arena_alloc(n->s->arena, n->rows[NB_TYPES].n + 1);

	index_types(n);
	n->first_variant = arena_alloc(n->s->arena, (n->rows[NB_TYPES].n + 1) * sizeof(size_t));
	for (size_t i = 0; i < n->rows[NB_TYPES].n; i++)
		n->first_variant[i] = MODEL_NONE;
	for (size_t i = 0; i < n->rows[NB_DEVICES].n; i++) {
		if (!n->devices[i].pdu)
			enter_variant(n, &n->devices[i]);
		else if (type_of(n, n->devices[i].row) != MODEL_NONE)
			of_pdu[type_of(n, n->devices[i].row)] = true;
	}
	for (size_t i = 0; i < n->rows[NB_TYPES].n; i++) {
		size_t v = n->first_variant[i];

		if (v == MODEL_NONE && !of_pdu[i])
			write_type(n, i, NULL);
		for (; v != MODEL_NONE; v = n->variants.at[v].next)
			write_type(n, i, &n->variants.at[v]);
	}
}

/* --- where it stands --- */

/* A rack that counts from the top has its unit 1 there; ours is at the bottom. */
static double position_of(struct netbox *n, const struct nb_device *d, double height)
{
	const double at = record_num(n->s, d->row, "position");
	const char *rack = record_text(n->s, d->row, "rack");
	const size_t r = rack ? nb_find(n, NB_RACKS, 0, rack) : MODEL_NONE;
	double first, units;

	if (isnan(at) || r == MODEL_NONE ||
		!record_true(n->s, n->rows[NB_RACKS].at[r], "desc_units", false))
		return at;
	first = record_num(n->s, n->rows[NB_RACKS].at[r], "starting_unit");
	units = record_num(n->s, n->rows[NB_RACKS].at[r], "u_height");
	first = isnan(first) ? 1 : first;
	return 2 * first + (isnan(units) ? 42 : units) - at - (height > 0 ? height : 1);
}

static double height_of(struct netbox *n, const struct nb_device *d)
{
	const size_t type = type_of(n, d->row);

	return type == MODEL_NONE ? 1 : record_num(n->s, n->rows[NB_TYPES].at[type], "u_height");
}

static void put_place(struct netbox *n, const struct nb_device *d, struct yaml_node *out)
{
	const char *rack = record_text(n->s, d->row, "rack");
	const char *face = record_word(n->s, d->row, "face");
	const double at = position_of(n, d, height_of(n, d));

	if (rack)
		tree_put_text(n->s, out, "rack", record_get(d->row, "rack"),
			source_label(n->s, NULL, rack));
	tree_put_num(n->s, out, "position", record_get(d->row, "position"), at);
	if (face && strcmp(face, "rear") == 0)
		tree_put_text(n->s, out, "face", record_get(d->row, "face"), face);
}

/* A PDU takes no units in the model; one that is screwed into some keeps them. */
static void write_pdu_units(struct netbox *n, const struct nb_device *d)
{
	const double height = height_of(n, d);
	const size_t type = type_of(n, d->row);
	struct yaml_node *out;

	if (!record_get(d->row, "position") || !(height > 0) || type == MODEL_NONE)
		return;
	out = nb_row(n, "reservations", d->row);
	tree_put_text(n->s, out, "name", d->row, d->name);
	put_place(n, d, out);
	tree_put_num(n->s, out, "height_u", record_get(d->row, "position"), ceil(height));
	tree_put_text(n->s, out, "full_depth", record_get(d->row, "position"),
		record_true(n->s, n->rows[NB_TYPES].at[type], "is_full_depth", true) ? "true"
										     : "false");
	tree_put_text(n->s, out, "who", record_get(d->row, "position"), "PDU");
	loss_add(n->s->losses, LOSS_CHANGED, "devices", "position",
		"a PDU takes no units here; those of '%.60s' are reserved", d->name);
}

static void put_status(struct netbox *n, const struct nb_device *d, struct yaml_node *out)
{
	const char *status = record_word(n->s, d->row, "status");

	if (!status)
		return;
	if (model_word(MODEL_STATUSES, status) < 0) {
		loss_add(n->s->losses, LOSS_CHANGED, "devices", "status",
			"'%.40s' is 'offline' here", status);
		status = "offline";
	}
	if (strcmp(status, "active") != 0)
		tree_put_text(n->s, out, "status", record_get(d->row, "status"), status);
}

static const char *role_of(struct netbox *n, const struct nb_device *d)
{
	const char *key = record_get(d->row, "role") ? "role" : "device_role";
	const struct yaml_node *ref = record_get(d->row, key);
	const struct yaml_node *slug =
		ref && ref->kind == YAML_MAP ? record_get(ref, "slug") : NULL;
	const char *role = slug ? slug->text.p : record_text(n->s, d->row, key);

	return role && strcmp(role, "unassigned") != 0 ? source_name(n->s, "roles", role) : NULL;
}

/* --- ports and cords --- */

struct psu {
	const char *name;
	size_t row;
};

static int compare_psus(const void *a, const void *b)
{
	const struct psu *x = a, *y = b;

	return model_compare_names(x->name, y->name);
}

static const char *cord_target(struct netbox *n, size_t port)
{
	const struct nb_end *peer = &n->peer[NB_PORTS][port];
	const char *path;

	if (peer->noun == NB_FEEDS)
		return nb_feed_tap(n, peer->row, peer->cable);
	if (peer->noun != NB_OUTLETS) {
		loss_add(n->s->losses, LOSS_ASSUMED, "power-ports", "cable",
			"PSUs without a cable have no cord here; the audit says so");
		return NULL;
	}
	path = nb_outlet_path(n, peer->row);
	if (!path)
		loss_add(n->s->losses, LOSS_DROPPED, "cables", "cord",
			"cords to PDUs that no feed reaches");
	return path;
}

/* Power ports become psu1, psu2 ... in the natural order of their names. */
static void put_cords(struct netbox *n, const struct nb_device *d, struct yaml_node *out)
{
	struct vec(struct psu) psus = VEC_INIT;
	struct yaml_node *cords = tree_map(n->s, d->row);

	for (size_t i = d->first[NB_PORTS]; i != MODEL_NONE; i = n->next[NB_PORTS][i])
		*vec_push(&psus) = (struct psu){nb_text(n, NB_PORTS, i, "name"), i};
	vec_each(&psus, struct psu, p)
		p->name = p->name ? p->name : "";
	vec_sort(&psus, compare_psus);
	for (size_t i = 0; i < psus.n; i++) {
		const char *name = arena_printf(n->s->arena, "psu%zu", i + 1);
		const char *to = cord_target(n, psus.at[i].row);
		const struct nb_end *peer = &n->peer[NB_PORTS][psus.at[i].row];

		if (strcmp(name, psus.at[i].name) != 0)
			loss_add(n->s->losses, LOSS_CHANGED, "power-ports", "name",
				"such as '%.40s', which is '%s' here", psus.at[i].name, name);
		if (to)
			tree_put_text(n->s, cords, name, peer->cable, to);
	}
	vec_done(&psus);
	if (cords && cords->n)
		tree_put(n->s, out, "cords", cords);
}

static bool is_virtual(const char *type)
{
	static const char *const words[] = {
		"virtual", "lag", "bridge", "link-aggregation-group-(lag)", NULL};

	return type && model_word(words, type) >= 0;
}

/* NetBox knows no BMC: a management port whose name or label says so. */
static bool is_bmc(struct netbox *n, const struct yaml_node *row)
{
	static const char *const begins[] = {"bmc", "ipmi", "idrac", "ilo", "xcc", "cimc", NULL};
	const char *name = record_word(n->s, row, "name"), *label = record_word(n->s, row, "label");

	if (!record_true(n->s, row, "mgmt_only", false))
		return false;
	for (int i = 0; begins[i]; i++)
		if ((name && strncmp(name, begins[i], strlen(begins[i])) == 0) ||
			(label && strncmp(label, begins[i], strlen(begins[i])) == 0))
			return true;
	return false;
}

static const char *mac_of(struct netbox *n, size_t interface)
{
	const struct yaml_node *row = n->rows[NB_INTERFACES].at[interface];
	const char *mac = record_word(n->s, row, "primary_mac_address");
	const struct yaml_node *list = yaml_get(row, "mac_addresses");
	const char *name = record_text(n->s, row, "name");
	size_t own;

	if (!mac)
		mac = record_word(n->s, row, "mac_address");
	if (!mac && list && list->kind == YAML_LIST && list->n)
		mac = record_word(n->s, list->item[0], "mac_address");
	if (mac || !name)
		return mac;
	own = nb_find(n, NB_MACS, n->owner[NB_INTERFACES][interface] + 1, name);
	return own == MODEL_NONE ? NULL
				 : record_word(n->s, n->rows[NB_MACS].at[own], "mac_address");
}

static void put_interface(struct netbox *n, size_t i, struct yaml_node *list)
{
	const struct yaml_node *row = n->rows[NB_INTERFACES].at[i];
	const char *name = record_text(n->s, row, "name"), *type = record_word(n->s, row, "type");
	const char *about = record_text(n->s, row, "description");
	const struct yaml_node *at = record_get(row, "name");
	struct yaml_node *out;

	if (is_virtual(type)) {
		loss_add(n->s->losses, LOSS_DROPPED, "interfaces", "virtual, lag, bridge",
			"only sockets are carried");
		return;
	}
	out = tree_map(n->s, row);
	tree_put_text(n->s, out, "name", at, name ? source_name(n->s, "interfaces", name) : NULL);
	if (is_bmc(n, row))
		tree_put_text(n->s, out, "kind", at, "bmc");
	else
		tree_put_text(n->s, out, "kind", at,
			type && strncmp(type, "infiniband", 10) == 0 ? "infiniband" : "ethernet");
	if (about && strncmp(about, "connector ", 10) == 0)
		tree_put_text(
			n->s, out, "type", at, strcmp(about + 10, "-") != 0 ? about + 10 : "");
	else if (type && strcmp(type, "other") != 0)
		tree_put_text(n->s, out, "type", record_get(row, "type"), type);
	if (about && strncmp(about, "connector ", 10) != 0)
		loss_add(n->s->losses, LOSS_DROPPED, "interfaces", "description", "%s", "");
	tree_put_text(n->s, out, "mac", at, mac_of(n, i));
	tree_add(n->s, list, out);
}

/* A machine that may run an agent, if the mapping file says so of its role. */
static void put_node(struct netbox *n, const struct nb_device *d, struct yaml_node *out)
{
	const char *ip = record_text(n->s, d->row, "primary_ip4"), *role = role_of(n, d);
	struct yaml_node *node;

	if (!ip)
		ip = record_text(n->s, d->row, "primary_ip");
	if (!ip)
		return;
	if (!role || !n->node_roles || model_word(n->node_roles, role) < 0) {
		loss_add(n->s->losses, LOSS_DROPPED, "devices", "primary_ip",
			"name the roles that run an agent by 'node_roles' in the file of --map");
		return;
	}
	node = tree_map(n->s, d->row);
	tree_put_text(n->s, node, "address", d->row,
		arena_text(n->s->arena, str_first(str_of(ip), strcspn(ip, "/"))));
	tree_put(n->s, out, "node", node);
}

static void write_device(struct netbox *n, const struct nb_device *d)
{
	struct yaml_node *out = nb_row(n, "devices", d->row), *ports = tree_list(n->s, d->row);
	const struct yaml_node *name = record_get(d->row, "name");
	const struct yaml_node *type = record_get(d->row, "device_type");

	tree_put_text(n->s, out, "name", name ? name : d->row, d->name);
	if (d->variant != MODEL_NONE)
		tree_put_text(n->s, out, "type", type, n->variants.at[d->variant].name);
	else if (type)
		source_fault(n->s, type, E_NOTFOUND, "add it to device-types",
			"the dump has no device type '%.80s'",
			record_text(n->s, type->kind == YAML_MAP ? type : d->row,
				type->kind == YAML_MAP ? "model" : "device_type"));
	tree_put_text(n->s, out, "role", d->row, role_of(n, d));
	put_place(n, d, out);
	put_status(n, d, out);
	tree_put_text(n->s, out, "serial", record_get(d->row, "serial"),
		record_text(n->s, d->row, "serial"));
	for (size_t i = d->first[NB_INTERFACES]; i != MODEL_NONE; i = n->next[NB_INTERFACES][i])
		put_interface(n, i, ports);
	if (ports && ports->n)
		tree_put(n->s, out, "ports", ports);
	put_cords(n, d, out);
	put_node(n, d, out);
	if (d->child)
		loss_add(n->s->losses, LOSS_DROPPED, "devices", "parent_device",
			"which chassis a blade is in; its watts are the chassis'");
}

void nb_write_devices(struct netbox *n)
{
	write_types(n);
	for (size_t i = 0; i < n->rows[NB_DEVICES].n; i++) {
		const struct nb_device *d = &n->devices[i];

		if (!d->pdu)
			write_device(n, d);
		else
			write_pdu_units(n, d);
	}
}

/* --- cables --- */

static double metres(struct netbox *n, const struct yaml_node *row)
{
	static const struct {
		const char *unit;
		double m;
	} units[] = {{"m", 1}, {"cm", 0.01}, {"km", 1000}, {"ft", 0.3048}, {"in", 0.0254},
		{"mi", 1609.344}, {"meters", 1}, {"centimeters", 0.01}, {"feet", 0.3048},
		{"inches", 0.0254}};
	const double v = record_num(n->s, row, "length");
	const char *unit = record_word(n->s, row, "length_unit");

	for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return v * units[i].m;
	if (!isnan(v))
		source_fault(n->s, record_get(row, "length"), E_SCHEMA, "m, cm, ft or in",
			"the cable's length has no known unit");
	return MODEL_UNSET;
}

static const char *end_path(struct netbox *n, size_t interface)
{
	const size_t device = n->owner[NB_INTERFACES][interface];
	const char *type = record_word(n->s, n->rows[NB_INTERFACES].at[interface], "type");

	if (device == MODEL_NONE || n->devices[device].pdu || is_virtual(type))
		return NULL;
	return arena_printf(n->s->arena, "%s/%s", n->devices[device].name,
		source_name(n->s, NULL, nb_text(n, NB_INTERFACES, interface, "name")));
}

static void write_cable(
	struct netbox *n, const struct yaml_node *cable, const char *a, const char *b)
{
	const char *about = record_text(n->s, cable, "description");
	const bool typed = about && strncmp(about, "type ", 5) == 0; /* by our export */
	struct yaml_node *out = nb_row(n, "cables", cable);

	tree_put_text(n->s, out, "a", cable, a);
	tree_put_text(n->s, out, "b", cable, b);
	tree_put_text(n->s, out, "type", typed ? cable : record_get(cable, "type"),
		typed ? about + 5 : record_word(n->s, cable, "type"));
	tree_put_text(
		n->s, out, "label", record_get(cable, "label"), record_text(n->s, cable, "label"));
	tree_put_num(n->s, out, "length_m", record_get(cable, "length"), metres(n, cable));
	if (about && !typed)
		loss_add(n->s->losses, LOSS_DROPPED, "cables", "description", "%s", "");
}

void nb_write_cables(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_CABLES].n; i++) {
		const struct nb_end *ends = n->ends[i];
		const char *a, *b;

		if (ends[0].noun != NB_INTERFACES || ends[1].noun != NB_INTERFACES)
			continue;
		a = end_path(n, ends[0].row);
		b = end_path(n, ends[1].row);
		if (a && b)
			write_cable(n, ends[0].cable, a, b);
		else
			loss_add(n->s->losses, LOSS_DROPPED, "cables", "interface",
				"cables to network sockets of PDUs");
	}
}
