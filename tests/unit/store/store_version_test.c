/* version - what a site was: equal texts once, the right one for a moment, damage told. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/t.h"

#include <sqlite3.h>

static int serial;

static struct store *fresh(void)
{
	AUTO_STR path = xasprintf("%s/v%d.db", t_dir(), serial++);
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	return s;
}

static void put(struct store *s, const char *text)
{
	struct model *m = sample_model();
	struct err err = {0};

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, m, &err), 0);
	assert_int_equal(store_version_put(s, "lab", "me@here", "lab.yaml", str_of(text), &err), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	model_free(m);
}

static int64_t number(const struct store *s, const char *query)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t v;

	assert_int_equal(sqlite3_open(store_path(s), &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

static void run(const struct store *s, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(store_path(s), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

TEST(equal_texts_are_stored_once)
{
	struct store *s = fresh();
	struct store_versions list = VEC_INIT;
	struct arena *a = arena_new();

	put(s, "site: lab\n");
	put(s, "site: lab\n"); /* the same again is no version */
	put(s, "site: lab\nabout: more\n");
	put(s, "site: lab\n"); /* back to what it was is one */
	assert_int_equal(number(s, "SELECT count(*) FROM site_texts"), 2);
	assert_int_equal(store_version_list(s, a, NULL, &list, NULL), 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.at[0].sha256, list.at[2].sha256);
	assert_true(list.at[0].at >= list.at[1].at && list.at[1].at >= list.at[2].at);
	assert_string_equal(list.at[1].by, "me@here");
	assert_string_equal(list.at[1].source, "lab.yaml");
	assert_int_equal(list.at[1].bytes, strlen("site: lab\nabout: more\n"));
	list.n = 0;
	assert_int_equal(store_version_list(s, a, "nowhere", &list, NULL), 0);
	assert_int_equal(list.n, 0);
	vec_done(&list);
	arena_free(a);
	store_close(s);
}

TEST(what_was_imported_last)
{
	struct store *s = fresh();

	assert_false(store_version_is_last(s, "lab", STR_LIT("site: lab\n")));
	put(s, "site: lab\n");
	assert_true(store_version_is_last(s, "lab", STR_LIT("site: lab\n")));
	assert_false(store_version_is_last(s, "lab", STR_LIT("site: lab")));
	assert_false(store_version_is_last(s, "lap", STR_LIT("site: lab\n")));
	run(s, "UPDATE site_versions SET schema = 3"); /* an older program's import lacks columns */
	assert_false(store_version_is_last(s, "lab", STR_LIT("site: lab\n")));
	store_close(s);
}

TEST(the_version_of_a_moment)
{
	struct store *s = fresh();
	struct arena *a = arena_new();
	struct store_version v;
	struct err err = {0};
	struct str text;

	assert_int_equal(store_version_at(s, a, "lab", clock_wall(), &v, &text, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "no version of site 'lab' is kept"));
	put(s, "one");
	put(s, "two");
	put(s, "three");
	run(s, "UPDATE site_versions SET at_ns = 1000000000 * 86400 * 365 * (40 + id)");
	assert_int_equal(store_version_at(s, a, "lab", clock_wall(), &v, &text, &err), 0);
	assert_string_equal(text.p, "three");
	assert_int_equal(
		store_version_at(s, a, NULL, CLOCK_SEC * 86400 * 365 * 42, &v, &text, &err), 0);
	assert_string_equal(text.p, "two"); /* its very moment */
	assert_int_equal(
		store_version_at(s, a, NULL, CLOCK_SEC * 86400 * 365 * 43 - 1, &v, &text, &err), 0);
	assert_string_equal(text.p, "two");
	assert_int_equal(
		store_version_at(s, a, "lab", CLOCK_SEC * 86400, &v, &text, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "1970-01-02"));
	assert_non_null(strstr(err.msg, "2010-12-22")); /* the oldest */
	assert_non_null(strstr(err.hint, "list versions lab"));
	arena_free(a);
	store_close(s);
}

TEST(damage_is_told)
{
	static const char *const harm[] = {
		"UPDATE site_texts SET zstd = x'00'",
		"UPDATE site_texts SET bytes = bytes - 1",
		"UPDATE site_texts SET bytes = 1 << 40",
		"UPDATE site_texts SET bytes = -5",
		"PRAGMA foreign_keys = OFF; UPDATE site_texts SET sha256 = 'x';"
		"UPDATE site_versions SET sha256 = 'x'",
	};

	for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
		struct store *s = fresh();
		struct arena *a = arena_new();
		struct store_version v;
		struct err err = {0};
		struct str text;

		put(s, "site: lab\n");
		run(s, harm[i]);
		assert_int_equal(
			store_version_at(s, a, "lab", clock_wall(), &v, &text, &err), -E_VERIFY);
		arena_free(a);
		store_close(s);
	}
}

TEST(only_inside_a_transaction)
{
	struct store *s = fresh();
	struct err err = {0};

	put(s, "one");
	assert_int_equal(store_version_put(s, "lab", "me", "f", STR_LIT("two"), &err), -E_INTERNAL);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(
		store_version_put(s, "none", "me", "f", STR_LIT("two"), &err), -E_NOTFOUND);
	store_rollback(s);
	assert_int_equal(number(s, "SELECT count(*) FROM site_texts"), 1);
	store_close(s);
}

T_MAIN
