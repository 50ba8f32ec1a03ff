/*
 * world_store - rows of a rollout: its moves in the crew's group of writes, what people ask, where
 * all stood.
 */
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/rollout/world_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_TURN 256 /* of what nodes wait for: the rest in later turns */

static void keep(char **to, const char *text)
{
	free(*to);
	*to = text && *text ? xstrdup(text) : NULL;
}

static struct rollout_node_row row_of(const struct world *w, size_t i)
{
	const struct world_node *n = &w->at[i];

	return (struct rollout_node_row){
		.node = w->refs.at[i]->id,
		.name = w->refs.at[i]->name,
		.state = NODE_STATES[n->row_state],
		.since = n->since,
		.stage = rollout_stage_of(w->ground.plan, i),
		.tries = n->tries,
		.fence = n->memory,
		.reason = n->reason,
		.hint = n->hint,
		.signature = n->signature,
	};
}

/* What the scheduler said before we came; kept with the very move that lets us close it. */
static void keep_memory(struct world *w, size_t i)
{
	AUTO_JSON memory = NULL;
	AUTO_BUF text = {0};

	if (!w->fence || w->at[i].memory)
		return;
	memory = fence_memory(w->fence, i);
	if (!memory)
		return;
	buf_init(&text, 64u << 10);
	json_write(memory, &text);
	keep(&w->at[i].memory, buf_text(&text));
}

/* To be told of when it is committed. */
static void note_moved(struct world *w, const struct drive_move *m)
{
	struct told_move *t;

	if (!w->opts->moved || m->from == m->to)
		return;
	t = vec_push(&w->moved);
	t->move = *m;
	keep(&t->why, m->word.why);
	keep(&t->hint, m->word.hint);
}

static void tell_moved(struct world *w, bool committed)
{
	vec_each(&w->moved, struct told_move, t) {
		t->move.word = (struct drive_word){t->why, t->hint, NULL};
		if (committed)
			w->opts->moved(w->opts->ctx, w->refs.at[t->move.node], &t->move);
		free(t->why);
		free(t->hint);
	}
	w->moved.n = 0;
}

int world_move(void *ctx, const struct drive_move *m, struct err *err)
{
	struct world *w = ctx;
	struct world_node *n = &w->at[m->node];
	const bool moves = m->from != m->to;
	int rc = crew_begin_write(w->crew, err);

	if (rc < 0)
		return rc;
	if (m->to == STATE_CORDONED)
		keep_memory(w, m->node);
	n->row_state = m->to;
	n->tries = m->tries;
	n->since = moves ? m->wall : n->since;
	keep(&n->reason, m->word.why);
	keep(&n->hint, m->word.hint);
	keep(&n->signature, m->word.signature);
	keep(&n->waits, NULL);
	note_moved(w, m);

	const struct rollout_node_row row = row_of(w, m->node);
	const struct rollout_move move = {.node = row.node,
		.from = NODE_STATES[m->from],
		.event = NODE_EVENTS[m->on],
		.to = row.state,
		.why = n->reason,
		.hint = n->hint,
		.at = m->wall};

	return moves ? store_rollout_move(w->store, w->run, &row, &move, err)
		     : store_rollout_node_put(w->store, w->run, &row, err);
}

int world_commit(void *ctx, struct err *err)
{
	struct world *w = ctx;
	int rc = world_put_row(w, err);

	if (rc == 0)
		rc = crew_commit(w->crew, err);
	tell_moved(w, rc == 0);
	return rc;
}

bool world_was_in(struct world *w, size_t i, enum node_state state)
{
	struct arena *a = arena_new();
	struct rollout_moves moves = {0};
	bool was = false;

	if (store_rollout_moves(w->store, a, w->run, w->refs.at[i]->id, &moves, NULL) == 0)
		vec_each(&moves, struct rollout_move, m) {
			was = was || strcmp(m->to, NODE_STATES[state]) == 0;
		}
	vec_done(&moves);
	arena_free(a);
	return was;
}

/* --- the rollout's own row --- */

int world_put_row(struct world *w, struct err *err)
{
	const char *paused = w->aborted ? NULL : drive_paused(w->drive);
	const char *reason = paused ? paused : w->aborted ? w->ask_reason : "";
	const unsigned stage = drive_stage(w->drive);
	const struct rollout_row row = {.run = w->run,
		.paused = paused != NULL,
		.reason = reason,
		.forgiven = w->forgiven,
		.opened = stage == w->row_stage ? w->opened : w->wall,
		.stage = stage};
	int rc;

	if (row.paused == w->row_paused && stage == w->row_stage &&
		w->forgiven == w->row_forgiven && strcmp(reason, w->row_reason) == 0)
		return 0;
	rc = crew_begin_write(w->crew, err);
	if (rc == 0)
		rc = store_rollout_put(w->store, &row, err);
	w->row_paused = row.paused;
	w->row_stage = stage;
	w->opened = row.opened;
	w->row_forgiven = w->forgiven;
	snprintf(w->row_reason, sizeof w->row_reason, "%s", reason);
	return rc;
}

/* Who says so has looked at what broke. */
static void go_on(struct world *w)
{
	drive_ask(w->drive, DRIVE_GO, NULL);
	if (!drive_paused(w->drive))
		return;
	drive_forgive(w->drive);
	w->forgiven = w->wall;
}

static int obey(struct world *w, const char *asked, const char *by, struct err *err)
{
	const bool abort = strcmp(asked, "abort") == 0, pause = strcmp(asked, "pause") == 0;

	if (abort && w->aborted)
		return 0;
	snprintf(w->ask_reason, sizeof w->ask_reason, "%s%.200s",
		abort ? "aborted by " : ROLLOUT_PAUSED_BY, *by ? by : "somebody");
	if (abort || pause)
		drive_ask(w->drive, abort ? DRIVE_ABORT : DRIVE_PAUSE, w->ask_reason);
	else
		go_on(w);
	w->aborted = w->aborted || abort;
	/* an abort stays asked for until the end, so that whoever drives on knows of it */
	if (abort || crew_begin_write(w->crew, err) < 0)
		return abort ? 0 : -(int)err->code;
	return store_rollout_answered(w->store, w->run, asked, err);
}

int world_hear(struct world *w, struct err *err)
{
	struct arena *a = arena_new();
	const char *asked = "", *by = "";
	int rc = store_rollout_asked(w->store, a, w->run, &asked, &by, err);

	/* before the first turn nothing stands still that could go on */
	if (rc == 0 && *asked && (w->turned || strcmp(asked, "resume") != 0))
		rc = obey(w, asked, by, err);
	arena_free(a);
	return rc;
}

/* --- what nodes wait for --- */

static int write_waits(struct world *w, size_t i, struct err *err)
{
	struct world_node *n = &w->at[i];
	struct rollout_node_row row;
	AUTO_BUF words = {0};
	int rc;

	buf_init(&words, 400);
	drive_waits(w->drive, i, &words);
	if (strcmp(buf_text(&words), n->waits ? n->waits : "") == 0)
		return 0;
	rc = crew_begin_write(w->crew, err);
	keep(&n->waits, buf_text(&words));
	row = row_of(w, i);
	if (n->waits)
		row.reason = n->waits;
	return rc < 0 ? rc : store_rollout_node_put(w->store, w->run, &row, err);
}

void world_say_kept_off(struct world *w, size_t i, const char *trouble)
{
	struct world_node *n = &w->at[i];
	struct err err = {0};
	AUTO_BUF words = {0};

	buf_init(&words, 1000);
	buf_addf(&words, "%s%sit is still kept from its jobs by this run: %s",
		n->reason ? n->reason : "", n->reason ? "; " : "",
		trouble && *trouble ? trouble : "its scheduler has not opened it");
	keep(&n->reason, buf_text(&words));
	if (!n->hint)
		n->hint = xstrdup("open it by hand");
	const struct rollout_node_row row = row_of(w, i);
	if (crew_begin_write(w->crew, &err) < 0 ||
		store_rollout_node_put(w->store, w->run, &row, &err) < 0)
		w->broken = err;
}

int world_write_waits(struct world *w, struct err *err)
{
	const size_t most = w->n < ROWS_A_TURN ? w->n : ROWS_A_TURN;
	int rc = 0;

	vec_each(&w->busy, const size_t, i)
		if (rc == 0 && !node_is_terminal(w->at[*i].row_state))
			rc = write_waits(w, *i, err);
	for (size_t k = 0; rc == 0 && k < most; k++) {
		const size_t i = w->write_next++ % w->n;

		if (w->at[i].row_state == STATE_ELIGIBLE)
			rc = write_waits(w, i, err);
	}
	return rc;
}

/* --- the beginning --- */

static void join_recipes(const struct frozen *f, struct buf *out)
{
	for (unsigned i = 0; i < f->n_recipes; i++)
		if (f->recipes[i].asked)
			buf_addf(out, "%s%s", out->n ? "," : "", f->recipes[i].name);
}

int world_add(struct world *w, struct err *err)
{
	AUTO_BUF recipes = {0};
	const struct rollout_row row = {.run = w->run, .order = w->order_text};
	struct run_row run = {.id = w->run,
		.mode = "rollout",
		.nodes = w->opts->nodes_text ? w->opts->nodes_text : "",
		.by = w->opts->by,
		.state = "running",
		.plan_hash = "",
		.bundle = "",
		.started = w->wall,
		.n_nodes = (unsigned)w->n};
	int rc = crew_begin_write(w->crew, err);

	buf_init(&recipes, 64u << 10);
	join_recipes(w->order, &recipes);
	run.recipes = buf_text(&recipes);
	if (rc == 0)
		rc = store_run_add(w->store, &run, err);
	if (rc == 0)
		rc = store_rollout_add(w->store, &row, err);
	if (rc == 0)
		rc = store_audit_add(w->store, run.by, "rollout", run.nodes, w->run, err);
	for (size_t i = 0; rc == 0 && i < w->n; i++) {
		w->at[i].since = w->wall;

		const struct rollout_node_row node = row_of(w, i);

		rc = store_rollout_node_put(w->store, w->run, &node, err);
	}
	return rc < 0 ? rc : crew_commit(w->crew, err);
}

/* --- gone on with --- */

static int state_of(const char *word, enum node_state *out, struct err *err)
{
	for (unsigned s = 0; s < STATE_N; s++)
		if (strcmp(NODE_STATES[s], word) == 0) {
			*out = (enum node_state)s;
			return 0;
		}
	return err_set(err, E_SCHEMA, "'%s' is no state of a node", word);
}

static int restore_node(
	struct world *w, size_t i, const struct rollout_node_row *row, struct err *err)
{
	struct world_node *n = &w->at[i];
	const struct drive_word word = {row->reason, *row->hint ? row->hint : NULL,
		*row->signature ? row->signature : NULL};
	const int rc = state_of(row->state, &n->row_state, err);

	if (rc < 0)
		return rc;
	n->state = n->row_state;
	n->tries = row->tries;
	n->since = row->since;
	keep(&n->memory, row->fence);
	keep(&n->reason, row->reason);
	keep(&n->hint, row->hint);
	keep(&n->signature, row->signature);
	if (n->state != STATE_ELIGIBLE)
		drive_place(
			w->drive, i, n->state, n->tries, w->now - (w->wall - row->since), &word);
	return 0;
}

int world_compare_rows(const void *a, const void *b)
{
	const struct rollout_node_row *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

int world_restore(struct world *w, struct err *err)
{
	struct arena *a = arena_new();
	struct rollout_node_rows rows = VEC_INIT;
	struct rollout_row row;
	int rc = store_rollout_get(w->store, a, w->run, &row, err);

	if (rc == 0)
		rc = store_rollout_nodes(w->store, a, w->run, &rows, err);
	if (rc == 0) {
		w->forgiven = w->opts->forgive ? w->wall : row.forgiven;
		w->opened = row.opened;
		w->row_stage = row.stage;
		w->row_paused = row.paused;
		w->row_forgiven = row.forgiven;
		snprintf(w->row_reason, sizeof w->row_reason, "%s", row.reason);
		drive_resume(w->drive, row.stage,
			w->forgiven ? w->now - (w->wall - w->forgiven) : INT64_MIN);
	}
	for (size_t i = 0; rc == 0 && i < w->n; i++) {
		const struct rollout_node_row key = {.node = w->refs.at[i]->id};
		const struct rollout_node_row *at =
			rows.n ? bsearch(&key, rows.at, rows.n, sizeof key, world_compare_rows)
			       : NULL;

		rc = at ? restore_node(w, i, at, err)
			: err_set(err, E_INTERNAL, "a node is not of the rollout");
	}
	vec_done(&rows);
	arena_free(a);
	return rc;
}

/* --- the end --- */

/* Failed is what a person has to look at; an abort is not. */
static const char *end_of(const struct world *w)
{
	const size_t *at = w->out->states;

	if (!w->ended)
		return "interrupted";
	if (w->aborted)
		return "cancelled";
	return at[STATE_DONE] == w->n ? "done" : "failed";
}

int world_end(struct world *w, struct err *err)
{
	int rc = crew_begin_write(w->crew, err);

	if (rc == 0)
		rc = store_run_end(w->store, w->run, end_of(w), NULL, err);
	return rc < 0 ? rc : crew_commit(w->crew, err);
}

/* --- evidence --- */

void world_keep_evidence(struct world *w, size_t i, const char *name, struct str bytes)
{
	const struct node_row *node = w->refs.at[i];
	struct err err = {0};

	if (bytes.n > EVIDENCE_BYTES_MAX)
		bytes = str_from(bytes, bytes.n - EVIDENCE_BYTES_MAX);
	if (crew_begin_write(w->crew, &err) < 0)
		w->broken = err;
	else
		/* a full disk must not stop a node on its way home */
		(void)store_evidence_put(w->store, w->run, node->id, node->name, name, bytes, &err);
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
	AUTO_FD top = open(*path == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return top < 0 ? err_sys(err, errno, "cannot read '%s'", path)
		       : fs_read(top, path, out, err);
}

int world_read_evidence(
	struct world *w, size_t i, const char *name, struct buf *out, struct err *err)
{
	struct arena *a = arena_new();
	struct evidence_rows rows = VEC_INIT;
	const char *path = NULL;
	int rc = store_evidence(w->store, a, w->run, w->refs.at[i]->id, &rows, err);

	for (size_t k = 0; k < rows.n && !path; k++)
		if (strcmp(rows.at[k].name, name) == 0)
			path = rows.at[k].path;
	if (rc == 0)
		rc = path ? read_file(path, out, err)
			  : err_set(err, E_NOTFOUND, "there is no '%s'", name);
	vec_done(&rows);
	arena_free(a);
	return rc;
}
