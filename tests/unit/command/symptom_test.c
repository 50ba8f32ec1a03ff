/* symptom - records of nodes to findings: the same is told once, with its nodes, in 80 columns. */
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "controller/command/symptom.h"
#include "tests/unit/t.h"

static const struct node_row NODES[] = {
	{.id = 1, .name = "gpu01"}, {.id = 2, .name = "gpu02"}, {.id = 3, .name = "gpu03"}};

static const char FABRIC[] =
	"{\"ev\": \"check\", \"recipe\": \"doctor-fabric\", \"id\": \"F25\", \"name\": \"it runs\","
	" \"state\": \"failed\", \"why\": \"2 NVSwitches and no Fabric Manager: nvidia-smi looks well,"
	" and CUDA fails with 802\", \"hint\": \"install and start nvidia-fabricmanager\"}";
static const char WARNING[] =
	"{\"ev\": \"check\", \"recipe\": \"doctor-gpu\", \"id\": \"F71\", \"name\": \"no row waits\","
	" \"level\": \"warn\", \"state\": \"ok\", \"why\": \"rows wait\", \"hint\": \"restart it\"}";

static void take(struct symptoms *f, struct arena *a, unsigned node, const char *text)
{
	AUTO_JSON record = NULL;
	struct err err;

	assert_int_equal(json_parse(str_of(text), 1 << 16, "record", &record, &err), 0);
	symptom_record(f, a, &NODES[node], record);
}

TEST(one_finding_of_many_nodes_is_told_once)
{
	struct arena *a = arena_new();
	struct symptoms f = VEC_INIT;

	take(&f, a, 0, WARNING);
	take(&f, a, 2, FABRIC);
	take(&f, a, 0, FABRIC);
	take(&f, a, 0, FABRIC);
	assert_int_equal(f.n, 2);
	symptom_sort(&f);
	assert_string_equal(f.at[0].id, "F25"); /* a failure stands before a warning */
	assert_int_equal(f.at[0].nodes.n, 2);
	assert_true(f.at[1].warning);
	assert_int_equal(symptom_count(&f, false), 1);
	assert_int_equal(symptom_count(&f, true), 1);
	symptom_done(&f);
	arena_free(a);
}

TEST(what_is_well_or_unknown_is_no_finding)
{
	static const char *const fine[] = {
		"{\"ev\": \"check\", \"name\": \"x\", \"state\": \"ok\"}",
		"{\"ev\": \"check\", \"name\": \"x\", \"state\": \"unknown\", \"why\": \"y\"}",
		"{\"ev\": \"check\", \"name\": \"x\", \"level\": \"warn\", \"state\": \"unknown\"}",
		"{\"ev\": \"step\", \"name\": \"x\", \"state\": \"changed\"}",
		"{\"ev\": \"recipe\", \"recipe\": \"x\", \"state\": \"skipped\"}",
		"{\"ev\": \"end\", \"state\": \"failed\"}"};
	struct arena *a = arena_new();
	struct symptoms f = VEC_INIT;

	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		take(&f, a, 0, fine[i]);
	assert_int_equal(f.n, 0);
	take(&f, a, 0,
		"{\"ev\": \"step\", \"name\": \"headers\", \"state\": \"failed\", \"why\": \"none\"}");
	take(&f, a, 0,
		"{\"ev\": \"recipe\", \"recipe\": \"x\", \"state\": \"failed\", \"why\": \"no\"}");
	assert_int_equal(f.n, 2);
	symptom_done(&f);
	arena_free(a);
}

static void assert_text(const char *all, const char *part)
{
	if (!strstr(all, part))
		fail_msg("'%s' is not in:\n%s", part, all);
}

static void say(enum text_lang lang, struct buf *out)
{
	struct arena *a = arena_new();
	struct symptoms f = VEC_INIT;

	take(&f, a, 0, FABRIC);
	take(&f, a, 1, FABRIC);
	take(&f, a, 1, WARNING);
	symptom_unanswered(&f, a, &NODES[2], "connection refused", "is it up?");
	symptom_sort(&f);
	symptom_text(&f, lang, out);
	symptom_done(&f);
	arena_free(a);
}

TEST(text_fits_into_80_columns)
{
	struct str rest, line;
	AUTO_BUF out;

	buf_init(&out, 1 << 16);
	say(LANG_EN, &out);
	assert_string_equal(buf_text(&out),
		"ID    LEVEL           NODES, WHAT WAS FOUND, WHAT TO DO\n"
		"-     failure         gpu03\n"
		"      connection refused\n"
		"      do: is it up?\n"
		"F25   failure         gpu[01,02]\n"
		"      2 NVSwitches and no Fabric Manager: nvidia-smi looks well, and CUDA fails\n"
		"      with 802\n"
		"      do: install and start nvidia-fabricmanager\n"
		"F71   warning         gpu02\n"
		"      rows wait\n"
		"      do: restart it\n");
	rest = buf_str(&out);
	while (str_line(&rest, &line))
		assert_true(line.n <= 80);
}

TEST(headings_are_russian_too)
{
	AUTO_BUF out;

	buf_init(&out, 1 << 16);
	say(LANG_RU, &out);
	assert_text(buf_text(&out), "КОД   УРОВЕНЬ         УЗЛЫ");
	assert_text(buf_text(&out), "F71   предупреждение  gpu02");
	assert_text(buf_text(&out), "делать: restart it");
}

TEST(json_has_every_part)
{
	struct arena *a = arena_new();
	struct symptoms f = VEC_INIT;
	AUTO_JSON list = NULL;
	const json_t *one;

	take(&f, a, 1, WARNING);
	list = symptom_json(&f);
	one = json_array_get(list, 0);
	assert_string_equal(json_get_str(one, "id", ""), "F71");
	assert_string_equal(json_get_str(one, "level", ""), "warn");
	assert_string_equal(json_get_str(one, "check", ""), "no row waits");
	assert_string_equal(json_get_str(one, "found", ""), "rows wait");
	assert_string_equal(json_get_str(one, "hint", ""), "restart it");
	assert_string_equal(json_string_value(json_array_get(json_get(one, "nodes"), 0)), "gpu02");
	symptom_done(&f);
	arena_free(a);
}

T_MAIN
