/* migrate - one transaction per migration; the backup by SQLite's online API, then rename. */
#include "inventory/store/migrate.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int pragma_int(sqlite3 *db, const char *path, const char *sql, int64_t *v, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	*v = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return 0;
	return store_err(db, path, rc, err, "cannot open the database");
}

static int exec(sqlite3 *db, const char *path, const char *sql, const char *what, struct err *err)
{
	const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_err(db, path, rc, err, what);
}

static int not_ours(const char *path, struct err *err)
{
	err_set(err, E_SCHEMA, "'%s' is no Stoika database", path);
	return err_hint(err, "name another file with --db, or make one with 'stoika init'");
}

int migrate_look(
	sqlite3 *db, const char *path, size_t n, int *version, bool *empty, struct err *err)
{
	int64_t pages, id, found;
	int rc = pragma_int(db, path, "PRAGMA page_count", &pages, err);

	if (rc == -E_VERIFY)
		return not_ours(path, err);
	if (rc < 0)
		return rc;
	rc = pragma_int(db, path, "PRAGMA application_id", &id, err);
	if (rc == 0)
		rc = pragma_int(db, path, "PRAGMA user_version", &found, err);
	if (rc < 0)
		return rc;
	*empty = pages == 0;
	*version = (int)found;
	if (*empty)
		return 0;
	if (id != STORE_APPLICATION_ID || found < 1)
		return not_ours(path, err);
	if (found > (int64_t)n) {
		err_set(err, E_UNSUPPORTED,
			"'%s' was made by a newer stoika: schema %lld, this program knows %zu",
			path, (long long)found, n);
		return err_hint(err, "install the newer stoika, or restore a backup made before");
	}
	return 0;
}

/* Copies all pages into a fresh file and closes it. */
static int copy_to(sqlite3 *db, const char *to, struct err *err)
{
	sqlite3 *copy = NULL;
	sqlite3_backup *b = NULL;
	int rc = sqlite3_open_v2(
		to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc == SQLITE_OK) {
		b = sqlite3_backup_init(copy, "main", db, "main");
		rc = b ? sqlite3_backup_step(b, -1) : sqlite3_errcode(copy);
		if (rc == SQLITE_DONE)
			rc = SQLITE_OK;
		sqlite3_backup_finish(b);
	}
	if (rc != SQLITE_OK)
		store_err(copy, to, rc, err, "cannot back up the database before its migration");
	sqlite3_close(copy);
	return rc == SQLITE_OK ? 0 : -(int)(err ? err->code : E_IO);
}

static int sync_path(const char *path, int flags, struct err *err)
{
	AUTO_FD fd = open(path, flags | O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, errno, "cannot sync '%s'", path);
	return 0;
}

static int backup(sqlite3 *db, const char *path, int version, struct err *err)
{
	AUTO_STR final = xasprintf("%s.v%d.backup", path, version);
	AUTO_STR tmp = xasprintf("%s.tmp", final);
	AUTO_STR dir = xstrdup(path);
	struct err own;
	int rc;

	if (!err)
		err = &own;
	*(strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir) = '\0';
	unlink(tmp);
	rc = copy_to(db, tmp, err);
	if (rc == 0)
		rc = sync_path(tmp, 0, err);
	if (rc == 0 && rename(tmp, final) < 0)
		rc = err_sys(err, errno, "cannot rename '%s'", tmp);
	if (rc == 0)
		rc = sync_path(*dir ? dir : ".", O_DIRECTORY, err);
	if (rc < 0)
		unlink(tmp);
	return rc;
}

/* Inside the transaction: the migration, its version, and the proof that no reference dangles. */
static int run_one(sqlite3 *db, const char *path, const struct migration *m, struct err *err)
{
	AUTO_STR stamp = xasprintf("PRAGMA user_version = %d; PRAGMA application_id = %d;",
		m->version, STORE_APPLICATION_ID);
	AUTO_STR what = xasprintf("migration '%s' failed", m->name);
	int64_t dangling;
	int rc = exec(db, path, m->sql, what, err);

	if (rc == 0)
		rc = exec(db, path, stamp, what, err);
	if (rc == 0)
		rc = pragma_int(
			db, path, "SELECT count(*) FROM pragma_foreign_key_check", &dangling, err);
	if (rc == 0 && dangling)
		rc = err_set(err, E_CONFLICT, "%s: %lld rows refer to what is not there", what,
			(long long)dangling);
	return rc;
}

static int step(sqlite3 *db, const char *path, const struct migration *m, struct err *err)
{
	int64_t now;
	int rc = exec(db, path, "BEGIN IMMEDIATE", "cannot start the migration", err);

	if (rc < 0)
		return rc;
	/* another process may have been faster */
	rc = pragma_int(db, path, "PRAGMA user_version", &now, err);
	if (rc == 0 && now < m->version)
		rc = run_one(db, path, m, err);
	if (rc == 0)
		rc = exec(db, path, "COMMIT", "cannot finish the migration", err);
	if (rc < 0 && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int migrate_run(sqlite3 *db, const char *path, const struct migration *m, size_t n, struct err *err)
{
	int version;
	bool empty;
	int rc = migrate_look(db, path, n, &version, &empty, err);

	if (rc < 0 || (size_t)version == n)
		return rc;
	if (!empty)
		rc = backup(db, path, version, err);
	for (size_t i = (size_t)version; rc == 0 && i < n; i++)
		rc = step(db, path, &m[i], err);
	return rc;
}
