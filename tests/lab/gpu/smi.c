/*
 * smi - an nvidia-smi for nodes without GPUs, over the NVML that the node has.
 *
 *	nvidia-smi -L
 *	nvidia-smi --query-gpu=KEY,.. --format=csv,noheader[,nounits]
 *	nvidia-smi                        one line a GPU
 *
 * Its words and exit codes on a failure are the real one's.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 96

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

static void *library;

static void bind(void *fn, const char *name)
{
	void *address = dlsym(library, name);

	memcpy(fn, &address, sizeof address);
}

static const char *error_text(int rc)
{
	const char *(*fn)(int) = NULL;

	bind(&fn, "nvmlErrorString");
	return fn(rc);
}

static void text_of(void *d, const char *function)
{
	char text[TEXT_MAX] = "";
	int (*fn)(void *d, char *text, unsigned len) = NULL;

	bind(&fn, function);
	printf("%s", fn(d, text, sizeof text) == 0 ? text : "[N/A]");
}

static void driver_version(void)
{
	char text[TEXT_MAX] = "";
	int (*fn)(char *text, unsigned len) = NULL;

	bind(&fn, "nvmlSystemGetDriverVersion");
	fn(text, sizeof text);
	printf("%s", text);
}

static void bus_id(void *d)
{
	struct pci pci;
	int (*fn)(void *d, struct pci *out) = NULL;

	bind(&fn, "nvmlDeviceGetPciInfo_v3");
	printf("%s", fn(d, &pci) == 0 ? pci.id : "[N/A]");
}

static void fabric_state(void *d)
{
	static const char *const NAMES[] = {"N/A", "Not Started", "In Progress", "Completed"};
	struct fabric fabric;
	int (*fn)(void *d, struct fabric *out) = NULL;

	bind(&fn, "nvmlDeviceGetGpuFabricInfo");
	printf("%s", fn(d, &fabric) == 0 && fabric.state < 4 ? NAMES[fabric.state] : "N/A");
}

static void ecc(void *d)
{
	unsigned now = 0, next = 0;
	int (*fn)(void *d, unsigned *now, unsigned *next) = NULL;

	bind(&fn, "nvmlDeviceGetEccMode");
	printf("%s", fn(d, &now, &next) == 0 && now ? "Enabled" : "Disabled");
}

static int put(void *d, unsigned index, const char *key)
{
	if (strcmp(key, "index") == 0)
		printf("%u", index);
	else if (strcmp(key, "driver_version") == 0)
		driver_version();
	else if (strcmp(key, "uuid") == 0)
		text_of(d, "nvmlDeviceGetUUID");
	else if (strcmp(key, "name") == 0)
		text_of(d, "nvmlDeviceGetName");
	else if (strcmp(key, "serial") == 0)
		text_of(d, "nvmlDeviceGetSerial");
	else if (strcmp(key, "pci.bus_id") == 0)
		bus_id(d);
	else if (strcmp(key, "fabric.state") == 0)
		fabric_state(d);
	else if (strcmp(key, "ecc.mode.current") == 0)
		ecc(d);
	else
		return 2;
	return 0;
}

static int query(void *d, unsigned index, const char *keys)
{
	char list[512], *rest = list, *key;
	int rc = 0;

	snprintf(list, sizeof list, "%s", keys);
	while (rc == 0 && (key = strsep(&rest, ","))) {
		rc = put(d, index, key);
		if (rc == 0)
			printf("%s", rest ? ", " : "\n");
	}
	if (rc)
		printf("Field \"%s\" is not a valid field to query.\n", key);
	return rc;
}

static void list_line(void *d, unsigned index)
{
	printf("GPU %u: ", index);
	text_of(d, "nvmlDeviceGetName");
	printf(" (UUID: ");
	text_of(d, "nvmlDeviceGetUUID");
	printf(")\n");
}

static int each_gpu(const char *keys)
{
	int (*count)(unsigned *n) = NULL, (*get)(unsigned index, void **out) = NULL;
	unsigned n = 0;
	void *d;
	int rc = 0;

	bind(&count, "nvmlDeviceGetCount_v2");
	bind(&get, "nvmlDeviceGetHandleByIndex_v2");
	count(&n);
	for (unsigned i = 0; i < n && rc != 2; i++) {
		if (get(i, &d) != 0) {
			printf("Unable to determine the device handle for GPU%u: GPU is lost.  "
			       "Reboot the system to recover this GPU\n",
				i);
			rc = 15;
		} else if (keys) {
			const int bad = query(d, i, keys);

			rc = bad ? bad : rc;
		} else {
			list_line(d, i);
		}
	}
	if (n == 0)
		printf("No devices were found\n");
	return n == 0 ? 6 : rc;
}

static int fail_init(int rc)
{
	char version[TEXT_MAX] = "";
	int (*fn)(char *text, unsigned len) = NULL;

	if (rc == 9) {
		printf("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
		       "Make sure that the latest NVIDIA driver is installed and running.\n\n");
		return rc;
	}
	bind(&fn, "nvmlSystemGetNVMLVersion");
	fn(version, sizeof version);
	printf("Failed to initialize NVML: %s\nNVML library version: %s\n", error_text(rc),
		version);
	return rc;
}

int main(int argc, char **argv)
{
	const char *keys = NULL;
	int (*init)(void) = NULL;
	int rc;

	library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!library) {
		printf("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n");
		return 12;
	}
	bind(&init, "nvmlInit_v2");
	rc = init();
	if (rc != 0)
		return fail_init(rc);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--query-gpu=", 12) == 0)
			keys = argv[i] + 12;
	}
	return each_gpu(keys);
}
