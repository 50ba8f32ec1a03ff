/*
 * phrase - the sentences of the audit in another language.
 *
 * The audit writes plain English with figures. phrases.def has each clause with
 * {} for what varies; clauses are divided by "; ". What is not in the book stays
 * English, its figures and units do not.
 */
#pragma once

#include "inventory/report/number.h"

void phrase_add(struct buf *out, enum text_lang lang, const char *text);
/* The same for where a rule is from: names of standards keep their digits. */
void phrase_add_source(struct buf *out, enum text_lang lang, const char *text);
/* Whether every clause of it is in the book: for tests. */
bool phrase_known(const char *text);
