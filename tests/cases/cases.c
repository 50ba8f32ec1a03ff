/* cases [-q] FILE... - runs data files; status 1 when a case failed. */
#include "tests/cases/cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void case_report(struct tally *t, bool passed, const char *name, const char *fmt, ...)
{
	va_list ap;

	passed ? t->passed++ : t->failed++;
	if (passed && t->quiet)
		return;
	printf("%s %s: %s: ", passed ? "ok    " : "FAILED", t->file, name ? name : "?");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

bool case_near(double expected, double got, double tolerance)
{
	if (isnan(expected) || isnan(got))
		return isnan(expected) && isnan(got);
	return fabs(got - expected) <= (expected == 0 ? tolerance : tolerance * fabs(expected));
}

const char *case_text(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *n = yaml_get(map, key);

	return n && n->kind == YAML_SCALAR ? n->text.p : NULL;
}

double case_number(const struct yaml_node *map, const char *key, double otherwise)
{
	const struct yaml_node *n = yaml_get(map, key);
	double v;

	return n && n->kind == YAML_SCALAR && str_to_f64(n->text, &v) ? v : otherwise;
}

unsigned case_values(const struct yaml_node *node, struct case_value *out, unsigned max)
{
	unsigned n = 0;

	if (!node || max == 0 || node->kind == YAML_MAP)
		return 0;
	if (node->kind == YAML_SCALAR) {
		out->word = node->text.p;
		if (!str_to_f64(node->text, &out->number))
			out->number = NAN;
		return 1;
	}
	for (unsigned i = 0; i < node->n; i++)
		n += case_values(node->item[i], out + n, max - n);
	return n;
}

static void run_file(struct tally *t, const char *path)
{
	struct arena *a = arena_new();
	struct yaml_doc *doc;
	struct err err;

	t->file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (yaml_load(a, path, &YAML_CAPS_SITE, &doc, &err) < 0)
		case_report(t, false, "file", "%s:%u:%u: %s", err.file, err.line, err.col, err.msg);
	else if (yaml_get(doc->root, "site"))
		case_audits(t, doc);
	else if (yaml_get(doc->root, "schema_version"))
		case_sizings(t, doc);
	else
		case_rules(t, doc);
	arena_free(a);
}

int main(int argc, char **argv)
{
	struct tally t = {0};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-q") == 0)
			t.quiet = true;
		else
			run_file(&t, argv[i]);
	}
	printf("%u passed, %u failed\n", t.passed, t.failed);
	return t.failed > 0 || t.passed == 0;
}
