/* drive_unit - nodes that go together stay of one version: the last one is waited for before each
 * step that cannot be told from outside, and who fell back takes the others along. */
#include "agent/base/mem.h"
#include "controller/rollout/drive_priv.h"

#include <stdlib.h>

/* Before it is cordoned, changed, given back, and let go. */
static bool is_barrier(const struct node *n)
{
	if (n->on != EVENT_OK && n->on != EVENT_SKIP)
		return false;
	return n->state == STATE_STAGED || n->state == STATE_DRAINED || n->state == STATE_VERIFY ||
	       n->state == STATE_SOAK;
}

/* At work, or going to be, with what it had before. */
static bool fell_back(enum node_state s)
{
	return s == STATE_REJECTED || s == STATE_RELEASED || s == STATE_ABORTED ||
	       s == STATE_ROLLBACK || s == STATE_UNDONE;
}

static bool is_behind(const struct node *other, const struct node *n)
{
	if (node_is_terminal(other->state) || fell_back(other->state))
		return false;
	if (other->state != n->state)
		return other->state < n->state;
	return other->phase != PHASE_TOLD || !is_barrier(other);
}

static void wait_for(const struct drive *d, struct node *n, size_t other)
{
	free(n->note);
	n->note = xasprintf("waits for %s of its unit", rollout_name(d->r, other));
}

static void fall_back(const struct drive *d, struct node *n, size_t other)
{
	AUTO_STR why = xasprintf("%s of its unit keeps what it had (%s)", rollout_name(d->r, other),
		NODE_STATES[d->nodes[other].state]);

	drive_told_set(&n->told, &(struct drive_word){why, NULL, NULL});
	n->on = EVENT_FAILED;
}

bool drive_unit_waits(struct drive *d, size_t i)
{
	struct node *n = &d->nodes[i];
	const size_t *who;
	const size_t all = rollout_unit(d->r, i, &who);
	size_t back = SIZE_MAX;

	if (all < 2 || !is_barrier(n))
		return false;
	for (size_t k = 0; k < all; k++) {
		const struct node *other = &d->nodes[who[k]];

		if (fell_back(other->state))
			back = who[k];
		if (other == n || !is_behind(other, n))
			continue;
		wait_for(d, n, who[k]);
		return true;
	}
	if (back != SIZE_MAX)
		fall_back(d, n, back);
	return false;
}
