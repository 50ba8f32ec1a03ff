/* pack_test - finding, ordering and packing recipes; the payload is read back with libarchive. */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack.h"
#include "inventory/store/order.h"
#include "tests/unit/t.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

static struct arena *arena;
static struct keys keys;
static struct store *store;
static char db[200];

static char *path_of(const char *rest)
{
	return arena_printf(arena, "%s/%s", t_dir(), rest);
}

static void put(const char *rest, const char *text, mode_t mode)
{
	char *path = path_of(rest);
	int fd;

	for (char *p = path + strlen(t_dir()) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		(void)mkdir(path, 0755);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(chmod(path, mode), 0);
}

static void put_recipe(const char *place, const char *name, const char *needs)
{
	put(arena_printf(arena, "%s/%s/recipe.yaml", place, name),
		arena_printf(arena,
			"recipe: %s\nabout: a test\n%s%s%ssteps:\n  - file: {path: /etc/%s, "
			"content: x}\n",
			name, needs ? "needs: [" : "", needs ? needs : "", needs ? "]\n" : "",
			name),
		0644);
}

static void set_up(void)
{
	struct err err = {0};

	if (arena)
		return;
	arena = arena_new();
	snprintf(db, sizeof db, "%s/stoika.db", t_dir());
	assert_int_equal(store_open(db, STORE_CREATE, &store, &err), 0);
	assert_int_equal(keys_make(db, &err), 0);
	assert_int_equal(keys_load(db, &keys, &err), 0);
	put_recipe("recipes", "alpha", NULL);
	put_recipe("recipes", "beta", "alpha");
	put_recipe("recipes", "gamma", "beta, alpha");
	put_recipe("recipes", "loop-a", "loop-b");
	put_recipe("recipes", "loop-b", "loop-c");
	put_recipe("recipes", "loop-c", "loop-b");
	put_recipe("recipes", "self", "self");
	put_recipe("recipes", "orphan", "nowhere");
	put_recipe("other", "alpha", NULL);
	put_recipe("other", "delta", "epsilon");
	put_recipe("other", "epsilon", NULL);
	put("recipes/alpha/files/conf", "plain\n", 0644);
	put("recipes/alpha/files/bin/tool", "#!/bin/sh\n", 0775);
	put("recipes/alpha/templates/t.j2", "x\n", 0600);
	put("recipes/alpha/README.md", "not packed\n", 0644);
	setenv("STOIKA_RECIPES", path_of("recipes"), 1);
}

static void drop(struct pack_recipe *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		recipe_done(list[i].recipe);
}

TEST(finds_recipes)
{
	const char *dir;
	struct err err = {0};

	set_up();
	assert_int_equal(pack_find_recipe(arena, "alpha", &dir, &err), 0);
	assert_string_equal(dir, path_of("recipes/alpha"));
	assert_int_equal(pack_find_recipe(arena, path_of("other/delta/"), &dir, &err), 0);
	assert_int_equal(pack_find_recipe(arena, "alhpa", &dir, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "'alpha'"));
	assert_int_equal(pack_find_recipe(arena, "./nothing", &dir, &err), -E_NOTFOUND);
	assert_int_equal(pack_find_recipe(arena, "a b", &dir, &err), -E_SYNTAX);
	assert_int_equal(pack_find_recipe(arena, "..", &dir, &err), -E_SYNTAX);
	assert_int_equal(pack_find_recipe(arena, "", &dir, &err), -E_SYNTAX);
}

static const struct {
	const char *names[4];
	const char *want; /* '*' marks what was asked; NULL: code */
	enum ec code;
	const char *says;
} ORDERS[] = {
	{{"alpha"}, "alpha*", 0, NULL},
	{{"beta"}, "alpha beta*", 0, NULL},
	{{"gamma"}, "alpha beta gamma*", 0, NULL},
	{{"gamma", "alpha"}, "alpha* beta gamma*", 0, NULL},
	{{"alpha", "alpha"}, "alpha*", 0, NULL},
	{{"loop-a"}, NULL, E_CONFLICT, "loop-b -> loop-c -> loop-b"},
	{{"self"}, NULL, E_CONFLICT, "needs itself"},
	{{"alpha", "orphan"}, NULL, E_NOTFOUND, "recipe 'orphan' needs 'nowhere'"},
	{{"nope"}, NULL, E_NOTFOUND, "'nope'"},
};

TEST(puts_needs_first)
{
	set_up();
	for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++) {
		struct pack_recipe *list = NULL;
		unsigned n = 0, asked = 0;
		AUTO_BUF got = {0};
		struct err err = {0};
		int rc;

		buf_init(&got, 4096);
		while (asked < 4 && ORDERS[i].names[asked])
			asked++;
		rc = pack_resolve(arena, ORDERS[i].names, asked, &list, &n, &err);
		assert_int_equal(rc, -(int)ORDERS[i].code);
		if (rc < 0) {
			if (!strstr(err.msg, ORDERS[i].says))
				print_error("%s\n", err.msg);
			assert_non_null(strstr(err.msg, ORDERS[i].says));
			continue;
		}
		for (unsigned k = 0; k < n; k++)
			buf_addf(&got, "%s%s%s", k ? " " : "", list[k].name,
				list[k].asked ? "*" : "");
		assert_string_equal(buf_text(&got), ORDERS[i].want);
		drop(list, n);
	}
}

TEST(needs_are_looked_for_beside)
{
	const char *names[2];
	struct pack_recipe *list = NULL;
	unsigned n = 0;
	struct err err = {0};

	set_up();
	names[0] = path_of("other/delta");
	assert_int_equal(pack_resolve(arena, names, 1, &list, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].name, "epsilon");
	drop(list, n);
	names[0] = "alpha";
	names[1] = path_of("other/alpha");
	assert_int_equal(pack_resolve(arena, names, 2, &list, &n, &err), -E_CONFLICT);
}

static void make(const char *name, struct pack *p)
{
	struct pack_recipe *list = NULL;
	unsigned n = 0;
	struct err err = {0};
	int rc;

	assert_int_equal(pack_resolve(arena, &name, 1, &list, &n, &err), 0);
	rc = pack_make(store, &keys, list, n, p, &err);
	if (rc < 0)
		print_error("%s\n", err.msg);
	assert_int_equal(rc, 0);
	drop(list, n);
}

/* "path mode size" of each entry of the payload. */
static void read_payload(const struct pack *p, struct buf *out)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;

	archive_read_support_format_tar(a);
	archive_read_support_filter_zstd(a);
	assert_int_equal(archive_read_open_memory(a, p->payload.p, p->payload.n), ARCHIVE_OK);
	while (archive_read_next_header(a, &e) == ARCHIVE_OK) {
		assert_int_equal(archive_entry_filetype(e), AE_IFREG);
		assert_int_equal(archive_entry_mtime(e), 0);
		assert_int_equal(archive_entry_uid(e), 0);
		buf_addf(out, "%s %o %d\n", archive_entry_pathname(e),
			(unsigned)archive_entry_perm(e), (int)archive_entry_size(e));
	}
	archive_read_free(a);
}

TEST(packs_what_a_recipe_is)
{
	struct pack p = {0};
	struct manifest m = {0};
	struct err err = {0};
	AUTO_BUF got = {0};
	int64_t now = clock_wall() / CLOCK_SEC;

	set_up();
	buf_init(&got, 65536);
	make("beta", &p);
	assert_int_equal(manifest_parse(arena, p.manifest, &m, &err), 0);
	assert_int_equal(manifest_check(p.manifest, p.sig, keys.sign, now, &m, &err), 0);
	assert_string_equal(m.digest, p.digest);
	assert_int_equal(m.expires - m.created, PACK_LIFE_DAYS * 86400);
	assert_int_equal(m.n_files, 5);
	read_payload(&p, &got);
	for (unsigned i = 0; i < m.n_files; i++)
		assert_non_null(
			strstr(buf_text(&got), arena_printf(arena, "%s %o %d\n", m.files[i].path,
						       m.files[i].mode, (int)m.files[i].size)));
	assert_non_null(strstr(buf_text(&got), "alpha/files/bin/tool 755 10\n"));
	assert_non_null(strstr(buf_text(&got), "alpha/templates/t.j2 644 2\n"));
	assert_null(strstr(buf_text(&got), "README"));
	pack_done(&p);
	pack_done(NULL);
}

TEST(same_content_same_bundle)
{
	struct pack a = {0}, b = {0}, c = {0};
	struct manifest ma = {0}, mc = {0};
	struct err err = {0};

	set_up();
	make("gamma", &a);
	make("gamma", &b);
	assert_string_equal(a.digest, b.digest);
	assert_int_equal(a.payload.n, b.payload.n);
	put("recipes/gamma/files/new", "1\n", 0644);
	make("gamma", &c);
	assert_string_not_equal(a.digest, c.digest);
	assert_int_equal(manifest_parse(arena, a.manifest, &ma, &err), 0);
	assert_int_equal(manifest_parse(arena, c.manifest, &mc, &err), 0);
	assert_true(mc.serial > ma.serial);
	pack_done(&a);
	pack_done(&b);
	pack_done(&c);
}

static char *payload_path(const struct pack *p)
{
	struct manifest m = {0};

	assert_int_equal(manifest_parse(arena, p->manifest, &m, NULL), 0);
	return path_of(arena_printf(arena, "bundles/%s", m.content));
}

/* The same files packed twice give the same payload, whenever and with whatever umask. */
TEST(payload_is_reproducible)
{
	struct pack a = {0}, b = {0};
	struct err err = {0};
	AUTO_STR first = NULL;
	size_t n;
	mode_t old;

	set_up();
	make("beta", &a);
	n = a.payload.n;
	first = xmalloc(n);
	memcpy(first, a.payload.p, n);
	AUTO_FD root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_remove(root, payload_path(&a), true, &err), 0);
	pack_done(&a);
	old = umask(0077);
	put("recipes/alpha/files/conf", "plain\n", 0600);
	make("beta", &b);
	umask(old);
	assert_int_equal(b.payload.n, n);
	assert_memory_equal(b.payload.p, first, n);
	pack_done(&b);
}

TEST(a_touched_bundle_is_packed_anew)
{
	static const char *const files[] = {"manifest", "manifest.sig", "payload.tar.zst"};

	set_up();
	for (size_t i = 0; i < 3; i++) {
		struct pack a = {0}, b = {0};
		char digest[HASH_HEX];
		char *path;

		make("alpha", &a);
		snprintf(digest, sizeof digest, "%s", a.digest);
		path = arena_printf(arena, "%s/%s", payload_path(&a), files[i]);
		pack_done(&a);
		assert_int_equal(truncate(path, 0), 0);
		make("alpha", &b);
		assert_string_not_equal(b.digest, digest); /* another serial */
		assert_true(b.payload.n > 0);
		pack_done(&b);
	}
}

TEST(another_key_signs_anew)
{
	struct pack a = {0}, b = {0};
	struct sign_key *mine = NULL, *other = NULL;
	struct manifest m = {0};
	struct err err = {0};

	set_up();
	mine = keys.sign;
	make("alpha", &a);
	assert_int_equal(sign_key_make(&other, &err), 0);
	keys.sign = other;
	make("alpha", &b);
	assert_int_equal(manifest_parse(arena, b.manifest, &m, &err), 0);
	assert_int_equal(manifest_check(b.manifest, b.sig, other, m.created, &m, &err), 0);
	keys.sign = mine;
	sign_key_free(other);
	pack_done(&a);
	pack_done(&b);
}

static void refused(const char *name, enum ec code, const char *says)
{
	struct pack_recipe *list = NULL;
	struct pack p = {0};
	unsigned n = 0;
	struct err err = {0};

	assert_int_equal(pack_resolve(arena, &name, 1, &list, &n, &err), 0);
	assert_int_equal(pack_make(store, &keys, list, n, &p, &err), -(int)code);
	assert_non_null(strstr(err.msg, says));
	assert_null(p.priv);
	assert_int_equal(access(path_of("bundles/.making"), F_OK), -1);
	drop(list, n);
}

TEST(refuses_links_and_devices)
{
	set_up();
	put_recipe("recipes", "linked", NULL);
	put("recipes/linked/files/a", "x", 0644);
	assert_int_equal(symlink("/etc/shadow", path_of("recipes/linked/files/b")), 0);
	refused("linked", E_UNSUPPORTED, "linked/files/b");
	assert_int_equal(unlink(path_of("recipes/linked/files/b")), 0);
	assert_int_equal(mkfifo(path_of("recipes/linked/files/p"), 0644), 0);
	refused("linked", E_UNSUPPORTED, "pipe");
	assert_int_equal(unlink(path_of("recipes/linked/files/p")), 0);
	assert_int_equal(symlink(path_of("other"), path_of("recipes/linked/templates")), 0);
	refused("linked", E_UNSUPPORTED, "symbolic link");
	assert_int_equal(unlink(path_of("recipes/linked/templates")), 0);
	put("recipes/linked/files/a\nb", "x", 0644);
	refused("linked", E_SCHEMA, "plain relative path");
}

static int64_t serial_of(const struct pack *p)
{
	struct manifest m = {0};

	assert_int_equal(manifest_parse(arena, p->manifest, &m, NULL), 0);
	return m.serial;
}

/* Nodes refuse what is older than they have seen, so what was before comes under a new number. */
TEST(going_back_is_a_new_serial)
{
	struct pack a = {0}, b = {0}, c = {0};

	set_up();
	put_recipe("recipes", "back", NULL);
	put("recipes/back/files/x", "1\n", 0644);
	make("back", &a);
	put("recipes/back/files/x", "2\n", 0644);
	make("back", &b);
	put("recipes/back/files/x", "1\n", 0644);
	make("back", &c);
	assert_true(serial_of(&b) > serial_of(&a));
	assert_true(serial_of(&c) > serial_of(&b));
	assert_string_not_equal(a.digest, c.digest);
	pack_done(&a);
	pack_done(&b);
	pack_done(&c);
}

/* A database of yesterday, or one whose clock ran ahead, still gives numbers that grow. */
TEST(serials_follow_the_clock_and_the_last_one)
{
	const int64_t now = clock_wall() / CLOCK_SEC;
	struct pack p = {0};
	struct err err = {0};

	set_up();
	put_recipe("recipes", "ahead", NULL);
	make("ahead", &p);
	assert_true(serial_of(&p) >= now);
	pack_done(&p);
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(
		store_serial_put(store, "ahead", sign_key_id(keys.sign), now + 5000, &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
	make("ahead", &p);
	assert_int_equal(serial_of(&p), now + 5001);
	pack_done(&p);
}

TEST(z_clean_up)
{
	keys_done(&keys);
	store_close(store);
	arena_free(arena);
}

T_MAIN
