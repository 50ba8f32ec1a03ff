/* phrase - clauses in Russian, and that the book holds all that audits of many sites say. */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/phrase.h"
#include "tests/unit/t.h"

#define S "\u202f"

static unsigned holes(const char *text)
{
	unsigned n = 0;

	for (text = strstr(text, "{}"); text; text = strstr(text + 2, "{}"))
		n++;
	return n;
}

TEST(both_sides_have_the_same_holes)
{
	static const struct {
		const char *english, *russian;
	} all[] = {
#define PHRASE(english, russian) {english, russian},
#include "inventory/report/phrases.def"
#undef PHRASE
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (holes(all[i].english) != holes(all[i].russian))
			fail_msg("'%s' and '%s'", all[i].english, all[i].russian);
}

TEST(clauses)
{
	static const struct {
		const char *english, *russian;
	} cases[] = {
		{"3 of 6 PSUs left; full power needs 4, staying up 3",
			"осталось 3 из 6 БП; для полной мощности нужно 4, для работы 3"},
		{"limit the plug's 32 A", "предел по вилке: 32" S "А"},
		{"limit 0.80 x 63 A = 50.40 A", "предел 0,80\u00a0×\u00a063" S "А = 50,40" S "А"},
		{"feed 'A1' at 62.00 A of 50 A trips",
			"ввод «A1»: 62,00" S "А при номинале 50" S "А, отключается"},
		{"nobody ever said 5 A; no harmonics", "nobody ever said 5" S "А; гармоник нет"},
		{"", ""},
		{"; ", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 1024);
		phrase_add(&out, LANG_RU, cases[i].english);
		if (i + 1 < sizeof cases / sizeof *cases)
			assert_string_equal(buf_text(&out), cases[i].russian);
	}
	assert_true(phrase_known("no harmonics; L1 5.00 A, L2 3 A"));
	assert_false(phrase_known("no harmonics; nobody ever said so"));
	assert_true(phrase_known(""));
}

TEST(english_stays)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1024);
	phrase_add(&out, LANG_EN, "no harmonics; limit 5 A");
	assert_string_equal(buf_text(&out), "no harmonics; limit 5" S "A");
	buf_clear(&out);
	phrase_add(&out, LANG_EN, NULL);
	assert_string_equal(buf_text(&out), "");
}

static void must_know(const char *text)
{
	if (text && !phrase_known(text))
		fail_msg("not in phrases.def: %s", text);
}

static void check_site(const char *path, const char *policy)
{
	const struct audit_opts o = {.policy = policy, .basis = BASIS_MAX};
	struct err_list errors = {0};
	struct audit_fixes fixes = VEC_INIT;
	struct model *m = NULL;
	struct audit a = {0};
	struct err err;

	assert_int_equal(import_site(path, &m, &errors), 0);
	assert_int_equal(audit_run(m, &o, &a, &err), 0);
	vec_each(&a.findings, const struct finding, f) {
		must_know(f->text);
		must_know(f->assumes);
	}
	vec_each(&a.racks, const struct audit_rack, k)
		assert_int_equal(fix_find(a.arena, &a, &o, k->rack, &fixes, &err), 0);
	vec_each(&fixes, const struct audit_fix, f)
		must_know(f->text);
	vec_done(&fixes);
	audit_done(&a);
	model_free(m);
}

TEST(the_book_knows_what_audits_say)
{
	static const char *const sites[] = {TEST_DIR "/hard.yaml",
		TEST_DIR "/../../../inventory/examples/start.yaml",
		TEST_DIR "/../../../inventory/examples/business.yaml",
		TEST_DIR "/../../../inventory/examples/enterprise.yaml"};

	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
		check_site(sites[i], "strict80");
		check_site(sites[i], "iec100");
	}
}

/* Every formula and source of the rules is meant for people too. */
TEST(rules_in_russian)
{
	for (unsigned i = 0; i < RULE_N; i++) {
		const struct audit_rule_about *about = audit_rule_about((enum audit_rule)i);

		must_know(about->formula);
	}
}

TEST(sources_keep_their_digits)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1024);
	phrase_add_source(&out, LANG_RU, "section 8; IEC 60898-1, Raritan");
	assert_string_equal(buf_text(&out), "раздел 8; IEC 60898-1, Raritan");
	buf_clear(&out);
	phrase_add_source(&out, LANG_EN, "section 8; IEC 60898-1");
	assert_string_equal(buf_text(&out), "section 8; IEC 60898-1");
}

T_MAIN
