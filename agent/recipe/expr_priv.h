/*
 * expr_priv - the tree of an expression, for the files of this folder only.
 *
 * A node's places (at, from, to) point into origin->text. Depth is capped when
 * the tree is built, so that walking it may recurse.
 */
#pragma once

#include "agent/recipe/expr.h"

enum expr_op {
	EXPR_TEXT,
	EXPR_INT,
	EXPR_REAL,
	EXPR_BOOL,
	EXPR_LIST,
	EXPR_MAP,   /* only from a literal 'each' */
	EXPR_NAME,  /* a root: params, facts ... */
	EXPR_LOCAL, /* a template's loop variable */
	EXPR_FIELD, /* arg[0].text */
	EXPR_INDEX, /* arg[0][arg[1]] */
	EXPR_CALL,
	EXPR_NEG,
	EXPR_NOT,
	EXPR_AND,
	EXPR_OR,
	EXPR_IN,
	EXPR_NOT_IN,
	EXPR_EQ,
	EXPR_NE,
	EXPR_LT,
	EXPR_LE,
	EXPR_GT,
	EXPR_GE,
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL
};

struct expr_fn;

struct expr {
	enum expr_op op;
	unsigned n, depth;
	const struct origin *origin; /* NULL: no place */
	const char *at;              /* where an error points */
	const char *from, *to;       /* the whole of it */
	struct expr **arg;
	struct expr *before; /* while parsing: the operand before this one */
	struct str *key;     /* EXPR_MAP */
	union {
		struct str text; /* EXPR_TEXT, EXPR_NAME, EXPR_LOCAL, EXPR_FIELD */
		int64_t integer;
		double real;
		bool yes;
		const struct expr_fn *fn;
	};
};

/* Loop variables, innermost first; value is NULL while parsing. */
struct expr_local {
	struct str name;
	json_t *value;
	const struct expr_local *up;
};

enum expr_arg {
	EXPR_ARG_ANY,
	EXPR_ARG_TEXT,
	EXPR_ARG_INT,
	EXPR_ARG_LIST,
	EXPR_ARG_MAP,
	EXPR_ARG_NUMBER
};

#define EXPR_ARGS_MAX 5

struct expr_fn {
	const char *name;
	unsigned n;
	enum expr_arg args[EXPR_ARGS_MAX];
	const char *usage;
	/* args are known and typed; NULL: default() and if(), or a probe of the scope. */
	int (*call)(const struct expr *e, json_t *const *args, json_t **out, struct err *err);
	bool probe;
};

/* --- expr_list.c, expr_text.c: functions of the table in expr_call.c --- */
#define EXPR_FUNCTION(name) \
	int name(const struct expr *e, json_t *const *args, json_t **out, struct err *err)
EXPR_FUNCTION(expr_call_keys);
EXPR_FUNCTION(expr_call_sort);
EXPR_FUNCTION(expr_call_unique);
EXPR_FUNCTION(expr_call_where);
EXPR_FUNCTION(expr_call_pluck);
EXPR_FUNCTION(expr_call_range);
EXPR_FUNCTION(expr_call_div);
EXPR_FUNCTION(expr_call_mod);
EXPR_FUNCTION(expr_call_min);
EXPR_FUNCTION(expr_call_max);
EXPR_FUNCTION(expr_call_newer);
EXPR_FUNCTION(expr_call_matches);
EXPR_FUNCTION(expr_call_json);
EXPR_FUNCTION(expr_call_yaml);

const struct expr_fn *expr_fn_find(struct str name);
/* NULL-terminated, for suggestions. */
extern const char *const EXPR_FN_NAMES[];
extern const char *const EXPR_ROOTS[];

/* The same as expr_parse for a slice of at->text; nothing is copied. */
int expr_parse_at(struct arena *a, struct str slice, const struct origin *at,
	const struct expr_local *locals, struct expr **out, struct err *err);
int expr_eval_at(const struct expr *e, const struct scope *s, const struct expr_local *locals,
	struct value *out, struct err *err);
int expr_eval_bool_at(const struct expr *e, const struct scope *s, const struct expr_local *locals,
	struct value *out, struct err *err);
/* Evaluates a call whose function is not default(). */
int expr_call(const struct expr *e, const struct scope *s, json_t *const *args, struct value *out,
	struct err *err);
/* An error at a node. */
int expr_err(const struct expr *e, struct err *err, enum ec code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* What the node's text is, cut to a printable length. */
struct str expr_source(const struct expr *e);

/* Calls see for each name ("params.port") with its node, until it fails. */
typedef int (*expr_see)(void *ctx, const struct expr *at, const char *name, struct err *err);
int expr_walk(const struct expr *e, expr_see see, void *ctx, struct err *err);
