/* template_render - walks the tree of a template; bytes and steps are capped. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/recipe/template_priv.h"

#include <stdlib.h>
#include <string.h>

struct render {
	const struct scope *scope;
	const struct origin *origin;
	struct buf *out;
	size_t begin; /* what out held before */
	unsigned steps;
	const char *unknown;
};

static int render_parts(
	struct render *r, const struct part *p, const struct expr_local *locals, struct err *err);

static int count_step(struct render *r, const struct part *p, struct err *err)
{
	const char *at = p->kind == PART_TEXT ? p->text.p : p->expr ? p->expr->from : NULL;

	if (++r->steps > TEMPLATE_STEPS_MAX)
		return origin_err(r->origin, at ? at : r->origin->text.p, err, E_LIMIT,
			"the loops take more than %d steps", TEMPLATE_STEPS_MAX);
	if (!buf_ok(r->out) || r->out->n - r->begin > TEMPLATE_OUT_MAX)
		return origin_err(r->origin, at ? at : r->origin->text.p, err, E_LIMIT,
			"the text becomes longer than %zu bytes",
			r->out->cap < TEMPLATE_OUT_MAX ? r->out->cap : (size_t)TEMPLATE_OUT_MAX);
	return 0;
}

static int render_out(
	struct render *r, const struct part *p, const struct expr_local *locals, struct err *err)
{
	struct value v;
	int rc = expr_eval_at(p->expr, r->scope, locals, &v, err);

	if (rc < 0)
		return rc;
	r->unknown = v.unknown;
	if (value_is_known(&v) && (rc = value_to_text(&v, r->out, err)) < 0)
		origin_place(r->origin, p->expr->at, err);
	value_done(&v);
	return rc;
}

/* One branch's condition; none is true. r->unknown is set when it hangs on something unknown. */
static int decide(struct render *r, const struct part *p, const struct expr_local *locals,
	bool *yes, struct err *err)
{
	struct value v;
	int rc;

	*yes = true;
	if (!p->expr)
		return 0;
	if ((rc = expr_eval_bool_at(p->expr, r->scope, locals, &v, err)) < 0)
		return rc;
	r->unknown = v.unknown;
	*yes = json_is_true(v.json);
	value_done(&v);
	return 0;
}

static int render_if(
	struct render *r, const struct part *p, const struct expr_local *locals, struct err *err)
{
	for (; p && !r->unknown; p = p->other) {
		bool yes;
		int rc = decide(r, p, locals, &yes, err);

		if (rc < 0)
			return rc;
		if (yes)
			return render_parts(r, p->body, locals, err);
	}
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of a map as a sorted list, so that the same map gives the same text. */
static json_t *sorted_keys(json_t *map)
{
	size_t n = 0;
	const char *key, **keys = xcalloc(json_object_size(map) + 1, sizeof *keys);
	json_t *value, *list = json_array();

	json_object_foreach(map, key, value) keys[n++] = key;
	qsort(keys, n, sizeof *keys, compare_keys);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(keys[i]));
	free(keys);
	return list;
}

static int render_loop(struct render *r, const struct part *p, json_t *list,
	const struct expr_local *locals, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < json_array_size(list) && rc == 0 && !r->unknown; i++) {
		struct expr_local mine = {p->text, json_array_get(list, i), locals};

		if ((rc = count_step(r, p, err)) == 0)
			rc = render_parts(r, p->body, &mine, err);
	}
	return rc;
}

static int render_for(
	struct render *r, const struct part *p, const struct expr_local *locals, struct err *err)
{
	struct value v;
	int rc = expr_eval_at(p->expr, r->scope, locals, &v, err);

	if (rc < 0)
		return rc;
	r->unknown = v.unknown;
	if (json_is_array(v.json)) {
		rc = render_loop(r, p, v.json, locals, err);
	} else if (json_is_object(v.json)) {
		AUTO_JSON keys = sorted_keys(v.json);

		rc = render_loop(r, p, keys, locals, err);
	} else if (value_is_known(&v)) {
		expr_err(p->expr, err, E_SCHEMA, "cannot loop over %s", value_type_name(v.json));
		rc = err_hint(err, "a loop takes a list, or the keys of a map");
	}
	value_done(&v);
	return rc;
}

static int render_parts(
	struct render *r, const struct part *p, const struct expr_local *locals, struct err *err)
{
	int rc = 0;

	for (; p && rc == 0 && !r->unknown; p = p->next) {
		if ((rc = count_step(r, p, err)) < 0)
			break;
		if (p->kind == PART_TEXT)
			buf_add_str(r->out, p->text);
		else if (p->kind == PART_OUT)
			rc = render_out(r, p, locals, err);
		else if (p->kind == PART_IF)
			rc = render_if(r, p, locals, err);
		else
			rc = render_for(r, p, locals, err);
	}
	return rc;
}

int template_render(const struct template *t, const struct scope *s, struct buf *out,
	const char **unknown, struct err *err)
{
	struct render r = {.scope = s, .origin = t->origin, .out = out, .begin = out->n};
	static const struct part END = {.kind = PART_TEXT};
	int rc = render_parts(&r, t->first, NULL, err);

	if (rc == 0)
		rc = count_step(&r, &END, err);
	if (rc < 0)
		return rc;
	*unknown = r.unknown;
	if (r.unknown)
		buf_clear(out);
	return 0;
}

bool template_is_plain(const struct template *t)
{
	const size_t n = t->origin->text.n;

	if (!t->first)
		return n == 0;
	return t->first->kind == PART_TEXT && !t->first->next && t->first->text.n == n;
}

const struct expr *template_single(const struct template *t)
{
	return t->first && t->first->kind == PART_OUT && !t->first->next ? t->first->expr : NULL;
}

static int walk_parts(const struct part *p, expr_see see, void *ctx, struct err *err)
{
	int rc = 0;

	for (; p && rc == 0; p = p->next) {
		for (const struct part *b = p; b && rc == 0; b = b->other) {
			if (b->expr)
				rc = expr_walk(b->expr, see, ctx, err);
			if (rc == 0)
				rc = walk_parts(b->body, see, ctx, err);
		}
	}
	return rc;
}

int template_walk(const struct template *t, expr_see see, void *ctx, struct err *err)
{
	return walk_parts(t->first, see, ctx, err);
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

void template_names(const struct template *t, void (*see)(void *ctx, const char *name), void *ctx)
{
	struct plain_see p = {see, ctx};

	template_walk(t, see_plain, &p, NULL);
}
