/* yaml_fuzz - a document that is taken keeps what yaml.h promises; a refusal has words. */
#include "agent/base/buf.h"
#include "agent/base/yaml.h"

#include <stdlib.h>

static void check(bool promise)
{
	if (!promise)
		abort();
}

/* Depth is capped by what is under test, so recursion is fine here. */
static void check_node(const struct yaml_node *n, int depth)
{
	check(n->line > 0 && n->col > 0 && depth <= 33);
	check(n->text.p[n->text.n] == '\0' && str_is_utf8(n->text));
	for (unsigned i = 0; i < n->n; i++) {
		check_node(n->item[i], depth + 1);
		if (n->kind != YAML_MAP)
			continue;
		check_node(n->key[i], depth + 1);
		check(n->key[i]->kind == YAML_SCALAR && n->key[i]->text.n > 0);
		check(yaml_key(n, n->key[i]->text.p) == n->key[i]); /* no duplicate before it */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	struct yaml_doc *doc = NULL;
	struct err err = {0};
	AUTO_BUF text;

	buf_init(&text, 16384);
	if (yaml_parse(a, "fuzz", (struct str){(const char *)data, n}, &YAML_CAPS_RECIPE, &doc,
		    &err) == 0) {
		check_node(doc->root, 1);
		(void)yaml_err(doc, doc->root, &err, E_SCHEMA, "shown");
	}
	err_format(&err, &text);
	check(err.msg[0] && buf_ok(&text) && str_is_utf8(buf_str(&text)));
	arena_free(a);
	return 0;
}
