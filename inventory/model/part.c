/* part - sets that are joined, each known by its lowest member. */
#include "inventory/model/part.h"

struct joiner {
	size_t *above; /* of racks, then feeds, then PDUs; a set's head is above itself */
	size_t feeds, pdus, n;
};

static size_t head_of(struct joiner *j, size_t i)
{
	while (j->above[i] != i)
		i = j->above[i] = j->above[j->above[i]];
	return i;
}

static void join(struct joiner *j, size_t a, size_t b)
{
	if (a == MODEL_NONE || b == MODEL_NONE)
		return;
	a = head_of(j, a);
	b = head_of(j, b);
	j->above[a > b ? a : b] = a > b ? b : a;
}

static size_t at(size_t base, size_t row)
{
	return row == MODEL_NONE ? MODEL_NONE : base + row;
}

/* What a PDU or feed hangs on, as a member; panels and UPSs are none. */
static size_t supply(const struct joiner *j, const struct model *m, struct supply s)
{
	if (s.kind == SUPPLY_FEED)
		return j->feeds + s.row;
	return s.kind == SUPPLY_OUTLET ? j->pdus + m->outlets.at[s.row].pdu : MODEL_NONE;
}

static void join_rooms(struct joiner *j, const struct model *m)
{
	for (size_t i = 0; i < m->feeds.n; i++) {
		join(j, j->feeds + i, m->feeds.at[i].rack);
		join(j, j->feeds + i, supply(j, m, m->feeds.at[i].upstream));
	}
	for (size_t i = 0; i < m->pdus.n; i++) {
		const struct pdu *p = &m->pdus.at[i];

		join(j, j->pdus + i, p->rack);
		join(j, j->pdus + i, at(j->feeds, p->feed));
		join(j, j->pdus + i, supply(j, m, p->upstream));
	}
}

/* By its cords a device joins their PDUs, and its rack to them. */
static void join_cords(struct arena *a, struct joiner *j, const struct model *m)
{
	size_t *first = arena_alloc(a, (m->devices.n + 1) * sizeof *first);

	for (size_t i = 0; i < m->devices.n; i++)
		first[i] = m->devices.at[i].rack;
	vec_each(&m->cords, const struct cord, c) {
		const size_t device = m->ports.at[c->port].device;
		const size_t pdu = j->pdus + m->outlets.at[c->outlet].pdu;

		if (first[device] == MODEL_NONE)
			first[device] = pdu;
		join(j, first[device], pdu);
	}
}

void model_parts(struct arena *a, const struct model *m, struct model_parts *out)
{
	const size_t n = m->racks.n + m->feeds.n + m->pdus.n;
	struct joiner j = {.above = arena_alloc(a, (n + 1) * sizeof *j.above),
		.feeds = m->racks.n,
		.pdus = m->racks.n + m->feeds.n,
		.n = n};
	size_t *number = arena_alloc(a, (n + 1) * sizeof *number);

	for (size_t i = 0; i < n; i++)
		j.above[i] = i;
	join_rooms(&j, m);
	join_cords(a, &j, m);
	*out = (struct model_parts){
		.racks = number, .feeds = number + j.feeds, .pdus = number + j.pdus};
	for (size_t i = 0; i < n; i++) { /* heads come before their members */
		const size_t head = head_of(&j, i);

		number[i] = head == i ? out->n++ : number[head];
	}
}
