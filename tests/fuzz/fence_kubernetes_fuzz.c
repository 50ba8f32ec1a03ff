/* fence_kubernetes_fuzz - whatever kubectl prints, and the patch that is made of it. */
#include "controller/fence/kubernetes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"n1", "n2", "gpu-03"};
	const struct fence_opts o = {.kind = FENCE_KUBERNETES, .mark = "R1"};
	const struct str text = {(const char *)data, size};
	struct fence *f = NULL;
	if (fence_new(&o, names, 3, &f, NULL))
		return 0;
	fence_read_kubernetes(f, text, text, 1, NULL);
	for (size_t i = 0; i < 3; i++) {
		struct words argv = VEC_INIT;
		json_decref(fence_memory(f, i));
		f->batch[0] = i;
		f->n_batch = 1;
		FENCE_KUBERNETES_OPS.argv(f, i ? ACT_CLOSE : ACT_OPEN, &argv);
		vec_done(&argv);
		f->act = ACT_MOVE;
		AUTO_BUF words;
		buf_init(&words, 1024);
		FENCE_KUBERNETES_OPS.explain(f, &f->nodes[i], text, &words);
		FENCE_KUBERNETES_OPS.read(f, ACT_WHY, text, 1, NULL);
	}
	fence_free(f);
	return 0;
}
