/* part - a rack loaded without the rest is judged as in the whole site, word by word. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/audit/audit.h"
#include "inventory/audit/reach.h"
#include "inventory/import/import.h"
#include "inventory/store/store.h"
#include "tests/unit/audit/site.h"
#include "tests/unit/t.h"

#include <sqlite3.h>

#define RACKS 24

static int serial;
static unsigned parts_loaded, whole_loaded, trips_told;

struct judging {
	const char *policy;
	enum power_basis basis;
};

static bool may_trip(void *ctx, const struct model *m, const struct reach *r)
{
	const struct judging *j = ctx;
	struct policy p;

	assert_int_equal(policy_make(m, j->policy, &p, NULL), 0);
	return reach_trips(m, &p, r, j->basis);
}

static struct store *stored(const struct model *m, bool reach)
{
	AUTO_STR path = xasprintf("%s/p%d.db", t_dir(), serial++);
	struct arena *a = arena_new();
	struct reach *at;
	struct store *s;
	struct err err = {0};
	size_t n;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	if (store_put_model(s, m, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(reach_make(a, m, &at, &n, NULL), 0);
	if (reach)
		assert_int_equal(store_put_reach(s, m->site, at, n, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	arena_free(a);
	return s;
}

static const struct finding *nth(const struct audit *a, const struct audit_rack *r, size_t i)
{
	return &a->findings.at[r->first + i];
}

/* The trips of a chain are counted over the site, and the first may be far away. */
static bool same_finding(struct arena *scratch, const struct audit *x, const struct finding *f,
	const struct audit *y, const struct finding *g)
{
	if (f->rule != g->rule || f->verdict != g->verdict)
		return false;
	if (f->rule == RULE_CASCADE)
		return true;
	return strcmp(f->text, g->text) == 0 && f->more == g->more &&
	       (f->value == g->value || (isnan(f->value) && isnan(g->value))) &&
	       strcmp(audit_name(scratch, x->model, f->subject),
		       audit_name(scratch, y->model, g->subject)) == 0 &&
	       strcmp(audit_name(scratch, x->model, f->loss),
		       audit_name(scratch, y->model, g->loss)) == 0;
}

static void same_rack(const struct audit *x, const struct audit_rack *r, const struct audit *y,
	const struct audit_rack *s, const char *how)
{
	const char *name = x->model->racks.at[r->rack].name;
	struct arena *scratch = arena_new();

	if (r->verdict != s->verdict || r->n != s->n)
		fail_msg("%s %s: %s with %zu findings, alone %s with %zu", how, name,
			audit_verdict_name(r->verdict), r->n, audit_verdict_name(s->verdict), s->n);
	for (size_t i = 0; i < r->n; i++)
		if (!same_finding(scratch, x, nth(x, r, i), y, nth(y, s, i)))
			fail_msg("%s %s: %s (%s), alone %s (%s)", how, name,
				audit_rule_name(nth(x, r, i)->rule), nth(x, r, i)->text,
				audit_rule_name(nth(y, s, i)->rule), nth(y, s, i)->text);
	assert_true(r->watts == s->watts && r->heat_w == s->heat_w);
	arena_free(scratch);
}

/* Loaded without the rest; false when the store wants the whole. */
static bool check_alone(
	struct store *s, const struct audit *whole, const struct audit_rack *r, struct judging *j)
{
	const char *name = whole->model->racks.at[r->rack].name;
	struct store_part_asked asked = {
		.racks = &name, .n = 1, .basis = j->basis, .trips = may_trip, .ctx = j};
	struct model *m = NULL;
	struct err err = {0};
	struct audit a;
	size_t rack;
	struct audit_opts o = {.policy = j->policy,
		.basis = j->basis,
		.racks = &rack,
		.n_racks = 1,
		.racks_only = true};

	if (store_load_part(s, &asked, &m, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(asked.site_racks, whole->model->racks.n);
	if (!m)
		return false;
	rack = model_find_rack(m, name);
	assert_int_not_equal(rack, MODEL_NONE);
	assert_int_equal(audit_run(m, &o, &a, NULL), 0);
	assert_int_equal(a.site_n, 0);
	same_rack(whole, r, &a, &a.racks.at[0], "from the database");
	audit_done(&a);
	model_free(m);
	return true;
}

/* Named to the engine, which has the whole in memory. */
static void check_named(const struct audit *whole, const struct audit_rack *r, struct judging *j)
{
	const struct audit_opts o = {
		.policy = j->policy, .basis = j->basis, .racks = &r->rack, .n_racks = 1};
	struct audit a;

	assert_int_equal(audit_run(whole->model, &o, &a, NULL), 0);
	same_rack(whole, r, &a, &a.racks.at[0], "named");
	assert_true(a.losses.n <= whole->losses.n);
	audit_done(&a);
}

static void check_site(const struct model *m, const char *policy, enum power_basis basis)
{
	const struct audit_opts o = {.policy = policy, .basis = basis};
	struct judging j = {policy, basis};
	struct store *s = stored(m, true);
	struct audit whole;

	assert_int_equal(audit_run(m, &o, &whole, NULL), 0);
	vec_each(&whole.racks, const struct audit_rack, r) {
		if (check_alone(s, &whole, r, &j))
			parts_loaded++;
		else
			whole_loaded++;
		check_named(&whole, r, &j);
	}
	audit_done(&whole);
	store_close(s);
}

/* --- sites by chance --- */

static unsigned chance;

static unsigned pick(unsigned n)
{
	chance = chance * 1103515245u + 12345u;
	return (chance >> 16) % n;
}

static void add_upstream(struct model *m, bool tight)
{
	for (unsigned side = 0; side < 2; side++)
		*vec_push(&m->upses) = (struct ups){.name = side ? "ups-b" : "ups-a",
			.kva = tight && pick(3) == 0 ? 20 + pick(60) : 5000};
	for (unsigned p = 0; p < RACKS / 4 * 2; p++)
		*vec_push(&m->panels) = (struct panel){.name = arena_printf(m->arena, "panel%u", p),
			.location = MODEL_NONE,
			.volts = pick(2) ? 400 : MODEL_UNSET,
			.amps = tight && pick(2) == 0 ? 20 + pick(60) : 1000,
			.upstream = {SUPPLY_UPS, p % 2}};
}

static void add_devices(struct model *m, unsigned rack, size_t type)
{
	for (unsigned d = 0; d < 6; d++) {
		const size_t device = site_device(m, arena_printf(m->arena, "n%u-%u", rack, d),
			type, pick(20) == 0 ? MODEL_NONE : rack, 1 + 2 * d);
		const unsigned cords = pick(8) == 0 ? 1 : 2;

		for (unsigned side = 0; side < cords; side++) {
			/* now and then from the rack before, so that racks hang together */
			const size_t pdu =
				rack && pick(25) == 0 ? 2 * (rack - 1) + side : 2 * rack + side;

			site_cord(m, device,
				site_outlet(m, pdu, pick(2) ? "C13" : "C19", pick(3),
					pick(3) ? PHASE_UNSTATED : PHASE_L1 + pick(3)));
		}
	}
}

static struct model *random_site(unsigned seed, bool tight)
{
	struct model *m = model_new();
	size_t types[2];

	chance = seed;
	m->site = "chance";
	for (unsigned i = 0; i < 2; i++) {
		types[i] = site_type(m, i ? "large" : "small", 400 + 300 * pick(4), 2);
		site_psus(m, types[i], 2, 1 + pick(2), 1);
		m->types.at[types[i]].hot_spare = pick(4) == 0;
	}
	add_upstream(m, tight);
	for (unsigned i = 0; i < RACKS; i++)
		site_rack(m, arena_printf(m->arena, "r%u", i));
	for (unsigned i = 0; i < RACKS; i++)
		for (unsigned side = 0; side < 2; side++) {
			const size_t feed =
				site_feed(m, arena_printf(m->arena, "f%u%c", i, side ? 'b' : 'a'),
					pick(3) ? i : MODEL_NONE, 400, 3, 10 + pick(30));
			const bool shared = i && pick(10) == 0; /* a busway */
			const size_t pdu =
				site_pdu(m, arena_printf(m->arena, "p%u%c", i, side ? 'b' : 'a'), i,
					shared ? feed - 2 : feed);

			m->feeds.at[feed].panel = i / 4 * 2 + side;
			for (unsigned b = 0; b < 2; b++)
				site_bank(m, pdu, b + 1, 16, PHASE_L1 + b);
		}
	for (unsigned i = 0; i < RACKS; i++)
		add_devices(m, i, types[pick(2)]);
	return m;
}

TEST(racks_by_chance)
{
	static const char *const policies[] = {"strict80", "iec100"};

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct model *m = random_site(seed, seed % 2);

		check_site(m, policies[seed / 2 % 2], seed % 3 ? BASIS_MAX : BASIS_NAMEPLATE);
		model_free(m);
	}
	assert_true(parts_loaded > 500); /* it is not all from the whole */
}

TEST(examples)
{
	static const char *const files[] = {"start", "business", "enterprise"};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		AUTO_STR path =
			xasprintf("%s/../../../inventory/examples/%s.yaml", TEST_DIR, files[i]);
		struct err_list e = {0};
		struct model *m;

		assert_int_equal(import_site(path, &m, &e), 0);
		for (unsigned basis = 0; basis < BASIS_N; basis++)
			check_site(m, NULL, (enum power_basis)basis);
		model_free(m);
		err_list_done(&e);
	}
}

/* --- when the whole is needed --- */

static bool never_trips(void *ctx, const struct model *m, const struct reach *r)
{
	(void)ctx, (void)m, (void)r;
	return false;
}

static bool always_trips(void *ctx, const struct model *m, const struct reach *r)
{
	(void)ctx, (void)m, (void)r;
	trips_told++;
	return true;
}

static struct model *load(struct store *s, const char *const *racks, size_t n,
	bool (*trips)(void *, const struct model *, const struct reach *))
{
	struct store_part_asked asked = {
		.racks = racks, .n = n, .basis = BASIS_MAX, .trips = trips};
	struct model *m = NULL;
	struct err err = {0};

	if (store_load_part(s, &asked, &m, &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

TEST(what_trips_joins_parts)
{
	static const char *const one[] = {"r8"}, *const two[] = {"r8", "r8", "r20"},
				 *const unknown[] = {"r8", "r99"};
	struct model *site = random_site(7, false), *m;
	struct store *s = stored(site, true), *bare = stored(site, false);

	m = load(s, one, 1, never_trips);
	assert_non_null(m);
	assert_true(m->racks.n < RACKS / 2);
	assert_true(m->cords.n > 0 && m->cords.n < site->cords.n / 2);
	model_free(m);
	m = load(s, two, 3, never_trips);
	assert_non_null(m);
	assert_int_not_equal(model_find_rack(m, "r20"), MODEL_NONE);
	model_free(m);
	m = load(s, one, 1, always_trips); /* by the UPSs all hang together */
	assert_true(trips_told > 0);
	assert_non_null(m);
	assert_int_equal(m->racks.n, RACKS);
	assert_int_equal(m->cords.n, site->cords.n);
	model_free(m);
	assert_null(load(s, unknown, 2, never_trips));
	assert_null(load(bare, one, 1, never_trips)); /* nobody has said what trips */
	model_free(site);
	store_close(s);
	store_close(bare);
}

TEST(a_new_import_forgets_what_trips)
{
	static const char *const one[] = {"r8"};
	struct model *site = random_site(9, false), *m;
	struct store *s = stored(site, true);

	m = load(s, one, 1, never_trips);
	assert_non_null(m);
	model_free(m);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, site, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_null(load(s, one, 1, never_trips));
	model_free(site);
	store_close(s);
}

TEST(damaged_rows_mean_the_whole)
{
	static const char *const one[] = {"r8"};
	static const char *const harm[] = {
		"UPDATE racks SET part = NULL",
		"UPDATE reaches SET watts = 'x', basis = 'max'",
		"UPDATE pdus SET part = part + 1",
	};
	struct model *site = random_site(11, false);

	for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
		struct store *s = stored(site, true);
		struct store_part_asked asked = {
			.racks = one, .n = 1, .basis = BASIS_MAX, .trips = never_trips};
		struct model *m = NULL;
		sqlite3 *db;

		assert_int_equal(sqlite3_open(store_path(s), &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, harm[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		if (store_load_part(s, &asked, &m, NULL) == 0 && m) /* it must be sound then */
			assert_true(model_find_rack(m, "r8") != MODEL_NONE);
		model_free(m);
		store_close(s);
	}
	model_free(site);
}

T_MAIN
