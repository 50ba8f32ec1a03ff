/* confine_test - what the unpacking child can no longer do; each check runs in a child of its own.
 */
#include "agent/base/err.h"
#include "agent/unpack/unpack_priv.h"
#include "agent/wire/manifest.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Runs check behind the walls; its exit status. */
static int behind_walls(int (*check)(void))
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2], status;
	int dir = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		static const struct manifest m = {0};
		const struct job j = {.in = in,
			.target = dir,
			.report = ends[1],
			.manifest = &m,
			.largest = 1000};
		struct err err = {0};
		if (confine_descriptors(&j, &err) || confine_process(&j, &err))
			_exit(99);
		_exit(check());
	}
	close(in);
	close(dir);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int only_six_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		if ((fcntl(fd, F_GETFD) >= 0) != (fd < 6))
			return 1;
	struct stat null, out;
	if (stat("/dev/null", &null) || fstat(1, &out) || out.st_rdev != null.st_rdev)
		return 2; /* the wire is out of reach */
	return 0;
}

static int can_write_below(void)
{
	if (mkdirat(4, "sub", 0755) && errno != EEXIST)
		return 1;
	int fd = openat(4, "sub/file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "x", 1) != 1 || fchmod(fd, 0755) || fsync(fd))
		return 2;
	int dir = openat(4, "sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir >= 0 && fsync(dir) == 0 ? 0 : 3;
}

static int cannot_make_more_than_files(void)
{
	if (symlinkat("x", 4, "link") == 0 || mknodat(4, "pipe", S_IFIFO | 0600, 0) == 0)
		return 1;
	if (mknodat(4, "device", S_IFCHR | 0600, 0x103) == 0)
		return 2;
	return unlinkat(4, "sub", AT_REMOVEDIR) == 0 ? 3 : 0;
}

static int cannot_reach_outside(void)
{
	if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0)
		return 1;
	if (open("/tmp/stoika-outside", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
		return 2;
	return openat(4, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ? 3 : 0;
}

static int has_no_privileges(void)
{
	if (chown("/proc/self", 1, 1) == 0 || setuid(1) == 0)
		return 1;
	return chroot(".") == 0 ? 2 : 0;
}

static int is_stopped_at_its_size(void)
{
	static char big[2000];
	int fd = openat(4, "big", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (write(fd, big, sizeof big) > 0)
		;
	return 1;
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

TEST(confine_leaves_what_is_needed)
{
	assert_int_equal(behind_walls(can_write_below), 0);
	assert_int_equal(behind_walls(only_six_descriptors), 0);
}

TEST(confine_takes_privileges)
{
	if (geteuid())
		skip();
	assert_int_equal(behind_walls(has_no_privileges), 0);
}

TEST(confine_limits_sizes)
{
	assert_int_equal(behind_walls(is_stopped_at_its_size), 128 + SIGXFSZ);
}

TEST(confine_locks_the_land)
{
	if (!has_landlock())
		skip();
	assert_int_equal(behind_walls(can_write_below), 0);
	assert_int_equal(behind_walls(cannot_make_more_than_files), 0);
	assert_int_equal(behind_walls(cannot_reach_outside), 0);
}

T_MAIN
