#include "controller/command/rollout_page.h"

#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/command/lang.h"
#include "controller/command/run_view.h"
#include "controller/command/session.h"
#include "controller/command/telling.h"
#include "inventory/store/order.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TELLING_MAX 6u
#define RECORDS_MAX 5u
#define LABEL       14u
#define INDENT      2u

/* --- read --- */

bool rollout_page_is_log(const struct evidence_row *e)
{
	const struct str name = str_of(e->name);

	return e->bytes > 0 && !str_ends(name, ".json") && !str_ends(name, ".journal") &&
	       !str_is(name, "index.txt");
}

static const char *read_telling(struct arena *a, const struct evidence_row *e)
{
	AUTO_FD root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUF text = {0}, lines = {0};

	buf_init(&text, EVIDENCE_BYTES_MAX);
	buf_init(&lines, 8192);
	if (root < 0 || fs_read(root, e->path, &text, NULL) < 0)
		return NULL;
	if (rollout_page_is_log(e))
		telling_lines(buf_str(&text), TELLING_MAX, &lines);
	return arena_text(a, buf_str(&lines));
}

static void find_row(struct rollout_page *g)
{
	vec_each(&g->all, const struct node_row, r)
		if (r->id == g->n->row->node)
			g->node = r;
}

int rollout_page_load(struct store *s, struct arena *a, const struct rollout_past *p,
	const struct past_node *n, struct rollout_page *out, struct err *err)
{
	const int64_t id = n->row->node;
	int rc;

	*out = (struct rollout_page){.p = p, .n = n};
	rc = store_rollout_moves(s, a, p->run.id, id, &out->moves, err);
	if (rc == 0)
		rc = store_rollout_orders(s, a, p->run.id, id, &out->orders, err);
	if (rc == 0)
		rc = store_rollout_events(s, a, p->run.id, id, &out->events, err);
	if (rc == 0)
		rc = store_evidence(s, a, p->run.id, id, &out->evidence, err);
	if (rc == 0)
		rc = store_nodes(s, a, &out->all, err);
	if (rc == 0)
		rc = store_mark_missed(s, a, &out->all, err);
	if (rc < 0)
		return rc;
	find_row(out);
	if (*n->row->fence)
		(void)json_parse(str_of(n->row->fence), 64u << 10, "fence", &out->fence, NULL);
	out->telling = arena_alloc(a, (out->evidence.n + 1) * sizeof *out->telling);
	for (size_t i = 0; i < out->evidence.n; i++)
		out->telling[i] = read_telling(a, &out->evidence.at[i]);
	vec_each(&out->moves, const struct rollout_move, m) {
		const enum node_state state = rollout_state_parse(m->to);

		if (state < STATE_N)
			out->seen[state] = true;
	}
	return 0;
}

void rollout_page_done(struct rollout_page *g)
{
	vec_each(&g->events, struct rollout_event, e)
		json_decref(e->record);
	vec_done(&g->events);
	vec_done(&g->moves);
	vec_done(&g->orders);
	vec_done(&g->evidence);
	vec_done(&g->all);
	json_decref(g->fence);
}

/* --- what follows from it --- */

bool rollout_page_is_foreign(const struct rollout_page *g)
{
	const char *state = json_get_str(g->fence, "state", "");

	return g->fence && !json_get_bool(g->fence, "ours", false) &&
	       (strcmp(state, "closed") == 0 || strcmp(state, "closing") == 0 ||
		       strcmp(state, "down") == 0);
}

bool rollout_page_is_ours(const struct rollout_page *g)
{
	return g->p->policy.fence.by != FENCE_NONE && node_is_fenced(g->n->state) &&
	       g->seen[STATE_CORDONED] && !rollout_page_is_foreign(g);
}

/* Why the way back was not gone or failed is the event that led out of it. */
static bool way_back_was_passed_over(const struct rollout_page *g)
{
	vec_each(&g->moves, const struct rollout_move, m)
		if (strcmp(m->from, NODE_STATES[STATE_ROLLBACK]) == 0 &&
			strcmp(m->event, NODE_EVENTS[EVENT_SKIP]) == 0)
			return true;
	return false;
}

enum text_key rollout_page_disk(const struct rollout_page *g)
{
	const enum node_state s = g->n->state;

	if (s == STATE_UNDONE)
		return TEXT_RO_D_OLD;
	if (s == STATE_UNREACHABLE)
		return TEXT_RO_D_UNKNOWN;
	if (!g->seen[STATE_QUIESCED])
		return TEXT_RO_D_BEFORE;
	if (g->seen[STATE_ROLLBACK] && !way_back_was_passed_over(g))
		return TEXT_RO_D_UNCLEAR;
	if (!g->seen[STATE_INSTALLED])
		return TEXT_RO_D_PART;
	return g->seen[STATE_ROLLBACK] ? TEXT_RO_D_KEPT : TEXT_RO_D_NEW;
}

/* --- text --- */

struct writer {
	const struct rollout_page *g;
	struct arena *a;
	enum text_lang lang;
	struct buf *out;
};

static void add_title(const struct writer *w, enum text_key title)
{
	buf_addf(w->out, "\n%s\n", text_get(w->lang, title));
}

static void add_fact(const struct writer *w, enum text_key label, const char *text)
{
	AUTO_BUF lines = {0};

	buf_init(&lines, 8192);
	lang_add_wrapped(&lines, INDENT + LABEL, text);
	buf_addf(w->out, "%*s", (int)INDENT, "");
	lang_add_label(w->out, text_get(w->lang, label), LABEL);
	buf_add_str(w->out, str_from(buf_str(&lines), INDENT + LABEL));
}

static void add_why(const struct writer *w)
{
	const struct rollout_node_row *r = w->g->n->row;
	AUTO_BUF line = {0};

	buf_init(&line, 8192);
	add_title(w, TEXT_RO_P_WHY);
	lang_add_wrapped(w->out, INDENT, rollout_state_means(w->lang, w->g->p, w->g->n->state));
	if (*r->reason || rollout_past_is_bad(w->g->n->state))
		lang_add_wrapped(w->out, INDENT,
			*r->reason ? r->reason : text_get(w->lang, TEXT_RO_P_NO_WHY));
	if (*r->hint) {
		text_add(&line, w->lang, TEXT_RO_HINT, r->hint);
		lang_add_wrapped(w->out, INDENT, buf_text(&line));
	}
	buf_clear(&line);
	if (*r->signature) {
		text_add(&line, w->lang, TEXT_RO_P_SIGNATURE, r->signature);
		lang_add_wrapped(w->out, INDENT, buf_text(&line));
	}
}

static void add_scheduler(const struct writer *w)
{
	const struct rollout_page *g = w->g;
	const char *by = FENCE_KIND_NAMES[g->p->policy.fence.by];
	AUTO_BUF text = {0}, was = {0};

	buf_init(&text, 1024);
	buf_init(&was, 512);
	if (g->fence) {
		buf_add_text(&was, json_get_str(g->fence, "state", "?"));
		if (*json_get_str(g->fence, "reason", ""))
			buf_addf(&was, ", '%s'", json_get_str(g->fence, "reason", ""));
		if (*json_get_str(g->fence, "who", ""))
			buf_addf(&was, ", %s", json_get_str(g->fence, "who", ""));
	}
	if (g->p->policy.fence.by == FENCE_NONE)
		buf_add_text(&text, text_get(w->lang, TEXT_RO_F_NONE));
	else if (rollout_page_is_foreign(g))
		TEXT_FILL(&text, w->lang, TEXT_RO_F_FOREIGN, by, buf_text(&was));
	else if (rollout_page_is_ours(g))
		TEXT_FILL(&text, w->lang, TEXT_RO_F_OURS, by, g->p->run.id,
			was.n ? buf_text(&was) : "?");
	else
		text_add(&text, w->lang, TEXT_RO_F_OPEN, by);
	add_fact(w, TEXT_RO_N_SCHEDULER, buf_text(&text));
}

static void add_restart(const struct writer *w)
{
	enum text_key key = TEXT_RO_B_NONE;
	int64_t down = 0, back = 0;
	AUTO_BUF at = {0}, text = {0};

	buf_init(&at, 64);
	buf_init(&text, 256);
	vec_each(&w->g->moves, const struct rollout_move, m) {
		if (strcmp(m->to, NODE_STATES[STATE_REBOOTING]) == 0)
			down = m->at;
		if (strcmp(m->from, NODE_STATES[STATE_REBOOTING]) == 0)
			back = strcmp(m->event, NODE_EVENTS[EVENT_OK]) == 0 ? m->at : -1;
	}
	if (down > 0) {
		key = back > 0 ? TEXT_RO_B_BACK : back < 0 ? TEXT_RO_B_LOST : TEXT_RO_B_NOW;
		rollout_add_moment(&at, back > 0 ? back : down);
		text_add(&text, w->lang, key, buf_text(&at));
	} else {
		buf_add_text(&text, text_get(w->lang, key));
	}
	add_fact(w, TEXT_RO_N_RESTART, buf_text(&text));
}

static void add_contact(const struct writer *w)
{
	const struct node_row *r = w->g->node;
	AUTO_BUF text = {0}, at = {0};
	char port[16];

	buf_init(&text, 512);
	buf_init(&at, 64);
	if (!r || (r->seen == 0 && r->missed == 0)) {
		add_fact(w, TEXT_RO_N_CONTACT, text_get(w->lang, TEXT_RO_C_NEVER));
		return;
	}
	snprintf(port, sizeof port, "%u", r->port);
	if (r->missed)
		rollout_add_moment(&at, r->missed * CLOCK_SEC);
	else
		rollout_add_span(&at, w->lang, w->g->p->now - r->seen * CLOCK_SEC);
	TEXT_FILL(&text, w->lang, r->missed ? TEXT_RO_C_MISSED : TEXT_RO_C_SEEN, buf_text(&at),
		*r->user ? r->user : "root", r->address, port);
	add_fact(w, TEXT_RO_N_CONTACT, buf_text(&text));
}

static void add_now(const struct writer *w)
{
	add_title(w, TEXT_RO_P_NOW);
	add_scheduler(w);
	add_fact(w, TEXT_RO_N_DISK, text_get(w->lang, rollout_page_disk(w->g)));
	add_restart(w);
	add_contact(w);
}

/* Nothing, or what stands under WHY already. */
static bool is_told(const struct writer *w, const char *why)
{
	return !*why || strstr(w->g->n->row->reason, why) != NULL;
}

/* When it came there, how long it stayed, how that ended when not well, and why. */
static void add_move(const struct writer *w, size_t i)
{
	const struct rollout_moves *all = &w->g->moves;
	const struct rollout_move *m = &all->at[i], *next = i + 1 < all->n ? m + 1 : NULL;
	const enum node_state to = rollout_state_parse(m->to);
	AUTO_BUF span = {0};

	buf_init(&span, 64);
	buf_addf(w->out, "%*s", (int)INDENT, "");
	rollout_add_moment(w->out, m->at);
	buf_add_text(w->out, "  ");
	if (next)
		rollout_add_span(&span, w->lang, next->at - m->at);
	else if (!node_is_terminal(to) && !w->g->p->run.ended)
		rollout_add_span(&span, w->lang, w->g->p->now - m->at);
	if (span.n == 0) {
		buf_add_text(w->out, rollout_state_word(w->lang, to));
	} else {
		lang_add_label(w->out, rollout_state_word(w->lang, to), 14);
		buf_add_str(w->out, buf_str(&span));
	}
	if (next && strcmp(next->event, NODE_EVENTS[EVENT_OK]) != 0)
		buf_addf(w->out, "  %s", text_state(w->lang, next->event));
	buf_add_char(w->out, '\n');
	if (next && !is_told(w, next->why))
		lang_add_wrapped(w->out, INDENT + 16, next->why);
}

static void add_happened(const struct writer *w)
{
	if (w->g->moves.n == 0)
		return;
	add_title(w, TEXT_RO_P_HAPPENED);
	for (size_t i = 0; i < w->g->moves.n; i++)
		add_move(w, i);
}

static bool is_bad_record(const json_t *record)
{
	const enum step_result r = result_parse(json_get_str(record, "state", "ok"));

	return r == RESULT_FAILED || r == RESULT_DENIED || r == RESULT_TIMEOUT ||
	       r == RESULT_INTERRUPTED;
}

/* The failed steps of an order, the last of them, with what they said. */
static void add_bad_records(const struct writer *w, const char *run)
{
	size_t bad = 0, skip, i = 0;

	vec_each(&w->g->events, const struct rollout_event, e)
		bad += strcmp(e->run, run) == 0 && is_bad_record(e->record);
	skip = bad > RECORDS_MAX ? bad - RECORDS_MAX : 0;
	vec_each(&w->g->events, const struct rollout_event, e) {
		const char *hint = json_get_str(e->record, "hint", "");
		AUTO_BUF line = {0};

		if (strcmp(e->run, run) != 0 || !is_bad_record(e->record) || i++ < skip)
			continue;
		buf_init(&line, 64u << 10);
		run_view_record(&line, e->record, ORDER_APPLY, w->lang);
		if (*hint) {
			buf_add_text(&line, "            ");
			text_add(&line, w->lang, TEXT_RO_HINT, hint);
			buf_add_char(&line, '\n');
		}
		session_add_lines(w->out, buf_str(&line));
	}
}

static void add_order(const struct writer *w, const struct rollout_given *o)
{
	const bool plan = strcmp(o->mode, "plan") == 0 || strcmp(o->mode, "check") == 0;
	const bool steps = strcmp(o->mode, "facts") != 0 && strcmp(o->mode, "evidence") != 0;
	const enum order_mode mode = plan ? ORDER_PLAN : ORDER_APPLY;

	buf_addf(w->out, "%*s", (int)INDENT, "");
	rollout_add_moment(w->out, o->started);
	buf_addf(w->out, "  %-9s %s", o->mode,
		text_state(w->lang, run_view_state(o->result.state, mode)));
	if (steps) {
		buf_add_text(w->out, ": ");
		run_view_counts(w->out, &o->result.counts, mode, w->lang);
	}
	buf_add_text(w->out, " (");
	rollout_add_span(w->out, w->lang, o->result.took);
	buf_add_text(w->out, ")\n");
	if (!is_told(w, o->result.reason))
		lang_add_wrapped(w->out, INDENT + 16, o->result.reason);
	add_bad_records(w, o->run);
}

static void add_orders(const struct writer *w)
{
	if (w->g->orders.n == 0)
		return;
	add_title(w, TEXT_RO_P_ORDERS);
	vec_each(&w->g->orders, const struct rollout_given, o)
		add_order(w, o);
}

static void add_evidence(const struct writer *w)
{
	add_title(w, TEXT_RO_P_EVIDENCE);
	if (w->g->evidence.n == 0)
		lang_add_wrapped(w->out, INDENT, text_get(w->lang, TEXT_RO_E_NONE));
	for (size_t i = 0; i < w->g->evidence.n; i++) {
		const struct evidence_row *e = &w->g->evidence.at[i];
		struct str rest = str_of(w->g->telling[i]), line;

		buf_addf(w->out, "%*s%s\n", (int)INDENT, "", e->path);
		while (str_line(&rest, &line)) {
			buf_addf(w->out, "%*s| ", (int)INDENT + 2, "");
			session_add_lines(w->out, line);
			buf_add_char(w->out, '\n');
		}
	}
}

static void add_remedies(const struct writer *w)
{
	struct remedy all[REMEDIES_MAX];
	const size_t n = rollout_remedies(w->g, w->a, all);
	enum text_key part = TEXT_N;

	add_title(w, TEXT_RO_P_DO);
	if (n == 0 && (node_is_terminal(w->g->n->state) || rollout_past_is_over(w->g->p)))
		lang_add_wrapped(w->out, INDENT, text_get(w->lang, TEXT_RO_DO_NOTHING));
	else if (n == 0) {
		AUTO_BUF line = {0};

		buf_init(&line, 512);
		text_add(&line, w->lang, TEXT_RO_DO_WAIT, w->g->p->run.id);
		lang_add_wrapped(w->out, INDENT, buf_text(&line));
	}
	for (size_t i = 0; i < n; i++) {
		if (all[i].part != part)
			buf_addf(
				w->out, "%*s%s\n", (int)INDENT, "", text_get(w->lang, all[i].part));
		part = all[i].part;
		if (all[i].command)
			buf_addf(w->out, "%4zu. %s\n", i + 1, all[i].command);
		else
			buf_addf(w->out, "%4zu. %s\n", i + 1, text_get(w->lang, all[i].why));
		if (all[i].command)
			lang_add_wrapped(w->out, 6, text_get(w->lang, all[i].why));
	}
}

void rollout_page_text(
	const struct rollout_page *g, struct arena *a, enum text_lang lang, struct buf *out)
{
	const struct writer w = {g, a, lang, out};

	TEXT_FILL(out, lang, TEXT_RO_P_HEAD, g->n->row->name, g->p->run.id,
		rollout_state_word(lang, g->n->state));
	buf_add_char(out, '\n');
	add_why(&w);
	add_now(&w);
	add_happened(&w);
	add_orders(&w);
	add_evidence(&w);
	add_remedies(&w);
}

/* --- JSON --- */

static void put_moment(json_t *obj, const char *key, int64_t wall)
{
	char at[24];

	clock_format(wall, at);
	json_object_set_new(obj, key, wall ? json_string(at) : json_null());
}

static json_t *moves_json(const struct rollout_page *g)
{
	json_t *list = json_array();

	vec_each(&g->moves, const struct rollout_move, m) {
		json_t *o = json_object();

		put_moment(o, "at", m->at);
		json_put_str(o, "from", m->from);
		json_put_str(o, "event", m->event);
		json_put_str(o, "to", m->to);
		json_put_str(o, "why", m->why);
		json_put_str(o, "hint", m->hint);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *orders_json(const struct rollout_page *g)
{
	json_t *list = json_array();

	vec_each(&g->orders, const struct rollout_given, o) {
		json_t *one = json_object(), *bad = json_array();

		json_put_str(one, "run", o->run);
		json_put_str(one, "mode", o->mode);
		put_moment(one, "started", o->started);
		json_put_str(one, "state", result_name(o->result.state));
		json_put_str(one, "reason", o->result.reason);
		json_put_str(one, "hint", o->result.hint);
		json_put_int(one, "took_ms", o->result.took / CLOCK_MS);
		json_object_set_new(one, "counts", result_counts_json(&o->result.counts));
		vec_each(&g->events, const struct rollout_event, e)
			if (strcmp(e->run, o->run) == 0 && is_bad_record(e->record))
				json_array_append(bad, e->record);
		json_object_set_new(one, "failed", bad);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *evidence_json(const struct rollout_page *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->evidence.n; i++) {
		const struct evidence_row *e = &g->evidence.at[i];
		json_t *o = json_object(), *lines = json_array();
		struct str rest = str_of(g->telling[i]), line;

		json_put_str(o, "name", e->name);
		json_put_str(o, "path", e->path);
		put_moment(o, "at", e->at);
		json_put_str(o, "sha256", e->sha256);
		json_put_int(o, "bytes", (int64_t)e->bytes);
		while (str_line(&rest, &line))
			if (str_is_utf8(line))
				json_array_append_new(lines, json_stringn(line.p, line.n));
		json_object_set_new(o, "telling", lines);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *remedies_json(const struct rollout_page *g, struct arena *a)
{
	struct remedy all[REMEDIES_MAX];
	const size_t n = rollout_remedies(g, a, all);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_put_str(o, "part", text_get(LANG_EN, all[i].part));
		json_put_str(o, "command", all[i].command);
		json_put_str(o, "why", text_get(LANG_EN, all[i].why));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *rollout_page_json(const struct rollout_page *g, struct arena *a)
{
	const struct rollout_node_row *r = g->n->row;
	json_t *o = json_object();

	json_put_str(o, "run", g->p->run.id);
	json_put_str(o, "node", r->name);
	json_put_str(o, "state", r->state);
	put_moment(o, "since", r->since);
	json_put_str(o, "means", rollout_state_means(LANG_EN, g->p, g->n->state));
	json_put_str(o, "reason", r->reason);
	json_put_str(o, "hint", r->hint);
	json_put_str(o, "signature", r->signature);
	json_put_bool(o, "fenced_by_us", rollout_page_is_ours(g));
	json_put_bool(o, "fenced_before", rollout_page_is_foreign(g));
	json_object_set_new(o, "fence", g->fence ? json_deep_copy(g->fence) : json_null());
	json_put_str(o, "on_disk", text_get(LANG_EN, rollout_page_disk(g)));
	json_object_set_new(o, "moves", moves_json(g));
	json_object_set_new(o, "orders", orders_json(g));
	json_object_set_new(o, "evidence", evidence_json(g));
	json_object_set_new(o, "todo", remedies_json(g, a));
	return o;
}
