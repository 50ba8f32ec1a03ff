/*
 * recipe_cases [-q] REPOSITORY CASE... - runs recipes over the trees of cases; README.md has the
 * format. Status 1 when a case is not as written.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/fetch/fetch.h"
#include "agent/recipe/arg_tree.h"
#include "agent/run/bundle.h"
#include "agent/run/run.h"
#include "tests/cases/recipe/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLS_MAX (1u << 20)
#define PATH_ROOM 1024

struct recipe_case {
	const char *dir, *name, *repository;
	char work[64], root[80], state[80], recipes[80];
	struct arena *arena;
	json_t *doc, *events, *before;
	struct bundle *bundle;
	struct run_outcome out;
	struct buf calls;
	unsigned failures, runs;
};

static void complain(struct recipe_case *c, const char *stage, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void complain(struct recipe_case *c, const char *stage, const char *fmt, ...)
{
	va_list ap;

	c->failures++;
	printf("%s: %s: ", c->name, stage);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* --- laying --- */

static int copy_into(const char *from, const char *to, struct err *err)
{
	char dot[PATH_ROOM];
	const char *const argv[] = {"cp", "-dR", "--preserve=mode,links", dot, to, NULL};
	struct stat st;

	if (stat(from, &st) < 0)
		return 0;
	snprintf(dot, sizeof dot, "%s/.", from);
	return tree_tool(argv, err);
}

static int lay_programs(struct recipe_case *c, struct err *err)
{
	const json_t *names = json_get(c->doc, "programs");
	char path[PATH_ROOM];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	for (size_t i = 0; i < json_array_size(names) && rc == 0; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		snprintf(path, sizeof path, "%s/tests/cases/recipe/programs/%s", c->repository,
			name);
		rc = tree_program(c->root, name, path, err);
	}
	snprintf(path, sizeof path, "%s/bin", c->dir);
	d = opendir(path);
	while (rc == 0 && d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/bin/%s", c->dir, e->d_name);
		rc = tree_program(c->root, e->d_name, path, err);
	}
	if (d)
		closedir(d);
	return rc;
}

static int lay_modes_and_links(struct recipe_case *c, struct err *err)
{
	const char *path;
	char full[PATH_ROOM];
	json_t *v;

	json_object_foreach(json_get(c->doc, "modes"), path, v)
	{
		snprintf(full, sizeof full, "%s/%s", c->root, path);
		if (chmod(full, (mode_t)strtoul(json_string_value(v), NULL, 8)) < 0)
			return err_set(err, E_NOTFOUND, "'modes': no '%s'", path);
	}
	json_object_foreach(json_get(c->doc, "links"), path, v)
	{
		snprintf(full, sizeof full, "%s/%s", c->root, path);
		if (symlink(json_string_value(v), full) < 0)
			return err_set(err, E_IO, "'links': cannot make '%s'", path);
	}
	return 0;
}

/* The case's own recipes, the one in case.yaml, and those of the repository that it names. */
static int lay_recipes(struct recipe_case *c, struct err *err)
{
	const char *text = json_get_str(c->doc, "recipe", NULL);
	const json_t *names = json_get(c->doc, "recipes");
	char from[PATH_ROOM], to[PATH_ROOM];
	struct stat st;
	int rc;

	snprintf(from, sizeof from, "%s/recipes", c->dir);
	rc = copy_into(from, c->recipes, err);
	if (rc == 0 && text)
		rc = tree_write(c->recipes, "demo/recipe.yaml", str_of(text), 0644, err);
	for (size_t i = 0; i < json_array_size(names) && rc == 0; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		snprintf(to, sizeof to, "%s/%s", c->recipes, name);
		if (stat(to, &st) == 0)
			continue;
		snprintf(from, sizeof from, "%s/recipes/%s", c->repository, name);
		if (mkdir(to, 0755) < 0 || stat(from, &st) < 0)
			return err_set(err, E_NOTFOUND, "there is no recipe '%s'", name);
		rc = copy_into(from, to, err);
	}
	return rc;
}

static int lay(struct recipe_case *c, const char *skeleton, struct err *err)
{
	char before[PATH_ROOM];
	int rc;

	snprintf(before, sizeof before, "%s/before", c->dir);
	rc = copy_into(skeleton, c->root, err);
	if (rc == 0)
		rc = lay_programs(c, err);
	if (rc == 0)
		rc = copy_into(before, c->root, err);
	if (rc == 0)
		rc = lay_modes_and_links(c, err);
	if (rc == 0)
		rc = lay_recipes(c, err);
	if (rc == 0)
		rc = bundle_open_dir(c->arena, c->recipes, &c->bundle, err);
	return rc == 0 ? tree_snapshot(c->root, &c->before, err) : rc;
}

/* --- running --- */

static void on_event(void *ctx, const json_t *record)
{
	const struct recipe_case *c = ctx;

	json_array_append_new(c->events, json_deep_copy(record));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct order_recipe *)a)->name, ((const struct order_recipe *)b)->name);
}

/* The recipes of the order, by name when the case does not list them. */
static unsigned list_recipes(struct recipe_case *c, struct order_recipe *out, unsigned max)
{
	const json_t *names = json_get(c->doc, "recipes"), *params = json_get(c->doc, "params");
	struct dirent *e;
	unsigned n = 0;
	DIR *d = NULL;

	for (size_t i = 0; i < json_array_size(names) && n < max; i++)
		out[n++].name = json_string_value(json_array_get(names, i));
	if (n == 0)
		d = opendir(c->recipes);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && n < max)
			out[n++].name = arena_strdup(c->arena, e->d_name);
	if (d) {
		closedir(d);
		qsort(out, n, sizeof *out, by_name);
	}
	for (unsigned i = 0; i < n; i++)
		out[i].params = json_get(params, out[i].name);
	return n;
}

static void read_calls(struct recipe_case *c)
{
	AUTO_FD fd = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	buf_clear(&c->calls);
	(void)fs_read(fd, "case/calls", &c->calls, NULL);
	(void)fs_replace(fd, "case/calls", STR_LIT(""), 0644, 0, 0, NULL);
}

static int run(struct recipe_case *c, enum order_mode mode, struct err *err)
{
	struct order_recipe recipes[16] = {0};
	AUTO_FD root = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD state = open(c->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *facts = json_get(c->doc, "facts");
	AUTO_JSON given = facts ? json_deep_copy(facts) : NULL;
	const struct run_env env = {.root = root,
		.root_path = c->root,
		.state = state,
		.bundle = c->bundle,
		.facts = given,
		.boot_id = "boot",
		.ctx = c,
		.event = on_event};
	const struct order o = {.run = arena_printf(c->arena, "run-%u", ++c->runs),
		.mode = mode,
		.node = "n1",
		.by = "case",
		.bundle = "none",
		.recipes = recipes,
		.n_recipes = list_recipes(c, recipes, 16),
		.node_facts = json_get(c->doc, "node"),
		.vars = json_get(c->doc, "vars")};
	int rc;

	json_array_clear(c->events);
	rc = run_execute(&env, &o, &c->out, err);
	read_calls(c);
	return rc;
}

/* --- judging --- */

static bool same_state(const char *want, const char *is)
{
	return strcmp(want, is) == 0 || (strcmp(want, "ok") == 0 && strcmp(is, "skipped") == 0);
}

/* parts: one text or a list; yes: each must be in text, else none may be. */
static void want_parts(struct recipe_case *c, const char *stage, const char *what, json_t *parts,
	const char *text, bool yes)
{
	AUTO_JSON list = json_is_string(parts) ? json_pack("[O]", parts) : json_incref(parts);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *part = json_string_value(json_array_get(list, i));

		if (!part || (strstr(text, part) != NULL) != yes)
			complain(c, stage, "%s %s '%s':\n%s", what,
				yes ? "does not say" : "must not say", part ? part : "?", text);
	}
}

static const json_t *find_event(const struct recipe_case *c, const char *ev, const char *key,
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

static void judge_steps(struct recipe_case *c, const char *stage, const json_t *steps)
{
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *want = json_array_get(steps, i);
		const json_t *is = find_event(c, "step", "step", json_get(want, "step"),
			json_get_str(want, "recipe", NULL));
		const char *state = json_get_str(want, "state", NULL);
		char what[64];

		snprintf(what, sizeof what, "step %lld", (long long)json_get_int(want, "step", 0));
		if (state && !same_state(state, is ? json_get_str(is, "state", "") : "ok"))
			complain(c, stage, "%s is '%s', not '%s'", what,
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

static void judge_handlers(struct recipe_case *c, const char *stage, json_t *handlers)
{
	const char *name;
	json_t *state;

	json_object_foreach(handlers, name, state)
	{
		AUTO_JSON key = json_string(name);
		const json_t *is = find_event(c, "handler", "handler", key, NULL);
		const char *now = is ? json_get_str(is, "state", "") : "not called";

		if (strcmp(now, json_string_value(state)) != 0)
			complain(c, stage, "handler '%s' is '%s', not '%s'", name, now,
				json_string_value(state));
	}
}

static unsigned count_calls(const struct recipe_case *c, const char *begin)
{
	struct str rest = buf_str(&c->calls), line;
	unsigned n = 0;

	while (str_line(&rest, &line))
		n += str_starts(line, begin);
	return n;
}

static void judge_call(struct recipe_case *c, const char *stage, const char *call, json_int_t times)
{
	if (count_calls(c, call) != times)
		complain(c, stage, "'%s' ran %u times, not %lld; the calls are\n%s", call,
			count_calls(c, call), (long long)times, buf_text(&c->calls));
}

/* An item of ran: a call, or {call: times}. */
static void judge_calls(struct recipe_case *c, const char *stage, const json_t *calls, bool never)
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

static void judge(struct recipe_case *c, const char *stage, const json_t *want)
{
	const char *state = json_get_str(want, "state", NULL);
	const char *is = result_name(c->out.state);

	if (state && !same_state(state, is))
		complain(c, stage, "the run is '%s', not '%s': %s", is, state, c->out.reason);
	want_parts(c, stage, "the reason", json_get(want, "reason"), c->out.reason, true);
	want_parts(c, stage, "the hint", json_get(want, "hint"), c->out.hint, true);
	judge_steps(c, stage, json_get(want, "steps"));
	judge_handlers(c, stage, json_get(want, "handlers"));
	judge_calls(c, stage, json_get(want, "ran"), false);
	judge_calls(c, stage, json_get(want, "not_ran"), true);
}

static void judge_tree(struct recipe_case *c, const char *stage, json_t *want)
{
	AUTO_JSON have = NULL;
	AUTO_BUF text;
	struct err err;

	buf_init(&text, 64u << 10);
	if (tree_snapshot(c->root, &have, &err) < 0)
		complain(c, stage, "%s", err.msg);
	else if (tree_compare(want, have, json_get(c->doc, "ignore"), &text) > 0)
		complain(c, stage, "the tree is not as it should be: %s", buf_text(&text));
}

/* before/ with what after/ says; of a new path only kind and bytes are told. */
static json_t *wanted_after(struct recipe_case *c)
{
	json_t *want = json_deep_copy(c->before), *gone = json_get(c->doc, "gone");
	AUTO_JSON after = NULL;
	char dir[PATH_ROOM];
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

/* --- a case --- */

static void run_stage(struct recipe_case *c, const char *stage, enum order_mode mode,
	const json_t *want, json_t *tree)
{
	struct err err;

	if (run(c, mode, &err) < 0) {
		complain(c, stage, "the run does not begin: %s", err.msg);
		return;
	}
	judge(c, stage, want);
	judge_tree(c, stage, tree);
}

/* The second run is silent, or fails as the first one did. */
static json_t *wanted_second(const struct recipe_case *c)
{
	json_t *second = json_get(c->doc, "second"), *first = json_get(c->doc, "first");
	const char *state = json_get_str(first, "state", "changed");
	json_t *want = json_object();

	if (strcmp(state, "changed") == 0)
		json_put_str(want, "state", "ok");
	else
		json_put_str(want, "state", state);
	if (json_get(first, "reason"))
		json_object_set(want, "reason", json_get(first, "reason"));
	if (json_get(first, "ran"))
		json_object_set(want, "not_ran", json_get(first, "ran"));
	if (second)
		json_object_update(want, second);
	return want;
}

static void run_stages(struct recipe_case *c)
{
	AUTO_JSON after = wanted_after(c);
	AUTO_JSON second = wanted_second(c);

	if (json_get(c->doc, "plan"))
		run_stage(c, "plan", ORDER_PLAN, json_get(c->doc, "plan"), c->before);
	run_stage(c, "first run", ORDER_APPLY, json_get(c->doc, "first"), after);
	run_stage(c, "second run", ORDER_APPLY, second, after);
	if (json_get_bool(c->doc, "undo", false))
		run_stage(c, "undo", ORDER_UNDO, NULL, c->before);
}

static int check_keys(
	const json_t *map, const char *const *known, const char *where, struct err *err)
{
	json_t *copy = json_deep_copy(map);
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach(copy, key, v)
	{
		const char *const *k = known;

		while (*k && strcmp(*k, key) != 0)
			k++;
		if (!*k)
			rc = err_set(err, E_SCHEMA, "%s has no key '%.60s'", where, key);
	}
	json_decref(copy);
	return rc;
}

static int read_doc(struct recipe_case *c, struct err *err)
{
	static const char *const KEYS[] = {"about", "source", "recipes", "recipe", "params", "vars",
		"node", "facts", "programs", "links", "modes", "plan", "first", "gone", "ignore",
		"second", "undo", NULL};
	static const char *const STAGE_KEYS[] = {
		"state", "reason", "hint", "steps", "handlers", "ran", "not_ran", NULL};
	static const char *const STAGES[] = {"plan", "first", "second"};
	struct yaml_doc *d;
	char path[PATH_ROOM];
	int rc;

	snprintf(path, sizeof path, "%s/case.yaml", c->dir);
	rc = yaml_load(c->arena, path, &YAML_CAPS_RECIPE, &d, err);
	if (rc == 0)
		rc = arg_tree_literal(d, d->root, "the case", &c->doc, err);
	if (rc == 0)
		rc = check_keys(c->doc, KEYS, "the case", err);
	for (size_t i = 0; i < 3 && rc == 0; i++)
		if (json_get(c->doc, STAGES[i]))
			rc = check_keys(json_get(c->doc, STAGES[i]), STAGE_KEYS, STAGES[i], err);
	if (rc == 0 && !json_get(c->doc, "first"))
		rc = err_set(err, E_SCHEMA, "the case has no 'first'");
	return rc;
}

static void remove_work(const struct recipe_case *c)
{
	AUTO_FD tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!getenv("STOIKA_KEEP"))
		(void)fs_remove(tmp, c->work + strlen("/tmp/"), true, NULL);
}

static bool run_case(const char *repository, const char *dir, const char *skeleton)
{
	struct recipe_case c = {.dir = dir, .repository = repository, .arena = arena_new()};
	struct err err = {0};
	int rc;

	c.name = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;
	c.events = json_array();
	buf_init(&c.calls, CALLS_MAX);
	snprintf(c.work, sizeof c.work, "/tmp/recipe-case-XXXXXX");
	if (!mkdtemp(c.work))
		return false;
	snprintf(c.root, sizeof c.root, "%s/root", c.work);
	snprintf(c.state, sizeof c.state, "%s/state", c.work);
	snprintf(c.recipes, sizeof c.recipes, "%s/recipes", c.work);
	mkdir(c.root, 0755);
	mkdir(c.state, 0700);
	mkdir(c.recipes, 0755);
	rc = read_doc(&c, &err);
	if (rc == 0)
		rc = lay(&c, skeleton, &err);
	if (rc < 0)
		complain(&c, "cannot be laid", "%s:%u: %s", err.file, err.line, err.msg);
	else
		run_stages(&c);
	remove_work(&c);
	bundle_close(c.bundle);
	json_decref(c.doc);
	json_decref(c.events);
	json_decref(c.before);
	buf_done(&c.calls);
	arena_free(c.arena);
	return c.failures == 0;
}

int main(int argc, char **argv)
{
	const bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
	struct recipe_case skeleton = {.name = "skeleton"};
	const int first = quiet ? 2 : 1;
	unsigned bad = 0, n = 0;
	struct err err = {0};

	if (argc == 2 && strcmp(argv[1], FETCH_COMMAND) == 0)
		return fetch_main(); /* this program again, for a download */
	if (argc <= first + 1 || geteuid() != 0) {
		fprintf(stderr, "usage (as root): recipe_cases [-q] REPOSITORY CASE...\n");
		return 2;
	}
	umask(022);
	snprintf(skeleton.work, sizeof skeleton.work, "/tmp/recipe-case-XXXXXX");
	if (!mkdtemp(skeleton.work) || chmod(skeleton.work, 0755) < 0 ||
		tree_skeleton(skeleton.work, &err) < 0) {
		fprintf(stderr, "cannot make a root: %s\n", err.msg);
		return 2;
	}
	for (int i = first + 1; i < argc; i++, n++) {
		const bool good = run_case(argv[first], argv[i], skeleton.work);

		bad += !good;
		if (good && !quiet)
			printf("%s: as written\n", argv[i]);
	}
	remove_work(&skeleton);
	printf("%u recipe cases, %u not as written\n", n, bad);
	return bad > 0;
}
