/* import - one pass over the tree, then the model's checks, then all errors by line. */
#include "inventory/import/import.h"

#include "inventory/import/import_priv.h"

#include <string.h>

static const char *const SECTIONS[] = {"locations", "cooling_zones", "generators", "upses",
	"panels", "racks", "feeds", "pdus", "reservations", "roles", "device_types", "devices",
	"cables", "nodes", NULL};

/* A problem of the model at the place the row was read from. */
static void report(void *ctx, const struct model_problem *p)
{
	struct importer *im = ctx;
	const struct places *places = p->noun < NOUN_N ? &im->places[p->noun] : NULL;
	const struct yaml_node *place =
		places && p->row < places->n ? places->at[p->row] : im->doc->root;

	if (!import_is_faulty(im, place, p->field))
		import_fault(im, place, p->field, p->code, p->hint, "%s", p->msg);
}

static int compare_errors(const void *a, const void *b)
{
	const struct err *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->col < y->col ? -1 : x->col > y->col;
}

/* By row; those of one row as the file has them. */
static int compare_notes(const void *a, const void *b)
{
	const struct fact_note *x = a, *y = b;

	if (x->noun != y->noun)
		return x->noun < y->noun ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return strcmp(x->field, y->field);
}

static void read_site(struct importer *im)
{
	const struct yaml_node *root = im->doc->root;
	const struct model_check check = {im->m, report, im};

	if (root->kind != YAML_MAP) {
		import_fault_at(im, root, E_SCHEMA, "it begins with 'site: NAME'",
			"a site file must be a map");
		return;
	}
	model_row_clear(NOUN_N, im->m);
	import_row(im, root, NOUN_N, model_fields_of(NOUN_N), SECTIONS, im->m);
	im->m->site = im->m->site ? im->m->site : "";
	import_facts(im, root, NOUN_N, 0);
	import_rooms(im, root);
	import_power(im, root);
	import_reservations(im, root);
	import_roles(im, root);
	import_types(im, root);
	import_devices(im, root);
	import_cables(im, root);
	import_nodes(im, root);
	vec_sort(&im->m->notes, compare_notes);
	model_check_all(&check);
}

static void importer_done(struct importer *im)
{
	for (int i = 0; i < NOUN_N; i++)
		vec_done(&im->places[i]);
	vec_done(&im->faults);
	vec_done(&im->torn);
	vec_done(&im->type_ports);
	vec_done(&im->type_first);
	model_index_free(im->index);
	catalog_free(im->catalog);
}

int import_site_doc(const struct yaml_doc *doc, struct model **out, struct err_list *errors)
{
	struct importer im = {
		.doc = doc, .m = model_new(), .index = model_index_new(), .errors = errors};

	im.m->file = arena_strdup(im.m->arena, doc->name);
	read_site(&im);
	importer_done(&im);
	if (errors->total == 0) {
		*out = im.m;
		return 0;
	}
	vec_sort(&errors->list, compare_errors);
	model_free(im.m);
	return -(int)errors->list.at[0].code;
}

/* An error before there is a tree is the only one. */
static int only_error(const struct err *err, struct err_list *errors)
{
	*vec_push(&errors->list) = *err;
	errors->total = 1;
	return -(int)err->code;
}

int import_site_read(
	const char *path, struct buf *text, struct model **out, struct err_list *errors)
{
	struct err err;

	if (yaml_read(path, &YAML_CAPS_SITE, text, &err) < 0)
		return only_error(&err, errors);
	return import_site_text(path, buf_str(text), out, errors);
}

int import_site(const char *path, struct model **out, struct err_list *errors)
{
	AUTO_BUF text = {0};

	return import_site_read(path, &text, out, errors);
}

int import_site_text(const char *name, struct str text, struct model **out, struct err_list *errors)
{
	struct arena *a = arena_new();
	struct yaml_doc *doc;
	struct err err;
	int rc = yaml_parse(a, name, text, &YAML_CAPS_SITE, &doc, &err);

	rc = rc < 0 ? only_error(&err, errors) : import_site_doc(doc, out, errors);
	arena_free(a);
	return rc;
}

void err_list_done(struct err_list *e)
{
	if (!e)
		return;
	vec_done(&e->list);
	e->total = 0;
}
