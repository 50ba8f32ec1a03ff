/* get - one url into the file, once; what came of it decides what is tried next. */
#pragma once

#include "agent/base/err.h"
#include "agent/fetch/fetch.h"

#include <curl/curl.h>

#define GET_CHUNK (256u << 10)

enum outcome {
	GET_DONE,
	GET_AGAIN, /* the connection broke, the server is busy: the same once more */
	GET_NEXT,  /* this mirror does not have it */
	GET_FATAL  /* nor will another: our disk */
};

struct get {
	CURL *curl;
	int fd;
	struct hash *hash;
	uint64_t at, max, resumed; /* bytes in the file and in the hash */
	unsigned char *chunk;      /* bytes that wait for being hashed and written */
	size_t chunk_n;
	bool ranged, judged;       /* this request asked for a range; its answer was looked at */
	char name[256], range[80]; /* of the answer: ETag or date, Content-Range */
	char mark_url[1024], mark_name[256]; /* whose bytes the file holds */
	struct err err;
};

int get_open(struct get *g, int fd, uint64_t max);
void get_close(struct get *g);
/* Hashes what the file holds. */
int get_resume(struct get *g);
int get_restart(struct get *g);
enum outcome get_once(struct get *g, const struct fetch_order *o, const char *url);
