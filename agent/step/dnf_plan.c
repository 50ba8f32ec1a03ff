#include "agent/step/dnf_plan.h"

#include "agent/base/arena.h"

#include <ctype.h>
#include <string.h>

#define FIELDS 3

enum section {
	SECTION_NONE,
	SECTION_COMES,
	SECTION_GOES
};

static enum section section_of(struct str line)
{
	static const char *const COMES[] = {
		"Installing", "Upgrading", "Downgrading", "Reinstalling"};

	if (str_starts(line, "Removing"))
		return SECTION_GOES;
	for (size_t i = 0; i < sizeof COMES / sizeof COMES[0]; i++)
		if (str_starts(line, COMES[i]))
			return SECTION_COMES;
	return SECTION_NONE;
}

struct row {
	struct str field[FIELDS];
	unsigned n;
};

static void add_fields(struct row *r, struct str line)
{
	struct str word;

	while (r->n < FIELDS && str_next(&line, ' ', &word))
		if (word.n > 0)
			r->field[r->n++] = word;
}

static void end_row(struct arena *a, struct row *r, enum section section, struct plan *plan)
{
	struct planned p = {0};

	if (r->n == FIELDS && section != SECTION_NONE) {
		p.name = arena_printf(
			a, STR_FMT ":" STR_FMT, STR_ARG(r->field[0]), STR_ARG(r->field[1]));
		*(section == SECTION_GOES ? &p.from : &p.to) = arena_text(a, r->field[2]);
		*vec_push(plan) = p;
	}
	r->n = 0;
}

void dnf_plan_read(struct arena *a, struct str out, struct plan *plan)
{
	enum section section = SECTION_NONE;
	struct row row = {.n = 0};
	struct str line;

	while (str_line(&out, &line)) {
		const bool indented = line.n > 1 && line.p[0] == ' ';

		if (!indented || line.p[1] != ' ')
			end_row(a, &row, section, plan);
		if (line.n == 0)
			section = SECTION_NONE;
		else if (!indented && str_ends(line, ":"))
			section = section_of(line);
		else if (indented && section != SECTION_NONE &&
			 !str_starts(str_trim(line), "replacing "))
			add_fields(&row, line);
	}
	end_row(a, &row, section, plan);
}

void dnf_plan_scriptlets(struct str out, struct buf *to)
{
	const struct str mark = STR_LIT(" scriptlet in rpm package ");
	struct str line;

	while (str_line(&out, &line)) {
		const size_t at = str_find_str(line, mark);

		if (!str_starts(line, "Error in ") || at == STR_NONE)
			continue;
		if (to->n > 0)
			buf_add_text(to, ", ");
		buf_add_printable(to, str_trim(str_from(line, at + mark.n)));
	}
}

/* "NAME-EPOCH:VERSION-RELEASE.ARCH", "NAME-VERSION..." or NAME alone. */
static bool line_is_of(struct str line, struct str name)
{
	struct str s = str_trim(line), rest;

	if (s.n < name.n || !str_eq(str_first(s, name.n), name))
		return false;
	rest = str_from(s, name.n);
	if (rest.n == 0)
		return true;
	return rest.p[0] == '-' && rest.n > 1 &&
	       (isdigit((unsigned char)rest.p[1]) || rest.p[1] == '*');
}

bool dnf_lock_has(struct str list, struct str name)
{
	struct str line;

	while (str_line(&list, &line))
		if (line_is_of(line, name))
			return true;
	return false;
}

void dnf_lock_set(struct str list, struct str name, struct str version, struct buf *out)
{
	struct str line;

	while (str_line(&list, &line)) {
		if (line_is_of(line, name))
			continue;
		buf_add_str(out, line);
		buf_add_char(out, '\n');
	}
	if (version.n > 0)
		buf_addf(out, STR_FMT "-" STR_FMT ".*\n", STR_ARG(name), STR_ARG(version));
}
