/*
 * step - what every kind of step can do: check, and apply.
 *
 * check reads and decides: same, differs (with a diff), or unknown (with why).
 * It changes nothing and, where the state can be read directly, starts no
 * program. apply makes it so; the executor then checks again, and a step that
 * still differs has failed. Arguments come evaluated and typed (a JSON object
 * after agent/recipe/kind.h, presets filled in).
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "agent/recipe/recipe.h"

struct bundle;
struct err;
struct step_cache; /* what was read once per run: package database, users, processes; see cache.h */

enum step_state {
	STEP_SAME,
	STEP_DIFFERS,
	STEP_UNKNOWN
};

struct step_env {
	int root;              /* directory descriptor of the root that is changed */
	const char *root_path; /* its path; "/" on a real node. Programs are run in it by chroot
				  when it is not */
	const struct bundle *bundle;
	const char *recipe;        /* prefix of source paths in the bundle */
	const struct scope *scope; /* for templates and guards */
	const struct step *step;   /* for PARAM_EXPR arguments and places */
	struct step_cache *cache;
	bool dry; /* a plan: apply will not be called */
	int keep; /* directory descriptor for what is kept for undo (keep.h); -1: nothing is kept */
	const char *boot_id; /* of this boot; NULL: not known */
	bool rebooted; /* this step asked for a reboot (report.reboot), and the boot id is another
			  one since its intent was written */
};

/* The caller clears it before each check and each apply, which only add. */
struct step_report {
	enum step_state state;
	struct buf diff; /* unified diff or lines such as "mode 0600 -> 0644"; cap 64 KiB, then
			    marked */
	char why[240];   /* unknown: the reason; differs: a few words, "3 packages to install" */
	bool denied;     /* refused by policy rather than failed */
	bool always;     /* check: differs by nature (no guard, restarted, reloaded); the executor
			    must not check again after apply */
	bool reboot;     /* apply: restart the node now and go on after it with a check of this
			    step, env.rebooted set; reboot.h starts it. undo: restart it once all
			    else is taken back */
	bool tell; /* why is for the run's record even when nothing differs (note, warnings) */
};

void step_report_init(struct step_report *r);
void step_report_clear(struct step_report *r);
void step_report_done(struct step_report *r);

/*
 * One signature for all kinds. check decides, apply acts, and the executor checks again.
 *
 * before and undo: what before gives is kept durably on the node ahead of the first apply (in the
 * intent's record) and handed to undo together with what before gave after the last apply, so that
 * undo can tell its own doing from somebody else's. undo brings the first state back; a state that
 * is neither is E_CONFLICT and stays. undo of what is undone already is 0. Both see the arguments
 * as they were when applied, secrets as null.
 */
struct step_ops {
	const char *kind;
	int (*check)(
		struct step_env *env, const json_t *args, struct step_report *rep, struct err *err);
	int (*apply)(
		struct step_env *env, const json_t *args, struct step_report *rep, struct err *err);
	/* For batched kinds: several argument sets in one transaction; then apply is NULL. */
	int (*apply_all)(struct step_env *env, const json_t *const *args, unsigned n,
		struct step_report *rep, struct err *err);
	/* Fetches and verifies what an apply of these argument sets (of one transaction for batched
	   kinds, else one) would need, so that it needs no network and no time for that; changes
	   nothing else. rep.why: what is here now. NULL: nothing can be fetched ahead. */
	int (*stage)(struct step_env *env, const json_t *const *args, unsigned n,
		struct step_report *rep, struct err *err);
	/* *out: a new reference, NULL when there is nothing to bring back. */
	int (*before)(struct step_env *env, const json_t *args, json_t **out, struct err *err);
	/* before and after may be NULL. A kind without undo cannot be taken back and says so. */
	int (*undo)(struct step_env *env, const json_t *args, const json_t *before,
		const json_t *after, struct step_report *rep, struct err *err);
};

/* NULL if this agent does not know the kind. */
const struct step_ops *step_find(const char *kind);

/* Answers exists, contains, running, version, port_open, http_ok for a scope (ctx is a step_env).
 */
int step_probe(void *ctx, const char *name, const json_t *args, struct value *out, struct err *err);

/*
 * Kept over a run (or many: what is kept is compared with the file's stat after
 * each forget). Pointers into it, such as STEP_UNKNOWN's, never leave a check.
 */
struct step_cache *step_cache_new(void);
void step_cache_free(struct step_cache *c);
void step_cache_forget(struct step_cache *c); /* after something was applied, and before a run */
