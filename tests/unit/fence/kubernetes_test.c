/* kubernetes_test - what kubectl prints, read; cordon, evict and uncordon with real processes. */
#include "controller/fence/kubernetes.h"
#include "tests/unit/fence/play.h"

#include <string.h>

#define READY "\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}"
#define NODE(name, notes, labels, spec)                                                      \
	"{\"kind\": \"Node\", \"metadata\": {\"name\": \"" name                              \
	"\", \"resourceVersion\": \"7\", \"annotations\": {" notes "}, \"labels\": {" labels \
	"}}, \"spec\": {" spec "}, " READY "}\n"
#define POD(name, node, labels, owner)                                           \
	"{\"metadata\": {\"name\": \"" name "\", \"labels\": {" labels           \
	"}, \"ownerReferences\": [" owner "]}, \"spec\": {\"nodeName\": \"" node \
	"\"}, \"status\": {\"phase\": \"Running\"}}"
#define PODS(list) "{\"items\": [" list "]}\n"

static void set_up(void)
{
	play_clean();
	play_write("node.n1.json",
		NODE("n1", "\"a\": \"b\"", "",
			"\"taints\": [{\"key\": \"gpu\", \"effect\": \"NoSchedule\"}]"));
	play_write("node.n2.json", NODE("n2", "", "", ""));
	play_write("node.n3.json", NODE("n3", "", "", ""));
	play_write("pods.json", PODS(""));
}

TEST(recorded_nodes_and_pods_are_read)
{
	AUTO_BUF nodes;
	AUTO_BUF pods;
	struct err err = {0};
	buf_init(&nodes, 1u << 20);
	buf_init(&pods, 1u << 20);
	play_clean();
	play_data("nodes.json", &nodes);
	play_data("pods.json", &pods);
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	if (fence_read_kubernetes(f, buf_str(&nodes), buf_str(&pods), 5, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(fence_look(f, 0)->state, FENCE_OPEN);
	assert_int_equal(fence_look(f, 1)->state, FENCE_CLOSED);
	assert_true(fence_is_foreign(fence_look(f, 1)));
	assert_string_equal(fence_look(f, 1)->reason, "cordoned");
	assert_int_equal(fence_look(f, 2)->state, FENCE_DOWN);
	assert_true(fence_look(f, 2)->ours);
	assert_string_equal(fence_look(f, 2)->reason, "stoika:R1 driver 595");
	assert_int_equal(fence_look(f, 2)->jobs, 1);
	json_t *memory = fence_memory(f, 1);
	assert_true(json_get_bool(json_get(memory, "said"), "unschedulable", false));
	json_decref(memory);
	fence_free(f);
}

TEST(what_cannot_be_read_changes_nothing)
{
	static const char *const all[] = {"{", "{\"items\": [{}]}", "[1]", "\"x\"",
		"{\"items\": [" NODE("n1", "", "", "") ", {\"metadata\": 3}]}"};
	play_clean();
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct err err = {0};
		assert_int_not_equal(
			fence_read_kubernetes(f, str_of(all[i]), STR_LIT(""), 1, &err), 0);
		assert_true(err.msg[0]);
		assert_int_equal(fence_look(f, 0)->state, FENCE_UNASKED);
	}
	fence_free(f);
}

TEST(closes_counts_pods_and_opens_as_it_was)
{
	set_up();
	play_write(
		"pods.json", PODS(POD("job", "n1", "", "") ", " POD("proxy", "n1", "",
				     "{\"kind\": \"DaemonSet\"}") ", " POD("other", "n2", "", "")));
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	fence_want(f, 0, WANT_CLOSED, "driver \"595\"");
	PLAY_UNTIL(f, fence_look(f, 0)->jobs == 1);
	assert_int_equal(fence_look(f, 0)->state, FENCE_CLOSING);
	assert_true(play_file_has("node.n1.json", "\"stoika/fence\": \"R1\""));
	assert_true(play_file_has("node.n1.json", "\"stoika/fence-why\": \"driver '595'\""));
	assert_true(play_file_has("node.n1.json", "\"unschedulable\": true"));
	assert_true(play_file_has("node.n1.json", "\"key\": \"gpu\""));
	assert_true(play_file_has("node.n1.json", "\"key\": \"stoika/fence\""));
	play_write("pods.json", PODS(""));
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	assert_int_equal(play_calls("patch node n1"), 1);
	fence_want(f, 0, WANT_CLOSED, "quarantined");
	PLAY_UNTIL(f, strstr(fence_look(f, 0)->reason, "quarantined"));
	fence_want(f, 0, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	assert_false(play_file_has("node.n1.json", "stoika"));
	assert_false(play_file_has("node.n1.json", "unschedulable"));
	assert_true(play_file_has("node.n1.json", "\"key\": \"gpu\""));
	assert_true(play_file_has("node.n1.json", "\"a\": \"b\""));
	assert_int_equal(play_calls("patch node n1"), 3);
	fence_free(f);
}

TEST(pods_are_evicted_and_a_budget_that_refuses_is_told)
{
	set_up();
	play_write("pods.json",
		PODS(POD("job", "n1", "", "") ", " POD("web-0", "n2", "\"guarded\": \"yes\"", "")));
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	fence_want(f, 1, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_look(f, 0)->jobs == 1 && fence_look(f, 1)->jobs == 1);
	fence_move_jobs(f, 0, FENCE_REQUEUE);
	fence_move_jobs(f, 1, FENCE_CANCEL);
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_look(f, 1)->trouble[0]);
	assert_int_equal(play_calls("drain n1 --ignore-daemonsets --timeout=2s\n"), 1);
	assert_int_equal(play_calls("drain n2 --ignore-daemonsets --timeout=2s "
				    "--delete-emptydir-data --force\n"),
		1);
	assert_string_equal(fence_look(f, 1)->trouble,
		"pod 'web-0' of 'shop' may not be evicted, a disruption budget allows none now");
	play_write("pdb.json",
		"{\"items\": [{\"metadata\": {\"name\": \"web-pdb\"}, \"status\": "
		"{\"disruptionsAllowed\": 0, \"currentHealthy\": 1, \"desiredHealthy\": 1}}, "
		"{\"metadata\": {\"name\": \"free\"}, \"status\": {\"disruptionsAllowed\": 2}}]}\n");
	PLAY_UNTIL(f, strstr(fence_look(f, 1)->trouble, "web-pdb"));
	assert_string_equal(fence_look(f, 1)->trouble,
		"pod 'web-0' of 'shop' may not be evicted, a disruption budget allows none now: "
		"web-pdb (1 healthy, 1 needed)");
	assert_null(fence_silent(f));
	fence_free(f);
}

/* What kubectl 1.20 and 1.32 say of pods that they do not evict. */
TEST(pods_that_stay_are_told)
{
	static const char *const all[][2] = {
		{"drain-n1-1.20.txt",
			"pod 'web-0' of 'shop' may not be evicted, a disruption budget allows none "
			"now"},
		{"drain-n1-1.32.txt",
			"pod 'web-0' of 'shop' may not be evicted, a disruption budget allows none "
			"now"},
		{"drain-n2-1.20.txt",
			"nothing is evicted while there are Pods not managed by "
			"ReplicationController, ReplicaSet, Job, DaemonSet or StatefulSet: "
			"shop/bare-1; the policy's 'jobs: cancel' ends them as well"},
		{"drain-n2-1.32.txt",
			"nothing is evicted while there are Pods that declare no controller: "
			"shop/bare-1; the policy's 'jobs: cancel' ends them as well"},
		{"drain-n3-1.20.txt",
			"nothing is evicted while there are Pods with local storage: shop/tmp-1; "
			"the policy's 'jobs: cancel' ends them as well"},
		{"drain-n3-1.32.txt",
			"nothing is evicted while there are Pods with local storage: shop/tmp-1; "
			"the policy's 'jobs: cancel' ends them as well"},
	};
	play_clean();
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		AUTO_BUF text;
		AUTO_BUF words;
		buf_init(&text, 1u << 16);
		buf_init(&words, 1u << 10);
		play_data(all[i][0], &text);
		f->act = ACT_MOVE;
		assert_true(FENCE_KUBERNETES_OPS.explain(f, &f->nodes[0], buf_str(&text), &words));
		assert_string_equal(buf_text(&words), all[i][1]);
	}
	f->act = ACT_NONE;
	fence_free(f);
}

/* Somebody lifted the cordon and left our taint: it is still closed, and opened whole. */
TEST(a_taint_alone_is_ours_too)
{
	set_up();
	play_write("node.n1.json", NODE("n1", "\"stoika/fence\": \"R1\"", "",
					   "\"taints\": [{\"key\": \"stoika/fence\"}]"));
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	fence_want(f, 0, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
	assert_false(play_file_has("node.n1.json", "stoika"));
	fence_free(f);
}

TEST(cordoned_nodes_stay_as_they_are)
{
	set_up();
	play_write("node.n1.json", NODE("n1", "", "", "\"unschedulable\": true"));
	play_write("node.n2.json",
		NODE("n2", "\"stoika/fence\": \"R0\"", "", "\"unschedulable\": true"));
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	for (int i = 0; i < 2; i++)
		fence_want(f, (size_t)i, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_look(f, 1)->trouble[0]);
	assert_string_equal(fence_look(f, 0)->trouble, "somebody else holds it: cordoned");
	assert_string_equal(fence_look(f, 1)->trouble, "somebody else holds it: stoika:R0");
	for (int i = 0; i < 2; i++)
		fence_want(f, (size_t)i, WANT_OPEN, "");
	play_for(f, 300 * CLOCK_MS);
	assert_int_equal(play_calls("patch"), 0);
	fence_free(f);
}

TEST(a_driver_that_the_operator_owns_is_refused)
{
	set_up();
	play_write("node.n1.json",
		NODE("n1", "", "\"nvidia.com/gpu-driver-upgrade-state\": \"upgrade-done\"", ""));
	play_write("node.n2.json",
		NODE("n2", "",
			"\"nvidia.com/gpu-driver-upgrade-state\": \"upgrade-done\", "
			"\"nvidia.com/gpu.deploy.driver\": \"pre-installed\"",
			""));
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	fence_want(f, 0, WANT_CLOSED, "x");
	fence_want(f, 1, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 1)));
	assert_int_equal(play_calls("patch node n1"), 0);
	assert_string_equal(fence_look(f, 0)->trouble,
		"the GPU Operator owns the driver of this node "
		"(nvidia.com/gpu-driver-upgrade-state=upgrade-done): change it by the operator's "
		"ClusterPolicy, or turn its driver off");
	fence_free(f);
}

/* Both patch the same version: the second one is refused and sees whose it is. */
TEST(two_controllers_are_settled_by_the_version)
{
	set_up();
	struct fence *a = play_new(FENCE_KUBERNETES, "RA"), *b = play_new(FENCE_KUBERNETES, "RB");
	fence_want(a, 0, WANT_CLOSED, "x");
	fence_want(b, 0, WANT_CLOSED, "y");
	for (int64_t until = clock_mono() + 20 * CLOCK_SEC; clock_mono() < until;) {
		fence_tick(a, clock_mono());
		fence_tick(b, clock_mono());
		clock_sleep(5 * CLOCK_MS);
		if (fence_look(a, 0)->state == FENCE_CLOSED &&
			fence_look(b, 0)->state == FENCE_CLOSED)
			break;
	}
	assert_int_equal(fence_is_closed(fence_look(a, 0)) + fence_is_closed(fence_look(b, 0)), 1);
	assert_int_equal(
		fence_is_foreign(fence_look(a, 0)) + fence_is_foreign(fence_look(b, 0)), 1);
	fence_free(a);
	fence_free(b);
}

TEST(capitals_of_the_inventory_are_small_letters_there)
{
	static const char *const names[] = {"N1"};
	set_up();
	struct fence_opts o = {.kind = FENCE_KUBERNETES,
		.mark = "R1",
		.prefix = play_prefix,
		.kubeconfig = "/k.conf",
		.look_every = 100 * CLOCK_MS};
	struct fence *f = NULL;
	play_prefix[1] = t_dir();
	assert_int_equal(fence_new(&o, names, 1, &f, NULL), 0);
	fence_want(f, 0, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	assert_int_equal(play_calls("--kubeconfig=/k.conf --request-timeout=20s patch node n1"), 1);
	assert_false(fence_can_reboot(f));
	fence_free(f);
}

TEST(nodes_that_are_not_there_are_absent)
{
	set_up();
	char path[256];
	snprintf(path, sizeof path, "%s/node.n2.json", t_dir());
	unlink(path);
	struct fence *f = play_new(FENCE_KUBERNETES, "R1");
	fence_want(f, 1, WANT_CLOSED, "x");
	PLAY_UNTIL(f, fence_look(f, 1)->trouble[0]);
	assert_int_equal(fence_look(f, 1)->state, FENCE_ABSENT);
	assert_string_equal(fence_look(f, 1)->trouble, "Kubernetes knows no node 'n2'");
	fence_free(f);
}

T_MAIN
