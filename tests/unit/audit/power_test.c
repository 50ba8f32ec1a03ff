/* power - the look-up of watts, and racks computed by hand (facts: audit cases C01, C02, D1). */
#include "agent/base/err.h"
#include "inventory/audit/audit.h"
#include "inventory/audit/power.h"
#include "tests/unit/t.h"

#define DGX_W 10200.0
#define PF    0.95

static void near_(double got, double want)
{
	if (!(fabs(got - want) <= 0.0005 * fabs(want) + 1e-9))
		fail_msg("%.4f is not %.4f", got, want);
}

static struct model *site(unsigned height_u)
{
	struct model *m = model_new();

	*vec_push(&m->racks) = (struct rack){.name = "R",
		.location = MODEL_NONE,
		.height_u = height_u,
		.max_weight_kg = MODEL_UNSET,
		.cooling_zone = MODEL_NONE};
	return m;
}

static void add_feed(struct model *m, double volts, unsigned phases, double amps, double pdu_amps)
{
	*vec_push(&m->feeds) = (struct feed){.name = "F",
		.panel = MODEL_NONE,
		.rack = 0,
		.volts = volts,
		.phases = phases,
		.amps = amps,
		.max_utilization = MODEL_UNSET};
	*vec_push(&m->pdus) =
		(struct pdu){.name = "P", .rack = 0, .feed = m->feeds.n - 1, .amps = pdu_amps};
}

static void add_type(struct model *m, unsigned height_u, double max_w, unsigned psus_needed)
{
	*vec_push(&m->types) = (struct device_type){.name = "t",
		.height_u = height_u,
		.full_depth = true,
		.weight_kg = 100,
		.watts = {MODEL_UNSET, max_w, MODEL_UNSET, MODEL_UNSET},
		.watts_origin = ORIGIN_CATALOGUE,
		.watts_source = "sheet",
		.psus_needed = psus_needed};
}

/* A device with so many cords on each of the first feeds' PDUs; ends with 0. */
static void add_device(struct model *m, size_t type, unsigned position, const unsigned *cords)
{
	*vec_push(&m->devices) = (struct device){.name = "d",
		.type = type,
		.rack = 0,
		.position = position,
		.watts_measured = MODEL_UNSET,
		.watts_cap = MODEL_UNSET};
	for (size_t pdu = 0; pdu < m->pdus.n; pdu++) {
		for (unsigned k = 0; k < cords[pdu]; k++) {
			*vec_push(&m->ports) =
				(struct port){.device = m->devices.n - 1, .kind = PORT_POWER};
			*vec_push(&m->outlets) = (struct outlet){.name = "o", .pdu = pdu};
			*vec_push(&m->cords) =
				(struct cord){.port = m->ports.n - 1, .outlet = m->outlets.n - 1};
		}
	}
}

/* The only rack's load; the caller frees it with rack_loads_done. */
static struct rack_load *load(const struct model *m, struct rack_loads *all)
{
	rack_loads_make(m, BASIS_MAX, all);
	assert_int_equal(all->n, m->racks.n);
	return &all->at[0];
}

TEST(four_dgx_on_two_feeds)
{
	struct model *m = site(48);
	struct rack_loads all = VEC_INIT;
	const unsigned cords[] = {3, 3};
	struct rack_load *l;

	add_feed(m, 400, 3, 63, MODEL_UNSET);
	add_feed(m, 400, 3, 63, MODEL_UNSET);
	add_type(m, 8, DGX_W, 4);
	for (unsigned i = 0; i < 4; i++)
		add_device(m, 0, 1 + 8 * i, cords);
	l = load(m, &all);
	assert_int_equal(l->feeds.n, 2);
	near_(l->feeds.at[0].limit_va, 34917.7); /* 0.8 * sqrt(3) * 400 * 63 */
	near_(l->feeds.at[0].load_va, 21473.7);  /* 20.4 kW / 0.95 */
	near_(l->feeds.at[0].worst_va, 42947.4);
	assert_int_equal(l->feeds.at[0].worst_loss, 1);
	assert_int_equal(l->feeds.at[1].worst_loss, 0);
	near_(l->worst_share, 1.22996);
	assert_int_equal(l->verdict, VERDICT_OVER);
	assert_int_equal(l->degraded, 4); /* three PSUs left, four needed */
	assert_int_equal(l->down, 0);
	assert_int_equal(l->units_used, 32);
	assert_int_equal(l->units_free, 16);
	assert_int_equal(l->units_gap, 16);
	assert_int_equal(l->devices, 4);
	near_(l->watts[BASIS_MAX], 40800);
	near_(l->kg, 400);
	rack_loads_done(&all);
	model_free(m);
}

/* Lists (rack_loads), the audit and the sum of power_of say the same watts on each basis. */
TEST(nobody_adds_other_watts)
{
	struct model *m = site(48);
	const unsigned cords[] = {3, 3};
	struct rack_loads all = VEC_INIT;

	add_feed(m, 400, 3, 63, MODEL_UNSET);
	add_feed(m, 400, 3, 63, MODEL_UNSET);
	add_type(m, 8, DGX_W, 4);
	for (unsigned i = 0; i < 4; i++)
		add_device(m, 0, 1 + 8 * i, cords);
	m->types.at[0].watts[BASIS_NAMEPLATE] = 19800;
	m->devices.at[1].watts_measured = 8400;
	m->devices.at[2].watts_cap = 9000;
	m->devices.at[2].cap.enforced_at_boot = m->devices.at[2].cap.readback = true;
	load(m, &all);
	for (unsigned b = 0; b < BASIS_N; b++) {
		const struct audit_opts o = {.policy = "strict80", .basis = (enum power_basis)b};
		struct audit a;
		struct err err;
		double watts = 0;

		if (b == BASIS_MAX)
			continue; /* a proven cap counts as the maximum: see audit.h */
		for (size_t d = 0; d < m->devices.n; d++)
			watts += power_of(m, d, (enum power_basis)b).watts;
		assert_int_equal(audit_run(m, &o, &a, &err), 0);
		near_(all.at[0].watts[b], watts);
		near_(a.racks.at[0].watts, watts);
		audit_done(&a);
	}
	near_(all.at[0].watts[BASIS_NAMEPLATE], 79200);
	near_(all.at[0].watts[BASIS_CAPPED], 39600);
	rack_loads_done(&all);
	model_free(m);
}

TEST(a_third_feed_cures_it)
{
	struct model *m = site(48);
	struct rack_loads all = VEC_INIT;
	const unsigned cords[] = {2, 2, 2};
	struct rack_load *l;

	for (int i = 0; i < 3; i++)
		add_feed(m, 400, 3, 63, MODEL_UNSET);
	add_type(m, 8, DGX_W, 4);
	for (unsigned i = 0; i < 4; i++)
		add_device(m, 0, 1 + 8 * i, cords);
	l = load(m, &all);
	near_(l->feeds.at[2].load_va, 40800 / 3.0 / PF);
	near_(l->feeds.at[2].worst_va, 21473.7);
	near_(l->worst_share, 0.61498);
	assert_int_equal(l->verdict, VERDICT_OK);
	assert_int_equal(l->degraded, 0);
	rack_loads_done(&all);
	model_free(m);
}

TEST(l40s_on_two_16_a_feeds)
{
	struct model *m = site(42);
	struct rack_loads all = VEC_INIT;
	const unsigned both[] = {1, 1};
	struct rack_load *l;

	add_feed(m, 230, 1, 16, MODEL_UNSET);
	add_feed(m, 230, 1, 16, MODEL_UNSET);
	add_type(m, 4, 2100, 1);
	add_type(m, 1, 250, 1);
	add_device(m, 0, 1, both);
	add_device(m, 0, 5, both);
	add_device(m, 1, 42, both);
	l = load(m, &all);
	near_(l->feeds.at[0].limit_va, 2944); /* 12.8 A */
	near_(l->feeds.at[0].load_va / 230, 10.18);
	near_(l->feeds.at[0].worst_va / 230, 20.366);
	assert_int_equal(l->verdict, VERDICT_OVER);
	assert_int_equal(l->units_gap, 33);
	rack_loads_done(&all);
	model_free(m);
}

/* 12 kW of dual-corded load on 32 A passes, 18 kW does not although each feed shows 43 %. */
TEST(two_n_totals_deceive)
{
	static const struct {
		double watts;
		double share; /* of the 80 % limit, after the loss */
		enum rack_verdict verdict;
	} CASES[] = {{12000, 0.7122, VERDICT_OK}, {16000, 0.9497, VERDICT_HIGH},
		{18000, 1.0684, VERDICT_OVER}};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct model *m = site(42);
		struct rack_loads all = VEC_INIT;
		struct rack_load *l;

		add_feed(m, 400, 3, 32, MODEL_UNSET);
		add_feed(m, 400, 3, 32, MODEL_UNSET);
		add_type(m, 4, CASES[i].watts, 1);
		add_device(m, 0, 1, (const unsigned[]){1, 1});
		l = load(m, &all);
		near_(l->worst_share, CASES[i].share);
		assert_int_equal(l->verdict, CASES[i].verdict);
		rack_loads_done(&all);
		model_free(m);
	}
}

TEST(single_cords_go_dark_and_move_nothing)
{
	struct model *m = site(42);
	struct rack_loads all = VEC_INIT;
	struct rack_load *l;

	add_feed(m, 230, 1, 32, MODEL_UNSET);
	add_feed(m, 230, 1, 32, MODEL_UNSET);
	add_type(m, 2, 1000, 1);
	add_device(m, 0, 1, (const unsigned[]){1, 0});
	add_device(m, 0, 3, (const unsigned[]){2, 0}); /* both cords on one feed */
	add_device(m, 0, 5, (const unsigned[]){0, 1});
	l = load(m, &all);
	near_(l->feeds.at[0].load_va, 2000 / PF);
	near_(l->feeds.at[0].worst_va, 2000 / PF);
	assert_int_equal(l->feeds.at[0].worst_loss, MODEL_NONE);
	assert_int_equal(l->down, 3); /* two by the one feed, one by the other */
	rack_loads_done(&all);
	model_free(m);
}

TEST(a_pdu_has_its_own_rating)
{
	struct model *m = site(42);
	struct rack_loads all = VEC_INIT;
	struct rack_load *l;

	add_feed(m, 208, 1, 30, 24); /* derated already: the limit is 24 A, not 19.2 */
	add_feed(m, 208, 1, 30, 16);
	add_type(m, 2, 3000, 1);
	add_device(m, 0, 1, (const unsigned[]){1, 1});
	l = load(m, &all);
	near_(l->feeds.at[0].limit_va, 4992);
	assert_int_equal(l->feeds.at[0].verdict, VERDICT_OK);
	near_(l->worst_share, 3000 / PF / (208 * 16.0));
	assert_int_equal(l->worst_pdu, 1);
	assert_int_equal(l->verdict, VERDICT_HIGH);
	rack_loads_done(&all);
	model_free(m);
}

/* A PDU behind an outlet of another loads both, and the feed. */
TEST(nested_pdus)
{
	struct model *m = site(42);
	struct rack_loads all = VEC_INIT;
	struct rack_load *l;

	add_feed(m, 230, 1, 16, 10);
	*vec_push(&m->outlets) = (struct outlet){.name = "up", .pdu = 0};
	*vec_push(&m->pdus) = (struct pdu){.name = "Q",
		.rack = 0,
		.feed = MODEL_NONE,
		.amps = MODEL_UNSET,
		.upstream = {SUPPLY_OUTLET, 0}};
	add_type(m, 1, 1900, 1);
	add_device(m, 0, 1, (const unsigned[]){0, 1});
	l = load(m, &all);
	assert_int_equal(l->feeds.n, 1);
	near_(l->feeds.at[0].load_va, 2000);
	near_(l->worst_share, 2000 / 2300.0);
	assert_int_equal(l->worst_pdu, 0);
	m->pdus.at[0].upstream = (struct supply){SUPPLY_OUTLET, 1}; /* a loop ends */
	m->pdus.at[0].feed = MODEL_NONE;
	rack_loads_done(&all);
	l = load(m, &all);
	assert_int_equal(l->verdict, VERDICT_UNKNOWN);
	rack_loads_done(&all);
	model_free(m);
}

TEST(what_is_not_known_is_not_ok)
{
	struct model *m = site(42);
	struct rack_loads all = VEC_INIT;
	struct rack_load *l;

	add_type(m, 2, 1000, 1);
	add_type(m, 2, MODEL_UNSET, 1);
	add_device(m, 0, 1, NULL);
	l = load(m, &all);
	assert_int_equal(l->verdict, VERDICT_UNKNOWN); /* no feed */
	assert_int_equal(l->no_cord, 1);
	rack_loads_done(&all);
	add_feed(m, 230, 1, 32, MODEL_UNSET);
	m->devices.n = 0;
	add_device(m, 1, 1, (const unsigned[]){1});
	l = load(m, &all);
	assert_int_equal(l->watts_unknown, 1);
	assert_int_equal(l->verdict, VERDICT_UNKNOWN);
	rack_loads_done(&all);
	m->devices.n = m->ports.n = m->cords.n = 0;
	l = load(m, &all);
	assert_int_equal(l->verdict, VERDICT_OK); /* an empty rack */
	assert_int_equal(l->units_free, 42);
	rack_loads_done(&all);
	model_free(m);
}

TEST(units_and_mass)
{
	struct model *m = site(10);
	struct rack_loads all = VEC_INIT;
	struct rack_load *l;

	m->racks.at[0].max_weight_kg = 210;
	m->racks.at[0].pdu_kg = 5;
	m->racks.at[0].cables_kg = 1;
	add_feed(m, 230, 1, 16, MODEL_UNSET);
	add_type(m, 1, 100, 1);
	m->types.at[0].half_u = true; /* 1.5 U */
	add_device(m, 0, 3, (const unsigned[]){1});
	add_device(m, 0, 4, (const unsigned[]){1});
	m->devices.at[1].half_up = true; /* 3, 3.5 - 4.5, 5 */
	*vec_push(&m->reservations) =
		(struct reservation){.name = "kept", .rack = 0, .position = 9, .height_u = 1};
	l = load(m, &all);
	assert_int_equal(l->units_used, 4); /* 3, 4, 5, and 9 */
	assert_int_equal(l->units_gap, 3);
	near_(l->kg, 206);
	assert_false(l->too_heavy);
	rack_loads_done(&all);
	m->racks.at[0].max_weight_kg = 205;
	m->types.at[0].weight_kg = MODEL_UNSET;
	add_type(m, 0, 100, 1);
	m->types.at[1].weight_kg = 200;
	add_device(m, 1, 0, (const unsigned[]){1});
	l = load(m, &all);
	assert_int_equal(l->kg_unknown, 2);
	assert_true(l->too_heavy);
	rack_loads_done(&all);
	model_free(m);
}

TEST(feed_limits)
{
	const struct feed eu = {
		.volts = 400, .phases = 3, .amps = 32, .max_utilization = MODEL_UNSET};
	struct feed f = eu;

	near_(power_feed_limit(&f) / 0.8, 22170.3);
	f.max_utilization = 1;
	near_(power_feed_limit(&f), 22170.3);
	f.volts = 230.94;
	f.volts_are = VOLTS_LN;
	near_(power_feed_limit(&f), 22170.3);
	f = eu;
	f.k_temp = 0.9;
	near_(power_feed_limit(&f), 22170.3 * 0.8 * 0.9);
	f.plug_amps = 20;
	near_(power_feed_limit(&f), 22170.3 * 20 / 32);
	f.amps = MODEL_UNSET;
	assert_true(isnan(power_feed_limit(&f)));
}

static const struct {
	double type[BASIS_N], measured, cap;
	enum power_basis ask, basis;
	double watts;
} LOOKUPS[] = {
#define _ MODEL_UNSET
	{{4, 3, 2, 1}, _, _, BASIS_NAMEPLATE, BASIS_NAMEPLATE, 4},
	{{4, 3, 2, 1}, _, _, BASIS_MAX, BASIS_MAX, 3},
	{{4, 3, 2, 1}, _, _, BASIS_CAPPED, BASIS_CAPPED, 2},
	{{4, 3, 2, 1}, _, _, BASIS_MEASURED, BASIS_MEASURED, 1},
	{{4, 3, 2, 1}, 0.5, 1.5, BASIS_MEASURED, BASIS_MEASURED, 0.5},
	{{4, 3, 2, 1}, 0.5, 1.5, BASIS_CAPPED, BASIS_CAPPED, 1.5},
	{{4, 3, 2, 1}, 0.5, 1.5, BASIS_MAX, BASIS_MAX, 3}, /* never below what it can draw */
	{{_, 3, _, _}, _, _, BASIS_NAMEPLATE, BASIS_MAX, 3},
	{{4, _, 2, 1}, _, _, BASIS_MAX, BASIS_NAMEPLATE, 4},
	{{4, 3, _, _}, _, _, BASIS_CAPPED, BASIS_MAX, 3},
	{{4, 3, _, _}, _, 2, BASIS_MEASURED, BASIS_CAPPED, 2},
	{{4, _, _, _}, _, _, BASIS_MEASURED, BASIS_NAMEPLATE, 4},
	{{_, _, 2, 1}, _, _, BASIS_MAX, BASIS_MAX, _},
#undef _
};

TEST(look_up)
{
	for (size_t i = 0; i < sizeof LOOKUPS / sizeof *LOOKUPS; i++) {
		struct model *m = site(42);
		struct power p;

		add_type(m, 1, 0, 1);
		for (int b = 0; b < BASIS_N; b++)
			m->types.at[0].watts[b] = LOOKUPS[i].type[b];
		add_device(m, 0, 1, NULL);
		m->devices.at[0].watts_measured = LOOKUPS[i].measured;
		m->devices.at[0].watts_cap = LOOKUPS[i].cap;
		p = power_of(m, 0, LOOKUPS[i].ask);
		assert_int_equal(p.basis, LOOKUPS[i].basis);
		if (isnan(LOOKUPS[i].watts))
			assert_true(isnan(p.watts));
		else
			near_(p.watts, LOOKUPS[i].watts);
		model_free(m);
	}
}

TEST(origin_comes_with_the_figure)
{
	struct model *m = site(42);

	add_type(m, 1, 100, 1);
	add_device(m, 0, 1, NULL);
	assert_int_equal(power_of(m, 0, BASIS_MEASURED).origin, ORIGIN_CATALOGUE);
	assert_string_equal(power_of(m, 0, BASIS_MEASURED).source, "sheet");
	m->devices.at[0].watts_measured = 80;
	assert_int_equal(power_of(m, 0, BASIS_MEASURED).origin, ORIGIN_DECLARED);
	m->devices.at[0].type = MODEL_NONE;
	assert_true(isnan(power_of(m, 0, BASIS_MAX).watts));
	model_free(m);
}

T_MAIN
