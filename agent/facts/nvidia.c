/* nvidia - the kernel module that is loaded, from /proc/driver/nvidia/version; nothing without one.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#define VERSION_FILE "/proc/driver/nvidia/version"
#define FILE_MAX     65536

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  610.57.04  Release Build ..." */
static void put_module(json_t *nvidia, struct str line)
{
	struct str word;

	json_put_bool(nvidia, "open", str_find_str(line, str_of("Open Kernel Module")) != STR_NONE);
	while (str_next(&line, ' ', &word)) {
		if (word.n == 0 || word.p[0] < '0' || word.p[0] > '9' ||
			str_find(word, '.') == STR_NONE)
			continue;
		json_put_text(nvidia, "loaded", word);
		return;
	}
}

int facts_nvidia(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *nvidia = json_object();
	struct str rest, line;
	AUTO_BUF text;

	(void)err;
	buf_init(&text, FILE_MAX);
	if (source_file(env->root, VERSION_FILE, &text)) {
		rest = buf_str(&text);
		if (str_line(&rest, &line) && str_starts(line, "NVRM version:"))
			put_module(nvidia, line);
	}
	*out = nvidia;
	return 0;
}
