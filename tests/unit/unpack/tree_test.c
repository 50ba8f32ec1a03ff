/* tree_test - honest archives come out whole with links and times; hostile ones say why. */
#include "tests/unit/t.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/unpack/tree.h"
#include "agent/unpack/unpack_priv.h"
#include "tests/unit/unpack/pack.h"

#include <sys/mman.h>

static int target(void)
{
	static int number;
	char path[128];

	snprintf(path, sizeof path, "%s/tree%d", t_dir(), number++);
	assert_int_equal(mkdir(path, 0755), 0);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int archive_of(const struct packed *list, size_t n, char filter, char hex[static HASH_HEX])
{
	int fd = memfd_create("archive", MFD_CLOEXEC);
	AUTO_BUF bytes;

	buf_init(&bytes, PACK_MAX);
	pack_make(list, n, filter, &bytes);
	hash_hex(buf_str(&bytes), hex);
	assert_int_equal(fs_write_all(fd, buf_str(&bytes), NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int unpack(const struct packed *list, size_t n, char filter, int dir,
	const struct tree_policy *p, struct tree_result *r, struct err *err)
{
	char hex[HASH_HEX];
	AUTO_FD from = archive_of(list, n, filter, hex);
	const int rc = unpack_tree(from, dir, p, r, err);

	if (rc == 0)
		assert_string_equal(r->sha256, hex);
	return rc;
}

TEST(tree_comes_out_whole)
{
	static const struct packed list[] = {
		{.name = "top/", .type = AE_IFDIR, .mode = 0750},
		{.name = "top/a", .body = "alpha", .mode = 0755},
		{.name = "top/sub/big", .size = 3000001},
		{.name = "top/sub/empty", .body = ""},
		{.name = "top/sub/link", .type = AE_IFLNK, .link = "../a"},
		{.name = "top/other/second", .hard = "top/sub/big"},
		{.name = "top/a", .body = "again", .mode = 0600},
	};
	static const struct tree_policy policies[] = {{0}, {.strip = 1}};

	for (size_t i = 0; i < 6; i++) {
		const struct tree_policy *p = &policies[i / 3];
		const char *prefix = p->strip ? "" : "top/";
		struct tree_result r;
		struct err err = {0};
		struct stat st, other;
		char path[64], target_of[16] = "";
		AUTO_FD dir = target();

		if (unpack(list, 7, "\0zg"[i % 3], dir, p, &r, &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(r.files, 4);
		assert_int_equal(r.links, 2);
		snprintf(path, sizeof path, "%sa", prefix);
		assert_int_equal(fs_stat(dir, path, false, &st, &err), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(st.st_size, 5);
		snprintf(path, sizeof path, "%ssub/big", prefix);
		assert_int_equal(fs_stat(dir, path, false, &st, &err), 0);
		assert_int_equal(st.st_size, 3000001);
		snprintf(path, sizeof path, "%sother/second", prefix);
		assert_int_equal(fs_stat(dir, path, false, &other, &err), 0);
		assert_int_equal(st.st_size, other.st_size);
		snprintf(path, sizeof path, "%ssub/link", prefix);
		assert_int_equal(readlinkat(dir, path, target_of, sizeof target_of - 1), 4);
		assert_string_equal(target_of, "../a");
		if (!p->strip) {
			assert_int_equal(fs_stat(dir, "top", false, &st, &err), 0);
			assert_int_equal(st.st_mode & 07777, 0750);
		}
	}
}

TEST(tree_refuses_what_leads_out)
{
	static const struct {
		struct packed entries[2];
		const char *says;
	} cases[] = {
		{{{.name = "../x", .body = "x"}}, "no plain path"},
		{{{.name = "/etc/x", .body = "x"}}, "absolute path"},
		{{{.name = "a\nb", .body = "x"}}, "control character"},
		{{{.name = "l", .type = AE_IFLNK, .link = "/etc/shadow"}}, "leads out"},
		{{{.name = "d/l", .type = AE_IFLNK, .link = "../../x"}}, "leads out"},
		{{{.name = "h", .hard = "/etc/passwd"}}, "hard link out"},
		{{{.name = "h", .hard = "../x"}}, "hard link out"},
		{{{.name = "pipe", .type = AE_IFIFO}}, "special file"},
		{{{.name = "dev", .type = AE_IFCHR}}, "special file"},
		{{{.name = "l", .type = AE_IFLNK, .link = "d"}, {.name = "l/x", .body = "x"}},
			"something else before"},
		{{{.name = "l", .type = AE_IFLNK, .link = "d"}, {.name = "h", .hard = "l"}},
			"which is no file"},
		{{{.name = "f", .body = "x"}, {.name = "f/x", .body = "x"}},
			"something else before"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tree_policy p = {0};
		struct tree_result r;
		struct err err = {0};
		AUTO_FD dir = target();

		assert_int_equal(unpack(cases[i].entries, cases[i].entries[1].name ? 2 : 1, 'z',
					 dir, &p, &r, &err),
			-E_VERIFY);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%zu: %s, expected '%s'", i, err.msg, cases[i].says);
	}
}

TEST(tree_drops_set_uid_bits_but_for_an_image)
{
	static const struct packed list[] = {
		{.name = "su", .body = "x", .mode = 04755},
		{.name = "abs", .type = AE_IFLNK, .link = "/usr/bin/x"},
	};
	struct tree_policy p = {0};
	struct tree_result r;
	struct err err = {0};
	struct stat st;
	AUTO_FD plain = target();
	AUTO_FD image = target();

	assert_int_equal(unpack(list, 1, 'z', plain, &p, &r, &err), 0);
	assert_int_equal(fs_stat(plain, "su", false, &st, &err), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	p.image = true;
	if (unpack(list, 2, 'z', image, &p, &r, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(fs_stat(image, "su", false, &st, &err), 0);
	assert_int_equal(st.st_mode & 07777, 04755);
}

TEST(tree_keeps_its_limits)
{
	static const struct packed list[] = {
		{.name = "a", .size = 100000}, {.name = "b", .size = 100000}};
	struct tree_result r;
	struct err err = {0};
	AUTO_FD dir = target();
	AUTO_FD other = target();

	assert_int_equal(
		unpack(list, 2, 'z', dir, &(struct tree_policy){.bytes = 150000}, &r, &err),
		-E_LIMIT);
	assert_int_equal(unpack(list, 2, 'z', other, &(struct tree_policy){.entries = 1}, &r, &err),
		-E_LIMIT);
	assert_non_null(strstr(err.msg, "more than 1 entries"));
}

TEST(tree_refuses_what_is_cut_or_damaged)
{
	static const struct packed list[] = {{.name = "a", .size = 3000000}};
	char hex[HASH_HEX];

	for (int i = 0; i < 4; i++) {
		const struct tree_policy p = {0};
		struct tree_result r;
		struct err err = {0};
		struct stat st;
		AUTO_FD from = archive_of(list, 1, i & 1 ? 'z' : '\0', hex);
		AUTO_FD dir = target();

		assert_int_equal(fstat(from, &st), 0);
		if (i < 2)
			assert_int_equal(ftruncate(from, st.st_size / 2), 0);
		else
			assert_int_equal(pwrite(from, "\xff\xff\xff\xff", 4, i == 2 ? 150 : 20), 4);
		assert_int_equal(unpack_tree(from, dir, &p, &r, &err), -E_VERIFY);
		assert_true(err.msg[0]);
	}
}

TEST(tree_tells_a_full_disk)
{
	/* the child's own file size limit stands in for it: no file may be larger than the cap */
	static const struct packed list[] = {{.name = "a", .size = 5000000}};
	struct tree_result r;
	struct err err = {0};
	AUTO_FD dir = target();

	assert_int_equal(
		unpack(list, 1, 'z', dir, &(struct tree_policy){.bytes = 4000000}, &r, &err),
		-E_LIMIT);
}

TEST(peek_sees_small_json_only)
{
	static const struct packed list[] = {
		{.name = "index.json", .body = "{\"a\":1}"},
		{.name = "blobs/big", .size = 2000000},
		{.name = "text", .body = "hello"},
		{.name = "manifest.json", .body = "[1]"},
	};
	char hex[HASH_HEX];
	struct err err = {0};
	AUTO_BUF out;

	buf_init(&out, 1u << 20);
	AUTO_FD from = archive_of(list, 4, 'z', hex);
	if (unpack_peek(from, &out, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(out.n, 11 + 9 + 7 + 14 + 9 + 3);
	assert_memory_equal(out.p,
		"index.json\0"
		"00000007\0{\"a\":1}manifest.json\0"
		"00000003\0[1]",
		out.n);
}

TEST(link_judgement)
{
	static const struct {
		const char *name, *target;
		bool stays;
	} cases[] = {
		{"a", "b", true},
		{"a", "./b/../c", true},
		{"a", "../b", false},
		{"d/a", "../b", true},
		{"d/a", "../../b", false},
		{"d/a", "x/../../../b", false},
		{"d/e/a", "../../b", true},
		{"a", "/b", false},
		{"a", "", false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(
			archive_link_stays(cases[i].name, cases[i].target), cases[i].stays);
}

T_MAIN
