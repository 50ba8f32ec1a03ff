/* expr_list - functions over lists, maps and numbers. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/recipe/expr_priv.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_MAX 10000

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

EXPR_FUNCTION(expr_call_keys)
{
	const size_t n = json_object_size(args[0]);
	const char **names = xcalloc(n + 1, sizeof *names);
	size_t i = 0;

	(void)e, (void)err;
	for (void *at = json_object_iter(args[0]); at; at = json_object_iter_next(args[0], at))
		names[i++] = json_object_iter_key(at);
	qsort(names, n, sizeof *names, by_text);
	*out = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(*out, json_string(names[i]));
	free(names);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;

	if (json_is_string(x))
		return strcmp(json_string_value(x), json_string_value(y));
	return (json_number_value(x) > json_number_value(y)) -
	       (json_number_value(x) < json_number_value(y));
}

EXPR_FUNCTION(expr_call_sort)
{
	const size_t n = json_array_size(args[0]);
	json_t **items = xcalloc(n + 1, sizeof *items);
	bool texts = true, numbers = true;

	for (size_t i = 0; i < n; i++) {
		items[i] = json_array_get(args[0], i);
		texts = texts && json_is_string(items[i]);
		numbers = numbers && json_is_number(items[i]);
	}
	if (!texts && !numbers) {
		free(items);
		expr_err(e->arg[0], err, E_SCHEMA, "'sort' orders texts or numbers");
		return err_hint(err, "pluck(list, key) takes texts out of maps");
	}
	qsort(items, n, sizeof *items, by_value);
	*out = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append(*out, items[i]);
	free(items);
	return 0;
}

static bool holds(const json_t *list, const json_t *item)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), item))
			return true;
	return false;
}

/* Texts, which are most of it, are found by a map; what else is there is looked for. */
EXPR_FUNCTION(expr_call_unique)
{
	AUTO_JSON seen = json_object();
	size_t i;
	json_t *item;

	(void)e, (void)err;
	*out = json_array();
	json_array_foreach(args[0], i, item)
	{
		if (!json_is_string(item)) {
			if (!holds(*out, item))
				json_array_append(*out, item);
			continue;
		}
		if (json_object_get(seen, json_string_value(item)))
			continue;
		json_object_set_new(seen, json_string_value(item), json_true());
		json_array_append(*out, item);
	}
	return 0;
}

EXPR_FUNCTION(expr_call_where)
{
	size_t i;
	json_t *item;

	(void)e, (void)err;
	*out = json_array();
	json_array_foreach(args[0], i, item)
	{
		const json_t *value = json_object_get(item, json_string_value(args[1]));

		if (value && json_equal(value, args[2]))
			json_array_append(*out, item);
	}
	return 0;
}

EXPR_FUNCTION(expr_call_pluck)
{
	const char *key = json_string_value(args[1]);
	size_t i;
	json_t *item;

	*out = json_array();
	json_array_foreach(args[0], i, item)
	{
		json_t *value = json_object_get(item, key);

		if (!value) {
			json_decref(*out);
			*out = NULL;
			expr_err(e->arg[0], err, E_NOTFOUND, "item %zu of the list has no '%.60s'",
				i, key);
			return err_hint(err, "where(list, key, value) leaves some out");
		}
		json_array_append(*out, value);
	}
	return 0;
}

EXPR_FUNCTION(expr_call_range)
{
	const json_int_t n = json_integer_value(args[0]);

	if (n < 0 || n > RANGE_MAX)
		return expr_err(e->arg[0], err, E_LIMIT, "'range' counts from 0 to %d, not to %lld",
			RANGE_MAX, (long long)n);
	*out = json_array();
	for (json_int_t i = 0; i < n; i++)
		json_array_append_new(*out, json_integer(i));
	return 0;
}

/* Rounded down, so that div(a, b) * b + mod(a, b) == a and mod has the sign of b. */
static int divide(const struct expr *e, json_t *const *args, json_int_t *whole, json_int_t *left,
	struct err *err)
{
	const json_int_t a = json_integer_value(args[0]), b = json_integer_value(args[1]);

	if (b == 0)
		return expr_err(e->arg[1], err, E_SCHEMA, "nothing can be divided by 0");
	if (b == -1 && a == INT64_MIN)
		return expr_err(e, err, E_LIMIT, "the result is too large");
	*whole = a / b;
	*left = a % b;
	if (*left != 0 && (*left < 0) != (b < 0)) {
		*left += b;
		*whole -= 1;
	}
	return 0;
}

EXPR_FUNCTION(expr_call_div)
{
	json_int_t whole = 0, left = 0;
	const int rc = divide(e, args, &whole, &left, err);

	if (rc == 0)
		*out = json_integer(whole);
	return rc;
}

EXPR_FUNCTION(expr_call_mod)
{
	json_int_t whole = 0, left = 0;
	const int rc = divide(e, args, &whole, &left, err);

	if (rc == 0)
		*out = json_integer(left);
	return rc;
}

EXPR_FUNCTION(expr_call_min)
{
	(void)e, (void)err;
	*out = json_incref(args[json_number_value(args[1]) < json_number_value(args[0])]);
	return 0;
}

EXPR_FUNCTION(expr_call_max)
{
	(void)e, (void)err;
	*out = json_incref(args[json_number_value(args[1]) > json_number_value(args[0])]);
	return 0;
}
