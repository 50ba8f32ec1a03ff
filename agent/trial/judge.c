/* judge - what came of a run of a case, against what is written. */
#include "agent/trial/tree.h"
#include "agent/trial/trial_priv.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- judging --- */

static bool same_state(const char *want, const char *is)
{
	return strcmp(want, is) == 0 || (strcmp(want, "ok") == 0 && strcmp(is, "skipped") == 0);
}

/* parts: one text or a list; yes: each must be in text, else none may be. */
static void want_parts(struct trial *c, const char *stage, const char *what, json_t *parts,
	const char *text, bool yes)
{
	AUTO_JSON list = json_is_string(parts) ? json_pack("[O]", parts) : json_incref(parts);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *part = json_string_value(json_array_get(list, i));

		if (!part || (strstr(text, part) != NULL) != yes)
			trial_complain(c, stage, "%s %s '%s':\n%s", what,
				yes ? "does not say" : "must not say", part ? part : "?", text);
	}
}

static const json_t *find_event(const struct trial *c, const char *ev, const char *key,
	const json_t *value, const char *recipe)
{
	const json_t *record;
	size_t i;

	json_array_foreach(c->events, i, record)
	{
		if (strcmp(json_get_str(record, "ev", ""), ev) == 0 &&
			json_equal(json_get(record, key), value) &&
			(!recipe || strcmp(json_get_str(record, "recipe", ""), recipe) == 0))
			return record;
	}
	return NULL;
}

static void judge_steps(struct trial *c, const char *stage, const json_t *steps)
{
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *want = json_array_get(steps, i);
		const json_t *is = find_event(c, "step", "step", json_get(want, "step"),
			json_get_str(want, "recipe", NULL));
		const char *state = json_get_str(want, "state", NULL);
		char what[64];

		snprintf(what, sizeof what, "step %lld", (long long)json_get_int(want, "step", 0));
		if (state && !same_state(state, is ? json_get_str(is, "state", "") : "ok"))
			trial_complain(c, stage, "%s is '%s', not '%s'", what,
				is ? json_get_str(is, "state", "") : "ok", state);
		want_parts(
			c, stage, what, json_get(want, "why"), json_get_str(is, "why", ""), true);
		want_parts(
			c, stage, what, json_get(want, "hint"), json_get_str(is, "hint", ""), true);
		want_parts(
			c, stage, what, json_get(want, "diff"), json_get_str(is, "diff", ""), true);
		want_parts(c, stage, what, json_get(want, "not_diff"), json_get_str(is, "diff", ""),
			false);
	}
}

static void judge_handlers(struct trial *c, const char *stage, json_t *handlers)
{
	const char *name;
	json_t *state;

	json_object_foreach(handlers, name, state)
	{
		AUTO_JSON key = json_string(name);
		const json_t *is = find_event(c, "handler", "handler", key, NULL);
		const char *now = is ? json_get_str(is, "state", "") : "not called";

		if (strcmp(now, json_string_value(state)) != 0)
			trial_complain(c, stage, "handler '%s' is '%s', not '%s'", name, now,
				json_string_value(state));
	}
}

/* Checks by name: true is fulfilled, false is told of, as a failure or as a warning. */
static void judge_checks(struct trial *c, const char *stage, json_t *checks)
{
	const char *name;
	json_t *want;

	json_object_foreach(checks, name, want)
	{
		AUTO_JSON key = json_string(name);
		const json_t *told = find_event(c, "check", "name", key, NULL);

		if (json_is_true(want) && told)
			trial_complain(c, stage, "check '%s' is false: %s", name,
				json_get_str(told, "why", ""));
		else if (!json_is_true(want) && !told)
			trial_complain(c, stage, "check '%s' is true", name);
	}
}

static unsigned count_calls(const struct trial *c, const char *begin)
{
	struct str rest = buf_str(&c->calls), line;
	unsigned n = 0;

	while (str_line(&rest, &line))
		n += str_starts(line, begin);
	return n;
}

static void judge_call(struct trial *c, const char *stage, const char *call, json_int_t times)
{
	if (count_calls(c, call) != times)
		trial_complain(c, stage, "'%s' ran %u times, not %lld; the calls are\n%s", call,
			count_calls(c, call), (long long)times, buf_text(&c->calls));
}

/* An item of ran: a call, or {call: times}. */
static void judge_calls(struct trial *c, const char *stage, const json_t *calls, bool never)
{
	for (size_t i = 0; i < json_array_size(calls); i++) {
		json_t *item = json_array_get(calls, i), *times;
		const char *call;

		if (json_is_string(item))
			judge_call(c, stage, json_string_value(item), never ? 0 : 1);
		json_object_foreach(item, call, times)
		{
			judge_call(c, stage, call, never ? 0 : json_integer_value(times));
		}
	}
}

void trial_judge(struct trial *c, const char *stage, const json_t *want)
{
	const char *state = json_get_str(want, "state", NULL);
	const char *is = result_name(c->out.state);

	if (state && !same_state(state, is))
		trial_complain(c, stage, "the run is '%s', not '%s': %s", is, state, c->out.reason);
	want_parts(c, stage, "the reason", json_get(want, "reason"), c->out.reason, true);
	want_parts(c, stage, "the hint", json_get(want, "hint"), c->out.hint, true);
	judge_steps(c, stage, json_get(want, "steps"));
	judge_handlers(c, stage, json_get(want, "handlers"));
	judge_checks(c, stage, json_get(want, "checks"));
	judge_calls(c, stage, json_get(want, "ran"), false);
	judge_calls(c, stage, json_get(want, "not_ran"), true);
}

void trial_judge_tree(struct trial *c, const char *stage, json_t *want)
{
	AUTO_JSON have = NULL;
	AUTO_BUF text;
	struct err err;

	buf_init(&text, 64u << 10);
	if (tree_snapshot(c->root, &have, &err) < 0)
		trial_complain(c, stage, "%s", err.msg);
	else if (tree_compare(want, have, json_get(c->doc, "ignore"), &text) > 0)
		trial_complain(c, stage, "the tree is not as it should be:%s", buf_text(&text));
}

json_t *trial_wanted_after(struct trial *c)
{
	json_t *want = json_deep_copy(c->before), *gone = json_get(c->doc, "gone");
	AUTO_JSON after = NULL;
	char dir[TRIAL_PATH_ROOM];
	const char *path;
	struct stat st;
	json_t *entry;

	snprintf(dir, sizeof dir, "%s/after", c->dir);
	if (stat(dir, &st) == 0)
		(void)tree_snapshot(dir, &after, NULL);
	json_object_foreach(after, path, entry)
	{
		json_t *old = json_get(want, path);

		if (!old) {
			json_object_del(entry, "mode");
			json_object_del(entry, "owner");
			json_object_set(want, path, entry);
		} else if (json_get(entry, "data")) {
			json_object_set(old, "kind", json_get(entry, "kind"));
			json_object_set(old, "data", json_get(entry, "data"));
		}
	}
	for (size_t i = 0; i < json_array_size(gone); i++)
		json_object_del(want, json_string_value(json_array_get(gone, i)));
	return want;
}
