/* case_sizing - cases of the designer: domain, inputs, expected, tolerance, against its library. */
#include "inventory/catalog/catalog.h"
#include "inventory/design/ask.h"
#include "inventory/design/domain.h"
#include "tests/cases/cases.h"

#include <math.h>
#include <string.h>

static const struct domain *const TABLES[] = {DOMAIN_CORE, DOMAIN_SITE, NULL};

static const struct domain *domain_of(const char *name)
{
	for (size_t t = 0; TABLES[t]; t++)
		for (const struct domain *d = TABLES[t]; d->name; d++)
			if (strcmp(d->name, name) == 0)
				return d;
	return NULL;
}

/* What is allowed at a key: NaN when no limit is stated. */
static void limit_of(const struct yaml_node *tolerance, const char *key, double *rel, double *abs)
{
	const struct yaml_node *r = yaml_get(tolerance, "rel"), *b = yaml_get(tolerance, "abs");

	*rel = r && r->kind == YAML_MAP ? case_number(r, key, NAN)
					: case_number(tolerance, "rel", NAN);
	*abs = b && b->kind == YAML_MAP ? case_number(b, key, NAN)
					: case_number(tolerance, "abs", NAN);
	if (yaml_get(tolerance, "exact"))
		*abs = 0;
}

/* The answer at the expected key, converted to its unit. */
static const json_t *answer_at(const json_t *answers, const char *key, double *scale)
{
	const json_t *exact = json_object_get(answers, key), *v;
	char want[80], have[80];
	const double to = ask_unit(key, want, sizeof want);
	const char *name;

	*scale = 1;
	if (exact)
		return exact;
	json_object_foreach((json_t *)(uintptr_t)answers, name, v)
	{
		const double from = ask_unit(name, have, sizeof have);

		if (strcmp(want, have) != 0)
			continue;
		*scale = from / to;
		return v;
	}
	return NULL;
}

/* As many decimals as the case prints: an exact 1129 is met by 1128.8. */
static double printed(struct str text, double v)
{
	const size_t dot = str_find(text, '.');
	const double unit = pow(10, dot == STR_NONE ? 0 : (double)(text.n - dot - 1));

	return round(v * unit) / unit;
}

struct check {
	struct tally *t;
	const char *id, *key;
	double rel, abs;
};

static void check_number(const struct check *c, const struct yaml_node *want, double got)
{
	const double expected = case_number(want, "", NAN);
	double e = expected, diff, room;

	(void)str_to_f64(want->text, &e);
	if (isnan(c->rel) && isnan(c->abs)) {
		case_report(
			c->t, true, c->id, "%s: %.6g, got %.6g, no limit stated", c->key, e, got);
		return;
	}
	if (c->abs == 0 && isnan(c->rel))
		got = printed(want->text, got);
	diff = fabs(got - e);
	room = fmax(isnan(c->abs) ? 0 : c->abs, isnan(c->rel) ? 0 : c->rel * fabs(e));
	case_report(c->t, diff <= room * (1 + 1e-12), c->id,
		"%s: expected %.6g, got %.6g, error %+.2f %%", c->key, e, got,
		e != 0 ? 100 * (got - e) / e : 100 * got);
}

static void check_value(
	const struct check *c, const struct yaml_node *want, const json_t *got, double scale)
{
	if (want->kind == YAML_LIST) {
		const size_t n = json_array_size(got);

		if (n != want->n)
			case_report(c->t, false, c->id, "%s: %u values expected, got %zu", c->key,
				want->n, n);
		for (unsigned i = 0; i < want->n && n == want->n; i++)
			check_value(c, want->item[i], json_array_get(got, i), scale);
	} else if (json_is_number(got)) {
		check_number(c, want, json_number_value(got) * scale);
	} else {
		const char *text = json_is_boolean(got) ? (json_is_true(got) ? "true" : "false")
							: json_string_value(got);

		case_report(c->t, text && str_is(want->text, text), c->id,
			"%s: expected %s, got %s", c->key, want->text.p, text ? text : "nothing");
	}
}

static void check_case(struct tally *t, const struct yaml_doc *doc, const struct yaml_node *node)
{
	const char *id = case_text(node, "id"), *name = case_text(node, "domain");
	const struct domain *d = name ? domain_of(name) : NULL;
	const struct yaml_node *want = yaml_get(node, "expected");
	const char *beside = case_text(node, "refused");
	const char *refused = beside ? beside : case_text(want, "refused");
	AUTO_JSON answers = json_object();
	struct err err = {0};
	int rc;

	if (!d) {
		case_report(t, false, id, "there is no domain '%s'", name ? name : "");
		return;
	}
	rc = d->answer(doc, yaml_get(node, "inputs"), answers, &err);
	if (rc < 0 || refused) {
		case_report(t, rc < 0 && refused && strstr(err.msg, refused), id, "%s%u:%u: %s",
			rc < 0 ? "" : "not refused ", err.line, err.col, err.msg);
		return;
	}
	for (unsigned i = 0; want && want->kind == YAML_MAP && i < want->n; i++) {
		struct check c = {.t = t, .id = id, .key = want->key[i]->text.p};
		double scale;
		const json_t *got = answer_at(answers, c.key, &scale);

		limit_of(yaml_get(node, "tolerance"), c.key, &c.rel, &c.abs);
		if (got)
			check_value(&c, want->item[i], got, scale);
		else
			case_report(t, false, id, "%s: '%s' has no such answer", c.key, d->name);
	}
}

void case_sizings(struct tally *t, const struct yaml_doc *doc)
{
	const struct yaml_node *cases = yaml_get(doc->root, "cases");
	struct catalog *catalog = NULL;
	struct err err;

	if (catalog_load(NULL, &catalog, NULL, &err) < 0) {
		case_report(t, false, "catalogue", "%s:%u: %s", err.file, err.line, err.msg);
		return;
	}
	domain_use(catalog);
	for (unsigned i = 0; cases && i < cases->n; i++)
		check_case(t, doc, cases->item[i]);
	domain_use(NULL);
	catalog_free(catalog);
}
