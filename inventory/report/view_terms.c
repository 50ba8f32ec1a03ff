/* view_terms - the policy as lines, and every fact that nobody stated, with where it counts. */
#include "agent/base/buf.h"
#include "inventory/report/view.h"

#include <string.h>

#define USERS_MAX 6 /* named beside an assumed fact */

struct lines {
	const struct audit *of;
	enum text_lang lang;
	struct arena *arena;
	struct view_lines *out;
	const char *policy; /* "policy strict80" */
};

static const char *figure(const struct lines *l, double v, const char *unit)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add_unit(&text, l->lang, v, unit);
	return arena_text(l->arena, buf_str(&text));
}

static const char *plain(const struct lines *l, double v, int decimals)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add(&text, l->lang, v, decimals);
	return arena_text(l->arena, buf_str(&text));
}

static const char *share(const struct lines *l, double v)
{
	AUTO_BUF text;

	buf_init(&text, 256);
	number_add_share(&text, l->lang, v);
	return arena_text(l->arena, buf_str(&text));
}

static void add(const struct lines *l, enum text_key what, const char *value, const char *origin,
	bool assumed)
{
	*vec_push(l->out) = (struct view_line){text_get(l->lang, what), value,
		assumed ? text_get(l->lang, TEXT_ASSUMED) : origin, assumed};
}

static void add_policy(const struct lines *l)
{
	const struct policy *p = &l->of->policy;
	const struct policy_terms *own = &l->of->model->terms.policy;
	const char *site = text_get(l->lang, TEXT_FROM_SITE);

	add(l, TEXT_T_POLICY, p->name, own->name && strcmp(own->name, p->name) == 0 ? site : "–",
		false);
	add(l, TEXT_T_BASIS, text_basis(l->lang, l->of->basis), "–", false);
	add(l, TEXT_T_K_CONT, share(l, p->k_cont), l->policy, false);
	add(l, TEXT_T_FAILOVER, share(l, p->failover_k), l->policy, false);
	add(l, TEXT_T_NEAR,
		p->near_limit > 0 ? share(l, p->near_limit) : text_get(l->lang, TEXT_T_NO_NEAR),
		l->policy, false);
	add(l, TEXT_T_UPS, share(l, p->ups_share), model_stated(own->ups_share) ? site : l->policy,
		false);
	add(l, TEXT_T_IMBALANCE, figure(l, p->imbalance, "%"), l->policy, false);
}

static void add_site(const struct lines *l)
{
	const struct policy *p = &l->of->policy;
	const char *site = text_get(l->lang, TEXT_FROM_SITE);
	const bool height = model_stated(p->altitude_m);

	add(l, TEXT_T_FACTOR, plain(l, p->power_factor, 2), site, p->assumed_power_factor);
	add(l, TEXT_T_ALTITUDE,
		height ? figure(l, p->altitude_m, "m") : text_get(l->lang, TEXT_SEA_LEVEL), site,
		!height);
	add(l, TEXT_T_FLOOR, figure(l, p->floor_kpa, "kPa"), site, p->assumed_floor);
	if (isnan(p->tile_kn))
		add(l, TEXT_T_TILE, text_get(l->lang, TEXT_NOT_JUDGED), "–", false);
	else
		add(l, TEXT_T_TILE, figure(l, p->tile_kn, "kN"), site, false);
	add(l, TEXT_T_REGION, p->ul ? "UL" : "IEC", site, p->assumed_region);
}

void view_terms(
	const struct audit *of, enum text_lang lang, struct arena *a, struct view_lines *out)
{
	struct lines l = {of, lang, a, out, NULL};
	AUTO_BUF policy;

	buf_init(&policy, 1024);
	text_add(&policy, lang, TEXT_FROM_POLICY, of->policy.name);
	l.policy = arena_text(a, buf_str(&policy));
	add_policy(&l);
	add_site(&l);
}

/* --- what was assumed --- */

/* Names of what uses a fact; the first few, then how many more. */
struct users {
	struct buf text;
	unsigned n;
};

static void add_user(struct users *u, const char *name)
{
	if (u->n++ < USERS_MAX)
		buf_addf(&u->text, "%s%s", u->text.n ? ", " : "", name);
}

static const char *end_users(const struct lines *l, struct users *u)
{
	const char *text;

	if (u->n > USERS_MAX)
		buf_addf(&u->text, " … (%u)", u->n);
	text = arena_text(l->arena, buf_str(&u->text));
	buf_done(&u->text);
	return text;
}

static const char *rack_name(const struct lines *l, const struct finding *f)
{
	return f->rack == MODEL_NONE ? text_get(l->lang, TEXT_WHOLE_SITE)
				     : l->of->model->racks.at[f->rack].name;
}

/* One convention and the racks that it counts in. */
struct convention {
	const char *what, *last;
	struct users users;
};
struct conventions vec(struct convention);

/* There are few of them, whatever the site's size. */
static struct convention *find_convention(struct conventions *all, const char *what)
{
	struct convention *c;

	vec_each(all, struct convention, known)
		if (strcmp(known->what, what) == 0)
			return known;
	c = vec_push(all);
	c->what = what;
	buf_init(&c->users.text, 1u << 16);
	return c;
}

static void add_conventions(const struct lines *l)
{
	struct conventions all = VEC_INIT;
	AUTO_BUF what;

	buf_init(&what, 1u << 12);
	vec_each(&l->of->findings, const struct finding, f) {
		struct convention *c = f->assumes ? find_convention(&all, f->assumes) : NULL;
		const char *name = rack_name(l, f);

		if (!c || name == c->last)
			continue;
		add_user(&c->users, name);
		c->last = name;
	}
	vec_each(&all, struct convention, c) {
		buf_clear(&what);
		phrase_add(&what, l->lang, c->what);
		*vec_push(l->out) = (struct view_line){arena_text(l->arena, buf_str(&what)),
			end_users(l, &c->users), text_get(l->lang, TEXT_ASSUMED), true};
	}
	vec_done(&all);
}

static bool used(const struct audit *a, size_t type)
{
	vec_each(&a->model->devices, const struct device, d)
		if (d->type == type)
			return true;
	return false;
}

static const char *type_watts(const struct lines *l, size_t i)
{
	const struct device_type *t = &l->of->model->types.at[i];
	AUTO_BUF text;

	buf_init(&text, 1u << 12);
	buf_addf(&text, "%s: %s", t->name, text_get(l->lang, TEXT_A_WATTS));
	for (unsigned b = 0; b < BASIS_N; b++) {
		if (!model_stated(t->watts[b]))
			continue;
		buf_addf(&text, ", %s ", text_basis(l->lang, b));
		number_add_unit(&text, l->lang, t->watts[b], "W");
	}
	return arena_text(l->arena, buf_str(&text));
}

void view_assumed(
	const struct audit *of, enum text_lang lang, struct arena *a, struct view_lines *out)
{
	const struct lines l = {of, lang, a, out, NULL};

	for (size_t i = 0; i < of->model->types.n; i++) {
		const struct device_type *t = &of->model->types.at[i];

		if (t->watts_origin == ORIGIN_ASSUMED && used(of, i))
			*vec_push(out) = (struct view_line){type_watts(&l, i),
				t->watts_source ? t->watts_source : "–",
				text_get(lang, TEXT_ASSUMED), true};
	}
	add_conventions(&l);
}
