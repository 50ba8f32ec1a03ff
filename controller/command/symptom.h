/*
 * symptom - what detectors found on nodes: the same finding is told once, with all nodes that have
 * it.
 *
 * A check that does not hold is a finding, by the number, the words and the level that its recipe
 * gives it; so is a step that a plan would fail at, and a node that did not answer.
 */
#pragma once

#include "agent/base/arena.h"
#include "controller/fleet/range.h"
#include "inventory/report/text.h"

struct symptom {
	const char *id;            /* of the catalogue of failures; "" */
	bool warning;              /* told, but the node is not refused by it */
	const char *recipe, *name; /* what must hold */
	const char *why, *hint;    /* what was found, what to do; "" */
	struct node_refs nodes;
};
struct symptoms vec(struct symptom);

#define SYMPTOMS_MAX 10000

/* Adds what a record of a node tells, if it is one; texts are copied to a. */
void symptom_record(
	struct symptoms *f, struct arena *a, const struct node_row *node, const json_t *record);
/* A node that gave no answer. */
void symptom_unanswered(struct symptoms *f, struct arena *a, const struct node_row *node,
	const char *why, const char *hint);
/* Failures before warnings, each by its number. */
void symptom_sort(struct symptoms *f);
unsigned symptom_count(const struct symptoms *f, bool warning);
/* In 80 columns: number, level and nodes, then what was found and what to do. */
void symptom_text(const struct symptoms *f, enum text_lang lang, struct buf *out);
/* [{id, level, recipe, check, found, hint, nodes []}], a new reference. */
json_t *symptom_json(const struct symptoms *f);
void symptom_done(struct symptoms *f);
