/* site_test - domains from cords, cables and variables; power by circuits; an explanation whole. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/explain.h"
#include "controller/rollout/power.h"
#include "controller/rollout/site.h"
#include "inventory/import/import.h"
#include "tests/unit/t.h"

#include <string.h>

/* Four servers of 1 kW at work and 3 kW at most on one feed of 7.36 kVA (32 A, 230 V). */
static const char SITE[] =
	"site: t\n"
	"panels:\n"
	"  - {name: P, volts: 400, phases: 3, amps: 63}\n"
	"racks:\n"
	"  - name: R1\n"
	"    height_u: 42\n"
	"    feeds:\n"
	"      - {name: A, panel: P, volts: 230, phases: 1, amps: 32, max_utilization: 1.0}\n"
	"    pdus:\n"
	"      - name: pa\n"
	"        feed: A\n"
	"        outlets:\n"
	"          - {names: \"[1-4]\", type: C19}\n"
	"device_types:\n"
	"  - {name: gpu, height_u: 4, psus: 1, psus_needed: 1, watts: {max: 3000}, ports: {ethernet: [{names: e1, type: qsfp56-200g}, {names: m1, type: rj45}]}}\n"
	"  - {name: sw, height_u: 1, psus: 1, psus_needed: 1, watts: {max: 100}, ports: {ethernet: {names: \"e[1-4]\", type: qsfp56-200g}}}\n"
	"devices:\n"
	"  - {name: leaf1, type: sw, role: switch, rack: R1, position: 40}\n"
	"  - {name: oob1, type: sw, role: switch, rack: R1, position: 41}\n"
	"  - {name: g1, type: gpu, role: gpu, rack: R1, position: 1, watts_measured: 1000, cords: {psu1: pa/1}}\n"
	"  - {name: g2, type: gpu, role: gpu, rack: R1, position: 5, watts_measured: 1000, cords: {psu1: pa/2}}\n"
	"  - {name: g3, type: gpu, role: gpu, rack: R1, position: 9, watts_measured: 1000, cords: {psu1: pa/3}}\n"
	"  - {name: g4, type: gpu, role: gpu, rack: R1, position: 13, watts_measured: 1000, cords: {psu1: pa/4}}\n"
	"cables:\n"
	"  - {a: g1/e1, b: leaf1/e1}\n"
	"  - {a: g1/m1, b: oob1/e1}\n";

struct world {
	struct arena *arena;
	struct model *m;
	struct node_row rows[4];
	struct node_refs refs;
	struct rollout_node *nodes;
	size_t *devices;
	struct audit audit;
	struct rollout_circuits *circuits;
	struct err err;
};

static void begin(struct world *w, const char *text, enum power_basis basis)
{
	static const char *const NAMES[] = {"g1", "g2", "g3", "g4"};
	const struct audit_opts opts = {.basis = basis};
	struct err_list errors = {0};

	memset(w, 0, sizeof *w);
	w->arena = arena_new();
	if (import_site_text("t.yaml", str_of(text), &w->m, &errors) < 0)
		fail_msg("%s", errors.list.n ? errors.list.at[0].msg : "?");
	for (int i = 0; i < 4; i++) {
		w->rows[i] = (struct node_row){.name = NAMES[i],
			.rack = "R1",
			.role = "gpu",
			.device_type = "gpu",
			.os = "debian 12",
			.site = "t",
			.vars = i < 2 ? "{\"partition\": \"train\", \"slot\": 3, \"deep\": {\"x\": 1}}"
				      : "{}"};
		*vec_push(&w->refs) = &w->rows[i];
	}
	assert_int_equal(
		rollout_site(w->arena, w->m, &w->refs, &w->nodes, &w->devices, &w->err), 0);
	assert_int_equal(audit_run(w->m, &opts, &w->audit, &w->err), 0);
	w->circuits = rollout_circuits_new(&w->audit, w->devices, 4);
}

static void end(struct world *w)
{
	rollout_circuits_free(w->circuits);
	audit_done(&w->audit);
	vec_done(&w->refs);
	model_free(w->m);
	arena_free(w->arena);
}

static bool is_in(const struct rollout_node *n, const char *kind, const char *value)
{
	for (unsigned i = 0; i < n->n_domains; i++)
		if (strcmp(n->domains[i].kind, kind) == 0 &&
			strcmp(n->domains[i].value, value) == 0)
			return true;
	return false;
}

TEST(domains_come_from_the_inventory)
{
	struct world w;

	begin(&w, SITE, BASIS_MEASURED);
	assert_true(is_in(&w.nodes[0], "rack", "R1"));
	assert_true(is_in(&w.nodes[0], "feed", "A"));
	assert_true(is_in(&w.nodes[0], "leaf", "leaf1"));
	assert_true(is_in(&w.nodes[0], "partition", "train"));
	assert_true(is_in(&w.nodes[0], "slot", "3"));
	assert_true(is_in(&w.nodes[0], "os", "debian 12"));
	assert_false(is_in(&w.nodes[0], "deep", "x"));
	assert_false(is_in(&w.nodes[0], "leaf", "oob1")); /* only management hangs on it */
	assert_false(is_in(&w.nodes[1], "leaf", "leaf1"));
	assert_false(is_in(&w.nodes[2], "partition", "train"));
	end(&w);
}

static bool fits(struct world *w, const size_t *out, size_t n, size_t node, char why[static 200])
{
	const struct rollout_power p = rollout_circuits_limit(w->circuits);

	return p.fits(p.ctx, out, n, &node, 1, why);
}

/* 4 kW at work is 18.3 A at a power factor of 0.95; one more at its worst adds 9.15 A: 27.5 A fit,
 * two do not. */
TEST(a_circuit_bears_one_worst_step_and_not_two)
{
	static const size_t FIRST[] = {0}, BOTH[] = {0, 1};
	char why[200] = "";
	struct world w;

	begin(&w, SITE, BASIS_MEASURED);
	assert_true(fits(&w, NULL, 0, 0, why));
	assert_false(fits(&w, FIRST, 1, 1, why));
	if (!strstr(why, "32.0 A") || !strstr(why, "worst step"))
		fail_msg("says: %s", why);
	/* who came back counts no more */
	assert_true(fits(&w, NULL, 0, 2, why));
	assert_false(fits(&w, BOTH, 2, 2, why));
	assert_true(fits(&w, NULL, 0, 3, why));
	end(&w);
}

/* When the others are taken at their maximum already, a step adds nothing. */
TEST(at_maximum_nothing_is_added)
{
	char why[200] = "";
	struct world w;

	begin(&w, SITE, BASIS_MAX);
	assert_true(fits(&w, NULL, 0, 0, why));
	end(&w);
}

TEST(an_explanation_goes_one_by_one)
{
	struct rollout_power power;
	struct rollout_policy policy;
	struct explanation told;
	struct rollout *r;
	struct world w;

	begin(&w, SITE, BASIS_MEASURED);
	assert_int_equal(
		rollout_policy_parse(w.arena, "p",
			str_of("canary: {by: [type], count: 1}\nwaves: [100%]\n"
			       "soak: {canary: 1h, wave: 0s}\nmax_unavailable: 100%\nbudgets: {}\n"),
			&policy, &w.err),
		0);
	power = rollout_circuits_limit(w.circuits);
	assert_int_equal(rollout_new(&policy, w.nodes, 4, &power, &r, &w.err), 0);
	explain_make(w.arena, r, 4, 600 * CLOCK_SEC, 0, &told);
	assert_int_equal(told.turns.n, 4);
	assert_int_equal(told.turns.at[0].stage, 0);
	assert_int_equal(told.turns.at[0].held, LIMIT_STAGE);
	/* the canary's ten minutes, its soak of an hour, then one each ten minutes */
	assert_true(told.turns.at[1].at == 4200 * CLOCK_SEC);
	assert_int_equal(told.turns.at[1].held, LIMIT_POWER);
	assert_non_null(strstr(told.turns.at[1].why, "feed 'A'"));
	assert_int_equal(told.turns.at[1].by_limit[LIMIT_POWER].n, 2);
	assert_non_null(strstr(told.turns.at[1].by_limit[LIMIT_POWER].why, "limit"));
	assert_true(told.took == (4200 + 3 * 600) * CLOCK_SEC);
	assert_int_equal(told.never, 0);
	explain_done(&told);
	rollout_free(r);
	end(&w);
}

/* Who is watched is back at work: the next one goes meanwhile, the next stage does not. */
TEST(a_watch_holds_the_stage_and_no_budget)
{
	struct rollout_policy policy;
	struct explanation told;
	struct rollout *r;
	struct world w;

	begin(&w, SITE, BASIS_MEASURED);
	assert_int_equal(rollout_policy_parse(w.arena, "p",
				 str_of("canary: {count: 0}\nwaves: [2, 100%]\nbudgets: {}\n"
					"soak: {node: 30m}\nmax_unavailable: 1\n"),
				 &policy, &w.err),
		0);
	assert_int_equal(rollout_new(&policy, w.nodes, 4, NULL, &r, &w.err), 0);
	explain_make(w.arena, r, 4, 600 * CLOCK_SEC, 0, &told);
	assert_int_equal(told.turns.n, 4);
	assert_true(told.turns.at[1].at == 600 * CLOCK_SEC);
	assert_true(told.turns.at[2].at == (1200 + 1800) * CLOCK_SEC);
	assert_true(told.turns.at[3].at == (3000 + 600) * CLOCK_SEC);
	assert_true(told.took == 4200 * CLOCK_SEC);
	explain_done(&told);
	rollout_free(r);
	end(&w);
}

TEST(what_never_goes_is_said)
{
	struct rollout_policy policy;
	struct explanation told;
	struct rollout *r;
	struct world w;

	begin(&w, SITE, BASIS_MEASURED);
	rollout_policy_preset(&policy);
	w.nodes[3].away = true;
	policy.max_unavailable = (struct amount){1, false};
	assert_int_equal(rollout_new(&policy, w.nodes, 4, NULL, &r, &w.err), 0);
	explain_make(w.arena, r, 4, 600 * CLOCK_SEC, 0, &told);
	assert_int_equal(told.turns.n, 0);
	assert_int_equal(told.never, 4);
	assert_string_equal(told.never_why, "max_unavailable: 1 away, 1 allowed");
	explain_done(&told);
	rollout_free(r);
	end(&w);
}

T_MAIN
