/* model - put, load, put again: ids, nodes and history survive. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/store/store.h"
#include "tests/unit/import/same_rows.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/t.h"

#include <sqlite3.h>

static int serial;

static struct store *fresh(void)
{
	AUTO_STR path = xasprintf("%s/m%d.db", t_dir(), serial++);
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	return s;
}

static int put(struct store *s, const struct model *m, struct err *err)
{
	int rc;

	assert_int_equal(store_begin(s, NULL), 0);
	rc = store_put_model(s, m, err);
	if (rc < 0)
		store_rollback(s);
	else
		assert_int_equal(store_commit(s, NULL), 0);
	return rc;
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a && b)
		assert_string_equal(a, b);
}

static void same_num(double a, double b)
{
	assert_true((isnan(a) && isnan(b)) || a == b);
}

static void same_power(const struct model *a, const struct model *b)
{
	assert_int_equal(a->feeds.n, b->feeds.n);
	for (size_t i = 0; i < a->feeds.n; i++) {
		assert_int_equal(a->feeds.at[i].panel, b->feeds.at[i].panel);
		assert_int_equal(a->feeds.at[i].rack, b->feeds.at[i].rack);
		same_num(a->feeds.at[i].volts, b->feeds.at[i].volts);
		same_num(a->feeds.at[i].max_utilization, b->feeds.at[i].max_utilization);
	}
	assert_int_equal(a->outlets.n, b->outlets.n);
	for (size_t i = 0; i < a->outlets.n; i++) {
		same_text(a->outlets.at[i].type, b->outlets.at[i].type);
		assert_int_equal(a->outlets.at[i].pdu, b->outlets.at[i].pdu);
		assert_int_equal(a->outlets.at[i].phase, b->outlets.at[i].phase);
	}
	assert_int_equal(a->cords.n, b->cords.n);
	for (size_t i = 0; i < a->cords.n; i++) {
		assert_int_equal(a->cords.at[i].port, b->cords.at[i].port);
		assert_int_equal(a->cords.at[i].outlet, b->cords.at[i].outlet);
	}
}

static void same_devices(const struct model *a, const struct model *b)
{
	assert_int_equal(a->types.n, b->types.n);
	for (size_t i = 0; i < a->types.n; i++) {
		same_text(a->types.at[i].maker, b->types.at[i].maker);
		same_text(a->types.at[i].watts_source, b->types.at[i].watts_source);
		assert_int_equal(a->types.at[i].watts_origin, b->types.at[i].watts_origin);
		for (int k = 0; k < BASIS_N; k++)
			same_num(a->types.at[i].watts[k], b->types.at[i].watts[k]);
	}
	assert_int_equal(a->devices.n, b->devices.n);
	for (size_t i = 0; i < a->devices.n; i++) {
		same_text(a->devices.at[i].role, b->devices.at[i].role);
		same_text(a->devices.at[i].serial, b->devices.at[i].serial);
		assert_int_equal(a->devices.at[i].rack, b->devices.at[i].rack);
		assert_int_equal(a->devices.at[i].face, b->devices.at[i].face);
		assert_int_equal(a->devices.at[i].status, b->devices.at[i].status);
		same_num(a->devices.at[i].watts_cap, b->devices.at[i].watts_cap);
	}
}

static void same_rest(const struct model *a, const struct model *b)
{
	assert_int_equal(a->templates.n, b->templates.n);
	assert_int_equal(a->ports.n, b->ports.n);
	for (size_t i = 0; i < a->ports.n; i++) {
		same_text(a->ports.at[i].name, b->ports.at[i].name);
		same_text(a->ports.at[i].mac, b->ports.at[i].mac);
		assert_int_equal(a->ports.at[i].kind, b->ports.at[i].kind);
	}
	assert_int_equal(a->cables.n, b->cables.n);
	for (size_t i = 0; i < a->cables.n; i++) {
		assert_int_equal(a->cables.at[i].a, b->cables.at[i].a);
		assert_int_equal(a->cables.at[i].b, b->cables.at[i].b);
		same_num(a->cables.at[i].length_m, b->cables.at[i].length_m);
	}
	assert_int_equal(a->nodes.n, b->nodes.n);
	for (size_t i = 0; i < a->nodes.n; i++) {
		same_text(a->nodes.at[i].name, b->nodes.at[i].name);
		same_text(a->nodes.at[i].user, b->nodes.at[i].user);
		same_text(a->nodes.at[i].host_key, b->nodes.at[i].host_key);
		same_text(a->nodes.at[i].vars, b->nodes.at[i].vars);
		assert_int_equal(a->nodes.at[i].device, b->nodes.at[i].device);
		assert_int_equal(a->nodes.at[i].port, b->nodes.at[i].port);
	}
}

static void same_model(const struct model *a, const struct model *b)
{
	assert_string_equal(a->site, b->site);
	same_text(a->about, b->about);
	assert_int_equal(a->racks.n, b->racks.n);
	assert_int_equal(a->racks.at[1].location, b->racks.at[1].location);
	same_num(a->racks.at[1].depth_mm, b->racks.at[1].depth_mm);
	assert_int_equal(a->zones.n, b->zones.n);
	assert_int_equal(a->panels.n, b->panels.n);
	assert_int_equal(a->locations.n, b->locations.n);
	same_power(a, b);
	same_devices(a, b);
	same_rest(a, b);
}

static struct node_row node_named(struct store *s, struct arena *a, const char *name)
{
	struct node_rows rows = VEC_INIT;
	struct node_row found = {0};

	assert_int_equal(store_nodes(s, a, &rows, NULL), 0);
	vec_each(&rows, struct node_row, it)
		if (strcmp(it->name, name) == 0)
			found = *it;
	vec_done(&rows);
	return found;
}

TEST(round_trip)
{
	struct model *m = sample_model(), *back, *again;
	struct store *s = fresh();
	struct err err;

	assert_int_equal(store_load_model(s, NULL, &back, &err), -E_NOTFOUND);
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(store_load_model(s, NULL, &back, NULL), 0);
	same_model(m, back);
	assert_int_equal(put(s, back, NULL), 0);
	assert_int_equal(store_load_model(s, "lab", &again, NULL), 0);
	same_model(m, again);
	assert_int_equal(store_load_model(s, "nowhere", &again, &err), -E_NOTFOUND);
	model_free(m);
	model_free(back);
	model_free(again);
	store_close(s);
}

TEST(two_sites_side_by_side)
{
	struct model *m = sample_model(), *back = NULL;
	struct arena *a = arena_new();
	struct store *s = fresh();
	const char **names;
	struct err err;
	size_t n;

	assert_int_equal(put(s, m, NULL), 0);
	m->site = "annex";
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(store_sites(s, a, &names, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "annex");
	assert_int_equal(store_load_model(s, NULL, &back, &err), -E_CONFLICT);
	assert_non_null(strstr(err.msg, "'annex', 'lab'"));
	/* emptying one leaves the other */
	m->cords.n = m->cables.n = m->nodes.n = m->ports.n = m->devices.n = 0;
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(store_load_model(s, "lab", &back, NULL), 0);
	assert_int_equal(back->devices.n, 2);
	assert_int_equal(back->nodes.n, 3);
	model_free(back);
	model_free(m);
	store_close(s);
	arena_free(a);
}

TEST(nodes_keep_id_key_and_state)
{
	struct model *m = sample_model();
	struct arena *a = arena_new();
	struct store *s = fresh();
	struct node_row before, after;

	assert_int_equal(put(s, m, NULL), 0);
	before = node_named(s, a, "box1");
	assert_null(before.host_key);
	assert_string_equal(before.rack, "R1");
	assert_string_equal(before.device_type, "box");
	assert_string_equal(before.state, "expected");
	assert_string_equal(before.user, "root");
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_node_pin_key(s, before.id, "ssh-ed25519 KEY", NULL), 0);
	assert_int_equal(
		store_node_seen(s, before.id, "0.1.0", "boot", "debian 12", "ready", NULL, NULL),
		0);
	assert_int_equal(
		store_node_seen(s, 999, "0.1.0", NULL, NULL, NULL, NULL, NULL), -E_NOTFOUND);
	assert_int_equal(store_commit(s, NULL), 0);
	m->nodes.at[0].address = "10.0.0.9";
	assert_int_equal(put(s, m, NULL), 0);
	after = node_named(s, a, "box1");
	assert_int_equal(after.id, before.id);
	assert_string_equal(after.address, "10.0.0.9");
	assert_string_equal(after.host_key, "ssh-ed25519 KEY");
	assert_string_equal(after.state, "ready");
	assert_string_equal(after.agent, "0.1.0");
	assert_true(after.seen > 0);
	m->nodes.at[0].host_key = "ssh-ed25519 OTHER";
	assert_int_equal(put(s, m, NULL), 0);
	assert_string_equal(node_named(s, a, "box1").host_key, "ssh-ed25519 OTHER");
	model_free(m);
	store_close(s);
	arena_free(a);
}

TEST(natural_order)
{
	struct model *m = sample_model();
	struct arena *a = arena_new();
	struct node_rows rows = VEC_INIT;
	struct store *s = fresh();

	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(store_nodes(s, a, &rows, NULL), 0);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.at[0].name, "bare2");
	assert_string_equal(rows.at[1].name, "bare10");
	assert_string_equal(rows.at[2].name, "box1");
	assert_string_equal(rows.at[0].role, "");
	vec_done(&rows);
	model_free(m);
	store_close(s);
	arena_free(a);
}

TEST(a_vanished_node_is_retired_and_comes_back)
{
	struct model *m = sample_model();
	struct arena *a = arena_new();
	struct store *s = fresh();
	struct lease holder;
	struct err err;
	int64_t id;

	assert_int_equal(put(s, m, NULL), 0);
	id = node_named(s, a, "bare2").id;
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_lease_take(s, a, id, "r1", "me", 60, &holder, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	m->nodes.n = 2; /* without bare2 */
	assert_int_equal(put(s, m, &err), -E_BUSY);
	assert_non_null(strstr(err.msg, "bare2"));
	assert_int_equal(node_named(s, a, "bare2").id, id);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_lease_drop_run(s, "r1", NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(node_named(s, a, "bare2").id, 0);
	m->nodes.n = 3;
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(node_named(s, a, "bare2").id, id);
	assert_string_equal(node_named(s, a, "bare2").state, "expected");
	model_free(m);
	store_close(s);
	arena_free(a);
}

TEST(cords_may_swap_and_rows_vanish)
{
	struct model *m = sample_model(), *back;
	struct store *s = fresh();

	assert_int_equal(put(s, m, NULL), 0);
	m->cords.at[0].outlet = 1;
	m->cords.at[1].outlet = 0;
	m->cables.at[0].a = 1;
	m->cables.at[0].label = "L-2";
	m->racks.n = 1;
	m->outlets.n = 2;
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(store_load_model(s, NULL, &back, NULL), 0);
	assert_int_equal(back->racks.n, 1);
	assert_int_equal(back->outlets.n, 2);
	assert_int_equal(back->cords.at[0].outlet, 1);
	assert_int_equal(back->cords.at[1].outlet, 0);
	assert_int_equal(back->cables.at[0].a, 1);
	assert_string_equal(back->cables.at[0].label, "L-2");
	model_free(back);
	model_free(m);
	store_close(s);
}

/* A row moved by hand: the model must not point outside its arrays. */
TEST(damaged_rows_are_refused)
{
	struct model *m = sample_model(), *back = NULL;
	struct store *s = fresh();
	AUTO_STR path = xstrdup(store_path(s));
	struct err err;
	sqlite3 *db;

	assert_int_equal(put(s, m, NULL), 0);
	store_close(s);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "UPDATE racks SET ord = 1000000", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_open(path, STORE_READ, &s, NULL), 0);
	assert_int_equal(store_load_model(s, NULL, &back, &err), -E_VERIFY);
	assert_null(back);
	store_close(s);
	model_free(m);
}

/* Rows go by 32 at once, the rest one by one: ids must fit at every edge. */
TEST(many_rows)
{
	static const size_t sizes[] = {31, 32, 33, 64, 65, 100};

	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		struct model *m = sample_model(), *back;
		const size_t first = m->ports.n;
		struct store *s = fresh();

		for (size_t i = 0; i < sizes[k]; i++) {
			*vec_push(&m->ports) =
				(struct port){.name = arena_printf(m->arena, "extra%zu", i),
					.device = i % m->devices.n,
					.kind = PORT_POWER};
			*vec_push(&m->outlets) = (struct outlet){
				.name = arena_printf(m->arena, "x%zu", i), .pdu = i % m->pdus.n};
			*vec_push(&m->cords) =
				(struct cord){.port = first + i, .outlet = m->outlets.n - 1};
		}
		for (int again = 0; again < 3; again++) {
			assert_int_equal(put(s, m, NULL), 0);
			assert_int_equal(store_load_model(s, NULL, &back, NULL), 0);
			same_power(m, back);
			same_rest(m, back);
			model_free(back);
			/* the second put finds some gone, some moved */
			m->cords.at[m->cords.n - 1].outlet = m->cords.at[m->cords.n - 2].outlet;
			m->cords.n -= 2;
			m->ports.at[m->ports.n - 1].name = "renamed";
			m->outlets.n--;
			*vec_push(&m->cords) =
				(struct cord){.port = m->ports.n - 1, .outlet = m->outlets.n - 1};
		}
		model_free(m);
		store_close(s);
	}
}

/* --- a put over what is there writes only what changed --- */

#define CHANGES 18

/* The i-th way in which a file may change; what is left has no loose ends. */
static void change(struct model *m, unsigned i)
{
	const struct device first = m->devices.at[0];
	const struct outlet outlet = m->outlets.at[0];
	struct rack rack = m->racks.at[0];

	rack.name = "one-more";
	switch (i) {
	case 0: /* nothing */
		return;
	case 1:
		m->types.at[0].watts[BASIS_MAX] = 4321;
		return;
	case 2:
		m->types.at[0].name = "another-type";
		return;
	case 3:
		m->devices.at[0].name = "another-device";
		return;
	case 4:
		m->devices.at[0].status = STATUS_OFFLINE;
		return;
	case 5: /* two change places, and so do their ports' devices */
		m->devices.at[0] = m->devices.at[1];
		m->devices.at[1] = first;
		return;
	case 6:
		m->ports.at[m->ports.n - 1].mac = "02:00:00:00:00:99";
		return;
	case 7:
		m->ports.at[0].name = "another-port";
		return;
	case 8:
		m->outlets.at[0].type = "C19";
		return;
	case 9: /* two outlets of one PDU change places */
		m->outlets.at[0] = m->outlets.at[1];
		m->outlets.at[1] = outlet;
		return;
	case 10:
		m->outlets.at[0].amps = 7.5;
		return;
	case 11:
		m->pdus.at[0].name = "another-pdu";
		return;
	case 12:
		m->racks.at[0].name = "another-rack";
		return;
	case 13: /* a cord moves to the last outlet */
		m->cords.at[0].outlet = m->outlets.n - 1;
		return;
	case 14:
		m->cords.n--;
		return;
	case 15: /* a rack comes in at the end */
		*vec_push(&m->racks) = rack;
		return;
	case 16:
		m->devices.at[0].rack = m->devices.at[0].rack ? 0 : 1;
		return;
	default:
		if (m->banks.n)
			m->banks.at[0].amps = 11;
	}
}

static struct model *changed(unsigned i)
{
	struct err_list e = {0};
	struct model *m;

	assert_int_equal(
		import_site(TEST_DIR "/../../../inventory/examples/business.yaml", &m, &e), 0);
	*vec_push(&m->outlets) = (struct outlet){.name = "spare", .pdu = m->pdus.n - 1};
	change(m, i);
	err_list_done(&e);
	return m;
}

TEST(what_changed_is_written)
{
	for (unsigned i = 0; i < CHANGES; i++) {
		struct store *s = fresh();

		/* there and back, and once more over itself */
		for (unsigned k = 0; k < 4; k++) {
			struct model *m = changed(k % 3 ? i : 0), *back;
			const char *differs;
			struct err err = {0};

			if (put(s, m, &err) < 0)
				fail_msg("change %u: %s", i, err.msg);
			assert_int_equal(store_load_model(s, NULL, &back, NULL), 0);
			differs = differing_field(m, back);
			if (differs)
				fail_msg("change %u, put %u: %s", i, k, differs);
			same_power(m, back);
			same_devices(m, back);
			same_rest(m, back);
			model_free(back);
			model_free(m);
		}
		store_close(s);
	}
}

/* Rows that are the same keep what the file does not know: here a mark of ours. */
TEST(what_is_the_same_is_left_alone)
{
	struct store *s = fresh();
	struct model *m = changed(0);
	sqlite3 *db;
	sqlite3_stmt *st;

	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(sqlite3_open(store_path(s), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "CREATE TABLE touched (n); CREATE TRIGGER t1 AFTER UPDATE ON ports"
				 " BEGIN INSERT INTO touched VALUES (1); END;"
				 "CREATE TRIGGER t2 AFTER UPDATE ON devices"
				 " BEGIN INSERT INTO touched VALUES (1); END;"
				 "CREATE TRIGGER t3 AFTER UPDATE ON outlets"
				 " BEGIN INSERT INTO touched VALUES (1); END;",
				 NULL, NULL, NULL),
		SQLITE_OK);
	m->types.at[0].watts[BASIS_MAX] = 4321;
	assert_int_equal(put(s, m, NULL), 0);
	assert_int_equal(
		sqlite3_prepare_v2(db, "SELECT count(*) FROM touched", -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(st, 0), 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	model_free(m);
	store_close(s);
}

/* It has cpu and os as reported; one group is declared. */
static void facts_that_are_no_longer_told_go(struct store *s, int64_t id)
{
	AUTO_JSON now = json_pack("{s:i,s:[]}", "cpu", 3, "a'b\"c");
	AUTO_JSON none = json_object();
	json_t *all;

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_facts(s, id, "place", now, ORIGIN_DECLARED, NULL), 0);
	assert_int_equal(store_replace_facts(s, id, now, ORIGIN_REPORTED, NULL), 0);
	assert_int_equal(store_get_facts(s, id, &all, NULL), 0);
	assert_int_equal(json_object_size(all), 3);
	assert_null(json_object_get(all, "os"));
	assert_int_equal(json_integer_value(json_object_get(all, "cpu")), 3);
	assert_non_null(json_object_get(all, "a'b\"c"));
	json_decref(all);
	assert_int_equal(store_replace_facts(s, id, none, ORIGIN_REPORTED, NULL), 0);
	assert_int_equal(store_get_facts(s, id, &all, NULL), 0);
	assert_int_equal(json_object_size(all), 1);
	assert_non_null(json_object_get(all, "place"));
	json_decref(all);
	assert_int_equal(store_commit(s, NULL), 0);
}

TEST(facts)
{
	struct model *m = sample_model();
	struct arena *a = arena_new();
	struct store *s = fresh();
	AUTO_JSON one = json_pack("{s:i}", "cores", 8);
	AUTO_JSON two = json_pack("[i,i]", 1, 2);
	json_t *all;
	int64_t id;

	assert_int_equal(put(s, m, NULL), 0);
	id = node_named(s, a, "box1").id;
	assert_int_equal(store_get_facts(s, id, &all, NULL), 0);
	assert_int_equal(json_object_size(all), 0);
	json_decref(all);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_facts(s, id, "cpu", one, ORIGIN_REPORTED, NULL), 0);
	assert_int_equal(store_put_facts(s, id, "cpu", two, ORIGIN_REPORTED, NULL), 0);
	assert_int_equal(store_put_facts(s, id, "os", one, ORIGIN_REPORTED, NULL), 0);
	assert_int_equal(store_put_facts(s, 999, "os", one, ORIGIN_REPORTED, NULL), -E_CONFLICT);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_get_facts(s, id, &all, NULL), 0);
	assert_int_equal(json_object_size(all), 2);
	assert_int_equal(json_array_size(json_object_get(all, "cpu")), 2);
	json_decref(all);
	facts_that_are_no_longer_told_go(s, id);
	model_free(m);
	store_close(s);
	arena_free(a);
}

/* The file that states every field there is, put twice. */
TEST(every_field_is_kept)
{
	struct err_list e = {0};
	struct store *s = fresh();
	struct model *m = NULL, *back = NULL;
	const char *differs;

	assert_int_equal(import_site(TEST_DIR "/../import/everything.yaml", &m, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(put(s, m, NULL), 0);
		assert_int_equal(store_load_model(s, NULL, &back, NULL), 0);
		differs = differing_field(m, back);
		if (differs)
			fail_msg("not the same from the database: %s", differs);
		model_free(back);
	}
	model_free(m);
	store_close(s);
	err_list_done(&e);
}

T_MAIN
