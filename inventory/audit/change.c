/* change - one function per kind. */
#include "inventory/audit/change.h"

#include <string.h>

#define SEQUENCE_MS 100
#define DOOR_WATER  18.0 /* degrees C */

static size_t device_of(const struct model *m, const struct cord *c)
{
	return m->ports.at[c->port].device;
}

double change_next_size(double amps)
{
	static const double sizes[] = {16, 20, 32, 63, 125, 250};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (sizes[i] > amps)
			return sizes[i];
	return 0;
}

void change_take_out(struct model *m, size_t device)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->cords.n; i++)
		if (device_of(m, &m->cords.at[i]) != device)
			m->cords.at[kept++] = m->cords.at[i];
	m->cords.n = kept;
	m->devices.at[device].rack = MODEL_NONE;
	m->devices.at[device].position = 0;
}

static void move_cords(struct model *m, const struct change *c)
{
	for (unsigned i = 0; i < c->n; i++)
		vec_each(&m->cords, struct cord, cord)
			if (cord->port == c->ports[i])
				cord->outlet = c->outlets[i];
}

static void cap(struct model *m, const struct change *c)
{
	vec_each(&m->devices, struct device, d) {
		const struct device_type *t = graph_type(m, (size_t)(d - m->devices.at));

		if (d->rack != c->rack || t->gpus == 0 || !model_stated(t->gpu_w))
			continue;
		if (!model_stated(d->cap.gpu_w) || d->cap.gpu_w > c->watts)
			d->cap.gpu_w = c->watts;
		d->cap.enforced_at_boot = d->cap.readback = true;
	}
}

static void move_rack(struct model *m, const struct change *c)
{
	unsigned next = 0;

	m->devices.at[c->device].rack = c->to_rack;
	m->devices.at[c->device].position = c->unit;
	vec_each(&m->cords, struct cord, cord)
		if (device_of(m, cord) == c->device && next < c->n)
			cord->outlet = c->outlets[next++];
}

/* --- a further feed --- */

static bool pdu_serves(const struct model *m, size_t pdu, size_t rack)
{
	return m->pdus.at[pdu].rack == rack && m->pdus.at[pdu].feed != MODEL_NONE;
}

/* A new PDU; its outlets are the model's last. */
struct side {
	size_t pdu, first; /* first: of its outlets */
	bool *taken;       /* by outlet, from first on */
	unsigned on_phase[PHASE_N];
};

/* A PDU like the model's first in the rack, with banks and outlets, on a feed of its own. */
static struct side clone_side(struct model *m, size_t pdu)
{
	const size_t outlets = m->outlets.n, banks = m->banks.n, clone = m->pdus.n;
	struct feed feed = m->feeds.at[m->pdus.at[pdu].feed];
	struct pdu copy = m->pdus.at[pdu];

	feed.name = part_name(m, "new-feed", m->feeds.n);
	feed.panel = MODEL_NONE;
	feed.upstream = (struct supply){SUPPLY_NONE, 0};
	*vec_push(&m->feeds) = feed;
	copy.name = part_name(m, "new-pdu", m->pdus.n);
	copy.feed = m->feeds.n - 1;
	*vec_push(&m->pdus) = copy;
	for (size_t i = 0; i < banks; i++) {
		struct bank bank = m->banks.at[i];

		if (bank.pdu != pdu)
			continue;
		bank.pdu = clone;
		*vec_push(&m->banks) = bank;
	}
	for (size_t i = 0; i < outlets; i++) {
		struct outlet outlet = m->outlets.at[i];

		if (outlet.pdu != pdu)
			continue;
		outlet.pdu = clone;
		*vec_push(&m->outlets) = outlet;
	}
	return (struct side){.pdu = clone,
		.first = outlets,
		.taken = arena_alloc(m->arena, m->outlets.n - outlets + 1)};
}

static size_t outlet_pdu(const struct model *m, const struct cord *c)
{
	return m->outlets.at[c->outlet].pdu;
}

/* The side's free outlet for a plug like the cord's, on the phase that has fewest cords. */
static size_t twin(const struct model *m, const struct cord *c, const struct side *side)
{
	const char *type = m->outlets.at[c->outlet].type;
	size_t best = MODEL_NONE;
	unsigned least = 0;

	for (size_t i = m->outlets.n; i-- > side->first;) {
		const struct outlet *o = &m->outlets.at[i];
		const unsigned n = side->on_phase[o->phase % PHASE_N];

		if ((best != MODEL_NONE && n > least) || side->taken[i - side->first] ||
			(type && o->type && strcmp(type, o->type) != 0))
			continue;
		best = i;
		least = n;
	}
	return best;
}

/* How many cords of the device hang on the cord's PDU. */
static unsigned company(const struct model *m, size_t device, const struct cord *c)
{
	unsigned n = 0;

	vec_each(&m->cords, const struct cord, other)
		n += device_of(m, other) == device && outlet_pdu(m, other) == outlet_pdu(m, c);
	return n;
}

/*
 * One of the device's cords on the PDU that has most of them; turn picks among those,
 * so that devices in a row do not all leave the same line.
 */
static struct cord *richest(struct model *m, size_t device, size_t clone, unsigned turn)
{
	struct cord *list[CHANGE_CORDS_MAX];
	unsigned n = 0, most = 0;

	vec_each(&m->cords, struct cord, c) {
		unsigned own;

		if (device_of(m, c) != device || outlet_pdu(m, c) == clone)
			continue;
		own = company(m, device, c);
		if (own > most)
			n = 0;
		if (own < most || n == CHANGE_CORDS_MAX)
			continue;
		most = own;
		list[n++] = c;
	}
	return n ? list[turn % n] : NULL;
}

static unsigned cords_of(const struct model *m, size_t device)
{
	unsigned n = 0;

	vec_each(&m->cords, const struct cord, c)
		n += device_of(m, c) == device;
	return n;
}

static void move_to_side(struct model *m, struct cord *c, struct side *side)
{
	const size_t to = twin(m, c, side);

	if (to == MODEL_NONE)
		return;
	c->outlet = to;
	side->taken[to - side->first] = true;
	side->on_phase[m->outlets.at[to].phase % PHASE_N]++;
}

/* A fair share of each device's cords goes to the new side; devices with too few take turns. */
static void spread(struct model *m, size_t rack, struct side *side, unsigned old)
{
	unsigned turn = 0;

	for (size_t d = 0; d < m->devices.n; d++) {
		const unsigned all = m->devices.at[d].rack == rack ? cords_of(m, d) : 0;
		unsigned target = all / (old + 1);

		if (all < 2)
			continue;
		if (target == 0)
			target = turn % (old + 1) != 0;
		for (unsigned i = 0; i < target; i++) {
			struct cord *c = richest(m, d, side->pdu, turn + i);

			if (c)
				move_to_side(m, c, side);
		}
		turn++;
	}
}

static void add_feed(struct model *m, size_t rack)
{
	size_t first = MODEL_NONE;
	struct side side;
	unsigned sides = 0;

	for (size_t i = 0; i < m->pdus.n; i++) {
		if (!pdu_serves(m, i, rack))
			continue;
		sides++;
		if (first == MODEL_NONE)
			first = i;
	}
	if (first == MODEL_NONE)
		return;
	side = clone_side(m, first);
	spread(m, rack, &side, sides);
}

static void enlarge(struct model *m, const struct change *c)
{
	for (size_t i = 0; i < m->pdus.n; i++) {
		struct pdu *p = &m->pdus.at[i];
		struct feed *f = p->feed == MODEL_NONE ? NULL : &m->feeds.at[p->feed];

		if (p->rack != c->rack || !f || f->amps >= c->watts)
			continue;
		f->amps = c->watts;
		f->plug_amps = MODEL_UNSET;
		p->amps = MODEL_UNSET;
	}
}

static void add_door(struct model *m, const struct change *c)
{
	struct curve_point *point = arena_alloc(m->arena, sizeof *point);

	*point = (struct curve_point){DOOR_WATER, c->watts};
	m->racks.at[c->rack].cooling.rdhx = (struct curve){point, 1};
	m->racks.at[c->rack].cooling.rdhx_water_c = DOOR_WATER;
}

/* The device and the next ones of its type in the rack. */
static void remove_devices(struct model *m, const struct change *c)
{
	const size_t type = m->devices.at[c->device].type;
	unsigned left = c->unit;

	for (size_t d = m->devices.n; d-- > 0 && left > 0;) {
		if (m->devices.at[d].rack != c->rack || m->devices.at[d].type != type)
			continue;
		change_take_out(m, d);
		left--;
	}
}

static void prove(struct model *m, const struct change *c)
{
	vec_each(&m->devices, struct device, d)
		if (d->rack == c->rack &&
			(model_stated(d->cap.gpu_w) || model_stated(d->watts_cap)))
			d->cap.enforced_at_boot = d->cap.readback = true;
}

static void sequence(struct model *m, const struct change *c)
{
	vec_each(&m->pdus, struct pdu, p)
		if (p->rack == c->rack)
			p->sequence_ms = SEQUENCE_MS;
}

void change_make(struct model *m, const struct change *c)
{
	switch (c->kind) {
	case FIX_PROVE_CAP:
		prove(m, c);
		break;
	case FIX_MOVE_CORD:
		move_cords(m, c);
		break;
	case FIX_SEQUENCE:
		sequence(m, c);
		break;
	case FIX_MOVE_UNIT:
		m->devices.at[c->device].position = c->unit;
		break;
	case FIX_CAP:
		cap(m, c);
		break;
	case FIX_MOVE_RACK:
		move_rack(m, c);
		break;
	case FIX_ADD_FEED:
		add_feed(m, c->rack);
		break;
	case FIX_LARGER_FEED:
		enlarge(m, c);
		break;
	case FIX_DOOR:
		add_door(m, c);
		break;
	default:
		remove_devices(m, c);
	}
}

struct change change_map(const struct part *p, const struct change *c)
{
	struct change whole = *c;

	whole.rack = p->racks[c->rack];
	if (c->device != MODEL_NONE)
		whole.device = p->devices[c->device];
	for (unsigned i = 0; i < c->n; i++) {
		if (c->ports[i] != MODEL_NONE)
			whole.ports[i] = p->ports[c->ports[i]];
		whole.outlets[i] = p->outlets[c->outlets[i]];
	}
	return whole;
}
