/*
 * lint - the mistakes that designs are known for, each by its figure and its threshold. Pure.
 *
 * One struct of facts about one thing: a node, a job, a store, a rack, an operation. What is not
 * stated is NaN, 0 or NULL and fires nothing. Source: sizing book 7; the rule's own in RULES.
 */
#pragma once

#include "agent/base/arena.h"
#include "agent/base/vec.h"

#include <stdbool.h>

enum lint_level {
	LINT_ASK, /* cannot be judged without one more figure */
	LINT_WARN,
	LINT_ERROR
};

struct lint_facts {
	const char *name;
	/* cards and links */
	const char *gpu, *link; /* link: the interconnect that is claimed for it */
	double gpus, nodes, nvlink_domain, nics_per_node;
	const char *nic_path; /* PIX, PXB, PHB, SYS */
	bool pretraining, recorded_nfs;
	/* the job */
	const char *method; /* "full fine-tune, ..." */
	double params, bytes_per_param, vram_gb, activations_gb;
	double kv_gib, kv_budget_gib;
	double tp, pp, dp, cp, heads, layers;
	double exposed_share; /* of a step spent on waiting for the network */
	/* fabric */
	double endpoints, radix, tiers, oversubscription;
	/* storage */
	const char *target; /* of checkpoints */
	double write_gbs, read_gibs;
	bool write_unknown; /* stated as not published */
	double write_s, interval_s, loss;
	double group_disks, spares, usable_tb, archive_tb;
	double nfs_servers, vision_gpus;
	/* vision */
	double cameras, stream_fps, decode_fps, decode_capacity;
	/* operations */
	const char *scheduler, *alert_metric;
	double users;
	bool operated, monitored; /* operated: something is said about operations */
	/* heat and power */
	double node_kw, nodes_per_rack, rack_kw, rack_limit_kw, gpu_tdp_w;
	double psus, psu_kw, psus_lost;
	bool air;
	/* money and words */
	double loss_claim, capex, utilisation, years;
	double link_both_ways_gbs, nic_one_way_gbs; /* set against each other in a ratio */
	double tflops, tflops_dense;                /* as stated, as the datasheet's dense */
};

struct lint_finding {
	const char *id; /* "NET-04" */
	enum lint_level level;
	const char *subject, *reason, *source;
	double value, limit; /* NaN: no figure */
	const char *unit;    /* NULL */
};
struct lint_findings vec(struct lint_finding);

struct lint_facts lint_blank(void); /* nothing is stated */
/* Appends what is wrong; texts in a. */
void lint_check(const struct lint_facts *f, struct arena *a, struct lint_findings *out);
const char *lint_level_name(enum lint_level level);
/* reject, warn, ask, accept: the worst of the findings. */
const char *lint_verdict(const struct lint_findings *all);
/* States of training: params * bytes. [sizing 1.5; ZeRO, arXiv 1910.02054; GB] */
double lint_states_gb(const struct lint_facts *f);
