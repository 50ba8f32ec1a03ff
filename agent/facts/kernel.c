/*
 * kernel - the running kernel and the one that a boot would start: their headers, the modules that
 * DKMS keeps for them (from its folders, without running it), and what the driver said in this
 * boot.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/kernel_log.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"
#include "agent/facts/xid.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DKMS     "/var/lib/dkms"
#define DKMS_MAX 256
#define XID_MAX  20 /* the last ones are told, all are counted */
#define LOG_MAX  (32u << 20)

static bool has_headers(int root, const char *release)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "/lib/modules/%.128s/build/Makefile", release);
	return source_exists(root, path);
}

static void put_headers(json_t *kernel, int root)
{
	static const char *const keys[] = {"running", "boot", NULL};
	json_t *headers = json_object();

	for (const char *const *k = keys; *k; k++) {
		const char *release = json_get_str(kernel, *k, NULL);

		if (release)
			json_put_bool(headers, *k, has_headers(root, release));
	}
	json_object_set_new(kernel, "headers", headers);
}

static bool there(int root, const char *path, const char *more)
{
	char whole[PATH_MAX];
	struct stat st;
	const int n = snprintf(whole, sizeof whole, "%s%s", path, more);

	return n > 0 && (size_t)n < sizeof whole && fs_stat(root, whole, false, &st, NULL) == 0;
}

static void add_dkms(json_t *list, const char *module, const char *version, const char *kernel,
	const char *state)
{
	json_t *one;

	if (json_array_size(list) >= DKMS_MAX)
		return;
	one = json_object();
	json_put_str(one, "module", module);
	json_put_str(one, "version", version);
	json_put_str(one, "kernel", kernel);
	json_put_str(one, "state", state);
	json_array_append_new(list, one);
}

/* VERSION/KERNEL/ARCH/module is a build; MODULE/kernel-KERNEL-ARCH leads to the installed one. */
static bool add_build(
	json_t *list, int root, const char *module, const char *version, const char *kernel)
{
	char folder[PATH_MAX], link[PATH_MAX];
	AUTO_JSON arches = NULL;
	const char *arch;
	bool any = false;
	const json_t *one;
	size_t i;

	snprintf(folder, sizeof folder, DKMS "/%.64s/%.64s/%.128s", module, version, kernel);
	arches = source_list(root, folder);
	json_array_foreach(arches, i, one)
	{
		arch = json_string_value(one);
		snprintf(folder, sizeof folder, DKMS "/%.64s/%.64s/%.128s/%.32s/module", module,
			version, kernel, arch);
		if (!source_exists(root, folder))
			continue;
		snprintf(
			link, sizeof link, DKMS "/%.64s/kernel-%.128s-%.32s", module, kernel, arch);
		add_dkms(list, module, version, kernel,
			there(root, link, "") ? "installed" : "built");
		any = true;
	}
	return any;
}

static void add_version(json_t *list, int root, const char *module, const char *version)
{
	char folder[PATH_MAX];
	AUTO_JSON names = NULL;
	const json_t *one;
	bool any = false;
	size_t i;

	snprintf(folder, sizeof folder, DKMS "/%.64s/%.64s", module, version);
	names = source_list(root, folder);
	json_array_foreach(names, i, one)
	{
		const char *name = json_string_value(one);

		if (strcmp(name, "source") != 0 && strcmp(name, "build") != 0)
			any |= add_build(list, root, module, version, name);
	}
	/* The log of a build stays in its folder only when the build failed. */
	if (there(root, folder, "/build/make.log"))
		add_dkms(list, module, version, NULL, "failed");
	else if (!any && there(root, folder, "/source"))
		add_dkms(list, module, version, NULL, "added");
}

static void put_dkms(json_t *kernel, int root)
{
	AUTO_JSON modules = source_list(root, DKMS);
	json_t *list = json_array();
	const json_t *module, *version;
	size_t i, k;

	json_array_foreach(modules, i, module)
	{
		char folder[PATH_MAX];
		AUTO_JSON versions = NULL;

		snprintf(folder, sizeof folder, DKMS "/%.64s", json_string_value(module));
		versions = source_list(root, folder);
		json_array_foreach(versions, k, version)
		{
			if (!str_starts(str_of(json_string_value(version)), "kernel-"))
				add_version(list, root, json_string_value(module),
					json_string_value(version));
		}
	}
	json_object_set_new(kernel, "dkms", list);
}

static json_t *xid_json(const struct xid *x)
{
	json_t *one = json_object();

	if (x->code >= 0)
		json_put_int(one, "code", x->code);
	if (x->slot.n > 0)
		json_put_text(one, "slot", x->slot);
	if (x->of_switch)
		json_put_bool(one, "switch", true);
	json_put_text(one, "text", str_first_utf8(x->text, 300));
	return one;
}

/* Absent where the log cannot be read: "none" would be a lie. */
static void put_xids(json_t *kernel, int root)
{
	json_t *list;
	struct str rest, line;
	struct xid x;
	int64_t n = 0;
	AUTO_BUF log;

	buf_init(&log, LOG_MAX);
	if (kernel_log_read(root, &log, NULL) < 0)
		return;
	list = json_array();
	rest = buf_str(&log);
	while (str_line(&rest, &line)) {
		if (!xid_parse(line, &x))
			continue;
		n++;
		if (json_array_size(list) == XID_MAX)
			json_array_remove(list, 0);
		if (str_is_utf8(x.text))
			json_array_append_new(list, xid_json(&x));
	}
	json_put_int(kernel, "xids", n);
	json_object_set_new(kernel, "xid", list);
}

int facts_kernel(const struct facts_env *env, json_t **out, struct err *err)
{
	AUTO_JSON boot = NULL;
	json_t *kernel = json_object();

	source_put_text(kernel, "running", env->root, "/proc/sys/kernel/osrelease", "");
	if (facts_boot(env, &boot, err) == 0)
		json_put_str(kernel, "boot", json_get_str(boot, "next_kernel", NULL));
	put_headers(kernel, env->root);
	put_dkms(kernel, env->root);
	put_xids(kernel, env->root);
	*out = kernel;
	return 0;
}
