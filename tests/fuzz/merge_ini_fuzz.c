/* merge_ini_fuzz - any bytes as a file of the format ini; see merge_fuzz.h. */
#include "tests/fuzz/merge_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	return merge_fuzz(&MERGE_INI, data, n);
}
