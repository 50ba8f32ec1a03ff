#include "controller/serve/notify.h"

#include "agent/base/str.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool notify_send(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const size_t n = path ? strlen(path) : 0;
	ssize_t sent;
	int fd;

	if (n == 0 || n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
		return false;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@') /* an abstract name */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		(const struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
	return sent >= 0;
}

int64_t notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t v = 0, who = 0;

	if (!usec || !str_to_u64(str_of(usec), &v) || v > INT64_MAX / 1000)
		return 0;
	if (pid && (!str_to_u64(str_of(pid), &who) || who != (uint64_t)getpid()))
		return 0;
	return (int64_t)v * 1000 / 2;
}
