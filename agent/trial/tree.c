#include "agent/trial/tree.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PATH_ROOM 1024

static const char *const NEVER[] = {"case", "dev", "proc", "run", "tmp", NULL};
static const char *const TOOLS[] = {
	"cat", "grep", "sed", "rm", "mv", "cp", "ln", "mkdir", "touch", "ls", "tail", "sort", NULL};

int tree_tool(const char *const *argv, struct err *err)
{
	const struct proc p = {.argv = argv, .merge = true, .timeout = INT64_C(60000000000)};
	struct proc_result res;
	int rc = proc_run(&p, &res, err);

	if (rc < 0)
		return rc;
	if (!proc_ok(&res))
		rc = err_set(err, E_REMOTE, "'%s': %.200s", argv[0], buf_text(&res.out));
	proc_result_done(&res);
	return rc;
}

static int open_root(const char *root, struct err *err)
{
	const int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, errno, "cannot open '%s'", root) : fd;
}

int tree_write(const char *root, const char *path, struct str text, unsigned mode, struct err *err)
{
	AUTO_FD fd = open_root(root, err);
	char parent[PATH_ROOM];
	int rc = fd;

	snprintf(parent, sizeof parent, "%s", path);
	if (rc >= 0 && strrchr(parent, '/')) {
		*strrchr(parent, '/') = '\0';
		rc = fs_mkdirs(fd, parent, 0755, err);
	}
	return rc < 0 ? rc : fs_replace(fd, path, text, mode, 0, 0, err);
}

/* A file of this machine at the same place in the root. */
static int copy_same(const char *root, const char *path, struct err *err)
{
	const char *const argv[] = {"cp", "-L", "--parents", path, root, NULL};

	return tree_tool(argv, err);
}

/* The libraries in what ldd says: "libc.so.6 => /lib/libc.so.6 (0x...)". */
static int copy_libraries(const char *root, const char *program, struct err *err)
{
	const char *const argv[] = {"ldd", program, NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;
	struct str rest, line;
	int rc = proc_run(&p, &res, err);

	if (rc < 0)
		return rc;
	rest = buf_str(&res.out);
	while (rc == 0 && str_line(&rest, &line)) {
		const size_t slash = str_find(line, '/');
		char path[PATH_ROOM];

		if (slash == STR_NONE)
			continue;
		line = str_from(line, slash);
		snprintf(path, sizeof path, STR_FMT, STR_ARG(str_first(line, str_find(line, ' '))));
		rc = copy_same(root, path, err);
	}
	proc_result_done(&res);
	return rc;
}

static int copy_tool(const char *root, const char *name, struct err *err)
{
	char path[PATH_ROOM];
	int rc;

	snprintf(path, sizeof path, "/usr/bin/%s", name);
	rc = copy_same(root, path, err);
	return rc < 0 ? rc : copy_libraries(root, path, err);
}

static int write_accounts(const char *root, struct err *err)
{
	static const struct {
		const char *path, *text;
	} FILES[] = {{"etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"},
		{"etc/group", "root:x:0:\n"},
		{"etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n"
				   "VERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\n"},
		{"case/calls", ""}};
	int rc = 0;

	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0] && rc == 0; i++)
		rc = tree_write(root, FILES[i].path, str_of(FILES[i].text), 0644, err);
	return rc;
}

int tree_skeleton(const char *root, struct err *err)
{
	static const char *const FOLDERS[] = {"usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "dev",
		"proc", "run", "tmp", "case/state", "case/bin"};
	static const char *const LINKS[] = {"bin", "sbin", "lib", "lib64"};
	AUTO_FD fd = open_root(root, err);
	int rc = fd < 0 ? fd : 0;

	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0] && rc == 0; i++)
		rc = fs_mkdirs(fd, FOLDERS[i], 0755, err);
	for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0] && rc == 0; i++) {
		char target[32];

		snprintf(target, sizeof target, "usr/%s", LINKS[i]);
		if (symlinkat(target, fd, LINKS[i]) < 0)
			rc = err_sys(err, errno, "cannot make the link '%s'", LINKS[i]);
	}
	/* in a user namespace there are no devices: a file takes what is written to it */
	if (rc == 0 && mknodat(fd, "dev/null", S_IFCHR | 0666, makedev(1, 3)) < 0)
		rc = tree_write(root, "dev/null", STR_LIT(""), 0666, err);
	if (rc == 0)
		rc = copy_tool(root, "dash", err);
	if (rc == 0 && symlinkat("dash", fd, "usr/bin/sh") < 0)
		rc = err_sys(err, errno, "cannot make the link 'sh'");
	for (const char *const *t = TOOLS; *t && rc == 0; t++)
		rc = copy_tool(root, *t, err);
	return rc == 0 ? write_accounts(root, err) : rc;
}

int tree_program(const char *root, const char *name, const char *script, struct err *err)
{
	const char *const argv[] = {"cp", "-L", script, NULL, NULL};
	const char *copy[5];
	char to[PATH_ROOM], path[PATH_ROOM];
	AUTO_BUF wrapper;
	int rc;

	buf_init(&wrapper, 1024);
	snprintf(to, sizeof to, "%s/case/bin/%s", root, name);
	memcpy(copy, argv, sizeof copy);
	copy[3] = to;
	if ((rc = tree_tool(copy, err)) < 0)
		return rc;
	buf_addf(&wrapper,
		"#!/bin/sh\nprintf '%%s\\n' \"%s $*\" >>/case/calls\n"
		"exec /bin/sh /case/bin/%s \"$@\"\n",
		name, name);
	snprintf(path, sizeof path, "usr/bin/%s", name);
	return tree_write(root, path, buf_str(&wrapper), 0755, err);
}

/* --- looking --- */

static bool in_list(const char *path, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, path) == 0)
			return true;
	return false;
}

static int look_at(int fd, const char *path, const struct stat *st, json_t *into, struct err *err)
{
	char mode[8], owner[32], hex[HASH_HEX], target[PATH_MAX];
	json_t *o = json_object();

	json_object_set_new(into, path, o);
	json_put_str(o, "kind",
		S_ISREG(st->st_mode)   ? "file"
		: S_ISDIR(st->st_mode) ? "folder"
		: S_ISLNK(st->st_mode) ? "link"
				       : "other");
	snprintf(mode, sizeof mode, "%04o", (unsigned)(st->st_mode & 07777));
	snprintf(owner, sizeof owner, "%u:%u", st->st_uid, st->st_gid);
	json_put_str(o, "mode", mode);
	json_put_str(o, "owner", owner);
	if (S_ISLNK(st->st_mode)) {
		const ssize_t n = readlinkat(fd, path, target, sizeof target);

		json_put_text(o, "data", (struct str){target, n > 0 ? (size_t)n : 0});
	}
	if (S_ISREG(st->st_mode)) {
		AUTO_FD file = openat(fd, path, O_RDONLY | O_CLOEXEC);
		const int rc = file < 0 ? err_sys(err, errno, "cannot open '%s'", path)
					: hash_fd(file, hex, err);

		if (rc < 0)
			return rc;
		json_put_str(o, "data", hex);
	}
	return 0;
}

static int walk(int fd, const char *folder, json_t *into, struct err *err)
{
	DIR *d = NULL;
	const struct dirent *e;
	int rc = 0, sub = openat(fd, *folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (sub < 0 || !(d = fdopendir(sub)))
		return err_sys(err, errno, "cannot read '%s'", folder);
	while (rc == 0 && (e = readdir(d))) {
		char path[PATH_ROOM];
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", e->d_name);
		if (in_list(path, NEVER))
			continue;
		if (fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			rc = err_sys(err, errno, "cannot look at '%s'", path);
		if (rc == 0)
			rc = look_at(fd, path, &st, into, err);
		if (rc == 0 && S_ISDIR(st.st_mode))
			rc = walk(fd, path, into, err);
	}
	closedir(d);
	return rc;
}

int tree_snapshot(const char *root, json_t **out, struct err *err)
{
	AUTO_FD fd = open_root(root, err);

	*out = json_object();
	return fd < 0 ? fd : walk(fd, "", *out, err);
}

static bool is_ignored(const char *path, const json_t *ignore)
{
	for (size_t i = 0; i < json_array_size(ignore); i++) {
		const char *p = json_string_value(json_array_get(ignore, i));
		const size_t n = p ? strlen(p) : 0;

		if (p && strncmp(p, path, n) == 0 && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

static void add_difference(struct buf *out, const char *path, const char *field, const json_t *want,
	const json_t *have)
{
	if (strcmp(field, "data") == 0 && strcmp(json_get_str(want, "kind", ""), "file") == 0)
		buf_addf(out, "\n  '%s' has other bytes", path);
	else
		buf_addf(out, "\n  '%s' has another %s (%s, not %s)", path, field,
			json_get_str(have, field, "none"), json_get_str(want, field, "none"));
}

unsigned tree_compare(json_t *want, json_t *have, const json_t *ignore, struct buf *out)
{
	const char *path, *field;
	json_t *entry, *value;
	unsigned n = 0;

	json_object_foreach(want, path, entry)
	{
		const json_t *is = json_get(have, path);

		if (is_ignored(path, ignore))
			continue;
		if (!is) {
			n++;
			buf_addf(out, "\n  '%s' is not there", path);
			continue;
		}
		json_object_foreach(entry, field, value)
		{
			if (json_equal(value, json_get(is, field)))
				continue;
			n++;
			add_difference(out, path, field, entry, is);
		}
	}
	json_object_foreach(have, path, entry)
	{
		if (json_get(want, path) || is_ignored(path, ignore))
			continue;
		n++;
		buf_addf(out, "\n  '%s' is there and should not be", path);
	}
	return n;
}
