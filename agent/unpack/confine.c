/* confine - the walls around the child: descriptors, limits, capabilities, Landlock. */
#include "agent/base/err.h"
#include "agent/unpack/unpack_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU_SECONDS      60
#define BYTES_PER_SECOND (8u << 20) /* of CPU time: hashing on a slow core is ten times that */
#define TARGET           4

/* What Landlock's first version knows; it is asked for nothing newer. */
#define ALL_OF_V1 (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)
#define WRITING                                                             \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |     \
		LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
		LANDLOCK_ACCESS_FS_MAKE_REG)

int confine_descriptors(int in, int dirfd, int report, struct err *err)
{
	int give[] = {in, dirfd, report};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* first out of the way, so that no target number is somebody's source */
	for (int i = 0; i < 3; i++)
		give[i] = fcntl(give[i], F_DUPFD_CLOEXEC, 64);
	/* 1 may be the wire to the controller; 2 stays for a sanitizer's last words */
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return err_sys(err, errno, "cannot open '/dev/null'");
	for (int i = 0; i < 3; i++)
		if (give[i] < 0 || dup2(give[i], 3 + i) < 0)
			return err_sys(err, errno, "cannot arrange descriptors");
	closefrom(6);
	if (fchdir(TARGET))
		return err_sys(err, errno, "cannot enter the target folder");
	return 0;
}

static int set_limit(int what, uint64_t value, struct err *err)
{
	struct rlimit limit = {value, value};
	if (setrlimit((enum __rlimit_resource)what, &limit))
		return err_sys(err, errno, "cannot set a limit");
	return 0;
}

/* Kernels without it, with it switched off at boot, or behind a container's filter of system calls:
 * without it. */
static int enter_landlock(struct err *err)
{
	struct landlock_ruleset_attr all = {.handled_access_fs = ALL_OF_V1};
	struct landlock_path_beneath_attr target = {.allowed_access = WRITING, .parent_fd = TARGET};
	/* without the members that later versions added, which old kernels refuse */
	long rules = syscall(SYS_landlock_create_ruleset, &all, sizeof all.handled_access_fs, 0);
	if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM))
		return 0;
	if (rules < 0 ||
		syscall(SYS_landlock_add_rule, (int)rules, LANDLOCK_RULE_PATH_BENEATH, &target,
			0) ||
		syscall(SYS_landlock_restrict_self, (int)rules, 0))
		return err_sys(err, errno, "cannot enter Landlock");
	close((int)rules);
	return 0;
}

static int drop_capabilities(struct err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	if (syscall(SYS_capset, &head, none))
		return err_sys(err, errno, "cannot drop capabilities");
	return 0;
}

int confine_process(uint64_t largest, uint64_t total, struct err *err)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(err, errno, "cannot give up new privileges");
	int rc = set_limit(RLIMIT_FSIZE, largest, err);
	if (!rc)
		rc = set_limit(RLIMIT_CPU, CPU_SECONDS + total / BYTES_PER_SECOND, err);
	if (!rc)
		rc = set_limit(RLIMIT_CORE, 0, err);
	if (!rc)
		rc = enter_landlock(err);
	if (!rc)
		rc = drop_capabilities(err);
	return rc;
}
