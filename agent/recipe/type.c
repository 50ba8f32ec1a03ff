#include "agent/recipe/type.h"

#include "agent/base/buf.h"
#include "agent/recipe/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 128
#define PATH_MAX_BYTES 4095

static int give_text(struct str s, json_t **out, struct err *err)
{
	*out = json_stringn(s.p ? s.p : "", s.n);
	return *out ? 0 : err_set(err, E_SCHEMA, "the text is not UTF-8");
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7F)
			return true;
	return false;
}

/* True when '..' is a whole part of the path. */
static bool climbs(struct str path)
{
	struct str part;

	while (str_next(&path, '/', &part))
		if (str_is(part, ".."))
			return true;
	return false;
}

static int fail(const struct type *t, struct str text, struct err *err, const char *wanted)
{
	return err_set(err, E_SCHEMA, "%s must be %s, not '" STR_FMT "'", t->what, wanted,
		STR_ARG(str_first(text, 80)));
}

static int check_mode(const struct type *t, struct str text, struct err *err)
{
	bool octal = text.n > 0;

	for (size_t i = 0; i < text.n; i++)
		octal = octal && text.p[i] >= '0' && text.p[i] <= '7';
	if (octal && text.n == 4)
		return 0;
	fail(t, text, err, "four octal digits");
	if (octal && text.n == 3)
		return err_hint(err, "write '0" STR_FMT "'", STR_ARG(text));
	return err_hint(err, "such as '0644'");
}

static int check_address(const struct type *t, struct str text, struct err *err)
{
	unsigned char bytes[16];
	char z[64];

	snprintf(z, sizeof z, STR_FMT, STR_ARG(str_first(text, sizeof z - 1)));
	if (strlen(z) == text.n &&
		(inet_pton(AF_INET, z, bytes) == 1 || inet_pton(AF_INET6, z, bytes) == 1))
		return 0;
	fail(t, text, err, "an address");
	return err_hint(err, "such as 10.0.0.5 or fd00::5, without a prefix length");
}

static int check_path(const struct type *t, struct str text, struct err *err)
{
	if (text.n == 0 || text.p[0] != '/') {
		fail(t, text, err, "an absolute path");
		return text.n > 0 && !has_control(text)
			       ? err_hint(err, "write '/" STR_FMT "'", STR_ARG(str_first(text, 80)))
			       : -E_SCHEMA;
	}
	if (climbs(text)) {
		err_set(err, E_SCHEMA, "%s must not contain '..'", t->what);
		return err_hint(err, "write the path that is meant");
	}
	if (has_control(text))
		return err_set(err, E_SCHEMA, "%s must not contain control characters", t->what);
	if (text.n > PATH_MAX_BYTES)
		return err_set(err, E_LIMIT, "%s is longer than %d bytes", t->what, PATH_MAX_BYTES);
	return 0;
}

static int check_source(const struct type *t, struct str text, struct err *err)
{
	if (text.n == 0 || text.p[0] == '/' || climbs(text) || has_control(text)) {
		fail(t, text, err, "a path inside the recipe's folder");
		return err_hint(
			err, "name a file below files/ or templates/, such as 'exporter.conf'");
	}
	return 0;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-@+:", c));
}

static int check_name(const struct type *t, struct str text, struct err *err)
{
	bool good = text.n > 0 && text.n <= NAME_MAX_BYTES && text.p[0] != '-' && text.p[0] != '.';

	for (size_t i = 0; i < text.n; i++)
		good = good && is_name_char(text.p[i]);
	if (good)
		return 0;
	fail(t, text, err, "a name");
	return err_hint(err, "names are made of letters, digits and . _ - @ + :");
}

static int make_bool(const struct type *t, struct str text, json_t **out, struct err *err)
{
	static const char *const YES[] = {"yes", "on", "True", "TRUE", "1", "y", NULL};
	static const char *const NO[] = {"no", "off", "False", "FALSE", "0", "n", NULL};

	if (str_is(text, "true") || str_is(text, "false")) {
		*out = json_boolean(str_is(text, "true"));
		return 0;
	}
	fail(t, text, err, "true or false");
	for (unsigned i = 0; YES[i]; i++) {
		if (str_is(text, YES[i]))
			return err_hint(err, "write true");
		if (str_is(text, NO[i]))
			return err_hint(err, "write false");
	}
	return err_hint(err, "write true or false");
}

static int fail_number(const struct type *t, struct str text, struct err *err, const char *wanted,
	const char *example)
{
	fail(t, text, err, wanted);
	return t->about ? err_hint(err, "%s", t->about) : err_hint(err, "such as %s", example);
}

static int make_int(const struct type *t, struct str text, json_t **out, struct err *err)
{
	int64_t n;

	if (!str_to_i64(text, &n))
		return fail_number(t, text, err, "a whole number", "1000");
	if (t->natural && n < 0)
		return fail_number(t, text, err, "a whole number from 0 up", "1000");
	*out = json_integer(n);
	return 0;
}

static int make_num(const struct type *t, struct str text, json_t **out, struct err *err)
{
	double d;

	if (!str_to_f64(text, &d))
		return fail_number(t, text, err, "a number", "1.5");
	*out = json_real(d);
	return 0;
}

/* 'unloaded' is no slip of 'loaded': who is told the opposite might do it. */
static bool is_opposite(const char *word, const char *near)
{
	static const char *const NOT[] = {"un", "no", "not", "non", "dis", "in", NULL};

	for (unsigned i = 0; NOT[i]; i++) {
		const size_t n = strlen(NOT[i]);

		if ((strncmp(word, NOT[i], n) == 0 && strcmp(word + n, near) == 0) ||
			(strncmp(near, NOT[i], n) == 0 && strcmp(near + n, word) == 0))
			return true;
	}
	return false;
}

static int check_choice(const struct type *t, struct str text, struct err *err)
{
	char words[160], word[64];
	const char *near;

	for (unsigned i = 0; t->choices && t->choices[i]; i++)
		if (str_is(text, t->choices[i]))
			return 0;
	type_list_words(t->choices, words, sizeof words);
	fail(t, text, err, words);
	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(text, 60)));
	near = t->choices ? err_nearest(word, t->choices) : NULL;
	return near && !is_opposite(word, near) ? err_hint(err, "did you mean '%s'?", near)
						: -E_SCHEMA;
}

void type_list_words(const char *const *words, char *out, size_t n)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; words && words[i] && used < n; i++) {
		const char *sep = i == 0 ? "" : words[i + 1] ? ", " : " or ";

		used += (size_t)snprintf(out + used, n - used, "%s%s", sep, words[i]);
	}
}

const char *type_name(enum param_type type)
{
	static const char *const NAMES[] = {
		[PARAM_TEXT] = "text",
		[PARAM_INT] = "a whole number",
		[PARAM_NUM] = "a number",
		[PARAM_BOOL] = "true or false",
		[PARAM_MODE] = "four octal digits",
		[PARAM_PATH] = "an absolute path",
		[PARAM_ADDRESS] = "an address",
		[PARAM_NAME] = "a name",
		[PARAM_SOURCE] = "a file of the recipe",
		[PARAM_CHOICE] = "one of its choices",
		[PARAM_LIST] = "a list of texts",
		[PARAM_MAP] = "a map of texts",
		[PARAM_EXPR] = "an expression",
		[PARAM_TREE] = "a map or a list",
		[PARAM_SECRET] = "a secret, given as secret:NAME",
	};

	return NAMES[type];
}

int type_from_text(const struct type *t, struct str text, json_t **out, struct err *err)
{
	int rc = 0;

	switch (t->type) {
	case PARAM_INT:
		return make_int(t, text, out, err);
	case PARAM_NUM:
		return make_num(t, text, out, err);
	case PARAM_BOOL:
		return make_bool(t, text, out, err);
	case PARAM_LIST:
	case PARAM_MAP:
	case PARAM_EXPR:
	case PARAM_TREE:
	case PARAM_SECRET:
		return err_set(err, E_INTERNAL, "%s is not made of text", t->what);
	case PARAM_MODE:
		rc = check_mode(t, text, err);
		break;
	case PARAM_PATH:
		rc = check_path(t, text, err);
		break;
	case PARAM_ADDRESS:
		rc = check_address(t, text, err);
		break;
	case PARAM_SOURCE:
		rc = check_source(t, text, err);
		break;
	case PARAM_NAME:
		rc = check_name(t, text, err);
		break;
	case PARAM_CHOICE:
		rc = check_choice(t, text, err);
		break;
	case PARAM_TEXT:
		break;
	}
	return rc < 0 ? rc : give_text(text, out, err);
}

/* True for what a person means as a number, in any of the notations in use. */
static bool looks_like_number(struct str s)
{
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'), digits = 0;
	bool based = s.n > i + 2 && s.p[i] == '0' && strchr("xXoObB", s.p[i + 1]) && s.p[i + 1];

	if (based) {
		for (i += 2; i < s.n && isxdigit((unsigned char)s.p[i]);)
			i++;
		return i == s.n;
	}
	for (unsigned points = 0; i < s.n && (isdigit((unsigned char)s.p[i]) || s.p[i] == '.');
		i++) {
		points += s.p[i] == '.';
		digits += s.p[i] != '.';
		if (points > 1)
			return false;
	}
	if (digits == 0 || i == s.n)
		return digits > 0;
	if (s.p[i] != 'e' && s.p[i] != 'E')
		return false;
	i++;
	i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
	for (digits = i; i < s.n && isdigit((unsigned char)s.p[i]);)
		i++;
	return i == s.n && i > digits;
}

static int fail_plain_number(struct str text, struct err *err)
{
	struct str shown = str_first(text, 40);
	AUTO_JSON v = NULL;
	AUTO_BUF as;
	double d = 0;

	err_set(err, E_SCHEMA, "'" STR_FMT "' would not stay the same as a number", STR_ARG(shown));
	buf_init(&as, 64);
	if (str_to_f64(str_from(text, text.p[0] == '+'), &d) && d > -1e15 && d < 1e15) {
		v = d >= (double)(int64_t)d && d <= (double)(int64_t)d ? json_integer((int64_t)d)
								       : json_real(d);
		(void)value_to_text(&(struct value){v, NULL}, &as, NULL);
	}
	if (as.n == 0 || str_eq(buf_str(&as), text))
		return err_hint(err, "write '" STR_FMT "', in quotes, for text", STR_ARG(shown));
	return err_hint(err, "write '" STR_FMT "', in quotes, for text, or %s for a number",
		STR_ARG(shown), buf_text(&as));
}

static bool is_shortest(struct str text, const json_t *number)
{
	AUTO_BUF again;
	json_t *v = json_deep_copy(number);
	int rc;

	buf_init(&again, 64);
	rc = value_to_text(&(struct value){v, NULL}, &again, NULL);
	json_decref(v);
	return rc == 0 && str_eq(buf_str(&again), text);
}

int type_from_plain(struct str text, json_t **out, struct err *err)
{
	AUTO_JSON v = NULL;
	int64_t whole;
	double d;

	if (str_is(text, "null"))
		v = json_null();
	else if (str_is(text, "true") || str_is(text, "false"))
		v = json_boolean(str_is(text, "true"));
	else if (!looks_like_number(text))
		return give_text(text, out, err);
	else if (str_to_i64(text, &whole))
		v = json_integer(whole);
	else if (str_to_f64(text, &d))
		v = json_real(d);
	if (!v || (json_is_number(v) && !is_shortest(text, v)))
		return fail_plain_number(text, err);
	*out = json_incref(v);
	return 0;
}

int type_place(const struct yaml_doc *d, const struct yaml_node *at, struct err *err)
{
	struct err bare;

	if (!err)
		return -E_SCHEMA;
	bare = *err;
	yaml_err(d, at, err, bare.code, "%s", bare.msg);
	if (bare.hint[0])
		err_hint(err, "%s", bare.hint);
	return -(int)bare.code;
}
