/* file, template, directory, link, line - in a throw-away root. */
#include "tests/unit/step/tree.h"

#define TREE           \
	struct tree t; \
	tree_init(&t)

TEST(file_lives_through_its_life)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/motd\", \"content\": \"one\\ntwo\\n\", \"mode\": \"0640\"}";
	TREE;

	tree_converge(&t, "file", ARGS);
	assert_string_equal(tree_read(&t, "etc/motd"), "one\ntwo\n");
	assert_int_equal(tree_mode(&t, "etc/motd"), 0640);
	tree_write(&t, "etc/motd", "one\nTWO\n");
	assert_int_equal(tree_check(&t, "file", ARGS), STEP_DIFFERS);
	assert_true(tree_said(&t, "-TWO\n+two\n"));
	assert_true(tree_said(&t, "mode 0644 -> 0640\n"));
	tree_converge(&t, "file", ARGS);
	tree_done(&t);
}

TEST(file_without_content_only_sets_attributes)
{
	TREE;

	tree_write(&t, "etc/secret", "keep\n");
	tree_converge(&t, "file",
		"{\"path\": \"/etc/secret\", \"state\": \"present\", \"mode\": \"0600\", "
		"\"owner\": \"alice\", \"group\": \"video\"}");
	assert_string_equal(tree_read(&t, "etc/secret"), "keep\n");
	tree_converge(&t, "file", "{\"path\": \"/etc/flag\", \"state\": \"present\"}");
	assert_string_equal(tree_read(&t, "etc/flag"), "");
	tree_done(&t);
}

TEST(file_owner_is_shown_by_name)
{
	TREE;

	tree_write(&t, "etc/x", "x");
	assert_int_equal(tree_check(&t, "file",
				 "{\"path\": \"/etc/x\", \"content\": \"x\", \"owner\": \"alice\", "
				 "\"group\": \"105\"}"),
		STEP_DIFFERS);
	assert_string_equal(buf_text(&t.rep.diff), "owner root -> alice\ngroup root -> render\n");
	tree_done(&t);
}

TEST(file_comes_from_the_bundle)
{
	static const char ARGS[] = "{\"path\": \"/etc/app.conf\", \"source\": \"app.conf\"}";
	TREE;

	tree_source(&t, "demo/files/app.conf", "key = 1\n");
	tree_converge(&t, "file", ARGS);
	assert_string_equal(tree_read(&t, "etc/app.conf"), "key = 1\n");
	tree_write(&t, "etc/app.conf", "key = 2\n"); /* of the same size */
	assert_int_equal(tree_check(&t, "file", ARGS), STEP_DIFFERS);
	assert_true(tree_said(&t, "-key = 2\n+key = 1\n"));
	tree_refused(&t, "file", "{\"path\": \"/etc/a\", \"source\": \"nope\"}", E_NOTFOUND);
	assert_true(t.err.hint[0]);
	tree_done(&t);
}

TEST(file_of_bytes_shows_hashes)
{
	TREE;

	tree_source(&t, "demo/files/blob", "\x01\x02\xff");
	assert_int_equal(tree_check(&t, "file", "{\"path\": \"/blob\", \"source\": \"blob\"}"),
		STEP_DIFFERS);
	assert_true(tree_said(&t, "content sha256 "));
	tree_write(&t, "blob", "text\n");
	assert_int_equal(tree_check(&t, "file", "{\"path\": \"/blob\", \"source\": \"blob\"}"),
		STEP_DIFFERS);
	assert_true(tree_said(&t, "(size 5 -> 3)\n"));
	assert_false(tree_said(&t, "\x01"));
	tree_converge(&t, "file", "{\"path\": \"/blob\", \"source\": \"blob\"}");
	tree_done(&t);
}

/* Reading it would take hours. */
TEST(file_replaces_a_huge_one_unread)
{
	char path[512];
	TREE;

	tree_write(&t, "huge", "");
	tree_path(&t, "huge", path);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_int_equal(
		tree_check(&t, "file", "{\"path\": \"/huge\", \"content\": \"x\"}"), STEP_DIFFERS);
	assert_true(tree_said(&t, "content of size 1099511627776 -> sha256 "));
	tree_converge(&t, "file", "{\"path\": \"/huge\", \"content\": \"x\"}");
	assert_string_equal(tree_read(&t, "huge"), "x");
	tree_done(&t);
}

TEST(file_diff_is_capped_and_marked)
{
	struct buf args;
	TREE;

	buf_init(&args, 1 << 20);
	buf_add_text(&args, "{\"path\": \"/big\", \"content\": \"");
	for (int i = 0; i < 12000; i++)
		buf_addf(&args, "%04x\\n", i);
	buf_add_text(&args, "\"}");
	assert_int_equal(tree_check(&t, "file", buf_text(&args)), STEP_DIFFERS);
	assert_true(t.rep.diff.n <= (64 << 10) + 64);
	assert_true(tree_said(&t, "cut here\n"));
	assert_true(buf_ok(&t.rep.diff));
	buf_done(&args);
	tree_done(&t);
}

TEST(file_absent_removes_files_and_links_only)
{
	static const char ARGS[] = "{\"path\": \"/etc/old\", \"state\": \"absent\"}";
	TREE;

	assert_int_equal(tree_check(&t, "file", ARGS), STEP_SAME);
	tree_write(&t, "etc/old", "x");
	tree_converge(&t, "file", ARGS);
	tree_write(&t, "etc/precious", "x");
	tree_link(&t, "precious", "etc/old");
	tree_converge(&t, "file", ARGS);
	assert_string_equal(tree_read(&t, "etc/precious"), "x");
	tree_mkdir(&t, "etc/old");
	tree_refused(&t, "file", ARGS, E_CONFLICT);
	tree_done(&t);
}

TEST(file_never_writes_through_a_link)
{
	static const char ARGS[] = "{\"path\": \"/etc/app\", \"content\": \"new\"}";
	TREE;

	tree_write(&t, "etc/victim", "old");
	tree_link(&t, "victim", "etc/app");
	tree_converge(&t, "file", ARGS);
	assert_string_equal(tree_read(&t, "etc/victim"), "old");
	assert_string_equal(tree_read(&t, "etc/app"), "new");
	tree_done(&t);
}

TEST(file_stays_inside_the_root)
{
	char outside[256], path[512];
	TREE;

	snprintf(outside, sizeof outside, "%s.outside", t.path);
	assert_int_equal(mkdir(outside, 0755), 0);
	tree_link(&t, outside, "etc/trap"); /* absolute: leads nowhere below the root */
	assert_int_equal(tree_apply(&t, "file", "{\"path\": \"/etc/trap/x\", \"content\": \"x\"}"),
		-E_NOTFOUND);
	snprintf(path, sizeof path, "%s/x", outside);
	assert_int_equal(access(path, F_OK), -1);
	tree_done(&t);
}

TEST(file_without_its_folder)
{
	static const char ARGS[] = "{\"path\": \"/srv/a/b\", \"content\": \"x\"}";
	TREE;

	assert_int_equal(tree_check(&t, "file", ARGS), STEP_DIFFERS);
	assert_int_equal(tree_apply(&t, "file", ARGS), -E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "'/srv/a'"));
	tree_done(&t);
}

TEST(file_owner_who_does_not_exist)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/motd\", \"content\": \"x\", \"owner\": \"bob\"}";
	TREE;

	tree_write(&t, "etc/motd", "x");
	tree_refused(&t, "file", ARGS, E_NOTFOUND);
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "file", ARGS), STEP_UNKNOWN);
	assert_string_equal(t.rep.why, "user 'bob' does not exist yet");
	tree_write(&t, "etc/motd", "y"); /* what differs for certain outweighs it */
	assert_int_equal(tree_check(&t, "file", ARGS), STEP_DIFFERS);
	tree_done(&t);
}

TEST(file_refuses_bad_arguments)
{
	TREE;

	tree_mkdir(&t, "etc/dir");
	tree_refused(&t, "file", "{\"path\": \"/etc/dir\", \"content\": \"x\"}", E_CONFLICT);
	tree_refused(&t, "file", "{\"path\": \"/etc/a\", \"content\": \"x\", \"source\": \"y\"}",
		E_CONFLICT);
	tree_refused(&t, "file", "{\"path\": \"/etc/a\", \"content\": \"x\", \"mode\": \"0999\"}",
		E_SCHEMA);
	tree_refused(&t, "file",
		"{\"path\": \"/etc/a\", \"content\": \"x\", \"mode\": \"rw-r--r--\"}", E_SCHEMA);
	tree_done(&t);
}

TEST(file_keeps_setuid_through_a_change_of_owner)
{
	TREE;

	tree_write(&t, "etc/tool", "x");
	tree_converge(&t, "file",
		"{\"path\": \"/etc/tool\", \"content\": \"x\", \"mode\": \"4755\", \"owner\": "
		"\"alice\"}");
	assert_int_equal(tree_mode(&t, "etc/tool"), 04755);
	tree_converge(&t, "file",
		"{\"path\": \"/etc/tool\", \"state\": \"present\", \"owner\": \"root\"}");
	assert_int_equal(tree_mode(&t, "etc/tool"), 04755);
	tree_done(&t);
}

TEST(template_renders_from_the_bundle)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/app.conf\", \"source\": \"app.conf\", \"mode\": \"0640\"}";
	TREE;

	tree_source(&t, "demo/templates/app.conf", "port = {{ params.port }}\n");
	json_object_set_new(t.scope.names, "params", json_pack("{s:i}", "port", 9100));
	tree_converge(&t, "template", ARGS);
	assert_string_equal(tree_read(&t, "etc/app.conf"), "port = 9100\n");
	assert_int_equal(tree_mode(&t, "etc/app.conf"), 0640);
	json_object_set_new(t.scope.names, "params", json_pack("{s:i}", "port", 9200));
	assert_int_equal(tree_check(&t, "template", ARGS), STEP_DIFFERS);
	assert_true(tree_said(&t, "-port = 9100\n+port = 9200\n"));
	tree_converge(&t, "template", ARGS);
	tree_done(&t);
}

/* A recipe that declares the secret no more would show the old text otherwise. */
TEST(private_files_are_never_shown)
{
	static const struct {
		const char *kind, *args;
	} cases[] = {
		{"file", "{\"path\": \"/etc/key.json\", \"content\": \"open\\n\"}"},
		{"file", "{\"path\": \"/etc/open\", \"content\": \"hunter2\", \"mode\": \"0600\"}"},
		{"file", "{\"path\": \"/etc/new\", \"content\": \"hunter2\", \"mode\": \"0400\"}"},
		{"line", "{\"path\": \"/etc/key.json\", \"line\": \"x\"}"},
		{"merge", "{\"path\": \"/etc/key.json\", \"values\": {\"a\": \"b\"}}"},
		{"hosts", "{\"address\": \"10.0.0.1\", \"names\": [\"a\"]}"},
	};
	char path[512];
	TREE;

	tree_write(&t, "etc/key.json", "{\"token\": \"hunter2\"}\n");
	tree_write(&t, "etc/open", "old\n");
	tree_write(&t, "etc/hosts", "127.0.0.1 localhost # hunter2\n");
	tree_path(&t, "etc/key.json", path);
	assert_int_equal(chmod(path, 0600), 0);
	tree_path(&t, "etc/hosts", path);
	assert_int_equal(chmod(path, 0600), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tree_check(&t, cases[i].kind, cases[i].args), STEP_DIFFERS);
		if (tree_said(&t, "hunter2") || !tree_said(&t, "only its owner may read it"))
			fail_msg("%s %s: %s", cases[i].kind, cases[i].args, buf_text(&t.rep.diff));
	}
	tree_done(&t);
}

TEST(template_names_the_place_of_what_is_undefined)
{
	TREE;

	tree_source(&t, "demo/templates/a", "line\nport = {{ params.nope }}\n");
	json_object_set_new(t.scope.names, "params", json_object());
	tree_refused(&t, "template", "{\"path\": \"/etc/a\", \"source\": \"a\"}", E_NOTFOUND);
	assert_string_equal(t.err.file, "demo/templates/a");
	assert_int_equal(t.err.line, 2);
	tree_done(&t);
}

TEST(directory_lives_through_its_life)
{
	static const char ARGS[] =
		"{\"path\": \"/srv/data/app\", \"mode\": \"0750\", \"owner\": \"alice\"}";
	TREE;

	tree_converge(&t, "directory", ARGS);
	assert_int_equal(tree_mode(&t, "srv/data/app"), 0750);
	assert_int_equal(tree_mode(&t, "srv/data"), 0755);
	tree_converge(&t, "directory", "{\"path\": \"/srv/data/app\", \"mode\": \"0700\"}");
	tree_write(&t, "srv/data/app/x/y", "z");
	tree_converge(&t, "directory", "{\"path\": \"/srv/data\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "srv/data"));
	tree_converge(&t, "directory", "{\"path\": \"/plain\"}");
	assert_int_equal(tree_mode(&t, "plain"), 0755);
	tree_done(&t);
}

TEST(directory_never_removes_the_system)
{
	static const char *const PATHS[] = {
		"/", "//", "/etc", "/etc/", "/usr/./lib", "/var/lib/dpkg"};
	char args[256];
	TREE;

	for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
		snprintf(args, sizeof args, "{\"path\": \"%s\", \"state\": \"absent\"}", PATHS[i]);
		tree_refused(&t, "directory", args, E_DENIED);
		assert_true(t.rep.denied);
		assert_int_equal(tree_apply(&t, "directory", args), -E_DENIED);
	}
	assert_true(tree_has(&t, "etc/passwd"));
	tree_done(&t);
}

TEST(directory_refuses_what_is_none)
{
	TREE;

	tree_write(&t, "srv/file", "x");
	tree_mkdir(&t, "srv/real");
	tree_link(&t, "real", "srv/link");
	tree_refused(&t, "directory", "{\"path\": \"/srv/file\"}", E_CONFLICT);
	tree_refused(&t, "directory", "{\"path\": \"/srv/link\"}", E_CONFLICT);
	tree_refused(
		&t, "directory", "{\"path\": \"/srv/link\", \"state\": \"absent\"}", E_CONFLICT);
	assert_int_equal(
		tree_apply(&t, "directory", "{\"path\": \"/srv/file\", \"mode\": \"0700\"}") < 0,
		1);
	assert_string_equal(tree_read(&t, "srv/file"), "x");
	tree_done(&t);
}

TEST(link_lives_through_its_life)
{
	static const char ARGS[] = "{\"path\": \"/etc/app\", \"target\": \"/opt/app-2\"}";
	TREE;

	tree_converge(&t, "link", ARGS);
	assert_int_equal(
		tree_check(&t, "link", "{\"path\": \"/etc/app\", \"target\": \"/opt/app-3\"}"),
		STEP_DIFFERS);
	assert_string_equal(
		buf_text(&t.rep.diff), "-/etc/app -> /opt/app-2\n+/etc/app -> /opt/app-3\n");
	tree_converge(&t, "link", "{\"path\": \"/etc/app\", \"target\": \"/opt/app-3\"}");
	tree_converge(&t, "link", "{\"path\": \"/etc/app\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(link_never_replaces_data)
{
	TREE;

	tree_write(&t, "etc/app", "precious");
	tree_refused(&t, "link", "{\"path\": \"/etc/app\", \"target\": \"x\"}", E_CONFLICT);
	tree_refused(&t, "link", "{\"path\": \"/etc/app\", \"state\": \"absent\"}", E_CONFLICT);
	assert_true(tree_apply(&t, "link", "{\"path\": \"/etc/app\", \"target\": \"x\"}") < 0);
	assert_true(tree_apply(&t, "link", "{\"path\": \"/etc/app\", \"state\": \"absent\"}") < 0);
	assert_string_equal(tree_read(&t, "etc/app"), "precious");
	tree_refused(&t, "link", "{\"path\": \"/etc/b\"}", E_SCHEMA);
	assert_int_equal(
		tree_apply(&t, "link", "{\"path\": \"/no/b\", \"target\": \"x\"}"), -E_NOTFOUND);
	assert_true(t.err.hint[0]);
	tree_done(&t);
}

/* Before, the step's arguments, after; one row per rule of the kind. */
static const struct {
	const char *name, *before, *args, *after;
} LINES[] = {
	{"added at the end", "a\nb\n", "\"line\": \"c\"", "a\nb\nc\n"},
	{"added where no newline was", "a", "\"line\": \"c\"", "a\nc\n"},
	{"added to an empty file", "", "\"line\": \"c\"", "c\n"},
	{"replaced in place", "a\nPort 1\nb\n", "\"line\": \"Port 22\", \"key\": \"Port \"",
		"a\nPort 22\nb\n"},
	{"duplicates of the key go", "Port 1\na\nPort 22\nPort 3\n",
		"\"line\": \"Port 22\", \"key\": \"Port \"", "Port 22\na\n"},
	{"comments with the key stay", "#Port 1\n", "\"line\": \"Port 22\", \"key\": \"Port \"",
		"#Port 1\nPort 22\n"},
	{"carriage returns of others stay", "a\r\nPort 1\r\n",
		"\"line\": \"Port 22\", \"key\": \"Port \"", "a\r\nPort 22\n"},
	{"duplicates of the line go", "c\na\nc\n", "\"line\": \"c\"", "c\na\n"},
	{"removed by its text", "a\nc\nb\n", "\"line\": \"c\", \"state\": \"absent\"", "a\nb\n"},
	{"removed by its key", "Port 1\na\nPort 2\n",
		"\"line\": \"Port\", \"key\": \"Port \", \"state\": \"absent\"", "a\n"},
	{"last line without newline is removed", "a\nc", "\"line\": \"c\", \"state\": \"absent\"",
		"a\n"},
	{"other blank lines stay", "\n\na\n\n", "\"line\": \"b\"", "\n\na\n\nb\n"},
};

TEST(line_changes_only_its_own)
{
	char args[512];
	TREE;

	for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
		snprintf(args, sizeof args, "{\"path\": \"/etc/f\", %s}", LINES[i].args);
		tree_write(&t, "etc/f", LINES[i].before);
		tree_converge(&t, "line", args);
		if (strcmp(tree_read(&t, "etc/f"), LINES[i].after) != 0)
			fail_msg("%s: got %s", LINES[i].name, tree_read(&t, "etc/f"));
	}
	tree_done(&t);
}

TEST(line_same_without_a_final_newline)
{
	TREE;

	tree_write(&t, "etc/f", "a\nc");
	assert_int_equal(
		tree_check(&t, "line", "{\"path\": \"/etc/f\", \"line\": \"c\"}"), STEP_SAME);
	tree_done(&t);
}

TEST(line_of_a_file_that_is_not_there)
{
	static const char ARGS[] = "{\"path\": \"/etc/f\", \"line\": \"c\"}";
	TREE;

	tree_refused(&t, "line", ARGS, E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "create: true"));
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "line", ARGS), STEP_UNKNOWN);
	t.env.dry = false;
	assert_int_equal(tree_check(&t, "line",
				 "{\"path\": \"/etc/f\", \"line\": \"c\", \"state\": \"absent\"}"),
		STEP_SAME);
	tree_converge(&t, "line", "{\"path\": \"/etc/f\", \"line\": \"c\", \"create\": true}");
	assert_string_equal(tree_read(&t, "etc/f"), "c\n");
	tree_done(&t);
}

TEST(line_refuses_bad_arguments)
{
	TREE;

	tree_write(&t, "etc/f", "a\n");
	tree_link(&t, "f", "etc/link");
	tree_refused(&t, "line", "{\"path\": \"/etc/f\", \"line\": \"a\\nb\"}", E_SCHEMA);
	tree_refused(
		&t, "line", "{\"path\": \"/etc/f\", \"line\": \"b\", \"key\": \"c\"}", E_SCHEMA);
	tree_refused(&t, "line", "{\"path\": \"/etc/f\", \"line\": \"\"}", E_SCHEMA);
	tree_refused(&t, "line", "{\"path\": \"/etc/link\", \"line\": \"b\"}", E_CONFLICT);
	tree_refused(&t, "line", "{\"path\": \"/etc\", \"line\": \"b\"}", E_STATE);
	tree_done(&t);
}

TEST(line_keeps_mode_and_owner)
{
	char path[512];
	struct stat st;
	TREE;

	tree_write(&t, "etc/f", "a\n");
	tree_path(&t, "etc/f", path);
	assert_int_equal(chown(path, 1000, 44), 0);
	assert_int_equal(chmod(path, 0640), 0);
	tree_converge(&t, "line", "{\"path\": \"/etc/f\", \"line\": \"b\"}");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 1000);
	assert_int_equal(st.st_gid, 44);
	assert_int_equal(st.st_mode & 07777, 0640);
	tree_done(&t);
}

T_MAIN
