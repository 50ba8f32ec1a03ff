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
} UNITS[] = {
	{"%", {"%", "%"}, 1},
	{"A", {"A", "А"}, 2},
	{"BTU/h", {"BTU/h", "BTU/ч"}, 0},
	{"C", {"°C", "°C"}, 1},
	{"CFM", {"CFM", "фут³/мин"}, 0},
	{"F", {"°F", "°F"}, 1},
	{"GPU", {"GPU", "GPU"}, 0},
	{"GPUs", {"GPUs", "GPU"}, 0},
	{"K", {"K", "К"}, 1},
	{"PSU", {"PSU", "БП"}, 0},
	{"PSUs", {"PSUs", "БП"}, 0},
	{"U", {"U", "U"}, 0},
	{"V", {"V", "В"}, 1},
	{"VA", {"VA", "В·А"}, 0},
	{"W", {"W", "Вт"}, 0},
	{"h", {"h", "ч"}, 1},
	{"kA", {"kA", "кА"}, 2},
	{"kN", {"kN", "кН"}, 2},
	{"kPa", {"kPa", "кПа"}, 2},
	{"kVA", {"kVA", "кВ·А"}, 2},
	{"kW", {"kW", "кВт"}, 2},
	{"kg", {"kg", "кг"}, 1},
	{"kg/m2", {"kg/m²", "кг/м²"}, 0},
	{"kg/m3", {"kg/m³", "кг/м³"}, 3},
	{"l/min", {"l/min", "л/мин"}, 1},
	{"m", {"m", "м"}, 1},
	{"m/s2", {"m/s²", "м/с²"}, 2},
	{"m2", {"m²", "м²"}, 2},
	{"m3/s", {"m³/s", "м³/с"}, 3},
	{"min", {"min", "мин"}, 1},
	{"mm", {"mm", "мм"}, 0},
	{"ms", {"ms", "мс"}, 0},
	{"s", {"s", "с"}, 0},
	{"t", {"t", "т"}, 2},
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

void number_add_unit(struct buf *out, enum text_lang lang, double v, const char *unit)
{
	const char *given = unit ? unit : "";
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
		{">=", "≥"}, {" - ", " " MINUS " "}, {"m2", "m²"}};

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
	buf_add_text(out, lang == LANG_RU ? "«" : "‘");
	buf_add_str(out, str_first(str_from(*s, 1), end));
	buf_add_text(out, lang == LANG_RU ? "»" : "’");
	*s = str_from(*s, end + 2);
	return true;
}

void number_add_arithmetic(struct buf *out, enum text_lang lang, const char *text)
{
	struct str s = str_of(text);
	char before = ' ';

	if (lang >= LANG_N)
		lang = LANG_EN;
	while (s.n) {
		const char c = s.p[0];

		if (c == '\'' && !is_word(before) && take_quoted(out, lang, &s)) {
			before = '\'';
		} else if (isdigit((unsigned char)c) && !is_word(before)) {
			take_number(out, lang, &s);
			before = '0';
		} else if (take_sign(out, &s)) {
			before = ' ';
		} else {
			buf_add_char(out, c);
			before = c;
			s = str_from(s, 1);
		}
	}
}
