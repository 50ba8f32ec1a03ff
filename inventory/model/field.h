/*
 * field - what a row of a site is made of, as data: one table per noun.
 *
 * The reader and the writer of site files and the database walk these tables, so
 * that a figure which is in the table is carried by all three. Keys are those of
 * the site file; "cooling.air_w" is air_w in the map cooling. Keys of one map stand
 * together. Ports, cords, cables and nodes are not rows of this kind.
 */
#pragma once

#include "inventory/model/index.h"
#include "inventory/model/model.h"

enum field_kind {
	FIELD_TEXT,  /* any text on a const char * */
	FIELD_NAME,  /* letters, digits, . _ - */
	FIELD_LABEL, /* a name that may hold blanks and letters of any script */
	FIELD_UINT,
	FIELD_ENUM, /* unsigned, the place in words; "-" is no word of the file */
	FIELD_NUM,  /* double */
	FIELD_BOOL,
	FIELD_WORD, /* a const char * of words */
	FIELD_CHAR, /* one letter of words */
	FIELD_REF,  /* size_t, the row of noun */
	FIELD_HALF, /* unsigned, and at offset2 a bool for half a unit more: 10.5 */
	FIELD_PAIR, /* two doubles, the second at offset2: [5, 30] */
	FIELD_CURVE,
	FIELD_SUPPLY,
	FIELD_VARS, /* const char *, a map as JSON object text; an empty one is NULL */
	FIELD_NAMES /* const char *, a list of names with a blank between; an empty one is NULL */
};

struct model_field {
	const char *key;
	enum field_kind kind;
	size_t offset, offset2;
	bool required;
	bool zero;       /* of numbers: zero is a figure, MODEL_UNSET is none */
	bool always;     /* written even when it is the fallback */
	bool brief;      /* may stand for its map: 'watts: 100' is 'watts: {max: 100}' */
	double fallback; /* of UINT, ENUM, BOOL */
	double min, max;
	const char *unit;          /* of the number, for the hint */
	const char *unit2;         /* of a curve's second figure */
	const char *const *words;  /* NULL-terminated */
	const char *fallback_word; /* of WORD */
	enum model_noun noun;      /* of REF */
	unsigned supplies;         /* bits of enum supply_kind */
};

struct model_fields {
	const struct model_field *at;
	size_t n;
};

/* NOUN_N: of the site itself, offsets in struct model. n is 0 for nouns without a table. */
struct model_fields model_fields_of(enum model_noun noun);
/* NULL when there is none. */
const struct model_field *model_field_find(enum model_noun noun, const char *key);

/* A row with nothing stated. */
void model_row_clear(enum model_noun noun, void *row);
size_t model_row_size(enum model_noun noun);
size_t model_rows(const struct model *m, enum model_noun noun);
/* Row i, the model itself for NOUN_N. */
const void *model_row(const struct model *m, enum model_noun noun, size_t i);
void *model_row_edit(struct model *m, enum model_noun noun, size_t i);
/* A new row at the end, cleared. */
void *model_row_push(struct model *m, enum model_noun noun);
void model_row_pop(struct model *m, enum model_noun noun);
/* Its line in the file. */
void model_row_place(enum model_noun noun, void *row, unsigned line);
/* Whether a row states the field; what equals its fallback does not. */
bool model_row_states(const struct model_field *f, const void *row);

/* Fields of a row, by their kinds. */
double model_get_num(const struct model_field *f, const void *row);
unsigned model_get_uint(const struct model_field *f, const void *row); /* UINT, ENUM, HALF, BOOL */
const char *model_get_text(const struct model_field *f, const void *row);
size_t model_get_ref(const struct model_field *f, const void *row);
struct supply model_get_supply(const struct model_field *f, const void *row);
struct curve model_get_curve(const struct model_field *f, const void *row);
bool model_get_half(const struct model_field *f, const void *row);
double model_get_second(const struct model_field *f, const void *row); /* of a pair */

extern const char *const MODEL_SUPPLIES[]; /* "-", "panel", "ups" ... */
/* The noun of what supplies, NOUN_N for SUPPLY_NONE. */
enum model_noun model_supply_noun(enum supply_kind kind);
