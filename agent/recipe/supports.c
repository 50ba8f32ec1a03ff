#include "agent/recipe/supports.h"

#include "agent/base/arena.h"
#include "agent/base/buf.h"
#include "agent/recipe/recipe_priv.h"

#include <ctype.h>
#include <string.h>

#define VERSION_MAX 16 /* bytes; its numbers fit 64 bits */

static const char *const IDS[] = {"almalinux", "altlinux", "amzn", "astra", "centos", "debian",
	"devuan", "fedora", "linuxmint", "ol", "opensuse-leap", "raspbian", "redos", "rhel",
	"rocky", "sles", "ubuntu", NULL};
static const char *const REBUILDS[] = {"almalinux", "centos", "ol", "rocky"};

/* "22.04", "9", also what only begins so ("1.8_x86-64" of os-release is 1.8). */
static struct str number_of(struct str s)
{
	size_t n = 0;

	while (n < s.n && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'))
		n++;
	return str_first(s, n);
}

static bool is_version(struct str s)
{
	return s.n > 0 && s.n <= VERSION_MAX && number_of(s).n == s.n && s.p[0] != '.' &&
	       s.p[s.n - 1] != '.';
}

/* Part by part, as many as the limit has: "9" and "9.6" are equal. */
static int compare(struct str version, struct str limit)
{
	struct str a, b;
	uint64_t x, y;

	while (str_next(&limit, '.', &b)) {
		x = y = 0;
		if (str_next(&version, '.', &a))
			(void)str_to_u64(a, &x);
		(void)str_to_u64(b, &y);
		if (x != y)
			return x > y ? 1 : -1;
	}
	return 0;
}

static bool is_known(struct str id)
{
	for (const char *const *one = IDS; *one; one++)
		if (str_is(id, *one))
			return true;
	return false;
}

static int load_one(const struct loader *l, const struct yaml_node *n, struct recipe_support *s,
	struct err *err)
{
	struct str versions;
	const char *near;
	int rc = load_text(l, n, "'supports'", &s->text, err);

	if (rc < 0)
		return rc;
	versions = str_of(s->text);
	if (!str_next(&versions, ' ', &s->id) || !is_known(s->id)) {
		near = err_nearest(arena_text(l->arena, s->id), IDS);
		yaml_err(
			l->recipe->doc, n, err, E_SCHEMA, "no system is known as '%.60s'", s->text);
		return near ? err_hint(err, "did you mean '%s'?", near)
			    : err_hint(err, "the word is os-release's ID, such as debian or rhel");
	}
	if (versions.n == 0)
		return 0;
	(void)str_next(&versions, '-', &s->from);
	s->to = versions.n > 0 ? versions : s->from;
	if (is_version(s->from) && is_version(s->to) && !str_ends(str_of(s->text), "-") &&
		compare(s->from, s->to) <= 0)
		return 0;
	yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'%.60s' has no versions that can be read",
		s->text);
	return err_hint(err, "such as 'debian 11-13' or 'ubuntu 22.04'");
}

int supports_load(const struct loader *l, const struct yaml_node *list, struct err *err)
{
	struct recipe *r = l->recipe;
	int rc;

	if (!list)
		return 0;
	rc = load_want_list(l, list, "'supports'", "- debian 11-13", err);
	if (rc < 0)
		return rc;
	r->supports = arena_alloc(l->arena, (list->n + 1) * sizeof *r->supports);
	for (unsigned i = 0; rc == 0 && i < list->n; i++)
		rc = load_one(l, list->item[i], &r->supports[i], err);
	r->n_supports = list->n;
	return rc;
}

static bool is_rebuild(struct str id)
{
	for (size_t i = 0; i < sizeof REBUILDS / sizeof REBUILDS[0]; i++)
		if (str_is(id, REBUILDS[i]))
			return true;
	return false;
}

static bool is_named(const struct recipe_support *s, struct str id, struct str version)
{
	if (!str_eq(s->id, id) && !(str_is(s->id, "rhel") && is_rebuild(id)))
		return false;
	if (s->from.n == 0)
		return true;
	return version.n > 0 && compare(version, s->from) >= 0 && compare(version, s->to) <= 0;
}

static int refuse(const struct recipe *r, const json_t *os, struct err *err)
{
	const char *id = json_get_str(os, "id", "unknown");
	AUTO_BUF words;

	buf_init(&words, 200);
	for (unsigned i = 0; i < r->n_supports; i++)
		buf_addf(&words, "%s%s", i ? ", " : "", r->supports[i].text);
	err_set(err, E_UNSUPPORTED, "recipe '%s' does not support %.80s (%.40s %.40s)", r->name,
		json_get_str(os, "name", "this system"), id, json_get_str(os, "version_id", ""));
	return err_hint(err, "it supports %s", buf_text(&words));
}

int recipe_supports(const struct recipe *r, const json_t *os, struct err *err)
{
	const struct str id = str_of(json_get_str(os, "id", ""));
	const struct str version = number_of(str_of(json_get_str(os, "version_id", "")));

	for (unsigned i = 0; i < r->n_supports; i++)
		if (is_named(&r->supports[i], id, version))
			return 0;
	if (r->n_supports > 0)
		return refuse(r, os, err);
	if (!json_get_bool(os, "experimental", false))
		return 0;
	err_set(err, E_UNSUPPORTED, "%.80s is experimental, and recipe '%s' does not name it",
		json_get_str(os, "name", "this system"), r->name);
	return err_hint(err,
		"try the recipe on a node that may break, with 'supports: [" STR_FMT "]'",
		STR_ARG(id));
}
