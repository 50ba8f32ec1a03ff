/* check - names, feeds, joins and nodes; space is in check_space.c. */
#include "inventory/model/check.h"

#include "agent/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define AMPS_MAX 6300 /* the largest frame of an air circuit breaker */

/* What a host key's base64 begins with: its own type, spelled inside. */
static const struct {
	const char *type, *begins;
} HOST_KEYS[] = {
	{"ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5"},
	{"ssh-rsa", "AAAAB3NzaC1yc2E"},
	{"ecdsa-sha2-nistp256", "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY"},
	{"ecdsa-sha2-nistp384", "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQ"},
	{"ecdsa-sha2-nistp521", "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjE"},
};

/* " (line 12)", or "" for a row that was not read from a file. */
struct where {
	char text[24];
};

static struct where at(unsigned line)
{
	struct where w = {""};

	if (line)
		snprintf(w.text, sizeof w.text, " (line %u)", line);
	return w;
}

/* p has all but its message. */
__attribute__((format(printf, 3, 4))) static void tell(
	const struct model_check *c, struct model_problem *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->msg, sizeof p->msg, fmt, ap);
	va_end(ap);
	c->report(c->ctx, p);
}

/* --- names --- */

/* Every row begins with its name, so one loop over bytes serves all nouns. */
struct named_rows {
	enum model_noun noun;
	const void *rows;
	size_t n, size;
	size_t line_at;  /* offset of the row's line */
	size_t owner_at; /* offset of the owner's index, MODEL_NONE when the site owns it */
};

#define ROWS(noun, list, type)                                                               \
	{                                                                                    \
		noun, (list).at, (list).n, sizeof(struct type), offsetof(struct type, line), \
			MODEL_NONE                                                           \
	}
#define OWNED_ROWS(noun, list, type, owner)                                                  \
	{                                                                                    \
		noun, (list).at, (list).n, sizeof(struct type), offsetof(struct type, line), \
			offsetof(struct type, owner)                                         \
	}

static void read_row(
	const struct named_rows *r, size_t i, const char **name, unsigned *line, size_t *owner)
{
	const char *row = (const char *)r->rows + i * r->size;

	memcpy(name, row, sizeof *name);
	memcpy(line, row + r->line_at, sizeof *line);
	*owner = 0;
	if (r->owner_at != MODEL_NONE)
		memcpy(owner, row + r->owner_at, sizeof *owner);
}

static void check_rows(
	const struct model_check *c, struct model_index *index, const struct named_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct model_problem p = {
			.code = E_EXISTS, .noun = r->noun, .row = i, .field = "name"};
		const char *name, *other;
		unsigned line, first;
		size_t owner, was;

		read_row(r, i, &name, &line, &owner);
		was = model_index_put(index, r->noun, owner, name, i);
		if (was == MODEL_NONE)
			continue;
		read_row(r, was, &other, &first, &owner);
		snprintf(p.hint, sizeof p.hint, "give one of the two another name");
		tell(c, &p, "%s '%s' is there already%s", model_noun_name(r->noun), name,
			at(first).text);
	}
}

void model_check_names(const struct model_check *c)
{
	const struct model *m = c->m;
	const struct named_rows all[] = {
		ROWS(NOUN_LOCATION, m->locations, location),
		ROWS(NOUN_ZONE, m->zones, cooling_zone),
		ROWS(NOUN_PANEL, m->panels, panel),
		ROWS(NOUN_RACK, m->racks, rack),
		ROWS(NOUN_FEED, m->feeds, feed),
		ROWS(NOUN_PDU, m->pdus, pdu),
		OWNED_ROWS(NOUN_OUTLET, m->outlets, outlet, pdu),
		ROWS(NOUN_TYPE, m->types, device_type),
		ROWS(NOUN_DEVICE, m->devices, device),
		OWNED_ROWS(NOUN_PORT, m->ports, port, device),
		ROWS(NOUN_NODE, m->nodes, node),
	};
	struct model_index *index = model_index_new();

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		check_rows(c, index, &all[i]);
	model_index_free(index);
}

/* --- feeds and PDUs --- */

static void check_volts(const struct model_check *c, size_t row)
{
	struct model_problem p = {
		.code = E_SCHEMA, .noun = NOUN_FEED, .row = row, .field = "volts"};
	const struct feed *f = &c->m->feeds.at[row];
	const double v = f->volts;

	if (isnan(v)) {
		tell(c, &p, "feed '%s' states no volts", f->name);
	} else if (f->phases == 3 && ((v >= 100 && v <= 130) || (v >= 220 && v <= 250))) {
		snprintf(p.hint, sizeof p.hint, "state it line to line: %.0f",
			v > 200 ? (v < 235 ? 400.0 : 415.0) : 208.0);
		tell(c, &p, "feed '%s' has three phases; %g V is the voltage of one", f->name, v);
	} else if (f->phases == 3 && (v < 190 || v > 1000)) {
		snprintf(p.hint, sizeof p.hint, "400 in Europe, 208 or 415 in North America");
		tell(c, &p, "feed '%s' has %g V, expected 190 to 1000 for three phases", f->name,
			v);
	} else if (f->phases == 1 && v >= 300) {
		snprintf(p.hint, sizeof p.hint, "state 'phases: 3', or the volts to neutral: 230");
		tell(c, &p, "feed '%s' has one phase; %g V is the voltage between three", f->name,
			v);
	} else if (f->phases == 1 && v < 90) {
		tell(c, &p, "feed '%s' has %g V, expected 90 to 300 for one phase", f->name, v);
	}
}

static void check_amps(
	const struct model_check *c, struct model_problem *p, const char *name, double amps)
{
	const char *noun = model_noun_name(p->noun);

	p->field = "amps";
	if (isnan(amps)) {
		snprintf(
			p->hint, sizeof p->hint, "state the rating of its breaker: 16, 32, 63 ...");
		tell(c, p, "%s '%s' states no amps", noun, name);
	} else if (amps <= 0 || amps > AMPS_MAX) {
		tell(c, p, "%s '%s' has %g A, expected more than 0 and at most %d", noun, name,
			amps, AMPS_MAX);
	}
}

static void check_feed(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_SCHEMA, .noun = NOUN_FEED, .row = row};
	const struct feed *f = &c->m->feeds.at[row];

	p.field = "phases";
	if (f->phases != 1 && f->phases != 3)
		tell(c, &p, "feed '%s' has %u phases, expected 1 or 3", f->name, f->phases);
	check_volts(c, row);
	check_amps(c, &p, f->name, f->amps);
	p.field = "max_utilization";
	if (f->max_utilization <= 0 || f->max_utilization > 1) /* false for unset */
		tell(c, &p,
			"feed '%s' has a max_utilization of %g, expected more than 0 and at most 1",
			f->name, f->max_utilization);
}

void model_check_feeds(const struct model_check *c)
{
	for (size_t i = 0; i < c->m->feeds.n; i++)
		check_feed(c, i);
	for (size_t i = 0; i < c->m->pdus.n; i++) {
		struct model_problem p = {.code = E_SCHEMA, .noun = NOUN_PDU, .row = i};

		if (!isnan(c->m->pdus.at[i].amps))
			check_amps(c, &p, c->m->pdus.at[i].name, c->m->pdus.at[i].amps);
	}
}

/* --- cords --- */

static const char *device_of(const struct model *m, size_t port)
{
	return m->devices.at[m->ports.at[port].device].name;
}

/* An outlet or a power port that an earlier cord has. */
static void check_cord_end(const struct model_check *c, size_t row, size_t *first, bool outlet)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_CORD, .row = row};
	const struct cord *cord = &c->m->cords.at[row], *other;
	const struct outlet *o = &c->m->outlets.at[cord->outlet];

	if (*first == MODEL_NONE) {
		*first = row;
		return;
	}
	other = &c->m->cords.at[*first];
	snprintf(p.hint, sizeof p.hint, "%s",
		outlet ? "move one of the two cords to a free outlet" : "remove one of the two");
	if (outlet)
		tell(c, &p, "outlet '%s/%s' has the cord of '%s/%s' already%s",
			c->m->pdus.at[o->pdu].name, o->name, device_of(c->m, other->port),
			c->m->ports.at[other->port].name, at(other->line).text);
	else
		tell(c, &p, "'%s/%s' has a cord already%s", device_of(c->m, cord->port),
			c->m->ports.at[cord->port].name, at(other->line).text);
}

static void check_cord_kind(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_CORD, .row = row};
	const struct port *port = &c->m->ports.at[c->m->cords.at[row].port];

	if (port->kind != PORT_POWER)
		tell(c, &p, "'%s/%s' is %s and takes no cord", c->m->devices.at[port->device].name,
			port->name, model_port_kind_name(port->kind));
}

static size_t *no_rows(struct arena *a, size_t n)
{
	size_t *rows = arena_alloc(a, (n + 1) * sizeof *rows);

	for (size_t i = 0; i < n; i++)
		rows[i] = MODEL_NONE;
	return rows;
}

void model_check_cords(const struct model_check *c)
{
	const struct model *m = c->m;
	struct arena *a = arena_new();
	size_t *by_outlet = no_rows(a, m->outlets.n), *by_port = no_rows(a, m->ports.n);

	for (size_t i = 0; i < m->cords.n; i++) {
		check_cord_kind(c, i);
		check_cord_end(c, i, &by_outlet[m->cords.at[i].outlet], true);
		check_cord_end(c, i, &by_port[m->cords.at[i].port], false);
	}
	arena_free(a);
}

/* --- cables --- */

static void check_cable_end(const struct model_check *c, size_t row, bool b, size_t *first)
{
	struct model_problem p = {
		.code = E_CONFLICT, .noun = NOUN_CABLE, .row = row, .field = b ? "b" : "a"};
	const struct cable *cable = &c->m->cables.at[row];
	const size_t port = b ? cable->b : cable->a;
	const char *device = device_of(c->m, port), *name = c->m->ports.at[port].name;

	if (c->m->ports.at[port].kind == PORT_POWER) {
		snprintf(p.hint, sizeof p.hint, "power goes into the device's 'cords'");
		tell(c, &p, "'%s/%s' is a power port and takes no cable", device, name);
	}
	if (*first == MODEL_NONE)
		*first = row;
	else if (*first == row)
		tell(c, &p, "the cable joins '%s/%s' to itself", device, name);
	else
		tell(c, &p, "'%s/%s' is cabled already%s", device, name,
			at(c->m->cables.at[*first].line).text);
}

static void check_cable_kinds(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_CABLE, .row = row};
	const struct cable *cable = &c->m->cables.at[row];
	const struct port *a = &c->m->ports.at[cable->a], *b = &c->m->ports.at[cable->b];

	if ((a->kind == PORT_INFINIBAND) == (b->kind == PORT_INFINIBAND) || a->kind == PORT_POWER ||
		b->kind == PORT_POWER)
		return;
	tell(c, &p, "the cable joins '%s/%s' (%s) to '%s/%s' (%s)", device_of(c->m, cable->a),
		a->name, model_port_kind_name(a->kind), device_of(c->m, cable->b), b->name,
		model_port_kind_name(b->kind));
}

void model_check_cables(const struct model_check *c)
{
	struct arena *arena = arena_new();
	size_t *first = no_rows(arena, c->m->ports.n);

	for (size_t i = 0; i < c->m->cables.n; i++) {
		check_cable_end(c, i, false, &first[c->m->cables.at[i].a]);
		check_cable_end(c, i, true, &first[c->m->cables.at[i].b]);
		check_cable_kinds(c, i);
	}
	arena_free(arena);
}

/* --- nodes --- */

static bool is_address(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const char ch = s.p[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9') || strchr(".:_-%", ch)))
			return false;
	}
	return s.n > 0 && s.n <= 253 && s.p[0] != '-';
}

static bool is_base64(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const char ch = s.p[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9') || ch == '+' || ch == '/' || ch == '='))
			return false;
	}
	return s.n > 0;
}

static bool is_host_key(const char *text)
{
	struct str rest = str_of(text), type;

	if (!str_next(&rest, ' ', &type) || !is_base64(rest))
		return false;
	for (size_t i = 0; i < sizeof HOST_KEYS / sizeof *HOST_KEYS; i++)
		if (str_is(type, HOST_KEYS[i].type))
			return str_starts(rest, HOST_KEYS[i].begins);
	return false;
}

static void check_address(
	const struct model_check *c, struct model_index *index, struct arena *a, size_t row)
{
	struct model_problem p = {
		.code = E_SCHEMA, .noun = NOUN_NODE, .row = row, .field = "address"};
	const struct node *n = &c->m->nodes.at[row];
	size_t was;

	if (!n->address || !*n->address) {
		snprintf(p.hint, sizeof p.hint, "add 'address:' with its IP address or host name");
		tell(c, &p, "node '%s' has no address", n->name);
		return;
	}
	if (!is_address(str_of(n->address))) {
		tell(c, &p, "node '%s': '%s' is no IP address or host name", n->name, n->address);
		return;
	}
	/* several nodes behind one address and different ports are fine */
	was = model_index_put(
		index, NOUN_ADDRESS, 0, arena_printf(a, "%s %u", n->address, n->port), row);
	if (was == MODEL_NONE)
		return;
	p.code = E_CONFLICT;
	tell(c, &p, "nodes '%s' and '%s'%s have one address, '%s' port %u", n->name,
		c->m->nodes.at[was].name, at(c->m->nodes.at[was].line).text, n->address, n->port);
}

void model_check_nodes(const struct model_check *c)
{
	struct model_index *index = model_index_new();
	struct arena *a = arena_new();

	for (size_t i = 0; i < c->m->nodes.n; i++) {
		struct model_problem p = {
			.code = E_SCHEMA, .noun = NOUN_NODE, .row = i, .field = "host_key"};
		const struct node *n = &c->m->nodes.at[i];

		check_address(c, index, a, i);
		if (!n->host_key || is_host_key(n->host_key))
			continue;
		snprintf(p.hint, sizeof p.hint,
			"as 'ssh-keyscan -t ed25519 %.80s' prints it: ssh-ed25519 AAAA...",
			n->address ? n->address : "HOST");
		tell(c, &p, "the host_key of node '%s' is of no known type", n->name);
	}
	arena_free(a);
	model_index_free(index);
}

void model_check_all(const struct model_check *c)
{
	model_check_names(c);
	model_check_feeds(c);
	model_check_space(c);
	model_check_cords(c);
	model_check_cables(c);
	model_check_nodes(c);
}
