/* devicetype_fuzz - a device type that is taken can be judged, and written as a record that reads.
 */
#include "inventory/catalog/catalog_check.h"
#include "inventory/catalog/devicetype.h"

#include <stdlib.h>

static const struct catalog *known(void)
{
	static struct catalog *c;
	struct err err;

	if (!c && catalog_load(NULL, &c, NULL, &err) < 0)
		abort();
	return c;
}

/* Figures out of an entry's range may refuse it, but its YAML must be sound. */
static void check_record(const struct devicetype *d, const struct devicetype_findings *found)
{
	struct catalog *c = NULL;
	struct arena *a = arena_new();
	struct catalog_findings checked = VEC_INIT;
	AUTO_BUF text = {0};
	struct err err = {0};

	buf_init(&text, 4 << 20);
	devicetype_write_head(&text);
	buf_addf(&text, "%s:\n", CATALOG_SECTIONS[devicetype_kind(d)]);
	devicetype_write(d, found, &text);
	if (catalog_load_text("record", buf_str(&text), &c, NULL, &err) == 0)
		catalog_check(c, known(), a, &checked);
	else if (err.code == E_SYNTAX && buf_ok(&text))
		abort();
	vec_done(&checked);
	catalog_free(c);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	struct devicetype_findings found = VEC_INIT;
	struct devicetype d;
	struct err err = {0};

	if (devicetype_load_text(a, "fuzz", (struct str){(const char *)data, n}, &d, &err) == 0) {
		devicetype_judge(&d, known(), a, &found);
		check_record(&d, &found);
	} else if (!err.msg[0]) {
		abort();
	}
	vec_done(&found);
	devicetype_done(&d);
	arena_free(a);
	return 0;
}
