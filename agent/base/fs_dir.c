#include "agent/base/fs_dir.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

DIR *fs_dir_open(int root, const char *path, struct err *err)
{
	const int fd = fs_open(root, path, O_RDONLY | O_DIRECTORY, 0, true, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir) {
		const int sys = errno;

		close(fd);
		err_sys(err, sys, "cannot list '%s'", path);
	}
	return dir;
}
