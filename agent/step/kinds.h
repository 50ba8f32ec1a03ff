/* kinds - one struct step_ops per kind of agent/recipe/kind.c, each in a file of its name. */
#pragma once

#include "agent/step/step.h"

extern const struct step_ops STEP_PACKAGE, STEP_FILE, STEP_TEMPLATE, STEP_DIRECTORY, STEP_LINK,
	STEP_LINE, STEP_SERVICE, STEP_USER, STEP_GROUP, STEP_SYSCTL, STEP_COMMAND, STEP_WAIT,
	STEP_ASSERT, STEP_NOTE, STEP_REBOOT, STEP_HOSTNAME, STEP_HOSTS, STEP_LIMITS, STEP_CRON,
	STEP_UNIT, STEP_TIMER, STEP_MOUNT, STEP_SWAP,
	STEP_DOWNLOAD, STEP_ARCHIVE, STEP_MERGE;
