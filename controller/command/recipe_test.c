/* recipe_test - a recipe's own tests: its cases, run by the agent on throw-away roots. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "agent/recipe/recipe.h"
#include "controller/command/recipe_view.h"
#include "controller/command/table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX   (16u << 20)
#define CASES_MAX  200
#define PLACES_MAX 32
#define TIME_MAX   (INT64_C(1800) * CLOCK_SEC)

struct case_names vec(const char *);

/* STOIKA_AGENT, else beside this program, else where a package puts it. */
static const char *find_agent(struct arena *a)
{
	static const char *const places[] = {"stoika-agent", "../lib/stoika/stoika-agent"};
	const char *env = getenv("STOIKA_AGENT");
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (env && *env)
		return env;
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *path = arena_printf(a, "%s/%s", self, places[i]);

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

static int compare_cases(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Folders of DIR/tests that hold a case.yaml. */
static int find_cases(struct arena *a, const char *dir, struct case_names *out, struct err *err)
{
	DIR *d = opendir(arena_printf(a, "%s/tests", dir));
	const struct dirent *e;

	while (d && out->n < CASES_MAX && (e = readdir(d)) != NULL) {
		const char *path = arena_printf(a, "%s/tests/%s", dir, e->d_name);

		if (e->d_name[0] != '.' && access(arena_printf(a, "%s/case.yaml", path), R_OK) == 0)
			*vec_push(out) = path;
	}
	if (d)
		closedir(d);
	vec_sort(out, compare_cases);
	if (out->n > 0)
		return 0;
	err_set(err, E_NOTFOUND, "'%s' has no tests", dir);
	return err_hint(
		err, "a test is a folder tests/NAME with case.yaml; 'stoika recipe new' makes two");
}

/* The recipe and what it needs, by name, and the folders they lie in. */
static void add_recipes(
	struct arena *a, const struct pack_recipe *recipes, unsigned n, struct case_names *argv)
{
	const char *places[PLACES_MAX];
	const unsigned n_places = pack_places(a, places, PLACES_MAX);

	for (unsigned i = 0; i < n; i++) {
		*vec_push(argv) = "--recipes";
		*vec_push(argv) = arena_printf(a, "%s/..", recipes[i].dir);
	}
	for (unsigned i = 0; i < n_places; i++) {
		*vec_push(argv) = "--recipes";
		*vec_push(argv) = places[i];
	}
	for (unsigned i = 0; i < n; i++) {
		*vec_push(argv) = "--recipe";
		*vec_push(argv) = recipes[i].name;
	}
}

/* Folders may be named from where we are. */
static int run_agent(const struct case_names *argv, struct proc_result *res, struct err *err)
{
	AUTO_STR here = getcwd(NULL, 0);
	const struct proc p = {.argv = argv->at, .cwd = here ? here : "/", .timeout = TIME_MAX};
	int rc = proc_run(&p, res, err);

	if (rc < 0)
		return rc;
	if (res->out.n > 0)
		return 0;
	err_set(err, E_REMOTE, "the agent could not run the tests: %.300s", buf_text(&res->err));
	proc_result_done(res);
	return -E_REMOTE;
}

/* --- what it said --- */

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_result(const json_t *r, struct buf *out)
{
	struct str rest = str_of(json_get_str(r, "told", "")), line;
	char took[24];

	clock_format_span(json_get_int(r, "took_ms", 0) * CLOCK_MS, took);
	buf_addf(out, "%-6s  %8s  %s\n", json_get_bool(r, "good", false) ? "ok" : "FAILED", took,
		last_name(json_get_str(r, "case", "")));
	while (str_line(&rest, &line))
		buf_addf(out, "          " STR_FMT "\n", STR_ARG(line));
}

/* Lines of JSON, one a case. */
static unsigned read_results(struct str lines, json_t *list)
{
	struct str line;
	unsigned bad = 0;

	while (str_line(&lines, &line)) {
		json_t *one = NULL;

		if (json_parse(line, TEXT_MAX, "the agent's answer", &one, NULL) < 0)
			continue;
		bad += !json_get_bool(one, "good", false);
		json_array_append_new(list, one);
	}
	return bad;
}

static void print_results(const struct invocation *inv, json_t *list, unsigned bad)
{
	AUTO_BUF text = {0};
	json_t *one;
	size_t i;

	if (inv->json) {
		session_print_json(list);
		return;
	}
	buf_init(&text, TEXT_MAX);
	json_array_foreach(list, i, one) add_result(one, &text);
	buf_addf(&text, "%zu test%s, %u failed%s\n", json_array_size(list),
		json_array_size(list) == 1 ? "" : "s", bad,
		bad > 0 && !option_get(inv, "keep") ? "; --keep leaves their trees to be looked at"
						    : "");
	session_print_lines(&text);
}

/* --- the command --- */

static int test(const struct invocation *inv, const struct pack_recipe *recipes, unsigned n,
	unsigned *bad, struct err *err)
{
	struct case_names argv = VEC_INIT, cases = VEC_INIT;
	struct proc_result res;
	AUTO_JSON list = json_array();
	const char *agent = find_agent(inv->arena);
	int rc = find_cases(inv->arena, recipes[n - 1].dir, &cases, err);

	if (rc == 0 && !agent) {
		err_set(err, E_NOTFOUND, "there is no 'stoika-agent' beside this program");
		rc = err_hint(err, "name it by STOIKA_AGENT");
	}
	*vec_push(&argv) = agent;
	*vec_push(&argv) = "trial";
	*vec_push(&argv) = "--json";
	if (option_get(inv, "keep"))
		*vec_push(&argv) = "--keep";
	add_recipes(inv->arena, recipes, n, &argv);
	vec_each(&cases, const char *, path)
		*vec_push(&argv) = *path;
	*vec_push(&argv) = NULL;
	if (rc == 0)
		rc = run_agent(&argv, &res, err);
	if (rc == 0) {
		*bad = read_results(buf_str(&res.out), list);
		print_results(inv, list, *bad);
		if (json_array_size(list) < cases.n)
			rc = err_set(err, E_REMOTE, "only %zu of %zu tests were run",
				json_array_size(list), cases.n);
		proc_result_done(&res);
	}
	vec_done(&cases);
	vec_done(&argv);
	return rc;
}

static int run_test(struct invocation *inv)
{
	struct pack_recipe *recipes = NULL;
	unsigned n = 0, bad = 0;
	struct err err;
	int rc = pack_resolve(inv->arena, &inv->args[0], 1, &recipes, &n, &err);

	if (rc == 0)
		rc = test(inv, recipes, n, &bad, &err);
	for (unsigned i = 0; i < n; i++)
		recipe_done(recipes[i].recipe);
	if (rc < 0)
		return command_fail(inv, &err);
	return bad > 0 ? EXIT_SOME : EXIT_OK;
}

static const struct option TEST_OPTIONS[] = {
	{"keep", 0, NULL, "leave the trees in /tmp, undo nothing, and tell where each is", false},
	{0},
};

const struct command COMMAND_RECIPE_TEST = {
	.name = "recipe test",
	.args = "RECIPE",
	.min_args = 1,
	.max_args = 1,
	.summary = "run a recipe's own tests on throw-away roots",
	.about =
		"A test is a folder tests/NAME of the recipe: case.yaml says what is given and what\n"
		"must come of it, before/ and after/ hold the tree. The agent lays each under a root\n"
		"in /tmp, runs the recipe and what it needs for real, compares, and runs it again,\n"
		"which must change nothing. Who is not root does it in a user namespace.\n",
	.options = TEST_OPTIONS,
	.run = run_test,
};
