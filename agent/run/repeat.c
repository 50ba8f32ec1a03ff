#include "agent/run/repeat.h"

#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER   "repeat"
#define TEXT_MAX (256u << 10)
#define PATH_LEN 128

static void add_json(struct hash *h, const json_t *v)
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	if (v)
		json_write(v, &text);
	hash_update(h, buf_text(&text), text.n + 1);
}

static void hash_inputs(const struct execution *x, const json_t *params, char hex[static HASH_HEX])
{
	const char *bundle = x->order->bundle ? x->order->bundle : "";
	struct hash *h = hash_new();

	hash_update(h, bundle, strlen(bundle) + 1);
	add_json(h, params);
	add_json(h, x->order->vars);
	add_json(h, x->order->node_facts);
	hash_final(h, hex);
}

static bool is_step(const struct recipe *r, const struct step *s)
{
	return s >= r->steps && s < r->steps + r->n_steps;
}

/* "3" or, of a list, "3/2": the name may hold what an argument gave. */
static json_t *list_changed(const struct execution *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->settled.n; i++) {
		const struct settled *s = &x->settled.at[i];
		char key[32];

		if (s->result != RESULT_CHANGED || !is_step(x->recipe, s->step))
			continue;
		snprintf(key, sizeof key, s->step->each ? "%u/%u" : "%u", s->step->index + 1,
			s->item + 1);
		json_array_append_new(list, json_string(key));
	}
	return list;
}

static bool is_in(const json_t *list, const char *key)
{
	size_t i;
	const json_t *one;

	json_array_foreach(list, i, one)
	{
		if (strcmp(json_string_value(one) ? json_string_value(one) : "", key) == 0)
			return true;
	}
	return false;
}

static json_t *read_last(int state, const char *path)
{
	json_t *last = NULL;
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	if (fs_read(state, path, &text, NULL) == 0)
		(void)json_parse(buf_str(&text), TEXT_MAX, path, &last, NULL);
	return last;
}

static void write_last(int state, const char *path, const char *inputs, json_t *changed)
{
	AUTO_JSON now = json_object();
	AUTO_BUF text = {0};
	AUTO_FD fd = -1;

	json_put_str(now, "inputs", inputs);
	json_object_set(now, "changed", changed);
	buf_init(&text, TEXT_MAX);
	json_write(now, &text);
	if (mkdirat(state, FOLDER, 0700) < 0 && errno != EEXIST)
		return;
	fd = openat(state, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && buf_ok(&text))
		(void)fs_write_all(fd, buf_str(&text), NULL);
}

static void tell(struct execution *x, const json_t *again)
{
	json_t *record = events_new(x, "defective");
	AUTO_BUF words = {0};
	const json_t *one;
	size_t i;

	buf_init(&words, 400);
	json_array_foreach(again, i, one)
		buf_addf(&words, "%s%s", i ? ", " : "", json_string_value(one));
	json_put_str(record, "why",
		arena_printf(x->arena,
			"step %s changed something in the last apply too, with the same inputs: it does "
			"not last, or somebody undoes it",
			buf_text(&words)));
	json_put_str(record, "hint",
		"give a command a guard (creates, unless), or find who else keeps the same thing");
	events_add(x, record);
}

static void compare(
	struct execution *x, const char *path, const char *inputs, const json_t *changed)
{
	AUTO_JSON last = read_last(x->env->state, path);
	AUTO_JSON again = json_array();
	const json_t *one;
	size_t i;

	if (strcmp(json_get_str(last, "inputs", ""), inputs) != 0)
		return;
	json_array_foreach(changed, i, one)
	{
		if (is_in(json_get(last, "changed"), json_string_value(one)))
			json_array_append_new(again, json_string(json_string_value(one)));
	}
	if (json_array_size(again) > 0)
		tell(x, again);
}

void repeat_judge(struct execution *x, const json_t *params)
{
	AUTO_JSON changed = list_changed(x);
	char path[PATH_LEN], inputs[HASH_HEX];

	snprintf(path, sizeof path, FOLDER "/%.64s.json", x->recipe->name);
	if (json_array_size(changed) == 0) {
		unlinkat(x->env->state, path, 0);
		return;
	}
	hash_inputs(x, params, inputs);
	compare(x, path, inputs, changed);
	write_last(x->env->state, path, inputs, changed);
}
