/* undo of file, template, directory, link, line and sysctl, in a throw-away root. */
#include "tests/unit/step/undo.h"

#define TREE           \
	struct tree t; \
	tree_init(&t)

TEST(a_new_file_goes)
{
	TREE;

	tree_undoes(&t, "file",
		"{\"path\": \"/etc/motd\", \"content\": \"hi\\n\", \"mode\": \"0600\"}");
	tree_done(&t);
}

TEST(an_old_file_comes_back_with_all_its_bytes_and_attributes)
{
	char path[512];
	TREE;

	tree_write(&t, "etc/motd", "old\n");
	tree_path(&t, "etc/motd", path);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(chown(path, 1000, 44), 0);
	tree_undoes(&t, "file",
		"{\"path\": \"/etc/motd\", \"content\": \"new\\n\", \"mode\": \"0600\", "
		"\"owner\": \"root\"}");
	tree_undoes(&t, "file", "{\"path\": \"/etc/motd\", \"state\": \"absent\"}");
	tree_undoes(&t, "file",
		"{\"path\": \"/etc/motd\", \"state\": \"present\", \"mode\": \"0600\"}");
	tree_done(&t);
}

TEST(a_link_in_place_of_a_file_comes_back)
{
	TREE;

	tree_write(&t, "etc/real", "bytes\n");
	tree_link(&t, "real", "etc/motd");
	tree_undoes(&t, "file", "{\"path\": \"/etc/motd\", \"content\": \"new\\n\"}");
	assert_string_equal(tree_read(&t, "etc/real"), "bytes\n");
	tree_done(&t);
}

TEST(what_somebody_else_changed_is_left)
{
	TREE;

	tree_undo_conflicts(&t, "file", "{\"path\": \"/etc/motd\", \"content\": \"ours\\n\"}",
		"etc/motd", "theirs\n");
	tree_undo_conflicts(&t, "line",
		"{\"path\": \"/etc/conf\", \"line\": \"a = 1\", \"key\": \"a =\", \"create\": true}",
		"etc/conf", "a = 3\n");
	tree_done(&t);
}

TEST(a_template_is_undone_as_a_file)
{
	TREE;

	tree_source(&t, "demo/templates/x.conf", "a = 1\n");
	tree_undoes(&t, "template", "{\"path\": \"/etc/x.conf\", \"source\": \"x.conf\"}");
	tree_done(&t);
}

TEST(directories_go_with_the_parents_made_for_them)
{
	TREE;

	tree_undoes(&t, "directory", "{\"path\": \"/var/lib/a/b/c\", \"mode\": \"0700\"}");
	assert_false(tree_has(&t, "var"));
	tree_mkdir(&t, "var/lib");
	tree_undoes(&t, "directory", "{\"path\": \"/var/lib/a/b/\"}");
	assert_true(tree_has(&t, "var/lib"));
	tree_undoes(&t, "directory",
		"{\"path\": \"/var/lib\", \"mode\": \"0711\", \"owner\": \"alice\"}");
	tree_done(&t);
}

TEST(a_directory_that_is_in_use_stays)
{
	static const char ARGS[] = "{\"path\": \"/srv/data\"}";
	json_t *before;
	TREE;

	before = tree_before(&t, "directory", ARGS, true);
	tree_converge(&t, "directory", ARGS);
	tree_write(&t, "srv/data/theirs", "x");
	assert_int_equal(tree_undo(&t, "directory", ARGS, before, NULL), -E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "not empty"));
	assert_string_equal(tree_read(&t, "srv/data/theirs"), "x");
	json_decref(before);
	tree_done(&t);
}

TEST(a_removed_tree_is_said_to_be_gone)
{
	static const char ARGS[] = "{\"path\": \"/srv/data\", \"state\": \"absent\"}";
	json_t *before;
	TREE;

	tree_write(&t, "srv/data/x", "x");
	before = tree_before(&t, "directory", ARGS, true);
	tree_converge(&t, "directory", ARGS);
	assert_int_equal(tree_undo(&t, "directory", ARGS, before, NULL), -E_UNSUPPORTED);
	assert_true(t.err.hint[0]);
	json_decref(before);
	tree_done(&t);
}

TEST(links_point_back)
{
	TREE;

	tree_mkdir(&t, "opt");
	tree_undoes(&t, "link", "{\"path\": \"/opt/cuda\", \"target\": \"/usr/local/cuda-12\"}");
	tree_link(&t, "/usr/local/cuda-11", "opt/cuda");
	tree_undoes(&t, "link", "{\"path\": \"/opt/cuda\", \"target\": \"/usr/local/cuda-12\"}");
	tree_undoes(&t, "link", "{\"path\": \"/opt/cuda\", \"state\": \"absent\"}");
	tree_done(&t);
}

static const char LINE[] = "{\"path\": \"/etc/conf\", \"line\": \"Port 22\", \"key\": \"Port \"}";

TEST(lines_come_back_at_their_places)
{
	static const char *const TEXTS[] = {
		"# head\nPort 2222\nUser x\n",
		"Port 1\nPort 2\nUser x\nPort 3\n",
		"User x\n",
		"User x",
		"User x\nPort 5",
		"Port 7",
		"",
		"\n\nPort 9\n\n",
	};
	TREE;

	for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
		tree_write(&t, "etc/conf", TEXTS[i]);
		tree_undoes(&t, "line", LINE);
		assert_string_equal(tree_read(&t, "etc/conf"), TEXTS[i]);
	}
	tree_done(&t);
}

TEST(lines_of_others_that_came_later_stay)
{
	json_t *before, *after;
	TREE;

	tree_write(&t, "etc/conf", "Port 2222\nUser x\n");
	before = tree_before(&t, "line", LINE, true);
	tree_converge(&t, "line", LINE);
	after = tree_before(&t, "line", LINE, false);
	tree_write(&t, "etc/conf", "# new\nPort 22\nUser y\nMore z\n");
	assert_int_equal(tree_undo(&t, "line", LINE, before, after), 0);
	assert_string_equal(tree_read(&t, "etc/conf"), "Port 2222\n# new\nUser y\nMore z\n");
	json_decref(before);
	json_decref(after);
	tree_done(&t);
}

TEST(a_file_made_for_one_line_goes)
{
	TREE;

	tree_undoes(&t, "line",
		"{\"path\": \"/etc/new\", \"line\": \"a = 1\", \"key\": \"a =\", \"create\": true}");
	assert_false(tree_has(&t, "etc/new"));
	tree_done(&t);
}

TEST(kernel_parameters_come_back_live_and_kept)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/sysctl.d/x.conf\", \"live\": true, "
		"\"values\": {\"vm.swappiness\": \"10\", \"kernel.x\": \"1 2\"}}";
	TREE;

	tree_write(&t, "proc/sys/vm/swappiness", "60\n");
	tree_write(&t, "proc/sys/kernel/x", "4\t5\n");
	tree_write(&t, "etc/sysctl.d/x.conf", "# mine\nvm/swappiness=30\nnet.a = 1\n");
	tree_converge(&t, "sysctl", ARGS);
	tree_write(&t, "etc/sysctl.d/x.conf", "# mine\nvm/swappiness=30\nnet.a = 1\n");
	tree_write(&t, "proc/sys/vm/swappiness", "60");
	tree_write(&t, "proc/sys/kernel/x", "4\t5");
	tree_undoes(&t, "sysctl", ARGS);
	assert_string_equal(tree_read(&t, "proc/sys/vm/swappiness"), "60");
	tree_done(&t);
}

T_MAIN
