/* step_download_test - downloads from a real nginx, and from servers that break. */
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/fetch/fetch.h"
#include "tests/unit/step/nginx.h"
#include "tests/unit/step/tree.h"
#include "tests/unit/step/undo.h"

#include <sys/mount.h>

#define SIZE 3000000

static char bytes[SIZE], hex[HASH_HEX];
static struct nginx server;

static void start(struct tree *t)
{
	static bool running;
	unsigned x = 1;

	tree_init(t);
	tree_mkdir(t, "srv");
	if (running)
		return;
	if (!nginx_start(&server))
		skip();
	running = true;
	for (size_t i = 0; i < SIZE; i++) {
		x = x * 1103515245u + 12345u;
		bytes[i] = (char)(x >> 16);
	}
	hash_hex((struct str){bytes, SIZE}, hex);
	nginx_write(&server, "files/good", bytes, SIZE);
	nginx_write(&server, "files/wrong", bytes, SIZE - 1);
}

/* One or two urls of the server. */
static const char *args(const char *more, const char *first, const char *second)
{
	static char text[2048];
	char two[512] = "";

	if (second)
		snprintf(two, sizeof two, ", \"http://127.0.0.1:%u%s\"", server.port, second);
	snprintf(text, sizeof text,
		"{\"path\": \"/srv/f\", \"sha256\": \"%s\"%s, \"urls\": [\"http://127.0.0.1:%u%s\"%s]}",
		hex, more, server.port, first, two);
	return text;
}

static bool is_good(struct tree *t)
{
	char got[HASH_HEX] = "";
	AUTO_FD fd = fs_open(t->env.root, "srv/f", O_RDONLY, 0, false, NULL);

	return fd >= 0 && hash_fd(fd, got, NULL) == 0 && strcmp(got, hex) == 0;
}

static void fails(struct tree *t, const char *text, enum ec code, const char *says)
{
	const int rc = tree_apply(t, "download", text);

	if (rc != -(int)code || !strstr(t->err.msg, says))
		fail_msg(
			"%s: %d (%s), expected %s '%s'", text, rc, t->err.msg, ec_name(code), says);
	assert_false(tree_has(t, "srv/f"));
}

TEST(download_comes_and_is_taken_back)
{
	struct tree t;

	start(&t);
	tree_undoes(&t, "download",
		args(", \"mode\": \"0600\", \"owner\": \"alice\"", "/files/good", NULL));
	tree_converge(&t, "download", args("", "/files/good", NULL));
	assert_true(is_good(&t));
	assert_int_equal(tree_mode(&t, "srv/f"), 0644);
	assert_false(tree_has(&t, "srv/.f.stoika-part"));
	tree_write(&t, "srv/f", "older\n");
	tree_undoes(&t, "download", args("", "/files/good", NULL));
	assert_string_equal(tree_read(&t, "srv/f"), "older\n");
	tree_undoes(&t, "download", "{\"path\": \"/srv/f\", \"state\": \"absent\"}");
	tree_done(&t);
}

static int stage(struct tree *t, const char *text)
{
	json_t *a = tree_args(text);
	const json_t *const sets[] = {a};
	int rc;

	step_report_clear(&t->rep);
	rc = step_find("download")->stage(&t->env, sets, 1, &t->rep, &t->err);
	json_decref(a);
	return rc;
}

/* Also where its folder comes only with the apply. */
TEST(download_is_fetched_ahead_and_then_needs_no_network)
{
	struct tree t;
	char staged[128], away[512];

	start(&t);
	snprintf(staged, sizeof staged, "var/cache/stoika-agent/staged/%s", hex);
	assert_int_equal(fs_remove(t.env.root, "srv", true, NULL), 0);
	assert_int_equal(stage(&t, args("", "/files/good", NULL)), 0);
	snprintf(away, sizeof away, "%d bytes fetched", SIZE);
	assert_string_equal(t.rep.why, away);
	assert_true(tree_has(&t, staged));
	assert_false(tree_has(&t, "srv/f"));
	/* again: nothing is fetched */
	assert_int_equal(stage(&t, args("", "/files/none", NULL)), 0);
	assert_string_equal(t.rep.why, "0 bytes fetched");
	tree_mkdir(&t, "srv");
	snprintf(away, sizeof away,
		"{\"path\": \"/srv/f\", \"sha256\": \"%s\", \"retries\": 0, \"url\": "
		"\"http://127.0.0.1:1/good\"}",
		hex);
	tree_converge(&t, "download", away);
	assert_true(is_good(&t));
	assert_false(tree_has(&t, staged));
	/* what is there is not fetched for its mode */
	assert_int_equal(stage(&t, args(", \"mode\": \"0600\"", "/files/none", NULL)), 0);
	assert_int_equal(stage(&t, "{\"path\": \"/srv/f\", \"state\": \"absent\"}"), 0);
	tree_done(&t);
}

TEST(download_ahead_of_wrong_bytes_fails_and_spoiled_ones_do_not_count)
{
	struct tree t;
	char staged[128];

	start(&t);
	snprintf(staged, sizeof staged, "var/cache/stoika-agent/staged/%s", hex);
	assert_int_equal(stage(&t, args("", "/files/wrong", NULL)), -E_VERIFY);
	assert_non_null(strstr(t.err.msg, "'/srv/f'"));
	assert_false(tree_has(&t, staged));
	tree_write(&t, staged, "spoiled");
	tree_converge(&t, "download", args("", "/files/good", NULL));
	assert_true(is_good(&t));
	tree_done(&t);
}

TEST(download_trusts_its_note_until_the_file_is_touched)
{
	struct tree t;
	const char *text;

	start(&t);
	text = args("", "/files/good", NULL);
	tree_converge(&t, "download", text);
	{
		AUTO_FD fd = fs_open(t.env.root, "srv/f", O_WRONLY, 0, false, NULL);
		struct stat st;

		assert_int_equal(fstat(fd, &st), 0);
		clock_sleep(50 * CLOCK_MS);
		assert_int_equal(pwrite(fd, "X", 1, 5), 1);
		/* even with the old times put back */
		assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
	}
	assert_int_equal(tree_check(&t, "download", text), STEP_DIFFERS);
	tree_converge(&t, "download", text);
	assert_true(is_good(&t));
	tree_done(&t);
}

TEST(download_goes_to_the_next_mirror)
{
	struct tree t;

	start(&t);
	assert_int_equal(tree_apply(&t, "download", args("", "/files/wrong", "/files/good")), 0);
	assert_true(is_good(&t));
	assert_int_equal(fs_remove(t.env.root, "srv/f", false, NULL), 0);
	assert_int_equal(
		tree_apply(&t, "download", args("", "/files/none", "/moved/?name=good")), 0);
	assert_true(is_good(&t));
	tree_done(&t);
}

TEST(download_says_what_is_wrong)
{
	struct tree t;

	start(&t);
	fails(&t, args("", "/files/none", NULL), E_REMOTE, "the server answers 404");
	fails(&t, args("", "/files/wrong", NULL), E_VERIFY, "another SHA-256");
	fails(&t, args("", "/loop", NULL), E_REMOTE, "more than 3 redirects");
	fails(&t, args(", \"retries\": 0", "/busy", NULL), E_REMOTE, "answers 503");
	fails(&t, args(", \"max_size\": 1000", "/files/good", NULL), E_LIMIT, "allowed are 1000");
	fails(&t,
		args(", \"low_speed\": 1000000, \"low_time\": 1, \"retries\": 0", "/slow/good",
			NULL),
		E_TIMEOUT, "Timeout");
	fails(&t, args(", \"retries\": 0, \"proxy\": \"http://127.0.0.1:1\"", "/files/good", NULL),
		E_NET, "connect");
	tree_done(&t);
}

TEST(download_goes_on_after_a_kill)
{
	struct tree t;
	struct stat st = {0};
	pid_t pid;
	char range[64];

	start(&t);
	pid = fork();
	if (pid == 0)
		_exit(tree_apply(&t, "download", args("", "/slow/good", NULL)) < 0);
	for (int i = 0; i < 500 && st.st_size < 600000; i++) {
		clock_sleep(20 * CLOCK_MS);
		fs_stat(t.env.root, "srv/.f.stoika-part", false, &st, NULL);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	clock_sleep(200 * CLOCK_MS);
	assert_int_equal(fs_stat(t.env.root, "srv/.f.stoika-part", false, &st, NULL), 0);
	assert_true(st.st_size >= 500000 && st.st_size < SIZE);
	assert_false(tree_has(&t, "srv/f"));
	assert_int_equal(tree_apply(&t, "download", args("", "/files/good", NULL)), 0);
	assert_true(is_good(&t));
	snprintf(range, sizeof range, "206 bytes=%lld- /files/good", (long long)st.st_size);
	assert_true(nginx_logged(&server, range));
	tree_done(&t);
}

TEST(download_begins_anew_when_the_part_is_of_other_bytes)
{
	struct tree t;

	start(&t);
	tree_write(&t, "srv/.f.stoika-part", "these bytes are of another version");
	assert_int_equal(tree_apply(&t, "download", args("", "/files/good", NULL)), 0);
	assert_true(is_good(&t));
	tree_done(&t);
}

/* Sends half, then closes; the second half when asked for by a range that is bound to the name. */
static pid_t cutting_server(unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons((uint16_t)port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	const pid_t pid = fork();

	if (pid != 0) {
		close(fd);
		return pid;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 4) < 0)
		_exit(1);
	for (;;) {
		char request[4096] = "", head[256];
		const int c = accept(fd, NULL, NULL);
		const bool rest = recv(c, request, sizeof request - 1, 0) > 0 &&
				  strstr(request, "If-Range: \"v1\"") &&
				  strstr(request, "Range: bytes=");
		const size_t from = rest ? strtoul(strstr(request, "bytes=") + 6, NULL, 10) : 0;

		snprintf(head, sizeof head,
			"HTTP/1.1 %s\r\nETag: \"v1\"\r\nContent-Length: %zu\r\nContent-Range: bytes "
			"%zu-%d/%d\r\n\r\n",
			rest ? "206 Partial Content" : "200 OK", SIZE - from, from, SIZE - 1, SIZE);
		send(c, head, strlen(head), MSG_NOSIGNAL);
		send(c, bytes + from, rest ? SIZE - from : SIZE / 2, MSG_NOSIGNAL);
		close(c);
	}
}

TEST(download_goes_on_after_a_cut_with_if_range)
{
	struct tree t;
	char text[512];
	unsigned port = free_port();
	pid_t pid;

	start(&t);
	pid = cutting_server(port);
	for (int i = 0; i < 100 && !port_answers(port); i++)
		clock_sleep(20 * CLOCK_MS);
	snprintf(text, sizeof text,
		"{\"path\": \"/srv/f\", \"sha256\": \"%s\", \"url\": \"http://127.0.0.1:%u/x\"}",
		hex, port);
	if (tree_apply(&t, "download", text) < 0)
		fail_msg("%s", t.err.msg);
	assert_true(is_good(&t));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tree_done(&t);
}

TEST(download_tells_a_full_disk)
{
	struct tree t;
	char path[512];

	start(&t);
	tree_path(&t, "srv", path);
	if (mount("small", path, "tmpfs", 0, "size=1m") < 0)
		skip();
	fails(&t, args("", "/files/good", NULL), E_NOSPACE, "No space left");
	assert_int_equal(umount(path), 0);
	tree_done(&t);
}

TEST(download_uses_a_list_of_sums)
{
	struct tree t;
	char text[1024], sums[256];

	start(&t);
	snprintf(sums, sizeof sums, "%064d  other\n%s *good\n", 0, hex);
	tree_source(&t, "demo/files/SHA256SUMS", sums);
	snprintf(text, sizeof text,
		"{\"path\": \"/srv/f\", \"sums\": \"SHA256SUMS\", \"url\": "
		"\"http://127.0.0.1:%u/files/good?x=1\"}",
		server.port);
	tree_converge(&t, "download", text);
	assert_true(is_good(&t));
	tree_refused(&t, "download",
		"{\"path\": \"/srv/f\", \"sums\": \"SHA256SUMS\", \"url\": \"http://h/none\"}",
		E_NOTFOUND);
	tree_done(&t);
}

TEST(download_refuses_wrong_arguments)
{
	static const struct {
		const char *args;
		enum ec code;
		const char *says;
	} cases[] = {
		{"{\"path\": \"/srv/f\", \"url\": \"http://h/x\"}", E_SCHEMA,
			"'sha256' is missing"},
		{"{\"path\": \"/srv/f\", \"url\": \"http://h/x\", \"sha256\": \"ABC\"}", E_SCHEMA,
			"is no SHA-256"},
		{"{\"path\": \"/srv/f\"}", E_SCHEMA, "neither 'url' nor 'urls'"},
		{"{\"path\": \"/srv/f\", \"url\": \"ftp://h/x\"}", E_SCHEMA, "is no url of HTTP"},
		{"{\"path\": \"/srv/f\", \"url\": \"http:///x\"}", E_SCHEMA, "names no host"},
		{"{\"path\": \"/srv/f\", \"url\": \"http://h/a b\"}", E_SCHEMA, "holds a blank"},
	};
	struct tree t;

	start(&t);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tree_refused(&t, "download", cases[i].args, cases[i].code);
		if (!strstr(t.err.msg, cases[i].says))
			fail_msg("%s, expected '%s'", t.err.msg, cases[i].says);
	}
	tree_refused(&t, "download", args(", \"retries\": 1000", "/x", NULL), E_SCHEMA);
	tree_mkdir(&t, "srv/f");
	tree_refused(&t, "download", args("", "/x", NULL), E_CONFLICT);
	tree_done(&t);
}

TEST(shown_urls_hold_no_secrets)
{
	AUTO_BUF out;

	buf_init(&out, 256);
	fetch_show_url("https://user:secret@host:1/path/x?token=secret", &out);
	assert_string_equal(buf_text(&out), "https://host:1/path/x");
}

/* The step starts this program again, as it would start the agent. */
int main(int argc, char **argv)
{
	int rc;

	if (argc > 1 && strcmp(argv[1], FETCH_COMMAND) == 0)
		return fetch_main();
	rc = _cmocka_run_group_tests(__FILE__, t_tests, t_count, NULL, NULL);
	if (server.pid > 0)
		nginx_stop(&server);
	return rc;
}
