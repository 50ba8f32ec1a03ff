/*
 * A whole session over pipes: the agent in a child process, this test as the controller.
 *
 * Covers the greeting, every reason to refuse, the bundle (asked for, sent),
 * leaving the session, cancel, a lost link and attaching again.
 */
#include "agent/base/clock.h"
#include "agent/base/hash.h"
#include "agent/base/sign.h"
#include "agent/run/session.h"
#include "agent/wire/frame.h"
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#include <archive.h>
#include <archive_entry.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define NO_BUNDLE "0000000000000000000000000000000000000000000000000000000000000000"

struct peer {
	struct stage stage;
	struct sign_key *key, *other;
	char key_path[160], state_path[160], nonce[40];
	pid_t pid;
	int to, from; /* the agent's ends of the link */
	struct frame_reader reader;
	json_t *hello;
	/* the bundle */
	struct buf manifest, payload;
	char digest[HASH_HEX], sig[SIGN_TEXT_MAX];
};

static void write_key(struct peer *p)
{
	char text[SIGN_TEXT_MAX];

	sign_key_public_text(p->key, text);
	stage_write_at(p->stage.state, "key.pub", text);
}

static void peer_init(struct peer *p)
{
	struct err err;

	memset(p, 0, sizeof *p);
	stage_init(&p->stage);
	p->to = p->from = -1;
	snprintf(p->key_path, sizeof p->key_path, "%s/state/key.pub", p->stage.path);
	snprintf(p->state_path, sizeof p->state_path, "%s/state", p->stage.path);
	assert_int_equal(sign_key_make(&p->key, &err), 0);
	assert_int_equal(sign_key_make(&p->other, &err), 0);
	write_key(p);
	buf_init(&p->manifest, 1 << 20);
	buf_init(&p->payload, 1 << 20);
	stage_write(&p->stage, "etc/machine-id", "0123456789abcdef\n");
}

static json_t *receive(struct peer *p)
{
	const int64_t until = clock_mono() + 20 * CLOCK_SEC;
	char chunk[4096];
	struct frame f;
	struct err err;
	int rc;

	while ((rc = frame_reader_next(&p->reader, &f, &err)) == 0) {
		struct pollfd fd = {.fd = p->from, .events = POLLIN};
		ssize_t n;

		if (poll(&fd, 1, clock_left_ms(until)) <= 0)
			fail_msg("the agent says nothing");
		n = read(p->from, chunk, sizeof chunk);
		if (n <= 0)
			return NULL;
		frame_reader_feed(&p->reader, (struct str){chunk, (size_t)n});
	}
	if (rc < 0)
		fail_msg("%s", err.msg);

	json_t *m = NULL;
	const char *t;

	if (message_parse(f.payload, &m, &t, &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

/* Skips what comes before the first message of this type. */
static json_t *receive_type(struct peer *p, const char *t)
{
	char last[300] = "";
	json_t *m;

	while ((m = receive(p)) && strcmp(json_get_str(m, "t", ""), t) != 0) {
		snprintf(last, sizeof last, "%s %s", json_get_str(m, "t", ""),
			json_get_str(m, "message", json_get_str(m, "reason", "")));
		json_decref(m);
	}
	if (!m)
		fail_msg("the agent ended without '%s'; its last word was '%s'", t, last);
	return m;
}

static void start(struct peer *p)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	p->pid = fork();
	if (p->pid == 0) {
		const struct session_opts o = {.root = p->stage.root_path,
			.state = p->state_path,
			.key = p->key_path,
			.in = in[0],
			.out = out[1]};
		struct err err;
		int rc;

		close(in[1]);
		close(out[0]);
		rc = session_serve(&o, &err);
		_exit(rc < 0 ? 1 : 0);
	}
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = out[0];
	frame_reader_init(&p->reader, true);
}

static void hang_up(struct peer *p)
{
	close(p->to);
	close(p->from);
	p->to = p->from = -1;
	frame_reader_done(&p->reader);
	json_drop(&p->hello);
}

static int finish(struct peer *p)
{
	int status;

	hang_up(p);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void greet(struct peer *p)
{
	start(p);
	p->hello = receive_type(p, "hello");
	snprintf(p->nonce, sizeof p->nonce, "%s", json_get_str(p->hello, "nonce", ""));
}

static void peer_done(struct peer *p)
{
	sign_key_free(p->key);
	sign_key_free(p->other);
	buf_done(&p->manifest);
	buf_done(&p->payload);
	stage_done(&p->stage);
}

static void send_bytes(struct peer *p, struct str bytes)
{
	struct err err;

	if (fs_write_all(p->to, bytes, &err) < 0)
		fail_msg("%s", err.msg);
}

static void send_message(struct peer *p, json_t *m)
{
	struct buf out;

	buf_init(&out, 2 << 20);
	message_write(m, &out);
	assert_true(buf_ok(&out));
	send_bytes(p, buf_str(&out));
	buf_done(&out);
	json_decref(m);
}

static struct order plain_order(const struct peer *p, enum order_mode mode, struct order_recipe *r)
{
	*r = (struct order_recipe){"demo", NULL};
	return (struct order){.run = "run-1",
		.mode = mode,
		.node = "n1",
		.nonce = p->nonce,
		.bundle = p->digest[0] ? p->digest : NO_BUNDLE,
		.by = "tester",
		.issued = clock_wall() / CLOCK_SEC,
		.expires = clock_wall() / CLOCK_SEC + 60,
		.n_recipes = 1,
		.recipes = r};
}

static void send_order(struct peer *p, const struct order *o, const struct sign_key *key)
{
	char sig[SIGN_TEXT_MAX];
	json_t *m = message_new("order");
	struct buf body;
	struct err err;

	buf_init(&body, 1 << 20);
	order_format(o, &body);
	assert_int_equal(sign_make(key, buf_str(&body), sig, &err), 0);
	json_put_text(m, "body", buf_str(&body));
	json_put_str(m, "sig", sig);
	send_message(p, m);
	buf_done(&body);
}

static ssize_t pack_write(struct archive *a, void *ctx, const void *bytes, size_t n)
{
	(void)a;
	buf_add(ctx, bytes, n);
	return (ssize_t)n;
}

/* One file, demo/recipe.yaml, as a signed bundle. */
static void make_bundle(struct peer *p, const char *yaml)
{
	struct manifest_file f = {.path = "demo/recipe.yaml", .size = strlen(yaml), .mode = 0644};
	struct manifest m = {.name = "demo",
		.serial = 1,
		.created = clock_wall() / CLOCK_SEC,
		.expires = clock_wall() / CLOCK_SEC + 3600,
		.n_files = 1,
		.files = &f};
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	struct err err;

	hash_hex(str_of(yaml), f.sha256);
	buf_clear(&p->manifest);
	buf_clear(&p->payload);
	manifest_format(&m, &p->manifest);
	memcpy(p->digest, m.digest, HASH_HEX);
	assert_int_equal(sign_make(p->key, buf_str(&p->manifest), p->sig, &err), 0);
	archive_write_add_filter_zstd(a);
	archive_write_set_format_ustar(a);
	archive_write_set_bytes_in_last_block(a, 1);
	archive_write_open2(a, &p->payload, NULL, pack_write, NULL, NULL);
	archive_entry_set_pathname(e, f.path);
	archive_entry_set_size(e, (la_int64_t)f.size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_write_header(a, e);
	archive_write_data(a, yaml, f.size);
	archive_entry_free(e);
	archive_write_close(a);
	archive_write_free(a);
}

static void send_bundle(struct peer *p)
{
	json_t *m = message_new("bundle");
	struct str rest = buf_str(&p->payload);
	struct buf out;

	json_put_text(m, "manifest", buf_str(&p->manifest));
	json_put_str(m, "sig", p->sig);
	json_put_int(m, "size", (int64_t)rest.n);
	send_message(p, m);
	buf_init(&out, 2 << 20);
	while (rest.n > 0) {
		frame_write(&out, 'D', str_first(rest, 100));
		rest = str_from(rest, 100);
	}
	send_bytes(p, buf_str(&out));
	buf_done(&out);
}

/* A run of the bundle's recipe, bundle sent unasked as a fleet may; the final frame. */
static json_t *run_once(struct peer *p, enum order_mode mode, const char *run)
{
	struct order_recipe r;
	struct order o;

	greet(p);
	o = plain_order(p, mode, &r);
	o.run = run;
	send_order(p, &o, p->key);
	if (json_array_size(json_get(p->hello, "bundles")) == 0)
		send_bundle(p);
	return receive_type(p, "final");
}

TEST(session_hello_says_who)
{
	struct peer p;
	char host[256];

	peer_init(&p);
	greet(&p);
	gethostname(host, sizeof host);
	assert_int_equal(strlen(p.nonce), 32);
	assert_int_equal(json_get_int(p.hello, "proto", 0), WIRE_PROTO);
	assert_string_equal(json_get_str(p.hello, "machine_id", ""), "0123456789abcdef");
	assert_string_equal(json_get_str(p.hello, "hostname", ""), host);
	assert_true(json_is_array(json_get(p.hello, "bundles")));
	assert_null(json_get(p.hello, "busy"));
	assert_null(json_get(p.hello, "interrupted"));
	assert_int_equal(finish(&p), 1);
	peer_done(&p);
}

static void refused(struct peer *p, const char *code, const char *says)
{
	json_t *m = receive(p);

	if (!m || strcmp(json_get_str(m, "t", ""), "refused") != 0)
		fail_msg("not refused, expected '%s'", says);
	assert_string_equal(json_get_str(m, "code", ""), code);
	stage_says(json_get_str(m, "message", ""), says);
	json_decref(m);
	assert_int_equal(finish(p), 0);
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

static const char SLOW[] = "recipe: demo\nsteps:\n"
			   "  - file: {path: /a, content: a}\n"
			   "  - command: {shell: nap}\n    each: \"['1', '2', '3']\"\n"
			   "  - file: {path: /z, content: z}\n";

static bool wait_for_file(const struct peer *p, const char *name)
{
	for (int i = 0; i < 200 && !stage_has(p->stage.root, name); i++)
		clock_sleep(50 * CLOCK_MS);
	return stage_has(p->stage.root, name);
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
