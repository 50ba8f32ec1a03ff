/* disk - a full and a read-only disk below the root: old files stay, nothing is left behind. */
#include "tests/unit/step/tree.h"

#include <dirent.h>
#include <sys/mount.h>

/* A small file system at srv; the test is skipped where this process may not mount. */
static void mount_small(struct tree *t, char path[static 512])
{
	tree_mkdir(t, "srv");
	tree_path(t, "srv", path);
	if (mount("tmpfs", path, "tmpfs", 0, "size=64k,mode=0755") < 0)
		skip();
}

static unsigned entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static json_t *big_args(const char *path)
{
	static char text[100000];

	memset(text, 'x', sizeof text - 1);
	return json_pack("{s:s, s:s}", "path", path, "content", text);
}

TEST(file_on_a_full_disk)
{
	char path[512];
	struct tree t;

	tree_init(&t);
	mount_small(&t, path);
	tree_write(&t, "srv/f", "old\n");

	json_t *args = big_args("/srv/f");
	const int rc = step_find("file")->apply(&t.env, args, &t.rep, &t.err);

	json_decref(args);
	assert_string_equal(tree_read(&t, "srv/f"), "old\n");
	assert_int_equal(entries(path), 1);
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_non_null(strstr(t.err.msg, "/srv/f"));
	tree_done(&t);
}

static const struct {
	const char *kind, *args;
} READ_ONLY[] = {
	{"file", "{\"path\": \"/srv/f\", \"content\": \"new\"}"},
	{"file", "{\"path\": \"/srv/f\", \"state\": \"absent\"}"},
	{"file", "{\"path\": \"/srv/f\", \"state\": \"present\", \"mode\": \"0600\"}"},
	{"line", "{\"path\": \"/srv/f\", \"line\": \"new\"}"},
	{"link", "{\"path\": \"/srv/l\", \"target\": \"x\"}"},
	{"directory", "{\"path\": \"/srv/d/e\"}"},
	{"directory", "{\"path\": \"/srv/dir\", \"state\": \"absent\"}"},
	{"directory", "{\"path\": \"/srv/dir\", \"mode\": \"0700\"}"},
};

TEST(steps_on_a_read_only_disk)
{
	char path[512];
	struct tree t;
	int failed = -1;

	tree_init(&t);
	mount_small(&t, path);
	tree_write(&t, "srv/f", "old\n");
	tree_mkdir(&t, "srv/dir");
	assert_int_equal(mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, "size=64k"), 0);
	for (size_t i = 0; i < sizeof READ_ONLY / sizeof READ_ONLY[0]; i++) {
		if (tree_check(&t, READ_ONLY[i].kind, READ_ONLY[i].args) != STEP_DIFFERS ||
			tree_apply(&t, READ_ONLY[i].kind, READ_ONLY[i].args) >= 0 ||
			!strstr(t.err.msg, "Read-only"))
			failed = (int)i;
	}
	assert_string_equal(tree_read(&t, "srv/f"), "old\n");
	umount2(path, MNT_DETACH);
	if (failed >= 0)
		fail_msg("row %d: %s", failed, t.err.msg);
	tree_done(&t);
}

TEST(package_on_a_full_disk)
{
	char path[512];
	struct tree t;

	tree_init(&t);
	tree_mkdir(&t, "var");
	tree_path(&t, "var", path);
	if (mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=0755") < 0)
		skip();
	tree_write(&t, "usr/bin/apt-get", "");
	tree_write(&t, "var/lib/dpkg/status", "");

	const int rc = tree_apply(&t, "package", "{\"names\": [\"curl\"]}");

	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_non_null(strstr(t.err.hint, "apt-get clean"));
	tree_done(&t);
}

TEST(file_with_a_temporary_left_by_a_crash)
{
	char path[512];
	struct tree t;

	tree_init(&t);
	tree_write(&t, "srv/" FS_TMP_PREFIX "f.0123456789abcdef", "half");
	assert_int_equal(tree_apply(&t, "file", "{\"path\": \"/srv/f\", \"content\": \"new\"}"), 0);
	tree_path(&t, "srv", path);
	assert_int_equal(entries(path), 1);
	tree_link(&t, "x", "srv/" FS_TMP_PREFIX "link.l");
	assert_int_equal(tree_apply(&t, "link", "{\"path\": \"/srv/l\", \"target\": \"y\"}"), 0);
	assert_int_equal(entries(path), 2);
	tree_done(&t);
}

T_MAIN
