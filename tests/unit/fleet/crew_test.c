/* crew_test - nodes called up one by one, over fake nodes behind a real sshd. */
#include "agent/base/clock.h"
#include "agent/base/sign.h"
#include "controller/fleet/crew.h"
#include "tests/unit/fleet/fake_nodes.h"

#include <signal.h>
#include <sys/wait.h>

#define STEPS 12

/* What is asked of a node, one after the other, and what came of it. */
struct asked {
	enum order_mode mode;
	unsigned try;
	bool again;
	enum step_result state;
	char reason[200];
};

static struct world {
	struct crew *crew;
	struct asked steps[NODES + 1][STEPS];
	unsigned given[NODES + 1], ended[NODES + 1];
	unsigned events, dones, in_call, facts, files;
	size_t file_bytes;
	char last_file[64], back[40];
	bool rebooting, lease_refused;
	unsigned drop; /* this node, at its first event */
	int kill_at;   /* so many events */
	int stop_at;
	struct node_row *away; /* its port is another one from its first event until back_at */
	unsigned port;
	int64_t back_at;
	int64_t reboot_wait;
	struct node_refs refs;
} world;

static void on_event(void *ctx, size_t node, enum order_mode mode, const json_t *record)
{
	struct world *w = ctx;
	const char *ev = json_get_str(record, "ev", "");
	struct err err = {0};

	(void)mode;
	w->events++;
	if (strcmp(ev, "back") == 0)
		snprintf(w->back, sizeof w->back, "%s", json_get_str(record, "boot_id", ""));
	if (strcmp(ev, "rebooting") == 0)
		w->rebooting = true;
	if (w->away && w->back_at == 0) {
		w->port = w->away->port;
		w->away->port = t_free_port();
		w->back_at = clock_mono() + (w->reboot_wait > 10 * CLOCK_SEC ? 6 : 60) * CLOCK_SEC;
	}
	if (w->drop == node + 1)
		crew_drop(w->crew, node);
	if (w->kill_at && (int)w->events >= w->kill_at) {
		(void)crew_commit(w->crew, &err);
		raise(SIGKILL);
	}
	if (w->stop_at && (int)w->events >= w->stop_at)
		raise(SIGTERM);
}

static void call_next(struct world *w, size_t node)
{
	struct asked *s = &w->steps[node + 1][w->given[node + 1]];
	struct err err = {0};

	if (s->try == 0)
		return;
	w->given[node + 1]++;
	w->in_call++;
	if (crew_call(w->crew, node, s->mode, s->try, s->again, w->reboot_wait, &err) < 0)
		fail_msg("%s", err.msg);
	w->in_call--;
	/* one at a time */
	assert_int_equal(crew_call(w->crew, node, s->mode, s->try + 50, false, 0, &err), -E_STATE);
}

static void on_done(void *ctx, size_t node, enum order_mode mode, const struct node_result *r,
	const json_t *facts)
{
	struct world *w = ctx;
	struct asked *s = &w->steps[node + 1][w->ended[node + 1]++];

	assert_int_equal(w->in_call, 0);
	assert_int_equal(mode, s->mode);
	w->dones++;
	s->state = r->state;
	snprintf(s->reason, sizeof s->reason, "%s", r->reason);
	if (getenv("T_VERBOSE"))
		print_message("n%zu %s %s: %s; %s\n", node + 1, order_mode_name(mode),
			result_name(r->state), r->reason, r->hint);
	if (facts)
		w->facts += strcmp(json_get_str(json_get(facts, "os"), "id", ""), "debian") == 0;
	w->drop = 0;
	call_next(w, node);
}

static void on_evidence(void *ctx, size_t node, const char *name, struct str bytes)
{
	struct world *w = ctx;

	(void)node;
	w->files++;
	w->file_bytes += bytes.n;
	snprintf(w->last_file, sizeof w->last_file, "%s", name);
}

static struct crew_opts opts(const char *name)
{
	return (struct crew_opts){
		.name = name,
		.recipes = recipes,
		.n_recipes = n_recipes,
		.nodes_text = "test",
		.by = "tester",
		.connect_timeout = 120 * CLOCK_SEC,
		.patience = 300 * CLOCK_SEC,
		.reboot_asked = true,
		.ctx = &world,
		.event = on_event,
		.done = on_done,
		.evidence = on_evidence,
	};
}

static void start(void)
{
	vec_done(&world.refs);
	world = (struct world){.reboot_wait = 4 * CLOCK_SEC};
	for (unsigned i = 0; i < NODES; i++)
		*vec_push(&world.refs) = &rows.at[i];
}

static void open_crew(const char *name)
{
	const struct crew_opts o = opts(name);
	struct err err = {0};

	if (crew_open(store, &keys, &world.refs, &o, &world.crew, &err) < 0)
		fail_msg("%s", err.msg);
}

static void ask(unsigned node, enum order_mode mode, unsigned try, bool again)
{
	unsigned n = 0;

	while (world.steps[node][n].try)
		n++;
	world.steps[node][n] = (struct asked){.mode = mode, .try = try, .again = again};
}

/* While a node is in our hands, nobody else may have it. */
static void try_lease(struct world *w, size_t node)
{
	struct lease holder;
	struct err err = {0};

	assert_int_equal(crew_begin_write(w->crew, &err), 0);
	w->lease_refused = store_lease_take(store, arena, rows.at[node].id, "probe", "me", 1,
				   &holder, &err) == -E_BUSY;
	assert_int_equal(crew_commit(w->crew, &err), 0);
}

static bool tick(void *ctx)
{
	struct world *w = ctx;
	bool all = true;

	for (unsigned i = 1; i <= NODES; i++) {
		if (w->given[i] == 0)
			call_next(w, i - 1);
		all = all && w->given[i] == w->ended[i];
	}
	if (w->away && w->back_at && clock_mono() > w->back_at)
		w->away->port = w->port;
	if (!w->lease_refused && w->given[1] > 1)
		try_lease(w, 0);
	return !all;
}

static bool run(void)
{
	bool stopped = false;
	struct err err = {0};

	if (crew_run(world.crew, tick, &world, &stopped, &err) < 0)
		fail_msg("%s", err.msg);
	return stopped;
}

static void close_crew(void)
{
	struct err err = {0};

	if (crew_close(world.crew, &err) < 0)
		fail_msg("%s", err.msg);
	world.crew = NULL;
}

static void check_state(const char *id, const char *state)
{
	struct run_row row;
	struct err err = {0};

	assert_int_equal(store_run_find(store, arena, id, &row, &err), 0);
	assert_string_equal(row.id, id);
	assert_string_equal(row.state, state);
}

static void check_run(const char *id, const char *state, unsigned nodes)
{
	struct run_row row;
	struct node_results results = VEC_INIT;
	struct err err = {0};

	check_state(id, state);
	assert_int_equal(store_run_find(store, arena, id, &row, &err), 0);
	assert_int_equal(row.n_nodes, nodes);
	assert_int_equal(store_results(store, arena, id, &results, &err), 0);
	assert_int_equal(results.n, nodes);
	vec_done(&results);
}

static void check_step(unsigned node, unsigned n, enum step_result state, const char *reason)
{
	const struct asked *s = &world.steps[node][n];

	if (s->state != state || !strstr(s->reason, reason))
		fail_msg("n%u: %s: %s", node, result_name(s->state), s->reason);
}

static bool order_says(unsigned node, const char *text)
{
	return strstr(left_by(node, ".order"), text) != NULL;
}

TEST(different_orders_at_once)
{
	static const enum order_mode modes[] = {ORDER_PLAN, ORDER_FACTS, ORDER_STAGE, ORDER_APPLY,
		ORDER_CHECK, ORDER_EVIDENCE, ORDER_UNDO};
	const unsigned n = sizeof modes / sizeof *modes;

	set_up();
	start();
	open_crew("many");
	for (unsigned i = 1; i <= NODES; i++) {
		behave(i, i == NODES ? "failed" : "changed");
		for (unsigned k = 0; k < n; k++)
			ask(i, modes[(i + k) % n], 1, false);
		if (i == 3)
			ask(i, ORDER_CHECK, 2, false);
	}
	assert_false(run());
	assert_int_equal(world.dones, n * NODES + 1);
	assert_int_equal(world.facts, NODES);
	assert_int_equal(world.files, 2 * NODES);
	assert_int_equal(world.file_bytes, 13 * NODES);
	for (unsigned i = 1; i < NODES; i++)
		for (unsigned k = 0; k < n; k++)
			check_step(i, k, RESULT_CHANGED, "");
	check_step(NODES, 0, RESULT_FAILED, "a step failed");
	assert_true(world.lease_refused);
	check_run("many-plan", "running", NODES);
	close_crew();
	check_run("many-plan", "failed", NODES);
	check_run("many-apply", "failed", NODES);
	check_run("many-evidence", "failed", NODES);
	check_run("many-check", "failed", NODES);
	check_run("many-check-2", "done", 1);
	no_lease_is_left();
}

TEST(what_fails_at_once_comes_by_done)
{
	struct node_row odd[2];
	struct lease holder;
	struct err err = {0};

	set_up();
	start();
	odd[0] = rows.at[0];
	odd[0].host_key = NULL;
	odd[1] = rows.at[1];
	odd[1].address = "";
	world.refs.at[0] = &odd[0];
	world.refs.at[1] = &odd[1];
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_lease_take(store, arena, rows.at[2].id, "other-run",
				 "somebody@elsewhere pid 1 start 1 boot b", 600, &holder, &err),
		0);
	assert_int_equal(store_commit(store, &err), 0);
	open_crew("early");
	for (unsigned i = 1; i <= 4; i++) {
		behave(i, "changed");
		ask(i, ORDER_APPLY, 1, false);
	}
	ask(3, ORDER_APPLY, 2, false);
	run();
	check_step(1, 0, RESULT_DENIED, "no host key");
	check_step(2, 0, RESULT_FAILED, "no address");
	check_step(3, 0, RESULT_DENIED, "run other-run by somebody@elsewhere");
	check_step(3, 1, RESULT_DENIED, "holds 'n3'");
	check_step(4, 0, RESULT_CHANGED, "");
	assert_true(order_says(4, "\"reboot_asked\":true"));
	assert_int_equal(crew_call(world.crew, 3, ORDER_APPLY, 1, false, 0, &err), -E_STATE);
	assert_non_null(strstr(err.msg, "early-apply"));
	close_crew();
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_lease_drop_run(store, "other-run", &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
}

TEST(a_lease_goes_when_it_is_released)
{
	struct lease holder;
	struct err err = {0};

	set_up();
	start();
	open_crew("release");
	behave(1, "changed");
	ask(1, ORDER_PLAN, 1, false);
	run();
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(
		store_lease_take(store, arena, rows.at[0].id, "probe", "me", 1, &holder, &err),
		-E_BUSY);
	store_rollback(store);
	assert_string_equal(holder.run, "release");
	assert_int_equal(crew_release(world.crew, 0, &err), 0);
	assert_int_equal(crew_release(world.crew, 0, &err), 0);
	assert_int_equal(crew_commit(world.crew, &err), 0);
	no_lease_is_left();
	close_crew();
}

/* What was given up goes on there; asked again, it is followed from where we were. */
TEST(drops_and_asks_again)
{
	set_up();
	start();
	open_crew("drop");
	behave(1, "slow");
	ask(1, ORDER_APPLY, 1, false);
	world.drop = 1;
	run();
	check_step(1, 0, RESULT_INTERRUPTED, "given up; the node may go on");
	behave(1, "changed");
	ask(1, ORDER_APPLY, 1, true);
	call_next(&world, 0);
	run();
	check_step(1, 1, RESULT_CHANGED, "");
	assert_true(order_says(1, "\"mode\":\"attach\""));
	assert_true(order_says(1, "\"run\":\"drop-apply\""));
	assert_true(order_says(1, "\"after\":1"));
	/* before its link is even begun */
	ask(1, ORDER_PLAN, 1, false);
	call_next(&world, 0);
	crew_drop(world.crew, 0);
	crew_drop(world.crew, 0);
	run();
	check_step(1, 2, RESULT_INTERRUPTED, "given up");
	close_crew();
	check_run("drop-apply", "done", 1);
	check_run("drop-plan", "failed", 1);
}

TEST(an_undo_waits_for_the_apply_that_it_takes_back)
{
	struct node_results results = VEC_INIT;
	struct err err = {0};

	set_up();
	start();
	open_crew("follow");
	behave(1, "slow");
	ask(1, ORDER_APPLY, 1, false);
	world.drop = 1;
	run();
	behave(1, "busy-ours follow-apply");
	ask(1, ORDER_UNDO, 1, false);
	call_next(&world, 0);
	run();
	check_step(1, 1, RESULT_CHANGED, "");
	assert_true(order_says(1, "\"mode\":\"undo\""));
	assert_true(order_says(1, "\"undo_of\":\"follow-apply\""));
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 2);
	assert_int_equal(store_results(store, arena, "follow-apply", &results, &err), 0);
	assert_int_equal(results.at[0].state, RESULT_CHANGED);
	vec_done(&results);
	close_crew();
}

TEST(an_order_that_the_node_had_is_asked_after)
{
	set_up();
	start();
	open_crew("exists");
	behave(1, "exists");
	behave(2, "absent");
	ask(1, ORDER_APPLY, 1, false);
	/* asked again of one that never began: it is ordered anew */
	ask(2, ORDER_APPLY, 1, true);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	assert_true(order_says(1, "\"mode\":\"attach\""));
	check_step(2, 0, RESULT_CHANGED, "");
	assert_true(order_says(2, "\"mode\":\"apply\""));
	close_crew();
}

TEST(an_undo_of_what_never_came_is_none)
{
	set_up();
	start();
	open_crew("never");
	behave(1, "unknown-undo");
	ask(1, ORDER_UNDO, 1, false);
	run();
	check_step(1, 0, RESULT_SKIPPED, "nothing of this run is known there");
	close_crew();
	check_run("never-undo", "done", 1);
}

/* The node had said so to an earlier controller, which kept nothing of it. */
TEST(a_restart_that_is_asked_of_others_is_waited_for)
{
	set_up();
	start();
	open_crew("awaited");
	behave(1, "awaited");
	ask(1, ORDER_APPLY, 1, true);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	assert_string_equal(world.back, "boot-2");
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 3);
	close_crew();
}

/* Longer than any other run would wait: the node goes on, and tells of it when it is there again.
 */
TEST(looks_for_a_node_that_was_lost_at_work)
{
	struct node_row odd;

	set_up();
	start();
	odd = rows.at[0];
	world.refs.at[0] = &odd;
	world.away = &odd;
	world.reboot_wait = 40 * CLOCK_SEC;
	open_crew("lost");
	behave(1, "lost-once");
	ask(1, ORDER_APPLY, 1, false);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	assert_true(order_says(1, "\"mode\":\"attach\""));
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 2);
	close_crew();
}

/* So is one that was there for the order before; one that never was is not waited for. */
TEST(looks_for_a_node_that_was_there)
{
	struct node_row odd[2];
	int64_t began;

	set_up();
	start();
	odd[0] = rows.at[0];
	odd[1] = rows.at[1];
	odd[1].port = t_free_port();
	world.refs.at[0] = &odd[0];
	world.refs.at[1] = &odd[1];
	world.away = &odd[0];
	world.reboot_wait = 40 * CLOCK_SEC;
	open_crew("there");
	behave(1, "changed");
	ask(2, ORDER_APPLY, 1, false);
	began = clock_mono();
	run();
	check_step(2, 0, RESULT_FAILED, "refused");
	assert_true(clock_mono() - began < 30 * CLOCK_SEC);
	ask(1, ORDER_PLAN, 1, false);
	ask(1, ORDER_CHECK, 1, false);
	call_next(&world, 0);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	check_step(1, 1, RESULT_CHANGED, "");
	close_crew();
}

/* But not for ever. */
TEST(a_node_that_stays_away_is_unknown)
{
	struct node_row odd;

	set_up();
	start();
	odd = rows.at[0];
	world.refs.at[0] = &odd;
	world.away = &odd;
	world.reboot_wait = 5 * CLOCK_SEC;
	open_crew("gone");
	behave(1, "lost-once");
	ask(1, ORDER_APPLY, 1, false);
	run();
	check_step(1, 0, RESULT_UNKNOWN, "lost after it was given its order");
	close_crew();
}

TEST(evidence_has_caps)
{
	set_up();
	start();
	open_crew("evidence");
	behave(1, "evidence-many");
	behave(2, "evidence-path");
	ask(1, ORDER_EVIDENCE, 1, false);
	ask(2, ORDER_EVIDENCE, 1, false);
	run();
	check_step(1, 0, RESULT_FAILED, "more than 16 files");
	check_step(2, 0, RESULT_FAILED, "evidence that is none");
	assert_true(world.files <= 3 * 16 + 3 * 2);
	assert_false(order_says(1, "\"bundle\""));
	close_crew();
}

TEST(tells_of_a_restart)
{
	set_up();
	start();
	open_crew("boot");
	behave(1, "reboot");
	behave(2, "down");
	ask(1, ORDER_APPLY, 1, false);
	ask(2, ORDER_APPLY, 1, false);
	ask(1, ORDER_CHECK, 1, false);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	check_step(2, 0, RESULT_UNKNOWN, "did not come back");
	assert_true(world.rebooting);
	assert_string_equal(world.back, "boot-2");
	close_crew();
	no_lease_is_left();
}

TEST(one_controller_drives_a_rollout)
{
	const struct crew_opts o = opts("twice"), bad = opts("Not a name");
	struct crew *second = NULL;
	struct err err = {0};

	set_up();
	start();
	open_crew("twice");
	assert_int_equal(crew_open(store, &keys, &world.refs, &o, &second, &err), -E_BUSY);
	assert_int_equal(crew_open(store, &keys, &world.refs, &bad, &second, &err), -E_SYNTAX);
	close_crew();
	open_crew("twice");
	close_crew();
}

TEST(a_signal_ends_it_in_order)
{
	set_up();
	start();
	open_crew("signal");
	behave(1, "slow");
	behave(2, "changed");
	ask(1, ORDER_APPLY, 1, false);
	ask(2, ORDER_PLAN, 1, false);
	world.stop_at = 3;
	assert_true(run());
	world.dones = 0;
	close_crew();
	assert_int_equal(world.dones, 0);
	check_run("signal-apply", "interrupted", 1);
	no_lease_is_left();
}

/* A process of its own, with its own connection to the database, that dies at an event. */
static void die_at_event(const char *name, int event)
{
	const char *db = path_of("stoika.db");
	struct err err = {0};
	int status;
	pid_t pid;

	store_close(store);
	pid = fork();
	if (pid == 0) {
		if (store_open(db, STORE_WRITE, &store, &err) < 0)
			_exit(3);
		open_crew(name);
		world.kill_at = event;
		run();
		_exit(4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(store_open(db, STORE_WRITE, &store, &err), 0);
}

TEST(goes_on_where_a_killed_controller_was)
{
	set_up();
	start();
	behave(1, "slow");
	ask(1, ORDER_APPLY, 1, false);
	die_at_event("kill", 1);
	check_state("kill-apply", "running");
	behave(1, "changed");
	behave(2, "changed");
	start();
	open_crew("kill");
	check_state("kill-apply", "interrupted");
	ask(1, ORDER_APPLY, 1, true);
	ask(2, ORDER_APPLY, 1, false);
	ask(2, ORDER_CHECK, 1, true);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	check_step(2, 0, RESULT_CHANGED, "");
	check_step(2, 1, RESULT_CHANGED, "");
	assert_true(order_says(1, "\"mode\":\"attach\""));
	assert_true(order_says(1, "\"after\":1"));
	assert_true(order_says(2, "\"mode\":\"check\""));
	close_crew();
	check_run("kill-apply", "done", 2);
	no_lease_is_left();
}

/* It died while the node was down: the next one knows that it is to come back. */
TEST(waits_on_for_a_restart)
{
	set_up();
	start();
	behave(1, "reboot");
	ask(1, ORDER_APPLY, 1, false);
	die_at_event("down", 1);
	start();
	open_crew("down");
	ask(1, ORDER_APPLY, 1, true);
	run();
	check_step(1, 0, RESULT_CHANGED, "");
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 3);
	assert_string_equal(world.back, "boot-2");
	close_crew();
	check_run("down-apply", "done", 1);
}

TEST(z_clean_up)
{
	vec_done(&world.refs);
	clean_up();
}

T_MAIN
