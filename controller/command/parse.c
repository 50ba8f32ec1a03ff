#include "controller/command/parse.h"

#include <string.h>

static const struct option GLOBAL[] = {
	{"db", 0, "FILE", "the inventory; else STOIKA_DB, else the default place", false},
	{"json", 0, NULL, "machine-readable output", false},
	{"help", 'h', NULL, "this text", false},
	{0},
};

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = COMMANDS; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

static bool is_first_word(const char *word)
{
	const size_t n = strlen(word);

	for (const struct command *const *c = COMMANDS; *c; c++)
		if (strncmp((*c)->name, word, n) == 0 && (*c)->name[n] == ' ')
			return true;
	return false;
}

/* "run list, run show" for the hint after a lone first word. */
static const char *second_words(struct arena *a, const char *word)
{
	const size_t n = strlen(word);
	const char *list = "";

	for (const struct command *const *c = COMMANDS; *c; c++)
		if (strncmp((*c)->name, word, n) == 0 && (*c)->name[n] == ' ')
			list = arena_printf(
				a, "%s%s'stoika %s'", list, *list ? ", " : "", (*c)->name);
	return list;
}

static int unknown_command(struct arena *a, const char *word, struct err *err)
{
	const char *names[128];
	size_t n = 0;

	for (const struct command *const *c = COMMANDS; *c && n < 127; c++)
		names[n++] = arena_text(a, str_first(str_of((*c)->name), strcspn((*c)->name, " ")));
	names[n] = NULL;

	const char *near = err_nearest(word, names);

	err_set(err, E_SYNTAX, "unknown command '%s'", word);
	if (near)
		return err_hint(err, "did you mean 'stoika %s'? 'stoika help' lists them", near);
	return err_hint(err, "'stoika help' lists the commands");
}

/* Takes the one or two words of the command from the words; returns how many, or an error. */
static int choose_command(
	struct invocation *inv, const char *const *words, unsigned n, struct err *err)
{
	if (n > 1) {
		inv->command = find_command(arena_printf(inv->arena, "%s %s", words[0], words[1]));
		if (inv->command)
			return 2;
	}
	inv->command = find_command(words[0]);
	if (inv->command)
		return 1;
	if (is_first_word(words[0])) {
		err_set(err, E_SYNTAX, "'%s' needs a second word", words[0]);
		return err_hint(err, "one of %s; 'stoika help %s' tells of all",
			second_words(inv->arena, words[0]), words[0]);
	}
	return unknown_command(inv->arena, words[0], err);
}

static int find_option(const struct option *table, struct str name)
{
	for (int i = 0; table && table[i].name; i++)
		if (str_is(name, table[i].name) ||
			(name.n == 1 && table[i].letter && table[i].letter == name.p[0]))
			return i;
	return -1;
}

static int unknown_option(const struct command *c, const char *word, struct err *err)
{
	const char *names[OPTION_MAX + 4];
	size_t n = 0;
	const size_t dashes = strspn(word, "-");

	for (int i = 0; c->options && c->options[i].name; i++)
		names[n++] = c->options[i].name;
	for (int i = 0; GLOBAL[i].name; i++)
		names[n++] = GLOBAL[i].name;
	names[n] = NULL;

	const char *near = err_nearest(word + dashes, names);

	err_set(err, E_SYNTAX, "'stoika %s' has no option '%s'", c->name, word);
	if (near)
		return err_hint(err, "did you mean '--%s'?", near);
	return err_hint(err, "'stoika help %s' lists its options", c->name);
}

static int put_option(
	struct invocation *inv, int at, const struct option *o, const char *value, struct err *err)
{
	if (inv->given[at].n > 0 && !o->many)
		return err_set(err, E_SYNTAX, "option '--%s' is given twice", o->name);
	if (inv->given[at].n >= ARG_MAX_N)
		return err_set(err, E_LIMIT, "option '--%s' is given more than %d times", o->name,
			ARG_MAX_N);
	inv->given[at].at[inv->given[at].n++] = value ? value : "";
	return 0;
}

/* One option word; *next is the word after it and is set to NULL when it was taken as the value. */
static int take_option(
	struct invocation *inv, const char *word, const char **next, bool *help, struct err *err)
{
	struct str name = str_from(str_of(word), strspn(word, "-"));
	const char *equals = strchr(word, '=');
	const char *value = NULL;

	if (equals)
		name.n = (size_t)(equals - name.p), value = equals + 1;

	const int own = find_option(inv->command->options, name);
	const int global = own < 0 ? find_option(GLOBAL, name) : -1;

	if (own < 0 && global < 0)
		return unknown_option(inv->command, word, err);

	const struct option *o = own >= 0 ? &inv->command->options[own] : &GLOBAL[global];

	if (!o->value && value)
		return err_set(err, E_SYNTAX, "option '--%s' takes no value", o->name);
	if (o->value && !value) {
		if (!*next)
			return err_set(err, E_SYNTAX, "option '--%s' needs a value: %s", o->name,
				o->value);
		value = *next;
		*next = NULL;
	}
	if (own >= 0)
		return put_option(inv, own, o, value, err);
	if (strcmp(o->name, "db") == 0)
		inv->db = value;
	else if (strcmp(o->name, "json") == 0)
		inv->json = true;
	else
		*help = true;
	return 0;
}

static int judge_count(const struct invocation *inv, struct err *err)
{
	const struct command *c = inv->command;

	if (inv->n_args < c->min_args)
		err_set(err, E_SYNTAX, "'stoika %s' needs %s", c->name, c->args);
	else if (inv->n_args > c->max_args)
		err_set(err, E_SYNTAX, "'%s' is one argument too many", inv->args[c->max_args]);
	else
		return 0;
	return err_hint(err, "usage: stoika %s%s%s", c->name, *c->args ? " " : "", c->args);
}

/* A global option may stand before the command: it is skipped here and read in the second pass. */
static bool global_takes_next(const char *word)
{
	const int at = find_option(GLOBAL, str_from(str_of(word), strspn(word, "-")));

	return at >= 0 && GLOBAL[at].value && !strchr(word, '=');
}

static unsigned leading_words(int argc, char *const *argv, const char **words, int *at)
{
	unsigned n = 0;

	for (int i = 1; i < argc && n < 2; i++) {
		if (argv[i][0] == '-' && argv[i][1]) {
			i += global_takes_next(argv[i]) ? 1 : 0;
			continue;
		}
		at[n] = i;
		words[n++] = argv[i];
	}
	return n;
}

/* Without a command only what asks for help may stand there. */
static int judge_lone_options(int argc, char *const *argv, struct invocation *inv, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		const int at = find_option(GLOBAL, str_from(str_of(word), strspn(word, "-")));

		if (at >= 0 && GLOBAL[at].letter == 'h')
			continue;
		if (at >= 0 && strcmp(GLOBAL[at].name, "json") == 0) {
			inv->json = true;
			continue;
		}
		if (at >= 0)
			err_set(err, E_SYNTAX, "'%s' alone tells no command", word);
		else
			err_set(err, E_SYNTAX, "'%s' is no command", word);
		return err_hint(err, "%s",
			strcmp(word, "--version") == 0 ? "did you mean 'stoika version'?"
						       : "'stoika help' lists the commands");
	}
	return 0;
}

int parse_command_line(
	int argc, char *const *argv, struct invocation *inv, bool *help, struct err *err)
{
	const char *words[2];
	int at[2] = {0, 0};
	const unsigned n = leading_words(argc, argv, words, at);
	bool literal = false;
	int taken, rc;

	*help = false;
	if (n == 0) {
		*help = true;
		return judge_lone_options(argc, argv, inv, err);
	}
	taken = choose_command(inv, words, n, err);
	if (taken < 0)
		return taken;
	for (int i = 1; i < argc; i++) {
		if (i == at[0] || (taken == 2 && i == at[1]))
			continue;
		if (!literal && strcmp(argv[i], "--") == 0) {
			literal = true;
		} else if (!literal && argv[i][0] == '-' && argv[i][1]) {
			const char *next = i + 1 < argc ? argv[i + 1] : NULL;
			const char *had = next;

			rc = take_option(inv, argv[i], &next, help, err);
			if (rc < 0)
				return rc;
			i += had != next ? 1 : 0;
		} else if (inv->n_args < ARG_MAX_N) {
			inv->args[inv->n_args++] = argv[i];
		} else {
			return err_set(err, E_LIMIT, "more than %d arguments", ARG_MAX_N);
		}
	}
	return *help ? 0 : judge_count(inv, err);
}

static int own_option(const struct invocation *inv, const char *name)
{
	return find_option(inv->command->options, str_of(name));
}

const char *option_get(const struct invocation *inv, const char *name)
{
	const int at = own_option(inv, name);

	return at >= 0 && inv->given[at].n ? inv->given[at].at[0] : NULL;
}

unsigned option_count(const struct invocation *inv, const char *name)
{
	const int at = own_option(inv, name);

	return at >= 0 ? inv->given[at].n : 0;
}

const char *option_at(const struct invocation *inv, const char *name, unsigned i)
{
	const int at = own_option(inv, name);

	return at >= 0 && i < inv->given[at].n ? inv->given[at].at[i] : NULL;
}
