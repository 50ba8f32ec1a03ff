/*
 * export_power - what feeds what, racks around it, zones and their units.
 *
 * Rows keep their order when read back: an importer reads the top-level feeds first
 * and then those of the racks, so only a tail that is in the racks' order is written
 * inside them. PDUs and nodes are treated likewise.
 */
#include "agent/base/mem.h"
#include "agent/base/str.h"
#include "inventory/import/export_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- outlets --- */

/* A name as its head and the number at its end. */
struct numbered {
	size_t head; /* length of what stands before the number */
	int width;
	unsigned long long v;
	bool is; /* has such a number of at most six digits */
};

static struct numbered split(const char *name)
{
	const size_t n = strlen(name);
	struct numbered s = {.head = n};
	uint64_t v;

	while (s.head > 0 && isdigit((unsigned char)name[s.head - 1]))
		s.head--;
	s.width = (int)(n - s.head);
	s.is = s.width > 0 && s.width <= 6 && str_to_u64(str_of(name + s.head), &v);
	s.v = s.is ? v : 0;
	return s;
}

/* Whether b is the name that follows a's number plus step in a range. */
static bool follows(const char *a, const struct numbered *s, unsigned long long step, const char *b)
{
	char want[160];

	snprintf(want, sizeof want, "%.*s%0*llu", (int)s->head, a, s->width, s->v + step);
	return s->is && s->v + step <= 999999 && strcmp(want, b) == 0;
}

/* Names of outlets from first to last as one range expression. */
static void names_range(const struct model *m, size_t first, size_t last, struct buf *out)
{
	for (size_t i = first; i < last;) {
		const char *name = m->outlets.at[i].name;
		const struct numbered s = split(name);
		size_t n = 1;

		while (i + n < last && follows(name, &s, n, m->outlets.at[i + n].name))
			n++;
		if (i > first)
			buf_add_char(out, ',');
		if (n == 1)
			buf_add_text(out, name);
		else
			buf_addf(out, "%.*s[%0*llu-%0*llu]", (int)s.head, name, s.width, s.v,
				s.width, s.v + n - 1);
		i += n;
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_num(double a, double b)
{
	return model_stated(a) == model_stated(b) && (!model_stated(a) || (a <= b && a >= b));
}

/* The end of the run of outlets of one PDU that are alike but for the name. */
static size_t run_end(const struct model *m, size_t first)
{
	const struct outlet *o = &m->outlets.at[first];
	size_t i = first;

	while (i < m->outlets.n && i - first < MODEL_RANGE_MAX && m->outlets.at[i].pdu == o->pdu &&
		m->outlets.at[i].bank == o->bank && m->outlets.at[i].phase == o->phase &&
		same_num(m->outlets.at[i].amps, o->amps) &&
		same_text(m->outlets.at[i].type, o->type))
		i++;
	return i;
}

/* Whether {type: range} can say it: one run per type and nothing else stated. */
static bool is_simple(const struct model *m, size_t first, size_t last)
{
	for (size_t i = first; i < last; i = run_end(m, i)) {
		const struct outlet *o = &m->outlets.at[i];

		if (!o->type || o->bank || o->phase || model_stated(o->amps))
			return false;
		for (size_t k = first; k < i; k = run_end(m, k))
			if (same_text(m->outlets.at[k].type, o->type))
				return false;
	}
	return true;
}

static void write_range(const struct model *m, size_t first, size_t last, struct buf *out)
{
	AUTO_BUF names;

	buf_init(&names, (size_t)1 << 20);
	names_range(m, first, last, &names);
	export_text(out, buf_text(&names));
}

static void write_outlets(const struct exporter *e, size_t first, size_t last, int indent)
{
	const struct model *m = e->m;
	struct buf *out = e->out;
	const bool simple = is_simple(m, first, last);

	if (first == last)
		return;
	buf_addf(out, "%*soutlets:%s", indent, "", simple ? " {" : "\n");
	for (size_t i = first; i < last; i = run_end(m, i)) {
		struct flow f = {out, 1};

		if (simple) {
			buf_add_text(out, i > first ? ", " : "");
			export_text(out, m->outlets.at[i].type);
			buf_add_text(out, ": ");
			write_range(m, i, run_end(m, i), out);
			continue;
		}
		buf_addf(out, "%*s- {names: ", indent + 2, "");
		write_range(m, i, run_end(m, i), out);
		flow_fields(e, NOUN_OUTLET, i, "name", &f);
		buf_add_text(out, "}\n");
	}
	buf_add_text(out, simple ? "}\n" : "");
}

/* --- PDUs --- */

/* The next to be written of what stands inside another row. */
struct cursor {
	size_t feed, pdu, bank, outlet;
};

static void write_banks(const struct exporter *e, size_t pdu, size_t *bank, int indent)
{
	const struct model *m = e->m;

	if (*bank < m->banks.n && m->banks.at[*bank].pdu == pdu)
		buf_addf(e->out, "%*sbanks:\n", indent, "");
	for (; *bank < m->banks.n && m->banks.at[*bank].pdu == pdu; (*bank)++)
		export_row(e, NOUN_BANK, *bank, NULL, indent + 2);
}

static void write_pdu(
	const struct exporter *e, size_t i, struct cursor *at, const char *skip, int indent)
{
	const struct model *m = e->m;
	const size_t first = at->outlet;

	while (at->outlet < m->outlets.n && m->outlets.at[at->outlet].pdu == i)
		at->outlet++;
	export_block(e, NOUN_PDU, i, skip, indent);
	write_banks(e, i, &at->bank, indent + 2);
	write_outlets(e, first, at->outlet, indent + 2);
}

/* --- racks --- */

/* Where the tail begins that stands in racks in their order. */
static size_t feeds_tail(const struct model *m)
{
	size_t i = m->feeds.n, bound = MODEL_NONE;

	while (i > 0 && m->feeds.at[i - 1].rack != MODEL_NONE && m->feeds.at[i - 1].rack <= bound)
		bound = m->feeds.at[--i].rack;
	return i;
}

static size_t pdus_tail(const struct model *m)
{
	size_t i = m->pdus.n, bound = MODEL_NONE;

	while (i > 0 && m->pdus.at[i - 1].rack != MODEL_NONE && m->pdus.at[i - 1].rack <= bound)
		bound = m->pdus.at[--i].rack;
	return i;
}

static void write_rack(const struct exporter *e, size_t i, struct cursor *at)
{
	const struct model *m = e->m;

	export_block(e, NOUN_RACK, i, NULL, 2);
	if (at->feed < m->feeds.n && m->feeds.at[at->feed].rack == i)
		buf_add_text(e->out, "    feeds:\n");
	for (; at->feed < m->feeds.n && m->feeds.at[at->feed].rack == i; at->feed++)
		export_row(e, NOUN_FEED, at->feed, "rack", 6);
	if (at->pdu < m->pdus.n && m->pdus.at[at->pdu].rack == i)
		buf_add_text(e->out, "    pdus:\n");
	for (; at->pdu < m->pdus.n && m->pdus.at[at->pdu].rack == i; at->pdu++)
		write_pdu(e, at->pdu, at, "rack", 6);
}

static void write_zones(const struct exporter *e)
{
	const struct model *m = e->m;
	size_t unit = 0;

	buf_add_text(e->out, m->zones.n ? "cooling_zones:\n" : "");
	for (size_t i = 0; i < m->zones.n; i++) {
		export_block(e, NOUN_ZONE, i, NULL, 2);
		if (unit < m->units.n && m->units.at[unit].zone == i)
			buf_add_text(e->out, "    units:\n");
		for (; unit < m->units.n && m->units.at[unit].zone == i; unit++)
			export_row(e, NOUN_UNIT, unit, NULL, 6);
	}
}

void export_rooms(const struct exporter *e)
{
	const struct model *m = e->m;

	export_top(e);
	buf_add_text(e->out, m->locations.n ? "locations:\n" : "");
	for (size_t i = 0; i < m->locations.n; i++) {
		if (m->locations.at[i].vars) {
			export_row(e, NOUN_LOCATION, i, NULL, 2);
			continue;
		}
		buf_add_text(e->out, "  - ");
		export_text(e->out, m->locations.at[i].name);
		buf_add_char(e->out, '\n');
	}
	write_zones(e);
	export_rows(e, "generators", NOUN_GENERATOR);
	export_rows(e, "upses", NOUN_UPS);
	export_rows(e, "panels", NOUN_PANEL);
}

void export_power(const struct exporter *e)
{
	const struct model *m = e->m;
	struct cursor at = {feeds_tail(m), pdus_tail(m), 0, 0};
	const size_t feeds = at.feed, pdus = at.pdu;

	buf_add_text(e->out, feeds ? "feeds:\n" : "");
	for (size_t i = 0; i < feeds; i++)
		export_row(e, NOUN_FEED, i, NULL, 2);
	buf_add_text(e->out, pdus ? "pdus:\n" : "");
	for (size_t i = 0; i < pdus; i++)
		write_pdu(e, i, &at, NULL, 2);
	buf_add_text(e->out, m->racks.n ? "racks:\n" : "");
	for (size_t i = 0; i < m->racks.n; i++)
		write_rack(e, i, &at);
}
