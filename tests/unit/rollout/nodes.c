#include "tests/unit/rollout/nodes.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE     "00112233445566778899aabbccddeeff"
#define PLAN_HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char *dir_of;

/* --- files --- */

void nodes_put(const char *dir, const char *node, const char *suffix, const char *text)
{
	char path[400], tmp[420];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.%s", dir, node, suffix);
	snprintf(tmp, sizeof tmp, "%s.tmp%d", path, (int)getpid());
	f = fopen(tmp, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0 || rename(tmp, path) != 0)
		abort();
}

const char *nodes_get(const char *dir, const char *node, const char *suffix)
{
	static char texts[4][400];
	static unsigned turn;
	char path[400], *text = texts[turn++ % 4];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s.%s", dir, node, suffix);
	*text = '\0';
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof texts[0], f))
		*text = '\0';
	if (f)
		fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static FILE *open_log(const char *dir, const char *node, const char *how)
{
	char path[400];

	snprintf(path, sizeof path, "%s/%s.log", dir, node);
	return fopen(path, how);
}

unsigned nodes_count(const char *dir, const char *node, const char *mode)
{
	FILE *f = open_log(dir, node, "re");
	char line[200];
	unsigned n = 0;

	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		n += strrchr(line, ' ') && strcmp(strrchr(line, ' ') + 1, mode) == 0;
	}
	if (f)
		fclose(f);
	return n;
}

const char *nodes_twice(const char *dir, const char *node)
{
	static char lines[200][200];
	FILE *f = open_log(dir, node, "re");
	unsigned n = 0;

	while (f && n < 200 && fgets(lines[n], sizeof lines[n], f)) {
		for (unsigned i = 0; i < n; i++)
			if ((strstr(lines[n], " apply") || strstr(lines[n], " undo")) &&
				strcmp(lines[i], lines[n]) == 0) {
				fclose(f);
				return lines[n];
			}
		n++;
	}
	if (f)
		fclose(f);
	return "";
}

/* --- one connection, in a process of its own --- */

static struct {
	const char *node;
	int fd;
	struct frame_reader in;
	struct order order;
} me;

static bool does(const char *word)
{
	const char *all = nodes_get(dir_of, me.node, "does");
	const size_t n = strlen(word);

	for (const char *p = all; (p = strstr(p, word)); p += n)
		if ((p == all || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

static void say(struct str bytes)
{
	while (bytes.n > 0) {
		const ssize_t n = send(me.fd, bytes.p, bytes.n, MSG_NOSIGNAL);

		if (n <= 0)
			_exit(0);
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

static void send_hello(void)
{
	json_t *m = message_new("hello");
	char boot[40];

	snprintf(boot, sizeof boot, "boot-%.20s", nodes_get(dir_of, me.node, "boot"));
	json_put_int(m, "proto", WIRE_PROTO);
	json_put_str(m, "version", "sim");
	json_put_str(m, "boot_id", boot);
	json_put_str(m, "nonce", NONCE);
	json_put_str(m, "name", me.node);
	json_object_set_new(m, "bundles", json_array());
	say(STR_LIT(WIRE_MAGIC));
	send_message(m);
}

static bool next_frame(struct frame *f)
{
	static char chunk[65536];
	int rc;

	while ((rc = frame_reader_next(&me.in, f, NULL)) == 0) {
		const ssize_t n = recv(me.fd, chunk, sizeof chunk, 0);

		if (n <= 0)
			_exit(0);
		frame_reader_feed(&me.in, (struct str){chunk, (size_t)n});
	}
	return rc > 0;
}

static void read_bundle(void)
{
	struct frame f;
	const char *type = "";
	json_t *m = NULL;
	int64_t size, got = 0;

	if (!next_frame(&f) || message_parse(f.payload, &m, &type, NULL) < 0 ||
		strcmp(type, "bundle") != 0)
		_exit(2);
	size = json_get_int(m, "size", 0);
	while (got < size && next_frame(&f))
		got += (int64_t)f.payload.n;
}

static void read_order(void)
{
	struct frame f;
	const char *type = "";
	json_t *m = NULL;

	if (!next_frame(&f) || message_parse(f.payload, &m, &type, NULL) < 0 ||
		strcmp(type, "order") != 0 ||
		order_parse(arena_new(), str_of(json_get_str(m, "body", "")), &me.order, NULL) < 0)
		_exit(3);
	if (me.order.bundle)
		read_bundle();
}

static void note_order(void)
{
	FILE *f = open_log(dir_of, me.node, "ae");

	if (!f)
		abort();
	fprintf(f, "%s %s\n", me.order.run, order_mode_name(me.order.mode));
	fclose(f);
}

static void keep_run(const char *state)
{
	char suffix[100];

	snprintf(suffix, sizeof suffix, "run.%s", me.order.run);
	nodes_put(dir_of, me.node, suffix, state);
}

static bool awaits_restart(void)
{
	return *nodes_get(dir_of, me.node, "awaits");
}

static void send_final(const char *state)
{
	json_t *m = message_new("final"), *counts = json_object();

	if (strcmp(state, "interrupted") == 0)
		json_put_bool(m, "rebooting", true);

	json_put_str(m, "run", me.order.run);
	json_put_str(m, "state", state);
	json_put_int(counts, "ok", 2);
	json_object_set_new(m, "counts", counts);
	json_put_str(m, "plan_hash", PLAN_HASH);
	if (strcmp(state, "failed") == 0)
		json_put_str(m, "reason", "recipe 'w' step 1: it went wrong");
	send_message(m);
}

static void send_event(const char *ev, const char *state)
{
	static int64_t seq;
	json_t *m = message_new("event");

	json_put_int(m, "seq", me.order.after + ++seq);
	json_put_int(m, "at", 1);
	json_put_str(m, "ev", ev);
	json_put_str(m, "recipe", "w");
	json_put_int(m, "step", 1);
	json_put_str(m, "name", "a step");
	json_put_str(m, "state", state);
	json_put_str(m, "boot_id", "boot-?");
	json_put_int(m, "within", 20);
	send_message(m);
}

static bool has_b(void)
{
	return strcmp(nodes_get(dir_of, me.node, "set"), "B") == 0;
}

static void send_evidence(const char *name, const char *text)
{
	json_t *m = message_new("evidence");

	json_put_str(m, "name", name);
	json_put_str(m, "text", text);
	send_message(m);
}

static void send_facts(void)
{
	json_t *m = message_new("facts"), *facts = json_object(), *gpus = json_array();
	json_t *holders = json_array(), *gpu = json_object(), *one;
	const bool lost = does("loses-gpu") && nodes_count(dir_of, me.node, "undo") > 0;

	for (int i = 0; i < (lost ? 1 : 2); i++) {
		one = json_object();
		json_put_str(one, "uuid", i ? "GPU-1" : "GPU-0");
		json_put_str(one, "driver", has_b() ? "595" : "590");
		json_array_append_new(gpus, one);
	}
	one = json_object();
	json_put_int(one, "pid", 17);
	json_put_str(one, "program", "nvidia-persiste");
	json_array_append_new(holders, one);
	if (does("held")) {
		one = json_object();
		json_put_int(one, "pid", 4711);
		json_put_str(one, "program", "python3");
		json_array_append_new(holders, one);
	}
	json_object_set_new(gpu, "holders", holders);
	json_object_set_new(facts, "gpu", gpu);
	json_object_set_new(facts, "gpus", gpus);
	json_object_set_new(m, "facts", facts);
	send_message(m);
}

/* Its own doing, or the scheduler's (standin.sh), whom it waits for then. */
static void restart(void)
{
	char boot[24];

	keep_run("changed");
	nodes_put(dir_of, me.node, "set", "B");
	if (me.order.reboot_asked) {
		nodes_put(dir_of, me.node, "awaits", "1");
		send_event("rebooting", "ok");
		_exit(0);
	}
	snprintf(
		boot, sizeof boot, "%ld", strtol(nodes_get(dir_of, me.node, "boot"), NULL, 10) + 1);
	send_event("rebooting", "ok");
	if (does("stays-down"))
		nodes_put(dir_of, me.node, "gone", "1");
	if (!does("stays-up"))
		nodes_put(dir_of, me.node, "boot", boot);
	_exit(0);
}

static void apply(void)
{
	keep_run("interrupted");
	if (does("slow"))
		usleep(500000);
	if (does("reboots"))
		restart();
	nodes_put(dir_of, me.node, "set", "B");
	keep_run(does("apply-fails") ? "failed" : "changed");
	send_event("step", does("apply-fails") ? "failed" : "changed");
	send_final(does("apply-fails") ? "failed" : "changed");
}

static void undo(void)
{
	const char *state = does("undo-fails") ? "failed" : "changed";

	if (!does("undo-fails"))
		nodes_put(dir_of, me.node, "set", "A");
	keep_run(state);
	send_event("undo", state);
	send_final(state);
}

static void attach(void)
{
	char suffix[100];
	const char *state;
	json_t *m;

	snprintf(suffix, sizeof suffix, "run.%s", me.order.run);
	for (int i = 0; i < 40; i++) {
		state = nodes_get(dir_of, me.node, suffix);
		if (strcmp(state, "interrupted") != 0)
			break;
		usleep(50000); /* its apply is at work in another process */
	}
	if (*state) {
		if (does("reboots") && me.order.after < 1) {
			send_event("rebooting", "ok");
			send_event("resume", "ok");
		}
		send_final(awaits_restart() ? "interrupted" : state);
		return;
	}
	m = message_new("refused");
	json_put_str(m, "code", "notfound");
	json_put_str(m, "message", "that run is not known here");
	send_message(m);
}

static void obey(void)
{
	if (me.order.mode == ORDER_ATTACH) {
		attach();
		return;
	}
	note_order();
	if (me.order.mode == ORDER_APPLY) {
		apply();
	} else if (me.order.mode == ORDER_UNDO) {
		undo();
	} else if (me.order.mode == ORDER_PLAN) {
		send_final(has_b() ? "ok" : "changed");
	} else if (me.order.mode == ORDER_CHECK && does("check-fails") && has_b()) {
		send_event("check", "failed");
		send_final("failed");
	} else if (me.order.mode == ORDER_STAGE && does("no-stage")) {
		send_event("stage", "failed");
		send_final("failed");
	} else {
		if (me.order.mode == ORDER_FACTS)
			send_facts();
		if (me.order.mode == ORDER_EVIDENCE) {
			send_evidence("kernel.log", "NVRM: Xid 79\n");
			/* not its to say: a rollback is judged by it */
			send_evidence("facts-before.json", "{}");
		}
		send_final("ok");
	}
}

static _Noreturn void serve(const char *node, int fd)
{
	me.node = node;
	me.fd = fd;
	frame_reader_init(&me.in, false);
	send_hello();
	read_order();
	obey();
	shutdown(fd, SHUT_WR);
	_exit(0);
}

/*
 * Nobody's child, and with nothing of the controller's: a lock that it held must not stay held, nor
 * a socket that it closes stay in its epoll set.
 */
static _Noreturn void detach(const char *node, int fd)
{
	if (dup2(fd, 3) < 0 || close_range(4, ~0U, 0) != 0)
		_exit(1);
	if (fork() != 0)
		_exit(0);
	setsid();
	serve(node, 3);
}

static int connect_node(void *ctx, const struct link_target *t, struct err *err)
{
	int pair[2];
	pid_t first;

	(void)ctx;
	if (strstr(nodes_get(dir_of, t->name, "does"), "silent") ||
		*nodes_get(dir_of, t->name, "gone"))
		return err_set(err, E_NET, "'%s' does not answer", t->name);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(err, errno, "no socket");
	first = fork();
	if (first == 0)
		detach(t->name, pair[1]);
	waitpid(first, NULL, 0);
	close(pair[1]);
	return pair[0];
}

const struct link_transport *nodes_transport(const char *dir)
{
	static const struct link_transport transport = {connect_node, NULL};

	dir_of = dir;
	return &transport;
}
