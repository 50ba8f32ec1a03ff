/*
 * secret_use - where a recipe may read its secret parameters, judged when it is read.
 *
 * A secret may only be written out as it is, {{ params.NAME }}, and only where the
 * step's kind says so. Nothing may be computed from it: what comes out would not
 * be known as a secret any more.
 */
#include "agent/recipe/recipe_priv.h"

#include <string.h>

struct use {
	const struct loader *l;
	struct readable may;
};

static const struct recipe_param *find_secret(const struct recipe *r, struct str name)
{
	for (unsigned i = 0; i < r->n_params; i++)
		if (r->params[i].type == PARAM_SECRET && str_is(name, r->params[i].name))
			return &r->params[i];
	return NULL;
}

bool secret_is_declared(const struct recipe *r)
{
	for (unsigned i = 0; i < r->n_params; i++)
		if (r->params[i].type == PARAM_SECRET)
			return true;
	return false;
}

static int refuse(const struct use *u, const struct expr *at, const char *name, struct err *err)
{
	if (u->may.secret) {
		expr_err(at, err, E_SCHEMA, "nothing may be computed from the secret '%s'", name);
		return err_hint(err, "write it out as it is: {{ params.%s }}", name);
	}
	expr_err(at, err, E_SCHEMA, "the secret '%s' may not be read here", name);
	return err_hint(err,
		"a secret goes into a step's content, such as file.content, "
		"template.source or command.stdin; 'stoika manual' marks all such places");
}

static int see_name(void *ctx, const struct expr *at, const char *name, struct err *err)
{
	const struct use *u = ctx;
	struct str rest = str_of(name), root, part;

	str_next(&rest, '.', &root);
	if (!str_is(root, "params"))
		return 0;
	if (!str_next(&rest, '.', &part)) {
		expr_err(at, err, E_SCHEMA,
			"the parameters as a whole hold a secret, and may not be read");
		return err_hint(err, "name the one that is meant: params.NAME");
	}

	const struct recipe_param *p = find_secret(u->l->recipe, part);

	return p ? refuse(u, at, p->name, err) : 0;
}

/* {{ params.NAME }} and nothing else. */
static bool is_bare_secret(const struct use *u, const struct expr *e)
{
	return e->op == EXPR_FIELD && e->arg[0]->op == EXPR_NAME &&
	       str_is(e->arg[0]->text, "params") && find_secret(u->l->recipe, e->text);
}

static int judge_parts(struct use *u, const struct part *p, struct err *err)
{
	int rc = 0;

	for (; p && rc == 0; p = p->next) {
		if (p->kind == PART_OUT && u->may.secret && is_bare_secret(u, p->expr)) {
			if (u->may.found)
				*u->may.found = true;
			continue;
		}
		if (p->expr)
			rc = expr_walk(p->expr, see_name, u, err);
		if (rc == 0)
			rc = judge_parts(u, p->body, err);
		if (rc == 0)
			rc = judge_parts(u, p->other, err);
	}
	return rc;
}

int secret_judge_expr(const struct loader *l, const struct expr *e, struct err *err)
{
	struct use u = {.l = l};

	return secret_is_declared(l->recipe) ? expr_walk(e, see_name, &u, err) : 0;
}

int secret_judge_template(
	const struct loader *l, const struct template *t, struct readable may, struct err *err)
{
	struct use u = {.l = l, .may = may};

	return secret_is_declared(l->recipe) ? judge_parts(&u, t->first, err) : 0;
}
