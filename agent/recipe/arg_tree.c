#include "agent/recipe/arg_tree.h"

#include "agent/base/buf.h"
#include "agent/recipe/type.h"

#include <string.h>

struct arg_tree {
	const struct yaml_node *at;
	struct template *text;  /* a scalar that may have tags */
	struct arg_tree **item; /* at->n of a list or map */
};

/* --- literals --- */

static int literal_scalar(const struct yaml_doc *d, const struct yaml_node *at, const char *what,
	json_t **out, struct err *err)
{
	int rc;

	if (at->plain && at->text.n == 0) {
		yaml_err(d, at, err, E_SCHEMA, "a value in %s is missing", what);
		return err_hint(err, "write null, '' for an empty text, or leave the key out");
	}
	if (at->plain) {
		rc = type_from_plain(at->text, out, err);
		return rc < 0 ? type_place(d, at, err) : 0;
	}
	*out = json_stringn(at->text.p, at->text.n);
	return *out ? 0 : yaml_err(d, at, err, E_SCHEMA, "the text is not UTF-8");
}

static int check_key(const struct yaml_doc *d, const struct yaml_node *key, struct err *err)
{
	if (memchr(key->text.p, '\0', key->text.n))
		return yaml_err(d, key, err, E_SCHEMA, "a key holds a zero byte");
	/* It would stand for something unknown wherever an expression reads it. */
	if (str_is(key->text, VALUE_UNKNOWN_KEY))
		return yaml_err(d, key, err, E_SCHEMA, "'%s' cannot be a key", VALUE_UNKNOWN_KEY);
	return 0;
}

static int fail_deep(
	const struct yaml_doc *d, const struct yaml_node *at, const char *what, struct err *err)
{
	return yaml_err(d, at, err, E_LIMIT, "%s is nested deeper than %d", what, TREE_DEPTH_MAX);
}

static int make_literal(const struct yaml_doc *d, const struct yaml_node *at, const char *what,
	unsigned depth, json_t **out, struct err *err)
{
	AUTO_JSON made = at->kind == YAML_LIST ? json_array() : json_object();
	int rc = 0;

	if (at->kind == YAML_SCALAR)
		return literal_scalar(d, at, what, out, err);
	if (depth > TREE_DEPTH_MAX)
		return fail_deep(d, at, what, err);
	for (unsigned i = 0; i < at->n && rc == 0; i++) {
		json_t *item = NULL;

		if (at->kind == YAML_MAP && (rc = check_key(d, at->key[i], err)) < 0)
			break;
		rc = make_literal(d, at->item[i], what, depth + 1, &item, err);
		if (rc == 0 && at->kind == YAML_MAP)
			json_object_set_new(made, at->key[i]->text.p, item);
		else if (rc == 0)
			json_array_append_new(made, item);
	}
	if (rc == 0)
		*out = json_incref(made);
	return rc;
}

int arg_tree_literal(const struct yaml_doc *d, const struct yaml_node *at, const char *what,
	json_t **out, struct err *err)
{
	return make_literal(d, at, what, 1, out, err);
}

/* --- at load --- */

static int load_scalar(const struct loader *l, const struct yaml_node *at, const char *what,
	struct readable may, struct arg_tree *t, struct err *err)
{
	AUTO_JSON v = NULL;
	int rc;

	if (at->plain && at->text.n == 0)
		return literal_scalar(l->recipe->doc, at, what, &v, err);
	rc = load_template(l, at, what, may, &t->text, err);
	if (rc < 0 || !template_is_plain(t->text))
		return rc;
	return literal_scalar(l->recipe->doc, at, what, &v, err);
}

static int load_node(const struct loader *l, const struct yaml_node *at, const char *what,
	struct readable may, unsigned depth, struct arg_tree **out, struct err *err)
{
	struct arg_tree *t = arena_alloc(l->arena, sizeof *t);
	int rc = 0;

	*t = (struct arg_tree){.at = at};
	*out = t;
	if (at->kind == YAML_SCALAR)
		return load_scalar(l, at, what, may, t, err);
	if (depth > TREE_DEPTH_MAX)
		return fail_deep(l->recipe->doc, at, what, err);
	t->item = arena_alloc(l->arena, (at->n + 1) * sizeof(struct arg_tree *));
	for (unsigned i = 0; i < at->n && rc == 0; i++) {
		if (at->kind == YAML_MAP)
			rc = check_key(l->recipe->doc, at->key[i], err);
		if (rc == 0)
			rc = load_node(l, at->item[i], what, may, depth + 1, &t->item[i], err);
	}
	return rc;
}

int arg_tree_load(const struct loader *l, const struct yaml_node *at, const char *what,
	struct readable may, struct arg_tree **out, struct err *err)
{
	int rc = load_node(l, at, what, may, 1, out, err);

	if (rc < 0 || at->kind != YAML_SCALAR || template_single((*out)->text))
		return rc;
	yaml_err(l->recipe->doc, at, err, E_SCHEMA, "%s must be %s", what, type_name(PARAM_TREE));
	return err_hint(err, "write {key: value} or [a, b]");
}

/* --- in a run --- */

/* What a value holds: its size, and whether a part of it is unknown. */
struct measure {
	size_t nodes, bytes;
	unsigned depth;
	const char *unknown;
};

static void measure_tree(json_t *v, unsigned depth, struct measure *m)
{
	const char *key, *why = json_get_str(v, VALUE_UNKNOWN_KEY, NULL);
	json_t *item;
	size_t i;

	m->nodes++;
	m->bytes += json_string_length(v);
	m->depth = depth > m->depth ? depth : m->depth;
	m->unknown = why ? why : m->unknown;
	if (m->nodes > TREE_NODES_MAX || depth > TREE_DEPTH_MAX)
		return;
	json_array_foreach(v, i, item) measure_tree(item, depth + 1, m);
	json_object_foreach(v, key, item)
	{
		m->bytes += strlen(key);
		measure_tree(item, depth + 1, m);
	}
}

struct eval {
	const struct recipe *recipe;
	const struct scope *scope;
	const char *what;
	const char *unknown;
};

static int eval_node(struct eval *e, const struct arg_tree *t, json_t **out, struct err *err);

static int eval_single(struct eval *e, const struct expr *x, json_t **out, struct err *err)
{
	struct measure m = {0, 0, 0, NULL};
	struct value v;
	int rc = expr_eval(x, e->scope, &v, err);

	if (rc < 0)
		return rc;
	e->unknown = v.unknown;
	if (v.json)
		measure_tree(v.json, 1, &m);
	if (m.depth > TREE_DEPTH_MAX || m.nodes > TREE_NODES_MAX)
		rc = expr_err(x, err, E_LIMIT, "the value is too large for %s", e->what);
	else if (m.unknown)
		e->unknown = m.unknown;
	else if (v.json)
		*out = json_deep_copy(v.json);
	value_done(&v);
	return rc;
}

static int eval_scalar(struct eval *e, const struct arg_tree *t, json_t **out, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, TEMPLATE_OUT_MAX);
	if (template_is_plain(t->text))
		return literal_scalar(e->recipe->doc, t->at, e->what, out, err);
	if (template_single(t->text))
		return eval_single(e, template_single(t->text), out, err);
	if ((rc = template_render(t->text, e->scope, &text, &e->unknown, err)) < 0)
		return rc;
	if (!e->unknown)
		*out = json_stringn_nocheck(buf_text(&text), text.n);
	return 0;
}

static int eval_items(struct eval *e, const struct arg_tree *t, json_t *into, struct err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < t->at->n && rc == 0 && !e->unknown; i++) {
		json_t *item = NULL;

		rc = eval_node(e, t->item[i], &item, err);
		if (!item)
			continue;
		if (t->at->kind == YAML_MAP)
			json_object_set_new(into, t->at->key[i]->text.p, item);
		else
			json_array_append_new(into, item);
	}
	return rc;
}

static int eval_node(struct eval *e, const struct arg_tree *t, json_t **out, struct err *err)
{
	AUTO_JSON made = NULL;
	int rc;

	if (t->at->kind == YAML_SCALAR)
		return eval_scalar(e, t, out, err);
	made = t->at->kind == YAML_LIST ? json_array() : json_object();
	rc = eval_items(e, t, made, err);
	if (rc == 0 && !e->unknown)
		*out = json_incref(made);
	return rc;
}

int arg_tree_judge(json_t *v, const char *name, struct err *err)
{
	struct measure m = {0, 0, 0, NULL};

	measure_tree(v, 1, &m);
	if (m.depth > TREE_DEPTH_MAX)
		return err_set(err, E_LIMIT, "'%s' is nested deeper than %d", name, TREE_DEPTH_MAX);
	if (m.nodes > TREE_NODES_MAX || m.bytes > TREE_BYTES_MAX)
		return err_set(err, E_LIMIT, "'%s' holds more than %d values or %u bytes of text",
			name, TREE_NODES_MAX, TREE_BYTES_MAX);
	if (m.unknown)
		return err_set(err, E_SCHEMA, "'%s' holds the key '%s'", name, VALUE_UNKNOWN_KEY);
	return 0;
}

int arg_tree_eval(const struct arg_tree *t, const struct recipe *r, const struct scope *scope,
	const char *what, json_t **out, const char **unknown, struct err *err)
{
	struct eval e = {r, scope, what, NULL};
	struct measure m = {0, 0, 0, NULL};
	AUTO_JSON made = NULL;
	int rc = eval_node(&e, t, &made, err);

	*unknown = e.unknown;
	if (rc < 0 || e.unknown)
		return rc;
	measure_tree(made, 1, &m);
	if (m.depth > TREE_DEPTH_MAX)
		return fail_deep(r->doc, t->at, what, err);
	if (m.nodes > TREE_NODES_MAX || m.bytes > TREE_BYTES_MAX)
		return yaml_err(r->doc, t->at, err, E_LIMIT,
			"%s holds more than %d values or %u bytes of text", what, TREE_NODES_MAX,
			TREE_BYTES_MAX);
	if (!json_is_object(made) && !json_is_array(made)) {
		yaml_err(r->doc, t->at, err, E_SCHEMA, "%s must be %s, not %s", what,
			type_name(PARAM_TREE), value_type_name(made));
		return err_hint(err, "give the expression a map or a list");
	}
	*out = json_incref(made);
	return 0;
}
