/* expr_parse - a Pratt parser; depth of the tree and bytes of the text are capped. */
#include "agent/recipe/expr_lex_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIST_ITEMS_MAX 1000

/* Binding powers, loosest first. */
enum power {
	POWER_ANY,
	POWER_OR,
	POWER_AND,
	POWER_NOT,
	POWER_COMPARE,
	POWER_ADD,
	POWER_MULTIPLY,
	POWER_SIGN
};

struct parser {
	struct lexer lex;
	struct tok tok; /* the next word */
	const struct expr_local *locals;
	unsigned depth;
	const char *last; /* end of the word before tok */
};

struct infix {
	const char *word;
	enum expr_op op;
	enum power power;
};

static const struct infix INFIX[] = {
	{"or", EXPR_OR, POWER_OR},
	{"and", EXPR_AND, POWER_AND},
	{"in", EXPR_IN, POWER_COMPARE},
	{"not", EXPR_NOT_IN, POWER_COMPARE},
	{"==", EXPR_EQ, POWER_COMPARE},
	{"!=", EXPR_NE, POWER_COMPARE},
	{"<", EXPR_LT, POWER_COMPARE},
	{"<=", EXPR_LE, POWER_COMPARE},
	{">", EXPR_GT, POWER_COMPARE},
	{">=", EXPR_GE, POWER_COMPARE},
	{"+", EXPR_ADD, POWER_ADD},
	{"-", EXPR_SUB, POWER_ADD},
	{"*", EXPR_MUL, POWER_MULTIPLY},
};

const char *const EXPR_ROOTS[] = {
	"params", "node", "vars", "facts", "site", "data", "let", "steps", "item", NULL};

static int parse_power(struct parser *p, enum power least, struct expr **out, struct err *err);

static int advance(struct parser *p, struct err *err)
{
	p->last = p->tok.end;
	return expr_lex_next(&p->lex, &p->tok, err);
}

static int fail_unexpected(const struct parser *p, const char *wanted, struct err *err)
{
	const struct tok *t = &p->tok;

	if (t->kind == TOK_END) {
		origin_err(p->lex.origin, t->at, err, E_SYNTAX,
			"the expression ends where %s was expected", wanted);
		return err_hint(err, "add %s at the end", wanted);
	}
	origin_err(p->lex.origin, t->at, err, E_SYNTAX, "unexpected '%.*s', expected %s",
		(int)(t->end - t->at > 40 ? 40 : t->end - t->at), t->at, wanted);
	if (tok_is(t, "is"))
		return err_hint(err,
			"compare with '=='; for a name that may be undefined use default(x, y)");
	if (t->kind == TOK_OP && strcmp(wanted, "a value") == 0)
		return err_hint(err, "something is missing before '" STR_FMT "'", STR_ARG(t->text));
	if (tok_is(t, "if") || tok_is(t, "else"))
		return err_hint(err, "write if(condition, x, y), or {%% if %%} in a template");
	return -E_SYNTAX;
}

static int fail_deep(const struct parser *p, const char *at, struct err *err)
{
	origin_err(p->lex.origin, at, err, E_LIMIT, "the expression is nested more than %d deep",
		EXPR_DEPTH_MAX);
	return err_hint(err, "split it, or use 'in' with a list instead of a long chain");
}

static int new_node(struct parser *p, enum expr_op op, const char *at, struct expr **out)
{
	struct expr *e = arena_alloc(p->lex.arena, sizeof *e);

	e->op = op;
	e->origin = p->lex.origin;
	e->at = e->from = e->to = at;
	e->depth = 1;
	*out = e;
	return 0;
}

/* Gives a node its n operands, of which last is the last, and with them its depth and extent. */
static int adopt(struct parser *p, struct expr *e, struct expr *last, unsigned n, struct err *err)
{
	e->n = n;
	e->arg = arena_alloc(p->lex.arena, (n + 1) * sizeof *e->arg);
	for (; n > 0; last = last->before) {
		e->arg[--n] = last;
		if (last->depth >= e->depth)
			e->depth = last->depth + 1;
		if (last->from < e->from)
			e->from = last->from;
	}
	e->to = p->last;
	return e->depth > EXPR_DEPTH_MAX ? fail_deep(p, e->at, err) : 0;
}

static int expect(struct parser *p, const char *op, struct err *err)
{
	char wanted[16];

	if (tok_is(&p->tok, op))
		return advance(p, err);
	snprintf(wanted, sizeof wanted, "'%s'", op);
	return fail_unexpected(p, wanted, err);
}

/* item, item ... up to the closing word, which is consumed. */
static int parse_items(struct parser *p, struct expr *e, const char *close, struct err *err)
{
	struct expr *last = NULL, *item;
	unsigned n = 0;
	int rc;

	while (!tok_is(&p->tok, close)) {
		if (n > 0 && (rc = expect(p, p->tok.kind == TOK_END ? close : ",", err)) < 0)
			return rc;
		if (n > 0 && tok_is(&p->tok, close))
			break;
		if (n++ >= LIST_ITEMS_MAX)
			return origin_err(p->lex.origin, p->tok.at, err, E_LIMIT,
				"more than %d items", LIST_ITEMS_MAX);
		if ((rc = parse_power(p, POWER_OR, &item, err)) < 0)
			return rc;
		item->before = last;
		last = item;
	}
	rc = advance(p, err);
	return rc < 0 ? rc : adopt(p, e, last, n, err);
}

static int fail_function(const struct parser *p, struct str name, const char *at, struct err *err)
{
	char word[64];
	const char *near;

	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(name, 60)));
	near = err_nearest(word, EXPR_FN_NAMES);
	origin_err(p->lex.origin, at, err, E_NOTFOUND, "there is no function '%s'", word);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err,
		"default if lower upper trim len count join split replace int text basename "
		"startswith endswith matches newer keys sort unique where pluck range div mod min "
		"max json yaml exists contains running version port_open http_ok kernel_log "
		"text_file lines glob program gres_lint");
}

static int parse_call(struct parser *p, const struct tok *name, struct expr **out, struct err *err)
{
	const struct expr_fn *fn = expr_fn_find(name->text);
	struct expr *e;
	int rc;

	if (!fn)
		return fail_function(p, name->text, name->at, err);
	new_node(p, EXPR_CALL, name->at, &e);
	e->fn = fn;
	if ((rc = advance(p, err)) < 0 || (rc = parse_items(p, e, ")", err)) < 0)
		return rc;
	if (e->n != fn->n) {
		origin_err(p->lex.origin, e->at, err, E_SCHEMA, "'%s' takes %u argument%s, not %u",
			fn->name, fn->n, fn->n == 1 ? "" : "s", e->n);
		return err_hint(err, "%s", fn->usage);
	}
	*out = e;
	return 0;
}

static int fail_root(const struct parser *p, struct str name, const char *at, struct err *err)
{
	char word[64];
	const char *near;
	const struct expr_fn *fn = expr_fn_find(name);

	snprintf(word, sizeof word, STR_FMT, STR_ARG(str_first(name, 60)));
	near = err_nearest(word, EXPR_ROOTS);
	origin_err(p->lex.origin, at, err, E_NOTFOUND, "unknown name '%s'", word);
	if (fn)
		return err_hint(err, "it is a function: %s", fn->usage);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	if (str_is(name, "True") || str_is(name, "yes") || str_is(name, "on"))
		return err_hint(err, "write true");
	if (str_is(name, "False") || str_is(name, "no") || str_is(name, "off"))
		return err_hint(err, "write false");
	if (!tok_is(&p->tok, ".") && !tok_is(&p->tok, "["))
		return err_hint(err, "if it is text, write '%s' in quotes", word);
	return err_hint(
		err, "names begin with params, node, vars, facts, site, data, let, steps or item");
}

static bool is_root(struct str name)
{
	for (unsigned i = 0; EXPR_ROOTS[i]; i++)
		if (str_is(name, EXPR_ROOTS[i]))
			return true;
	return false;
}

static bool is_local(const struct expr_local *l, struct str name)
{
	for (; l; l = l->up)
		if (str_eq(l->name, name))
			return true;
	return false;
}

static int parse_name(struct parser *p, struct expr **out, struct err *err)
{
	struct tok name = p->tok;
	struct expr *e;
	int rc = advance(p, err);

	if (rc < 0)
		return rc;
	if (tok_is(&p->tok, "("))
		return parse_call(p, &name, out, err);
	new_node(p, EXPR_NAME, name.at, &e);
	e->to = name.end;
	*out = e;
	if (str_is(name.text, "true") || str_is(name.text, "false")) {
		e->op = EXPR_BOOL;
		e->yes = str_is(name.text, "true");
		return 0;
	}
	e->text = name.text;
	if (is_local(p->locals, name.text)) {
		e->op = EXPR_LOCAL;
		return 0;
	}
	if (!is_root(name.text))
		return fail_root(p, name.text, name.at, err);
	if (str_is(name.text, "facts") && !tok_is(&p->tok, ".") && !tok_is(&p->tok, "[")) {
		origin_err(
			p->lex.origin, name.at, err, E_SCHEMA, "'facts' is not a value by itself");
		return err_hint(err, "name a group, such as facts.os.id");
	}
	if (str_is(name.text, "let") && !tok_is(&p->tok, ".")) {
		origin_err(p->lex.origin, name.at, err, E_SCHEMA, "'let' is not a value by itself");
		return err_hint(err, "name one, such as let.os");
	}
	return 0;
}

static int parse_literal(struct parser *p, struct expr **out, struct err *err)
{
	struct expr *e;

	new_node(p, EXPR_TEXT, p->tok.at, &e);
	e->to = p->tok.end;
	if (p->tok.kind == TOK_INT) {
		e->op = EXPR_INT;
		e->integer = p->tok.integer;
	} else if (p->tok.kind == TOK_REAL) {
		e->op = EXPR_REAL;
		e->real = p->tok.real;
	} else {
		e->text = p->tok.text;
	}
	*out = e;
	return advance(p, err);
}

static int parse_primary(struct parser *p, struct expr **out, struct err *err)
{
	const char *at = p->tok.at;
	int rc;

	if (p->tok.kind == TOK_NAME && !tok_is(&p->tok, "in") && !tok_is(&p->tok, "and") &&
		!tok_is(&p->tok, "or"))
		return parse_name(p, out, err);
	if (p->tok.kind == TOK_TEXT || p->tok.kind == TOK_INT || p->tok.kind == TOK_REAL)
		return parse_literal(p, out, err);
	if (tok_is(&p->tok, "[")) {
		new_node(p, EXPR_LIST, at, out);
		return (rc = advance(p, err)) < 0 ? rc : parse_items(p, *out, "]", err);
	}
	if (!tok_is(&p->tok, "("))
		return fail_unexpected(p, "a value", err);
	if ((rc = advance(p, err)) < 0 || (rc = parse_power(p, POWER_OR, out, err)) < 0 ||
		(rc = expect(p, ")", err)) < 0)
		return rc;
	(*out)->from = at;
	(*out)->to = p->last;
	return 0;
}

static int parse_field(struct parser *p, struct expr **left, struct err *err)
{
	struct expr *e;
	int rc = advance(p, err);

	if (rc < 0)
		return rc;
	if (p->tok.kind != TOK_NAME) {
		rc = fail_unexpected(p, "a name after '.'", err);
		return p->tok.kind == TOK_END ? rc
					      : err_hint(err, "other keys are written a['x-y']");
	}
	new_node(p, EXPR_FIELD, p->tok.at, &e);
	e->text = p->tok.text;
	if ((rc = advance(p, err)) < 0 || (rc = adopt(p, e, *left, 1, err)) < 0)
		return rc;
	*left = e;
	return 0;
}

static int parse_index(struct parser *p, struct expr **left, struct err *err)
{
	struct expr *e, *right;
	int rc;

	if ((rc = advance(p, err)) < 0)
		return rc;
	new_node(p, EXPR_INDEX, p->tok.at, &e);
	if ((rc = parse_power(p, POWER_OR, &right, err)) < 0 || (rc = expect(p, "]", err)) < 0)
		return rc;
	right->before = *left;
	if ((rc = adopt(p, e, right, 2, err)) < 0)
		return rc;
	*left = e;
	return 0;
}

static int parse_postfix(struct parser *p, struct expr **out, struct err *err)
{
	int rc = parse_primary(p, out, err);

	while (rc == 0 && p->tok.kind == TOK_OP) {
		if (tok_is(&p->tok, "."))
			rc = parse_field(p, out, err);
		else if (tok_is(&p->tok, "["))
			rc = parse_index(p, out, err);
		else
			break;
	}
	return rc;
}

static int parse_prefix(struct parser *p, struct expr **out, struct err *err)
{
	bool not = tok_is(&p->tok, "not");
	struct expr *e, *operand;
	int rc;

	if (!not &&!tok_is(&p->tok, "-"))
		return parse_postfix(p, out, err);
	new_node(p, not ? EXPR_NOT : EXPR_NEG, p->tok.at, &e);
	if ((rc = advance(p, err)) < 0 ||
		(rc = parse_power(p, not ? POWER_NOT : POWER_SIGN, &operand, err)) < 0 ||
		(rc = adopt(p, e, operand, 1, err)) < 0)
		return rc;
	*out = e;
	return 0;
}

static const struct infix *find_infix(const struct tok *t)
{
	for (size_t i = 0; i < sizeof INFIX / sizeof *INFIX; i++)
		if (tok_is(t, INFIX[i].word))
			return &INFIX[i];
	return NULL;
}

static int parse_infix(
	struct parser *p, const struct infix *in, struct expr **left, struct err *err)
{
	struct expr *e, *right;
	int rc;

	new_node(p, in->op, p->tok.at, &e);
	if ((rc = advance(p, err)) < 0)
		return rc;
	if (in->op == EXPR_NOT_IN && (rc = expect(p, "in", err)) < 0)
		return rc;
	if ((rc = parse_power(p, in->power + 1, &right, err)) < 0)
		return rc;
	right->before = *left;
	if ((rc = adopt(p, e, right, 2, err)) < 0)
		return rc;
	*left = e;
	return 0;
}

static int check_chain(
	const struct parser *p, const struct infix *before, const struct infix *in, struct err *err)
{
	if (!before || before->power != POWER_COMPARE || in->power != POWER_COMPARE)
		return 0;
	origin_err(p->lex.origin, p->tok.at, err, E_SYNTAX, "comparisons do not chain");
	return err_hint(err, "write a < b and b < c, or use parentheses");
}

/* An expression whose operators bind at least as tightly as least. */
static int parse_power(struct parser *p, enum power least, struct expr **out, struct err *err)
{
	const struct infix *in, *before = NULL;
	int rc;

	*out = NULL;
	if (++p->depth > EXPR_DEPTH_MAX) {
		fail_deep(p, p->tok.at, err);
		return -E_LIMIT;
	}
	rc = parse_prefix(p, out, err);
	while (rc == 0 && (in = find_infix(&p->tok)) && in->power >= least) {
		if ((rc = check_chain(p, before, in, err)) < 0)
			break;
		rc = parse_infix(p, in, out, err);
		before = in;
	}
	p->depth--;
	return rc < 0 || *out ? rc : -E_INTERNAL;
}

int expr_parse_at(struct arena *a, struct str slice, const struct origin *at,
	const struct expr_local *locals, struct expr **out, struct err *err)
{
	struct parser p = {
		.lex = {a, at, slice.p, slice.p + slice.n}, .locals = locals, .last = slice.p};
	struct expr *e;
	int rc;

	if (slice.n > EXPR_BYTES_MAX)
		return origin_err(at, slice.p, err, E_LIMIT,
			"the expression is longer than %u bytes", EXPR_BYTES_MAX);
	if (!str_is_utf8(slice))
		return origin_err(at, slice.p, err, E_SYNTAX, "the expression is not UTF-8 text");
	if ((rc = advance(&p, err)) < 0)
		return rc;
	if (p.tok.kind == TOK_END)
		return origin_err(at, slice.p, err, E_SYNTAX, "the expression is empty");
	if ((rc = parse_power(&p, POWER_OR, &e, err)) < 0)
		return rc;
	if (p.tok.kind != TOK_END)
		return fail_unexpected(&p, "an operator or the end", err);
	*out = e;
	return 0;
}

int expr_parse(struct arena *a, struct str text, const struct origin *at, struct expr **out,
	struct err *err)
{
	struct origin *o = arena_alloc(a, sizeof *o);

	if (at)
		*o = *at;
	if (text.n > EXPR_BYTES_MAX)
		text = str_first(text, EXPR_BYTES_MAX + 1);
	o->text = arena_str(a, text);
	if (o->line == 0)
		o->line = o->col = 1;
	return expr_parse_at(a, o->text, o, NULL, out, err);
}

int expr_err(const struct expr *e, struct err *err, enum ec code, const char *fmt, ...)
{
	char msg[sizeof((struct err *)0)->msg];
	va_list ap;

	if (!err)
		return -(int)code;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	return origin_err(e->origin, e->at, err, code, "%s", msg);
}

struct str expr_source(const struct expr *e)
{
	struct str s = {e->from, e->from ? (size_t)(e->to - e->from) : 0};

	if (s.n <= 60)
		return s;
	for (s.n = 60; s.n > 0 && ((unsigned char)s.p[s.n] & 0xC0) == 0x80;)
		s.n--;
	return s;
}
