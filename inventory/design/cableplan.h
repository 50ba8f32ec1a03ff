/*
 * cableplan - every cable of a fabric: both ends with their ports, length, kind, label. Pure.
 *
 * Names are made, not stored: node "gpu0001" port "ib3", "leaf-01-3" (unit, rail) or "leaf-001",
 * "spine-01" or "spine-02-05" (pod, spine), "core-01-05" (group, core); ports of switches are "p1"
 * upwards, nodes first, then up. One row takes 20 bytes.
 * Further endpoints (fabric managers, gateways) have no rows: they take free ports of leaves.
 */
#pragma once

#include "agent/base/vec.h"
#include "inventory/design/fabric.h"

struct buf;

#define CABLE_NAME 32

enum cable_segment {
	CABLE_NODE_LEAF,
	CABLE_LEAF_SPINE,
	CABLE_SPINE_CORE,
	CABLE_SEGMENTS
};
enum cable_kind {
	CABLE_DAC,        /* to 3 m */
	CABLE_ACC,        /* active copper, to 5 m */
	CABLE_MULTIMODE,  /* to 50 m */
	CABLE_SINGLEMODE, /* beyond */
	CABLE_KINDS
};

/* Where racks stand and what is in them; metres. */
struct cable_layout {
	unsigned nodes_per_rack, switches_per_rack, racks_per_row;
	double rack_width_m, row_pitch_m, unit_m;
	double to_tray_m; /* from the top of a rack to the tray */
	double slack;     /* 0.1: a tenth more */
	unsigned node_units, rack_units;
};
extern const struct cable_layout CABLE_LAYOUT; /* 4 nodes of 8U and 48U racks in rows of 16 */

struct cable_row {
	uint32_t a, b; /* node, leaf, spine, core by segment; counted over the fabric */
	uint16_t a_port, b_port;
	uint8_t segment, kind, rail; /* rail: 0 without rails */
	float metres;                /* as it is ordered */
};
struct cable_plan {
	const struct fabric *fabric;
	struct cable_layout layout;
	struct vec(struct cable_row) rows;
	double metres;
	unsigned of_kind[CABLE_KINDS];
};

/* rows of the given fabric, which must outlive them; cableplan_done is the caller's. */
int cableplan_make(const struct fabric *f, const struct cable_layout *layout,
	struct cable_plan *out, struct err *err);
void cableplan_done(struct cable_plan *p);
/* "gpu0001", "leaf-01-3" */
void cableplan_name(const struct fabric *f, enum cable_segment s, bool b_side, uint32_t at,
	char out[CABLE_NAME]);
void cableplan_port(const struct cable_row *r, bool b_side, char out[CABLE_NAME]);
/* Length that is sold, the next above: 0.5 1 1.5 2 3 5 7 10 15 20 30 50 ... [m] */
double cable_length_sold(double metres);
enum cable_kind cable_kind_of(double metres); /* [sizing 2.1, length classes; recalled] */
extern const char *const CABLE_KIND_NAMES[], *const CABLE_SEGMENT_NAMES[];

/* 'cables:' of a site file, as import takes it and as the check of the wiring reads it. */
void cableplan_write_yaml(const struct cable_plan *p, struct buf *out);
void cableplan_write_csv(const struct cable_plan *p, struct buf *out);
