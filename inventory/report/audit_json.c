/* audit_json - the audit for programs, in the words of the model; README.md has the schema. */
#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/view.h"

#define SCHEMA 1

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void put_num(json_t *obj, const char *key, double v)
{
	json_object_set_new(obj, key, number(v));
}

static json_t *subject_json(const struct model *m, struct audit_subject what)
{
	json_t *obj;
	AUTO_BUF name;

	buf_init(&name, 1u << 12);
	if (what.noun >= NOUN_N)
		return json_null();
	obj = json_object();
	text_add_name(&name, m, what);
	json_put_str(obj, "kind", model_noun_name(what.noun));
	json_put_str(obj, "name", buf_text(&name));
	return obj;
}

static json_t *lost_json(const struct audit *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_lost; i++)
		json_array_append_new(list, subject_json(a->model, a->lost[i]));
	return list;
}

/* What was asked to be lost, and what goes down by it. */
static void put_lost(json_t *obj, const struct audit *a)
{
	json_object_set_new(obj, "lost", lost_json(a));
	json_put_int(obj, "devices_count", a->devices);
	json_put_int(obj, "devices_down", a->down);
}

static json_t *finding_json(const struct audit *a, const struct finding *f)
{
	json_t *obj = json_object();

	json_put_str(obj, "rule", audit_rule_name(f->rule));
	json_put_str(obj, "verdict", audit_verdict_name(f->verdict));
	json_object_set_new(obj, "subject", subject_json(a->model, f->subject));
	json_object_set_new(obj, "loss", subject_json(a->model, f->loss));
	if (a->n_lost > 1 && f->loss.noun < NOUN_N)
		json_object_set_new(obj, "losses", lost_json(a));
	put_num(obj, "value", f->value);
	put_num(obj, "limit", f->limit);
	json_put_str(obj, "unit", f->unit ? f->unit : "");
	json_put_str(obj, "line", f->line);
	json_put_str(obj, "assumes", f->assumes);
	json_put_str(obj, "arithmetic", f->text);
	if (f->more)
		json_put_int(obj, "more", f->more);
	return obj;
}

static json_t *findings_json(const struct audit *a, size_t first, size_t n)
{
	json_t *list = json_array();

	for (size_t i = first; i < first + n; i++)
		json_array_append_new(list, finding_json(a, &a->findings.at[i]));
	return list;
}

static json_t *lines_json(const struct element_load *l, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, number(l->lines[i]));
	return list;
}

static json_t *feeds_json(const struct view_rack *v)
{
	const struct model *m = v->report->audit->model;
	json_t *list = json_array();

	vec_each(&v->feeds, const struct view_feed, f) {
		const unsigned n = m->feeds.at[f->feed].phases == 3 ? 3 : 1;
		json_t *obj = json_object();

		json_put_str(obj, "feed", m->feeds.at[f->feed].name);
		put_num(obj, "limit_a", f->limit_normal);
		put_num(obj, "limit_after_loss_a", f->limit_worst);
		json_object_set_new(obj, "normal_a", lines_json(&f->normal, n));
		json_object_set_new(obj, "worst_a", lines_json(&f->worst, n));
		json_object_set_new(obj, "worst_loss", subject_json(m, f->lost));
		put_num(obj, "normal_w", f->normal.watts);
		put_num(obj, "worst_w", f->worst.watts);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *devices_json(const struct view_rack *v)
{
	const struct audit *a = v->report->audit;
	json_t *list = json_array();

	vec_each(&v->devices, const struct view_device, d) {
		const struct demand *demand = &a->demands[d->device];
		json_t *obj = json_object();

		json_put_str(obj, "device", a->model->devices.at[d->device].name);
		json_put_str(obj, "verdict", audit_verdict_name(d->verdict));
		put_num(obj, "watts", d->power.watts);
		json_put_str(obj, "basis", model_basis_name(d->power.basis));
		json_put_str(obj, "origin", model_origin_name(d->power.origin));
		json_put_str(obj, "source", d->power.source);
		json_put_int(obj, "cords", d->cords);
		json_put_int(obj, "psus", demand->psus);
		json_put_int(obj, "psus_needed", demand->needed);
		json_put_bool(obj, "psus_needed_assumed", demand->assumed_needed);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *fixes_json(const struct audit_report *r, size_t rack)
{
	const struct model *m = r->audit->model;
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_fixes; i++) {
		const struct audit_fix *f = &r->fixes[i];
		json_t *obj;

		if (f->rack != rack)
			continue;
		obj = json_object();
		json_put_str(obj, "kind", fix_kind_name(f->kind));
		json_object_set_new(obj, "what", subject_json(m, f->what));
		json_object_set_new(obj, "to", subject_json(m, f->to));
		if (f->unit)
			json_put_int(obj, "unit", f->unit);
		put_num(obj, "watts", f->watts);
		json_put_str(obj, "before", audit_verdict_name(f->before));
		json_put_str(obj, "after", audit_verdict_name(f->after));
		json_put_str(obj, "text", f->text);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *rules_json(const struct view_rack *v)
{
	json_t *obj = json_object();

	for (unsigned i = 0; i < RULE_N; i++)
		if (v->judged[i])
			json_put_str(obj, audit_rule_name((enum audit_rule)i),
				audit_verdict_name(v->rules[i]));
	return obj;
}

static void put_figures(json_t *obj, const struct audit_rack *k, const struct rack *rack)
{
	put_num(obj, "watts", k->watts);
	put_num(obj, "heat_w", k->heat_w);
	put_num(obj, "room_w", k->room_w);
	put_num(obj, "liquid_w", k->liquid_w);
	put_num(obj, "cfm", k->cfm);
	put_num(obj, "kg", k->kg);
	put_num(obj, "floor_kpa", k->floor_kpa);
	json_put_int(obj, "devices_count", k->devices);
	json_put_int(obj, "height_u", rack->height_u);
	json_put_int(obj, "units_used", k->units_used);
	json_put_int(obj, "units_free", k->units_free);
	json_put_int(obj, "largest_gap_u", k->units_gap);
}

static json_t *rack_json(const struct audit_report *r, const struct audit_rack *k)
{
	const struct audit *a = r->audit;
	json_t *obj = json_object();
	struct view_rack v;

	view_rack_make(r, k, &v);
	json_put_str(obj, "rack", v.rack->name);
	json_put_str(obj, "verdict", audit_verdict_name(k->verdict));
	json_object_set_new(obj, "binding",
		k->binding < a->findings.n ? finding_json(a, &a->findings.at[k->binding])
					   : json_null());
	put_figures(obj, k, v.rack);
	json_object_set_new(obj, "rules", rules_json(&v));
	json_object_set_new(obj, "findings", findings_json(a, k->first, k->n));
	json_object_set_new(obj, "feeds", feeds_json(&v));
	json_object_set_new(obj, "devices", devices_json(&v));
	json_object_set_new(obj, "fixes", fixes_json(r, k->rack));
	view_rack_done(&v);
	return obj;
}

static json_t *policy_json(const struct policy *p)
{
	json_t *obj = json_object(), *assumed = json_array();

	json_put_str(obj, "name", p->name);
	put_num(obj, "k_cont", p->k_cont);
	put_num(obj, "failover_k", p->failover_k);
	put_num(obj, "near_limit", p->near_limit);
	put_num(obj, "ups_share", p->ups_share);
	put_num(obj, "imbalance_percent", p->imbalance);
	put_num(obj, "power_factor", p->power_factor);
	put_num(obj, "altitude_m", p->altitude_m);
	put_num(obj, "floor_kpa", p->floor_kpa);
	put_num(obj, "tile_kn", p->tile_kn);
	json_put_str(obj, "region", p->ul ? "ul" : "iec");
	if (p->assumed_power_factor)
		json_array_append_new(assumed, json_string("power_factor"));
	if (p->assumed_floor)
		json_array_append_new(assumed, json_string("floor_kpa"));
	if (p->assumed_region)
		json_array_append_new(assumed, json_string("region"));
	json_object_set_new(obj, "assumed", assumed);
	return obj;
}

static json_t *assumed_json(const struct audit *a)
{
	struct arena *arena = arena_new();
	struct view_lines lines = VEC_INIT;
	json_t *list = json_array();

	view_assumed(a, LANG_EN, arena, &lines);
	vec_each(&lines, const struct view_line, l) {
		json_t *obj = json_object();

		json_put_str(obj, "what", l->what);
		json_put_str(obj, "where", l->value);
		json_array_append_new(list, obj);
	}
	vec_done(&lines);
	arena_free(arena);
	return list;
}

void report_audit_json(const struct audit_report *r, struct buf *out)
{
	const struct audit *a = r->audit;
	json_t *counts = json_object(), *racks = json_array();
	AUTO_JSON all = json_object();

	json_put_int(all, "schema", SCHEMA);
	json_put_str(all, "site", a->model->site);
	json_put_str(all, "file", a->model->file);
	json_put_str(all, "made", r->when);
	json_put_str(all, "verdict", audit_verdict_name(a->verdict));
	if (a->n_lost)
		put_lost(all, a);
	json_put_str(all, "basis", model_basis_name(a->basis));
	json_object_set_new(all, "policy", policy_json(&a->policy));
	for (unsigned v = 0; v < AUDIT_VERDICT_N; v++)
		json_put_int(counts, audit_verdict_name((enum audit_verdict)v), a->count[v]);
	json_object_set_new(all, "racks_by_verdict", counts);
	vec_each(&a->racks, const struct audit_rack, k)
		json_array_append_new(racks, rack_json(r, k));
	json_object_set_new(all, "racks", racks);
	json_object_set_new(all, "site_findings", findings_json(a, a->site_first, a->site_n));
	json_object_set_new(all, "assumed", assumed_json(a));
	json_write_pretty(all, out);
	if (out->n && out->p[out->n - 1] != '\n')
		buf_add_char(out, '\n');
}
