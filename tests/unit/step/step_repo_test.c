/* repo - files of apt and dnf on a throw-away root; what a real apt says is tried in the lab. */
#include "tests/unit/step/apt_stand_in.h"
#include "tests/unit/step/keys.h"

#define KEYRING "/usr/share/keyrings/cuda-archive-keyring.gpg"
#define URI     "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64"
#define PARTS   "etc/apt/sources.list.d/"

/* An apt-get whose update does as /say-update says. */
static const char APT_GET[] = "#!/bin/sh\necho \"apt-get $*\" >>/log\n"
			      "[ ! -e /say-update ] || { while IFS= read -r l; do "
			      "printf '%s\\n' \"$l\"; done </say-update; exit 0; }\n";

static void init(struct tree *t)
{
	stand_in_init(t, "");
	programs_script(t, "usr/bin/apt-get", APT_GET);
	tree_source(t, "demo/files/one.asc", KEY_ONE);
	tree_source(t, "demo/files/two.asc", KEY_TWO);
	tree_mkdir(t, "etc/apt/sources.list.d");
	tree_mkdir(t, "keep");
	t->env.keep = fs_open(t->env.root, "keep", O_RDONLY | O_DIRECTORY, 0, false, NULL);
}

static void done(struct tree *t)
{
	close(t->env.keep);
	tree_done(t);
}

static json_t *before(struct tree *t, const char *args)
{
	json_t *a = tree_args(args), *out = NULL;

	if (step_find("repo")->before(&t->env, a, &out, &t->err) < 0)
		fail_msg("before: %s", t->err.msg);
	json_decref(a);
	return out;
}

static int undo(struct tree *t, const char *args, const json_t *was, const json_t *left)
{
	json_t *a = tree_args(args);
	int rc;

	step_report_clear(&t->rep);
	rc = step_find("repo")->undo(&t->env, a, was, left, &t->rep, &t->err);
	json_decref(a);
	return rc;
}

static const char PLAIN[] =
	"{\"name\": \"site\", \"uris\": [\"https://mirror/debian\"], \"suites\": [\"stable\", "
	"\"stable-updates\"], \"components\": [\"main\"], \"key\": \"one.asc\", "
	"\"fingerprint\": \"" KEY_ONE_ID "\", \"priority\": 600}";

TEST(repo_writes_source_key_and_pin)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "repo", PLAIN);
	assert_string_equal(tree_read(&t, PARTS "site.sources"),
		"# kept by stoika, repo site\nTypes: deb\nURIs: https://mirror/debian\n"
		"Suites: stable stable-updates\nComponents: main\n"
		"Signed-By: /etc/apt/keyrings/site.asc\n");
	assert_string_equal(tree_read(&t, "etc/apt/keyrings/site.asc"), KEY_ONE);
	assert_int_equal(tree_mode(&t, "etc/apt/keyrings/site.asc"), 0644);
	assert_string_equal(tree_read(&t, "etc/apt/preferences.d/site.pref"),
		"# kept by stoika, repo site\nPackage: *\nPin: origin \"mirror\"\nPin-Priority: 600\n");
	/* once, and only of that source */
	assert_string_equal(tree_read(&t, "log"),
		"apt-get -q -o DPkg::Lock::Timeout=120 -o "
		"Dir::Etc::sourcelist=/etc/apt/sources.list.d/site.sources -o "
		"Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 update\n");
	tree_converge(&t, "repo", "{\"name\": \"site\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, PARTS "site.sources"));
	assert_false(tree_has(&t, "etc/apt/keyrings/site.asc"));
	assert_false(tree_has(&t, "etc/apt/preferences.d/site.pref"));
	done(&t);
}

TEST(repo_writes_one_line_for_an_old_apt)
{
	static const char ARGS[] =
		"{\"name\": \"site\", \"uris\": [\"https://mirror/x\"], \"suites\": [\"/\"], "
		"\"architectures\": [\"amd64\", \"i386\"], \"signed_by\": \"/k.gpg\"}";
	struct tree t;

	init(&t);
	tree_write(&t, "var/lib/dpkg/status",
		"Package: apt\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0.9\n\n");
	tree_write(&t, PARTS "site.sources", "Types: deb\nURIs: https://mirror/x\nSuites: /\n");
	tree_converge(&t, "repo", ARGS);
	assert_string_equal(tree_read(&t, PARTS "site.list"),
		"# kept by stoika, repo site\n"
		"deb [arch=amd64,i386 signed-by=/k.gpg] https://mirror/x /\n");
	assert_false(tree_has(&t, PARTS "site.sources"));
	/* a newer apt: the other format takes over */
	tree_write(&t, "var/lib/dpkg/status",
		"Package: apt\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.6.1\n\n");
	tree_converge(&t, "repo", ARGS);
	assert_false(tree_has(&t, PARTS "site.list"));
	done(&t);
}

/* C04: the same source twice, one entry owned by a package. */
static const char CUDA[] = "{\"name\": \"gpu\", \"uris\": [\"" URI "\"], \"suites\": [\"/\"], "
			   "\"signed_by\": \"" KEYRING "\"}";

static void two_entries(struct tree *t)
{
	init(t);
	tree_write(t, PARTS "cuda.list", "deb " URI " /\ndeb http://other x main\n");
	tree_write(
		t, PARTS "cuda-ubuntu2204-x86_64.list", "deb [signed-by=" KEYRING "] " URI "/ /\n");
	tree_write(t, "var/lib/dpkg/info/cuda-keyring.list",
		"/.\n" KEYRING "\n/etc/apt/sources.list.d/cuda-ubuntu2204-x86_64.list\n");
}

TEST(repo_keeps_the_package_s_entry_of_two)
{
	struct tree t;

	two_entries(&t);
	tree_converge(&t, "repo", CUDA);
	assert_string_equal(tree_read(&t, PARTS "cuda.list"),
		"# switched off by stoika repo gpu: deb " URI " /\ndeb http://other x main\n");
	assert_string_equal(
		tree_read(&t, PARTS "cuda.list.save"), "deb " URI " /\ndeb http://other x main\n");
	assert_string_equal(tree_read(&t, PARTS "cuda-ubuntu2204-x86_64.list"),
		"deb [signed-by=" KEYRING "] " URI "/ /\n");
	assert_false(tree_has(&t, PARTS "gpu.sources"));
	assert_non_null(strstr(tree_read(&t, "log"), "cuda-ubuntu2204-x86_64.list"));
	done(&t);
}

TEST(repo_undo_is_byte_for_byte)
{
	static const char ARGS[] = "{\"name\": \"gpu\", \"uris\": [\"" URI
				   "\"], \"suites\": [\"/\"], \"key\": \"one.asc\"}";
	struct tree t;
	json_t *was, *left;

	init(&t);
	tree_write(&t, PARTS "cuda.list", "deb " URI "/ ./\n");
	tree_write(&t, "etc/apt/sources.list", "deb http://d x main\n");
	was = before(&t, ARGS);
	tree_converge(&t, "repo", ARGS);
	assert_true(tree_has(&t, PARTS "cuda.list.save"));
	left = before(&t, ARGS);
	assert_int_equal(undo(&t, ARGS, was, left), 0);
	assert_string_equal(tree_read(&t, PARTS "cuda.list"), "deb " URI "/ ./\n");
	assert_false(tree_has(&t, PARTS "cuda.list.save"));
	assert_false(tree_has(&t, PARTS "gpu.sources"));
	assert_false(tree_has(&t, "etc/apt/keyrings"));
	assert_int_equal(undo(&t, ARGS, was, left), 0);
	/* what somebody changed since stays */
	tree_converge(&t, "repo", ARGS);
	tree_write(&t, PARTS "gpu.sources", "Types: deb\nURIs: https://mine\nSuites: /\n");
	assert_int_equal(undo(&t, ARGS, was, left), -E_CONFLICT);
	json_decref(was);
	json_decref(left);
	done(&t);
}

TEST(repo_does_not_fight_with_a_package)
{
	struct tree t;

	two_entries(&t);
	tree_refused(&t, "repo",
		"{\"name\": \"gpu\", \"uris\": [\"" URI
		"\"], \"suites\": [\"/\"], \"key\": \"one.asc\"}",
		E_CONFLICT);
	assert_non_null(strstr(t.err.msg, "of package 'cuda-keyring' configures this source"));
	assert_string_equal(
		t.err.hint, "say signed_by: " KEYRING " and leave the key of repo 'gpu' out");
	done(&t);
}

TEST(repo_does_not_take_others_along)
{
	struct tree t;

	init(&t);
	tree_write(&t, PARTS "debian.sources",
		"Types: deb\nURIs: https://mirror/debian\nSuites: stable sid\nComponents: main\n"
		"Signed-By: /other.gpg\n");
	tree_refused(&t, "repo", PLAIN, E_CONFLICT);
	assert_string_equal(t.err.msg, "'/etc/apt/sources.list.d/debian.sources' configures this "
				       "source together with others");
	done(&t);
}

static const struct {
	const char *says;
	enum ec code;
	const char *hint;
} FAILURES[] = {
	{"W: GPG error: https://m x InRelease: The following signatures couldn't be verified "
	 "because the public key is not available: NO_PUBKEY A4B469963BF863CC\n",
		E_VERIFY,
		"the CUDA repository key was rotated in April 2022: give the 'repo' step the new key "
		"A4B469963BF863CC"},
	{"W: GPG error: https://m x InRelease: NO_PUBKEY 0011223344556677\n", E_VERIFY,
		"the repository's signing key is missing or was replaced: a 'repo' step keeps it"},
	{"E: Release file for https://m/InRelease is expired (invalid since 3d).\nErr:1 x\n",
		E_VERIFY,
		"the mirror is too old (or the node's clock wrong): see Valid-Until and 'date -u'"},
	{"W: Failed to fetch https://m/x  Could not resolve 'm'\n", E_NET,
		"check name resolution and the mirrors in /etc/apt"},
	{"W: Failed to fetch https://m/x  Hash Sum mismatch\n", E_VERIFY,
		"the mirror was in the middle of an update, or a proxy keeps old files: try later"},
	{"\nErr:2 https://m x Release\n  404  Not Found\nE: The repository 'https://m x Release' does "
	 "not have a Release file.\n",
		E_NOTFOUND, "is the suite of the source spelt right?"},
};

TEST(repo_that_does_not_work_is_taken_back)
{
	struct tree t;

	init(&t);
	tree_write(&t, PARTS "old.list", "deb https://mirror/debian stable main\n");
	for (size_t i = 0; i < sizeof FAILURES / sizeof FAILURES[0]; i++) {
		tree_write(&t, "say-update", FAILURES[i].says);
		if (tree_apply(&t, "repo", PLAIN) != -(int)FAILURES[i].code ||
			strcmp(t.err.hint, FAILURES[i].hint) != 0)
			fail_msg("case %zu: %s: %s", i, t.err.msg, t.err.hint);
		assert_non_null(strstr(t.err.msg, "repo 'site' does not work and was taken back"));
		assert_false(tree_has(&t, PARTS "site.sources"));
		assert_false(tree_has(&t, "etc/apt/keyrings/site.asc"));
		assert_string_equal(
			tree_read(&t, PARTS "old.list"), "deb https://mirror/debian stable main\n");
	}
	stand_in_remove(&t, "say-update");
	tree_converge(&t, "repo", PLAIN);
	done(&t);
}

static const struct {
	const char *args;
	enum ec code;
	const char *msg, *hint;
} WRONG[] = {
	{"\"uris\": [\"https://m\"], \"suites\": [\"/\"]", E_SCHEMA,
		"repo 'r' has neither a key nor 'signed_by'",
		"give the key: a file of the recipe with 'key', or a keyring that is on the node "
		"with 'signed_by'"},
	{"\"uris\": [\"https://m\"], \"suites\": [\"stable\"], \"signed_by\": \"/k\"", E_SCHEMA,
		"suite 'stable' needs components",
		"such as components: [main]; a path ends in '/'"},
	{"\"uris\": [\"https://m\"], \"suites\": [\"/\"], \"components\": [\"main\"], "
	 "\"signed_by\": \"/k\"",
		E_SCHEMA, "suite '/' is a path and has no components",
		"take 'components' out, or give the suite's name"},
	{"\"uris\": [\"https://m\"], \"signed_by\": \"/k\"", E_SCHEMA, "repo 'r' has no 'suites'",
		"such as suites: [stable]; a flat repository has suites: [/]"},
	{"\"uris\": [\"mirror/x\"], \"suites\": [\"/\"], \"signed_by\": \"/k\"", E_SCHEMA,
		"'mirror/x' is no address of a repository",
		"expected such as https://mirror/debian or file:/srv/mirror"},
	{"\"uris\": [\"https://m [trusted=yes]\"], \"suites\": [\"/\"], \"signed_by\": \"/k\"",
		E_SCHEMA, "'https://m [trusted=yes]' is no word for 'uris' of a repo", ""},
	{"\"uris\": [\"https://m\"], \"suites\": [\"/\"], \"types\": [\"rpm\"], \"signed_by\": "
	 "\"/k\"",
		E_SCHEMA, "repo types are 'deb' and 'deb-src', not 'rpm'",
		"leave 'types' out for packages alone"},
	{"\"uris\": [\"https://m\"], \"suites\": [\"/\"], \"key\": \"three.asc\"", E_NOTFOUND,
		"source 'demo/files/three.asc' is not in the bundle",
		"put it into 'files/' of recipe 'demo'"},
	{"\"uris\": [\"https://m\"], \"suites\": [\"/\"], \"key\": \"two.asc\", \"fingerprint\": "
	 "\"" KEY_ONE_ID "\"",
		E_VERIFY,
		"key of repo 'r': the key has fingerprint " KEY_TWO_ID ", expected " KEY_ONE_ID,
		"compare with what the repository's owner publishes"},
};

TEST(repo_tells_wrong_use)
{
	char args[1024];
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		snprintf(args, sizeof args, "{\"name\": \"r\", %s}", WRONG[i].args);
		tree_refused(&t, "repo", args, WRONG[i].code);
		if (strcmp(t.err.msg, WRONG[i].msg) != 0 || strcmp(t.err.hint, WRONG[i].hint) != 0)
			fail_msg("%s: %s: %s", args, t.err.msg, t.err.hint);
	}
	tree_refused(&t, "repo", "{\"name\": \"../x\", \"uris\": [\"https://m\"]}", E_SCHEMA);
	done(&t);
}

/* --- dnf --- */

TEST(repo_for_dnf)
{
	static const char ARGS[] =
		"{\"name\": \"cuda-rhel9\", \"uris\": [\"https://m/rhel9\", \"https://n/rhel9\"], "
		"\"key\": \"one.asc\", \"priority\": 10, \"modules\": [\"nvidia-driver:580-open\"], "
		"\"refresh\": false}";
	struct tree t;

	init(&t);
	stand_in_remove(&t, "var/lib/dpkg/status");
	stand_in_remove(&t, "usr/bin/apt-get");
	tree_write(&t, "var/lib/rpm/rpmdb.sqlite", "x");
	tree_converge(&t, "repo", ARGS);
	assert_string_equal(tree_read(&t, "etc/yum.repos.d/cuda-rhel9.repo"),
		"# kept by stoika\n[cuda-rhel9]\nname=cuda-rhel9\nbaseurl=https://m/rhel9\n"
		"        https://n/rhel9\nenabled=1\ngpgcheck=1\n"
		"gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-cuda-rhel9\npriority=10\n");
	assert_string_equal(tree_read(&t, "etc/pki/rpm-gpg/RPM-GPG-KEY-cuda-rhel9"), KEY_ONE);
	assert_string_equal(tree_read(&t, "etc/dnf/modules.d/nvidia-driver.module"),
		"[nvidia-driver]\nname=nvidia-driver\nstream=580-open\nprofiles=\nstate=enabled\n");
	tree_refused(&t, "repo",
		"{\"name\": \"x\", \"uris\": [\"https://m\"], \"signed_by\": \"/k\", "
		"\"modules\": [\"nvidia-driver\"]}",
		E_SCHEMA);
	assert_string_equal(t.err.msg, "'nvidia-driver' is no stream of a module");
	tree_converge(&t, "repo", "{\"name\": \"cuda-rhel9\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "etc/yum.repos.d/cuda-rhel9.repo"));
	done(&t);
}

T_MAIN
