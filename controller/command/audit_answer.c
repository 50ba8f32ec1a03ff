/* audit_answer - plain lines, or one JSON object. */
#include "controller/command/audit_answer.h"

#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "controller/command/lang.h"
#include "inventory/report/number.h"
#include "inventory/report/phrase.h"

#include <math.h>
#include <stdio.h>

static void put_number(json_t *obj, const char *key, double v)
{
	json_object_set_new(obj, key, isnan(v) ? json_null() : json_real(v));
}

/* A count as text, for as long as its statement lasts. */
struct number {
	char text[24];
};
static struct number number(unsigned long n)
{
	struct number x;

	snprintf(x.text, sizeof x.text, "%lu", n);
	return x;
}
#define N(n) number(n).text

static void add_phrase(struct buf *out, unsigned indent, enum text_lang lang, const char *text)
{
	AUTO_BUF words;

	buf_init(&words, 1u << 14);
	phrase_add(&words, lang, text);
	lang_add_wrapped(out, indent, buf_text(&words));
}

/* "feed 'A' after the loss of feed 'B': 22 A ...": what it is about, then the arithmetic. */
static void add_reason(struct buf *out, enum text_lang lang, const char *text)
{
	static const char after[] = " after the loss of ";
	const struct str all = str_of(text);
	const size_t colon = str_find_str(all, STR_LIT("': "));
	struct str about = str_first(all, colon == STR_NONE ? 0 : colon + 1);
	const size_t loss = str_find_str(about, STR_LIT(after));
	AUTO_BUF subject, lost, words, piece;

	buf_init(&subject, 4096);
	buf_init(&lost, 4096);
	buf_init(&words, 1u << 15);
	buf_init(&piece, 4096);
	if (loss != STR_NONE) {
		buf_add_str(&piece, str_from(about, loss + sizeof after - 1));
		phrase_add(&lost, lang, buf_text(&piece));
		buf_clear(&piece);
		about = str_first(about, loss);
	}
	buf_add_str(&piece, about);
	phrase_add(&subject, lang, buf_text(&piece));
	if (loss != STR_NONE)
		TEXT_FILL(&words, lang, TEXT_FIT_AFTER, buf_text(&subject), buf_text(&lost));
	else
		buf_add_str(&words, buf_str(&subject));
	buf_add_text(&words, colon == STR_NONE ? "" : ": ");
	phrase_add(&words, lang, text + (colon == STR_NONE ? 0 : colon + 3));
	lang_add_wrapped(out, 4, buf_text(&words));
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

static void fit_rack_text(
	const struct fit *f, const struct fit_rack *r, enum text_lang lang, struct buf *out)
{
	AUTO_BUF line;

	buf_init(&line, 1u << 16);
	TEXT_FILL(&line, lang, TEXT_FIT_RACK, rack_name(f, r->rack), N(r->n));
	if (r->n) {
		text_add(&line, lang, TEXT_FIT_THEN, text_verdict(lang, r->after));
		vec_each(&f->places, const struct fit_place, p)
			if (p->rack == r->rack)
				buf_addf(&line, " %u", p->unit);
	}
	lang_add_wrapped(out, 0, buf_text(&line));
	buf_clear(&line);
	if (r->limit != RULE_N) {
		text_add(&line, lang, TEXT_FIT_NEXT, text_rule_title(lang, r->limit));
		lang_add_wrapped(out, 2, buf_text(&line));
		add_reason(out, lang, r->text);
		buf_clear(&line);
	}
	if (r->move != MODEL_NONE) {
		TEXT_FILL(&line, lang, TEXT_FIT_MOVE, f->model->devices.at[r->move].name,
			N(r->move_from), N(r->move_to), N(r->then_at));
		lang_add_wrapped(out, 2, buf_text(&line));
	}
}

void answer_print_fit(const struct fit *f, const struct report_opts *o, struct buf *out)
{
	const char *type = f->model->types.at[f->type].name;
	AUTO_BUF line;

	buf_init(&line, 4096);
	if (o->json) {
		fit_json(f, out);
		return;
	}
	if (f->asked)
		TEXT_FILL(&line, o->lang, TEXT_FIT_OF, N(f->total), N(f->asked), type);
	else if (f->total)
		TEXT_FILL(&line, o->lang, TEXT_FIT_MORE, N(f->total), type);
	else
		text_add(&line, o->lang, TEXT_FIT_NONE, type);
	lang_add_wrapped(out, 0, buf_text(&line));
	buf_clear(&line);
	if (f->given_back) {
		TEXT_FILL(&line, o->lang, TEXT_FIT_GIVEN_BACK, N(f->given_back),
			text_rule_title(o->lang, f->site_limit));
		lang_add_wrapped(out, 0, buf_text(&line));
		add_reason(out, o->lang, f->site_text ? f->site_text : "");
	}
	vec_each(&f->racks, const struct fit_rack, r)
		fit_rack_text(f, r, o->lang, out);
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

void answer_print_restart(const struct model *m, const struct restart_plan *p,
	const struct report_opts *o, struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, out->cap);
	if (o->json) {
		restart_json(m, p, out);
		return;
	}
	TEXT_FILL(&line, o->lang, TEXT_RESTART_HEAD, N(p->steps.n), N(p->batches));
	lang_add_wrapped(out, 0, buf_text(&line));
	buf_clear(&line);
	for (size_t i = 0; i < p->steps.n; i++) {
		const struct restart_step *s = &p->steps.at[i];

		buf_addf(&line, "%s%s%s", line.n ? " " : "", m->devices.at[s->device].name,
			s->trips ? text_get(o->lang, TEXT_RESTART_TRIPS) : "");
		if (i + 1 < p->steps.n && p->steps.at[i + 1].batch == s->batch)
			continue;
		text_add(out, o->lang, TEXT_RESTART_BATCH, N(s->batch));
		buf_add_char(out, '\n');
		lang_add_wrapped(out, 4, buf_text(&line));
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

/* "  r1: feed after a loss, feed 'A1': " and what it turns from and to. */
static void add_change(const struct audit_change *c, enum text_lang lang, struct buf *out)
{
	const char *where = c->rack ? c->rack : text_get(lang, TEXT_DIFF_SITE);
	AUTO_BUF was, is, line;

	buf_init(&was, 256);
	buf_init(&is, 256);
	buf_init(&line, 1u << 14);
	if (c->rule < RULE_N) {
		buf_addf(&line, "%s: %s, ", where, text_rule_title(lang, c->rule));
		phrase_add(&line, lang, c->subject ? c->subject : "");
		buf_add_text(&line, ": ");
	} else {
		buf_addf(&line, "%s: ", where);
	}
	if (c->kind == DIFF_VALUE) {
		number_add(&was, lang, c->was, number_decimals(c->unit));
		number_add_unit(&is, lang, c->is, c->unit);
	} else {
		buf_add_text(&was, text_verdict(lang, c->before));
		buf_add_text(&is, text_verdict(lang, c->after));
	}
	TEXT_FILL(&line, lang, TEXT_DIFF_TURNS, buf_text(&was), buf_text(&is));
	lang_add_wrapped(out, c->rule < RULE_N ? 2 : 0, buf_text(&line));
}

static void change_text(const struct audit_change *c, enum text_lang lang, struct buf *out)
{
	const char *where = c->rack ? c->rack : text_get(lang, TEXT_DIFF_SITE);

	if (c->kind == DIFF_RACK_NEW)
		TEXT_FILL(out, lang, TEXT_DIFF_NEW, where, text_verdict(lang, c->after));
	else if (c->kind == DIFF_RACK_GONE)
		TEXT_FILL(out, lang, TEXT_DIFF_GONE, where, text_verdict(lang, c->before));
	else
		add_change(c, lang, out);
	if (c->kind == DIFF_RACK_NEW || c->kind == DIFF_RACK_GONE)
		buf_add_char(out, '\n');
	else if (c->kind != DIFF_RACK && c->kind != DIFF_VALUE)
		add_phrase(out, 4, lang, c->text);
}

void answer_print_diff(const struct audit_diff *d, const struct report_opts *o, struct buf *out)
{
	if (o->json) {
		diff_json(d, out);
		return;
	}
	TEXT_FILL(out, o->lang, TEXT_DIFF_HEAD, text_verdict(o->lang, d->before),
		text_verdict(o->lang, d->after), N(d->better), N(d->worse), N(d->changes.n));
	buf_add_char(out, '\n');
	vec_each(&d->changes, const struct audit_change, c)
		change_text(c, o->lang, out);
}
