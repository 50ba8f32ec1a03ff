/*
 * fence - how: one program at a time; which one is decided anew each time from what is wanted and
 * what was seen, never from what was planned. After each act the views of its nodes count as old,
 * so the next thing is a look.
 */
#include "controller/fence/fence.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/fence/fence_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SOON    (2 * CLOCK_SEC)
#define LOOK_IDLE    (30 * CLOCK_SEC)
#define PROGRAM_TIME (30 * CLOCK_SEC)
#define FRESH        (2 * CLOCK_SEC) /* what is older is looked at again before anything is done */
#define RETRY        (3 * CLOCK_SEC) /* after a refusal, doubled up to five times */
#define AFTER_MOVE   (10 * CLOCK_SEC)
#define TAIL_LINES   3

const char *const FENCE_KIND_NAMES[] = {"none", "slurm", "kubernetes", "command", NULL};
const char *const FENCE_JOBS_NAMES[] = {"wait", "requeue", "cancel", NULL};
const char *const FENCE_STATE_NAMES[] = {
	"unasked", "absent", "open", "closing", "closed", "down", NULL};

/* Of our environment what those programs need; the rest could change what they print. */
static const char *const ENV_KEPT[] = {"PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK",
	"SLURM_CONF", "KUBECONFIG", "TMPDIR", "LD_LIBRARY_PATH", "HTTPS_PROXY", "NO_PROXY", NULL};

void fence_trouble(struct fence_node *n, int64_t now, const char *fmt, ...)
{
	char words[sizeof n->trouble];
	va_list ap;

	va_start(ap, fmt);
	const int len = vsnprintf(words, sizeof words, fmt, ap);
	va_end(ap);
	const size_t got = len < 0                      ? 0
			   : (size_t)len < sizeof words ? (size_t)len
							: sizeof words - 1;
	if (!n->trouble[0])
		n->view.trouble_since = now;
	fence_keep(n->trouble, sizeof n->trouble, (struct str){words, got});
}

static void no_trouble(struct fence_node *n)
{
	n->trouble[0] = 0;
	n->view.trouble_since = 0;
}

/* A name that no scheduler reads as an option, a list or all nodes. */
static bool is_plain(const char *name)
{
	const size_t len = strlen(name);
	static const char *const all[] = {"all", "ALL", "All", NULL};

	for (size_t i = 0; all[i]; i++)
		if (strcmp(name, all[i]) == 0)
			return false;
	return len && len <= NAME_LONG && name[0] != '-' && name[0] != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       len;
}

static int check(const struct fence_opts *o, const char *const *names, size_t n, struct err *err)
{
	if (!o->mark || !str_is_name(str_of(o->mark)))
		return err_set(err, E_SCHEMA, "the mark of a fence must be a run's id, not '%s'",
			o->mark ? o->mark : "");
	if (o->kind == FENCE_COMMAND && (!o->command || !o->command[0])) {
		err_set(err, E_SCHEMA, "a fence by command needs its command");
		return err_hint(err, "give fence: {by: command, command: [/etc/stoika/fence]}");
	}
	for (size_t i = 0; o->kind != FENCE_NONE && i < n; i++) {
		if (is_plain(names[i]))
			continue;
		err_set(err, E_SCHEMA, "'%s' cannot be the name of a scheduler's node", names[i]);
		return err_hint(err, "expected letters, digits, '.', '_' and '-', and not 'ALL'");
	}
	return 0;
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct fence *f = ctx;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return strcmp(f->nodes[x].name, f->nodes[y].name);
}

/* The last but the end is the place of STOIKA_FENCE_WHY, which each command has anew. */
static void keep_env(struct fence *f)
{
	bool path = false;

	for (size_t i = 0; ENV_KEPT[i]; i++) {
		const char *value = getenv(ENV_KEPT[i]);

		if (!value)
			continue;
		path = path || i == 0;
		fence_push(&f->env, arena_printf(f->life, "%s=%s", ENV_KEPT[i], value));
	}
	if (!path)
		fence_push(&f->env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	fence_push(&f->env, "LC_ALL=C.UTF-8");
	fence_push(&f->env, arena_printf(f->life, "STOIKA_FENCE_MARK=%s", f->opts.mark));
	fence_push(&f->env, "STOIKA_FENCE_WHY=");
	fence_push(&f->env, NULL);
}

int fence_new(const struct fence_opts *o, const char *const *names, size_t n, struct fence **out,
	struct err *err)
{
	static const struct fence_ops *const ops[FENCE_KINDS] = {[FENCE_SLURM] = &FENCE_SLURM_OPS,
		[FENCE_KUBERNETES] = &FENCE_KUBERNETES_OPS,
		[FENCE_COMMAND] = &FENCE_COMMAND_OPS};
	const int rc = check(o, names, n, err);

	if (rc)
		return rc;
	struct fence *f = xcalloc(1, sizeof *f);
	f->opts = *o;
	f->ops = ops[o->kind];
	f->n = n;
	f->nodes = xcalloc(n ? n : 1, sizeof *f->nodes);
	f->by_name = xcalloc(n ? n : 1, sizeof *f->by_name);
	f->batch = xcalloc(n ? n : 1, sizeof *f->batch);
	f->scratch = arena_new();
	f->life = arena_new();
	program_init(&f->program);
	for (size_t i = 0; i < n; i++) {
		struct fence_node *node = &f->nodes[i];

		node->name = names[i];
		node->view.reason = node->reason;
		node->view.by = node->by;
		node->view.trouble = node->trouble;
		node->view.state = f->ops ? FENCE_UNASKED : FENCE_OPEN;
		f->by_name[i] = i;
	}
	qsort_r(f->by_name, n, sizeof *f->by_name, by_name, f);
	keep_env(f);
	*out = f;
	return 0;
}

void fence_free(struct fence *f)
{
	if (!f)
		return;
	program_done(&f->program);
	vec_done(&f->env);
	for (size_t i = 0; i < f->n; i++)
		json_drop(&f->nodes[i].before);
	vec_done(&f->jobs);
	arena_free(f->scratch);
	arena_free(f->life);
	free(f->batch);
	free(f->by_name);
	free(f->nodes);
	free(f);
}

/* Nobody's scheduler: what is wanted is so. */
static void have_at_once(struct fence_node *n, int64_t now)
{
	const bool closed = n->want == WANT_CLOSED || n->want == WANT_REBOOT;

	n->view.at = now;
	n->view.state = closed ? FENCE_CLOSED : FENCE_OPEN;
	n->view.ours = closed;
	if (n->want == WANT_REBOOT)
		fence_trouble(n, now, "there is no scheduler that could restart it");
	else
		no_trouble(n);
}

void fence_want(struct fence *f, size_t node, enum fence_want want, const char *why)
{
	struct fence_node *n = &f->nodes[node];

	if (n->want != want) {
		n->move = FENCE_WAIT;
		n->retry_at = 0;
		n->failures = 0;
		n->reopened = n->was_ours = false;
		no_trouble(n);
		f->hurried = true;
	}
	n->want = want;
	fence_keep(n->why, sizeof n->why, str_of(why));
	for (char *p = n->why; *p; p++)
		if (*p == '"' || *p == '\\')
			*p = '\'';
	if (!f->ops)
		have_at_once(n, clock_mono());
}

void fence_restarts(struct fence *f, size_t node, const json_t *memory)
{
	struct fence_node *n = &f->nodes[node];
	const char *began = memory ? json_get_str(memory, "daemon", "") : n->daemon;

	fence_keep(n->gone, sizeof n->gone, str_of(began));
}

/* Its old daemon is the last one that the scheduler has heard. */
static bool is_unheard(const struct fence_node *n)
{
	return n->gone[0] && strcmp(n->gone, n->daemon) == 0;
}

bool fence_is_heard_anew(const struct fence_node *n)
{
	return n->gone[0] && n->daemon[0] && strcmp(n->gone, n->daemon) != 0;
}

void fence_move_jobs(struct fence *f, size_t node, enum fence_jobs how)
{
	f->nodes[node].move = how;
}

bool fence_is_closed(const struct fence_view *v)
{
	return v->ours && !v->rebooting && !v->jobs &&
	       (v->state == FENCE_CLOSED || v->state == FENCE_DOWN);
}

bool fence_is_foreign(const struct fence_view *v)
{
	return !v->ours && v->state >= FENCE_CLOSING && v->state <= FENCE_DOWN;
}

const struct fence_view *fence_look(const struct fence *f, size_t node)
{
	return &f->nodes[node].view;
}

const char *fence_silent(const struct fence *f)
{
	return f->silent[0] ? f->silent : NULL;
}

bool fence_can_reboot(const struct fence *f)
{
	return f->can_reboot;
}

json_t *fence_memory(const struct fence *f, size_t node)
{
	const struct fence_node *n = &f->nodes[node];
	json_t *out = json_object();

	json_put_str(out, "by", FENCE_KIND_NAMES[f->opts.kind]);
	json_put_str(out, "state", FENCE_STATE_NAMES[n->view.state]);
	json_put_bool(out, "ours", n->view.ours);
	json_put_int(out, "jobs", n->view.jobs);
	if (n->reason[0])
		json_put_str(out, "reason", n->reason);
	if (n->by[0])
		json_put_str(out, "who", n->by);
	if (n->daemon[0])
		json_put_str(out, "daemon", n->daemon);
	if (n->before)
		json_object_set(out, "said", n->before);
	else if (n->said[0])
		json_put_str(out, "said", n->said);
	return out;
}

/* --- what is to be done next --- */

static bool is_to_close(const struct fence_node *n)
{
	return n->want == WANT_CLOSED || n->want == WANT_REBOOT;
}

/* Closed by us and somebody has opened it, or somebody else's now: said once it is seen. */
static void follow_owner(struct fence_node *n, int64_t now)
{
	const struct fence_view *v = &n->view;

	n->was_ours = n->was_ours || v->ours;
	n->reopened = v->state == FENCE_OPEN && n->was_ours && is_to_close(n);
	if (v->state == FENCE_OPEN) {
		n->opened = false;
		n->told[0] = 0;
	}
	if (n->reopened)
		fence_trouble(n, now,
			"somebody opened it while it was closed by us; it is closed "
			"again");
}

static bool is_awaited(const struct fence_node *n)
{
	const struct fence_view *v = &n->view;

	if (n->want == WANT_OPEN)
		return v->ours || v->state == FENCE_UNASKED || n->opened;
	if (n->want == WANT_REBOOT)
		return !v->rebooted && !fence_is_foreign(v);
	return n->want == WANT_CLOSED && !fence_is_closed(v) && !fence_is_foreign(v);
}

/* What keeps it from what is wanted of it, as far as the view tells; false: nothing does. */
static bool say_obstacle(const struct fence *f, struct fence_node *n, int64_t now)
{
	const struct fence_view *v = &n->view;
	const bool closing = is_to_close(n);

	if (v->state == FENCE_ABSENT) {
		fence_trouble(n, now, "%s knows no node '%s'%s%s", f->ops->name, n->name,
			n->near[0] ? ", but " : "", v->reason);
	} else if (closing && n->must_not) {
		fence_trouble(n, now, "%s", n->refused);
	} else if (closing && fence_is_foreign(v)) {
		fence_trouble(n, now, "somebody else holds it: %s%s%s%s",
			v->reason[0] ? v->reason : FENCE_STATE_NAMES[v->state],
			v->by[0] ? " (" : "", v->by, v->by[0] ? ")" : "");
	} else if (closing && v->state == FENCE_CLOSING && n->move != FENCE_WAIT && n->reserved) {
		fence_trouble(n, now, "its jobs in a reservation are left alone: %u", n->reserved);
	} else if (n->want == WANT_OPEN && v->ours && is_unheard(n)) {
		fence_trouble(n, now, "%s has not heard of '%s' since it was restarted",
			f->ops->name, n->name);
	} else if (n->want == WANT_REBOOT && !f->can_reboot && f->knows_about) {
		fence_trouble(n, now, "%s cannot restart nodes here", f->ops->name);
	} else {
		return false;
	}
	return true;
}

static void explain(const struct fence *f, struct fence_node *n, int64_t now)
{
	const bool asked = n->want != WANT_NOTHING && n->view.state != FENCE_UNASKED;

	if (asked && say_obstacle(f, n, now))
		return;
	if (!is_awaited(n))
		n->failures = 0;
	if (!n->failures && !n->reopened)
		no_trouble(n);
}

/* Other words than those the scheduler shows; told once, for it may have its own way to put them.
 */
static bool has_news(const struct fence_node *n)
{
	return !strstr(n->reason, n->why) && strcmp(n->told, n->why) != 0;
}

static enum fence_act act_to_close(const struct fence *f, const struct fence_node *n)
{
	const struct fence_view *v = &n->view;

	if (n->must_not)
		return ACT_NONE;
	if (v->state == FENCE_OPEN)
		return ACT_CLOSE;
	if (!v->ours || v->rebooting)
		return ACT_NONE;
	/* closed anew, it forgets that it was restarted: so it can be once more */
	if (n->want == WANT_CLOSED && (v->rebooted || has_news(n)))
		return ACT_CLOSE;
	if (v->state == FENCE_CLOSING)
		return n->move != FENCE_WAIT && n->movable ? ACT_MOVE : ACT_NONE;
	return n->want == WANT_REBOOT && f->can_reboot && !v->rebooted ? ACT_REBOOT : ACT_NONE;
}

static enum fence_act act_of(const struct fence *f, const struct fence_node *n, int64_t now)
{
	const struct fence_view *v = &n->view;

	if (v->state == FENCE_UNASKED || v->state == FENCE_ABSENT || v->at < n->acted ||
		now < n->retry_at)
		return ACT_NONE;
	if (is_to_close(n))
		return act_to_close(f, n);
	if (n->want != WANT_OPEN || !v->ours || n->opened)
		return ACT_NONE;
	if (v->rebooting)
		return n->may_stay ? ACT_STAY : ACT_NONE;
	return is_unheard(n) ? ACT_NONE : ACT_OPEN;
}

/* Those who can go into one command with the first. */
static bool goes_with(const struct fence_node *a, const struct fence_node *b)
{
	return !a->alone && !b->alone && a->move == b->move && strcmp(a->why, b->why) == 0;
}

static enum fence_act choose(struct fence *f, int64_t now)
{
	enum fence_act act = ACT_NONE;
	size_t first = 0, most = 0;

	f->n_batch = 0;
	for (size_t i = 0; i < f->n; i++) {
		const size_t at = (f->cursor + i) % f->n;
		const enum fence_act due = act_of(f, &f->nodes[at], now);

		if (due == ACT_NONE || !f->ops->batch[due])
			continue;
		if (!f->n_batch) {
			act = due;
			first = at;
			most = f->ops->batch[due];
		} else if (due != act || !goes_with(&f->nodes[first], &f->nodes[at])) {
			continue;
		}
		f->batch[f->n_batch++] = at;
		if (f->n_batch == most)
			break;
	}
	if (f->n_batch)
		f->cursor = (f->batch[f->n_batch - 1] + 1) % f->n;
	return act;
}

static void batch_look(struct fence *f)
{
	const size_t most = f->ops->batch[ACT_LOOK];

	f->n_batch = 0;
	for (size_t i = f->look_from; i < f->n && f->n_batch < most; i++)
		f->batch[f->n_batch++] = i;
}

/* Nodes that are being closed and whose jobs were not counted since the last look. */
static bool batch_jobs(struct fence *f)
{
	f->n_batch = 0;
	for (size_t i = 0; i < f->n && f->n_batch < f->ops->batch[ACT_JOBS]; i++) {
		const struct fence_node *n = &f->nodes[(f->cursor + i) % f->n];

		if (n->busy && n->view.ours)
			f->batch[f->n_batch++] = (f->cursor + i) % f->n;
	}
	return f->n_batch > 0;
}

/* For a shell at the other end of ssh, which would split it at blanks. */
static const char *quoted(struct arena *a, const char *word)
{
	AUTO_BUF out;

	buf_init(&out, 5 * strlen(word) + 3);
	buf_add_char(&out, '\'');
	for (const char *p = word; *p; p++)
		if (*p == '\'')
			buf_add_text(&out, "'\\''");
		else
			buf_add_char(&out, *p);
	buf_add_char(&out, '\'');
	return arena_text(a, buf_str(&out));
}

static void fill_argv(struct fence *f, enum fence_act act, struct words *out)
{
	const char *const *prefix = f->opts.kind == FENCE_COMMAND ? NULL : f->opts.prefix;
	bool remote = false;

	for (size_t i = 0; prefix && prefix[i]; i++) {
		const char *slash = strrchr(prefix[i], '/');

		remote = remote || (i == 0 && strcmp(slash ? slash + 1 : prefix[i], "ssh") == 0);
		fence_push(out, prefix[i]);
	}
	const size_t from = out->n;
	f->ops->argv(f, act, out);
	f->called = out->at[from];
	for (size_t i = from; remote && i < out->n; i++)
		out->at[i] = quoted(f->scratch, out->at[i]);
	fence_push(out, NULL);
}

static int start(struct fence *f, enum fence_act act, int64_t now)
{
	struct words argv = VEC_INIT;
	struct err err = {0};

	arena_free(f->scratch);
	f->scratch = arena_new();
	f->env.at[f->env.n - 2] = arena_printf(
		f->scratch, "STOIKA_FENCE_WHY=%s", f->n_batch ? f->nodes[f->batch[0]].why : "");
	for (size_t i = 0; act >= ACT_CLOSE && i < f->n_batch; i++) {
		struct fence_node *n = &f->nodes[f->batch[i]];

		memcpy(n->asked, n->why, sizeof n->asked);
	}
	fill_argv(f, act, &argv);
	f->act = act;
	f->started = now;
	const int64_t most = f->opts.program_timeout ? f->opts.program_timeout : PROGRAM_TIME;
	const int rc = program_start(&f->program, argv.at, f->env.at, now + most, &err);
	vec_done(&argv);
	if (!rc)
		return 0;
	f->act = ACT_NONE;
	fence_keep(f->silent, sizeof f->silent, str_of(err.msg));
	f->look_at = now + LOOK_SOON;
	return rc;
}

/* --- what came of a program --- */

/* The last lines of what it said, for people. */
static void add_tail(struct buf *out, struct str text)
{
	text = str_trim(text);
	size_t from = text.n;
	for (int lines = 0; from > 0; from--)
		if (text.p[from - 1] == '\n' && ++lines == TAIL_LINES)
			break;
	struct str rest = str_from(text, from), line;
	for (const char *sep = ": "; str_line(&rest, &line); sep = "; ") {
		buf_add_text(out, sep);
		buf_add_printable(out, str_trim(line));
	}
}

static void say_failure(const struct fence *f, struct buf *out)
{
	const struct program *p = &f->program;
	char span[24];

	if (p->stopped) {
		clock_format_span(
			f->opts.program_timeout ? f->opts.program_timeout : PROGRAM_TIME, span);
		buf_addf(out, "'%s' did not answer within %s", f->called, span);
	} else if (p->cut) {
		buf_addf(out, "'%s' printed more than %u MiB", f->called, PROGRAM_OUT_MAX >> 20);
	} else {
		buf_addf(out, "'%s' failed with status %d", f->called, p->status);
	}
	add_tail(out, p->err.n ? buf_str(&p->err) : str_first(buf_str(&p->out), WORD_MAX));
}

/* The scheduler did not name it. */
static void leave_out(struct fence_node *n, int64_t at)
{
	const int64_t since = n->view.trouble_since;

	n->reason[0] = n->by[0] = 0;
	if (n->near[0])
		snprintf(n->reason, sizeof n->reason, "it has a node '%.200s'", n->near);
	n->busy = false;
	n->view = (struct fence_view){.state = FENCE_ABSENT,
		.reason = n->reason,
		.by = n->by,
		.trouble = n->trouble,
		.trouble_since = since,
		.at = at};
}

static void after_look(struct fence *f, int64_t now)
{
	for (size_t i = 0; i < f->n_batch; i++) {
		struct fence_node *n = &f->nodes[f->batch[i]];

		if (!n->seen)
			leave_out(n, f->started);
		n->seen = false;
	}
	f->look_from += f->n_batch;
	if (f->look_from < f->n)
		return;
	bool awaited = false;
	for (size_t i = 0; i < f->n; i++) {
		struct fence_node *n = &f->nodes[i];

		follow_owner(n, now);
		explain(f, n, now);
		awaited = awaited || is_awaited(n);
	}
	f->look_from = 0;
	f->heard = true;
	f->seen_at = now;
	const int64_t every = f->opts.look_every ? f->opts.look_every
			      : awaited          ? LOOK_SOON
						 : LOOK_IDLE;
	f->look_at = now + every;
}

/* Asked for something, it did not print what was expected. */
static void fall_silent(struct fence *f, const char *words, int64_t now)
{
	fence_keep(f->silent, sizeof f->silent, str_of(words));
	f->look_from = 0;
	f->look_at = now + (f->opts.look_every ? f->opts.look_every : LOOK_SOON);
}

static void after_reading(struct fence *f, bool good, int64_t now)
{
	AUTO_BUF words;
	struct err err = {0};

	buf_init(&words, sizeof f->silent);
	for (size_t i = 0; f->act == ACT_JOBS && i < f->n_batch; i++)
		f->nodes[f->batch[i]].busy = false;
	if (!good)
		say_failure(f, &words);
	else if (f->ops->read(f, f->act, buf_str(&f->program.out), f->started, &err))
		buf_addf(&words, "what '%s' printed cannot be read: %s", f->called, err.msg);
	if (words.n) {
		fall_silent(f, buf_text(&words), now);
		return;
	}
	f->silent[0] = 0;
	if (f->act == ACT_ABOUT)
		f->knows_about = true;
	if (f->act == ACT_LOOK)
		after_look(f, now);
}

static void note_success(struct fence *f, struct fence_node *n, int64_t now)
{
	n->failures = 0;
	n->alone = false;
	n->retry_at = f->act == ACT_MOVE ? now + AFTER_MOVE : 0;
	if (f->act == ACT_OPEN)
		n->opened = true;
	if (f->act != ACT_CLOSE && f->act != ACT_REBOOT)
		return;
	if (f->act == ACT_REBOOT)
		fence_keep(n->gone, sizeof n->gone, str_of(n->daemon));
	n->opened = false;
	memcpy(n->told, n->asked, sizeof n->told);
}

static void note_failure(struct fence *f, struct fence_node *n, struct buf *words, int64_t now)
{
	if (f->n_batch > 1) {
		n->alone = true;
		return;
	}
	if (f->ops->explain && !f->ops->explain(f, n, buf_str(&f->program.err), words))
		return;
	n->retry_at = now + (RETRY << (n->failures < 5 ? n->failures : 5));
	n->failures++;
	fence_trouble(n, now, "%s", buf_text(words));
}

static void after_act(struct fence *f, bool good, int64_t now)
{
	AUTO_BUF words;

	buf_init(&words, sizeof f->silent);
	if (!good)
		say_failure(f, &words);
	for (size_t i = 0; i < f->n_batch; i++) {
		struct fence_node *n = &f->nodes[f->batch[i]];

		n->acted = now;
		if (good)
			note_success(f, n, now);
		else
			note_failure(f, n, &words, now);
	}
	f->look_from = 0;
	f->look_at = now;
}

/* What it says is worth having; that it says nothing is no matter. */
static void after_why(struct fence *f, bool good)
{
	if (good)
		f->ops->read(f, f->act, buf_str(&f->program.out), f->started, NULL);
}

static void reap(struct fence *f, int64_t now)
{
	const struct program *p = &f->program;
	const bool good = !p->stopped && !p->cut && p->status == 0;

	if (f->act == ACT_WHY)
		after_why(f, good);
	else if (f->act <= ACT_JOBS)
		after_reading(f, good, now);
	else
		after_act(f, good, now);
	f->act = ACT_NONE;
}

/* An act that is due and for which we know enough; false: first look. */
static bool begin_act(struct fence *f, int64_t now)
{
	if (!f->heard || f->silent[0] || f->look_from)
		return false;
	const enum fence_act act = choose(f, now);
	if (act == ACT_NONE)
		return false;
	if (now - f->seen_at > FRESH) {
		f->look_at = now;
		return false;
	}
	return !start(f, act, now);
}

static bool begin_why(struct fence *f, int64_t now)
{
	for (size_t i = 0; f->ops->batch[ACT_WHY] && i < f->n; i++) {
		if (!f->nodes[i].ask_why)
			continue;
		f->batch[0] = i;
		f->n_batch = 1;
		f->nodes[i].ask_why = false;
		return !start(f, ACT_WHY, now);
	}
	return false;
}

static void begin_next(struct fence *f, int64_t now)
{
	/* wanted since the last look: what comes of it is not waited for as long as nothing is */
	if (f->hurried && f->look_at > f->seen_at + LOOK_SOON)
		f->look_at = f->seen_at + LOOK_SOON;
	f->hurried = false;
	f->n_batch = 0;
	if (begin_act(f, now) || begin_why(f, now))
		return;
	f->n_batch = 0;
	if (f->heard && !f->silent[0] && !f->look_from && f->ops->batch[ACT_JOBS] &&
		batch_jobs(f)) {
		start(f, ACT_JOBS, now);
	} else if (f->look_from) {
		batch_look(f);
		start(f, ACT_LOOK, now);
	} else if (now >= f->look_at) {
		const bool about = !f->knows_about && f->ops->batch[ACT_ABOUT];

		batch_look(f);
		start(f, about ? ACT_ABOUT : ACT_LOOK, now);
	}
}

void fence_tick(struct fence *f, int64_t now)
{
	if (!f->ops || !f->n) {
		for (size_t i = 0; i < f->n; i++)
			f->nodes[i].view.at = now;
		return;
	}
	if (program_runs(&f->program)) {
		if (!program_poll(&f->program, now))
			return;
		reap(f, now);
	}
	begin_next(f, now);
}
