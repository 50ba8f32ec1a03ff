/*
 * initramfs - made anew by the tool of the distribution, with room in /boot made sure of first.
 *
 * A half-written initramfs does not boot: so as much must be free as the
 * largest there is takes, and a bit.
 */
#pragma once

#include "agent/step/step.h"

#define INITRAMFS_SPARE (UINT64_C(16) << 20)

/*
 * Is the newest image in /boot older than the file? Then it was made without it: whoever wrote the
 * file did not come to rebuild. False without an image, or without the file.
 */
bool initramfs_is_older(const struct step_env *env, const char *path);
int initramfs_rebuild(const struct step_env *env, struct err *err);
/* E_NOSPACE unless bytes are free in /boot. */
int initramfs_want_space(const struct step_env *env, uint64_t bytes, struct err *err);
