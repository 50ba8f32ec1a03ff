/*
 * fence_play - a fence by hand, for tests over real schedulers.
 *
 *	fence_play KIND MARK NODE,NODE... [PREFIX...] < SCRIPT
 *
 * SCRIPT, a line each: "want NODE closed|open|reboot|nothing WHY", "move NODE requeue|cancel",
 * "until NODE WORD SECONDS" (WORD: open, closing, closed, foreign, rebooting, rebooted, troubled,
 * absent; NODE -: silent, heard), "for SECONDS". After each until the node's view is printed.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/str.h"
#include "controller/fence/fence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 64
#define TICK      (50 * CLOCK_MS)

static const char *names[NODES_MAX];
static size_t n_names;

static size_t node_of(const char *name)
{
	for (size_t i = 0; i < n_names; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fprintf(stderr, "no node '%s'\n", name);
	exit(2);
}

static unsigned word_of(const char *word, const char *const *words)
{
	for (unsigned i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	fprintf(stderr, "no such word as '%s'\n", word);
	exit(2);
}

static void show(const struct fence *f, const char *name)
{
	if (strcmp(name, "-") == 0) {
		printf("- %s\n", fence_silent(f) ? fence_silent(f) : "heard");
	} else {
		const struct fence_view *v = fence_look(f, node_of(name));
		printf("%s %s%s%s%s%s jobs=%u reason='%s' by='%s' trouble='%s'\n", name,
			FENCE_STATE_NAMES[v->state], v->ours ? " ours" : "",
			fence_is_foreign(v) ? " foreign" : "", v->rebooting ? " rebooting" : "",
			v->rebooted ? " rebooted" : "", v->jobs, v->reason, v->by, v->trouble);
	}
	fflush(stdout);
}

static bool holds(const struct fence *f, const char *name, const char *word)
{
	if (strcmp(word, "silent") == 0)
		return fence_silent(f);
	if (strcmp(word, "heard") == 0)
		return !fence_silent(f);
	const struct fence_view *v = fence_look(f, node_of(name));
	if (strcmp(word, "closed") == 0)
		return fence_is_closed(v);
	if (strcmp(word, "foreign") == 0)
		return fence_is_foreign(v);
	if (strcmp(word, "rebooting") == 0)
		return v->rebooting;
	if (strcmp(word, "rebooted") == 0)
		return v->rebooted;
	if (strcmp(word, "troubled") == 0)
		return v->trouble[0];
	if (strcmp(word, "busy") == 0)
		return v->state == FENCE_CLOSING && v->jobs;
	return v->state == word_of(word, FENCE_STATE_NAMES);
}

static bool wait_until(struct fence *f, const char *name, const char *word, const char *seconds)
{
	uint64_t most = 0;
	if (!str_to_u64(str_of(seconds), &most))
		exit(2);
	const int64_t until = clock_mono() + (int64_t)most * CLOCK_SEC;
	bool good = false;
	while (!good && clock_mono() < until) {
		fence_tick(f, clock_mono());
		good = *name && holds(f, name, word);
		clock_sleep(TICK);
	}
	return good;
}

static bool play(struct fence *f, char *line)
{
	static const char *const wants[] = {"nothing", "closed", "open", "reboot", NULL};
	char verb[16] = "", name[64] = "", word[32] = "", rest[256] = "";
	if (sscanf(line, "%15s %63s %31s %255[^\n]", verb, name, word, rest) < 2)
		return true;
	if (strcmp(verb, "want") == 0) {
		fence_want(f, node_of(name), (enum fence_want)word_of(word, wants), rest);
	} else if (strcmp(verb, "move") == 0) {
		fence_move_jobs(f, node_of(name), (enum fence_jobs)word_of(word, FENCE_JOBS_NAMES));
	} else if (strcmp(verb, "for") == 0) {
		wait_until(f, "", "", name);
	} else {
		const bool good = wait_until(f, name, word, rest);
		show(f, name);
		if (!good)
			printf("never: %s %s\n", name, word);
		return good;
	}
	return true;
}

int main(int argc, char **argv)
{
	char line[512];
	struct err err = {0};
	struct fence *f = NULL;
	if (argc < 4)
		return 2;
	const char *const *prefix = argc > 4 ? (const char *const *)&argv[4] : NULL;
	const struct fence_opts o = {.kind = (enum fence_kind)word_of(argv[1], FENCE_KIND_NAMES),
		.mark = argv[2],
		.prefix = prefix,
		.command = prefix,
		.program_timeout = 5 * CLOCK_SEC};
	char *rest = NULL;
	for (char *p = strtok_r(argv[3], ",", &rest); p && n_names < NODES_MAX;
		p = strtok_r(NULL, ",", &rest))
		names[n_names++] = p;
	if (fence_new(&o, names, n_names, &f, &err)) {
		err_print(&err);
		return 2;
	}
	bool good = true;
	while (good && fgets(line, sizeof line, stdin))
		good = play(f, line);
	fence_free(f);
	return good ? 0 : 1;
}
