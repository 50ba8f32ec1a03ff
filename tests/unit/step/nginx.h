/*
 * nginx - a real server for tests of downloads, on a free port of this machine.
 *
 * /files/ holds what the test puts into FOLDER/files; /slow/ is the same at 400 kB a second; /loop
 * redirects for ever, /moved/ once; FOLDER/access.log says "STATUS RANGE PATH".
 */
#pragma once

#include "agent/base/clock.h"
#include "tests/unit/t.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct nginx {
	char folder[128];
	unsigned port;
	pid_t pid;
};

static inline unsigned free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof a;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static inline bool port_answers(unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons((uint16_t)port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool good = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;

	close(fd);
	return good;
}

static inline void nginx_write(
	const struct nginx *n, const char *name, const char *text, size_t size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", n->folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

static inline void nginx_config(const struct nginx *n)
{
	char text[2048];
	const int size = snprintf(text, sizeof text,
		"daemon off; master_process off; pid %s/pid; error_log %s/error.log;\n"
		"events { worker_connections 64; }\n"
		"http { log_format t '$status $http_range $uri'; access_log %s/access.log t;\n"
		" client_body_temp_path %s/t1; proxy_temp_path %s/t2; fastcgi_temp_path %s/t3;\n"
		" uwsgi_temp_path %s/t4; scgi_temp_path %s/t5; sendfile on;\n"
		" server { listen 127.0.0.1:%u; root %s;\n"
		"  location /slow/ { alias %s/files/; limit_rate 400k; }\n"
		"  location /loop { return 302 /loop; }\n"
		"  location /busy { return 503; }\n"
		"  location /moved/ { return 302 /files/$arg_name; } } }\n",
		n->folder, n->folder, n->folder, n->folder, n->folder, n->folder, n->folder,
		n->folder, n->port, n->folder, n->folder);

	nginx_write(n, "nginx.conf", text, (size_t)size);
}

/* False: this machine has no nginx. */
static inline bool nginx_start(struct nginx *n)
{
	char path[300];

	if (access("/usr/sbin/nginx", X_OK) < 0)
		return false;
	snprintf(n->folder, sizeof n->folder, "%s/nginx", t_dir());
	assert_int_equal(mkdir(n->folder, 0755), 0);
	assert_int_equal(chmod(t_dir(), 0755), 0);
	snprintf(path, sizeof path, "%s/files", n->folder);
	assert_int_equal(mkdir(path, 0755), 0);
	n->port = free_port();
	nginx_config(n);
	snprintf(path, sizeof path, "%s/nginx.conf", n->folder);
	n->pid = fork();
	if (n->pid == 0) {
		execl("/usr/sbin/nginx", "nginx", "-c", path, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 200 && !port_answers(n->port); i++)
		clock_sleep(20 * CLOCK_MS);
	assert_true(port_answers(n->port));
	return true;
}

static inline void nginx_stop(const struct nginx *n)
{
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
}

static inline bool nginx_logged(const struct nginx *n, const char *part)
{
	char path[300], text[65536];
	size_t got;
	FILE *f;

	snprintf(path, sizeof path, "%s/access.log", n->folder);
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fread(text, 1, sizeof text - 1, f);
	text[got] = '\0';
	fclose(f);
	return strstr(text, part) != NULL;
}
