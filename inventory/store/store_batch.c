/* store_batch - 32 rows at once while there are so many, then one by one. */
#include "inventory/store/store_batch.h"

#include "agent/base/buf.h"

#define SQL_MAX ((size_t)256 << 10)

/* Four statements of a noun: new or update, one row or many. */
static unsigned place_of(const struct batch *b, unsigned rows)
{
	return (unsigned)b->noun * 4 + (b->update ? 2 : 0) + (rows > 1 ? 1 : 0);
}

static void write_sql(const struct batch *b, unsigned rows, struct buf *out)
{
	AUTO_BUF head, tuple, tail;

	buf_init(&head, SQL_MAX);
	buf_init(&tuple, SQL_MAX);
	buf_init(&tail, SQL_MAX);
	b->sql(b, &head, &tuple, &tail);
	buf_add_str(out, buf_str(&head));
	for (unsigned i = 0; i < rows; i++) {
		buf_add_text(out, i ? ", " : "");
		buf_add_str(out, buf_str(&tuple));
	}
	buf_add_str(out, buf_str(&tail));
}

static struct query start(struct put *p, const struct batch *b, unsigned rows)
{
	const unsigned place = place_of(b, rows);
	AUTO_BUF sql;

	buf_init(&sql, SQL_MAX);
	if (!query_is_ready(p->s, PART_BATCH, place))
		write_sql(b, rows, &sql);
	return query_start_text(p->s, PART_BATCH, place, buf_text(&sql));
}

/* Ids by the ord that came back beside them. */
static int take_ids(struct query *q, const struct batch *b, struct err *err)
{
	int rc;

	while ((rc = query_next(q, err)) > 0) {
		const int64_t ord = query_get_int(q, 1);

		if (b->ids && ord >= 0 && (size_t)ord < b->n)
			b->ids[ord] = query_get_int(q, 0);
	}
	return rc;
}

static int write_rows(
	struct put *p, const struct batch *b, const size_t *at, unsigned rows, struct err *err)
{
	AUTO_QUERY q = start(p, b, rows);
	int col = 1, rc;

	for (unsigned k = 0; k < rows; k++)
		b->bind(p, b, &q, &col, at[k]);
	if (b->update)
		return take_ids(&q, b, err);
	rc = query_run(&q, err);
	/* rows without an id of their own get the next ones, one after the other */
	for (unsigned k = 0; rc == 0 && b->ids && k < rows; k++)
		b->ids[at[k]] = sqlite3_last_insert_rowid(p->s->db) - rows + 1 + k;
	return rc;
}

int put_batch(struct put *p, const struct batch *b, struct err *err)
{
	size_t at[BATCH_ROWS];
	unsigned rows = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		if (b->skip && b->skip[i])
			continue;
		at[rows++] = i;
		if (rows == BATCH_ROWS) {
			rc = write_rows(p, b, at, rows, err);
			rows = 0;
		}
	}
	for (unsigned k = 0; rc == 0 && k < rows; k++)
		rc = write_rows(p, b, &at[k], 1, err);
	return rc;
}
