/* Workloads read from YAML: the comparison, the questions, the errors with their place. */
#include "inventory/design/workload.h"
#include "tests/unit/t.h"

#include <math.h>
#include <string.h>

static const struct yaml_caps *const CAPS = &YAML_CAPS_SITE;

static int read_text(struct arena *a, const struct catalog *c, const char *text,
	struct workload_set **out, struct err *err)
{
	struct yaml_doc *doc;
	int rc = yaml_parse(a, "w.yaml", str_of(text), CAPS, &doc, err);

	return rc < 0 ? rc : workload_read(doc, c, out, err);
}

TEST(two_tasks_compared)
{
	static const char text[] =
		"design: case\n"
		"workloads:\n"
		"  - {name: chat, model: llama-3.1-70b, precision: awq, prompt: 8192}\n"
		"  - {name: small, model: llama-3.1-8b, precision: fp8, prompt: 1000,\n"
		"     answer: 200, rps: 5, ttft_s: 0.6, itl_ms: 25}\n";
	struct arena *a = arena_new();
	struct catalog *c = NULL;
	struct workload_set *s;
	struct err err;
	struct buf out;

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	assert_int_equal(read_text(a, c, text, &s, &err), 0);
	assert_int_equal(s->n, 2);
	assert_true(s->at[0].rows[0].fits);
	assert_int_equal(s->at[0].n_questions, 2); /* answer, sequences */
	assert_true(s->at[0].questions[1].gpus_high >= s->at[0].questions[1].gpus_low);
	assert_int_equal(s->at[1].n_questions, 0);
	assert_true(s->at[1].task.sequences == 28); /* 5(0.6 + 200 x 0.025) */
	buf_init(&out, 1 << 20);
	workload_print(s, &out);
	assert_true(buf_ok(&out));
	assert_non_null(strstr(buf_text(&out), "question: what is 'sequences'? 16 is used"));
	assert_non_null(strstr(buf_text(&out), "one card for all"));
	assert_non_null(strstr(buf_text(&out), "rtx-pro-6000-bw-server"));
	buf_done(&out);
	catalog_free(c);
	arena_free(a);
}

TEST(what_cannot_be_has_a_place)
{
	static const struct {
		const char *text, *says;
		unsigned line;
	} wrong[] = {
		{"workloads: []\n", "'workloads' must be a list", 1},
		{"workloads:\n  - {name: a}\n", "'model' is missing", 2},
		{"workloads:\n  - model: llama-9\n", "no model 'llama-9'", 2},
		{"workloads:\n  - model: llama-3-8b\n    precision: fp5\n", "no precision 'fp5'",
			3},
		{"workloads:\n  - model: llama-3-8b\n    prompt: -4\n", "prompt", 3},
		{"workloads:\n  - model: llama-3-8b\n    prompt: 9000\n", "beyond the 8192", 3},
		{"workloads:\n  - model: llama-3-8b\n    promt: 9\n", "promt", 3},
		{"gpus: [h900]\nworkloads:\n  - model: llama-3-8b\n", "no gpu 'h900'", 1},
		{"gpus: []\nworkloads:\n  - model: llama-3-8b\n", "names 0 cards", 1},
		{"workloads:\n  - model: qwen3.5-122b-a10b\n", "layers", 2},
		{"workloads:\n  - {model: llama-3-8b, kind: archive}\n", "kind 'archive'", 2},
	};
	struct catalog *c = NULL;
	struct err err;

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct arena *a = arena_new();
		struct workload_set *s;

		assert_true(read_text(a, c, wrong[i].text, &s, &err) < 0);
		if (!strstr(err.msg, wrong[i].says) || err.line != wrong[i].line)
			fail_msg("%zu: line %u: %s", i, err.line, err.msg);
		arena_free(a);
	}
	catalog_free(c);
}

T_MAIN
