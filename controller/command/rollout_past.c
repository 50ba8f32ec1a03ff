#include "controller/command/rollout_past.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/fleet/run_lock.h"
#include "inventory/report/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_MAX ((size_t)16 << 20)

static const struct {
	enum text_key word, means;
} STATES[] = {
	[STATE_ELIGIBLE] = {TEXT_RO_S_ELIGIBLE, TEXT_RO_M_ELIGIBLE},
	[STATE_PREFLIGHT] = {TEXT_RO_S_PREFLIGHT, TEXT_RO_M_PREFLIGHT},
	[STATE_STAGED] = {TEXT_RO_S_STAGED, TEXT_RO_M_STAGED},
	[STATE_CORDONED] = {TEXT_RO_S_CORDONED, TEXT_RO_M_CORDONED},
	[STATE_WAIT_JOBS] = {TEXT_RO_S_WAIT_JOBS, TEXT_RO_M_WAIT_JOBS},
	[STATE_DRAINED] = {TEXT_RO_S_DRAINED, TEXT_RO_M_DRAINED},
	[STATE_QUIESCED] = {TEXT_RO_S_QUIESCED, TEXT_RO_M_QUIESCED},
	[STATE_INSTALLED] = {TEXT_RO_S_INSTALLED, TEXT_RO_M_INSTALLED},
	[STATE_REBOOTING] = {TEXT_RO_S_REBOOTING, TEXT_RO_M_REBOOTING},
	[STATE_SERVICES] = {TEXT_RO_S_SERVICES, TEXT_RO_M_SERVICES},
	[STATE_VERIFY] = {TEXT_RO_S_VERIFY, TEXT_RO_M_VERIFY},
	[STATE_RETURNED] = {TEXT_RO_S_RETURNED, TEXT_RO_M_RETURNED},
	[STATE_SOAK] = {TEXT_RO_S_SOAK, TEXT_RO_M_SOAK},
	[STATE_DONE] = {TEXT_RO_S_DONE, TEXT_RO_M_DONE},
	[STATE_REJECTED] = {TEXT_RO_S_REJECTED, TEXT_RO_M_REJECTED},
	[STATE_RELEASED] = {TEXT_RO_S_RELEASED, TEXT_RO_M_RELEASED},
	[STATE_ROLLBACK] = {TEXT_RO_S_ROLLBACK, TEXT_RO_M_ROLLBACK},
	[STATE_UNDONE] = {TEXT_RO_S_UNDONE, TEXT_RO_M_UNDONE},
	[STATE_QUARANTINED] = {TEXT_RO_S_QUARANTINED, TEXT_RO_M_QUARANTINED},
	[STATE_UNREACHABLE] = {TEXT_RO_S_UNREACHABLE, TEXT_RO_M_UNREACHABLE},
	[STATE_ABORTED] = {TEXT_RO_S_ABORTED, TEXT_RO_M_ABORTED},
};
_Static_assert(sizeof STATES / sizeof *STATES == STATE_N, "words for each state");

enum node_state rollout_state_parse(const char *word)
{
	const int state = model_word(NODE_STATES, word);

	return state < 0 ? STATE_N : (enum node_state)state;
}

const char *rollout_state_word(enum text_lang lang, enum node_state state)
{
	return state < STATE_N ? text_get(lang, STATES[state].word) : "?";
}

const char *rollout_state_means(
	enum text_lang lang, const struct rollout_past *p, enum node_state state)
{
	if (rollout_past_left_out(p, state))
		return text_get(lang, TEXT_RO_M_LEFT_OUT);
	return state < STATE_N ? text_get(lang, STATES[state].means) : "?";
}

bool rollout_past_is_bad(enum node_state state)
{
	return node_is_terminal(state) && state != STATE_DONE && state != STATE_ABORTED;
}

bool rollout_past_left_out(const struct rollout_past *p, enum node_state state)
{
	return state == STATE_ELIGIBLE && rollout_past_is_over(p);
}

/* --- read --- */

/* What was frozen when it began; a policy that this program cannot read leaves the preset. */
static void read_order(struct arena *a, struct rollout_past *p)
{
	AUTO_JSON order = NULL;
	AUTO_BUF names = {0}, typed = {0};
	const json_t *recipes;
	size_t i;
	json_t *one;

	rollout_policy_preset(&p->policy);
	p->policy_name = "default";
	p->recipes = p->typed = p->run.recipes;
	buf_init(&names, 4096);
	buf_init(&typed, 65536);
	if (json_parse(str_of(p->row.order), ORDER_MAX, "order", &order, NULL) < 0)
		return;
	p->policy_name = arena_strdup(a, json_get_str(order, "policy_name", "default"));
	if (json_get_str(order, "policy", NULL))
		(void)rollout_policy_change(a, p->policy_name,
			str_of(json_get_str(order, "policy", "")), &p->policy, NULL);
	if (json_get_str(order, "flags", NULL))
		(void)rollout_policy_change(a, p->policy_name,
			str_of(json_get_str(order, "flags", "")), &p->policy, NULL);
	p->params = json_incref(json_object_get(order, "params"));
	recipes = json_get(order, "recipes");
	json_array_foreach(recipes, i, one)
	{
		const char *name = json_get_str(one, "name", "");
		const char *comma = names.n ? "," : "";

		if (!json_get_bool(one, "asked", true))
			continue;
		buf_addf(&names, "%s%s", comma, name);
		buf_addf(&typed, "%s%s", comma, json_get_str(one, "dir", name));
	}
	if (names.n == 0)
		return;
	p->recipes = arena_strdup(a, buf_text(&names));
	p->typed = arena_strdup(a, buf_text(&typed));
}

static int compare_nodes(const void *a, const void *b)
{
	const struct past_node *x = a, *y = b;

	return model_compare_names(x->row->name, y->row->name);
}

static int compare_ids(const void *key, const void *row)
{
	const int64_t id = *(const int64_t *)key;
	const struct rollout_node_row *r = row;

	return (id > r->node) - (id < r->node);
}

/* Where each node was, and since when, while the moves are played again. */
struct stay {
	enum node_state state;
	int64_t since;
};

static void end_stay(struct past_node *n, const struct stay *s, int64_t at)
{
	if (s->since > 0 && s->state < STATE_N && at > s->since)
		n->ns[s->state] += at - s->since;
}

static const struct rollout_node_row *row_of(const struct rollout_past *p, int64_t node)
{
	return bsearch(&node, p->rows.at, p->rows.n, sizeof *p->rows.at, compare_ids);
}

const char *rollout_past_name(const struct rollout_past *p, int64_t node)
{
	const struct rollout_node_row *r = row_of(p, node);

	return r ? r->name : "?";
}

/* nodes is still in the order of rows, by id. */
static void sum_times(struct rollout_past *p, const struct rollout_moves *moves)
{
	struct stay *stays = xcalloc(p->rows.n + 1, sizeof *stays);

	vec_each(moves, const struct rollout_move, m) {
		const struct rollout_node_row *row = row_of(p, m->node);
		const size_t i = row ? (size_t)(row - p->rows.at) : 0;

		if (!row)
			continue;
		end_stay(&p->nodes.at[i], &stays[i], m->at);
		stays[i] = (struct stay){rollout_state_parse(m->to), m->at};
	}
	for (size_t i = 0; i < p->rows.n; i++)
		if (!node_is_terminal(stays[i].state) && !p->run.ended)
			end_stay(&p->nodes.at[i], &stays[i], p->now);
	free(stays);
}

static int load_nodes(
	struct store *s, struct arena *a, bool times, struct rollout_past *p, struct err *err)
{
	struct rollout_moves moves = VEC_INIT;
	int rc = store_rollout_nodes(s, a, p->run.id, &p->rows, err);

	if (rc == 0 && times)
		rc = store_rollout_moves(s, a, p->run.id, 0, &moves, err);
	vec_each(&p->rows, const struct rollout_node_row, r) {
		const enum node_state state = rollout_state_parse(r->state);

		*vec_push(&p->nodes) = (struct past_node){.row = r, .state = state};
		p->counts[state]++;
		if (r == p->rows.at || r->stage < p->first_stage)
			p->first_stage = r->stage;
		p->last_stage = r->stage > p->last_stage ? r->stage : p->last_stage;
	}
	if (times)
		sum_times(p, &moves);
	vec_sort(&p->nodes, compare_nodes);
	vec_done(&moves);
	return rc;
}

int rollout_past_load(struct store *s, struct arena *a, const struct run_row *run, int64_t now,
	bool times, struct rollout_past *out, struct err *err)
{
	const char *asked;
	int rc;

	*out = (struct rollout_past){
		.run = *run, .now = now, .driven = run_lock_is_held(s, a, run->id)};
	rc = store_rollout_get(s, a, run->id, &out->row, err);
	if (rc == 0)
		rc = store_rollout_asked(s, a, run->id, &asked, &out->asked_by, err);
	if (rc < 0)
		return rc;
	read_order(a, out);
	return load_nodes(s, a, times, out, err);
}

unsigned rollout_past_stage(const struct rollout_past *p)
{
	if (p->row.stage < p->first_stage)
		return p->first_stage;
	return p->row.stage > p->last_stage ? p->last_stage : p->row.stage;
}

void rollout_past_done(struct rollout_past *p)
{
	vec_done(&p->nodes);
	vec_done(&p->rows);
	json_decref(p->params);
}

int rollout_past_param(
	const struct rollout_past *p, const char *name, struct buf *out, struct err *err)
{
	const size_t dot = str_find(str_of(name), '.');
	AUTO_STR recipe = xasprintf("%.*s", dot == STR_NONE ? 0 : (int)dot, name);
	const json_t *value =
		dot == STR_NONE ? NULL : json_get(json_get(p->params, recipe), name + dot + 1);

	if (!value) {
		err_set(err, E_NOTFOUND, "rollout '%s' was given no '%s'", p->run.id, name);
		return err_hint(
			err, "RECIPE.NAME; 'stoika --json run show %s' has all of them", p->run.id);
	}
	if (json_is_string(value))
		buf_add_text(out, json_string_value(value));
	else
		json_write(value, out);
	return 0;
}

static int no_node(const struct rollout_past *p, const char *name, struct err *err)
{
	const char **names = xcalloc(p->nodes.n + 1, sizeof *names);
	const char *near;

	for (size_t i = 0; i < p->nodes.n; i++)
		names[i] = p->nodes.at[i].row->name;
	near = err_nearest(name, names);
	err_set(err, E_NOTFOUND, "rollout '%s' has no node '%s'", p->run.id, name);
	if (near)
		err_hint(err, "did you mean '%s'?", near);
	else
		err_hint(err, "'stoika run show %s' names them", p->run.id);
	free(names);
	return -E_NOTFOUND;
}

int rollout_past_find(const struct rollout_past *p, const char *name, const struct past_node **out,
	struct err *err)
{
	vec_each(&p->nodes, const struct past_node, n)
		if (strcmp(n->row->name, name) == 0) {
			*out = n;
			return 0;
		}
	return no_node(p, name, err);
}

unsigned rollout_past_at_rest(const struct rollout_past *p)
{
	unsigned n = 0;

	for (unsigned s = 0; s < STATE_N; s++)
		n += node_is_terminal((enum node_state)s) ? p->counts[s] : 0;
	return n;
}

bool rollout_past_is_over(const struct rollout_past *p)
{
	return strcmp(p->run.state, "running") != 0 && strcmp(p->run.state, "interrupted") != 0;
}

/* --- words --- */

void rollout_add_stage(struct buf *out, enum text_lang lang, unsigned stage)
{
	char number[16];

	snprintf(number, sizeof number, "%u", stage);
	if (stage == 0)
		buf_add_text(out, text_get(lang, TEXT_RO_CANARIES));
	else
		text_add(out, lang, TEXT_RO_WAVE, number);
}

void rollout_add_state(struct buf *out, enum text_lang lang, const struct rollout_past *p)
{
	if (p->row.paused && !rollout_past_is_over(p))
		text_add(out, lang, TEXT_RO_PAUSED, p->row.reason);
	else
		buf_add_text(out, text_rollout_state(lang, p->run.state));
	if (!p->row.paused && *p->row.reason)
		buf_addf(out, " (%s)", p->row.reason);
}

void rollout_add_span(struct buf *out, enum text_lang lang, int64_t ns)
{
	char span[24];

	clock_format_span(ns > 0 ? ns : 0, span);
	if (lang == LANG_RU)
		number_add_arithmetic(out, lang, span);
	else
		buf_add_text(out, span);
}

void rollout_add_moment(struct buf *out, int64_t wall)
{
	char at[24];

	clock_format(wall, at);
	if (strlen(at) < 19)
		buf_add_text(out, at);
	else
		buf_addf(out, "%.5s %.8s", at + 5, at + 11);
}

void rollout_add_count(struct buf *out, enum text_lang lang, unsigned n, enum node_state state)
{
	if (lang == LANG_RU) /* its words do not go behind a number */
		buf_addf(out, "%s: %u", rollout_state_word(lang, state), n);
	else
		buf_addf(out, "%u %s", n, rollout_state_word(lang, state));
}

void rollout_add_counts(struct buf *out, enum text_lang lang, const unsigned counts[STATE_N + 1])
{
	const char *sep = "";

	for (unsigned s = 0; s <= STATE_N; s++) {
		if (counts[s] == 0)
			continue;
		buf_add_text(out, sep);
		rollout_add_count(out, lang, counts[s], (enum node_state)s);
		sep = ", ";
	}
}

void rollout_add_standing(struct buf *out, enum text_lang lang, const struct run_row *run,
	const struct rollout_row *row, const unsigned counts[STATE_N + 1], unsigned all)
{
	const bool open =
		strcmp(run->state, "running") == 0 || strcmp(run->state, "interrupted") == 0;
	char done[16], of[16];

	snprintf(done, sizeof done, "%u", counts[STATE_DONE]);
	snprintf(of, sizeof of, "%u", all);
	if (open && row->paused)
		buf_add_text(out, text_get(lang, TEXT_RO_IS_PAUSED));
	else
		buf_add_text(out, text_rollout_state(lang, run->state));
	buf_add_text(out, ", ");
	TEXT_FILL(out, lang, TEXT_RO_DONE_OF, done, of);
	for (unsigned s = 0; s < STATE_N; s++)
		if (counts[s] > 0 && (s > STATE_DONE || (s == STATE_ELIGIBLE && !open))) {
			buf_add_text(out, ", ");
			rollout_add_count(out, lang, counts[s], (enum node_state)s);
		}
}
