/*
 * model - a site in memory: what is where, what feeds it, what it is cabled to.
 *
 * NetBox's nouns. Plain arrays owned by one arena; rows refer to each other by
 * index (a size_t, MODEL_NONE when absent), so a model can be walked without a
 * database. Filled by inventory/import (from YAML) and by inventory/store;
 * read by audit, report, design. Watts are read through power_of only.
 *
 * Units: W, V, A, mm, kg, U. A figure that is not stated is MODEL_UNSET (NaN),
 * never zero. at_line is the place in the imported file, 0 otherwise.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/vec.h"

#include <math.h>

struct err;

#define MODEL_NONE  ((size_t)-1)
#define MODEL_UNSET ((double)NAN)

#define MODEL_RANGE_MAX 4096 /* names of one range; a typing slip must not eat the memory */

enum fact_origin {
	ORIGIN_DECLARED,
	ORIGIN_CATALOGUE,
	ORIGIN_REPORTED,
	ORIGIN_VERIFIED,
	ORIGIN_ASSUMED,
	ORIGIN_N
};
enum power_basis {
	BASIS_NAMEPLATE,
	BASIS_MAX,
	BASIS_CAPPED,
	BASIS_MEASURED,
	BASIS_N
};
enum device_status {
	STATUS_PLANNED,
	STATUS_STAGED,
	STATUS_ACTIVE,
	STATUS_OFFLINE,
	STATUS_N
};
enum rack_face {
	FACE_FRONT,
	FACE_REAR,
	FACE_N
};

struct location {
	const char *name;
	unsigned line;
};

struct rack {
	const char *name;
	size_t location; /* MODEL_NONE when the site has none */
	unsigned height_u;
	double depth_mm, max_weight_kg;
	size_t cooling_zone;
	unsigned line;
};

struct cooling_zone {
	const char *name, *kind; /* air, rdhx, liquid */
	double capacity_w;
	unsigned line;
};

struct panel {
	const char *name;
	size_t location;
	unsigned line;
};

struct feed {
	const char *name;
	size_t panel, rack;
	double volts;           /* line to line for three-phase, line to neutral for single */
	unsigned phases;        /* 1 or 3 */
	double amps;            /* breaker rating */
	double max_utilization; /* 0.8 = strict80; MODEL_UNSET: the policy's */
	unsigned line;
};

struct pdu {
	const char *name;
	size_t rack, feed;
	double amps; /* its own rating; MODEL_UNSET: the feed's */
	unsigned line;
};

struct outlet {
	const char *name; /* "1" .. */
	size_t pdu;
	const char *type; /* C13, C19 */
	unsigned bank;    /* 0: none stated */
	unsigned phase;   /* 1, 2, 3; 0: not stated */
	unsigned line;
};

struct device_type {
	const char *name, *maker;
	unsigned height_u; /* 0: takes no units */
	bool full_depth;
	double depth_mm, weight_kg;
	double watts[BASIS_N];
	enum fact_origin watts_origin;
	const char *watts_source;   /* NULL or where the figure is from */
	unsigned psus, psus_needed; /* 0: not stated */
	unsigned gpus;
	const char *gpu; /* type of GPU or NULL */
	unsigned line;
};

struct device {
	const char *name, *role; /* gpu, storage, switch, management, ... */
	size_t type, rack;
	unsigned position; /* lowest unit, 1-based; 0: not mounted in units */
	enum rack_face face;
	enum device_status status;
	const char *serial;    /* NULL */
	double watts_measured; /* MODEL_UNSET */
	double watts_cap;      /* enforced cap of the device; MODEL_UNSET */
	unsigned line;
};

/* A device's socket: network, InfiniBand, power. Power ports are named psu1.. */
enum port_kind {
	PORT_ETHERNET,
	PORT_INFINIBAND,
	PORT_POWER,
	PORT_BMC,
	PORT_N
};
struct port {
	const char *name;
	size_t device;
	enum port_kind kind;
	const char *type; /* "qsfp112", "rj45", "C20" or NULL */
	const char *mac;  /* NULL */
	unsigned line;
};

/* Ports that every device of a type has: "ib[0-7]" stands for eight. PSUs are counted, not listed.
 */
struct port_template {
	size_t type;
	enum port_kind kind;
	const char *names;     /* a range of at most MODEL_RANGE_MAX names */
	const char *connector; /* NULL */
	unsigned line;
};

/* A power cord: a power port into an outlet. */
struct cord {
	size_t port, outlet;
	unsigned line;
};

struct cable {
	size_t a, b;              /* ports */
	const char *type, *label; /* NULL when not stated */
	double length_m;
	unsigned line;
};

/* A device that runs an agent. */
struct node {
	const char *name; /* the device's, or its own when it stands on no device */
	size_t device;    /* MODEL_NONE */
	const char *address, *user, *role; /* user NULL: root */
	unsigned port;                     /* 22 */
	const char *host_key;              /* "ssh-ed25519 AAAA..." or NULL */
	const char *vars;                  /* JSON object text, "{}" */
	unsigned line;
};

struct model {
	struct arena *arena;
	const char *site, *about; /* about NULL */
	const char *file;         /* imported from, NULL */
	struct vec(struct location) locations;
	struct vec(struct rack) racks;
	struct vec(struct cooling_zone) zones;
	struct vec(struct panel) panels;
	struct vec(struct feed) feeds;
	struct vec(struct pdu) pdus;
	struct vec(struct outlet) outlets;
	struct vec(struct device_type) types;
	struct vec(struct port_template) templates;
	struct vec(struct device) devices;
	struct vec(struct port) ports;
	struct vec(struct cord) cords;
	struct vec(struct cable) cables;
	struct vec(struct node) nodes;
};

struct model *model_new(void);
void model_free(struct model *m); /* the arena too */

/* Index by name, MODEL_NONE when there is none. Built for one-off look-ups: linear. */
size_t model_find_rack(const struct model *m, const char *name);
size_t model_find_device(const struct model *m, const char *name);
size_t model_find_type(const struct model *m, const char *name);
/* -1, 0, 1 in natural order: gpu2 before gpu10. */
int model_compare_names(const char *a, const char *b);

/*
 * "ib[0-7]", "eth[0-1],mgmt", "[01-12]" as names in the arena. E_SYNTAX, E_LIMIT.
 * One bracket per part; a leading zero gives the width.
 */
struct model_names vec(const char *);
int model_expand_range(
	struct arena *a, const char *range, struct model_names *out, struct err *err);

const char *model_origin_name(enum fact_origin o);
const char *model_basis_name(enum power_basis b);
const char *model_status_name(enum device_status s);
const char *model_face_name(enum rack_face f);
const char *model_port_kind_name(enum port_kind k);
/* The words of each enum in its order, NULL-terminated, for err_nearest and for parsing. */
extern const char *const MODEL_ORIGINS[],
	*const MODEL_BASES[], *const MODEL_STATUSES[], *const MODEL_FACES[],
							       *const MODEL_PORT_KINDS[];
/* The index of word in such a list, -1 if it is none. */
int model_word(const char *const *words, const char *word);
