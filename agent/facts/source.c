#include "agent/facts/source.h"

#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "agent/base/vec.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX 16384

bool source_file(int root, const char *path, struct buf *out)
{
	return fs_read(root, path, out, NULL) == 0;
}

bool source_text(int root, const char *folder, const char *name, char out[static SOURCE_TEXT_MAX])
{
	char path[PATH_MAX];
	struct str text;
	AUTO_BUF content;
	int n;

	buf_init(&content, 64u << 10);
	n = snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof path)
		return false;
	if (!source_file(root, path, &content))
		return false;
	text = str_trim(buf_str(&content));
	snprintf(out, SOURCE_TEXT_MAX, STR_FMT, STR_ARG(text));
	return text.n > 0;
}

bool source_number(int root, const char *folder, const char *name, int64_t *out)
{
	char text[SOURCE_TEXT_MAX];

	return source_text(root, folder, name, text) && str_to_i64(str_of(text), out);
}

void source_put_text(json_t *obj, const char *key, int root, const char *folder, const char *name)
{
	char text[SOURCE_TEXT_MAX];

	if (source_text(root, folder, name, text))
		json_put_text(obj, key, str_of(text));
}

void source_put_number(json_t *obj, const char *key, int root, const char *folder, const char *name)
{
	int64_t v;

	if (source_number(root, folder, name, &v))
		json_put_int(obj, key, v);
}

bool source_exists(int root, const char *path)
{
	struct stat st;

	return fs_stat(root, path, true, &st, NULL) == 0;
}

bool source_is_own_root(int root)
{
	struct stat a, b;

	return fstat(root, &a) == 0 && stat("/", &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names vec(char *);

static json_t *sorted(struct names *names)
{
	json_t *list = json_array();

	vec_sort(names, by_text);
	vec_each(names, char *, name) {
		json_array_append_new(list, json_string(*name));
		free(*name);
	}
	vec_done(names);
	return list;
}

json_t *source_list(int root, const char *folder)
{
	struct names names = VEC_INIT;
	const struct dirent *e;
	DIR *dir;

	dir = fs_dir_open(root, folder, NULL);
	if (!dir)
		return NULL;
	while (names.n < ENTRIES_MAX && (e = readdir(dir)))
		if (e->d_name[0] != '.' && str_is_utf8(str_of(e->d_name)))
			*vec_push(&names) = xstrdup(e->d_name);
	closedir(dir);
	return sorted(&names);
}
