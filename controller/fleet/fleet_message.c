/*
 * fleet_message - what an agent says, message by message, and what is believed of it.
 *
 * A node may lie: what it says is cut, counted and kept to the run it was asked
 * about; secrets are taken out before anything is stored or shown.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLLOW_MAX    3
#define COMPLAINT_MAX 100
#define TEXT_MAX      4096
#define EVENTS_MAX    200000
#define EVENT_BYTES   ((size_t)32 << 20) /* of one node in one run */
#define FACTS_MAX     64                 /* groups */
#define FILES_MAX     16                 /* of evidence */
#define FILE_BYTES    ((size_t)4 << 20)  /* of all of them */
#define REBOOT_WAIT   (900 * CLOCK_SEC)
#define STEADY        (10 * CLOCK_SEC) /* a link that lived so long */
#define DAY_S         86400

static bool is_bad(enum step_result state)
{
	return state != RESULT_OK && state != RESULT_CHANGED && state != RESULT_SKIPPED;
}

/* What a run already knows of a node; false when it knows nothing. */
static bool find_result(
	struct fleet *f, struct arena *a, const char *run, int64_t node, enum step_result *state)
{
	struct node_results rows = VEC_INIT;
	bool found = false;

	if (store_results(f->hub->store, a, run, &rows, NULL) == 0)
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
	bool open = store_run_find(f->hub->store, a, id, &row, NULL) == 0 &&
		    strcmp(row.id, id) == 0 && strcmp(row.mode, order_mode_name(ORDER_APPLY)) == 0;

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
	if (fleet_acts(t->fleet) && t->followed < FOLLOW_MAX && is_open_run(t, run)) {
		t->followed++;
		t->follow = xstrdup(run);
		return 0;
	}
	clock_format(at > 0 && at <= INT64_MAX / CLOCK_SEC ? at * CLOCK_SEC : 0, since);
	err_set(err, E_BUSY, "run %s by %s holds '%s' since %s", run,
		json_get_str(busy, "controller", "unknown"), t->node->name, since);
	return err_hint(err, "wait for its end: stoika run watch %s", run);
}

/* Another node behind this address would do another one's work. */
static int judge_name(const struct task *t, const json_t *m, struct err *err)
{
	const char *name = json_get_str(m, "name", "");

	if (!*name || strcmp(name, t->node->name) == 0)
		return 0;
	err_set(err, E_VERIFY, "the agent at the address of '%s' is that of '%.64s'", t->node->name,
		name);
	return err_hint(err,
		"correct the address in the site file; after a renaming: stoika agent install %s",
		t->node->name);
}

/* "back" under another boot id, or "up": it is there, and has not restarted. */
static void tell_boot(struct task *t, const char *ev, const char *boot_id)
{
	const struct task_hooks *hooks = t->fleet->hub->hooks;
	AUTO_JSON record = json_object();

	json_put_str(record, "ev", ev);
	json_put_str(record, "boot_id", boot_id);
	if (hooks)
		hooks->event(t, record);
}

/* A node that was to restart and greets under its old boot id has not gone down yet. */
static int meet_rebooted(struct task *t, const char *boot_id, struct err *err)
{
	if (!t->rebooting)
		return 0;
	if (*boot_id && strcmp(boot_id, t->boot_id) == 0) {
		tell_boot(t, "up", boot_id);
		return err_set(err, E_NET, "'%s' has not restarted yet", t->node->name);
	}
	t->rebooting = false;
	t->attach = true;
	t->tries = 0;
	tell_boot(t, "back", boot_id);
	return 0;
}

/* These need no lock of the node, so whoever holds it is in nobody's way. */
static bool wants_node(const struct fleet *f)
{
	const enum order_mode m = f->opts->mode;

	return m != ORDER_FACTS && m != ORDER_ATTACH && m != ORDER_EVIDENCE;
}

static int on_hello(struct task *t, json_t *m, struct err *err)
{
	const struct fleet *f = t->fleet;
	const json_t *busy = json_get(m, "busy");
	const int64_t proto = json_get_int(m, "proto", 0);
	const char *key = json_get_str(m, "key", ""), *boot = json_get_str(m, "boot_id", "");
	int rc = 0;

	t->met = true;
	t->modern = *key != '\0';
	t->signer = keys_signer(f->hub->keys, key);
	free(t->complaint); /* that was noise */
	t->complaint = NULL;
	if (proto != WIRE_PROTO) {
		err_set(err, E_UNSUPPORTED, "the agent on '%s' speaks protocol %lld, not %d",
			t->node->name, (long long)proto, WIRE_PROTO);
		return err_hint(err, "stoika agent install %s", t->node->name);
	}
	rc = judge_name(t, m, err);
	if (rc == 0)
		rc = meet_rebooted(t, boot, err);
	if (rc < 0)
		return rc;
	snprintf(t->boot_id, sizeof t->boot_id, "%.64s", boot);
	record_hello(t, m);
	if (busy && wants_node(f))
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

	if (t->follow || t->attach || strcmp(digest, t->fleet->hub->pack.digest) != 0)
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

/* How long it may take is the caller's word, or the step's. */
void message_note_reboot(struct task *t, int64_t within)
{
	const int64_t wait = t->reboot_wait                 ? t->reboot_wait
			     : within > 0 && within < DAY_S ? within * CLOCK_SEC
							    : REBOOT_WAIT;

	t->rebooting = true;
	t->reboot_since = clock_mono();
	t->reboot_until = t->reboot_since + wait;
}

static void tell_event(struct task *t, const json_t *record)
{
	const struct fleet *f = t->fleet;

	if (f->hub->hooks)
		f->hub->hooks->event(t, record);
	else if (f->opts->event)
		f->opts->event(f->opts->ctx, t->node, record);
}

static int on_event(struct task *t, json_t *m, struct err *err)
{
	const int64_t seq = json_get_int(m, "seq", 0);
	const int rc = judge_event(t, m, seq, err);

	if (rc < 0)
		return rc;
	json_object_del(m, "t");
	redact_json(t->fleet->hub->redact, m);
	record_event(t, task_current_run(t), m);
	if (t->follow)
		return 0;
	if (strcmp(json_get_str(m, "ev", ""), "rebooting") == 0)
		message_note_reboot(t, json_get_int(m, "within", 0));
	if (!t->advice && is_bad(result_parse(json_get_str(m, "state", "ok"))))
		t->advice = copy_text(m, "hint");
	if (seq > t->seen) {
		t->seen = seq;
		if (clock_mono() - t->greeting_since > STEADY)
			t->tries = 0; /* the link held, and the run goes on */
		tell_event(t, m);
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
	if (t->fleet->hub->hooks)
		t->fleet->hub->hooks->facts(t, facts);
	return 0;
}

/* A file for whoever looks into a failure; there is nobody but a crew to take it. */
static int on_evidence(struct task *t, json_t *m, struct err *err)
{
	const struct hub *h = t->fleet->hub;
	const char *name = json_get_str(m, "name", ""), *text = json_get_str(m, "text", NULL);
	const struct str bytes = str_of(text ? text : "");
	AUTO_BUF safe = {0};

	if (t->fleet->opts->mode != ORDER_EVIDENCE || !h->hooks || !text ||
		!str_is_name(str_of(name)))
		return err_set(err, E_REMOTE, "'%s' sent evidence that is none", t->node->name);
	t->file_bytes += bytes.n;
	if (++t->files > FILES_MAX || t->file_bytes > FILE_BYTES)
		return err_set(err, E_LIMIT,
			"'%s' sent more than %d files of evidence or %zu MiB of them",
			t->node->name, FILES_MAX, FILE_BYTES >> 20);
	if (!h->redact) {
		h->hooks->evidence(t, name, bytes);
		return 0;
	}
	buf_init(&safe, 2 * FILE_BYTES);
	redact_text(h->redact, bytes, &safe);
	h->hooks->evidence(t, name, buf_str(&safe));
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

/* A copy of a word for people, without secrets. */
static char *copy_words(const struct task *t, const json_t *m, const char *key)
{
	char *text = copy_text(m, key);
	AUTO_BUF safe = {0};

	if (!text || !t->fleet->hub->redact)
		return text;
	buf_init(&safe, 2 * TEXT_MAX);
	redact_text(t->fleet->hub->redact, str_of(text), &safe);
	free(text);
	return xstrdup(buf_text(&safe));
}

/* What the answer to 'again' leaves out is as it was. */
static void take_counts(struct task *t, const json_t *m)
{
	struct answer *a = &t->answer;
	const char *hash = json_get_str(m, "plan_hash", "");

	if (t->fleet->stay && !json_get(m, "counts"))
		a->counts = t->last_counts;
	else
		result_counts_parse(json_get(m, "counts"), &a->counts);
	if (hash_is_hex(hash))
		memcpy(a->plan_hash, hash, sizeof a->plan_hash);
	else if (t->fleet->stay && !*hash)
		memcpy(a->plan_hash, t->last_hash, sizeof a->plan_hash);
	t->last_counts = a->counts;
	memcpy(t->last_hash, a->plan_hash, sizeof t->last_hash);
}

/* Of a run that is followed: its end is yet to come, after a restart that somebody else is to do.
 */
static int await_restart(struct task *t, struct err *err)
{
	if (!t->rebooting && !t->follow)
		message_note_reboot(t, 0);
	return err_set(err, E_NET, "'%s' has not restarted yet", t->node->name);
}

static int on_final(struct task *t, json_t *m, struct err *err)
{
	struct answer *a = &t->answer;
	const char *run = json_get_str(m, "run", "");

	if (strcmp(run, task_current_run(t)) != 0)
		return err_set(err, E_REMOTE, "'%s' ended run '%s', which it was not asked for",
			t->node->name, run);
	if (json_is_true(json_get(m, "rebooting")))
		return await_restart(t, err);
	task_drop_answer(t);
	a->state = result_parse(json_get_str(m, "state", ""));
	take_counts(t, m);
	a->reason = copy_words(t, m, "reason");
	a->hint = copy_words(t, m, "hint");
	a->pass = get_span(m, "cpu_us");
	a->process = get_span(m, "process_us");
	if (t->fleet->stay && !t->follow && !t->attach)
		task_answered(t); /* the agent stays: no end of the command will prove it */
	else
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
	task_drop_answer(t);
	a->refused = true;
	a->code = code;
	/* not what was shown: nothing was done */
	a->state = code == E_STATE && t->expect ? RESULT_DENIED : task_result_of(code);
	a->reason = copy_words(t, m, "message");
	a->hint = copy_words(t, m, "hint");
	await_leave(t);
	return 0;
}

static int on_alive(struct task *t, json_t *m, struct err *err)
{
	(void)t, (void)m, (void)err; /* that it came is all it says */
	return 0;
}

static const struct {
	const char *t;
	enum task_state in; /* the state it may come in */
	int (*handle)(struct task *t, json_t *m, struct err *err);
} MESSAGES[] = {
	{"hello", TASK_GREETING, on_hello},
	{"alive", TASK_ORDERED, on_alive},
	{"need", TASK_ORDERED, on_need},
	{"event", TASK_ORDERED, on_event},
	{"facts", TASK_ORDERED, on_facts},
	{"evidence", TASK_ORDERED, on_evidence},
	{"final", TASK_ORDERED, on_final},
	{"refused", TASK_ORDERED, on_refused},
};

static int dispatch(struct task *t, const struct frame *frame, struct err *err)
{
	AUTO_JSON m = NULL;
	const char *type = NULL;
	int rc;

	if (t->state == TASK_ANSWERED || t->state == TASK_DONE || t->dropped)
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

/* --- bytes --- */

/* The first line of a node that does not speak our language, to be shown. */
void message_keep_complaint(struct task *t, struct str bytes)
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

void message_say_no_agent(const struct task *t, struct err *err)
{
	err_set(err, E_REMOTE, "what answered on '%s' is not our agent: '%s'", t->node->name,
		t->complaint ? t->complaint : "");
	err_hint(err, "stoika agent install %s; if it is there, quieten the shell's start-up files",
		t->node->name);
}

/* An idle node keeps no buffer. */
static void rest_reader(struct task *t)
{
	if (!t->reader.synced || t->reader.used < t->reader.in.n)
		return;
	frame_reader_done(&t->reader);
	frame_reader_init(&t->reader, false);
}

int message_feed(struct task *t, struct str bytes, struct err *err)
{
	struct frame frame;
	int rc;

	if (!t->reader.synced)
		message_keep_complaint(t, bytes);
	frame_reader_feed(&t->reader, bytes);
	while ((rc = frame_reader_next(&t->reader, &frame, err)) > 0) {
		rc = dispatch(t, &frame, err);
		if (rc < 0)
			break;
	}
	if (rc < 0 && !t->reader.synced)
		message_say_no_agent(t, err);
	if (rc < 0 && !err->hint[0])
		err_hint(err,
			"agent and controller may be of different versions: stoika agent "
			"install %s",
			t->node->name);
	if (rc == 0)
		rest_reader(t);
	return rc;
}
