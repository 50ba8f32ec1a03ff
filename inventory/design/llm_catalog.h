/* llm_catalog - models of the catalogue as struct llm. */
#pragma once

#include "inventory/catalog/catalog.h"
#include "inventory/design/llm.h"

/*
 * By id, name or alias, blanks and case apart ("Llama-3.1-405B", "llama2-7b", "org/Name-Instruct").
 * Not checked: a model of which only the size is known has no layers. E_NOTFOUND. gflops (may be
 * NULL): of a detector's frame, 0 otherwise.
 */
int llm_find(const struct catalog *c, const char *name, struct llm *out, double *gflops,
	struct err *err);
