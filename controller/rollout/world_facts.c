/* world_facts - what a node's facts say about its GPUs: who holds one, and whether all is as it
 * was. */
#include "controller/rollout/world_priv.h"

#include <stdio.h>
#include <string.h>

#define COMM_MAX 15 /* bytes that the kernel keeps of a program's name */

/* They belong to the driver, or stop with it. */
static const char *const AT_HOME[] = {"nvidia-persistenced", "nv-fabricmanager",
	"nvidia-fabricmanager", "nv-hostengine", "dcgm-exporter", "nvidia-dcgm-exporter", "slurmd",
	"slurmstepd", "nvidia-imex", "nvlsm", "nvidia-powerd", "nvidia-device-plugin",
	"nvidia-mig-manager", "kubelet", "stoika-agent", NULL};

static bool is_at_home(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	for (const char *const *p = AT_HOME; *p; p++)
		if (strcmp(name, *p) == 0 ||
			(strlen(name) == COMM_MAX && strncmp(name, *p, COMM_MAX) == 0))
			return true;
	return false;
}

bool facts_find_holder(const json_t *facts, char out[static 200])
{
	const json_t *list = json_get(json_get(facts, "gpu"), "holders");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *program = json_get_str(one, "program", "?");
		const char *device = json_get_str(one, "device", "");

		if (is_at_home(program))
			continue;
		snprintf(out, 200, "process %lld '%.60s' holds a GPU%s%.40s",
			(long long)json_get_int(one, "pid", 0), program, *device ? ": " : "",
			device);
		return true;
	}
	return false;
}

/* The driver that is loaded, by whichever group tells of it. */
static const char *driver_of(const json_t *facts)
{
	const json_t *gpus = json_get(facts, "gpus");
	const char *loaded = json_get_str(json_get(facts, "nvidia"), "loaded", "");

	if (!*loaded)
		loaded = json_get_str(json_get(json_get(facts, "gpu"), "driver"), "loaded", "");

	for (size_t i = 0; !*loaded && i < json_array_size(gpus); i++)
		loaded = json_get_str(json_array_get(gpus, i), "driver", "");
	return loaded;
}

static bool has_gpu(const json_t *facts, const char *uuid)
{
	const json_t *gpus = json_get(facts, "gpus");

	for (size_t i = 0; i < json_array_size(gpus); i++)
		if (strcmp(json_get_str(json_array_get(gpus, i), "uuid", ""), uuid) == 0)
			return true;
	return false;
}

bool facts_differ(const json_t *before, const json_t *after, char out[static 200])
{
	const json_t *gpus = json_get(before, "gpus");
	const char *was = driver_of(before), *is = driver_of(after);
	const size_t n = json_array_size(json_get(after, "gpus"));

	for (size_t i = 0; i < json_array_size(gpus); i++) {
		const char *uuid = json_get_str(json_array_get(gpus, i), "uuid", "");

		if (*uuid && !has_gpu(after, uuid)) {
			snprintf(out, 200, "GPU '%.60s' is gone", uuid);
			return true;
		}
	}
	if (json_array_size(gpus) != n) {
		snprintf(out, 200, "%zu GPUs are there, %zu were", n, json_array_size(gpus));
		return true;
	}
	if (strcmp(was, is) != 0) {
		snprintf(out, 200, "the driver is '%.60s' and was '%.60s'", is, was);
		return true;
	}
	return false;
}
