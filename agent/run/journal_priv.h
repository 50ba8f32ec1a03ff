/* journal_priv - names that the writer, the reader and the lock of journals share. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct err;
struct journal_reader;

#define JOURNAL_RUNS        "runs"
#define JOURNAL_LINK        "unfinished"
#define JOURNAL_SUFFIX      ".journal"
#define JOURNAL_ORDER       ".order"
#define JOURNAL_ORDER_MAX   (4u << 20)
#define JOURNAL_NAME_MAX    80
#define JOURNAL_PENDING_MAX (16u << 20)
#define JOURNAL_LINE_MAX    (1u << 20)

/* "RUN.journal" to "RUN.order". */
void journal_order_name(
	const char name[static JOURNAL_NAME_MAX], char order[static JOURNAL_NAME_MAX]);
/* "RUN.journal", or E_SCHEMA for an id that cannot be a file's name. */
int journal_name(const char *run, char name[static JOURNAL_NAME_MAX], struct err *err);
/* Where the whole lines that were read end. */
off_t journal_reader_place(const struct journal_reader *r);
