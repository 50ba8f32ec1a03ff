/* apt - apt-get with a configuration of its own, by APT_CONFIG. */
#include "controller/airgap/apt.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX    2000
#define UPDATE_LIMIT (900 * CLOCK_SEC)
#define FETCH_LIMIT  (6 * 3600 * CLOCK_SEC)

static const char CONFIG[] = "Dir \"%s\";\n"
			     "Dir::State \"%s\";\n"
			     "Dir::State::lists \"%s/lists\";\n"
			     "Dir::State::status \"%s\";\n"
			     "Dir::Cache \"%s\";\n"
			     "Dir::Cache::archives \"%s/archives\";\n"
			     "Dir::Cache::pkgcache \"\";\n"
			     "Dir::Cache::srcpkgcache \"\";\n"
			     "Dir::Etc \"%s/etc\";\n"
			     "Dir::Bin::methods \"/usr/lib/apt/methods\";\n"
			     "Dir::Log \"%s\";\n"
			     "APT::Architecture \"amd64\";\n"
			     "APT::Architectures { \"amd64\"; };\n"
			     "APT::Sandbox::User \"root\";\n"
			     "APT::Install-Recommends \"false\";\n"
			     "APT::Cmd::Pattern-Only \"true\";\n"
			     "APT::Get::AllowUnauthenticated \"false\";\n"
			     "Acquire::Languages \"none\";\n"
			     "Acquire::Retries \"3\";\n";

static int make_folders(const struct apt *apt, struct err *err)
{
	static const char *const FOLDERS[] = {
		"etc/sources.list.d", "lists/partial", "archives/partial", "tmp"};
	AUTO_FD top = -1;
	int rc = 0;

	top = open(apt->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", apt->dir);
	for (size_t i = 0; rc == 0 && i < sizeof FOLDERS / sizeof *FOLDERS; i++)
		rc = fs_mkdirs(top, FOLDERS[i], 0755, err);
	return rc;
}

static int write_config(struct arena *a, const struct apt *apt, struct err *err)
{
	const char *d = apt->dir;
	const char *status = apt->status ? apt->status : arena_printf(a, "%s/status", d);
	const char *text = arena_printf(a, CONFIG, d, d, d, status, d, d, d, d);
	AUTO_FD top = open(d, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fs_replace(top, "apt.conf", str_of(text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);

	if (rc == 0)
		rc = fs_replace(top, "status", STR_LIT(""), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	if (rc == 0)
		rc = fs_replace(top, "etc/sources.list.d/all.sources", str_of(apt->sources), 0644,
			FS_KEEP_ID, FS_KEEP_ID, err);
	return rc;
}

/* What apt itself says of an error: its lines "E: ..." and those of unmet dependencies. */
static void own_words(const struct proc_result *res, struct buf *out)
{
	struct str text = buf_str(&res->err), line;
	size_t at;

	while (str_line(&text, &line))
		if (str_starts(line, "E: ")) {
			buf_add_text(out, out->n ? "; " : "");
			buf_add_str(out, str_from(line, 3));
		}
	text = buf_str(&res->out);
	at = str_find_str(text, STR_LIT("unmet dependencies:\n"));
	text = str_from(text, at == STR_NONE ? text.n : at + strlen("unmet dependencies:\n"));
	while (str_line(&text, &line) && str_starts(line, " ")) {
		buf_add_text(out, "; ");
		buf_add_str(out, str_trim(line));
	}
}

static int call(struct arena *a, const struct apt *apt, const char *const *args,
	const json_t *names, int64_t limit, struct buf *out, struct err *err)
{
	static const char *const PROXIES[] = {"http_proxy", "https_proxy", "no_proxy"};
	const char *env[16] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
		"DEBIAN_FRONTEND=noninteractive",
		arena_printf(a, "APT_CONFIG=%s/apt.conf", apt->dir),
		arena_printf(a, "TMPDIR=%s/tmp", apt->dir)};
	const char **argv = arena_alloc(a, (NAMES_MAX + 16) * sizeof *argv);
	struct proc p = {.argv = argv, .env = env, .timeout = limit};
	struct proc_result res = {0};
	AUTO_BUF words = {0};
	unsigned n = 0, n_env = 5;
	int rc;

	if (json_array_size(names) > NAMES_MAX)
		return err_set(err, E_LIMIT, "more than %d packages are asked for", NAMES_MAX);
	for (size_t i = 0; i < sizeof PROXIES / sizeof *PROXIES; i++)
		if (getenv(PROXIES[i]))
			env[n_env++] = arena_printf(a, "%s=%s", PROXIES[i], getenv(PROXIES[i]));
	argv[n++] = "apt-get";
	for (; *args; args++)
		argv[n++] = *args;
	for (size_t i = 0; i < json_array_size(names); i++)
		argv[n++] = json_string_value(json_array_get(names, i));
	buf_init(&words, 4096);
	rc = proc_run(&p, &res, err);
	if (rc == 0 && !proc_ok(&res)) {
		own_words(&res, &words);
		rc = words.n ? err_set(err, E_NOTFOUND, "apt: %s", buf_text(&words))
			     : proc_fail(&p, &res, err);
	}
	if (rc == 0 && out)
		buf_add_str(out, buf_str(&res.out));
	proc_result_done(&res);
	return rc;
}

int apt_begin(struct arena *a, const struct apt *apt, struct err *err)
{
	/* a source that fails is an error, not a warning */
	static const char *const UPDATE[] = {
		"-q", "-o", "APT::Update::Error-Mode=any", "update", NULL};
	int rc = make_folders(apt, err);

	if (rc == 0)
		rc = write_config(a, apt, err);
	return rc < 0 ? rc : call(a, apt, UPDATE, NULL, UPDATE_LIMIT, NULL, err);
}

/* 'http://.../x_1.deb' x_1.deb 1234 SHA256:... */
static void read_line(struct arena *a, struct str line, struct apt_debs *out)
{
	struct str uri, file;

	if (!str_starts(line, "'") || !str_next(&line, ' ', &uri) || uri.n < 3 ||
		!str_next(&line, ' ', &file))
		return;
	*vec_push(out) = (struct apt_deb){
		arena_text(a, (struct str){uri.p + 1, uri.n - 2}), arena_text(a, file)};
}

int apt_solve(struct arena *a, const struct apt *apt, const json_t *names, struct apt_debs *out,
	struct err *err)
{
	static const char *const SOLVE[] = {
		"-q", "-y", "--print-uris", "--no-remove", "install", NULL};
	AUTO_BUF text = {0};
	struct str rest, line;
	int rc;

	buf_init(&text, PROC_OUTPUT_MAX);
	if (json_array_size(names) == 0)
		return 0;
	if ((rc = call(a, apt, SOLVE, names, UPDATE_LIMIT, &text, err)) < 0)
		return rc;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		read_line(a, line, out);
	return 0;
}

int apt_fetch(struct arena *a, const struct apt *apt, const json_t *names, struct err *err)
{
	static const char *const FETCH[] = {
		"-q", "-y", "--download-only", "--no-remove", "install", NULL};

	return json_array_size(names) == 0 ? 0 : call(a, apt, FETCH, names, FETCH_LIMIT, NULL, err);
}
