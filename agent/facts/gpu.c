/*
 * gpu - the driver's versions wherever they can be read (the loaded module, the one on the disk for
 * the running kernel, the libraries, and what NVML says), and who holds a GPU open.
 *
 * Whatever differs here is an upgrade that waits for its restart, or one that went half-way.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/module_version.h"
#include "agent/facts/source.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOLDERS_MAX     256
#define CGROUP_MAX      4096
#define MODINFO_TIMEOUT (5 * INT64_C(1000000000))

/* --- versions --- */

static void put_loaded(json_t *driver, const struct facts_env *env)
{
	AUTO_JSON nvidia = NULL;

	source_put_text(driver, "loaded", env->root, "/sys/module/nvidia/version", "");
	if (json_get(driver, "loaded") || facts_nvidia(env, &nvidia, NULL) < 0)
		return;
	json_put_str(driver, "loaded", json_get_str(nvidia, "loaded", NULL));
}

/* For a module that is compressed, and only of this process's own root. */
static void put_by_modinfo(json_t *driver, const char *release)
{
	const char *const argv[] = {"modinfo", "-F", "version", "-k", release, "nvidia", NULL};
	const struct proc p = {.argv = argv, .timeout = MODINFO_TIMEOUT};
	struct proc_result res;

	if (proc_run(&p, &res, NULL) < 0)
		return;
	if (proc_ok(&res) && str_trim(buf_str(&res.out)).n > 0)
		json_put_text(driver, "on_disk", str_trim(buf_str(&res.out)));
	proc_result_done(&res);
}

static void put_on_disk(json_t *driver, int root)
{
	char release[SOURCE_TEXT_MAX], version[MODULE_VERSION_MAX];

	if (!source_text(root, "/proc/sys/kernel/osrelease", "", release))
		return;
	switch (module_version(root, release, "nvidia", version)) {
	case MODULE_READ:
		json_put_str(driver, "on_disk", version);
		return;
	case MODULE_PACKED:
		if (source_is_own_root(root))
			put_by_modinfo(driver, release);
		return;
	case MODULE_NONE:
		return;
	}
}

/* libnvidia-ml.so.1 -> libnvidia-ml.so.610.57.04 */
static void put_user(json_t *driver, int root)
{
	static const char *const FOLDERS[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
		"/usr/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current",
		"/usr/lib", NULL};
	static const char NAME[] = "libnvidia-ml.so.";
	char to[PATH_MAX];

	for (const char *const *f = FOLDERS; *f; f++) {
		AUTO_FD dir = fs_open(root, *f, O_RDONLY | O_DIRECTORY, 0, true, NULL);
		const ssize_t n =
			dir < 0 ? -1 : readlinkat(dir, "libnvidia-ml.so.1", to, sizeof to - 1);
		const char *name;

		if (n <= 0)
			continue;
		to[n] = '\0';
		name = strrchr(to, '/') ? strrchr(to, '/') + 1 : to;
		if (str_starts(str_of(name), NAME) && isdigit((unsigned char)name[strlen(NAME)])) {
			json_put_str(driver, "user", name + strlen(NAME));
			return;
		}
	}
}

static json_t *read_driver(const struct facts_env *env)
{
	json_t *driver = json_object();

	put_loaded(driver, env);
	put_on_disk(driver, env->root);
	put_user(driver, env->root);
	return driver;
}

/* --- who holds a GPU --- */

static bool is_device(const char *path)
{
	return str_starts(str_of(path), "/dev/nvidia") || strcmp(path, "/dev/gdrdrv") == 0;
}

/* The first device that the process has open; false: none. */
static bool find_device(int proc, const char *pid, char out[static PATH_MAX])
{
	char path[32];
	const struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof path, "%.10s/fd", pid);
	dir = fs_dir_open(proc, path, NULL);
	while (dir && !found && (e = readdir(dir))) {
		const ssize_t n = readlinkat(dirfd(dir), e->d_name, out, PATH_MAX - 1);

		if (n > 0)
			out[n] = '\0';
		found = n > 0 && is_device(out);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* "0::/system.slice/nvidia-persistenced.service" -> its last part that is a unit. */
static void put_unit(json_t *holder, int proc, const char *pid)
{
	struct str rest, line, part, unit = {NULL, 0};
	char path[32];
	AUTO_BUF text;

	buf_init(&text, CGROUP_MAX);
	snprintf(path, sizeof path, "%.10s/cgroup", pid);
	if (!source_file(proc, path, &text))
		return;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		while (str_next(&line, '/', &part))
			if (str_ends(part, ".service") || str_ends(part, ".scope"))
				unit = part;
	if (unit.n > 0 && str_is_utf8(unit))
		json_put_text(holder, "unit", unit);
}

static json_t *read_holders(int root)
{
	AUTO_FD proc = fs_open(root, "/proc", O_RDONLY | O_DIRECTORY, 0, false, NULL);
	AUTO_JSON pids = proc < 0 ? NULL : source_list(root, "/proc");
	json_t *list = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach(pids, i, one)
	{
		const char *pid = json_string_value(one);
		char device[PATH_MAX];
		json_t *holder;

		if (!isdigit((unsigned char)pid[0]) || json_array_size(list) >= HOLDERS_MAX ||
			!find_device(proc, pid, device))
			continue;
		holder = json_object();
		json_put_int(holder, "pid", strtoll(pid, NULL, 10));
		source_put_text(holder, "program", proc, pid, "comm");
		json_put_str(holder, "device", device);
		put_unit(holder, proc, pid);
		json_array_append_new(list, holder);
	}
	return list;
}

/* --- what NVML says --- */

static void put_nvml(json_t *gpu, json_t *gpus)
{
	json_t *driver = json_get(gpu, "driver"), *uuids = json_array();
	const json_t *one;
	size_t i;

	json_put_int(gpu, "count", (int64_t)json_array_size(gpus));
	json_array_foreach(gpus, i, one)
	{
		const char *uuid = json_get_str(one, "uuid", NULL);

		if (uuid)
			json_array_append_new(uuids, json_string(uuid));
		json_put_str(driver, "nvml", json_get_str(one, "driver", NULL));
	}
	json_object_set_new(gpu, "uuids", uuids);
}

int facts_gpu(const struct facts_env *env, json_t **out, struct err *err)
{
	AUTO_JSON own = NULL;
	json_t *gpu = json_object(), *gpus = env->gpus;

	json_object_set_new(gpu, "driver", read_driver(env));
	json_object_set_new(gpu, "holders", read_holders(env->root));
	if (!gpus && facts_gpus(env, &own, err) == 0)
		gpus = own;
	if (json_is_array(gpus))
		put_nvml(gpu, gpus);
	else
		json_put_str(json_get(gpu, "driver"), "nvml_error",
			gpus  ? json_get_str(gpus, "error", "")
			: err ? err->msg
			      : "");
	*out = gpu;
	return 0;
}
