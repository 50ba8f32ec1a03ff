/* secrets are found in every form they take, and nothing else is. */
#include "agent/base/buf.h"
#include "agent/wire/redact.h"
#include "tests/unit/t.h"

static struct redact *knowing(const char *name, const char *value)
{
	AUTO_JSON values = json_object();

	json_put_str(values, name, value);
	return redact_new(values);
}

TEST(redact_finds_every_form)
{
	static const struct {
		const char *secret, *text, *want;
	} cases[] = {
		{"hunter22", "password=hunter22;", "password=(secret);"},
		{"hunter22", "hunter22hunter22", "(secret)(secret)"},
		{"hunter22", "hunter2", "hunter2"},
		{"hunter22\n", "x hunter22 y", "x (secret) y"},
		{"a\"b\\c", "{\"k\":\"a\\\"b\\\\c\"}", "{\"k\":\"(secret)\"}"},
		{"it's mine", "echo 'it'\\''s mine'", "echo '(secret)'"},
		/* base64 of "hunter22" alone and of "user:hunter22", "ab hunter22" */
		{"hunter22", "aHVudGVyMjI=", "(secret)"},
		{"hunter22", "dXNlcjpodW50ZXIyMg==", "dXNlcjpo(secret)Mg=="},
		{"hunter22", "YWIgaHVudGVyMjI=", "YWIg(secret)"},
		{"first line\nsecond line\nx", "+second line", "+(secret)"},
		{"abc", "abc", "abc"},
		{"", "abc", "abc"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct redact *r = knowing("s", cases[i].secret);
		AUTO_BUF out;

		buf_init(&out, 4096);
		redact_text(r, str_of(cases[i].text), &out);
		if (strcmp(buf_text(&out), cases[i].want) != 0)
			fail_msg("case %zu: '%s', expected '%s'", i, buf_text(&out), cases[i].want);
		assert_int_equal(redact_holds(r, str_of(cases[i].text)),
			strcmp(cases[i].text, cases[i].want) != 0);
		redact_free(r);
	}
}

/* What od, xxd and urls make of it. */
TEST(redact_finds_bytes_written_as_digits)
{
	static const char *const texts[] = {"x 703a7373772f72 y", "703A7373772F72",
		" 70 3a 73 73 77 2f 72", "https://u:p%3Assw%2Fr@host/"};
	AUTO_JSON values = json_pack("{s:s}", "a", "p:ssw/r");
	struct redact *r = redact_new(values);

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!redact_holds(r, str_of(texts[i])))
			fail_msg("not found in: %s", texts[i]);
	assert_false(redact_holds(r, STR_LIT("703a7373772f")));
	redact_free(r);
}

TEST(redact_longest_first)
{
	AUTO_JSON values = json_pack("{s:s, s:s}", "a", "hunter", "b", "hunter22");
	struct redact *r = redact_new(values);
	AUTO_BUF out;

	buf_init(&out, 4096);
	redact_text(r, STR_LIT("hunter22 hunter2"), &out);
	assert_string_equal(buf_text(&out), "(secret) (secret)2");
	redact_free(r);
}

TEST(redact_json_in_place_and_nulls)
{
	struct redact *r = knowing("s", "hunter22");
	AUTO_JSON v = json_pack("{s:s, s:[s, i, {s:s}], s:n}", "plain", "x", "list", "a hunter22",
		7, "deep", "hunter22", "nothing");
	AUTO_JSON nulls = redact_json_nulls(r, v);
	AUTO_BUF text;

	buf_init(&text, 4096);
	assert_true(redact_json_holds(r, v));
	json_write(nulls, &text);
	assert_string_equal(buf_text(&text),
		"{\"list\":[null,7,{\"deep\":null}],\"nothing\":null,\"plain\":\"x\"}");
	redact_json(r, v);
	buf_clear(&text);
	json_write(v, &text);
	assert_string_equal(buf_text(&text),
		"{\"list\":[\"a (secret)\",7,{\"deep\":\"(secret)\"}],\"nothing\":null,"
		"\"plain\":\"x\"}");
	assert_false(redact_json_holds(r, v));
	redact_free(r);
}

TEST(redact_line_fits)
{
	struct redact *r = knowing("s", "hunt");
	char text[10] = "a hunt b";

	redact_line(r, text, sizeof text);
	assert_string_equal(text, "a (secret");
	redact_free(r);
}

TEST(redact_of_nothing)
{
	struct redact *r = redact_new(NULL);
	char text[] = "plain";
	AUTO_JSON v = json_object();

	assert_false(redact_holds(r, STR_LIT("plain")));
	assert_false(redact_holds(NULL, STR_LIT("plain")));
	redact_line(r, text, sizeof text);
	redact_json(NULL, v);
	assert_string_equal(text, "plain");
	redact_free(r);
	redact_free(NULL);
}

T_MAIN
