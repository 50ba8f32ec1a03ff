/*
 * play - a fence over the stand-in programs of standin.sh: files to set up, ticks until something
 * is so, and the calls that were made.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "controller/fence/fence.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PLAY_MOST (20 * CLOCK_SEC)

static const char *play_prefix[] = {TEST_DIR "/standin.sh", NULL, NULL};
static const char *const play_names[] = {"n1", "n2", "n3", NULL};

static inline void play_write(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void play_read(const char *name, struct buf *out)
{
	char path[256], chunk[4096];
	size_t n = 0;
	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	FILE *f = fopen(path, "r");
	buf_clear(out);
	while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	if (f)
		fclose(f);
}

/* A recorded answer. */
static inline void play_data(const char *name, struct buf *out)
{
	char chunk[4096], path[256];
	size_t n;
	snprintf(path, sizeof path, TEST_DIR "/data/%s", name);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
}

/* How many calls hold the words. */
static inline size_t play_calls(const char *words)
{
	AUTO_BUF log;
	size_t n = 0;
	buf_init(&log, 1u << 20);
	play_read("log", &log);
	for (const char *p = buf_text(&log); (p = strstr(p, words)); p++)
		n++;
	return n;
}

static inline bool play_file_has(const char *name, const char *words)
{
	AUTO_BUF text;
	buf_init(&text, 1u << 20);
	play_read(name, &text);
	return strstr(buf_text(&text), words);
}

static inline void play_clean(void)
{
	play_write("log", "");
	play_write("fault", "");
	play_write("jobs", "");
	play_write("rebooter", "/sbin/reboot\n");
}

static inline struct fence *play_new(enum fence_kind kind, const char *mark)
{
	static const char *command[] = {TEST_DIR "/standin.sh", NULL, "site", NULL};
	struct fence_opts o = {.kind = kind,
		.mark = mark,
		.command = command,
		.prefix = play_prefix,
		.look_every = 100 * CLOCK_MS,
		.program_timeout = 5 * CLOCK_SEC};
	struct fence *f = NULL;
	struct err err = {0};
	play_prefix[1] = command[1] = t_dir();
	if (fence_new(&o, play_names, 3, &f, &err))
		fail_msg("%s", err.msg);
	return f;
}

/* Ticks until the condition holds; false when it does not come about. */
#define PLAY_UNTIL(f, condition)                                                           \
	do {                                                                               \
		const int64_t until_ = clock_mono() + PLAY_MOST;                           \
		while (!(condition) && clock_mono() < until_) {                            \
			fence_tick(f, clock_mono());                                       \
			clock_sleep(5 * CLOCK_MS);                                         \
		}                                                                          \
		if (!(condition))                                                          \
			fail_msg("%s:%d: never: %s (trouble '%s', silent '%s')", __FILE__, \
				__LINE__, #condition, fence_look(f, 0)->trouble,           \
				fence_silent(f) ? fence_silent(f) : "");                   \
	} while (0)

static inline void play_for(struct fence *f, int64_t ns)
{
	const int64_t until = clock_mono() + ns;
	while (clock_mono() < until) {
		fence_tick(f, clock_mono());
		clock_sleep(5 * CLOCK_MS);
	}
}
