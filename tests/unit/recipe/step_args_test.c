/* step_args_test - arguments evaluated, typed and completed; what is unknown; mistakes at load. */
#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/step_eval.h"

TEST(values_are_typed_and_completed)
{
	static const struct world_case CASES[] = {
		{"package: {names: [a, 'b={{ params.port }}']}",
			"{\"downgrade\":false,\"names\":[\"a\",\"b=80\"],\"override_holds\":false,\"purge\":false,"
			"\"repair\":false,\"state\":\"present\",\"wait\":120}"},
		{"package: {names: '{{ params.list }}', state: latest}",
			"{\"downgrade\":false,\"names\":[\"a\",\"b\"],\"override_holds\":false,\"purge\":false,"
			"\"repair\":false,\"state\":\"latest\",\"wait\":120}"},
		{"package: {names: '{{ params.list + [1] }}'}",
			"{\"downgrade\":false,\"names\":[\"a\",\"b\",\"1\"],\"override_holds\":false,\"purge\":false,"
			"\"repair\":false,\"state\":\"present\",\"wait\":120}"},
		{"file: {path: '/etc/{{ item }}', content: 'p={{ params.port }}', mode: 0640}",
			"{\"content\":\"p=80\",\"mode\":\"0640\",\"path\":\"/etc/i\","
			"\"state\":\"present\"}"},
		{"file: {path: /x, content: ''}",
			"{\"content\":\"\",\"path\":\"/x\",\"state\":\"present\"}"},
		{"service: {name: 'a@{{ item }}', enabled: '{{ params.tls }}'}",
			"{\"enabled\":true,\"name\":\"a@i\",\"state\":\"running\"}"},
		{"sysctl: {values: {vm.swappiness: 1, 'net.x': '{{ params.port }}'}}",
			"{\"live\":true,\"path\":\"/etc/sysctl.d/90-stoika.conf\","
			"\"values\":{\"net.x\":\"80\",\"vm.swappiness\":\"1\"}}"},
		{"sysctl: {values: '{{ params.map }}', live: false}",
			"{\"live\":false,\"path\":\"/etc/sysctl.d/90-stoika.conf\","
			"\"values\":{\"x\":\"1\",\"y\":\"2\"}}"},
		{"user: {name: u, uid: 1000}",
			"{\"create_home\":false,\"name\":\"u\",\"state\":\"present\","
			"\"system\":false,\"uid\":1000}"},
		{"command: {run: [a, ''], unless: exists('/x')}",
			"{\"background\":false,\"cwd\":\"/\",\"run\":[\"a\",\"\"],\"timeout\":300}"},
		{"link: {path: /x, state: absent}", "{\"path\":\"/x\",\"state\":\"absent\"}"},
	};

	step_eval_cases(CASES, sizeof CASES / sizeof *CASES);
}

TEST(unknown_arguments)
{
	static const struct world_case CASES[] = {
		{"package: {names: ['{{ steps.open.x }}']}", "? depends on step 2 (package)"},
		{"package: {names: '{{ steps.open.x }}'}", "? depends on step 2 (package)"},
		{"file: {path: /x, content: 'a{{ steps.open.x }}'}",
			"? depends on step 2 (package)"},
		{"user: {name: u, uid: '{{ steps.open.x }}'}", "? depends on step 2 (package)"},
	};

	step_eval_cases(CASES, sizeof CASES / sizeof *CASES);
}

TEST(values_of_the_wrong_type)
{
	static const struct world_case CASES[] = {
		{"file: {path: '{{ params.name }}', content: ''}",
			"! 11:18 'path' must be an absolute path, not 'web'"},
		{"user: {name: u, uid: '{{ params.name }}'}",
			"! 11:26 'uid' must be a whole number, not 'web'"},
		{"package: {names: '{{ params.name }}'}",
			"! 11:33 'names' must be a list of texts, not text"},
		{"sysctl: {values: '{{ params.list }}'}",
			"! 11:33 'values' must be a map of texts, not list"},
		{"package: {names: '{{ [params.list] }}'}",
			"! 11:26 a list cannot be written as text"},
		{"service: {name: x, enabled: '{{ params.port }}'}",
			"! 11:33 'enabled' must be true or false, not '80'"},
		{"service: {name: x, state: '{{ params.name }}'}",
			"! 11:31 'state' must be running, stopped, restarted, reloaded or unchanged, "
			"not 'web'"},
		{"package: {names: ' {{ params.list }}'}",
			"! 11:22 'names' must be a list of texts"},
	};

	step_eval_cases(CASES, sizeof CASES / sizeof *CASES);
}

TEST(guards_are_found_by_name)
{
	struct arena *a = arena_new();
	struct recipe *r = NULL;
	struct err err = {0};

	assert_int_equal(recipe_parse(a, "demo",
				 STR_LIT("recipe: demo\nsteps:\n"
					 "  - command: {run: [a], unless: exists('/x')}\n"),
				 NULL, &r, &err),
		0);
	assert_non_null(step_arg_find(&r->steps[0], "unless"));
	assert_non_null(step_arg_find(&r->steps[0], "unless")->expr);
	assert_null(step_arg_find(&r->steps[0], "run"));
	assert_null(step_arg_find(&r->steps[0], "nothing"));
	recipe_done(r);
	arena_free(a);
}

T_MAIN
