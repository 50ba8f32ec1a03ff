/*
 * import_priv - what the readers of the sections share.
 *
 * A row is read by a table of fields. Every fault is added to the list and the
 * reading goes on; a fault at a field is remembered, so that the model's checks
 * do not report the same field once more.
 */
#pragma once

#include "agent/base/yaml.h"
#include "inventory/catalog/catalog.h"
#include "inventory/import/import.h"
#include "inventory/model/check.h"
#include "inventory/model/field.h"

#define IMPORT_ROWS_MAX 1000000 /* of ports and of outlets; ranges must not eat the memory */

struct fault {
	const struct yaml_node *map, *at; /* at: the field's value, NULL when it is missing */
	const char *field;
};

struct importer {
	const struct yaml_doc *doc;
	struct model *m;
	struct model_index *index;
	struct err_list *errors;
	struct catalog *catalog; /* loaded when a type first asks for it */
	bool no_catalog;         /* that failed, and was said */
	struct vec(struct fault) faults;
	struct vec(const struct yaml_node *) torn; /* types and PDUs with faults inside */
	/* the ports of all types, expanded once; a type's begin at type_first[its row] */
	struct vec(struct port) type_ports;
	struct vec(size_t) type_first;
	struct places vec(const struct yaml_node *) places[NOUN_N]; /* beside the model's rows */
};

/* False, with a fault at place, when a noun that ranges multiply has too many rows. */
bool import_room_left(struct importer *im, size_t rows, const struct yaml_node *place);

#define FIELDS(table) ((struct model_fields){(table), sizeof(table) / sizeof *(table)})

/* Adds a fault; the place is the field's value, its key's map when it is missing, or the map. */
void import_fault(struct importer *im, const struct yaml_node *map, const char *field, enum ec code,
	const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* A fault at any node. */
void import_fault_at(struct importer *im, const struct yaml_node *at, enum ec code,
	const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool import_is_faulty(const struct importer *im, const struct yaml_node *map, const char *field);

/* A type or PDU in which something was at fault: what its ports and outlets lack is not said. */
void import_tear(struct importer *im, const struct yaml_node *node);
bool import_is_torn(const struct importer *im, enum model_noun noun, size_t row);

/*
 * Reads the fields into row, which has its defaults. extra: keys that the caller
 * reads itself, NULL-terminated. noun names the row in messages. False when node is
 * not a map. FIELD_SUPPLY is left for import_supplies, 'facts' for import_facts.
 */
bool import_row(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	struct model_fields fields, const char *const *extra, void *row);
/* One field of a map that is there; key: how the map calls it. */
void import_field(struct importer *im, const struct model_field *f, const char *key,
	const struct yaml_node *map, const struct yaml_node *value, void *row);
/* Values of FIELD_VARS and FIELD_NAMES; what is wrong inside is told at its own place. */
void import_vars(
	struct importer *im, const struct yaml_node *value, const char *what, const char **to);
void import_names(
	struct importer *im, const struct yaml_node *value, const char *what, const char **to);
/* The value at "cooling.rdhx.curve", NULL when there is none. */
const struct yaml_node *import_at(const struct yaml_node *map, const char *path);
/*
 * A row of a noun that has a table: pushed, read, entered by its name, its line and its
 * facts kept. False when it was none, then nothing is pushed. owner: 0 for the site.
 */
bool import_new_row(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	size_t owner, const char *const *extra);
/* What the map 'facts' of a row says of its figures' origins. */
void import_facts(
	struct importer *im, const struct yaml_node *node, enum model_noun noun, size_t row);
/* What panels, UPSs, feeds and PDUs hang on; when all of them are there. */
void import_supplies(struct importer *im);
/* The list under key, NULL with a fault when it is something else; absent or empty is NULL too. */
const struct yaml_node *import_list(
	struct importer *im, const struct yaml_node *map, const char *key);
const struct yaml_node *import_map(
	struct importer *im, const struct yaml_node *map, const char *key);
bool import_name_ok(struct importer *im, const struct yaml_node *node, const char *what);
/* The row of a name, MODEL_NONE with a fault that names the nearest. */
size_t import_find(struct importer *im, const struct yaml_node *node, enum model_noun noun,
	size_t owner, struct str name);
/* A word of a list, -1 with a fault. */
int import_word(struct importer *im, const struct yaml_node *node, const char *what,
	const char *const *words);
char *import_text(struct importer *im, const struct yaml_node *node);
/* Enters a new row: its place, its name in the index. */
void import_enter(struct importer *im, enum model_noun noun, size_t owner, const char *name,
	size_t row, const struct yaml_node *place);
/* "ib[0-7]" as names; false with a fault. names is done by the caller. */
bool import_range(struct importer *im, const struct yaml_node *node, struct model_names *names);

/* The sections, in the order they are read: each may refer to those before it. */
void import_rooms(struct importer *im, const struct yaml_node *root); /* locations .. racks */
void import_power(struct importer *im, const struct yaml_node *root); /* feeds .. outlets */
void import_reservations(struct importer *im, const struct yaml_node *root);
void import_types(struct importer *im, const struct yaml_node *root); /* types and their ports */
void import_roles(struct importer *im, const struct yaml_node *root);
void import_devices(struct importer *im, const struct yaml_node *root); /* and ports, cords */
void import_cables(struct importer *im, const struct yaml_node *root);
void import_nodes(struct importer *im, const struct yaml_node *root); /* inside devices, and bare */
