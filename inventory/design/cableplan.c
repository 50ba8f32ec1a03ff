/* cableplan - walks the fabric's even splits; nothing is searched. */
#include "inventory/design/cableplan.h"

#include "agent/base/buf.h"

#include <math.h>
#include <stdio.h>

const struct cable_layout CABLE_LAYOUT = {.nodes_per_rack = 4,
	.switches_per_rack = 16,
	.racks_per_row = 16,
	.rack_width_m = 0.6,
	.row_pitch_m = 3.6,
	.unit_m = 0.04445,
	.to_tray_m = 0.5,
	.slack = 0.1,
	.node_units = 8,
	.rack_units = 48};

const char *const CABLE_KIND_NAMES[] = {"dac", "acc", "multimode", "singlemode", NULL};
const char *const CABLE_SEGMENT_NAMES[] = {"node-leaf", "leaf-spine", "spine-core", NULL};

double cable_length_sold(double metres)
{
	static const double sold[] = {0.5, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150};

	for (unsigned i = 0; i < sizeof sold / sizeof sold[0]; i++)
		if (metres <= sold[i] + 1e-6)
			return sold[i];
	return 50 * ceil(metres / 50);
}

enum cable_kind cable_kind_of(double metres)
{
	if (metres <= 3)
		return CABLE_DAC;
	if (metres <= 5)
		return CABLE_ACC;
	return metres <= 50 ? CABLE_MULTIMODE : CABLE_SINGLEMODE;
}

/* --- where things stand: node racks in rows, switch racks behind them --- */

struct place {
	unsigned rack;
	double down; /* from the top of the rack */
};

static struct place place_node(const struct cable_layout *l, uint32_t node)
{
	const unsigned slot = node % l->nodes_per_rack;

	return (struct place){node / l->nodes_per_rack,
		(l->rack_units - (slot + 0.5) * l->node_units) * l->unit_m};
}

/* Leaves, spines, cores one after the other. */
static struct place place_switch(const struct cable_plan *p, unsigned tier, uint32_t at)
{
	const struct fabric *f = p->fabric;
	const struct cable_layout *l = &p->layout;
	const unsigned before[] = {0, f->leaves, f->leaves + f->spines};
	const unsigned first = (f->ask.nodes + l->nodes_per_rack - 1) / l->nodes_per_rack;
	const unsigned n = before[tier] + at;

	return (struct place){
		first + n / l->switches_per_rack, 2.0 * (n % l->switches_per_rack) * l->unit_m};
}

static double distance(const struct cable_layout *l, struct place a, struct place b)
{
	const unsigned row_a = a.rack / l->racks_per_row, row_b = b.rack / l->racks_per_row;
	const double along = fabs((double)(a.rack % l->racks_per_row) - b.rack % l->racks_per_row);
	double m;

	if (a.rack == b.rack)
		m = fabs(a.down - b.down) + 2 * 0.3;
	else
		m = a.down + b.down + 2 * l->to_tray_m + along * l->rack_width_m +
		    fabs((double)row_a - row_b) * l->row_pitch_m;
	return m * (1 + l->slack);
}

static void add(struct cable_plan *p, struct cable_row r)
{
	const unsigned tier = r.segment == CABLE_NODE_LEAF ? 0 : r.segment;
	const struct place a = r.segment == CABLE_NODE_LEAF ? place_node(&p->layout, r.a)
							    : place_switch(p, tier - 1, r.a);
	const struct place b = place_switch(p, tier, r.b);

	r.metres = (float)cable_length_sold(distance(&p->layout, a, b));
	r.kind = (uint8_t)cable_kind_of((double)r.metres);
	p->metres += (double)r.metres;
	p->of_kind[r.kind]++;
	*vec_push(&p->rows) = r;
}

/* --- the three segments --- */

static void add_nodes(struct cable_plan *p)
{
	const struct fabric *f = p->fabric;
	const unsigned unit = f->ask.nodes_per_unit;

	for (uint32_t n = 0; n < f->ask.nodes; n++)
		for (unsigned i = 0; i < f->ask.nics; i++) {
			const uint32_t port = n * f->ask.nics + i;
			struct cable_row r = {.segment = CABLE_NODE_LEAF,
				.a = n,
				.a_port = (uint16_t)i,
				.rail = (uint8_t)i};

			if (f->ask.rails) {
				r.b = n / unit * f->ask.nics + i;
				r.b_port = (uint16_t)(n % unit + 1);
			} else {
				r.b = f->tiers == 1 ? 0 : port / f->leaf_down;
				r.b_port = (uint16_t)((f->tiers == 1 ? port : port % f->leaf_down) +
						      1);
				r.rail = 0;
			}
			add(p, r);
		}
}

/* Leaves of a pod are of one rail where there are rails. */
static void pod_of(const struct fabric *f, uint32_t leaf, uint32_t *pod, uint32_t *at)
{
	const unsigned rails = f->ask.rails && f->tiers == 3 ? f->ask.nics : 1;
	const uint32_t rail = leaf % rails, nth = leaf / rails;

	*pod = rail * f->pods_per_rail + nth / f->leaves_per_pod;
	*at = nth % f->leaves_per_pod;
}

static void add_leaves(struct cable_plan *p)
{
	const struct fabric *f = p->fabric;

	for (uint32_t leaf = 0; leaf < f->leaves; leaf++)
		for (unsigned up = 0; up < f->leaf_up; up++) {
			const unsigned spine = up / f->leaf_links, link = up % f->leaf_links;
			uint32_t pod, at;

			pod_of(f, leaf, &pod, &at);
			add(p, (struct cable_row){.segment = CABLE_LEAF_SPINE,
				       .a = leaf,
				       .b = pod * f->spines_per_pod + spine,
				       .a_port = (uint16_t)(f->leaf_down + up + 1),
				       .b_port = (uint16_t)(at * f->leaf_links + link + 1),
				       .rail = (uint8_t)(f->ask.rails ? leaf % f->ask.nics : 0)});
		}
}

static void add_spines(struct cable_plan *p)
{
	const struct fabric *f = p->fabric;
	const unsigned q = f->spines_per_group;

	for (uint32_t spine = 0; spine < f->spines; spine++)
		for (unsigned up = 0; up < f->spine_up; up++) {
			const unsigned pod = spine / f->spines_per_pod;
			const unsigned in_pod = spine % f->spines_per_pod;
			const unsigned core = up / f->core_links, link = up % f->core_links;

			add(p, (struct cable_row){.segment = CABLE_SPINE_CORE,
				       .a = spine,
				       .b = in_pod / q * f->cores_per_group + core,
				       .a_port = (uint16_t)(f->spine_up + up + 1),
				       .b_port = (uint16_t)((pod * q + in_pod % q) * f->core_links +
							    link + 1),
				       .rail = (uint8_t)(f->ask.rails ? pod / f->pods_per_rail
								      : 0)});
		}
}

int cableplan_make(const struct fabric *f, const struct cable_layout *layout,
	struct cable_plan *out, struct err *err)
{
	*out = (struct cable_plan){.fabric = f, .layout = layout ? *layout : CABLE_LAYOUT};
	if (out->layout.nodes_per_rack == 0 || out->layout.switches_per_rack == 0 ||
		out->layout.racks_per_row == 0)
		return err_set(
			err, E_SCHEMA, "a layout has nodes and switches in racks, racks in rows");
	add_nodes(out);
	if (f->tiers > 1)
		add_leaves(out);
	if (f->tiers > 2)
		add_spines(out);
	return 0;
}

void cableplan_done(struct cable_plan *p)
{
	vec_done(&p->rows);
}

/* --- names --- */

static void name_leaf(const struct fabric *f, uint32_t at, char *out)
{
	if (f->ask.rails)
		snprintf(out, CABLE_NAME, "leaf-%02u-%u", at / f->ask.nics + 1, at % f->ask.nics);
	else
		snprintf(out, CABLE_NAME, "leaf-%03u", at + 1);
}

void cableplan_name(const struct fabric *f, enum cable_segment s, bool b_side, uint32_t at,
	char out[CABLE_NAME])
{
	const unsigned tier = (unsigned)s + b_side; /* 0 node, 1 leaf, 2 spine, 3 core */

	if (tier == 0)
		snprintf(out, CABLE_NAME, "gpu%04u", at + 1);
	else if (tier == 1)
		name_leaf(f, at, out);
	else if (tier == 2 && f->tiers == 2)
		snprintf(out, CABLE_NAME, "spine-%02u", at + 1);
	else if (tier == 2)
		snprintf(out, CABLE_NAME, "spine-%02u-%02u", at / f->spines_per_pod + 1,
			at % f->spines_per_pod + 1);
	else
		snprintf(out, CABLE_NAME, "core-%02u-%02u", at / f->cores_per_group + 1,
			at % f->cores_per_group + 1);
}

void cableplan_port(const struct cable_row *r, bool b_side, char out[CABLE_NAME])
{
	if (r->segment == CABLE_NODE_LEAF && !b_side)
		snprintf(out, CABLE_NAME, "ib%u", r->a_port);
	else
		snprintf(out, CABLE_NAME, "p%u", (unsigned)(b_side ? r->b_port : r->a_port));
}

static void write_row(const struct cable_plan *p, size_t at, bool csv, struct buf *out)
{
	const struct cable_row *r = &p->rows.at[at];
	const enum cable_segment s = (enum cable_segment)r->segment;
	char a[CABLE_NAME], b[CABLE_NAME], pa[CABLE_NAME], pb[CABLE_NAME];

	cableplan_name(p->fabric, s, false, r->a, a);
	cableplan_name(p->fabric, s, true, r->b, b);
	cableplan_port(r, false, pa);
	cableplan_port(r, true, pb);
	if (csv)
		buf_addf(out, "%s,", CABLE_SEGMENT_NAMES[s]);
	buf_addf(out,
		csv ? "%s,%s,%s,%s,%s,C%06zu,%g,%u\n"
		    : "  - {a: %s/%s, b: %s/%s, type: %s, label: C%06zu, length_m: %g}\n",
		a, pa, b, pb, CABLE_KIND_NAMES[r->kind], at + 1, (double)r->metres, r->rail);
}

void cableplan_write_yaml(const struct cable_plan *p, struct buf *out)
{
	buf_add_text(out, "cables:\n");
	for (size_t i = 0; i < p->rows.n; i++)
		write_row(p, i, false, out);
}

void cableplan_write_csv(const struct cable_plan *p, struct buf *out)
{
	buf_add_text(out, "segment,a,a_port,b,b_port,type,label,length_m,rail\n");
	for (size_t i = 0; i < p->rows.n; i++)
		write_row(p, i, true, out);
}
