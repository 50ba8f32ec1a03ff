#include "controller/command/recipe_warn.h"

#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/recipe/shell_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX (8u << 20)

/* What the functions look at: the recipe, and all of its text that may read a parameter. */
struct subject {
	const struct recipe *recipe;
	const char *dir;
	struct buf text;
	const char *name; /* of the warning in hand */
	struct recipe_warnings *out;
};

__attribute__((format(printf, 4, 5))) static void tell(
	struct subject *s, const struct yaml_node *at, const char *hint, const char *fmt, ...)
{
	struct recipe_warning *w = vec_push(s->out);
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	w->name = s->name;
	yaml_err(s->recipe->doc, at, &w->at, E_SCHEMA, "%s", msg);
	err_hint(&w->at, "%s", hint);
}

/* --- the warnings --- */

static void warn_no_about(struct subject *s)
{
	if (!s->recipe->about)
		tell(s, s->recipe->doc->root, "about: one line for people",
			"the recipe does not say what it is about");
}

static void warn_no_check(struct subject *s)
{
	if (s->recipe->n_checks == 0 && s->recipe->n_steps > 0)
		tell(s, s->recipe->doc->root,
			"check: [{name: ..., expect: http_ok(...) or exists(...)}]",
			"nothing checks that what the recipe set up works");
}

static bool gives(const struct step *step, const char *name)
{
	for (unsigned i = 0; i < step->n_args; i++)
		if (strcmp(step->args[i].param->name, name) == 0)
			return true;
	return false;
}

static void warn_unguarded_command(struct subject *s)
{
	for (unsigned i = 0; i < s->recipe->n_steps; i++) {
		const struct step *step = &s->recipe->steps[i];

		if (strcmp(step->kind->name, "command") == 0 && !gives(step, "creates") &&
			!gives(step, "unless") && !step->when)
			tell(s, step->at, "creates: PATH, unless: EXPRESSION or when: EXPRESSION",
				"the command runs at each apply, and 'stoika check' cannot judge it");
	}
}

/* params.NAME or params['NAME'], and no longer name. */
static bool is_read(const struct subject *s, const char *name)
{
	const size_t n = strlen(name);

	for (const char *p = buf_text(&s->text); (p = strstr(p, "params")) != NULL; p += 6) {
		const char *at = p + 6;

		at += strspn(at, ".['\"");
		if (at > p + 6 && strncmp(at, name, n) == 0 && !strchr("_", at[n]) &&
			strspn(at + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789") == 0)
			return true;
	}
	return false;
}

static void warn_unused_param(struct subject *s)
{
	for (unsigned i = 0; i < s->recipe->n_params; i++)
		if (!is_read(s, s->recipe->params[i].name))
			tell(s, s->recipe->params[i].at, "read it as params.NAME, or take it out",
				"nothing reads the parameter '%s'", s->recipe->params[i].name);
}

static void warn_param_without_about(struct subject *s)
{
	for (unsigned i = 0; i < s->recipe->n_params; i++)
		if (!s->recipe->params[i].about)
			tell(s, s->recipe->params[i].at, "about: what it is, with its unit",
				"the parameter '%s' is not explained", s->recipe->params[i].name);
}

/* Files of a folder of the recipe that its text nowhere names. */
static void warn_files_of(struct subject *s, const char *folder)
{
	char path[4096];
	const struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "%s/%s", s->dir, folder);
	d = opendir(path);
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && e->d_type == DT_REG &&
			!strstr(buf_text(&s->text), e->d_name))
			tell(s, s->recipe->doc->root, "use it as 'source', or remove it",
				"no step uses %s/%s", folder, e->d_name);
	if (d)
		closedir(d);
}

static void warn_unused_file(struct subject *s)
{
	warn_files_of(s, "files");
	warn_files_of(s, "templates");
}

/* The lines for a shell of the kinds that have one. */
static void warn_unquoted_shell(struct subject *s)
{
	const struct recipe *r = s->recipe;
	char name[SHELL_NAME_MAX], hint[SHELL_NAME_MAX + 40];

	for (unsigned i = 0; i < r->n_steps + r->n_handlers + r->n_undo; i++) {
		const struct step *step = i < r->n_steps ? &r->steps[i]
					  : i < r->n_steps + r->n_handlers
						  ? &r->handlers[i - r->n_steps]
						  : &r->undo[i - r->n_steps - r->n_handlers];

		for (unsigned k = 0; k < step->n_args; k++) {
			const struct step_arg *a = &step->args[k];

			if (strcmp(a->param->name, "shell") != 0 ||
				!shell_finds_unquoted(r, a->text, name))
				continue;
			snprintf(hint, sizeof hint, "write {{ quote(%s) }}", name);
			tell(s, a->at, hint, "'%s' stands in a shell's line without quote()", name);
		}
	}
}

static const struct warning {
	const char *name;
	void (*look)(struct subject *s);
} WARNINGS[] = {
	{"no-about", warn_no_about},
	{"no-check", warn_no_check},
	{"unguarded-command", warn_unguarded_command},
	{"unquoted-shell", warn_unquoted_shell},
	{"unused-param", warn_unused_param},
	{"param-without-about", warn_param_without_about},
	{"unused-file", warn_unused_file},
};

/* --- the text --- */

static void add_file(int fd, const char *path, struct buf *out)
{
	AUTO_BUF text = {0};

	buf_init(&text, TEXT_MAX);
	if (fs_read(fd, path, &text, NULL) == 0)
		buf_add_str(out, buf_str(&text));
	buf_add_char(out, '\n');
}

static void add_templates(int fd, const char *dir, struct buf *out)
{
	char path[4096];
	const struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "%s/templates", dir);
	d = opendir(path);
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.') {
			snprintf(path, sizeof path, "templates/%s", e->d_name);
			add_file(fd, path, out);
		}
	if (d)
		closedir(d);
}

static int compare_places(const void *a, const void *b)
{
	const struct recipe_warning *x = a, *y = b;

	return (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

void recipe_warn(const struct recipe *r, const char *dir, struct recipe_warnings *out)
{
	struct subject s = {.recipe = r, .dir = dir, .out = out};
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	buf_init(&s.text, 2 * TEXT_MAX);
	if (fd >= 0) {
		add_file(fd, "recipe.yaml", &s.text);
		add_templates(fd, dir, &s.text);
		close(fd);
	}
	for (size_t i = 0; i < sizeof WARNINGS / sizeof *WARNINGS; i++) {
		s.name = WARNINGS[i].name;
		WARNINGS[i].look(&s);
	}
	vec_sort(out, compare_places);
	buf_done(&s.text);
}
