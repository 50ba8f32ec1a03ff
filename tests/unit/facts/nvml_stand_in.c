/*
 * nvml_stand_in - a libnvidia-ml.so.1 that answers from "nvml.state" beside the library.
 *
 *	init 9                    what nvmlInit returns (default 0)
 *	driver 580.95.05
 *	hang                      nvmlInit never returns
 *	gpu NAME|UUID|SERIAL|BYTES|DOMAIN:BUS:DEVICE   in hex; SERIAL "-": not supported
 *	gone                      a GPU that has an index but no handle
 *
 * Built with NVML_OLD it has only the names without a version.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef NVML_OLD
#define NEW(name, version) name
#else
#define NEW(name, version) name##version
#endif

#define GPUS_MAX      16
#define NOT_SUPPORTED 3
#define TOO_SMALL     7
#define GPU_IS_LOST   15

struct gpu {
	int gone;
	char name[64], uuid[64], serial[32];
	unsigned long long bytes;
	unsigned domain, bus, device;
};

static struct {
	int init, hang;
	char driver[32];
	unsigned n;
	struct gpu gpus[GPUS_MAX];
} state;

struct memory {
	unsigned long long total, free, used;
};

struct pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};

int NEW(nvmlInit, _v2)(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int rc);
int nvmlSystemGetDriverVersion(char *text, unsigned len);
int NEW(nvmlDeviceGetCount, _v2)(unsigned *n);
int NEW(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct gpu **out);
int nvmlDeviceGetName(const struct gpu *g, char *text, unsigned len);
int nvmlDeviceGetUUID(const struct gpu *g, char *text, unsigned len);
int nvmlDeviceGetSerial(const struct gpu *g, char *text, unsigned len);
int nvmlDeviceGetMemoryInfo(const struct gpu *g, struct memory *out);
int NEW(nvmlDeviceGetPciInfo, _v3)(const struct gpu *g, struct pci *out);

static void read_line(const char *line)
{
	struct gpu *g = &state.gpus[state.n];

	if (sscanf(line, "init %d", &state.init) == 1 ||
		sscanf(line, "driver %31s", state.driver) == 1)
		return;
	if (strncmp(line, "hang", 4) == 0)
		state.hang = 1;
	if (state.n == GPUS_MAX)
		return;
	if (strncmp(line, "gone", 4) == 0) {
		g->gone = 1;
		state.n++;
	} else if (sscanf(line, "gpu %63[^|]|%63[^|]|%31[^|]|%llu|%x:%x:%x", g->name, g->uuid,
			   g->serial, &g->bytes, &g->domain, &g->bus, &g->device) == 7) {
		state.n++;
	}
}

static void read_state(void)
{
	char path[PATH_MAX], line[512];
	const char *slash;
	Dl_info self;
	FILE *f;

	memset(&state, 0, sizeof state);
	if (!dladdr(&state, &self))
		return;
	slash = strrchr(self.dli_fname, '/');
	snprintf(path, sizeof path, "%.*snvml.state", slash ? (int)(slash - self.dli_fname) + 1 : 0,
		self.dli_fname);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof line, f))
		read_line(line);
	fclose(f);
}

static int say(const char *what, char *text, unsigned len)
{
	if (strlen(what) >= len)
		return TOO_SMALL;
	snprintf(text, len, "%s", what);
	return 0;
}

int NEW(nvmlInit, _v2)(void)
{
	read_state();
	while (state.hang)
		pause();
	return state.init;
}

int nvmlShutdown(void)
{
	return 0;
}

const char *nvmlErrorString(int rc)
{
	return rc == 9 ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned len)
{
	return state.driver[0] ? say(state.driver, text, len) : NOT_SUPPORTED;
}

int NEW(nvmlDeviceGetCount, _v2)(unsigned *n)
{
	*n = state.n;
	return 0;
}

int NEW(nvmlDeviceGetHandleByIndex, _v2)(unsigned index, struct gpu **out)
{
	if (index >= state.n || state.gpus[index].gone)
		return GPU_IS_LOST;
	*out = &state.gpus[index];
	return 0;
}

int nvmlDeviceGetName(const struct gpu *g, char *text, unsigned len)
{
	return say(g->name, text, len);
}

int nvmlDeviceGetUUID(const struct gpu *g, char *text, unsigned len)
{
	return say(g->uuid, text, len);
}

int nvmlDeviceGetSerial(const struct gpu *g, char *text, unsigned len)
{
	return strcmp(g->serial, "-") == 0 ? NOT_SUPPORTED : say(g->serial, text, len);
}

int nvmlDeviceGetMemoryInfo(const struct gpu *g, struct memory *out)
{
	*out = (struct memory){.total = g->bytes, .free = g->bytes};
	return 0;
}

int NEW(nvmlDeviceGetPciInfo, _v3)(const struct gpu *g, struct pci *out)
{
	memset(out, 0, sizeof *out);
	out->domain = g->domain;
	out->bus = g->bus;
	out->device = g->device;
	return 0;
}
