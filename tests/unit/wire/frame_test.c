/* frames: any cut of the bytes gives the same frames; hostile lengths and types end the link. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/wire/frame.h"
#include "tests/unit/t.h"

static void write_three(struct buf *out)
{
	buf_add_str(out, STR_LIT("Last login: today\r\n" WIRE_MAGIC));
	frame_write(out, 'J', STR_LIT("{\"t\":\"hello\"}"));
	frame_write(out, 'D', STR_LIT(""));
	frame_write(out, 'D', STR_LIT("bytes\0inside"));
}

static void expect_frame(struct frame_reader *r, char type, struct str want)
{
	struct frame f;
	struct err err;

	assert_int_equal(frame_reader_next(r, &f, &err), 1);
	assert_int_equal(f.type, type);
	assert_true(str_eq(f.payload, want));
}

TEST(frame_survives_any_cut)
{
	AUTO_BUF all;

	buf_init(&all, 4096);
	write_three(&all);
	for (size_t cut = 0; cut <= all.n; cut++) {
		struct frame_reader r;
		struct frame f;
		struct err err;
		const char *want[] = {"{\"t\":\"hello\"}", "", "bytes"};
		unsigned seen = 0;

		frame_reader_init(&r, true);
		for (int part = 0; part < 2; part++) {
			frame_reader_feed(&r, part == 0 ? str_first(buf_str(&all), cut)
							: str_from(buf_str(&all), cut));
			int rc;
			while ((rc = frame_reader_next(&r, &f, &err)) == 1) {
				assert_true(seen < 3);
				assert_true(str_starts(f.payload, want[seen]));
				seen++;
			}
			assert_int_equal(rc, 0);
		}
		assert_int_equal(seen, 3);
		frame_reader_done(&r);
	}
}

TEST(frame_one_byte_at_a_time)
{
	AUTO_BUF all;
	struct frame_reader r;
	struct frame f;
	struct err err;
	unsigned seen = 0;

	buf_init(&all, 4096);
	write_three(&all);
	frame_reader_init(&r, true);
	for (size_t i = 0; i < all.n; i++) {
		frame_reader_feed(&r, (struct str){all.p + i, 1});
		while (frame_reader_next(&r, &f, &err) == 1)
			seen++;
	}
	assert_int_equal(seen, 3);
	frame_reader_done(&r);
}

TEST(frame_without_magic_when_none_is_wanted)
{
	AUTO_BUF all;
	struct frame_reader r;

	buf_init(&all, 4096);
	frame_write(&all, 'J', STR_LIT("{}"));
	frame_write(&all, 'D', STR_LIT("x"));
	frame_reader_init(&r, false);
	frame_reader_feed(&r, buf_str(&all));
	expect_frame(&r, 'J', STR_LIT("{}"));
	expect_frame(&r, 'D', STR_LIT("x"));
	frame_reader_done(&r);
}

TEST(frame_largest_and_one_more)
{
	AUTO_BUF out;
	char *big = xcalloc(1, WIRE_FRAME_MAX);
	struct frame_reader r;

	buf_init(&out, 4u << 20);
	frame_write(&out, 'D', (struct str){big, WIRE_FRAME_MAX - 1});
	assert_true(buf_ok(&out));
	frame_reader_init(&r, false);
	frame_reader_feed(&r, buf_str(&out));
	expect_frame(&r, 'D', (struct str){big, WIRE_FRAME_MAX - 1});
	frame_reader_done(&r);
	frame_write(&out, 'D', (struct str){big, WIRE_FRAME_MAX});
	assert_false(buf_ok(&out));
	free(big);
}

TEST(frame_refuses)
{
	static const struct {
		const char *bytes;
		size_t n;
		int code;
	} cases[] = {
		{"\0\0\0\0", sizeof "\0\0\0\0" - 1, E_SYNTAX},
		{"\0\0\0\1X", sizeof "\0\0\0\1X" - 1, E_SYNTAX},
		{"\0\0\0\5\0", sizeof "\0\0\0\5\0" - 1, E_SYNTAX},
		{"\0\x10\0\1J", sizeof "\0\x10\0\1J" - 1, E_LIMIT},
		{"\xff\xff\xff\xffJ", sizeof "\xff\xff\xff\xffJ" - 1, E_LIMIT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct frame_reader r;
		struct frame f;
		struct err err;

		frame_reader_init(&r, false);
		frame_reader_feed(&r, (struct str){cases[i].bytes, cases[i].n});
		assert_int_equal(frame_reader_next(&r, &f, &err), -cases[i].code);
		frame_reader_done(&r);
	}
}

TEST(frame_noise_has_a_cap)
{
	struct frame_reader r;
	struct frame f;
	struct err err = {0};
	char noise[1000];
	int rc = 0, rounds = 0;

	memset(noise, 'S', sizeof noise);
	frame_reader_init(&r, true);
	while (rc == 0 && rounds < 1000) {
		frame_reader_feed(&r, (struct str){noise, sizeof noise});
		rc = frame_reader_next(&r, &f, &err);
		rounds++;
	}
	assert_int_equal(rc, -E_LIMIT);
	assert_int_equal(rounds, 66);
	assert_true(err.hint[0] != '\0');
	frame_reader_done(&r);
}

TEST(frame_noise_up_to_the_cap_is_skipped)
{
	AUTO_BUF all;
	struct frame_reader r;
	char *noise = xmalloc(WIRE_NOISE_MAX);

	memset(noise, 'S', WIRE_NOISE_MAX);
	buf_init(&all, 1u << 20);
	buf_add(&all, noise, WIRE_NOISE_MAX);
	buf_add_text(&all, WIRE_MAGIC);
	frame_write(&all, 'J', STR_LIT("{}"));
	frame_reader_init(&r, true);
	frame_reader_feed(&r, buf_str(&all));
	expect_frame(&r, 'J', STR_LIT("{}"));
	frame_reader_done(&r);
	free(noise);
}

TEST(frame_a_flood_is_an_error_not_memory)
{
	struct frame_reader r;
	struct frame f;
	struct err err;
	char *lump = xcalloc(1, 1u << 20);

	frame_reader_init(&r, false);
	for (int i = 0; i < 4; i++)
		frame_reader_feed(&r, (struct str){lump, 1u << 20});
	assert_int_equal(frame_reader_next(&r, &f, &err), -E_LIMIT);
	frame_reader_done(&r);
	free(lump);
}

T_MAIN
