/* rule - the rules of the audit by name, with what each asks and where it is from. */
#pragma once

enum audit_verdict {
	AUDIT_PASS,
	AUDIT_WARN,
	AUDIT_CONDITIONAL, /* holds only while a named control does, such as a GPU cap */
	AUDIT_FAIL,
	AUDIT_VERDICT_N
};

enum audit_rule {
	RULE_WATTS, /* what is known at all */
	RULE_CORDS,
	RULE_FEED_DATA,
	RULE_CAP_PROOF,
	RULE_FEED_NORMAL, /* currents */
	RULE_FEED_FAILOVER,
	RULE_PHASE_NORMAL,
	RULE_PHASE_FAILOVER,
	RULE_EFFICIENCY,
	RULE_IMBALANCE,
	RULE_NEUTRAL,
	RULE_PDU_NORMAL,
	RULE_PDU_FAILOVER,
	RULE_BANK_NORMAL,
	RULE_BANK_FAILOVER,
	RULE_OUTLET,
	RULE_INLET,
	RULE_PSU_DOWN, /* redundancy */
	RULE_PSU_DEGRADED,
	RULE_SINGLE_CORD,
	RULE_COMMON_MODE,
	RULE_CASCADE,
	RULE_INRUSH,
	RULE_COOLING_KW, /* heat */
	RULE_COOLING_CFM,
	RULE_RDHX,
	RULE_LIQUID_KW,
	RULE_LIQUID_FLOW,
	RULE_DEW_POINT,
	RULE_INLET_TEMP,
	RULE_SENSOR,
	RULE_UNITS, /* space */
	RULE_CONTIGUOUS_U,
	RULE_RESERVATION,
	RULE_DEPTH,
	RULE_WEIGHT,
	RULE_FLOOR,
	RULE_TILE,
	RULE_STACKING,
	RULE_PANEL_NORMAL, /* the site's */
	RULE_PANEL_FAILOVER,
	RULE_UPS_NORMAL,
	RULE_UPS_FAILOVER,
	RULE_RIDE_THROUGH,
	RULE_GENERATOR,
	RULE_ZONE_KW,
	RULE_ZONE_CFM,
	RULE_ZONE_SPARE,
	RULE_N
};

struct audit_rule_about {
	const char *name;       /* stable: "feed_failover" */
	const char *asks;       /* a sentence */
	const char *formula;    /* short, "" when it is a count */
	const char *source;     /* where it is from */
	const char *confidence; /* high, medium, low */
};

const struct audit_rule_about *audit_rule_about(enum audit_rule rule);
const char *audit_rule_name(enum audit_rule rule);
/* RULE_N for a word that is none. */
enum audit_rule audit_rule_find(const char *name);
const char *audit_verdict_name(enum audit_verdict v); /* "PASS" ... */
