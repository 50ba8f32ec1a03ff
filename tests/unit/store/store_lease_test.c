/* lease - busy, expiry, renewal, and reaping what a dead controller left. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/store/store.h"
#include "tests/unit/store/sample.h"
#include "tests/unit/t.h"

#include <sys/utsname.h>
#include <sys/wait.h>

static struct store *s;
static struct arena *arena;
static int64_t node[3];

static void start(void)
{
	AUTO_STR path = xasprintf("%s/lease.db", t_dir());
	struct node_rows rows = VEC_INIT;
	struct model *m = sample_model();

	unlink(path);
	arena = arena_new();
	assert_int_equal(store_open(path, STORE_CREATE, &s, NULL), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, m, NULL), 0);
	assert_int_equal(store_nodes(s, arena, &rows, NULL), 0);
	for (int i = 0; i < 3; i++)
		node[i] = rows.at[i].id;
	vec_done(&rows);
	model_free(m);
}

static void end(void)
{
	AUTO_STR path = xstrdup(store_path(s));

	assert_int_equal(store_commit(s, NULL), 0);
	store_close(s);
	arena_free(arena);
	unlink(path);
}

static int take(int i, const char *run, const char *owner, int64_t ttl, struct lease *holder)
{
	struct err err = {0};
	const int rc = store_lease_take(s, arena, node[i], run, owner, ttl, holder, &err);

	if (rc == -E_BUSY)
		assert_non_null(strstr(err.msg, holder->run));
	return rc;
}

TEST(busy_renew_drop)
{
	struct lease h;

	start();
	assert_int_equal(take(0, "r1", "me", 60, &h), 0);
	assert_int_equal(take(0, "r2", "you", 60, &h), -E_BUSY);
	assert_string_equal(h.run, "r1");
	assert_string_equal(h.owner, "me");
	assert_true(h.expires >= h.taken + 60);
	assert_int_equal(take(0, "r1", "me", 120, &h), 0);
	assert_int_equal(take(1, "r2", "you", 60, &h), 0);             /* another node */
	assert_int_equal(store_lease_drop(s, node[0], "r2", NULL), 0); /* not its own: stays */
	assert_int_equal(take(0, "r2", "you", 60, &h), -E_BUSY);
	assert_int_equal(store_lease_drop(s, node[0], "r1", NULL), 0);
	assert_int_equal(take(0, "r2", "you", 60, &h), 0);
	assert_int_equal(store_lease_drop_run(s, "r2", NULL), 0);
	assert_int_equal(take(0, "r3", "x", 60, &h), 0);
	assert_int_equal(take(1, "r3", "x", 60, &h), 0);
	end();
}

TEST(expiry)
{
	struct lease h;

	start();
	assert_int_equal(take(0, "r1", "me", -1, &h), 0); /* expired at once */
	assert_int_equal(take(0, "r2", "you", 60, &h), 0);
	assert_int_equal(take(0, "r1", "me", 60, &h), -E_BUSY);
	end();
}

TEST(no_such_node)
{
	struct lease h;
	struct err err;

	start();
	assert_int_equal(store_lease_take(s, arena, 999, "r", "me", 60, &h, &err), -E_CONFLICT);
	end();
}

/* The owner text of a process that has ended. */
/* The child stays a zombie unless *zombie is NULL; then it is *zombie, for waitpid. */
static char *dead_owner(pid_t *zombie)
{
	int fd[2];
	siginfo_t info;
	char text[256] = "";
	pid_t child;

	assert_int_equal(pipe(fd), 0);
	child = fork();
	if (child == 0) {
		const char *mine = store_owner(arena);

		_exit(write(fd[1], mine, strlen(mine)) < 0);
	}
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | (zombie ? WNOWAIT : 0)), 0);
	if (zombie)
		*zombie = child;
	assert_true(read(fd[0], text, sizeof text - 1) > 0);
	close(fd[0]);
	close(fd[1]);
	return xstrdup(text);
}

TEST(a_controller_that_nobody_reaped_is_gone)
{
	unsigned n = 0;
	struct lease h;
	pid_t zombie;
	char *dead;

	start();
	dead = dead_owner(&zombie);
	assert_int_equal(take(1, "dead", dead, 60, &h), 0);
	assert_int_equal(store_lease_reap(s, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(waitpid(zombie, NULL, 0), zombie);
	free(dead);
	end();
}

TEST(reap_tells_dead_from_living)
{
	struct utsname host;
	unsigned n = 99;
	struct lease h;
	char *dead, *foreign, *rebooted;

	start();
	uname(&host);
	dead = dead_owner(NULL);
	rebooted = xasprintf("root@%s pid 1 start 1 boot 00000000", host.nodename);
	foreign = xstrdup("root@elsewhere pid 1 start 1 boot 00000000");
	assert_non_null(strstr(dead, " pid "));
	assert_int_equal(take(0, "living", store_owner(arena), 60, &h), 0);
	assert_int_equal(take(1, "dead", dead, 60, &h), 0);
	assert_int_equal(take(2, "foreign", foreign, 60, &h), 0);
	assert_int_equal(store_lease_reap(s, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(take(0, "x", "x", 60, &h), -E_BUSY);
	assert_int_equal(take(1, "x", "free form", 60, &h), 0);
	assert_int_equal(take(2, "x", "x", 60, &h), -E_BUSY);
	assert_int_equal(store_lease_reap(s, &n, NULL), 0);
	assert_int_equal(n, 0); /* "free form" is not ours to judge */
	assert_int_equal(store_lease_drop_run(s, "x", NULL), 0);
	assert_int_equal(take(1, "old", rebooted, 60, &h), 0);
	assert_int_equal(store_lease_reap(s, &n, NULL), 0);
	assert_int_equal(n, 1);
	free(dead);
	free(foreign);
	free(rebooted);
	end();
}

T_MAIN
