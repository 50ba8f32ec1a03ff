/*
 * nvml - the child's body: loads the library, lists the devices, prints them as JSON.
 *
 * The declarations are our own, of the functions and structures that have been
 * stable since driver branch 450; each newer name falls back to the older one.
 * This is the one place of the library that prints: it is a program of its own.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/facts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NVML_OK       0
#define NVML_TEXT_MAX 96
#define NVML_GPUS_MAX 256

typedef struct nvml_device *nvml_device; /* opaque */

struct nvml_memory {
	unsigned long long total, free, used;
};

/* The leading fields are the same in all versions; the rest is only room for the newest. */
struct nvml_pci {
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char rest[64];
};

struct nvml_fabric {
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
	char rest[64];
};

struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_text)(int rc);
	int (*driver)(char *text, unsigned len);
	int (*count)(unsigned *n);
	int (*by_index)(unsigned index, nvml_device *out);
	int (*name)(nvml_device d, char *text, unsigned len);
	int (*uuid)(nvml_device d, char *text, unsigned len);
	int (*serial)(nvml_device d, char *text, unsigned len);
	int (*memory)(nvml_device d, struct nvml_memory *out);
	int (*pci)(nvml_device d, struct nvml_pci *out);
	/* Of newer libraries or some boards: NULL without. */
	int (*fabric)(nvml_device d, struct nvml_fabric *out);
	int (*ecc)(nvml_device d, unsigned *now, unsigned *next);
	int (*remapped)(nvml_device d, unsigned *right, unsigned *wrong, unsigned *pending,
		unsigned *failed);
	int (*power)(nvml_device d, unsigned *milliwatts);
};

/* C has no cast from an object's address to a function's; POSIX promises that the bytes are it. */
static bool bind(const struct nvml *n, void *fn, const char *name, const char *older)
{
	void *address = dlsym(n->library, name);

	if (!address && older)
		address = dlsym(n->library, older);
	memcpy(fn, &address, sizeof address);
	return address != NULL;
}

static bool bind_all(struct nvml *n)
{
	return bind(n, &n->init, "nvmlInit_v2", "nvmlInit") &&
	       bind(n, &n->shutdown, "nvmlShutdown", NULL) &&
	       bind(n, &n->error_text, "nvmlErrorString", NULL) &&
	       bind(n, &n->driver, "nvmlSystemGetDriverVersion", NULL) &&
	       bind(n, &n->count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") &&
	       bind(n, &n->by_index, "nvmlDeviceGetHandleByIndex_v2",
		       "nvmlDeviceGetHandleByIndex") &&
	       bind(n, &n->name, "nvmlDeviceGetName", NULL) &&
	       bind(n, &n->uuid, "nvmlDeviceGetUUID", NULL) &&
	       bind(n, &n->serial, "nvmlDeviceGetSerial", NULL) &&
	       bind(n, &n->memory, "nvmlDeviceGetMemoryInfo", NULL) &&
	       (bind(n, &n->pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2") ||
		       bind(n, &n->pci, "nvmlDeviceGetPciInfo", NULL));
}

static void bind_more(struct nvml *n)
{
	bind(n, &n->fabric, "nvmlDeviceGetGpuFabricInfo", NULL);
	bind(n, &n->ecc, "nvmlDeviceGetEccMode", NULL);
	bind(n, &n->remapped, "nvmlDeviceGetRemappedRows", NULL);
	bind(n, &n->power, "nvmlDeviceGetPowerManagementLimit", NULL);
}

static void put_text(json_t *gpu, const char *key,
	int (*get)(nvml_device d, char *text, unsigned len), nvml_device d)
{
	char text[NVML_TEXT_MAX] = "";

	if (get(d, text, sizeof text) != NVML_OK)
		return; /* boards without a serial number say "not supported" */
	text[sizeof text - 1] = '\0';
	json_put_text(gpu, key, str_of(text));
}

/* Boards without a NVSwitch have no fabric; the state of others is what CUDA waits for. */
static void put_fabric(const struct nvml *n, json_t *gpu, nvml_device d)
{
	static const char *const STATES[] = {NULL, "not started", "in progress", "completed"};
	struct nvml_fabric fabric = {0};

	if (!n->fabric || n->fabric(d, &fabric) != NVML_OK || fabric.state > 3)
		return;
	json_put_str(gpu, "fabric",
		fabric.state == 3 && fabric.status != NVML_OK ? "failed" : STATES[fabric.state]);
}

static void put_health(const struct nvml *n, json_t *gpu, nvml_device d)
{
	unsigned a = 0, b = 0, pending = 0, failed = 0;

	put_fabric(n, gpu, d);
	if (n->ecc && n->ecc(d, &a, &b) == NVML_OK)
		json_put_bool(gpu, "ecc", a != 0);
	if (n->remapped && n->remapped(d, &a, &b, &pending, &failed) == NVML_OK)
		json_put_bool(gpu, "remap_pending", pending != 0 || failed != 0);
	if (n->power && n->power(d, &a) == NVML_OK)
		json_put_int(gpu, "power_limit_w", a / 1000);
}

static json_t *read_gpu(const struct nvml *n, unsigned index, nvml_device d, const char *driver)
{
	struct nvml_memory memory = {0};
	struct nvml_pci pci = {0};
	char slot[32];
	json_t *gpu = json_object();

	json_put_int(gpu, "index", index);
	put_text(gpu, "name", n->name, d);
	put_text(gpu, "uuid", n->uuid, d);
	put_text(gpu, "serial", n->serial, d);
	if (n->memory(d, &memory) == NVML_OK && memory.total <= INT64_MAX)
		json_put_int(gpu, "memory_bytes", (int64_t)memory.total);
	if (n->pci(d, &pci) == NVML_OK) {
		/* as /sys/bus/pci/devices writes it */
		snprintf(slot, sizeof slot, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
		json_put_str(gpu, "pci_slot", slot);
	}
	put_health(n, gpu, d);
	if (*driver)
		json_put_str(gpu, "driver", driver);
	return gpu;
}

static int list(const struct nvml *n, json_t *gpus)
{
	char driver[NVML_TEXT_MAX] = "";
	unsigned count = 0;
	nvml_device d;
	int rc;

	rc = n->count(&count);
	if (rc != NVML_OK)
		return rc;
	if (n->driver(driver, sizeof driver) != NVML_OK)
		driver[0] = '\0';
	driver[sizeof driver - 1] = '\0';
	for (unsigned i = 0; i < count && i < NVML_GPUS_MAX; i++) {
		/* A GPU that fell off the bus still has its index, but no handle. */
		if (n->by_index(i, &d) == NVML_OK)
			json_array_append_new(gpus, read_gpu(n, i, d, driver));
		else
			json_array_append_new(gpus, json_pack("{s:i, s:s}", "index", (int)i,
							    "error", "cannot be opened"));
	}
	return NVML_OK;
}

static int gather(struct nvml *n, json_t *gpus)
{
	int rc;

	if (!bind_all(n)) {
		fprintf(stderr, "libnvidia-ml.so.1 lacks a function: %s\n", dlerror());
		return 1;
	}
	bind_more(n);
	rc = n->init();
	if (rc == NVML_OK) {
		rc = list(n, gpus);
		n->shutdown();
	}
	if (rc == NVML_OK)
		return 0;
	fprintf(stderr, "NVML error %d: %s\n", rc, n->error_text(rc));
	return 1;
}

int facts_gpu_probe(void)
{
	struct nvml n = {.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
	json_t *gpus = json_array();
	AUTO_BUF text;
	int rc = 0;

	buf_init(&text, 1u << 20);
	/* It is not closed again: the process ends here, and drivers dislike being unloaded. */
	if (n.library)
		rc = gather(&n, gpus);
	json_write(gpus, &text);
	json_decref(gpus);
	if (rc == 0)
		printf("%s\n", buf_text(&text));
	return rc;
}
