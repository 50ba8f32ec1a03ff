/* disk_text_fuzz - what wipefs, lvm, the kernel and a disk's first bytes say; the first byte
 * chooses. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/step/lvm_report.h"
#include "agent/step/mdstat.h"
#include "agent/step/signatures.h"

#include <stdlib.h>
#include <string.h>

static void read_signatures(struct str text)
{
	struct signature s;
	unsigned n;
	struct err err = {0};
	AUTO_BUF out;

	buf_init(&out, 32u << 10);
	if (signatures_read(text, "  ", &out, &n, &err) < 0 && !err.msg[0])
		abort();
	signatures_find(text, "ext4", &s);
}

static void read_lvm(struct str text)
{
	struct lvm_volume v;
	struct lvm_group g;
	struct err err = {0};

	if (lvm_report_read(text, "data", &g, &err) < 0)
		return;
	lvm_report_volume(&g, "models", &v);
	lvm_report_owner(&g, "/dev/sda");
	lvm_report_done(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = {(const char *)data + 1, n - 1};
	struct signature s;
	struct mdstat m;

	if (n == 0)
		return 0;
	switch (data[0]) {
	case 'w':
		read_signatures(text);
		break;
	case 'l':
		read_lvm(text);
		break;
	case 'm':
		while (mdstat_next(&text, &m))
			if (m.n_members > MDSTAT_MEMBERS_MAX ||
				!memchr(m.level, '\0', sizeof m.level))
				abort();
		break;
	default:
		if (signature_of(text, &s) && !s.type[0])
			abort();
	}
	return 0;
}
