/*
 * kind - the kinds of step and their parameters, as one table of data.
 *
 * Both programs know it: the controller to judge a recipe, the agent to run it
 * (agent/step has one struct step_ops per name here). A new kind is a row in
 * one of the groups (kind_file.c, kind_package.c ...) and a file there. Its
 * manual page is made of this table, so what a person reads about a kind is
 * written here and nowhere else.
 */
#pragma once

#include <stdbool.h>

enum param_type {
	PARAM_TEXT,
	PARAM_INT,
	PARAM_NUM,
	PARAM_BOOL,
	PARAM_MODE,    /* four octal digits, "0644" */
	PARAM_PATH,    /* absolute, no .. */
	PARAM_ADDRESS, /* IPv4 or IPv6, a plain number */
	PARAM_NAME,    /* a package, unit, user, group: str_is_name plus '@', '+', ':' */
	PARAM_SOURCE,  /* a file of the recipe's folder, relative, no .. */
	PARAM_CHOICE,
	PARAM_LIST,   /* of text */
	PARAM_MAP,    /* text to text */
	PARAM_EXPR,   /* an expression, evaluated by the step when it needs it (guards) */
	PARAM_SECRET, /* of a recipe only: {"$secret": NAME}, its value travels beside the order */
	PARAM_TREE,   /* any nesting of maps, lists and scalars, typed as type.h says */
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
	const char *name;  /* NULL ends a group */
	const char *about; /* one line */
	/* The manual's words on this kind, plain paragraphs: what check reads, what apply does, and
	   what undo brings back (or why it cannot). example is YAML, without the leading "- ". */
	const char *check, *apply, *undo, *example;
	const struct kind_param *params;
	const char *const *one_of;   /* at least one of these must be given; NULL: no such rule */
	bool batched;                /* all steps of this kind in a recipe are applied at once */
	const char *const *not_both; /* at most one of these may be given; NULL: no such rule */
	const char *unless_absent;   /* a parameter that is required unless state is absent */
	const char *const *secret; /* parameters that may hold a secret: never shown, never in argv;
				      NULL: none */
};

/* Groups of kinds, each ended by a row without a name; the list ends with NULL. */
extern const struct kind KIND_FILE[], KIND_PACKAGE[], KIND_SYSTEM[], KIND_STORAGE[], KIND_FLOW[];
/* The n-th kind over all groups, in the manual's order; NULL past the last. */
const struct kind *kind_at(unsigned n);
const struct kind *kind_find(const char *name); /* NULL if unknown */
const struct kind_param *kind_param_find(const struct kind *k, const char *name);
