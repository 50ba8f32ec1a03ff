/* phrase - patterns are tried in the book's order; a hole takes as little as it can. */
#include "inventory/report/phrase.h"

#include "agent/base/buf.h"

#include <string.h>

#define HOLES_MAX 12
#define DEPTH_MAX 3 /* clauses inside holes */

static const struct phrase {
	const char *english, *russian;
} PHRASES[] = {
#define PHRASE(english, russian) {english, russian},
#include "inventory/report/phrases.def"
#undef PHRASE
};
#define COUNT (sizeof PHRASES / sizeof *PHRASES)

struct match {
	struct str hole[HOLES_MAX];
	unsigned n;
};

static bool fits(struct str pattern, struct str text, struct match *m)
{
	const size_t at = str_find_str(pattern, STR_LIT("{}"));
	const struct str lead = str_first(pattern, at);

	if (text.n < lead.n || memcmp(text.p ? text.p : "", lead.p ? lead.p : "", lead.n) != 0)
		return false;
	if (at == STR_NONE)
		return text.n == lead.n;
	if (m->n == HOLES_MAX)
		return false;
	pattern = str_from(pattern, at + 2);
	text = str_from(text, lead.n);
	for (size_t n = 1; n <= text.n; n++) {
		m->hole[m->n++] = str_first(text, n);
		if (fits(pattern, str_from(text, n), m))
			return true;
		m->n--;
	}
	return false;
}

static const struct phrase *find(struct str clause, struct match *m)
{
	for (size_t i = 0; i < COUNT; i++) {
		m->n = 0;
		if (fits(str_of(PHRASES[i].english), clause, m))
			return &PHRASES[i];
	}
	return NULL;
}

static void add_plain(struct buf *out, struct str s)
{
	AUTO_BUF text;

	buf_init(&text, 64u << 10);
	buf_add_str(&text, s);
	number_add_arithmetic(out, LANG_RU, buf_text(&text));
}

/* Whether a clause has words that a reader of another language would miss. */
static bool has_words(struct str s)
{
	size_t run = 0;
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++) {
		const char c = s.p[i];

		if (c == '\'')
			quoted = !quoted;
		run = !quoted && c >= 'a' && c <= 'z' ? run + 1 : 0;
		if (run >= 4 && !(i >= 3 && memcmp(s.p + i - 3, "sqrt", 4) == 0))
			return true;
	}
	return false;
}

static void add_clause(struct buf *out, struct str clause, unsigned depth, bool figures)
{
	struct match m = {.n = 0};
	const struct phrase *p = depth < DEPTH_MAX ? find(clause, &m) : NULL;
	struct str rest, part;
	unsigned hole = 0;

	if (!p && figures)
		add_plain(out, clause);
	else if (!p)
		buf_add_str(out, clause);
	if (!p)
		return;
	rest = str_of(p->russian);
	while (rest.n) {
		const size_t at = str_find_str(rest, STR_LIT("{}"));

		part = str_first(rest, at);
		buf_add_str(out, part);
		if (at == STR_NONE)
			break;
		if (hole < m.n)
			add_clause(out, m.hole[hole++], depth + 1, figures);
		rest = str_from(rest, at + 2);
	}
}

/* Cuts what stands before "; ". */
static bool next_clause(struct str *text, struct str *clause)
{
	const size_t at = str_find_str(*text, STR_LIT("; "));

	if (text->n == 0)
		return false;
	*clause = str_first(*text, at);
	*text = at == STR_NONE ? (struct str){NULL, 0} : str_from(*text, at + 2);
	return true;
}

static void add_clauses(struct buf *out, const char *text, bool figures)
{
	struct str rest = str_of(text), clause;
	bool first = true;

	while (next_clause(&rest, &clause)) {
		buf_add_text(out, first ? "" : "; ");
		add_clause(out, clause, 0, figures);
		first = false;
	}
}

void phrase_add(struct buf *out, enum text_lang lang, const char *text)
{
	if (lang == LANG_RU)
		add_clauses(out, text, true);
	else
		number_add_arithmetic(out, lang, text ? text : "");
}

void phrase_add_source(struct buf *out, enum text_lang lang, const char *text)
{
	if (lang == LANG_RU)
		add_clauses(out, text, false);
	else
		buf_add_text(out, text);
}

bool phrase_known(const char *text)
{
	struct str rest = str_of(text), clause;
	struct match m;

	while (next_clause(&rest, &clause))
		if (!find(clause, &m) && has_words(clause))
			return false;
	return true;
}
