/*
 * merge_doc - a configuration file as located nodes, and edits of its text.
 *
 * A file is never printed anew: each change replaces the bytes [from, to) by a
 * text, and the result is parsed again before the next one. So all bytes that
 * are not ours stay. One parser per format (merge_json.c ...) fills the nodes.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/json.h"

#define MERGE_BYTES_MAX (16u << 20)
#define MERGE_NODES_MAX 200000
#define MERGE_DEPTH_MAX 32 /* of maps and lists in a file, and parts of a path */

enum merge_kind {
	MERGE_MAP,
	MERGE_LIST,
	MERGE_TEXT,
	MERGE_INT,
	MERGE_REAL,
	MERGE_BOOL,
	MERGE_NULL
};

struct merge_node {
	enum merge_kind kind;
	struct str key;          /* decoded, of a map's child */
	size_t key_from, key_to; /* as written; of a list's item 0, 0 */
	size_t from, to;         /* the value as written */
	struct str text;         /* MERGE_TEXT, decoded */
	int64_t integer;
	double real;
	bool yes;
	unsigned n, form;            /* children; form is the format's own */
	size_t entry_from, entry_to; /* the format's: the whole statement */
	struct merge_node *parent, *first, *last, *prev, *next;
	struct merge_node *same; /* in the index */
	void *more;              /* the format's own */
};

struct merge_doc {
	const struct merge_format *format;
	struct arena *arena;
	const char *file;
	struct str text;
	size_t begin; /* behind a byte order mark */
	const char *eol;
	unsigned n;
	struct merge_node *root;
	struct merge_node **index; /* children of maps by key */
	size_t slots;
	void *more; /* the format's own */
};

struct merge_path {
	unsigned n;
	struct str part[MERGE_DEPTH_MAX];
};

/* Replace [from, to) by text, whose \n become the line ends of the file. */
struct merge_edit {
	size_t from, to;
	struct buf text;
};

/*
 * get: a new reference, NULL when nothing is there. set, add and remove make one
 * edit; remove may need several (it is asked until nothing is there).
 */
struct merge_format {
	const char *name;
	bool rows; /* a list is a row of statements: set goes item by item, all scalars are text */
	bool single;           /* one row stands for a list of one */
	bool plain;            /* no null */
	const char *separator; /* cuts keys of the recipe in parts, NULL: none */
	int (*parse)(struct merge_doc *d, struct err *err);
	int (*get)(const struct merge_doc *d, const struct merge_path *p, json_t **out,
		struct err *err);
	int (*set)(const struct merge_doc *d, const struct merge_path *p, json_t *value,
		struct merge_edit *e, struct err *err);
	int (*remove)(const struct merge_doc *d, const struct merge_path *p, struct merge_edit *e,
		struct err *err);
	int (*add)(const struct merge_doc *d, const struct merge_path *p, json_t *item,
		struct merge_edit *e, struct err *err);
	int (*drop)(const struct merge_doc *d, const struct merge_path *p, size_t index,
		struct merge_edit *e, struct err *err);
};

extern const struct merge_format MERGE_JSON, MERGE_TOML, MERGE_INI, MERGE_APT;
const struct merge_format *merge_format_find(const char *name);
/* By the file's name, or NULL. */
const struct merge_format *merge_format_of(const char *path);

/* Parses text, which must outlive *out; everything lives in a. Errors carry file, line, column. */
int merge_parse(const struct merge_format *f, struct arena *a, const char *file, struct str text,
	struct merge_doc **out, struct err *err);
/* An error at a byte of the text, with its line. */
int merge_err(const struct merge_doc *d, size_t at, struct err *err, enum ec code, const char *fmt,
	...) __attribute__((format(printf, 5, 6)));

/* E_SYNTAX at the first byte that is not UTF-8 (or is zero). */
int merge_want_utf8(const struct merge_doc *d, struct err *err);

/* --- nodes --- */
/* NULL when there are too many; then *err is set. parent NULL: the root. */
struct merge_node *merge_node_new(struct merge_doc *d, struct merge_node *parent,
	enum merge_kind kind, size_t from, struct err *err);
/* Puts a child of a map into the index by its key. */
void merge_node_index(struct merge_doc *d, struct merge_node *child);
struct merge_node *merge_child(
	const struct merge_doc *d, const struct merge_node *map, struct str key);
/* The node at a path; NULL: none. A part on the way that is no map: E_CONFLICT with its place. */
int merge_walk(const struct merge_doc *d, const struct merge_path *p, struct merge_node **out,
	struct err *err);
json_t *merge_node_json(const struct merge_node *n);
/* The n-th item of a list, or NULL. */
struct merge_node *merge_item(const struct merge_node *list, size_t index);

/* --- places in the text --- */
size_t merge_line_start(const struct merge_doc *d, size_t at);
size_t merge_line_end(const struct merge_doc *d, size_t at);   /* behind its newline */
struct str merge_indent(const struct merge_doc *d, size_t at); /* blanks that begin its line */
struct str merge_slice(const struct merge_doc *d, size_t from, size_t to);
/* A cut of the last section takes the blank lines above it along. */
void merge_cut_blank_above(const struct merge_doc *d, struct merge_edit *e);

/* --- values --- */
bool merge_is_same(json_t *a, const json_t *b); /* 1 and 1.0 are */
void merge_add_number(const json_t *v, struct buf *out);
/* A JSON string, quotes included; also a basic string of TOML. */
void merge_add_quoted(struct str s, struct buf *out);

/* --- paths --- */
/* a.b."c.d" -> parts, in the arena. */
int merge_path_parse(struct arena *a, struct str text, struct merge_path *out, struct err *err);
/* The same with the format's own separator besides. */
int merge_path_add(struct arena *a, const struct merge_format *f, struct str key,
	struct merge_path *p, struct err *err);
void merge_path_text(const struct merge_path *p, struct buf *out);
const char *merge_path_show(struct arena *a, const struct merge_path *p);
