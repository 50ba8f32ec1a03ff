/* import_room - where things stand and what feeds them: locations to outlets, what is kept. */
#include "inventory/import/import_priv.h"

#include <string.h>
#include <strings.h>

static void read_locations(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *list = import_list(im, root, "locations");

	for (unsigned i = 0; list && i < list->n; i++) {
		const struct yaml_node *node = list->item[i];
		struct location row = {.line = node->line};

		if (node->kind == YAML_MAP) {
			import_new_row(im, node, NOUN_LOCATION, 0, NULL);
			continue;
		}
		if (!import_name_ok(im, node, "a location"))
			continue;
		row.name = import_text(im, node);
		import_enter(im, NOUN_LOCATION, 0, row.name, im->m->locations.n, node);
		*vec_push(&im->m->locations) = row;
	}
}

/* A list of rows that have nothing but their fields. */
static void read_list(struct importer *im, const struct yaml_node *root, const char *key,
	enum model_noun noun, const char *const *extra)
{
	const struct yaml_node *list = import_list(im, root, key);

	for (unsigned i = 0; list && i < list->n; i++)
		import_new_row(im, list->item[i], noun, 0, extra);
}

static void read_zones(struct importer *im, const struct yaml_node *root)
{
	static const char *const extra[] = {"units", NULL};
	const struct yaml_node *list = import_list(im, root, "cooling_zones");

	for (unsigned i = 0; list && i < list->n; i++) {
		const size_t zone = im->m->zones.n;
		const struct yaml_node *units;

		if (!import_new_row(im, list->item[i], NOUN_ZONE, 0, extra))
			continue;
		units = import_list(im, list->item[i], "units");
		for (unsigned k = 0; units && k < units->n; k++)
			if (import_new_row(im, units->item[k], NOUN_UNIT, zone, NULL))
				im->m->units.at[im->m->units.n - 1].zone = zone;
	}
}

void import_rooms(struct importer *im, const struct yaml_node *root)
{
	static const char *const in_rack[] = {"feeds", "pdus", NULL};

	read_locations(im, root);
	read_zones(im, root);
	read_list(im, root, "generators", NOUN_GENERATOR, NULL);
	read_list(im, root, "upses", NOUN_UPS, NULL);
	read_list(im, root, "panels", NOUN_PANEL, NULL);
	read_list(im, root, "racks", NOUN_RACK, in_rack);
}

void import_reservations(struct importer *im, const struct yaml_node *root)
{
	read_list(im, root, "reservations", NOUN_RESERVATION, NULL);
}

static void read_feed(struct importer *im, const struct yaml_node *node, size_t rack)
{
	struct feed *row;

	if (!import_new_row(im, node, NOUN_FEED, 0, NULL))
		return;
	row = &im->m->feeds.at[im->m->feeds.n - 1];
	if (row->rack == MODEL_NONE)
		row->rack = rack;
}

/* A feed of the list above, claimed by a rack: "feeds: [A1, B1]". */
static void claim_feed(struct importer *im, const struct yaml_node *node, size_t rack)
{
	const size_t row = import_find(im, node, NOUN_FEED, 0, node->text);
	struct feed *feed = row == MODEL_NONE ? NULL : &im->m->feeds.at[row];

	if (!feed)
		return;
	if (feed->rack != MODEL_NONE && feed->rack != rack)
		import_fault_at(im, node, E_CONFLICT, "a feed of several racks has no 'rack'",
			"feed '%s' is in rack '%s' already", feed->name,
			im->m->racks.at[feed->rack].name);
	else
		feed->rack = rack;
}

/* Any socket may be named, but what looks like one of IEC 60320 must be one. */
static void check_socket(struct importer *im, const struct yaml_node *node)
{
	static const char *const known[] = {"C1", "C5", "C7", "C9", "C11", "C13", "C14", "C15",
		"C15A", "C16", "C17", "C19", "C20", "C21", "C22", "C23", "C39", NULL};
	const char *word = node && node->kind == YAML_SCALAR ? import_text(im, node) : "";
	const char *near = err_nearest(word, known);

	if ((word[0] != 'C' && word[0] != 'c') || word[1] < '0' || word[1] > '9')
		return;
	for (size_t i = 0; known[i]; i++)
		if (strcasecmp(known[i], word) == 0)
			return;
	import_fault_at(im, node, E_SCHEMA,
		near ? arena_printf(im->doc->arena, "did you mean '%s'?", near)
		     : "C13 and C19 are the usual ones",
		"'%.80s' is no outlet of IEC 60320", word);
}

static void read_outlet_run(struct importer *im, const struct yaml_node *at,
	const struct outlet *like, const struct yaml_node *range)
{
	struct model_names names = VEC_INIT;

	if (import_range(im, range, &names)) {
		vec_each(&names, const char *, name) {
			struct outlet row = *like;

			if (!import_room_left(im, im->m->outlets.n, at))
				break;
			row.name = *name;
			import_enter(im, NOUN_OUTLET, row.pdu, row.name, im->m->outlets.n, at);
			*vec_push(&im->m->outlets) = row;
		}
	}
	vec_done(&names);
}

/* A bank that the PDU states, when it states any; an outlet without a phase has its bank's. */
static void find_bank(
	struct importer *im, const struct yaml_node *item, size_t first, const struct outlet *row)
{
	const struct model *m = im->m;

	if (row->bank == 0 || first == m->banks.n)
		return;
	for (size_t i = first; i < m->banks.n; i++) {
		const struct bank *bank = &m->banks.at[i];

		if (bank->number != row->bank)
			continue;
		if (row->phase && bank->phase && row->phase != bank->phase &&
			bank->phase != PHASE_ALL)
			import_fault(im, item, "phase", E_CONFLICT,
				"state it at the bank or at its outlets",
				"the outlets are on %s, but bank %u of '%s' is on %s",
				MODEL_PHASES[row->phase], row->bank, m->pdus.at[row->pdu].name,
				MODEL_PHASES[bank->phase]);
		return;
	}
	import_fault(im, item, "bank", E_NOTFOUND, "add it to the PDU's 'banks'",
		"'%s' has no bank %u", m->pdus.at[row->pdu].name, row->bank);
}

/* One item of the list of {names, type, bank, phase, amps}. */
static void read_outlet_item(
	struct importer *im, const struct yaml_node *item, size_t pdu, size_t first_bank)
{
	static const char *const extra[] = {"names", NULL};
	/* the name is not of the file: 'names' stands for it */
	struct model_fields fields = model_fields_of(NOUN_OUTLET);
	struct outlet row = {.pdu = pdu, .line = item->line};

	fields.at++;
	fields.n--;
	if (!import_row(im, item, NOUN_OUTLET, fields, extra, &row))
		return;
	check_socket(im, yaml_get(item, "type"));
	find_bank(im, item, first_bank, &row);
	if (yaml_get(item, "names"))
		read_outlet_run(im, item, &row, yaml_get(item, "names"));
	else
		import_fault(im, item, "names", E_SCHEMA, "such as \"[1-6]\"",
			"the outlets have no 'names'");
}

/* Either {C19: "[1-6]", C13: "[7-12]"} or the list. */
static void read_outlets(
	struct importer *im, const struct yaml_node *map, size_t pdu, size_t first_bank)
{
	const struct yaml_node *value = yaml_get(map, "outlets");

	if (!value)
		return;
	if (value->kind == YAML_SCALAR) {
		import_fault(im, map, "outlets", E_SCHEMA, "such as {C19: \"[1-6]\"}",
			"'outlets' must be a map of types or a list");
		return;
	}
	for (unsigned i = 0; i < value->n; i++) {
		const struct yaml_node *item = value->item[i];
		struct outlet row = {.pdu = pdu, .line = item->line};

		if (value->kind == YAML_LIST) {
			read_outlet_item(im, item, pdu, first_bank);
		} else if (import_name_ok(im, value->key[i], "the type of an outlet")) {
			check_socket(im, value->key[i]);
			row.type = import_text(im, value->key[i]);
			read_outlet_run(im, item, &row, item);
		}
	}
}

static void read_pdu(struct importer *im, const struct yaml_node *node, size_t rack)
{
	static const char *const extra[] = {"outlets", "banks", NULL};
	const size_t i = im->m->pdus.n, first_bank = im->m->banks.n;
	const unsigned before = im->errors->total;
	const struct yaml_node *banks;

	if (!import_new_row(im, node, NOUN_PDU, 0, extra))
		return;
	if (im->m->pdus.at[i].rack == MODEL_NONE)
		im->m->pdus.at[i].rack = rack;
	if (!yaml_get(node, "feed") && !yaml_get(node, "upstream"))
		import_fault(im, node, "feed", E_SCHEMA,
			"'feed: NAME', or 'upstream: {outlet: PDU/1}' when it hangs on another PDU",
			"the PDU has no 'feed'");
	if (model_index_find(im->index, NOUN_PDU, 0, im->m->pdus.at[i].name) != i)
		return; /* a name that is there twice is one error, not one per outlet */
	banks = import_list(im, node, "banks");
	for (unsigned k = 0; banks && k < banks->n; k++)
		if (import_new_row(im, banks->item[k], NOUN_BANK, i, NULL))
			im->m->banks.at[im->m->banks.n - 1].pdu = i;
	read_outlets(im, node, i, first_bank);
	if (im->errors->total > before)
		import_tear(im, node);
}

static void read_rack_feeds(struct importer *im, const struct yaml_node *rack, size_t row)
{
	const struct yaml_node *list = import_list(im, rack, "feeds");

	for (unsigned i = 0; list && i < list->n; i++) {
		if (list->item[i]->kind == YAML_SCALAR)
			claim_feed(im, list->item[i], row);
		else
			read_feed(im, list->item[i], row);
	}
}

void import_power(struct importer *im, const struct yaml_node *root)
{
	const struct yaml_node *feeds = import_list(im, root, "feeds");
	const struct yaml_node *pdus = import_list(im, root, "pdus");
	const struct places *racks = &im->places[NOUN_RACK];

	for (unsigned i = 0; feeds && i < feeds->n; i++)
		read_feed(im, feeds->item[i], MODEL_NONE);
	for (size_t i = 0; i < racks->n; i++)
		read_rack_feeds(im, racks->at[i], i);
	for (unsigned i = 0; pdus && i < pdus->n; i++)
		read_pdu(im, pdus->item[i], MODEL_NONE);
	for (size_t i = 0; i < racks->n; i++) {
		const struct yaml_node *list = import_list(im, racks->at[i], "pdus");

		for (unsigned k = 0; list && k < list->n; k++)
			read_pdu(im, list->item[k], i);
	}
	import_supplies(im);
}
