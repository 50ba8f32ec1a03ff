/*
 * model - a site in memory: what is where, what feeds it, what it is cabled to.
 *
 * NetBox's nouns. Plain arrays owned by one arena; rows refer to each other by
 * index (a size_t, MODEL_NONE when absent), so a model can be walked without a
 * database. Filled by inventory/import (from YAML) and by inventory/store;
 * read by audit, report, design. Watts are read through power_of only.
 *
 * Units: W, V, A, mm, kg, U, degrees C. A figure that is not stated is MODEL_UNSET
 * (NaN); where zero is no possible figure, zero says the same: ask model_stated.
 * References in rows are MODEL_NONE, a struct supply of kind SUPPLY_NONE when absent.
 * line is the place in the imported file, 0 otherwise.
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

/* The lines of a three-phase system that an outlet, a bank or a one-phase feed hangs on. */
enum phase {
	PHASE_UNSTATED,
	PHASE_L1, /* each against neutral */
	PHASE_L2,
	PHASE_L3,
	PHASE_L1L2, /* between two lines, such as 208 V */
	PHASE_L2L3,
	PHASE_L3L1,
	PHASE_ALL, /* a three-phase outlet */
	PHASE_N
};
enum volts_are {
	VOLTS_UNSTATED, /* line to line for three phases */
	VOLTS_LL,
	VOLTS_LN
};
enum psu_curve {
	CURVE_UNSTATED,
	CURVE_GOLD,
	CURVE_PLATINUM,
	CURVE_TITANIUM,
	CURVE_N
};
enum airflow {
	AIRFLOW_UNSTATED,
	AIRFLOW_FRONT_REAR,
	AIRFLOW_REAR_FRONT,
	AIRFLOW_SIDE,
	AIRFLOW_N
};
enum confidence {
	CONFIDENCE_UNSTATED,
	CONFIDENCE_LOW,
	CONFIDENCE_MEDIUM,
	CONFIDENCE_HIGH,
	CONFIDENCE_N
};

/* What something is powered by. Zeroed memory says: by nothing that is known. */
enum supply_kind {
	SUPPLY_NONE,
	SUPPLY_PANEL,
	SUPPLY_UPS,
	SUPPLY_GENERATOR,
	SUPPLY_FEED,
	SUPPLY_OUTLET, /* of another PDU */
	SUPPLY_N
};
struct supply {
	enum supply_kind kind;
	size_t row;
};

/* Points in rising x, owned by the model's arena. */
struct curve {
	const struct curve_point {
		double x, y;
	} * at;
	unsigned n;
};

/* The rules a site audits by; each figure that is not stated is the named policy's. */
struct policy_terms {
	const char *name;  /* strict80, iec100, or the site's own word; NULL */
	double k_cont;     /* of a breaker, all day long */
	double failover_k; /* of a breaker, after a loss */
	double near_limit; /* share of a limit above which it is WARN */
	double ups_share;  /* of a UPS, after the loss of another */
};

/* What holds for the whole site. */
struct site_terms {
	struct policy_terms policy;
	double altitude_m;
	double floor_kpa; /* the load the floor may carry, spread */
	double tile_kn;   /* the load one tile may carry at one point */
	double power_factor;
	const char *region; /* iec or ul: which ratings connectors have; NULL */
	double misc_w;      /* lights and the rest on the generators */
};

struct location {
	const char *name;
	const char *vars; /* JSON object text for recipes, NULL; so in racks, roles and the site */
	unsigned line;
};

struct rack {
	const char *name;
	size_t location; /* MODEL_NONE when the site has none */
	unsigned height_u;
	double depth_mm, max_weight_kg; /* max_weight: what it may hold, its own mass apart */
	size_t cooling_zone;
	unsigned line;
	unsigned first_u;                                    /* the lowest unit's number; 0: 1 */
	double footprint_w_mm, footprint_d_mm, clearance_m2; /* clearance: free area it may use */
	double own_kg, pdu_kg, cables_kg, door_kg;           /* pdu_kg: of each PDU in it */
	double rail_to_door_mm;
	unsigned feet; /* 0: 4 */
	struct rack_cooling {
		double air_w, cfm, cold_aisle_c; /* what the room brings to this rack */
		double dew_point_c;              /* MODEL_UNSET; zero is a dew point */
		struct curve rdhx;               /* entering water in degrees C to W taken away */
		double rdhx_water_c;
		double liquid_w, liquid_lpm, liquid_supply_c, liquid_rise_c;
	} cooling;
	const char *vars;
};

struct cooling_zone {
	const char *name, *kind; /* air, rdhx, liquid */
	double capacity_w;       /* of the zone; when it has units, theirs count */
	unsigned line;
	double cfm, cold_aisle_c;
	double dew_point_c;           /* MODEL_UNSET; zero is a dew point */
	double lpm, supply_c, rise_c; /* of a liquid loop */
	double draw_w;                /* the electricity it takes */
	bool on_generator, on_ups;
};

/* A CRAH, a CDU: one that can fail. */
struct cooling_unit {
	const char *name;
	size_t zone;
	double capacity_w;
	unsigned line;
};

struct ups {
	const char *name;
	double kva, kw;
	double efficiency;    /* 0.94; not stated: assumed */
	double max_share;     /* after a loss; not stated: the policy's */
	struct curve runtime; /* load in kW to minutes */
	struct supply upstream;
	double recharge_w; /* at worst, while the batteries fill again */
	unsigned line;
};

struct generator {
	const char *name;
	double kw, start_s;
	unsigned line;
};

struct panel {
	const char *name;
	size_t location;
	unsigned line;
	double volts; /* line to line for three phases */
	unsigned phases;
	double amps, max_utilization; /* amps: its main breaker */
	struct supply upstream;       /* another panel, a UPS */
	struct supply backup;         /* a generator */
};

struct feed {
	const char *name;
	size_t panel, rack;
	double volts;           /* as volts_are says; line to line for three-phase otherwise */
	unsigned phases;        /* 1 or 3 */
	double amps;            /* breaker rating */
	double max_utilization; /* 0.8 = strict80; MODEL_UNSET: the policy's */
	unsigned line;
	enum volts_are volts_are;
	double plug_amps; /* of its plug or tap box, derated already; apart from the breaker */
	double k_temp, k_group; /* derating of the breaker by heat and by its neighbours */
	enum phase phase;       /* of a one-phase feed in its panel */
	struct supply upstream; /* a panel or a UPS; SUPPLY_NONE: panel above, if any */
};

struct pdu {
	const char *name;
	size_t rack, feed; /* feed MODEL_NONE when upstream is an outlet */
	double amps;       /* its own rating, derated already; MODEL_UNSET: the feed's */
	unsigned line;
	struct supply upstream; /* an outlet of another PDU; SUPPLY_NONE: feed above */
	double sequence_ms; /* between two outlets when power returns; not stated: all at once */
};

/* A breaker inside a PDU; outlets name it by number. */
struct bank {
	const char *name; /* the number as text */
	size_t pdu;
	unsigned number; /* outlet.bank */
	double amps;
	enum phase phase; /* of outlets that state none */
	char curve;       /* 'B', 'C', 'D'; 0: not stated */
	unsigned line;
};

struct outlet {
	const char *name; /* "1" .. */
	size_t pdu;
	const char *type; /* C13, C19 */
	unsigned bank;    /* 0: none stated */
	unsigned phase;   /* enum phase; 0: not stated */
	unsigned line;
	double amps; /* not stated: by type and region */
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
	bool half_u;           /* half a unit more than height_u */
	const char *catalogue; /* id of its catalogue entry or NULL */
	unsigned psus_min;     /* that keep it up; 0: not stated */
	double psu_watts;      /* output of one */
	enum psu_curve psu_curve;
	double inlet_amps;     /* of one power inlet */
	bool hot_spare;        /* one side may carry it all */
	double watts_dc;       /* behind the PSUs, when known */
	double watts_degraded; /* the vendor's cap behind the PSUs while some are missing */
	double inrush;         /* times steady current; not stated: assumed */
	double heat_btu_h, cfm;
	double inlet_min_c, inlet_max_c;
	const char *ashrae;                 /* A1 .. A4, H1; NULL */
	double gpu_w, gpu_min_w, gpu_max_w; /* of each: default, allowed limits */
	double liquid_share;                /* of its heat taken by liquid, 0 .. 1 */
	enum airflow airflow;
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
	bool half_up; /* begins half a unit above position */
	struct device_cap {
		double gpu_w; /* of each GPU */
		double eta;   /* of its PSUs; not stated: assumed */
		bool enforced_at_boot, readback;
	} cap;
	double watts_p95;          /* measured, 95 % of the time below */
	const char *measured_date; /* NULL */
	double inlet_c;            /* as its sensor says */
	bool single_ok;            /* one cord is meant */
};

/* Units kept for somebody. */
struct reservation {
	const char *name;
	size_t rack;
	unsigned position, height_u;
	bool full_depth;
	enum rack_face face; /* when not full depth */
	double watts, weight_kg;
	const char *who, *until; /* NULL */
	unsigned line;
};

/* Where a figure of a row is from, when it is not plainly declared. */
struct fact_note {
	unsigned noun; /* enum model_noun of index.h */
	size_t row;
	const char *field; /* as in the site file */
	enum fact_origin origin;
	enum confidence confidence;
	const char *source, *date; /* NULL */
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

/* What nodes are for: the recipes they get, in this order, and how often that is looked at. */
struct role {
	const char *name;
	const char *recipes; /* names with a blank between, NULL: none */
	const char *vars;
	const char *check_every, *check_window; /* NULL: the site's */
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
	const char *vars;
	/* how often nodes are looked at, at which time of day, spread over how long; period.h */
	const char *check_every, *check_window, *check_splay;
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
	struct site_terms terms;
	struct vec(struct ups) upses;
	struct vec(struct generator) generators;
	struct vec(struct bank) banks;
	struct vec(struct cooling_unit) units;
	struct vec(struct reservation) reservations;
	struct vec(struct role) roles;
	struct vec(struct fact_note) notes;
};

struct model *model_new(void);
void model_free(struct model *m); /* the arena too */

/* A figure that somebody stated. */
static inline bool model_stated(double v)
{
	return !isnan(v) && v != 0;
}
/* What says field of that row is not plainly declared, NULL when nothing does. */
const struct fact_note *model_note(
	const struct model *m, unsigned noun, size_t row, const char *field);

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
	*const MODEL_BASES[],
		*const MODEL_STATUSES[],
			*const MODEL_FACES[],
				*const MODEL_PORT_KINDS[],
					*const MODEL_PHASES[],
						*const MODEL_VOLTS[],
							*const MODEL_PSU_CURVES[],
								*const MODEL_AIRFLOWS[],
									*const MODEL_CONFIDENCES[];
/* The index of word in such a list, -1 if it is none. */
int model_word(const char *const *words, const char *word);
