#include "agent/fetch/get.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define REDIRECTS_MAX   3L
#define CONNECT_SECONDS 15L

int get_open(struct get *g, int fd, uint64_t max)
{
	memset(g, 0, sizeof *g);
	g->fd = fd;
	g->max = max;
	g->hash = hash_new();
	g->chunk = xmalloc(GET_CHUNK);
	g->curl = curl_easy_init();
	return g->curl ? 0 : err_set(&g->err, E_INTERNAL, "libcurl cannot be started");
}

void get_close(struct get *g)
{
	curl_easy_cleanup(g->curl);
	hash_free(g->hash);
	free(g->chunk);
}

int get_restart(struct get *g)
{
	hash_free(g->hash);
	g->hash = hash_new();
	g->at = g->resumed = 0;
	g->chunk_n = 0;
	if (ftruncate(g->fd, 0) < 0 || lseek(g->fd, 0, SEEK_SET) < 0)
		return err_sys(&g->err, errno, "cannot begin the file anew");
	return 0;
}

int get_resume(struct get *g)
{
	if (lseek(g->fd, 0, SEEK_SET) < 0)
		return err_sys(&g->err, errno, "cannot read what was fetched before");
	for (;;) {
		const ssize_t n = read(g->fd, g->chunk, GET_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(&g->err, errno, "cannot read what was fetched before");
		if (n == 0)
			break;
		hash_update(g->hash, g->chunk, (size_t)n);
		g->at += (size_t)n;
	}
	g->resumed = g->at;
	return 0;
}

static int flush(struct get *g)
{
	const size_t n = g->chunk_n;

	g->chunk_n = 0;
	if (n == 0)
		return 0;
	hash_update(g->hash, g->chunk, n);
	return fs_write_all(g->fd, (struct str){(const char *)g->chunk, n}, &g->err);
}

/* "bytes 100-199/200" begins at 100. */
static bool begins_at(const char *range, uint64_t at)
{
	struct str s = str_of(range), first;
	uint64_t from;

	if (!str_starts(s, "bytes "))
		return false;
	s = str_from(s, strlen("bytes "));
	return str_next(&s, '-', &first) && str_to_u64(str_trim(first), &from) && from == at;
}

/* Is there room for what the server says it will send? */
static int judge_room(struct get *g)
{
	curl_off_t left = 0;
	struct statvfs disk;

	curl_easy_getinfo(g->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &left);
	if (left > 0 && (uint64_t)left > g->max - g->at)
		return err_set(&g->err, E_LIMIT, "the server sends %lld bytes, allowed are %llu",
			(long long)left, (unsigned long long)g->max);
	if (left <= 0 || fstatvfs(g->fd, &disk) < 0)
		return 0;
	if ((uint64_t)left > disk.f_bavail * (uint64_t)disk.f_frsize)
		return err_sys(&g->err, ENOSPC, "%lld bytes are to come", (long long)left);
	return 0;
}

/* The first bytes of an answer: does it continue the file, or is it the whole? */
static int judge_answer(struct get *g)
{
	long status = 0;
	int rc = 0;

	g->judged = true;
	curl_easy_getinfo(g->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 206 && !(g->ranged && begins_at(g->range, g->at)))
		return err_set(
			&g->err, E_REMOTE, "the server sends another part than was asked for");
	if (status != 206 && g->at > 0)
		rc = get_restart(g);
	return rc < 0 ? rc : judge_room(g);
}

static size_t take_body(char *p, size_t size, size_t count, void *ctx)
{
	const size_t all = size * count;
	struct get *g = ctx;
	size_t n = all;

	if (!g->judged && judge_answer(g) < 0)
		return 0;
	if (n > g->max - g->at) {
		err_set(&g->err, E_LIMIT,
			"the server sends more than the %llu bytes that are allowed",
			(unsigned long long)g->max);
		return 0;
	}
	g->at += n;
	while (n > 0) {
		const size_t room = GET_CHUNK - g->chunk_n, some = n < room ? n : room;

		memcpy(g->chunk + g->chunk_n, p, some);
		g->chunk_n += some;
		if (g->chunk_n == GET_CHUNK && flush(g) < 0)
			return 0;
		p += some;
		n -= some;
	}
	return all;
}

static bool header_is(struct str line, const char *name, struct str *value)
{
	const size_t n = strlen(name);

	if (line.n <= n || strncasecmp(line.p, name, n) != 0 || line.p[n] != ':')
		return false;
	*value = str_trim(str_from(line, n + 1));
	return true;
}

/* Of the last answer only: a redirect's headers go with its status line. */
static size_t take_header(char *p, size_t size, size_t count, void *ctx)
{
	const struct str line = {p, size * count};
	struct get *g = ctx;
	struct str v;

	if (str_starts(line, "HTTP/")) {
		g->name[0] = g->range[0] = '\0';
	} else if (header_is(line, "ETag", &v) && !str_starts(v, "W/")) {
		snprintf(g->name, sizeof g->name, STR_FMT, STR_ARG(v));
	} else if (header_is(line, "Last-Modified", &v) && !g->name[0]) {
		snprintf(g->name, sizeof g->name, STR_FMT, STR_ARG(v));
	} else if (header_is(line, "Content-Range", &v)) {
		snprintf(g->range, sizeof g->range, STR_FMT, STR_ARG(v));
	}
	return line.n;
}

/* Tells the parent once whose bytes these are, so that a later start can ask for the rest. */
static size_t take_first_body(char *p, size_t size, size_t count, void *ctx)
{
	const size_t n = take_body(p, size, count, ctx);
	struct get *g = ctx;
	AUTO_JSON said = NULL;
	AUTO_BUF line;
	char *url = NULL;

	buf_init(&line, 8192);
	curl_easy_setopt(g->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_getinfo(g->curl, CURLINFO_EFFECTIVE_URL, &url);
	if (n == 0 || !url || !g->name[0] || strlen(url) >= sizeof g->mark_url)
		return n;
	said = json_object();
	buf_addf(&line, "%s\n%s", g->name, g->mark_url);
	json_put_str(said, "mark", buf_text(&line));
	buf_clear(&line);
	json_write(said, &line);
	buf_add_char(&line, '\n');
	snprintf(g->mark_name, sizeof g->mark_name, "%s", g->name);
	fs_write_all(STDOUT_FILENO, buf_str(&line), NULL);
	return n;
}

static struct curl_slist *set_range(struct get *g, bool same_mirror)
{
	char from[32], header[300];

	g->ranged = g->at > 0;
	if (!g->ranged)
		return NULL;
	snprintf(from, sizeof from, "%llu-", (unsigned long long)g->at);
	curl_easy_setopt(g->curl, CURLOPT_RANGE, from);
	if (!same_mirror || !g->mark_name[0])
		return NULL;
	snprintf(header, sizeof header, "If-Range: %s", g->mark_name);
	return curl_slist_append(NULL, header);
}

static void set_options(struct get *g, const struct fetch_order *o, const char *url)
{
	const char *redirects = str_starts(str_of(url), "https:") ? "https" : "http,https";
	CURL *c = g->curl;

	curl_easy_reset(c);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, redirects);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "stoika-agent");
	curl_easy_setopt(c, CURLOPT_BUFFERSIZE, (long)GET_CHUNK);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)o->low_speed);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)o->low_seconds);
	/* "" also keeps libcurl from looking into the environment */
	curl_easy_setopt(c, CURLOPT_PROXY, o->proxy ? o->proxy : "");
	curl_easy_setopt(c, CURLOPT_CAINFO, o->ca ? o->ca : "/etc/ssl/certs/ca-certificates.crt");
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, g);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_first_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, g);
}

/* What the server's status means for the next try. */
static enum outcome judge_status(struct get *g, long status)
{
	if (status == 416)
		return get_restart(g) < 0 ? GET_FATAL : GET_AGAIN;
	err_set(&g->err, E_REMOTE, "the server answers %ld", status);
	return status >= 500 || status == 408 || status == 429 ? GET_AGAIN : GET_NEXT;
}

static enum outcome judge_failure(struct get *g, CURLcode rc)
{
	const enum ec own = g->err.msg[0] ? g->err.code : E_MAX;
	long status = 0;

	/* ours: what a callback found */
	if (own == E_NOSPACE || own == E_IO || own == E_DENIED)
		return GET_FATAL;
	if (own != E_MAX)
		return GET_NEXT;
	curl_easy_getinfo(g->curl, CURLINFO_RESPONSE_CODE, &status);
	if (rc == CURLE_HTTP_RETURNED_ERROR)
		return judge_status(g, status);
	if (rc == CURLE_TOO_MANY_REDIRECTS) {
		err_set(&g->err, E_REMOTE, "more than %ld redirects", REDIRECTS_MAX);
		return GET_NEXT;
	}
	err_set(&g->err, rc == CURLE_OPERATION_TIMEDOUT ? E_TIMEOUT : E_NET, "%s",
		curl_easy_strerror(rc));
	if (rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_CACERT_BADFILE) {
		g->err.code = E_VERIFY;
		err_hint(&g->err, "name the site's own authority with 'ca: FILE'");
		return GET_NEXT;
	}
	return rc == CURLE_UNSUPPORTED_PROTOCOL || rc == CURLE_URL_MALFORMAT ? GET_NEXT : GET_AGAIN;
}

enum outcome get_once(struct get *g, const struct fetch_order *o, const char *url)
{
	const bool same = strcmp(g->mark_url, url) == 0;
	struct curl_slist *headers;
	CURLcode rc;

	memset(&g->err, 0, sizeof g->err);
	g->judged = false;
	set_options(g, o, url);
	headers = set_range(g, same);
	curl_easy_setopt(g->curl, CURLOPT_HTTPHEADER, headers);
	snprintf(g->mark_url, sizeof g->mark_url, "%s", url);
	if (!same)
		g->mark_name[0] = '\0';
	rc = curl_easy_perform(g->curl);
	curl_slist_free_all(headers);
	/* what came before a cut is good, and need not come again */
	if (flush(g) < 0)
		return judge_failure(g, rc);
	if (rc != CURLE_OK)
		return judge_failure(g, rc);
	/* an empty body calls nothing back */
	if (!g->judged && g->at > 0 && judge_answer(g) < 0)
		return judge_failure(g, CURLE_WRITE_ERROR);
	return GET_DONE;
}
