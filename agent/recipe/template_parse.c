/* template_parse - cuts text at its tags; blocks nest by recursion with a capped depth. */
#include "agent/recipe/template_priv.h"

#include <stdio.h>
#include <string.h>

struct tag {
	const char *at;    /* of its "{%" */
	const char *after; /* behind its "%}" */
	struct str word, rest;
};

struct tparser {
	struct arena *arena;
	const struct origin *origin;
	const char *p, *end;
	unsigned depth;
	const struct expr_local *locals;
	struct tag tag; /* that ended the block just read; word empty at the end of the text */
};

static const char *const WORDS[] = {"if", "elif", "else", "endif", "for", "endfor", NULL};

static int parse_parts(
	struct tparser *t, const struct tag *opener, struct part **out, struct err *err);

static int fail(const struct tparser *t, const char *at, struct err *err, const char *what)
{
	return origin_err(t->origin, at, err, E_SYNTAX, "%s", what);
}

/* The next "{{", "{%" or "{#", or the end. */
static const char *find_open(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '{', (size_t)(end - p)))) {
		if (p + 1 < end && (p[1] == '{' || p[1] == '%' || p[1] == '#'))
			return p;
		p++;
	}
	return end;
}

/* Where the closing pair stands; text in quotes is passed over. NULL when there is none. */
static const char *find_close(const char *p, const char *end, const char *close)
{
	char quote = 0;

	for (; p + 1 < end; p++) {
		if (quote) {
			if (*p == '\\')
				p++;
			else if (*p == quote)
				quote = 0;
		} else if (p[0] == close[0] && p[1] == close[1]) {
			return p;
		} else if (close[0] != '#' && (*p == '\'' || *p == '"')) {
			quote = *p;
		}
	}
	return NULL;
}

static int fail_open(const struct tparser *t, const char *at, const char *close, struct err *err)
{
	origin_err(t->origin, at, err, E_SYNTAX, "'%.2s' is not closed", at);
	return err_hint(err, "close it with '%s'; {{ '%.2s' }} writes it literally", close, at);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* True when only blanks stand before at on its line and behind after on its line. */
static bool is_alone(const struct tparser *t, const char *at, const char *after)
{
	const char *begin = t->origin->text.p;

	while (at > begin && is_blank(at[-1]))
		at--;
	while (after < t->end && is_blank(*after))
		after++;
	return (at == begin || at[-1] == '\n') && (after == t->end || *after == '\n');
}

static struct part *add_part(struct tparser *t, struct part ***tail, enum part_kind kind)
{
	struct part *p = arena_alloc(t->arena, sizeof *p);

	p->kind = kind;
	**tail = p;
	*tail = &p->next;
	return p;
}

/* The text up to a tag; a tag alone on its line takes the line with it. Moves t->p behind it. */
static void add_text(
	struct tparser *t, struct part ***tail, const char *at, const char *after, bool vanish)
{
	struct str text = {t->p, (size_t)(at - t->p)};

	t->p = after;
	if (vanish && is_alone(t, at, after)) {
		while (text.n > 0 && is_blank(text.p[text.n - 1]))
			text.n--;
		while (t->p < t->end && *t->p != '\n')
			t->p++;
		if (t->p < t->end)
			t->p++;
	}
	if (text.n > 0)
		add_part(t, tail, PART_TEXT)->text = text;
}

static int parse_comment(struct tparser *t, const char *at, struct part ***tail, struct err *err)
{
	const char *close = find_close(at + 2, t->end, "#}");

	if (!close)
		return fail_open(t, at, "#}", err);
	add_text(t, tail, at, close + 2, true);
	return 0;
}

static int check_dash(const struct tparser *t, const char *at, struct err *err)
{
	if (*at != '-' || (at + 1 < t->end && at[1] != ' '))
		return 0;
	fail(t, at, err, "tags have no '-'");
	return err_hint(err, "a line that holds only a {%% %%} tag vanishes by itself");
}

static int parse_out(struct tparser *t, const char *at, struct part ***tail, struct err *err)
{
	const char *close = find_close(at + 2, t->end, "}}");
	struct expr *e;
	int rc;

	if (!close)
		return fail_open(t, at, "}}", err);
	rc = expr_parse_at(t->arena, (struct str){at + 2, (size_t)(close - at - 2)}, t->origin,
		t->locals, &e, err);
	if (rc < 0)
		return rc;
	add_text(t, tail, at, close + 2, false);
	add_part(t, tail, PART_OUT)->expr = e;
	return 0;
}

static int fail_tag(const struct tparser *t, const struct tag *tag, struct err *err)
{
	char word[32];
	const char *near;

	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(tag->word, sizeof word - 1)));
	near = err_nearest(word, WORDS);
	origin_err(t->origin, tag->word.n > 0 ? tag->word.p : tag->at, err, E_SYNTAX,
		"unknown tag '%s'", word);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err, "the tags are if, elif, else, endif, for, endfor; there is no other");
}

static int read_tag(const struct tparser *t, const char *at, struct tag *out, struct err *err)
{
	const char *close = find_close(at + 2, t->end, "%}");
	int rc = close ? check_dash(t, at + 2, err) : fail_open(t, at, "%}", err);
	struct str in;
	size_t n = 0;

	if (rc < 0 || !close)
		return rc;
	in = str_trim((struct str){at + 2, (size_t)(close - at - 2)});
	while (n < in.n && !is_blank(in.p[n]) && in.p[n] != '\n' && in.p[n] != '(')
		n++;
	*out = (struct tag){at, close + 2, str_first(in, n), str_from(in, n)};
	for (unsigned i = 0; WORDS[i]; i++)
		if (str_is(out->word, WORDS[i]))
			return 0;
	return fail_tag(t, out, err);
}

static int want_no_rest(const struct tparser *t, const struct tag *tag, struct err *err)
{
	struct str rest = str_trim(tag->rest);

	if (rest.n == 0)
		return 0;
	origin_err(
		t->origin, rest.p, err, E_SYNTAX, "'" STR_FMT "' stands alone", STR_ARG(tag->word));
	return str_is(tag->word, "else") ? err_hint(err, "a condition belongs to 'elif'")
					 : -E_SYNTAX;
}

static int parse_condition(
	struct tparser *t, const struct tag *tag, struct expr **out, struct err *err)
{
	if (str_trim(tag->rest).n > 0)
		return expr_parse_at(t->arena, tag->rest, t->origin, t->locals, out, err);
	origin_err(t->origin, tag->at, err, E_SYNTAX, "'" STR_FMT "' needs a condition",
		STR_ARG(tag->word));
	return err_hint(err, "such as {%% if params.tls %%}");
}

static int fail_crossed(
	const struct tparser *t, const struct tag *tag, const char *open, struct err *err)
{
	origin_err(t->origin, tag->at, err, E_SYNTAX,
		"'" STR_FMT "' inside '%s' that is not closed", STR_ARG(tag->word), open);
	return err_hint(err, "close it with {%% end%s %%} first", open);
}

/* The condition of a branch, but for else, and what stands in it. */
static int parse_branch(struct tparser *t, const struct tag *opener, const struct tag *tag,
	struct part *p, struct err *err)
{
	int rc = str_is(tag->word, "else") ? want_no_rest(t, tag, err)
					   : parse_condition(t, tag, &p->expr, err);

	return rc < 0 ? rc : parse_parts(t, opener, &p->body, err);
}

/* if, then any elif, maybe else, then endif. */
static int parse_if(struct tparser *t, const struct tag *opener, struct part *p, struct err *err)
{
	struct tag tag = *opener;
	int rc = parse_branch(t, opener, &tag, p, err);

	while (rc == 0 && !str_is(t->tag.word, "endif")) {
		if (str_is(t->tag.word, "endfor"))
			return fail_crossed(t, &t->tag, "if", err);
		if (str_is(tag.word, "else")) {
			fail(t, t->tag.at, err, "'else' was the last branch");
			return err_hint(err, "end the block with {%% endif %%}");
		}
		tag = t->tag;
		p->other = arena_alloc(t->arena, sizeof *p);
		p = p->other;
		p->kind = PART_IF;
		rc = parse_branch(t, opener, &tag, p, err);
	}
	return rc < 0 ? rc : want_no_rest(t, &t->tag, err);
}

static bool is_name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static int fail_variable(const struct tparser *t, struct str name, const char *why, struct err *err)
{
	origin_err(t->origin, name.p, err, E_CONFLICT, "'" STR_FMT "' %s", STR_ARG(name), why);
	return err_hint(err, "give the loop's variable another name");
}

static int check_variable(const struct tparser *t, struct str name, struct err *err)
{
	static const char *const WORDS_OF_LANGUAGE[] = {
		"and", "or", "not", "in", "true", "false", NULL};

	for (unsigned i = 0; EXPR_ROOTS[i]; i++)
		if (str_is(name, EXPR_ROOTS[i]))
			return fail_variable(t, name, "has a meaning already", err);
	for (unsigned i = 0; WORDS_OF_LANGUAGE[i]; i++)
		if (str_is(name, WORDS_OF_LANGUAGE[i]))
			return fail_variable(t, name, "is a word of the language", err);
	for (const struct expr_local *l = t->locals; l; l = l->up)
		if (str_eq(l->name, name))
			return fail_variable(t, name, "is the variable of an outer loop", err);
	return 0;
}

/* "x in expr" */
static int parse_for_head(struct tparser *t, const struct tag *tag, struct part *p, struct err *err)
{
	struct str in = str_trim(tag->rest), rest;
	size_t n = 0;
	int rc;

	while (n < in.n && is_name_char(in.p[n], n == 0))
		n++;
	p->text = str_first(in, n);
	rest = str_from(in, n);
	while (rest.n > 0 && (is_blank(*rest.p) || *rest.p == '\n'))
		rest = str_from(rest, 1);
	if (n == 0 || !str_starts(rest, "in") || (rest.n > 2 && is_name_char(rest.p[2], false))) {
		origin_err(t->origin, n == 0 || rest.n == 0 ? tag->at : rest.p, err, E_SYNTAX,
			"'for' needs a variable and a list");
		return err_hint(err, "such as {%% for name in params.names %%}");
	}
	if ((rc = check_variable(t, p->text, err)) < 0)
		return rc;
	return expr_parse_at(t->arena, str_from(rest, 2), t->origin, t->locals, &p->expr, err);
}

static int parse_for(struct tparser *t, const struct tag *opener, struct part *p, struct err *err)
{
	const struct expr_local *outer = t->locals;
	struct expr_local *mine;
	int rc = parse_for_head(t, opener, p, err);

	if (rc < 0)
		return rc;
	mine = arena_alloc(t->arena, sizeof *mine);
	*mine = (struct expr_local){p->text, NULL, outer};
	t->locals = mine;
	if ((rc = parse_parts(t, opener, &p->body, err)) < 0)
		return rc;
	t->locals = outer;
	if (str_is(t->tag.word, "endfor"))
		return want_no_rest(t, &t->tag, err);
	return fail_crossed(t, &t->tag, "for", err);
}

static int parse_block(
	struct tparser *t, const struct tag *tag, struct part ***tail, struct err *err)
{
	int rc;

	if (t->depth >= TEMPLATE_DEPTH_MAX)
		return origin_err(t->origin, tag->at, err, E_LIMIT,
			"blocks are nested more than %d deep", TEMPLATE_DEPTH_MAX);
	t->depth++;
	if (str_is(tag->word, "if"))
		rc = parse_if(t, tag, add_part(t, tail, PART_IF), err);
	else
		rc = parse_for(t, tag, add_part(t, tail, PART_FOR), err);
	t->depth--;
	return rc;
}

/* One tag at the place at; *closed when it ends the block that opener began. */
static int parse_tag(struct tparser *t, const char *at, const struct tag *opener,
	struct part ***tail, bool *closed, struct err *err)
{
	struct tag tag;
	int rc = read_tag(t, at, &tag, err);

	if (rc < 0)
		return rc;
	add_text(t, tail, at, tag.after, true);
	if (str_is(tag.word, "if") || str_is(tag.word, "for"))
		return parse_block(t, &tag, tail, err);
	if (!opener) {
		const char *open = str_is(tag.word, "endfor") ? "for" : "if";

		origin_err(t->origin, at, err, E_SYNTAX, "'" STR_FMT "' without '%s'",
			STR_ARG(tag.word), open);
		return err_hint(err, "begin the block with {%% %s ... %%}", open);
	}
	t->tag = tag;
	*closed = true;
	return 0;
}

static int parse_parts(
	struct tparser *t, const struct tag *opener, struct part **out, struct err *err)
{
	struct part **tail = out;
	bool closed = false;
	int rc = 0;

	while (rc == 0 && !closed) {
		const char *at = find_open(t->p, t->end);

		if (at == t->end)
			break;
		if (at[1] == '#')
			rc = parse_comment(t, at, &tail, err);
		else if (at[1] == '{')
			rc = parse_out(t, at, &tail, err);
		else
			rc = parse_tag(t, at, opener, &tail, &closed, err);
	}
	if (rc < 0 || closed)
		return rc;
	add_text(t, &tail, t->end, t->end, false);
	if (!opener)
		return 0;
	origin_err(t->origin, opener->at, err, E_SYNTAX, "'" STR_FMT "' is not closed",
		STR_ARG(opener->word));
	return err_hint(err, "end it with {%% end" STR_FMT " %%}", STR_ARG(opener->word));
}

int template_parse_at(
	struct arena *a, const struct origin *o, struct template **out, struct err *err)
{
	struct tparser t = {.arena = a, .origin = o, .p = o->text.p, .end = o->text.p + o->text.n};
	struct template *made = arena_alloc(a, sizeof *made);
	int rc;

	made->origin = o;
	if (o->text.n > 0 && (rc = parse_parts(&t, NULL, &made->first, err)) < 0)
		return rc;
	*out = made;
	return 0;
}

int template_parse(struct arena *a, struct str text, const struct origin *at, struct template **out,
	struct err *err)
{
	struct origin *o = arena_alloc(a, sizeof *o);

	if (at)
		*o = *at;
	if (o->line == 0)
		o->line = o->col = 1;
	if (text.n > TEMPLATE_OUT_MAX)
		return err_set(
			err, E_LIMIT, "the template is longer than %u bytes", TEMPLATE_OUT_MAX);
	o->text = arena_str(a, text);
	return template_parse_at(a, o, out, err);
}
