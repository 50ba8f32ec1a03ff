/* rule - one table; README.md here is made of the same lines. */
#include "inventory/audit/rule.h"

#include <string.h>

static const struct audit_rule_about RULES[RULE_N] = {
	[RULE_WATTS] = {"watts", "every device states what it draws", "",
		"an absent figure is no zero (netbox#3476, #8617)", "high"},
	[RULE_CORDS] = {"cords", "every device that draws power has its cords on outlets", "",
		"power follows cords", "high"},
	[RULE_FEED_DATA] = {"feed_data", "the feed's volts, phases and amps can be computed with",
		"", "P3; netbox#8738", "high"},
	[RULE_CAP_PROOF] = {"cap_proof", "a GPU cap is enforced at boot and read back", "",
		"section 18; NVML header, lium-io#1229", "high"},
	[RULE_FEED_NORMAL] = {"feed_normal", "a feed carries its load all day long",
		"P / (sqrt(3) V_LL PF) <= min(k_cont I_n k_temp k_group, plug)",
		"P1, P2, D1, D2; NEC 210.20, IEC 60364-4-43", "high"},
	[RULE_FEED_FAILOVER] = {"feed_failover", "a feed carries what moves to it after a loss",
		"P_moved / (sqrt(3) V_LL PF) <= min(failover_k I_n k_temp k_group, plug)",
		"F2, F3, D4", "high"},
	[RULE_PHASE_NORMAL] = {"phase_normal", "each line of a feed carries its loads all day long",
		"max |I_k| as a vector sum <= limit", "P4, B1, B4", "high"},
	[RULE_PHASE_FAILOVER] = {"phase_failover",
		"each line of a feed carries what moves to it after a loss",
		"max |I_k| as a vector sum <= limit", "P4, B4, F5", "high"},
	[RULE_EFFICIENCY] = {"efficiency",
		"a feed has room for what fewer, fuller power supplies waste", "1.05 I <= limit",
		"section 6", "medium"},
	[RULE_IMBALANCE] = {"imbalance", "the lines of a feed carry about the same",
		"100 max|I_k - avg| / avg <= 10 %", "B1; Raritan PX, NEMA", "high"},
	[RULE_NEUTRAL] = {"neutral", "the neutral carries no more than a line may",
		"sqrt(a2+b2+c2-ab-bc-ca) <= limit", "B2", "high"},
	[RULE_PDU_NORMAL] = {"pdu_normal", "a PDU carries its load all day long",
		"max I_k <= rated amps, derated already", "D1, section 8", "high"},
	[RULE_PDU_FAILOVER] = {"pdu_failover", "a PDU carries what moves to it after a loss",
		"max I_k <= rated amps, derated already", "D1, section 8", "high"},
	[RULE_BANK_NORMAL] = {"bank_normal", "a bank's breaker carries its outlets",
		"I <= I_bank (0.8 I_bank by UL)", "section 8; netbox#9759", "high"},
	[RULE_BANK_FAILOVER] = {"bank_failover", "a bank's breaker carries what moves to it",
		"I <= I_bank (0.8 I_bank by UL)", "section 8; netbox#9759", "high"},
	[RULE_OUTLET] = {"outlet", "an outlet carries its cord", "I <= C13 10 A, C19 16 A (IEC)",
		"section 8; IEC 60320", "medium"},
	[RULE_INLET] = {"inlet", "an inlet of a device carries its share",
		"P / (alive V PF) <= I_inlet", "section 5; DGX H100 guide", "high"},
	[RULE_PSU_DOWN] = {"psu_down", "no single loss takes a device with several cords down",
		"alive >= B", "section 5, F5", "high"},
	[RULE_PSU_DEGRADED] = {"psu_degraded", "every device keeps full power after a loss",
		"alive >= N", "section 5; DGX H100 guide", "high"},
	[RULE_SINGLE_CORD] = {"single_cord", "every device has more than one cord", "", "F4",
		"high"},
	[RULE_COMMON_MODE] = {"common_mode",
		"the feeds of a device do not all hang on one panel or UPS", "alive >= B", "F4, F5",
		"high"},
	[RULE_CASCADE] = {"cascade", "no loss makes breakers trip one after another",
		"I > I_n trips; followed to the end", "F5; section 8", "medium"},
	[RULE_INRUSH] = {"inrush", "outlets that come alive together do not trip their breaker",
		"sum(ratio I) < 3, 5, 10 I_n (B, C, D)", "section 9; IEC 60898-1, Raritan", "low"},
	[RULE_COOLING_KW] = {"cooling_kw", "the air takes the heat of the rack",
		"sum max(P, BTU/h / 3.41214) - liquid - door <= air", "sections 11, 13", "high"},
	[RULE_COOLING_CFM] = {"cooling_cfm", "the rack gets the air its boxes move",
		"sum CFM / density ratio <= CFM", "section 12", "high"},
	[RULE_RDHX] = {"rdhx", "the room takes the rack's heat when its door fails",
		"Q_rack <= air", "section 13", "medium"},
	[RULE_LIQUID_KW] = {"liquid_kw", "the loop takes the liquid share of the heat",
		"sum f P <= loop", "section 13", "high"},
	[RULE_LIQUID_FLOW] = {"liquid_flow", "the loop brings the water for it",
		"14.33 kW / rise <= l/min", "section 13", "high"},
	[RULE_DEW_POINT] = {"dew_point", "water stays 2 C above the dew point",
		"t_water >= t_dew + 2", "section 13", "high"},
	[RULE_INLET_TEMP] = {"inlet_temp", "the cold aisle is one that every device allows",
		"t <= min(class max at height, device max)", "section 14; ASHRAE TC 9.9", "medium"},
	[RULE_SENSOR] = {"sensor", "inlet sensors read what the device allows",
		"t <= device max; WARN above recommended", "section 14", "medium"},
	[RULE_UNITS] = {"units", "devices stand inside the rack", "", "phpipam#4423", "high"},
	[RULE_CONTIGUOUS_U] = {"contiguous_u", "what is asked for has free units in one run",
		"u <= longest run", "section 16", "high"},
	[RULE_RESERVATION] = {"reservation", "reserved units are free", "",
		"section 16; netbox#3297", "high"},
	[RULE_DEPTH] = {"depth", "devices and their cords are no deeper than the rack",
		"depth + 150 mm <= rail to door", "section 16", "high"},
	[RULE_WEIGHT] = {"weight", "the rack holds what stands in it",
		"devices + PDUs + cables + door <= rating", "section 16", "high"},
	[RULE_FLOOR] = {"floor", "the floor carries the rack", "m g / footprint <= kPa",
		"section 16; TIA-942", "high"},
	[RULE_TILE] = {"tile", "a tile carries a foot", "m g / feet <= kN",
		"section 16; IBM site planning", "high"},
	[RULE_STACKING] = {"stacking", "the weight stands low",
		"centre of mass <= 2/3 of the height", "section 16; the share is ours", "low"},
	[RULE_PANEL_NORMAL] = {"panel_normal", "a panel's breaker carries its feeds",
		"max I_k <= k_cont I_n", "section 8; netbox#5976", "high"},
	[RULE_PANEL_FAILOVER] = {"panel_failover", "a panel's breaker carries what moves to it",
		"max I_k <= failover_k I_n", "section 8, F5", "high"},
	[RULE_UPS_NORMAL] = {"ups_normal", "a UPS carries its load", "P <= kW, P / PF <= kVA", "U1",
		"high"},
	[RULE_UPS_FAILOVER] = {"ups_failover", "a UPS carries what moves to it",
		"P <= kW, P / PF <= kVA; WARN above 90 %", "U1", "high"},
	[RULE_RIDE_THROUGH] = {"ride_through",
		"batteries and air last until the generator has started",
		"runtime at load >= start, better 5 min", "U1, U2; NFPA 110", "low"},
	[RULE_GENERATOR] = {"generator", "a generator carries all that hangs on it",
		"(P / eta + cooling + recharge + misc) / 0.8 <= kW", "U2", "medium"},
	[RULE_ZONE_KW] = {"zone_kw", "a cooling zone takes the heat of its racks",
		"sum Q <= sum cap", "section 15", "high"},
	[RULE_ZONE_CFM] = {"zone_cfm", "a cooling zone brings the air of its racks",
		"sum CFM <= CFM", "section 12", "high"},
	[RULE_ZONE_SPARE] = {"zone_spare", "a cooling zone does without its largest unit",
		"sum(cap) - max(cap) >= Q", "section 15", "high"},
};

static const char *const VERDICTS[AUDIT_VERDICT_N] = {"PASS", "WARN", "CONDITIONAL", "FAIL"};

const struct audit_rule_about *audit_rule_about(enum audit_rule rule)
{
	return &RULES[rule < RULE_N ? rule : 0];
}

const char *audit_rule_name(enum audit_rule rule)
{
	return rule < RULE_N ? RULES[rule].name : "?";
}

enum audit_rule audit_rule_find(const char *name)
{
	unsigned i = 0;

	while (i < RULE_N && strcmp(RULES[i].name, name) != 0)
		i++;
	return (enum audit_rule)i;
}

const char *audit_verdict_name(enum audit_verdict v)
{
	return v < AUDIT_VERDICT_N ? VERDICTS[v] : "?";
}
