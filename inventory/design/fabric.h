/*
 * fabric - the shape of a switched network: how many leaves, spines, cores and cables. Pure.
 *
 * One, two or three tiers of equal switches of radix k, with or without rails (NIC i of every node
 * of a scalable unit on leaf i of that unit). Every count is one that can be wired evenly: a leaf
 * has the same number of cables to each spine it reaches, a spine to each core. Ports are at port
 * speed; with planes each plane is a fabric of its own and a cable carries all planes.
 * Sources: sizing book 2.1; DGX SuperPOD H100 RA-11333 V11, B200, B300, A100 RA-09950.
 */
#pragma once

#include "agent/base/err.h"

#include <stdint.h>

#define FABRIC_RADIX_MAX     1024u
#define FABRIC_ENDPOINTS_MAX 1048576u

enum fabric_fill {
	FABRIC_GROW,    /* whole scalable units, all uplinks: room to grow */
	FABRIC_MINIMAL, /* as many uplinks as the ports in use need */
};

struct fabric_ask {
	unsigned nodes, nics;    /* nics: ports of each node, as many rails when rails is set */
	unsigned radix;          /* of one plane */
	unsigned tiers;          /* 1, 2, 3; 0: the fewest that hold */
	unsigned nodes_per_unit; /* 0: as many as a leaf has ports down */
	unsigned extra;          /* further endpoint ports: fabric managers, gateways */
	unsigned planes;         /* 0: 1 */
	double oversubscription; /* down / up of a leaf; 0: 1 */
	bool rails;
	enum fabric_fill fill;
};

struct fabric {
	struct fabric_ask ask; /* with what was preset */
	unsigned tiers, units; /* units: scalable units, 0 without rails */
	/* of one plane */
	unsigned endpoints, most;    /* most: endpoints that so many tiers can hold */
	unsigned leaf_down, leaf_up; /* ports of a leaf */
	unsigned leaves, spines, cores;
	unsigned pods, pods_per_rail; /* groups of leaves that share their spines */
	unsigned leaves_per_pod, spines_per_pod;
	unsigned leaf_links; /* cables of a leaf to each spine of its pod */
	unsigned spine_up,
		core_links; /* ports up of a spine; its cables to each core of its group */
	unsigned core_groups, cores_per_group, spines_per_group; /* the last: of each pod */
	/* cables, each with all its planes */
	unsigned node_leaf, leaf_spine, spine_core;
};

/* Endpoints that tiers of radix k can hold: k, k*down, k*k/2*down (k, k^2/2, k^3/4 at 1:1).
 * [sizing 2.1; fat-tree; exact] */
uint64_t fabric_most(unsigned radix, unsigned tiers, double oversubscription);
/* Ports of a leaf towards nodes, floor(k*r/(r+1)). [sizing 2.1; ports] */
unsigned fabric_leaf_down(unsigned radix, double oversubscription);
/* E_SCHEMA for what cannot be, E_LIMIT when it does not hold in so many tiers. */
int fabric_plan(const struct fabric_ask *ask, struct fabric *out, struct err *err);
unsigned fabric_switches(const struct fabric *f); /* of all planes and tiers */
/* What is plugged into transceivers of two ports each: of switches, of nodes. [sizing 2.1; twin
 * port OSFP; pieces] */
unsigned fabric_switch_optics(const struct fabric *f);

/* Ports of the networks beside the compute fabric, for nodes and for what serves them. */
struct fabric_side {
	unsigned inband;  /* 2 of each node. [sizing 2.3; ports] */
	unsigned oob;     /* nodes * (1..3) + switches + PDUs + storage controllers. [2.3; ports] */
	unsigned storage; /* 2 of each node, NDR class. [2.3; RA-11333; ports] */
	unsigned inband_switches, oob_switches; /* each pair, or each of the given ports */
};
struct fabric_side fabric_side_of(unsigned nodes, unsigned oob_per_node, unsigned switches,
	unsigned pdus, unsigned controllers, unsigned inband_radix, unsigned oob_radix);
