/*
 * domain - the questions that case files may ask of the designer: a name, inputs, answers.
 *
 * answer reads the inputs (a map; unknown and impossible ones are errors with their place) and
 * sets keys of out: numbers, texts, booleans or lists. A key ends in its unit, or has it inside
 * ("kv_bytes_per_token"); the runner converts between units of one dimension.
 */
#pragma once

#include "agent/base/json.h"
#include "agent/base/yaml.h"

struct domain {
	const char *name;
	int (*answer)(
		const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err);
};

struct catalog;
/* Where names of models and GPUs are looked up; the caller keeps it. */
void domain_use(const struct catalog *c);

extern const struct domain DOMAIN_CORE[]; /* models, memory, speed, training, vision */
extern const struct domain DOMAIN_SITE[]; /* fabric, storage, archive, TCO, lint */
