/*
 * get - the step 'download' alone, for the comparison in bulk.sh.
 *
 *	bench-get URL SHA256 FILE            apply
 *	bench-get --again URL SHA256 FILE    check, and print how many microseconds it took
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/json.h"
#include "agent/fetch/fetch.h"
#include "agent/step/step.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(
	bool again, char **argv, struct step_env *env, struct step_report *rep, struct err *err)
{
	const struct step_ops *ops = step_find("download");
	AUTO_JSON args = json_object();
	const int64_t begin = clock_mono();
	int rc;

	json_put_str(args, "url", argv[0]);
	json_put_str(args, "sha256", argv[1]);
	json_put_str(args, "path", argv[2]);
	rc = again ? ops->check(env, args, rep, err) : ops->apply(env, args, rep, err);
	if (again && rc == 0)
		printf("%lld us, %s\n", (long long)(clock_mono() - begin) / 1000,
			rep->state == STEP_SAME ? "same" : "differs");
	return rc;
}

int main(int argc, char **argv)
{
	const bool again = argc == 5 && strcmp(argv[1], "--again") == 0;
	struct step_env env = {.root_path = "/", .recipe = "bench", .keep = -1};
	struct step_report rep;
	struct err err = {0};
	int rc;

	if (argc == 2 && strcmp(argv[1], FETCH_COMMAND) == 0)
		return fetch_main();
	if (argc != 4 && !again) {
		fprintf(stderr, "usage: bench-get [--again] URL SHA256 FILE\n");
		return 2;
	}
	env.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	env.cache = step_cache_new();
	step_report_init(&rep);
	rc = run(again, argv + 1 + again, &env, &rep, &err);
	if (rc < 0)
		err_print(&err);
	step_report_done(&rep);
	step_cache_free(env.cache);
	close(env.root);
	return rc < 0;
}
