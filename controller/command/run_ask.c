/* run_ask - pause and abort: a rollout is asked through the store, its driver does it. */
#include "agent/base/clock.h"
#include "controller/command/rollout_past.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/fleet/run_lock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int no_rollout(const struct run_row *r, struct err *err)
{
	err_set(err, E_STATE, "run '%s' is no rollout, its mode is '%s'", r->id, r->mode);
	return err_hint(err, "only a rollout can be paused or aborted; it is stopped by Ctrl-C "
			     "where it runs");
}

static int no_driver(const struct run_row *r, const char *asked, struct err *err)
{
	err_set(err, E_STATE, "nobody drives rollout '%s': it stands still", r->id);
	if (strcmp(asked, "abort") == 0)
		return err_hint(err,
			"stoika run resume %s, and abort it then: who is out must be "
			"brought home by somebody",
			r->id);
	return err_hint(err, "stoika run resume %s goes on", r->id);
}

static int confirm(const struct invocation *inv, const struct rollout_past *p, struct err *err)
{
	unsigned out = 0;
	char answer[16];

	if (option_get(inv, "yes"))
		return 0;
	for (unsigned s = STATE_PREFLIGHT; s < STATE_N; s++)
		out += node_is_terminal((enum node_state)s) ? 0 : p->counts[s];
	if (!isatty(STDIN_FILENO)) {
		err_set(err, E_DENIED, "an abort is not taken back, and nobody can be asked here");
		return err_hint(err, "stoika run abort %s --yes", p->run.id);
	}
	fprintf(stderr,
		"rollout %s: %u of %zu nodes wait and will not go, %u are at work and come home.\n"
		"An abort is not taken back. Abort it? [y/N] ",
		p->run.id, p->counts[STATE_ELIGIBLE], p->nodes.n, out);
	if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
		return 0;
	return err_set(err, E_CANCELLED, "nothing was asked");
}

static int ask(const struct invocation *inv, struct store *s, const char *run, const char *asked,
	struct err *err)
{
	int rc = store_begin(s, err);

	if (rc < 0)
		return rc;
	rc = store_rollout_ask(s, run, asked, session_user(inv), err);
	if (rc == 0)
		rc = store_audit_add(s, session_user(inv), "rollout", run, asked, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

static int judge(const struct invocation *inv, const struct rollout_past *p, const char *asked,
	struct err *err)
{
	if (rollout_past_is_over(p)) {
		err_set(err, E_STATE, "rollout '%s' has ended: %s", p->run.id, p->run.state);
		return err_hint(err, "see it with 'stoika run show %s'", p->run.id);
	}
	if (!p->driven)
		return no_driver(&p->run, asked, err);
	return strcmp(asked, "abort") == 0 ? confirm(inv, p, err) : 0;
}

static void tell(const struct invocation *inv, const char *run, const char *asked)
{
	AUTO_JSON doc = NULL;

	if (!inv->json) {
		printf("asked rollout %s to %s; 'stoika run watch %s' shows when it does\n", run,
			asked, run);
		return;
	}
	doc = json_object();
	json_put_str(doc, "run", run);
	json_put_str(doc, "asked", asked);
	session_print_json(doc);
}

static int run_ask(const struct invocation *inv, const char *asked)
{
	struct rollout_past p = {0};
	struct store *s = NULL;
	struct run_row r;
	struct err err;
	int rc = session_open(inv, STORE_WRITE, &s, &err);

	if (rc == 0)
		rc = store_run_find(s, inv->arena, inv->n_args ? inv->args[0] : "last", &r, &err);
	if (rc == 0 && strcmp(r.mode, "rollout") != 0)
		rc = no_rollout(&r, &err);
	if (rc == 0)
		rc = rollout_past_load(s, inv->arena, &r, clock_wall(), false, &p, &err);
	if (rc == 0)
		rc = judge(inv, &p, asked, &err);
	if (rc == 0)
		rc = ask(inv, s, r.id, asked, &err);
	if (rc == 0)
		tell(inv, r.id, asked);
	rollout_past_done(&p);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

static int run_pause(struct invocation *inv)
{
	return run_ask(inv, "pause");
}

static int run_abort(struct invocation *inv)
{
	return run_ask(inv, "abort");
}

static const struct option ABORT_OPTIONS[] = {
	{"yes", 'y', NULL, "do not ask", false},
	{0},
};

const struct command COMMAND_RUN_PAUSE = {
	.name = "run pause",
	.args = "[RUN]",
	.max_args = 1,
	.summary = "let no more nodes of a rollout go; those at work come home",
	.about =
		"The process that drives it does it; 'stoika run resume RUN' lets them go again.\n",
	.run = run_pause,
};

const struct command COMMAND_RUN_ABORT = {
	.name = "run abort",
	.args = "[RUN]",
	.max_args = 1,
	.summary = "end a rollout: nobody else goes, who can turn back does",
	.about =
		"Nodes that were changed already go on to their end, forward or back; those on which\n"
		"nothing was changed are given back. Asks before it does, and is not taken back.\n",
	.options = ABORT_OPTIONS,
	.run = run_abort,
};
