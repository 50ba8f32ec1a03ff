/*
 * recipe_errors_test - every mistake in tests/plan/errors gives exactly the text beside it.
 *
 * STOIKA_UPDATE=1 rewrites the expected texts; tests/plan/README.md has the format.
 */
#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/recipe/recipe.h"
#include "tests/unit/t.h"

#include <dirent.h>
#include <sys/stat.h>

#define FOLDER       TEST_DIR "/../../plan/errors"
#define CASES_MIN    60
#define HINTLESS_MAX 2 /* equal keys, a NUL: agent/base says all there is to say */

static unsigned cases, failures, hintless;

struct golden {
	const char *title, *params, *names;
	struct str recipe, expected;
	const char *before, *after; /* the expected text's place in the file */
};

static void write_text(const char *path, struct str text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
	assert_int_equal(fclose(f), 0);
}

static void write_source(struct arena *a, const char *name, struct str text)
{
	mkdir("demo/files", 0755);
	mkdir("demo/templates", 0755);
	write_text(arena_printf(a, "demo/%s", name), text);
}

/* The text up to the next line that begins with "--- " or "=== ". */
static struct str section(struct str *rest)
{
	struct str all = *rest, look = *rest, line;
	size_t n = 0;

	while (str_line(&look, &line)) {
		if (str_starts(line, "--- ") || str_starts(line, "=== "))
			break;
		n = (size_t)(look.p ? look.p - all.p : 0);
		if (look.n == 0)
			n = all.n;
	}
	*rest = str_from(all, n);
	return str_first(all, n);
}

static void read_case(struct arena *a, struct str *rest, struct golden *g)
{
	struct str line;

	*g = (struct golden){0};
	assert_true(str_line(rest, &line));
	assert_true(str_starts(line, "=== "));
	g->title = arena_text(a, str_from(line, 4));
	while (rest->n > 0 && !str_starts(*rest, "=== ")) {
		struct str name;

		assert_true(str_line(rest, &line));
		name = str_from(line, 4);
		if (str_starts(line, "--- file "))
			write_source(a, arena_text(a, str_from(name, 5)), section(rest));
		else if (str_is(line, "--- recipe"))
			g->recipe = section(rest);
		else if (str_starts(line, "--- params "))
			g->params = arena_text(a, str_from(name, 7));
		else if (str_starts(line, "--- names "))
			g->names = arena_text(a, str_from(name, 6));
		else if (str_is(line, "--- error")) {
			g->before = rest->p;
			g->expected = section(rest);
			g->after = g->before + g->expected.n;
		} else {
			fail_msg("%s: what is '" STR_FMT "'?", g->title, STR_ARG(line));
		}
	}
	assert_true(g->recipe.n > 0);
}

static json_t *parse_json(const char *text)
{
	json_t *v = NULL;
	struct err err = {0};

	if (json_parse(str_of(text), 4096, "case", &v, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	return v;
}

static int evaluate(const struct recipe *r, const struct golden *g, struct err *err)
{
	AUTO_JSON params = NULL;
	AUTO_JSON given = parse_json(g->params ? g->params : "{}");
	AUTO_JSON names = parse_json(g->names ? g->names : "{}");
	const struct scope scope = {.names = names};
	int rc = recipe_params(r, given, &params, err);

	if (rc < 0)
		return rc;
	json_object_set(names, "params", params);
	for (unsigned i = 0; i < r->n_steps && rc == 0; i++) {
		AUTO_JSON args = NULL;
		const char *unknown = NULL;

		rc = step_args_eval(r, &r->steps[i], &scope, &args, &unknown, err);
	}
	return rc;
}

static void run_case(struct arena *a, const struct golden *g, struct buf *out)
{
	struct recipe *r = NULL;
	struct err err = {0};
	int rc;

	write_text("demo/recipe.yaml", g->recipe);
	rc = recipe_load(a, "demo", &r, &err);
	if (rc == 0) {
		if (g->params || g->names)
			rc = evaluate(r, g, &err);
		recipe_done(r);
	}
	if (rc == 0) {
		buf_add_text(out, "no error\n");
		failures++;
		return;
	}
	assert_int_equal(rc, -(int)err.code);
	err_format(&err, out);
	if (!g->params && (err.line == 0 || err.col == 0 || !err.excerpt[0])) {
		print_error("%s: no place or no excerpt\n", g->title);
		failures++;
	}
	if (!err.hint[0]) {
		print_message("%s: no hint\n", g->title);
		hintless++;
	}
}

static void enter_folder(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%u", t_dir(), cases);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chdir(path), 0);
	assert_int_equal(mkdir("demo", 0755), 0);
}

static struct str read_file(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "re");
	const size_t room = 1u << 20;
	char *text = arena_alloc(a, room);
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, room, f);
	assert_true(n < room);
	fclose(f);
	return (struct str){text, n};
}

static void compare(const struct golden *g, const struct buf *got, const char *file)
{
	if (str_eq(str_trim(buf_str(got)), str_trim(g->expected)))
		return;
	print_error("%s: %s\n-- expected\n" STR_FMT "-- got\n%s", file, g->title,
		STR_ARG(g->expected), buf_text(got));
	failures++;
}

static void run_file(const char *name)
{
	struct arena *a = arena_new();
	const char *path = arena_printf(a, FOLDER "/%s", name), *copied;
	struct str all = read_file(a, path), rest = all;
	struct golden g;
	AUTO_BUF updated;

	buf_init(&updated, 4u << 20);
	for (copied = all.p; rest.n > 0; cases++) {
		AUTO_BUF got;

		buf_init(&got, 8192);
		enter_folder();
		read_case(a, &rest, &g);
		run_case(a, &g, &got);
		if (getenv("STOIKA_UPDATE") && g.before) {
			buf_add(&updated, copied, (size_t)(g.before - copied));
			buf_add_str(&updated, buf_str(&got));
			buf_add_text(&updated, "\n");
			copied = g.after;
		} else {
			compare(&g, &got, name);
		}
	}
	if (getenv("STOIKA_UPDATE")) {
		buf_add(&updated, copied, (size_t)(all.p + all.n - copied));
		write_text(path, buf_str(&updated));
	}
	arena_free(a);
}

static int only_tests(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && strcmp(d->d_name + n - 5, ".test") == 0;
}

TEST(errors_are_as_written)
{
	struct dirent **files;
	int n = scandir(FOLDER, &files, only_tests, alphasort);

	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		run_file(files[i]->d_name);
		free(files[i]);
	}
	free(files);
	assert_int_equal(chdir("/"), 0);
	if (failures > 0)
		fail_msg("%u of %u cases differ", failures, cases);
	assert_true(cases >= CASES_MIN);
	assert_true(hintless <= HINTLESS_MAX);
}

T_MAIN
