/* expr_text - functions that compare texts, or write values as text. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/package_version.h"
#include "agent/recipe/expr_priv.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_MAX 500 /* bytes of a regular expression */

static struct str text_of(const json_t *v)
{
	return (struct str){json_string_value(v), json_string_length(v)};
}

EXPR_FUNCTION(expr_call_newer)
{
	(void)e, (void)err;
	*out = json_boolean(version_compare_deb(text_of(args[0]), text_of(args[1])) > 0);
	return 0;
}

EXPR_FUNCTION(expr_call_matches)
{
	const char *pattern = json_string_value(args[1]);
	char why[80];
	regex_t re;
	int rc;

	if (json_string_length(args[1]) > REGEX_MAX)
		return expr_err(e->arg[1], err, E_LIMIT,
			"the regular expression is longer than %d bytes", REGEX_MAX);
	rc = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);
	if (rc != 0) {
		regerror(rc, &re, why, sizeof why);
		expr_err(e->arg[1], err, E_SYNTAX, "'%.60s' is no regular expression: %s", pattern,
			why);
		return err_hint(err, "those of POSIX, extended: [0-9]+, (a|b)");
	}
	*out = json_boolean(regexec(&re, json_string_value(args[0]), 0, NULL, 0) == 0);
	regfree(&re);
	return 0;
}

static int give(const struct expr *e, const struct buf *b, json_t **out, struct err *err)
{
	if (!buf_ok(b))
		return expr_err(e, err, E_LIMIT, "the text is longer than %u bytes", EXPR_TEXT_MAX);
	*out = json_stringn(buf_text(b), b->n);
	return *out ? 0 : expr_err(e, err, E_INTERNAL, "the result is not UTF-8 text");
}

EXPR_FUNCTION(expr_call_json)
{
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	json_write(args[0], &b);
	return give(e, &b, out, err);
}

static void write_block(json_t *v, unsigned depth, struct buf *b);

static void indent(unsigned depth, struct buf *b)
{
	while (depth-- > 0)
		buf_add_text(b, "  ");
}

static bool is_block(const json_t *v)
{
	return json_array_size(v) > 0 || json_object_size(v) > 0;
}

/* Scalars, and lists and maps without anything in them, as JSON, which YAML holds. */
static void write_behind(json_t *v, unsigned depth, struct buf *b)
{
	if (is_block(v)) {
		buf_add_char(b, '\n');
		write_block(v, depth, b);
		return;
	}
	buf_add_char(b, ' ');
	json_write(v, b);
	buf_add_char(b, '\n');
}

static void write_block(json_t *v, unsigned depth, struct buf *b)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(v, i, item)
	{
		indent(depth, b);
		buf_add_char(b, '-');
		write_behind(item, depth + 1, b);
	}
	json_object_foreach(v, key, item)
	{
		AUTO_JSON name = json_string(key);

		indent(depth, b);
		json_write(name, b);
		buf_add_char(b, ':');
		write_behind(item, depth + 1, b);
	}
}

EXPR_FUNCTION(expr_call_yaml)
{
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	if (is_block(args[0]))
		write_block(args[0], 0, &b);
	else
		json_write(args[0], &b);
	return give(e, &b, out, err);
}
