/* site - a model for tests in a few calls; names are literals or from the model's arena. */
#pragma once

#include "inventory/model/model.h"

static inline size_t site_rack(struct model *m, const char *name)
{
	*vec_push(&m->racks) = (struct rack){.name = name,
		.location = MODEL_NONE,
		.cooling_zone = MODEL_NONE,
		.height_u = 48,
		.depth_mm = MODEL_UNSET,
		.max_weight_kg = MODEL_UNSET};
	return m->racks.n - 1;
}

static inline size_t site_feed(
	struct model *m, const char *name, size_t rack, double volts, unsigned phases, double amps)
{
	*vec_push(&m->feeds) = (struct feed){.name = name,
		.panel = MODEL_NONE,
		.rack = rack,
		.volts = volts,
		.phases = phases,
		.amps = amps,
		.max_utilization = MODEL_UNSET};
	return m->feeds.n - 1;
}

static inline size_t site_pdu(struct model *m, const char *name, size_t rack, size_t feed)
{
	*vec_push(&m->pdus) =
		(struct pdu){.name = name, .rack = rack, .feed = feed, .amps = MODEL_UNSET};
	return m->pdus.n - 1;
}

static inline size_t site_bank(
	struct model *m, size_t pdu, unsigned number, double amps, enum phase phase)
{
	*vec_push(&m->banks) = (struct bank){.name = arena_printf(m->arena, "%u", number),
		.pdu = pdu,
		.number = number,
		.amps = amps,
		.phase = phase};
	return m->banks.n - 1;
}

static inline size_t site_outlet(
	struct model *m, size_t pdu, const char *type, unsigned bank, enum phase phase)
{
	*vec_push(&m->outlets) =
		(struct outlet){.name = arena_printf(m->arena, "%zu", m->outlets.n + 1),
			.pdu = pdu,
			.type = type,
			.bank = bank,
			.phase = phase};
	return m->outlets.n - 1;
}

static inline size_t site_type(struct model *m, const char *name, double max_w, unsigned height_u)
{
	*vec_push(&m->types) = (struct device_type){.name = name,
		.height_u = height_u,
		.full_depth = true,
		.depth_mm = MODEL_UNSET,
		.weight_kg = MODEL_UNSET,
		.watts = {MODEL_UNSET, max_w, MODEL_UNSET, MODEL_UNSET}};
	return m->types.n - 1;
}

static inline void site_psus(
	struct model *m, size_t type, unsigned psus, unsigned needed, unsigned min)
{
	m->types.at[type].psus = psus;
	m->types.at[type].psus_needed = needed;
	m->types.at[type].psus_min = min;
}

static inline size_t site_device(
	struct model *m, const char *name, size_t type, size_t rack, unsigned position)
{
	*vec_push(&m->devices) = (struct device){.name = name,
		.type = type,
		.rack = rack,
		.position = position,
		.watts_measured = MODEL_UNSET,
		.watts_cap = MODEL_UNSET};
	return m->devices.n - 1;
}

/* The next power port of the device, with a cord to the outlet. */
static inline void site_cord(struct model *m, size_t device, size_t outlet)
{
	*vec_push(&m->ports) =
		(struct port){.name = arena_printf(m->arena, "psu%zu", m->ports.n + 1),
			.device = device,
			.kind = PORT_POWER};
	*vec_push(&m->cords) = (struct cord){.port = m->ports.n - 1, .outlet = outlet};
}
