/* expr_lex - text to words; habits from other languages get an answer, not just a refusal. */
#include "agent/recipe/expr_lex_priv.h"

#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What people write from habit, and what stands for it here. */
static const struct {
	const char *wrong, *hint;
} HABITS[] = {
	{"&&", "write 'and'"},
	{"||", "write 'or'"},
	{"{{", "this is an expression already: leave the braces out"},
	{"{%", "this is an expression, not a template"},
	{"=", "compare with '=='"},
	{"!", "write 'not'"},
	{"|", "there are no filters: write lower(x), not x | lower"},
	{"/", "div(a, b) and mod(a, b) divide whole numbers"},
	{"%", "div(a, b) and mod(a, b) divide whole numbers"},
	{"~", "texts are joined with '+'"},
	{"?", "use {% if %} in a template, or two steps with 'when'"},
	{"$", "parameters are written params.name"},
	{"`", "text stands in single quotes"},
	{"&", "write 'and'"},
	{"{", "there are no maps in expressions: pass one as a parameter"},
};

static const char *const OPERATORS[] = {
	"==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "(", ")", "[", "]", ",", ".", NULL};

static bool begins(const struct lexer *l, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(l->end - l->p) >= n && memcmp(l->p, with, n) == 0;
}

static int lex_strange(const struct lexer *l, struct err *err)
{
	size_t n = 1;

	for (size_t i = 0; i < sizeof HABITS / sizeof *HABITS; i++) {
		if (!begins(l, HABITS[i].wrong))
			continue;
		origin_err(l->origin, l->p, err, E_SYNTAX, "unexpected '%s'", HABITS[i].wrong);
		return err_hint(err, "%s", HABITS[i].hint);
	}
	while (l->p + n < l->end && ((unsigned char)l->p[n] & 0xC0) == 0x80)
		n++;
	return origin_err(l->origin, l->p, err, E_SYNTAX, "unexpected '%.*s'", (int)n, l->p);
}

static int lex_operator(struct lexer *l, struct tok *out, struct err *err)
{
	for (unsigned i = 0; OPERATORS[i]; i++) {
		if (!begins(l, OPERATORS[i]))
			continue;
		out->kind = TOK_OP;
		out->text = (struct str){l->p, strlen(OPERATORS[i])};
		l->p += out->text.n;
		return 0;
	}
	return lex_strange(l, err);
}

static int lex_number(struct lexer *l, struct tok *out, struct err *err)
{
	const char *from = l->p;
	bool real = false;
	struct str text;

	while (l->p < l->end && is_digit(*l->p))
		l->p++;
	if (l->p + 1 < l->end && *l->p == '.' && is_digit(l->p[1])) {
		real = true;
		for (l->p++; l->p < l->end && is_digit(*l->p);)
			l->p++;
	}
	text = (struct str){from, (size_t)(l->p - from)};
	if (l->p < l->end && is_letter(*l->p)) {
		origin_err(l->origin, from, err, E_SYNTAX,
			"'" STR_FMT "%c' is neither a number nor a name", STR_ARG(text), *l->p);
		return err_hint(err, "text stands in single quotes");
	}
	out->kind = real ? TOK_REAL : TOK_INT;
	if (real ? str_to_f64(text, &out->real) : str_to_i64(text, &out->integer))
		return 0;
	origin_err(l->origin, from, err, E_LIMIT, "the number '" STR_FMT "' is too large",
		STR_ARG(str_first(text, 40)));
	return err_hint(err, "whole numbers go up to %lld", (long long)INT64_MAX);
}

static void lex_name(struct lexer *l, struct tok *out)
{
	const char *from = l->p;

	while (l->p < l->end && (is_letter(*l->p) || is_digit(*l->p)))
		l->p++;
	out->kind = TOK_NAME;
	out->text = (struct str){from, (size_t)(l->p - from)};
}

static int unescape(const struct lexer *l, const char *at, char *out, struct err *err)
{
	static const char FROM[] = "nt\\'\"", TO[] = "\n\t\\'\"";
	const char *found = memchr(FROM, *at, sizeof FROM - 1);

	if (!found) {
		origin_err(l->origin, at - 1, err, E_SYNTAX, "unknown escape in text");
		return err_hint(err, "the escapes are \\n \\t \\\\ \\' and \\\"");
	}
	*out = TO[found - FROM];
	return 0;
}

static int lex_text_close(struct lexer *l, const char *from, bool *escaped, struct err *err)
{
	char quote = *from;

	*escaped = false;
	for (l->p = from + 1; l->p < l->end && *l->p != quote; l->p++) {
		if (*l->p == '\\') {
			*escaped = true;
			if (++l->p >= l->end)
				break;
		}
	}
	if (l->p < l->end)
		return 0;
	origin_err(l->origin, from, err, E_SYNTAX, "the text that begins here has no end");
	return err_hint(err, "close it with %c", quote);
}

static int lex_text(struct lexer *l, struct tok *out, struct err *err)
{
	const char *from = l->p;
	bool escaped;
	char *copy;
	size_t n = 0;
	int rc = lex_text_close(l, from, &escaped, err);

	if (rc < 0)
		return rc;
	out->kind = TOK_TEXT;
	out->text = (struct str){from + 1, (size_t)(l->p - from - 1)};
	l->p++;
	if (!escaped)
		return 0;
	copy = arena_alloc(l->arena, out->text.n + 1);
	for (const char *p = from + 1; p < l->p - 1; p++) {
		if (*p != '\\')
			copy[n++] = *p;
		else if ((rc = unescape(l, ++p, &copy[n++], err)) < 0)
			return rc;
	}
	out->text = (struct str){copy, n};
	return 0;
}

int expr_lex_next(struct lexer *l, struct tok *out, struct err *err)
{
	int rc = 0;

	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r'))
		l->p++;
	*out = (struct tok){.kind = TOK_END, .at = l->p, .end = l->p};
	if (l->p >= l->end)
		return 0;
	if (is_letter(*l->p))
		lex_name(l, out);
	else if (is_digit(*l->p))
		rc = lex_number(l, out, err);
	else if (*l->p == '\'' || *l->p == '"')
		rc = lex_text(l, out, err);
	else
		rc = lex_operator(l, out, err);
	out->end = l->p;
	return rc;
}

bool tok_is(const struct tok *t, const char *word)
{
	return (t->kind == TOK_NAME || t->kind == TOK_OP) && str_is(t->text, word);
}
