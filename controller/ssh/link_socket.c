/* link_socket - the TCP side: our own non-blocking sockets, set up before libssh sees them. */
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* SSH_OPTIONS_FD of libssh 0.10 keeps 16 bits of the descriptor only. */
#define FD_MAX 65535

#define KEEPALIVE_IDLE_S     15
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_COUNT      3
#define USER_TIMEOUT_MS      45000

int link_resolve(struct link *l)
{
	struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(l->target.address, NULL, &want, &found);

	if (rc == EAI_NONAME) {
		want.ai_flags = AI_ADDRCONFIG;
		rc = getaddrinfo(l->target.address, NULL, &want, &found);
	}
	if (rc != 0) {
		err_set(link_err(l), E_NET, "cannot resolve the address '%s' of '%s': %s",
			l->target.address, l->target.name, gai_strerror(rc));
		return err_hint(link_err(l),
			"give node '%s' an IP address, or add the name to /etc/hosts",
			l->target.name);
	}
	l->address_len = found->ai_addrlen;
	memcpy(&l->address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (l->address.any.sa_family == AF_INET6)
		l->address.v6.sin6_port = htons((uint16_t)l->target.port);
	else
		l->address.v4.sin_port = htons((uint16_t)l->target.port);
	return 0;
}

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof value);
}

/* A dead peer is found after 45 s; without NODELAY a session costs 55 ms more (perf.md, 2). */
static void set_options(int fd)
{
	(void)set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	(void)set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	(void)set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	(void)set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	(void)set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
	(void)set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

int link_connect(struct link *l)
{
	const int fd = socket(
		l->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	int sys = 0;

	if (fd < 0)
		return -errno;
	set_options(fd);
	if (fd > FD_MAX)
		sys = EMFILE;
	else if (connect(fd, &l->address.any, l->address_len) != 0 && errno != EINPROGRESS)
		sys = errno;
	if (sys != 0) {
		close(fd);
		return -sys;
	}
	l->fd = fd;
	return 0;
}
