#include "agent/step/diff.h"

#include "agent/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct side {
	struct str *line; /* with its newline, if it has one */
	size_t n;
};

/* One line of the result: ' ' both, '-' only before, '+' only after. */
struct edit {
	char mark;
	struct str line;
};

struct script {
	struct edit *at;
	size_t n;
};

bool diff_is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
			return false;
	}
	return str_is_utf8(s);
}

static void split(struct str text, struct side *out)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	out->line = xcalloc(n + 1, sizeof *out->line);
	out->n = 0;
	while (text.n > 0) {
		const size_t at = str_find(text, '\n');
		const size_t len = at == STR_NONE ? text.n : at + 1;

		out->line[out->n++] = str_first(text, len);
		text = str_from(text, len);
	}
}

static void add(struct script *s, char mark, struct str line)
{
	s->at[s->n++] = (struct edit){mark, line};
}

static void replace_all(struct script *s, const struct side *a, const struct side *b)
{
	for (size_t i = 0; i < a->n; i++)
		add(s, '-', a->line[i]);
	for (size_t j = 0; j < b->n; j++)
		add(s, '+', b->line[j]);
}

/* table[i][j]: length of the longest common subsequence of a[i..] and b[j..]. */
static void fill(uint32_t *table, const struct side *a, const struct side *b)
{
	const size_t w = b->n + 1;

	for (size_t i = a->n; i-- > 0;) {
		for (size_t j = b->n; j-- > 0;) {
			const uint32_t down = table[(i + 1) * w + j], right = table[i * w + j + 1];

			if (str_eq(a->line[i], b->line[j]))
				table[i * w + j] = table[(i + 1) * w + j + 1] + 1;
			else
				table[i * w + j] = down > right ? down : right;
		}
	}
}

static void walk(
	struct script *s, const uint32_t *table, const struct side *a, const struct side *b)
{
	const size_t w = b->n + 1;
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		if (i < a->n && j < b->n && str_eq(a->line[i], b->line[j])) {
			add(s, ' ', a->line[i]);
			i++;
			j++;
		} else if (j == b->n ||
			   (i < a->n && table[(i + 1) * w + j] >= table[i * w + j + 1])) {
			add(s, '-', a->line[i++]);
		} else {
			add(s, '+', b->line[j++]);
		}
	}
}

static void compare(struct script *s, const struct side *a, const struct side *b)
{
	uint32_t *table;

	if ((a->n + 1) * (b->n + 1) > DIFF_CELLS) {
		replace_all(s, a, b);
		return;
	}
	table = xcalloc((a->n + 1) * (b->n + 1), sizeof *table);
	fill(table, a, b);
	walk(s, table, a, b);
	free(table);
}

static struct side part(const struct side *s, size_t from, size_t to)
{
	return (struct side){s->line + from, to - from};
}

static void make_script(struct script *s, const struct side *a, const struct side *b)
{
	const size_t shorter = a->n < b->n ? a->n : b->n;
	size_t head = 0, tail = 0;

	while (head < shorter && str_eq(a->line[head], b->line[head]))
		head++;
	while (tail < shorter - head && str_eq(a->line[a->n - 1 - tail], b->line[b->n - 1 - tail]))
		tail++;
	for (size_t i = 0; i < head; i++)
		add(s, ' ', a->line[i]);

	const struct side mid_a = part(a, head, a->n - tail), mid_b = part(b, head, b->n - tail);

	compare(s, &mid_a, &mid_b);
	for (size_t i = a->n - tail; i < a->n; i++)
		add(s, ' ', a->line[i]);
}

/* The end of the hunk that begins with the change at 'from': changes nearer than two contexts. */
static size_t hunk_end(const struct script *s, size_t from)
{
	size_t last = from;

	for (size_t i = from; i < s->n && i <= last + 2 * DIFF_CONTEXT + 1; i++)
		if (s->at[i].mark != ' ')
			last = i;
	return last + 1 + DIFF_CONTEXT < s->n ? last + 1 + DIFF_CONTEXT : s->n;
}

static void print_hunk(
	const struct script *s, size_t from, size_t to, size_t at[2], struct buf *out)
{
	size_t n[2] = {0, 0};

	for (size_t i = from; i < to; i++) {
		n[0] += s->at[i].mark != '+';
		n[1] += s->at[i].mark != '-';
	}
	/* As diff(1) counts: an empty side is named by the line before it. */
	buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", n[0] ? at[0] + 1 : at[0], n[0],
		n[1] ? at[1] + 1 : at[1], n[1]);
	for (size_t i = from; i < to; i++) {
		buf_add_char(out, s->at[i].mark);
		buf_add_str(out, s->at[i].line);
		if (!str_ends(s->at[i].line, "\n"))
			buf_add_text(out, "\n\\ no newline at the end\n");
	}
	at[0] += n[0];
	at[1] += n[1];
}

static void print_script(const struct script *s, struct buf *out)
{
	size_t at[2] = {0, 0}, i = 0;

	while (i < s->n) {
		size_t change = i, from, to;

		while (change < s->n && s->at[change].mark == ' ')
			change++;
		if (change == s->n)
			return;
		from = change - i > DIFF_CONTEXT ? change - DIFF_CONTEXT : i;
		to = hunk_end(s, change);
		at[0] += from - i;
		at[1] += from - i;
		print_hunk(s, from, to, at, out);
		i = to;
	}
}

bool diff_is_private(mode_t mode)
{
	return !(mode & 077);
}

void diff_private(const size_t *before, size_t after, const char *path, struct buf *out)
{
	if (before)
		buf_addf(out, "%s: size %zu -> %zu", path, *before, after);
	else
		buf_addf(out, "%s: size %zu", path, after);
	buf_add_text(out, ", not shown: only its owner may read it\n");
}

void diff_unified(
	const struct str *before, const struct str *after, const char *path, struct buf *out)
{
	const struct str none = {"", 0};
	const struct str old = before ? *before : none, new = after ? *after : none;
	struct side a, b;
	struct script s;

	if (before && after && str_eq(old, new))
		return;
	split(old, &a);
	split(new, &b);
	s.at = xcalloc(a.n + b.n + 1, sizeof *s.at);
	s.n = 0;
	make_script(&s, &a, &b);
	buf_addf(out, "--- %s\n", before ? path : "(absent)");
	buf_addf(out, "+++ %s\n", after ? path : "(absent)");
	print_script(&s, out);
	free(s.at);
	free(a.line);
	free(b.line);
}
