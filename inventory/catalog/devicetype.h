/*
 * devicetype - community device types (the YAML of NetBox's devicetype-library) to our entries.
 *
 * Lenient to keys that an entry has no place for: each is counted and told as lost. Not
 * lenient to values that cannot be read. What is implausible is told by general rules,
 * with the catalogue as the measure where it knows the product; nothing is repaired.
 */
#pragma once

#include "agent/base/buf.h"
#include "inventory/catalog/catalog.h"

#define DEVICETYPE_PORTS_MAX 2048 /* of one list */

struct devicetype_part {
	struct str name, type;               /* type of a module bay: its description */
	double maximum_draw, allocated_draw; /* power ports; NaN */
	char leg;                            /* outlets: 'A', 'B', 'C'; 0: not stated */
	bool mgmt_only;                      /* interfaces */
	unsigned line;
};
struct devicetype_parts vec(struct devicetype_part);

struct devicetype_loss {
	const char *key; /* "console-ports", "interfaces.poe_mode" */
	unsigned n;      /* how often */
	unsigned line;   /* of the first */
};

struct devicetype {
	const char *file;
	const char *maker, *model, *slug, *part_number, *airflow, *words; /* words: comments */
	double height_u, weight_kg;                                       /* NaN */
	bool full_depth, unpowered;
	unsigned line, weight_line;
	struct devicetype_parts power_ports, outlets, interfaces, bays;
	struct vec(struct devicetype_loss) losses;
};

struct devicetype_finding {
	const char *rule;
	unsigned line;
	const char *text;
	bool open; /* nothing is wrong, but a figure is left open or can be read in two ways */
};
struct devicetype_findings vec(struct devicetype_finding);

/* Texts live in a. The first error only; d is done by the caller in any case. */
int devicetype_load(struct arena *a, const char *path, struct devicetype *d, struct err *err);
int devicetype_load_text(
	struct arena *a, const char *name, struct str text, struct devicetype *d, struct err *err);
void devicetype_done(struct devicetype *d);

/* Whether a finding says that the record is wrong. */
bool devicetype_is_suspicious(const struct devicetype_findings *findings);
/* What cannot be right, or not be what the product is, and what is open; known may be NULL. */
void devicetype_judge(const struct devicetype *d, const struct catalog *known, struct arena *a,
	struct devicetype_findings *out);

/* pdu, switch or server, by what it has. */
enum catalog_kind devicetype_kind(const struct devicetype *d);
/* The record as an item of its section. Its confidence is low. */
void devicetype_write(
	const struct devicetype *d, const struct devicetype_findings *findings, struct buf *out);
/* What stands above the sections of a file of such records. */
void devicetype_write_head(struct buf *out);

/* --- shared by judge and write --- */

/* Amps of an inlet type, phases of it; 0: not known. */
struct devicetype_inlet {
	const char *type, *name; /* "iec-60320-c20", "C20" */
	double amps, volts;
	unsigned phases;
};
const struct devicetype_inlet *devicetype_inlet(struct str type);
unsigned devicetype_bays(const struct devicetype *d, const char *prefix); /* "PSU" */
bool devicetype_is_network(const struct devicetype_part *p); /* a socket that carries data */
/* The commonest type of its network sockets; how many have it. */
struct str devicetype_main_port(const struct devicetype *d, unsigned *n);
double devicetype_gbps(struct str type); /* "400gbase-x-osfp": 400; 0: not known */
