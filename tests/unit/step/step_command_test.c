/* command - guards, ends, deadlines; run in a root with a shell. */
#include "agent/base/clock.h"
#include "agent/recipe/recipe.h"
#include "tests/unit/step/programs.h"

#include <sys/sysmacros.h>

static void init(struct tree *t)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_add(t, "/bin/sleep", "/bin/sleep");
	tree_mkdir(t, "srv");
}

TEST(command_with_creates_runs_once)
{
	static const char ARGS[] =
		"{\"shell\": \"echo made >srv/done\", \"creates\": \"/srv/done\"}";
	struct tree t;

	init(&t);
	tree_converge(
		&t, "command", "{\"shell\": \"echo made >srv/done\", \"creates\": \"/srv/done\"}");
	assert_string_equal(tree_read(&t, "srv/done"), "made\n");
	assert_int_equal(tree_check(&t, "command", ARGS), STEP_SAME);
	assert_false(t.rep.always);
	tree_done(&t);
}

TEST(command_without_a_guard_says_so)
{
	static const char ARGS[] = "{\"run\": [\"/bin/sh\", \"-c\", \"exit 0\"]}";
	struct tree t;

	init(&t);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tree_check(&t, "command", ARGS), STEP_DIFFERS);
		assert_true(t.rep.always);
		assert_string_equal(t.rep.why, "has no guard and is run each time");
		assert_string_equal(buf_text(&t.rep.diff), "run /bin/sh -c exit 0\n");
		assert_int_equal(tree_apply(&t, "command", ARGS), 0);
	}
	tree_done(&t);
}

TEST(command_that_fails_tells_its_last_words)
{
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_apply(&t, "command", "{\"shell\": \"echo first; echo cannot do it; exit 3\"}"),
		-E_REMOTE);
	assert_non_null(strstr(t.err.msg, "status 3"));
	assert_non_null(strstr(t.err.msg, "cannot do it"));
	/* -e and -u */
	assert_int_equal(tree_apply(&t, "command", "{\"shell\": \"false; exit 0\"}") < 0, 1);
	assert_int_equal(tree_apply(&t, "command", "{\"shell\": \": $nope\"}") < 0, 1);
	assert_int_equal(tree_apply(&t, "command", "{\"run\": [\"/no/such\"]}") < 0, 1);
	tree_done(&t);
}

TEST(command_has_a_deadline)
{
	const int64_t start = clock_mono();
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_apply(&t, "command", "{\"run\": [\"/bin/sleep\", \"60\"], \"timeout\": 1}"),
		-E_TIMEOUT);
	assert_true(clock_mono() - start < 30 * CLOCK_SEC);
	tree_done(&t);
}

TEST(command_runs_in_its_folder)
{
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_apply(&t, "command", "{\"shell\": \"echo x >here\", \"cwd\": \"/srv\"}"), 0);
	assert_string_equal(tree_read(&t, "srv/here"), "x\n");
	assert_int_equal(
		tree_apply(&t, "command", "{\"shell\": \":\", \"cwd\": \"/nope\"}") < 0, 1);
	tree_done(&t);
}

TEST(command_reads_its_stdin_and_variables)
{
	struct tree t;

	init(&t);
	assert_int_equal(tree_apply(&t, "command",
				 "{\"shell\": \"read -r a; echo $a $X $PATH $HOME >srv/out\", "
				 "\"stdin\": \"secret\\n\", \"env\": {\"X\": \"a b\", \"PATH\": "
				 "\"/bin\"}}"),
		0);
	assert_string_equal(tree_read(&t, "srv/out"), "secret a b /bin /\n");
	/* what it reads is in no plan and in no message */
	assert_int_equal(tree_check(&t, "command", "{\"shell\": \"false\", \"stdin\": \"secret\"}"),
		STEP_DIFFERS);
	assert_false(tree_said(&t, "secret"));
	assert_true(tree_apply(&t, "command", "{\"shell\": \"false\", \"stdin\": \"secret\"}") < 0);
	assert_null(strstr(t.err.msg, "secret"));
	tree_refused(&t, "command", "{\"shell\": \":\", \"env\": {\"A B\": \"\"}}", E_SCHEMA);
	tree_refused(&t, "command", "{\"shell\": \":\", \"env\": {\"1A\": \"\"}}", E_SCHEMA);
	tree_refused(&t, "command", "{\"shell\": \":\", \"env\": {\"\": \"\"}}", E_SCHEMA);
	tree_done(&t);
}

/* Writes a letter five times a second, for as long as it lives but three seconds at most. */
#define DAEMON                                                                             \
	"(i=0; while [ $i -lt 15 ]; do echo x >>/srv/beats; sleep 0.2; i=$((i+1)); done) " \
	">/dev/null 2>&1 & "

static size_t beats(struct tree *t)
{
	return strlen(tree_read(t, "srv/beats"));
}

TEST(command_leaves_nothing_behind)
{
	struct tree t;
	size_t n;

	init(&t);
	tree_write(&t, "dev/null", "");
	assert_int_equal(tree_apply(&t, "command", "{\"shell\": \"" DAEMON "sleep 0.5\"}"), 0);
	n = beats(&t);
	assert_true(tree_has(&t, "srv/beats"));
	clock_sleep(CLOCK_SEC);
	assert_int_equal(beats(&t), n);
	assert_int_equal(tree_apply(&t, "command",
				 "{\"background\": true, \"shell\": \"" DAEMON "sleep 0.5\"}"),
		0);
	clock_sleep(CLOCK_SEC);
	assert_true(beats(&t) > 2 * n);
	clock_sleep(2 * CLOCK_SEC);
	tree_done(&t);
}

/* A gigabyte of what is no text: the agent keeps 4 MiB, and tells the end in plain letters. */
TEST(command_that_floods)
{
	char path[512];
	struct tree t;

	init(&t);
	programs_add(&t, "/usr/bin/head", "/bin/head");
	tree_mkdir(&t, "dev");
	tree_path(&t, "dev/zero", path);
	if (mknod(path, S_IFCHR | 0666, makedev(1, 5)) < 0)
		skip();
	assert_true(tree_apply(&t, "command",
			    "{\"shell\": \"head -c 1000000000 /dev/zero; printf '\\\\n\\\\377 no "
			    "disk\\\\n'; exit 4\"}") < 0);
	assert_non_null(strstr(t.err.msg, "status 4"));
	assert_non_null(strstr(t.err.msg, "\\xff no disk"));
	tree_done(&t);
}

TEST(command_that_never_ends)
{
	const int64_t start = clock_mono();
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_apply(&t, "command",
			"{\"timeout\": 1, \"shell\": \"echo working; while :; do :; done\"}"),
		-E_TIMEOUT);
	assert_non_null(strstr(t.err.msg, "working"));
	assert_true(clock_mono() - start < 8 * CLOCK_SEC);
	tree_done(&t);
}

/* A recipe's step, since 'unless' is an expression of it. */
static struct step *load(struct tree *t, const char *text)
{
	struct recipe *r;

	if (recipe_parse(t->arena, "demo", str_of(text), NULL, &r, &t->err) < 0)
		fail_msg("%s", t->err.msg);
	return &r->steps[0];
}

TEST(command_unless_is_judged_by_probes)
{
	static const char ARGS[] = "{\"shell\": \"echo ready >srv/state\"}";
	struct tree t;

	init(&t);
	t.env.step = load(&t, "recipe: demo\nabout: a test\nsteps:\n"
			      "  - command: {shell: echo ready >srv/state, unless: \"contains("
			      "'/srv/state', 'ready')\"}\n");
	assert_int_equal(tree_check(&t, "command", ARGS), STEP_DIFFERS);
	assert_string_equal(t.rep.why, "its guard asks for it");
	tree_converge(&t, "command", ARGS);
	tree_done(&t);
}

static const char *const BAD[] = {"{}", "{\"run\": []}", "{\"shell\": \":\", \"timeout\": 0}",
	"{\"shell\": \":\", \"timeout\": 999999}"};

TEST(command_refuses_bad_arguments)
{
	struct tree t;

	tree_init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
		tree_refused(&t, "command", BAD[i], E_SCHEMA);
	tree_refused(&t, "command", "{\"shell\": \":\", \"run\": [\"x\"]}", E_CONFLICT);
	tree_done(&t);
}

T_MAIN
