/* service: a daemon that does nothing, named by how it is called; its pid goes to /run/NAME.pid. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_pid(const char *name)
{
	char path[64], pid[16];
	int fd, n;

	snprintf(path, sizeof path, "/run/%s.pid", name);
	n = snprintf(pid, sizeof pid, "%d\n", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd < 0 || write(fd, pid, (size_t)n) != n;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

	if (daemon(0, 0) != 0 || write_pid(slash ? slash + 1 : argv[0]) != 0)
		return 1;
	for (;;)
		pause();
}
