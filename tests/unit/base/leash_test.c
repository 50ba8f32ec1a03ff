/* leash_test - what a program leaves behind ends with it, however it tries to get away. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/leash.h"
#include "agent/base/proc.h"
#include "tests/unit/t.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SH(text) ((const char *const[]){"sh", "-c", text, NULL})

/* How many processes run "sleep SECONDS" with this number of seconds. */
static int count(const char *seconds)
{
	char text[128];
	struct proc_result res;
	int n;

	/* the brackets keep pgrep from finding the shell that runs it */
	snprintf(text, sizeof text, "pgrep -fc '^sleep [%c]%s$'", seconds[0], seconds + 1);
	assert_int_equal(proc_run(&(struct proc){.argv = SH(text)}, &res, NULL), 0);
	n = (int)strtol(buf_text(&res.out), NULL, 10);
	proc_result_done(&res);
	return n;
}

static struct proc_result run(const char *text, int64_t timeout)
{
	struct proc_result res;
	struct err err = {0};

	if (proc_run(&(struct proc){.argv = SH(text), .leave_none = true, .timeout = timeout}, &res,
		    &err))
		fail_msg("%s", err.msg);
	return res;
}

static const struct {
	const char *text, *seconds;
} LEFT[] = {
	{"sleep 98761 & echo done", "98761"},
	{"nohup sleep 98762 >/dev/null 2>&1 & echo done", "98762"},
	{"setsid sleep 98763 >/dev/null 2>&1 & sleep 0.1; echo done", "98763"},
	{"(setsid sh -c 'sleep 98764; true' &) ; sleep 0.1; echo done", "98764"},
	{"trap '' TERM; sleep 98765 & echo done", "98765"},
};

TEST(leash_leaves_none)
{
	for (size_t i = 0; i < sizeof LEFT / sizeof *LEFT; i++) {
		struct proc_result res = run(LEFT[i].text, 0);

		assert_true(proc_ok(&res));
		assert_string_equal(buf_text(&res.out), "done\n");
		proc_result_done(&res);
		if (count(LEFT[i].seconds) != 0)
			fail_msg("%s is still there", LEFT[i].text);
	}
}

/* An agent that is killed must not leave its command at work for the next one to meet. */
TEST(leash_ends_with_who_held_it)
{
	const pid_t us = fork();

	if (us == 0) {
		struct proc_result res = run("setsid sleep 98791 & sleep 98792", 0);

		proc_result_done(&res);
		_exit(0);
	}
	for (int i = 0; i < 200 && count("98791") + count("98792") < 2; i++)
		clock_sleep(20 * CLOCK_MS);
	assert_int_equal(count("98791") + count("98792"), 2);
	assert_int_equal(kill(us, SIGKILL), 0);
	assert_int_equal(waitpid(us, NULL, 0), us);
	for (int i = 0; i < 200 && count("98791") + count("98792") > 0; i++)
		clock_sleep(20 * CLOCK_MS);
	assert_int_equal(count("98791") + count("98792"), 0);
}

TEST(without_a_leash_they_stay)
{
	struct proc_result res;

	assert_int_equal(
		proc_run(&(struct proc){.argv = SH("sleep 98771 >/dev/null 2>&1 & echo $!")}, &res,
			NULL),
		0);
	assert_int_equal(count("98771"), 1);
	assert_int_equal(kill((pid_t)strtol(buf_text(&res.out), NULL, 10), SIGKILL), 0);
	proc_result_done(&res);
}

TEST(leash_passes_the_end_on)
{
	struct proc_result res = run("exit 7", 0);

	assert_int_equal(res.end, PROC_EXITED);
	assert_int_equal(res.status, 7);
	proc_result_done(&res);
	res = run("kill -SEGV $$", 0);
	assert_int_equal(res.end, PROC_SIGNALED);
	assert_int_equal(res.status, SIGSEGV);
	proc_result_done(&res);
	assert_int_equal(proc_run(&(struct proc){.argv = (const char *const[]){"/nope", NULL},
					  .leave_none = true},
				 &res, NULL),
		-E_NOTFOUND);
	assert_int_equal(
		proc_run(&(struct proc){.argv = SH(":"), .cwd = "/nope", .leave_none = true}, &res,
			NULL),
		-E_NOTFOUND);
}

TEST(leash_has_a_deadline)
{
	int64_t start = clock_mono();
	struct proc_result res = run("setsid sleep 98781 & sleep 98782", CLOCK_SEC / 2);

	assert_int_equal(res.end, PROC_TIMED_OUT);
	assert_true(clock_mono() - start < 3 * CLOCK_SEC);
	proc_result_done(&res);
	assert_int_equal(count("98781") + count("98782"), 0);
	/* one that does not hear TERM, with children that do not either */
	start = clock_mono();
	res = run(
		"trap '' TERM; setsid sleep 98783 & while :; do sleep 98784; done", CLOCK_SEC / 2);
	assert_int_equal(res.end, PROC_TIMED_OUT);
	assert_true(clock_mono() - start < 8 * CLOCK_SEC);
	proc_result_done(&res);
	assert_int_equal(count("98783") + count("98784"), 0);
}

TEST(leash_gives_input_and_takes_output)
{
	struct proc_result res;

	assert_int_equal(proc_run(&(struct proc){.argv = SH("cat; echo x >&2"),
					  .input = STR_LIT("hello"),
					  .leave_none = true},
				 &res, NULL),
		0);
	assert_string_equal(buf_text(&res.out), "hello");
	assert_string_equal(buf_text(&res.err), "x\n");
	proc_result_done(&res);
}

T_MAIN
