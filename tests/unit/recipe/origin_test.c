/* origin_test - a byte of a YAML scalar is found again in its source, whatever its style. */
#include "agent/base/yaml.h"
#include "agent/recipe/origin.h"
#include "tests/unit/t.h"

/* Where '@' stands in the value is where '@' stands in the source. */
static void check(const char *source)
{
	struct arena *a = arena_new();
	struct yaml_doc *doc = NULL;
	struct err err = {0};
	const struct yaml_node *n;
	unsigned line = 1, col = 1;
	const char *at;

	if (yaml_parse(a, "case", str_of(source), &YAML_CAPS_RECIPE, &doc, &err) < 0)
		fail_msg("%s: %s", source, err.msg);
	n = yaml_get(doc->root, "k");
	at = memchr(n->text.p, '@', n->text.n);
	assert_non_null(at);
	for (const char *p = source; *p != '@'; p++) {
		if (*p == '\n') {
			line++;
			col = 1;
		} else if (((unsigned char)*p & 0xC0) != 0x80) {
			col++;
		}
	}
	{
		const struct origin o = {"case", n->line, n->col, doc->text, n->text, true};

		assert_int_equal(origin_err(&o, at, &err, E_SYNTAX, "here"), -E_SYNTAX);
	}
	if (err.line != line || err.col != col)
		fail_msg("%s: found %u:%u, wanted %u:%u", source, err.line, err.col, line, col);
	assert_true(err.excerpt[0] != '\0');
	arena_free(a);
}

TEST(scalars_of_every_style)
{
	static const char *const CASES[] = {
		"k: ab x@",
		"k: \"@\"",
		"k: 'a@'",
		"k: 'it''s @'",
		"k: \"a\\\"b\\tc\\u00e4 \\x41 @\"",
		"k: \"gr\xC3\xBCn @\"",
		"k: 'gr\xC3\xBCn @'",
		"k: one\n  two\n  three @",
		"k: 'one\n  two\n\n\n  three @'",
		"k: \"one\n  two\n\n  three @\"",
		"k: \"one \\\n    two @\"",
		"k: |\n  one\n  two @\n",
		"k: |\n  one\n    two\n\n  thr @ ee\n",
		"k: |\n\n\n  one @\n",
		"k: |-\n      far in\n      @\n",
		"k: |2\n    begins with blanks\n  x @\n",
		"k: >\n  one\n  two @\n",
		"k: >\n  one\n  two\n\n  three @\n",
		"k: >-\n  one\n\n\n  two\n  three @\n",
		"k: |   # comment\n  one @\n",
		"k:\n  ab @",
		"x: 1\nk: |\r\n  one\r\n  two @\r\n",
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		check(CASES[i]);
}

TEST(flat_text)
{
	const char *text = "a\nb\xC3\xBC"
			   "c";
	const struct origin o = {.file = "f", .line = 5, .col = 3, .text = {text, strlen(text)}};
	struct err err = {0};

	origin_err(&o, text, &err, E_SYNTAX, "x");
	assert_int_equal(err.line, 5);
	assert_int_equal(err.col, 3);
	origin_err(&o, text + 5, &err, E_SYNTAX, "x");
	assert_int_equal(err.line, 6);
	assert_int_equal(err.col, 3);
}

TEST(without_a_file_there_is_no_place)
{
	const struct origin o = {.text = {"x", 1}};
	struct err err = {0};

	assert_int_equal(origin_err(&o, o.text.p, &err, E_LIMIT, "x"), -E_LIMIT);
	assert_int_equal(err.line, 0);
	assert_int_equal(origin_err(NULL, NULL, &err, E_LIMIT, "x"), -E_LIMIT);
	assert_int_equal(origin_err(&o, o.text.p, NULL, E_LIMIT, "x"), -E_LIMIT);
}

T_MAIN
