/* template_priv - the tree of a template, for the files of this folder only. */
#pragma once

#include "agent/recipe/expr_priv.h"
#include "agent/recipe/template.h"

enum part_kind {
	PART_TEXT,
	PART_OUT,
	PART_IF,
	PART_FOR
};

struct part {
	enum part_kind kind;
	struct str text;   /* PART_TEXT; PART_FOR: the variable */
	struct expr *expr; /* PART_OUT; PART_IF: NULL for else; PART_FOR: the list */
	struct part *body;
	struct part *other; /* PART_IF: elif or else */
	struct part *next;
};

struct template
{
	struct part *first;
	const struct origin *origin;
};

/* The same as template_parse for o->text itself; nothing is copied. */
int template_parse_at(
	struct arena *a, const struct origin *o, struct template **out, struct err *err);
int template_walk(const struct template *t, expr_see see, void *ctx, struct err *err);
