/* csv_fuzz - any bytes as a table; what reads well has a key for each value. */
#include "inventory/import/csv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err_list errors = {0};
	struct losses losses = {0};
	struct yaml_node *rows, *columns;
	struct sources s;

	sources_init(&s, &errors, &losses);
	sources_add_text(&s, "fuzz.csv", (struct str){(const char *)data, n});
	if (csv_read(&s, &s.files.at[0], 0, &rows, &columns) && errors.total == 0)
		for (unsigned i = 0; i < rows->n; i++)
			if (rows->item[i]->n > columns->n)
				abort();
	sources_finish(&s);
	sources_done(&s);
	err_list_done(&errors);
	losses_done(&losses);
	return 0;
}
