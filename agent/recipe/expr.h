/*
 * expr - the small expression language of recipes.
 *
 *	or  and  not  in  == != < <= > >=  + -  *  f(x, ...)  a.b.c  a[0]
 *	'text'  12  1.5  true  [1, 2]
 *
 * No loops, no assignment, no function with an effect. Comparing two values of
 * different types is an error, never false. Names start at one of: params,
 * node, vars, facts, site, data, let, steps, item. An undefined name is an error
 * with its place; default(x, y) is the one exception.
 *
 * Functions: default if lower upper trim len count join split replace int text basename
 * startswith endswith quote matches newer json yaml keys sort unique where pluck range
 * div mod min max; and probes of the node's state, answered by the scope:
 * exists(path), contains(path, text), running(process), version(package),
 * port_open(port), http_ok(url, text), json_file(path), toml_file(path),
 * ini_file(path), unit_setting(unit, 'Section.Key'), kernel_log(text),
 * text_file(path), lines(path, regex), glob(pattern), program([word, ...]),
 * gres_lint(slurm.conf, gres.conf, node, gpu, gpus).
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/recipe/origin.h"
#include "agent/recipe/value.h"

struct err;
struct expr;

struct expr_let {
	const char *name;
	const struct expr *expr;
};

/* The world an expression is evaluated in. Callbacks may be NULL: then such names are unknown. */
struct scope {
	json_t *names; /* object: params, node, vars, steps, item -> value; borrowed */
	void *ctx;
	/* One fact group ("os"), borrowed; *out NULL when there is no such group. */
	int (*facts)(void *ctx, const char *group, json_t **out, struct err *err);
	/* Answers a probe; args is a JSON array of its arguments. */
	int (*probe)(void *ctx, const char *name, const json_t *args, struct value *out,
		struct err *err);
	/* let.NAME: evaluated when it is read, once in each expression. Each reads those before it.
	 */
	const struct expr_let *lets;
	unsigned n_lets;
};

#define EXPR_BYTES_MAX (16u << 10)
#define EXPR_DEPTH_MAX 64
#define EXPR_TEXT_MAX  (1u << 20) /* of a text that a function or '+' makes */

/* text and at are copied into the arena; at may be NULL, at->file must outlive the expression. */
int expr_parse(struct arena *a, struct str text, const struct origin *at, struct expr **out,
	struct err *err);
/* value is the caller's to value_done. E_SCHEMA on types, E_NOTFOUND on an undefined name. */
int expr_eval(const struct expr *e, const struct scope *s, struct value *out, struct err *err);
/* The same, and the result must be true or false (or unknown). */
int expr_eval_bool(const struct expr *e, const struct scope *s, bool *out, const char **unknown,
	struct err *err);
/* Calls see("facts.os.id") for each name the expression may read. */
void expr_names(const struct expr *e, void (*see)(void *ctx, const char *name), void *ctx);
