/* fence_slurm_fuzz - whatever scontrol and squeue print. */
#include "agent/base/hostlist.h"
#include "controller/fence/fence_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"n1", "n2", "gpu-03"};
	const struct fence_opts o = {.kind = FENCE_SLURM, .mark = "R1"};
	const struct str text = {(const char *)data, size};
	struct fence *f = NULL;
	if (fence_new(&o, names, 3, &f, NULL))
		return 0;
	fence_read_slurm(f, text, 1, NULL);
	for (size_t i = 0; i < 3; i++) {
		json_decref(fence_memory(f, i));
		f->batch[f->n_batch++] = i;
	}
	FENCE_SLURM_OPS.read(f, ACT_JOBS, text, 2, NULL);
	FENCE_SLURM_OPS.read(f, ACT_ABOUT, text, 2, NULL);
	fence_free(f);
	return 0;
}
