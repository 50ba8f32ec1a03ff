/*
 * fleet_task - one node's conversation, from its greeting to a result that can be trusted.
 *
 * A link that is lost before the order was given has done nothing and says so.
 * After it, an apply goes on without us: the node is asked again by an attach
 * order, twice at most. Plans change nothing and are simply asked for anew.
 * A node that still works on a run of an earlier, dead controller of this
 * database is followed to that run's end first, then gets its order.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_MAX     2
#define FOLLOW_MAX    3
#define PATIENCE      (60 * CLOCK_SEC)
#define COMPLAINT_MAX 100
/* A node may lie. What it says is cut, and it may not go on for ever. */
#define TEXT_MAX     4096
#define EVENTS_MAX   200000
#define EVENT_BYTES  ((size_t)32 << 20) /* of one node in one run */
#define FACTS_MAX    64                 /* groups */
#define SILENCE_TIME (900 * CLOCK_SEC)  /* of an agent that is to change nothing */

static const int64_t RETRY_AFTER[] = {1 * CLOCK_SEC, 3 * CLOCK_SEC};

static bool is_bad(enum step_result state)
{
	return state != RESULT_OK && state != RESULT_CHANGED && state != RESULT_SKIPPED;
}

static bool is_apply(const struct task *t)
{
	return t->fleet->opts->mode == ORDER_APPLY;
}

/* --- results --- */

static void drop_answer(struct task *t)
{
	free(t->answer.reason);
	free(t->answer.hint);
	t->answer = (struct answer){0};
}

void task_done(struct task *t)
{
	drop_answer(t);
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
	if (f->opts->done)
		f->opts->done(f->opts->ctx, t->node, &r);
	f->out->nodes.n[state]++;
	f->unfinished--;
	t->state = TASK_DONE;
	task_done(t);
}

void task_finish(struct task *t, enum step_result result, const struct err *why)
{
	if (t->state == TASK_DONE)
		return;
	if (!t->met && why && (why->code == E_NET || why->code == E_TIMEOUT))
		t->fleet->out->unreachable++;
	end_task(t, result, why ? why->msg : NULL, why ? why->hint : NULL);
}

void task_stop(struct task *t)
{
	const bool goes_on = is_apply(t) && t->given;
	struct err why = {0};

	err_set(&why, E_CANCELLED, "the controller was stopped%s",
		goes_on ? "; the node may go on by itself" : "");
	err_hint(&why, "the same command again goes on from here");
	task_finish(t, RESULT_INTERRUPTED, &why);
}

/* What an error means for a node on which nothing was done. */
static enum step_result result_of(enum ec code)
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

/* --- messages --- */

static const char *current_run(const struct task *t)
{
	return t->follow ? t->follow : t->fleet->out->id;
}

/* What a run already knows of a node; false when it knows nothing. */
static bool find_result(
	struct fleet *f, struct arena *a, const char *run, int64_t node, enum step_result *state)
{
	struct node_results rows = VEC_INIT;
	bool found = false;

	if (store_results(f->store, a, run, &rows, NULL) == 0)
		vec_each(&rows, struct node_result, r)
			if (r->node == node) {
				found = true;
				*state = r->state;
			}
	vec_done(&rows);
	return found;
}

/* An apply of ours whose end on this node is not known yet: a lie must not rewrite the past. */
static bool is_open_run(const struct task *t, const char *id)
{
	struct fleet *f = t->fleet;
	struct arena *a = arena_new();
	struct run_row row;
	enum step_result state;
	bool open = store_run_find(f->store, a, id, &row, NULL) == 0 && strcmp(row.id, id) == 0 &&
		    strcmp(row.mode, order_mode_name(ORDER_APPLY)) == 0;

	if (open && find_result(f, a, id, t->node->id, &state))
		open = state == RESULT_UNKNOWN || state == RESULT_INTERRUPTED;
	else if (open)
		open = strcmp(row.state, "running") == 0 || strcmp(row.state, "interrupted") == 0;
	arena_free(a);
	return open;
}

/* The node is at work on another run: ours to follow when our database knows it. */
static int meet_busy(struct task *t, const json_t *busy, struct err *err)
{
	const char *run = json_get_str(busy, "run", "unknown");
	const int64_t at = json_get_int(busy, "since", 0);
	char since[24];

	if (strcmp(run, t->fleet->out->id) == 0) {
		t->attach = true;
		return 0;
	}
	if (is_apply(t) && t->followed < FOLLOW_MAX && is_open_run(t, run)) {
		t->followed++;
		t->follow = xstrdup(run);
		return 0;
	}
	clock_format(at > 0 && at <= INT64_MAX / CLOCK_SEC ? at * CLOCK_SEC : 0, since);
	err_set(err, E_BUSY, "run %s by %s holds '%s' since %s", run,
		json_get_str(busy, "controller", "unknown"), t->node->name, since);
	return err_hint(err, "wait for its end: stoika run watch %s", run);
}

static int on_hello(struct task *t, json_t *m, struct err *err)
{
	const json_t *busy = json_get(m, "busy");
	const int64_t proto = json_get_int(m, "proto", 0);
	int rc = 0;

	t->met = true;
	free(t->complaint); /* that was noise */
	t->complaint = NULL;
	if (proto != WIRE_PROTO) {
		err_set(err, E_UNSUPPORTED, "the agent on '%s' speaks protocol %lld, not %d",
			t->node->name, (long long)proto, WIRE_PROTO);
		return err_hint(err, "stoika agent install %s", t->node->name);
	}
	record_hello(t, m);
	if (busy && t->fleet->opts->mode != ORDER_FACTS)
		rc = meet_busy(t, busy, err);
	if (rc == 0)
		rc = order_send(t, json_get_str(m, "nonce", ""), json_get(m, "bundles"), err);
	if (rc == 0) {
		t->state = TASK_ORDERED;
		t->heard = clock_mono();
	}
	return rc;
}

static int on_need(struct task *t, json_t *m, struct err *err)
{
	const char *digest = json_get_str(m, "bundle", "");

	if (t->follow || t->attach || strcmp(digest, t->fleet->pack.digest) != 0)
		return err_set(
			err, E_REMOTE, "'%s' asked for a bundle it was not told of", t->node->name);
	order_send_bundle(t);
	return 0;
}

static char *copy_text(const json_t *m, const char *key)
{
	const char *text = json_get_str(m, key, NULL);

	return text && *text ? xstrndup(text, str_first_utf8(str_of(text), TEXT_MAX).n) : NULL;
}

/* What is kept is flat, so that it takes no more memory than its text; start and end are not. */
static bool is_flat(json_t *record)
{
	const char *ev = json_get_str(record, "ev", ""), *key;
	const bool kept = strcmp(ev, "start") != 0 && strcmp(ev, "end") != 0;
	json_t *value;

	json_object_foreach(record, key, value)
	{
		if (kept && (json_is_object(value) || json_is_array(value)))
			return false;
	}
	return true;
}

static int judge_event(struct task *t, json_t *m, int64_t seq, struct err *err)
{
	if (seq < 1)
		return err_set(
			err, E_REMOTE, "'%s' sent an event without its number", t->node->name);
	if (!is_flat(m))
		return err_set(
			err, E_REMOTE, "'%s' sent an event that is no record", t->node->name);
	if (++t->events > EVENTS_MAX || t->event_bytes > EVENT_BYTES)
		return err_set(err, E_LIMIT,
			"'%s' sent more than %d events or %zu MiB of them in one run",
			t->node->name, EVENTS_MAX, EVENT_BYTES >> 20);
	return 0;
}

static int on_event(struct task *t, json_t *m, struct err *err)
{
	const struct fleet_opts *o = t->fleet->opts;
	const int64_t seq = json_get_int(m, "seq", 0);
	const int rc = judge_event(t, m, seq, err);

	if (rc < 0)
		return rc;
	json_object_del(m, "t");
	record_event(t, current_run(t), m);
	if (t->follow)
		return 0;
	if (!t->advice && is_bad(result_parse(json_get_str(m, "state", "ok"))))
		t->advice = copy_text(m, "hint");
	if (seq > t->seen) {
		t->seen = seq;
		if (o->event)
			o->event(o->ctx, t->node, m);
	}
	return 0;
}

static int on_facts(struct task *t, json_t *m, struct err *err)
{
	json_t *facts = json_get(m, "facts"), *value;
	const char *group;
	bool fits = json_is_object(facts) && json_object_size(facts) <= FACTS_MAX;

	json_object_foreach(facts, group, value)
	{
		fits = fits && str_is_name(str_of(group));
	}
	if (!fits || t->facts_came)
		return err_set(err, E_REMOTE, "'%s' sent facts that are none", t->node->name);
	t->facts_came = true;
	record_facts(t, facts);
	return 0;
}

/* Microseconds of the node as nanoseconds; 0 when they cannot be true. */
static int64_t get_span(const json_t *m, const char *key)
{
	const int64_t us = json_get_int(m, key, 0);

	return us > 0 && us <= INT64_MAX / 1000 ? us * 1000 : 0;
}

static void await_leave(struct task *t)
{
	t->state = TASK_ANSWERED;
	t->heard = clock_mono();
	link_write_eof(t->link);
}

static int on_final(struct task *t, json_t *m, struct err *err)
{
	struct answer *a = &t->answer;
	const char *hash = json_get_str(m, "plan_hash", ""), *run = json_get_str(m, "run", "");

	if (strcmp(run, current_run(t)) != 0)
		return err_set(err, E_REMOTE, "'%s' ended run '%s', which it was not asked for",
			t->node->name, run);
	drop_answer(t);
	a->state = result_parse(json_get_str(m, "state", ""));
	result_counts_parse(json_get(m, "counts"), &a->counts);
	if (hash_is_hex(hash))
		memcpy(a->plan_hash, hash, sizeof a->plan_hash);
	a->reason = copy_text(m, "reason");
	a->hint = copy_text(m, "hint");
	a->pass = get_span(m, "cpu_us");
	a->process = get_span(m, "process_us");
	await_leave(t);
	return 0;
}

/* The error's code as the agent names it. */
static enum ec code_of(const char *name)
{
	for (int c = 1; c < E_MAX; c++)
		if (strcmp(ec_name((enum ec)c), name) == 0)
			return (enum ec)c;
	return E_REMOTE;
}

static int on_refused(struct task *t, json_t *m, struct err *err)
{
	struct answer *a = &t->answer;
	const enum ec code = code_of(json_get_str(m, "code", ""));

	(void)err;
	drop_answer(t);
	a->refused = true;
	a->code = code;
	a->state = result_of(code);
	a->reason = copy_text(m, "message");
	a->hint = copy_text(m, "hint");
	await_leave(t);
	return 0;
}

static const struct {
	const char *t;
	enum task_state in; /* the state it may come in */
	int (*handle)(struct task *t, json_t *m, struct err *err);
} MESSAGES[] = {
	{"hello", TASK_GREETING, on_hello},
	{"need", TASK_ORDERED, on_need},
	{"event", TASK_ORDERED, on_event},
	{"facts", TASK_ORDERED, on_facts},
	{"final", TASK_ORDERED, on_final},
	{"refused", TASK_ORDERED, on_refused},
};

static int dispatch(struct task *t, const struct frame *frame, struct err *err)
{
	AUTO_JSON m = NULL;
	const char *type = NULL;
	int rc;

	if (t->state == TASK_ANSWERED)
		return 0;
	t->heard = clock_mono();
	t->event_bytes += frame->payload.n;
	if (frame->type != 'J')
		return err_set(err, E_REMOTE, "'%s' sent a frame of type '%c'", t->node->name,
			frame->type);
	rc = message_parse(frame->payload, &m, &type, err);
	if (rc < 0)
		return err_wrap(err, "'%s'", t->node->name);
	/* an agent that cannot even begin refuses before its greeting */
	if (t->state == TASK_GREETING && strcmp(type, "refused") == 0) {
		t->met = true;
		return on_refused(t, m, err);
	}
	for (size_t i = 0; i < sizeof MESSAGES / sizeof *MESSAGES; i++)
		if (strcmp(MESSAGES[i].t, type) == 0 && MESSAGES[i].in == t->state)
			return MESSAGES[i].handle(t, m, err);
	return err_set(err, E_REMOTE, "'%s' sent '%s' where it cannot stand", t->node->name, type);
}

/* --- the link --- */

/* The first line of a node that does not speak our language, to be shown. */
static void keep_complaint(struct task *t, struct str bytes)
{
	AUTO_BUF text = {0};
	struct str line;

	bytes = str_trim(bytes);
	if (t->complaint || !str_line(&bytes, &line))
		return;
	buf_init(&text, 4 * COMPLAINT_MAX + 1);
	buf_add_printable(&text, str_trim(str_first(line, COMPLAINT_MAX)));
	t->complaint = xstrdup(buf_text(&text));
}

static void say_no_agent(const struct task *t, struct err *err)
{
	err_set(err, E_REMOTE, "what answered on '%s' is not our agent: '%s'", t->node->name,
		t->complaint ? t->complaint : "");
	err_hint(err, "stoika agent install %s; if it is there, quieten the shell's start-up files",
		t->node->name);
}

static void on_opened(void *ctx, struct link *l)
{
	struct task *t = ctx;

	t->link = l;
	t->state = TASK_GREETING;
	t->greeting_since = clock_mono();
	frame_reader_init(&t->reader, true);
}

/* An idle node keeps no buffer. */
static void rest_reader(struct task *t)
{
	if (!t->reader.synced || t->reader.used < t->reader.in.n)
		return;
	frame_reader_done(&t->reader);
	frame_reader_init(&t->reader, false);
}

static void on_data(void *ctx, struct link *l, bool is_stderr, struct str bytes)
{
	struct task *t = ctx;
	struct frame frame;
	struct err err = {0};
	int rc;

	if (is_stderr) {
		keep_complaint(t, bytes);
		return;
	}
	if (!t->reader.synced)
		keep_complaint(t, bytes);
	frame_reader_feed(&t->reader, bytes);
	while ((rc = frame_reader_next(&t->reader, &frame, &err)) > 0) {
		rc = dispatch(t, &frame, &err);
		if (rc < 0)
			break;
	}
	if (rc < 0 && !t->reader.synced)
		say_no_agent(t, &err);
	if (rc < 0 && !err.hint[0])
		err_hint(&err,
			"agent and controller may be of different versions: stoika agent "
			"install %s",
			t->node->name);
	if (rc < 0)
		link_abort(l, &err);
	else
		rest_reader(t);
}

/* --- how a link ended --- */

static void retry(struct task *t, int64_t after)
{
	t->state = TASK_WAITING;
	t->retry_at = clock_mono() + after;
	t->fleet->retrying++;
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
		say_no_agent(t, err);
	}
}

/* Our order was given and no trustworthy answer came. */
static void lost(struct task *t, const struct err *why)
{
	struct err err = *why;

	if (t->tries < TRIES_MAX) {
		t->attach = is_apply(t) && t->given;
		retry(t, RETRY_AFTER[t->tries++]);
		return;
	}
	if (!is_apply(t)) {
		task_finish(t, result_of(err.code), &err);
		return;
	}
	err_wrap(&err, "lost after it was given its order");
	err_hint(&err, "stoika run show %s; the same command again follows the node to its end",
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
	drop_answer(t);
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
		return arena_printf(f->arena,
			"make room on '%s' (df -h, df -i); no file there is half-written",
			t->node->name);
	return arena_printf(f->arena, "stoika run show %s", f->out->id);
}

static void answered(struct task *t)
{
	const struct answer *a = &t->answer;

	if (t->follow) {
		followed(t, true);
	} else if (a->code == E_NOTFOUND && t->attach) {
		/* no journal: nothing was done yet, so it can be ordered anew */
		t->attach = false;
		drop_answer(t);
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
	if (why.code == E_CANCELLED) {
		task_stop(t);
		return;
	}
	if (t->state == TASK_ANSWERED && (clean || t->answer.refused)) {
		answered(t);
		return;
	}
	if (why.code == 0)
		judge_end(t, end, &why);
	if (t->follow)
		followed(t, false);
	else if (t->given)
		lost(t, &why);
	else
		task_finish(t, result_of(why.code), &why);
}

static const struct link_ops OPS = {on_opened, on_data, NULL, on_closed};

void task_start(struct task *t)
{
	const struct node_row *n = t->node;
	const struct link_target target = {
		.name = n->name,
		.address = n->address,
		.port = n->port ? n->port : 22,
		.user = n->user && *n->user ? n->user : "root",
		.host_key = n->host_key,
		.command = AGENT_COMMAND,
	};

	t->state = TASK_GREETING;
	t->greeting_since = INT64_MAX;
	t->bundle_sent = t->facts_came = false;
	t->retry_at = 0;
	free(t->complaint);
	t->complaint = NULL;
	drop_answer(t);
	link_start(t->fleet->links, &target, &OPS, t);
}

/* Why an agent is not waited for any longer, or NULL. */
static const char *lost_patience(const struct task *t, int64_t now)
{
	const int64_t given = t->fleet->opts->patience;
	const int64_t patience = given ? given : PATIENCE;

	if (t->state == TASK_GREETING && now - t->greeting_since > patience)
		return "did not greet in time";
	if (t->state == TASK_ANSWERED && now - t->heard > patience)
		return "answered and did not end";
	/* an apply may wait for a package manager for as long as its steps allow */
	if (t->state == TASK_ORDERED && !is_apply(t) && now - t->heard > SILENCE_TIME)
		return "said nothing for 15 minutes";
	return NULL;
}

void task_tick(struct task *t, int64_t now)
{
	struct err err = {0};
	const char *why;

	if (t->state == TASK_WAITING && t->retry_at <= now) {
		t->fleet->retrying--;
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
