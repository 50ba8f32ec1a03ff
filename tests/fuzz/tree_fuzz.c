/* tree_fuzz - whole archives of any kind, in this process; its seeds are tar files. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/unpack/unpack_priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/dev/shm/stoika-fuzz.XXXXXX";

static void remove_dir(void)
{
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct tree_policy policy = {.strip = n % 2, .bytes = 1u << 20, .entries = 100};
	struct tree_result result;
	struct err err = {0};
	int in = memfd_create("in", MFD_CLOEXEC), target;

	if (in < 0 || write(in, data, n) != (ssize_t)n || lseek(in, 0, SEEK_SET))
		abort();
	if (access(dir, W_OK)) {
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	target = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(target, "t", 0755))
		abort();
	const int t = openat(target, "t", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree_all(in, t, &policy, &result, &err) < 0 && !err.msg[0])
		abort();
	close(t);
	if (fs_remove(target, "t", true, &err) < 0)
		abort();
	close(target);
	close(in);
	return 0;
}
