/* input - over yaml_want_*, so that messages have their place. */
#include "inventory/design/input.h"

#include "agent/base/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct input input_of(const struct yaml_doc *d, const struct yaml_node *in, struct err *err)
{
	struct input a = {.doc = d, .in = in, .err = err};

	a.fault = in ? yaml_want_map(d, in, "the inputs", err)
		     : err_set(err, E_SCHEMA, "there are no inputs");
	return a;
}

const struct yaml_node *input_node(const struct input *a, const char *names)
{
	struct str rest = str_of(names), name;
	char key[64];

	while (!a->fault && str_next(&rest, '|', &name)) {
		const struct yaml_node *n;

		snprintf(key, sizeof key, STR_FMT, STR_ARG(name));
		n = yaml_get(a->in, key);
		if (n && !(n->kind == YAML_SCALAR && n->plain && str_is(n->text, "null")))
			return n;
	}
	return NULL;
}

/* "'it_kw'": the first of the names. */
static const char *quoted(const char *names, char *out, size_t room)
{
	snprintf(out, room, "'%.*s'", (int)strcspn(names, "|"), names);
	return out;
}

double input_num(struct input *a, const char *names, double min, double max, double preset)
{
	const struct yaml_node *n = input_node(a, names);
	double v = preset;
	char what[72];

	if (!n)
		return preset;
	a->fault = yaml_want_num(a->doc, n, quoted(names, what, sizeof what), min, max, &v, a->err);
	return a->fault ? preset : v;
}

unsigned input_count(struct input *a, const char *names, unsigned max, unsigned preset)
{
	const double v = input_num(a, names, 0, max, preset);

	if (!a->fault && v != floor(v))
		input_fail(a, names, "must be a whole number, and is %g", v);
	return a->fault ? preset : (unsigned)v;
}

bool input_bool(struct input *a, const char *names, bool preset)
{
	const struct yaml_node *n = input_node(a, names);
	bool v = preset;
	char what[72];

	if (n)
		a->fault = yaml_want_bool(a->doc, n, quoted(names, what, sizeof what), &v, a->err);
	return a->fault ? preset : v;
}

const char *input_text(struct input *a, const char *names)
{
	const struct yaml_node *n = input_node(a, names);
	struct str v;
	char what[72];

	if (!n)
		return NULL;
	a->fault = yaml_want_text(a->doc, n, quoted(names, what, sizeof what), &v, a->err);
	return a->fault ? NULL : v.p;
}

int input_word(struct input *a, const char *names, const char *const *words, int preset)
{
	const char *word = input_text(a, names);
	AUTO_BUF known;

	buf_init(&known, 400);
	if (!word)
		return preset;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	for (int i = 0; words[i]; i++)
		buf_addf(&known, "%s%s", i ? ", " : "", words[i]);
	input_fail(a, names, "is '%.40s', and must be one of %s", word, buf_text(&known));
	return preset;
}

unsigned input_nums(struct input *a, const char *names, double min, double max, double *out,
	unsigned room, bool *list)
{
	const struct yaml_node *n = input_node(a, names);
	unsigned count = 0;
	char what[72];

	*list = n && n->kind == YAML_LIST;
	if (!n)
		return 0;
	quoted(names, what, sizeof what);
	if (*list && n->n > room)
		return input_fail(a, names, "has %u figures; at most %u", n->n, room), 0u;
	while (!a->fault && count < (*list ? n->n : 1)) {
		a->fault = yaml_want_num(
			a->doc, *list ? n->item[count] : n, what, min, max, &out[count], a->err);
		count++;
	}
	return a->fault ? 0 : count;
}

int input_fail(struct input *a, const char *names, const char *fmt, ...)
{
	const struct yaml_node *n = input_node(a, names);
	char text[320], what[72];
	va_list ap;

	if (a->fault)
		return a->fault;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	a->fault = yaml_err(a->doc, n ? n : a->in, a->err, E_SCHEMA, "%s %s",
		quoted(names, what, sizeof what), text);
	return a->fault;
}

void answer_num(json_t *out, const char *key, double v)
{
	if (isfinite(v))
		json_object_set_new(out, key,
			v == floor(v) && fabs(v) < 1e15 ? json_integer((json_int_t)v)
							: json_real(v));
}

void answer_nums(json_t *out, const char *key, const double *v, unsigned n, bool list)
{
	json_t *all;

	if (!list) {
		if (n)
			answer_num(out, key, v[0]);
		return;
	}
	all = json_array();
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(all, json_real(v[i]));
	json_object_set_new(out, key, all);
}
