/* recipe_priv - what the files that load a recipe share. */
#pragma once

#include "agent/base/yaml.h"
#include "agent/recipe/expr_priv.h"
#include "agent/recipe/recipe.h"
#include "agent/recipe/template_priv.h"

/* A name that an earlier step gave its result by 'as'. */
struct as_name {
	const char *name;
	const struct yaml_node *at;
	const struct as_name *up;
};

struct loader {
	struct arena *arena;
	struct recipe *recipe;
	const char *dir; /* NULL: source files are not looked at */
	int dirfd;
	const char **step_keys; /* NULL-terminated: the kinds and what may stand beside them */
	const struct as_name *as;
};

/* What an expression may read where it stands. */
struct readable {
	bool item, steps;
	bool secret; /* a secret parameter may be written out here */
	bool *found; /* set when one is; NULL: nobody asks */
};

int load_params(struct loader *l, const struct yaml_node *map, struct err *err);
int load_steps(struct loader *l, const struct yaml_node *list, const char *what,
	struct step **steps, unsigned *n, struct err *err);
int load_args(struct loader *l, struct step *s, const struct yaml_node *map, struct readable may,
	struct err *err);
/* Every notify names a handler. */
int load_check_notify(
	const struct loader *l, const struct step *steps, unsigned n, struct err *err);

/* A scalar as a template or an expression, its names judged. what is "'path'". */
int load_template(const struct loader *l, const struct yaml_node *n, const char *what,
	struct readable may, struct template **out, struct err *err);
int load_expr(const struct loader *l, const struct yaml_node *n, const char *what,
	struct readable may, struct expr **out, struct err *err);
/* The literal source of a file or template step: it must exist, a template must be one. */
int load_source(const struct loader *l, const struct kind *kind, const struct yaml_node *n,
	struct readable may, struct err *err);
bool secret_is_declared(const struct recipe *r);
/* No secret parameter is read where that is not allowed; see secret_use.c. */
int secret_judge_expr(const struct loader *l, const struct expr *e, struct err *err);
int secret_judge_template(
	const struct loader *l, const struct template *t, struct readable may, struct err *err);
/* A list of literal texts (names of recipes, choices), each checked by good (may be NULL). */
int load_words(const struct loader *l, const struct yaml_node *list, const char *what,
	bool (*good)(struct str), const char ***out, unsigned *n, struct err *err);
int load_text(const struct loader *l, const struct yaml_node *n, const char *what, const char **out,
	struct err *err);
/* The same, and it must be one line without control characters. */
int load_line(const struct loader *l, const struct yaml_node *n, const char *what, const char **out,
	struct err *err);
/* Gives an error without a hint this one; returns rc. */
int load_hint(int rc, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int load_want_list(const struct loader *l, const struct yaml_node *n, const char *what,
	const char *example, struct err *err);
bool load_is_identifier(struct str s); /* [A-Za-z_][A-Za-z0-9_]*, at most 64 */
