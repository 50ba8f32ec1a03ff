/*
 * nvme_connect - a connection to a subsystem of NVMe over fabrics, now and at boot.
 *
 * Read from /sys/class/nvme; for the next boot its target is a line of /etc/nvme/discovery.conf,
 * which nvmf-autoconnect.service goes through.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define FOLDER   "/etc/nvme"
#define CONF     FOLDER "/discovery.conf"
#define CONF_MAX (1u << 20)

struct wish {
	const char *transport, *traddr, *trsvcid, *nqn, *hostnqn;
	char line[512]; /* of discovery.conf */
	bool absent;
};

/* An argument of nvme: no blank, no control character, no option. */
static int judge_word(const char *what, const char *v, struct err *err)
{
	if (!*v || *v == '-' || strlen(v) > 223)
		return err_set(err, E_SCHEMA, "'%.60s' is no %s", v, what);
	for (; *v; v++)
		if (*v <= ' ' || *v == ',' || *v == 127)
			return err_set(err, E_SCHEMA,
				"%s holds a blank, comma or control character", what);
	return 0;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	int rc;

	memset(w, 0, sizeof *w);
	w->transport = json_get_str(args, "transport", "tcp");
	w->traddr = json_get_str(args, "traddr", "");
	w->trsvcid = json_get_str(args, "trsvcid", "4420");
	w->nqn = json_get_str(args, "nqn", "");
	w->hostnqn = json_get_str(args, "hostnqn", NULL);
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	rc = judge_word("address", w->traddr, err);
	if (rc == 0)
		rc = judge_word("service", w->trsvcid, err);
	if (rc == 0)
		rc = judge_word("NQN", w->nqn, err);
	if (rc == 0 && w->hostnqn)
		rc = judge_word("NQN of the host", w->hostnqn, err);
	if (rc == 0 && !str_starts(str_of(w->nqn), "nqn."))
		rc = err_set(err, E_SCHEMA, "'%s' is no NQN, it begins with 'nqn.'", w->nqn);
	snprintf(w->line, sizeof w->line, "--transport=%s --traddr=%s --trsvcid=%s", w->transport,
		w->traddr, w->trsvcid);
	return rc;
}

static void attribute(
	const struct step_env *env, const char *name, const char *what, char out[static 256])
{
	char path[320];
	AUTO_BUF text;

	buf_init(&text, 4096);
	snprintf(path, sizeof path, "/sys/class/nvme/%.100s/%s", name, what);
	out[0] = '\0';
	if (fs_read(env->root, path, &text, NULL) == 0)
		snprintf(out, 256, STR_FMT, STR_ARG(str_trim(buf_str(&text))));
}

/* "traddr=10.0.0.1,trsvcid=4420,src_addr=..." */
static bool address_is(const char *address, const struct wish *w)
{
	struct str rest = str_of(address), part;
	bool addr = false, service = false;

	while (str_next(&rest, ',', &part)) {
		if (str_starts(part, "traddr="))
			addr = str_is(str_from(part, strlen("traddr=")), w->traddr);
		else if (str_starts(part, "trsvcid="))
			service = str_is(str_from(part, strlen("trsvcid=")), w->trsvcid);
	}
	return addr && service;
}

static bool is_ours(
	const struct step_env *env, const char *name, const struct wish *w, char state[static 256])
{
	char text[256];

	attribute(env, name, "subsysnqn", text);
	if (strcmp(text, w->nqn) != 0)
		return false;
	attribute(env, name, "transport", text);
	if (strcmp(text, w->transport) != 0)
		return false;
	attribute(env, name, "address", text);
	if (!address_is(text, w))
		return false;
	attribute(env, name, "state", state);
	return true;
}

/* The controller of this connection and its state; name "" when there is none. */
static void find(const struct step_env *env, const struct wish *w, char name[static 128],
	char state[static 256])
{
	DIR *d = fs_dir_open(env->root, "/sys/class/nvme", NULL);
	const struct dirent *e;

	name[0] = state[0] = '\0';
	if (!d)
		return;
	while (!*name && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && strlen(e->d_name) < 100 &&
			is_ours(env, e->d_name, w, state))
			snprintf(name, 128, "%.127s", e->d_name);
	closedir(d);
}

static bool has_line(struct str text, const char *wanted)
{
	struct str line;

	while (str_line(&text, &line))
		if (str_is(str_trim(line), wanted))
			return true;
	return false;
}

static bool is_in_conf(const struct step_env *env, const struct wish *w)
{
	AUTO_BUF text;

	buf_init(&text, CONF_MAX);
	return fs_read(env->root, CONF, &text, NULL) == 0 && has_line(buf_str(&text), w->line);
}

static int set_conf(const struct step_env *env, const struct wish *w, bool there, struct err *err)
{
	struct str rest, line;
	AUTO_BUF old;
	AUTO_BUF new;
	int rc;

	buf_init(&old, CONF_MAX);
	buf_init(&new, CONF_MAX + 1024);
	if (is_in_conf(env, w) == there)
		return 0;
	rc = fs_read(env->root, CONF, &old, err);
	if (rc < 0 && rc != -E_NOTFOUND)
		return rc;
	rest = buf_str(&old);
	while (str_line(&rest, &line))
		if (there || !str_is(str_trim(line), w->line)) {
			buf_add_str(&new, line);
			buf_add_char(&new, '\n');
		}
	if (there)
		buf_addf(&new, "%s\n", w->line);
	rc = fs_mkdirs(env->root, FOLDER, 0755, err);
	return rc < 0 ? rc
		      : fs_replace(env->root, CONF, buf_str(&new), FS_KEEP_MODE, FS_KEEP_ID,
				FS_KEEP_ID, err);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char name[128], state[256];
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	find(env, &w, name, state);
	if (!w.absent && strcmp(state, "live") != 0) {
		report_differs(rep, *name ? "is %s" : "is not connected", state);
		report_addf(rep, "connect %s %s:%s %s\n", w.transport, w.traddr, w.trsvcid, w.nqn);
	} else if (w.absent && *name) {
		report_differs(rep, "is connected");
		report_addf(rep, "disconnect %s (%s)\n", w.nqn, name);
	}
	if (is_in_conf(env, &w) == w.absent) {
		report_differs(rep, w.absent ? "is in discovery.conf" : "is not in discovery.conf");
		report_addf(rep, "%s%s in %s\n", w.absent ? "-" : "+", w.line, CONF);
	}
	return 0;
}

static int connect_it(const struct step_env *env, const struct wish *w, struct err *err)
{
	const char *argv[] = {"nvme", "connect", "--transport", w->transport, "--traddr", w->traddr,
		"--trsvcid", w->trsvcid, "--nqn", w->nqn, w->hostnqn ? "--hostnqn" : NULL,
		w->hostnqn, NULL};
	int rc = tool_must(env, argv, err);

	if (rc == -E_NOTFOUND)
		err_hint(err, "add a 'package' step for 'nvme-cli' before this one");
	return rc;
}

static int set_connection(
	const struct step_env *env, const struct wish *w, bool there, struct err *err)
{
	char name[128], state[256], device[140];
	const char *const argv[] = {"nvme", "disconnect", "--device", device, NULL};

	find(env, w, name, state);
	/* the kernel itself tries again and again while a controller is connecting */
	if (there)
		return *name ? 0 : connect_it(env, w, err);
	snprintf(device, sizeof device, "%s", name);
	return *name ? tool_must(env, argv, err) : 0;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	char name[128], state[256];
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = set_connection(env, &w, !w.absent, err);
	if (rc == 0)
		rc = set_conf(env, &w, !w.absent, err);
	if (rc < 0 || w.absent)
		return rc;
	find(env, &w, name, state);
	if (strcmp(state, "live") == 0)
		return 0;
	err_set(err, E_STATE, "the connection to '%s' is %s, expected it to be live", w.nqn,
		*state ? state : "not there");
	return err_hint(
		err, "see 'dmesg' on the node: address, port, and the target's list of hosts");
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	char name[128], state[256];
	struct stat st;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc < 0)
		return rc;
	find(env, &w, name, state);
	*out = json_object();
	json_put_bool(*out, "connected", *name != '\0');
	json_put_bool(*out, "conf", is_in_conf(env, &w));
	json_put_bool(*out, "file", fs_stat(env->root, CONF, false, &st, NULL) == 0);
	json_put_bool(*out, "folder", fs_stat(env->root, FOLDER, false, &st, NULL) == 0);
	return 0;
}

static int undo(struct step_env *env, const json_t *args, const json_t *old, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const bool connected = json_get_bool(old, "connected", false),
		   conf = json_get_bool(old, "conf", false);
	AUTO_JSON now = NULL;
	struct wish w;
	int rc = before(env, args, &now, err);

	if (rc < 0 || json_equal(now, old))
		return rc;
	if (after && !json_equal(now, after)) {
		err_set(err, E_CONFLICT,
			"the connection is neither as this step left it nor as before");
		return err_hint(err, "see 'nvme list-subsys' on the node");
	}
	report_differs(rep, connected ? "connected again" : "disconnected again");
	report_addf(rep, "%s %s\n", connected ? "connect" : "disconnect",
		json_get_str(args, "nqn", ""));
	rc = read_args(args, &w, err);
	if (rc == 0)
		rc = set_connection(env, &w, connected, err);
	if (rc == 0)
		rc = set_conf(env, &w, conf, err);
	if (rc == 0 && !json_get_bool(old, "file", true))
		rc = fs_remove(env->root, CONF, false, err);
	if (rc == 0 && !json_get_bool(old, "folder", true))
		rc = fs_remove(env->root, FOLDER, true, err);
	return rc;
}

const struct step_ops STEP_NVME_CONNECT = {
	.kind = "nvme_connect", .check = check, .apply = apply, .before = before, .undo = undo};
