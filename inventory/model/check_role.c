/* check_role - roles of nodes, and how often they are looked at. */
#include "inventory/model/check.h"
#include "inventory/model/check_priv.h"
#include "inventory/model/period.h"

#include <stdio.h>
#include <string.h>

static void check_period(const struct model_check *c, enum model_noun noun, size_t row,
	const char *field, const char *text)
{
	struct model_problem p = {.code = E_SCHEMA, .noun = noun, .row = row, .field = field};
	int64_t seconds;

	if (!text || period_parse(text, &seconds))
		return;
	snprintf(p.hint, sizeof p.hint, "such as 30m, 6h or 1d");
	check_tell(c, &p, "'%.40s' is no period", text);
}

static void check_window(
	const struct model_check *c, enum model_noun noun, size_t row, const char *text)
{
	struct model_problem p = {
		.code = E_SCHEMA, .noun = noun, .row = row, .field = "check.window"};
	struct window w;

	if (!text || window_parse(text, &w))
		return;
	snprintf(p.hint, sizeof p.hint, "two times of the day, such as 22:00-05:30");
	check_tell(c, &p, "'%.40s' is no window", text);
}

static void check_times(const struct model_check *c)
{
	const struct model *m = c->m;

	check_period(c, NOUN_N, 0, "check.every", m->check_every);
	check_period(c, NOUN_N, 0, "check.splay", m->check_splay);
	check_window(c, NOUN_N, 0, m->check_window);
	for (size_t i = 0; i < m->roles.n; i++) {
		check_period(c, NOUN_ROLE, i, "check.every", m->roles.at[i].check_every);
		check_window(c, NOUN_ROLE, i, m->roles.at[i].check_window);
	}
}

/* Names of the roles, for the nearest; NULL-terminated. */
static const char *const *names_of(const struct model *m, struct arena *a)
{
	const char **names = arena_alloc(a, (m->roles.n + 1) * sizeof *names);

	for (size_t i = 0; i < m->roles.n; i++)
		names[i] = m->roles.at[i].name;
	return names;
}

static bool is_role(const struct model *m, const char *name)
{
	vec_each(&m->roles, const struct role, r)
		if (strcmp(r->name, name) == 0)
			return true;
	return false;
}

/* A site that describes no roles may use the word as it likes. */
void model_check_roles(const struct model_check *c)
{
	const struct model *m = c->m;
	struct arena *a = arena_new();
	const char *const *names = names_of(m, a);

	check_times(c);
	for (size_t i = 0; m->roles.n > 0 && i < m->nodes.n; i++) {
		struct model_problem p = {
			.code = E_NOTFOUND, .noun = NOUN_NODE, .row = i, .field = "role"};
		const struct node *n = &m->nodes.at[i];
		const char *near;

		if (!n->role || is_role(m, n->role))
			continue;
		near = err_nearest(n->role, names);
		if (near)
			snprintf(p.hint, sizeof p.hint, "did you mean '%.80s'?", near);
		else
			snprintf(p.hint, sizeof p.hint,
				"describe it under 'roles', such as '%.80s: {recipes: []}'",
				n->role);
		check_tell(c, &p, "node '%s' has role '%.80s', which 'roles' does not describe",
			n->name, n->role);
	}
	arena_free(a);
}
