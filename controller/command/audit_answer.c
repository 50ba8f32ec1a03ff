/* audit_answer - plain lines, or one JSON object. */
#include "controller/command/audit_answer.h"

#include "agent/base/buf.h"
#include "agent/base/json.h"

#include <math.h>

#define WIDTH 80

static void put_number(json_t *obj, const char *key, double v)
{
	json_object_set_new(obj, key, isnan(v) ? json_null() : json_real(v));
}

/* Words of text, lines broken before WIDTH, each begun with indent blanks. */
static void add_wrapped(struct buf *out, unsigned indent, const char *text)
{
	struct str rest = str_of(text), word;
	unsigned at = WIDTH;

	while (str_next(&rest, ' ', &word)) {
		if (at + word.n + 1 > WIDTH) {
			buf_addf(out, "%s%*s", at == WIDTH ? "" : "\n", (int)indent, "");
			at = indent;
		} else {
			buf_add_char(out, ' ');
			at++;
		}
		buf_add_printable(out, word);
		at += (unsigned)word.n;
		if (at == WIDTH)
			at--;
	}
	buf_add_char(out, '\n');
}

/* --- fit --- */

static const char *rack_name(const struct fit *f, size_t rack)
{
	return f->model->racks.at[rack].name;
}

static json_t *fit_rack(const struct fit *f, const struct fit_rack *r)
{
	json_t *o = json_object();

	json_put_str(o, "rack", rack_name(f, r->rack));
	json_put_int(o, "fit", r->n);
	json_put_str(o, "after", audit_verdict_name(r->after));
	if (r->limit == RULE_N)
		return o;
	json_put_str(o, "limit", audit_rule_name(r->limit));
	put_number(o, "value", r->value);
	put_number(o, "bound", r->bound);
	json_put_str(o, "unit", r->unit);
	json_put_str(o, "text", r->text);
	if (r->move != MODEL_NONE) {
		json_t *move = json_object();

		json_put_str(move, "device", f->model->devices.at[r->move].name);
		json_put_int(move, "from", r->move_from);
		json_put_int(move, "to", r->move_to);
		json_put_int(move, "then_at", r->then_at);
		json_object_set_new(o, "move", move);
	}
	return o;
}

static json_t *fit_place(const struct fit *f, const struct fit_place *p)
{
	const struct model *m = f->model;
	json_t *o = json_object(), *outlets = json_array();

	json_put_str(o, "rack", rack_name(f, p->rack));
	json_put_int(o, "unit", p->unit);
	for (unsigned i = 0; i < p->n_outlets; i++) {
		const struct outlet *outlet = &m->outlets.at[p->outlets[i]];

		json_array_append_new(
			outlets, json_sprintf("%s/%s", m->pdus.at[outlet->pdu].name, outlet->name));
	}
	json_object_set_new(o, "outlets", outlets);
	return o;
}

static void fit_json(const struct fit *f, struct buf *out)
{
	json_t *o = json_object(), *racks = json_array(), *places = json_array();

	json_put_str(o, "type", f->model->types.at[f->type].name);
	if (f->asked)
		json_put_int(o, "asked", f->asked);
	json_put_int(o, "fit", f->total);
	json_put_int(o, "given_back", f->given_back);
	if (f->site_limit != RULE_N) {
		json_put_str(o, "site_limit", audit_rule_name(f->site_limit));
		json_put_str(o, "site_text", f->site_text);
	}
	vec_each(&f->racks, const struct fit_rack, r)
		json_array_append_new(racks, fit_rack(f, r));
	vec_each(&f->places, const struct fit_place, p)
		json_array_append_new(places, fit_place(f, p));
	json_object_set_new(o, "racks", racks);
	json_object_set_new(o, "places", places);
	json_write_pretty(o, out);
	buf_add_char(out, '\n');
	json_decref(o);
}

static void fit_rack_text(const struct fit *f, const struct fit_rack *r, struct buf *out)
{
	buf_addf(out, "%s: %u more", rack_name(f, r->rack), r->n);
	if (r->n) {
		buf_addf(out, ", then %s; at unit", audit_verdict_name(r->after));
		vec_each(&f->places, const struct fit_place, p)
			if (p->rack == r->rack)
				buf_addf(out, " %u", p->unit);
	}
	buf_add_char(out, '\n');
	if (r->limit != RULE_N) {
		buf_addf(out, "  the next one fails %s:\n", audit_rule_name(r->limit));
		add_wrapped(out, 4, r->text);
	}
	if (r->move != MODEL_NONE)
		buf_addf(out, "  move '%s' from unit %u to %u, then one goes to unit %u\n",
			f->model->devices.at[r->move].name, r->move_from, r->move_to, r->then_at);
}

void answer_print_fit(const struct fit *f, bool json, struct buf *out)
{
	if (json) {
		fit_json(f, out);
		return;
	}
	buf_addf(out, "%u ", f->total);
	if (f->asked)
		buf_addf(out, "of %u ", f->asked);
	buf_addf(out, "more '%s' fit\n", f->model->types.at[f->type].name);
	if (f->given_back) {
		buf_addf(out, "the racks would take %u more, but the site fails %s:\n",
			f->given_back, audit_rule_name(f->site_limit));
		add_wrapped(out, 4, f->site_text ? f->site_text : "");
	}
	vec_each(&f->racks, const struct fit_rack, r)
		fit_rack_text(f, r, out);
}

/* --- restart --- */

static void restart_json(const struct model *m, const struct restart_plan *p, struct buf *out)
{
	json_t *o = json_object(), *batches = json_array(), *now = NULL;
	unsigned batch = 0;

	vec_each(&p->steps, const struct restart_step, s) {
		json_t *item = json_object();

		if (s->batch != batch) {
			now = json_array();
			json_array_append_new(batches, now);
			batch = s->batch;
		}
		json_put_str(item, "device", m->devices.at[s->device].name);
		if (s->trips)
			json_put_bool(item, "trips", true);
		json_array_append_new(now, item);
	}
	json_object_set_new(o, "batches", batches);
	json_write_pretty(o, out);
	buf_add_char(out, '\n');
	json_decref(o);
}

void answer_print_restart(
	const struct model *m, const struct restart_plan *p, bool json, struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, out->cap);
	if (json) {
		restart_json(m, p, out);
		return;
	}
	buf_addf(out, "devices: %zu, batches: %u; each waits until the one before has started\n",
		p->steps.n, p->batches);
	for (size_t i = 0; i < p->steps.n; i++) {
		const struct restart_step *s = &p->steps.at[i];

		buf_addf(&line, "%s%s%s", line.n ? " " : "", m->devices.at[s->device].name,
			s->trips ? " (too much for its breaker even alone)" : "");
		if (i + 1 < p->steps.n && p->steps.at[i + 1].batch == s->batch)
			continue;
		buf_addf(out, "batch %u:\n", s->batch);
		add_wrapped(out, 4, buf_text(&line));
		buf_clear(&line);
	}
}

/* --- diff --- */

static void diff_json(const struct audit_diff *d, struct buf *out)
{
	json_t *o = json_object(), *list = json_array();

	json_put_str(o, "before", audit_verdict_name(d->before));
	json_put_str(o, "after", audit_verdict_name(d->after));
	json_put_int(o, "better", d->better);
	json_put_int(o, "worse", d->worse);
	vec_each(&d->changes, const struct audit_change, c) {
		json_t *item = json_object();

		json_put_str(item, "kind", diff_kind_name(c->kind));
		json_put_str(item, "rack", c->rack);
		json_put_str(item, "subject", c->subject);
		if (c->rule != RULE_N)
			json_put_str(item, "rule", audit_rule_name(c->rule));
		json_put_str(item, "before", audit_verdict_name(c->before));
		json_put_str(item, "after", audit_verdict_name(c->after));
		put_number(item, "was", c->was);
		put_number(item, "is", c->is);
		json_put_str(item, "unit", c->unit);
		json_put_str(item, "text", c->text);
		json_array_append_new(list, item);
	}
	json_object_set_new(o, "changes", list);
	json_write_pretty(o, out);
	buf_add_char(out, '\n');
	json_decref(o);
}

static void change_text(const struct audit_change *c, struct buf *out)
{
	const char *where = c->rack ? c->rack : "site";

	switch (c->kind) {
	case DIFF_RACK_NEW:
		buf_addf(out, "+ %s: new, %s\n", where, audit_verdict_name(c->after));
		return;
	case DIFF_RACK_GONE:
		buf_addf(out, "- %s: gone, was %s\n", where, audit_verdict_name(c->before));
		return;
	case DIFF_RACK:
		buf_addf(out, "%s: %s -> %s\n", where, audit_verdict_name(c->before),
			audit_verdict_name(c->after));
		return;
	case DIFF_VALUE:
		buf_addf(out, "  %s: %s %s: %.2f -> %.2f %s\n", where, audit_rule_name(c->rule),
			c->subject, c->was, c->is, c->unit);
		return;
	default:
		buf_addf(out, "  %s: %s %s: %s -> %s\n", where, audit_rule_name(c->rule),
			c->subject, audit_verdict_name(c->before), audit_verdict_name(c->after));
		add_wrapped(out, 4, c->text);
	}
}

void answer_print_diff(const struct audit_diff *d, bool json, struct buf *out)
{
	if (json) {
		diff_json(d, out);
		return;
	}
	buf_addf(out, "%s -> %s: %u racks better, %u worse, %zu changes\n",
		audit_verdict_name(d->before), audit_verdict_name(d->after), d->better, d->worse,
		d->changes.n);
	vec_each(&d->changes, const struct audit_change, c)
		change_text(c, out);
}
