/* rollout - rows of a rollout, the moves of its nodes, what is asked of it, and evidence. */
#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/store/migrate.h"
#include "inventory/store/rollout.h"
#include "tests/unit/t.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char SITE[] = "site: lab\n"
			   "nodes:\n"
			   "  - {name: n1, address: 10.0.0.1}\n"
			   "  - {name: n2, address: 10.0.0.2}\n";

/* Two nodes with ids 1 and 2, run-1 (a rollout) and run-2 (none). */
static void fill(struct store *s)
{
	struct err_list errors = {0};
	struct model *m = NULL;
	struct err err = {0};

	assert_int_equal(import_site_text("site.yaml", str_of(SITE), &m, &errors), 0);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_put_model(s, m, &err), 0);
	for (int i = 1; i <= 2; i++) {
		AUTO_STR id = xasprintf("run-%d", i);
		const struct run_row r = {.id = id, .mode = "rollout", .by = "me", .n_nodes = 2};

		assert_int_equal(store_run_add(s, &r, &err), 0);
	}
	assert_int_equal(
		store_rollout_add(
			s, &(struct rollout_row){.run = "run-1", .order = "{\"a\": 1}"}, &err),
		0);
	assert_int_equal(store_commit(s, &err), 0);
	model_free(m);
	err_list_done(&errors);
}

static char *path_of(const char *name)
{
	return xasprintf("%s/%s.db", t_dir(), name);
}

static struct store *open_fresh(const char *name)
{
	AUTO_STR path = path_of(name);
	struct store *s = NULL;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	fill(s);
	return s;
}

static void move(struct store *s, int64_t node, const char *from, const char *to, int64_t at)
{
	const struct rollout_node_row row = {.node = node,
		.name = node == 1 ? "n1" : "n2",
		.state = to,
		.since = at,
		.reason = "because"};
	const struct rollout_move m = {
		.node = node, .from = from, .event = *from ? "ok" : "", .to = to, .at = at};
	struct err err;

	if (store_rollout_move(s, "run-1", &row, &m, &err) < 0)
		fail_msg("%s", err.msg);
}

static const char EVENTS_OF_V5[] =
	"INSERT INTO sites (id, name, created, updated) VALUES (1, 'lab', 1, 1);"
	"INSERT INTO nodes (id, site_id, name, address, port) VALUES (7, 1, 'n7', 'a', 22);"
	"INSERT INTO runs (id, name, mode, recipes, nodes, started_by, state, started_ns, n_nodes)"
	" VALUES (3, 'old', 'apply', 'r', 'n7', 'me', 'done', 1, 1);"
	"INSERT INTO events (id, run_id, node_id, seq, record) VALUES (11, 3, 7, 4, '{\"seq\":4}'),"
	" (12, 3, 7, 6, '{\"seq\":6}');";

/* What was there has its order, its ids, and still tells repeats. */
static void events_are_kept(struct store *s)
{
	struct arena *a = arena_new();
	struct event_rows rows = VEC_INIT;
	AUTO_JSON repeat = json_pack("{s:i}", "seq", 6);
	AUTO_JSON next = json_pack("{s:i}", "seq", 7);

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_event_add(s, "old", 7, repeat, NULL), 0);
	assert_int_equal(store_event_add(s, "old", 7, next, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_events(s, a, "old", 0, &rows, NULL), 0);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.at[0].id, 11);
	assert_int_equal(rows.at[2].id, 13);
	vec_each(&rows, struct event_row, e)
		json_decref(e->record);
	vec_done(&rows);
	arena_free(a);
}

TEST(an_older_database_gets_the_tables_and_keeps_a_backup)
{
	AUTO_STR path = path_of("v5");
	AUTO_STR backup = xasprintf("%s.v5.backup", path);
	struct store *s;
	struct err err;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(migrate_run(db, path, MIGRATIONS, 5, NULL), 0);
	assert_int_equal(sqlite3_exec(db, EVENTS_OF_V5, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_open(path, STORE_READ, &s, &err), -E_STATE);
	assert_int_equal(store_open(path, STORE_WRITE, &s, NULL), 0);
	assert_int_equal(access(backup, F_OK), 0);
	events_are_kept(s);
	store_close(s);
}

TEST(a_rollout_is_kept_and_written_again)
{
	struct store *s = open_fresh("row");
	struct arena *a = arena_new();
	struct rollout_row r;
	struct err err;

	assert_int_equal(store_rollout_get(s, a, "run-1", &r, &err), 0);
	assert_string_equal(r.order, "{\"a\": 1}");
	assert_string_equal(r.asked, "");
	assert_false(r.paused);
	assert_int_equal(store_begin(s, NULL), 0);
	r = (struct rollout_row){.run = "run-1",
		.paused = true,
		.reason = "two alike",
		.forgiven = 5,
		.opened = 6,
		.stage = 2};
	assert_int_equal(store_rollout_put(s, &r, &err), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_rollout_get(s, a, "run-1", &r, &err), 0);
	assert_string_equal(r.order, "{\"a\": 1}");
	assert_true(r.paused && r.forgiven == 5 && r.opened == 6 && r.stage == 2);
	assert_string_equal(r.reason, "two alike");
	arena_free(a);
	store_close(s);
}

TEST(what_is_no_rollout_is_refused)
{
	struct store *s = open_fresh("none");
	struct arena *a = arena_new();
	struct rollout_row r = {.run = "run-2"};
	const char *asked, *by;
	struct err err;

	assert_int_equal(store_rollout_get(s, a, "run-2", &r, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "no rollout"));
	assert_int_equal(store_rollout_asked(s, a, "no-run", &asked, &by, &err), -E_NOTFOUND);
	assert_int_equal(store_begin(s, NULL), 0);
	r.run = "run-2";
	assert_int_equal(store_rollout_put(s, &r, &err), -E_NOTFOUND);
	assert_int_equal(store_rollout_ask(s, "run-2", "pause", "me", &err), -E_NOTFOUND);
	r.run = "no-run";
	assert_int_equal(store_rollout_add(s, &r, &err), -E_NOTFOUND);
	r.run = "run-1";
	assert_int_equal(store_rollout_add(s, &r, &err), -E_CONFLICT); /* twice */
	store_rollback(s);
	assert_int_equal(store_rollout_put(s, &r, &err), -E_INTERNAL); /* no transaction */
	arena_free(a);
	store_close(s);
}

static void is_asked(struct store *s, const char *want)
{
	struct arena *a = arena_new();
	const char *asked = NULL, *by = NULL;

	assert_int_equal(store_rollout_asked(s, a, "run-1", &asked, &by, NULL), 0);
	assert_string_equal(asked, want);
	assert_string_equal(by, "me");
	arena_free(a);
}

TEST(a_wish_is_kept_until_it_was_answered)
{
	struct store *s = open_fresh("ask");
	struct err err;

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_rollout_ask(s, "run-1", "pause", "me", &err), 0);
	is_asked(s, "pause");
	/* a newer wish is not lost to the answer to the older one, nor to the driver's row */
	assert_int_equal(store_rollout_ask(s, "run-1", "resume", "me", &err), 0);
	assert_int_equal(store_rollout_answered(s, "run-1", "pause", &err), 0);
	assert_int_equal(store_rollout_put(s, &(struct rollout_row){.run = "run-1"}, &err), 0);
	is_asked(s, "resume");
	assert_int_equal(store_rollout_answered(s, "run-1", "resume", &err), 0);
	is_asked(s, "");
	assert_int_equal(store_rollout_ask(s, "run-1", "dance", "me", &err), -E_CONFLICT);
	assert_int_equal(store_rollout_ask(s, "run-1", "abort", "me", &err), 0);
	assert_int_equal(store_rollout_ask(s, "run-1", "resume", "me", &err), -E_STATE);
	assert_int_equal(store_rollout_ask(s, "run-1", "abort", "me", &err), 0);
	assert_int_equal(store_run_end(s, "run-1", "interrupted", NULL, &err), 0);
	assert_int_equal(store_rollout_ask(s, "run-1", "abort", "me", &err), 0);
	assert_int_equal(store_run_end(s, "run-1", "cancelled", NULL, &err), 0);
	assert_int_equal(store_rollout_ask(s, "run-1", "abort", "me", &err), -E_STATE);
	assert_non_null(strstr(err.msg, "has ended: cancelled"));
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
}

TEST(nodes_move_and_their_history_is_kept)
{
	struct store *s = open_fresh("moves");
	struct arena *a = arena_new();
	struct rollout_node_rows nodes = VEC_INIT;
	struct rollout_moves moves = VEC_INIT;
	struct rollout_counts counts = VEC_INIT;
	struct rollout_node_row again = {.node = 2,
		.name = "n2",
		.state = "wait-jobs",
		.since = 9,
		.stage = 1,
		.tries = 3,
		.fence = "{\"was\": \"idle\"}",
		.reason = "3 jobs",
		.hint = "wait",
		.signature = "x"};

	assert_int_equal(store_begin(s, NULL), 0);
	move(s, 2, "", "eligible", 1);
	move(s, 1, "", "eligible", 1);
	move(s, 2, "eligible", "preflight", 2);
	assert_int_equal(store_rollout_node_put(s, "run-1", &again, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);

	assert_int_equal(store_rollout_nodes(s, a, "run-1", &nodes, NULL), 0);
	assert_int_equal(nodes.n, 2);
	assert_int_equal(nodes.at[0].node, 1);
	assert_string_equal(nodes.at[0].state, "eligible");
	assert_string_equal(nodes.at[0].fence, "");
	assert_string_equal(nodes.at[1].state, "wait-jobs");
	assert_string_equal(nodes.at[1].fence, "{\"was\": \"idle\"}");
	assert_true(nodes.at[1].tries == 3 && nodes.at[1].stage == 1 && nodes.at[1].since == 9);

	assert_int_equal(store_rollout_moves(s, a, "run-1", 0, &moves, NULL), 0);
	assert_int_equal(moves.n, 3);
	assert_int_equal(moves.at[0].node, 2);
	assert_string_equal(moves.at[0].event, "");
	assert_string_equal(moves.at[2].from, "eligible");
	assert_string_equal(moves.at[2].to, "preflight");
	const int64_t second = moves.at[1].id;
	vec_done(&moves);
	assert_int_equal(store_rollout_moves(s, a, "run-1", 1, &moves, NULL), 0);
	assert_int_equal(moves.n, 1);
	vec_done(&moves);
	assert_int_equal(store_rollout_moves_after(s, a, "run-1", second, &moves, NULL), 0);
	assert_int_equal(moves.n, 1);
	assert_int_equal(moves.at[0].at, 2);
	vec_done(&moves);
	assert_int_equal(store_rollout_moves_after(s, a, "run-2", 0, &moves, NULL), 0);
	assert_int_equal(moves.n, 0);

	assert_int_equal(store_rollout_counts(s, a, "run-1", &counts, NULL), 0);
	assert_int_equal(counts.n, 2);
	assert_string_equal(counts.at[1].state, "wait-jobs");
	assert_int_equal(counts.at[1].n, 1);
	vec_done(&counts);
	vec_done(&moves);
	vec_done(&nodes);
	arena_free(a);
	store_close(s);
}

TEST(bad_moves_are_refused)
{
	static const struct {
		const char *run, *state;
		int64_t node, of;
		enum ec code;
	} CASES[] = {
		{"run-2", "done", 1, 1, E_CONFLICT},  /* no rollout */
		{"no-run", "done", 1, 1, E_CONFLICT}, /* no run */
		{"run-1", "done", 99, 99, E_CONFLICT},
		{"run-1", NULL, 1, 1, E_CONFLICT},
		{"run-1", "done", 1, 2, E_INTERNAL},
	};
	struct store *s = open_fresh("bad");

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const struct rollout_node_row row = {
			.node = CASES[i].node, .name = "x", .state = CASES[i].state};
		const struct rollout_move m = {
			.node = CASES[i].of, .from = "", .event = "", .to = "done"};
		struct err err;

		assert_int_equal(store_begin(s, NULL), 0);
		assert_int_equal(
			store_rollout_move(s, CASES[i].run, &row, &m, &err), -(int)CASES[i].code);
		store_rollback(s);
	}
	store_close(s);
}

static void add_part(struct store *s, const char *id, const char *mode)
{
	const struct run_row r = {.id = id, .mode = mode, .by = "me", .n_nodes = 2};

	assert_int_equal(store_run_add(s, &r, NULL), 0);
}

TEST(the_orders_of_a_rollout_are_its_parts)
{
	struct store *s = open_fresh("parts");
	struct arena *a = arena_new();
	struct run_rows runs = VEC_INIT, all = VEC_INIT;
	struct rollout_orders orders = VEC_INIT;
	struct rollout_events events = VEC_INIT;
	AUTO_JSON record = json_pack("{s:i, s:s}", "seq", 1, "ev", "step");
	struct node_result result = {
		.node = 1, .node_name = "n1", .state = RESULT_FAILED, .reason = "no"};
	struct run_row r;
	struct err err;

	assert_int_equal(store_begin(s, NULL), 0);
	add_part(s, "run-1-apply", "apply");
	add_part(s, "run-1-check-2", "check");
	add_part(s, "run-2-apply", "apply"); /* run-2 is no rollout */
	add_part(s, "run-10", "apply");
	assert_int_equal(store_result_put(s, "run-1-apply", &result, NULL), 0);
	result.node = 2;
	result.node_name = "n2";
	assert_int_equal(store_result_put(s, "run-1-check-2", &result, NULL), 0);
	assert_int_equal(store_event_add(s, "run-1-apply", 1, record, NULL), 0);
	assert_int_equal(store_event_add(s, "run-2-apply", 1, record, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);

	assert_int_equal(store_runs(s, a, 0, &runs, NULL), 0);
	assert_int_equal(runs.n, 4); /* run-1, run-2, run-2-apply, run-10 */
	assert_int_equal(store_runs_bare(s, a, 0, &all, NULL), 0);
	assert_int_equal(all.n, 6);
	assert_int_equal(store_run_find(s, a, "last", &r, NULL), 0);
	assert_string_equal(r.id, "run-10");
	assert_int_equal(store_run_find(s, a, "run-1", &r, NULL), 0);
	assert_int_equal(store_run_find(s, a, "run-1-apply", &r, NULL), 0);
	assert_int_equal(store_run_find(s, a, "run-1-a", &r, &err), -E_NOTFOUND);
	assert_int_equal(store_rollout_orders(s, a, "run-1", 1, &orders, NULL), 0);
	assert_int_equal(orders.n, 1);
	assert_string_equal(orders.at[0].run, "run-1-apply");
	assert_string_equal(orders.at[0].result.reason, "no");
	assert_int_equal(orders.at[0].result.state, RESULT_FAILED);
	assert_int_equal(store_rollout_events(s, a, "run-1", 1, &events, NULL), 0);
	assert_int_equal(events.n, 1);
	assert_string_equal(events.at[0].run, "run-1-apply");
	json_decref(events.at[0].record);
	vec_done(&events);
	vec_done(&orders);
	vec_done(&all);
	vec_done(&runs);
	arena_free(a);
	store_close(s);
}

/* The state of n1 in the database, as a reader sees it. */
static void state_is(const char *path, const char *want, size_t n_moves)
{
	struct arena *a = arena_new();
	struct rollout_node_rows nodes = VEC_INIT;
	struct rollout_moves moves = VEC_INIT;
	struct store *s;

	assert_int_equal(store_open(path, STORE_READ, &s, NULL), 0);
	assert_int_equal(store_rollout_nodes(s, a, "run-1", &nodes, NULL), 0);
	assert_int_equal(store_rollout_moves(s, a, "run-1", 1, &moves, NULL), 0);
	assert_int_equal(nodes.n, 1);
	assert_string_equal(nodes.at[0].state, want);
	assert_int_equal(moves.n, n_moves);
	vec_done(&moves);
	vec_done(&nodes);
	arena_free(a);
	store_close(s);
}

TEST(a_killed_driver_leaves_whole_turns)
{
	AUTO_STR path = path_of("killed");
	struct store *s = open_fresh("killed");

	assert_int_equal(store_begin(s, NULL), 0);
	move(s, 1, "", "eligible", 1);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	for (int i = 0; i < 4; i++) {
		const bool committed = i % 2;
		const pid_t child = fork();
		int status;

		if (child == 0) {
			if (store_open(path, STORE_WRITE, &s, NULL) < 0 || store_begin(s, NULL) < 0)
				_exit(1);
			move(s, 1, "eligible", committed ? "preflight" : "staged", i);
			if (committed && store_commit(s, NULL) < 0)
				_exit(1);
			kill(getpid(), SIGKILL);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		state_is(path, i == 0 ? "eligible" : "preflight", i < 1 ? 1 : i < 3 ? 2 : 3);
	}
}

/* --- evidence --- */

static void file_is(const char *path, const char *want)
{
	FILE *f = fopen(path, "r");
	char text[64] = "";
	struct stat st;

	if (!f)
		fail_msg("no file '%s'", path);
	else {
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		fclose(f);
	}
	assert_string_equal(text, want);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(evidence_is_a_file_and_a_row)
{
	struct store *s = open_fresh("evidence");
	AUTO_STR want = xasprintf("%s/evidence/run-1/n1/dmesg.txt", t_dir());
	struct arena *a = arena_new();
	struct evidence_rows rows = VEC_INIT;
	char sha[HASH_HEX];

	assert_int_equal(
		store_evidence_put(s, "run-1", 1, "n1", "dmesg.txt", str_of("old"), NULL), 0);
	assert_int_equal(
		store_begin(s, NULL), 0); /* within a transaction of the caller's as well */
	assert_int_equal(
		store_evidence_put(s, "run-1", 1, "n1", "dmesg.txt", str_of("new"), NULL), 0);
	assert_int_equal(store_evidence_put(s, "run-1", 2, "n2", "a", str_of(""), NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_evidence(s, a, "run-1", 1, &rows, NULL), 0);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.at[0].path, want);
	assert_int_equal(rows.at[0].bytes, 3);
	hash_hex(str_of("new"), sha);
	assert_string_equal(rows.at[0].sha256, sha);
	file_is(rows.at[0].path, "new");
	vec_done(&rows);
	assert_int_equal(store_evidence(s, a, "run-1", 0, &rows, NULL), 0);
	assert_int_equal(rows.n, 2);
	file_is(rows.at[1].path, "");
	vec_done(&rows);
	arena_free(a);
	store_close(s);
}

TEST(evidence_keeps_to_its_folder)
{
	static const char *const NAMES[] = {"", ".", "..", "../x", "a/b", "/etc/passwd", ".hidden",
		"-x", "a b", "0123456789012345678901234567890123456789012345678901234567890123456"};
	struct store *s = open_fresh("names");
	AUTO_STR evil = xasprintf("%s/evidence/run-1/evil", t_dir());
	AUTO_STR outside = xasprintf("%s/outside", t_dir());
	AUTO_STR leaked = xasprintf("%s/x", outside);
	struct err err;

	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		assert_int_equal(
			store_evidence_put(s, "run-1", 1, "n1", NAMES[i], str_of("x"), &err),
			-E_SCHEMA);
		assert_int_equal(
			store_evidence_put(s, "run-1", 1, NAMES[i], "x", str_of("x"), &err),
			-E_SCHEMA);
		assert_int_equal(store_evidence_put(s, NAMES[i], 1, "n1", "x", str_of("x"), &err),
			-E_SCHEMA);
		assert_true(err.hint[0] != '\0');
	}
	assert_int_equal(
		store_evidence_put(s, "no-run", 1, "n1", "x", str_of("x"), &err), -E_CONFLICT);
	/* a link planted in the place of a node's folder leads nowhere else */
	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "x", str_of("x"), &err), 0);
	assert_int_equal(mkdir(outside, 0700), 0);
	assert_int_equal(symlink(outside, evil), 0);
	store_evidence_put(s, "run-1", 1, "evil", "x", str_of("x"), &err);
	assert_int_equal(access(leaked, F_OK), -1);
	store_close(s);
}

TEST(evidence_has_caps)
{
	struct store *s = open_fresh("caps");
	AUTO_STR large = xcalloc(1, EVIDENCE_BYTES_MAX + 1);
	struct str bytes = {large, EVIDENCE_BYTES_MAX + 1};
	struct err err;

	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "large", bytes, &err), -E_LIMIT);
	bytes.n--;
	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "large", bytes, &err), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	for (int i = 1; i < EVIDENCE_FILES_MAX; i++) {
		AUTO_STR name = xasprintf("f%d", i);

		assert_int_equal(
			store_evidence_put(s, "run-1", 1, "n1", name, str_of("x"), &err), 0);
	}
	assert_int_equal(
		store_evidence_put(s, "run-1", 1, "n1", "more", str_of("x"), &err), -E_LIMIT);
	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "f1", str_of("y"), &err), 0);
	assert_int_equal(store_evidence_put(s, "run-1", 2, "n2", "f1", str_of("y"), &err), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
}

TEST(a_full_disk_keeps_the_older_evidence)
{
	AUTO_STR dir = xasprintf("%s/small", t_dir());
	AUTO_STR path = xasprintf("%s/s.db", dir);
	AUTO_STR file = xasprintf("%s/evidence/run-1/n1/log", dir);
	AUTO_STR large = xcalloc(1, EVIDENCE_BYTES_MAX);
	struct store *s;
	struct err err = {0};

	assert_int_equal(mkdir(dir, 0700), 0);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=3m") < 0) {
		print_message("no permission to mount a tmpfs\n");
		skip();
	}
	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	fill(s);
	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "log", str_of("old"), &err), 0);
	assert_int_equal(store_evidence_put(s, "run-1", 1, "n1", "log",
				 (struct str){large, EVIDENCE_BYTES_MAX}, &err),
		-E_NOSPACE);
	assert_true(err.hint[0] != '\0');
	file_is(file, "old");
	assert_int_equal(store_begin(s, NULL), 0); /* nothing was left open */
	move(s, 1, "", "eligible", 1);
	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	assert_int_equal(umount(dir), 0);
}

T_MAIN
