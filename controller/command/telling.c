#include "controller/command/telling.h"

#include <ctype.h>
#include <string.h>

#define LINE_CUT  200
#define MOST_KEPT 16u

/* Lower case. Words that stand in lines of success as well ("0 errors", what dpkg passes through)
 * are let pass below. */
static const char *const WORDS[] = {"error", "failed", "failure", "fatal", "xid", "cannot", "can't",
	"unable to", "refused", "denied", "no space", "mismatch", "rejected", "not found",
	"no such", "timed out", "timeout", "panic", "fallen off", "bad exit", "unmet", "broken",
	"half-configured", "half configured", "due to problems", "segfault", "out of memory"};
static const char *const HARMLESS[] = {"0 errors", "no errors", "no error", "0 failed",
	"error correction", "errors=remount", "commandline:", " status half-configured ",
	" status unpacked "};

static bool has(struct str line, const char *word)
{
	const size_t n = strlen(word);

	for (size_t i = 0; i + n <= line.n; i++) {
		size_t k = 0;

		while (k < n && tolower((unsigned char)line.p[i + k]) == word[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static bool is_telling(struct str line)
{
	for (size_t i = 0; i < sizeof HARMLESS / sizeof *HARMLESS; i++)
		if (has(line, HARMLESS[i]))
			return false;
	for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
		if (has(line, WORDS[i]))
			return true;
	return false;
}

void telling_lines(struct str text, unsigned most, struct buf *out)
{
	struct str kept[MOST_KEPT], line;
	size_t n = 0;

	most = most < MOST_KEPT ? most : MOST_KEPT;
	if (most == 0)
		return;
	while (str_line(&text, &line))
		if (is_telling(line))
			kept[n++ % most] = str_first_utf8(str_trim(line), LINE_CUT);
	for (size_t i = n > most ? n - most : 0; i < n; i++) {
		buf_add_str(out, kept[i % most]);
		buf_add_char(out, '\n');
	}
}
