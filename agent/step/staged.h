/*
 * staged - downloads that were fetched ahead, below /var/cache/stoika-agent/staged, each called by
 * its SHA-256. What nobody came for within 30 days goes with the next one that is staged.
 */
#pragma once

#include "agent/fetch/fetch.h"
#include "agent/step/step.h"

#define STAGED_FOLDER "/var/cache/stoika-agent/staged"

/* Fetches it unless it is here; *bytes: how many came. */
int staged_fetch(
	const struct step_env *env, const struct fetch_order *o, uint64_t *bytes, struct err *err);
/* 1: fd, emptied first, holds the bytes now, and they are no longer kept here; 0: they are not
 * here, or are others. */
int staged_take(const struct step_env *env, const char *sha256, int fd, struct err *err);
