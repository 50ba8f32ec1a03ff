#include "inventory/import/xcat.h"

#include "inventory/import/csv.h"
#include "inventory/import/record.h"
#include "inventory/model/index.h"

#include <stdio.h>
#include <string.h>

enum xc_table {
	XC_NODELIST,
	XC_HOSTS,
	XC_MAC,
	XC_NODEPOS,
	XC_IPMI,
	XC_NODETYPE,
	XC_VPD,
	XC_NODEHM,
	XC_RACK,
	XC_N
};
static const char *const STEMS[] = {
	"nodelist", "hosts", "mac", "nodepos", "ipmi", "nodetype", "vpd", "nodehm", "rack", NULL};

#define NICS_MAX 64

struct xcat {
	struct sources *s;
	struct yaml_node *root;
	struct records rows[XC_N];
	struct model_index *index; /* the row of a node or group in a table */
	struct model_index *told;  /* rules that were refused already; racks and types made */
};

static struct yaml_node *new_row(struct xcat *x, const char *section, const struct yaml_node *at)
{
	struct yaml_node *map = tree_map(x->s, at);

	tree_add(x->s, tree_list_of(x->s, x->root, section), map);
	return map;
}

/* --- tables --- */

/* "#node" heads the first column; rows that are disabled do not count. */
static void take_file(struct xcat *x, const struct source_file *f)
{
	struct yaml_node *rows, *columns;
	const int t = model_word(STEMS, f->stem);

	if (!csv_read(x->s, f, ',', &rows, &columns))
		return;
	if (columns->n && str_starts(columns->item[0]->text, "#"))
		columns->item[0]->text = str_from(columns->item[0]->text, 1);
	for (unsigned i = 0; i < rows->n; i++) {
		const struct yaml_node *row = rows->item[i];
		const char *key = record_text(x->s, row, t == XC_RACK ? "rackname" : "node");

		if (t < 0)
			loss_add(x->s->losses, LOSS_DROPPED, f->stem, "", "this table is not read");
		if (t < 0 || record_true(x->s, row, "disable", false))
			continue;
		if (key)
			model_index_put(x->index, (enum model_noun)t, 0, key, x->rows[t].n);
		*vec_push(&x->rows[t]) = row;
	}
}

/* Only xCAT can evaluate "|node(\d+)|10.0.0.($1+10)|". */
static bool is_rule(
	struct xcat *x, const struct yaml_node *cell, const char *table, const char *column)
{
	const char *key;

	if (!str_starts(cell->text, "|"))
		return false;
	key = arena_printf(x->s->arena, "%u:%u", cell->line, cell->col);
	if (model_index_put(x->told, NOUN_N, 0, key, 0) == MODEL_NONE)
		source_fault(x->s, cell, E_UNSUPPORTED,
			arena_printf(x->s->arena,
				"write the values out: 'nodels all %s.%s' shows them", table,
				column),
			"%s.%s holds a rule that only xCAT can evaluate", table, column);
	return true;
}

static const struct yaml_node *cell_of(
	struct xcat *x, enum xc_table t, const char *key, const char *column)
{
	const size_t i = model_index_find(x->index, (enum model_noun)t, 0, key);
	const struct yaml_node *cell =
		i == MODEL_NONE ? NULL : record_get(x->rows[t].at[i], column);

	return cell && !is_rule(x, cell, STEMS[t], column) ? cell : NULL;
}

/* What a table says of a node: in its own row, or in that of one of its groups. */
static const struct yaml_node *value_of(
	struct xcat *x, enum xc_table t, const struct yaml_node *node, const char *column)
{
	const char *name = record_text(x->s, node, "node");
	const struct yaml_node *cell = cell_of(x, t, name, column);
	struct str groups = str_of(record_text(x->s, node, "groups")), group;

	while (!cell && str_next(&groups, ',', &group))
		cell = cell_of(x, t, arena_text(x->s->arena, str_trim(group)), column);
	return cell;
}

static const char *text_of(const struct yaml_node *cell)
{
	return cell ? cell->text.p : NULL;
}

/* --- racks and types --- */

static void make_rack(struct xcat *x, const char *rack, const struct yaml_node *at)
{
	const struct yaml_node *height = cell_of(x, XC_RACK, rack, "height");
	struct yaml_node *out;

	if (model_index_put(x->told, NOUN_RACK, 0, rack, 0) != MODEL_NONE)
		return;
	out = new_row(x, "racks", at);
	tree_put_text(x->s, out, "name", at, source_label(x->s, "rack", rack));
	tree_put_text(x->s, out, "height_u", height, text_of(height));
	if (!height)
		loss_add(x->s->losses, LOSS_ASSUMED, "rack", "height", "42 units");
}

static const char *make_type(
	struct xcat *x, const struct yaml_node *node, const struct yaml_node *at)
{
	const struct yaml_node *mtm = value_of(x, XC_VPD, node, "mtm");
	const struct yaml_node *height = value_of(x, XC_NODEPOS, node, "height");
	const char *units = height ? height->text.p : "1", *name;
	struct yaml_node *out;

	if (!height)
		loss_add(x->s->losses, LOSS_ASSUMED, "nodepos", "height", "one unit");
	name = source_label(
		x->s, NULL, arena_printf(x->s->arena, "%s %su", mtm ? mtm->text.p : "xcat", units));
	if (model_index_put(x->told, NOUN_TYPE, 0, name, 0) != MODEL_NONE)
		return name;
	out = new_row(x, "device_types", at);
	tree_put_text(x->s, out, "name", at, name);
	tree_put_text(x->s, out, "height_u", height ? height : at, units);
	return name;
}

/* --- nodes --- */

/* "aa:bb!node-eth0|cc:dd!*NOIP*": each begins with its address. */
static void put_ports(struct xcat *x, struct yaml_node *out, const struct yaml_node *node)
{
	const struct yaml_node *mac = value_of(x, XC_MAC, node, "mac");
	const struct yaml_node *interface = value_of(x, XC_MAC, node, "interface");
	struct yaml_node *list = tree_list(x->s, node), *port;
	struct str rest = mac ? mac->text : (struct str){"", 0}, part;

	for (unsigned i = 0; i < NICS_MAX && str_next(&rest, '|', &part); i++) {
		const char *name = arena_printf(x->s->arena, "nic%u", i + 1);
		struct str address;

		if (i == 0 && interface)
			name = source_name(x->s, "mac", interface->text.p);
		str_next(&part, '!', &address);
		port = tree_map(x->s, mac);
		tree_put_text(x->s, port, "name", mac, name);
		tree_put(x->s, port, "mac", tree_text(x->s, mac, str_trim(address)));
		tree_add(x->s, list, port);
	}
	if (value_of(x, XC_IPMI, node, "bmc")) {
		port = tree_map(x->s, node);
		tree_put_text(x->s, port, "name", node, "bmc");
		tree_put_text(x->s, port, "kind", node, "bmc");
		tree_add(x->s, list, port);
	}
	if (list && list->n)
		tree_put(x->s, out, "ports", list);
}

/* Groups and the BMC's address serve recipes as variables. */
static struct yaml_node *vars_of(struct xcat *x, const struct yaml_node *node)
{
	const struct yaml_node *bmc = value_of(x, XC_IPMI, node, "bmc");
	struct yaml_node *vars = tree_map(x->s, node), *list = tree_list(x->s, node);
	struct str groups = str_of(record_text(x->s, node, "groups")), group;

	while (str_next(&groups, ',', &group))
		if (str_trim(group).n > 0)
			tree_add(x->s, list,
				tree_text(x->s, record_get(node, "groups"), str_trim(group)));
	if (list && list->n)
		tree_put(x->s, vars, "groups", list);
	tree_put_text(x->s, vars, "bmc", bmc, text_of(bmc));
	return vars;
}

static void put_node(
	struct xcat *x, struct yaml_node *out, const struct yaml_node *node, bool named)
{
	const char *name = record_text(x->s, node, "node");
	const struct yaml_node *ip = value_of(x, XC_HOSTS, node, "ip");
	const struct yaml_node *profile = value_of(x, XC_NODETYPE, node, "profile");
	struct yaml_node *vars = vars_of(x, node);

	if (named)
		tree_put_text(x->s, out, "name", record_get(node, "node"),
			source_name(x->s, "nodelist", name));
	if (!ip)
		loss_add(x->s->losses, LOSS_ASSUMED, "hosts", "ip",
			"nodes without one are reached by their name");
	tree_put_text(x->s, out, "address", ip ? ip : node, ip ? ip->text.p : name);
	if (profile)
		tree_put_text(
			x->s, out, "role", profile, source_name(x->s, "nodetype", profile->text.p));
	if (vars && vars->n)
		tree_put(x->s, out, "vars", vars);
}

static void write_node(struct xcat *x, const struct yaml_node *node)
{
	const char *name = record_text(x->s, node, "node");
	const struct yaml_node *rack = value_of(x, XC_NODEPOS, node, "rack");
	const struct yaml_node *u = value_of(x, XC_NODEPOS, node, "u");
	const struct yaml_node *serial = value_of(x, XC_VPD, node, "serial");
	struct yaml_node *out, *agent;

	if (!name)
		return;
	if (!rack) {
		put_node(x, new_row(x, "nodes", node), node, true);
		return;
	}
	make_rack(x, rack->text.p, rack);
	out = new_row(x, "devices", node);
	tree_put_text(
		x->s, out, "name", record_get(node, "node"), source_name(x->s, "nodelist", name));
	tree_put_text(x->s, out, "type", node, make_type(x, node, rack));
	tree_put_text(x->s, out, "rack", rack, source_label(x->s, NULL, rack->text.p));
	tree_put_text(x->s, out, "position", u, text_of(u));
	tree_put_text(x->s, out, "serial", serial, text_of(serial));
	put_ports(x, out, node);
	agent = tree_map(x->s, node);
	put_node(x, agent, node, false);
	tree_put(x->s, out, "node", agent);
}

static void tell_losses(struct xcat *x)
{
	static const char *const carried[XC_N][8] = {
		[XC_NODELIST] = {"node", "groups"},
		[XC_HOSTS] = {"node", "ip"},
		[XC_MAC] = {"node", "interface", "mac"},
		[XC_NODEPOS] = {"node", "rack", "u", "height"},
		[XC_IPMI] = {"node", "bmc", "password"},
		[XC_NODETYPE] = {"node", "profile"},
		[XC_VPD] = {"node", "serial", "mtm"},
		[XC_NODEHM] = {"node"},
		[XC_RACK] = {"rackname", "height"},
	};

	for (int t = 0; t < XC_N; t++)
		records_losses(x->s, &x->rows[t], STEMS[t], carried[t], NULL);
	for (size_t i = 0; i < x->rows[XC_IPMI].n; i++)
		if (record_get(x->rows[XC_IPMI].at[i], "password"))
			loss_add(x->s->losses, LOSS_DROPPED, "ipmi", "password",
				"secrets are never carried");
}

struct yaml_node *xcat_read(struct sources *s, const struct yaml_node *opts, const char *site)
{
	struct xcat x = {.s = s, .index = model_index_new(), .told = model_index_new()};
	const struct yaml_node *named = yaml_get(opts, "site");

	x.root = tree_new(s, YAML_MAP, s->files.n ? s->files.at[0].first : 0, 1);
	for (size_t i = 0; i < s->files.n; i++)
		take_file(&x, &s->files.at[i]);
	if (!site && named && named->kind == YAML_SCALAR)
		site = named->text.p;
	if (x.rows[XC_NODELIST].n == 0 && s->errors->total == 0)
		source_fault(s, NULL, E_NOTFOUND, "'tabdump nodelist > nodelist.csv' writes it",
			"nothing here is xCAT's table nodelist");
	if (!site)
		source_fault(s, NULL, E_SCHEMA, "say --site NAME", "xCAT has no name for a site");
	if (s->errors->total == 0) {
		tree_put_text(s, x.root, "site", NULL, site);
		for (size_t i = 0; i < x.rows[XC_NODELIST].n; i++)
			write_node(&x, x.rows[XC_NODELIST].at[i]);
		tell_losses(&x);
	}
	for (int t = 0; t < XC_N; t++)
		vec_done(&x.rows[t]);
	model_index_free(x.told);
	model_index_free(x.index);
	return x.root;
}
