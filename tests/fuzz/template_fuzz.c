/* template_fuzz - any bytes as a template: parsed and rendered over a small scope. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/recipe/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct origin at = {.file = "fuzz", .line = 1, .col = 1};
	AUTO_JSON names = json_pack("{s:{s:i,s:[s,i],s:f},s:s,s:{s:{s:s}}}", "params", "port", 80,
		"list", "a", 1, "rate", 0.5, "item", "x", "steps", "open", "$unknown", "why");
	const struct scope scope = {.names = names};
	struct arena *a = arena_new();
	struct template *t;
	const char *unknown;
	struct err err;
	AUTO_BUF out;

	buf_init(&out, 64u << 10);
	if (template_parse(a, (struct str){(const char *)data, n}, &at, &t, &err) == 0)
		(void)template_render(t, &scope, &out, &unknown, &err);
	arena_free(a);
	return 0;
}
