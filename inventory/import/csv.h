/*
 * csv - a table of text (RFC 4180) to a list of maps, each cell with its place.
 *
 * The first row names the columns. UTF-8, with or without a byte order mark; other
 * encodings are refused with a hint at iconv. Comma, semicolon or tab, told from
 * the first row when not stated. Empty cells make no entry. At most CSV_COLUMNS_MAX
 * columns and CSV_ROWS_MAX rows; every faulty row is reported, up to the caller's cap.
 */
#pragma once

#include "inventory/import/source.h"

#define CSV_COLUMNS_MAX 1000
#define CSV_ROWS_MAX    1000000
#define CSV_CELL_MAX    65536

/*
 * Rows of a file in *rows (a list, possibly empty), the header's cells in *columns when
 * it is not NULL. separator 0: find out. False when the file cannot be read as a table.
 */
bool csv_read(struct sources *s, const struct source_file *f, char separator,
	struct yaml_node **rows, struct yaml_node **columns);
/* An error at the first byte that is no UTF-8; true when there is none. */
bool csv_check_encoding(struct sources *s, const struct source_file *f);
