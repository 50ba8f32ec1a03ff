#include "agent/facts/xid.h"

#include <ctype.h>

static const char *const WORDS[] = {"NVRM: Xid", "SXid", "has fallen off the bus",
	"RmInitAdapter failed", "probe routine failed", "Timeout waiting for RPC from GSP",
	"Key was rejected by service", NULL};

/* "4,1234,56789,-;text" -> text; "<4>[ 12.3] text" and plain lines stay. */
static struct str text_of(struct str line)
{
	const size_t semicolon = str_find(line, ';');
	const struct str head = str_first(line, semicolon == STR_NONE ? 0 : semicolon);
	unsigned commas = 0;

	for (size_t i = 0; i < head.n; i++) {
		commas += head.p[i] == ',';
		if (head.p[i] == ' ')
			return line;
	}
	return commas >= 2 ? str_from(line, semicolon + 1) : line;
}

static void read_slot(struct str text, struct xid *out)
{
	static const struct str mark = {"(PCI:", 5};
	const size_t at = str_find_str(text, mark);
	struct str rest;

	if (at == STR_NONE)
		return;
	rest = str_from(text, at + mark.n);
	out->slot = str_first(rest, str_find(rest, ')'));
	if (out->slot.n > 16 || out->slot.n == rest.n)
		out->slot = (struct str){NULL, 0};
}

/* The first number behind "): " or, of a switch, behind a colon. */
static void read_code(struct str text, struct xid *out)
{
	const size_t at = str_find_str(text, (struct str){"): ", 3});
	struct str rest = at == STR_NONE ? text : str_from(text, at + 3);
	size_t n = 0;

	while (n < rest.n && isdigit((unsigned char)rest.p[n]))
		n++;
	if (n == 0 || !str_to_i64(str_first(rest, n), &out->code))
		out->code = -1;
}

bool xid_parse(struct str line, struct xid *out)
{
	const char *const *w = WORDS;

	*out = (struct xid){.text = str_trim(text_of(line)), .code = -1};
	while (*w && str_find_str(out->text, str_of(*w)) == STR_NONE)
		w++;
	if (!*w)
		return false;
	out->of_switch = w == &WORDS[1];
	read_slot(out->text, out);
	if (w <= &WORDS[1])
		read_code(out->text, out);
	return true;
}
