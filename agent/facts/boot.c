/* boot - which boot this is, and when it was. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>

#define KERNEL_PREFIX "vmlinuz-"
#define STAT_MAX      (4u << 20) /* it holds a counter per interrupt */

static void put_time(json_t *boot, int root)
{
	struct str rest, line;
	char text[24];
	uint64_t at;
	AUTO_BUF stat;

	buf_init(&stat, STAT_MAX);
	if (!source_file(root, "/proc/stat", &stat))
		return;
	rest = buf_str(&stat);
	while (str_line(&rest, &line)) {
		if (!str_starts(line, "btime "))
			continue;
		line = str_trim(str_from(line, strlen("btime ")));
		if (!str_to_u64(line, &at) || at > INT64_MAX / CLOCK_SEC)
			return;
		clock_format((int64_t)at * CLOCK_SEC, text);
		json_put_str(boot, "at", text);
	}
}

/* What a boot loader starts unless somebody chose otherwise: the newest kernel of /boot. */
static void put_next_kernel(json_t *boot, int root)
{
	AUTO_JSON names = source_list(root, "/boot");
	const char *newest = NULL, *name;
	const json_t *item;
	size_t i;

	json_array_foreach(names, i, item)
	{
		name = json_string_value(item);
		if (!str_starts(str_of(name), KERNEL_PREFIX))
			continue;
		name += strlen(KERNEL_PREFIX);
		if (!newest || strverscmp(name, newest) > 0)
			newest = name;
	}
	json_put_str(boot, "next_kernel", newest);
}

int facts_boot(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *boot = json_object();

	(void)err;
	source_put_text(boot, "id", env->root, "/proc/sys/kernel/random/boot_id", "");
	put_time(boot, env->root);
	put_next_kernel(boot, env->root);
	*out = boot;
	return 0;
}
