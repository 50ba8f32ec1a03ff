/* period - parsed by hand: a number, a letter; two times of a day. */
#include "inventory/model/period.h"

#include "agent/base/str.h"

#include <stdio.h>

#define DAY  86400
#define HOUR 3600

static int64_t unit_of(char letter)
{
	switch (letter) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return HOUR;
	case 'd':
		return DAY;
	default:
		return 0;
	}
}

bool period_parse(const char *text, int64_t *seconds)
{
	const struct str s = str_of(text);
	const int64_t unit = s.n > 1 ? unit_of(s.p[s.n - 1]) : 0;
	uint64_t n;

	if (unit == 0 || !str_to_u64(str_first(s, s.n - 1), &n) || n == 0 ||
		n > (uint64_t)(PERIOD_MAX / unit))
		return false;
	*seconds = (int64_t)n * unit;
	return true;
}

void period_format(int64_t seconds, char out[static 24])
{
	static const char letters[] = "dhms";

	for (const char *l = letters; *l; l++)
		if (seconds % unit_of(*l) == 0) {
			snprintf(out, 24, "%lld%c", (long long)(seconds / unit_of(*l)), *l);
			return;
		}
}

/* 05:30 as minutes. */
static bool read_time(struct str s, unsigned *out)
{
	uint64_t hour, minute;

	if (s.n != 5 || s.p[2] != ':' || !str_to_u64(str_first(s, 2), &hour) ||
		!str_to_u64(str_from(s, 3), &minute) || hour > 23 || minute > 59)
		return false;
	*out = (unsigned)(hour * 60 + minute);
	return true;
}

bool window_parse(const char *text, struct window *out)
{
	struct str rest = str_of(text), from;
	struct window w = {.stated = true};

	if (!str_next(&rest, '-', &from) || !read_time(from, &w.from) || !read_time(rest, &w.to) ||
		w.from == w.to)
		return false;
	*out = w;
	return true;
}

int64_t window_wait(const struct window *w, int64_t now, int64_t offset)
{
	const int64_t local = ((now + offset) % DAY + DAY) % DAY;
	const int64_t from = (int64_t)w->from * 60, to = (int64_t)w->to * 60;
	const bool inside = from < to ? local >= from && local < to : local >= from || local < to;

	if (!w->stated || inside)
		return 0;
	return (from - local + DAY) % DAY;
}
