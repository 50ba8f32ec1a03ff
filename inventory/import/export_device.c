/* export_device - device types, devices with their cords and nodes, cables. */
#include "inventory/import/export_priv.h"
#include "inventory/model/index.h"

#include <stdio.h>
#include <string.h>

/* --- types --- */

static void write_template(const struct port_template *t, struct buf *out)
{
	if (!t->connector) {
		export_text(out, t->names);
		return;
	}
	buf_add_text(out, "{names: ");
	export_text(out, t->names);
	buf_add_text(out, ", type: ");
	export_text(out, t->connector);
	buf_add_char(out, '}');
}

/* The templates of one kind from *at on: one value, or a list of several. */
static void write_kind(const struct model *m, size_t first, size_t last, struct buf *out)
{
	buf_addf(out, "      %s: %s", model_port_kind_name(m->templates.at[first].kind),
		last - first > 1 ? "[" : "");
	for (size_t i = first; i < last; i++) {
		buf_add_text(out, i > first ? ", " : "");
		write_template(&m->templates.at[i], out);
	}
	buf_add_text(out, last - first > 1 ? "]\n" : "\n");
}

static void write_templates(const struct model *m, size_t type, size_t *at, struct buf *out)
{
	size_t end;

	if (*at >= m->templates.n || m->templates.at[*at].type != type)
		return;
	buf_add_text(out, "    ports:\n");
	while (*at < m->templates.n && m->templates.at[*at].type == type) {
		end = *at;
		while (end < m->templates.n && m->templates.at[end].type == type &&
			m->templates.at[end].kind == m->templates.at[*at].kind)
			end++;
		write_kind(m, *at, end, out);
		*at = end;
	}
}

void export_types(const struct exporter *e)
{
	size_t template = 0;

	buf_add_text(e->out, e->m->types.n ? "device_types:\n" : "");
	for (size_t i = 0; i < e->m->types.n; i++) {
		export_block(e, NOUN_TYPE, i, NULL, 2);
		write_templates(e->m, i, &template, e->out);
	}
}

/* --- nodes --- */

/* The inside of a node's flow map. */
static void write_node(const struct model *m, const struct node *n, bool name, struct buf *out)
{
	const char *inherited = n->device == MODEL_NONE ? NULL : m->devices.at[n->device].role;
	struct flow f = {out, 0};

	buf_add_char(out, '{');
	flow_text(&f, "name", name ? n->name : NULL);
	flow_text(&f, "address", n->address);
	flow_uint(&f, "port", n->port == 22 ? 0 : n->port);
	flow_text(&f, "user", n->user);
	if (n->role && (!inherited || strcmp(n->role, inherited) != 0))
		flow_text(&f, "role", n->role);
	flow_text(&f, "host_key", n->host_key);
	if (n->vars && strcmp(n->vars, "{}") != 0) {
		buf_add_text(out, f.n++ ? ", vars: " : "vars: ");
		export_vars(out, n->vars);
	}
	buf_add_text(out, "}\n");
}

size_t export_inline_nodes(const struct model *m)
{
	size_t n = 0, next = 0;

	while (n < m->nodes.n && m->nodes.at[n].device != MODEL_NONE &&
		m->nodes.at[n].device >= next)
		next = m->nodes.at[n++].device + 1;
	return n;
}

void export_nodes(const struct model *m, struct buf *out)
{
	const size_t first = export_inline_nodes(m);

	buf_add_text(out, first < m->nodes.n ? "nodes:\n" : "");
	for (size_t i = first; i < m->nodes.n; i++) {
		buf_add_text(out, "  - ");
		write_node(m, &m->nodes.at[i], true, out);
	}
}

/* --- devices --- */

/* What the writer of devices looks up: rows by device, and the ports a type gives. */
struct devices {
	const struct model *m;
	struct buf *out;
	struct arena *arena;
	struct model_index *given; /* a port's name of a type -> its template */
	size_t *first_port, *next_port;
	size_t *cord; /* of a port */
	size_t node, inline_nodes;
};

static void note_templates(struct devices *d)
{
	for (size_t i = 0; i < d->m->templates.n; i++) {
		const struct port_template *t = &d->m->templates.at[i];
		struct model_names names = VEC_INIT;

		if (model_expand_range(d->arena, t->names, &names, NULL) == 0)
			vec_each(&names, const char *, name)
				model_index_put(d->given, NOUN_PORT, t->type, *name, i);
		vec_done(&names);
	}
}

static size_t *no_rows(struct arena *a, size_t n)
{
	size_t *rows = arena_alloc(a, (n + 1) * sizeof *rows);

	for (size_t i = 0; i < n; i++)
		rows[i] = MODEL_NONE;
	return rows;
}

/* Backwards, so that each device's chain runs in the model's order. */
static void chain_ports(struct devices *d)
{
	const struct model *m = d->m;

	d->first_port = no_rows(d->arena, m->devices.n);
	d->next_port = no_rows(d->arena, m->ports.n);
	d->cord = no_rows(d->arena, m->ports.n);
	for (size_t i = m->ports.n; i-- > 0;) {
		d->next_port[i] = d->first_port[m->ports.at[i].device];
		d->first_port[m->ports.at[i].device] = i;
	}
	for (size_t i = 0; i < m->cords.n; i++)
		d->cord[m->cords.at[i].port] = i;
}

static bool is_psu(const struct device_type *t, const char *name)
{
	uint64_t n;

	return strncmp(name, "psu", 3) == 0 && name[3] != '0' && str_to_u64(str_of(name + 3), &n) &&
	       n >= 1 && n <= t->psus;
}

/* Writes what the type does not say of a port already; false when it says all. */
static bool write_port(const struct devices *d, const struct port *p, size_t type, bool head)
{
	const struct port_template *t = NULL;
	struct port_template psu = {.kind = PORT_POWER};
	const size_t row = model_index_find(d->given, NOUN_PORT, type, p->name);
	struct flow f = {d->out, 0};
	const char *connector;

	if (type != MODEL_NONE && is_psu(&d->m->types.at[type], p->name))
		t = &psu;
	else if (row != MODEL_NONE)
		t = &d->m->templates.at[row];
	connector =
		p->type && t && t->connector && strcmp(p->type, t->connector) == 0 ? NULL : p->type;
	if (t && t->kind == p->kind && !connector && !p->mac)
		return false;
	buf_add_text(d->out, head ? "    ports:\n" : "");
	buf_add_text(d->out, "      - {");
	flow_text(&f, "name", p->name);
	if (!t || t->kind != p->kind)
		flow_text(&f, "kind", model_port_kind_name(p->kind));
	flow_text(&f, "type", connector);
	flow_text(&f, "mac", p->mac);
	buf_add_text(d->out, "}\n");
	return true;
}

static void write_ports(const struct devices *d, size_t device)
{
	bool any = false;

	for (size_t i = d->first_port[device]; i != MODEL_NONE; i = d->next_port[i])
		if (write_port(d, &d->m->ports.at[i], d->m->devices.at[device].type, !any))
			any = true;
}

static void write_cords(const struct devices *d, size_t device)
{
	const struct model *m = d->m;
	struct flow f = {d->out, 0};

	for (size_t i = d->first_port[device]; i != MODEL_NONE; i = d->next_port[i]) {
		const struct outlet *o;

		if (d->cord[i] == MODEL_NONE)
			continue;
		o = &m->outlets.at[m->cords.at[d->cord[i]].outlet];
		buf_addf(d->out, "%s%s: ", f.n++ ? ", " : "    cords: {", m->ports.at[i].name);
		export_text(
			d->out, arena_printf(d->arena, "%s/%s", m->pdus.at[o->pdu].name, o->name));
	}
	buf_add_text(d->out, f.n ? "}\n" : "");
}

static void write_device(const struct exporter *e, struct devices *d, size_t i)
{
	export_block(e, NOUN_DEVICE, i, NULL, 2);
	write_ports(d, i);
	write_cords(d, i);
	if (d->node < d->inline_nodes && d->m->nodes.at[d->node].device == i) {
		buf_add_text(d->out, "    node: ");
		write_node(d->m, &d->m->nodes.at[d->node++], false, d->out);
	}
}

void export_devices(const struct exporter *e)
{
	struct devices d = {.m = e->m,
		.out = e->out,
		.arena = e->arena,
		.given = model_index_new(),
		.inline_nodes = export_inline_nodes(e->m)};

	note_templates(&d);
	chain_ports(&d);
	buf_add_text(e->out, e->m->devices.n ? "devices:\n" : "");
	for (size_t i = 0; i < e->m->devices.n; i++)
		write_device(e, &d, i);
	model_index_free(d.given);
}

/* --- cables --- */

static void write_end(const struct model *m, const char *key, size_t port, struct flow *f)
{
	const struct port *p = &m->ports.at[port];

	buf_addf(f->out, "%s%s: %s/%s", f->n++ ? ", " : "", key, m->devices.at[p->device].name,
		p->name);
}

void export_cables(const struct model *m, struct buf *out)
{
	buf_add_text(out, m->cables.n ? "cables:\n" : "");
	for (size_t i = 0; i < m->cables.n; i++) {
		const struct cable *c = &m->cables.at[i];
		struct flow f = {out, 0};

		buf_add_text(out, "  - {");
		write_end(m, "a", c->a, &f);
		write_end(m, "b", c->b, &f);
		flow_text(&f, "type", c->type);
		flow_text(&f, "label", c->label);
		flow_num(&f, "length_m", c->length_m);
		buf_add_text(out, "}\n");
	}
}
