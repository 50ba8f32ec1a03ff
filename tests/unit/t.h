/*
 * t - cmocka behind one header: TEST(name) { ... } registers itself, T_MAIN runs them all.
 *
 *	TEST(buf_grows) { ... assert_int_equal(...); }
 *	T_MAIN
 *
 * t_dir() is a fresh folder of this process, removed at exit.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define T_MAX 256
static struct CMUnitTest t_tests[T_MAX];
static size_t t_count;

#define TEST(fn)                                                                     \
	static void fn(void **state);                                                \
	__attribute__((constructor)) static void t_add_##fn(void)                    \
	{                                                                            \
		t_tests[t_count++] = (struct CMUnitTest){#fn, fn, NULL, NULL, NULL}; \
	}                                                                            \
	static void fn(__attribute__((unused)) void **state)

static char t_folder[64];

static inline int t_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static inline void t_clean(void)
{
	if (t_folder[0])
		nftw(t_folder, t_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline const char *t_dir(void)
{
	if (!t_folder[0]) {
		snprintf(t_folder, sizeof t_folder, "/tmp/stoika-test.XXXXXX");
		if (!mkdtemp(t_folder))
			abort();
		atexit(t_clean);
	}
	return t_folder;
}

#define T_MAIN                                                                          \
	int main(void)                                                                  \
	{                                                                               \
		return _cmocka_run_group_tests(__FILE__, t_tests, t_count, NULL, NULL); \
	}
