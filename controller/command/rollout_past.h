/*
 * rollout_past - a rollout as the store has it, for those who look from beside or afterwards; and
 * the words that its views share.
 */
#pragma once

#include "controller/rollout/policy.h"
#include "controller/rollout/stages.h"
#include "inventory/report/table.h"
#include "inventory/store/rollout.h"

struct past_node {
	const struct rollout_node_row *row;
	enum node_state state; /* STATE_N: a word of a newer program */
	int64_t ns[STATE_N];   /* how long it was in each; in the one at hand until now */
};

struct rollout_past {
	struct run_row run;
	struct rollout_row row;
	const char *asked_by;
	const char *policy_name, *recipes; /* as they were ordered */
	const char *typed;                 /* the recipes as one types them: folders have paths */
	json_t *params;                    /* {recipe: {name: value}}, NULL: none */
	struct rollout_policy policy;      /* the preset where it cannot be read */
	struct rollout_node_rows rows;
	struct vec(struct past_node) nodes; /* by name in natural order */
	unsigned counts[STATE_N + 1];
	unsigned first_stage, last_stage; /* those that have a node */
	int64_t now;                      /* wall ns at which it was read */
	bool driven;                      /* a process has its lock */
};

/*
 * E_NOTFOUND: the run is no rollout. Texts live in a. now: wall ns. times: how long nodes were in
 * their states is wanted; for that all moves are read.
 */
int rollout_past_load(struct store *s, struct arena *a, const struct run_row *run, int64_t now,
	bool times, struct rollout_past *out, struct err *err);
/* By the id of a node; "?" for one that is not of it. */
const char *rollout_past_name(const struct rollout_past *p, int64_t node);
void rollout_past_done(struct rollout_past *p);
/* E_NOTFOUND names the nearest. */
int rollout_past_find(const struct rollout_past *p, const char *name, const struct past_node **out,
	struct err *err);

/* What --set gave, "RECIPE.NAME": text as it was typed, else JSON. E_NOTFOUND. */
int rollout_past_param(
	const struct rollout_past *p, const char *name, struct buf *out, struct err *err);

/* Where it stands, among the stages that have nodes. */
unsigned rollout_past_stage(const struct rollout_past *p);
unsigned rollout_past_at_rest(const struct rollout_past *p);
/* It has an end: done, failed, cancelled. */
bool rollout_past_is_over(const struct rollout_past *p);
/* A person is needed: it failed, or was not changed though it should have been. */
bool rollout_past_is_bad(enum node_state state);
/* The rollout ended before its turn came. */
bool rollout_past_left_out(const struct rollout_past *p, enum node_state state);
enum node_state rollout_state_parse(const char *word);

/* "rebooting", "перезапуск". */
const char *rollout_state_word(enum text_lang lang, enum node_state state);
/* A sentence on what the state means for the node. */
const char *rollout_state_means(
	enum text_lang lang, const struct rollout_past *p, enum node_state state);
/* "canaries", "wave 2" */
void rollout_add_stage(struct buf *out, enum text_lang lang, unsigned stage);
/* "running", "paused: two failed alike", "failed" */
void rollout_add_state(struct buf *out, enum text_lang lang, const struct rollout_past *p);
/* "paused, 3 of 8 done, 1 quarantined": of a list's row; counts by state of all nodes. */
void rollout_add_standing(struct buf *out, enum text_lang lang, const struct run_row *run,
	const struct rollout_row *row, const unsigned counts[STATE_N + 1], unsigned all);
/* "12 min 3 s" */
void rollout_add_span(struct buf *out, enum text_lang lang, int64_t ns);
/* "11-30 22:45:10" */
void rollout_add_moment(struct buf *out, int64_t wall);
/* "3 done" */
void rollout_add_count(struct buf *out, enum text_lang lang, unsigned n, enum node_state state);
/* "3 done, 1 soak" of the states that have a node. */
void rollout_add_counts(struct buf *out, enum text_lang lang, const unsigned counts[STATE_N + 1]);

/* Views of the whole, and of a node that somebody has to see to. */
void rollout_show_text(
	const struct rollout_past *p, const struct report_opts *o, bool each, struct buf *out);
json_t *rollout_show_json(const struct rollout_past *p); /* new reference */
