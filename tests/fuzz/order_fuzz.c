/* order_fuzz - an order that is taken comes out again as one that is taken. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new();
	struct order o, again;
	struct err err;
	AUTO_BUF text;

	buf_init(&text, 4u << 20);
	if (order_parse(a, (struct str){(const char *)data, n}, &o, &err) == 0) {
		order_format(&o, &text);
		if (order_parse(a, buf_str(&text), &again, &err) < 0)
			abort();
		order_done(&again);
		order_done(&o);
	}
	arena_free(a);
	return 0;
}
