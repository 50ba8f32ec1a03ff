/* report - tables fit a terminal, lose nothing in a pipe, and say the same in JSON. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/report/report.h"
#include "tests/unit/t.h"

#define NOW INT64_C(1796000000)

static const struct report_opts PIPE = {0};
static const struct report_opts TTY = {.width = 80};
static const struct report_opts JSON = {.json = true};

static void buf_start(struct buf *out)
{
	buf_init(out, 1u << 20);
}

static size_t widest(const char *text)
{
	struct str rest = str_of(text), line;
	size_t most = 0;

	while (str_line(&rest, &line)) {
		size_t n = 0;

		for (size_t i = 0; i < line.n; i++)
			n += ((unsigned char)line.p[i] & 0xc0) != 0x80;
		most = n > most ? n : most;
	}
	return most;
}

static struct model *example(const char *name)
{
	AUTO_STR path = xasprintf(TEST_DIR "/../../../inventory/examples/%s.yaml", name);
	struct err_list errors = {0};
	struct model *m = NULL;

	assert_int_equal(import_site(path, &m, &errors), 0);
	return m;
}

static void has(const struct buf *out, const char *text)
{
	if (!strstr(buf_text(out), text))
		fail_msg("'%s' is not in\n%s", text, buf_text(out));
}

static json_t *parsed(const struct buf *out)
{
	json_t *v = NULL;

	assert_int_equal(json_parse(buf_str(out), 1u << 20, "report", &v, NULL), 0);
	return v;
}

TEST(empty_lists)
{
	const struct node_rows nodes = VEC_INIT;
	const struct run_rows runs = VEC_INIT;
	AUTO_BUF text = {0};

	buf_start(&text);
	report_nodes(&nodes, NOW, &PIPE, &text);
	assert_string_equal(
		buf_text(&text), "no nodes yet: bring them in with 'stoika import FILE'\n");
	buf_clear(&text);
	report_runs(&runs, NULL, NOW, &TTY, &text);
	assert_string_equal(buf_text(&text), "no runs yet\n");
	buf_clear(&text);
	report_runs(&runs, NULL, NOW, &JSON, &text);
	assert_string_equal(buf_text(&text), "[]\n");
}

TEST(racks)
{
	static const char *const names[] = {"start", "business", "enterprise"};

	for (int i = 0; i < 3; i++) {
		struct model *m = example(names[i]);
		struct rack_loads loads = VEC_INIT;
		AUTO_BUF text = {0};

		buf_start(&text);
		rack_loads_make(m, BASIS_MAX, &loads);
		report_racks(m, &loads, &TTY, &text);
		assert_true(widest(buf_text(&text)) <= 80);
		has(&text, "OK");
		has(&text, "power factor 0.95 assumed");
		rack_loads_done(&loads);
		model_free(m);
	}
}

TEST(racks_in_a_pipe_and_as_json)
{
	struct model *m = example("business");
	struct rack_loads loads = VEC_INIT;
	AUTO_BUF text = {0};
	AUTO_JSON rows = NULL;
	const json_t *rack;

	buf_start(&text);
	rack_loads_make(m, BASIS_MAX, &loads);
	report_racks(m, &loads, &PIPE, &text);
	has(&text, "G1-A 6"); /* per cent; the example may move a little */
	has(&text, "17/48");
	has(&text, "20.6");
	has(&text, "2 slowed on a loss");
	buf_clear(&text);
	report_racks(m, &loads, &JSON, &text);
	rows = parsed(&text);
	assert_int_equal(json_array_size(rows), 4);
	rack = json_array_get(rows, 0);
	assert_string_equal(json_get_str(rack, "rack", ""), "G1");
	assert_string_equal(json_get_str(rack, "verdict", ""), "OK");
	assert_int_equal(json_get_int(rack, "units_free", 0), 31);
	assert_int_equal(json_get_int(rack, "degraded_on_loss", 0), 2);
	assert_int_equal(json_array_size(json_get(rack, "feeds")), 2);
	assert_true(json_real_value(json_get(rack, "watts_max")) == 20550);
	rack_loads_done(&loads);
	model_free(m);
}

TEST(a_bad_rack_says_why)
{
	struct model *m = example("start");
	struct rack_loads loads = VEC_INIT;
	AUTO_BUF text = {0};

	buf_start(&text);
	m->feeds.at[0].amps = 4;
	m->racks.at[0].max_weight_kg = 10;
	m->types.at[0].weight_kg = MODEL_UNSET; /* of two devices */
	m->cords.n -= 2;                        /* the last device hangs on nothing */
	rack_loads_make(m, BASIS_MAX, &loads);
	report_racks(m, &loads, &PIPE, &text);
	has(&text, "OVER");
	has(&text, "too heavy");
	has(&text, "1 without a cord");
	has(&text, "2 without kg");
	rack_loads_done(&loads);
	model_free(m);
}

static struct node_row node(const char *name)
{
	return (struct node_row){.name = name,
		.address = "10.0.0.1",
		.user = "root",
		.port = 22,
		.site = "lab",
		.rack = "R1",
		.role = "gpu",
		.device_type = "dgx-h100",
		.state = "ready",
		.reason = "",
		.agent = "0.1.0",
		.boot_id = "",
		.os = "debian 12",
		.seen = NOW - 185,
		.vars = "{}"};
}

static void add_nodes(struct node_rows *rows)
{
	struct node_row odd = node("g\x1b[31mpu2");

	*vec_push(rows) = node("gpu1");
	odd.state = "failed";
	odd.reason =
		"the driver of the running kernel is missing, so that no GPU answers to nvidia-smi";
	odd.address = "fd00::1";
	odd.port = 2222;
	odd.seen = 0;
	odd.rack = "";
	*vec_push(rows) = odd;
}

TEST(nodes)
{
	struct node_rows rows = VEC_INIT;
	AUTO_BUF text = {0};
	AUTO_JSON json = NULL;

	buf_start(&text);
	add_nodes(&rows);
	report_nodes(&rows, NOW, &TTY, &text);
	assert_true(widest(buf_text(&text)) <= 80);
	assert_null(strchr(buf_text(&text), '\x1b'));
	buf_clear(&text);
	report_nodes(&rows, NOW, &PIPE, &text);
	has(&text, "[fd00::1]:2222");
	has(&text, "3 min ago");
	has(&text, "never");
	has(&text, "so that no GPU answers to nvidia-smi");
	buf_clear(&text);
	report_nodes(&rows, NOW, &JSON, &text);
	json = parsed(&text);
	assert_string_equal(json_get_str(json_array_get(json, 1), "address", ""), "fd00::1");
	assert_int_equal(json_get_int(json_array_get(json, 1), "port", 0), 2222);
	assert_true(json_is_null(json_get(json_array_get(json, 1), "rack")));
	assert_true(json_is_null(json_get(json_array_get(json, 1), "seen")));
	assert_string_equal(
		json_get_str(json_array_get(json, 0), "seen", ""), "2026-11-30T00:50:15Z");
	vec_done(&rows);
}

TEST(runs)
{
	struct run_rows rows = VEC_INIT;
	struct run_row r = {.id = "20261130-abc",
		.mode = "apply",
		.recipes = "base, docker, nvidia-driver, fabric-manager, container-toolkit, dcgm",
		.nodes = "gpu[01-16],login[01-02],-gpu07",
		.by = "root@controller",
		.state = "failed",
		.plan_hash = "",
		.bundle = "",
		.started = (NOW - 100) * CLOCK_SEC,
		.ended = (NOW - 88) * CLOCK_SEC,
		.n_nodes = 17};
	AUTO_BUF text = {0};
	AUTO_JSON json = NULL;

	buf_start(&text);
	r.counts.n[RESULT_OK] = 14;
	r.counts.n[RESULT_FAILED] = 3;
	*vec_push(&rows) = r;
	r.id = "20261130-abd";
	r.ended = 0;
	r.state = "running";
	*vec_push(&rows) = r;
	report_runs(&rows, NULL, NOW, &TTY, &text);
	assert_true(widest(buf_text(&text)) <= 80);
	has(&text, "20261130-abc");
	has(&text, "gpu[01-1");
	has(&text, "running");
	has(&text, "\u2026"); /* recipes are cut, not broken inside words */
	assert_null(strstr(buf_text(&text), "container-\n"));
	buf_clear(&text);
	report_runs(&rows, NULL, NOW, &PIPE, &text);
	has(&text, "14 ok, 3 failed");
	has(&text, "12.0 s");
	has(&text, "gpu[01-16],login[01-02],-gpu07");
	has(&text, "2026-11-30 00:51");
	buf_clear(&text);
	report_runs(&rows, NULL, NOW, &JSON, &text);
	json = parsed(&text);
	assert_int_equal(
		json_get_int(json_get(json_array_get(json, 0), "results"), "failed", 0), 3);
	assert_true(json_is_null(json_get(json_array_get(json, 1), "took_ms")));
	assert_true(json_is_null(json_get(json_array_get(json, 1), "ended")));
	vec_done(&rows);
}

TEST(a_plan_changes_nothing)
{
	static const struct report_opts russian = {.lang = LANG_RU};
	struct run_rows rows = VEC_INIT;
	struct run_row r = {.id = "20261130-abe",
		.mode = "plan",
		.recipes = "base",
		.nodes = "gpu01",
		.by = "",
		.state = "done",
		.started = (NOW - 100) * CLOCK_SEC,
		.ended = (NOW - 99) * CLOCK_SEC,
		.n_nodes = 1};
	AUTO_BUF text = {0};

	buf_start(&text);
	r.counts.n[RESULT_CHANGED] = 1;
	*vec_push(&rows) = r;
	report_runs(&rows, NULL, NOW, &PIPE, &text);
	has(&text, "1 differs");
	buf_clear(&text);
	report_runs(&rows, NULL, NOW, &russian, &text);
	has(&text, "план");
	has(&text, "1 отличается");
	buf_clear(&text);
	report_runs(&rows, NULL, NOW, &JSON, &text);
	has(&text, "\"changed\": 1");
	has(&text, "\"plan\"");
	vec_done(&rows);
}

static const struct column NARROW[] = {
	{"a", TEXT_RACK, COL_TRUNC}, {"b", TEXT_NODE, 0}, {"c", TEXT_STATE, COL_WRAP}};

TEST(columns_give_way)
{
	const struct report_opts o = {.width = 40};
	struct table *t = table_new(NARROW, 3, &o);
	AUTO_BUF text = {0};

	buf_start(&text);
	table_row(t);
	table_text(t, 0, "a-name-of-thirty-characters-ok");
	table_text(t, 1, "stays-as-it-is");
	table_text(t, 2, "some words,and more,unbreakablelongword");
	table_print(t, &text);
	assert_string_equal(buf_text(&text), "RACK         NODE           STATE\n"
					     "a-name-of-t\u2026 stays-as-it-is some words,\n"
					     "                            and more,\n"
					     "                            unbreakablel\n"
					     "                            ongword\n");
	table_free(t);
}

TEST(lists_in_russian)
{
	static const struct report_opts russian = {.width = 80, .lang = LANG_RU};
	struct model *m = example("business");
	struct rack_loads loads = VEC_INIT;
	struct node_rows nodes = VEC_INIT;
	AUTO_BUF text = {0};

	buf_start(&text);
	rack_loads_make(m, BASIS_MAX, &loads);
	report_racks(m, &loads, &russian, &text);
	has(&text, "СТОЙКА");
	has(&text, "20,6");
	has(&text, "НОРМА");
	has(&text, "коэффициент мощности 0,95");
	buf_clear(&text);
	add_nodes(&nodes);
	report_nodes(&nodes, NOW, &(struct report_opts){.lang = LANG_RU}, &text);
	has(&text, "УЗЕЛ");
	has(&text, "3\u202fмин назад");
	has(&text, "готов");
	has(&text, "сбой: the driver");
	nodes.at[0].seen = NOW;
	nodes.at[1].seen = NOW - 14;
	buf_clear(&text);
	report_nodes(&nodes, NOW, &PIPE, &text);
	has(&text, "now\n");
	has(&text, "14 s ago");
	vec_done(&nodes);
	rack_loads_done(&loads);
	model_free(m);
}

/* Letters of two bytes take one column. */
TEST(cyrillic_is_aligned)
{
	static const struct column columns[] = {
		{"a", TEXT_RACK, 0}, {"b", TEXT_NODE, COL_RIGHT}, {"c", TEXT_STATE, 0}};
	struct table *t = table_new(columns, 3, &PIPE);
	AUTO_BUF text = {0};

	buf_start(&text);
	table_row(t);
	table_text(t, 0, "Стойка-1");
	table_int(t, 1, 5);
	table_text(t, 2, "x");
	table_row(t);
	table_text(t, 0, "Rack-002");
	table_num(t, 1, MODEL_UNSET, 1);
	table_print(t, &text);
	assert_string_equal(buf_text(&text), "RACK     NODE STATE\n"
					     "Стойка-1    5 x\n"
					     "Rack-002    -\n");
	table_free(t);
}

TEST(every_text_is_there)
{
	for (int key = 0; key < TEXT_N; key++)
		assert_string_not_equal(text_get(LANG_EN, (enum text_key)key), "?");
	assert_string_equal(text_get(LANG_N, TEXT_RACK), "?");
}

T_MAIN
