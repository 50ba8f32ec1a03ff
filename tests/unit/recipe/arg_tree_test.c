/* arg_tree_test - trees of typed values: what is typed, what stays text, unknown parts, caps. */
#include "agent/recipe/arg_tree.h"
#include "tests/unit/recipe/step_eval.h"

/* 'state' and 'create' are presets of merge. */
#define MERGED(values) \
	"{\"create\":true,\"path\":\"/x\",\"state\":\"present\",\"values\":" values "}"

TEST(trees_keep_their_types)
{
	static const struct world_case CASES[] = {
		{"merge: {path: /x, values: {a: 1, b: -2, c: 1.5, d: true, e: null, f: false}}",
			MERGED("{\"a\":1,\"b\":-2,\"c\":1.5,\"d\":true,\"e\":null,\"f\":false}")},
		{"merge: {path: /x, values: {a: '1', b: \"true\", c: 'null', d: '1.10', e: '0755'}}",
			MERGED("{\"a\":\"1\",\"b\":\"true\",\"c\":\"null\",\"d\":\"1.10\","
			       "\"e\":\"0755\"}")},
		{"merge: {path: /x, values: {a: no, b: yes, c: on, d: ~, e: 1.2.3, f: True, g: 1h}}",
			MERGED("{\"a\":\"no\",\"b\":\"yes\",\"c\":\"on\",\"d\":\"~\",\"e\":\"1.2.3\","
			       "\"f\":\"True\",\"g\":\"1h\"}")},
		{"merge: {path: /x, values: {a: [], b: {}, c: [1, [x, {y: 2}]]}}",
			MERGED("{\"a\":[],\"b\":{},\"c\":[1,[\"x\",{\"y\":2}]]}")},
		{"merge: {path: /x, values: {a: '{{ params.port }}', b: '{{ params.list }}',"
		 " c: 'p{{ params.port }}', d: '{{ params.tls }}', e: ['{{ params.map }}']}}",
			MERGED("{\"a\":80,\"b\":[\"a\",\"b\"],\"c\":\"p80\",\"d\":true,"
			       "\"e\":[{\"x\":\"1\",\"y\":\"2\"}]}")},
		{"merge: {path: /x, values: '{{ params.map }}'}",
			MERGED("{\"x\":\"1\",\"y\":\"2\"}")},
		{"merge: {path: /x, values: {'{{ item }}': '{{ item }}', 'a.b': ''}}",
			MERGED("{\"a.b\":\"\",\"{{ item }}\":\"i\"}")},
		{"merge: {path: /x, values: {a: [x, '{{ steps.open.y }}']}}",
			"? depends on step 2 (package)"},
		{"merge: {path: /x, values: {a: 'z{{ steps.open.y }}'}}",
			"? depends on step 2 (package)"},
		{"merge: {path: /x, values: {a: '{{ default(steps, 1) }}'}}",
			"? depends on step 2 (package)"},
		{"merge: {path: /x, values: '{{ steps.open }}'}", "? depends on step 2 (package)"},
		{"merge: {path: /x, values: '{{ params.port }}'}",
			"! 11:31 'values' must be a map or a list, not integer"},
		{"merge: {path: /x, values: 5}", "! 11:31 'values' must be a map or a list"},
		{"merge: {path: /x, values: {a: 1.10}}",
			"! 11:35 '1.10' would not stay the same as a number"},
		{"merge: {path: /x, values: {a: {b: [1, 0755]}}}",
			"! 11:43 '0755' would not stay the same as a number"},
		{"merge: {path: /x, values: {a: }}", "! 11:35 a value in 'values' is missing"},
		{"merge: {path: /x, values: {$unknown: x}}", "! 11:32 '$unknown' cannot be a key"},
	};

	step_eval_cases(CASES, sizeof CASES / sizeof *CASES);
}

TEST(trees_are_not_deep)
{
	struct world w;
	AUTO_BUF text, got;

	world_init(&w);
	for (int deep = 19; deep <= 20; deep++) {
		buf_init(&text, 4096);
		buf_init(&got, 4096);
		buf_add_text(&text, "merge: {path: /x, values: {a: ");
		for (int i = 0; i < deep; i++)
			buf_add_char(&text, '[');
		for (int i = 0; i < deep; i++)
			buf_add_char(&text, ']');
		buf_add_text(&text, "}}");
		step_eval(&w, buf_text(&text), &got);
		if (deep == 19)
			assert_int_equal(buf_text(&got)[0], '{');
		else
			assert_non_null(
				strstr(buf_text(&got), "'values' is nested deeper than 20"));
		buf_done(&text);
		buf_done(&got);
	}
	world_done(&w);
}

TEST(values_from_outside)
{
	AUTO_JSON good = world_json("{\"a\": [1, {\"b\": null}]}");
	AUTO_JSON unknown = world_json("[{\"$unknown\": \"x\"}]");
	AUTO_JSON wide = json_array();
	struct err err = {0};

	assert_int_equal(arg_tree_judge(good, "x", &err), 0);
	assert_int_equal(arg_tree_judge(unknown, "x", &err), -E_SCHEMA);
	assert_string_equal(err.msg, "'x' holds the key '$unknown'");
	for (int i = 0; i < TREE_NODES_MAX; i++)
		json_array_append_new(wide, json_integer(i));
	assert_int_equal(arg_tree_judge(wide, "x", &err), -E_LIMIT);
}

T_MAIN
