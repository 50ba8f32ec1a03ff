/* frame_fuzz - frames cut at a place the input chooses; every message in them is parsed too. */
#include "agent/base/err.h"
#include "agent/wire/frame.h"
#include "agent/wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str all = {(const char *)data, n};
	const size_t cut = n > 0 ? data[0] : 0;
	struct frame_reader r;
	struct frame f;
	struct err err;

	frame_reader_init(&r, n % 2 == 0);
	for (int part = 0; part < 2; part++) {
		frame_reader_feed(&r, part == 0 ? str_first(all, cut) : str_from(all, cut));
		while (frame_reader_next(&r, &f, &err) == 1) {
			AUTO_JSON m = NULL;
			const char *t;

			if (f.type == 'J')
				(void)message_parse(f.payload, &m, &t, &err);
		}
	}
	frame_reader_done(&r);
	return 0;
}
