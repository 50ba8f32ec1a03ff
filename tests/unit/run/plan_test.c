/*
 * Plans as data: each file of tests/plan/cases lays a state and recipes, and says what the plan
 * shows. STOIKA_UPDATE=1 rewrites what is expected; the format is in tests/plan/README.md.
 */
#include "agent/base/buf.h"
#include "tests/unit/run/stage.h"

#include <dirent.h>

#define CASES     TEST_DIR "/../../plan/cases"
#define CASE_MAX  (1u << 18)
#define CASES_MAX 200

struct plan_case {
	struct stage stage;
	enum order_mode mode;
	char recipes[256];
	json_t *params;
	struct str expect;
	size_t expect_at; /* where it begins in the file */
	bool stated;
};

static void read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	size_t n;
	char *room;

	if (!f || !(room = buf_room(out, CASE_MAX)))
		fail_msg("cannot read %s", path);
	else {
		n = fread(room, 1, CASE_MAX, f);
		buf_grew(out, n);
		fclose(f);
	}
}

static void write_file(const char *path, struct str head, struct str body)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(head.p, 1, head.n, f) != head.n || fwrite(body.p, 1, body.n, f) != body.n)
		fail_msg("cannot write %s", path);
	else
		fclose(f);
}

static json_t *read_json(struct str text)
{
	json_t *v = NULL;
	struct err err;

	if (json_parse(str_trim(text), CASE_MAX, "section", &v, &err) < 0)
		fail_msg("%s", err.msg);
	return v;
}

static void lay(int dir, struct str name, struct str body)
{
	char path[256], *text = strndup(body.p, body.n);
	struct err err;

	snprintf(path, sizeof path, STR_FMT, STR_ARG(name));
	if (str_ends(name, "/"))
		assert_int_equal(fs_mkdirs(dir, path, 0755, &err), 0);
	else
		stage_write_at(dir, path, text);
	free(text);
}

static void add_recipe(struct plan_case *c, struct str name, struct str body)
{
	char path[128];
	const size_t n = strlen(c->recipes);

	if (name.n == 0)
		name = STR_LIT("demo");
	snprintf(path, sizeof path, STR_FMT "/recipe.yaml", STR_ARG(name));
	lay(c->stage.recipes, str_of(path), body);
	snprintf(c->recipes + n, sizeof c->recipes - n, "%s" STR_FMT, n > 0 ? " " : "",
		STR_ARG(name));
}

static void take_section(struct plan_case *c, struct str head, struct str body)
{
	struct str word = head;

	if (!str_next(&head, ' ', &word))
		word = STR_LIT("");
	if (str_is(word, "FACTS"))
		c->stage.facts = read_json(body);
	else if (str_is(word, "PARAMS"))
		json_object_update_new(c->stage.params, read_json(body));
	else if (str_is(word, "STATE"))
		lay(c->stage.root, head, body);
	else if (str_is(word, "FILE"))
		lay(c->stage.recipes, head, body);
	else if (str_is(word, "RECIPE"))
		add_recipe(c, head, body);
	else if (str_is(word, "CHECK"))
		c->mode = ORDER_CHECK;
	else if (str_is(word, "EXPECT"))
		c->expect = body, c->stated = true;
	else
		fail_msg("unknown section '@" STR_FMT "'", STR_ARG(word));
}

/* A section is what stands from its @ line to the next one. */
static void take_case(struct plan_case *c, struct str text)
{
	const char *const begin = text.p;
	struct str line, head = {NULL, 0}, body = {NULL, 0};
	bool inside = false;

	while (str_line(&text, &line)) {
		if (line.n == 0 || line.p[0] != '@') {
			body.n = inside ? (size_t)(text.p - body.p) : 0;
			continue;
		}
		if (inside)
			take_section(c, head, body);
		inside = true;
		head = str_from(line, 1);
		body = (struct str){text.p, 0};
		if (str_is(head, "EXPECT"))
			c->expect_at = (size_t)(text.p - begin);
	}
	if (inside)
		take_section(c, head, body);
	if (!c->stated)
		fail_msg("no section '@EXPECT'");
}

static void print_lines(struct buf *out, const char *text)
{
	struct str rest = str_of(text), line;

	while (str_line(&rest, &line))
		buf_addf(out, "  | " STR_FMT "\n", STR_ARG(line));
}

static void print_record(struct buf *out, const json_t *r)
{
	const char *ev = json_get_str(r, "ev", ""), *why = json_get_str(r, "why", NULL);

	if (strcmp(ev, "end") == 0)
		return;
	buf_addf(out, "%s: %s", json_get_str(r, "recipe", "?"), ev);
	if (strcmp(ev, "step") == 0)
		buf_addf(out, " %lld", (long long)json_get_int(r, "step", 0));
	if (strcmp(ev, "recipe") != 0)
		buf_addf(out, " (%s)", json_get_str(r, "name", json_get_str(r, "handler", "?")));
	buf_addf(out, ": %s", json_get_str(r, "state", "?"));
	buf_addf(out, why ? ": %s\n" : "\n", why);
	print_lines(out, json_get_str(r, "diff", ""));
	if (json_get_str(r, "hint", NULL))
		buf_addf(out, "  hint: %s\n", json_get_str(r, "hint", ""));
}

static void print_plan(const struct stage *s, struct buf *out)
{
	const json_t *record;
	size_t i;

	json_array_foreach(s->events, i, record)
	{
		print_record(out, record);
	}
	buf_addf(out, "%s:", result_name(s->out.state));
	for (unsigned r = 0; r < RESULT_N; r++)
		if (s->out.counts.n[r] > 0)
			buf_addf(out, " %u %s", s->out.counts.n[r],
				result_name((enum step_result)r));
	buf_add_char(out, '\n');
	if (s->out.reason[0])
		buf_addf(out, "reason: %s\n", s->out.reason);
}

static bool run_case(const char *name)
{
	struct plan_case c = {.mode = ORDER_PLAN};
	struct buf text, got;
	char path[1024];
	bool same;

	snprintf(path, sizeof path, "%s/%s", CASES, name);
	buf_init(&text, CASE_MAX + 1);
	buf_init(&got, CASE_MAX);
	stage_init(&c.stage);
	read_file(path, &text);
	take_case(&c, buf_str(&text));
	stage_run(&c.stage, c.mode, c.recipes);
	print_plan(&c.stage, &got);
	same = str_eq(buf_str(&got), c.expect);
	if (!same && getenv("STOIKA_UPDATE"))
		write_file(path, str_first(buf_str(&text), c.expect_at), buf_str(&got));
	else if (!same)
		print_error("%s: the plan is\n%s", name, buf_text(&got));
	stage_done(&c.stage);
	buf_done(&text);
	buf_done(&got);
	return same || getenv("STOIKA_UPDATE");
}

TEST(plan_cases)
{
	struct dirent **names;
	const int n = scandir(CASES, &names, NULL, alphasort);
	int ran = 0, bad = 0;

	for (int i = 0; i < n; i++) {
		if (str_ends(str_of(names[i]->d_name), ".test")) {
			ran++;
			bad += !run_case(names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	assert_true(ran > 0 && ran < CASES_MAX);
	assert_int_equal(bad, 0);
}

T_MAIN
