/*
 * netbox_priv - a NetBox dump between its tables and our tree.
 *
 * Nouns are NetBox's; rows refer to each other by name, by id when they came as JSON.
 * A device that has power outlets is a PDU here. peer tells what the cable of a
 * port, outlet, interface or feed leads to.
 */
#pragma once

#include "inventory/import/record.h"
#include "inventory/model/index.h"

enum nb_noun {
	NB_SITES,
	NB_LOCATIONS,
	NB_RACKS,
	NB_TYPES,
	NB_DEVICES,
	NB_PANELS,
	NB_FEEDS,
	NB_PORTS, /* power */
	NB_OUTLETS,
	NB_INTERFACES,
	NB_CABLES,
	NB_MACS,
	NB_N
};
extern const char *const NB_NOUNS[]; /* "sites", "power-feeds" ..., NULL-terminated */

struct nb_end {
	enum nb_noun noun; /* NB_N: nothing */
	size_t row;
	const struct yaml_node *cable;
};

/* A device type as some devices have it: their PSUs and draws are theirs in NetBox. */
struct nb_variant {
	size_t type, next;
	unsigned psus;
	double max, nameplate;
	bool assumed, child;
	const char *name;
};

struct nb_device {
	const struct yaml_node *row;
	const char *name; /* as the site file has it */
	bool pdu, child;
	size_t variant;
	size_t first[NB_N]; /* of its rows of a noun, in order; the rest by next */
};

struct netbox {
	struct sources *s;
	struct yaml_node *root; /* the tree in the making */
	struct records rows[NB_N];
	struct model_index *index;
	const char *site; /* as NetBox names it; NULL when rows name none */
	bool others;      /* rows of other sites were left out */
	/* what the mapping file states */
	const char *draws, *volts_are; /* "sum", "each"; "LL", "LN"; NULL */
	const char *const *node_roles;

	struct nb_device *devices; /* beside rows[NB_DEVICES] */
	size_t *owner[NB_N];       /* a component's device, MODEL_NONE */
	size_t *next[NB_N];        /* the next of the same device */
	struct nb_end *peer[NB_N];
	struct nb_end (*ends)[2]; /* of each cable, noun NB_N when it leads nowhere we know */
	struct vec(struct nb_variant) variants;
	size_t *first_variant; /* of a type */
};

/* The row of a noun by its name under an owner (0, or a device's row + 1), or by id. */
size_t nb_find(const struct netbox *n, enum nb_noun noun, size_t owner, const char *name);
size_t nb_find_id(const struct netbox *n, enum nb_noun noun, const char *id);
/* The device a row names, MODEL_NONE; with a fault when it must be there. */
size_t nb_device_of(struct netbox *n, const struct yaml_node *row, const char *key, bool must);
/* Text of a field of a row, by record_text. */
const char *nb_text(const struct netbox *n, enum nb_noun noun, size_t row, const char *key);
/* A new row of a section of the tree. */
struct yaml_node *nb_row(struct netbox *n, const char *section, const struct yaml_node *at);

#define NB_NO_PANEL "no panel" /* our export's word for a feed without one */

void nb_read_ends(struct netbox *n);     /* peers from the cables */
void nb_write_power(struct netbox *n);   /* panels, feeds, PDUs with outlets */
void nb_write_devices(struct netbox *n); /* types, devices with ports, cords and nodes */
void nb_write_cables(struct netbox *n);
/* "R1-A/3" of an outlet, NULL when its PDU was left out. */
const char *nb_outlet_path(struct netbox *n, size_t outlet);
/* The PDU that stands for a feed cabled straight to a device, made on first use; its outlet. */
const char *nb_feed_tap(struct netbox *n, size_t feed, const struct yaml_node *at);
/* What a PDU with that inlet is called: the device's name when it has one inlet only. */
const char *nb_pdu_name(struct netbox *n, size_t device, size_t inlet);
