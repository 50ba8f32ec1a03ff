/* link_test - the links against OpenSSH's server, and against servers that misbehave. */
#include "tests/unit/ssh/sshd.h"

#include <dirent.h>

#define BIG (1u << 20)

static struct t_sshd server;
static struct link_key *key;

static void set_up(void)
{
	AUTO_STR authorized = NULL;

	if (server.pid)
		return;
	signal(SIGPIPE, SIG_IGN);
	key = t_sshd_key("id", "ed25519");
	authorized = xasprintf("%s test\n", link_key_public(key));
	t_sshd_start(&server, "ed25519", authorized, "");
}

/* One link under test and all that it told. */
struct probe {
	struct str input; /* written when opened, then EOF */
	bool shared, no_eof, abort_on_data, aborted;
	unsigned opened, closed, drained;
	struct buf out, errs;
	struct link_end end;
	struct err err;
};

static void on_opened(void *ctx, struct link *l)
{
	struct probe *p = ctx;

	p->opened++;
	if (p->shared)
		link_write_shared(l, p->input);
	else
		link_write(l, p->input);
	if (!p->no_eof)
		link_write_eof(l);
}

static void on_data(void *ctx, struct link *l, bool is_stderr, struct str bytes)
{
	struct probe *p = ctx;
	const struct err stop = {.code = E_CANCELLED, .msg = "enough"};

	assert_int_equal(p->opened, 1);
	assert_false(p->aborted); /* what libssh still holds is nobody's any more */
	buf_add_str(is_stderr ? &p->errs : &p->out, bytes);
	p->aborted = p->abort_on_data;
	if (p->abort_on_data)
		link_abort(l, &stop);
}

static void on_drained(void *ctx, struct link *l)
{
	struct probe *p = ctx;

	(void)l;
	p->drained++;
}

static void on_closed(void *ctx, struct link *l, const struct link_end *end, const struct err *err)
{
	struct probe *p = ctx;

	assert_non_null(link_name(l));
	p->closed++;
	p->end = *end;
	p->err = *err;
}

static const struct link_ops OPS = {on_opened, on_data, on_drained, on_closed};

static void probe_init(struct probe *p)
{
	*p = (struct probe){0};
	buf_init(&p->out, 8 * BIG);
	buf_init(&p->errs, 8 * BIG);
}

static void probe_done(struct probe *p)
{
	buf_done(&p->out);
	buf_done(&p->errs);
}

static struct link_target target(const char *command)
{
	return (struct link_target){.name = "n1",
		.address = "127.0.0.1",
		.port = server.port,
		.user = "root",
		.host_key = server.host_key,
		.command = command};
}

static struct link_set *new_set(int64_t connect_timeout, int64_t idle_timeout)
{
	const struct link_set_opts o = {
		.key = key, .connect_timeout = connect_timeout, .idle_timeout = idle_timeout};
	struct link_set *s = NULL;
	struct err err = {0};

	assert_int_equal(link_set_new(&o, &s, &err), 0);
	return s;
}

/* Runs one link to its end. */
static void run_with(struct link_set *s, struct probe *p, const struct link_target *t)
{
	struct err err = {0};

	link_start(s, t, &OPS, p);
	assert_int_equal(link_set_run(s, NULL, NULL, &err), 0);
	assert_int_equal(p->closed, 1);
	link_set_free(s);
}

static void run(struct probe *p, const struct link_target *t)
{
	run_with(new_set(0, 0), p, t);
}

static unsigned count_fds(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

TEST(tells_how_a_command_ended)
{
	static const struct {
		const char *command;
		enum link_exit how;
		int status;
		const char *signal, *out, *errs;
	} cases[] = {
		{"true", LINK_EXITED, 0, "", "", ""},
		{"exit 3", LINK_EXITED, 3, "", "", ""},
		{"echo out; echo err >&2; exit 255", LINK_EXITED, 255, "", "out\n", "err\n"},
		{"kill -9 $$", LINK_SIGNALED, 0, "KILL", "", ""},
		{"echo x; kill -TERM $$", LINK_SIGNALED, 0, "TERM", "x\n", ""},
		{"no-such-command 2>/dev/null", LINK_EXITED, 127, "", "", ""},
		{"exec >&- 2>&-; exit 7", LINK_EXITED, 7, "", "", ""},
		{"cat", LINK_EXITED, 0, "", "hello", ""},
	};

	set_up();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct link_target t = target(cases[i].command);
		struct probe p;

		probe_init(&p);
		p.input = STR_LIT("hello");
		run(&p, &t);
		assert_int_equal(p.err.code, 0);
		assert_int_equal(p.end.how, cases[i].how);
		assert_int_equal(p.end.status, cases[i].status);
		assert_string_equal(p.end.signal, cases[i].signal);
		assert_string_equal(buf_text(&p.out), cases[i].out);
		assert_string_equal(buf_text(&p.errs), cases[i].errs);
		probe_done(&p);
	}
}

static char *pattern(size_t n)
{
	char *p = xmalloc(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (char)(i * 7 + i / 251);
	return p;
}

TEST(moves_a_megabyte_each_way)
{
	AUTO_STR bytes = pattern(BIG);

	set_up();
	for (int shared = 0; shared < 2; shared++) {
		const struct link_target t = target("cat");
		struct probe p;

		probe_init(&p);
		p.input = (struct str){bytes, BIG};
		p.shared = shared;
		run(&p, &t);
		assert_int_equal(p.err.code, 0);
		assert_int_equal(p.end.status, 0);
		assert_int_equal(p.out.n, BIG);
		assert_memory_equal(p.out.p, bytes, BIG);
		assert_int_equal(p.drained, 1);
		probe_done(&p);
	}
}

TEST(shares_one_payload)
{
	enum {
		N = 8
	};
	AUTO_STR bytes = pattern(2 * BIG);
	struct link_set *s;
	struct probe p[N];
	struct err err = {0};

	set_up();
	s = new_set(0, 0);
	for (size_t i = 0; i < N; i++) {
		const struct link_target each = target("sha256sum");

		probe_init(&p[i]);
		p[i].input = (struct str){bytes, 2 * BIG};
		p[i].shared = true;
		link_start(s, &each, &OPS, &p[i]);
	}
	assert_int_equal(link_set_run(s, NULL, NULL, &err), 0);
	link_set_free(s);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(p[i].end.status, 0);
		assert_int_equal(p[i].err.code, 0);
		assert_string_equal(buf_text(&p[i].out), buf_text(&p[N - 1].out));
		assert_true(p[i].out.n > 64);
	}
	for (size_t i = 0; i < N; i++)
		probe_done(&p[i]);
}

TEST(refuses_another_host_key)
{
	static const char other[] =
		"ssh-ed25519 "
		"AAAAC3NzaC1lZDI1NTE5AAAAIL2lLaJ/UmVIQvY1QwFM9PkY/sLBImk4dZ9e3MaWZE4B";
	static const char *const pinned[] = {other, "ecdsa-sha2-nistp256 AAAAE2Vj", "ssh-ed25519",
		"ssh-ed25519 ", "ssh-ed25519 AAAA comment"};

	set_up();
	for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
		struct link_target t = target("true");
		struct probe p;

		t.host_key = pinned[i];
		probe_init(&p);
		run(&p, &t);
		assert_int_equal(p.err.code, E_HOSTKEY);
		assert_int_equal(p.opened, 0);
		assert_non_null(strstr(p.err.hint, "--known-hosts"));
		if (i == 0) {
			assert_non_null(strstr(p.err.msg, "expected SHA256:"));
			assert_non_null(strstr(p.err.msg, "got SHA256:"));
		}
		probe_done(&p);
	}
}

TEST(accepts_a_pinned_key_with_comment)
{
	struct link_target t = target("true");
	AUTO_STR pinned = NULL;
	struct probe p;

	set_up();
	pinned = xasprintf("%s root@n1", server.host_key);
	t = target("true");
	t.host_key = pinned;
	probe_init(&p);
	run(&p, &t);
	assert_int_equal(p.err.code, 0);
	probe_done(&p);
}

TEST(works_with_other_host_keys_and_kex)
{
	static const char *const types[] = {"ecdsa", "rsa"};
	AUTO_STR authorized = NULL;

	set_up();
	authorized = xasprintf("%s\n", link_key_public(key));
	for (size_t i = 0; i < 2; i++) {
		const struct link_set_opts o = {.key = key, .kex = "ecdh-sha2-nistp256"};
		struct link_set *s = NULL;
		struct t_sshd other = {0};
		struct link_target t;
		struct probe p;
		struct err err = {0};

		t_sshd_start(&other, types[i], authorized, "");
		t = target("true");
		t.port = other.port;
		t.host_key = other.host_key;
		probe_init(&p);
		assert_int_equal(link_set_new(&o, &s, &err), 0);
		run_with(s, &p, &t);
		assert_int_equal(p.err.code, 0);
		assert_int_equal(p.end.how, LINK_EXITED);
		probe_done(&p);
		t_sshd_stop(&other);
	}
}

TEST(an_ecdsa_key_logs_in)
{
	struct link_key *ecdsa = t_sshd_key("id_ecdsa", "ecdsa");
	AUTO_STR authorized = xasprintf("%s\n", link_key_public(ecdsa));
	const struct link_set_opts o = {.key = ecdsa};
	struct link_set *s = NULL;
	struct t_sshd other = {0};
	struct link_target t;
	struct probe p;
	struct err err = {0};

	set_up();
	t_sshd_start(&other, "ed25519", authorized, "");
	t = target("echo hi");
	t.port = other.port;
	t.host_key = other.host_key;
	probe_init(&p);
	assert_int_equal(link_set_new(&o, &s, &err), 0);
	run_with(s, &p, &t);
	assert_int_equal(p.err.code, 0);
	assert_string_equal(buf_text(&p.out), "hi\n");
	probe_done(&p);
	t_sshd_stop(&other);
	link_key_free(ecdsa);
}

TEST(says_that_the_key_was_refused)
{
	struct link_key *wrong = t_sshd_key("wrong", "ed25519");
	const struct link_set_opts o = {.key = wrong};
	struct link_set *s = NULL;
	struct link_target t;
	struct probe p;
	struct err err = {0};

	set_up();
	t = target("true");
	probe_init(&p);
	assert_int_equal(link_set_new(&o, &s, &err), 0);
	run_with(s, &p, &t);
	assert_int_equal(p.err.code, E_AUTH);
	assert_non_null(strstr(p.err.hint, "stoika agent install n1 --identity"));
	probe_done(&p);
	link_key_free(wrong);
}

TEST(says_that_nobody_listens)
{
	struct link_target t;
	struct probe p;

	set_up();
	t = target("true");
	t.port = t_free_port();
	probe_init(&p);
	run(&p, &t);
	assert_int_equal(p.err.code, E_NET);
	assert_non_null(strstr(p.err.msg, "refused"));
	assert_non_null(strstr(p.err.hint, "sshd"));
	probe_done(&p);
}

TEST(says_that_an_address_is_unknown)
{
	struct link_target t;
	struct probe p;

	set_up();
	t = target("true");
	t.address = "no-such-host.invalid";
	probe_init(&p);
	run(&p, &t);
	assert_int_equal(p.err.code, E_NET);
	assert_non_null(strstr(p.err.msg, "no-such-host.invalid"));
	probe_done(&p);
}

/* A listening socket nobody accepts from: TCP connects, then silence. */
TEST(a_black_hole_times_out)
{
	unsigned port;
	const int hole = t_listen(&port, 16);
	const int64_t began = clock_mono();
	struct link_target t;
	struct probe p;

	set_up();
	t = target("true");
	t.port = port;
	probe_init(&p);
	run_with(new_set(400 * CLOCK_MS, 0), &p, &t);
	assert_int_equal(p.err.code, E_TIMEOUT);
	assert_non_null(strstr(p.err.msg, "key exchange"));
	assert_true(clock_mono() - began < 9 * CLOCK_SEC);
	probe_done(&p);
	close(hole);
}

/* A full backlog: not even TCP answers. */
TEST(a_silent_address_times_out)
{
	unsigned port;
	const int hole = t_listen(&port, 0);
	int fill[4];
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct link_target t;
	struct probe p;

	set_up();
	a.sin_port = htons((uint16_t)port);
	for (size_t i = 0; i < 4; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fill[i], (struct sockaddr *)&a, sizeof a);
	}
	t = target("true");
	t.port = port;
	probe_init(&p);
	run_with(new_set(400 * CLOCK_MS, 0), &p, &t);
	assert_int_equal(p.err.code, E_TIMEOUT);
	assert_non_null(strstr(p.err.msg, "connecting"));
	probe_done(&p);
	for (size_t i = 0; i < 4; i++)
		close(fill[i]);
	close(hole);
}

TEST(a_silent_command_times_out)
{
	struct link_target t;
	struct probe p;

	set_up();
	t = target("sleep 20");
	probe_init(&p);
	p.no_eof = true;
	run_with(new_set(0, 1200 * CLOCK_MS), &p, &t);
	assert_int_equal(p.opened, 1);
	assert_int_equal(p.err.code, E_TIMEOUT);
	probe_done(&p);
	/* one that spoke may be silent as long as it likes */
	t = target("echo hi; sleep 2; echo ho");
	probe_init(&p);
	run_with(new_set(0, 1200 * CLOCK_MS), &p, &t);
	assert_int_equal(p.err.code, 0);
	assert_string_equal(buf_text(&p.out), "hi\nho\n");
	probe_done(&p);
}

/* A server in a child: answers each connection with text, then closes. */
static pid_t talker(unsigned *port, const char *text, unsigned connections)
{
	const int fd = t_listen(port, 64);
	const pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		for (unsigned i = 0; i < connections; i++) {
			const int c = accept(fd, NULL, NULL);

			if (write(c, text, strlen(text)) < 0)
				_exit(1);
			close(c);
		}
		_exit(0);
	}
	close(fd);
	return pid;
}

TEST(servers_that_are_none)
{
	static const struct {
		const char *text;
		enum ec code;
		unsigned connections;
	} cases[] = {
		{"", E_NET, 2}, /* a reset is tried once more */
		{"Exceeded MaxStartups\r\n", E_NET, 2},
		{"HTTP/1.1 400 Bad Request\r\n\r\n", E_NET, 2},
		{"SSH-2.0-x\r\n", E_NET, 2},
		{"SSH-1.5-old\r\n", E_REMOTE, 1},
		{"SSH-2.0-x\r\nthis is no packet but long enough to be looked at....", E_NET, 2},
	};

	set_up();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct link_target t = target("true");
		struct probe p;
		const pid_t pid = talker(&t.port, cases[i].text, cases[i].connections);
		const unsigned fds = count_fds();
		int status;

		probe_init(&p);
		run_with(new_set(2 * CLOCK_SEC, 0), &p, &t);
		if (p.err.code != cases[i].code && p.err.code != E_REMOTE)
			print_error("case %zu: %s\n", i, p.err.msg);
		assert_true(p.err.code == cases[i].code || p.err.code == E_REMOTE);
		assert_true(p.err.msg[0] && p.err.hint[0]);
		assert_int_equal(count_fds(), fds);
		assert_int_equal(waitpid(pid, &status, 0), pid); /* all connections came */
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		probe_done(&p);
	}
}

/* Goes on until the link has spoken. */
static bool until_heard(void *ctx)
{
	const struct probe *p = ctx;

	return p->out.n == 0;
}

TEST(tick_ends_all)
{
	struct link_target t;
	struct link_set *s;
	struct probe p;
	struct err err = {0};

	set_up();
	t = target("echo stoika; sleep 30");
	probe_init(&p);
	p.no_eof = true;
	s = new_set(0, 0);
	link_start(s, &t, &OPS, &p);
	assert_int_equal(link_set_run(s, until_heard, &p, &err), 0);
	link_set_free(s);
	assert_int_equal(p.closed, 1);
	assert_int_equal(p.err.code, E_CANCELLED);
	probe_done(&p);
}

/* The session's sshd dies: the command kills its grandparent's whole session process. */
TEST(a_server_that_dies_midway)
{
	struct link_target t;
	struct probe p;

	set_up();
	t = target("echo started; sleep 0.7; kill -9 $PPID; sleep 5");
	probe_init(&p);
	p.no_eof = true;
	run(&p, &t);
	assert_string_equal(buf_text(&p.out), "started\n");
	assert_int_equal(p.err.code, E_NET);
	assert_int_equal(p.end.how, LINK_NO_STATUS);
	assert_non_null(strstr(p.err.msg, "lost 'n1' during the command"));
	probe_done(&p);
}

TEST(abort_from_a_callback)
{
	struct link_target t;
	struct probe p;

	set_up();
	t = target("yes");
	probe_init(&p);
	p.abort_on_data = true;
	p.no_eof = true;
	run(&p, &t);
	assert_int_equal(p.err.code, E_CANCELLED);
	assert_string_equal(p.err.msg, "enough");
	probe_done(&p);
}

TEST(too_much_queued_is_our_bug)
{
	AUTO_STR bytes = pattern(LINK_QUEUE_MAX + 1);
	struct link_target t;
	struct probe p;

	set_up();
	t = target("cat >/dev/null");
	probe_init(&p);
	p.input = (struct str){bytes, LINK_QUEUE_MAX + 1};
	run(&p, &t);
	assert_int_equal(p.err.code, E_INTERNAL);
	probe_done(&p);
}

/* The other side stops reading: its window and the socket fill, then the rest goes on. */
TEST(a_slow_reader_gets_all)
{
	AUTO_STR bytes = pattern(8 * BIG);
	struct link_target t;
	struct probe p;

	set_up();
	t = target("sleep 1; wc -c");
	probe_init(&p);
	p.input = (struct str){bytes, 8 * BIG};
	p.shared = true;
	run(&p, &t);
	assert_int_equal(p.err.code, 0);
	assert_string_equal(buf_text(&p.out), "8388608\n");
	probe_done(&p);
}

TEST(a_command_that_does_not_read)
{
	AUTO_STR bytes = pattern(8 * BIG);
	struct link_target t;
	struct probe p;

	set_up();
	t = target("exit 5");
	probe_init(&p);
	p.input = (struct str){bytes, 8 * BIG};
	p.shared = true;
	run(&p, &t);
	assert_int_equal(p.err.code, 0);
	assert_int_equal(p.end.status, 5);
	probe_done(&p);
}

TEST(fifty_at_once)
{
	enum {
		N = 50
	};
	struct link_set *s;
	struct probe p[N];
	struct err err = {0};
	const unsigned fds = count_fds();
	unsigned fds_with_server;

	set_up();
	fds_with_server = count_fds();
	assert_true(fds_with_server >= fds);
	s = new_set(30 * CLOCK_SEC, 0);
	for (size_t i = 0; i < N; i++) {
		AUTO_STR command = xasprintf("cat; exit %zu", i);
		struct link_target t = target(command);

		if (i % 10 == 9)
			t.host_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL2lLaJ";
		probe_init(&p[i]);
		p[i].input = STR_LIT("some bytes for each of them");
		link_start(s, &t, &OPS, &p[i]);
	}
	assert_int_equal(link_set_run(s, NULL, NULL, &err), 0);
	link_set_free(s);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(p[i].closed, 1);
		if (i % 10 == 9) {
			assert_int_equal(p[i].err.code, E_HOSTKEY);
		} else {
			assert_int_equal(p[i].err.code, 0);
			assert_int_equal(p[i].end.status, (int)i);
			assert_string_equal(buf_text(&p[i].out), "some bytes for each of them");
		}
		probe_done(&p[i]);
	}
	assert_int_equal(count_fds(), fds_with_server);
}

/* sshd turns away what exceeds MaxStartups; the set slows down and tries again. */
TEST(follows_a_server_that_turns_away)
{
	enum {
		N = 24
	};
	AUTO_STR authorized = NULL;
	struct t_sshd strict = {0};
	struct link_set *s;
	struct probe p[N];
	struct err err = {0};
	unsigned ok = 0;

	set_up();
	authorized = xasprintf("%s\n", link_key_public(key));
	t_sshd_start(&strict, "ed25519", authorized, "MaxStartups 12\n");
	s = new_set(30 * CLOCK_SEC, 0);
	for (size_t i = 0; i < N; i++) {
		struct link_target t = target("true");

		t.port = strict.port;
		t.host_key = strict.host_key;
		probe_init(&p[i]);
		link_start(s, &t, &OPS, &p[i]);
	}
	assert_int_equal(link_set_run(s, NULL, NULL, &err), 0);
	link_set_free(s);
	for (size_t i = 0; i < N; i++) {
		ok += p[i].err.code == 0;
		probe_done(&p[i]);
	}
	assert_int_equal(ok, N);
	t_sshd_stop(&strict);
}

static struct {
	int peers[2];
	unsigned n, ticks;
	pid_t child;
} pairs;

static int connect_pair(void *ctx, const struct link_target *t, struct err *err)
{
	int pair[2];

	(void)ctx, (void)t, (void)err;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	pairs.peers[pairs.n++] = pair[1];
	return pair[0];
}

/* One ends early, the other later; in between its copy in the child could still be heard of. */
static bool end_pairs(void *ctx)
{
	(void)ctx;
	pairs.ticks++;
	if (pairs.ticks == 1) {
		pairs.child = fork();
		if (pairs.child == 0) {
			pause();
			_exit(0);
		}
		shutdown(pairs.peers[0], SHUT_RDWR);
	}
	if (pairs.ticks == 4)
		shutdown(pairs.peers[1], SHUT_RDWR);
	return true;
}

TEST(copies_of_sockets_in_other_processes_are_no_links)
{
	const struct link_transport transport = {.connect = connect_pair};
	const struct link_set_opts o = {.transport = &transport};
	struct link_target t = {
		.name = "n", .address = "", .user = "", .host_key = "", .command = ""};
	struct link_set *s = NULL;
	struct probe p[2];
	struct err err = {0};

	assert_int_equal(link_set_new(&o, &s, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		probe_init(&p[i]);
		link_start(s, &t, &OPS, &p[i]);
	}
	assert_int_equal(link_set_count(s), 2);
	assert_int_equal(link_set_run(s, end_pairs, NULL, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(p[i].closed, 1);
		close(pairs.peers[i]);
		probe_done(&p[i]);
	}
	link_set_free(s);
	kill(pairs.child, SIGKILL);
	waitpid(pairs.child, NULL, 0);
}

TEST(ends_of_unstarted_sets)
{
	struct link_target t;
	struct link_set *s;
	struct probe p;
	struct err err = {0};

	set_up();
	t = target("true");
	probe_init(&p);
	s = new_set(0, 0);
	assert_int_equal(link_set_run(s, NULL, NULL, &err), 0);
	link_start(s, &t, &OPS, &p);
	link_set_free(s);
	link_set_free(NULL);
	probe_done(&p);
}

/* Last: the shared server and key go. */
TEST(z_clean_up)
{
	t_sshd_stop(&server);
	link_key_free(key);
}

T_MAIN
