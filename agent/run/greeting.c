/* greeting - the agent speaks first: who it is, what it holds, whether it is busy. */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"
#include "agent/run/session_priv.h"
#include "agent/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_FILE_MAX 256

/* One line of a small file, "" when it cannot be read. */
static void read_id(int dir, const char *path, char id[static SESSION_ID_MAX])
{
	AUTO_BUF text;
	struct str line;

	buf_init(&text, ID_FILE_MAX);
	id[0] = '\0';
	if (fs_read(dir, path, &text, NULL) < 0)
		return;
	line = str_trim(buf_str(&text));
	if (line.n < SESSION_ID_MAX)
		snprintf(id, SESSION_ID_MAX, STR_FMT, STR_ARG(line));
}

static void put_busy(const struct session *s, json_t *hello, bool *busy)
{
	AUTO_JSON holder = NULL;
	json_t *told;

	*busy = journal_lock_holder(s->state, &holder, NULL) == 1;
	if (!*busy)
		return;
	told = json_object();
	json_put_str(told, "run", json_get_str(holder, "run", "unknown"));
	json_put_str(told, "controller", json_get_str(holder, "by", "unknown"));
	json_put_int(told, "since", json_get_int(holder, "since", 0));
	json_object_set_new(hello, "busy", told);
}

static void put_interrupted(const struct session *s, json_t *hello)
{
	struct journal_left left;
	struct restart restart;
	json_t *told;

	if (journal_unfinished(s->state, s->arena, &left, NULL) < 0 || !left.run || left.ended)
		return;
	told = json_object();
	json_put_str(told, "run", left.run);
	json_put_str(told, "recipe", left.recipe);
	json_put_str(told, "step", left.step);
	if (attach_read_restart(s, left.run, &restart)) {
		json_put_str(told, "restart", restart.done ? "done" : "awaited");
		json_put_bool(told, "asked", restart.asked);
	}
	json_object_set_new(hello, "interrupted", told);
}

static void put_bundles(const struct session *s, json_t *hello)
{
	const char *digests[BUNDLE_KEEP];
	unsigned n = 0;
	json_t *list = json_array();

	if (bundle_list(&s->store, s->arena, digests, BUNDLE_KEEP, &n, NULL) < 0)
		n = 0;
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_string(digests[i]));
	json_object_set_new(hello, "bundles", list);
}

static void put_name(const struct session *s, json_t *hello)
{
	AUTO_BUF name = {0};

	order_read_name(s, &name);
	json_put_text(hello, "name", buf_str(&name));
}

void greeting_read_ids(struct session *s)
{
	/* Of the node itself, whatever root is changed and wherever we were started. */
	AUTO_FD top = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top >= 0)
		read_id(top, "proc/sys/kernel/random/boot_id", s->boot_id);
	read_id(s->root, "/etc/machine-id", s->machine_id);
}

int greeting_send(struct session *s, struct err *err)
{
	AUTO_JSON hello = message_new("hello");
	char host[256] = "";
	bool busy;
	const int rc = sign_random_hex(SESSION_NONCE_BYTES, s->nonce, err);

	if (rc < 0)
		return rc;
	if (gethostname(host, sizeof host - 1) < 0)
		host[0] = '\0';
	json_put_int(hello, "proto", WIRE_PROTO);
	json_put_str(hello, "version", STOIKA_VERSION);
	json_put_str(hello, "boot_id", s->boot_id);
	json_put_str(hello, "machine_id", s->machine_id);
	json_put_str(hello, "hostname", host);
	json_put_str(hello, "nonce", s->nonce);
	json_put_str(hello, "key", sign_key_id(s->key));
	put_name(s, hello);
	put_bundles(s, hello);
	put_busy(s, hello, &busy);
	if (!busy)
		put_interrupted(s, hello);
	channel_send(&s->channel, hello);
	return 0;
}
