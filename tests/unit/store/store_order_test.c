/* store: what was ordered, serials of bundles, nodes that were missed, moves to a new key. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/store/order.h"
#include "tests/unit/t.h"

static const char SITE[] = "site: lab\n"
			   "nodes:\n"
			   "  - {name: n1, address: 10.0.0.1}\n"
			   "  - {name: n2, address: 10.0.0.2}\n";

static struct store *open_fresh(const char *name)
{
	AUTO_STR path = xasprintf("%s/%s.db", t_dir(), name);
	struct err_list errors = {0};
	struct model *m = NULL;
	struct store *s = NULL;
	struct err err;

	assert_int_equal(import_site_text("site.yaml", str_of(SITE), &m, &errors), 0);
	assert_int_equal(store_open(path, STORE_CREATE, &s, &err), 0);
	assert_int_equal(store_begin(s, &err), 0);
	assert_int_equal(store_put_model(s, m, &err), 0);
	assert_int_equal(store_run_add(s,
				 &(struct run_row){.id = "run-1",
					 .mode = "apply",
					 .by = "me",
					 .state = "running",
					 .n_nodes = 2},
				 &err),
		0);
	assert_int_equal(store_commit(s, &err), 0);
	model_free(m);
	err_list_done(&errors);
	return s;
}

TEST(a_run_is_under_way_again)
{
	struct store *s = open_fresh("reopen");
	struct arena *a = arena_new();
	struct run_row r;

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_run_end(s, "run-1", "interrupted", "abc", NULL), 0);
	assert_int_equal(store_run_find(s, a, "run-1", &r, NULL), 0);
	assert_true(r.ended > 0);
	assert_int_equal(store_run_reopen(s, "run-1", NULL), 0);
	assert_int_equal(store_run_find(s, a, "run-1", &r, NULL), 0);
	assert_string_equal(r.state, "running");
	assert_int_equal(r.ended, 0);
	assert_string_equal(r.plan_hash, "abc");
	assert_int_equal(store_commit(s, NULL), 0);
	arena_free(a);
	store_close(s);
}

TEST(keeps_what_was_ordered)
{
	struct store *s = open_fresh("order");
	AUTO_JSON body = json_pack("{s:[s]}", "secrets", "token");
	AUTO_JSON back = NULL;
	struct err err;

	assert_int_equal(store_order_get(s, "run-1", &back, &err), -E_NOTFOUND);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_order_put(s, "run-1", body, &err), 0);
	assert_int_equal(store_order_put(s, "run-1", body, &err), 0);
	/* nor is it kept for another run */
	assert_int_equal(
		store_run_add(
			s, &(struct run_row){.id = "run-2", .mode = "apply", .by = "me"}, &err),
		0);
	assert_int_equal(store_order_put(s, "no-run", body, &err), -E_NOTFOUND);
	assert_int_equal(store_order_get(s, "run-2", &back, &err), -E_NOTFOUND);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_order_get(s, "run-1", &back, &err), 0);
	assert_true(json_equal(body, back));
	store_close(s);
}

TEST(serials_only_grow_for_each_signer)
{
	struct store *s = open_fresh("serial");
	int64_t serial = -1;

	assert_int_equal(store_serial_get(s, "base", "k1", &serial, NULL), 0);
	assert_int_equal(serial, 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_serial_put(s, "base", "k1", 7, NULL), 0);
	assert_int_equal(store_serial_put(s, "base", "k1", 5, NULL), 0);
	assert_int_equal(store_serial_put(s, "base", "k2", 3, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_serial_get(s, "base", "k1", &serial, NULL), 0);
	assert_int_equal(serial, 7);
	assert_int_equal(store_serial_get(s, "base", "k2", &serial, NULL), 0);
	assert_int_equal(serial, 3);
	assert_int_equal(store_serial_get(s, "other", "k1", &serial, NULL), 0);
	assert_int_equal(serial, 0);
	store_close(s);
}

TEST(remembers_who_was_missed_and_who_moved)
{
	struct store *s = open_fresh("missed");
	struct arena *a = arena_new();
	struct node_rows nodes = VEC_INIT;
	struct missed_rows missed = VEC_INIT;
	struct key_moves moves = VEC_INIT;
	int64_t node;

	assert_int_equal(store_nodes(s, a, &nodes, NULL), 0);
	node = nodes.at[0].id;
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_node_missed(s, node, "no route", NULL), 0);
	assert_int_equal(store_node_missed(s, node, "timed out", NULL), 0);
	assert_int_equal(store_missed(s, a, &missed, NULL), 0);
	assert_int_equal(missed.n, 1);
	assert_int_equal(missed.at[0].node, node);
	assert_string_equal(missed.at[0].why, "timed out");
	assert_int_equal(store_node_met(s, node, NULL), 0);
	vec_done(&missed);
	assert_int_equal(store_missed(s, a, &missed, NULL), 0);
	assert_int_equal(missed.n, 0);
	assert_int_equal(store_key_moved(s, node, "k2", false, NULL), 0);
	assert_int_equal(store_key_moved(s, node, "k2", true, NULL), 0);
	assert_int_equal(store_key_moves(s, a, &moves, NULL), 0);
	assert_int_equal(moves.n, 1);
	assert_true(moves.at[0].forgotten);
	assert_string_equal(moves.at[0].key, "k2");
	assert_int_equal(store_key_moves_clear(s, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	vec_done(&moves);
	vec_done(&missed);
	vec_done(&nodes);
	arena_free(a);
	store_close(s);
}

T_MAIN
