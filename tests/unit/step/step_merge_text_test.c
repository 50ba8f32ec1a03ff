/*
 * Texts merged: each file of tests/unit/step/merge holds cases as they are read.
 *
 *	=== what it shows
 *	--- json                   (or toml, ini, apt)
 *	the text as it is, CRLF with "--- toml crlf", no newline at its end with "bare"
 *	--- want {"values": ..., "absent": ..., "lists": ...}
 *	the text as it shall be, or "! " and the error as a person reads it
 *
 * Beside what is expected: the same merge once more changes nothing, a merge of nothing changes
 * nothing, and the way back gives the earlier bytes where "--- want back {...}" stands.
 */
#include "agent/step/merge_want.h"
#include "tests/unit/t.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER   TEST_DIR "/merge"
#define TEXT_MAX (1u << 18)

struct merge_case {
	const char *file;
	struct str name, format, text, args, want;
	bool back, crlf, bare_end;
};

static unsigned failures, cases;

static json_t *read_args(const struct merge_case *c)
{
	json_error_t e;
	json_t *v = json_loadb(c->args.p, c->args.n, JSON_REJECT_DUPLICATES, &e);

	if (!v)
		fail_msg("%s: " STR_FMT ": %s", c->file, STR_ARG(c->name), e.text);
	return v;
}

static const struct merge_format *format_of(const struct merge_case *c)
{
	char name[16];
	const struct merge_format *f;

	snprintf(name, sizeof name, STR_FMT, STR_ARG(c->format));
	f = merge_format_find(name);
	if (!f)
		fail_msg("%s: no format '%s'", c->file, name);
	return f;
}

static void show_error(const struct err *err, struct buf *out)
{
	struct buf text;
	struct str rest, line;

	buf_init(&text, 4096);
	err_format(err, &text);
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		buf_addf(out, "! " STR_FMT "\n", STR_ARG(line));
	buf_done(&text);
}

/* The text after one merge, or the error. */
static int merge(const struct merge_case *c, const json_t *args, struct str text, struct buf *out)
{
	struct merge_wants w = {.arena = arena_new(), .format = format_of(c)};
	struct err err = {0};
	int rc = merge_wants_read(args, &w, &err);

	if (rc == 0)
		rc = merge_text(&w, "/etc/x", text, out, &err);
	if (rc < 0)
		show_error(&err, out);
	merge_wants_done(&w);
	arena_free(w.arena);
	return rc;
}

static void complain(const struct merge_case *c, const char *what, struct str got)
{
	failures++;
	print_error("%s: " STR_FMT ": %s\n-- got\n" STR_FMT "\n", c->file, STR_ARG(c->name), what,
		STR_ARG(got));
}

static void remember(const struct merge_case *c, const json_t *args, struct str text, json_t *into)
{
	struct merge_wants w = {.arena = arena_new(), .format = format_of(c)};
	struct err err = {0};

	if (merge_wants_read(args, &w, &err) < 0 ||
		merge_remember(&w, "/etc/x", text, into, &err) < 0)
		fail_msg("%s: " STR_FMT ": %s", c->file, STR_ARG(c->name), err.msg);
	merge_wants_done(&w);
	arena_free(w.arena);
}

/* Key by key back from what the merge made. */
static void check_back(const struct merge_case *c, const json_t *args, struct str made)
{
	struct merge_wants w = {.arena = arena_new(), .format = format_of(c)};
	json_t *before = json_object(), *left = json_object();
	const char *theirs = NULL;
	struct err err = {0};
	struct buf out;

	buf_init(&out, TEXT_MAX);
	remember(c, args, c->text, before);
	remember(c, args, made, left);
	if (merge_wants_back(&w, "/etc/x", made, before, left, &theirs, &err) < 0 ||
		merge_text(&w, "/etc/x", made, &out, &err) < 0)
		show_error(&err, &out);
	else if (theirs)
		buf_addf(&out, "theirs: %s\n", theirs);
	if (!str_eq(buf_str(&out), c->text))
		complain(c, "the way back", buf_str(&out));
	buf_done(&out);
	json_decref(before);
	json_decref(left);
	merge_wants_done(&w);
	arena_free(w.arena);
}

static void run_case(const struct merge_case *c)
{
	json_t *args = read_args(c), *nothing = json_object();
	struct buf got, again, same;
	int rc;

	cases++;
	buf_init(&got, TEXT_MAX);
	buf_init(&again, TEXT_MAX);
	buf_init(&same, TEXT_MAX);
	rc = merge(c, args, c->text, &got);
	if (!str_eq(buf_str(&got), c->want))
		complain(c, "other text", buf_str(&got));
	if (rc == 0 && (merge(c, args, buf_str(&got), &again) < 0 ||
			       !str_eq(buf_str(&got), buf_str(&again))))
		complain(c, "the second merge", buf_str(&again));
	if (rc == 0 && (merge(c, nothing, c->text, &same) < 0 || !str_eq(buf_str(&same), c->text)))
		complain(c, "a merge of nothing", buf_str(&same));
	if (rc == 0 && c->back)
		check_back(c, args, buf_str(&got));
	buf_done(&got);
	buf_done(&again);
	buf_done(&same);
	json_decref(args);
	json_decref(nothing);
}

/* Lines from text up to one that begins with "=== " or "--- ". */
static struct str take_body(struct str *rest)
{
	const char *begin = rest->p;

	while (rest->n > 0 && !str_starts(*rest, "=== ") && !str_starts(*rest, "--- ")) {
		struct str line;

		(void)str_line(rest, &line);
	}
	return (struct str){begin, (size_t)(rest->p - begin)};
}

static struct str take_head(struct str *rest, const char *mark)
{
	struct str line = STR_LIT("");

	if (!str_starts(*rest, mark) || !str_line(rest, &line))
		fail_msg(
			"expected '%s' and not '" STR_FMT "'", mark, STR_ARG(str_first(*rest, 60)));
	return str_from(line, 4);
}

/* \n to \r\n; or the last newline away. The result is the caller's. */
static struct str shape(const struct merge_case *c, struct str text)
{
	struct buf out;
	size_t n;

	buf_init(&out, TEXT_MAX);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n' && c->crlf)
			buf_add_char(&out, '\r');
		buf_add_char(&out, text.p[i]);
	}
	if (c->bare_end && out.n > 0)
		out.p[--out.n] = '\0';
	n = out.n;
	return (struct str){buf_take(&out), n};
}

static void take_case(const char *file, struct str *rest)
{
	struct merge_case c = {.file = file};
	struct str head, rest_of_head;
	bool bare_both;
	char *text, *want;

	c.name = take_head(rest, "=== ");
	head = take_head(rest, "--- ");
	c.crlf = str_ends(head, " crlf");
	bare_both = str_ends(head, " bare both");
	c.bare_end = bare_both || str_ends(head, " bare");
	(void)str_next(&head, ' ', &c.format);
	c.text = take_body(rest);
	rest_of_head = take_head(rest, "--- want ");
	rest_of_head = str_from(rest_of_head, 5);
	c.back = str_starts(rest_of_head, "back ");
	c.args = str_from(rest_of_head, c.back ? 5 : 0);
	c.want = take_body(rest);
	c.text = shape(&c, c.text);
	c.bare_end = bare_both;
	if (!str_starts(c.want, "! "))
		c.want = shape(&c, c.want);
	else
		c.want = shape(&(struct merge_case){0}, c.want);
	run_case(&c);
	text = (char *)(uintptr_t)c.text.p;
	want = (char *)(uintptr_t)c.want.p;
	free(text);
	free(want);
}

static void run_file(const char *name)
{
	char path[1024];
	struct buf text;
	struct str rest;
	FILE *f;
	char *room;

	snprintf(path, sizeof path, "%s/%s", FOLDER, name);
	buf_init(&text, TEXT_MAX + 1);
	f = fopen(path, "re");
	room = buf_room(&text, TEXT_MAX);
	assert_non_null(f);
	assert_non_null(room);
	buf_grew(&text, fread(room, 1, TEXT_MAX, f));
	fclose(f);
	rest = buf_str(&text);
	while (rest.n > 0)
		take_case(name, &rest);
	buf_done(&text);
}

TEST(texts_become_as_written)
{
	DIR *d = opendir(FOLDER);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (str_ends(str_of(e->d_name), ".cases"))
			run_file(e->d_name);
	closedir(d);
	if (failures > 0)
		fail_msg("%u of %u cases differ", failures, cases);
	assert_true(cases > 60);
}

T_MAIN
