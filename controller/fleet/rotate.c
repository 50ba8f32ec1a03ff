#include "controller/fleet/rotate.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "controller/fleet/fleet_priv.h"
#include "controller/ssh/link.h"
#include "inventory/store/order.h"

#include <stdlib.h>
#include <string.h>

struct rotation {
	struct store *store;
	const struct rotate_opts *opts;
	struct rotate_outcome *out;
	struct keys keys;
	struct arena *arena;
	struct node_refs todo;
	struct vec(int64_t) moved; /* nodes that obey the new key now */
};

static bool has_moved(const struct key_moves *moves, int64_t node, const char *key)
{
	vec_each(moves, const struct key_move, m)
		if (m->node == node && strcmp(m->key, key) == 0)
			return true;
	return false;
}

static bool is_named(const struct node_refs *some, const struct node_row *node)
{
	for (size_t i = 0; some && i < some->n; i++)
		if (some->at[i]->id == node->id)
			return true;
	return false;
}

static int put_moves(struct rotation *r, bool forgotten, struct err *err)
{
	const struct node_refs *forget = r->opts->forget;
	int rc = store_begin(r->store, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && !forgotten && i < r->moved.n; i++)
		rc = store_key_moved(r->store, r->moved.at[i], r->out->key, false, err);
	for (size_t i = 0; rc == 0 && forgotten && forget && i < forget->n; i++)
		rc = store_key_moved(r->store, forget->at[i]->id, r->out->key, true, err);
	if (rc == 0)
		rc = store_audit_add(r->store, r->opts->by, "key rotate", r->out->key,
			forgotten ? "begun" : "nodes moved", err);
	if (rc == 0)
		return store_commit(r->store, err);
	store_rollback(r->store);
	return rc;
}

/* Nodes with an agent that are not known to obey the new key yet. */
static int list_todo(struct rotation *r, const struct node_rows *all, struct err *err)
{
	struct key_moves moves = VEC_INIT;
	const int rc = store_key_moves(r->store, r->arena, &moves, err);

	r->out->moved = 0;
	vec_each(all, const struct node_row, n) {
		if (!n->agent || !*n->agent)
			continue;
		if (has_moved(&moves, n->id, r->out->key) || is_named(r->opts->forget, n))
			r->out->moved++;
		else
			*vec_push(&r->todo) = n;
	}
	vec_done(&moves);
	return rc;
}

static void on_done(void *ctx, const struct node_row *node, const struct node_result *result)
{
	struct rotation *r = ctx;

	if (result->state == RESULT_OK || result->state == RESULT_CHANGED)
		*vec_push(&r->moved) = node->id;
	if (r->opts->done)
		r->opts->done(r->opts->ctx, node, result);
}

static int tell_nodes(struct rotation *r, struct err *err)
{
	char text[SIGN_TEXT_MAX];
	const struct fleet_opts o = {
		.mode = ORDER_REKEY,
		.rekey = text,
		.nodes_text = "key rotate",
		.by = r->opts->by,
		.transport = r->opts->transport,
		.ctx = r,
		.done = on_done,
	};
	int rc;

	if (r->todo.n == 0)
		return 0;
	sign_key_public_text(r->keys.next, text);
	rc = fleet_run(r->store, &r->keys, &r->todo, &o, &r->out->run, err);
	if (rc == 0)
		rc = put_moves(r, false, err);
	r->out->moved += (unsigned)r->moved.n;
	r->out->left = (unsigned)(r->todo.n - r->moved.n);
	return rc;
}

static int settle(struct rotation *r, struct err *err)
{
	int rc = keys_next_settle(store_path(r->store), err);

	if (rc == 0)
		rc = store_begin(r->store, err);
	if (rc < 0)
		return rc;
	rc = store_key_moves_clear(r->store, err);
	if (rc == 0)
		rc = store_audit_add(r->store, r->opts->by, "key rotate", r->out->key,
			"the old key is destroyed", err);
	if (rc == 0)
		return store_commit(r->store, err);
	store_rollback(r->store);
	return rc;
}

/* Both mark the nodes that are done, each for itself. */
static int judge_alone(const char *db, struct err *err)
{
	struct link_key *next = NULL;
	char old[KEYS_SSH_TEXT];
	const int rc = keys_ssh_next(db, false, &next, old, err);

	if (rc < 0 || (!next && !*old))
		return rc;
	link_key_free(next);
	err_set(err, E_STATE, "the SSH key is being replaced");
	return err_hint(err, "finish that first: stoika key rotate --ssh");
}

static int rotate(struct rotation *r, const struct node_rows *all, struct err *err)
{
	const char *db = store_path(r->store);
	int rc = judge_alone(db, err);

	if (rc == 0)
		rc = keys_next_make(db, err);
	if (rc == 0)
		rc = keys_load(db, &r->keys, err);
	if (rc < 0)
		return rc;
	snprintf(r->out->key, sizeof r->out->key, "%s", sign_key_id(r->keys.next));
	rc = put_moves(r, true, err);
	if (rc == 0)
		rc = list_todo(r, all, err);
	if (rc == 0)
		rc = tell_nodes(r, err);
	return rc == 0 && r->out->left == 0 ? settle(r, err) : rc;
}

int rotate_run(struct store *s, const struct node_rows *all, const struct rotate_opts *o,
	struct rotate_outcome *out, struct err *err)
{
	struct rotation r = {.store = s, .opts = o, .out = out};
	int rc, lock = -1;

	*out = (struct rotate_outcome){0};
	r.arena = arena_new();
	rc = run_lock_take(s, r.arena, "key-rotate", &lock, err);
	if (rc == 0)
		rc = rotate(&r, all, err);
	run_lock_drop(s, r.arena, "key-rotate", lock);
	keys_done(&r.keys);
	vec_done(&r.moved);
	vec_done(&r.todo);
	arena_free(r.arena);
	return rc;
}
