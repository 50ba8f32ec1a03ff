/* sample - a small model with a row of every noun, and its comparison. */
#pragma once

#include "inventory/model/model.h"

static inline struct model *sample_model(void)
{
	struct model *m = model_new();
	const size_t none = MODEL_NONE;
	const double nan_ = MODEL_UNSET;

	m->site = "lab";
	m->about = "two boxes and a switch";
	vec_push(&m->locations)->name = "hall";
	*vec_push(&m->zones) = (struct cooling_zone){"row", "air", 40000, 0};
	*vec_push(&m->racks) = (struct rack){"R1", 0, 42, 1200, 1000, 0, 0};
	*vec_push(&m->racks) = (struct rack){"R2", none, 42, nan_, nan_, none, 0};
	*vec_push(&m->panels) = (struct panel){"P1", 0, 0};
	*vec_push(&m->feeds) = (struct feed){"A", 0, 0, 400, 3, 32, 0.8, 0};
	*vec_push(&m->feeds) = (struct feed){"B", none, 0, 230, 1, 16, nan_, 0};
	*vec_push(&m->pdus) = (struct pdu){"PA", 0, 0, nan_, 0};
	*vec_push(&m->pdus) = (struct pdu){"PB", 0, 1, 16, 0};
	*vec_push(&m->outlets) = (struct outlet){"1", 0, "C19", 1, 2, 0};
	*vec_push(&m->outlets) = (struct outlet){"1", 1, "C13", 0, 0, 0};
	*vec_push(&m->outlets) = (struct outlet){"2", 1, NULL, 0, 0, 0};
	*vec_push(&m->types) = (struct device_type){"box", "Acme", 4, true, 900, 30,
		{4000, 2000, nan_, 1500}, ORIGIN_CATALOGUE, "sheet 1", 2, 1, 4, "l40s", 0};
	*vec_push(&m->types) = (struct device_type){"switch", NULL, 1, false, nan_, nan_,
		{nan_, nan_, nan_, nan_}, ORIGIN_ASSUMED, NULL, 0, 0, 0, NULL, 0};
	*vec_push(&m->templates) = (struct port_template){0, PORT_ETHERNET, "eth[0-1]", "sfp28", 0};
	*vec_push(&m->templates) = (struct port_template){1, PORT_ETHERNET, "p1", NULL, 0};
	*vec_push(&m->devices) = (struct device){
		"box1", "gpu", 0, 0, 1, FACE_FRONT, STATUS_ACTIVE, "S1", 1400, nan_, 0};
	*vec_push(&m->devices) = (struct device){
		"sw", NULL, 1, none, 0, FACE_REAR, STATUS_PLANNED, NULL, nan_, 500, 0};
	*vec_push(&m->ports) = (struct port){"eth0", 0, PORT_ETHERNET, "sfp28", NULL, 0};
	*vec_push(&m->ports) =
		(struct port){"eth1", 0, PORT_ETHERNET, "sfp28", "02:00:00:00:00:01", 0};
	*vec_push(&m->ports) = (struct port){"psu1", 0, PORT_POWER, NULL, NULL, 0};
	*vec_push(&m->ports) = (struct port){"psu2", 0, PORT_POWER, NULL, NULL, 0};
	*vec_push(&m->ports) = (struct port){"p1", 1, PORT_ETHERNET, NULL, NULL, 0};
	*vec_push(&m->cords) = (struct cord){2, 0, 0};
	*vec_push(&m->cords) = (struct cord){3, 1, 0};
	*vec_push(&m->cables) = (struct cable){0, 4, "dac", "L-1", 2.5, 0};
	*vec_push(&m->nodes) =
		(struct node){"box1", 0, "10.0.0.1", NULL, "gpu", 22, NULL, "{\"a\":1}", 0};
	*vec_push(&m->nodes) = (struct node){
		"bare10", none, "10.0.0.3", "admin", NULL, 2222, "ssh-ed25519 AAAA", "{}", 0};
	*vec_push(&m->nodes) =
		(struct node){"bare2", none, "10.0.0.2", NULL, NULL, 22, NULL, "{}", 0};
	return m;
}
