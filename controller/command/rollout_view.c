#include "controller/command/rollout_view.h"

#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/command/command.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_watch.h"
#include "controller/command/session.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX   ((size_t)64 << 20)
#define DRAW_EVERY (CLOCK_SEC - 100 * CLOCK_MS) /* every second turn */

struct rollout_view {
	struct store *store;
	const struct report_opts *opts;
	char run[64];
	unsigned drawn; /* lines that stand on the terminal */
	int64_t drawn_at;
};

struct rollout_view *rollout_view_new(struct store *s, const struct report_opts *o)
{
	struct rollout_view *v = xcalloc(1, sizeof *v);

	v->store = s;
	v->opts = o;
	return v;
}

void rollout_view_free(struct rollout_view *v)
{
	free(v);
}

/* A reader that is gone does not stop a rollout. */
static void print_lines(const struct buf *text)
{
	AUTO_BUF safe = {0};

	buf_init(&safe, TEXT_MAX);
	session_add_lines(&safe, buf_str(text));
	fwrite(buf_text(&safe), 1, safe.n, stdout);
	fflush(stdout);
}

static bool is_block(const struct rollout_view *v)
{
	return !v->opts->json && v->opts->width > 0;
}

/* The rollout as its rows are now: those that this process has not committed yet among them. */
static int load(const struct rollout_view *v, struct arena *a, bool times, struct rollout_past *p,
	struct err *err)
{
	struct run_row run;
	const int rc = store_run_find(v->store, a, v->run, &run, err);

	*p = (struct rollout_past){0};
	return rc < 0 ? rc : rollout_past_load(v->store, a, &run, clock_wall(), times, p, err);
}

void rollout_view_began(struct rollout_view *v, const char *run)
{
	AUTO_BUF text = {0};

	snprintf(v->run, sizeof v->run, "%s", run);
	if (v->opts->json || is_block(v))
		return;
	buf_init(&text, 512);
	lang_add_label(&text, text_get(v->opts->lang, TEXT_RO_ROLLOUT), 11);
	buf_addf(&text, "%s\n", run);
	print_lines(&text);
}

void rollout_view_moved(
	struct rollout_view *v, const struct node_row *node, const struct drive_move *m)
{
	const struct rollout_move move = {.node = node->id,
		.from = NODE_STATES[m->from],
		.event = NODE_EVENTS[m->on],
		.to = NODE_STATES[m->to],
		.why = m->word.why ? m->word.why : "",
		.hint = m->word.hint ? m->word.hint : "",
		.at = m->wall};
	AUTO_BUF text = {0};

	if (v->opts->json || is_block(v))
		return;
	buf_init(&text, TEXT_MAX);
	rollout_watch_move(&text, v->opts->lang, node->name, &move);
	print_lines(&text);
}

void rollout_view_turn(struct rollout_view *v)
{
	struct rollout_past p;
	struct arena *a;

	if (!is_block(v) || clock_mono() - v->drawn_at < DRAW_EVERY)
		return;
	v->drawn_at = clock_mono();
	a = arena_new();
	if (load(v, a, false, &p, NULL) == 0)
		rollout_watch_draw(&p, v->opts, &v->drawn);
	rollout_past_done(&p);
	arena_free(a);
}

static int code_of(const struct rollout_outcome *out)
{
	if (out->states[STATE_DONE] == out->n)
		return EXIT_OK;
	if (out->n > 0 && out->unreached == out->n)
		return EXIT_UNREACHED;
	return out->states[STATE_REJECTED] == out->n ? EXIT_REFUSED : EXIT_SOME;
}

static void print_end(const struct rollout_view *v, const struct rollout_past *p)
{
	AUTO_JSON doc = NULL;
	AUTO_BUF text = {0};

	if (v->opts->json) {
		doc = rollout_show_json(p);
		session_print_json(doc);
		return;
	}
	buf_init(&text, TEXT_MAX);
	buf_add_char(&text, '\n');
	rollout_show_text(p, v->opts, false, &text);
	print_lines(&text);
}

int rollout_view_finish(struct rollout_view *v, const struct rollout_outcome *out, struct err *err)
{
	struct arena *a = arena_new();
	struct rollout_past p;
	int rc = load(v, a, true, &p, err);

	if (rc == 0 && is_block(v))
		rollout_watch_draw(&p, v->opts, &v->drawn);
	if (rc == 0)
		print_end(v, &p);
	rollout_past_done(&p);
	arena_free(a);
	return rc < 0 ? rc : code_of(out);
}
