/* import - a site of ours or of another system into the inventory, all of it or nothing. */
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "inventory/audit/reach.h"
#include "inventory/import/foreign.h"

#include <stdio.h>

static void print_errors(
	const struct invocation *inv, const struct err_list *errors, const char *file)
{
	vec_each(&errors->list, struct err, e)
		command_fail(inv, e);
	if (inv->json)
		return;
	if (errors->total > errors->list.n)
		fprintf(stderr, "... and %zu more\n", (size_t)errors->total - errors->list.n);
	fprintf(stderr, "%s: %u error%s, nothing was imported\n", file, errors->total,
		errors->total == 1 ? "" : "s");
}

/* Whether the file alone does not say what it meant on the day: records of the catalogue change. */
static bool names_records(const struct model *m)
{
	vec_each(&m->types, const struct device_type, t)
		if (t->catalogue)
			return true;
	return false;
}

/* A key that the file states may have been pinned anew since. */
static bool states_keys(const struct model *m)
{
	vec_each(&m->nodes, const struct node, n)
		if (n->host_key)
			return true;
	return false;
}

/* The site as text, for its versions: the file itself, or what it comes to. */
static int keep_text(const struct model *m, struct buf *text, struct err *err)
{
	if (text->n && !names_records(m))
		return 0;
	buf_done(text);
	buf_init(text, EXPORT_MAX);
	export_site(m, text);
	return buf_ok(text) ? 0
			    : err_set(err, E_LIMIT, "the site is longer than %zu bytes as a file",
				      EXPORT_MAX);
}

/* So that one rack can be audited without the rest; a site that cannot be audited has none. */
static int put_reach(struct store *s, const struct model *m, struct err *err)
{
	struct arena *a = arena_new();
	struct reach *reach;
	size_t n;
	int rc = 0;

	if (reach_make(a, m, &reach, &n, NULL) == 0)
		rc = store_put_reach(s, m->site, reach, n, err);
	arena_free(a);
	return rc;
}

static int put_model(const struct invocation *inv, struct store *s, const struct model *m,
	struct str text, struct err *err)
{
	int rc = store_put_model(s, m, err);

	if (rc == 0)
		rc = put_reach(s, m, err);
	if (rc == 0)
		rc = store_version_put(s, m->site, session_user(inv), inv->args[0], text, err);
	return rc;
}

static int store_model(const struct invocation *inv, const struct model *m, struct buf *text,
	bool *changed, struct err *err)
{
	struct store *s = NULL;
	int rc = keep_text(m, text, err);

	if (rc == 0)
		rc = session_open(inv, STORE_WRITE, &s, err);
	if (rc == 0)
		rc = store_begin(s, err);
	*changed = rc == 0 && (states_keys(m) || !store_version_is_last(s, m->site, buf_str(text)));
	if (*changed)
		rc = put_model(inv, s, m, buf_str(text), err);
	if (rc == 0)
		rc = store_audit_add(s, session_user(inv), "import", m->site, inv->args[0], err);
	if (rc == 0)
		rc = store_commit(s, err);
	store_close(s);
	return rc;
}

static void put_losses(json_t *doc, const struct losses *losses)
{
	json_t *list = json_array();

	for (size_t i = 0; i < losses->list.n; i++) {
		const struct loss *l = &losses->list.at[i];
		json_t *item = json_object();

		json_put_str(item, "kind", LOSS_KINDS[l->kind]);
		json_put_str(item, "noun", l->noun);
		json_put_str(item, "field", l->field);
		json_put_int(item, "rows", (int64_t)l->rows);
		json_put_str(item, "why", l->why);
		json_array_append_new(list, item);
	}
	json_object_set_new(doc, "losses", list);
}

static void print_losses(const struct losses *losses)
{
	AUTO_BUF text = {0};

	buf_init(&text, EXPORT_MAX);
	losses_format(losses, &text);
	session_print(&text);
}

static void add_count(struct buf *out, const char *before, size_t n, const char *noun)
{
	buf_addf(out, "%s%zu %s%s", before, n, noun, n == 1 ? "" : "s");
}

static const char *what_next(bool dry, bool changed)
{
	if (dry)
		return "dry: nothing was stored";
	return changed ? "next: stoika list racks, stoika audit"
		       : "it is what was imported last: nothing had to be stored";
}

static void print_counts(const struct model *m, bool dry, bool changed)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1024);
	buf_addf(&text, "site '%s': ", m->site);
	add_count(&text, "", m->racks.n, "rack");
	add_count(&text, ", ", m->feeds.n, "feed");
	add_count(&text, ", ", m->pdus.n, "PDU");
	add_count(&text, ", ", m->devices.n, "device");
	add_count(&text, ", ", m->cords.n, "cord");
	add_count(&text, ", ", m->cables.n, "cable");
	add_count(&text, ", ", m->nodes.n, "node");
	buf_addf(&text, "\n%s\n", what_next(dry, changed));
	session_print(&text);
}

static void say_imported(const struct invocation *inv, const struct model *m,
	const struct losses *losses, bool changed)
{
	const bool dry = option_get(inv, "dry") != NULL;
	AUTO_JSON doc = NULL;

	if (!inv->json) {
		print_counts(m, dry, changed);
		print_losses(losses);
		return;
	}
	doc = json_object();
	json_put_str(doc, "site", m->site);
	json_put_int(doc, "racks", (int64_t)m->racks.n);
	json_put_int(doc, "feeds", (int64_t)m->feeds.n);
	json_put_int(doc, "devices", (int64_t)m->devices.n);
	json_put_int(doc, "cords", (int64_t)m->cords.n);
	json_put_int(doc, "cables", (int64_t)m->cables.n);
	json_put_int(doc, "nodes", (int64_t)m->nodes.n);
	json_put_bool(doc, "dry", dry);
	json_put_bool(doc, "changed", changed);
	put_losses(doc, losses);
	session_print_json(doc);
}

static int read_options(const struct invocation *inv, struct foreign_opts *o, struct err *err)
{
	const char *from = option_get(inv, "from");
	const int format = from ? model_word(FOREIGN_FORMATS, from) : FOREIGN_YAML;
	const char *near = format < 0 ? err_nearest(from, FOREIGN_FORMATS) : NULL;

	*o = (struct foreign_opts){.map = option_get(inv, "map"), .site = option_get(inv, "site")};
	if (format < 0) {
		err_set(err, E_SYNTAX, "cannot import from '%s'", from);
		return err_hint(err, "%s%s", near ? "did you mean " : "",
			near ? near : "yaml, netbox, opendcim, xcat or csv");
	}
	o->format = (enum foreign_format)format;
	if (o->format == FOREIGN_YAML && (o->map || o->site)) {
		err_set(err, E_SYNTAX, "a site file needs neither --map nor --site");
		return err_hint(err, "say what PATH is: --from netbox, opendcim, xcat or csv");
	}
	return 0;
}

static int run_import(struct invocation *inv)
{
	struct err_list errors = {0};
	struct losses losses = {0};
	struct foreign_opts opts;
	struct model *m = NULL;
	AUTO_BUF text = {0};
	bool changed = false;
	struct err err;
	int code = EXIT_OK;

	if (read_options(inv, &opts, &err) < 0)
		return command_fail(inv, &err);
	opts.text = &text;
	if (foreign_import(inv->args[0], &opts, &m, &errors, &losses) < 0) {
		print_errors(inv, &errors, inv->args[0]);
		code = EXIT_REFUSED;
	} else if (!option_get(inv, "dry") && store_model(inv, m, &text, &changed, &err) < 0) {
		code = command_fail(inv, &err);
	} else {
		say_imported(inv, m, &losses, changed);
	}
	err_list_done(&errors);
	losses_done(&losses);
	model_free(m);
	return code;
}

static const struct option OPTIONS[] = {
	{"from", 'f', "FORMAT", "yaml (a site file), netbox, opendcim, xcat or csv", false},
	{"map", 'm', "FILE", "which column is which field; what the source leaves open", false},
	{"site", 's', "NAME", "one of several sites, or a name for one that has none", false},
	{"dry", 'n', NULL, "read, check and report only", false},
	{0},
};

const struct command COMMAND_IMPORT = {
	.name = "import",
	.args = "PATH",
	.min_args = 1,
	.max_args = 1,
	.summary = "take a site into the inventory, all of it or nothing",
	.about =
		"PATH is a site file (YAML), or with --from a file or folder of tables of another system.\n"
		"Every error is told at once, with file, line and a hint. What the file no longer has\n"
		"leaves the inventory; nodes keep their state and their pinned host key. What the other\n"
		"system has and the inventory cannot hold is listed, with how many rows had it.\n",
	.options = OPTIONS,
	.run = run_import,
};
