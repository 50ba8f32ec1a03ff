/* known_hosts_fuzz - any bytes as a known_hosts file; what is found is one "type base64". */
#include "agent/base/mem.h"
#include "controller/ssh/known_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FD fd = memfd_create("known_hosts", MFD_CLOEXEC);
	AUTO_BUF out = {0};
	char path[32];

	buf_init(&out, 1 << 20);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (known_hosts_find(path, "10.0.0.1", 22, "n1", &out, NULL) == 0 &&
		str_find(buf_str(&out), ' ') == STR_NONE)
		abort();
	return 0;
}
