/* mem_test - the heap wrappers, and what the cleanup attributes rely on. */
#include "agent/base/mem.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

TEST(sizes_of_zero_give_memory)
{
	AUTO_STR a = xmalloc(0);
	AUTO_STR b = xcalloc(0, 8);
	AUTO_STR c = xrealloc(NULL, 0);

	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
}

TEST(calloc_zeroes)
{
	AUTO_STR p = xcalloc(100, 3);

	for (int i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
}

TEST(copies)
{
	AUTO_STR all = xstrdup("stoika");
	AUTO_STR part = xstrndup("stoika", 3);
	AUTO_STR more = xstrndup("sto", 10);
	AUTO_STR text = xasprintf("%s-%03d", "n", 7);

	assert_string_equal(all, "stoika");
	assert_string_equal(part, "sto");
	assert_string_equal(more, "sto");
	assert_string_equal(text, "n-007");
}

/* Runs ask in a child and tells whether it was ended by abort. */
static int aborts(void (*ask)(void))
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		(void)freopen("/dev/null", "w", stderr);
		ask();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void ask_product(void)
{
	volatile size_t n = SIZE_MAX / 2;

	free(xcalloc(n, 3));
}

static void ask_nothing(void)
{
	free(xmalloc(16));
}

TEST(a_product_that_overflows_aborts)
{
	/* the sanitizer would stop with a report of its own instead of a NULL */
	if (getenv("ASAN_OPTIONS") == NULL)
		setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 1);
	assert_false(aborts(ask_nothing));
#ifndef __SANITIZE_ADDRESS__
	assert_true(aborts(ask_product));
#else
	(void)ask_product;
#endif
}

TEST(closing_keeps_errno)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), closed = fd;

	errno = ENOENT;
	mem_close_fd(&fd);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(closed, F_GETFD), -1);
	mem_close_fd(&fd);
	assert_int_equal(fd, -1);
}

TEST(freeing_forgets)
{
	char *p = xstrdup("x");

	mem_free_ptr(&p);
	assert_null(p);
	mem_free_ptr(&p);
}

T_MAIN
