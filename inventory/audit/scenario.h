/*
 * scenario - what becomes of every current when something is lost. Pure.
 *
 * Power follows cords: a device shares its load evenly between its PSUs whose cord
 * leads to something alive. A loss touches only the devices below it and the
 * elements above those, so all single losses of a site cost a constant times its
 * cords. A breaker above its rating (a UPS above its power) is taken to trip: the
 * load moves on until nothing more trips. What is reported as a current is that of
 * the loss itself, before anything trips.
 */
#pragma once

#include "agent/base/vec.h"
#include "inventory/audit/demand.h"
#include "inventory/model/index.h"

/* Something of the model; noun NOUN_N: nothing, normal operation. */
struct audit_subject {
	enum model_noun noun;
	size_t row;
};

struct element_load {
	double watts;
	double amps;     /* of the worst line */
	double lines[3]; /* lines[0] alone with one phase */
	uint8_t line;    /* of the worst */
	bool hot_spare;  /* with one side of hot-spare PSUs carrying all */
	uint32_t loss;   /* the scenario, 0: normal operation */
};

struct device_fate {
	uint8_t state; /* enum psu_state at its worst */
	uint8_t alive; /* PSUs then */
	uint32_t loss;
};

/* The worst chain of trips for a rack. */
struct rack_cascade {
	uint32_t loss;
	unsigned devices; /* that go down by trips; 0: none */
	unsigned trips;
	uint32_t first; /* the first element that trips */
	double amps;    /* its current then; watts of a UPS */
};

/* What one pass over the losses found; arrays by element, device, rack. */
struct sim_result {
	struct element_load *normal;
	struct element_load *by_line, *by_watts; /* worst after a loss; by_watts: not of outlets */
	struct device_fate *below, *above;       /* of losses up to the feed; of panels and UPSs */
	struct rack_cascade *cascades;
};

struct sim;

struct sim *sim_new(struct arena *a, const struct graph *g, const struct policy *p,
	const struct demand *demands, enum audit_pass pass);
void sim_free(struct sim *s);
/* Loses what is given (n 0: nothing) as scenario number loss, which is not 0 unless n is. */
void sim_play(struct sim *s, const struct audit_subject *lost, size_t n, uint32_t loss);
const struct sim_result *sim_results(const struct sim *s);
/* The element of a feed, PDU, bank, panel, UPS or outlet; GRAPH_NONE for another noun. */
uint32_t sim_element(const struct graph *g, struct audit_subject what);
struct audit_subject sim_subject(const struct graph *g, uint32_t element);
