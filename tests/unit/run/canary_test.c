/*
 * A secret that is used in a file, by a program and in a program's error: it is in that file, and
 * in no journal, state, frame, error output, command line or environment, also while it is used.
 */
#include "tests/unit/run/peer.h"

#include <ctype.h>
#include <dirent.h>
#include <ftw.h>

#define CANARY "canary-b7d2e9\"x"
#define PLAIN  "canary-b7d2e9"

static unsigned files, processes; /* that were read: a test that sees nothing proves nothing */
static char found[512];

static bool look_into(const char *path)
{
	static char text[1 << 20];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

	if (fd >= 0)
		close(fd);
	if (n > 0 && memmem(text, (size_t)n, PLAIN, strlen(PLAIN)))
		snprintf(found, sizeof found, "%s", path);
	return n > 0;
}

static int look_at(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	if (type == FTW_F && look_into(path))
		files++;
	return 0;
}

static void look_at_processes(void)
{
	DIR *dir = opendir("/proc");
	char path[64];

	for (const struct dirent *e; (e = readdir(dir));) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%.20s/cmdline", e->d_name);
		processes += look_into(path);
		snprintf(path, sizeof path, "/proc/%.20s/environ", e->d_name);
		(void)look_into(path);
	}
	closedir(dir);
}

/* All that the agent says, to the end of the link; the processes are looked at meanwhile. */
static void listen_to(struct peer *p, struct buf *heard)
{
	const int64_t until = clock_mono() + 30 * CLOCK_SEC;
	char chunk[4096];

	for (;;) {
		struct pollfd fd = {.fd = p->from, .events = POLLIN};
		ssize_t n;

		if (clock_mono() > until)
			fail_msg("the agent does not end");
		look_at_processes();
		if (poll(&fd, 1, 20) <= 0)
			continue;
		n = read(p->from, chunk, sizeof chunk);
		if (n <= 0)
			return;
		buf_add(heard, chunk, (size_t)n);
	}
}

static void make_recipe(struct peer *p, const char *shell)
{
	char yaml[2048];

	snprintf(yaml, sizeof yaml,
		"recipe: demo\nparams: {pw: {type: secret}}\nsteps:\n"
		"  - file: {path: %s/root/conf, content: \"p={{ params.pw }}\\n\", mode: \"0600\"}\n"
		"  - command: {shell: \"%s\", stdin: \"{{ params.pw }}\"}\n",
		p->stage.path, shell);
	make_bundle(p, yaml);
}

static void run(struct peer *p, enum order_mode mode, const char *id, struct buf *heard)
{
	struct order_recipe r;
	json_t *params = json_pack("{s:{s:s}}", "pw", "$secret", "pw");
	struct order o;

	greet(p);
	o = secret_order(p, &r, params);
	o.mode = mode;
	o.run = id;
	send_order(p, &o, p->key);
	send_secrets(p, "pw", CANARY);
	if (json_array_size(json_get(p->hello, "bundles")) == 0)
		send_bundle(p);
	listen_to(p, heard);
	json_decref(params);
	assert_int_equal(finish(p), 0);
}

static void check(struct peer *p, const struct buf *heard, const char *state)
{
	if (memmem(heard->p, heard->n, PLAIN, strlen(PLAIN)))
		fail_msg("the secret went over the link");
	if (!memmem(heard->p, heard->n, state, strlen(state)))
		fail_msg("the run is not '%s'", state);
	assert_int_equal(nftw(p->state_path, look_at, 16, FTW_PHYS), 0);
	(void)look_into(p->log);
	if (found[0])
		fail_msg("the secret is in %s", found);
	assert_true(files > 0 && processes > 1); /* the agent's, and ours */
}

TEST(canary)
{
	struct peer p;
	struct buf heard;
	char log[200];

	fakes_off = true;
	peer_init(&p);
	snprintf(log, sizeof log, "%s/stderr", p.stage.path);
	p.root = "/";
	p.log = log;
	buf_init(&heard, 1 << 20);
	/* plan, then an apply whose program takes its time, then one whose program tells it in
	 * anger */
	make_recipe(&p, "cat > /dev/null; sleep 1");
	run(&p, ORDER_PLAN, "run-1", &heard);
	check(&p, &heard, "\"state\":\"changed\"");
	buf_clear(&heard);
	run(&p, ORDER_APPLY, "run-2", &heard);
	check(&p, &heard, "\"state\":\"changed\"");
	assert_string_equal(stage_read(&p.stage, "conf"), "p=" CANARY "\n");

	p.serial = 2;
	make_recipe(&p, "cat; cat >&2; exit 3");
	stage_write(&p.stage, "conf", "p=" CANARY "\nand more\n");
	buf_clear(&heard);
	{
		struct order_recipe r;
		json_t *params = json_pack("{s:{s:s}}", "pw", "$secret", "pw");
		struct order o;

		greet(&p);
		o = secret_order(&p, &r, params);
		o.run = "run-3";
		send_order(&p, &o, p.key);
		send_secrets(&p, "pw", CANARY);
		send_bundle(&p);
		listen_to(&p, &heard);
		json_decref(params);
		assert_int_equal(finish(&p), 0);
	}
	check(&p, &heard, "\"state\":\"failed\"");
	assert_non_null(memmem(heard.p, heard.n, "(secret)", 8));
	buf_done(&heard);
	peer_done(&p);
}

T_MAIN
