/* module_info_fuzz - any bytes as an ELF file with a section .modinfo, and as that section. */
#include "agent/facts/module_version.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str file = {(const char *)data, n};
	struct str info = file;

	(void)module_info_section(file, &info);
	return module_info_find(info, "version").n > n ? -1 : 0;
}
