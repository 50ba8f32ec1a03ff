/*
 * recipe - one recipe.yaml as a checked structure with places.
 *
 *	recipe: node-exporter           # its folder's name
 *	about: one line for people
 *	params:                         # no default = must be given
 *	  port: {type: int, default: 9100, min: 1, max: 65535, about: TCP port}
 *	data: {names: {debian-12: [a, b]}}  # literal tables, read as data.names
 *	let: {os: "facts.os.id + '-' + facts.os.version"}   # expressions, read as let.os
 *	when: facts.os.family == 'debian'   # else the recipe is skipped
 *	supports: [debian 11-13, rhel 8-9]  # else it is refused (supports.h)
 *	needs: [base]
 *	disrupts: [docker]              # what the fleet must drain
 *	steps:                          # one kind key; name, when, each, as, notify beside it
 *	  - package: {names: [prometheus-node-exporter]}
 *	    notify: restart exporter
 *	handlers:                       # steps with a name, run once at the end when notified
 *	  - name: restart exporter
 *	    service: {name: prometheus-node-exporter, state: restarted}
 *	check:                          # validator: every expect must be true
 *	  - name: answers on its port
 *	    expect: http_ok('http://127.0.0.1:9100/metrics', 'node_uname_info')
 *	    within: 15                  # seconds it may take, default 0; also when, id,
 *	                                # level: warn, message and hint
 *	undo: [steps]
 *
 * Everything is judged at load: kinds, parameters and their types where they
 * are literal, expressions and templates for syntax and names, notify for its
 * handler, source files for existence. All errors carry file, line, column and
 * mostly a hint. README.md is the reference for people.
 */
#pragma once

#include "agent/base/yaml.h"
#include "agent/recipe/kind.h"
#include "agent/recipe/template.h"

#define RECIPE_STEPS_MAX  2000
#define RECIPE_SECRET_KEY "$secret" /* in a value that names a secret */

struct arg_tree;

struct recipe_param {
	const char *name;
	enum param_type type; /* text, int, num, bool, choice, list, map, secret */
	bool required;
	json_t *preset;             /* NULL when required; owned by the recipe */
	const char *const *choices; /* NULL-terminated or NULL */
	bool has_min, has_max;
	double min, max;
	const char *about;
	const struct yaml_node *at;
};

/* One argument of a step: a template of text, or a list or map of them. */
struct step_arg {
	const struct kind_param *param;
	const struct yaml_node *at;
	struct template *text; /* scalar */
	struct expr *expr;     /* PARAM_EXPR */
	struct arg_tree *tree; /* PARAM_TREE */
	unsigned n;            /* list items or map pairs */
	struct template **items;
	const char **keys; /* map */
	bool secret;       /* it reads a secret parameter: its value is never shown */
};

struct step {
	unsigned index;   /* 0-based within its list */
	const char *name; /* given, or made from kind and main argument */
	const struct kind *kind;
	struct expr *when; /* NULL: always */
	struct expr *each; /* a list; NULL: once. item is bound in args and when */
	const char *as;    /* NULL, or the key under steps.* */
	unsigned n_notify;
	const char **notify;
	unsigned n_args;
	struct step_arg *args;
	const struct yaml_node *at;
};

enum check_level {
	CHECK_FAIL,
	CHECK_WARN, /* told, and the run does not fail by it */
};

struct recipe_check {
	const char *name;
	const char *id; /* of a catalogue of failures, such as F01; NULL */
	enum check_level level;
	struct expr *when; /* NULL: always */
	struct expr *expect;
	struct template *message, *hint; /* what was found, what to do; NULL: made from expect */
	unsigned within;                 /* seconds */
	const struct yaml_node *at;
};

#define RECIPE_LETS_MAX 200

struct recipe {
	const char *name, *about;
	struct yaml_doc *doc;
	unsigned n_params, n_steps, n_handlers, n_checks, n_undo, n_needs, n_disrupts, n_supports;
	struct recipe_param *params;
	struct step *steps, *handlers, *undo;
	struct recipe_check *checks;
	const char **needs, **disrupts;
	bool reads_site;       /* site.* is read somewhere, templates with it */
	json_t *data;          /* data.*: literal tables, owned; NULL: none */
	struct expr_let *lets; /* let.*, in order */
	unsigned n_lets;
	struct recipe_support *supports; /* supports.h */
	struct expr *when;
};

/* Loads DIR/recipe.yaml; everything lives in a, JSON presets until recipe_done. */
int recipe_load(struct arena *a, const char *dir, struct recipe **out, struct err *err);
/* The same from text, called name in messages; dir NULL skips the look at source files. */
int recipe_parse(struct arena *a, const char *name, struct str text, const char *dir,
	struct recipe **out, struct err *err);
void recipe_done(struct recipe *r); /* drops the JSON presets */

/*
 * The parameters of a run: given (a JSON object, values may be text from the
 * command line) checked and completed with presets. A new reference in *out.
 */
int recipe_params(const struct recipe *r, const json_t *given, json_t **out, struct err *err);

/*
 * One step's arguments evaluated to a JSON object, typed by its kind, presets
 * filled in; PARAM_EXPR ones are left out. A new reference in *out, or *out NULL
 * and *unknown the reason when an argument hangs on something unknown.
 */
int step_args_eval(const struct recipe *r, const struct step *s, const struct scope *scope,
	json_t **out, const char **unknown, struct err *err);
/* A PARAM_EXPR argument by name, or NULL. */
const struct step_arg *step_arg_find(const struct step *s, const char *name);
