/*
 * mount - a file system at its place: in fstab by its mount point, and mounted.
 *
 * Check reads fstab and mountinfo. The mount point itself is only looked at
 * where nothing is mounted and its own file system is a local one.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/mount_options.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"
#include "agent/step/tool.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FSTAB       "/etc/fstab"
#define INFO_MAX    (4u << 20)
#define TIMEOUT_MAX 3600

enum wanted {
	WANT_MOUNTED,
	WANT_UNMOUNTED,
	WANT_PRESENT,
	WANT_ABSENT
};

struct wish {
	char path[PATH_MAX]; /* without a slash at its end */
	const char *source, *type, *options;
	int64_t dump, pass, timeout;
	enum wanted state;
};

/* What is mounted there now. */
struct now {
	bool mounted;
	struct mount_entry at;
	struct buf info;
};

static bool is_ours(const void *ctx, struct str line)
{
	const struct wish *w = ctx;
	char path[PATH_MAX];

	mounts_unescape(edit_field(line, 1), path, sizeof path);
	while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = '\0';
	return strcmp(path, w->path) == 0;
}

static bool is_bind(const struct wish *w)
{
	return mount_options_have(w->options, "bind") || mount_options_have(w->options, "rbind");
}

static int judge_texts(const struct wish *w, struct err *err)
{
	if (!*w->source || w->source[strcspn(w->source, "\n")]) {
		err_set(err, E_SCHEMA, "a mount needs 'source'");
		return err_hint(err, "a device, UUID=..., HOST:/PATH or tmpfs");
	}
	if (!*w->type || w->type[strspn(w->type, "abcdefghijklmnopqrstuvwxyz0123456789._-")]) {
		err_set(err, E_SCHEMA, "'%.60s' is not the type of a file system", w->type);
		return err_hint(err, "such as ext4, xfs, nfs or tmpfs; none for a bind mount");
	}
	if (!*w->options || strpbrk(w->options, " \t\n")) {
		err_set(err, E_SCHEMA, "'%.60s' are not options of a mount", w->options);
		return err_hint(err, "write them as in fstab: ro,noatime");
	}
	return 0;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	static const char *const STATES[] = {"mounted", "unmounted", "present", "absent"};
	const char *state = json_get_str(args, "state", "mounted");

	*w = (struct wish){.source = json_get_str(args, "source", ""),
		.type = json_get_str(args, "type", ""),
		.options = json_get_str(args, "options", "defaults"),
		.dump = json_get_int(args, "dump", 0),
		.pass = json_get_int(args, "pass", 0),
		.timeout = json_get_int(args, "timeout", 60)};
	for (unsigned i = 0; i < sizeof STATES / sizeof *STATES; i++)
		if (strcmp(STATES[i], state) == 0)
			w->state = (enum wanted)i;
	snprintf(w->path, sizeof w->path, "%s", json_get_str(args, "path", ""));
	while (strlen(w->path) > 1 && w->path[strlen(w->path) - 1] == '/')
		w->path[strlen(w->path) - 1] = '\0';
	if (w->path[0] != '/' || strstr(w->path, "//"))
		return err_set(err, E_SCHEMA, "'%.80s' is not a mount point", w->path);
	if (w->timeout < 1 || w->timeout > TIMEOUT_MAX || w->dump < 0 || w->pass < 0)
		return err_set(err, E_SCHEMA, "'timeout' is %lld, expected 1 to %d seconds",
			(long long)w->timeout, TIMEOUT_MAX);
	if (strcmp(w->path, "/") == 0 && (w->state == WANT_ABSENT || w->state == WANT_UNMOUNTED)) {
		err_set(err, E_DENIED, "the root file system is not to be taken away");
		return err_hint(err, "name another mount point");
	}
	return w->state == WANT_ABSENT ? 0 : judge_texts(w, err);
}

static int look(const struct step_env *env, const struct wish *w, struct now *out, struct err *err)
{
	int rc;

	buf_init(&out->info, INFO_MAX);
	rc = mounts_read(env, &out->info, err);
	if (rc < 0)
		return err_wrap(err, "what is mounted cannot be told");
	out->mounted = mounts_find(buf_str(&out->info), w->path, &out->at);
	return 0;
}

/* "UUID=x" is a link below /dev/disk/by-uuid; the device's name is what mountinfo shows. */
static bool resolve_device(const struct step_env *env, const char *source, char *out, size_t size)
{
	static const struct {
		const char *tag, *folder;
	} TAGS[] = {{"UUID=", "uuid"}, {"LABEL=", "label"}, {"PARTUUID=", "partuuid"},
		{"PARTLABEL=", "partlabel"}};
	char path[PATH_MAX], target[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof path, "%s", source);
	for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++)
		if (strncmp(source, TAGS[i].tag, strlen(TAGS[i].tag)) == 0)
			snprintf(path, sizeof path, "/dev/disk/by-%s/%s", TAGS[i].folder,
				source + strlen(TAGS[i].tag));
	if (path[0] != '/')
		return false;
	AUTO_FD parent = fs_open_parent(env->root, path, &name, NULL);
	n = parent < 0 ? -1 : readlinkat(parent, name, target, sizeof target - 1);
	if (n > 0) {
		target[n] = '\0';
		snprintf(path, sizeof path, "/dev/%.4000s",
			strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
	}
	snprintf(out, size, "%s", path);
	/* a tag without a link cannot be compared */
	return n > 0 || source[0] == '/';
}

/* A bind mount shows the device that its source lies on, and which part of it. */
static bool is_bound_from(const struct wish *w, const struct now *now)
{
	char expected[2 * PATH_MAX];
	struct mount_entry on;

	if (!mounts_find_above(buf_str(&now->info), w->source, &on))
		return true;
	snprintf(expected, sizeof expected, "%s%s", strcmp(on.root, "/") == 0 ? "" : on.root,
		strcmp(on.path, "/") == 0 ? w->source : w->source + strlen(on.path));
	return strcmp(now->at.root, expected[0] ? expected : "/") == 0;
}

static bool is_source(const struct step_env *env, const struct wish *w, const struct now *now)
{
	char wanted[PATH_MAX], have[PATH_MAX];
	size_t n;

	if (is_bind(w))
		return is_bound_from(w, now);
	if (strcmp(w->source, now->at.source) == 0)
		return true;
	if (mounts_is_remote(w->type)) {
		n = strlen(w->source);
		return n > 1 && w->source[n - 1] == '/' && strlen(now->at.source) == n - 1 &&
		       strncmp(w->source, now->at.source, n - 1) == 0;
	}
	if (!strchr("/ULP", w->source[0]) || now->at.source[0] != '/')
		return true; /* tmpfs and the like: the source is only a word */
	return !resolve_device(env, w->source, wanted, sizeof wanted) ||
	       !resolve_device(env, now->at.source, have, sizeof have) || strcmp(wanted, have) == 0;
}

static bool is_type(const struct wish *w, const struct now *now)
{
	if (is_bind(w) || strcmp(w->type, "auto") == 0 || strcmp(w->type, now->at.type) == 0)
		return true;
	return strcmp(w->type, "nfs") == 0 && strcmp(now->at.type, "nfs4") == 0;
}

/* Is it another file system that is mounted there? That is never taken away. */
static int judge_other(
	const struct step_env *env, const struct wish *w, const struct now *now, struct err *err)
{
	if (!now->mounted || (is_type(w, now) && is_source(env, w, now)))
		return 0;
	err_set(err, E_CONFLICT, "'%s' of type %s is mounted on '%s', expected '%s' of type %s",
		now->at.source, now->at.type, w->path, w->source, w->type);
	return err_hint(err, "unmount it first, if nobody needs it: umount %s", w->path);
}

static bool has_entries(int fd)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *e;
	bool found = false;

	if (!dir) {
		close(fd);
		return false;
	}
	while (!found && (e = readdir(dir)))
		found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return found;
}

/* Files below a mount are hidden by it. Nothing is looked at on a file system of the net. */
static bool hides_files(const struct step_env *env, const struct wish *w, const struct now *now)
{
	struct mount_entry on;
	int fd;

	if (mounts_find_above(buf_str(&now->info), w->path, &on) && mounts_is_remote(on.type))
		return false;
	fd = fs_open(env->root, w->path, O_RDONLY | O_DIRECTORY, 0, false, NULL);
	return fd >= 0 && has_entries(fd);
}

static int plan_fstab(
	const struct step_env *env, const struct wish *w, struct edit *e, struct err *err)
{
	AUTO_BUF line = {0};
	int rc = edit_open(env, FSTAB, e, err);

	if (rc < 0)
		return rc;
	if (w->state == WANT_ABSENT)
		return edit_line(e, is_ours, w, (struct str){NULL, 0}, err);
	buf_init(&line, 4 * PATH_MAX);
	mounts_escape(w->source, &line);
	buf_add_char(&line, '\t');
	mounts_escape(w->path, &line);
	buf_addf(&line, "\t%s\t%s\t%lld %lld", w->type, w->options, (long long)w->dump,
		(long long)w->pass);
	return edit_line(e, is_ours, w, buf_str(&line), err);
}

static int check_mounted(struct step_env *env, const struct wish *w, const struct now *now,
	struct step_report *rep, struct err *err)
{
	AUTO_BUF what = {0};
	int rc = judge_other(env, w, now, err);

	buf_init(&what, 256);
	if (rc < 0)
		return rc;
	if (!now->mounted) {
		const bool hides = hides_files(env, w, now);

		report_differs(rep, "is not mounted%s",
			hides ? "; it will hide files that lie in "
				"its mount point"
			      : "");
		report_addf(rep, "mount %s on %s (%s)\n", w->source, w->path, w->options);
	} else if (mount_options_differ(w->options, &now->at, &what)) {
		report_differs(rep, "is mounted without '%s'", buf_text(&what));
		report_addf(rep, "remount %s with %s\n", w->path, w->options);
	}
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT fstab = {0};
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan_fstab(env, &w, &fstab, err);
	if (rc == 0 && w.state != WANT_PRESENT)
		rc = look(env, &w, &now, err);
	if (rc == 0 && w.state == WANT_MOUNTED)
		rc = check_mounted(env, &w, &now, rep, err);
	if (rc == 0 && now.mounted && w.state != WANT_MOUNTED) {
		report_differs(rep, "is mounted");
		report_addf(rep, "unmount %s\n", w.path);
	}
	if (rc == 0)
		edit_show(&fstab, rep);
	buf_done(&now.info);
	return rc;
}

/* mount(8) and umount(8) wait for servers: they get a deadline, and its words are made clear. */
static int run(
	const struct step_env *env, const char *const *argv, const struct wish *w, struct err *err)
{
	const struct proc p = {.argv = argv, .timeout = w->timeout * CLOCK_SEC};
	struct proc_result res;
	int rc = tool_run(env, argv, NULL, p.timeout, &res, err);

	if (rc < 0)
		return rc;
	if (res.end == PROC_TIMED_OUT) {
		rc = err_set(err, E_TIMEOUT, "'%s' of '%s' did not end within %lld s", argv[0],
			w->path, (long long)w->timeout);
		err_hint(err, "is the server of '%.120s' there? 'timeout' is how long to wait",
			w->source);
	} else if (!proc_ok(&res)) {
		rc = proc_fail(&p, &res, err);
		if (strcmp(argv[0], "umount") == 0)
			err_hint(err, "see who uses it: fuser -vm %s", w->path);
		else
			err_hint(err, "see 'dmesg | tail' on the node");
	}
	proc_result_done(&res);
	return rc;
}

static int run_mount(
	const struct step_env *env, const struct wish *w, const char *extra, struct err *err)
{
	AUTO_BUF options = {0}, all = {0};
	const char *const argv[] = {
		"mount", "-t", is_bind(w) ? "none" : w->type, "-o", NULL, w->source, w->path, NULL};
	const char *full[sizeof argv / sizeof *argv];

	buf_init(&options, 4096);
	buf_init(&all, 4096);
	mount_options_for_mount(w->options, &options);
	buf_addf(&all, "%s%s", extra, buf_text(&options));
	memcpy(full, argv, sizeof argv);
	full[4] = buf_text(&all);
	return run(env, full, w, err);
}

static int run_umount(const struct step_env *env, const struct wish *w, struct err *err)
{
	const char *const argv[] = {"umount", "--", w->path, NULL};

	return run(env, argv, w, err);
}

/* The flags of a bind mount are its own, and are only taken by a second call. */
static int do_mount(
	const struct step_env *env, const struct wish *w, const struct now *now, struct err *err)
{
	struct now after = {0};
	AUTO_BUF what = {0};
	int rc = 0;

	buf_init(&what, 256);
	if (!now->mounted) {
		rc = fs_mkdirs(env->root, w->path, 0755, err);
		if (rc == 0)
			rc = run_mount(env, w, "", err);
		if (rc == 0 && is_bind(w)) {
			rc = look(env, w, &after, err);
			now = &after;
		}
	}
	if (rc == 0 && now->mounted && mount_options_differ(w->options, &now->at, &what))
		rc = run_mount(env, w, "remount,", err);
	buf_done(&after.info);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT fstab = {0};
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = plan_fstab(env, &w, &fstab, err);
	if (rc == 0 && w.state != WANT_PRESENT)
		rc = look(env, &w, &now, err);
	if (rc == 0 && w.state == WANT_MOUNTED)
		rc = judge_other(env, &w, &now, err);
	if (rc == 0 && w.state == WANT_MOUNTED)
		rc = do_mount(env, &w, &now, err);
	else if (rc == 0 && now.mounted)
		rc = run_umount(env, &w, err);
	if (rc == 0)
		rc = edit_save(env, &fstab, err);
	if (rc == 0 && edit_differs(&fstab))
		rc = systemd_reload(env, err);
	buf_done(&now.info);
	return rc;
}

static struct own_lines lines_of(const struct wish *w)
{
	return (struct own_lines){FSTAB, EDIT_MAX, is_ours, w};
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = NULL, *point;
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = lines_of(&w);

	if (rc == 0)
		rc = edit_keep_lines(env, &ours, &into, err);
	if (rc == 0 && w.state != WANT_PRESENT)
		rc = look(env, &w, &now, err);
	if (rc < 0) {
		json_decref(into);
		buf_done(&now.info);
		return rc;
	}
	point = json_object();
	json_put_bool(point, "mounted", now.mounted);
	json_put_str(point, "source", now.at.source);
	json_put_str(point, "type", now.at.type);
	json_put_str(point, "options", now.at.options);
	json_object_set_new(into, "point", point);
	if (w.state == WANT_MOUNTED && !now.mounted) {
		char inside[PATH_MAX + 2];

		/* the mount point is a folder that is made too */
		snprintf(inside, sizeof inside, "%s/.", w.path);
		json_object_set_new(into, "made_point", json_array());
		edit_keep_folders(env, inside, json_get(into, "made_point"));
	}
	buf_done(&now.info);
	*out = into;
	return 0;
}

/* Back to what was mounted: nothing, or the same with other options. */
static int undo_mount(struct step_env *env, const struct wish *w, const json_t *point,
	const struct now *now, struct err *err)
{
	struct wish was = *w;

	was.source = json_get_str(point, "source", w->source);
	was.type = json_get_str(point, "type", w->type);
	was.options = json_get_str(point, "options", "defaults");
	if (!json_get_bool(point, "mounted", false))
		return now->mounted ? run_umount(env, w, err) : 0;
	if (!now->mounted)
		return run_mount(env, &was, "", err);
	if (strcmp(was.options, now->at.options) == 0)
		return 0;
	return run_mount(env, &was, is_bind(w) ? "remount,bind," : "remount,", err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const json_t *point = json_get(before, "point");
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = lines_of(&w);

	if (rc == 0 && w.state != WANT_PRESENT)
		rc = look(env, &w, &now, err);
	if (rc == 0 && w.state != WANT_PRESENT) {
		if (now.mounted != json_get_bool(point, "mounted", false))
			report_differs(rep, "brought back");
		rc = undo_mount(env, &w, point, &now, err);
	}
	if (rc == 0)
		rc = edit_restore_lines(env, &ours, past, rep, err);
	if (rc == 0)
		rc = edit_drop_folders(env, json_get(before, "made_point"), err);
	if (rc == 0 && rep->state == STEP_DIFFERS)
		rc = systemd_reload(env, err);
	buf_done(&now.info);
	return rc;
}

const struct step_ops STEP_MOUNT = {
	.kind = "mount", .check = check, .apply = apply, .before = before, .undo = undo};
