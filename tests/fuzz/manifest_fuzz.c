/* manifest_fuzz - a manifest that is taken is canonical: it formats to the very same bytes. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/wire/manifest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str in = {(const char *)data, n};
	struct arena *a = arena_new();
	struct manifest m;
	struct err err;
	AUTO_BUF text;

	buf_init(&text, 8u << 20);
	if (manifest_parse(a, in, &m, &err) == 0) {
		manifest_format(&m, &text);
		if (!str_eq(in, buf_str(&text)))
			abort();
	}
	arena_free(a);
	return 0;
}
