/* agent - first contact: the agent's folder, our keys and the pinned host keys onto nodes. */
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/ssh/known_hosts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOST_KEY_MAX 2048

/*
 * Pins the keys that a known_hosts file has for these nodes. A node that has
 * another key pinned is refused: a changed key is a finding, not an update,
 * unless --replace-key says so.
 */
static int pin_one(struct store *s, struct arena *a, struct node_row *n, const char *file,
	bool replace, struct err *err)
{
	AUTO_BUF key = {0};
	int rc;

	buf_init(&key, HOST_KEY_MAX);
	rc = known_hosts_find(file, n->address, n->port, n->name, &key, err);
	if (rc == -E_NOTFOUND)
		return 0; /* the install itself says what to do for a node without a key */
	if (rc < 0)
		return rc;
	if (n->host_key && strcmp(n->host_key, buf_text(&key)) != 0 && !replace) {
		err_set(err, E_HOSTKEY, "'%s' has another host key pinned than '%s' says", n->name,
			file);
		return err_hint(err,
			"if the node was reinstalled, say --replace-key; else find out who answers at %s",
			n->address);
	}
	n->host_key = arena_strdup(a, buf_text(&key));
	return store_node_pin_key(s, n->id, n->host_key, err);
}

static int pin_keys(const struct invocation *inv, struct store *s, struct node_rows *rows,
	const struct node_refs *refs, struct err *err)
{
	const char *file = option_get(inv, "known-hosts");
	const bool replace = option_get(inv, "replace-key") != NULL;
	int rc;

	if (!file)
		return 0;
	rc = store_begin(s, err);
	for (size_t i = 0; rc == 0 && i < refs->n; i++)
		rc = pin_one(s, inv->arena, &rows->at[refs->at[i] - rows->at], file, replace, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

/* Where --agent says, else where a package puts it, else in the build folder. */
static const char *agent_dir(const struct invocation *inv)
{
	const char *given = option_get(inv, "agent");
	char self[512];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *slash, *packaged;
	struct str bin;

	if (given)
		return given;
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	bin = str_first(str_of(self), slash ? (size_t)(slash - self) : 0);
	packaged = arena_printf(inv->arena, STR_FMT "/../lib/stoika", STR_ARG(bin));
	if (access(arena_printf(inv->arena, "%s/stoika-agent.tar.zst", packaged), R_OK) == 0)
		return packaged;
	return arena_printf(inv->arena, STR_FMT "/../agent/dist", STR_ARG(bin));
}

static int install(const struct invocation *inv, struct store *s, const struct node_refs *refs,
	struct err *err)
{
	struct keys keys = {0};
	struct fleet_outcome out = {0};
	struct run_view *view = run_view_new(ORDER_FACTS, refs, inv->json);
	struct install_opts o = {
		.identity = option_get(inv, "identity"),
		.agent_dir = agent_dir(inv),
		.by = session_user(inv),
		.ctx = view,
		.done = run_view_done,
	};
	int code = -1;

	if (keys_load(store_path(s), &keys, err) == 0 &&
		fleet_install(s, &keys, refs, &o, &out, err) == 0)
		code = run_view_finish(view, &out, "agent install", inv->args[0], "");
	run_view_free(view);
	keys_done(&keys);
	return code;
}

static int run(struct invocation *inv)
{
	struct store *s = NULL;
	struct node_rows rows = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	struct err err;
	int code = -1;

	if (session_open(inv, STORE_WRITE, &s, &err) == 0 &&
		session_nodes(inv, s, inv->args[0], &rows, &refs, &err) == 0 &&
		pin_keys(inv, s, &rows, &refs, &err) == 0)
		code = install(inv, s, &refs, &err);
	vec_done(&refs);
	vec_done(&rows);
	store_close(s);
	return code < 0 ? command_fail(inv, &err) : code;
}

static const struct option OPTIONS[] = {
	{"identity", 'i', "FILE", "a private key that may log in now; else our own (a reinstall)",
		false},
	{"known-hosts", 0, "FILE", "pin the nodes' host keys from this file first", false},
	{"replace-key", 0, NULL, "with --known-hosts: also where another key is pinned", false},
	{"agent", 0, "DIR", "where stoika-agent.tar.zst lies; else beside this program", false},
	{0},
};

const struct command COMMAND_AGENT_INSTALL = {
	.name = "agent install",
	.args = "NODES",
	.min_args = 1,
	.max_args = 1,
	.summary = "put the agent onto nodes over SSH and pin their host keys",
	.about =
		"The agent's folder, our signing key and one line in authorized_keys (our SSH key, bound\n"
		"to the agent) are all that is put there. Host keys are never trusted on first use: they\n"
		"come from the site file, or from --known-hosts (ssh-keyscan over a link you trust).\n",
	.options = OPTIONS,
	.run = run,
};
