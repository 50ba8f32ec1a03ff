/*
 * index - finds a row of a model by noun, owner and name in constant time.
 *
 * Names are borrowed and must outlive the index. Owner is the row a name is
 * unique in (the device of a port, the PDU of an outlet), 0 where it is the site.
 */
#pragma once

#include <stddef.h>

enum model_noun {
	NOUN_LOCATION,
	NOUN_ZONE,
	NOUN_PANEL,
	NOUN_RACK,
	NOUN_FEED,
	NOUN_PDU,
	NOUN_OUTLET,
	NOUN_TYPE,
	NOUN_DEVICE,
	NOUN_PORT,
	NOUN_CORD,
	NOUN_CABLE,
	NOUN_NODE,
	NOUN_ADDRESS, /* of nodes */
	NOUN_UPS,
	NOUN_GENERATOR,
	NOUN_BANK, /* of PDUs */
	NOUN_UNIT, /* of cooling zones */
	NOUN_RESERVATION,
	NOUN_ROLE,
	NOUN_N
};

struct model_index;

struct model_index *model_index_new(void);
void model_index_free(struct model_index *ix);
/* Adds, unless the name is there already: then its row, else MODEL_NONE. */
size_t model_index_put(
	struct model_index *ix, enum model_noun noun, size_t owner, const char *name, size_t row);
size_t model_index_find(
	const struct model_index *ix, enum model_noun noun, size_t owner, const char *name);
/* "rack", "PDU", "device type"; "site" for NOUN_N. */
const char *model_noun_name(enum model_noun noun);
