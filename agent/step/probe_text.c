#include "agent/step/probe_text.h"

#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/recipe/expr.h"
#include "agent/step/tool.h"

#include <fnmatch.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX       10000
#define PATHS_MAX       10000
#define WORDS_MAX       64
#define PROGRAM_TIMEOUT (10 * CLOCK_SEC)

static int read_text(
	const struct step_env *env, const char *path, struct buf *text, struct err *err)
{
	buf_init(text, EXPR_TEXT_MAX);
	const int rc = fs_read(env->root, path, text, err);

	if (rc == -E_NOTFOUND)
		return 0;
	if (rc == 0 && !str_is_utf8(buf_str(text)))
		return err_set(err, E_SYNTAX, "'%.200s' is not UTF-8 text", path);
	return rc;
}

int probe_text_file(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, EXPR_TEXT_MAX);
	rc = read_text(env, json_string_value(json_array_get(args, 0)), &text, err);
	if (rc == 0)
		*out = value_of(json_stringn(buf_text(&text), text.n));
	return rc;
}

static int add_line(json_t *list, const regex_t *re, struct str line)
{
	char z[4096];

	if (line.n >= sizeof z || json_array_size(list) >= LINES_MAX)
		return 0;
	memcpy(z, line.p, line.n);
	z[line.n] = '\0';
	if (regexec(re, z, 0, NULL, 0) == 0)
		json_array_append_new(list, json_stringn(line.p, line.n));
	return 0;
}

int probe_lines(const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *pattern = json_string_value(json_array_get(args, 1));
	json_t *list;
	struct str rest, line;
	regex_t re;
	AUTO_BUF text;
	int rc;

	buf_init(&text, EXPR_TEXT_MAX);
	rc = read_text(env, json_string_value(json_array_get(args, 0)), &text, err);
	if (rc < 0)
		return rc;
	if (strlen(pattern) > 500 || regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return err_set(err, E_SYNTAX, "'%.60s' is no regular expression", pattern);
	list = json_array();
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		add_line(list, &re, line);
	regfree(&re);
	*out = value_of(list);
	return 0;
}

/* --- glob --- */

static bool is_pattern(const char *part)
{
	return strpbrk(part, "*?[") != NULL;
}

static void add_found(int root, const char *path, json_t *found)
{
	struct stat st;

	if (fs_stat(root, path, true, &st, NULL) == 0 && json_array_size(found) < PATHS_MAX)
		json_array_append_new(found, json_string(path));
}

/* base is what is known of the path, rest the parts behind it, beginning with '/'. */
static void walk(int root, const char *base, const char *rest, json_t *found)
{
	char part[NAME_MAX + 1], path[PATH_MAX];
	const struct dirent *e;
	size_t n;
	DIR *d;

	while (*rest == '/')
		rest++;
	n = strcspn(rest, "/");
	if (n == 0) {
		add_found(root, base, found);
		return;
	}
	if (n >= sizeof part)
		return;
	memcpy(part, rest, n);
	part[n] = '\0';
	if (!is_pattern(part)) {
		if (snprintf(path, sizeof path, "%s/%s", base, part) < (int)sizeof path)
			walk(root, path, rest + n, found);
		return;
	}
	d = fs_dir_open(root, *base ? base : "/", NULL);
	while (d && (e = readdir(d)) && json_array_size(found) < PATHS_MAX)
		if (fnmatch(part, e->d_name, FNM_PERIOD) == 0 &&
			snprintf(path, sizeof path, "%s/%s", base, e->d_name) < (int)sizeof path)
			walk(root, path, rest + n, found);
	if (d)
		closedir(d);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *sorted(const json_t *list)
{
	const size_t n = json_array_size(list);
	const char **at = calloc(n + 1, sizeof *at);
	json_t *out = json_array();

	for (size_t i = 0; at && i < n; i++)
		at[i] = json_string_value(json_array_get(list, i));
	if (at)
		qsort(at, n, sizeof *at, by_text);
	for (size_t i = 0; at && i < n; i++)
		json_array_append_new(out, json_string(at[i]));
	free(at);
	return out;
}

int probe_glob(const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *pattern = json_string_value(json_array_get(args, 0));
	AUTO_JSON found = json_array();
	unsigned stars = 0;

	for (const char *p = pattern; *p; p++)
		stars += *p == '*';
	if (*pattern != '/' || strstr(pattern, "/../") || stars > 8)
		return err_set(
			err, E_SCHEMA, "'%.80s' is no absolute path with at most 8 '*'", pattern);
	walk(env->root, "", pattern, found);
	*out = value_of(sorted(found));
	return 0;
}

/* --- program --- */

static int read_words(const json_t *list, const char *argv[static WORDS_MAX + 1], struct err *err)
{
	const size_t n = json_array_size(list);

	for (size_t i = 0; i < n && i < WORDS_MAX; i++) {
		argv[i] = json_string_value(json_array_get(list, i));
		if (!argv[i])
			return err_set(err, E_SCHEMA, "word %zu of program() is no text", i + 1);
	}
	if (n == 0 || n > WORDS_MAX || !*argv[0])
		return err_set(err, E_SCHEMA, "program() takes 1 to %d words", WORDS_MAX);
	return 0;
}

static json_t *answer_of(const struct proc_result *res)
{
	const int code = res->end == PROC_EXITED      ? res->status
			 : res->end == PROC_TIMED_OUT ? 124
						      : 128 + res->status;
	json_t *answer = json_object();
	AUTO_BUF text;

	buf_init(&text, EXPR_TEXT_MAX);
	if (str_is_utf8(buf_str(&res->out)))
		buf_add_str(&text, buf_str(&res->out));
	else
		buf_add_printable(&text, buf_str(&res->out));
	json_put_int(answer, "code", code);
	json_object_set_new(answer, "out", json_stringn(buf_text(&text), text.n));
	return answer;
}

int probe_program(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const char *argv[WORDS_MAX + 1] = {NULL};
	struct proc_result res;
	int rc = read_words(json_array_get(args, 0), argv, err);

	if (rc < 0)
		return rc;
	if (!strchr(argv[0], '/') && !tool_is_there(env, argv[0])) {
		*out = value_of(json_pack("{s:i,s:s}", "code", 127, "out", ""));
		return 0;
	}
	rc = tool_run(env, argv, NULL, PROGRAM_TIMEOUT, &res, err);
	if (rc < 0)
		return rc;
	*out = value_of(answer_of(&res));
	proc_result_done(&res);
	return 0;
}
