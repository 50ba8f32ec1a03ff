/* card - names are matched word by word; where several fit, SXM and then the larger memory. */
#include "inventory/design/card.h"

#include "inventory/design/constant.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define WORDS 16

struct words {
	unsigned n;
	char at[WORDS][24];
};

static void split(const char *text, struct words *w)
{
	w->n = 0;
	while (*text && w->n < WORDS) {
		size_t n = 0;

		while (*text && !isalnum((unsigned char)*text))
			text++;
		while (isalnum((unsigned char)*text) && n + 1 < sizeof w->at[0])
			w->at[w->n][n++] = (char)tolower((unsigned char)*text++);
		while (isalnum((unsigned char)*text))
			text++;
		w->at[w->n][n] = '\0';
		w->n += n > 0;
	}
}

static bool in_words(const char *word, const struct words *of)
{
	if (strcmp(word, "nvidia") == 0 || strcmp(word, "gpu") == 0 || strcmp(word, "tensor") == 0)
		return true;
	for (unsigned i = 0; i < of->n; i++) {
		const bool prefix = strncmp(of->at[i], word, strlen(word)) == 0;

		/* "sxm" is sxm5, "se" is server, but "l4" is not l40s */
		if (strcmp(of->at[i], word) == 0 ||
			(prefix && isalpha((unsigned char)*word) &&
				!isdigit((unsigned char)word[1]) && strlen(word) > 1))
			return true;
	}
	return false;
}

static double score(const struct catalog_entry *e, const struct words *want)
{
	const char *form = catalog_text(e, "form");
	struct words words, more;

	split(e->id, &words);
	split(e->name, &more);
	for (unsigned i = 0; i < want->n; i++)
		if (!in_words(want->at[i], &words) && !in_words(want->at[i], &more))
			return -1;
	return (form && strncmp(form, "SXM", 3) == 0 ? 10000 : 0) + catalog_num(e, "memory_gb") -
	       (strncmp(e->id, "gb", 2) == 0 ? 20000 : 0);
}

static double or_zero(double v)
{
	return isnan(v) ? 0 : v;
}

static void fill(const struct catalog_entry *e, struct card *c)
{
	static const char *const RATES[] = {[RATE_BF16] = "tflops_bf16_dense",
		[RATE_FP8] = "tflops_fp8_dense",
		[RATE_FP4] = "tflops_fp4_dense",
		[RATE_TF32] = "tflops_tf32_dense"};
	const struct catalog_field *price = catalog_field(e, "price_usd");
	const double gen = catalog_num(e, "pcie_gen"), lanes = catalog_num(e, "pcie_lanes");

	*c = (struct card){.id = e->id, .name = e->name, .price_low = NAN, .price_high = NAN};
	c->memory = catalog_num(e, "memory_gb") * GB;
	c->visible = catalog_num(e, "memory_gb") * GIB * constant(K_VISIBLE_SHARE);
	c->bandwidth = catalog_num(e, "memory_bandwidth_gbs") * GB;
	for (int i = 0; i < 4; i++) {
		const struct catalog_field *f = catalog_field(e, RATES[i]);

		c->flops[i] = or_zero(catalog_num(e, RATES[i])) * 1e12;
		c->assumed = c->assumed || (f && f->text && f->assumed);
	}
	c->nvlink = or_zero(catalog_num(e, "nvlink_total_gbs")) * GB / 2;
	c->nvls = catalog_count(e, "nvlink_version") >= 4;
	c->pcie = or_zero(lanes) * exp2(or_zero(gen) - 3) * 0.985 * GB;
	c->watts = catalog_num(e, "power_default_w");
	c->nvdec = catalog_count(e, "nvdec");
	c->domain = c->nvlink == 0 ? 1 : catalog_count(e, "nvlink_bridge_cards");
	if (c->nvlink > 0 && c->domain == 0)
		c->domain = strncmp(e->id, "gb", 2) == 0 ? 72 : 8;
	if (price && price->text) {
		c->price_low = price->num;
		c->price_high = price->high;
		c->price_date = price->date;
	}
}

int card_find(const struct catalog *c, const char *name, struct card *out, struct err *err)
{
	const struct catalog_entry *best = NULL;
	struct words want;
	double most = -1e9;

	split(name, &want);
	for (size_t i = 0; i < c->entries.n && want.n > 0; i++) {
		const struct catalog_entry *e = c->entries.at[i];
		double s;

		if (e->kind != CATALOG_GPU)
			continue;
		if (strcmp(e->id, name) == 0) {
			fill(e, out);
			return 0;
		}
		s = score(e, &want);
		if (s != -1 && s > most) {
			most = s;
			best = e;
		}
	}
	if (!best) {
		(void)err_set(err, E_NOTFOUND, "the catalogue has no gpu '%.64s'", name);
		return err_hint(err, "stoika catalog list gpu shows what it has");
	}
	fill(best, out);
	return 0;
}

double card_flops(const struct card *c, enum rate rate)
{
	if (rate == RATE_FP4 && c->flops[RATE_FP4] == 0)
		rate = RATE_BF16; /* as weight-only */
	return c->flops[rate] > 0 ? c->flops[rate] : c->flops[RATE_BF16];
}

double card_busbw(const struct card *c, double n)
{
	if (n > c->domain || c->nvlink == 0)
		return c->pcie * constant(K_BUS_PCIE_SHARE);
	if (c->nvls && c->domain >= 8 && n > 2)
		return c->nvlink * constant(K_BUS_NVLS_SHARE);
	return c->nvlink * constant(K_BUS_NVLINK_SHARE);
}
