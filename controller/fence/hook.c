/* hook - a site's own command as the scheduler; its contract stands in the room's README. */
#include "controller/fence/hook.h"

#include "agent/base/err.h"
#include "agent/base/json.h"

#include <string.h>

#define LINE_LONG (64u << 10)

/* What a site says in a word of ours. */
static bool read_word(const char *word, enum fence_state *state)
{
	for (unsigned s = FENCE_ABSENT; s < FENCE_STATES; s++) {
		if (strcmp(word, FENCE_STATE_NAMES[s]) != 0)
			continue;
		*state = (enum fence_state)s;
		return true;
	}
	return false;
}

static int read_line(
	struct fence *f, struct str line, unsigned number, bool take, int64_t at, struct err *err)
{
	AUTO_JSON said = NULL;
	enum fence_state state = FENCE_UNASKED;

	if (json_parse(line, LINE_LONG, "look", &said, err))
		return err_wrap(err, "line %u", number);
	if (take && json_get(said, "can_reboot"))
		f->can_reboot = json_get_bool(said, "can_reboot", false);
	const char *name = json_get_str(said, "node", "");
	if (!*name && json_get(said, "can_reboot"))
		return 0;
	if (!*name || !read_word(json_get_str(said, "state", ""), &state))
		return err_set(err, E_SCHEMA,
			"line %u: expected a node, and a state of absent, open, closing, closed, "
			"down",
			number);
	const int64_t jobs = json_get_int(said, "jobs", 0);
	struct fence_node *n = take ? fence_find(f, str_of(name)) : NULL;
	if (!n)
		return 0;
	fence_keep(n->reason, sizeof n->reason, str_of(json_get_str(said, "reason", "")));
	fence_keep(n->by, sizeof n->by, str_of(json_get_str(said, "by", "")));
	n->view.state = state;
	n->view.ours = json_get_bool(said, "ours", false) && state >= FENCE_CLOSING;
	n->view.jobs = jobs > 0 && jobs < JOBS_MAX ? (unsigned)jobs : 0;
	n->movable = n->view.jobs;
	n->view.rebooting = json_get_bool(said, "rebooting", false);
	n->view.rebooted = n->view.ours && json_get_bool(said, "rebooted", false);
	n->view.at = at;
	n->seen = true;
	json_drop(&n->before);
	n->before = json_incref(said);
	return 0;
}

/* Of no word at all it cannot be told whether nobody is there or the command broke in silence. */
static bool names_nodes(struct str text)
{
	return str_find_str(text, str_of("\"node\"")) != STR_NONE;
}

static int read_lines(struct fence *f, struct str text, bool take, int64_t at, struct err *err)
{
	struct str line;

	for (unsigned number = 1; str_line(&text, &line); number++) {
		const int rc = str_trim(line).n ? read_line(f, line, number, take, at, err) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

int fence_read_command(struct fence *f, struct str text, int64_t at, struct err *err)
{
	int rc;

	if (text.n && text.p[text.n - 1] != '\n')
		return err_set(err, E_SYNTAX, "it ends in the middle of a line");
	rc = read_lines(f, text, false, at, err);
	if (rc)
		return rc;
	if (!names_nodes(text))
		return err_set(err, E_SCHEMA,
			"it named no node; one that the scheduler does not have is 'absent'");
	return read_lines(f, text, true, at, err);
}

static int read_answer(
	struct fence *f, enum fence_act act, struct str text, int64_t at, struct err *err)
{
	(void)act;
	return fence_read_command(f, text, at, err);
}

static void fill_argv(struct fence *f, enum fence_act act, struct words *out)
{
	static const char *const verbs[ACTS] = {[ACT_LOOK] = "look",
		[ACT_CLOSE] = "close",
		[ACT_OPEN] = "open",
		[ACT_REBOOT] = "reboot"};

	for (const char *const *p = f->opts.command; *p; p++)
		fence_push(out, *p);
	const struct fence_node *first = &f->nodes[f->batch[0]];
	fence_push(out, act == ACT_MOVE ? FENCE_JOBS_NAMES[first->move] : verbs[act]);
	for (size_t i = 0; i < f->n_batch; i++)
		fence_push(out, f->nodes[f->batch[i]].name);
}

const struct fence_ops FENCE_COMMAND_OPS = {.name = "the fence command",
	.batch = {[ACT_LOOK] = 500,
		[ACT_CLOSE] = 500,
		[ACT_OPEN] = 500,
		[ACT_REBOOT] = 500,
		[ACT_MOVE] = 100},
	.argv = fill_argv,
	.read = read_answer};
