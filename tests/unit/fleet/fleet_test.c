/* fleet_test - runs over fake nodes behind one sshd: each port is a node with its own behaviour. */
#include "agent/base/clock.h"
#include "agent/base/sign.h"
#include "controller/fleet/fleet.h"
#include "tests/unit/fleet/fake_nodes.h"

#include <signal.h>
#include <sys/resource.h>

#define PLAN_HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct seen {
	unsigned events, done;
	unsigned full_at; /* this many events: then no file may grow */
	struct rlimit full;
	unsigned stop_at; /* this many nodes done and an event: then SIGTERM to ourselves */
	enum step_result state[NODES + 1];
	const char *reason[NODES + 1], *hint[NODES + 1];
	struct node_result result[NODES + 1];
};

static void maybe_stop(const struct seen *s)
{
	if (s->stop_at && s->done >= s->stop_at && s->events > 3)
		raise(SIGTERM);
}

static void on_event(void *ctx, const struct node_row *node, const json_t *record)
{
	struct seen *s = ctx;

	(void)node;
	assert_null(json_get(record, "t"));
	s->events++;
	if (s->full_at && s->events >= s->full_at)
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &s->full), 0);
	maybe_stop(s);
}

static void on_done(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct seen *s = ctx;
	const unsigned i = (unsigned)strtoul(node->name + 1, NULL, 10);

	s->done++;
	s->state[i] = r->state;
	s->reason[i] = arena_strdup(arena, r->reason);
	s->hint[i] = arena_strdup(arena, r->hint);
	s->result[i] = *r;
	if (getenv("T_VERBOSE"))
		print_message(
			"%s %s: %s; %s\n", node->name, result_name(r->state), r->reason, r->hint);
	maybe_stop(s);
}

static struct fleet_opts opts(enum order_mode mode, struct seen *seen)
{
	*seen = (struct seen){0};
	return (struct fleet_opts){
		.mode = mode,
		.recipes = mode == ORDER_FACTS ? NULL : recipes,
		.n_recipes = mode == ORDER_FACTS ? 0 : n_recipes,
		.nodes_text = "test",
		.by = "tester",
		.connect_timeout = 120 * CLOCK_SEC, /* a busy machine is no trouble of a node */
		.patience = 300 * CLOCK_SEC,
		.ctx = seen,
		.event = on_event,
		.done = on_done,
	};
}

/* Runs over nodes from..to. */
static void run(const struct fleet_opts *o, unsigned from, unsigned to, struct fleet_outcome *out)
{
	struct node_refs refs = VEC_INIT;
	struct err err = {0};
	int rc;

	for (unsigned i = from; i <= to; i++)
		*vec_push(&refs) = &rows.at[i - 1];
	rc = fleet_run(store, &keys, &refs, o, out, &err);
	if (rc < 0)
		print_error("%s\n", err.msg);
	assert_int_equal(rc, 0);
	vec_done(&refs);
}

TEST(applies_to_all)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;
	struct run_row row;
	struct node_results results = VEC_INIT;
	struct event_rows events = VEC_INIT;
	struct err err = {0};

	for (unsigned i = 1; i <= 6; i++)
		behave(i, i == 6 ? "failed" : i == 5 ? "need" : i == 4 ? "noise" : "changed");
	run(&o, 1, 6, &out);
	assert_int_equal(out.nodes.n[RESULT_CHANGED], 5);
	assert_int_equal(out.nodes.n[RESULT_FAILED], 1);
	assert_int_equal(out.unreachable, 0);
	assert_int_equal(seen.done, 6);
	assert_int_equal(seen.events, 18);
	assert_string_equal(seen.reason[6], "a step failed");
	assert_string_equal(seen.hint[6], "look at the step");
	assert_true(seen.result[1].agent_pass == 750000 && seen.result[1].agent_process == 3000000);
	assert_int_equal(store_run_find(store, arena, out.id, &row, &err), 0);
	assert_string_equal(row.state, "failed");
	assert_string_equal(row.recipes, "alpha");
	assert_string_equal(row.mode, "apply");
	assert_string_equal(row.plan_hash, out.plan_hash);
	assert_int_equal(store_results(store, arena, out.id, &results, &err), 0);
	assert_int_equal(results.n, 6);
	assert_int_equal(results.at[0].counts.n[RESULT_OK], 2);
	/* start and intent are not kept */
	assert_int_equal(store_events(store, arena, out.id, 0, &events, &err), 0);
	assert_int_equal(events.n, 6);
	vec_each(&events, struct event_row, e)
		json_decref(e->record);
	vec_done(&events);
	vec_done(&results);
	no_lease_is_left();
	/* the order says what recipes may ask, and the bundle came whole */
	assert_non_null(strstr(left_by(1, ".order"), "\"colour\":\"red\""));
	assert_non_null(strstr(left_by(1, ".order"), "\"port\":9100"));
	assert_non_null(strstr(left_by(1, ".order"), "\"role\":\"gpu\""));
	assert_true(strtoul(left_by(5, ".bundle"), NULL, 10) > 50);
}

static const struct {
	const char *mode;
	enum order_mode order;
	enum step_result state;
	unsigned sessions;
	const char *reason, *hint;
} TROUBLES[] = {
	{"shell", ORDER_APPLY, RESULT_FAILED, 1, "Welcome to node 7", "agent install"},
	{"none", ORDER_APPLY, RESULT_FAILED, 1, "not installed", "agent install n"},
	{"flood", ORDER_APPLY, RESULT_FAILED, 1, "not our agent", "start-up"},
	{"early", ORDER_APPLY, RESULT_FAILED, 1, "'final' where it cannot stand",
		"agent install n"},
	{"oversize", ORDER_APPLY, RESULT_FAILED, 1, "a frame of", "agent install n"},
	{"proto", ORDER_APPLY, RESULT_FAILED, 1, "protocol 99", "agent install n"},
	{"refuse", ORDER_APPLY, RESULT_DENIED, 1, "not for me", "do this"},
	{"full", ORDER_APPLY, RESULT_FAILED, 1, "not for me", "make room on 'n"},
	{"refuse-early", ORDER_APPLY, RESULT_FAILED, 1, "not for me", "do this"},
	{"busy", ORDER_APPLY, RESULT_DENIED, 1, "run foreign-1 by someone holds 'n", "watch"},
	{"torn", ORDER_APPLY, RESULT_UNKNOWN, 3, "without an answer", "run attach"},
	{"liar", ORDER_APPLY, RESULT_UNKNOWN, 3, "said 'changed' and then failed", "run attach"},
	{"killed", ORDER_APPLY, RESULT_UNKNOWN, 3, "killed by signal KILL", "run attach"},
	{"badfinal", ORDER_APPLY, RESULT_UNKNOWN, 3, "another-run", "run attach"},
	{"seqless", ORDER_APPLY, RESULT_UNKNOWN, 3, "without its number", "run attach"},
	{"nested", ORDER_APPLY, RESULT_UNKNOWN, 3, "that is no record", "run attach"},
	{"liar-once", ORDER_APPLY, RESULT_CHANGED, 2, "", ""},
	{"lost-once", ORDER_APPLY, RESULT_CHANGED, 2, "", ""},
	{"torn-once", ORDER_APPLY, RESULT_CHANGED, 2, "", ""},
	{"absent", ORDER_APPLY, RESULT_CHANGED, 3, "", ""},
	{"torn", ORDER_PLAN, RESULT_FAILED, 3, "without an answer", ""},
	{"lost-once", ORDER_PLAN, RESULT_CHANGED, 2, "", ""},
	{"facts-twice", ORDER_FACTS, RESULT_FAILED, 3, "facts that are none", ""},
};
#define TROUBLES_N (sizeof TROUBLES / sizeof *TROUBLES)

static void check_trouble(size_t i, unsigned node, const struct seen *seen)
{
	if (seen->state[node] != TROUBLES[i].state ||
		!strstr(seen->reason[node], TROUBLES[i].reason))
		print_error("%s: %s: %s\n", TROUBLES[i].mode, result_name(seen->state[node]),
			seen->reason[node]);
	assert_int_equal(seen->state[node], TROUBLES[i].state);
	assert_non_null(strstr(seen->reason[node], TROUBLES[i].reason));
	assert_non_null(strstr(seen->hint[node], TROUBLES[i].hint));
	assert_int_equal(strtoul(left_by(node, ".count"), NULL, 10), TROUBLES[i].sessions);
}

/* All at once, as in life: the others' troubles are nobody's business. */
static void run_troubles(size_t from, size_t n)
{
	struct seen seen;
	const struct fleet_opts o = opts(TROUBLES[from].order, &seen);
	struct fleet_outcome out;

	for (size_t i = 0; i < n; i++)
		behave((unsigned)i + 1, TROUBLES[from + i].mode);
	run(&o, 1, (unsigned)n, &out);
	assert_int_equal(seen.done, n);
	for (size_t i = 0; i < n; i++)
		check_trouble(from + i, (unsigned)i + 1, &seen);
	no_lease_is_left();
}

TEST(troubles_have_cause_and_hint)
{
	set_up();
	run_troubles(0, 10);
	run_troubles(10, 10);
	run_troubles(20, 2);
	run_troubles(22, 1);
}

TEST(attach_asks_only_for_the_rest)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;

	behave(1, "lost-once");
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_non_null(strstr(left_by(1, ".order"), "\"mode\":\"attach\""));
	assert_non_null(strstr(left_by(1, ".order"), "\"after\":1"));
	assert_int_equal(seen.events, 3); /* 1, then 2 and 3 */
}

TEST(an_earlier_run_of_ours_is_followed_first)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome first, out;
	struct node_results results = VEC_INIT;
	struct err err = {0};

	behave(1, "killed");
	run(&o, 1, 1, &first);
	assert_int_equal(seen.state[1], RESULT_UNKNOWN);
	behave(1, arena_printf(arena, "busy-ours %s", first.id));
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 2);
	/* and the earlier run has its result now */
	assert_int_equal(store_results(store, arena, first.id, &results, &err), 0);
	assert_int_equal(results.n, 1);
	assert_int_equal(results.at[0].state, RESULT_CHANGED);
	vec_done(&results);
}

/* A node that says it is still at work on what is long over. */
TEST(a_known_result_is_not_rewritten)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome first, out;
	struct node_results results = VEC_INIT;
	struct err err = {0};

	behave(1, "failed");
	run(&o, 1, 1, &first);
	assert_int_equal(seen.state[1], RESULT_FAILED);
	behave(1, arena_printf(arena, "busy-ours %s", first.id));
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_DENIED);
	behave(2, arena_printf(arena, "busy-ours %s", first.id)); /* was not even in it */
	run(&o, 2, 2, &out);
	assert_int_equal(seen.state[2], RESULT_DENIED);
	assert_int_equal(store_results(store, arena, first.id, &results, &err), 0);
	assert_int_equal(results.n, 1);
	assert_int_equal(results.at[0].state, RESULT_FAILED);
	vec_done(&results);
}

TEST(endless_and_long_answers_are_cut)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;
	struct node_rows now = VEC_INIT;
	struct err err = {0};

	behave(1, "endless");
	behave(2, "chatty");
	run(&o, 1, 2, &out);
	assert_int_equal(seen.state[1], RESULT_UNKNOWN);
	assert_non_null(strstr(seen.reason[1], "32 MiB"));
	assert_true(seen.events < 100);
	assert_int_equal(seen.state[2], RESULT_CHANGED);
	assert_int_equal(strlen(seen.reason[2]), 4095); /* one byte, then pairs */
	assert_int_equal(seen.result[2].agent_pass, 0);
	assert_int_equal(seen.result[2].agent_process, 0);
	assert_int_equal(store_nodes(store, arena, &now, &err), 0);
	assert_int_equal(strlen(now.at[1].agent), 63);
	vec_done(&now);
}

TEST(an_agent_that_answers_and_stays_is_left)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;

	o.patience = 3 * CLOCK_SEC;
	behave(1, "stay");
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_UNKNOWN);
}

TEST(unreachable_and_unpinned_nodes)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct node_row odd[4];
	struct node_refs refs = VEC_INIT;
	struct fleet_outcome out;
	struct err err = {0};

	behave(5, "changed");
	for (unsigned i = 0; i < 4; i++)
		odd[i] = rows.at[i];
	odd[0].port = t_free_port();
	odd[1].host_key = NULL;
	odd[2].address = "";
	odd[3].host_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL2lLaJ";
	for (unsigned i = 0; i < 4; i++)
		*vec_push(&refs) = &odd[i];
	*vec_push(&refs) = &rows.at[4];
	assert_int_equal(fleet_run(store, &keys, &refs, &o, &out, &err), 0);
	vec_done(&refs);
	assert_int_equal(seen.state[1], RESULT_FAILED);
	assert_int_equal(out.unreachable, 1);
	assert_int_equal(seen.state[2], RESULT_DENIED);
	assert_non_null(strstr(seen.hint[2], "--known-hosts"));
	assert_int_equal(seen.state[3], RESULT_FAILED);
	assert_non_null(strstr(seen.reason[3], "no address"));
	assert_int_equal(seen.state[4], RESULT_DENIED);
	assert_non_null(strstr(seen.reason[4], "host key"));
	assert_int_equal(seen.state[5], RESULT_CHANGED);
}

TEST(a_held_node_is_denied)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;
	struct lease holder;
	struct err err = {0};

	behave(1, "changed");
	behave(2, "changed");
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_lease_take(store, arena, rows.at[0].id, "other-run",
				 "somebody@elsewhere pid 1 start 1 boot b", 600, &holder, &err),
		0);
	assert_int_equal(store_commit(store, &err), 0);
	run(&o, 1, 2, &out);
	assert_int_equal(seen.state[1], RESULT_DENIED);
	assert_non_null(strstr(seen.reason[1], "run other-run by somebody@elsewhere"));
	assert_non_null(strstr(seen.reason[1], "holds"));
	assert_int_equal(seen.state[2], RESULT_CHANGED);
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_lease_drop_run(store, "other-run", &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
}

TEST(facts_are_stored)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_FACTS, &seen));
	struct fleet_outcome out;
	struct node_rows now = VEC_INIT;
	AUTO_JSON facts = NULL;
	struct err err = {0};

	behave(1, "ok");
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_OK);
	assert_int_equal(store_get_facts(store, rows.at[0].id, &facts, &err), 0);
	assert_string_equal(json_get_str(json_get(facts, "os"), "id", ""), "debian");
	assert_int_equal(store_nodes(store, arena, &now, &err), 0);
	assert_string_equal(now.at[0].os, "debian 12");
	assert_string_equal(now.at[0].agent, "9.9.9");
	assert_string_equal(now.at[0].boot_id, "boot-1");
	vec_done(&now);
}

TEST(applies_only_the_plan_that_was_shown)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_PLAN, &seen));
	struct node_refs refs = VEC_INIT;
	struct fleet_outcome plan, out;
	struct err err = {0};
	char prefix[13];

	behave(1, "changed");
	behave(2, "changed");
	run(&o, 1, 2, &plan);
	o = opts(ORDER_APPLY, &seen);
	snprintf(prefix, sizeof prefix, "%.12s", plan.plan_hash);
	o.plan_hash = prefix;
	behave(2, "otherwise");
	/* n3 was not in the plan, and n2 would do something else now: nothing is done there */
	run(&o, 1, 3, &out);
	assert_int_equal(seen.done, 3);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_non_null(strstr(left_by(1, ".order"), "\"expect\":\"" PLAN_HASH "\""));
	assert_int_equal(seen.state[2], RESULT_DENIED);
	assert_int_equal(seen.state[3], RESULT_DENIED);
	assert_non_null(strstr(seen.reason[3], "no answer of 'n3'"));
	*vec_push(&refs) = &rows.at[0];
	o = opts(ORDER_APPLY, &seen);
	o.plan_hash = "0123456789ab";
	assert_int_equal(fleet_run(store, &keys, &refs, &o, &out, &err), -E_STATE);
	assert_int_equal(seen.done, 0);
	o.plan_hash = "01";
	assert_int_equal(fleet_run(store, &keys, &refs, &o, &out, &err), -E_SYNTAX);
	no_lease_is_left();
	vec_done(&refs);
}

/* The link of an agent at work that says nothing is given up, and the run is followed anew. */
TEST(silence_is_a_lost_link)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;

	behave(1, "silent-once");
	behave(2, "silent");
	behave(3, "alive");
	o.silence = CLOCK_SEC;
	run(&o, 1, 3, &out);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 2);
	assert_non_null(strstr(left_by(1, ".order"), "\"mode\":\"attach\""));
	assert_non_null(strstr(left_by(1, ".order"), "\"after\":1"));
	assert_int_equal(seen.state[2], RESULT_UNKNOWN);
	assert_non_null(strstr(seen.reason[2], "is silent"));
	/* three seconds of nothing but 'alive' */
	assert_int_equal(seen.state[3], RESULT_CHANGED);
	assert_int_equal(strtoul(left_by(3, ".count"), NULL, 10), 1);
}

/* It greets once more under the old boot id, then under a new one. */
TEST(waits_for_a_node_that_restarts)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;

	behave(1, "reboot");
	behave(2, "down");
	o.reboot_wait = 4 * CLOCK_SEC;
	run(&o, 1, 2, &out);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_int_equal(strtoul(left_by(1, ".count"), NULL, 10), 3);
	assert_non_null(strstr(left_by(1, ".order"), "\"mode\":\"attach\""));
	assert_int_equal(seen.state[2], RESULT_UNKNOWN);
	assert_non_null(strstr(seen.reason[2], "did not come back from its restart within 4"));
	assert_non_null(strstr(seen.hint[2], "run attach"));
}

TEST(refuses_another_node_at_the_address)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;

	behave(1, "stranger");
	(void)unlink(path_of(arena_printf(arena, "fake/%u.order", ports[0])));
	run(&o, 1, 1, &out);
	assert_int_equal(seen.state[1], RESULT_DENIED);
	assert_non_null(strstr(seen.reason[1], "is that of 'somebody-else'"));
	assert_int_equal(access(path_of(arena_printf(arena, "fake/%u.order", ports[0])), F_OK), -1);
}

TEST(goes_on_with_a_run)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome first, out;
	struct run_row row;
	struct err err = {0};
	struct node_results results = VEC_INIT;

	behave(1, "torn");
	behave(2, "changed");
	run(&o, 1, 2, &first);
	assert_int_equal(seen.state[1], RESULT_UNKNOWN);
	o = opts(ORDER_RESUME, &seen);
	o.id = first.id;
	o.n_recipes = 0;
	behave(1, "changed");
	run(&o, 1, 1, &out);
	assert_string_equal(out.id, first.id);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_non_null(strstr(left_by(1, ".order"), "\"mode\":\"resume\""));
	assert_non_null(strstr(left_by(1, ".order"), first.id));
	assert_int_equal(store_run_find(store, arena, first.id, &row, &err), 0);
	assert_string_equal(row.state, "done");
	assert_int_equal(row.n_nodes, 2);
	assert_int_equal(store_results(store, arena, first.id, &results, &err), 0);
	assert_int_equal(results.n, 2);
	vec_done(&results);

	o = opts(ORDER_ATTACH, &seen);
	o.id = first.id;
	o.n_recipes = 0;
	run(&o, 2, 2, &out);
	assert_int_equal(seen.state[2], RESULT_CHANGED);
	assert_non_null(strstr(left_by(2, ".order"), "\"mode\":\"attach\""));
	no_lease_is_left();
}

TEST(asks_what_an_undo_would_do)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_UNDO, &seen));
	struct fleet_outcome out;

	behave(1, "changed");
	o.preview = true;
	run(&o, 1, 1, &out);
	assert_non_null(strstr(left_by(1, ".order"), "\"mode\":\"undo\""));
	assert_non_null(strstr(left_by(1, ".order"), "\"expect\":\"plan\""));
	o.preview = false;
	run(&o, 1, 1, &out);
	assert_null(strstr(left_by(1, ".order"), "expect"));
}

/* While the signing key is replaced, each node is answered with the key it obeys. */
TEST(signs_with_the_key_that_a_node_obeys)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;
	char text[SIGN_TEXT_MAX];
	struct err err = {0};

	assert_int_equal(sign_key_make(&keys.next, &err), 0);
	sign_key_public_text(keys.next, text);
	t_write_file(path_of("fake/next.pub"), text, 0644);
	behave(1, "changed");
	behave(2, "next-key");
	run(&o, 1, 2, &out);
	assert_int_equal(seen.state[1], RESULT_CHANGED);
	assert_int_equal(seen.state[2], RESULT_CHANGED);
	sign_key_free(keys.next);
	keys.next = NULL;
}

/* The database fails in the middle of a run: that is what people read, and not that they stopped.
 */
TEST(a_broken_store_reads_as_such)
{
	struct seen seen;
	struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct node_refs refs = VEC_INIT;
	struct fleet_outcome out;
	struct err err = {0};
	struct rlimit old, none;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = (struct rlimit){0, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	behave(1, "slow");
	seen.full_at = 1;
	seen.full = none;
	*vec_push(&refs) = &rows.at[0];
	assert_true(fleet_run(store, &keys, &refs, &o, &out, &err) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(seen.state[1], RESULT_INTERRUPTED);
	assert_non_null(strstr(seen.reason[1], "can no longer be recorded"));
	assert_null(strstr(seen.reason[1], "stopped"));
	assert_non_null(strstr(seen.hint[1], "run attach"));
	assert_non_null(strstr(err.msg, "cannot be recorded"));
	vec_done(&refs);
	unsigned n;

	assert_int_equal(fleet_recover(store, &n, &err), 0);
}

TEST(a_stopped_controller_ends_in_order)
{
	struct seen seen;
	const struct fleet_opts o = (set_up(), opts(ORDER_APPLY, &seen));
	struct fleet_outcome out;
	struct run_row row;
	struct err err = {0};

	behave(1, "slow");
	behave(2, "changed");
	seen.stop_at = 1;
	run(&o, 1, 2, &out);
	assert_int_equal(seen.state[1], RESULT_INTERRUPTED);
	assert_non_null(strstr(seen.reason[1], "go on by itself"));
	assert_int_equal(seen.state[2], RESULT_CHANGED);
	assert_int_equal(store_run_find(store, arena, out.id, &row, &err), 0);
	assert_string_equal(row.state, "interrupted");
	no_lease_is_left();
}

TEST(a_killed_controller_is_cleaned_up_after)
{
	struct run_row row = {.id = "dead-run", .mode = "apply", .state = "running", .n_nodes = 1};
	struct lease holder;
	unsigned n = 0;
	struct err err = {0};

	set_up();
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_run_add(store, &row, &err), 0);
	/* its process seems to live, but nobody holds its lock */
	assert_int_equal(store_lease_take(store, arena, rows.at[0].id, "dead-run",
				 store_owner(arena), 600, &holder, &err),
		0);
	assert_int_equal(store_commit(store, &err), 0);
	assert_int_equal(fleet_recover(store, &n, &err), 0);
	assert_int_equal(n, 1);
	no_lease_is_left();
	assert_int_equal(store_run_find(store, arena, "dead-run", &row, &err), 0);
	assert_string_equal(row.state, "interrupted");
	assert_int_equal(fleet_recover(store, &n, &err), 0);
	assert_int_equal(n, 0);
}

TEST(z_clean_up)
{
	clean_up();
}

T_MAIN
