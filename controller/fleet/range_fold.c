/*
 * range_fold - a set of names as short text.
 *
 * The last run of digits of a name is its number; names that agree in all else
 * and in the number's width stand together: gpu[01-03,07].
 */
#include "agent/base/mem.h"
#include "controller/fleet/range.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 6

struct split {
	struct str head, tail;
	unsigned number;
	size_t width; /* digits; 0: the name has none that count */
	bool padded;  /* with a leading zero */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "gpu07-ib" -> "gpu", 7 (width 2), "-ib" */
static struct split split_name(const char *name)
{
	const struct str all = str_of(name);
	size_t end = all.n, start;
	uint64_t number = 0;

	while (end > 0 && !is_digit(all.p[end - 1]))
		end--;
	start = end;
	while (start > 0 && is_digit(all.p[start - 1]) && end - start < DIGITS_MAX)
		start--;
	if (start == end || !str_to_u64((struct str){all.p + start, end - start}, &number))
		return (struct split){.head = all};
	return (struct split){
		.head = str_first(all, start),
		.tail = str_from(all, end),
		.number = (unsigned)number,
		.width = end - start,
		.padded = end - start > 1 && all.p[start] == '0',
	};
}

static int compare_str(struct str a, struct str b)
{
	const int c = memcmp(a.p ? a.p : "", b.p ? b.p : "", a.n < b.n ? a.n : b.n);

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Padded numbers belong together by width; unpadded ones whatever their width. */
static size_t padded_width(const struct split *s)
{
	return s->padded ? s->width : 0;
}

static bool same_group(const struct split *a, const struct split *b)
{
	return str_eq(a->head, b->head) && str_eq(a->tail, b->tail) &&
	       (a->width == 0) == (b->width == 0);
}

static int compare_splits(const void *x, const void *y)
{
	const struct split *a = x, *b = y;
	int c = compare_str(a->head, b->head);

	if (c == 0)
		c = compare_str(a->tail, b->tail);
	if (c == 0)
		c = (a->number > b->number) - (a->number < b->number);
	return c ? c : (a->width > b->width) - (a->width < b->width);
}

/* b may stand behind a in one "lo-hi": one more, and written alike. */
static bool follows(const struct split *a, const struct split *b, size_t width)
{
	if (!same_group(a, b) || b->number != a->number + 1)
		return false;
	return width ? b->width == width : padded_width(b) == 0;
}

static void add_number(struct buf *out, const struct split *s)
{
	buf_addf(out, "%0*u", (int)s->width, s->number);
}

/* One run from i; returns the first behind it. */
static size_t add_run(struct buf *out, const struct split *s, size_t i, size_t n)
{
	const size_t width = padded_width(&s[i]);
	size_t last = i;

	/* 10 has no padding, but belongs to 09 when it is as wide */
	while (last + 1 < n && follows(&s[last], &s[last + 1], width))
		last++;
	add_number(out, &s[i]);
	if (last > i) {
		buf_add_char(out, last == i + 1 ? ',' : '-');
		add_number(out, &s[last]);
	}
	return last + 1;
}

static size_t add_group(struct buf *out, const struct split *s, size_t n)
{
	size_t end = 1, i = 0;

	while (end < n && s[0].width > 0 && same_group(&s[0], &s[end]))
		end++;
	buf_add_str(out, s[0].head);
	if (end == 1) {
		if (s[0].width)
			add_number(out, &s[0]);
		buf_add_str(out, s[0].tail);
		return 1;
	}
	buf_add_char(out, '[');
	while (i < end) {
		if (i > 0)
			buf_add_char(out, ',');
		i = add_run(out, s, i, end);
	}
	buf_add_char(out, ']');
	buf_add_str(out, s[0].tail);
	return end;
}

void range_fold(const struct node_refs *nodes, struct buf *out)
{
	struct split *s = xcalloc(nodes->n + 1, sizeof *s);

	for (size_t i = 0; i < nodes->n; i++)
		s[i] = split_name(nodes->at[i]->name);
	qsort(s, nodes->n, sizeof *s, compare_splits);
	for (size_t i = 0; i < nodes->n;) {
		if (i > 0)
			buf_add_char(out, ',');
		i += add_group(out, s + i, nodes->n - i);
	}
	free(s);
}
