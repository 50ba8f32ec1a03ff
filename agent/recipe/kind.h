/*
 * kind - the kinds of step and their parameters, as one table of data.
 *
 * Both programs know it: the controller to judge a recipe, the agent to run it
 * (agent/step has one struct step_ops per name here). A new kind is a row here
 * and a file there.
 */
#pragma once

#include <stdbool.h>

enum param_type {
	PARAM_TEXT,
	PARAM_INT,
	PARAM_NUM,
	PARAM_BOOL,
	PARAM_MODE,   /* four octal digits, "0644" */
	PARAM_PATH,   /* absolute, no .. */
	PARAM_NAME,   /* a package, unit, user, group: str_is_name plus '@', '+', ':' */
	PARAM_SOURCE, /* a file of the recipe's folder, relative, no .. */
	PARAM_CHOICE,
	PARAM_LIST, /* of text */
	PARAM_MAP,  /* text to text */
	PARAM_EXPR, /* an expression, evaluated by the step when it needs it (guards) */
};

struct kind_param {
	const char *name; /* NULL ends the table */
	enum param_type type;
	bool required;
	const char *const *choices; /* PARAM_CHOICE */
	const char *preset;         /* default as text, or NULL */
	const char *about;
};

struct kind {
	const char *name; /* NULL ends the table */
	const char *about;
	const struct kind_param *params;
	const char *const *one_of;   /* at least one of these must be given; NULL: no such rule */
	bool batched;                /* all steps of this kind in a recipe are applied at once */
	const char *const *not_both; /* at most one of these may be given; NULL: no such rule */
	const char *unless_absent;   /* a parameter that is required unless state is absent */
};

extern const struct kind KINDS[];
const struct kind *kind_find(const char *name); /* NULL if unknown */
const struct kind_param *kind_param_find(const struct kind *k, const char *name);
