/* probe - the functions that expressions ask the node with. */
#include "tests/unit/step/tree.h"

/* true, false, or a text as JSON; "error CODE" when it failed. */
static const char *ask(struct tree *t, const char *name, const char *args)
{
	static char text[128];
	json_t *a = tree_args(args);
	struct value v = {0};
	const int rc = step_probe(&t->env, name, a, &v, &t->err);

	if (rc < 0) {
		snprintf(text, sizeof text, "error %s", ec_name(t->err.code));
	} else {
		char *dump = json_dumps(v.json, JSON_ENCODE_ANY);

		snprintf(text, sizeof text, "%s", dump);
		free(dump);
		value_done(&v);
	}
	json_decref(a);
	return text;
}

static const struct {
	const char *name, *args, *want;
} CASES[] = {
	{"exists", "[\"/etc/passwd\"]", "true"},
	{"exists", "[\"/etc/nope\"]", "false"},
	{"exists", "[\"/etc/dangling\"]", "false"},
	{"exists", "[\"/etc/link\"]", "true"},
	{"contains", "[\"/etc/passwd\", \"alice:x:\"]", "true"},
	{"contains", "[\"/etc/passwd\", \"bob\"]", "false"},
	{"contains", "[\"/etc/nope\", \"bob\"]", "false"},
	{"contains", "[\"/etc\", \"bob\"]", "error state"},
	{"running", "[\"sshd\"]", "true"},
	{"running", "[\"ssh\"]", "false"},
	{"running", "[\"prometheus-node-exporter\"]", "true"},
	{"running", "[\"\"]", "error schema"},
	{"running", "[\"/usr/sbin/sshd\"]", "error schema"},
	{"version", "[\"bash\"]", "\"5.2.15-2\""},
	{"version", "[\"gone\"]", "\"\""},
	{"version", "[\"nope\"]", "\"\""},
	{"version", "[\"no pe\"]", "error schema"},
	{"port_open", "[1]", "false"},
	{"port_open", "[0]", "error schema"},
	{"port_open", "[\"80\"]", "error schema"},
	{"http_ok", "[\"http://127.0.0.1:1/\", \"\"]", "false"},
	{"http_ok", "[\"http://example.org/\", \"\"]", "error schema"},
	{"json_file", "[\"/etc/a.json\"]", "{\"a\": [1, {\"b\": null}]}"},
	{"json_file", "[\"/etc/nope.json\"]", "{}"},
	{"json_file", "[\"/etc/passwd\"]", "error syntax"},
	{"toml_file", "[\"/etc/a.toml\"]", "{\"version\": 2, \"t\": {\"x\": [\"y\"]}}"},
	{"ini_file", "[\"/etc/a.ini\"]",
		"{\"k\": \"1\", \"s\": {\"l\": [\"a\", \"b\"], \"m\": \"c\"}}"},
	{"unit_setting", "[\"docker\", \"Service.ExecStart\"]", "[\"/usr/bin/dockerd\"]"},
	{"unit_setting", "[\"docker.service\", \"Service.Environment\"]", "[\"A=1\", \"B=2\"]"},
	{"unit_setting", "[\"docker.service\", \"Unit.After\"]", "[]"},
	{"unit_setting", "[\"none\", \"Unit.After\"]", "[]"},
	{"text_file", "[\"/etc/a.json\"]", "\"{\\\"a\\\": [1, {\\\"b\\\": null}]}\""},
	{"text_file", "[\"/etc/nope\"]", "\"\""},
	{"lines", "[\"/etc/a.ini\", \"^l = \"]", "[\"l = a\", \"l = b\"]"},
	{"lines", "[\"/etc/nope\", \"x\"]", "[]"},
	{"lines", "[\"/etc/passwd\", \"(\"]", "error syntax"},
	{"glob", "[\"/etc/a.*\"]", "[\"/etc/a.ini\", \"/etc/a.json\", \"/etc/a.toml\"]"},
	{"glob", "[\"/*/a.json\"]", "[\"/etc/a.json\"]"},
	{"glob", "[\"/etc/passwd\"]", "[\"/etc/passwd\"]"},
	{"glob", "[\"/none/*\"]", "[]"},
	{"glob", "[\"etc/*\"]", "error schema"},
	{"program", "[[\"nope\"]]", "{\"code\": 127, \"out\": \"\"}"},
	{"program", "[[]]", "error schema"},
	{"program", "[[\"a\", 1]]", "error schema"},
	{"program", "[\"a\"]", "error schema"},
	{"unit_setting", "[\"docker\", \"ExecStart\"]", "error schema"},
	{"unit_setting", "[\"../x\", \"Unit.After\"]", "error schema"},
	{"kernel_log", "[\"NVRM: Xid\"]", "true"},
	{"kernel_log", "[\"NVRM: SXid\"]", "false"},
	{"exists", "[]", "error schema"},
	{"exists", "[\"a\", \"b\"]", "error schema"},
	{"exists", "[1]", "error schema"},
	{"reboot", "[]", "error notfound"},
};

TEST(probes_answer)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "etc/a.json", "{\"a\": [1, {\"b\": null}]}");
	tree_write(&t, "etc/a.toml", "version = 2\n[t]\nx = ['y']\n");
	tree_write(&t, "etc/a.ini", "k=1\n[s]\nl = a\nl = b\nm = c\n");
	tree_write(&t, "usr/lib/systemd/system/docker.service",
		"[Service]\nExecStart=/usr/bin/dockerd -H fd://\nEnvironment=A=1\n");
	tree_write(&t, "etc/systemd/system/docker.service.d/20-b.conf",
		"[Service]\nExecStart=\nExecStart=/usr/bin/dockerd\n");
	tree_write(&t, "usr/lib/systemd/system/docker.service.d/10-a.conf",
		"[Service]\nExecStart=/bin/false\nEnvironment=B=2\n");
	tree_write(&t, "usr/lib/systemd/system/docker.service.d/20-b.conf",
		"[Service]\nEnvironment=hidden\n");
	tree_link(&t, "nope", "etc/dangling");
	tree_link(&t, "passwd", "etc/link");
	tree_write(&t, "dev/kmsg",
		"6,1,0,-;Linux version 6.1\n4,2,9,-;NVRM: Xid (PCI:0000:1b:00): 79\n");
	tree_write(&t, "proc/1/comm", "init\n");
	tree_write(&t, "proc/77/comm", "sshd\n");
	tree_write(&t, "proc/78/comm", "prometheus-node\n");
	tree_write(&t, "proc/meminfo", "x\n");
	tree_write(&t, "var/lib/dpkg/status",
		"Package: bash\nStatus: install ok installed\nVersion: 5.2.15-2\n"
		"Architecture: amd64\n\nPackage: gone\nStatus: deinstall ok config-files\n"
		"Version: 1\nArchitecture: all\n");
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const char *got = ask(&t, CASES[i].name, CASES[i].args);

		if (strcmp(got, CASES[i].want) != 0)
			fail_msg("%s%s is %s, expected %s", CASES[i].name, CASES[i].args, got,
				CASES[i].want);
	}
	tree_done(&t);
}

TEST(probe_version_without_dpkg)
{
	struct tree t;

	tree_init(&t);
	assert_string_equal(ask(&t, "version", "[\"bash\"]"), "\"\"");
	assert_string_equal(ask(&t, "kernel_log", "[\"x\"]"), "error notfound");
	tree_done(&t);
}

TEST(probe_processes_are_read_once_until_forgotten)
{
	struct tree t;

	tree_init(&t);
	tree_write(&t, "proc/1/comm", "init\n");
	assert_string_equal(ask(&t, "running", "[\"late\"]"), "false");
	tree_write(&t, "proc/2/comm", "late\n");
	assert_string_equal(ask(&t, "running", "[\"late\"]"), "false");
	step_cache_forget(t.env.cache);
	assert_string_equal(ask(&t, "running", "[\"late\"]"), "true");
	tree_done(&t);
}

T_MAIN
