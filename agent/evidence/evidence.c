/* evidence - the list of sources. */
#include "agent/evidence/evidence.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/json.h"
#include "agent/base/kernel_log.h"
#include "agent/evidence/gather.h"
#include "agent/facts/facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define KERNEL_MAX  (32u << 20)
#define JOURNAL_MAX (64u << 20)
#define RECORD_MAX  (16u << 20)
#define DKMS        "/var/lib/dkms"
#define BUILDS_MAX  4
#define NAME_LEN    64

static const struct {
	const char *name, *path;
} LOGS[] = {
	{"dpkg.log", "/var/log/dpkg.log"},
	{"apt-history.log", "/var/log/apt/history.log"},
	{"apt-term.log", "/var/log/apt/term.log"},
	{"dnf.log", "/var/log/dnf.log"},
	{"dnf.rpm.log", "/var/log/dnf.rpm.log"},
	{"fabricmanager.log", "/var/log/fabricmanager.log"},
	{"nvidia-installer.log", "/var/log/nvidia-installer.log"},
};

/* "4,1234,56789012,-;text" -> "[   56.789012] text"; lines that follow a record's stay. */
static void add_kernel_line(struct buf *out, struct str line)
{
	struct str head = line, field;
	uint64_t us = 0;
	unsigned i = 0;
	const size_t semicolon = str_find(line, ';');

	if (semicolon != STR_NONE) {
		head = str_first(line, semicolon);
		while (i < 3 && str_next(&head, ',', &field) && str_to_u64(field, &us))
			i++;
	}
	if (i == 3) {
		buf_addf(out, "[%5llu.%06llu] ", (unsigned long long)(us / 1000000),
			(unsigned long long)(us % 1000000));
		line = str_from(line, semicolon + 1);
	}
	buf_add_str(out, line);
	buf_add_char(out, '\n');
}

static void kernel(struct gathering *g)
{
	static const char NAME[] = "kernel.log";
	static const char *const ASK[] = {"journalctl", "--no-pager", "-k", "-b", NULL};
	struct str rest, line;
	AUTO_BUF raw, text;

	buf_init(&raw, KERNEL_MAX);
	buf_init(&text, 2 * KERNEL_MAX);
	if (kernel_log_read(g->env->root, &raw, NULL) < 0 || raw.n == 0) {
		if (gather_ask(g, NAME, ASK, &text))
			gather_give(g, NAME, buf_str(&text), GATHER_KERNEL, 0);
		return;
	}
	rest = buf_str(&raw);
	while (str_line(&rest, &line))
		add_kernel_line(&text, line);
	gather_give(g, NAME, buf_str(&text), GATHER_KERNEL, 0);
}

/* --- builds that failed --- */

static void build(struct gathering *g, const char *module, const char *version)
{
	char path[PATH_MAX], name[NAME_LEN];
	struct stat st;

	snprintf(path, sizeof path, DKMS "/%.80s/%.80s/build/make.log", module, version);
	if (fs_stat(g->env->root, path, true, &st, NULL) < 0)
		return;
	snprintf(name, sizeof name, "dkms-%.20s-%.24s-make.log", module, version);
	if (!str_is_name(str_of(name)))
		snprintf(name, sizeof name, "dkms-make.log");
	gather_file(g, name, path, GATHER_LOG);
}

/* A build's folder stays behind only when the build failed. */
static void builds(struct gathering *g)
{
	DIR *modules = fs_dir_open(g->env->root, DKMS, NULL);
	const unsigned before = g->files;
	const struct dirent *m, *v;

	while (modules && (m = readdir(modules))) {
		char path[PATH_MAX];
		DIR *versions;

		if (m->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, DKMS "/%.80s", m->d_name);
		versions = fs_dir_open(g->env->root, path, NULL);
		while (versions && g->files < before + BUILDS_MAX && (v = readdir(versions)))
			if (v->d_name[0] != '.')
				build(g, m->d_name, v->d_name);
		if (versions)
			closedir(versions);
	}
	if (modules)
		closedir(modules);
	if (g->files == before)
		gather_miss(g, "dkms-make.log", "no build of DKMS has left its log");
}

/* --- the agent's own --- */

/* The journal that was written last. */
static bool find_journal(int state, char out[static NAME_MAX + 1])
{
	DIR *dir = state < 0 ? NULL : fs_dir_open(state, "runs", NULL);
	struct timespec newest = {-1, 0};
	const struct dirent *e;
	struct stat st;

	out[0] = '\0';
	while (dir && (e = readdir(dir))) {
		if (!str_ends(str_of(e->d_name), ".journal") ||
			fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode))
			continue;
		if (st.st_mtim.tv_sec < newest.tv_sec ||
			(st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec < newest.tv_nsec))
			continue;
		newest = st.st_mtim;
		snprintf(out, NAME_MAX + 1, "%s", e->d_name);
	}
	if (dir)
		closedir(dir);
	return out[0] != '\0';
}

/* Arguments and earlier states stay on the node, as in events. */
static void add_record(struct buf *out, struct str line)
{
	static const char *const OURS[] = {"args", "before", "after", "notify", NULL};
	AUTO_JSON record = NULL;

	if (json_parse(line, RECORD_MAX, "record", &record, NULL) < 0)
		return;
	for (const char *const *k = OURS; *k; k++)
		json_object_del(record, *k);
	json_write(record, out);
	buf_add_char(out, '\n');
}

static void journal(struct gathering *g)
{
	static const char NAME[] = "run.journal";
	char file[NAME_MAX + 1], path[NAME_MAX + 16];
	struct str rest, line;
	struct err err;
	AUTO_BUF raw, text;

	buf_init(&raw, JOURNAL_MAX);
	buf_init(&text, JOURNAL_MAX);
	if (!find_journal(g->env->state, file)) {
		gather_miss(g, NAME, "no run has changed anything");
		return;
	}
	snprintf(path, sizeof path, "runs/%s", file);
	if (fs_read(g->env->state, path, &raw, &err) < 0) {
		gather_miss(g, NAME, err.msg);
		return;
	}
	rest = buf_str(&raw);
	while (str_line(&rest, &line))
		add_record(&text, line);
	gather_give(g, NAME, buf_str(&text), GATHER_LOG, 0);
}

static void facts(struct gathering *g)
{
	const struct facts_env env = {.root = g->env->root, .self = g->env->self};
	AUTO_JSON all = NULL;
	AUTO_BUF text;

	g->env->give(g->env->ctx, NULL, (struct str){NULL, 0});
	buf_init(&text, GATHER_KERNEL);
	all = facts_all(&env);
	json_write_pretty(all, &text);
	buf_add_char(&text, '\n');
	if (buf_ok(&text))
		gather_give(g, "facts.json", buf_str(&text), GATHER_KERNEL, 0);
	else
		gather_miss(g, "facts.json", "they are too many");
}

void evidence_gather(const struct evidence_env *env)
{
	static const char *const AUDIT[] = {"dpkg", "--audit", NULL};
	struct gathering g = {.env = env};

	buf_init(&g.index, GATHER_INDEX);
	kernel(&g);
	facts(&g);
	journal(&g);
	for (size_t i = 0; i < sizeof LOGS / sizeof LOGS[0]; i++)
		gather_file(&g, LOGS[i].name, LOGS[i].path, GATHER_LOG);
	gather_program(&g, "dpkg-audit.txt", AUDIT);
	gather_failed_units(&g, "failed-units.txt");
	builds(&g);
	gather_miss(&g, "nvidia-bug-report",
		"it takes minutes and tens of megabytes: run 'nvidia-bug-report.sh' on the node");
	gather_finish(&g);
}
