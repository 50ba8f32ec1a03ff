/* pack_copy - just those files of recipes that would go into a bundle, to folders of their own. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/fleet/pack.h"
#include "controller/fleet/pack_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What is called NAME/PATH in a bundle stands at PATH below the folder of the recipe NAME. */
static const struct pack_recipe *owner_of(
	const struct pack_recipe *recipes, unsigned n, const char *path)
{
	const size_t len = strcspn(path, "/");

	for (unsigned i = 0; i < n; i++)
		if (str_is((struct str){path, len}, recipes[i].name))
			return &recipes[i];
	return NULL;
}

static int copy_file(
	const struct pack_recipe *r, const struct manifest_file *f, int dir, struct err *err)
{
	AUTO_STR from = xasprintf("%s%s", r->dir, strchr(f->path, '/'));
	AUTO_STR parent = xstrndup(f->path, (size_t)(strrchr(f->path, '/') - f->path));
	AUTO_FD fd = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_sys(err, errno, "cannot read '%s'", from);
	rc = fs_mkdirs(dir, parent, 0700, err);
	return rc < 0 ? rc
		      : fs_replace_from(dir, f->path, fd, f->mode, FS_KEEP_ID, FS_KEEP_ID, err);
}

int pack_copy(
	struct arena *a, const struct pack_recipe *recipes, unsigned n, int dir, struct err *err)
{
	struct manifest m = {0};
	int rc = pack_list_files(a, recipes, n, &m, err);

	for (unsigned i = 0; rc == 0 && i < m.n_files; i++) {
		const struct pack_recipe *r = owner_of(recipes, n, m.files[i].path);

		if (r)
			rc = copy_file(r, &m.files[i], dir, err);
	}
	return rc;
}

int pack_content(struct arena *a, const struct pack_recipe *recipes, unsigned n,
	char out[static HASH_HEX], struct err *err)
{
	struct manifest m = {0};
	AUTO_BUF text = {0};
	const int rc = pack_list_files(a, recipes, n, &m, err);

	if (rc < 0)
		return rc;
	m.name = "";
	buf_init(&text, 64u << 20);
	manifest_format(&m, &text);
	memcpy(out, m.content, HASH_HEX);
	return 0;
}
