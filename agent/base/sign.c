/* sign - how: EVP with raw keys; seeds come from getrandom, so no generator has to be started. */
#include "agent/base/sign.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define KEY_LEN    32
#define SIG_LEN    64
#define KEY_TEXT   44 /* base64 of each */
#define SIG_TEXT   88
#define RANDOM_MAX 256 /* what getrandom gives in one piece */

struct sign_key {
	EVP_PKEY *key;
	bool is_private;
	unsigned char pub[KEY_LEN];
	char id[SIGN_ID_LEN];
};

static void encode(const unsigned char *raw, int n, char out[static SIGN_TEXT_MAX])
{
	unsigned char text[SIGN_TEXT_MAX];
	int len = EVP_EncodeBlock(text, raw, n);
	memcpy(out, text, (size_t)len + 1);
	OPENSSL_cleanse(text, sizeof text);
}

/* Exactly n bytes in the one spelling that encode() gives. */
static bool decode(struct str text, unsigned char *raw, size_t n)
{
	unsigned char wide[SIGN_TEXT_MAX];
	char again[SIGN_TEXT_MAX];
	size_t len = n == KEY_LEN ? KEY_TEXT : SIG_TEXT;
	bool fine = text.n == len &&
		    EVP_DecodeBlock(wide, (const unsigned char *)text.p, (int)len) >= (int)n;
	if (fine) {
		encode(wide, (int)n, again);
		fine = CRYPTO_memcmp(again, text.p, len) == 0;
		memcpy(raw, wide, n);
		OPENSSL_cleanse(again, sizeof again);
	}
	OPENSSL_cleanse(wide, sizeof wide);
	return fine;
}

static int random_bytes(void *p, size_t n, struct err *err)
{
	ssize_t got;
	do
		got = getrandom(p, n, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0 || (size_t)got != n)
		return err_sys(err, errno, "cannot get random bytes");
	return 0;
}

/* Takes over the EVP key; raw is the private or the public half. */
static int wrap(const unsigned char *raw, bool is_private, struct sign_key **out, struct err *err)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	EVP_PKEY *key = is_private
				? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, raw, KEY_LEN)
				: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, KEY_LEN);
	struct sign_key *k = xcalloc(1, sizeof *k);
	size_t n = sizeof k->pub;
	k->key = key;
	k->is_private = is_private;
	if (!key || EVP_PKEY_get_raw_public_key(key, k->pub, &n) != 1 || n != KEY_LEN) {
		sign_key_free(k);
		return err_set(err, E_INTERNAL, "the crypto library refuses an Ed25519 key");
	}
	char hex[HASH_HEX];
	hash_hex((struct str){(const char *)k->pub, KEY_LEN}, hex);
	memcpy(k->id, hex, SIGN_ID_LEN - 1);
	*out = k;
	return 0;
}

static int parse(struct str text, bool is_private, struct sign_key **out, struct err *err)
{
	unsigned char raw[KEY_LEN];
	if (!decode(str_trim(text), raw, KEY_LEN))
		return err_set(err, E_SYNTAX,
			"this is not a %s key, base64 of %d bytes was expected",
			is_private ? "private" : "public", KEY_LEN);
	int rc = wrap(raw, is_private, out, err);
	OPENSSL_cleanse(raw, sizeof raw);
	return rc;
}

int sign_key_make(struct sign_key **out, struct err *err)
{
	unsigned char seed[KEY_LEN];
	int rc = random_bytes(seed, sizeof seed, err);
	if (!rc)
		rc = wrap(seed, true, out, err);
	OPENSSL_cleanse(seed, sizeof seed);
	return rc;
}

int sign_key_parse_private(struct str text, struct sign_key **out, struct err *err)
{
	return parse(text, true, out, err);
}

int sign_key_parse_public(struct str text, struct sign_key **out, struct err *err)
{
	return parse(text, false, out, err);
}

void sign_key_free(struct sign_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->key); /* wipes the private half */
	free(k);
}

void sign_key_public_text(const struct sign_key *k, char out[static SIGN_TEXT_MAX])
{
	encode(k->pub, KEY_LEN, out);
}

void sign_key_private_text(const struct sign_key *k, char out[static SIGN_TEXT_MAX])
{
	unsigned char raw[KEY_LEN];
	size_t n = sizeof raw;
	out[0] = '\0';
	if (k->is_private && EVP_PKEY_get_raw_private_key(k->key, raw, &n) == 1)
		encode(raw, KEY_LEN, out);
	OPENSSL_cleanse(raw, sizeof raw);
}

const char *sign_key_id(const struct sign_key *k)
{
	return k->id;
}

int sign_make(
	const struct sign_key *k, struct str bytes, char sig[static SIGN_TEXT_MAX], struct err *err)
{
	unsigned char raw[SIG_LEN];
	size_t n = sizeof raw;
	if (!k->is_private)
		return err_set(
			err, E_STATE, "key '%s' is only a public half, it cannot sign", k->id);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool fine = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->key) == 1 &&
		    EVP_DigestSign(ctx, raw, &n, (const unsigned char *)bytes.p, bytes.n) == 1;
	EVP_MD_CTX_free(ctx);
	if (!fine || n != SIG_LEN)
		return err_set(err, E_INTERNAL, "the crypto library cannot sign");
	encode(raw, SIG_LEN, sig);
	return 0;
}

int sign_check(const struct sign_key *k, struct str bytes, struct str sig, struct err *err)
{
	unsigned char raw[SIG_LEN];
	if (!decode(str_trim(sig), raw, SIG_LEN))
		return err_set(err, E_VERIFY,
			"this is not a signature, base64 of %d bytes was expected", SIG_LEN);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool fine =
		ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k->key) == 1 &&
		EVP_DigestVerify(ctx, raw, SIG_LEN, (const unsigned char *)bytes.p, bytes.n) == 1;
	EVP_MD_CTX_free(ctx);
	if (!fine)
		return err_set(err, E_VERIFY, "the signature does not match key '%s'", k->id);
	return 0;
}

int sign_random_hex(size_t n, char *out, struct err *err)
{
	unsigned char raw[RANDOM_MAX];
	if (n > sizeof raw)
		return err_set(
			err, E_LIMIT, "%zu random bytes wanted, %zu is the most", n, sizeof raw);
	int rc = random_bytes(raw, n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		out[2 * i] = "0123456789abcdef"[raw[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
	}
	if (!rc)
		out[2 * n] = '\0';
	OPENSSL_cleanse(raw, sizeof raw);
	return rc;
}
