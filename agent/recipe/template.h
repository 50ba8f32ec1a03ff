/*
 * template - text with {{ expr }}, {% if expr %} {% elif expr %} {% else %} {% endif %} and
 * {% for x in expr %} {% endfor %}.
 *
 * A line that holds only one {% %} tag (or one comment) vanishes with its
 * newline. {{ '{{' }} writes a literal brace pair; {# comment #}. An undefined
 * name is an error with its place. A loop over a map takes its keys in order.
 */
#pragma once

#include "agent/recipe/expr.h"

#define TEMPLATE_OUT_MAX   (4u << 20)
#define TEMPLATE_DEPTH_MAX 32
#define TEMPLATE_STEPS_MAX 1000000 /* parts written or decided in one rendering */

struct buf;
struct template;

/* text and at are copied into the arena; at->file must outlive the template. */
int template_parse(struct arena *a, struct str text, const struct origin *at, struct template **out,
	struct err *err);
/* True when there is no tag at all: then the text is the result. */
bool template_is_plain(const struct template *t);
/* The expression when the template is one {{ expr }} and nothing else, or NULL. */
const struct expr *template_single(const struct template *t);
/* *unknown is set to the reason when the text hangs on something unknown (out is then empty),
 * otherwise to NULL. */
int template_render(const struct template *t, const struct scope *s, struct buf *out,
	const char **unknown, struct err *err);
/* Calls see("facts.os.id") for each name the template may read. */
void template_names(const struct template *t, void (*see)(void *ctx, const char *name), void *ctx);
