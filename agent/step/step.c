/* step - the table of kinds, and the life of a report. */
#include "agent/step/step.h"

#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <string.h>

static const struct step_ops *const OPS[] = {
	&STEP_PACKAGE,
	&STEP_REPO,
	&STEP_FIREWALL,
	&STEP_KERNEL_ARG,
	&STEP_KERNEL_MODULE,
	&STEP_FILE,
	&STEP_TEMPLATE,
	&STEP_DIRECTORY,
	&STEP_LINK,
	&STEP_LINE,
	&STEP_MERGE,
	&STEP_SERVICE,
	&STEP_USER,
	&STEP_GROUP,
	&STEP_SYSCTL,
	&STEP_COMMAND,
	&STEP_WAIT,
	&STEP_ASSERT,
	&STEP_NOTE,
	&STEP_REBOOT,
	&STEP_HOSTNAME,
	&STEP_HOSTS,
	&STEP_LIMITS,
	&STEP_CRON,
	&STEP_UNIT,
	&STEP_TIMER,
	&STEP_MOUNT,
	&STEP_SWAP,
	&STEP_DOWNLOAD,
	&STEP_ARCHIVE,
	&STEP_FILESYSTEM,
	&STEP_RAID,
	&STEP_LVM,
	&STEP_NVME_CONNECT,
	&STEP_OCI_IMAGE,
	&STEP_CONTAINER,
};

void step_report_init(struct step_report *r)
{
	memset(r, 0, sizeof *r);
	buf_init(&r->diff, REPORT_DIFF_MAX + REPORT_MARK_MAX);
}

void step_report_clear(struct step_report *r)
{
	buf_clear(&r->diff);
	r->state = STEP_SAME;
	r->why[0] = '\0';
	r->denied = false;
	r->always = false;
	r->reboot = false;
	r->tell = false;
}

void step_report_done(struct step_report *r)
{
	buf_done(&r->diff);
}

const struct step_ops *step_find(const char *kind)
{
	for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++)
		if (strcmp(OPS[i]->kind, kind) == 0)
			return OPS[i];
	return NULL;
}
