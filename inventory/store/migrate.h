/*
 * migrate - brings a database file to the schema of this program; forward only.
 *
 * Each migration is one transaction together with its user_version, so a crash
 * leaves the version before or the version after. Before an existing database is
 * changed, a copy of it is made beside it: FILE.vN.backup, N the version it has.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

#define STORE_APPLICATION_ID 0x53746f69 /* "Stoi" */

struct migration {
	int version; /* 1, 2, ... without a gap */
	const char *name, *sql;
};

/* Those of sql/, in order. */
extern const struct migration MIGRATIONS[];
extern const size_t MIGRATIONS_N;

/*
 * Refuses what is no Stoika database (E_SCHEMA) and what a newer program made
 * (E_UNSUPPORTED). *version is what the file has; empty when it has no page yet.
 */
int migrate_look(
	sqlite3 *db, const char *path, size_t n, int *version, bool *empty, struct err *err);
/* Runs what is missing. Foreign keys must be off; they are checked before each commit. */
int migrate_run(
	sqlite3 *db, const char *path, const struct migration *m, size_t n, struct err *err);
