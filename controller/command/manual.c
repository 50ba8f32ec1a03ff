#include "controller/command/manual.h"

#include "agent/recipe/kind.h"
#include "controller/command/help.h"
#include "controller/command/manual_recipe.h"
#include "controller/command/page.h"
#include "controller/command/table.h"

#include <stdio.h>
#include <string.h>

#define STEP "stoika-step-"

static const char *type_word(enum param_type type)
{
	static const char *const words[] = {
		[PARAM_TEXT] = "text",
		[PARAM_INT] = "whole number",
		[PARAM_NUM] = "number",
		[PARAM_BOOL] = "true or false",
		[PARAM_MODE] = "four octal digits",
		[PARAM_PATH] = "absolute path",
		[PARAM_NAME] = "name",
		[PARAM_SOURCE] = "file of the recipe",
		[PARAM_CHOICE] = "one of",
		[PARAM_LIST] = "list of texts",
		[PARAM_MAP] = "map of texts",
		[PARAM_EXPR] = "expression",
		[PARAM_TREE] = "maps, lists and values",
		[PARAM_SECRET] = "secret",
	};

	return type < sizeof words / sizeof *words && words[type] ? words[type] : "text";
}

static void add_names(struct buf *out, const char *const *names, const char *between)
{
	for (const char *const *n = names; *n; n++)
		buf_addf(out, "%s%s", n == names ? "" : between, *n);
}

static bool is_secret(const struct kind *k, const char *name)
{
	for (const char *const *s = k->secret; s && *s; s++)
		if (strcmp(*s, name) == 0)
			return true;
	return false;
}

static void write_param(const struct page *p, const struct kind *k, const struct kind_param *param)
{
	AUTO_BUF about = {0};

	buf_init(&about, 4096);
	buf_addf(&about, "%s (%s%s", param->about, param->required ? "required; " : "",
		type_word(param->type));
	if (param->choices) {
		buf_add_text(&about, " ");
		add_names(&about, param->choices, ", ");
	}
	if (param->preset)
		buf_addf(&about, "; preset: %s", *param->preset ? param->preset : "empty");
	buf_add_char(&about, ')');
	if (is_secret(k, param->name))
		buf_add_text(&about, "; may hold a secret, and is shown nowhere then");
	page_item(p, param->name, buf_text(&about));
}

/* The rules that hold between parameters. */
static void write_rules(const struct page *p, const struct kind *k)
{
	AUTO_BUF text = {0};

	buf_init(&text, 4096);
	if (k->one_of) {
		buf_add_text(&text, "At least one of ");
		add_names(&text, k->one_of, ", ");
		buf_add_text(&text, " must be given. ");
	}
	if (k->not_both) {
		buf_add_text(&text, "At most one of ");
		add_names(&text, k->not_both, ", ");
		buf_add_text(&text, " may be given. ");
	}
	if (k->unless_absent)
		buf_addf(&text, "%s is needed unless state is absent. ", k->unless_absent);
	if (k->batched)
		buf_add_text(&text, "All steps of this kind in a recipe are done at once. ");
	if (text.n > 0)
		page_text(p, buf_text(&text));
}

static void write_example(const struct page *p, const struct kind *k)
{
	struct str rest = str_of(k->example), line;
	const char *before = "- ";
	AUTO_BUF text = {0};

	buf_init(&text, 16384);
	while (str_line(&rest, &line)) {
		buf_addf(&text, "%s" STR_FMT "\n", before, STR_ARG(line));
		before = "  ";
	}
	page_code(p, buf_text(&text));
}

static void write_kind(const struct page *p, const struct kind *k)
{
	char name[64];

	snprintf(name, sizeof name, STEP "%s", k->name);
	page_begin(p, name, 7, k->about);
	page_section(p, "example");
	write_example(p, k);
	page_section(p, "parameters");
	for (const struct kind_param *param = k->params; param->name; param++)
		write_param(p, k, param);
	write_rules(p, k);
	page_section(p, "check");
	page_text(p, k->check);
	page_section(p, "apply");
	page_text(p, k->apply);
	page_section(p, "undo");
	page_text(p, k->undo);
	page_section(p, "see also");
	page_text(p,
		"stoika-recipe(7) for the keys that stand beside a step of any kind, stoika(1).");
}

void manual_kind(const struct kind *k, struct buf *out)
{
	const struct page p = {out, false};

	write_kind(&p, k);
}

void manual_kinds(struct buf *out)
{
	const struct kind *k;

	buf_add_text(out, "Kinds of step; 'stoika help step KIND' tells all about one.\n\n");
	for (unsigned i = 0; (k = kind_at(i)) != NULL; i++) {
		buf_addf(out, "  %-16s ", k->name);
		help_add_filled(out, k->about, 19);
	}
}

static void write_recipe(const struct page *p)
{
	struct str text = str_of(MANUAL_RECIPE), line;
	const struct kind *k;

	page_begin(p, "stoika-recipe", 7, "the language of recipes");
	page_section(p, "description");
	str_line(&text, &line); /* the title, which stands above */
	page_markdown(p, text);
	page_section(p, "kinds of step");
	for (unsigned i = 0; (k = kind_at(i)) != NULL; i++) {
		char name[64];

		snprintf(name, sizeof name, STEP "%s(7)", k->name);
		page_item(p, name, k->about);
	}
}

const char *manual_name(unsigned n, int *section, char out[static 64])
{
	const struct kind *k;

	*section = n == 0 ? 1 : 7;
	if (n == 0)
		return "stoika";
	if (n == 1)
		return "stoika-recipe";
	k = kind_at(n - 2);
	if (!k)
		return NULL;
	snprintf(out, 64, STEP "%s", k->name);
	return out;
}

/* "stoika-recipe", "stoika-recipe.7", "stoika-recipe(7)". */
static bool is_named(const char *asked, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(asked, name, n) == 0 &&
	       (!asked[n] || asked[n] == '(' || (asked[n] == '.' && strlen(asked + n) == 2));
}

/* By its page's name, as is_named takes it. */
static const struct kind *find_page_kind(const char *name)
{
	const struct kind *k =
		strncmp(name, STEP, strlen(STEP)) == 0 ? kind_find(name + strlen(STEP)) : NULL;

	if (k)
		return k;
	for (unsigned i = 0; (k = kind_at(i)) != NULL; i++) {
		char full[64];

		snprintf(full, sizeof full, STEP "%s", k->name);
		if (is_named(name, full))
			return k;
	}
	return NULL;
}

bool manual_write(const char *name, struct buf *out)
{
	const struct page p = {out, true};
	const struct kind *k = find_page_kind(name);

	if (k)
		write_kind(&p, k);
	else if (is_named(name, "stoika"))
		help_manual(out);
	else if (is_named(name, "stoika-recipe"))
		write_recipe(&p);
	else
		return false;
	return true;
}
