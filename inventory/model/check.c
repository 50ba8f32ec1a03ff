/* check - names, joins and nodes; what feeds what is in check_power.c, space in check_space.c. */
#include "inventory/model/check.h"

#include "agent/base/str.h"
#include "inventory/model/check_priv.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

struct where check_line(unsigned line)
{
	struct where w = {""};

	if (line)
		snprintf(w.text, sizeof w.text, " (line %u)", line);
	return w;
}

void check_tell(const struct model_check *c, struct model_problem *p, const char *fmt, ...)
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
		check_tell(c, &p, "%s '%s' is there already%s", model_noun_name(r->noun), name,
			check_line(first).text);
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
		ROWS(NOUN_UPS, m->upses, ups),
		ROWS(NOUN_GENERATOR, m->generators, generator),
		OWNED_ROWS(NOUN_BANK, m->banks, bank, pdu),
		OWNED_ROWS(NOUN_UNIT, m->units, cooling_unit, zone),
		ROWS(NOUN_RESERVATION, m->reservations, reservation),
		ROWS(NOUN_ROLE, m->roles, role),
	};
	struct model_index *index = model_index_new();

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		check_rows(c, index, &all[i]);
	model_index_free(index);
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
		check_tell(c, &p, "outlet '%s/%s' has the cord of '%s/%s' already%s",
			c->m->pdus.at[o->pdu].name, o->name, device_of(c->m, other->port),
			c->m->ports.at[other->port].name, check_line(other->line).text);
	else
		check_tell(c, &p, "'%s/%s' has a cord already%s", device_of(c->m, cord->port),
			c->m->ports.at[cord->port].name, check_line(other->line).text);
}

static void check_cord_kind(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_CORD, .row = row};
	const struct port *port = &c->m->ports.at[c->m->cords.at[row].port];

	if (port->kind != PORT_POWER)
		check_tell(c, &p, "'%s/%s' is %s and takes no cord",
			c->m->devices.at[port->device].name, port->name,
			model_port_kind_name(port->kind));
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
		check_tell(c, &p, "'%s/%s' is a power port and takes no cable", device, name);
	}
	if (*first == MODEL_NONE)
		*first = row;
	else if (*first == row)
		check_tell(c, &p, "the cable joins '%s/%s' to itself", device, name);
	else
		check_tell(c, &p, "'%s/%s' is cabled already%s", device, name,
			check_line(c->m->cables.at[*first].line).text);
}

static void check_cable_kinds(const struct model_check *c, size_t row)
{
	struct model_problem p = {.code = E_CONFLICT, .noun = NOUN_CABLE, .row = row};
	const struct cable *cable = &c->m->cables.at[row];
	const struct port *a = &c->m->ports.at[cable->a], *b = &c->m->ports.at[cable->b];

	if ((a->kind == PORT_INFINIBAND) == (b->kind == PORT_INFINIBAND) || a->kind == PORT_POWER ||
		b->kind == PORT_POWER)
		return;
	check_tell(c, &p, "the cable joins '%s/%s' (%s) to '%s/%s' (%s)", device_of(c->m, cable->a),
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

/* Digits and dots alone are meant as an IPv4 address. */
static bool is_address(const char *text)
{
	const struct str s = str_of(text);
	struct in_addr v4;

	if (strspn(text, "0123456789.") == s.n)
		return inet_pton(AF_INET, text, &v4) == 1;
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
		check_tell(c, &p, "node '%s' has no address", n->name);
		return;
	}
	if (!is_address(n->address)) {
		snprintf(p.hint, sizeof p.hint, "such as 10.0.0.7, fd00::7 or gpu01.example.org");
		check_tell(c, &p, "node '%s': '%s' is no IP address or host name", n->name,
			n->address);
		return;
	}
	/* several nodes behind one address and different ports are fine */
	was = model_index_put(
		index, NOUN_ADDRESS, 0, arena_printf(a, "%s %u", n->address, n->port), row);
	if (was == MODEL_NONE)
		return;
	p.code = E_CONFLICT;
	check_tell(c, &p, "nodes '%s' and '%s'%s have one address, '%s' port %u", n->name,
		c->m->nodes.at[was].name, check_line(c->m->nodes.at[was].line).text, n->address,
		n->port);
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
		check_tell(c, &p, "the host_key of node '%s' is of no known type", n->name);
	}
	arena_free(a);
	model_index_free(index);
}

/* --- dates --- */

/* 2026-10-01 */
static bool is_date(const char *text)
{
	const struct str s = str_of(text);
	uint64_t year, month, day;

	return s.n == 10 && s.p[4] == '-' && s.p[7] == '-' && str_to_u64(str_first(s, 4), &year) &&
	       str_to_u64(str_first(str_from(s, 5), 2), &month) &&
	       str_to_u64(str_from(s, 8), &day) && year >= 1970 && month >= 1 && month <= 12 &&
	       day >= 1 && day <= 31;
}

static void check_date(const struct model_check *c, struct model_problem *p, const char *text)
{
	if (!text || is_date(text))
		return;
	snprintf(p->hint, sizeof p->hint, "such as 2026-10-01");
	check_tell(c, p, "'%.40s' is no date", text);
}

void model_check_dates(const struct model_check *c)
{
	const struct model *m = c->m;

	for (size_t i = 0; i < m->devices.n; i++) {
		struct model_problem p = {
			.code = E_SCHEMA, .noun = NOUN_DEVICE, .row = i, .field = "measured_date"};

		check_date(c, &p, m->devices.at[i].measured_date);
	}
	for (size_t i = 0; i < m->reservations.n; i++) {
		struct model_problem p = {
			.code = E_SCHEMA, .noun = NOUN_RESERVATION, .row = i, .field = "until"};

		check_date(c, &p, m->reservations.at[i].until);
	}
	vec_each(&m->notes, const struct fact_note, note) {
		struct model_problem p = {.code = E_SCHEMA,
			.noun = (enum model_noun)note->noun,
			.row = note->row,
			.field = "facts"};

		check_date(c, &p, note->date);
	}
}

void model_check_all(const struct model_check *c)
{
	model_check_names(c);
	model_check_feeds(c);
	model_check_supplies(c);
	model_check_types(c);
	model_check_space(c);
	model_check_cords(c);
	model_check_cables(c);
	model_check_nodes(c);
	model_check_dates(c);
	model_check_roles(c);
}
