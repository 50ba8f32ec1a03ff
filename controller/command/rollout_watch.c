#include "controller/command/rollout_watch.h"

#include "agent/base/clock.h"
#include "controller/command/command.h"
#include "controller/command/session.h"
#include "controller/fleet/run_lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOK_EVERY (500 * CLOCK_MS)
#define LOCK_EVERY (5 * CLOCK_SEC) /* whether somebody drives it still */
#define ROWS       24u
#define TEXT_MAX   ((size_t)4 << 20)

struct watch {
	struct store *store;
	const struct report_opts *opts;
	const char *run;
	int64_t after;  /* the last move that was told */
	unsigned drawn; /* lines that stand on the terminal */
	int64_t locked; /* when its lock was looked at, monotonic */
	char told[400]; /* of the whole, as it was told last */
};

/* --- a line a move --- */

void rollout_watch_move(
	struct buf *out, enum text_lang lang, const char *node, const struct rollout_move *m)
{
	rollout_add_moment(out, m->at);
	buf_addf(out, "  %s  ", node);
	if (*m->event)
		buf_addf(out, "%s -> ", rollout_state_word(lang, rollout_state_parse(m->from)));
	buf_add_text(out, rollout_state_word(lang, rollout_state_parse(m->to)));
	if (*m->why)
		buf_addf(out, ": %s", m->why);
	if (*m->hint && rollout_past_is_bad(rollout_state_parse(m->to))) {
		buf_add_text(out, "; ");
		text_add(out, lang, TEXT_RO_HINT, m->hint);
	}
	buf_add_char(out, '\n');
}

static void add_move_json(struct buf *out, const char *node, const struct rollout_move *m)
{
	AUTO_JSON o = json_object();
	char at[24];

	clock_format(m->at, at);
	json_put_str(o, "at", at);
	json_put_str(o, "node", node);
	json_put_str(o, "from", m->from);
	json_put_str(o, "event", m->event);
	json_put_str(o, "to", m->to);
	json_put_str(o, "why", m->why);
	json_put_str(o, "hint", m->hint);
	json_write(o, out);
	buf_add_char(out, '\n');
}

/* At most ROLLOUT_MOVES_MAX of them; *more: there may be others behind. */
static int print_some(
	struct watch *w, struct arena *a, const struct rollout_past *p, bool *more, struct err *err)
{
	struct rollout_moves moves = VEC_INIT;
	AUTO_BUF text = {0};
	int rc = store_rollout_moves_after(w->store, a, w->run, w->after, &moves, err);

	buf_init(&text, (size_t)64 << 20);
	vec_each(&moves, const struct rollout_move, m) {
		w->after = m->id;
		if (!*m->event)
			continue; /* it was put into the rollout */
		if (w->opts->json)
			add_move_json(&text, rollout_past_name(p, m->node), m);
		else
			rollout_watch_move(&text, w->opts->lang, rollout_past_name(p, m->node), m);
	}
	if (rc == 0 && w->opts->json)
		session_print(&text);
	else if (rc == 0)
		session_print_lines(&text);
	*more = moves.n == ROLLOUT_MOVES_MAX;
	vec_done(&moves);
	return rc;
}

static int print_moves(struct watch *w, const struct rollout_past *p, struct err *err)
{
	bool more = true;
	int rc = 0;

	while (rc == 0 && more) {
		struct arena *a = arena_new();

		rc = print_some(w, a, p, &more, err);
		arena_free(a);
	}
	return rc;
}

static void add_whole_json(struct buf *out, const struct rollout_past *p)
{
	AUTO_JSON o = json_object();
	char at[24];

	clock_format(p->now, at);
	json_put_str(o, "at", at);
	json_put_str(o, "rollout", p->run.id);
	json_put_str(o, "state", p->run.state);
	json_put_bool(o, "paused", p->row.paused && !rollout_past_is_over(p));
	json_put_str(o, "reason", p->row.reason);
	json_write(o, out);
	buf_add_char(out, '\n');
}

/* The whole, when it is not as it was told last. */
static void print_whole(struct watch *w, const struct rollout_past *p)
{
	AUTO_BUF state = {0}, text = {0};

	buf_init(&state, 8192);
	buf_init(&text, TEXT_MAX);
	rollout_add_state(&state, w->opts->lang, p);
	if (strncmp(buf_text(&state), w->told, sizeof w->told - 1) == 0)
		return;
	snprintf(w->told, sizeof w->told, "%.399s", buf_text(&state));
	if (w->opts->json) {
		add_whole_json(&text, p);
		session_print(&text);
		return;
	}
	rollout_add_moment(&text, p->now);
	buf_add_text(&text, "  ");
	TEXT_FILL(&text, w->opts->lang, TEXT_RO_T_ENDED, p->run.id, buf_text(&state));
	buf_add_char(&text, '\n');
	session_print_lines(&text);
}

/* --- on a terminal --- */

static unsigned rows_of_terminal(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row : ROWS;
}

void rollout_watch_draw(const struct rollout_past *p, const struct report_opts *o, unsigned *drawn)
{
	AUTO_BUF text = {0}, all = {0};

	buf_init(&text, TEXT_MAX);
	buf_init(&all, TEXT_MAX);
	if (*drawn > 0)
		buf_addf(&all, "\033[%uA\r\033[J", *drawn);
	rollout_watch_lines(p, o, rows_of_terminal() - 1, &text);
	*drawn = 0;
	for (size_t i = 0; i < text.n; i++)
		*drawn += text.p[i] == '\n';
	session_add_lines(&all, buf_str(&text));
	session_print(&all);
}

/* --- until it ends --- */

static bool is_driven(struct watch *w, const struct rollout_past *p)
{
	const int64_t now = clock_mono();

	if (strcmp(p->run.state, "running") != 0)
		return false;
	if (w->locked == 0 || p->driven)
		w->locked = now;
	return now - w->locked < LOCK_EVERY;
}

/* 1 while it goes on, 0 at its end. */
static int turn(struct watch *w, struct arena *a, int *code, struct err *err)
{
	struct rollout_past p = {0};
	struct run_row r;
	int rc = store_run_find(w->store, a, w->run, &r, err);

	if (rc == 0)
		rc = rollout_past_load(w->store, a, &r, clock_wall(), false, &p, err);
	if (rc == 0 && w->opts->width == 0) {
		rc = print_moves(w, &p, err);
		if (rc == 0)
			print_whole(w, &p);
	} else if (rc == 0) {
		rollout_watch_draw(&p, w->opts, &w->drawn);
	}
	if (rc == 0) {
		rc = is_driven(w, &p) ? 1 : 0;
		*code = p.counts[STATE_DONE] == p.nodes.n ? EXIT_OK : EXIT_SOME;
	}
	if (rc == 0 && !rollout_past_is_over(&p) && !w->opts->json) {
		AUTO_BUF text = {0};

		buf_init(&text, 512);
		text_add(&text, w->opts->lang, TEXT_RO_NOBODY, w->run);
		buf_add_char(&text, '\n');
		session_print_lines(&text);
	}
	rollout_past_done(&p);
	return rc;
}

int rollout_watch(
	struct store *s, const struct run_row *r, const struct report_opts *o, struct err *err)
{
	struct report_opts opts = *o;
	struct watch w = {.store = s, .opts = &opts, .run = r->id};
	int rc, code = EXIT_OK;

	if (opts.json)
		opts.width = 0;
	do {
		struct arena *a = arena_new();

		rc = turn(&w, a, &code, err);
		arena_free(a);
		if (rc > 0)
			clock_sleep(LOOK_EVERY);
	} while (rc > 0);
	return rc < 0 ? rc : code;
}
