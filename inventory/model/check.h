/*
 * check - is this model a site that can stand? Pure; every problem is reported, none repaired.
 *
 * Each problem names the row and the field at fault, so that an importer can
 * point at the place it read the row from. Messages name the other party with
 * its line when it has one. References are indexes that the caller has resolved.
 */
#pragma once

#include "agent/base/err.h"
#include "inventory/model/index.h"
#include "inventory/model/model.h"

struct model_problem {
	enum ec code;
	enum model_noun noun;
	size_t row;
	const char *field; /* "position", "volts"; NULL: the row itself */
	char msg[320];
	char hint[200];
};

struct model_check {
	const struct model *m;
	void (*report)(void *ctx, const struct model_problem *p);
	void *ctx;
};

void model_check_all(const struct model_check *c);

void model_check_names(const struct model_check *c);    /* twice the same name */
void model_check_feeds(const struct model_check *c);    /* volts, amps, phases from panel to bank */
void model_check_supplies(const struct model_check *c); /* loops, two sources of one thing */
void model_check_types(const struct model_check *c);    /* PSUs, GPUs, limits, and their caps */
/* two in one half of a unit, devices and reservations, outside the rack */
void model_check_space(const struct model_check *c);
void model_check_dates(const struct model_check *c);
void model_check_cords(const struct model_check *c); /* outlets and power ports used twice */
void model_check_cables(
	const struct model_check *c);                /* ports cabled twice, power on a data cable */
void model_check_nodes(const struct model_check *c); /* addresses, host keys */
void model_check_roles(const struct model_check *c); /* of nodes, once roles are described */
