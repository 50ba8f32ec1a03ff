#include "agent/step/merge.h"

static void end_line(struct buf *out)
{
	if (out->n > 0 && !str_ends(buf_str(out), "\n"))
		buf_add_char(out, '\n');
}

static void put(struct buf *out, struct str line)
{
	end_line(out);
	buf_add_str(out, line);
	buf_add_char(out, '\n');
}

void merge_line(struct str text, bool (*ours)(const void *ctx, struct str line), const void *ctx,
	struct str line, struct buf *out)
{
	bool placed = line.p == NULL;
	struct str one;

	while (text.n > 0) {
		const struct str before = text;

		if (!str_next(&text, '\n', &one))
			break;
		if (!ours(ctx, one)) {
			/* with its newline, if it has one */
			buf_add_str(out, str_first(before, before.n - text.n));
			continue;
		}
		if (placed)
			continue;
		placed = true;
		if (str_eq(one, line))
			buf_add_str(out, str_first(before, before.n - text.n));
		else
			put(out, line);
	}
	if (!placed)
		put(out, line);
}
