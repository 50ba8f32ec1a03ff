/* recipe_params - what a recipe asks for, and what a run gives it. */
#include "agent/base/buf.h"
#include "agent/recipe/arg_tree.h"
#include "agent/recipe/recipe_priv.h"
#include "agent/recipe/type.h"

#include <stdio.h>
#include <string.h>

#define SUGGESTED_MAX 64 /* parameters that are looked through for the nearest name */

static const struct {
	const char *name;
	enum param_type type;
} TYPES[] = {
	{"text", PARAM_TEXT},
	{"int", PARAM_INT},
	{"num", PARAM_NUM},
	{"bool", PARAM_BOOL},
	{"choice", PARAM_CHOICE},
	{"list", PARAM_LIST},
	{"map", PARAM_MAP},
	{"secret", PARAM_SECRET},
};

static const char *const TYPE_NAMES[] = {
	"text", "int", "num", "bool", "choice", "list", "map", "secret", NULL};
static const char *const KEYS[] = {"type", "default", "choices", "min", "max", "about", NULL};

/* What other languages call our types. */
static const char *const ALIASES[][2] = {
	{"string", "text"},
	{"str", "text"},
	{"integer", "int"},
	{"number", "num"},
	{"float", "num"},
	{"boolean", "bool"},
	{"enum", "choice"},
	{"array", "list"},
	{"dict", "map"},
	{"object", "map"},
};

/* --- declarations --- */

static const char *nearest_type(const char *word)
{
	for (size_t i = 0; i < sizeof ALIASES / sizeof *ALIASES; i++)
		if (strcmp(ALIASES[i][0], word) == 0)
			return ALIASES[i][1];
	return err_nearest(word, TYPE_NAMES);
}

static int load_type(const struct loader *l, const struct yaml_node *map, struct recipe_param *p,
	struct err *err)
{
	const struct yaml_node *n = yaml_get(map, "type");
	const char *word = NULL, *near;
	char words[80];
	int rc;

	if (!n) {
		yaml_err(l->recipe->doc, map, err, E_SCHEMA, "the parameter '%s' has no type",
			p->name);
		type_list_words(TYPE_NAMES, words, sizeof words);
		return err_hint(err, "type is %s", words);
	}
	if ((rc = load_text(l, n, "'type'", &word, err)) < 0)
		return rc;
	for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
		if (strcmp(TYPES[i].name, word) == 0) {
			p->type = TYPES[i].type;
			return 0;
		}
	}
	type_list_words(TYPE_NAMES, words, sizeof words);
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'type' must be %s, not '%.40s'", words, word);
	near = nearest_type(word);
	return near ? err_hint(err, "did you mean '%s'?", near) : -E_SCHEMA;
}

static int load_choices(const struct loader *l, const struct yaml_node *map, struct recipe_param *p,
	struct err *err)
{
	const struct yaml_node *n = yaml_get(map, "choices");
	const char **words;
	unsigned count;
	int rc;

	if (!n && p->type != PARAM_CHOICE)
		return 0;
	if (!n || (n->kind == YAML_LIST && n->n == 0)) {
		yaml_err(l->recipe->doc, n ? n : map, err, E_SCHEMA,
			"the parameter '%s' has no choices", p->name);
		return err_hint(err, "write choices: [a, b]");
	}
	if (p->type != PARAM_CHOICE) {
		yaml_err(l->recipe->doc, yaml_key(map, "choices"), err, E_SCHEMA,
			"only a parameter of type 'choice' has choices");
		return err_hint(err, "write type: choice");
	}
	if ((rc = load_words(l, n, "'choices'", NULL, &words, &count, err)) < 0)
		return rc;
	p->choices = words;
	return 0;
}

static int load_bound(const struct loader *l, const struct yaml_node *map, const char *key,
	struct recipe_param *p, struct err *err)
{
	const struct yaml_node *n = yaml_get(map, key);
	bool min = strcmp(key, "min") == 0;

	if (!n)
		return 0;
	if (p->type != PARAM_INT && p->type != PARAM_NUM)
		return load_hint(yaml_err(l->recipe->doc, yaml_key(map, key), err, E_SCHEMA,
					 "only a parameter of type 'int' or 'num' has '%s'", key),
			err, "leave it out");
	if (n->kind != YAML_SCALAR || !str_to_f64(n->text, min ? &p->min : &p->max))
		return load_hint(
			yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'%s' must be a number", key),
			err, "such as %s: 1", key);
	p->has_min |= min;
	p->has_max |= !min;
	return 0;
}

/* "between 1 and 65535", "from 1 up", "up to 8" */
static int check_range(const struct recipe_param *p, const json_t *v, struct err *err)
{
	double d = json_number_value(v);

	if ((!p->has_min || d >= p->min) && (!p->has_max || d <= p->max))
		return 0;
	if (p->has_min && p->has_max)
		return err_set(err, E_SCHEMA, "'%s' must be between %.15g and %.15g, not %.15g",
			p->name, p->min, p->max, d);
	if (p->has_min)
		return err_set(err, E_SCHEMA, "'%s' must be at least %.15g, not %.15g", p->name,
			p->min, d);
	return err_set(err, E_SCHEMA, "'%s' must be at most %.15g, not %.15g", p->name, p->max, d);
}

static int scalar_of_text(
	const struct recipe_param *p, struct str text, json_t **out, struct err *err)
{
	char what[80];
	AUTO_JSON v = NULL;
	int rc;

	snprintf(what, sizeof what, "'%.70s'", p->name);
	rc = type_from_text(&(struct type){p->type, p->choices, what, false, NULL}, text, &v, err);
	if (rc < 0 || (json_is_number(v) && (rc = check_range(p, v, err)) < 0))
		return rc;
	*out = json_incref(v);
	return 0;
}

static int load_preset_many(
	const struct loader *l, const struct yaml_node *n, struct recipe_param *p, struct err *err)
{
	bool list = p->type == PARAM_LIST;
	int rc = list ? yaml_want_list(l->recipe->doc, n, "'default'", err)
		      : yaml_want_map(l->recipe->doc, n, "'default'", err);

	if (rc < 0)
		return load_hint(rc, err, "such as %s", list ? "[a, b]" : "{key: value}");
	return arg_tree_literal(l->recipe->doc, n, "'default'", &p->preset, err);
}

static int load_preset(const struct loader *l, const struct yaml_node *map, struct recipe_param *p,
	struct err *err)
{
	const struct yaml_node *n = yaml_get(map, "default");
	const char *text;
	int rc;

	p->required = !n;
	if (!n)
		return 0;
	if (p->type == PARAM_SECRET) {
		yaml_err(l->recipe->doc, yaml_key(map, "default"), err, E_SCHEMA,
			"the secret '%s' has a default", p->name);
		return err_hint(err,
			"take it out; 'stoika secret set' keeps secrets, and a run "
			"is given --set %s=secret:NAME",
			p->name);
	}
	if (p->type == PARAM_LIST || p->type == PARAM_MAP)
		return load_preset_many(l, n, p, err);
	if ((rc = load_text(l, n, "'default'", &text, err)) < 0)
		return rc;
	if (scalar_of_text(p, n->text, &p->preset, err) == 0)
		return 0;
	return load_hint(type_place(l->recipe->doc, n, err), err,
		"change the default, or what the parameter allows");
}

static int load_param(const struct loader *l, const struct yaml_node *key,
	const struct yaml_node *map, struct recipe_param *p, struct err *err)
{
	const struct yaml_doc *d = l->recipe->doc;
	const struct yaml_node *about = yaml_get(map, "about");
	int rc;

	p->name = key->text.p;
	p->at = key;
	p->required = true;
	if (!load_is_identifier(key->text)) {
		yaml_err(d, key, err, E_SCHEMA, "'%.60s' is not a name for a parameter", p->name);
		return err_hint(
			err, "use letters, digits and _, so that params.NAME can be written");
	}
	if (map->kind != YAML_MAP) {
		yaml_err(d, map, err, E_SCHEMA, "the parameter '%s' must be a map", p->name);
		return err_hint(err, "write %s: {type: text, default: ..., about: ...}", p->name);
	}
	if ((rc = yaml_known_keys(d, map, KEYS, err)) < 0 || (rc = load_type(l, map, p, err)) < 0 ||
		(rc = load_choices(l, map, p, err)) < 0 ||
		(rc = load_bound(l, map, "min", p, err)) < 0 ||
		(rc = load_bound(l, map, "max", p, err)) < 0)
		return rc;
	if (p->has_min && p->has_max && p->min > p->max)
		return load_hint(yaml_err(d, yaml_get(map, "min"), err, E_CONFLICT,
					 "'min' is larger than 'max'"),
			err, "swap them");
	if (about && (rc = load_text(l, about, "'about'", &p->about, err)) < 0)
		return rc;
	return load_preset(l, map, p, err);
}

int load_params(struct loader *l, const struct yaml_node *map, struct err *err)
{
	struct recipe *r = l->recipe;
	int rc;

	if (!map)
		return 0;
	if ((rc = yaml_want_map(r->doc, map, "'params'", err)) < 0)
		return load_hint(rc, err, "write NAME: {type: text} below it");
	r->params = arena_alloc(l->arena, (map->n + 1) * sizeof *r->params);
	for (unsigned i = 0; i < map->n; i++) {
		r->n_params = i + 1;
		if ((rc = load_param(l, map->key[i], map->item[i], &r->params[i], err)) < 0)
			return rc;
	}
	return 0;
}

/* --- values of a run --- */

static int wrong_type(const struct recipe_param *p, const json_t *v, struct err *err)
{
	const char *wanted = p->type == PARAM_LIST  ? "a list"
			     : p->type == PARAM_MAP ? "a map"
						    : type_name(p->type);

	return err_set(
		err, E_SCHEMA, "'%s' must be %s, not %s", p->name, wanted, value_type_name(v));
}

static void append_text(json_t *list, struct str s)
{
	json_array_append_new(list, json_stringn_nocheck(s.p ? s.p : "", s.n));
}

/* "a, b" from the command line. */
static int list_of_text(struct str text, json_t **out)
{
	struct str part;

	*out = json_array();
	while (str_next(&text, ',', &part))
		append_text(*out, str_trim(part));
	return 0;
}

/* "a=1, b=2" from the command line. */
static int map_of_text(const struct recipe_param *p, struct str text, json_t **out, struct err *err)
{
	AUTO_JSON made = json_object();
	struct str part;

	while (str_next(&text, ',', &part)) {
		size_t at = str_find(part, '=');
		struct str key = str_trim(str_first(part, at == STR_NONE ? 0 : at)), value;
		char name[128];

		if (key.n == 0 || key.n >= sizeof name) {
			err_set(err, E_SCHEMA, "'%s' is a map, and '" STR_FMT "' is no part of one",
				p->name, STR_ARG(str_first(part, 60)));
			return err_hint(err, "write %s=key=value,key=value", p->name);
		}
		value = str_trim(str_from(part, at + 1));
		snprintf(name, sizeof name, STR_FMT, STR_ARG(key));
		json_object_set_new(made, name, json_stringn_nocheck(value.p, value.n));
	}
	*out = json_incref(made);
	return 0;
}

/* {"$secret": NAME} of "secret:NAME" or of itself; what it may be instead is never repeated. */
static int secret_value(const struct recipe_param *p, json_t *v, json_t **out, struct err *err)
{
	const char *name = json_get_str(v, RECIPE_SECRET_KEY, NULL);
	const char *text = json_string_value(v);

	if (text && strncmp(text, "secret:", 7) == 0)
		name = text + 7;
	else if (!json_is_object(v) || json_object_size(v) != 1)
		name = NULL;
	if (name && str_is_name(str_of(name))) {
		*out = json_object();
		json_put_str(*out, RECIPE_SECRET_KEY, name);
		return 0;
	}
	err_set(err, E_SCHEMA, "'%s' is a secret and takes the name of one, not its value",
		p->name);
	return err_hint(err, "stoika secret set NAME, then --set %s=secret:NAME", p->name);
}

static int value_of_text(
	const struct recipe_param *p, const json_t *v, json_t **out, struct err *err)
{
	struct str text = {json_string_value(v), json_string_length(v)};

	if (p->type == PARAM_LIST)
		return list_of_text(text, out);
	if (p->type == PARAM_MAP)
		return map_of_text(p, text, out, err);
	return scalar_of_text(p, text, out, err);
}

static int give_value(const struct recipe_param *p, json_t *v, json_t **out, struct err *err)
{
	int rc;

	if (p->type == PARAM_SECRET)
		return secret_value(p, v, out, err);
	if (json_is_string(v))
		return value_of_text(p, v, out, err);
	switch (p->type) {
	case PARAM_LIST:
	case PARAM_MAP:
		if (p->type == PARAM_LIST ? !json_is_array(v) : !json_is_object(v))
			return wrong_type(p, v, err);
		if ((rc = arg_tree_judge(v, p->name, err)) < 0)
			return rc;
		break;
	case PARAM_BOOL:
		if (!json_is_boolean(v))
			return wrong_type(p, v, err);
		break;
	case PARAM_INT:
	case PARAM_NUM:
		if (!json_is_integer(v) && !(json_is_real(v) && p->type == PARAM_NUM))
			return wrong_type(p, v, err);
		if ((rc = check_range(p, v, err)) < 0)
			return rc;
		break;
	default:
		return wrong_type(p, v, err);
	}
	*out = json_incref(v);
	return 0;
}

static int fail_missing(const struct recipe_param *p, struct err *err)
{
	if (p->type == PARAM_SECRET) {
		err_set(err, E_SCHEMA, "the secret '%s' must be given", p->name);
		return err_hint(err,
			"--set %s=secret:NAME, or RECIPE: {%s: {" RECIPE_SECRET_KEY
			": NAME}} in the vars of site, rack, role or node",
			p->name, p->name);
	}
	err_set(err, E_SCHEMA, "the parameter '%s' must be given", p->name);
	return err_hint(err, "%s is %s%s%s", p->name, type_name(p->type), p->about ? ": " : "",
		p->about ? p->about : "");
}

static int param_value(const struct recipe_param *p, json_t *v, json_t **out, struct err *err)
{
	int rc = v ? give_value(p, v, out, err) : 0;

	if (rc < 0)
		return p->about ? load_hint(rc, err, "%s: %s", p->name, p->about) : rc;
	if (v)
		return 0;
	if (p->required)
		return fail_missing(p, err);
	*out = json_deep_copy(p->preset);
	return 0;
}

static const struct recipe_param *find_param(const struct recipe *r, const char *name)
{
	for (unsigned i = 0; i < r->n_params; i++)
		if (strcmp(r->params[i].name, name) == 0)
			return &r->params[i];
	return NULL;
}

static int fail_unknown(const struct recipe *r, const char *name, struct err *err)
{
	const char *names[SUGGESTED_MAX + 1], *near;
	unsigned n = 0;

	for (; n < r->n_params && n < SUGGESTED_MAX; n++)
		names[n] = r->params[n].name;
	names[n] = NULL;
	near = err_nearest(name, names);
	err_set(err, E_NOTFOUND, "the recipe '%s' has no parameter '%.60s'", r->name, name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return n == 0 ? err_hint(err, "it takes no parameters")
		      : err_hint(err, "its first one is '%s'", names[0]);
}

static int check_known(const struct recipe *r, json_t *given, struct err *err)
{
	void *at;

	for (at = json_object_iter(given); at; at = json_object_iter_next(given, at))
		if (!find_param(r, json_object_iter_key(at)))
			return fail_unknown(r, json_object_iter_key(at), err);
	return 0;
}

int recipe_params(const struct recipe *r, const json_t *given, json_t **out, struct err *err)
{
	AUTO_JSON made = json_object();
	AUTO_JSON mine = given ? json_deep_copy(given) : json_object();
	int rc;

	if (given && !json_is_object(given))
		return err_set(
			err, E_SCHEMA, "parameters must be a map, not %s", value_type_name(given));
	if ((rc = check_known(r, mine, err)) < 0)
		return rc;
	for (unsigned i = 0; i < r->n_params; i++) {
		json_t *v = NULL;

		rc = param_value(&r->params[i], json_get(mine, r->params[i].name), &v, err);
		if (rc < 0)
			return rc;
		json_object_set_new(made, r->params[i].name, v);
	}
	*out = json_incref(made);
	return 0;
}
