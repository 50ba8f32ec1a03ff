/* initramfs - how: the largest image in /boot tells what a new one takes. */
#include "agent/step/initramfs.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define BOOT     "/boot"
#define PATIENCE (900 * CLOCK_SEC)

static uint64_t largest_image(const struct step_env *env)
{
	int fd = fs_open(env->root, BOOT, O_RDONLY | O_DIRECTORY, 0, true, NULL);
	const struct dirent *e;
	uint64_t largest = 0;
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return 0;
	}
	while ((e = readdir(dir)))
		if ((str_starts(str_of(e->d_name), "initrd") ||
			    str_starts(str_of(e->d_name), "initramfs")) &&
			fstatat(dirfd(dir), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
			(uint64_t)st.st_size > largest)
			largest = (uint64_t)st.st_size;
	closedir(dir);
	return largest;
}

int initramfs_want_space(const struct step_env *env, uint64_t bytes, struct err *err)
{
	uint64_t have, inodes;
	int rc = fs_free_space(env->root, BOOT, &have, &inodes, err);

	if (rc < 0 || have >= bytes)
		return rc;
	err_set(err, E_NOSPACE,
		"'" BOOT "' has %" PRIu64 " MiB free, expected at least %" PRIu64 " MiB",
		have >> 20, (bytes >> 20) + 1);
	return err_hint(err, "remove kernels that are not needed: 'apt-get autoremove' or 'dnf "
			     "remove --oldinstallonly'");
}

int initramfs_rebuild(const struct step_env *env, struct err *err)
{
	static const char *const DEBIAN[] = {"update-initramfs", "-u", NULL};
	static const char *const DRACUT[] = {"dracut", "-f", NULL};
	const char *const *argv = tool_is_there(env, DEBIAN[0]) ? DEBIAN : DRACUT;
	const struct proc p = {.argv = argv, .timeout = PATIENCE};
	struct proc_result res;
	int rc;

	if (!tool_is_there(env, argv[0])) {
		err_set(err, E_UNSUPPORTED,
			"neither update-initramfs nor dracut is installed on this node");
		return err_hint(err, "install one, or leave 'initramfs' out");
	}
	rc = initramfs_want_space(env, largest_image(env) + INITRAMFS_SPARE, err);
	if (rc == 0)
		rc = tool_run(env, argv, NULL, PATIENCE, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	proc_result_done(&res);
	return rc < 0 ? err_wrap(err, "the initramfs was not made anew") : 0;
}
