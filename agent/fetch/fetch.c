/* fetch - the asking side: starts the process, keeps what it says of the bytes, reads its verdict.
 */
#include "agent/fetch/fetch.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SAID_MAX (64u << 10)
#define MARK_MAX 4096

void fetch_show_url(const char *url, struct buf *out)
{
	struct str s = str_of(url);
	const size_t slashes = str_find_str(s, STR_LIT("://"));
	size_t at, query;

	if (slashes != STR_NONE) {
		buf_add_printable(out, str_first(s, slashes + 3));
		s = str_from(s, slashes + 3);
	}
	at = str_find(str_first(s, str_find(s, '/')), '@');
	if (at != STR_NONE)
		s = str_from(s, at + 1);
	query = str_find(s, '?');
	buf_add_printable(out, str_first(s, query));
}

int fetch_judge_url(const char *url, struct err *err)
{
	const struct str s = str_of(url);
	const bool plain = str_starts(s, "http://");
	struct str host;

	if (!plain && !str_starts(s, "https://")) {
		err_set(err, E_SCHEMA, "'%.120s' is no url of HTTP", url);
		return err_hint(err, "it begins with https:// or http://");
	}
	host = str_from(s, plain ? strlen("http://") : strlen("https://"));
	if (host.n == 0 || host.p[0] == '/')
		return err_set(err, E_SCHEMA, "url '%.120s' names no host", url);
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 127)
			return err_set(err, E_SCHEMA,
				"url '%.120s' holds a blank or a control "
				"character",
				url);
	return s.n < 4096 ? 0 : err_set(err, E_LIMIT, "url '%.60s...' is too long", url);
}

/* The order as a file in memory, so that a child that does not read cannot stop us. */
static int order_file(const struct fetch_order *o, int fd, struct err *err)
{
	AUTO_JSON order = json_object();
	json_t *urls = json_array();
	char mark[MARK_MAX];
	const ssize_t n = fgetxattr(fd, FETCH_MARK, mark, sizeof mark - 1);
	AUTO_BUF text;
	int file, rc;

	buf_init(&text, 1u << 20);
	for (unsigned i = 0; i < o->n_urls; i++)
		json_array_append_new(urls, json_string(o->urls[i]));
	json_object_set_new(order, "urls", urls);
	json_put_str(order, "sha256", o->sha256);
	json_put_int(order, "max", (int64_t)(o->max ? o->max : FETCH_BYTES_MAX));
	json_put_str(order, "proxy", o->proxy);
	json_put_str(order, "ca", o->ca);
	json_put_int(order, "low_speed", o->low_speed);
	json_put_int(order, "low_seconds", o->low_seconds);
	json_put_int(order, "retries", o->retries);
	if (n > 0)
		json_put_text(order, "mark", (struct str){mark, (size_t)n});
	json_write(order, &text);
	file = memfd_create("order", MFD_CLOEXEC);
	if (file < 0)
		return err_sys(err, errno, "cannot make a file in memory");
	rc = fs_write_all(file, buf_str(&text), err);
	if (rc == 0 && lseek(file, 0, SEEK_SET) < 0)
		rc = err_sys(err, errno, "cannot write the order");
	if (rc < 0)
		close(file);
	return rc < 0 ? rc : file;
}

static int start(int order, int said, int fd, pid_t *pid, struct err *err)
{
	char program[] = "/proc/self/exe", command[] = FETCH_COMMAND, name[] = "stoika-fetch";
	char path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C.UTF-8";
	char *argv[] = {name, command, NULL}, *env[] = {path, locale, NULL};
	posix_spawn_file_actions_t acts;
	/* above 3, so that no target is somebody's source */
	AUTO_FD from = fcntl(order, F_DUPFD_CLOEXEC, 10);
	AUTO_FD to = fcntl(said, F_DUPFD_CLOEXEC, 10);
	AUTO_FD file = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	int rc;

	if (from < 0 || to < 0 || file < 0)
		return err_sys(err, errno, "cannot arrange descriptors");
	posix_spawn_file_actions_init(&acts);
	posix_spawn_file_actions_adddup2(&acts, from, 0);
	posix_spawn_file_actions_adddup2(&acts, to, 1);
	posix_spawn_file_actions_adddup2(&acts, file, 3);
	rc = posix_spawn(pid, program, &acts, NULL, argv, env);
	posix_spawn_file_actions_destroy(&acts);
	return rc ? err_sys(err, rc, "cannot start the fetching process") : 0;
}

static int take_verdict(const json_t *line, struct fetch_result *out, struct err *err)
{
	const int64_t code = json_get_int(line, "code", 0);

	if (code == 0) {
		out->bytes = (uint64_t)json_get_int(line, "bytes", 0);
		out->resumed = (uint64_t)json_get_int(line, "resumed", 0);
		out->mirror = (unsigned)json_get_int(line, "mirror", 0);
		return 0;
	}
	err_set(err, code > 0 && code < E_MAX ? (enum ec)code : E_INTERNAL, "%s",
		json_get_str(line, "message", "the fetching process gave no clear verdict"));
	if (json_get_str(line, "hint", NULL))
		return err_hint(err, "%s", json_get_str(line, "hint", ""));
	return -(int)(code > 0 && code < E_MAX ? (enum ec)code : E_INTERNAL);
}

/* Each line is JSON: the name of the bytes that come, or the verdict, which is the last. */
static int take_line(
	struct str line, int fd, struct fetch_result *out, bool *ended, struct err *err)
{
	AUTO_JSON said = NULL;
	const char *mark;
	int rc = json_parse(line, SAID_MAX, "the fetching process", &said, err);

	if (rc < 0)
		return rc;
	mark = json_get_str(said, "mark", NULL);
	if (!mark) {
		*ended = true;
		return take_verdict(said, out, err);
	}
	/* where the file system has no such attributes it is a download without If-Range */
	if (strlen(mark) < MARK_MAX)
		fsetxattr(fd, FETCH_MARK, mark, strlen(mark), 0);
	return 0;
}

static int listen_to(int said, int fd, struct fetch_result *out, bool *ended, struct err *err)
{
	int rc = 0;
	AUTO_BUF text;

	buf_init(&text, SAID_MAX);
	while (!*ended && rc == 0) {
		char *p = buf_room(&text, 4096);
		const ssize_t n = p ? read(said, p, 4096) : -1;
		struct str rest, line;

		if (!p)
			return err_set(err, E_INTERNAL, "the fetching process says too much");
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(
				err, E_INTERNAL, "the fetching process ended without a verdict");
		buf_grew(&text, (size_t)n);
		rest = buf_str(&text);
		while (!*ended && rc == 0 && str_find(rest, '\n') != STR_NONE &&
			str_line(&rest, &line))
			rc = take_line(line, fd, out, ended, err);
		buf_drop(&text, text.n - rest.n);
	}
	return rc;
}

int fetch_get(const struct fetch_order *o, int fd, struct fetch_result *out, struct err *err)
{
	int ends[2], status, rc;
	bool ended = false;
	pid_t pid = -1;

	memset(out, 0, sizeof *out);
	AUTO_FD order = order_file(o, fd, err);
	if (order < 0)
		return order;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	rc = start(order, ends[1], fd, &pid, err);
	close(ends[1]);
	if (rc == 0)
		rc = listen_to(ends[0], fd, out, &ended, err);
	close(ends[0]);
	if (pid > 0) {
		if (!ended)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return rc;
}
