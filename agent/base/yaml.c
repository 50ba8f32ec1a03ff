/*
 * yaml.c - an iterative builder over libyaml's events.
 *
 * libyaml has no limit on depth and is quadratic in it, so every event is
 * judged before the next one is asked for. What libyaml never gets to see:
 * broken UTF-8, directives (their list is quadratic too), what follows the
 * document. One stack of pending nodes serves all open collections; a
 * collection takes its part into the arena when it closes.
 */
#include "agent/base/yaml.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#define DEPTH_HARD  64   /* room for open collections; caps ask for less */
#define NODES_BLOCK 128  /* nodes are taken from the arena this many at a time */
#define MSG_MAX     1024 /* more than struct err takes, so that it marks the cut */
#define READ_STEP   ((size_t)256 << 10)

const struct yaml_caps YAML_CAPS_RECIPE = {1u << 20, 32, 10000, 64u << 10};
const struct yaml_caps YAML_CAPS_SITE = {64u << 20, 32, 4000000, 64u << 10};

struct open_node {
	struct yaml_node *node;
	size_t first; /* where its children begin among the pending */
};

struct builder {
	const struct yaml_doc *doc;
	const struct yaml_caps *caps;
	yaml_parser_t *parser;
	struct yaml_node *root;
	struct yaml_node *block; /* unused nodes */
	unsigned block_left, nodes, depth;
	struct open_node open[DEPTH_HARD];
	struct vec(struct yaml_node *) pending;
};

/* Cuts a line where libyaml does: also at \r, NEL, LS and PS. */
static bool next_line(struct str *left, struct str *line)
{
	size_t i = 0, skip = 0;

	if (left->n == 0)
		return false;
	while (i < left->n && skip == 0) {
		const struct str here = str_from(*left, i);

		if (here.p[0] == '\n')
			skip = 1;
		else if (here.p[0] == '\r')
			skip = str_starts(here, "\r\n") ? 2 : 1;
		else if (here.p[0] == '\xC2' && str_starts(here, "\xC2\x85"))
			skip = 2;
		else if (here.p[0] == '\xE2' &&
			 (str_starts(here, "\xE2\x80\xA8") || str_starts(here, "\xE2\x80\xA9")))
			skip = 3;
		else
			i++;
	}
	*line = str_first(*left, i);
	*left = str_from(*left, i + skip);
	return true;
}

struct place {
	unsigned line, col; /* 1-based */
};

static void refuse_with(
	const struct yaml_doc *d, struct place at, struct err *err, enum ec code, const char *msg)
{
	struct str left = d->text, source = {"", 0};

	(void)err_at(err, code, d->name, at.line, at.col, "%s", msg);
	for (unsigned i = 0; i < at.line; i++)
		if (!next_line(&left, &source))
			source = str_of("");
	err_excerpt(err, source.p, source.n);
}

__attribute__((format(printf, 5, 6))) static int refuse(const struct yaml_doc *d, struct place at,
	struct err *err, enum ec code, const char *fmt, ...)
{
	char msg[MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	refuse_with(d, at, err, code, msg);
	return -(int)code;
}

static struct place place_of_mark(yaml_mark_t mark)
{
	return (struct place){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static struct place place_of_offset(struct str text, size_t offset)
{
	struct str left = str_first(text, offset), line = {"", 0};
	struct place at = {1, 1};
	size_t seen = 0;

	while (next_line(&left, &line) && (left.n || line.p + line.n < text.p + offset)) {
		at.line++;
		seen = offset - left.n;
	}
	for (size_t i = seen; i < offset; i++)
		if (((unsigned char)text.p[i] & 0xC0) != 0x80)
			at.col++;
	return at;
}

/* Marks count characters; this gives what stands from there on. */
static struct str text_from_mark(struct str text, yaml_mark_t mark)
{
	size_t i = 0, left = mark.index;

	while (i < text.n && left > 0) {
		i++;
		while (i < text.n && ((unsigned char)text.p[i] & 0xC0) == 0x80)
			i++;
		left--;
	}
	return str_from(text, i);
}

static int check_utf8(const struct yaml_doc *d, struct err *err)
{
	size_t i = 0;

	if (str_is_utf8(d->text))
		return 0;
	for (size_t len; (len = str_utf8_length(str_from(d->text, i))) > 0;)
		i += len;
	return refuse(d, place_of_offset(d->text, i), err, E_SYNTAX,
		d->text.p[i] ? "not UTF-8 (byte 0x%02x)" : "a NUL byte (0x%02x)",
		(unsigned char)d->text.p[i]);
}

/*
 * Only blank lines and comments may stand before a directive, so this finds
 * the first; the rest never come up because text after the document is refused.
 */
static int check_directives(const struct yaml_doc *d, struct err *err)
{
	struct str left = d->text, line;
	struct place at = {0, 1};

	while (next_line(&left, &line)) {
		at.line++;
		if (str_starts(line, "%"))
			return refuse(d, at, err, E_SYNTAX, "directives are not supported");
		line = str_trim(line);
		if (line.n && line.p[0] != '#')
			break;
	}
	return 0;
}

static int check_rest(const struct yaml_doc *d, yaml_mark_t end, struct err *err)
{
	struct str left = text_from_mark(d->text, end), line;
	struct place at = place_of_mark(end);

	for (; next_line(&left, &line); at.line++, at.col = 1) {
		const struct str word = str_trim(line);

		if (word.n == 0 || word.p[0] == '#' || str_is(word, "..."))
			continue;
		at.col += (unsigned)(word.p - line.p);
		if (!str_starts(word, "---") && !str_starts(word, "%"))
			return refuse(d, at, err, E_SYNTAX, "text after the end of the document");
		(void)refuse(d, at, err, E_SYNTAX, "a second document begins here");
		return err_hint(err, "put each document into a file of its own");
	}
	return 0;
}

static const struct {
	const char *problem, *context; /* as libyaml says it; context may be NULL: any */
	bool at_context;               /* the cause is where the context began */
	const char *msg, *hint;
} reasons[] = {
	{"found unexpected end of stream", "while scanning a quoted scalar", true,
		"this quote is never closed", ""},
	{"found unexpected document indicator", "while scanning a quoted scalar", true,
		"this quote is never closed", ""},
	{"could not find expected ':'", NULL, true, "expected ':' after this key",
		"write 'key: value', or indent the line as part of the value before"},
	{"did not find expected ',' or ']'", NULL, false, "expected ',' or ']'",
		"close the '[' or separate the items by ','"},
	{"did not find expected ',' or '}'", NULL, false, "expected ',' or '}'",
		"close the '{' or separate the pairs by ','"},
	{"did not find expected key", NULL, false, "expected a key",
		"check the indentation of this line and the quotes before it"},
	{"did not find expected '-' indicator", NULL, false, "expected '- '",
		"check the indentation of this line"},
	{"mapping values are not allowed in this context", NULL, false, "':' is not allowed here",
		"check the indentation, or put a value that holds ': ' in quotes"},
	{"block sequence entries are not allowed in this context", NULL, false,
		"'- ' is not allowed here", "begin the list on a line of its own"},
	{"found character that cannot start any token", NULL, false,
		"this character cannot begin a value", "put the value in quotes"},
	{"found a tab character that violates indentation", NULL, false, "a tab cannot indent",
		"indent with spaces"},
	{"found unknown escape character", NULL, false, "unknown escape in a double-quoted text",
		"write '\\\\' for a backslash, or use single quotes"},
};

static int refuse_problem(struct builder *b, struct err *err)
{
	const yaml_parser_t *p = b->parser;
	const struct yaml_doc *d = b->doc;
	const struct str rest = text_from_mark(d->text, p->problem_mark);
	const char *msg = p->problem, *hint = "";
	bool at_context = p->context && str_trim(rest).n == 0;
	struct place at = place_of_mark(p->problem_mark);

	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (strcmp(reasons[i].problem, p->problem) != 0)
			continue;
		if (reasons[i].context &&
			(!p->context || strcmp(reasons[i].context, p->context) != 0))
			continue;
		msg = reasons[i].msg;
		hint = reasons[i].hint;
		at_context |= reasons[i].at_context;
		break;
	}
	if (rest.n && rest.p[0] == '\t') {
		msg = "a tab cannot indent";
		hint = "indent with spaces";
	}
	if (at_context && p->context)
		at = place_of_mark(p->context_mark);
	if (p->context && p->context_mark.line + 1 != at.line)
		(void)refuse(d, at, err, E_SYNTAX, "%s, %s that begins in line %zu", msg,
			p->context, p->context_mark.line + 1);
	else
		(void)refuse(d, at, err, E_SYNTAX, "%s", msg);
	return *hint ? err_hint(err, "%s", hint) : -E_SYNTAX;
}

static int refuse_parser(struct builder *b, struct err *err)
{
	const yaml_parser_t *p = b->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return err_set(err, E_INTERNAL, "out of memory while reading '%s'", b->doc->name);
	if (p->error != YAML_READER_ERROR)
		return refuse_problem(b, err);
	return refuse(b->doc, place_of_offset(b->doc->text, p->problem_offset), err, E_SYNTAX,
		"%s (U+%04X)", p->problem, (unsigned)p->problem_value);
}

static bool expects_key(const struct builder *b)
{
	const struct open_node *top = b->depth ? &b->open[b->depth - 1] : NULL;

	return top && top->node->kind == YAML_MAP && (b->pending.n - top->first) % 2 == 0;
}

static int add_node(struct builder *b, enum yaml_kind kind, yaml_mark_t mark,
	struct yaml_node **out, struct err *err)
{
	const struct place at = place_of_mark(mark);
	struct yaml_node *n;

	if (b->nodes == b->caps->nodes)
		return refuse(b->doc, at, err, E_LIMIT, "more than %u nodes", b->caps->nodes);
	if (kind != YAML_SCALAR && expects_key(b))
		return refuse(b->doc, at, err, E_SYNTAX, "a key must be plain text");
	if (b->block_left == 0) {
		b->block = arena_alloc(b->doc->arena, NODES_BLOCK * sizeof *b->block);
		b->block_left = NODES_BLOCK;
	}
	b->nodes++;
	b->block_left--;
	n = b->block++;
	*n = (struct yaml_node){.kind = kind, .line = at.line, .col = at.col, .text = {"", 0}};
	if (b->depth == 0)
		b->root = n;
	else
		*vec_push(&b->pending) = n;
	*out = n;
	return 0;
}

static int check_properties(struct builder *b, const yaml_char_t *anchor, const yaml_char_t *tag,
	yaml_mark_t mark, struct err *err)
{
	if (anchor) {
		(void)refuse(b->doc, place_of_mark(mark), err, E_SYNTAX,
			"anchors ('&%.40s') are not supported", (const char *)anchor);
		return err_hint(err, "write the value out where it is needed");
	}
	if (tag) {
		(void)refuse(b->doc, place_of_mark(mark), err, E_SYNTAX,
			"tags ('%.40s') are not supported", (const char *)tag);
		return err_hint(err, "put the value in quotes if it begins with '!'");
	}
	return 0;
}

static int check_key(struct builder *b, const yaml_event_t *ev, struct str text, struct err *err)
{
	const struct place at = place_of_mark(ev->start_mark);

	if (text.n == 0)
		return refuse(b->doc, at, err, E_SYNTAX, "a key must not be empty");
	if (ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !str_is(text, "<<"))
		return 0;
	(void)refuse(b->doc, at, err, E_SYNTAX, "merge keys ('<<') are not supported");
	return err_hint(err, "write the keys out");
}

static int add_scalar(struct builder *b, const yaml_event_t *ev, struct err *err)
{
	const struct str text = {(const char *)ev->data.scalar.value, ev->data.scalar.length};
	struct yaml_node *n = NULL;
	int rc;

	rc = check_properties(b, ev->data.scalar.anchor, ev->data.scalar.tag, ev->start_mark, err);
	if (rc == 0 && text.n > b->caps->scalar)
		rc = refuse(b->doc, place_of_mark(ev->start_mark), err, E_LIMIT,
			"a text of %zu bytes, but at most %zu are allowed", text.n,
			b->caps->scalar);
	/* "\0" in double quotes would end the text early for whoever takes it as a C string. */
	if (rc == 0 && str_find(text, '\0') != STR_NONE)
		rc = refuse(b->doc, place_of_mark(ev->start_mark), err, E_SYNTAX,
			"a text must not hold a NUL");
	if (rc == 0 && expects_key(b))
		rc = check_key(b, ev, text, err);
	if (rc == 0)
		rc = add_node(b, YAML_SCALAR, ev->start_mark, &n, err);
	if (rc < 0)
		return rc;
	n->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	n->text = arena_str(b->doc->arena, text);
	return 0;
}

static int open_collection(
	struct builder *b, enum yaml_kind kind, const yaml_event_t *ev, struct err *err)
{
	const bool is_map = kind == YAML_MAP;
	struct yaml_node *n;
	int rc;

	rc = check_properties(b,
		is_map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor,
		is_map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag, ev->start_mark,
		err);
	if (rc < 0)
		return rc;
	if (b->depth >= b->caps->depth || b->depth >= DEPTH_HARD)
		return refuse(b->doc, place_of_mark(ev->start_mark), err, E_LIMIT,
			"nested more than %u deep", b->depth);
	rc = add_node(b, kind, ev->start_mark, &n, err);
	if (rc < 0)
		return rc;
	b->open[b->depth++] = (struct open_node){n, b->pending.n};
	return 0;
}

/* By text, then by place, so that equal keys are neighbours in the order of the file. */
static int compare_keys(const void *a, const void *b)
{
	const struct yaml_node *x = *(struct yaml_node *const *)a;
	const struct yaml_node *y = *(struct yaml_node *const *)b;
	int order;

	if (x->text.n != y->text.n)
		return x->text.n < y->text.n ? -1 : 1;
	order = memcmp(x->text.p, y->text.p, x->text.n);
	if (order != 0)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->col < y->col ? -1 : x->col > y->col;
}

/* Sorting keeps large maps cheap whatever the keys; a hash could be attacked. */
static int check_duplicates(struct builder *b, const struct yaml_node *map, struct err *err)
{
	struct vec(struct yaml_node *) keys = VEC_INIT;
	const struct yaml_node *first = NULL, *second = NULL;

	for (unsigned i = 0; i < map->n; i++)
		*vec_push(&keys) = map->key[i];
	vec_sort(&keys, compare_keys);
	for (size_t i = 1; i < keys.n; i++) {
		if (!str_eq(keys.at[i - 1]->text, keys.at[i]->text))
			continue;
		if (!second || keys.at[i]->line < second->line) {
			first = keys.at[i - 1];
			second = keys.at[i];
		}
	}
	vec_done(&keys);
	if (!second)
		return 0;
	return yaml_err(b->doc, second, err, E_SYNTAX, "key '%.60s' stands here and in line %u",
		second->text.p, first->line);
}

static int close_collection(struct builder *b, struct err *err)
{
	const struct open_node top = b->open[--b->depth];
	struct yaml_node *n = top.node;
	const size_t count = b->pending.n - top.first;
	struct yaml_node **from;

	if (count == 0)
		return 0;
	from = b->pending.at + top.first;
	n->item = arena_alloc(b->doc->arena, count * sizeof(struct yaml_node *));
	b->pending.n = top.first;
	if (n->kind == YAML_LIST) {
		n->n = (unsigned)count;
		memcpy(n->item, from, count * sizeof *from);
		return 0;
	}
	n->n = (unsigned)(count / 2);
	n->key = n->item + n->n;
	for (unsigned i = 0; i < n->n; i++) {
		n->key[i] = from[2 * i];
		n->item[i] = from[2 * i + 1];
	}
	return check_duplicates(b, n, err);
}

/* 1 when the document is complete. */
static int take_event(struct builder *b, const yaml_event_t *ev, struct err *err)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return add_scalar(b, ev, err);
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(b, YAML_LIST, ev, err);
	case YAML_MAPPING_START_EVENT:
		return open_collection(b, YAML_MAP, ev, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_collection(b, err);
	case YAML_ALIAS_EVENT:
		(void)refuse(b->doc, place_of_mark(ev->start_mark), err, E_SYNTAX,
			"aliases ('*%.40s') are not supported",
			(const char *)ev->data.alias.anchor);
		return err_hint(err, "write the value out, or put it in quotes");
	case YAML_DOCUMENT_END_EVENT:
		return check_rest(b->doc, ev->end_mark, err) < 0 ? -E_SYNTAX : 1;
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_NO_EVENT:
		return 0;
	}
	return 0;
}

static int build(struct builder *b, struct err *err)
{
	yaml_event_t ev;
	int rc = 0;

	while (rc == 0) {
		if (!yaml_parser_parse(b->parser, &ev))
			return refuse_parser(b, err);
		rc = take_event(b, &ev, err);
		yaml_event_delete(&ev);
	}
	return rc < 0 ? rc : 0;
}

/* text is in the arena already. */
static int parse_owned(struct yaml_doc *d, const struct yaml_caps *caps, struct err *err)
{
	struct builder b = {.doc = d, .caps = caps, .pending = VEC_INIT};
	yaml_parser_t parser;
	int rc;

	if (str_starts(d->text, "\xEF\xBB\xBF"))
		d->text = str_from(d->text, 3);
	rc = check_utf8(d, err);
	if (rc == 0)
		rc = check_directives(d, err);
	if (rc < 0)
		return rc;
	if (!yaml_parser_initialize(&parser))
		return err_set(err, E_INTERNAL, "out of memory while reading '%s'", d->name);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)d->text.p, d->text.n);
	b.parser = &parser;
	rc = build(&b, err);
	yaml_parser_delete(&parser);
	vec_done(&b.pending);
	if (rc < 0)
		return rc;
	if (!b.root || (b.root->kind == YAML_SCALAR && b.root->plain && b.root->text.n == 0))
		return err_at(err, E_SCHEMA, d->name, 0, 0, "empty file");
	d->root = b.root;
	return 0;
}

static struct yaml_doc *make_doc(struct arena *a, const char *name, struct str text)
{
	struct yaml_doc *d = arena_alloc(a, sizeof *d);

	d->arena = a;
	d->name = arena_strdup(a, name);
	d->text = arena_str(a, text);
	return d;
}

int yaml_parse(struct arena *a, const char *name, struct str text, const struct yaml_caps *caps,
	struct yaml_doc **out, struct err *err)
{
	struct yaml_doc *d;
	int rc;

	if (text.n > caps->bytes)
		return err_at(err, E_LIMIT, name, 0, 0, "%zu bytes, but at most %zu are read",
			text.n, caps->bytes);
	d = make_doc(a, name, text);
	rc = parse_owned(d, caps, err);
	if (rc == 0)
		*out = d;
	return rc;
}

static int read_all(const char *path, struct buf *out, struct err *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	for (;;) {
		const size_t left = out->cap - out->n;
		const size_t step = left < READ_STEP ? left : READ_STEP;
		void *to = buf_room(out, step);
		const ssize_t n = to && step ? read(fd, to, step) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read '%s'", path);
		if (n == 0)
			return 0;
		buf_grew(out, (size_t)n);
	}
}

int yaml_read(const char *path, const struct yaml_caps *caps, struct buf *text, struct err *err)
{
	int rc;

	buf_init(text, caps->bytes + 1); /* one more shows that there is more */
	rc = read_all(path, text, err);
	if (rc == 0 && text->n > caps->bytes)
		rc = err_at(err, E_LIMIT, path, 0, 0, "longer than the %zu bytes that are read",
			caps->bytes);
	return rc;
}

int yaml_load(struct arena *a, const char *path, const struct yaml_caps *caps,
	struct yaml_doc **out, struct err *err)
{
	AUTO_BUF text = {0};
	const int rc = yaml_read(path, caps, &text, err);

	return rc < 0 ? rc : yaml_parse(a, path, buf_str(&text), caps, out, err);
}

int yaml_err(const struct yaml_doc *d, const struct yaml_node *at, struct err *err, enum ec code,
	const char *fmt, ...)
{
	const struct place place = at ? (struct place){at->line, at->col} : (struct place){0, 0};
	char msg[MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	refuse_with(d, place, err, code, msg);
	return -(int)code;
}
