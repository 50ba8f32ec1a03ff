/* import - a site file into the inventory, all of it or nothing; and export, back to YAML. */
#include "inventory/import/import.h"

#include "controller/command/session.h"
#include "controller/command/table.h"

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

static int store_model(const struct invocation *inv, const struct model *m, struct err *err)
{
	struct store *s = NULL;
	int rc = session_open(inv, STORE_WRITE, &s, err);

	if (rc == 0)
		rc = store_begin(s, err);
	if (rc == 0)
		rc = store_put_model(s, m, err);
	if (rc == 0)
		rc = store_audit_add(s, session_user(inv), "import", m->site, inv->args[0], err);
	if (rc == 0)
		rc = store_commit(s, err);
	store_close(s);
	return rc;
}

static void say_imported(const struct invocation *inv, const struct model *m)
{
	AUTO_JSON doc = NULL;

	if (!inv->json) {
		printf("site '%s': %zu racks, %zu feeds, %zu PDUs, %zu devices, %zu cords, %zu cables, "
		       "%zu nodes\n",
			m->site, m->racks.n, m->feeds.n, m->pdus.n, m->devices.n, m->cords.n,
			m->cables.n, m->nodes.n);
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
	session_print_json(doc);
}

static int run_import(struct invocation *inv)
{
	struct err_list errors = {0};
	struct model *m = NULL;
	struct err err;
	int code = EXIT_OK;

	if (import_site(inv->args[0], &m, &errors) < 0) {
		print_errors(inv, &errors, inv->args[0]);
		code = EXIT_REFUSED;
	} else if (store_model(inv, m, &err) < 0) {
		code = command_fail(inv, &err);
	} else {
		say_imported(inv, m);
	}
	err_list_done(&errors);
	model_free(m);
	return code;
}

static int run_export(struct invocation *inv)
{
	struct store *s = NULL;
	struct model *m = NULL;
	AUTO_BUF text = {0};
	struct err err;
	int code = EXIT_OK;

	buf_init(&text, EXPORT_MAX);
	if (session_open(inv, STORE_READ, &s, &err) < 0 ||
		store_load_model(s, inv->n_args ? inv->args[0] : NULL, &m, &err) < 0) {
		code = command_fail(inv, &err);
	} else {
		export_site(m, &text);
		session_print(&text);
	}
	model_free(m);
	store_close(s);
	return code;
}

const struct command COMMAND_IMPORT = {
	.name = "import",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "take a site file (YAML) into the inventory, all of it or nothing",
	.about =
		"Every error of the file is told at once, with file, line and a hint. What the file no\n"
		"longer has leaves the inventory; nodes keep their state and their pinned host key.\n",
	.run = run_import,
};

const struct command COMMAND_EXPORT = {
	.name = "export",
	.args = "[SITE]",
	.max_args = 1,
	.summary = "print a site as YAML that imports to the same",
	.run = run_export,
};
