/*
 * store_evidence - what was found on a node: files beside the database, and their rows.
 *
 * The file comes first: a crash between the two leaves a file that no row names, never a row
 * without its file. Rows keep no folder, so that a database can be moved with its evidence.
 */
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "inventory/store/rollout.h"
#include "inventory/store/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	PUT,
	COUNT,
	LIST
};
#define RUN_ID "(SELECT id FROM runs WHERE name = :run)"

static const char *const SQL[] = {
	[PUT] = "INSERT INTO evidence (run_id, node_id, name, node_name, at_ns, sha256, bytes)"
		" VALUES (" RUN_ID ", :node, :name, :node_name, :at, :sha256, :bytes)"
		" ON CONFLICT (run_id, node_id, name) DO UPDATE SET node_name = :node_name,"
		" at_ns = :at, sha256 = :sha256, bytes = :bytes",
	[COUNT] = "SELECT count(*) FROM evidence WHERE run_id = " RUN_ID
		  " AND node_id = :node AND name <> :name",
	[LIST] = "SELECT node_id, at_ns, name, node_name, sha256, bytes FROM evidence"
		 " WHERE run_id = " RUN_ID " AND (:node = 0 OR node_id = :node)"
		 " ORDER BY node_id, name",
};

static struct query start(struct store *s, unsigned i, const char *run, int64_t node)
{
	struct query q = query_start(s, PART_EVIDENCE, SQL, i);

	query_text(&q, ":run", run);
	query_int(&q, ":node", node);
	return q;
}

/* The length of the database's folder with its slash: a store's path is absolute. */
static size_t folder_length(const struct store *s)
{
	return (size_t)(strrchr(s->path, '/') + 1 - s->path);
}

static int check_name(const char *what, const char *name, struct err *err)
{
	if (name && str_is_name(str_of(name)))
		return 0;
	err_set(err, E_SCHEMA, "'%s' cannot be the %s of a file of evidence", name ? name : "",
		what);
	return err_hint(err, "letters, digits, '.', '_' and '-', at most 64, the first no sign");
}

static int check(struct store *s, const char *run, int64_t node, const char *node_name,
	const char *name, struct err *err)
{
	AUTO_QUERY q = start(s, COUNT, run, node);
	int64_t others = 0;
	int rc = check_name("run", run, err);

	if (rc == 0)
		rc = check_name("node", node_name, err);
	if (rc == 0)
		rc = check_name("name", name, err);
	if (rc < 0)
		return rc;
	query_text(&q, ":name", name);
	rc = query_value(&q, &others, err);
	if (rc == 0 && others >= EVIDENCE_FILES_MAX)
		rc = err_set(err, E_LIMIT, "node '%s' has %d files of evidence in run '%s' already",
			node_name, EVIDENCE_FILES_MAX, run);
	return rc;
}

static int write_file(struct store *s, const char *run, const char *node_name, const char *name,
	struct str bytes, struct err *err)
{
	AUTO_STR folder = xasprintf("%.*s", (int)folder_length(s), s->path);
	AUTO_STR below = xasprintf("evidence/%s/%s", run, node_name);
	AUTO_STR path = xasprintf("%s/%s", below, name);
	AUTO_FD dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (dir < 0)
		return err_sys(err, errno, "cannot open '%s'", folder);
	rc = fs_mkdirs(dir, below, 0700, err);
	if (rc == 0)
		rc = fs_replace(dir, path, bytes, 0600, geteuid(), getegid(), err);
	return rc;
}

static int write_row(struct store *s, const char *run, const struct evidence_row *e,
	const char *node_name, struct err *err)
{
	AUTO_QUERY q = start(s, PUT, run, e->node);

	query_text(&q, ":name", e->name);
	query_text(&q, ":node_name", node_name);
	query_int(&q, ":at", e->at);
	query_text(&q, ":sha256", e->sha256);
	query_int(&q, ":bytes", (int64_t)e->bytes);
	return query_run(&q, err);
}

static int put(struct store *s, const char *run, const struct evidence_row *e,
	const char *node_name, struct str bytes, struct err *err)
{
	int rc = check(s, run, e->node, node_name, e->name, err);

	if (rc == 0)
		rc = write_file(s, run, node_name, e->name, bytes, err);
	if (rc == 0)
		rc = write_row(s, run, e, node_name, err);
	return rc;
}

int store_evidence_put(struct store *s, const char *run, int64_t node, const char *node_name,
	const char *name, struct str bytes, struct err *err)
{
	const bool own = sqlite3_get_autocommit(s->db);
	struct evidence_row e = {.node = node, .at = clock_wall(), .name = name, .bytes = bytes.n};
	char sha256[HASH_HEX];
	int rc;

	if (bytes.n > EVIDENCE_BYTES_MAX)
		return err_set(err, E_LIMIT, "evidence '%s' of '%s' has %zu bytes, at most %zu",
			name, node_name, bytes.n, EVIDENCE_BYTES_MAX);
	hash_hex(bytes, sha256);
	e.sha256 = sha256;
	rc = own ? store_begin(s, err) : 0;
	if (rc < 0)
		return rc;
	rc = put(s, run, &e, node_name, bytes, err);
	if (!own)
		return rc;
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

int store_evidence(struct store *s, struct arena *a, const char *run, int64_t node,
	struct evidence_rows *out, struct err *err)
{
	AUTO_QUERY q = start(s, LIST, run, node);
	int rc;

	while ((rc = query_next(&q, err)) > 0) {
		struct evidence_row *e = vec_push(out);

		*e = (struct evidence_row){
			.node = query_get_int(&q, 0),
			.at = query_get_int(&q, 1),
			.name = query_get_word(&q, 2, a),
			.sha256 = query_get_word(&q, 4, a),
			.bytes = (size_t)query_get_int(&q, 5),
		};
		e->path = arena_printf(a, "%.*sevidence/%s/%s/%s", (int)folder_length(s), s->path,
			run, query_get_word(&q, 3, a), e->name);
	}
	return rc;
}
