/* initramfs - how: the largest image in /boot tells what a new one takes. */
#include "agent/step/initramfs.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define BOOT     "/boot"
#define PATIENCE (900 * CLOCK_SEC)

struct images {
	uint64_t largest;
	struct timespec newest;
};

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static void take_image(int folder, const char *name, struct images *out)
{
	struct stat st;

	if (!str_starts(str_of(name), "initrd") && !str_starts(str_of(name), "initramfs"))
		return;
	if (fstatat(folder, name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return;
	if ((uint64_t)st.st_size > out->largest)
		out->largest = (uint64_t)st.st_size;
	if (is_before(out->newest, st.st_mtim))
		out->newest = st.st_mtim;
}

static struct images look_at_images(const struct step_env *env)
{
	DIR *dir = fs_dir_open(env->root, BOOT, NULL);
	struct images found = {0};
	const struct dirent *e;

	if (!dir)
		return found;
	while ((e = readdir(dir)))
		take_image(dirfd(dir), e->d_name, &found);
	closedir(dir);
	return found;
}

bool initramfs_is_older(const struct step_env *env, const char *path)
{
	const struct images found = look_at_images(env);
	struct stat st;

	return found.newest.tv_sec > 0 && fs_stat(env->root, path, true, &st, NULL) == 0 &&
	       is_before(found.newest, st.st_mtim);
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
	int rc;

	if (!tool_is_there(env, argv[0])) {
		err_set(err, E_UNSUPPORTED,
			"neither update-initramfs nor dracut is installed on this node");
		return err_hint(err, "install one, or leave 'initramfs' out");
	}
	rc = initramfs_want_space(env, look_at_images(env).largest + INITRAMFS_SPARE, err);
	if (rc == 0)
		rc = tool_must_within(env, argv, PATIENCE, err);
	return rc < 0 ? err_wrap(err, "the initramfs was not made anew") : 0;
}
