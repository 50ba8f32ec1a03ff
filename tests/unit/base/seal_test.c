/* seal_test - what was sealed opens with the same key and clear text, and with nothing else. */
#include "agent/base/err.h"
#include "agent/base/seal.h"
#include "tests/unit/t.h"

static const unsigned char KEY[SEAL_KEY_LEN] = "0123456789abcdef0123456789abcdef";
static const unsigned char OTHER[SEAL_KEY_LEN] = "0123456789abcdef0123456789abcdeg";

TEST(opens_what_it_sealed)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 100000};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct err err = {0};
		AUTO_BUF plain = {0}, sealed = {0}, back = {0};

		buf_init(&plain, 1u << 20);
		buf_init(&sealed, 1u << 20);
		buf_init(&back, 1u << 20);
		memset(buf_room(&plain, sizes[i] + 1), 'x', sizes[i] + 1);
		buf_grew(&plain, sizes[i]);
		assert_int_equal(
			seal_make(KEY, STR_LIT("head"), buf_str(&plain), &sealed, &err), 0);
		assert_int_equal(sealed.n, sizes[i] + SEAL_OVERHEAD);
		assert_int_equal(seal_open(KEY, STR_LIT("head"), buf_str(&sealed), &back, &err), 0);
		assert_true(str_eq(buf_str(&plain), buf_str(&back)));
	}
}

TEST(never_seals_twice_alike)
{
	AUTO_BUF a = {0}, b = {0};

	buf_init(&a, 1000);
	buf_init(&b, 1000);
	assert_int_equal(seal_make(KEY, STR_LIT(""), STR_LIT("text"), &a, NULL), 0);
	assert_int_equal(seal_make(KEY, STR_LIT(""), STR_LIT("text"), &b, NULL), 0);
	assert_false(str_eq(buf_str(&a), buf_str(&b)));
}

TEST(refuses_every_changed_bit)
{
	AUTO_BUF sealed = {0};

	buf_init(&sealed, 1000);
	assert_int_equal(seal_make(KEY, STR_LIT("head"), STR_LIT("text"), &sealed, NULL), 0);
	for (size_t i = 0; i < sealed.n * 8; i++) {
		struct err err = {0};
		AUTO_BUF back = {0};

		buf_init(&back, 1000);
		sealed.p[i / 8] = (char)(sealed.p[i / 8] ^ (1 << i % 8));
		assert_int_equal(
			seal_open(KEY, STR_LIT("head"), buf_str(&sealed), &back, &err), -E_VERIFY);
		assert_int_equal(back.n, 0);
		sealed.p[i / 8] = (char)(sealed.p[i / 8] ^ (1 << i % 8));
	}
}

TEST(refuses_another_key_head_or_length)
{
	AUTO_BUF sealed = {0}, back = {0};
	struct str all;

	buf_init(&sealed, 1000);
	buf_init(&back, 1000);
	assert_int_equal(seal_make(KEY, STR_LIT("head"), STR_LIT("text"), &sealed, NULL), 0);
	all = buf_str(&sealed);
	assert_int_equal(seal_open(OTHER, STR_LIT("head"), all, &back, NULL), -E_VERIFY);
	assert_int_equal(seal_open(KEY, STR_LIT("heat"), all, &back, NULL), -E_VERIFY);
	for (size_t n = 0; n < all.n; n++)
		assert_int_equal(
			seal_open(KEY, STR_LIT("head"), str_first(all, n), &back, NULL), -E_VERIFY);
}

TEST(refuses_more_than_fits)
{
	AUTO_BUF small = {0};

	buf_init(&small, 20);
	assert_int_equal(seal_make(KEY, STR_LIT(""), STR_LIT("text"), &small, NULL), -E_LIMIT);
}

TEST(makes_a_key_of_a_passphrase)
{
	const unsigned char salt[SEAL_SALT_LEN] = "saltsaltsaltsalt", pepper[] = "peppersaltsaltsa";
	const struct seal_cost cheap = {16, 1, 1};
	unsigned char a[SEAL_KEY_LEN], b[SEAL_KEY_LEN];

	assert_int_equal(seal_passphrase_key(STR_LIT("word"), salt, cheap, a, NULL), 0);
	assert_int_equal(seal_passphrase_key(STR_LIT("word"), salt, cheap, b, NULL), 0);
	assert_memory_equal(a, b, sizeof a);
	assert_int_equal(seal_passphrase_key(STR_LIT("Word"), salt, cheap, b, NULL), 0);
	assert_memory_not_equal(a, b, sizeof a);
	assert_int_equal(seal_passphrase_key(STR_LIT("word"), pepper, cheap, b, NULL), 0);
	assert_memory_not_equal(a, b, sizeof a);
}

TEST(refuses_costs_out_of_reason)
{
	static const struct seal_cost bad[] = {{0, 8, 1}, {1, 8, 1}, {3, 8, 1}, {16, 0, 1},
		{16, 8, 0}, {16, 8, 1000}, {UINT64_C(1) << 40, 8, 1}, {16, UINT64_C(1) << 60, 1}};
	const unsigned char salt[SEAL_SALT_LEN] = "saltsaltsaltsalt";
	unsigned char key[SEAL_KEY_LEN];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(
			seal_passphrase_key(STR_LIT("word"), salt, bad[i], key, NULL), -E_LIMIT);
}

TEST(tells_keys_apart)
{
	char a[17], b[17];

	seal_key_id(KEY, a);
	seal_key_id(OTHER, b);
	assert_int_equal(strlen(a), 16);
	assert_string_not_equal(a, b);
}

T_MAIN
