#include "tests/bench/agents.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONCE     "00112233445566778899aabbccddeeff"
#define PLAN_HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define EVENTS    256
#define READ_SIZE 65536
#define PART      2000 /* agents of one child */
#define PARTS_MAX 32

struct agents {
	unsigned n;
	int *fd; /* ours, -1 once handed out */
	unsigned parts;
	pid_t child[PARTS_MAX];
	int control[PARTS_MAX]; /* to each child: the first and last that leave */
	struct link_transport transport;
};

struct agent {
	int fd;
	struct frame_reader in;
	char body_hash[HASH_HEX];
	bool leaves;
};

struct server {
	struct sign_key *key;
	struct agent *all;
	unsigned n;
	int epoll;
};

/* --- the child --- */

static void say(struct agent *a, json_t *m)
{
	AUTO_BUF out = {0};
	struct str rest;

	buf_init(&out, 65536);
	message_write(m, &out);
	json_decref(m);
	for (rest = buf_str(&out); rest.n > 0;) {
		const ssize_t n = send(a->fd, rest.p, rest.n, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return;
		rest = str_from(rest, n > 0 ? (size_t)n : 0);
	}
}

static void greet(struct agent *a, const struct server *s)
{
	json_t *m = message_new("hello");

	if (send(a->fd, WIRE_MAGIC, strlen(WIRE_MAGIC), MSG_NOSIGNAL) < 0)
		return;
	json_put_int(m, "proto", WIRE_PROTO);
	json_put_str(m, "version", "sim");
	json_put_str(m, "boot_id", "boot-1");
	json_put_str(m, "nonce", NONCE);
	json_put_str(m, "key", s->key ? sign_key_id(s->key) : "0000000000000000");
	json_object_set_new(m, "bundles", json_array());
	say(a, m);
}

static void refuse(struct agent *a, const char *why)
{
	json_t *m = message_new("refused");

	json_put_str(m, "code", "verify");
	json_put_str(m, "message", why);
	say(a, m);
}

static bool is_signed(const struct server *s, struct str text, const json_t *m)
{
	return !s->key || sign_check(s->key, text, str_of(json_get_str(m, "sig", "")), NULL) == 0;
}

static void answer(struct agent *a, const char *run, bool whole)
{
	json_t *m = message_new("final");

	json_put_str(m, "run", run);
	json_put_str(m, "state", "ok");
	json_put_int(m, "cpu_us", 412);
	if (whole) {
		json_t *counts = json_object();

		json_put_int(counts, "ok", 14);
		json_object_set_new(m, "counts", counts);
		json_put_str(m, "plan_hash", PLAN_HASH);
		json_put_int(m, "took_us", 700);
		json_put_int(m, "process_us", 2100);
	}
	say(a, m);
}

static void obey_order(struct agent *a, const struct server *s, const json_t *m)
{
	const char *body = json_get_str(m, "body", "");
	struct arena *arena = arena_new();
	struct order o = {0};

	if (!is_signed(s, str_of(body), m) || order_parse(arena, str_of(body), &o, NULL) < 0) {
		refuse(a, "this order is none of mine");
	} else {
		hash_hex(str_of(body), a->body_hash);
		answer(a, o.run, true);
		order_done(&o);
	}
	arena_free(arena);
}

static void obey_again(struct agent *a, const struct server *s, const json_t *m)
{
	const char *run = json_get_str(m, "run", "");
	AUTO_BUF text = {0};

	buf_init(&text, 512);
	order_again_text(&text, NONCE, run, a->body_hash);
	if (is_signed(s, buf_str(&text), m))
		answer(a, run, false);
	else
		refuse(a, "this 'again' is none of mine");
}

static void hang_up(struct agent *a)
{
	frame_reader_done(&a->in);
	close(a->fd);
	a->fd = -1;
}

static void hear(struct agent *a, const struct server *s)
{
	static char bytes[READ_SIZE];
	struct frame f;
	const ssize_t n = recv(a->fd, bytes, sizeof bytes, MSG_DONTWAIT);

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			hang_up(a);
		return;
	}
	frame_reader_feed(&a->in, (struct str){bytes, (size_t)n});
	while (a->fd >= 0 && frame_reader_next(&a->in, &f, NULL) > 0) {
		AUTO_JSON m = NULL;
		const char *t;

		if (f.type != 'J' || message_parse(f.payload, &m, &t, NULL) < 0)
			continue; /* the bundle's bytes */
		if (a->leaves)
			hang_up(a);
		else if (strcmp(t, "order") == 0)
			obey_order(a, s, m);
		else if (strcmp(t, "again") == 0)
			obey_again(a, s, m);
	}
}

static void hear_control(struct server *s, int control)
{
	unsigned range[2];

	if (read(control, range, sizeof range) != (ssize_t)sizeof range)
		_exit(0); /* the controller is gone */
	for (unsigned i = range[0]; i <= range[1] && i <= s->n; i++)
		s->all[i - 1].leaves = true;
}

static _Noreturn void serve(struct server *s, int control)
{
	struct epoll_event events[EVENTS], e = {.events = EPOLLIN};

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(s->epoll, EPOLL_CTL_ADD, control, &e);
	for (unsigned i = 0; i < s->n; i++) {
		e.data.ptr = &s->all[i];
		frame_reader_init(&s->all[i].in, false);
		greet(&s->all[i], s);
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->all[i].fd, &e);
	}
	for (;;) {
		const int n = epoll_wait(s->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct agent *a = events[i].data.ptr;

			if (!a)
				hear_control(s, control);
			else if (a->fd >= 0)
				hear(a, s);
		}
	}
}

/* --- the controller's side --- */

static int connect_agent(void *ctx, const struct link_target *t, struct err *err)
{
	struct agents *a = ctx;
	const unsigned i = (unsigned)strtoul(t->name + 1, NULL, 10) - 1;
	int fd;

	if (i >= a->n || a->fd[i] < 0)
		return err_set(err, E_NET, "'%s' is gone", t->name);
	fd = a->fd[i];
	a->fd[i] = -1;
	return fd;
}

static void allow_files(unsigned n)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= n)
		return;
	files.rlim_cur = n;
	if (files.rlim_max < n)
		files.rlim_max = n;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
		perror("agents: too many for the limit of open files");
		exit(2);
	}
}

/* One child for a part of them, so that both ends of all never are in one process. */
static void start_part(struct agents *a, unsigned part, struct sign_key *key)
{
	const unsigned first = part * PART, n = a->n - first < PART ? a->n - first : PART;
	struct server s = {.key = key, .n = n, .all = xcalloc(n + 1, sizeof *s.all)};
	int control[2];

	for (unsigned i = 0; i < n; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
			perror("agents: socketpair");
			exit(2);
		}
		a->fd[first + i] = pair[0];
		s.all[i].fd = pair[1];
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
		exit(2);
	a->control[part] = control[0];
	a->child[part] = fork();
	if (a->child[part] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 0; i <= part; i++)
			close(a->control[i]);
		for (unsigned i = 0; i < first + n; i++)
			close(a->fd[i]);
		serve(&s, control[1]);
	}
	close(control[1]);
	for (unsigned i = 0; i < n; i++)
		close(s.all[i].fd);
	free(s.all);
}

struct agents *agents_start(unsigned n, const char *key)
{
	struct agents *a = xcalloc(1, sizeof *a);
	struct sign_key *verify = NULL;

	a->n = n;
	a->parts = (n + PART - 1) / PART;
	if (a->parts > PARTS_MAX || (key && sign_key_parse_public(str_of(key), &verify, NULL) < 0))
		exit(2);
	allow_files(n + 2 * PART + 100);
	a->fd = xcalloc(n + 1, sizeof *a->fd);
	a->transport = (struct link_transport){connect_agent, a};
	for (unsigned part = 0; part < a->parts; part++)
		start_part(a, part, verify);
	sign_key_free(verify);
	return a;
}

const struct link_transport *agents_transport(struct agents *a)
{
	return &a->transport;
}

void agents_leave(struct agents *a, unsigned from, unsigned to)
{
	for (unsigned part = 0; part < a->parts; part++) {
		const unsigned first = part * PART;
		const unsigned range[2] = {
			from > first ? from - first : 1, to > first ? to - first : 0};

		if (send(a->control[part], range, sizeof range, MSG_NOSIGNAL) < 0)
			perror("agents: control");
	}
}

void agents_stop(struct agents *a)
{
	for (unsigned part = 0; part < a->parts; part++) {
		kill(a->child[part], SIGKILL);
		waitpid(a->child[part], NULL, 0);
		close(a->control[part]);
	}
	for (unsigned i = 0; i < a->n; i++)
		if (a->fd[i] >= 0)
			close(a->fd[i]);
	free(a->fd);
	free(a);
}
