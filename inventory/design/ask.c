/* ask - keys with units. */
#include "inventory/design/ask.h"

#include "inventory/design/constant.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	double scale;
} UNITS[] = {{"bytes", 1}, {"kb", KB}, {"kib", KIB}, {"mb", MB}, {"mib", MIB}, {"gb", GB},
	{"gib", GIB}, {"tb", TB}, {"tib", TIB}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"gbs", GB},
	{"tbs", TB}, {"mbs", MB}, {"b", 1e9}, {"tflops", 1e12}, {"pflops", 1e15}, {"gflops", 1e9},
	{"pct", 0.01}, {"gibs", GIB}};

static double scale_of(struct str word)
{
	for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
		if (str_is(word, UNITS[i].word))
			return UNITS[i].scale;
	return 0;
}

/* The last word that is a unit, and not after "per", counts: weight_bytes_gb are GB. */
static const char *unit_word(const char *key, double *scale)
{
	struct str left = str_of(key), part, before = STR_LIT("");
	const char *word = NULL;

	*scale = 1;
	while (str_next(&left, '_', &part)) {
		const double s = str_is(before, "per") ? 0 : scale_of(part);

		before = part;
		if (s == 0)
			continue;
		*scale = s;
		word = part.p;
	}
	return word;
}

double ask_unit(const char *key, char *rest, size_t n)
{
	struct str left = str_of(key), part;
	double scale;
	const char *word = unit_word(key, &scale);
	size_t at = 0;

	while (str_next(&left, '_', &part)) {
		if (part.p == word || at + part.n + 2 > n)
			continue;
		if (at > 0)
			rest[at++] = '_';
		memcpy(rest + at, part.p, part.n);
		at += part.n;
	}
	rest[at] = '\0';
	return scale;
}

/* The pair of a key, with or without unit; -1. */
static int find(const struct ask *a, const char *key, double *scale)
{
	char rest[80];

	*scale = 1;
	for (unsigned i = 0; i < a->in->n; i++)
		if (str_is(a->in->key[i]->text, key))
			return (int)i;
	for (unsigned i = 0; i < a->in->n; i++) {
		*scale = ask_unit(a->in->key[i]->text.p, rest, sizeof rest);
		if (strcmp(rest, key) == 0)
			return (int)i;
	}
	return -1;
}

static void mark(struct ask *a, int i)
{
	if (i < ASK_KEYS_MAX)
		a->used |= (uint64_t)1 << i;
}

bool ask_has(const struct ask *a, const char *key)
{
	double scale;

	return find(a, key, &scale) >= 0;
}

const struct yaml_node *ask_node(struct ask *a, const char *key)
{
	for (unsigned i = 0; i < a->in->n; i++) {
		if (!str_is(a->in->key[i]->text, key))
			continue;
		mark(a, (int)i);
		return a->in->item[i];
	}
	return NULL;
}

void ask_failed(struct ask *a, const char *key, int rc)
{
	const struct yaml_node *at = yaml_get(a->in, key);
	struct err was = *a->err;

	if (a->rc < 0)
		return;
	a->rc = rc;
	(void)yaml_err(a->doc, at ? at : a->in, a->err, was.code, "%s", was.msg);
	if (was.hint[0])
		(void)err_hint(a->err, "%s", was.hint);
}

void ask_fail(struct ask *a, const char *key, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	if (a->rc < 0)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ask_failed(a, key, err_set(a->err, E_SCHEMA, "%s", text));
}

double ask_num(struct ask *a, const char *key, double otherwise)
{
	double scale, v;
	const int i = find(a, key, &scale);
	const struct yaml_node *n;

	if (i < 0)
		return otherwise;
	mark(a, i);
	n = a->in->item[i];
	if (n->kind == YAML_LIST && n->n > 0) {
		if (a->rounds > 1 && a->rounds != n->n)
			ask_fail(a, key, "lists of %u and %u values", a->rounds, n->n);
		a->rounds = n->n;
		n = n->item[a->round < n->n ? a->round : 0];
	}
	if (n->kind == YAML_SCALAR && str_to_f64(n->text, &v))
		return v * scale;
	ask_fail(a, key, "'%s' must be a number", key);
	return otherwise;
}

double ask_must(struct ask *a, const char *key)
{
	if (!ask_has(a, key))
		ask_fail(a, key, "'%s' is missing", key);
	return ask_num(a, key, 0);
}

const char *ask_text(struct ask *a, const char *key)
{
	const struct yaml_node *n = ask_node(a, key);

	if (n && n->kind != YAML_SCALAR)
		ask_fail(a, key, "'%s' must be a word", key);
	return n && n->kind == YAML_SCALAR ? n->text.p : NULL;
}

void ask_ignore(struct ask *a, const char *const *keys)
{
	for (; *keys; keys++)
		(void)ask_node(a, *keys);
}

static void put(struct ask *a, const char *key, json_t *v)
{
	json_t *list;

	if (a->rounds <= 1) {
		(void)json_object_set_new(a->out, key, v);
		return;
	}
	list = json_object_get(a->out, key);
	if (!json_is_array(list)) {
		list = json_array();
		(void)json_object_set_new(a->out, key, list);
	}
	(void)json_array_append_new(list, v);
}

void ask_put(struct ask *a, const char *key, double v)
{
	put(a, key, isfinite(v) ? json_real(v) : json_null());
}

void ask_put_text(struct ask *a, const char *key, const char *v)
{
	put(a, key, json_string(v));
}

void ask_put_bool(struct ask *a, const char *key, bool v)
{
	put(a, key, json_boolean(v));
}

int ask_run(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err,
	void (*answer)(struct ask *a))
{
	struct ask a = {.doc = d, .in = in, .out = out, .err = err, .rounds = 1};
	int rc = yaml_want_map(d, in, "the inputs", err);

	if (rc < 0)
		return rc;
	if (in->n > ASK_KEYS_MAX)
		return yaml_err(d, in, err, E_LIMIT, "more than %d inputs", ASK_KEYS_MAX);
	do {
		answer(&a);
		if (a.rc < 0)
			return a.rc;
		if (a.round == 0 && a.rounds > 1) /* the first was asked before the list was seen */
			json_object_clear(out), a.round = 0, answer(&a);
		a.round++;
	} while (a.rc == 0 && a.round < a.rounds);
	for (unsigned i = 0; i < in->n && a.rc == 0; i++)
		if (!(a.used >> i & 1))
			return yaml_err(d, in->key[i], err, E_SCHEMA, "unknown input '%.64s'",
				in->key[i]->text.p);
	return a.rc;
}
