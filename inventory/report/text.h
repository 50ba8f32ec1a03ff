/*
 * text - the one place of words that reports show, by key, so that languages can be added.
 *
 * Some texts hold "{}": text_add puts a value there. Heads are short and in capitals.
 */
#pragma once

struct buf;

enum text_lang {
	LANG_EN,
	LANG_N
};

enum text_key {
	TEXT_RACK,
	TEXT_UNITS,
	TEXT_GAP,
	TEXT_DEVICES,
	TEXT_KW_MAX,
	TEXT_KG,
	TEXT_FEEDS,
	TEXT_POWER,
	TEXT_REMARK,
	TEXT_NODE,
	TEXT_ADDRESS,
	TEXT_ROLE,
	TEXT_STATE,
	TEXT_OS,
	TEXT_AGENT,
	TEXT_SEEN,
	TEXT_RUN,
	TEXT_MODE,
	TEXT_RECIPES,
	TEXT_NODES,
	TEXT_STARTED,
	TEXT_TOOK,
	TEXT_RESULT,
	TEXT_NO_RACKS,
	TEXT_NO_NODES,
	TEXT_NO_RUNS,
	TEXT_NOTE_FEEDS,
	TEXT_NOTE_FACTOR, /* {} the assumed power factor */
	TEXT_AGO,         /* {} a span of time */
	TEXT_NEVER,
	TEXT_TOO_HEAVY,
	TEXT_PDU,       /* {} a PDU and its share */
	TEXT_NO_CORD,   /* {} how many devices */
	TEXT_DOWN,      /* {} the same */
	TEXT_DEGRADED,  /* {} the same */
	TEXT_NO_WATTS,  /* {} the same */
	TEXT_NO_WEIGHT, /* {} the same */
	TEXT_N
};

/* The text of a key; English where a language lacks it. */
const char *text_get(enum text_lang lang, enum text_key key);
/* Appends it with value in the place of "{}". */
void text_add(struct buf *out, enum text_lang lang, enum text_key key, const char *value);
