/* kernel_log - from a file as the lab has it, and from a root that has none. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/kernel_log.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(kernel_log_of_a_root)
{
	const int root = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err;
	struct buf log;
	int fd;

	buf_init(&log, 1 << 16);
	assert_int_equal(kernel_log_read(root, &log, &err), -E_NOTFOUND);
	assert_true(err.hint[0] != '\0');
	assert_int_equal(mkdirat(root, "dev", 0755), 0);
	fd = openat(root, "dev/kmsg", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fs_write_all(fd, STR_LIT("4,1,2,-;a line\n"), NULL), 0);
	close(fd);
	assert_int_equal(kernel_log_read(root, &log, &err), 0);
	assert_int_equal(log.n, 15000);
	buf_done(&log);
	buf_init(&log, 1000);
	assert_int_equal(kernel_log_read(root, &log, &err), -E_LIMIT);
	buf_done(&log);
	close(root);
}

T_MAIN
