/* facts - the table of groups. */
#include "agent/facts/facts.h"

#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"

#include <string.h>

const char *const FACT_GROUPS[] = {"os", "cpu", "memory", "disks", "net", "pci", "gpus", "nvidia",
	"gpu", "kernel", "boot", "time", "host", NULL};

static int (*const GATHER[])(const struct facts_env *env, json_t **out, struct err *err) = {
	facts_os,
	facts_cpu,
	facts_memory,
	facts_disks,
	facts_net,
	facts_pci,
	facts_gpus,
	facts_nvidia,
	facts_gpu,
	facts_kernel,
	facts_boot,
	facts_time,
	facts_host,
};

_Static_assert(sizeof GATHER / sizeof GATHER[0] + 1 == sizeof FACT_GROUPS / sizeof FACT_GROUPS[0],
	"each group has its function");

int facts_group(const struct facts_env *env, const char *group, json_t **out, struct err *err)
{
	const char *near;

	for (size_t i = 0; FACT_GROUPS[i]; i++)
		if (strcmp(FACT_GROUPS[i], group) == 0)
			return GATHER[i](env, out, err);
	err_set(err, E_NOTFOUND, "there is no group of facts '%s'", group);
	near = err_nearest(group, FACT_GROUPS);
	return near ? err_hint(err, "did you mean '%s'?", near) : -E_NOTFOUND;
}

json_t *facts_all(const struct facts_env *env)
{
	json_t *all = json_object();
	struct facts_env with = *env;
	struct err err;

	for (size_t i = 0; FACT_GROUPS[i]; i++) {
		json_t *group = NULL;

		with.gpus = json_get(all, "gpus"); /* NVML is asked but once */
		if (GATHER[i](&with, &group, &err) < 0) {
			group = json_object();
			json_put_str(group, "error", err.msg);
		}
		json_object_set_new(all, FACT_GROUPS[i], group);
	}
	return all;
}
