/*
 * merge_fuzz - any bytes as a file that is merged.
 *
 * What must hold: a merge of nothing gives the same bytes, a merge that succeeds is not changed by
 * the same merge, never fails as our own mistake, and the way back gives each key its earlier
 * value. The first byte chooses what is merged.
 */
#pragma once

#include "agent/step/merge_want.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MERGE_FUZZ_ARGS[] = {
	"{\"values\": {\"a\": 1, \"b\": {\"c\": \"x\"}, \"d\": [\"p\", \"q\"]}}",
	"{\"absent\": [\"a\", \"b.c\", \"b\"], \"values\": {\"e\": true}}",
	"{\"lists\": {\"a\": {\"contains\": [\"x\", \"y\"]}, \"b.c\": {\"without\": [\"x\"]}}}",
	"{\"state\": \"absent\", \"values\": {\"a\": 1, \"b\": {\"c\": \"x\"}}}",
	"{\"values\": {\"b\": {\"c\": {\"d\": 2.5}}, \"\\u00e4 .\": \"q\\\"\"}}",
	"{\"values\": {\"b\": {\"c\": \"y\", \"d\": \"z\"}}, \"lists\": {\"b.l\": {\"contains\": [\"1\"]}}}",
};

static inline int merge_fuzz_text(
	const struct merge_format *f, json_t *args, struct str text, struct buf *out)
{
	struct merge_wants w = {.arena = arena_new(), .format = f};
	struct err err = {0};
	int rc = merge_wants_read(args, &w, &err);

	buf_init(out, MERGE_BYTES_MAX);
	if (rc == 0)
		rc = merge_text(&w, "fuzz", text, out, &err);
	if (rc == -E_INTERNAL)
		abort();
	merge_wants_done(&w);
	arena_free(w.arena);
	return rc;
}

static inline bool merge_fuzz_has_hollow(json_t *v)
{
	const char *key;
	json_t *item;

	json_object_foreach(v, key, item)
	{
		if (merge_fuzz_has_hollow(item))
			return true;
	}
	return json_is_array(v) && json_array_size(v) == 0;
}

/* What is remembered of a key is what was remembered before. */
static inline void merge_fuzz_compare(json_t *before, json_t *now)
{
	static const char *const FIELDS[] = {"there", "value", "sha256", "adds", "drops"};
	const char *key;
	json_t *was;

	json_object_foreach(before, key, was)
	{
		json_t *is = json_get(now, key);

		/* an empty block of apt.conf says nothing and is not made again */
		if (merge_fuzz_has_hollow(json_get(was, "value")))
			continue;
		for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
			json_t *a = json_get(was, FIELDS[i]), *b = json_get(is, FIELDS[i]);

			/* how much of the path is there may differ: an empty table may stay */
			if (i == 0 ? !a != !b : a != b && !(a && b && merge_is_same(a, b)))
				abort();
		}
	}
}

/* Each key as it was, after the way back. */
static inline void merge_fuzz_back(
	const struct merge_format *f, json_t *args, struct str old, struct str new)
{
	struct merge_wants w = {.arena = arena_new(), .format = f};
	struct merge_wants back = {.arena = w.arena, .format = f};
	json_t *before = json_object(), *left = json_object(), *now = json_object();
	const char *theirs;
	struct err err;
	struct buf out;

	buf_init(&out, MERGE_BYTES_MAX);
	if (merge_wants_read(args, &w, &err) < 0 ||
		merge_remember(&w, "fuzz", old, before, &err) < 0 ||
		merge_remember(&w, "fuzz", new, left, &err) < 0 ||
		merge_wants_back(&back, "fuzz", new, before, left, &theirs, &err) < 0)
		abort();
	if (theirs)
		abort();
	if (merge_text(&back, "fuzz", new, &out, &err) == 0) {
		if (merge_remember(&w, "fuzz", buf_str(&out), now, &err) < 0)
			abort();
		merge_fuzz_compare(before, now);
	} else if (err.code == E_INTERNAL) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	buf_done(&out);
	json_decref(before);
	json_decref(left);
	json_decref(now);
	merge_wants_done(&w);
	merge_wants_done(&back);
	arena_free(w.arena);
}

static inline int merge_fuzz(const struct merge_format *f, const uint8_t *data, size_t n)
{
	static json_t *sets[sizeof MERGE_FUZZ_ARGS / sizeof MERGE_FUZZ_ARGS[0]];
	const size_t count = sizeof sets / sizeof sets[0];
	struct str text = {(const char *)data, n};
	struct buf once, twice;
	json_t *nothing, *args;
	size_t which;

	if (n == 0)
		return 0;
	which = data[0] % count;
	text = str_from(text, 1);
	if (!sets[which])
		sets[which] = json_loads(MERGE_FUZZ_ARGS[which], 0, NULL);
	args = sets[which];
	nothing = json_object();
	if (merge_fuzz_text(f, nothing, text, &once) == 0 && !str_eq(buf_str(&once), text))
		abort();
	buf_done(&once);
	json_decref(nothing);
	if (merge_fuzz_text(f, args, text, &once) == 0) {
		if (merge_fuzz_text(f, args, buf_str(&once), &twice) < 0 ||
			!str_eq(buf_str(&once), buf_str(&twice)))
			abort();
		buf_done(&twice);
		merge_fuzz_back(f, args, text, buf_str(&once));
	}
	buf_done(&once);
	return 0;
}
