/* audit - the chain shows a changed, a removed and a cut row. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store.h"
#include "tests/unit/t.h"

#include <sqlite3.h>

static int serial;

static char *logged(void)
{
	char *path = xasprintf("%s/audit%d.db", t_dir(), serial++);
	struct store *s;
	int64_t rows = -1;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_audit_verify(s, &rows, NULL), 0);
	assert_int_equal(rows, 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_audit_add(s, "root", "import", "site lab", "3 nodes", NULL), 0);
	assert_int_equal(store_audit_add(s, "root", "apply", "motd", NULL, NULL), 0);
	assert_int_equal(store_audit_add(s, "ann", "apply", "docker", "{\"n\":2}", NULL), 0);
	assert_int_equal(store_audit_add(s, "a\xff", "x", "y", "z", NULL), -E_SCHEMA);
	assert_int_equal(store_commit(s, NULL), 0);
	assert_int_equal(store_audit_verify(s, &rows, NULL), 0);
	assert_int_equal(rows, 3);
	store_close(s);
	return path;
}

static int exec(const char *path, const char *sql)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

#define UNLOCK "DROP TRIGGER audit_log_keep; DROP TRIGGER audit_log_stay;"

static const struct {
	const char *sql, *says;
} TAMPERED[] = {
	{"UPDATE audit_log SET detail = '30 nodes' WHERE id = 1",
		"row 1 of the audit log was changed"},
	{"UPDATE audit_log SET who = 'bob' WHERE id = 3", "row 3 of the audit log was changed"},
	{"UPDATE audit_log SET at_ns = at_ns + 1 WHERE id = 2",
		"row 2 of the audit log was changed"},
	{"DELETE FROM audit_log WHERE id = 2", "row 2 of the audit log is missing"},
	{"DELETE FROM audit_log WHERE id = 1", "row 1 of the audit log is missing"},
	{"DELETE FROM audit_log WHERE id = 3",
		"row 3 of the audit log is missing: the log was cut"},
	{"DELETE FROM audit_log", "row 1 of the audit log is missing: the log was cut"},
	{"DELETE FROM audit_log WHERE id = 2; UPDATE audit_log SET id = 2 WHERE id = 3",
		"row 2 of the audit log does not follow"},
};

TEST(tampering_shows)
{
	for (size_t i = 0; i < sizeof TAMPERED / sizeof *TAMPERED; i++) {
		AUTO_STR path = logged();
		AUTO_STR sql = xasprintf(UNLOCK "%s", TAMPERED[i].sql);
		struct store *s;
		struct err err = {0};
		int64_t rows;

		assert_int_equal(exec(path, sql), SQLITE_OK);
		assert_int_equal(store_open(path, STORE_READ, &s, NULL), 0);
		assert_int_equal(store_audit_verify(s, &rows, &err), -E_VERIFY);
		if (!strstr(err.msg, TAMPERED[i].says))
			fail_msg("'%s' lacks '%s'", err.msg, TAMPERED[i].says);
		store_close(s);
	}
}

TEST(rows_are_append_only)
{
	AUTO_STR path = logged();

	assert_int_equal(exec(path, "UPDATE audit_log SET who = 'x'") & 0xff, SQLITE_CONSTRAINT);
	assert_int_equal(exec(path, "DELETE FROM audit_log") & 0xff, SQLITE_CONSTRAINT);
}

T_MAIN
