/* values of secrets reach the node's files, and no record, hash, reason or kept state. */
#include "tests/unit/run/fakes.h"
#include "tests/unit/run/stage.h"

#include <ftw.h>

#define CANARY "canary-7f3a\"'x"
#define SHORT  "canary-7f3a"

static char found[512];

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char text[1 << 16];
	const int fd = type == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

	(void)st, (void)ftw;
	if (fd >= 0)
		close(fd);
	if (n > 0 && memmem(text, (size_t)n, SHORT, strlen(SHORT)))
		snprintf(found, sizeof found, "%s", path);
	return 0;
}

/* Nowhere in the state, in an event, in the reason. */
static void check_hidden(struct stage *s)
{
	char path[200];
	struct buf text;

	found[0] = '\0';
	snprintf(path, sizeof path, "%s/state", s->path);
	assert_int_equal(nftw(path, look, 16, FTW_PHYS), 0);
	if (found[0])
		fail_msg("the secret is in %s", found);
	buf_init(&text, 1 << 20);
	json_write(s->events, &text);
	if (strstr(buf_text(&text), SHORT))
		fail_msg("the secret is in an event: %s", buf_text(&text));
	buf_done(&text);
	assert_null(strstr(s->out.reason, SHORT));
	assert_null(strstr(s->out.hint, SHORT));
}

static void init(struct stage *s, const char *yaml)
{
	stage_init(s);
	json_object_set_new(s->params, "password", json_pack("{s:s}", "$secret", "pw"));
	stage_secret(s, "pw", CANARY);
	stage_recipe(s, "demo", yaml);
}

#define HEAD "recipe: demo\nparams: {password: {type: secret}}\nsteps:\n"

TEST(secret_in_a_file)
{
	struct stage s;

	init(&s, HEAD "  - file: {path: /conf, content: \"p={{ params.password }}\\n\"}\n");
	stage_run(&s, ORDER_PLAN, "demo");
	stage_says(stage_event_str(&s, "step", 0, "diff"), "holds a secret");
	check_hidden(&s);
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "conf"), "p=" CANARY "\n");
	check_hidden(&s);
	/* somebody adds a line: the old file holds the secret, so its bytes are not kept */
	stage_write(&s, "conf", "p=" CANARY "\nmore\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_hidden(&s);
	stage_run(&s, ORDER_UNDO, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_false(stage_has(s.root, "conf"));
	check_hidden(&s);
	stage_done(&s);
}

/* The first state held it already: nothing is kept, and undo says so. */
TEST(secret_in_the_state_before)
{
	struct stage s;

	init(&s, HEAD "  - file: {path: /conf, content: \"p={{ params.password }}\\n\"}\n");
	stage_write(&s, "conf", "p=" CANARY "\nmore\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_hidden(&s);
	stage_run(&s, ORDER_UNDO, "demo");
	stage_says(stage_event_str(&s, "undo", 0, "why"), "holds a secret");
	assert_string_equal(stage_event_str(&s, "undo", 0, "state"), "skipped");
	assert_string_equal(stage_read(&s, "conf"), "p=" CANARY "\n");
	stage_done(&s);
}

/* A description that tells the value itself must not let the file's kept bytes be. */
TEST(secret_in_a_key_before)
{
	struct stage s;

	init(&s, HEAD "  - merge: {path: /conf.json, values: {t: '{{ params.password }}'}}\n"
		      "  - merge: {path: /conf.json, values: {t: open}}\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	check_hidden(&s);
	stage_done(&s);
}

TEST(secret_in_an_error)
{
	struct stage s;

	init(&s, HEAD "  - file: {path: \"/no/{{ params.password }}/x\", content: a}\n");
	stage_write(&s, "no", "a file");
	if (stage_try(&s, ORDER_APPLY, "demo") == 0)
		check_hidden(&s);
	stage_done(&s);
}

TEST(secret_of_each_item)
{
	struct stage s;

	init(&s, HEAD "  - file: {path: \"/{{ item }}\", content: \"{{ params.password }}\"}\n"
		      "    each: \"['a', 'b']\"\n");
	stage_run(&s, ORDER_APPLY, "demo");
	stage_ends(&s, RESULT_CHANGED, "");
	assert_string_equal(stage_read(&s, "b"), CANARY);
	check_hidden(&s);
	stage_done(&s);
}

TEST(secret_does_not_change_the_plans_hash)
{
	struct stage s;
	char hash[65];

	init(&s, HEAD "  - file: {path: /conf, content: \"p={{ params.password }}\\n\"}\n");
	stage_run(&s, ORDER_PLAN, "demo");
	memcpy(hash, s.out.plan_hash, sizeof hash);
	stage_secret(&s, "pw", "another value");
	stage_run(&s, ORDER_PLAN, "demo");
	assert_string_equal(s.out.plan_hash, hash);
	stage_done(&s);
}

T_MAIN
