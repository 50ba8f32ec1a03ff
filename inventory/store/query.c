/* query - statements prepared once, bound by name, with SQLite's errors as ours. */
#include "inventory/store/store_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int no_space(struct err *err, const char *path, const char *what)
{
	err_set(err, E_NOSPACE, "%s: no space left where '%s' is", what, path);
	return err_hint(err, "free some space there, or move the database with --db");
}

static int locked(struct err *err, const char *path, const char *what)
{
	err_set(err, E_BUSY, "%s: '%s' is locked by another process", what, path);
	return err_hint(err, "see who holds it with 'fuser %s'", path);
}

/* The file is there, so what cannot be made is what SQLite keeps beside it. */
static int no_log(struct err *err, const char *path, const char *what)
{
	err_set(err, E_DENIED, "%s: its log cannot be written beside '%s'", what, path);
	return err_hint(
		err, "let its folder be written, or copy all of it and name that with --db");
}

int store_err(sqlite3 *db, const char *path, int rc, struct err *err, const char *what)
{
	const int sys = db ? sqlite3_system_errno(db) : 0;
	const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return locked(err, path, what);
	case SQLITE_FULL:
		return no_space(err, path, what);
	case SQLITE_IOERR:
		if (sys == ENOSPC || sys == EDQUOT)
			return no_space(err, path, what);
		if (sys)
			return err_sys(err, sys, "%s: '%s'", what, path);
		return err_set(err, E_IO, "%s: '%s': %s", what, path, sqlite3_errstr(rc));
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		err_set(err, E_VERIFY, "%s: '%s' is damaged or no database: %s", what, path, why);
		return err_hint(
			err, "restore it from a backup beside it, or name another with --db");
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return err_set(err, E_DENIED, "%s: '%s' cannot be written", what, path);
	case SQLITE_CANTOPEN:
		if (access(path, R_OK) == 0)
			return no_log(err, path, what);
		if (sys)
			return err_sys(err, sys, "%s: cannot open '%s'", what, path);
		return err_set(err, E_IO, "%s: cannot open '%s'", what, path);
	case SQLITE_CONSTRAINT:
		return err_set(err, E_CONFLICT, "%s: %s", what, why);
	case SQLITE_TOOBIG:
		return err_set(err, E_LIMIT, "%s: a value is too long for the database", what);
	default:
		return err_set(err, E_INTERNAL, "%s: %s (%s)", what, why, sqlite3_errstr(rc));
	}
}

/* First words of a statement, for messages: "INSERT INTO events". */
static const char *what_of(const struct query *q, char *out, size_t n)
{
	const char *sql = q->st ? sqlite3_sql(q->st) : NULL;
	size_t i = 0, words = 0;

	while (sql && sql[i] && i + 1 < n) {
		if (sql[i] == ' ' && ++words == 3)
			break;
		out[i] = sql[i] == '\n' || sql[i] == '\t' ? ' ' : sql[i];
		i++;
	}
	out[i] = '\0';
	return i ? out : "a statement";
}

static int query_err(struct query *q, struct err *err)
{
	char what[48];

	return store_err(q->s->db, q->s->path, q->rc, err, what_of(q, what, sizeof what));
}

struct query query_start_text(struct store *s, enum store_part part, unsigned i, const char *sql)
{
	struct query q = {s, NULL, SQLITE_OK};
	sqlite3_stmt **cached;

	if (i >= STORE_STATEMENTS_MAX) {
		q.rc = SQLITE_RANGE;
		return q;
	}
	cached = &s->statement[part][i];
	if (!*cached)
		q.rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, cached, NULL);
	q.st = *cached;
	return q;
}

struct query query_start(struct store *s, enum store_part part, const char *const *sql, unsigned i)
{
	return query_start_text(s, part, i, sql[i]);
}

bool query_is_ready(const struct store *s, enum store_part part, unsigned i)
{
	return i < STORE_STATEMENTS_MAX && s->statement[part][i];
}

void query_done(struct query *q)
{
	if (!q->st)
		return;
	sqlite3_reset(q->st);
	sqlite3_clear_bindings(q->st);
}

static int place(struct query *q, const char *name)
{
	int i;

	if (q->rc != SQLITE_OK || !q->st)
		return 0;
	i = sqlite3_bind_parameter_index(q->st, name);
	if (i == 0)
		q->rc = SQLITE_RANGE; /* our bug: the statement has no such name */
	return i;
}

void query_bind_text(struct query *q, int i, const char *v)
{
	if (q->rc == SQLITE_OK && q->st)
		q->rc = sqlite3_bind_text(q->st, i, v, -1, SQLITE_STATIC);
}

void query_bind_int(struct query *q, int i, int64_t v)
{
	if (q->rc == SQLITE_OK && q->st)
		q->rc = sqlite3_bind_int64(q->st, i, v);
}

void query_bind_num(struct query *q, int i, double v)
{
	if (q->rc == SQLITE_OK && q->st)
		q->rc = sqlite3_bind_double(q->st, i, v); /* NaN becomes null */
}

void query_bind_id(struct query *q, int i, int64_t id)
{
	if (q->rc == SQLITE_OK && q->st)
		q->rc = id ? sqlite3_bind_int64(q->st, i, id) : sqlite3_bind_null(q->st, i);
}

void query_text(struct query *q, const char *name, const char *v)
{
	query_bind_text(q, place(q, name), v);
}

void query_int(struct query *q, const char *name, int64_t v)
{
	query_bind_int(q, place(q, name), v);
}

void query_num(struct query *q, const char *name, double v)
{
	query_bind_num(q, place(q, name), v);
}

void query_id(struct query *q, const char *name, int64_t id)
{
	query_bind_id(q, place(q, name), id);
}

void query_blob(struct query *q, const char *name, const void *p, size_t n)
{
	const int i = place(q, name);

	if (q->rc == SQLITE_OK && q->st)
		q->rc = sqlite3_bind_blob64(q->st, i, p, n, SQLITE_STATIC);
}

int query_next(struct query *q, struct err *err)
{
	int rc = 0;

	if (q->rc != SQLITE_OK || !q->st)
		return query_err(q, err);
	if (!sqlite3_stmt_readonly(q->st) && sqlite3_get_autocommit(q->s->db))
		return err_set(err, q->s->writable ? E_INTERNAL : E_DENIED,
			"'%s' is not open for writing in a transaction", q->s->path);
	q->rc = sqlite3_step(q->st);
	if (q->rc == SQLITE_ROW) {
		q->rc = SQLITE_OK;
		return 1;
	}
	if (q->rc == SQLITE_DONE)
		q->rc = SQLITE_OK;
	else
		rc = query_err(q, err);
	sqlite3_reset(q->st);
	return rc;
}

int query_run(struct query *q, struct err *err)
{
	const int rc = query_next(q, err);

	if (rc > 0) {
		sqlite3_reset(q->st);
		return err_set(
			err, E_INTERNAL, "a statement returned a row where none was expected");
	}
	return rc;
}

int query_value(struct query *q, int64_t *v, struct err *err)
{
	int rc = query_next(q, err);

	if (rc == 0)
		return err_set(err, E_NOTFOUND, "no such row");
	if (rc < 0)
		return rc;
	*v = sqlite3_column_int64(q->st, 0);
	rc = query_next(q, err); /* a write with RETURNING is done only when stepped to its end */
	return rc < 0 ? rc : 0;
}

int query_new(struct query *q, int64_t *id, struct err *err)
{
	const int rc = query_run(q, err);

	if (rc == 0)
		*id = sqlite3_last_insert_rowid(q->s->db);
	return rc;
}

const char *query_get_text(struct query *q, int col, struct arena *a)
{
	const unsigned char *p = sqlite3_column_text(q->st, col);

	return p ? arena_text(a,
			   (struct str){(const char *)p, (size_t)sqlite3_column_bytes(q->st, col)})
		 : NULL;
}

const char *query_get_word(struct query *q, int col, struct arena *a)
{
	const char *p = query_get_text(q, col, a);

	return p ? p : "";
}

int64_t query_get_int(struct query *q, int col)
{
	return sqlite3_column_int64(q->st, col);
}

double query_get_num(struct query *q, int col)
{
	return sqlite3_column_type(q->st, col) == SQLITE_NULL ? MODEL_UNSET
							      : sqlite3_column_double(q->st, col);
}

size_t query_get_row(struct query *q, int col)
{
	return sqlite3_column_type(q->st, col) == SQLITE_NULL
		       ? MODEL_NONE
		       : (size_t)sqlite3_column_int64(q->st, col);
}
