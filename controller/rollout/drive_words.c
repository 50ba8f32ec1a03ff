/* drive_words - questions to a drive: when to come back, and what each node waits for. */
#include "agent/base/clock.h"
#include "controller/rollout/drive_priv.h"

const char *drive_paused(const struct drive *d)
{
	const char *broken = rollout_broken(d->r);

	if (d->asked == DRIVE_ABORT)
		return NULL;
	if (broken)
		return broken;
	if (d->asked == DRIVE_PAUSE)
		return d->asked_why ? d->asked_why : "paused";
	return NULL;
}

/* Nobody passes the gate to the fence while it is paused or the window is closed; nobody is begun
 * with while the breaker is open, for what broke the others would break this one. */
bool drive_is_gated(const struct drive *d, const struct node *n)
{
	if (n->phase != PHASE_TOLD)
		return false;
	if (n->state == STATE_STAGED)
		return (n->on == EVENT_OK || n->on == EVENT_SKIP) && (d->shut || drive_paused(d));
	return n->state == STATE_DRAINED && n->on == EVENT_OK && drive_paused(d) &&
	       rollout_broken(d->r);
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t window_opens(const struct drive *d)
{
	const int64_t opens = rollout_window(d->r, d->wall / CLOCK_SEC) * CLOCK_SEC;

	return d->now + (opens - d->wall);
}

/* When those who wait may go by time alone. */
static int64_t next_of_waiting(const struct drive *d)
{
	int64_t at = INT64_MAX;

	if (drive_paused(d) || d->asked != DRIVE_GO)
		return at;
	if (d->shut && !rollout_is_finished(d->r))
		return window_opens(d);
	if (rollout_count(d->r, NODE_WAITING) == 0)
		return at;
	at = rollout_next(d->r);
	if (!d->over && rollout_is_stuck(d->r))
		at = sooner(at, d->changed + DRIVE_STUCK_WAIT);
	return at;
}

int64_t drive_next(const struct drive *d)
{
	int64_t at = d->fresh ? d->now : next_of_waiting(d);

	for (size_t k = 0; k < d->active.n; k++)
		at = sooner(at, d->nodes[d->active.at[k]].due);
	return at;
}

bool drive_is_over(const struct drive *d)
{
	return d->over && !d->fresh;
}

unsigned drive_stage(const struct drive *d)
{
	return rollout_stage(d->r);
}

enum node_state drive_state(const struct drive *d, size_t node)
{
	return d->nodes[node].state;
}

int64_t drive_since(const struct drive *d, size_t node)
{
	return d->nodes[node].since;
}

/* --- what is waited for --- */

static void add_left(const struct drive *d, struct buf *words, const char *before, int64_t due)
{
	char span[24];

	clock_format_span(due > d->now ? due - d->now : 0, span);
	buf_addf(words, "%s %s", before, span);
}

static void tell_waiting(const struct drive *d, size_t i, struct buf *words)
{
	const struct node *n = &d->nodes[i];

	if (rollout_place_of(d->r, i) == NODE_AWAY && n->note)
		buf_add_text(words, n->note);
	else if (d->asked == DRIVE_PAUSE && !rollout_broken(d->r))
		buf_addf(words, "paused: %s", d->asked_why ? d->asked_why : "by a person");
	else
		rollout_held(d->r, i, words);
}

static void tell_standing(const struct drive *d, const struct node *n, struct buf *words)
{
	if (n->state == STATE_SOAK) {
		add_left(d, words, "watched for", n->due);
		return;
	}
	add_left(d, words, "tries again in", n->due);
	buf_addf(words, " (%u of %u): %s", n->tries, d->policy->retry,
		n->word.why ? n->word.why : "it failed");
}

static void tell_acting(const struct drive *d, const struct node *n, struct buf *words)
{
	if (n->note)
		buf_add_text(words, n->note);
	if (n->due == INT64_MAX)
		return;
	if (n->note)
		buf_add_text(words, ", ");
	add_left(d, words, "at most", n->due);
	buf_add_text(words, " more");
}

void drive_waits(const struct drive *d, size_t node, struct buf *words)
{
	const struct node *n = &d->nodes[node];

	if (n->state == STATE_ELIGIBLE)
		tell_waiting(d, node, words);
	else if (n->phase == PHASE_STAND)
		tell_standing(d, n, words);
	else if (n->phase == PHASE_ACT)
		tell_acting(d, n, words);
	else if (n->phase == PHASE_TOLD && drive_is_gated(d, n))
		buf_addf(words, "ready; %s%s", drive_paused(d) ? "paused: " : "",
			drive_paused(d) ? drive_paused(d) : "the window is closed");
	else if (n->phase == PHASE_TOLD && n->note)
		buf_add_text(words, n->note);
}
