/*
 * export - canonical YAML: sections and keys in a fixed order, rows in the model's.
 *
 * Rows keep their order when read back: an importer reads the top-level feeds first
 * and then those of the racks, so only a tail that is in the racks' order is written
 * inside them. PDUs and nodes are treated likewise.
 */
#include "agent/base/mem.h"
#include "inventory/import/export_priv.h"
#include "inventory/import/import.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- scalars --- */

/* Read back as the same text by any YAML reader's grammar, in flow maps too. */
static bool is_plain(const char *s)
{
	const size_t n = strlen(s);

	if (!isalnum((unsigned char)s[0]) || s[n - 1] == ' ')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._/+-", s[i]) &&
			!(s[i] == ' ' && s[i + 1] != ' '))
			return false;
	return true;
}

/* The code point at s and its length; the text is UTF-8, import and store see to that. */
static unsigned decode(const char *s, int *n)
{
	const unsigned char *p = (const unsigned char *)s;

	*n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	for (int i = 1; i < *n; i++)
		if ((p[i] & 0xc0) != 0x80)
			*n = 1;
	if (*n == 1)
		return p[0];
	if (*n == 2)
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	if (*n == 3)
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return 0x10000; /* never in need of an escape */
}

/* What libyaml would refuse, or fold as a line break. */
static bool needs_escape(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

void export_quoted(struct buf *out, const char *text)
{
	int n;

	buf_add_char(out, '"');
	for (; *text; text += n) {
		const unsigned c = decode(text, &n);

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_add_text(out, "\\n");
		else if (c == '\t')
			buf_add_text(out, "\\t");
		else if (needs_escape(c))
			buf_addf(out, "\\u%04X", c);
		else
			buf_add(out, text, (size_t)n);
	}
	buf_add_char(out, '"');
}

void export_text(struct buf *out, const char *text)
{
	if (*text && is_plain(text))
		buf_add_text(out, text);
	else
		export_quoted(out, text);
}

void export_num(struct buf *out, double v)
{
	char text[40];
	double back;

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (str_to_f64(str_of(text), &back) && back >= v && back <= v)
			break;
	}
	buf_add_text(out, text);
}

static void flow_key(struct flow *f, const char *key)
{
	buf_addf(f->out, "%s%s: ", f->n++ ? ", " : "", key);
}

void flow_text(struct flow *f, const char *key, const char *v)
{
	if (!v)
		return;
	flow_key(f, key);
	export_text(f->out, v);
}

void flow_num(struct flow *f, const char *key, double v)
{
	if (isnan(v))
		return;
	flow_key(f, key);
	export_num(f->out, v);
}

void flow_uint(struct flow *f, const char *key, unsigned v)
{
	if (v == 0)
		return;
	flow_key(f, key);
	buf_addf(f->out, "%u", v);
}

void block_text(struct buf *out, int indent, const char *key, const char *v)
{
	if (!v)
		return;
	buf_addf(out, "%*s%s: ", indent, "", key);
	export_text(out, v);
	buf_add_char(out, '\n');
}

void block_num(struct buf *out, int indent, const char *key, double v)
{
	if (isnan(v))
		return;
	buf_addf(out, "%*s%s: ", indent, "", key);
	export_num(out, v);
	buf_add_char(out, '\n');
}

void block_uint(struct buf *out, int indent, const char *key, unsigned v)
{
	if (v)
		buf_addf(out, "%*s%s: %u\n", indent, "", key, v);
}

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

/* The end of the run of outlets of one PDU that are alike but for the name. */
static size_t run_end(const struct model *m, size_t first)
{
	const struct outlet *o = &m->outlets.at[first];
	size_t i = first;

	while (i < m->outlets.n && i - first < MODEL_RANGE_MAX && m->outlets.at[i].pdu == o->pdu &&
		m->outlets.at[i].bank == o->bank && m->outlets.at[i].phase == o->phase &&
		same_text(m->outlets.at[i].type, o->type))
		i++;
	return i;
}

/* Whether {type: range} can say it: one run per type, no bank, no phase. */
static bool is_simple(const struct model *m, size_t first, size_t last)
{
	for (size_t i = first; i < last; i = run_end(m, i)) {
		const struct outlet *o = &m->outlets.at[i];

		if (!o->type || o->bank || o->phase)
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

static void write_outlets(
	const struct model *m, size_t first, size_t last, struct buf *out, int indent)
{
	const bool simple = is_simple(m, first, last);

	if (first == last)
		return;
	buf_addf(out, "%*soutlets:%s", indent, "", simple ? " {" : "\n");
	for (size_t i = first; i < last; i = run_end(m, i)) {
		const struct outlet *o = &m->outlets.at[i];
		struct flow f = {out, 0};

		if (simple) {
			buf_add_text(out, i > first ? ", " : "");
			export_text(out, o->type);
			buf_add_text(out, ": ");
			write_range(m, i, run_end(m, i), out);
			continue;
		}
		buf_addf(out, "%*s- {names: ", indent + 2, "");
		write_range(m, i, run_end(m, i), out);
		f.n = 1;
		flow_text(&f, "type", o->type);
		flow_uint(&f, "bank", o->bank);
		flow_uint(&f, "phase", o->phase);
		buf_add_text(out, "}\n");
	}
	buf_add_text(out, simple ? "}\n" : "");
}

/* --- rooms and power --- */

static void write_feed(
	const struct model *m, const struct feed *f, bool rack, struct buf *out, int indent)
{
	struct flow flow = {out, 0};

	buf_addf(out, "%*s- {", indent, "");
	flow_text(&flow, "name", f->name);
	flow_text(&flow, "panel", NAME_OF(m->panels, f->panel));
	flow_text(&flow, "rack", rack ? NAME_OF(m->racks, f->rack) : NULL);
	flow_num(&flow, "volts", f->volts);
	flow_uint(&flow, "phases", f->phases);
	flow_num(&flow, "amps", f->amps);
	flow_num(&flow, "max_utilization", f->max_utilization);
	buf_add_text(out, "}\n");
}

static void write_pdu(
	const struct model *m, size_t i, size_t *outlet, bool rack, struct buf *out, int indent)
{
	const struct pdu *p = &m->pdus.at[i];
	const size_t first = *outlet;

	while (*outlet < m->outlets.n && m->outlets.at[*outlet].pdu == i)
		(*outlet)++;
	buf_addf(out, "%*s- name: ", indent, "");
	export_text(out, p->name);
	buf_add_char(out, '\n');
	block_text(out, indent + 2, "rack", rack ? NAME_OF(m->racks, p->rack) : NULL);
	block_text(out, indent + 2, "feed", NAME_OF(m->feeds, p->feed));
	block_num(out, indent + 2, "amps", p->amps);
	write_outlets(m, first, *outlet, out, indent + 2);
}

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

struct cursor {
	size_t feed, pdu, outlet; /* the next to be written inside a rack */
};

static void write_rack(const struct model *m, size_t i, struct cursor *at, struct buf *out)
{
	const struct rack *r = &m->racks.at[i];

	block_text(out, 0, "  - name", r->name);
	block_text(out, 4, "location", NAME_OF(m->locations, r->location));
	block_text(out, 4, "cooling_zone", NAME_OF(m->zones, r->cooling_zone));
	block_uint(out, 4, "height_u", r->height_u);
	block_num(out, 4, "depth_mm", r->depth_mm);
	block_num(out, 4, "max_weight_kg", r->max_weight_kg);
	if (at->feed < m->feeds.n && m->feeds.at[at->feed].rack == i)
		buf_add_text(out, "    feeds:\n");
	for (; at->feed < m->feeds.n && m->feeds.at[at->feed].rack == i; at->feed++)
		write_feed(m, &m->feeds.at[at->feed], false, out, 6);
	if (at->pdu < m->pdus.n && m->pdus.at[at->pdu].rack == i)
		buf_add_text(out, "    pdus:\n");
	for (; at->pdu < m->pdus.n && m->pdus.at[at->pdu].rack == i; at->pdu++)
		write_pdu(m, at->pdu, &at->outlet, false, out, 6);
}

static void write_rooms(const struct model *m, struct buf *out)
{
	struct flow f = {out, 0};

	block_text(out, 0, "site", m->site);
	block_text(out, 0, "about", m->about);
	buf_add_text(out, m->locations.n ? "locations:\n" : "");
	for (size_t i = 0; i < m->locations.n; i++) {
		buf_add_text(out, "  - ");
		export_text(out, m->locations.at[i].name);
		buf_add_char(out, '\n');
	}
	buf_add_text(out, m->zones.n ? "cooling_zones:\n" : "");
	for (size_t i = 0; i < m->zones.n; i++, f.n = 0) {
		buf_add_text(out, "  - {");
		flow_text(&f, "name", m->zones.at[i].name);
		flow_text(&f, "kind", m->zones.at[i].kind);
		flow_num(&f, "capacity_w", m->zones.at[i].capacity_w);
		buf_add_text(out, "}\n");
	}
	buf_add_text(out, m->panels.n ? "panels:\n" : "");
	for (size_t i = 0; i < m->panels.n; i++, f.n = 0) {
		buf_add_text(out, "  - {");
		flow_text(&f, "name", m->panels.at[i].name);
		flow_text(&f, "location", NAME_OF(m->locations, m->panels.at[i].location));
		buf_add_text(out, "}\n");
	}
}

static void write_power(const struct model *m, struct buf *out)
{
	struct cursor at = {feeds_tail(m), pdus_tail(m), 0};
	const size_t feeds = at.feed, pdus = at.pdu;

	buf_add_text(out, feeds ? "feeds:\n" : "");
	for (size_t i = 0; i < feeds; i++)
		write_feed(m, &m->feeds.at[i], true, out, 2);
	buf_add_text(out, pdus ? "pdus:\n" : "");
	for (size_t i = 0; i < pdus; i++)
		write_pdu(m, i, &at.outlet, true, out, 2);
	buf_add_text(out, m->racks.n ? "racks:\n" : "");
	for (size_t i = 0; i < m->racks.n; i++)
		write_rack(m, i, &at, out);
}

void export_site(const struct model *m, struct buf *out)
{
	write_rooms(m, out);
	write_power(m, out);
	export_types(m, out);
	export_devices(m, out);
	export_cables(m, out);
	export_nodes(m, out);
}
