/*
 * stage - a throw-away root, state and set of recipes, and a run over them.
 *
 *	struct stage s;
 *	stage_init(&s);
 *	stage_recipe(&s, "demo", "recipe: demo\nsteps: ...");
 *	stage_run(&s, ORDER_APPLY, "demo");
 *	... s.out, s.events, stage_read(&s, "etc/motd") ...
 *	stage_done(&s);
 *
 * fakes.h gives the kinds "package" and "command" a life without programs.
 */
#pragma once

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/run/bundle.h"
#include "agent/run/journal.h"
#include "agent/run/run.h"
#include "agent/wire/redact.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct stage {
	char path[128];
	int root, state, recipes;
	unsigned runs;
	char run[64];
	char root_path[160];
	struct arena *arena;
	struct bundle *bundle;
	json_t *events, *params, *facts;
	struct run_outcome out;
	struct err err;
	unsigned before_change; /* calls */
	bool cancel;
	int elsewhere; /* what before_change returns */
	/* of the next runs */
	const char *resumed_by, *expect, *boot_id;
	json_t *secrets; /* {name: text} */
	struct redact *redact;
	struct run_memory *memory;
	unsigned reboots;
	bool reboot_asked;
	const char *undo_of;
};

static inline int stage_mkdir(const struct stage *s, const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", s->path, name);
	assert_int_equal(mkdir(path, 0755), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static inline void stage_write_at(int dir, const char *name, const char *text)
{
	char parent[512];
	struct err err;

	snprintf(parent, sizeof parent, "%s", name);
	if (strrchr(parent, '/')) {
		*strrchr(parent, '/') = '\0';
		assert_int_equal(fs_mkdirs(dir, parent, 0755, &err), 0);
	}
	if (fs_replace(dir, name, str_of(text), 0644, (uid_t)-1, (gid_t)-1, &err) < 0)
		fail_msg("cannot write %s: %s", name, err.msg);
}

static inline void stage_write(const struct stage *s, const char *name, const char *text)
{
	stage_write_at(s->root, name, text);
}

static inline void stage_recipe(const struct stage *s, const char *name, const char *yaml)
{
	char path[128];

	snprintf(path, sizeof path, "%s/recipe.yaml", name);
	stage_write_at(s->recipes, path, yaml);
}

static inline const char *stage_read(const struct stage *s, const char *name)
{
	static char text[1 << 16];
	struct buf b;

	buf_init(&b, sizeof text - 1);
	snprintf(text, sizeof text, "%s",
		fs_read(s->root, name, &b, NULL) < 0 ? "(absent)" : buf_text(&b));
	buf_done(&b);
	return text;
}

static inline bool stage_has(int dir, const char *name)
{
	struct stat st;

	return fs_stat(dir, name, false, &st, NULL) == 0;
}

static inline void stage_init(struct stage *s)
{
	static int number;

	memset(s, 0, sizeof *s);
	snprintf(s->path, sizeof s->path, "%s/stage%d", t_dir(), number++);
	assert_int_equal(mkdir(s->path, 0755), 0);
	s->root = stage_mkdir(s, "root");
	s->state = stage_mkdir(s, "state");
	s->recipes = stage_mkdir(s, "recipes");
	snprintf(s->root_path, sizeof s->root_path, "%s/root", s->path);
	stage_write(s, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
	stage_write(s, "etc/group", "root:x:0:\n");
	stage_write(s, "etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
	s->arena = arena_new();
	s->events = json_array();
	s->params = json_object();
	s->boot_id = "boot";
}

static inline void stage_done(struct stage *s)
{
	bundle_close(s->bundle);
	json_decref(s->events);
	json_decref(s->params);
	json_decref(s->facts);
	json_decref(s->secrets);
	redact_free(s->redact);
	run_memory_free(s->memory);
	arena_free(s->arena);
	close(s->root);
	close(s->state);
	close(s->recipes);
}

static inline void stage_on_event(void *ctx, const json_t *record)
{
	struct stage *s = ctx;

	json_array_append_new(s->events, json_deep_copy(record));
}

static inline int stage_on_change(void *ctx, struct err *err)
{
	struct stage *s = ctx;

	s->before_change++;
	return s->elsewhere < 0 ? err_set(err, E_IO, "cannot leave") : s->elsewhere;
}

static inline bool stage_on_cancelled(void *ctx)
{
	const struct stage *s = ctx;

	return s->cancel;
}

static inline int stage_on_reboot(void *ctx, const struct step_env *env, struct err *err)
{
	struct stage *s = ctx;

	(void)env, (void)err;
	s->reboots++;
	return 0;
}

static inline void stage_secret(struct stage *s, const char *name, const char *value)
{
	if (!s->secrets)
		s->secrets = json_object();
	json_put_str(s->secrets, name, value);
	redact_free(s->redact);
	s->redact = redact_new(s->secrets);
}

static inline struct run_env stage_env(struct stage *s)
{
	char path[160];

	bundle_close(s->bundle);
	s->bundle = NULL;
	snprintf(path, sizeof path, "%s/recipes", s->path);
	if (bundle_open_dir(s->arena, path, &s->bundle, &s->err) < 0)
		fail_msg("cannot open the recipes: %s", s->err.msg);
	return (struct run_env){.root = s->root,
		.root_path = s->root_path,
		.state = s->state,
		.bundle = s->bundle,
		.facts = s->facts,
		.boot_id = s->boot_id,
		.reboot = stage_on_reboot,
		.resumed_by = s->resumed_by,
		.redact = s->redact,
		.memory = s->memory,
		.ctx = s,
		.event = stage_on_event,
		.before_change = stage_on_change,
		.cancelled = stage_on_cancelled};
}

/* names: recipes, with blanks between. Each run has its own id. */
static inline int stage_try(struct stage *s, enum order_mode mode, const char *names)
{
	struct order_recipe recipes[16];
	char text[256];
	struct order o = {.run = s->run,
		.mode = mode,
		.node = "n1",
		.by = "tester",
		.bundle = "none",
		.expect = s->expect,
		.reboot_asked = s->reboot_asked,
		.undo_of = mode == ORDER_UNDO ? s->undo_of : NULL,
		.secret_values = s->secrets,
		.recipes = recipes};
	const struct run_env env = stage_env(s);
	struct str rest, part;

	if (!s->resumed_by)
		s->runs++;
	snprintf(s->run, sizeof s->run, "run-%u", s->runs);
	snprintf(text, sizeof text, "%s", names);
	rest = str_of(text);
	while (str_next(&rest, ' ', &part)) {
		text[(size_t)(part.p - text) + part.n] = '\0';
		recipes[o.n_recipes++] = (struct order_recipe){part.p, s->params};
	}
	json_array_clear(s->events);
	s->before_change = 0;
	return run_execute(&env, &o, &s->out, &s->err);
}

static inline void stage_run(struct stage *s, enum order_mode mode, const char *names)
{
	if (stage_try(s, mode, names) != 0)
		fail_msg("the run did not begin: %s", s->err.msg);
}

/* In a process of its own, which a step may kill; what is in memory here does not learn of it. */
static inline int stage_fork(struct stage *s, enum order_mode mode, const char *names)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		const int rc = stage_try(s, mode, names);

		_exit(rc < 0 ? 100 : (int)s->out.state);
	}
	if (!s->resumed_by)
		s->runs++;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Goes on with the last run. */
static inline void stage_resume(struct stage *s, enum order_mode mode, const char *names)
{
	s->resumed_by = "tester";
	stage_run(s, mode, names);
	s->resumed_by = NULL;
}

/* The nth (from 0) event of this kind, or NULL. */
static inline const json_t *stage_event(const struct stage *s, const char *ev, unsigned nth)
{
	const json_t *record;
	size_t i;

	json_array_foreach(s->events, i, record)
	{
		if (strcmp(json_get_str(record, "ev", ""), ev) == 0 && nth-- == 0)
			return record;
	}
	return NULL;
}

static inline const char *stage_event_str(
	const struct stage *s, const char *ev, unsigned nth, const char *key)
{
	return json_get_str(stage_event(s, ev, nth), key, "(none)");
}

static inline void stage_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}

/* The run came to this state, for this reason ("": none). */
static inline void stage_ends(const struct stage *s, enum step_result state, const char *reason)
{
	if (s->out.state != state)
		fail_msg("the run is '%s', expected '%s': %s", result_name(s->out.state),
			result_name(state), s->out.reason);
	if (!*reason && s->out.reason[0])
		fail_msg("an unexpected reason: %s", s->out.reason);
	stage_says(s->out.reason, reason);
}
