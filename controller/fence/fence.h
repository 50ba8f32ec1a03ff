/*
 * fence - keeps a scheduler's jobs off a node, and gives the node back: Slurm, Kubernetes, a
 * command of the site's own, or nobody.
 *
 * Level, not edge: the caller says what it wants of each node and looks at what the scheduler last
 * said. So nothing is lost when a controller dies: whoever comes next says the same wants and sees
 * the same state. What is ours is told by a mark that the scheduler itself keeps (Slurm: the
 * reason "stoika:RUN ..."; Kubernetes: annotation and taint stoika/fence=RUN). A node that
 * somebody else holds is never touched, neither closed nor opened.
 *
 * One query looks at all nodes. Programs run in the background, one at a time, each with a
 * deadline: fence_tick never waits.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct fence;

enum fence_kind {
	FENCE_NONE,
	FENCE_SLURM,
	FENCE_KUBERNETES,
	FENCE_COMMAND, /* a program: argv + verb + node names; see the room's README */
	FENCE_KINDS
};

enum fence_jobs {   /* of what still runs at the deadline */
	FENCE_WAIT, /* give up: nothing is taken from anybody */
	FENCE_REQUEUE,
	FENCE_CANCEL,
	FENCE_JOBS_N
};
extern const char *const FENCE_KIND_NAMES[], *const FENCE_JOBS_NAMES[];

struct fence_opts {
	enum fence_kind kind;
	const char *mark;           /* the run's id */
	const char *const *command; /* FENCE_COMMAND: argv, NULL-terminated */
	const char *const *prefix;  /* put before scontrol, kubectl ... (ssh to a head node, a
				       container); NULL */
	const char *kubeconfig, *partition; /* NULL: their own default; partition: for probes */
	int64_t look_every;                 /* ns, 0: 2 s while something is awaited, 30 s else */
	int64_t program_timeout;            /* ns, 0: 30 s */
};

enum fence_state {
	FENCE_UNASKED, /* nothing was heard yet */
	FENCE_ABSENT,  /* the scheduler does not know the node; reason: a name that may be meant */
	FENCE_OPEN,    /* takes jobs, or has them */
	FENCE_CLOSING, /* takes none; some still run */
	FENCE_CLOSED,  /* takes none and has none */
	FENCE_DOWN,    /* the scheduler itself thinks it is down */
	FENCE_STATES
};
extern const char *const FENCE_STATE_NAMES[];

struct fence_view {
	enum fence_state state;
	bool ours;          /* closed, or restarted, by our mark */
	const char *reason; /* the scheduler's word, "" */
	const char *by;     /* who closed it, "" */
	unsigned jobs;
	bool rebooting; /* by the scheduler's own reboot */
	bool rebooted;  /* that one is over; until it is opened, or WANT_CLOSED is said again */
	int64_t at;     /* monotonic ns of the query's start, 0 never */
	const char *trouble; /* why what is wanted does not come about, ""; since trouble_since */
	int64_t trouble_since;
};

enum fence_want {
	WANT_NOTHING,
	WANT_CLOSED,
	WANT_OPEN,   /* only if it is ours */
	WANT_REBOOT, /* closed and restarted once, by the scheduler; DOWN afterwards until opened */
	FENCE_WANTS
};

/* names: as the scheduler calls the nodes; they, and what o points to, are borrowed for the fence's
   life. Names that a scheduler would read as a list or as all nodes are refused (E_SCHEMA). */
int fence_new(const struct fence_opts *o, const char *const *names, size_t n, struct fence **out,
	struct err *err);
void fence_free(struct fence *f); /* ends a program that runs */
/* why: words behind the mark, such as "driver 595: quarantined, a validator failed". Other words
   for a node that is ours and wanted closed are told to the scheduler too: not for what changes
   often. */
void fence_want(struct fence *f, size_t node, enum fence_want want, const char *why);
/*
 * The node is restarted now by somebody other than the scheduler. It is opened only once the
 * scheduler has heard of its daemon anew: a job that came before would be taken for lost with it
 * (Slurm: "unexpectedly rebooted", and requeues). memory: what fence_memory gave before it was
 * closed, of a driver that died meanwhile; NULL: what was seen last counts.
 */
void fence_restarts(struct fence *f, size_t node, const json_t *memory);
/* Ends or moves what runs on a node that is being closed; once a node. FENCE_WAIT does nothing. */
void fence_move_jobs(struct fence *f, size_t node, enum fence_jobs how);
/* Starts and reaps programs; call it every 100 ms or so. now: clock_mono. */
void fence_tick(struct fence *f, int64_t now);
/* Always there; texts live until the next tick. */
const struct fence_view *fence_look(const struct fence *f, size_t node);
/* Ours, without a job, and none comes: closed, or down after the scheduler restarted it for us. */
bool fence_is_closed(const struct fence_view *v);
/* Somebody else keeps it from its jobs: closed or down, and not by us. */
bool fence_is_foreign(const struct fence_view *v);
/* The scheduler does not answer: why, for people; NULL while it does. */
const char *fence_silent(const struct fence *f);
/* Whether its scheduler can restart nodes (Slurm with a RebootProgram). */
bool fence_can_reboot(const struct fence *f);
/* What the scheduler said of the node, to be kept durably before it is closed; a new reference. */
json_t *fence_memory(const struct fence *f, size_t node);

/* --- for tests and fuzzers: what the programs print --- */
/* `scontrol show node -o`: fills views of names that occur. */
int fence_read_slurm(struct fence *f, struct str text, int64_t at, struct err *err);
/* `kubectl get nodes -o json` and `kubectl get pods -A -o json`; either may be empty. */
int fence_read_kubernetes(
	struct fence *f, struct str nodes, struct str pods, int64_t at, struct err *err);
