/*
 * fake_agent - speaks the protocol of a node's agent, well or badly, as DIR/PORT says.
 *
 * fake_agent DIR: the port that sshd was reached at (SSH_CONNECTION) names the
 * file whose first word is the behaviour; the second may be a run's id. Sessions
 * are counted in DIR/PORT.count, the last order is left in DIR/PORT.order, the
 * last bundle's size in DIR/PORT.bundle.
 */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONCE "00112233445566778899aabbccddeeff"

static struct {
	char dir[200], port[16], mode[32], run[80];
	unsigned session; /* 1 the first time */
	struct frame_reader in;
	struct order order;
} fake;

static void say(struct str bytes)
{
	while (bytes.n > 0) {
		const ssize_t n = write(1, bytes.p, bytes.n);

		if (n <= 0)
			_exit(9);
		bytes = str_from(bytes, (size_t)n);
	}
}

static void send_message(json_t *m)
{
	AUTO_BUF out = {0};

	buf_init(&out, 4u << 20);
	message_write(m, &out);
	say(buf_str(&out));
	json_decref(m);
}

static bool is_mode(const char *mode)
{
	return strcmp(fake.mode, mode) == 0;
}

static char *path_of(const char *suffix)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s%s", fake.dir, fake.port, suffix);
	return path;
}

static void put(const char *suffix, const char *text)
{
	const int fd = open(path_of(suffix), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(8);
	close(fd);
}

static void get_file(const char *path, char *out, size_t room)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, out, room - 1);

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void get(const char *suffix, char *out, size_t room)
{
	get_file(path_of(suffix), out, room);
}

static void read_mode(const char *dir)
{
	const char *connection = getenv("SSH_CONNECTION");
	char text[200], count[20];

	snprintf(fake.dir, sizeof fake.dir, "%s", dir);
	snprintf(
		fake.port, sizeof fake.port, "%s", connection ? strrchr(connection, ' ') + 1 : "0");
	get("", text, sizeof text);
	sscanf(text, "%31s %79s", fake.mode, fake.run);
	get(".count", count, sizeof count);
	fake.session = (unsigned)strtoul(count, NULL, 10) + 1;
	snprintf(count, sizeof count, "%u", fake.session);
	put(".count", count);
}

/* 1 with a frame, 0 at the end. */
static int next_frame(struct frame *f)
{
	char chunk[65536];
	struct err err;
	int rc;

	while ((rc = frame_reader_next(&fake.in, f, &err)) == 0) {
		const ssize_t n = read(0, chunk, sizeof chunk);

		if (n <= 0)
			return 0;
		frame_reader_feed(&fake.in, (struct str){chunk, (size_t)n});
	}
	if (rc < 0)
		_exit(7);
	return 1;
}

/* text, or n bytes of what breaks a cut in the wrong place. */
static void put_long(json_t *m, const char *key, size_t n, const char *text)
{
	AUTO_BUF long_text = {0};

	buf_init(&long_text, 1u << 20);
	for (size_t i = 0; i < n / 2; i++)
		buf_add_text(&long_text, i ? "\u044f" : "a");
	json_put_str(m, key, n ? buf_text(&long_text) : text);
}

static void load_key(struct sign_key **key)
{
	struct err err = {0};
	char pub[200], path[300];

	snprintf(path, sizeof path, "%s/%s.pub", fake.dir, is_mode("next-key") ? "next" : "sign");
	get_file(path, pub, sizeof pub);
	if (sign_key_parse_public(str_trim(str_of(pub)), key, &err) < 0)
		_exit(4);
}

/* Modern agents say which key they obey. */
static void put_key(json_t *hello)
{
	static const char *const modern[] = {
		"silent", "silent-once", "alive", "reboot", "down", "next-key", "exists"};

	for (size_t i = 0; i < sizeof modern / sizeof *modern; i++) {
		struct sign_key *key = NULL;

		if (!is_mode(modern[i]))
			continue;
		load_key(&key);
		json_put_str(hello, "key", sign_key_id(key));
		sign_key_free(key);
	}
}

static void send_hello(void)
{
	json_t *m = message_new("hello"), *busy;

	json_put_int(m, "proto", is_mode("proto") ? 99 : WIRE_PROTO);
	put_long(m, "version", is_mode("chatty") ? 500000 : 0, "9.9.9");
	json_put_str(m, "boot_id",
		(is_mode("reboot") && fake.session > 2) || (is_mode("awaited") && fake.session > 2)
			? "boot-2"
			: "boot-1");
	if (is_mode("stranger"))
		json_put_str(m, "name", "somebody-else");
	put_key(m);
	json_put_str(m, "nonce", NONCE);
	json_object_set_new(m, "bundles", json_array());
	if (is_mode("busy") || (is_mode("busy-ours") && fake.session == 1)) {
		busy = json_object();
		json_put_str(busy, "run", is_mode("busy") ? "foreign-1" : fake.run);
		json_put_str(busy, "controller", "someone");
		json_put_int(busy, "since", is_mode("busy") ? INT64_MAX : 1700000000);
		json_object_set_new(m, "busy", busy);
	}
	send_message(m);
}

/* Signed by the controller's key and over our nonce, or the test ends here. */
static void read_order(void)
{
	struct frame f;
	struct err err = {0};
	struct sign_key *key = NULL;
	const char *type, *body;
	json_t *m = NULL;

	if (!next_frame(&f))
		_exit(6);
	if (message_parse(f.payload, &m, &type, &err) < 0 || strcmp(type, "order") != 0)
		_exit(5);
	body = json_get_str(m, "body", "");
	load_key(&key);
	if (sign_check(key, str_of(body), str_of(json_get_str(m, "sig", "")), &err) < 0)
		_exit(4);
	if (order_parse(arena_new(), str_of(body), &fake.order, &err) < 0 ||
		strcmp(fake.order.nonce, NONCE) != 0)
		_exit(3);
	put(".order", body);
}

/* The message and all its bytes, asked for or not. */
static void read_bundle(void)
{
	struct frame f;
	struct err err = {0};
	const char *type;
	json_t *m = NULL;
	int64_t size, got = 0;
	char text[64];

	if (!next_frame(&f) || message_parse(f.payload, &m, &type, &err) < 0 ||
		strcmp(type, "bundle") != 0)
		_exit(2);
	size = json_get_int(m, "size", -1);
	while (got < size && next_frame(&f))
		got += f.type == 'D' ? (int64_t)f.payload.n : INT64_MAX / 2;
	snprintf(text, sizeof text, "%lld", (long long)got);
	put(".bundle", text);
	if (got != size)
		_exit(2);
}

static void send_event(int64_t seq, const char *ev)
{
	json_t *m = message_new("event");

	json_put_int(m, "seq", seq);
	json_put_int(m, "at", 1);
	json_put_str(m, "ev", ev);
	json_put_str(m, "recipe", "alpha");
	json_put_str(m, "name", "a step");
	json_put_str(m, "state", is_mode("failed") ? "failed" : "changed");
	if (is_mode("failed"))
		json_put_str(m, "hint", "look at the step");
	if (seq == 0 || seq > fake.order.after)
		send_message(m);
	else
		json_decref(m);
}

static void send_final(const char *run, const char *state)
{
	json_t *m = message_new("final"), *counts = json_object();

	json_put_str(m, "run", run);
	json_put_str(m, "state", state);
	json_put_int(counts, "changed", 1);
	json_put_int(counts, "ok", 2);
	json_object_set_new(m, "counts", counts);
	json_put_str(
		m, "plan_hash", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	json_put_int(m, "cpu_us", is_mode("chatty") ? INT64_MAX : 750);
	json_put_int(m, "process_us", is_mode("chatty") ? INT64_MIN : 3000);
	if (strcmp(state, "failed") == 0 || is_mode("chatty"))
		put_long(m, "reason", is_mode("chatty") ? 500000 : 0, "a step failed");
	send_message(m);
}

static void send_refused(const char *code, const char *hint)
{
	json_t *m = message_new("refused");

	json_put_str(m, "code", code);
	json_put_str(m, "message", "not for me");
	json_put_str(m, "hint", hint);
	send_message(m);
}

/* Of a run that is followed while its node waits for somebody to restart it. */
static void send_awaited(void)
{
	json_t *m = message_new("final");

	json_put_str(m, "run", fake.order.run);
	json_put_str(m, "state", "interrupted");
	json_put_bool(m, "rebooting", true);
	send_message(m);
	_exit(0);
}

static void send_facts(void)
{
	json_t *m = message_new("facts"), *facts = json_object(), *os = json_object();

	json_put_str(os, "id", "debian");
	json_put_str(os, "version_id", "12");
	json_object_set_new(facts, "os", os);
	json_object_set_new(m, "facts", facts);
	send_message(m);
}

/* It goes down, or says so. */
static void send_rebooting(void)
{
	json_t *m = message_new("event");

	json_put_int(m, "seq", 1);
	json_put_str(m, "ev", "rebooting");
	json_put_str(m, "boot_id", "boot-1");
	json_put_int(m, "within", 600);
	send_message(m);
}

/* One event after the other, for as long as anybody listens. */
static void send_events(void)
{
	for (int64_t seq = 1;; seq++) {
		json_t *m = message_new("event");

		json_put_int(m, "seq", seq);
		json_put_str(m, "ev", "step");
		put_long(m, "diff", 500000, NULL);
		send_message(m);
	}
}

static void send_nested(void)
{
	json_t *m = message_new("event");

	json_put_int(m, "seq", 1);
	json_put_str(m, "ev", "step");
	json_object_set_new(m, "why", json_pack("[[[]]]"));
	send_message(m);
}

static void wait_for_the_end(void)
{
	struct frame f;

	while (next_frame(&f)) {
	}
}

/* What is wrong before the greeting. */
static void misbehave_early(void)
{
	if (is_mode("shell")) {
		say(STR_LIT("Welcome to node 7\nlast login: never\n"));
		_exit(0);
	}
	if (is_mode("none")) {
		(void)!write(2, "sh: stoika-agent: not found\n", 28);
		_exit(127);
	}
	if (is_mode("flood")) {
		for (int i = 0; i < 3000; i++)
			say(STR_LIT("0123456789 0123456789 0123456789 0123456789\n"));
		_exit(0);
	}
	if (is_mode("noise"))
		say(STR_LIT("\033[31mmotd\033[0m\nSTOIKA but not yet\n"));
	say(STR_LIT(WIRE_MAGIC));
	if (is_mode("early"))
		send_final("x", "ok");
	if (is_mode("refuse-early")) {
		send_refused("notfound", "do this");
		_exit(0);
	}
	if (is_mode("oversize"))
		say((struct str){"\x7f\xff\xff\xffJ", 5});
}

static void send_evidence(const char *name, const char *text)
{
	json_t *m = message_new("evidence");

	json_put_str(m, "name", name);
	json_put_str(m, "text", text);
	send_message(m);
}

/* Two files, one too many, or one whose name leads elsewhere. */
static void send_all_evidence(void)
{
	send_evidence("kernel.log", "NVRM: Xid 79\n");
	send_evidence("packages.log", "");
	for (int i = 0; is_mode("evidence-many") && i < 20; i++)
		send_evidence("more.log", "x");
	if (is_mode("evidence-path"))
		send_evidence("../../etc/passwd", "x");
}

/* What is wrong behind the order. */
static void misbehave_late(void)
{
	const bool first = fake.session == 1;

	if (is_mode("awaited") && fake.session == 1)
		send_awaited();
	if (is_mode("exists") && fake.order.mode != ORDER_ATTACH) {
		send_refused("exists", NULL);
		_exit(0);
	}

	if (is_mode("torn") || (is_mode("torn-once") && first)) {
		send_event(1, "step");
		say((struct str){"\0\0\1\0J{\"t\":\"fin", 15});
		_exit(0);
	}
	if ((is_mode("lost-once") || is_mode("absent")) && first) {
		send_event(1, "step");
		_exit(0);
	}
	if (is_mode("absent") && fake.order.mode == ORDER_ATTACH) {
		send_refused("notfound", "do this");
		_exit(0);
	}
	if (is_mode("unknown-undo") && fake.order.undo_of) {
		send_refused("notfound", NULL);
		_exit(0);
	}
	if (is_mode("refuse")) {
		send_refused("verify", "do this");
		_exit(0);
	}
	if (is_mode("full")) {
		send_refused("nospace", NULL);
		_exit(0);
	}
	if (is_mode("killed")) {
		send_event(1, "step");
		(void)kill(getpid(), 9);
	}
	if (is_mode("badfinal"))
		send_final("another-run", "ok");
	if (is_mode("seqless"))
		send_event(0, "step");
	if (is_mode("slow")) {
		send_event(1, "step");
		wait_for_the_end();
		_exit(0);
	}
	if (is_mode("silent") || (is_mode("silent-once") && first)) {
		send_event(1, "step");
		wait_for_the_end();
		_exit(0);
	}
	for (int i = 0; is_mode("alive") && i < 6; i++) {
		send_message(message_new("alive"));
		usleep(500000);
	}
	if (is_mode("down") || (is_mode("reboot") && fake.session < 3)) {
		send_rebooting();
		_exit(0);
	}
	if (is_mode("otherwise") && fake.order.expect) {
		send_refused("state", "plan it again");
		_exit(0);
	}
	if (is_mode("endless"))
		send_events();
	if (is_mode("nested"))
		send_nested();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 64;
	frame_reader_init(&fake.in, false);
	read_mode(argv[1]);
	misbehave_early();
	send_hello();
	read_order();
	if (fake.order.bundle) {
		if (is_mode("need")) {
			json_t *m = message_new("need");

			json_put_str(m, "bundle", fake.order.bundle);
			send_message(m);
		}
		read_bundle();
	}
	misbehave_late();
	if (fake.order.mode == ORDER_FACTS)
		send_facts();
	if (is_mode("facts-twice"))
		send_facts();
	if (fake.order.mode == ORDER_EVIDENCE)
		send_all_evidence();
	send_event(1, "start");
	send_event(2, "intent");
	send_event(3, "step");
	send_final(fake.order.run, is_mode("failed") ? "failed" : is_mode("ok") ? "ok" : "changed");
	if (is_mode("stay"))
		sleep(120);
	_exit(is_mode("liar") || (is_mode("liar-once") && fake.session == 1) ? 1 : 0);
}
