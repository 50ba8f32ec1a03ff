/* grub_args - how: line by line; an assignment is taken apart at its quotes and blanks. */
#include "agent/step/grub_args.h"

#include <string.h>

struct assignment {
	struct str head, args, tail; /* 'VARIABLE="', what stands inside, '"' and what follows */
};

static bool parse(struct str line, const char *variable, struct assignment *out)
{
	size_t at = strlen(variable), close;
	char quote;

	if (!str_starts(line, variable))
		return false;
	if (at < line.n && line.p[at] == '+')
		at++;
	if (at + 1 >= line.n || line.p[at] != '=')
		return false;
	quote = line.p[at + 1];
	if (quote != '"' && quote != '\'')
		return false;
	for (close = at + 2; close < line.n && line.p[close] != quote; close++)
		if (line.p[close] == '\\' && quote == '"')
			close++;
	if (close >= line.n)
		return false;
	out->head = str_first(line, at + 2);
	out->args = str_first(str_from(line, at + 2), close - at - 2);
	out->tail = str_from(line, close);
	return true;
}

static bool is_key(struct str arg, const char *key)
{
	return str_is(str_first(arg, str_find(arg, '=')), key);
}

static void put(struct buf *out, const char *key, const char *value)
{
	buf_add_text(out, key);
	if (*value)
		buf_addf(out, "=%s", value);
}

/* The next argument and the blanks before it. */
static bool next(struct str *rest, struct str *blanks, struct str *arg)
{
	size_t n = 0, end;

	while (n < rest->n && (rest->p[n] == ' ' || rest->p[n] == '\t'))
		n++;
	*blanks = str_first(*rest, n);
	for (end = n; end < rest->n && rest->p[end] != ' ' && rest->p[end] != '\t';)
		end++;
	*arg = str_first(str_from(*rest, n), end - n);
	*rest = str_from(*rest, end);
	return arg->n > 0;
}

bool grub_args_has(struct str cmdline, const char *key, const char *value)
{
	struct str blanks, arg;

	cmdline = str_trim(cmdline);
	while (next(&cmdline, &blanks, &arg)) {
		const size_t equal = str_find(arg, '=');

		if (!is_key(arg, key))
			continue;
		if (equal == STR_NONE ? !*value : str_is(str_from(arg, equal + 1), value))
			return true;
	}
	return false;
}

bool grub_args_holds(struct str text, const char *variable, const char *key)
{
	struct str line, blanks, arg;
	struct assignment a;

	while (str_line(&text, &line)) {
		if (!parse(line, variable, &a))
			continue;
		while (next(&a.args, &blanks, &arg))
			if (is_key(arg, key))
				return true;
	}
	return false;
}

static void set_line(
	const struct assignment *a, const char *key, const char *value, struct buf *out)
{
	struct str rest = a->args, blanks, arg;
	bool first = true, placed = false;

	buf_add_str(out, a->head);
	while (next(&rest, &blanks, &arg)) {
		const bool ours = is_key(arg, key);

		if (ours && (!value || placed))
			continue;
		/* an argument that went from the front takes its blank with it */
		if (!first || blanks.p == a->args.p)
			buf_add_str(out, blanks);
		if (ours)
			put(out, key, value);
		else
			buf_add_str(out, arg);
		placed = placed || ours;
		first = false;
	}
	buf_add_str(out, blanks);
	buf_add_str(out, a->tail);
}

/* Each line with its newline, if it has one; those of the variable by edit. */
void grub_args_set(
	struct str text, const char *variable, const char *key, const char *value, struct buf *out)
{
	struct assignment a;
	struct str line;

	while (text.n > 0) {
		const struct str before = text;

		if (!str_next(&text, '\n', &line))
			return;
		if (parse(line, variable, &a) && grub_args_holds(line, variable, key)) {
			set_line(&a, key, value, out);
			buf_add_str(out, str_from(str_first(before, before.n - text.n), line.n));
		} else {
			buf_add_str(out, str_first(before, before.n - text.n));
		}
	}
}

/* Where the last assignment begins, STR_NONE without any. */
static size_t find_last(struct str text, const char *variable)
{
	const struct str all = text;
	struct assignment a;
	struct str line;
	size_t at = STR_NONE;

	while (str_next(&text, '\n', &line))
		if (parse(line, variable, &a))
			at = (size_t)(line.p - all.p);
	return at;
}

void grub_args_add(
	struct str text, const char *variable, const char *key, const char *value, struct buf *out)
{
	const size_t at = find_last(text, variable);
	struct assignment a = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	struct str line, rest;

	if (at == STR_NONE) {
		buf_add_str(out, text);
		if (text.n > 0 && !str_ends(text, "\n"))
			buf_add_char(out, '\n');
		buf_addf(out, "%s=\"$%s ", variable, variable);
		put(out, key, value);
		buf_add_text(out, "\"\n");
		return;
	}
	rest = str_from(text, at);
	line = str_first(rest, str_find(rest, '\n'));
	(void)parse(line, variable, &a);
	buf_add_str(out, str_first(text, at));
	buf_add_str(out, a.head);
	buf_add_str(out, a.args);
	if (a.args.n > 0 && !str_ends(a.args, " "))
		buf_add_char(out, ' ');
	put(out, key, value);
	buf_add_str(out, a.tail);
	buf_add_str(out, str_from(rest, line.n));
}
