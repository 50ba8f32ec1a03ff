/*
 * expr_eval - walks the tree; every value is a reference of its own.
 *
 * Names are followed key by key, so that of the facts only the group that an
 * expression names is gathered.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/recipe/expr_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_SHOWN 64 /* keys of a map that are looked through for the nearest name */

/* What the lets of the scope gave, in this expression: each is evaluated once. */
struct let_memory {
	struct value *at;
	bool *known;
};

struct eval {
	const struct scope *scope;
	const struct expr_local *locals;
	struct let_memory *memory;
	unsigned lets; /* how many may be read here */
};

static int eval(const struct eval *v, const struct expr *e, struct value *out, struct err *err);

/* A borrowed value as a result; the marker of an unknown one is seen here. */
static struct value take(json_t *json)
{
	const char *why = json_is_object(json) ? json_get_str(json, VALUE_UNKNOWN_KEY, NULL) : NULL;

	return why ? value_unknown(why) : value_of(json_incref(json));
}

static int fail_undefined(const struct expr *e, json_t *map, struct str name, struct err *err)
{
	const char *names[KEYS_SHOWN + 1], *near;
	char word[80];
	unsigned n = 0;

	if (!err)
		return -E_NOTFOUND;
	for (void *at = json_object_iter(map); at && n < KEYS_SHOWN;
		at = json_object_iter_next(map, at))
		names[n++] = json_object_iter_key(at);
	names[n] = NULL;
	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(name, sizeof word - 1)));
	near = err_nearest(word, names);
	expr_err(e, err, E_NOTFOUND, "'" STR_FMT "' is not defined", STR_ARG(expr_source(e)));
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "default(x, y) gives y where x is not defined");
}

static int get_key(
	const struct expr *e, json_t *map, struct str key, struct value *out, struct err *err)
{
	char name[256];
	json_t *found = NULL;

	if (key.n < sizeof name) {
		snprintf(name, sizeof name, STR_FMT, STR_ARG(key));
		found = json_object_get(map, name);
	}
	if (!found || json_is_null(found))
		return fail_undefined(e, map, key, err);
	*out = take(found);
	return 0;
}

static int eval_fact_group(const struct eval *v, const struct expr *e, struct str group,
	struct value *out, struct err *err)
{
	char name[64];
	json_t *found = NULL;
	struct err unwanted;
	int rc = 0;

	if (!v->scope->facts) {
		*out = value_unknown("facts are not known here");
		return 0;
	}
	snprintf(name, sizeof name, STR_FMT, STR_ARG(str_first(group, sizeof name - 1)));
	if (group.n < sizeof name)
		rc = v->scope->facts(v->scope->ctx, name, &found, err ? err : &unwanted);
	if (rc < 0) {
		origin_place(e->origin, e->at, err);
		return rc;
	}
	if (!found || json_is_null(found))
		return expr_err(e, err, E_NOTFOUND, "there is no group of facts '%s'", name);
	*out = take(found);
	return 0;
}

static int eval_root(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	char name[16];
	json_t *found;

	snprintf(name, sizeof name, STR_FMT, STR_ARG(e->text));
	found = v->scope->names ? json_object_get(v->scope->names, name) : NULL;
	if (found)
		*out = take(found);
	else if (strcmp(name, "item") != 0 && strcmp(name, "facts") != 0)
		*out = value_of(json_object());
	else
		return expr_err(e, err, E_NOTFOUND, "'%s' is not defined here", name);
	return 0;
}

static int eval_local(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	for (const struct expr_local *l = v->locals; l; l = l->up) {
		if (str_eq(l->name, e->text) && l->value) {
			*out = take(l->value);
			return 0;
		}
	}
	return expr_err(e, err, E_INTERNAL, "'" STR_FMT "' is not bound", STR_ARG(e->text));
}

static int fail_no_fields(const struct expr *e, const json_t *is, struct err *err)
{
	expr_err(e, err, E_SCHEMA, "'" STR_FMT "' is %s%s, it has no fields",
		STR_ARG(expr_source(e->arg[0])), json_is_array(is) ? "a " : "",
		value_type_name(is));
	return json_is_array(is) ? err_hint(err, "an item of a list is written a[0]")
				 : err_hint(err, "write '" STR_FMT "' alone",
					   STR_ARG(expr_source(e->arg[0])));
}

static bool is_facts(const struct expr *e)
{
	return e->op == EXPR_NAME && str_is(e->text, "facts");
}

static bool is_lets(const struct expr *e)
{
	return e->op == EXPR_NAME && str_is(e->text, "let");
}

static struct value copy_of(const struct value *v)
{
	return v->json ? value_of(json_incref(v->json)) : *v;
}

static int eval_let(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	const struct scope *s = v->scope;
	struct eval inner = *v;
	unsigned i = 0;
	int rc;

	while (i < v->lets && !str_is(e->text, s->lets[i].name))
		i++;
	if (i == v->lets)
		return expr_err(e, err, E_NOTFOUND, "'let." STR_FMT "' is not defined here",
			STR_ARG(str_first(e->text, 60)));
	if (!v->memory->at) {
		v->memory->at = xcalloc(s->n_lets, sizeof *v->memory->at);
		v->memory->known = xcalloc(s->n_lets, sizeof *v->memory->known);
	}
	if (!v->memory->known[i]) {
		inner.locals = NULL;
		inner.lets = i;
		if ((rc = eval(&inner, s->lets[i].expr, &v->memory->at[i], err)) < 0)
			return rc;
		v->memory->known[i] = true;
	}
	*out = copy_of(&v->memory->at[i]);
	return 0;
}

static int eval_field(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	struct value base;
	int rc;

	if (is_facts(e->arg[0]))
		return eval_fact_group(v, e, e->text, out, err);
	if (is_lets(e->arg[0]))
		return eval_let(v, e, out, err);
	if ((rc = eval(v, e->arg[0], &base, err)) < 0)
		return rc;
	if (!value_is_known(&base)) {
		*out = base;
		return 0;
	}
	if (json_is_object(base.json))
		rc = get_key(e, base.json, e->text, out, err);
	else
		rc = fail_no_fields(e, base.json, err);
	value_done(&base);
	return rc;
}

static int get_item(
	const struct expr *e, json_t *list, json_int_t at, struct value *out, struct err *err)
{
	size_t n = json_array_size(list);

	if (at < 0 || (uint64_t)at >= n) {
		expr_err(e, err, E_NOTFOUND, "'" STR_FMT "' has %zu item%s, there is no item %lld",
			STR_ARG(expr_source(e->arg[0])), n, n == 1 ? "" : "s", (long long)at);
		err_hint(err, "items are counted from 0");
		return -E_NOTFOUND;
	}
	*out = take(json_array_get(list, (size_t)at));
	return 0;
}

static int index_value(const struct eval *v, const struct expr *e, const struct value *base,
	const struct value *key, struct value *out, struct err *err)
{
	struct str text = {NULL, 0};

	if (json_is_string(key->json))
		text = (struct str){json_string_value(key->json), json_string_length(key->json)};
	if (is_facts(e->arg[0]))
		return text.p ? eval_fact_group(v, e, text, out, err)
			      : expr_err(e, err, E_SCHEMA, "a group of facts is named by text");
	if (json_is_array(base->json) && json_is_integer(key->json))
		return get_item(e, base->json, json_integer_value(key->json), out, err);
	if (json_is_object(base->json) && text.p)
		return get_key(e, base->json, text, out, err);
	if (json_is_array(base->json))
		return expr_err(e, err, E_SCHEMA,
			"an item of a list is named by its number, not %s",
			value_type_name(key->json));
	if (json_is_object(base->json))
		return expr_err(e, err, E_SCHEMA, "a field of a map is named by text, not %s",
			value_type_name(key->json));
	return fail_no_fields(e, base->json, err);
}

/* Both operands; *stop when one is unknown, which is then the result. */
static int eval_both(const struct eval *v, const struct expr *e, struct value side[2],
	struct value *out, bool *stop, struct err *err)
{
	int rc = eval(v, e->arg[0], &side[0], err);

	if (rc < 0)
		return rc;
	if ((rc = eval(v, e->arg[1], &side[1], err)) < 0) {
		value_done(&side[0]);
		return rc;
	}
	*stop = !value_is_known(&side[0]) || !value_is_known(&side[1]);
	if (*stop) {
		*out = value_unknown(side[0].unknown ? side[0].unknown : side[1].unknown);
		value_done(&side[0]);
		value_done(&side[1]);
	}
	return 0;
}

static int eval_index(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	struct value side[2] = {{NULL, NULL}, {NULL, NULL}};
	bool stop = false;
	int rc;

	if (is_facts(e->arg[0]))
		rc = eval(v, e->arg[1], &side[1], err);
	else
		rc = eval_both(v, e, side, out, &stop, err);
	if (rc < 0 || stop)
		return rc;
	if (!value_is_known(&side[1])) {
		*out = side[1];
		return 0;
	}
	rc = index_value(v, e, &side[0], &side[1], out, err);
	value_done(&side[0]);
	value_done(&side[1]);
	return rc;
}

static int want_bool(const struct expr *e, const struct value *v, struct err *err)
{
	if (!value_is_known(v) || json_is_boolean(v->json))
		return 0;
	expr_err(e, err, E_SCHEMA, "'" STR_FMT "' is %s, not true or false",
		STR_ARG(expr_source(e)), value_type_name(v->json));
	return err_hint(err, "compare it with something: x == 'text', len(x) > 0");
}

static int eval_truth(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	int rc = eval(v, e, out, err);

	if (rc == 0 && (rc = want_bool(e, out, err)) < 0)
		value_done(out);
	return rc;
}

/* and, or: the side that decides alone wins over an unknown one. */
static int eval_logic(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	const bool decides = e->op == EXPR_OR;
	struct value left, right;
	int rc = eval_truth(v, e->arg[0], &left, err);

	if (rc < 0)
		return rc;
	if (value_is_known(&left) && json_is_true(left.json) == decides) {
		*out = left;
		return 0;
	}
	if ((rc = eval_truth(v, e->arg[1], &right, err)) < 0) {
		value_done(&left);
		return rc;
	}
	if (value_is_known(&left) ||
		(value_is_known(&right) && json_is_true(right.json) == decides)) {
		*out = right;
		value_done(&left);
	} else {
		*out = left;
		value_done(&right);
	}
	return 0;
}

static int eval_not(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	int rc = eval_truth(v, e->arg[0], out, err);

	if (rc == 0 && value_is_known(out))
		*out = value_of(json_boolean(!json_is_true(out->json)));
	return rc;
}

static int fail_large(const struct expr *e, struct err *err)
{
	expr_err(e, err, E_LIMIT, "the result is too large");
	return err_hint(err, "whole numbers go up to %lld", (long long)INT64_MAX);
}

static int eval_neg(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	struct value x;
	int64_t n;
	int rc = eval(v, e->arg[0], &x, err);

	if (rc < 0)
		return rc;
	if (!value_is_known(&x)) {
		*out = x;
	} else if (json_is_real(x.json)) {
		*out = value_of(json_real(-json_real_value(x.json)));
	} else if (!json_is_integer(x.json)) {
		rc = expr_err(
			e, err, E_SCHEMA, "'-' needs a number, not %s", value_type_name(x.json));
	} else if (__builtin_sub_overflow(0, json_integer_value(x.json), &n)) {
		rc = fail_large(e, err);
	} else {
		*out = value_of(json_integer(n));
	}
	if (rc < 0 || out->json != x.json)
		value_done(&x);
	return rc;
}

static bool is_number(const json_t *v)
{
	return json_is_integer(v) || json_is_real(v);
}

static long double number(const json_t *v)
{
	return json_is_integer(v) ? (long double)json_integer_value(v)
				  : (long double)json_real_value(v);
}

static int fail_types(
	const struct expr *e, const char *verb, const json_t *a, const json_t *b, struct err *err)
{
	bool numeric = (is_number(a) && json_is_string(b)) || (is_number(b) && json_is_string(a));

	expr_err(e, err, E_SCHEMA, "cannot %s %s and %s", verb, value_type_name(a),
		value_type_name(b));
	if (numeric)
		return err_hint(
			err, "int(x) makes a number of text, text(x) makes text of a number");
	if (json_is_boolean(a) || json_is_boolean(b))
		return err_hint(err, "true and false stand without quotes and are compared with == "
				     "and != only");
	return -E_SCHEMA;
}

static int compare_texts(const json_t *a, const json_t *b)
{
	size_t na = json_string_length(a), nb = json_string_length(b);
	int c = memcmp(json_string_value(a), json_string_value(b), na < nb ? na : nb);

	return c ? c : (na > nb) - (na < nb);
}

static int compare_equal(
	const struct expr *e, const json_t *a, const json_t *b, bool *out, struct err *err)
{
	if (is_number(a) && is_number(b)) {
		long double x = number(a), y = number(b);

		*out = !(x < y) && !(x > y);
		return 0;
	}
	if (json_typeof(a) != json_typeof(b) && !(json_is_boolean(a) && json_is_boolean(b)))
		return fail_types(e, "compare", a, b, err);
	*out = json_equal(a, b);
	return 0;
}

static int compare_order(
	const struct expr *e, const json_t *a, const json_t *b, bool *out, struct err *err)
{
	int c;

	if (is_number(a) && is_number(b)) {
		long double x = number(a), y = number(b);

		c = (x > y) - (x < y);
	} else if (json_is_string(a) && json_is_string(b)) {
		c = compare_texts(a, b);
	} else {
		return fail_types(e, "order", a, b, err);
	}
	*out = e->op == EXPR_LT   ? c < 0
	       : e->op == EXPR_LE ? c <= 0
	       : e->op == EXPR_GT ? c > 0
				  : c >= 0;
	return 0;
}

static int find_in_list(
	const struct expr *e, const json_t *what, const json_t *list, bool *out, struct err *err)
{
	size_t n = json_array_size(list);

	*out = false;
	for (size_t i = 0; i < n && !*out; i++) {
		int rc = compare_equal(e, what, json_array_get(list, i), out, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int find_in(
	const struct expr *e, const json_t *what, const json_t *where, bool *out, struct err *err)
{
	if (json_is_array(where))
		return find_in_list(e, what, where, out, err);
	if (!json_is_string(what) || !(json_is_object(where) || json_is_string(where))) {
		expr_err(e, err, E_SCHEMA, "cannot look for %s in %s", value_type_name(what),
			value_type_name(where));
		return err_hint(
			err, "'in' looks for a value in a list, a key in a map, or text in text");
	}
	if (json_is_object(where))
		*out = json_object_get(where, json_string_value(what)) != NULL;
	else
		*out = strstr(json_string_value(where), json_string_value(what)) != NULL;
	return 0;
}

static int eval_compare(
	const struct expr *e, const struct value side[2], struct value *out, struct err *err)
{
	const json_t *a = side[0].json, *b = side[1].json;
	bool yes = false;
	int rc;

	switch (e->op) {
	case EXPR_EQ:
	case EXPR_NE:
		rc = compare_equal(e, a, b, &yes, err);
		yes ^= e->op == EXPR_NE;
		break;
	case EXPR_IN:
	case EXPR_NOT_IN:
		rc = find_in(e, a, b, &yes, err);
		yes ^= e->op == EXPR_NOT_IN;
		break;
	default:
		rc = compare_order(e, a, b, &yes, err);
	}
	if (rc == 0)
		*out = value_of(json_boolean(yes));
	return rc;
}

static int add_numbers(
	const struct expr *e, const json_t *a, const json_t *b, struct value *out, struct err *err)
{
	bool plus = e->op == EXPR_ADD;
	double x, y;
	int64_t n;

	if (json_is_integer(a) && json_is_integer(b)) {
		json_int_t i = json_integer_value(a), j = json_integer_value(b);

		if (plus ? __builtin_add_overflow(i, j, &n) : __builtin_sub_overflow(i, j, &n))
			return fail_large(e, err);
		*out = value_of(json_integer(n));
		return 0;
	}
	x = json_number_value(a);
	y = json_number_value(b);
	x = plus ? x + y : x - y;
	if (!isfinite(x))
		return fail_large(e, err);
	*out = value_of(json_real(x));
	return 0;
}

static int multiply(
	const struct expr *e, const json_t *a, const json_t *b, struct value *out, struct err *err)
{
	double x;
	int64_t n;

	if (!is_number(a) || !is_number(b))
		return fail_types(e, "multiply", a, b, err);
	if (json_is_integer(a) && json_is_integer(b)) {
		if (__builtin_mul_overflow(json_integer_value(a), json_integer_value(b), &n))
			return fail_large(e, err);
		*out = value_of(json_integer(n));
		return 0;
	}
	x = json_number_value(a) * json_number_value(b);
	if (!isfinite(x))
		return fail_large(e, err);
	*out = value_of(json_real(x));
	return 0;
}

static int join_texts(
	const struct expr *e, const json_t *a, const json_t *b, struct value *out, struct err *err)
{
	AUTO_BUF text;

	buf_init(&text, EXPR_TEXT_MAX);
	buf_add(&text, json_string_value(a), json_string_length(a));
	buf_add(&text, json_string_value(b), json_string_length(b));
	if (!buf_ok(&text))
		return expr_err(e, err, E_LIMIT, "the text is longer than %u bytes", EXPR_TEXT_MAX);
	*out = value_of(json_stringn(buf_text(&text), text.n));
	return 0;
}

static int eval_add(
	const struct expr *e, const struct value side[2], struct value *out, struct err *err)
{
	json_t *a = side[0].json, *b = side[1].json;

	if (is_number(a) && is_number(b))
		return add_numbers(e, a, b, out, err);
	if (e->op == EXPR_SUB)
		return fail_types(e, "subtract", a, b, err);
	if (json_is_string(a) && json_is_string(b))
		return join_texts(e, a, b, out, err);
	if (!json_is_array(a) || !json_is_array(b))
		return fail_types(e, "add", a, b, err);
	*out = value_of(json_copy(a));
	json_array_extend(out->json, b);
	return 0;
}

static int eval_binary(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	struct value side[2];
	bool stop = false;
	int rc = eval_both(v, e, side, out, &stop, err);

	if (rc < 0 || stop)
		return rc;
	if (e->op == EXPR_ADD || e->op == EXPR_SUB)
		rc = eval_add(e, side, out, err);
	else if (e->op == EXPR_MUL)
		rc = multiply(e, side[0].json, side[1].json, out, err);
	else
		rc = eval_compare(e, side, out, err);
	value_done(&side[0]);
	value_done(&side[1]);
	return rc;
}

/* A list or a map of literal keys; one unknown item makes the whole unknown. */
static int eval_items(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	AUTO_JSON made = e->op == EXPR_LIST ? json_array() : json_object();

	for (unsigned i = 0; i < e->n; i++) {
		struct value item;
		int rc = eval(v, e->arg[i], &item, err);

		if (rc < 0)
			return rc;
		if (!value_is_known(&item)) {
			*out = item;
			return 0;
		}
		if (e->op == EXPR_LIST)
			json_array_append_new(made, item.json);
		else
			json_object_set_new(made, e->key[i].p, item.json);
	}
	*out = value_of(json_incref(made));
	return 0;
}

/* Without an err nothing is written down, which keeps the usual case, an undefined x, cheap. */
static int eval_default(
	const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	int rc = eval(v, e->arg[0], out, NULL);

	if (rc == -E_NOTFOUND)
		return eval(v, e->arg[1], out, err);
	return rc < 0 && err ? eval(v, e->arg[0], out, err) : rc;
}

/* Only the side that is taken is evaluated, so the other may read what is not there. */
static int eval_if(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	struct value yes;
	bool is;
	int rc = eval_truth(v, e->arg[0], &yes, err);

	if (rc < 0)
		return rc;
	if (!value_is_known(&yes)) {
		*out = yes;
		return 0;
	}
	is = json_is_true(yes.json);
	value_done(&yes);
	return eval(v, e->arg[is ? 1 : 2], out, err);
}

static int eval_call(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	json_t *args[EXPR_ARGS_MAX] = {NULL};
	const char *unknown = NULL;
	int rc = 0;

	/* the two that do not evaluate all their arguments: if() has three, default() two */
	if (!e->fn->call && !e->fn->probe)
		return e->fn->n == 3 ? eval_if(v, e, out, err) : eval_default(v, e, out, err);
	for (unsigned i = 0; i < e->n && rc == 0; i++) {
		struct value arg = {NULL, NULL};

		rc = eval(v, e->arg[i], &arg, err);
		args[i] = arg.json;
		if (rc == 0 && !arg.json && !unknown)
			unknown = arg.unknown;
	}
	if (rc == 0 && unknown)
		*out = value_unknown(unknown);
	else if (rc == 0)
		rc = expr_call(e, v->scope, args, out, err);
	for (unsigned i = 0; i < e->n; i++)
		json_decref(args[i]);
	return rc;
}

static int eval(const struct eval *v, const struct expr *e, struct value *out, struct err *err)
{
	*out = (struct value){NULL, NULL};
	switch (e->op) {
	case EXPR_TEXT:
		*out = value_of(json_stringn_nocheck(e->text.p, e->text.n));
		return 0;
	case EXPR_INT:
		*out = value_of(json_integer(e->integer));
		return 0;
	case EXPR_REAL:
		*out = value_of(json_real(e->real));
		return 0;
	case EXPR_BOOL:
		*out = value_of(json_boolean(e->yes));
		return 0;
	case EXPR_LIST:
	case EXPR_MAP:
		return eval_items(v, e, out, err);
	case EXPR_NAME:
		return eval_root(v, e, out, err);
	case EXPR_LOCAL:
		return eval_local(v, e, out, err);
	case EXPR_FIELD:
		return eval_field(v, e, out, err);
	case EXPR_INDEX:
		return eval_index(v, e, out, err);
	case EXPR_CALL:
		return eval_call(v, e, out, err);
	case EXPR_NEG:
		return eval_neg(v, e, out, err);
	case EXPR_NOT:
		return eval_not(v, e, out, err);
	case EXPR_AND:
	case EXPR_OR:
		return eval_logic(v, e, out, err);
	default:
		return eval_binary(v, e, out, err);
	}
}

/* A whole expression, as true or false if truth. */
static int eval_whole(const struct expr *e, const struct scope *s, const struct expr_local *locals,
	bool truth, struct value *out, struct err *err)
{
	struct let_memory memory = {NULL, NULL};
	const struct eval v = {s, locals, &memory, s->n_lets};
	const int rc = truth ? eval_truth(&v, e, out, err) : eval(&v, e, out, err);

	for (unsigned i = 0; memory.at && i < s->n_lets; i++)
		value_done(&memory.at[i]);
	free(memory.at);
	free(memory.known);
	return rc;
}

int expr_eval_at(const struct expr *e, const struct scope *s, const struct expr_local *locals,
	struct value *out, struct err *err)
{
	return eval_whole(e, s, locals, false, out, err);
}

int expr_eval_bool_at(const struct expr *e, const struct scope *s, const struct expr_local *locals,
	struct value *out, struct err *err)
{
	return eval_whole(e, s, locals, true, out, err);
}

int expr_eval(const struct expr *e, const struct scope *s, struct value *out, struct err *err)
{
	return expr_eval_at(e, s, NULL, out, err);
}

int expr_eval_bool(const struct expr *e, const struct scope *s, bool *out, const char **unknown,
	struct err *err)
{
	struct value v;
	int rc = expr_eval_bool_at(e, s, NULL, &v, err);

	if (rc < 0)
		return rc;
	*out = json_is_true(v.json);
	*unknown = v.unknown;
	value_done(&v);
	return 0;
}
