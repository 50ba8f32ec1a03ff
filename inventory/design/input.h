/*
 * input - reads a map of inputs; the first fault is kept and the rest gives what was preset.
 *
 *	struct input a = input_of(doc, map, err);
 *	double kw = input_num(&a, "it_kw", 0, 1e6, NAN);
 *	if (a.fault) return a.fault;
 *
 * A key that is absent gives the preset: NaN where there is none. Names of the same input may be
 * given with '|' between; the first that is there counts.
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/yaml.h"

struct input {
	const struct yaml_doc *doc;
	const struct yaml_node *in;
	struct err *err;
	int fault; /* 0, or the code of the first error */
};

struct input input_of(const struct yaml_doc *d, const struct yaml_node *in, struct err *err);
const struct yaml_node *input_node(const struct input *a, const char *names);
double input_num(struct input *a, const char *names, double min, double max, double preset);
unsigned input_count(struct input *a, const char *names, unsigned max, unsigned preset);
bool input_bool(struct input *a, const char *names, bool preset);
/* NULL when absent; NUL-terminated in the document's arena. */
const char *input_text(struct input *a, const char *names);
/* Index in words (NULL-terminated), preset when absent; another word is an error that lists them.
 */
int input_word(struct input *a, const char *names, const char *const *words, int preset);
/* One number or a list of them; 0 when absent. Sets *list when it was a list. */
unsigned input_nums(struct input *a, const char *names, double min, double max, double *out,
	unsigned room, bool *list);
/* An error at the value of a key, or at the map. */
int input_fail(struct input *a, const char *names, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Into an answer; NaN is left out. */
void answer_num(json_t *out, const char *key, double v);
/* As a list, or as the single figure when list is false. */
void answer_nums(json_t *out, const char *key, const double *v, unsigned n, bool list);
