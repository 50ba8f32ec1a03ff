/* fence_command_fuzz - whatever a site's fence command prints at look. */
#include "controller/fence/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"n1", "n2", "gpu-03"};
	static const char *const command[] = {"/bin/false", NULL};
	const struct fence_opts o = {.kind = FENCE_COMMAND, .mark = "R1", .command = command};
	struct fence *f = NULL;
	if (fence_new(&o, names, 3, &f, NULL))
		return 0;
	fence_read_command(f, (struct str){(const char *)data, size}, 1, NULL);
	for (size_t i = 0; i < 3; i++)
		json_decref(fence_memory(f, i));
	fence_free(f);
	return 0;
}
