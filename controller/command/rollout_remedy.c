/*
 * rollout_remedy - what a person does about a node, by the state it came to rest in: commands that
 * can be copied as they are, from looking (changes nothing) to giving it back (jobs come at once).
 */
#include "controller/command/rollout_page.h"

#include <stdio.h>
#include <string.h>

#define FILES_NAMED   4u
#define COMMAND_MAX   16384
#define SETTING_MAX   ((size_t)1 << 20)
#define SETTING_SHORT 60u

struct remedies {
	const struct rollout_page *g;
	struct arena *a;
	struct remedy *out;
	size_t n;
};

static void add(struct remedies *r, enum text_key part, enum text_key why, const char *command)
{
	if (r->n < REMEDIES_MAX)
		r->out[r->n++] = (struct remedy){part, command, why};
}

/* A word as a shell reads it back. */
static void add_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./:=@,+%";

	if (*word && word[strspn(word, plain)] == '\0') {
		buf_add_text(out, word);
		return;
	}
	buf_add_char(out, '\'');
	for (const char *p = word; *p; p++)
		if (*p == '\'')
			buf_add_text(out, "'\\''");
		else
			buf_add_char(out, *p);
	buf_add_char(out, '\'');
}

static void add_words(struct buf *out, const char *const *argv)
{
	for (size_t i = 0; argv && argv[i]; i++) {
		add_word(out, argv[i]);
		buf_add_char(out, ' ');
	}
}

static const char *name_of(const struct remedies *r)
{
	return r->g->n->row->name;
}

/* A command on the node itself. */
static void add_ssh(struct remedies *r, enum text_key part, enum text_key why, const char *command)
{
	const struct node_row *n = r->g->node;
	AUTO_BUF line = {0};

	buf_init(&line, COMMAND_MAX);
	buf_add_text(&line, "ssh ");
	if (n && n->port && n->port != 22)
		buf_addf(&line, "-p %u ", n->port);
	buf_addf(&line, "%s%s%s ", n && *n->user ? n->user : "root", "@",
		n ? n->address : name_of(r));
	add_word(&line, command);
	add(r, part, why, arena_text(r->a, buf_str(&line)));
}

/* A value that is long or has lines of its own is asked of the record, so the command stays one. */
static void add_setting(const struct remedies *r, const char *recipe, const char *name,
	json_t *value, struct buf *out)
{
	AUTO_BUF text = {0}, shown = {0};

	buf_init(&text, SETTING_MAX);
	buf_init(&shown, SETTING_MAX);
	if (json_is_string(value))
		buf_add_text(&shown, json_string_value(value));
	else
		json_write(value, &shown);
	if (shown.n > SETTING_SHORT || str_find(buf_str(&shown), '\n') != STR_NONE) {
		buf_addf(out, " --set %s.%s=\"$(stoika run show %s --param %s.%s)\"", recipe, name,
			r->g->p->run.id, recipe, name);
		return;
	}
	buf_addf(&text, "%s.%s=%s", recipe, name, buf_text(&shown));
	buf_add_text(out, " --set ");
	add_word(out, buf_text(&text));
}

/* --set of what the rollout was given. */
static void add_settings(const struct remedies *r, struct buf *out)
{
	const char *recipe, *name;
	json_t *params, *value;

	json_object_foreach(r->g->p->params, recipe, params)
	{
		json_object_foreach(params, name, value)
		{
			add_setting(r, recipe, name, value, out);
		}
	}
}

/* "stoika VERB RECIPES NODE --set ... TAIL" */
static void add_stoika(struct remedies *r, enum text_key part, enum text_key why, const char *verb,
	const char *tail)
{
	AUTO_BUF line = {0};

	buf_init(&line, COMMAND_MAX);
	buf_addf(&line, "stoika %s ", verb);
	add_word(&line, r->g->p->typed);
	buf_add_char(&line, ' ');
	add_word(&line, name_of(r));
	add_settings(r, &line);
	buf_add_text(&line, tail);
	add(r, part, why, arena_text(r->a, buf_str(&line)));
}

/* --- the scheduler's --- */

static void add_scheduler(struct remedies *r, enum text_key part, enum text_key why, bool open)
{
	const struct rollout_fence *f = &r->g->p->policy.fence;
	const char *node = name_of(r);
	AUTO_BUF line = {0};

	buf_init(&line, COMMAND_MAX);
	add_words(&line, f->prefix);
	if (f->by == FENCE_SLURM && open)
		buf_addf(&line, "scontrol update nodename=%s state=resume", node);
	else if (f->by == FENCE_SLURM)
		buf_addf(&line, "scontrol show node %s", node);
	else if (f->by == FENCE_KUBERNETES) {
		buf_add_text(&line, "kubectl ");
		if (f->kubeconfig)
			buf_addf(&line, "--kubeconfig %s ", f->kubeconfig);
		buf_addf(&line, open ? "uncordon %s" : "describe node %s", node);
	} else if (f->by == FENCE_COMMAND) {
		buf_clear(&line);
		buf_addf(&line, "STOIKA_FENCE_MARK=%s ", r->g->p->run.id);
		add_words(&line, f->command);
		buf_addf(&line, "%s %s", open ? "open" : "look", node);
	} else {
		return;
	}
	add(r, part, why, arena_text(r->a, buf_str(&line)));
}

/* Beside the cordon ours is a taint and a note. */
static void add_kubernetes_marks(struct remedies *r)
{
	const struct rollout_fence *f = &r->g->p->policy.fence;
	AUTO_BUF head = {0};

	if (f->by != FENCE_KUBERNETES)
		return;
	buf_init(&head, COMMAND_MAX);
	add_words(&head, f->prefix);
	buf_add_text(&head, "kubectl ");
	if (f->kubeconfig)
		buf_addf(&head, "--kubeconfig %s ", f->kubeconfig);
	add(r, TEXT_RO_DO_BACK, TEXT_RO_W_OPEN,
		arena_printf(r->a, "%staint node %s stoika/fence-", buf_text(&head), name_of(r)));
	add(r, TEXT_RO_DO_BACK, TEXT_RO_W_OPEN,
		arena_printf(
			r->a, "%sannotate node %s stoika/fence-", buf_text(&head), name_of(r)));
}

static void add_give_back(struct remedies *r)
{
	if (rollout_page_is_foreign(r->g)) {
		add(r, TEXT_RO_DO_BACK, TEXT_RO_W_FOREIGN, NULL);
		return;
	}
	if (!rollout_page_is_ours(r->g))
		return;
	add_kubernetes_marks(r);
	add_scheduler(r, TEXT_RO_DO_BACK, TEXT_RO_W_OPEN, true);
}

/* --- looks --- */

static void add_files(struct remedies *r)
{
	unsigned named = 0;

	/* those that tell something first */
	for (int telling = 1; telling >= 0; telling--)
		for (size_t i = 0; i < r->g->evidence.n && named < FILES_NAMED; i++) {
			const char *lines = r->g->telling[i];
			AUTO_BUF line = {0};

			if (!lines || !rollout_page_is_log(&r->g->evidence.at[i]) ||
				(*lines != '\0') != (telling == 1))
				continue;
			buf_init(&line, COMMAND_MAX);
			buf_add_text(&line, "less ");
			add_word(&line, r->g->evidence.at[i].path);
			add(r, TEXT_RO_DO_LOOK, TEXT_RO_W_FILE, arena_text(r->a, buf_str(&line)));
			named++;
		}
}

static void add_bad_order(struct remedies *r)
{
	const struct rollout_given *bad = NULL;

	vec_each(&r->g->orders, const struct rollout_given, o)
		if (strcmp(o->mode, "facts") != 0 && strcmp(o->mode, "evidence") != 0 &&
			(o->result.state == RESULT_FAILED || o->result.state == RESULT_DENIED ||
				o->result.state == RESULT_TIMEOUT ||
				o->result.state == RESULT_INTERRUPTED))
			bad = o;
	if (bad)
		add(r, TEXT_RO_DO_LOOK, TEXT_RO_W_RECORD,
			arena_printf(r->a, "stoika run show %s", bad->run));
}

/* What kept it, when it was let go again. */
static void add_holders(struct remedies *r)
{
	const struct rollout_fence *f = &r->g->p->policy.fence;
	AUTO_BUF line = {0};

	if (r->g->n->state != STATE_RELEASED)
		return;
	if (r->g->seen[STATE_DRAINED]) {
		add_ssh(r, TEXT_RO_DO_LOOK, TEXT_RO_W_HOLDERS, "fuser -v /dev/nvidia*");
		return;
	}
	if (f->by != FENCE_SLURM)
		return;
	buf_init(&line, COMMAND_MAX);
	add_words(&line, f->prefix);
	buf_addf(&line, "squeue -w %s", name_of(r));
	add(r, TEXT_RO_DO_LOOK, TEXT_RO_W_JOBS, arena_text(r->a, buf_str(&line)));
}

static void add_looks(struct remedies *r)
{
	add_files(r);
	add_bad_order(r);
	if (r->g->n->state == STATE_UNREACHABLE)
		add(r, TEXT_RO_DO_LOOK, TEXT_RO_W_PING,
			arena_printf(r->a, "ping -c 3 %s",
				r->g->node ? r->g->node->address : name_of(r)));
	else {
		add_ssh(r, TEXT_RO_DO_LOOK, TEXT_RO_W_UNITS, "systemctl --failed; dpkg --audit");
		add_ssh(r, TEXT_RO_DO_LOOK, TEXT_RO_W_KERNEL, "journalctl -k -b -p warning");
	}
	add_holders(r);
	if (r->g->n->state == STATE_QUARANTINED && strstr(r->g->p->recipes, "nvidia"))
		add_ssh(r, TEXT_RO_DO_LOOK, TEXT_RO_W_REPORT, "nvidia-bug-report.sh");
	add_scheduler(r, TEXT_RO_DO_LOOK, TEXT_RO_W_SCHED, false);
}

/* --- by state --- */

static void mend_unreachable(struct remedies *r)
{
	const char *const *cycle = r->g->p->policy.power_cycle;
	AUTO_BUF line = {0};

	buf_init(&line, COMMAND_MAX);
	add(r, TEXT_RO_DO_MEND, TEXT_RO_W_CONSOLE, NULL);
	if (!cycle) {
		add(r, TEXT_RO_DO_MEND, TEXT_RO_W_CYCLE_BMC, NULL);
		return;
	}
	add_words(&line, cycle);
	add_word(&line, name_of(r));
	add(r, TEXT_RO_DO_MEND, TEXT_RO_W_CYCLE, arena_text(r->a, buf_str(&line)));
}

static void mend_here(struct remedies *r)
{
	const char *hint = r->g->n->row->hint;

	/* the record is among the looks already */
	if (*hint && !str_starts(str_of(hint), "stoika run show "))
		add(r, TEXT_RO_DO_MEND, TEXT_RO_W_HINT, arena_printf(r->a, "# %s", hint));
	if (r->g->n->state == STATE_QUARANTINED && r->g->seen[STATE_QUIESCED])
		add_ssh(r, TEXT_RO_DO_MEND, TEXT_RO_W_DPKG,
			"dpkg --configure -a && apt-get -f install");
}

/* It is closed: what is tried on it hurts no job. */
static void retry_here(struct remedies *r)
{
	add_stoika(r, TEXT_RO_DO_RETRY, TEXT_RO_W_PLAN, "plan", "");
	add_stoika(r, TEXT_RO_DO_RETRY, TEXT_RO_W_APPLY, "apply", "");
	if (r->g->seen[STATE_QUIESCED])
		add_stoika(r, TEXT_RO_DO_RETRY, TEXT_RO_W_UNDO, "undo",
			arena_printf(r->a, " --run %s --plan", r->g->p->run.id));
	add_stoika(r, TEXT_RO_DO_BACK, TEXT_RO_W_CHECK, "apply", "");
}

/* It is at work as before: only a rollout keeps its jobs safe. */
static void retry_by_rollout(struct remedies *r)
{
	AUTO_BUF tail = {0};

	buf_init(&tail, COMMAND_MAX);
	buf_add_text(&tail, " --rollout ");
	add_word(&tail, r->g->p->policy_name);
	add_stoika(r, TEXT_RO_DO_RETRY, TEXT_RO_W_AGAIN, "apply", buf_text(&tail));
}

size_t rollout_remedies(
	const struct rollout_page *g, struct arena *a, struct remedy out[static REMEDIES_MAX])
{
	struct remedies r = {g, a, out, 0};
	const enum node_state s = g->n->state;

	if (rollout_past_left_out(g->p, s)) {
		add_scheduler(&r, TEXT_RO_DO_LOOK, TEXT_RO_W_SCHED, false);
		retry_by_rollout(&r);
		return r.n;
	}
	if (!rollout_past_is_bad(s))
		return 0;
	add_looks(&r);
	if (s == STATE_UNREACHABLE)
		mend_unreachable(&r);
	else
		mend_here(&r);
	if (s == STATE_UNREACHABLE || s == STATE_QUARANTINED) {
		retry_here(&r);
		add_give_back(&r);
	} else {
		retry_by_rollout(&r);
	}
	if (g->p->row.paused && !rollout_past_is_over(g->p))
		add(&r, TEXT_RO_DO_GO_ON, TEXT_RO_W_FORGIVE,
			arena_printf(a, "stoika run resume %s --forgive", g->p->run.id));
	else if (!g->p->driven && !rollout_past_is_over(g->p))
		add(&r, TEXT_RO_DO_GO_ON, TEXT_RO_W_RESUME,
			arena_printf(a, "stoika run resume %s", g->p->run.id));
	return r.n;
}
