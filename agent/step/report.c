#include "agent/step/report.h"

#include <stdio.h>

#define CUT_MARK "... the diff is longer and was cut here\n"

__attribute__((format(printf, 3, 0))) static void set_state(
	struct step_report *r, enum step_state state, const char *fmt, va_list ap)
{
	if (r->state == state || r->state == STEP_DIFFERS)
		return;
	r->state = state;
	vsnprintf(r->why, sizeof r->why, fmt, ap);
}

void report_differs(struct step_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_state(r, STEP_DIFFERS, fmt, ap);
	va_end(ap);
}

void report_unknown(struct step_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_state(r, STEP_UNKNOWN, fmt, ap);
	va_end(ap);
}

void report_add(struct step_report *r, struct str text)
{
	struct str fits;

	if (str_ends(buf_str(&r->diff), CUT_MARK))
		return;
	fits = str_first(text, REPORT_DIFF_MAX - r->diff.n);
	if (fits.n == text.n) {
		buf_add_str(&r->diff, text);
		return;
	}
	while (fits.n > 0 && fits.p[fits.n - 1] != '\n')
		fits.n--;
	buf_add_str(&r->diff, fits);
	buf_add_text(&r->diff, CUT_MARK);
}

void report_addf(struct step_report *r, const char *fmt, ...)
{
	AUTO_BUF line;
	va_list ap;

	buf_init(&line, REPORT_DIFF_MAX);
	va_start(ap, fmt);
	buf_addv(&line, fmt, ap);
	va_end(ap);
	report_add(r, buf_str(&line));
}
