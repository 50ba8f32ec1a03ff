/*
 * export_xlsx - the tables of export_table as sheets of one workbook, by libxlsxwriter.
 *
 * The library writes to a path: a file below $TMPDIR, read back and removed. Texts
 * are written as texts, so that none is taken for a formula.
 */
#include "inventory/import/export_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlsxwriter.h>

#define ROWS_MAX    1048576
#define COLUMNS_MAX 128
#define WIDTH_MAX   40

struct book {
	lxw_workbook *file;
	lxw_worksheet *sheet;
	lxw_format *head;
	lxw_row_t row;
	lxw_col_t col;
	size_t width[COLUMNS_MAX];
	bool overflowed;
};

static void end_sheet(struct book *b)
{
	if (!b->sheet)
		return;
	for (lxw_col_t i = 0; i < COLUMNS_MAX && b->width[i]; i++)
		worksheet_set_column(b->sheet, i, i, (double)b->width[i] + 2, NULL);
	worksheet_freeze_panes(b->sheet, 1, 1);
	memset(b->width, 0, sizeof b->width);
}

static void begin(void *ctx, const char *table)
{
	struct book *b = ctx;

	end_sheet(b);
	b->sheet = workbook_add_worksheet(b->file, table);
	b->row = 0;
	b->col = 0;
}

static void widen(struct book *b, size_t n)
{
	n = n > WIDTH_MAX ? WIDTH_MAX : n;
	if (b->col < COLUMNS_MAX && n > b->width[b->col])
		b->width[b->col] = n;
}

static void text(void *ctx, const char *value)
{
	struct book *b = ctx;

	if (value && worksheet_write_string(b->sheet, b->row, b->col, value,
			     b->row == 0 ? b->head : NULL) != LXW_NO_ERROR)
		b->overflowed = true;
	widen(b, value ? strlen(value) : 0);
	b->col++;
}

static void num(void *ctx, double v)
{
	struct book *b = ctx;

	if (!isnan(v) && worksheet_write_number(b->sheet, b->row, b->col, v, NULL) != LXW_NO_ERROR)
		b->overflowed = true;
	widen(b, 8);
	b->col++;
}

static void end_row(void *ctx)
{
	struct book *b = ctx;

	b->row++;
	b->col = 0;
	b->overflowed = b->overflowed || b->row >= ROWS_MAX;
}

static int write_book(const struct model *m, const char *path, struct err *err)
{
	struct book b = {.file = workbook_new(path)};
	const struct table_sink sink = {&b, begin, text, num, end_row};
	lxw_error rc;

	if (!b.file)
		return err_set(err, E_INTERNAL, "cannot begin a workbook");
	b.head = workbook_add_format(b.file);
	format_set_bold(b.head);
	export_tables(m, &sink);
	end_sheet(&b);
	rc = workbook_close(b.file);
	if (rc != LXW_NO_ERROR)
		return err_set(err, E_IO, "cannot write the workbook: %s", lxw_strerror(rc));
	if (b.overflowed)
		return err_set(err, E_LIMIT,
			"a sheet would have more than %d rows or a cell is too long", ROWS_MAX);
	return 0;
}

static int read_back(int fd, struct buf *out, struct err *err)
{
	for (;;) {
		void *room = buf_room(out, 1 << 16);
		ssize_t n;

		if (!room)
			return err_set(err, E_LIMIT, "the workbook is too large");
		n = read(fd, room, 1 << 16);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(err, errno, "cannot read the workbook") : 0;
		buf_grew(out, (size_t)n);
	}
}

int export_xlsx(const struct model *m, struct buf *out, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	char path[4096];
	int fd, rc;

	if (snprintf(path, sizeof path, "%s/stoika-xlsx.XXXXXX", tmp && *tmp ? tmp : "/tmp") >=
		(int)sizeof path)
		return err_set(err, E_LIMIT, "TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot make a temporary file '%s'", path);
	rc = write_book(m, path, err);
	close(fd);
	fd = rc == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (rc == 0 && fd < 0)
		rc = err_sys(err, errno, "cannot read '%s'", path);
	if (rc == 0)
		rc = read_back(fd, out, err);
	if (fd >= 0)
		close(fd);
	unlink(path);
	return rc;
}
