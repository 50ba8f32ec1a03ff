/* trial - a case laid under a throw-away root, its recipes run over it by the real executor. */
#include "agent/trial/trial.h"

#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/arg_tree.h"
#include "agent/trial/tree.h"
#include "agent/trial/trial_priv.h"
#include "agent/wire/redact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CALLS_MAX (1u << 20)
#define TOLD_MAX  (1u << 20)

void trial_complain(struct trial *c, const char *stage, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	c->failures++;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	buf_addf(&c->told, "%s: %s\n", stage, text);
}

/* --- laying --- */

static int copy_into(const char *from, const char *to, struct err *err)
{
	char dot[TRIAL_PATH_ROOM];
	const char *const argv[] = {"cp", "-dR", "--preserve=mode,links", dot, to, NULL};
	struct stat st;

	if (stat(from, &st) < 0)
		return 0;
	snprintf(dot, sizeof dot, "%s/.", from);
	return tree_tool(argv, err);
}

/* From a case of recipes/NAME/tests to what stands for programs in the cases of the repository. */
#define SHARED "/../../../../tests/cases/recipe/programs"

/* A program of several cases: of the folder that the caller named, else of programs/ beside them,
 * else of those that all recipes of the repository share.
 */
static int lay_shared(struct trial *c, const char *name, struct err *err)
{
	char path[TRIAL_PATH_ROOM];
	struct stat st;

	if (!name || !*name || strchr(name, '/'))
		return err_set(err, E_SCHEMA, "'programs' must be a list of names");
	if (c->opts->programs)
		snprintf(path, sizeof path, "%s/%s", c->opts->programs, name);
	else
		snprintf(path, sizeof path, "%s/../programs/%s", c->dir, name);
	if (!c->opts->programs && stat(path, &st) < 0)
		snprintf(path, sizeof path, "%s" SHARED "/%s", c->dir, name);
	if (stat(path, &st) < 0) {
		err_set(err, E_NOTFOUND, "'programs': there is no '%s'", path);
		return err_hint(err, "lay it there, or into bin/ of the case alone");
	}
	return tree_program(c->root, name, path, err);
}

static int lay_programs(struct trial *c, struct err *err)
{
	const json_t *names = json_get(c->doc, "programs");
	char path[TRIAL_PATH_ROOM];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	for (size_t i = 0; i < json_array_size(names) && rc == 0; i++)
		rc = lay_shared(c, json_string_value(json_array_get(names, i)), err);
	snprintf(path, sizeof path, "%s/bin", c->dir);
	d = opendir(path);
	while (rc == 0 && d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/bin/%s", c->dir, e->d_name);
		rc = tree_program(c->root, e->d_name, path, err);
	}
	if (d)
		closedir(d);
	return rc;
}

static int lay_modes_and_links(struct trial *c, struct err *err)
{
	const char *path;
	char full[TRIAL_PATH_ROOM];
	json_t *v;

	json_object_foreach(json_get(c->doc, "modes"), path, v)
	{
		snprintf(full, sizeof full, "%s/%s", c->root, path);
		if (chmod(full, (mode_t)strtoul(json_string_value(v), NULL, 8)) < 0)
			return err_set(err, E_NOTFOUND, "'modes': no '%s'", path);
	}
	json_object_foreach(json_get(c->doc, "links"), path, v)
	{
		snprintf(full, sizeof full, "%s/%s", c->root, path);
		if (symlink(json_string_value(v), full) < 0)
			return err_set(err, E_IO, "'links': cannot make '%s'", path);
	}
	return 0;
}

/* From the folders that are searched, the first that has it. */
static int lay_named(struct trial *c, const char *name, struct err *err)
{
	char from[TRIAL_PATH_ROOM], to[TRIAL_PATH_ROOM];
	struct stat st;

	snprintf(to, sizeof to, "%s/%s", c->recipes, name);
	if (stat(to, &st) == 0)
		return 0;
	for (unsigned i = 0; i < c->opts->n_recipes; i++) {
		snprintf(from, sizeof from, "%s/%s", c->opts->recipes[i], name);
		if (stat(from, &st) < 0)
			continue;
		if (mkdir(to, 0755) < 0)
			return err_sys(err, errno, "cannot make '%s'", to);
		return copy_into(from, to, err);
	}
	return err_set(err, E_NOTFOUND, "there is no recipe '%s'", name);
}

/* The case's own recipes, the one in case.yaml, and those that it or the caller names. */
static int lay_recipes(struct trial *c, struct err *err)
{
	const char *text = json_get_str(c->doc, "recipe", NULL);
	const json_t *names = json_get(c->doc, "recipes");
	char from[TRIAL_PATH_ROOM];
	int rc;

	snprintf(from, sizeof from, "%s/recipes", c->dir);
	rc = copy_into(from, c->recipes, err);
	if (rc == 0 && text)
		rc = tree_write(c->recipes, "demo/recipe.yaml", str_of(text), 0644, err);
	for (size_t i = 0; i < json_array_size(names) && rc == 0; i++)
		rc = lay_named(c, json_string_value(json_array_get(names, i)), err);
	for (unsigned i = 0; i < c->opts->n_order && rc == 0; i++)
		rc = lay_named(c, c->opts->order[i], err);
	return rc;
}

/* What etc/os-release says of the systems that cases name; the skeleton's is Debian 12. */
static const struct {
	const char *name, *release;
} SYSTEMS[] = {
	{"debian-12", NULL},
	{"debian-13", "PRETTY_NAME=\"Debian GNU/Linux 13\"\nID=debian\nVERSION_ID=\"13\"\n"
		      "VERSION_CODENAME=trixie\n"},
	{"ubuntu-22.04", "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\nID=ubuntu\nID_LIKE=debian\n"
			 "VERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\n"},
	{"ubuntu-24.04", "PRETTY_NAME=\"Ubuntu 24.04.2 LTS\"\nID=ubuntu\nID_LIKE=debian\n"
			 "VERSION_ID=\"24.04\"\nVERSION_CODENAME=noble\n"},
	{"rocky-8", "PRETTY_NAME=\"Rocky Linux 8.10\"\nID=rocky\nID_LIKE=\"rhel centos fedora\"\n"
		    "VERSION_ID=\"8.10\"\n"},
	{"rocky-9", "PRETTY_NAME=\"Rocky Linux 9.5\"\nID=rocky\nID_LIKE=\"rhel centos fedora\"\n"
		    "VERSION_ID=\"9.5\"\n"},
};

/* What the stand-in of rpm reads, before anything is installed. */
static int lay_rpm_database(const struct trial *c, struct err *err)
{
	const struct str bash = STR_LIT("bash\tx86_64\t0:5.1.8-9.el9\n");

	return tree_write(c->root, "var/lib/rpm/rpmdb.sqlite", bash, 0644, err);
}

static int lay_system(const struct trial *c, struct err *err)
{
	const char *os = json_get_str(c->doc, "os", SYSTEMS[0].name);
	int rc = 0;

	for (size_t i = 0; i < sizeof SYSTEMS / sizeof *SYSTEMS; i++) {
		if (strcmp(SYSTEMS[i].name, os) != 0)
			continue;
		if (SYSTEMS[i].release)
			rc = tree_write(
				c->root, "etc/os-release", str_of(SYSTEMS[i].release), 0644, err);
		return rc == 0 && strncmp(os, "rocky", 5) == 0 ? lay_rpm_database(c, err) : rc;
	}
	err_set(err, E_SCHEMA, "there is no system '%.40s' for cases", os);
	return err_hint(
		err, "debian-12, debian-13, ubuntu-22.04, ubuntu-24.04, rocky-8 or rocky-9");
}

static int lay(struct trial *c, struct err *err)
{
	char before[TRIAL_PATH_ROOM];
	int rc;

	snprintf(before, sizeof before, "%s/before", c->dir);
	rc = copy_into(c->opts->skeleton, c->root, err);
	if (rc == 0)
		rc = lay_system(c, err);
	if (rc == 0)
		rc = lay_programs(c, err);
	if (rc == 0)
		rc = copy_into(before, c->root, err);
	if (rc == 0)
		rc = lay_modes_and_links(c, err);
	if (rc == 0)
		rc = lay_recipes(c, err);
	if (rc == 0)
		rc = bundle_open_dir(c->arena, c->recipes, &c->bundle, err);
	return rc == 0 ? tree_snapshot(c->root, &c->before, err) : rc;
}

/* --- running --- */

static void on_event(void *ctx, const json_t *record)
{
	const struct trial *c = ctx;

	json_array_append_new(c->events, json_deep_copy(record));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct order_recipe *)a)->name, ((const struct order_recipe *)b)->name);
}

/* The recipes of the order: the caller's, the case's list, or all there are, by name. */
static unsigned list_recipes(struct trial *c, struct order_recipe *out, unsigned most)
{
	const json_t *names = json_get(c->doc, "recipes"), *params = json_get(c->doc, "params");
	const struct dirent *e;
	unsigned n = 0;
	DIR *d = NULL;

	for (size_t i = 0; i < json_array_size(names) && n < most; i++)
		out[n++].name = json_string_value(json_array_get(names, i));
	for (unsigned i = 0; n < most && json_array_size(names) == 0 && i < c->opts->n_order; i++)
		out[n++].name = c->opts->order[i];
	if (n == 0)
		d = opendir(c->recipes);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && n < most)
			out[n++].name = arena_strdup(c->arena, e->d_name);
	if (d) {
		closedir(d);
		qsort(out, n, sizeof *out, by_name);
	}
	for (unsigned i = 0; i < n; i++)
		out[i].params = json_get(params, out[i].name);
	return n;
}

static void read_calls(struct trial *c)
{
	AUTO_FD fd = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	buf_clear(&c->calls);
	(void)fs_read(fd, "case/calls", &c->calls, NULL);
	(void)fs_replace(fd, "case/calls", STR_LIT(""), 0644, 0, 0, NULL);
}

/* Names of the case's secrets, as an order tells them. */
static const char **secret_names(struct trial *c, json_t *values)
{
	const char **names = arena_alloc(c->arena, (json_object_size(values) + 1) * sizeof *names);
	size_t n = 0;
	const char *name;
	json_t *v;

	json_object_foreach(values, name, v) names[n++] = arena_strdup(c->arena, name);
	return names;
}

static int run(struct trial *c, enum order_mode mode, struct err *err)
{
	struct order_recipe recipes[16] = {0};
	json_t *secrets = json_get(c->doc, "secrets");
	struct redact *redact = secrets ? redact_new(secrets) : NULL;
	AUTO_FD root = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD state = open(c->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *facts = json_get(c->doc, "facts");
	AUTO_JSON given = facts ? json_deep_copy(facts) : NULL;
	AUTO_JSON http =
		json_get(c->doc, "http") ? json_incref(json_get(c->doc, "http")) : json_object();
	const struct run_env env = {.root = root,
		.root_path = c->root,
		.state = state,
		.bundle = c->bundle,
		.facts = given,
		.site = json_get(c->doc, "site"),
		.http = http,
		.redact = redact,
		.boot_id = "boot",
		.ctx = c,
		.event = on_event,
		.impatient = true};
	const struct order o = {.run = arena_printf(c->arena, "run-%u", ++c->runs),
		.mode = mode,
		.node = "n1",
		.by = "case",
		.bundle = "none",
		.recipes = recipes,
		.n_recipes = list_recipes(c, recipes, 16),
		.node_facts = json_get(c->doc, "node"),
		.vars = json_get(c->doc, "vars"),
		.n_secrets = (unsigned)json_object_size(secrets),
		.secrets = secret_names(c, secrets),
		.secret_values = secrets};
	int rc;

	json_array_clear(c->events);
	rc = run_execute(&env, &o, &c->out, err);
	redact_free(redact);
	read_calls(c);
	return rc;
}

static int check_keys(
	const json_t *map, const char *const *known, const char *where, struct err *err)
{
	json_t *copy = json_deep_copy(map);
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach(copy, key, v)
	{
		const char *const *k = known;

		while (*k && strcmp(*k, key) != 0)
			k++;
		if (!*k)
			rc = err_set(err, E_SCHEMA, "%s has no key '%.60s'", where, key);
	}
	json_decref(copy);
	return rc;
}

/* NAME: text each. */
static int check_secrets(const json_t *doc, struct err *err)
{
	json_t *values = json_get(doc, "secrets"), *v;
	const char *name;

	if (values && !json_is_object(values))
		return err_set(err, E_SCHEMA, "'secrets' must be a map of names to texts");
	json_object_foreach(values, name, v)
	{
		if (json_is_string(v))
			continue;
		err_set(err, E_SCHEMA, "the secret '%.60s' must be a text", name);
		return err_hint(err, "put it in quotes");
	}
	return 0;
}

static int read_doc(struct trial *c, struct err *err)
{
	static const char *const KEYS[] = {"about", "source", "recipes", "recipe", "params", "vars",
		"secrets", "node", "site", "http", "os", "facts", "programs", "links", "modes",
		"plan", "first", "gone", "ignore", "second", "undo", NULL};
	static const char *const STAGE_KEYS[] = {
		"state", "reason", "hint", "steps", "handlers", "checks", "ran", "not_ran", NULL};
	static const char *const STAGES[] = {"plan", "first", "second", "undo"};
	struct yaml_doc *d;
	char path[TRIAL_PATH_ROOM];
	struct stat st;
	int rc;

	snprintf(path, sizeof path, "%s/case.yaml", c->dir);
	rc = stat(path, &st) == 0 && !S_ISREG(st.st_mode)
		     ? err_set(err, E_SCHEMA, "'%s' is no plain file", path)
		     : yaml_load(c->arena, path, &YAML_CAPS_RECIPE, &d, err);
	if (rc == 0)
		rc = arg_tree_literal(d, d->root, "the case", &c->doc, err);
	if (rc == 0)
		rc = check_keys(c->doc, KEYS, "the case", err);
	for (size_t i = 0; i < sizeof STAGES / sizeof *STAGES && rc == 0; i++)
		if (json_is_object(json_get(c->doc, STAGES[i])))
			rc = check_keys(json_get(c->doc, STAGES[i]), STAGE_KEYS, STAGES[i], err);
	if (rc == 0)
		rc = check_secrets(c->doc, err);
	if (rc == 0 && !json_get(c->doc, "first"))
		rc = err_set(err, E_SCHEMA, "the case has no 'first'");
	return rc;
}

/* --- a case --- */

static void run_stage(
	struct trial *c, const char *stage, enum order_mode mode, const json_t *want, json_t *tree)
{
	struct err err;

	if (run(c, mode, &err) < 0) {
		trial_complain(c, stage, "the run does not begin: %s", err.msg);
		return;
	}
	trial_judge(c, stage, want);
	trial_judge_tree(c, stage, tree);
}

/* The second run is silent, or fails as the first one did. */
static json_t *wanted_second(const struct trial *c)
{
	json_t *second = json_get(c->doc, "second"), *first = json_get(c->doc, "first");
	const char *state = json_get_str(first, "state", "changed");
	json_t *want = json_object();

	if (strcmp(state, "changed") == 0)
		json_put_str(want, "state", "ok");
	else
		json_put_str(want, "state", state);
	if (json_get(first, "reason"))
		json_object_set(want, "reason", json_get(first, "reason"));
	if (json_get(first, "ran"))
		json_object_set(want, "not_ran", json_get(first, "ran"));
	if (second)
		json_object_update(want, second);
	return want;
}

/* All of it is taken back, or what the case says comes of it; NULL: it is not tried. */
static json_t *wanted_undo(const struct trial *c)
{
	json_t *undo = json_get(c->doc, "undo");

	if (c->opts->keep || (!json_is_true(undo) && !json_is_object(undo)))
		return NULL;
	return json_is_object(undo) ? json_incref(undo) : json_pack("{s:s}", "state", "changed");
}

static void run_stages(struct trial *c)
{
	AUTO_JSON after = trial_wanted_after(c);
	AUTO_JSON second = wanted_second(c);
	AUTO_JSON undo = wanted_undo(c);

	if (json_get(c->doc, "plan"))
		run_stage(c, "plan", ORDER_PLAN, json_get(c->doc, "plan"), c->before);
	run_stage(c, "first run", ORDER_APPLY, json_get(c->doc, "first"), after);
	run_stage(c, "second run", ORDER_APPLY, second, after);
	if (undo)
		run_stage(c, "undo", ORDER_UNDO, undo, c->before);
}

/* --- the whole --- */

static void remove_work(const char *work)
{
	AUTO_FD tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)fs_remove(tmp, work + strlen("/tmp/"), true, NULL);
}

static int make_folders(struct trial *c, struct err *err)
{
	snprintf(c->work, sizeof c->work, "/tmp/stoika-trial-XXXXXX");
	if (!mkdtemp(c->work))
		return err_sys(err, errno, "cannot make a folder in /tmp");
	snprintf(c->root, sizeof c->root, "%s/root", c->work);
	snprintf(c->state, sizeof c->state, "%s/state", c->work);
	snprintf(c->recipes, sizeof c->recipes, "%s/recipes", c->work);
	if (mkdir(c->root, 0755) < 0 || mkdir(c->state, 0700) < 0 || mkdir(c->recipes, 0755) < 0)
		return err_sys(err, errno, "cannot make folders in '%s'", c->work);
	return 0;
}

static void complain_not_laid(struct trial *c, const struct err *err)
{
	const char *hint = err->hint[0] ? "; " : "";

	if (err->line > 0)
		trial_complain(c, "cannot be laid", "%s:%u: %s%s%s", err->file, err->line, err->msg,
			hint, err->hint);
	else
		trial_complain(c, "cannot be laid", "%s/case.yaml: %s%s%s", c->dir, err->msg, hint,
			err->hint);
}

bool trial_case(const struct trial_opts *o, const char *dir, struct buf *told)
{
	struct trial c = {.opts = o, .dir = dir, .arena = arena_new()};
	struct err err = {0};
	char full[PATH_MAX];
	int rc;

	if (realpath(dir, full)) /* what copies it stands in another folder */
		c.dir = full;
	c.name = strrchr(c.dir, '/') ? strrchr(c.dir, '/') + 1 : c.dir;
	c.events = json_array();
	buf_init(&c.calls, CALLS_MAX);
	buf_init(&c.told, TOLD_MAX);
	rc = read_doc(&c, &err);
	if (rc == 0)
		rc = make_folders(&c, &err);
	if (rc == 0)
		rc = lay(&c, &err);
	if (rc < 0)
		complain_not_laid(&c, &err);
	else
		run_stages(&c);
	if (c.work[0] && !o->keep)
		remove_work(c.work);
	else if (c.work[0])
		buf_addf(&c.told, "the tree is in %s\n", c.root);
	buf_add_str(told, buf_str(&c.told));
	bundle_close(c.bundle);
	json_decref(c.doc);
	json_decref(c.events);
	json_decref(c.before);
	buf_done(&c.calls);
	buf_done(&c.told);
	arena_free(c.arena);
	return c.failures == 0;
}

static int write_map(const char *path, const char *text, struct err *err)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	return fs_write_all(fd, str_of(text), err);
}

int trial_become_root(struct err *err)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	char map[64];
	int rc;

	if (uid == 0)
		return 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		err_sys(err, errno, "cannot be root in a namespace of our own");
		return err_hint(err, "run it as root, or allow unprivileged user namespaces");
	}
	snprintf(map, sizeof map, "0 %u 1\n", uid);
	rc = write_map("/proc/self/uid_map", map, err);
	if (rc == 0)
		rc = write_map("/proc/self/setgroups", "deny", err);
	snprintf(map, sizeof map, "0 %u 1\n", gid);
	return rc < 0 ? rc : write_map("/proc/self/gid_map", map, err);
}

int trial_skeleton(char path[static 64], struct err *err)
{
	snprintf(path, 64, "/tmp/stoika-trial-XXXXXX");
	if (!mkdtemp(path) || chmod(path, 0755) < 0)
		return err_sys(err, errno, "cannot make a folder in /tmp");
	return tree_skeleton(path, err);
}

void trial_drop_skeleton(const char *path)
{
	remove_work(path);
}
