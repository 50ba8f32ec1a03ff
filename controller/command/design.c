/* design - from tasks to GPUs: the comparison of a file of workloads. */
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "inventory/design/workload.h"

#include <math.h>

#define TEXT_MAX (16u << 20)

static void put_num(json_t *to, const char *key, double v)
{
	(void)json_object_set_new(to, key, isfinite(v) ? json_real(v) : json_null());
}

static json_t *row_json(const struct choice *r)
{
	json_t *o = json_object();

	json_put_str(o, "gpu", r->card.id);
	json_put_bool(o, "fits", r->fits);
	json_put_str(o, "why", r->why);
	if (!r->fits)
		return o;
	put_num(o, "gpus", r->gpus);
	put_num(o, "tp", r->tp);
	put_num(o, "sequences", r->sequences);
	put_num(o, "tokens_per_s", r->tokens_s);
	put_num(o, "ttft_s", r->ttft);
	put_num(o, "itl_s", r->itl);
	put_num(o, "watts", r->watts);
	put_num(o, "price_low_usd", r->price_low);
	put_num(o, "price_high_usd", r->price_high);
	json_put_str(o, "price_date", r->card.price_date);
	json_put_bool(o, "lacks_fp8", r->missing & FEATURE_FP8);
	json_put_bool(o, "lacks_fp4", r->missing & FEATURE_FP4);
	json_put_bool(o, "lacks_nvlink", r->missing & FEATURE_NVLINK);
	return o;
}

static json_t *workload_json(const struct workload *w, unsigned n_cards)
{
	json_t *o = json_object(), *rows = json_array(), *questions = json_array();

	json_put_str(o, "name", w->name);
	json_put_str(o, "model", w->model.name);
	put_num(o, "sequences", w->task.sequences);
	for (unsigned i = 0; i < n_cards; i++)
		(void)json_array_append_new(rows, row_json(&w->rows[i]));
	for (unsigned i = 0; i < w->n_questions; i++) {
		const struct question *q = &w->questions[i];
		json_t *one = json_object();

		json_put_str(one, "key", q->key);
		put_num(one, "used", q->used);
		put_num(one, "low", q->low);
		put_num(one, "high", q->high);
		put_num(one, "gpus_low", q->gpus_low);
		put_num(one, "gpus_high", q->gpus_high);
		(void)json_array_append_new(questions, one);
	}
	(void)json_object_set_new(o, "choices", rows);
	(void)json_object_set_new(o, "questions", questions);
	return o;
}

static void print_set(const struct invocation *inv, const struct workload_set *s)
{
	AUTO_BUF text = {0};
	AUTO_JSON doc = NULL;

	if (!inv->json) {
		buf_init(&text, TEXT_MAX);
		workload_print(s, &text);
		session_print_lines(&text);
		return;
	}
	doc = json_object();
	json_put_str(doc, "design", s->name);
	(void)json_object_set_new(doc, "workloads", json_array());
	for (unsigned i = 0; i < s->n; i++)
		(void)json_array_append_new(
			json_object_get(doc, "workloads"), workload_json(&s->at[i], s->n_cards));
	session_print_json(doc);
}

/* Exit status 1 when a task fits none of the cards. */
static int run_design(struct invocation *inv)
{
	struct workload_set *s = NULL;
	struct catalog *c = NULL;
	struct yaml_doc *doc;
	struct err err;
	int code = EXIT_OK;

	if (yaml_load(inv->arena, inv->args[0], &YAML_CAPS_RECIPE, &doc, &err) < 0 ||
		catalog_load(option_get(inv, "catalog"), &c, NULL, &err) < 0)
		return command_fail(inv, &err);
	if (workload_read(doc, c, &s, &err) < 0)
		code = command_fail(inv, &err);
	else
		print_set(inv, s);
	for (unsigned i = 0; s && i < s->n; i++)
		if (!s->at[i].rows[0].fits)
			code = EXIT_SOME;
	catalog_free(c);
	return code;
}

static const struct option WHERE[] = {
	{"catalog", 0, "PATH", "the catalogue; else STOIKA_CATALOG, else the program's own", false},
	{0},
};

const struct command COMMAND_DESIGN = {
	.name = "design",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "which GPUs, and how many, for the workloads of a file",
	.about =
		"FILE is YAML: design, gpus (candidates), per_node, and a list of workloads, each with\n"
		"name, model (of the catalogue), precision, kv_precision, prompt, answer, sequences\n"
		"or rps, ttft_s, itl_ms. What is missing is asked, with the default used and what\n"
		"another answer would cost. Cards are ordered by price, then count and watts; figures\n"
		"are estimates within the bands printed. Exit status 1 when nothing fits a task.\n",
	.options = WHERE,
	.run = run_design,
};
