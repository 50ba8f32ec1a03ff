/* rollout - a rollout foretold from the inventory, and the states of its nodes. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "controller/command/foretell.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/rollout/stages.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (16u << 20)

static int read_takes(const struct invocation *inv, int64_t *out, struct err *err)
{
	const char *text = option_get(inv, "takes");
	uint64_t minutes = FORETELL_TAKES;

	if (text && (!str_to_u64(str_of(text), &minutes) || minutes == 0 || minutes > 10000)) {
		err_set(err, E_SYNTAX, "--takes must be minutes, not '%.40s'", text);
		return err_hint(err, "such as --takes 20");
	}
	*out = (int64_t)minutes * 60 * CLOCK_SEC;
	return 0;
}

static int read_policy(const struct invocation *inv, struct rollout_policy *out, struct err *err)
{
	const char *file = option_get(inv, "policy");

	if (file && strcmp(file, "default") != 0)
		return rollout_policy_load(inv->arena, file, out, err);
	rollout_policy_preset(out);
	return 0;
}

static int read_basis(const struct invocation *inv, enum power_basis *out, struct err *err)
{
	const char *word = option_get(inv, "basis");
	const int basis = word ? model_word(MODEL_BASES, word) : BASIS_MEASURED;

	if (basis < 0) {
		err_set(err, E_SYNTAX, "there is no basis '%s'", word);
		return err_hint(err, "nameplate, max, capped or measured");
	}
	*out = (enum power_basis)basis;
	return 0;
}

static int explain(const struct invocation *inv, struct err *err)
{
	struct store *s = NULL;
	struct node_rows rows = VEC_INIT;
	struct node_refs refs = VEC_INIT;
	struct rollout_policy policy;
	struct foretell ask = {.policy = &policy, .nodes = &refs, .site = option_get(inv, "site")};
	int code = read_takes(inv, &ask.takes, err);

	if (code == 0)
		code = read_policy(inv, &policy, err);
	if (code == 0)
		code = read_basis(inv, &ask.basis, err);
	if (code == 0)
		code = session_open(inv, STORE_READ, &s, err);
	if (code == 0)
		code = session_nodes(inv, s, inv->args[0], &rows, &refs, err);
	if (code == 0)
		code = foretell(inv, s, &ask, err);
	vec_done(&refs);
	vec_done(&rows);
	store_close(s);
	return code;
}

static int run_explain(struct invocation *inv)
{
	struct err err;
	const int code = explain(inv, &err);

	return code < 0 ? command_fail(inv, &err) : code;
}

static int run_states(struct invocation *inv)
{
	AUTO_BUF out;

	buf_init(&out, TEXT_MAX);
	node_draw(&out);
	session_print_document(inv, &out);
	return EXIT_OK;
}

static const struct option EXPLAIN_OPTIONS[] = {
	{"policy", 0, "FILE", "the rollout policy; without it, or with 'default', the preset",
		false},
	{"takes", 0, "MINUTES", "that a node is out; 20 when not given", false},
	{"basis", 0, "BASIS", "what the others draw: nameplate, max, capped or measured", false},
	{"site", 0, "SITE", "when there are several", false},
	{0},
};

const struct command COMMAND_ROLLOUT_EXPLAIN = {
	.name = "rollout explain",
	.args = "NODES",
	.min_args = 1,
	.max_args = 1,
	.summary = "foretell a rollout: who goes when, and what holds back the others",
	.about =
		"Plays the policy over the inventory: canaries of each hardware class, waves, soak,\n"
		"max_unavailable, budgets of racks, feeds, leaf switches and whatever else nodes\n"
		"share, pairs, and power: no circuit may be pushed over its limit by those that are\n"
		"at work. Nothing is changed, no node is asked. Status 1 when nodes could never go.\n"
		"\n"
		"A policy is a file of YAML. This one is the preset, which also stands for what a\n"
		"policy leaves out:\n"
		"\n"
		"    rollout: preset                    # its name, else the file's\n"
		"    canary: {by: [type, os], count: 1} # of each class, before any wave\n"
		"    waves: [1, 5%, 25%, 100%]          # gone when each of them ends\n"
		"    soak: {canary: 0s, wave: 0s, node: 0s}   # then wait; node: each, once back\n"
		"    max_unavailable: 10%               # down, drained or at work at once\n"
		"    budgets: {rack: 1}                 # at once; also of feed, leaf ...\n"
		"    failures: {most: 5%, same: 2}      # more, or so many alike: pause\n"
		"    order: name                        # or rack (spread), random\n"
		"    retry: 1\n"
		"    on_failure: rollback               # or quarantine, stop\n"
		"    fence: {by: none, jobs: wait, deadline: 8h, grace: 2m}\n"
		"    reboot: {by: agent, within: 15m}   # or by: fence, Slurm's own\n"
		"    timeouts: {preflight: 5m, stage: 30m, fence: 5m, apply: 1h,\n"
		"               services: 10m, verify: 15m, rollback: 1h}\n"
		"\n"
		"and these are not set there:\n"
		"\n"
		"    unit: nvlink_domain                # who has one value goes together\n"
		"    pair: mirror                       # who has one value: never two\n"
		"    window: {days: [sat], from: \"22:00\", to: \"06:00\", utc: \"+03:00\"}\n"
		"    seed: 7                            # of order: random\n"
		"\n"
		"A fence is by slurm, kubernetes or command (command: [PROGRAM, WORD...]); jobs that\n"
		"still run at the deadline are waited for no longer (wait: the node is given back),\n"
		"put back into the queue (requeue) or ended (cancel). prefix: [ssh, HEAD] stands\n"
		"before the scheduler's programs, kubeconfig: names a FILE. reboot takes\n"
		"power_cycle: [PROGRAM, WORD...], run with the node's name when it is not back.\n"
		"\n"
		"An amount is a number of nodes or a share of them. What nodes share is rack, feed,\n"
		"leaf, partition, type, os or a variable of theirs. Canaries count in the waves: a wave\n"
		"that they fill already is passed over.\n",
	.options = EXPLAIN_OPTIONS,
	.run = run_explain,
};

const struct command COMMAND_ROLLOUT_STATES = {
	.name = "rollout states",
	.args = "",
	.min_args = 0,
	.max_args = 0,
	.summary = "the states of a node in a rollout, as a Graphviz drawing",
	.about = "Made from the one table of states and ways between them. 'dot -Tsvg' draws it.\n",
	.run = run_states,
};
