/* before_run - the share of single runs in a remembered change, so that one run can be taken back.
 *
 * An entry's "runs" are what the last RUNS_MAX runs did to it, each with its own before and after:
 * [{run, args, before, after}]. Who is dropped from there is noted in the document's "forgot".
 */
#include "agent/run/before.h"

#include <string.h>

#define RUNS_MAX   8
#define FORGOT_MAX 64

bool before_is_of(struct str run, const char *of)
{
	const struct str id = str_of(of);
	struct str rest;

	if (!str_starts(run, of))
		return false;
	rest = str_from(run, id.n);
	if (rest.n == 0)
		return true;
	if (rest.n < 2 || rest.p[0] != '-')
		return false;
	for (size_t i = 1; i < rest.n; i++)
		if (rest.p[i] < '0' || rest.p[i] > '9')
			return false;
	return true;
}

/* Of the id "RUN:SEQ". */
static struct str made_by(const json_t *entry)
{
	const struct str id = str_of(json_get_str(entry, "id", ""));

	return str_first(id, str_find(id, ':'));
}

static json_t *find(const json_t *entry, const char *run)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_get(entry, "runs"), i, one)
	{
		if (strcmp(json_get_str(one, "run", ""), run) == 0)
			return one;
	}
	return NULL;
}

bool before_has_run(const json_t *entry, const char *run)
{
	return find(entry, run) != NULL;
}

static json_t *array_of(json_t *obj, const char *key)
{
	if (!json_get(obj, key))
		json_object_set_new(obj, key, json_array());
	return json_get(obj, key);
}

static void forget_first(json_t *doc, json_t *runs)
{
	json_t *forgot = array_of(doc, "forgot");

	json_array_append(forgot, json_get(json_array_get(runs, 0), "run"));
	if (json_array_size(forgot) > FORGOT_MAX)
		json_array_remove(forgot, 0);
	json_array_remove(runs, 0);
}

void before_begin_run(json_t *doc, json_t *entry, const char *run, const json_t *intent)
{
	json_t *runs = array_of(entry, "runs"), *one = find(entry, run);

	if (!one) {
		if (json_array_size(runs) >= RUNS_MAX)
			forget_first(doc, runs);
		one = json_object();
		json_put_str(one, "run", run);
		if (json_get(intent, "before"))
			json_object_set(one, "before", json_get(intent, "before"));
		json_array_append_new(runs, one);
	}
	json_object_set(one, "args", json_get(intent, "args"));
	json_object_del(one, "after");
}

void before_end_run(json_t *entry, const char *run, json_t *after)
{
	json_t *one = find(entry, run);

	if (one)
		json_object_set(one, "after", after);
}

bool before_share(const json_t *entry, const char *of, struct before_share *out)
{
	json_t *one;
	size_t i;

	*out = (struct before_share){0};
	json_array_foreach(json_get(entry, "runs"), i, one)
	{
		const char *run = json_get_str(one, "run", "");

		if (!before_is_of(str_of(run), of)) {
			out->since = out->args ? run : NULL;
			continue;
		}
		if (!out->args)
			out->before = json_get(one, "before");
		out->args = json_get(one, "args");
		out->after = json_get(one, "after");
		out->since = NULL;
	}
	return out->args != NULL;
}

static void drop_of(json_t *runs, const char *of)
{
	for (size_t i = json_array_size(runs); i-- > 0;)
		if (before_is_of(str_of(json_get_str(json_array_get(runs, i), "run", "")), of))
			json_array_remove(runs, i);
}

static void set_or_drop(json_t *obj, const char *key, json_t *v)
{
	if (v)
		json_object_set(obj, key, v);
	else
		json_object_del(obj, key);
}

void before_drop_run(json_t *doc, size_t at, const char *of)
{
	json_t *entry = json_array_get(before_entries(doc), at), *runs = json_get(entry, "runs");
	const json_t *last;
	struct before_share share;

	if (!before_share(entry, of, &share))
		return;
	if (before_is_of(made_by(entry), of)) {
		json_array_remove(before_entries(doc), at);
		return;
	}
	/* It is again as that run found it, so by the hand of the one before. */
	set_or_drop(entry, "after", share.before);
	drop_of(runs, of);
	last = json_array_get(runs, json_array_size(runs) - 1);
	if (last)
		json_object_set(entry, "args", json_get(last, "args"));
}

bool before_forgot(const json_t *doc, const char *of)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_get(doc, "forgot"), i, one)
	{
		const char *run = json_string_value(one);

		if (run && before_is_of(str_of(run), of))
			return true;
	}
	return false;
}

bool before_all_of(json_t *doc, const char *of)
{
	const json_t *one;
	size_t i;

	json_array_foreach(before_entries(doc), i, one)
	{
		if (!before_is_of(made_by(one), of))
			return false;
	}
	return json_array_size(before_entries(doc)) > 0;
}
