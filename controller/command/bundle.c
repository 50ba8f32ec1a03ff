#include "controller/command/bundle.h"

#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/json.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/base/vec.h"
#include "agent/recipe/recipe.h"
#include "controller/command/bundle_airgap.h"
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "controller/fleet/keys.h"
#include "controller/fleet/pack_file.h"
#include "inventory/store/order.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_MAX       4096
#define UNPACKED_KEPT 7 /* bundles beside the one that is taken in */
#define UNPACKED_SEEN 4096

/* --- the key it is to be signed with --- */

/* A file that holds a public key, or the key itself. */
static int parse_key(const char *text, struct sign_key **out, struct err *err)
{
	AUTO_BUF file = {0};
	AUTO_FD top = open(text[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	buf_init(&file, KEY_MAX);
	if (access(text, R_OK) != 0)
		rc = sign_key_parse_public(str_of(text), out, err);
	else if (fs_read(top, text, &file, err) < 0)
		return -(int)err->code;
	else
		rc = sign_key_parse_public(str_trim(buf_str(&file)), out, err);
	if (rc < 0) {
		err_wrap(err, "--key '%s'", text);
		return err_hint(
			err, "'stoika key show' prints it on the machine that made the bundle");
	}
	return 0;
}

static int load_key(
	const struct invocation *inv, const char *db, struct sign_key **out, struct err *err)
{
	const char *given = option_get(inv, "key");
	struct keys keys = {0};
	char text[SIGN_TEXT_MAX];
	int rc;

	if (given)
		return parse_key(given, out, err);
	rc = keys_load(db, &keys, err);
	if (rc < 0)
		return err_hint(err, "or name the key of its maker: --key FILE");
	sign_key_public_text(keys.sign, text);
	rc = sign_key_parse_public(str_of(text), out, err);
	keys_done(&keys);
	return rc;
}

/* --- make --- */

static void print_made(const struct invocation *inv, const struct pack *p, const char *path)
{
	struct manifest m = {0};
	AUTO_JSON doc = json_object();
	AUTO_BUF text = {0};
	char until[24];

	if (manifest_parse(inv->arena, p->manifest, &m, NULL) < 0)
		return;
	clock_format(m.expires * CLOCK_SEC, until);
	if (inv->json) {
		json_put_str(doc, "file", path);
		json_put_str(doc, "name", m.name);
		json_put_int(doc, "serial", m.serial);
		json_put_str(doc, "digest", m.digest);
		session_print_json(doc);
		return;
	}
	buf_init(&text, 64u << 10);
	buf_addf(&text,
		"%s: %s, serial %lld, %u files, good until %s\n"
		"there: stoika bundle verify %s --key KEY (see 'stoika key show')\n",
		path, m.name, (long long)m.serial, m.n_files, until, path);
	session_print_lines(&text);
}

static int judge_output(const struct invocation *inv, struct err *err)
{
	const char *path = option_get(inv, "output");

	if (path)
		return session_judge_target(path, err);
	err_set(err, E_SYNTAX, "'stoika bundle make' needs --output FILE");
	return err_hint(err, "-o %s.bundle", inv->args[0]);
}

static int run_make(struct invocation *inv)
{
	const char *names[SESSION_NAMES_MAX], *path = option_get(inv, "output");
	struct pack_recipe *recipes = NULL;
	unsigned n = 0, n_recipes = 0;
	struct store *s = NULL;
	struct keys keys = {0};
	struct pack p = {0};
	struct err err;
	int rc;

	if (option_get(inv, "for"))
		return bundle_airgap_make(inv);
	rc = session_split_names(inv, inv->args[0], names, &n, &err);
	if (rc == 0)
		rc = judge_output(inv, &err);
	if (rc == 0)
		rc = pack_resolve(inv->arena, names, n, &recipes, &n_recipes, &err);
	if (rc == 0)
		rc = session_open(inv, STORE_WRITE, &s, &err);
	if (rc == 0)
		rc = keys_load(store_path(s), &keys, &err);
	if (rc == 0)
		rc = pack_make(s, &keys, recipes, n_recipes, &p, &err);
	if (rc == 0)
		rc = pack_file_write(&p, path, &err);
	if (rc == 0)
		print_made(inv, &p, path);
	pack_done(&p);
	for (unsigned i = 0; i < n_recipes; i++)
		recipe_done(recipes[i].recipe);
	keys_done(&keys);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* --- verify --- */

static void print_verdict(const struct pack_file *b, const struct bundle_verdict *v)
{
	AUTO_BUF text = {0};

	buf_init(&text, 64u << 10);
	buf_addf(&text, "name       %s\ndigest     %s\n", b->m.name, b->m.digest);
	for (int c = 0; c < BUNDLE_CHECKS; c++)
		buf_addf(&text, "%-10s %-8s %s\n", bundle_check_name((enum bundle_check)c),
			v->check[c].ok ? "ok" : "REFUSED", v->check[c].why);
	session_print_lines(&text);
}

static void print_verdict_json(const struct pack_file *b, const struct bundle_verdict *v)
{
	AUTO_JSON doc = json_object();
	json_t *checks = json_object();

	json_put_str(doc, "name", b->m.name);
	json_put_str(doc, "digest", b->m.digest);
	json_put_int(doc, "serial", b->m.serial);
	json_put_int(doc, "expires", b->m.expires);
	json_put_int(doc, "files", b->m.n_files);
	json_put_bool(doc, "ok", v->ok);
	for (int c = 0; c < BUNDLE_CHECKS; c++) {
		json_t *one = json_object();

		json_put_bool(one, "ok", v->check[c].ok);
		json_put_str(one, "why", v->check[c].why);
		json_object_set_new(checks, bundle_check_name((enum bundle_check)c), one);
	}
	json_object_set_new(doc, "checks", checks);
	session_print_json(doc);
}

/* What the database has seen of this name and signer; 0 where there is no database. */
static int seen_serial(const struct invocation *inv, const struct pack_file *b,
	const struct sign_key *key, int64_t *seen, struct err *err)
{
	struct store *s = NULL;
	int rc = store_open(store_default_path(inv->arena, inv->db), STORE_READ, &s, err);

	*seen = 0;
	if (rc == -E_NOTFOUND)
		return 0;
	if (rc == 0)
		rc = store_serial_get(s, b->m.name, sign_key_id(key), seen, err);
	store_close(s);
	return rc;
}

static int run_verify(struct invocation *inv)
{
	struct pack_file b = {0};
	struct bundle_verdict v = {0};
	struct sign_key *key = NULL;
	int64_t seen = 0;
	struct stat st;
	struct err err;
	int rc = load_key(inv, store_default_path(inv->arena, inv->db), &key, &err);

	if (rc == 0 && stat(inv->args[0], &st) == 0 && S_ISDIR(st.st_mode)) {
		const int code = bundle_airgap_verify(inv, key);

		sign_key_free(key);
		return code;
	}
	if (rc == 0)
		rc = pack_file_read(inv->arena, inv->args[0], &b, &err);
	if (rc == 0)
		rc = seen_serial(inv, &b, key, &seen, &err);
	if (rc == 0) {
		pack_file_verify(&b, key, clock_wall() / CLOCK_SEC, seen, &v);
		if (inv->json)
			print_verdict_json(&b, &v);
		else
			print_verdict(&b, &v);
	}
	pack_file_done(&b);
	sign_key_free(key);
	if (rc < 0)
		return command_fail(inv, &err);
	return v.ok ? EXIT_OK : EXIT_REFUSED;
}

/* --- for plan and apply --- */

static int refuse(const char *path, const struct bundle_verdict *v, struct err *err)
{
	for (int c = 0; c < BUNDLE_CHECKS; c++) {
		if (v->check[c].ok)
			continue;
		err_set(err, E_VERIFY, "'%s' is refused: %s: %s", path,
			bundle_check_name((enum bundle_check)c), v->check[c].why);
		return err_hint(err, "stoika bundle verify %s", path);
	}
	return err_set(err, E_INTERNAL, "'%s' is refused", path);
}

static int note_serial(struct store *s, const struct pack_file *b, const struct sign_key *key,
	const char *by, struct err *err)
{
	int rc = store_begin(s, err);

	if (rc < 0)
		return rc;
	rc = store_serial_put(s, b->m.name, sign_key_id(key), b->m.serial, err);
	if (rc == 0)
		rc = store_audit_add(s, by, "bundle", b->m.name, b->m.digest, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

struct kept {
	char name[NAME_MAX + 1];
	struct timespec made;
};
struct kept_list vec(struct kept);

static int newest_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept *)a)->made,
			      *y = &((const struct kept *)b)->made;

	return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec ? 1 : -1)
				      : (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/* The newest stay: a command of a moment ago may still read one. */
static int trim(const char *parent, int top, struct err *err)
{
	struct kept_list all = VEC_INIT;
	DIR *dir = fs_dir_open(top, ".", err);
	const struct dirent *e;
	struct stat st;
	int rc = 0;

	if (!dir)
		return err_wrap(err, "'%s'", parent);
	while ((e = readdir(dir)) != NULL && all.n < UNPACKED_SEEN) {
		if (e->d_name[0] == '.' || fstatat(top, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		struct kept *one = vec_push(&all);

		snprintf(one->name, sizeof one->name, "%s", e->d_name);
		one->made = st.st_mtim;
	}
	closedir(dir);
	vec_sort(&all, newest_first);
	for (size_t i = UNPACKED_KEPT; rc == 0 && i < all.n; i++)
		rc = fs_remove(top, all.at[i].name, true, err);
	vec_done(&all);
	return rc;
}

/* DB/../incoming/DIGEST, anew each time: what lies there may have been touched. */
static int unpack(struct arena *a, struct store *s, const struct pack_file *b, const char **dir,
	struct err *err)
{
	const char *parent = keys_path(a, store_path(s), "incoming");
	AUTO_FD top = -1, fd = -1;
	int rc;

	*dir = arena_printf(a, "%s/%s", parent, b->m.digest);
	if (mkdir(parent, 0700) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", parent);
	top = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(err, errno, "cannot open the folder '%s'", parent);
	rc = fs_remove(top, b->m.digest, true, err);
	if (rc == 0)
		rc = trim(parent, top, err);
	if (rc == 0)
		rc = fs_mkdirs(top, b->m.digest, 0700, err);
	if (rc < 0)
		return rc;
	fd = fs_open(top, b->m.digest, O_RDONLY | O_DIRECTORY, 0, false, err);
	return fd < 0 ? fd : pack_file_unpack(b, fd, err);
}

static int take_in(const struct invocation *inv, struct store *s, const struct pack_file *b,
	const struct sign_key *key, const char **dir, struct err *err)
{
	struct bundle_verdict v;
	int64_t seen = 0;
	int rc = store_serial_get(s, b->m.name, sign_key_id(key), &seen, err);

	if (rc < 0)
		return rc;
	pack_file_verify(b, key, clock_wall() / CLOCK_SEC, seen, &v);
	if (!v.ok)
		return refuse(option_get(inv, "bundle"), &v, err);
	rc = note_serial(s, b, key, session_user(inv), err);
	return rc < 0 ? rc : unpack(inv->arena, s, b, dir, err);
}

int bundle_take_in(const struct invocation *inv, struct store *s, const char **dir, struct err *err)
{
	const char *path = option_get(inv, "bundle");
	struct pack_file b = {0};
	struct sign_key *key = NULL;
	int rc;

	*dir = NULL;
	if (!path)
		return 0;
	rc = load_key(inv, store_path(s), &key, err);
	if (rc == 0)
		rc = pack_file_read(inv->arena, path, &b, err);
	if (rc == 0)
		rc = take_in(inv, s, &b, key, dir, err);
	pack_file_done(&b);
	sign_key_free(key);
	return rc;
}

static const struct option MAKE_OPTIONS[] = {
	{"output", 'o', "FILE", "where it goes; with --for a folder", false},
	{"for", 0, "SYSTEM", "all that the recipes fetch, too: debian-12, ubuntu-24.04 ...", false},
	{"roles", 0, NULL, "with --for: NODES instead of recipes, with what their roles list",
		false},
	{"set", 's', "NAME=VALUE", "with --for: a parameter of a recipe", true},
	{"sources", 0, "FILE", "with --for: the distribution's sources, in deb822; else its own",
		false},
	{"installed", 0, "FILE", "with --for: dpkg's status of a node as it is before", false},
	{0},
};

const struct command COMMAND_BUNDLE_MAKE = {
	.name = "bundle make",
	.args = "RECIPE[,RECIPE...]|NODES",
	.min_args = 1,
	.max_args = 1,
	.summary = "recipes and all they need as one signed file, for another controller",
	.about =
		"The file holds the manifest, its signature by our key, and the payload. Each make of\n"
		"changed recipes has a higher serial. It is good for 30 days. Another controller: 'stoika\n"
		"apply --bundle FILE --key KEY RECIPE NODES', where KEY is what 'stoika key show' says\n"
		"here; let the key travel another way than the file.\n\n"
		"With --for it is a folder for nodes without a way out: the recipes, and the packages\n"
		"that they ask for with all those depend on, solved by apt for a node that has nothing\n"
		"(or what --installed says), as repositories with our signature. A web server whose root\n"
		"it is gives 'mirror' to the inventory's vars, and the recipe local-mirrors points nodes\n"
		"to it. What cannot be collected (images, downloads, what hangs on a node) is told as\n"
		"open. Killed, the same command goes on where it was; it has a manifest when it is whole.\n",
	.options = MAKE_OPTIONS,
	.run = run_make,
};

static const struct option VERIFY_OPTIONS[] = {
	{"key", 'k', "KEY", "the maker's public key, or a file that holds it; else our own", false},
	{"installed", 0, "FILE", "of a folder: as it was made with", false},
	{0},
};

const struct command COMMAND_BUNDLE_VERIFY = {
	.name = "bundle verify",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "check a bundle: signature, expiry, serial, every file; 3 when refused",
	.about =
		"The serial is compared with the highest that this database has taken in of the same\n"
		"name and signer. 'stoika apply --bundle FILE' does all of this before it uses one.\n\n"
		"Of a folder: signature, every file, and whether its recipes could run with it alone: all\n"
		"packages are solved once more with its repositories and no others, without network.\n"
		"What is missing is named. Its recipes are in FOLDER/recipes.bundle.\n",
	.options = VERIFY_OPTIONS,
	.run = run_verify,
};
