/* export_priv - how the writer of site files writes a scalar, a key, a run of names. */
#pragma once

#include "agent/base/buf.h"
#include "inventory/model/model.h"

/* A flow map in the making: "{a: 1, b: x". n counts its pairs. */
struct flow {
	struct buf *out;
	unsigned n;
};

void export_text(struct buf *out, const char *text); /* plain when it can be, else quoted */
void export_quoted(struct buf *out, const char *text);
void export_num(struct buf *out, double v); /* the shortest text that reads back the same */

/* "key: value" in a flow map; NULL, NaN and the like write nothing. */
void flow_text(struct flow *f, const char *key, const char *v);
void flow_num(struct flow *f, const char *key, double v);
void flow_uint(struct flow *f, const char *key, unsigned v); /* 0 is nothing */

/* The same as lines of a block map, indent blanks deep. */
void block_text(struct buf *out, int indent, const char *key, const char *v);
void block_num(struct buf *out, int indent, const char *key, double v);
void block_uint(struct buf *out, int indent, const char *key, unsigned v);

/* Name of a row, NULL for MODEL_NONE. */
#define NAME_OF(list, row) ((row) == MODEL_NONE ? NULL : (list).at[row].name)

void export_types(const struct model *m, struct buf *out);
void export_devices(const struct model *m, struct buf *out);
void export_cables(const struct model *m, struct buf *out);
/* Nodes that stand inside their device when written; the others follow as a list. */
size_t export_inline_nodes(const struct model *m);
void export_nodes(const struct model *m, struct buf *out);
