/*
 * report - how a check says what it found.
 *
 * What differs for certain outweighs what is unknown, and the first reason given stays. The diff is
 * cut at REPORT_DIFF_MAX bytes, at the end of a line, and the cut is marked once.
 */
#pragma once

#include "agent/step/step.h"

#define REPORT_DIFF_MAX (64u << 10)
#define REPORT_MARK_MAX 64u

void report_differs(struct step_report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void report_unknown(struct step_report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds lines to the diff; text ends in a newline. */
void report_add(struct step_report *r, struct str text);
void report_addf(struct step_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
