/* pack_file_test - a bundle as one file: written, read back, and refused when anything is amiss. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/pack_file.h"
#include "inventory/store/store.h"
#include "tests/unit/t.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

static struct arena *arena;
static struct keys keys;
static struct store *store;
static const char *path;

static const char *path_of(const char *rest)
{
	return arena_printf(arena, "%s/%s", t_dir(), rest);
}

static void put(const char *rest, const char *text)
{
	FILE *f = fopen(path_of(rest), "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void set_up(void)
{
	const char *db, *name;
	struct pack_recipe *list = NULL;
	unsigned n = 0;
	struct pack p = {0};
	struct err err = {0};

	if (arena)
		return;
	arena = arena_new();
	db = path_of("stoika.db");
	path = path_of("x.bundle");
	assert_int_equal(store_open(db, STORE_CREATE, &store, &err), 0);
	assert_int_equal(keys_make(db, &err), 0);
	assert_int_equal(keys_load(db, &keys, &err), 0);
	assert_int_equal(mkdir(path_of("alpha"), 0755), 0);
	assert_int_equal(mkdir(path_of("alpha/files"), 0755), 0);
	assert_int_equal(mkdir(path_of("beta"), 0755), 0);
	put("alpha/recipe.yaml", "recipe: alpha\nneeds: [beta]\nsteps:\n"
				 "  - file: {path: /etc/a, source: a}\n");
	put("alpha/files/a", "the text of a\n");
	put("beta/recipe.yaml", "recipe: beta\nsteps:\n  - file: {path: /etc/b, content: b}\n");
	name = path_of("alpha");
	assert_int_equal(pack_resolve(arena, &name, 1, &list, &n, &err), 0);
	assert_int_equal(pack_make(store, &keys, list, n, &p, &err), 0);
	assert_int_equal(pack_file_write(&p, path, &err), 0);
	pack_done(&p);
	for (unsigned i = 0; i < n; i++)
		recipe_done(list[i].recipe);
}

static int64_t now(void)
{
	return clock_wall() / CLOCK_SEC;
}

static struct bundle_verdict verify(const char *file, int64_t when, int64_t seen)
{
	struct pack_file b;
	struct bundle_verdict v;
	struct err err = {0};

	assert_int_equal(pack_file_read(arena, file, &b, &err), 0);
	pack_file_verify(&b, keys.sign, when, seen, &v);
	pack_file_done(&b);
	return v;
}

TEST(says_what_is_in_it)
{
	struct pack_file b;
	struct bundle_verdict v;

	set_up();
	assert_int_equal(pack_file_read(arena, path, &b, NULL), 0);
	assert_string_equal(b.m.name, "alpha,beta");
	assert_int_equal(b.m.n_files, 3);
	pack_file_done(&b);
	v = verify(path, now(), 0);
	assert_true(v.ok);
	assert_int_equal(v.n_good, 3);
	assert_int_equal(v.n_bad, 0);
}

TEST(refuses_by_key_time_and_serial)
{
	struct bundle_verdict v = (set_up(), verify(path, now() + 40 * 86400, 0));
	struct sign_key *mine = keys.sign, *other = NULL;

	assert_false(v.ok);
	assert_false(v.check[BUNDLE_EXPIRY].ok);
	assert_true(v.check[BUNDLE_SIGNATURE].ok);
	v = verify(path, now(), now() + 1000);
	assert_false(v.check[BUNDLE_SERIAL].ok);
	assert_non_null(strstr(v.check[BUNDLE_SERIAL].why, "older than"));
	assert_int_equal(sign_key_make(&other, NULL), 0);
	keys.sign = other;
	v = verify(path, now(), 0);
	keys.sign = mine;
	sign_key_free(other);
	assert_false(v.ok);
	assert_false(v.check[BUNDLE_SIGNATURE].ok);
	assert_true(v.check[BUNDLE_FILES].ok);
}

/* Whatever byte of its members is another one, it is refused; cut short, it is no bundle. */
TEST(refuses_changed_and_cut_files)
{
	AUTO_BUF whole = {0};
	AUTO_FD dir = -1;
	struct err err = {0};

	set_up();
	buf_init(&whole, 1u << 20);
	dir = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_read(dir, "x.bundle", &whole, &err), 0);
	for (size_t i = 512; i < whole.n; i += 37) {
		struct pack_file b;
		struct bundle_verdict v = {.ok = false};
		const char was = whole.p[i];

		whole.p[i] = (char)(was ^ 0x20);
		assert_int_equal(
			fs_replace(dir, "bad", buf_str(&whole), 0644, FS_KEEP_ID, FS_KEEP_ID, &err),
			0);
		if (pack_file_read(arena, path_of("bad"), &b, &err) < 0) {
			assert_true(err.code == E_VERIFY || err.code == E_UNSUPPORTED);
		} else {
			pack_file_verify(&b, keys.sign, now(), 0, &v);
			/* what only pads a member, or stands behind the last, changes nothing */
			if (v.ok)
				assert_true(was == '\0' || i % 512 > 0);
			pack_file_done(&b);
		}
		whole.p[i] = was;
	}
	for (size_t n = 0; n < 4096 && n < whole.n; n += 511) {
		struct pack_file b;

		assert_int_equal(fs_replace(dir, "cut", str_first(buf_str(&whole), n), 0644,
					 FS_KEEP_ID, FS_KEEP_ID, &err),
			0);
		assert_true(pack_file_read(arena, path_of("cut"), &b, &err) < 0);
		assert_true(err.hint[0] || err.code != E_VERIFY);
	}
}

TEST(unpacks_what_it_verified)
{
	struct pack_file b;
	AUTO_BUF text = {0};
	AUTO_FD dir = -1;
	struct err err = {0};

	set_up();
	buf_init(&text, 4096);
	assert_int_equal(mkdir(path_of("out"), 0700), 0);
	dir = open(path_of("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(pack_file_read(arena, path, &b, &err), 0);
	assert_int_equal(pack_file_unpack(&b, dir, &err), 0);
	assert_int_equal(fs_read(dir, "alpha/files/a", &text, &err), 0);
	assert_string_equal(buf_text(&text), "the text of a\n");
	/* never over what is there */
	assert_true(pack_file_unpack(&b, dir, &err) < 0);
	pack_file_done(&b);
}

/* A payload of nothing but a folder, over and over, is small and takes for ever. */
TEST(refuses_folders)
{
	static char bytes[65536];
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	struct pack_file b;
	struct bundle_verdict v;
	struct err err = {0};
	size_t n = 0;

	set_up();
	assert_int_equal(pack_file_read(arena, path, &b, &err), 0);
	assert_int_equal(archive_write_set_format_ustar(a), ARCHIVE_OK);
	assert_int_equal(archive_write_add_filter_zstd(a), ARCHIVE_OK);
	assert_int_equal(archive_write_open_memory(a, bytes, sizeof bytes, &n), ARCHIVE_OK);
	archive_entry_set_pathname(e, "folder");
	archive_entry_set_filetype(e, AE_IFDIR);
	archive_entry_set_perm(e, 0755);
	assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(e);
	archive_write_free(a);
	b.payload = (struct str){bytes, n};
	pack_file_verify(&b, keys.sign, now(), 0, &v);
	assert_non_null(strstr(v.check[BUNDLE_FILES].why, "'folder/', which is not due"));
	pack_file_done(&b);
}

TEST(is_no_bundle)
{
	struct pack_file b;
	struct err err = {0};

	set_up();
	assert_int_equal(pack_file_read(arena, path_of("nowhere"), &b, &err), -E_NOTFOUND);
	put("text", "hello\n");
	assert_int_equal(pack_file_read(arena, path_of("text"), &b, &err), -E_VERIFY);
	put("empty", "");
	assert_int_equal(pack_file_read(arena, path_of("empty"), &b, &err), -E_VERIFY);
}

TEST(z_clean_up)
{
	keys_done(&keys);
	store_close(store);
	arena_free(arena);
}

T_MAIN
