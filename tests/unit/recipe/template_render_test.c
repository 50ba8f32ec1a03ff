/* template_render_test - a template and the text it gives ("? why" unknown, "! text" error). */
#include "tests/unit/recipe/world.h"

static void render(struct world *w, const char *text, size_t cap, struct buf *got, struct err *err)
{
	const struct origin at = {.file = "case", .line = 1, .col = 1};
	struct template *t = NULL;
	const char *unknown = "untouched";
	AUTO_BUF out;
	int rc;

	buf_init(&out, cap);
	if (template_parse(w->arena, str_of(text), &at, &t, err) < 0)
		fail_msg("%s: %s", text, err->msg);
	rc = template_render(t, &w->scope, &out, &unknown, err);
	if (rc < 0) {
		buf_addf(got, "! %s", err->msg);
	} else if (unknown) {
		assert_int_equal(out.n, 0);
		buf_addf(got, "? %s", unknown);
	} else {
		buf_add_str(got, buf_str(&out));
	}
}

TEST(texts)
{
	static const struct world_case CASES[] = {
		{"", ""},
		{"plain { } }} text\n", "plain { } }} text\n"},
		{"a {{ params.name }} b", "a web b"},
		{"{{params.port}}{{ params.rate }}{{ params.tls }}", "801.5true"},
		{"{{ '{{' }} {{ '}}' }} {{ '%}' }}", "{{ }} %}"},
		{"a{# {{ nobody }} it's gone #}b", "ab"},
		{"{% if params.tls %}yes{% else %}no{% endif %}", "yes"},
		{"{% if not params.tls %}yes{% else %}no{% endif %}", "no"},
		{"{% if false %}a{% elif true %}b{% else %}c{% endif %}", "b"},
		{"{% if false %}a{% elif false %}b{% endif %}", ""},
		{"{% for x in params.list %}{{ x }},{% endfor %}", "a,b,"},
		{"{% for x in [] %}{{ x }},{% endfor %}", ""},
		{"{% for k in params.map %}{{ k }}={{ params.map[k] }} {% endfor %}", "x=1 y=2 "},
		{"{% for x in [1,2] %}{% for y in ['a'] %}{{ y }}{{ x }} {% endfor %}{% endfor %}",
			"a1 a2 "},
		{"{%for x in[1]%}{{x}}{%endfor%}", "1"},
		{"{% for x in\n [1]\n%}{{ x }}{% endfor %}", "1"},
		{"{{ '%}' }}{% if '%}' == '%}' %}x{% endif %}", "%}x"},
		{"gr\xC3\xBCn {{ 'gr\xC3\xBCn' }}", "gr\xC3\xBCn gr\xC3\xBCn"},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		AUTO_BUF got;

		buf_init(&got, 4096);
		render(&w, CASES[i].text, 4096, &got, &err);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
	world_done(&w);
}

TEST(a_line_with_only_a_tag_vanishes)
{
	static const struct world_case CASES[] = {
		{"a\n{% if true %}\nb\n{% endif %}\nc\n", "a\nb\nc\n"},
		{"a\n  {% if true %}  \n  b\n  {% endif %}\nc\n", "a\n  b\nc\n"},
		{"a\r\n{% if true %}\r\nb\r\n{% endif %}\r\n", "a\r\nb\r\n"},
		{"{% if true %}\nb\n{% endif %}", "b\n"},
		{"x {% if true %}\nb\n{% endif %} y\n", "x \nb\n y\n"},
		{"{% if true %} {% endif %}\nb\n", " \nb\n"},
		{"{{ params.port }}\n", "80\n"},
		{"a\n  {# comment #}\nb\n", "a\nb\n"},
		{"a {# comment #}\nb\n", "a \nb\n"},
		{"{# two\nlines #}\nb\n", "b\n"},
		{"{% for x in [1, 2] %}\n- {{ x }}\n{% endfor %}\nend\n", "- 1\n- 2\nend\n"},
		{"\n\n{% if false %}\nx\n{% endif %}\n\n", "\n\n\n"},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		AUTO_BUF got;

		buf_init(&got, 4096);
		render(&w, CASES[i].text, 4096, &got, &err);
		assert_string_equal(buf_text(&got), CASES[i].want);
	}
	world_done(&w);
}

TEST(unknown_and_errors)
{
	static const struct {
		const char *text, *want;
		unsigned line, col;
	} CASES[] = {
		{"a {{ steps.open.x }}", "? depends on step 2 (package)", 0, 0},
		{"{% if steps.open.x %}a{% endif %}", "? depends on step 2 (package)", 0, 0},
		{"{% for x in steps.open.x %}a{% endfor %}", "? depends on step 2 (package)", 0, 0},
		{"{% if true or steps.open.x %}a{% endif %}", "a", 0, 0},
		{"{% if false %}{{ steps.open.x }}{% endif %}a", "a", 0, 0},
		{"{% for x in [1, steps.open.x] %}{{ x }}{% endfor %}",
			"? depends on step 2 (package)", 0, 0},
		{"a\nb {{ params.prot }}", "! 'params.prot' is not defined", 2, 13},
		{"{{ params.list }}", "! a list cannot be written as text", 1, 11},
		{"{{ params.map }}", "! a map cannot be written as text", 1, 11},
		{"{% if params.name %}{% endif %}", "! 'params.name' is text, not true or false", 1,
			14},
		{"{% for x in params.port %}{% endfor %}", "! cannot loop over integer", 1, 20},
		{"{% for x in [1] %}\n{{ x.y }}{% endfor %}", "! 'x' is integer, it has no fields",
			2, 6},
	};
	struct world w;

	world_init(&w);
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err err = {0};
		AUTO_BUF got;

		buf_init(&got, 4096);
		render(&w, CASES[i].text, 4096, &got, &err);
		assert_string_equal(buf_text(&got), CASES[i].want);
		assert_int_equal(err.line, CASES[i].line);
		assert_int_equal(err.col, CASES[i].col);
	}
	world_done(&w);
}

TEST(output_and_steps_are_capped)
{
	struct world w;
	struct err err = {0};
	AUTO_BUF text;
	AUTO_BUF got;

	buf_init(&text, 65536);
	buf_init(&got, 4096);
	world_init(&w);
	render(&w, "{% for x in [1, 2, 3] %}0123456789{% endfor %}", 20, &got, &err);
	assert_string_equal(buf_text(&got), "! the text becomes longer than 20 bytes");
	buf_clear(&got);
	for (char c = 'a'; c < 'j'; c++)
		buf_addf(&text, "{%% for %c in [1, 2, 3, 4, 5] %%}", c);
	for (char c = 'a'; c < 'j'; c++)
		buf_add_text(&text, "{% endfor %}");
	render(&w, buf_text(&text), 4096, &got, &err);
	assert_string_equal(buf_text(&got), "! the loops take more than 1000000 steps");
	world_done(&w);
}

T_MAIN
