/*
 * order - what the store keeps of orders beside their results: contents, serials, keys, contact.
 *
 * As in store.h: writing functions need a transaction of the caller.
 */
#pragma once

#include "inventory/store/store.h"

/* A run that ended is under way again. */
int store_run_reopen(struct store *s, const char *id, struct err *err);
/* How many nodes a run has that they join one by one. */
int store_run_resize(struct store *s, const char *id, unsigned n_nodes, struct err *err);
/* {recipes [{name, params}], secrets [name]}; no secret's value. */
int store_order_put(struct store *s, const char *run, const json_t *body, struct err *err);
/* A new reference; E_NOTFOUND when nothing was kept for the run. */
int store_order_get(struct store *s, const char *run, json_t **body, struct err *err);

/* The node could not be reached; since when is kept until store_node_met. */
int store_node_missed(struct store *s, int64_t node, const char *why, struct err *err);
int store_node_met(struct store *s, int64_t node, struct err *err);
struct missed_row {
	int64_t node;
	int64_t since, last; /* wall seconds */
	const char *why;
};
struct missed_rows vec(struct missed_row);
/* All that could not be reached last. */
int store_missed(struct store *s, struct arena *a, struct missed_rows *out, struct err *err);

/* Fills node_row.missed. */
int store_mark_missed(struct store *s, struct arena *a, struct node_rows *rows, struct err *err);

/* The highest serial seen of bundles with this name and signer; 0 when there was none. */
int store_serial_get(
	struct store *s, const char *name, const char *signer, int64_t *serial, struct err *err);
/* Never makes it smaller. */
int store_serial_put(
	struct store *s, const char *name, const char *signer, int64_t serial, struct err *err);

struct key_move {
	int64_t node;
	const char *key;
	bool forgotten;
};
struct key_moves vec(struct key_move);
int store_key_moved(
	struct store *s, int64_t node, const char *key, bool forgotten, struct err *err);
int store_key_moves(struct store *s, struct arena *a, struct key_moves *out, struct err *err);
int store_key_moves_clear(struct store *s, struct err *err);
