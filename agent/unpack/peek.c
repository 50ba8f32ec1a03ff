/* peek - a look at the small JSON files of an archive, without unpacking it. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/unpack/unpack_priv.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#define BLOCK       (256u << 10)
#define ENTRIES_MAX 100000u

/* One entry: its bytes go out when it begins like JSON. */
static int take_text(struct archive *a, const char *name, size_t size, int to, struct err *err)
{
	AUTO_BUF text;
	char *p;
	la_ssize_t n;

	buf_init(&text, PEEK_TEXT_MAX + 4096);
	buf_add(&text, name, strlen(name) + 1);
	buf_addf(&text, "%08zu", size);
	buf_add_char(&text, '\0');
	p = buf_room(&text, size);
	if (!p)
		return err_set(err, E_LIMIT, "the archive has too long a name");
	n = archive_read_data(a, p, size);
	if (n < 0 || (size_t)n != size)
		return archive_fail(a, err);
	if (p[0] != '{' && p[0] != '[')
		return 0;
	buf_grew(&text, size);
	return fs_write_all(to, buf_str(&text), err);
}

int peek_all(int in, int to, struct err *err)
{
	struct archive *a = archive_reader();
	struct archive_entry *e;
	unsigned entries = 0;
	int got, rc = 0;

	if (!a)
		return err_set(err, E_INTERNAL, "no memory to read an archive");
	got = archive_read_open_fd(a, in, BLOCK);
	while (got == ARCHIVE_OK && rc == 0 &&
		((got = archive_read_next_header(a, &e)) == ARCHIVE_OK || got == ARCHIVE_WARN)) {
		const char *name = archive_entry_pathname(e);
		const la_int64_t size = archive_entry_size(e);

		got = ARCHIVE_OK;
		if (++entries > ENTRIES_MAX)
			rc = err_set(err, E_LIMIT, "the archive holds more than %u entries",
				ENTRIES_MAX);
		else if (name && archive_entry_filetype(e) == AE_IFREG && size > 0 &&
			 size <= (la_int64_t)PEEK_TEXT_MAX && strlen(name) < 2048)
			rc = take_text(a, name, (size_t)size, to, err);
	}
	if (rc == 0 && got != ARCHIVE_EOF)
		rc = archive_fail(a, err);
	archive_read_free(a);
	return rc;
}
