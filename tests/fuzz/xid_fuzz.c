/* xid_fuzz - any bytes as lines of a kernel's log. */
#include "agent/facts/xid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = {(const char *)data, n}, line;
	size_t seen = 0;
	struct xid x;

	while (str_line(&rest, &line))
		if (xid_parse(line, &x))
			seen += x.text.n + x.slot.n;
	return seen > 2 * n ? -1 : 0;
}
