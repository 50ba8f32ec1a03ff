/* export_priv - how the writer of site files writes a scalar, a key, a run of names. */
#pragma once

#include "agent/base/buf.h"
#include "inventory/model/field.h"
#include "inventory/model/model.h"

/* A flow map in the making: "{a: 1, b: x". n counts its pairs. */
struct flow {
	struct buf *out;
	unsigned n;
};

void export_text(struct buf *out, const char *text); /* plain when it can be, else quoted */
void export_quoted(struct buf *out, const char *text);
void export_vars(struct buf *out, const char *json);   /* a JSON object as a flow map */
void export_names(struct buf *out, const char *names); /* "a b" as [a, b] */
void export_num(struct buf *out, double v); /* the shortest text that reads back the same */

/* "key: value" in a flow map; NULL, NaN and the like write nothing. */
void flow_text(struct flow *f, const char *key, const char *v);
void flow_num(struct flow *f, const char *key, double v);
void flow_uint(struct flow *f, const char *key, unsigned v); /* 0 is nothing */

/* One export: the model, and its notes by row. */
struct noted;
struct exporter {
	const struct model *m;
	struct buf *out;
	struct arena *arena;
	const struct noted *notes;
};
struct exporter export_begin(const struct model *m, struct buf *out);

/* The fields that a row states, and its facts, but for the key skip (NULL: none). */
void flow_fields(const struct exporter *e, enum model_noun noun, size_t row, const char *skip,
	struct flow *f);
/* "- {name: x, ...}" */
void export_row(
	const struct exporter *e, enum model_noun noun, size_t row, const char *skip, int indent);
/* All rows of a noun under their key; nothing when there are none. */
void export_rows(const struct exporter *e, const char *key, enum model_noun noun);
/* "- name: x" and a line for each more field, two deeper. */
void export_block(
	const struct exporter *e, enum model_noun noun, size_t row, const char *skip, int indent);
/* The site's own lines. */
void export_top(const struct exporter *e);

void export_rooms(const struct exporter *e);
void export_power(const struct exporter *e);
void export_roles(const struct exporter *e);
void export_types(const struct exporter *e);
void export_devices(const struct exporter *e);
void export_cables(const struct model *m, struct buf *out);
/* Nodes that stand inside their device when written; the others follow as a list. */
size_t export_inline_nodes(const struct model *m);
void export_nodes(const struct model *m, struct buf *out);
