/* run - runs, results and events; their order, look-up and speed. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/t.h"

#include <time.h>

static struct store *s;
static struct arena *arena;
static int64_t node[3];

static void start(const char *name)
{
	AUTO_STR path = xasprintf("%s/%s.db", t_dir(), name);
	struct node_rows rows = VEC_INIT;
	struct model *m = sample_model();

	arena = arena_new();
	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, m, NULL), 0);
	assert_int_equal(store_nodes(s, arena, &rows, NULL), 0);
	for (int i = 0; i < 3; i++)
		node[i] = rows.at[i].id;
	vec_done(&rows);
	model_free(m);
}

static void end(void)
{
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	arena_free(arena);
}

static void add_run(const char *id, int64_t started)
{
	const struct run_row r = {.id = id,
		.mode = "apply",
		.recipes = "motd",
		.nodes = "all",
		.by = "root",
		.started = started,
		.n_nodes = 3};

	assert_int_equal(store_run_add(s, &r, NULL), 0);
}

TEST(runs_newest_first_and_found_by_prefix)
{
	struct run_rows rows = VEC_INIT;
	struct run_row r;
	struct err err;

	start("find");
	assert_int_equal(store_run_find(s, arena, "last", &r, &err), -E_NOTFOUND);
	add_run("20261130-a1", 100);
	add_run("20261130-a12", 300);
	add_run("20261130-b", 200);
	assert_int_equal(
		store_run_add(s, &(struct run_row){.id = "20261130-b"}, &err), -E_CONFLICT);
	assert_int_equal(store_runs(s, arena, 2, &rows, NULL), 0);
	assert_int_equal(rows.n, 2);
	assert_string_equal(rows.at[0].id, "20261130-a12");
	assert_string_equal(rows.at[1].id, "20261130-b");
	assert_string_equal(rows.at[0].state, "running");
	rows.n = 0;
	assert_int_equal(store_runs(s, arena, 0, &rows, NULL), 0);
	assert_int_equal(rows.n, 3);
	assert_int_equal(store_run_find(s, arena, "last", &r, NULL), 0);
	assert_string_equal(r.id, "20261130-a12");
	assert_int_equal(store_run_find(s, arena, "20261130-b", &r, NULL), 0);
	assert_int_equal(store_run_find(s, arena, "20261130-a1", &r, NULL), 0); /* exact wins */
	assert_string_equal(r.id, "20261130-a1");
	assert_int_equal(store_run_find(s, arena, "20261130-a", &r, &err), -E_CONFLICT);
	assert_int_equal(store_run_find(s, arena, "2", &r, &err), -E_CONFLICT);
	assert_int_equal(store_run_find(s, arena, "x", &r, &err), -E_NOTFOUND);
	assert_int_equal(store_run_find(s, arena, "", &r, &err), -E_NOTFOUND);
	assert_int_equal(store_run_find(s, arena, "%", &r, &err), -E_NOTFOUND);
	vec_done(&rows);
	end();
}

TEST(a_run_ends_with_its_counts)
{
	const enum step_result states[] = {RESULT_OK, RESULT_FAILED, RESULT_OK};
	struct node_results results = VEC_INIT;
	struct run_row r;
	struct err err;

	start("counts");
	add_run("r1", 100);
	for (int i = 0; i < 3; i++) {
		const struct node_result n = {.node = node[i],
			.node_name = i == 0   ? "gpu10"
				     : i == 1 ? "gpu2"
					      : "gpu3",
			.state = states[i],
			.counts = {.n = {[RESULT_OK] = 4, [RESULT_CHANGED] = 1}},
			.reason = i == 1 ? "disk full" : NULL,
			.took = 5,
			.agent_pass = 7,
			.agent_process = 9};

		assert_int_equal(store_result_put(s, "r1", &n, NULL), 0);
		assert_int_equal(store_result_put(s, "r1", &n, NULL), 0); /* replaces */
	}
	assert_int_equal(store_run_end(s, "r1", "failed", "abc", NULL), 0);
	assert_int_equal(store_run_end(s, "r1", "nonsense", NULL, &err), -E_CONFLICT);
	assert_int_equal(store_run_end(s, "r9", "done", NULL, &err), -E_NOTFOUND);
	assert_int_equal(store_run_find(s, arena, "r1", &r, NULL), 0);
	assert_int_equal(r.counts.n[RESULT_OK], 2);
	assert_int_equal(r.counts.n[RESULT_FAILED], 1);
	assert_string_equal(r.state, "failed");
	assert_string_equal(r.plan_hash, "abc");
	assert_true(r.ended > 0);
	assert_int_equal(store_results(s, arena, "r1", &results, NULL), 0);
	assert_int_equal(results.n, 3);
	assert_string_equal(results.at[0].node_name, "gpu2");
	assert_string_equal(results.at[0].reason, "disk full");
	assert_int_equal(results.at[0].state, RESULT_FAILED);
	assert_int_equal(results.at[2].agent_pass, 7);
	assert_int_equal(results.at[2].agent_process, 9);
	assert_int_equal(results.at[2].counts.n[RESULT_OK], 4);
	assert_int_equal(results.at[2].counts.n[RESULT_CHANGED], 1);
	vec_done(&results);
	end();
}

static json_t *record(int64_t seq)
{
	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:s}", "seq", (json_int_t)seq, "at",
		(json_int_t)1234567890123, "ev", "step", "recipe", "motd", "name", "write the file",
		"state", "changed", "diff",
		"--- /etc/motd\n+++ /etc/motd\n@@ -1 +1 @@\n-old\n+new\n");
}

static int add_event(int64_t n, int64_t seq, struct err *err)
{
	AUTO_JSON r = record(seq);

	return store_event_add(s, "r1", n, r, err);
}

static void drop_events(struct event_rows *e)
{
	vec_each(e, struct event_row, it)
		json_decref(it->record);
	vec_done(e);
}

TEST(events_in_order_without_repeats)
{
	struct event_rows rows = VEC_INIT, more = VEC_INIT;
	struct err err;

	start("events");
	add_run("r1", 100);
	assert_int_equal(add_event(node[0], 1, NULL), 0);
	assert_int_equal(add_event(node[1], 1, NULL), 0);
	assert_int_equal(add_event(node[0], 2, NULL), 0);
	assert_int_equal(add_event(node[0], 1, NULL), 0); /* a repeat after a reconnect */
	assert_int_equal(add_event(node[0], 0, &err), -E_SCHEMA);
	assert_int_equal(add_event(999, 1, &err), -E_CONFLICT);
	assert_int_equal(store_events(s, arena, "r1", 0, &rows, NULL), 0);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.at[0].node, node[0]);
	assert_int_equal(rows.at[1].node, node[1]);
	assert_int_equal(json_get_int(rows.at[2].record, "seq", 0), 2);
	assert_string_equal(json_get_str(rows.at[2].record, "state", ""), "changed");
	assert_int_equal(store_events(s, arena, "r1", rows.at[1].id, &more, NULL), 0);
	assert_int_equal(more.n, 1);
	drop_events(&rows);
	drop_events(&more);
	end();
}

static double cpu_seconds(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 50,000 rows/s are what it is built for; a sanitized build is held to a tenth, in CPU time. */
TEST(events_are_fast)
{
	enum {
		N = 20000
	};
	struct event_rows rows = VEC_INIT;
	double before, write_s, read_s;

	start("speed");
	add_run("r1", 100);
	assert_int_equal(store_commit(s, NULL), 0);
	before = cpu_seconds();
	for (int64_t i = 1; i <= N; i++) {
		if (i % 500 == 1)
			assert_int_equal(store_begin(s, NULL), 0);
		assert_int_equal(add_event(node[i % 3], i, NULL), 0);
		if (i % 500 == 0)
			assert_int_equal(store_commit(s, NULL), 0);
	}
	write_s = cpu_seconds() - before;
	before = cpu_seconds();
	assert_int_equal(store_events(s, arena, "r1", 0, &rows, NULL), 0);
	read_s = cpu_seconds() - before;
	assert_int_equal(rows.n, N);
	print_message("write %.0f rows/s, read %.0f rows/s of CPU\n", N / write_s, N / read_s);
	assert_true(write_s < N / 5000.0);
	drop_events(&rows);
	assert_int_equal(store_begin(s, NULL), 0);
	end();
}

T_MAIN
