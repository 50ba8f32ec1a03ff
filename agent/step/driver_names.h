/*
 * driver_names - what the packages of an NVIDIA driver are called, by distribution, origin and
 * branch.
 *
 * NVIDIA's repository for apt names packages after the branch up to 580; from 590 on the names are
 * plain and a pinning package, installed first, chooses the branch. Ubuntu's archive keeps the
 * branch in all names. On RHEL a module stream chooses it.
 */
#pragma once

#include "agent/step/packager.h"

struct driver_request {
	const char *distribution; /* "ubuntu", "debian", "rhel" (and its rebuilds) */
	const char *origin;       /* "cuda" (NVIDIA's repository) or "ubuntu" (its archive) */
	unsigned branch;          /* 580 */
	bool open;                /* the open kernel modules */
	bool compute;             /* without what only a display needs */
};

struct driver_packages {
	struct names first;    /* in a transaction before: what chooses the branch */
	struct names packages; /* in one transaction */
	const char *stream;    /* of dnf's module, or NULL */
	struct names sources;  /* other repositories that are needed: "epel", "crb" */
};

/* Texts live in a. E_UNSUPPORTED when there is no such combination. */
int driver_packages(struct arena *a, const struct driver_request *r, struct driver_packages *out,
	struct err *err);
void driver_packages_done(struct driver_packages *p);
/*
 * A package name that NVIDIA's apt repository cannot have (nvidia-open-595): E_NOTFOUND with the
 * names that mean it. 0 for all others.
 */
int driver_name_check(const char *name, struct err *err);
