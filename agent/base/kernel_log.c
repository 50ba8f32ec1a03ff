#include "agent/base/kernel_log.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define RECORD_MAX 8192 /* the kernel refuses smaller buffers than a record needs */

int kernel_log_read(int root, struct buf *out, struct err *err)
{
	AUTO_FD fd = fs_open(root, "/dev/kmsg", O_RDONLY | O_NONBLOCK, 0, true, err);
	char record[RECORD_MAX];

	if (fd < 0)
		return err_hint(err, "the kernel's log is read there; containers have none");
	for (;;) {
		const ssize_t n = read(fd, record, sizeof record);

		if (n > 0)
			buf_add(out, record, (size_t)n);
		/* EPIPE: the record was overwritten meanwhile, the next one is there */
		else if (n == 0 || (errno != EPIPE && errno != EINTR))
			break;
	}
	return buf_ok(out) ? 0 : err_set(err, E_LIMIT, "the kernel's log is too long");
}
