/* hash_test - SHA-256 against FIPS 180 vectors, in one piece, in pieces and from a descriptor. */
#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "tests/unit/t.h"

#include <fcntl.h>

static const struct {
	const char *text, *hex;
} vectors[] = {
	{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
#define N_VECTORS (sizeof vectors / sizeof *vectors)

TEST(hash_gives_the_known_digests)
{
	char hex[HASH_HEX];
	for (size_t i = 0; i < N_VECTORS; i++) {
		hash_hex(str_of(vectors[i].text), hex);
		assert_string_equal(hex, vectors[i].hex);
	}
}

TEST(hash_in_pieces_is_the_same)
{
	char hex[HASH_HEX];
	struct hash *h = hash_new();
	for (const char *c = vectors[2].text; *c; c++)
		hash_update(h, c, 1);
	hash_update(h, NULL, 0);
	hash_final(h, hex);
	assert_string_equal(hex, vectors[2].hex);
	hash_free(NULL);
	hash_free(hash_new());
}

TEST(hash_of_a_million_letters)
{
	char hex[HASH_HEX], block[1000];
	memset(block, 'a', sizeof block);
	struct hash *h = hash_new();
	for (int i = 0; i < 1000; i++)
		hash_update(h, block, sizeof block);
	hash_final(h, hex);
	assert_string_equal(
		hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(hash_fd_reads_from_where_it_stands)
{
	char hex[HASH_HEX], path[128];
	struct err err = {0};
	snprintf(path, sizeof path, "%s/text", t_dir());
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "xyabc", 5), 5);
	lseek(fd, 2, SEEK_SET);
	assert_int_equal(hash_fd(fd, hex, &err), 0);
	assert_string_equal(hex, vectors[1].hex);
	assert_int_equal(hash_fd(fd, hex, &err), 0);
	assert_string_equal(hex, vectors[0].hex);
	close(fd);
	assert_true(hash_fd(-1, hex, &err) < 0);
	fd = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(hash_fd(fd, hex, &err) < 0);
	close(fd);
}

TEST(hash_is_hex_knows_a_digest)
{
	char upper[HASH_HEX];
	snprintf(upper, sizeof upper, "%s", vectors[0].hex);
	assert_true(hash_is_hex(upper));
	upper[0] = 'E';
	assert_false(hash_is_hex(upper));
	assert_false(hash_is_hex(vectors[0].hex + 1));
	assert_false(hash_is_hex(""));
	assert_false(hash_is_hex(NULL));
	assert_false(
		hash_is_hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8550"));
}

TEST(hash_sha1_of_known_texts)
{
	char hex[HASH_SHA1_HEX];

	hash_sha1_hex(STR_LIT("abc"), hex);
	assert_string_equal(hex, "A9993E364706816ABA3E25717850C26C9CD0D89D");
	hash_sha1_hex(STR_LIT(""), hex);
	assert_string_equal(hex, "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");
}

T_MAIN
