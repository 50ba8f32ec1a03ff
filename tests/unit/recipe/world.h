/*
 * world - a scope for tests: names from JSON, facts that count how often they
 * are gathered, and probes with fixed answers.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/recipe/template.h"
#include "tests/unit/t.h"

struct world {
	struct arena *arena;
	struct scope scope;
	json_t *facts;
	unsigned gathered;
};

static inline json_t *world_json(const char *text)
{
	json_error_t e;
	json_t *v = json_loads(text, JSON_DECODE_ANY, &e);

	if (!v)
		fail_msg("%s: %s", text, e.text);
	return v;
}

static inline int world_facts(void *ctx, const char *group, json_t **out, struct err *err)
{
	struct world *w = ctx;

	w->gathered++;
	if (strcmp(group, "broken") == 0)
		return err_set(err, E_IO, "cannot read the facts");
	*out = json_object_get(w->facts, group);
	return 0;
}

static inline int world_probe(
	void *ctx, const char *name, const json_t *args, struct value *out, struct err *err)
{
	const json_t *first = json_array_get(args, 0);

	(void)ctx;
	if (strcmp(name, "exists") == 0)
		*out = value_of(json_boolean(strcmp(json_string_value(first), "/etc/motd") == 0));
	else if (strcmp(name, "port_open") == 0)
		*out = value_of(json_boolean(json_integer_value(first) == 22));
	else if (strcmp(name, "version") == 0)
		*out = value_of(json_string("1.2.3"));
	else if (strcmp(name, "running") == 0)
		*out = value_unknown("depends on step 1 (service)");
	else
		return err_set(err, E_IO, "cannot ask the node");
	return 0;
}

#define WORLD_NAMES                                                                          \
	"{\"params\": {\"port\": 80, \"name\": \"web\", \"tls\": true, \"rate\": 1.5,"       \
	" \"list\": [\"a\", \"b\"], \"map\": {\"x\": \"1\", \"y\": \"2\"}, \"none\": null}," \
	" \"node\": {\"name\": \"n1\", \"roles\": [\"gpu\", \"ib\"]},"                       \
	" \"vars\": {\"a-b\": 7, \"deep\": {\"er\": {\"est\": \"down\"}}},"                  \
	" \"steps\": {\"done\": {\"changed\": true},"                                        \
	" \"open\": {\"$unknown\": \"depends on step 2 (package)\"}},"                       \
	" \"item\": \"i\"}"

static inline void world_init(struct world *w)
{
	*w = (struct world){.arena = arena_new()};
	w->facts = world_json("{\"os\": {\"id\": \"debian\", \"version_id\": \"12\"},"
			      " \"cpu\": {\"cores\": 64}, \"gone\": null,"
			      " \"gpus\": [{\"name\": \"H200\"}, {\"name\": \"H200\"}]}");
	w->scope.names = world_json(WORLD_NAMES);
	w->scope.ctx = w;
	w->scope.facts = world_facts;
	w->scope.probe = world_probe;
}

static inline void world_done(struct world *w)
{
	json_decref(w->scope.names);
	json_decref(w->facts);
	arena_free(w->arena);
}

/* A value as text: compact JSON, "? why" when unknown, "! message" when rc is an error. */
static inline void world_show(int rc, const struct value *v, const struct err *err, struct buf *out)
{
	if (rc < 0)
		buf_addf(out, "! %s", err->msg);
	else if (!v->json)
		buf_addf(out, "? %s", v->unknown);
	else
		json_write(v->json, out);
}

/* Parses and evaluates in one go. */
static inline void world_eval(struct world *w, const char *text, struct buf *out)
{
	const struct origin at = {.file = "case", .line = 1, .col = 1};
	struct expr *e = NULL;
	struct value v = {NULL, NULL};
	struct err err = {0};
	int rc = expr_parse(w->arena, str_of(text), &at, &e, &err);

	if (rc == 0)
		rc = expr_eval(e, &w->scope, &v, &err);
	world_show(rc, &v, &err, out);
	if (rc < 0) {
		assert_int_equal(rc, -(int)err.code);
		assert_int_equal(err.line, 1);
		assert_true(err.col >= 1 && err.col <= strlen(text) + 1);
	}
	value_done(&v);
}

struct world_case {
	const char *text, *want;
};

static inline void world_cases_with(
	const struct world_case *cases, size_t n, const struct expr_let *lets, unsigned n_lets)
{
	struct world w;

	world_init(&w);
	w.scope.lets = lets;
	w.scope.n_lets = n_lets;
	for (size_t i = 0; i < n; i++) {
		AUTO_BUF got;

		buf_init(&got, 1u << 20);
		world_eval(&w, cases[i].text, &got);
		if (strcmp(buf_text(&got), cases[i].want) != 0)
			fail_msg("%s\n  gives  %s\n  wanted %s", cases[i].text, buf_text(&got),
				cases[i].want);
	}
	world_done(&w);
}

static inline void world_cases(const struct world_case *cases, size_t n)
{
	world_cases_with(cases, n, NULL, 0);
}
