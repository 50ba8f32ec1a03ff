/*
 * audit_priv - what the rules share: the site as the engine sees it, and how to say a finding.
 *
 * A rule looks at the rack r->rack (MODEL_NONE: at the site). It offers each of its
 * subjects with verdict and nearness to the limit, then lists them: all that are no
 * PASS, else the nearest one.
 */
#pragma once

#include "inventory/audit/audit.h"
#include "inventory/audit/formula.h"
#include "inventory/audit/limit.h"

struct candidate {
	uint32_t at; /* an element, device, zone: whatever the rule counts in */
	enum audit_verdict verdict;
	double near;
};

struct audit_run {
	struct audit *out;
	const struct audit_opts *o;
	const struct model *m;
	const struct policy *p;
	const struct graph *g;
	const struct demand *d;
	const struct sim_result *sim[PASS_N]; /* one and the same when no cap is proven */
	enum audit_pass pass;                 /* the one that is reported */
	size_t rack;
	struct audit_rack *figures; /* of the rack */
	struct vec(uint32_t) above; /* elements above the rack's cords, up to its feeds */
	struct vec(struct candidate) offers;
	uint32_t *mark, stamp; /* by element */
};

typedef void (*audit_say_fn)(struct audit_run *r, const struct candidate *c, struct finding *f);

/* FAIL above limit, WARN above near_limit of it (0: never). NaN limits pass. */
enum audit_verdict audit_judge(double value, double limit, double near_limit);
/* What holds only thanks to caps is CONDITIONAL. */
enum audit_verdict audit_both(enum audit_verdict plain, enum audit_verdict capped);
void audit_offer(struct audit_run *r, size_t at, enum audit_verdict verdict, double near);
/* Lists what was offered; say fills subject, value, limit, text. Nothing offered: nothing said. */
void audit_list(struct audit_run *r, enum audit_rule rule, audit_say_fn say);
/* One finding; rule, rack and default fields are set. */
void audit_add(struct audit_run *r, enum audit_rule rule, enum audit_verdict verdict,
	const struct finding *f);
const char *audit_text(struct audit_run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The load of an element: in normal operation, or the worst after a loss. */
const struct element_load *audit_load(
	const struct audit_run *r, enum audit_pass pass, uint32_t element, bool failover);
/* "0.80 x 63 A = 50.40 A". */
const char *audit_limit_text(struct audit_run *r, uint32_t element, bool failover);
struct audit_subject audit_loss(const struct audit_run *r, uint32_t loss);
/* Each device of the rack. */
static inline uint32_t audit_device(const struct audit_run *r, uint32_t i)
{
	return r->g->rack_devices[r->g->rack_first[r->rack] + i];
}
static inline uint32_t audit_devices(const struct audit_run *r)
{
	return r->g->rack_first[r->rack + 1] - r->g->rack_first[r->rack];
}
static inline const struct device_type *audit_type(const struct audit_run *r, uint32_t device)
{
	return graph_type(r->m, device);
}
/* W of heat of a device, its vendor's figure counted; a cap does not lower the vendor's. */
double audit_heat(const struct audit_run *r, uint32_t device, enum audit_pass pass);
/* CFM of a device at the site's height; *assumed when its vendor states none. */
double audit_cfm(const struct audit_run *r, uint32_t device, bool *assumed);

/* The rules by subject, of r->rack. */
void rule_known(struct audit_run *r);
void rule_feed(struct audit_run *r);
void rule_pdu(struct audit_run *r);
void rule_psu(struct audit_run *r);
void rule_inrush(struct audit_run *r);
void rule_heat(struct audit_run *r);
void rule_liquid(struct audit_run *r);
void rule_envelope(struct audit_run *r);
void rule_space(struct audit_run *r);
void rule_weight(struct audit_run *r);
/* Of the site. */
void rule_upstream(struct audit_run *r);
void rule_zone(struct audit_run *r);
