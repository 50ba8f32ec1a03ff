/* step_eval - one step's arguments, evaluated in a small recipe, for tables of cases. */
#pragma once

#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/world.h"

/* One step's arguments as JSON, "? why" or "! message". */
static inline void step_eval(struct world *w, const char *step, struct buf *out)
{
	const char *text = arena_printf(w->arena,
		"recipe: demo\nparams:\n  port: {type: int, default: 1}\n"
		"  name: {type: text, default: x}\n  tls: {type: bool, default: true}\n"
		"  list: {type: list, default: []}\n  map: {type: map, default: {}}\n"
		"steps:\n  - package: {names: [a]}\n    as: open\n  - %s\n    each: [i]\n",
		step);
	struct recipe *r = NULL;
	struct err err = {0};
	const char *unknown = "untouched";
	AUTO_JSON args = NULL;
	int rc = recipe_parse(w->arena, "demo", str_of(text), NULL, &r, &err);

	if (rc == 0)
		rc = step_args_eval(r, &r->steps[1], &w->scope, &args, &unknown, &err);
	if (rc < 0)
		buf_addf(out, "! %u:%u %s", err.line, err.col, err.msg);
	else if (unknown)
		buf_addf(out, "? %s%s", unknown, args ? " and arguments" : "");
	else
		json_write(args, out);
	recipe_done(r);
}

static inline void step_eval_cases(const struct world_case *cases, size_t n)
{
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < n; i++) {
		AUTO_BUF got;

		buf_init(&got, 4096);
		step_eval(&w, cases[i].text, &got);
		if (strcmp(buf_text(&got), cases[i].want) != 0)
			fail_msg("%s\n  gives  %s\n  wanted %s", cases[i].text, buf_text(&got),
				cases[i].want);
	}
	world_done(&w);
}
