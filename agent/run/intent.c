/*
 * intent - what is about to be done, durable before it is: notify and intent records with what
 * was there before. Bytes are kept only for a run's first change of a thing, since that is what
 * undo brings back; and never when they hold a secret.
 */
#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/run/before.h"
#include "agent/run/run_priv.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ARGS_MAX (256u << 10) /* of an intent's arguments; past it long texts are left out */
#define LONG_MIN 1024
#define BLOB_MAX (64u << 20)

/* --- leaving the session --- */

int intent_leave(struct execution *x, struct err *err)
{
	int rc = 0;

	if (x->begun)
		return 0;
	if (x->env->before_change) {
		const int64_t before = run_cpu();

		rc = x->env->before_change(x->env->ctx, err);
		x->cpu_start -= before - run_cpu(); /* a new process starts its own count */
	}
	if (rc > 0)
		x->stop = STOP_ELSEWHERE;
	x->begun = rc == 0;
	return rc;
}

/* --- what there was before --- */

int intent_open_blobs(struct execution *x, struct err *err)
{
	if (x->blobs < 0)
		x->blobs = before_open_blobs(x->env->state, err);
	return x->blobs < 0 ? x->blobs : 0;
}

int intent_load_changed(struct execution *x, json_t **doc, struct err *err)
{
	const int rc =
		x->changed ? 0 : before_load(x->env->state, x->recipe->name, &x->changed, err);

	*doc = x->changed;
	return rc;
}

/* The kept bytes are a secret's: then they are not kept. */
static bool drop_secret_blob(struct execution *x, const char *hash)
{
	AUTO_BUF bytes = {0};
	bool holds;

	buf_init(&bytes, BLOB_MAX + 1);
	if (x->blobs < 0 || fs_read(x->blobs, hash, &bytes, NULL) < 0)
		return false;
	holds = redact_holds(x->env->redact, buf_str(&bytes));
	if (holds)
		(void)unlinkat(x->blobs, hash, 0);
	explicit_bzero(bytes.p, bytes.n);
	return holds;
}

static bool names_secret_blob(struct execution *x, json_t *v)
{
	bool found = json_is_string(v) && hash_is_hex(json_string_value(v)) &&
		     drop_secret_blob(x, json_string_value(v));
	const char *key;
	json_t *one;
	size_t i;

	json_array_foreach(v, i, one) found |= names_secret_blob(x, one);
	json_object_foreach(v, key, one) found |= names_secret_blob(x, one);
	return found;
}

json_t *intent_hide(struct execution *x, json_t *v)
{
	json_t *hidden;
	bool holds;

	if (!v || !x->env->redact)
		return v;
	holds = names_secret_blob(x, v); /* whatever the rest says: its bytes must go */
	if (!redact_json_holds(x->env->redact, v) && !holds)
		return v;
	json_decref(v);
	hidden = json_object();
	json_put_bool(hidden, BEFORE_HIDDEN, true);
	return hidden;
}

static void drop_long(json_t *args)
{
	const char *key;
	json_t *v;

	json_object_foreach(args, key, v)
	{
		if (json_string_length(v) >= LONG_MIN)
			json_object_set_new(args, key, json_null());
	}
}

/* What goes into a file that only its owner may read is for nobody else either. */
static bool is_private(const struct execution *x, const struct task *t)
{
	struct stat st;
	unsigned mode;

	if (sscanf(json_get_str(t->args, "mode", ""), "%o", &mode) == 1)
		return !(mode & 077);
	return fs_stat(x->step_env.root, json_get_str(t->args, "path", ""), false, &st, NULL) ==
		       0 &&
	       !(st.st_mode & 077);
}

/* As undo will see them: secrets are null, and what is too long for a line of the journal too. */
static json_t *args_to_keep(const struct execution *x, const struct task *t)
{
	json_t *args = redact_json_nulls(x->env->redact, t->args);
	AUTO_BUF text;

	for (unsigned i = 0; i < t->step->n_args; i++)
		if (t->step->args[i].secret)
			json_object_set_new(args, t->step->args[i].param->name, json_null());
	if (json_get(args, "content") && is_private(x, t))
		json_object_set_new(args, "content", json_null());
	buf_init(&text, ARGS_MAX);
	json_write(args, &text);
	if (!buf_ok(&text))
		drop_long(args);
	return args;
}

static void put_notify(json_t *record, const struct step *s)
{
	json_t *names;

	if (s->n_notify == 0)
		return;
	names = json_array();
	for (unsigned i = 0; i < s->n_notify; i++)
		json_array_append_new(names, json_string(s->notify[i]));
	json_object_set_new(record, "notify", names);
}

/* Only a run's first change of a thing needs what was there before. */
static int put_before(struct execution *x, struct task *t, json_t *record, struct err *err)
{
	json_t *doc, *entry, *before = NULL;
	int rc = intent_load_changed(x, &doc, err);

	if (rc < 0 || !t->ops->before)
		return rc;
	entry = before_find(doc, record);
	if (entry && before_has_run(entry, x->order->run))
		return 0;
	rc = intent_open_blobs(x, err);
	if (rc == 0)
		rc = task_describe(x, t, x->blobs, &before, err);
	if (rc < 0)
		return err_wrap(err, "the state before cannot be kept");
	before = intent_hide(x, before);
	if (before)
		json_object_set_new(record, "before", before);
	return 0;
}

/* A handler is remembered when its kind can bring something back; most only restart. */
static int make(struct execution *x, struct task *t, json_t **out, struct err *err)
{
	json_t *record = steps_record(x, t, "intent");
	int rc = 0;

	json_put_str(record, "boot_id", x->env->boot_id);
	if (!x->of) {
		json_object_set_new(record, "args", args_to_keep(x, t));
		put_notify(record, t->step);
		rc = put_before(x, t, record, err);
		if (t->is_handler && !json_get(record, "before"))
			json_object_del(record, "args");
	}
	if (rc < 0)
		json_decref(record);
	else
		*out = record;
	return rc;
}

void intent_put_after(struct execution *x, json_t *record, struct task *t)
{
	json_t *after = NULL;

	if (!t->begun || t->is_handler || x->of)
		return;
	if (task_describe(x, t, -1, &after, NULL) < 0)
		return;
	after = intent_hide(x, after);
	if (after && json_get(after, BEFORE_HIDDEN))
		json_decref(after);
	else if (after)
		json_object_set_new(record, "after", after);
}

static int write_one(struct execution *x, struct task *t, bool last, struct err *err)
{
	json_t *record = NULL;
	int rc = make(x, t, &record, err);

	if (rc < 0)
		return rc;
	rc = events_write(x, record, last, err);
	t->begun = rc == 0;
	return rc;
}

int intent_begin(struct execution *x, struct task *const *tasks, unsigned n, struct err *err)
{
	int rc = intent_leave(x, err);

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = due_notify(x, tasks[i]->step, err);
	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = write_one(x, tasks[i], i + 1 == n, err);
	return rc;
}
