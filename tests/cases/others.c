/*
 * others - how NetBox 4.6.8 and openDCIM d0ed4ae compute, so that cases can show both figures.
 *
 * Only the arithmetic, from the rule book's sections 20 and 21; nothing of ours uses it.
 */
#include "tests/cases/cases.h"

#include <math.h>
#include <string.h>

#define V(i) (a[i].number)

#define OTHER(id, call)                                                                         \
	static unsigned do_##id(const struct case_value *a, unsigned n, struct case_value *out) \
	{                                                                                       \
		(void)n;                                                                        \
		out->number = (call);                                                           \
		return 1;                                                                       \
	}

/* PowerFeed.save(): volts, amps, phases, max_utilization in per cent. */
static double netbox_available(double volts, double amps, double phases, double percent)
{
	return round(fabs(volts) * amps * (percent / 100) * (phases == 3 ? 1.732 : 1));
}

/* cabnavigator.php: amps, panel volts, poles. */
static double opendcim_draw(double amps, double volts, double poles)
{
	return amps * volts * (poles == 1 ? 1 / 1.732 : poles == 3 ? 1.732 : 1) * 0.8;
}

/* PowerDistribution.class.php's alert limit has no division for one pole. */
static double opendcim_alert(double amps, double volts, double poles)
{
	return amps * volts * (poles == 3 ? 1.732 : 1) * 0.8;
}

OTHER(netbox_available_va, netbox_available(V(0), V(1), V(2), V(3)))
/* Rack.get_power_utilization(): the allocated draw over the sum of all feeds, in per cent. */
OTHER(netbox_rack_utilization, 100 * V(0) / (V(1) * V(2)))
/* PowerPort: each PSU's own draw is added, so a box counts once for every cord. */
OTHER(netbox_ports_sum, V(0) * V(1))
OTHER(netbox_leg_va, V(0) / 3)
OTHER(opendcim_max_draw_w, opendcim_draw(V(0), V(1), V(2)))
OTHER(opendcim_alert_w, opendcim_alert(V(0), V(1), V(2)))
/* power_panel.php: volts, main breaker. */
OTHER(opendcim_panel_w, V(0) * V(1) * sqrt(3))
/* dc_stats.php: tons with its 15 % added in silence. */
OTHER(opendcim_tons, V(0) * 3.412 * 1.15 / 12000)
/* Each PDU shows the whole of a dual-corded device. */
OTHER(opendcim_inherited_w, V(0) * V(1))
/* CabinetMetrics.class.php: the rack's own mass is absent. */
OTHER(opendcim_weight_kg, V(0))

/* report_outage_simulator.php: red only when every cord is down. */
static unsigned do_opendcim_outage(const struct case_value *a, unsigned n, struct case_value *out)
{
	(void)n;
	out->word = V(1) >= V(0) ? "red" : "white";
	return 1;
}

#define ENTRY(id, args)            \
	{                          \
#id, args, do_##id \
	}
const struct case_function CASE_OTHERS[] = {
	ENTRY(netbox_available_va, 4),
	ENTRY(netbox_rack_utilization, 3),
	ENTRY(netbox_ports_sum, 2),
	ENTRY(netbox_leg_va, 1),
	ENTRY(opendcim_max_draw_w, 3),
	ENTRY(opendcim_alert_w, 3),
	ENTRY(opendcim_panel_w, 2),
	ENTRY(opendcim_tons, 1),
	ENTRY(opendcim_inherited_w, 2),
	ENTRY(opendcim_weight_kg, 1),
	ENTRY(opendcim_outage, 2),
	{NULL, 0, NULL},
};
