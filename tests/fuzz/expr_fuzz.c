/* expr_fuzz - any bytes as an expression: parsed, its names told, evaluated over a small scope. */
#include "agent/base/err.h"
#include "agent/recipe/expr.h"

static void see(void *ctx, const char *name)
{
	*(size_t *)ctx += name[0] != '\0';
}

static int no_facts(void *ctx, const char *group, json_t **out, struct err *err)
{
	(void)err;
	*out = json_get(ctx, group);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct origin at = {.file = "fuzz", .line = 1, .col = 1};
	AUTO_JSON names = json_pack("{s:{s:i,s:[s,i],s:f},s:s,s:{s:{s:s}}}", "params", "port", 80,
		"list", "a", 1, "rate", 0.5, "item", "x", "steps", "open", "$unknown", "why");
	const struct scope scope = {.names = names, .ctx = names, .facts = no_facts};
	struct arena *a = arena_new();
	struct expr *e;
	struct value v;
	struct err err;
	size_t seen = 0;

	if (expr_parse(a, (struct str){(const char *)data, n}, &at, &e, &err) == 0) {
		expr_names(e, see, &seen);
		if (expr_eval(e, &scope, &v, &err) == 0)
			value_done(&v);
	}
	arena_free(a);
	return 0;
}
