/* evidence - gathered on a throw-away root with programs that are scripts there. */
#include "agent/base/clock.h"
#include "agent/evidence/evidence.h"
#include "tests/unit/step/programs.h"

#include <unistd.h>

/* name -> text, as it was given. */
struct heap {
	json_t *texts;
	unsigned n, alive;
	char last[80];
};

static void give(void *ctx, const char *name, struct str text)
{
	struct heap *h = ctx;

	if (!name) {
		h->alive++;
		return;
	}
	assert_true(str_is_name(str_of(name)));
	assert_true(str_is_utf8(text));
	assert_true(text.n <= EVIDENCE_TEXT_MAX);
	assert_null(memchr(text.p ? text.p : "", '\0', text.n));
	json_object_set_new(h->texts, name, json_stringn(text.p ? text.p : "", text.n));
	snprintf(h->last, sizeof h->last, "%s", name);
	h->n++;
}

static void gather(struct tree *t, struct heap *h)
{
	const int state = openat(t->env.root, "state", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct evidence_env env = {.root = t->env.root,
		.root_path = t->env.root_path,
		.state = state,
		.give = give,
		.ctx = h};

	*h = (struct heap){.texts = json_object()};
	evidence_gather(&env);
	if (state >= 0)
		close(state);
}

static const char *text(const struct heap *h, const char *name)
{
	return json_get_str(h->texts, name, "(none)");
}

static void says(const struct heap *h, const char *name, const char *part)
{
	if (!strstr(text(h, name), part))
		fail_msg("%s does not say '%s':\n%.2000s", name, part, text(h, name));
}

TEST(evidence_of_an_empty_root_is_an_index_of_what_is_missing)
{
	struct heap h;
	struct tree t;

	tree_init(&t);
	gather(&t, &h);
	assert_string_equal(h.last, "index.txt");
	assert_non_null(json_get(h.texts, "facts.json"));
	assert_int_equal(h.n, 2);
	says(&h, "index.txt", "\ndpkg.log: none: ");
	says(&h, "index.txt", "kernel.log: none: ");
	says(&h, "index.txt", "\nrun.journal: none: no run has changed anything\n");
	says(&h, "index.txt", "\ndpkg-audit.txt: none: ");
	says(&h, "index.txt", "\nnvidia-bug-report: none: it takes minutes");
	json_decref(h.texts);
	tree_done(&t);
}

static void plant(struct tree *t)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	tree_mkdir(t, "dev");
	tree_write(t, "dev/kmsg",
		"6,1,5000001,-;Linux version 6.1\n SUBSYSTEM=x\n"
		"3,2,61000002,-;NVRM: Xid (PCI:0000:3b:00): 79, gone\n");
	tree_write(t, "var/log/dpkg.log", "2026-11-30 upgrade nvidia-driver 1 2\n");
	tree_write(t, "var/log/apt/term.log", "bad \xff byte\r\n\x1b[31mred\n");
	tree_write(t, "var/log/fabricmanager.log", "[ERROR] version mismatch\n");
	tree_write(t, "var/lib/dkms/nvidia/550.1/build/make.log", "make: *** Error 2\n");
	tree_write(t, "var/lib/dkms/odd+name/1/build/make.log", "odd\n");
	tree_mkdir(t, "var/lib/dkms/zfs/2.2/6.1/x86_64/module");
	tree_mkdir(t, "var/lib/dkms/no\xfftext/1/build/make.log");
	tree_write(t, "state/runs/run-1.journal", "{\"ev\":\"start\",\"run\":\"run-1\"}\n");
	tree_write(t, "state/runs/run-2.journal",
		"{\"ev\":\"intent\",\"args\":{\"x\":\"y\"},\"before\":{\"a\":1},\"step\":1}\n"
		"{\"ev\":\"step\",\"after\":{},\"state\":\"failed\"}\n{\"ev\":\"en");
	programs_script(t, "usr/bin/dpkg", "#!/bin/sh\necho \"$1: nv is half-configured\"\n");
	programs_script(t, "usr/bin/systemctl",
		"#!/bin/sh\necho 'nvidia-fabricmanager.service loaded failed failed FM'\n"
		"echo '-rf.service loaded failed failed odd'\necho\n");
	programs_script(t, "usr/bin/journalctl", "#!/bin/sh\necho \"lines of $*\"\n");
}

TEST(evidence_of_a_failed_upgrade)
{
	struct timespec old[2] = {{1000, 0}, {1000, 0}};
	struct heap h;
	struct tree t;

	plant(&t);
	assert_int_equal(utimensat(t.env.root, "state/runs/run-1.journal", old, 0), 0);
	gather(&t, &h);
	assert_string_equal(text(&h, "kernel.log"),
		"[    5.000001] Linux version 6.1\n SUBSYSTEM=x\n"
		"[   61.000002] NVRM: Xid (PCI:0000:3b:00): 79, gone\n");
	says(&h, "dpkg.log", "upgrade nvidia-driver");
	assert_string_equal(text(&h, "apt-term.log"), "bad ? byte\n?[31mred\n");
	says(&h, "fabricmanager.log", "version mismatch");
	says(&h, "dkms-nvidia-550.1-make.log", "Error 2");
	says(&h, "dkms-make.log", "odd");
	assert_null(json_get(h.texts, "dkms-zfs-2.2-make.log"));
	assert_string_equal(text(&h, "dpkg-audit.txt"), "--audit: nv is half-configured\n");
	says(&h, "failed-units.txt", "--- nvidia-fabricmanager.service ---\n");
	says(&h, "failed-units.txt", "-n 50 -u nvidia-fabricmanager.service\n");
	assert_null(strstr(text(&h, "failed-units.txt"), "-u -rf"));
	assert_string_equal(text(&h, "run.journal"),
		"{\"ev\":\"intent\",\"step\":1}\n{\"ev\":\"step\",\"state\":\"failed\"}\n");
	says(&h, "facts.json", "\"code\": 79");
	says(&h, "index.txt", "dpkg.log: 37 bytes\n");
	assert_true(h.alive > 8);
	json_decref(h.texts);
	tree_done(&t);
}

TEST(evidence_of_long_logs_is_their_end_from_where_a_line_begins)
{
	const size_t n = 1 << 20;
	char *log = malloc(n + 1);
	struct heap h;
	struct tree t;

	assert_non_null(log);
	for (size_t i = 0; i < n; i++)
		log[i] = i % 100 == 99 ? '\n' : (char)('a' + i / 100 % 26);
	log[n] = '\0';
	plant(&t);
	tree_write(&t, "var/log/dpkg.log", log);
	gather(&t, &h);
	assert_true(strlen(text(&h, "dpkg.log")) < (128u << 10) + 100);
	assert_true(strlen(text(&h, "dpkg.log")) > (127u << 10));
	if (strncmp(text(&h, "dpkg.log"), "[... 917600 bytes before this", 29) != 0 ||
		strchr(text(&h, "dpkg.log"), '\n')[1] != strchr(text(&h, "dpkg.log"), '\n')[99])
		fail_msg("%.200s", text(&h, "dpkg.log"));
	says(&h, "index.txt", ", the end of it\n");
	free(log);
	json_decref(h.texts);
	tree_done(&t);
}

TEST(evidence_waits_for_no_program_for_ever)
{
	int64_t started;
	struct heap h;
	struct tree t;

	plant(&t);
	assert_int_equal(mkfifoat(t.env.root, "never", 0600), 0);
	programs_script(&t, "usr/bin/dpkg", "#!/bin/sh\necho half\nread x </never\n");
	programs_script(&t, "usr/bin/systemctl", "#!/bin/sh\nexit 1\n");
	started = clock_mono();
	gather(&t, &h);
	assert_true(clock_mono() - started < 20 * CLOCK_SEC);
	says(&h, "dpkg-audit.txt", "half\n");
	says(&h, "dpkg-audit.txt", "[dpkg did not end within 10 s]\n");
	json_decref(h.texts);
	tree_done(&t);
}

/* What is no file (a pipe that nobody writes) does not hold it up. */
TEST(evidence_passes_over_what_is_no_file)
{
	struct heap h;
	struct tree t;

	plant(&t);
	assert_int_equal(fs_remove(t.env.root, "var/log/dpkg.log", false, NULL), 0);
	assert_int_equal(mkfifoat(t.env.root, "var/log/dpkg.log", 0600), 0);
	gather(&t, &h);
	says(&h, "index.txt", "dpkg.log: none: it is no file\n");
	json_decref(h.texts);
	tree_done(&t);
}

T_MAIN
