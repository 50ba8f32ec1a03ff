/* shell_use_test - what stands unquoted in a line for a shell. */
#include "agent/base/err.h"
#include "agent/recipe/shell_use.h"
#include "tests/unit/t.h"

/* A line, and the name that must be quoted in it; NULL: none. */
static const struct {
	const char *line, *name;
} LINES[] = {
	{"echo hello", NULL},
	{"useradd {{ params.user }}", "params.user"},
	{"useradd '{{ params.user }}'", "params.user"},
	{"useradd {{ quote(params.user) }}", NULL},
	{"sleep {{ params.seconds }}", NULL},
	{"x --{{ params.mode }} {{ params.on }}", NULL},
	{"x {{ params.seconds }} {{ params.list[0] }}", "params.list"},
	{"x {{ quote(join(params.list, ' ')) }}", NULL},
	{"x {{ join(params.list, ' ') }}", "params.list"},
	{"x {{ vars.site }}", "vars.site"},
	{"x {{ facts.os.id }}", "facts.os.id"},
	{"x {{ upper(params.user) }}", "params.user"},
	{"x {{ len(params.user) }}", NULL},
	{"x {{ 'a' + quote(params.user) }}", NULL},
	{"x {{ quote('a') + params.user }}", "params.user"},
	{"x {{ default(quote(params.user), 'none') }}", NULL},
	{"x {{ default(params.user, 'none') }}", "params.user"},
	{"{% if params.on %}x {{ params.user }}{% endif %}", "params.user"},
	{"{% if params.on %}x{% else %}{{ params.user }}{% endif %}", "params.user"},
	{"{% for i in params.list %}x {{ i }};{% endfor %}", "i"},
	{"{% for i in params.list %}x {{ quote(i) }};{% endfor %}", NULL},
	{"{% if params.user == 'a' %}x{% endif %}", NULL},
	{"x {{ params.user == 'a' }}", NULL},
	{"x {{ node.name }}", "node.name"},
};

static const char HEAD[] = "recipe: demo\nabout: a test\nparams:\n"
			   "  user: {type: text, default: a, about: x}\n"
			   "  seconds: {type: int, default: 1, about: x}\n"
			   "  mode: {type: choice, choices: [a, b], default: a, about: x}\n"
			   "  on: {type: bool, default: true, about: x}\n"
			   "  list: {type: list, default: [a], about: x}\n"
			   "steps:\n  - command:\n      shell: |\n        ";

TEST(shell_lines)
{
	for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
		struct arena *a = arena_new();
		char text[2048], name[SHELL_NAME_MAX] = "";
		struct recipe *r;
		struct err err;
		bool found;

		snprintf(text, sizeof text, "%s%s\n", HEAD, LINES[i].line);
		if (recipe_parse(a, "demo", str_of(text), NULL, &r, &err) < 0)
			fail_msg("%s: %s", LINES[i].line, err.msg);
		found = shell_finds_unquoted(r, r->steps[0].args[0].text, name);
		if (found != (LINES[i].name != NULL) || (found && strcmp(name, LINES[i].name) != 0))
			fail_msg("%s: '%s'", LINES[i].line, name);
		recipe_done(r);
		arena_free(a);
	}
}

T_MAIN
