/* dpkg, package - answers from status files; what apt does is tested in step_apt_test. */
#include "agent/step/dpkg.h"
#include "tests/unit/step/tree.h"

static const char STATUS[] = "Package: adduser\n"
			     "Status: install ok installed\n"
			     "Priority: important\n"
			     "Architecture: all\n"
			     "Version: 3.134\n"
			     "Description: add users\n"
			     " Package: dpkg\n"
			     "\n"
			     "Package: dpkg\n"
			     "Essential: yes\n"
			     "Status: install ok installed\n"
			     "Architecture: amd64\n"
			     "Multi-Arch: foreign\n"
			     "Version: 1.21.22\n"
			     "\n"
			     "Package: libc6\n"
			     "Status: install ok installed\n"
			     "Architecture: i386\n"
			     "Multi-Arch: same\n"
			     "Source: glibc\n"
			     "Version: 2.36-8\n"
			     "\n"
			     "Package: libc6\n"
			     "Status: install ok installed\n"
			     "Architecture: amd64\n"
			     "Version: 2.36-9+deb12u10\n"
			     "\n"
			     "Package: libc6-dev\n"
			     "Status: deinstall ok config-files\n"
			     "Architecture: amd64\n"
			     "Version: 2.36-9\n"
			     "\n"
			     "Package: foreign-only\n"
			     "Status: install ok installed\n"
			     "Architecture: i386\n"
			     "Version: 1\n"
			     "\n"
			     "Package: held\n"
			     "Status: hold ok installed\n"
			     "Architecture: amd64\n"
			     "Version: 5:1.0~rc1\n"
			     "\n"
			     "Package: reinst\n"
			     "Status: install reinstreq half-installed\n"
			     "Architecture: amd64\n"
			     "Version: 1\n"
			     "\n"
			     "Package: nvidia-dkms-575-open\n"
			     "Status: install ok half-configured\n"
			     "Architecture: amd64\n"
			     "Version: 575.57.08-0ubuntu1\n";

static struct str find(const char *name, const char *arch, struct str *is)
{
	struct dpkg_record r;

	*is = (struct str){"", 0};
	struct dpkg *d = dpkg_new(str_of(STATUS));
	const bool found = dpkg_find(d, str_of(name), str_of(arch), &r);

	dpkg_free(d);
	if (!found)
		return (struct str){"-", 1};
	*is = r.state;
	return r.version;
}

static const struct {
	const char *name, *arch, *version, *state;
} FINDS[] = {
	{"adduser", "", "3.134", "installed"},
	{"dpkg", "", "1.21.22", "installed"},
	{"libc6", "", "2.36-9+deb12u10", "installed"},
	{"libc6", "i386", "2.36-8", "installed"},
	{"libc6", "arm64", "-", ""},
	{"libc6-dev", "", "2.36-9", "config-files"},
	{"foreign-only", "", "-", ""},
	{"foreign-only", "i386", "1", "installed"},
	{"held", "", "5:1.0~rc1", "installed"},
	{"nvidia-dkms-575-open", "", "575.57.08-0ubuntu1", "half-configured"},
	{"libc", "", "-", ""},
	{"ibc6", "", "-", ""},
	{"", "", "-", ""},
};

TEST(dpkg_finds_by_name_and_architecture)
{
	for (size_t i = 0; i < sizeof FINDS / sizeof FINDS[0]; i++) {
		struct str how;
		const struct str version = find(FINDS[i].name, FINDS[i].arch, &how);

		if (!str_is(version, FINDS[i].version) || !str_is(how, FINDS[i].state))
			fail_msg("%s:%s gives " STR_FMT " " STR_FMT, FINDS[i].name, FINDS[i].arch,
				STR_ARG(version), STR_ARG(how));
	}
}

static const struct {
	const char *text;
	bool ok;
	const char *name, *arch, *version;
} SPECS[] = {
	{"bash", true, "bash", "", ""},
	{"libc6:i386", true, "libc6", "i386", ""},
	{"g++=4:12.2.0-3", true, "g++", "", "4:12.2.0-3"},
	{"a:amd64=1~rc1+x", true, "a", "amd64", "1~rc1+x"},
	{"", false, "", "", ""},
	{"=1", false, "", "", ""},
	{"a=", false, "", "", ""},
	{"a:", false, "", "", ""},
	{"-y", false, "", "", ""},
	{"foo-", false, "", "", ""},
	{"Foo", false, "", "", ""},
	{"foo bar", false, "", "", ""},
	{"foo/bookworm", false, "", "", ""},
	{"foo;reboot", false, "", "", ""},
	{"a=1 b", false, "", "", ""},
};

TEST(dpkg_spec_takes_only_names)
{
	struct dpkg_spec s;

	for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
		if (dpkg_spec_parse(str_of(SPECS[i].text), &s) != SPECS[i].ok)
			fail_msg("'%s' is judged wrongly", SPECS[i].text);
		if (!SPECS[i].ok)
			continue;
		assert_true(str_is(s.name, SPECS[i].name));
		assert_true(str_is(s.arch, SPECS[i].arch));
		assert_true(str_is(s.version, SPECS[i].version));
	}
}

static bool is_broken(const char *text, struct str *name)
{
	struct dpkg *d = dpkg_new(str_of(text));
	struct dpkg_record r = {0};
	const bool broken = dpkg_find_broken(d, &r);

	dpkg_free(d);
	*name = r.name;
	return broken;
}

TEST(dpkg_finds_what_is_broken)
{
	struct str name;

	assert_true(is_broken(STATUS, &name));
	assert_true(str_is(name, "reinst"));
	assert_false(is_broken("Package: a\nStatus: install ok installed\n", &name));
	assert_true(is_broken("Package: a\nStatus: install ok triggers-pending\n", &name));
	assert_false(is_broken("", &name));
}

TEST(dpkg_of_many_and_of_torn_records)
{
	static const char *const TORN[] = {"", "\n", "Package: ", "Package: a", "\nPackage: a\n",
		"Package: a\nStatus:", "Package: a\nStatus: install\nVersion: 1",
		"Status: install ok installed\n\n\n\nPackage: b\n"};
	struct dpkg_record r;
	struct buf text;
	struct dpkg *d;

	for (size_t i = 0; i < sizeof TORN / sizeof TORN[0]; i++) {
		d = dpkg_new(str_of(TORN[i]));
		if (dpkg_find(d, STR_LIT("a"), STR_LIT(""), &r))
			assert_false(dpkg_is_installed(&r));
		dpkg_free(d);
	}
	buf_init(&text, 1 << 20);
	for (int i = 0; i < 5000; i++)
		buf_addf(
			&text, "Package: p%d\nStatus: install ok installed\nVersion: %d\n\n", i, i);
	d = dpkg_new(buf_str(&text));
	assert_true(dpkg_find(d, STR_LIT("p4999"), STR_LIT(""), &r));
	assert_true(str_is(r.version, "4999"));
	assert_false(dpkg_find(d, STR_LIT("p5000"), STR_LIT(""), &r));
	dpkg_free(d);
	buf_done(&text);
}

static const struct {
	const char *args;
	int state;
	const char *diff;
} CHECKS[] = {
	{"\"names\": [\"adduser\", \"libc6\"]", STEP_SAME, ""},
	{"\"names\": [\"adduser=3.134\"]", STEP_SAME, ""},
	{"\"names\": [\"adduser=3.135\"]", STEP_DIFFERS, "change adduser 3.134 -> 3.135\n"},
	{"\"names\": [\"curl\", \"jq=1.6\"]", STEP_DIFFERS, "install curl\ninstall jq 1.6\n"},
	{"\"names\": [\"libc6-dev\"]", STEP_DIFFERS, "install libc6-dev\n"},
	{"\"names\": [\"libc6-dev\", \"curl\"], \"state\": \"absent\"", STEP_SAME, ""},
	{"\"names\": [\"adduser\"], \"state\": \"absent\"", STEP_DIFFERS, "remove adduser 3.134\n"},
	{"\"names\": [\"curl\"], \"state\": \"latest\"", STEP_DIFFERS, "install curl\n"},
	{"\"names\": []", STEP_SAME, ""},
};

/* STATUS up to its first package that was left half-way. */
static const char *sound_status(void)
{
	static char text[sizeof STATUS];

	snprintf(text, sizeof text, "%.*s", (int)(strstr(STATUS, "Package: reinst") - STATUS),
		STATUS);
	return text;
}

TEST(package_check_reads_the_database)
{
	struct tree t;
	char args[256];

	tree_init(&t);
	tree_write(&t, "var/lib/dpkg/status", sound_status());
	for (size_t i = 0; i < sizeof CHECKS / sizeof CHECKS[0]; i++) {
		snprintf(args, sizeof args, "{%s}", CHECKS[i].args);
		if (tree_check(&t, "package", args) != CHECKS[i].state ||
			strcmp(buf_text(&t.rep.diff), CHECKS[i].diff) != 0)
			fail_msg("%s: %s%s", args, t.err.msg, buf_text(&t.rep.diff));
	}
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"a\", \"b\", \"adduser\"]}"),
		STEP_DIFFERS);
	assert_string_equal(t.rep.why, "2 packages to install");
	tree_refused(&t, "package", "{\"names\": [\"a b\"]}", E_SCHEMA);
	tree_write(&t, "var/lib/dpkg/status", STATUS);
	tree_refused(&t, "package", "{\"names\": [\"nvidia-dkms-575-open\"]}", E_STATE);
	assert_string_equal(t.err.msg, "package database broken: reinst (reinstreq), "
				       "nvidia-dkms-575-open (half-configured)");
	tree_done(&t);
}

TEST(dpkg_goes_through_all_records)
{
	struct dpkg *d = dpkg_new(str_of(STATUS));
	struct dpkg_record r;
	unsigned n = 0;
	size_t at = 0;

	while (dpkg_next(d, &at, &r)) {
		assert_true(r.name.n > 0 && r.version.n > 0);
		n++;
	}
	assert_int_equal(n, 9);
	assert_true(str_is(r.name, "nvidia-dkms-575-open"));
	dpkg_free(d);
}

TEST(package_latest_without_lists)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "var/lib/dpkg/status", sound_status());
	t.env.dry = true;
	assert_int_equal(
		tree_check(&t, "package", "{\"names\": [\"adduser\"], \"state\": \"latest\"}"),
		STEP_UNKNOWN);
	t.env.dry = false;
	assert_int_equal(
		tree_check(&t, "package", "{\"names\": [\"adduser\"], \"state\": \"latest\"}"),
		STEP_DIFFERS);
	tree_done(&t);
}

TEST(package_needs_dpkg)
{
	struct tree t;

	tree_init(&t);
	tree_refused(&t, "package", "{\"names\": [\"adduser\"]}", E_UNSUPPORTED);
	assert_true(t.err.hint[0]);
	tree_write(&t, "var/lib/dpkg/status", sound_status());
	assert_int_equal(tree_apply(&t, "package", "{\"names\": [\"curl\"]}"), -E_UNSUPPORTED);
	tree_done(&t);
}

TEST(package_sees_a_changed_database)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "var/lib/dpkg/status", sound_status());
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"curl\"]}"), STEP_DIFFERS);
	tree_write(&t, "var/lib/dpkg/status",
		"Package: curl\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n");
	assert_int_equal(tree_check(&t, "package", "{\"names\": [\"curl\"]}"), STEP_SAME);
	tree_done(&t);
}

T_MAIN
