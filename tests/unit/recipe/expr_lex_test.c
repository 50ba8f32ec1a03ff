/* expr_lex_test - words, and answers to habits from other languages. */
#include "agent/recipe/expr_lex_priv.h"
#include "tests/unit/recipe/world.h"

static int lex_all(struct arena *a, const char *text, struct buf *out, struct err *err)
{
	static const char *const KINDS[] = {"end", "name", "text", "int", "real", "op"};
	const struct origin at = {
		.file = "case", .line = 1, .col = 1, .text = {text, strlen(text)}};
	struct lexer l = {a, &at, text, text + strlen(text)};
	struct tok t;
	int rc;

	while ((rc = expr_lex_next(&l, &t, err)) == 0 && t.kind != TOK_END) {
		buf_addf(out, "%s:", KINDS[t.kind]);
		if (t.kind == TOK_INT)
			buf_addf(out, "%lld ", (long long)t.integer);
		else if (t.kind == TOK_REAL)
			buf_addf(out, "%g ", t.real);
		else
			buf_addf(out, STR_FMT " ", STR_ARG(t.text));
	}
	return rc;
}

TEST(words)
{
	static const struct world_case CASES[] = {
		{"", ""},
		{" \t\n", ""},
		{"a.b_1", "name:a op:. name:b_1 "},
		{"a-1", "name:a op:- int:1 "},
		{"1.5", "real:1.5 "},
		{"1.x", "int:1 op:. name:x "},
		{"<= < > >===!=", "op:<= op:< op:> op:>= op:== op:!= "},
		{"'it\\'s'", "text:it's "},
		{"'a\\n\\t\\\\\\\"'", "text:a\n\t\\\" "},
		{"\"'\"", "text:' "},
		{"f([1,2])", "name:f op:( op:[ int:1 op:, int:2 op:] op:) "},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_BUF got;
		struct err err = {0};

		buf_init(&got, 256);
		assert_int_equal(lex_all(a, CASES[i].text, &got, &err), 0);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
	arena_free(a);
}

TEST(what_is_no_word)
{
	static const struct {
		const char *text, *msg, *hint;
		unsigned col;
	} CASES[] = {
		{"a && b", "unexpected '&&'", "write 'and'", 3},
		{"a || b", "unexpected '||'", "write 'or'", 3},
		{"!a", "unexpected '!'", "write 'not'", 1},
		{"a = b", "unexpected '='", "compare with '=='", 3},
		{"2 / 3", "unexpected '/'", "div(a, b) and mod(a, b) divide whole numbers", 3},
		{"$x", "unexpected '$'", "parameters are written params.name", 1},
		{"'a' ~ 'b'", "unexpected '~'", "texts are joined with '+'", 5},
		{"ü", "unexpected 'ü'", "", 1},
		{"'abc", "the text that begins here has no end", "close it with '", 1},
		{"'abc\\", "the text that begins here has no end", "close it with '", 1},
		{"'\\d'", "unknown escape in text", "the escapes are \\n \\t \\\\ \\' and \\\"", 2},
		{"12ab", "'12a' is neither a number nor a name", "text stands in single quotes", 1},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_BUF got;
		struct err err = {0};

		buf_init(&got, 256);
		assert_true(lex_all(a, CASES[i].text, &got, &err) < 0);
		assert_string_equal(err.msg, CASES[i].msg);
		assert_string_equal(err.hint, CASES[i].hint);
		assert_int_equal(err.col, CASES[i].col);
	}
	arena_free(a);
}

T_MAIN
