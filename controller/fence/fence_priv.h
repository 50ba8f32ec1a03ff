/*
 * fence_priv - what fence.c, fence_text.c and the kinds of schedulers share: nodes with what is
 * wanted and known of them, and the table of what a scheduler's programs are called and print.
 */
#pragma once

#include "agent/base/vec.h"
#include "controller/fence/fence.h"
#include "controller/fence/program.h"

#include <limits.h>

#define FENCE_MARK "stoika:" /* in front of the run's id, in what a scheduler keeps for us */
#define WHY_MAX    200       /* bytes of it that a scheduler is told */
#define WORD_MAX   256       /* bytes of a reason, a name, a trouble that are kept */
#define JOBS_MAX   100000    /* of all nodes that are being closed */
#define NAME_LONG  253

enum fence_act {
	ACT_NONE,
	ACT_ABOUT, /* once: what the scheduler can do */
	ACT_LOOK,
	ACT_JOBS, /* what runs on nodes that are being closed */
	ACT_WHY,  /* more about a refusal */
	ACT_CLOSE,
	ACT_OPEN,
	ACT_REBOOT,
	ACT_STAY, /* a restart that was asked for and has not begun is called off */
	ACT_MOVE, /* what runs is ended or moved */
	ACTS
};

#define DAEMON_MAX 40

struct fence_node {
	const char *name;
	struct fence_view view; /* its texts are those below */
	char reason[WORD_MAX], by[WORD_MAX], trouble[WORD_MAX + WORD_MAX];
	enum fence_want want;
	enum fence_jobs move;
	char why[WHY_MAX], asked[WHY_MAX], told[WHY_MAX]; /* now, in the command at hand, before */
	int64_t acted;    /* since when the view must be for another act; 0 */
	int64_t retry_at; /* no act before, after one that failed */
	unsigned failures;
	unsigned movable, reserved; /* of its jobs: could be moved; are in a reservation */
	int64_t counted;            /* when its pods were, 0 */
	bool alone;                 /* a command for many was refused: it gets its own */
	bool seen;                  /* in the look at hand */
	bool opened;                /* by us, and not back yet */
	bool reopened;              /* somebody opened what we had closed */
	bool was_ours;
	bool busy;     /* closed, but jobs are to be counted */
	bool may_stay; /* its restart can still be called off */
	bool must_not; /* not ours to change: refused says why */
	char refused[WORD_MAX];
	bool ask_why; /* a budget of the namespace space holds a pod: guarded says which */
	char space[64], guarded[WORD_MAX];
	json_t *before;      /* what is kept of the scheduler's own record; NULL */
	char near[WORD_MAX]; /* a name that the scheduler has and that may be meant, "" */
	char said[128];      /* or its own words for the state, "" */
	/* when its daemon began, in the scheduler's words; of the one that must be gone, "" */
	char daemon[DAEMON_MAX], gone[DAEMON_MAX];
};

struct fence_job {
	char id[64];
	size_t node;  /* of our nodes */
	bool foreign; /* in a reservation, or ending by itself: left alone */
};

struct words vec(const char *);

struct fence_ops {
	const char *name;
	size_t batch[ACTS]; /* nodes in one command; 0: there is no such act */
	/* Appends the argv for f->batch; texts in f->scratch. */
	void (*argv)(struct fence *f, enum fence_act act, struct words *out);
	/* What ACT_ABOUT, ACT_LOOK or ACT_JOBS printed. */
	int (*read)(
		struct fence *f, enum fence_act act, struct str text, int64_t at, struct err *err);
	/* Better words for what a refused act printed; false: it is no trouble, only to be looked
	   at again. NULL: its last lines are told. */
	bool (*explain)(struct fence *f, struct fence_node *n, struct str text, struct buf *words);
};
extern const struct fence_ops FENCE_SLURM_OPS, FENCE_KUBERNETES_OPS, FENCE_COMMAND_OPS;

struct fence {
	struct fence_opts opts;
	const struct fence_ops *ops; /* NULL: FENCE_NONE */
	struct fence_node *nodes;
	size_t n;
	size_t *by_name; /* indexes of nodes, sorted by name */
	struct program program;
	enum fence_act act; /* of the program that runs */
	const char *called; /* its name, in scratch or static */
	size_t *batch, n_batch;
	struct arena *scratch, *life; /* of the program that runs; of the fence */
	struct words env;
	int64_t started, look_at, asked_jobs;
	size_t look_from; /* a look is in parts where the program takes so many names only */
	bool knows_about, can_reboot, heard, hurried;
	int64_t seen_at; /* when the last whole look ended, 0 */
	size_t cursor;
	struct vec(struct fence_job) jobs;
	char silent[WORD_MAX + WORD_MAX];
};

/* The node of that name, or NULL. */
struct fence_node *fence_find(struct fence *f, struct str name);
void fence_push(struct words *w, const char *word);
/* "a,b,c" of the batch, in scratch. */
const char *fence_names(struct fence *f, char sep);
/* Its old daemon is gone, and the scheduler has heard of the new one. */
bool fence_is_heard_anew(const struct fence_node *n);
/* Whether a scheduler's text is our mark, with an end behind it. */
bool fence_is_mark(const struct fence *f, struct str text);
/* Copies at most size - 1 bytes, whole characters, what a terminal must not see as '?'. */
void fence_keep(char *to, size_t size, struct str text);
void fence_trouble(struct fence_node *n, int64_t now, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
