/*
 * packager - what a change of packages asks of apt or of dnf, and the change itself.
 *
 * A transaction is simulated first and judged: what nobody asked for is not
 * removed, nothing goes back to an older version unless that was said, and the
 * administrator's holds stay. Our own holds are lifted and put back. What is
 * being changed is noted in PACKAGES_MARK meanwhile, so that the next run can
 * tell our own interrupted transaction from somebody else's broken database.
 */
#pragma once

#include "agent/base/vec.h"
#include "agent/step/dpkg.h"
#include "agent/step/holds.h"
#include "agent/step/step.h"

#define PACKAGES_MARK     "/var/lib/stoika-agent/packages-changing"
#define PACKAGER_FREE_MIN (UINT64_C(64) << 20)
#define PACKAGER_BOOT_MIN (UINT64_C(160) << 20) /* a kernel and its initramfs, built anew */

struct names vec(const char *);

enum package_wish {
	PACKAGE_PRESENT,
	PACKAGE_LATEST,
	PACKAGE_ABSENT,
	PACKAGE_AS_IS /* only its hold is of interest */
};

enum package_hold {
	HOLD_AS_IS,
	HOLD_ON,
	HOLD_OFF
};

struct package_state {
	bool known, installed, broken, held;
	bool rest; /* removed, its configuration is still there */
	struct str version;
	struct str detail; /* broken: "half-configured" */
};

struct package_item {
	struct dpkg_spec spec; /* texts of the transaction's arena or its arguments */
	const char *text;      /* as the recipe has it, with its version */
	enum package_wish wish;
	enum package_hold hold;
	bool purge;
};

struct package_items vec(struct package_item);

struct transaction {
	struct arena *arena;
	struct package_items items;
	struct names allow_remove; /* names, '*' and '?' stand for any */
	bool downgrade, override_holds;
	bool mends;       /* an undo: what is half-way and among the items is no obstacle */
	bool ignore_hold; /* the simulation found no way but past a hold */
	int64_t wait;     /* seconds for a lock */
};

/* One line of a simulation. */
struct planned {
	const char *name, *from, *to; /* NULL: was, or will be, not installed */
};

struct plan vec(struct planned);

struct packager {
	const char *name;
	bool (*is_here)(const struct step_env *env);
	bool (*parse)(struct str text, struct dpkg_spec *out);
	int (*find)(const struct step_env *env, const struct dpkg_spec *spec,
		struct package_state *out, struct err *err);
	int (*compare)(struct str a, struct str b);
	/* Is the installed version the one that was asked for? */
	bool (*fits)(struct str installed, struct str wanted);
	/* All that is installed, "name[:arch] version [hold]" a line, sorted; for undo. */
	int (*list)(const struct step_env *env, struct buf *out, struct err *err);
	/* Names left half-way, "name (state)" each. */
	int (*broken)(
		const struct step_env *env, struct arena *a, struct names *out, struct err *err);
	/* More about them for the report: a module's log and its kernel. */
	void (*tell)(
		const struct step_env *env, const struct names *broken, struct step_report *rep);
	/* all: everything that is half-way; else what names say. */
	int (*repair)(
		const struct step_env *env, const struct names *names, bool all, struct err *err);
	/* Which of the named ones would be upgraded, a line each. */
	int (*latest)(
		const struct step_env *env, const json_t *names, struct buf *out, struct err *err);
	bool (*has_lists)(const struct step_env *env);
	/* The tools are there, nobody else is at work, a little space is left. */
	int (*ready)(const struct step_env *env, int64_t wait, struct err *err);
	int (*simulate)(const struct step_env *env, struct transaction *t, struct plan *out,
		struct err *err);
	int (*space)(const struct step_env *env, const struct plan *plan, struct err *err);
	/* Brings what the change needs into the package manager's own cache, digests verified.
	 *stale: it failed because the lists are older than what the mirror has. */
	int (*fetch)(
		const struct step_env *env, struct transaction *t, bool *stale, struct err *err);
	int (*refresh)(const struct step_env *env, struct err *err); /* the lists */
	int (*commit)(const struct step_env *env, struct transaction *t, struct err *err);
	int (*set_holds)(
		const struct step_env *env, const struct names *names, bool held, struct err *err);
};

extern const struct packager PACKAGER_APT, PACKAGER_DNF;

/* By what the root has; NULL with E_UNSUPPORTED when it has neither. */
const struct packager *packager_find(const struct step_env *env, struct err *err);

void transaction_init(struct transaction *t);
void transaction_done(struct transaction *t);
/* Applies the items; their holds too. */
int transaction_run(const struct step_env *env, const struct packager *p, struct transaction *t,
	struct step_report *rep, struct err *err);
/* Judges the change as transaction_run does and fetches what it needs; no package, hold or mark is
 * touched. *n: how many packages it would install. */
int transaction_stage(const struct step_env *env, const struct packager *p, struct transaction *t,
	unsigned *n, struct step_report *rep, struct err *err);
/* E_STATE naming what is half-way, unless it was left so by our own transaction (then *ours). */
int transaction_check_sound(const struct step_env *env, const struct packager *p, bool *ours,
	struct step_report *rep, struct err *err);
/* E_NOSPACE when less than need bytes, or no inode, is free where path lives. */
int packager_need_space(
	const struct step_env *env, const char *path, uint64_t need, struct err *err);
/* True when name stands in patterns; '*' and '?' are wild. */
bool names_match(const struct names *patterns, const char *name);
/* "name" without ":arch" as a view. */
struct str package_base_name(const char *name);
