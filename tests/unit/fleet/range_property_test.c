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

/* Two brackets: each of the one with each of the other. */
static void make_product(struct made *m)
{
	const unsigned from = (unsigned)draw(8), to = from + (unsigned)draw(8 - from);

	begin(m, 2);
	buf_addf(&m->text, "s[%u-%u]-[%s]", from + 1, to + 1, draw(2) ? "a" : "a,a");
	for (unsigned i = from; i <= to; i++)
		m->set |= UINT64_C(1) << (56 + i);
}

/* Several values of one key are a union of them. */
static void make_racks(struct made *m)
{
	const unsigned from = (unsigned)draw(8), to = from + (unsigned)draw(8 - from);

	begin(m, 2);
	buf_addf(&m->text, "rack=R[%u-%u]", from + 1, to + 1);
	for (unsigned i = from; i <= to; i++)
		m->set |= UINT64_C(0xFF) << (8 * i);
}

static void make_state(struct made *m)
{
	begin(m, 2);
	buf_add_text(&m->text, draw(2) ? "state=failed" : "state='failed'");
	for (unsigned i = 0; i < NODES; i += 5)
		m->set |= UINT64_C(1) << i;
}

/* Signs of the grammar inside a regex's own brackets are the regex's. */
static void make_regex(struct made *m)
{
	static const struct {
		const char *text;
		uint64_t set;
	} REGEXES[] = {
		{"~^gpu0[1-8]$", 0xFF},
		{"~^(gpu0[12]|cpu1)$", 0x100000003},
		{"~^(cpu[0-9]{1,1})$", UINT64_C(0x1FF) << 32},
		{"~'^s[1,2@)]-a$'", UINT64_C(3) << 56},
		{"~-a$", UINT64_C(0xFF) << 56},
	};
	const size_t i = draw(sizeof REGEXES / sizeof REGEXES[0]);

	begin(m, 2);
	buf_add_text(&m->text, REGEXES[i].text);
	m->set = REGEXES[i].set;
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
	static void (*const MAKERS[])(struct made *) = {make_name, make_span, make_list, make_field,
		make_product, make_racks, make_state, make_regex};

	MAKERS[draw(sizeof MAKERS / sizeof MAKERS[0])](m);
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

/* Signs are lost, doubled and changed: an answer comes all the same, with a place in the text. */
TEST(broken_expressions_have_a_place)
{
	static const char SIGNS[] = "()[],-@~=' \"{}+*\\|^$.aR019";
	unsigned refused = 0;

	set_up(3);
	for (int round = 0; round < ROUNDS / 4; round++) {
		struct made m;
		struct err err = {0};
		int rc;

		make(&m, 2);
		for (size_t k = 1 + draw(3); k > 0 && m.text.n > 1; k--) {
			const size_t at = draw(m.text.n);

			if (draw(3) == 0)
				buf_cut(&m.text, at + 1);
			else
				m.text.p[at] = SIGNS[draw(sizeof SIGNS - 1)];
		}
		(void)meaning(buf_text(&m.text), &rc, &err);
		refused += rc < 0;
		if (rc < 0 && (!err.msg[0] || err.col > m.text.n + 1))
			fail_msg("'%s': %u: %s", buf_text(&m.text), err.col, err.msg);
		if (rc < 0 && err.col == 0 && err.code == E_SYNTAX &&
			str_trim(buf_str(&m.text)).n > 0)
			fail_msg("'%s': no place: %s", buf_text(&m.text), err.msg);
		buf_done(&m.text);
	}
	assert_true(refused > ROUNDS / 16);
}

/* What laws of sets say of any two expressions. */
TEST(laws_of_sets_hold)
{
	set_up(4);
	for (int round = 0; round < ROUNDS / 10; round++) {
		struct made a, b;
		struct err err = {0};
		AUTO_BUF text = {0};
		uint64_t both, without, back;
		int rc;

		make(&a, 2);
		make(&b, 2);
		buf_init(&text, 1 << 16);
		buf_addf(&text, "(%s)@(%s)", buf_text(&a.text), buf_text(&b.text));
		both = meaning(buf_text(&text), &rc, &err);
		buf_clear(&text);
		buf_addf(&text, "(%s),-(%s)", buf_text(&a.text), buf_text(&b.text));
		without = meaning(buf_text(&text), &rc, &err);
		buf_clear(&text);
		/* a = (a and b) and (a without b); taking away binds from left to right */
		buf_addf(&text, "all,-(%s),%s", buf_text(&a.text), buf_text(&a.text));
		back = meaning(buf_text(&text), &rc, &err);
		if (a.set && b.set) {
			assert_true((both | without) == a.set);
			assert_true((both & without) == 0);
			assert_true(a.level == 0 || back == UINT64_MAX);
		}
		buf_done(&a.text);
		buf_done(&b.text);
	}
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
