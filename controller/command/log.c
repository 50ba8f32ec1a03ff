/* log - who did what: the audit log is a hash chain, and can be verified. */
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <stdio.h>

static int run(struct invocation *inv)
{
	struct store *s = NULL;
	int64_t rows = 0;
	struct err err;
	int rc = session_open(inv, STORE_READ, &s, &err);

	if (rc == 0)
		rc = store_audit_verify(s, &rows, &err);
	store_close(s);
	if (rc < 0)
		return command_fail(inv, &err);
	if (inv->json)
		printf("{\"rows\": %lld, \"ok\": true}\n", (long long)rows);
	else
		printf("%lld %s, the chain is whole\n", (long long)rows,
			rows == 1 ? "entry" : "entries");
	return EXIT_OK;
}

const struct command COMMAND_LOG_VERIFY = {
	.name = "log verify",
	.args = "",
	.summary = "walk the hash chain of the log of who did what",
	.run = run,
};
