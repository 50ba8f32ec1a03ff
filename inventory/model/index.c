/* index - open addressing over FNV-1a; grows by doubling at three quarters. */
#include "inventory/model/index.h"

#include "agent/base/mem.h"
#include "inventory/model/model.h"

#include <stdint.h>
#include <string.h>

struct entry {
	const char *name; /* NULL: free */
	enum model_noun noun;
	size_t owner, row;
};

struct model_index {
	struct entry *at;
	size_t n, room; /* room is a power of two */
};

static const char *const NOUNS[NOUN_N] = {
	[NOUN_LOCATION] = "location",
	[NOUN_ZONE] = "cooling zone",
	[NOUN_PANEL] = "panel",
	[NOUN_RACK] = "rack",
	[NOUN_FEED] = "feed",
	[NOUN_PDU] = "PDU",
	[NOUN_OUTLET] = "outlet",
	[NOUN_TYPE] = "device type",
	[NOUN_DEVICE] = "device",
	[NOUN_PORT] = "port",
	[NOUN_CORD] = "cord",
	[NOUN_CABLE] = "cable",
	[NOUN_NODE] = "node",
	[NOUN_ADDRESS] = "address",
	[NOUN_UPS] = "UPS",
	[NOUN_GENERATOR] = "generator",
	[NOUN_BANK] = "bank",
	[NOUN_UNIT] = "cooling unit",
	[NOUN_RESERVATION] = "reservation",
	[NOUN_ROLE] = "role",
};

static uint64_t hash_name(enum model_noun noun, size_t owner, const char *name)
{
	uint64_t h = 14695981039346656037u ^ ((uint64_t)noun << 56) ^ owner;

	h *= 1099511628211u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h ^ (h >> 32);
}

/* The entry of the name, or the free one where it belongs. */
static struct entry *slot(
	const struct model_index *ix, enum model_noun noun, size_t owner, const char *name)
{
	size_t i = hash_name(noun, owner, name) & (ix->room - 1);

	for (;; i = (i + 1) & (ix->room - 1)) {
		struct entry *e = &ix->at[i];

		if (!e->name ||
			(e->noun == noun && e->owner == owner && strcmp(e->name, name) == 0))
			return e;
	}
}

static void grow(struct model_index *ix)
{
	struct model_index bigger = {.room = ix->room * 2};

	bigger.at = xcalloc(bigger.room, sizeof *bigger.at);
	for (size_t i = 0; i < ix->room; i++)
		if (ix->at[i].name)
			*slot(&bigger, ix->at[i].noun, ix->at[i].owner, ix->at[i].name) = ix->at[i];
	free(ix->at);
	ix->at = bigger.at;
	ix->room = bigger.room;
}

struct model_index *model_index_new(void)
{
	struct model_index *ix = xcalloc(1, sizeof *ix);

	ix->room = 256;
	ix->at = xcalloc(ix->room, sizeof *ix->at);
	return ix;
}

void model_index_free(struct model_index *ix)
{
	if (!ix)
		return;
	free(ix->at);
	free(ix);
}

size_t model_index_put(
	struct model_index *ix, enum model_noun noun, size_t owner, const char *name, size_t row)
{
	struct entry *e;

	if (ix->n >= ix->room / 4 * 3)
		grow(ix);
	e = slot(ix, noun, owner, name);
	if (e->name)
		return e->row;
	*e = (struct entry){name, noun, owner, row};
	ix->n++;
	return MODEL_NONE;
}

size_t model_index_find(
	const struct model_index *ix, enum model_noun noun, size_t owner, const char *name)
{
	const struct entry *e = slot(ix, noun, owner, name);

	return e->name ? e->row : MODEL_NONE;
}

const char *model_noun_name(enum model_noun noun)
{
	return noun < NOUN_N ? NOUNS[noun] : "site";
}
