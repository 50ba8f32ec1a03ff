/* recipe_new - a folder with all that a recipe has, small and right from the first line. */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "@NAME@"

/* Files of a new recipe; NAME stands for its name. */
static const struct {
	const char *path, *text;
} FILES[] = {
	{"recipe.yaml", "recipe: " NAME "\n"
			"about: a greeting for who logs in\n"
			"params:\n"
			"  greeting: {type: text, default: \"welcome\", about: the words}\n"
			"steps:\n"
			"  - directory: {path: /etc/" NAME "}\n"
			"  - template: {path: /etc/" NAME "/text, source: text, mode: \"0644\"}\n"
			"check:\n"
			"  - name: the text is there\n"
			"    expect: contains('/etc/" NAME "/text', params.greeting)\n"},
	{"templates/text", "{{ params.greeting }}\n"},
	{"files/.keep", ""},
	{"README.md",
		"# " NAME "\n\n"
		"What it sets up, for whom, and what a person has to know before and after.\n\n"
		"    stoika recipe check ./" NAME "    # mistakes and warnings\n"
		"    stoika recipe test ./" NAME "     # tests/*/case.yaml, on throw-away roots\n"
		"    stoika plan ./" NAME " NODES      # what it would change\n"},
	{"tests/fresh/case.yaml", "about: on a node that has nothing of it\n"
				  "params: {" NAME ": {greeting: hello}}\n"
				  "first:\n"
				  "  state: changed\n"
				  "  steps:\n"
				  "    - {step: 1, state: changed}\n"
				  "    - {step: 2, state: changed}\n"
				  "undo: true\n"},
	{"tests/fresh/after/etc/" NAME "/text", "hello\n"},
	{"tests/by-hand/case.yaml",
		"about: somebody has edited the text\n"
		"first:\n"
		"  state: changed\n"
		"  steps:\n"
		"    - {step: 2, state: changed, diff: [\"-by hand\", \"+welcome\"]}\n"
		"undo: true\n"},
	{"tests/by-hand/before/etc/" NAME "/text", "by hand\n"},
	{"tests/by-hand/after/etc/" NAME "/text", "welcome\n"},
};

static const char *named(struct arena *a, const char *text, const char *name)
{
	const char *at = strstr(text, NAME);

	if (!at)
		return text;
	return arena_printf(
		a, "%.*s%s%s", (int)(at - text), text, name, named(a, at + strlen(NAME), name));
}

static int write_file(struct arena *a, int fd, const char *path, const char *text, struct err *err)
{
	const char *slash = strrchr(path, '/');
	int rc = 0;

	if (slash)
		rc = fs_mkdirs(
			fd, arena_text(a, (struct str){path, (size_t)(slash - path)}), 0755, err);
	return rc < 0 ? rc : fs_replace(fd, path, str_of(text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

static int make(const struct invocation *inv, const char *name, const char *dir, struct err *err)
{
	int rc = 0;

	if (!str_is_name(str_of(name))) {
		err_set(err, E_SYNTAX, "'%s' is no name for a recipe", name);
		return err_hint(
			err, "letters, digits and . _ - only, at most 64; --in DIR says where");
	}
	if (mkdir(dir, 0755) < 0)
		return err_sys(err, errno, "cannot make the folder '%s'", dir);

	AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", dir);
	for (size_t i = 0; rc == 0 && i < sizeof FILES / sizeof *FILES; i++)
		rc = write_file(inv->arena, fd, named(inv->arena, FILES[i].path, name),
			named(inv->arena, FILES[i].text, name), err);
	return rc;
}

static int run_new(struct invocation *inv)
{
	const char *in = option_get(inv, "in"), *name = inv->args[0];
	const char *dir = arena_printf(inv->arena, "%s/%s", in ? in : ".", name);
	AUTO_BUF text = {0};
	struct err err;

	buf_init(&text, 8192);
	if (make(inv, name, dir, &err) < 0)
		return command_fail(inv, &err);
	buf_addf(&text, "new recipe %s\nnext: stoika recipe check %s, stoika recipe test %s\n", dir,
		dir, dir);
	session_print_document(inv, &text);
	return EXIT_OK;
}

static const struct option OPTIONS[] = {
	{"in", 0, "DIR", "make it there instead of here", false},
	{0},
};

const struct command COMMAND_RECIPE_NEW = {
	.name = "recipe new",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "a folder with a small recipe, its README and its tests",
	.options = OPTIONS,
	.run = run_new,
};
