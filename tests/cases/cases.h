/*
 * cases - expected answers as data files; README.md here has the formats.
 *
 * Each check prints one line and counts as passed or failed. What cannot be read
 * is a failure too.
 */
#pragma once

#include "agent/base/yaml.h"

#define CASE_ARGS_MAX   64
#define CASE_VALUES_MAX 16

struct case_value {
	double number;    /* NaN for a word */
	const char *word; /* as written */
};

struct tally {
	const char *file;
	unsigned passed, failed;
	bool quiet; /* only what failed */
};

/* One line; text says expected, got and error. */
void case_report(struct tally *t, bool passed, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Relative, or absolute where the expected figure is zero. */
bool case_near(double expected, double got, double tolerance);
/* A scalar as text, NULL when it is absent or no scalar. */
const char *case_text(const struct yaml_node *map, const char *key);
double case_number(const struct yaml_node *map, const char *key, double otherwise);
/* Scalars of a value or of a list, lists inside it flattened. Returns how many, at most max. */
unsigned case_values(const struct yaml_node *node, struct case_value *out, unsigned max);

void case_rules(struct tally *t, const struct yaml_doc *doc);
void case_audits(struct tally *t, const struct yaml_doc *doc);
/* Each case names its domain; inventory/design/domain.h. */
void case_sizings(struct tally *t, const struct yaml_doc *doc);

/* A function that rule cases may name. */
struct case_function {
	const char *name;
	unsigned args; /* 0: any number */
	unsigned (*run)(const struct case_value *a, unsigned n, struct case_value *out);
};
extern const struct case_function CASE_FORMULAS[], CASE_OTHERS[]; /* end with a NULL name */
