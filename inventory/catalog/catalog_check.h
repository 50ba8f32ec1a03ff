/*
 * catalog_check - whether a catalogue can be true: arithmetic and physics, no look-up of names.
 *
 * A rule compares figures of an entry with each other, with what hardware of its time can
 * do at all, or with the same product in a second catalogue. Where an assumed figure takes
 * part the finding is a remark: it may be the assumption that is wrong.
 */
#pragma once

#include "inventory/catalog/catalog.h"

struct catalog_finding {
	const char *rule; /* "sparse-as-dense" */
	bool remark;      /* not an error */
	const struct catalog_entry *entry;
	unsigned line, col;
	const char *text; /* the arithmetic, for a person */
};
struct catalog_findings vec(struct catalog_finding);

/*
 * Findings in the order of the entries, texts in a. reference: a catalogue that is
 * believed, or NULL; entries that mean the same product must not contradict it.
 */
void catalog_check(const struct catalog *c, const struct catalog *reference, struct arena *a,
	struct catalog_findings *out);
/*
 * The entry of a kind (CATALOG_KINDS: any) that a product name means, "NVIDIA DGX A100 640GB"
 * for dgx-a100: every word of its id stands there, a leading maker apart. NULL: none.
 */
const struct catalog_entry *catalog_match(
	const struct catalog *c, enum catalog_kind kind, const char *name);
