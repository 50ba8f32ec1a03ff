#include "agent/step/apt_plan.h"

#include "agent/base/arena.h"

#include <string.h>

/* "(NEW ORIGINS [ARCH])" of an Inst line. */
static struct str new_version(struct str rest)
{
	const size_t open = str_find(rest, '(');
	struct str inside;

	if (open == STR_NONE)
		return (struct str){NULL, 0};
	inside = str_from(rest, open + 1);
	return str_first(inside, str_find(inside, ' '));
}

/* "[OLD]", only where it is the next word. */
static struct str old_version(struct str rest)
{
	const struct str s = str_trim(rest);

	if (s.n == 0 || s.p[0] != '[')
		return (struct str){NULL, 0};
	return str_first(str_from(s, 1), str_find(str_from(s, 1), ']'));
}

static const char *text_or_null(struct arena *a, struct str s)
{
	return s.n > 0 ? arena_text(a, s) : NULL;
}

void apt_plan_read(struct arena *a, struct str out, struct plan *plan)
{
	struct str line, name;

	while (str_line(&out, &line)) {
		const bool installs = str_starts(line, "Inst ");
		struct planned p = {0};

		if (!installs && !str_starts(line, "Remv ") && !str_starts(line, "Purg "))
			continue;
		line = str_from(line, strlen("Inst "));
		if (!str_next(&line, ' ', &name) || name.n == 0)
			continue;
		p.name = arena_text(a, name);
		p.from = text_or_null(a, old_version(line));
		p.to = installs ? text_or_null(a, new_version(line)) : NULL;
		/* A removal without its version is still one. */
		if (!installs && !p.from)
			p.from = "";
		if (p.from || p.to)
			*vec_push(plan) = p;
	}
}

static uint64_t number(struct str line, const char *key)
{
	uint64_t v = 0;

	(void)str_to_u64(str_trim(str_from(line, strlen(key))), &v);
	return v;
}

void apt_plan_sizes(struct str out, uint64_t *fetched, uint64_t *installed)
{
	struct str line;

	*fetched = *installed = 0;
	while (str_line(&out, &line)) {
		if (str_starts(line, "Size:"))
			*fetched += number(line, "Size:");
		else if (str_starts(line, "Installed-Size:"))
			*installed += number(line, "Installed-Size:") * 1024;
	}
}

/* One line with its blanks folded. */
static void add_folded(struct str line, struct buf *to)
{
	struct str word;
	bool first = true;

	while (str_next(&line, ' ', &word)) {
		if (word.n == 0)
			continue;
		if (!first)
			buf_add_char(to, ' ');
		buf_add_printable(to, word);
		first = false;
	}
}

void apt_plan_unmet(struct str out, struct buf *to)
{
	struct str line;
	bool inside = false;

	while (str_line(&out, &line)) {
		if (str_starts(line, "The following packages have unmet dependencies")) {
			inside = true;
			continue;
		}
		if (!inside)
			continue;
		if (line.n == 0 || line.p[0] != ' ')
			break;
		if (to->n > 0)
			buf_add_text(to, "; ");
		add_folded(line, to);
	}
}

/* "500 http://mirror/x noble/main amd64 Packages" */
static struct str source_of(struct str line)
{
	struct str word, rest = str_trim(line);
	uint64_t priority;

	if (!str_next(&rest, ' ', &word) || !str_to_u64(word, &priority))
		return (struct str){NULL, 0};
	rest = str_trim(rest);
	return str_first(rest, str_find(rest, ' '));
}

static void add_origin(struct str name, struct str version, struct str source, struct buf *to)
{
	if (name.n == 0 || version.n == 0 || str_is(version, "(none)"))
		return;
	if (to->n > 0)
		buf_add_text(to, ", ");
	buf_add_printable(to, name);
	buf_add_char(to, ' ');
	buf_add_printable(to, version);
	buf_add_text(to, " from ");
	if (source.n > 0 && !str_is(source, "/var/lib/dpkg/status"))
		buf_add_printable(to, source);
	else
		buf_add_text(to, "nowhere");
}

/* A version's own line has its text in column 5, a source's further right. */
static bool is_version_line(struct str line)
{
	return line.n > 5 && line.p[5] != ' ' &&
	       (str_starts(line, "     ") || str_starts(line, " *** "));
}

void apt_plan_origins(struct str out, struct buf *to)
{
	struct str line, name = {NULL, 0}, candidate = name, source = name;
	bool here = false;

	while (str_line(&out, &line)) {
		const struct str word = str_trim(line);

		if (line.n > 0 && line.p[0] != ' ' && str_ends(line, ":")) {
			add_origin(name, candidate, source, to);
			name = str_first(line, line.n - 1);
			candidate = source = (struct str){NULL, 0};
			here = false;
		} else if (str_starts(word, "Candidate:")) {
			candidate = str_trim(str_from(word, strlen("Candidate:")));
		} else if (is_version_line(line)) {
			const struct str version = str_from(line, 5);

			here = str_eq(str_first(version, str_find(version, ' ')), candidate);
		} else if (here && (source.n == 0 || str_starts(source, "/"))) {
			source = source_of(line);
		}
	}
	add_origin(name, candidate, source, to);
}
