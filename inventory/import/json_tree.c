#include "inventory/import/json_tree.h"

#include "agent/base/buf.h"
#include "inventory/import/csv.h"

#include <stdio.h>
#include <string.h>

#define STRING_MAX ((size_t)1 << 20)
#define KEYS_MAX   256 /* of one object; they are compared one by one */

struct parser {
	struct sources *s;
	const char *p, *end;
	const char *counted; /* up to here col is right */
	unsigned line, col;
	bool failed;
	struct buf text;
};

/* Long lines are the rule in dumps, so a column costs only what is new on the line. */
static unsigned column(struct parser *j)
{
	for (; j->counted < j->p; j->counted++)
		j->col += ((unsigned char)*j->counted & 0xc0) != 0x80;
	return j->col;
}

static struct yaml_node *fail(struct parser *j, const char *msg)
{
	const struct yaml_node at = {.line = j->line, .col = column(j)};

	if (!j->failed)
		source_fault(j->s, &at, E_SYNTAX, NULL, "%s", msg);
	j->failed = true;
	return NULL;
}

static void skip_blanks(struct parser *j)
{
	for (; j->p < j->end && strchr(" \t\r\n", *j->p) && *j->p; j->p++)
		if (*j->p == '\n') {
			j->line++;
			j->counted = j->p + 1;
			j->col = 1;
		}
}

static struct yaml_node *node(struct parser *j, enum yaml_kind kind)
{
	struct yaml_node *n = tree_new(j->s, kind, j->line, column(j));

	j->failed = j->failed || !n;
	return n;
}

/* --- strings --- */

static int hex4(struct parser *j)
{
	int v = 0;

	if (j->end - j->p < 4)
		return -1;
	for (int i = 0; i < 4; i++, j->p++) {
		const char c = *j->p;

		v <<= 4;
		if (c >= '0' && c <= '9')
			v += c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v += (c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

static void add_utf8(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_add_char(b, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_add_char(b, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_add_char(b, (char)(0xe0 | c >> 12));
		} else {
			buf_add_char(b, (char)(0xf0 | c >> 18));
			buf_add_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_add_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_add_char(b, (char)(0x80 | (c & 0x3f)));
}

static bool unicode(struct parser *j)
{
	int c = hex4(j), low;

	if (c >= 0xd800 && c < 0xdc00 && j->end - j->p > 6 && j->p[0] == '\\' && j->p[1] == 'u') {
		j->p += 2;
		low = hex4(j);
		if (low < 0xdc00 || low > 0xdfff)
			return false;
		c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
	} else if (c >= 0xd800 && c < 0xe000) {
		return false;
	}
	if (c <= 0)
		return false;
	add_utf8(&j->text, (unsigned)c);
	return true;
}

static bool escape(struct parser *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (++j->p >= j->end)
		return false;
	if (*j->p == 'u') {
		j->p++;
		return unicode(j);
	}
	hit = memchr(from, *j->p++, sizeof from - 1);
	if (hit)
		buf_add_char(&j->text, to[hit - from]);
	return hit != NULL;
}

/* The text between the quotes in j->text. */
static bool read_string(struct parser *j)
{
	buf_clear(&j->text);
	j->p++;
	while (j->p < j->end && *j->p != '"') {
		const char *run = j->p;

		if ((unsigned char)*j->p < ' ') {
			fail(j, "a control character inside a string");
			return false;
		}
		if (*j->p == '\\') {
			if (!escape(j)) {
				fail(j, "an unknown escape, a NUL or half a surrogate pair in a string");
				return false;
			}
			continue;
		}
		while (j->p < j->end && *j->p != '"' && *j->p != '\\' &&
			(unsigned char)*j->p >= ' ')
			j->p++;
		buf_add(&j->text, run, (size_t)(j->p - run));
	}
	if (j->p >= j->end || !buf_ok(&j->text)) {
		fail(j, j->p >= j->end ? "the string never ends" : "a string of more than 1 MiB");
		return false;
	}
	j->p++;
	return true;
}

/* --- values --- */

static struct yaml_node *read_text(struct parser *j)
{
	struct yaml_node *n = node(j, YAML_SCALAR);

	if (!n || !read_string(j))
		return NULL;
	n->text = arena_str(j->s->arena, buf_str(&j->text));
	return n;
}

static bool is_number(struct str text)
{
	double v;

	return str_to_f64(text, &v) && (text.p[0] == '-' || (text.p[0] >= '0' && text.p[0] <= '9'));
}

/* A number, true, false or null; null is a plain scalar "null" that its parent leaves out. */
static struct yaml_node *read_word(struct parser *j)
{
	struct yaml_node *n = node(j, YAML_SCALAR);
	struct str word = {j->p, 0};

	while (j->p + word.n < j->end && word.n < 64 && !strchr(",]} \t\r\n", word.p[word.n]))
		word.n++;
	if (!n)
		return NULL;
	if (!str_is(word, "null") && !str_is(word, "true") && !str_is(word, "false") &&
		!is_number(word))
		return fail(j, "expected a value");
	n->plain = true;
	n->text = arena_str(j->s->arena, word);
	j->p += word.n;
	return n;
}

static bool is_null(const struct yaml_node *n)
{
	return n->kind == YAML_SCALAR && n->plain && str_is(n->text, "null");
}

static struct yaml_node *read_value(struct parser *j, int depth);

/* After an item: true when another follows, false at the end (or after a fault). */
static bool more(struct parser *j, char close)
{
	skip_blanks(j);
	if (j->p < j->end && *j->p == ',') {
		j->p++;
		skip_blanks(j);
		return true;
	}
	if (j->p < j->end && *j->p == close)
		j->p++;
	else
		fail(j, close == ']' ? "expected ',' or ']'" : "expected ',' or '}'");
	return false;
}

static bool is_empty(struct parser *j, char close)
{
	j->p++;
	skip_blanks(j);
	if (j->p >= j->end || *j->p != close)
		return false;
	j->p++;
	return true;
}

static struct yaml_node *read_list(struct parser *j, int depth)
{
	struct yaml_node *list = node(j, YAML_LIST);

	if (!list || is_empty(j, ']'))
		return list;
	do {
		struct yaml_node *item = read_value(j, depth + 1);

		if (!item)
			return NULL;
		if (!is_null(item))
			tree_add(j->s, list, item);
	} while (more(j, ']'));
	return list;
}

/* A key with its colon. */
static struct yaml_node *read_key(struct parser *j, const struct yaml_node *map)
{
	struct yaml_node *key;

	if (j->p >= j->end || *j->p != '"')
		return fail(j, "expected a key in quotes");
	key = read_text(j);
	if (!key)
		return NULL;
	if (yaml_key(map, key->text.p)) {
		source_fault(
			j->s, key, E_EXISTS, NULL, "the key '%.80s' is there twice", key->text.p);
		j->failed = true;
		return NULL;
	}
	if (map->n >= KEYS_MAX)
		return fail(j, "more than 256 keys in an object");
	skip_blanks(j);
	if (j->p >= j->end || *j->p != ':')
		return fail(j, "expected ':' after a key");
	j->p++;
	return key;
}

static struct yaml_node *read_map(struct parser *j, int depth)
{
	struct yaml_node *map = node(j, YAML_MAP);

	if (!map || is_empty(j, '}'))
		return map;
	do {
		struct yaml_node *key = read_key(j, map), *value;

		if (!key)
			return NULL;
		value = read_value(j, depth + 1);
		if (!value)
			return NULL;
		if (!is_null(value))
			tree_put_key(j->s, map, key, value);
	} while (more(j, '}'));
	return map;
}

static struct yaml_node *read_value(struct parser *j, int depth)
{
	skip_blanks(j);
	if (j->p >= j->end)
		return fail(j, "the text ends where a value was expected");
	if (depth > JSON_TREE_DEPTH)
		return fail(j, "nested deeper than 32");
	if (*j->p == '"')
		return read_text(j);
	if (*j->p == '[')
		return read_list(j, depth);
	if (*j->p == '{')
		return read_map(j, depth);
	return read_word(j);
}

struct yaml_node *json_tree_parse(struct sources *s, const struct source_file *f)
{
	struct parser j = {.s = s,
		.p = f->text.p,
		.end = f->text.p + f->text.n,
		.counted = f->text.p,
		.line = f->first,
		.col = 1};
	struct yaml_node *root;

	if (!csv_check_encoding(s, f))
		return NULL;
	if (str_starts(f->text, "\xef\xbb\xbf"))
		j.p = j.counted = f->text.p + 3;
	buf_init(&j.text, STRING_MAX);
	root = read_value(&j, 0);
	skip_blanks(&j);
	if (root && !j.failed && j.p < j.end)
		root = fail(&j, "text after the value");
	buf_done(&j.text);
	return j.failed ? NULL : root;
}
