/* The designer's core: what the case files do not reach (tests/cases/sizing has the figures). */
#include "inventory/design/constant.h"
#include "inventory/design/figure.h"
#include "inventory/design/llm_catalog.h"
#include "inventory/design/pace.h"
#include "inventory/design/speed.h"
#include "inventory/design/train.h"
#include "tests/unit/t.h"

#include <math.h>
#include <string.h>

/* The architecture and the vendor's own count of every model of the catalogue agree. */
TEST(models_weigh_what_is_stated)
{
	struct catalog *c = NULL;
	struct err err;
	unsigned checked = 0;

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	for (size_t i = 0; i < c->entries.n; i++) {
		struct llm_parts p;
		struct llm m;

		if (c->entries.at[i]->kind != CATALOG_MODEL)
			continue;
		assert_int_equal(llm_find(c, c->entries.at[i]->id, &m, NULL, &err), 0);
		if (m.hidden == 0 || llm_check(&m, &err) < 0)
			continue;
		llm_parts(&m, &p);
		if (fabs(p.total - m.stated) > 0.005 * m.stated)
			fail_msg("%s: %.0f computed, %.0f stated", m.name, p.total, m.stated);
		/* some vendors leave the embeddings out */
		if (m.stated_active > 0 &&
			fabs(p.active - m.stated_active) > 0.15 * m.stated_active &&
			fabs(p.active - p.embeddings - m.stated_active) > 0.15 * m.stated_active)
			fail_msg("%s: %.3g active computed, %.3g stated", m.name, p.active,
				m.stated_active);
		checked++;
	}
	assert_true(checked >= 20);
	catalog_free(c);
}

TEST(cards_by_usual_names)
{
	static const struct {
		const char *name, *id;
	} known[] = {{"A100-80GB-SXM", "a100-sxm4-80gb"}, {"A100-40GB", "a100-sxm4-40gb"},
		{"H100", "h100-sxm5-80gb"}, {"H100-80GB", "h100-sxm5-80gb"},
		{"H200", "h200-sxm-141gb"}, {"H200 NVL", "h200-nvl-141gb"}, {"B200", "b200-sxm"},
		{"L4", "l4"}, {"L40S", "l40s"}, {"RTX PRO 6000 SE", "rtx-pro-6000-bw-server"},
		{"NVIDIA T4", "t4"}, {"H800", "h800-sxm5-80gb"}};
	struct catalog *c = NULL;
	struct card card;
	struct err err;

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		assert_int_equal(card_find(c, known[i].name, &card, &err), 0);
		assert_string_equal(card.id, known[i].id);
	}
	assert_int_equal(card_find(c, "L4000", &card, &err), -E_NOTFOUND);
	assert_int_equal(card_find(c, "", &card, &err), -E_NOTFOUND);
	catalog_free(c);
}

TEST(constants_can_be_measured)
{
	struct err err;

	for (int i = 0; i < K_COUNT; i++) {
		assert_non_null(constant_row((enum constant)i)->name);
		assert_true(constant((enum constant)i) > 0);
	}
	assert_int_equal(constant_set("eta_prefill", 0.5, &err), 0);
	assert_true(constant(K_ETA_PREFILL) == 0.5);
	constant_reset();
	assert_true(constant(K_ETA_PREFILL) == 0.6);
	assert_int_equal(constant_set("eta_prefil", 0.5, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "eta_prefill"));
	assert_int_equal(constant_set("eta_prefill", -1, &err), -E_SCHEMA);
}

TEST(figures_print_unit_and_band)
{
	const struct figure f = {67.67 * GIB, formula_find("WGT-1"), true};
	struct buf out;

	buf_init(&out, 200);
	figure_print(&f, &out);
	assert_string_equal(buf_text(&out), "67.67 GiB +-0.5 % (assumed)");
	assert_null(formula_find("NO-1"));
	buf_done(&out);
}

TEST(layouts_that_cannot_be)
{
	const struct card c = {.memory = 80 * GB};
	const struct llm m = {.layers = 2, .hidden = 8192};
	struct layout l = {.tp = 8, .cp = 16, .pp = 16, .dp = 4};
	struct err err;

	assert_int_equal(pace_check(&l, 16384, &err), -E_CONFLICT);
	assert_string_equal(err.msg, "product 8192 != 16384");
	assert_int_equal(pace_layout(&m, 1e12, 18, &c, 8, 8, &l, &err), -E_CONFLICT);
}

T_MAIN
