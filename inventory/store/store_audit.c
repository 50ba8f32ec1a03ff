/*
 * store_audit - who did what, as a chain of hashes.
 *
 * A row's hash is SHA-256 of the hash before it, a newline, and the row as the
 * compact JSON array [id, at_ns, who, what, object, detail]. The newest id and
 * hash are a setting too, so that a cut tail shows.
 */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/hash.h"
#include "inventory/store/store_priv.h"

#include <string.h>

#define HEAD_SETTING "audit_head"

enum {
	LAST,
	ADD,
	WALK
};
static const char *const SQL[] = {
	[LAST] = "SELECT id, hash FROM audit_log ORDER BY id DESC LIMIT 1",
	[ADD] = "INSERT INTO audit_log (id, at_ns, who, what, object, detail, prev, hash)"
		" VALUES (:id, :at, :who, :what, :object, :detail, :prev, :hash)",
	[WALK] = "SELECT id, at_ns, who, what, object, detail, prev, hash FROM audit_log"
		 " ORDER BY id",
};

struct audit_row {
	int64_t id, at;
	const char *who, *what, *object, *detail, *prev, *hash;
};

static void hash_row(const struct audit_row *r, char hex[static HASH_HEX])
{
	AUTO_JSON row = json_pack("[I,I]", (json_int_t)r->id, (json_int_t)r->at);
	const char *const texts[] = {r->who, r->what, r->object, r->detail};
	AUTO_BUF text;

	buf_init(&text, (size_t)4 << 20);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		json_array_append_new(row, json_string(texts[i]));
	buf_addf(&text, "%s\n", r->prev);
	json_write(row, &text);
	hash_hex(buf_str(&text), hex);
}

static int put_head(struct store *s, int64_t id, const char *hash, struct err *err)
{
	char head[32 + HASH_HEX];

	snprintf(head, sizeof head, "%lld %s", (long long)id, hash);
	return store_setting_put(s, HEAD_SETTING, head, err);
}

static int check_text(const char *text, const char *what, struct err *err)
{
	if (!str_is_utf8(str_of(text)))
		return err_set(err, E_SCHEMA, "%s of an audit row is not UTF-8", what);
	return 0;
}

/* Id and hash of the newest row; 0 and "" when there is none. */
static int last_row(struct store *s, struct arena *a, struct audit_row *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_AUDIT, SQL, LAST);
	const int rc = query_next(&q, err);

	*r = (struct audit_row){.hash = ""};
	if (rc > 0) {
		r->id = query_get_int(&q, 0);
		r->hash = query_get_word(&q, 1, a);
	}
	return rc < 0 ? rc : 0;
}

static int insert_row(struct store *s, const struct audit_row *r, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_AUDIT, SQL, ADD);

	query_int(&q, ":id", r->id);
	query_int(&q, ":at", r->at);
	query_text(&q, ":who", r->who);
	query_text(&q, ":what", r->what);
	query_text(&q, ":object", r->object);
	query_text(&q, ":detail", r->detail);
	query_text(&q, ":prev", r->prev);
	query_text(&q, ":hash", r->hash);
	return query_run(&q, err);
}

int store_audit_add(struct store *s, const char *who, const char *what, const char *object,
	const char *detail, struct err *err)
{
	struct arena *a = arena_new();
	struct audit_row last, row = {.at = clock_wall(),
				       .who = who ? who : "",
				       .what = what ? what : "",
				       .object = object ? object : "",
				       .detail = detail ? detail : ""};
	char hex[HASH_HEX];
	int rc = check_text(row.who, "who", err);

	if (rc == 0)
		rc = check_text(row.object, "object", err);
	if (rc == 0)
		rc = check_text(row.detail, "detail", err);
	if (rc == 0)
		rc = last_row(s, a, &last, err);
	if (rc == 0) {
		row.id = last.id + 1;
		row.prev = last.hash;
		hash_row(&row, hex);
		row.hash = hex;
		rc = insert_row(s, &row, err);
	}
	if (rc == 0)
		rc = put_head(s, row.id, row.hash, err);
	arena_free(a);
	return rc;
}

static int broken(struct err *err, int64_t row, const char *how)
{
	err_set(err, E_VERIFY, "row %lld of the audit log %s", (long long)row, how);
	return err_hint(err, "compare with a backup; rows before %lld are sound", (long long)row);
}

static int check_row(const struct audit_row *r, int64_t n, const char *prev, struct err *err)
{
	char hex[HASH_HEX];

	if (r->id != n)
		return broken(err, n, "is missing");
	if (strcmp(r->prev, prev) != 0)
		return broken(err, n, "does not follow the row before it");
	hash_row(r, hex);
	if (strcmp(r->hash, hex) != 0)
		return broken(err, n, "was changed");
	return 0;
}

static void read_row(struct query *q, struct arena *a, struct audit_row *r)
{
	*r = (struct audit_row){
		.id = query_get_int(q, 0),
		.at = query_get_int(q, 1),
		.who = query_get_word(q, 2, a),
		.what = query_get_word(q, 3, a),
		.object = query_get_word(q, 4, a),
		.detail = query_get_word(q, 5, a),
		.prev = query_get_word(q, 6, a),
		.hash = query_get_word(q, 7, a),
	};
}

static int check_head(struct store *s, int64_t n, const char *hash, struct err *err)
{
	struct arena *a = arena_new();
	const char *head = "0 ";
	char want[32 + HASH_HEX];
	struct err own;
	int rc = store_setting_get(s, a, HEAD_SETTING, &head, &own);

	snprintf(want, sizeof want, "%lld %s", (long long)n, hash);
	if (rc == -E_NOTFOUND)
		rc = 0;
	else if (rc < 0 && err)
		*err = own;
	if (rc == 0 && strcmp(head, want) != 0)
		rc = broken(err, n + 1, "is missing: the log was cut");
	arena_free(a);
	return rc;
}

/* Walks with an arena per row, so that a long log needs no memory. */
static int walk(struct query *q, int64_t *n, char prev[static HASH_HEX], struct err *err)
{
	int rc;

	while ((rc = query_next(q, err)) > 0) {
		struct arena *a = arena_new();
		struct audit_row row;

		read_row(q, a, &row);
		rc = check_row(&row, *n + 1, prev, err);
		if (rc == 0) {
			snprintf(prev, HASH_HEX, "%s", row.hash);
			(*n)++;
		}
		arena_free(a);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int store_audit_verify(struct store *s, int64_t *rows, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_AUDIT, SQL, WALK);
	char prev[HASH_HEX] = "";
	int64_t n = 0;
	int rc = walk(&q, &n, prev, err);

	if (rc == 0)
		rc = check_head(s, n, prev, err);
	if (rc == 0)
		*rows = n;
	return rc;
}
