/*
 * field_table - the fields of every noun, in the order they are written.
 *
 * Ranges here are those of a number by itself; what two figures say to each other, and which
 * volts and amps there are, is judged in check*.c, so that each fault is said once.
 */
#include "inventory/model/field_table.h"

#define WATTS_MAX  1e9
#define ANY        1e6
#define HEIGHT_MAX 100
#define PSUS_MAX   64
#define BANKS_MAX  1000

#define AT(member) offsetof(struct ROW, member)
#define TEXT(k, m)                                            \
	{                                                     \
		.key = k, .kind = FIELD_TEXT, .offset = AT(m) \
	}
#define NAME(k, m)                                            \
	{                                                     \
		.key = k, .kind = FIELD_NAME, .offset = AT(m) \
	}
#define LABEL(k, m)                                                              \
	{                                                                        \
		.key = k, .kind = FIELD_LABEL, .offset = AT(m), .required = true \
	}
#define BOOL(k, m)                                            \
	{                                                     \
		.key = k, .kind = FIELD_BOOL, .offset = AT(m) \
	}
#define REF(k, m, of)                                                    \
	{                                                                \
		.key = k, .kind = FIELD_REF, .offset = AT(m), .noun = of \
	}
#define UINT(k, m, top, of)                                                           \
	{                                                                             \
		.key = k, .kind = FIELD_UINT, .offset = AT(m), .max = top, .unit = of \
	}
#define ENUM(k, m, list)                                                     \
	{                                                                    \
		.key = k, .kind = FIELD_ENUM, .offset = AT(m), .words = list \
	}
/* zero says nothing */
#define NUM(k, m, top, of)                                                           \
	{                                                                            \
		.key = k, .kind = FIELD_NUM, .offset = AT(m), .max = top, .unit = of \
	}
#define TEMP(k, m)                                                                    \
	{                                                                             \
		.key = k, .kind = FIELD_NUM, .offset = AT(m), .min = -60, .max = 120, \
		.unit = "degrees C"                                                   \
	}
/* zero is a figure */
#define ZERO(k, m, low, top, of)                                                        \
	{                                                                               \
		.key = k, .kind = FIELD_NUM, .offset = AT(m), .zero = true, .min = low, \
		.max = top, .unit = of                                                  \
	}
#define CURVE(k, m, of, of2)                                                                  \
	{                                                                                     \
		.key = k, .kind = FIELD_CURVE, .offset = AT(m), .max = WATTS_MAX, .unit = of, \
		.unit2 = of2                                                                  \
	}
#define SUPPLY(k, m, bits)                                                        \
	{                                                                         \
		.key = k, .kind = FIELD_SUPPLY, .offset = AT(m), .supplies = bits \
	}
#define VARS(k, m)                                            \
	{                                                     \
		.key = k, .kind = FIELD_VARS, .offset = AT(m) \
	}

static const char *const REGIONS[] = {"iec", "ul", NULL};
static const char *const ZONE_KINDS[] = {"air", "rdhx", "liquid", NULL};
static const char *const BREAKER_CURVES[] = {"B", "C", "D", NULL};
static const char *const ASHRAE[] = {"A1", "A2", "A3", "A4", "H1", NULL};

#define ROW model
static const struct model_field SITE[] = {
	{.key = "site", .kind = FIELD_NAME, .offset = AT(site), .required = true},
	TEXT("about", about),
	{.key = "terms.policy.name",
		.kind = FIELD_NAME,
		.offset = AT(terms.policy.name),
		.brief = true},
	NUM("terms.policy.k_cont", terms.policy.k_cont, 1, NULL),
	NUM("terms.policy.failover_k", terms.policy.failover_k, 1.45, NULL),
	NUM("terms.policy.near_limit", terms.policy.near_limit, 1, NULL),
	NUM("terms.policy.ups_share", terms.policy.ups_share, 1, NULL),
	ZERO("terms.altitude_m", terms.altitude_m, -500, 9000, "m"),
	NUM("terms.floor_kpa", terms.floor_kpa, 10000, "kPa"),
	NUM("terms.tile_kn", terms.tile_kn, 10000, "kN"),
	NUM("terms.power_factor", terms.power_factor, 1, NULL),
	{.key = "terms.region", .kind = FIELD_WORD, .offset = AT(terms.region), .words = REGIONS},
	NUM("terms.misc_w", terms.misc_w, WATTS_MAX, "W"),
	TEXT("check.every", check_every),
	TEXT("check.window", check_window),
	TEXT("check.splay", check_splay),
	VARS("vars", vars),
};
#undef ROW
#define ROW location
static const struct model_field LOCATION[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(name), .required = true},
	VARS("vars", vars),
};
#undef ROW
#define ROW cooling_zone
static const struct model_field ZONE[] = {
	LABEL("name", name),
	{.key = "kind",
		.kind = FIELD_WORD,
		.offset = AT(kind),
		.words = ZONE_KINDS,
		.fallback_word = "air"},
	ZERO("capacity_w", capacity_w, 0, WATTS_MAX, "W"),
	NUM("cfm", cfm, 1e7, "CFM"),
	TEMP("cold_aisle_c", cold_aisle_c),
	ZERO("dew_point_c", dew_point_c, -60, 60, "degrees C"),
	NUM("lpm", lpm, 1e6, "l/min"),
	TEMP("supply_c", supply_c),
	NUM("rise_c", rise_c, 100, "K"),
	NUM("draw_w", draw_w, WATTS_MAX, "W"),
	BOOL("on_generator", on_generator),
	BOOL("on_ups", on_ups),
};
#undef ROW
#define ROW cooling_unit
static const struct model_field UNIT[] = {
	LABEL("name", name),
	{.key = "capacity_w",
		.kind = FIELD_NUM,
		.offset = AT(capacity_w),
		.max = WATTS_MAX,
		.unit = "W",
		.required = true},
};
#undef ROW
#define ROW generator
static const struct model_field GENERATOR[] = {
	LABEL("name", name),
	NUM("kw", kw, ANY, "kW"),
	NUM("start_s", start_s, 86400, "s"),
};
#undef ROW
#define ROW ups
static const struct model_field UPS[] = {
	LABEL("name", name),
	NUM("kva", kva, ANY, "kVA"),
	NUM("kw", kw, ANY, "kW"),
	NUM("efficiency", efficiency, 1, NULL),
	NUM("max_share", max_share, 1, NULL),
	CURVE("runtime_min", runtime, "kW", "minutes"),
	NUM("recharge_w", recharge_w, WATTS_MAX, "W"),
	SUPPLY("upstream", upstream, 1u << SUPPLY_PANEL | 1u << SUPPLY_UPS),
};
#undef ROW
#define ROW panel
static const struct model_field PANEL[] = {
	LABEL("name", name),
	REF("location", location, NOUN_LOCATION),
	NUM("volts", volts, ANY, "V"),
	UINT("phases", phases, 1000, NULL),
	NUM("amps", amps, ANY, "A"),
	NUM("max_utilization", max_utilization, ANY, NULL),
	SUPPLY("upstream", upstream, 1u << SUPPLY_PANEL | 1u << SUPPLY_UPS),
	SUPPLY("backup", backup, 1u << SUPPLY_GENERATOR),
};
#undef ROW
#define ROW rack
static const struct model_field RACK[] = {
	LABEL("name", name),
	REF("location", location, NOUN_LOCATION),
	REF("cooling_zone", cooling_zone, NOUN_ZONE),
	{.key = "height_u",
		.kind = FIELD_UINT,
		.offset = AT(height_u),
		.fallback = 42,
		.always = true,
		.min = 1,
		.max = HEIGHT_MAX,
		.unit = "U"},
	UINT("first_u", first_u, 1000, "U"),
	ZERO("depth_mm", depth_mm, 0, 10000, "mm"),
	{.key = "footprint_mm",
		.kind = FIELD_PAIR,
		.offset = AT(footprint_w_mm),
		.offset2 = AT(footprint_d_mm),
		.max = 10000,
		.unit = "mm"},
	NUM("clearance_m2", clearance_m2, 1000, "m2"),
	NUM("rail_to_door_mm", rail_to_door_mm, 10000, "mm"),
	UINT("feet", feet, 64, NULL),
	ZERO("max_weight_kg", max_weight_kg, 0, 100000, "kg"),
	NUM("own_kg", own_kg, 100000, "kg"),
	NUM("pdu_kg", pdu_kg, 10000, "kg"),
	NUM("cables_kg", cables_kg, 10000, "kg"),
	NUM("door_kg", door_kg, 10000, "kg"),
	NUM("cooling.air_w", cooling.air_w, WATTS_MAX, "W"),
	NUM("cooling.cfm", cooling.cfm, 1e7, "CFM"),
	TEMP("cooling.cold_aisle_c", cooling.cold_aisle_c),
	ZERO("cooling.dew_point_c", cooling.dew_point_c, -60, 60, "degrees C"),
	CURVE("cooling.rdhx.curve", cooling.rdhx, "degrees C", "W"),
	TEMP("cooling.rdhx.water_c", cooling.rdhx_water_c),
	NUM("cooling.liquid.watts", cooling.liquid_w, WATTS_MAX, "W"),
	NUM("cooling.liquid.lpm", cooling.liquid_lpm, 1e6, "l/min"),
	TEMP("cooling.liquid.supply_c", cooling.liquid_supply_c),
	NUM("cooling.liquid.rise_c", cooling.liquid_rise_c, 100, "K"),
	VARS("vars", vars),
};
#undef ROW
#define ROW feed
static const struct model_field FEED[] = {
	LABEL("name", name),
	REF("panel", panel, NOUN_PANEL),
	REF("rack", rack, NOUN_RACK),
	ZERO("volts", volts, 0, ANY, "V"),
	ENUM("volts_are", volts_are, MODEL_VOLTS),
	{.key = "phases", .kind = FIELD_UINT, .offset = AT(phases), .max = 1000, .required = true},
	ENUM("phase", phase, MODEL_PHASES),
	ZERO("amps", amps, 0, ANY, "A"),
	NUM("plug_amps", plug_amps, ANY, "A"),
	NUM("k_temp", k_temp, 2, NULL),
	NUM("k_group", k_group, 1, NULL),
	ZERO("max_utilization", max_utilization, 0, ANY, NULL),
	SUPPLY("upstream", upstream, 1u << SUPPLY_PANEL | 1u << SUPPLY_UPS),
};
#undef ROW
#define ROW pdu
static const struct model_field PDU[] = {
	LABEL("name", name),
	REF("rack", rack, NOUN_RACK),
	REF("feed", feed, NOUN_FEED),
	SUPPLY("upstream", upstream, 1u << SUPPLY_OUTLET),
	ZERO("amps", amps, 0, ANY, "A"),
	NUM("sequence_ms", sequence_ms, 3.6e6, "ms"),
};
#undef ROW
#define ROW bank
static const struct model_field BANK[] = {
	{.key = "name",
		.kind = FIELD_UINT,
		.offset = AT(number),
		.min = 1,
		.max = BANKS_MAX,
		.required = true},
	NUM("amps", amps, ANY, "A"),
	{.key = "curve", .kind = FIELD_CHAR, .offset = AT(curve), .words = BREAKER_CURVES},
	ENUM("phase", phase, MODEL_PHASES),
};
#undef ROW
#define ROW outlet
static const struct model_field OUTLET[] = {
	NAME("name", name),
	NAME("type", type),
	UINT("bank", bank, BANKS_MAX, NULL),
	ENUM("phase", phase, MODEL_PHASES),
	NUM("amps", amps, 1000, "A"),
};
#undef ROW
#define ROW device_type
static const struct model_field TYPE[] = {
	LABEL("name", name),
	NAME("catalog_id", catalogue),
	TEXT("maker", maker),
	{.key = "height_u",
		.kind = FIELD_HALF,
		.offset = AT(height_u),
		.offset2 = AT(half_u),
		.max = 100,
		.unit = "U",
		.always = true,
		.required = true},
	{.key = "full_depth", .kind = FIELD_BOOL, .offset = AT(full_depth), .fallback = 1},
	ZERO("depth_mm", depth_mm, 0, 10000, "mm"),
	ZERO("weight_kg", weight_kg, 0, 100000, "kg"),
	ZERO("watts.nameplate", watts[BASIS_NAMEPLATE], 0, WATTS_MAX, "W"),
	{.key = "watts.max",
		.kind = FIELD_NUM,
		.offset = AT(watts[BASIS_MAX]),
		.zero = true,
		.brief = true,
		.max = WATTS_MAX,
		.unit = "W"},
	ZERO("watts.capped", watts[BASIS_CAPPED], 0, WATTS_MAX, "W"),
	ZERO("watts.measured", watts[BASIS_MEASURED], 0, WATTS_MAX, "W"),
	NUM("watts.dc", watts_dc, WATTS_MAX, "W"),
	NUM("watts.degraded", watts_degraded, WATTS_MAX, "W"),
	ENUM("watts_origin", watts_origin, MODEL_ORIGINS),
	TEXT("watts_source", watts_source),
	UINT("psus", psus, PSUS_MAX, NULL),
	UINT("psus_needed", psus_needed, PSUS_MAX, NULL),
	UINT("psus_min", psus_min, PSUS_MAX, NULL),
	NUM("psu_watts", psu_watts, ANY, "W"),
	ENUM("psu_curve", psu_curve, MODEL_PSU_CURVES),
	NUM("inlet_amps", inlet_amps, 1000, "A"),
	BOOL("hot_spare", hot_spare),
	NUM("inrush", inrush, 1000, NULL),
	NUM("heat_btu_h", heat_btu_h, WATTS_MAX, "BTU/h"),
	NUM("cfm", cfm, 1e6, "CFM"),
	{.key = "inlet_c",
		.kind = FIELD_PAIR,
		.offset = AT(inlet_min_c),
		.offset2 = AT(inlet_max_c),
		.min = -60,
		.max = 120,
		.unit = "degrees C"},
	{.key = "ashrae", .kind = FIELD_WORD, .offset = AT(ashrae), .words = ASHRAE},
	ENUM("airflow", airflow, MODEL_AIRFLOWS),
	UINT("gpus", gpus, 1024, NULL),
	TEXT("gpu", gpu),
	NUM("gpu_watts.default", gpu_w, ANY, "W"),
	NUM("gpu_watts.min", gpu_min_w, ANY, "W"),
	NUM("gpu_watts.max", gpu_max_w, ANY, "W"),
	NUM("liquid_share", liquid_share, 1, NULL),
};
#undef ROW
#define ROW device
static const struct model_field DEVICE[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(name), .required = true},
	{.key = "type", .kind = FIELD_REF, .offset = AT(type), .noun = NOUN_TYPE, .required = true},
	NAME("role", role),
	REF("rack", rack, NOUN_RACK),
	{.key = "position",
		.kind = FIELD_HALF,
		.offset = AT(position),
		.offset2 = AT(half_up),
		.min = 1,
		.max = 1000,
		.unit = "U"},
	ENUM("face", face, MODEL_FACES),
	{.key = "status",
		.kind = FIELD_ENUM,
		.offset = AT(status),
		.words = MODEL_STATUSES,
		.fallback = STATUS_ACTIVE},
	TEXT("serial", serial),
	ZERO("watts_measured", watts_measured, 0, WATTS_MAX, "W"),
	NUM("watts_p95", watts_p95, WATTS_MAX, "W"),
	TEXT("measured_date", measured_date),
	ZERO("watts_cap", watts_cap, 0, WATTS_MAX, "W"),
	NUM("cap.gpu_w", cap.gpu_w, ANY, "W"),
	NUM("cap.eta", cap.eta, 1, NULL),
	BOOL("cap.enforced_at_boot", cap.enforced_at_boot),
	BOOL("cap.readback", cap.readback),
	TEMP("inlet_c", inlet_c),
	BOOL("single_ok", single_ok),
};
#undef ROW
#define ROW reservation
static const struct model_field RESERVATION[] = {
	LABEL("name", name),
	{.key = "rack", .kind = FIELD_REF, .offset = AT(rack), .noun = NOUN_RACK, .required = true},
	UINT("position", position, 1000, "U"),
	UINT("height_u", height_u, HEIGHT_MAX, "U"),
	{.key = "full_depth", .kind = FIELD_BOOL, .offset = AT(full_depth), .fallback = 1},
	ENUM("face", face, MODEL_FACES),
	NUM("watts", watts, WATTS_MAX, "W"),
	NUM("weight_kg", weight_kg, 100000, "kg"),
	TEXT("who", who),
	TEXT("until", until),
};
#undef ROW
#define ROW role
static const struct model_field ROLE[] = {
	{.key = "name", .kind = FIELD_NAME, .offset = AT(name), .required = true},
	{.key = "recipes", .kind = FIELD_NAMES, .offset = AT(recipes)},
	TEXT("check.every", check_every),
	TEXT("check.window", check_window),
	VARS("vars", vars),
};
#undef ROW

#define TABLE(noun, list) [noun] = {list, sizeof(list) / sizeof *(list)}
struct model_fields field_table(enum model_noun noun)
{
	static const struct model_fields tables[NOUN_N + 1] = {
		TABLE(NOUN_LOCATION, LOCATION),
		TABLE(NOUN_ZONE, ZONE),
		TABLE(NOUN_UNIT, UNIT),
		TABLE(NOUN_GENERATOR, GENERATOR),
		TABLE(NOUN_UPS, UPS),
		TABLE(NOUN_PANEL, PANEL),
		TABLE(NOUN_RACK, RACK),
		TABLE(NOUN_FEED, FEED),
		TABLE(NOUN_PDU, PDU),
		TABLE(NOUN_BANK, BANK),
		TABLE(NOUN_OUTLET, OUTLET),
		TABLE(NOUN_TYPE, TYPE),
		TABLE(NOUN_DEVICE, DEVICE),
		TABLE(NOUN_RESERVATION, RESERVATION),
		TABLE(NOUN_ROLE, ROLE),
		TABLE(NOUN_N, SITE),
	};

	return noun <= NOUN_N ? tables[noun] : (struct model_fields){0};
}
