/* redact - how: a list of forms, longest first, so that the whole is marked before a part of it. */
#include "agent/wire/redact.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FORM_MAX   (1u << 20)
#define LINE_MIN   8 /* a line of a longer value */
#define TEXT_MAX   (4u << 20)
#define BASE64_BY  3 /* bytes in a group */
#define BASE64_MIN 8 /* shorter ones would hit words that are none */

struct form {
	char *p;
	size_t n;
};

struct redact {
	struct vec(struct form) forms;
};

static void add_form(struct redact *r, struct str s)
{
	if (s.n < REDACT_MIN || s.n > FORM_MAX)
		return;
	for (size_t i = 0; i < r->forms.n; i++)
		if (r->forms.at[i].n == s.n && memcmp(r->forms.at[i].p, s.p, s.n) == 0)
			return;
	*vec_push(&r->forms) = (struct form){xstrndup(s.p, s.n), s.n};
}

static void wipe(struct buf *b)
{
	if (b->p)
		explicit_bzero(b->p, b->room);
	buf_done(b);
}

/* As it stands inside the quotes of a JSON text. */
static void add_json(struct redact *r, struct str s)
{
	AUTO_JSON v = json_stringn(s.p, s.n);
	struct buf text;

	buf_init(&text, FORM_MAX);
	if (v)
		json_write(v, &text);
	if (buf_ok(&text) && text.n > 2)
		add_form(r, str_first(str_from(buf_str(&text), 1), text.n - 2));
	wipe(&text);
}

/* 'it'\''s', without the outer quotes. */
static void add_shell(struct redact *r, struct str s)
{
	struct buf text;

	if (str_find(s, '\'') == STR_NONE)
		return;
	buf_init(&text, FORM_MAX);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_add_text(&text, "'\\''");
		else
			buf_add_char(&text, s.p[i]);
	}
	if (buf_ok(&text))
		add_form(r, buf_str(&text));
	wipe(&text);
}

/* tail: also what does not fill a group, padded; it is so only at the end of a text. */
static void add_base64_of(struct redact *r, struct str s, bool tail)
{
	static const char DIGITS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t end = tail ? s.n : s.n - s.n % BASE64_BY;
	struct buf text;

	buf_init(&text, FORM_MAX);
	for (size_t i = 0; i < end; i += BASE64_BY) {
		const size_t n = end - i < BASE64_BY ? end - i : BASE64_BY;
		unsigned char b[BASE64_BY] = {0};
		unsigned v;

		memcpy(b, s.p + i, n);
		v = (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];
		for (size_t k = 0; k < 4; k++)
			buf_add_char(&text, k <= n ? DIGITS[v >> (18 - 6 * k) & 63] : '=');
	}
	if (buf_ok(&text) && text.n >= BASE64_MIN)
		add_form(r, buf_str(&text));
	wipe(&text);
}

/* Whole groups, from each of the three places at which the value may begin in a longer text. */
static void add_base64(struct redact *r, struct str s)
{
	add_base64_of(r, s, true);
	for (size_t skip = 0; skip < BASE64_BY && skip < s.n; skip++)
		add_base64_of(r, str_from(s, skip), false);
}

/* As od, xxd and urls write bytes: all of them. */
static void add_hex(struct redact *r, struct str s, const char *digits, const char *before)
{
	struct buf text;

	buf_init(&text, FORM_MAX);
	for (size_t i = 0; i < s.n; i++) {
		const unsigned c = (unsigned char)s.p[i];

		buf_add_text(&text, before);
		buf_add_char(&text, digits[c >> 4]);
		buf_add_char(&text, digits[c & 15]);
	}
	if (buf_ok(&text))
		add_form(r, str_from(buf_str(&text), strlen(before)));
	wipe(&text);
}

/* What is no letter, digit or one of -._~ as %XX, as in a url. */
static void add_url(struct redact *r, struct str s)
{
	static const char DIGITS[] = "0123456789ABCDEF";
	struct buf text;

	buf_init(&text, FORM_MAX);
	for (size_t i = 0; i < s.n; i++) {
		const unsigned c = (unsigned char)s.p[i];

		if ((c < 128 && isalnum((int)c)) || (c && strchr("-._~", (int)c))) {
			buf_add_char(&text, s.p[i]);
			continue;
		}
		buf_add_char(&text, '%');
		buf_add_char(&text, DIGITS[c >> 4]);
		buf_add_char(&text, DIGITS[c & 15]);
	}
	if (buf_ok(&text))
		add_form(r, buf_str(&text));
	wipe(&text);
}

static void add_lines(struct redact *r, struct str s)
{
	struct str rest = s, line;

	if (str_find(s, '\n') == STR_NONE)
		return;
	while (str_line(&rest, &line))
		if (line.n >= LINE_MIN)
			add_form(r, line);
}

static int by_length(const void *a, const void *b)
{
	const struct form *fa = a, *fb = b;

	return (fa->n < fb->n) - (fa->n > fb->n);
}

struct redact *redact_new(json_t *values)
{
	struct redact *r = xcalloc(1, sizeof *r);
	void *at = json_object_iter(values);

	for (; at; at = json_object_iter_next(values, at)) {
		const json_t *v = json_object_iter_value(at);
		const struct str s = {json_string_value(v), json_string_length(v)};
		const struct str bare = str_trim(s);

		if (bare.n < REDACT_MIN)
			continue;
		add_form(r, bare);
		add_json(r, bare);
		add_shell(r, bare);
		add_base64(r, bare);
		add_hex(r, bare, "0123456789abcdef", "");
		add_hex(r, bare, "0123456789abcdef", " "); /* od -tx1 */
		add_hex(r, bare, "0123456789ABCDEF", "");
		add_url(r, bare);
		add_lines(r, bare);
	}
	vec_sort(&r->forms, by_length);
	return r;
}

void redact_free(struct redact *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->forms.n; i++) {
		explicit_bzero(r->forms.at[i].p, r->forms.at[i].n);
		free(r->forms.at[i].p);
	}
	vec_done(&r->forms);
	free(r);
}

bool redact_holds(const struct redact *r, struct str text)
{
	for (size_t i = 0; r && text.n > 0 && i < r->forms.n; i++)
		if (memmem(text.p, text.n, r->forms.at[i].p, r->forms.at[i].n))
			return true;
	return false;
}

static struct str text_of(const json_t *v)
{
	return (struct str){json_string_value(v), json_string_length(v)};
}

bool redact_json_holds(const struct redact *r, json_t *v)
{
	const char *key;
	json_t *one;
	size_t i;

	if (!r || r->forms.n == 0)
		return false;
	if (json_is_string(v))
		return redact_holds(r, text_of(v));
	json_array_foreach(v, i, one)
	{
		if (redact_json_holds(r, one))
			return true;
	}
	json_object_foreach(v, key, one)
	{
		if (redact_holds(r, str_of(key)) || redact_json_holds(r, one))
			return true;
	}
	return false;
}

/* The form that stands first in text, the longest of them; NULL when there is none. */
static const struct form *find_first(const struct redact *r, struct str text, size_t *at)
{
	const struct form *best = NULL;

	for (size_t i = 0; i < r->forms.n; i++) {
		const struct form *f = &r->forms.at[i];
		const char *hit = memmem(text.p, text.n, f->p, f->n);

		if (!hit || (best && (size_t)(hit - text.p) >= *at))
			continue;
		best = f;
		*at = (size_t)(hit - text.p);
	}
	return best;
}

void redact_text(const struct redact *r, struct str text, struct buf *out)
{
	const struct form *f;
	size_t at = 0;

	while (r && text.n > 0 && (f = find_first(r, text, &at))) {
		buf_add_str(out, str_first(text, at));
		buf_add_text(out, REDACT_MARK);
		text = str_from(text, at + f->n);
	}
	buf_add_str(out, text);
}

void redact_line(const struct redact *r, char *text, size_t room)
{
	AUTO_BUF out = {0};

	if (!redact_holds(r, str_of(text)))
		return;
	buf_init(&out, TEXT_MAX);
	redact_text(r, str_of(text), &out);

	const struct str fits = str_first_utf8(buf_str(&out), room - 1);

	memcpy(text, fits.p, fits.n);
	text[fits.n] = '\0';
}

static json_t *marked(const struct redact *r, const json_t *v)
{
	AUTO_BUF out;

	buf_init(&out, TEXT_MAX);
	redact_text(r, text_of(v), &out);
	return json_stringn(buf_text(&out), out.n);
}

void redact_json(const struct redact *r, json_t *v)
{
	const char *key;
	json_t *one;
	size_t i;

	if (!r || r->forms.n == 0)
		return;
	json_array_foreach(v, i, one)
	{
		if (!json_is_string(one))
			redact_json(r, one);
		else if (redact_holds(r, text_of(one)))
			json_array_set_new(v, i, marked(r, one));
	}
	json_object_foreach(v, key, one)
	{
		if (!json_is_string(one))
			redact_json(r, one);
		else if (redact_holds(r, text_of(one)))
			json_object_set_new(v, key, marked(r, one));
	}
}

json_t *redact_json_nulls(const struct redact *r, json_t *v)
{
	json_t *copy, *one;
	const char *key;
	size_t i;

	if (!redact_json_holds(r, v))
		return json_deep_copy(v);
	if (json_is_array(v)) {
		copy = json_array();
		json_array_foreach(v, i, one)
			json_array_append_new(copy, redact_json_nulls(r, one));
		return copy;
	}
	if (!json_is_object(v))
		return json_null();
	copy = json_object();
	json_object_foreach(v, key, one) json_object_set_new(
		copy, redact_holds(r, str_of(key)) ? REDACT_MARK : key, redact_json_nulls(r, one));
	return copy;
}
