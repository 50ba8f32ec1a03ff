/* fabric_export - names come from cableplan, so that all files say the same. */
#include "inventory/design/fabric_export.h"

#include "agent/base/buf.h"

#include <stdio.h>

/* --- Slurm: units of nodes, groups of units, all --- */

struct level {
	unsigned units, nodes_per_unit; /* leaves without rails count as units */
	unsigned groups, units_per_group;
};

static struct level level_of(const struct fabric *f)
{
	struct level l = {.groups = 1};

	if (f->tiers == 1) {
		l.units = 1;
		l.nodes_per_unit = f->ask.nodes;
	} else if (f->ask.rails) {
		l.nodes_per_unit = f->ask.nodes_per_unit;
		l.units = (f->ask.nodes + l.nodes_per_unit - 1) / l.nodes_per_unit;
	} else {
		l.nodes_per_unit = f->leaf_down / f->ask.nics ? f->leaf_down / f->ask.nics : 1;
		l.units = (f->ask.nodes + l.nodes_per_unit - 1) / l.nodes_per_unit;
	}
	l.units_per_group = l.units;
	if (f->tiers == 3 && f->pods_per_rail > 1) {
		l.units_per_group = f->leaves_per_pod;
		l.groups = (l.units + l.units_per_group - 1) / l.units_per_group;
	}
	return l;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* "gpu[0001-0032]", "unit[01-04]": numbers from 1. */
static void add_range(struct buf *out, const char *word, int width, unsigned first, unsigned last)
{
	if (first == last)
		buf_addf(out, "%s%0*u", word, width, first);
	else
		buf_addf(out, "%s[%0*u-%0*u]", word, width, first, width, last);
}

/* One switch of Slurm: its name, and what hangs on it. */
static void add_switch(struct buf *out, bool yaml, const char *name, bool nodes, const char *word,
	int width, unsigned first, unsigned last)
{
	if (yaml)
		buf_addf(out, "      - switch: %s\n        %s: ", name,
			nodes ? "nodes" : "children");
	else
		buf_addf(out, "SwitchName=%s %s=", name, nodes ? "Nodes" : "Switches");
	add_range(out, word, width, first, last);
	buf_add_char(out, '\n');
}

static void write_slurm(const struct fabric *f, bool yaml, struct buf *out)
{
	const struct level l = level_of(f);
	char name[CABLE_NAME];

	for (unsigned u = 0; u < l.units; u++) {
		snprintf(name, sizeof name, "unit%03u", u + 1);
		add_switch(out, yaml, name, true, "gpu", 4, u * l.nodes_per_unit + 1,
			least((u + 1) * l.nodes_per_unit, f->ask.nodes));
	}
	for (unsigned g = 0; l.groups > 1 && g < l.groups; g++) {
		snprintf(name, sizeof name, "group%03u", g + 1);
		add_switch(out, yaml, name, false, "unit", 3, g * l.units_per_group + 1,
			least((g + 1) * l.units_per_group, l.units));
	}
	if (l.groups > 1)
		add_switch(out, yaml, "fabric", false, "group", 3, 1, l.groups);
	else if (l.units > 1)
		add_switch(out, yaml, "fabric", false, "unit", 3, 1, l.units);
}

void fabric_write_slurm_conf(const struct fabric *f, struct buf *out)
{
	buf_add_text(
		out, "# all rail leaves of a unit are one switch: each node is on every one\n");
	write_slurm(f, false, out);
}

void fabric_write_slurm_yaml(const struct fabric *f, struct buf *out)
{
	buf_add_text(
		out, "---\n- topology: default\n  cluster_default: true\n  tree:\n    switches:\n");
	write_slurm(f, true, out);
}

/* --- opensm --- */

/* Switches of a tier: 1 leaves, 2 spines, 3 cores. */
static unsigned of_tier(const struct fabric *f, unsigned tier)
{
	return tier == 1 ? f->leaves : tier == 2 ? f->spines : f->cores;
}

static unsigned write_guids(const struct fabric *f, unsigned tier, bool names, fabric_guid *guid,
	void *user, struct buf *out)
{
	unsigned unknown = 0;

	for (uint32_t i = 0; i < of_tier(f, tier); i++) {
		char name[CABLE_NAME];
		uint64_t g;

		cableplan_name(f, (enum cable_segment)(tier - 1), true, i, name);
		g = guid(user, name);
		if (!g)
			unknown++;
		else if (names)
			buf_addf(out, "0x%016llx \"%s\"\n", (unsigned long long)g, name);
		else
			buf_addf(out, "0x%016llx\n", (unsigned long long)g);
	}
	return unknown;
}

unsigned fabric_write_root_guids(
	const struct fabric *f, fabric_guid *guid, void *user, struct buf *out)
{
	return write_guids(f, f->tiers, false, guid, user, out);
}

unsigned fabric_write_name_map(
	const struct fabric *f, fabric_guid *guid, void *user, struct buf *out)
{
	unsigned unknown = 0;

	for (unsigned tier = 1; tier <= f->tiers; tier++)
		unknown += write_guids(f, tier, true, guid, user, out);
	return unknown;
}

/* --- NCCL --- */

void fabric_write_nccl(const struct fabric *f, bool roce, struct buf *out)
{
	buf_add_text(out, "NCCL_IB_HCA==");
	for (unsigned i = 0; i < f->ask.nics; i++)
		buf_addf(out, "%smlx5_%u", i ? "," : "", i);
	buf_addf(out,
		"\n# rails: a ring keeps to its NIC, traffic between rails goes over NVLink\n"
		"NCCL_CROSS_NIC=%d\n",
		f->ask.rails ? 0 : 2);
	if (roce)
		buf_add_text(out,
			"# RoCE v2: GID 3 is v2 over IPv4 on most hosts (show_gids), 106 is "
			"DSCP 26 with ECN\nNCCL_IB_GID_INDEX=3\nNCCL_IB_TC=106\n");
}
