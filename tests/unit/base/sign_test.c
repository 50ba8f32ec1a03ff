/* sign_test - Ed25519 against RFC 8032 section 7.1, and what must be refused. */
#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "tests/unit/t.h"

#include <openssl/evp.h>

/* RFC 8032 7.1, TEST 1 to 3: secret, public, message, signature, in hex. */
static const char *const vectors[][4] = {
	{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
		"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
		"5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
	{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
		"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
		"085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
	{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
		"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
		"18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

static size_t unhex(const char *hex, unsigned char *raw)
{
	size_t n = strlen(hex) / 2;
	for (size_t i = 0; i < n; i++) {
		unsigned v;
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
		raw[i] = (unsigned char)v;
	}
	return n;
}

static void hex_to_text(const char *hex, char text[static SIGN_TEXT_MAX])
{
	unsigned char raw[64];
	size_t n = unhex(hex, raw);
	EVP_EncodeBlock((unsigned char *)text, raw, (int)n);
}

TEST(sign_agrees_with_the_rfc)
{
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		char text[SIGN_TEXT_MAX], want[SIGN_TEXT_MAX], sig[SIGN_TEXT_MAX];
		unsigned char msg[8];
		struct sign_key *k = NULL, *pub = NULL;
		struct err err = {0};
		struct str bytes = {(char *)msg, unhex(vectors[i][2], msg)};

		hex_to_text(vectors[i][0], text);
		assert_int_equal(sign_key_parse_private(str_of(text), &k, &err), 0);
		sign_key_private_text(k, sig);
		assert_string_equal(sig, text);
		hex_to_text(vectors[i][1], want);
		sign_key_public_text(k, text);
		assert_string_equal(text, want);
		hex_to_text(vectors[i][3], want);
		assert_int_equal(sign_make(k, bytes, sig, &err), 0);
		assert_string_equal(sig, want);
		assert_int_equal(sign_key_parse_public(str_of(text), &pub, &err), 0);
		assert_string_equal(sign_key_id(pub), sign_key_id(k));
		assert_int_equal(strlen(sign_key_id(k)), SIGN_ID_LEN - 1);
		assert_int_equal(sign_check(pub, bytes, str_of(sig), &err), 0);
		sign_key_free(k);
		sign_key_free(pub);
	}
}

TEST(sign_check_refuses_every_flipped_bit)
{
	char sig[SIGN_TEXT_MAX], msg[] = "apply gpu-node";
	struct sign_key *k = NULL, *other = NULL;
	struct err err = {0};
	assert_int_equal(sign_key_make(&k, &err), 0);
	assert_int_equal(sign_key_make(&other, &err), 0);
	assert_string_not_equal(sign_key_id(k), sign_key_id(other));
	assert_int_equal(sign_make(k, str_of(msg), sig, &err), 0);
	assert_int_equal(sign_check(k, str_of(msg), str_of(sig), &err), 0);
	assert_int_equal(sign_check(other, str_of(msg), str_of(sig), &err), -E_VERIFY);
	for (size_t bit = 0; bit < 8 * strlen(msg); bit++) {
		msg[bit / 8] = (char)(msg[bit / 8] ^ 1 << bit % 8);
		struct str bytes = {msg, sizeof msg - 1};
		assert_int_equal(sign_check(k, bytes, str_of(sig), &err), -E_VERIFY);
		msg[bit / 8] = (char)(msg[bit / 8] ^ 1 << bit % 8);
	}
	for (size_t i = 0; sig[i]; i++) {
		char was = sig[i];
		sig[i] = was == 'A' ? 'B' : 'A';
		assert_int_equal(sign_check(k, str_of(msg), str_of(sig), &err), -E_VERIFY);
		sig[i] = was;
	}
	sign_key_free(k);
	sign_key_free(other);
}

TEST(sign_text_has_one_spelling)
{
	static const char *const bad[] = {
		"", "A", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", /* 43, no padding */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=",         /* stray bits */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",         /* 33 bytes */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",         /* 31 bytes */
		"AAAAAAAAAAAAAAAAAAA AAAAAAAAAAAAAAAAAAAAAAA=",         /* blank inside */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-=",         /* URL alphabet */
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=A",        /* trailing text */
	};
	struct sign_key *k = NULL;
	struct err err = {0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(sign_key_parse_private(str_of(bad[i]), &k, &err), -E_SYNTAX);
		assert_int_equal(sign_key_parse_public(str_of(bad[i]), &k, &err), -E_SYNTAX);
		assert_null(k);
	}
	/* the newline at the end of a key file is fine */
	assert_int_equal(
		sign_key_parse_private(
			str_of("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"), &k, &err),
		0);
	assert_int_equal(sign_check(k, str_of("x"), str_of("not base64"), &err), -E_VERIFY);
	assert_int_equal(sign_check(k, str_of("x"), str_of(""), &err), -E_VERIFY);
	sign_key_free(k);
	sign_key_free(NULL);
}

TEST(sign_public_half_cannot_sign)
{
	char text[SIGN_TEXT_MAX], sig[SIGN_TEXT_MAX] = "untouched";
	struct sign_key *k = NULL, *pub = NULL;
	struct err err = {0};
	assert_int_equal(sign_key_make(&k, &err), 0);
	sign_key_public_text(k, text);
	assert_int_equal(sign_key_parse_public(str_of(text), &pub, &err), 0);
	assert_int_equal(sign_make(pub, str_of("x"), sig, &err), -E_STATE);
	assert_string_equal(sig, "untouched");
	sign_key_private_text(pub, text);
	assert_string_equal(text, "");
	sign_key_free(k);
	sign_key_free(pub);
}

TEST(sign_random_hex_fills_and_is_capped)
{
	char a[33], b[33], none[1];
	struct err err = {0};
	assert_int_equal(sign_random_hex(16, a, &err), 0);
	assert_int_equal(sign_random_hex(16, b, &err), 0);
	assert_int_equal(strspn(a, "0123456789abcdef"), 32);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_int_equal(sign_random_hex(0, none, &err), 0);
	assert_string_equal(none, "");
	assert_int_equal(sign_random_hex(257, a, &err), -E_LIMIT);
}

T_MAIN
