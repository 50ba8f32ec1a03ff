/* json_fuzz - JSON that is taken is written, read and written again to the same bytes. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/json.h"

#include <stdlib.h>

#define MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_JSON first = NULL;
	AUTO_JSON second = NULL;
	struct err err = {0};
	AUTO_BUF one, two;

	buf_init(&one, 32 * MAX);
	buf_init(&two, 32 * MAX);
	if (json_parse((struct str){(const char *)data, n}, MAX, "fuzz", &first, &err) != 0) {
		err_format(&err, &one);
		if (!err.msg[0] || !str_is_utf8(buf_str(&one)))
			abort();
		return 0;
	}
	json_write(first, &one);
	if (!buf_ok(&one) || json_parse(buf_str(&one), 32 * MAX, "again", &second, &err) != 0)
		abort();
	json_write(second, &two);
	if (!str_eq(buf_str(&one), buf_str(&two)))
		abort();
	return 0;
}
