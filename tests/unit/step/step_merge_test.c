/* step_merge_test - the kind merge on a throw-away root: files, validator, undo beside others. */
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

#define DAEMON "/etc/docker/daemon.json"
#define NVIDIA                                                                           \
	"{\"path\": \"" DAEMON "\", \"values\": {\"runtimes\": {\"nvidia\": {\"path\": " \
	"\"nvidia-container-runtime\", \"args\": []}}}"
#define KATA "{\n    \"runtimes\": {\n        \"kata\": {\"path\": \"/k\"}\n    }\n}\n"

TEST(there_and_back)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "etc/docker/daemon.json", KATA);
	tree_undoes(&t, "merge", NVIDIA "}");
	tree_undoes(&t, "merge", NVIDIA ", \"mode\": \"0600\", \"owner\": \"alice\"}");
	tree_undoes(&t, "merge", "{\"path\": \"/etc/docker/new.json\", \"values\": {\"a\": 1}}");
	tree_undoes(&t, "merge",
		"{\"path\": \"/etc/docker/x\", \"format\": \"ini\", \"values\": {\"a\": "
		"{\"b\": 1}}}");
	tree_write(&t, "etc/containerd/config.toml", "# c\ndisabled_plugins = [\"cri\"]");
	tree_undoes(&t, "merge",
		"{\"path\": \"/etc/containerd/config.toml\", \"lists\": {\"disabled_plugins\": "
		"{\"without\": [\"cri\"]}}, \"values\": {\"plugins\": {\"a.b\": {\"c\": true}}}}");
	tree_write(&t, "etc/apt/apt.conf.d/51site", "A::B { \"docker-ce\"; };\n");
	tree_undoes(&t, "merge",
		"{\"path\": \"/etc/apt/apt.conf.d/51site\", \"lists\": {\"A::B\": "
		"{\"contains\": [\"x\"]}}}");
	tree_undoes(&t, "merge",
		"{\"path\": \"" DAEMON "\", \"state\": \"absent\", \"values\": {\"runtimes\": "
		"{\"kata\": {\"path\": \"\"}}}}");
	tree_done(&t);
}

/* apply, then theirs, then undo: what is left. */
static int undo_after(struct tree *t, const char *args, const char *file, const char *theirs)
{
	json_t *before = tree_before(t, "merge", args, true), *after;
	int rc;

	tree_converge(t, "merge", args);
	after = tree_before(t, "merge", args, false);
	tree_write(t, file, theirs);
	rc = tree_undo(t, "merge", args, before, after);
	json_decref(before);
	json_decref(after);
	return rc;
}

TEST(undo_leaves_what_others_changed_since)
{
	static const char *const FILE_ = "etc/docker/daemon.json";
	struct tree t;

	tree_init(&t);
	tree_write(&t, FILE_, KATA);
	assert_int_equal(
		undo_after(&t, NVIDIA "}", FILE_,
			"{\"runtimes\": {\"nvidia\": {\"path\": \"nvidia-container-runtime\", "
			"\"args\": []}, \"kata\": {\"path\": \"/k2\"}}, \"debug\": true}\n"),
		0);
	assert_string_equal(tree_read(&t, FILE_),
		"{\"runtimes\": {\"kata\": {\"path\": \"/k2\"}}, \"debug\": true}\n");
	/* our own key was changed: it stays, the other one goes */
	tree_write(&t, FILE_, KATA);
	assert_int_equal(
		undo_after(&t, NVIDIA "}", FILE_,
			"{\"runtimes\": {\"nvidia\": {\"path\": \"/opt/other\", \"args\": []}}}\n"),
		-E_CONFLICT);
	assert_string_equal(t.err.msg,
		"'runtimes.nvidia.path' in '/etc/docker/daemon.json' was changed by somebody else "
		"since");
	assert_string_equal(
		tree_read(&t, FILE_), "{\"runtimes\": {\"nvidia\": {\"path\": \"/opt/other\"}}}\n");
	/* the file was ours, and somebody put a key beside */
	assert_int_equal(fs_remove(t.env.root, FILE_, false, NULL), 0);
	assert_int_equal(undo_after(&t, NVIDIA "}", FILE_,
				 "{\"runtimes\": {\"nvidia\": {\"path\": "
				 "\"nvidia-container-runtime\", \"args\": []}}, \"x\": 1}"),
		0);
	assert_string_equal(tree_read(&t, FILE_), "{\"x\": 1}");
	/* the file was ours, and only its blanks were changed: it goes */
	assert_int_equal(fs_remove(t.env.root, FILE_, false, NULL), 0);
	assert_int_equal(undo_after(&t, NVIDIA "}", FILE_,
				 "{\"runtimes\":{\"nvidia\":{\"path\":"
				 "\"nvidia-container-runtime\",\"args\":[]}}}"),
		0);
	assert_false(tree_has(&t, FILE_));
	tree_done(&t);
}

TEST(remembered_is_no_value_of_the_arguments)
{
	struct tree t;
	AUTO_JSON after = NULL;
	AUTO_BUF text;

	tree_init(&t);
	buf_init(&text, 1u << 16);
	tree_write(&t, "etc/docker/daemon.json", "{\"old\": 1}");
	tree_converge(&t, "merge",
		"{\"path\": \"" DAEMON "\", \"values\": {\"token\": \"s3cr3t-canary\"}}");
	after = tree_before(&t, "merge",
		"{\"path\": \"" DAEMON "\", \"values\": {\"token\": \"s3cr3t-canary\"}}", false);
	json_write(after, &text);
	assert_null(strstr(buf_text(&text), "canary"));
	tree_done(&t);
}

TEST(the_validator_decides)
{
	static const char ARGS[] =
		NVIDIA ", \"validate\": [\"dockerd\", \"--config-file={}\", \"{}\"]}";
	struct tree t;

	tree_init(&t);
	programs_add(&t, "/bin/sh", "/bin/sh");
	programs_script(&t, "usr/bin/dockerd",
		"#!/bin/sh\nread -r a < \"$2\"; echo \"$1 $a\" >> /log\n"
		"[ -e /bad ] || exit 0\necho one; echo unknown key x >&2; exit 1\n");
	tree_write(&t, "etc/docker/daemon.json", KATA);
	tree_write(&t, "bad", "");
	assert_int_equal(tree_apply(&t, "merge", ARGS), -E_VERIFY);
	assert_string_equal(t.err.msg, "'dockerd' refuses the new '/etc/docker/daemon.json': one; "
				       "unknown key x");
	assert_string_equal(tree_read(&t, "etc/docker/daemon.json"), KATA);
	assert_false(tree_has(&t, "etc/docker/.stoika-tmp.new.daemon.json"));
	assert_int_equal(fs_remove(t.env.root, "bad", false, NULL), 0);
	assert_int_equal(tree_apply(&t, "merge", ARGS), 0);
	assert_non_null(strstr(tree_read(&t, "etc/docker/daemon.json"), "nvidia"));
	assert_string_equal(tree_read(&t, "log"),
		"--config-file=/etc/docker/.stoika-tmp.new.daemon.json {\n"
		"--config-file=/etc/docker/.stoika-tmp.new.daemon.json {\n");
	assert_false(tree_has(&t, "etc/docker/.stoika-tmp.new.daemon.json"));
	tree_done(&t);
}

TEST(what_is_missing_is_named)
{
	struct tree t;

	tree_init(&t);
	assert_int_equal(tree_apply(&t, "merge", NVIDIA "}"), -E_NOTFOUND);
	assert_string_equal(t.err.hint, "add a 'directory' step for its folder before this one");
	assert_int_equal(tree_apply(&t, "merge", NVIDIA ", \"validate\": [\"dockerd\", \"{}\"]}"),
		-E_NOTFOUND);
	assert_string_equal(t.err.hint, "add a 'directory' step for its folder before this one");
	tree_write(&t, "etc/docker/daemon.json", KATA);
	assert_int_equal(tree_apply(&t, "merge", NVIDIA ", \"validate\": [\"dockerd\", \"{}\"]}"),
		-E_NOTFOUND);
	assert_non_null(strstr(t.err.msg, "dockerd"));
	assert_string_equal(
		t.err.hint, "install the package that has it in a step before this one");
	assert_string_equal(tree_read(&t, "etc/docker/daemon.json"), KATA);
	tree_done(&t);
}

TEST(files_that_are_not_merged)
{
	static const struct {
		const char *args, *msg;
		int rc;
	} CASES[] = {
		{"{\"path\": \"/etc/x.conf\", \"values\": {\"a\": 1}}",
			"the name of '/etc/x.conf' does not tell its format", -E_SCHEMA},
		{"{\"path\": \"/etc/link.json\", \"values\": {\"a\": 1}}",
			"'/etc/link.json' is a symbolic link, expected a file", -E_CONFLICT},
		{"{\"path\": \"/etc/d.json\", \"values\": {\"a\": 1}}", "'/etc/d.json' is no file",
			-E_CONFLICT},
		{"{\"path\": \"/etc/broken.json\", \"values\": {\"a\": 1}}",
			"expected a key in double quotes", -E_SYNTAX},
		{"{\"path\": \"/etc/latin.json\", \"values\": {\"a\": 1}}", "the text is not UTF-8",
			-E_SYNTAX},
		{"{\"path\": \"/etc/none.json\", \"create\": false, \"values\": {\"a\": 1}}",
			"'/etc/none.json' does not exist", -E_NOTFOUND},
	};
	struct tree t;

	tree_init(&t);
	tree_link(&t, "x.json", "etc/link.json");
	tree_mkdir(&t, "etc/d.json");
	tree_write(&t, "etc/broken.json", "{\"a\": 1,\n }");
	tree_write(&t, "etc/latin.json", "{\"a\": \"\xE4\"}");
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		assert_int_equal(tree_check(&t, "merge", CASES[i].args), CASES[i].rc);
		assert_string_equal(t.err.msg, CASES[i].msg);
		assert_true(t.err.hint[0] || CASES[i].rc == -E_CONFLICT);
		assert_int_equal(tree_apply(&t, "merge", CASES[i].args), CASES[i].rc);
	}
	assert_string_equal(tree_read(&t, "etc/broken.json"), "{\"a\": 1,\n }");
	assert_int_equal(tree_check(&t, "merge", CASES[3].args), -E_SYNTAX);
	assert_int_equal(t.err.line, 2);
	assert_int_equal(t.err.col, 2);
	assert_string_equal(t.err.file, "/etc/broken.json");
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "merge", CASES[5].args), STEP_UNKNOWN);
	t.env.dry = false;
	/* nothing to take out of a file that is not there */
	assert_int_equal(
		tree_check(&t, "merge", "{\"path\": \"/etc/none.json\", \"absent\": [\"a\"]}"),
		STEP_SAME);
	tree_done(&t);
}

TEST(a_file_beyond_the_cap)
{
	const size_t n = (16u << 20) + 1;
	struct tree t;
	char *text;

	tree_init(&t);
	text = xmalloc(n + 1);
	memset(text, ' ', n);
	text[n] = '\0';
	tree_write(&t, "etc/x.json", text);
	assert_int_equal(
		tree_check(&t, "merge", "{\"path\": \"/etc/x.json\", \"values\": {\"a\": 1}}"),
		-E_LIMIT);
	free(text);
	tree_done(&t);
}

TEST(attributes_alone)
{
	static const char ARGS[] =
		"{\"path\": \"/etc/x.json\", \"values\": {\"a\": 1}, \"mode\": \"0600\"}";
	struct tree t;

	tree_init(&t);
	tree_write(&t, "etc/x.json", "{\"a\": 1}");
	assert_int_equal(tree_check(&t, "merge", ARGS), STEP_DIFFERS);
	tree_undoes(&t, "merge", ARGS);
	tree_converge(&t, "merge", ARGS);
	assert_int_equal(tree_mode(&t, "etc/x.json"), 0600);
	assert_string_equal(tree_read(&t, "etc/x.json"), "{\"a\": 1}");
	/* a new key leaves mode and owner */
	assert_int_equal(
		tree_apply(&t, "merge", "{\"path\": \"/etc/x.json\", \"values\": {\"b\": 2}}"), 0);
	assert_int_equal(tree_mode(&t, "etc/x.json"), 0600);
	tree_done(&t);
}

T_MAIN
