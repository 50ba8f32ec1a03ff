/*
 * text - the one place of words that reports show, by key, in each language.
 *
 * words.def has the keys and both languages side by side, rules.def those of the
 * audit's rules. Some texts hold "{}": text_add puts a value there. Heads of
 * terminal tables are short and in capitals.
 */
#pragma once

#include "inventory/audit/audit.h"

struct buf;

enum text_lang {
	LANG_EN,
	LANG_RU,
	LANG_N
};

enum text_key {
#define WORD(key, english, russian) TEXT_##key,
#include "inventory/report/words.def"
#undef WORD
	TEXT_N
};

/* "en", "ru", "ru_RU.UTF-8" ...; LANG_N for a word that is none. */
enum text_lang text_lang_find(const char *word);
/* By LC_ALL, LC_MESSAGES, LANG, the first that is set; English for what is unknown. */
enum text_lang text_lang_env(void);
const char *text_lang_name(enum text_lang lang); /* "en" */

const char *text_get(enum text_lang lang, enum text_key key); /* "?" for a key that is none */
/* Appends it with value in the place of "{}". */
void text_add(struct buf *out, enum text_lang lang, enum text_key key, const char *value);

/* The same for several values, one for each "{}". */
void text_fill(struct buf *out, enum text_lang lang, enum text_key key, const char *const *values,
	size_t n);
#define TEXT_FILL(out, lang, key, ...)                                \
	text_fill(out, lang, key, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* "2 racks", "5 стоек": the number and the word in the form that goes with it. */
enum text_count {
	COUNT_RACKS,
	COUNT_DEVICES,
	COUNT_FINDINGS,
	COUNT_UNITS,
	COUNT_PSUS,
	COUNT_NODES,
	COUNT_ON_NODES, /* on 2 nodes, на 2 узлах */
	COUNT_N
};
void text_add_count(struct buf *out, enum text_lang lang, enum text_count noun, unsigned long n);

/* A rule's title, what it asks (a sentence), what usually cures it. */
const char *text_rule_title(enum text_lang lang, enum audit_rule rule);
const char *text_rule_asks(enum text_lang lang, enum audit_rule rule);
const char *text_rule_cure(enum text_lang lang, enum audit_rule rule);
const char *text_verdict(enum text_lang lang, enum audit_verdict v);
const char *text_verdict_means(enum text_lang lang, enum audit_verdict v);
const char *text_basis(enum text_lang lang, enum power_basis b);
const char *text_origin(enum text_lang lang, enum fact_origin o);
/* A node's or run's state, a mode, a result as lists show it; other words stay. */
const char *text_state(enum text_lang lang, const char *word);
/* The same of a rollout, whose word is feminine in Russian. */
const char *text_rollout_state(enum text_lang lang, const char *word);
const char *text_confidence(enum text_lang lang, const char *word); /* "high" ... */

/* "feed A1", "ввод A1"; the site for NOUN_N. Names as they are, not yet escaped. */
void text_add_subject(
	struct buf *out, enum text_lang lang, const struct model *m, struct audit_subject what);
/* The name alone: "A1", "pdu-a/3". */
void text_add_name(struct buf *out, const struct model *m, struct audit_subject what);
/* "normal operation", "loss of feed A1", "потеря ввода A1"; all that was lost at once, when asked.
 */
void text_add_loss(
	struct buf *out, enum text_lang lang, const struct audit *a, struct audit_subject lost);
