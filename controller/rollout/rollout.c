/* rollout - units, stages and limits; domains are numbers, so that a question costs a few look-ups.
 */
#include "controller/rollout/rollout.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/rollout/rollout_priv.h"

#include <stdio.h>
#include <string.h>

const char *const ROLLOUT_LIMITS[] = {"none", "breaker", "window", "stage", "soak", "concurrency",
	"unavailable", "budget", "pair", "power", "away", NULL};
const char *const ROLLOUT_PLACES[] = {
	"waiting", "out", "watched", "done", "failed", "undone", "passed", "away", NULL};

_Static_assert(
	sizeof ROLLOUT_PLACES / sizeof ROLLOUT_PLACES[0] == NODE_PLACES + 1, "a word for each");
_Static_assert(sizeof ROLLOUT_LIMITS / sizeof ROLLOUT_LIMITS[0] == LIMIT_N + 1, "a word for each");

/* Not there for anybody's work. */
static bool is_gone(const struct member *m)
{
	return m->place == NODE_OUT || m->place == NODE_FAILED || m->place == NODE_AWAY || m->lost;
}

static bool is_busy(enum rollout_place p)
{
	return p == NODE_OUT || p == NODE_WATCHED;
}

static bool is_open(enum rollout_place p)
{
	return is_busy(p) || p == NODE_WAITING || p == NODE_AWAY;
}

/* --- counting --- */

/* Counts the node as gone, or as back, where it is not what it was. */
static void count_gone(struct rollout *r, const struct member *m, bool was)
{
	const bool is = is_gone(m);
	const unsigned more = is ? 1u : (unsigned)-1;

	if (is == was)
		return;
	r->gone += is ? 1u : (size_t)-1;
	for (unsigned i = 0; i < m->n_domains; i++)
		r->domains.at[m->domains[i]].gone += more;
}

void rollout_put(struct rollout *r, size_t node, enum rollout_place place)
{
	struct member *m = &r->members.at[node];
	const bool was = is_gone(m);
	struct stage *s = &r->stages.at[r->units.at[m->unit].stage];

	r->count[m->place]--;
	r->count[place]++;
	s->waiting -= m->place == NODE_WAITING;
	s->waiting += place == NODE_WAITING;
	s->busy -= is_busy(m->place);
	s->busy += is_busy(place);
	m->place = place;
	count_gone(r, m, was);
}

/* A node that was back is counted as gone while others have it. */
static void put_lost(struct rollout *r, size_t node, bool lost)
{
	struct member *m = &r->members.at[node];
	const bool was = is_gone(m);

	r->lost += lost;
	r->lost -= m->lost;
	m->lost = lost;
	count_gone(r, m, was);
}

/* --- limits of a unit; each says whether it holds the unit back --- */

static bool hold(
	struct unit *u, enum rollout_limit limit, uint32_t domain, unsigned have, unsigned most)
{
	u->held = limit;
	u->held_domain = domain;
	u->held_have = have;
	u->held_most = most;
	return true;
}

static bool is_away(const struct rollout *r, struct unit *u)
{
	for (size_t i = 0; i < u->n; i++)
		if (r->members.at[r->in_units[u->first + i]].place == NODE_AWAY)
			return hold(u, LIMIT_AWAY, NO_DOMAIN, 0, 0);
	return false;
}

static bool over_unavailable(const struct rollout *r, struct unit *u)
{
	const unsigned most = amount_of(r->policy.max_unavailable, (unsigned)r->members.n);

	return r->gone + u->n > most &&
	       hold(u, LIMIT_UNAVAILABLE, NO_DOMAIN, (unsigned)r->gone, most);
}

/* How many of the unit are in a domain: mostly one. */
static unsigned share(const struct rollout *r, const struct unit *u, uint32_t domain)
{
	unsigned n = 0;

	for (size_t i = 0; i < u->n; i++) {
		const struct member *m = &r->members.at[r->in_units[u->first + i]];

		for (unsigned k = 0; k < m->n_domains; k++)
			n += m->domains[k] == domain;
	}
	return n;
}

static bool over_domain(const struct rollout *r, struct unit *u, uint32_t domain)
{
	const struct domain *d = &r->domains.at[domain];

	if (d->pair)
		return d->gone > 0 && hold(u, LIMIT_PAIR, domain, d->gone, 1);
	if (!d->limited)
		return false;
	return d->gone + share(r, u, domain) > d->most &&
	       hold(u, LIMIT_BUDGET, domain, d->gone, d->most);
}

static bool over_domains(const struct rollout *r, struct unit *u)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct member *m = &r->members.at[r->in_units[u->first + i]];

		for (unsigned k = 0; k < m->n_domains; k++)
			if (over_domain(r, u, m->domains[k]))
				return true;
	}
	return false;
}

static bool over_power(struct rollout *r, struct unit *u)
{
	if (!r->power.fits)
		return false;
	return !r->power.fits(
		       r->power.ctx, r->out.at, r->out.n, &r->in_units[u->first], u->n, u->power) &&
	       hold(u, LIMIT_POWER, NO_DOMAIN, 0, 0);
}

static bool is_held(struct rollout *r, struct unit *u, size_t most)
{
	if (is_away(r, u))
		return true;
	/* a unit larger than what is taken at once goes alone */
	if (most > 0 && r->count[NODE_OUT] > 0 && r->count[NODE_OUT] + u->n > most)
		return hold(u, LIMIT_CONCURRENCY, NO_DOMAIN, (unsigned)r->count[NODE_OUT],
			(unsigned)most);
	return over_unavailable(r, u) || over_domains(r, u) || over_power(r, u);
}

/* --- stages --- */

/* Nobody of the stage waits, is out or watched. */
static bool is_at_rest(const struct stage *s)
{
	return s->waiting == 0 && s->busy == 0;
}

static int64_t soak_of(const struct rollout *r, unsigned stage)
{
	return stage == 0 ? r->policy.soak_canary : r->policy.soak_wave;
}

/* Moves on as far as rest and soak allow. The last stage stays open. */
static void open_stages(struct rollout *r, int64_t now)
{
	r->soaking = false;
	while (r->stage + 1 < r->stages.n && is_at_rest(&r->stages.at[r->stage])) {
		const struct stage *s = &r->stages.at[r->stage];

		if (s->settled && now < s->rest + soak_of(r, r->stage)) {
			r->soaking = true;
			return;
		}
		r->stage++;
	}
}

static enum rollout_limit whole_limit(struct rollout *r, int64_t wall)
{
	if (r->broken[0])
		return LIMIT_BREAKER;
	return rollout_window_opens(&r->policy, wall) > wall ? LIMIT_WINDOW : LIMIT_NONE;
}

static void let_go(struct rollout *r, struct unit *u)
{
	u->gone = true;
	u->held = LIMIT_NONE;
	for (size_t i = 0; i < u->n; i++) {
		rollout_put(r, r->in_units[u->first + i], NODE_OUT);
		*vec_push(&r->out) = r->in_units[u->first + i];
		*vec_push(&r->admitted) = r->in_units[u->first + i];
	}
}

/* Units stand in the order of their stages, so those before next_unit have all gone. */
static void admit_units(struct rollout *r, size_t most)
{
	while (r->next_unit < r->units.n && r->units.at[r->next_unit].gone)
		r->next_unit++;
	for (size_t i = r->next_unit; i < r->units.n && r->units.at[i].stage <= r->stage; i++) {
		struct unit *u = &r->units.at[i];

		r->full = r->gone >= amount_of(r->policy.max_unavailable, (unsigned)r->members.n);
		if (r->full)
			return;
		if (!u->gone && !is_held(r, u, most))
			let_go(r, u);
	}
}

size_t rollout_admit(
	struct rollout *r, int64_t now, int64_t wall, size_t most, const size_t **admitted)
{
	r->admitted.n = 0;
	r->whole = whole_limit(r, wall);
	r->full = false;
	open_stages(r, now);
	if (r->whole == LIMIT_NONE)
		admit_units(r, most);
	*admitted = r->admitted.at;
	return r->admitted.n;
}

/* --- what became of them --- */

static void forget_out(struct rollout *r, size_t node)
{
	for (size_t i = 0; i < r->out.n; i++) {
		if (r->out.at[i] != node)
			continue;
		r->out.at[i] = r->out.at[--r->out.n];
		return;
	}
}

static unsigned count_signature(struct rollout *r, const char *signature)
{
	vec_each(&r->signatures, struct signature, s) {
		if (strcmp(s->text, signature) == 0)
			return ++s->n;
	}
	*vec_push(&r->signatures) = (struct signature){arena_strdup(r->arena, signature), 1};
	return 1;
}

static void judge_failure(struct rollout *r, const char *signature)
{
	const unsigned most = amount_of(r->policy.failures, (unsigned)r->members.n);
	const unsigned same = signature ? count_signature(r, signature) : 0;

	r->failures++;
	if (r->broken[0])
		return;
	if (r->failures > most)
		snprintf(r->broken, sizeof r->broken, "%u nodes have failed, the policy allows %u",
			r->failures, most);
	else if (r->policy.same_failure > 0 && same >= r->policy.same_failure)
		snprintf(r->broken, sizeof r->broken, "%u nodes failed in the same way: %.120s",
			same, signature);
}

static void leave_out(struct rollout *r, size_t node, enum rollout_place place)
{
	if (r->members.at[node].place == NODE_OUT)
		forget_out(r, node);
	rollout_put(r, node, place);
	if (place == NODE_FAILED)
		put_lost(r, node, false);
}

void rollout_settle(struct rollout *r, size_t node, enum rollout_place place, const char *signature,
	int64_t now)
{
	struct unit *u = &r->units.at[r->members.at[node].unit];
	struct stage *s = &r->stages.at[u->stage];

	if (!is_open(r->members.at[node].place))
		return;
	s->settled = s->settled || is_busy(r->members.at[node].place);
	s->rest = now;
	u->gone = true;
	leave_out(r, node, place);
	if (place == NODE_FAILED || place == NODE_UNDONE)
		judge_failure(r, signature);
}

void rollout_return(struct rollout *r, size_t node)
{
	if (r->members.at[node].place == NODE_OUT)
		leave_out(r, node, NODE_WATCHED);
}

void rollout_restore(struct rollout *r, size_t node, enum rollout_place place,
	const char *signature, bool counts, int64_t since)
{
	struct unit *u = &r->units.at[r->members.at[node].unit];
	struct stage *s = &r->stages.at[u->stage];

	rollout_put(r, node, place);
	if (place == NODE_WAITING || place == NODE_AWAY)
		return;
	u->gone = true;
	if (place == NODE_OUT)
		*vec_push(&r->out) = node;
	if (!is_busy(place)) {
		s->rest = !s->settled || since > s->rest ? since : s->rest;
		s->settled = true;
	}
	rollout_restore_stage(r, u->stage);
	if (counts)
		judge_failure(r, signature);
}

void rollout_restore_stage(struct rollout *r, unsigned stage)
{
	if (stage > r->stage && stage < r->stages.n)
		r->stage = stage;
}

void rollout_take(struct rollout *r, size_t node, bool away)
{
	const struct member *m = &r->members.at[node];

	if (m->place == NODE_WAITING || m->place == NODE_AWAY)
		rollout_put(r, node, away ? NODE_AWAY : NODE_WAITING);
	else if (m->lost != away && m->place != NODE_OUT && m->place != NODE_FAILED)
		put_lost(r, node, away);
}

void rollout_trip(struct rollout *r, const char *why)
{
	if (!r->broken[0])
		snprintf(r->broken, sizeof r->broken, "%s", why);
}

void rollout_reset_breaker(struct rollout *r)
{
	r->broken[0] = '\0';
	r->failures = 0;
	r->signatures.n = 0;
}

/* --- questions --- */

enum rollout_place rollout_place_of(const struct rollout *r, size_t node)
{
	return r->members.at[node].place;
}

unsigned rollout_stage_of(const struct rollout *r, size_t node)
{
	return r->units.at[r->members.at[node].unit].stage;
}

unsigned rollout_stages(const struct rollout *r)
{
	return (unsigned)r->stages.n;
}

unsigned rollout_stage(const struct rollout *r)
{
	return r->stage;
}

const struct rollout_policy *rollout_policy_of(const struct rollout *r)
{
	return &r->policy;
}

size_t rollout_unit(const struct rollout *r, size_t node, const size_t **who)
{
	const struct unit *u = &r->units.at[r->members.at[node].unit];

	*who = &r->in_units[u->first];
	return u->n;
}

const char *rollout_name(const struct rollout *r, size_t node)
{
	return r->members.at[node].name;
}

size_t rollout_count(const struct rollout *r, enum rollout_place place)
{
	return r->count[place];
}

bool rollout_is_finished(const struct rollout *r)
{
	return r->count[NODE_WAITING] == 0 && r->count[NODE_OUT] == 0 &&
	       r->count[NODE_WATCHED] == 0;
}

size_t rollout_taken(const struct rollout *r)
{
	return r->count[NODE_AWAY] + r->lost;
}

bool rollout_is_stuck(const struct rollout *r)
{
	return r->count[NODE_WAITING] > 0 && r->count[NODE_OUT] == 0 &&
	       r->count[NODE_WATCHED] == 0 && r->whole == LIMIT_NONE && !r->soaking;
}

const char *rollout_broken(const struct rollout *r)
{
	return r->broken[0] ? r->broken : NULL;
}

int64_t rollout_next(const struct rollout *r)
{
	return r->soaking ? r->stages.at[r->stage].rest + soak_of(r, r->stage) : INT64_MAX;
}

int64_t rollout_window(const struct rollout *r, int64_t wall)
{
	return rollout_window_opens(&r->policy, wall);
}

/* The stages before it that have not opened have nobody who goes. */
static bool is_next(const struct rollout *r, unsigned stage)
{
	for (unsigned i = r->stage + 1; i < stage; i++)
		if (!is_at_rest(&r->stages.at[i]))
			return false;
	return true;
}

/* What holds all, or all of a later stage, is not written to each of them. */
static enum rollout_limit limit_of(const struct rollout *r, size_t node)
{
	const struct unit *u = &r->units.at[r->members.at[node].unit];

	if (u->gone)
		return LIMIT_NONE;
	if (r->members.at[node].place == NODE_AWAY)
		return LIMIT_AWAY;
	if (r->whole != LIMIT_NONE)
		return r->whole;
	if (u->stage > r->stage)
		return r->soaking && is_next(r, u->stage) ? LIMIT_SOAK : LIMIT_STAGE;
	return r->full ? LIMIT_UNAVAILABLE : u->held;
}

static void name_stage(struct buf *words, unsigned stage)
{
	if (stage == 0)
		buf_add_text(words, "the canaries");
	else
		buf_addf(words, "wave %u", stage);
}

/* Of limits that hold everybody. */
static void tell_whole(const struct rollout *r, enum rollout_limit limit, struct buf *words)
{
	const bool canaries = r->stage == 0;

	if (limit == LIMIT_BREAKER)
		buf_addf(words, "paused: %s", r->broken);
	else if (limit == LIMIT_WINDOW)
		buf_add_text(words, "the window is closed");
	if (limit != LIMIT_STAGE && limit != LIMIT_SOAK)
		return;
	name_stage(words, r->stage);
	if (limit == LIMIT_STAGE)
		buf_add_text(words, canaries ? " have not ended" : " has not ended");
	else
		buf_add_text(words, canaries ? " are watched" : " is watched");
}

/* Of limits that hold this unit. */
static void tell_own(
	const struct rollout *r, enum rollout_limit limit, const struct unit *u, struct buf *words)
{
	const struct domain *d =
		u->held_domain == NO_DOMAIN ? NULL : &r->domains.at[u->held_domain];

	if (limit == LIMIT_CONCURRENCY)
		buf_addf(words, "%u at work, %u at once", u->held_have, u->held_most);
	else if (limit == LIMIT_UNAVAILABLE)
		buf_addf(words, "max_unavailable: %zu away, %u allowed", r->gone,
			amount_of(r->policy.max_unavailable, (unsigned)r->members.n));
	else if ((limit == LIMIT_BUDGET || limit == LIMIT_PAIR) && d)
		buf_addf(words, "%s %s: %u away, %u allowed", d->kind, d->value, u->held_have,
			u->held_most);
	else if (limit == LIMIT_POWER)
		buf_add_text(words, u->power);
	else if (limit == LIMIT_AWAY)
		buf_add_text(words, u->n > 1 ? "one of its unit is drained or down by others"
					     : "drained or down by others");
}

enum rollout_limit rollout_held(const struct rollout *r, size_t node, struct buf *words)
{
	const enum rollout_limit limit = limit_of(r, node);

	if (words) {
		tell_whole(r, limit, words);
		tell_own(r, limit, &r->units.at[r->members.at[node].unit], words);
	}
	return limit;
}

bool rollout_recall(struct rollout *r, size_t node, struct buf *words)
{
	const struct unit *whole = &r->units.at[r->members.at[node].unit];
	struct unit alone = {.first = whole->first, .n = 1, .held_domain = NO_DOMAIN};

	while (r->in_units[alone.first] != node)
		alone.first++;
	if (over_unavailable(r, &alone) || over_domains(r, &alone) || over_power(r, &alone)) {
		tell_own(r, alone.held, &alone, words);
		return false;
	}
	rollout_put(r, node, NODE_OUT);
	put_lost(r, node, false);
	*vec_push(&r->out) = node;
	return true;
}
