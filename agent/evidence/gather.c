#include "agent/evidence/gather.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK_ROOM 128

/* As it is but for bytes that are no text: JSON carries it, and a terminal may show it. */
static void add_safe(struct buf *out, struct str text)
{
	while (text.n > 0) {
		const size_t n = str_utf8_length(text);
		const unsigned char c = (unsigned char)text.p[0];
		const bool shown =
			n > 1 || (n == 1 && c != 127 && (c >= ' ' || c == '\n' || c == '\t'));

		if (shown)
			buf_add(out, text.p, n);
		else if (c != '\r')
			buf_add_char(out, '?');
		text = str_from(text, n > 0 ? n : 1);
	}
}

/* The last max bytes, but from where a line begins. */
static struct str tail(struct str text, size_t max, uint64_t *before)
{
	const size_t cut = text.n > max ? text.n - max : 0;
	struct str rest = str_from(text, cut);

	if (cut > 0 || *before > 0) {
		const size_t line = str_find(rest, '\n');

		rest = str_from(rest, line == STR_NONE ? 0 : line + 1);
	}
	*before += text.n - rest.n;
	return rest;
}

void gather_miss(struct gathering *g, const char *name, const char *why)
{
	buf_addf(&g->index, "%s: none: %s\n", name, why);
}

void gather_give(
	struct gathering *g, const char *name, struct str text, size_t max, uint64_t before)
{
	const bool was_cut = before > 0 || text.n > max;
	AUTO_BUF out = {0};

	if (g->files + 1 >= EVIDENCE_FILES_MAX ||
		g->bytes + max + MARK_ROOM + GATHER_INDEX > EVIDENCE_ALL_MAX) {
		gather_miss(g, name, "there is too much already");
		return;
	}
	buf_init(&out, max + MARK_ROOM);
	text = tail(text, max, &before);
	if (was_cut)
		buf_addf(&out, "[... %" PRIu64 " bytes before this are left out]\n", before);
	add_safe(&out, text);
	g->files++;
	g->bytes += out.n;
	buf_addf(&g->index, "%s: %zu bytes%s\n", name, text.n, was_cut ? ", the end of it" : "");
	g->env->give(g->env->ctx, name, buf_str(&out));
}

void gather_finish(struct gathering *g)
{
	AUTO_BUF out = {0};

	buf_init(&out, GATHER_INDEX);
	add_safe(&out, buf_str(&g->index));
	g->env->give(g->env->ctx, "index.txt", buf_str(&out));
	buf_done(&g->index);
}

static int read_end(int fd, size_t max, struct buf *out, uint64_t *before, struct err *err)
{
	struct stat st;
	off_t at;
	ssize_t n;
	char *room;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot look at it");
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_STATE, "it is no file");
	at = st.st_size > (off_t)max ? st.st_size - (off_t)max : 0;
	*before = (uint64_t)at;
	while (out->n < max && (room = buf_room(out, max - out->n)) != NULL) {
		n = pread(fd, room, max - out->n, at + (off_t)out->n);
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "cannot read it");
		if (n == 0)
			break;
		if (n > 0)
			buf_grew(out, (size_t)n);
	}
	return 0;
}

void gather_file(struct gathering *g, const char *name, const char *path, size_t max)
{
	uint64_t before = 0;
	struct err err;
	AUTO_BUF text;

	g->env->give(g->env->ctx, NULL, (struct str){NULL, 0});
	buf_init(&text, max + 1);
	AUTO_FD fd = fs_open(g->env->root, path, O_RDONLY | O_NONBLOCK, 0, true, &err);
	if (fd < 0 || read_end(fd, max, &text, &before, &err) < 0) {
		gather_miss(g, name, err.msg);
		return;
	}
	gather_give(g, name, buf_str(&text), max, before);
}

bool gather_ask(struct gathering *g, const char *name, const char *const *argv, struct buf *out)
{
	const bool inside = strcmp(g->env->root_path, "/") != 0;
	const struct proc p = {.argv = argv,
		.root = inside ? g->env->root_path : NULL,
		.timeout = EVIDENCE_TIMEOUT,
		.merge = true};
	struct proc_result res;
	struct err err;

	g->env->give(g->env->ctx, NULL, (struct str){NULL, 0});
	if (proc_run(&p, &res, &err) < 0) {
		gather_miss(g, name, err.msg);
		return false;
	}
	buf_add_str(out, buf_str(&res.out));
	if (res.end == PROC_TIMED_OUT)
		buf_addf(out, "\n[%s did not end within %d s]\n", argv[0],
			(int)(EVIDENCE_TIMEOUT / 1000000000));
	proc_result_done(&res);
	return true;
}

void gather_program(struct gathering *g, const char *name, const char *const *argv)
{
	AUTO_BUF out;

	buf_init(&out, PROC_OUTPUT_MAX + PROC_LAST_MAX);
	if (gather_ask(g, name, argv, &out))
		gather_give(g, name, buf_str(&out), GATHER_LOG, 0);
}
