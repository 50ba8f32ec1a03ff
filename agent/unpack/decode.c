#include "agent/unpack/decode.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/unpack/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* block by block into memory of ours: there is no other way without a copy of all that comes out */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#define IN_BLOCK   (256u << 10)
#define IN_BLOCKS  12u
#define OUT_BLOCKS 48u
#define BLOCK_MAX  ((size_t)128 << 10) /* of zstd */
#define WINDOW_MAX (UINT64_C(1) << 27) /* more memory than this no archive of ours asks for */
#define RINGS_MAX  8u
#define HEADER_MAX 32u
#define ZSTD_MAGIC 0xfd2fb528u
#define SKIP_MAGIC 0x184d2a50u
#define SKIP_MASK  0xfffffff0u

struct decode {
	int in;
	pthread_t reader, decoder;
	struct queue *raw, *out; /* read; ready for the caller */
	struct hash *hash;
	ZSTD_DCtx *zstd;
	bool compressed;
	/* Blocks are decompressed to where they are read: a ring that keeps the window behind. */
	unsigned char *rings[RINGS_MAX]; /* the last is in use; a larger window takes a new one */
	unsigned n_rings;
	size_t ring_size, at;
	size_t need,
		have;  /* bytes that zstd wants next, 0: a frame begins; how many are in carry */
	uint64_t skip; /* bytes of a frame that is none */
	unsigned char carry[IN_BLOCK];
	unsigned char header[HEADER_MAX];
	size_t header_n;
	int rc, read_rc; /* of the two threads */
	struct err err, read_err;
};

static bool is_zstd(const unsigned char *p, size_t n)
{
	uint32_t magic;

	if (n < sizeof magic)
		return false;
	memcpy(&magic, p, sizeof magic);
	return magic == ZSTD_MAGIC || (magic & SKIP_MASK) == SKIP_MAGIC;
}

/* Whole blocks, so that a pipe's small pieces do not become many. */
static int read_block(int in, unsigned char *p, size_t *n, struct err *err)
{
	*n = 0;
	while (*n < IN_BLOCK) {
		const ssize_t got = read(in, p + *n, IN_BLOCK - *n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, errno, "cannot read the archive");
		if (got == 0)
			break;
		*n += (size_t)got;
	}
	return 0;
}

static int fail(struct decode *d, const char *why)
{
	d->rc = err_set(&d->err, E_VERIFY, "the archive cannot be read: zstd: %s", why);
	return d->rc;
}

/*
 * A ring for that window: behind the next block there are always the window and all blocks that the
 * caller may still read, also where the ring begins again.
 */
static int make_ring(struct decode *d, uint64_t window)
{
	const size_t behind =
		OUT_BLOCKS * BLOCK_MAX > window ? OUT_BLOCKS * BLOCK_MAX : (size_t)window;
	const size_t size = behind + 3 * BLOCK_MAX;

	if (window > WINDOW_MAX) {
		d->rc = err_set(&d->err, E_LIMIT, "the archive's window is larger than %llu MiB",
			(unsigned long long)(WINDOW_MAX >> 20));
		return d->rc;
	}
	if (size <= d->ring_size)
		return 0;
	if (d->n_rings == RINGS_MAX)
		return fail(d, "its windows grow again and again");
	d->rings[d->n_rings++] = xmalloc(size);
	d->ring_size = size;
	d->at = 0;
	return 0;
}

/* Uncompressed bytes, by way of the ring, since the block read is given back before it is used. */
static bool pass_on(struct decode *d, const unsigned char *p, size_t n)
{
	if (make_ring(d, 0) < 0)
		return false;
	while (n > 0) {
		const size_t some = n < BLOCK_MAX ? n : BLOCK_MAX;

		if (!queue_wait(d->out))
			return false;
		if (d->ring_size - d->at < some)
			d->at = 0;
		memcpy(d->rings[d->n_rings - 1] + d->at, p, some);
		queue_push_at(d->out, d->rings[d->n_rings - 1] + d->at, some);
		d->at += some;
		p += some;
		n -= some;
	}
	return true;
}

/* The header comes in two pieces; when it is whole, it says how large the window is. */
static int take_header(struct decode *d, const unsigned char *p)
{
	ZSTD_frameHeader h;

	if (d->header_n + d->need > HEADER_MAX)
		return fail(d, "a frame's header is too long");
	memcpy(d->header + d->header_n, p, d->need);
	d->header_n += d->need;
	if (ZSTD_getFrameHeader(&h, d->header, d->header_n) != 0)
		return 0;
	if (h.frameType != ZSTD_skippableFrame)
		return make_ring(d, h.windowSize);
	d->skip = h.frameContentSize;
	d->need = 0;
	return 0;
}

/* Exactly the bytes that zstd asked for. */
static bool feed(struct decode *d, const unsigned char *p)
{
	const bool header = ZSTD_nextInputType(d->zstd) == ZSTDnit_frameHeader;
	unsigned char *to;
	size_t n;

	if (header && take_header(d, p) < 0)
		return false;
	if (d->need == 0)
		return true;
	if (!queue_wait(d->out))
		return false;
	if (d->ring_size - d->at < BLOCK_MAX)
		d->at = 0;
	to = d->n_rings > 0 ? d->rings[d->n_rings - 1] + d->at : d->carry;
	n = ZSTD_decompressContinue(d->zstd, to, d->n_rings > 0 ? BLOCK_MAX : 0, p, d->need);
	if (ZSTD_isError(n)) {
		fail(d, ZSTD_getErrorName(n));
		return false;
	}
	if (n > 0)
		queue_push_at(d->out, to, n);
	d->at += n;
	d->need = ZSTD_nextSrcSizeToDecompress(d->zstd);
	return true;
}

static bool begin_frame(struct decode *d)
{
	ZSTD_decompressBegin(d->zstd);
	d->need = ZSTD_nextSrcSizeToDecompress(d->zstd);
	d->header_n = 0;
	d->have = 0;
	return true;
}

static bool decompress(struct decode *d, const unsigned char *p, size_t n)
{
	while (n > 0) {
		size_t some = d->skip < n ? (size_t)d->skip : n;

		d->skip -= some;
		p += some;
		n -= some;
		if (n == 0)
			break;
		if (d->need == 0)
			begin_frame(d);
		if (d->need > sizeof d->carry)
			return fail(d, "a block is too large") == 0;
		some = d->need - d->have < n ? d->need - d->have : n;
		if (d->have > 0 || some < d->need) {
			memcpy(d->carry + d->have, p, some);
			d->have += some;
		}
		if (some == d->need || d->have == d->need) {
			const bool whole = some == d->need && d->have == 0;

			d->have = 0;
			if (!feed(d, whole ? p : d->carry))
				return false;
		}
		p += some;
		n -= some;
	}
	return true;
}

/* A block that was handed over is still ours to read until the next is asked for. */
static void *read_all(void *ctx)
{
	struct decode *d = ctx;
	unsigned char *p;
	size_t n;

	while ((p = queue_space(d->raw)) != NULL) {
		d->read_rc = read_block(d->in, p, &n, &d->read_err);
		if (d->read_rc < 0 || n == 0)
			break;
		queue_push(d->raw, n);
		hash_update(d->hash, p, n);
	}
	queue_end(d->raw);
	return NULL;
}

/* To the end of what is read, also when nobody wants it any more: the hash is of the whole. */
static void *decode_all(void *ctx)
{
	struct decode *d = ctx;
	bool first = true, wanted = true;
	const unsigned char *p;
	size_t n;

	while ((p = queue_pop(d->raw, &n)) != NULL) {
		if (first)
			d->compressed = is_zstd(p, n);
		first = false;
		if (wanted)
			wanted = d->compressed ? decompress(d, p, n) : pass_on(d, p, n);
	}
	if (d->rc == 0 && wanted && d->compressed && (d->need > 0 || d->skip > 0))
		fail(d, "it is cut off");
	queue_end(d->out);
	return NULL;
}

static void release(struct decode *d)
{
	ZSTD_freeDCtx(d->zstd);
	for (unsigned i = 0; i < d->n_rings; i++)
		free(d->rings[i]);
	queue_free(d->raw);
	queue_free(d->out);
	free(d);
}

struct decode *decode_start(int in, struct err *err)
{
	struct decode *d = xcalloc(1, sizeof *d);
	int rc;

	d->in = in;
	d->raw = queue_new(IN_BLOCKS, IN_BLOCK);
	d->out = queue_new(OUT_BLOCKS, 0);
	d->hash = hash_new();
	d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		abort();
	rc = pthread_create(&d->reader, NULL, read_all, d);
	if (rc == 0) {
		rc = pthread_create(&d->decoder, NULL, decode_all, d);
		if (rc == 0)
			return d;
		queue_break(d->raw);
		pthread_join(d->reader, NULL);
	}
	err_sys(err, rc, "cannot start the reading threads");
	hash_free(d->hash);
	release(d);
	return NULL;
}

const void *decode_next(struct decode *d, size_t *n)
{
	const void *p = queue_pop(d->out, n);

	if (!p)
		*n = 0;
	return p;
}

int decode_finish(struct decode *d, bool given_up, char sha256[static HASH_HEX], struct err *err)
{
	int rc;

	queue_break(d->out);
	if (given_up)
		queue_break(d->raw);
	pthread_join(d->reader, NULL);
	pthread_join(d->decoder, NULL);
	hash_final(d->hash, sha256);
	rc = d->read_rc < 0 ? d->read_rc : d->rc;
	if (rc < 0 && err)
		*err = d->read_rc < 0 ? d->read_err : d->err;
	release(d);
	return rc;
}
