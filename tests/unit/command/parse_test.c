/* parse - command lines against the table of commands: what they mean, and how each slip is told.
 */
#include "controller/command/parse.h"
#include "tests/unit/t.h"

#define WORDS_MAX 16

struct parsed {
	struct invocation inv;
	struct err err;
	bool help;
	int rc;
};

/* Splits at blanks; the words live in the arena. */
static struct parsed parse(struct arena *a, const char *line)
{
	char *argv[WORDS_MAX + 1] = {arena_strdup(a, "stoika")};
	struct str rest = str_of(line), word;
	struct parsed p = {.inv = {.arena = a}};
	int argc = 1;

	while (argc < WORDS_MAX && str_next(&rest, ' ', &word))
		if (word.n)
			argv[argc++] = arena_text(a, word);
	p.rc = parse_command_line(argc, argv, &p.inv, &p.help, &p.err);
	return p;
}

TEST(options_alone_are_no_command)
{
	static const struct {
		const char *line;
		int rc;
	} cases[] = {{"", 0}, {"--help", 0}, {"-h --json", 0}, {"--version", -E_SYNTAX},
		{"--nosuch", -E_SYNTAX}, {"-x", -E_SYNTAX}, {"--db x", -E_SYNTAX},
		{"--", -E_SYNTAX}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena *a = arena_new();
		const struct parsed p = parse(a, cases[i].line);

		assert_int_equal(p.rc, cases[i].rc);
		assert_true(p.help);
		arena_free(a);
	}
}

TEST(two_words_win_over_one)
{
	struct arena *a = arena_new();
	struct parsed p = parse(a, "run show last");

	assert_int_equal(p.rc, 0);
	assert_string_equal(p.inv.command->name, "run show");
	assert_int_equal(p.inv.n_args, 1);
	assert_string_equal(p.inv.args[0], "last");
	arena_free(a);
}

TEST(options_stand_anywhere)
{
	static const char *const lines[] = {
		"--db /x/y.db --json apply base all --set a=1 --set b=2",
		"apply --set a=1 base --json all --db=/x/y.db --set=b=2",
		"apply base all -s a=1 -s b=2 --db /x/y.db --json",
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct arena *a = arena_new();
		struct parsed p = parse(a, lines[i]);

		assert_int_equal(p.rc, 0);
		assert_string_equal(p.inv.command->name, "apply");
		assert_string_equal(p.inv.db, "/x/y.db");
		assert_true(p.inv.json);
		assert_int_equal(p.inv.n_args, 2);
		assert_int_equal(option_count(&p.inv, "set"), 2);
		assert_string_equal(option_at(&p.inv, "set", 0), "a=1");
		assert_string_equal(option_at(&p.inv, "set", 1), "b=2");
		assert_null(option_get(&p.inv, "plan"));
		arena_free(a);
	}
}

TEST(two_dashes_end_the_options)
{
	struct arena *a = arena_new();
	struct parsed p = parse(a, "list nodes -- -b");

	assert_int_equal(p.rc, 0);
	assert_string_equal(p.inv.args[1], "-b");
	arena_free(a);
}

TEST(help_and_no_words)
{
	struct arena *a = arena_new();
	struct parsed p = parse(a, "");

	assert_int_equal(p.rc, 0);
	assert_true(p.help);
	assert_null(p.inv.command);
	p = parse(a, "apply --help");
	assert_true(p.help);
	assert_string_equal(p.inv.command->name, "apply");
	arena_free(a);
}

TEST(slips_are_told)
{
	static const struct {
		const char *line, *msg, *hint;
	} cases[] = {
		{"aply base all", "unknown command 'aply'", "did you mean 'stoika apply'?"},
		{"frobnicate", "unknown command 'frobnicate'", "'stoika help' lists"},
		{"--db x.db", "'--db' alone tells no command", "'stoika help' lists"},
		{"run", "'run' needs a second word", "'stoika run show'"},
		{"run shoe", "'run' needs a second word", "'stoika run watch'"},
		{"recipe show", "needs RECIPE", "usage: stoika recipe show"},
		{"import a b", "'b' is one argument too many", "usage: stoika import PATH"},
		{"apply base all --sat a=1", "has no option '--sat'", "did you mean '--set'?"},
		{"apply base all --plan", "option '--plan' needs a value: HASH", ""},
		{"apply base all --json=yes", "option '--json' takes no value", ""},
		{"apply base all --plan a --plan b", "option '--plan' is given twice", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena *a = arena_new();
		struct parsed p = parse(a, cases[i].line);

		assert_int_equal(p.rc, -E_SYNTAX);
		if (!strstr(p.err.msg, cases[i].msg) ||
			(*cases[i].hint && !strstr(p.err.hint, cases[i].hint)))
			fail_msg("'%s' gave '%s', hint '%s'", cases[i].line, p.err.msg, p.err.hint);
		arena_free(a);
	}
}

TEST(every_descriptor_is_whole)
{
	for (const struct command *const *c = COMMANDS; *c; c++) {
		assert_non_null((*c)->name);
		assert_non_null((*c)->args);
		assert_non_null((*c)->summary);
		assert_non_null((*c)->run);
		assert_true((*c)->min_args <= (*c)->max_args && (*c)->max_args <= ARG_MAX_N);

		unsigned n = 0;

		while ((*c)->options && (*c)->options[n].name)
			n++;
		assert_true(n <= OPTION_MAX);
	}
}

T_MAIN
