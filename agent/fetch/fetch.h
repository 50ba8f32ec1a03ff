/*
 * fetch - bytes by HTTP into an open file, by a process of its own.
 *
 * The process is this program again ("fetch"), since only it needs libcurl: it has no privileges,
 * only the file's descriptor, and dies with its parent. Mirrors are tried in order. What the file
 * holds already is hashed and continued (Range, with If-Range when the mirror named the bytes), and
 * bytes of another SHA-256 never count. The file must be locked or known to nobody else.
 */
#pragma once

#include "agent/base/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

#define FETCH_COMMAND   "fetch"
#define FETCH_URLS_MAX  16
#define FETCH_BYTES_MAX (UINT64_C(1) << 40)
#define FETCH_MARK      "trusted.stoika.part" /* of the part file: whose bytes, and their name */

struct fetch_order {
	const char *urls[FETCH_URLS_MAX];
	unsigned n_urls;
	char sha256[HASH_HEX];
	uint64_t max;                    /* bytes; 0: FETCH_BYTES_MAX */
	const char *proxy, *ca;          /* NULL: none, the system's */
	unsigned low_speed, low_seconds; /* slower than this for so long is given up */
	unsigned retries; /* further tries of each mirror after a broken connection */
};

struct fetch_result {
	uint64_t bytes, resumed; /* the whole, and what was there before */
	unsigned mirror;         /* which of the urls */
};

/* fd is open for reading and writing; it then holds the bytes, not synced. */
int fetch_get(const struct fetch_order *o, int fd, struct fetch_result *out, struct err *err);

/* The process's side: an order on 0, the file on 3, what happens on 1. The exit status. */
int fetch_main(void);

/* An url as it may be shown: without user, password and query. */
struct buf;
void fetch_show_url(const char *url, struct buf *out);
/* http or https with a host; says what is wrong otherwise. */
int fetch_judge_url(const char *url, struct err *err);
