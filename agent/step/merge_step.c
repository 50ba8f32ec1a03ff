/* merge_step - the kind merge: keys of a file that others own too. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/proc.h"
#include "agent/step/attr.h"
#include "agent/step/diff.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/merge_want.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATOR_LINES 8
#define VALIDATOR_ARGS  64

/* A step's arguments and the file as it is. */
struct job {
	const char *path;
	bool create, exists, absent;
	struct attr attr;
	struct stat st;
	struct merge_wants wants;
	struct buf old, new;
};

static int find_format(const json_t *args, struct job *j, struct err *err)
{
	const char *name = json_get_str(args, "format", NULL);

	j->wants.format = name ? merge_format_find(name) : merge_format_of(j->path);
	if (j->wants.format)
		return 0;
	err_set(err, E_SCHEMA, "the name of '%s' does not tell its format", j->path);
	return err_hint(err, "say format: json, toml, ini or apt");
}

static int fail_link(const struct step_env *env, const struct job *j, struct err *err)
{
	char *target = realpath(j->path, NULL);

	err_set(err, E_CONFLICT, "'%s' is a symbolic link, expected a file", j->path);
	if (target && strcmp(env->root_path, "/") == 0)
		err_hint(err, "name the file it points to: %s", target);
	else
		err_hint(err, "name the file it points to");
	free(target);
	return -E_CONFLICT;
}

static int read_file(const struct step_env *env, struct job *j, struct err *err)
{
	const int rc = fs_stat(env->root, j->path, false, &j->st, err);

	j->exists = rc == 0;
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc < 0)
		return rc;
	if (S_ISLNK(j->st.st_mode))
		return fail_link(env, j, err);
	if (!S_ISREG(j->st.st_mode))
		return err_set(err, E_CONFLICT, "'%s' is no file", j->path);
	return fs_read(env->root, j->path, &j->old, err);
}

static void job_done(struct job *j)
{
	merge_wants_done(&j->wants);
	arena_free(j->wants.arena);
	buf_done(&j->old);
	buf_done(&j->new);
}

#define AUTO_JOB __attribute__((cleanup(job_done))) struct job

static void job_init(struct job *j, const json_t *args)
{
	memset(j, 0, sizeof *j);
	j->path = json_get_str(args, "path", "");
	j->create = json_get_bool(args, "create", true);
	j->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	j->wants.arena = arena_new();
	buf_init(&j->old, MERGE_BYTES_MAX);
	buf_init(&j->new, MERGE_BYTES_MAX);
}

static int job_read(struct step_env *env, const json_t *args, struct job *j,
	struct step_report *rep, struct err *err)
{
	int rc = find_format(args, j, err);

	if (rc == 0)
		rc = merge_wants_read(args, &j->wants, err);
	if (rc == 0)
		rc = attr_parse(env, args, &j->attr, rep, err);
	return rc < 0 ? rc : read_file(env, j, err);
}

/* A file that is not there: nothing to take out of it, not ours to make, or begun empty. */
static int judge_missing(
	const struct step_env *env, const struct job *j, struct step_report *rep, struct err *err)
{
	if (j->exists || j->create || j->absent)
		return 0;
	if (env->dry) {
		report_unknown(rep, "'%s' does not exist yet", j->path);
		return 0;
	}
	err_set(err, E_NOTFOUND, "'%s' does not exist", j->path);
	return err_hint(err, "say 'create: true' if this recipe may make it");
}

/* Only keys that must not be there: no reason to make a file. */
static bool needs_file(const struct job *j)
{
	for (unsigned i = 0; i < j->wants.n; i++)
		if (j->wants.at[i].op == MERGE_SET || j->wants.at[i].op == MERGE_CONTAINS)
			return true;
	return false;
}

static void show(const struct job *j, struct step_report *rep)
{
	const struct str old = buf_str(&j->old), new = buf_str(&j->new);
	AUTO_BUF diff;

	buf_init(&diff, 4 * REPORT_DIFF_MAX);
	if (diff_is_private(j->exists ? j->st.st_mode : j->attr.mode))
		diff_private(j->exists ? &old.n : NULL, new.n, j->path, &diff);
	else if (diff_is_text(old) && diff_is_text(new))
		diff_unified(j->exists ? &old : NULL, &new, j->path, &diff);
	else
		buf_addf(&diff, "%zu bytes -> %zu bytes\n", old.n, new.n);
	report_add(rep, buf_str(&diff));
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_JOB j;
	int rc;

	job_init(&j, args);
	rc = job_read(env, args, &j, rep, err);
	if (rc == 0)
		rc = judge_missing(env, &j, rep, err);
	if (rc < 0 || rep->state == STEP_UNKNOWN || (!j.exists && !needs_file(&j)))
		return rc;
	rc = merge_text(&j.wants, j.path, buf_str(&j.old), &j.new, err);
	if (rc < 0)
		return rc;
	if (!j.exists)
		report_differs(rep, "does not exist");
	else if (!str_eq(buf_str(&j.old), buf_str(&j.new)))
		report_differs(rep, "keys are not as wanted");
	if (rep->state == STEP_DIFFERS)
		show(&j, rep);
	if (j.exists)
		attr_compare(env, &j.attr, &j.st, rep);
	return 0;
}

/* --- the consumer's own validator --- */

static int fail_validator(
	const struct job *j, const char *program, const struct proc_result *res, struct err *err)
{
	AUTO_BUF tail;

	buf_init(&tail, 300);
	tool_tail(buf_str(&res->out), VALIDATOR_LINES, &tail);
	if (res->end == PROC_TIMED_OUT)
		err_set(err, E_TIMEOUT, "'%s' did not judge the new '%s' in time", program,
			j->path);
	else
		err_set(err, E_VERIFY, "'%s' refuses the new '%s': %s", program, j->path,
			tail.n ? buf_text(&tail) : "it says nothing");
	return err_hint(err, "the old file stays; correct the values of this step");
}

/* {} in the command is the new file's path, alone or within a word. */
static void put_path(const char *word, const char *path, struct buf *out)
{
	const char *hit;

	while ((hit = strstr(word, "{}"))) {
		buf_add(out, word, (size_t)(hit - word));
		buf_add_text(out, path);
		word = hit + 2;
	}
	buf_add_text(out, word);
}

static int run_validator(struct step_env *env, const struct job *j, const json_t *words,
	const char *path, struct err *err)
{
	const char *argv[VALIDATOR_ARGS + 1];
	struct proc_result res;
	size_t n = json_array_size(words);
	int rc;

	if (n > VALIDATOR_ARGS)
		return err_set(err, E_LIMIT, "'validate' has more than %d words", VALIDATOR_ARGS);
	for (size_t i = 0; i < n; i++) {
		AUTO_BUF word;

		buf_init(&word, 2 * PATH_MAX);
		put_path(json_string_value(json_array_get(words, i)), path, &word);
		argv[i] = arena_strdup(j->wants.arena, buf_text(&word));
	}
	argv[n] = NULL;
	rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc == -E_NOTFOUND)
		return err_hint(err, "install the package that has it in a step before this one");
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = fail_validator(j, argv[0], &res, err);
	proc_result_done(&res);
	return rc;
}

static int fail_folder(struct err *err)
{
	return err_hint(err, "add a 'directory' step for its folder before this one");
}

/* The new file beside the old one, judged, and away again. */
static int validate(struct step_env *env, const struct job *j, const json_t *args, struct err *err)
{
	const json_t *words = json_get(args, "validate");
	const char *slash = strrchr(j->path, '/');
	char path[PATH_MAX];
	int rc;

	if (json_array_size(words) == 0)
		return 0;
	if (snprintf(path, sizeof path, "%.*s/" FS_TMP_PREFIX "new.%s", (int)(slash - j->path),
		    j->path, slash + 1) >= (int)sizeof path)
		return err_set(err, E_LIMIT, "'%s' is too long", j->path);
	rc = fs_replace(env->root, path, buf_str(&j->new),
		j->attr.mode != FS_KEEP_MODE ? j->attr.mode
		: j->exists                  ? j->st.st_mode & 07777
					     : 0644,
		j->attr.uid, j->attr.gid, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? fail_folder(err) : rc;
	rc = run_validator(env, j, words, path, err);
	(void)fs_remove(env->root, path, false, NULL);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_JOB j;
	int rc;

	job_init(&j, args);
	rc = job_read(env, args, &j, rep, err);
	if (rc == 0)
		rc = judge_missing(env, &j, rep, err);
	if (rc < 0 || (!j.exists && !needs_file(&j)))
		return rc;
	rc = merge_text(&j.wants, j.path, buf_str(&j.old), &j.new, err);
	if (rc < 0)
		return rc;
	if (j.exists && str_eq(buf_str(&j.old), buf_str(&j.new)))
		return attr_apply(env, j.path, &j.attr, err);
	rc = validate(env, &j, args, err);
	if (rc < 0)
		return rc;
	rc = fs_replace(
		env->root, j.path, buf_str(&j.new), j.attr.mode, j.attr.uid, j.attr.gid, err);
	return rc == -E_NOTFOUND ? fail_folder(err) : rc;
}

/* --- undo --- */

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	AUTO_JSON into = json_object();
	AUTO_JSON keys = json_object();
	struct step_report unused;
	AUTO_JOB j;
	int rc;

	job_init(&j, args);
	step_report_init(&unused);
	rc = job_read(env, args, &j, &unused, err);
	step_report_done(&unused);
	if (rc == 0)
		rc = keep_path(env, j.path, into, err);
	if (rc == 0)
		rc = merge_remember(&j.wants, j.path, buf_str(&j.old), keys, err);
	if (rc < 0)
		return rc;
	json_object_set(into, "keys", keys);
	*out = json_incref(into);
	return 0;
}

/* Nothing but an empty map is left of a file that the step made. */
static bool is_hollow(struct str text)
{
	text = str_trim(text);
	return text.n == 0 || str_is(text, "{}");
}

/* Somebody else changed the file since: only our keys go back. */
static int undo_keys(struct step_env *env, struct job *j, const json_t *before, const json_t *after,
	bool *changed, struct err *err)
{
	const bool made =
		strcmp(json_get_str(json_get(before, j->path), "kind", ""), "absent") == 0;
	const char *theirs = NULL;
	int rc = merge_wants_back(&j->wants, j->path, buf_str(&j->old), json_get(before, "keys"),
		json_get(after, "keys"), &theirs, err);

	if (rc == 0)
		rc = merge_text(&j->wants, j->path, buf_str(&j->old), &j->new, err);
	if (rc < 0)
		return rc;
	*changed = !str_eq(buf_str(&j->old), buf_str(&j->new));
	if (made && is_hollow(buf_str(&j->new)))
		rc = fs_remove(env->root, j->path, false, err);
	else if (*changed)
		rc = fs_replace(env->root, j->path, buf_str(&j->new), FS_KEEP_MODE, FS_KEEP_ID,
			(gid_t)FS_KEEP_ID, err);
	if (rc < 0 || !theirs)
		return rc;
	err_set(err, E_CONFLICT, "'%s' in '%s' was changed by somebody else since", theirs,
		j->path);
	return err_hint(err, "it stays; set it yourself if it should be otherwise");
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	AUTO_JSON now = json_object();
	bool changed = true;
	const json_t *was, *is;
	AUTO_JOB j;
	int rc;

	job_init(&j, args);
	rc = find_format(args, &j, err);
	if (rc == 0)
		rc = read_file(env, &j, err);
	if (rc == 0)
		rc = keep_path(&(struct step_env){.root = env->root, .keep = -1}, j.path, now, err);
	if (rc < 0)
		return rc;
	was = json_get(before, j.path);
	is = json_get(now, j.path);
	if (keep_is_same(is, was))
		return 0;
	if (!j.exists || !after || keep_is_same(is, json_get(after, j.path)))
		rc = keep_restore(env, j.path, before, after, err);
	else
		rc = undo_keys(env, &j, before, after, &changed, err);
	if (rc == 0 && changed)
		report_differs(rep, "brought back");
	return rc;
}

const struct step_ops STEP_MERGE = {
	.kind = "merge", .check = check, .apply = apply, .before = before, .undo = undo};
