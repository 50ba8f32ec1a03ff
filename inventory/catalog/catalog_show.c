/* catalog_show - how: columns of fixed width; a text that is longer takes a line of its own. */
#include "inventory/catalog/catalog_show.h"

#include <string.h>

#define ID_WIDTH   28
#define KEY_WIDTH  27
#define VAL_WIDTH  18
#define LINE_WIDTH 80
#define USED_MAX   64 /* sources of one entry and its fields */

/* --- list --- */

/* "~700 W": the value and its unit, when it is stated. */
static void add_figure(
	struct buf *out, const struct catalog_entry *e, const char *key, const char *unit)
{
	const struct catalog_field *f = catalog_field(e, key);

	if (!f || !f->text)
		return;
	buf_addf(out, "%s%s%s%s", out->n ? ", " : "", f->assumed ? "~" : "", f->text, unit);
}

static void add_power(struct buf *out, const struct catalog_entry *e)
{
	const unsigned psus = catalog_count(e, "psus"), needed = catalog_count(e, "psus_needed");

	add_figure(out, e, catalog_text(e, "watts_max") ? "watts_max" : "watts_planning", " W");
	add_figure(out, e, "weight_kg", " kg");
	if (psus && needed)
		buf_addf(out, "%s%u of %u PSUs", out->n ? ", " : "", needed, psus);
}

static void add_summary(struct buf *out, const struct catalog_entry *e)
{
	switch (e->kind) {
	case CATALOG_GPU:
		add_figure(out, e, "memory_gb", " GB");
		add_figure(out, e, "power_default_w", " W");
		add_figure(out, e, "tflops_bf16_dense", " TFLOPS");
		return;
	case CATALOG_SWITCH:
		add_figure(out, e, "ports", " ports");
		add_figure(out, e, "port_gbps", "G");
		add_power(out, e);
		return;
	case CATALOG_SERVER:
	case CATALOG_STORAGE:
		add_figure(out, e, "height_u", "U");
		add_power(out, e);
		return;
	case CATALOG_PDU:
	case CATALOG_CIRCUIT:
		add_figure(out, e, "volts", " V");
		add_figure(out, e, "amps", " A");
		add_figure(out, e, "phases", "-phase");
		add_figure(out, e, "kva", " kVA");
		return;
	case CATALOG_OPTIC:
		add_figure(out, e, "watts_max", " W");
		return;
	case CATALOG_CONNECTOR:
		add_figure(out, e, "amps_iec", " A");
		return;
	case CATALOG_MODEL:
		add_figure(out, e, "layers", " layers");
		add_figure(out, e, "params", " parameters");
		return;
	case CATALOG_NOTE:
	case CATALOG_KINDS:
		break;
	}
	buf_add_text(out, e->name);
}

void catalog_show_list(const struct catalog *c, enum catalog_kind kind, struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, 4096);
	buf_addf(out, "%-*s %-9s %-10s %s\n", ID_WIDTH, "ID", "KIND", "CONFIDENCE", "FIGURES");
	vec_each(&c->entries, struct catalog_entry *, it) {
		const struct catalog_entry *e = *it;

		if (kind != CATALOG_KINDS && e->kind != kind)
			continue;
		buf_clear(&line);
		add_summary(&line, e);
		buf_addf(out, "%-*s %-9s %-10s ", ID_WIDTH, e->id, CATALOG_KIND_NAMES[e->kind],
			MODEL_CONFIDENCES[e->confidence]);
		buf_add_printable(out, buf_str(&line));
		buf_addf(out, "%s\n", e->suspicious ? "  suspicious" : "");
	}
	buf_add_text(out, "~ marks what is assumed: of low confidence, or only remembered.\n");
}

/* --- one entry --- */

struct used {
	unsigned n;
	const struct catalog_source *at[USED_MAX];
};

static unsigned use(struct used *u, const struct catalog_source *s)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->at[i] == s)
			return i + 1;
	if (u->n == USED_MAX)
		return 0;
	u->at[u->n++] = s;
	return u->n;
}

/* Words of a text, broken before the line's end; each line begins with indent blanks. */
static void add_wrapped(struct buf *out, unsigned indent, const char *text)
{
	struct str rest = str_of(text), word;
	size_t col = 0;

	while (str_next(&rest, ' ', &word)) {
		if (col && col + 1 + word.n > LINE_WIDTH) {
			buf_add_char(out, '\n');
			col = 0;
		}
		if (col == 0) {
			buf_addf(out, "%*s", (int)indent, "");
			col = indent;
		} else {
			buf_add_char(out, ' ');
			col++;
		}
		buf_add_printable(out, word);
		col += word.n;
	}
	buf_add_char(out, '\n');
}

static void show_field(struct buf *out, const struct catalog_field *f, struct used *used)
{
	const char *value = f->text ? f->text : "not known";
	const bool fits = strlen(value) <= VAL_WIDTH;

	buf_addf(out, "%-*s ", KEY_WIDTH, f->key->name);
	if (fits) {
		buf_add_printable(out, str_of(value));
		buf_addf(out, "%*s", (int)(VAL_WIDTH - strlen(value)), "");
	} else {
		buf_addf(out, "%*s", VAL_WIDTH, "");
	}
	buf_addf(out, " %-7s %-6s ", f->assumed ? "assumed" : "",
		f->text ? MODEL_CONFIDENCES[f->confidence] : "");
	for (unsigned i = 0; i < f->n_sources; i++)
		buf_addf(out, "%s%u", i ? "," : "", use(used, f->sources[i]));
	if (f->date)
		buf_addf(out, " %s", f->date);
	buf_add_char(out, '\n');
	if (!fits)
		add_wrapped(out, 4, value);
	if (f->note) {
		AUTO_BUF note = {0};

		buf_init(&note, 8192);
		buf_addf(&note, "(%s)", f->note);
		add_wrapped(out, 6, buf_text(&note));
	}
}

static void show_sources(struct buf *out, const struct used *used)
{
	buf_add_text(out, "\nsources\n");
	for (unsigned i = 0; i < used->n; i++) {
		const struct catalog_source *s = used->at[i];

		buf_addf(out, "%3u ", i + 1);
		buf_add_printable(out, str_of(s->title));
		if (s->read)
			buf_addf(out, " (%s)", s->read);
		buf_add_char(out, '\n');
		if (s->url) {
			buf_add_text(out, "    ");
			buf_add_printable(out, str_of(s->url));
			buf_add_char(out, '\n');
		}
	}
}

void catalog_show_entry(const struct catalog_entry *e, struct buf *out)
{
	struct used used = {0};

	buf_addf(out, "%s  %s  ", e->id, CATALOG_KIND_NAMES[e->kind]);
	buf_add_printable(out, str_of(e->name));
	buf_addf(out, "\nmaker %s, confidence %s, origin catalogue\n", e->maker ? e->maker : "any",
		MODEL_CONFIDENCES[e->confidence]);
	if (e->note)
		add_wrapped(out, 4, e->note);
	if (e->suspicious) {
		buf_add_text(out, "suspicious:\n");
		add_wrapped(out, 4, e->suspicious);
	}
	for (unsigned i = 0; i < e->n_sources; i++)
		(void)use(&used, e->sources[i]);
	buf_addf(out, "\n%-*s %-*s %-7s %-6s %s\n", KEY_WIDTH, "FIELD", VAL_WIDTH, "VALUE", "",
		"CONF", "SOURCES");
	for (unsigned i = 0; i < e->n_fields; i++)
		show_field(out, &e->fields[i], &used);
	show_sources(out, &used);
}

void catalog_show_findings(const struct catalog_findings *f, struct buf *out)
{
	vec_each(f, const struct catalog_finding, it) {
		buf_addf(out, "%s:%u:%u: %s: %s: ", it->entry->file, it->line, it->col,
			it->remark ? "remark" : "error", it->entry->id);
		buf_add_printable(out, str_of(it->text));
		buf_addf(out, " [%s]\n", it->rule);
	}
}

/* --- JSON --- */

static json_t *head_json(const struct catalog_entry *e)
{
	json_t *o = json_object();

	json_put_str(o, "id", e->id);
	json_put_str(o, "kind", CATALOG_KIND_NAMES[e->kind]);
	json_put_str(o, "name", e->name);
	json_put_str(o, "maker", e->maker);
	json_put_str(o, "confidence", MODEL_CONFIDENCES[e->confidence]);
	json_put_str(o, "note", e->note);
	json_put_str(o, "suspicious", e->suspicious);
	return o;
}

json_t *catalog_list_json(const struct catalog *c, enum catalog_kind kind)
{
	json_t *list = json_array();

	vec_each(&c->entries, struct catalog_entry *, it)
		if (kind == CATALOG_KINDS || (*it)->kind == kind)
			json_array_append_new(list, head_json(*it));
	return list;
}

static json_t *value_json(const struct catalog_field *f)
{
	if (!f->text)
		return json_null();
	switch (f->key->value) {
	case VALUE_NUM:
		return json_real(f->num);
	case VALUE_COUNT:
		return json_integer((json_int_t)f->num);
	case VALUE_BOOL:
		return json_boolean(f->num > 0);
	case VALUE_RANGE:
		return json_pack("[f,f]", f->num, f->high);
	case VALUE_TEXT:
	case VALUE_LIST:
	case VALUE_COUNTS:
		break;
	}
	return json_string(f->text);
}

static json_t *field_json(const struct catalog_field *f)
{
	json_t *o = json_object(), *sources = json_array();

	json_put_str(o, "key", f->key->name);
	json_object_set_new(o, "value", value_json(f));
	json_put_str(o, "origin", "catalogue");
	json_put_str(o, "confidence", MODEL_CONFIDENCES[f->confidence]);
	json_put_bool(o, "assumed", f->assumed);
	json_put_str(o, "note", f->note);
	json_put_str(o, "date", f->date);
	for (unsigned i = 0; i < f->n_sources; i++)
		json_array_append_new(sources, json_string(f->sources[i]->id));
	json_object_set_new(o, "sources", sources);
	return o;
}

static void collect(struct used *u, const struct catalog_entry *e)
{
	for (unsigned i = 0; i < e->n_sources; i++)
		(void)use(u, e->sources[i]);
	for (unsigned i = 0; i < e->n_fields; i++)
		for (unsigned k = 0; k < e->fields[i].n_sources; k++)
			(void)use(u, e->fields[i].sources[k]);
}

json_t *catalog_entry_json(const struct catalog_entry *e)
{
	json_t *o = head_json(e), *fields = json_array(), *sources = json_array();
	struct used used = {0};

	for (unsigned i = 0; i < e->n_fields; i++)
		json_array_append_new(fields, field_json(&e->fields[i]));
	collect(&used, e);
	for (unsigned i = 0; i < used.n; i++) {
		json_t *s = json_object();

		json_put_str(s, "id", used.at[i]->id);
		json_put_str(s, "title", used.at[i]->title);
		json_put_str(s, "url", used.at[i]->url);
		json_put_str(s, "read", used.at[i]->read);
		json_array_append_new(sources, s);
	}
	json_object_set_new(o, "fields", fields);
	json_object_set_new(o, "sources", sources);
	return o;
}

json_t *catalog_findings_json(const struct catalog_findings *f)
{
	json_t *list = json_array();

	vec_each(f, const struct catalog_finding, it) {
		json_t *o = json_object();

		json_put_str(o, "rule", it->rule);
		json_put_str(o, "grade", it->remark ? "remark" : "error");
		json_put_str(o, "id", it->entry->id);
		json_put_str(o, "file", it->entry->file);
		json_put_int(o, "line", it->line);
		json_put_int(o, "column", it->col);
		json_put_str(o, "text", it->text);
		json_array_append_new(list, o);
	}
	return list;
}
