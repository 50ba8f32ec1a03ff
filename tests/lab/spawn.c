/* spawn: starts bare nodes, each an sshd in mount, pid, uts and ipc namespaces of its own.
 *	spawn LAYERS < list of "FOLDER NAME"
 * A node's root is an overlay of FOLDER/disk/up over FOLDER/own over LAYERS; its process 1 starts
 * sshd, reaps orphans and lives on when sshd ends, as a machine does. The pid goes to FOLDER/pid.
 * The network namespace is the caller's. Ends when every node has been set up; says why if one
 * could not be. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_CAP 4096

struct node {
	char folder[PATH_CAP];
	char name[64];
};

static _Noreturn void die(const char *what)
{
	dprintf(2, "spawn: %s: %s\n", what, strerror(errno));
	_exit(1);
}

__attribute__((format(printf, 2, 3))) static void format(char *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int n = vsnprintf(to, PATH_CAP, fmt, args);
	va_end(args);
	if (n < 0 || n >= PATH_CAP) {
		errno = ENAMETOOLONG;
		die("path");
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void mount_root(const struct node *node, const char *layers)
{
	static char root[PATH_CAP], options[PATH_CAP];

	format(root, "%s/root", node->folder);
	format(options, "lowerdir=%s/own:%s,upperdir=%s/disk/up,workdir=%s/disk/work", node->folder,
		layers, node->folder, node->folder);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("private mounts");
	if (mount("overlay", root, "overlay", 0, options))
		die(root);
	if (chdir(root))
		die(root);
}

static void make_devices(void)
{
	static const struct {
		const char *path;
		unsigned major, minor;
	} devices[] = {
		{"dev/null", 1, 3},
		{"dev/zero", 1, 5},
		{"dev/full", 1, 7},
		{"dev/random", 1, 8},
		{"dev/urandom", 1, 9},
		{"dev/tty", 5, 0},
	};
	static const struct {
		const char *target, *path;
	} links[] = {
		{"pts/ptmx", "dev/ptmx"},
		{"/proc/self/fd", "dev/fd"},
		{"/proc/self/fd/0", "dev/stdin"},
		{"/proc/self/fd/1", "dev/stdout"},
		{"/proc/self/fd/2", "dev/stderr"},
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (mknod(devices[i].path, S_IFCHR | 0666,
			    makedev(devices[i].major, devices[i].minor)))
			die(devices[i].path);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i].target, links[i].path))
			die(links[i].path);
	if (mkdir("dev/pts", 0755) || mkdir("dev/shm", 01777))
		die("dev");
	if (mount("devpts", "dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620,gid=5"))
		die("devpts");
}

/* Each start of a node is a boot of its own, though the kernel's id stays the same. */
static void fake_boot_id(void)
{
	static const char real[] = "proc/sys/kernel/random/boot_id";
	char id[64] = "";
	int fd = open("proc/sys/kernel/random/uuid", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, id, sizeof(id) - 1) <= 0)
		die("uuid");
	close(fd);
	write_file("run/.boot_id", id);
	if (mount("run/.boot_id", real, NULL, MS_BIND, NULL))
		die(real);
}

static void mount_kernel_trees(void)
{
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		die("proc");
	if (mount("sysfs", "sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		die("sys");
	if (mount("tmpfs", "run", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=755"))
		die("run");
	if (mount("tmpfs", "dev", "tmpfs", MS_NOSUID, "size=1m,mode=755"))
		die("dev");
	umask(0);
	make_devices();
	umask(022);
	if (mkdir("run/sshd", 0755) || mkdir("run/lock", 0755))
		die("run");
	fake_boot_id();
}

static void enter_root(void)
{
	if (syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH))
		die("pivot_root");
	if (chdir("/") || chroot("."))
		die("chroot");
}

static void close_all(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		die("/dev/null");
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (syscall(SYS_close_range, 3U, ~0U, 0U))
		die("close_range");
}

static void start_sshd(const sigset_t *mask)
{
	char *argv[] = {(char[]){"/usr/sbin/sshd"}, (char[]){"-D"}, NULL};
	char *env[] = {
		(char[]){"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		(char[]){"LANG=C.UTF-8"}, NULL};

	if (fork() == 0) {
		setsid();
		sigprocmask(SIG_SETMASK, mask, NULL);
		execve(argv[0], argv, env);
		_exit(127);
	}
}

static _Noreturn void run_node(const struct node *node, const char *layers)
{
	sigset_t child, before;

	mount_root(node, layers);
	mount_kernel_trees();
	if (sethostname(node->name, strlen(node->name)))
		die("hostname");
	enter_root();
	setsid();
	close_all(); /* the end of the error pipe is the word that all is well */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	start_sshd(&before);
	for (;;) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		sigwaitinfo(&child, NULL);
	}
}

/* Returns when the node has closed its end of the error pipe, with what it said before. */
static int start_node(const struct node *node, const char *layers)
{
	int ends[2];
	char said[512], path[PATH_CAP], text[32];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe");
	long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | SIGCHLD;
	pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	if (pid < 0)
		die("clone");
	if (pid == 0) {
		dup2(ends[1], 2);
		run_node(node, layers);
	}
	close(ends[1]);
	ssize_t n = read(ends[0], said, sizeof(said));
	close(ends[0]);
	if (n > 0) {
		dprintf(2, "node '%s': %.*s", node->name, (int)n, said);
		waitpid(pid, NULL, 0);
		return -1;
	}
	format(path, "%s/pid", node->folder);
	snprintf(text, sizeof(text), "%ld\n", (long)pid);
	write_file(path, text);
	return 0;
}

int main(int argc, char **argv)
{
	static struct node node;
	int failed = 0;

	if (argc != 2) {
		fputs("usage: spawn LAYERS < list of \"FOLDER NAME\"\n", stderr);
		return 2;
	}
	while (scanf("%4095s %63s", node.folder, node.name) == 2)
		if (start_node(&node, argv[1]))
			failed = 1;
	return failed;
}
