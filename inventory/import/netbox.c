#include "inventory/import/netbox.h"

#include "inventory/import/csv.h"
#include "inventory/import/json_tree.h"
#include "inventory/import/netbox_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const NB_NOUNS[] = {"sites", "locations", "racks", "device-types", "devices",
	"power-panels", "power-feeds", "power-ports", "power-outlets", "interfaces", "cables",
	"mac-addresses", NULL};

/* Headings of NetBox's table exports that are not the field's name. */
static const struct {
	enum nb_noun noun;
	const char *heading, *field;
} HEADINGS[] = {
	{NB_RACKS, "height", "u_height"},
	{NB_TYPES, "device_type", "model"},
	{NB_TYPES, "full_depth", "is_full_depth"},
	{NB_TYPES, "parent/child", "subdevice_role"},
	{NB_DEVICES, "type", "device_type"},
	{NB_DEVICES, "ip_address", "primary_ip"},
	{NB_DEVICES, "ipv4_address", "primary_ip4"},
	{NB_FEEDS, "panel", "power_panel"},
	{NB_INTERFACES, "management_only", "mgmt_only"},
	{NB_OUTLETS, "leg", "feed_leg"},
};

/* --- look-ups --- */

size_t nb_find(const struct netbox *n, enum nb_noun noun, size_t owner, const char *name)
{
	return model_index_find(n->index, (enum model_noun)noun, owner * 2, name);
}

size_t nb_find_id(const struct netbox *n, enum nb_noun noun, const char *id)
{
	return model_index_find(n->index, (enum model_noun)noun, 1, id);
}

const char *nb_text(const struct netbox *n, enum nb_noun noun, size_t row, const char *key)
{
	return record_text(n->s, n->rows[noun].at[row], key);
}

size_t nb_device_of(struct netbox *n, const struct yaml_node *row, const char *key, bool must)
{
	const struct yaml_node *ref = record_get(row, key);
	const char *name = record_text(n->s, row, key);
	const char *id = ref && ref->kind == YAML_MAP ? record_id(ref) : NULL;
	size_t device = id ? nb_find_id(n, NB_DEVICES, id) : MODEL_NONE;

	if (device == MODEL_NONE && name)
		device = nb_find(n, NB_DEVICES, 0, name);
	if (device == MODEL_NONE && must && !n->others)
		source_fault(n->s, ref ? ref : row, E_NOTFOUND,
			"add the devices' table to the dump", "there is no device '%.80s'",
			name ? name : "");
	return device;
}

struct yaml_node *nb_row(struct netbox *n, const char *section, const struct yaml_node *at)
{
	struct yaml_node *map = tree_map(n->s, at);

	tree_add(n->s, tree_list_of(n->s, n->root, section), map);
	return map;
}

/* --- tables --- */

static enum nb_noun noun_of_word(struct str word)
{
	for (int i = 0; i < NB_N; i++)
		if (str_is(word, NB_NOUNS[i]))
			return (enum nb_noun)i;
	return NB_N;
}

/* "dcim-devices-2" and "netbox_devices_page3" are devices. */
static enum nb_noun noun_of_stem(const char *stem)
{
	static const char *const before[] = {"netbox-", "dcim-", NULL};
	static const char *const after[] = {"-page-", "-page", "-p", "-", NULL};
	struct str word = str_of(stem);
	enum nb_noun noun = NB_N;

	for (int i = 0; before[i]; i++)
		if (str_starts(word, before[i]))
			word = str_from(word, strlen(before[i]));
	while (word.n > 0 && isdigit((unsigned char)word.p[word.n - 1]))
		word.n--;
	for (int i = 0; noun == NB_N && after[i]; i++)
		if (str_ends(word, after[i]))
			noun = noun_of_word(str_first(word, word.n - strlen(after[i])));
	return noun == NB_N ? noun_of_word(word) : noun;
}

/* ".../api/dcim/devices/12/" is of devices. */
static enum nb_noun noun_of_url(const struct yaml_node *row)
{
	const struct yaml_node *url = record_get(row, "url");
	const size_t at = url && url->kind == YAML_SCALAR
				  ? str_find_str(url->text, STR_LIT("/api/dcim/"))
				  : STR_NONE;
	struct str rest, word = {"", 0};

	if (at == STR_NONE)
		return NB_N;
	rest = str_from(url->text, at + 10);
	str_next(&rest, '/', &word);
	return noun_of_word(word);
}

static void take_rows(struct netbox *n, enum nb_noun noun, const struct yaml_node *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		if (list->item[i]->kind == YAML_MAP)
			*vec_push(&n->rows[noun]) = list->item[i];
		else
			source_fault(n->s, list->item[i], E_SCHEMA, NULL,
				"a row of %s must be an object", NB_NOUNS[noun]);
	}
}

static void skip_table(struct netbox *n, const char *word, const struct yaml_node *list)
{
	for (unsigned i = 0; i < list->n; i++)
		loss_add(n->s->losses, LOSS_DROPPED, word, "", "this table is not read");
}

/* One page or array; the file's name tells the noun when no row does. */
static enum nb_noun take_list(
	struct netbox *n, const struct source_file *f, const struct yaml_node *list)
{
	enum nb_noun noun = list->n ? noun_of_url(list->item[0]) : NB_N;
	const bool named = list->n && record_get(list->item[0], "url");

	if (noun == NB_N && !named)
		noun = noun_of_stem(f->stem);
	if (noun == NB_N && !named)
		noun = noun_of_stem(f->folder);
	if (noun == NB_N)
		skip_table(n, f->stem, list);
	else
		take_rows(n, noun, list);
	return noun;
}

/* A page knows how many rows there are in all: fewer in the dump is a dump cut short. */
struct page_count {
	const struct yaml_node *at;
	uint64_t count;
};

/* {"sites": [...], "racks": [...]} in one file. */
static void take_object(struct netbox *n, const struct source_file *f, const struct yaml_node *root)
{
	for (unsigned i = 0; i < root->n; i++) {
		const struct yaml_node *v = root->item[i], *inner = yaml_get(v, "results");
		char *word = arena_text(n->s->arena, root->key[i]->text);

		for (char *p = word; *p; p++)
			*p = *p == '_' ? '-' : *p;
		v = inner ? inner : v;
		if (v->kind == YAML_LIST && noun_of_stem(word) < NB_N)
			take_rows(n, noun_of_stem(word), v);
		else
			loss_add(n->s->losses, LOSS_DROPPED, f->stem, word, "%s", "");
	}
}

static void take_json(struct netbox *n, const struct source_file *f, struct page_count *counts)
{
	const struct yaml_node *root = json_tree_parse(n->s, f);
	const struct yaml_node *results = yaml_get(root, "results");
	const struct yaml_node *count = record_get(root, "count");
	enum nb_noun noun;

	if (!root)
		return;
	if (root->kind == YAML_MAP && !results) {
		take_object(n, f, root);
		return;
	}
	if ((results ? results : root)->kind != YAML_LIST) {
		source_fault(n->s, root, E_SCHEMA, "an array of objects, or a page with 'results'",
			"this is no list of NetBox's objects");
		return;
	}
	noun = take_list(n, f, results ? results : root);
	if (noun < NB_N && count && str_to_u64(count->text, &counts[noun].count))
		counts[noun].at = count;
}

/* "Power panel" is power_panel; what stands in parentheses goes. */
static void field_names(struct netbox *n, enum nb_noun noun, struct yaml_node *columns)
{
	for (unsigned i = 0; i < columns->n; i++) {
		char *name = arena_text(n->s->arena, columns->item[i]->text);
		char *open = strstr(name, " (");

		if (open)
			*open = '\0';
		for (char *p = name; *p; p++)
			*p = *p == ' ' || *p == '-' ? '_' : (char)tolower((unsigned char)*p);
		for (size_t k = 0; k < sizeof HEADINGS / sizeof *HEADINGS; k++)
			if (HEADINGS[k].noun == noun && strcmp(HEADINGS[k].heading, name) == 0)
				name = arena_strdup(n->s->arena, HEADINGS[k].field);
		columns->item[i]->text = str_of(name);
	}
}

static void take_csv(struct netbox *n, const struct source_file *f)
{
	struct yaml_node *rows, *columns;
	enum nb_noun noun = noun_of_stem(f->stem);

	if (!csv_read(n->s, f, 0, &rows, &columns))
		return;
	if (noun == NB_N) {
		skip_table(n, f->stem, rows);
		return;
	}
	field_names(n, noun, columns);
	take_rows(n, noun, rows);
}

static void take_files(struct netbox *n)
{
	struct page_count counts[NB_N] = {{NULL, 0}};

	for (size_t i = 0; i < n->s->files.n; i++) {
		const struct source_file *f = &n->s->files.at[i];

		if (str_ends(str_of(f->path), ".csv") || str_ends(str_of(f->path), ".CSV"))
			take_csv(n, f);
		else
			take_json(n, f, counts);
	}
	for (int i = 0; i < NB_N; i++)
		if (counts[i].at && counts[i].count > n->rows[i].n)
			source_fault(n->s, counts[i].at, E_CONFLICT,
				"fetch all pages: '?limit=0', or follow 'next'",
				"the dump has %zu of %llu %s", n->rows[i].n,
				(unsigned long long)counts[i].count, NB_NOUNS[i]);
}

/* --- which site --- */

static const char *site_of(const struct netbox *n, const struct yaml_node *row)
{
	return record_text(n->s, row, "site");
}

/* The only site of the rows, or the one asked for. */
static void choose_site(struct netbox *n, const char *wanted)
{
	static const enum nb_noun with_site[] = {NB_RACKS, NB_DEVICES, NB_PANELS, NB_LOCATIONS};
	const char *first = NULL, *second = NULL;
	bool found = false;

	for (size_t k = 0; k < sizeof with_site / sizeof *with_site; k++)
		for (size_t i = 0; i < n->rows[with_site[k]].n; i++) {
			const char *site = site_of(n, n->rows[with_site[k]].at[i]);

			if (!site)
				continue;
			found = found || (wanted && strcmp(site, wanted) == 0);
			if (!first)
				first = site;
			else if (!second && strcmp(first, site) != 0)
				second = site;
		}
	if (!first && n->rows[NB_SITES].n)
		first = nb_text(n, NB_SITES, 0, "name");
	if (wanted && (found || second))
		first = wanted;
	n->site = first ? first : wanted;
	if (second && !found && wanted)
		source_fault(n->s, NULL, E_NOTFOUND, "name one of the dump's by --site",
			"the dump has no site '%.60s'", wanted);
	else if (second && !found)
		source_fault(n->s, NULL, E_CONFLICT, "choose one by --site NAME",
			"the dump is of several sites: '%.60s', '%.60s' and perhaps more", first,
			second);
}

/* Leaves out what names another site. */
static void keep_site(struct netbox *n)
{
	static const enum nb_noun with_site[] = {
		NB_LOCATIONS, NB_RACKS, NB_DEVICES, NB_PANELS, NB_FEEDS};

	for (size_t k = 0; n->site && k < sizeof with_site / sizeof *with_site; k++) {
		struct records *rows = &n->rows[with_site[k]];
		size_t kept = 0;

		for (size_t i = 0; i < rows->n; i++) {
			const char *site = site_of(n, rows->at[i]);

			if (!site || strcmp(site, n->site) == 0)
				rows->at[kept++] = rows->at[i];
			else
				loss_add(n->s->losses, LOSS_DROPPED, NB_NOUNS[with_site[k]], "site",
					"of other sites; import them apart by --site");
		}
		n->others = n->others || kept < rows->n;
		rows->n = kept;
	}
}

/* --- rows by name --- */

static void index_rows(struct netbox *n, enum nb_noun noun)
{
	const char *key = noun == NB_TYPES ? "model" : "name";

	for (size_t i = 0; i < n->rows[noun].n; i++) {
		const struct yaml_node *row = n->rows[noun].at[i];
		const char *name = record_text(n->s, row, key), *id = record_id(row);
		const size_t owner = n->owner[noun] ? n->owner[noun][i] + 1 : 0;

		if (!name && id)
			name = arena_printf(n->s->arena, "unnamed-%s", id);
		if (name)
			model_index_put(n->index, (enum model_noun)noun, owner * 2, name, i);
		if (id)
			model_index_put(n->index, (enum model_noun)noun, 1, id, i);
	}
}

static void enter_devices(struct netbox *n)
{
	const struct records *rows = &n->rows[NB_DEVICES];

	n->devices = arena_alloc(n->s->arena, (rows->n + 1) * sizeof *n->devices);
	for (size_t i = 0; i < rows->n; i++) {
		struct nb_device *d = &n->devices[i];
		const char *name = record_text(n->s, rows->at[i], "name");

		d->row = rows->at[i];
		if (!name) {
			name = arena_printf(n->s->arena, "unnamed-%s",
				record_id(d->row) ? record_id(d->row) : "0");
			loss_add(n->s->losses, LOSS_CHANGED, "devices", "name",
				"a device without a name is '%s' here", name);
		}
		d->name = source_name(n->s, "devices", name);
		d->child = record_get(d->row, "parent_device") || record_get(d->row, "parent");
		d->variant = MODEL_NONE;
		for (int k = 0; k < NB_N; k++)
			d->first[k] = MODEL_NONE;
	}
	index_rows(n, NB_DEVICES);
}

/* Components: their device, and the chain of each device's in the file's order. */
static void enter_components(struct netbox *n, enum nb_noun noun)
{
	const size_t count = n->rows[noun].n;

	n->owner[noun] = arena_alloc(n->s->arena, (count + 1) * sizeof(size_t));
	n->next[noun] = arena_alloc(n->s->arena, (count + 1) * sizeof(size_t));
	for (size_t i = count; i-- > 0;) {
		const size_t d = nb_device_of(n, n->rows[noun].at[i], "device", true);

		n->owner[noun][i] = d;
		n->next[noun][i] = MODEL_NONE;
		if (d == MODEL_NONE)
			continue;
		n->next[noun][i] = n->devices[d].first[noun];
		n->devices[d].first[noun] = i;
		if (noun == NB_OUTLETS)
			n->devices[d].pdu = true;
	}
	index_rows(n, noun);
}

/* Tables of addresses of their own (NetBox 4.2 and later): by device and interface. */
static void index_macs(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_MACS].n; i++) {
		const struct yaml_node *row = n->rows[NB_MACS].at[i];
		const char *interface = record_text(n->s, row, "interface");
		size_t device;

		if (!interface) /* JSON: the interface has it too */
			continue;
		device = nb_device_of(n, row, "device", true);
		if (device != MODEL_NONE)
			model_index_put(
				n->index, (enum model_noun)NB_MACS, (device + 1) * 2, interface, i);
	}
}

/* A PDU whose outlets nobody has entered is known by its role. */
static void mark_pdus(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_DEVICES].n; i++) {
		const char *role = record_word(n->s, n->devices[i].row, "role");

		if (!role)
			role = record_word(n->s, n->devices[i].row, "device_role");
		if (role && strcmp(role, "pdu") == 0)
			n->devices[i].pdu = true;
	}
}

static void enter_rows(struct netbox *n)
{
	static const enum nb_noun components[] = {NB_PORTS, NB_OUTLETS, NB_INTERFACES};
	static const enum nb_noun plain[] = {NB_RACKS, NB_TYPES, NB_PANELS, NB_FEEDS};

	enter_devices(n);
	for (size_t i = 0; i < sizeof components / sizeof *components; i++)
		enter_components(n, components[i]);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		index_rows(n, plain[i]);
	index_macs(n);
	mark_pdus(n);
	for (int i = 0; i < NB_N; i++) {
		n->peer[i] = arena_alloc(n->s->arena, (n->rows[i].n + 1) * sizeof *n->peer[i]);
		for (size_t k = 0; k <= n->rows[i].n; k++)
			n->peer[i][k].noun = NB_N;
	}
}

/* --- rooms --- */

static void write_locations(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_LOCATIONS].n; i++) {
		const struct yaml_node *row = n->rows[NB_LOCATIONS].at[i];
		const char *name = record_text(n->s, row, "name");

		if (!name)
			continue;
		tree_add(n->s, tree_list_of(n->s, n->root, "locations"),
			tree_text(n->s, record_get(row, "name"),
				str_of(source_name(n->s, "locations", name))));
	}
}

static void put_outer(struct netbox *n, struct yaml_node *out, const struct yaml_node *row)
{
	const double w = record_num(n->s, row, "outer_width"),
		     d = record_num(n->s, row, "outer_depth");
	const char *unit = record_word(n->s, row, "outer_unit");
	const double mm = unit && strncmp(unit, "in", 2) == 0 ? 25.4 : 1;
	struct yaml_node *print;

	if (!isnan(d))
		tree_put_num(n->s, out, "depth_mm", record_get(row, "outer_depth"), d * mm);
	if (isnan(d) || isnan(w))
		return;
	print = tree_list(n->s, record_get(row, "outer_width"));
	for (int i = 0; i < 2; i++)
		tree_add(n->s, print,
			tree_text(n->s, record_get(row, "outer_width"),
				str_of(arena_printf(n->s->arena, "%.10g", (i ? d : w) * mm))));
	tree_put(n->s, out, "footprint_mm", print);
}

static void write_rack(struct netbox *n, const struct yaml_node *row)
{
	struct yaml_node *out = nb_row(n, "racks", row);
	const char *name = record_text(n->s, row, "name");
	const char *location = record_text(n->s, row, "location");
	const char *unit = record_word(n->s, row, "weight_unit");
	const double first = record_num(n->s, row, "starting_unit");

	tree_put_text(n->s, out, "name", record_get(row, "name"),
		name ? source_label(n->s, "racks", name) : NULL);
	if (location)
		tree_put_text(n->s, out, "location", record_get(row, "location"),
			source_name(n->s, NULL, location));
	tree_put_num(n->s, out, "height_u", record_get(row, "u_height"),
		record_num(n->s, row, "u_height"));
	if (first > 1)
		tree_put_num(n->s, out, "first_u", record_get(row, "starting_unit"), first);
	tree_put_num(n->s, out, "own_kg", record_get(row, "weight"),
		record_kg(n->s, row, "weight", unit));
	tree_put_num(n->s, out, "max_weight_kg", record_get(row, "max_weight"),
		record_kg(n->s, row, "max_weight", unit));
	put_outer(n, out, row);
	if (record_true(n->s, row, "desc_units", false))
		loss_add(n->s->losses, LOSS_CHANGED, "racks", "desc_units",
			"units count from the bottom here; positions were turned round");
}

static void write_site(struct netbox *n)
{
	const struct yaml_node *row = NULL;
	const size_t i = n->site ? nb_find(n, NB_SITES, 0, n->site) : MODEL_NONE;

	if (i != MODEL_NONE)
		row = n->rows[NB_SITES].at[i];
	tree_put_text(
		n->s, n->root, "site", row, n->site ? source_name(n->s, "sites", n->site) : "");
	tree_put_text(n->s, n->root, "about", record_get(row, "description"),
		record_text(n->s, row, "description"));
	write_locations(n);
	for (size_t k = 0; k < n->rows[NB_RACKS].n; k++)
		write_rack(n, n->rows[NB_RACKS].at[k]);
}

/* --- what stays behind --- */

static void tell_losses(struct netbox *n)
{
	static const char *const carried[NB_N][24] = {
		[NB_SITES] = {"name", "description"},
		[NB_LOCATIONS] = {"name", "site", "_depth"},
		[NB_RACKS] = {"name", "site", "location", "u_height", "starting_unit", "desc_units",
			"weight", "max_weight", "weight_unit", "outer_width", "outer_depth",
			"outer_unit"},
		[NB_TYPES] = {"manufacturer", "model", "u_height", "is_full_depth", "weight",
			"weight_unit", "airflow", "subdevice_role"},
		[NB_DEVICES] = {"name", "device_type", "manufacturer", "role", "device_role",
			"site", "location", "rack", "position", "face", "serial", "primary_ip",
			"primary_ip4", "primary_ip6", "parent_device", "parent"},
		[NB_PANELS] = {"name", "site", "location"},
		[NB_FEEDS] = {"name", "site", "location", "power_panel", "rack", "phase", "voltage",
			"amperage", "max_utilization", "supply", "type"},
		[NB_PORTS] = {"device", "name", "type", "maximum_draw", "allocated_draw"},
		[NB_OUTLETS] = {"device", "name", "type", "power_port", "feed_leg"},
		[NB_INTERFACES] = {"device", "name", "type", "mgmt_only", "mac_address",
			"primary_mac_address", "mac_addresses", "label", "description"},
		[NB_CABLES] = {"a_terminations", "b_terminations", "termination_a",
			"termination_a_type", "termination_a_id", "termination_b",
			"termination_b_type", "termination_b_id", "side_a_site", "side_a_device",
			"side_a_power_panel", "side_a_type", "side_a_name", "side_b_site",
			"side_b_device", "side_b_power_panel", "side_b_type", "side_b_name", "type",
			"label", "length", "length_unit", "description"},
		[NB_MACS] = {"mac_address", "device", "interface", "is_primary", "assigned_object",
			"assigned_object_type", "assigned_object_id"},
	};
	static const char *const ordinary[] = {"active", "connected", NULL};
	static const char *const ignored[] = {"status", NULL};

	for (int i = 0; i < NB_N; i++) {
		records_losses(n->s, &n->rows[i], NB_NOUNS[i], carried[i], ignored);
		for (size_t k = 0; i != NB_DEVICES && k < n->rows[i].n; k++) {
			const char *status = record_word(n->s, n->rows[i].at[k], "status");

			if (status && model_word(ordinary, status) < 0)
				loss_add(n->s->losses, LOSS_DROPPED, NB_NOUNS[i], "status",
					"such as '%.40s'", status);
		}
	}
}

/* --- all of it --- */

static const char *setting(
	struct netbox *n, const struct yaml_node *opts, const char *key, const char *const *words)
{
	const struct yaml_node *v = yaml_get(opts, key);
	const char *text = v && v->kind == YAML_SCALAR ? v->text.p : NULL;

	if (!v || (text && model_word(words, text) >= 0))
		return text;
	source_fault(
		n->s, v, E_SCHEMA, words[1], "'%s' must be '%s' or '%s'", key, words[0], words[1]);
	return NULL;
}

static void read_settings(struct netbox *n, const struct yaml_node *opts)
{
	static const char *const draws[] = {"sum", "each", NULL}, *const are[] = {"LL", "LN", NULL};
	const struct yaml_node *roles = yaml_get(opts, "node_roles");
	const char **list;

	n->draws = setting(n, opts, "draws", draws);
	n->volts_are = setting(n, opts, "three_phase_volts", are);
	if (!roles || roles->kind != YAML_LIST)
		return;
	list = arena_alloc(n->s->arena, (roles->n + 1) * sizeof *list);
	for (unsigned i = 0; i < roles->n; i++)
		list[i] = roles->item[i]->kind == YAML_SCALAR ? roles->item[i]->text.p : "";
	n->node_roles = list;
}

struct yaml_node *netbox_read(struct sources *s, const struct yaml_node *opts, const char *site)
{
	struct netbox n = {.s = s, .index = model_index_new()};

	n.root = tree_new(s, YAML_MAP, s->files.n ? s->files.at[0].first : 0, 1);
	read_settings(&n, opts);
	take_files(&n);
	if (n.rows[NB_RACKS].n + n.rows[NB_DEVICES].n == 0 && s->errors->total == 0)
		source_fault(s, NULL, E_NOTFOUND,
			"files are told by their names: racks.json, devices.csv, power-feeds.json ...",
			"nothing here is a table of racks or devices of NetBox");
	if (n.rows[NB_DEVICES].n > 0 && n.rows[NB_TYPES].n == 0 && s->errors->total == 0)
		source_fault(s, n.rows[NB_DEVICES].at[0], E_NOTFOUND,
			"add device-types.json (or .csv): heights and weights are there",
			"the dump has devices but no device types");
	if (s->errors->total == 0) { /* half a table would only give errors that are none */
		choose_site(&n, site);
		keep_site(&n);
		index_rows(&n, NB_SITES);
		enter_rows(&n);
		nb_read_ends(&n);
		write_site(&n);
		nb_write_power(&n);
		nb_write_devices(&n);
		nb_write_cables(&n);
		tell_losses(&n);
	}
	for (int i = 0; i < NB_N; i++)
		vec_done(&n.rows[i]);
	vec_done(&n.variants);
	model_index_free(n.index);
	return n.root;
}
