/* catalog - the hardware catalogue: list it, show where each figure is from, check it. */
#include "controller/command/session.h"
#include "controller/command/table.h"
#include "inventory/catalog/catalog_show.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX (16u << 20)

static int load(const struct invocation *inv, const char *path, struct catalog **out)
{
	struct catalog_faults faults = VEC_INIT;
	struct err err = {0};
	const int rc = catalog_load(path, out, &faults, &err);
	int code = EXIT_OK;

	if (rc < 0 && faults.n == 0)
		code = command_fail(inv, &err);
	vec_each(&faults, const struct err, e)
		code = command_fail(inv, e);
	vec_done(&faults);
	return rc < 0 ? code : EXIT_OK;
}

/* "server" and "servers" alike. */
static int find_kind(const char *word, enum catalog_kind *kind, struct err *err)
{
	const char *near;

	for (int i = 0; i < CATALOG_KINDS; i++)
		if (strcmp(word, CATALOG_KIND_NAMES[i]) == 0 ||
			strcmp(word, CATALOG_SECTIONS[i]) == 0) {
			*kind = (enum catalog_kind)i;
			return 0;
		}
	near = err_nearest(word, CATALOG_SECTIONS);
	(void)err_set(err, E_SYNTAX, "the catalogue has no kind '%s'", word);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	return err_hint(err,
		"gpus, servers, switches, storage, pdus, optics, connectors, circuits, models, notes");
}

static int run_list(struct invocation *inv)
{
	enum catalog_kind kind = CATALOG_KINDS;
	struct catalog *c = NULL;
	AUTO_BUF text = {0};
	AUTO_JSON doc = NULL;
	struct err err;
	int code;

	buf_init(&text, TEXT_MAX);
	if (inv->n_args && find_kind(inv->args[0], &kind, &err) < 0)
		return command_fail(inv, &err);
	code = load(inv, option_get(inv, "catalog"), &c);
	if (code != EXIT_OK)
		return code;
	if (inv->json) {
		doc = catalog_list_json(c, kind);
		session_print_json(doc);
	} else {
		catalog_show_list(c, kind, &text);
		session_print(&text);
	}
	catalog_free(c);
	return EXIT_OK;
}

static int run_show(struct invocation *inv)
{
	const struct catalog_entry *e = NULL;
	struct catalog *c = NULL;
	AUTO_BUF text = {0};
	AUTO_JSON doc = NULL;
	struct err err;
	int code = load(inv, option_get(inv, "catalog"), &c);

	buf_init(&text, TEXT_MAX);
	if (code != EXIT_OK)
		return code;
	if (catalog_want(c, CATALOG_KINDS, inv->args[0], &e, &err) < 0) {
		code = command_fail(inv, &err);
	} else if (inv->json) {
		doc = catalog_entry_json(e);
		session_print_json(doc);
	} else {
		catalog_show_entry(e, &text);
		session_print(&text);
	}
	catalog_free(c);
	return code;
}

static void print_check(const struct invocation *inv, const struct catalog *c,
	const struct catalog_findings *found, unsigned errors)
{
	AUTO_BUF text = {0};
	AUTO_JSON doc = NULL;

	if (inv->json) {
		doc = json_object();
		json_put_int(doc, "entries", (int64_t)c->entries.n);
		json_put_int(doc, "errors", errors);
		json_put_int(doc, "remarks", (int64_t)found->n - errors);
		json_object_set_new(doc, "findings", catalog_findings_json(found));
		session_print_json(doc);
		return;
	}
	buf_init(&text, TEXT_MAX);
	catalog_show_findings(found, &text);
	buf_addf(&text, "%s: %u error%s, %zu remark%s; entries: %zu, sources: %zu\n", c->path,
		errors, errors == 1 ? "" : "s", found->n - errors,
		found->n - errors == 1 ? "" : "s", c->entries.n, c->sources.n);
	session_print(&text);
}

/* A catalogue of somebody else is also held against ours. */
static int run_check(struct invocation *inv)
{
	struct catalog *c = NULL, *own = NULL;
	struct catalog_findings found = VEC_INIT;
	unsigned errors = 0;
	int code = load(inv, inv->n_args ? inv->args[0] : NULL, &c);

	if (code == EXIT_OK && inv->n_args)
		code = load(inv, option_get(inv, "catalog"), &own);
	if (code == EXIT_OK) {
		catalog_check(
			c, own && strcmp(own->path, c->path) != 0 ? own : NULL, inv->arena, &found);
		vec_each(&found, const struct catalog_finding, f)
			errors += !f->remark;
		print_check(inv, c, &found, errors);
		code = errors ? EXIT_SOME : EXIT_OK;
	}
	vec_done(&found);
	catalog_free(own);
	catalog_free(c);
	return code;
}

static const struct option WHERE[] = {
	{"catalog", 0, "PATH", "the catalogue; else STOIKA_CATALOG, else the program's own", false},
	{0},
};

const struct command COMMAND_CATALOG_LIST = {
	.name = "catalog list",
	.args = "[KIND]",
	.max_args = 1,
	.summary = "the hardware we have figures of",
	.about =
		"KIND is gpus, servers, switches, storage, pdus, optics, connectors, circuits, models "
		"or notes.\n",
	.options = WHERE,
	.run = run_list,
};

const struct command COMMAND_CATALOG_SHOW = {
	.name = "catalog show",
	.args = "ID",
	.min_args = 1,
	.max_args = 1,
	.summary = "one entry: each figure, how sure it is, and where it is from",
	.about = "'assumed' stands beside figures of low confidence and those that somebody only\n"
		 "remembers: check them before they decide a purchase.\n",
	.options = WHERE,
	.run = run_show,
};

const struct command COMMAND_CATALOG_CHECK = {
	.name = "catalog check",
	.args = "[DIR]",
	.max_args = 1,
	.summary = "judge a catalogue: its format, its arithmetic, what cannot be true",
	.about =
		"DIR (or a file) is also compared with our own catalogue. Remarks are findings in\n"
		"which an assumed figure takes part. Exit status 1 when there is an error.\n",
	.options = WHERE,
	.run = run_check,
};
