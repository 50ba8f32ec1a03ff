/* hash - how: the digest is fetched once; no openssl.cnf is read, which keeps a start cheap. */
#include "agent/base/hash.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK (128u << 10)
#define SHA1_LEN   20
#define SHA1_TEXT  28 /* base64 of it */

struct hash {
	EVP_MD_CTX *ctx;
};

static EVP_MD *sha256;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Without memory there is no hash and nothing can be trusted: abort as the xmalloc family does. */
static void fetch_once(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (!sha256)
		abort();
}

static void to_hex(const unsigned char *raw, char hex[static HASH_HEX])
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < HASH_LEN; i++) {
		hex[2 * i] = digits[raw[i] >> 4];
		hex[2 * i + 1] = digits[raw[i] & 15];
	}
	hex[HASH_HEX - 1] = '\0';
}

struct hash *hash_new(void)
{
	struct hash *h = xmalloc(sizeof *h);
	pthread_once(&once, fetch_once);
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx || !EVP_DigestInit_ex(h->ctx, sha256, NULL))
		abort();
	return h;
}

void hash_update(struct hash *h, const void *p, size_t n)
{
	if (n && !EVP_DigestUpdate(h->ctx, p, n))
		abort();
}

void hash_final(struct hash *h, char hex[static HASH_HEX])
{
	unsigned char raw[HASH_LEN];
	if (!EVP_DigestFinal_ex(h->ctx, raw, NULL))
		abort();
	to_hex(raw, hex);
	hash_free(h);
}

void hash_free(struct hash *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

void hash_hex(struct str bytes, char hex[static HASH_HEX])
{
	struct hash *h = hash_new();
	hash_update(h, bytes.p, bytes.n);
	hash_final(h, hex);
}

int hash_fd(int fd, char hex[static HASH_HEX], struct err *err)
{
	AUTO_STR chunk = xmalloc(READ_CHUNK);
	struct hash *h = hash_new();
	for (;;) {
		ssize_t got = read(fd, chunk, READ_CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			hash_free(h);
			return err_sys(err, errno, "cannot read what is to be hashed");
		}
		if (got == 0)
			break;
		hash_update(h, chunk, (size_t)got);
	}
	hash_final(h, hex);
	return 0;
}

bool hash_is_hex(const char *s)
{
	return s && strspn(s, "0123456789abcdef") == HASH_HEX - 1 && !s[HASH_HEX - 1];
}

static bool decode_sha1(struct str text, unsigned char out[static SHA1_LEN])
{
	unsigned char in[SHA1_TEXT + 1] = {0};
	unsigned char raw[SHA1_TEXT];

	if (text.n != SHA1_TEXT)
		return false;
	memcpy(in, text.p, SHA1_TEXT);
	if (EVP_DecodeBlock(raw, in, SHA1_TEXT) != SHA1_LEN + 1)
		return false;
	memcpy(out, raw, SHA1_LEN);
	return true;
}

bool hash_sha1_mac_is(struct str key, struct str text, struct str mac)
{
	unsigned char salt[SHA1_LEN], want[SHA1_LEN], have[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!decode_sha1(key, salt) || !decode_sha1(mac, want))
		return false;
	if (!HMAC(EVP_sha1(), salt, sizeof salt, (const unsigned char *)text.p, text.n, have, &len))
		return false;
	return len == SHA1_LEN && memcmp(want, have, SHA1_LEN) == 0;
}

void hash_sha1_hex(struct str bytes, char hex[static HASH_SHA1_HEX])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	unsigned len = 0;

	if (!EVP_Digest(bytes.p, bytes.n, digest, &len, EVP_sha1(), NULL))
		abort();
	for (unsigned i = 0; i < SHA1_LEN; i++)
		snprintf(hex + 2 * i, 3, "%02X", digest[i]);
}
