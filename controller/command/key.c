/* key - the controller's own keys: which they are, and a new signing key for all nodes. */
#include "agent/base/sign.h"
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/fleet/rotate_ssh.h"
#include "controller/ssh/link.h"
#include "inventory/store/order.h"

#include <stdio.h>
#include <string.h>

/* --- show --- */

static void put_key(json_t *doc, const char *name, const struct sign_key *key)
{
	char text[SIGN_TEXT_MAX];
	json_t *obj = json_object();

	sign_key_public_text(key, text);
	json_put_str(obj, "id", sign_key_id(key));
	json_put_str(obj, "public", text);
	json_object_set_new(doc, name, obj);
}

static void key_line(struct buf *out, const char *name, const struct sign_key *key)
{
	char text[SIGN_TEXT_MAX];

	sign_key_public_text(key, text);
	buf_addf(out, "%-9s %s  %s\n", name, sign_key_id(key), text);
}

static void show_text(const struct keys *k, const struct key_moves *moves, struct buf *out)
{
	key_line(out, "signing", k->sign);
	if (k->next)
		key_line(out, "new", k->next);
	buf_addf(out, "%-9s %s\n", "ssh", link_key_public(k->ssh));
	if (k->next)
		buf_addf(out,
			"the signing key is being replaced, %zu node%s moved: stoika key rotate "
			"goes on\n",
			moves->n, moves->n == 1 ? "" : "s");
}

/* How far a replacement of the SSH key is. */
static int show_ssh(const struct invocation *inv, const char *db, json_t *doc, struct buf *text,
	struct err *err)
{
	struct link_key *next = NULL;
	char old[KEYS_SSH_TEXT];
	const int rc = keys_ssh_next(db, false, &next, old, err);

	if (rc == 0 && inv->json) {
		json_put_str(doc, "ssh_new", next ? link_key_public(next) : NULL);
	} else if (rc == 0 && next) {
		buf_addf(text, "%-9s %s\n", "ssh new", link_key_public(next));
		buf_add_text(
			text, "the SSH key is being replaced: stoika key rotate --ssh goes on\n");
	} else if (rc == 0 && *old) {
		buf_add_text(text,
			"the old SSH key's line is still on some nodes: stoika key rotate "
			"--ssh goes on\n");
	}
	link_key_free(next);
	return rc;
}

static int run_show(struct invocation *inv)
{
	struct store *s = NULL;
	struct keys k = {0};
	struct key_moves moves = VEC_INIT;
	AUTO_JSON doc = json_object();
	AUTO_BUF text = {0};
	struct err err;
	int rc = session_open(inv, STORE_READ, &s, &err);

	buf_init(&text, 16u << 10);
	if (rc == 0)
		rc = keys_load(store_path(s), &k, &err);
	if (rc == 0)
		rc = store_key_moves(s, inv->arena, &moves, &err);
	if (rc == 0 && inv->json) {
		put_key(doc, "signing", k.sign);
		if (k.next)
			put_key(doc, "new", k.next);
		json_put_str(doc, "ssh", link_key_public(k.ssh));
	} else if (rc == 0) {
		show_text(&k, &moves, &text);
	}
	if (rc == 0)
		rc = show_ssh(inv, store_path(s), doc, &text, &err);
	if (rc == 0 && inv->json)
		session_print_json(doc);
	else if (rc == 0)
		session_print(&text);
	vec_done(&moves);
	keys_done(&k);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* --- rotate --- */

static void print_outcome(const struct rotate_outcome *out)
{
	if (out->left == 0)
		printf("key %s: all %u nodes obey it, the old key is destroyed\n", out->key,
			out->moved);
	else
		printf("key %s: %u of %u nodes obey it; the old key stays until the others do\n"
		       "again when they are back: stoika key rotate\n"
		       "without them (they will need 'agent install'): stoika key rotate --forget "
		       "NODES\n",
			out->key, out->moved, out->moved + out->left);
}

static void print_outcome_json(const struct rotate_outcome *out)
{
	AUTO_JSON doc = json_object();

	json_put_str(doc, "key", out->key);
	json_put_int(doc, "moved", out->moved);
	json_put_int(doc, "left", out->left);
	json_put_bool(doc, "done", out->left == 0);
	session_print_json(doc);
}

static int rotate(const struct invocation *inv, struct store *s, const struct node_rows *rows,
	const struct node_refs *forget, struct err *err)
{
	struct node_refs none = VEC_INIT;
	struct run_view *view = run_view_new(ORDER_REKEY, forget ? forget : &none, inv->json);
	const struct rotate_opts o = {
		.by = session_user(inv),
		.forget = forget,
		.ctx = view,
		.done = inv->json ? NULL : run_view_done,
	};
	struct rotate_outcome out;
	const int rc = rotate_run(s, rows, &o, &out, err);

	run_view_free(view);
	if (rc < 0)
		return -1;
	if (inv->json)
		print_outcome_json(&out);
	else
		print_outcome(&out);
	return out.left == 0 ? EXIT_OK : EXIT_SOME;
}

static void print_ssh_outcome(const struct rotate_ssh_outcome *out)
{
	if (!out->in_use)
		printf("%u of %u nodes let the new SSH key in; the old one stays in use until the "
		       "others do\n"
		       "again when they are back: stoika key rotate --ssh\n"
		       "without them (they will need 'agent install'): stoika key rotate --ssh "
		       "--forget NODES\n",
			out->let_in, out->let_in + out->left);
	else if (out->old_lines > 0)
		printf("the new SSH key is in use and the old one is destroyed; its line, which lets "
		       "nobody in any more, is still on %u node%s\n"
		       "again when they are back: stoika key rotate --ssh\n",
			out->old_lines, out->old_lines == 1 ? "" : "s");
	else
		printf("the new SSH key is in use; the old one is destroyed, and gone from all %u "
		       "nodes\n",
			out->let_in);
}

static void print_ssh_json(const struct rotate_ssh_outcome *out)
{
	AUTO_JSON doc = json_object();

	json_put_str(doc, "key", out->key);
	json_put_int(doc, "let_in", out->let_in);
	json_put_int(doc, "left", out->left);
	json_put_bool(doc, "in_use", out->in_use);
	json_put_int(doc, "old_lines", out->old_lines);
	json_put_bool(doc, "done", out->in_use && out->old_lines == 0);
	session_print_json(doc);
}

static int rotate_ssh(const struct invocation *inv, struct store *s, const struct node_rows *rows,
	const struct node_refs *forget, struct err *err)
{
	struct node_refs none = VEC_INIT;
	struct run_view *view = run_view_new(ORDER_APPLY, forget ? forget : &none, inv->json);
	const struct rotate_opts o = {
		.by = session_user(inv),
		.forget = forget,
		.ctx = view,
		.done = inv->json ? NULL : run_view_done,
	};
	struct rotate_ssh_outcome out;
	const int rc = rotate_ssh_run(s, rows, &o, &out, err);

	run_view_free(view);
	if (rc < 0)
		return -1;
	if (inv->json)
		print_ssh_json(&out);
	else
		print_ssh_outcome(&out);
	return out.in_use && out.old_lines == 0 ? EXIT_OK : EXIT_SOME;
}

static int run_rotate(struct invocation *inv)
{
	const char *names = option_get(inv, "forget");
	struct store *s = NULL;
	struct node_rows rows = VEC_INIT;
	struct node_refs forget = VEC_INIT;
	struct err err;
	int code = -1;
	int rc = session_open(inv, STORE_WRITE, &s, &err);

	if (rc == 0)
		rc = store_nodes(s, inv->arena, &rows, &err);
	if (rc == 0 && names)
		rc = range_resolve(names, &rows, &forget, &err);
	if (rc == 0)
		code = (option_get(inv, "ssh") ? rotate_ssh : rotate)(
			inv, s, &rows, names ? &forget : NULL, &err);
	vec_done(&forget);
	vec_done(&rows);
	store_close(s);
	return code < 0 ? command_fail(inv, &err) : code;
}

const struct command COMMAND_KEY_SHOW = {
	.name = "key show",
	.args = "",
	.summary = "the controller's public keys, and how far a replacement is",
	.run = run_show,
};

static const struct option ROTATE_OPTIONS[] = {
	{"ssh", 0, NULL, "the SSH key instead of the signing key", false},
	{"forget", 0, "NODES", "do not wait for these; they will need 'agent install'", false},
	{0},
};

const struct command COMMAND_KEY_ROTATE = {
	.name = "key rotate",
	.args = "",
	.summary = "give all nodes a new key, then destroy the old one",
	.about =
		"Each node is told under the key it obeyed so far. Until all nodes with an agent have\n"
		"moved, both keys are kept and each node is answered with its own, so that work goes\n"
		"on meanwhile; the same command goes on where it was stopped or killed. With --ssh the\n"
		"new key's line is added on each node and proven by a login; when all let it in, it is\n"
		"used, the old key is destroyed, and its line taken away by the new one.\n",
	.options = ROTATE_OPTIONS,
	.run = run_rotate,
};
