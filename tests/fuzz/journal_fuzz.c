/* journal_fuzz - any bytes as a run's journal: read, told what is left, folded, gone on with. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/run/before.h"
#include "agent/run/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/journal-fuzz.XXXXXX";
static int state = -1;

static void remove_state(void)
{
	const int top = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)fs_remove(top, path, true, NULL);
	close(top);
}

static void make_state(void)
{
	if (!mkdtemp(path) || (state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
		mkdirat(state, "runs", 0700) < 0 ||
		symlinkat("r.journal", state, "runs/unfinished") < 0)
		abort();
	(void)atexit(remove_state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	struct journal_left left;
	struct journal *j = NULL;
	int fd;

	if (state < 0)
		make_state();
	fd = openat(state, "runs/r.journal", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fs_write_all(fd, (struct str){(const char *)data, n}, NULL) < 0)
		abort();
	close(fd);
	(void)journal_unfinished(state, a, &left, NULL);
	if (before_fold(state, "r", NULL) == 0 && before_fold(state, "r", NULL) < 0)
		abort(); /* what it wrote it must read */
	(void)fs_remove(state, "before", true, NULL);
	if (journal_reopen(state, "r", &j, NULL) == 0) {
		json_t *record = json_object();

		if (journal_add(j, record, false, NULL) < 0)
			abort();
		json_decref(record);
		journal_close(j);
	}
	arena_free(a);
	return 0;
}
