/* figure - the formulas that answers name, and how values are printed. */
#include "inventory/design/figure.h"

#include "inventory/design/constant.h"

#include <math.h>
#include <string.h>

#define BOOK "sizing book "

const struct formula FORMULAS[] = {
	{"PAR-1", "L(2h*nh*hd + 2h*nkv*hd + 3h*ff + 2h) + h + 2Vh", BOOK "1.1", UNIT_COUNT, 0.001,
		0},
	{"PAR-2", "12Lh^2(1 + 13/(12h) + (V+s)/(12Lh))", "arXiv 2104.04473", UNIT_COUNT, 0.005, 0},
	{"WGT-1", "sum of elements x bits / 8 by class of tensor", BOOK "1.1", UNIT_BYTES, 0.005,
		0},
	{"KV-1", "2L*nkv*hd*bytes", BOOK "1.2", UNIT_BYTES, 0.005, 0},
	{"KV-2", "L(kv_lora + rope)*bytes", "arXiv 2505.09343", UNIT_BYTES, 0.005, 0},
	{"KV-3", "full layers x ctx + windowed layers x min(ctx, window) + states", BOOK "1.2",
		UNIT_BYTES, 0.02, 0},
	{"BUD-1", "total*utilisation - (weights + activation + non-torch)", "vLLM", UNIT_BYTES, 0,
		2 * GIB},
	{"BUD-2", "(total - non-KV)*free_fraction", "TensorRT-LLM", UNIT_BYTES, 0, 2 * GIB},
	{"BUD-3", "total*static_fraction - static", "SGLang", UNIT_BYTES, 0, 2 * GIB},
	{"CAP-1", "floor(KV / (kv_token*ctx))", BOOK "1.3", UNIT_COUNT, 0.05, 0},
	{"CAP-2", "RPS(TTFT + OSL*ITL)", "Little's law", UNIT_COUNT, 0.3, 0},
	{"SPD-1", "max(bytes/(n*BW*eta), FLOP/(n*F*eta) + KV/(n*BW*eta)) + L*t + t_TP", BOOK "1.9",
		UNIT_SECONDS, 0.3, 0},
	{"SPD-2", "(2P*ISL + 2Lh*ISL^2)/(n*F*eta) + t_TP(ISL)", BOOK "1.9", UNIT_SECONDS, 0.25, 0},
	{"SPD-3", "OSL/(t_prefill + OSL*t/B)", BOOK "1.9", UNIT_TOKENS_S, 0.45, 0},
	{"STA-1", "P x bytes per parameter", "arXiv 1910.02054", UNIT_BYTES, 0.005, 0},
	{"STA-2", "ZeRO 0-3: 4P+KP, 4P+KP/N, 2P+(2+K)P/N, (4+K)P/N", "arXiv 1910.02054", UNIT_BYTES,
		0.02, 0},
	{"ACT-1", "sbh(10 + 24/t + 5as/(ht)) by scheme", "arXiv 2205.05198", UNIT_BYTES, 0.05, 0},
	{"LOR-1", "base + 16 x trainable + activations + workspace", BOOK "1.6", UNIT_BYTES, 0.3,
		0},
	{"TIM-1", "(6|8)*N*D / (GPUs*peak*MFU)", BOOK "1.8", UNIT_SECONDS, 0.15, 0},
	{"MOE-1", "E(1 - (1 - k/E)^B)", BOOK "1.7", UNIT_COUNT, 0.1, 0},
	{"PLN-1", "smallest TP, then PP, with states under the cap; the rest DP",
		BOOK "1.11 rule 6", UNIT_COUNT, 0, 0},
	{"VID-1", "ceil(cameras*fps / (engines*fps_engine*derate))", "NVDEC note, SDK 13.0",
		UNIT_COUNT, 0.3, 0},
	{"VID-2", "eta*F / FLOP per frame", BOOK "4.2", UNIT_COUNT, 0.3, 0},
	{0},
};

const struct formula *formula_find(const char *id)
{
	for (const struct formula *f = FORMULAS; f->id; f++)
		if (strcmp(f->id, id) == 0)
			return f;
	return NULL;
}

struct scale {
	double from, by;
	const char *name;
};

static void scaled(double v, const struct scale *s, struct buf *out)
{
	while (s->from > 0 && fabs(v) < s->from)
		s++;
	buf_addf(out, "%.4g %s", v / s->by, s->name);
}

void unit_print(double v, enum unit unit, struct buf *out)
{
	static const struct scale bytes[] = {{TIB, TIB, "TiB"}, {GIB, GIB, "GiB"},
		{MIB, MIB, "MiB"}, {KIB, KIB, "KiB"}, {0, 1, "B"}};
	static const struct scale rate[] = {{TB, TB, "TB/s"}, {GB, GB, "GB/s"}, {0, MB, "MB/s"}};
	static const struct scale flops[] = {{1e15, 1e15, "PFLOP/s"}, {0, 1e12, "TFLOP/s"}};
	static const struct scale time[] = {{86400, 86400, "d"}, {3600, 3600, "h"}, {1, 1, "s"},
		{1e-3, 1e-3, "ms"}, {0, 1e-6, "us"}};
	static const struct scale watts[] = {{1e6, 1e6, "MW"}, {1e4, 1e3, "kW"}, {0, 1, "W"}};
	static const struct scale *const of[] = {[UNIT_BYTES] = bytes,
		[UNIT_SECONDS] = time,
		[UNIT_FLOPS] = flops,
		[UNIT_BYTES_S] = rate,
		[UNIT_WATTS] = watts,
		[UNIT_USD] = NULL};

	if (!isfinite(v))
		buf_add_text(out, "-");
	else if (unit == UNIT_TOKENS_S)
		buf_addf(out, "%.0f tok/s", v);
	else if (unit == UNIT_SHARE)
		buf_addf(out, "%.3g %%", 100 * v);
	else if (unit == UNIT_USD)
		buf_addf(out, "%.0f USD", v);
	else if (of[unit])
		scaled(v, of[unit], out);
	else
		buf_addf(out, "%.10g", v);
}

void figure_print(const struct figure *f, struct buf *out)
{
	unit_print(f->value, f->formula->unit, out);
	if (f->formula->band_abs > 0) {
		buf_add_text(out, " +-");
		unit_print(f->formula->band_abs, f->formula->unit, out);
	}
	if (f->formula->band > 0)
		buf_addf(out, " +-%.3g %%", 100 * f->formula->band);
	if (f->assumed)
		buf_add_text(out, " (assumed)");
}
