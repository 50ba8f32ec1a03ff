#include "agent/step/http.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_MAX (16u << 10)

struct target {
	struct sockaddr_storage addr;
	socklen_t len;
	struct str host; /* as written, for the Host field */
	struct str path;
};

static int bad_url(const char *url, struct err *err)
{
	err_set(err, E_SCHEMA, "'%.120s' is not an address that can be asked", url);
	return err_hint(err, "expected http://ADDRESS:PORT/PATH with a numeric address");
}

static bool set_address(struct target *t, struct str host, unsigned port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&t->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&t->addr;
	char text[64];

	if (host.n >= sizeof text)
		return false;
	memset(&t->addr, 0, sizeof t->addr);
	snprintf(text, sizeof text, STR_FMT,
		STR_ARG(str_is(host, "localhost") ? str_of("127.0.0.1") : host));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		t->len = sizeof *v4;
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1)
		return false;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	t->len = sizeof *v6;
	return true;
}

/* A space or control character in the path would end the request line. */
static bool is_clean(struct str path)
{
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] <= ' ' || path.p[i] == 0x7f)
			return false;
	return true;
}

/* "[::1]" or "10.0.0.1" off the front of s; what follows stays in *s. */
static struct str take_host(struct str *s)
{
	struct str host = *s;
	size_t end;

	if (str_starts(*s, "[")) {
		end = str_find(*s, ']');
		if (end == STR_NONE)
			return (struct str){"", 0};
		*s = str_from(*s, end + 1);
		return str_first(str_from(host, 1), end - 1);
	}
	end = str_find(*s, ':');
	*s = end == STR_NONE ? str_from(*s, s->n) : str_from(*s, end);
	return str_first(host, end);
}

static bool parse_url(const char *url, struct target *t)
{
	struct str rest = str_of(url), host;
	uint64_t port = 80;
	size_t slash;

	if (!str_starts(rest, "http://"))
		return false;
	rest = str_from(rest, strlen("http://"));
	slash = str_find(rest, '/');
	t->path = slash == STR_NONE ? str_of("/") : str_from(rest, slash);
	t->host = str_first(rest, slash);
	rest = t->host;
	host = take_host(&rest);
	if (rest.n > 0 && (!str_starts(rest, ":") || !str_to_u64(str_from(rest, 1), &port)))
		return false;
	return port >= 1 && port <= 65535 && t->path.n < 2048 && is_clean(t->path) &&
	       set_address(t, host, (unsigned)port);
}

static bool wait_for(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	do
		n = poll(&p, 1, clock_left_ms(deadline));
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* A connected socket, or -1 with errno. */
static int dial(const struct target *t, int64_t deadline)
{
	int failed = ETIMEDOUT;
	socklen_t len = sizeof failed;
	int fd;

	fd = socket(t->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&t->addr, t->len) == 0)
		return fd;
	if (errno != EINPROGRESS)
		failed = errno;
	else if (wait_for(fd, POLLOUT, deadline) &&
		 getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0)
		return fd;
	close(fd);
	errno = failed;
	return -1;
}

static bool send_all(int fd, struct str bytes, int64_t deadline)
{
	while (bytes.n > 0) {
		const ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

		if (n >= 0)
			bytes = str_from(bytes, (size_t)n);
		else if (errno == EAGAIN && !wait_for(fd, POLLOUT, deadline))
			return false;
		else if (errno != EAGAIN && errno != EINTR)
			return false;
	}
	return true;
}

/* Until the other side closes, the cap, or the deadline. False when it was the deadline. */
static bool receive(int fd, struct buf *in, int64_t deadline)
{
	char chunk[16384];

	for (;;) {
		const ssize_t n = recv(fd, chunk, sizeof chunk, 0);

		if (n > 0) {
			buf_add(in, chunk, (size_t)n);
			if (!buf_ok(in) || clock_mono() > deadline)
				return !buf_ok(in);
		} else if (n == 0) {
			return true;
		} else if (errno == EAGAIN) {
			if (!wait_for(fd, POLLIN, deadline))
				return false;
		} else if (errno != EINTR) {
			return false;
		}
	}
}

/* "HTTP/1.1 200 OK": the number, or 0. */
static unsigned read_status(struct str answer)
{
	struct str line;
	uint64_t status;

	if (!str_line(&answer, &line) || !str_starts(line, "HTTP/1.") || line.n < 12)
		return 0;
	return str_to_u64(str_first(str_from(line, 9), 3), &status) ? (unsigned)status : 0;
}

/* What follows the empty line. */
static struct str read_body(struct str answer)
{
	struct str line;

	while (str_line(&answer, &line))
		if (line.n == 0)
			return answer;
	return (struct str){"", 0};
}

int http_get(const char *url, unsigned *status, struct buf *body, struct err *err)
{
	const int64_t deadline = clock_mono() + HTTP_TIMEOUT_S * CLOCK_SEC;
	AUTO_BUF ask, answer;
	struct target t;

	buf_init(&ask, 4096);
	buf_init(&answer, HTTP_BODY_MAX + HEAD_MAX);
	*status = 0;
	if (!parse_url(url, &t))
		return bad_url(url, err);
	buf_addf(&ask,
		"GET " STR_FMT " HTTP/1.0\r\nHost: " STR_FMT
		"\r\nUser-Agent: stoika\r\nAccept: */*\r\nConnection: close\r\n\r\n",
		STR_ARG(t.path), STR_ARG(t.host));
	AUTO_FD fd = dial(&t, deadline);
	if (fd < 0 || !send_all(fd, buf_str(&ask), deadline) || !receive(fd, &answer, deadline))
		return 0;
	*status = read_status(buf_str(&answer));
	buf_add_str(body, str_first(read_body(buf_str(&answer)), HTTP_BODY_MAX));
	return 0;
}

bool http_port_open(unsigned port, int64_t timeout)
{
	struct target t;

	if (port < 1 || port > 65535 || !set_address(&t, str_of("127.0.0.1"), port))
		return false;
	AUTO_FD fd = dial(&t, clock_mono() + timeout);
	return fd >= 0;
}

int http_connect(const char *address, unsigned port, int64_t timeout)
{
	struct target t;

	if (port < 1 || port > 65535 || !set_address(&t, str_of(address), port))
		return EINVAL;
	AUTO_FD fd = dial(&t, clock_mono() + timeout);
	return fd >= 0 ? 0 : errno;
}
