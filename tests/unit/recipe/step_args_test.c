/* step_args_test - arguments evaluated, typed and completed; what is unknown; mistakes at load. */
#include "agent/recipe/recipe.h"
#include "tests/unit/recipe/world.h"

/* One step's arguments as JSON, "? why" or "! message". */
static void eval(struct world *w, const char *step, struct buf *out)
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

static void run(const struct world_case *cases, size_t n)
{
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < n; i++) {
		AUTO_BUF got;

		buf_init(&got, 4096);
		eval(&w, cases[i].text, &got);
		if (strcmp(buf_text(&got), cases[i].want) != 0)
			fail_msg("%s\n  gives  %s\n  wanted %s", cases[i].text, buf_text(&got),
				cases[i].want);
	}
	world_done(&w);
}

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

	run(CASES, sizeof CASES / sizeof *CASES);
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

	run(CASES, sizeof CASES / sizeof *CASES);
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

	run(CASES, sizeof CASES / sizeof *CASES);
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
