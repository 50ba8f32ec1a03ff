/* user, group - with this machine's useradd and groupadd in a throw-away root. */
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

static const char *const TOOLS[] = {
	"useradd", "usermod", "userdel", "groupadd", "groupmod", "groupdel"};

/* Backups and locks of the programs. */
static const char *const LEFT[] = {"etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-",
	"etc/subuid", "etc/subgid", "etc/subuid-", "etc/subgid-", "etc/.pwd.lock", "var", NULL};

static void init(struct tree *t)
{
	char path[64];

	tree_init(t);
	tree_write(t, "etc/shadow", "root:*:19000:0:99999:7:::\nalice:*:19000:0:99999:7:::\n");
	tree_write(t, "etc/gshadow", "root:*::\nalice:!::\nvideo:*::alice\nrender:!::\n");
	tree_write(t, "dev/null", "");
	for (size_t i = 0; i < sizeof TOOLS / sizeof TOOLS[0]; i++) {
		snprintf(path, sizeof path, "/usr/sbin/%s", TOOLS[i]);
		programs_add(t, path, path);
	}
}

TEST(group_lives_through_its_life)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "group", "{\"name\": \"gpu\", \"gid\": 1500}");
	assert_non_null(strstr(tree_read(&t, "etc/group"), "\ngpu:x:1500:\n"));
	assert_int_equal(tree_check(&t, "group", "{\"name\": \"gpu\"}"), STEP_SAME);
	tree_converge(&t, "group", "{\"name\": \"gpu\", \"gid\": 1501}");
	tree_converge(&t, "group", "{\"name\": \"gpu\", \"state\": \"absent\"}");
	tree_converge(&t, "group", "{\"name\": \"daemon-x\", \"system\": true}");
	tree_done(&t);
}

TEST(user_lives_through_its_life)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "user",
		"{\"name\": \"exporter\", \"system\": true, \"home\": \"/var/lib/exporter\", "
		"\"shell\": \"/usr/sbin/nologin\", \"about\": \"Metrics\", \"groups\": [\"video\"]}");
	assert_non_null(strstr(
		tree_read(&t, "etc/passwd"), ":Metrics:/var/lib/exporter:/usr/sbin/nologin\n"));
	assert_non_null(strstr(tree_read(&t, "etc/group"), "video:x:44:alice,exporter\n"));
	assert_false(tree_has(&t, "var/lib/exporter"));

	/* altered by somebody else, and put right */
	tree_converge(&t, "user",
		"{\"name\": \"exporter\", \"shell\": \"/bin/false\", \"groups\": [\"video\", "
		"\"render\"], \"uid\": 1777, \"home\": \"/srv/exporter\", \"about\": \"M\"}");
	assert_non_null(strstr(tree_read(&t, "etc/passwd"), "exporter:x:1777:"));
	assert_non_null(strstr(tree_read(&t, "etc/group"), "render:x:105:exporter\n"));
	tree_converge(&t, "user", "{\"name\": \"exporter\", \"state\": \"absent\"}");
	assert_null(strstr(tree_read(&t, "etc/passwd"), "exporter"));
	tree_done(&t);
}

TEST(user_home_is_made)
{
	struct tree t;

	init(&t);
	tree_mkdir(&t, "home");
	tree_converge(&t, "user", "{\"name\": \"bob\", \"create_home\": true}");
	assert_true(tree_has(&t, "home/bob"));
	/* of a user that was there before */
	tree_converge(&t, "user", "{\"name\": \"alice\", \"create_home\": true}");
	assert_int_equal(tree_mode(&t, "home/alice"), 0700);
	tree_done(&t);
}

TEST(user_whose_group_was_made_before)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "group", "{\"name\": \"svc\"}");
	tree_converge(&t, "user", "{\"name\": \"svc\"}");
	tree_converge(&t, "user", "{\"name\": \"two\", \"group\": \"video\"}");
	assert_non_null(strstr(tree_read(&t, "etc/passwd"), ":44:"));
	tree_done(&t);
}

TEST(user_of_a_group_that_is_not_there)
{
	static const char ARGS[] = "{\"name\": \"alice\", \"groups\": [\"docker\"]}";
	struct tree t;

	init(&t);
	tree_refused(&t, "user", ARGS, E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "'docker'"));
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "user", ARGS), STEP_UNKNOWN);
	assert_string_equal(t.rep.why, "group 'docker' does not exist yet");
	tree_done(&t);
}

TEST(user_primary_group_counts_as_member)
{
	struct tree t;

	init(&t);
	assert_int_equal(
		tree_check(&t, "user", "{\"name\": \"alice\", \"groups\": [\"alice\", \"video\"]}"),
		STEP_SAME);
	tree_done(&t);
}

static const char *const BAD_USERS[] = {"{\"name\": \"a:b\"}", "{\"name\": \"-a\"}",
	"{\"name\": \"\"}", "{\"name\": \"a\", \"about\": \"x:y\"}",
	"{\"name\": \"a\", \"home\": \"/x\\n/y\"}", "{\"name\": \"a\", \"uid\": -1}",
	"{\"name\": \"a\", \"uid\": 4294967295}"};

TEST(user_refuses_bad_arguments)
{
	struct tree t;

	tree_init(&t);
	for (size_t i = 0; i < sizeof BAD_USERS / sizeof BAD_USERS[0]; i++)
		tree_refused(&t, "user", BAD_USERS[i], E_SCHEMA);
	tree_refused(&t, "group", "{\"name\": \"a:b\"}", E_SCHEMA);
	tree_refused(&t, "group", "{\"name\": \"a\", \"gid\": -5}", E_SCHEMA);
	tree_done(&t);
}

TEST(user_that_the_tool_refuses)
{
	struct tree t;

	init(&t);
	assert_int_equal(tree_apply(&t, "user", "{\"name\": \"bob\", \"uid\": 1000}"), -E_REMOTE);
	assert_non_null(strstr(t.err.msg, "1000"));
	assert_int_equal(
		tree_apply(&t, "group", "{\"name\": \"root\", \"state\": \"absent\"}"), -E_REMOTE);
	tree_done(&t);
}

TEST(accounts_are_taken_back)
{
	struct tree t;

	init(&t);
	programs_add(&t, "/usr/bin/gpasswd", "/usr/bin/gpasswd");
	tree_ignore = LEFT;
	tree_undoes(&t, "group", "{\"name\": \"hpc\", \"gid\": 4000}");
	tree_undoes(&t, "group", "{\"name\": \"render\", \"gid\": 4001}");
	tree_undoes(&t, "user", "{\"name\": \"slurm\", \"system\": true, \"groups\": [\"video\"]}");
	tree_undoes(&t, "user",
		"{\"name\": \"alice\", \"uid\": 2000, \"shell\": \"/bin/bash\", \"about\": \"A\", "
		"\"groups\": [\"render\"]}");
	tree_ignore = NULL;
	tree_done(&t);
}

TEST(a_removed_group_comes_back_with_number_and_members)
{
	static const char ARGS[] = "{\"name\": \"video\", \"state\": \"absent\"}";
	json_t *before;
	struct tree t;

	init(&t);
	programs_add(&t, "/usr/bin/gpasswd", "/usr/bin/gpasswd");
	before = tree_before(&t, "group", ARGS, true);
	tree_converge(&t, "group", ARGS);
	assert_int_equal(tree_undo(&t, "group", ARGS, before, NULL), 0);
	assert_non_null(strstr(tree_read(&t, "etc/group"), "video:x:44:alice\n"));
	json_decref(before);
	tree_done(&t);
}

TEST(a_removed_user_is_said_to_be_gone)
{
	static const char ARGS[] = "{\"name\": \"alice\", \"state\": \"absent\"}";
	json_t *before;
	struct tree t;

	init(&t);
	before = tree_before(&t, "user", ARGS, true);
	tree_converge(&t, "user", ARGS);
	assert_int_equal(tree_undo(&t, "user", ARGS, before, NULL), -E_UNSUPPORTED);
	assert_true(t.err.hint[0]);
	json_decref(before);
	tree_done(&t);
}

T_MAIN
