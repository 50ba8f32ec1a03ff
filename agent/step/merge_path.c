/* merge_path - names of keys: parts with dots between, a part with a dot of its own in quotes. */
#include "agent/step/merge_doc.h"

#include <string.h>

static bool is_bare(struct str part)
{
	for (size_t i = 0; i < part.n; i++)
		if (!part.p[i] || strchr(".\"\\ \t\r\n", part.p[i]))
			return false;
	return part.n > 0;
}

static int push(struct arena *a, struct merge_path *p, struct str part, struct err *err)
{
	if (p->n == MERGE_DEPTH_MAX)
		return err_set(err, E_LIMIT, "a key has more than %d parts", (int)MERGE_DEPTH_MAX);
	p->part[p->n++] = arena_str(a, part);
	return 0;
}

static int fail_part(struct str text, struct err *err, const char *what)
{
	err_set(err, E_SYNTAX, "'" STR_FMT "' is not the name of a key: %s",
		STR_ARG(str_first_utf8(text, 80)), what);
	return err_hint(err, "write a.b.c, and a part with a dot in quotes: a.\"b.c\"");
}

/* A part in quotes; *rest begins behind the first quote. */
static int quoted_part(struct str *rest, struct buf *out)
{
	for (size_t i = 0; i < rest->n; i++) {
		if (rest->p[i] == '\\' && i + 1 < rest->n) {
			buf_add_char(out, rest->p[++i]);
		} else if (rest->p[i] == '"') {
			*rest = str_from(*rest, i + 1);
			return 0;
		} else {
			buf_add_char(out, rest->p[i]);
		}
	}
	return -E_SYNTAX;
}

int merge_path_parse(struct arena *a, struct str text, struct merge_path *out, struct err *err)
{
	struct str rest = text;
	AUTO_BUF part;
	int rc = 0;

	buf_init(&part, 4096);
	out->n = 0;
	for (bool more = true; more && rc == 0;) {
		buf_clear(&part);
		if (rest.n > 0 && rest.p[0] == '"') {
			rest = str_from(rest, 1);
			if (quoted_part(&rest, &part) < 0)
				return fail_part(text, err, "a quote is not closed");
			if (rest.n > 0 && rest.p[0] != '.')
				return fail_part(text, err, "expected a dot behind the quote");
		} else {
			const size_t dot = str_find(rest, '.');

			buf_add_str(&part, str_first(rest, dot == STR_NONE ? rest.n : dot));
			rest = str_from(rest, part.n);
			if (part.n == 0)
				return fail_part(text, err, "a part is empty");
		}
		more = rest.n > 0;
		rest = str_from(rest, 1);
		if (!buf_ok(&part))
			return fail_part(text, err, "it is too long");
		rc = push(a, out, buf_str(&part), err);
	}
	return rc;
}

int merge_path_add(struct arena *a, const struct merge_format *f, struct str key,
	struct merge_path *p, struct err *err)
{
	const char *sep = f->separator;
	size_t at;
	int rc;

	while (sep && (at = str_find_str(key, str_of(sep))) != STR_NONE) {
		if ((rc = push(a, p, str_first(key, at), err)) < 0)
			return rc;
		key = str_from(key, at + strlen(sep));
	}
	return push(a, p, key, err);
}

void merge_path_text(const struct merge_path *p, struct buf *out)
{
	for (unsigned i = 0; i < p->n; i++) {
		const struct str part = p->part[i];

		if (i > 0)
			buf_add_char(out, '.');
		if (is_bare(part)) {
			buf_add_str(out, part);
			continue;
		}
		buf_add_char(out, '"');
		for (size_t k = 0; k < part.n; k++) {
			if (part.p[k] == '"' || part.p[k] == '\\')
				buf_add_char(out, '\\');
			buf_add_char(out, part.p[k]);
		}
		buf_add_char(out, '"');
	}
}

const char *merge_path_show(struct arena *a, const struct merge_path *p)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	merge_path_text(p, &text);
	return arena_strdup(a, buf_text(&text));
}
