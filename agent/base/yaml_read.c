/* yaml_read.c - what a reader's schema asks of a node; every refusal says what was expected. */
#include "agent/base/yaml.h"

#include <stdio.h>

#define SHOWN 40 /* bytes of a value that a message repeats */

static const char *const kinds[] = {
	[YAML_SCALAR] = "a text", [YAML_LIST] = "a list", [YAML_MAP] = "a map"};

/* A key with nothing behind it. */
static bool is_empty(const struct yaml_node *n)
{
	return n->kind == YAML_SCALAR && n->plain && n->text.n == 0;
}

static int want(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	enum yaml_kind kind, const char *expected, struct err *err)
{
	if (!n)
		return yaml_err(d, NULL, err, E_SCHEMA, "%s is missing", what);
	if (is_empty(n))
		return yaml_err(
			d, n, err, E_SCHEMA, "%s has no value, expected %s", what, expected);
	if (n->kind != kind)
		return yaml_err(d, n, err, E_SCHEMA, "%s must be %s, not %s", what, expected,
			kinds[n->kind]);
	return 0;
}

static int not_a(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	const char *expected, struct err *err)
{
	const struct str shown = str_first(n->text, SHOWN);

	return yaml_err(d, n, err, E_SCHEMA, "%s must be %s, not '" STR_FMT "%s'", what, expected,
		STR_ARG(shown), shown.n < n->text.n ? "..." : "");
}

static const struct yaml_node *find(const struct yaml_node *map, const char *key, bool value)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (unsigned i = 0; i < map->n; i++)
		if (str_is(map->key[i]->text, key))
			return value ? map->item[i] : map->key[i];
	return NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	return find(map, key, true);
}

const struct yaml_node *yaml_key(const struct yaml_node *map, const char *key)
{
	return find(map, key, false);
}

static bool is_known(const char *const *keys, struct str key)
{
	for (; *keys; keys++)
		if (str_is(key, *keys))
			return true;
	return false;
}

static int refuse_key(const struct yaml_doc *d, const struct yaml_node *key,
	const char *const *keys, struct err *err)
{
	const char *near = err_nearest(key->text.p, keys);
	const struct str shown = str_first(key->text, SHOWN);
	char known[sizeof err->hint];
	size_t n = 0;
	int rc;

	rc = yaml_err(d, key, err, E_SCHEMA, "unknown key '" STR_FMT "%s'", STR_ARG(shown),
		shown.n < key->text.n ? "..." : "");
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	for (; *keys && n < sizeof known; keys++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", *keys);
	return n ? err_hint(err, "known here: %s", known) : rc;
}

int yaml_known_keys(const struct yaml_doc *d, const struct yaml_node *map, const char *const *keys,
	struct err *err)
{
	int rc = yaml_want_map(d, map, "this", err);

	for (unsigned i = 0; rc == 0 && i < map->n; i++)
		if (!is_known(keys, map->key[i]->text))
			rc = refuse_key(d, map->key[i], keys, err);
	return rc;
}

int yaml_want_map(
	const struct yaml_doc *d, const struct yaml_node *n, const char *what, struct err *err)
{
	return want(d, n, what, YAML_MAP, kinds[YAML_MAP], err);
}

int yaml_want_list(
	const struct yaml_doc *d, const struct yaml_node *n, const char *what, struct err *err)
{
	return want(d, n, what, YAML_LIST, kinds[YAML_LIST], err);
}

int yaml_want_text(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	struct str *out, struct err *err)
{
	int rc = want(d, n, what, YAML_SCALAR, kinds[YAML_SCALAR], err);

	if (rc == 0)
		*out = n->text;
	else if (n && is_empty(n))
		return err_hint(err, "write \"\" for an empty text");
	return rc;
}

/* "0755" and "007" mean different numbers to different people. */
static bool has_leading_zero(struct str s)
{
	if (str_starts(s, "-"))
		s = str_from(s, 1);
	return s.n > 1 && s.p[0] == '0' && s.p[1] >= '0' && s.p[1] <= '9';
}

int yaml_want_int(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	int64_t min, int64_t max, int64_t *out, struct err *err)
{
	char expected[96];
	int64_t v;
	int rc;

	if (min == INT64_MIN && max == INT64_MAX)
		(void)snprintf(expected, sizeof expected, "a whole number");
	else if (max == INT64_MAX)
		(void)snprintf(expected, sizeof expected, "a whole number of at least %lld",
			(long long)min);
	else
		(void)snprintf(expected, sizeof expected, "a whole number from %lld to %lld",
			(long long)min, (long long)max);
	rc = want(d, n, what, YAML_SCALAR, expected, err);
	if (rc < 0)
		return rc;
	if (!str_to_i64(n->text, &v) || v < min || v > max)
		return not_a(d, n, what, expected, err);
	if (has_leading_zero(n->text)) {
		(void)not_a(d, n, what, expected, err);
		return err_hint(err, "write it without leading zeros");
	}
	*out = v;
	return 0;
}

int yaml_want_num(const struct yaml_doc *d, const struct yaml_node *n, const char *what, double min,
	double max, double *out, struct err *err)
{
	char expected[96];
	double v;
	int rc;

	(void)snprintf(expected, sizeof expected, "a number from %.15g to %.15g", min, max);
	rc = want(d, n, what, YAML_SCALAR, expected, err);
	if (rc < 0)
		return rc;
	if (has_leading_zero(n->text) || !str_to_f64(n->text, &v) || v < min || v > max)
		return not_a(d, n, what, expected, err);
	*out = v;
	return 0;
}

int yaml_want_bool(const struct yaml_doc *d, const struct yaml_node *n, const char *what, bool *out,
	struct err *err)
{
	static const char *const trues[] = {
		"yes", "on", "True", "TRUE", "Yes", "On", "YES", "ON", NULL};
	static const char *const falses[] = {
		"no", "off", "False", "FALSE", "No", "Off", "NO", "OFF", NULL};
	int rc = want(d, n, what, YAML_SCALAR, "true or false", err);

	if (rc < 0)
		return rc;
	if (str_is(n->text, "true") || str_is(n->text, "false")) {
		*out = n->text.p[0] == 't';
		return 0;
	}
	rc = not_a(d, n, what, "true or false", err);
	if (is_known(trues, n->text))
		return err_hint(err, "write 'true'");
	return is_known(falses, n->text) ? err_hint(err, "write 'false'") : rc;
}
