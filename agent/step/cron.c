/*
 * cron - one job as a file of its own in /etc/cron.d.
 *
 * The schedule is judged here: cron itself only writes into a log that it does
 * not understand one, and then drops the whole file.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FOLDER  "/etc/cron.d"
#define JOB_MAX (16u << 10)
#define RUN_MAX 900 /* cron cuts a command that is longer than about this */

static const char *const MONTHS[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const DAYS[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};
static const char *const WORDS[] = {"@reboot", "@yearly", "@annually", "@monthly", "@weekly",
	"@daily", "@midnight", "@hourly", NULL};

static const struct field {
	const char *name;
	unsigned min, max;
	const char *const *names; /* the first stands for min */
} FIELDS[] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of the month", 1, 31, NULL},
	{"month", 1, 12, MONTHS},
	{"day of the week", 0, 7, DAYS},
};
#define N_FIELDS (sizeof FIELDS / sizeof FIELDS[0])

static bool read_number(const struct field *f, struct str text, uint64_t *out)
{
	for (unsigned i = 0; f->names && f->names[i]; i++) {
		if (text.n == 3 && strncasecmp(text.p, f->names[i], 3) == 0) {
			*out = f->min + i;
			return true;
		}
	}
	return str_to_u64(text, out) && *out >= f->min && *out <= f->max;
}

/* "*", "5", "1-5", and any of them with "/STEP" behind it. */
static bool is_range(const struct field *f, struct str text)
{
	const size_t slash = str_find(text, '/');
	const struct str range = str_first(text, slash);
	const size_t dash = str_find(range, '-');
	uint64_t from, to, step;

	if (slash != STR_NONE &&
		(!str_to_u64(str_from(text, slash + 1), &step) || step == 0 || step > f->max))
		return false;
	if (str_is(range, "*"))
		return true;
	if (!read_number(f, str_first(range, dash), &from))
		return false;
	/* a step without a range runs once, which nobody means */
	if (dash == STR_NONE)
		return slash == STR_NONE;
	return read_number(f, str_from(range, dash + 1), &to) && from <= to;
}

static bool is_field(const struct field *f, struct str text)
{
	struct str part;
	bool good = text.n > 0 && text.p[text.n - 1] != ',';

	while (good && str_next(&text, ',', &part))
		good = is_range(f, part);
	return good;
}

static int judge_word(const char *schedule, struct err *err)
{
	const char *near = err_nearest(schedule, WORDS);

	for (unsigned i = 0; WORDS[i]; i++)
		if (strcmp(WORDS[i], schedule) == 0)
			return 0;
	err_set(err, E_SCHEMA, "'%.40s' is not a schedule", schedule);
	return near ? err_hint(err, "did you mean '%s'?", near) : err_hint(err, "such as @daily");
}

static int judge_schedule(const char *schedule, struct err *err)
{
	const struct str text = str_of(schedule);

	if (schedule[0] == '@')
		return judge_word(schedule, err);
	for (size_t i = 0; i < N_FIELDS; i++) {
		const struct str field = edit_field(text, (unsigned)i);

		if (field.n == 0) {
			err_set(err, E_SCHEMA, "schedule '%.60s' has %zu fields, expected %zu",
				schedule, i, N_FIELDS);
			return err_hint(err, "minute hour day month weekday, such as '30 3 * * *'");
		}
		if (is_field(&FIELDS[i], field))
			continue;
		err_set(err, E_SCHEMA, "'" STR_FMT "' in schedule '%.60s' is no %s",
			STR_ARG(str_first(field, 40)), schedule, FIELDS[i].name);
		return err_hint(err, "from %u to %u, '*', lists a,b, ranges a-b and steps a-b/n",
			FIELDS[i].min, FIELDS[i].max);
	}
	if (edit_field(text, N_FIELDS).n > 0) {
		err_set(err, E_SCHEMA, "schedule '%.60s' has more than %zu fields", schedule,
			N_FIELDS);
		return err_hint(err, "the user is the parameter 'user', the command 'run'");
	}
	return 0;
}

/* cron takes a '%' for the end of the command and the beginning of its input. */
static void add_command(struct buf *out, const char *run)
{
	for (; *run; run++) {
		if (*run == '%')
			buf_add_char(out, '\\');
		buf_add_char(out, *run);
	}
}

static int add_vars(json_t *vars, struct buf *out, struct err *err)
{
	const char *name;
	const json_t *value;

	json_object_foreach(vars, name, value)
	{
		const char *text = json_is_string(value) ? json_string_value(value) : "";

		if (!*name ||
			name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
					  "abcdefghijklmnopqrstuvwxyz")] ||
			strpbrk(text, "\n\"")) {
			err_set(err, E_SCHEMA,
				"variable '%.60s' of 'env' cannot stand in a crontab", name);
			return err_hint(err, "letters, digits and '_'; its value on one line, "
					     "without '\"'");
		}
		buf_addf(out, "%s=\"%s\"\n", name, text);
	}
	return 0;
}

static int judge_command(const char *run, struct err *err)
{
	if (!*run || strpbrk(run, "\n\r")) {
		err_set(err, E_SCHEMA, "'run' must be one line");
		return err_hint(err, "put a longer script into a file and run that");
	}
	if (strlen(run) > RUN_MAX) {
		err_set(err, E_LIMIT, "'run' is longer than %d bytes, cron would cut it", RUN_MAX);
		return err_hint(err, "put it into a file and run that");
	}
	return 0;
}

static int make_text(const json_t *args, struct buf *out, struct err *err)
{
	const char *schedule = json_get_str(args, "schedule", "");
	const char *run = json_get_str(args, "run", "");
	int rc = judge_schedule(schedule, err);

	if (rc == 0)
		rc = judge_command(run, err);
	if (rc < 0)
		return rc;
	buf_add_text(out, "# kept by stoika: changes made here are lost\n"
			  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
	rc = add_vars(json_get(args, "env"), out, err);
	buf_addf(out, "%s %s ", schedule, json_get_str(args, "user", "root"));
	add_command(out, run);
	buf_add_char(out, '\n');
	if (rc == 0 && !buf_ok(out))
		rc = err_set(err, E_LIMIT, "the job is longer than %u bytes", JOB_MAX);
	return rc;
}

static int make_path(const json_t *args, char out[static PATH_MAX], struct err *err)
{
	const char *name = json_get_str(args, "name", "");

	if (!*name || strlen(name) > 64 ||
		name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789"
				  "abcdefghijklmnopqrstuvwxyz")]) {
		err_set(err, E_SCHEMA, "'%.60s' is not the name of a job", name);
		return err_hint(err, "letters, digits, '_' and '-': cron passes over other files");
	}
	snprintf(out, PATH_MAX, FOLDER "/%s", name);
	return 0;
}

/* Without its folder there is no cron that would run it. */
static int judge_folder(
	const struct step_env *env, bool *missing, struct step_report *rep, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, FOLDER, true, &st, err);

	*missing = rc == -E_NOTFOUND;
	if (rc != -E_NOTFOUND)
		return rc;
	if (env->dry) {
		report_unknown(rep, "cron is not installed yet");
		return 0;
	}
	err_set(err, E_NOTFOUND, "cron is not installed on this node: there is no '" FOLDER "'");
	return err_hint(err, "add a 'package' step for cron before this one, or use 'timer'");
}

static int plan(struct step_env *env, const json_t *args, char path[static PATH_MAX],
	struct edit *e, struct step_report *rep, struct err *err)
{
	const bool absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	bool missing = false;
	AUTO_BUF text = {0};
	int rc = make_path(args, path, err);

	buf_init(&text, JOB_MAX);
	if (rc == 0 && !absent)
		rc = make_text(args, &text, err);
	if (rc == 0 && !absent)
		rc = judge_folder(env, &missing, rep, err);
	if (rc == 0 && !missing)
		rc = edit_open(env, path, e, err);
	if (rc < 0 || missing)
		return rc;
	if (absent)
		edit_remove(e);
	else
		edit_set(e, buf_str(&text));
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char path[PATH_MAX];
	AUTO_EDIT e = {0};
	const int rc = plan(env, args, path, &e, rep, err);

	if (rc == 0 && e.path)
		edit_show(&e, rep);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char path[PATH_MAX];
	AUTO_EDIT e = {0};
	const int rc = plan(env, args, path, &e, rep, err);

	return rc < 0 ? rc : edit_save(env, &e, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	char path[PATH_MAX];
	int rc = make_path(args, path, err);

	if (rc == 0)
		rc = edit_keep(env, path, into, err);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	char path[PATH_MAX];
	const int rc = make_path(args, path, err);

	return rc < 0 ? rc : edit_restore(env, path, past, rep, err);
}

const struct step_ops STEP_CRON = {
	.kind = "cron", .check = check, .apply = apply, .before = before, .undo = undo};
