/*
 * pass - a whole unchanged pass of 45 steps: no program is started, and it costs little.
 *
 * The root holds no program at all, so that starting one would fail. The limit
 * is generous: the sanitizers and a busy machine cost a factor of ten.
 */
#include "agent/base/clock.h"
#include "tests/unit/step/tree.h"

#include <time.h>

#define STEPS_MAX    64
#define CPU_LIMIT_MS 60
#define BODY_LEN     8000

struct pass {
	struct tree tree;
	const char *kind[STEPS_MAX];
	json_t *args[STEPS_MAX];
	unsigned n;
};

static void add(struct pass *p, const char *kind, json_t *args)
{
	assert_non_null(args);
	p->kind[p->n] = kind;
	p->args[p->n++] = args;
}

static void add_packages(struct pass *p)
{
	struct buf status;
	char name[32];

	buf_init(&status, 4 << 20);
	for (int i = 0; i < 2000; i++)
		buf_addf(&status,
			"Package: lib-number-%d\nStatus: install ok installed\nPriority: optional\n"
			"Section: libs\nInstalled-Size: 104\nMaintainer: Somebody <x@example.org>\n"
			"Architecture: amd64\nVersion: 1.%d\nDepends: libc6 (>= 2.34)\n"
			"Description: a library\n that is long to describe, and is described\n"
			" on several lines, as is the custom\n\n",
			i, i);
	tree_write(&p->tree, "var/lib/dpkg/status", buf_text(&status));
	buf_done(&status);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof name, "lib-number-%d", i * 199);
		add(p, "package", json_pack("{s:[s]}", "names", name));
	}
}

static void add_files(struct pass *p)
{
	static char body[BODY_LEN + 1];
	char path[64], source[64];

	memset(body, 'x', BODY_LEN);
	for (int i = 60; i < BODY_LEN; i += 60)
		body[i] = '\n';
	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof path, "/etc/app/file-%d", i);
		snprintf(source, sizeof source, "demo/files/file-%d", i);
		tree_write(&p->tree, path, body);
		tree_source(&p->tree, source, body);
		add(p, "file",
			json_pack("{s:s, s:s, s:s, s:s}", "path", path, "source",
				source + strlen("demo/files/"), "mode", "0644", "owner", "root"));
	}
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof path, "/srv/folder-%d", i);
		tree_mkdir(&p->tree, path);
		add(p, "directory", json_pack("{s:s, s:s}", "path", path, "mode", "0755"));
	}
}

static void add_others(struct pass *p)
{
	struct tree *t = &p->tree;

	tree_write(t, "etc/lines", "a 1\nb 2\nc 3\n");
	for (int i = 0; i < 5; i++)
		add(p, "line",
			json_pack("{s:s, s:s, s:s}", "path", "/etc/lines", "line", "b 2", "key",
				"b "));
	tree_mkdir(t, "run/systemd/system");
	tree_mkdir(t, "run/systemd/units");
	tree_mkdir(t, "etc/systemd/system/multi-user.target.wants");
	tree_write(t, "usr/lib/systemd/system/app.service", "");
	tree_link(t, "x", "etc/systemd/system/multi-user.target.wants/app.service");
	tree_link(t, "1", "run/systemd/units/invocation:app.service");
	tree_write(t, "sys/fs/cgroup/system.slice/app.service/cgroup.events", "populated 1\n");
	for (int i = 0; i < 3; i++)
		add(p, "service", json_pack("{s:s, s:b}", "name", "app", "enabled", 1));
	add(p, "user", json_pack("{s:s, s:i}", "name", "alice", "uid", 1000));
	add(p, "group", json_pack("{s:s}", "name", "video"));
}

static int64_t cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * CLOCK_SEC + now.tv_nsec;
}

static int64_t run(struct pass *p)
{
	struct tree *t = &p->tree;
	const int64_t start = cpu();

	step_cache_forget(t->env.cache);
	for (unsigned i = 0; i < p->n; i++) {
		step_report_clear(&t->rep);
		if (step_find(p->kind[i])->check(&t->env, p->args[i], &t->rep, &t->err) < 0)
			fail_msg("%s: %s", p->kind[i], t->err.msg);
		if (t->rep.state != STEP_SAME)
			fail_msg("%s differs: %s", p->kind[i], buf_text(&t->rep.diff));
	}
	return cpu() - start;
}

TEST(unchanged_pass_is_cheap)
{
	struct pass p = {0};
	int64_t least = INT64_MAX;

	tree_init(&p.tree);
	add_packages(&p);
	add_files(&p);
	add_others(&p);
	assert_int_equal(p.n, 45);
	for (int i = 0; i < 5; i++) {
		const int64_t took = run(&p);

		least = took < least ? took : least;
	}
	print_message("an unchanged pass of %u steps took %lld us of CPU\n", p.n,
		(long long)(least / 1000));
	assert_true(least < CPU_LIMIT_MS * CLOCK_MS);
	for (unsigned i = 0; i < p.n; i++)
		json_decref(p.args[i]);
	tree_done(&p.tree);
}

T_MAIN
