#include "agent/step/mdstat.h"

#include <stdio.h>
#include <string.h>

/* "loop1[1](S)" is loop1. */
static void add_member(struct mdstat *m, struct str word)
{
	const size_t at = str_find(word, '[');

	if (at == STR_NONE || at == 0 || at >= 64 || m->n_members == MDSTAT_MEMBERS_MAX)
		return;
	snprintf(m->members[m->n_members++], 64, STR_FMT, STR_ARG(str_first(word, at)));
}

/* "md127 : active (auto-read-only) raid1 loop1[1] loop0[0]" */
static bool read_title(struct str line, struct mdstat *m)
{
	struct str word;

	memset(m, 0, sizeof *m);
	if (!str_starts(line, "md") || !str_next(&line, ' ', &word) || word.n >= sizeof m->name)
		return false;
	snprintf(m->name, sizeof m->name, STR_FMT, STR_ARG(word));
	if (!str_next(&line, ' ', &word) || !str_is(word, ":"))
		return false;
	if (!str_next(&line, ' ', &word) || (!str_is(word, "active") && !str_is(word, "inactive")))
		return false;
	m->active = str_is(word, "active");
	while (str_next(&line, ' ', &word)) {
		if (str_find(word, '[') != STR_NONE)
			add_member(m, word);
		else if (!m->level[0] && word.n > 0 && word.p[0] != '(' && word.n < sizeof m->level)
			snprintf(m->level, sizeof m->level, STR_FMT, STR_ARG(word));
	}
	return true;
}

/* "      65472 blocks super 1.2 [2/2] [UU]" */
static void read_blocks(struct str line, struct mdstat *m)
{
	const size_t at = str_find_str(line, STR_LIT(" super "));
	struct str word;

	snprintf(m->metadata, sizeof m->metadata, "0.90");
	if (at == STR_NONE)
		return;
	line = str_from(line, at + strlen(" super "));
	if (str_next(&line, ' ', &word) && word.n < sizeof m->metadata)
		snprintf(m->metadata, sizeof m->metadata, STR_FMT, STR_ARG(word));
}

bool mdstat_next(struct str *text, struct mdstat *out)
{
	struct str line;

	while (str_line(text, &line)) {
		if (!read_title(line, out))
			continue;
		if (str_line(text, &line))
			read_blocks(line, out);
		return true;
	}
	return false;
}
