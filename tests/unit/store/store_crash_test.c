/* crash - a killed writer, two writers, a full disk. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/t.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put_sample(struct store *s)
{
	struct model *m = sample_model();

	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, m, NULL), 0);
	assert_int_equal(store_commit(s, NULL), 0);
	model_free(m);
}

/* Commits one setting, is killed with a second one written but not committed. */
static void write_and_die(const char *path, int i)
{
	AUTO_STR value = xasprintf("%d", i);
	struct store *s;

	if (store_open(path, STORE_WRITE, &s, NULL) < 0 || store_begin(s, NULL) < 0 ||
		store_setting_put(s, "done", value, NULL) < 0 || store_commit(s, NULL) < 0 ||
		store_begin(s, NULL) < 0)
		_exit(1);
	for (int k = 0; k < 2000; k++)
		if (store_audit_add(s, "root", "what", value, "torn", NULL) < 0)
			_exit(1);
	kill(getpid(), SIGKILL);
}

TEST(a_killed_writer_leaves_a_good_database)
{
	AUTO_STR path = xasprintf("%s/killed.db", t_dir());
	struct arena *a = arena_new();
	struct store *s;

	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	put_sample(s);
	store_close(s);
	for (int i = 0; i < 5; i++) {
		AUTO_STR want = xasprintf("%d", i);
		const char *done = NULL;
		int64_t rows = -1;
		int status;
		const pid_t child = fork();

		if (child == 0)
			write_and_die(path, i);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(store_open(path, STORE_WRITE, &s, NULL), 0);
		assert_int_equal(store_setting_get(s, a, "done", &done, NULL), 0);
		assert_string_equal(done, want);
		assert_int_equal(store_audit_verify(s, &rows, NULL), 0);
		assert_int_equal(rows, 0);
		store_close(s);
	}
	arena_free(a);
}

static void check_integrity(const char *path)
{
	sqlite3 *db;
	sqlite3_stmt *st;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
	sqlite3_finalize(st);
	sqlite3_close(db);
}

/* Fills until an error comes; returns it. */
static int fill(struct store *s, struct err *err)
{
	AUTO_STR text = xmalloc(8192);
	int rc = store_begin(s, err);

	memset(text, 'x', 8191);
	text[8191] = '\0';
	for (int i = 0; rc == 0 && i < 10000; i++)
		rc = store_audit_add(s, "root", "fill", "disk", text, err);
	if (rc == 0)
		rc = store_commit(s, err);
	else
		store_rollback(s);
	return rc;
}

TEST(a_full_disk_is_a_clear_error)
{
	AUTO_STR dir = xasprintf("%s/small", t_dir());
	AUTO_STR path = xasprintf("%s/s.db", dir);
	struct arena *a = arena_new();
	struct node_rows rows = VEC_INIT;
	struct store *s;
	struct err err = {0};
	int64_t n;

	assert_int_equal(mkdir(dir, 0700), 0);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=1m") < 0) {
		print_message("no permission to mount a tmpfs\n");
		skip();
	}
	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	put_sample(s);
	assert_int_equal(fill(s, &err), -E_NOSPACE);
	assert_non_null(strstr(err.msg, "no space left"));
	assert_true(err.hint[0] != '\0');
	assert_int_equal(store_nodes(s, a, &rows, NULL), 0); /* still readable */
	assert_int_equal(rows.n, 3);
	assert_int_equal(store_audit_verify(s, &n, NULL), 0);
	assert_int_equal(n, 0);
	store_close(s);
	check_integrity(path);
	assert_int_equal(umount(dir), 0);
	vec_done(&rows);
	arena_free(a);
}

TEST(a_second_writer_waits_then_says_busy)
{
	AUTO_STR path = xasprintf("%s/two.db", t_dir());
	struct store *one, *two;
	struct err err = {0};
	int64_t before;

	assert_int_equal(store_open(path, STORE_CREATE, &one, NULL), 0);
	assert_int_equal(store_open(path, STORE_WRITE, &two, NULL), 0);
	assert_int_equal(store_begin(one, NULL), 0);
	before = clock_mono();
	assert_int_equal(store_begin(two, &err), -E_BUSY);
	assert_true(clock_mono() - before > 4 * CLOCK_SEC);
	assert_non_null(strstr(err.msg, "locked by another process"));
	assert_int_equal(store_commit(one, NULL), 0);
	assert_int_equal(store_begin(two, NULL), 0);
	store_rollback(two);
	store_close(one);
	store_close(two);
}

T_MAIN
