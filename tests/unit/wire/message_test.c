/* messages: what is written is read again; what is odd is refused. */
#include "agent/base/err.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"
#include "tests/unit/t.h"

#define DIGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(message_both_ways)
{
	AUTO_BUF out;
	AUTO_JSON m = message_new("need");
	AUTO_JSON back = NULL;
	struct frame_reader r;
	struct frame f;
	struct err err;
	const char *t;

	json_put_str(m, "bundle", DIGEST);
	buf_init(&out, 4096);
	message_write(m, &out);
	frame_reader_init(&r, false);
	frame_reader_feed(&r, buf_str(&out));
	assert_int_equal(frame_reader_next(&r, &f, &err), 1);
	assert_int_equal(f.type, 'J');
	assert_int_equal(message_parse(f.payload, &back, &t, &err), 0);
	assert_string_equal(t, "need");
	assert_string_equal(json_get_str(back, "bundle", ""), DIGEST);
	frame_reader_done(&r);
}

TEST(message_refuses)
{
	static const char *const bad[] = {"", "[]", "{}", "{\"t\":1}", "{\"t\":\"a\",\"t\":\"b\"}",
		"{\"t\":\"a\"} x", "null", "{\"t\":\"a\""};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_t *m = NULL;
		const char *t;
		struct err err;

		assert_true(message_parse(str_of(bad[i]), &m, &t, &err) < 0);
		assert_null(m);
	}
}

TEST(message_too_large_for_a_frame)
{
	AUTO_BUF out, text;
	AUTO_JSON m = message_new("event");

	buf_init(&text, 2u << 20);
	for (int i = 0; i < 1 << 16; i++)
		buf_add_text(&text, "0123456789abcdef");
	json_put_text(m, "diff", buf_str(&text));
	buf_init(&out, 4u << 20);
	message_write(m, &out);
	assert_false(buf_ok(&out));
}

T_MAIN
