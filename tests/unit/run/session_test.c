/*
 * A whole session over pipes: the agent in a child process, this test as the controller.
 *
 * Covers the greeting, every reason to refuse, the bundle (asked for, sent),
 * leaving the session, cancel, a lost link and attaching again.
 */
#include "tests/unit/run/peer.h"

TEST(session_hello_says_who)
{
	struct peer p;
	char host[256];

	peer_init(&p);
	greet(&p);
	gethostname(host, sizeof host);
	assert_int_equal(strlen(p.nonce), 32);
	assert_int_equal(json_get_int(p.hello, "proto", 0), WIRE_PROTO);
	assert_int_equal(strlen(json_get_str(p.hello, "boot_id", "")), 36);
	assert_string_equal(json_get_str(p.hello, "machine_id", ""), "0123456789abcdef");
	assert_string_equal(json_get_str(p.hello, "hostname", ""), host);
	assert_true(json_is_array(json_get(p.hello, "bundles")));
	assert_null(json_get(p.hello, "busy"));
	assert_null(json_get(p.hello, "interrupted"));
	assert_int_equal(finish(&p), 1);
	peer_done(&p);
}

TEST(session_refuses_orders)
{
	struct peer p;
	struct order_recipe r;
	struct order o;

	peer_init(&p);
	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	send_order(&p, &o, p.other);
	refused(&p, ec_name(E_VERIFY), "order");

	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	o.nonce = "00112233445566778899aabbccddeeff";
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_VERIFY), "another session's greeting");

	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	o.issued -= 120;
	o.expires -= 120;
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_VERIFY), "expired");

	stage_write_at(p.stage.state, "name", "n2\n");
	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_VERIFY), "is for node 'n1', this one is 'n2'");

	greet(&p);
	o = plain_order(&p, ORDER_ATTACH, &r);
	o.node = "n2";
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_NOTFOUND), "no run 'run-1'");
	peer_done(&p);
}

TEST(session_refuses_without_a_key)
{
	struct peer p;

	peer_init(&p);
	assert_int_equal(unlinkat(p.stage.state, "key.pub", 0), 0);
	start(&p);
	refused(&p, ec_name(E_NOTFOUND), "key.pub");
	peer_done(&p);
}

TEST(session_ends_on_garbage)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {{"\0\0\0\0", 4}, {"\xff\xff\xff\xffJ", 5}, {"\0\0\0\5J{}  ", 9},
		{"\0\0\0\3Dxx", 7}, {"\0\0\0\16J{\"t\":\"hello\"}", 18},
		{"GET / HTTP/1.1\r\n\r\n", 18}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct peer p;

		peer_init(&p);
		greet(&p);
		send_bytes(&p, (struct str){cases[i].bytes, cases[i].n});
		assert_null(receive(&p));
		assert_int_equal(finish(&p), 1);
		peer_done(&p);
	}
}

TEST(session_facts)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	send_order(&p, &o, p.key);
	m = receive(&p);
	assert_string_equal(json_get_str(m, "t", ""), "facts");
	assert_string_equal(json_get_str(json_get(json_get(m, "facts"), "os"), "id", ""), "debian");
	json_decref(m);
	m = receive(&p);
	assert_string_equal(json_get_str(m, "t", ""), "final");
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	assert_true(json_get_int(m, "process_us", 0) > 0);
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

/* No recipes, no lock; what holds a secret of the order is hidden. */
TEST(session_evidence)
{
	static const char *names[] = {"pw"};
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;
	bool log = false, index = false;

	peer_init(&p);
	stage_write(&p.stage, "var/log/dpkg.log", "upgrade x with hunter22 in it\n");
	greet(&p);
	o = plain_order(&p, ORDER_EVIDENCE, &r);
	o.n_recipes = 0;
	o.bundle = NULL;
	o.n_secrets = 1;
	o.secrets = names;
	send_order(&p, &o, p.key);
	send_secrets(&p, "pw", "hunter22");
	while ((m = receive(&p)) && strcmp(json_get_str(m, "t", ""), "final") != 0) {
		const char *name = json_get_str(m, "name", "");

		if (strcmp(json_get_str(m, "t", ""), "evidence") != 0)
			fail_msg("%s", json_get_str(m, "message", ""));
		if (strcmp(name, "dpkg.log") == 0)
			assert_string_equal(
				json_get_str(m, "text", ""), "upgrade x with (secret) in it\n");
		log = log || strcmp(name, "dpkg.log") == 0;
		index = strcmp(name, "index.txt") == 0;
		json_decref(m);
	}
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	json_decref(m);
	assert_true(log);
	assert_true(index); /* it comes last */
	assert_int_equal(finish(&p), 0);
	assert_false(stage_has(p.stage.state, "lock"));
	peer_done(&p);
}

TEST(session_bundle_is_asked_for_once)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n");
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	send_order(&p, &o, p.key);
	m = receive(&p);
	assert_string_equal(json_get_str(m, "t", ""), "need");
	assert_string_equal(json_get_str(m, "bundle", ""), p.digest);
	json_decref(m);
	send_bundle(&p);
	m = receive_type(&p, "event");
	assert_string_equal(json_get_str(m, "ev", ""), "intent");
	json_decref(m);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	assert_int_equal(json_get_int(json_get(m, "counts"), "changed", 0), 1);
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_string_equal(stage_read(&p.stage, "a"), "a");

	m = run_once(&p, ORDER_PLAN, "run-2");
	assert_int_equal(json_array_size(json_get(p.hello, "bundles")), 1);
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

TEST(session_refuses_another_bundle)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps: []\n");
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	o.bundle = NO_BUNDLE;
	send_order(&p, &o, p.key);
	send_bundle(&p);
	m = receive_type(&p, "need");
	json_decref(m);
	refused(&p, ec_name(E_VERIFY), "not the one that the order names");
	peer_done(&p);
}

TEST(session_busy_tells_the_holder)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *h = json_object(), *other = NULL;
	struct err err;
	int fd;

	peer_init(&p);
	json_put_str(h, "run", "run-9");
	json_put_str(h, "by", "ops");
	json_put_int(h, "since", 12);
	assert_int_equal(journal_lock(p.stage.state, h, &fd, &other, &err), 0);
	json_decref(h);
	greet(&p);
	h = json_get(p.hello, "busy");
	assert_string_equal(json_get_str(h, "run", ""), "run-9");
	assert_string_equal(json_get_str(h, "controller", ""), "ops");
	o = plain_order(&p, ORDER_PLAN, &r);
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_BUSY), "run 'run-9' by 'ops' holds this node");
	close(fd);
	peer_done(&p);
}

TEST(session_goes_on_without_its_link_and_is_attached)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;
	int64_t seq;

	peer_init(&p);
	make_bundle(&p, SLOW);
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	send_order(&p, &o, p.key);
	send_bundle(&p);
	m = receive_type(&p, "event");
	seq = json_get_int(m, "seq", 0);
	json_decref(m);
	(void)finish(&p);

	/* Still at work: busy, and attaching follows it to its end. */
	greet(&p);
	assert_string_equal(json_get_str(json_get(p.hello, "busy"), "run", ""), "run-1");
	o = plain_order(&p, ORDER_ATTACH, &r);
	o.after = seq;
	send_order(&p, &o, p.key);
	m = receive_type(&p, "event");
	assert_int_equal(json_get_int(m, "seq", 0), seq + 1);
	json_decref(m);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	assert_int_equal(json_get_int(json_get(m, "counts"), "changed", 0), 5);
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_true(wait_for_file(&p, "z"));

	/* And afterwards the journal alone tells it. */
	greet(&p);
	o = plain_order(&p, ORDER_ATTACH, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

/* Steps whose events are more than a link holds that nobody reads. */
static void add_big_steps(struct buf *yaml)
{
	buf_add_text(yaml, "recipe: demo\nsteps:\n");
	for (int i = 0; i < 16; i++) {
		buf_addf(yaml, "  - file: {path: /big%d, content: \"", i);
		for (int k = 0; k < 4000; k++)
			buf_addf(yaml, "%d-%d\\n", i, k);
		buf_add_text(yaml, "\"}\n");
	}
	buf_add_text(yaml, "  - file: {path: /z, content: z}\n");
}

TEST(session_goes_on_when_nobody_reads)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	struct buf yaml;
	json_t *m;

	peer_init(&p);
	buf_init(&yaml, 1 << 20);
	add_big_steps(&yaml);
	assert_true(buf_ok(&yaml));
	make_bundle(&p, buf_text(&yaml));
	buf_done(&yaml);
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	send_order(&p, &o, p.key);
	send_bundle(&p);
	assert_true(wait_for_file(&p, "z"));
	hang_up(&p);
	assert_int_equal(waitpid(p.pid, NULL, 0), p.pid);
	m = run_once(&p, ORDER_ATTACH, "run-1");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	assert_int_equal(json_get_int(json_get(m, "counts"), "changed", 0), 17);
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

TEST(session_goes_on_when_its_relay_is_killed)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	make_bundle(&p, SLOW);
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	send_order(&p, &o, p.key);
	send_bundle(&p);
	m = receive_type(&p, "event");
	json_decref(m);
	kill(p.pid, SIGKILL);
	(void)finish(&p);
	assert_true(wait_for_file(&p, "z"));
	peer_done(&p);
}

TEST(session_cancel_stops_between_steps)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	make_bundle(&p, SLOW);
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	send_order(&p, &o, p.key);
	send_bundle(&p);
	m = receive_type(&p, "event");
	json_decref(m);
	send_message(&p, message_new("cancel"));
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	assert_string_equal(json_get_str(m, "reason", ""), "cancelled");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_false(stage_has(p.stage.root, "z"));
	peer_done(&p);
}

TEST(session_executor_that_dies_is_interrupted)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
			"  - command: {shell: kill}\n    name: deadly\n");
	m = run_once(&p, ORDER_APPLY, "run-1");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	greet(&p);
	assert_string_equal(json_get_str(json_get(p.hello, "interrupted"), "step", ""), "deadly");
	o = plain_order(&p, ORDER_ATTACH, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

T_MAIN
