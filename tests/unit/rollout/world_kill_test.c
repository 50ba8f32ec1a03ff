/*
 * world_kill_test - drivers that die, behind any move and at any call of a node, and others that go
 * on: no order is given twice, and the end is the same. With STOIKA_LONG at all of them.
 */
#include "agent/base/err.h"
#include "tests/unit/rollout/controller.h"
#include "tests/unit/rollout/nodes.h"
#include "tests/unit/t.h"

#include <sys/wait.h>

static unsigned moves_left;

/* Durable, and nothing of it begun. */
static void die_at_move(void *ctx, const struct node_row *node, const struct drive_move *m)
{
	(void)ctx;
	(void)node;
	(void)m;
	if (--moves_left == 0)
		_exit(9);
}

static void die_at_undone(void *ctx, const struct node_row *node, const struct drive_move *m)
{
	(void)ctx;
	(void)node;
	if (m->to == STATE_UNDONE)
		_exit(9);
}

static unsigned calls_left;

/* Begun, and nothing heard of it. */
static int die_at_call(void *ctx, const struct link_target *t, struct err *err)
{
	const struct link_transport *real = ctx;

	if (calls_left > 0 && --calls_left == 0)
		_exit(9);
	return real->connect(real->ctx, t, err);
}

/* Drives in a process that dies behind its k-th move, or at its k-th call of a node (0: not by
 * itself); true when it lived to the end. */
static bool drive_and_die(struct site *s, unsigned k, bool at_call)
{
	struct link_transport real = *s->opts.transport;
	const struct link_transport deadly = {die_at_call, &real};
	struct rollout_opts o = s->opts;
	struct rollout_outcome out;
	struct err err = {0};
	int status = 0;
	pid_t child;

	site_close(s);
	child = fork();
	if (child == 0) {
		site_open(s);
		if (at_call) {
			calls_left = k;
			o.transport = &deadly;
		} else if (k > 0) {
			moves_left = k;
			o.moved = die_at_move;
		}
		o.nodes = &s->refs;
		_exit(rollout_drive(s->store, &s->keys, &o, &out, &err) < 0 ? 7 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	s->store = NULL;
	s->keys = (struct keys){0};
	s->rows = (struct node_rows)VEC_INIT;
	s->refs = (struct node_refs)VEC_INIT;
	site_open(s);
	if (WIFSIGNALED(status))
		return false;
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 9)
		assert_int_equal(WEXITSTATUS(status), 0);
	return WEXITSTATUS(status) == 0;
}

static void find_run(struct site *s)
{
	struct run_rows rows = VEC_INIT;
	struct err err = {0};

	assert_int_equal(store_runs(s->store, s->arena, 1000, &rows, &err), 0);
	vec_each(&rows, const struct run_row, r)
		if (strcmp(r->mode, "rollout") == 0)
			snprintf(s->out.id, sizeof s->out.id, "%s", r->id);
	vec_done(&rows);
	assert_true(s->out.id[0]);
}

/* The nodes of one site take the three ways at once: there, there by a restart, there and back. */
static bool die_and_go_on(unsigned k, bool at_call)
{
	struct site s;
	char name[24], id[64];
	bool lived;

	snprintf(name, sizeof name, "%s%u", at_call ? "calls" : "moves", k);
	site_make(&s, t_dir(), name, 3, NULL);
	nodes_put(s.dir, "n2", "does", "reboots");
	nodes_put(s.dir, "n3", "does", "check-fails");
	lived = drive_and_die(&s, k, at_call);
	find_run(&s);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	if (!lived)
		assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "services verify returned soak done");
	assert_string_equal(
		site_way(&s, "n2"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(site_way(&s, "n3"), WAY_THERE "services verify rollback undone");
	for (unsigned i = 1; i <= 3; i++) {
		snprintf(name, sizeof name, "n%u", i);
		assert_string_equal(nodes_twice(s.dir, name), "");
		assert_int_equal(nodes_count(s.dir, name, "apply"), 1);
		assert_string_equal(nodes_get(s.dir, name, "fence"), "");
	}
	assert_int_equal(nodes_count(s.dir, "n3", "undo"), 1);
	assert_string_equal(nodes_get(s.dir, "n2", "boot"), "1");
	assert_string_equal(site_run_state(&s), "failed");
	site_drop(&s);
	return lived;
}

TEST(a_driver_may_die_behind_any_move)
{
	const unsigned step = getenv("STOIKA_LONG") ? 1 : 16;
	unsigned k = step == 1 ? 1 : 10;

	while (!die_and_go_on(k, false))
		k += step;
	assert_in_range(k, 25, 60);
}

TEST(a_driver_may_die_at_any_call)
{
	const unsigned step = getenv("STOIKA_LONG") ? 1 : 12;
	unsigned k = step == 1 ? 1 : 6;

	while (!die_and_go_on(k, true))
		k += step;
	assert_in_range(k, 15, 60);
}

/* The program itself kills who began it: what it knows of the cycle must be kept by then. */
TEST(a_driver_may_die_as_a_power_cycle_begins)
{
	static const char flags[] =
		"reboot: {within: 1s, power_cycle: [/bin/sh, -c, 'if [ -e %s/power/$0.cycles ]; then "
		"echo twice > %s/power/$0.cycles; else echo once > %s/power/$0.cycles; "
		"kill -9 $PPID; fi']}";
	struct site s;
	char text[1024], id[64];

	snprintf(text, sizeof text, flags, t_dir(), t_dir(), t_dir());
	site_make(&s, t_dir(), "power", 1, text);
	nodes_put(s.dir, "n1", "does", "reboots stays-down");
	assert_false(drive_and_die(&s, 0, true));
	find_run(&s);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n1"), WAY_THERE "rebooting unreachable");
	assert_string_equal(nodes_get(s.dir, "n1", "cycles"), "once");
	site_drop(&s);
}

static size_t count_unfinished(struct site *s)
{
	const char **runs;
	struct err err = {0};
	size_t n = 0;

	assert_int_equal(rollout_unfinished(s->store, s->arena, &runs, &n, &err), 0);
	return n;
}

/* Broken off, with a node still out: it comes home without a person, and nobody else goes. */
TEST(a_driver_may_die_as_it_breaks_off)
{
	struct site s;
	struct rollout_row row;
	struct err err = {0};
	char id[64];

	site_make(&s, t_dir(), "breaks", 3,
		"{max_unavailable: 2, failures: {most: 0, same: 1}, reboot: {within: 5s}}");
	nodes_put(s.dir, "n1", "does", "apply-fails");
	nodes_put(s.dir, "n2", "does", "reboots stays-down");
	s.opts.moved = die_at_undone;
	assert_false(drive_and_die(&s, 0, false));
	find_run(&s);
	assert_string_equal(site_row(&s, "n2").state, "rebooting");
	assert_int_equal(store_rollout_get(s.store, s.arena, s.out.id, &row, &err), 0);
	assert_true(row.paused);
	assert_int_equal(count_unfinished(&s), 1);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	s.opts.moved = NULL;
	assert_int_equal(site_drive(&s), 0);
	assert_string_equal(site_way(&s, "n2"), WAY_THERE "rebooting unreachable");
	assert_string_equal(site_row(&s, "n3").state, "eligible");
	assert_true(s.out.paused[0]);
	assert_int_equal(count_unfinished(&s), 0);
	site_drop(&s);
}

T_MAIN
