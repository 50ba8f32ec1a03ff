/* look, notify - records of a node to a report; groups by role; datagrams to the manager. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/serve/look.h"
#include "controller/serve/notify.h"
#include "tests/unit/t.h"

#include <sys/socket.h>
#include <sys/un.h>

static const struct {
	const char *records; /* a JSON list */
	enum step_result result;
	const char *hash;
	bool reached;
	enum drift_state state;
	unsigned found;
} CASES[] = {
	{"[]", RESULT_OK, "ab", true, DRIFT_OK, 0},
	{"[]", RESULT_SKIPPED, "", true, DRIFT_OK, 0},
	{"[]", RESULT_FAILED, "", false, DRIFT_UNREACHABLE, 0},
	{"[]", RESULT_FAILED, "", true, DRIFT_FAILED, 0},
	{"[]", RESULT_DENIED, "", true, DRIFT_FAILED, 0},
	{"[]", RESULT_UNKNOWN, "", true, DRIFT_UNKNOWN, 0},
	{"[{\"ev\":\"recipe\",\"recipe\":\"a\",\"state\":\"skipped\"}]", RESULT_OK, "ab", true,
		DRIFT_OK, 0},
	{"[{\"ev\":\"step\",\"recipe\":\"a\",\"step\":2,\"name\":\"x\",\"state\":\"changed\"}]",
		RESULT_CHANGED, "ab", true, DRIFT_DRIFT, 1},
	/* a command without a guard is no drift, a handler follows what was told */
	{"[{\"ev\":\"step\",\"recipe\":\"a\",\"step\":2,\"state\":\"changed\",\"always\":true},"
	 "{\"ev\":\"handler\",\"recipe\":\"a\",\"handler\":\"h\",\"state\":\"changed\"}]",
		RESULT_CHANGED, "ab", true, DRIFT_OK, 0},
	{"[{\"ev\":\"check\",\"recipe\":\"a\",\"name\":\"answers\",\"state\":\"failed\",\"why\":\"'x' is "
	 "false\"}]",
		RESULT_FAILED, "ab", true, DRIFT_DRIFT, 1},
	{"[{\"ev\":\"step\",\"recipe\":\"a\",\"step\":1,\"state\":\"changed\"},"
	 "{\"ev\":\"step\",\"recipe\":\"a\",\"step\":2,\"state\":\"failed\"}]",
		RESULT_FAILED, "", true, DRIFT_FAILED, 2},
	{"[{\"ev\":\"step\",\"recipe\":\"a\",\"step\":2,\"state\":\"unknown\"}]", RESULT_UNKNOWN,
		"ab", true, DRIFT_UNKNOWN, 0},
};

TEST(records_become_a_report)
{
	const struct node_row node = {.id = 7, .name = "n1"};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const struct node_result r = {
			.state = CASES[i].result, .plan_hash = CASES[i].hash, .reason = "why"};
		AUTO_JSON list = NULL;
		json_t *record;
		struct look l;
		size_t k;

		assert_int_equal(json_parse(str_of(CASES[i].records), 4096, "r", &list, NULL), 0);
		look_begin(&l, a, &node);
		json_array_foreach(list, k, record) look_record(&l, record);
		look_end(&l, &r, CASES[i].reached);
		if (l.report.state != CASES[i].state)
			fail_msg("case %zu: %s", i, drift_state_name(l.report.state));
		assert_int_equal(l.report.n_found, CASES[i].found);
		assert_int_equal(l.report.node, 7);
		assert_true(l.report.at > 0);
	}
	arena_free(a);
}

TEST(findings_are_capped_and_diffs_cut_at_a_line)
{
	const struct node_row node = {.id = 7, .name = "n1"};
	struct arena *a = arena_new();
	AUTO_JSON record = json_object();
	AUTO_BUF diff = {0};
	struct look l;

	buf_init(&diff, 1 << 20);
	for (int i = 0; i < 1000; i++)
		buf_addf(&diff, "+line %d\n", i);
	json_put_str(record, "ev", "step");
	json_put_str(record, "state", "changed");
	json_put_text(record, "diff", buf_str(&diff));
	look_begin(&l, a, &node);
	for (int i = 0; i < DRIFT_FINDINGS_MAX + 3; i++)
		look_record(&l, record);
	assert_int_equal(l.report.n, DRIFT_FINDINGS_MAX);
	assert_int_equal(l.report.n_found, DRIFT_FINDINGS_MAX + 3);
	assert_true(strlen(l.report.findings[0].diff) <= 2000);
	assert_int_equal(l.report.findings[0].diff[strlen(l.report.findings[0].diff) - 1], '\n');
	arena_free(a);
}

TEST(nodes_are_grouped_by_their_recipes)
{
	static const struct node_row rows[] = {
		{.id = 1, .name = "a", .role = "gpu", .role_recipes = "base exp"},
		{.id = 2, .name = "b", .role = "", .role_recipes = ""},
		{.id = 3, .name = "c", .role = "web", .role_recipes = "base"},
		{.id = 4, .name = "d", .role = "gpu", .role_recipes = "base exp"},
	};
	struct arena *a = arena_new();
	struct role_groups groups = VEC_INIT;
	struct node_refs nodes = VEC_INIT, bare = VEC_INIT;
	struct err err;

	for (size_t i = 0; i < 4; i++)
		*vec_push(&nodes) = &rows[i];
	assert_int_equal(role_groups_make(a, &nodes, NULL, &groups, &bare, &err), 0);
	assert_int_equal(groups.n, 2);
	assert_int_equal(groups.at[0].nodes.n, 2);
	assert_int_equal(groups.at[0].n, 2);
	assert_string_equal(groups.at[0].names[1], "exp");
	assert_int_equal(bare.n, 1);
	role_groups_done(&groups);
	vec_done(&bare);

	assert_int_equal(role_groups_make(a, &nodes, "x,y", &groups, &bare, &err), 0);
	assert_int_equal(groups.n, 1);
	assert_int_equal(groups.at[0].nodes.n, 4);
	assert_string_equal(groups.at[0].names[1], "y");
	role_groups_done(&groups);

	nodes.n = 0;
	*vec_push(&nodes) = &rows[1];
	assert_int_equal(role_groups_make(a, &nodes, NULL, &groups, &bare, &err), -E_NOTFOUND);
	assert_string_equal(err.msg, "no recipe is meant for node 'b', which has no role");
	vec_done(&bare);
	vec_done(&nodes);
	arena_free(a);
}

TEST(the_manager_is_told)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char got[64] = "", pid[24];

	unsetenv("NOTIFY_SOCKET");
	assert_false(notify_send("READY=1"));
	snprintf(to.sun_path, sizeof to.sun_path, "%s/n", t_dir());
	assert_int_equal(bind(fd, (const struct sockaddr *)&to, sizeof to), 0);
	setenv("NOTIFY_SOCKET", to.sun_path, 1);
	assert_true(notify_send("READY=1"));
	assert_int_equal(recv(fd, got, sizeof got - 1, 0), 7);
	assert_string_equal(got, "READY=1");
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_false(notify_send("READY=1"));
	close(fd);

	assert_int_equal(notify_watchdog(), 0);
	setenv("WATCHDOG_USEC", "3000000", 1);
	assert_int_equal(notify_watchdog(), INT64_C(1500000000));
	snprintf(pid, sizeof pid, "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog(), INT64_C(1500000000));
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog(), 0);
}

T_MAIN
