/*
 * store_lease - one run per node.
 *
 * An owner's text names machine, boot, process and its start time, so that a lease
 * of a killed controller can be told from one of a busy controller at once.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "inventory/store/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	HOLDER,
	TAKE,
	DROP,
	DROP_RUN,
	OWNERS,
	DROP_OWNER
};
static const char *const SQL[] = {
	[HOLDER] = "SELECT run, owner, taken, expires FROM leases WHERE node_id = :node",
	[TAKE] = "INSERT INTO leases (node_id, run, owner, taken, expires)"
		 " VALUES (:node, :run, :owner, :now, :expires)"
		 " ON CONFLICT (node_id) DO UPDATE SET run = excluded.run, owner = excluded.owner,"
		 " expires = excluded.expires,"
		 " taken = CASE WHEN leases.run = excluded.run THEN leases.taken"
		 "         ELSE excluded.taken END",
	[DROP] = "DELETE FROM leases WHERE node_id = :node AND run = :run",
	[DROP_RUN] = "DELETE FROM leases WHERE run = :run",
	[OWNERS] = "SELECT DISTINCT owner FROM leases",
	[DROP_OWNER] = "DELETE FROM leases WHERE owner = :owner",
};

/* What an owner's text says: "user@host pid N start T boot B". */
struct owner {
	struct str host, boot;
	uint64_t pid, start;
};

/* The first bytes of a small file of /proc as text; "" when it cannot be read. */
static void read_small(const char *path, char *out, size_t n)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, out, n - 1);

	out[got > 0 ? got : 0] = '\0';
}

static void read_boot_id(char out[static 40])
{
	read_small("/proc/sys/kernel/random/boot_id", out, 40);
	out[strcspn(out, "\n")] = '\0';
}

/* Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and brackets. 0: no such one. */
static uint64_t start_of(uint64_t pid)
{
	char path[48], text[1024];
	struct str rest, field = {NULL, 0};
	uint64_t start = 0;
	const char *end;

	snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
	read_small(path, text, sizeof text);
	end = strrchr(text, ')');
	if (!end)
		return 0;
	rest = str_of(end + 1);
	for (int i = 2; i <= 22; i++) { /* the empty word before the first blank is i == 2 */
		if (!str_next(&rest, ' ', &field))
			return 0;
		if (i == 3 && (str_is(field, "Z") || str_is(field, "X")))
			return 0; /* dead, only not reaped yet */
	}
	return str_to_u64(field, &start) ? start : 0;
}

const char *store_owner(struct arena *a)
{
	struct utsname host;
	struct passwd pw, *found = NULL;
	char room[1024], boot[40];
	const uint64_t pid = (uint64_t)getpid();

	if (getpwuid_r(geteuid(), &pw, room, sizeof room, &found) != 0)
		found = NULL;
	uname(&host);
	read_boot_id(boot);
	return arena_printf(a, "%s@%s pid %llu start %llu boot %s", found ? pw.pw_name : "unknown",
		host.nodename, (unsigned long long)pid, (unsigned long long)start_of(pid), boot);
}

static bool expect(struct str *rest, const char *word, struct str *value)
{
	struct str got;

	return str_next(rest, ' ', &got) && str_is(got, word) && str_next(rest, ' ', value);
}

static bool parse_owner(const char *text, struct owner *o)
{
	struct str rest = str_of(text), who, pid, start;
	size_t at;

	if (!str_next(&rest, ' ', &who))
		return false;
	at = str_find(who, '@');
	if (at == STR_NONE)
		return false;
	o->host = str_from(who, at + 1);
	return expect(&rest, "pid", &pid) && str_to_u64(pid, &o->pid) &&
	       expect(&rest, "start", &start) && str_to_u64(start, &o->start) &&
	       expect(&rest, "boot", &o->boot) && o->boot.n > 0;
}

/* Only what is certain: of another machine, or in a form we do not know, means alive. */
static bool is_gone(const char *text, const char *host, const char *boot)
{
	struct owner o;

	if (!parse_owner(text, &o) || !str_is(o.host, host))
		return false;
	if (!str_is(o.boot, boot))
		return true;
	return start_of(o.pid) != o.start;
}

static int take(struct store *s, int64_t node, const struct lease *l, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, TAKE);

	query_int(&q, ":node", node);
	query_text(&q, ":run", l->run);
	query_text(&q, ":owner", l->owner);
	query_int(&q, ":now", l->taken);
	query_int(&q, ":expires", l->expires);
	return query_run(&q, err);
}

/* 1 with the lease on the node, 0 when there is none. */
static int find_holder(
	struct store *s, struct arena *a, int64_t node, struct lease *l, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, HOLDER);
	int rc;

	query_int(&q, ":node", node);
	rc = query_next(&q, err);
	if (rc <= 0)
		return rc;
	*l = (struct lease){query_get_word(&q, 0, a), query_get_word(&q, 1, a),
		query_get_int(&q, 2), query_get_int(&q, 3)};
	return 1;
}

int store_lease_take(struct store *s, struct arena *a, int64_t node, const char *run,
	const char *owner, int64_t ttl, struct lease *holder, struct err *err)
{
	const int64_t now = clock_wall() / CLOCK_SEC;
	const struct lease mine = {run, owner, now, now + ttl};
	struct lease theirs;
	const int rc = find_holder(s, a, node, &theirs, err);

	if (rc < 0)
		return rc;
	if (rc > 0 && strcmp(theirs.run, run) != 0 && theirs.expires > now) {
		*holder = theirs;
		err_set(err, E_BUSY, "run '%s' of %s holds the node", theirs.run, theirs.owner);
		return err_hint(err, "see it with 'stoika run show %s'", theirs.run);
	}
	return take(s, node, &mine, err);
}

int store_lease_drop(struct store *s, int64_t node, const char *run, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, DROP);

	query_int(&q, ":node", node);
	query_text(&q, ":run", run);
	return query_run(&q, err);
}

int store_lease_drop_run(struct store *s, const char *run, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, DROP_RUN);

	query_text(&q, ":run", run);
	return query_run(&q, err);
}

struct owners vec(const char *);

static int list_owners(struct store *s, struct arena *a, struct owners *out, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, OWNERS);
	int rc;

	while ((rc = query_next(&q, err)) > 0)
		*vec_push(out) = query_get_word(&q, 0, a);
	return rc;
}

static int drop_owner(struct store *s, const char *owner, unsigned *n, struct err *err)
{
	AUTO_QUERY q = query_start(s, PART_LEASE, SQL, DROP_OWNER);
	int rc;

	query_text(&q, ":owner", owner);
	rc = query_run(&q, err);
	if (rc == 0)
		*n += (unsigned)sqlite3_changes(s->db);
	return rc;
}

int store_lease_reap(struct store *s, unsigned *n, struct err *err)
{
	struct arena *a = arena_new();
	struct owners owners = VEC_INIT;
	struct utsname host;
	char boot[40];
	unsigned dropped = 0;
	int rc = list_owners(s, a, &owners, err);

	uname(&host);
	read_boot_id(boot);
	for (size_t i = 0; rc == 0 && i < owners.n; i++)
		if (is_gone(owners.at[i], host.nodename, boot))
			rc = drop_owner(s, owners.at[i], &dropped, err);
	if (rc == 0)
		*n = dropped;
	vec_done(&owners);
	arena_free(a);
	return rc;
}
