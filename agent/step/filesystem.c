/* filesystem - a file system on a device: there already, or made where nothing is lost. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/signatures.h"
#include "agent/step/tool.h"
#include "agent/step/wipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX  32
#define MKFS_TIMEOUT (3600 * INT64_C(1000000000))

struct maker {
	const char *type, *program;
	const char *force[3]; /* asks no questions: we have looked */
	const char *label, *uuid;
	size_t label_max;
};

static const struct maker MAKERS[] = {
	{"ext4", "mkfs.ext4", {"-F", "-q"}, "-L", "-U", 16},
	{"ext3", "mkfs.ext3", {"-F", "-q"}, "-L", "-U", 16},
	{"ext2", "mkfs.ext2", {"-F", "-q"}, "-L", "-U", 16},
	{"xfs", "mkfs.xfs", {"-f", "-q"}, "-L", "-m", 12},
	{"btrfs", "mkfs.btrfs", {"-f", "-q"}, "-L", "-U", 255},
	{"vfat", "mkfs.vfat", {NULL}, "-n", NULL, 11},
};

struct wish {
	const char *device, *label, *uuid;
	const struct maker *maker;
	const json_t *options;
};

static bool is_uuid(const char *s)
{
	static const char FORM[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	for (i = 0; FORM[i]; i++)
		if (FORM[i] == '-' ? s[i] != '-' : !s[i] || !strchr("0123456789abcdef", s[i]))
			return false;
	return s[i] == '\0';
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *type = json_get_str(args, "type", "ext4");

	memset(w, 0, sizeof *w);
	w->device = json_get_str(args, "device", "");
	w->label = json_get_str(args, "label", NULL);
	w->uuid = json_get_str(args, "uuid", NULL);
	w->options = json_get(args, "options");
	for (size_t i = 0; i < sizeof MAKERS / sizeof *MAKERS; i++)
		if (strcmp(MAKERS[i].type, type) == 0)
			w->maker = &MAKERS[i];
	if (!w->maker)
		return err_set(err, E_SCHEMA, "'%.40s' is no type of file system known here", type);
	if (w->label && strlen(w->label) > w->maker->label_max)
		return err_set(err, E_LIMIT, "label '%s' is too long, %s takes %zu bytes", w->label,
			type, w->maker->label_max);
	if (w->label && (w->label[0] == '-' || str_printable_length(str_of(w->label)) == 0))
		return err_set(err, E_SCHEMA, "label '%.40s' is no label", w->label);
	if (w->uuid && (!is_uuid(w->uuid) || !w->maker->uuid))
		return err_set(err, E_SCHEMA,
			w->maker->uuid ? "'%.40s' is no UUID in lower case"
				       : "vfat has no UUID, '%.40s' was given",
			w->uuid);
	if (json_array_size(w->options) > OPTIONS_MAX)
		return err_set(err, E_LIMIT, "more than %d options for mkfs", OPTIONS_MAX);
	return 0;
}

/* A device that an earlier step of the same plan makes is not there yet. */
static int find(struct step_env *env, const struct wish *w, struct disk *d, struct step_report *rep,
	bool *there, struct err *err)
{
	int rc = disk_find(env, w->device, d, err);

	*there = rc == 0;
	if (rc == -E_NOTFOUND && env->dry) {
		report_unknown(rep, "device '%s' is not there yet", w->device);
		return 0;
	}
	if (rc == -E_DENIED)
		rep->denied = true;
	return rc;
}

static int look(
	const struct step_env *env, const struct disk *d, struct signature *s, struct err *err)
{
	char path[80];
	ssize_t n;
	AUTO_BUF head;
	char *p;

	buf_init(&head, SIGNATURE_HEAD + 1);
	memset(s, 0, sizeof *s);
	snprintf(path, sizeof path, "/dev/%s", d->name);
	AUTO_FD fd = fs_open(env->root, path, O_RDONLY | O_NONBLOCK, 0, true, err);
	if (fd < 0)
		return fd;
	p = buf_room(&head, SIGNATURE_HEAD);
	n = pread(fd, p, SIGNATURE_HEAD, 0);
	if (n < 0)
		return err_sys(err, errno, "cannot read '%s'", d->path);
	signature_of((struct str){p, (size_t)n}, s);
	return 0;
}

static bool is_wanted(const struct wish *w, const struct signature *s)
{
	return strcmp(s->type, w->maker->type) == 0 &&
	       (!w->label || strcmp(s->label, w->label) == 0) &&
	       (!w->uuid || strcmp(s->uuid, w->uuid) == 0);
}

static int judge(struct step_env *env, const json_t *args, const struct wish *w,
	const struct disk *d, struct step_report *rep, struct err *err)
{
	struct wipe plan;
	int rc;

	wipe_init(&plan);
	rc = wipe_add(env, d, &plan, err);
	if (rc == 0)
		rc = wipe_judge(args, &plan, rep, err);
	wipe_done(&plan);
	if (rc < 0)
		return rc;
	report_differs(rep, "no %s%s%s", w->maker->type, w->label ? " with label " : "",
		w->label ? w->label : "");
	report_addf(rep, "make %s on %s\n", w->maker->type, w->device);
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct signature s;
	struct disk d;
	struct wish w;
	bool there = false;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = find(env, &w, &d, rep, &there, err);
	if (rc < 0 || !there)
		return rc;
	rc = look(env, &d, &s, err);
	if (rc < 0 || is_wanted(&w, &s))
		return rc;
	return judge(env, args, &w, &d, rep, err);
}

static int make(struct step_env *env, const struct wish *w, const struct disk *d, struct err *err)
{
	const char *argv[OPTIONS_MAX + 12];
	char uuid[64], path[80];
	const json_t *option;
	size_t n = 0, i;
	int rc;

	argv[n++] = w->maker->program;
	for (i = 0; w->maker->force[i]; i++)
		argv[n++] = w->maker->force[i];
	if (w->label) {
		argv[n++] = w->maker->label;
		argv[n++] = w->label;
	}
	if (w->uuid) {
		const bool xfs = strcmp(w->maker->type, "xfs") == 0;

		snprintf(uuid, sizeof uuid, "%s%s", xfs ? "uuid=" : "", w->uuid);
		argv[n++] = w->maker->uuid;
		argv[n++] = uuid;
	}
	json_array_foreach(w->options, i, option) argv[n++] =
		json_is_string(option) ? json_string_value(option) : "";
	snprintf(path, sizeof path, "/dev/%s", d->name);
	argv[n++] = path;
	argv[n] = NULL;
	rc = tool_must_within(env, argv, MKFS_TIMEOUT, err);
	return rc == -E_NOTFOUND
		       ? err_hint(err, "add a 'package' step that brings '%s'", w->maker->program)
		       : rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct signature s;
	struct disk d;
	struct wish w;
	bool there = false;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = find(env, &w, &d, rep, &there, err);
	if (rc < 0 || !there)
		return rc;
	rc = look(env, &d, &s, err);
	if (rc < 0 || is_wanted(&w, &s))
		return rc;
	rc = judge(env, args, &w, &d, rep, err);
	if (rc == 0)
		rc = wipe_device(env, &d, err);
	return rc < 0 ? rc : make(env, &w, &d, err);
}

const struct step_ops STEP_FILESYSTEM = {.kind = "filesystem", .check = check, .apply = apply};
