/* catalog_fuzz - a catalogue that is taken can be checked, shown, and made into device types. */
#include "inventory/catalog/catalog_show.h"

#include <stdlib.h>

static void use(const struct catalog *c)
{
	struct arena *a = arena_new();
	struct catalog_findings found = VEC_INIT;
	struct catalog_notes notes = VEC_INIT;
	AUTO_BUF text = {0};
	struct err err;

	buf_init(&text, 4 << 20);
	catalog_check(c, c, a, &found);
	catalog_show_findings(&found, &text);
	catalog_show_list(c, CATALOG_KINDS, &text);
	for (size_t i = 0; i < c->entries.n && i < 16; i++) {
		struct device_type t;

		catalog_show_entry(c->entries.at[i], &text);
		(void)catalog_device_type(c, c->entries.at[i]->id, a, &t, &notes, &err);
	}
	if (!str_is_utf8(buf_str(&text)))
		abort();
	vec_done(&notes);
	vec_done(&found);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct catalog_faults faults = VEC_INIT;
	struct catalog *c = NULL;
	struct err err = {0};

	if (catalog_load_text("fuzz", (struct str){(const char *)data, n}, &c, &faults, &err) == 0)
		use(c);
	else if (!err.msg[0] || faults.n == 0)
		abort();
	vec_done(&faults);
	catalog_free(c);
	return 0;
}
