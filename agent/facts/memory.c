/* memory - what /proc/meminfo says in total, in bytes. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>

/* "MemTotal:  528280812 kB" */
static void put(json_t *memory, const char *name, struct str line, const char *key)
{
	uint64_t kib;

	if (!str_starts(line, key))
		return;
	line = str_trim(str_from(line, strlen(key)));
	if (!str_ends(line, " kB"))
		return;
	line = str_trim(str_first(line, line.n - strlen(" kB")));
	if (str_to_u64(line, &kib) && kib <= INT64_MAX / 1024)
		json_put_int(memory, name, (int64_t)kib * 1024);
}

int facts_memory(const struct facts_env *env, json_t **out, struct err *err)
{
	struct str rest, line;
	AUTO_BUF text;
	json_t *memory;

	buf_init(&text, 64u << 10);
	if (!source_file(env->root, "/proc/meminfo", &text))
		return err_set(err, E_IO, "cannot read '/proc/meminfo'");
	memory = json_object();
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		put(memory, "total_bytes", line, "MemTotal:");
		put(memory, "swap_bytes", line, "SwapTotal:");
	}
	*out = memory;
	return 0;
}
