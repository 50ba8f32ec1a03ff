/* unpack_test - honest archives come out whole; hostile ones leave nothing outside and say why. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/unpack/unpack.h"
#include "tests/unit/t.h"
#include "tests/unit/unpack/pack.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct packed honest[] = {
	{.name = "a.txt", .body = "alpha"},
	{.name = "files/empty", .body = ""},
	{.name = "files/gr\xc3\xbc\xc3\x9f", .body = "umlaut"},
	{.name = "recipe.yaml", .body = "name: x\n", .mode = 0755},
	{.name = "sub/deep/er/big", .size = 300000},
};
#define N_HONEST (sizeof honest / sizeof *honest)

static int target(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	assert_int_equal(mkdir(path, 0755), 0);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* In pieces of the given size through the child. */
static int feed(
	int dirfd, const struct manifest *m, struct str bytes, size_t piece, struct err *err)
{
	struct unpack *u = NULL;
	int rc = unpack_start(dirfd, m, &u, err);
	while (!rc && bytes.n) {
		rc = unpack_add(u, str_first(bytes, piece), err);
		bytes = str_from(bytes, bytes.n < piece ? bytes.n : piece);
	}
	if (rc) {
		unpack_cancel(u);
		return rc;
	}
	return unpack_finish(u, err);
}

static void assert_honest(int dirfd)
{
	for (size_t i = 0; i < N_HONEST; i++) {
		char want[HASH_HEX], got[HASH_HEX];
		struct err err = {0};
		struct stat st;
		AUTO_FD fd = fs_open(dirfd, honest[i].name, O_RDONLY, 0, false, &err);
		assert_true(fd >= 0);
		assert_int_equal(hash_fd(fd, got, &err), 0);
		pack_hash(&honest[i], want);
		assert_string_equal(got, want);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, honest[i].mode ? honest[i].mode : 0644);
	}
}

TEST(unpack_takes_each_filter_in_any_pieces)
{
	static const size_t pieces[] = {1, 511, 4096, PACK_MAX};
	struct arena *a = arena_new();
	struct manifest m;
	pack_manifest(a, honest, N_HONEST, &m);
	for (size_t i = 0; i < 12; i++) {
		char name[16];
		struct err err = {0};
		AUTO_BUF bytes;
		buf_init(&bytes, PACK_MAX);
		pack_make(honest, N_HONEST, "\0zg"[i % 3], &bytes);
		snprintf(name, sizeof name, "honest%zu", i);
		AUTO_FD dir = target(name);
		if (feed(dir, &m, buf_str(&bytes), i % 3 ? pieces[i / 3] : 4096, &err))
			fail_msg("%s", err.msg);
		assert_honest(dir);
	}
	arena_free(a);
}

TEST(unpack_reads_from_a_file)
{
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	AUTO_BUF bytes;
	buf_init(&bytes, PACK_MAX);
	pack_manifest(a, honest, N_HONEST, &m);
	pack_make(honest, N_HONEST, 'z', &bytes);
	AUTO_FD base = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(base, "p.tar.zst", buf_str(&bytes), 0600, FS_KEEP_ID,
				 (gid_t)FS_KEEP_ID, &err),
		0);
	AUTO_FD from = openat(base, "p.tar.zst", O_RDONLY | O_CLOEXEC);
	AUTO_FD dir = target("from_file");
	assert_int_equal(unpack_files(from, dir, &m, &err), 0);
	assert_honest(dir);
	/* a second time into the same folder: nothing is overwritten */
	lseek(from, 0, SEEK_SET);
	assert_int_equal(unpack_files(from, dir, &m, &err), -E_EXISTS);
	arena_free(a);
}

TEST(unpack_of_nothing)
{
	struct manifest m = {0};
	struct err err = {0};
	AUTO_BUF bytes;
	buf_init(&bytes, PACK_MAX);
	pack_make(NULL, 0, 'z', &bytes);
	AUTO_FD dir = target("nothing");
	assert_int_equal(feed(dir, &m, buf_str(&bytes), 100, &err), 0);
}

TEST(unpack_lets_folders_on_the_way_by)
{
	static const struct packed list[] = {
		{.name = "sub/", .type = AE_IFDIR, .mode = 0700},
		{.name = "sub/deep", .type = AE_IFDIR, .mode = 0755},
		{.name = "sub/deep/f", .body = "x"},
	};
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	AUTO_BUF bytes;
	buf_init(&bytes, PACK_MAX);
	pack_manifest(a, list + 2, 1, &m);
	pack_make(list, 3, 'z', &bytes);
	AUTO_FD dir = target("folders");
	assert_int_equal(feed(dir, &m, buf_str(&bytes), 100, &err), 0);
	assert_int_equal(faccessat(dir, "sub/deep/f", F_OK, 0), 0);
	arena_free(a);
}

/* The manifest expects "f" = "body"; what stands before it in the archive is hostile. */
static const struct {
	struct packed entry;
	const char *says;
} hostile[] = {
	{{.name = "../escape", .body = "x"}, "is no plain path"},
	{{.name = "a/../../escape", .body = "x"}, "is no plain path"},
	{{.name = "./f", .body = "body"}, "is no plain path"},
	{{.name = "a//f", .body = "body"}, "is no plain path"},
	{{.name = "/tmp/stoika-escape", .body = "x"}, "is an absolute path"},
	{{.name = "new\nline", .body = "x"}, "has a control character"},
	{{.name = "esc\033[2J", .body = "x"}, "has a control character"},
	{{.name = "f", .type = AE_IFLNK, .link = "/etc/shadow"}, "is a link"},
	{{.name = "f", .type = AE_IFLNK, .link = "other"}, "is a link"},
	{{.name = "f", .hard = "/etc/shadow"}, "is a link"},
	{{.name = "f", .type = AE_IFCHR}, "is a special file"},
	{{.name = "f", .type = AE_IFBLK}, "is a special file"},
	{{.name = "f", .type = AE_IFIFO}, "is a special file"},
	{{.name = "f", .body = "body", .mode = 04755}, "has a set-uid"},
	{{.name = "f", .body = "body", .mode = 02755}, "has a set-uid"},
	{{.name = "other", .body = "x"}, "is not in the manifest"},
	{{.name = "other", .type = AE_IFDIR}, "is not in the manifest"},
	{{.name = "f/", .type = AE_IFDIR}, "is not in the manifest"},
	{{.name = "f", .body = "bodybody"}, "has not the size"},
	{{.name = "f", .body = "bod"}, "has not the size"},
	{{.name = "f", .body = "BODY"}, "has not the SHA-256"},
	{{.name = "z", .body = "last"}, "is not in the manifest's order"},
};

TEST(unpack_refuses_hostile_entries)
{
	static const struct packed good[] = {
		{.name = "f", .body = "body"}, {.name = "z", .body = "last"}};
	struct arena *a = arena_new();
	struct manifest m;
	pack_manifest(a, good, 2, &m);
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		struct packed list[] = {hostile[i].entry, good[0], good[1]};
		char name[16];
		struct err err = {0};
		AUTO_BUF bytes;
		buf_init(&bytes, PACK_MAX);
		pack_make(list, 3, 'z', &bytes);
		snprintf(name, sizeof name, "hostile%zu", i);
		AUTO_FD dir = target(name);
		assert_int_equal(feed(dir, &m, buf_str(&bytes), 4096, &err), -E_VERIFY);
		if (!strstr(err.msg, hostile[i].says))
			fail_msg("'%s' should say '%s'", err.msg, hostile[i].says);
		assert_null(strchr(err.msg, 033));
		assert_null(strchr(err.msg, '\n'));
		assert_int_not_equal(access("/tmp/stoika-escape", F_OK), 0);
		AUTO_FD base = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_not_equal(faccessat(base, "escape", F_OK, AT_SYMLINK_NOFOLLOW), 0);
	}
	arena_free(a);
}

TEST(unpack_wants_all_files_once)
{
	static const struct packed good[] = {
		{.name = "f", .body = "body"}, {.name = "z", .body = "last"}};
	const struct packed twice[] = {good[0], good[0], good[1]};
	const struct packed more[] = {good[0], good[1], {.name = "zz", .body = "x"}};
	const struct packed again[] = {good[0], good[1], good[1]};
	const struct {
		const struct packed *list;
		size_t n;
		const char *says;
	} rows[] = {
		{good, 0, "ends before 'f', 0 of 2"},
		{good, 1, "ends before 'z', 1 of 2"},
		{twice, 3, "is not in the manifest's order"},
		{more, 3, "is not in the manifest"},
		{again, 3, "comes twice"},
	};
	struct arena *a = arena_new();
	struct manifest m;
	pack_manifest(a, good, 2, &m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[16];
		struct err err = {0};
		AUTO_BUF bytes;
		buf_init(&bytes, PACK_MAX);
		pack_make(rows[i].list, rows[i].n, 'g', &bytes);
		snprintf(name, sizeof name, "all%zu", i);
		AUTO_FD dir = target(name);
		assert_int_equal(feed(dir, &m, buf_str(&bytes), 4096, &err), -E_VERIFY);
		assert_non_null(strstr(err.msg, rows[i].says));
	}
	arena_free(a);
}

TEST(unpack_refuses_every_truncation_and_damage)
{
	struct arena *a = arena_new();
	struct manifest m;
	AUTO_BUF bytes;
	buf_init(&bytes, PACK_MAX);
	pack_manifest(a, honest, N_HONEST, &m);
	pack_make(honest, N_HONEST, 'z', &bytes);
	size_t step = bytes.n / 40 + 1;
	for (size_t cut = 0, i = 0; cut < bytes.n - 8; cut += step, i++) {
		char name[24];
		struct err err = {0};
		snprintf(name, sizeof name, "cut%zu", i);
		AUTO_FD dir = target(name);
		struct str part = str_first(buf_str(&bytes), cut);
		assert_int_equal(feed(dir, &m, part, 4096, &err), -E_VERIFY);
		assert_true(err.msg[0]);
		snprintf(name, sizeof name, "bent%zu", i);
		AUTO_FD other = target(name);
		bytes.p[cut] = (char)(bytes.p[cut] ^ 0x55);
		/* a bit that nothing depends on may pass; then all must be right */
		if (feed(other, &m, buf_str(&bytes), 4096, &err) == 0)
			assert_honest(other);
		bytes.p[cut] = (char)(bytes.p[cut] ^ 0x55);
	}
	arena_free(a);
}

TEST(unpack_is_no_bomb)
{
	static const struct packed good[] = {{.name = "f", .body = "body"}};
	static const struct packed bomb[] = {{.name = "f", .size = UINT64_C(2) << 30}};
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	struct rusage use;
	AUTO_BUF bytes;
	buf_init(&bytes, PACK_MAX);
	pack_manifest(a, good, 1, &m);
	pack_make(bomb, 1, 'z', &bytes);
	assert_true(bytes.n < (1u << 20));
	AUTO_FD dir = target("bomb");
	assert_int_equal(feed(dir, &m, buf_str(&bytes), 4096, &err), -E_VERIFY);
	getrusage(RUSAGE_CHILDREN, &use);
	assert_true(use.ru_utime.tv_sec < 5);
	AUTO_STR junk = xcalloc(1, 100000);
	AUTO_FD other = target("zeros");
	assert_int_equal(feed(other, &m, (struct str){junk, 100000}, 4096, &err), -E_VERIFY);
	memset(junk, 'J', 100000);
	AUTO_FD third = target("junk");
	assert_int_equal(feed(third, &m, (struct str){junk, 100000}, 4096, &err), -E_VERIFY);
	arena_free(a);
}

TEST(unpack_refuses_foreign_formats)
{
	static const char zip[] =
		"PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0fbody";
	static const char ar[] =
		"!<arch>\nf               0           0     0     644     4         `\n";
	const struct packed good = {.name = "f", .body = "body"};
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	pack_manifest(a, &good, 1, &m);
	AUTO_FD dir = target("foreign");
	assert_int_equal(feed(dir, &m, (struct str){zip, sizeof zip - 1}, 99, &err), -E_VERIFY);
	assert_int_equal(feed(dir, &m, (struct str){ar, sizeof ar - 1}, 99, &err), -E_VERIFY);
	arena_free(a);
}

TEST(unpack_can_be_cancelled)
{
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	struct unpack *u = NULL;
	pack_manifest(a, honest, N_HONEST, &m);
	AUTO_FD dir = target("cancel");
	assert_int_equal(unpack_start(dir, &m, &u, &err), 0);
	assert_int_equal(unpack_add(u, STR_LIT("half"), &err), 0);
	unpack_cancel(u);
	unpack_cancel(NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie stays */
	arena_free(a);
}

T_MAIN
