/* verify - the plan of each group solved once more, with the bundle's repositories alone. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/airgap/airgap_priv.h"
#include "controller/airgap/apt.h"
#include "controller/airgap/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void complain(json_t *bad, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void complain(json_t *bad, const char *fmt, ...)
{
	AUTO_BUF text = {0};
	va_list ap;

	buf_init(&text, 4096);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	json_array_append_new(bad, json_string(buf_text(&text)));
}

static const char *inside_sources(struct arena *a, const struct plan *p, const struct airgap *g)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 20);
	vec_each(&p->origins, const struct origin_of, o) {
		const bool flat = str_ends(str_of(o->suite), "/");

		buf_addf(&text, "Types: deb\nURIs: file:%s/%s\nSuites: %s\n", g->dir, o->dir,
			flat ? "./" : o->suite);
		if (!flat)
			buf_addf(&text, "Components: %s\n", o->component);
		buf_addf(&text, "Signed-By: %s/keys/%s.asc\n\n", g->dir, origin_name(o));
	}
	return arena_text(a, buf_str(&text));
}

/* Each name by itself when all together fail, so that what is missing is named. */
static void name_missing(struct plan *p, const struct apt *apt, const char *group,
	const json_t *names, const struct err *why, json_t *bad)
{
	const size_t before = json_array_size(bad);
	struct apt_debs debs = VEC_INIT;
	struct err err;
	json_t *one;
	size_t i;

	json_array_foreach(names, i, one)
	{
		AUTO_JSON alone = json_array();

		json_array_append(alone, one);
		if (apt_solve(p->arena, apt, alone, &debs, &err) < 0)
			complain(bad, "%s: package '%s' cannot be had: %s", group,
				json_string_value(one), err.msg);
	}
	vec_done(&debs);
	if (json_array_size(bad) == before)
		complain(bad, "%s: %s", group, why->msg);
}

static int solve(
	struct plan *p, const struct airgap *g, const char *work, json_t *bad, struct err *err)
{
	const struct apt apt = {
		.dir = work, .sources = inside_sources(p->arena, p, g), .status = g->status};
	int rc = apt_begin(p->arena, &apt, err);

	if (rc < 0) {
		complain(bad, "its repositories cannot be read: %s", err->msg);
		return 0;
	}
	for (unsigned i = 0; i < g->n_groups; i++) {
		const json_t *names = json_get(p->asks[i], "packages");
		struct apt_debs debs = VEC_INIT;
		struct err why;

		if (apt_solve(p->arena, &apt, names, &debs, &why) < 0)
			name_missing(p, &apt, g->groups[i].name, names, &why, bad);
		vec_done(&debs);
	}
	return 0;
}

int airgap_verify(const struct airgap *g, const json_t *doc, json_t **bad, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD top = open(g->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_JSON found = json_array();
	char work[] = "/tmp/stoika-airgap.XXXXXX";
	struct plan p = {0};
	json_t *one;
	size_t i;
	int rc;

	listing_compare(top, doc, found);
	rc = plan_make(a, g, &p, err);
	if (rc == 0 && !mkdtemp(work))
		rc = err_sys(err, errno, "cannot make a folder in /tmp");
	else if (rc == 0) {
		AUTO_FD tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		rc = solve(&p, g, work, found, err);
		(void)fs_remove(tmp, work + strlen("/tmp/"), true, NULL);
	}
	json_array_foreach(json_get(doc, "open"), i, one) json_array_append(found, one);
	if (rc == 0)
		*bad = json_incref(found);
	plan_done(&p, g->n_groups);
	arena_free(a);
	return rc;
}
