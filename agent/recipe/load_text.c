/* load_text - scalars of a recipe as text, templates and expressions, with their names judged. */
#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/recipe/recipe_priv.h"
#include "agent/recipe/type.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE_FILE_MAX (1u << 20)
#define WORD_SHOWN        60

struct judge {
	const struct loader *l;
	struct readable may;
};

/* The node that names the second part of a chain: 'port' of params.port.x. */
static const struct expr *second_part(const struct expr *e)
{
	while (e->n > 0 && e->arg[0]->op != EXPR_NAME)
		e = e->arg[0];
	return e;
}

static int judge_param(
	const struct judge *j, const struct expr *at, const char *name, struct err *err)
{
	const struct recipe *r = j->l->recipe;
	const char **names, *near;

	for (unsigned i = 0; i < r->n_params; i++)
		if (strcmp(r->params[i].name, name) == 0)
			return 0;
	names = arena_alloc(j->l->arena, (r->n_params + 1) * sizeof *names);
	for (unsigned i = 0; i < r->n_params; i++)
		names[i] = r->params[i].name;
	near = err_nearest(name, names);
	expr_err(at, err, E_NOTFOUND, "the recipe has no parameter '%s'", name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "declare it under 'params:'");
}

static int judge_step_name(
	const struct judge *j, const struct expr *at, const char *name, struct err *err)
{
	const char *names[WORD_SHOWN + 1], *near;
	unsigned n = 0;

	for (const struct as_name *as = j->l->as; as; as = as->up) {
		if (strcmp(as->name, name) == 0)
			return 0;
		if (n < WORD_SHOWN)
			names[n++] = as->name;
	}
	names[n] = NULL;
	near = err_nearest(name, names);
	expr_err(at, err, E_NOTFOUND, "no earlier step is called '%s'", name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "give the earlier step 'as: %s'", name);
}

static int judge_let(
	const struct judge *j, const struct expr *at, const char *name, struct err *err)
{
	const struct recipe *r = j->l->recipe;
	const char *names[RECIPE_LETS_MAX + 1], *near;

	for (unsigned i = 0; i < r->n_lets; i++) {
		names[i] = r->lets[i].name;
		if (strcmp(names[i], name) == 0)
			return 0;
	}
	names[r->n_lets] = NULL;
	near = err_nearest(name, names);
	expr_err(at, err, E_NOTFOUND, "there is no 'let.%s' above", name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "write it under 'let:', before what reads it");
}

static int judge_data(
	const struct judge *j, const struct expr *at, const char *name, struct err *err)
{
	json_t *data = j->l->recipe->data;
	const char *names[WORD_SHOWN + 1], *near;
	unsigned n = 0;

	if (json_get(data, name))
		return 0;
	for (void *i = json_object_iter(data); i && n < WORD_SHOWN;
		i = json_object_iter_next(data, i))
		names[n++] = json_object_iter_key(i);
	names[n] = NULL;
	near = err_nearest(name, names);
	expr_err(at, err, E_NOTFOUND, "the recipe has no table 'data.%s'", name);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "write it under 'data:'");
}

static int see_name(void *ctx, const struct expr *at, const char *name, struct err *err)
{
	const struct judge *j = ctx;
	const char *dot = strchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name);
	struct str root = {name, n};
	char part[WORD_SHOWN + 1] = "";

	if (dot)
		snprintf(part, sizeof part, "%.*s", (int)strcspn(dot + 1, "."), dot + 1);
	if (str_is(root, "site"))
		j->l->recipe->reads_site = true;
	if (str_is(root, "params") && dot)
		return judge_param(j, second_part(at), part, err);
	if (str_is(root, "let") && dot)
		return judge_let(j, second_part(at), part, err);
	if (str_is(root, "data") && dot)
		return judge_data(j, second_part(at), part, err);
	if (str_is(root, "item") && !j->may.item) {
		origin_err(at->origin, at->from, err, E_NOTFOUND, "there is no 'item' here");
		return err_hint(err, "only a step with 'each' has one");
	}
	if (str_is(root, "steps") && !j->may.steps) {
		origin_err(at->origin, at->from, err, E_NOTFOUND, "'steps' cannot be read here");
		return err_hint(err, "only steps and handlers know what earlier steps did");
	}
	if (str_is(root, "steps") && dot)
		return judge_step_name(j, second_part(at), part, err);
	return 0;
}

static const struct origin *origin_of(const struct loader *l, const struct yaml_node *n)
{
	struct origin *o = arena_alloc(l->arena, sizeof *o);

	*o = (struct origin){.file = l->recipe->doc->name,
		.line = n->line,
		.col = n->col,
		.source = l->recipe->doc->text,
		.text = n->text,
		.scalar = true};
	return o;
}

/* A scalar with a value; "key:" with nothing behind it is none. */
static int want_scalar(const struct loader *l, const struct yaml_node *n, const char *what,
	struct str *out, struct err *err)
{
	int rc = yaml_want_text(l->recipe->doc, n, what, out, err);

	if (rc < 0 || out->n > 0 || !n->plain)
		return rc;
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "%s has no value", what);
	return err_hint(err, "write '' for an empty text, or leave the key out");
}

int load_template(const struct loader *l, const struct yaml_node *n, const char *what,
	struct readable may, struct template **out, struct err *err)
{
	struct str text;
	int rc = want_scalar(l, n, what, &text, err);

	if (rc < 0 || (rc = template_parse_at(l->arena, origin_of(l, n), out, err)) < 0)
		return rc;
	rc = template_walk(*out, see_name, &(struct judge){l, may}, err);
	return rc < 0 ? rc : secret_judge_template(l, *out, may, err);
}

int load_expr(const struct loader *l, const struct yaml_node *n, const char *what,
	struct readable may, struct expr **out, struct err *err)
{
	struct str text;
	int rc = want_scalar(l, n, what, &text, err);

	if (rc < 0 || (rc = expr_parse_at(l->arena, text, origin_of(l, n), NULL, out, err)) < 0)
		return rc;
	rc = expr_walk(*out, see_name, &(struct judge){l, may}, err);
	return rc < 0 ? rc : secret_judge_expr(l, *out, err);
}

int load_text(const struct loader *l, const struct yaml_node *n, const char *what, const char **out,
	struct err *err)
{
	struct str text;
	int rc = want_scalar(l, n, what, &text, err);

	if (rc < 0)
		return rc;
	if (memchr(text.p, '\0', text.n))
		return yaml_err(l->recipe->doc, n, err, E_SCHEMA, "%s holds a zero byte", what);
	*out = text.p;
	return 0;
}

int load_line(const struct loader *l, const struct yaml_node *n, const char *what, const char **out,
	struct err *err)
{
	int rc = load_text(l, n, what, out, err);

	if (rc < 0)
		return rc;
	for (const char *p = *out; rc == 0 && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7F)
			rc = yaml_err(l->recipe->doc, n, err, E_SCHEMA,
				"%s must be one line without control characters", what);
	return load_hint(rc, err, "a few words in one line");
}

int load_hint(int rc, struct err *err, const char *fmt, ...)
{
	char hint[sizeof((struct err *)0)->hint];
	va_list ap;

	if (rc == 0 || !err || err->hint[0])
		return rc;
	va_start(ap, fmt);
	vsnprintf(hint, sizeof hint, fmt, ap);
	va_end(ap);
	return err_hint(err, "%s", hint);
}

int load_want_list(const struct loader *l, const struct yaml_node *n, const char *what,
	const char *example, struct err *err)
{
	return load_hint(yaml_want_list(l->recipe->doc, n, what, err), err, "such as %s", example);
}

bool load_is_identifier(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_' &&
			!(i > 0 && c >= '0' && c <= '9'))
			return false;
	}
	return s.n > 0 && s.n <= 64;
}

static int fail_word(
	const struct loader *l, const struct yaml_node *n, const char *what, struct err *err)
{
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "%s: '" STR_FMT "' is not a name", what,
		STR_ARG(str_first(n->text, WORD_SHOWN)));
	return err_hint(err, "names are made of letters, digits and . _ -");
}

int load_words(const struct loader *l, const struct yaml_node *list, const char *what,
	bool (*good)(struct str), const char ***out, unsigned *n, struct err *err)
{
	const char **words;
	int rc = load_want_list(l, list, what, "[a, b]", err);

	if (rc < 0)
		return rc;
	words = arena_alloc(l->arena, (list->n + 1) * sizeof *words);
	for (unsigned i = 0; i < list->n; i++) {
		if ((rc = load_text(l, list->item[i], what, &words[i], err)) < 0)
			return rc;
		if (good && !good(list->item[i]->text))
			return fail_word(l, list->item[i], what, err);
		for (unsigned k = 0; k < i; k++)
			if (strcmp(words[k], words[i]) == 0)
				return load_hint(
					yaml_err(l->recipe->doc, list->item[i], err, E_EXISTS,
						"%s names '%.60s' twice", what, words[i]),
					err, "leave one of them out");
	}
	*out = words;
	*n = list->n;
	return 0;
}

static int judge_template_file(
	const struct loader *l, const char *path, struct readable may, struct err *err)
{
	struct origin *o = arena_alloc(l->arena, sizeof *o);
	struct template *t;
	AUTO_BUF text;
	int rc;

	buf_init(&text, TEMPLATE_FILE_MAX);
	if ((rc = fs_read(l->dirfd, path, &text, err)) < 0)
		return rc;
	o->file = arena_printf(l->arena, "%s/%s", l->dir, path);
	o->line = o->col = 1;
	o->text = o->source = arena_str(l->arena, buf_str(&text));
	if (!str_is_utf8(o->text))
		return err_set(err, E_SYNTAX, "'%s' is not UTF-8 text", path);
	if ((rc = template_parse_at(l->arena, o, &t, err)) < 0)
		return rc;
	rc = template_walk(t, see_name, &(struct judge){l, may}, err);
	return rc < 0 ? rc : secret_judge_template(l, t, may, err);
}

static bool is_file(const struct loader *l, const char *path)
{
	struct stat st;

	return fs_stat(l->dirfd, path, true, &st, NULL) == 0 && S_ISREG(st.st_mode);
}

int load_source(const struct loader *l, const struct kind *kind, const struct yaml_node *n,
	struct readable may, struct err *err)
{
	bool is_template = strcmp(kind->name, "template") == 0;
	const char *folder = is_template ? "templates" : "files";
	const char *other = is_template ? "files" : "templates";
	const char *path = arena_printf(l->arena, "%s/%s", folder, n->text.p);
	int rc;

	if (!is_file(l, path)) {
		yaml_err(l->recipe->doc, n, err, E_NOTFOUND, "there is no file '%s' in '%s'", path,
			l->dir);
		if (is_file(l, arena_printf(l->arena, "%s/%s", other, n->text.p)))
			return err_hint(err, "it is in %s/: use the kind '%s', or move it", other,
				is_template ? "file" : "template");
		return err_hint(err, "sources of '%s' lie in the recipe's %s/", kind->name, folder);
	}
	if (!is_template)
		return 0;
	rc = judge_template_file(l, path, may, err);
	return rc < 0 && err && !err->file[0] ? type_place(l->recipe->doc, n, err) : rc;
}
