/* domain_site - the questions about what stands around the GPUs. */
#include "inventory/design/collective_domain.h"
#include "inventory/design/domain.h"
#include "inventory/design/fabric_domain.h"
#include "inventory/design/lint_read.h"
#include "inventory/design/storage_domain.h"
#include "inventory/design/tco_domain.h"

#include <stddef.h>

const struct domain DOMAIN_SITE[] = {
	{"collectives", collective_answer},
	{"fabric", fabric_answer},
	{"storage.checkpoint", storage_checkpoint_answer},
	{"storage.bandwidth", storage_bandwidth_answer},
	{"storage.goodput", storage_goodput_answer},
	{"storage.raid", storage_raid_answer},
	{"video.archive", storage_archive_answer},
	{"tco", tco_answer},
	{"lint", lint_answer},
	{NULL, NULL},
};
