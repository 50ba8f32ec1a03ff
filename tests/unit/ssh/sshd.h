/*
 * sshd - OpenSSH's own server for tests: on 127.0.0.1, high port, own keys, below t_dir().
 *
 * The first key pair of t_sshd_key() may log in; extra comes first in the
 * configuration. The server ends with t_sshd_stop or with the test program.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "controller/ssh/link.h"
#include "tests/unit/t.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct t_sshd {
	pid_t pid;
	unsigned port;
	char dir[200];
	char host_key[800]; /* "type base64" */
};

static inline void t_write_file(const char *path, const char *text, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static inline void t_read_file(const char *path, char *out, size_t room)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, out, room - 1);
	assert_true(n >= 0);
	out[n] = '\0';
	close(fd);
}

static inline void t_run(const char *const *argv)
{
	const struct proc p = {.argv = argv, .timeout = 60 * CLOCK_SEC};
	struct proc_result res;
	struct err err;

	assert_int_equal(proc_run(&p, &res, &err), 0);
	if (!proc_ok(&res)) {
		proc_fail(&p, &res, &err);
		print_error("%s\n", err.msg);
	}
	assert_true(proc_ok(&res));
	proc_result_done(&res);
}

/* A listening socket on a free port of 127.0.0.1. */
static inline int t_listen(unsigned *port, int backlog)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static inline unsigned t_free_port(void)
{
	unsigned port;
	const int fd = t_listen(&port, 1);

	close(fd);
	return port;
}

static inline bool t_port_answers(unsigned port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const bool yes = connect(fd, (const struct sockaddr *)&a, sizeof a) == 0;

	close(fd);
	return yes;
}

/* Our key pair below t_dir(), made at first use. */
static inline struct link_key *t_sshd_key(const char *name, const char *type)
{
	struct link_key *key = NULL;
	struct err err = {0};
	char path[200];

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	if (link_key_make(path, type, &err) < 0 || link_key_load(path, &key, &err) < 0)
		print_error("%s\n", err.msg);
	assert_non_null(key);
	return key;
}

static inline void t_sshd_spawn(struct t_sshd *s, const char *conf)
{
	char log[240];

	snprintf(log, sizeof log, "%s/log", s->dir);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-f", conf, "-E", log, (char *)0);
		_exit(127);
	}
	for (int i = 0; i < 1200 && !t_port_answers(s->port); i++)
		clock_sleep(25 * CLOCK_MS);
	assert_true(t_port_answers(s->port));
}

/* authorized: the whole authorized_keys text. host_type "ed25519", "ecdsa" or "rsa". */
static inline void t_sshd_start(
	struct t_sshd *s, const char *host_type, const char *authorized, const char *extra)
{
	static unsigned count;
	char path[240], conf[2000], pub[800];

	(void)mkdir("/run/sshd", 0755);
	snprintf(s->dir, sizeof s->dir, "%s/sshd%u", t_dir(), count++);
	assert_int_equal(mkdir(s->dir, 0755), 0);
	snprintf(path, sizeof path, "%s/host", s->dir);
	t_run((const char *const[]){
		"ssh-keygen", "-q", "-t", host_type, "-N", "", "-f", path, NULL});
	snprintf(path, sizeof path, "%s/host.pub", s->dir);
	t_read_file(path, pub, sizeof pub);
	*strrchr(pub, ' ') = '\0';
	snprintf(s->host_key, sizeof s->host_key, "%s", pub);
	snprintf(path, sizeof path, "%s/authorized", s->dir);
	t_write_file(path, authorized, 0600);
	s->port = t_free_port();
	snprintf(conf, sizeof conf,
		"%sPort %u\nListenAddress 127.0.0.1\nHostKey %s/host\n"
		"AuthorizedKeysFile %s/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
		"PermitRootLogin yes\nMaxStartups 1000\nMaxSessions 100\nLogLevel INFO\n",
		extra, s->port, s->dir, s->dir);
	snprintf(path, sizeof path, "%s/conf", s->dir);
	t_write_file(path, conf, 0600);
	t_sshd_spawn(s, path);
}

static inline void t_sshd_stop(struct t_sshd *s)
{
	kill(s->pid, SIGTERM);
	waitpid(s->pid, NULL, 0);
}
