/*
 * source - foreign files in memory, places in them, and trees of what was read.
 *
 * Every foreign format becomes a tree such as YAML gives (agent/base/yaml.h), each
 * node at the cell or JSON value it came from, and goes through the importer of
 * site files: one set of rules and of messages. The lines of all files are numbered
 * in one row; sources_finish turns them back into file and line.
 */
#pragma once

#include "agent/base/yaml.h"
#include "inventory/import/foreign.h"

#define SOURCE_BYTES_MAX ((size_t)64 << 20)  /* of one file */
#define SOURCE_TOTAL_MAX ((size_t)256 << 20) /* of all */
#define SOURCE_NODES_MAX 8000000             /* cells and values of all files */
#define SOURCE_FILES_MAX 4096

struct source_file {
	const char *path, *stem; /* stem: "power-feeds" of "dump/Power_Feeds.csv" */
	const char *folder;      /* "sites" of "dump/sites/1.json"; "" */
	struct str text;
	unsigned first; /* number of its line 1 in the row */
};

struct sources {
	struct arena *arena;
	struct vec(struct source_file) files;
	struct err_list *errors;
	struct losses *losses;
	unsigned next_line;
	size_t bytes, nodes;
};

void sources_init(struct sources *s, struct err_list *errors, struct losses *losses);
void sources_done(struct sources *s);
/* A file, or all files of a folder with one of the endings, natural order, three levels deep. */
int sources_read(struct sources *s, const char *path, const char *const *endings, struct err *err);
/* Text under a name, as if it were a file. */
struct source_file *sources_add_text(struct sources *s, const char *path, struct str text);
/* Lines of errors become those of their files, with the line's text, in the files' order. */
void sources_finish(struct sources *s);
/* The file of a line of the row, NULL when there is none. */
const struct source_file *sources_file(const struct sources *s, unsigned line);

/* An error at a node's place (NULL: none); more than IMPORT_ERRORS_MAX are counted only. */
void source_fault(struct sources *s, const struct yaml_node *at, enum ec code, const char *hint,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Adds an error that is complete. */
void source_fault_err(struct sources *s, const struct err *err);

/* --- building trees --- */

/* NULL past SOURCE_NODES_MAX, with one fault; the functions below take such a NULL. */
struct yaml_node *tree_new(struct sources *s, enum yaml_kind kind, unsigned line, unsigned col);
struct yaml_node *tree_map(struct sources *s, const struct yaml_node *at);
struct yaml_node *tree_list(struct sources *s, const struct yaml_node *at);
struct yaml_node *tree_text(struct sources *s, const struct yaml_node *at, struct str text);
/* The key stands at the value's place. */
void tree_put(struct sources *s, struct yaml_node *map, const char *key, struct yaml_node *value);
void tree_put_key(
	struct sources *s, struct yaml_node *map, struct yaml_node *key, struct yaml_node *value);
void tree_add(struct sources *s, struct yaml_node *list, struct yaml_node *item);
/* Text NULL or "" puts nothing. */
void tree_put_text(struct sources *s, struct yaml_node *map, const char *key,
	const struct yaml_node *at, const char *text);
/* A number without needless digits; NaN puts nothing. */
void tree_put_num(struct sources *s, struct yaml_node *map, const char *key,
	const struct yaml_node *at, double v);
/* The list under key of map, made on first use. */
struct yaml_node *tree_list_of(struct sources *s, struct yaml_node *map, const char *key);

/* --- names --- */

/*
 * A name as the site file has it: letters, digits and . _ - (Cyrillic is spelled in
 * Latin letters, all else becomes '-'), at most 64. What changed is told as a loss of
 * noun; NULL for a mere reference, told at its row already.
 */
const char *source_name(struct sources *s, const char *noun, const char *text);
/* A label: any letters, but no '/', no control characters, at most 64 bytes. */
const char *source_label(struct sources *s, const char *noun, const char *text);
