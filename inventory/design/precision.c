/* precision - the table of formats: sizing book 1.1; GGUF's k-quants are recalled. */
#include "inventory/design/precision.h"

#include "inventory/design/need.h"

#include <ctype.h>
#include <string.h>

static const struct precision FORMATS[] = {
	{"fp32", 32, RATE_TF32, false, false},
	{"bf16", 16, RATE_BF16, false, false},
	{"fp8", 8, RATE_FP8, false, false},
	{"mxfp8", 8.25, RATE_FP8, false, false},
	{"int8", 8, RATE_FP8, false, false},
	{"w8a16", 8, RATE_BF16, false, false},
	{"int4", 4 + 16.0 / 128 + 4.0 / 128, RATE_BF16, false, false},
	{"int4-g32", 4 + 16.0 / 32 + 4.0 / 32, RATE_BF16, false, false},
	{"int4-g64", 4 + 16.0 / 64 + 4.0 / 64, RATE_BF16, false, false},
	{"int3", 3 + 16.0 / 128 + 3.0 / 128, RATE_BF16, false, false},
	{"int2", 2 + 16.0 / 128 + 2.0 / 128, RATE_BF16, false, false},
	{"nf4", 4.127, RATE_BF16, false, false},
	{"nf4-single", 4.5, RATE_BF16, false, false},
	{"mxfp4", 4.25, RATE_FP4, false, false},
	{"nvfp4", 4.5, RATE_FP4, false, false},
	{"q2_k", 3.35, RATE_BF16, true, true},
	{"q3_k_m", 3.91, RATE_BF16, true, true},
	{"q4_0", 4.5, RATE_BF16, true, false},
	{"q4_k_m", 4.85, RATE_BF16, true, true},
	{"q5_k_m", 5.69, RATE_BF16, true, true},
	{"q6_k", 6.5625, RATE_BF16, true, false},
	{"q8_0", 8.5, RATE_BF16, true, false},
};

#define FORMATS_N (sizeof FORMATS / sizeof FORMATS[0])

static const struct {
	const char *alias, *name;
} ALIASES[] = {{"float32", "fp32"}, {"tf32", "fp32"}, {"fp16", "bf16"}, {"float16", "bf16"},
	{"bfloat16", "bf16"}, {"half", "bf16"}, {"16bit", "bf16"}, {"16-bit", "bf16"},
	{"auto", "bf16"}, {"fp8-dynamic", "fp8"}, {"fp8-static", "fp8"}, {"fp8-block", "fp8"},
	{"fp8_e4m3", "fp8"}, {"fp8_e5m2", "fp8"}, {"w8a8", "int8"}, {"8bit", "int8"},
	{"8-bit", "int8"}, {"w4a16", "int4"}, {"awq", "int4"}, {"gptq", "int4"},
	{"awq-g128", "int4"}, {"gptq-g128", "int4"}, {"int4-g128", "int4"}, {"4bit", "int4"},
	{"4-bit", "int4"}, {"3bit", "int3"}, {"2bit", "int2"}, {"nf4-dq", "nf4"},
	{"nf4-double", "nf4"}, {"bnb-nf4", "nf4"}, {"fp4", "nvfp4"}};

static void lower(const char *from, char *to, size_t n)
{
	size_t i = 0;

	for (; from[i] && i + 1 < n; i++)
		to[i] = from[i] == ' ' ? '-' : (char)tolower((unsigned char)from[i]);
	to[i] = '\0';
}

int precision_find(const char *name, struct precision *out, struct err *err)
{
	char want[32];
	const char *key = want;

	lower(name, want, sizeof want);
	for (size_t i = 0; i < sizeof ALIASES / sizeof ALIASES[0]; i++)
		if (strcmp(want, ALIASES[i].alias) == 0)
			key = ALIASES[i].name;
	for (size_t i = 0; i < FORMATS_N; i++) {
		if (strcmp(key, FORMATS[i].name) != 0)
			continue;
		*out = FORMATS[i];
		return 0;
	}
	(void)err_set(err, E_NOTFOUND, "there is no precision '%.40s'", name);
	return err_hint(err,
		"known: fp32 bf16 fp16 fp8 mxfp8 int8 w8a16 int4 (awq, gptq) int3 int2 nf4 "
		"mxfp4 nvfp4 (fp4), and GGUF's q2_k q3_k_m q4_0 q4_k_m q5_k_m q6_k q8_0");
}

int precision_grouped(double bits, double group, double scale_bits, double zero_bits,
	struct precision *out, struct err *err)
{
	int rc;

	if ((rc = need_above("bits", bits, err)) < 0 ||
		(rc = need_above("group", group, err)) < 0 ||
		(rc = need_not_below("scale_bits", scale_bits, err)) < 0 ||
		(rc = need_not_below("zero_bits", zero_bits, err)) < 0)
		return rc;
	out->bits = bits + (scale_bits + zero_bits) / group;
	return 0;
}
