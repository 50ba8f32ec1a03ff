/* export - a site in one of many formats: to the terminal, to a file, or as a folder of tables. */
#include "agent/base/clock.h"
#include "agent/base/fs.h"
#include "controller/command/past.h"
#include "controller/command/table.h"
#include "controller/command/when.h"
#include "inventory/import/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Paths are the caller's: from where he stands, or from the root. */
static int write_file(const struct invocation *inv, const char *folder, const char *name,
	const struct buf *text, struct err *err)
{
	const char *path = folder ? arena_printf(inv->arena, "%s/%s", folder, name) : name;
	const int root = open(*path == '/' ? "/" : ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	int rc = session_judge_target(path, err);

	if (root < 0)
		return err_sys(err, errno, "cannot open the folder of '%s'", path);
	if (rc == 0 && folder)
		rc = fs_mkdirs(root, folder, 0755, err);
	if (rc == 0)
		rc = fs_replace(root, path, buf_str(text), 0644, geteuid(), getegid(), err);
	close(root);
	return rc;
}

static int write_files(const struct invocation *inv, const struct export_files *files,
	enum export_format format, struct err *err)
{
	const char *to = option_get(inv, "output");
	int rc = 0;

	if (!to) {
		session_print_document(inv, &files->at[0].text);
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < files->n; i++)
		rc = export_is_folder(format)
			     ? write_file(inv, to, files->at[i].name, &files->at[i].text, err)
			     : write_file(inv, NULL, to, &files->at[i].text, err);
	return rc;
}

static int read_format(const struct invocation *inv, enum export_format *format, struct err *err)
{
	const char *to = option_get(inv, "to");
	const int word = to ? model_word(EXPORT_FORMATS, to) : EXPORT_YAML;
	const char *near = word < 0 ? err_nearest(to, EXPORT_FORMATS) : NULL;

	if (word < 0) {
		err_set(err, E_SYNTAX, "cannot export to '%s'", to);
		return err_hint(err, "%s%s", near ? "did you mean " : "",
			near ? near
			     : "yaml, netbox, ansible, ansible-yaml, prometheus, csv or xlsx");
	}
	*format = (enum export_format)word;
	if (option_get(inv, "output") || (!export_is_folder(*format) && *format != EXPORT_XLSX))
		return 0;
	err_set(err, E_SYNTAX, "'%s' is %s and does not fit a terminal", to,
		*format == EXPORT_XLSX ? "a binary file" : "a folder of tables");
	return err_hint(err, "say where: -o %s", *format == EXPORT_XLSX ? "FILE.xlsx" : "FOLDER");
}

/* What the format cannot hold goes to stderr: stdout may be the export itself. */
static void tell_losses(const struct losses *losses)
{
	AUTO_BUF text = {0};

	buf_init(&text, EXPORT_MAX);
	losses_format(losses, &text);
	fputs(buf_text(&text), stderr);
}

/* The text of a version, as it was imported. */
static int export_text(const struct invocation *inv, struct store *s, const char *site, int64_t at,
	struct export_files *files, struct err *err)
{
	struct store_version v;
	struct str text;
	const int rc = store_version_at(s, inv->arena, site, at, &v, &text, err);

	if (rc == 0) {
		struct export_file *f = vec_push(files);

		*f = (struct export_file){.name = ""};
		buf_init(&f->text, text.n + 1);
		buf_add_str(&f->text, text);
	}
	return rc;
}

/* As it is, or as it was. */
static int make_files(const struct invocation *inv, struct store *s, enum export_format format,
	struct export_files *files, struct losses *losses, struct err *err)
{
	const char *date = option_get(inv, "at"), *site = inv->n_args ? inv->args[0] : NULL;
	struct model *m = NULL;
	int64_t at = 0;
	int rc = date ? when_parse(date, clock_wall(), &at, err) : 0;

	if (rc == 0 && date && format == EXPORT_YAML)
		return export_text(inv, s, site, at, files, err);
	if (rc == 0)
		rc = date ? past_load(inv, s, site, at, &m, err)
			  : store_load_model(s, site, &m, err);
	if (rc == 0)
		rc = foreign_export(m, format, files, losses, err);
	model_free(m);
	return rc;
}

static int run_export(struct invocation *inv)
{
	struct export_files files = VEC_INIT;
	struct losses losses = {0};
	enum export_format format = EXPORT_YAML;
	struct store *s = NULL;
	struct err err;
	int rc = read_format(inv, &format, &err);

	if (rc == 0)
		rc = session_open(inv, STORE_READ, &s, &err);
	if (rc == 0)
		rc = make_files(inv, s, format, &files, &losses, &err);
	if (rc == 0)
		rc = write_files(inv, &files, format, &err);
	if (rc == 0)
		tell_losses(&losses);
	export_files_done(&files);
	losses_done(&losses);
	store_close(s);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

static const struct option OPTIONS[] = {
	{"to", 't', "FORMAT", "yaml, netbox, ansible, ansible-yaml, prometheus, csv or xlsx",
		false},
	{"at", 0, "DATE", "as it was then; 'stoika list versions' has the dates", false},
	{"output", 'o', "PATH", "a file, or the folder that netbox and csv fill", false},
	{0},
};

const struct command COMMAND_EXPORT = {
	.name = "export",
	.args = "[SITE]",
	.max_args = 1,
	.summary = "print a site as YAML that imports to the same, or in another format",
	.about =
		"ansible, ansible-yaml: nodes in groups role_X, rack_X, site_X; prometheus: file_sd with\n"
		"labels node, site, rack, role; netbox: files for its bulk import, in the order sites,\n"
		"locations, racks, manufacturers, device-roles, device-types, devices, power-panels,\n"
		"power-feeds, power-ports, power-outlets, interfaces, mac-addresses, cables.\n",
	.options = OPTIONS,
	.run = run_export,
};
