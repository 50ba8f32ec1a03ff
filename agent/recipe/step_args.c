/* step_args - arguments of a step: judged at load, evaluated and typed in a run. */
#include "agent/base/buf.h"
#include "agent/recipe/arg_tree.h"
#include "agent/recipe/recipe_priv.h"
#include "agent/recipe/type.h"

#include <stdio.h>
#include <string.h>

#define PARAMS_MAX 32

/* --- at load --- */

static int check_literal(
	const struct loader *l, const struct step_arg *a, const char *what, struct err *err)
{
	const struct type type = {a->param->type, a->param->choices, what, true, a->param->about};
	AUTO_JSON v = NULL;

	if (!template_is_plain(a->text))
		return 0;
	if (type_from_text(&type, a->at->text, &v, err) < 0)
		return load_hint(
			type_place(l->recipe->doc, a->at, err), err, "%s", a->param->about);
	return 0;
}

/* In a list of YAML it would be read as something else. */
static bool needs_quotes(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] && strchr("{}[]&*#!|>%@`\"", word.p[i]))
			return true;
	return false;
}

/* One '{{ expression }}' may stand for a whole list or map. */
static int load_computed(const struct loader *l, struct step_arg *a, const char *what,
	struct readable may, struct err *err)
{
	const char between = str_find_str(a->at->text, STR_LIT("{{")) == STR_NONE ? ' ' : '\n';
	struct str rest = str_first(a->at->text, 60), word;
	bool list = a->param->type == PARAM_LIST;
	int rc = load_template(l, a->at, what, may, &a->text, err);
	AUTO_BUF words = {0};

	if (rc < 0 || template_single(a->text))
		return rc;
	yaml_err(l->recipe->doc, a->at, err, E_SCHEMA, "%s must be %s", what,
		type_name(a->param->type));
	if (!list)
		return err_hint(err, "write %s: {key: value}", a->param->name);
	buf_init(&words, 256);
	while (str_next(&rest, between, &word)) {
		const char *quote = needs_quotes(word) ? "'" : "";

		if (word.n > 0)
			buf_addf(&words, "%s%s" STR_FMT "%s%s", words.n ? " " : "", quote,
				STR_ARG(word), quote,
				rest.n && word.p[word.n - 1] != ',' ? "," : "");
	}
	return err_hint(err, "write %s: [%s]", a->param->name, buf_text(&words));
}

/* A list that must be given, or that is one way to say what a step is for, holds something. */
static bool may_be_empty(const struct kind *k, const struct kind_param *p)
{
	for (const char *const *one = k->one_of; one && *one; one++)
		if (strcmp(*one, p->name) == 0)
			return false;
	return !p->required;
}

static int load_many(const struct loader *l, const struct kind *kind, struct step_arg *a,
	const char *what, struct readable may, struct err *err)
{
	bool list = a->param->type == PARAM_LIST;
	int rc;

	if (a->at->kind == YAML_SCALAR)
		return load_computed(l, a, what, may, err);
	rc = list ? yaml_want_list(l->recipe->doc, a->at, what, err)
		  : yaml_want_map(l->recipe->doc, a->at, what, err);
	if (rc < 0)
		return load_hint(rc, err, "such as %s", list ? "[a, b]" : "{key: value}");
	a->n = a->at->n;
	a->items = arena_alloc(l->arena, (a->n + 1) * sizeof(struct template *));
	a->keys = list ? NULL : arena_alloc(l->arena, (a->n + 1) * sizeof *a->keys);
	for (unsigned i = 0; i < a->n; i++) {
		rc = load_template(l, a->at->item[i], what, may, &a->items[i], err);
		if (rc < 0)
			return load_hint(rc, err, "%s", a->param->about);
		if (!list)
			a->keys[i] = a->at->key[i]->text.p;
	}
	if (a->n > 0 || may_be_empty(kind, a->param))
		return 0;
	return load_hint(yaml_err(l->recipe->doc, a->at, err, E_SCHEMA, "%s is empty", what), err,
		"%s", a->param->about);
}

static bool may_hold_secret(const struct kind *k, const struct kind_param *p)
{
	for (const char *const *name = k->secret; name && *name; name++)
		if (strcmp(*name, p->name) == 0)
			return true;
	return false;
}

static int load_arg(const struct loader *l, struct step *s, struct step_arg *a, struct readable may,
	struct err *err)
{
	const bool secret = may_hold_secret(s->kind, a->param);
	char what[48];
	int rc;

	snprintf(what, sizeof what, "'%s'", a->param->name);
	may.found = &a->secret;
	may.secret =
		secret && a->param->type != PARAM_SOURCE; /* what is in the file, not its name */
	if (a->param->type == PARAM_EXPR)
		return load_expr(l, a->at, what, may, &a->expr, err);
	if (a->param->type == PARAM_TREE)
		return load_hint(arg_tree_load(l, a->at, what, may, &a->tree, err), err, "%s",
			a->param->about);
	if (a->param->type == PARAM_LIST || a->param->type == PARAM_MAP)
		return load_many(l, s->kind, a, what, may, err);
	rc = load_template(l, a->at, what, may, &a->text, err);
	if (rc < 0)
		return err && !err->hint[0] ? load_hint(rc, err, "%s", a->param->about) : rc;
	if ((rc = check_literal(l, a, what, err)) < 0)
		return rc;
	may.secret = secret;
	if (a->param->type == PARAM_SOURCE && l->dirfd < 0)
		a->secret = secret && secret_is_declared(l->recipe); /* the file cannot be seen */
	if (a->param->type == PARAM_SOURCE && l->dirfd >= 0 && template_is_plain(a->text))
		return load_source(l, s->kind, a->at, may, err);
	return 0;
}

static int missing(const struct loader *l, const struct step *s, const struct yaml_node *map,
	const char *name, struct err *err)
{
	const struct kind_param *p = kind_param_find(s->kind, name);

	yaml_err(l->recipe->doc, map, err, E_SCHEMA, "'%s' needs '%s'", s->kind->name, name);
	return err_hint(err, "%s: %s", name, p ? p->about : "");
}

static int check_required(
	const struct loader *l, const struct step *s, const struct yaml_node *map, struct err *err)
{
	const struct yaml_node *state = yaml_get(map, "state");

	for (const struct kind_param *p = s->kind->params; p->name; p++)
		if (p->required && !yaml_get(map, p->name))
			return missing(l, s, map, p->name, err);
	if (s->kind->unless_absent && !yaml_get(map, s->kind->unless_absent) &&
		!(state && (str_is(state->text, "absent") || strstr(state->text.p, "{{"))))
		return missing(l, s, map, s->kind->unless_absent, err);
	return 0;
}

static unsigned count_given(
	const struct yaml_node *map, const char *const *names, const char **last)
{
	unsigned n = 0;

	for (; *names; names++) {
		if (yaml_get(map, *names)) {
			*last = *names;
			n++;
		}
	}
	return n;
}

static int check_groups(
	const struct loader *l, const struct step *s, const struct yaml_node *map, struct err *err)
{
	const char *const *one = s->kind->one_of, *const *both = s->kind->not_both, *last = NULL;
	char words[80];

	if (one && count_given(map, one, &last) == 0) {
		type_list_words(one, words, sizeof words);
		yaml_err(l->recipe->doc, map, err, E_SCHEMA, "'%s' needs %s", s->kind->name, words);
		return err_hint(err, "%s: %s", one[0], kind_param_find(s->kind, one[0])->about);
	}
	if (both && count_given(map, both, &last) > 1) {
		type_list_words(both, words, sizeof words);
		yaml_err(l->recipe->doc, yaml_key(map, last), err, E_CONFLICT,
			both[1] && both[2] ? "'%s' takes one of %s" : "'%s' takes %s, not both",
			s->kind->name, words);
		return err_hint(err, "leave one of them out");
	}
	return 0;
}

int load_args(struct loader *l, struct step *s, const struct yaml_node *map, struct readable may,
	struct err *err)
{
	const char *names[PARAMS_MAX + 1];
	unsigned n = 0;
	int rc;

	for (const struct kind_param *p = s->kind->params; p->name && n < PARAMS_MAX; p++)
		names[n++] = p->name;
	names[n] = NULL;
	if ((rc = yaml_known_keys(l->recipe->doc, map, names, err)) < 0)
		return rc;
	s->args = arena_alloc(l->arena, (map->n + 1) * sizeof *s->args);
	for (unsigned i = 0; i < map->n; i++) {
		struct step_arg *a = &s->args[i];

		a->param = kind_param_find(s->kind, map->key[i]->text.p);
		a->at = map->item[i];
		if (!a->param)
			return yaml_err(l->recipe->doc, map->key[i], err, E_INTERNAL,
				"'%s' has more parameters than fit", s->kind->name);
		if ((rc = load_arg(l, s, a, may, err)) < 0)
			return rc;
	}
	s->n_args = map->n;
	rc = check_required(l, s, map, err);
	return rc < 0 ? rc : check_groups(l, s, map, err);
}

/* --- in a run --- */

struct run_args {
	const struct recipe *recipe;
	const struct scope *scope;
	const char *unknown;
};

static int eval_text(struct run_args *r, const struct template *t, json_t **out, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, TEMPLATE_OUT_MAX);
	if ((rc = template_render(t, r->scope, &text, &r->unknown, err)) < 0)
		return rc;
	*out = json_stringn_nocheck(buf_text(&text), text.n);
	return 0;
}

static int eval_scalar(struct run_args *r, const struct step_arg *a, json_t **out, struct err *err)
{
	AUTO_JSON text = NULL;
	char what[48];
	int rc = eval_text(r, a->text, &text, err);

	if (rc < 0 || r->unknown)
		return rc;
	snprintf(what, sizeof what, "'%s'", a->param->name);
	rc = type_from_text(
		&(struct type){a->param->type, a->param->choices, what, true, a->param->about},
		(struct str){json_string_value(text), json_string_length(text)}, out, err);
	if (rc == 0)
		return 0;
	return load_hint(type_place(r->recipe->doc, a->at, err), err, "%s", a->param->about);
}

static int scalar_to_text(json_t *v, json_t **out, struct err *err)
{
	struct value item = {v, NULL};
	AUTO_BUF text;
	int rc;

	buf_init(&text, TEMPLATE_OUT_MAX);
	if ((rc = value_to_text(&item, &text, err)) < 0)
		return rc;
	*out = json_stringn_nocheck(buf_text(&text), text.n);
	return 0;
}

static int list_of(json_t *from, json_t *into, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < json_array_size(from) && rc == 0; i++) {
		json_t *item = NULL;

		if ((rc = scalar_to_text(json_array_get(from, i), &item, err)) == 0)
			json_array_append_new(into, item);
	}
	return rc;
}

static int map_of(json_t *from, json_t *into, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(from, key, value)
	{
		json_t *item = NULL;
		int rc = scalar_to_text(value, &item, err);

		if (rc < 0)
			return rc;
		json_object_set_new(into, key, item);
	}
	return 0;
}

/* A whole list or map from one expression. */
static int eval_computed(
	struct run_args *r, const struct step_arg *a, json_t **out, struct err *err)
{
	const struct expr *e = template_single(a->text);
	bool list = a->param->type == PARAM_LIST;
	AUTO_JSON made = list ? json_array() : json_object();
	struct value v;
	int rc = expr_eval(e, r->scope, &v, err);

	if (rc < 0)
		return rc;
	r->unknown = v.unknown;
	if (value_is_known(&v) && !(list ? json_is_array(v.json) : json_is_object(v.json)))
		rc = load_hint(expr_err(e, err, E_SCHEMA, "'%s' must be %s, not %s", a->param->name,
				       type_name(a->param->type), value_type_name(v.json)),
			err, "%s", list ? "split(x, ',') makes a list of text" : "give it a map");
	else if (value_is_known(&v) &&
		 (rc = list ? list_of(v.json, made, err) : map_of(v.json, made, err)) < 0)
		origin_place(e->origin, e->at, err);
	value_done(&v);
	if (rc == 0)
		*out = json_incref(made);
	return rc;
}

static int eval_many(struct run_args *r, const struct step_arg *a, json_t **out, struct err *err)
{
	bool list = a->param->type == PARAM_LIST;
	AUTO_JSON made = list ? json_array() : json_object();

	if (a->text)
		return eval_computed(r, a, out, err);
	for (unsigned i = 0; i < a->n; i++) {
		json_t *item = NULL;
		int rc = eval_text(r, a->items[i], &item, err);

		if (rc < 0)
			return rc;
		if (r->unknown) {
			json_decref(item);
			return 0;
		}
		if (list)
			json_array_append_new(made, item);
		else
			json_object_set_new(made, a->keys[i], item);
	}
	*out = json_incref(made);
	return 0;
}

static int add_preset(const struct kind_param *p, json_t *into, struct err *err)
{
	json_t *v = NULL;
	int rc = type_from_text(&(struct type){p->type, p->choices, p->name, false, NULL},
		str_of(p->preset), &v, err);

	if (rc == 0)
		json_object_set_new(into, p->name, v);
	return rc;
}

static int eval_tree(struct run_args *r, const struct step_arg *a, json_t **out, struct err *err)
{
	char what[48];

	snprintf(what, sizeof what, "'%s'", a->param->name);
	return arg_tree_eval(a->tree, r->recipe, r->scope, what, out, &r->unknown, err);
}

static int eval_arg(struct run_args *r, const struct step_arg *a, json_t *into, struct err *err)
{
	json_t *v = NULL;
	int rc;

	if (a->param->type == PARAM_EXPR)
		return 0;
	if (a->param->type == PARAM_LIST || a->param->type == PARAM_MAP)
		rc = eval_many(r, a, &v, err);
	else if (a->param->type == PARAM_TREE)
		rc = eval_tree(r, a, &v, err);
	else
		rc = eval_scalar(r, a, &v, err);
	if (rc == 0 && v && !r->unknown)
		json_object_set_new(into, a->param->name, v);
	else
		json_decref(v);
	return rc;
}

int step_args_eval(const struct recipe *r, const struct step *s, const struct scope *scope,
	json_t **out, const char **unknown, struct err *err)
{
	struct run_args run = {r, scope, NULL};
	AUTO_JSON made = json_object();
	int rc = 0;

	for (unsigned i = 0; i < s->n_args && rc == 0 && !run.unknown; i++)
		rc = eval_arg(&run, &s->args[i], made, err);
	for (const struct kind_param *p = s->kind->params; p->name && rc == 0; p++)
		if (p->preset && !json_object_get(made, p->name))
			rc = add_preset(p, made, err);
	if (rc < 0)
		return rc;
	*unknown = run.unknown;
	*out = run.unknown ? NULL : json_incref(made);
	return 0;
}

const struct step_arg *step_arg_find(const struct step *s, const char *name)
{
	for (unsigned i = 0; i < s->n_args; i++)
		if (s->args[i].param->type == PARAM_EXPR &&
			strcmp(s->args[i].param->name, name) == 0)
			return &s->args[i];
	return NULL;
}
