/* note - tells something in the run's record; there is nothing to do or undo. */
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <stdio.h>

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF text = {0};

	(void)env, (void)err;
	buf_init(&text, sizeof rep->why - 1);
	buf_add_printable(&text, str_of(json_get_str(args, "message", "")));
	snprintf(rep->why, sizeof rep->why, "%s", buf_text(&text));
	rep->tell = true;
	return 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	(void)env, (void)args, (void)rep, (void)err;
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	(void)env, (void)args, (void)before, (void)after, (void)rep, (void)err;
	return 0;
}

const struct step_ops STEP_NOTE = {.kind = "note", .check = check, .apply = apply, .undo = undo};
