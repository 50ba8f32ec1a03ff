/*
 * yaml - text to a tree of located nodes, over libyaml's events.
 *
 * Only maps, lists and scalars; anchors, aliases, tags, merge keys, duplicate
 * keys and several documents are refused, naming the place. Scalars stay text:
 * types come from the reader's schema ("no", "1.10", "0755" are three strings).
 * Caps are checked per event, so hostile input costs milliseconds.
 *
 * Everything lives in the arena of the document. Places are 1-based.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/err.h"

struct buf;

enum yaml_kind {
	YAML_SCALAR,
	YAML_LIST,
	YAML_MAP
};

struct yaml_node {
	enum yaml_kind kind;
	bool plain; /* a scalar without quotes */
	unsigned line, col;
	unsigned n;              /* items of a list, pairs of a map */
	struct str text;         /* scalar; NUL-terminated behind */
	struct yaml_node **item; /* list items, or the values of a map */
	struct yaml_node **key;  /* map: scalars, key[i] belongs to item[i] */
};

struct yaml_caps {
	size_t bytes;
	unsigned depth, nodes;
	size_t scalar;
};

extern const struct yaml_caps YAML_CAPS_RECIPE; /* 1 MiB, 32 deep, 10,000 nodes, 64 KiB */
extern const struct yaml_caps YAML_CAPS_SITE;   /* 64 MiB, 32 deep, 4,000,000 nodes, 64 KiB */

struct yaml_doc {
	struct arena *arena;
	const char *name; /* file name for messages */
	struct str text;  /* the source, for excerpts */
	struct yaml_node *root;
};

/* Parses text (copied into the arena) under name. E_SYNTAX, E_LIMIT. */
int yaml_parse(struct arena *a, const char *name, struct str text, const struct yaml_caps *caps,
	struct yaml_doc **out, struct err *err);
/* The bytes of a file into text (which it begins), E_LIMIT when there are too many. */
int yaml_read(const char *path, const struct yaml_caps *caps, struct buf *text, struct err *err);
/* Reads a file and parses it. */
int yaml_load(struct arena *a, const char *path, const struct yaml_caps *caps,
	struct yaml_doc **out, struct err *err);

/* An error at a node, with file, line, column and the source line for the caret. */
int yaml_err(const struct yaml_doc *d, const struct yaml_node *at, struct err *err, enum ec code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The value of a key, or NULL. map may be NULL or not a map. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
const struct yaml_node *yaml_key(
	const struct yaml_node *map, const char *key); /* the key's own node */

/* Refuses keys outside the NULL-terminated list, naming the nearest known one. */
int yaml_known_keys(const struct yaml_doc *d, const struct yaml_node *map, const char *const *keys,
	struct err *err);
/* Typed readings. what is how the message calls it ("'height_u'"). Plain or quoted alike. */
int yaml_want_map(
	const struct yaml_doc *d, const struct yaml_node *n, const char *what, struct err *err);
int yaml_want_list(
	const struct yaml_doc *d, const struct yaml_node *n, const char *what, struct err *err);
int yaml_want_text(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	struct str *out, struct err *err);
int yaml_want_int(const struct yaml_doc *d, const struct yaml_node *n, const char *what,
	int64_t min, int64_t max, int64_t *out, struct err *err);
int yaml_want_num(const struct yaml_doc *d, const struct yaml_node *n, const char *what, double min,
	double max, double *out, struct err *err);
/* Only true and false; yes, no, on, off are refused with a hint. */
int yaml_want_bool(const struct yaml_doc *d, const struct yaml_node *n, const char *what, bool *out,
	struct err *err);
