/* pci - every function on the bus, from /sys/bus/pci/devices; numbers as hex without 0x. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <limits.h>
#include <stdio.h>

static void put_hex(json_t *device, const char *key, int root, const char *folder)
{
	char text[SOURCE_TEXT_MAX];
	struct str hex;

	if (!source_text(root, folder, key, text))
		return;
	hex = str_of(text);
	if (str_starts(hex, "0x"))
		hex = str_from(hex, 2);
	json_put_text(device, key, hex);
}

int facts_pci(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *slots = source_list(env->root, "/sys/bus/pci/devices"), *pci, *slot;
	char folder[PATH_MAX];
	size_t i;

	/* A node without a PCI bus (containers, some ARM boards) has no devices on it. */
	(void)err;
	pci = json_array();
	json_array_foreach(slots, i, slot)
	{
		json_t *device = json_object();

		json_object_set(device, "slot", slot);
		snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", json_string_value(slot));
		put_hex(device, "vendor", env->root, folder);
		put_hex(device, "device", env->root, folder);
		put_hex(device, "class", env->root, folder);
		json_array_append_new(pci, device);
	}
	json_decref(slots);
	*out = pci;
	return 0;
}
