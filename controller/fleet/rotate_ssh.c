#include "controller/fleet/rotate_ssh.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet_priv.h"
#include "controller/ssh/link.h"
#include "inventory/store/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECIPE_NAME     "stoika-ssh-key"
#define RECIPE_TEXT_MAX 8192
#define MARK_MAX        40

struct rotation {
	struct store *store;
	const struct node_rows *all;
	const struct rotate_opts *opts;
	struct rotate_ssh_outcome *out;
	struct arena *arena;
	struct keys keys;
	struct link_key *next;
	char old[KEYS_SSH_TEXT];
	struct node_refs good; /* of the run before */
};

/* What the table of moved nodes says of one that has done it. */
static void make_mark(const char *step, const char *public, char out[static MARK_MAX])
{
	char hex[HASH_HEX];

	hash_hex(str_of(public), hex);
	snprintf(out, MARK_MAX, "%.8s:%.16s", step, hex);
}

/* --- what is done on a node --- */

/* The file that sshd reads, written anew beside its place; $blob is the key without its type. */
static const char HEAD[] = "recipe: " RECIPE_NAME "\n"
			   "about: the controller's SSH key, beside the one before it or alone\n"
			   "steps:\n"
			   "  - command:\n"
			   "      shell: |\n"
			   "        set -eu\n"
			   "        home=$(awk -F: '$3 == 0 { print $6; exit }' /etc/passwd)\n"
			   "        keys=$home/.ssh/authorized_keys\n"
			   "        [ ! -L \"$keys\" ] || keys=$(readlink -f \"$keys\")\n"
			   "        rm -f \"$keys\".stoika.*\n"
			   "        cp -p \"$keys\" \"$keys.stoika.$$\"\n";
static const char TAIL[] = "        sync \"$keys.stoika.$$\"\n"
			   "        mv -f \"$keys.stoika.$$\" \"$keys\"\n";

static void write_add(const char *public, struct buf *out)
{
	buf_add_text(out, HEAD);
	buf_addf(out,
		"        if grep -qF '%s' \"$keys\"; then rm \"$keys.stoika.$$\"; exit 0; fi\n",
		public);
	buf_add_text(
		out, "        [ -z \"$(tail -c 1 \"$keys\")\" ] || echo >> \"$keys.stoika.$$\"\n");
	buf_addf(out,
		"        echo 'restrict,command=\"/opt/stoika/agent/bin/stoika-agent serve\" %s "
		"stoika' >> \"$keys.stoika.$$\"\n",
		public);
	buf_add_text(out, TAIL);
}

/* 1 is grep's word for "nothing else was there". */
static void write_drop(const char *public, struct buf *out)
{
	buf_add_text(out, HEAD);
	buf_addf(out, "        grep -vF '%s' \"$keys\" > \"$keys.stoika.$$\" || [ $? = 1 ]\n",
		public);
	buf_add_text(out, TAIL);
}

static int save_recipe(
	const struct rotation *r, struct str text, const char **path, struct err *err)
{
	const char *parent = keys_path(r->arena, store_path(r->store), "install");
	AUTO_FD dir = -1;

	*path = keys_path(r->arena, store_path(r->store), "install/" RECIPE_NAME);
	if ((mkdir(parent, 0700) != 0 && errno != EEXIST) ||
		(mkdir(*path, 0700) != 0 && errno != EEXIST))
		return err_sys(err, errno, "cannot make the folder '%s'", *path);
	dir = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", *path);
	return fs_replace(dir, "recipe.yaml", text, 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

/* --- runs --- */

static void on_done(void *ctx, const struct node_row *node, const struct node_result *result)
{
	struct rotation *r = ctx;

	if (result->state == RESULT_OK || result->state == RESULT_CHANGED)
		*vec_push(&r->good) = node;
	else if (r->opts->done)
		r->opts->done(r->opts->ctx, node, result);
}

/* The recipe over those nodes, logging in with that key; who did it is in r->good then. */
static int run(struct rotation *r, struct str recipe, struct link_key *key,
	const struct node_refs *nodes, struct err *err)
{
	const struct keys keys = {r->keys.sign, r->keys.next, key};
	struct pack_recipe *recipes = NULL;
	struct fleet_outcome out;
	const char *path;
	unsigned n = 0;
	int rc;

	vec_done(&r->good);
	if (nodes->n == 0)
		return 0;
	rc = save_recipe(r, recipe, &path, err);
	if (rc == 0)
		rc = pack_resolve(r->arena, &path, 1, &recipes, &n, err);
	if (rc < 0)
		return rc;

	const struct fleet_opts o = {.mode = ORDER_APPLY,
		.recipes = recipes,
		.n_recipes = n,
		.nodes_text = "key rotate --ssh",
		.by = r->opts->by,
		.transport = r->opts->transport,
		.ctx = r,
		.done = on_done};

	rc = fleet_run(r->store, &keys, nodes, &o, &out, err);
	for (unsigned i = 0; i < n; i++)
		recipe_done(recipes[i].recipe);
	return rc;
}

/* --- who has done what --- */

static int note_moved(struct rotation *r, const char *mark, const struct node_refs *nodes,
	bool forgotten, struct err *err)
{
	int rc = store_begin(r->store, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && nodes && i < nodes->n; i++)
		rc = store_key_moved(r->store, nodes->at[i]->id, mark, forgotten, err);
	if (rc == 0)
		rc = store_audit_add(r->store, r->opts->by, "key rotate --ssh", mark,
			forgotten ? "begun" : "nodes have done it", err);
	if (rc == 0)
		return store_commit(r->store, err);
	store_rollback(r->store);
	return rc;
}

/* Nodes with an agent that the mark does not name yet; those to forget are not waited for. */
static int list_todo(struct rotation *r, const char *mark, struct node_refs *todo, unsigned *done,
	struct err *err)
{
	struct key_moves moves = VEC_INIT;
	const int rc = store_key_moves(r->store, r->arena, &moves, err);

	*done = 0;
	vec_each(r->all, const struct node_row, n) {
		bool has = false;

		vec_each(&moves, const struct key_move, m)
			has = has ||
			      (m->node == n->id && (m->forgotten || strcmp(m->key, mark) == 0));
		if (!n->agent || !*n->agent)
			continue;
		*done += has;
		if (!has)
			*vec_push(todo) = n;
	}
	vec_done(&moves);
	return rc;
}

/* --- the two halves --- */

static int let_in(struct rotation *r, struct err *err)
{
	struct node_refs todo = VEC_INIT, told = VEC_INIT;
	char mark[MARK_MAX];
	unsigned done = 0;
	AUTO_BUF recipe;
	int rc;

	buf_init(&recipe, RECIPE_TEXT_MAX);
	write_add(r->out->key, &recipe);
	make_mark("ssh", r->out->key, mark);
	rc = note_moved(r, mark, r->opts->forget, true, err);
	if (rc == 0)
		rc = list_todo(r, mark, &todo, &done, err);
	if (rc == 0)
		rc = run(r, buf_str(&recipe), r->keys.ssh, &todo, err);
	/* the same again by the new key: that it lets us in is the proof */
	told = r->good;
	r->good = (struct node_refs)VEC_INIT;
	if (rc == 0)
		rc = run(r, buf_str(&recipe), r->next, &told, err);
	if (rc == 0)
		rc = note_moved(r, mark, &r->good, false, err);
	r->out->let_in = done + (unsigned)r->good.n;
	r->out->left = (unsigned)(todo.n - r->good.n);
	vec_done(&told);
	vec_done(&todo);
	return rc;
}

/* The marks go first: without the note of the old key they would mean nothing. */
static int finish(struct rotation *r, struct err *err)
{
	int rc = store_begin(r->store, err);

	if (rc < 0)
		return rc;
	rc = store_key_moves_clear(r->store, err);
	if (rc == 0)
		rc = store_audit_add(r->store, r->opts->by, "key rotate --ssh", r->out->key,
			"the old key is destroyed and its line gone", err);
	if (rc == 0)
		rc = store_commit(r->store, err);
	else
		store_rollback(r->store);
	return rc < 0 ? rc : keys_ssh_forget(store_path(r->store), err);
}

static int drop_old(struct rotation *r, struct err *err)
{
	struct node_refs todo = VEC_INIT;
	char mark[MARK_MAX];
	unsigned done = 0;
	AUTO_BUF recipe;
	int rc;

	buf_init(&recipe, RECIPE_TEXT_MAX);
	/* "ssh-ed25519 AAAA... stoika": the words of the key, as they stand in the line */
	if (str_ends(str_of(r->old), " stoika"))
		r->old[strlen(r->old) - strlen(" stoika")] = '\0';
	write_drop(r->old, &recipe);
	make_mark("drop", r->old, mark);
	rc = note_moved(r, mark, r->opts->forget, true, err);
	if (rc == 0)
		rc = list_todo(r, mark, &todo, &done, err);
	if (rc == 0)
		rc = run(r, buf_str(&recipe), r->keys.ssh, &todo, err);
	if (rc == 0)
		rc = note_moved(r, mark, &r->good, false, err);
	r->out->let_in = done + (unsigned)r->good.n;
	r->out->old_lines = (unsigned)(todo.n - r->good.n);
	vec_done(&todo);
	if (rc < 0 || r->out->old_lines > 0)
		return rc;
	return finish(r, err);
}

static int load(struct rotation *r, bool make, struct err *err)
{
	const char *db = store_path(r->store);
	int rc;

	link_key_free(r->next);
	r->next = NULL;
	keys_done(&r->keys);
	rc = keys_ssh_next(db, make, &r->next, r->old, err);
	if (rc == 0)
		rc = keys_load(db, &r->keys, err);
	if (rc == 0)
		snprintf(r->out->key, sizeof r->out->key, "%s",
			link_key_public(r->next ? r->next : r->keys.ssh));
	if (rc < 0 || !r->keys.next)
		return rc;
	err_set(err, E_STATE, "the signing key is being replaced");
	return err_hint(err, "finish that first: stoika key rotate");
}

static int rotate(struct rotation *r, struct err *err)
{
	int rc = load(r, true, err);

	if (rc == 0 && r->next) {
		rc = let_in(r, err);
		if (rc < 0 || r->out->left > 0)
			return rc;
		rc = keys_ssh_settle(store_path(r->store), err);
		if (rc == 0)
			rc = load(r, false, err);
	}
	r->out->in_use = rc == 0;
	return rc < 0 ? rc : drop_old(r, err);
}

int rotate_ssh_run(struct store *s, const struct node_rows *all, const struct rotate_opts *o,
	struct rotate_ssh_outcome *out, struct err *err)
{
	struct rotation r = {.store = s, .all = all, .opts = o, .out = out};
	int rc, lock = -1;

	*out = (struct rotate_ssh_outcome){0};
	r.arena = arena_new();
	rc = run_lock_take(s, r.arena, "key-rotate", &lock, err);
	if (rc == 0)
		rc = rotate(&r, err);
	run_lock_drop(s, r.arena, "key-rotate", lock);
	link_key_free(r.next);
	keys_done(&r.keys);
	vec_done(&r.good);
	arena_free(r.arena);
	return rc;
}
