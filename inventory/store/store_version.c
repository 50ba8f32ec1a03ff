/* store_version - the text once by its SHA-256, zstd; a version for each import that changed it. */
#include "agent/base/clock.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "inventory/store/migrate.h"
#include "inventory/store/store_priv.h"

#include <string.h>
#include <zstd.h>

#define LEVEL    3
#define TEXT_MAX ((size_t)64 << 20) /* what a site file may have */

enum {
	SITE,
	TEXT_PUT,
	ADD,
	LAST,
	LIST,
	AT,
	OLDEST,
	TEXT
};
#define COLUMNS                                                                              \
	"SELECT v.id, s.name, v.at_ns, v.imported_by, v.source, v.sha256, t.bytes, v.schema" \
	" FROM site_versions v JOIN sites s ON s.id = v.site_id"                             \
	" JOIN site_texts t ON t.sha256 = v.sha256"
static const char *const SQL[] = {
	[SITE] = "SELECT id FROM sites WHERE name = :site",
	[TEXT_PUT] = "INSERT INTO site_texts (sha256, bytes, zstd) VALUES (:sha, :bytes, :zstd)"
		     " ON CONFLICT (sha256) DO NOTHING",
	[ADD] = "INSERT INTO site_versions (site_id, at_ns, imported_by, source, schema, sha256)"
		" VALUES (:site, :at, :by, :source, :schema, :sha)",
	[LAST] = COLUMNS " WHERE s.name = :site ORDER BY v.id DESC LIMIT 1",
	[LIST] = COLUMNS " WHERE :site IS NULL OR s.name = :site ORDER BY v.at_ns DESC, v.id DESC",
	[AT] = COLUMNS " WHERE s.name = :site AND v.at_ns <= :at"
		       " ORDER BY v.at_ns DESC, v.id DESC LIMIT 1",
	[OLDEST] = COLUMNS " WHERE s.name = :site ORDER BY v.at_ns, v.id LIMIT 1",
	[TEXT] = "SELECT bytes, zstd FROM site_texts WHERE sha256 = :sha",
};

static void read_version(struct query *q, struct arena *a, struct store_version *v)
{
	*v = (struct store_version){
		.id = query_get_int(q, 0),
		.site = query_get_word(q, 1, a),
		.at = query_get_int(q, 2),
		.by = query_get_word(q, 3, a),
		.source = query_get_word(q, 4, a),
		.sha256 = query_get_word(q, 5, a),
		.bytes = (size_t)query_get_int(q, 6),
		.schema = (int)query_get_int(q, 7),
	};
}

/* 1 when there is one, else 0. */
static int find_one(struct store *s, struct arena *a, unsigned statement, const char *site,
	int64_t at, struct store_version *v, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_VERSION, SQL, statement);
	int rc;

	query_text(&q, ":site", site);
	if (statement == AT)
		query_int(&q, ":at", at);
	rc = query_next(&q, err);
	if (rc > 0)
		read_version(&q, a, v);
	return rc;
}

bool store_version_is_last(struct store *s, const char *site, struct str text)
{
	struct arena *a = arena_new();
	struct store_version last;
	char sha[HASH_HEX];
	bool same = false;

	hash_hex(text, sha);
	if (find_one(s, a, LAST, site, 0, &last, NULL) > 0)
		same = last.schema == (int)MIGRATIONS_N && strcmp(last.sha256, sha) == 0;
	arena_free(a);
	return same;
}

static int put_text(struct store *s, const char *sha, struct str text, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_VERSION, SQL, TEXT_PUT);
	const size_t room = ZSTD_compressBound(text.n);
	AUTO_STR packed = xmalloc(room);
	const size_t n = ZSTD_compress(packed, room, text.p, text.n, LEVEL);

	if (ZSTD_isError(n))
		return err_set(
			err, E_INTERNAL, "cannot pack the site file: %s", ZSTD_getErrorName(n));
	query_text(&q, ":sha", sha);
	query_int(&q, ":bytes", (int64_t)text.n);
	query_blob(&q, ":zstd", packed, n);
	return query_run(&q, err);
}

int store_version_put(struct store *s, const char *site, const char *by, const char *source,
	struct str text, struct err *err)
{
	AUTO_QUERY find = query_start(s, PART_VERSION, SQL, SITE);
	AUTO_QUERY q = query_start(s, PART_VERSION, SQL, ADD);
	char sha[HASH_HEX];
	int64_t id = 0;
	int rc;

	if (text.n > TEXT_MAX)
		return err_set(err, E_LIMIT, "the site file is longer than %zu bytes", TEXT_MAX);
	if (store_version_is_last(s, site, text))
		return 0;
	hash_hex(text, sha);
	query_text(&find, ":site", site);
	rc = query_value(&find, &id, err);
	if (rc == 0)
		rc = put_text(s, sha, text, err);
	query_int(&q, ":site", id);
	query_int(&q, ":at", clock_wall());
	query_text(&q, ":by", by);
	query_text(&q, ":source", source);
	query_int(&q, ":schema", (int64_t)MIGRATIONS_N);
	query_text(&q, ":sha", sha);
	return rc == 0 ? query_run(&q, err) : rc;
}

int store_version_list(struct store *s, struct arena *a, const char *site,
	struct store_versions *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_VERSION, SQL, LIST);
	int rc;

	query_text(&q, ":site", site);
	while ((rc = query_next(&q, err)) > 0)
		read_version(&q, a, vec_push(out));
	return rc;
}

/* Nothing is as old as that: what there is instead. */
static int too_old(struct store *s, struct arena *a, const char *site, int64_t at, struct err *err)
{
	struct store_version oldest;
	const int rc = find_one(s, a, OLDEST, site, 0, &oldest, err);
	char asked[24], first[24];

	if (rc < 0)
		return rc;
	clock_format(at, asked);
	if (rc == 0) {
		err_set(err, E_NOTFOUND, "no version of site '%s' is kept yet", site);
		return err_hint(err, "each 'stoika import' that changes the site keeps one");
	}
	clock_format(oldest.at, first);
	err_set(err, E_NOTFOUND, "no version of site '%s' is as old as %s: the oldest is of %s",
		site, asked, first);
	return err_hint(err, "'stoika list versions %s' has them all", site);
}

static int read_text(
	struct store *s, struct arena *a, const char *sha, struct str *text, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_VERSION, SQL, TEXT);
	char found[HASH_HEX];
	int64_t bytes;
	char *plain;
	size_t n;
	int rc;

	query_text(&q, ":sha", sha);
	rc = query_next(&q, err);
	bytes = rc > 0 ? query_get_int(&q, 0) : -1;
	if (rc < 0)
		return rc;
	if (bytes < 0 || (size_t)bytes > TEXT_MAX)
		return err_set(err, E_VERIFY, "the text of version '%.12s' is not there", sha);
	plain = arena_alloc(a, (size_t)bytes + 1);
	n = ZSTD_decompress(plain, (size_t)bytes, sqlite3_column_blob(q.st, 1),
		(size_t)sqlite3_column_bytes(q.st, 1));
	*text = (struct str){plain, (size_t)bytes};
	hash_hex(*text, found);
	if (ZSTD_isError(n) || n != (size_t)bytes || strcmp(found, sha) != 0)
		return err_set(err, E_VERIFY, "the text of version '%.12s' is damaged", sha);
	return 0;
}

int store_version_at(struct store *s, struct arena *a, const char *site, int64_t at,
	struct store_version *out, struct str *text, struct err *err)
{
	const bool own = store_snapshot(s);
	int rc = site ? 0 : store_only_site(s, a, &site, err);

	if (rc == 0) {
		rc = find_one(s, a, AT, site, at, out, err);
		if (rc == 0)
			rc = too_old(s, a, site, at, err);
	}
	if (rc > 0)
		rc = read_text(s, a, out->sha256, text, err);
	if (own)
		store_rollback(s);
	return rc;
}
