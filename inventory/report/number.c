/* number - one table of units; arithmetic is read token by token. */
#include "inventory/report/number.h"

#include "agent/base/buf.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPACE      "\u202f" /* narrow, no-break */
#define MINUS      "\u2212"
#define GROUP_FROM 5 /* digits */

static const struct unit {
	const char *name, *shown[LANG_N];
	int decimals;
	bool alone; /* is a unit without a number before it too: no other word */
} UNITS[] = {
	{"%", {"%", "%"}, 1, false},
	{"A", {"A", "А"}, 2, false},
	{"BTU/h", {"BTU/h", "BTU/ч"}, 0, true},
	{"C", {"°C", "°C"}, 1, false},
	{"CFM", {"CFM", "фут³/мин"}, 0, true},
	{"F", {"°F", "°F"}, 1, false},
	{"GPU", {"GPU", "GPU"}, 0, false},
	{"GPUs", {"GPUs", "GPU"}, 0, false},
	{"K", {"K", "К"}, 1, false},
	{"PSU", {"PSU", "БП"}, 0, false},
	{"PSUs", {"PSUs", "БП"}, 0, false},
	{"U", {"U", "U"}, 0, false},
	{"V", {"V", "В"}, 1, false},
	{"VA", {"VA", "В·А"}, 0, true},
	{"W", {"W", "Вт"}, 0, false},
	{"cord", {"cord", "шн."}, 0, false},
	{"cords", {"cords", "шн."}, 0, false},
	{"h", {"h", "ч"}, 1, false},
	{"kA", {"kA", "кА"}, 2, false},
	{"kN", {"kN", "кН"}, 2, true},
	{"kPa", {"kPa", "кПа"}, 2, true},
	{"kVA", {"kVA", "кВ·А"}, 2, true},
	{"kW", {"kW", "кВт"}, 2, true},
	{"kg", {"kg", "кг"}, 1, true},
	{"kg/m2", {"kg/m²", "кг/м²"}, 0, false},
	{"kg/m3", {"kg/m³", "кг/м³"}, 3, false},
	{"l/min", {"l/min", "л/мин"}, 1, true},
	{"m", {"m", "м"}, 1, false},
	{"m/s2", {"m/s²", "м/с²"}, 2, false},
	{"m2", {"m²", "м²"}, 2, false},
	{"m3/s", {"m³/s", "м³/с"}, 3, false},
	{"min", {"min", "мин"}, 1, false},
	{"mm", {"mm", "мм"}, 0, false},
	{"ms", {"ms", "мс"}, 0, false},
	{"s", {"s", "с"}, 0, false},
	{"t", {"t", "т"}, 2, false},
};

static const struct unit *find_unit(struct str word)
{
	for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
		if (str_is(word, UNITS[i].name))
			return &UNITS[i];
	return NULL;
}

const char *number_unit(enum text_lang lang, const char *unit)
{
	const struct unit *u = find_unit(str_of(unit));

	return u && lang < LANG_N ? u->shown[lang] : unit;
}

int number_decimals(const char *unit)
{
	const struct unit *u = find_unit(str_of(unit));

	return u ? u->decimals : 0;
}

/* Digits with the language's point, and thousands apart. */
static void add_digits(struct buf *out, enum text_lang lang, struct str digits)
{
	const size_t point = str_find(digits, '.');
	const size_t whole = point == STR_NONE ? digits.n : point;

	for (size_t i = 0; i < digits.n; i++) {
		if (i && i < whole && whole >= GROUP_FROM && (whole - i) % 3 == 0)
			buf_add_text(out, SPACE);
		buf_add_char(out, digits.p[i] == '.' && lang == LANG_RU ? ',' : digits.p[i]);
	}
}

void number_add(struct buf *out, enum text_lang lang, double v, int decimals)
{
	char text[64];

	if (!isfinite(v)) {
		buf_add_text(out, "\u2013");
		return;
	}
	snprintf(text, sizeof text, "%.*f", decimals, fabs(v));
	if (v < 0 && strspn(text, "0.") < strlen(text))
		buf_add_text(out, MINUS);
	add_digits(out, lang, str_of(text));
}

/* Units that are words have a plural. */
static const char *unit_of(double v, const char *unit)
{
	if (v == 1)
		return unit;
	return strcmp(unit, "PSU") == 0 ? "PSUs" : strcmp(unit, "cord") == 0 ? "cords" : unit;
}

void number_add_unit(struct buf *out, enum text_lang lang, double v, const char *unit)
{
	const char *given = unit_of(v, unit ? unit : "");
	const bool kilo = strcmp(given, "W") == 0 && fabs(v) >= 1000;

	if (kilo) {
		v /= 1000;
		given = "kW";
	}
	number_add(out, lang, v, number_decimals(given));
	if (*given && isfinite(v))
		buf_addf(out, SPACE "%s", number_unit(lang, given));
}

void number_add_share(struct buf *out, enum text_lang lang, double share)
{
	number_add(out, lang, 100 * share, 0);
	if (isfinite(share))
		buf_add_text(out, SPACE "%");
}

/* --- arithmetic --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t number_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	if (n && n + 1 < s.n && s.p[n] == '.' && isdigit((unsigned char)s.p[n + 1])) {
		n++;
		while (n < s.n && isdigit((unsigned char)s.p[n]))
			n++;
	}
	return n;
}

/* The unit after " " at the front, NULL when there is none; *n the bytes it takes. */
static const struct unit *unit_ahead(struct str s, size_t *n)
{
	size_t end = 1;

	if (s.n < 2 || s.p[0] != ' ')
		return NULL;
	while (end < s.n && (is_word(s.p[end]) || s.p[end] == '/' || s.p[end] == '%'))
		end++;
	*n = end;
	return find_unit((struct str){s.p + 1, end - 1});
}

/* A number and its unit; what is left of s is behind it. */
static void take_number(struct buf *out, enum text_lang lang, struct str *s)
{
	const size_t n = number_length(*s);
	const struct unit *u;
	size_t taken = 0;

	add_digits(out, lang, str_first(*s, n));
	*s = str_from(*s, n);
	u = unit_ahead(*s, &taken);
	if (u) {
		buf_addf(out, SPACE "%s", u->shown[lang]);
		*s = str_from(*s, taken);
	}
}

static bool take_sign(struct buf *out, struct str *s)
{
	static const struct {
		const char *plain, *shown;
	} signs[] = {{" x ", "\u00a0×\u00a0"}, {"sqrt(3)", "√3"}, {"sqrt(", "√("}, {"<=", "≤"},
		{">=", "≥"}, {" - ", " " MINUS " "}};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (str_starts(*s, signs[i].plain)) {
			buf_add_text(out, signs[i].shown);
			*s = str_from(*s, strlen(signs[i].plain));
			return true;
		}
	}
	return false;
}

/* 'name' with the language's quotes; false when the quote is an apostrophe. */
static bool take_quoted(struct buf *out, enum text_lang lang, struct str *s)
{
	const size_t end = str_find(str_from(*s, 1), '\'');

	if (end == STR_NONE)
		return false;
	buf_add_text(out, lang == LANG_RU ? "«" : "'");
	buf_add_str(out, str_first(str_from(*s, 1), end));
	buf_add_text(out, lang == LANG_RU ? "»" : "'");
	*s = str_from(*s, end + 2);
	return true;
}

/* A name such as "gpu1.5-a" and "rack's" stay; a unit alone, in a formula, is turned. */
static void take_word(struct buf *out, enum text_lang lang, struct str *s)
{
	const struct unit *u;
	size_t n = 0;

	while (n < s->n && (is_word(s->p[n]) || (n + 1 < s->n && strchr("./-'", s->p[n]) &&
							is_word(s->p[n + 1]))))
		n++;
	u = find_unit(str_first(*s, n));
	if (u && u->alone)
		buf_add_text(out, u->shown[lang]);
	else
		buf_add_str(out, str_first(*s, n));
	*s = str_from(*s, n);
}

void number_add_arithmetic(struct buf *out, enum text_lang lang, const char *text)
{
	struct str s = str_of(text);

	if (lang >= LANG_N)
		lang = LANG_EN;
	while (s.n) {
		const char c = s.p[0];

		if (isdigit((unsigned char)c)) {
			take_number(out, lang, &s);
		} else if (!take_sign(out, &s) && !(c == '\'' && take_quoted(out, lang, &s))) {
			if (is_word(c)) {
				take_word(out, lang, &s);
				continue;
			}
			buf_add_char(out, c);
			s = str_from(s, 1);
		}
	}
}
