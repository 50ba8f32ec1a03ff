/*
 * cache - what checks share: each source is read once per run, however many steps ask.
 *
 * A text stays valid until step_cache_forget. After that the file's stat
 * decides: device, inode, size, mtime and ctime unchanged means that what was
 * read is still right.
 */
#pragma once

#include "agent/step/step.h"

struct dpkg;

#define CACHE_DPKG_MAX    (64u << 20)
#define CACHE_IDENT_MAX   (16u << 20)
#define CACHE_PROCESSES   (4u << 20)
#define CACHE_RPM_MAX     (8u << 20)
#define CACHE_DPKG_PATH   "/var/lib/dpkg/status"
#define CACHE_PASSWD_PATH "/etc/passwd"
#define CACHE_GROUP_PATH  "/etc/group"

enum cache_text {
	CACHE_DPKG,
	CACHE_PASSWD,
	CACHE_GROUP,
	CACHE_TEXTS
};

/* The text of one source, owned by the cache; E_NOTFOUND when the file is absent. */
int cache_get(const struct step_env *env, enum cache_text what, struct str *out, struct err *err);
/* The index of CACHE_DPKG, owned by the cache and valid as long as its text. */
int cache_dpkg(const struct step_env *env, const struct dpkg **out, struct err *err);
/* Every process's short name, each between newlines: "\ninit\nsshd\n". */
int cache_processes(const struct step_env *env, struct str *out, struct err *err);

/* A text that the caller makes itself, and what it was made from (paths and their stats). */
struct cache_made {
	struct buf text;
	char key[512];
	bool fresh; /* compared since the last forget */
};

/* What the last transaction changed, "name version" a line (package.c), for undo. */
struct buf *cache_packages_changed(const struct step_env *env);
/* The list of rpm's packages (rpm.c fills it). */
struct cache_made *cache_rpm(const struct step_env *env);
