#include "agent/trial/command.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/trial/trial.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 64
#define TOLD_MAX  (4u << 20)

struct wishes {
	struct trial_opts opts;
	const char *recipes[NAMES_MAX], *order[NAMES_MAX];
	bool json, quiet;
};

static bool read_wishes(int argc, char **argv, struct wishes *w)
{
	static const struct option options[] = {{"recipes", required_argument, NULL, 'd'},
		{"recipe", required_argument, NULL, 'r'},
		{"programs", required_argument, NULL, 'p'}, {"json", no_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'}, {"keep", no_argument, NULL, 'k'},
		{NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "q", options, NULL)) >= 0) {
		if (c == 'd' && w->opts.n_recipes < NAMES_MAX)
			w->recipes[w->opts.n_recipes++] = optarg;
		else if (c == 'r' && w->opts.n_order < NAMES_MAX)
			w->order[w->opts.n_order++] = optarg;
		else if (c == 'p')
			w->opts.programs = optarg;
		else if (c == 'j')
			w->json = true;
		else if (c == 'k')
			w->opts.keep = true;
		else if (c == 'q')
			w->quiet = true;
		else
			return false;
	}
	w->opts.keep = w->opts.keep || getenv("STOIKA_KEEP");
	w->opts.recipes = w->recipes;
	w->opts.order = w->order;
	return optind < argc;
}

static void tell_json(
	const char *dir, bool good, int64_t took, const struct buf *told, struct buf *out)
{
	AUTO_JSON obj = json_object();

	json_put_str(obj, "case", dir);
	json_put_bool(obj, "good", good);
	json_put_int(obj, "took_ms", took / CLOCK_MS);
	json_put_text(obj, "told", buf_str(told));
	json_write(obj, out);
	buf_add_char(out, '\n');
}

static void tell(
	const struct wishes *w, const char *dir, bool good, const struct buf *told, struct buf *out)
{
	struct str rest = buf_str(told), line;

	if (good && !w->quiet)
		buf_addf(out, "%s: as written\n", dir);
	while (str_line(&rest, &line))
		buf_addf(out, "%s: " STR_FMT "\n", dir, STR_ARG(line));
}

static bool run_one(const struct wishes *w, const char *dir)
{
	const int64_t began = clock_mono();
	AUTO_BUF told = {0}, out = {0};
	bool good;

	buf_init(&told, TOLD_MAX);
	buf_init(&out, 2 * TOLD_MAX);
	good = trial_case(&w->opts, dir, &told);
	if (w->json)
		tell_json(dir, good, clock_mono() - began, &told, &out);
	else
		tell(w, dir, good, &told, &out);
	return fs_write_all(STDOUT_FILENO, buf_str(&out), NULL) == 0 && good;
}

static void tell_sum(unsigned n, unsigned bad)
{
	char text[80];

	snprintf(text, sizeof text, "%u recipe cases, %u not as written\n", n, bad);
	(void)fs_write_all(STDOUT_FILENO, str_of(text), NULL);
}

/* Whoever asked for JSON is a program: without it nobody reads what this says. */
static bool follow(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

int trial_main(int argc, char **argv)
{
	struct wishes w = {0};
	unsigned bad = 0, n = 0;
	const pid_t parent = getppid();
	char skeleton[64] = "";
	struct err err;
	int rc;

	if (!read_wishes(argc, argv, &w)) {
		(void)fs_write_all(
			STDERR_FILENO, STR_LIT("usage: stoika-agent COMMAND\n" TRIAL_USAGE), NULL);
		return 2;
	}
	umask(022);
	rc = trial_become_root(&err);
	/* only now: becoming another user makes the kernel forget it */
	if (rc == 0 && w.json && !follow(parent))
		return 2;
	if (rc == 0)
		rc = trial_skeleton(skeleton, &err);
	if (rc < 0) {
		err_print(&err);
		return 2;
	}
	w.opts.skeleton = skeleton;
	for (int i = optind; i < argc; i++, n++)
		bad += !run_one(&w, argv[i]);
	trial_drop_skeleton(skeleton);
	if (!w.json)
		tell_sum(n, bad);
	return bad > 0;
}
