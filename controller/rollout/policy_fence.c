/* policy_fence - a policy's fence, reboot and timeouts, and which of them do not go together. */
#include "agent/base/err.h"
#include "controller/rollout/policy_priv.h"

#include <string.h>

static const char *const REBOOTS[] = {"agent", "fence", NULL};
const char *const ROLLOUT_TIMEOUT_NAMES[] = {
	"preflight", "stage", "fence", "apply", "services", "verify", "rollback", NULL};

_Static_assert(
	sizeof ROLLOUT_TIMEOUT_NAMES / sizeof ROLLOUT_TIMEOUT_NAMES[0] == ROLLOUT_TIMEOUTS + 1,
	"a word for each");

/* A program and its words: never a line for a shell. */
static int read_argv(const struct reader *r, const struct yaml_node *list, const char *what,
	const char *const **out, struct err *err)
{
	const char **argv;
	int rc = yaml_want_list(r->doc, list, what, err);

	if (rc < 0)
		return err_hint(err, "write a program and its words: [/etc/stoika/program, word]");
	if (list->n == 0 || list->n > ROLLOUT_ARGV_MAX) {
		yaml_err(r->doc, list, err, E_SCHEMA, "%s takes one to %d words", what,
			ROLLOUT_ARGV_MAX);
		return err_hint(err, "write a program and its words: [/etc/stoika/program, word]");
	}
	argv = arena_alloc(r->arena, (list->n + 1) * sizeof *argv);
	for (unsigned i = 0; i < list->n && rc == 0; i++) {
		struct str word = {"", 0};

		rc = yaml_want_text(r->doc, list->item[i], what, &word, err);
		argv[i] = arena_text(r->arena, word);
		if (rc == 0 && i == 0 && word.n == 0)
			rc = yaml_err(r->doc, list->item[i], err, E_SCHEMA,
				"%s begins with no program", what);
	}
	*out = argv;
	return rc;
}

/* A time of nothing would end each try before it began. */
static int read_limit(const struct reader *r, const struct yaml_node *map, const char *key,
	int64_t *out, struct err *err)
{
	const struct yaml_node *n = yaml_get(map, key);
	char what[40];
	int rc;

	if (!n)
		return 0;
	snprintf(what, sizeof what, "'%s'", key);
	rc = policy_read_span(r, n, what, out, err);
	if (rc == 0 && *out == 0) {
		yaml_err(
			r->doc, n, err, E_SCHEMA, "%s of no time would end before it begins", what);
		rc = err_hint(err, "leave it out for the preset, or give it longer");
	}
	return rc;
}

int policy_read_fence(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	static const char *const FENCE_KEYS[] = {
		"by", "jobs", "deadline", "grace", "command", "prefix", "kubeconfig", NULL};
	struct rollout_fence *f = &r->out->fence;
	unsigned by = f->by, jobs = f->jobs;
	struct str file = {"", 0};
	const struct yaml_node *v;
	int rc = yaml_want_map(r->doc, map, "'fence'", err);

	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, FENCE_KEYS, err);
	if (rc == 0 && (v = yaml_get(map, "by")))
		rc = policy_read_word(r, v, "a fence", FENCE_KIND_NAMES, &by, err);
	if (rc == 0 && (v = yaml_get(map, "jobs")))
		rc = policy_read_word(r, v, "'jobs'", FENCE_JOBS_NAMES, &jobs, err);
	f->by = (enum fence_kind)by;
	f->jobs = (enum fence_jobs)jobs;
	if (rc == 0)
		rc = read_limit(r, map, "deadline", &f->deadline, err);
	if (rc == 0 && (v = yaml_get(map, "grace")))
		rc = policy_read_span(r, v, "'grace'", &f->grace, err);
	if (rc == 0 && (v = yaml_get(map, "command")))
		rc = read_argv(r, v, "'command'", &f->command, err);
	if (rc == 0 && (v = yaml_get(map, "prefix")))
		rc = read_argv(r, v, "'prefix'", &f->prefix, err);
	if (rc == 0 && (v = yaml_get(map, "kubeconfig"))) {
		rc = yaml_want_text(r->doc, v, "'kubeconfig'", &file, err);
		f->kubeconfig = arena_text(r->arena, file);
	}
	return rc;
}

int policy_read_reboot(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	static const char *const REBOOT_KEYS[] = {"by", "within", "power_cycle", NULL};
	unsigned by = r->out->reboot_by_fence;
	const struct yaml_node *v;
	int rc = yaml_want_map(r->doc, map, "'reboot'", err);

	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, REBOOT_KEYS, err);
	if (rc == 0 && (v = yaml_get(map, "by")))
		rc = policy_read_word(r, v, "who reboots", REBOOTS, &by, err);
	r->out->reboot_by_fence = by == 1;
	if (rc == 0)
		rc = read_limit(r, map, "within", &r->out->reboot_within, err);
	if (rc == 0 && (v = yaml_get(map, "power_cycle")))
		rc = read_argv(r, v, "'power_cycle'", &r->out->power_cycle, err);
	return rc;
}

int policy_read_timeouts(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	int rc = yaml_want_map(r->doc, map, "'timeouts'", err);

	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, ROLLOUT_TIMEOUT_NAMES, err);
	for (unsigned i = 0; i < ROLLOUT_TIMEOUTS && rc == 0; i++)
		rc = read_limit(r, map, ROLLOUT_TIMEOUT_NAMES[i], &r->out->timeouts[i], err);
	return rc;
}

static int judge_command(const struct reader *r, const struct yaml_node *fence, struct err *err)
{
	const struct rollout_fence *f = &r->out->fence;

	if (f->by == FENCE_COMMAND && !f->command) {
		yaml_err(r->doc, fence, err, E_CONFLICT, "a fence by command needs its 'command'");
		return err_hint(err, "write command: [/etc/stoika/fence]");
	}
	if (f->by != FENCE_COMMAND && yaml_get(fence, "command")) {
		yaml_err(r->doc, yaml_key(fence, "command"), err, E_CONFLICT,
			"'command' is for a fence by command, this one is by %s",
			FENCE_KIND_NAMES[f->by]);
		return err_hint(err, "write by: command");
	}
	return 0;
}

static int judge_scheduler(const struct reader *r, const struct yaml_node *fence, struct err *err)
{
	const enum fence_kind by = r->out->fence.by;

	if (by != FENCE_KUBERNETES && yaml_get(fence, "kubeconfig")) {
		yaml_err(r->doc, yaml_key(fence, "kubeconfig"), err, E_CONFLICT,
			"'kubeconfig' is for a fence by kubernetes, this one is by %s",
			FENCE_KIND_NAMES[by]);
		return err_hint(err, "write by: kubernetes");
	}
	if (by != FENCE_SLURM && by != FENCE_KUBERNETES && yaml_get(fence, "prefix")) {
		yaml_err(r->doc, yaml_key(fence, "prefix"), err, E_CONFLICT,
			"'prefix' stands before a scheduler's programs, and a fence by %s has none",
			FENCE_KIND_NAMES[by]);
		return err_hint(err, by == FENCE_COMMAND ? "put it into command: [...]"
							 : "write by: slurm or by: kubernetes");
	}
	return 0;
}

int policy_judge_fence(const struct reader *r, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *fence = yaml_get(root, "fence"), *reboot = yaml_get(root, "reboot");
	const enum fence_kind by = r->out->fence.by;
	int rc = fence ? judge_command(r, fence, err) : 0;

	if (rc == 0 && fence)
		rc = judge_scheduler(r, fence, err);
	if (rc < 0 || !r->out->reboot_by_fence || by == FENCE_SLURM || by == FENCE_COMMAND)
		return rc;
	yaml_err(r->doc, reboot ? reboot : fence, err, E_CONFLICT,
		"a fence by %s cannot restart nodes", FENCE_KIND_NAMES[by]);
	return err_hint(err, "write reboot: {by: agent}");
}
