/* Communication of training layouts, against worked figures of the sizing book. */
#include "tests/unit/t.h"

#include "inventory/design/constant.h"
#include "inventory/design/traffic.h"

#include <math.h>

static const struct llm LLAMA70 = {.name = "Llama 3 70B",
	.layers = 80,
	.hidden = 8192,
	.heads = 64,
	.kv_heads = 8,
	.head_dim = 128,
	.ffn = 28672,
	.vocab = 128256};
static const struct card H100 = {.memory = 80 * GB,
	.bandwidth = 3350 * GB,
	.flops = {989.4e12, 1978.9e12},
	.nvlink = 450 * GB,
	.nvls = true,
	.domain = 8};
static const struct wires HGX = {.domain = 8, .inside = 480 * GB, .outside = 46 * GB};

static void near(double got, double want, double rel)
{
	if (fabs(got - want) > rel * fabs(want))
		fail_msg("%.6g, %.6g expected", got, want);
}

/* Sizing book 1.11 rule 2: 21 GB a microbatch, 0.08 s at 480 GB/s, 0.85 s through one NIC. */
TEST(tensor_parallel_over_the_slow_link)
{
	const struct layout l = {.tp = 8, .cp = 1, .pp = 1, .dp = 1};
	struct wires slow = HGX;
	struct step fast, crossed;
	struct err err;
	double share;

	assert_int_equal(traffic_step(&LLAMA70, &l, &H100, &HGX, 1, 4096, 0, 1, &fast, &err), 0);
	near(fast.level[LEVEL_TP].bytes, 2 * 7 / 8.0 * 21.47 * GB, 0.01);
	near(fast.level[LEVEL_TP].seconds, 0.078, 0.02);
	assert_false(fast.level[LEVEL_TP].crosses);
	slow.domain = 4;
	assert_int_equal(
		traffic_step(&LLAMA70, &l, &H100, &slow, 1, 4096, 0, 1, &crossed, &err), 0);
	assert_true(crossed.level[LEVEL_TP].crosses);
	near(crossed.level[LEVEL_TP].seconds, 0.82, 0.02);
	assert_int_equal(traffic_worst(&crossed, &share), LEVEL_TP);
	assert_true(share > 0.5);
}

/* Verdict 14: ZeRO-3 of a 70B moves 370 GB a rank and step. */
TEST(zero_three_moves_half_more)
{
	const struct layout l = {.tp = 1, .cp = 1, .pp = 1, .dp = 8};
	const struct wires pcie = {.domain = 1, .inside = 30 * GB, .outside = 30 * GB};
	struct step s, plain;
	struct err err;

	assert_int_equal(traffic_step(&LLAMA70, &l, &H100, &pcie, 8, 8192, 3, 1, &s, &err), 0);
	near(s.level[LEVEL_DP].bytes, 370 * GB, 0.01);
	near(s.level[LEVEL_DP].seconds, 12.3, 0.02);
	assert_true(s.level[LEVEL_DP].exposed < s.level[LEVEL_DP].seconds);
	assert_true(s.level[LEVEL_DP].exposed > 0);
	assert_int_equal(traffic_step(&LLAMA70, &l, &H100, &pcie, 8, 8192, 2, 1, &plain, &err), 0);
	near(plain.level[LEVEL_DP].bytes * 1.5, s.level[LEVEL_DP].bytes, 1e-9);
}

/* Rule 4: 67 MB a boundary and microbatch of 4,096 tokens, there and back. */
TEST(pipelines_send_boundaries)
{
	const struct layout l = {.tp = 1, .cp = 1, .pp = 2, .dp = 1};
	struct step s;
	struct err err;

	assert_int_equal(traffic_step(&LLAMA70, &l, &H100, &HGX, 4, 4096, 0, 1, &s, &err), 0);
	near(s.level[LEVEL_PP].bytes, 4 * 2 * 67.1e6, 0.01);
	assert_true(s.level[LEVEL_EP].bytes == 0 && s.level[LEVEL_DP].bytes == 0);
}

TEST(experts_exchange_tokens)
{
	struct llm moe = LLAMA70;
	const struct layout l = {.tp = 1, .cp = 1, .pp = 1, .dp = 64};
	struct step s;
	struct err err;

	moe.experts = 256;
	moe.experts_active = 8;
	moe.expert_ffn = 2048;
	assert_int_equal(traffic_step(&moe, &l, &H100, &HGX, 64, 4096, 1, 64, &s, &err), 0);
	assert_true(s.level[LEVEL_EP].bytes > 0 && s.level[LEVEL_EP].crosses);
	assert_int_equal(traffic_step(&moe, &l, &H100, &HGX, 64, 4096, 1, 65, &s, &err), -E_SCHEMA);
	assert_int_equal(traffic_step(&moe, &l, &H100, &HGX, 0, 4096, 1, 1, &s, &err), -E_SCHEMA);
	assert_int_equal(traffic_step(&moe, &l, &H100, &HGX, 64, 4096, 4, 1, &s, &err), -E_SCHEMA);
}

T_MAIN
