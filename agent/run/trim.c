/*
 * trim - keeps the newest journals; looks at ages only when there are clearly too many.
 * An order whose run is not the unfinished one is of no use any more and goes at once.
 */
#include "agent/base/err.h"
#include "agent/base/str.h"
#include "agent/base/vec.h"
#include "agent/run/journal.h"
#include "agent/run/journal_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLACK   32 /* so that most runs only count names */
#define RUN_MAX 100000

struct old {
	char name[JOURNAL_NAME_MAX];
	int64_t at;
};

static int compare_newest_first(const void *a, const void *b)
{
	const struct old *oa = a, *ob = b;

	return (oa->at < ob->at) - (oa->at > ob->at);
}

static bool is_journal(const struct dirent *e)
{
	const struct str name = str_of(e->d_name);

	return name.n < JOURNAL_NAME_MAX && str_ends(name, JOURNAL_SUFFIX);
}

/* Counts, and removes the orders that are left of runs which another one has followed. */
static unsigned count_journals(DIR *dir, const char *unfinished)
{
	char kept[JOURNAL_NAME_MAX] = "";
	unsigned n = 0;

	if (str_ends(str_of(unfinished), JOURNAL_SUFFIX))
		journal_order_name(unfinished, kept);
	for (const struct dirent *e; n < RUN_MAX && (e = readdir(dir));) {
		n += is_journal(e);
		if (str_ends(str_of(e->d_name), JOURNAL_ORDER) && strcmp(e->d_name, kept) != 0)
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	}
	rewinddir(dir);
	return n;
}

static void remove_oldest(DIR *dir, unsigned keep, const char *never)
{
	struct vec(struct old) all = VEC_INIT;
	struct stat st;

	for (const struct dirent *e; all.n < RUN_MAX && (e = readdir(dir));) {
		if (!is_journal(e) || str_is(str_of(e->d_name), never) ||
			fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;

		struct old *o = vec_push(&all);

		memcpy(o->name, e->d_name, strlen(e->d_name) + 1);
		o->at = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	}
	vec_sort(&all, compare_newest_first);
	for (size_t i = keep; i < all.n; i++)
		(void)unlinkat(dirfd(dir), all.at[i].name, 0); /* the next trim tries again */
	vec_done(&all);
}

int journal_trim(int state, unsigned keep, struct err *err)
{
	const int fd = openat(state, JOURNAL_RUNS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		const int sys = errno;

		if (fd >= 0)
			close(fd);
		return sys == ENOENT ? 0
				     : err_sys(err, sys, "cannot open the folder of the journals");
	}
	char never[JOURNAL_NAME_MAX] = {0};
	const ssize_t n = readlinkat(fd, JOURNAL_LINK, never, sizeof never - 1);

	never[n > 0 ? n : 0] = '\0';
	if (count_journals(dir, never) > keep + SLACK)
		remove_oldest(dir, keep, never);
	closedir(dir);
	return 0;
}
