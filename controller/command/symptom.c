#include "controller/command/symptom.h"

#include "agent/wire/record.h"
#include "controller/command/lang.h"

#include <string.h>

#define ID_WIDTH    6
#define LEVEL_WIDTH 16
#define NODES_MAX   (1u << 20)

static bool same(const struct symptom *a, const struct symptom *b)
{
	return a->warning == b->warning && strcmp(a->id, b->id) == 0 &&
	       strcmp(a->recipe, b->recipe) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->why, b->why) == 0;
}

static bool has_node(const struct symptom *f, const struct node_row *node)
{
	for (size_t i = 0; i < f->nodes.n; i++)
		if (f->nodes.at[i] == node)
			return true;
	return false;
}

/* one's texts are the caller's until it is kept. */
static void add(
	struct symptoms *f, struct arena *a, const struct node_row *node, const struct symptom *one)
{
	vec_each(f, struct symptom, it) {
		if (!same(it, one))
			continue;
		if (!has_node(it, node))
			*vec_push(&it->nodes) = node;
		return;
	}
	if (f->n >= SYMPTOMS_MAX)
		return;

	struct symptom *fresh = vec_push(f);

	*fresh = (struct symptom){.id = arena_strdup(a, one->id),
		.warning = one->warning,
		.recipe = arena_strdup(a, one->recipe),
		.name = arena_strdup(a, one->name),
		.why = arena_strdup(a, one->why),
		.hint = arena_strdup(a, one->hint)};
	*vec_push(&fresh->nodes) = node;
}

/* A check is told only when it does not hold; what cannot be told yet is no finding. */
static bool is_finding(const json_t *record, bool warning)
{
	const char *ev = json_get_str(record, "ev", "");
	const enum step_result state = result_parse(json_get_str(record, "state", ""));
	const bool bad =
		state == RESULT_FAILED || state == RESULT_DENIED || state == RESULT_TIMEOUT;

	if (strcmp(ev, "check") == 0)
		return bad || (warning && state == RESULT_OK);
	return bad && (strcmp(ev, "step") == 0 || strcmp(ev, "recipe") == 0);
}

void symptom_record(
	struct symptoms *f, struct arena *a, const struct node_row *node, const json_t *record)
{
	const bool warning = strcmp(json_get_str(record, "level", ""), "warn") == 0;
	const struct symptom one = {.id = json_get_str(record, "id", ""),
		.warning = warning,
		.recipe = json_get_str(record, "recipe", ""),
		.name = json_get_str(record, "name", ""),
		.why = json_get_str(record, "why", ""),
		.hint = json_get_str(record, "hint", "")};

	if (is_finding(record, warning))
		add(f, a, node, &one);
}

void symptom_unanswered(struct symptoms *f, struct arena *a, const struct node_row *node,
	const char *why, const char *hint)
{
	const struct symptom one = {.id = "",
		.recipe = "",
		.name = "",
		.why = why ? why : "",
		.hint = hint ? hint : ""};

	add(f, a, node, &one);
}

static int compare(const void *a, const void *b)
{
	const struct symptom *x = a, *y = b;
	int by;

	if (x->warning != y->warning)
		return x->warning - y->warning;
	by = strcmp(x->id, y->id);
	if (by == 0)
		by = strcmp(x->recipe, y->recipe);
	if (by == 0)
		by = strcmp(x->name, y->name);
	return by ? by : strcmp(x->why, y->why);
}

void symptom_sort(struct symptoms *f)
{
	vec_sort(f, compare);
}

unsigned symptom_count(const struct symptoms *f, bool warning)
{
	unsigned n = 0;

	vec_each(f, const struct symptom, it)
		n += it->warning == warning;
	return n;
}

static void add_hint(struct buf *out, enum text_lang lang, const char *hint)
{
	AUTO_BUF line;

	buf_init(&line, NODES_MAX);
	text_add(&line, lang, TEXT_DOCTOR_DO, hint);
	lang_add_wrapped(out, ID_WIDTH, buf_text(&line));
}

static void add_finding(struct buf *out, enum text_lang lang, const struct symptom *f)
{
	AUTO_BUF nodes;

	buf_init(&nodes, NODES_MAX);
	range_fold(&f->nodes, &nodes);
	lang_add_label(out, *f->id ? f->id : "-", ID_WIDTH);
	lang_add_label(out, text_get(lang, f->warning ? TEXT_DOCTOR_WARNING : TEXT_DOCTOR_FAILURE),
		LEVEL_WIDTH);
	buf_add_printable(out, buf_str(&nodes));
	buf_add_char(out, '\n');
	if (*f->why)
		lang_add_wrapped(out, ID_WIDTH, f->why);
	else
		lang_add_wrapped(out, ID_WIDTH, f->name);
	if (*f->hint)
		add_hint(out, lang, f->hint);
}

void symptom_text(const struct symptoms *f, enum text_lang lang, struct buf *out)
{
	if (f->n == 0)
		return;
	lang_add_label(out, text_get(lang, TEXT_DOCTOR_ID), ID_WIDTH);
	lang_add_label(out, text_get(lang, TEXT_DOCTOR_LEVEL), LEVEL_WIDTH);
	buf_addf(out, "%s\n", text_get(lang, TEXT_DOCTOR_NODES));
	vec_each(f, const struct symptom, it)
		add_finding(out, lang, it);
}

json_t *symptom_json(const struct symptoms *f)
{
	json_t *list = json_array();

	vec_each(f, const struct symptom, it) {
		json_t *one = json_object(), *nodes = json_array();

		json_put_str(one, "id", it->id);
		json_put_str(one, "level", it->warning ? "warn" : "fail");
		json_put_str(one, "recipe", it->recipe);
		json_put_str(one, "check", it->name);
		json_put_str(one, "found", it->why);
		json_put_str(one, "hint", it->hint);
		for (size_t i = 0; i < it->nodes.n; i++)
			json_array_append_new(nodes, json_string(it->nodes.at[i]->name));
		json_object_set_new(one, "nodes", nodes);
		json_array_append_new(list, one);
	}
	return list;
}

void symptom_done(struct symptoms *f)
{
	vec_each(f, struct symptom, it)
		vec_done(&it->nodes);
	vec_done(f);
}
