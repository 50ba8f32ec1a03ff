/*
 * package - packages of the distribution, through dpkg's database and apt.
 *
 * present and absent are read from the status file. latest depends on apt's
 * pins and lists, so it asks "apt-get -s" (0.5 s); everything else starts no
 * program in a check.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/step/apt.h"
#include "agent/step/cache.h"
#include "agent/step/dpkg.h"
#include "agent/step/kinds.h"
#include "agent/step/report.h"

#include <string.h>

#define NAMES_MAX 2000

enum wish {
	WISH_PRESENT,
	WISH_LATEST,
	WISH_ABSENT
};

static enum wish read_wish(const json_t *args)
{
	const char *state = json_get_str(args, "state", "present");

	if (strcmp(state, "absent") == 0)
		return WISH_ABSENT;
	return strcmp(state, "latest") == 0 ? WISH_LATEST : WISH_PRESENT;
}

static int read_status(const struct step_env *env, const struct dpkg **status, struct err *err)
{
	int rc;

	rc = cache_dpkg(env, status, err);
	if (rc != -E_NOTFOUND)
		return rc;
	err_set(err, E_UNSUPPORTED,
		"this node has no dpkg database ('%s'), which 'package' steps need",
		CACHE_DPKG_PATH);
	return err_hint(err, "guard the recipe with \"when: facts.os.family == 'debian'\"");
}

static int parse_name(const json_t *name, struct dpkg_spec *spec, struct err *err)
{
	const char *text = json_string_value(name);

	if (text && dpkg_spec_parse(str_of(text), spec))
		return 0;
	err_set(err, E_SCHEMA, "'%.80s' is not the name of a package", text ? text : "");
	return err_hint(err, "expected 'name', 'name:arch' or 'name=version'");
}

/* True when this package is not as wanted, with a line for the diff. latest is not judged here. */
static bool differs(
	const struct dpkg *status, const struct dpkg_spec *spec, enum wish wish, struct buf *line)
{
	struct dpkg_record r;
	const bool known = dpkg_find(status, spec->name, spec->arch, &r);
	const struct str name = spec->name;

	if (known && dpkg_is_broken(&r)) {
		buf_addf(line, "%s " STR_FMT " (is " STR_FMT ")\n",
			wish == WISH_ABSENT ? "remove" : "repair", STR_ARG(name), STR_ARG(r.state));
		return true;
	}
	if (wish == WISH_ABSENT) {
		if (!known || !dpkg_is_installed(&r))
			return false;
		buf_addf(line, "remove " STR_FMT " " STR_FMT "\n", STR_ARG(name),
			STR_ARG(r.version));
		return true;
	}
	if (!known || !dpkg_is_installed(&r)) {
		buf_addf(line, "install " STR_FMT "%s" STR_FMT "\n", STR_ARG(name),
			spec->version.n ? " " : "", STR_ARG(spec->version));
		return true;
	}
	if (spec->version.n == 0 || str_eq(spec->version, r.version))
		return false;
	buf_addf(line, "change " STR_FMT " " STR_FMT " -> " STR_FMT "\n", STR_ARG(name),
		STR_ARG(r.version), STR_ARG(spec->version));
	return true;
}

/* Installed packages that apt would upgrade, one "Inst NAME ..." line each. */
static int check_latest(
	struct step_env *env, const json_t *names, struct step_report *rep, struct err *err)
{
	struct apt_words words = VEC_INIT;
	AUTO_BUF lines;
	struct str rest, line;
	const json_t *name;
	size_t i;
	int rc;

	buf_init(&lines, REPORT_DIFF_MAX);
	if (!apt_has_lists(env)) {
		if (env->dry)
			report_unknown(
				rep, "there are no package lists yet to know the latest from");
		else
			report_differs(rep, "package lists have to be fetched");
		return 0;
	}
	json_array_foreach(names, i, name) * vec_push(&words) = json_string_value(name);
	rc = apt_simulate(env, &words, &lines, err);
	vec_done(&words);
	if (rc < 0)
		return rc;
	rest = buf_str(&lines);
	while (str_line(&rest, &line)) {
		report_differs(rep, "newer versions are there");
		report_addf(rep, "upgrade " STR_FMT "\n", STR_ARG(str_from(line, strlen("Inst "))));
	}
	return 0;
}

static void count(struct step_report *rep, enum wish wish, unsigned n)
{
	report_differs(rep, "%u package%s to %s", n, n == 1 ? "" : "s",
		wish == WISH_ABSENT ? "remove" : "install");
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	const json_t *names = json_get(args, "names"), *name;
	const enum wish wish = read_wish(args);
	struct dpkg_spec spec;
	const struct dpkg *status;
	AUTO_BUF lines;
	unsigned n = 0;
	size_t i;
	int rc;

	buf_init(&lines, REPORT_DIFF_MAX);
	rc = read_status(env, &status, err);
	if (rc < 0)
		return rc;
	if (json_array_size(names) > NAMES_MAX)
		return err_set(err, E_LIMIT, "more than %d packages in one step", NAMES_MAX);
	json_array_foreach(names, i, name)
	{
		rc = parse_name(name, &spec, err);
		if (rc < 0)
			return rc;
		n += differs(status, &spec, wish, &lines);
	}
	if (n > 0) {
		count(rep, wish, n);
		report_add(rep, buf_str(&lines));
		return 0;
	}
	return wish == WISH_LATEST ? check_latest(env, names, rep, err) : 0;
}

/* What one transaction is put together from. */
struct change {
	struct arena *arena;
	const struct dpkg *status;
	struct apt_words words;
	bool downgrades;
};

/* One package twice, wanted and unwanted: apt would obey the last word. */
static int find_conflict(
	const struct change *c, const char *word, const char *other, struct err *err)
{
	vec_each(&c->words, const char *, w) {
		if (strcmp(*w, other) == 0)
			return err_set(err, E_CONFLICT,
				"package '%s' is wanted present by one step and absent by another",
				strlen(word) < strlen(other) ? word : other);
	}
	return 0;
}

static int add_name(struct change *c, const char *text, enum wish wish, struct err *err)
{
	struct dpkg_spec spec;
	char *word, *other;
	AUTO_BUF line;
	int rc;

	buf_init(&line, 1024);
	if (!dpkg_spec_parse(str_of(text), &spec))
		return err_set(err, E_SCHEMA, "'%.80s' is not the name of a package", text);
	if (wish != WISH_LATEST && !differs(c->status, &spec, wish, &line))
		return 0;
	word = wish == WISH_ABSENT
		       ? arena_printf(c->arena, STR_FMT "%s" STR_FMT "-", STR_ARG(spec.name),
				 spec.arch.n ? ":" : "", STR_ARG(spec.arch))
		       : arena_strdup(c->arena, text);
	other = wish == WISH_ABSENT ? arena_text(c->arena, str_of(text))
				    : arena_printf(c->arena, "%s-", text);
	rc = find_conflict(c, word, other, err);
	if (rc < 0)
		return rc;
	c->downgrades |= spec.version.n > 0 && wish != WISH_ABSENT;
	*vec_push(&c->words) = word;
	return 0;
}

static int add_set(struct change *c, const json_t *args, struct err *err)
{
	const json_t *names = json_get(args, "names"), *name;
	const enum wish wish = read_wish(args);
	size_t i;
	int rc;

	json_array_foreach(names, i, name)
	{
		rc = add_name(c, json_is_string(name) ? json_string_value(name) : "", wish, err);
		if (rc < 0)
			return rc;
	}
	if (c->words.n > NAMES_MAX)
		return err_set(err, E_LIMIT, "more than %d packages to change at once", NAMES_MAX);
	return 0;
}

static int change(struct step_env *env, struct change *c, const json_t *const *args, unsigned n,
	struct err *err)
{
	int rc;

	/* After the repair, since that may already have installed what is wanted. */
	rc = read_status(env, &c->status, err);
	for (unsigned i = 0; rc == 0 && i < n; i++)
		rc = add_set(c, args[i], err);
	if (rc < 0 || c->words.n == 0)
		return rc;
	rc = apt_change(env, &c->words, c->downgrades, err);
	step_cache_forget(env->cache);
	return rc;
}

static int apply_all(struct step_env *env, const json_t *const *args, unsigned n,
	struct step_report *rep, struct err *err)
{
	struct change c = {.words = VEC_INIT};
	const struct dpkg *status;
	int rc;

	(void)rep;
	rc = read_status(env, &status, err);
	if (rc == 0)
		rc = apt_ready(env, err);
	if (rc == 0)
		rc = apt_repair(env, err);
	if (rc < 0)
		return rc;
	c.arena = arena_new();
	rc = change(env, &c, args, n, err);
	vec_done(&c.words);
	arena_free(c.arena);
	return rc;
}

const struct step_ops STEP_PACKAGE = {.kind = "package", .check = check, .apply_all = apply_all};
