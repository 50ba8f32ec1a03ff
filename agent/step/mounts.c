/* mounts - how: the whole text is read once, and the last line that fits counts. */
#include "agent/step/mounts.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/edit.h"

#include <stdio.h>
#include <string.h>

#define MOUNTINFO "/proc/self/mountinfo"

static bool is_octal(struct str s)
{
	for (size_t i = 0; i < 3; i++)
		if (s.n < 3 || s.p[i] < '0' || s.p[i] > '7')
			return false;
	return true;
}

void mounts_unescape(struct str field, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < field.n && n + 1 < size; i++) {
		const struct str code = str_from(field, i + 1);

		if (field.p[i] != '\\' || !is_octal(code)) {
			out[n++] = field.p[i];
			continue;
		}
		out[n++] = (char)((code.p[0] - '0') * 64 + (code.p[1] - '0') * 8 + code.p[2] - '0');
		i += 3;
	}
	out[n] = '\0';
}

void mounts_escape(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (strchr(" \t\n\\#", *text))
			buf_addf(out, "\\%03o", (unsigned)(unsigned char)*text);
		else
			buf_add_char(out, *text);
	}
}

int mounts_read(const struct step_env *env, struct buf *out, struct err *err)
{
	return fs_read(env->root, MOUNTINFO, out, err);
}

static void take(struct str line, unsigned n, char *out, size_t size)
{
	mounts_unescape(edit_field(line, n), out, size);
}

static bool parse(struct str line, struct mount_entry *out)
{
	const size_t dash = str_find_str(line, STR_LIT(" - "));
	struct str rest;

	if (dash == STR_NONE)
		return false;
	rest = str_from(line, dash + strlen(" - "));
	take(line, 3, out->root, sizeof out->root);
	take(line, 4, out->path, sizeof out->path);
	take(line, 5, out->options, sizeof out->options);
	take(rest, 0, out->type, sizeof out->type);
	take(rest, 1, out->source, sizeof out->source);
	take(rest, 2, out->super, sizeof out->super);
	return true;
}

static bool path_of(struct str line, char out[static PATH_MAX])
{
	take(line, 4, out, PATH_MAX);
	return out[0] == '/';
}

bool mounts_find(struct str text, const char *path, struct mount_entry *out)
{
	struct str line, last = {NULL, 0};
	char here[PATH_MAX];

	while (str_line(&text, &line))
		if (path_of(line, here) && strcmp(here, path) == 0)
			last = line;
	return last.p && parse(last, out);
}

static bool lies_on(const char *path, const char *mount)
{
	const size_t n = strlen(mount);

	return strcmp(mount, "/") == 0 ||
	       (strncmp(path, mount, n) == 0 && (path[n] == '/' || !path[n]));
}

bool mounts_find_above(struct str text, const char *path, struct mount_entry *out)
{
	struct str line, best = {NULL, 0};
	char here[PATH_MAX];
	size_t length = 0;

	while (str_line(&text, &line)) {
		if (!path_of(line, here) || !lies_on(path, here) || strlen(here) < length)
			continue;
		best = line;
		length = strlen(here);
	}
	return best.p && parse(best, out);
}

bool mounts_is_remote(const char *type)
{
	static const char *const TYPES[] = {"nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "9p",
		"glusterfs", "beegfs", "gpfs", "afs", "autofs", NULL};

	for (unsigned i = 0; TYPES[i]; i++)
		if (strcmp(TYPES[i], type) == 0)
			return true;
	return strncmp(type, "fuse", 4) == 0;
}
