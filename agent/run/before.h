/*
 * before - what runs have changed, kept per recipe so that it can be taken back.
 *
 * STATE/before/RECIPE.json: {"format":1,"recipe":NAME,"entries":[{id, step, item,
 * handler, name, kind, args, before, after, notify}]} in the order of the changes.
 * It is made of journals: an intent says what was there before, the record of the
 * step what there is after. Of one and the same change the first before and the
 * last after count, so that journals can be trimmed without losing the way back. An
 * entry has them for each of the last runs too (runs), to take back just one of these.
 * Bytes of files lie in STATE/before/blobs under their SHA-256 (agent/step/keep.h).
 *
 * Folding the same journal twice gives the same, so it may be repeated after a crash.
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/str.h"

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

/* --- single runs (before_run.c); of: a run's id, with its tries: NAME, NAME-2, NAME-3 ... --- */

/* What a run and its tries did to a change; borrowed. */
struct before_share {
	json_t *args, *before, *after; /* before and after may be NULL */
	const char *since;             /* another run that changed it again since; NULL: none */
};
bool before_is_of(struct str run, const char *of);
bool before_has_run(const json_t *entry, const char *run);
void before_begin_run(json_t *doc, json_t *entry, const char *run, const json_t *intent);
void before_end_run(json_t *entry, const char *run, json_t *after);
/* False: it has none in this entry. */
bool before_share(const json_t *entry, const char *of, struct before_share *out);
/* Its share of the entry at that index is taken back; the entry goes when it made it. */
void before_drop_run(json_t *doc, size_t at, const char *of);
/* Its share of some entry is not known any more. */
bool before_forgot(const json_t *doc, const char *of);
/* There are entries, and it made all of them. */
bool before_all_of(json_t *doc, const char *of);

/* The folder of the bytes, made when needed; a descriptor. */
int before_open_blobs(int state, struct err *err);
