/* lint_read - figures by a table of keys; words one by one. */
#include "inventory/design/lint_read.h"

#include "inventory/design/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE(key, field, most)                              \
	{                                                     \
		key, offsetof(struct lint_facts, field), most \
	}

static const struct figure {
	const char *keys;
	size_t at;
	double most;
} FIGURES[] = {
	FIGURE("gpus_per_node|gpus", gpus, 1e7),
	FIGURE("nodes", nodes, 1e6),
	FIGURE("nvlink_domain", nvlink_domain, 1e4),
	FIGURE("nics_per_node", nics_per_node, 1e3),
	FIGURE("params", params, 1e16),
	FIGURE("bytes_per_param", bytes_per_param, 64),
	FIGURE("total_vram_gb|vram_gb", vram_gb, 1e9),
	FIGURE("activations_gb", activations_gb, 1e9),
	FIGURE("kv_gib", kv_gib, 1e9),
	FIGURE("kv_budget_gib", kv_budget_gib, 1e9),
	FIGURE("tp", tp, 1e6),
	FIGURE("pp", pp, 1e6),
	FIGURE("dp", dp, 1e7),
	FIGURE("cp", cp, 1e6),
	FIGURE("heads", heads, 1e4),
	FIGURE("layers", layers, 1e5),
	FIGURE("exposed_share", exposed_share, 1),
	FIGURE("endpoints", endpoints, 1e6),
	FIGURE("radix", radix, 1024),
	FIGURE("tiers", tiers, 3),
	FIGURE("oversubscription", oversubscription, 1024),
	FIGURE("write_gbs", write_gbs, 1e6),
	FIGURE("measured_read_gibs|read_gibs", read_gibs, 1e6),
	FIGURE("write_s|checkpoint_s", write_s, 1e9),
	FIGURE("interval_s", interval_s, 1e9),
	FIGURE("loss", loss, 1),
	FIGURE("group_disks", group_disks, 1e5),
	FIGURE("spares", spares, 1e5),
	FIGURE("usable_tb", usable_tb, 1e7),
	FIGURE("archive_tb", archive_tb, 1e7),
	FIGURE("nfs_servers", nfs_servers, 1e5),
	FIGURE("vision_gpus", vision_gpus, 1e6),
	FIGURE("cameras", cameras, 1e6),
	FIGURE("stream_fps", stream_fps, 240),
	FIGURE("decode_fps", decode_fps, 1e9),
	FIGURE("decode_capacity_fps", decode_capacity, 1e9),
	FIGURE("users", users, 1e7),
	FIGURE("node_kw", node_kw, 1e4),
	FIGURE("nodes_per_rack", nodes_per_rack, 1e3),
	FIGURE("rack_kw", rack_kw, 1e4),
	FIGURE("rack_limit_kw", rack_limit_kw, 1e4),
	FIGURE("gpu_tdp_w", gpu_tdp_w, 1e4),
	FIGURE("psus", psus, 100),
	FIGURE("psu_kw", psu_kw, 100),
	FIGURE("psus_lost", psus_lost, 100),
	FIGURE("loss_claim_per_year|claimed_usd_per_year", loss_claim, 1e13),
	FIGURE("capex|capex_usd", capex, 1e13),
	FIGURE("utilisation|utilization", utilisation, 1),
	FIGURE("years", years, 30),
	FIGURE("link_both_ways_gbs", link_both_ways_gbs, 1e5),
	FIGURE("nic_one_way_gbs", nic_one_way_gbs, 1e5),
	FIGURE("tflops", tflops, 1e6),
	FIGURE("tflops_dense", tflops_dense, 1e6),
};

/* "8x L40S": how many, and of what. */
static void read_node(struct input *q, struct lint_facts *f)
{
	const char *node = input_text(q, "node");
	char *end;
	unsigned long n;

	f->gpu = input_text(q, "gpu");
	if (!node)
		return;
	n = strtoul(node, &end, 10);
	while (*end == ' ')
		end++;
	if (n == 0 || *end != 'x') {
		if (!f->gpu)
			f->gpu = node;
		return;
	}
	for (end++; *end == ' '; end++)
		;
	if (isnan(f->gpus))
		f->gpus = (double)n;
	if (!f->gpu)
		f->gpu = end;
}

/* A bandwidth, or the words that there is none. */
static void read_write(struct input *q, struct lint_facts *f)
{
	const struct yaml_node *n = input_node(q, "measured_write|measured_write_gbs");
	double v;

	if (!n || n->kind != YAML_SCALAR)
		return;
	if (str_to_f64(n->text, &v))
		f->write_gbs = v;
	else
		f->write_unknown = true;
}

int lint_read(const struct yaml_doc *d, const struct yaml_node *in, struct arena *a,
	struct lint_facts *out, struct err *err)
{
	struct input q = input_of(d, in, err);
	struct lint_facts f = lint_blank();

	for (size_t i = 0; i < sizeof FIGURES / sizeof FIGURES[0]; i++) {
		double *at = (double *)(void *)((char *)&f + FIGURES[i].at);

		*at = input_num(&q, FIGURES[i].keys, 0, FIGURES[i].most, *at);
	}
	f.name = arena_strdup(a, input_text(&q, "name"));
	read_node(&q, &f);
	read_write(&q, &f);
	f.link = input_text(&q, "claimed_interconnect|interconnect|link");
	f.method = input_text(&q, "method");
	f.target = input_text(&q, "checkpoint_target");
	f.nic_path = input_text(&q, "nic_path");
	f.scheduler = input_text(&q, "scheduler");
	f.alert_metric = input_text(&q, "alert_metric");
	f.pretraining = input_bool(&q, "pretraining", false);
	f.air = input_bool(&q, "air_cooled", false);
	f.operated = input_node(&q, "scheduler") || input_node(&q, "users") ||
		     input_node(&q, "monitoring");
	f.monitored = input_node(&q, "monitoring") &&
		      strcmp(input_text(&q, "monitoring") ? input_text(&q, "monitoring") : "none",
			      "none") != 0;
	*out = f;
	return q.fault;
}

const char *const *lint_keys(struct arena *a)
{
	static const char *const words[] = {"name", "node", "gpu", "measured_write",
		"measured_write_gbs", "claimed_interconnect", "interconnect", "link", "method",
		"checkpoint_target", "nic_path", "scheduler", "alert_metric", "pretraining",
		"air_cooled", "monitoring"};
	const size_t n = sizeof FIGURES / sizeof FIGURES[0], w = sizeof words / sizeof words[0];
	const char **keys = arena_alloc(a, (w + 2 * n + 1) * sizeof *keys);
	size_t at = w;

	memcpy(keys, words, sizeof words);
	for (size_t i = 0; i < n; i++) {
		struct str rest = str_of(FIGURES[i].keys), one;

		while (str_next(&rest, '|', &one) && at < w + 2 * n)
			keys[at++] = arena_text(a, one);
	}
	return keys;
}

static json_t *finding_json(const struct lint_finding *f)
{
	json_t *o = json_object();

	json_put_str(o, "id", f->id);
	json_put_str(o, "level", lint_level_name(f->level));
	json_put_str(o, "subject", f->subject);
	json_put_str(o, "reason", f->reason);
	json_put_str(o, "source", f->source);
	json_put_str(o, "unit", f->unit);
	answer_num(o, "value", f->value);
	answer_num(o, "limit", f->limit);
	return o;
}

int lint_answer(const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct arena *a = arena_new();
	struct lint_findings all = VEC_INIT;
	struct lint_facts f;
	const int rc = lint_read(d, in, a, &f, err);
	const struct lint_finding *worst = NULL;
	json_t *list = json_array();

	if (rc == 0) {
		lint_check(&f, a, &all);
		answer_num(out, "states_gb", round(lint_states_gb(&f)));
	}
	vec_each(&all, const struct lint_finding, it) {
		json_array_append_new(list, finding_json(it));
		if (!worst || it->level > worst->level)
			worst = it;
	}
	json_put_str(out, "verdict", lint_verdict(&all));
	json_put_str(out, "reason", worst ? worst->reason : NULL);
	json_object_set_new(out, "findings", list);
	vec_done(&all);
	arena_free(a);
	return rc;
}
