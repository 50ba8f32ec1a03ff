/*
 * opendcim_priv - openDCIM's tables between their files and our tree.
 *
 * Rows refer to each other by the number in their id column; 0, -1 and nothing are none.
 */
#pragma once

#include "inventory/import/record.h"
#include "inventory/model/index.h"

enum od_table {
	OD_CENTERS,
	OD_CABINETS,
	OD_PANELS,
	OD_PDUS,
	OD_PDU_TEMPLATES,
	OD_DEVICES,
	OD_TEMPLATES,
	OD_MAKERS,
	OD_POWER_PORTS,
	OD_CONNECTIONS,
	OD_PORTS,
	OD_CONFIG,
	OD_N
};
/* The rows of a table by the row of another that they name in a column, in order. */
struct od_chain {
	size_t *first, *next;
};

struct opendcim {
	struct sources *s;
	struct yaml_node *root;
	struct records rows[OD_N];
	struct model_index *index; /* by id */
	struct model_index *types; /* key of a type -> its name's row in names */
	struct model_names names;
	const char *const *node_roles;
	double kg;           /* of the installation's unit of weight; MODEL_UNSET: not known */
	double *child_watts; /* beside the devices: what their blades draw */
	bool *corded;
	struct od_chain *of_pdu,
		*of_device; /* rows of the tables of cords: power ports, connections */
};

/* The tables of cords, new and old. */
extern const enum od_table OD_CORDS[2];

size_t od_find(const struct opendcim *o, enum od_table t, const char *id);
const struct yaml_node *od_find_row(const struct opendcim *o, enum od_table t, const char *id);
const char *od_reference(struct opendcim *o, const struct yaml_node *row, const char *key);
/* More than zero, else MODEL_UNSET. */
double od_figure(struct opendcim *o, const struct yaml_node *row, const char *key);
bool od_is_flag(struct opendcim *o, const struct yaml_node *row, const char *key);
/* A new row of a section of the tree. */
struct yaml_node *od_row(struct opendcim *o, const char *section, const struct yaml_node *at);
void od_put_kg(struct opendcim *o, struct yaml_node *out, const char *key,
	const struct yaml_node *row, const char *column);
const char *od_rack_name(struct opendcim *o, const char *cabinet);
const char *od_pdu_label(struct opendcim *o, size_t pdu);

void od_enter_cords(struct opendcim *o); /* chains of cords by PDU and device */
void od_write_devices(struct opendcim *o);
void od_write_cables(struct opendcim *o);
