/* kind_test - the table of kinds is whole: presets fit their types, groups name real parameters. */
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/recipe/kind.h"
#include "agent/recipe/type.h"
#include "tests/unit/t.h"

#include <string.h>

static void check_names(const struct kind *k, const char *const *names)
{
	for (; names && *names; names++)
		if (!kind_param_find(k, *names))
			fail_msg("%s has no parameter %s", k->name, *names);
}

TEST(groups_name_parameters)
{
	const struct kind *k;

	for (unsigned i = 0; (k = kind_at(i)); i++) {
		check_names(k, k->one_of);
		check_names(k, k->not_both);
		if (k->unless_absent)
			assert_non_null(kind_param_find(k, k->unless_absent));
	}
}

TEST(every_kind_has_its_manual)
{
	const struct kind *k;

	for (unsigned i = 0; (k = kind_at(i)); i++) {
		if (!k->about || !k->check || !k->apply || !k->undo || !k->example)
			fail_msg("%s lacks a part of its manual", k->name);
		if (strncmp(k->example, k->name, strlen(k->name)) != 0)
			fail_msg("%s: the example shows another kind", k->name);
	}
}

TEST(presets_fit_their_types)
{
	const struct kind *k;

	for (unsigned i = 0; (k = kind_at(i)); i++) {
		for (const struct kind_param *p = k->params; p->name; p++) {
			const struct type t = {p->type, p->choices, p->name, true, NULL};
			AUTO_JSON v = NULL;
			struct err err = {0};

			assert_non_null(p->about);
			assert_int_equal(p->type == PARAM_CHOICE, p->choices != NULL);
			if (p->preset && type_from_text(&t, str_of(p->preset), &v, &err) < 0)
				fail_msg("%s: %s", k->name, err.msg);
		}
	}
}

TEST(names_are_found_and_unique)
{
	const struct kind *k;

	for (unsigned i = 0; (k = kind_at(i)); i++) {
		assert_ptr_equal(kind_find(k->name), k);
		for (const struct kind_param *p = k->params; p->name; p++)
			assert_ptr_equal(kind_param_find(k, p->name), p);
	}
	assert_null(kind_find("pakage"));
	assert_null(kind_param_find(kind_find("package"), "name"));
}

T_MAIN
