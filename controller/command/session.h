/* session - what most commands begin with: the database, its nodes, who is asking. */
#pragma once

#include "controller/command/command.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/range.h"

/* Opens --db / STOIKA_DB / the default. A missing database gets a hint to 'stoika init'. */
int session_open(
	const struct invocation *inv, enum store_open how, struct store **out, struct err *err);
/* The nodes that expr means; rows live in inv->arena, refs is the caller's to vec_done. */
int session_nodes(const struct invocation *inv, struct store *s, const char *expr,
	struct node_rows *rows, struct node_refs *refs, struct err *err);
/*
 * The secrets, opened when any of these recipes declares one; else *out is NULL. May ask for a
 * passphrase.
 */
struct secrets;
int session_secrets(struct store *s, const struct pack_recipe *recipes, unsigned n,
	struct secrets **out, struct err *err);
/* "root@adminhost": the login name behind sudo where there is one. */
const char *session_user(const struct invocation *inv);
#define SESSION_NAMES_MAX 64
/* The names of 'a,b,c', at least one; too many are refused, none is left out in silence. */
int session_split_names(const struct invocation *inv, const char *list,
	const char *names[static SESSION_NAMES_MAX], unsigned *n, struct err *err);
/* That path may be made, or replaced as a plain file: '-o /dev/null' must not cost the device. */
int session_judge_target(const char *path, struct err *err);
/* Writes to stdout; a closed pipe ends the program quietly, a full disk does not. */
void session_print(const struct buf *text);
/* The same for lines that may hold words of nodes and files: what a terminal would obey is escaped,
 * but for tabs. */
void session_print_lines(const struct buf *text);
void session_add_lines(struct buf *out, struct str text);
/* What is a text by nature, as {"text": ...} when JSON is asked for. */
void session_print_document(const struct invocation *inv, const struct buf *text);
/* A JSON value, pretty, with its newline. */
void session_print_json(const json_t *value);
