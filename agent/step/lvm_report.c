#include "agent/step/lvm_report.h"

#include "agent/base/err.h"

#include <stdio.h>
#include <string.h>

#define JSON_MAX (16u << 20)

static uint64_t number(const json_t *o, const char *key)
{
	struct str s = str_of(json_get_str(o, key, ""));
	uint64_t v = 0;

	if (str_ends(s, "B"))
		s.n--;
	return str_to_u64(s, &v) ? v : 0;
}

/* Every block of the report is one group with its lists; devices of no group have a block too. */
static void take_block(const json_t *block, const char *group, struct lvm_group *out)
{
	const json_t *vg = json_array_get(json_get(block, "vg"), 0), *pv;
	size_t i;

	if (strcmp(json_get_str(vg, "vg_name", ""), group) != 0)
		return;
	out->there = true;
	out->bytes = number(vg, "vg_size");
	out->free = number(vg, "vg_free");
	out->extent = number(vg, "vg_extent_size");
	out->volumes = json_get(block, "lv");
	json_array_foreach(json_get(block, "pv"), i, pv) if (json_get_str(pv, "pv_name", NULL))
		json_array_append_new(out->devices, json_string(json_get_str(pv, "pv_name", "")));
}

int lvm_report_read(struct str json, const char *group, struct lvm_group *out, struct err *err)
{
	const json_t *blocks, *block;
	size_t i;
	int rc;

	memset(out, 0, sizeof *out);
	rc = json_parse(json, JSON_MAX, "lvm", &out->root, err);
	if (rc < 0)
		return rc;
	blocks = json_get(out->root, "report");
	if (!json_is_array(blocks)) {
		lvm_report_done(out);
		return err_set(err, E_SCHEMA, "lvm gives no report");
	}
	out->devices = json_array();
	json_array_foreach(blocks, i, block) take_block(block, group, out);
	return 0;
}

void lvm_report_done(struct lvm_group *g)
{
	json_drop(&g->devices);
	json_drop(&g->root);
}

bool lvm_report_volume(const struct lvm_group *g, const char *name, struct lvm_volume *out)
{
	const json_t *lv;
	size_t i;

	memset(out, 0, sizeof *out);
	json_array_foreach(
		g->volumes, i, lv) if (strcmp(json_get_str(lv, "lv_name", ""), name) == 0)
	{
		snprintf(out->name, sizeof out->name, "%.127s", name);
		out->bytes = number(lv, "lv_size");
		return true;
	}
	return false;
}

const char *lvm_report_owner(const struct lvm_group *g, const char *device)
{
	const json_t *block, *pv;
	size_t i, k;

	json_array_foreach(json_get(g->root, "report"), i, block)
		json_array_foreach(json_get(block, "pv"), k,
			pv) if (strcmp(json_get_str(pv, "pv_name", ""), device) ==
				0) return json_get_str(json_array_get(json_get(block, "vg"), 0),
			"vg_name", "");
	return NULL;
}

bool lvm_size_read(const char *text, uint64_t *bytes)
{
	static const char UNITS[] = "kmgtp";
	struct str s = str_of(text);
	unsigned shift = 0;
	double v;

	for (unsigned i = 0; i < 5 && s.n > 1; i++)
		if ((s.p[s.n - 1] | 0x20) == UNITS[i])
			shift = 10 * (i + 1);
	if (shift == 0)
		return false;
	s.n--;
	if (!str_to_f64(s, &v) || v <= 0 || v > 1e9)
		return false;
	v *= (double)(UINT64_C(1) << shift);
	if (v < 1 || v > 9e18)
		return false;
	*bytes = (uint64_t)v;
	return true;
}
