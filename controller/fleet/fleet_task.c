/*
 * fleet_task - one node's way through a run, from its link to a result that can be trusted.
 *
 * A link that is lost before the order was given has done nothing and says so.
 * After it, a run that changes the node goes on without us: the node is asked
 * again by an attach order, twice in a row at most. Plans change nothing and are
 * simply asked for anew. A node that restarts on purpose is waited for. A node
 * that still works on a run of an earlier, dead controller of this database is
 * followed to that run's end first, then gets its order.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_MAX    2
#define PATIENCE     (60 * CLOCK_SEC)
#define SILENCE      (60 * CLOCK_SEC)  /* of an agent at work, which says 'alive' */
#define SILENCE_TIME (900 * CLOCK_SEC) /* of one that is to change nothing, and does not */
#define REBOOT_RETRY (5 * CLOCK_SEC)
#define CONTACT_WAIT (300 * CLOCK_SEC) /* for a node of a rollout that was there before */

static const int64_t RETRY_AFTER[] = {1 * CLOCK_SEC, 3 * CLOCK_SEC};

static bool is_bad(enum step_result state)
{
	return state != RESULT_OK && state != RESULT_CHANGED && state != RESULT_SKIPPED;
}

bool fleet_acts(const struct fleet *f)
{
	const enum order_mode m = f->opts->mode;

	return m == ORDER_APPLY || m == ORDER_RESUME || (m == ORDER_UNDO && !f->opts->preview);
}

/* Whoever asks again has to attach. */
static bool goes_on(const struct task *t)
{
	return t->given && fleet_acts(t->fleet);
}

/* --- results --- */

void task_drop_answer(struct task *t)
{
	free(t->answer.reason);
	free(t->answer.hint);
	t->answer = (struct answer){0};
}

void task_done(struct task *t)
{
	task_drop_answer(t);
	frame_reader_done(&t->reader);
	free(t->complaint);
	free(t->follow);
	free(t->advice);
	t->complaint = t->follow = t->advice = NULL;
}

static struct node_result make_result(
	const struct task *t, enum step_result state, const char *reason, const char *hint)
{
	return (struct node_result){
		.node = t->node->id,
		.node_name = t->node->name,
		.state = state,
		.counts = t->answer.counts,
		.plan_hash = t->answer.plan_hash,
		.reason = reason ? reason : "",
		.hint = hint ? hint : "",
		.took = clock_mono() - t->began,
		.agent_pass = t->answer.pass,
		.agent_process = t->answer.process,
	};
}

static void end_task(struct task *t, enum step_result state, const char *reason, const char *hint)
{
	struct fleet *f = t->fleet;
	const struct node_result r = make_result(t, state, reason, hint);

	t->result = state;
	memcpy(t->plan_hash, t->answer.plan_hash, sizeof t->plan_hash);
	record_result(t, f->out->id, &r);
	if (f->hub->hooks)
		f->hub->hooks->done(t, &r);
	else if (f->opts->done)
		f->opts->done(f->opts->ctx, t->node, &r);
	f->out->nodes.n[state]++;
	f->unfinished--;
	if (f->stay && f->hub->links && f->unfinished == 0)
		link_set_pause(f->hub->links);
	if (f->stay && t->link && !t->answer.refused && t->state == TASK_ORDERED) {
		t->state = TASK_IDLE;
		task_drop_answer(t);
		return;
	}
	t->state = TASK_DONE;
	task_done(t);
}

void task_finish(struct task *t, enum step_result result, const struct err *why)
{
	if (t->state == TASK_DONE || t->state == TASK_IDLE)
		return;
	if (!t->met && why && (why->code == E_NET || why->code == E_TIMEOUT)) {
		t->fleet->out->unreachable++;
		record_missed(t, why->msg);
	}
	end_task(t, result, why ? why->msg : NULL, why ? why->hint : NULL);
}

/* A store that broke is no one's wish to stop, and must not read like one. */
static void explain_broken(const struct task *t, struct err *why)
{
	*why = t->fleet->hub->broken;
	err_wrap(why, "the run can no longer be recorded");
	why->code = E_IO;
	if (!why->hint[0])
		err_hint(why,
			goes_on(t)
				? "the node goes on by itself; once the database is well: stoika run attach %s"
				: "mend the database, then the same command again (run %s)",
			t->fleet->out->id);
}

void task_stop(struct task *t)
{
	struct err why = {0};

	if (t->fleet->hub->broken.code) {
		explain_broken(t, &why);
	} else if (t->dropped) {
		err_set(&why, E_CANCELLED, "it was given up%s",
			goes_on(t) ? "; the node may go on by itself" : "");
	} else {
		err_set(&why, E_CANCELLED, "the controller was stopped%s",
			goes_on(t) ? "; the node may go on by itself" : "");
		err_hint(&why, "the same command again goes on from here");
	}
	task_finish(t, RESULT_INTERRUPTED, &why);
}

/* What an error means for a node on which nothing was done. */
enum step_result task_result_of(enum ec code)
{
	switch ((int)code) {
	case E_AUTH:
	case E_HOSTKEY:
	case E_DENIED:
	case E_BUSY:
	case E_VERIFY:
		return RESULT_DENIED;
	case E_TIMEOUT:
		return RESULT_TIMEOUT;
	case E_CANCELLED:
		return RESULT_INTERRUPTED;
	default:
		return RESULT_FAILED;
	}
}

const char *task_current_run(const struct task *t)
{
	return t->follow ? t->follow : t->fleet->out->id;
}

/* --- the link --- */

static void on_opened(void *ctx, struct link *l)
{
	struct task *t = ctx;

	t->link = l;
	t->state = TASK_GREETING;
	t->greeting_since = clock_mono();
	frame_reader_init(&t->reader, true);
}

static void on_data(void *ctx, struct link *l, bool is_stderr, struct str bytes)
{
	struct task *t = ctx;
	struct err err = {0};

	if (is_stderr)
		message_keep_complaint(t, bytes);
	else if (message_feed(t, bytes, &err) < 0)
		link_abort(l, &err);
}

/* --- how a link ended --- */

static void retry(struct task *t, int64_t after)
{
	t->state = TASK_WAITING;
	t->retry_at = clock_mono() + after;
	t->fleet->hub->retrying++;
}

/* What the command's end says when the agent itself said nothing. */
static void judge_end(struct task *t, const struct link_end *end, struct err *err)
{
	const char *name = t->node->name, *said = t->complaint ? t->complaint : "";

	if (end->how == LINK_EXITED && end->status == 127) {
		err_set(err, E_NOTFOUND, "the agent is not installed on '%s'%s%s", name,
			*said ? ": " : "", said);
		err_hint(err, "stoika agent install %s", name);
	} else if (end->how == LINK_SIGNALED) {
		err_set(err, E_REMOTE, "the agent on '%s' was killed by signal %s", name,
			end->signal);
		err_hint(err, "look for it in the node's journal: journalctl -e, dmesg");
	} else if (t->state == TASK_ANSWERED) {
		err_set(err, E_REMOTE,
			"the agent on '%s' said '%s' and then failed (exit status %d)", name,
			result_name(t->answer.state), end->status);
	} else if (t->met) {
		err_set(err, E_REMOTE,
			"the agent on '%s' left without an answer (exit status %d)%s%s", name,
			end->status, *said ? ": " : "", said);
		err_hint(err, "run it there by hand: stoika-agent version");
	} else {
		message_say_no_agent(t, err);
	}
}

/* How long until a node is looked for again that may take a while to be there. */
static int64_t search_after(const struct task *t)
{
	const int64_t wait = t->reboot_wait / 20;

	return wait > 0 && wait < REBOOT_RETRY ? wait : REBOOT_RETRY;
}

static bool is_out_of_reach(const struct err *why)
{
	return why->code == E_NET || why->code == E_TIMEOUT;
}

/* A rollout has time: a node that was there before may well be again, and goes on meanwhile. */
static bool is_searched(struct task *t, const struct err *why)
{
	const int64_t now = clock_mono();
	int64_t wait = CONTACT_WAIT;

	if (t->reboot_wait > 0 && t->reboot_wait < wait)
		wait = t->reboot_wait;
	if (t->tries == 0)
		t->lost_until = now + wait;
	return t->fleet->hub->lease && (goes_on(t) || t->known) && now < t->lost_until &&
	       is_out_of_reach(why);
}

/* Our order was given and no trustworthy answer came; or the node was there before, and is not. */
static void lost(struct task *t, const struct err *why)
{
	const bool searched = is_searched(t, why);
	struct err err = *why;

	if (t->tries < TRIES_MAX || searched) {
		t->attach = goes_on(t);
		retry(t, t->tries < TRIES_MAX ? RETRY_AFTER[t->tries++] : search_after(t));
		return;
	}
	if (!goes_on(t) && t->fleet->opts->mode != ORDER_ATTACH) {
		task_finish(t, task_result_of(err.code), &err);
		return;
	}
	err_wrap(&err, "lost after it was given its order");
	err_hint(&err, "stoika run attach %s follows the node to its end", t->fleet->out->id);
	task_finish(t, RESULT_UNKNOWN, &err);
}

/* It went down because its run said so: until it is back, or for too long. */
static void await_reboot(struct task *t, const struct err *why)
{
	struct err err = {0};
	char span[24];

	if (why->code == E_HOSTKEY) {
		task_finish(t, RESULT_DENIED, why);
		return;
	}
	if (clock_mono() < t->reboot_until) {
		retry(t, search_after(t));
		return;
	}
	clock_format_span(t->reboot_until - t->reboot_since, span);
	err_set(&err, E_TIMEOUT, "'%s' did not come back from its restart within %s: %s",
		t->node->name, span, why->msg);
	err_hint(&err, "look at its console; it goes on by itself: stoika run attach %s",
		t->fleet->out->id);
	task_finish(t, RESULT_UNKNOWN, &err);
}

/* The earlier run was followed to its end, or cannot be: now our own order. */
static void followed(struct task *t, bool answered)
{
	if (answered && !t->answer.refused) {
		const struct node_result r =
			make_result(t, t->answer.state, t->answer.reason, t->answer.hint);

		record_result(t, t->follow, &r);
	}
	free(t->follow);
	t->follow = NULL;
	task_drop_answer(t);
	retry(t, answered ? 0 : RETRY_AFTER[0]);
}

/* What helps with a bad answer: the agent's own word, that of the step that failed, or ours. */
static const char *hint_of(const struct task *t)
{
	const struct fleet *f = t->fleet;

	if (t->answer.hint)
		return t->answer.hint;
	if (t->advice)
		return t->advice;
	if (t->answer.code == E_NOSPACE)
		return arena_printf(f->hub->arena,
			"make room on '%s' (df -h, df -i); no file there is half-written",
			t->node->name);
	return arena_printf(f->hub->arena, "stoika run show %s", f->out->id);
}

void task_answered(struct task *t)
{
	const struct answer *a = &t->answer;

	if (t->follow) {
		followed(t, true);
	} else if (a->code == E_NOTFOUND && t->attach) {
		/* no journal: nothing was done yet, so it can be ordered anew */
		t->attach = false;
		task_drop_answer(t);
		retry(t, 0);
	} else if (a->refused && a->code == E_NOTFOUND && t->fleet->opts->undo_of) {
		end_task(t, RESULT_SKIPPED, "nothing of this run is known there", NULL);
	} else if (a->refused && a->code == E_EXISTS && !t->existed) {
		/* it had this very order before: what came of it? */
		t->existed = t->attach = true;
		task_drop_answer(t);
		retry(t, 0);
	} else {
		end_task(t, a->state, a->reason, is_bad(a->state) ? hint_of(t) : a->hint);
	}
}

static void on_closed(void *ctx, struct link *l, const struct link_end *end, const struct err *err)
{
	struct task *t = ctx;
	const bool clean = end->how == LINK_EXITED && end->status == 0;
	struct err why = *err;

	(void)l;
	t->link = NULL;
	frame_reader_done(&t->reader);
	if (t->state == TASK_IDLE || t->state == TASK_DONE) {
		t->state = TASK_DONE; /* between two turns: it is begun anew at the next */
		return;
	}
	if (why.code == E_CANCELLED) {
		task_stop(t);
		return;
	}
	if (t->state == TASK_ANSWERED && (clean || t->answer.refused)) {
		task_answered(t);
		return;
	}
	if (why.code == 0)
		judge_end(t, end, &why);
	if (t->rebooting)
		await_reboot(t, &why);
	else if (t->follow)
		followed(t, false);
	else if (t->given || (t->met && t->fleet->opts->mode == ORDER_ATTACH) ||
		 (t->known && is_out_of_reach(&why)))
		lost(t, &why);
	else
		task_finish(t, task_result_of(why.code), &why);
}

static const struct link_ops OPS = {on_opened, on_data, NULL, on_closed};

void task_start(struct task *t)
{
	const struct node_row *n = t->node;
	const struct link_target target = {
		.name = n->name,
		.address = n->address ? n->address : "",
		.port = n->port ? n->port : 22,
		.user = n->user && *n->user ? n->user : "root",
		.host_key = n->host_key ? n->host_key : "",
		.command = AGENT_COMMAND,
	};

	t->state = TASK_GREETING;
	t->greeting_since = INT64_MAX;
	t->bundle_sent = t->facts_came = false;
	t->files = 0;
	t->file_bytes = 0;
	t->retry_at = 0;
	t->heard = clock_mono();
	free(t->complaint);
	t->complaint = NULL;
	task_drop_answer(t);
	t->link = link_start(t->fleet->hub->links, &target, &OPS, t);
}

/* Why an agent is not waited for any longer, or NULL. */
static const char *lost_patience(const struct task *t, int64_t now)
{
	const struct fleet_opts *o = t->fleet->opts;
	const int64_t patience = o->patience ? o->patience : PATIENCE;
	const int64_t silence = o->silence ? o->silence : SILENCE;
	const bool acting = fleet_acts(t->fleet) || t->follow || o->mode == ORDER_ATTACH;

	if (t->state == TASK_GREETING && now - t->greeting_since > patience)
		return "did not greet in time";
	if (t->state == TASK_ANSWERED && now - t->heard > patience)
		return "answered and did not end";
	if (t->state != TASK_ORDERED)
		return NULL;
	if (acting && t->modern && now - t->heard > silence)
		return "is silent: the link is lost";
	/* an old one may wait for a package manager for as long as its steps allow */
	if (!acting && now - t->heard > SILENCE_TIME)
		return "said nothing for 15 minutes";
	return NULL;
}

void task_tick(struct task *t, int64_t now)
{
	struct err err = {0};
	const char *why;

	if (t->state == TASK_WAITING && t->retry_at <= now) {
		t->fleet->hub->retrying--;
		task_start(t);
		return;
	}
	why = t->link ? lost_patience(t, now) : NULL;
	if (why) {
		err_set(&err, E_TIMEOUT, "the agent on '%s' %s", t->node->name, why);
		err_hint(&err, "is the node overloaded, or a file system of it hung?");
		link_abort(t->link, &err);
	}
}
