/* site_pack_test - who gets the inventory into its bundle, and who does not. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/site_pack.h"
#include "inventory/store/store.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *arena;

static const char *put(const char *name, const char *file, const char *text)
{
	const char *dir = arena_printf(arena, "%s/%s", t_dir(), name);
	AUTO_FD fd = -1;
	struct err err;

	(void)mkdir(dir, 0755);
	(void)mkdir(arena_printf(arena, "%s/templates", dir), 0755);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, file, str_of(text), 0644, FS_KEEP_ID, FS_KEEP_ID, &err), 0);
	return dir;
}

TEST(only_who_reads_it_gets_it)
{
	struct pack_recipe recipes[2] = {{.name = "plain"}, {.name = "reads"}};
	const struct pack_recipe *out;
	struct store *s = NULL;
	AUTO_BUF text = {0};
	AUTO_FD fd = -1;
	unsigned n;
	struct err err;

	arena = arena_new();
	buf_init(&text, 1u << 20);
	recipes[0].dir = put("plain", "recipe.yaml",
		"recipe: plain\nabout: of the website.nodes\n"
		"steps:\n  - file: {path: /a, content: site.nodes}\n");
	(void)put("reads", "templates/x", "{{ len(site.nodes) }}\n");
	recipes[1].dir = put("reads", "recipe.yaml",
		"recipe: reads\nsteps:\n  - template: {path: /a, source: x}\n");
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(recipe_load(arena, recipes[i].dir, &recipes[i].recipe, &err), 0);
	assert_int_equal(
		store_open(arena_printf(arena, "%s/stoika.db", t_dir()), STORE_CREATE, &s, &err),
		0);
	assert_int_equal(site_pack_add(s, arena, recipes, 1, &out, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_ptr_equal(out, recipes);
	assert_int_equal(site_pack_add(s, arena, recipes, 2, &out, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(out[1].name, "reads");
	assert_string_equal(out[2].name, SITE_FOLDER);
	fd = open(out[2].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_read(fd, "files/site.json", &text, &err), 0);
	assert_non_null(strstr(buf_text(&text), "\"nodes\":[]"));
	assert_int_equal(faccessat(fd, "recipe.yaml", R_OK, 0), 0);
	store_close(s);
	recipe_done(recipes[0].recipe);
	recipe_done(recipes[1].recipe);
	arena_free(arena);
}

T_MAIN
