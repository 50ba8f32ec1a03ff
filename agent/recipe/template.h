/*
 * template - text with {{ expr }}, {% if expr %} {% elif %} {% else %} {% endif %}, {% for x in
 * expr %} {% endfor %}.
 *
 * A line that holds only a {% %} tag vanishes with its newline. {{ '{{' }}
 * writes a literal brace pair; {# comment #}. An undefined name is an error with
 * its place in the template file. Output is capped (4 MiB).
 */
#pragma once

#include "agent/recipe/expr.h"

struct buf;
struct template;

int template_parse(struct arena *a, struct str text, const struct origin *at, struct template **out,
	struct err *err);
/* True when there is no tag at all: then the text is the result. */
bool template_is_plain(const struct template *t);
/* *unknown is set to the reason when the text hangs on something unknown (out is then empty). */
int template_render(const struct template *t, const struct scope *s, struct buf *out,
	const char **unknown, struct err *err);
/* A template that is exactly one {{ expr }} keeps its type (list, bool, int); otherwise text. */
int template_value(
	const struct template *t, const struct scope *s, struct value *out, struct err *err);
void template_names(const struct template *t, void (*see)(void *ctx, const char *name), void *ctx);
