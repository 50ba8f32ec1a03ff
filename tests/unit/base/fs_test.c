/* fs_test - all or nothing, below a root: links, leftovers, modes, owners, a full disk. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/mem.h"
#include "tests/unit/t.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* A fresh folder of its own for each test; the descriptor is the test's root. */
static int root_of(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	assert_int_equal(mkdir(path, 0755), 0);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static int put(int root, const char *path, const char *text, struct err *err)
{
	return fs_replace(
		root, path, str_of(text), FS_KEEP_MODE, FS_KEEP_ID, (gid_t)FS_KEEP_ID, err);
}

static void assert_text(int root, const char *path, const char *want)
{
	AUTO_BUF got;
	struct err err = {0};
	buf_init(&got, 1 << 20);
	if (fs_read(root, path, &got, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(buf_text(&got), want);
}

static int count_entries(int root, const char *path)
{
	int n = 0;
	DIR *list = fdopendir(openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	assert_non_null(list);
	for (struct dirent *e; (e = readdir(list)) != NULL;)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(list);
	return n;
}

TEST(replace_makes_and_replaces)
{
	AUTO_FD root = root_of("replace");
	struct err err = {0};
	struct stat st;
	umask(077);
	assert_int_equal(put(root, "/motd", "one", &err), 0);
	umask(022);
	assert_text(root, "motd", "one");
	assert_int_equal(fs_stat(root, "motd", false, &st, &err), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644); /* whatever the umask */
	ino_t old = st.st_ino;
	assert_int_equal(put(root, "motd", "", &err), 0);
	assert_text(root, "motd", "");
	assert_int_equal(fs_stat(root, "motd", false, &st, &err), 0);
	assert_int_not_equal(st.st_ino, old);
	assert_int_equal(count_entries(root, "."), 1);
}

TEST(replace_sets_and_keeps_mode_and_owner)
{
	AUTO_FD root = root_of("mode");
	struct err err = {0};
	struct stat st;
	uid_t uid = geteuid() ? geteuid() : 12;
	gid_t gid = geteuid() ? getegid() : 34;
	assert_int_equal(fs_replace(root, "su", str_of("x"), 04750, uid, gid, &err), 0);
	assert_int_equal(fs_stat(root, "su", false, &st, &err), 0);
	assert_int_equal(st.st_mode, S_IFREG | 04750); /* chown would have dropped the 4 */
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
	assert_int_equal(put(root, "su", "y", &err), 0);
	assert_int_equal(fs_stat(root, "su", false, &st, &err), 0);
	assert_int_equal(st.st_mode, S_IFREG | 04750);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
}

TEST(replace_takes_a_new_owner_even_in_a_setgid_folder)
{
	AUTO_FD root = root_of("setgid");
	struct err err = {0};
	struct stat st;
	if (geteuid())
		skip(); /* only root gives files away */
	assert_int_equal(fchown(root, 0, 50), 0);
	assert_int_equal(fchmod(root, 02775), 0);
	assert_int_equal(put(root, "f", "x", &err), 0);
	assert_int_equal(fs_stat(root, "f", false, &st, &err), 0);
	assert_int_equal(st.st_gid, 0);
}

TEST(replace_from_copies_from_the_offset)
{
	AUTO_FD root = root_of("from");
	struct err err = {0};
	size_t n = (300u << 10) + 7;
	AUTO_STR big = xmalloc(n + 1);
	memset(big, 'q', n);
	big[0] = 'X';
	big[n] = '\0';
	assert_int_equal(put(root, "big", big, &err), 0);
	AUTO_FD from = openat(root, "big", O_RDONLY | O_CLOEXEC);
	lseek(from, 1, SEEK_SET);
	assert_int_equal(
		fs_replace_from(root, "copy", from, 0600, FS_KEEP_ID, (gid_t)FS_KEEP_ID, &err), 0);
	assert_text(root, "copy", big + 1);
}

TEST(replace_replaces_a_link_and_not_its_target)
{
	AUTO_FD root = root_of("link");
	struct err err = {0};
	struct stat st;
	assert_int_equal(put(root, "target", "kept", &err), 0);
	assert_int_equal(symlinkat("target", root, "name"), 0);
	assert_int_equal(put(root, "name", "new", &err), 0);
	assert_text(root, "target", "kept");
	assert_int_equal(fs_stat(root, "name", false, &st, &err), 0);
	assert_true(S_ISREG(st.st_mode));
}

TEST(parents_that_are_links_stay_inside)
{
	AUTO_FD root = root_of("inside");
	struct err err = {0};
	assert_int_equal(fs_mkdirs(root, "usr/lib", 0755, &err), 0);
	assert_int_equal(symlinkat("usr/lib", root, "lib"), 0);
	assert_int_equal(symlinkat("/usr/lib", root, "absolute"), 0);
	assert_int_equal(symlinkat("../../../../usr/lib", root, "upward"), 0);
	assert_int_equal(put(root, "/lib/a", "1", &err), 0);
	assert_int_equal(put(root, "/absolute/b", "2", &err), 0);
	assert_int_equal(put(root, "/upward/c", "3", &err), 0);
	assert_int_equal(put(root, "../../usr/lib/d", "4", &err), 0);
	assert_text(root, "usr/lib/a", "1");
	assert_text(root, "usr/lib/b", "2");
	assert_text(root, "usr/lib/c", "3");
	assert_text(root, "usr/lib/d", "4");
	assert_int_equal(symlinkat("/etc/passwd", root, "outside"), 0);
	AUTO_BUF got;
	buf_init(&got, 1 << 20);
	assert_int_equal(fs_read(root, "outside", &got, &err), -E_NOTFOUND);
	assert_int_equal(fs_open(root, "lib", O_RDONLY, 0, false, &err) < 0, 1);
	AUTO_FD lib = fs_open(root, "lib", O_RDONLY | O_DIRECTORY, 0, true, &err);
	assert_true(lib >= 0);
	assert_int_equal(fcntl(lib, F_GETFD), FD_CLOEXEC);
}

TEST(names_that_are_no_files_are_refused)
{
	static const struct {
		const char *path;
		int rc;
	} rows[] = {
		{"", -E_SCHEMA},
		{"/", -E_SCHEMA},
		{"a/", -E_SCHEMA},
		{".", -E_SCHEMA},
		{"a/..", -E_SCHEMA},
		{"missing/a", -E_NOTFOUND},
		{"dir", -E_STATE},
	};
	AUTO_FD root = root_of("names");
	struct err err = {0};
	assert_int_equal(fs_mkdirs(root, "dir", 0755, &err), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(put(root, rows[i].path, "x", &err), rows[i].rc);
	/* the code of a failure is the same without a struct err; a folder cannot be read from */
	int rc = fs_replace_from(root, "f", root, 0600, FS_KEEP_ID, (gid_t)FS_KEEP_ID, &err);
	assert_true(rc < 0);
	assert_int_equal(
		fs_replace_from(root, "f", root, 0600, FS_KEEP_ID, (gid_t)FS_KEEP_ID, NULL), rc);
	char longest[NAME_MAX + 1];
	memset(longest, 'n', NAME_MAX);
	longest[NAME_MAX] = '\0';
	assert_int_equal(put(root, longest, "fits", &err), 0);
	assert_text(root, longest, "fits");
	assert_int_equal(count_entries(root, "."), 2);
}

TEST(leftovers_of_a_crash_are_swept)
{
	AUTO_FD root = root_of("sweep");
	struct err err = {0};
	static const char *const stay[] = {
		FS_TMP_PREFIX "motd2.0123456789abcdef", /* of another file */
		FS_TMP_PREFIX "motd.0123456789abcde",   /* not ours: too short */
		FS_TMP_PREFIX "motd.0123456789abcdeg",
		"motd.0123456789abcdef",
	};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(put(root, stay[i], "", &err), 0);
	assert_int_equal(put(root, FS_TMP_PREFIX "motd.0123456789abcdef", "half", &err), 0);
	assert_int_equal(put(root, FS_TMP_PREFIX "motd.ffffffffffffffff", "half", &err), 0);
	AUTO_FD alive = openat(root, FS_TMP_PREFIX "motd.ffffffffffffffff", O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(alive, LOCK_EX), 0); /* its maker still lives */
	assert_int_equal(put(root, "motd", "whole", &err), 0);
	assert_int_equal(count_entries(root, "."), 6);
	mem_close_fd(&alive);
	alive = -1;
	assert_int_equal(put(root, "motd", "again", &err), 0);
	assert_int_equal(count_entries(root, "."), 5);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(faccessat(root, stay[i], F_OK, 0), 0);
}

static bool mount_small(const char *path)
{
	return geteuid() == 0 && mount("none", path, "tmpfs", 0, "size=64k,nr_inodes=8") == 0;
}

TEST(full_disk_keeps_the_old_file)
{
	char path[128];
	struct err err = {0};
	uint64_t bytes, inodes;
	AUTO_STR big = xcalloc(1, (256u << 10) + 1);
	mem_close_fd(&(int){root_of("full")});
	snprintf(path, sizeof path, "%s/full", t_dir());
	if (!mount_small(path))
		skip(); /* a mount needs root */
	int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(big, 'b', 256u << 10);
	assert_int_equal(put(root, "conf", "old", &err), 0);
	int rc = put(root, "/conf", big, &err);
	int entries = count_entries(root, ".");
	int space = fs_free_space(root, "not/there", &bytes, &inodes, NULL);
	AUTO_BUF got;
	buf_init(&got, 100);
	int read_rc = fs_read(root, "conf", &got, NULL);
	close(root);
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_non_null(strstr(err.msg, "'/conf'"));
	assert_int_equal(entries, 1);
	assert_int_equal(read_rc, 0);
	assert_string_equal(buf_text(&got), "old");
	assert_int_equal(space, 0);
	assert_in_range(bytes, 4096, 64 << 10);
	assert_in_range(inodes, 1, 8);
}

TEST(failure_of_the_owner_leaves_nothing)
{
	AUTO_FD root = root_of("owner");
	struct err err = {0};
	if (geteuid())
		skip(); /* only root gives files away */
	assert_int_equal(fchmod(root, 0777), 0);
	assert_int_equal(chmod(t_dir(), 0755), 0);
	assert_int_equal(put(root, "f", "old", &err), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(1000) || setuid(1000))
			_exit(2);
		int rc = fs_replace(root, "f", str_of("new"), 0600, 0, 0, &err);
		_exit(rc == -E_DENIED && strstr(err.msg, "'f'") ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_text(root, "f", "old");
	assert_int_equal(count_entries(root, "."), 1);
}

TEST(read_is_capped_and_wants_a_regular_file)
{
	AUTO_FD root = root_of("read");
	struct err err = {0};
	AUTO_BUF exact, less;
	buf_init(&exact, 5);
	buf_init(&less, 4);
	assert_int_equal(put(root, "five", "12345", &err), 0);
	assert_int_equal(fs_read(root, "five", &exact, &err), 0);
	assert_string_equal(buf_text(&exact), "12345");
	assert_int_equal(fs_read(root, "five", &less, &err), -E_LIMIT);
	buf_clear(&exact);
	assert_int_equal(mkfifoat(root, "pipe", 0600), 0);
	assert_int_equal(fs_read(root, "pipe", &exact, &err), -E_STATE); /* and does not hang */
	assert_int_equal(fs_read(root, "/", &exact, &err), -E_STATE);
	assert_int_equal(fs_read(root, "none", &exact, &err), -E_NOTFOUND);
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUF version; /* a file whose size is said to be 0 */
	buf_init(&version, 4096);
	assert_int_equal(fs_read(proc, "version", &version, &err), 0);
	assert_true(version.n > 5);
}

TEST(folders_are_listed_inside_the_root)
{
	AUTO_FD root = root_of("folders");
	const struct dirent *e;
	struct err err = {0};
	bool seen = false;
	DIR *dir;

	assert_int_equal(fs_mkdirs(root, "/a/b", 0755, &err), 0);
	assert_int_equal(put(root, "a/b/one", "", &err), 0);
	assert_int_equal(symlinkat("/a/b", root, "short"), 0);
	assert_int_equal(symlinkat("/etc", root, "outside"), 0);
	dir = fs_dir_open(root, "/short", &err);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		seen = seen || strcmp(e->d_name, "one") == 0;
	closedir(dir);
	assert_true(seen);
	assert_null(fs_dir_open(root, "/outside", &err)); /* the root has no /etc */
	assert_int_equal(err.code, E_NOTFOUND);
	assert_null(fs_dir_open(root, "/a/b/one", &err));
	assert_non_null(strstr(err.msg, "/a/b/one"));
	assert_null(fs_dir_open(root, "/nowhere", NULL));
}

TEST(mkdirs_makes_parents_and_leaves_the_old)
{
	AUTO_FD root = root_of("mkdirs");
	struct err err = {0};
	struct stat st;
	umask(077);
	assert_int_equal(fs_mkdirs(root, "/a", 0700, &err), 0);
	assert_int_equal(fs_mkdirs(root, "/a/b//c/", 0775, &err), 0);
	umask(022);
	assert_int_equal(fs_stat(root, "a", false, &st, &err), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(fs_stat(root, "a/b", false, &st, &err), 0);
	assert_int_equal(st.st_mode & 07777, 0775);
	assert_int_equal(fs_stat(root, "a/b/c", false, &st, &err), 0);
	assert_int_equal(fs_mkdirs(root, "a/b/c", 0700, &err), 0);
	assert_int_equal(fs_mkdirs(root, "/", 0700, &err), 0);
	assert_int_equal(symlinkat("/a/b", root, "short"), 0);
	assert_int_equal(fs_mkdirs(root, "short/d/e", 0755, &err), 0);
	assert_int_equal(fs_stat(root, "a/b/d/e", false, &st, &err), 0);
	assert_int_equal(put(root, "file", "", &err), 0);
	assert_true(fs_mkdirs(root, "file/x", 0755, &err) < 0);
	assert_int_equal(symlinkat("nowhere", root, "dangling"), 0);
	assert_true(fs_mkdirs(root, "dangling/x", 0755, &err) < 0);
}

TEST(remove_takes_files_links_and_trees)
{
	AUTO_FD root = root_of("remove");
	struct err err = {0};
	assert_int_equal(fs_remove(root, "none", false, &err), 0);
	assert_int_equal(fs_remove(root, "none/deeper", true, &err), 0);
	assert_int_equal(put(root, "kept", "x", &err), 0);
	assert_int_equal(fs_mkdirs(root, "t/a/b", 0755, &err), 0);
	assert_int_equal(fs_mkdirs(root, "t/empty", 0755, &err), 0);
	assert_int_equal(put(root, "t/a/f", "x", &err), 0);
	assert_int_equal(symlinkat("/", root, "t/a/b/up"), 0);
	assert_int_equal(symlinkat("../kept", root, "t/l"), 0);
	assert_true(fs_remove(root, "t", false, &err) < 0); /* not empty */
	assert_int_equal(fs_remove(root, "t/empty", false, &err), 0);
	assert_int_equal(fs_remove(root, "t/l", false, &err), 0);
	assert_int_equal(fs_remove(root, "/t", true, &err), 0);
	assert_int_equal(count_entries(root, "."), 1);
	assert_text(root, "kept", "x");
	assert_true(fs_remove(root, "/", true, &err) < 0);
}

TEST(remove_takes_many_entries_and_knows_its_depth)
{
	AUTO_FD root = root_of("many");
	struct err err = {0};
	char name[32];
	AUTO_BUF path;
	assert_int_equal(fs_mkdirs(root, "wide", 0755, &err), 0);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "wide/%d", i);
		mem_close_fd(&(int){openat(root, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)});
	}
	assert_int_equal(fs_remove(root, "wide", true, &err), 0);
	buf_init(&path, 4000);
	for (int i = 0; i < 500; i++)
		buf_add_text(&path, "d/");
	buf_add_text(&path, "d");
	assert_int_equal(fs_mkdirs(root, buf_text(&path), 0755, &err), 0);
	assert_int_equal(fs_remove(root, "d", true, &err), -E_LIMIT);
	assert_int_equal(fs_remove(root, buf_text(&path) + 2 * 300, true, &err), 0);
}

TEST(remove_stops_at_another_file_system)
{
	AUTO_FD root = root_of("mounted");
	struct err err = {0};
	char path[128];
	assert_int_equal(fs_mkdirs(root, "t/m", 0755, &err), 0);
	snprintf(path, sizeof path, "%s/mounted/t/m", t_dir());
	if (!mount_small(path))
		skip(); /* a mount needs root */
	assert_int_equal(put(root, "t/m/precious", "x", &err), 0);
	int rc = fs_remove(root, "t", true, &err);
	int there = faccessat(root, "t/m/precious", F_OK, 0);
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_BUSY);
	assert_int_equal(there, 0);
	/* a bind mount of the same file system is no part of the tree either */
	assert_int_equal(fs_mkdirs(root, "other", 0755, &err), 0);
	assert_int_equal(put(root, "other/precious", "x", &err), 0);
	char other[128];
	snprintf(other, sizeof other, "%s/mounted/other", t_dir());
	assert_int_equal(mount(other, path, NULL, MS_BIND, NULL), 0);
	rc = fs_remove(root, "t", true, &err);
	there = faccessat(root, "other/precious", F_OK, 0);
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_BUSY);
	assert_int_equal(there, 0);
}

TEST(append_adds_to_the_end)
{
	AUTO_FD root = root_of("append");
	struct err err = {0};
	AUTO_FD fd = fs_open(root, "log", O_WRONLY | O_CREAT | O_APPEND, 0640, false, &err);
	struct stat st;
	assert_true(fd >= 0);
	assert_int_equal(fs_append(fd, STR_LIT("a\n"), false, &err), 0);
	assert_int_equal(fs_append(fd, STR_LIT("b\n"), true, &err), 0);
	assert_text(root, "log", "a\nb\n");
	assert_int_equal(fs_stat(root, "log", false, &st, &err), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	AUTO_FD closed = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_int_equal(fs_append(closed, STR_LIT("x"), false, &err), -E_NOSPACE);
	assert_int_equal(
		fs_open(root, "log", O_WRONLY | O_CREAT | O_EXCL, 0600, false, &err), -E_EXISTS);
}

/* Answers openat2 with ENOSYS from now on, as a kernel before 5.6 does. */
static bool forget_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {4, code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

/* Each line a fact about old kernels; the number of the first that fails. */
static int old_kernel_checks(int root)
{
	struct stat st;
	struct err err = {0};
	if (put(root, "/dir/f", "x", &err) || fs_stat(root, "dir/f", true, &st, &err))
		return 2;
	if (put(root, "in/f", "x", &err) == 0 ||
		fs_open(root, "in/f", O_RDONLY, 0, true, &err) >= 0)
		return 3; /* links below another root are refused */
	if (put(root, "../f", "x", &err) == 0 || fs_stat(root, "f/../../x", true, &st, &err) == 0)
		return 4;
	if (fs_mkdirs(root, "a/b/c", 0755, &err) || fs_stat(root, "/a/b/c/", false, &st, &err))
		return 5;
	if (fs_stat(root, "/", false, &st, &err) || !S_ISDIR(st.st_mode))
		return 6;
	if (fs_open(root, "nope", O_RDONLY, 0, true, &err) != -E_NOTFOUND)
		return 7;
	int real = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fs_stat(real, "/proc/self/cwd/.", true, &st, &err))
		return 8; /* below the real one they work */
	return 0;
}

TEST(old_kernels_are_served)
{
	AUTO_FD root = root_of("old");
	struct err err = {0};
	assert_int_equal(fs_mkdirs(root, "dir", 0755, &err), 0);
	assert_int_equal(symlinkat("dir", root, "in"), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(forget_openat2() ? old_kernel_checks(root) : 0);
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(WIFEXITED(status));
}

T_MAIN
