/*
 * redact - keeps the values of secrets out of every text that leaves or stays.
 *
 * Made from the values of a run's secrets. A text is searched for each value
 * and for the forms it takes on the way: a line of it, escaped for JSON, quoted
 * for a shell, base64 (alone or within a longer text), hex, as part of a url.
 * Values shorter than REDACT_MIN are not searched for: they would hit words that are none.
 */
#pragma once

#include "agent/base/json.h"

#define REDACT_MIN  4
#define REDACT_MARK "(secret)"

struct buf;
struct redact;

/* values: {name: text}. Never NULL; with nothing to hide when values is NULL or empty. */
struct redact *redact_new(json_t *values);
/* Wipes what it knew; NULL is fine. */
void redact_free(struct redact *r);

/* r may be NULL in all of these: then there are no secrets. */
bool redact_holds(const struct redact *r, struct str text);
/* True when a text anywhere in v holds a secret. */
bool redact_json_holds(const struct redact *r, json_t *v);
/* text with REDACT_MARK in place of secrets, added to out. */
void redact_text(const struct redact *r, struct str text, struct buf *out);
/* In place; the text may become shorter or longer, up to room bytes with its NUL. */
void redact_line(const struct redact *r, char *text, size_t room);
/* All texts in v in place (an object or a list). */
void redact_json(const struct redact *r, json_t *v);
/* A copy of v in which each text that holds a secret is null; a new reference. */
json_t *redact_json_nulls(const struct redact *r, json_t *v);
