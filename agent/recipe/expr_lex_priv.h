/* expr_lex_priv - the words of an expression, for expr_parse.c. */
#pragma once

#include "agent/recipe/expr_priv.h"

enum tok_kind {
	TOK_END,
	TOK_NAME,
	TOK_TEXT,
	TOK_INT,
	TOK_REAL,
	TOK_OP
};

struct tok {
	enum tok_kind kind;
	const char *at, *end;
	struct str text; /* TOK_NAME, TOK_OP as written; TOK_TEXT without quotes and escapes */
	int64_t integer;
	double real;
};

struct lexer {
	struct arena *arena;
	const struct origin *origin;
	const char *p, *end;
};

int expr_lex_next(struct lexer *l, struct tok *out, struct err *err);
bool tok_is(const struct tok *t, const char *word); /* a name or an operator */
