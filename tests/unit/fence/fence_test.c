/* fence_test - what goes wrong with any scheduler's programs, and who has none. */
#include "agent/base/mem.h"
#include "controller/fence/program.h"
#include "tests/unit/fence/play.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const char OPEN_NODES[] = "n1|IDLE|||\nn2|IDLE|||\nn3|IDLE|||\n";

static struct fence *play_short(const char *const *prefix)
{
	struct fence_opts o = {.kind = FENCE_SLURM,
		.mark = "R1",
		.prefix = prefix,
		.look_every = 100 * CLOCK_MS,
		.program_timeout = 400 * CLOCK_MS};
	struct fence *f = NULL;
	play_prefix[1] = t_dir();
	assert_int_equal(fence_new(&o, play_names, 3, &f, NULL), 0);
	return f;
}

TEST(nobody_to_fence_has_what_is_wanted_at_once)
{
	struct fence *f = play_new(FENCE_NONE, "R1");
	assert_int_equal(fence_look(f, 0)->state, FENCE_OPEN);
	fence_want(f, 0, WANT_CLOSED, "x");
	fence_tick(f, 5);
	assert_true(fence_is_closed(fence_look(f, 0)));
	assert_int_equal(fence_look(f, 0)->at, 5);
	assert_int_equal(fence_look(f, 1)->state, FENCE_OPEN);
	fence_want(f, 0, WANT_OPEN, "");
	assert_int_equal(fence_look(f, 0)->state, FENCE_OPEN);
	assert_false(fence_look(f, 0)->ours);
	assert_null(fence_silent(f));
	assert_false(fence_can_reboot(f));
	fence_free(f);
}

TEST(names_and_marks_that_could_mean_more_are_refused)
{
	static const struct {
		const char *mark, *name, *says;
	} all[] = {
		{"R1", "ALL", "'ALL' cannot be the name of a scheduler's node"},
		{"R1", "n[1-3]", "'n[1-3]' cannot be the name of a scheduler's node"},
		{"R1", "a,b", "'a,b' cannot be the name of a scheduler's node"},
		{"R1", "-o", "'-o' cannot be the name of a scheduler's node"},
		{"R1", "", "'' cannot be the name of a scheduler's node"},
		{"R 1", "n1", "the mark of a fence must be a run's id, not 'R 1'"},
		{NULL, "n1", "the mark of a fence must be a run's id, not ''"},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct fence_opts o = {.kind = FENCE_SLURM, .mark = all[i].mark};
		struct fence *f = NULL;
		struct err err = {0};
		assert_int_not_equal(fence_new(&o, &all[i].name, 1, &f, &err), 0);
		assert_string_equal(err.msg, all[i].says);
	}
	struct fence_opts o = {.kind = FENCE_COMMAND, .mark = "R1"};
	struct fence *f = NULL;
	struct err err = {0};
	assert_int_not_equal(fence_new(&o, play_names, 1, &f, &err), 0);
	assert_string_equal(err.msg, "a fence by command needs its command");
}

/* Faults come and go: each is told, nothing is done meanwhile, and then it goes on. */
TEST(silence_is_told_and_over_when_it_is_over)
{
	static const char *const all[][2] = {
		{"hang", "'scontrol' did not answer within 400 ms"},
		{"garbage", "what 'scontrol' printed cannot be read: "},
		{"empty", "what 'scontrol' printed cannot be read: "},
		{"cut", "what 'scontrol' printed cannot be read: it ends in the middle of a line"},
		{"refuse",
			"'scontrol' failed with status 1: scontrol: error: Unable to contact slurm "
			"controller (connect failure)"},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		play_clean();
		play_write("nodes", OPEN_NODES);
		struct fence *f = play_short(play_prefix);
		PLAY_UNTIL(f, fence_look(f, 0)->state == FENCE_OPEN);
		play_write("fault", all[i][0]);
		PLAY_UNTIL(f, fence_silent(f));
		if (strncmp(fence_silent(f), all[i][1], strlen(all[i][1])) != 0)
			fail_msg("%s: '%s'", all[i][0], fence_silent(f));
		assert_int_equal(fence_look(f, 0)->state, FENCE_OPEN);
		fence_want(f, 0, WANT_CLOSED, "x");
		play_for(f, 600 * CLOCK_MS);
		assert_int_equal(play_calls("update"), 0);
		play_write("fault", "");
		PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
		assert_null(fence_silent(f));
		fence_free(f);
	}
}

TEST(a_program_that_is_not_there_is_told)
{
	static const char *const prefix[] = {"/nonexistent/ssh", "head", NULL};
	struct fence *f = play_short(prefix);
	fence_tick(f, clock_mono());
	assert_non_null(fence_silent(f));
	assert_non_null(strstr(fence_silent(f), "/nonexistent/ssh"));
	fence_free(f);
}

/* A shell at the other end of ssh must see each argument whole. */
TEST(arguments_survive_ssh)
{
	char ssh[128], script[1024];
	play_clean();
	play_write("nodes", OPEN_NODES);
	snprintf(ssh, sizeof ssh, "%s/ssh", t_dir());
	snprintf(script, sizeof script, "#!/bin/sh\nshift\nexec sh -c \"%s/standin.sh %s $*\"\n",
		TEST_DIR, t_dir());
	play_write("ssh", script);
	chmod(ssh, 0755);
	const char *const prefix[] = {ssh, "head", NULL};
	struct fence *f = play_short(prefix);
	fence_want(f, 0, WANT_CLOSED, "it's $HOME; reboot `now` & \"so\"");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	assert_string_equal(fence_look(f, 0)->reason, "stoika:R1 it's $HOME; reboot `now` & 'so'");
	fence_free(f);
}

TEST(words_are_cut_at_whole_characters)
{
	char why[1024] = "";
	play_clean();
	play_write("nodes", OPEN_NODES);
	for (size_t i = 0; i + 3 < sizeof why; i += 3)
		memcpy(why + i, "\xe2\x82\xac", 4);
	struct fence *f = play_new(FENCE_SLURM, "R1");
	fence_want(f, 0, WANT_CLOSED, why);
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)));
	assert_true(str_is_utf8(str_of(fence_look(f, 0)->reason)));
	assert_true(strlen(fence_look(f, 0)->reason) < 256);
	fence_free(f);
}

/* Whoever is killed in the middle leaves nothing but what the scheduler knows. */
TEST(a_killed_controller_is_followed_by_another)
{
	play_clean();
	play_write("nodes", OPEN_NODES);
	for (int life = 0; life < 12; life++) {
		const pid_t pid = fork();
		if (pid == 0) {
			struct fence *f = play_new(FENCE_SLURM, "R1");
			for (size_t i = 0; i < 3; i++)
				fence_want(f, i, WANT_CLOSED, i == 1 ? "b" : "a");
			for (;;) {
				fence_tick(f, clock_mono());
				clock_sleep(2 * CLOCK_MS);
			}
		}
		clock_sleep((life * 13 + 5) * CLOCK_MS);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	struct fence *f = play_new(FENCE_SLURM, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, i == 1 ? "b" : "a");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_is_closed(fence_look(f, 1)) &&
			      fence_is_closed(fence_look(f, 2)));
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_OPEN, "");
	PLAY_UNTIL(
		f, fence_look(f, 0)->state == FENCE_OPEN && fence_look(f, 1)->state == FENCE_OPEN);
	assert_true(play_file_has("nodes", OPEN_NODES));
	fence_free(f);
}

/* A dead one may wait for its parent, which is nobody here. */
static bool is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	const size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	return n && !strstr(text, ") Z ");
}

TEST(programs_end_at_their_deadline_with_all_they_started)
{
	static const char *const argv[] = {"/bin/sh", "-c",
		"trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done", NULL};
	static const char *const env[] = {"PATH=/bin:/usr/bin", NULL};
	struct program p;
	program_init(&p);
	const int64_t start = clock_mono();
	assert_int_equal(program_start(&p, argv, env, start + 100 * CLOCK_MS, NULL), 0);
	while (!program_poll(&p, clock_mono()))
		clock_sleep(5 * CLOCK_MS);
	assert_true(p.stopped);
	assert_true(clock_mono() - start < 10 * CLOCK_SEC);
	uint64_t child = 0;
	assert_true(str_to_u64(str_trim(buf_str(&p.out)), &child));
	const int64_t until = clock_mono() + 2 * CLOCK_SEC;
	while (is_alive((pid_t)child) && clock_mono() < until)
		clock_sleep(5 * CLOCK_MS);
	assert_false(is_alive((pid_t)child));
	program_done(&p);
}

TEST(a_flood_is_kept_to_the_cap)
{
	static const char *const argv[] = {"/bin/sh", "-c", "head -c 70000000 /dev/zero", NULL};
	static const char *const env[] = {NULL};
	struct program p;
	program_init(&p);
	assert_int_equal(program_start(&p, argv, env, clock_mono() + 20 * CLOCK_SEC, NULL), 0);
	while (!program_poll(&p, clock_mono()))
		clock_sleep(CLOCK_MS);
	assert_int_equal(p.status, 0);
	assert_true(p.cut);
	assert_int_equal(p.out.n, PROGRAM_OUT_MAX);
	program_done(&p);
}

T_MAIN
