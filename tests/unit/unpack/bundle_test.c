/* bundle_test - reception, the store's order and its damage, plain folders. */
#include "agent/base/arena.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/run/bundle.h"
#include "tests/unit/t.h"
#include "tests/unit/unpack/pack.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/mount.h>

#define NOW INT64_C(1800000000)

static const struct packed files[] = {
	{.name = "base/files/motd", .body = "hello\n"},
	{.name = "base/recipe.yaml", .body = "name: base\n"},
	{.name = "big", .size = 200000},
};
#define N_FILES (sizeof files / sizeof *files)

/* A store, its key, and one packed bundle. */
struct world {
	struct arena *arena;
	struct bundle_store store;
	struct sign_key *key;
	struct manifest m;
	struct buf text, payload;
	char sig[SIGN_TEXT_MAX];
};

static void pack(struct world *w, int64_t serial)
{
	struct err err = {0};
	buf_clear(&w->text);
	pack_manifest(w->arena, files, N_FILES, &w->m);
	w->m.name = "demo";
	w->m.serial = serial;
	w->m.created = NOW - 10;
	w->m.expires = NOW + 1000;
	manifest_format(&w->m, &w->text);
	assert_int_equal(sign_make(w->key, buf_str(&w->text), w->sig, &err), 0);
}

static void world_init(struct world *w, const char *name)
{
	char path[128];
	struct err err = {0};
	*w = (struct world){.arena = arena_new()};
	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sign_key_make(&w->key, &err), 0);
	w->store = (struct bundle_store){open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), w->key};
	buf_init(&w->text, 1 << 20);
	buf_init(&w->payload, PACK_MAX);
	pack_make(files, N_FILES, 'z', &w->payload);
	pack(w, 1);
}

static void world_done(struct world *w)
{
	close(w->store.dirfd);
	sign_key_free(w->key);
	buf_done(&w->text);
	buf_done(&w->payload);
	arena_free(w->arena);
}

static int receive(struct world *w, struct str payload, struct err *err)
{
	struct bundle_in *in = NULL;
	int rc = bundle_in_begin(
		&w->store, buf_str(&w->text), str_of(w->sig), w->payload.n, NOW, &in, err);
	if (rc)
		return rc;
	for (; !rc && payload.n; payload = str_from(payload, payload.n < 1000 ? payload.n : 1000))
		rc = bundle_in_add(in, str_first(payload, 1000), err);
	if (rc) {
		bundle_in_cancel(in);
		return rc;
	}
	return bundle_in_finish(in, err);
}

static int count_entries(int dirfd)
{
	int n = 0;
	DIR *list = fdopendir(openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	for (struct dirent *e; (e = readdir(list)) != NULL;)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(list);
	return n;
}

TEST(bundle_comes_and_is_read)
{
	struct world w;
	struct bundle *b = NULL;
	struct err err = {0};
	const char *list[4];
	unsigned n = 9;
	char got[6];
	world_init(&w, "comes");
	assert_int_equal(bundle_list(&w.store, w.arena, list, 4, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), -E_NOTFOUND);
	if (receive(&w, buf_str(&w.payload), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(bundle_list(&w.store, w.arena, list, 4, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0], w.m.digest);
	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), 0);
	const struct manifest_file *f = bundle_find(b, "base/recipe.yaml");
	assert_non_null(f);
	assert_int_equal(f->size, 11);
	assert_null(bundle_find(b, "base/recipe"));
	AUTO_BUF text;
	buf_init(&text, 100);
	assert_int_equal(bundle_read(b, "base/recipe.yaml", &text, &err), 0);
	assert_string_equal(buf_text(&text), "name: base\n");
	assert_int_equal(bundle_read(b, "big", &text, &err), -E_LIMIT);
	assert_int_equal(bundle_read(b, "none", &text, &err), -E_NOTFOUND);
	AUTO_FD fd = bundle_open_file(b, "base/files/motd", &err);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, 6), 6);
	assert_memory_equal(got, "hello\n", 6);
	bundle_close(b);
	bundle_close(NULL);
	/* the same once more is no harm */
	assert_int_equal(receive(&w, buf_str(&w.payload), &err), 0);
	assert_int_equal(count_entries(w.store.dirfd), 1);
	world_done(&w);
}

/* After a damage: absent, and whole again when it came once more. */
static void assert_heals(struct world *w)
{
	struct bundle *b = NULL;
	struct err err = {0};
	assert_int_equal(bundle_open(&w->store, w->arena, w->m.digest, &b, &err), -E_NOTFOUND);
	assert_int_equal(receive(w, buf_str(&w->payload), &err), 0);
	assert_int_equal(bundle_open(&w->store, w->arena, w->m.digest, &b, &err), 0);
	for (size_t i = 0; i < N_FILES; i++) {
		AUTO_FD fd = bundle_open_file(b, files[i].name, &err);
		assert_true(fd >= 0);
	}
	bundle_close(b);
	assert_int_equal(count_entries(w->store.dirfd), 1);
}

static void overwrite(struct world *w, const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", w->m.digest, name);
	AUTO_FD fd = openat(w->store.dirfd, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

TEST(bundle_damage_is_seen_and_healed)
{
	struct world w;
	struct bundle *b = NULL;
	struct err err = {0};
	AUTO_BUF text;
	buf_init(&text, 1 << 20);
	world_init(&w, "damage");
	assert_int_equal(receive(&w, buf_str(&w.payload), &err), 0);

	overwrite(&w, "files/base/files/motd", "hellO\n");
	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), 0);
	assert_int_equal(bundle_open_file(b, "base/files/motd", &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "another SHA-256"));
	assert_int_equal(bundle_read(b, "base/files/motd", &text, &err), -E_VERIFY);
	bundle_close(b);
	assert_heals(&w);

	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), 0);
	overwrite(&w, "files/big", "short");
	assert_int_equal(bundle_open_file(b, "big", &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "not a file of 200000 bytes"));
	bundle_close(b);
	assert_heals(&w);

	char path[200];
	snprintf(path, sizeof path, "%s/files/base/recipe.yaml", w.m.digest);
	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), 0);
	assert_int_equal(fs_remove(w.store.dirfd, path, false, &err), 0);
	assert_int_equal(bundle_read(b, "base/recipe.yaml", &text, NULL), -E_VERIFY);
	bundle_close(b);
	assert_heals(&w);

	overwrite(&w, "manifest", "{}");
	assert_int_equal(bundle_open(&w.store, w.arena, w.m.digest, &b, &err), -E_VERIFY);
	assert_heals(&w);
	assert_int_equal(bundle_open(&w.store, w.arena, "../../etc", &b, &err), -E_NOTFOUND);
	world_done(&w);
}

TEST(bundle_reception_refuses_and_leaves_nothing)
{
	struct world w;
	struct err err = {0};
	struct bundle_in *in = NULL;
	world_init(&w, "refuses");
	struct str all = buf_str(&w.payload), text = buf_str(&w.text), sig = str_of(w.sig);

	assert_int_equal(receive(&w, str_first(all, all.n - 1), &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "ended after"));
	w.payload.p[all.n / 2] = (char)(w.payload.p[all.n / 2] ^ 1);
	assert_int_equal(receive(&w, all, &err), -E_VERIFY);
	w.payload.p[all.n / 2] = (char)(w.payload.p[all.n / 2] ^ 1);

	assert_int_equal(
		bundle_in_begin(&w.store, text, STR_LIT("AAAA"), all.n, NOW, &in, &err), -E_VERIFY);
	assert_int_equal(
		bundle_in_begin(&w.store, text, sig, all.n, NOW + 5000, &in, &err), -E_VERIFY);
	assert_int_equal(
		bundle_in_begin(&w.store, STR_LIT("{"), sig, all.n, NOW, &in, &err), -E_SYNTAX);
	assert_int_equal(
		bundle_in_begin(&w.store, text, sig, UINT64_C(1) << 40, NOW, &in, &err), -E_LIMIT);
	assert_null(in);

	assert_int_equal(bundle_in_begin(&w.store, text, sig, 10, NOW, &in, &err), 0);
	assert_int_equal(bundle_in_add(in, STR_LIT("12345678"), &err), 0);
	assert_int_equal(bundle_in_add(in, STR_LIT("901"), &err), -E_LIMIT);
	bundle_in_cancel(in);
	bundle_in_cancel(NULL);
	assert_int_equal(count_entries(w.store.dirfd), 0);
	world_done(&w);
}

TEST(bundle_store_keeps_the_newest)
{
	struct world w;
	struct err err = {0};
	const char *list[BUNDLE_KEEP + 4];
	char last[HASH_HEX], first[HASH_HEX];
	unsigned n = 0;
	world_init(&w, "keeps");
	memcpy(first, w.m.digest, HASH_HEX);
	for (int64_t i = 1; i <= BUNDLE_KEEP + 2; i++) {
		pack(&w, i);
		assert_int_equal(receive(&w, buf_str(&w.payload), &err), 0);
		memcpy(last, w.m.digest, HASH_HEX);
		clock_sleep(10 * CLOCK_MS); /* times of files are no finer than a tick */
	}
	assert_int_equal(bundle_list(&w.store, w.arena, list, BUNDLE_KEEP + 4, &n, &err), 0);
	assert_int_equal(n, BUNDLE_KEEP);
	assert_string_equal(list[0], last);
	for (unsigned i = 0; i < n; i++)
		assert_string_not_equal(list[i], first);
	assert_int_equal(bundle_list(&w.store, w.arena, list, 3, &n, &err), 0);
	assert_int_equal(n, 3);
	world_done(&w);
}

TEST(bundle_reception_sweeps_the_dead_only)
{
	struct world w;
	struct err err = {0};
	world_init(&w, "sweeps");
	assert_int_equal(fs_mkdirs(w.store.dirfd, ".in.00aa/files/x", 0700, &err), 0);
	assert_int_equal(fs_mkdirs(w.store.dirfd, ".in.00bb/files", 0700, &err), 0);
	AUTO_FD alive = openat(w.store.dirfd, ".in.00bb", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(alive, LOCK_EX), 0);
	assert_int_equal(receive(&w, buf_str(&w.payload), &err), 0);
	assert_int_not_equal(faccessat(w.store.dirfd, ".in.00aa", F_OK, 0), 0);
	assert_int_equal(faccessat(w.store.dirfd, ".in.00bb", F_OK, 0), 0);
	assert_int_equal(count_entries(w.store.dirfd), 2);
	world_done(&w);
}

TEST(bundle_needs_room)
{
	struct world w;
	struct err err = {0};
	char path[128];
	world_init(&w, "room");
	snprintf(path, sizeof path, "%s/room", t_dir());
	if (geteuid() || mount("none", path, "tmpfs", 0, "size=512k")) {
		world_done(&w);
		skip();
	}
	close(w.store.dirfd);
	w.store.dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = receive(&w, buf_str(&w.payload), &err);
	int n = count_entries(w.store.dirfd);
	world_done(&w);
	umount2(path, MNT_DETACH);
	assert_int_equal(rc, -E_NOSPACE);
	assert_non_null(strstr(err.msg, "MiB"));
	assert_int_equal(n, 0);
}

TEST(bundle_of_a_plain_folder)
{
	struct arena *a = arena_new();
	struct err err = {0};
	struct bundle *b = NULL;
	char path[128], want[HASH_HEX];
	AUTO_BUF text;
	buf_init(&text, 100);
	snprintf(path, sizeof path, "%s/plain", t_dir());
	AUTO_FD base = open(t_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_mkdirs(base, "plain/files/deep", 0755, &err), 0);
	assert_int_equal(fs_replace(base, "plain/recipe.yaml", STR_LIT("x"), 0644, FS_KEEP_ID,
				 (gid_t)FS_KEEP_ID, &err),
		0);
	assert_int_equal(fs_replace(base, "plain/files/deep/a", STR_LIT("abc"), 0755, FS_KEEP_ID,
				 (gid_t)FS_KEEP_ID, &err),
		0);
	assert_int_equal(symlinkat("/etc/passwd", base, "plain/out"), 0);
	assert_int_equal(bundle_open_dir(a, path, &b, &err), 0);
	const struct manifest_file *f = bundle_find(b, "files/deep/a");
	assert_non_null(f);
	hash_hex(STR_LIT("abc"), want);
	assert_string_equal(f->sha256, want);
	assert_int_equal(f->mode, 0755);
	assert_ptr_equal(bundle_find(b, "files/deep/a"), f);
	assert_null(bundle_find(b, "out"));
	assert_null(bundle_find(b, "files/deep"));
	assert_int_equal(bundle_read(b, "recipe.yaml", &text, &err), 0);
	assert_string_equal(buf_text(&text), "x");
	assert_int_equal(bundle_read(b, "out", &text, &err), -E_NOTFOUND);
	AUTO_FD fd = bundle_open_file(b, "files/deep/a", &err);
	assert_true(fd >= 0);
	bundle_close(b);
	assert_int_equal(bundle_open_dir(a, "/no/such/folder", &b, &err), -E_NOTFOUND);
	arena_free(a);
}

T_MAIN
