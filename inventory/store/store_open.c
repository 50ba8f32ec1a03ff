/* store_open - the connection, its rules, transactions and settings. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "inventory/store/migrate.h"
#include "inventory/store/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 5000

enum {
	BEGIN,
	SNAPSHOT,
	COMMIT,
	ROLLBACK,
	SETTING_PUT,
	SETTING_GET
};
static const char *const SQL[] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[SNAPSHOT] = "BEGIN",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[SETTING_PUT] = ("INSERT INTO settings (name, value) VALUES (:name, :value)"
			 " ON CONFLICT (name) DO UPDATE SET value = excluded.value"),
	[SETTING_GET] = "SELECT value FROM settings WHERE name = :name",
};

/* File systems where SQLite's locks and shared memory do not hold between machines. */
static const struct {
	uint64_t magic;
	const char *name;
} NETWORK_FS[] = {
	{0x6969, "NFS"},
	{0x517b, "SMB"},
	{0xff534d42, "CIFS"},
	{0xfe534d42, "SMB2"},
	{0x5346414f, "AFS"},
	{0x6b414653, "AFS"},
	{0x01021997, "9P"},
	{0x00c36400, "Ceph"},
	{0x73757245, "Coda"},
	{0x0bd00bd0, "Lustre"},
	{0x47504653, "GPFS"},
	{0x7461636f, "OCFS2"},
	{0x01161970, "GFS2"},
	{0x19830326, "BeeGFS"},
};

const char *store_network_fs(uint64_t magic)
{
	for (size_t i = 0; i < sizeof NETWORK_FS / sizeof *NETWORK_FS; i++)
		if (NETWORK_FS[i].magic == (magic & 0xffffffff))
			return NETWORK_FS[i].name;
	return NULL;
}

static const char *home_of(struct arena *a)
{
	const char *home = getenv("HOME");
	struct passwd pw, *found = NULL;
	char room[1024];

	if (home && *home)
		return home;
	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) == 0 && found)
		return arena_strdup(a, pw.pw_dir);
	return ".";
}

const char *store_default_path(struct arena *a, const char *given)
{
	const char *named = given ? given : getenv("STOIKA_DB");
	const char *state = getenv("XDG_STATE_HOME");

	if (named && *named)
		return arena_strdup(a, named);
	if (geteuid() == 0)
		return "/var/lib/stoika/stoika.db";
	if (state && *state == '/')
		return arena_printf(a, "%s/stoika/stoika.db", state);
	return arena_printf(a, "%s/.local/state/stoika/stoika.db", home_of(a));
}

/* The directory part of path, "." when it has none. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* By name and not by fs_mkdirs: the path is the user's own, relative and with '..' as it may be. */
static int make_directory(const char *path, struct err *err)
{
	AUTO_STR dir = directory_of(path);

	for (char *p = dir + 1;; p++) {
		const char was = *p;

		if (was != '/' && was != '\0')
			continue;
		*p = '\0';
		if (mkdir(dir, 0700) < 0 && errno != EEXIST)
			return err_sys(err, errno, "cannot make the directory '%s'", dir);
		*p = was;
		if (was == '\0')
			return 0;
	}
}

static int refuse_network(const char *path, struct err *err)
{
	AUTO_STR dir = directory_of(path);
	struct statfs fs;
	const char *name;

	if (statfs(dir, &fs) < 0)
		return err_sys(err, errno, "cannot look at '%s'", dir);
	name = store_network_fs((uint64_t)fs.f_type);
	if (!name)
		return 0;
	err_set(err, E_UNSUPPORTED, "'%s' is on %s; a database is safe on a local disk only", path,
		name);
	return err_hint(err, "name a file on a local disk with --db or STOIKA_DB");
}

/* SQLite's count of its own memory costs a lock per allocation, and nobody asks for it. */
static void configure(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* refused once it has begun: no harm */
}

/* Never opens the file: closing a descriptor of it would drop SQLite's locks. */
static int look_at_file(const char *path, enum store_open how, struct err *err)
{
	AUTO_STR journal = xasprintf("%s-journal", path);
	struct stat st;
	AUTO_FD fd = -1;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return err_sys(err, errno, "cannot look at '%s'", path);
		if (how != STORE_CREATE) {
			err_set(err, E_NOTFOUND, "there is no database '%s'", path);
			return err_hint(
				err, "make one with 'stoika init', or name another with --db");
		}
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		return fd < 0 ? err_sys(err, errno, "cannot create '%s'", path) : 0;
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_SCHEMA, "'%s' is not a file", path);
	/* an empty file, or one with a hot journal, is what a killed 'init' leaves */
	if (how == STORE_CREATE && st.st_size > 0 && access(journal, F_OK) != 0) {
		err_set(err, E_EXISTS, "'%s' exists already", path);
		return err_hint(err, "use it as it is, or name another with --db");
	}
	return 0;
}

/* Before the first statement runs: what a database file may do to us. */
static int harden(struct store *s, struct err *err)
{
	int rc = sqlite3_extended_result_codes(s->db, 1);

	if (rc == SQLITE_OK)
		rc = sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL);
	return rc == SQLITE_OK ? 0 : store_err(s->db, s->path, rc, err, "cannot set up");
}

static int open_handle(struct store *s, struct err *err)
{
	const int flags = (s->writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
			  SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	/* an absolute name, lest a later chdir moves the -wal */
	const int rc = sqlite3_open_v2(s->path, &s->db, flags, NULL);

	if (rc != SQLITE_OK)
		return store_err(s->db, s->path, rc, err, "cannot open the database");
	return harden(s, err);
}

static int check_version(struct store *s, enum store_open how, struct err *err)
{
	bool empty;
	int version;
	int rc = migrate_look(s->db, s->path, MIGRATIONS_N, &version, &empty, err);

	if (rc < 0)
		return rc;
	if (how == STORE_CREATE && !empty) {
		err_set(err, E_EXISTS, "'%s' exists already", s->path);
		return err_hint(err, "use it as it is, or name another with --db");
	}
	if (how != STORE_CREATE && empty) {
		err_set(err, E_SCHEMA, "'%s' is empty and no Stoika database", s->path);
		return err_hint(err, "run 'stoika init' to fill it, or name another with --db");
	}
	if (how == STORE_READ && (size_t)version < MIGRATIONS_N) {
		err_set(err, E_STATE, "'%s' has schema %d, this program needs %zu", s->path,
			version, MIGRATIONS_N);
		return err_hint(err, "the next command that writes brings it up to date");
	}
	return 0;
}

static int set_journal(struct store *s, struct err *err)
{
	sqlite3_stmt *st = NULL;
	const unsigned char *mode = NULL;
	int rc = sqlite3_prepare_v2(s->db, "PRAGMA journal_mode = WAL", -1, &st, NULL);
	bool wal = false;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		mode = sqlite3_column_text(st, 0);
		wal = mode && strcmp((const char *)mode, "wal") == 0;
	}
	sqlite3_finalize(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return store_err(s->db, s->path, rc, err, "cannot set the journal mode");
	if (!wal)
		return err_set(err, E_UNSUPPORTED, "'%s' cannot use a write-ahead log", s->path);
	return 0;
}

static int set_rules(struct store *s, struct err *err)
{
	int rc = s->writable ? set_journal(s, err) : 0;

	if (rc < 0)
		return rc;
	/* a commit that has to copy the log back waits for that: often and briefly rather than
	 * seldom and for 20 ms */
	rc = sqlite3_exec(s->db,
		"PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		"PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -65536;"
		"PRAGMA wal_autocheckpoint = 500",
		NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_err(s->db, s->path, rc, err, "cannot set up");
}

static int bring_up(struct store *s, enum store_open how, struct err *err)
{
	int rc = open_handle(s, err);

	if (rc == 0)
		rc = check_version(s, how, err);
	if (rc == 0 && s->writable)
		rc = migrate_run(s->db, s->path, MIGRATIONS, MIGRATIONS_N, err);
	if (rc == 0)
		rc = set_rules(s, err);
	return rc;
}

static char *absolute(const char *path)
{
	AUTO_STR cwd = *path == '/' ? NULL : getcwd(NULL, 0);

	return cwd ? xasprintf("%s/%s", cwd, path) : xstrdup(path);
}

int store_open(const char *path, enum store_open how, struct store **out, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct store *s;
	int rc = how == STORE_CREATE ? make_directory(path, err) : 0;

	pthread_once(&once, configure);
	if (rc == 0)
		rc = look_at_file(path, how, err);
	if (rc == 0)
		rc = refuse_network(path, err);
	if (rc < 0)
		return rc;
	s = xcalloc(1, sizeof *s);
	s->path = absolute(path);
	s->writable = how != STORE_READ;
	rc = bring_up(s, how, err);
	if (rc < 0) {
		store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (unsigned part = 0; part < PART_N; part++)
		for (unsigned i = 0; i < STORE_STATEMENTS_MAX; i++)
			sqlite3_finalize(s->statement[part][i]);
	sqlite3_close(s->db); /* rolls back what is open */
	free(s->path);
	free(s);
}

const char *store_path(const struct store *s)
{
	return s->path;
}

static int run_plain(struct store *s, unsigned i, const char *what, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_OPEN, SQL, i);

	if (q.st && q.rc == SQLITE_OK)
		q.rc = sqlite3_step(q.st);
	return q.rc == SQLITE_DONE ? 0 : store_err(s->db, s->path, q.rc, err, what);
}

int store_begin(struct store *s, struct err *err)
{
	if (!sqlite3_get_autocommit(s->db))
		return err_set(err, E_INTERNAL, "a transaction is open already");
	if (!s->writable)
		return err_set(err, E_DENIED, "'%s' is open for reading only", s->path);
	return run_plain(s, BEGIN, "cannot begin to write", err);
}

int store_commit(struct store *s, struct err *err)
{
	int rc;

	if (sqlite3_get_autocommit(s->db))
		return err_set(err, E_INTERNAL, "there is no transaction to commit");
	rc = run_plain(s, COMMIT, "cannot commit", err);
	if (rc < 0)
		store_rollback(s);
	return rc;
}

void store_rollback(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		run_plain(s, ROLLBACK, "cannot roll back", NULL);
}

bool store_snapshot(struct store *s)
{
	return sqlite3_get_autocommit(s->db) &&
	       run_plain(s, SNAPSHOT, "cannot begin to read", NULL) == 0;
}

int store_setting_put(struct store *s, const char *key, const char *value, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_OPEN, SQL, SETTING_PUT);

	query_text(&q, ":name", key);
	query_text(&q, ":value", value);
	return query_run(&q, err);
}

int store_setting_get(
	struct store *s, struct arena *a, const char *key, const char **out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_OPEN, SQL, SETTING_GET);
	int rc;

	query_text(&q, ":name", key);
	rc = query_next(&q, err);
	if (rc == 0)
		return err_set(err, E_NOTFOUND, "the database has no setting '%s'", key);
	if (rc < 0)
		return rc;
	*out = query_get_word(&q, 0, a);
	return 0;
}
