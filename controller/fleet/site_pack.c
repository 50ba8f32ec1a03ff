#include "controller/fleet/site_pack.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "agent/wire/manifest.h"
#include "controller/fleet/keys.h"
#include "inventory/model/model.h"
#include "inventory/model/site_names.h"
#include "inventory/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SITE_BYTES_MAX (64u << 20)

static int write_names(struct store *s, struct buf *text, struct err *err)
{
	struct model *m = NULL;
	AUTO_JSON names = NULL;
	const int rc = store_load_model(s, NULL, &m, err);

	if (rc == -E_NOTFOUND)
		m = model_new(); /* nothing was imported yet */
	else if (rc < 0)
		return rc;
	names = site_names(m);
	model_free(m);
	json_write(names, text);
	return buf_ok(text) ? 0 : err_set(err, E_LIMIT, "the site is too large for a bundle");
}

/* A folder like that of a recipe, which is what a bundle is made of. */
static int write_site(struct store *s, const char *dir, struct err *err)
{
	AUTO_BUF text = {0};
	AUTO_FD fd = -1;
	int rc;

	buf_init(&text, SITE_BYTES_MAX);
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", dir);
	if (mkdirat(fd, "files", 0755) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make '%s/files'", dir);
	if ((rc = write_names(s, &text, err)) < 0)
		return rc;
	rc = fs_replace(fd, "recipe.yaml", STR_LIT("# see files/site.json\n"), 0644, FS_KEEP_ID,
		FS_KEEP_ID, err);
	return rc < 0 ? rc
		      : fs_replace(fd, "files/site.json", buf_str(&text), 0644, FS_KEEP_ID,
				FS_KEEP_ID, err);
}

int site_pack_add(struct store *s, struct arena *a, const struct pack_recipe *recipes, unsigned n,
	const struct pack_recipe **out, unsigned *n_out, struct err *err)
{
	struct pack_recipe *all;
	const char *dir = keys_path(a, store_path(s), SITE_FOLDER);
	bool reads = false;
	int rc;

	*out = recipes;
	*n_out = n;
	for (unsigned i = 0; i < n && !reads; i++)
		reads = recipes[i].recipe && recipes[i].recipe->reads_site;
	if (!reads)
		return 0;
	if ((rc = write_site(s, dir, err)) < 0)
		return rc;
	all = arena_alloc(a, (n + 1) * sizeof *all);
	memcpy(all, recipes, n * sizeof *all);
	all[n] = (struct pack_recipe){.name = SITE_FOLDER, .dir = dir};
	*out = all;
	*n_out = n + 1;
	return 0;
}
