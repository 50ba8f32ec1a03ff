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
			"stoika run resume %s, and abort it then: who is out must be brought home "
			"by somebody; if it cannot be gone on with: stoika run abort %s "
			"--as-it-stands",
			r->id, r->id);
	return err_hint(err, "stoika run resume %s goes on", r->id);
}

static int still_driven(const struct run_row *r, struct err *err)
{
	err_set(err, E_STATE, "rollout '%s' is driven: it can bring its nodes home", r->id);
	return err_hint(err, "stoika run abort %s", r->id);
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
	if (option_get(inv, "as-it-stands"))
		return p->driven ? still_driven(&p->run, err) : 0;
	if (!p->driven)
		return no_driver(&p->run, asked, err);
	return strcmp(asked, "abort") == 0 ? confirm(inv, p, err) : 0;
}

/* --- a rollout that nobody can drive any more --- */

static int write_end(const struct invocation *inv, struct store *s, const struct rollout_past *p,
	struct err *err)
{
	struct rollout_row row = p->row;
	int rc = store_begin(s, err);

	if (rc < 0)
		return rc;
	row.paused = false;
	row.reason = "ended as it stood";
	rc = store_rollout_put(s, &row, err);
	if (rc == 0)
		rc = store_lease_drop_run(s, p->run.id, err);
	if (rc == 0)
		rc = store_run_end(s, p->run.id, "cancelled", "", err);
	if (rc == 0)
		rc = store_audit_add(
			s, session_user(inv), "rollout", p->run.id, "ended as it stood", err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

static bool is_out(enum node_state s)
{
	return s != STATE_ELIGIBLE && !node_is_terminal(s);
}

static void tell_left(const struct invocation *inv, const struct rollout_past *p)
{
	AUTO_JSON doc = json_object();
	json_t *left = json_array();

	json_put_str(doc, "run", p->run.id);
	json_object_set_new(doc, "left", left);
	vec_each(&p->nodes, const struct past_node, n) {
		if (is_out(n->state))
			json_array_append_new(left, json_pack("{s:s,s:s}", "node", n->row->name,
							    "state", NODE_STATES[n->state]));
	}
	if (inv->json) {
		session_print_json(doc);
		return;
	}
	printf("rollout %s has ended as it stood; %zu nodes are left in the middle%s\n", p->run.id,
		json_array_size(left), json_array_size(left) ? ":" : "");
	vec_each(&p->nodes, const struct past_node, n) {
		if (is_out(n->state))
			printf("  %-16s %-12s stoika run show %s --node %s\n", n->row->name,
				NODE_STATES[n->state], p->run.id, n->row->name);
	}
}

static int end_as_it_stands(const struct invocation *inv, struct store *s,
	const struct rollout_past *p, struct err *err)
{
	int lock = -1, rc = confirm(inv, p, err);

	if (rc == 0)
		rc = run_lock_take(s, inv->arena, p->run.id, &lock, err);
	if (rc == 0)
		rc = write_end(inv, s, p, err);
	run_lock_drop(s, inv->arena, p->run.id, lock);
	if (rc == 0)
		tell_left(inv, p);
	return rc;
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
	if (rc == 0 && option_get(inv, "as-it-stands"))
		rc = end_as_it_stands(inv, s, &p, &err);
	else if (rc == 0 && (rc = ask(inv, s, r.id, asked, &err)) == 0)
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
	{"as-it-stands", 0, NULL, "of one that nobody can drive any more: end it, touch no node",
		false},
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
		"nothing was changed are given back. Asks before it does, and is not taken back.\n"
		"A rollout whose nodes or copies of recipes are gone cannot be gone on with: --as-it-stands\n"
		"writes down that it has ended and names the nodes that are left in the middle, with their\n"
		"marks in the scheduler.\n",
	.options = ABORT_OPTIONS,
	.run = run_abort,
};
