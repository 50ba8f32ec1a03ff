/* store: roles and variables of nodes, reports on drift and their history. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/store/store.h"
#include "tests/unit/t.h"

static const char SITE[] =
	"site: lab\n"
	"vars: {ntp: a, exp: {port: 1, tls: true}}\n"
	"locations: [{name: hall, vars: {hall: 1}}]\n"
	"roles:\n"
	"  gpu: {recipes: [base, exp], check: {every: 30m, window: \"22:00-05:30\"}, vars: {exp: {port: 3}}}\n"
	"  login: {}\n"
	"racks: [{name: R1, location: hall, vars: {exp: {port: 2}}}]\n"
	"device_types: [{name: box, height_u: 1}]\n"
	"devices:\n"
	"  - {name: n1, type: box, role: gpu, rack: R1, position: 1, node: {address: 10.0.0.1}}\n"
	"  - {name: n2, type: box, role: gpu, rack: R1, position: 2, node: {address: 10.0.0.2}}\n"
	"nodes:\n"
	"  - {name: n3, address: 10.0.0.3, role: login, vars: {ntp: b}}\n";

static struct store *open_with(const char *text, const char *name)
{
	AUTO_STR path = xasprintf("%s/%s.db", t_dir(), name);
	struct err_list errors = {0};
	struct model *m = NULL;
	struct store *s = NULL;
	struct err err;

	assert_int_equal(import_site_text("site.yaml", str_of(text), &m, &errors), 0);
	assert_int_equal(store_open(path, STORE_CREATE, &s, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_put_model(s, m, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	model_free(m);
	err_list_done(&errors);
	return s;
}

TEST(nodes_have_their_variables_summed)
{
	struct store *s = open_with(SITE, "vars");
	struct node_rows rows = VEC_INIT;
	struct arena *a = arena_new();
	struct err err;

	assert_int_equal(store_nodes(s, a, &rows, &err), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(
		rows.at[0].vars, "{\"exp\":{\"port\":3,\"tls\":true},\"hall\":1,\"ntp\":\"a\"}");
	assert_ptr_equal(rows.at[0].vars, rows.at[1].vars);
	assert_string_equal(rows.at[2].vars, "{\"exp\":{\"port\":1,\"tls\":true},\"ntp\":\"b\"}");
	assert_string_equal(rows.at[0].location, "hall");
	assert_string_equal(rows.at[0].role_recipes, "base exp");
	assert_string_equal(rows.at[0].check_every, "30m");
	assert_string_equal(rows.at[0].check_window, "22:00-05:30");
	assert_string_equal(rows.at[0].layers[2].origin, "rack R1");
	assert_string_equal(rows.at[2].role_recipes, "");
	vec_done(&rows);
	arena_free(a);
	store_close(s);
}

static void put(struct store *s, enum drift_state state, int64_t at, const char *found)
{
	struct drift_finding f = {.recipe = "base",
		.step = 2,
		.name = found ? found : "",
		.state = "changed",
		.why = "other content",
		.diff = "-a\n+b\n"};
	struct drift_report r = {.node = 1,
		.at = at,
		.run = "r",
		.recipes = "base",
		.reason = "",
		.hint = "",
		.state = state,
		.n_found = found ? 1 : 0,
		.n = found ? 1 : 0,
		.findings = &f};
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_drift_put(s, &r, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
}

/* The newest of node 1. */
static struct drift_report latest(struct store *s, struct arena *a)
{
	struct drift_reports all = VEC_INIT;
	struct drift_report r = {0};
	struct err err;

	assert_int_equal(store_drift(s, a, 0, &all, &err), 0);
	assert_int_equal(all.n, 1);
	if (all.n > 0)
		r = all.at[0];
	vec_done(&all);
	return r;
}

TEST(drift_is_told_since_it_was_first_seen)
{
	struct store *s = open_with(SITE, "drift");
	struct arena *a = arena_new();
	struct drift_report r;

	put(s, DRIFT_OK, 100, NULL);
	assert_int_equal(latest(s, a).since, 100);
	put(s, DRIFT_OK, 200, NULL);
	assert_int_equal(latest(s, a).since, 100);
	put(s, DRIFT_DRIFT, 300, "/etc/motd");
	put(s, DRIFT_DRIFT, 400, "/etc/motd");
	r = latest(s, a);
	assert_int_equal(r.since, 300);
	assert_int_equal(r.at, 400);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.findings[0].since, 300);
	assert_string_equal(r.findings[0].diff, "-a\n+b\n");
	assert_string_equal(r.node_name, "n1");
	put(s, DRIFT_DRIFT, 500, "/etc/hosts"); /* still drift, but another file */
	r = latest(s, a);
	assert_int_equal(r.since, 300);
	assert_int_equal(r.findings[0].since, 500);
	put(s, DRIFT_OK, 600, NULL);
	assert_int_equal(latest(s, a).since, 600);
	arena_free(a);
	store_close(s);
}

TEST(an_apply_heals_what_it_covers)
{
	static const char *const ALL[] = {"base", "ground", "exp"}, *const PART[] = {"base"};
	struct store *s = open_with(SITE, "healed");
	struct drift_reports all = VEC_INIT;
	struct arena *a = arena_new();
	struct drift_report r = {.node = 1,
		.at = 100,
		.run = "r1",
		.recipes = "base exp",
		.reason = "",
		.hint = "",
		.state = DRIFT_DRIFT};
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	/* never looked at: nothing to say */
	assert_int_equal(store_drift_healed(s, 1, "a0", 150, ALL, 3, &err), 0);
	assert_int_equal(store_drift(s, a, 1, &all, &err), 0);
	assert_int_equal(all.n, 0);
	assert_int_equal(store_drift_put(s, &r, &err), 0);
	assert_int_equal(store_drift_healed(s, 1, "a1", 200, PART, 1, &err), 0);
	assert_int_equal(store_drift(s, a, 1, &all, &err), 0);
	assert_int_equal(all.n, 1);
	assert_int_equal(all.at[0].state, DRIFT_DRIFT);
	vec_done(&all);
	assert_int_equal(store_drift_healed(s, 1, "a2", 300, ALL, 3, &err), 0);
	assert_int_equal(store_drift_healed(s, 1, "a3", 400, ALL, 3, &err), 0);
	assert_int_equal(store_drift(s, a, 1, &all, &err), 0);
	assert_int_equal(all.n, 2);
	assert_int_equal(all.at[0].state, DRIFT_OK);
	assert_int_equal(all.at[0].since, 300);
	assert_string_equal(all.at[0].run, "a2");
	assert_string_equal(all.at[0].recipes, "base exp");
	assert_int_equal(store_commit(s, &err), 0);
	vec_done(&all);
	arena_free(a);
	store_close(s);
}

TEST(history_is_bounded)
{
	struct store *s = open_with(SITE, "history");
	struct drift_reports all = VEC_INIT;
	struct arena *a = arena_new();
	struct err err;

	for (int i = 0; i < DRIFT_REPORTS_MAX + 5; i++)
		put(s, i % 2 ? DRIFT_OK : DRIFT_DRIFT, 100 + i, i % 2 ? NULL : "x");
	assert_int_equal(store_drift(s, a, 1, &all, &err), 0);
	assert_int_equal(all.n, DRIFT_REPORTS_MAX);
	assert_int_equal(all.at[0].at, 100 + DRIFT_REPORTS_MAX + 4);
	vec_done(&all);
	arena_free(a);
	store_close(s);
}

TEST(checks_are_remembered)
{
	struct store *s = open_with(SITE, "checks");
	struct check_rows rows = VEC_INIT;
	struct check_row row = {.node = 2, .last = 50, .failed = 1};
	struct err err;

	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_check_put(s, &row, &err), 0);
	row.last = 60;
	row.failed = 0;
	assert_int_equal(store_check_put(s, &row, &err), 0);
	assert_int_equal(store_commit(s, &err), 0);
	assert_int_equal(store_checks(s, &rows, &err), 0);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.at[0].last, 60);
	assert_int_equal(rows.at[0].failed, 0);
	vec_done(&rows);
	store_close(s);
}

T_MAIN
