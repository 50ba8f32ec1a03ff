/* init - a new, empty inventory with the controller's own keys beside it. */
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/fleet/keys.h"
#include "controller/secret/secret.h"

#include <stdio.h>
#include <unistd.h>

static int run(struct invocation *inv)
{
	const char *path = store_default_path(inv->arena, inv->db);
	struct store *s = NULL;
	struct err err;

	if (store_open(path, STORE_CREATE, &s, &err) < 0) {
		if (err.code == E_EXISTS)
			err_hint(&err,
				"'stoika list racks' shows what it holds; give --db another path for a new one");
		return command_fail(inv, &err);
	}
	if (keys_make(path, &err) < 0 || secrets_make_key(path, &err) < 0 ||
		store_begin(s, &err) < 0 ||
		store_audit_add(s, session_user(inv), "init", path, "", &err) < 0 ||
		store_commit(s, &err) < 0) {
		store_close(s);
		return command_fail(inv, &err);
	}
	store_close(s);
	if (!inv->json)
		printf("new inventory %s\nnext: stoika import FILE (a site in YAML)\n", path);
	return EXIT_OK;
}

const struct command COMMAND_INIT = {
	.name = "init",
	.args = "",
	.summary = "make a new inventory and the controller's keys",
	.about =
		"The database is --db FILE, else STOIKA_DB, else /var/lib/stoika/stoika.db as root\n"
		"and ~/.local/state/stoika/stoika.db for others. Keys lie beside it in keys/, 0600.\n",
	.run = run,
};
