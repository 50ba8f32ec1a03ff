/*
 * peer - a whole session over pipes: the agent in a child process, the test as the controller.
 *
 *	peer_init(&p); make_bundle(&p, YAML); m = run_once(&p, ORDER_APPLY, "run-1");
 */
#pragma once

#include "agent/base/clock.h"
#include "agent/base/hash.h"
#include "agent/base/sign.h"
#include "agent/run/session.h"
#include "agent/wire/frame.h"
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#include <archive.h>
#include <archive_entry.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define NO_BUNDLE "0000000000000000000000000000000000000000000000000000000000000000"

struct peer {
	struct stage stage;
	struct sign_key *key, *other;
	char key_path[160], state_path[160], nonce[40];
	const char *root, *log; /* NULL: of the stage; stderr as it is */
	pid_t pid;
	int to, from; /* the agent's ends of the link */
	struct frame_reader reader;
	json_t *hello;
	/* the bundle */
	struct buf manifest, payload;
	int64_t serial;
	int64_t age; /* of the bundle, seconds; it is good for an hour */
	char digest[HASH_HEX], sig[SIGN_TEXT_MAX];
};

static inline void write_key(struct peer *p)
{
	char text[SIGN_TEXT_MAX];

	sign_key_public_text(p->key, text);
	stage_write_at(p->stage.state, "key.pub", text);
}

static inline void peer_init(struct peer *p)
{
	struct err err;

	memset(p, 0, sizeof *p);
	stage_init(&p->stage);
	p->to = p->from = -1;
	p->serial = 1;
	snprintf(p->key_path, sizeof p->key_path, "%s/state/key.pub", p->stage.path);
	snprintf(p->state_path, sizeof p->state_path, "%s/state", p->stage.path);
	assert_int_equal(sign_key_make(&p->key, &err), 0);
	assert_int_equal(sign_key_make(&p->other, &err), 0);
	write_key(p);
	buf_init(&p->manifest, 1 << 20);
	buf_init(&p->payload, 1 << 20);
	stage_write(&p->stage, "etc/machine-id", "0123456789abcdef\n");
}

static inline json_t *receive(struct peer *p)
{
	const int64_t until = clock_mono() + 20 * CLOCK_SEC;
	char chunk[4096];
	struct frame f;
	struct err err;
	int rc;

	while ((rc = frame_reader_next(&p->reader, &f, &err)) == 0) {
		struct pollfd fd = {.fd = p->from, .events = POLLIN};
		ssize_t n;

		if (poll(&fd, 1, clock_left_ms(until)) <= 0)
			fail_msg("the agent says nothing");
		n = read(p->from, chunk, sizeof chunk);
		if (n <= 0)
			return NULL;
		frame_reader_feed(&p->reader, (struct str){chunk, (size_t)n});
	}
	if (rc < 0)
		fail_msg("%s", err.msg);

	json_t *m = NULL;
	const char *t;

	if (message_parse(f.payload, &m, &t, &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

/* Skips what comes before the first message of this type. */
static inline json_t *receive_type(struct peer *p, const char *t)
{
	char last[300] = "";
	json_t *m;

	while ((m = receive(p)) && strcmp(json_get_str(m, "t", ""), t) != 0) {
		snprintf(last, sizeof last, "%s %s", json_get_str(m, "t", ""),
			json_get_str(m, "message", json_get_str(m, "reason", "")));
		json_decref(m);
	}
	if (!m)
		fail_msg("the agent ended without '%s'; its last word was '%s'", t, last);
	return m;
}

static inline void start(struct peer *p)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	p->pid = fork();
	if (p->pid == 0) {
		const struct session_opts o = {.root = p->root ? p->root : p->stage.root_path,
			.state = p->state_path,
			.key = p->key_path,
			.in = in[0],
			.out = out[1]};
		struct err err;
		int rc;

		close(in[1]);
		close(out[0]);
		if (p->log)
			(void)dup2(open(p->log, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
		rc = session_serve(&o, &err);
		_exit(rc < 0 ? 1 : 0);
	}
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = out[0];
	frame_reader_init(&p->reader, true);
}

static inline void hang_up(struct peer *p)
{
	close(p->to);
	close(p->from);
	p->to = p->from = -1;
	frame_reader_done(&p->reader);
	json_drop(&p->hello);
}

static inline int finish(struct peer *p)
{
	int status;

	hang_up(p);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void greet(struct peer *p)
{
	start(p);
	p->hello = receive_type(p, "hello");
	snprintf(p->nonce, sizeof p->nonce, "%s", json_get_str(p->hello, "nonce", ""));
}

static inline void peer_done(struct peer *p)
{
	sign_key_free(p->key);
	sign_key_free(p->other);
	buf_done(&p->manifest);
	buf_done(&p->payload);
	stage_done(&p->stage);
}

static inline void send_bytes(struct peer *p, struct str bytes)
{
	struct err err;

	if (fs_write_all(p->to, bytes, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void send_message(struct peer *p, json_t *m)
{
	struct buf out;

	buf_init(&out, 2 << 20);
	message_write(m, &out);
	assert_true(buf_ok(&out));
	send_bytes(p, buf_str(&out));
	buf_done(&out);
	json_decref(m);
}

static inline struct order plain_order(
	const struct peer *p, enum order_mode mode, struct order_recipe *r)
{
	*r = (struct order_recipe){"demo", NULL};
	return (struct order){.run = "run-1",
		.mode = mode,
		.node = "n1",
		.nonce = p->nonce,
		.bundle = p->digest[0] ? p->digest : NO_BUNDLE,
		.by = "tester",
		.issued = clock_wall() / CLOCK_SEC,
		.expires = clock_wall() / CLOCK_SEC + 60,
		.n_recipes = 1,
		.recipes = r};
}

static inline void send_order(struct peer *p, const struct order *o, const struct sign_key *key)
{
	char sig[SIGN_TEXT_MAX];
	json_t *m = message_new("order");
	struct buf body;
	struct err err;

	buf_init(&body, 1 << 20);
	order_format(o, &body);
	assert_int_equal(sign_make(key, buf_str(&body), sig, &err), 0);
	json_put_text(m, "body", buf_str(&body));
	json_put_str(m, "sig", sig);
	send_message(p, m);
	buf_done(&body);
}

/* For a recipe with one parameter, pw, which is a secret of that name. */
static inline struct order secret_order(struct peer *p, struct order_recipe *r, json_t *params)
{
	static const char *names[] = {"pw"};
	struct order o = plain_order(p, ORDER_APPLY, r);

	r->params = params;
	o.n_secrets = 1;
	o.secrets = names;
	return o;
}

static inline void send_secrets(struct peer *p, const char *name, const char *value)
{
	json_t *m = message_new("secrets"), *values = json_object();

	json_put_str(values, name, value);
	json_object_set_new(m, "values", values);
	send_message(p, m);
}

static inline ssize_t pack_write(struct archive *a, void *ctx, const void *bytes, size_t n)
{
	(void)a;
	buf_add(ctx, bytes, n);
	return (ssize_t)n;
}

/* One file, demo/recipe.yaml, as a signed bundle. */
static inline void make_bundle(struct peer *p, const char *yaml)
{
	struct manifest_file f = {.path = "demo/recipe.yaml", .size = strlen(yaml), .mode = 0644};
	struct manifest m = {.name = "demo",
		.serial = p->serial,
		.created = clock_wall() / CLOCK_SEC - p->age,
		.expires = clock_wall() / CLOCK_SEC - p->age + 3600,
		.n_files = 1,
		.files = &f};
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	struct err err;

	hash_hex(str_of(yaml), f.sha256);
	buf_clear(&p->manifest);
	buf_clear(&p->payload);
	manifest_format(&m, &p->manifest);
	memcpy(p->digest, m.digest, HASH_HEX);
	assert_int_equal(sign_make(p->key, buf_str(&p->manifest), p->sig, &err), 0);
	archive_write_add_filter_zstd(a);
	archive_write_set_format_ustar(a);
	archive_write_set_bytes_in_last_block(a, 1);
	archive_write_open2(a, &p->payload, NULL, pack_write, NULL, NULL);
	archive_entry_set_pathname(e, f.path);
	archive_entry_set_size(e, (la_int64_t)f.size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_write_header(a, e);
	archive_write_data(a, yaml, f.size);
	archive_entry_free(e);
	archive_write_close(a);
	archive_write_free(a);
}

static inline void send_bundle(struct peer *p)
{
	json_t *m = message_new("bundle");
	struct str rest = buf_str(&p->payload);
	struct buf out;

	json_put_text(m, "manifest", buf_str(&p->manifest));
	json_put_str(m, "sig", p->sig);
	json_put_int(m, "size", (int64_t)rest.n);
	send_message(p, m);
	buf_init(&out, 2 << 20);
	while (rest.n > 0) {
		frame_write(&out, 'D', str_first(rest, 100));
		rest = str_from(rest, 100);
	}
	send_bytes(p, buf_str(&out));
	buf_done(&out);
}

/* A run of the bundle's recipe, bundle sent unasked as a fleet may; the final frame. */
static inline json_t *run_once(struct peer *p, enum order_mode mode, const char *run)
{
	struct order_recipe r;
	struct order o;

	greet(p);
	o = plain_order(p, mode, &r);
	o.run = run;
	send_order(p, &o, p->key);
	if (json_array_size(json_get(p->hello, "bundles")) == 0)
		send_bundle(p);
	return receive_type(p, "final");
}

static inline void refused(struct peer *p, const char *code, const char *says)
{
	json_t *m = receive(p);

	if (!m || strcmp(json_get_str(m, "t", ""), "refused") != 0)
		fail_msg("not refused, expected '%s'", says);
	assert_string_equal(json_get_str(m, "code", ""), code);
	stage_says(json_get_str(m, "message", ""), says);
	json_decref(m);
	assert_int_equal(finish(p), 0);
}

static const char SLOW[] __attribute__((unused)) =
	"recipe: demo\nsteps:\n"
	"  - file: {path: /a, content: a}\n"
	"  - command: {shell: nap}\n    each: \"['1', '2', '3']\"\n"
	"  - file: {path: /z, content: z}\n";

static inline bool wait_for_file(const struct peer *p, const char *name)
{
	for (int i = 0; i < 200 && !stage_has(p->stage.root, name); i++)
		clock_sleep(50 * CLOCK_MS);
	return stage_has(p->stage.root, name);
}
