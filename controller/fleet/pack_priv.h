/* pack_priv - what pack.c (the store of bundles) and pack_tar.c (files to a payload) share. */
#pragma once

#include "agent/base/arena.h"
#include "agent/wire/manifest.h"
#include "controller/fleet/pack.h"

#define PACK_BYTES_MAX (UINT64_C(256) << 20) /* sent over SSH; larger bodies travel by HTTP */

/* The files of the recipes as a manifest without serial and times; in a. */
int pack_list_files(struct arena *a, const struct pack_recipe *recipes, unsigned n,
	struct manifest *out, struct err *err);
/* Those files as tar.zst into fd; E_VERIFY when one changed since it was listed. */
int pack_write_payload(int fd, const struct pack_recipe *recipes, unsigned n,
	const struct manifest *m, struct err *err);
