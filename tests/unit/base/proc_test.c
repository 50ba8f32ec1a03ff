/* proc_test - real programs: ends, deadlines, floods, lines, roots and what a child inherits. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SH(text)  ARGV("sh", "-c", text)

static struct proc_result run(const struct proc *p)
{
	struct proc_result res;
	struct err err = {0};
	if (proc_run(p, &res, &err))
		fail_msg("%s", err.msg);
	return res;
}

TEST(proc_tells_the_exit_status)
{
	struct proc p = {.argv = SH("echo out; echo err >&2; exit 7")};
	struct proc_result res = run(&p);
	struct err err = {0};
	assert_int_equal(res.end, PROC_EXITED);
	assert_int_equal(res.status, 7);
	assert_false(proc_ok(&res));
	assert_string_equal(buf_text(&res.out), "out\n");
	assert_string_equal(buf_text(&res.err), "err\n");
	assert_true(res.took > 0);
	assert_int_equal(proc_fail(&p, &res, &err), -E_REMOTE);
	assert_string_equal(err.msg, "'sh' failed with status 7: err");
	proc_result_done(&res);
	p.argv = ARGV("true");
	res = run(&p);
	assert_true(proc_ok(&res));
	proc_result_done(&res);
	proc_result_done(&res);
}

TEST(proc_tells_the_signal)
{
	struct proc p = {.argv = SH("echo gone; kill -SEGV $$")};
	struct proc_result res = run(&p);
	struct err err = {0};
	assert_int_equal(res.end, PROC_SIGNALED);
	assert_int_equal(res.status, SIGSEGV);
	proc_fail(&p, &res, &err);
	assert_string_equal(err.msg, "'sh' died from signal 11: gone");
	proc_result_done(&res);
}

TEST(proc_gives_input_and_takes_output)
{
	size_t n = 1u << 20;
	AUTO_STR big = xmalloc(n);
	memset(big, 'x', n);
	struct proc p = {.argv = ARGV("cat"), .input = {big, n}};
	struct proc_result res = run(&p);
	assert_int_equal(res.out.n, n);
	assert_memory_equal(res.out.p, big, n);
	proc_result_done(&res);
	p.argv = ARGV("true"); /* does not read: must not stall */
	res = run(&p);
	assert_true(proc_ok(&res));
	proc_result_done(&res);
	p = (struct proc){.argv = ARGV("cat")};
	res = run(&p);
	assert_int_equal(res.out.n, 0);
	proc_result_done(&res);
}

TEST(proc_caps_a_flood)
{
	struct proc p = {.argv = SH("head -c 6000000 /dev/zero; head -c 10 /dev/zero >&2")};
	struct proc_result res = run(&p);
	assert_true(proc_ok(&res));
	assert_true(res.truncated);
	assert_true(
		res.out.n > PROC_OUTPUT_MAX && res.out.n < PROC_OUTPUT_MAX + PROC_LAST_MAX + 64);
	assert_int_equal(res.err.n, 10);
	proc_result_done(&res);
	p.argv = SH("head -c 4194304 /dev/zero");
	res = run(&p);
	assert_int_equal(res.out.n, PROC_OUTPUT_MAX);
	assert_false(res.truncated);
	proc_result_done(&res);
}

TEST(proc_stops_at_the_deadline)
{
	struct proc p = {.argv = SH("echo busy; exec sleep 60"), .timeout = CLOCK_SEC};
	struct proc_result res = run(&p);
	struct err err = {0};
	assert_int_equal(res.end, PROC_TIMED_OUT);
	assert_true(res.took < 30 * CLOCK_SEC);
	assert_string_equal(buf_text(&res.out), "busy\n");
	assert_int_equal(proc_fail(&p, &res, &err), -E_TIMEOUT);
	assert_non_null(strstr(err.msg, "'sh' was stopped after 1"));
	proc_result_done(&res);
}

TEST(proc_kills_the_deaf_and_its_children)
{
	struct proc p = {.argv = SH("trap '' TERM; sleep 61 & echo $!; while :; do wait; done"),
		.timeout = 2 * CLOCK_SEC};
	struct proc_result res = run(&p);
	assert_int_equal(res.end, PROC_TIMED_OUT);
	assert_int_equal(res.status, SIGKILL);
	assert_true(res.took >= 4 * CLOCK_SEC && res.took < 30 * CLOCK_SEC);
	pid_t grandchild = (pid_t)strtol(buf_text(&res.out), NULL, 10);
	assert_true(grandchild > 1);
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/cmdline", grandchild);
	for (int i = 0; i < 1000 && kill(grandchild, 0) == 0; i++) {
		FILE *f = fopen(path, "re"); /* a zombie of nobody's has no command line */
		int c = f ? fgetc(f) : EOF;
		if (f)
			fclose(f);
		if (c == EOF)
			break;
		assert_true(i < 999);
		clock_sleep(10 * CLOCK_MS);
	}
	proc_result_done(&res);
}

TEST(proc_does_not_wait_for_daemons)
{
	struct proc p = {.argv = SH("echo first; sleep 40 & echo last"), .timeout = 60 * CLOCK_SEC};
	struct proc_result res = run(&p);
	assert_true(proc_ok(&res));
	assert_string_equal(buf_text(&res.out), "first\nlast\n");
	assert_true(res.took < 30 * CLOCK_SEC);
	proc_result_done(&res);
}

static void collect(void *ctx, bool is_stderr, struct str line)
{
	struct buf *all = ctx;
	if (line.n > 100)
		buf_addf(all, "(%zu)", line.n);
	else
		buf_addf(all, "%c<" STR_FMT ">", is_stderr ? 'e' : 'o', STR_ARG(line));
}

TEST(proc_hands_over_whole_lines)
{
	AUTO_BUF all;
	buf_init(&all, 4096);
	struct proc p = {.argv = SH("printf 'a\\nb'; sleep 0.1; printf 'c\\n\\nend'"),
		.line = collect,
		.ctx = &all};
	struct proc_result res = run(&p);
	assert_string_equal(buf_text(&all), "o<a>o<bc>o<>o<end>");
	assert_string_equal(buf_text(&res.out), "a\nbc\n\nend");
	proc_result_done(&res);
	buf_clear(&all);
	p.argv = SH("head -c 70000 /dev/zero >&2; echo >&2");
	res = run(&p);
	assert_string_equal(buf_text(&all), "(65536)(4464)");
	proc_result_done(&res);
	buf_clear(&all);
	p.argv = SH("head -c 65536 /dev/zero; echo; echo x");
	res = run(&p);
	assert_string_equal(buf_text(&all), "(65536)o<x>");
	proc_result_done(&res);
}

TEST(proc_merges_in_order)
{
	struct proc p = {.argv = SH("echo 1; echo 2 >&2; echo 3"), .merge = true};
	struct proc_result res = run(&p);
	assert_string_equal(buf_text(&res.out), "1\n2\n3\n");
	assert_int_equal(res.err.n, 0);
	proc_result_done(&res);
}

TEST(proc_names_the_missing_program)
{
	struct proc p = {.argv = ARGV("stoika-no-such-program")};
	struct proc_result res;
	struct err err = {0};
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "'stoika-no-such-program'"));
	assert_non_null(strstr(err.hint, "install"));
	assert_int_equal(proc_run(&p, &res, NULL), -E_NOTFOUND); /* the code needs no struct err */
	p.argv = ARGV("/no/such/program");
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	p.argv = ARGV("/etc/passwd");
	assert_int_equal(proc_run(&p, &res, &err), -E_DENIED);
	p.argv = ARGV("");
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	p = (struct proc){.argv = ARGV("true"), .cwd = "/no/such/folder"};
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "'/no/such/folder'"));
}

/* What a child sees must be 0, 1, 2 and the descriptor that lists them. */
static void assert_clean_child(const char *root)
{
	struct proc p = {
		.argv = SH("for f in /proc/$$/fd/*; do echo ${f##*/}; done; umask; pwd; env"),
		.root = root};
	int leak = dup2(1, 77); /* not close-on-exec */
	sigset_t block, old;
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &old);
	signal(SIGPIPE, SIG_IGN);
	struct proc_result res = run(&p);
	assert_null(strstr(buf_text(&res.out), "77\n"));
	assert_non_null(strstr(buf_text(&res.out), "\n/\n"));
	assert_non_null(strstr(buf_text(&res.out), "LC_ALL=C.UTF-8\n"));
	assert_null(strstr(buf_text(&res.out), "SECRET"));
	proc_result_done(&res);
	p.argv = SH("grep -E '^Sig(Blk|Ign)' /proc/self/status");
	res = run(&p);
	unsigned long long blocked, ignored;
	assert_int_equal(
		sscanf(buf_text(&res.out), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
	assert_int_equal(blocked, 0);
	/* posix_spawn of glibc leaves its own two, 32 and 33, ignored */
	assert_int_equal(ignored & ~0x180000000ull, 0);
	proc_result_done(&res);
	p.argv = SH("read pid _ _ _ group _ </proc/self/stat; test $$ = $group");
	res = run(&p);
	assert_true(proc_ok(&res));
	proc_result_done(&res);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(leak);
}

TEST(proc_child_inherits_nothing)
{
	setenv("SECRET", "x", 1);
	assert_clean_child(NULL);
	if (geteuid())
		skip();          /* chroot and other users need root */
	assert_clean_child("/"); /* the same by fork, chroot and exec */
}

TEST(proc_runs_in_a_root)
{
	char root[128], bin[160], path[192];
	struct proc_result res;
	struct err err = {0};
	if (geteuid())
		skip(); /* chroot and other users need root */
	snprintf(root, sizeof root, "%s/root", t_dir());
	snprintf(bin, sizeof bin, "%s/bin", root);
	assert_int_equal(mkdir(root, 0755), 0);
	assert_int_equal(mkdir(bin, 0755), 0);
	struct proc p = {.argv = ARGV("true"), .root = root};
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, root));
	snprintf(path, sizeof path, "%s/true", bin);
	FILE *f = fopen(path, "we");
	fputs("not a program\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	assert_true(proc_run(&p, &res, &err) < 0); /* exec's own failure comes back */
	assert_non_null(strstr(err.msg, "cannot run 'true' in root"));
	p.cwd = "/none";
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	p = (struct proc){.argv = ARGV("/bin/true"), .root = "/no/such/root"};
	assert_int_equal(proc_run(&p, &res, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.msg, "root '/no/such/root'"));
}

TEST(proc_takes_path_from_the_childs_environment)
{
	char path[128];
	snprintf(path, sizeof path, "%s/hello", t_dir());
	FILE *f = fopen(path, "we");
	fputs("#!/bin/sh\necho $0 $GREETING\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	char env[192], want[192];
	snprintf(env, sizeof env, "PATH=/none::%s", t_dir());
	snprintf(want, sizeof want, "%s hi\n", path);
	const char *const vector[] = {env, "GREETING=hi", NULL};
	struct proc p = {.argv = ARGV("hello"), .env = vector, .cwd = t_dir()};
	struct proc_result res = run(&p);
	assert_string_equal(buf_text(&res.out), want);
	proc_result_done(&res);
}

TEST(proc_fail_shows_the_last_lines_safely)
{
	struct proc p = {
		.argv = SH(
			"for i in 1 2 3 4 5 6; do echo line $i; done >&2; printf '\\033[2J' >&2; exit 3")};
	struct proc_result res = run(&p);
	struct err err = {0};
	proc_fail(&p, &res, &err);
	assert_null(strchr(err.msg, 033));
	assert_null(strstr(err.msg, "line 3"));
	assert_non_null(strstr(err.msg, "line 4; line 5; line 6"));
	proc_result_done(&res);
	p.argv = ARGV("false");
	res = run(&p);
	proc_fail(&p, &res, &err);
	assert_string_equal(err.msg, "'false' failed with status 1");
	proc_result_done(&res);
}

/* A flood keeps its end, where programs say what went wrong. */
TEST(proc_keeps_the_beginning_and_the_end_of_a_flood)
{
	struct proc p = {.argv = SH("echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; "
				    "printf 'broken \\377 at the end\\n'; exit 3"),
		.merge = true};
	struct proc_result res = run(&p);
	struct err err = {0};
	assert_true(res.truncated);
	assert_true(strncmp(buf_text(&res.out), "first\n", 6) == 0);
	assert_non_null(strstr(buf_text(&res.out), "bytes cut here ...\n"));
	proc_fail(&p, &res, &err);
	assert_non_null(strstr(err.msg, "broken \\xff at the end"));
	proc_result_done(&res);
}

T_MAIN
