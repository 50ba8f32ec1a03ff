/*
 * listing - what lies in the folder of an air-gap bundle: manifest.json, and manifest.sig over its
 * bytes.
 *
 * The manifest is written last and taken away first, so a folder with one is whole.
 */
#pragma once

#include "agent/base/json.h"

struct err;
struct sign_key;

#define LISTING_FILES_MAX 200000

/* {path: {size, sha256}} of all plain files below dir but the manifest's and those of .work. */
int listing_of(int dir, json_t **out, struct err *err);
int listing_write(int dir, const json_t *doc, const struct sign_key *key, struct err *err);
int listing_remove(int dir, struct err *err);
/* E_VERIFY when there is none, or it is not signed by key. */
int listing_read(int dir, const struct sign_key *key, json_t **doc, struct err *err);
/* A line of text to bad for each file of doc that is not there or not as written. */
void listing_compare(int dir, const json_t *doc, json_t *bad);
