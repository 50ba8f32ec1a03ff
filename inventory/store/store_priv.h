/*
 * store_priv - what the files of this room share: the connection and its queries.
 *
 * Every file keeps its statements in a static table; each is prepared once, at
 * first use, and bound by name. A query is sticky: a failed bind or step makes the
 * rest do nothing, and query_run or query_next reports it.
 */
#pragma once

#include "agent/base/err.h"
#include "inventory/model/index.h"
#include "inventory/model/part.h"
#include "inventory/store/store.h"

#include <sqlite3.h>

enum store_part {
	PART_OPEN,
	PART_PUT,
	PART_JOIN,
	PART_ROWS,
	PART_ROWS_PUT,
	PART_BATCH,
	PART_ROWS_LOAD,
	PART_ROWS_SOME,
	PART_PARTS,
	PART_SAME,
	PART_MODEL,
	PART_NODE,
	PART_LEASE,
	PART_RUN,
	PART_AUDIT,
	PART_DRIFT,
	PART_VERSION,
	PART_ORDER,
	PART_ROLLOUT,
	PART_ROLLOUT_NODE,
	PART_ROLLOUT_PART,
	PART_EVIDENCE,
	PART_N
};
#define STORE_STATEMENTS_MAX 96 /* of one part; four for each noun in PART_BATCH */

struct store {
	sqlite3 *db;
	char *path;
	bool writable;
	sqlite3_stmt *statement[PART_N][STORE_STATEMENTS_MAX];
};

struct query {
	struct store *s;
	sqlite3_stmt *st; /* NULL when it could not be prepared */
	int rc;           /* of SQLite; SQLITE_OK so far */
};

/* SQLite's last error as ours; rc is the extended code. what: "cannot read nodes". */
int store_err(sqlite3 *db, const char *path, int rc, struct err *err, const char *what);

/*
 * Lets several reading statements see one state, unless a transaction does so already.
 * True when it was opened here: then end it by store_rollback.
 */
bool store_snapshot(struct store *s);

/* Statement i of a part's table; give it back with query_done (AUTO_QUERY). */
struct query query_start(struct store *s, enum store_part part, const char *const *sql, unsigned i);
/* The same of a statement that was made; sql is read only when it is not ready. */
struct query query_start_text(struct store *s, enum store_part part, unsigned i, const char *sql);
bool query_is_ready(const struct store *s, enum store_part part, unsigned i);
void query_done(struct query *q);
#define AUTO_QUERY __attribute__((cleanup(query_done))) struct query

void query_text(struct query *q, const char *name, const char *v); /* NULL: null; not copied */
void query_int(struct query *q, const char *name, int64_t v);
void query_num(struct query *q, const char *name, double v);                 /* NaN: null */
void query_id(struct query *q, const char *name, int64_t id);                /* 0: null */
void query_blob(struct query *q, const char *name, const void *p, size_t n); /* not copied */

/* The same by the place of the '?', from 1. */
void query_bind_text(struct query *q, int i, const char *v);
void query_bind_int(struct query *q, int i, int64_t v);
void query_bind_num(struct query *q, int i, double v);
void query_bind_id(struct query *q, int i, int64_t id);

/* For a statement without rows; resets it, bindings stay. Refuses to write outside a transaction.
 */
int query_run(struct query *q, struct err *err);
/* 1 a row, 0 the end (then reset), negative a failure. */
int query_next(struct query *q, struct err *err);
/* The single integer of the first row (RETURNING id), E_NOTFOUND without a row. */
int query_value(struct query *q, int64_t *v, struct err *err);

/* The id of the row that a plain INSERT makes. */
int query_new(struct query *q, int64_t *id, struct err *err);

/* Columns of the current row. */
const char *query_get_text(struct query *q, int col, struct arena *a); /* NULL stays NULL */
const char *query_get_word(struct query *q, int col, struct arena *a); /* NULL gives "" */
int64_t query_get_int(struct query *q, int col);
double query_get_num(struct query *q, int col); /* null: MODEL_UNSET */
size_t query_get_row(struct query *q, int col); /* null: MODEL_NONE */

/* One store_put_model: what is written, and the ids its rows have got so far. */
struct put {
	struct store *s;
	const struct model *m;
	struct arena *arena;
	int64_t site;
	bool fresh;           /* the site was not there: its rows need no comparison */
	int64_t *ids[NOUN_N]; /* of a noun's rows */
	struct model_parts parts;
	bool same[NOUN_N]; /* tables that are as the file has them; their ids are there */
};
/* Fills same, and the ids of such tables, before anything is written. */
void put_find_same(struct put *p);
/* Fills vars of each row from its layers. */
int store_sum_vars(struct arena *a, struct node_rows *rows, struct err *err);
/* One row of node_results; col: the first of RESULT_COLUMNS. */
#define RESULT_COLUMNS                                                              \
	"c.node_id, c.node_name, c.state, c.counts, c.plan_hash, c.reason, c.hint," \
	" c.took_ns, c.agent_pass_ns, c.agent_process_ns"
void read_result(struct query *q, int col, struct arena *a, struct node_result *r);
/* The only site, for a caller who names none. */
int store_only_site(struct store *s, struct arena *a, const char **name, struct err *err);
/* The site's row: its name, its file and its id. */
int store_load_head(
	struct store *s, struct model *m, const char *name, int64_t *id, struct err *err);
/* Racks, feeds and PDUs have the number of their part. */
bool put_has_part(enum model_noun noun);
size_t put_part(const struct put *p, enum model_noun noun, size_t row);
/* The id of a row, 0 for MODEL_NONE. */
int64_t put_id(const int64_t *ids, size_t row);
/* Cords and cables, after the ports. */
int put_joins(struct put *p, struct err *err);
