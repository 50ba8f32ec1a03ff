/* The node's lock: one holder, told by name, kept over fork, gone with the process. */
#include "agent/run/journal.h"
#include "tests/unit/run/stage.h"

#include <signal.h>
#include <sys/wait.h>

static json_t *holder(const char *run)
{
	json_t *h = json_object();

	json_put_str(h, "run", run);
	json_put_str(h, "by", "tester");
	return h;
}

static int try_lock(const struct stage *s, const char *run, int *fd, json_t **other)
{
	json_t *h = holder(run);
	struct err err;
	const int rc = journal_lock(s->state, h, fd, other, &err);

	json_decref(h);
	return rc;
}

TEST(lock_second_is_told_who)
{
	struct stage s;
	json_t *other = NULL;
	int one = -1, two = -1;

	stage_init(&s);
	assert_int_equal(journal_lock_holder(s.state, &other, &s.err), 0);
	assert_int_equal(try_lock(&s, "a", &one, &other), 0);
	assert_null(other);
	assert_int_equal(try_lock(&s, "b", &two, &other), -E_BUSY);
	assert_int_equal(two, -1);
	assert_string_equal(json_get_str(other, "run", ""), "a");
	json_decref(other);
	assert_int_equal(journal_lock_holder(s.state, &other, &s.err), 1);
	assert_string_equal(json_get_str(other, "by", ""), "tester");
	json_decref(other);
	close(one);
	assert_int_equal(journal_lock_holder(s.state, &other, &s.err), 0);
	assert_int_equal(try_lock(&s, "longer-than-before", &two, &other), 0);
	close(two);
	assert_int_equal(try_lock(&s, "c", &two, &other), 0);
	assert_int_equal(try_lock(&s, "d", &one, &other), -E_BUSY);
	assert_string_equal(json_get_str(other, "run", ""), "c");
	json_decref(other);
	close(two);
	stage_done(&s);
}

TEST(lock_told_anew)
{
	struct stage s;
	json_t *other = NULL, *h = holder("x");
	int fd = -1;

	stage_init(&s);
	assert_int_equal(try_lock(&s, "a-long-name-of-a-run", &fd, &other), 0);
	assert_int_equal(journal_lock_tell(fd, h, &s.err), 0);
	assert_int_equal(journal_lock_holder(s.state, &other, &s.err), 1);
	assert_string_equal(json_get_str(other, "run", ""), "x");
	json_decref(other);
	json_decref(h);
	close(fd);
	stage_done(&s);
}

TEST(lock_holder_that_cannot_be_read)
{
	struct stage s;
	json_t *other = NULL;
	int one = -1, two = -1;

	stage_init(&s);
	assert_int_equal(try_lock(&s, "a", &one, &other), 0);
	assert_int_equal(ftruncate(one, 3), 0);
	assert_int_equal(try_lock(&s, "b", &two, &other), -E_BUSY);
	assert_null(other);
	close(one);
	stage_done(&s);
}

TEST(lock_lives_in_the_child)
{
	struct stage s;
	json_t *other = NULL;
	int fd = -1, status;
	pid_t pid;

	stage_init(&s);
	assert_int_equal(try_lock(&s, "a", &fd, &other), 0);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	close(fd);
	assert_int_equal(try_lock(&s, "b", &fd, &other), -E_BUSY);
	json_decref(other);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(try_lock(&s, "b", &fd, &other), 0);
	close(fd);
	stage_done(&s);
}

T_MAIN
