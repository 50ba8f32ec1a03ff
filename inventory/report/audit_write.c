/* audit_write - any of the audit's forms into a file, whole or not at all. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "inventory/report/audit_report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MAX ((size_t)1 << 30)

/* The folder of path, opened; *name its last part. */
static int open_folder(const char *path, const char **name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	AUTO_STR folder = !slash          ? xstrdup(".")
			  : slash == path ? xstrdup("/")
					  : xasprintf("%.*s", (int)(slash - path), path);
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*name = slash ? slash + 1 : path;
	return fd < 0 ? err_sys(err, errno, "cannot open folder '%s'", folder) : fd;
}

static int check_target(const char *path, struct err *err)
{
	struct stat st;

	if (!*path || path[strlen(path) - 1] == '/')
		return err_set(err, E_SYNTAX, "'%s' is no name of a file", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		err_set(err, E_UNSUPPORTED, "'%s' is no plain file", path);
		return err_hint(err, "name a new file, or one that may be replaced");
	}
	return 0;
}

static int write_text(const char *path, struct str text, struct err *err)
{
	const char *name;
	AUTO_FD folder = open_folder(path, &name, err);

	if (folder < 0)
		return folder;
	return fs_replace(folder, name, text, FS_KEEP_MODE, geteuid(), getegid(), err);
}

int report_audit_write(enum report_kind kind, const struct audit_report *r, enum text_lang lang,
	const char *path, struct err *err)
{
	int rc = check_target(path, err);
	AUTO_BUF text = {0};

	if (rc < 0)
		return rc;
	if (kind == REPORT_XLSX)
		return report_audit_xlsx(r, lang, path, err);
	buf_init(&text, PAGE_MAX);
	if (kind == REPORT_HTML)
		report_audit_html(r, lang, &text);
	else if (kind == REPORT_MD)
		report_audit_md(r, lang, &text);
	else
		report_audit_json(r, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "the report is larger than %zu MiB", PAGE_MAX >> 20);
	return write_text(path, buf_str(&text), err);
}
