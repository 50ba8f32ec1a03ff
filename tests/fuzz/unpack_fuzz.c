/* unpack_fuzz - the child's work on hostile archives, in this process; its seeds are tar files. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/unpack/unpack_priv.h"
#include "agent/wire/manifest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char dir[] = "/dev/shm/stoika-fuzz.XXXXXX";

static void remove_dir(void)
{
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* SHA-256 of "a\n" and of nothing */
	static struct manifest_file files[] = {
		{"d/f", 2, "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7",
			0644},
		{"e", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0755},
	};
	static const struct manifest m = {.n_files = 2, .files = files, .bytes = 2};
	static int target = -1;
	struct err err;
	int in = memfd_create("in", MFD_CLOEXEC);
	if (in < 0 || write(in, data, n) != (ssize_t)n || lseek(in, 0, SEEK_SET))
		abort();
	if (target < 0 && mkdtemp(dir)) {
		target = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(remove_dir);
	}
	extract_all(in, target, &m, &err);
	fs_remove(target, "d", true, NULL);
	fs_remove(target, "e", true, NULL);
	close(in);
	return 0;
}
