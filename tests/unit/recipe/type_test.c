/* type_test - text to typed values: what fits, what does not, and the advice. */
#include "tests/unit/t.h"

#include "agent/base/buf.h"
#include "agent/recipe/type.h"

static const char *const CHOICES[] = {"running", "stopped", NULL};

static void show(enum param_type type, const char *text, struct buf *out)
{
	const struct type t = {type, CHOICES, "'x'", true, NULL};
	AUTO_JSON v = NULL;
	struct err err = {0};

	if (type_from_text(&t, str_of(text), &v, &err) < 0)
		buf_addf(out, "! %s | %s", err.msg, err.hint);
	else
		json_write(v, out);
}

TEST(values)
{
	static const struct {
		enum param_type type;
		const char *text, *want;
	} CASES[] = {
		{PARAM_TEXT, "", "\"\""},
		{PARAM_TEXT, "no", "\"no\""},
		{PARAM_INT, "12", "12"},
		{PARAM_INT, "1.5", "! 'x' must be a whole number, not '1.5' | such as 1000"},
		{PARAM_INT, "-1",
			"! 'x' must be a whole number from 0 up, not '-1' | such as 1000"},
		{PARAM_INT, "", "! 'x' must be a whole number, not '' | such as 1000"},
		{PARAM_INT, "99999999999999999999",
			"! 'x' must be a whole number, not '99999999999999999999' | such as 1000"},
		{PARAM_NUM, "1.5", "1.5"},
		{PARAM_NUM, "nan", "! 'x' must be a number, not 'nan' | such as 1.5"},
		{PARAM_BOOL, "true", "true"},
		{PARAM_BOOL, "false", "false"},
		{PARAM_BOOL, "yes", "! 'x' must be true or false, not 'yes' | write true"},
		{PARAM_BOOL, "off", "! 'x' must be true or false, not 'off' | write false"},
		{PARAM_BOOL, "x", "! 'x' must be true or false, not 'x' | write true or false"},
		{PARAM_MODE, "0644", "\"0644\""},
		{PARAM_MODE, "644", "! 'x' must be four octal digits, not '644' | write '0644'"},
		{PARAM_MODE, "0888",
			"! 'x' must be four octal digits, not '0888' | such as '0644'"},
		{PARAM_MODE, "00644",
			"! 'x' must be four octal digits, not '00644' | such as '0644'"},
		{PARAM_PATH, "/etc/x", "\"/etc/x\""},
		{PARAM_PATH, "/", "\"/\""},
		{PARAM_PATH, "/a..b/..c", "\"/a..b/..c\""},
		{PARAM_PATH, "etc", "! 'x' must be an absolute path, not 'etc' | write '/etc'"},
		{PARAM_PATH, "", "! 'x' must be an absolute path, not '' | "},
		{PARAM_PATH, "/a/..", "! 'x' must not contain '..' | write the path that is meant"},
		{PARAM_PATH, "/a\nb", "! 'x' must not contain control characters | "},
		{PARAM_NAME, "prometheus-node-exporter", "\"prometheus-node-exporter\""},
		{PARAM_NAME, "getty@tty1.service", "\"getty@tty1.service\""},
		{PARAM_NAME, "_apt", "\"_apt\""},
		{PARAM_NAME, "-x",
			"! 'x' must be a name, not '-x' | "
			"names are made of letters, digits and . _ - @ + :"},
		{PARAM_NAME, "a b",
			"! 'x' must be a name, not 'a b' | "
			"names are made of letters, digits and . _ - @ + :"},
		{PARAM_SOURCE, "a/b.conf", "\"a/b.conf\""},
		{PARAM_SOURCE, "../b",
			"! 'x' must be a path inside the recipe's folder, not '../b' | "
			"name a file below files/ or templates/, such as "
			"'exporter.conf'"},
		{PARAM_CHOICE, "running", "\"running\""},
		{PARAM_CHOICE, "runing",
			"! 'x' must be running or stopped, not 'runing' | did you mean 'running'?"},
		{PARAM_CHOICE, "gone", "! 'x' must be running or stopped, not 'gone' | "},
		{PARAM_LIST, "a", "! 'x' is not made of text | "},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_BUF got;

		buf_init(&got, 1024);
		show(CASES[i].type, CASES[i].text, &got);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
}

TEST(long_paths_and_names_are_refused)
{
	char text[5000];
	const struct type path = {PARAM_PATH, NULL, "'x'", false, NULL};
	const struct type name = {PARAM_NAME, NULL, "'x'", false, NULL};
	json_t *v = NULL;
	struct err err = {0};

	memset(text, 'a', sizeof text);
	text[0] = '/';
	assert_int_equal(type_from_text(&path, (struct str){text, 4096}, &v, &err), -E_LIMIT);
	assert_int_equal(type_from_text(&name, (struct str){text + 1, 129}, &v, &err), -E_SCHEMA);
	assert_int_equal(type_from_text(&name, (struct str){text + 1, 128}, &v, &err), 0);
	json_decref(v);
}

TEST(words)
{
	static const char *const THREE[] = {"a", "b", "c", NULL}, *const ONE[] = {"a", NULL};
	char out[16], small[6];

	type_list_words(THREE, out, sizeof out);
	assert_string_equal(out, "a, b or c");
	type_list_words(ONE, out, sizeof out);
	assert_string_equal(out, "a");
	type_list_words(NULL, out, sizeof out);
	assert_string_equal(out, "");
	type_list_words(THREE, small, sizeof small);
	assert_string_equal(small, "a, b ");
}

/* What an unquoted scalar becomes, or "! hint". */
TEST(plain_scalars)
{
	static const struct {
		const char *text, *want;
	} CASES[] = {
		{"0", "0"},
		{"-17", "-17"},
		{"9223372036854775807", "9223372036854775807"},
		{"1.5", "1.5"},
		{"-0.25", "-0.25"},
		{"1.0", "1.0"},
		{"1234567.5", "1234567.5"},
		{"true", "true"},
		{"null", "null"},
		{"Null", "\"Null\""},
		{"off", "\"off\""},
		{"1.2.3", "\"1.2.3\""},
		{"10m", "\"10m\""},
		{"1e", "\"1e\""},
		{"e3", "\"e3\""},
		{"-", "\"-\""},
		{".", "\".\""},
		{"0x", "\"0x\""},
		{"0xzz", "\"0xzz\""},
		{"10.0.0.1/8", "\"10.0.0.1/8\""},
		{"1.10", "! write '1.10', in quotes, for text, or 1.1 for a number"},
		{"0755", "! write '0755', in quotes, for text, or 755 for a number"},
		{"1e3", "! write '1e3', in quotes, for text, or 1000 for a number"},
		{"1.50e+2", "! write '1.50e+2', in quotes, for text, or 150 for a number"},
		{"+5", "! write '+5', in quotes, for text, or 5 for a number"},
		{".5", "! write '.5', in quotes, for text"},
		{"5.", "! write '5.', in quotes, for text"},
		{"-0", "! write '-0', in quotes, for text, or 0 for a number"},
		{"0x1F", "! write '0x1F', in quotes, for text"},
		{"99999999999999999999", "! write '99999999999999999999', in quotes, for text"},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_JSON v = NULL;
		struct err err = {0};
		AUTO_BUF got;

		buf_init(&got, 256);
		if (type_from_plain(str_of(CASES[i].text), &v, &err) < 0)
			buf_addf(&got, "! %s", err.hint);
		else
			json_write(v, &got);
		if (strcmp(buf_text(&got), CASES[i].want) != 0)
			fail_msg("%s gives %s, wanted %s", CASES[i].text, buf_text(&got),
				CASES[i].want);
	}
}

T_MAIN
