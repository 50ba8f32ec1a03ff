/* site_fuzz - any bytes as a site file; what imports must export to a fixed point. */
#include "inventory/import/import.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_fixed_point(const struct buf *first)
{
	struct err_list errors = {0};
	struct model *m = NULL;
	AUTO_BUF second;

	buf_init(&second, EXPORT_MAX);
	if (!buf_ok(first))
		return;
	if (import_site_text("export", buf_str(first), &m, &errors) < 0)
		abort();
	export_site(m, &second);
	if (strcmp(buf_text(first), buf_text(&second)) != 0)
		abort();
	model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str text = {(const char *)data, n};
	struct err_list errors = {0};
	struct model *m = NULL;
	AUTO_BUF out;

	buf_init(&out, EXPORT_MAX);
	if (import_site_text("fuzz", text, &m, &errors) == 0) {
		export_site(m, &out);
		check_fixed_point(&out);
		model_free(m);
	}
	err_list_done(&errors);
	return 0;
}
