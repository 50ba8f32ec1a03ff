/*
 * slurm - scontrol and squeue of Slurm 22.05 to 24: drain with our reason, resume only what bears
 * it, its own restart with nextstate=DOWN.
 *
 * The mark is the reason's first word: "stoika:RUN why", and "stoika:RUN:reboot why" once a restart
 * was asked for, so that whoever comes next does not ask again. Slurm appends to it (": reboot
 * issued"), which does not matter.
 */
#include "agent/base/err.h"
#include "agent/base/hostlist.h"
#include "controller/fence/fence_priv.h"

#include <stdio.h>
#include <string.h>

#define REBOOT_WORD ":reboot"

enum slurm_flag {
	SLURM_DRAIN = 1 << 0,
	SLURM_BUSY = 1 << 1,  /* jobs, or what they leave is being cleaned */
	SLURM_DOWN = 1 << 2,  /* no job can go there whatever we do */
	SLURM_ASKED = 1 << 3, /* restart asked for */
	SLURM_GOING = 1 << 4, /* restart under way */
	SLURM_MUTE = 1 << 5,  /* slurmd does not answer */
	SLURM_FAIL = 1 << 6   /* a site's hardware watch takes it out */
};

/* Bases and flags of node_state_string(), as `scontrol show node` joins them. What is not here
   does not change whether a node takes jobs (CLOUD, MAINTENANCE, RESERVED, PLANNED ...). */
static const struct {
	const char *word;
	unsigned flags;
	bool base;
} STATES[] = {
	{"IDLE", 0, true},
	{"ALLOCATED", SLURM_BUSY, true},
	{"MIXED", SLURM_BUSY, true},
	{"DOWN", SLURM_DOWN, true},
	{"ERROR", SLURM_DOWN, true},
	{"FUTURE", SLURM_DOWN, true},
	{"UNKNOWN", SLURM_DOWN, true},
	{"INVAL", SLURM_DOWN, true},
	{"INVALID", SLURM_DOWN, true},
	{"COMPLETING", SLURM_BUSY, false},
	{"DRAIN", SLURM_DRAIN, false},
	{"DRAINED", SLURM_DRAIN, true},
	{"DRAINING", SLURM_DRAIN | SLURM_BUSY, true},
	{"FAIL", SLURM_FAIL, false},
	{"FAILING", SLURM_FAIL | SLURM_BUSY, true},
	{"INVALID_REG", SLURM_DOWN, false},
	{"BLOCKED", 0, false},
	{"NOT_RESPONDING", SLURM_MUTE, false},
	{"POWERED_DOWN", SLURM_DOWN, false},
	{"POWERING_DOWN", SLURM_DOWN, false},
	{"POWER_DOWN", SLURM_DOWN, false},
	{"POWERING_UP", 0, false},
	{"REBOOT_REQUESTED", SLURM_ASKED, false},
	{"REBOOT", SLURM_ASKED, false},
	{"REBOOT_ISSUED", SLURM_GOING, false},
	{"REBOOT^", SLURM_GOING, true},
};

/* One line of `scontrol show node -o`, as far as it concerns us. */
struct record {
	struct str name, host, state, daemon, reason, by;
};

/* "IDLE+DRAIN", "DOWN*+DRAIN": false when the base is a word we do not know. */
static bool read_state(struct str state, unsigned *flags)
{
	struct str part;
	bool first = true, known = true;

	*flags = 0;
	while (str_next(&state, '+', &part)) {
		bool found = false;

		/* sinfo's marks may stand behind a word: * mute, @ # ^ restart, ~ % ! off */
		while (part.n && strchr("*~#!%$@^-", part.p[part.n - 1])) {
			const char mark = part.p[part.n - 1];

			*flags |= mark == '*'   ? SLURM_MUTE
				  : mark == '@' ? SLURM_ASKED
				  : mark == '^' ? SLURM_GOING
						: 0;
			part = str_first(part, part.n - 1);
		}
		for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
			if (!str_is(part, STATES[i].word))
				continue;
			*flags |= STATES[i].flags;
			found = !first || STATES[i].base;
		}
		if (first)
			known = found;
		first = false;
	}
	return known && !first;
}

/* The value of " KEY=" up to the next blank; empty when there is none. */
static struct str value_of(struct str line, const char *key)
{
	const size_t at = str_find_str(line, str_of(key));

	if (at == STR_NONE)
		return (struct str){"", 0};
	struct str rest = str_from(line, at + strlen(key));
	return str_first(rest, str_find(rest, ' '));
}

/* Whether text begins with "[who@2026-11-30T22:22:21]"; its length then, else 0. */
static size_t signed_by(struct str text, struct str *by)
{
	const size_t end = str_find(text, ']');

	if (end == STR_NONE || end > WORD_MAX || text.p[0] != '[')
		return 0;
	*by = (struct str){text.p + 1, end - 1};
	const size_t at = str_find(*by, '@');
	if (at == STR_NONE || at == 0 || str_find(*by, ' ') != STR_NONE)
		return 0;
	return end + 1;
}

/* Slurm puts nothing round a reason: it ends where "[who@when]" stands. */
static void read_reason(struct str line, struct record *r)
{
	const size_t at = str_find_str(line, STR_LIT(" Reason="));
	static const char *const later[] = {" Comment=", " Extra=", NULL};

	if (at == STR_NONE)
		return;
	for (size_t i = 0; later[i]; i++)
		if (str_find_str(line, str_of(later[i])) < at)
			return; /* the word stands in somebody's comment */
	struct str rest = str_from(line, at + strlen(" Reason="));
	r->reason = rest;
	for (size_t i = 0; i + 1 < rest.n; i++) {
		if (rest.p[i] != ' ' || !signed_by(str_from(rest, i + 1), &r->by))
			continue;
		r->reason = str_first(rest, i);
		return;
	}
}

static int read_record(struct str line, unsigned number, struct record *r, struct err *err)
{
	*r = (struct record){.reason = {"", 0}, .by = {"", 0}};
	r->name = value_of(line, "NodeName=");
	r->host = value_of(line, " NodeHostName=");
	r->state = value_of(line, " State=");
	r->daemon = value_of(line, " SlurmdStartTime=");
	if (!r->name.n || !r->state.n)
		return err_set(err, E_SYNTAX, "line %u has no NodeName or no State", number);
	read_reason(line, r);
	return 0;
}

/* What holds the words of the reason: ours, and whether a restart was asked for. */
static bool is_ours(const struct fence *f, struct str reason, bool *reboot)
{
	*reboot = false;
	if (!fence_is_mark(f, reason))
		return false;
	const struct str rest = str_from(reason, strlen(FENCE_MARK) + strlen(f->opts.mark));
	*reboot = str_starts(rest, REBOOT_WORD);
	return true;
}

static enum fence_state state_of(unsigned flags)
{
	if (flags & SLURM_DOWN)
		return FENCE_DOWN;
	if (flags & (SLURM_DRAIN | SLURM_FAIL))
		return flags & SLURM_BUSY ? FENCE_CLOSING : FENCE_CLOSED;
	return flags & SLURM_MUTE ? FENCE_DOWN : FENCE_OPEN;
}

static void take_record(struct fence *f, struct fence_node *n, const struct record *r, int64_t at)
{
	unsigned flags = 0;
	bool reboot = false;
	const bool known = read_state(r->state, &flags);
	struct fence_view *v = &n->view;

	if (!known)
		flags |= SLURM_DOWN;
	fence_keep(n->reason, sizeof n->reason, r->reason);
	fence_keep(n->by, sizeof n->by, r->by);
	v->state = state_of(flags);
	fence_keep(n->daemon, sizeof n->daemon,
		str_is(r->daemon, "None") ? (struct str){"", 0} : r->daemon);
	/* Slurm takes a node for restarted whose boot time is later than its own request: one that
	   is back within that second, or whose clock is behind, stays "issued" until it is resumed
	 */
	v->rebooting = flags & SLURM_ASKED || (flags & SLURM_GOING && !fence_is_heard_anew(n));
	n->may_stay = flags & SLURM_ASKED && !(flags & SLURM_GOING);
	v->ours = is_ours(f, r->reason, &reboot) && v->state != FENCE_OPEN;
	/* opened by us, and its slurmd has not answered yet: nobody else's */
	if (!v->ours && n->opened && v->state == FENCE_DOWN && flags & SLURM_MUTE && !r->reason.n)
		v->ours = true;
	v->rebooted = v->ours && reboot && !v->rebooting;
	v->at = at;
	n->busy = v->state == FENCE_CLOSING || (v->ours && flags & SLURM_BUSY);
	if (!n->busy)
		v->jobs = n->movable = 0;
	if (!known)
		snprintf(n->reason, sizeof n->reason, "a state that is not known here: %.*s",
			(int)(r->state.n < 100 ? r->state.n : 100), r->state.p);
	else if (!n->reason[0] && v->state == FENCE_DOWN)
		fence_keep(n->reason, sizeof n->reason, r->state);
	fence_keep(n->said, sizeof n->said, r->state);
	n->seen = true;
}

/* A node of theirs that may be meant by a name of ours: its host's, or without the domain. */
static void note_near(struct fence *f, const struct record *r)
{
	struct fence_node *n = fence_find(f, r->host);

	if (!n)
		n = fence_find(f, str_first(r->name, str_find(r->name, '.')));
	if (n)
		fence_keep(n->near, sizeof n->near, r->name);
}

/* Cut in the middle it has no last newline: then nothing of it counts. */
int fence_read_slurm(struct fence *f, struct str text, int64_t at, struct err *err)
{
	struct str rest = text, line;
	struct record r;
	unsigned number = 0, records = 0;

	if (!text.n || text.p[text.n - 1] != '\n')
		return err_set(err, E_SYNTAX, "it ends in the middle of a line");
	while (str_line(&rest, &line)) {
		number++;
		if (!str_starts(line, "NodeName="))
			continue;
		records++;
		const int rc = read_record(line, number, &r, err);
		if (rc)
			return rc;
	}
	if (!records)
		return err_set(err, E_SCHEMA, "it names no node");
	for (rest = text; str_line(&rest, &line);) {
		if (!str_starts(line, "NodeName=") || read_record(line, 0, &r, NULL))
			continue;
		struct fence_node *n = fence_find(f, r.name);
		if (n)
			take_record(f, n, &r, at);
		else
			note_near(f, &r);
	}
	return 0;
}

/* A line of squeue: id|state|nodes|reservation|user. */
static void take_job(struct fence *f, struct str line)
{
	struct str part[5] = {{0}};

	for (int i = 0; i < 5; i++)
		if (!str_next(&line, '|', &part[i]))
			return;
	const bool going = str_is(part[1], "COMPLETING");
	const bool reserved = part[3].n && !str_is(part[3], "(null)") && !str_is(part[3], "N/A");
	for (size_t i = 0; i < f->n_batch && f->jobs.n < JOBS_MAX; i++) {
		struct fence_node *n = &f->nodes[f->batch[i]];

		if (!hostlist_has(part[2], str_of(n->name)))
			continue;
		n->view.jobs++;
		n->movable += !going && !reserved;
		n->reserved += reserved;
		struct fence_job *j = vec_push(&f->jobs);
		j->node = f->batch[i];
		j->foreign = going || reserved;
		fence_keep(j->id, sizeof j->id, part[0]);
	}
}

static int read_jobs(struct fence *f, struct str text)
{
	struct str line;

	f->jobs.n = 0;
	for (size_t i = 0; i < f->n_batch; i++) {
		struct fence_node *n = &f->nodes[f->batch[i]];

		n->view.jobs = n->movable = n->reserved = 0;
	}
	while (str_line(&text, &line))
		take_job(f, line);
	return 0;
}

static int read_about(struct fence *f, struct str text, struct err *err)
{
	struct str line;
	bool seen = false;

	while (str_line(&text, &line)) {
		const size_t at = str_find(line, '=');

		if (at == STR_NONE || !str_is(str_trim(str_first(line, at)), "RebootProgram"))
			continue;
		seen = true;
		f->can_reboot = !str_is(str_trim(str_from(line, at + 1)), "(null)");
	}
	return seen ? 0 : err_set(err, E_SCHEMA, "it does not name the RebootProgram");
}

static int read_answer(
	struct fence *f, enum fence_act act, struct str text, int64_t at, struct err *err)
{
	if (act == ACT_ABOUT)
		return read_about(f, text, err);
	return act == ACT_JOBS ? read_jobs(f, text) : fence_read_slurm(f, text, at, err);
}

static void push_update(struct fence *f, struct words *out, const char *state, const char *reason)
{
	fence_push(out, "update");
	fence_push(out, arena_printf(f->scratch, "nodename=%s", fence_names(f, ',')));
	fence_push(out, arena_printf(f->scratch, "state=%s", state));
	if (reason)
		fence_push(out, reason);
}

static void push_move(struct fence *f, struct words *out)
{
	const struct fence_node *first = &f->nodes[f->batch[0]];
	const bool cancel = first->move == FENCE_CANCEL;
	AUTO_BUF ids;

	buf_init(&ids, JOBS_MAX);
	fence_push(out, cancel ? "scancel" : "scontrol");
	if (!cancel)
		fence_push(out, "requeue");
	const char *last = "";
	vec_each(&f->jobs, struct fence_job, j) {
		bool here = false;

		for (size_t i = 0; i < f->n_batch; i++)
			here = here || f->batch[i] == j->node;
		/* a job on several of them stands there once for each, in a row */
		if (!here || j->foreign || strcmp(last, j->id) == 0)
			continue;
		last = j->id;
		if (cancel)
			fence_push(out, arena_text(f->scratch, str_of(j->id)));
		else
			buf_addf(&ids, "%s%s", ids.n ? "," : "", j->id);
	}
	if (!cancel)
		fence_push(out, arena_text(f->scratch, buf_str(&ids)));
}

static void push_reboot(struct fence *f, struct words *out, const char *why)
{
	fence_push(out, "reboot");
	fence_push(out, "ASAP");
	fence_push(out, "nextstate=DOWN");
	fence_push(out, arena_printf(f->scratch, "reason=" FENCE_MARK "%s" REBOOT_WORD "%s%s",
				f->opts.mark, *why ? " " : "", why));
	fence_push(out, fence_names(f, ','));
}

static void push_jobs(struct fence *f, struct words *out)
{
	fence_push(out, "squeue");
	fence_push(out, "-h");
	fence_push(out, "-t");
	fence_push(out, "RUNNING,SUSPENDED,COMPLETING,CONFIGURING,STOPPED,STAGE_OUT");
	fence_push(out, "-o");
	fence_push(out, "%i|%T|%N|%v|%u");
	fence_push(out, "-w");
	fence_push(out, fence_names(f, ','));
}

static void fill_argv(struct fence *f, enum fence_act act, struct words *out)
{
	const char *why = f->n_batch ? f->nodes[f->batch[0]].why : "";

	if (act == ACT_JOBS) {
		push_jobs(f, out);
		return;
	}
	if (act == ACT_MOVE) {
		push_move(f, out);
		return;
	}
	fence_push(out, "scontrol");
	if (act == ACT_ABOUT || act == ACT_LOOK) {
		fence_push(out, "show");
		fence_push(out, act == ACT_ABOUT ? "config" : "node");
		if (act == ACT_LOOK)
			fence_push(out, "-o");
	} else if (act == ACT_CLOSE) {
		push_update(f, out, "drain",
			arena_printf(f->scratch, "reason=" FENCE_MARK "%s%s%s", f->opts.mark,
				*why ? " " : "", why));
	} else if (act == ACT_OPEN) {
		push_update(f, out, "resume", NULL);
	} else if (act == ACT_REBOOT) {
		push_reboot(f, out, why);
	} else {
		fence_push(out, "cancel_reboot");
		fence_push(out, fence_names(f, ','));
	}
}

const struct fence_ops FENCE_SLURM_OPS = {.name = "Slurm",
	.batch = {[ACT_ABOUT] = SIZE_MAX,
		[ACT_LOOK] = SIZE_MAX,
		[ACT_JOBS] = 500,
		[ACT_CLOSE] = 500,
		[ACT_OPEN] = 500,
		[ACT_REBOOT] = 500,
		[ACT_STAY] = 100,
		[ACT_MOVE] = 100},
	.argv = fill_argv,
	.read = read_answer};
