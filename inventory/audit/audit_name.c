/* audit_name - subjects as people call them, both ways. */
#include "agent/base/err.h"
#include "inventory/audit/audit.h"

#include <string.h>
#include <strings.h>

static const char *plain_name(const struct model *m, struct audit_subject s)
{
	switch (s.noun) {
	case NOUN_ZONE:
		return m->zones.at[s.row].name;
	case NOUN_PANEL:
		return m->panels.at[s.row].name;
	case NOUN_RACK:
		return m->racks.at[s.row].name;
	case NOUN_FEED:
		return m->feeds.at[s.row].name;
	case NOUN_PDU:
		return m->pdus.at[s.row].name;
	case NOUN_TYPE:
		return m->types.at[s.row].name;
	case NOUN_DEVICE:
		return m->devices.at[s.row].name;
	case NOUN_UPS:
		return m->upses.at[s.row].name;
	case NOUN_GENERATOR:
		return m->generators.at[s.row].name;
	case NOUN_UNIT:
		return m->units.at[s.row].name;
	case NOUN_RESERVATION:
		return m->reservations.at[s.row].name;
	default:
		return NULL;
	}
}

const char *audit_name(struct arena *a, const struct model *m, struct audit_subject what)
{
	const char *owner = NULL, *name = plain_name(m, what);

	if (what.noun == NOUN_N)
		return "normal operation";
	if (what.noun == NOUN_OUTLET) {
		owner = m->pdus.at[m->outlets.at[what.row].pdu].name;
		name = m->outlets.at[what.row].name;
	} else if (what.noun == NOUN_BANK) {
		owner = m->pdus.at[m->banks.at[what.row].pdu].name;
		name = m->banks.at[what.row].name;
	} else if (what.noun == NOUN_PORT) {
		owner = m->devices.at[m->ports.at[what.row].device].name;
		name = m->ports.at[what.row].name;
	}
	return arena_printf(a, "%s '%s%s%s'", model_noun_name(what.noun), owner ? owner : "",
		owner ? "/" : "", name ? name : "?");
}

/* One kind of thing and how many rows of it there are. */
struct searched {
	enum model_noun noun;
	size_t n;
};

static size_t find_plain(const struct model *m, struct searched in, const char *name)
{
	for (size_t i = 0; i < in.n; i++) {
		const char *own = plain_name(m, (struct audit_subject){in.noun, i});

		if (own && strcmp(own, name) == 0)
			return i;
	}
	return MODEL_NONE;
}

/* "pdu-a/2": a bank of that name, else an outlet. */
static bool find_inside(const struct model *m, const char *name, struct audit_subject *out)
{
	const char *slash = strrchr(name, '/');
	size_t n;

	if (!slash)
		return false;
	n = (size_t)(slash - name);
	for (size_t i = 0; i < m->banks.n; i++) {
		const char *pdu = m->pdus.at[m->banks.at[i].pdu].name;

		if (strlen(pdu) == n && memcmp(pdu, name, n) == 0 &&
			strcmp(m->banks.at[i].name, slash + 1) == 0) {
			*out = (struct audit_subject){NOUN_BANK, i};
			return true;
		}
	}
	for (size_t i = 0; i < m->outlets.n; i++) {
		const char *pdu = m->pdus.at[m->outlets.at[i].pdu].name;

		if (strlen(pdu) == n && memcmp(pdu, name, n) == 0 &&
			strcmp(m->outlets.at[i].name, slash + 1) == 0) {
			*out = (struct audit_subject){NOUN_OUTLET, i};
			return true;
		}
	}
	return false;
}

/* "feed:A" says which kind is meant: its word, then the name behind the colon. */
static const char *behind_kind(const char *name, const char *kind)
{
	const size_t n = strlen(kind);

	return strncasecmp(name, kind, n) == 0 && name[n] == ':' ? name + n + 1 : NULL;
}

static int say_ambiguous(const char *name, enum model_noun a, enum model_noun b, struct err *err)
{
	err_set(err, E_CONFLICT, "both a %s and a %s are called '%s'", model_noun_name(a),
		model_noun_name(b), name);
	return err_hint(err, "say which: '%s:%s'", model_noun_name(a), name);
}

int audit_find(const struct model *m, const char *name, struct audit_subject *out, struct err *err)
{
	const struct searched all[] = {{NOUN_FEED, m->feeds.n}, {NOUN_PDU, m->pdus.n},
		{NOUN_PANEL, m->panels.n}, {NOUN_UPS, m->upses.n}, {NOUN_UNIT, m->units.n}};
	unsigned found = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const char *rest = behind_kind(name, model_noun_name(all[i].noun));
		size_t row = find_plain(m, all[i], name);

		if (row == MODEL_NONE && rest)
			row = find_plain(m, all[i], rest);
		if (row == MODEL_NONE)
			continue;
		if (found++ == 0)
			*out = (struct audit_subject){all[i].noun, row};
		else
			return say_ambiguous(name, out->noun, all[i].noun, err);
	}
	if (found || find_inside(m, name, out))
		return 0;
	err_set(err, E_NOTFOUND, "nothing that can be lost is called '%s'", name);
	return err_hint(err, "a feed, PDU, panel, UPS, cooling unit, or PDU/BANK");
}
