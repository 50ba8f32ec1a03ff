/* netbox_fuzz - any bytes as a NetBox dump of all tables in one JSON file. */
#include "inventory/import/import.h"
#include "inventory/import/netbox.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err_list errors = {0};
	struct losses losses = {0};
	struct model *m = NULL;
	struct sources s;

	sources_init(&s, &errors, &losses);
	sources_add_text(&s, "dump.json", (struct str){(const char *)data, n});

	const struct yaml_doc doc = {s.arena, "dump.json", {"", 0}, netbox_read(&s, NULL, NULL)};

	if (doc.root && import_site_doc(&doc, &m, &errors) == 0 && errors.total > 0)
		abort();
	sources_finish(&s);
	sources_done(&s);
	model_free(m);
	err_list_done(&errors);
	losses_done(&losses);
	return 0;
}
