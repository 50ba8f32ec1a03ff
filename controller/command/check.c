/* check - how far nodes are from what their roles, or the recipes named, describe. */
#include "agent/base/clock.h"
#include "controller/command/drift_view.h"
#include "controller/command/lang.h"
#include "controller/command/table.h"
#include "controller/serve/look.h"
#include "inventory/model/period.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX (64u << 20)

struct checking {
	struct store *store;
	struct keys keys;
	unsigned parallel;
	int64_t every; /* seconds, 0: once */
	uint64_t count;
	bool terminal;
	enum text_lang lang;
	size_t n, done;
	enum exit_code code;
};

static int read_number(const struct invocation *inv, const char *name, uint64_t most, uint64_t *out,
	struct err *err)
{
	const char *text = option_get(inv, name);

	if (text && (!str_to_u64(str_of(text), out) || *out == 0 || *out > most))
		return err_set(err, E_SYNTAX, "--%s is a number from 1 to %llu, not '%s'", name,
			(unsigned long long)most, text);
	return 0;
}

static int read_options(const struct invocation *inv, struct checking *c, struct err *err)
{
	const char *every = option_get(inv, "every");
	struct report_opts o = {0};
	uint64_t parallel = 0;
	int rc = lang_opts(inv, &o, err);

	if (rc == 0)
		rc = read_number(inv, "parallel", 4096, &parallel, err);
	c->lang = o.lang;
	c->parallel = (unsigned)parallel;
	c->count = every ? UINT64_MAX : 1;
	if (rc == 0 && every && !period_parse(every, &c->every)) {
		err_set(err, E_SYNTAX, "--every '%s' is no period", every);
		return err_hint(err, "such as 30s, 10m or 1h");
	}
	if (rc == 0 && option_get(inv, "set") && !option_get(inv, "recipe"))
		return err_set(err, E_SYNTAX, "--set needs --recipe");
	if (rc == 0 && option_get(inv, "count") && !every)
		return err_set(err, E_SYNTAX, "--count needs --every");
	return rc < 0 ? rc : read_number(inv, "count", UINT32_MAX, &c->count, err);
}

/* Nothing but unreachable nodes is a matter of its own; else the last look decides. */
static void take_code(struct checking *c, const struct drift_reports *reports)
{
	bool unreached = reports->n > 0;

	c->code = EXIT_OK;
	vec_each(reports, const struct drift_report, r) {
		unreached = unreached && r->state == DRIFT_UNREACHABLE;
		if (r->state != DRIFT_OK && r->state != DRIFT_UNKNOWN)
			c->code = EXIT_SOME;
	}
	if (unreached)
		c->code = EXIT_UNREACHED;
}

static void on_report(void *ctx, const struct drift_report *r)
{
	struct checking *c = ctx;
	char done[24], all[24];
	AUTO_BUF text = {0};

	(void)r;
	c->done++;
	if (!c->terminal)
		return;
	buf_init(&text, 256);
	snprintf(done, sizeof done, "%zu", c->done);
	snprintf(all, sizeof all, "%zu", c->n);
	TEXT_FILL(&text, c->lang, TEXT_LOOK_DONE_OF, done, all);
	fprintf(stderr, "\r\033[K%s", buf_text(&text));
}

static void add_bare(const struct node_refs *bare, enum text_lang lang, struct buf *out)
{
	AUTO_BUF names = {0};

	buf_init(&names, 1024);
	if (bare->n == 0)
		return;
	if (bare->n > 1)
		text_add(&names, lang, TEXT_LOOK_AND_OTHERS, bare->at[0]->name);
	else
		buf_add_text(&names, bare->at[0]->name);
	text_add(out, lang, TEXT_LOOK_WITHOUT, buf_text(&names));
	buf_add_char(out, '\n');
}

static void print_text(const struct invocation *inv, enum text_lang lang,
	const struct drift_reports *reports, const struct node_refs *bare)
{
	const struct drift_style style = {lang, option_get(inv, "diff") != NULL};
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	drift_view_table(reports, clock_wall() / CLOCK_SEC, &style, &text);
	drift_view_sum(reports, lang, &text);
	add_bare(bare, lang, &text);
	session_print_lines(&text);
}

static void print_json(const struct drift_reports *reports, const struct node_refs *bare)
{
	AUTO_JSON doc = json_object();
	json_t *nodes = json_array(), *without = json_array();

	vec_each(reports, const struct drift_report, r)
		json_array_append_new(nodes, drift_view_json(r));
	for (size_t i = 0; i < bare->n; i++)
		json_array_append_new(without, json_string(bare->at[i]->name));
	json_object_set_new(doc, "nodes", nodes);
	json_object_set_new(doc, "without_recipes", without);
	session_print_json(doc);
}

/* The recipes of all --recipe, with a blank between; NULL when none is named. */
static const char *recipes_of(const struct invocation *inv)
{
	const char *all = NULL;

	for (unsigned i = 0; i < option_count(inv, "recipe"); i++)
		all = all ? arena_printf(inv->arena, "%s %s", all, option_at(inv, "recipe", i))
			  : option_at(inv, "recipe", i);
	return all;
}

static int check_once(
	const struct invocation *inv, struct checking *c, struct looking *l, struct err *err)
{
	struct drift_reports reports = VEC_INIT;
	struct arena *a = arena_new();
	int rc;

	c->done = 0;
	rc = look_turn(l, a, &reports, err);
	if (c->terminal)
		fputs("\r\033[K", stderr);
	drift_view_sort(&reports);
	if (reports.n > 0 && inv->json)
		print_json(&reports, look_bare(l));
	else if (reports.n > 0)
		print_text(inv, c->lang, &reports, look_bare(l));
	take_code(c, &reports);
	vec_done(&reports);
	arena_free(a);
	return rc;
}

static int check_nodes(const struct invocation *inv, struct checking *c,
	const struct node_refs *nodes, struct err *err)
{
	const unsigned n_set = option_count(inv, "set");
	const char **set = arena_alloc(inv->arena, (n_set + 1) * sizeof *set);
	const struct look_opts o = {.recipes = recipes_of(inv),
		.set = set,
		.n_set = n_set,
		.by = session_user(inv),
		.parallel = c->parallel,
		.kex = option_get(inv, "kex"),
		.keep = c->count > 1,
		.ctx = c,
		.done = on_report};
	struct looking *looking = NULL;
	int rc;

	for (unsigned i = 0; i < n_set; i++)
		set[i] = option_at(inv, "set", i);
	rc = look_open(c->store, &c->keys, inv->arena, nodes, &o, &looking, err);

	c->n = nodes->n;
	for (uint64_t i = 0; rc == 0 && i < c->count; i++) {
		if (i > 0)
			clock_sleep(c->every * CLOCK_SEC);
		rc = check_once(inv, c, looking, err);
	}
	look_close(looking);
	return rc;
}

static int check_all(const struct invocation *inv, struct checking *c, struct err *err)
{
	struct node_refs nodes = VEC_INIT;
	struct node_rows rows = VEC_INIT;
	int rc = session_open(inv, STORE_WRITE, &c->store, err);

	if (rc == 0)
		rc = session_nodes(inv, c->store, inv->args[0], &rows, &nodes, err);
	if (rc == 0)
		rc = keys_load(store_path(c->store), &c->keys, err);
	if (rc == 0)
		rc = check_nodes(inv, c, &nodes, err);
	vec_done(&nodes);
	vec_done(&rows);
	return rc;
}

static int run_check(struct invocation *inv)
{
	struct checking c = {.terminal = !inv->json && isatty(STDERR_FILENO)};
	struct err err;
	int rc = read_options(inv, &c, &err);

	if (rc == 0)
		rc = check_all(inv, &c, &err);
	keys_done(&c.keys);
	store_close(c.store);
	return rc < 0 ? command_fail(inv, &err) : (int)c.code;
}

static const struct option OPTIONS[] = {
	{"recipe", 'r', "RECIPE", "look at this one instead of what the roles list", true},
	{"set", 's', "NAME=VALUE", "with --recipe: a parameter, as apply has it", true},
	{"diff", 'd', NULL, "show the beginning of each difference", false},
	{"every", 'e', "PERIOD", "again and again: 30s, 10m, 1h", false},
	{"count", 'n', "N", "with --every: that often", false},
	{"parallel", 'p', "N", "at most N nodes at once; else adapted up to 512", false},
	{"kex", 0, "LIST", "SSH key exchange methods to offer", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_CHECK = {
	.name = "check",
	.args = "NODES",
	.min_args = 1,
	.max_args = 1,
	.summary = "look for drift: what differs from the recipes of the nodes' roles",
	.about =
		"Each node is compared with all recipes that its role lists in the site file, and what\n"
		"those need; nothing is changed. The report is kept: 'stoika list drift' shows the\n"
		"newest of each node, 'drift=drift' is the range of nodes that have drifted, and\n"
		"'stoika apply --roles NODES' heals them. A command without a guard differs each\n"
		"time and is no drift. With --every the links to the nodes stay open; 'stoika serve'\n"
		"checks all nodes on a schedule. Exit status 1 when something drifted or failed.\n",
	.options = OPTIONS,
	.run = run_check,
};
