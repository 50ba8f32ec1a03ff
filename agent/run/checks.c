/* checks - the recipe's validator: each expectation true, within its time. */
#include "agent/run/run_priv.h"

#include <stdio.h>

#define POLL (CLOCK_SEC / 2)

/* The expression as written, for messages. */
static struct str expectation(const struct recipe_check *c)
{
	const struct yaml_node *at = yaml_get(c->at, "expect");

	return at && at->kind == YAML_SCALAR ? at->text : str_of(c->name);
}

static void tell(struct execution *x, const struct recipe_check *c, enum step_result result,
	const struct err *err)
{
	json_t *record = events_new(x, "check");

	json_put_str(record, "name", c->name);
	if (c->id)
		json_put_str(record, "id", c->id);
	if (c->level == CHECK_WARN)
		json_put_str(record, "level", "warn");
	events_put_error(record, err);
	json_put_str(record, "state", result_name(result));
	events_add(x, record);
}

/* The recipe's own words into words; what they cannot be made of is told in their place. */
static void render(struct execution *x, const struct template *t, struct buf *words)
{
	const char *unknown = NULL;
	struct err err = {0};

	if (template_render(t, &x->scope, words, &unknown, &err) < 0)
		buf_add_text(words, err.msg);
	else if (unknown)
		buf_addf(words, "it cannot be told: %s", unknown);
}

static void say(struct execution *x, const struct recipe_check *c, struct err *err)
{
	AUTO_BUF words;

	buf_init(&words, sizeof err->msg - 1);
	if (c->message) {
		render(x, c->message, &words);
		snprintf(err->msg, sizeof err->msg, "%s", buf_text(&words));
	}
	buf_clear(&words);
	if (c->hint) {
		render(x, c->hint, &words);
		snprintf(err->hint, sizeof err->hint, "%s", buf_text(&words));
	}
}

static void fail(struct execution *x, const struct recipe_check *c, const struct err *err)
{
	char what[160];

	if (c->level == CHECK_WARN) {
		tell(x, c, RESULT_OK, err);
		return;
	}
	snprintf(what, sizeof what, "check '%s'", c->name);
	tell(x, c, events_result(err), err);
	if (x->order->mode == ORDER_CHECK && err->code != E_CANCELLED)
		events_note(
			x, what, err); /* who only looks wants to hear of the other recipes too */
	else
		events_stop(x, what, err);
}

/* In seconds. Only a run that may have started something waits for it; a mere look does not. */
static unsigned patience(const struct execution *x, const struct recipe_check *c)
{
	if (x->dry)
		return 0;
	return x->env->impatient && c->within > 1 ? 1 : c->within;
}

/* What is waited for may be a fact: GPUs that train their fabric. Facts that were given stay. */
static void look_anew(struct execution *x)
{
	if (!x->env->facts)
		json_object_clear(x->facts);
	step_cache_forget(x->cache);
}

/* 1: true, 0: false to the end; negative: it cannot be evaluated. */
static int wait_for(
	struct execution *x, const struct recipe_check *c, const char **unknown, struct err *err)
{
	const int64_t until = clock_mono() + (int64_t)patience(x, c) * CLOCK_SEC;

	for (;;) {
		bool yes = false;
		const int rc = expr_eval_bool(c->expect, &x->scope, &yes, unknown, err);

		if (rc < 0)
			return rc;
		if (*unknown || yes)
			return yes && !*unknown;
		if (clock_mono() >= until)
			return 0;
		if (x->env->cancelled && x->env->cancelled(x->env->ctx))
			return err_set(err, E_CANCELLED, "cancelled while waiting for it");
		clock_sleep(POLL);
		look_anew(x);
	}
}

/* 1: it is asked, 0: its 'when' is false; negative: that cannot be evaluated. */
static int is_asked(
	struct execution *x, const struct recipe_check *c, const char **unknown, struct err *err)
{
	bool yes = true;
	const int rc = c->when ? expr_eval_bool(c->when, &x->scope, &yes, unknown, err) : 0;

	return rc < 0 ? rc : yes || *unknown;
}

static void run_check(struct execution *x, const struct recipe_check *c)
{
	const char *unknown = NULL;
	const struct str text = expectation(c);
	struct err err;
	int rc = is_asked(x, c, &unknown, &err);

	if (rc == 0)
		return;
	if (rc > 0 && !unknown)
		rc = wait_for(x, c, &unknown, &err);
	else if (rc > 0)
		rc = 0;
	if (rc == 1)
		return;
	if (rc < 0) {
		fail(x, c, &err);
	} else if (unknown) {
		err_set(&err, E_STATE, "%s", world_unknown_why(x, unknown));
		tell(x, c, RESULT_UNKNOWN, &err);
		events_count(x, RESULT_UNKNOWN);
	} else {
		if (patience(x, c) == 0)
			err_set(&err, E_STATE, "'" STR_FMT "' is false", STR_ARG(text));
		else
			err_set(&err, E_STATE, "'" STR_FMT "' is still false after %u s",
				STR_ARG(text), patience(x, c));
		say(x, c, &err);
		fail(x, c, &err);
	}
}

/* All are asked, also after one has failed: the verdict lists every failure. */
void checks_run(struct execution *x)
{
	for (unsigned i = 0; i < x->recipe->n_checks && x->stop != STOP_CANCELLED; i++)
		run_check(x, &x->recipe->checks[i]);
}
