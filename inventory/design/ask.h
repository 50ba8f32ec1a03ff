/*
 * ask - reading the inputs of a domain: typed, in any unit, each key once.
 *
 * Failures are kept (the first counts) so that a domain reads all its inputs and checks once.
 * A key may carry its unit at its end or inside: "weights" is asked, "weights_gib" is found.
 * A list of numbers means the question is asked once for each, answers become lists.
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/yaml.h"

#define ASK_KEYS_MAX 64

struct ask {
	const struct yaml_doc *doc;
	const struct yaml_node *in;
	json_t *out;
	struct err *err;
	int rc;
	uint64_t used; /* bit i: key i was read */
	unsigned round, rounds;
};

/* How many base units one of the key's is (1 without a unit); what is left of the key in rest. */
double ask_unit(const char *key, char *rest, size_t n);

double ask_num(struct ask *a, const char *key, double otherwise);
double ask_must(struct ask *a, const char *key);      /* missing is an error */
const char *ask_text(struct ask *a, const char *key); /* NULL when absent */
bool ask_has(const struct ask *a, const char *key);
const struct yaml_node *ask_node(struct ask *a, const char *key);
/* Keys that describe and do not count. */
void ask_ignore(struct ask *a, const char *const *keys);
/* An error at a key (or at the inputs) with what err says so far or what is given. */
void ask_fail(struct ask *a, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ask_failed(struct ask *a, const char *key, int rc); /* err is set: adds the place */
void ask_put(struct ask *a, const char *key, double v);
void ask_put_text(struct ask *a, const char *key, const char *v);
void ask_put_bool(struct ask *a, const char *key, bool v);
/* Runs once for each value of a listed input; refuses keys that nobody read. */
int ask_run(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err,
	void (*answer)(struct ask *a));
