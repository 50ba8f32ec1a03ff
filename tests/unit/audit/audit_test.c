/* audit - whole racks through the engine: shares, losses, trips, caps, chains, limits of lists. */
#include "agent/base/err.h"
#include "inventory/audit/audit.h"
#include "inventory/audit/restart.h"
#include "tests/unit/audit/site.h"
#include "tests/unit/t.h"

#include <math.h>

static bool has(const struct audit *a, enum audit_rule rule)
{
	vec_each(&a->findings, const struct finding, f)
		if (f->rule == rule)
			return true;
	return false;
}

/* The first of the rule; one of no figures when there is none, so that what follows fails. */
static const struct finding *find_in(const struct audit *a, enum audit_rule rule)
{
	static const struct finding none = {
		.rule = RULE_N, .value = MODEL_UNSET, .limit = MODEL_UNSET, .line = "", .text = ""};

	vec_each(&a->findings, const struct finding, f)
		if (f->rule == rule)
			return f;
	return &none;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 0.005 * fabs(want)))
		fail_msg("%g, expected %g", got, want);
}

static void expect(const struct audit *a, enum audit_rule rule, enum audit_verdict verdict)
{
	const struct finding *f = find_in(a, rule);

	if (!has(a, rule))
		fail_msg("no finding of rule %s", audit_rule_name(rule));
	if (f->verdict != verdict)
		fail_msg("%s is %s: %s", audit_rule_name(rule), audit_verdict_name(f->verdict),
			f->text);
	assert_non_null(f->text);
}

static struct audit run_with(const struct model *m, const char *policy)
{
	const struct audit_opts o = {.policy = policy, .basis = BASIS_MAX};
	struct audit a;
	struct err err;

	if (audit_run(m, &o, &a, &err) < 0)
		fail_msg("%s", err.msg);
	return a;
}

/* C01: four boxes of six PSUs, three on each of two feeds, each PSU on its own 16 A bank. */
static struct model *dgx_rack(unsigned boxes, double amps)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1");
	const size_t type = site_type(m, "dgx-h100", 10200, 8);

	site_psus(m, type, 6, 4, 3);
	m->types.at[type].gpus = 8;
	m->types.at[type].gpu_w = 700;
	m->types.at[type].psu_watts = 3300;
	m->types.at[type].inlet_amps = 16;
	for (unsigned i = 0; i < boxes; i++)
		site_device(m, arena_printf(m->arena, "gpu%u", i + 1), type, rack, 1 + 8 * i);
	for (unsigned side = 0; side < 2; side++) {
		const size_t feed = site_feed(m, side ? "B" : "A", rack, 400, 3, amps);
		const size_t pdu = site_pdu(m, side ? "pdu-b" : "pdu-a", rack, feed);

		for (unsigned i = 0; i < boxes * 3; i++) {
			site_bank(m, pdu, i + 1, 16, PHASE_L1 + i % 3);
			site_cord(m, i / 3, site_outlet(m, pdu, "C19", i + 1, PHASE_UNSTATED));
		}
	}
	return m;
}

TEST(two_feeds_that_carry_four_boxes_not_alone)
{
	struct model *m = dgx_rack(4, 63);
	struct audit a = run_with(m, "strict80");

	assert_int_equal(a.verdict, AUDIT_FAIL);
	near(find_in(&a, RULE_FEED_NORMAL)->value, 30.99);
	expect(&a, RULE_FEED_NORMAL, AUDIT_PASS);
	near(find_in(&a, RULE_FEED_FAILOVER)->value, 61.99);
	near(find_in(&a, RULE_FEED_FAILOVER)->limit, 50.4);
	expect(&a, RULE_FEED_FAILOVER, AUDIT_FAIL);
	expect(&a, RULE_PSU_DEGRADED, AUDIT_WARN);
	expect(&a, RULE_PSU_DOWN, AUDIT_PASS);
	expect(&a, RULE_BANK_FAILOVER, AUDIT_PASS);
	near(find_in(&a, RULE_BANK_FAILOVER)->value, 15.50);
	expect(&a, RULE_CASCADE, AUDIT_PASS);
	assert_int_equal(a.findings.at[a.racks.at[0].binding].rule, RULE_FEED_FAILOVER);
	audit_done(&a);
	a = run_with(m, "iec100");
	expect(&a, RULE_FEED_FAILOVER, AUDIT_WARN);
	expect(&a, RULE_EFFICIENCY, AUDIT_WARN);
	near(find_in(&a, RULE_EFFICIENCY)->value, 65.1);
	assert_int_equal(a.verdict, AUDIT_WARN);
	audit_done(&a);
	model_free(m);
}

TEST(a_proven_cap_makes_it_conditional)
{
	struct model *m = dgx_rack(2, 32);
	struct audit a;

	vec_each(&m->devices, struct device, d)
		d->cap = (struct device_cap){486, 0.96, true, true};
	a = run_with(m, "strict80");
	expect(&a, RULE_FEED_FAILOVER, AUDIT_CONDITIONAL);
	assert_int_equal(a.verdict, AUDIT_CONDITIONAL);
	audit_done(&a);
	m->devices.at[1].cap.gpu_w = 490;
	m->devices.at[0].cap.gpu_w = 490;
	a = run_with(m, "strict80");
	expect(&a, RULE_FEED_FAILOVER, AUDIT_FAIL);
	audit_done(&a);
	m->devices.at[1].cap = m->devices.at[0].cap = (struct device_cap){480, 0.96, true, false};
	a = run_with(m, "strict80");
	expect(&a, RULE_FEED_FAILOVER, AUDIT_FAIL);
	expect(&a, RULE_CAP_PROOF, AUDIT_WARN);
	audit_done(&a);
	model_free(m);
}

TEST(a_trip_is_followed_until_it_is_dark)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), server = site_type(m, "l40s", 2100, 2);
	const size_t tor = site_type(m, "tor", 250, 1);
	struct audit a;

	site_psus(m, server, 2, 1, 1);
	site_psus(m, tor, 2, 1, 1);
	site_device(m, "s1", server, rack, 1);
	site_device(m, "s2", server, rack, 3);
	site_device(m, "tor", tor, rack, 5);
	for (unsigned side = 0; side < 2; side++) {
		const size_t pdu = site_pdu(m, side ? "pb" : "pa", rack,
			site_feed(m, side ? "B" : "A", rack, 230, 1, 16));

		for (unsigned i = 0; i < 3; i++)
			site_cord(m, i, site_outlet(m, pdu, "C13", 0, PHASE_UNSTATED));
	}
	a = run_with(m, NULL);
	near(find_in(&a, RULE_FEED_FAILOVER)->value, 20.37);
	expect(&a, RULE_FEED_FAILOVER, AUDIT_FAIL);
	expect(&a, RULE_CASCADE, AUDIT_FAIL);
	assert_int_equal(find_in(&a, RULE_CASCADE)->verdict, AUDIT_FAIL);
	assert_non_null(strstr(find_in(&a, RULE_CASCADE)->text, "3 of 3 devices down"));
	audit_done(&a);
	model_free(m);
}

TEST(one_line_fails_while_the_total_passes)
{
	static const enum phase phases[] = {PHASE_L1, PHASE_L1, PHASE_L1, PHASE_L2, PHASE_L3};
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "server", 1500, 2);
	struct audit a;

	site_psus(m, type, 2, 1, 1);
	for (unsigned i = 0; i < 5; i++)
		site_device(m, arena_printf(m->arena, "s%u", i), type, rack, 1 + 2 * i);
	for (unsigned side = 0; side < 2; side++) {
		const size_t pdu = site_pdu(m, side ? "pb" : "pa", rack,
			site_feed(m, side ? "B" : "A", rack, 400, 3, 16));

		for (unsigned i = 0; i < 5; i++)
			site_cord(m, i, site_outlet(m, pdu, "C13", 0, phases[i]));
	}
	a = run_with(m, "iec100");
	expect(&a, RULE_FEED_FAILOVER, AUDIT_PASS);
	expect(&a, RULE_PHASE_NORMAL, AUDIT_PASS);
	expect(&a, RULE_PHASE_FAILOVER, AUDIT_FAIL);
	near(find_in(&a, RULE_PHASE_FAILOVER)->value, 20.51);
	assert_string_equal(find_in(&a, RULE_PHASE_FAILOVER)->line, "L1");
	expect(&a, RULE_IMBALANCE, AUDIT_WARN);
	near(find_in(&a, RULE_IMBALANCE)->value, 80.0);
	near(find_in(&a, RULE_NEUTRAL)->value, 13.67);
	audit_done(&a);
	model_free(m);
}

TEST(a_bank_trips_while_its_pdu_is_fine)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1");
	const size_t feed = site_feed(m, "A", rack, 230, 1, 32);
	const size_t pdu = site_pdu(m, "pa", rack, feed);
	static const struct {
		double amps;
		unsigned bank;
	} loads[] = {{9, 1}, {9, 1}, {4, 2}};
	struct audit a;

	m->pdus.at[pdu].amps = 32;
	site_bank(m, pdu, 1, 16, PHASE_UNSTATED);
	site_bank(m, pdu, 2, 16, PHASE_UNSTATED);
	for (unsigned i = 0; i < 3; i++) {
		const char *name = arena_printf(m->arena, "d%u", i);
		const size_t type = site_type(m, name, loads[i].amps * 230 * 0.95, 1);

		site_psus(m, type, 1, 1, 1);
		site_device(m, name, type, rack, 1 + i);
		site_cord(m, i, site_outlet(m, pdu, "C19", loads[i].bank, PHASE_UNSTATED));
	}
	a = run_with(m, "iec100");
	near(find_in(&a, RULE_PDU_NORMAL)->value, 22);
	expect(&a, RULE_PDU_NORMAL, AUDIT_PASS);
	near(find_in(&a, RULE_BANK_NORMAL)->value, 18);
	expect(&a, RULE_BANK_NORMAL, AUDIT_FAIL);
	expect(&a, RULE_CASCADE, AUDIT_FAIL);
	expect(&a, RULE_SINGLE_CORD, AUDIT_WARN);
	audit_done(&a);
	model_free(m);
}

/* Two UPSs, each behind a feed: 2 x 100 kVA with 95 kW, the rule book's U1. */
TEST(a_ups_after_the_loss_of_the_other)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "big", 95000, 2);
	struct audit a;

	m->terms.power_factor = 1;
	site_psus(m, type, 2, 1, 1);
	site_device(m, "d", type, rack, 1);
	for (unsigned side = 0; side < 2; side++) {
		const size_t feed = site_feed(m, side ? "B" : "A", rack, 400, 3, 250);

		*vec_push(&m->upses) =
			(struct ups){.name = side ? "ups-b" : "ups-a", .kva = 100, .kw = 100};
		m->feeds.at[feed].upstream = (struct supply){SUPPLY_UPS, side};
		site_cord(m, 0,
			site_outlet(m, site_pdu(m, side ? "pb" : "pa", rack, feed), NULL, 0,
				PHASE_ALL));
	}
	a = run_with(m, "iec100");
	expect(&a, RULE_UPS_NORMAL, AUDIT_PASS);
	near(find_in(&a, RULE_UPS_NORMAL)->value, 47500);
	expect(&a, RULE_UPS_FAILOVER, AUDIT_WARN);
	near(find_in(&a, RULE_UPS_FAILOVER)->value, 95000);
	audit_done(&a);
	m->upses.at[0].kva = m->upses.at[1].kva = 90;
	a = run_with(m, "iec100");
	expect(&a, RULE_UPS_FAILOVER, AUDIT_FAIL);
	expect(&a, RULE_CASCADE, AUDIT_FAIL);
	audit_done(&a);
	model_free(m);
}

TEST(pdus_behind_pdus_and_no_loop)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "d", 460, 1);
	const size_t outer = site_pdu(m, "outer", rack, site_feed(m, "A", rack, 400, 3, 16));
	const size_t outlet = site_outlet(m, outer, "C19", 0, PHASE_L2);
	const size_t inner = site_pdu(m, "inner", rack, MODEL_NONE);
	const struct audit_opts o = {.basis = BASIS_MAX};
	struct audit a;
	struct err err;

	m->pdus.at[inner].upstream = (struct supply){SUPPLY_OUTLET, outlet};
	site_psus(m, type, 1, 1, 1);
	site_device(m, "d", type, rack, 1);
	site_cord(m, 0, site_outlet(m, inner, "C13", 0, PHASE_UNSTATED));
	a = run_with(m, "iec100");
	near(find_in(&a, RULE_PHASE_NORMAL)->value, 460 / (230.94 * 0.95));
	assert_string_equal(find_in(&a, RULE_PHASE_NORMAL)->line, "L2");
	audit_done(&a);
	m->pdus.at[outer].feed = MODEL_NONE;
	m->pdus.at[outer].upstream = (struct supply){SUPPLY_OUTLET, m->outlets.n - 1};
	assert_int_equal(audit_run(m, &o, &a, &err), -E_CONFLICT);
	model_free(m);
}

TEST(loads_between_lines_add_as_vectors)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1");
	const size_t pdu = site_pdu(m, "pa", rack, site_feed(m, "A", rack, 208, 3, 30));
	static const double amps[] = {20, 10};
	struct audit a;

	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "d2" : "d1";
		const size_t type = site_type(m, name, amps[i] * 208 * 0.95, 1);

		site_psus(m, type, 1, 1, 1);
		site_device(m, name, type, rack, 1 + i);
		site_cord(m, i, site_outlet(m, pdu, NULL, 0, i ? PHASE_L2L3 : PHASE_L1L2));
	}
	a = run_with(m, "iec100");
	near(find_in(&a, RULE_PHASE_NORMAL)->value, 26.46);
	assert_string_equal(find_in(&a, RULE_PHASE_NORMAL)->line, "L2");
	audit_done(&a);
	model_free(m);
}

TEST(a_hot_spare_puts_all_on_one_side)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "d", 2185, 2);
	struct audit a;

	site_psus(m, type, 2, 1, 1);
	site_device(m, "d", type, rack, 1);
	for (unsigned side = 0; side < 2; side++)
		site_cord(m, 0,
			site_outlet(m,
				site_pdu(m, side ? "pb" : "pa", rack,
					site_feed(m, side ? "B" : "A", rack, 230, 1, 16)),
				NULL, 0, PHASE_UNSTATED));
	a = run_with(m, "iec100");
	near(find_in(&a, RULE_FEED_NORMAL)->value, 5);
	audit_done(&a);
	m->types.at[type].hot_spare = true;
	a = run_with(m, "iec100");
	near(find_in(&a, RULE_FEED_NORMAL)->value, 10);
	near(find_in(&a, RULE_FEED_FAILOVER)->value, 10);
	audit_done(&a);
	model_free(m);
}

TEST(splits_of_six_psus)
{
	static const struct {
		unsigned a, b, c;
		enum audit_rule rule;
		enum audit_verdict verdict;
	} cases[] = {
		{3, 3, 0, RULE_PSU_DEGRADED, AUDIT_WARN},
		{3, 3, 0, RULE_PSU_DOWN, AUDIT_PASS},
		{4, 2, 0, RULE_PSU_DOWN, AUDIT_FAIL},
		{2, 2, 2, RULE_PSU_DOWN, AUDIT_PASS},
		{2, 2, 2, RULE_PSU_DEGRADED, AUDIT_PASS},
		{6, 0, 0, RULE_PSU_DOWN, AUDIT_FAIL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct model *m = model_new();
		const size_t rack = site_rack(m, "r1"), type = site_type(m, "d", 6000, 8);
		const unsigned split[] = {cases[i].a, cases[i].b, cases[i].c};
		struct audit a;

		site_psus(m, type, 6, 4, 3);
		site_device(m, "d", type, rack, 1);
		for (unsigned f = 0; f < 3; f++) {
			const size_t pdu = site_pdu(m, arena_printf(m->arena, "p%u", f), rack,
				site_feed(m, arena_printf(m->arena, "f%u", f), rack, 400, 3, 63));

			for (unsigned k = 0; k < split[f]; k++)
				site_cord(m, 0, site_outlet(m, pdu, "C19", 0, PHASE_UNSTATED));
		}
		a = run_with(m, "strict80");
		expect(&a, cases[i].rule, cases[i].verdict);
		audit_done(&a);
		model_free(m);
	}
}

TEST(feeds_of_one_panel_are_common_mode)
{
	struct model *m = dgx_rack(1, 63);
	struct audit a;

	*vec_push(&m->panels) = (struct panel){.name = "p", .location = MODEL_NONE, .amps = 400};
	m->feeds.at[0].panel = m->feeds.at[1].panel = 0;
	a = run_with(m, "strict80");
	expect(&a, RULE_COMMON_MODE, AUDIT_WARN);
	expect(&a, RULE_PSU_DOWN, AUDIT_PASS);
	expect(&a, RULE_PANEL_NORMAL, AUDIT_PASS);
	near(find_in(&a, RULE_PANEL_NORMAL)->value, 15.5);
	audit_done(&a);
	model_free(m);
}

TEST(what_is_not_known_is_said)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "mystery", MODEL_UNSET, 1);
	const size_t pdu = site_pdu(m, "pa", rack, site_feed(m, "A", rack, 230, 3, 16));
	struct audit a;

	site_device(m, "d", type, rack, 1);
	site_device(m, "none", MODEL_NONE, rack, 2);
	site_device(m, "e", site_type(m, "known", 100, 1), rack, 3);
	site_cord(m, 0, site_outlet(m, pdu, "C13", 0, PHASE_UNSTATED));
	a = run_with(m, NULL);
	expect(&a, RULE_WATTS, AUDIT_WARN);
	expect(&a, RULE_CORDS, AUDIT_WARN);
	expect(&a, RULE_FEED_DATA, AUDIT_FAIL);
	assert_false(has(&a, RULE_FEED_NORMAL));
	audit_done(&a);
	model_free(m);
}

TEST(lists_end_and_say_so)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "mystery", MODEL_UNSET, 1);
	struct audit a;
	unsigned n = 0;

	for (unsigned i = 0; i < 20; i++)
		site_device(m, arena_printf(m->arena, "d%u", i), type, rack, 1 + i);
	a = run_with(m, NULL);
	vec_each(&a.findings, const struct finding, f) {
		n += f->rule == RULE_WATTS;
		if (n == AUDIT_LIST_MAX && f->rule == RULE_WATTS)
			assert_int_equal(f->more, 20 - AUDIT_LIST_MAX);
	}
	assert_int_equal(n, AUDIT_LIST_MAX);
	audit_done(&a);
	model_free(m);
}

TEST(names_both_ways)
{
	struct model *m = dgx_rack(1, 63);
	struct arena *a = arena_new();
	struct audit_subject s;
	struct err err;

	assert_int_equal(audit_find(m, "A", &s, &err), 0);
	assert_int_equal(s.noun, NOUN_FEED);
	assert_int_equal(audit_find(m, "pdu-b/2", &s, &err), 0);
	assert_int_equal(s.noun, NOUN_BANK);
	assert_string_equal(audit_name(a, m, s), "bank 'pdu-b/2'");
	assert_int_equal(audit_find(m, "nothing", &s, &err), -E_NOTFOUND);
	assert_int_equal(audit_find(m, "pdu-b/99", &s, &err), -E_NOTFOUND);
	m->feeds.at[1].name = "pdu-a";
	assert_int_equal(audit_find(m, "pdu-a", &s, &err), -E_CONFLICT);
	arena_free(a);
	model_free(m);
}

TEST(only_what_is_asked_for)
{
	struct model *m = dgx_rack(4, 63);
	const size_t racks[] = {0};
	struct audit_subject lose = {NOUN_BANK, 0};
	struct audit_opts o = {
		.basis = BASIS_MAX, .racks = racks, .n_racks = 1, .lose = &lose, .n_lose = 1};
	struct audit a;
	struct err err;

	assert_int_equal(audit_run(m, &o, &a, &err), 0);
	assert_int_equal(a.losses.n, 2);
	expect(&a, RULE_FEED_FAILOVER, AUDIT_PASS);
	assert_true(find_in(&a, RULE_FEED_FAILOVER)->value < 35);
	audit_done(&a);
	o = (struct audit_opts){.policy = "own", .basis = BASIS_MAX};
	assert_int_equal(audit_run(m, &o, &a, &err), -E_NOTFOUND);
	model_free(m);
}

TEST(restart_in_order_and_in_batches)
{
	struct model *m = model_new();
	const size_t rack = site_rack(m, "r1"), type = site_type(m, "eight", 1748, 1);
	const size_t pdu = site_pdu(m, "pa", rack, site_feed(m, "A", rack, 230, 1, 63));
	static const char *const roles[] = {"gpu", "gpu", "gpu", "switch", "storage"};
	struct restart_plan p;
	struct audit a;

	site_bank(m, pdu, 1, 16, PHASE_UNSTATED);
	site_psus(m, type, 1, 1, 1);
	for (unsigned i = 0; i < 5; i++) {
		site_device(m, arena_printf(m->arena, "d%u", i), type, rack, 1 + i);
		m->devices.at[i].role = roles[i];
		site_cord(m, i, site_outlet(m, pdu, "C19", i < 3 ? 1 : 0, PHASE_UNSTATED));
	}
	a = run_with(m, "iec100");
	restart_make(&a, &p);
	/* 8 A each, 32 A inrush; C 16 A holds 80 A: two at once, the third after them */
	assert_int_equal(p.steps.n, 5);
	assert_int_equal(p.steps.at[0].device, 3);
	assert_int_equal(p.steps.at[1].device, 4);
	assert_int_equal(p.steps.at[1].batch, 2);
	assert_int_equal(p.steps.at[2].batch, 3);
	assert_int_equal(p.steps.at[3].batch, 3);
	assert_int_equal(p.steps.at[4].batch, 4);
	assert_int_equal(p.batches, 4);
	assert_false(p.steps.at[4].trips);
	restart_done(&p);
	m->banks.at[0].curve = 'B';
	m->types.at[type].inrush = 10;
	audit_done(&a);
	a = run_with(m, "iec100");
	restart_make(&a, &p);
	assert_int_equal(p.batches, 5);
	assert_true(p.steps.at[4].trips);
	assert_false(p.steps.at[0].trips);
	restart_done(&p);
	audit_done(&a);
	model_free(m);
}

T_MAIN
