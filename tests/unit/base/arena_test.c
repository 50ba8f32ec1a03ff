/* arena_test - zeroed, aligned, never overlapping, freed at once. */
#include "agent/base/arena.h"
#include "tests/unit/t.h"

TEST(null_is_fine)
{
	struct arena *a = arena_new();

	arena_free(NULL);
	assert_null(arena_strdup(a, NULL));
	assert_non_null(arena_alloc(a, 0));
	arena_free(a);
}

TEST(pieces_are_zeroed_aligned_and_apart)
{
	static const size_t sizes[] = {1, 7, 16, 100, 4096, 5000, 3, 1u << 20, 2, 3u << 20, 900, 1};
	struct arena *a = arena_new();
	char *pieces[sizeof sizes / sizeof sizes[0] * 20];
	size_t total = 0, count = 0;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			char *p = arena_alloc(a, sizes[i]);

			assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
			for (size_t k = 0; k < sizes[i]; k += 61)
				assert_int_equal(p[k], 0);
			memset(p, (int)(count % 251) + 1, sizes[i]);
			pieces[count++] = p;
			total += sizes[i];
			assert_string_equal(arena_strdup(a, "between"), "between");
			total += sizeof "between";
		}
	}
	for (size_t i = 0; i < count; i++) {
		const size_t size = sizes[i % (sizeof sizes / sizeof sizes[0])];

		assert_int_equal((unsigned char)pieces[i][0], i % 251 + 1);
		assert_int_equal((unsigned char)pieces[i][size - 1], i % 251 + 1);
	}
	assert_int_equal(arena_used(a), total);
	arena_free(a);
}

TEST(texts_are_terminated_copies)
{
	struct arena *a = arena_new();
	char source[] = "abcdef";
	const struct str copy = arena_str(a, (struct str){source, 3});
	const char *text = arena_text(a, (struct str){source, 4});

	source[0] = 'X';
	assert_int_equal(copy.n, 3);
	assert_string_equal(copy.p, "abc");
	assert_string_equal(text, "abcd");
	assert_string_equal(arena_text(a, (struct str){NULL, 0}), "");
	arena_free(a);
}

TEST(formats_any_length)
{
	struct arena *a = arena_new();

	assert_string_equal(arena_printf(a, "%s-%d", "n", 1), "n-1");
	assert_int_equal(strlen(arena_printf(a, "%20000d", 1)), 20000);
	assert_string_equal(arena_printf(a, "%s", ""), "");
	arena_free(a);
}

T_MAIN
