#include "agent/step/wipe.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/step/report.h"
#include "agent/step/signatures.h"
#include "agent/step/tool.h"

#include <stdio.h>
#include <string.h>

void wipe_init(struct wipe *w)
{
	memset(w, 0, sizeof *w);
	buf_init(&w->text, WIPE_TEXT_MAX);
}

void wipe_done(struct wipe *w)
{
	buf_done(&w->text);
}

int wipe_signatures(struct step_env *env, const char *name, struct buf *out, struct err *err)
{
	char path[80];
	const char *const argv[] = {"wipefs", "--no-act", "--json", path, NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;
	int rc;

	snprintf(path, sizeof path, "/dev/%s", name);
	rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	else
		buf_add_str(out, buf_str(&res.out));
	proc_result_done(&res);
	return rc;
}

static void note_use(struct step_env *env, const struct disk *d, struct wipe *w)
{
	AUTO_BUF who;

	buf_init(&who, 200);
	if (!disk_is_used(env, d, &who))
		return;
	buf_addf(&w->text, "    %s\n", buf_text(&who));
	if (!w->used)
		snprintf(w->who, sizeof w->who, "'%s' is %s", d->name, buf_text(&who));
	w->used = true;
}

static int add_signatures(
	struct step_env *env, const struct disk *d, struct wipe *w, struct err *err)
{
	AUTO_BUF json;
	unsigned n;
	int rc;

	buf_init(&json, 1u << 20);
	rc = wipe_signatures(env, d->name, &json, err);
	if (rc == 0)
		rc = signatures_read(buf_str(&json), "    ", &w->text, &n, err);
	if (rc == 0)
		w->found += n;
	return rc;
}

static void add_title(const struct disk *d, const char *path, struct wipe *w)
{
	char size[24];

	disk_format_size(d->bytes, size);
	buf_addf(&w->text, "  %s (%s, %s", path, d->name, size);
	if (*d->model)
		buf_addf(&w->text, ", %s", d->model);
	if (*d->serial)
		buf_addf(&w->text, ", serial %s", d->serial);
	buf_add_text(&w->text, ")\n");
}

static int add_partition(struct step_env *env, const char *name, struct wipe *w, struct err *err)
{
	struct disk part;
	char path[96];
	int rc;

	/* found by the kernel's name, which holds for this moment */
	snprintf(path, sizeof path, "/dev/%s", name);
	rc = disk_find(env, path, &part, err);
	if (rc < 0 && rc != -E_DENIED)
		return rc;
	disk_describe(env, &part);
	part.serial[0] = part.model[0] = '\0';
	add_title(&part, "partition", w);
	w->found++;
	note_use(env, &part, w);
	return add_signatures(env, &part, w, err);
}

int wipe_add(struct step_env *env, const struct disk *d, struct wipe *w, struct err *err)
{
	char parts[DISK_PARTS_MAX][64];
	const unsigned n = disk_partitions(env, d->name, parts, DISK_PARTS_MAX);
	int rc;

	add_title(d, d->path, w);
	rc = add_signatures(env, d, w, err);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = add_partition(env, parts[i], w, err);
	/* a partition in use says more than the disk, which is in use by it */
	note_use(env, d, w);
	return rc;
}

static void make_id(struct wipe *w)
{
	char hex[HASH_HEX];

	hash_hex(buf_str(&w->text), hex);
	snprintf(w->id, sizeof w->id, "%.12s", hex);
}

int wipe_judge(const json_t *args, struct wipe *w, struct step_report *rep, struct err *err)
{
	const char *asked = json_get_str(args, "wipe_plan", NULL);
	const bool allowed = json_get_bool(args, "wipe", false);

	make_id(w);
	if (w->found > 0 || w->used) {
		report_addf(rep, "%s, wipe plan %s:\n",
			allowed ? "what is lost" : "what would be lost", w->id);
		report_add(rep, buf_str(&w->text));
	}
	if (w->used) {
		rep->denied = true;
		err_set(err, E_BUSY, "%s, and what is used is never wiped", w->who);
		return err_hint(err, "stop using it first, if it is the right device");
	}
	if (w->found == 0)
		return 0;
	if (!allowed) {
		struct str text = buf_str(&w->text), first = {"", 0};

		rep->denied = true;
		str_line(&text, &first);
		err_set(err, E_DENIED, "%u signatures would be lost on" STR_FMT, w->found,
			STR_ARG(str_from(first, 1)));
		return err_hint(err, "if that may go: 'wipe: true' and 'wipe_plan: %s'", w->id);
	}
	if (asked && strcmp(asked, w->id) != 0) {
		err_set(err, E_CONFLICT,
			"the wipe plan is %s now, not %.20s: something has changed on "
			"the devices",
			w->id, asked);
		return err_hint(err, "look at the plan again");
	}
	return 0;
}

static int wipe_one(struct step_env *env, const char *name, struct err *err)
{
	char path[80];
	const char *const argv[] = {"wipefs", "--all", "--quiet", path, NULL};

	snprintf(path, sizeof path, "/dev/%s", name);
	return tool_must(env, argv, err);
}

int wipe_device(struct step_env *env, const struct disk *d, struct err *err)
{
	char parts[DISK_PARTS_MAX][64];
	const unsigned n = disk_partitions(env, d->name, parts, DISK_PARTS_MAX);
	AUTO_BUF left;
	AUTO_BUF text;
	unsigned found = 0;
	int rc = 0;

	buf_init(&left, 1u << 20);
	buf_init(&text, WIPE_TEXT_MAX);
	/* from the inside out, or a table that comes back would show what was in the partitions */
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = wipe_one(env, parts[i], err);
	if (rc == 0)
		rc = wipe_one(env, d->name, err);
	if (rc == 0)
		rc = wipe_signatures(env, d->name, &left, err);
	if (rc == 0)
		rc = signatures_read(buf_str(&left), "", &text, &found, err);
	if (rc < 0 || found == 0)
		return rc;
	return err_set(err, E_STATE, "'%s' still has signatures after wiping", d->path);
}
