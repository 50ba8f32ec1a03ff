/*
 * repo_apt - one source of packages for apt, among all the others that are configured.
 *
 * apt refuses every operation when one source stands twice with different keys
 * (Signed-By). So each file of sources is read: another entry of the same source
 * is switched off and its file kept beside as ".save", but one that a package
 * owns stays, and then no file of ours is needed.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/fs_dir.h"
#include "agent/base/package_version.h"
#include "agent/step/cache.h"
#include "agent/step/dpkg.h"
#include "agent/step/pgp.h"
#include "agent/step/repo_plan.h"
#include "agent/step/sources.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define PARTS     "/etc/apt/sources.list.d"
#define KEYRINGS  "/etc/apt/keyrings"
#define INFO      "/var/lib/dpkg/info"
#define TEXT_MAX  (64u << 10)
#define FILES_MAX 500
#define INFO_MAX  (4u << 20)

/* Keys that their owners have given up. Each is removed when a source of that place is kept. */
static const struct {
	const char *place, *id, *why;
} DEAD_KEYS[] = {
	{"developer.download.nvidia.com/compute/cuda/repos", "F60F4B3D7FA2AF80",
		"CUDA repository key rotated in April 2022"},
};

/* What the step wants, as apt words it. */
struct wanted {
	struct repo_plan *p;
	struct buf types, uris, suites, components, architectures, signed_by, key;
	const char *own, *other; /* our file, and the name it has in the other format */
	bool list;               /* one-line format */
};

/* An entry of a file that is not ours. */
struct match {
	const char *path;
	struct source source;
	struct str text; /* the file's */
	const char *owner;
};

struct matches vec(struct match);

static void wanted_init(struct wanted *w, struct repo_plan *p)
{
	*w = (struct wanted){.p = p};
	buf_init(&w->types, TEXT_MAX);
	buf_init(&w->uris, TEXT_MAX);
	buf_init(&w->suites, TEXT_MAX);
	buf_init(&w->components, TEXT_MAX);
	buf_init(&w->architectures, TEXT_MAX);
	buf_init(&w->signed_by, TEXT_MAX);
	buf_init(&w->key, PGP_MAX);
}

static void wanted_done(struct wanted *w)
{
	buf_done(&w->types);
	buf_done(&w->uris);
	buf_done(&w->suites);
	buf_done(&w->components);
	buf_done(&w->architectures);
	buf_done(&w->signed_by);
	buf_done(&w->key);
}

/* --- arguments --- */

/* No blank, bracket or control character may get into a file of sources. */
static bool is_word(const char *text)
{
	if (!text || !text[0] || text[0] == '-')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || strchr("[]#\"", *text) || *text == 0x7f)
			return false;
	return true;
}

static int join(const json_t *args, const char *name, struct buf *out, struct err *err)
{
	const json_t *list = json_get(args, name), *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);

		if (!is_word(text))
			return err_set(err, E_SCHEMA, "'%.120s' is no word for '%s' of a repo",
				text ? text : "", name);
		buf_addf(out, "%s%s", out->n ? " " : "", text);
	}
	return buf_ok(out) ? 0 : err_set(err, E_LIMIT, "'%s' is too long", name);
}

/* "https://host/path", "file:/path" ... */
static int judge_uris(const struct wanted *w, struct err *err)
{
	struct str rest = buf_str(&w->uris), one;

	while (str_next(&rest, ' ', &one)) {
		const size_t colon = str_find(one, ':');

		if (colon != STR_NONE && colon > 0 && colon + 1 < one.n && one.p[colon + 1] == '/')
			continue;
		err_set(err, E_SCHEMA, "'" STR_FMT "' is no address of a repository",
			STR_ARG(str_first(one, 120)));
		return err_hint(err, "expected such as https://mirror/debian or file:/srv/mirror");
	}
	return 0;
}

static int judge_suites(const struct wanted *w, struct err *err)
{
	struct str rest = buf_str(&w->suites), one;

	if (rest.n == 0) {
		err_set(err, E_SCHEMA, "repo '%s' has no 'suites'", w->p->name);
		return err_hint(err, "such as suites: [stable]; a flat repository has suites: [/]");
	}
	while (str_next(&rest, ' ', &one)) {
		const bool flat = str_ends(one, "/");

		if (flat == (w->components.n == 0))
			continue;
		err_set(err, E_SCHEMA,
			flat ? "suite '" STR_FMT "' is a path and has no components"
			     : "suite '" STR_FMT "' needs components",
			STR_ARG(one));
		return err_hint(err, flat ? "take 'components' out, or give the suite's name"
					  : "such as components: [main]; a path ends in '/'");
	}
	return 0;
}

static int read_lists(struct wanted *w, struct err *err)
{
	const json_t *args = w->p->args;
	int rc;

	if ((rc = join(args, "types", &w->types, err)) < 0 ||
		(rc = join(args, "uris", &w->uris, err)) < 0 ||
		(rc = join(args, "suites", &w->suites, err)) < 0 ||
		(rc = join(args, "components", &w->components, err)) < 0 ||
		(rc = join(args, "architectures", &w->architectures, err)) < 0)
		return rc;
	if (w->types.n == 0)
		buf_add_text(&w->types, "deb");
	if (!sources_has_words(STR_LIT("deb deb-src"), buf_str(&w->types))) {
		err_set(err, E_SCHEMA, "repo types are 'deb' and 'deb-src', not '%.60s'",
			buf_text(&w->types));
		return err_hint(err, "leave 'types' out for packages alone");
	}
	rc = judge_uris(w, err);
	return rc < 0 ? rc : judge_suites(w, err);
}

static int read_key(struct wanted *w, struct err *err)
{
	const char *given = json_get_str(w->p->args, "signed_by", NULL);
	int rc = repo_plan_key(w->p, &w->key, err);

	if (rc < 0)
		return rc;
	if (w->key.n > 0) {
		buf_addf(&w->signed_by, KEYRINGS "/%s.%s", w->p->name,
			pgp_is_armored(buf_str(&w->key)) ? "asc" : "gpg");
		return 0;
	}
	if (given) {
		buf_add_text(&w->signed_by, given);
		return 0;
	}
	err_set(err, E_SCHEMA, "repo '%s' has neither a key nor 'signed_by'", w->p->name);
	return err_hint(err, "give the key: a file of the recipe with 'key', or a keyring that is "
			     "on the node with 'signed_by'");
}

/* deb822 came with apt 1.1; an apt that is not known is a new one. */
static bool wants_list(const struct wanted *w)
{
	const char *format = json_get_str(w->p->args, "format", NULL);
	const struct dpkg *status;
	struct dpkg_record r;

	if (format)
		return strcmp(format, "list") == 0;
	return cache_dpkg(w->p->env, &status, NULL) == 0 &&
	       dpkg_find(status, STR_LIT("apt"), (struct str){NULL, 0}, &r) &&
	       version_compare_deb(r.version, STR_LIT("1.1")) < 0;
}

static void set_paths(struct wanted *w)
{
	struct arena *a = w->p->arena;
	const char *list = arena_printf(a, PARTS "/%s.list", w->p->name);
	const char *sources = arena_printf(a, PARTS "/%s.sources", w->p->name);

	w->list = wants_list(w);
	w->own = w->list ? list : sources;
	w->other = w->list ? sources : list;
}

/* --- our file --- */

static void write_stanza(const struct wanted *w, struct buf *out)
{
	buf_addf(out, "# kept by stoika, repo %s\n", w->p->name);
	buf_addf(out, "Types: %s\nURIs: %s\nSuites: %s\n", buf_text(&w->types), buf_text(&w->uris),
		buf_text(&w->suites));
	if (w->components.n > 0)
		buf_addf(out, "Components: %s\n", buf_text(&w->components));
	if (w->architectures.n > 0)
		buf_addf(out, "Architectures: %s\n", buf_text(&w->architectures));
	buf_addf(out, "Signed-By: %s\n", buf_text(&w->signed_by));
	if (!w->p->enabled)
		buf_add_text(out, "Enabled: no\n");
}

static void write_line(
	const struct wanted *w, struct str type, struct str uri, struct str suite, struct buf *out)
{
	buf_addf(out, "%s" STR_FMT " [", w->p->enabled ? "" : "# ", STR_ARG(type));
	if (w->architectures.n > 0) {
		struct str rest = buf_str(&w->architectures), one;

		buf_add_text(out, "arch=");
		for (int i = 0; str_next(&rest, ' ', &one); i++)
			buf_addf(out, "%s" STR_FMT, i ? "," : "", STR_ARG(one));
		buf_add_char(out, ' ');
	}
	buf_addf(out, "signed-by=%s] " STR_FMT " " STR_FMT "%s%s\n", buf_text(&w->signed_by),
		STR_ARG(uri), STR_ARG(suite), w->components.n ? " " : "", buf_text(&w->components));
}

static void write_lines(const struct wanted *w, struct buf *out)
{
	struct str types = buf_str(&w->types), type, uris, uri, suites, suite;

	buf_addf(out, "# kept by stoika, repo %s\n", w->p->name);
	while (str_next(&types, ' ', &type)) {
		uris = buf_str(&w->uris);
		while (str_next(&uris, ' ', &uri)) {
			suites = buf_str(&w->suites);
			while (str_next(&suites, ' ', &suite))
				write_line(w, type, uri, suite, out);
		}
	}
}

static int plan_own(struct wanted *w, struct err *err)
{
	AUTO_BUF text;
	int rc;

	buf_init(&text, TEXT_MAX * 8);
	if (w->list)
		write_lines(w, &text);
	else
		write_stanza(w, &text);
	rc = repo_plan_file(w->p, w->own, buf_str(&text), err);
	if (rc == 0)
		rc = repo_plan_file(w->p, w->other, (struct str){NULL, 0}, err);
	if (rc == 0 && w->p->enabled)
		w->p->refresh = w->own;
	return rc;
}

static int plan_key(struct wanted *w, struct err *err)
{
	struct arena *a = w->p->arena;
	const bool armored = pgp_is_armored(buf_str(&w->key));
	const struct str none = {NULL, 0};
	int rc;

	if (w->key.n == 0)
		return 0;
	rc = repo_plan_file(w->p, buf_text(&w->signed_by), buf_str(&w->key), err);
	if (rc < 0)
		return rc;
	return repo_plan_file(w->p,
		arena_printf(a, KEYRINGS "/%s.%s", w->p->name, armored ? "gpg" : "asc"), none, err);
}

static struct str host_of(struct str uri)
{
	const size_t scheme = str_find_str(uri, STR_LIT("://"));
	struct str host;

	if (scheme == STR_NONE)
		return (struct str){"", 0};
	host = str_from(uri, scheme + 3);
	host = str_first(host, str_find(host, '/'));
	return str_first(host, str_find(host, ':'));
}

static int plan_pin(struct wanted *w, struct err *err)
{
	const char *path = arena_printf(w->p->arena, "/etc/apt/preferences.d/%s.pref", w->p->name);
	const int64_t priority = json_get_int(w->p->args, "priority", 0);
	struct str rest = buf_str(&w->uris), uri;
	AUTO_BUF text;

	buf_init(&text, TEXT_MAX);
	if (!json_is_integer(json_get(w->p->args, "priority")))
		return repo_plan_file(w->p, path, (struct str){NULL, 0}, err);
	buf_addf(&text, "# kept by stoika, repo %s\n", w->p->name);
	while (str_next(&rest, ' ', &uri))
		buf_addf(&text,
			"Package: *\nPin: origin \"" STR_FMT "\"\nPin-Priority: %" PRId64 "\n\n",
			STR_ARG(host_of(uri)), priority);
	text.n--;
	return repo_plan_file(w->p, path, buf_str(&text), err);
}

/* --- the others --- */

struct paths vec(const char *);

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int list_files(struct wanted *w, struct paths *out, struct err *err)
{
	const struct dirent *e;
	DIR *dir = fs_dir_open(w->p->env->root, PARTS, err);

	*vec_push(out) = "/etc/apt/sources.list";
	if (!dir)
		return err->code == E_NOTFOUND ? 0 : -(int)err->code;
	while ((e = readdir(dir)) && out->n < FILES_MAX)
		if (str_ends(str_of(e->d_name), ".list") || str_ends(str_of(e->d_name), ".sources"))
			*vec_push(out) = arena_printf(w->p->arena, PARTS "/%s", e->d_name);
	closedir(dir);
	vec_sort(out, by_text);
	return 0;
}

static bool any_same(struct str ours, struct str theirs, bool (*same)(struct str, struct str))
{
	struct str word, one;

	while (str_next(&ours, ' ', &word)) {
		struct str rest = theirs;

		while (str_next(&rest, ' ', &one))
			if (one.n > 0 && same(word, one))
				return true;
	}
	return false;
}

static bool all_same(struct str theirs, struct str ours, bool (*same)(struct str, struct str))
{
	struct str one;

	while (str_next(&theirs, ' ', &one))
		if (one.n > 0 && !any_same(ours, one, same))
			return false;
	return true;
}

static bool is_match(const struct wanted *w, const struct source *s)
{
	return any_same(buf_str(&w->uris), s->uris, sources_same_uri) &&
	       any_same(buf_str(&w->suites), s->suites, sources_same_suite);
}

static int scan_file(struct wanted *w, const char *path, struct matches *out, struct err *err)
{
	struct source_rows rows = VEC_INIT;
	struct edit *e;
	struct str text;
	AUTO_BUF read;
	int rc;

	buf_init(&read, EDIT_MAX);
	if (strcmp(path, w->own) == 0 || strcmp(path, w->other) == 0)
		return 0;
	rc = fs_read(w->p->env->root, path, &read, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	text = arena_str(w->p->arena, buf_str(&read));
	sources_read(text, path, &rows);
	vec_each(&rows, struct source, s) {
		if (rc < 0 || !is_match(w, s))
			continue;
		/* Ours to bring back by undo, also when it is off already. */
		if (str_is(s->off_by, w->p->name))
			rc = repo_plan_edit(w->p, path, &e, err);
		if (s->enabled)
			*vec_push(out) = (struct match){.path = path, .source = *s, .text = text};
	}
	vec_done(&rows);
	return rc;
}

static int scan(struct wanted *w, struct matches *out, struct err *err)
{
	struct paths paths = VEC_INIT;
	int rc = list_files(w, &paths, err);

	for (size_t i = 0; rc == 0 && i < paths.n; i++)
		rc = scan_file(w, paths.at[i], out, err);
	vec_done(&paths);
	return rc;
}

/* The package whose file list names path, or NULL. */
static const char *find_owner(const struct wanted *w, const char *path)
{
	const struct dirent *e;
	const char *owner = NULL;
	DIR *dir = fs_dir_open(w->p->env->root, INFO, NULL);
	AUTO_BUF list, line;

	buf_init(&list, INFO_MAX);
	buf_init(&line, 1024);
	buf_addf(&line, "%s\n", path);
	if (!dir)
		return NULL;
	while (!owner && (e = readdir(dir))) {
		const struct str name = str_of(e->d_name);

		if (!str_ends(name, ".list"))
			continue;
		buf_clear(&list);
		if (fs_read(dirfd(dir), e->d_name, &list, NULL) == 0 &&
			str_find_str(buf_str(&list), buf_str(&line)) != STR_NONE)
			owner = arena_text(w->p->arena, str_first(name, name.n - strlen(".list")));
	}
	closedir(dir);
	return owner;
}

/* It says all that the step wants, with the same key. */
static bool agrees(const struct wanted *w, const struct source *s)
{
	struct str arch = buf_str(&w->architectures);

	return w->p->enabled && w->key.n == 0 && str_eq(s->signed_by, buf_str(&w->signed_by)) &&
	       all_same(buf_str(&w->uris), s->uris, sources_same_uri) &&
	       all_same(buf_str(&w->suites), s->suites, sources_same_suite) &&
	       sources_has_words(s->types, buf_str(&w->types)) &&
	       sources_has_words(s->components, buf_str(&w->components)) &&
	       (arch.n == 0 || sources_has_words(s->architectures, arch));
}

static int conflict_with_package(
	const struct wanted *w, const struct match *m, const char *owner, struct err *err)
{
	err_set(err, E_CONFLICT, "'%s' of package '%s' configures this source %s" STR_FMT, m->path,
		owner, m->source.signed_by.n ? "with the key " : "without a key",
		STR_ARG(m->source.signed_by));
	if (m->source.signed_by.n == 0)
		return err_hint(err, "remove the package first, or keep its file out of recipes");
	return err_hint(err, "say signed_by: " STR_FMT " and leave the key of repo '%s' out",
		STR_ARG(m->source.signed_by), w->p->name);
}

/* A file that is as wanted already: a package's, or anybody's when we have none. */
static int find_kept(
	struct wanted *w, const struct matches *all, const struct match **kept, struct err *err)
{
	struct stat st;
	const bool own = fs_stat(w->p->env->root, w->own, false, &st, NULL) == 0;

	*kept = NULL;
	vec_each(all, struct match, m) {
		if (!agrees(w, &m->source))
			continue;
		if (!*kept && (!own || find_owner(w, m->path)))
			*kept = m;
	}
	vec_each(all, struct match, m) {
		const char *owner;

		if (m == *kept || agrees(w, &m->source))
			continue;
		owner = find_owner(w, m->path);
		if (owner)
			return conflict_with_package(w, m, owner, err);
	}
	return 0;
}

static int not_only_ours(const struct match *m, struct err *err)
{
	err_set(err, E_CONFLICT, "'%s' configures this source together with others", m->path);
	return err_hint(err, "split that entry (URIs: " STR_FMT ", Suites: " STR_FMT ") by hand",
		STR_ARG(str_first(m->source.uris, 80)), STR_ARG(str_first(m->source.suites, 60)));
}

/* Entries are switched off from the last to the first, so that places stay right. */
static int switch_off(struct wanted *w, const struct match *m, struct err *err)
{
	const char *save = arena_printf(w->p->arena, "%s.save", m->path);
	struct edit *e;
	AUTO_BUF text;
	struct stat st;
	int rc;

	buf_init(&text, EDIT_MAX);
	if (!all_same(m->source.uris, buf_str(&w->uris), sources_same_uri) ||
		!all_same(m->source.suites, buf_str(&w->suites), sources_same_suite))
		return not_only_ours(m, err);
	if (fs_stat(w->p->env->root, save, false, &st, NULL) < 0) {
		rc = repo_plan_file(w->p, save, m->text, err);
		if (rc < 0)
			return rc;
	}
	rc = repo_plan_edit(w->p, m->path, &e, err);
	if (rc < 0)
		return rc;
	sources_switch_off(buf_str(&e->now), &m->source, w->p->name, &text);
	edit_set(e, buf_str(&text));
	buf_addf(&w->p->notes, "'%s' configures the same source%s: switched off, kept as '%s'\n",
		m->path,
		str_eq(m->source.signed_by, buf_str(&w->signed_by)) ? "" : " with another key",
		save);
	return 0;
}

/* Files of ours when they are not needed, since another one says all. */
static int plan_kept(struct wanted *w, const struct match *kept, struct err *err)
{
	const struct str none = {NULL, 0};
	int rc = repo_plan_file(w->p, w->own, none, err);

	if (rc == 0)
		rc = repo_plan_file(w->p, w->other, none, err);
	buf_addf(&w->p->notes, "'%s' configures it already and stays\n", kept->path);
	w->p->refresh = kept->path;
	return rc;
}

static int plan_others(struct wanted *w, struct err *err)
{
	struct matches all = VEC_INIT;
	const struct match *kept = NULL;
	int rc = scan(w, &all, err);

	if (rc == 0)
		rc = find_kept(w, &all, &kept, err);
	for (size_t i = all.n; rc == 0 && i-- > 0;)
		if (!kept || (&all.at[i] != kept && strcmp(all.at[i].path, kept->path) != 0))
			rc = switch_off(w, &all.at[i], err);
	if (rc == 0)
		rc = kept ? plan_kept(w, kept, err) : plan_own(w, err);
	vec_done(&all);
	return rc;
}

/* --- dead keys --- */

static int drop_from(struct wanted *w, const char *path, size_t dead, struct err *err)
{
	struct edit *e;
	AUTO_BUF old, now;
	int rc;

	buf_init(&old, PGP_MAX);
	buf_init(&now, PGP_MAX);
	if (fs_read(w->p->env->root, path, &old, NULL) < 0 ||
		!pgp_drop(buf_str(&old), DEAD_KEYS[dead].id, &now))
		return 0;
	rc = repo_plan_edit(w->p, path, &e, err);
	if (rc < 0)
		return rc;
	if (now.n > 0)
		edit_set(e, buf_str(&now));
	else
		edit_remove(e);
	buf_addf(&w->p->notes, "%s: key %s goes from '%s'\n", DEAD_KEYS[dead].why,
		DEAD_KEYS[dead].id, path);
	return 0;
}

static int plan_dead_keys(struct wanted *w, struct err *err)
{
	static const char TRUSTED[] = "/etc/apt/trusted.gpg.d";
	const struct dirent *e;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof DEAD_KEYS / sizeof DEAD_KEYS[0]; i++) {
		DIR *dir;

		if (str_find_str(buf_str(&w->uris), str_of(DEAD_KEYS[i].place)) == STR_NONE)
			continue;
		rc = drop_from(w, "/etc/apt/trusted.gpg", i, err);
		dir = fs_dir_open(w->p->env->root, TRUSTED, NULL);
		while (dir && rc == 0 && (e = readdir(dir)))
			if (str_ends(str_of(e->d_name), ".gpg"))
				rc = drop_from(w,
					arena_printf(w->p->arena, "%s/%s", TRUSTED, e->d_name), i,
					err);
		if (dir)
			closedir(dir);
	}
	return rc;
}

/* --- the whole --- */

static int plan_absent(struct repo_plan *p, struct err *err)
{
	static const char *const FILES[] = {PARTS "/%s.list", PARTS "/%s.sources",
		KEYRINGS "/%s.asc", KEYRINGS "/%s.gpg", "/etc/apt/preferences.d/%s.pref"};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof FILES / sizeof FILES[0]; i++) {
		const char *mark = strstr(FILES[i], "%s");

		rc = repo_plan_file(p,
			arena_printf(p->arena, "%.*s%s%s", (int)(mark - FILES[i]), FILES[i],
				p->name, mark + 2),
			(struct str){NULL, 0}, err);
	}
	return rc;
}

int repo_plan_apt(struct repo_plan *p, struct err *err)
{
	struct wanted w;
	int rc;

	if (p->absent)
		return plan_absent(p, err);
	wanted_init(&w, p);
	rc = read_lists(&w, err);
	if (rc == 0)
		rc = read_key(&w, err);
	if (rc == 0) {
		set_paths(&w);
		rc = plan_key(&w, err);
	}
	if (rc == 0)
		rc = plan_pin(&w, err);
	if (rc == 0)
		rc = plan_others(&w, err);
	if (rc == 0)
		rc = plan_dead_keys(&w, err);
	wanted_done(&w);
	return rc;
}
