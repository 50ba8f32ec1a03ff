/* text - every word in both languages, plural forms, which language is meant. */
#include "tests/unit/t.h"

#include "agent/base/buf.h"
#include "inventory/report/text.h"

static bool is_cyrillic(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text == 0xd0 || (unsigned char)*text == 0xd1)
			return true;
	return false;
}

/* Words that are the same in Russian. */
static bool is_same(const char *text)
{
	return strcmp(text, "U") == 0 || strcmp(text, "PDU {}") == 0 ||
	       strcmp(text, "{} -> {}") == 0;
}

static unsigned holes(const char *text)
{
	unsigned n = 0;

	for (text = strstr(text, "{}"); text; text = strstr(text + 2, "{}"))
		n++;
	return n;
}

TEST(every_word_in_both_languages)
{
	for (unsigned key = 0; key < TEXT_N; key++) {
		const char *english = text_get(LANG_EN, (enum text_key)key);
		const char *russian = text_get(LANG_RU, (enum text_key)key);

		assert_non_null(english);
		assert_non_null(russian);
		assert_true(*english && *russian);
		if (is_cyrillic(english) || (!is_cyrillic(russian) && !is_same(english)))
			fail_msg("'%s' is '%s' in Russian", english, russian);
		if (holes(english) != holes(russian))
			fail_msg("'%s' and '%s' hold other values", english, russian);
	}
}

TEST(every_rule_in_both_languages)
{
	for (unsigned rule = 0; rule < RULE_N; rule++) {
		const enum audit_rule r = (enum audit_rule)rule;

		assert_true(is_cyrillic(text_rule_title(LANG_RU, r)));
		assert_true(is_cyrillic(text_rule_asks(LANG_RU, r)));
		assert_true(is_cyrillic(text_rule_cure(LANG_RU, r)));
		assert_false(is_cyrillic(text_rule_title(LANG_EN, r)));
		assert_false(is_cyrillic(text_rule_asks(LANG_EN, r)));
		assert_false(is_cyrillic(text_rule_cure(LANG_EN, r)));
		assert_true(*text_rule_title(LANG_EN, r) && *text_rule_cure(LANG_EN, r));
	}
	assert_string_equal(text_rule_title(LANG_RU, RULE_N), "?");
	assert_string_equal(text_rule_asks(LANG_EN, RULE_N), "?");
	assert_string_equal(text_rule_cure(LANG_EN, RULE_N), "?");
}

TEST(enums_out_of_range_are_no_crash)
{
	assert_string_equal(text_get(LANG_N, TEXT_RACK), "?");
	assert_string_equal(text_get(LANG_EN, TEXT_N), "?");
	assert_string_equal(text_verdict(LANG_EN, AUDIT_VERDICT_N), "?");
	assert_string_equal(text_verdict_means(LANG_RU, AUDIT_VERDICT_N), "?");
	assert_string_equal(text_basis(LANG_EN, BASIS_N), "?");
	assert_string_equal(text_origin(LANG_EN, ORIGIN_N), "?");
	assert_string_equal(text_confidence(LANG_RU, "medium"), "средняя");
	assert_string_equal(text_confidence(LANG_RU, "odd"), "odd");
}

TEST(counts)
{
	static const struct {
		enum text_lang lang;
		enum text_count noun;
		unsigned long n;
		const char *want;
	} cases[] = {
		{LANG_EN, COUNT_RACKS, 0, "0\u00a0racks"},
		{LANG_EN, COUNT_RACKS, 1, "1\u00a0rack"},
		{LANG_EN, COUNT_RACKS, 2, "2\u00a0racks"},
		{LANG_EN, COUNT_RACKS, 21, "21\u00a0racks"},
		{LANG_RU, COUNT_RACKS, 0, "0\u00a0стоек"},
		{LANG_RU, COUNT_RACKS, 1, "1\u00a0стойка"},
		{LANG_RU, COUNT_RACKS, 3, "3\u00a0стойки"},
		{LANG_RU, COUNT_RACKS, 5, "5\u00a0стоек"},
		{LANG_RU, COUNT_RACKS, 11, "11\u00a0стоек"},
		{LANG_RU, COUNT_RACKS, 12, "12\u00a0стоек"},
		{LANG_RU, COUNT_RACKS, 14, "14\u00a0стоек"},
		{LANG_RU, COUNT_RACKS, 21, "21\u00a0стойка"},
		{LANG_RU, COUNT_DEVICES, 22, "22\u00a0устройства"},
		{LANG_RU, COUNT_DEVICES, 111, "111\u00a0устройств"},
		{LANG_RU, COUNT_FINDINGS, 104, "104\u00a0замечания"},
		{LANG_RU, COUNT_UNITS, 48, "48\u00a0юнитов"},
		{LANG_RU, COUNT_PSUS, 101, "101\u00a0блок питания"},
		{LANG_N, COUNT_PSUS, 2, "2\u00a0PSUs"},
		{LANG_EN, COUNT_N, 2, ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 256);
		text_add_count(&out, cases[i].lang, cases[i].noun, cases[i].n);
		assert_string_equal(buf_text(&out), cases[i].want);
	}
}

TEST(language_by_word)
{
	assert_int_equal(text_lang_find("ru"), LANG_RU);
	assert_int_equal(text_lang_find("ru_RU.UTF-8"), LANG_RU);
	assert_int_equal(text_lang_find("ru-RU"), LANG_RU);
	assert_int_equal(text_lang_find("en_GB"), LANG_EN);
	assert_int_equal(text_lang_find("rue"), LANG_N);
	assert_int_equal(text_lang_find("de"), LANG_N);
	assert_int_equal(text_lang_find(""), LANG_N);
	assert_int_equal(text_lang_find(NULL), LANG_N);
	assert_string_equal(text_lang_name(LANG_RU), "ru");
}

TEST(language_by_environment)
{
	unsetenv("LC_ALL");
	unsetenv("LC_MESSAGES");
	unsetenv("LANG");
	assert_int_equal(text_lang_env(), LANG_EN);
	setenv("LANG", "ru_RU.UTF-8", 1);
	assert_int_equal(text_lang_env(), LANG_RU);
	setenv("LC_MESSAGES", "en_US.UTF-8", 1);
	assert_int_equal(text_lang_env(), LANG_EN);
	setenv("LC_ALL", "", 1);
	assert_int_equal(text_lang_env(), LANG_EN);
	setenv("LC_ALL", "ru_RU", 1);
	assert_int_equal(text_lang_env(), LANG_RU);
	setenv("LC_ALL", "C.UTF-8", 1);
	assert_int_equal(text_lang_env(), LANG_EN);
}

static void subject_is(const struct model *m, struct audit_subject what, const char *english,
	const char *russian, const char *loss)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1024);
	text_add_subject(&out, LANG_EN, m, what);
	assert_string_equal(buf_text(&out), english);
	buf_clear(&out);
	text_add_subject(&out, LANG_RU, m, what);
	assert_string_equal(buf_text(&out), russian);
	buf_clear(&out);
	text_add_loss(&out, LANG_RU, &(struct audit){.model = m}, what);
	assert_string_equal(buf_text(&out), loss);
}

TEST(several_values)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1024);
	TEXT_FILL(&out, LANG_EN, TEXT_FIT_OF, "1", "2", "{}");
	assert_string_equal(buf_text(&out), "1 of 2 more '{}' fit");
	buf_clear(&out);
	TEXT_FILL(&out, LANG_EN, TEXT_YES, "surplus");
	assert_string_equal(buf_text(&out), "yes");
	buf_clear(&out);
	TEXT_FILL(&out, LANG_EN, TEXT_FIT_OF, "1");
	assert_string_equal(buf_text(&out), "1 of {} more '{}' fit");
}

TEST(several_lost_at_once_are_all_named)
{
	struct model *m = model_new();
	const struct audit_subject lost[] = {{NOUN_FEED, 0}, {NOUN_PANEL, 0}};
	const struct audit a = {.model = m, .lost = lost, .n_lost = 2};
	AUTO_BUF out = {0};

	*vec_push(&m->feeds) = (struct feed){.name = "A1"};
	*vec_push(&m->panels) = (struct panel){.name = "P"};
	buf_init(&out, 1024);
	text_add_loss(&out, LANG_EN, &a, lost[0]);
	assert_string_equal(buf_text(&out), "loss of feed\u00a0A1, panel\u00a0P");
	buf_clear(&out);
	text_add_loss(&out, LANG_RU, &a, lost[0]);
	assert_string_equal(buf_text(&out), "потеря ввода\u00a0A1, щита\u00a0P");
	buf_clear(&out);
	text_add_loss(&out, LANG_EN, &a, (struct audit_subject){NOUN_N, 0});
	assert_string_equal(buf_text(&out), "normal operation");
	model_free(m);
}

TEST(subjects)
{
	struct model *m = model_new();

	*vec_push(&m->feeds) = (struct feed){.name = "A1"};
	*vec_push(&m->pdus) = (struct pdu){.name = "pdu-a"};
	*vec_push(&m->outlets) = (struct outlet){.name = "7", .pdu = 0};
	*vec_push(&m->banks) = (struct bank){.name = "2", .pdu = 0};
	*vec_push(&m->devices) = (struct device){.name = "gpu1"};
	*vec_push(&m->ports) = (struct port){.name = "psu2", .device = 0};
	subject_is(m, (struct audit_subject){NOUN_FEED, 0}, "feed\u00a0A1", "ввод\u00a0A1",
		"потеря ввода\u00a0A1");
	subject_is(m, (struct audit_subject){NOUN_OUTLET, 0}, "outlet\u00a0pdu-a/7",
		"розетка\u00a0pdu-a/7", "потеря розетки\u00a0pdu-a/7");
	subject_is(m, (struct audit_subject){NOUN_BANK, 0}, "bank\u00a0pdu-a/2",
		"группа розеток\u00a0pdu-a/2", "потеря группы розеток\u00a0pdu-a/2");
	subject_is(m, (struct audit_subject){NOUN_PORT, 0}, "port\u00a0gpu1/psu2",
		"порт\u00a0gpu1/psu2", "потеря порта\u00a0gpu1/psu2");
	subject_is(
		m, (struct audit_subject){NOUN_N, 0}, "the site", "площадка", "нормальный режим");
	subject_is(m, (struct audit_subject){NOUN_FEED, 9}, "feed\u00a0?", "ввод\u00a0?",
		"потеря ввода\u00a0?");
	model_free(m);
}

T_MAIN
