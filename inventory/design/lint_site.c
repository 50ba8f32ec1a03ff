/* lint_site - one pass over the devices fills sums by rack and type; then facts are judged. */
#include "inventory/design/lint_site.h"

#include "inventory/audit/power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECTS_MAX 10000u

/* --- an inventory --- */

static void lint_type(const struct model *m, size_t type, unsigned n, double watts, struct arena *a,
	struct lint_findings *out)
{
	const struct device_type *t = &m->types.at[type];
	struct lint_facts f = lint_blank();

	if (t->gpus == 0 || n == 0)
		return;
	f.name = arena_printf(a, "type '%s'", t->name);
	f.gpu = t->gpu;
	f.gpus = t->gpus;
	if (model_stated(watts))
		f.node_kw = watts / 1000;
	if (model_stated(t->gpu_w))
		f.gpu_tdp_w = t->gpu_w;
	if (t->psus && t->psus_needed && model_stated(t->psu_watts)) {
		f.psus = t->psus;
		f.psus_lost = t->psus - t->psus_needed;
		f.psu_kw = t->psu_watts / 1000;
	}
	lint_check(&f, a, out);
}

static void lint_rack(const struct model *m, size_t rack, double watts, struct arena *a,
	struct lint_findings *out)
{
	const struct rack *r = &m->racks.at[rack];
	const char *kind = r->cooling_zone == MODEL_NONE ? NULL : m->zones.at[r->cooling_zone].kind;
	struct lint_facts f = lint_blank();

	f.name = arena_printf(a, "rack '%s'", r->name);
	f.rack_kw = watts / 1000;
	f.air = kind && strcmp(kind, "air") == 0;
	if (f.air && model_stated(r->cooling.air_w))
		f.rack_limit_kw = r->cooling.air_w / 1000;
	lint_check(&f, a, out);
}

/* Whether a role of the site has one of these recipes. */
static const char *recipe_of(const struct model *m, const char *const *names)
{
	for (size_t i = 0; i < m->roles.n; i++) {
		struct str rest = str_of(m->roles.at[i].recipes), word;

		while (str_next(&rest, ' ', &word))
			for (unsigned k = 0; names[k]; k++)
				if (str_is(word, names[k]))
					return names[k];
	}
	return NULL;
}

static unsigned gpu_machines(const struct model *m)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->devices.n; i++)
		n += m->devices.at[i].type != MODEL_NONE &&
		     m->types.at[m->devices.at[i].type].gpus > 0;
	return n;
}

/* Only where roles say what machines get: without them nothing is known. */
static void lint_operation(const struct model *m, struct arena *a, struct lint_findings *out)
{
	static const char *const schedulers[] = {
		"slurm", "kubernetes", "hybrid", "compose", "ollama", NULL};
	static const char *const watchers[] = {"dcgm-exporter", NULL};
	struct lint_facts f = lint_blank();

	if (m->roles.n == 0 || gpu_machines(m) == 0)
		return;
	f.name = arena_printf(a, "site '%s'", m->site ? m->site : "");
	f.operated = true;
	f.nodes = gpu_machines(m);
	f.scheduler = recipe_of(m, schedulers);
	f.monitored = recipe_of(m, watchers) != NULL;
	lint_check(&f, a, out);
}

void lint_site(const struct model *m, struct arena *a, struct lint_findings *out)
{
	double *rack = arena_alloc(a, (m->racks.n + 1) * sizeof *rack);
	double *type = arena_alloc(a, (m->types.n + 1) * sizeof *type);
	unsigned *of_type = arena_alloc(a, (m->types.n + 1) * sizeof *of_type);

	for (size_t i = 0; i < m->devices.n; i++) {
		const struct device *d = &m->devices.at[i];
		const double w = power_of(m, i, BASIS_MAX).watts;

		if (d->rack != MODEL_NONE && model_stated(w))
			rack[d->rack] += w;
		if (d->type == MODEL_NONE)
			continue;
		of_type[d->type]++;
		if (model_stated(w))
			type[d->type] = fmax(type[d->type], w);
	}
	for (size_t i = 0; i < m->types.n; i++)
		lint_type(m, i, of_type[i], type[i], a, out);
	for (size_t i = 0; i < m->racks.n; i++)
		lint_rack(m, i, rack[i], a, out);
	lint_operation(m, a, out);
}

/* --- a specification --- */

static int lint_map(const struct yaml_doc *d, const struct yaml_node *map, struct arena *a,
	struct lint_findings *out, struct err *err)
{
	const char *const *keys = lint_keys(a);
	struct lint_facts f;
	int rc = yaml_want_map(d, map, "a subject", err);

	if (rc == 0)
		rc = yaml_known_keys(d, map, keys, err);
	if (rc == 0)
		rc = lint_read(d, map, a, &f, err);
	if (rc == 0)
		lint_check(&f, a, out);
	return rc;
}

int lint_document(
	const struct yaml_doc *d, struct arena *a, struct lint_findings *out, struct err *err)
{
	static const char *const top[] = {"subjects", "about", NULL};
	const struct yaml_node *list = yaml_get(d->root, "subjects");
	int rc;

	if (!list)
		return lint_map(d, d->root, a, out, err);
	if ((rc = yaml_known_keys(d, d->root, top, err)) < 0 ||
		(rc = yaml_want_list(d, list, "'subjects'", err)) < 0)
		return rc;
	if (list->n > SUBJECTS_MAX)
		return yaml_err(d, list, err, E_LIMIT, "at most %u subjects", SUBJECTS_MAX);
	for (unsigned i = 0; i < list->n; i++)
		if ((rc = lint_map(d, list->item[i], a, out, err)) < 0)
			return rc;
	return 0;
}
