/* Cards compared for a task, config.json read: what a design rests on. */
#include "inventory/design/choice.h"
#include "inventory/design/constant.h"
#include "inventory/design/llm_catalog.h"
#include "inventory/design/llm_config.h"
#include "tests/unit/t.h"

#include <math.h>
#include <string.h>

static struct catalog *catalog;

static struct task task_of(struct llm *m, const char *model, const char *precision)
{
	struct task t = {.model = m, .isl = 4096, .osl = 512, .sequences = 16, .per_node = 8};
	struct err err;

	if (!catalog)
		assert_int_equal(catalog_load(NULL, &catalog, NULL, &err), 0);
	assert_int_equal(llm_find(catalog, model, m, NULL, &err), 0);
	assert_int_equal(llm_check(m, &err), 0);
	assert_int_equal(precision_find(precision, &t.weights, &err), 0);
	assert_int_equal(precision_find("bf16", &t.kv, &err), 0);
	return t;
}

static struct card card_of(const char *name)
{
	struct card c;
	struct err err;

	assert_int_equal(card_find(catalog, name, &c, &err), 0);
	return c;
}

/* Sizing book, verdict 3: two cards of 96 GB hold 12 sequences of 32K of a 70B in 4 bit. */
TEST(seventy_billions_in_four_bits)
{
	struct llm m;
	struct task t = task_of(&m, "llama-3.1-70b", "awq");
	struct choice row;
	struct err err;
	const struct card c = card_of("RTX PRO 6000 Blackwell");

	t.isl = 32000;
	t.osl = 768;
	t.sequences = 12;
	assert_int_equal(choice_compare(&t, &c, 1, &row, &err), 0);
	assert_true(row.fits);
	assert_true(row.gpus >= 2 && row.gpus <= 4);
	assert_true(row.sequences >= 12);
	assert_true(row.tokens_s > 0 && row.itl > 0 && row.ttft > 0);
}

TEST(what_does_not_fit_says_why)
{
	struct llm m;
	struct task t = task_of(&m, "llama-3.1-405b", "bf16");
	struct card cards[3];
	struct choice rows[3];
	struct err err;

	cards[0] = card_of("L4");
	cards[1] = card_of("A100-40GB");
	cards[2] = card_of("B300");
	assert_int_equal(choice_compare(&t, cards, 3, rows, &err), 0);
	assert_string_equal(rows[0].card.id, "b300-sxm");
	assert_true(rows[0].fits);
	assert_false(rows[1].fits);
	assert_non_null(strstr(rows[1].why, "hold no sequence"));
	t.isl = 1e6;
	assert_int_equal(choice_compare(&t, cards, 3, rows, &err), -E_CONFLICT);
	assert_non_null(strstr(err.msg, "beyond the 131072"));
	t.isl = -1;
	assert_int_equal(choice_compare(&t, cards, 3, rows, &err), -E_SCHEMA);
}

TEST(limits_cost_cards)
{
	struct llm m;
	struct task t = task_of(&m, "llama-3.1-70b", "fp8");
	const struct card c = card_of("H100");
	struct choice loose, tight;
	struct err err;

	t.sequences = 64;
	assert_int_equal(choice_compare(&t, &c, 1, &loose, &err), 0);
	t.itl = 0.02;
	assert_int_equal(choice_compare(&t, &c, 1, &tight, &err), 0);
	assert_true(loose.fits && tight.fits);
	assert_true(tight.gpus > loose.gpus);
	assert_true(tight.itl <= t.itl);
	t.itl = 1e-4;
	assert_int_equal(choice_compare(&t, &c, 1, &tight, &err), 0);
	assert_false(tight.fits);
	assert_non_null(strstr(tight.why, "even alone"));
}

TEST(features_that_are_missing)
{
	struct llm m;
	struct task t = task_of(&m, "llama-3.1-70b", "nvfp4");
	struct choice row;
	struct err err;
	struct card c = card_of("A100-80GB");

	assert_int_equal(choice_compare(&t, &c, 1, &row, &err), 0);
	assert_true(row.missing & FEATURE_FP4);
	c = card_of("B200");
	assert_int_equal(choice_compare(&t, &c, 1, &row, &err), 0);
	assert_int_equal(row.missing, 0);
}

TEST(what_flips_and_how_tasks_share)
{
	struct llm m;
	struct task t = task_of(&m, "llama-3.1-8b", "fp8"), two[2];
	struct card cards[3];
	struct flip flips[8];
	double each[2];
	unsigned n;

	cards[0] = card_of("L4");
	cards[1] = card_of("H200");
	cards[2] = card_of("RTX PRO 6000 Blackwell");
	t.sequences = 8;
	n = choice_flips(&t, cards, 3, flips, 8);
	for (unsigned i = 0; i < n; i++)
		assert_true(!flips[i].to || strcmp(flips[i].from, flips[i].to) != 0);
	assert_true(n >= 1);
	two[0] = two[1] = t;
	two[1].sequences = 64;
	assert_true(choice_divide(two, 2, &cards[1], true, each) == each[0] + each[1] + 1);
	two[1].isl = 1e6;
	assert_true(choice_divide(two, 2, &cards[1], true, each) == 0);
	catalog_free(catalog);
	catalog = NULL;
}

TEST(config_of_a_dense_model)
{
	static const char text[] =
		"{\"model_type\": \"llama\", \"num_hidden_layers\": 80, \"hidden_size\": 8192,"
		"\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"intermediate_size\": 28672,"
		"\"vocab_size\": 128256, \"max_position_embeddings\": 131072}";
	struct llm_parts p;
	struct llm m;
	struct err err;

	assert_int_equal(llm_config_read(str_of(text), "config.json", &m, &err), 0);
	llm_parts(&m, &p);
	assert_true(p.total == 70553706496.0);
	assert_true(m.context == 131072);
}

TEST(config_of_windows_and_experts)
{
	static const char text[] =
		"{\"text_config\": {\"num_hidden_layers\": 4, \"hidden_size\": 2880, \"head_dim\": 64,"
		"\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"intermediate_size\": 2880,"
		"\"num_local_experts\": 32, \"num_experts_per_tok\": 4, \"sliding_window\": 128,"
		"\"vocab_size\": 1000, \"layer_types\": [\"sliding_attention\", \"full_attention\","
		"\"sliding_attention\", \"full_attention\"]}}";
	struct llm m;
	struct err err;

	assert_int_equal(llm_config_read(str_of(text), "config.json", &m, &err), 0);
	assert_true(m.attention == ATTENTION_HYBRID && m.full_layers == 2 && m.window_layers == 2);
	assert_true(m.experts == 32 && m.experts_active == 4 && m.expert_ffn == 2880);
	assert_true(llm_kv_bytes(&m, 1000, 2) == 2.0 * 8 * 64 * 2 * (2 * 1000 + 2 * 128));
}

TEST(config_that_is_none)
{
	struct llm m;
	struct err err;

	assert_int_equal(llm_config_read(str_of("{"), "c", &m, &err), -E_SYNTAX);
	assert_int_equal(llm_config_read(str_of("{}"), "c", &m, &err), -E_SCHEMA);
	assert_int_equal(
		llm_config_read(str_of("{\"hidden_size\": 64, \"vocab_size\": 9,"
				       "\"num_hidden_layers\": 2, \"num_attention_heads\": 0}"),
			"c", &m, &err),
		-E_SCHEMA);
	assert_non_null(strstr(err.msg, "'heads' is 0"));
}

T_MAIN
