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
#include <sys/stat.h>
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
/* A tree has links too, and a later entry may take an earlier one's place. */
#define LINKING      (WRITING | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define ABI_OF_REFER 2 /* from then on a second name in another folder can be allowed */

static bool is_look(const struct job *j)
{
	return !j->manifest && !j->policy;
}

int confine_descriptors(const struct job *j, struct err *err)
{
	int give[] = {j->in, j->target, j->report};
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
	umask(0);
	if (!is_look(j) && fchdir(TARGET))
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

/* The rule for the folder; a look at an archive reaches nothing at all. */
static int add_rule(int rules, const struct job *j, uint64_t access, struct err *err)
{
	struct landlock_path_beneath_attr target = {.allowed_access = access, .parent_fd = TARGET};

	if (!is_look(j) &&
		syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &target, 0))
		return err_sys(err, errno, "cannot enter Landlock");
	return 0;
}

static uint64_t wanted_access(const struct job *j, bool refer)
{
	uint64_t access = j->policy ? LINKING : WRITING;

	if (j->policy && j->policy->image)
		access = ALL_OF_V1 & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
	return refer ? access | LANDLOCK_ACCESS_FS_REFER : access;
}

/* Kernels without it, with it switched off at boot, or behind a container's filter of system calls:
 * without it. */
static int enter_landlock(const struct job *j, struct err *err)
{
	const long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const bool refer = j->policy && abi >= ABI_OF_REFER;
	struct landlock_ruleset_attr all = {
		.handled_access_fs = refer ? ALL_OF_V1 | LANDLOCK_ACCESS_FS_REFER : ALL_OF_V1};
	/* without the members that later versions added, which old kernels refuse */
	long rules = syscall(SYS_landlock_create_ruleset, &all, sizeof all.handled_access_fs, 0);
	int rc;

	if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM))
		return 0;
	if (rules < 0)
		return err_sys(err, errno, "cannot enter Landlock");
	rc = add_rule((int)rules, j, wanted_access(j, refer), err);
	if (!rc && syscall(SYS_landlock_restrict_self, (int)rules, 0))
		rc = err_sys(err, errno, "cannot enter Landlock");
	close((int)rules);
	return rc;
}

/* What only an operating system's root needs: owners, set-uid bits, devices, others' folders. */
static uint32_t wanted_capabilities(const struct job *j)
{
	if (!j->policy || !j->policy->image)
		return 0;
	return 1u << CAP_CHOWN | 1u << CAP_FOWNER | 1u << CAP_FSETID | 1u << CAP_DAC_OVERRIDE |
	       1u << CAP_MKNOD;
}

static int drop_capabilities(uint32_t keep, struct err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct left[2] = {{.effective = keep, .permitted = keep}, {0}};
	if (syscall(SYS_capset, &head, left))
		return err_sys(err, errno, "cannot drop capabilities");
	return 0;
}

int confine_process(const struct job *j, struct err *err)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(err, errno, "cannot give up new privileges");
	int rc = set_limit(RLIMIT_FSIZE, j->largest, err);
	if (!rc)
		rc = set_limit(RLIMIT_CPU, CPU_SECONDS + j->total / BYTES_PER_SECOND, err);
	if (!rc)
		rc = set_limit(RLIMIT_CORE, 0, err);
	if (!rc)
		rc = enter_landlock(j, err);
	if (!rc)
		rc = drop_capabilities(wanted_capabilities(j), err);
	return rc;
}
