#include "agent/step/tool.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

int tool_run(const struct step_env *env, const char *const *argv, const char *const *vars,
	int64_t timeout, struct proc_result *res, struct err *err)
{
	const bool inside = strcmp(env->root_path, "/") != 0;
	const struct proc p = {
		.argv = argv,
		.env = vars,
		.root = inside ? env->root_path : NULL,
		.timeout = timeout,
		.merge = true,
	};

	return proc_run(&p, res, err);
}

int tool_must_within(
	const struct step_env *env, const char *const *argv, int64_t timeout, struct err *err)
{
	const struct proc p = {.argv = argv, .timeout = timeout};
	struct proc_result res;
	int rc = tool_run(env, argv, NULL, timeout, &res, err);

	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	proc_result_done(&res);
	return rc;
}

int tool_must(const struct step_env *env, const char *const *argv, struct err *err)
{
	return tool_must_within(env, argv, TOOL_TIMEOUT, err);
}

/* Where the last n lines that are not blank begin. */
static struct str last_lines(struct str text, unsigned n)
{
	size_t from = text.n;
	unsigned seen = 0;
	bool blank = true;

	while (from > 0) {
		const char c = text.p[from - 1];

		if (c == '\n' && !blank && ++seen == n)
			break;
		if (c == '\n')
			blank = true;
		else if (c != ' ' && c != '\t' && c != '\r')
			blank = false;
		from--;
	}
	return str_from(text, from);
}

void tool_tail(struct str text, unsigned n, struct buf *out)
{
	struct str rest = last_lines(text, n), line;
	const char *sep = "";

	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n == 0)
			continue;
		buf_add_text(out, sep);
		buf_add_printable(out, line);
		sep = "; ";
	}
}

bool tool_is_there(const struct step_env *env, const char *name)
{
	static const char *const FOLDERS[] = {
		"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"};
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", FOLDERS[i], name);
		if (fs_stat(env->root, path, true, &st, NULL) == 0 && S_ISREG(st.st_mode) &&
			(st.st_mode & 0111))
			return true;
	}
	return false;
}
