/*
 * firewall - a table of nftables of our own, "inet stoika_NAME", from a file of its own.
 *
 * The file replaces the table in one transaction. What nft shows right after
 * that is kept as a hash, for nft does not show rules in the words they were
 * written in; another hash means that somebody changed the loaded table.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/step/edit.h"
#include "agent/step/firewall_ssh.h"
#include "agent/step/kinds.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"
#include "agent/step/tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER    "/etc/nftables.d"
#define INCLUDE   "include \"" FOLDER "/stoika-*.nft\""
#define MARKS     "/var/lib/stoika-agent/nft"
#define TABLE_MAX (256u << 10)
#define PATIENCE  (60 * CLOCK_SEC)
#define RULES_MAX 4096

struct wish {
	char table[80], path[PATH_MAX], mark[PATH_MAX];
	bool absent, may_cut;
};

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	const char *name = json_get_str(args, "name", "");

	*w = (struct wish){.absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0,
		.may_cut = json_get_bool(args, "cut_ssh", false)};
	if (!*name || strlen(name) > 60 ||
		name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_")]) {
		err_set(err, E_SCHEMA, "'%.60s' is not the name of a table", name);
		return err_hint(err, "letters, digits and '_'");
	}
	if (json_get(args, "rules") && json_get(args, "table"))
		return err_set(err, E_CONFLICT, "'rules' and 'table' are both given");
	if (!w->absent && json_array_size(json_get(args, "rules")) == 0 &&
		!*json_get_str(args, "table", "")) {
		err_set(err, E_SCHEMA, "a firewall needs 'rules' or 'table'");
		return err_hint(err, "such as rules: [tcp dport 9100 drop]");
	}
	snprintf(w->table, sizeof w->table, "stoika_%s", name);
	snprintf(w->path, sizeof w->path, FOLDER "/stoika-%s.nft", name);
	snprintf(w->mark, sizeof w->mark, MARKS "/%s", name);
	return 0;
}

static int add_rules(const json_t *rules, bool drops, struct buf *out, struct err *err)
{
	const json_t *one;
	size_t i;

	buf_addf(out, "\tchain input {\n\t\ttype filter hook input priority 0; policy %s;\n",
		drops ? "drop" : "accept");
	if (drops)
		buf_add_text(out, "\t\tiif \"lo\" accept\n"
				  "\t\tct state established,related accept\n");
	json_array_foreach(rules, i, one)
	{
		const char *text = json_is_string(one) ? json_string_value(one) : "";

		if (!*text || strchr(text, '\n') || i >= RULES_MAX) {
			err_set(err, E_SCHEMA, "rule %zu is not one line", i + 1);
			return err_hint(err, "write one rule per item, or use 'table'");
		}
		buf_addf(out, "\t\t%s\n", text);
	}
	buf_add_text(out, "\t}\n");
	return 0;
}

/* The inside of the table. */
static int make_body(const json_t *args, struct buf *out, struct err *err)
{
	const bool drops = strcmp(json_get_str(args, "policy", "accept"), "drop") == 0;
	const char *table = json_get_str(args, "table", NULL);

	if (!table)
		return add_rules(json_get(args, "rules"), drops, out, err);
	buf_add_text(out, table);
	if (!str_ends(buf_str(out), "\n"))
		buf_add_char(out, '\n');
	return 0;
}

/* The braces of the text must be its own: else it could close our table and open another. */
static int judge_braces(struct str body, struct err *err)
{
	int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < body.n && depth >= 0; i++) {
		if (body.p[i] == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += body.p[i] == '{' ? 1 : body.p[i] == '}' ? -1 : 0;
	}
	if (depth == 0 && !quoted)
		return 0;
	err_set(err, E_SCHEMA, "the braces or quotes of the rules do not close");
	return err_hint(err, "each '{' needs its '}', inside one rule or chain");
}

/* sshd's ports by its configuration, 22 without any. */
static unsigned next_ssh_port(struct str *text)
{
	struct str line;

	while (str_line(text, &line)) {
		const struct str word = edit_field(line, 0);
		uint64_t port;

		if (word.n == 4 && strncasecmp(word.p, "port", 4) == 0 &&
			str_to_u64(edit_field(line, 1), &port) && port >= 1 && port <= 65535)
			return (unsigned)port;
	}
	return 0;
}

static int judge_port(const struct wish *w, struct str body, unsigned port, struct err *err)
{
	AUTO_BUF why = {0};

	buf_init(&why, 512);
	if (!firewall_cuts_port(body, port, &why))
		return 0;
	err_set(err, E_DENIED, "table '%s' would close port %u, by which this node is reached: %s",
		w->table, port, buf_text(&why));
	return err_hint(
		err, "let it in first: 'tcp dport %u accept'; or say 'cut_ssh: true'", port);
}

/* The port of the connection that we came by, and those that sshd listens on. */
static int judge_ssh(const struct step_env *env, const struct wish *w, struct str body,
	struct step_report *rep, struct err *err)
{
	const char *connection = getenv("SSH_CONNECTION");
	AUTO_BUF config = {0};
	struct str rest;
	unsigned port, seen = 0;
	uint64_t ours = 0;
	int rc = 0;

	if (w->may_cut)
		return 0;
	if (connection && str_to_u64(edit_field(str_of(connection), 3), &ours) && ours <= 65535)
		rc = judge_port(w, body, (unsigned)ours, err);
	buf_init(&config, 256u << 10);
	(void)fs_read(env->root, "/etc/ssh/sshd_config", &config, NULL);
	rest = buf_str(&config);
	for (; rc == 0 && (port = next_ssh_port(&rest)) != 0; seen++)
		rc = judge_port(w, body, port, err);
	if (rc == 0 && seen == 0 && ours == 0)
		rc = judge_port(w, body, 22, err);
	rep->denied = rep->denied || rc < 0;
	return rc;
}

static bool is_include(const void *ctx, struct str line)
{
	(void)ctx;
	return str_is(str_trim(line), INCLUDE);
}

/* Which file the distribution loads at boot; empty when there is none. */
static const char *boot_file(const struct step_env *env)
{
	static const char *const PATHS[] = {"/etc/nftables.conf", "/etc/sysconfig/nftables.conf"};
	struct stat st;

	for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
		if (fs_stat(env->root, PATHS[i], true, &st, NULL) == 0)
			return PATHS[i];
	return "";
}

struct files {
	struct edit rules, boot; /* boot.path NULL: none */
};

static void files_done(struct files *f)
{
	edit_done(&f->rules);
	edit_done(&f->boot);
}

static int plan(struct step_env *env, const json_t *args, const struct wish *w, struct files *f,
	struct step_report *rep, struct err *err)
{
	const char *boot = boot_file(env);
	AUTO_BUF body = {0}, text = {0};
	int rc = edit_open(env, w->path, &f->rules, err);

	buf_init(&body, TABLE_MAX);
	buf_init(&text, TABLE_MAX + 512);
	if (rc == 0 && *boot)
		rc = edit_open(env, boot, &f->boot, err);
	if (rc < 0)
		return rc;
	if (w->absent) {
		edit_remove(&f->rules);
		return 0;
	}
	rc = make_body(args, &body, err);
	if (rc == 0)
		rc = judge_braces(buf_str(&body), err);
	if (rc == 0)
		rc = judge_ssh(env, w, buf_str(&body), rep, err);
	if (rc < 0)
		return rc;
	buf_addf(&text,
		"# kept by stoika: changes made here are lost\ntable inet %s\ndelete table inet "
		"%s\ntable inet %s {\n%s}\n",
		w->table, w->table, w->table, buf_text(&body));
	if (!buf_ok(&body) || !buf_ok(&text))
		return err_set(err, E_LIMIT, "the table is longer than %u bytes", TABLE_MAX);
	edit_set(&f->rules, buf_str(&text));
	return *boot ? edit_line(&f->boot, is_include, NULL, str_of(INCLUDE), err) : 0;
}

static int nft(const struct step_env *env, const char *const *argv, struct proc_result *res,
	struct err *err)
{
	const int rc = tool_run(env, argv, NULL, PATIENCE, res, err);

	if (rc == -E_NOTFOUND)
		return err_hint(err, "add a 'package' step for nftables before this one");
	return rc;
}

/* *loaded false: there is no such table. The hash is that of what nft shows, without counters. */
static int look(const struct step_env *env, const struct wish *w, bool *loaded,
	char hex[static HASH_HEX], struct err *err)
{
	const char *const argv[] = {"nft", "-s", "list", "table", "inet", w->table, NULL};
	struct proc_result res;
	int rc = nft(env, argv, &res, err);

	*loaded = false;
	if (rc < 0)
		return rc;
	if (proc_ok(&res)) {
		*loaded = true;
		hash_hex(buf_str(&res.out), hex);
	} else if (str_find_str(buf_str(&res.out), STR_LIT("No such file")) == STR_NONE) {
		rc = proc_fail(&(struct proc){.argv = argv, .timeout = PATIENCE}, &res, err);
	}
	proc_result_done(&res);
	return rc;
}

static bool is_as_loaded(const struct step_env *env, const struct wish *w, const char *hex)
{
	AUTO_BUF mark = {0};

	buf_init(&mark, 256);
	return fs_read(env->root, w->mark, &mark, NULL) == 0 &&
	       str_is(str_trim(buf_str(&mark)), hex);
}

static int check_loaded(
	struct step_env *env, const struct wish *w, struct step_report *rep, struct err *err)
{
	char hex[HASH_HEX] = "";
	bool loaded;
	int rc = look(env, w, &loaded, hex, err);

	if (rc < 0)
		return rc;
	if (w->absent ? loaded : !loaded) {
		report_differs(rep, "the table is %s", loaded ? "loaded" : "not loaded");
		report_addf(rep, "%s table inet %s\n", loaded ? "remove" : "load", w->table);
	} else if (loaded && !is_as_loaded(env, w, hex)) {
		report_differs(rep, "the loaded table was changed");
		report_addf(rep, "load table inet %s anew\n", w->table);
	}
	return 0;
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files f = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan(env, args, &w, &f, rep, err);
	if (rc < 0) {
		files_done(&f);
		return rc;
	}
	edit_show(&f.rules, rep);
	if (f.boot.path)
		edit_show(&f.boot, rep);
	files_done(&f);
	if (tool_is_there(env, "nft"))
		return check_loaded(env, &w, rep, err);
	if (w.absent)
		return 0;
	if (env->dry) {
		report_unknown(rep, "nft is not installed yet");
		return 0;
	}
	err_set(err, E_NOTFOUND, "nft is not installed on this node");
	return err_hint(err, "add a 'package' step for nftables before this one");
}

static int judge_answer(const char *const *argv, int rc, struct proc_result *res, struct err *err)
{
	if (rc == -E_NOTFOUND)
		return err_hint(err, "add a 'package' step for nftables before this one");
	if (rc < 0)
		return rc;
	if (!proc_ok(res)) {
		rc = proc_fail(&(struct proc){.argv = argv, .timeout = PATIENCE}, res, err);
		err_hint(err, "the rules are in nft's own language: see nft(8)");
	}
	proc_result_done(res);
	return rc;
}

/* Judged ahead of its place: the file that is read at boot is only ever a good one. */
static int judge_by_nft(const struct step_env *env, struct str text, struct err *err)
{
	static const char *const ARGV[] = {"nft", "-c", "-f", "-", NULL};
	const bool inside = strcmp(env->root_path, "/") != 0;
	const struct proc p = {.argv = ARGV,
		.root = inside ? env->root_path : NULL,
		.input = text,
		.timeout = PATIENCE,
		.merge = true};
	struct proc_result res;

	return judge_answer(ARGV, proc_run(&p, &res, err), &res, err);
}

static int load(const struct step_env *env, const char *path, struct err *err)
{
	const char *const argv[] = {"nft", "-f", path, NULL};
	struct proc_result res;

	return judge_answer(argv, tool_run(env, argv, NULL, PATIENCE, &res, err), &res, err);
}

static int remember(const struct step_env *env, const struct wish *w, struct err *err)
{
	char hex[HASH_HEX + 1] = "";
	bool loaded;
	int rc = look(env, w, &loaded, hex, err);

	if (rc < 0)
		return rc;
	if (!loaded)
		return err_set(
			err, E_STATE, "nft took the rules and shows no table '%s'", w->table);
	hex[HASH_HEX - 1] = '\n';
	rc = fs_mkdirs(env->root, MARKS, 0700, err);
	return rc < 0 ? rc
		      : fs_replace(env->root, w->mark, (struct str){hex, HASH_HEX}, 0600,
				FS_KEEP_ID, (gid_t)FS_KEEP_ID, err);
}

static int delete_table(const struct step_env *env, const struct wish *w, struct err *err)
{
	const char *const argv[] = {"nft", "delete", "table", "inet", w->table, NULL};
	char hex[HASH_HEX];
	bool loaded = false;
	int rc = look(env, w, &loaded, hex, err);

	return rc < 0 || !loaded ? rc : tool_must(env, argv, err);
}

static int put(
	const struct step_env *env, const struct wish *w, const struct files *f, struct err *err)
{
	int rc = judge_by_nft(env, buf_str(&f->rules.now), err);

	if (rc == 0)
		rc = edit_save(env, &f->rules, err);
	if (rc == 0)
		rc = load(env, w->path, err);
	if (rc == 0)
		rc = remember(env, w, err);
	return rc < 0 || !f->boot.path ? rc : edit_save(env, &f->boot, err);
}

static int take_away(
	const struct step_env *env, const struct wish *w, const struct files *f, struct err *err)
{
	int rc = tool_is_there(env, "nft") ? delete_table(env, w, err) : 0;

	if (rc == 0)
		rc = edit_save(env, &f->rules, err);
	return rc < 0 ? rc : fs_remove(env->root, w->mark, false, err);
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	struct files f = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan(env, args, &w, &f, rep, err);
	if (rc == 0)
		rc = w.absent ? take_away(env, &w, &f, err) : put(env, &w, &f, err);
	files_done(&f);
	return rc;
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	const char *boot = boot_file(env);
	const struct own_lines include = {boot, EDIT_MAX, is_include, NULL};
	json_t *into = json_object(), *lines = NULL;
	char hex[HASH_HEX];
	bool loaded = false;
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = edit_keep(env, w.path, into, err);
	if (rc == 0)
		rc = edit_keep(env, w.mark, into, err);
	if (rc == 0 && *boot)
		rc = edit_keep_lines(env, &include, &lines, err);
	if (rc == 0 && tool_is_there(env, "nft"))
		rc = look(env, &w, &loaded, hex, err);
	if (lines)
		json_object_set_new(into, "boot", lines);
	json_put_bool(into, "loaded", loaded);
	if (rc < 0)
		json_decref(into);
	else
		*out = into;
	return rc;
}

/* The table of the file that came back, or none. */
static int undo_loaded(
	const struct step_env *env, const struct wish *w, const json_t *before, struct err *err)
{
	struct stat st;

	if (!tool_is_there(env, "nft"))
		return 0;
	if (!json_get_bool(before, "loaded", false))
		return delete_table(env, w, err);
	if (fs_stat(env->root, w->path, false, &st, NULL) == 0)
		return load(env, w->path, err);
	err_set(err, E_UNSUPPORTED, "the table '%s' that was loaded before had no file", w->table);
	return err_hint(err, "look at it with 'nft list table inet %s'", w->table);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	const struct edit_past lines = {json_get(before, "boot"), json_get(after, "boot")};
	const struct own_lines include = {boot_file(env), EDIT_MAX, is_include, NULL};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = edit_restore(env, w.path, past, rep, err);
	if (rc == 0 && lines.before)
		rc = edit_restore_lines(env, &include, lines, rep, err);
	if (rc == 0)
		rc = undo_loaded(env, &w, before, err);
	return rc < 0 ? rc : edit_restore(env, w.mark, past, rep, err);
}

const struct step_ops STEP_FIREWALL = {
	.kind = "firewall", .check = check, .apply = apply, .before = before, .undo = undo};
