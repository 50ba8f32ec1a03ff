/* serve - one session from greeting to final frame, or to the end of the link when the order stays.
 */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "agent/evidence/evidence.h"
#include "agent/facts/facts.h"
#include "agent/run/journal.h"
#include "agent/run/secret.h"
#include "agent/run/session_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE_MAX 4096
#define STAT_MAX     1024
#define START_FIELD  20 /* of /proc/self/stat, counted from the one behind the name */

static void send_refused(struct session *s, struct err *err)
{
	AUTO_JSON m = message_new("refused");

	redact_line(s->redact, err->msg, sizeof err->msg);
	redact_line(s->redact, err->hint, sizeof err->hint);
	json_put_str(m, "code", ec_name(err->code));
	json_put_str(m, "message", err->msg);
	if (err->hint[0])
		json_put_str(m, "hint", err->hint);
	channel_send(&s->channel, m);
}

/* Tells a recycled process number from the process that took the lock. */
static int64_t process_start(void)
{
	AUTO_FD fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[STAT_MAX];
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	struct str rest, field = {NULL, 0};
	int64_t v = 0;

	text[n > 0 ? n : 0] = '\0';

	const char *name_end = strrchr(text, ')');

	rest = name_end ? str_from(str_of(name_end), 2) : str_of("");
	for (int i = 0; i < START_FIELD; i++)
		if (!str_next(&rest, ' ', &field))
			return 0;
	return str_to_i64(field, &v) ? v : 0;
}

json_t *session_holder(const struct session *s)
{
	json_t *holder = json_object();

	json_put_str(holder, "run", s->order.run);
	json_put_str(holder, "by", s->order.by);
	json_put_str(holder, "boot_id", s->boot_id);
	json_put_int(holder, "pid", getpid());
	json_put_int(holder, "pid_start", process_start());
	json_put_int(holder, "since", clock_wall() / CLOCK_SEC);
	return holder;
}

/* --- what run_execute calls --- */

static void on_event(void *ctx, const json_t *record)
{
	struct session *s = ctx;

	channel_send_event(&s->channel, record);
}

static bool on_cancelled(void *ctx)
{
	struct session *s = ctx;
	struct frame f;
	char c;

	if (s->orders >= 0)
		s->cancelled = s->cancelled || recv(s->orders, &c, 1, MSG_DONTWAIT) == 1;
	else
		while (!s->cancelled && channel_peek(&s->channel, &f, NULL) == 1)
			s->cancelled = channel_is_message(&f, "cancel");
	channel_keep_alive(&s->channel);
	return s->cancelled;
}

/* What the controller knows from the final before is not said again. */
static void shorten(const struct session *s, json_t *m)
{
	static const char *const always[] = {"took_us", "process_us", NULL};
	static const char *const same[] = {"counts", "plan_hash", NULL};

	if (!s->again)
		return;
	for (const char *const *k = always; *k; k++)
		json_object_del(m, *k);
	for (const char *const *k = same; *k; k++)
		if (s->last && json_equal(json_get(m, *k), json_get(s->last, *k)))
			json_object_del(m, *k);
}

void session_send_final(struct session *s, const struct run_outcome *out)
{
	AUTO_JSON m = message_new("final");
	json_t *whole;

	json_put_str(m, "run", s->order.run);
	json_put_str(m, "state", result_name(out->state));
	json_object_set_new(m, "counts", result_counts_json(&out->counts));
	if (out->plan_hash[0])
		json_put_str(m, "plan_hash", out->plan_hash);
	if (out->reason[0])
		json_put_str(m, "reason", out->reason);
	if (out->hint[0])
		json_put_str(m, "hint", out->hint);
	json_put_int(m, "took_us", out->took / 1000);
	json_put_int(m, "cpu_us", out->cpu / 1000);
	json_put_int(m, "process_us", run_cpu() / 1000);
	whole = json_copy(m);
	shorten(s, m);
	channel_send(&s->channel, m);
	json_decref(s->last);
	s->last = whole;
}

static int execute(struct session *s, struct run_outcome *out, struct err *err)
{
	const struct run_env env = {.root = s->root,
		.root_path = s->opts->root,
		.state = s->state,
		.bundle = s->bundle,
		.self = s->opts->self,
		.boot_id = s->boot_id,
		.ctx = s,
		.event = on_event,
		.before_change = s->channel.in < 0 ? NULL : relay_leave,
		.cancelled = on_cancelled,
		.papers = s->papers,
		.redact = s->redact,
		.resumed_by = s->resumed_by,
		.memory = s->memory,
		.unlisted = s->again};
	const int rc = run_execute(&env, &s->order, out, err);

	if (rc == 0 && !out->rebooting)
		session_send_final(s, out);
	return rc < 0 ? rc : 0;
}

int session_run(struct session *s, struct run_outcome *out, struct err *err)
{
	AUTO_JSON holder = session_holder(s);
	AUTO_JSON other = NULL;
	struct run_outcome own;
	int rc = journal_lock(s->state, holder, &s->lock, &other, err);

	if (s->order.stay && !s->memory)
		s->memory = run_memory_new();
	if (rc == 0 && !s->bundle)
		rc = reception_open_bundle(s, err);
	if (rc == 0)
		rc = execute(s, out ? out : &own, err);
	mem_close_fd(&s->lock);
	s->lock = -1;
	return rc;
}

static int obey_facts(struct session *s)
{
	const struct facts_env env = {.root = s->root, .self = s->opts->self};
	AUTO_JSON m = message_new("facts");
	struct run_outcome out = {.state = RESULT_OK};
	const int64_t started = clock_mono(), cpu = run_cpu();

	json_object_set_new(m, "facts", facts_all(&env));
	channel_send(&s->channel, m);
	out.took = clock_mono() - started;
	out.cpu = run_cpu() - cpu;
	session_send_final(s, &out);
	return 0;
}

/* Redacted with what secrets the order brought along. */
static void on_evidence(void *ctx, const char *name, struct str text)
{
	struct session *s = ctx;
	AUTO_JSON m = NULL;
	AUTO_BUF safe = {0};

	channel_keep_alive(&s->channel);
	if (!name)
		return;
	buf_init(&safe, 2 * EVIDENCE_TEXT_MAX);
	redact_text(s->redact, text, &safe);
	m = message_new("evidence");
	json_put_str(m, "name", name);
	json_put_text(m, "text", buf_str(&safe));
	channel_send(&s->channel, m);
}

static int obey_evidence(struct session *s)
{
	const struct evidence_env env = {.root = s->root,
		.root_path = s->opts->root,
		.state = s->state,
		.self = s->opts->self,
		.give = on_evidence,
		.ctx = s};
	struct run_outcome out = {.state = RESULT_OK};
	const int64_t started = clock_mono(), cpu = run_cpu();

	evidence_gather(&env);
	out.took = clock_mono() - started;
	out.cpu = run_cpu() - cpu;
	session_send_final(s, &out);
	return 0;
}

static int obey_rekey(struct session *s, struct err *err)
{
	struct run_outcome out = {.state = RESULT_OK};
	bool changed;
	const int rc = rekey_obey(s, &changed, err);

	if (rc < 0)
		return rc;
	out.state = changed ? RESULT_CHANGED : RESULT_OK;
	session_send_final(s, &out);
	return 0;
}

static int obey(struct session *s, struct err *err)
{
	switch (s->order.mode) {
	case ORDER_FACTS:
		return obey_facts(s);
	case ORDER_ATTACH:
		return attach_run(s, err);
	case ORDER_RESUME:
		return resume_obey(s, err);
	case ORDER_REKEY:
		return obey_rekey(s, err);
	case ORDER_UNDO:
	case ORDER_PLAN:
	case ORDER_APPLY:
	case ORDER_CHECK:
	case ORDER_STAGE:
		break;
	case ORDER_EVIDENCE:
		return obey_evidence(s);
	}
	return session_run(s, NULL, err);
}

/* --- life of a session --- */

static int open_folder(const char *path, int *fd, struct err *err)
{
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? err_sys(err, errno, "cannot open the folder '%s'", path) : 0;
}

int session_read_key(const char *path, struct sign_key **key, struct err *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[KEY_FILE_MAX];
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	int rc;

	if (n < 0) {
		err_sys(err, errno, "cannot read the controller's key '%s'", path);
		return err_hint(err, "stoika agent install NODE puts it there");
	}
	rc = sign_key_parse_public(str_trim((struct str){text, (size_t)n}), key, err);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

int session_open(struct session *s, struct err *err)
{
	int rc;

	if (mkdir(s->opts->state, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", s->opts->state);
	if ((rc = open_folder(s->opts->root, &s->root, err)) < 0 ||
		(rc = open_folder(s->opts->state, &s->state, err)) < 0)
		return rc;
	if (mkdirat(s->state, "bundles", 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder of the bundles");
	s->bundles = openat(s->state, "bundles", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->bundles < 0)
		return err_sys(err, errno, "cannot open the folder of the bundles");
	rc = session_read_key(s->opts->key, &s->key, err);
	s->store = (struct bundle_store){.dirfd = s->bundles, .key = s->key};
	return rc;
}

void session_close(struct session *s)
{
	bundle_close(s->bundle);
	order_done(&s->order);
	json_drop(&s->papers);
	json_drop(&s->last);
	redact_free(s->redact);
	run_memory_free(s->memory);
	sign_key_free(s->key);
	mem_close_fd(&s->lock);
	mem_close_fd(&s->bundles);
	mem_close_fd(&s->state);
	mem_close_fd(&s->root);
	mem_close_fd(&s->orders);
	channel_done(&s->channel);
	arena_free(s->arena);
}

/* While the order says so: other orders, or the same once more, until the other side ends. */
static int stay(struct session *s, bool *broken, struct err *err)
{
	int rc = 0;

	while (rc == 0 && s->order.stay && !s->channel.dead && !s->channel.ended) {
		s->cancelled = false;
		rc = order_await_next(s, broken, err);
		if (rc <= 0)
			return rc;
		rc = obey(s, err);
	}
	return rc;
}

/* Negative: refuse. *broken: the link is no use for that, or there is nobody to tell. */
static int converse(struct session *s, bool *broken, struct err *err)
{
	int rc = session_open(s, err);

	if (rc < 0)
		return rc;
	greeting_read_ids(s);
	if ((rc = greeting_send(s, err)) < 0)
		return rc;
	rc = order_receive(s, broken, err);
	if (rc == 0) {
		*broken = true;
		return err_set(err, E_NET, "the controller left without an order");
	}
	if (rc > 0)
		rc = obey(s, err);
	return rc < 0 ? rc : stay(s, broken, err);
}

int session_serve(const struct session_opts *o, struct err *err)
{
	struct session s = {
		.opts = o, .root = -1, .state = -1, .bundles = -1, .lock = -1, .orders = -1};
	bool broken = false;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	secret_guard();
	s.arena = arena_new();
	channel_init(&s.channel, o->in, o->out);
	channel_send_bytes(&s.channel, STR_LIT(WIRE_MAGIC));
	rc = converse(&s, &broken, err);
	if (rc < 0)
		redact_line(s.redact, err->msg, sizeof err->msg);
	if (rc < 0 && !broken) {
		send_refused(&s, err);
		rc = 0;
	}
	session_close(&s);
	return rc;
}
