/* rollout - a rollout foretold from the inventory: who goes when, and which limit holds the others.
 */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/json.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/rollout/explain.h"
#include "controller/rollout/power.h"
#include "controller/rollout/site.h"
#include "controller/rollout/stages.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX      (16u << 20)
#define TAKES_DEFAULT 20 /* minutes a node */

struct foretelling {
	struct node_rows rows;
	struct node_refs refs;
	struct model *m;
	struct rollout_policy policy;
	struct rollout_node *nodes;
	size_t *devices;
	struct audit audit;
	struct rollout_circuits *circuits;
	struct rollout *rollout;
	struct explanation told;
	int64_t takes;
};

static int read_takes(const struct invocation *inv, int64_t *out, struct err *err)
{
	const char *text = option_get(inv, "takes");
	uint64_t minutes = TAKES_DEFAULT;

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

	if (file)
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

/* The inventory, the nodes that are meant, and the audit that power is weighed by. */
static int read_site(const struct invocation *inv, struct foretelling *f, struct err *err)
{
	struct audit_opts opts = {0};
	struct store *s = NULL;
	int rc = session_open(inv, STORE_READ, &s, err);

	if (rc == 0)
		rc = session_nodes(inv, s, inv->args[0], &f->rows, &f->refs, err);
	if (rc == 0)
		rc = store_load_model(s, option_get(inv, "site"), &f->m, err);
	store_close(s);
	if (rc == 0)
		rc = read_basis(inv, &opts.basis, err);
	if (rc == 0)
		rc = audit_run(f->m, &opts, &f->audit, err);
	if (rc == 0)
		rc = rollout_site(inv->arena, f->m, &f->refs, &f->nodes, &f->devices, err);
	return rc;
}

static int foretell(const struct invocation *inv, struct foretelling *f, struct err *err)
{
	struct rollout_power power;
	int rc = read_takes(inv, &f->takes, err);

	if (rc == 0)
		rc = read_policy(inv, &f->policy, err);
	if (rc == 0)
		rc = read_site(inv, f, err);
	if (rc < 0)
		return rc;
	f->circuits = rollout_circuits_new(&f->audit, f->devices, f->refs.n);
	power = rollout_circuits_limit(f->circuits);
	rc = rollout_new(&f->policy, f->nodes, f->refs.n, &power, &f->rollout, err);
	if (rc == 0)
		explain_make(inv->arena, f->rollout, f->refs.n, f->takes, clock_wall() / CLOCK_SEC,
			&f->told);
	return rc;
}

static void foretelling_done(struct foretelling *f)
{
	explain_done(&f->told);
	rollout_free(f->rollout);
	rollout_circuits_free(f->circuits);
	audit_done(&f->audit);
	model_free(f->m);
	vec_done(&f->refs);
	vec_done(&f->rows);
}

/* --- shown --- */

static void fold(const struct foretelling *f, const struct explain_turn *t, struct buf *out)
{
	struct node_refs refs = VEC_INIT;

	for (size_t i = 0; i < t->n; i++)
		*vec_push(&refs) = f->refs.at[f->told.who.at[t->first + i]];
	range_fold(&refs, out);
	vec_done(&refs);
}

static void add_span(struct buf *out, int64_t ns)
{
	const int64_t minutes = ns / CLOCK_SEC / 60;

	buf_addf(out, "%lld:%02lld", (long long)(minutes / 60), (long long)(minutes % 60));
}

static void add_turn(const struct foretelling *f, const struct explain_turn *t, struct buf *out)
{
	AUTO_BUF at, who, stage;

	buf_init(&at, 32);
	buf_init(&stage, 32);
	buf_init(&who, TEXT_MAX);
	add_span(&at, t->at);
	fold(f, t, &who);
	if (t->stage == 0)
		buf_add_text(&stage, "canaries");
	else
		buf_addf(&stage, "wave %u", t->stage);
	buf_addf(
		out, "%8s  %-8s %3zu  %s\n", buf_text(&at), buf_text(&stage), t->n, buf_text(&who));
	if (t->waiting > 0)
		buf_addf(out, "%25s%zu wait: %s\n", "", t->waiting, t->why ? t->why : "");
}

static void add_end(const struct foretelling *f, struct buf *out)
{
	buf_add_char(out, '\n');
	if (f->told.never > 0)
		buf_addf(out, "%zu nodes would never go: %s\n", f->told.never, f->told.never_why);
	buf_add_text(out, "all who can are back after ");
	add_span(out, f->told.took);
	buf_addf(out, " h, if each takes %lld min and none fails\n",
		(long long)(f->takes / CLOCK_SEC / 60));
}

static void print_text(const struct foretelling *f)
{
	AUTO_BUF out;

	buf_init(&out, TEXT_MAX);
	buf_addf(&out, "policy '%s', %zu nodes\n\n", f->policy.name, f->refs.n);
	buf_add_text(&out, "   after  stage      n  who goes\n");
	vec_each(&f->told.turns, struct explain_turn, t)
		add_turn(f, t, &out);
	add_end(f, &out);
	session_print_lines(&out);
}

static json_t *turn_json(const struct foretelling *f, const struct explain_turn *t)
{
	json_t *o = json_object(), *who = json_array(), *held = json_object();

	json_put_int(o, "after_s", t->at / CLOCK_SEC);
	json_put_int(o, "stage", t->stage);
	for (size_t i = 0; i < t->n; i++)
		json_array_append_new(
			who, json_string(f->nodes[f->told.who.at[t->first + i]].name));
	json_object_set_new(o, "nodes", who);
	json_put_int(o, "waiting", (int64_t)t->waiting);
	if (t->why)
		json_put_str(o, "why", t->why);
	for (int i = 0; i < LIMIT_N; i++)
		if (t->by_limit[i] > 0)
			json_put_int(held, ROLLOUT_LIMITS[i], (int64_t)t->by_limit[i]);
	json_object_set_new(o, "held_by", held);
	return o;
}

static void print_json(const struct foretelling *f)
{
	AUTO_JSON o = json_object();
	json_t *turns = json_array();

	json_put_str(o, "policy", f->policy.name);
	json_put_int(o, "nodes", (int64_t)f->refs.n);
	vec_each(&f->told.turns, struct explain_turn, t)
		json_array_append_new(turns, turn_json(f, t));
	json_object_set_new(o, "turns", turns);
	json_put_int(o, "took_s", f->told.took / CLOCK_SEC);
	json_put_int(o, "never", (int64_t)f->told.never);
	json_put_str(o, "never_why", f->told.never_why);
	session_print_json(o);
}

static int run_explain(struct invocation *inv)
{
	struct foretelling f = {0};
	struct err err;
	int code = EXIT_OK;

	if (foretell(inv, &f, &err) < 0)
		code = command_fail(inv, &err);
	else if (inv->json)
		print_json(&f);
	else
		print_text(&f);
	if (code == EXIT_OK && f.told.never > 0)
		code = EXIT_SOME;
	foretelling_done(&f);
	return code;
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
	{"policy", 0, "FILE", "the rollout policy; without it the preset", false},
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
		"    soak: {canary: 0s, wave: 0s}       # then wait; or one time for both\n"
		"    max_unavailable: 10%               # down, drained or at work at once\n"
		"    budgets: {rack: 1}                 # at once; also of feed, leaf ...\n"
		"    failures: {most: 5%, same: 2}      # more, or so many alike: pause\n"
		"    order: name                        # or rack (spread), random\n"
		"    retry: 1\n"
		"    on_failure: rollback               # or quarantine, stop\n"
		"\n"
		"and these are not set there:\n"
		"\n"
		"    unit: nvlink_domain                # who has one value goes together\n"
		"    pair: mirror                       # who has one value: never two\n"
		"    window: {days: [sat], from: \"22:00\", to: \"06:00\", utc: \"+03:00\"}\n"
		"    seed: 7                            # of order: random\n"
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
