/* case_rule - rule cases: a function, its arguments, what it must give. */
#include "tests/cases/cases.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 0.005

static const struct case_function *find_in(const struct case_function *list, const char *name)
{
	for (; list->name; list++)
		if (strcmp(list->name, name) == 0)
			return list;
	return NULL;
}

static void compare(struct tally *t, const char *name, const struct yaml_node *c,
	const struct case_value *got, unsigned n)
{
	const double tolerance = case_number(c, "tolerance", TOLERANCE);
	struct case_value want[CASE_VALUES_MAX];
	const unsigned wanted = case_values(yaml_get(c, "expect"), want, CASE_VALUES_MAX);

	if (wanted == 0 || wanted != n) {
		case_report(t, false, name, "%u values expected, %u given", wanted, n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (got[i].word)
			case_report(t, strcmp(want[i].word, got[i].word) == 0, name,
				"expected %s, got %s", want[i].word, got[i].word);
		else if (strcmp(want[i].word, "refused") == 0)
			case_report(t, isnan(got[i].number), name, "expected refused, got %g",
				got[i].number);
		else
			case_report(t, case_near(want[i].number, got[i].number, tolerance), name,
				"expected %s, got %.6g, error %.3f %%", want[i].word, got[i].number,
				100 * fabs(got[i].number / want[i].number - 1));
	}
}

static void run_case(struct tally *t, const struct yaml_node *c)
{
	const char *name = case_text(c, "name"), *function = case_text(c, "function");
	struct case_value args[CASE_ARGS_MAX], got[CASE_VALUES_MAX] = {{0, NULL}};
	const unsigned n = case_values(yaml_get(c, "args"), args, CASE_ARGS_MAX);
	const struct case_function *f = NULL;

	if (function)
		f = find_in(CASE_FORMULAS, function);
	if (function && !f)
		f = find_in(CASE_OTHERS, function);
	if (!f)
		case_report(t, false, name, "there is no function '%s'", function ? function : "");
	else if (f->args && f->args != n)
		case_report(t, false, name, "'%s' takes %u arguments, %u are given", function,
			f->args, n);
	else
		compare(t, name, c, got, f->run(args, n, got));
}

void case_rules(struct tally *t, const struct yaml_doc *doc)
{
	const struct yaml_node *cases = yaml_get(doc->root, "cases");

	if (!cases || cases->kind != YAML_LIST || cases->n == 0)
		case_report(t, false, "file", "has no list 'cases' and no 'site'");
	else
		for (unsigned i = 0; i < cases->n; i++)
			run_case(t, cases->item[i]);
}
