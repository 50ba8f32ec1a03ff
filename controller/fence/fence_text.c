/* fence_text - names, marks and words, as what the schedulers print and are told has them. */
#include "agent/base/buf.h"
#include "controller/fence/fence_priv.h"

#include <string.h>

void fence_push(struct words *w, const char *word)
{
	*vec_push(w) = word;
}

void fence_keep(char *to, size_t size, struct str text)
{
	size_t n = 0;

	text = str_trim(text);
	while (text.n && n + 1 < size) {
		const size_t len = str_printable_length(text);

		if (n + len + 1 > size)
			break;
		if (len)
			memcpy(to + n, text.p, len);
		else
			to[n] = '?';
		n += len ? len : 1;
		text = str_from(text, len ? len : 1);
	}
	to[n] = 0;
}

static int order_of(struct str a, const char *b)
{
	const size_t len = strlen(b);
	const int c = memcmp(a.p, b, a.n < len ? a.n : len);

	return c ? c : a.n < len ? -1 : a.n > len;
}

struct fence_node *fence_find(struct fence *f, struct str name)
{
	size_t low = 0, high = f->n;

	while (low < high && name.p) {
		const size_t mid = low + (high - low) / 2;
		struct fence_node *n = &f->nodes[f->by_name[mid]];
		const int c = order_of(name, n->name);

		if (c == 0)
			return n;
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const char *fence_names(struct fence *f, char sep)
{
	AUTO_BUF out;

	buf_init(&out, f->n_batch * (NAME_LONG + 1) + 1);
	for (size_t i = 0; i < f->n_batch; i++) {
		if (i)
			buf_add_char(&out, sep);
		buf_add_text(&out, f->nodes[f->batch[i]].name);
	}
	return arena_text(f->scratch, buf_str(&out));
}

bool fence_is_mark(const struct fence *f, struct str text)
{
	if (!str_starts(text, FENCE_MARK))
		return false;
	text = str_from(text, sizeof FENCE_MARK - 1);
	if (!str_starts(text, f->opts.mark))
		return false;
	text = str_from(text, strlen(f->opts.mark));
	return !text.n || text.p[0] == ' ' || text.p[0] == ':';
}
