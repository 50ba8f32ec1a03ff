/* shell_use - how: each {{ }} of the template, inside {% if %} and {% for %} as well. */
#include "agent/recipe/shell_use.h"

#include "agent/base/err.h"
#include "agent/recipe/template_priv.h"

#include <stdio.h>
#include <string.h>

struct search {
	const struct recipe *recipe;
	char *name;
};

static bool is_harmless_type(enum param_type type)
{
	return type == PARAM_INT || type == PARAM_NUM || type == PARAM_BOOL ||
	       type == PARAM_CHOICE || type == PARAM_MODE || type == PARAM_NAME ||
	       type == PARAM_ADDRESS;
}

/* A parameter whose type leaves no room for a shell's signs; secrets are judged elsewhere. */
static bool is_harmless(const struct recipe *r, struct str name)
{
	struct str root;

	str_next(&name, '.', &root);
	if (!str_is(root, "params"))
		return str_is(root, "steps");
	for (unsigned i = 0; i < r->n_params; i++)
		if (str_is(name, r->params[i].name))
			return is_harmless_type(r->params[i].type) ||
			       r->params[i].type == PARAM_SECRET;
	return false;
}

/* Stops the walk with a code when it found one. */
static int see_name(void *ctx, const struct expr *at, const char *name, struct err *err)
{
	struct search *s = ctx;

	(void)at;
	if (is_harmless(s->recipe, str_of(name)))
		return 0;
	snprintf(s->name, SHELL_NAME_MAX, "%s", name);
	return err_set(err, E_STATE, "'%s' is not quoted", name);
}

/* quote(x), and what gives a number or a truth whatever it reads. */
static bool is_quoted(const struct expr *e)
{
	static const char *const SAFE[] = {"quote", "len", "int", "startswith", "endswith",
		"exists", "contains", "running", "port_open", "http_ok", "count", "kernel_log"};

	if (e->op != EXPR_CALL)
		return e->op >= EXPR_NOT && e->op <= EXPR_GE;
	for (size_t i = 0; i < sizeof SAFE / sizeof *SAFE; i++)
		if (strcmp(e->fn->name, SAFE[i]) == 0)
			return true;
	return false;
}

static bool find_in_expr(struct search *s, const struct expr *e)
{
	struct err found;

	if (is_quoted(e))
		return false;
	/* of a + b each side may be quoted by itself, of default(a, b) too */
	if (e->op == EXPR_ADD || (e->op == EXPR_CALL && strcmp(e->fn->name, "default") == 0)) {
		for (unsigned i = 0; i < e->n; i++)
			if (find_in_expr(s, e->arg[i]))
				return true;
		return false;
	}
	if (e->op == EXPR_LOCAL) {
		snprintf(s->name, SHELL_NAME_MAX, STR_FMT, STR_ARG(str_first(e->text, 60)));
		return true;
	}
	return expr_walk(e, see_name, s, &found) < 0;
}

static bool find_in_parts(struct search *s, const struct part *p)
{
	for (; p; p = p->next) {
		if (p->kind == PART_OUT && find_in_expr(s, p->expr))
			return true;
		if (p->kind != PART_OUT && find_in_parts(s, p->body))
			return true;
		if (p->kind == PART_IF && find_in_parts(s, p->other))
			return true;
	}
	return false;
}

bool shell_finds_unquoted(
	const struct recipe *r, const struct template *t, char name[static SHELL_NAME_MAX])
{
	struct search s = {r, name};

	return t && find_in_parts(&s, t->first);
}
