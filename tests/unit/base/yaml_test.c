/* yaml_test - positions, every refusal with its place and words, caps, and bombs against the clock.
 */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/base/yaml.h"
#include "tests/unit/t.h"

#include <time.h>

#define BOMB_LIMIT (5 * CLOCKS_PER_SEC) /* for milliseconds of work; quadratic takes minutes */

static struct arena *arena;
static struct err err;

static int parse_with(struct str text, const struct yaml_caps *caps, struct yaml_doc **doc)
{
	arena_free(arena);
	arena = arena_new();
	memset(&err, 0, sizeof err);
	return yaml_parse(arena, "t.yaml", text, caps, doc, &err);
}

static const struct yaml_node *parse(const char *text)
{
	struct yaml_doc *doc = NULL;

	if (parse_with(str_of(text), &YAML_CAPS_RECIPE, &doc) != 0)
		fail_msg("%s", err.msg);
	return doc->root;
}

static void assert_node(const struct yaml_node *n, enum yaml_kind kind, unsigned line, unsigned col,
	const char *text)
{
	assert_non_null(n);
	assert_int_equal(n->kind, kind);
	assert_int_equal(n->line, line);
	assert_int_equal(n->col, col);
	assert_string_equal(n->text.p, text);
	assert_int_equal(n->text.n, strlen(text));
}

TEST(places_and_kinds)
{
	const struct yaml_node *root = parse("# head\n"
					     "name: web\n"
					     "tags: [a, \"b\"]\n"
					     "deep:\n"
					     "  - x: 1\n"
					     "    \xC3\xA4: {k: v}\n"
					     "  -\n"
					     "empty:\n");
	const struct yaml_node *deep, *pair;

	assert_node(root, YAML_MAP, 2, 1, "");
	assert_int_equal(root->n, 4);
	assert_node(root->key[0], YAML_SCALAR, 2, 1, "name");
	assert_node(root->item[0], YAML_SCALAR, 2, 7, "web");
	assert_node(yaml_get(root, "tags"), YAML_LIST, 3, 7, "");
	assert_node(yaml_get(root, "tags")->item[1], YAML_SCALAR, 3, 11, "b");
	assert_true(yaml_get(root, "tags")->item[0]->plain);
	assert_false(yaml_get(root, "tags")->item[1]->plain);
	deep = yaml_get(root, "deep");
	assert_node(deep, YAML_LIST, 5, 3, "");
	assert_int_equal(deep->n, 2);
	pair = deep->item[0];
	assert_node(pair, YAML_MAP, 5, 5, "");
	assert_node(pair->key[1], YAML_SCALAR, 6, 5, "\xC3\xA4");
	assert_node(pair->item[1], YAML_MAP, 6, 8, "");
	assert_node(yaml_get(pair->item[1], "k"), YAML_SCALAR, 6, 12, "v");
	assert_int_equal(deep->item[1]->text.n, 0);
	assert_int_equal(yaml_get(root, "empty")->text.n, 0);
	assert_null(yaml_get(root, "none"));
}

TEST(scalars_stay_text)
{
	static const char *const texts[] = {
		"no", "1.10", "0755", "null", "~", "true", "2026-11-30", "1_000", NULL};

	for (const char *const *t = texts; *t; t++)
		assert_node(parse(*t), YAML_SCALAR, 1, 1, *t);
	assert_string_equal(parse("|\n  a\n  b\n")->text.p, "a\nb\n");
	assert_string_equal(parse("\"a\\tb\\u00e4\"")->text.p, "a\tb\xC3\xA4");
	assert_string_equal(parse("'it''s'")->text.p, "it's");
	assert_string_equal(parse("one\n  two")->text.p, "one two");
	assert_int_equal(parse("\"\"")->text.n, 0);
}

TEST(accepted)
{
	static const char *const texts[] = {"\xEF\xBB\xBF"
					    "a: 1\n",
		"---\na: 1\n...\n# end\n\n", "a: 1\r\nb: 2\r\n", "{}", "[]", "'<<': 1", "a: '*b'",
		"a: \"x\n%y\"", "...\n# only", "? a\n: b\n", "a: '&b'", NULL};

	for (const char *const *t = texts; *t; t++) {
		if (strcmp(*t, "...\n# only") == 0)
			continue;
		assert_non_null(parse(*t));
	}
	assert_int_equal(parse("{}")->n, 0);
}

TEST(a_mark_of_byte_order_does_not_shift)
{
	const struct yaml_node *root = parse("\xEF\xBB\xBF"
					     "a: 1\n");

	assert_node(root->key[0], YAML_SCALAR, 1, 1, "a");
	assert_node(root->item[0], YAML_SCALAR, 1, 4, "1");
}

TEST(refusals)
{
	const struct {
		struct str text;
		enum ec code;
		unsigned line, col;
		const char *msg; /* a part */
	} cases[] = {
		{STR_LIT(""), E_SCHEMA, 0, 0, "empty file"},
		{STR_LIT("# nothing\n\n"), E_SCHEMA, 0, 0, "empty file"},
		{STR_LIT("---\n"), E_SCHEMA, 0, 0, "empty file"},
		{STR_LIT("a: &x 1"), E_SYNTAX, 1, 4, "anchors ('&x')"},
		{STR_LIT("a: &x [1]"), E_SYNTAX, 1, 4, "anchors"},
		{STR_LIT("&x a: 1"), E_SYNTAX, 1, 1, "anchors"},
		{STR_LIT("a: *x"), E_SYNTAX, 1, 4, "aliases ('*x')"},
		{STR_LIT("a: &a [*a]"), E_SYNTAX, 1, 4, "anchors ('&a')"},
		{STR_LIT("a: !!int 3"), E_SYNTAX, 1, 4, "tags"},
		{STR_LIT("a: !x {}"), E_SYNTAX, 1, 4, "tags ('!x')"},
		{STR_LIT("a: ! b"), E_SYNTAX, 1, 4, "tags ('!')"},
		{STR_LIT("x: 1\n<<: {a: 1}"), E_SYNTAX, 2, 1, "merge keys"},
		{STR_LIT("a: 1\nb: 2\na: 3"), E_SYNTAX, 3, 1, "key 'a' stands here and in line 1"},
		{STR_LIT("m: {x: 1, \"x\": 2}"), E_SYNTAX, 1, 11, "key 'x'"},
		{STR_LIT("a: 1\n---\nb: 2"), E_SYNTAX, 2, 1, "second document"},
		{STR_LIT("a: 1\n...\n\n  # c\nb: 2"), E_SYNTAX, 5, 1, "text after the end"},
		{STR_LIT("a: 1\n...\n%TAG ! x"), E_SYNTAX, 3, 1, "second document"},
		{STR_LIT("[a] b"), E_SYNTAX, 1, 5, "text after the end"},
		{STR_LIT("# c\n%YAML 1.1\n---\na: 1"), E_SYNTAX, 2, 1, "directives"},
		{STR_LIT("%TAG ! x\n---\na"), E_SYNTAX, 1, 1, "directives"},
		{STR_LIT("? [a]\n: 1"), E_SYNTAX, 1, 3, "a key must be plain text"},
		{STR_LIT("{a: 1}: 1"), E_SYNTAX, 1, 1, "a key must be plain text"},
		{STR_LIT(": 1"), E_SYNTAX, 1, 1, "expected a key"},
		{STR_LIT("? \n: 1"), E_SYNTAX, 1, 2, "a key must not be empty"},
		{STR_LIT("'': 1"), E_SYNTAX, 1, 1, "a key must not be empty"},
		{STR_LIT("b: 1\na: \"open\nc: 2\n"), E_SYNTAX, 2, 4, "quote is never closed"},
		{STR_LIT("a: 'open"), E_SYNTAX, 1, 4, "quote is never closed"},
		{STR_LIT("a: \"x\n---\nb\""), E_SYNTAX, 1, 4, "quote is never closed"},
		{STR_LIT("a: [1,\n  2"), E_SYNTAX, 1, 4, "expected ',' or ']'"},
		{STR_LIT("a: {b: 1"), E_SYNTAX, 1, 4, "expected ',' or '}'"},
		{STR_LIT("a: [1 2: 3}"), E_SYNTAX, 1, 11, "expected ',' or ']'"},
		{STR_LIT("a: 1\n\tb: 2"), E_SYNTAX, 2, 1, "a tab cannot indent"},
		{STR_LIT("\ta: 1"), E_SYNTAX, 1, 1, "a tab cannot indent"},
		{STR_LIT("a: b: c"), E_SYNTAX, 1, 5, "':' is not allowed here"},
		{STR_LIT("a: @b"), E_SYNTAX, 1, 4, "cannot begin a value"},
		{STR_LIT("a: - b"), E_SYNTAX, 1, 4, "'- ' is not allowed here"},
		{STR_LIT("a: \"\\q\""), E_SYNTAX, 1, 5, "unknown escape"},
		{STR_LIT("a: \"\\0\""), E_SYNTAX, 1, 4, "must not hold a NUL"},
		{STR_LIT("a:\n  b: 1\n c: 2"), E_SYNTAX, 3, 2,
			"expected a key, while parsing a block mapping that begins in line 1"},
		{STR_LIT("- a\nb: 1"), E_SYNTAX, 2, 1, "expected '- '"},
		{STR_LIT("key: 1\nnokey\nc: 2"), E_SYNTAX, 2, 1, "expected ':' after this key"},
		{STR_LIT("ok: 1\n\xC3\xA4: \xFF"), E_SYNTAX, 2, 4, "not UTF-8 (byte 0xff)"},
		{STR_LIT("a: b\0c"), E_SYNTAX, 1, 5, "a NUL byte"},
		{STR_LIT("\xFF\xFE"
			 "a\0"),
			E_SYNTAX, 1, 1, "not UTF-8"},
		{STR_LIT("a: 1\n\n b\x01"), E_SYNTAX, 3, 3, "control characters"},
		{STR_LIT("a: 1\r\rb: @"), E_SYNTAX, 3, 4, "cannot begin a value"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct yaml_doc *doc = NULL;
		const int rc = parse_with(cases[i].text, &YAML_CAPS_RECIPE, &doc);

		if (rc != -(int)cases[i].code || err.line != cases[i].line ||
			err.col != cases[i].col || !strstr(err.msg, cases[i].msg))
			fail_msg("case %zu: %d at %u:%u: %s", i, rc, err.line, err.col, err.msg);
		assert_null(doc);
		assert_string_equal(err.file, "t.yaml");
	}
}

TEST(the_whole_message)
{
	struct yaml_doc *doc = NULL;
	AUTO_BUF out;

	buf_init(&out, 1000);
	assert_int_equal(
		parse_with(str_of("name: web\nnote: it: fails\n"), &YAML_CAPS_RECIPE, &doc),
		-E_SYNTAX);
	err_format(&err, &out);
	assert_string_equal(buf_text(&out),
		"t.yaml:2:9: error: ':' is not allowed here\n"
		"    note: it: fails\n"
		"            ^\n"
		"hint: check the indentation, or put a value that holds ': ' in quotes\n");
}

/* n times open, then value, then n times close. */
static int parse_nested(const char *open, const char *close, unsigned n)
{
	struct yaml_doc *doc = NULL;
	AUTO_BUF text;

	buf_init(&text, 10000);
	for (unsigned i = 0; i < n; i++)
		buf_add_text(&text, open);
	buf_add_text(&text, "x");
	for (unsigned i = 0; i < n; i++)
		buf_add_text(&text, close);
	return parse_with(buf_str(&text), &YAML_CAPS_RECIPE, &doc);
}

TEST(depth)
{
	assert_int_equal(parse_nested("[", "]", 32), 0);
	assert_int_equal(parse_nested("[", "]", 33), -E_LIMIT);
	assert_int_equal(err.col, 33);
	assert_int_equal(parse_nested("- ", "", 32), 0);
	assert_int_equal(parse_nested("- ", "", 33), -E_LIMIT);
	assert_int_equal(parse_nested("{a: ", "}", 32), 0);
	assert_int_equal(parse_nested("{a: ", "}", 33), -E_LIMIT);
}

TEST(caps)
{
	const struct yaml_caps small = {20, 3, 5, 4};
	static const struct {
		const char *text;
		int rc;
	} cases[] = {
		{"[1,2,3,4]", 0},          /* 5 nodes */
		{"[1,2,3,4,5]", -E_LIMIT}, /* 6 */
		{"{a: 1, b: 2}", 0},       /* keys count too */
		{"{a: 1, b: 2, c: 3}", -E_LIMIT},
		{"abcd", 0},
		{"abcde", -E_LIMIT},
		{"[[[]]]", 0},
		{"[[[[]]]]", -E_LIMIT},
		{"a                   ", 0},
		{"a                    ", -E_LIMIT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct yaml_doc *doc;

		assert_int_equal(parse_with(str_of(cases[i].text), &small, &doc), cases[i].rc);
	}
}

/* size bytes of pattern over and over, under the caps of a site. */
static int drop_bomb(const char *pattern, size_t size)
{
	const size_t n = strlen(pattern);
	AUTO_STR text = xmalloc(size);
	struct yaml_doc *doc = NULL;
	const clock_t start = clock(); /* of this process: the machine may be busy */
	int rc;

	for (size_t i = 0; i < size; i++)
		text[i] = pattern[i % n];
	rc = parse_with((struct str){text, size}, &YAML_CAPS_SITE, &doc);
	if (clock() - start > BOMB_LIMIT)
		fail_msg("'%s' takes too long", pattern);
	return rc;
}

TEST(bombs)
{
	static const char *const patterns[] = {"[", "{", "- ", "? ", "!", "!a ", "&a ", "*a ", ":",
		"\n", "#", "\"", "'", "|", "[],", "a: ", "\"a\": ", " ", "\t", "\xC3\xA4\n", "? - ",
		"-\n", "[a,", "x\n", "[?", ",", "---\n", "...\n", "%TAG !a! b\n", "%YAML 1.1\n",
		"a:\n- ", "\xE2\x80\xA8", "\\", ">\n", "- a\n- [", NULL};

	for (const char *const *p = patterns; *p; p++)
		(void)drop_bomb(*p, (size_t)1 << 20);
	assert_int_equal(drop_bomb("[", (size_t)8 << 20), -E_LIMIT);
	assert_int_equal(drop_bomb("- ", (size_t)8 << 20), -E_LIMIT);
}

TEST(a_hundred_thousand_brackets)
{
	static char text[100000];
	struct yaml_doc *doc = NULL;
	const clock_t start = clock(); /* of this process: the machine may be busy */

	memset(text, '[', sizeof text);
	assert_int_equal(
		parse_with((struct str){text, sizeof text}, &YAML_CAPS_RECIPE, &doc), -E_LIMIT);
	assert_true(clock() - start < CLOCKS_PER_SEC / 2);
}

/* keys 0 to n - 1, the last one again if asked. */
static int parse_keys(unsigned n, bool again, struct yaml_doc **doc)
{
	AUTO_BUF text;

	buf_init(&text, 64u << 20);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&text, "key%u: %u\n", i, i);
	if (again)
		buf_addf(&text, "key%u: x\n", n / 2);
	return parse_with(buf_str(&text), &YAML_CAPS_SITE, doc);
}

TEST(many_keys)
{
	const clock_t start = clock(); /* of this process: the machine may be busy */
	struct yaml_doc *doc = NULL;

	assert_int_equal(parse_keys(200000, false, &doc), 0);
	assert_int_equal(doc->root->n, 200000);
	assert_string_equal(doc->root->key[199999]->text.p, "key199999");
	assert_int_equal(parse_keys(200000, true, &doc), -E_SYNTAX);
	assert_int_equal(err.line, 200001);
	assert_non_null(strstr(err.msg, "in line 100001"));
	assert_true(clock() - start < BOMB_LIMIT);
}

TEST(loading)
{
	const struct yaml_caps small = {5, 3, 5, 4};
	struct yaml_doc *doc = NULL;
	char path[128];
	FILE *f;

	arena_free(arena);
	arena = arena_new();
	snprintf(path, sizeof path, "%s/a.yaml", t_dir());
	assert_int_equal(yaml_load(arena, path, &small, &doc, &err), -E_NOTFOUND);
	assert_int_equal(yaml_load(arena, t_dir(), &small, &doc, &err), -E_EXISTS);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("a: 1\n", f);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(yaml_load(arena, path, &small, &doc, &err), 0);
	assert_string_equal(doc->name, path);
	assert_true(str_is(doc->text, "a: 1\n"));
	fputs("\n", f);
	fclose(f);
	assert_int_equal(yaml_load(arena, path, &small, &doc, &err), -E_LIMIT);
	assert_string_equal(err.file, path);
}

TEST(errors_at_nodes)
{
	struct yaml_doc *doc = NULL;

	assert_int_equal(parse_with(str_of("a: 1\n\tb: 2"), &YAML_CAPS_RECIPE, &doc), -E_SYNTAX);
	assert_int_equal(parse_with(str_of("a: 1\nb: {c: d}\n"), &YAML_CAPS_RECIPE, &doc), 0);
	assert_int_equal(yaml_err(doc, yaml_get(yaml_get(doc->root, "b"), "c"), &err, E_CONFLICT,
				 "no '%s'", "d"),
		-E_CONFLICT);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.col, 8);
	assert_string_equal(err.excerpt, "b: {c: d}");
	assert_string_equal(err.msg, "no 'd'");
	assert_int_equal(yaml_err(doc, NULL, &err, E_SCHEMA, "x"), -E_SCHEMA);
	assert_int_equal(err.line, 0);
	assert_string_equal(err.excerpt, "");
	assert_int_equal(yaml_err(doc, doc->root, NULL, E_SCHEMA, "x"), -E_SCHEMA);
	arena_free(arena); /* the last test */
	arena = NULL;
}

T_MAIN
