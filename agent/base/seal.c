/* seal - how: EVP for the cipher and scrypt; randomness comes from getrandom. */
#include "agent/base/seal.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_LEN  12
#define TAG_LEN    16
#define RANDOM_MAX 256
#define COST_MAX   (UINT64_C(1) << 30) /* bytes of memory */
#define PARTS_MAX  16

int seal_random(void *p, size_t n, struct err *err)
{
	ssize_t got;

	do
		got = n <= RANDOM_MAX ? getrandom(p, n, 0) : -1;
	while (got < 0 && errno == EINTR && n <= RANDOM_MAX);
	return got >= 0 && (size_t)got == n
		       ? 0
		       : err_set(err, E_INTERNAL, "the kernel gives no random bytes");
}

void seal_wipe(struct buf *b)
{
	if (b->p)
		explicit_bzero(b->p, b->room);
	buf_clear(b);
}

void seal_key_id(const unsigned char key[static SEAL_KEY_LEN], char id[static 17])
{
	static const char label[] = "stoika seal key";
	struct hash *h = hash_new();
	char hex[HASH_HEX];

	hash_update(h, label, sizeof label);
	hash_update(h, key, SEAL_KEY_LEN);
	hash_final(h, hex);
	memcpy(id, hex, 16);
	id[16] = '\0';
}

/* All of GCM but the tag, which the two directions treat differently. */
static bool transform(EVP_CIPHER_CTX *c, struct str aad, struct str in, unsigned char *out)
{
	int n = 0;

	if (aad.n > INT_MAX || in.n > INT_MAX ||
		EVP_CipherUpdate(c, NULL, &n, (const unsigned char *)aad.p, (int)aad.n) != 1)
		return false;
	return in.n == 0 ||
	       EVP_CipherUpdate(c, out, &n, (const unsigned char *)in.p, (int)in.n) == 1;
}

static EVP_CIPHER_CTX *begin(const unsigned char *key, const unsigned char *nonce, bool encrypt)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();

	if (c && EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce, encrypt) != 1) {
		EVP_CIPHER_CTX_free(c);
		c = NULL;
	}
	return c;
}

int seal_make(const unsigned char key[static SEAL_KEY_LEN], struct str aad, struct str plain,
	struct buf *out, struct err *err)
{
	unsigned char *at = buf_room(out, plain.n + SEAL_OVERHEAD);
	unsigned char rest[TAG_LEN];
	EVP_CIPHER_CTX *c;
	int n = 0;
	bool fine;

	if (!at)
		return err_set(err, E_LIMIT, "%zu bytes are too many to seal", plain.n);
	if (seal_random(at, NONCE_LEN, err) < 0)
		return -E_INTERNAL;
	c = begin(key, at, true);
	fine = c && transform(c, aad, plain, at + NONCE_LEN) &&
	       EVP_CipherFinal_ex(c, rest, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG_LEN, at + NONCE_LEN + plain.n) == 1;
	EVP_CIPHER_CTX_free(c);
	if (!fine)
		return err_set(err, E_INTERNAL, "libcrypto cannot seal");
	buf_grew(out, plain.n + SEAL_OVERHEAD);
	return 0;
}

int seal_open(const unsigned char key[static SEAL_KEY_LEN], struct str aad, struct str sealed,
	struct buf *out, struct err *err)
{
	const unsigned char *at = (const unsigned char *)sealed.p;
	const size_t n_plain = sealed.n < SEAL_OVERHEAD ? 0 : sealed.n - SEAL_OVERHEAD;
	unsigned char tag[TAG_LEN], rest[TAG_LEN], *plain;
	EVP_CIPHER_CTX *c;
	int n = 0;
	bool fine;

	if (sealed.n < SEAL_OVERHEAD)
		return err_set(err, E_VERIFY, "sealed bytes are cut short");
	plain = buf_room(out, n_plain + 1);
	if (!plain)
		return err_set(err, E_LIMIT, "%zu sealed bytes are too many", n_plain);
	memcpy(tag, at + NONCE_LEN + n_plain, TAG_LEN);
	c = begin(key, at, false);
	fine = c && transform(c, aad, (struct str){sealed.p + NONCE_LEN, n_plain}, plain) &&
	       EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG_LEN, tag) == 1 &&
	       EVP_CipherFinal_ex(c, rest, &n) == 1;
	EVP_CIPHER_CTX_free(c);
	if (!fine) {
		explicit_bzero(plain, n_plain);
		return err_set(err, E_VERIFY, "sealed bytes were changed, or the key is another");
	}
	buf_grew(out, n_plain);
	return 0;
}

int seal_passphrase_key(struct str passphrase, const unsigned char salt[static SEAL_SALT_LEN],
	struct seal_cost cost, unsigned char key[static SEAL_KEY_LEN], struct err *err)
{
	const bool power = cost.n > 1 && (cost.n & (cost.n - 1)) == 0;

	if (!power || cost.r == 0 || cost.p == 0 || cost.r > COST_MAX || cost.p > PARTS_MAX ||
		cost.n > COST_MAX / 128 / cost.r)
		return err_set(err, E_LIMIT,
			"a passphrase at scrypt's cost %llu, %llu, %llu is out of reason",
			(unsigned long long)cost.n, (unsigned long long)cost.r,
			(unsigned long long)cost.p);
	if (EVP_PBE_scrypt(passphrase.p, passphrase.n, salt, SEAL_SALT_LEN, cost.n, cost.r, cost.p,
		    COST_MAX + (COST_MAX >> 1), key, SEAL_KEY_LEN) != 1)
		return err_set(err, E_INTERNAL, "libcrypto cannot run scrypt");
	return 0;
}
