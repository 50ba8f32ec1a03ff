/*
 * world_test - whole rollouts over simulated nodes and a scripted scheduler: what is kept of them,
 * what nodes were told, what the scheduler was asked; and drivers that die at any commit.
 */
#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/recipe/recipe.h"
#include "controller/rollout/world.h"
#include "inventory/model/model.h"
#include "inventory/store/rollout.h"
#include "tests/unit/rollout/nodes.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MS INT64_C(1000000)

/* One controller: its database, recipe and nodes n1.. in a folder of their own. */
struct site {
	struct arena *arena;
	const char *dir;
	unsigned n;
	struct store *store;
	struct keys keys;
	struct node_rows rows;
	struct node_refs refs;
	struct frozen order;
	struct rollout_opts opts;
	struct rollout_outcome out;
	const char *wish; /* of a person; NULL: none, or it was said */
};

static void make_nodes(struct site *s)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "test";
	for (unsigned i = 0; i < s->n; i++)
		*vec_push(&m->nodes) = (struct node){
			.name = arena_printf(s->arena, "n%u", i + 1),
			.device = MODEL_NONE,
			.address = arena_printf(s->arena, "10.0.0.%u", i + 1),
			.user = "root",
			.port = 22,
			.vars = "{}",
		};
	assert_int_equal(store_begin(s->store, &err), 0);
	assert_int_equal(store_put_model(s->store, m, &err), 0);
	assert_int_equal(store_commit(s->store, &err), 0);
	model_free(m);
}

static void open_site(struct site *s)
{
	struct err err = {0};
	const char *db = arena_printf(s->arena, "%s/stoika.db", s->dir);

	assert_int_equal(store_open(db, STORE_WRITE, &s->store, &err), 0);
	assert_int_equal(keys_load(db, &s->keys, &err), 0);
	assert_int_equal(store_nodes(s->store, s->arena, &s->rows, &err), 0);
	vec_each(&s->rows, const struct node_row, r)
		*vec_push(&s->refs) = r;
}

static void close_site(struct site *s)
{
	vec_done(&s->refs);
	vec_done(&s->rows);
	keys_done(&s->keys);
	store_close(s->store);
}

static void make_recipe(struct site *s)
{
	const char *dir = arena_printf(s->arena, "%s/w", s->dir);
	struct err err = {0};
	FILE *f;

	assert_int_equal(mkdir(dir, 0755), 0);
	f = fopen(arena_printf(s->arena, "%s/recipe.yaml", dir), "we");
	assert_non_null(f);
	fputs("recipe: w\nsteps:\n  - file: {path: /etc/w, content: x}\n", f);
	fclose(f);
	assert_int_equal(
		pack_resolve(s->arena, &dir, 1, &s->order.recipes, &s->order.n_recipes, &err), 0);
}

/* flags: YAML over a policy that has no soak, no canary, one wave, and a fence of the test's own.
 */
static void set_up(struct site *s, const char *name, unsigned n, const char *flags)
{
	struct err err = {0};
	const char *db;

	*s = (struct site){.arena = arena_new(), .n = n};
	s->dir = arena_printf(s->arena, "%s/%s", t_dir(), name);
	assert_int_equal(mkdir(s->dir, 0755), 0);
	db = arena_printf(s->arena, "%s/stoika.db", s->dir);
	assert_int_equal(store_open(db, STORE_CREATE, &s->store, &err), 0);
	assert_int_equal(keys_make(db, &err), 0);
	make_nodes(s);
	store_close(s->store);
	open_site(s);
	make_recipe(s);
	s->order.text = arena_printf(s->arena,
		"rollout: test\ncanary: {count: 0}\nwaves: [100%%]\nmax_unavailable: 100%%\n"
		"budgets: {}\nfailures: {most: 100%%, same: 0}\nretry: 0\n"
		"fence: {by: command, command: [%s, %s], deadline: 30s, grace: 1s}\n"
		"reboot: {within: 5s}\n",
		STANDIN, s->dir);
	s->order.name = "test.yaml";
	rollout_policy_preset(&s->order.policy);
	assert_int_equal(rollout_policy_parse(s->arena, "test.yaml", str_of(s->order.text),
				 &s->order.policy, &err),
		0);
	s->order.flags = flags;
	if (flags)
		assert_int_equal(rollout_policy_change(
					 s->arena, "flags", str_of(flags), &s->order.policy, &err),
			0);
	s->opts = (struct rollout_opts){.order = &s->order,
		.nodes = &s->refs,
		.nodes_text = "all",
		.by = "tester",
		.look_every = 50 * MS,
		.patience = 2000 * MS,
		.transport = nodes_transport(s->dir)};
}

static void tear_down(struct site *s)
{
	for (unsigned i = 0; i < s->order.n_recipes; i++)
		recipe_done(s->order.recipes[i].recipe);
	close_site(s);
	arena_free(s->arena);
}

static int drive(struct site *s)
{
	struct err err = {0};
	const int rc = rollout_drive(s->store, &s->keys, &s->opts, &s->out, &err);

	if (rc < 0)
		print_message("%s (%s)\n", err.msg, err.hint);
	return rc;
}

/* The node's states in order, as the history has them: "preflight staged ... done". */
static const char *way(struct site *s, const char *node)
{
	struct rollout_moves moves = VEC_INIT;
	struct buf text;
	struct err err = {0};
	const char *out;
	int64_t id = 0;

	buf_init(&text, 4096);
	for (size_t i = 0; i < s->refs.n; i++)
		if (strcmp(s->refs.at[i]->name, node) == 0)
			id = s->refs.at[i]->id;
	assert_int_equal(store_rollout_moves(s->store, s->arena, s->out.id, id, &moves, &err), 0);
	vec_each(&moves, const struct rollout_move, m)
		buf_addf(&text, "%s%s", text.n ? " " : "", m->to);
	out = arena_strdup(s->arena, buf_text(&text));
	buf_done(&text);
	vec_done(&moves);
	return out;
}

static struct rollout_node_row row_of(struct site *s, const char *node)
{
	struct rollout_node_rows rows = VEC_INIT;
	struct rollout_node_row out = {0};
	struct err err = {0};

	assert_int_equal(store_rollout_nodes(s->store, s->arena, s->out.id, &rows, &err), 0);
	vec_each(&rows, const struct rollout_node_row, r)
		if (strcmp(r->name, node) == 0)
			out = *r;
	vec_done(&rows);
	assert_non_null(out.state);
	return out;
}

static const char *run_state(struct site *s)
{
	struct run_row r;
	struct err err = {0};

	assert_int_equal(store_run_find(s->store, s->arena, s->out.id, &r, &err), 0);
	return r.state;
}

#define WAY_THERE "preflight staged cordoned wait-jobs drained quiesced installed "

TEST(all_goes_well)
{
	struct site s;

	set_up(&s, "well", 3, NULL);
	nodes_put(s.dir, "n2", "does", "reboots");
	nodes_put(s.dir, "n3", "set", "B\n");
	nodes_put(s.dir, "n1", "jobs", "3\n");
	assert_int_equal(drive(&s), 0);
	assert_int_equal(s.out.states[STATE_DONE], 3);
	assert_string_equal(way(&s, "n1"), WAY_THERE "services verify returned soak done");
	assert_string_equal(
		way(&s, "n2"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(way(&s, "n3"), "preflight done");
	assert_string_equal(nodes_get(s.dir, "n1", "set"), "B");
	assert_string_equal(nodes_get(s.dir, "n2", "boot"), "1");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_int_equal(nodes_count(s.dir, "n2", "apply"), 1);
	assert_int_equal(nodes_count(s.dir, "n3", "apply"), 0);
	assert_string_equal(run_state(&s), "done");
	tear_down(&s);
}

TEST(a_failed_apply_is_taken_back)
{
	struct site s;
	struct rollout_node_row row;

	set_up(&s, "fails", 2, NULL);
	nodes_put(s.dir, "n1", "does", "apply-fails");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"),
		"preflight staged cordoned wait-jobs drained quiesced rollback undone");
	row = row_of(&s, "n1");
	assert_non_null(strstr(row.reason, "it went wrong"));
	assert_string_equal(row.signature, "apply w 1  step failed");
	assert_string_equal(nodes_get(s.dir, "n1", "set"), "A");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_string_equal(row_of(&s, "n2").state, "done");
	assert_string_equal(run_state(&s), "failed");
	tear_down(&s);
}

TEST(what_cannot_be_taken_back_is_kept)
{
	struct site s;
	struct evidence_rows files = VEC_INIT;
	struct err err = {0};
	bool log = false, facts = false;

	set_up(&s, "kept", 2, NULL);
	nodes_put(s.dir, "n1", "does", "check-fails undo-fails");
	nodes_put(s.dir, "n2", "does", "check-fails loses-gpu");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"), WAY_THERE "services verify rollback quarantined");
	assert_string_equal(way(&s, "n2"), WAY_THERE "services verify rollback quarantined");
	assert_non_null(strstr(row_of(&s, "n2").reason, "GPU 'GPU-1' is gone"));
	assert_non_null(strstr(nodes_get(s.dir, "n1", "fence"), "closed"));
	assert_int_equal(
		store_evidence(s.store, s.arena, s.out.id, s.refs.at[0]->id, &files, &err), 0);
	vec_each(&files, const struct evidence_row, f) {
		log = log || strcmp(f->name, "kernel.log") == 0;
		facts = facts || strcmp(f->name, "facts-before.json") == 0;
	}
	assert_true(log && facts);
	vec_done(&files);
	tear_down(&s);
}

TEST(a_node_of_somebody_else_stays_so)
{
	struct site s;

	set_up(&s, "foreign", 2, NULL);
	nodes_put(s.dir, "n1", "fence", "closed somebody disk is broken\n");
	nodes_put(s.dir, "n2", "does", "held");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n1").state, "eligible");
	assert_non_null(strstr(row_of(&s, "n1").reason, "disk is broken"));
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "closed somebody disk is broken");
	assert_string_equal(nodes_get(s.dir, "n1", "log"), "");
	assert_string_equal(way(&s, "n2"), "preflight staged cordoned wait-jobs drained released");
	assert_non_null(strstr(row_of(&s, "n2").reason, "process 4711 'python3'"));
	assert_string_equal(nodes_get(s.dir, "n2", "fence"), "");
	assert_int_equal(nodes_count(s.dir, "n2", "apply"), 0);
	assert_string_equal(run_state(&s), "failed");
	tear_down(&s);
}

/* A person's wish, while the first waits for a job. */
static void ask_when_waiting(void *ctx, const struct drive *d)
{
	struct site *s = ctx;
	struct err err = {0};
	bool own;

	if (!s->wish || drive_state(d, 0) != STATE_WAIT_JOBS)
		return;
	own = store_begin(s->store, &err) == 0; /* the driver's group of writes may be open */
	assert_int_equal(store_rollout_ask(s->store, s->out.id, s->wish, "ann", &err), 0);
	if (own)
		assert_int_equal(store_commit(s->store, &err), 0);
	s->wish = NULL;
}

TEST(an_abort_turns_back_who_can)
{
	struct site s;

	set_up(&s, "abort", 2, "max_unavailable: 1");
	nodes_put(s.dir, "n1", "jobs", "100000\n");
	s.opts.ctx = &s;
	s.opts.turn = ask_when_waiting;
	s.wish = "abort";
	assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"), "preflight staged cordoned wait-jobs released");
	assert_string_equal(row_of(&s, "n2").state, "aborted");
	assert_non_null(strstr(row_of(&s, "n2").reason, "aborted by ann"));
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	assert_string_equal(run_state(&s), "cancelled");
	assert_true(s.out.aborted);
	tear_down(&s);
}

TEST(a_paused_one_is_gone_on_with)
{
	struct site s;
	char id[64];

	set_up(&s, "pause", 2, "max_unavailable: 1");
	nodes_put(s.dir, "n1", "jobs", "40\n");
	s.opts.ctx = &s;
	s.opts.turn = ask_when_waiting;
	s.wish = "pause";
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n1").state, "done");
	assert_string_equal(row_of(&s, "n2").state, "eligible");
	assert_string_equal(s.out.paused, "paused by ann");
	assert_string_equal(run_state(&s), "interrupted");
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n2").state, "done");
	assert_int_equal(nodes_count(s.dir, "n1", "plan"), 1);
	assert_string_equal(run_state(&s), "done");
	tear_down(&s);
}

TEST(what_broke_is_forgiven_by_a_person)
{
	struct site s;
	char id[64];

	set_up(&s, "breaks", 3, "{max_unavailable: 1, failures: {most: 0, same: 1}}");
	nodes_put(s.dir, "n1", "does", "apply-fails");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n1").state, "undone");
	assert_string_equal(row_of(&s, "n2").state, "eligible");
	assert_true(s.out.paused[0]);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n2").state, "eligible");
	s.opts.forgive = true;
	assert_int_equal(drive(&s), 0);
	assert_string_equal(row_of(&s, "n2").state, "done");
	assert_string_equal(row_of(&s, "n3").state, "done");
	assert_string_equal(run_state(&s), "failed");
	tear_down(&s);
}

TEST(one_that_does_not_come_back_is_kept)
{
	struct site s;

	set_up(&s, "gone", 2, "{max_unavailable: 1, reboot: {within: 1s}}");
	nodes_put(s.dir, "n1", "does", "reboots stays-down");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"), WAY_THERE "rebooting unreachable");
	assert_non_null(strstr(nodes_get(s.dir, "n1", "fence"), "closed"));
	assert_string_equal(row_of(&s, "n2").state, "eligible");
	assert_true(s.out.paused[0]);
	tear_down(&s);
}

TEST(the_power_is_cycled_once)
{
	struct site s;
	struct evidence_rows files = VEC_INIT;
	struct err err = {0};
	bool told = false;

	set_up(&s, "cycled", 2, NULL);
	assert_int_equal(
		rollout_policy_change(s.arena, "flags",
			str_of(arena_printf(s.arena,
				"reboot: {within: 2s, power_cycle: [/bin/sh, -c, 'echo on >> "
				"%s/$0.cycles; rm %s/$0.gone']}",
				s.dir, s.dir)),
			&s.order.policy, &err),
		0);
	nodes_put(s.dir, "n1", "does", "reboots stays-down");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(
		way(&s, "n1"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(nodes_get(s.dir, "n1", "cycles"), "on");
	assert_string_equal(nodes_get(s.dir, "n2", "cycles"), "");
	assert_int_equal(
		store_evidence(s.store, s.arena, s.out.id, s.refs.at[0]->id, &files, &err), 0);
	vec_each(&files, const struct evidence_row, f)
		told = told || strcmp(f->name, "power-cycle.txt") == 0;
	assert_true(told);
	vec_done(&files);
	tear_down(&s);
}

TEST(the_scheduler_restarts_who_asks)
{
	struct site s;

	set_up(&s, "by-fence", 2, "reboot: {by: fence, within: 10s}");
	nodes_put(s.dir, "n1", "does", "reboots");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(
		way(&s, "n1"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(way(&s, "n2"), WAY_THERE "services verify returned soak done");
	assert_string_equal(nodes_get(s.dir, "n1", "boot"), "1");
	assert_string_equal(nodes_get(s.dir, "n1", "fence"), "");
	tear_down(&s);
}

TEST(who_cannot_be_reached_is_left_alone)
{
	struct site s;

	set_up(&s, "silent", 2, NULL);
	nodes_put(s.dir, "n1", "does", "silent");
	nodes_put(s.dir, "n2", "does", "no-stage");
	assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"), "preflight rejected");
	assert_string_equal(way(&s, "n2"), "preflight staged rejected");
	assert_int_equal(s.out.unreached, 1);
	assert_string_equal(nodes_get(s.dir, "n2", "fence"), "");
	tear_down(&s);
}

/* --- drivers that die --- */

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

static unsigned calls_left;

/* Begun, and nothing heard of it. */
static int die_at_call(void *ctx, const struct link_target *t, struct err *err)
{
	const struct link_transport *real = ctx;

	if (calls_left > 0 && --calls_left == 0)
		_exit(9);
	return real->connect(real->ctx, t, err);
}

/* Drives in a process that dies behind its k-th move, or at its k-th call of a node; true when it
 * lived to the end. */
static bool drive_and_die(struct site *s, unsigned k, bool at_call)
{
	struct link_transport real = *s->opts.transport;
	const struct link_transport deadly = {die_at_call, &real};
	struct rollout_opts o = s->opts;
	struct rollout_outcome out;
	struct err err = {0};
	int status = 0;
	pid_t child;

	close_site(s);
	child = fork();
	if (child == 0) {
		open_site(s);
		if (at_call) {
			calls_left = k;
			o.transport = &deadly;
		} else {
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
	open_site(s);
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
	set_up(&s, name, 3, NULL);
	nodes_put(s.dir, "n2", "does", "reboots");
	nodes_put(s.dir, "n3", "does", "check-fails");
	lived = drive_and_die(&s, k, at_call);
	find_run(&s);
	snprintf(id, sizeof id, "%s", s.out.id);
	s.opts.run = id;
	if (!lived)
		assert_int_equal(drive(&s), 0);
	assert_string_equal(way(&s, "n1"), WAY_THERE "services verify returned soak done");
	assert_string_equal(
		way(&s, "n2"), WAY_THERE "rebooting services verify returned soak done");
	assert_string_equal(way(&s, "n3"), WAY_THERE "services verify rollback undone");
	for (unsigned i = 1; i <= 3; i++) {
		snprintf(name, sizeof name, "n%u", i);
		assert_string_equal(nodes_twice(s.dir, name), "");
		assert_int_equal(nodes_count(s.dir, name, "apply"), 1);
		assert_string_equal(nodes_get(s.dir, name, "fence"), "");
	}
	assert_int_equal(nodes_count(s.dir, "n3", "undo"), 1);
	assert_string_equal(nodes_get(s.dir, "n2", "boot"), "1");
	assert_string_equal(run_state(&s), "failed");
	tear_down(&s);
	return lived;
}

/* Behind each with STOIKA_LONG, else behind every fifth. */
TEST(a_driver_may_die_behind_any_move)
{
	const unsigned step = getenv("STOIKA_LONG") ? 1 : 5;
	unsigned k = 1;

	while (!die_and_go_on(k, false))
		k += step;
	assert_in_range(k, 25, 60);
}

TEST(a_driver_may_die_at_any_call)
{
	const unsigned step = getenv("STOIKA_LONG") ? 1 : 5;
	unsigned k = 1;

	while (!die_and_go_on(k, true))
		k += step;
	assert_in_range(k, 15, 60);
}

T_MAIN
