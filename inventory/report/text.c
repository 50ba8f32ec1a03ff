/* text - tables made of words.def and rules.def; a new language is a new column of them. */
#include "inventory/report/text.h"

#include "agent/base/buf.h"

#include <stdlib.h>
#include <string.h>

static const char *const TEXTS[TEXT_N][LANG_N] = {
#define WORD(key, english, russian) [TEXT_##key] = {english, russian},
#include "inventory/report/words.def"
#undef WORD
};

static const struct rule_words {
	const char *title[LANG_N], *asks_ru, *cure[LANG_N];
} RULES[RULE_N] = {
#define RULE(rule, english, russian, asks, cure, cure_ru) \
	[RULE_##rule] = {{english, russian}, asks, {cure, cure_ru}},
#include "inventory/report/rules.def"
#undef RULE
};

/* One, few, many; English has no few. */
static const char *const COUNTS[COUNT_N][LANG_N][3] = {
	[COUNT_RACKS] = {{"rack", "racks", "racks"}, {"стойка", "стойки", "стоек"}},
	[COUNT_DEVICES] = {{"device", "devices", "devices"},
		{"устройство", "устройства", "устройств"}},
	[COUNT_FINDINGS] = {{"finding", "findings", "findings"},
		{"замечание", "замечания", "замечаний"}},
	[COUNT_UNITS] = {{"unit", "units", "units"}, {"юнит", "юнита", "юнитов"}},
	[COUNT_PSUS] = {{"PSU", "PSUs", "PSUs"},
		{"блок питания", "блока питания", "блоков питания"}},
	[COUNT_NODES] = {{"node", "nodes", "nodes"}, {"узел", "узла", "узлов"}},
	[COUNT_ON_NODES] = {{"node", "nodes", "nodes"}, {"узле", "узлах", "узлах"}},
};

/* What a model's nouns are called: as a subject, and in "loss of". */
static const struct noun_words {
	const char *english, *russian, *of_russian;
} NOUNS[NOUN_N] = {
	[NOUN_LOCATION] = {"location", "помещение", "помещения"},
	[NOUN_ZONE] = {"cooling zone", "зона охлаждения", "зоны охлаждения"},
	[NOUN_PANEL] = {"panel", "щит", "щита"},
	[NOUN_RACK] = {"rack", "стойка", "стойки"},
	[NOUN_FEED] = {"feed", "ввод", "ввода"},
	[NOUN_PDU] = {"PDU", "PDU", "PDU"},
	[NOUN_OUTLET] = {"outlet", "розетка", "розетки"},
	[NOUN_TYPE] = {"type", "тип", "типа"},
	[NOUN_DEVICE] = {"device", "устройство", "устройства"},
	[NOUN_PORT] = {"port", "порт", "порта"},
	[NOUN_UPS] = {"UPS", "ИБП", "ИБП"},
	[NOUN_GENERATOR] = {"generator", "генератор", "генератора"},
	[NOUN_BANK] = {"bank", "группа розеток", "группы розеток"},
	[NOUN_UNIT] = {"cooling unit", "блок охлаждения", "блока охлаждения"},
	[NOUN_RESERVATION] = {"reservation", "резерв", "резерва"},
	[NOUN_ROLE] = {"role", "роль", "роли"},
};

enum text_lang text_lang_find(const char *word)
{
	static const char *const names[LANG_N] = {"en", "ru"};

	for (unsigned i = 0; word && i < LANG_N; i++) {
		const size_t n = strlen(names[i]);

		if (strncmp(word, names[i], n) == 0 && (word[n] == '\0' || strchr("_.@-", word[n])))
			return (enum text_lang)i;
	}
	return LANG_N;
}

enum text_lang text_lang_env(void)
{
	static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *word = getenv(names[i]);

		if (word && *word) {
			const enum text_lang lang = text_lang_find(word);

			return lang < LANG_N ? lang : LANG_EN;
		}
	}
	return LANG_EN;
}

const char *text_lang_name(enum text_lang lang)
{
	return lang == LANG_RU ? "ru" : "en";
}

static enum text_lang known(enum text_lang lang)
{
	return lang < LANG_N ? lang : LANG_EN;
}

const char *text_get(enum text_lang lang, enum text_key key)
{
	return lang < LANG_N && key < TEXT_N ? TEXTS[key][lang] : "?";
}

void text_fill(struct buf *out, enum text_lang lang, enum text_key key, const char *const *values,
	size_t n)
{
	struct str rest = str_of(text_get(lang, key));

	for (size_t i = 0; i < n; i++) {
		const size_t at = str_find_str(rest, STR_LIT("{}"));

		if (at == STR_NONE)
			break;
		buf_add_str(out, str_first(rest, at));
		buf_add_text(out, values[i]);
		rest = str_from(rest, at + 2);
	}
	buf_add_str(out, rest);
}

void text_add(struct buf *out, enum text_lang lang, enum text_key key, const char *value)
{
	text_fill(out, lang, key, &value, 1);
}

/* 1, 21, 101 стойка; 2 .. 4, 22 стойки; 5 .. 20, 25, 111 стоек. */
static unsigned form_of(enum text_lang lang, unsigned long n)
{
	const unsigned long tens = n % 100, ones = n % 10;

	if (lang != LANG_RU)
		return n == 1 ? 0 : 2;
	if (tens >= 11 && tens <= 14)
		return 2;
	return ones == 1 ? 0 : ones >= 2 && ones <= 4 ? 1 : 2;
}

void text_add_count(struct buf *out, enum text_lang lang, enum text_count noun, unsigned long n)
{
	if (noun < COUNT_N)
		buf_addf(out, "%lu\u00a0%s", n, COUNTS[noun][known(lang)][form_of(lang, n)]);
}

/* --- the audit's words --- */

const char *text_rule_title(enum text_lang lang, enum audit_rule rule)
{
	return rule < RULE_N ? RULES[rule].title[known(lang)] : "?";
}

const char *text_rule_asks(enum text_lang lang, enum audit_rule rule)
{
	if (rule >= RULE_N)
		return "?";
	return lang == LANG_RU ? RULES[rule].asks_ru : audit_rule_about(rule)->asks;
}

const char *text_rule_cure(enum text_lang lang, enum audit_rule rule)
{
	return rule < RULE_N ? RULES[rule].cure[known(lang)] : "?";
}

const char *text_verdict(enum text_lang lang, enum audit_verdict v)
{
	static const enum text_key keys[AUDIT_VERDICT_N] = {
		TEXT_PASS, TEXT_WARN, TEXT_CONDITIONAL, TEXT_FAIL};

	return v < AUDIT_VERDICT_N ? text_get(lang, keys[v]) : "?";
}

const char *text_verdict_means(enum text_lang lang, enum audit_verdict v)
{
	static const enum text_key keys[AUDIT_VERDICT_N] = {
		TEXT_PASS_MEANS, TEXT_WARN_MEANS, TEXT_CONDITIONAL_MEANS, TEXT_FAIL_MEANS};

	return v < AUDIT_VERDICT_N ? text_get(lang, keys[v]) : "?";
}

const char *text_basis(enum text_lang lang, enum power_basis b)
{
	static const enum text_key keys[BASIS_N] = {
		TEXT_BASIS_NAMEPLATE, TEXT_BASIS_MAX, TEXT_BASIS_CAPPED, TEXT_BASIS_MEASURED};

	return b < BASIS_N ? text_get(lang, keys[b]) : "?";
}

const char *text_origin(enum text_lang lang, enum fact_origin o)
{
	static const enum text_key keys[ORIGIN_N] = {TEXT_ORIGIN_DECLARED, TEXT_ORIGIN_CATALOGUE,
		TEXT_ORIGIN_REPORTED, TEXT_ORIGIN_VERIFIED, TEXT_ORIGIN_ASSUMED};

	return o < ORIGIN_N ? text_get(lang, keys[o]) : "?";
}

const char *text_confidence(enum text_lang lang, const char *word)
{
	static const struct {
		const char *word;
		enum text_key key;
	} all[] = {{"high", TEXT_CONFIDENCE_HIGH}, {"medium", TEXT_CONFIDENCE_MEDIUM},
		{"low", TEXT_CONFIDENCE_LOW}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(all[i].word, word) == 0)
			return text_get(lang, all[i].key);
	return word;
}

/* Words of the store that lists show; programs get them as they are. */
static const struct state_words {
	const char *word, *russian;
} STATES[] = {
	{"expected", "ожидается"},
	{"discovered", "обнаружен"},
	{"inspected", "осмотрен"},
	{"ready", "готов"},
	{"deploying", "настраивается"},
	{"deployed", "настроен"},
	{"failed", "сбой"},
	{"rescue", "на восстановлении"},
	{"retired", "выведен"},
	{"running", "идёт"},
	{"done", "завершён"},
	{"cancelled", "отменён"},
	{"interrupted", "прерван"},
	{"plan", "план"},
	{"apply", "применение"},
	{"check", "проверка"},
	{"facts", "опрос"},
	{"rollout", "раскатка"},
	{"stage", "загрузка"},
	{"evidence", "сбор сведений"},
	{"undo", "возврат"},
	{"ok", "в порядке"},
	{"changed", "изменено"},
	{"differs", "отличается"},
	{"skipped", "пропущено"},
	{"denied", "отказано"},
	{"timeout", "время вышло"},
	{"unknown", "неизвестно"},
	{"unknown in part", "частично неизвестно"},
	{"drift", "отклонение"},
	{"unreachable", "нет связи"},
	{"fails", "не выполняется"},
};

const char *text_state(enum text_lang lang, const char *word)
{
	for (size_t i = 0; lang == LANG_RU && i < sizeof STATES / sizeof *STATES; i++)
		if (strcmp(STATES[i].word, word) == 0)
			return STATES[i].russian;
	return word;
}

const char *text_rollout_state(enum text_lang lang, const char *word)
{
	static const struct state_words OWN[] = {
		{"done", "завершена"}, {"cancelled", "отменена"}, {"interrupted", "прервана"}};

	for (size_t i = 0; lang == LANG_RU && i < sizeof OWN / sizeof *OWN; i++)
		if (strcmp(OWN[i].word, word) == 0)
			return OWN[i].russian;
	return text_state(lang, word);
}

/* --- subjects --- */

#define NAME_OF(list, i) ((i) < m->list.n ? m->list.at[i].name : "?")

static const char *plain_name(const struct model *m, struct audit_subject what)
{
	switch (what.noun) {
	case NOUN_LOCATION:
		return NAME_OF(locations, what.row);
	case NOUN_ZONE:
		return NAME_OF(zones, what.row);
	case NOUN_PANEL:
		return NAME_OF(panels, what.row);
	case NOUN_RACK:
		return NAME_OF(racks, what.row);
	case NOUN_FEED:
		return NAME_OF(feeds, what.row);
	case NOUN_PDU:
		return NAME_OF(pdus, what.row);
	case NOUN_TYPE:
		return NAME_OF(types, what.row);
	case NOUN_DEVICE:
		return NAME_OF(devices, what.row);
	case NOUN_UPS:
		return NAME_OF(upses, what.row);
	case NOUN_GENERATOR:
		return NAME_OF(generators, what.row);
	case NOUN_UNIT:
		return NAME_OF(units, what.row);
	case NOUN_RESERVATION:
		return NAME_OF(reservations, what.row);
	default:
		return "?";
	}
}

/* Outlets and banks are named within their PDU, ports within their device. */
void text_add_name(struct buf *out, const struct model *m, struct audit_subject what)
{
	if (what.noun == NOUN_OUTLET && what.row < m->outlets.n) {
		const struct outlet *o = &m->outlets.at[what.row];

		buf_addf(out, "%s/%s", NAME_OF(pdus, o->pdu), o->name);
	} else if (what.noun == NOUN_BANK && what.row < m->banks.n) {
		const struct bank *b = &m->banks.at[what.row];

		buf_addf(out, "%s/%s", NAME_OF(pdus, b->pdu), b->name);
	} else if (what.noun == NOUN_PORT && what.row < m->ports.n) {
		const struct port *p = &m->ports.at[what.row];

		buf_addf(out, "%s/%s", NAME_OF(devices, p->device), p->name);
	} else {
		buf_add_text(out, plain_name(m, what));
	}
}

static void add_noun_name(
	struct buf *out, const char *noun, const struct model *m, struct audit_subject what)
{
	buf_addf(out, "%s\u00a0", noun ? noun : "?");
	text_add_name(out, m, what);
}

void text_add_subject(
	struct buf *out, enum text_lang lang, const struct model *m, struct audit_subject what)
{
	if (what.noun >= NOUN_N)
		buf_add_text(out, text_get(lang, TEXT_WHOLE_SITE));
	else
		add_noun_name(out,
			lang == LANG_RU ? NOUNS[what.noun].russian : NOUNS[what.noun].english, m,
			what);
}

void text_add_loss(
	struct buf *out, enum text_lang lang, const struct audit *a, struct audit_subject lost)
{
	const bool several = a->n_lost > 1;
	AUTO_BUF names;

	buf_init(&names, 1u << 14);
	if (lost.noun >= NOUN_N) {
		buf_add_text(out, text_get(lang, TEXT_NORMAL_OPERATION));
		return;
	}
	for (size_t i = 0; i < (several ? a->n_lost : 1); i++) {
		const struct audit_subject one = several ? a->lost[i] : lost;

		buf_add_text(&names, i ? ", " : "");
		add_noun_name(&names,
			lang == LANG_RU ? NOUNS[one.noun].of_russian : NOUNS[one.noun].english,
			a->model, one);
	}
	text_add(out, lang, TEXT_LOSS_OF, buf_text(&names));
}
