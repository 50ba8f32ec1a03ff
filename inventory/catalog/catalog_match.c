/* catalog_match - product names to entries, by the words of their ids. */
#include "inventory/catalog/catalog_check.h"

#include <ctype.h>
#include <string.h>

#define WORDS_MAX 64
#define SURE      5 /* letters of a word that names a product without its maker */

struct name_words {
	unsigned n;
	struct str at[WORDS_MAX];
};

static void split(const char *text, struct name_words *w)
{
	const char *p = text;

	w->n = 0;
	while (*p && w->n < WORDS_MAX) {
		const char *from;

		while (*p && !isalnum((unsigned char)*p))
			p++;
		from = p;
		while (isalnum((unsigned char)*p))
			p++;
		if (p > from)
			w->at[w->n++] = (struct str){from, (size_t)(p - from)};
	}
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (isdigit((unsigned char)s.p[i]))
			return true;
	return false;
}

static bool contains(const struct name_words *w, struct str word)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->at[i].n == word.n && strncasecmp(w->at[i].p, word.p, word.n) == 0)
			return true;
	return false;
}

/* How many words of the id stand in name; 0 when one is missing. */
static unsigned score(const struct name_words *id, const struct name_words *name)
{
	const bool maker = id->n > 0 && !has_digit(id->at[0]) &&
			   (id->n > 2 || (id->n == 2 && id->at[1].n >= SURE));
	bool digit = false;
	unsigned n = 0;

	for (unsigned i = 0; i < id->n; i++) {
		const bool there = contains(name, id->at[i]);

		if (!there && !(i == 0 && maker))
			return 0;
		digit = digit || (there && has_digit(id->at[i]));
		n += there;
	}
	return digit ? n : 0;
}

static bool same_words(const struct name_words *a, const struct name_words *b)
{
	if (a->n != b->n || a->n == 0)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!contains(b, a->at[i]))
			return false;
	return true;
}

const struct catalog_entry *catalog_match(
	const struct catalog *c, enum catalog_kind kind, const char *name)
{
	const struct catalog_entry *best = NULL;
	struct name_words words, other;
	unsigned best_score = 0;

	split(name, &words);
	for (size_t i = 0; i < c->entries.n; i++) {
		const struct catalog_entry *e = c->entries.at[i];
		unsigned n;

		if (kind != CATALOG_KINDS && e->kind != kind)
			continue;
		split(e->name, &other);
		if (same_words(&words, &other))
			return e;
		split(e->id, &other);
		n = score(&other, &words);
		if (n > best_score) {
			best = e;
			best_score = n;
		}
	}
	return best;
}
