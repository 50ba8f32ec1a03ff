/*
 * kernel_module - loaded, absent or blacklisted, now and at boot.
 *
 * The step has two files of its own, in modprobe.d and modules-load.d. A module
 * that is in use is never unloaded; who uses it is said.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/edit.h"
#include "agent/step/initramfs.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME_ROOM   65
#define TEXT_ROOM   2048
#define MODULES_MAX (1u << 20)

enum wanted {
	WANT_LOADED,
	WANT_ABSENT,
	WANT_BLACKLISTED
};

struct wish {
	char name[NAME_ROOM]; /* with '_', as the kernel writes it */
	const char *options;
	enum wanted state;
	bool boot, initramfs;
	char conf[PATH_MAX], load[PATH_MAX];
};

struct now {
	bool loaded, builtin;
	unsigned uses;
	char users[200]; /* "nvidia_uvm, nvidia_modeset" */
};

struct files {
	struct edit conf, load;
};

static void files_done(struct files *f)
{
	edit_done(&f->conf);
	edit_done(&f->load);
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	const char *state = json_get_str(args, "state", "loaded");

	*w = (struct wish){.options = json_get_str(args, "options", NULL),
		.boot = json_get_bool(args, "boot", true),
		.initramfs = json_get_bool(args, "initramfs", false)};
	w->state = strcmp(state, "absent") == 0        ? WANT_ABSENT
		   : strcmp(state, "blacklisted") == 0 ? WANT_BLACKLISTED
						       : WANT_LOADED;
	if (!*name || strlen(name) >= NAME_ROOM ||
		name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_-")]) {
		err_set(err, E_SCHEMA, "'%.60s' is not the name of a kernel module", name);
		return err_hint(err, "letters, digits, '_' and '-', without '.ko'");
	}
	for (size_t i = 0; name[i]; i++)
		w->name[i] = name[i] == '-' ? '_' : name[i];
	if (w->options && (strpbrk(w->options, "\n#\\") || !*w->options ||
				  strlen(w->options) > TEXT_ROOM / 2)) {
		err_set(err, E_SCHEMA, "'options' must be one line of name=value");
		return err_hint(err, "such as NVreg_EnableGpuFirmware=0");
	}
	if (w->options && w->state != WANT_LOADED) {
		err_set(err, E_CONFLICT, "a module that is %s takes no 'options'", state);
		return err_hint(err, "leave 'options' out");
	}
	snprintf(w->conf, sizeof w->conf, "/etc/modprobe.d/stoika-%s.conf", w->name);
	snprintf(w->load, sizeof w->load, "/etc/modules-load.d/stoika-%s.conf", w->name);
	return 0;
}

static bool same_module(struct str shown, const char *name)
{
	if (shown.n != strlen(name))
		return false;
	for (size_t i = 0; i < shown.n; i++)
		if ((shown.p[i] == '-' ? '_' : shown.p[i]) != name[i])
			return false;
	return true;
}

/* "nvidia 56 2 nvidia_uvm,nvidia_modeset, Live 0x0" */
static void read_use(struct str line, struct now *out)
{
	struct str users = edit_field(line, 3), one;
	uint64_t uses = 0;
	size_t n = 0;

	(void)str_to_u64(edit_field(line, 2), &uses);
	out->uses = (unsigned)uses;
	while (str_next(&users, ',', &one) && n < sizeof out->users)
		if (one.n > 0 && !str_is(one, "-"))
			n += (size_t)snprintf(out->users + n, sizeof out->users - n, "%s" STR_FMT,
				n ? ", " : "", STR_ARG(one));
}

/* ".../drivers/net/virtio_net.ko" */
static bool is_builtin(const struct step_env *env, const char *name)
{
	char path[PATH_MAX];
	AUTO_BUF release = {0}, list = {0};
	struct str rest, line;

	buf_init(&release, 256);
	buf_init(&list, MODULES_MAX);
	if (fs_read(env->root, "/proc/sys/kernel/osrelease", &release, NULL) < 0)
		return false;
	snprintf(path, sizeof path, "/lib/modules/" STR_FMT "/modules.builtin",
		STR_ARG(str_trim(buf_str(&release))));
	if (fs_read(env->root, path, &list, NULL) < 0)
		return false;
	rest = buf_str(&list);
	while (str_line(&rest, &line)) {
		const char *slash = memrchr(line.p, '/', line.n);
		struct str file = slash ? str_from(line, (size_t)(slash - line.p) + 1) : line;

		if (same_module(str_first(file, str_find(file, '.')), name))
			return true;
	}
	return false;
}

static int look(const struct step_env *env, const struct wish *w, struct now *out, struct err *err)
{
	AUTO_BUF text = {0};
	struct str rest, line;
	int rc;

	memset(out, 0, sizeof *out);
	buf_init(&text, MODULES_MAX);
	rc = fs_read(env->root, "/proc/modules", &text, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		if (!same_module(edit_field(line, 0), w->name))
			continue;
		out->loaded = true;
		read_use(line, out);
	}
	out->builtin = !out->loaded && is_builtin(env, w->name);
	return 0;
}

static void set_or_remove(struct edit *e, const char *text)
{
	if (*text)
		edit_set(e, str_of(text));
	else
		edit_remove(e);
}

static int plan(const struct step_env *env, const struct wish *w, struct files *f, struct err *err)
{
	char conf[TEXT_ROOM] = "", load[NAME_ROOM + 1] = "";
	int rc = edit_open(env, w->conf, &f->conf, err);

	if (rc == 0)
		rc = edit_open(env, w->load, &f->load, err);
	if (rc < 0)
		return rc;
	if (w->state == WANT_LOADED && w->boot)
		snprintf(load, sizeof load, "%s\n", w->name);
	if (w->options)
		snprintf(conf, sizeof conf, "options %s %s\n", w->name, w->options);
	/* blacklist alone stops only what loads it by an alias */
	if (w->state == WANT_BLACKLISTED)
		snprintf(conf, sizeof conf, "blacklist %s\ninstall %s /bin/false\n", w->name,
			w->name);
	set_or_remove(&f->conf, conf);
	set_or_remove(&f->load, load);
	return 0;
}

/* An option that the loaded module has not; the kernel shows flags as Y and N. */
static bool is_live(const struct step_env *env, const struct wish *w, struct str option)
{
	const size_t equal = str_find(option, '=');
	char path[PATH_MAX];
	AUTO_BUF text = {0};
	struct str have, want;

	if (equal == STR_NONE)
		return true;
	snprintf(path, sizeof path, "/sys/module/%s/parameters/" STR_FMT, w->name,
		STR_ARG(str_first(option, equal < 200 ? equal : 200)));
	buf_init(&text, 4096);
	if (fs_read(env->root, path, &text, NULL) < 0)
		return true;
	have = str_trim(buf_str(&text));
	want = str_from(option, equal + 1);
	if (str_is(have, "Y") || str_is(have, "N"))
		return str_is(have, "Y") ==
		       (str_is(want, "1") || str_is(want, "Y") || str_is(want, "y"));
	return str_eq(have, want);
}

static void tell_options(const struct step_env *env, const struct wish *w, const struct now *now,
	struct step_report *rep)
{
	struct str option;

	for (unsigned i = 0; now->loaded && w->options; i++) {
		option = edit_field(str_of(w->options), i);
		if (option.n == 0)
			return;
		if (is_live(env, w, option))
			continue;
		snprintf(rep->why, sizeof rep->why,
			"'%.*s' holds once '%s' is loaded anew, such as after a reboot",
			(int)(option.n < 80 ? option.n : 80), option.p, w->name);
		rep->tell = true;
		return;
	}
}

static int judge_in_use(const struct wish *w, const struct now *now, struct err *err)
{
	if (now->uses == 0)
		return 0;
	if (now->users[0])
		err_set(err, E_BUSY, "module '%s' is in use by %s", w->name, now->users);
	else
		err_set(err, E_BUSY, "module '%s' is in use by %u open devices or mounts", w->name,
			now->uses);
	return err_hint(err, "stop what uses it, or say 'state: blacklisted' and reboot");
}

static int judge_builtin(
	const struct wish *w, const struct now *now, struct step_report *rep, struct err *err)
{
	if (!now->builtin || w->state == WANT_LOADED)
		return 0;
	rep->denied = true;
	err_set(err, E_UNSUPPORTED, "module '%s' is built into the running kernel", w->name);
	return err_hint(err, "a kernel argument may turn it off: see the kind 'kernel_arg'");
}

static void compare_live(const struct step_env *env, const struct wish *w, const struct now *now,
	struct step_report *rep)
{
	if (w->state == WANT_LOADED) {
		if (!now->loaded && !now->builtin) {
			report_differs(rep, "is not loaded");
			report_addf(rep, "load %s\n", w->name);
		}
		if (rep->state == STEP_SAME)
			tell_options(env, w, now, rep);
		return;
	}
	if (!now->loaded)
		return;
	if (w->state == WANT_ABSENT || now->uses == 0) {
		report_differs(rep, "is loaded");
		report_addf(rep, "unload %s\n", w->name);
	} else if (rep->state == STEP_SAME) {
		snprintf(rep->why, sizeof rep->why,
			"'%s' is in use by %.120s and goes with a reboot", w->name,
			now->users[0] ? now->users : "open devices or mounts");
		rep->tell = true;
	}
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files f = {0};
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = judge_builtin(&w, &now, rep, err);
	if (rc == 0)
		rc = plan(env, &w, &f, err);
	if (rc == 0) {
		edit_show(&f.conf, rep);
		edit_show(&f.load, rep);
		if (w.initramfs && rep->state == STEP_SAME && initramfs_is_older(env, w.conf)) {
			report_differs(rep, "the initramfs is older than '%.120s'", w.conf);
			report_addf(rep, "make the initramfs anew\n");
		}
		compare_live(env, &w, &now, rep);
	}
	files_done(&f);
	return rc;
}

static int modprobe(const struct step_env *env, const char *flag, const char *name, struct err *err)
{
	const char *const with[] = {"modprobe", flag, "--", name, NULL};
	const char *const plain[] = {"modprobe", "--", name, NULL};
	const int rc = tool_must(env, flag ? with : plain, err);

	if (rc == -E_REMOTE)
		return err_hint(err,
			"is there a package with '%s' for the running kernel? see 'dmesg "
			"| tail'",
			name);
	return rc;
}

static int set_live(
	const struct step_env *env, const struct wish *w, const struct now *now, struct err *err)
{
	int rc = 0;

	if (w->state == WANT_LOADED)
		return now->loaded || now->builtin ? 0 : modprobe(env, NULL, w->name, err);
	if (!now->loaded)
		return 0;
	if (w->state == WANT_BLACKLISTED && now->uses > 0)
		return 0;
	rc = judge_in_use(w, now, err);
	return rc < 0 ? rc : modprobe(env, "-r", w->name, err);
}

/* modprobe reads its file, so that comes first; what cannot be loaded is not left for the boot. */
static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files f = {0};
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);
	bool changed;

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = judge_builtin(&w, &now, rep, err);
	if (rc == 0 && w.state == WANT_ABSENT && now.loaded)
		rc = judge_in_use(&w, &now, err);
	if (rc == 0)
		rc = plan(env, &w, &f, err);
	changed = rc == 0 && (edit_differs(&f.conf) || edit_differs(&f.load) ||
				     initramfs_is_older(env, w.conf));
	if (rc == 0)
		rc = edit_save(env, &f.conf, err);
	if (rc == 0)
		rc = set_live(env, &w, &now, err);
	if (rc == 0)
		rc = edit_save(env, &f.load, err);
	if (rc == 0 && changed && w.initramfs)
		rc = initramfs_rebuild(env, err);
	files_done(&f);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	json_t *into = json_object();
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = edit_keep(env, w.conf, into, err);
	if (rc == 0)
		rc = edit_keep(env, w.load, into, err);
	if (rc < 0) {
		json_decref(into);
		return rc;
	}
	json_put_bool(into, "loaded", now.loaded);
	*out = into;
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const bool was_loaded = json_get_bool(before, "loaded", false);
	struct now now = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = look(env, &w, &now, err);
	if (rc == 0)
		rc = edit_restore(env, w.conf, past, rep, err);
	if (rc == 0)
		rc = edit_restore(env, w.load, past, rep, err);
	if (rc == 0 && rep->state == STEP_DIFFERS && w.initramfs)
		rc = initramfs_rebuild(env, err);
	if (rc < 0 || now.loaded == was_loaded || now.builtin)
		return rc;
	report_differs(rep, "brought back");
	rc = was_loaded ? 0 : judge_in_use(&w, &now, err);
	return rc < 0 ? rc : modprobe(env, was_loaded ? NULL : "-r", w.name, err);
}

const struct step_ops STEP_KERNEL_MODULE = {
	.kind = "kernel_module", .check = check, .apply = apply, .before = before, .undo = undo};
