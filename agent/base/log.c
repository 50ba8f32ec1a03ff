/* log.c - the line is built aside and written in one piece, so that threads do not mix theirs. */
#include "agent/base/log.h"

#include "agent/base/buf.h"
#include "agent/base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_CAP 16384
#define TAGS_MAX 8

static const struct {
	const char *name;
	int journal; /* syslog priority */
} levels[] = {
	[LOG_ERR] = {"error", 3},
	[LOG_WARN] = {"warn", 4},
	[LOG_INFO] = {"info", 6},
	[LOG_DEBUG] = {"debug", 7},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum log_level shown = LOG_WARN;
static struct {
	char *key, *value;
} tags[TAGS_MAX];

void log_set_level(enum log_level level)
{
	__atomic_store_n(&shown, level, __ATOMIC_RELAXED);
}

void log_set_tag(const char *key, const char *value)
{
	size_t i = 0;

	(void)pthread_mutex_lock(&lock);
	while (i < TAGS_MAX && tags[i].key && strcmp(tags[i].key, key) != 0)
		i++;
	if (i < TAGS_MAX) {
		free(tags[i].value);
		tags[i].value = value ? xstrdup(value) : NULL;
		if (!tags[i].key)
			tags[i].key = xstrdup(key);
	}
	(void)pthread_mutex_unlock(&lock);
}

static bool needs_quotes(const char *value)
{
	return value[0] == '\0' || strpbrk(value, " \"=\\\t\r\n") != NULL;
}

static void add_value(struct buf *out, const char *value)
{
	struct str left = str_of(value);
	const bool quoted = needs_quotes(value);

	if (quoted)
		buf_add_char(out, '"');
	while (left.n) {
		const size_t plain = strcspn(left.p, "\"\\");

		buf_add_printable(out, str_first(left, plain));
		left = str_from(left, plain);
		if (left.n) {
			buf_add_char(out, '\\');
			buf_add_char(out, left.p[0]);
			left = str_from(left, 1);
		}
	}
	if (quoted)
		buf_add_char(out, '"');
}

static void add_pair(struct buf *out, const char *key, const char *value)
{
	buf_add_char(out, ' ');
	buf_add_printable(out, str_of(key));
	buf_add_char(out, '=');
	add_value(out, value ? value : "");
}

static void write_line(const struct buf *line)
{
	size_t done = 0;

	while (done < line->n) {
		const ssize_t n = write(STDERR_FILENO, line->p + done, line->n - done);

		if (n <= 0)
			return; /* nowhere left to say it */
		done += (size_t)n;
	}
}

void log_event(enum log_level level, const char *event, ...)
{
	AUTO_BUF line;
	const char *key;
	va_list ap;

	buf_init(&line, LINE_CAP);
	if (level > __atomic_load_n(&shown, __ATOMIC_RELAXED))
		return;
	if (!isatty(STDERR_FILENO))
		buf_addf(&line, "<%d>", levels[level].journal);
	buf_addf(&line, "level=%s", levels[level].name);
	add_pair(&line, "event", event);
	va_start(ap, event);
	while ((key = va_arg(ap, const char *)) != NULL)
		add_pair(&line, key, va_arg(ap, const char *));
	va_end(ap);
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < TAGS_MAX && tags[i].key; i++)
		if (tags[i].value)
			add_pair(&line, tags[i].key, tags[i].value);
	if (!buf_ok(&line)) {
		line.overflowed = false;
		line.cap += sizeof " cut=1";
		buf_add_text(&line, " cut=1");
	}
	line.cap++;
	buf_add_char(&line, '\n');
	write_line(&line);
	(void)pthread_mutex_unlock(&lock);
}
