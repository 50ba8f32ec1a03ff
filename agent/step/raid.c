/*
 * raid - an md array of given devices.
 *
 * Read from /proc/mdstat, /sys and /dev/md. An array that is there with another level or other
 * members is a conflict: this step makes arrays, it does not reshape them.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/kinds.h"
#include "agent/step/mdstat.h"
#include "agent/step/report.h"
#include "agent/step/signatures.h"
#include "agent/step/tool.h"
#include "agent/step/wipe.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEVICES_MAX 32
#define CONF_MAX    (1u << 20)

struct wish {
	const char *name, *level, *metadata;
	char path[128]; /* /dev/md/NAME */
	int64_t chunk;  /* KiB; 0: mdadm's */
	unsigned n;
	struct disk disks[DEVICES_MAX];
};

enum found {
	FOUND_NOTHING,
	FOUND_ARRAY,  /* as wanted */
	FOUND_MEMBERS /* not assembled, but all devices say that they are its members */
};

static int judge_count(const struct wish *w, struct err *err)
{
	static const struct {
		const char *level;
		unsigned least;
	} LEAST[] = {{"0", 2}, {"1", 2}, {"4", 3}, {"5", 3}, {"6", 4}, {"10", 2}};

	for (size_t i = 0; i < sizeof LEAST / sizeof *LEAST; i++)
		if (strcmp(LEAST[i].level, w->level) == 0 && w->n < LEAST[i].least)
			return err_set(err, E_SCHEMA, "level %s needs %u devices, %u are given",
				w->level, LEAST[i].least, w->n);
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0; k < i; k++)
			if (w->disks[i].number == w->disks[k].number)
				return err_set(err, E_CONFLICT, "'%s' and '%s' are one device",
					w->disks[k].path, w->disks[i].path);
	return 0;
}

static int read_args(struct step_env *env, const json_t *args, struct wish *w,
	struct step_report *rep, struct err *err)
{
	const json_t *devices = json_get(args, "devices"), *device;
	size_t i;
	int rc;

	memset(w, 0, sizeof *w);
	w->name = json_get_str(args, "name", "");
	w->level = json_get_str(args, "level", "1");
	w->metadata = json_get_str(args, "metadata", "1.2");
	w->chunk = json_get_int(args, "chunk", 0);
	snprintf(w->path, sizeof w->path, "/dev/md/%.100s", w->name);
	if (!str_is_name(str_of(w->name)) || strlen(w->name) > 32)
		return err_set(err, E_SCHEMA, "'%.60s' is no name of an array", w->name);
	if (w->chunk < 0 || w->chunk > 1048576 || (w->chunk & (w->chunk - 1)))
		return err_set(err, E_SCHEMA, "'chunk' must be a power of two of KiB, not %lld",
			(long long)w->chunk);
	json_array_foreach(devices, i, device)
	{
		if (w->n == DEVICES_MAX)
			return err_set(err, E_LIMIT, "more than %d devices", DEVICES_MAX);
		rc = disk_find(env, json_is_string(device) ? json_string_value(device) : "",
			&w->disks[w->n++], err);
		if (rc < 0) {
			rep->denied = rc == -E_DENIED;
			return rc;
		}
	}
	return judge_count(w, err);
}

static bool level_is(const char *said, const char *level)
{
	return str_starts(str_of(said), "raid") && strcmp(said + strlen("raid"), level) == 0;
}

static bool has_member(const struct mdstat *m, const char *name)
{
	for (unsigned i = 0; i < m->n_members; i++)
		if (strcmp(m->members[i], name) == 0)
			return true;
	return false;
}

static unsigned count_members(const struct wish *w, const struct mdstat *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n; i++)
		n += has_member(m, w->disks[i].name);
	return n;
}

static int compare(const struct wish *w, const struct mdstat *m, struct err *err)
{
	if (!level_is(m->level, w->level))
		err_set(err, E_CONFLICT, "'%s' is there with level '%s', expected raid%s", w->path,
			m->level, w->level);
	else if (count_members(w, m) < w->n || m->n_members > w->n)
		err_set(err, E_CONFLICT, "'%s' is there with other members: %u of %u as expected",
			w->path, count_members(w, m), m->n_members);
	else if (strcmp(m->metadata, w->metadata) != 0)
		err_set(err, E_CONFLICT, "'%s' is there with metadata %s, expected %s", w->path,
			m->metadata, w->metadata);
	else
		return 0;
	return err_hint(
		err, "this step does not reshape: use 'mdadm --grow', or make it anew by hand");
}

/* The array that the name leads to, or the one that holds a device of ours. */
static int find_array(
	const struct step_env *env, const struct wish *w, enum found *out, struct err *err)
{
	struct disk array;
	struct mdstat m;
	struct str rest;
	AUTO_BUF text;
	int rc;

	buf_init(&text, CONF_MAX);
	*out = FOUND_NOTHING;
	rc = fs_read(env->root, "/proc/mdstat", &text, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	rc = disk_find(env, w->path, &array, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	rest = buf_str(&text);
	while (mdstat_next(&rest, &m)) {
		if (rc == 0 && strcmp(m.name, array.name) == 0) {
			*out = FOUND_ARRAY;
			return compare(w, &m, err);
		}
		if (rc != 0 && count_members(w, &m) > 0)
			return err_set(err, E_BUSY, "a device of '%s' is part of the array '%s'",
				w->path, m.name);
	}
	return 0;
}

/* Do all devices say that they belong to an array of that name? */
static int look_for_members(
	struct step_env *env, const struct wish *w, enum found *out, struct err *err)
{
	for (unsigned i = 0; i < w->n; i++) {
		struct signature s;
		const char *name;
		AUTO_BUF json;
		int rc;

		buf_init(&json, 1u << 20);
		rc = wipe_signatures(env, w->disks[i].name, &json, err);
		if (rc < 0)
			return rc;
		if (!signatures_find(buf_str(&json), "linux_raid_member", &s))
			return 0;
		/* "HOST:NAME" */
		name = strchr(s.label, ':') ? strchr(s.label, ':') + 1 : s.label;
		if (strcmp(name, w->name) != 0)
			return 0;
	}
	*out = FOUND_MEMBERS;
	return 0;
}

static int look(struct step_env *env, const struct wish *w, enum found *out, struct err *err)
{
	const int rc = find_array(env, w, out, err);

	return rc < 0 || *out == FOUND_ARRAY ? rc : look_for_members(env, w, out, err);
}

/* mdadm.conf lies in /etc/mdadm on Debian, in /etc elsewhere. */
static int find_conf(const struct step_env *env, const char **path, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, "/etc/mdadm", true, &st, err);

	*path = rc == 0 ? "/etc/mdadm/mdadm.conf" : "/etc/mdadm.conf";
	return rc == -E_NOTFOUND ? 0 : rc;
}

static bool conf_names(struct str text, const char *path)
{
	struct str line, word;

	while (str_line(&text, &line)) {
		if (!str_next(&line, ' ', &word) || !str_is(word, "ARRAY"))
			continue;
		while (str_next(&line, ' ', &word))
			if (str_is(word, path))
				return true;
	}
	return false;
}

static int look_into_conf(const struct step_env *env, const struct wish *w, const char **path,
	bool *there, struct err *err)
{
	AUTO_BUF text;
	int rc = find_conf(env, path, err);

	buf_init(&text, CONF_MAX);
	if (rc == 0)
		rc = fs_read(env->root, *path, &text, err);
	*there = rc == 0 && conf_names(buf_str(&text), w->path);
	return rc == -E_NOTFOUND ? 0 : rc;
}

static int judge(struct step_env *env, const json_t *args, const struct wish *w,
	struct step_report *rep, struct err *err)
{
	struct wipe plan;
	int rc = 0;

	wipe_init(&plan);
	for (unsigned i = 0; rc == 0 && i < w->n; i++)
		rc = wipe_add(env, &w->disks[i], &plan, err);
	if (rc == 0)
		rc = wipe_judge(args, &plan, rep, err);
	wipe_done(&plan);
	return rc;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	enum found found = FOUND_NOTHING;
	struct wish w;
	const char *conf;
	bool told = false;
	int rc = read_args(env, args, &w, rep, err);

	if (rc == -E_NOTFOUND && env->dry) {
		report_unknown(rep, "a device of array '%s' is not there yet", w.name);
		return 0;
	}
	if (rc == 0)
		rc = look(env, &w, &found, err);
	if (rc == 0 && found == FOUND_NOTHING)
		rc = judge(env, args, &w, rep, err);
	if (rc == 0)
		rc = look_into_conf(env, &w, &conf, &told, err);
	if (rc < 0)
		return rc;
	if (found != FOUND_ARRAY) {
		report_differs(rep, found == FOUND_MEMBERS ? "is not assembled" : "is not there");
		report_addf(rep, "%s %s, level %s, of %u devices\n",
			found == FOUND_MEMBERS ? "assemble" : "make", w.path, w.level, w.n);
	}
	if (!told) {
		report_differs(rep, "is not in mdadm.conf");
		report_addf(rep, "add %s to %s\n", w.path, conf);
	}
	return 0;
}

/* "--level" and the like; words holds the numbers. */
static int create(struct step_env *env, const struct wish *w, struct err *err)
{
	char level[32], count[32], metadata[48], chunk[32], paths[DEVICES_MAX][80];
	const char *argv[DEVICES_MAX + 12] = {"mdadm", "--create", w->path, "--run", "--quiet",
		"--homehost=any", level, count, metadata};
	size_t n = 9;
	int rc = 0;

	snprintf(level, sizeof level, "--level=%.8s", w->level);
	snprintf(count, sizeof count, "--raid-devices=%u", w->n);
	snprintf(metadata, sizeof metadata, "--metadata=%.16s", w->metadata);
	snprintf(chunk, sizeof chunk, "--chunk=%lld", (long long)w->chunk);
	if (w->chunk > 0)
		argv[n++] = chunk;
	for (unsigned i = 0; rc == 0 && i < w->n; i++) {
		snprintf(paths[i], sizeof paths[i], "/dev/%s", w->disks[i].name);
		argv[n++] = paths[i];
		rc = wipe_device(env, &w->disks[i], err);
	}
	argv[n] = NULL;
	return rc < 0 ? rc : tool_must(env, argv, err);
}

static int assemble(struct step_env *env, const struct wish *w, struct err *err)
{
	char paths[DEVICES_MAX][80];
	const char *argv[DEVICES_MAX + 6] = {"mdadm", "--assemble", w->path};
	size_t n = 3;

	for (unsigned i = 0; i < w->n; i++) {
		snprintf(paths[i], sizeof paths[i], "/dev/%s", w->disks[i].name);
		argv[n++] = paths[i];
	}
	argv[n] = NULL;
	return tool_must(env, argv, err);
}

static int add_to_conf(
	struct step_env *env, const struct wish *w, const char *conf, struct err *err)
{
	const char *const argv[] = {"mdadm", "--detail", "--brief", w->path, NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;
	AUTO_BUF text;
	int rc;

	buf_init(&text, CONF_MAX);
	rc = tool_run(env, argv, NULL, TOOL_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	else if (!conf_names(buf_str(&res.out), w->path))
		rc = err_set(err, E_REMOTE, "mdadm does not describe '%s'", w->path);
	if (rc == 0)
		rc = fs_read(env->root, conf, &text, err);
	if (rc == -E_NOTFOUND)
		rc = 0;
	if (text.n > 0 && text.p[text.n - 1] != '\n')
		buf_add_char(&text, '\n');
	buf_add_str(&text, str_trim(buf_str(&res.out)));
	buf_add_char(&text, '\n');
	proc_result_done(&res);
	if (rc == 0)
		rc = fs_replace(
			env->root, conf, buf_str(&text), FS_KEEP_MODE, FS_KEEP_ID, FS_KEEP_ID, err);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	enum found found = FOUND_NOTHING;
	struct wish w;
	const char *conf;
	bool told = false;
	int rc = read_args(env, args, &w, rep, err);

	if (rc == 0)
		rc = look(env, &w, &found, err);
	if (rc == 0 && found == FOUND_NOTHING)
		rc = judge(env, args, &w, rep, err);
	if (rc < 0)
		return rc;
	if (found != FOUND_ARRAY)
		rc = found == FOUND_MEMBERS ? assemble(env, &w, err) : create(env, &w, err);
	if (rc == 0)
		rc = look_into_conf(env, &w, &conf, &told, err);
	return rc < 0 || told ? rc : add_to_conf(env, &w, conf, err);
}

const struct step_ops STEP_RAID = {.kind = "raid", .check = check, .apply = apply};
