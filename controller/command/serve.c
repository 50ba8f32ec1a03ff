/* serve - the daemon, and what it would do next. */
#include "controller/serve/serve.h"

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#define TEXT_MAX (64u << 20)

static void add_time(struct buf *out, int64_t wall)
{
	char text[24];

	clock_format(wall * CLOCK_SEC, text);
	buf_addf(out, "%-22s", wall ? text : "never");
}

static void print_text(const struct turns *turns)
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	buf_add_text(&text, "NEXT                  LAST                  NODE\n");
	vec_each(turns, const struct turn, t) {
		add_time(&text, t->due);
		add_time(&text, t->last);
		buf_addf(&text, "%s", t->node->name);
		if (t->failed)
			buf_addf(
				&text, " (%u look%s failed)", t->failed, t->failed == 1 ? "" : "s");
		buf_add_char(&text, '\n');
	}
	session_print_lines(&text);
}

/* Null for what was never. */
static void put_time(json_t *obj, const char *key, int64_t wall)
{
	char text[24];

	clock_format(wall * CLOCK_SEC, text);
	json_object_set_new(obj, key, wall ? json_string(text) : json_null());
}

static void print_json(const struct turns *turns)
{
	AUTO_JSON list = json_array();

	vec_each(turns, const struct turn, t) {
		json_t *one = json_object();

		json_put_str(one, "node", t->node->name);
		put_time(one, "next", t->due);
		put_time(one, "last", t->last);
		json_put_int(one, "failed", t->failed);
		json_array_append_new(list, one);
	}
	session_print_json(list);
}

static int show_due(const struct invocation *inv, struct store *s, struct err *err)
{
	struct node_rows rows = VEC_INIT;
	struct turns turns = VEC_INIT;
	int rc = serve_turns(s, inv->arena, clock_wall() / CLOCK_SEC, &rows, &turns, err);

	if (rc == 0 && turns.n == 0) {
		err_set(err, E_NOTFOUND, "no node has an agent and a role with recipes");
		rc = err_hint(err, "the site file lists them: roles: {gpu: {recipes: [base]}}");
	} else if (rc == 0 && inv->json) {
		print_json(&turns);
	} else if (rc == 0) {
		print_text(&turns);
	}
	vec_done(&turns);
	vec_done(&rows);
	return rc;
}

static int serve(const struct invocation *inv, struct store *s, struct err *err)
{
	struct serve_opts o = {.by = session_user(inv),
		.once = option_get(inv, "once") != NULL,
		.rollouts = !option_get(inv, "no-rollouts")};
	const char *text = option_get(inv, "parallel");
	uint64_t parallel = 0;
	struct keys keys = {0};
	int rc;

	if (text && (!str_to_u64(str_of(text), &parallel) || parallel == 0 || parallel > 4096))
		return err_set(
			err, E_SYNTAX, "--parallel is a number from 1 to 4096, not '%s'", text);
	o.parallel = (unsigned)parallel;
	log_set_level(LOG_INFO);
	rc = keys_load(store_path(s), &keys, err);
	if (rc == 0)
		rc = serve_run(s, &keys, &o, err);
	keys_done(&keys);
	return rc;
}

static int run_serve(struct invocation *inv)
{
	const bool due = option_get(inv, "due") != NULL;
	struct store *s = NULL;
	struct err err;
	int rc = session_open(inv, due ? STORE_READ : STORE_WRITE, &s, &err);

	if (rc == 0)
		rc = due ? show_due(inv, s, &err) : serve(inv, s, &err);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

static const struct option OPTIONS[] = {
	{"once", 0, NULL, "look at all nodes that are due now, and end", false},
	{"due", 0, NULL, "only tell when each node is due", false},
	{"parallel", 'p', "N", "at most N nodes at once; else adapted up to 512", false},
	{"no-rollouts", 0, NULL, "leave rollouts alone that lost their driver", false},
	{0},
};

const struct command COMMAND_SERVE = {
	.name = "serve",
	.args = "",
	.summary = "the daemon: looks for drift on all nodes, each when its turn comes",
	.about =
		"How often is in the site file: check: {every: 6h, window: \"22:00-05:30\", splay:\n"
		"10m} for all nodes, and the same under a role for its own. Each node has its own\n"
		"place in the period, so that not all are looked at together. What is found is shown\n"
		"by 'stoika list drift'. Only nodes with an agent whose role lists recipes are\n"
		"looked at.\n\n"
		"When it starts it drives on the rollouts that lost their driver and are not paused,\n"
		"each in a process of its own.\n\n"
		"One daemon serves a database; other commands may run beside it. SIGTERM ends it in\n"
		"order, SIGHUP makes it read the schedule at once. It writes a line of key=value for\n"
		"each look to stderr and speaks sd_notify; stoika.service is a unit for systemd.\n",
	.options = OPTIONS,
	.run = run_serve,
};
