/* foreign - reads the files, has their format's reader make a tree, and imports that. */
#include "inventory/import/foreign.h"

#include "inventory/import/mapped.h"
#include "inventory/import/netbox.h"
#include "inventory/import/opendcim.h"
#include "inventory/import/xcat.h"

const char *const FOREIGN_FORMATS[] = {"yaml", "netbox", "opendcim", "xcat", "csv", NULL};

static const char *const ENDINGS[FOREIGN_N][3] = {
	[FOREIGN_YAML] = {".yaml", ".yml"},
	[FOREIGN_NETBOX] = {".json", ".csv"},
	[FOREIGN_OPENDCIM] = {".csv"},
	[FOREIGN_XCAT] = {".csv"},
	[FOREIGN_CSV] = {".csv", ".tsv"},
};

/* The mapping file as the first of the sources, so that its places are told like theirs. */
static const struct yaml_node *read_map(struct sources *s, const char *path)
{
	static const char *const none[] = {NULL};
	struct yaml_doc *doc;
	struct err err;

	if (!path)
		return NULL;
	if (sources_read(s, path, none, &err) == 0) {
		const struct source_file *f = &s->files.at[0];

		if (yaml_parse(s->arena, f->path, f->text, &YAML_CAPS_RECIPE, &doc, &err) == 0)
			return doc->root;
		err.line += f->first - 1;
	}
	source_fault_err(s, &err);
	return NULL;
}

static struct yaml_node *read_tree(
	struct sources *s, const struct foreign_opts *o, const struct yaml_node *map)
{
	switch (o->format) {
	case FOREIGN_NETBOX:
		return netbox_read(s, map, o->site);
	case FOREIGN_OPENDCIM:
		return opendcim_read(s, map, o->site);
	case FOREIGN_XCAT:
		return xcat_read(s, map, o->site);
	case FOREIGN_CSV:
		return mapped_read(s, map);
	case FOREIGN_YAML:
	case FOREIGN_N:
		break;
	}
	return NULL;
}

/* The tables follow the mapping file in the row of lines, but the readers see them alone. */
static void import_tables(struct sources *s, const struct foreign_opts *o, const char *path,
	const struct yaml_node *map, struct model **out)
{
	struct sources tables = *s;
	struct yaml_node *root;
	struct err err;

	tables.files.at = NULL;
	tables.files.n = tables.files.room = 0;
	if (sources_read(&tables, path, ENDINGS[o->format], &err) < 0) {
		source_fault_err(s, &err);
		return;
	}
	root = read_tree(&tables, o, map);
	vec_each(&tables.files, struct source_file, f)
		*vec_push(&s->files) = *f;
	vec_done(&tables.files);
	if (root && root->n) {
		const struct yaml_doc doc = {s->arena, path, {"", 0}, root};

		import_site_doc(&doc, out, s->errors);
	}
}

/* What stands in no single file of several. */
static void forget_lines(struct model *m, const char *path)
{
#define FORGET(list)                           \
	for (size_t i = 0; i < m->list.n; i++) \
	m->list.at[i].line = 0
	FORGET(locations);
	FORGET(racks);
	FORGET(zones);
	FORGET(panels);
	FORGET(feeds);
	FORGET(pdus);
	FORGET(outlets);
	FORGET(types);
	FORGET(templates);
	FORGET(devices);
	FORGET(ports);
	FORGET(cords);
	FORGET(cables);
	FORGET(nodes);
	FORGET(upses);
	FORGET(generators);
	FORGET(banks);
	FORGET(units);
	FORGET(reservations);
	FORGET(notes);
#undef FORGET
	m->file = arena_strdup(m->arena, path);
}

int foreign_import(const char *path, const struct foreign_opts *o, struct model **out,
	struct err_list *errors, struct losses *losses)
{
	const struct yaml_node *map;
	struct sources s;

	*out = NULL;
	if (o->format == FOREIGN_YAML)
		return o->text ? import_site_read(path, o->text, out, errors)
			       : import_site(path, out, errors);
	sources_init(&s, errors, losses);
	map = read_map(&s, o->map);
	if (o->format == FOREIGN_CSV && !o->map)
		source_fault(&s, NULL, E_SCHEMA,
			"inventory/import/FOREIGN.md shows one; give it by --map FILE",
			"tables of one's own need a mapping file");
	if (errors->total == 0)
		import_tables(&s, o, path, map, out);
	if (errors->total == 0 && !*out)
		source_fault(&s, NULL, E_NOTFOUND, NULL, "there is nothing in it to import");
	sources_finish(&s);
	sources_done(&s);
	if (*out)
		forget_lines(*out, path);
	return errors->total ? -(int)errors->list.at[0].code : 0;
}
