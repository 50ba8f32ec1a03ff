/*
 * before - what runs have changed, kept per recipe so that it can be taken back.
 *
 * STATE/before/RECIPE.json: {"format":1,"recipe":NAME,"entries":[{id, step, item,
 * handler, name, kind, args, before, after, notify}]} in the order of the changes.
 * It is made of journals: an intent says what was there before, the record of the
 * step what there is after. Of one and the same change the first before and the
 * last after count, so that journals can be trimmed without losing the way back.
 * Bytes of files lie in STATE/before/blobs under their SHA-256 (agent/step/keep.h).
 *
 * Folding the same journal twice gives the same, so it may be repeated after a crash.
 */
#pragma once

#include "agent/base/json.h"

#define BEFORE_ENTRIES_MAX 10000     /* of a recipe; past it the oldest is forgotten */
#define BEFORE_HIDDEN      "$hidden" /* in place of a state that holds a secret */
#define BEFORE_ALL         "*"       /* as the entry of an undo record: all of its recipe */

struct err;

/* Takes what the journal of run tells into the files. Nothing to tell changes no file. */
int before_fold(int state, const char *run, struct err *err);
/* The entries of a recipe: a new reference to its document; without any it is an empty one. */
int before_load(int state, const char *recipe, json_t **doc, struct err *err);
json_t *before_entries(json_t *doc); /* borrowed */
/* The entry that an intent would be one with, borrowed; NULL: it is a change of its own. */
json_t *before_find(json_t *doc, const json_t *intent);
/* The folder of the bytes, made when needed; a descriptor. */
int before_open_blobs(int state, struct err *err);
