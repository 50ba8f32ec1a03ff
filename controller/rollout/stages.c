#include "controller/rollout/stages.h"

#include "agent/base/buf.h"

const char *const NODE_STATES[] = {"eligible", "preflight", "staged", "cordoned", "wait-jobs",
	"drained", "quiesced", "installed", "rebooting", "services", "verify", "returned", "soak",
	"done", "rejected", "released", "rollback", "undone", "quarantined", "unreachable",
	"aborted", NULL};
const char *const NODE_EVENTS[] = {"ok", "failed", "timeout", "abort", "skip", NULL};

_Static_assert(sizeof NODE_STATES / sizeof NODE_STATES[0] == STATE_N + 1, "a word for each state");
_Static_assert(sizeof NODE_EVENTS / sizeof NODE_EVENTS[0] == EVENT_N + 1, "a word for each event");

const struct node_edge NODE_EDGES[] = {
	{STATE_ELIGIBLE, EVENT_OK, STATE_PREFLIGHT, "its turn has come"},
	{STATE_ELIGIBLE, EVENT_ABORT, STATE_ABORTED, "never begun"},
	{STATE_PREFLIGHT, EVENT_OK, STATE_STAGED, "all conditions hold"},
	{STATE_PREFLIGHT, EVENT_FAILED, STATE_REJECTED, "a condition does not hold"},
	{STATE_PREFLIGHT, EVENT_TIMEOUT, STATE_REJECTED, "it did not answer"},
	{STATE_PREFLIGHT, EVENT_SKIP, STATE_DONE, "nothing is to be changed"},
	{STATE_PREFLIGHT, EVENT_ABORT, STATE_ABORTED, "nothing was changed"},
	{STATE_STAGED, EVENT_OK, STATE_CORDONED, "everything needed is there"},
	{STATE_STAGED, EVENT_FAILED, STATE_REJECTED, "something could not be had"},
	{STATE_STAGED, EVENT_TIMEOUT, STATE_REJECTED, "it took too long"},
	{STATE_STAGED, EVENT_SKIP, STATE_QUIESCED, "no scheduler and nothing disruptive"},
	{STATE_STAGED, EVENT_ABORT, STATE_ABORTED, "nothing was changed"},
	{STATE_CORDONED, EVENT_OK, STATE_WAIT_JOBS, "it takes no new jobs"},
	{STATE_CORDONED, EVENT_FAILED, STATE_RELEASED, "the scheduler refused"},
	{STATE_CORDONED, EVENT_TIMEOUT, STATE_RELEASED, "the scheduler did not answer"},
	{STATE_CORDONED, EVENT_ABORT, STATE_RELEASED, "given back"},
	{STATE_WAIT_JOBS, EVENT_OK, STATE_DRAINED, "its jobs have ended"},
	{STATE_WAIT_JOBS, EVENT_FAILED, STATE_RELEASED, "a job may not be moved"},
	{STATE_WAIT_JOBS, EVENT_TIMEOUT, STATE_RELEASED, "jobs still run at the deadline"},
	{STATE_WAIT_JOBS, EVENT_ABORT, STATE_RELEASED, "given back"},
	{STATE_DRAINED, EVENT_OK, STATE_QUIESCED, "who held the GPUs has stopped"},
	{STATE_DRAINED, EVENT_FAILED, STATE_RELEASED, "somebody holds a GPU"},
	{STATE_DRAINED, EVENT_TIMEOUT, STATE_RELEASED, "somebody holds a GPU"},
	{STATE_DRAINED, EVENT_ABORT, STATE_RELEASED, "given back"},
	{STATE_QUIESCED, EVENT_OK, STATE_INSTALLED, "one transaction"},
	{STATE_QUIESCED, EVENT_FAILED, STATE_ROLLBACK, "the transaction failed"},
	{STATE_QUIESCED, EVENT_TIMEOUT, STATE_ROLLBACK, "the transaction never ended"},
	{STATE_INSTALLED, EVENT_OK, STATE_REBOOTING, "a reboot is needed"},
	{STATE_INSTALLED, EVENT_SKIP, STATE_SERVICES, "no reboot is needed"},
	{STATE_INSTALLED, EVENT_FAILED, STATE_ROLLBACK, "what is on the disk is not right"},
	{STATE_REBOOTING, EVENT_OK, STATE_SERVICES, "another boot id"},
	{STATE_REBOOTING, EVENT_FAILED, STATE_UNREACHABLE, "another system answers"},
	{STATE_REBOOTING, EVENT_TIMEOUT, STATE_UNREACHABLE, "it did not come back"},
	{STATE_SERVICES, EVENT_OK, STATE_VERIFY, "all of them run"},
	{STATE_SERVICES, EVENT_FAILED, STATE_ROLLBACK, "one does not run"},
	{STATE_SERVICES, EVENT_TIMEOUT, STATE_ROLLBACK, "one does not come up"},
	{STATE_VERIFY, EVENT_OK, STATE_RETURNED, "its validators passed"},
	{STATE_VERIFY, EVENT_FAILED, STATE_ROLLBACK, "a validator failed"},
	{STATE_VERIFY, EVENT_TIMEOUT, STATE_ROLLBACK, "a validator never ended"},
	{STATE_RETURNED, EVENT_OK, STATE_SOAK, "its scheduler has it again"},
	{STATE_RETURNED, EVENT_FAILED, STATE_QUARANTINED, "the scheduler does not take it back"},
	{STATE_RETURNED, EVENT_TIMEOUT, STATE_QUARANTINED, "the scheduler does not answer"},
	{STATE_SOAK, EVENT_OK, STATE_DONE, "quiet for long enough"},
	{STATE_SOAK, EVENT_FAILED, STATE_ROLLBACK, "errors while it was watched"},
	{STATE_SOAK, EVENT_SKIP, STATE_QUARANTINED, "it cannot be spared for the way back"},
	{STATE_ROLLBACK, EVENT_OK, STATE_UNDONE, "the earlier set, proven"},
	{STATE_ROLLBACK, EVENT_FAILED, STATE_QUARANTINED, "the way back failed"},
	{STATE_ROLLBACK, EVENT_TIMEOUT, STATE_QUARANTINED, "the way back never ended"},
	{STATE_ROLLBACK, EVENT_SKIP, STATE_QUARANTINED, "the policy keeps it as it is"},
	{0},
};

enum node_state node_next(enum node_state from, enum node_event on)
{
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		if (e->from == from && e->on == on)
			return e->to;
	return STATE_N;
}

bool node_is_terminal(enum node_state s)
{
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		if (e->from == s)
			return false;
	return true;
}

bool node_is_fenced(enum node_state s)
{
	return (s >= STATE_CORDONED && s <= STATE_VERIFY) || s == STATE_ROLLBACK ||
	       s == STATE_QUARANTINED || s == STATE_UNREACHABLE;
}

void node_draw(struct buf *out)
{
	buf_add_text(out, "digraph node {\n\trankdir=LR; node [shape=box, fontname=sans];\n");
	for (unsigned s = 0; s < STATE_N; s++)
		buf_addf(out, "\t\"%s\"%s;\n", NODE_STATES[s],
			node_is_terminal((enum node_state)s) ? " [shape=ellipse]" : "");
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		buf_addf(out, "\t\"%s\" -> \"%s\" [label=\"%s: %s\"];\n", NODE_STATES[e->from],
			NODE_STATES[e->to], NODE_EVENTS[e->on], e->why);
	buf_add_text(out, "}\n");
}
