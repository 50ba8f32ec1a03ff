/* archive - what both extractors share: how a tar is opened, and which names it may hold. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/unpack/unpack_priv.h"

#include <archive.h>
#include <limits.h>
#include <string.h>

struct archive *archive_reader(void)
{
	struct archive *a = archive_read_new();

	if (!a)
		return NULL;
	archive_read_support_filter_zstd(a);
	archive_read_support_filter_gzip(a);
	archive_read_support_format_tar(a);
	return a;
}

/* A name for a message: short, and no control character in it. */
static const char *shown(const char *name, struct buf *out)
{
	buf_add_printable(out, str_first(str_of(name), 120));
	return buf_text(out);
}

int archive_refuse(const char *name, const char *why, struct err *err)
{
	AUTO_BUF text;

	buf_init(&text, 600);
	return err_set(err, E_VERIFY, "the archive's entry '%s' %s", shown(name, &text), why);
}

int archive_fail(struct archive *a, struct err *err)
{
	const char *why = archive_error_string(a);
	AUTO_BUF text;

	buf_init(&text, 600);
	return err_set(err, E_VERIFY, "the archive cannot be read: %s",
		why ? shown(why, &text) : "it is damaged");
}

const char *archive_judge_name(const char *name)
{
	struct str rest = str_of(name), part;

	if (!rest.n)
		return "has no name";
	if (name[0] == '/')
		return "is an absolute path";
	for (size_t i = 0; i < rest.n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 127)
			return "has a control character in its name";
	if (name[rest.n - 1] == '/')
		rest.n--;
	while (str_next(&rest, '/', &part))
		if (!part.n || part.n > NAME_MAX || str_is(part, ".") || str_is(part, ".."))
			return "is no plain path";
	return strlen(name) < PATH_MAX ? NULL : "has too long a name";
}

bool archive_link_stays(const char *name, const char *target)
{
	struct str rest = str_of(target), part;
	int depth = 0;

	if (rest.n == 0 || target[0] == '/')
		return false;
	for (const char *p = name; (p = strchr(p, '/')) != NULL; p++)
		depth++;
	while (str_next(&rest, '/', &part)) {
		if (str_is(part, ".."))
			depth--;
		else if (part.n > 0 && !str_is(part, "."))
			depth++;
		if (depth < 0)
			return false;
	}
	return true;
}
