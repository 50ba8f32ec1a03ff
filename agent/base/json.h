/*
 * json - the one place that reads and writes JSON (over jansson).
 *
 * Parsing refuses duplicate keys, trailing text, more than the given bytes and
 * a depth over JSON_DEPTH_MAX before any tree is built. Accessors never fail:
 * a missing key or another type gives the default. References follow jansson:
 * a *new* reference is the caller's (json_decref), accessors borrow.
 */
#pragma once

#include "agent/base/str.h"

#include <jansson.h>

#define JSON_DEPTH_MAX 32

struct buf;
struct err;

/* A new reference in *out. E_SYNTAX (with line and column of name) or E_LIMIT. */
int json_parse(struct str text, size_t max, const char *name, json_t **out, struct err *err);
/* Compact, keys sorted: the same value gives the same bytes. */
void json_write(const json_t *v, struct buf *out);
void json_write_pretty(const json_t *v, struct buf *out);

const char *json_get_str(const json_t *obj, const char *key, const char *def);
int64_t json_get_int(const json_t *obj, const char *key, int64_t def);
bool json_get_bool(const json_t *obj, const char *key, bool def);
json_t *json_get(const json_t *obj, const char *key); /* borrowed, may be NULL */

/* Setters steal nothing; text must be UTF-8 or is written with \xNN for the broken bytes. */
void json_put_str(json_t *obj, const char *key, const char *text); /* NULL: no key */
void json_put_text(json_t *obj, const char *key, struct str text);
void json_put_int(json_t *obj, const char *key, int64_t v);
void json_put_bool(json_t *obj, const char *key, bool v);

void json_drop(json_t **v);
#define AUTO_JSON __attribute__((cleanup(json_drop))) json_t *
