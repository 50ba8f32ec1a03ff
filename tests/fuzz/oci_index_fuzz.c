/* oci_index_fuzz - which images an archive holds, from hostile JSON files. */
#include "agent/base/err.h"
#include "agent/step/oci_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct oci_index x;
	struct err err = {0};
	const int rc = oci_index_read((struct str){(const char *)data, n}, "amd64", &x, &err);

	if (rc == 0 && (x.n == 0 || x.n > OCI_IMAGES_MAX || !oci_index_find(&x, NULL)))
		abort();
	if (rc < 0 && !err.msg[0])
		abort();
	return 0;
}
