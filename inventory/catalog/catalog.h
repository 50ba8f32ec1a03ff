/*
 * catalog - what is known about hardware, as data: GPUs, servers, switches, storage, PDUs ...
 *
 * A folder of YAML files (README.md here tells the format). Every field of an entry
 * has a confidence and sources, its own or its entry's; what is of low confidence or
 * only remembered is "assumed" wherever it is shown. Loading is all or nothing.
 */
#pragma once

#include "agent/base/err.h"
#include "inventory/model/model.h"

#define CATALOG_FAULTS_MAX 50

enum catalog_kind {
	CATALOG_GPU,
	CATALOG_SERVER,
	CATALOG_SWITCH,
	CATALOG_STORAGE,
	CATALOG_PDU,
	CATALOG_OPTIC,
	CATALOG_CONNECTOR,
	CATALOG_CIRCUIT,
	CATALOG_MODEL, /* of language, or a detector */
	CATALOG_NOTE,
	CATALOG_KINDS, /* in catalog_find: any */
};

enum catalog_value {
	VALUE_NUM,
	VALUE_COUNT, /* a whole number */
	VALUE_BOOL,
	VALUE_TEXT,
	VALUE_RANGE,  /* [low, high] */
	VALUE_LIST,   /* of texts */
	VALUE_COUNTS, /* a map of whole numbers */
};

/* A key that entries of a kind may have. */
struct catalog_key {
	const char *name; /* units in the name */
	enum catalog_value value;
	double min, max; /* of numbers; max 0: no limits */
	bool required;
};

struct catalog_source {
	const char *id, *title;
	const char *url, *read; /* NULL; read: how far it was read */
	bool memory;            /* somebody's memory, nothing that could be looked up */
	unsigned line;
};

#define CATALOG_SOURCES_MAX 8

struct catalog_field {
	const struct catalog_key *key;
	const char *text; /* as a person reads it, "5 .. 30"; NULL: stated as not known */
	double num, high; /* NaN when it is no number; high: of a range */
	enum confidence confidence;
	bool assumed; /* of low confidence, or only remembered */
	unsigned n_sources;
	const struct catalog_source *sources[CATALOG_SOURCES_MAX];
	const char *note, *date; /* NULL */
	unsigned line, col;
};

struct catalog_entry {
	enum catalog_kind kind;
	const char *id, *name, *maker, *note; /* maker and note NULL */
	enum confidence confidence;
	unsigned n_sources;
	const struct catalog_source *sources[CATALOG_SOURCES_MAX];
	const char *suspicious; /* what the importer found wrong, NULL */
	unsigned n_fields;
	struct catalog_field *fields;
	const char *file;
	unsigned line;
};

struct catalog {
	struct arena *arena;
	const char *path;
	struct vec(struct catalog_source *) sources; /* by id */
	struct vec(struct catalog_entry *) entries;  /* by kind, then by id in natural order */
};

/* Every fault of the files, the first CATALOG_FAULTS_MAX; vec_done is the caller's. */
struct catalog_faults vec(struct err);

/*
 * Loads folders of *.yaml and single files, a ':' list in which an empty part is the
 * catalogue beside the program (share/stoika/catalog, else the source tree's). NULL:
 * STOIKA_CATALOG, else that one. On failure err is the first fault, and faults (may be
 * NULL) has them all.
 */
int catalog_load(
	const char *path, struct catalog **out, struct catalog_faults *faults, struct err *err);
/* The same from one text, named for messages. */
int catalog_load_text(const char *name, struct str text, struct catalog **out,
	struct catalog_faults *faults, struct err *err);
void catalog_free(struct catalog *c); /* NULL is fine */

/* NULL when there is none. */
const struct catalog_entry *catalog_find(
	const struct catalog *c, enum catalog_kind kind, const char *id);
/* The same with an error that names the nearest id. */
int catalog_want(const struct catalog *c, enum catalog_kind kind, const char *id,
	const struct catalog_entry **out, struct err *err);
const struct catalog_field *catalog_field(const struct catalog_entry *e, const char *key);
double catalog_num(const struct catalog_entry *e, const char *key);       /* NaN: not stated */
unsigned catalog_count(const struct catalog_entry *e, const char *key);   /* 0: not stated */
const char *catalog_text(const struct catalog_entry *e, const char *key); /* NULL: not stated */

/* "gpu", "server" ... and the sections of the files, "gpus"; NULL-terminated. */
extern const char *const CATALOG_KIND_NAMES[], *const CATALOG_SECTIONS[];
/* The keys of a kind, in the order they are shown; the last has no name. */
const struct catalog_key *catalog_keys(enum catalog_kind kind);

struct catalog_notes vec(struct fact_note);
/*
 * A server, switch, storage or PDU entry as a device type, all its texts in a; other
 * kinds are E_CONFLICT. Each figure gets a note: noun NOUN_TYPE, row MODEL_NONE, field
 * as the site file calls it ("watts.max", "weight_kg"), origin ORIGIN_CATALOGUE or, when
 * it is assumed, ORIGIN_ASSUMED. A caller that overrides a field drops its note.
 */
int catalog_device_type(const struct catalog *c, const char *id, struct arena *a,
	struct device_type *out, struct catalog_notes *notes, struct err *err);
