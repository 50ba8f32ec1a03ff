/* number - figures and units as each language writes them, and arithmetic. */
#include "agent/base/buf.h"
#include "inventory/report/number.h"
#include "tests/unit/t.h"

#include <math.h>

#define S "\u202f"

TEST(with_units)
{
	static const struct {
		double v;
		const char *unit, *english, *russian;
	} cases[] = {
		{62, "A", "62.00" S "A", "62,00" S "А"},
		{999, "W", "999" S "W", "999" S "Вт"},
		{1000, "W", "1.00" S "kW", "1,00" S "кВт"},
		{40800, "W", "40.80" S "kW", "40,80" S "кВт"},
		{-2500, "W", "\u22122.50" S "kW", "\u22122,50" S "кВт"},
		{43.65, "kVA", "43.65" S "kVA", "43,65" S "кВ·А"},
		{130.45, "kg", "130.4" S "kg", "130,4" S "кг"},
		{24, "C", "24.0" S "°C", "24,0" S "°C"},
		{42, "U", "42" S "U", "42" S "U"},
		{4420, "CFM", "4420" S "CFM", "4420" S "фут³/мин"},
		{154228, "BTU/h", "154" S "228" S "BTU/h", "154" S "228" S "BTU/ч"},
		{1234567, "mm", "1" S "234" S "567" S "mm", "1" S "234" S "567" S "мм"},
		{3, "", "3", "3"},
		{3, NULL, "3", "3"},
		{3, "ells", "3" S "ells", "3" S "ells"},
		{-0.001, "A", "0.00" S "A", "0,00" S "А"},
		{(double)NAN, "A", "–", "–"},
		{(double)INFINITY, "W", "–", "–"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 256);
		number_add_unit(&out, LANG_EN, cases[i].v, cases[i].unit);
		assert_string_equal(buf_text(&out), cases[i].english);
		buf_clear(&out);
		number_add_unit(&out, LANG_RU, cases[i].v, cases[i].unit);
		assert_string_equal(buf_text(&out), cases[i].russian);
	}
}

TEST(shares)
{
	AUTO_BUF out = {0};

	buf_init(&out, 256);
	number_add_share(&out, LANG_RU, 0.984);
	assert_string_equal(buf_text(&out), "98" S "%");
	buf_clear(&out);
	number_add_share(&out, LANG_EN, (double)NAN);
	assert_string_equal(buf_text(&out), "–");
	assert_int_equal(number_decimals("A"), 2);
	assert_int_equal(number_decimals("nothing"), 0);
}

TEST(arithmetic)
{
	static const struct {
		const char *plain, *english, *russian;
	} cases[] = {
		{"0.80 x 63 A = 50.40 A", "0.80\u00a0×\u00a063" S "A = 50.40" S "A",
			"0,80\u00a0×\u00a063" S "А = 50,40" S "А"},
		{"40800 W / (1.732 x 400 V x 0.95)",
			"40" S "800" S "W / (1.732\u00a0×\u00a0400" S "V\u00a0×\u00a00.95)",
			"40" S "800" S "Вт / (1,732\u00a0×\u00a0400" S "В\u00a0×\u00a00,95)"},
		{"98 %; L1 103 %", "98" S "%; L1 103" S "%", "98" S "%; L1 103" S "%"},
		{"'pdu-1.5' at 2 C", "'pdu-1.5' at 2" S "°C", "«pdu-1.5» at 2" S "°C"},
		{"the rack's 3 kPa", "the rack's 3" S "kPa", "the rack's 3" S "кПа"},
		{"gpu1.5 A", "gpu1.5 A", "gpu1.5 A"},
		{"P / (sqrt(3) V) <= 5 A", "P / (√3 V) ≤ 5" S "A", "P / (√3 V) ≤ 5" S "А"},
		{"3 Amps", "3 Amps", "3 Amps"},
		{"5.", "5.", "5."},
		{"'open", "'open", "'open"},
		{"", "", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 1024);
		number_add_arithmetic(&out, LANG_EN, cases[i].plain);
		assert_string_equal(buf_text(&out), cases[i].english);
		buf_clear(&out);
		number_add_arithmetic(&out, LANG_RU, cases[i].plain);
		assert_string_equal(buf_text(&out), cases[i].russian);
	}
}

T_MAIN
