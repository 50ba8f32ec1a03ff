/* past - the text of the version goes through the importer of site files. */
#include "controller/command/past.h"

#include "agent/base/clock.h"
#include "controller/command/when.h"
#include "inventory/import/import.h"

#include <string.h>
#include <unistd.h>

int past_read_file(
	const struct invocation *inv, const char *path, struct model **out, struct err *err)
{
	struct err_list errors = {0};
	const int rc = import_site(path, out, &errors);

	if (rc < 0 && errors.list.n) {
		for (size_t i = 0; i + 1 < errors.list.n; i++)
			command_fail(inv, &errors.list.at[i]);
		*err = errors.list.at[errors.list.n - 1];
	} else if (rc < 0) {
		err_set(err, E_INTERNAL, "'%s' cannot be read", path);
	}
	err_list_done(&errors);
	return rc;
}

int past_load(const struct invocation *inv, struct store *s, const char *site, int64_t at,
	struct model **out, struct err *err)
{
	struct err_list errors = {0};
	struct store_version v;
	struct str text;
	char when[24];
	int rc = store_version_at(s, inv->arena, site, at, &v, &text, err);

	if (rc < 0)
		return rc;
	clock_format(v.at, when);
	rc = import_site_text(
		arena_printf(inv->arena, "%s of %s", v.site, when), text, out, &errors);
	if (rc < 0 && errors.list.n) {
		*err = errors.list.at[0];
		err_wrap(err, "this program cannot read the version of %s any more", when);
	}
	err_list_done(&errors);
	return rc;
}

static int load_then(const struct invocation *inv, const char *name, const char *site,
	struct model **out, struct err *err)
{
	const int64_t now = clock_wall();
	struct store *s = NULL;
	int64_t at = now;
	int rc = when_parse(name, now, &at, err);

	if (rc == 0)
		rc = session_open(inv, STORE_READ, &s, err);
	if (rc == 0)
		rc = at >= now ? store_load_model(s, site, out, err)
			       : past_load(inv, s, site, at, out, err);
	store_close(s);
	return rc;
}

int past_load_named(const struct invocation *inv, const char *name, const char *site,
	struct model **out, struct err *err)
{
	if (when_looks_so(name))
		return load_then(inv, name, site, out, err);
	if (access(name, F_OK) == 0 || strchr(name, '/') || strchr(name, '.'))
		return past_read_file(inv, name, out, err);
	err_set(err, E_NOTFOUND, "'%s' is neither a file nor a date", name);
	return err_hint(err, "a site file, or a date such as 2026-11-01, yesterday or now");
}
