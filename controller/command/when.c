/* when - words first, then a date, then the time behind it. */
#include "controller/command/when.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/str.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

static const char *const WORDS[] = {"now", "today", "yesterday", NULL};

/* Digits of a fixed number; moves on. */
static bool take_number(const char **p, unsigned digits, int *out)
{
	int v = 0;

	for (unsigned i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)**p))
			return false;
		v = 10 * v + (*(*p)++ - '0');
	}
	*out = v;
	return true;
}

static bool take(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

static bool take_date(const char **p, struct tm *tm)
{
	if (!take_number(p, 4, &tm->tm_year) || !take(p, '-') || !take_number(p, 2, &tm->tm_mon) ||
		!take(p, '-') || !take_number(p, 2, &tm->tm_mday))
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon -= 1;
	return !isdigit((unsigned char)**p);
}

static bool take_time(const char **p, struct tm *tm)
{
	if (!take_number(p, 2, &tm->tm_hour) || !take(p, ':') || !take_number(p, 2, &tm->tm_min))
		return false;
	return !take(p, ':') || take_number(p, 2, &tm->tm_sec);
}

/* "", "Z" or "+03:00"; local is left true by the first. */
static bool take_zone(const char **p, bool *local, long *offset)
{
	int hours = 0, minutes = 0;
	const char sign = **p;

	*local = sign == '\0';
	if (take(p, 'Z') || *local)
		return **p == '\0';
	if (sign != '+' && sign != '-')
		return false;
	(*p)++;
	if (!take_number(p, 2, &hours) || !take(p, ':') || !take_number(p, 2, &minutes) ||
		**p != '\0' || hours > 14 || minutes > 59)
		return false;
	*offset = (sign == '-' ? -1 : 1) * (hours * 3600L + minutes * 60L);
	return true;
}

/* Whether there is such a day and hour: the calendar gives back what it was given. */
static bool is_real(const struct tm *tm)
{
	struct tm copy = *tm;

	return timegm(&copy) != (time_t)-1 && copy.tm_mon == tm->tm_mon &&
	       copy.tm_mday == tm->tm_mday && copy.tm_hour == tm->tm_hour &&
	       copy.tm_min == tm->tm_min && copy.tm_sec == tm->tm_sec && tm->tm_year >= 70 &&
	       tm->tm_year < 300;
}

static int not_a_moment(const char *text, const char *why, struct err *err)
{
	err_set(err, E_SYNTAX, "'%.60s' is no date%s", text, why);
	return err_hint(
		err, "such as 2026-11-01, 2026-11-01T10:00, 2026-11-01T10:00Z, yesterday or now");
}

/* The last second of a local day. */
static int64_t end_of_day(struct tm *tm)
{
	tm->tm_hour = 23;
	tm->tm_min = tm->tm_sec = 59;
	tm->tm_isdst = -1;
	return mktime(tm) * CLOCK_SEC + CLOCK_SEC - 1;
}

static int64_t end_of_yesterday(int64_t now)
{
	const time_t seconds = now / CLOCK_SEC;
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return now;
	tm.tm_mday--;
	return end_of_day(&tm);
}

bool when_looks_so(const char *text)
{
	struct tm tm = {0};
	const char *p = text;

	for (const char *const *w = WORDS; *w; w++)
		if (strcmp(*w, text) == 0)
			return true;
	return take_date(&p, &tm) && (*p == '\0' || *p == 'T' || *p == ' ');
}

int when_parse(const char *text, int64_t now, int64_t *out, struct err *err)
{
	struct tm tm = {.tm_isdst = -1};
	const char *p = text;
	bool local = true;
	long offset = 0;

	if (strcmp(text, "now") == 0 || strcmp(text, "today") == 0) {
		*out = now;
		return 0;
	}
	if (strcmp(text, "yesterday") == 0) {
		*out = end_of_yesterday(now);
		return 0;
	}
	if (!take_date(&p, &tm))
		return not_a_moment(text, "", err);
	if (!is_real(&tm))
		return not_a_moment(text, ": the calendar has no such day", err);
	if (*p == '\0') {
		*out = end_of_day(&tm);
		return 0;
	}
	if (!(take(&p, 'T') || take(&p, ' ')) || !take_time(&p, &tm) ||
		!take_zone(&p, &local, &offset))
		return not_a_moment(text, "", err);
	if (!is_real(&tm))
		return not_a_moment(text, ": the clock has no such time", err);
	*out = (local ? mktime(&tm) : timegm(&tm) - offset) * CLOCK_SEC + CLOCK_SEC - 1;
	return 0;
}
