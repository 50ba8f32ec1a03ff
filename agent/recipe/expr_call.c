/* expr_call - the functions; each takes values that are known and of its types. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/recipe/expr_priv.h"

#include <stdio.h>
#include <string.h>

#define SPLIT_MAX 10000

static struct str text_of(const json_t *v)
{
	return (struct str){json_string_value(v), json_string_length(v)};
}

static int give_text(const struct expr *e, struct str s, json_t **out, struct err *err)
{
	*out = json_stringn(s.p ? s.p : "", s.n);
	return *out ? 0 : expr_err(e, err, E_INTERNAL, "the result is not UTF-8 text");
}

static int give_buf(const struct expr *e, const struct buf *b, json_t **out, struct err *err)
{
	if (!buf_ok(b))
		return expr_err(e, err, E_LIMIT, "the text is longer than %u bytes", EXPR_TEXT_MAX);
	return give_text(e, buf_str(b), out, err);
}

static int change_case(
	const struct expr *e, const json_t *arg, char from, json_t **out, struct err *err)
{
	struct str s = text_of(arg);
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	for (size_t i = 0; i < s.n; i++) {
		bool hit = s.p[i] >= from && s.p[i] <= from + ('z' - 'a');

		buf_add_char(&b, hit ? (char)(s.p[i] ^ 0x20) : s.p[i]);
	}
	return give_buf(e, &b, out, err);
}

static int call_lower(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	return change_case(e, args[0], 'A', out, err);
}

static int call_upper(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	return change_case(e, args[0], 'a', out, err);
}

static int call_trim(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	return give_text(e, str_trim(text_of(args[0])), out, err);
}

static size_t count_characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

static int call_len(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	size_t n;

	if (json_is_string(args[0]))
		n = count_characters(text_of(args[0]));
	else if (json_is_array(args[0]))
		n = json_array_size(args[0]);
	else if (json_is_object(args[0]))
		n = json_object_size(args[0]);
	else
		return expr_err(e->arg[0], err, E_SCHEMA,
			"'len' measures text, a list or a map, not %s", value_type_name(args[0]));
	*out = json_integer((json_int_t)n);
	return 0;
}

/* How many maps of the list have this value under the key; others in it do not count. */
static int call_count(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	json_int_t n = 0;
	size_t i;
	json_t *item;

	(void)e, (void)err;
	json_array_foreach(args[0], i, item)
	{
		const json_t *value = json_object_get(item, json_string_value(args[1]));

		n += value && json_equal(value, args[2]);
	}
	*out = json_integer(n);
	return 0;
}

static int call_join(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	for (size_t i = 0; i < json_array_size(args[0]); i++) {
		struct value item = {json_array_get(args[0], i), NULL}; /* borrowed */

		if (i > 0)
			buf_add_str(&b, text_of(args[1]));
		if (value_to_text(&item, &b, err) < 0)
			return origin_place(e->origin, e->arg[0]->at, err);
	}
	return give_buf(e, &b, out, err);
}

static int want_not_empty(const struct expr *e, const json_t *arg, struct err *err)
{
	if (json_string_length(arg) > 0)
		return 0;
	expr_err(e->arg[1], err, E_SCHEMA, "the second argument of '%s' is empty", e->fn->name);
	return err_hint(err, "%s", e->fn->usage);
}

static int call_split(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	struct str rest = text_of(args[0]), sep = text_of(args[1]);
	int rc = want_not_empty(e, args[1], err);
	AUTO_JSON list = json_array();

	if (rc < 0)
		return rc;
	for (size_t at = 0; at != STR_NONE;) {
		at = str_find_str(rest, sep);
		json_array_append_new(
			list, json_stringn_nocheck(rest.p, at == STR_NONE ? rest.n : at));
		if (json_array_size(list) > SPLIT_MAX)
			return expr_err(e, err, E_LIMIT, "more than %d parts", SPLIT_MAX);
		if (at != STR_NONE)
			rest = str_from(rest, at + sep.n);
	}
	*out = json_incref(list);
	return 0;
}

static int call_replace(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	struct str rest = text_of(args[0]), what = text_of(args[1]);
	int rc = want_not_empty(e, args[1], err);
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	if (rc < 0)
		return rc;
	for (size_t at; (at = str_find_str(rest, what)) != STR_NONE && buf_ok(&b);) {
		buf_add_str(&b, str_first(rest, at));
		buf_add_str(&b, text_of(args[2]));
		rest = str_from(rest, at + what.n);
	}
	buf_add_str(&b, rest);
	return give_buf(e, &b, out, err);
}

static int call_int(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	double d = json_is_real(args[0]) ? json_real_value(args[0]) : 0;
	int64_t n = 0;

	if (json_is_integer(args[0])) {
		*out = json_incref(args[0]);
		return 0;
	}
	if (json_is_real(args[0]) && d > -9.2e18 && d < 9.2e18) {
		*out = json_integer((json_int_t)d);
		return 0;
	}
	if (!json_is_string(args[0]) || !str_to_i64(str_trim(text_of(args[0])), &n)) {
		expr_err(e->arg[0], err, E_SCHEMA, "'%.60s' is not a whole number",
			json_is_string(args[0]) ? json_string_value(args[0])
						: value_type_name(args[0]));
		return err_hint(err, "int takes text such as '42' or a number");
	}
	*out = json_integer(n);
	return 0;
}

static int call_text(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	AUTO_BUF b;

	buf_init(&b, EXPR_TEXT_MAX);
	if (value_to_text(&(struct value){args[0], NULL}, &b, err) < 0)
		return origin_place(e->origin, e->arg[0]->at, err);
	return give_buf(e, &b, out, err);
}

static int call_basename(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	struct str s = text_of(args[0]);
	size_t from;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (from = s.n; from > 0 && s.p[from - 1] != '/';)
		from--;
	return give_text(e, s.n == 1 ? s : str_from(s, from), out, err);
}

static int call_startswith(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	(void)e, (void)err;
	*out = json_boolean(str_starts(text_of(args[0]), json_string_value(args[1])));
	return 0;
}

static int call_endswith(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	(void)e, (void)err;
	*out = json_boolean(str_ends(text_of(args[0]), json_string_value(args[1])));
	return 0;
}

/* In single quotes, as a shell takes it for one word whatever is in it. */
static int call_quote(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
{
	AUTO_BUF b, plain;
	struct str s;

	buf_init(&b, EXPR_TEXT_MAX);
	buf_init(&plain, EXPR_TEXT_MAX);
	if (value_to_text(&(struct value){args[0], NULL}, &plain, err) < 0)
		return origin_place(e->origin, e->arg[0]->at, err);
	s = buf_str(&plain);
	buf_add_char(&b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_add_text(&b, "'\\''");
		else
			buf_add_char(&b, s.p[i]);
	}
	buf_add_char(&b, '\'');
	return give_buf(e, &b, out, err);
}

#define ANY  EXPR_ARG_ANY
#define TEXT EXPR_ARG_TEXT
#define INT  EXPR_ARG_INT
#define LIST EXPR_ARG_LIST
#define MAP  EXPR_ARG_MAP
#define NUM  EXPR_ARG_NUMBER

static const struct expr_fn FUNCTIONS[] = {
	{"default", 2, {ANY, ANY}, "default(x, y): x, or y where x is not defined", NULL, false},
	{"if", 3, {ANY, ANY, ANY}, "if(condition, x, y): x when it is true, else y", NULL, false},
	{"lower", 1, {TEXT}, "lower(text)", call_lower, false},
	{"upper", 1, {TEXT}, "upper(text)", call_upper, false},
	{"trim", 1, {TEXT}, "trim(text): without blanks at both ends", call_trim, false},
	{"len", 1, {ANY}, "len(text, list or map)", call_len, false},
	{"count", 3, {LIST, TEXT, ANY}, "count(list of maps, key, value): how many have it",
		call_count, false},
	{"join", 2, {LIST, TEXT}, "join(list, separator)", call_join, false},
	{"split", 2, {TEXT, TEXT}, "split(text, separator)", call_split, false},
	{"replace", 3, {TEXT, TEXT, TEXT}, "replace(text, old, new)", call_replace, false},
	{"int", 1, {ANY}, "int(text or number)", call_int, false},
	{"text", 1, {ANY}, "text(number, true or false)", call_text, false},
	{"basename", 1, {TEXT}, "basename(path)", call_basename, false},
	{"startswith", 2, {TEXT, TEXT}, "startswith(text, beginning)", call_startswith, false},
	{"endswith", 2, {TEXT, TEXT}, "endswith(text, ending)", call_endswith, false},
	{"quote", 1, {ANY}, "quote(text): as one word of a shell", call_quote, false},
	{"matches", 2, {TEXT, TEXT}, "matches(text, regular expression)", expr_call_matches, false},
	{"newer", 2, {TEXT, TEXT}, "newer(a, b): version a is later than b", expr_call_newer,
		false},
	{"json", 1, {ANY}, "json(value): as text", expr_call_json, false},
	{"yaml", 1, {ANY}, "yaml(value): as text", expr_call_yaml, false},
	{"keys", 1, {MAP}, "keys(map): sorted", expr_call_keys, false},
	{"sort", 1, {LIST}, "sort(list of texts or of numbers)", expr_call_sort, false},
	{"unique", 1, {LIST}, "unique(list): each item once", expr_call_unique, false},
	{"where", 3, {LIST, TEXT, ANY}, "where(list of maps, key, value): those that have it",
		expr_call_where, false},
	{"pluck", 2, {LIST, TEXT}, "pluck(list of maps, key): the values", expr_call_pluck, false},
	{"range", 1, {INT}, "range(n): 0, 1 ... n - 1", expr_call_range, false},
	{"div", 2, {INT, INT}, "div(a, b): whole part of a / b", expr_call_div, false},
	{"mod", 2, {INT, INT}, "mod(a, b): what div(a, b) leaves", expr_call_mod, false},
	{"min", 2, {NUM, NUM}, "min(a, b)", expr_call_min, false},
	{"max", 2, {NUM, NUM}, "max(a, b)", expr_call_max, false},
	{"exists", 1, {TEXT}, "exists(path)", NULL, true},
	{"contains", 2, {TEXT, TEXT}, "contains(path, text)", NULL, true},
	{"running", 1, {TEXT}, "running(process)", NULL, true},
	{"version", 1, {TEXT}, "version(package)", NULL, true},
	{"port_open", 1, {INT}, "port_open(port)", NULL, true},
	{"http_ok", 2, {TEXT, TEXT}, "http_ok(url, text in the answer)", NULL, true},
	{"json_file", 1, {TEXT}, "json_file(path)", NULL, true},
	{"toml_file", 1, {TEXT}, "toml_file(path)", NULL, true},
	{"ini_file", 1, {TEXT}, "ini_file(path)", NULL, true},
	{"kernel_log", 1, {TEXT}, "kernel_log(text)", NULL, true},
	{"unit_setting", 2, {TEXT, TEXT}, "unit_setting(unit, 'Section.Key')", NULL, true},
	{"text_file", 1, {TEXT}, "text_file(path)", NULL, true},
	{"lines", 2, {TEXT, TEXT}, "lines(path, regular expression)", NULL, true},
	{"glob", 1, {TEXT}, "glob(pattern of paths)", NULL, true},
	{"program", 1, {LIST}, "program([name, argument ...]): {code, out}", NULL, true},
	{"gres_lint", 5, {TEXT, TEXT, TEXT, TEXT, INT},
		"gres_lint(slurm.conf, gres.conf, node, GPU by NVML, GPUs)", NULL, true},
};

#undef ANY
#undef TEXT
#undef INT
#undef LIST
#undef MAP
#undef NUM

const char *const EXPR_FN_NAMES[] = {"default", "if", "lower", "upper", "trim", "len", "count",
	"join", "split", "replace", "int", "text", "basename", "startswith", "endswith", "quote",
	"matches", "newer", "json", "yaml", "keys", "sort", "unique", "where", "pluck", "range",
	"div", "mod", "min", "max", "exists", "contains", "running", "version", "port_open",
	"http_ok", "json_file", "toml_file", "ini_file", "kernel_log", "unit_setting", "text_file",
	"lines", "glob", "program", "gres_lint", NULL};

const struct expr_fn *expr_fn_find(struct str name)
{
	for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
		if (str_is(name, FUNCTIONS[i].name))
			return &FUNCTIONS[i];
	return NULL;
}

static bool fits(enum expr_arg want, const json_t *v)
{
	return want == EXPR_ARG_ANY || (want == EXPR_ARG_TEXT && json_is_string(v)) ||
	       (want == EXPR_ARG_INT && json_is_integer(v)) ||
	       (want == EXPR_ARG_LIST && json_is_array(v)) ||
	       (want == EXPR_ARG_MAP && json_is_object(v)) ||
	       (want == EXPR_ARG_NUMBER && json_is_number(v));
}

static int check_args(const struct expr *e, json_t *const *args, struct err *err)
{
	static const char *const WORDS[] = {
		"a value", "text", "an integer", "a list", "a map", "a number"};

	for (unsigned i = 0; i < e->fn->n; i++) {
		if (fits(e->fn->args[i], args[i]))
			continue;
		expr_err(e->arg[i], err, E_SCHEMA, "'%s' needs %s here, not %s", e->fn->name,
			WORDS[e->fn->args[i]], value_type_name(args[i]));
		return err_hint(err, "%s", e->fn->usage);
	}
	return 0;
}

static int call_probe(const struct expr *e, const struct scope *s, json_t *const *args,
	struct value *out, struct err *err)
{
	AUTO_JSON list = json_array();
	struct err unwanted;
	int rc;

	if (!s->probe) {
		*out = value_unknown("the node's state is not known here");
		return 0;
	}
	for (unsigned i = 0; i < e->n; i++)
		json_array_append(list, args[i]);
	*out = (struct value){NULL, NULL};
	rc = s->probe(s->ctx, e->fn->name, list, out, err ? err : &unwanted);
	if (rc < 0) {
		origin_place(e->origin, e->at, err);
		return rc;
	}
	if (!out->json && !out->unknown)
		*out = value_unknown("the node gave no answer");
	return 0;
}

int expr_call(const struct expr *e, const struct scope *s, json_t *const *args, struct value *out,
	struct err *err)
{
	json_t *result = NULL;
	int rc = check_args(e, args, err);

	if (rc < 0)
		return rc;
	if (e->fn->probe)
		return call_probe(e, s, args, out, err);
	rc = e->fn->call(e, args, &result, err);
	if (rc == 0)
		*out = value_of(result);
	return rc;
}
