/*
 * fleet_record - one writer, group commit: rows gather in one transaction for up to 100 ms.
 *
 * When many come a group is closed after 5 ms, so that a row is durable soon after it came; where a
 * commit takes long groups live longer, lest nothing else is done.
 *
 * Kept are what a step, handler or check changed or could not do; where an agent
 * stands within its run is in the agent's own journal.
 */
#include "agent/base/clock.h"
#include "agent/base/json.h"
#include "controller/fleet/fleet_priv.h"
#include "inventory/store/order.h"

#include <string.h>

#define NAMES_MAX   64   /* of recipes of an order */
#define GROUP_ROWS  1000 /* some 8 ms of writing: see tests/bench/store.c */
#define GROUP_MANY  64
#define GROUP_AGE   (5 * CLOCK_MS)
#define GROUP_LIVES 3             /* a group lives so many times as long as its commit takes */
#define LEASE_TTL   INT64_C(7200) /* seconds */
#define RENEW_EVERY (1800 * CLOCK_SEC)
#define OS_TEXT_MAX 160
#define WORD_MAX    64 /* of a version or a boot id */

bool record_begin(struct hub *h)
{
	if (h->broken.code)
		return false;
	if (h->writing)
		return true;
	if (store_begin(h->store, &h->broken) < 0)
		return false;
	h->writing = true;
	h->rows = 0;
	h->opened = clock_mono();
	return true;
}

void record_commit(struct hub *h)
{
	if (!h->writing)
		return;
	h->writing = false;
	if (h->broken.code) {
		store_rollback(h->store);
		return;
	}
	const int64_t begun = clock_mono();

	(void)store_commit(h->store, &h->broken);
	h->commit_took = clock_mono() - begun;
}

static bool is_full(const struct hub *h)
{
	const int64_t spread = GROUP_LIVES * h->commit_took;

	if (h->rows >= GROUP_ROWS)
		return true;
	return h->rows >= GROUP_MANY &&
	       clock_mono() - h->opened >= (spread > GROUP_AGE ? spread : GROUP_AGE);
}

static void count_row(struct hub *h)
{
	h->rows++;
	if (h->broken.code || is_full(h))
		record_commit(h);
}

/* A word of the node, which may be as long as it likes; NULL when there is none. */
static const char *get_word(const json_t *m, const char *key, char out[static WORD_MAX + 1])
{
	const char *text = json_get_str(m, key, NULL);
	const struct str word = str_first_utf8(str_of(text), WORD_MAX);

	if (!text)
		return NULL;
	memcpy(out, word.p, word.n);
	out[word.n] = '\0';
	return out;
}

void record_hello(struct task *t, const json_t *hello)
{
	struct hub *h = t->fleet->hub;
	char version[WORD_MAX + 1], boot[WORD_MAX + 1];

	if (!record_begin(h))
		return;
	(void)store_node_seen(h->store, t->node->id, get_word(hello, "version", version),
		get_word(hello, "boot_id", boot), NULL, NULL, NULL, &h->broken);
	if (!h->broken.code)
		(void)store_node_met(h->store, t->node->id, &h->broken);
	count_row(h);
}

void record_missed(struct task *t, const char *why)
{
	struct hub *h = t->fleet->hub;

	if (!record_begin(h))
		return;
	(void)store_node_missed(h->store, t->node->id, why, &h->broken);
	count_row(h);
}

static bool is_worth_keeping(const json_t *record)
{
	static const char *const kinds[] = {"recipe", "step", "handler", "check", "undo", "since",
		"rebooting", "resume", "defective"};
	const char *ev = json_get_str(record, "ev", "");

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(ev, kinds[i]) == 0)
			return true;
	return false;
}

void record_event(struct task *t, const char *run, const json_t *record)
{
	struct hub *h = t->fleet->hub;

	if (!is_worth_keeping(record) || !record_begin(h))
		return;
	(void)store_event_add(h->store, run, t->node->id, record, &h->broken);
	count_row(h);
}

void record_facts(struct task *t, json_t *facts)
{
	struct hub *h = t->fleet->hub;
	const json_t *os = json_get(facts, "os");
	char text[OS_TEXT_MAX], id[WORD_MAX + 1], version[WORD_MAX + 1];
	const char *group;
	json_t *value;

	if (!record_begin(h))
		return;
	json_object_foreach(facts, group, value)
	{
		if (!h->broken.code)
			(void)store_put_facts(
				h->store, t->node->id, group, value, ORIGIN_REPORTED, &h->broken);
		h->rows++;
	}
	if (!get_word(os, "id", id))
		id[0] = '\0';
	if (!get_word(os, "version_id", version))
		version[0] = '\0';
	snprintf(text, sizeof text, "%s %s", id, version);
	if (!h->broken.code)
		(void)store_node_seen(h->store, t->node->id, NULL, NULL, os ? text : NULL, NULL,
			NULL, &h->broken);
	count_row(h);
}

/* What went well is no drift any more, without waiting for the next look. */
static void note_healed(const struct task *t, const char *run, enum step_result state)
{
	const struct fleet_opts *o = t->fleet->opts;
	struct hub *h = t->fleet->hub;
	const char *names[NAMES_MAX];
	unsigned n = 0;

	if (o->mode != ORDER_APPLY || (state != RESULT_OK && state != RESULT_CHANGED))
		return;
	for (; n < o->n_recipes && n < NAMES_MAX; n++)
		names[n] = o->recipes[n].name;
	if (n > 0 && !h->broken.code)
		(void)store_drift_healed(
			h->store, t->node->id, run, clock_wall() / CLOCK_SEC, names, n, &h->broken);
}

void record_result(struct task *t, const char *run, const struct node_result *r)
{
	const struct fleet *f = t->fleet;
	struct hub *h = f->hub;

	if (!record_begin(h))
		return;
	(void)store_result_put(h->store, run, r, &h->broken);
	note_healed(t, run, r->state);
	if (!h->broken.code && !f->stay && !h->lease && strcmp(run, f->out->id) == 0)
		(void)store_lease_drop(h->store, t->node->id, run, &h->broken);
	count_row(h);
}

int record_take_lease(struct hub *h, const struct node_row *node, const char *run, struct err *err)
{
	struct arena *a = arena_new();
	struct lease holder;
	const int rc =
		store_lease_take(h->store, a, node->id, run, h->owner, LEASE_TTL, &holder, err);

	if (rc == -E_BUSY) {
		char since[24];

		clock_format(holder.taken * CLOCK_SEC, since);
		err_set(err, E_BUSY, "run %s by %s holds '%s' since %s", holder.run, holder.owner,
			node->name, since);
		err_hint(err, "stoika run watch %s, and try again when it is over", holder.run);
	}
	arena_free(a);
	return rc;
}

bool record_renewal_due(struct hub *h, int64_t now)
{
	if (now - h->renewed < RENEW_EVERY)
		return false;
	h->renewed = now;
	return true;
}

void record_renew_lease(struct hub *h, const struct node_row *node, const char *run)
{
	if (!record_begin(h))
		return;
	(void)record_take_lease(h, node, run, &h->broken);
	count_row(h);
}
