/* http - the small client behind http_ok, against a server of this test's own. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/step/http.h"
#include "tests/unit/t.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int listening(unsigned *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* A child that answers one connection with text (repeated), then closes or hangs. */
static pid_t serve(int fd, const char *text, int times, bool hang)
{
	const pid_t pid = fork();
	char ask[4096];

	if (pid != 0)
		return pid;
	const int c = accept(fd, NULL, NULL);

	if (read(c, ask, sizeof ask) < 0)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < times; i++)
		if (write(c, text, strlen(text)) < 0)
			break;
	if (hang)
		pause();
	_exit(0);
}

static unsigned get(const char *answer, int times, bool hang, struct buf *body)
{
	unsigned port, status = 0;
	const int fd = listening(&port);
	const pid_t pid = serve(fd, answer, times, hang);
	char url[64];

	snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics?x=1", port);
	assert_int_equal(http_get(url, &status, body, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	return status;
}

TEST(http_get_reads_status_and_body)
{
	struct buf body;

	buf_init(&body, HTTP_BODY_MAX);
	assert_int_equal(
		get("HTTP/1.1 200 OK\r\nX: y\r\n\r\nnode_uname_info 1\n", 1, false, &body), 200);
	assert_string_equal(buf_text(&body), "node_uname_info 1\n");
	buf_clear(&body);
	assert_int_equal(get("HTTP/1.0 503 Busy\r\n\r\n", 1, false, &body), 503);
	assert_int_equal(body.n, 0);
	buf_done(&body);
}

TEST(http_get_of_nonsense_is_no_answer)
{
	struct buf body;

	buf_init(&body, HTTP_BODY_MAX);
	assert_int_equal(get("SSH-2.0-OpenSSH_9.2\r\n", 1, false, &body), 0);
	assert_int_equal(get("HTTP/1.1 2x0 OK\r\n\r\n", 1, false, &body), 0);
	assert_int_equal(get("", 1, false, &body), 0);
	buf_done(&body);
}

TEST(http_get_stops_at_its_deadline)
{
	const int64_t start = clock_mono();
	struct buf body;

	buf_init(&body, HTTP_BODY_MAX);
	assert_int_equal(get("HTTP/1.1 200 OK\r\n\r\nhalf", 1, true, &body), 0);
	assert_true(clock_mono() - start >= (HTTP_TIMEOUT_S * CLOCK_SEC) / 2);
	assert_true(clock_mono() - start < 4 * HTTP_TIMEOUT_S * CLOCK_SEC);
	buf_done(&body);
}

TEST(http_get_stops_at_its_cap)
{
	static char chunk[70000];
	struct buf body;

	buf_init(&body, HTTP_BODY_MAX);
	memset(chunk, 'a', sizeof chunk - 1);
	memcpy(chunk, "HTTP/1.1 200 OK\r\n\r\n", strlen("HTTP/1.1 200 OK\r\n\r\n"));
	assert_int_equal(get(chunk, 100, true, &body), 200);
	assert_true(body.n <= HTTP_BODY_MAX);
	assert_true(body.n > HTTP_BODY_MAX / 2);
	buf_done(&body);
}

TEST(http_get_where_nobody_listens)
{
	unsigned port, status = 7;
	const int fd = listening(&port);
	char url[64];

	close(fd);
	snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
	assert_int_equal(http_get(url, &status, NULL, NULL), 0);
	assert_int_equal(status, 0);
	assert_false(http_port_open(port, CLOCK_SEC));
}

TEST(http_port_open_sees_a_listener)
{
	unsigned port;
	const int fd = listening(&port);

	assert_true(http_port_open(port, CLOCK_SEC));
	assert_false(http_port_open(0, CLOCK_SEC));
	assert_false(http_port_open(65536, CLOCK_SEC));
	close(fd);
}

static const char *const BAD[] = {"", "https://127.0.0.1/", "http://", "http://example.org/",
	"http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:x/",
	"http://127.0.0.1:80x/", "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y",
	"http://[::1", "http://1.2.3/", "http://user@127.0.0.1/", "127.0.0.1:80"};

TEST(http_get_refuses_other_addresses)
{
	unsigned status;
	struct err err;

	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
		if (http_get(BAD[i], &status, NULL, &err) != -E_SCHEMA || !err.hint[0])
			fail_msg("'%s' was not refused", BAD[i]);
}

T_MAIN
