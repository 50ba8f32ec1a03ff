#include "agent/step/cache.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/dpkg.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_ROOM (128u << 10) /* that fs_read wants at the end of a file */

struct entry {
	struct buf text;
	struct stat st;
	bool loaded, fresh;
};

struct step_cache {
	struct entry texts[CACHE_TEXTS];
	struct dpkg *dpkg; /* of texts[CACHE_DPKG]; NULL: to be made */
	struct buf processes;
	struct cache_made rpm;
	struct buf changed;
};

static const struct {
	const char *path;
	size_t cap;
} SOURCES[CACHE_TEXTS] = {
	[CACHE_DPKG] = {CACHE_DPKG_PATH, CACHE_DPKG_MAX},
	[CACHE_PASSWD] = {CACHE_PASSWD_PATH, CACHE_IDENT_MAX},
	[CACHE_GROUP] = {CACHE_GROUP_PATH, CACHE_IDENT_MAX},
};

struct step_cache *step_cache_new(void)
{
	struct step_cache *c = xcalloc(1, sizeof *c);

	for (size_t i = 0; i < CACHE_TEXTS; i++)
		buf_init(&c->texts[i].text, SOURCES[i].cap);
	buf_init(&c->processes, CACHE_PROCESSES);
	buf_init(&c->rpm.text, CACHE_RPM_MAX);
	buf_init(&c->changed, CACHE_RPM_MAX);
	return c;
}

void step_cache_free(struct step_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CACHE_TEXTS; i++)
		buf_done(&c->texts[i].text);
	buf_done(&c->processes);
	buf_done(&c->rpm.text);
	buf_done(&c->changed);
	dpkg_free(c->dpkg);
	free(c);
}

void step_cache_forget(struct step_cache *c)
{
	for (size_t i = 0; i < CACHE_TEXTS; i++)
		c->texts[i].fresh = false;
	buf_clear(&c->processes);
	c->rpm.fresh = false;
}

struct buf *cache_packages_changed(const struct step_env *env)
{
	return &env->cache->changed;
}

struct cache_made *cache_rpm(const struct step_env *env)
{
	return &env->cache->rpm;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

static int load(int root, size_t what, struct step_cache *c, struct err *err)
{
	struct entry *e = &c->texts[what];
	const char *path = SOURCES[what].path;
	struct stat st;
	int rc;

	rc = fs_stat(root, path, true, &st, err);
	if (rc < 0)
		return rc;
	if (e->loaded && same_file(&st, &e->st)) {
		e->fresh = true;
		return 0;
	}
	e->loaded = false;
	if (what == CACHE_DPKG) {
		dpkg_free(c->dpkg);
		c->dpkg = NULL;
	}
	buf_clear(&e->text);
	/* Room for all at once: growing step by step would copy a big file twice. */
	if ((size_t)st.st_size + READ_ROOM < e->text.cap)
		(void)buf_room(&e->text, (size_t)st.st_size + READ_ROOM);
	/* The stat is older than the text at worst, so a change in between is seen next time. */
	rc = fs_read(root, path, &e->text, err);
	if (rc < 0)
		return rc;
	e->st = st;
	e->loaded = e->fresh = true;
	return 0;
}

int cache_get(const struct step_env *env, enum cache_text what, struct str *out, struct err *err)
{
	struct entry *e = &env->cache->texts[what];
	int rc;

	if (!e->fresh) {
		rc = load(env->root, what, env->cache, err);
		if (rc < 0)
			return rc;
	}
	*out = buf_str(&e->text);
	return 0;
}

int cache_dpkg(const struct step_env *env, const struct dpkg **out, struct err *err)
{
	struct step_cache *c = env->cache;
	struct str text;
	int rc;

	rc = cache_get(env, CACHE_DPKG, &text, err);
	if (rc < 0)
		return rc;
	if (!c->dpkg)
		c->dpkg = dpkg_new(text);
	*out = c->dpkg;
	return 0;
}

static void add_process(int proc, const char *pid, struct buf *out)
{
	char path[32], comm[32];
	ssize_t n;

	if (!isdigit((unsigned char)pid[0]) || strlen(pid) > 10)
		return;
	snprintf(path, sizeof path, "%.10s/comm", pid);
	AUTO_FD fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* it has ended meanwhile */
	n = read(fd, comm, sizeof comm);
	if (n > 0)
		buf_add(out, comm, (size_t)n);
}

int cache_processes(const struct step_env *env, struct str *out, struct err *err)
{
	struct buf *names = &env->cache->processes;
	const struct dirent *e;
	DIR *dir;
	int fd;

	if (names->n > 0) {
		*out = buf_str(names);
		return 0;
	}
	fd = fs_open(env->root, "/proc", O_RDONLY | O_DIRECTORY, 0, false, err);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return err_set(err, E_INTERNAL, "cannot list '/proc'");
	}
	buf_add_char(names, '\n');
	while ((e = readdir(dir)))
		add_process(dirfd(dir), e->d_name, names);
	closedir(dir);
	*out = buf_str(names);
	return 0;
}
