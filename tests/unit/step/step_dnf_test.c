/*
 * dnf - real dnf and rpm on an install root, with a repository of stand-ins built here.
 *
 * Debian's rpm keeps the database in the home folder, which is / for our programs: a link leads
 * it to where rpm systems have it. One test is one story, since a repository takes seconds.
 */
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "agent/step/dnf_plan.h"
#include "agent/step/rpm.h"
#include "tests/unit/step/keys.h"
#include "tests/unit/step/nginx.h"
#include "tests/unit/step/tree.h"

static void must(const char *const *argv)
{
	const struct proc p = {.argv = argv, .merge = true, .timeout = 120 * INT64_C(1000000000)};
	struct proc_result res;
	struct err err;

	if (proc_run(&p, &res, &err) < 0)
		fail_msg("%s: %s", argv[0], err.msg);
	if (!proc_ok(&res))
		fail_msg("%s: %s", argv[0], buf_text(&res.out));
	proc_result_done(&res);
}

/* A package of one file; more: lines of its spec. */
static void build(const char *name, const char *version, const char *more)
{
	char spec[256], top[256], rpms[256];
	const char *const argv[] = {"rpmbuild", "-bb", "--quiet", "--define", top, "--define", rpms,
		"--target", "noarch", spec, NULL};
	FILE *f;

	snprintf(spec, sizeof spec, "%s/%s-%s.spec", t_dir(), name, version);
	snprintf(top, sizeof top, "_topdir %s/build", t_dir());
	snprintf(rpms, sizeof rpms, "_rpmdir %s/repo", t_dir());
	f = fopen(spec, "we");
	assert_non_null(f);
	fprintf(f,
		"Name: %s\nVersion: %s\nRelease: 1\nSummary: stand-in\nLicense: none\n"
		"BuildArch: noarch\n%s\n%%description\nstand-in\n%%install\n"
		"mkdir -p %%{buildroot}/usr/share/standin\n"
		"echo %s >%%{buildroot}/usr/share/standin/%s\n%%files\n/usr/share/standin/%s\n",
		name, version, more, version, name, name);
	fclose(f);
	must(argv);
}

static void index_repo(void)
{
	char repo[256];
	const char *const argv[] = {"createrepo_c", "-q", repo, NULL};

	snprintf(repo, sizeof repo, "%s/repo", t_dir());
	must(argv);
}

static void root_init(struct tree *t)
{
	char text[512];
	const char *const argv[] = {"rpm", "--root", t->path, "--initdb", NULL};

	tree_init(t);
	tree_mkdir(t, "var/lib/rpm");
	tree_mkdir(t, "keep");
	t->env.keep = fs_open(t->env.root, "keep", O_RDONLY | O_DIRECTORY, 0, false, NULL);
	tree_link(t, "var/lib/rpm", ".rpmdb");
	snprintf(text, sizeof text,
		"[stand-ins]\nname=stand-ins\nbaseurl=file://%s/repo\ngpgcheck=0\n"
		"metadata_expire=0\n",
		t_dir());
	tree_write(t, "etc/yum.repos.d/stand-ins.repo", text);
	snprintf(text, sizeof text,
		"[main]\nenabled=1\nlocklist=%s/etc/dnf/plugins/versionlock.list\n", t->path);
	tree_write(t, "etc/dnf/plugins/versionlock.conf", text);
	tree_write(t, "etc/dnf/plugins/versionlock.list", "# locks\n");
	must(argv);
}

static void root_done(struct tree *t)
{
	close(t->env.keep);
	tree_done(t);
}

/* "1.0\n", "(absent)": the file of the package. */
static const char *installed(struct tree *t, const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "usr/share/standin/%s", name);
	return tree_read(t, path);
}

static json_t *before(struct tree *t, const char *args, bool keep)
{
	json_t *a = tree_args(args), *out = NULL;
	const int was = t->env.keep;

	step_cache_forget(t->env.cache);
	t->env.keep = keep ? was : -1;
	if (step_find("package")->before(&t->env, a, &out, &t->err) < 0)
		fail_msg("before: %s", t->err.msg);
	t->env.keep = was;
	json_decref(a);
	return out;
}

static void undo(struct tree *t, const char *args, const json_t *was, const json_t *left)
{
	json_t *a = tree_args(args);

	step_cache_forget(t->env.cache);
	step_report_clear(&t->rep);
	if (step_find("package")->undo(&t->env, a, was, left, &t->rep, &t->err) < 0)
		fail_msg("undo: %s", t->err.msg);
	json_decref(a);
}

static void install_and_versions(struct tree *t)
{
	tree_converge(t, "package", "{\"names\": [\"gpu=1.0\", \"Tools_x\"]}");
	assert_string_equal(installed(t, "gpu"), "1.0\n");
	assert_string_equal(installed(t, "gpu-lib"), "1.0\n"); /* what Tools_x needs */
	assert_int_equal(tree_check(t, "package", "{\"names\": [\"gpu=1.0-1\"]}"), STEP_SAME);
	assert_int_equal(tree_check(t, "package", "{\"names\": [\"gpu:noarch\"]}"), STEP_SAME);
	assert_int_equal(tree_check(t, "package", "{\"names\": [\"gpu\"], \"state\": \"latest\"}"),
		STEP_DIFFERS);
	assert_string_equal(buf_text(&t->rep.diff), "upgrade gpu:noarch 0:1.0-1 -> 2.0-1\n");
	tree_converge(t, "package", "{\"names\": [\"gpu=2.0\"]}");
	assert_string_equal(installed(t, "gpu"), "2.0\n");
	assert_int_equal(tree_check(t, "package", "{\"names\": [\"gpu\"], \"state\": \"latest\"}"),
		STEP_SAME);
	tree_refused(t, "package", "{\"names\": [\"gpu=1.0\"]}", E_CONFLICT);
	tree_converge(t, "package", "{\"names\": [\"gpu=1.0\"], \"downgrade\": true}");
	assert_string_equal(installed(t, "gpu"), "1.0\n");
	assert_int_equal(tree_apply(t, "package", "{\"names\": [\"no-such-thing\"]}"), -E_NOTFOUND);
	assert_non_null(strstr(t->err.msg, "no-such-thing"));
}

static int stage(struct tree *t, const char *text)
{
	json_t *a = tree_args(text);
	const json_t *const sets[] = {a};
	int rc;

	step_cache_forget(t->env.cache);
	step_report_clear(&t->rep);
	rc = step_find("package")->stage(&t->env, sets, 1, &t->rep, &t->err);
	json_decref(a);
	return rc;
}

static void holds(struct tree *t)
{
	tree_converge(t, "package", "{\"names\": [\"gpu\"], \"hold\": true}");
	assert_string_equal(
		tree_read(t, "etc/dnf/plugins/versionlock.list"), "# locks\ngpu-0:1.0-1.*\n");
	/* ours: moved along with the version */
	tree_converge(t, "package", "{\"names\": [\"gpu=2.0\"]}");
	assert_string_equal(
		tree_read(t, "etc/dnf/plugins/versionlock.list"), "# locks\ngpu-0:2.0-1.*\n");
	tree_converge(t, "package", "{\"names\": [\"gpu\"], \"hold\": false}");
	/* the administrator's */
	tree_write(t, "etc/dnf/plugins/versionlock.list", "gpu-0:2.0-1.*\n");
	tree_refused(t, "package", "{\"names\": [\"gpu=1.0\"], \"downgrade\": true}", E_DENIED);
	assert_string_equal(t->err.msg, "held by administrator: gpu");
	tree_write(t, "etc/dnf/plugins/versionlock.list", "");
}

static void removals(struct tree *t)
{
	static const char LIB[] = "{\"names\": [\"gpu-lib\"], \"state\": \"absent\"}";
	static const char LIB_AND_MORE[] =
		"{\"names\": [\"gpu-lib\"], \"state\": \"absent\", \"allow_remove\": [\"Tools*\"]}";
	json_t *was, *left;

	assert_int_equal(tree_apply(t, "package", LIB), -E_CONFLICT);
	assert_string_equal(t->err.msg, "this would also remove Tools_x:noarch");
	was = before(t, LIB_AND_MORE, true);
	tree_converge(t, "package", LIB_AND_MORE);
	left = before(t, LIB_AND_MORE, false);
	assert_string_equal(installed(t, "Tools_x"), "(absent)");
	undo(t, LIB_AND_MORE, was, left);
	assert_string_equal(installed(t, "Tools_x"), "1.0\n");
	assert_string_equal(installed(t, "gpu-lib"), "1.0\n");
	json_decref(was);
	json_decref(left);
}

/* What the change brought along goes too, other versions come back. */
static void undo_of_an_install(struct tree *t)
{
	static const char ARGS[] =
		"{\"names\": [\"gpu=1.0\", \"extra\"], \"downgrade\": true, \"hold\": true}";
	json_t *was, *left;

	was = before(t, ARGS, true);
	tree_converge(t, "package", ARGS);
	left = before(t, ARGS, false);
	assert_string_equal(installed(t, "extra-lib"), "1.0\n");
	undo(t, ARGS, was, left);
	assert_string_equal(installed(t, "gpu"), "2.0\n");
	assert_string_equal(installed(t, "extra"), "(absent)");
	assert_string_equal(installed(t, "extra-lib"), "(absent)");
	assert_string_equal(tree_read(t, "etc/dnf/plugins/versionlock.list"), "");
	undo(t, ARGS, was, left);
	json_decref(was);
	json_decref(left);
}

/* dnf calls a failed scriptlet a success. */
static void failed_scriptlet(struct tree *t)
{
	assert_int_equal(tree_apply(t, "package", "{\"names\": [\"failing\"]}"), -E_REMOTE);
	assert_non_null(strstr(t->err.msg, "a scriptlet failed in failing"));
}

TEST(dnf_keeps_packages_of_an_install_root)
{
	struct tree t;

	build("gpu", "1.0", "");
	build("gpu", "2.0", "");
	build("gpu-lib", "1.0", "");
	build("Tools_x", "1.0", "Requires: gpu-lib");
	build("extra-lib", "1.0", "");
	build("extra", "1.0", "Requires: extra-lib");
	build("failing", "1.0", "%post -p <lua>\nerror(\"no\")\n");
	index_repo();
	root_init(&t);
	install_and_versions(&t);
	holds(&t);
	removals(&t);
	undo_of_an_install(&t);
	failed_scriptlet(&t);
	root_done(&t);
}

/* The server goes away between the two. */
TEST(dnf_fetches_ahead_and_then_needs_no_network)
{
	static const char GPU[] = "{\"names\": [\"gpu=1.0\"]}";
	char from[256], to[256], text[512];
	struct nginx server;
	struct tree t;

	if (!nginx_start(&server))
		skip();
	build("gpu", "1.0", "");
	build("extra", "1.0", "");
	index_repo();
	root_init(&t);
	snprintf(from, sizeof from, "%s/repo", t_dir());
	snprintf(to, sizeof to, "%s/repo", server.folder);
	assert_int_equal(rename(from, to), 0);
	snprintf(text, sizeof text,
		"[site]\nname=site\nbaseurl=http://127.0.0.1:%u/repo\ngpgcheck=0\n"
		"metadata_expire=0\nretries=1\n",
		server.port);
	tree_write(&t, "etc/yum.repos.d/stand-ins.repo", text);
	assert_int_equal(stage(&t, "{\"names\": [\"no-such-thing\"]}"), -E_NOTFOUND);
	assert_int_equal(stage(&t, GPU), 0);
	assert_string_equal(t.rep.why, "1 package fetched");
	assert_string_equal(installed(&t, "gpu"), "(absent)");
	nginx_stop(&server);
	if (tree_apply(&t, "package", "{\"names\": [\"extra\"]}") != -E_NET)
		fail_msg("%s", t.err.msg);
	tree_converge(&t, "package", GPU);
	assert_string_equal(installed(&t, "gpu"), "1.0\n");
	root_done(&t);
}

/* A source that dnf can read stays, one that it cannot is taken back. */
TEST(dnf_proves_a_source)
{
	char args[512];
	struct tree t;

	build("gpu", "1.0", "");
	index_repo();
	root_init(&t);
	tree_source(&t, "demo/files/one.asc", KEY_ONE);
	snprintf(args, sizeof args,
		"{\"name\": \"site\", \"uris\": [\"file://%s/repo\"], \"key\": \"one.asc\"}",
		t_dir());
	tree_converge(&t, "repo", args);
	tree_converge(&t, "repo", "{\"name\": \"site\", \"state\": \"absent\"}");
	assert_true(tree_apply(&t, "repo",
			    "{\"name\": \"site\", \"uris\": [\"file:///no/such/repo\"], \"key\": "
			    "\"one.asc\"}") == -E_NET);
	assert_non_null(strstr(t.err.msg, "repo 'site' does not work and was taken back"));
	assert_false(tree_has(&t, "etc/yum.repos.d/site.repo"));
	assert_false(tree_has(&t, "etc/pki/rpm-gpg/RPM-GPG-KEY-site"));
	root_done(&t);
}

/* The second look, also by another agent, starts no program. */
TEST(dnf_knows_an_unchanged_database)
{
	char path[512];
	struct tree t;

	root_init(&t);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"gpu\"]}"), STEP_DIFFERS);
	assert_true(tree_has(&t, "var/cache/stoika-agent/rpm-packages"));
	step_cache_free(t.env.cache);
	t.env.cache = step_cache_new();
	/* A program that cannot answer shows that it is not asked. */
	tree_write(&t, "usr/bin/rpm", "#!/no/such/shell\n");
	tree_path(&t, "usr/bin/rpm", path);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"gpu\"]}"), STEP_DIFFERS);
	tree_write(&t, "var/lib/rpm/Packages.db", "changed");
	assert_true(tree_check(&t, "package", "{\"names\": [\"gpu\"]}") < 0);
	root_done(&t);
}

TEST(dnf_plan_reads_a_wrapped_table)
{
	static const char TABLE[] =
		"Dependencies resolved.\n====\n Package    Arch    Version\n"
		"                      Repo    Size\n====\nInstalling:\n"
		" a-very-long-package-name-for-the-table\n"
		"              noarch  1.0-1 local  6.2 k\n"
		" gpu          x86_64  1:2.0-1 local  5.9 k\n     replacing  old.x86_64 1-1\n"
		"Installing dependencies:\n gpu-tools    noarch  1.0-1 local  5.9 k\n"
		"Removing dependent packages:\n x noarch 3-1 @local 4  \n"
		"Skipping packages with conflicts:\n y noarch 3-1 local 4  \n\n"
		"Transaction Summary\n====\nInstall  3 Packages\n";
	struct arena *a = arena_new();
	struct plan plan = VEC_INIT;

	dnf_plan_read(a, str_of(TABLE), &plan);
	assert_int_equal(plan.n, 4);
	assert_string_equal(plan.at[0].name, "a-very-long-package-name-for-the-table:noarch");
	assert_string_equal(plan.at[0].to, "1.0-1");
	assert_string_equal(plan.at[1].name, "gpu:x86_64");
	assert_string_equal(plan.at[1].to, "1:2.0-1");
	assert_string_equal(plan.at[2].name, "gpu-tools:noarch");
	assert_string_equal(plan.at[3].from, "3-1");
	assert_null(plan.at[3].to);
	vec_done(&plan);
	arena_free(a);
}

TEST(dnf_lock_is_of_just_that_name)
{
	static const char LIST[] = "# gpu\ngpu-0:1-1.*\ngpu-tools-0:1-1.*\nkernel-*\n";
	struct buf out;

	assert_true(dnf_lock_has(str_of(LIST), STR_LIT("gpu")));
	assert_true(dnf_lock_has(str_of(LIST), STR_LIT("gpu-tools")));
	assert_true(dnf_lock_has(str_of(LIST), STR_LIT("kernel")));
	assert_false(dnf_lock_has(str_of(LIST), STR_LIT("gpu-too")));
	assert_false(dnf_lock_has(str_of(LIST), STR_LIT("g")));
	buf_init(&out, 1000);
	dnf_lock_set(str_of(LIST), STR_LIT("gpu"), STR_LIT("0:2-1"), &out);
	assert_string_equal(buf_text(&out), "# gpu\ngpu-tools-0:1-1.*\nkernel-*\ngpu-0:2-1.*\n");
	buf_done(&out);
}

static const struct {
	const char *have, *want;
	bool fits;
} FITS[] = {
	{"0:1.0-1.el9", "1.0", true},
	{"0:1.0-1.el9", "1.0-1.el9", true},
	{"0:1.0-1.el9", "0:1.0-1.el9", true},
	{"1:1.0-1.el9", "1.0", true},
	{"1:1.0-1.el9", "0:1.0-1.el9", false},
	{"0:1.0-1.el9", "1", false},
	{"0:1.0-1.el9", "1.0-1", false},
	{"", "1", false},
};

TEST(rpm_reads_names_and_versions)
{
	struct dpkg_spec s;
	struct rpm_record r;
	const struct str list = STR_LIT("Gpu\tnoarch\t0:1-1\nbroken\ngpu\tx86_64\t0:2-1\n"
					"gpu\tx86_64\t0:3-1\ngpu-x\tnoarch\t0:4-1\n");

	for (size_t i = 0; i < sizeof FITS / sizeof FITS[0]; i++)
		if (rpm_fits(str_of(FITS[i].have), str_of(FITS[i].want)) != FITS[i].fits)
			fail_msg("%s %s", FITS[i].have, FITS[i].want);
	assert_true(rpm_spec_parse(STR_LIT("perl-Foo_Bar:x86_64=1:2.0-3.el9"), &s));
	assert_true(str_is(s.arch, "x86_64") && str_is(s.version, "1:2.0-3.el9"));
	assert_false(rpm_spec_parse(STR_LIT("-x"), &s));
	assert_false(rpm_spec_parse(STR_LIT("a b"), &s));
	assert_true(rpm_find(list, STR_LIT("gpu"), STR_LIT(""), &r));
	assert_true(str_is(r.version, "0:3-1"));
	assert_false(rpm_find(list, STR_LIT("gpu"), STR_LIT("i686"), &r));
	assert_false(rpm_find(list, STR_LIT("pu"), STR_LIT(""), &r));
	assert_false(rpm_find(list, STR_LIT("broken"), STR_LIT(""), &r));
}

T_MAIN
