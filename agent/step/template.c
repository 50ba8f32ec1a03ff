/* template - a file rendered from the recipe's templates/. */
#include "agent/recipe/template.h"

#include "agent/base/err.h"
#include "agent/run/bundle.h"
#include "agent/step/content.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <limits.h>

#define SOURCE_MAX   (1u << 20)
#define RENDERED_MAX (4u << 20)

/* Fills out; *unknown when the text hangs on something a plan cannot know. */
static int render_in(struct step_env *env, struct arena *a, const char *source, struct buf *out,
	struct step_report *rep, struct err *err)
{
	const struct manifest_file *file;
	const char *unknown = NULL;
	struct template *t;
	AUTO_BUF path, text;
	int rc;

	buf_init(&path, PATH_MAX);
	buf_init(&text, SOURCE_MAX);
	rc = content_find(env, "templates", source, &path, &file, err);
	if (rc < 0)
		return rc;
	rc = bundle_read(env->bundle, buf_text(&path), &text, err);
	if (rc < 0)
		return rc;

	const struct origin at = {
		.file = buf_text(&path), .line = 1, .col = 1, .source = buf_str(&text)};

	rc = template_parse(a, buf_str(&text), &at, &t, err);
	if (rc < 0)
		return rc;
	rc = template_render(t, env->scope, out, &unknown, err);
	if (rc < 0)
		return rc;
	if (unknown)
		report_unknown(rep, "%s", unknown);
	else if (!buf_ok(out))
		return err_set(err, E_LIMIT, "template '%s' renders to more than %u bytes", source,
			RENDERED_MAX);
	return 0;
}

static int render(struct step_env *env, const json_t *args, struct buf *out,
	struct step_report *rep, struct err *err)
{
	struct arena *a = arena_new();
	int rc;

	rc = render_in(env, a, json_get_str(args, "source", ""), out, rep, err);
	arena_free(a);
	return rc;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF text;
	struct attr attr;
	int rc;

	buf_init(&text, RENDERED_MAX);
	rc = render(env, args, &text, rep, err);
	if (rc < 0 || rep->state == STEP_UNKNOWN)
		return rc;
	rc = attr_parse(env, args, &attr, rep, err);
	if (rc < 0)
		return rc;

	const struct content want = {buf_str(&text), NULL};

	return content_check(env, json_get_str(args, "path", ""), &want, &attr, rep, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_BUF text;
	struct attr attr;
	int rc;

	buf_init(&text, RENDERED_MAX);
	rc = render(env, args, &text, rep, err);
	if (rc < 0)
		return rc;
	if (rep->state == STEP_UNKNOWN)
		return err_set(err, E_STATE, "cannot be rendered yet: %s", rep->why);
	rc = attr_parse(env, args, &attr, rep, err);
	if (rc < 0)
		return rc;

	const struct content want = {buf_str(&text), NULL};

	return content_apply(env, json_get_str(args, "path", ""), &want, &attr, err);
}

const struct step_ops STEP_TEMPLATE = {.kind = "template",
	.check = check,
	.apply = apply,
	.before = keep_before,
	.undo = keep_undo};
