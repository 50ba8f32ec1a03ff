/* unit_logs - units that failed, each with the last lines of its journal, as one text. */
#include "agent/base/proc.h"
#include "agent/evidence/gather.h"

#include <stdio.h>

#define UNITS_MAX 20
#define LINES     "50"
#define UNIT_LEN  256

/* "nvidia-fabricmanager.service loaded failed failed NVIDIA fabric manager" */
static bool read_unit(struct str line, char out[static UNIT_LEN])
{
	struct str word = {NULL, 0};

	while (word.n == 0 && str_next(&line, ' ', &word)) {
	}
	if (word.n == 0 || word.n >= UNIT_LEN || word.p[0] == '-' ||
		str_find(word, '.') == STR_NONE)
		return false;
	snprintf(out, UNIT_LEN, STR_FMT, STR_ARG(word));
	return true;
}

void gather_failed_units(struct gathering *g, const char *name)
{
	static const char *const LIST[] = {
		"systemctl", "--failed", "--no-legend", "--plain", "--no-pager", NULL};
	char unit[UNIT_LEN];
	struct str rest, line;
	unsigned n = 0;
	AUTO_BUF units, text;

	buf_init(&units, PROC_OUTPUT_MAX + PROC_LAST_MAX);
	buf_init(&text, 2 * PROC_OUTPUT_MAX);
	if (!gather_ask(g, name, LIST, &units))
		return;
	buf_add_str(&text, buf_str(&units));
	rest = buf_str(&units);
	while (n < UNITS_MAX && str_line(&rest, &line)) {
		const char *const argv[] = {
			"journalctl", "--no-pager", "-b", "-n", LINES, "-u", unit, NULL};

		if (!read_unit(line, unit))
			continue;
		n++;
		buf_addf(&text, "\n--- %s ---\n", unit);
		if (!gather_ask(g, unit, argv, &text))
			break;
	}
	gather_give(g, name, buf_str(&text), GATHER_LOG, 0);
}
