/* host - the node's own name and its machine id. */
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

int facts_host(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *host = json_object();

	(void)err;
	source_put_text(host, "name", env->root, "/proc/sys/kernel/hostname", "");
	if (!json_get(host, "name"))
		source_put_text(host, "name", env->root, "/etc/hostname", "");
	source_put_text(host, "machine_id", env->root, "/etc/machine-id", "");
	*out = host;
	return 0;
}
