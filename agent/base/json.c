/* json.c - a scan first, because jansson recurses as deep as the input says. */
#include "agent/base/json.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_FLAGS (JSON_SORT_KEYS | JSON_ENCODE_ANY)

/* The text of a 1-based line, for the caret. */
static struct str line_of(struct str text, unsigned line)
{
	struct str part = {"", 0};

	while (line-- > 0)
		if (!str_line(&text, &part))
			return str_of("");
	return part;
}

static int refuse_at(struct str text, const char *name, size_t at, enum ec code, struct err *err,
	const char *msg)
{
	unsigned line = 1, col = 1;
	int rc;

	for (size_t i = 0; i < at && i < text.n; i++) {
		if (text.p[i] == '\n')
			line++, col = 1;
		else if (((unsigned char)text.p[i] & 0xC0) != 0x80)
			col++;
	}
	rc = err_at(err, code, name, line, col, "%s", msg);
	text = line_of(text, line);
	err_excerpt(err, text.p, text.n);
	return rc;
}

/* Brackets outside of strings, and NULs, which jansson skips; the rest is left to the parser. */
static int scan(struct str text, const char *name, struct err *err)
{
	bool in_string = false, escaped = false;
	int depth = 0;

	for (size_t i = 0; i < text.n; i++) {
		const char c = text.p[i];

		if (c == '\0')
			return refuse_at(text, name, i, E_SYNTAX, err, "a NUL byte");
		if (in_string && escaped)
			escaped = false;
		else if (in_string && c == '\\')
			escaped = true;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '[' || c == '{'))
			depth++;
		else if (!in_string && (c == ']' || c == '}'))
			depth--;
		if (depth > JSON_DEPTH_MAX)
			return refuse_at(text, name, i, E_LIMIT, err, "nested more than 32 deep");
	}
	return 0;
}

static int refuse(struct str text, const char *name, const json_error_t *why, struct err *err)
{
	const unsigned line = why->line > 0 ? (unsigned)why->line : 1;
	const unsigned col = why->column > 0 ? (unsigned)why->column : 1;
	const struct str source = line_of(text, line);
	int rc;

	if (json_error_code(why) == json_error_out_of_memory)
		return err_set(err, E_INTERNAL, "out of memory while reading '%s'", name);
	rc = err_at(err, E_SYNTAX, name, line, col, "%s", why->text);
	err_excerpt(err, source.p, source.n);
	return rc;
}

int json_parse(struct str text, size_t max, const char *name, json_t **out, struct err *err)
{
	json_error_t why;
	json_t *v;
	int rc;

	if (text.n > max)
		return err_at(err, E_LIMIT, name, 0, 0, "%zu bytes, but at most %zu are read",
			text.n, max);
	rc = scan(text, name, err);
	if (rc < 0)
		return rc;
	v = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (!v)
		return refuse(text, name, &why, err);
	*out = v;
	return 0;
}

static int add_chunk(const char *p, size_t n, void *ctx)
{
	buf_add(ctx, p, n);
	return 0;
}

static void write_with(const json_t *v, struct buf *out, size_t flags)
{
	if (json_dump_callback(v, add_chunk, out, flags | WRITE_FLAGS) != 0)
		out->overflowed = true; /* the caller's one check sees it */
}

void json_write(const json_t *v, struct buf *out)
{
	write_with(v, out, JSON_COMPACT);
}

void json_write_pretty(const json_t *v, struct buf *out)
{
	/* for people and their scripts: 0.8, not 0.80000000000000004 */
	write_with(v, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
}

const char *json_get_str(const json_t *obj, const char *key, const char *def)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_string(v) ? json_string_value(v) : def;
}

int64_t json_get_int(const json_t *obj, const char *key, int64_t def)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : def;
}

bool json_get_bool(const json_t *obj, const char *key, bool def)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_boolean(v) ? json_is_true(v) : def;
}

json_t *json_get(const json_t *obj, const char *key)
{
	return json_object_get(obj, key);
}

/* Fails only without memory or when obj is no object: both end the program like xmalloc. */
static void put(json_t *obj, const char *key, json_t *v)
{
	if (!v || json_object_set_new(obj, key, v) != 0)
		abort();
}

void json_put_text(json_t *obj, const char *key, struct str text)
{
	AUTO_BUF whole;

	buf_init(&whole, text.n * sizeof "\\xNN");
	if (str_is_utf8(text)) {
		put(obj, key, json_stringn(text.p, text.n));
		return;
	}
	while (text.n) {
		const size_t len = str_utf8_length(text);

		if (len)
			buf_add(&whole, text.p, len);
		else
			buf_addf(&whole, "\\x%02x", (unsigned char)text.p[0]);
		text = str_from(text, len ? len : 1);
	}
	put(obj, key, json_stringn(whole.p, whole.n));
}

void json_put_str(json_t *obj, const char *key, const char *text)
{
	if (text)
		json_put_text(obj, key, str_of(text));
}

void json_put_int(json_t *obj, const char *key, int64_t v)
{
	put(obj, key, json_integer(v));
}

void json_put_bool(json_t *obj, const char *key, bool v)
{
	put(obj, key, json_boolean(v));
}

void json_drop(json_t **v)
{
	json_decref(*v);
	*v = NULL;
}
