/*
 * kernel_arg - arguments of the kernel's command line, kept in GRUB's defaults.
 *
 * A key that stands somewhere is changed there. A new one goes into a drop-in
 * of ours where the distribution reads drop-ins, else into /etc/default/grub.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/step/edit.h"
#include "agent/step/grub_args.h"
#include "agent/step/initramfs.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAIN_FILE  "/etc/default/grub"
#define FOLDER     "/etc/default/grub.d"
#define DROPIN     FOLDER "/90-stoika.cfg"
#define ENTRIES    "/boot/loader/entries"
#define FILES_MAX  32
#define CFG_MAX    (4u << 20)
#define PATIENCE   (300 * CLOCK_SEC)
#define BOOT_SPARE (UINT64_C(8) << 20)
#define ARGS_ROOM  4096

struct wish {
	json_t *args; /* borrowed */
	const char *variable;
	bool absent, initramfs;
};

/* Everything that GRUB's defaults are made of, in the order it is read. */
struct files {
	char path[FILES_MAX][NAME_MAX + 32];
	struct edit at[FILES_MAX];
	unsigned n;
	bool dropins;
};

static void files_free(struct files *f)
{
	for (unsigned i = 0; f && i < f->n; i++)
		edit_done(&f->at[i]);
	free(f);
}

static int judge_arg(const char *key, const char *value, struct err *err)
{
	static const char SIGNS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.-";

	if (*key && !key[strspn(key, SIGNS)] && !strpbrk(value, " \t\n\"'`$\\"))
		return 0;
	err_set(err, E_SCHEMA, "'%.60s%s%.60s' is not an argument of the kernel", key,
		*value ? "=" : "", value);
	return err_hint(err, "a key of letters, digits, '_', '.' and '-', a value without blanks "
			     "and quotes");
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	*w = (struct wish){.args = json_get(args, "args"),
		.variable = json_get_str(args, "variable", "GRUB_CMDLINE_LINUX_DEFAULT"),
		.absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0,
		.initramfs = json_get_bool(args, "initramfs", false)};
	if (json_object_size(w->args) == 0 || json_object_size(w->args) > 64) {
		err_set(err, E_SCHEMA, "'args' holds %zu arguments, expected 1 to 64",
			json_object_size(w->args));
		return err_hint(err, "such as args: {iommu: pt}");
	}
	json_object_foreach(w->args, key, value)
	{
		if (rc == 0)
			rc = judge_arg(
				key, json_is_string(value) ? json_string_value(value) : "", err);
	}
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A folder that cannot be read now is not one that is not there: then nothing may be decided. */
static int list_dropins(const struct step_env *env, struct files *f, struct err *err)
{
	const struct dirent *e;
	struct err why = {0};
	DIR *dir = fs_dir_open(env->root, FOLDER, &why);

	if (!dir && why.code != E_NOTFOUND) {
		*err = why;
		return -(int)why.code;
	}
	if (!dir)
		return 0;
	f->dropins = true;
	while ((e = readdir(dir)) && f->n < FILES_MAX - 1)
		if (str_ends(str_of(e->d_name), ".cfg") && strcmp(e->d_name, "90-stoika.cfg") != 0)
			snprintf(f->path[f->n++], sizeof f->path[0], FOLDER "/%s", e->d_name);
	closedir(dir);
	snprintf(f->path[f->n++], sizeof f->path[0], DROPIN);
	qsort(f->path[1], f->n - 1, sizeof f->path[0], by_path);
	return 0;
}

static int open_files(const struct step_env *env, struct files *f, struct err *err)
{
	unsigned paths;
	int rc;

	snprintf(f->path[f->n++], sizeof f->path[0], MAIN_FILE);
	rc = list_dropins(env, f, err);
	paths = f->n;
	for (f->n = 0; rc == 0 && f->n < paths; f->n++)
		rc = edit_open(env, f->path[f->n], &f->at[f->n], err);
	return rc;
}

/* The text of one file anew. */
static int change(struct edit *e,
	void (*how)(struct str, const char *, const char *, const char *, struct buf *),
	const struct wish *w, const char *key, const char *value, struct err *err)
{
	AUTO_BUF next = {0};

	buf_init(&next, EDIT_MAX);
	how(buf_str(&e->now), w->variable, key, value, &next);
	if (!buf_ok(&next))
		return err_set(
			err, E_LIMIT, "'%s' would be longer than %u bytes", e->path, EDIT_MAX);
	edit_set(e, buf_str(&next));
	return 0;
}

static struct edit *file_for_new(struct files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->dropins && strcmp(f->path[i], DROPIN) == 0)
			return &f->at[i];
	return &f->at[0];
}

static int plan_arg(
	const struct wish *w, struct files *f, const char *key, const char *value, struct err *err)
{
	bool found = false;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < f->n; i++) {
		if (!grub_args_holds(buf_str(&f->at[i].now), w->variable, key))
			continue;
		found = true;
		rc = change(&f->at[i], grub_args_set, w, key, w->absent ? NULL : value, err);
	}
	if (rc < 0 || found || w->absent)
		return rc;
	return change(file_for_new(f), grub_args_add, w, key, value, err);
}

/* NULL with err set. */
static struct files *plan(const struct step_env *env, const struct wish *w, struct err *err)
{
	struct files *f = xcalloc(1, sizeof *f);
	const char *key;
	json_t *value;
	int rc = open_files(env, f, err);

	json_object_foreach(w->args, key, value)
	{
		if (rc == 0)
			rc = plan_arg(w, f, key,
				json_is_string(value) ? json_string_value(value) : "", err);
	}
	if (rc == 0)
		return f;
	files_free(f);
	return NULL;
}

/* Has the command line all the arguments, or with absent none of them? */
static bool is_as_wanted(const struct wish *w, struct str cmdline)
{
	const char *key;
	json_t *value;
	bool good = true;

	json_object_foreach(w->args, key, value)
	{
		const char *text = json_is_string(value) ? json_string_value(value) : "";

		good = good && grub_args_has(cmdline, key, text) == !w->absent;
	}
	return good;
}

static bool is_newer(const struct step_env *env, const char *path, struct timespec than)
{
	struct stat st;

	return fs_stat(env->root, path, true, &st, NULL) == 0 &&
	       (st.st_mtim.tv_sec > than.tv_sec ||
		       (st.st_mtim.tv_sec == than.tv_sec && st.st_mtim.tv_nsec > than.tv_nsec));
}

/* The first entry of grub.cfg, which is the one that boots; without any, by its time. */
static bool is_cfg_stale(const struct step_env *env, const struct wish *w)
{
	static const char *const PATHS[] = {"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"};
	AUTO_BUF text = {0};
	struct str rest, line;
	struct stat st;
	bool there = false;

	buf_init(&text, CFG_MAX);
	for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS && !there; i++) {
		there = fs_stat(env->root, PATHS[i], true, &st, NULL) == 0;
		if (there)
			(void)fs_read(env->root, PATHS[i], &text, NULL);
	}
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		const struct str word = edit_field(line, 0);

		if (str_is(word, "linux") || str_is(word, "linuxefi") || str_is(word, "linux16"))
			return !is_as_wanted(w, line);
	}
	return there && (is_newer(env, MAIN_FILE, st.st_mtim) || is_newer(env, DROPIN, st.st_mtim));
}

static bool is_initramfs_stale(const struct step_env *env, const struct wish *w)
{
	return w->initramfs &&
	       (initramfs_is_older(env, MAIN_FILE) || initramfs_is_older(env, DROPIN));
}

static bool is_entry_stale(int folder, const char *name, const struct wish *w)
{
	AUTO_BUF text = {0};
	struct str rest, line;

	buf_init(&text, 64u << 10);
	if (!str_ends(str_of(name), ".conf") || fs_read(folder, name, &text, NULL) < 0)
		return false;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (str_is(edit_field(line, 0), "options") &&
			str_find_str(line, STR_LIT("$kernelopts")) == STR_NONE)
			return !is_as_wanted(w, line);
	return false;
}

static bool are_entries_stale(const struct step_env *env, const struct wish *w)
{
	const struct dirent *e;
	bool stale = false;
	DIR *dir = fs_dir_open(env->root, ENTRIES, NULL);

	if (!dir)
		return is_cfg_stale(env, w);
	while (!stale && (e = readdir(dir)))
		stale = is_entry_stale(dirfd(dir), e->d_name, w);
	closedir(dir);
	return stale;
}

static int judge_grub(
	const struct step_env *env, bool *missing, struct step_report *rep, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(env->root, MAIN_FILE, true, &st, err);

	*missing = rc == -E_NOTFOUND;
	if (!*missing)
		return rc;
	if (env->dry) {
		report_unknown(rep, "GRUB is not installed yet");
		return 0;
	}
	err_set(err, E_UNSUPPORTED, "this node does not boot by GRUB: there is no '" MAIN_FILE "'");
	return err_hint(err, "set the arguments where the node is started from");
}

static void tell_running(const struct step_env *env, const struct wish *w, struct step_report *rep)
{
	AUTO_BUF cmdline = {0};

	buf_init(&cmdline, 64u << 10);
	if (fs_read(env->root, "/proc/cmdline", &cmdline, NULL) < 0 ||
		is_as_wanted(w, buf_str(&cmdline)))
		return;
	rep->tell = true;
	if (rep->state == STEP_SAME)
		snprintf(rep->why, sizeof rep->why,
			"the running kernel was started %s: a reboot is needed",
			w->absent ? "with them" : "without them");
	else
		report_addf(rep, "the running kernel: a reboot is needed\n");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files *f;
	bool missing = false;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = judge_grub(env, &missing, rep, err);
	if (rc < 0 || missing)
		return rc;
	f = plan(env, &w, err);
	if (!f)
		return -(int)err->code;
	for (unsigned i = 0; i < f->n; i++)
		edit_show(&f->at[i], rep);
	if (rep->state == STEP_SAME && are_entries_stale(env, &w)) {
		report_differs(rep, "the boot entries are older than GRUB's defaults");
		report_addf(rep, "make the boot entries anew\n");
	}
	if (rep->state == STEP_SAME && is_initramfs_stale(env, &w)) {
		report_differs(rep, "the initramfs is older than GRUB's defaults");
		report_addf(rep, "make the initramfs anew\n");
	}
	tell_running(env, &w, rep);
	files_free(f);
	return 0;
}

static int run_grubby(const struct step_env *env, const struct wish *w, struct err *err)
{
	AUTO_BUF option = {0};
	const char *key, *sep = "";
	json_t *value;

	buf_init(&option, ARGS_ROOM);
	buf_add_text(&option, w->absent ? "--remove-args=" : "--args=");
	json_object_foreach(w->args, key, value)
	{
		const char *text = json_is_string(value) ? json_string_value(value) : "";

		buf_addf(&option, "%s%s%s%s", sep, key, *text ? "=" : "", text);
		sep = " ";
	}

	const char *const argv[] = {"grubby", "--update-kernel=ALL", buf_text(&option), NULL};

	return tool_must_within(env, argv, PATIENCE, err);
}

static int remake_entries(const struct step_env *env, const struct wish *w, struct err *err)
{
	static const char *const DEBIAN[] = {"update-grub", NULL};
	static const char *const RPM[] = {"grub2-mkconfig", "-o", "/boot/grub2/grub.cfg", NULL};
	static const char *const PLAIN[] = {"grub-mkconfig", "-o", "/boot/grub/grub.cfg", NULL};
	static const char *const *const ALL[] = {DEBIAN, RPM, PLAIN};
	struct stat st;

	if (tool_is_there(env, "grubby") && fs_stat(env->root, ENTRIES, true, &st, NULL) == 0)
		return run_grubby(env, w, err);
	for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
		if (tool_is_there(env, ALL[i][0]))
			return tool_must_within(env, ALL[i], PATIENCE, err);
	err_set(err, E_UNSUPPORTED, "no grubby, update-grub or grub2-mkconfig is on this node");
	return err_hint(err, "install the package of GRUB's tools");
}

/* The old texts, as well as that goes: the error that is told is the first one. */
static void put_back(const struct step_env *env, const struct files *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct edit *e = &f->at[i];

		if (!edit_differs(e))
			continue;
		if (e->exists)
			(void)fs_replace(env->root, e->path, buf_str(&e->old), FS_KEEP_MODE,
				FS_KEEP_ID, (gid_t)FS_KEEP_ID, NULL);
		else
			(void)fs_remove(env->root, e->path, false, NULL);
	}
}

static int put(const struct step_env *env, const struct wish *w, struct files *f, struct err *err)
{
	bool changed = are_entries_stale(env, w);
	int rc = initramfs_want_space(env, BOOT_SPARE, err);

	if (rc == -E_NOTFOUND)
		rc = 0; /* no /boot: nothing to run out of */
	for (unsigned i = 0; rc == 0 && i < f->n; i++) {
		changed = changed || edit_differs(&f->at[i]);
		rc = edit_save(env, &f->at[i], err);
	}
	if (rc == 0 && changed)
		rc = remake_entries(env, w, err);
	if (rc < 0) {
		put_back(env, f);
		return err_wrap(err, "GRUB's defaults are as before");
	}
	changed = changed || is_initramfs_stale(env, w);
	return changed && w->initramfs ? initramfs_rebuild(env, err) : 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files *f;
	bool missing = false;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = judge_grub(env, &missing, rep, err);
	if (rc < 0 || missing)
		return rc;
	f = plan(env, &w, err);
	if (!f)
		return -(int)err->code;
	rc = put(env, &w, f, err);
	files_free(f);
	return rc;
}

/* grubby is told arguments, not files: what it edits is kept too. */
static int keep_entries(const struct step_env *env, json_t *into, struct err *err)
{
	char path[NAME_MAX + 32];
	const struct dirent *e;
	int rc = 0;
	DIR *dir;

	if (!tool_is_there(env, "grubby"))
		return 0;
	dir = fs_dir_open(env->root, ENTRIES, err);
	if (!dir)
		return err->code == E_NOTFOUND ? 0 : -(int)err->code;
	while (rc == 0 && (e = readdir(dir))) {
		snprintf(path, sizeof path, ENTRIES "/%s", e->d_name);
		if (str_ends(str_of(path), ".conf"))
			rc = edit_keep(env, path, into, err);
	}
	closedir(dir);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct files *f = xcalloc(1, sizeof *f);
	json_t *into = json_object();
	int rc = open_files(env, f, err);

	(void)args;
	for (unsigned i = 0; rc == 0 && i < f->n; i++)
		rc = edit_keep(env, f->path[i], into, err);
	if (rc == 0)
		rc = keep_entries(env, into, err);
	files_free(f);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	AUTO_JSON paths = json_deep_copy(before); /* to be gone through it must not be const */
	json_t *value;
	const struct edit_past past = {before, after};
	bool entries = false;
	const char *path;
	struct wish w;
	int rc = read_args(args, &w, err);

	json_object_foreach(paths, path, value)
	{
		if (rc < 0 || path[0] != '/')
			continue;
		entries = entries || str_starts(str_of(path), ENTRIES);
		rc = edit_restore(env, path, past, rep, err);
	}
	if (rc == 0 && rep->state == STEP_DIFFERS && !entries)
		rc = remake_entries(env, &w, err);
	if (rc == 0 && rep->state == STEP_DIFFERS && w.initramfs)
		rc = initramfs_rebuild(env, err);
	return rc;
}

const struct step_ops STEP_KERNEL_ARG = {
	.kind = "kernel_arg", .check = check, .apply = apply, .before = before, .undo = undo};
