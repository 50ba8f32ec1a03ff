/* devicetype - how: known keys are read by name, all others go to the list of losses. */
#include "inventory/catalog/devicetype.h"

#include "agent/base/yaml.h"

#include <ctype.h>
#include <string.h>

#define LOSSES_MAX 64
#define KG_PER_LB  0.45359237

static const struct yaml_caps CAPS = {1u << 20, 12, 60000, 64u << 10};

struct reader {
	struct arena *a;
	const struct yaml_doc *doc;
	struct devicetype *d;
	struct err *err;
};

static void lose(struct reader *r, const char *list, const struct yaml_node *key, unsigned n)
{
	const char *name = list ? arena_printf(r->a, "%s." STR_FMT, list, STR_ARG(key->text))
				: arena_text(r->a, key->text);

	vec_each(&r->d->losses, struct devicetype_loss, l)
		if (strcmp(l->key, name) == 0) {
			l->n += n;
			return;
		}
	if (r->d->losses.n < LOSSES_MAX)
		*vec_push(&r->d->losses) = (struct devicetype_loss){name, n, key->line};
}

static int read_text(struct reader *r, const struct yaml_node *n, const char *key, struct str *out)
{
	if (n->kind == YAML_SCALAR && n->text.n == 0) {
		*out = n->text;
		return 0;
	}
	return yaml_want_text(r->doc, n, arena_printf(r->a, "'%s'", key), out, r->err);
}

/* --- the lists --- */

static int read_draw(
	struct reader *r, const struct yaml_node *n, const char *key, struct devicetype_part *p)
{
	double *to = strcmp(key, "maximum_draw") == 0 ? &p->maximum_draw : &p->allocated_draw;

	if (n->kind == YAML_SCALAR && n->plain && (n->text.n == 0 || str_is(n->text, "null")))
		return 0;
	return yaml_want_num(r->doc, n, arena_printf(r->a, "'%s'", key), 0, 1e7, to, r->err);
}

static int read_part_key(struct reader *r, const char *list, const struct yaml_node *key,
	const struct yaml_node *n, struct devicetype_part *p)
{
	const bool bay = strcmp(list, "module-bays") == 0;
	struct str leg;
	int rc;

	if (str_is(key->text, "name"))
		return read_text(r, n, "name", &p->name);
	if (str_is(key->text, bay ? "description" : "type"))
		return read_text(r, n, "type", &p->type);
	if (bay && str_is(key->text, "position"))
		return 0;
	if (str_is(key->text, "maximum_draw") || str_is(key->text, "allocated_draw"))
		return read_draw(r, n, key->text.p, p);
	if (str_is(key->text, "mgmt_only"))
		return yaml_want_bool(r->doc, n, "'mgmt_only'", &p->mgmt_only, r->err);
	if (str_is(key->text, "feed_leg")) {
		rc = read_text(r, n, "feed_leg", &leg);
		p->leg = rc == 0 && leg.n == 1 ? leg.p[0] : 0;
		return rc;
	}
	if (!str_is(key->text, "power_port"))
		lose(r, list, key, 1);
	return 0;
}

static int read_list(struct reader *r, const char *name, const struct yaml_node *list,
	struct devicetype_parts *out)
{
	int rc;

	if (list->kind == YAML_SCALAR && list->text.n == 0)
		return 0;
	rc = yaml_want_list(r->doc, list, arena_printf(r->a, "'%s'", name), r->err);
	if (rc == 0 && list->n > DEVICETYPE_PORTS_MAX)
		rc = yaml_err(r->doc, list, r->err, E_LIMIT,
			"'%s' has %u items, at most %d are read", name, list->n,
			DEVICETYPE_PORTS_MAX);
	for (unsigned i = 0; rc == 0 && i < list->n; i++) {
		const struct yaml_node *item = list->item[i];
		struct devicetype_part *p = vec_push(out);

		*p = (struct devicetype_part){.name = STR_LIT(""),
			.type = STR_LIT(""),
			.maximum_draw = MODEL_UNSET,
			.allocated_draw = MODEL_UNSET,
			.line = item->line};
		rc = yaml_want_map(
			r->doc, item, arena_printf(r->a, "an item of '%s'", name), r->err);
		for (unsigned k = 0; rc == 0 && k < item->n; k++)
			rc = read_part_key(r, name, item->key[k], item->item[k], p);
		if (rc == 0 && p->name.n == 0)
			rc = yaml_err(r->doc, item, r->err, E_SCHEMA,
				"an item of '%s' has no 'name'", name);
	}
	return rc;
}

/* --- the type --- */

static int read_weight(struct reader *r, const struct yaml_node *root)
{
	static const struct {
		const char *unit;
		double kg;
	} units[] = {{"kg", 1}, {"g", 0.001}, {"lb", KG_PER_LB}, {"oz", KG_PER_LB / 16}};
	const struct yaml_node *n = yaml_get(root, "weight"), *unit = yaml_get(root, "weight_unit");
	double v = 0;
	int rc;

	if (!n || (n->plain && n->text.n == 0))
		return 0;
	rc = yaml_want_num(r->doc, n, "'weight'", 0, 1e6, &v, r->err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
		if (str_is(unit->text, units[i].unit)) {
			r->d->weight_kg = v * units[i].kg;
			r->d->weight_line = n->line;
			return 0;
		}
	(void)yaml_err(r->doc, unit ? unit : n, r->err, E_SCHEMA, "the weight has no unit we know");
	return err_hint(r->err, "weight_unit: kg, g, lb or oz");
}

/* Texts go to *text; the rest by key. 1: not one of ours. */
static int read_key(struct reader *r, const struct yaml_node *key, const struct yaml_node *n)
{
	const struct {
		const char *key;
		const char **to;
	} texts[] = {{"manufacturer", &r->d->maker}, {"model", &r->d->model}, {"slug", &r->d->slug},
		{"part_number", &r->d->part_number}, {"airflow", &r->d->airflow}};
	const struct {
		const char *key;
		struct devicetype_parts *to;
	} lists[] = {{"power-ports", &r->d->power_ports}, {"power-outlets", &r->d->outlets},
		{"interfaces", &r->d->interfaces}, {"module-bays", &r->d->bays}};
	struct str text;
	bool powered = true;
	int rc;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (str_is(key->text, lists[i].key))
			return read_list(r, lists[i].key, n, lists[i].to);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (str_is(key->text, texts[i].key)) {
			rc = read_text(r, n, texts[i].key, &text);
			if (rc == 0 && text.n)
				*texts[i].to = arena_text(r->a, text);
			return rc;
		}
	if (str_is(key->text, "u_height"))
		return yaml_want_num(r->doc, n, "'u_height'", 0, 100, &r->d->height_u, r->err);
	if (str_is(key->text, "is_full_depth"))
		return yaml_want_bool(r->doc, n, "'is_full_depth'", &r->d->full_depth, r->err);
	if (str_is(key->text, "is_powered")) {
		rc = yaml_want_bool(r->doc, n, "'is_powered'", &powered, r->err);
		r->d->unpowered = !powered;
		return rc;
	}
	return str_is(key->text, "weight") || str_is(key->text, "weight_unit") ? 0 : 1;
}

/* "8 x H100" may stand in any text; the texts themselves are not carried. */
static void read_words(struct reader *r, const struct yaml_node *key, const struct yaml_node *n)
{
	if (n->kind == YAML_SCALAR &&
		(str_is(key->text, "comments") || str_is(key->text, "description")))
		r->d->words = arena_printf(
			r->a, "%s\n" STR_FMT, r->d->words, STR_ARG(str_first(n->text, 16384)));
	lose(r, NULL, key, n->kind == YAML_LIST && n->n ? n->n : 1);
}

static int read_type(struct reader *r)
{
	const struct yaml_node *root = r->doc->root;
	int rc = yaml_want_map(r->doc, root, "a device type", r->err);

	for (unsigned i = 0; rc == 0 && i < root->n; i++) {
		rc = read_key(r, root->key[i], root->item[i]);
		if (rc == 1) {
			read_words(r, root->key[i], root->item[i]);
			rc = 0;
		}
	}
	if (rc == 0)
		rc = read_weight(r, root);
	if (rc < 0)
		return rc;
	if (!r->d->maker || !r->d->model) {
		(void)yaml_err(r->doc, root, r->err, E_SCHEMA,
			"no device type: 'manufacturer' or 'model' is missing");
		return err_hint(r->err, "expected is the YAML of NetBox's devicetype-library");
	}
	if (!r->d->slug)
		r->d->slug = arena_printf(r->a, "%s-%s", r->d->maker, r->d->model);
	return 0;
}

static void start(struct devicetype *d, struct arena *a, const char *name)
{
	*d = (struct devicetype){.file = arena_strdup(a, name),
		.words = "",
		.full_depth = true,
		.height_u = MODEL_UNSET,
		.weight_kg = MODEL_UNSET};
}

static int finish(
	struct arena *a, const struct yaml_doc *doc, struct devicetype *d, struct err *err)
{
	struct reader r = {.a = a, .doc = doc, .d = d, .err = err};

	d->line = doc->root->line;
	return read_type(&r);
}

int devicetype_load(struct arena *a, const char *path, struct devicetype *d, struct err *err)
{
	struct yaml_doc *doc = NULL;
	int rc;

	start(d, a, path);
	rc = yaml_load(a, path, &CAPS, &doc, err);
	return rc < 0 ? rc : finish(a, doc, d, err);
}

int devicetype_load_text(
	struct arena *a, const char *name, struct str text, struct devicetype *d, struct err *err)
{
	struct yaml_doc *doc = NULL;
	int rc;

	start(d, a, name);
	rc = yaml_parse(a, name, text, &CAPS, &doc, err);
	return rc < 0 ? rc : finish(a, doc, d, err);
}

void devicetype_done(struct devicetype *d)
{
	vec_done(&d->power_ports);
	vec_done(&d->outlets);
	vec_done(&d->interfaces);
	vec_done(&d->bays);
	vec_done(&d->losses);
}

/* --- what it is --- */

const struct devicetype_inlet *devicetype_inlet(struct str type)
{
	static const struct devicetype_inlet inlets[] = {
		{"iec-60320-c14", "C14", 10, 250, 1},
		{"iec-60320-c16", "C16", 10, 250, 1},
		{"iec-60320-c20", "C20", 16, 250, 1},
		{"iec-60320-c22", "C22", 16, 250, 1},
		{"iec-60309-p-n-e-6h", "IEC 60309 P+N+E", 0, 230, 1},
		{"iec-60309-2p-e-6h", "IEC 60309 2P+E", 0, 230, 1},
		{"iec-60309-3p-e-4h", "IEC 60309 3P+E", 0, 110, 3},
		{"iec-60309-3p-e-6h", "IEC 60309 3P+E", 0, 400, 3},
		{"iec-60309-3p-e-9h", "IEC 60309 3P+E", 0, 208, 3},
		{"iec-60309-3p-n-e-4h", "IEC 60309 3P+N+E", 0, 110, 3},
		{"iec-60309-3p-n-e-6h", "IEC 60309 3P+N+E", 0, 400, 3},
		{"iec-60309-3p-n-e-9h", "IEC 60309 3P+N+E", 0, 208, 3},
		{"nema-5-15p", "NEMA 5-15", 15, 125, 1},
		{"nema-5-20p", "NEMA 5-20", 20, 125, 1},
		{"nema-l5-30p", "NEMA L5-30", 30, 125, 1},
		{"nema-l6-20p", "NEMA L6-20", 20, 250, 1},
		{"nema-l6-30p", "NEMA L6-30", 30, 250, 1},
		{"nema-l15-30p", "NEMA L15-30", 30, 250, 3},
		{"nema-l21-20p", "NEMA L21-20", 20, 208, 3},
		{"nema-l21-30p", "NEMA L21-30", 30, 208, 3},
		{"nema-l22-20p", "NEMA L22-20", 20, 480, 3},
		{"nema-l22-30p", "NEMA L22-30", 30, 480, 3},
		{"cs6361c", "CS6361C", 50, 125, 1},
		{"cs6365c", "CS6365C", 50, 250, 1},
		{"cs8165c", "CS8165C", 50, 480, 3},
		{"cs8265c", "CS8265C", 50, 250, 1},
		{"cs8365c", "CS8365C", 50, 250, 3},
		{"cs8465c", "CS8465C", 50, 480, 3},
	};

	for (size_t i = 0; i < sizeof inlets / sizeof *inlets; i++)
		if (str_is(type, inlets[i].type))
			return &inlets[i];
	return NULL;
}

unsigned devicetype_bays(const struct devicetype *d, const char *prefix)
{
	const size_t len = strlen(prefix);
	unsigned n = 0;

	vec_each(&d->bays, const struct devicetype_part, p)
		if (p->name.n >= len && strncasecmp(p->name.p, prefix, len) == 0)
			n++;
	return n;
}

bool devicetype_is_network(const struct devicetype_part *p)
{
	static const char *const others[] = {"virtual", "lag", "bridge", "other", NULL};

	if (p->mgmt_only || str_starts(p->type, "ieee802.") || p->type.n == 0)
		return false;
	for (const char *const *o = others; *o; o++)
		if (str_is(p->type, *o))
			return false;
	return true;
}

struct str devicetype_main_port(const struct devicetype *d, unsigned *n)
{
	struct str best = STR_LIT(""), last = STR_LIT("");

	*n = 0;
	vec_each(&d->interfaces, const struct devicetype_part, p) {
		unsigned same = 0;

		if (!devicetype_is_network(p) || str_eq(p->type, last))
			continue;
		last = p->type;
		vec_each(&d->interfaces, const struct devicetype_part, o)
			if (devicetype_is_network(o) && str_eq(o->type, p->type))
				same++;
		if (same > *n) {
			*n = same;
			best = p->type;
		}
	}
	return best;
}

double devicetype_gbps(struct str type)
{
	static const struct {
		const char *type;
		double gbps;
	} fabrics[] = {{"infiniband-fdr", 56}, {"infiniband-edr", 100}, {"infiniband-hdr", 200},
		{"infiniband-ndr", 400}, {"infiniband-xdr", 800}};
	double v = 0;
	size_t i = 0;

	for (size_t k = 0; k < sizeof fabrics / sizeof *fabrics; k++)
		if (str_is(type, fabrics[k].type))
			return fabrics[k].gbps;
	while (i < type.n && i < 6 && isdigit((unsigned char)type.p[i]))
		v = v * 10 + (type.p[i++] - '0');
	if (i == 0)
		return 0;
	if (str_starts(str_from(type, i), "gbase"))
		return v;
	return str_starts(str_from(type, i), "base") ? v / 1000 : 0;
}

enum catalog_kind devicetype_kind(const struct devicetype *d)
{
	unsigned n = 0;

	(void)devicetype_main_port(d, &n);
	if (d->outlets.n > 0)
		return CATALOG_PDU;
	return n >= 16 && devicetype_bays(d, "GPU") == 0 ? CATALOG_SWITCH : CATALOG_SERVER;
}
