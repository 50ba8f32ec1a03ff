/* main - the fetching process: gives up what it does not need, then goes from mirror to mirror. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "agent/fetch/get.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define ORDER_MAX  (1u << 20)
#define FILE_FD    3
#define NOBODY     65534
#define WAIT_FIRST (500 * CLOCK_MS)
#define WAIT_MOST  (16 * CLOCK_SEC)

/* Where nobody is not mapped (a container's own user space) there is nothing to give up. */
static int drop_privileges(struct err *err)
{
	if (geteuid() == 0 &&
		(setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0) &&
		errno != EINVAL && errno != EPERM)
		return err_sys(err, errno, "cannot give up privileges");
	return 0;
}

static int confine(uint64_t max, pid_t parent, struct err *err)
{
	const struct rlimit size = {max, max}, none = {0, 0};
	const int rc = drop_privileges(err);

	if (rc < 0)
		return rc;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &size) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(err, errno, "cannot set limits");
	/* the parent may be gone since before it was asked for */
	if (getppid() != parent)
		return err_set(err, E_CANCELLED, "the agent is gone");
	return 0;
}

static void read_order(const json_t *order, struct fetch_order *o)
{
	const json_t *urls = json_get(order, "urls"), *url;
	size_t i;

	memset(o, 0, sizeof *o);
	json_array_foreach(urls, i, url) if (i < FETCH_URLS_MAX && json_is_string(url))
		o->urls[o->n_urls++] = json_string_value(url);
	snprintf(o->sha256, sizeof o->sha256, "%s", json_get_str(order, "sha256", ""));
	o->max = (uint64_t)json_get_int(order, "max", 0);
	o->proxy = json_get_str(order, "proxy", NULL);
	o->ca = json_get_str(order, "ca", NULL);
	o->low_speed = (unsigned)json_get_int(order, "low_speed", 1);
	o->low_seconds = (unsigned)json_get_int(order, "low_seconds", 60);
	o->retries = (unsigned)json_get_int(order, "retries", 0);
}

static int read_all(json_t **order, struct err *err)
{
	AUTO_BUF text;

	buf_init(&text, ORDER_MAX + 4096);
	for (;;) {
		char *p = buf_room(&text, 4096);
		const ssize_t n = p ? read(STDIN_FILENO, p, 4096) : -1;

		if (n < 0)
			return err_set(err, E_SYNTAX, "the order cannot be read");
		if (n == 0)
			break;
		buf_grew(&text, (size_t)n);
	}
	return json_parse(buf_str(&text), ORDER_MAX, "the order", order, err);
}

/* "NAME\nURL" as it was told before. */
static void read_mark(struct get *g, const char *mark)
{
	const char *cut = mark ? strchr(mark, '\n') : NULL;

	if (!cut || (size_t)(cut - mark) >= sizeof g->mark_name || strchr(mark, '\r'))
		return;
	snprintf(g->mark_name, sizeof g->mark_name, "%.*s", (int)(cut - mark), mark);
	snprintf(g->mark_url, sizeof g->mark_url, "%s", cut + 1);
}

/* A fresh digest each time: the running one goes on when bytes are still to come. */
static bool is_wanted(struct get *g, const char *sha256)
{
	char hex[HASH_HEX];

	hash_final(g->hash, hex);
	g->hash = hash_new();
	return strcmp(hex, sha256) == 0;
}

static enum outcome judge_bytes(struct get *g, const char *sha256, bool *fresh)
{
	const bool whole = *fresh;

	if (is_wanted(g, sha256))
		return GET_DONE;
	/* what lay there before may be at fault: once from the beginning */
	*fresh = true;
	if (get_restart(g) < 0)
		return GET_FATAL;
	err_set(&g->err, E_VERIFY, "the bytes have another SHA-256 than %.12s...", sha256);
	return whole ? GET_NEXT : GET_AGAIN;
}

static enum outcome try_mirror(struct get *g, const struct fetch_order *o, const char *url)
{
	int64_t wait = WAIT_FIRST;
	unsigned left = o->retries;
	bool fresh = g->at == 0;

	for (;;) {
		const uint64_t had = g->at;
		enum outcome what = get_once(g, o, url);

		if (what == GET_DONE)
			what = judge_bytes(g, o->sha256, &fresh);
		if (what != GET_AGAIN)
			return what;
		/* a line that breaks is worth further tries as long as it brings something */
		if (g->err.code != E_VERIFY && (g->at <= had || g->err.code == E_TIMEOUT) &&
			left-- == 0)
			return GET_NEXT;
		clock_sleep(g->at > had ? WAIT_FIRST : wait);
		wait = wait * 2 < WAIT_MOST ? wait * 2 : WAIT_MOST;
	}
}

static int try_all(struct get *g, const struct fetch_order *o, unsigned *mirror, struct err *err)
{
	AUTO_BUF why;

	buf_init(&why, sizeof err->msg - 1);
	for (*mirror = 0; *mirror < o->n_urls; ++*mirror) {
		const enum outcome what = try_mirror(g, o, o->urls[*mirror]);

		if (what == GET_DONE)
			return 0;
		*err = g->err;
		if (what == GET_FATAL)
			return -(int)g->err.code;
		buf_add_text(&why, *mirror > 0 ? "; " : "");
		fetch_show_url(o->urls[*mirror], &why);
		buf_addf(&why, ": %s", g->err.msg);
	}
	snprintf(err->msg, sizeof err->msg, "%s", buf_text(&why));
	return -(int)err->code;
}

static int fetch(const struct fetch_order *o, const char *mark, json_t *said, struct err *err)
{
	unsigned mirror = 0;
	struct get g;
	int rc = get_open(&g, FILE_FD, o->max);

	read_mark(&g, mark);
	if (rc == 0)
		rc = get_resume(&g);
	if (rc == 0 && g.at > o->max)
		rc = get_restart(&g);
	if (rc < 0)
		*err = g.err;
	else
		rc = try_all(&g, o, &mirror, err);
	json_put_int(said, "bytes", (int64_t)g.at);
	json_put_int(said, "resumed", (int64_t)g.resumed);
	json_put_int(said, "mirror", mirror);
	get_close(&g);
	return rc;
}

int fetch_main(void)
{
	AUTO_JSON order = NULL;
	AUTO_JSON said = json_object();
	const pid_t parent = getppid();
	struct fetch_order o;
	struct err err = {0};
	AUTO_BUF line;
	int rc = read_all(&order, &err);

	buf_init(&line, 64u << 10);
	if (rc == 0) {
		read_order(order, &o);
		rc = confine(o.max, parent, &err);
	}
	if (rc == 0 && curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		rc = err_set(&err, E_INTERNAL, "libcurl cannot be started");
	if (rc == 0)
		rc = fetch(&o, json_get_str(order, "mark", NULL), said, &err);
	json_put_int(said, "code", rc < 0 ? (int64_t)err.code : 0);
	if (rc < 0) {
		json_put_str(said, "message", err.msg);
		json_put_str(said, "hint", err.hint[0] ? err.hint : NULL);
	}
	json_write(said, &line);
	buf_add_char(&line, '\n');
	return fs_write_all(STDOUT_FILENO, buf_str(&line), NULL) < 0 ? 1 : 0;
}
