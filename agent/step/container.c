/*
 * container - a systemd unit that runs one container with the node's engine.
 *
 * The unit's text is made of the arguments and nothing else, so equal arguments give equal bytes.
 * Secrets go into a file of their own (0600) that the engine reads, never into the unit.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"
#include "agent/step/content.h"
#include "agent/step/engine.h"
#include "agent/step/http.h"
#include "agent/step/keep.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/service_priv.h"
#include "agent/step/tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_MAX   (64u << 10)
#define WORDS_MAX  512u
#define ENV_FOLDER "/etc/stoika-agent/containers"
#define STORE_MAX  (32u << 20)

struct wish {
	const char *name, *image, *health, *program;
	char unit[PATH_MAX], env[PATH_MAX];
	enum engine engine;
	bool ctr, absent, stopped;
	int64_t health_seconds;
	const json_t *args;
};

/* Words of the command line, each quoted for systemd. */
struct line {
	struct buf *out;
	unsigned n;
};

static void put_word(struct line *l, const char *word)
{
	buf_add_text(l->out, l->n++ == 0 ? "" : " \\\n\t");
	buf_add_char(l->out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			buf_add_char(l->out, '\\');
		if (*word == '%' || *word == '$')
			buf_add_char(l->out, *word);
		buf_add_char(l->out, *word);
	}
	buf_add_char(l->out, '"');
}

static void put_option(struct line *l, const char *option, const char *value)
{
	if (!value)
		return;
	put_word(l, option);
	put_word(l, value);
}

static int judge_text(const char *what, const char *text, struct err *err)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return err_set(
				err, E_SCHEMA, "%s '%.60s' holds a control character", what, text);
	return 0;
}

static int judge_list(const json_t *args, const char *name, struct err *err)
{
	const json_t *list = json_get(args, name), *v;
	size_t i;
	int rc = 0;

	if (json_array_size(list) > WORDS_MAX)
		return err_set(err, E_LIMIT, "'%s' has more than %u words", name, WORDS_MAX);
	json_array_foreach(list, i, v) if (rc == 0) rc =
		judge_text(name, json_is_string(v) ? json_string_value(v) : "\n", err);
	return rc;
}

/* "8080:80", "127.0.0.1:8080:80/udp", "[::1]:80:80". */
static int judge_port(const char *text, struct err *err)
{
	struct str s = str_of(text), port;
	unsigned colons = 0;
	uint64_t v;

	if (str_ends(s, "/udp") || str_ends(s, "/tcp") || str_ends(s, "/sctp"))
		s = str_first(s, str_find(s, '/'));
	for (size_t i = 0; i < s.n; i++)
		colons += s.p[i] == ':';
	while (str_find(s, ':') != STR_NONE)
		s = str_from(s, str_find(s, ':') + 1);
	port = s;
	if (colons > 0 && str_to_u64(port, &v) && v > 0 && v < 65536)
		return 0;
	err_set(err, E_SCHEMA, "'%.60s' is no port to publish", text);
	return err_hint(err, "HOST:CONTAINER, such as 127.0.0.1:8080:80 or 53:53/udp");
}

static int judge_volume(const char *text, struct err *err)
{
	const char *colon = strchr(text, ':');

	if (colon && colon[1] == '/' &&
		(text[0] == '/' || str_is_name(str_first(str_of(text), (size_t)(colon - text)))))
		return 0;
	err_set(err, E_SCHEMA, "'%.80s' is no volume", text);
	return err_hint(err, "PATH:PATH or NAME:PATH, with :ro for reading only");
}

static int judge_map(const json_t *args, const char *name, struct err *err)
{
	const char *key;
	json_t *v;
	int rc = 0;

	json_object_foreach(json_get(args, name), key, v)
	{
		if (strchr(key, '=') || !*key)
			return err_set(err, E_SCHEMA, "'%.60s' is no name of a variable", key);
		if (rc == 0)
			rc = judge_text(name, key, err);
		/* the value of a secret is no part of a message */
		if (rc == 0 && json_is_string(v) &&
			judge_text(name, json_string_value(v), NULL) < 0)
			rc = err_set(err, E_SCHEMA, "variable '%s' holds a control character", key);
	}
	return rc;
}

static int judge_words(const struct wish *w, struct err *err)
{
	static const char *const LISTS[] = {"ports", "volumes", "args", "gpus", NULL};
	const json_t *v;
	size_t i;
	int rc = 0;

	for (const char *const *l = LISTS; rc == 0 && *l; l++)
		rc = judge_list(w->args, *l, err);
	json_array_foreach(json_get(w->args, "ports"), i, v) if (rc == 0) rc =
		judge_port(json_string_value(v), err);
	json_array_foreach(json_get(w->args, "volumes"), i, v) if (rc == 0) rc =
		judge_volume(json_string_value(v), err);
	if (rc == 0)
		rc = judge_map(w->args, "env", err);
	if (rc == 0)
		rc = judge_map(w->args, "secret_env", err);
	if (rc == 0 && w->ctr && json_array_size(json_get(w->args, "ports")) > 0) {
		err_set(err, E_UNSUPPORTED, "ctr publishes no ports");
		err_hint(err, "install nerdctl, or use 'network: host'");
		rc = -E_UNSUPPORTED;
	}
	return rc;
}

static int read_args(
	const struct step_env *env, const json_t *args, struct wish *w, struct err *err)
{
	const char *state = json_get_str(args, "state", "running");
	int rc;

	memset(w, 0, sizeof *w);
	w->args = args;
	w->name = json_get_str(args, "name", "");
	w->image = json_get_str(args, "image", "");
	w->health = json_get_str(args, "health", NULL);
	w->health_seconds = json_get_int(args, "health_timeout", 60);
	w->absent = strcmp(state, "absent") == 0;
	w->stopped = strcmp(state, "stopped") == 0;
	if (!str_is_name(str_of(w->name)))
		return err_set(err, E_SCHEMA, "'%.60s' is no name of a container", w->name);
	snprintf(w->unit, sizeof w->unit, "/etc/systemd/system/%s.service", w->name);
	snprintf(w->env, sizeof w->env, ENV_FOLDER "/%s.env", w->name);
	if (w->absent)
		return 0;
	rc = engine_judge_pinned(w->image, err);
	if (rc == 0)
		rc = engine_find(env, json_get_str(args, "engine", NULL), &w->engine, err);
	if (rc == 0)
		rc = engine_program(env, w->engine, &w->program, err);
	if (rc < 0)
		return rc;
	w->ctr = str_ends(str_of(w->program), "/ctr");
	return judge_words(w, err);
}

static bool has_secrets(const struct wish *w)
{
	return json_object_size(json_get(w->args, "secret_env")) > 0;
}

/* In the order of their names, whatever order they were written in. */
static void put_env(struct line *l, const char *option, json_t *map)
{
	const char *names[WORDS_MAX], *key;
	char text[8192];
	size_t n = 0;
	json_t *v;

	json_object_foreach(map, key, v)
	{
		size_t at = n < WORDS_MAX ? n++ : n - 1;

		while (at > 0 && strcmp(names[at - 1], key) > 0) {
			names[at] = names[at - 1];
			at--;
		}
		names[at] = key;
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%s=%s", names[i], json_get_str(map, names[i], ""));
		put_option(l, option, text);
	}
}

static void put_each(struct line *l, const char *option, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) put_option(l, option, json_string_value(v));
}

/* "all" is --gpus all; other names are devices of CDI, such as nvidia.com/gpu=0. */
static void put_gpus(const struct wish *w, struct line *l)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_get(w->args, "gpus"), i, v)
	{
		const bool all = strcmp(json_string_value(v), "all") == 0;

		if (all && w->engine == ENGINE_PODMAN)
			put_option(l, "--device", "nvidia.com/gpu=all");
		else if (all)
			put_option(l, "--gpus", w->ctr ? "0" : "all");
		else
			put_option(l, "--device", json_string_value(v));
	}
}

/* "/a:/b:ro" as ctr wants it. */
static void put_ctr_mounts(const struct wish *w, struct line *l)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_get(w->args, "volumes"), i, v)
	{
		struct str rest = str_of(json_string_value(v)), from, to;
		char text[2048];

		str_next(&rest, ':', &from);
		if (!str_next(&rest, ':', &to))
			to = from;
		snprintf(text, sizeof text,
			"type=bind,src=" STR_FMT ",dst=" STR_FMT ",options=rbind:%s", STR_ARG(from),
			STR_ARG(to), str_is(rest, "ro") ? "ro" : "rw");
		put_option(l, "--mount", text);
	}
}

static void put_common(const struct wish *w, struct line *l)
{
	put_option(l, "--user", json_get_str(w->args, "user", NULL));
	if (json_get_bool(w->args, "read_only", false))
		put_word(l, "--read-only");
	put_env(l, "--env", json_get(w->args, "env"));
	if (has_secrets(w))
		put_option(l, "--env-file", w->env);
	put_gpus(w, l);
}

static void put_run_ctr(const struct wish *w, struct line *l)
{
	put_option(l, "--namespace", "stoika");
	put_word(l, "run");
	put_word(l, "--rm");
	if (strcmp(json_get_str(w->args, "network", ""), "host") == 0)
		put_word(l, "--net-host");
	put_common(w, l);
	put_ctr_mounts(w, l);
	put_word(l, w->image);
	put_word(l, w->name);
}

static void put_run(const struct wish *w, struct line *l)
{
	if (w->engine == ENGINE_CONTAINERD)
		put_option(l, "--namespace", "stoika");
	put_word(l, "run");
	put_word(l, "--rm");
	if (w->engine == ENGINE_PODMAN)
		put_word(l, "--replace");
	put_option(l, "--name", w->name);
	put_option(l, "--network", json_get_str(w->args, "network", NULL));
	put_common(w, l);
	put_each(l, "--publish", json_get(w->args, "ports"));
	put_each(l, "--volume", json_get(w->args, "volumes"));
	put_option(l, "--shm-size", json_get_str(w->args, "shm_size", NULL));
	put_word(l, w->image);
}

static void put_remove(const struct wish *w, struct buf *out)
{
	const char *space = w->engine == ENGINE_CONTAINERD ? " --namespace stoika" : "";

	if (w->ctr)
		buf_addf(out,
			"ExecStartPre=-%s%s tasks kill --signal SIGKILL %s\n"
			"ExecStartPre=-%s%s containers rm %s\n",
			w->program, space, w->name, w->program, space, w->name);
	else
		buf_addf(out, "ExecStartPre=-%s%s rm --force %s\n", w->program, space, w->name);
}

static void put_stop(const struct wish *w, struct buf *out)
{
	if (w->ctr)
		buf_addf(out, "ExecStop=-%s --namespace stoika tasks kill %s\n", w->program,
			w->name);
	else
		buf_addf(out, "ExecStop=-%s%s stop %s\n", w->program,
			w->engine == ENGINE_CONTAINERD ? " --namespace stoika" : "", w->name);
}

static int make_unit(const struct wish *w, struct buf *out, struct err *err)
{
	const char *needs = w->engine == ENGINE_DOCKER       ? "docker.service"
			    : w->engine == ENGINE_CONTAINERD ? "containerd.service"
							     : "";
	struct line l = {.out = out};

	buf_addf(out,
		"# written by Stoika's step 'container', which overwrites it\n"
		"[Unit]\n"
		"Description=container %s\n"
		"Wants=network-online.target\n"
		"After=network-online.target %s\n",
		w->name, needs);
	if (*needs)
		buf_addf(out, "Requires=%s\n", needs);
	buf_addf(out,
		"\n[Service]\n"
		"Restart=%s\n"
		"RestartSec=5\n"
		"TimeoutStartSec=900\n",
		json_get_str(w->args, "restart", "always"));
	put_remove(w, out);
	buf_add_text(out, "ExecStart=");
	put_word(&l, w->program);
	if (w->ctr)
		put_run_ctr(w, &l);
	else
		put_run(w, &l);
	for (size_t i = 0; i < json_array_size(json_get(w->args, "args")); i++)
		put_word(&l, json_string_value(json_array_get(json_get(w->args, "args"), i)));
	buf_add_char(out, '\n');
	put_stop(w, out);
	buf_add_text(out, "\n[Install]\nWantedBy=multi-user.target\n");
	return buf_ok(out) ? 0 : err_set(err, E_LIMIT, "the unit of '%s' is too long", w->name);
}

/* The file with the secrets: "NAME=VALUE", by name. A null is a secret that is not told here. */
static bool make_env(const struct wish *w, struct buf *out)
{
	const json_t *map = json_get(w->args, "secret_env");
	const char *key;
	json_t *v;
	bool known = true;

	if (json_is_null(map))
		return false;
	json_object_foreach(json_get(w->args, "secret_env"), key, v)
	{
		known = known && json_is_string(v);
		buf_addf(out, "%s=%s\n", key, json_is_string(v) ? json_string_value(v) : "");
	}
	return known;
}

static int check_env(struct step_env *env, const struct wish *w, struct step_report *rep)
{
	struct stat st;
	AUTO_BUF want;
	AUTO_BUF now;
	bool known;

	buf_init(&want, UNIT_MAX);
	buf_init(&now, UNIT_MAX);
	if (!has_secrets(w))
		return 0;
	known = make_env(w, &want);
	if (fs_read(env->root, w->env, &now, NULL) < 0 ||
		(known && !str_eq(buf_str(&now), buf_str(&want)))) {
		report_differs(rep, "other secrets");
		report_addf(rep, "secrets in %s (not shown)\n", w->env);
	} else if (fs_stat(env->root, w->env, false, &st, NULL) == 0 &&
		   (st.st_mode & 0777) != 0600) {
		report_differs(rep, "secrets may be read by others");
		report_addf(rep, "mode %04o -> 0600 of %s\n", st.st_mode & 0777, w->env);
	}
	return 0;
}

static int check_unit(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	const struct attr attr = {0644, 0, 0};
	struct content content = {{"", 0}, NULL};
	AUTO_BUF text;
	int rc;

	buf_init(&text, UNIT_MAX);
	rc = make_unit(w, &text, err);
	content.text = buf_str(&text);
	return rc < 0 ? rc : content_check(env, w->unit, &content, &attr, rep, err);
}

static bool json_of(const struct step_env *env, const char *path, json_t **out)
{
	AUTO_BUF text;

	buf_init(&text, STORE_MAX);
	return fs_read(env->root, path, &text, NULL) == 0 &&
	       json_parse(buf_str(&text), STORE_MAX, path, out, NULL) == 0;
}

/* podman's list of containers: names, and the image's name inside a text of JSON. */
static bool podman_runs(const struct step_env *env, const struct wish *w, bool *other)
{
	const char *digest = strstr(w->image, "sha256:");
	AUTO_JSON list = NULL;
	const json_t *c;
	size_t i;

	if (!json_of(env, "/var/lib/containers/storage/overlay-containers/containers.json", &list))
		return false;
	json_array_foreach(list, i, c)
	{
		const char *name = json_string_value(json_array_get(json_get(c, "names"), 0));

		if (!name || strcmp(name, w->name) != 0)
			continue;
		*other = !strstr(json_get_str(c, "metadata", ""), digest) &&
			 strcmp(json_get_str(c, "image", ""), digest + strlen("sha256:")) != 0;
		return true;
	}
	return false;
}

static int check_state(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	struct service_wish want = {.running = w->stopped ? SERVICE_NO : SERVICE_YES,
		.enabled = w->stopped ? SERVICE_NO : SERVICE_YES};
	struct service_state st = {0};
	bool other = false;
	int rc;

	snprintf(want.name, sizeof want.name, "%.100s", w->name);
	if (!systemd_is_here(env)) {
		rep->denied = true;
		return err_set(err, E_UNSUPPORTED,
			"systemd does not run on this node, container '%s' "
			"needs it",
			w->name);
	}
	rc = SERVICE_SYSTEMD.look(env, &want, &st, err);
	if (rc < 0)
		return rc;
	if (st.running == w->stopped || st.enabled == w->stopped) {
		report_differs(rep, "is %s", st.running ? "running" : "not running");
		report_addf(rep, "%s.service: %s, %s -> %s\n", w->name,
			st.running ? "running" : "not running",
			st.enabled ? "enabled" : "not enabled",
			w->stopped ? "stopped, disabled" : "running, enabled");
	}
	if (st.running && w->engine == ENGINE_PODMAN && podman_runs(env, w, &other) && other) {
		report_differs(rep, "runs another image");
		report_addf(rep, "%s runs another image than %s\n", w->name, w->image);
	}
	return 0;
}

static bool is_healthy(const struct wish *w)
{
	unsigned status = 0;
	AUTO_BUF body;

	buf_init(&body, 64u << 10);
	return !w->health ||
	       (http_get(w->health, &status, &body, NULL) == 0 && status >= 200 && status < 400);
}

static int check_absent(struct step_env *env, const struct wish *w, struct step_report *rep)
{
	const char *const paths[] = {w->unit, w->env};
	struct stat st;

	for (int i = 0; i < 2; i++)
		if (fs_stat(env->root, paths[i], false, &st, NULL) == 0) {
			report_differs(rep, "is there");
			report_addf(rep, "remove %s\n", paths[i]);
		}
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct wish w;
	int rc = read_args(env, args, &w, err);

	if (rc == -E_NOTFOUND && env->dry) {
		report_unknown(rep, "the container engine is not installed yet");
		return 0;
	}
	if (rc < 0)
		return rc;
	if (w.absent)
		return check_absent(env, &w, rep);
	rc = check_unit(env, &w, rep, err);
	if (rc == 0)
		rc = check_env(env, &w, rep);
	if (rc == 0)
		rc = check_state(env, &w, rep, err);
	if (rc == 0 && rep->state == STEP_SAME && !w.stopped && !is_healthy(&w)) {
		report_differs(rep, "does not answer");
		report_addf(rep, "restart %s.service: '%s' does not answer\n", w.name, w.health);
	}
	return rc;
}

static int write_files(struct step_env *env, const struct wish *w, struct err *err)
{
	AUTO_BUF unit;
	AUTO_BUF secrets;
	int rc;

	buf_init(&unit, UNIT_MAX);
	buf_init(&secrets, UNIT_MAX);
	rc = make_unit(w, &unit, err);
	if (rc == 0 && has_secrets(w)) {
		if (!make_env(w, &secrets))
			return err_set(err, E_STATE, "a secret of container '%s' is not known here",
				w->name);
		rc = fs_mkdirs(env->root, ENV_FOLDER, 0700, err);
		if (rc == 0)
			rc = fs_replace(env->root, w->env, buf_str(&secrets), 0600, 0, 0, err);
	}
	if (rc == 0 && !has_secrets(w))
		rc = fs_remove(env->root, w->env, false, err);
	return rc < 0 ? rc : fs_replace(env->root, w->unit, buf_str(&unit), 0644, 0, 0, err);
}

static int set_state(
	const struct step_env *env, const char *name, bool up, const char *verb, struct err *err)
{
	struct service_wish want = {.running = up ? SERVICE_YES : SERVICE_NO,
		.enabled = up ? SERVICE_YES : SERVICE_NO,
		.verb = verb};

	snprintf(want.name, sizeof want.name, "%.100s", name);
	return SERVICE_SYSTEMD.act(env, &want, err);
}

static int await_health(const struct wish *w, struct err *err)
{
	const int64_t deadline = clock_mono() + w->health_seconds * CLOCK_SEC;

	while (!is_healthy(w)) {
		if (clock_mono() >= deadline) {
			err_set(err, E_STATE, "'%s' does not answer within %lld s", w->health,
				(long long)w->health_seconds);
			return err_hint(err, "see 'journalctl -u %s' on the node", w->name);
		}
		clock_sleep(CLOCK_SEC);
	}
	return 0;
}

static int remove_all(struct step_env *env, const struct wish *w, struct err *err)
{
	struct stat st;
	int rc = 0;

	if (fs_stat(env->root, w->unit, false, &st, NULL) == 0)
		rc = set_state(env, w->name, false, NULL, err);
	if (rc == 0)
		rc = fs_remove(env->root, w->unit, false, err);
	if (rc == 0)
		rc = fs_remove(env->root, w->env, false, err);
	return rc < 0 ? rc : systemd_reload(env, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	bool changed;
	struct wish w;
	int rc = check(env, args, rep, err);

	if (rc < 0 || rep->state == STEP_SAME)
		return rc;
	changed = rep->state == STEP_DIFFERS;
	rc = read_args(env, args, &w, err);
	if (rc < 0)
		return rc;
	if (w.absent)
		return remove_all(env, &w, err);
	rc = write_files(env, &w, err);
	if (rc == 0)
		rc = systemd_reload(env, err);
	if (rc == 0)
		rc = set_state(
			env, w.name, !w.stopped, changed && !w.stopped ? "restart" : NULL, err);
	return rc < 0 || w.stopped ? rc : await_health(&w, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct service_wish want = {.running = SERVICE_YES, .enabled = SERVICE_YES};
	struct service_state st = {0};
	AUTO_JSON o = json_object();
	AUTO_JSON files = json_object();
	struct stat folder;
	struct wish w;
	int rc;

	memset(&w, 0, sizeof w);
	w.name = json_get_str(args, "name", "");
	snprintf(w.unit, sizeof w.unit, "/etc/systemd/system/%s.service", w.name);
	snprintf(w.env, sizeof w.env, ENV_FOLDER "/%s.env", w.name);
	snprintf(want.name, sizeof want.name, "%.100s", w.name);
	rc = keep_path(env, w.unit, files, err);
	if (rc == 0)
		rc = keep_path(env, w.env, files, err);
	if (rc == 0)
		rc = SERVICE_SYSTEMD.look(env, &want, &st, err);
	if (rc < 0)
		return rc;
	json_object_set(o, "files", files);
	json_put_bool(o, "running", st.running);
	json_put_bool(o, "enabled", st.enabled);
	json_put_bool(o, "folder", fs_stat(env->root, ENV_FOLDER, false, &folder, NULL) == 0);
	json_put_bool(
		o, "home", fs_stat(env->root, "/etc/stoika-agent", false, &folder, NULL) == 0);
	*out = json_incref(o);
	return 0;
}

/* Files first when there was a unit before; else the new one must be stopped while it is there. */
static int bring_back(struct step_env *env, const char *name, const json_t *old,
	const json_t *after, struct err *err)
{
	const json_t *files = json_get(old, "files"), *mine = json_get(after, "files");
	const bool up = json_get_bool(old, "running", false);
	const char *path;
	json_t *v;
	bool was = false;
	int rc = 0;

	json_object_foreach(json_get(old, "files"), path, v) if (str_ends(str_of(path), ".service"))
		was = strcmp(json_get_str(v, "kind", ""), "absent") != 0;
	if (!was && json_get_bool(after, "running", true))
		rc = set_state(env, name, false, NULL, err);
	json_object_foreach(json_get(old, "files"), path, v) if (rc == 0) rc =
		keep_restore(env, path, files, mine, err);
	if (rc == 0 && !json_get_bool(old, "folder", true))
		rc = fs_remove(env->root, ENV_FOLDER, true, err);
	if (rc == 0 && !json_get_bool(old, "home", true))
		rc = fs_remove(env->root, "/etc/stoika-agent", true, err);
	if (rc == 0)
		rc = systemd_reload(env, err);
	return rc < 0 || !was ? rc : set_state(env, name, up, up ? "restart" : NULL, err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *old, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const char *name = json_get_str(args, "name", "");
	AUTO_JSON now = NULL;
	int rc = before(env, args, &now, err);

	if (rc < 0 || json_equal(now, old))
		return rc;
	if (after && !json_equal(json_get(now, "files"), json_get(after, "files"))) {
		err_set(err, E_CONFLICT,
			"container '%s' is neither as this step left it nor as before", name);
		return err_hint(err, "look at its unit, and put it right by hand");
	}
	report_differs(rep, "brought back");
	report_addf(rep, "bring back %s.service\n", name);
	return bring_back(env, name, old, after, err);
}

const struct step_ops STEP_CONTAINER = {
	.kind = "container", .check = check, .apply = apply, .before = before, .undo = undo};
