/*
 * install_recipe - a new agent by the hands of the old one.
 *
 * The node's name is a parameter of the recipe; all else is the same for all
 * nodes, so one signed bundle serves them. Where the new agent already is, every
 * step is skipped and nothing is sent but the order.
 */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/install_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECIPE_NAME     "stoika-agent"
#define RECIPE_TEXT_MAX 8192
#define STAGE           "/opt/stoika/incoming"
#define PROGRAM         "/opt/stoika/agent-%.*s/bin/stoika-agent"

/* gzip, zstd: the program's path once it is there, by the archive it came in. */
static void format_recipe(
	struct buf *out, const char *gzip, const char *zstd, const char *arguments)
{
	buf_addf(out,
		"recipe: " RECIPE_NAME "\n"
		"about: the agent itself, put in place by the one before it\n"
		"steps:\n"
		"  - directory: {path: " STAGE ", mode: \"0700\"}\n"
		"    when: not exists('%s') and not exists('%s')\n",
		gzip, zstd);
	buf_addf(out,
		"  - file: {path: " STAGE "/install.sh, source: install.sh, mode: \"0700\"}\n"
		"    when: not exists('%s') and not exists('%s')\n"
		"  - file: {path: " STAGE "/agent.tar, source: agent.tar, mode: \"0600\"}\n"
		"    when: not exists('%s') and not exists('%s')\n",
		gzip, zstd, gzip, zstd);
	buf_addf(out,
		"  - command:\n"
		"      shell: sh " STAGE "/install.sh %s < " STAGE "/agent.tar && rm -rf " STAGE
		"\n"
		"      creates: %s\n"
		"    when: not exists('%s')\n"
		"check:\n"
		"  - name: the agent is in place\n"
		"    expect: exists('%s') or exists('%s')\n",
		arguments, gzip, zstd, gzip, zstd);
}

static int put_file(int dir, const char *name, struct str bytes, struct err *err)
{
	return fs_replace(dir, name, bytes, 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

/* The folder DB/../install/stoika-agent with the recipe and what it needs. */
static int write_recipe(const struct install *in, const char *path, struct err *err)
{
	const char *parent = keys_path(in->arena, store_path(in->store), "install");
	const char *gzip = arena_printf(in->arena, PROGRAM, SHORT_LEN, in->gzip.sha256);
	const char *zstd = arena_printf(in->arena, PROGRAM, SHORT_LEN, in->zstd.sha256);
	const char *arguments = install_arguments(in, &in->gzip, "{{ node.name }}");
	AUTO_BUF text = {0};
	AUTO_FD dir = -1;
	int rc;

	buf_init(&text, RECIPE_TEXT_MAX);
	format_recipe(&text, gzip, zstd, arguments);
	if ((mkdir(parent, 0700) != 0 && errno != EEXIST) ||
		(mkdir(path, 0700) != 0 && errno != EEXIST))
		return err_sys(err, errno, "cannot make the folder '%s'", path);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", path);
	rc = fs_mkdirs(dir, "files", 0755, err);
	if (rc == 0)
		rc = put_file(dir, "recipe.yaml", buf_str(&text), err);
	if (rc == 0)
		rc = put_file(dir, "files/install.sh", str_of(INSTALL_SCRIPT), err);
	if (rc == 0)
		rc = put_file(dir, "files/agent.tar", in->gzip.bytes, err);
	return rc;
}

/* Which nodes are well, by what the run says of each. */
struct upgrade {
	const struct install_opts *opts;
	struct node_refs *good;
	struct result_counts *bad;
};

static void on_done(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct upgrade *u = ctx;

	if (r->state == RESULT_OK || r->state == RESULT_CHANGED || r->state == RESULT_SKIPPED) {
		*vec_push(u->good) = node;
		return;
	}
	u->bad->n[r->state]++;
	if (u->opts->done)
		u->opts->done(u->opts->ctx, node, r);
}

int install_by_recipe(const struct install *in, const struct node_refs *nodes,
	struct node_refs *good, struct result_counts *bad, struct err *err)
{
	const char *path = keys_path(in->arena, store_path(in->store), "install/" RECIPE_NAME);
	struct upgrade u = {in->opts, good, bad};
	struct pack_recipe *recipes = NULL;
	unsigned n = 0;
	struct fleet_outcome out;
	int rc = write_recipe(in, path, err);

	if (rc == 0)
		rc = pack_resolve(in->arena, &path, 1, &recipes, &n, err);
	if (rc < 0)
		return rc;

	const struct fleet_opts o = {
		.mode = ORDER_APPLY,
		.recipes = recipes,
		.n_recipes = n,
		.nodes_text = "agent install",
		.by = in->opts->by,
		.ctx = &u,
		.done = on_done,
	};

	rc = fleet_run(in->store, in->keys, nodes, &o, &out, err);
	for (unsigned i = 0; i < n; i++)
		recipe_done(recipes[i].recipe);
	return rc;
}
