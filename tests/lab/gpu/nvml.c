/*
 * nvml - a libnvidia-ml.so.1 for nodes without GPUs: answers from two files.
 *
 * STATE is the hardware ("gpu3.uuid=GPU-...", kept over restarts), LOADED the
 * module as it was at boot ("version=610.57.04"). The library's own version is
 * the end of its file's name, so a package on the disk differs from the loaded
 * module as with the real one.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATE    "/var/lib/gpu-lab/state"
#define LOADED   "/run/gpu-lab/loaded"
#define FABRIC   "/run/gpu-lab/fabric"
#define GPUS_MAX 16
#define TEXT_MAX 96

enum {
	NVML_OK = 0,
	NVML_INVALID = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_TOO_SMALL = 7,
	NVML_NOT_LOADED = 9,
	NVML_LOST = 15,
	NVML_MISMATCH = 18,
	NVML_UNKNOWN = 999
};

struct memory {
	unsigned long long total, free, used;
};

struct pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};

struct fabric {
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
};

static int handles[GPUS_MAX]; /* a device is a pointer into it */

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int rc);
int nvmlSystemGetDriverVersion(char *text, unsigned len);
int nvmlSystemGetNVMLVersion(char *text, unsigned len);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out);
int nvmlDeviceGetName(void *d, char *text, unsigned len);
int nvmlDeviceGetUUID(void *d, char *text, unsigned len);
int nvmlDeviceGetSerial(void *d, char *text, unsigned len);
int nvmlDeviceGetMemoryInfo(void *d, struct memory *out);
int nvmlDeviceGetPciInfo_v3(void *d, struct pci *out);
int nvmlDeviceGetGpuFabricInfo(void *d, struct fabric *out);
int nvmlDeviceGetEccMode(void *d, unsigned *now, unsigned *next);
int nvmlDeviceGetRemappedRows(
	void *d, unsigned *right, unsigned *wrong, unsigned *pending, unsigned *failed);
int nvmlDeviceGetPowerManagementLimit(void *d, unsigned *milliwatts);

/* The value of a line "key=value"; false without one. */
static bool lookup(const char *path, const char *key, char text[static TEXT_MAX])
{
	const size_t n = strlen(key);
	FILE *f = fopen(path, "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		if (strncmp(line, key, n) != 0 || line[n] != '=')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, TEXT_MAX, "%.*s", TEXT_MAX - 1, line + n + 1);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static bool of_gpu(const void *d, const char *what, char text[static TEXT_MAX])
{
	char key[64];

	snprintf(key, sizeof key, "gpu%td.%s", (const int *)d - handles, what);
	return lookup(STATE, key, text);
}

static unsigned number_of_gpu(const void *d, const char *what)
{
	char text[TEXT_MAX];

	return of_gpu(d, what, text) ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static int give(const char *value, char *text, unsigned len)
{
	return snprintf(text, len, "%s", value) < (int)len ? NVML_OK : NVML_TOO_SMALL;
}

static int give_of_gpu(const void *d, const char *what, char *text, unsigned len)
{
	char value[TEXT_MAX];

	return of_gpu(d, what, value) ? give(value, text, len) : NVML_NOT_SUPPORTED;
}

/* ".../libnvidia-ml.so.610.57.04" */
static const char *own_version(void)
{
	static char path[PATH_MAX];
	const char *end;
	Dl_info self;

	if (dladdr(handles, &self) == 0 || !realpath(self.dli_fname, path))
		return "";
	end = strstr(path, ".so.");
	return end ? end + 4 : "";
}

int nvmlInit_v2(void)
{
	char loaded[TEXT_MAX];

	if (!lookup(LOADED, "version", loaded))
		return NVML_NOT_LOADED;
	return strcmp(loaded, own_version()) == 0 ? NVML_OK : NVML_MISMATCH;
}

int nvmlShutdown(void)
{
	return NVML_OK;
}

const char *nvmlErrorString(int rc)
{
	switch (rc) {
	case NVML_OK:
		return "Success";
	case NVML_INVALID:
		return "Invalid Argument";
	case NVML_NOT_SUPPORTED:
		return "Not Supported";
	case NVML_NOT_LOADED:
		return "Driver Not Loaded";
	case NVML_LOST:
		return "GPU is lost";
	case NVML_MISMATCH:
		return "Driver/library version mismatch";
	default:
		return "Unknown Error";
	}
}

int nvmlSystemGetDriverVersion(char *text, unsigned len)
{
	char loaded[TEXT_MAX];

	return lookup(LOADED, "version", loaded) ? give(loaded, text, len) : NVML_NOT_LOADED;
}

int nvmlSystemGetNVMLVersion(char *text, unsigned len)
{
	return give(own_version(), text, len);
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	char text[TEXT_MAX];

	*n = lookup(STATE, "gpus", text) ? (unsigned)strtoul(text, NULL, 10) : 0;
	return *n <= GPUS_MAX ? NVML_OK : NVML_UNKNOWN;
}

/* A board is lost by its own fault, or since this driver cannot start it ("lost=3" in LOADED). */
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out)
{
	unsigned n;
	char lost[TEXT_MAX];

	if (nvmlDeviceGetCount_v2(&n) != NVML_OK || index >= n)
		return NVML_INVALID;
	*out = &handles[index];
	if (number_of_gpu(*out, "lost") ||
		(lookup(LOADED, "lost", lost) && strtoul(lost, NULL, 10) == index))
		return NVML_LOST;
	return NVML_OK;
}

int nvmlDeviceGetName(void *d, char *text, unsigned len)
{
	return give_of_gpu(d, "name", text, len);
}

int nvmlDeviceGetUUID(void *d, char *text, unsigned len)
{
	return give_of_gpu(d, "uuid", text, len);
}

int nvmlDeviceGetSerial(void *d, char *text, unsigned len)
{
	return give_of_gpu(d, "serial", text, len);
}

int nvmlDeviceGetMemoryInfo(void *d, struct memory *out)
{
	out->total = (unsigned long long)number_of_gpu(d, "memory_mib") << 20;
	out->free = out->total;
	out->used = 0;
	return NVML_OK;
}

int nvmlDeviceGetPciInfo_v3(void *d, struct pci *out)
{
	char slot[TEXT_MAX];

	memset(out, 0, sizeof *out);
	if (!of_gpu(d, "slot", slot) ||
		sscanf(slot, "%x:%x:%x", &out->domain, &out->bus, &out->device) != 3)
		return NVML_UNKNOWN;
	out->device_id = 0x233010de;
	snprintf(out->legacy_id, sizeof out->legacy_id, "%04X:%02X:%02X.0", out->domain & 0xffff,
		out->bus & 0xff, out->device & 0xff);
	snprintf(out->id, sizeof out->id, "%08X:%02X:%02X.0", out->domain, out->bus & 0xff,
		out->device & 0xff);
	return NVML_OK;
}

/* The fabric is trained once a Fabric Manager of this driver runs. */
int nvmlDeviceGetGpuFabricInfo(void *d, struct fabric *out)
{
	char text[TEXT_MAX];

	(void)d;
	memset(out, 0, sizeof *out);
	out->state = !lookup(STATE, "nvswitch", text) ? 0 : lookup(FABRIC, "version", text) ? 3 : 2;
	return NVML_OK;
}

int nvmlDeviceGetEccMode(void *d, unsigned *now, unsigned *next)
{
	*now = number_of_gpu(d, "ecc");
	*next = *now;
	return NVML_OK;
}

int nvmlDeviceGetRemappedRows(
	void *d, unsigned *right, unsigned *wrong, unsigned *pending, unsigned *failed)
{
	*right = 0;
	*wrong = number_of_gpu(d, "remapped");
	*pending = number_of_gpu(d, "remap_pending");
	*failed = number_of_gpu(d, "remap_failed");
	return NVML_OK;
}

int nvmlDeviceGetPowerManagementLimit(void *d, unsigned *milliwatts)
{
	*milliwatts = number_of_gpu(d, "power_w") * 1000;
	return NVML_OK;
}
