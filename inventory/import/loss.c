/* loss - what an import or an export could not carry as it was, counted by noun and field. */
#include "agent/base/buf.h"
#include "inventory/import/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOSSES_MAX 2000 /* kinds of losses; columns of hostile files must not eat the memory */

const char *const LOSS_KINDS[] = {"not carried", "changed", "assumed", NULL};

void losses_done(struct losses *l)
{
	if (!l)
		return;
	vec_done(&l->list);
	arena_free(l->arena);
	l->arena = NULL;
}

static struct loss *find(struct losses *l, enum loss_kind kind, const char *noun, const char *field)
{
	vec_each(&l->list, struct loss, it)
		if (it->kind == kind && strcmp(it->field, field) == 0 &&
			strcmp(it->noun, noun) == 0)
			return it;
	return NULL;
}

void loss_add(struct losses *l, enum loss_kind kind, const char *noun, const char *field,
	const char *fmt, ...)
{
	struct loss *loss = find(l, kind, noun, field);
	char why[400];
	va_list ap;

	if (loss) {
		loss->rows++;
		return;
	}
	if (l->list.n >= LOSSES_MAX)
		return;
	if (!l->arena)
		l->arena = arena_new();
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	loss = vec_push(&l->list);
	*loss = (struct loss){kind, arena_strdup(l->arena, noun), arena_strdup(l->arena, field), 1,
		arena_strdup(l->arena, why)};
}

const struct loss *losses_find(const struct losses *l, const char *noun, const char *field)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (strcmp(l->list.at[i].noun, noun) == 0 &&
			strcmp(l->list.at[i].field, field) == 0)
			return &l->list.at[i];
	return NULL;
}

void losses_format(const struct losses *l, struct buf *out)
{
	for (int kind = 0; kind < LOSS_N; kind++)
		for (size_t i = 0; i < l->list.n; i++) {
			const struct loss *it = &l->list.at[i];

			if (it->kind != (enum loss_kind)kind)
				continue;
			buf_addf(out, "%s: ", LOSS_KINDS[kind]);
			buf_add_printable(out, str_of(it->noun));
			buf_add_text(out, *it->field ? "." : "");
			buf_add_printable(out, str_of(it->field));
			buf_addf(out, " (%zu)", it->rows);
			buf_add_text(out, *it->why ? ": " : "");
			buf_add_printable(out, str_of(it->why));
			buf_add_char(out, '\n');
		}
}
