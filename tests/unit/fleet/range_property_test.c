/*
 * range_property_test - random expressions against sets of bits, and folds that mean what they
 * fold.
 *
 * Each expression is made together with the set it must mean, with only as many
 * parentheses as the grammar asks for, so that its precedence is tried too.
 */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/fleet/range.h"
#include "tests/unit/t.h"

#include <stdlib.h>
#include <string.h>

#define NODES     64
#define ROUNDS    20000
#define DEPTH_MAX 4

static struct node_row rows[NODES];
static char names[NODES][16];
static struct node_rows all;
static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* gpu01 .. gpu32 in racks of 8, cpu1 .. cpu24, s1-a .. s8-a. */
static void set_up(uint64_t seed)
{
	static const char *const RACKS[] = {"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"};

	random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	for (int i = 0; i < NODES; i++) {
		if (i < 32)
			snprintf(names[i], sizeof names[i], "gpu%02d", i + 1);
		else if (i < 56)
			snprintf(names[i], sizeof names[i], "cpu%d", i - 31);
		else
			snprintf(names[i], sizeof names[i], "s%d-a", i - 55);
		rows[i] = (struct node_row){.id = i + 1,
			.name = names[i],
			.rack = RACKS[i / 8],
			.role = i < 32   ? "gpu"
				: i < 56 ? "cpu"
					 : "storage",
			.site = i % 2 ? "a" : "b",
			.state = i % 5 ? "ready" : "failed",
			.device_type = ""};
	}
	all.at = rows;
	all.n = NODES;
}

/* An expression and what it must mean. level: 0 union, 1 intersection, 2 an atom. */
struct made {
	struct buf text;
	uint64_t set;
	int level;
};

static void begin(struct made *m, int level)
{
	*m = (struct made){.level = level};
	buf_init(&m->text, 1 << 16);
}

static void make_name(struct made *m)
{
	const size_t i = draw(NODES);

	begin(m, 2);
	buf_add_text(&m->text, names[i]);
	m->set = UINT64_C(1) << i;
}

static void make_span(struct made *m)
{
	const unsigned from = (unsigned)draw(32), to = from + (unsigned)draw(32 - from);

	begin(m, 2);
	buf_addf(&m->text, "gpu[%02u-%02u]", from + 1, to + 1);
	for (unsigned i = from; i <= to; i++)
		m->set |= UINT64_C(1) << i;
}

static void make_list(struct made *m)
{
	const unsigned n = 1 + (unsigned)draw(4);

	begin(m, 2);
	buf_add_text(&m->text, "cpu[");
	for (unsigned k = 0; k < n; k++) {
		const unsigned i = (unsigned)draw(24);

		buf_addf(&m->text, "%s%u", k ? "," : "", i + 1);
		m->set |= UINT64_C(1) << (32 + i);
	}
	buf_add_char(&m->text, ']');
}

static void make_field(struct made *m)
{
	const unsigned rack = (unsigned)draw(8);

	begin(m, 2);
	switch (draw(4)) {
	case 0:
		buf_addf(&m->text, "rack=R%u", rack + 1);
		m->set = UINT64_C(0xFF) << (8 * rack);
		break;
	case 1:
		buf_add_text(&m->text, "role=storage");
		m->set = UINT64_C(0xFF) << 56;
		break;
	case 2:
		buf_add_text(&m->text, "site=a");
		m->set = UINT64_C(0xAAAAAAAAAAAAAAAA);
		break;
	default:
		buf_add_text(&m->text, "~^s[0-9]");
		m->set = UINT64_C(0xFF) << 56;
		break;
	}
}

static void make_atom(struct made *m)
{
	static void (*const MAKERS[])(struct made *) = {
		make_name, make_span, make_list, make_field};

	MAKERS[draw(4)](m);
	if (draw(20) == 0) {
		buf_clear(&m->text);
		buf_add_text(&m->text, "all");
		m->set = UINT64_MAX;
	}
}

/* What binds looser than the place it is put into stands in parentheses; sometimes all does. */
static void add(struct buf *out, const struct made *m, int level)
{
	const bool close = m->level < level || draw(8) == 0;

	if (draw(6) == 0)
		buf_add_char(out, ' ');
	buf_addf(out, "%s%s%s", close ? "(" : "", buf_text(&m->text), close ? ")" : "");
}

static void make(struct made *m, int depth);

static void make_pair(struct made *m, int depth)
{
	const uint64_t kind = draw(3);
	struct made a, b;

	make(&a, depth - 1);
	make(&b, depth - 1);
	begin(m, kind == 2 ? 1 : 0);
	if (kind == 2) {
		add(&m->text, &a, 1);
		buf_add_char(&m->text, '@');
		/* the grammar groups from the left, and so does a set: either way is right */
		add(&m->text, &b, 1);
		m->set = a.set & b.set;
	} else {
		add(&m->text, &a, 0);
		buf_add_text(&m->text, kind ? "," : ",-");
		add(&m->text, &b, 1);
		m->set = kind ? a.set | b.set : a.set & ~b.set;
	}
	buf_done(&a.text);
	buf_done(&b.text);
}

static void make(struct made *m, int depth)
{
	if (depth == 0 || draw(3) == 0)
		make_atom(m);
	else
		make_pair(m, depth);
}

static uint64_t meaning(const char *text, int *rc, struct err *err)
{
	struct node_refs refs = VEC_INIT;
	uint64_t set = 0;

	*rc = range_resolve(text, &all, &refs, err);
	vec_each(&refs, const struct node_row *, row) {
		const uint64_t bit = UINT64_C(1) << ((*row)->id - 1);

		assert_false(set & bit); /* each once */
		set |= bit;
	}
	vec_done(&refs);
	return set;
}

static void fold_means_the_same(uint64_t set)
{
	struct node_refs refs = VEC_INIT;
	AUTO_BUF text = {0};
	struct err err;
	int rc;

	buf_init(&text, 1 << 16);
	for (int i = 0; i < NODES; i++)
		if (set >> i & 1)
			*vec_push(&refs) = &rows[i];
	range_fold(&refs, &text);
	if (meaning(buf_text(&text), &rc, &err) != set)
		fail_msg("'%s' does not mean what it folds", buf_text(&text));
	vec_done(&refs);
}

TEST(expressions_mean_their_sets)
{
	unsigned empty = 0;

	set_up(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct made m;
		struct err err = {0};
		uint64_t got;
		int rc;

		make(&m, DEPTH_MAX);
		got = meaning(buf_text(&m.text), &rc, &err);
		empty += m.set == 0;
		if (m.set == 0 ? rc != -E_NOTFOUND : rc < 0)
			fail_msg("'%s': %s", buf_text(&m.text), err.msg);
		if (got != m.set)
			fail_msg("'%s' means %llx, not %llx", buf_text(&m.text),
				(unsigned long long)got, (unsigned long long)m.set);
		buf_done(&m.text);
	}
	assert_true(empty > 100 && empty < ROUNDS / 2);
}

TEST(folds_mean_what_they_fold)
{
	set_up(2);
	for (int round = 0; round < ROUNDS / 10; round++) {
		uint64_t set = draw(UINT64_MAX);

		if (round % 3)
			set &= draw(UINT64_MAX);
		if (round % 5 == 0)
			set |= UINT64_C(0xFFFF) << draw(48);
		if (set)
			fold_means_the_same(set);
	}
}

T_MAIN
