/* part - which racks, feeds and PDUs hang together. */
#include "inventory/model/part.h"
#include "tests/unit/audit/site.h"
#include "tests/unit/t.h"

static struct model_parts parts_of(const struct model *m)
{
	struct model_parts p;

	model_parts(m->arena, m, &p);
	return p;
}

/* Four racks with a feed and a PDU each, a device in each rack with one cord to its own. */
static struct model *four(void)
{
	struct model *m = model_new();
	const size_t type = site_type(m, "box", 500, 1);

	for (unsigned i = 0; i < 4; i++) {
		const size_t rack = site_rack(m, arena_printf(m->arena, "r%u", i));
		const size_t feed =
			site_feed(m, arena_printf(m->arena, "f%u", i), MODEL_NONE, 230, 1, 16);
		const size_t pdu = site_pdu(m, arena_printf(m->arena, "p%u", i), MODEL_NONE, feed);
		const size_t device =
			site_device(m, arena_printf(m->arena, "d%u", i), type, rack, 1);

		site_cord(m, device, site_outlet(m, pdu, "C13", 0, PHASE_UNSTATED));
	}
	return m;
}

TEST(each_its_own)
{
	struct model *m = four();
	struct model_parts p = parts_of(m);

	assert_int_equal(p.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(p.racks[i], i);
		assert_int_equal(p.feeds[i], i);
		assert_int_equal(p.pdus[i], i);
	}
	model_free(m);
}

TEST(a_cord_joins)
{
	struct model *m = four();
	struct model_parts p;

	site_cord(m, 0, site_outlet(m, 2, "C13", 0, PHASE_UNSTATED));
	site_cord(m, 3, site_outlet(m, 2, "C13", 0, PHASE_UNSTATED));
	p = parts_of(m);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.racks[0], p.racks[2]);
	assert_int_equal(p.racks[0], p.feeds[3]);
	assert_int_not_equal(p.racks[0], p.racks[1]);
	model_free(m);
}

TEST(what_feeds_another_joins)
{
	struct model *m = four();
	struct model_parts p;

	m->pdus.at[1].feed = MODEL_NONE;
	m->pdus.at[1].upstream =
		(struct supply){SUPPLY_OUTLET, site_outlet(m, 3, "C19", 0, PHASE_UNSTATED)};
	m->pdus.at[2].rack = 0;
	m->feeds.at[1].panel = 0; /* panels join nothing */
	m->feeds.at[2].panel = 0;
	p = parts_of(m);
	assert_int_equal(p.racks[1], p.racks[3]);
	assert_int_equal(p.racks[2], p.racks[0]);
	assert_int_not_equal(p.racks[1], p.racks[2]);
	assert_int_equal(p.n, 3); /* feed 1 hangs alone now */
	model_free(m);
}

TEST(devices_without_a_rack_join_too)
{
	struct model *m = four();
	struct model_parts p;

	m->devices.at[1].rack = MODEL_NONE;
	site_cord(m, 1, site_outlet(m, 0, "C13", 0, PHASE_UNSTATED));
	p = parts_of(m);
	assert_int_equal(p.feeds[0], p.feeds[1]);
	assert_int_not_equal(p.racks[0], p.racks[1]); /* nothing is left in rack 1 */
	model_free(m);
}

TEST(nothing_at_all)
{
	struct model *m = model_new();

	assert_int_equal(parts_of(m).n, 0);
	model_free(m);
}

T_MAIN
