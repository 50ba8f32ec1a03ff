/* trial_priv - a case in the works: what trial.c lays and runs, and judge.c judges. */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/run/bundle.h"
#include "agent/run/run.h"
#include "agent/trial/trial.h"

#define TRIAL_PATH_ROOM 1024

struct trial {
	const struct trial_opts *opts;
	const char *dir, *name;
	char work[64], root[80], state[80], recipes[80];
	struct arena *arena;
	json_t *doc, *events, *before;
	struct bundle *bundle;
	struct run_outcome out;
	struct buf calls, told; /* told: a line for each thing that is not as written */
	unsigned failures, runs;
};

void trial_complain(struct trial *c, const char *stage, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What a run came to, against what the case says of it. */
void trial_judge(struct trial *c, const char *stage, const json_t *want);
void trial_judge_tree(struct trial *c, const char *stage, json_t *want);
/* before/ with what after/ says; of a new path only kind and bytes are told. New reference. */
json_t *trial_wanted_after(struct trial *c);
