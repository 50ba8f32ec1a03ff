/* step_archive_test - a folder from an archive: there, silent, replaced, taken back, refused. */
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "tests/unit/step/tree.h"
#include "tests/unit/step/undo.h"

/* ROOT/NAME as a tar of one folder "top" with a file of that text; its hash. */
static void make_tar(struct tree *t, const char *name, const char *text, char hex[static HASH_HEX])
{
	char from[512], to[512];
	const char *const argv[] = {
		"tar", "--zstd", "--mtime=@0", "-C", from, "-cf", to, "top", NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;

	tree_write(t, "src/top/bin/run", text);
	tree_link(t, "bin/run", "src/top/link");
	tree_path(t, "src", from);
	tree_path(t, name, to);
	assert_int_equal(proc_run(&p, &res, &t->err), 0);
	if (!proc_ok(&res))
		fail_msg("tar: %s", buf_text(&res.err));
	proc_result_done(&res);
	assert_int_equal(fs_remove(t->env.root, "src", true, NULL), 0);
	AUTO_FD fd = open(to, O_RDONLY | O_CLOEXEC);
	assert_int_equal(hash_fd(fd, hex, NULL), 0);
}

TEST(archive_is_unpacked_and_taken_back)
{
	struct tree t;
	char one[HASH_HEX], two[HASH_HEX], args[512];

	tree_init(&t);
	tree_mkdir(&t, "opt");
	make_tar(&t, "one.tar", "one\n", one);
	make_tar(&t, "two.tar", "two\n", two);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/one.tar\", \"sha256\": \"%s\", \"strip\": 1}",
		one);
	tree_undoes(&t, "archive", args);
	tree_converge(&t, "archive", args);
	assert_string_equal(tree_read(&t, "opt/x/bin/run"), "one\n");
	assert_int_equal(tree_mode(&t, "opt/x"), 0755);
	/* the next version replaces it whole, and can be taken back */
	tree_write(&t, "opt/x/stray", "x");
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/two.tar\", \"sha256\": \"%s\", \"strip\": 1}",
		two);
	tree_undoes(&t, "archive", args);
	tree_converge(&t, "archive", args);
	assert_string_equal(tree_read(&t, "opt/x/bin/run"), "two\n");
	assert_false(tree_has(&t, "opt/x/stray"));
	/* one earlier state is kept, not two */
	assert_int_equal(fs_remove(t.env.root, "opt/.x.stoika-was", true, NULL), 0);
	tree_undoes(&t, "archive", "{\"into\": \"/opt/x\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(archive_without_strip_and_into_an_empty_folder)
{
	struct tree t;
	char hex[HASH_HEX], args[512];

	tree_init(&t);
	tree_mkdir(&t, "opt/x");
	make_tar(&t, "a.tar", "a\n", hex);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/a.tar\", \"sha256\": \"%s\", \"creates\": "
		"\"/opt/x/top/bin/run\"}",
		hex);
	tree_undoes(&t, "archive", args);
	tree_converge(&t, "archive", args);
	assert_string_equal(tree_read(&t, "opt/x/top/bin/run"), "a\n");
	/* what creates names is gone: once more */
	assert_int_equal(fs_remove(t.env.root, "opt/x/top/bin/run", false, NULL), 0);
	tree_converge(&t, "archive", args);
	tree_done(&t);
}

TEST(archive_of_the_bundle)
{
	struct tree t;
	char hex[HASH_HEX], path[512];
	AUTO_BUF bytes;

	buf_init(&bytes, 1u << 20);
	tree_init(&t);
	tree_mkdir(&t, "opt");
	make_tar(&t, "a.tar", "a\n", hex);
	tree_source(&t, "demo/files/x", "x");
	snprintf(path, sizeof path, "%s.recipes/demo/files/a.tar", t.path);
	assert_int_equal(fs_read(t.env.root, "a.tar", &bytes, NULL), 0);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	fclose(f);
	tree_source(&t, "demo/files/x", "x");
	tree_undoes(&t, "archive", "{\"into\": \"/opt/x\", \"source\": \"a.tar\"}");
	tree_refused(&t, "archive", "{\"into\": \"/opt/x\", \"source\": \"b.tar\"}", E_NOTFOUND);
	tree_done(&t);
}

TEST(archive_refuses_what_is_wrong)
{
	static const char ZEROS[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	struct tree t;
	char hex[HASH_HEX], args[512];

	tree_init(&t);
	tree_write(&t, "opt/mine/file", "precious");
	tree_write(&t, "opt/file", "x");
	make_tar(&t, "a.tar", "a\n", hex);
	tree_refused(&t, "archive", "{\"into\": \"/opt/x\", \"path\": \"/a.tar\"}", E_SCHEMA);
	tree_refused(&t, "archive", "{\"into\": \"/opt/x\"}", E_SCHEMA);
	tree_refused(&t, "archive", "{\"into\": \"/opt/x\", \"path\": \"/a\", \"sha256\": \"ab\"}",
		E_SCHEMA);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt\", \"path\": \"/a.tar\", \"sha256\": \"%s\"}", hex);
	tree_refused(&t, "archive", args, E_DENIED);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/mine\", \"path\": \"/a.tar\", \"sha256\": \"%s\"}", hex);
	tree_refused(&t, "archive", args, E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "holds files that no archive step put there"));
	assert_int_equal(tree_apply(&t, "archive", args), -E_CONFLICT);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/file\", \"path\": \"/a.tar\", \"sha256\": \"%s\"}", hex);
	tree_refused(&t, "archive", args, E_CONFLICT);
	/* other bytes than were asked for leave nothing */
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/a.tar\", \"sha256\": \"%s\"}", ZEROS);
	assert_int_equal(tree_apply(&t, "archive", args), -E_VERIFY);
	assert_false(tree_has(&t, "opt/x"));
	assert_false(tree_has(&t, "opt/.x.stoika-new"));
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/a.tar\", \"sha256\": \"%s\", \"strip\": 5}",
		hex);
	assert_int_equal(tree_apply(&t, "archive", args), -E_VERIFY);
	assert_non_null(strstr(t.err.msg, "nothing of the archive is left"));
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/none.tar\", \"sha256\": \"%s\"}", hex);
	assert_int_equal(tree_check(&t, "archive", args), STEP_DIFFERS);
	assert_int_equal(tree_apply(&t, "archive", args), -E_NOTFOUND);
	assert_true(t.err.hint[0]);
	tree_done(&t);
}

TEST(archive_undo_leaves_what_others_changed)
{
	struct tree t;
	char hex[HASH_HEX], args[512];

	tree_init(&t);
	tree_mkdir(&t, "opt");
	make_tar(&t, "a.tar", "a\n", hex);
	snprintf(args, sizeof args,
		"{\"into\": \"/opt/x\", \"path\": \"/a.tar\", \"sha256\": \"%s\"}", hex);
	tree_undo_conflicts(&t, "archive", args, "opt/x/.stoika-archive", "another\n");
	tree_done(&t);
}

T_MAIN
