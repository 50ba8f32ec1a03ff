#include "agent/unpack/decode.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/unpack/queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define IN_BLOCK   (256u << 10)
#define IN_BLOCKS  6u
#define OUT_BLOCK  (512u << 10)
#define OUT_BLOCKS 8u
#define WINDOW_LOG 27 /* more memory than this no archive of ours asks for */
#define ZSTD_MAGIC 0xfd2fb528u
#define SKIP_MAGIC 0x184d2a50u
#define SKIP_MASK  0xfffffff0u

struct decode {
	int in;
	pthread_t reader, hasher;
	struct queue *raw, *out; /* read, not hashed yet; ready for the caller */
	struct hash *hash;
	ZSTD_DCtx *zstd;
	bool compressed;
	unsigned char *space; /* the block of out that is being filled */
	size_t filled;
	int rc;
	struct err err;
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

static bool want_space(struct decode *d)
{
	if (!d->space) {
		d->space = queue_space(d->out);
		d->filled = 0;
	}
	return d->space != NULL;
}

static void hand_over(struct decode *d)
{
	if (d->space && d->filled > 0)
		queue_push(d->out, d->filled);
	d->space = NULL;
}

/* False: the caller takes no more. The rest is read all the same, for the hash. */
static bool pass_on(struct decode *d, const unsigned char *p, size_t n)
{
	while (n > 0) {
		size_t some = n;

		if (!want_space(d))
			return false;
		if (some > OUT_BLOCK - d->filled)
			some = OUT_BLOCK - d->filled;
		memcpy(d->space + d->filled, p, some);
		d->filled += some;
		if (d->filled == OUT_BLOCK)
			hand_over(d);
		p += some;
		n -= some;
	}
	return true;
}

static bool decompress(struct decode *d, const unsigned char *p, size_t n)
{
	ZSTD_inBuffer in = {p, n, 0};
	bool full = true;

	/* a full output block may mean that more lies ready inside */
	while (in.pos < in.size || full) {
		ZSTD_outBuffer out;
		size_t left;

		if (!want_space(d))
			return false;
		out = (ZSTD_outBuffer){d->space, OUT_BLOCK, d->filled};
		left = ZSTD_decompressStream(d->zstd, &out, &in);
		if (ZSTD_isError(left)) {
			d->rc = err_set(&d->err, E_VERIFY, "the archive cannot be read: zstd: %s",
				ZSTD_getErrorName(left));
			return false;
		}
		d->filled = out.pos;
		full = out.pos == out.size;
		if (full)
			hand_over(d);
		if (left == 0 && in.pos == in.size)
			break;
	}
	return true;
}

static void *read_all(void *ctx)
{
	struct decode *d = ctx;
	bool first = true, wanted = true;

	for (;;) {
		unsigned char *p = queue_space(d->raw);
		size_t n = 0;
		const int rc = p ? read_block(d->in, p, &n, &d->err) : 0;

		if (rc < 0)
			d->rc = rc;
		if (rc < 0 || n == 0)
			break;
		queue_push(d->raw, n);
		if (first)
			d->compressed = is_zstd(p, n);
		first = false;
		if (wanted)
			wanted = d->compressed ? decompress(d, p, n) : pass_on(d, p, n);
	}
	hand_over(d);
	queue_end(d->out);
	queue_end(d->raw);
	return NULL;
}

static void *hash_all(void *ctx)
{
	struct decode *d = ctx;
	const unsigned char *p;
	size_t n;

	while ((p = queue_pop(d->raw, &n)) != NULL)
		hash_update(d->hash, p, n);
	return NULL;
}

static void release(struct decode *d)
{
	ZSTD_freeDCtx(d->zstd);
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
	d->out = queue_new(OUT_BLOCKS, OUT_BLOCK);
	d->hash = hash_new();
	d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		abort();
	ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, WINDOW_LOG);
	rc = pthread_create(&d->hasher, NULL, hash_all, d);
	if (rc == 0) {
		rc = pthread_create(&d->reader, NULL, read_all, d);
		if (rc == 0)
			return d;
		queue_end(d->raw);
		pthread_join(d->hasher, NULL);
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
	pthread_join(d->hasher, NULL);
	hash_final(d->hash, sha256);
	rc = d->rc;
	if (rc < 0 && err)
		*err = d->err;
	release(d);
	return rc;
}
