/*
 * netbox_power - cables to ends, then panels, feeds and PDUs.
 *
 * NetBox's feed does not say whether its volts are between lines or to neutral; three
 * phases of 230 V are refused unless the mapping file says. Its draws of PDU inlets
 * and its 'primary' and 'redundant' are not carried: power follows the cords here.
 */
#include "inventory/import/netbox_priv.h"

#include <stdio.h>
#include <string.h>

#define NESTED_MAX 16 /* PDUs in a row; more is a loop, the model's checks refuse it */

/* --- cables --- */

static enum nb_noun noun_of_type(const char *type)
{
	static const struct {
		const char *word;
		enum nb_noun noun;
	} types[] = {{"powerport", NB_PORTS}, {"poweroutlet", NB_OUTLETS},
		{"interface", NB_INTERFACES}, {"powerfeed", NB_FEEDS}};

	if (type && strncmp(type, "dcim.", 5) == 0)
		type += 5;
	for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].word, type) == 0)
			return types[i].noun;
	return NB_N;
}

/* What an end of a cable is called in the row: its type, object, id and names. */
struct end_words {
	const char *type, *name, *id, *side;
	const struct yaml_node *object, *at;
};

/* NetBox 3.3 and later: a list of one object, more on both sides are breakouts. */
static bool words_of_list(
	struct netbox *n, const struct yaml_node *row, char side, struct end_words *w)
{
	const struct yaml_node *list =
		yaml_get(row, side == 'a' ? "a_terminations" : "b_terminations");
	const struct yaml_node *id;

	if (!list || list->kind != YAML_LIST || list->n == 0)
		return false;
	if (list->n > 1)
		loss_add(n->s->losses, LOSS_DROPPED, "cables", "terminations",
			"ends after the first of a breakout cable");
	w->at = list->item[0];
	w->type = record_text(n->s, list->item[0], "object_type");
	w->object = record_get(list->item[0], "object");
	id = record_get(list->item[0], "object_id");
	w->id = id && id->kind == YAML_SCALAR ? id->text.p : NULL;
	return true;
}

/* Before 3.3, and the columns of CSV. */
static void words_of_columns(
	struct netbox *n, const struct yaml_node *row, char side, struct end_words *w)
{
	const char *was = side == 'a' ? "termination_a" : "termination_b";

	w->object = record_get(row, was);
	w->type = record_text(n->s, row, arena_printf(n->s->arena, "%s_type", was));
	w->id = record_text(n->s, row, arena_printf(n->s->arena, "%s_id", was));
	w->side = side == 'a' ? "side_a" : "side_b";
	if (!w->type)
		w->type = record_text(n->s, row, arena_printf(n->s->arena, "%s_type", w->side));
	w->name = record_text(n->s, row, arena_printf(n->s->arena, "%s_name", w->side));
	w->at = record_get(row, arena_printf(n->s->arena, "%s_name", w->side));
	if (!w->at)
		w->at = w->object ? w->object : row;
}

/* A feed's name is unique in its panel; names of feeds here are, in the site. */
static size_t find_end(
	struct netbox *n, const struct yaml_node *row, const struct end_words *w, enum nb_noun noun)
{
	const char *name = w->name;
	size_t found = MODEL_NONE, device;

	if (w->id)
		found = nb_find_id(n, noun, w->id);
	if (found != MODEL_NONE)
		return found;
	if (w->object)
		name = record_text(n->s, w->object, "name");
	if (!name)
		return MODEL_NONE;
	if (noun == NB_FEEDS)
		return nb_find(n, NB_FEEDS, 0, name);
	device = w->object ? nb_device_of(n, w->object, "device", true)
			   : nb_device_of(
				     n, row, arena_printf(n->s->arena, "%s_device", w->side), true);
	return device == MODEL_NONE ? MODEL_NONE : nb_find(n, noun, device + 1, name);
}

static bool read_end(struct netbox *n, const struct yaml_node *row, char side, struct nb_end *end)
{
	struct end_words w = {0};
	size_t found;

	if (!words_of_list(n, row, side, &w))
		words_of_columns(n, row, side, &w);
	if (!w.type) {
		source_fault(n->s, row, E_SCHEMA,
			"JSON has a_terminations; CSV has side_a_device, side_a_type, side_a_name",
			"the cable does not say what its side %c is", side);
		return false;
	}
	end->noun = noun_of_type(w.type);
	end->cable = row;
	if (end->noun == NB_N) {
		loss_add(n->s->losses, LOSS_DROPPED, "cables", w.type,
			"cables that end at something the model does not have");
		return false;
	}
	found = find_end(n, row, &w, end->noun);
	if (found == MODEL_NONE && n->others) {
		loss_add(n->s->losses, LOSS_DROPPED, "cables", "site", "of other sites");
		return false;
	}
	if (found == MODEL_NONE) {
		source_fault(n->s, w.at, E_NOTFOUND, "add that table to the dump",
			"the cable's side %c names none of the %s", side, NB_NOUNS[end->noun]);
		return false;
	}
	end->row = found;
	return true;
}

static void join(struct netbox *n, const struct nb_end *from, const struct nb_end *to)
{
	struct nb_end *peer = &n->peer[from->noun][from->row];

	if (peer->noun != NB_N)
		source_fault(n->s, from->cable, E_CONFLICT, "remove one of the two cables",
			"'%.80s' of the %s has a cable already",
			nb_text(n, from->noun, from->row, "name"), NB_NOUNS[from->noun]);
	else
		*peer = *to;
}

void nb_read_ends(struct netbox *n)
{
	n->ends = arena_alloc(n->s->arena, (n->rows[NB_CABLES].n + 1) * sizeof *n->ends);
	for (size_t i = 0; i < n->rows[NB_CABLES].n; i++) {
		const struct yaml_node *row = n->rows[NB_CABLES].at[i];
		struct nb_end *ends = n->ends[i];
		const bool a = read_end(n, row, 'a', &ends[0]), b = read_end(n, row, 'b', &ends[1]);

		if (!a || !b) {
			ends[0].noun = NB_N;
			continue;
		}
		join(n, &ends[0], &ends[1]);
		join(n, &ends[1], &ends[0]);
	}
	if (n->rows[NB_CABLES].n == 0 && n->rows[NB_PORTS].n > 0)
		loss_add(n->s->losses, LOSS_ASSUMED, "cables", "",
			"the dump has none, so nothing has a cord");
}

/* --- panels and feeds --- */

static void write_panels(struct netbox *n)
{
	for (size_t i = 0; i < n->rows[NB_PANELS].n; i++) {
		const struct yaml_node *row = n->rows[NB_PANELS].at[i];
		const char *name = record_text(n->s, row, "name");
		const char *location = record_text(n->s, row, "location");
		struct yaml_node *out;

		if (name && strcmp(name, NB_NO_PANEL) == 0)
			continue;
		out = nb_row(n, "panels", row);

		tree_put_text(n->s, out, "name", record_get(row, "name"),
			name ? source_label(n->s, "power-panels", name) : NULL);
		if (location)
			tree_put_text(n->s, out, "location", record_get(row, "location"),
				source_name(n->s, NULL, location));
	}
}

/* Volts that may be to neutral although there are three phases. */
static void put_volts(
	struct netbox *n, struct yaml_node *out, const struct yaml_node *row, bool three)
{
	const double v = record_num(n->s, row, "voltage");
	const bool to_neutral = (v >= 100 && v <= 130) || (v >= 220 && v <= 250);
	const struct yaml_node *at = record_get(row, "voltage");

	tree_put_num(n->s, out, "volts", at, v);
	if (!three || !to_neutral)
		return;
	tree_put_text(n->s, out, "volts_are", at, n->volts_are ? n->volts_are : "LN");
	if (!n->volts_are)
		source_fault(n->s, at, E_CONFLICT,
			"correct it, or say 'three_phase_volts: LN' in the file of --map",
			"the feed '%.60s' has three phases of %g V, and NetBox does not say "
			"between which lines",
			record_text(n->s, row, "name"), v);
}

static void write_feed(struct netbox *n, const struct yaml_node *row)
{
	struct yaml_node *out = nb_row(n, "feeds", row);
	const char *name = record_text(n->s, row, "name"), *phase = record_word(n->s, row, "phase");
	const char *panel = record_text(n->s, row, "power_panel");
	const char *rack = record_text(n->s, row, "rack"),
		   *supply = record_word(n->s, row, "supply");
	const bool three = phase && strncmp(phase, "three", 5) == 0;
	const double use = record_num(n->s, row, "max_utilization");

	tree_put_text(n->s, out, "name", record_get(row, "name"),
		name ? source_label(n->s, "power-feeds", name) : NULL);
	if (panel && strcmp(panel, NB_NO_PANEL) != 0)
		tree_put_text(n->s, out, "panel", record_get(row, "power_panel"),
			source_label(n->s, NULL, panel));
	if (rack)
		tree_put_text(
			n->s, out, "rack", record_get(row, "rack"), source_label(n->s, NULL, rack));
	if (supply && strcmp(supply, "dc") == 0)
		source_fault(n->s, record_get(row, "supply"), E_UNSUPPORTED,
			"leave this feed and what hangs on it out of the dump",
			"the feed '%.60s' is DC; only AC can be audited", name ? name : "");
	put_volts(n, out, row, three);
	tree_put_text(n->s, out, "phases",
		record_get(row, "phase") ? record_get(row, "phase") : row, three ? "3" : "1");
	tree_put_num(
		n->s, out, "amps", record_get(row, "amperage"), record_num(n->s, row, "amperage"));
	tree_put_num(n->s, out, "max_utilization", record_get(row, "max_utilization"), use / 100);
	if (record_get(row, "type"))
		loss_add(n->s->losses, LOSS_DROPPED, "power-feeds", "type",
			"which feed backs which follows from the cords; their capacities are never "
			"added up");
}

/* --- PDUs --- */

const char *nb_pdu_name(struct netbox *n, size_t device, size_t inlet)
{
	const struct nb_device *d = &n->devices[device];
	const char *own = record_text(n->s, d->row, "name");
	const bool single = n->next[NB_PORTS][d->first[NB_PORTS]] == MODEL_NONE;

	own = own ? own : d->name;
	if (!single)
		own = arena_printf(n->s->arena, "%s-%s", own, nb_text(n, NB_PORTS, inlet, "name"));
	return source_label(n->s, NULL, own);
}

/* The inlet that feeds an outlet, MODEL_NONE when it cannot be told. */
static size_t inlet_of(struct netbox *n, size_t outlet)
{
	const size_t device = n->owner[NB_OUTLETS][outlet];
	const char *name = nb_text(n, NB_OUTLETS, outlet, "power_port");
	size_t first = device == MODEL_NONE ? MODEL_NONE : n->devices[device].first[NB_PORTS];

	if (first == MODEL_NONE)
		return MODEL_NONE;
	if (name)
		return nb_find(n, NB_PORTS, device + 1, name);
	return n->next[NB_PORTS][first] == MODEL_NONE ? first : MODEL_NONE;
}

/* How many PDUs stand above an inlet, -1 when no feed is at the end. A loop ends at NESTED_MAX. */
static int depth_of(struct netbox *n, size_t inlet)
{
	for (int depth = 0; depth < NESTED_MAX; depth++) {
		const struct nb_end *peer = inlet == MODEL_NONE ? NULL : &n->peer[NB_PORTS][inlet];

		if (!peer || (peer->noun != NB_FEEDS && peer->noun != NB_OUTLETS))
			return -1;
		if (peer->noun == NB_FEEDS)
			return depth;
		inlet = inlet_of(n, peer->row);
	}
	return NESTED_MAX;
}

const char *nb_outlet_path(struct netbox *n, size_t outlet)
{
	const size_t inlet = inlet_of(n, outlet);

	if (depth_of(n, inlet) < 0)
		return NULL;
	return arena_printf(n->s->arena, "%s/%s", nb_pdu_name(n, n->owner[NB_PORTS][inlet], inlet),
		source_name(n->s, NULL, nb_text(n, NB_OUTLETS, outlet, "name")));
}

static const char *const LEGS[] = {"a", "b", "c", NULL};

/* "iec-60320-c13" is C13 here. */
static const char *outlet_type(struct netbox *n, size_t outlet)
{
	const char *type = record_word(n->s, n->rows[NB_OUTLETS].at[outlet], "type");

	if (!type)
		return NULL;
	if (strncmp(type, "iec-60320-", 10) == 0)
		type += 10;
	if (type[0] == 'c' && strspn(type + 1, "0123456789") == strlen(type + 1))
		return arena_printf(n->s->arena, "C%s", type + 1);
	return source_name(n->s, "power-outlets", type);
}

static void write_outlet(struct netbox *n, size_t i, struct yaml_node *list, double volts)
{
	const struct yaml_node *row = n->rows[NB_OUTLETS].at[i];
	struct yaml_node *out = tree_map(n->s, row);
	const char *name = nb_text(n, NB_OUTLETS, i, "name");
	const char *leg = record_word(n->s, row, "feed_leg");

	tree_put_text(n->s, out, "names", record_get(row, "name"),
		name ? source_name(n->s, "power-outlets", name) : "");
	tree_put_text(n->s, out, "type", record_get(row, "type"), outlet_type(n, i));
	tree_add(n->s, list, out);
	if (!leg || model_word(LEGS, leg) < 0)
		return;
	if (volts < 300) {
		loss_add(n->s->losses, LOSS_DROPPED, "power-outlets", "feed_leg",
			"of feeds below 300 V: NetBox cannot say that an outlet is between two lines");
		return;
	}
	tree_put_text(n->s, out, "phase", record_get(row, "feed_leg"),
		arena_printf(n->s->arena, "%d", model_word(LEGS, leg) + 1));
}

/* Volts of the feed at the end of the chain, 400 when there is none to ask. */
static double volts_above(struct netbox *n, size_t inlet)
{
	for (int i = 0; i < NESTED_MAX && inlet != MODEL_NONE; i++) {
		const struct nb_end *peer = &n->peer[NB_PORTS][inlet];
		double v;

		if (peer->noun != NB_FEEDS) {
			inlet = peer->noun == NB_OUTLETS ? inlet_of(n, peer->row) : MODEL_NONE;
			continue;
		}
		v = record_num(n->s, n->rows[NB_FEEDS].at[peer->row], "voltage");
		return n->volts_are && strcmp(n->volts_are, "LN") == 0 && v < 300 ? v * 1.732 : v;
	}
	return 400;
}

static void put_pdu_rack(struct netbox *n, const struct nb_device *d, struct yaml_node *out)
{
	const char *rack = record_text(n->s, d->row, "rack");

	if (rack)
		tree_put_text(n->s, out, "rack", record_get(d->row, "rack"),
			source_label(n->s, NULL, rack));
}

static void write_pdu(struct netbox *n, size_t inlet)
{
	const size_t device = n->owner[NB_PORTS][inlet];
	const struct nb_device *d = &n->devices[device];
	const struct nb_end *peer = &n->peer[NB_PORTS][inlet];
	const struct yaml_node *port = n->rows[NB_PORTS].at[inlet];
	struct yaml_node *out = nb_row(n, "pdus", d->row), *list = tree_list(n->s, d->row), *up;

	tree_put_text(n->s, out, "name", d->row, nb_pdu_name(n, device, inlet));
	put_pdu_rack(n, d, out);
	if (peer->noun == NB_FEEDS) {
		tree_put_text(n->s, out, "feed", peer->cable,
			source_label(n->s, NULL, nb_text(n, NB_FEEDS, peer->row, "name")));
	} else {
		up = tree_map(n->s, peer->cable);
		tree_put_text(n->s, up, "outlet", peer->cable, nb_outlet_path(n, peer->row));
		tree_put(n->s, out, "upstream", up);
	}
	for (size_t i = d->first[NB_OUTLETS]; i != MODEL_NONE; i = n->next[NB_OUTLETS][i])
		if (inlet_of(n, i) == inlet)
			write_outlet(n, i, list, volts_above(n, inlet));
	if (list && list->n)
		tree_put(n->s, out, "outlets", list);
	if (record_get(port, "maximum_draw") || record_get(port, "allocated_draw"))
		loss_add(n->s->losses, LOSS_DROPPED, "power-ports", "draw of PDUs",
			"a PDU draws what hangs on it");
}

static void tell_lonely_outlets(struct netbox *n, const struct nb_device *d)
{
	for (size_t i = d->first[NB_OUTLETS]; i != MODEL_NONE; i = n->next[NB_OUTLETS][i])
		if (inlet_of(n, i) == MODEL_NONE)
			loss_add(n->s->losses, LOSS_DROPPED, "power-outlets", "power_port",
				"'%.60s' of '%.60s' says no inlet that feeds it",
				nb_text(n, NB_OUTLETS, i, "name"), d->name);
}

/* PDUs fed by a feed first, then what hangs on them: a reader meets each after what it names. */
static void write_pdus(struct netbox *n)
{
	for (int depth = 0; depth <= NESTED_MAX; depth++)
		for (size_t i = 0; i < n->rows[NB_PORTS].n; i++) {
			const size_t device = n->owner[NB_PORTS][i];

			if (device != MODEL_NONE && n->devices[device].pdu &&
				depth_of(n, i) == depth)
				write_pdu(n, i);
		}
	for (size_t i = 0; i < n->rows[NB_DEVICES].n; i++) {
		const struct nb_device *d = &n->devices[i];
		bool fed = false;

		if (!d->pdu)
			continue;
		for (size_t k = d->first[NB_PORTS]; k != MODEL_NONE; k = n->next[NB_PORTS][k])
			fed = fed || depth_of(n, k) >= 0;
		tell_lonely_outlets(n, d);
		if (!fed)
			loss_add(n->s->losses, LOSS_DROPPED, "devices", "PDU",
				"'%.60s' has outlets, but no cable leads from it to a feed",
				d->name);
	}
}

const char *nb_feed_tap(struct netbox *n, size_t feed, const struct yaml_node *at)
{
	const char *name = nb_text(n, NB_FEEDS, feed, "name"), *label;
	struct yaml_node *out, *list, *outlet;

	label = source_label(n->s, NULL, name);
	if (nb_find(n, NB_DEVICES, 0, name) != MODEL_NONE)
		label = source_label(n->s, NULL, arena_printf(n->s->arena, "%s-tap", name));
	out = nb_row(n, "pdus", at);
	tree_put_text(n->s, out, "name", at, label);
	if (nb_text(n, NB_FEEDS, feed, "rack"))
		tree_put_text(n->s, out, "rack", at,
			source_label(n->s, NULL, nb_text(n, NB_FEEDS, feed, "rack")));
	tree_put_text(n->s, out, "feed", at, source_label(n->s, NULL, name));
	list = tree_list(n->s, at);
	outlet = tree_map(n->s, at);
	tree_put_text(n->s, outlet, "names", at, "1");
	tree_add(n->s, list, outlet);
	tree_put(n->s, out, "outlets", list);
	loss_add(n->s->losses, LOSS_CHANGED, "power-feeds", "cable",
		"'%.60s' goes straight to a device; a PDU '%.60s' of one outlet stands for the joint",
		name, label);
	return arena_printf(n->s->arena, "%s/1", label);
}

void nb_write_power(struct netbox *n)
{
	write_panels(n);
	for (size_t i = 0; i < n->rows[NB_FEEDS].n; i++)
		write_feed(n, n->rows[NB_FEEDS].at[i]);
	write_pdus(n);
}
