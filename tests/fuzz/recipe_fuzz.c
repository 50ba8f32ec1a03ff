/* recipe_fuzz - any bytes as a recipe: loaded, given no parameters, every step evaluated. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/recipe/recipe.h"

static void evaluate(const struct recipe *r)
{
	AUTO_JSON names = json_pack("{s:s,s:{s:s}}", "item", "x", "vars", "a", "b");
	const struct scope scope = {.names = names};
	AUTO_JSON params = NULL;
	struct err err;

	if (recipe_params(r, NULL, &params, &err) < 0)
		return;
	json_object_set(names, "params", params);
	for (unsigned i = 0; i < r->n_steps; i++) {
		AUTO_JSON args = NULL;
		const char *unknown;

		(void)step_args_eval(r, &r->steps[i], &scope, &args, &unknown, &err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	struct recipe *r;
	struct err err = {0};
	AUTO_BUF text;

	buf_init(&text, 8192);
	if (recipe_parse(a, "fuzz", (struct str){(const char *)data, n}, NULL, &r, &err) == 0) {
		evaluate(r);
		recipe_done(r);
	} else {
		err_format(&err, &text);
	}
	arena_free(a);
	return 0;
}
