#include "agent/step/sources.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static struct str skip_blanks(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_from(s, 1);
	return s;
}

static bool next_word(struct str *s, struct str *word)
{
	size_t n = 0;

	*s = skip_blanks(*s);
	while (n < s->n && !isspace((unsigned char)s->p[n]))
		n++;
	*word = str_first(*s, n);
	*s = str_from(*s, n);
	while (s->n > 0 && isspace((unsigned char)s->p[0]))
		*s = str_from(*s, 1);
	return word->n > 0;
}

/* From one word to the end of another in the same text. */
static struct str span(struct str from, struct str to)
{
	return (struct str){from.p, (size_t)(to.p + to.n - from.p)};
}

/* --- one line --- */

static void set_option(struct source *s, struct str option)
{
	const size_t equal = str_find(option, '=');
	struct str key, value;

	if (equal == STR_NONE)
		return;
	key = str_first(option, equal);
	value = str_from(option, equal + 1);
	if (str_is(key, "signed-by"))
		s->signed_by = value;
	else if (str_is(key, "arch"))
		s->architectures = value;
}

/* "[a=b c=d]" with or without blanks inside; what follows stays in *rest. */
static bool read_options(struct source *s, struct str *rest)
{
	struct str inside, option;
	size_t end;

	*rest = skip_blanks(*rest);
	if (rest->n == 0 || rest->p[0] != '[')
		return true;
	end = str_find(*rest, ']');
	if (end == STR_NONE)
		return false;
	inside = str_first(str_from(*rest, 1), end - 1);
	*rest = str_from(*rest, end + 1);
	while (next_word(&inside, &option))
		set_option(s, option);
	return true;
}

static bool read_line(struct str line, struct source *s)
{
	struct str word, last;

	if (!next_word(&line, &s->types) ||
		(!str_is(s->types, "deb") && !str_is(s->types, "deb-src")))
		return false;
	line = str_first(line, str_find(line, '#'));
	if (!read_options(s, &line) || !next_word(&line, &s->uris) || !next_word(&line, &s->suites))
		return false;
	if (!next_word(&line, &word))
		return true;
	last = word;
	s->components = word;
	while (next_word(&line, &word))
		last = word;
	s->components = span(s->components, last);
	return true;
}

static void read_list(struct str text, struct source_rows *out)
{
	struct str rest = text, line;

	while (rest.n > 0) {
		struct source s = {.start = text.n - rest.n, .enabled = true};

		if (!str_next(&rest, '\n', &line))
			break;
		s.end = text.n - rest.n;
		if (str_starts(line, SOURCES_OFF)) {
			line = str_from(line, strlen(SOURCES_OFF));
			if (!str_next(&line, ':', &s.off_by))
				continue;
			s.enabled = false;
		}
		if (read_line(line, &s))
			*vec_push(out) = s;
	}
}

/* --- deb822 --- */

struct field {
	struct str name, value;
};

static bool is_field(struct str name, const char *what)
{
	return name.n == strlen(what) && strncasecmp(name.p, what, name.n) == 0;
}

static bool is_no(struct str value)
{
	static const char *const NO[] = {"no", "false", "without", "off", "disable", "0"};

	for (size_t i = 0; i < sizeof NO / sizeof NO[0]; i++)
		if (is_field(value, NO[i]))
			return true;
	return false;
}

static void set_field(struct source *s, const struct field *f)
{
	const struct str value = str_trim(f->value);

	if (is_field(f->name, "Types"))
		s->types = value;
	else if (is_field(f->name, "URIs"))
		s->uris = value;
	else if (is_field(f->name, "Suites"))
		s->suites = value;
	else if (is_field(f->name, "Components"))
		s->components = value;
	else if (is_field(f->name, "Architectures"))
		s->architectures = value;
	else if (is_field(f->name, "Signed-By"))
		s->signed_by = value;
	else if (is_field(f->name, "Enabled"))
		s->enabled = !is_no(value);
}

/* One stanza's lines; a value goes on in lines that begin with a blank. */
static void read_stanza(struct str text, struct source *s)
{
	struct field f = {{NULL, 0}, {NULL, 0}};
	struct str line, mark;

	while (str_next(&text, '\n', &line)) {
		if (str_starts(line, SOURCES_OFF)) {
			mark = str_from(line, strlen(SOURCES_OFF));
			(void)str_next(&mark, ':', &s->off_by);
		}
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (line.p[0] == ' ' || line.p[0] == '\t') {
			if (f.value.p)
				f.value = span(f.value, line);
			continue;
		}
		if (f.name.n > 0)
			set_field(s, &f);
		f = (struct field){{NULL, 0}, {NULL, 0}};
		if (str_find(line, ':') == STR_NONE)
			continue;
		(void)str_next(&line, ':', &f.name);
		f.value = line;
	}
	if (f.name.n > 0)
		set_field(s, &f);
}

static bool is_blank(struct str line)
{
	return str_trim(line).n == 0;
}

static void end_stanza(struct str text, size_t start, size_t end, struct source_rows *out)
{
	struct source s = {.start = start, .end = end, .stanza = true, .enabled = true};

	if (start >= end)
		return;
	read_stanza(str_first(str_from(text, start), end - start), &s);
	if (s.types.n > 0 && s.uris.n > 0 && s.suites.n > 0)
		*vec_push(out) = s;
}

static void read_deb822(struct str text, struct source_rows *out)
{
	struct str rest = text, line;
	size_t start = 0;

	while (rest.n > 0) {
		const size_t here = text.n - rest.n;

		if (!str_next(&rest, '\n', &line))
			break;
		if (!is_blank(line))
			continue;
		end_stanza(text, start, here, out);
		start = text.n - rest.n;
	}
	end_stanza(text, start, text.n, out);
}

void sources_read(struct str text, const char *path, struct source_rows *out)
{
	if (str_ends(str_of(path), ".sources"))
		read_deb822(text, out);
	else
		read_list(text, out);
}

/* --- comparing --- */

void sources_normalize_uri(struct str uri, struct buf *out)
{
	const size_t scheme = str_find_str(uri, STR_LIT("://"));
	size_t host = 0;

	while (uri.n > 0 && uri.p[uri.n - 1] == '/')
		uri.n--;
	if (scheme != STR_NONE && scheme + 3 <= uri.n) {
		const size_t slash = str_find(str_from(uri, scheme + 3), '/');

		host = slash == STR_NONE ? uri.n : scheme + 3 + slash;
	}
	for (size_t i = 0; i < uri.n; i++)
		buf_add_char(out, i < host ? (char)tolower((unsigned char)uri.p[i]) : uri.p[i]);
}

bool sources_same_uri(struct str a, struct str b)
{
	AUTO_BUF x, y;

	buf_init(&x, 4096);
	buf_init(&y, 4096);
	sources_normalize_uri(a, &x);
	sources_normalize_uri(b, &y);
	return str_eq(buf_str(&x), buf_str(&y));
}

bool sources_same_suite(struct str a, struct str b)
{
	const struct str root = STR_LIT("/");

	return str_eq(str_is(a, "./") ? root : a, str_is(b, "./") ? root : b);
}

static bool has_word(struct str list, struct str wanted)
{
	struct str word;

	while (next_word(&list, &word))
		if (str_eq(word, wanted))
			return true;
	return false;
}

bool sources_has_words(struct str whole, struct str part)
{
	struct str word;

	while (next_word(&part, &word))
		if (!has_word(whole, word))
			return false;
	return true;
}

/* --- switching off --- */

/*
 * The stanza without Enabled, and with "Enabled: no" behind all else: in front, a line that goes on
 * would become part of it.
 */
static void stanza_off(struct str stanza, const char *repo, struct buf *out)
{
	struct str line, name, rest;

	buf_addf(out, SOURCES_OFF "%s:\n", repo);
	while (str_next(&stanza, '\n', &line)) {
		rest = line;
		if (str_next(&rest, ':', &name) && is_field(name, "Enabled"))
			continue;
		buf_add_str(out, line);
		buf_add_char(out, '\n');
	}
	buf_add_text(out, "Enabled: no\n");
}

void sources_switch_off(struct str text, const struct source *s, const char *repo, struct buf *out)
{
	const struct str entry = str_first(str_from(text, s->start), s->end - s->start);

	buf_add_str(out, str_first(text, s->start));
	if (s->stanza) {
		stanza_off(entry, repo, out);
	} else {
		buf_addf(out, SOURCES_OFF "%s: ", repo);
		buf_add_str(out, entry);
	}
	buf_add_str(out, str_from(text, s->end));
}
