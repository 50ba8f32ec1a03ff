/* trim - keeps the newest journals; looks at ages only when there are clearly too many. */
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

static unsigned count_journals(DIR *dir)
{
	unsigned n = 0;

	for (const struct dirent *e; n < RUN_MAX && (e = readdir(dir));)
		n += is_journal(e);
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
	if (count_journals(dir) > keep + SLACK) {
		char never[JOURNAL_NAME_MAX];
		const ssize_t n = readlinkat(fd, JOURNAL_LINK, never, sizeof never - 1);

		never[n > 0 ? n : 0] = '\0';
		remove_oldest(dir, keep, never);
	}
	closedir(dir);
	return 0;
}
