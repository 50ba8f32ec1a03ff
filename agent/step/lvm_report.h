/* lvm_report - what "lvm fullreport --reportformat json --units b --nosuffix" says. */
#pragma once

#include "agent/base/json.h"

struct err;

struct lvm_volume {
	char name[128];
	uint64_t bytes;
};

struct lvm_group {
	bool there;
	uint64_t bytes, free, extent;
	json_t *devices; /* names of its physical volumes; new reference */
	json_t *root;    /* keeps the rest alive */
	json_t *volumes; /* borrowed of root */
};

/* E_SYNTAX, E_SCHEMA for what is not lvm's answer. there is false when the group is not in it. */
int lvm_report_read(struct str json, const char *group, struct lvm_group *out, struct err *err);
void lvm_report_done(struct lvm_group *g);
bool lvm_report_volume(const struct lvm_group *g, const char *name, struct lvm_volume *out);
/* The group that a device belongs to, "" none; NULL: the device is not in the report. */
const char *lvm_report_owner(const struct lvm_group *g, const char *device);
/* "100G", "512M", "1.5T": powers of 1024. */
bool lvm_size_read(const char *text, uint64_t *bytes);
