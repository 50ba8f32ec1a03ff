/* stages_test - the table of a node's states: whole, and without the ways that must not be. */
#include "agent/base/buf.h"
#include "controller/rollout/stages.h"
#include "tests/unit/t.h"

#include <string.h>

TEST(each_state_and_event_leads_to_one)
{
	for (const struct node_edge *e = NODE_EDGES; e->why; e++) {
		for (const struct node_edge *f = e + 1; f->why; f++)
			if (e->from == f->from && e->on == f->on)
				fail_msg("%s on %s leads to two states", NODE_STATES[e->from],
					NODE_EVENTS[e->on]);
		assert_int_equal(node_next(e->from, e->on), e->to);
	}
}

/* Every pair is asked: what the table does not hold, does not happen. */
TEST(no_other_edge_exists)
{
	for (unsigned s = 0; s < STATE_N; s++) {
		for (unsigned v = 0; v < EVENT_N; v++) {
			const enum node_state to =
				node_next((enum node_state)s, (enum node_event)v);
			bool listed = false;

			for (const struct node_edge *e = NODE_EDGES; e->why; e++)
				listed = listed || (e->from == s && e->on == v && e->to == to);
			assert_int_equal(listed, to != STATE_N);
		}
	}
}

static bool is_edge(enum node_state from, enum node_state to)
{
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		if (e->from == from && e->to == to)
			return true;
	return false;
}

TEST(forbidden_ways_are_not_there)
{
	/* only what was verified, or never touched, is given back */
	for (unsigned s = 0; s < STATE_N; s++)
		assert_int_equal(is_edge((enum node_state)s, STATE_RETURNED), s == STATE_VERIFY);
	for (unsigned s = STATE_QUIESCED; s < STATE_N; s++)
		assert_false(is_edge((enum node_state)s, STATE_RELEASED));
	/* no turning back by a person's word once packages may be half there */
	for (unsigned s = STATE_QUIESCED; s < STATE_N; s++)
		assert_int_equal(node_next((enum node_state)s, EVENT_ABORT), STATE_N);
	assert_true(node_is_terminal(STATE_UNREACHABLE));
	assert_true(node_is_terminal(STATE_QUARANTINED));
}

static void mark(bool *seen, enum node_state s)
{
	if (seen[s])
		return;
	seen[s] = true;
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		if (e->from == s)
			mark(seen, e->to);
}

TEST(all_states_are_reached_and_all_end)
{
	bool seen[STATE_N] = {false};

	mark(seen, STATE_ELIGIBLE);
	for (unsigned s = 0; s < STATE_N; s++) {
		bool from[STATE_N] = {false}, ends = false;

		if (!seen[s])
			fail_msg("%s is never reached", NODE_STATES[s]);
		mark(from, (enum node_state)s);
		for (unsigned t = 0; t < STATE_N; t++)
			ends = ends || (from[t] && node_is_terminal((enum node_state)t));
		assert_true(ends);
	}
}

TEST(fences_hold_from_cordon_to_proof)
{
	assert_false(node_is_fenced(STATE_STAGED));
	for (unsigned s = STATE_CORDONED; s <= STATE_VERIFY; s++)
		assert_true(node_is_fenced((enum node_state)s));
	assert_false(node_is_fenced(STATE_RETURNED));
	assert_true(node_is_fenced(STATE_QUARANTINED));
	assert_true(node_is_fenced(STATE_UNREACHABLE));
	assert_false(node_is_fenced(STATE_UNDONE));
}

TEST(drawing_shows_each_edge)
{
	struct buf out;
	unsigned arrows = 0, edges = 0;

	buf_init(&out, 1 << 20);
	node_draw(&out);
	for (const char *p = buf_text(&out); (p = strstr(p, " -> ")); p++)
		arrows++;
	for (const struct node_edge *e = NODE_EDGES; e->why; e++)
		edges++;
	assert_int_equal(arrows, edges);
	buf_done(&out);
}

T_MAIN
