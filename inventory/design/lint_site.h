/*
 * lint_site - the lint over an inventory, and over a specification that somebody pasted.
 *
 * An inventory gives facts for each type of GPU machine, each rack and the site's operation; of an
 * inventory only what it states is judged. A specification is a map of lint_read's keys, or
 * 'subjects', a list of such maps; a key that is none of them is refused, naming the nearest.
 */
#pragma once

#include "inventory/design/lint_read.h"
#include "inventory/model/model.h"

/* Texts in a. Of 1,000 racks: well under a second. */
void lint_site(const struct model *m, struct arena *a, struct lint_findings *out);
int lint_document(
	const struct yaml_doc *d, struct arena *a, struct lint_findings *out, struct err *err);
