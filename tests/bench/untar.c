/* untar - unpacks an archive as the agent does, for the comparison in unpack.sh. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/unpack/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct tree_policy policy = {.image = true};
	struct tree_result result;
	struct err err = {0};

	if (argc != 3 || (mkdir(argv[2], 0755) < 0 && access(argv[2], W_OK) < 0)) {
		fprintf(stderr, "usage: bench-untar ARCHIVE FOLDER\n");
		return 2;
	}
	AUTO_FD from = open(argv[1], O_RDONLY | O_CLOEXEC);
	AUTO_FD to = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from < 0 || to < 0) {
		fprintf(stderr, "bench-untar: cannot open '%s' or '%s'\n", argv[1], argv[2]);
		return 2;
	}
	if (unpack_tree(from, to, &policy, &result, &err) < 0) {
		err_print(&err);
		return 1;
	}
	printf("%s %u files, %u folders, %u links, %llu bytes\n", result.sha256, result.files,
		result.folders, result.links, (unsigned long long)result.bytes);
	return 0;
}
