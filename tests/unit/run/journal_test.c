/* The journal: order and durability of records, half lines, what an unfinished run left, trimming.
 */
#include "agent/base/err.h"
#include "agent/run/journal.h"
#include "tests/unit/run/stage.h"

#include <time.h>

static json_t *record(const char *ev, const char *recipe, const char *key, const char *value)
{
	json_t *r = json_object();

	json_put_str(r, "ev", ev);
	json_put_str(r, "recipe", recipe);
	if (key)
		json_put_str(r, key, value);
	return r;
}

static void add(struct journal *j, json_t *r, bool durable)
{
	struct err err;

	if (journal_add(j, r, durable, &err) < 0)
		fail_msg("%s", err.msg);
	json_decref(r);
}

static struct journal *begin(const struct stage *s, const char *run)
{
	struct journal *j = NULL;
	struct err err;
	json_t *start = record("start", NULL, "run", run);

	if (journal_open(s->state, run, start, &j, &err) < 0)
		fail_msg("%s", err.msg);
	json_decref(start);
	return j;
}

static void end(struct journal *j, bool left)
{
	json_t *r = record("end", NULL, "state", "ok");
	struct err err;

	if (journal_end(j, r, left, &err) < 0)
		fail_msg("%s", err.msg);
	json_decref(r);
	journal_close(j);
}

static int list(void *ctx, const json_t *r, struct err *err)
{
	struct buf *out = ctx;

	(void)err;
	buf_addf(out, "%lld %s;", (long long)json_get_int(r, "seq", 0), json_get_str(r, "ev", "?"));
	return 0;
}

static void holds(const struct stage *s, const char *run, int64_t after, const char *want)
{
	struct buf text;
	struct err err;

	buf_init(&text, 4096);
	if (journal_read(s->state, run, after, list, &text, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(buf_text(&text), want);
	buf_done(&text);
}

static void append(const struct stage *s, const char *run, const char *bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "runs/%s.journal", run);
	fd = openat(s->state, path, O_WRONLY | O_APPEND);
	assert_true(write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
	close(fd);
}

TEST(journal_start_stands_first)
{
	struct stage s;
	struct journal *j;

	stage_init(&s);
	j = begin(&s, "a");
	add(j, record("recipe", "x", NULL, NULL), false);
	assert_false(stage_has(s.state, "runs"));
	assert_false(journal_is_durable(j));
	add(j, record("intent", "x", "name", "one"), true);
	assert_true(journal_is_durable(j));
	holds(&s, "a", 0, "1 start;2 recipe;3 intent;");
	assert_true(stage_has(s.state, "runs/unfinished"));
	add(j, record("step", "x", "name", "one"), false);
	end(j, false);
	holds(&s, "a", 0, "1 start;2 recipe;3 intent;4 step;5 end;");
	holds(&s, "a", 3, "4 step;5 end;");
	holds(&s, "a", 99, "");
	assert_false(stage_has(s.state, "runs/unfinished"));
	stage_done(&s);
}

TEST(journal_unchanged_run_is_one_line)
{
	struct stage s;
	struct journal *j;

	stage_init(&s);
	j = begin(&s, "a");
	end(j, false);
	holds(&s, "a", 0, "2 end;");
	assert_false(stage_has(s.state, "runs/unfinished"));
	j = begin(&s, "b");
	journal_close(j);
	assert_false(stage_has(s.state, "runs/b.journal"));
	stage_done(&s);
}

TEST(journal_quiet_writes_nothing)
{
	struct stage s;
	struct journal *j;
	struct err err;
	json_t *start = json_object(), *r = record("intent", "x", NULL, NULL);

	stage_init(&s);
	assert_int_equal(journal_open(-1, "a", start, &j, &err), 0);
	assert_int_equal(journal_add(j, r, true, &err), 0);
	assert_int_equal(json_get_int(r, "seq", 0), 2);
	assert_true(json_get_int(r, "at", 0) > 0);
	json_decref(r);
	json_decref(start);
	end(j, false);
	assert_false(stage_has(s.state, "runs"));
	stage_done(&s);
}

TEST(journal_half_lines_are_passed_over)
{
	static const char *const tails[] = {"{\"seq\":4,\"ev\":\"st", "{\"seq\":4", "\n\n{}", "\0x",
		"garbage\n", "[1]\n{\"seq\":9,\"ev\":\"ste"};

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		struct stage s;
		struct journal *j;
		struct journal_left left;

		stage_init(&s);
		j = begin(&s, "a");
		add(j, record("notify", "x", "handler", "h"), false);
		add(j, record("intent", "x", "name", "one"), true);
		journal_close(j);
		append(&s, "a", tails[i]);
		holds(&s, "a", 0, "1 start;2 notify;3 intent;");
		assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
		assert_string_equal(left.step, "one");
		assert_int_equal(left.n_handlers, 1);
		stage_done(&s);
	}
}

TEST(journal_what_is_left)
{
	struct stage s;
	struct journal *j;
	struct journal_left left;
	json_t *r;

	stage_init(&s);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_null(left.run);
	j = begin(&s, "a");
	for (int i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof name, "h%d", i);
		add(j, record("notify", "x", "handler", name), false);
		add(j, record("notify", "x", "handler", name), false);
	}
	add(j, record("intent", "x", "name", "one"), true);
	add(j, record("step", "x", "state", "changed"), false);
	r = record("handler", "x", "handler", "h0");
	json_put_str(r, "state", "changed");
	add(j, r, false);
	r = record("handler", "x", "handler", "h1");
	json_put_str(r, "state", "failed");
	add(j, r, false);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_string_equal(left.run, "a");
	assert_null(left.step);
	assert_false(left.ended);
	assert_int_equal(left.n_handlers, 39);
	assert_string_equal(left.handlers[0].handler, "h1");
	end(j, true);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_true(left.ended);
	assert_int_equal(left.n_handlers, 39);
	assert_int_equal(journal_forget_unfinished(s.state, "other", &s.err), 0);
	assert_true(stage_has(s.state, "runs/unfinished"));
	assert_int_equal(journal_forget_unfinished(s.state, "a", &s.err), 0);
	assert_false(stage_has(s.state, "runs/unfinished"));
	stage_done(&s);
}

TEST(journal_link_to_nowhere_is_nothing_left)
{
	struct stage s;
	struct journal_left left;

	stage_init(&s);
	assert_int_equal(mkdirat(s.state, "runs", 0700), 0);
	assert_int_equal(symlinkat("gone.journal", s.state, "runs/unfinished"), 0);
	assert_int_equal(journal_unfinished(s.state, s.arena, &left, &s.err), 0);
	assert_null(left.run);
	stage_done(&s);
}

TEST(journal_refuses)
{
	static const char *const bad[] = {"", "../x", "a/b", ".x",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	struct stage s;
	struct journal *j;
	struct journal_reader *r;
	json_t *start = json_object();

	stage_init(&s);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(journal_open(s.state, bad[i], start, &j, &s.err), -E_SCHEMA);
		assert_int_equal(journal_reader_open(s.state, bad[i], 0, &r, &s.err), -E_SCHEMA);
	}
	assert_int_equal(journal_reader_open(s.state, "absent", 0, &r, &s.err), -E_NOTFOUND);
	end(begin(&s, "a"), false);
	assert_int_equal(journal_open(s.state, "a", start, &j, &s.err), -E_EXISTS);
	json_decref(start);
	stage_done(&s);
}

TEST(journal_reader_follows)
{
	struct stage s;
	struct journal *j;
	struct journal_reader *r;
	json_t *got;

	stage_init(&s);
	j = begin(&s, "a");
	add(j, record("intent", "x", NULL, NULL), true);
	assert_int_equal(journal_reader_open(s.state, "a", 1, &r, &s.err), 0);
	assert_int_equal(journal_reader_next(r, &got, &s.err), 1);
	assert_int_equal(json_get_int(got, "seq", 0), 2);
	json_decref(got);
	assert_int_equal(journal_reader_next(r, &got, &s.err), 0);
	append(&s, "a", "{\"seq\":3,\"ev\":\"st");
	assert_int_equal(journal_reader_next(r, &got, &s.err), 0);
	append(&s, "a", "ep\"}\n");
	assert_int_equal(journal_reader_next(r, &got, &s.err), 1);
	assert_string_equal(json_get_str(got, "ev", ""), "step");
	json_decref(got);
	journal_reader_close(r);
	journal_close(j);
	stage_done(&s);
}

TEST(journal_trim_keeps_the_newest_and_the_unfinished)
{
	struct stage s;
	struct journal *j;
	char name[64];
	struct timespec old[2] = {{1000, 0}, {1000, 0}};

	stage_init(&s);
	assert_int_equal(journal_trim(s.state, 10, &s.err), 0);
	j = begin(&s, "first");
	add(j, record("intent", "x", NULL, NULL), true);
	journal_close(j);
	assert_int_equal(utimensat(s.state, "runs/first.journal", old, 0), 0);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "r%d", i);
		end(begin(&s, name), false);
		snprintf(name, sizeof name, "runs/r%d.journal", i);
		old[0].tv_sec = old[1].tv_sec = 2000 + i;
		assert_int_equal(utimensat(s.state, name, old, 0), 0);
	}
	assert_int_equal(journal_trim(s.state, 10, &s.err), 0);
	assert_true(stage_has(s.state, "runs/first.journal"));
	assert_false(stage_has(s.state, "runs/r39.journal"));
	assert_true(stage_has(s.state, "runs/r40.journal"));
	assert_true(stage_has(s.state, "runs/r49.journal"));
	stage_done(&s);
}

T_MAIN
