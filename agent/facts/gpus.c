/*
 * gpus - NVIDIA devices, asked of NVML by a short-lived child.
 *
 * A driver that hangs then costs GPU_DEADLINE and no more, and this program
 * never holds a GPU open. No library means no GPUs; a library that fails is an
 * error, since "none" would be a lie.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/proc.h"
#include "agent/facts/groups_priv.h"

#include <stdlib.h>
#include <string.h>

#define GPU_DEADLINE (10 * CLOCK_SEC)
#define ANSWER_MAX   (1u << 20)

static int parse(const struct proc_result *res, json_t **out, struct err *err)
{
	json_t *gpus;
	int rc;

	rc = json_parse(buf_str(&res->out), ANSWER_MAX, "gpu-probe", &gpus, err);
	if (rc < 0)
		return rc;
	if (!json_is_array(gpus)) {
		json_decref(gpus);
		return err_set(err, E_SCHEMA, "the answer of gpu-probe is not a list");
	}
	*out = gpus;
	return 0;
}

/* The child's last words say what NVML said. */
static int explain(const struct proc *p, const struct proc_result *res, struct err *err)
{
	const struct str said = str_trim(buf_str(&res->err));

	if (res->end == PROC_TIMED_OUT) {
		err_set(err, E_TIMEOUT, "the GPU driver did not answer within 10 s");
		return err_hint(
			err, "look for 'NVRM' and 'Xid' in 'dmesg', the node may need a reboot");
	}
	if (res->end != PROC_EXITED || said.n == 0)
		return proc_fail(p, res, err);
	err_set(err, E_STATE, "the GPUs cannot be read: " STR_FMT, STR_ARG(said));
	return err_hint(err, "run 'nvidia-smi' on the node");
}

int facts_gpus(const struct facts_env *env, json_t **out, struct err *err)
{
	const char *const argv[] = {env->self, "gpu-probe", NULL};
	const char *search = getenv("LD_LIBRARY_PATH");
	AUTO_BUF path;
	struct proc_result res;
	int rc;

	buf_init(&path, 8192);
	if (!env->self) {
		*out = json_array();
		return 0;
	}
	/* The library's place is the one variable that the child must share with us. */
	buf_addf(&path, "LD_LIBRARY_PATH=%s", search ? search : "");

	const char *const vars[] = {PROC_ENV_CLEAN[0], "LC_ALL=C.UTF-8", "HOME=/",
		search ? buf_text(&path) : NULL, NULL};
	const struct proc p = {.argv = argv, .env = vars, .timeout = GPU_DEADLINE};

	rc = proc_run(&p, &res, err);
	if (rc < 0)
		return rc;
	rc = proc_ok(&res) ? parse(&res, out, err) : explain(&p, &res, err);
	proc_result_done(&res);
	return rc;
}
