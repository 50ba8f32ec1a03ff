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
	*vec_push(&m->zones) = (struct cooling_zone){
		.name = "row", .kind = "air", .capacity_w = 40000, .dew_point_c = nan_};
	*vec_push(&m->racks) = (struct rack){.name = "R1",
		.height_u = 42,
		.depth_mm = 1200,
		.max_weight_kg = 1000,
		.cooling.dew_point_c = nan_};
	*vec_push(&m->racks) = (struct rack){.name = "R2",
		.location = none,
		.height_u = 42,
		.depth_mm = nan_,
		.max_weight_kg = nan_,
		.cooling_zone = none,
		.cooling.dew_point_c = nan_};
	*vec_push(&m->panels) = (struct panel){.name = "P1"};
	*vec_push(&m->feeds) = (struct feed){
		.name = "A", .volts = 400, .phases = 3, .amps = 32, .max_utilization = 0.8};
	*vec_push(&m->feeds) = (struct feed){.name = "B",
		.panel = none,
		.volts = 230,
		.phases = 1,
		.amps = 16,
		.max_utilization = nan_};
	*vec_push(&m->pdus) = (struct pdu){.name = "PA", .amps = nan_};
	*vec_push(&m->pdus) = (struct pdu){.name = "PB", .feed = 1, .amps = 16};
	*vec_push(&m->outlets) = (struct outlet){.name = "1", .type = "C19", .bank = 1, .phase = 2};
	*vec_push(&m->outlets) = (struct outlet){.name = "1", .pdu = 1, .type = "C13"};
	*vec_push(&m->outlets) = (struct outlet){.name = "2", .pdu = 1};
	*vec_push(&m->types) = (struct device_type){.name = "box",
		.maker = "Acme",
		.height_u = 4,
		.full_depth = true,
		.depth_mm = 900,
		.weight_kg = 30,
		.watts = {4000, 2000, nan_, 1500},
		.watts_origin = ORIGIN_CATALOGUE,
		.watts_source = "sheet 1",
		.psus = 2,
		.psus_needed = 1,
		.gpus = 4,
		.gpu = "l40s"};
	*vec_push(&m->types) = (struct device_type){.name = "switch",
		.height_u = 1,
		.depth_mm = nan_,
		.weight_kg = nan_,
		.watts = {nan_, nan_, nan_, nan_},
		.watts_origin = ORIGIN_ASSUMED};
	*vec_push(&m->templates) =
		(struct port_template){.names = "eth[0-1]", .connector = "sfp28"};
	*vec_push(&m->templates) = (struct port_template){.type = 1, .names = "p1"};
	*vec_push(&m->devices) = (struct device){.name = "box1",
		.role = "gpu",
		.position = 1,
		.status = STATUS_ACTIVE,
		.serial = "S1",
		.watts_measured = 1400,
		.watts_cap = nan_};
	*vec_push(&m->devices) = (struct device){.name = "sw",
		.type = 1,
		.rack = none,
		.face = FACE_REAR,
		.watts_measured = nan_,
		.watts_cap = 500};
	*vec_push(&m->ports) = (struct port){.name = "eth0", .type = "sfp28"};
	*vec_push(&m->ports) =
		(struct port){.name = "eth1", .type = "sfp28", .mac = "02:00:00:00:00:01"};
	*vec_push(&m->ports) = (struct port){.name = "psu1", .kind = PORT_POWER};
	*vec_push(&m->ports) = (struct port){.name = "psu2", .kind = PORT_POWER};
	*vec_push(&m->ports) = (struct port){.name = "p1", .device = 1};
	*vec_push(&m->cords) = (struct cord){.port = 2, .outlet = 0};
	*vec_push(&m->cords) = (struct cord){.port = 3, .outlet = 1};
	*vec_push(&m->cables) =
		(struct cable){.a = 0, .b = 4, .type = "dac", .label = "L-1", .length_m = 2.5};
	*vec_push(&m->nodes) = (struct node){.name = "box1",
		.address = "10.0.0.1",
		.role = "gpu",
		.port = 22,
		.vars = "{\"a\":1}"};
	*vec_push(&m->nodes) = (struct node){.name = "bare10",
		.device = none,
		.address = "10.0.0.3",
		.user = "admin",
		.port = 2222,
		.host_key = "ssh-ed25519 AAAA",
		.vars = "{}"};
	*vec_push(&m->nodes) = (struct node){
		.name = "bare2", .device = none, .address = "10.0.0.2", .port = 22, .vars = "{}"};
	return m;
}
