/* open - creation, refusals, rules, settings, migrations. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/store/migrate.h"
#include "inventory/store/store.h"
#include "tests/unit/import/same_rows.h"
#include "tests/unit/t.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", t_dir(), name);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void spill(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void refused(const char *path, enum store_open how, enum ec code, const char *word)
{
	struct store *s = NULL;
	struct err err = {0};

	assert_int_equal(store_open(path, how, &s, &err), -(int)code);
	assert_null(s);
	if (!strstr(err.msg, word))
		fail_msg("'%s' lacks '%s'", err.msg, word);
}

TEST(create_makes_directories_and_a_private_file)
{
	AUTO_STR path = path_of("a/b/c.db");
	struct store *s;
	struct stat st;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_string_equal(store_path(s), path);
	store_close(s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	refused(path, STORE_CREATE, E_EXISTS, "exists already");
	assert_int_equal(store_open(path, STORE_READ, &s, NULL), 0);
	store_close(s);
}

TEST(an_empty_file_is_what_a_killed_init_leaves)
{
	AUTO_STR path = path_of("empty.db");
	struct store *s;

	spill(path, "");
	refused(path, STORE_WRITE, E_SCHEMA, "empty");
	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	store_close(s);
}

TEST(refusals)
{
	AUTO_STR text = path_of("text");
	AUTO_STR other = path_of("other.db");
	AUTO_STR newer = path_of("newer.db");
	AUTO_STR none = path_of("none.db");
	AUTO_STR dir = path_of("dir");
	struct store *s;

	refused(none, STORE_WRITE, E_NOTFOUND, "there is no database");
	refused(none, STORE_READ, E_NOTFOUND, "there is no database");
	spill(text, "#!/bin/sh\nthis is a script and no database at all, however long it may be\n");
	refused(text, STORE_WRITE, E_SCHEMA, "no Stoika database");
	refused(text, STORE_READ, E_SCHEMA, "no Stoika database");
	refused(text, STORE_CREATE, E_EXISTS, "exists already");
	sql(other, "CREATE TABLE t (a)");
	refused(other, STORE_WRITE, E_SCHEMA, "no Stoika database");
	assert_int_equal(mkdir(dir, 0700), 0);
	refused(dir, STORE_WRITE, E_SCHEMA, "not a file");
	assert_int_equal(store_open(newer, STORE_CREATE, &s, NULL), 0);
	store_close(s);
	sql(newer, "PRAGMA user_version = 9999");
	refused(newer, STORE_WRITE, E_UNSUPPORTED, "newer stoika");
	refused(newer, STORE_READ, E_UNSUPPORTED, "newer stoika");
}

TEST(a_log_that_cannot_be_written_is_told)
{
	AUTO_STR path = path_of("sealed.db");
	AUTO_STR log = path_of("sealed.db-wal");
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	store_close(s);
	assert_int_equal(mkdir(log, 0700), 0);
	refused(path, STORE_WRITE, E_DENIED, "its log cannot be written beside");
	refused(path, STORE_READ, E_DENIED, "its log cannot be written beside");
}

TEST(a_truncated_database_is_refused)
{
	AUTO_STR path = path_of("torn.db");
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	store_close(s);
	assert_int_equal(truncate(path, 5000), 0);
	s = NULL;
	if (store_open(path, STORE_WRITE, &s, NULL) == 0) {
		struct arena *a = arena_new();
		struct node_rows rows = VEC_INIT;

		assert_int_equal(store_nodes(s, a, &rows, NULL), -E_VERIFY);
		vec_done(&rows);
		arena_free(a);
	}
	store_close(s);
}

TEST(network_file_systems_are_known)
{
	assert_string_equal(store_network_fs(0x6969), "NFS");
	assert_string_equal(store_network_fs(0xffffffffff534d42u), "CIFS"); /* sign-extended */
	assert_null(store_network_fs(0xef53));
	assert_null(store_network_fs(0x01021994));
}

TEST(default_path)
{
	struct arena *a = arena_new();

	unsetenv("STOIKA_DB");
	assert_string_equal(store_default_path(a, "x.db"), "x.db");
	if (geteuid() == 0)
		assert_string_equal(store_default_path(a, NULL), "/var/lib/stoika/stoika.db");
	setenv("STOIKA_DB", "/srv/s.db", 1);
	assert_string_equal(store_default_path(a, NULL), "/srv/s.db");
	assert_string_equal(store_default_path(a, "x.db"), "x.db");
	unsetenv("STOIKA_DB");
	arena_free(a);
}

TEST(settings_and_transactions)
{
	AUTO_STR path = path_of("settings.db");
	struct arena *a = arena_new();
	const char *v = NULL;
	struct store *s, *r;
	struct err err;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_setting_put(s, "id", "1", &err), -E_INTERNAL); /* no transaction */
	assert_int_equal(store_setting_get(s, a, "id", &v, &err), -E_NOTFOUND);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_begin(s, &err), -E_INTERNAL);
	assert_int_equal(store_setting_put(s, "id", "1", NULL), 0);
	assert_int_equal(store_setting_put(s, "id", "2", NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_commit(s, &err), -E_INTERNAL);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_setting_put(s, "id", "3", NULL), 0);
	store_rollback(s);
	assert_int_equal(store_setting_get(s, a, "id", &v, NULL), 0);
	assert_string_equal(v, "2");
	assert_int_equal(store_open(path, STORE_READ, &r, NULL), 0);
	assert_int_equal(store_begin(r, &err), -E_DENIED);
	assert_int_equal(store_setting_put(r, "id", "4", &err), -E_DENIED);
	assert_int_equal(store_setting_get(r, a, "id", &v, NULL), 0);
	store_close(r);
	store_close(s);
	arena_free(a);
}

/* The rules are per connection, so they are seen through what they refuse. */
TEST(references_are_enforced)
{
	AUTO_STR path = path_of("rules.db");
	const struct node_result result = {.node = 77, .node_name = "x"};
	struct err err;
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_result_put(s, "no-such-run", &result, &err), -E_CONFLICT);
	store_rollback(s);
	store_close(s);
}

static const struct migration TWO[] = {
	{1, "0001_start", "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)"},
	{2, "0002_more", "ALTER TABLE t ADD COLUMN b INTEGER; UPDATE t SET b = a + 1"},
};
static const struct migration BROKEN[] = {
	{1, "0001_start", "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)"},
	{2, "0002_bad", "ALTER TABLE t ADD COLUMN b INTEGER; UPDATE nowhere SET b = 1"},
};
static const struct migration DANGLING[] = {
	{1, "0001_start", "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)"},
	{2, "0002_bad",
		"CREATE TABLE u (t INTEGER REFERENCES t (rowid)); CREATE TABLE v (i"
		" INTEGER PRIMARY KEY); CREATE TABLE w (v INTEGER REFERENCES v (i));"
		" INSERT INTO w VALUES (5); DROP TABLE u"},
};
static const struct migration KILLING[] = {
	{1, "0001_start", "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)"},
	{2, "0002_kill", "ALTER TABLE t ADD COLUMN b INTEGER; UPDATE t SET b = 1; SELECT die()"},
};

static int64_t number(sqlite3 *db, const char *query)
{
	sqlite3_stmt *st;
	int64_t v;

	assert_int_equal(sqlite3_prepare_v2(db, query, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static sqlite3 *at_version_one(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(migrate_run(db, path, TWO, 1, NULL), 0);
	assert_int_equal(number(db, "PRAGMA user_version"), 1);
	return db;
}

static void check_backup(const char *path)
{
	AUTO_STR copy = xasprintf("%s.v1.backup", path);
	AUTO_STR tmp = xasprintf("%s.tmp", copy);
	sqlite3 *db;

	assert_int_equal(access(tmp, F_OK), -1);
	assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
	assert_int_equal(number(db, "PRAGMA user_version"), 1);
	assert_int_equal(number(db, "SELECT a FROM t"), 7);
	sqlite3_close(db);
}

TEST(migration_with_a_backup_first)
{
	AUTO_STR path = path_of("migrate.db");
	sqlite3 *db = at_version_one(path);

	assert_int_equal(migrate_run(db, path, TWO, 2, NULL), 0);
	assert_int_equal(number(db, "PRAGMA user_version"), 2);
	assert_int_equal(number(db, "SELECT b FROM t"), 8);
	assert_int_equal(migrate_run(db, path, TWO, 2, NULL), 0); /* nothing to do */
	sqlite3_close(db);
	check_backup(path);
}

TEST(a_failed_migration_changes_nothing)
{
	AUTO_STR path = path_of("failed.db");
	sqlite3 *db = at_version_one(path);
	struct err err;

	assert_true(migrate_run(db, path, BROKEN, 2, &err) < 0);
	assert_non_null(strstr(err.msg, "0002_bad"));
	assert_int_equal(number(db, "PRAGMA user_version"), 1);
	assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_info('t')"), 1);
	assert_int_equal(migrate_run(db, path, DANGLING, 2, &err), -E_CONFLICT);
	assert_int_equal(number(db, "PRAGMA user_version"), 1);
	sqlite3_close(db);
}

static void die(sqlite3_context *c, int n, sqlite3_value **v)
{
	(void)c, (void)n, (void)v;
	kill(getpid(), SIGKILL);
}

TEST(a_killed_migration_leaves_the_old_version)
{
	AUTO_STR path = path_of("killed.db");
	sqlite3 *db = at_version_one(path);
	pid_t child;
	int status;

	sqlite3_close(db); /* never a handle across fork */
	child = fork();
	if (child == 0) {
		sqlite3_open(path, &db);
		sqlite3_create_function(db, "die", 0, SQLITE_UTF8, NULL, die, NULL, NULL);
		migrate_run(db, path, KILLING, 2, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(number(db, "PRAGMA user_version"), 1);
	assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_info('t')"), 1);
	assert_int_equal(migrate_run(db, path, TWO, 2, NULL), 0);
	assert_int_equal(number(db, "SELECT b FROM t"), 8);
	sqlite3_close(db);
	check_backup(path);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = xcalloc(1, 1 << 20);

	if (!f)
		fail_msg("cannot read '%s'", path);
	else {
		assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
		fclose(f);
	}
	return text;
}

/* A dump of a database of each version that was ever shipped must open. */
TEST(every_released_schema_opens)
{
	AUTO_STR path = path_of("v1.db");
	AUTO_STR dump = slurp(TEST_DIR "/v1.sql");
	struct arena *a = arena_new();
	struct node_rows nodes = VEC_INIT;
	struct model *m;
	struct store *s;
	int64_t rows;

	sql(path, dump);
	assert_int_equal(store_open(path, STORE_WRITE, &s, NULL), 0);
	assert_int_equal(store_nodes(s, a, &nodes, NULL), 0);
	assert_int_equal(nodes.n, 3);
	assert_int_equal(store_load_model(s, NULL, &m, NULL), 0);
	assert_string_equal(m->site, "lab");
	assert_int_equal(m->outlets.at[0].phase, PHASE_L2); /* was a number */
	assert_int_equal(m->outlets.at[1].phase, PHASE_UNSTATED);
	assert_int_equal(m->devices.at[1].face, FACE_REAR);
	assert_true(m->types.at[0].watts[BASIS_MAX] > 1999);
	assert_int_equal(store_audit_verify(s, &rows, NULL), 0);
	assert_int_equal(rows, 1);
	model_free(m);
	store_close(s);
	vec_done(&nodes);
	arena_free(a);
}

TEST(schema_2_opens)
{
	AUTO_STR path = path_of("v2.db");
	AUTO_STR dump = slurp(TEST_DIR "/v2.sql");
	struct err_list e = {0};
	struct model *m, *want;
	struct store *s;
	const char *differs;

	sql(path, dump);
	assert_int_equal(store_open(path, STORE_WRITE, &s, NULL), 0);
	assert_int_equal(store_load_model(s, NULL, &m, NULL), 0);
	assert_int_equal(import_site(TEST_DIR "/v2.yaml", &want, &e), 0);
	differs = differing_field(want, m);
	if (differs)
		fail_msg("not as it was put: %s", differs);
	model_free(want);
	model_free(m);
	store_close(s);
	err_list_done(&e);
}

T_MAIN
