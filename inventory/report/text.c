/* text - a table per language; a new one is a new column of it. */
#include "inventory/report/text.h"

#include "agent/base/buf.h"

static const char *const TEXTS[LANG_N][TEXT_N] = {
	[LANG_EN] =
		{
			[TEXT_RACK] = "RACK",
			[TEXT_UNITS] = "U",
			[TEXT_GAP] = "GAP",
			[TEXT_DEVICES] = "DEV",
			[TEXT_KW_MAX] = "KW",
			[TEXT_KG] = "KG",
			[TEXT_FEEDS] = "FEEDS",
			[TEXT_POWER] = "POWER",
			[TEXT_REMARK] = "REMARK",
			[TEXT_NODE] = "NODE",
			[TEXT_ADDRESS] = "ADDRESS",
			[TEXT_ROLE] = "ROLE",
			[TEXT_STATE] = "STATE",
			[TEXT_OS] = "OS",
			[TEXT_AGENT] = "AGENT",
			[TEXT_SEEN] = "SEEN",
			[TEXT_RUN] = "RUN",
			[TEXT_MODE] = "MODE",
			[TEXT_RECIPES] = "RECIPES",
			[TEXT_NODES] = "NODES",
			[TEXT_STARTED] = "STARTED",
			[TEXT_TOOK] = "TOOK",
			[TEXT_RESULT] = "RESULT",
			[TEXT_NO_RACKS] = "no racks yet: bring them in with 'stoika import FILE'",
			[TEXT_NO_NODES] = "no nodes yet: bring them in with 'stoika import FILE'",
			[TEXT_NO_RUNS] = "no runs yet",
			[TEXT_NOTE_FEEDS] =
				"FEEDS: load after the worst loss of another feed, in % of what the\n"
				"feed may carry all day (80 % of its breaker unless the site says more).",
			[TEXT_NOTE_FACTOR] = "Vendor maxima; power factor {} assumed.",
			[TEXT_AGO] = "{} ago",
			[TEXT_NEVER] = "never",
			[TEXT_TOO_HEAVY] = "too heavy",
			[TEXT_PDU] = "PDU {}",
			[TEXT_NO_CORD] = "{} without a cord",
			[TEXT_DOWN] = "{} dark on a loss",
			[TEXT_DEGRADED] = "{} slowed on a loss",
			[TEXT_NO_WATTS] = "{} without watts",
			[TEXT_NO_WEIGHT] = "{} without kg",
		},
};

const char *text_get(enum text_lang lang, enum text_key key)
{
	const char *text;

	if (lang >= LANG_N || key >= TEXT_N)
		return "?";
	text = TEXTS[lang][key] ? TEXTS[lang][key] : TEXTS[LANG_EN][key];
	return text ? text : "?";
}

void text_add(struct buf *out, enum text_lang lang, enum text_key key, const char *value)
{
	const struct str text = str_of(text_get(lang, key));
	const size_t at = str_find_str(text, STR_LIT("{}"));

	if (at == STR_NONE) {
		buf_add_str(out, text);
		return;
	}
	buf_add_str(out, str_first(text, at));
	buf_add_text(out, value);
	buf_add_str(out, str_from(text, at + 2));
}
