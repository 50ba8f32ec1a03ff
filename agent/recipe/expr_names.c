/* expr_names - which names an expression may read. */
#include "agent/recipe/expr_priv.h"

#include <stdio.h>
#include <string.h>

struct path {
	char text[256];
	size_t n;
	bool cut; /* a part did not fit, or is computed: what follows is not told */
};

static void add_part(struct path *p, struct str part)
{
	if (p->cut || p->n + part.n + 2 > sizeof p->text) {
		p->cut = true;
		return;
	}
	if (p->n > 0)
		p->text[p->n++] = '.';
	memcpy(p->text + p->n, part.p, part.n);
	p->n += part.n;
	p->text[p->n] = '\0';
}

static bool is_step(const struct expr *e)
{
	return e->op == EXPR_FIELD || e->op == EXPR_INDEX;
}

static void build_path(const struct expr *e, struct path *p)
{
	if (is_step(e))
		build_path(e->arg[0], p);
	if (e->op == EXPR_FIELD || e->op == EXPR_NAME)
		add_part(p, e->text);
	else if (e->op == EXPR_INDEX && e->arg[1]->op == EXPR_TEXT)
		add_part(p, e->arg[1]->text);
	else
		p->cut = true;
}

static int walk_chain(const struct expr *e, expr_see see, void *ctx, struct err *err)
{
	const struct expr *root = e;
	struct path path = {.n = 0};
	int rc = 0;

	for (; is_step(root) && rc == 0; root = root->arg[0])
		if (root->op == EXPR_INDEX)
			rc = expr_walk(root->arg[1], see, ctx, err);
	if (rc < 0)
		return rc;
	if (root->op == EXPR_LOCAL)
		return 0;
	if (root->op != EXPR_NAME)
		return expr_walk(root, see, ctx, err);
	build_path(e, &path);
	return see(ctx, e, path.text, err);
}

int expr_walk(const struct expr *e, expr_see see, void *ctx, struct err *err)
{
	int rc = 0;

	if (e->op == EXPR_NAME || is_step(e))
		return walk_chain(e, see, ctx, err);
	for (unsigned i = 0; i < e->n && rc == 0; i++)
		rc = expr_walk(e->arg[i], see, ctx, err);
	return rc;
}

struct plain_see {
	void (*see)(void *ctx, const char *name);
	void *ctx;
};

static int see_plain(void *ctx, const struct expr *at, const char *name, struct err *err)
{
	const struct plain_see *p = ctx;

	(void)at, (void)err;
	p->see(p->ctx, name);
	return 0;
}

void expr_names(const struct expr *e, void (*see)(void *ctx, const char *name), void *ctx)
{
	struct plain_see p = {see, ctx};

	expr_walk(e, see_plain, &p, NULL);
}
